"""A stored wait, the outcome of a check, and the time of the next one. No store is needed here.

A wait is a record of its task with the state `watching`, and a job of kind `wait` that is due at the next
check. It ends once, as `resolved`, `timeout`, `error` or `cancelled`, in the transaction that writes the
event `wait.ended`; a process that checks it at the same time finds that it is over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.task_updates import status_changes
from ..model.errors import Conflict
from ..model.redaction import Redactor, without_private
from ..model.results import WaitResult
from ..model.types import Value, is_list
from ..model.validate import seconds_of
from ..store.tx import Row, Tx
from .conditions import JUDGED, Watch, read_watch
from .targets import CheckContext, time_left

SHORTEST, LONGEST = 0.05, 3600.0  # seconds between two checks
MOST_SECONDS = 366 * 86_400.0
BACKOFF = 8  # while nothing changes, the interval doubles, up to this many times the requested interval …
# … but not beyond these seconds where a check costs almost nothing (or the requested interval, if longer).
RAREST = {"file": 1.0, "log": 1.0, "process": 1.0, "task": 5.0, "step": 5.0}
UNWATCHED = ("time", "manual")  # frequent checks are useless: the moment is known, or comes as an event
MOST_CHANGES = 100  # changes that one wait writes into the history
MOST_LISTED = 1000
KIND = "wait"
REASON = "wait"  # why the task waits: a task with another reason does not continue when a wait ends
UNSEEN: Any = object()
_REDACTOR = Redactor()
_QUICK = ("file", "log", "process", "time", "task", "step", "manual")


class Wait(Value, frozen=True, kw_only=True):
    """A stored wait.

    `spec` holds its target, condition and timeout, `version` is the seq of its last update, and `data` is the
    input of the next check; an imported wait has no data and is not checked in this store.
    """

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
        """The id that callers use."""
        return f"{self.task_id}#{self.seq}"

    @property
    def criteria(self) -> str:
        """Target and condition, for display."""
        return f"{self.spec['target']} {self.spec.get('until') or ''}".rstrip()

    @property
    def watch(self) -> Watch:
        """The parsed target and condition, with the secrets that only the job of the wait holds;
        InvalidInput if imported events are not valid."""
        clear = (self.data or {}).get("clear") or (self.spec["target"], self.spec.get("until"))
        return read_watch(*clear)

    def as_result(self, now: str) -> WaitResult:
        """The wait as its caller sees it; `due` means that a check is overdue."""
        judged = JUDGED in self.criteria
        data = self.data or {}
        detail: str | None = data.get("detail")
        fields: dict[str, Any] = {"state": self.state, "judged_by": "model" if judged else "rule"}
        return WaitResult(
            wait_id=self.wait_id,
            task_id=self.task_id,
            seq=self.seq,
            target=self.spec["target"],
            until=self.spec.get("until"),
            timeout=self.spec["timeout"],
            started_at=self.started_at,
            ended_at=self.ended_at,
            result=self.result,
            last_check=_REDACTOR.text(detail) if detail and data.get("clear") else detail,
            due=self.state == "watching" and self.due is not None and self.due <= now,
            **fields,
        )


class Outcome(Value, frozen=True, kw_only=True):
    """The outcome of a check. `ended` is how the wait ends, if it does; `state` is for the next check.

    `wait` is the version of the wait that was checked, and `seen` the fingerprint of its files; while that is
    unchanged, another check would have the same outcome.
    """

    wait: Wait
    ended: str | None
    detail: str
    state: Any
    seen: Any = UNSEEN

    @property
    def before(self) -> Mapping[str, Any]:
        """The data of the wait before this check."""
        return self.wait.data or {
            "state": None, "detail": None, "interval": self.wait.spec["poll_interval"], "changes": 0,
        }  # fmt: skip

    @property
    def changed(self) -> bool:
        """Whether it differs from the outcome of the previous check."""
        return self.detail != self.before["detail"] or self.state != self.before["state"]

    @property
    def is_news(self) -> bool:
        """Whether it belongs in the history: not the first check, and only a limited number of changes."""
        before = self.before["detail"]
        return before is not None and self.detail != before and self.before["changes"] < MOST_CHANGES

    @property
    def data(self) -> dict[str, Any]:
        """The data of the wait after this check, without its interval and time."""
        changes = self.before["changes"] + self.is_news
        return {**self.before, "state": self.state, "detail": self.detail, "changes": changes}


# --- the next check ---------------------------------------------------------------------------------


def next_interval(watch: Watch, base: float, last: float, changed: bool) -> float:
    """The seconds until the next check: `base` after a change, otherwise twice the last, within limits."""
    return base if changed else min(2 * last, _rarest(watch, base), LONGEST)


def _rarest(watch: Watch, base: float) -> float:
    if watch.parts:
        return min(_rarest(part, base) for part in watch.parts)
    if watch.kind in UNWATCHED:
        return LONGEST
    return max(base, min(BACKOFF * base, RAREST.get(watch.kind, LONGEST)))


def latest_check(watch: Watch, context: CheckContext, timeout: float) -> float:
    """The seconds until a check is needed at the latest: a time is reached, or the wait times out."""
    left = time_left(watch, context)
    return min(timeout - context.waited, LONGEST if left is None else left)


def is_quick(watch: Watch) -> bool:
    """Whether a check needs only the files, processes and tasks of this machine."""
    return all(leaf.kind in _QUICK and leaf.word != JUDGED for leaf in watch.leaves)


# --- records ----------------------------------------------------------------------------------------


def task_changes(tx: Tx, head: Row, now: str, status: str | None, wait_id: str, state: str) -> dict[str, Any]:
    """The changes to a task when a wait starts or ends: its status, and its metadata about waits."""
    metadata = dict(tx.extras(head["task_id"])["metadata"])
    known = metadata.get("active_wait_ids")
    ids = [other for other in (known if is_list(known) else ()) if other != wait_id]
    metadata["active_wait_ids"] = [*ids, wait_id] if state == "watching" else ids
    metadata["last_wait_state"] = state
    if state != "watching":
        metadata["last_wait_event_at"] = seconds_of(now)
    sets: dict[str, Any] = {"extras": {"metadata": metadata}}
    if status is not None:
        reason = REASON if status == "waiting" else None
        changes = {"status": status, **status_changes(head, status, reason, now)}
        sets["heads"] = {name: value for name, value in changes.items() if head[name] != value}
    return sets


def checked_spec(started: Mapping[str, Any], updated: Mapping[str, Any]) -> dict[str, Any]:
    """The spec of a wait from its first event and its last update; imported events may hold anything."""
    spec = {**started, **{name: updated[name] for name in ("until", "timeout", "decided") if name in updated}}
    for name, default in (("timeout", 0.0), ("poll_interval", SHORTEST)):
        if isinstance(spec.get(name), bool) or not isinstance(spec.get(name), (int, float)):
            spec[name] = default
    for name in ("target", "until", "decided", "folder"):
        if spec.get(name) is not None:
            spec[name] = str(spec[name])
    return {**spec, "target": spec.get("target") or "nothing"}


def clear_text(watch: Watch) -> tuple[str, str | None] | None:
    """Target and condition of a wait if they hold a secret: the ledger has them redacted, and the wait must
    still work."""
    if _REDACTOR.text(watch.criteria) == watch.criteria:
        return None
    return without_private(watch.target), watch.until and without_private(watch.until)


def check_watching(wait: Wait) -> None:
    """Raise if a wait is over."""
    if wait.state != "watching":
        raise Conflict(
            "illegal_transition",
            f"The wait {wait.wait_id} is over: {wait.state}.",
            "Start another one with smart_wait.",
        )
