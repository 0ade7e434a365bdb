"""A wait as the store has it, and the rules that need no store: intervals, and what it says of its task."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ..core.tasks import status_changes
from ..model.errors import Conflict
from ..model.results import WaitResult
from ..model.types import Value, is_list
from ..store.tx import Row, Tx
from . import Surroundings, Watch, read_watch
from .looking import time_left

SHORTEST, LONGEST = 0.05, 3600.0  # seconds between two looks
MOST_SECONDS = 366 * 86_400.0
BACKOFF = 8  # while nothing changes, looks become rarer, up to so many times …
# … but what costs next to nothing to look at no rarer than this, in seconds, or than it was asked for.
RAREST = {"file": 1.0, "log": 1.0, "process": 1.0, "task": 5.0, "item": 5.0}
UNWATCHED = ("time", "manual")  # of these nothing is gained by looking: when they come is known, or told
AHEAD = 10.0  # seconds that a living waiter keeps its job from the workers, at least
NOTICE = 1.0  # seconds in which a waiter notices that someone else has ended its wait
MOST_CHANGES = 100  # changes of the verdict that one wait writes down
MOST_LISTED = 1000
KIND = "wait"
REASON = "wait"  # why a task waits: only who waits for this reason goes on when the wait is over


class Live(Value, frozen=True, kw_only=True):
    """A wait as the store has it. `version`: its last update; `data`: what the next look needs to know."""

    task_id: str
    seq: int
    state: str
    task_status: str
    spec: Mapping[str, Any]
    started_at: str
    version: int = 0
    ended_at: str | None = None
    result: str | None = None
    data: Mapping[str, Any] | None = None
    due: str | None = None

    @property
    def wait_id(self) -> str:
        """How callers name it."""
        return f"{self.task_id}#{self.seq}"

    @property
    def criteria(self) -> str:
        """What it waits for, for people."""
        return f"{self.spec['target']} {self.spec.get('until') or ''}".rstrip()


def task_sets(tx: Tx, head: Row, now: str, status: str | None, wait_id: str, state: str) -> dict[str, Any]:
    """What a wait that begins or ends changes about its task: its status, and what its metadata say."""
    metadata = dict(tx.extras(head["task_id"])["metadata"])
    known = metadata.get("active_wait_ids")
    ids = [one for one in (known if is_list(known) else ()) if one != wait_id]
    metadata["active_wait_ids"] = [*ids, wait_id] if state == "watching" else ids
    metadata["last_wait_state"] = state
    if state != "watching":
        metadata["last_wait_event_at"] = now
    sets: dict[str, Any] = {"extras": {"metadata": metadata}}
    if status is not None:
        reason = REASON if status == "waiting" else None
        changes = {"status": status, **status_changes(head, status, reason, now)}
        sets["heads"] = {name: value for name, value in changes.items() if head[name] != value}
    return sets


def watch_of(live: Live) -> Watch:

    return read_watch(live.spec["target"], live.spec.get("until"))


def sound_spec(begun: Mapping[str, Any], updated: Mapping[str, Any]) -> dict[str, Any]:
    """What a wait is about: as it was begun, but for what may be changed. Events that came from elsewhere may
    say anything."""
    spec = {**begun, **{name: updated[name] for name in ("until", "timeout", "decided") if name in updated}}
    for name, usual in (("timeout", 0.0), ("poll_interval", SHORTEST)):
        if isinstance(spec.get(name), bool) or not isinstance(spec.get(name), (int, float)):
            spec[name] = usual
    for name in ("target", "until", "decided", "folder"):
        if spec.get(name) is not None:
            spec[name] = str(spec[name])
    return {**spec, "target": spec.get("target") or "nothing"}


def leaves(watch: Watch) -> list[Watch]:
    """The targets of a watch, without the groups that they stand in."""
    return [leaf for part in watch.parts for leaf in leaves(part)] if watch.parts else [watch]


def has(watch: Watch, kind: str) -> bool:
    return any(leaf.kind == kind for leaf in leaves(watch))


def check_watching(live: Live) -> None:
    if live.state != "watching":
        raise Conflict(
            "illegal_transition",
            f"The wait {live.wait_id} is over: {live.state}.",
            "Begin another one with smart_wait.",
        )


def next_interval(watch: Watch, base: float, last: float, changed: bool) -> float:
    """The seconds between two looks, by how long they were last: as asked for when something changes, and
    longer each time while nothing does."""
    if changed:
        return base
    return min(2 * last, _rarest(watch, base), LONGEST)


def _rarest(watch: Watch, base: float) -> float:
    if watch.parts:
        return min(_rarest(part, base) for part in watch.parts)
    if watch.kind in UNWATCHED:
        return LONGEST
    return max(base, min(BACKOFF * base, RAREST.get(watch.kind, LONGEST)))


def next_delay(watch: Watch, around: Surroundings, interval: float, timeout: float) -> float:
    """The seconds until the next look: no later than when a time is there, or the wait is too long."""

    left = time_left(watch, around)
    return max(SHORTEST, min(interval, timeout - around.waited, interval if left is None else left))


def ahead(delay: float) -> float:
    return min(max(AHEAD, 4 * delay), 4 * LONGEST)


def steady() -> float:
    """Seconds since the machine was started: the same for all its processes, and nobody sets it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def as_result(live: Live, now: str) -> WaitResult:
    """A wait for its caller. It is due when nobody has looked although it was time to."""
    judged = "judged: " in f"{live.spec['target']} {live.spec.get('until') or ''}"
    fields: dict[str, Any] = {"state": live.state, "judged_by": "model" if judged else "rule"}
    return WaitResult(
        wait_id=live.wait_id,
        task_id=live.task_id,
        seq=live.seq,
        target=live.spec["target"],
        until=live.spec.get("until"),
        timeout=live.spec["timeout"],
        started_at=live.started_at,
        ended_at=live.ended_at,
        result=live.result,
        said=live.data["said"] if live.data else None,
        due=live.state == "watching" and live.due is not None and live.due <= now,
        **fields,
    )
