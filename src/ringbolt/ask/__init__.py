"""Ask: questions about a task in plain words, answered from the ledger.

`questions` parses a question without a model, `answering` reads what it needs, `answer_table` picks the
function that answers it (`status_answers`, `record_answers`, `history_answers`), and `reply` sets the rows of
the answer, with citations, in a number of bytes. May import `model`, `signals`, `store`, `ledger`, `packet`,
`llm`, `recall` and `extract`.
"""
