"""Recall: full-text and semantic search over everything that was ever recorded.

An engine only lists the texts with a term, newest first (`postings`). `ranking` scores them, so that both
engines return the same results; `search` adds filters, snippets and pages. `semantic` adds vectors if an
embedder is configured. May import `model`, `system`, `signals`, `store`, `ledger` and `packet`; numpy is
loaded only when the first vector is needed.
"""
