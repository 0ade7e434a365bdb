"""Progress: which steps a plan has, and which of them are done.

`report_matching` reads what an agent reports about its plan (`title_words` compares words with titles,
`report_weights` has the fitted weights), `plan_progress` follows a plan by all that was
said and done; `plan_lists` and `prose_plan` find plans that nobody wrote as a to-do list. They are pure;
`progress_updates` and `plan_inference` store what they find, `report_model` asks a model.
May import `model`, `signals`, `store`, `ledger` and `llm`.
"""
