"""The ledger's own operations, one group of `TaskMemory`'s methods per module.

Tasks, plans, to-do sync, actions, entries, claims, notes, undo, verify, hand-off, import and export, copying,
and the job queue. The room imports `model`, `system`, `signals`, `store` and `ledger`, and the rooms that a
write may trigger: `packet`, `recall`, `extract` and `ask`.
"""
