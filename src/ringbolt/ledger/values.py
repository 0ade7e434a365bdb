"""Read rows as the values that callers see: tasks, entries, actions and events."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import convert

from ..model import rules
from ..model.trust import is_users
from ..model.types import (
    Action,
    Approval,
    Channel,
    Claim,
    Criterion,
    Effect,
    Entry,
    ErrorSummary,
    Event,
    FileTouch,
    Link,
    Moment,
    Name,
    NewRequest,
    Origin,
    Pattern,
    RelatedGoal,
    Request,
    RequestStatus,
    RunCommand,
    Snapshot,
    Source,
    Step,
    Summary,
    Task,
    Timestamps,
    Value,
    Wait,
    WorkTree,
)
from ..store import sessions
from ..store.queries.goal_queries import criteria
from ..store.queries.heads import decode_extras
from ..store.queries.lessons import patterns_with
from ..store.queries.records import group_labels, missing_events
from ..store.queries.steps import decode_steps
from ..store.queries.task_rows import TaskRows
from ..store.schema import SOURCES
from ..store.tx import Row, Tx
from .current_task import FINISHED, REQUEST
from .inferred_plan import inferred_fields, next_step_source
from .proposals import KIND as PROPOSAL
from .proposals import MOST as MOST_PROPOSALS
from .proposals import PROPOSED, read_proposal
from .task_life import life, session_state

Labels = dict[int, dict[str, list[str]]]

# How many rows of each type are read with a task; `left_out` counts the rest, which other operations return.
NOTES = ("discovery", "artifact", "context", "tool_result")
SHOWN = 0.5  # the confidence from which an inferred note is shown; a search finds the others too
MOST = {
    "decision": 50,
    "exclusion": 50,
    "error": 20,
    "question": 20,
    "user_instruction": 20,
    **dict.fromkeys(NOTES, 20),
    "discovery": 40,  # with those that are only probable
    "variable": 200,
}
OPEN_EFFECTS, SETTLED_EFFECTS = ("intended", "unknown"), ("did", "did_not")
MOST_EFFECTS = 50
# What waits for the user's approval, and the last answers.
SHOWN_APPROVALS = (("approval", "pending", 20), ("approval", "rejected", 5), ("approval", "approved", 5))
MOST_FILES = 200
MOST_ACTIONS_OF_A_START = 40
# The same for the additional fields of a snapshot.
MOST_RECENT = 100
MOST_WAITS = 20
MOST_RESOLVED = 20
MOST_SETTLED = 10


def read_origin(row: Row) -> Origin:
    """Who wrote an event."""
    return Origin(**_pick(row, "principal agent channel session claimed"))


def _pick(row: Row, names: str) -> dict[str, Any]:
    """The columns of a row that are fields of the same name."""
    return {name: row[name] for name in names.split()}


def read_event(row: Row) -> Event:
    """An event of the ledger."""
    return Event(
        task_id=row["task_id"],
        seq=row["seq"],
        type=row["event_type"],
        at=row["timestamp"],
        origin=read_origin(row),
        step=row["item_id"],
        text=row["text"],
        data=json.loads(row["data"]),
        sets=json.loads(row["sets"]) if row["sets"] else {},
        ref=row["ref_seq"],
        correlation=row["correlation_id"],
        hash=row["hash"].hex(),
        forgotten=row["forgotten"] is not None,
    )


def read_card(head: Row, life: str) -> dict[str, Any]:
    """The fields of a task card; `life` comes from `task_life`."""
    return {
        **_pick(
            head,
            "name status phase reason attention kind done total verified unknown current_title next_title"
            " next_step created_at updated_at version",
        ),
        "id": head["task_id"],
        "life": life,
        "current": head["current_item"],
        "next": head["next_item"],
        "blockers": tuple(json.loads(head["blockers"])) if head["blockers"] else (),
        "workspace": head["workspace_path"],
        "session": head["session_id"],
        "parent": head["parent_id"],
        "archived": head["archived_at"] is not None,
        "seq": head["last_seq"],
    }


_ITEM_COLUMNS = (
    "ordinal title status stage basis evidence note active_issue detail plan_version dropped_in replaced_by"
    " started_at completed_at duration_seconds version"
).split()


def read_items(rows: Sequence[Row], channels: Mapping[int, Any] | None = None) -> tuple[Step, ...]:
    """The steps of a plan, with readiness, and the sources of their texts where known."""
    sources = _sources(channels or {})
    statuses = {row["item_id"]: row["status"] for row in rows}
    return tuple(
        Step(
            id=row["item_id"],
            cause=row["cause_seq"],
            ready=row["status"] == "pending" and rules.is_ready(row["depends_on"], statuses),
            depends_on=tuple(row["depends_on"]),
            sources={
                name: sources[row[cite]]
                for name, cite in SOURCES["steps"].items()
                if row[name] is not None and row[cite] in sources
            },
            **{name: row[name] for name in _ITEM_COLUMNS},
        )
        for row in rows
    )


def _sources(channels: Mapping[int, Any]) -> dict[int, Source]:
    return {seq: Source(seq=seq, channel=channel) for seq, channel in channels.items()}


def read_entries(rows: Iterable[Row], labels: Labels) -> tuple[Entry, ...]:
    """Entries with their tags and the steps they matter for."""
    entries: list[Entry] = []
    for row in rows:
        data = json.loads(row["data"])
        own = labels.get(row["seq"], {})
        entries.append(
            Entry(
                seq=row["seq"],
                type=row["type"],
                at=row["timestamp"],
                status=row["status"],
                summary=row["text"] or "",
                detail=data.pop("detail", None),
                step=row["item_id"],
                key=row["key"],
                tags=tuple(own.get("tag", ())),
                relevance_to=tuple(own.get("item", ())),
                data=data,
                replaced_by=row["replaced_by"],
                origin=read_origin(row),
            )
        )
    return tuple(entries)


def _effects(rows: TaskRows) -> tuple[Effect, ...]:
    return tuple(
        Effect(
            at=row["timestamp"],
            what=row["text"],
            **{name: json.loads(row["data"]).get(name) for name in ("kind", "verify")},
            step=row["item_id"],
            outcome_seq=row["replaced_by"],
            **_pick(row, "seq status outcome outcome_channel channel"),
        )
        for row in rows["records"]
        if row["type"] == "effect"
    )


def _approvals(rows: TaskRows) -> tuple[Approval, ...]:
    found: list[Approval] = []
    for row in rows["records"]:
        if row["type"] == "approval":
            data = json.loads(row["data"])
            what = (row["text"] or "").partition(": ")[2] or row["text"] or ""
            note = (row["outcome"] or "").partition(": ")[2] or None
            found.append(
                Approval(
                    at=row["timestamp"],
                    what=what,
                    asks="effect" if data.get("asks") == "effect" else "step",
                    step=row["item_id"],
                    intent=data.get("intent"),
                    note=note,
                    **_pick(row, "seq status channel"),
                )
            )
    return tuple(found)


def _settled_effects(rows: TaskRows) -> tuple[Effect, ...]:
    """Side effects with a known outcome; an attempt that did nothing counts until the next attempt."""
    last = {row["key"]: row["seq"] for row in rows["records"] if row["type"] == "effect" and row["key"]}
    keys = {row["seq"]: row["key"] for row in rows["records"]}
    return tuple(
        effect
        for effect in _effects(rows)
        if effect.status == "did"
        or (effect.status == "did_not" and last.get(keys[effect.seq], 0) <= effect.seq)
    )


_ACTION_DATA = ("tool", "input", "output", "error", "stage", "sub_task_id", "duration_ms")


def read_actions(tx: Tx, task_id: str, rows: Iterable[Row], with_logs: bool) -> tuple[Action, ...]:
    """Actions with the events that ended them, and their logs if wanted."""
    actions: list[Action] = []
    for row in rows:
        data: dict[str, Any] = json.loads(row["data"])
        if row["replaced_by"] and (ended := tx.event(task_id, row["replaced_by"])):
            data.update(json.loads(ended["data"]))
        logs = tx.thread(task_id, 1000, None, types=("log",), refs=(row["seq"],)) if with_logs else []
        actions.append(
            Action(
                seq=row["seq"],
                at=row["timestamp"],
                type=data.get("type", "other"),
                status=row["status"],
                summary=row["text"] or "",
                step=row["item_id"],
                ended_at=row["ended_at"],
                logs=tuple(read_event(log) for log in reversed(logs)),
                origin=read_origin(row),
                **{name: data.get(name) for name in _ACTION_DATA},
            )
        )
    return tuple(actions)


def with_titles(head: Row, steps: Sequence[Row], unknown: int) -> Row:
    """A task's row with the titles of its current and next steps and the number of verified ones, and the
    number of unknown side effects."""
    titles = {row["item_id"]: row["title"] for row in steps}
    return {
        **head,
        "current_title": titles.get(head["current_item"]),
        "next_title": titles.get(head["next_item"]),
        "verified": sum(
            row["status"] == "completed" and row["evidence"] == "verified" and row["dropped_in"] is None
            for row in steps
        ),
        "unknown": unknown,
    }


def read_task(
    tx: Tx, task_id: str, now: float | None = None, stuck_after: float | None = None
) -> Task | None:
    """A task. The number of rows read is bounded, however long its history.

    Without the time (`now`), its life ignores sessions: files and past states have none.
    """
    wanted = _wanted()
    rows = tx.task_rows(task_id, wanted, MOST_FILES)
    if not rows["heads"]:
        return None
    return Task(**_task_fields(tx, task_id, wanted, rows, now, stuck_after))


def read_snapshot(
    tx: Tx,
    task_id: str,
    now: float | None = None,
    stuck_after: float | None = None,
    reader: str | None = None,
) -> Snapshot | None:
    """A task with everything that views show; with the time (`now`), including its sessions.

    `reader` is the session that reads it: the snapshot lists the other live sessions.
    """
    wanted = [
        *_wanted(),
        ("error", "resolved", MOST_RESOLVED),
        ("wait", "watching", MOST_WAITS),
        *(("effect", status, MOST_SETTLED) for status in SETTLED_EFFECTS),
    ]
    rows = tx.task_rows(task_id, wanted, MOST_FILES, MOST_RECENT)
    if not rows["heads"]:
        return None
    fields = _task_fields(tx, task_id, wanted, rows, now, stuck_after)
    if now is not None:
        fields |= session_state(rows["heads"][0], rows, now, reader)
    fields |= _distilled(rows)
    fields["lessons"] = _lessons(tx, rows, fields)
    fields["files"] = _still_changed(fields)
    return Snapshot(
        **fields,
        new_requests=tuple(
            NewRequest(text=row["text"] or "", **_pick(row, "seq at channel before"))
            for row in reversed(rows["requests"])
            if row["seq"] != fields["sources"]["request"].seq  # that one is `request`
        ),
        values=tuple(entry for entry in _active(rows, {}) if entry.type == "variable"),
        recent=tuple(
            Moment(text=row["text"] or "", **_pick(row, "seq at type channel step status"))
            for row in rows["recent"]
            if row["status"] != "invalidated"  # undone
        ),
        reports={
            row["step"]: Moment(text=row["text"], step=row["step"], **_pick(row, "seq at type channel"))
            for row in rows["reports"]
        },
        waits=_waits(tx, task_id, [row for row in rows["records"] if row["type"] == "wait"]),
        resolved=tuple(
            entry.replace(data={**entry.data, "resolution": _resolution(entry, row["outcome"])})
            for row in rows["records"]
            if row["status"] == "resolved"
            for entry in read_entries([row], {})
        ),
        settled=_settled_effects(rows),
        goals=tuple(
            RelatedGoal(
                id=row["target"],
                met=row["met"] or 0,
                total=row["total"] or 0,
                **_pick(row, "name status reason channel"),
            )
            for row in rows["goals"]
        ),
        criteria=tuple(map(read_criterion, criteria(tx, task_id))) if fields["kind"] == "goal" else (),
    )


def _resolution(entry: Entry, outcome: str | None) -> str:
    """How an error was resolved: the text of the event that resolved it, otherwise what its entry says."""
    known = entry.data.get("resolution") or entry.data.get("fixed_by")
    return outcome or (str(known) if known else "resolved")


def _still_changed(fields: Mapping[str, Any]) -> tuple[FileTouch, ...]:
    """The files of a task without those whose edits were taken back since."""
    files: tuple[FileTouch, ...] = fields["files"]
    tree: WorkTree | None = fields.get("work_tree")
    if tree is None or not tree.taken_back:
        return files
    root = f"{fields['workspace']}/" if fields.get("workspace") else ""
    return tuple(
        file
        for file in files
        if file.seq > tree.taken_back.get(file.path.removeprefix(root).removeprefix("./"), 0)
    )


def read_criterion(row: Row) -> Criterion:
    """A criterion of a goal with its last evidence."""
    data: dict[str, Any] = json.loads(row["data"])
    target = data.get("target")
    return Criterion(
        text=row["text"] or "",
        check=str(data.get("check") or "manual"),
        target=None if target is None else str(target),
        by=row["judge"],
        at=row["ended_at"],
        **_pick(row, "seq status channel evidence evidence_seq"),
    )


def _distilled(rows: TaskRows) -> dict[str, Any]:
    """The distilled fields that views show."""
    by_kind: dict[str, Row] = {row["kind"]: row for row in rows["distilled"]}
    fields: dict[str, Any] = {}
    if "summary" in by_kind:
        row = by_kind["summary"]
        state = _pick(json.loads(row["state"]), "text source channel")
        fields["summary"] = Summary(seq=row["seq"], at=row["at"], **state)
    if "names" in by_kind:
        fields["names"] = tuple(Name(**name) for name in json.loads(by_kind["names"]["state"])["shown"])
    if "work_tree" in by_kind and (shown := json.loads(by_kind["work_tree"]["state"])["shown"]):
        fields["work_tree"] = convert(shown, WorkTree)
    if "run_commands" in by_kind:
        shown = json.loads(by_kind["run_commands"]["state"])["shown"]
        fields["run_commands"] = convert(shown, tuple[RunCommand, ...])
    return fields


def _lessons(tx: Tx, rows: TaskRows, fields: Mapping[str, Any]) -> tuple[Pattern, ...]:
    """What earlier tasks teach a task that has just begun; later, its own history says more."""
    if fields["done"] or fields["actions"] > MOST_ACTIONS_OF_A_START:
        return ()
    for row in rows["distilled"]:
        if row["kind"] == "lessons" and (keys := json.loads(row["state"]).get("keys")):
            by_text: dict[str, Pattern] = {}
            for one in patterns_with(tx, keys):
                pattern = Pattern(**json.loads(one.pop("data")), **one)
                by_text.setdefault(pattern.text, pattern)
            return tuple(by_text.values())
    return ()


def _active(rows: TaskRows, labels: Labels) -> tuple[Entry, ...]:
    active = (row for row in rows["records"] if row["status"] == "active" and row["type"] != "effect")
    return read_entries(active, labels)


def _wanted() -> list[tuple[str, str, int]]:
    wanted = [(kind, "active", most) for kind, most in MOST.items()]
    wanted += [("effect", status, MOST_EFFECTS) for status in OPEN_EFFECTS]
    wanted.append((PROPOSAL, PROPOSED, MOST_PROPOSALS))
    return wanted + list(SHOWN_APPROVALS)


def _task_fields(
    tx: Tx,
    task_id: str,
    wanted: list[tuple[str, str, int]],
    rows: TaskRows,
    now: float | None,
    stuck_after: float | None,
) -> dict[str, Any]:
    (head,) = rows["heads"]
    live = sessions.read_rows(rows["sessions"]) if now is not None else []
    own = next((session for session in live if session.id == head["session_id"]), None)
    task_life = life(head, own, now or 0.0, stuck_after)
    if not rows["first"]:
        raise missing_events([1])
    steps = decode_steps(rows["steps"])
    extras = decode_extras(rows["extras"][0])
    (first,) = rows["first"]
    ending: dict[str, Any] = json.loads(rows["finish"][0]["data"]) if rows["finish"] else {}
    channels = {row["seq"]: row["channel"] for row in rows["channels"]}
    touched_by = {row["seq"]: row["channel"] for row in rows.get("file_channels", ())}
    labels = group_labels((row["seq"], row["kind"], row["value"]) for row in rows["labels"])
    entries = _active(rows, labels)
    approvals = _approvals(rows)
    # An effect that waits for approval has not begun.
    held = {one.intent for one in approvals if one.status == "pending"}
    open_effects = tuple(
        effect for effect in _effects(rows) if effect.status in OPEN_EFFECTS and effect.seq not in held
    )

    blockers = tuple(entry for entry in entries if is_inferred_blocker(entry))

    def of(*kinds: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in entries if entry.type in kinds and entry not in blockers)

    instructions = of("user_instruction")
    begun = _first_request(first, instructions)
    card = read_card(with_titles(head, steps, len(open_effects)), task_life)
    card["blockers"] += tuple(entry.summary for entry in blockers if entry.summary not in card["blockers"])
    sources = _field_sources(head, extras, rows, channels, begun)
    for entry in blockers[-1:]:
        sources.setdefault("blockers", Source(seq=entry.seq, channel=entry.origin.channel))
    fields: dict[str, Any] = {
        **card,
        "goal": extras["goal"] or begun.text or head["name"],
        "request": begun.text,
        "requests": _requests(head, first, instructions),
        "context": extras["context"],
        "repository": head["repository"],
        "acceptance": tuple(extras["acceptance"] or ()),
        "approval_mode": extras["approval_mode"],
        "callback_url": extras["callback_url"],
        "metadata": extras["metadata"],
        "tags": tuple(labels.get(0, {}).get("tag", ())),
        "timestamps": Timestamps(
            last_updated_at=head["updated_at"],
            **_pick(
                head, "created_at plan_generated_at execution_started_at synthesis_started_at completed_at"
            ),
        ),
        "plan_version": head["plan_version"],
        "last_replanned_at": head["replanned_at"],
        "steps": read_items(steps, channels),
        "decisions": of("decision"),
        "exclusions": of("exclusion"),
        "errors": of("error"),
        "questions": of("question"),
        "instructions": tuple(entry for entry in instructions if is_users(entry.origin.channel)),
        "reported": tuple(entry for entry in instructions if not is_users(entry.origin.channel)),
        "proposals": tuple(read_proposal(row) for row in rows["records"] if row["type"] == PROPOSAL),
        "notes": tuple(entry for entry in of(*NOTES) if entry.data.get("confidence", 1) >= SHOWN),
        "variables": {entry.key or "": entry.data.get("value") for entry in of("variable")},
        "effects": open_effects,
        "approvals": approvals,
        "files": tuple(
            FileTouch(channel=touched_by.get(row["seq"]), **_pick(row, "path change seq at"))
            for row in rows["files"]
        ),
        "links": tuple(Link(**_pick(row, "kind target seq")) for row in rows["links"]),
        "claims": tuple(
            Claim(step=row["item_id"], **_pick(row, "holder token expires_at reason"))
            for row in rows["claims"]
            if row["status"] == "held"
        ),
        "answer": ending.get("answer"),
        "error": ErrorSummary(**ending["error"]) if ending.get("error") else None,
        "conflict_of": head["root_id"] if head["root_id"] != task_id else None,
        "messages": head["messages"],
        "actions": head["actions"],
        "sources": sources,
        "left_out": _left_out(tx, task_id, wanted, rows),
    }
    if inferred := inferred_fields(head, steps, rows.get("distilled", ())):
        fields |= inferred
        if source := inferred.get("next_step") and next_step_source(rows["distilled"]):
            fields["sources"]["next_step"] = source
    return fields


def is_inferred_blocker(entry: Entry) -> bool:
    """Whether an entry is a blocker that was found in the agent's words; it ends when the entry is closed."""
    return (
        entry.type == "context" and entry.data.get("kind") == "blocker" and bool(entry.data.get("inferred"))
    )


class _FirstRequest(Value, frozen=True, kw_only=True):
    """What a task was first asked for, and the event that says it."""

    seq: int
    text: str | None
    channel: Channel


def _first_request(first: Row, instructions: Sequence[Entry]) -> _FirstRequest:
    """The text of the first event; of a draft that began before its prompt, the first request since."""
    if not first["text"]:
        for entry in instructions:
            if REQUEST in entry.tags:
                return _FirstRequest(seq=entry.seq, text=entry.summary, channel=entry.origin.channel)
    return _FirstRequest(seq=1, text=first["text"], channel=first["channel"])


def _requests(head: Row, first: Row, instructions: Sequence[Entry]) -> tuple[Request, ...]:
    """The requests of a task, oldest first: its first one, then instructions that began others."""
    requests = [(first["seq"], first["timestamp"], first["text"])] if first["text"] else []
    states: list[RequestStatus] = []
    for entry in instructions:
        if REQUEST in entry.tags:
            if requests:
                states.append("finished" if FINISHED in entry.tags else "open")
            requests.append((entry.seq, entry.at, entry.summary))
    done = head["status"] == "completed"
    states.append("finished" if done else "current" if head["status"] in rules.OPEN else "open")
    return tuple(
        Request(seq=seq, at=at, text=text, status=status)
        for (seq, at, text), status in zip(requests, states, strict=False)
    )


def _field_sources(
    head: Row, extras: Row, rows: TaskRows, channels: Mapping[int, Any], begun: _FirstRequest
) -> dict[str, Source]:
    """Which event each text of a task comes from, and through which channel."""
    (first,) = rows["first"]
    known: dict[int | None, Any] = {**channels, 1: first["channel"], begun.seq: begun.channel}
    seqs: dict[str, int | None] = {
        name: row[cite]
        for row, cites in ((head, SOURCES["heads"]), (extras, SOURCES["extras"]))
        for name, cite in cites.items()
        if row[name] is not None
    }
    if not extras["goal"]:  # then the request or the name is shown as the goal
        seqs["goal"] = begun.seq if begun.text else seqs["name"]
    seqs["request"] = begun.seq
    if rows["finish"]:
        (finish,) = rows["finish"]
        known[finish["seq"]] = finish["channel"]
        seqs["answer"] = finish["seq"]
    return {
        name: Source(seq=seq, channel=known[seq])
        for name, seq in seqs.items()
        if seq is not None and seq in known
    }


def _waits(tx: Tx, task_id: str, rows: Sequence[Row]) -> tuple[Wait, ...]:
    """Waits with their current conditions: the last change counts."""
    seqs = [row["seq"] for row in rows]
    changes = tx.thread(task_id, 10 * MOST_WAITS, None, types=("wait.updated",), refs=seqs) if seqs else []
    changed = {row["ref_seq"]: json.loads(row["data"]) for row in reversed(changes)}
    waits: list[Wait] = []
    for row in rows:
        begun = json.loads(row["data"])
        until = changed.get(row["seq"], begun).get("until")
        until = None if until is None else str(until)
        target = str(begun.get("target"))
        waits.append(Wait(at=row["timestamp"], target=target, until=until, **_pick(row, "seq channel")))
    return tuple(waits)


def _left_out(tx: Tx, task_id: str, wanted: list[tuple[str, str, int]], rows: TaskRows) -> dict[str, int]:
    """How many rows of each type were not read; counted only where a limit was reached."""
    left_out: dict[str, int] = {}
    shown = Counter((row["type"], row["status"]) for row in rows["records"])
    for kind, status, most in wanted:
        seen = shown[kind, status]
        if seen >= most and (more := tx.record_count(task_id, kind, status) - seen) > 0:
            left_out[kind] = left_out.get(kind, 0) + more
    if len(rows["files"]) == MOST_FILES and (more := tx.file_count(task_id) - MOST_FILES):
        left_out["file"] = more
    return left_out
