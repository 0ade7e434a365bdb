"""Progress: which steps a plan has, and which of them are done.

`observations` turns ledger events into observations of the work. `plan_progress` keeps a belief about where
in a plan the work is; `report_matching` reads what an agent reports about its plan (`title_words` compares
words with titles, `report_decisions` judges the whole message, `report_weights` has the fitted weights).
`plan_lists` finds lists in a text that may be plans, and `prose_plan` follows a plan that nobody wrote as a
to-do list. They are pure; `progress_updates` and `plan_inference` store what they find, and `report_model`
asks a model.
May import `model`, `signals`, `store`, `ledger` and `llm`.
"""
