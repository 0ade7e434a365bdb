"""The journal: events of hosts on their way into the store, one small file each.

Hooks write here and never wait for the database; `hosts.drain` moves events into the store. This room knows
the folders, the names and order of event files, the small files about sessions, counts and health. It knows
nothing of stores or hosts, and imports only `config`, `model` and `system`.
"""
