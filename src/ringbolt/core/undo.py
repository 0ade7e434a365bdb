"""Undo: revert the changes of an event with a new event that sets the previous values."""

from __future__ import annotations

import json
from typing import Any

from ..ledger.base import Base, Draft, stored_result
from ..ledger.current_task import session_task
from ..model import validate
from ..model.errors import Conflict, NotFound
from ..model.operation import operation
from ..model.trust import may_overrule
from ..model.types import Written
from ..store.past import past
from ..store.schema import BOOKKEEPING, MAINTAINED, SOURCES, row_key
from ..store.tx import Row, Tx
from .split_merge import pair_of

_FINAL = (
    "task.registered", "claim.taken", "claim.released", "task.focused", "model.used", "drill.scored",
    "claim.reclaimed", "task.stuck", "forgotten", "purged",
    "wait.started", "wait.updated", "wait.changed", "wait.ended", "approval.requested", "approval.decided",
    "proposal", "proposal.accepted", "proposal.rejected", "lost",
)  # fmt: skip
# Events that may change the task and report something at once.
_REPORTS = ("task.updated", "step.updated")
# Columns that append derives: a difference in them does not mean that a later event set the row.
_DERIVED = {"version", *(cite for cites in SOURCES.values() for cite in cites.values())}
# Another session may work on the task since; then an undo leaves these columns unchanged.
_SESSION = ("session_id", "focus")
_SPLIT_UNDONE = "split undone"  # the reason of a task that was split off by mistake
_JSON_CELLS = ("blockers", "depends_on", "detail", "metadata", "acceptance")


# The rows of each state table before and after an event.
_Around = tuple[dict[str, list[Row]], dict[str, list[Row]]]


class Undo(Base):
    """The undo operation."""

    @operation(scope="write")
    def task_undo(
        self,
        task_id: str | None = None,
        seq: int | None = None,
        *,
        reason: str | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Undo the changes of an event, by default the last one. Nothing is erased.

        Changed values get their previous values, and added entries and steps are marked as invalidated or
        dropped. The undo is itself an event that can be undone. Undoing a split or a merge reverts both
        tasks.

        Args:
            seq: The event to undo. Default: the last event that this caller can undo and that was not undone.
            reason: Why.
        """
        reason = self._text("reason", reason)
        arguments = [seq, reason]
        fingerprint = self._fingerprint("task_undo", key, arguments)
        if key is not None and (
            known := self.store.read(lambda tx: self._known(tx, "task_undo", task_id, key))
        ):
            return stored_result(known, fingerprint)
        target = self.store.read(lambda tx: self._undoable(tx, self._task_to_undo(tx, task_id), seq))
        full_id = target["task_id"]
        half = self.store.read(lambda tx: _other_half(tx, target))
        around = self.store.read(lambda tx: _around(tx, target))
        around_half = None if half is None else self.store.read(lambda tx: _around(tx, half))

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            draft = _undoing(tx, head, target, around, reason, now)
            if half is not None and around_half is not None:
                other = self._find(tx, half["task_id"], lock=True)
                own_half = _undoing(tx, other, half, around_half, reason, now)
                draft.data["pair"] = {"task": other["task_id"], "seq": other["last_seq"] + 1}
                own_half.data["pair"] = {"task": full_id, "seq": head["last_seq"] + 1}
                self._append(tx, other, own_half, now, "task_undo")
            return draft

        return self._write(
            "task_undo", full_id, decide, key=key, token=token, arguments=arguments,
            others=[half["task_id"]] if half else [],
        )  # fmt: skip

    def _task_to_undo(self, tx: Tx, task_id: str | None) -> Row:
        session = self.origin.session
        if task_id is None and session and not (session_task(self, tx) or session_task(self, tx, ended=True)):
            raise Conflict(
                "not_undoable",
                "This session has no task, so it has nothing to undo.",
                "Name the task whose event you want to undo.",
            )
        return self._find(tx, task_id)

    def _undoable(self, tx: Tx, head: Row, seq: int | None) -> Row:
        if seq is not None:
            row = tx.event(head["task_id"], validate.whole("seq", seq, 1, 1 << 62))
            if row is None:
                raise NotFound(
                    "record_not_found",
                    f"Task {head['task_id']} has no event #{seq}.",
                    f"Its events are #1 to #{head['last_seq']}.",
                )
            if row["forgotten"] is not None:
                raise Conflict(
                    "not_undoable",
                    f"The content of #{seq} was forgotten, so it cannot be undone.",
                    "Set the value you want with a new call.",
                )
            if row["event_type"] in _FINAL:
                raise Conflict(
                    "not_undoable",
                    f"#{seq} ({row['event_type']}) cannot be undone.",
                    "Instead, cancel the task or the wait, release the claim, or approve or reject again.",
                )
            if _is_undone(tx, head["task_id"], seq):
                raise Conflict(
                    "not_undoable", f"#{seq} is already undone.", "To redo it, undo the undo event."
                )
            return row
        gone: set[int] = set()
        before = None
        while rows := tx.thread(head["task_id"], 100, before):
            for row in rows:
                if row["event_type"] == "undone":
                    if row["seq"] not in gone:  # otherwise the undo was itself undone
                        gone.add(row["ref_seq"])
                elif row["seq"] in gone:
                    # The copies of a split or merge were undone with it.
                    first = json.loads(row["data"]).get("first") if pair_of(row) else None
                    gone.update(range(first or row["seq"], row["seq"]))
                elif (
                    row["event_type"] not in _FINAL
                    and row["forgotten"] is None
                    and may_overrule(self._authority, row["channel"])
                ):
                    return row
            before = rows[-1]["seq"]
        raise NotFound("record_not_found", "There is nothing to undo.", "To end the task, cancel it.")


def _around(tx: Tx, target: Row) -> _Around:
    """The rows that an event touched, before and after it."""
    task_id, seq = target["task_id"], target["seq"]
    head = tx.head(task_id)
    keys = _touched_keys(json.loads(target["sets"]) if target["sets"] else {})
    if head is None:
        return {}, {}
    before, after = (
        {
            table: past(tx, head, at).state_rows(table, task_id, keys[table]) if head and at else []
            for table in keys
        }
        for at in (seq - 1, seq)
    )
    return before, after


def _other_half(tx: Tx, target: Row) -> Row | None:
    """The event on another task that must be undone together with this one."""
    if (pair := pair_of(target)) is None:
        return None
    half = tx.event(pair["task"], pair["seq"])
    back = pair_of(half) if half else None
    if half is None or back != {"task": target["task_id"], "seq": target["seq"]} or half["forgotten"]:
        raise Conflict(
            "not_undoable",
            f"#{target['seq']} also changed task {pair['task']}, and that part is not in this store.",
            "Set the values you want with new calls.",
        )
    return half


def _undoing(tx: Tx, head: Row, target: Row, around: _Around, reason: str | None, now: str) -> Draft:
    """The event that undoes another one."""
    sets: dict[str, Any] = json.loads(target["sets"]) if target["sets"] else {}
    inverse = _inverse(tx, *around, head, target, sets)
    if target["event_type"] == "step.inferred":
        # The undo is an explicit statement, so the same change is not inferred again.
        for row in inverse["steps"].values():
            row.update(basis="explicit", cause_seq=head["last_seq"] + 1)
    if target["event_type"] == "task.split" and "first" in json.loads(target["data"]):
        inverse["heads"] = {**inverse.get("heads", {}), **_retired(tx, head, target, now)}
    return Draft(
        "undone",
        text=reason,
        data={"type": target["event_type"]},
        sets=inverse,
        item=target["item_id"],
        ref=target["seq"],
    )


def _retired(tx: Tx, head: Row, target: Row, now: str) -> dict[str, Any]:
    """The columns that end a task that was split off; raises if it has changed since."""
    task_id, seq = head["task_id"], target["seq"]
    while events := tx.events(task_id, seq, 1000):
        seq = events[-1]["seq"]
        for event in events:
            if event["event_type"] not in (*BOOKKEEPING, "task.focused", "undone"):
                old = json.loads(target["data"])["pair"]["task"]
                raise Conflict(
                    "undo_conflict",
                    f"Task {task_id} has changed since it was split off: #{event['seq']}.",
                    f"Merge it instead: task_merge of {old} with other={task_id}.",
                    later=event["seq"],
                )
    return {"status": "superseded", "reason": _SPLIT_UNDONE, "completed_at": now}


def _is_undone(tx: Tx, task_id: str, seq: int) -> bool:
    undoings = tx.thread(task_id, 1000, None, types=("undone",), refs=(seq,))
    return any(not _is_undone(tx, task_id, row["seq"]) for row in undoings)


def _undo_conflict(what: str, seq: int, later: object) -> Conflict:
    return Conflict(
        "undo_conflict",
        f"{what} was changed again after #{seq}" + (f", by #{later}." if later else "."),
        "Undo the later event first, or set the value you want.",
        later=later,
    )


def _inverse(
    tx: Tx,
    before: dict[str, list[Row]],
    after: dict[str, list[Row]],
    head: Row,
    target: Row,
    sets: dict[str, Any],
) -> dict[str, Any]:
    """The rows that revert an event; raises `undo_conflict` if a later event has changed them again.

    `before` and `after` are the state before and after the event.
    """
    task_id, seq = head["task_id"], target["seq"]
    result: dict[str, Any] = {}
    keys = _touched_keys(sets)
    for name, rows in sets.items():
        table = name.lstrip("+")
        if table not in keys:
            continue
        now = {row_key(table, row): row for row in tx.state_rows(table, task_id, keys[table])}
        then = {row_key(table, row): row for row in before[table]}
        left = {row_key(table, row): row for row in after[table]}
        for number, columns in _touched(table, name, rows).items():
            if table == "heads" and any(now[number][name] != left[number][name] for name in _SESSION):
                columns = [name for name in columns or () if name not in _SESSION]
            for column in columns if columns is not None else set(left[number]) - _DERIVED:
                if now[number][column] != left[number][column]:
                    what = f"{column} of {number or 'the task'}".replace("\n", " ")
                    raise _undo_conflict(what, seq, now[number].get("version", now[number].get("seq")))
            old = _previous(table, number, _with_sources(table, columns), then, now, head)
            if table in ("files", "links"):
                result.setdefault(table, []).append(old)
            elif table in ("heads", "extras"):
                result.setdefault(table, {}).update(old)
            else:
                result.setdefault(table, {}).setdefault(number, {}).update(old)
    if not sets or (target["event_type"] in _REPORTS and target["text"]):
        # What was said is retracted too, so that no packet, summary or search presents it as true.
        retracted = {"type": "message", "status": "invalidated"}
        again = tx.record(task_id, seq) is not None
        result.setdefault("records" if again else "+records", {})[str(seq)] = retracted
    return {name: rows for name, rows in result.items() if rows}


def _touched_keys(sets: dict[str, Any]) -> dict[str, set[str]]:
    """The keys of the rows that an event set, by table; labels and idempotency keys are never undone."""
    keys: dict[str, set[str]] = {}
    for name, rows in sets.items():
        if name not in ("+labels", "+keys"):
            table = name.lstrip("+")
            keys.setdefault(table, set()).update(_touched(table, name, rows))
    return keys


def _touched(table: str, name: str, rows: Any) -> dict[str, list[str] | None]:
    """The rows that an event set, with their columns; None for whole rows."""
    if name in ("heads", "extras"):
        return {"": [column for column in rows if column not in MAINTAINED]}
    if table in ("files", "links", "claims"):
        return {row_key(table, row): None for row in rows}
    if name.startswith("+"):
        return dict.fromkeys(rows)
    return {number: list(row) for number, row in rows.items()}


def _with_sources(table: str, columns: list[str] | None) -> list[str] | None:
    """The columns, and those that name the sources of their texts, which must be restored too."""
    if columns is None:
        return None
    return columns + [cite for name, cite in SOURCES.get(table, {}).items() if name in columns]


def _previous(
    table: str, number: str, columns: list[str] | None, then: dict[str, Row], now: dict[str, Row], head: Row
) -> dict[str, Any]:
    """The previous cells of a row; for a row that the event added, the cells that retire it."""
    old = then.get(number)
    if columns is None and old is None:
        if table == "steps":
            return {"status": "cancelled", "dropped_in": head["plan_version"]}
        if table == "records":
            return {"status": "active" if now[number]["status"] == "invalidated" else "invalidated"}
        gone = {"change": "undone"} if table == "files" else {"status": "removed"}
        return {name: value for name, value in {**now[number], **gone}.items() if name != "task_id"}
    row = old or {}
    kept = columns if columns is not None else [name for name in row if name != "task_id"]
    return {
        column: json.loads(row[column]) if column in _JSON_CELLS and row[column] else row[column]
        for column in kept
    }
