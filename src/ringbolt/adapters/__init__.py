"""Adapters for agent frameworks: record what an agent does, and hand it the packet when its history is cut.

Each module here is for one framework and imports it, so importing `ringbolt` imports none of them. They all
share `recorder` (what happens becomes a task's ledger) and `documents` (key-value storage on a ledger, for
interfaces that want one).
"""
