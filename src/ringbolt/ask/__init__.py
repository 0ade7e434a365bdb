"""Ask: questions about a task in plain words, answered from the ledger.

`questions` parses a question without a model, `answering` reads the records it needs, `answer_table` picks
the function that answers it (the modules `*_answers`), and `reply` lays out the rows of the answer, with
citations, within a limit of bytes. `topic_match` says whether a text is about the subject of a question,
`sentence_sorts` whether a sentence can be the answer. May import `model`, `signals`, `store`, `ledger`,
`packet`, `llm` and `recall`.
"""
