"""Compare every past state that a store reads with the one that its events fold to."""

from __future__ import annotations

from ringbolt import TaskMemory
from ringbolt.ledger.values import read_origin, read_snapshot
from ringbolt.store import Tx
from ringbolt.store.past import past
from ringbolt.store.schema import STATE
from ringbolt.store.sqlite_database import scratch_database


def scratch() -> Tx:
    """An empty ledger in memory, to fold events into."""
    return Tx(scratch_database())


def check_pasts(memory: TaskMemory, every: int = 1) -> int:
    """Fold each task event by event, and compare the state after every n-th with what is read as its past.

    Returns how many states were compared.
    """
    tasks = memory.store.read(lambda tx: tx.task_ids())
    return sum(memory.store.read(lambda tx, name=name: _check(tx, name, every)) for name in tasks)


def _check(tx: Tx, task_id: str, every: int) -> int:
    now = tx.head(task_id)
    assert now is not None
    folded, compared = scratch(), 0
    head = {"task_id": task_id, "root_id": now["root_id"], "last_seq": 0}
    for event in tx.events(task_id, 0, 1 << 31):
        folded.fold(head, event, read_origin(event))
        seq = event["seq"]
        if seq % every and seq != now["last_seq"]:
            continue
        then = past(tx, now, seq)
        for table in STATE:
            assert then.state_rows(table, task_id) == folded.state_rows(table, task_id), (seq, table)
        own, read = read_snapshot(folded, task_id), read_snapshot(then, task_id)
        assert own is not None
        # A heartbeat moves a lease without an event.
        assert read is not None
        assert read.replace(claims=()) == own.replace(claims=()), seq
        compared += 1
    return compared
