"""The rules of upkeep: the tasks that each applies to, the change, and the reason.

A rule reads page after page and changes nothing. No rule marks a task completed, because it cannot know that.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..files.active_tasks import GENERIC_TITLE, normalized
from ..ledger.observed_time import Ages
from ..model import rules, validate
from ..model.types import Value
from ..store import Store, sessions
from ..store.sessions import INTERRUPTED, WAITING, WORKING, Session
from ..store.tx import Row
from . import queries

Pages = Iterator[list["Finding"]]

PAGE = 500
MOST_KEYS = 50_000  # names that are compared at once, to limit memory
MOST_ALIKE = 5_000  # tasks of one name that are compared in one run
IDLE, GONE, DUPLICATE, STALE = rules.IDLE, rules.SESSION_GONE, "duplicate", "stale"
# Archived when old; a failed task stays until a person or tasks_hygiene deals with it.
ARCHIVED = ("completed", "cancelled", "abandoned", "superseded")


class Run(Value, frozen=True, kw_only=True):
    """One run: its workspace and range, the ages of tasks, and the limits in seconds and as text
    (`shown`)."""

    store: Store
    ages: Ages
    workspace: str | None
    until: int
    ended_after: Mapping[str, int]
    limits: dict[str, float]
    shown: dict[str, str]


class Finding(Value, frozen=True, kw_only=True):
    """A change that a rule wants to make to a task that was read at `last_seq`, and why.

    In `heads`, an empty text stands for the time of the change."""

    rule: str
    task_id: str
    name: str
    last_seq: int
    before: str
    after: str
    reason: str
    heads: Mapping[str, Any] = {}
    links: tuple[str, ...] = ()
    data: Mapping[str, Any] = {}

    @property
    def key(self) -> tuple[str, Any]:
        """The task, and for a claim the step."""
        return self.task_id, self.data.get("item_id")


def _finding(rule: str, row: Row, after: str, reason: str, heads: dict[str, Any], **data: Any) -> Finding:
    return Finding(
        rule=rule,
        task_id=row["task_id"],
        name=row["name"],
        last_seq=row["last_seq"],
        before=row["status"],
        after=after,
        reason=reason,
        heads=heads,
        data={"rule": rule, "last_activity": row["updated_at"], **data},
    )


def _pages(
    run: Run, query: Callable[..., list[Row]], status: str, after: int = 0, **params: Any
) -> Iterator[list[Row]]:
    while True:
        rows = run.store.read(
            lambda tx, after=after: query(
                tx, status=status, after=after, until=run.until, workspace=run.workspace, limit=PAGE, **params
            )
        )
        yield rows
        if len(rows) < PAGE:
            return
        after = rows[-1]["position"]


def _quiet(run: Run, seconds: float) -> dict[str, Any] | None:
    """The times that a query for idle tasks compares with; None if nothing can be that old."""
    times, held = run.ages.before(seconds), run.ages.before(0)
    if times is None or held is None:
        return None
    return {"cutoff": times[0], "lately": times[1], "held": held[1]}


def lease(run: Run) -> Pages:
    """Claims that expired a whole lease ago and were not renewed or taken over."""
    if (times := run.ages.before(run.limits["lease"])) is None:
        return
    after = ("", "")
    while True:
        rows = run.store.read(
            lambda tx, after=after: queries.overdue(tx, times[1], after, run.workspace, PAGE)
        )
        yield [
            Finding(
                rule="lease", task_id=row["task_id"], name=row["name"], last_seq=row["last_seq"],
                before="held", after="released",
                reason=f"the lease of {row['holder']} expired at {row['expires_at']}",
                data={name: row[name] for name in ("item_id", "holder", "token", "expires_at")},
            )
            for row in rows
        ]  # fmt: skip
        if len(rows) < PAGE:
            return
        after = (rows[-1]["task_id"], rows[-1]["item_id"])


def pause(run: Run) -> Pages:
    """Active tasks without activity for too long."""
    limit = run.limits["pause"]
    if (times := _quiet(run, limit)) is None:
        return
    # A waiting task has a reason to be idle, unless its wait is gone.
    for status, reason in (("active", None), ("waiting", "wait")):
        for rows in _pages(run, queries.idle, status, reason=reason, **times):
            yield [
                _finding(
                    "pause", row, "paused", f"no activity for {ago(age)}",
                    {"status": "paused", "reason": IDLE}, threshold=run.shown["pause"],
                    idle_seconds=round(age),
                )
                for row in rows
                if (age := run.ages.age(row["updated_at"], row["place"])) > limit
            ]  # fmt: skip


def archive(run: Run) -> Pages:
    """Tasks that ended long ago."""
    limit = run.limits["archive"]
    if (times := run.ages.before(limit)) is None:
        return
    for status in ARCHIVED:
        for rows in _pages(run, queries.ended, status, run.ended_after[status], cutoff=times[0]):
            yield [
                _finding(
                    "archive", row, "archived", f"{status} {ago(age)} ago", {"archived_at": ""},
                    threshold=run.shown["archive"],
                )
                for row in rows
                if (age := _since_end(run, row)) > limit
            ]  # fmt: skip


def _since_end(run: Run, row: Row) -> float:
    """How long ago a task ended, by its last activity or a change by upkeep, which does not count as one."""
    since = (row["updated_at"], row["place"]), (row["kept_at"], row["position"])
    return min(run.ages.age(moment, place) for moment, place in since if moment is not None)


def stuck(run: Run) -> Pages:
    """Active tasks that are idle without waiting, and have not been reported yet.

    Where a host reports its sessions, only a live session in the middle of a turn can be stuck: a task whose
    session is gone is resting, and between two turns it waits for the user.
    """
    limit = run.limits["stuck"]
    if (times := _quiet(run, limit)) is None:
        return
    for rows in _pages(run, queries.idle, "active", reason=None, **times):
        known = _sessions(run, [row["session_id"] for row in rows])
        yield [
            _finding(
                "stuck", row, "active", f"no activity for {ago(age)}", {}, threshold=run.shown["stuck"],
                idle_seconds=round(age),
            )
            for row in rows
            if (age := run.ages.age(row["updated_at"], row["place"])) > limit
            and _in_a_turn(run, known.get(row["session_id"]), limit) and _needs_alert(run, row)
        ]  # fmt: skip


def _sessions(run: Run, names: Sequence[str | None]) -> dict[str, Session]:
    """The sessions with these ids that a host has reported, by id."""
    return run.store.read(lambda tx: sessions.by_ids(tx, filter(None, names)))


def _is_live(run: Run, session: Session | None) -> bool:
    return session is not None and run.ages.as_of is not None and session.is_live(run.ages.as_of)


def _in_a_turn(run: Run, session: Session | None, limit: float) -> bool:
    """Whether a session could be stuck: live, working, and silent for longer than `limit`; or unknown."""
    if session is None:
        return True
    if not _is_live(run, session) or session.turn in (WAITING, INTERRUPTED):
        return False
    return (run.ages.as_of or 0.0) - validate.seconds_of(session.seen_at) > limit


def _needs_alert(run: Run, row: Row) -> bool:
    if row["alerted"] is None:
        return True
    if row["alerted"] > row["place"]:
        return False
    return run.ages.age(row["alerted_at"], row["alerted"]) > run.limits["cooldown"]


def reconcile(run: Run) -> Pages:
    """Open tasks whose session is gone: tasks with work need a review, the others are abandoned.

    A session that its host reported as ended, or that disappeared between two turns, left nothing half done:
    its task is paused without a review.
    """
    if (times := _quiet(run, min(run.limits["grace"], run.limits["silence"]))) is None:
        return
    seen: dict[str, str | None] = {}  # by session, which may have very many tasks
    for status, reason in (("active", None), ("waiting", "wait"), ("paused", IDLE)):
        for rows in _pages(run, queries.orphans, status, reason=reason, **times):
            if rows:
                yield _orphaned(run, rows, seen)
            if len(seen) > MOST_KEYS:
                seen.clear()


def _orphaned(run: Run, rows: Sequence[Row], seen: dict[str, str | None]) -> list[Finding]:
    facts = run.store.read(lambda tx: queries.working_sessions(tx, [row["task_id"] for row in rows]))
    working = {task_id: json.loads(data).get("value") for task_id, data in facts.items()}
    names = {
        row["task_id"]: {row["session_id"], *filter(None, (str(working.get(row["task_id"]) or ""),))}
        for row in rows
    }
    unseen = sorted(set[str]().union(*names.values()) - seen.keys())
    seen |= dict.fromkeys(unseen)
    seen |= run.store.read(lambda tx: queries.sessions_seen(tx, unseen))
    known = _sessions(run, sorted(set[str]().union(*names.values())))
    findings: list[Finding] = []
    for row in rows:
        own = [known[name] for name in names[row["task_id"]] if name in known]
        if any(_is_live(run, session) for session in own):
            continue
        last = max([row["updated_at"], *(seen[name] or "" for name in names[row["task_id"]])])
        last = max([last, *(session.seen_at for session in own)])
        age = run.ages.age(last, row["place"])
        over = (row["over"] and last == row["updated_at"]) or any(session.ended_at for session in own)
        if age <= run.limits["grace" if over else "silence"]:
            continue
        when = f"ended {ago(age)} ago" if over else f"has written nothing for {ago(age)}"
        why = f"session {row['session_id'][:80]} {when}"
        review = not own or any(session.turn == WORKING for session in own)
        findings.append(_orphan(row, why, review, session=row["session_id"]))
    return findings


def _orphan(row: Row, why: str, review: bool, **data: Any) -> Finding:
    if not row["touched"]:
        heads = {"status": "abandoned", "reason": GONE, "completed_at": ""}
        return _finding("reconcile", row, "abandoned", f"{why}; nothing was done on it", heads, **data)
    heads = {"status": "paused", "reason": GONE}
    if not review:
        return _finding("reconcile", row, "paused", why, heads, **data)
    if not row["attention"]:
        heads["attention"] = f"needs review: {why}; its progress is unknown"
    return _finding("reconcile", row, "paused", f"needs review: {why}", heads, **data)


def failed(run: Run) -> Pages:
    """Failed tasks that have not been resumed for a long time."""
    limit = run.limits["older"]
    if (times := run.ages.before(limit)) is None:
        return
    for rows in _pages(run, queries.ended, "failed", cutoff=times[0]):
        yield [
            _finding(
                "failed", row, "abandoned", f"failed, and no activity for {ago(age)}",
                {"status": "abandoned", "reason": STALE}, threshold=run.shown["older"],
            )
            for row in rows
            if (age := _since_end(run, row)) > limit
        ]  # fmt: skip


# --- duplicates -------------------------------------------------------------------------------------


def duplicates(run: Run) -> Pages:
    """Open and failed tasks of a workspace with the same label or title as another, which is kept.

    If there are very many names, they are compared in several passes, each over a part of them.
    """
    if (times := _quiet(run, run.limits["older"])) is None:
        return
    statuses = (*rules.OPEN, "failed")
    total = run.store.read(lambda tx: queries.count(tx, statuses, run.workspace))
    parts = 1 + 2 * total // MOST_KEYS
    taken: set[str] = set()
    for part in range(parts):
        findings: list[Finding] = []
        for ids in _groups(run, statuses, part, parts):
            same = _superseded(run, ids, times)
            # If the task that would be kept is itself superseded in this run, the next run decides.
            findings += [finding for finding in same if taken.isdisjoint((finding.task_id, *finding.links))]
            taken.update(finding.task_id for finding in findings)
            if len(findings) >= PAGE:
                yield findings
                findings = []
        yield findings


def _groups(run: Run, statuses: Sequence[str], part: int, parts: int) -> Iterator[list[str]]:
    """The ids of tasks that share a name, for one part of all names."""
    first: dict[bytes, str | list[str]] = {}
    for status in statuses:
        after = 0
        while True:
            rows = run.store.read(
                lambda tx, after=after, status=status: queries.named(
                    tx, status, after, run.until, run.workspace, 4 * PAGE
                )
            )
            for row in rows:
                for key in _keys(row):
                    if int.from_bytes(key[:4]) % parts != part:
                        continue
                    known = first.setdefault(key, row[1])
                    if isinstance(known, list):
                        known.append(row[1])
                    elif known != row[1]:
                        first[key] = [known, row[1]]
            if len(rows) < 4 * PAGE:
                break
            after = rows[-1][0]
    return (ids for ids in first.values() if isinstance(ids, list))


def _keys(row: tuple[Any, ...]) -> list[bytes]:
    """Digests of the names of a task: its label, and its title among the sub-tasks of the same parent."""
    _, _, workspace, parent, name, label = row
    names = [("title", parent or "", normalized(name))]
    if label is not None:
        names.append(("label", "", normalized(label)))
    return [
        validate.blake2b(
            "\0".join((workspace or "", *key)).encode("utf-8", "replace"), digest_size=12
        ).digest()
        for key in names
        if key[2] not in ("", GENERIC_TITLE)
    ]


def _superseded(run: Run, ids: Sequence[str], times: dict[str, Any]) -> list[Finding]:
    """Keep one of several tasks with the same name; it supersedes those that were idle for too long."""
    if len(ids) > MOST_ALIKE:  # the next run continues
        ids = [*ids[: MOST_ALIKE - 1], ids[-1]]
    rows: list[Row] = []
    for start in range(0, len(ids), PAGE):
        page = ids[start : start + PAGE]
        rows += run.store.read(lambda tx, p=page: queries.alike(tx, p, times["lately"], times["held"]))

    labels = {normalized(row["label"]) for row in rows if row["label"] is not None}
    if len(labels) > 1:  # different labels mean different tasks
        rows = [row for row in rows if row["label"] is None]
    if len(rows) < 2:
        return []
    rows.sort(key=_precedence, reverse=True)
    kept = rows[0]
    return [
        _finding(
            "duplicate", row, "superseded", f"the same as {kept['task_id']}, and no activity for {ago(age)}",
            {"status": "superseded", "reason": DUPLICATE, **_ends(row)}, superseded_by=kept["task_id"],
            threshold=run.shown["older"],
        ).replace(links=(kept["task_id"],))
        for row in rows[1:]
        if not row["live"] and (age := run.ages.age(row["updated_at"], row["place"])) > run.limits["older"]
    ]  # fmt: skip


def _precedence(row: Row) -> tuple[Any, ...]:
    """The sort key of duplicates, best last: open, kept alive, most recently changed, most steps done, and
    finally the lowest id."""
    letters = tuple(-ord(letter) for letter in row["task_id"])
    return (row["status"] in rules.OPEN, row["live"], row["updated_at"], row["place"], row["done"], letters)


def _ends(row: Row) -> dict[str, Any]:
    return {} if row["completed_at"] else {"completed_at": ""}


# --- texts ------------------------------------------------------------------------------------------


def ago(seconds: float) -> str:
    """A duration for display: 26 h, 3 d."""
    for unit, length in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{int(seconds // length)} {unit}"
    return f"{int(max(seconds, 0))} s"


RULES: dict[str, Callable[[Run], Pages]] = {
    "lease": lease,
    "reconcile": reconcile,
    "duplicate": duplicates,
    "failed": failed,
    "pause": pause,
    "stuck": stuck,
    "archive": archive,
}
