"""Retention: purge tasks that ended long ago, and forget everything that came from one source.

`forgetting` finds what came from a source and what repeats it; `operations` are the two calls of TaskMemory;
the SQL is in store.forgetting. May import model, config, journal, store, ledger, extract, core and waits.
"""
