"""Write a task as the files of a states folder, and import such files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from ..ledger.base import Draft
from ..model import foreign_statuses, rules, validate
from ..model.errors import InvalidInput
from ..model.lazy_regex import lazy_regex
from ..model.results import FolderExport
from ..model.settings import Settings
from ..model.types import Entry, Task, Value, is_dict, is_list
from ..store.tx import Row, Tx
from ..system.files import is_temp, locked_folder
from . import states
from .arrival import Arrival, read_status, short_name, tag_of
from .import_source import Source, invalid
from .projection import begin_export, digest, make_export_root, self_digested
from .states_reading import Note, Notes, read_notes, read_state

_STATE = lazy_regex(r"\.task-(.{1,200})\.json", re.DOTALL)
MOST_DIFFERENCES = 20


def write_states(root: str, task: Task, entries: Mapping[str, tuple[Entry, ...]]) -> FolderExport:
    """Write the files of a task; the state, which holds the digests of the others, comes last."""
    make_export_root(root, ignored=False)
    files = _notes_texts(task, entries)
    state = states.task_path(task.id)
    with locked_folder(root):
        export = begin_export(root, state, lambda name: name in files or is_temp(name))
        for name, text in files.items():
            export.put(name, text.encode())
        export.finish(state, lambda digests, mark: _state_text(task, entries, digests, mark))
        export.put(states.ACTIVE, f"{task.id}\n".encode(), keep_other=False)
    more = task.left_out.get("file")
    return export.report(
        task, *([f"{more} more files were touched than the context map names"] if more else [])
    )


def states_texts(task: Task, entries: Mapping[str, tuple[Entry, ...]]) -> dict[str, str]:
    """The same files as texts for a mirror, without the one that names the active task."""
    files = _notes_texts(task, entries)
    digests = {name: digest(text.encode()) for name, text in sorted(files.items())}
    state = self_digested(lambda mark: _state_text(task, entries, digests, mark))
    return {**files, states.task_path(task.id): state}


def _notes_texts(task: Task, entries: Mapping[str, tuple[Entry, ...]]) -> dict[str, str]:
    return {
        states.decisions_path(task.id): states.decisions_markdown(task, entries["decision"]),
        states.map_path(task.id): states.map_markdown(task, entries),
    }


def _state_text(
    task: Task, entries: Mapping[str, tuple[Entry, ...]], digests: Mapping[str, str], mark: str
) -> str:
    variables = {entry.key or "": entry.data.get("value") for entry in entries["variable"]}
    return states.task_json(task, variables, digests, mark)


class StateFiles(Value, frozen=True, kw_only=True):
    """The parsed files of one task."""

    identity: str
    path: str
    state: Mapping[str, Any]
    decisions: Notes
    map: Notes
    digest: str
    active: bool
    warnings: tuple[str, ...]


def read_states(root: str, settings: Settings) -> Iterator[StateFiles]:
    """The tasks of a states folder, in the order of their file names."""
    source = Source(root)
    names = [match[1] for name in source.names() if (match := _STATE.fullmatch(name))]
    if not names:
        raise invalid(root, "it has no file .task-<id>.json")
    active = (source.text(states.ACTIVE, 10_000) or "").strip()
    for name in names:
        yield _read_files(source, name, settings, active == name)


def _read_files(source: Source, name: str, settings: Settings, active: bool) -> StateFiles:
    paths = states.task_path(name), states.decisions_path(name), states.map_path(name)
    most = settings.max_text_bytes + settings.max_json_bytes
    texts = [source.text(path, most) for path in paths]
    try:
        state = read_state((texts[0] or "").removeprefix("\ufeff"))
    except ValueError as error:
        raise invalid(source.path(paths[0]), str(error)) from None
    decisions, map_notes = read_notes(texts[1] or "", "decision"), read_notes(texts[2] or "", "context")
    warnings = [
        f"Line {line} of {path} does not belong to an entry and was not imported"
        for path, notes in ((paths[1], decisions), (paths[2], map_notes))
        for line in notes.unread[:MOST_DIFFERENCES]
    ]
    return StateFiles(
        identity=name,
        path=source.path(""),
        state=state,
        decisions=decisions,
        map=map_notes,
        digest=digest("\0".join(text or "" for text in texts).encode("utf-8", "surrogateescape")),
        active=active,
        warnings=tuple(warnings),
    )


def bring_states(arrival: Arrival, tx: Tx, files: StateFiles) -> tuple[str, int, int, list[str]]:
    """Create a task from state files, or add the entries that their task lacks.

    Returns its id, the number of new events, the number it had before, and warnings.
    """
    tag = tag_of("states", files.identity)
    task_id = _present(arrival, tx, files, tag)
    warnings: list[str] = []
    before = 0
    try:
        if task_id is None:
            task_id = _begin_task(arrival, tx, files, tag, warnings)
        else:
            before = arrival.head(tx, task_id)["last_seq"]
            warnings += _differences(arrival, tx, task_id, files)
    except InvalidInput as error:
        raise invalid(files.path + states.task_path(files.identity), error.message) from None
    head = arrival.head(tx, task_id)
    _bring_notes(arrival, tx, head, files)
    if before == 0:
        _settle(arrival, task_id, files, warnings)
    return task_id, arrival.head(tx, task_id)["last_seq"] - before, before, warnings


def _present(arrival: Arrival, tx: Tx, files: StateFiles, tag: str) -> str | None:
    """The task of the files: the one they name, or the one from an earlier import."""
    known, others = arrival.known_as(tx, tag, "states", files.digest)
    if known is None and rules.normal_id(files.identity) == files.identity and tx.head(files.identity):
        known = files.identity
    return known or (others[0] if others else None)


def _begin_task(arrival: Arrival, tx: Tx, files: StateFiles, tag: str, warnings: list[str]) -> str:
    state = files.state
    own: dict[str, Any] = {**state["ringbolt"], "goal": state.get("goal")}
    before: Any = own.get("metadata")
    origin = {**state["rest"], "id": files.identity, "digest": files.digest}
    extra = {**(before if is_dict(before) else {}), "states": origin}
    name = state.get("name") or short_name(state.get("goal"), files.identity)
    moved = ("status", "note", "active_issue")  # set by move_steps below
    steps = [{key: value for key, value in step.items() if key not in moved} for step in state["steps"]]
    details = [detail if is_dict(detail := step.pop("detail", None)) else {} for step in steps]
    plan = [{**detail, **step} for detail, step in zip(details, steps, strict=True)]
    task_id = arrival.begin(name, plan, own, request=own.get("request"), metadata=extra, tags=[tag])
    head = arrival.head(tx, task_id)
    ids = [row["item_id"] for row in tx.steps(task_id)]
    arrival.move_steps(tx, head, dict(zip(ids, state["steps"], strict=True)))
    for key, value in state["variables"].items():
        arrival.task_set(task_id, key, value)
    if files.map.files:
        touched = [{"path": path, "change": change} for path, change in files.map.files]
        for place in range(0, len(touched), 1000):
            arrival.task_log_action(
                task_id, "Files that were touched before", files=touched[place : place + 1000]
            )
    return task_id


def _settle(arrival: Arrival, task_id: str, files: StateFiles, warnings: list[str]) -> None:
    state = files.state
    phase: Any = state.get("phase")
    try:
        if phase is not None:
            foreign_statuses.read_phase(validate.line("phase", phase))
    except InvalidInput as error:
        warnings.append(error.message)
        phase = None
    own = {**state["ringbolt"], **{name: state.get(name) for name in ("next_step", "blockers", "attention")}}
    try:
        status, implied_phase, implied_reason = read_status({}, state.get("status"))
        reason = state.get("reason")
        error: Any = own.get("error")
        arrival.settle(
            task_id,
            own,
            (status, phase or implied_phase, reason if isinstance(reason, str) else implied_reason),
            own.get("answer"),
            error if is_dict(error) and isinstance(error.get("message"), str) else None,
        )
    except InvalidInput as error:
        raise invalid(files.path + states.task_path(files.identity), error.message) from None


def _differences(arrival: Arrival, tx: Tx, task_id: str, files: StateFiles) -> list[str]:
    """The differences between the state file and the task in this store, as warnings."""
    task = arrival.task_get(task_id)
    state = files.state
    differences = [
        f"{name} of task {task_id} differs; that of the file was not imported"
        for name in ("goal", "status", "phase")
        if state.get(name) is not None and state[name] != getattr(task, name)
    ]
    if list(state["blockers"]) != list(task.blockers):
        differences.append(f"blockers of task {task_id} differ; those of the file were not imported")
    for name, value in state["variables"].items():
        row = tx.record_with_key(task_id, "variable", name)
        event = tx.event(task_id, row["seq"]) if row else None
        if event is None or event["data"] != validate.dumps({"value": value}):
            differences.append(f"variable {name} of task {task_id} differs; the file's was not imported")
    return differences[:MOST_DIFFERENCES]


# --- entries ----------------------------------------------------------------------------------------


def _bring_notes(arrival: Arrival, tx: Tx, head: Row, files: StateFiles) -> None:
    """Add the entries that the task does not have yet."""
    ids = {row["item_id"] for row in tx.steps(head["task_id"])}
    name = files.identity
    present: Counter[str] = Counter()
    for kind in states.FIELDS:
        for row in tx.records(head["task_id"], kind, tuple(rules.ENTRY_TRANSITIONS), 1_000_000):
            data: dict[str, Any] = json.loads(row["data"])
            present[_fingerprint(kind, row["text"], data, row["key"])] += 1
    for path, notes in ((states.decisions_path(name), files.decisions), (states.map_path(name), files.map)):
        for note in notes.notes:
            try:
                draft = _draft(arrival, note, ids)
                mark = _fingerprint(note.kind, draft.text, draft.data, (draft.record or {}).get("key"))
                if present[mark]:
                    present[mark] -= 1
                else:
                    arrival.append(tx, head, draft)
            except InvalidInput as error:
                raise invalid(files.path + path, error.message, note.line) from None


def _fingerprint(kind: str, text: str | None, data: Mapping[str, Any], key: str | None) -> str:
    """Equal for two entries with the same content, whenever they were written."""
    content = {name: value for name, value in data.items() if name != "recorded_at"}
    return validate.dumps([kind, text, key, sorted(content.items())])


def _draft(arrival: Arrival, note: Note, ids: set[str]) -> Draft:
    """The event for an entry of a file."""
    fields, own = dict(note.fields), note.own
    at, key = note.at, None
    if note.kind == "decision":
        title = None if own.get("untitled") is True else validate.optional("title", note.title, 1000)
        summary = fields.get("choice") if title is None else title
        fields["title"] = title
        if not own:
            fields.setdefault("choice", title)
        if isinstance(fields.get("options"), str):
            fields["options"] = [fields["options"]]
    elif note.kind == "exclusion":
        if not own:
            fields.setdefault("what", note.title)
        summary, key = fields.get("what"), fields.pop("signature", None)
        when = fields.pop("when", None)
        at = at or when
        if when != at:
            fields["when"] = when
        if fields.get("until") is not None:
            fields["until"] = validate.moment("until", fields["until"])
    else:
        summary = fields.pop("summary", None) or note.title
    text = arrival.text("the entry", own.get("summary", summary))
    data = {
        **arrival.mapping("the entry", {**note.data, **fields}),
        "recorded_at": validate.optional("time", at, 200),
    }
    status = own.get("status")
    item = own.get("step")
    relevant = _listed(own.get("relevance_to"))
    if isinstance(item, str) and item not in ids:  # a dropped step, which the files do not list
        relevant = [*relevant, item]
    labels = [
        *(("tag", tag) for tag in validate.text_list("tags", _listed(own.get("tags")))),
        *(("item", name) for name in validate.text_list("relevance_to", relevant, 64)),
    ]
    record = {
        "type": note.kind,
        "status": status if status in rules.ENTRY_TRANSITIONS else "active",
        "key": validate.optional("signature", key, 500),
    }
    return Draft(
        note.kind, text=text, data=data, item=item if item in ids else None, labels=labels, record=record
    )


def _listed(value: Any) -> list[Any]:
    return value if is_list(value) else []
