"""Sync: exchange events with the stores of other machines through a git ref, a folder or a server.

`operations` are the operations of TaskMemory, and `rounds` is the course of a sync. `exchange` finds what a
remote lacks and merges what it has, by the rules of an import; `segments` is the format, plain or encrypted;
`sync_state` remembers what a remote has; `git_remote`, `folder_remote` and `server_remote` are the kinds
of remote. May import model, journal, system, store, ledger and core.
"""
