"""Split a task in two and merge two into one, to correct a wrong guess about where a request begins.

Both write to two tasks in one transaction. Entries and steps are copied, each text through its original
channel, so that no other text passes for the user's words. The copies take effect only with the last event,
one of a pair: `data.pair` of each names the other. Undoing one undoes both (`core/undo.py`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..ledger.access import append_event, check_steps, new_task_id, seconds_now, with_rights
from ..ledger.base import Base, Draft, stored_result, written
from ..ledger.current_task import DRAFT, REQUEST, UNNAMED, request_tags
from ..ledger.drafts import link_row
from ..ledger.trust import least_trusted
from ..ledger.values import OPEN_EFFECTS
from ..model import rules, validate
from ..model.errors import Conflict, InvalidInput, NotFound
from ..model.operation import operation
from ..model.types import Written
from ..requests.task_name import task_name
from ..store import sessions
from ..store.schema import SOURCES
from ..store.tx import Row, Tx
from .plans import plan_heads
from .task_updates import without_none

_MOST_ENTRIES = 10_000
_STEP_COLUMNS = (
    "title stage basis evidence note active_issue detail started_at completed_at duration_seconds".split()
)


class SplitMerge(Base):
    """Operations that correct a wrong guess about where a request begins."""

    @operation(scope="write", example={"at": 9, "name": "Translate the manual"})
    def task_split(
        self,
        task_id: str | None = None,
        *,
        at: int,
        name: str | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Split off an instruction of the user, and everything recorded since, as a new task.

        The new task has the instruction as its request. Valid entries and open steps move to it, completed
        steps are copied, and actions and files stay in the old task; a note says where. If the session works
        on the old task, it works on the new one from now on. The result is about the new task. `task_undo`
        reverts the split on both tasks; after more work, use `task_merge`.

        Args:
            at: Seq of the instruction that asks for something else.
            name: Short name of the new task. Default: taken from the instruction.
        """
        at = validate.whole("at", at, 1, 1 << 62)
        name = None if name is None else validate.line("name", name, 500)
        begun: list[str] = []

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            _check_open(head)
            event = _instruction(tx, head, at)
            draft, new = _split(self, tx, head, event, name, now)
            begun[:] = [new]
            return draft

        result = self._write(
            "task_split", task_id, decide, key=key, token=token, arguments=[at, name], others=begun
        )

        def about_new(tx: Tx) -> Written:
            event = tx.event(result.task_id, result.seq)
            pair = pair_of(event) if event else None
            new = tx.head(pair["task"]) if pair else None
            # The other task may have been purged; then return the result for this one.
            return result if pair is None or new is None else written(new, pair["seq"], Draft(""))

        return self.store.read(about_new)

    @operation(scope="write", example={"other": "7k3m9x2p4q"})
    def task_merge(
        self,
        task_id: str | None = None,
        *,
        other: str,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Merge another task into this one.

        The other task's request becomes a request of this task, its valid entries and open steps move here,
        and it is superseded. Its actions and files stay in it; a note says where. The session that works on
        it works on this task from now on. `task_undo` reverts the merge on both tasks.

        Args:
            other: The task to merge into this one: its id or a unique prefix.
        """
        validate.line("other", other, 500)
        fingerprint = self._fingerprint("task_merge", key, [other])
        if key is not None and (
            known := self.store.read(lambda tx: self._known(tx, "task_merge", task_id, key))
        ):
            return stored_result(known, fingerprint)
        own, gone = self.store.read(
            lambda tx: (self._find(tx, task_id)["task_id"], self._find(tx, other)["task_id"])
        )
        if own == gone:
            raise InvalidInput(
                "invalid_argument", "A task cannot be merged with itself.", "Name another one with `other`."
            )

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            source = self._find(tx, gone, lock=True)
            for row in (head, source):
                _check_open(row)
            if head["workspace_path"] != source["workspace_path"]:
                raise InvalidInput(
                    "invalid_argument",
                    f"Tasks {gone} and {own} belong to different workspaces.",
                    "Only tasks of one workspace can be merged; task_link can relate them.",
                )
            return _merge(self, tx, head, source, now)

        return self._write("task_merge", own, decide, key=key, token=token, arguments=[other], others=[gone])


def pair_of(event: Row) -> dict[str, Any] | None:
    """The task and seq of the event that an event is paired with."""
    if event["event_type"] not in ("task.split", "task.merged", "undone"):
        return None
    return json.loads(event["data"]).get("pair")


# --- checks -----------------------------------------------------------------------------------------


def _check_open(head: Row) -> None:
    task_id = head["task_id"]
    if head["kind"] != "task":
        raise InvalidInput(
            "invalid_argument",
            f"{task_id} is a goal; only tasks can be split and merged.",
            "Change its criteria with goal_update.",
        )
    if head["status"] not in rules.OPEN or head["archived_at"] is not None:
        state = "archived" if head["archived_at"] is not None else head["status"]
        raise Conflict(
            "illegal_transition",
            f"Task {task_id} is {state}, so it cannot be split or merged.",
            "Make it active first, with task_update.",
            current=head["status"],
        )


def _instruction(tx: Tx, head: Row, at: int) -> Row:
    """The user's instruction at an event; raises if the event is not a valid one."""
    task_id = head["task_id"]
    event = tx.event(task_id, at)
    if event is None:
        raise NotFound(
            "record_not_found",
            f"Task {task_id} has no event #{at}.",
            f"Its events are #1 to #{head['last_seq']}.",
        )
    record = tx.record(task_id, at)
    is_valid = record is not None and record["type"] == "user_instruction" and record["status"] == "active"
    is_users = event["channel"] == "user" or REQUEST in tx.labels(task_id, [at]).get(at, {}).get("tag", ())
    if at == 1 or not is_valid or not is_users or not event["text"]:
        known = tx.records(task_id, "user_instruction", ("active",), 10)
        named = ", ".join(f"#{row['seq']}" for row in reversed(known) if row["channel"] == "user")
        what = "the first request of the task" if at == 1 else "not a valid instruction of the user"
        raise InvalidInput(
            "invalid_argument",
            f"#{at} is {what}, so the task cannot be split there.",
            f"It can be split at: {named}." if named else "The task has only one request.",
        )
    return event


# --- copying ----------------------------------------------------------------------------------------


def _valid_entries(tx: Tx, task_id: str, since: int) -> list[Row]:
    """The valid entries and open side effects of a task from an event on, oldest first."""
    wanted: list[tuple[str, Sequence[str]]] = [(kind, ("active",)) for kind in rules.ENTRY_TYPES]
    wanted.append(("effect", OPEN_EFFECTS))
    rows = [row for kind, states in wanted for row in tx.records(task_id, kind, states, _MOST_ENTRIES)]
    return sorted((row for row in rows if row["seq"] >= since), key=lambda row: row["seq"])


def _added_since(tx: Tx, task_id: str, seq: int) -> set[str]:
    """The ids of the steps that were added after an event."""
    added: set[str] = set()
    while events := tx.events(task_id, seq, 1000):
        for event in events:
            if event["sets"] and '"+steps"' in event["sets"]:
                added.update(json.loads(event["sets"])["+steps"])
        seq = events[-1]["seq"]
    return added


class _Carrier:
    """Copies parts of a task to another one; a later event with `sets` makes them take effect there."""

    def __init__(self, memory: Base, tx: Tx, source: str, head: Row, now: str, operation: str) -> None:
        self.sets: dict[str, Any] = {}
        self._memory, self._tx, self._source, self._head = memory, tx, source, head
        self._now, self._operation = now, operation
        self._channels: dict[int, str] = {}
        self._names: dict[str, str] = {}  # the ids of steps: in the source, and here

    def append(self, channel: str, draft: Draft) -> int:
        """Append an event through a channel, and return its seq."""
        draft.is_copy = True
        memory = self._memory.acting_as(channel=channel)
        append_event(memory, self._tx, self._head, draft, self._now, self._operation)
        return self._head["last_seq"]

    def steps(self, rows: Sequence[Row], taken: Sequence[Row], version: int) -> None:
        """Copy steps to the end of the plan."""
        self._names = _free_names(rows, {row["item_id"] for row in taken})
        place = max((row["ordinal"] for row in taken), default=-1) + 1
        copies: dict[str, dict[str, Any]] = {}
        by_channel: dict[str, dict[str, Any]] = {}
        for number, row in enumerate(rows):
            name = self._names[row["item_id"]]
            copy = {column: row[column] for column in _STEP_COLUMNS if row[column] not in (None, {})}
            if after := [self._names[name] for name in row["depends_on"] if name in self._names]:
                copy["depends_on"] = after
            copy.update(ordinal=place + number, plan_version=version)
            copies[name] = copy
            added = {**copy, "status": "cancelled", "dropped_in": version}
            by_channel.setdefault(self._channel(row), {})[name] = added
            self.sets.setdefault("steps", {})[name] = {"status": row["status"], "dropped_in": None}
        rest: dict[str, Any] = {"stage": None, "depends_on": [], "detail": {}}
        plain = [{**rest, **copy, "id": name} for name, copy in copies.items()]
        check_steps(self._memory, plain, len(taken))
        for channel, added in by_channel.items():
            self.append(channel, Draft("plan.appended", data={"from": self._source}, sets={"+steps": added}))

    def _channel(self, step: Row) -> str:
        """The channel of a step's texts; if they differ, the least trusted one."""
        seqs = {step[cite] for name, cite in SOURCES["steps"].items() if step[name] and step[cite]}
        channels = {self.channel(seq) for seq in seqs}
        return channels.pop() if len(channels) == 1 else least_trusted(channels)

    def channel(self, seq: int) -> str:
        """The channel of an event of the source."""
        if seq not in self._channels:
            event = self._tx.event(self._source, seq)
            self._channels[seq] = event["channel"] if event else "import"
        return self._channels[seq]

    def request(self, event: Row, tags: Sequence[str]) -> None:
        """Copy a task's first request as an instruction that begins a new request."""
        data = {"from": f"{self._source}#{event['seq']}"}
        seq = self.append(event["channel"], Draft("user_instruction", text=event["text"], data=data))
        self.sets.setdefault("+records", {})[str(seq)] = {"type": "user_instruction", "status": "active"}
        self.sets.setdefault("+labels", []).extend([seq, "tag", tag] for tag in tags)

    def entries(self, rows: Sequence[Row]) -> None:
        """Copy entries, with their labels and steps."""
        labels = self._tx.labels(self._source, [row["seq"] for row in rows])
        for row in rows:
            data = {**json.loads(row["data"]), "from": f"{self._source}#{row['seq']}"}
            if row["event_type"] in ("task.split", "task.merged"):
                data = {"from": data["from"]}
            item = self._names.get(row["item_id"] or "")
            kind = "intent" if row["type"] == "effect" else row["type"]
            seq = self.append(row["channel"], Draft(kind, text=row["text"], data=data, item=item))
            record = {"type": row["type"], "status": row["status"], "key": row["key"], "item_id": item}
            self.sets.setdefault("+records", {})[str(seq)] = without_none(record)
            for label, values in labels.get(row["seq"], {}).items():
                own = [self._names.get(value, value) for value in values] if label == "item" else values
                self.sets.setdefault("+labels", []).extend([seq, label, value] for value in own)

    def note(self, text: str) -> None:
        """Make the text of the next event an entry."""
        own = {"type": "context", "status": "active"}
        self.sets.setdefault("+records", {})[str(self._head["last_seq"] + 1)] = own
        self.text = text


def _free_names(rows: Sequence[Row], taken: set[str]) -> dict[str, str]:
    """An id for each step that is unique in the other plan: its own if that is free."""
    names: dict[str, str] = {}
    used = taken | {row["item_id"] for row in rows if row["item_id"] not in taken}
    number = 0
    for row in rows:
        name = row["item_id"]
        if name in taken:
            while (name := f"s{(number := number + 1)}") in used:
                pass
            used.add(name)
        names[row["item_id"]] = name
    return names


def _is_current(tx: Tx, head: Row) -> bool:
    """Whether the session of a task works on it."""
    session = head["session_id"]
    return bool(session) and tx.session_task(session, head["workspace_path"]) == head["task_id"]


# --- split ------------------------------------------------------------------------------------------


def _split(memory: Base, tx: Tx, head: Row, event: Row, name: str | None, now: str) -> tuple[Draft, str]:
    """Write the new task; returns the event of the old task, and the id of the new one."""
    old, at = head["task_id"], event["seq"]
    moved = _valid_entries(tx, old, at)
    added = _added_since(tx, old, at)
    live = [row for row in tx.steps(old) if row["item_id"] in added and row["dropped_in"] is None]
    steps = [row for row in live if row["status"] in (*rules.ITEM_OPEN, "completed")]
    new, last = _split_off(memory, tx, head, event, name, moved, steps, now)
    seq = head["last_seq"] + 1
    records = {str(row["seq"]): {"status": "superseded", "ref_seq": seq} for row in moved}
    sets: dict[str, Any] = {
        "records": records | _revalidated(tx, old, at),
        "links": [link_row("related", new, seq)],
    }
    gone = {
        "status": "cancelled",
        "basis": "explicit",
        "dropped_in": head["plan_version"],
        "completed_at": now,
        "note": f"Moved to task {new}.",
    }
    if left := {row["item_id"]: dict(gone) for row in steps if row["status"] in rules.ITEM_OPEN}:
        sets["steps"] = left
    if heads := dict.fromkeys(_heads_since(head, at)):
        sets["heads"] = heads
    data = {"at": at, "pair": {"task": new, "seq": last}}
    return Draft("task.split", text=f"The request of #{at} is now task {new}.", data=data, sets=sets), new


def _heads_since(head: Row, at: int) -> list[str]:
    """The columns of a task about its current work that were set after an event."""
    cites = SOURCES["heads"]
    return [column for column in ("next_step", "blockers") if head[column] and head[cites[column]] >= at]


def _revalidated(tx: Tx, task_id: str, at: int) -> dict[str, Any]:
    """The entries from before an event that are valid again, because the event that replaced them came
    later."""
    valid: dict[str, Any] = {}
    for kind in rules.ENTRY_TYPES:
        for row in tx.records(task_id, kind, ("superseded",), _MOST_ENTRIES):
            if row["seq"] < at <= (row["replaced_by"] or 0):
                by = tx.record(task_id, row["replaced_by"])
                if by and by["type"] == kind and by["status"] != "invalidated":
                    valid[str(row["seq"])] = {"status": "active", "ref_seq": None}
    return valid


def _split_off(
    memory: Base, tx: Tx, old: Row, event: Row, name: str | None, moved: Sequence[Row],
    steps: Sequence[Row], now: str,
) -> tuple[str, int]:  # fmt: skip
    """Write the new task of a split; returns its id and the seq of its last event."""
    new = new_task_id(memory, tx)
    at, session = event["seq"], old["session_id"]
    entries = [row for row in moved if row["seq"] != at]
    heads: dict[str, Any] = {
        "kind": "task",
        "name": task_name(event["text"]) or UNNAMED,
        "status": "active",
        "phase": "received",
        "workspace_path": old["workspace_path"],
        "repository": old["repository"],
    }
    if session:
        heads["session_id"] = session
        heads["focus"] = tx.last_focus(session) + 1 if _is_current(tx, old) else 0
    # Registering it gives it a better name. A draft without steps may be folded away with its entries.
    is_draft = name is None and (bool(steps) or not entries)
    head: Row = {"task_id": new, "root_id": new, **heads}
    carrier = _Carrier(memory, tx, old["task_id"], head, now, "task_split")
    carrier.append(
        event["channel"],
        Draft(
            "task.registered",
            text=event["text"],
            data={"from": f"{old['task_id']}#{at}"},
            sets={"heads": heads, "+extras": {"metadata": {DRAFT: True} if is_draft else {}}},
        ),
    )
    carrier.steps(steps, [], 1)
    carrier.entries(entries)
    source = old["task_id"]
    for column in _heads_since(old, at):
        value = json.loads(old[column]) if column == "blockers" else old[column]
        written_by = old[SOURCES["heads"][column]]
        draft = Draft(
            "task.updated", data={"from": f"{source}#{written_by}"}, sets={"heads": {column: value}}
        )
        carrier.append(carrier.channel(written_by), draft)
    carrier.note(f"Split from task {source}. Actions and files until then: {source}#{at}-{old['last_seq']}.")
    changes: dict[str, Any] = {} if name is None else {"name": name}
    if steps:
        begun = any(row["status"] != "pending" for row in steps)
        changes.update(plan_heads(head | {"plan_generated_at": None}, now))
        changes.update(phase="executing" if begun else "planned")
        if begun:
            changes["execution_started_at"] = now
    sets = {**carrier.sets, "links": [link_row("related", old["task_id"], head["last_seq"] + 1)]}
    if changes:
        sets["heads"] = changes
    pair = {"task": old["task_id"], "seq": old["last_seq"] + 1}
    data = {"from": f"{old['task_id']}#{at}", "first": 2, "pair": pair}
    draft = Draft("task.split", text=carrier.text, data=data, sets=sets)
    # The new task holds only copies, and a name that the caller may have chosen.
    append_event(with_rights(memory, "user"), tx, head, draft, now, "task_split")
    return new, head["last_seq"]


# --- merge ------------------------------------------------------------------------------------------


def _merge(memory: Base, tx: Tx, head: Row, source: Row, now: str) -> Draft:
    """Copy the other task's entries and steps, and end it; returns the event of this task."""
    own, gone = head["task_id"], source["task_id"]
    first_seq, until = head["last_seq"] + 1, source["last_seq"]
    carrier = _Carrier(memory, tx, gone, head, now, "task_merge")
    request = tx.event(gone, 1)
    if request and request["text"]:
        carrier.request(request, request_tags(0 < head["total"] <= head["done"]))
    old_steps = tx.steps(own)
    open_steps = [
        row for row in tx.steps(gone) if row["dropped_in"] is None and row["status"] in rules.ITEM_OPEN
    ]
    carrier.steps(open_steps, old_steps, max(head["plan_version"], 1))
    entries, replaced = _latest_values(tx, own, _valid_entries(tx, gone, 1))
    carrier.entries(entries)
    carrier.note(f"Task {gone} is now part of this one. Its actions and files: {gone}#1-{until}.")
    seq = head["last_seq"] + 1
    sets = {**carrier.sets, "links": [link_row("supersedes", gone, seq)]}
    if replaced:
        sets["records"] = {str(number): {"status": "superseded", "ref_seq": seq} for number in replaced}
    heads: dict[str, Any] = {}
    if open_steps and not head["plan_version"]:
        heads.update(plan_heads(head, now))
        if head["phase"] in ("received", "planning"):
            heads["phase"] = "planned"
    warnings: tuple[str, ...] = ()
    if _is_current(tx, source):
        if _may_take_over(memory, tx, head, source):
            session = source["session_id"]
            heads.update(session_id=session, focus=tx.last_focus(session) + 1)
        else:
            warnings = (f"The session of {gone} must turn to {own} itself, with task_focus.",)
    if heads:
        sets["heads"] = heads
    ended = Draft(
        "task.merged",
        text=f"This task is now part of task {own}.",
        data={"into": own, "pair": {"task": own, "seq": seq}},
        sets={"heads": {"status": "superseded", "reason": None, "completed_at": now}},
    )
    # Its requests and entries are on this task now, with their authors.
    append_event(with_rights(memory, "user"), tx, source, ended, now, "task_merge")
    data = {"from": gone, "first": first_seq, "pair": {"task": gone, "seq": source["last_seq"]}}
    return Draft("task.merged", text=carrier.text, data=data, sets=sets, warnings=warnings)


def _latest_values(tx: Tx, task_id: str, rows: Sequence[Row]) -> tuple[list[Row], list[int]]:
    """The entries to copy, and the variables that they replace: the later of two values counts."""
    taken: list[Row] = []
    replaced: list[int] = []
    for row in rows:
        if row["type"] == "variable" and (own := tx.record_with_key(task_id, "variable", row["key"])):
            event = tx.event(task_id, own["seq"])
            if event and event["timestamp"] > row["timestamp"]:
                continue
            replaced.append(own["seq"])
        taken.append(row)
    return taken, replaced


def _may_take_over(memory: Base, tx: Tx, head: Row, source: Row) -> bool:
    """Whether the other task's session may take over this task: no other session works on it."""
    own = head["session_id"]
    if not own or own == source["session_id"] or not _is_current(tx, head):
        return True
    known = sessions.get(tx, own)
    return own != memory.origin.session and (known is None or not known.is_live(seconds_now(memory)))
