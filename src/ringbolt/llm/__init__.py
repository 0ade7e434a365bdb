"""LLM: asking a language model, and believing it only as far as the ledger agrees.

`client` talks to any server with OpenAI's chat API, behind a `breaker`; `prompts` turns facts into requests
and replies into results; `json_reply` and `faithful` check every reply; `calls` adds budgets and records what
was spent. Operations that may ask inherit from `calls.Modelling`. May import `model`, `system`, `signals`,
`store`, `ledger` and `packet`.
"""
