"""The base of every operation: who acts, finding a task, drafting and appending events, rows as values.

`base.Base` is the base class of all groups of operations; `Base._write` is the path of every write. The
circuit breaker and budgets of goals are here because every append must respect them. It imports `model`,
`system` and `store`.
"""
