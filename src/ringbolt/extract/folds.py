"""Folds with a mark: states that are derived from a task's events, page by page, and kept in `distilled`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..ledger.base import Base
from ..ledger.values import read_event
from ..model.types import Event
from ..store.queries import distilled
from ..store.tx import Tx

# Events that are read at once, so that no snapshot is held for long.
PAGE = 500


class Fold(Protocol):
    """Reads events one by one; `state` is all that it keeps, `shown` what views show."""

    def observe(self, event: Event) -> Any: ...
    def state(self) -> Mapping[str, Any]: ...
    def shown(self) -> Any: ...


MakeFold = Callable[[Mapping[str, Any], str], Fold]


def update_folds(memory: Base, task_id: str, folds: Mapping[str, MakeFold]) -> int:
    """Bring folds up to date, each event read once for all; returns the last event that was read.

    `folds` makes each fold, by its kind, from its state and the task's workspace. What a view shows is kept
    under the kind, the state apart, as it may be long.
    """

    def read(tx: Tx) -> tuple[dict[str, tuple[int, dict[str, Any]]], list[Event], str]:
        known = {kind: distilled.get(tx, task_id, f"{kind}_state") for kind in folds}
        head = tx.head(task_id)
        begin = min(mark for mark, _ in known.values())
        events = [read_event(row) for row in tx.events(task_id, begin, PAGE)]
        return known, events, (head["workspace_path"] or "") if head else ""

    while True:
        known, events, workspace = memory.store.read(read)
        if not events:
            return min(mark for mark, _ in known.values())
        states: dict[str, tuple[int, Mapping[str, Any], Any]] = {}
        for kind, make in folds.items():
            mark, state = known[kind]
            fold = make(state, workspace)
            for event in events:
                if event.seq > mark:
                    fold.observe(event)
            states[kind] = max(mark, events[-1].seq), fold.state(), fold.shown()
        at = memory._now()  # pyright: ignore[reportPrivateUsage]

        def write(
            tx: Tx,
            known: Mapping[str, tuple[int, Any]] = known,
            states: Mapping[str, tuple[int, Mapping[str, Any], Any]] = states,
            at: str = at,
        ) -> None:
            for kind, (last, state, shown) in states.items():
                # Another process that was faster has read the same events and stored the same state.
                own = f"{kind}_state"
                if distilled.get(tx, task_id, own)[0] == known[kind][0] and last > known[kind][0]:
                    distilled.put(tx, task_id, own, last, at, state)
                    distilled.put(tx, task_id, kind, last, at, {"shown": shown})

        memory.store.write(write, settles=True)
