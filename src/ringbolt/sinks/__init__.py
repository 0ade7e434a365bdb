"""Copies of tasks for readers outside: Lark (Feishu) documents or table rows, and Redis.

A sink publishes one task as the ledger has it now. The worker drives it, see `worker.publishing`. A copy is
never the truth: a sink reads the target, then the ledger, and writes only what differs, so publishing again
is always safe, whatever a killed worker, a late one or a restored target left behind.
"""
