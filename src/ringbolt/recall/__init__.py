"""Recall: full-text and semantic search over everything that was ever recorded.

An engine only says which texts have a term, newest first (`postings`). `ranking` decides which are best, so
that both engines give the same answers; `search` adds filters, snippets and pages. `semantic` adds vectors if
an embedder is set. May import `model`, `system`, `signals`, `store`, `ledger` and `packet`; numpy is loaded
only when the first vector is needed.
"""
