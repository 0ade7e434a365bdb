"""Goals: an outcome with criteria that can be checked, and the tasks that work towards it.

`criteria` validates criteria, `checks` runs them, `reading` builds the status, `operations` are the
operations of TaskMemory; budgets and blockers are in ledger, because every write updates them. May import
model, system, store, ledger, core and waits, which runs the checks.
"""
