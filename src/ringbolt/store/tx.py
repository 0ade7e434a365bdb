"""Every query, once: reading the state, and the one way to change it, `append`.

SQL here is what SQLite and PostgreSQL both understand, with `:name` parameters. A store hands its
transaction a `Database`, which runs the SQL; the engines differ nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from msgspec.structs import asdict

from ..model.errors import StoreError, shown
from ..model.rules import plan_position
from ..model.types import Origin
from ..model.validate import blake2b, dumps, plain, text
from ..signals.terms import Term
from . import distilled

Row = dict[str, Any]

Cells = tuple[Any, ...]

TaskRows = dict[str, list[Row]]


class Database(Protocol):
    """What an engine offers inside a transaction.

    `lock_row` ends a query whose row is kept for us, `take_rows` one that passes over rows which are kept
    for others; `one_of` compares with what a query finds, in
    the form that is sure to be looked up in an index, whatever an engine thinks of the sizes;
    `position` is the id of the event that was inserted last.
    """

    lock_row: str
    take_rows: str
    one_of: str
    position: str
    # The full-text index: its column with an event's id, and the condition that a row of it matches.
    word_id: str
    matches: str

    def matching(self, groups: Sequence[Sequence[Term]]) -> str:
        """The engine's own words for: one term of each group. They are the parameter of `matches`."""
        ...

    def index(self, event: Row) -> None:
        """A new event, with its agent and workspace, for the full-text index."""
        ...

    def query(self, sql: str, params: Mapping[str, Any]) -> list[Cells]: ...
    def query_all(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Cells]]: ...
    def run(self, sql: str, params: Mapping[str, Any]) -> None: ...
    def run_many(self, sql: str, rows: Sequence[Mapping[str, Any]]) -> None: ...
    def query_fresh(self, queries: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[Cells]]:
        """Like `query_all`, each planned for its own parameters: terms differ a lot in frequency."""
        ...

    def lock(self, name: str) -> None: ...

    def nested(self, work: Callable[[], None]) -> Exception | None:
        """Run work so that an error of its own undoes what it wrote, and only that; returns the error.

        Raises when the engine itself failed: then the whole transaction is lost.
        """
        ...

    def settled(self) -> int | None:
        """An id up to which a transaction that begins later sees every event; None if someone is just
        writing, so that none can be named."""
        ...

    def horizon(self) -> tuple[int, frozenset[str]]:
        """The newest id that was given out, and who is writing just after that: an event with an id up
        to it is there, or one of them has it in hand, or it will never come."""
        ...

    def compares_vectors(self) -> bool:
        """Whether the engine itself can say how near vectors are."""
        ...


def _columns(names: str) -> list[str]:
    return names.split()


HEADS = _columns(
    "task_id root_id last_seq last_hash position version kind name status phase reason attention"
    " next_step blockers done total current_item next_item plan_version plan_seq workspace_path"
    " repository session_id focus parent_id finish_seq messages actions created_at updated_at"
    " plan_generated_at replanned_at execution_started_at synthesis_started_at completed_at"
    " archived_at name_seq next_seq blockers_seq attention_seq"
)
EXTRAS = _columns("task_id goal context acceptance approval_mode callback_url metadata goal_seq")
STEPS = _columns(
    "task_id item_id ordinal title status stage basis evidence cause_seq note active_issue"
    " depends_on detail plan_version dropped_in replaced_by started_at completed_at"
    " duration_seconds version title_seq note_seq issue_seq"
)
RECORDS = _columns("task_id seq type status item_id key ref_seq ended_at version")
EVENTS = _columns(
    "task_id seq event_type timestamp item_id ref_seq text data sets origin_id correlation_id hash forgotten"
)
FILES = _columns("task_id path change seq at")
LINKS = _columns("task_id kind target seq status")
CLAIMS = _columns("task_id item_id holder token status reason expires_at")
KEYS = _columns("task_id key operation arguments seq result")
ORIGINS = _columns("principal agent channel session")
LATELY = _columns("task_id last_seq last_hash position status workspace_path archived_at")

# The state that events change, with the columns (after task_id) that name a row of it.
STATE: dict[str, tuple[list[str], tuple[str, ...]]] = {
    "heads": (HEADS, ()),
    "extras": (EXTRAS, ()),
    "steps": (STEPS, ("item_id",)),
    "records": (RECORDS, ("seq",)),
    "labels": (["task_id", "seq", "kind", "value"], ("seq", "kind", "value")),
    "files": (FILES, ("path",)),
    "links": (LINKS, ("kind", "target")),
    "claims": (CLAIMS, ("item_id",)),
    "keys": (KEYS, ("key",)),
}
# The texts of the state that anyone may be shown, with the column that names the event which set each.
SOURCES: dict[str, dict[str, str]] = {
    "heads": {
        "name": "name_seq",
        "next_step": "next_seq",
        "blockers": "blockers_seq",
        "attention": "attention_seq",
    },
    "extras": {"goal": "goal_seq"},
    "steps": {"title": "title_seq", "note": "note_seq", "active_issue": "issue_seq"},
}
# `append` itself keeps these in step with the events; no event may set them.
KEPT = frozenset(
    "task_id last_seq last_hash position version done total current_item next_item messages"
    " actions updated_at".split()
)
# Moved without an event, so that a heartbeat costs none.
UNFOLDED = {"heads": {"position"}, "claims": {"expires_at"}}
# Written about a task, not for it: they do not make it look alive, and are not among what happened lately.
BOOKKEEPING = ("model.used", "drill.scored", "task.upkeep", "task.stuck", "claim.reclaimed", "forgotten")
# Who writes what Ringbolt itself has found or tidied, in no session: no sign that anyone works on the task.
OURSELVES = "ringbolt"
MESSAGE_TYPES = frozenset(("message", "task.updated", "item.updated", "task.finished"))


def _insert(table: str, columns: Sequence[str], tail: str = "") -> str:
    names = ", ".join(columns)
    values = ", ".join(f":{column}" for column in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({values}){tail}"


def _upsert(table: str) -> str:
    columns, key = STATE[table]
    rest = ", ".join(
        f"{column} = excluded.{column}" for column in columns if column != "task_id" and column not in key
    )
    target = ", ".join(("task_id", *key))
    return _insert(table, columns, f" ON CONFLICT ({target}) DO UPDATE SET {rest}")


_INSERT_EVENT = _insert("events", EVENTS)
_INSERT_STEP = _insert("steps", STEPS)
_INSERT_RECORD = _insert("records", RECORDS)
_INSERT_HEAD = _insert("heads", HEADS)
_INSERT_EXTRAS = _insert("extras", EXTRAS)
_INSERT_LABEL = _insert("labels", STATE["labels"][0], " ON CONFLICT DO NOTHING")
_INSERT_KEY = _insert("keys", KEYS)
_INSERT_ORIGIN = _insert("origins", ["id", *ORIGINS], " ON CONFLICT DO NOTHING")
_UPSERT = {table: _upsert(table) for table in ("files", "links", "claims")}
_SELECT_HEAD = f"SELECT {', '.join(HEADS)} FROM heads WHERE task_id = :task_id"
_SELECT_EXTRAS = f"SELECT {', '.join(EXTRAS)} FROM extras WHERE task_id = :task_id"
_SELECT_STEPS = f"SELECT {', '.join(STEPS)} FROM steps WHERE task_id = :task_id ORDER BY ordinal, item_id"
_SELECT_FILES = (
    f"SELECT {', '.join(FILES)} FROM files WHERE task_id = :task_id AND change <> 'undone'"
    " ORDER BY seq DESC, path"
)
# Of a task `h`: steps that are done and proven, and side effects that nobody knows the outcome of.
VERIFIED = (
    "CASE WHEN h.done > 0 THEN (SELECT count(*) FROM steps v WHERE v.task_id = h.task_id"
    " AND v.evidence = 'verified' AND v.status = 'completed' AND v.dropped_in IS NULL) ELSE 0 END"
)
UNKNOWN = (
    "(SELECT count(*) FROM records u WHERE u.task_id = h.task_id AND u.type = 'effect'"
    " AND u.status IN ('intended', 'unknown'))"
)
SELECT_LINKS = (
    f"SELECT {', '.join(LINKS)} FROM links WHERE task_id = :task_id AND status = 'active'"
    " ORDER BY seq, kind, target"
)
_SELECT_CLAIMS = f"SELECT {', '.join(CLAIMS)} FROM claims WHERE task_id = :task_id ORDER BY item_id"
_STEP_DEFAULTS: Row = {
    **dict.fromkeys(STEPS),
    "status": "pending",
    "depends_on": "[]",
    "detail": "{}",
}
EVENT_ROW = f"SELECT {', '.join(f'e.{name}' for name in EVENTS)}, " + ", ".join(
    f"o.{name}" for name in ORIGINS
)
EVENT_FROM = " FROM events e JOIN origins o ON o.id = e.origin_id"
EVENT_NAMES = [*EVENTS, *ORIGINS]
# UNION, not UNION ALL: the titles of thousands of steps come from a few events.
_SOURCE_SEQS = " UNION ".join(
    f"SELECT {cite} FROM {table} WHERE task_id = :task_id AND {cite} IS NOT NULL"
    for table, cites in SOURCES.items()
    for cite in cites.values()
)
MOMENTS = _columns("seq type at text channel item status")
_SELECT_RECENT = (
    "SELECT e.seq, e.event_type, e.timestamp, substr(e.text, 1, 1000), o.channel, e.item_id, r.status"
    " FROM (SELECT seq, event_type, timestamp, text, item_id, origin_id, task_id, ref_seq FROM events"
    f" WHERE task_id = :task_id AND event_type NOT IN ({', '.join(map(repr, BOOKKEEPING))})"
    " ORDER BY seq DESC LIMIT :recent) e"
    " JOIN origins o ON o.id = e.origin_id"
    " LEFT JOIN records r ON r.task_id = e.task_id AND r.seq = e.seq ORDER BY e.seq DESC"
)

GOALS = _columns("target name status reason channel met total")
_SELECT_GOALS = (
    "SELECT g.target, h.name, h.status, h.reason, o.channel,"
    " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'criterion'"
    " AND r.status IN ('met', 'waived')),"
    " (SELECT count(*) FROM records r WHERE r.task_id = h.task_id AND r.type = 'criterion'"
    " AND r.status <> 'invalidated')"
    " FROM links g LEFT JOIN heads h ON h.task_id = g.target AND h.kind = 'goal'"
    " LEFT JOIN events e ON e.task_id = h.task_id AND e.seq = h.name_seq"
    " LEFT JOIN origins o ON o.id = e.origin_id"
    " WHERE g.task_id = :task_id AND g.kind = 'goal' AND g.status = 'active' ORDER BY g.seq, g.target LIMIT 5"
)

# `is_activity` in SQL, of an event `e` and its origin `o`.
ACTIVITY = (
    f"e.event_type NOT IN ({', '.join(map(repr, BOOKKEEPING))})"
    f" AND NOT (o.agent = '{OURSELVES}' AND o.session = '')"
)


def is_activity(event_type: str, origin: Origin) -> bool:
    """Whether an event shows that someone works on its task; `updated_at` is the time of the last one."""
    return event_type not in BOOKKEEPING and (origin.agent != OURSELVES or origin.session != "")


# --- hashing ----------------------------------------------------------------------------------------


def origin_id(origin: Origin) -> int:
    """The id of an origin, from its content: the same in every store."""
    content = "\0".join((origin.principal, origin.agent, origin.channel, origin.session))
    return int.from_bytes(blake2b(content.encode(), digest_size=8).digest(), "big") >> 1


def first_link(root_id: str) -> bytes:
    """What the hash of a task's first event follows."""
    return blake2b(root_id.encode(), digest_size=16).digest()


def content_digest(event: Mapping[str, Any]) -> bytes:
    """The digest of an event's content: kept when the content itself is forgotten."""
    content = f"{event['text'] or ''}\0{event['data']}\0{event['sets'] or ''}"
    return blake2b(content.encode(), digest_size=16).digest()


def event_hash(previous: bytes, event: Mapping[str, Any]) -> bytes:
    """The hash of an event over the one before it, its header and its content."""
    header = (
        f"{event['seq']}\0{event['event_type']}\0{event['timestamp']}\0{event['item_id'] or ''}\0"
        f"{event['ref_seq'] or ''}\0{event['origin_id']}\0{event['correlation_id']}"
    )
    digest = event["forgotten"] or content_digest(event)
    return blake2b(previous + digest + header.encode(), digest_size=16).digest()


# --- the transaction --------------------------------------------------------------------------------


class Tx:
    """One transaction on the ledger."""

    def __init__(self, database: Database) -> None:
        self._query = database.query
        self._query_all = database.query_all
        self._run = database.run
        self._run_many = database.run_many
        self._locked = database.lock_row
        self._lock = database.lock
        self._index = database.index
        self.database = database  # for what an engine keeps besides
        self._one_of = database.one_of.format
        self._position = database.position

    def rows(self, names: Sequence[str], sql: str, **params: Any) -> list[Row]:
        """What a query finds, with these names for its columns."""
        return [dict(zip(names, row, strict=True)) for row in self._query(sql, params)]

    # --- appending --------------------------------------------------------------------------------

    def append(self, head: Row, event: Row, origin: Origin, sets: Mapping[str, Any] | None = None) -> None:
        """Add an event to a task and apply what it sets: the only way in which state changes.

        `head` is the task's row and is brought up to date; for a first event it is empty but for
        its ids. The event's hash is filled in here, from the head's last one.
        """
        task_id, seq = event["task_id"], event["seq"]
        if sets is None:
            sets = _decoded(event["sets"])
        head_sets: Mapping[str, Any] = sets.get("heads", {})
        if seq == 1:
            head.update(
                last_seq=0, last_hash=first_link(head["root_id"]), position=0, version=1, done=0,
                total=0, messages=0, actions=0, plan_version=0, focus=0,
                created_at=event["timestamp"], updated_at=event["timestamp"],
            )  # fmt: skip
            head.update((name, _cell(value)) for name, value in head_sets.items())
            head.update(_sourced("heads", head_sets, seq))
            self._run(_INSERT_HEAD, {name: head.get(name) for name in HEADS})
        event["hash"] = event_hash(head["last_hash"], event)
        self._run(_INSERT_ORIGIN, {"id": event["origin_id"], **asdict(origin)})
        self._run(_INSERT_EVENT, event)
        self._index({**event, "agent": origin.agent, "workspace_path": head.get("workspace_path")})
        changes: Row = {"last_seq": seq, "last_hash": event["hash"]}
        if is_activity(event["event_type"], origin):
            changes["updated_at"] = event["timestamp"]
        if sets:
            self._apply(task_id, seq, sets)
            if head_sets:
                changes["version"] = seq
                changes.update((name, _cell(value)) for name, value in head_sets.items())
                changes.update(_sourced("heads", head_sets, seq))
            if "steps" in sets or "+steps" in sets:
                changes.update(plan_position(self.steps(task_id)))
        if event["event_type"] in MESSAGE_TYPES and event["text"]:
            changes["messages"] = head["messages"] + 1
        elif event["event_type"] == "action":
            changes["actions"] = head["actions"] + 1
        columns = ", ".join(f"{name} = :{name}" for name in changes)
        self._run(
            f"UPDATE heads SET {columns}, position = {self._position} WHERE task_id = :task_id",
            {**changes, "task_id": task_id},
        )
        head.update(changes)

    def _apply(self, task_id: str, seq: int, sets: Mapping[str, Any]) -> None:
        for name, rows in sets.items():
            table = name.lstrip("+")
            if name == "heads":
                continue
            if name == "+steps":
                base = {**_STEP_DEFAULTS, "task_id": task_id, "version": seq}
                self._run_many(
                    _INSERT_STEP,
                    [
                        {**base, "item_id": key, **_cells(row), **_sourced(table, row, seq)}
                        for key, row in rows.items()
                    ],
                )
            elif name == "+records":
                base = {**dict.fromkeys(RECORDS), "task_id": task_id, "version": seq}
                self._run_many(
                    _INSERT_RECORD,
                    [{**base, "seq": int(key), **_cells(row)} for key, row in rows.items()],
                )
            elif name == "+extras":
                row = {**dict.fromkeys(EXTRAS), "approval_mode": "auto", "metadata": "{}"}
                sourced = _sourced("extras", rows, seq)
                self._run(_INSERT_EXTRAS, {**row, **_cells(rows), **sourced, "task_id": task_id})
            elif name == "+labels":
                self._run_many(
                    _INSERT_LABEL,
                    [
                        {"task_id": task_id, "seq": number, "kind": kind, "value": value}
                        for number, kind, value in rows
                    ],
                )
            elif name == "+keys":
                self._run(_INSERT_KEY, {**_cells(rows), "task_id": task_id, "seq": seq})
            elif name in _UPSERT:
                full = dict.fromkeys(STATE[table][0])
                self._run_many(_UPSERT[name], [{**full, **_cells(row), "task_id": task_id} for row in rows])
            elif name == "extras":
                self._update(table, {"task_id": task_id}, {**rows, **_sourced(table, rows, seq)})
            else:
                key = STATE[table][1][0]
                for value, row in rows.items():
                    named = int(value) if key == "seq" else value
                    changed = {**row, **_sourced(table, row, seq), "version": seq}
                    self._update(table, {"task_id": task_id, key: named}, changed)

    def _update(self, table: str, key: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        columns = ", ".join(f"{name} = :{name}" for name in row)
        where = " AND ".join(f"{name} = :{name}" for name in key)
        self._run(f"UPDATE {table} SET {columns} WHERE {where}", {**_cells(row), **key})

    def renew_claim(self, task_id: str, item_id: str, expires_at: str) -> None:
        """Move the end of a lease: the one change without an event."""
        self._update("claims", {"task_id": task_id, "item_id": item_id}, {"expires_at": expires_at})

    # --- tasks ------------------------------------------------------------------------------------

    def head(self, task_id: str, lock: bool = False) -> Row | None:
        """A task's row; locked, no other transaction can append to it until this one ends."""
        rows = self._query(_SELECT_HEAD + (self._locked if lock else ""), {"task_id": task_id})
        return dict(zip(HEADS, rows[0], strict=True)) if rows else None

    def heads_with_prefix(self, prefix: str, limit: int = 10) -> list[Row]:
        """The tasks whose id begins so."""
        return self.rows(
            ("task_id", "name", "status"),
            "SELECT task_id, name, status FROM heads WHERE task_id >= :low AND task_id < :high"
            " ORDER BY task_id LIMIT :limit",
            low=prefix,
            high=prefix + "~",
            limit=limit,
        )

    def session_task(self, session_id: str, workspace: str | None) -> str | None:
        """The open task that a session turned to last."""
        rows = self._query(
            "SELECT task_id FROM heads WHERE session_id = :session_id"
            " AND status IN ('active', 'waiting', 'paused') AND kind = 'task' AND root_id = task_id"
            " AND archived_at IS NULL AND (CAST(:workspace AS TEXT) IS NULL OR workspace_path = :workspace)"
            " ORDER BY focus DESC, task_id LIMIT 1",
            {"session_id": session_id, "workspace": workspace},
        )
        return rows[0][0] if rows else None

    def last_focus(self, session_id: str) -> int:
        """The highest focus that a session has given."""
        rows = self._query(
            "SELECT max(focus) FROM heads WHERE session_id = :session_id",
            {"session_id": session_id},
        )
        return rows[0][0] or 0

    def open_tasks(self, workspace: str | None, limit: int = 10) -> list[Row]:
        """The open tasks of a workspace, the last changed first."""
        where = "workspace_path = :workspace" if workspace else "workspace_path IS NULL"
        return self.rows(
            ("task_id", "name", "status", "session_id"),
            f"SELECT task_id, name, status, session_id FROM heads WHERE {where}"
            " AND status IN ('active', 'waiting', 'paused') AND kind = 'task' AND root_id = task_id"
            " AND archived_at IS NULL ORDER BY position DESC LIMIT :limit",
            workspace=workspace,
            limit=limit,
        )

    def cards(
        self,
        statuses: Sequence[str],
        limit: int,
        *,
        workspace: str | None = None,
        session: str | None = None,
        tag: str | None = None,
        parent: str | None = None,
        text: str | None = None,
        kind: str | None = None,
        archived: bool = False,
        before: int | None = None,
    ) -> list[Row]:
        """Task rows with the titles of their steps, the last changed first.

        One branch a status, each in the order of its index, so that the cost follows what is shown
        and not how many tasks there are.
        """
        tagged = (
            "EXISTS (SELECT 1 FROM labels l WHERE l.task_id = heads.task_id AND l.seq = 0"
            " AND l.kind = 'tag' AND l.value = :tag)"
        )
        filters = [
            ("workspace_path = :workspace", workspace),
            ("session_id = :session", session),
            ("parent_id = :parent", parent),
            ("kind = :kind", kind),
            ("position < :before", before),
            (tagged, tag),
            # The empty beginning of the name lends its collation to the text.
            ("lower(name) LIKE lower(substr(name, 1, 0) || :text) ESCAPE '!'", text),
        ]
        where = "".join(f" AND {clause}" for clause, value in filters if value is not None)
        if not archived:
            where += " AND archived_at IS NULL"
        branches = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {', '.join(HEADS)} FROM heads WHERE status = :status{number}{where}"
            f" ORDER BY position DESC LIMIT :limit) b{number}"
            for number in range(len(statuses))
        )
        names = [*HEADS, "current_title", "next_title", "verified", "unknown"]
        return self.rows(
            names,
            f"SELECT h.*, c.title, n.title, {VERIFIED}, {UNKNOWN} FROM ({branches}) h"
            " LEFT JOIN steps c ON c.task_id = h.task_id AND c.item_id = h.current_item"
            " LEFT JOIN steps n ON n.task_id = h.task_id AND n.item_id = h.next_item"
            " ORDER BY h.position DESC LIMIT :limit",
            limit=limit,
            workspace=workspace,
            session=session,
            parent=parent,
            kind=kind,
            before=before,
            tag=tag,
            text=text,
            **{f"status{number}": status for number, status in enumerate(statuses)},
        )

    def lately(
        self, statuses: Sequence[str], limit: int, workspace: str | None = None, before: int | None = None
    ) -> list[Row]:
        """Where tasks stand, the last changed first: of a workspace or of all, archived ones too.

        One branch a status, as in `cards`; few columns, for it is asked on the way of a hook.
        """
        where = "" if workspace is None else " AND workspace_path = :workspace"
        where += "" if before is None else " AND position < :before"
        names = ", ".join(LATELY)
        branches = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {names} FROM heads WHERE status = '{status}'{where}"
            f" ORDER BY position DESC LIMIT :limit) b{number}"
            for number, status in enumerate(statuses)
        )
        return self.rows(
            LATELY,
            f"SELECT * FROM ({branches}) h ORDER BY position DESC LIMIT :limit",
            limit=limit,
            workspace=workspace,
            before=before,
        )

    def task_ids(self) -> list[str]:
        """All task ids, the longest unchanged first: an order that every store of the same ledger has."""
        rows = self._query("SELECT task_id FROM heads ORDER BY updated_at, task_id", {})
        return [row[0] for row in rows]

    def ends(self) -> dict[str, tuple[str, int, bytes]]:
        """Where each task's history begins and ends: root id, last seq and hash; in the order of task_ids."""
        rows = self._query(
            "SELECT task_id, root_id, last_seq, last_hash FROM heads ORDER BY updated_at, task_id", {}
        )
        return {row[0]: (row[1], row[2], row[3]) for row in rows}

    def leases(self) -> dict[tuple[str, str], str]:
        """When each claim that is held ends, by task and item."""
        rows = self._query("SELECT task_id, item_id, expires_at FROM claims WHERE status = 'held'", {})
        return {(row[0], row[1]): row[2] for row in rows}

    def task_rows(
        self, task_id: str, wanted: Sequence[tuple[str, str, int]], files: int, recent: int = 0
    ) -> TaskRows:
        """All that a task is shown with, asked for at once.

        `wanted` names records as (type, status, how many of the newest); they come oldest first, each
        with its event and the text of the event that settled it. `recent` is how many of the last events
        come too, newest first, with the beginning of their texts.
        """
        params: dict[str, Any] = {"task_id": task_id, "files": files, "recent": recent}
        branches: list[str] = []
        settled: list[str] = []
        for number, (kind, status, most) in enumerate(wanted):
            params.update({f"type{number}": kind, f"status{number}": status, f"most{number}": most})
            branches.append(
                f"SELECT * FROM (SELECT {', '.join(RECORDS)} FROM records"
                f" WHERE task_id = :task_id AND type = :type{number} AND status = :status{number}"
                f" ORDER BY seq DESC LIMIT :most{number}) b{number}"
            )
            if kind == "effect" or status == "resolved":
                settled.append(f"SELECT ref_seq FROM ({branches[-1]}) s{number} WHERE ref_seq IS NOT NULL")
        some = f"({' UNION ALL '.join(branches)}) r"
        ending = "SELECT finish_seq FROM heads WHERE task_id = :task_id AND finish_seq IS NOT NULL"
        tagged = self._one_of(f"SELECT seq FROM {some} UNION ALL SELECT 0")
        names, queries = self.recorded(some, " UNION ALL ".join(("SELECT 1", ending, *settled)))
        names |= {"heads": HEADS, "extras": EXTRAS, "steps": STEPS, "labels": ("seq", "kind", "value")}
        names |= {"files": FILES, "links": LINKS, "claims": CLAIMS, "channels": ("seq", "channel")}
        queries |= {
            "heads": _SELECT_HEAD,
            "extras": _SELECT_EXTRAS,
            "steps": _SELECT_STEPS,
            "labels": (
                f"SELECT seq, kind, value FROM labels WHERE task_id = :task_id AND seq {tagged}"
                " ORDER BY seq, kind, value"
            ),
            "files": f"{_SELECT_FILES} LIMIT :files",
            "links": SELECT_LINKS,
            "claims": _SELECT_CLAIMS,
            "channels": f"SELECT e.seq, o.channel{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq "
            + self._one_of(_SOURCE_SEQS),
        }
        if recent:
            names |= {"goals": GOALS}
            queries |= {"goals": _SELECT_GOALS}
            names |= {"recent": MOMENTS, "file_channels": ("seq", "channel"), "distilled": distilled.NAMES}
            queries |= {
                "recent": _SELECT_RECENT,
                "distilled": distilled.SELECT,
                "file_channels": f"SELECT e.seq, o.channel{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq "
                + self._one_of(f"SELECT seq FROM ({_SELECT_FILES} LIMIT :files) f"),
            }
        found = dict(zip(queries, self._query_all([(sql, params) for sql in queries.values()]), strict=True))
        rows = {name: [dict(zip(names[name], row, strict=True)) for row in found[name]] for name in found}
        events = {row["seq"]: row for row in rows.pop("events")}
        rows["first"] = [events[1]] if 1 in events else []
        finish_seq = rows["heads"][0]["finish_seq"] if rows["heads"] else None
        rows["finish"] = [events[finish_seq]] if finish_seq in events else []
        rows["records"] = joined(rows["records"], events)
        return rows

    def recorded(self, some: str, more: str = "") -> tuple[dict[str, Sequence[str]], dict[str, str]]:
        """The queries for some records, oldest first, and for the events of those, and `more` events.

        They are two, joined by the caller: where an engine does not know how long a task is, its join may
        begin with every event of it.
        """
        seqs = f"SELECT seq FROM {some}"
        asked = self._one_of(f"{seqs} UNION ALL {more}" if more else seqs)
        names: dict[str, Sequence[str]] = {"records": RECORDS, "events": EVENT_NAMES}
        return names, {
            "records": f"SELECT {', '.join(RECORDS)} FROM {some} ORDER BY seq",
            "events": f"{EVENT_ROW}{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq {asked}",
        }

    def extras(self, task_id: str) -> Row:
        """What is long or rarely changes about a task."""
        return read_extras(self.rows(EXTRAS, _SELECT_EXTRAS, task_id=task_id)[0])

    def callback_url(self, task_id: str) -> str | None:
        """Whom to tell that a task has ended."""
        rows = self._query("SELECT callback_url FROM extras WHERE task_id = :task_id", {"task_id": task_id})
        return rows[0][0] if rows else None

    # --- plans ------------------------------------------------------------------------------------

    def steps(self, task_id: str) -> list[Row]:
        """All steps of a task, in order, tombstones included."""
        return read_steps(self.rows(STEPS, _SELECT_STEPS, task_id=task_id))

    def news(
        self, task_id: str, kind: str, start: int, limit: int
    ) -> tuple[int, dict[str, Any], list[Row], list[Row]]:
        """How far a distilled kind came and its state, the events since (and after `start`), and the steps:
        all asked for at once. Without a kind: the events after `start`, and the steps."""
        mark = "SELECT seq, state FROM distilled WHERE task_id = :task_id AND kind = :kind"
        events = (
            f"{EVENT_ROW}{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq > :start AND e.seq >"
            f" coalesce((SELECT seq FROM ({mark}) d), 0) ORDER BY e.seq LIMIT :limit"
        )
        params = {"task_id": task_id, "kind": kind, "start": start, "limit": limit}
        kept, rows, steps = self._query_all([(mark, params), (events, params), (_SELECT_STEPS, params)])
        state: dict[str, Any] = json.loads(kept[0][1]) if kept else {}
        return (
            kept[0][0] if kept else 0,
            state,
            [dict(zip(EVENT_NAMES, row, strict=True)) for row in rows],
            read_steps([dict(zip(STEPS, row, strict=True)) for row in steps]),
        )

    # --- records ----------------------------------------------------------------------------------

    def record(self, task_id: str, seq: int) -> Row | None:
        """What can change about an event, if anything can."""
        rows = self.rows(
            RECORDS,
            f"SELECT {', '.join(RECORDS)} FROM records WHERE task_id = :task_id AND seq = :seq",
            task_id=task_id,
            seq=seq,
        )
        return rows[0] if rows else None

    def record_with_key(self, task_id: str, kind: str, key: str) -> Row | None:
        """The active record of a type with this key, the newest first."""
        rows = self.rows(
            RECORDS,
            f"SELECT {', '.join(RECORDS)} FROM records WHERE task_id = :task_id AND type = :type"
            " AND key = :key AND status = 'active' ORDER BY seq DESC LIMIT 1",
            task_id=task_id,
            type=kind,
            key=key,
        )
        return rows[0] if rows else None

    def records(
        self,
        task_id: str,
        kind: str,
        statuses: Sequence[str],
        limit: int,
        item: str | None = None,
        seq: int | None = None,
        key: str | None = None,
    ) -> list[Row]:
        """Records of a type with their events, the newest first; of one item or key, or just one."""
        where = " AND r.item_id = :item" if item is not None else ""
        where += " AND r.seq = :seq" if seq is not None else ""
        where += " AND r.key = :key" if key is not None else ""
        branches = " UNION ALL ".join(
            f"SELECT * FROM (SELECT {', '.join(f'r.{name}' for name in RECORDS)} FROM records r"
            f" WHERE r.task_id = :task_id AND r.type = :type AND r.status = :status{number}{where}"
            f" ORDER BY r.seq DESC LIMIT :limit) b{number}"
            for number in range(len(statuses))
        )
        some = f"(SELECT * FROM ({branches}) u ORDER BY seq DESC LIMIT :limit) r"
        params = {"task_id": task_id, "type": kind, "limit": limit, "item": item, "seq": seq, "key": key}
        params |= {f"status{number}": status for number, status in enumerate(statuses)}
        names, queries = self.recorded(some)
        found = self._query_all([(sql, params) for sql in queries.values()])
        rows, events = (
            [dict(zip(names[name], row, strict=True)) for row in part]
            for name, part in zip(queries, found, strict=True)
        )
        return joined(rows, {event["seq"]: event for event in events})[::-1]

    def record_count(self, task_id: str, kind: str, status: str, most: int = 1_000) -> int:
        """How many records of a type have a status, counted no further than `most`."""
        rows = self._query(
            "SELECT count(*) FROM (SELECT 1 FROM records WHERE task_id = :task_id"
            " AND type = :type AND status = :status LIMIT :most) r",
            {"task_id": task_id, "type": kind, "status": status, "most": most},
        )
        return rows[0][0]

    def item_actions(self, task_id: str, item_id: str) -> int:
        """How many actions a step has."""
        rows = self._query(
            "SELECT count(*) FROM records WHERE task_id = :task_id AND item_id = :item_id"
            " AND type = 'action'",
            {"task_id": task_id, "item_id": item_id},
        )
        return rows[0][0]

    def labels(self, task_id: str, seqs: Iterable[int]) -> dict[int, dict[str, list[str]]]:
        """The tags and items of some events (0: of the task itself)."""
        wanted = {f"seq{number}": seq for number, seq in enumerate(seqs)}
        found: dict[int, dict[str, list[str]]] = {}
        if wanted:
            places = ", ".join(f":{name}" for name in wanted)
            for seq, kind, value in self._query(
                f"SELECT seq, kind, value FROM labels WHERE task_id = :task_id AND seq IN ({places})"
                " ORDER BY seq, kind, value",
                {"task_id": task_id, **wanted},
            ):
                found.setdefault(seq, {}).setdefault(kind, []).append(value)
        return found

    def file_count(self, task_id: str) -> int:
        """How many files a task touched."""
        rows = self._query(
            "SELECT count(*) FROM files WHERE task_id = :task_id AND change <> 'undone'",
            {"task_id": task_id},
        )
        return rows[0][0]

    def file(self, task_id: str, path: str) -> Row | None:
        """What is known of one file."""
        rows = self.rows(
            FILES,
            f"SELECT {', '.join(FILES)} FROM files WHERE task_id = :task_id AND path = :path",
            task_id=task_id,
            path=path,
        )
        return rows[0] if rows else None

    def claims(self, task_id: str) -> list[Row]:
        """All claims that a task or its items ever had, the released ones included."""
        return self.rows(
            CLAIMS,
            _SELECT_CLAIMS,
            task_id=task_id,
        )

    def key(self, task_id: str, key: str) -> Row | None:
        """What a keyed call on a task answered the first time."""
        rows = self.rows(
            KEYS,
            f"SELECT {', '.join(KEYS)} FROM keys WHERE task_id = :task_id AND key = :key",
            task_id=task_id,
            key=key,
        )
        return rows[0] if rows else None

    def own_key(self, key: str, operation: str, origin: int, workspace: str | None) -> Row | None:
        """What a keyed call answered the first time, on whatever task of a workspace, to the same caller."""
        rows = self.rows(
            KEYS,
            f"SELECT {', '.join(f'k.{name}' for name in KEYS)} FROM keys k"
            " JOIN events e ON e.task_id = k.task_id AND e.seq = k.seq"
            " JOIN heads h ON h.task_id = k.task_id"
            " WHERE k.key = :key AND k.operation = :operation AND e.origin_id = :origin"
            " AND coalesce(h.workspace_path, '') = :workspace"
            " ORDER BY e.id DESC LIMIT 1",
            key=key,
            operation=operation,
            origin=origin,
            workspace=workspace or "",
        )
        return rows[0] if rows else None

    def register_key(self, key: str) -> Row | None:
        """What a keyed registration answered the first time; another one with this key waits for us."""
        self._lock(key)
        rows = self.rows(
            KEYS,
            f"SELECT {', '.join(KEYS)} FROM keys WHERE key = :key AND operation = 'task_register'",
            key=key,
        )
        return rows[0] if rows else None

    # --- events -----------------------------------------------------------------------------------

    def event(self, task_id: str, seq: int) -> Row | None:
        """One event with its origin."""
        rows = self.rows(
            EVENT_NAMES,
            EVENT_ROW + EVENT_FROM + " WHERE e.task_id = :task_id AND e.seq = :seq",
            task_id=task_id,
            seq=seq,
        )
        return rows[0] if rows else None

    def events(self, task_id: str, after: int, limit: int, until: int | None = None) -> list[Row]:
        """Events of a task in order."""
        where = "" if until is None else " AND e.seq <= :until"
        return self.rows(
            EVENT_NAMES,
            f"{EVENT_ROW}{EVENT_FROM} WHERE e.task_id = :task_id AND e.seq > :after{where}"
            " ORDER BY e.seq LIMIT :limit",
            task_id=task_id,
            after=after,
            limit=limit,
            until=until,
        )

    def thread(
        self,
        task_id: str,
        limit: int,
        before: int | None,
        types: Sequence[str] = (),
        refs: Sequence[int] = (),
    ) -> list[Row]:
        """Events of a task, the newest first, of some types or about some events."""
        params: dict[str, Any] = {"task_id": task_id, "limit": limit, "before": before}
        where = "" if before is None else " AND e.seq < :before"
        for column, values in (("event_type", types), ("ref_seq", refs)):
            if values:
                places = {f"{column}{number}": value for number, value in enumerate(values)}
                where += f" AND e.{column} IN ({', '.join(f':{name}' for name in places)})"
                params.update(places)
        return self.rows(
            EVENT_NAMES,
            f"{EVENT_ROW}{EVENT_FROM} WHERE e.task_id = :task_id{where} ORDER BY e.seq DESC LIMIT :limit",
            **params,
        )

    def seq_at(self, task_id: str, moment: str) -> int:
        """The last event of a task not later than a moment; 0 if there is none."""
        rows = self._query(
            "SELECT max(seq) FROM events WHERE task_id = :task_id AND timestamp <= :moment",
            {"task_id": task_id, "moment": moment},
        )
        return rows[0][0] or 0

    def last_position(self) -> int:
        """The id of the newest event of the store."""
        return self._query("SELECT max(id) FROM events", {})[0][0] or 0

    def state_rows(self, table: str, task_id: str) -> list[Row]:
        """All rows of a state table that belong to a task, for comparing."""
        columns = [name for name in STATE[table][0] if name not in UNFOLDED.get(table, ())]
        order = ", ".join(("task_id", *STATE[table][1]))
        return self.rows(
            columns,
            f"SELECT {', '.join(columns)} FROM {table} WHERE task_id = :task_id ORDER BY {order}",
            task_id=task_id,
        )

    def strays(self, table: str, limit: int = 20) -> list[tuple[str, int]]:
        """Tasks that have rows in a table but no ledger, with the number of rows."""
        rows = self._query(
            f"SELECT t.task_id, count(*) FROM {table} t LEFT JOIN events e"
            " ON e.task_id = t.task_id AND e.seq = 1 WHERE e.task_id IS NULL"
            " GROUP BY t.task_id ORDER BY t.task_id LIMIT :limit",
            {"limit": limit},
        )
        return [(row[0], row[1]) for row in rows]


def missing_events(seqs: Sequence[int]) -> StoreError:
    """The error for a state whose events are gone."""
    return StoreError(
        "store_corrupt",
        f"Events that the state rests on are missing: {', '.join(f'#{seq}' for seq in seqs[:10])}.",
        "`verify` says which; what is left can still be exported.",
    )


def joined(records: list[Row], events: Mapping[int, Row]) -> list[Row]:
    """Records with their events, and the text of the event that settled each, if that is there.

    What was forgotten is not shown; its place in the history is.
    """
    if lost := [row["seq"] for row in records if row["seq"] not in events]:
        raise missing_events(lost)
    return [
        {
            **events[row["seq"]],
            "type": row["type"],
            "status": row["status"],
            "replaced_by": row["ref_seq"],
            "ended_at": row["ended_at"],
            "key": row["key"],
            "outcome": events[row["ref_seq"]]["text"] if row["ref_seq"] in events else None,
            "outcome_channel": events[row["ref_seq"]]["channel"] if row["ref_seq"] in events else None,
        }
        for row in records
        if events[row["seq"]]["forgotten"] is None
    ]


def _decoded(sets: str | None) -> dict[str, Any]:
    return json.loads(sets) if sets else {}


def _sourced(table: str, row: Mapping[str, Any], seq: int) -> dict[str, int]:
    """The columns that name this event as the one which set some texts of a row.

    An undoing names the event that had set the text which it brings back.
    """
    return {cite: row.get(cite, seq) for name, cite in SOURCES.get(table, {}).items() if name in row}


def _cell(value: Any) -> Any:
    return dumps(value) if isinstance(value, (list, dict)) else value


def _cells(row: Mapping[str, Any]) -> Row:
    return {name: _cell(value) for name, value in row.items()}


def read_steps(rows: list[Row]) -> list[Row]:
    """Step rows with their JSON read."""
    for row in rows:
        row["depends_on"] = json.loads(row["depends_on"]) if row["depends_on"] != "[]" else []
        row["detail"] = json.loads(row["detail"]) if row["detail"] != "{}" else {}
    return rows


def read_extras(row: Row) -> Row:
    """An extras row with its JSON read."""
    for name in ("context", "acceptance", "metadata"):
        row[name] = json.loads(row[name]) if row[name] else None
    return row


def row_key(table: str, row: Mapping[str, Any]) -> str:
    """What names a row of a task in a state table, as a text."""
    return "\n".join(str(row[column]) for column in STATE[table][1])


# What foreign events may put into a column that does not hold any text, and which must hold something.
_NUMBERS = frozenset(
    "seq ref_seq token ordinal cause_seq plan_version dropped_in plan_seq focus finish_seq version".split()
) | {cite for cites in SOURCES.values() for cite in cites.values()}
_JSON: dict[str, tuple[type, ...]] = {
    "blockers": (list,),
    "depends_on": (list,),
    "acceptance": (list,),
    "detail": (dict,),
    "metadata": (dict,),
    "context": (dict, list, str, int, float, bool),
    "result": (dict,),
}
_FILLED = {
    "heads": "kind name status phase focus plan_version",
    "extras": "approval_mode metadata",
    "steps": "ordinal title status depends_on detail plan_version",
    "records": "type status",
    "labels": "seq kind value",
    "files": "path change seq at",
    "links": "kind target seq status",
    "claims": "item_id holder token status expires_at",
    "keys": "key operation arguments result",
}
# Of a row that is new, these must be there.
_NEEDED = {
    "+steps": "ordinal title plan_version",
    "+records": "type status",
    **{name: _FILLED[name.lstrip("+")] for name in ("files", "links", "claims", "+keys")},
}


def check_sets(sets: Any, seq: int) -> None:
    """Raise unless foreign `sets` name only tables and columns that events may set, with values that fit."""
    if seq == 1 and not ("+extras" in sets and {"kind", "name", "status", "phase"} <= set(sets["heads"])):
        raise ValueError("a first event must begin a task")
    for name, rows in sets.items():
        table = name.lstrip("+")
        if table not in STATE or name not in (table, f"+{table}"):
            raise ValueError(f"it sets the unknown table {shown(name)}")
        for body in _bodies(name, table, rows):
            unknown = set(body) - set(STATE[table][0])
            if table == "heads":
                unknown |= set(body) & KEPT
            if unknown:
                raise ValueError(f"it sets unknown columns of {table}: {shown(sorted(unknown))}")
            if lacking := set(_NEEDED.get(name, "").split()) - set(body):
                raise ValueError(f"a row of {table} lacks {shown(sorted(lacking))}")
            for column, value in body.items():
                _check_cell(table, column, value)


def _bodies(name: str, table: str, rows: Any) -> list[dict[str, Any]]:
    if name == "+labels":
        return [dict(zip(("seq", "kind", "value"), row, strict=True)) for row in rows]
    if table in ("heads", "extras", "keys"):
        return [rows]
    if table in _UPSERT:
        return list(rows)
    for key in rows:
        if table == "records" and not (key.isdecimal() and key.isascii() and len(key) < 19):
            raise ValueError(f"{shown(key)} is no number of an event")
        _check_cell("steps", "item_id", key)
    return list(rows.values())


def _check_cell(table: str, column: str, value: Any) -> None:
    if value is None:
        fits = column not in _FILLED[table].split()
    elif column in _NUMBERS:
        fits = type(value) is int and 0 <= value < 1 << 62
    elif column == "duration_seconds":
        fits = type(value) in (int, float) and abs(value) < 1e15
    elif column in _JSON:
        value = json.loads(value) if isinstance(value, str) else value
        fits = isinstance(value, _JSON[column])
        plain(value)
    else:
        fits = isinstance(value, str)
        if fits:
            text(column, value, 1 << 30)
    if not fits:
        raise ValueError(f"{column} of {table} cannot be {shown(value)}")
