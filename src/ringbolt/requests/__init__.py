"""Requests: where one request of the user ends and the next begins, and what a task is called.

`request_boundary` judges a prompt by rules and `trees`, when it comes and again with the `turns` after it;
`completion` recognises that the agent reports its work as done; `request_model` asks a configured model about
the prompts that leave doubt; and `task_name` makes a name from a prompt.
May import `model`, `signals`, `ledger` and `llm`.
"""
