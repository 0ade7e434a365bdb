"""Append an event and fold it into the state: the only way in which the state of a task changes.

An event carries its effect with it. `sets` is JSON with the rows that it changes, by table: `+steps` adds
rows, `steps` updates columns, `files` replaces whole rows. `append` stores the event and applies `sets` in
the same transaction. Because the effect is recorded and not computed again, folding the events of a task
anywhere (in `verify`, `undo`, time travel, an import) gives the same state, even after the rules of the
operations have changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from msgspec.structs import asdict

from ..model.types import Origin
from ..model.validate import dumps
from .database import Database, Row
from .hashes import event_hash, first_link
from .overruling import Overruling
from .past_rows import HEAD_EVERY, PastRows
from .schema import (
    EVENTS,
    EXTRAS,
    HEADS,
    KEYS,
    LABELS,
    MESSAGE_TYPES,
    ORIGINS,
    RECORDS,
    SOURCES,
    STATE,
    STEPS,
    insert,
    is_activity,
)


def _upsert(table: str) -> str:
    columns, key = STATE[table]
    changed = ", ".join(
        f"{column} = excluded.{column}" for column in columns if column != "task_id" and column not in key
    )
    target = ", ".join(("task_id", *key))
    return insert(table, columns, f" ON CONFLICT ({target}) DO UPDATE SET {changed}")


_INSERT_EVENT = insert("events", EVENTS)
_INSERT_STEP = insert("steps", STEPS)
_INSERT_RECORD = insert("records", RECORDS)
_INSERT_HEAD = insert("heads", HEADS)
_INSERT_EXTRAS = insert("extras", EXTRAS)
_INSERT_LABEL = insert("labels", LABELS, " ON CONFLICT DO NOTHING")
_INSERT_KEY = insert("keys", KEYS)
_INSERT_ORIGIN = insert("origins", ["id", *ORIGINS], " ON CONFLICT DO NOTHING")
_UPSERT = {table: _upsert(table) for table in ("files", "links", "claims")}
_TEXTS = frozenset(name for names in SOURCES.values() for name in names)
_NEW_STEP: Row = {**dict.fromkeys(STEPS), "status": "pending", "depends_on": "[]", "detail": "{}"}


class Appending(Overruling):
    """The part of a transaction that writes."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._index = database.index
        self._position = database.position
        self._past = PastRows(database)

    def append(
        self,
        head: Row,
        event: Row,
        origin: Origin,
        sets: Mapping[str, Any] | None = None,
        *,
        authority: str | None = None,
    ) -> Row:
        """Add a new event to a task and apply its `sets`; returns the changed columns of the task's row.

        Raises Overruled, before anything is written, if the event would hide something of a more trusted
        channel. `authority` is the channel whose rights count, if that is not the event's own: the user's,
        where the user has accepted what an agent proposed.

        `head` is the task's row, locked, and is updated in place; before a first event it only has its ids.
        The event's hash is filled in here. A caller that has `sets` as objects passes them, so that the JSON
        of the event is not decoded again.
        """
        if sets is None:
            sets = decode_sets(event)
        if sets:
            self.check_trust(head, event["seq"], authority or origin.channel, sets)
        return self.fold(head, event, origin, sets)

    def fold(self, head: Row, event: Row, origin: Origin, sets: Mapping[str, Any] | None = None) -> Row:
        """Like `append`, for an event that was judged when it was first written: in time travel, verify and
        undo, or when a task is copied."""
        task_id, seq = event["task_id"], event["seq"]
        if sets is None:
            sets = decode_sets(event)
        head_sets: Mapping[str, Any] = sets.get("heads", {})
        if seq == 1:
            # The row must exist before the event that refers to it. Later events update it at the end, once,
            # with everything that they change.
            head.update(
                last_seq=0, last_hash=first_link(head["root_id"]), position=0, version=1, done=0,
                total=0, messages=0, actions=0, plan_version=0, focus=0, user_seq=0,
                created_at=event["timestamp"], updated_at=event["timestamp"],
            )  # fmt: skip
            head.update((name, _cell(value)) for name, value in head_sets.items())
            head.update(_sourced("heads", head_sets, seq))
            head.update(_user_seq(origin, sets, seq))
            self._run(_INSERT_HEAD, {name: head.get(name) for name in HEADS})
        event["hash"] = self._hash(head["last_hash"], event)
        self._store_event(head, event, origin)
        changes: Row = {"last_seq": seq, "last_hash": event["hash"]}
        if is_activity(event["event_type"], origin):
            changes["updated_at"] = event["timestamp"]
        if sets:
            self._apply(task_id, seq, sets, origin)
            changes.update(_user_seq(origin, sets, seq))
            if head_sets:
                changes["version"] = seq
                changes.update((name, _cell(value)) for name, value in head_sets.items())
                changes.update(_sourced("heads", head_sets, seq))
            if "steps" in sets or "+steps" in sets:
                # The head keeps the position in the plan, so that lists need not read any steps.
                changes.update(self.plan_position(task_id))
        if event["event_type"] in MESSAGE_TYPES and event["text"]:
            changes["messages"] = head["messages"] + 1
        elif event["event_type"] == "action":
            changes["actions"] = head["actions"] + 1
        if seq > 1 and (sets or seq % HEAD_EVERY == 0):
            self._past.keep_head(head, changes, seq)
        self._update_head(task_id, changes)
        head.update(changes)
        return changes

    def _hash(self, previous: bytes, event: Row) -> bytes:
        return event_hash(previous, event)

    def _store_event(self, head: Row, event: Row, origin: Origin) -> None:
        self._insert_origin(event["origin_id"], origin)
        self._run(_INSERT_EVENT, event)
        self._index({**event, "agent": origin.agent, "workspace_path": head.get("workspace_path")})

    def _update_head(self, task_id: str, changes: Row) -> None:
        columns = ", ".join(f"{name} = :{name}" for name in changes)
        self._run(
            f"UPDATE heads SET {columns}, position = {self._position} WHERE task_id = :task_id",
            {**changes, "task_id": task_id},
        )

    def _insert_origin(self, origin_id: int, origin: Origin) -> None:
        self._run(_INSERT_ORIGIN, {"id": origin_id, **asdict(origin)})

    def _apply(self, task_id: str, seq: int, sets: Mapping[str, Any], origin: Origin) -> None:
        """Write the state rows that an event sets, except the head, which `append` writes last."""
        for name, rows in sets.items():
            table = name.lstrip("+")
            if name == "heads":
                continue
            if name == "+steps":
                own = {"task_id": task_id, "version": seq}
                self._past.note_new(table, task_id, seq, list(rows))
                self._run_many(
                    _INSERT_STEP,
                    [
                        {**_NEW_STEP, "item_id": key, **_cells(row), **_sourced(table, row, seq), **own}
                        for key, row in rows.items()
                    ],
                )
            elif name == "+records":
                # Mostly its own record; an undo or a copy adds records of earlier events.
                others = self.channels_of(task_id, [int(key) for key in rows if int(key) != seq])
                base = dict.fromkeys(RECORDS)
                self._past.note_new(table, task_id, seq, [key for key in rows if int(key) != seq])
                self._run_many(
                    _INSERT_RECORD,
                    [
                        {
                            **base,
                            **_cells(row),
                            "task_id": task_id,
                            "version": seq,
                            "seq": int(key),
                            "channel": others.get(int(key), origin.channel),
                        }
                        for key, row in rows.items()
                    ],
                )
            elif name == "+extras":
                row = {**dict.fromkeys(EXTRAS), "approval_mode": "auto", "metadata": "{}"}
                sourced = _sourced("extras", rows, seq)
                self._run(_INSERT_EXTRAS, {**row, **_cells(rows), **sourced, "task_id": task_id})
            elif name == "+labels":
                labels = [
                    {"task_id": task_id, "seq": number, "kind": kind, "value": value}
                    for number, kind, value in rows
                ]
                # A label of this very event exists since then; of another one, that must be noted.
                self._past.note_new_labels(task_id, seq, [row for row in labels if row["seq"] != seq])
                self._run_many(_INSERT_LABEL, labels)
            elif name == "+keys":
                self._run(_INSERT_KEY, {**_cells(rows), "task_id": task_id, "seq": seq})
            elif name in _UPSERT:
                full = dict.fromkeys(STATE[table][0])
                self._past.keep(table, task_id, seq, rows)
                self._run_many(_UPSERT[name], [{**full, **_cells(row), "task_id": task_id} for row in rows])
            elif name == "extras":
                self._past.keep(table, task_id, seq, [{}])
                self._update(table, {"task_id": task_id}, {**rows, **_sourced(table, rows, seq)})
            else:
                key = STATE[table][1][0]
                identities = {value: int(value) if key == "seq" else value for value in rows}
                self._past.keep(table, task_id, seq, [{key: value} for value in identities.values()])
                for value, row in rows.items():
                    identity = identities[value]
                    changed = {**row, **_sourced(table, row, seq), "version": seq}
                    self._update(table, {"task_id": task_id, key: identity}, changed)

    def _update(self, table: str, key: Mapping[str, Any], row: Mapping[str, Any]) -> None:
        columns = ", ".join(f"{name} = :{name}" for name in row)
        where = " AND ".join(f"{name} = :{name}" for name in key)
        self._run(f"UPDATE {table} SET {columns} WHERE {where}", {**_cells(row), **key})

    def renew_claim(self, task_id: str, item_id: str, expires_at: str) -> None:
        """Extend a lease: the only change of state without an event, so that a heartbeat is cheap."""
        self._update("claims", {"task_id": task_id, "item_id": item_id}, {"expires_at": expires_at})


def decode_sets(event: Mapping[str, Any]) -> dict[str, Any]:
    """The rows that an event sets, decoded."""
    return json.loads(event["sets"]) if event["sets"] else {}


def _sourced(table: str, row: Mapping[str, Any], seq: int) -> dict[str, int]:
    """The columns that name this event as the source of the texts that a row sets.

    An undo restores a text and names its original source in `row`; that source is kept.
    """
    return {cite: row.get(cite, seq) for name, cite in SOURCES.get(table, {}).items() if name in row}


def _user_seq(origin: Origin, sets: Mapping[str, Any], seq: int) -> dict[str, int]:
    """The column that names this event as the last one with which the user set a text."""
    if origin.channel != "user":
        return {}
    rows: list[Mapping[str, Any]] = [sets.get(name, {}) for name in ("heads", "extras", "+extras")]
    rows += [row for name in ("steps", "+steps") for row in sets.get(name, {}).values()]
    return {"user_seq": seq} if any(not _TEXTS.isdisjoint(row) for row in rows) else {}


def _cell(value: Any) -> Any:
    return dumps(value) if isinstance(value, (list, dict)) else value


def _cells(row: Mapping[str, Any]) -> Row:
    return {name: _cell(value) for name, value in row.items()}
