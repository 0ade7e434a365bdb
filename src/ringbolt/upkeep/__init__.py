"""Upkeep: pause idle tasks, archive old ones, report stuck ones, free expired claims, tidy duplicates.

`rules` finds the tasks that each rule applies to, `queries` holds the SQL, `operations` writes the changes,
and `job` runs the automatic rules in a worker. May import model, store, ledger, waits and files.
"""
