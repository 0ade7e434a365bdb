"""Retention: purge tasks that ended long ago, and forget everything that came from one source.

`forgetting` finds the events of a source and the events that repeat them; `operations` are the two operations
of TaskMemory; the SQL is in store.forgetting. May import model, journal, store, ledger, extract, core and
waits.
"""
