"""Progress: which steps a plan has, and which of them are done.

`plan_progress` follows a plan by what was said and done; `plan_lists` and `prose_plan` find plans that nobody
wrote as a to-do list. They are pure; `progress_updates` and `plan_inference` store what they find.
May import `model`, `signals`, `store` and `ledger`.
"""
