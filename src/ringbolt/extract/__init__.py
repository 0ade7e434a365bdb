"""Extract: from events to what is worth remembering, with rules and without a model.

How an event becomes entries: `extraction` reads a page of new events. `extractor` takes them one by one: an
action goes to `attempts` (failures and what worked instead), `artifacts` and `values`; a message goes to
`message_reader`, which judges each sentence and has `slots` and `decisions` split it into choice and reason;
`reversal` finds what it takes back. `extraction` then leaves out what `known_entries` has already and writes
the rest, with the mark of the last event, in one transaction.

Beside the entries, `folds` keeps three states up to date: `names` ranks the names in use, `work_tree` and
`run_commands` follow the repository. `distillation` runs all of this at once. `running_summary` stores what
`summary_text` writes; `patterns` learns over many tasks.
May import `model`, `signals`, `store`, `ledger`, `packet`, `llm` and `progress`.
"""
