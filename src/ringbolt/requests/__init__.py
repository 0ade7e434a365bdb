"""Requests: where one request of the user ends and the next begins, and what a task is called.

`request_boundary` judges a prompt with a linear model, `request_model` asks a configured model about the
prompts that leave doubt, and `task_name` makes a name from a prompt.
May import `model`, `signals`, `ledger` and `llm`.
"""
