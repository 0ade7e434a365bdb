"""Copy a whole store to another engine, place or tenant, event by event."""

from __future__ import annotations

from collections.abc import Callable

from ..ledger.access import commit
from ..ledger.values import read_origin
from ..model.results import CopyReport
from ..model.types import Origin
from ..store import Store
from ..store.tx import Row
from .transfer import PAGE, Merge
from .verify import Verify


def copy_store(
    source: Verify, target: Verify, progress: Callable[[int, int], None] | None = None
) -> CopyReport:
    """Copy the events that `target` lacks from `source`, then verify both and compare their hashes.

    A copy can be interrupted and started again: no event is copied twice. A task that the target has
    continued differently is left alone and listed in `diverged`. `progress` is called with the number of
    copied events and the total.
    """
    there = target.store.read(lambda tx: tx.chain_ends())
    missing: list[tuple[str, str, int, int]] = []  # task, root, first and last event that the target lacks
    for name, end in source.store.read(lambda tx: tx.chain_ends()).items():
        root, last, _ = end
        known = there.get(name, (root, 0, b""))
        if known != end and (not known[1] or _begins_with(source.store, name, last, known)):
            missing.append((name, root, known[1] + 1, last))
    wanted = sum(last - first + 1 for _, _, first, last in missing)
    copied = _copy(source.store, target, missing, lambda done: progress and progress(done, wanted))
    _copy_leases(source.store, target.store)
    return _compared(source, target, copied)


def _begins_with(store: Store, name: str, last: int, known: tuple[str, int, bytes]) -> bool:
    """Whether a task's history in a store begins with the part that the other store has."""
    if known[1] >= last:
        return False
    event = store.read(lambda tx: tx.event(name, known[1]))
    return event is not None and event["hash"] == known[2]


def _copy(
    source: Store, target: Verify, missing: list[tuple[str, str, int, int]], report: Callable[[int], object]
) -> int:
    copied = 0
    batch: list[tuple[int, Row, Origin]] = []

    def flush() -> None:
        nonlocal copied
        # Under the same ids: both sides of a conflict stay two tasks in the target.
        homes = {row["task_id"]: row["task_id"] for _, row, _ in batch}
        commit(target, lambda tx: Merge(homes).add_all(tx, batch), settles=True, tasks=Merge.tasks)
        copied += len(batch)
        batch.clear()
        report(copied)

    for name, root, first, last in missing:
        after = first - 1
        while after < last:
            rows = source.read(lambda tx, n=name, a=after, e=last: tx.events(n, a, PAGE, e))
            for row in rows:
                row["root_id"] = root
                batch.append((copied + len(batch) + 1, row, read_origin(row)))
            after = rows[-1]["seq"]
            if len(batch) >= PAGE:
                flush()
    if batch:
        flush()
    if copied >= PAGE:
        target.store.refresh_statistics()
    return copied


def _copy_leases(source: Store, target: Store) -> None:
    """Copy the expiry of claims: heartbeats leave no events, so it is not in the ledger."""
    leases = source.read(lambda tx: tx.leases())
    there = target.read(lambda tx: tx.leases())
    late = {place: end for place, end in leases.items() if place in there and there[place] < end}
    if late:
        target.write(lambda tx: [tx.renew_claim(*place, end) for place, end in late.items()], settles=True)


def _compared(source: Verify, target: Verify, copied: int) -> CopyReport:
    here = source.store.read(lambda tx: tx.chain_ends())
    there = target.store.read(lambda tx: tx.chain_ends())
    behind: list[str] = []
    diverged: list[str] = []
    for name, end in here.items():
        known = there.get(name)
        if known is None or (known != end and _begins_with(source.store, name, end[1], known)):
            behind.append(name)  # the source was written to in the meantime
        elif known != end:
            diverged.append(name)
    reports = source.verify(), target.verify()
    return CopyReport(
        ok=not behind and not diverged and reports[0].ok and reports[1].ok,
        tasks=len(here),
        events=sum(end[1] for end in here.values()),
        copied=copied,
        behind=tuple(behind),
        diverged=tuple(diverged),
        others=len(there.keys() - here.keys()),
        source=reports[0],
        target=reports[1],
    )
