"""Extract: from events to what is worth remembering, with rules and without a model.

`extractor` finds decisions, failures with their fixes, values and artifacts; `plan_progress` follows a plan;
`names` ranks the names in use; `summary_text` writes the running summary; `patterns` learns over many tasks.
They are pure; `extraction`, `progress_updates`, `running_summary` and `distillation` store what they find.
May import `model`, `signals`, `store`, `ledger`, `packet` and `llm`.
"""
