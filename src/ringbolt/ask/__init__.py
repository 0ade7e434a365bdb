"""Ask: questions about a task in plain words, answered from the ledger.

`questions` parses a question without a model, `answering` reads the records it needs, `answer_table` picks
the function that answers it (`status_answers`, `record_answers`, `history_answers`), and `reply` lays out the
rows of the answer, with citations, within a limit of bytes. May import `model`, `signals`, `store`, `ledger`,
`packet`, `llm`, `recall` and `extract`.
"""
