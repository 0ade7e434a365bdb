"""Extract: from events to what is worth remembering, with rules and without a model.

`extractor` finds decisions, failures with their fixes, values and artifacts; `names` ranks the names in use;
`work_tree` and `run_commands` follow the repository; `summary_text` writes the running summary; `patterns`
learns over many tasks. They are pure; `extraction`, `running_summary` and `distillation` store the results.
May import `model`, `signals`, `store`, `ledger`, `packet`, `llm` and `progress`.
"""
