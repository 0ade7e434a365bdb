"""Upkeep: pause idle tasks, archive old ones, report stuck ones, free expired claims, tidy duplicates.

`rules` finds what each rule applies to, `queries` holds their SQL, `operations` writes the changes, and `job`
runs the automatic rules in a worker. May import model, store, ledger, waits and files.
"""
