"""Write a task as a bank folder, and import one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from ..core.transfer import FORMAT, event_line
from ..ledger.values import read_event
from ..model import validate
from ..model.errors import InvalidInput, shown
from ..model.lazy_regex import lazy_regex
from ..model.results import FolderExport
from ..model.settings import Settings
from ..model.types import Event, Task, Value, is_dict
from ..store.tx import Row, Tx
from ..system.files import is_temp, locked_folder, make_folder
from . import bank
from .arrival import Arrival, infer_steps, read_status, short_name, tag_of
from .bank_reading import plan_files, read_index, read_log_line, read_metadata, read_plan, read_snapshot_name
from .import_source import Source, invalid
from .projection import Export, begin_export, digest, file_digest, is_intact, make_export_root, self_digested

_OURS = lazy_regex(
    r"plan(_v\d{1,9})?\.json|execution\.log\.jsonl|final_answer\.md|events\.jsonl"
    r"|context_history(/(index\.json|\d{2,9}_[A-Za-z0-9_]{1,60}\.txt))?"
)
MOST_CONTEXTS = 100_000


# --- writing ----------------------------------------------------------------------------------------


def write_bank(
    root: str, task: Task, rows: Iterable[Row], find: Callable[[int], Event | None]
) -> FolderExport:
    """Write the folder of a task; its metadata, which holds the digests of the other files, comes last."""
    make_export_root(root, ignored=True)
    folder = os.path.join(root, task.id)
    make_folder(folder)
    with locked_folder(folder):
        export = begin_export(folder, bank.METADATA, _is_ours)
        _write_files(export, task, rows, find)
        export.finish(bank.METADATA, lambda files, mark: bank.metadata_json(task, files, mark))
    return export.report(task)


def _is_ours(name: str) -> bool:
    """Whether an export can have written a file of this name."""
    return bool(_OURS.fullmatch(name)) or is_temp(name)


def _write_files(
    export: Export, task: Task, rows: Iterable[Row], find: Callable[[int], Event | None]
) -> None:
    """Write everything but the metadata, in one pass over the ledger."""
    with ExitStack() as open_files:
        ledger = open_files.enter_context(export.stream(bank.EVENTS))
        ledger.write(validate.dumps(FORMAT) + "\n")
        streams = {bank.LOG: open_files.enter_context(export.stream(bank.LOG))}

        def events() -> Iterator[Event]:
            for row in rows:
                ledger.write(validate.dumps(event_line(row)) + "\n")
                yield read_event(row)

        below = False
        for name, piece in bank.bank_parts(task, events(), find):
            if name.startswith(bank.CONTEXTS) and not below:
                export.make_folder(bank.CONTEXTS)
                below = True
            if name not in bank.STREAMS:
                export.put(name, piece.encode())
                continue
            if name not in streams:
                streams[name] = open_files.enter_context(export.stream(name))
            streams[name].write(piece)


def bank_texts(task: Task, rows: Iterable[Row], find: Callable[[int], Event | None]) -> dict[str, str]:
    """The same files as texts, by their path below the task's folder, for a mirror."""
    ledger = [validate.dumps(FORMAT)]

    def events() -> Iterator[Event]:
        for row in rows:
            ledger.append(validate.dumps(event_line(row)))
            yield read_event(row)

    files = bank.bank_files(task, events(), find)
    files[bank.EVENTS] = "\n".join(ledger) + "\n"
    del files[bank.METADATA]
    digests = {name: digest(text.encode()) for name, text in sorted(files.items())}
    files[bank.METADATA] = self_digested(lambda mark: bank.metadata_json(task, digests, mark))
    return files


# --- reading ----------------------------------------------------------------------------------------


def bank_folders(root: str) -> list[str]:
    """The task folders at a path: itself, or those in it."""
    if _is_task_folder(root):
        return [root]
    with os.scandir(root) as entries:
        below = sorted(entry.path for entry in entries if entry.is_dir(follow_symlinks=False))
    folders = [path for path in below if _is_task_folder(path)]
    if not folders:
        raise invalid(root, f"neither it nor a folder in it contains {bank.METADATA}")
    return folders


def _is_task_folder(folder: str) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in (bank.METADATA, bank.EVENTS))


class BankFolder(Value, frozen=True, kw_only=True):
    """A bank folder, read before anything is written."""

    source: Source
    identity: str
    metadata: Mapping[str, Any]
    own: Mapping[str, Any]
    ledger: bool
    digest: str
    warnings: tuple[str, ...]


def read_bank(folder: str, settings: Settings) -> BankFolder:
    """Read the metadata of a folder, and check whether it was edited since Ringbolt wrote it."""
    source = Source(folder)
    most = settings.max_text_bytes + settings.max_json_bytes
    text = source.text(bank.METADATA, most)
    try:
        metadata = {} if text is None else read_metadata(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise invalid(source.path(bank.METADATA), str(error)) from None
    own: Any = metadata.get("ringbolt")
    own = own if is_dict(own) else {}
    ledger = source.has(bank.EVENTS)
    odd = [*source.odd_names(), *source.odd_names(bank.CONTEXTS)]
    warnings = [f"{shown(name)} is not a regular file and was not read" for name in odd]
    if ledger:
        warnings += _differences(source, own, text)
    identity = metadata.get("parentTaskId")
    return BankFolder(
        source=source,
        identity=identity if isinstance(identity, str) and identity else os.path.basename(folder),
        metadata=metadata,
        own=own,
        ledger=ledger,
        digest="" if ledger else _content_digest(source),
        warnings=tuple(warnings),
    )


def _file_names(source: Source) -> list[str]:
    return [*source.names(), *(f"{bank.CONTEXTS}/{name}" for name in source.names(bank.CONTEXTS))]


def _content_digest(source: Source) -> str:
    """A digest of all regular files of a folder, to tell whether they were imported before."""
    names = _file_names(source)
    marks = [f"{name}\0{file_digest(source.path(name))}" for name in names if not is_temp(name)]
    return digest("\n".join(marks).encode("utf-8", "surrogateescape"))


def _differences(source: Source, own: Mapping[str, Any], text: str | None) -> list[str]:
    """The differences to the files that Ringbolt wrote, as warnings; only the ledger is imported."""
    if text is None or not own:
        return [f"{bank.METADATA} is missing or not from Ringbolt; only the ledger was imported"]
    if own.get("complete") is not True:
        return ["The export was not finished; the ledger was imported as far as it goes"]
    edited = [] if is_intact(text) else [bank.METADATA]
    listed: Any = own.get("files")
    files: dict[str, Any] = listed if is_dict(listed) else {}
    names = _file_names(source)
    missing = sorted(name for name in files if _OURS.fullmatch(name) and name not in names)
    edited += [name for name in names if name in files and file_digest(source.path(name)) != files[name]]
    strange = [name for name in names if name not in files and name != bank.METADATA and not is_temp(name)]
    changed = "was changed after it was written; the ledger was imported, the change was not"
    return [
        *(f"{name} {changed}" for name in edited),
        *(f"{name} is missing; the ledger was imported, which has its content" for name in missing),
        *(f"{shown(name)} was not written by Ringbolt and was not imported" for name in strange),
    ]


# --- a folder of another project --------------------------------------------------------------------


def bring_bank(arrival: Arrival, tx: Tx, folder: BankFolder) -> tuple[str, int, list[str]]:
    """Create a task from a folder without a ledger; returns its id, the number of events, and warnings."""
    source, settings = folder.source, arrival.settings
    tag = tag_of("bank", folder.identity)
    known, others = arrival.known_as(tx, tag, "bank", folder.digest)
    if known is not None:
        return known, 0, []
    warnings = [f"An earlier state of this folder is task {name}" for name in others]
    metadata, own = folder.metadata, folder.own
    plans, step_states = _read_plans(source, settings, ours=bool(own))
    first = plans.pop(0)[1] if plans and plans[0][1] else None
    try:
        task_id = _begin_task(arrival, folder, first, tag)
        status = read_status(own, metadata.get("taskStatus"), "bank")
        error = _read_error(metadata.get("errorSummary"))
    except InvalidInput as problem:
        raise invalid(source.path(bank.METADATA), problem.message) from None
    for name, plan in plans:
        _checked(source.path(name), lambda p=plan, n=name: arrival.task_plan_replace(task_id, p, reason=n))
    head = arrival.head(tx, task_id)
    log_states = _bring_log(arrival, tx, head, source, warnings)
    _bring_contexts(arrival, tx, head, source, warnings)
    _checked(source.path(bank.PLAN), lambda: arrival.move_steps(tx, head, step_states or log_states))
    variables: Any = own.get("variables")
    for name, value in (variables if is_dict(variables) else {}).items():
        _checked(source.path(bank.METADATA), lambda n=name, v=value: arrival.task_set(task_id, n, v))
    answer = _read_answer(source, metadata.get("finalAnswerFile"), settings, warnings)
    _checked(source.path(bank.METADATA), lambda: arrival.settle(task_id, own, status, answer, error))
    return task_id, arrival.head(tx, task_id)["last_seq"], warnings


def _checked(path: str, work: Callable[[], object], line: int | None = None) -> None:
    """Run an operation; if its input is not valid, the error names the file."""
    try:
        work()
    except InvalidInput as error:
        raise (error if error.code == "import_invalid" else invalid(path, error.message, line)) from None


def _begin_task(arrival: Arrival, folder: BankFolder, plan: Any, tag: str) -> str:
    metadata, own = folder.metadata, folder.own
    request = metadata.get("originalUserTask") if "request" not in own else None
    if request is not None and not isinstance(request, str):
        raise InvalidInput("invalid_argument", "originalUserTask is not a text.", "Use a string.")
    used = ("version", "originalUserTask", "finalAnswerFile", "ringbolt")
    rest = {name: value for name, value in metadata.items() if name not in used and value is not None}
    before: Any = own.get("metadata")
    extra = {**(before if is_dict(before) else {}), "bank": {**rest, "digest": folder.digest}}
    own_name = own.get("name")
    name = own_name if isinstance(own_name, str) else short_name(request, folder.identity)
    return arrival.begin(name, plan, own, request=request, metadata=extra, tags=[tag])


def _read_plans(
    source: Source, settings: Settings, ours: bool
) -> tuple[list[tuple[str, Any]], dict[str, dict[str, Any]]]:
    """The plans in order, each with its file, and the fields that Ringbolt recorded for the last one's
    steps."""
    plans: list[tuple[str, Any]] = []
    statuses: dict[str, dict[str, Any]] = {}
    for name in plan_files(source.names()):
        text = source.text(name, settings.max_json_bytes)
        try:
            plan, statuses = read_plan((text or "").removeprefix("\ufeff"))
        except ValueError as error:
            raise invalid(source.path(name), str(error)) from None
        # Other projects also keep the current plan under its number.
        if ours or not plans or plans[-1][1] != plan:
            plans.append((name, plan))
    return plans, statuses


def _bring_log(
    arrival: Arrival, tx: Tx, head: Row, source: Source, warnings: list[str]
) -> dict[str, dict[str, Any]]:
    """Add the entries of the execution log; returns the step statuses that they imply."""
    find = infer_steps(tx.steps(head["task_id"]))
    statuses: dict[str, dict[str, Any]] = {}
    path = source.path(bank.LOG)
    for number, text, ended in source.lines(bank.LOG, arrival.settings.max_json_bytes):
        try:
            entry = read_log_line(text.removeprefix("\ufeff"))
        except ValueError as error:
            if not ended:  # the writer was stopped in the middle of the line
                warnings.append(f"Line {number} of {bank.LOG} is cut off and was not imported")
                break
            raise invalid(path, str(error), number) from None
        item = find(entry)
        _checked(path, lambda e=entry, i=item: arrival.action(tx, head, e, i), number)
        if item is not None and entry["type"] != "system":
            statuses[item] = {"status": entry["status"], "basis": "inferred"}
    return statuses


def _bring_contexts(arrival: Arrival, tx: Tx, head: Row, source: Source, warnings: list[str]) -> None:
    """Add the contexts in the order of their numbers."""
    names = source.names(bank.CONTEXTS)
    text = source.text(bank.INDEX, arrival.settings.max_json_bytes) if "index.json" in names else None
    try:
        index = {} if text is None else read_index(text)
    except ValueError as error:
        raise invalid(source.path(bank.INDEX), str(error)) from None
    numbered: list[tuple[int, str, str]] = []
    for name in names:
        if (parts := read_snapshot_name(name)) is not None:
            numbered.append((parts[0], name, parts[1]))
        elif name != "index.json" and not is_temp(name):
            warnings.append(f"{bank.CONTEXTS}/{shown(name)} has no number in its name and was not imported")
    if len(numbered) > MOST_CONTEXTS:
        raise invalid(source.path(bank.CONTEXTS), f"it has more than {MOST_CONTEXTS:,} contexts")
    ids = {row["item_id"] for row in tx.steps(head["task_id"])}
    for _, name, label in sorted(numbered):
        path = f"{bank.CONTEXTS}/{name}"
        content = source.text(path, arrival.settings.max_text_bytes) or ""
        if not content.strip():
            warnings.append(f"{path} is empty and was not imported")
            continue
        row = index.get(name) or {"label": label, "summarized": label.startswith("after summar")}
        item = row.get("step") if row.get("step") in ids else None
        _checked(source.path(path), lambda c=content, r=row, i=item: arrival.context(tx, head, c, r, i))


def _read_answer(source: Source, named: Any, settings: Settings, warnings: list[str]) -> str | None:
    names = [bank.ANSWER, "final_answer.txt"]
    if named is not None:
        plain = isinstance(named, str) and named.isprintable() and os.path.basename(named) == named
        if not plain or named in ("", ".", ".."):
            raise invalid(source.path(bank.METADATA), f"finalAnswerFile cannot be {shown(named)}")
        names.insert(0, named)
    for name in names:
        if (text := source.text(name, settings.max_text_bytes)) is not None:
            return text
    if named is not None:
        warnings.append(f"There is no file {shown(named)} with the final answer")
    return None


def _read_error(summary: Any) -> dict[str, Any] | None:
    if not is_dict(summary):
        return None
    if all(summary.get(name) is None for name in ("failedAtStage", "failedStepNarrative", "errorMessage")):
        return None
    message = summary.get("errorMessage")
    error: dict[str, Any] = {
        "message": message if isinstance(message, str) else "" if message is None else validate.dumps(message)
    }
    for name, theirs in (("stage", "failedAtStage"), ("step", "failedStepNarrative")):
        if summary.get(theirs) is not None:
            error[name] = str(summary[theirs])
    return error
