"""Goals: what is to be reached, criteria that can be checked, and the tasks that work towards it.

`criteria` validates criteria, `checks` carries them out, `reading` builds the status, `operations` are the
calls of TaskMemory; budgets and blockers are in ledger, because every write updates them. May import model,
system, store, ledger, core and waits, whose looks check the criteria.
"""
