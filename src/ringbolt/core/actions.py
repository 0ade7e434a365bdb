"""Actions, their logs and receipts, and two ways to read them: thread and drill-down."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..ledger.base import Base, Draft, find_item, step_id
from ..ledger.step_changes import EDIT, RECEIPT, begin_work, failed_evidence, last_receipt
from ..ledger.task_life import lives, stuck_after
from ..ledger.values import OPEN_EFFECTS, read_actions, read_card, read_event, read_items, with_titles
from ..model import rules, validate
from ..model.errors import InvalidInput, NotFound
from ..model.operation import operation
from ..model.types import Drill, TaskCard, Thread, Written, is_dict, is_list
from ..signals.calls.run_kinds import covers_check
from ..store.tx import Row, Tx

# Status words of execution logs: our status, and the action type that the word implies, if any.
_LOG_WORDS = {
    "system_action": ("completed", "system"),
    "system_error": ("failed", "system"),
    "success": ("completed", None),
    "done": ("completed", None),
    "error": ("failed", None),
    "running": ("started", None),
}

# How many edits of a verified step are checked for files that a later action changes again.
MOST_EDITS = 200


class Actions(Base):
    """Operations on actions."""

    @operation(
        scope="write",
        texts=("summary",),
        example={"summary": "Built the image", "type": "cli", "input": {"command": "make image"}},
    )
    def task_log_action(
        self,
        task_id: str | None = None,
        summary: str | None = None,
        *,
        type: str = "other",
        status: str = "completed",
        step: str | int | None = None,
        tool: str | None = None,
        input: Any = None,
        output: Any = None,
        error: Any = None,
        duration_ms: float | None = None,
        stage: str | int | None = None,
        sub_task_id: str | None = None,
        files: Sequence[Any] | None = None,
        receipt: bool = False,
        action: int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Log an action: a command, a click, a tool call, with its input, output and error.

        Log it as `started` and end it later with `action=<its seq>`, or log it once when it is over.

        Args:
            summary: What was done, in one sentence.
            type: cli, gui, wait, vision, reasoning, tool, edit, system or other.
            status: started, completed, failed or skipped. The words of an execution log are understood.
            step: Step: its id, its number from 1, or its title or a unique prefix of the title. Default: the
                active step.
            tool: Name of the tool.
            input: The input: any JSON value.
            output: The output: any JSON value.
            error: What went wrong: any JSON value.
            duration_ms: How long it took. An action that is ended later gets it from the clock.
            stage: Stage of the plan.
            sub_task_id: The caller's own id for a sub-task.
            files: Paths, or objects with path and change (created, modified, deleted). At most 1,000.
            receipt: Whether this is a check that proves its step, as with task_receipt.
            action: Seq of a started action, to end it.
        """
        if isinstance(stage, int):
            validate.whole("stage", stage, -(1 << 62), 1 << 62)
        word = validate.line("status", status).lower()
        ours, kind = _LOG_WORDS.get(word, (word, None))
        ours = validate.choice("action status", ours, rules.ACTION_STATUSES)
        kind = validate.choice("action type", kind or type, rules.ACTION_TYPES)
        data = {
            "type": None if action is not None else kind,
            "tool": validate.optional("tool", tool, 500),
            "input": self._plain("input", input),
            "output": self._plain("output", output),
            "error": self._plain("error", error),
            "stage": str(stage) if isinstance(stage, int) else validate.optional("stage", stage, 200),
            "sub_task_id": validate.optional("sub_task_id", sub_task_id, 200),
            "duration_ms": None
            if duration_ms is None
            else validate.number("duration_ms", duration_ms, 0, 1e15),
        }
        touched = _file_changes(files)
        is_receipt = bool(receipt) and action is None and ours in ("completed", "failed")
        if action is None:
            summary = self._line("summary", summary)
        else:
            validate.whole("action", action, 1, 1 << 62)
            summary = self._text("summary", summary)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            if action is not None:
                draft = _end_draft(tx, head, now, action, ours, summary, data)
            else:
                draft = _start_draft(tx, head, now, step, ours, summary, data)
            if is_receipt and draft.item is not None:
                _mark_receipt(tx, head, draft, draft.item, ours == "completed")
            if touched:
                _note_edit(tx, head, draft, action, _file_rows(tx, head, touched, now))
            return draft

        return self._write(
            "task_log_action", task_id, decide, key=key, token=token,
            arguments=[summary, type, status, step, data, files, action, *([True] if receipt else [])],
        )  # fmt: skip

    @operation(
        scope="write",
        texts=("command",),
        needed=("command",),
        example={"command": "make test", "exit_code": 0, "step": 1},
    )
    def task_receipt(
        self,
        task_id: str | None = None,
        command: str | None = None,
        *,
        exit_code: int = 0,
        output: Any = None,
        step: str | int | None = None,
        duration_ms: float | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Prove that a step is done: a check that ran after its last edit, with its exit code.

        Exit code 0 makes a completed step `verified`, even if it is completed later. A later edit of the
        step's files makes it `reported` again; a check that fails makes it `contradicted` until one passes.

        Args:
            command: The command that was run.
            exit_code: Its exit code; 0 means success.
            output: The output: any JSON value.
            step: Step: its id, its number from 1, or its title or a unique prefix of the title. Default: the
                active step.
            duration_ms: How long it took.
        """
        command = self._line("command", command)
        exit_code = validate.whole("exit_code", exit_code, -(1 << 31), 1 << 31)
        result = {"exit_code": exit_code, "output": self._plain("output", output)}
        took = None if duration_ms is None else validate.number("duration_ms", duration_ms, 0, 1e15)
        data = {"type": "cli", "input": {"command": command}, "output": result, "duration_ms": took}
        good = exit_code == 0

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            draft = _start_draft(tx, head, now, step, "completed" if good else "failed", command, data)
            if draft.item is None:
                raise InvalidInput(
                    "invalid_argument", "No step is active, and none was named.", "Name the step with `step`."
                )
            _mark_receipt(tx, head, draft, draft.item, good)
            return draft

        return self._write(
            "task_receipt", task_id, decide, key=key, token=token,
            arguments=[command, exit_code, output, step, duration_ms],
        )  # fmt: skip

    @operation(scope="write", example={"action": 2, "content": "step 1/7"})
    def task_log_append(
        self,
        task_id: str | None = None,
        *,
        action: int,
        content: str,
        type: str = "output",
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Add a log to an action: output, a note, the path of a screenshot.

        Args:
            action: Seq of an action.
            content: The text.
            type: Kind of log: output, note, or your own word.
        """
        validate.whole("action", action, 1, 1 << 62)
        content = validate.nonempty("content", content, self.settings.max_text_bytes)
        kind = validate.line("type", type, 100)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            record = _action(tx, head, action)
            return Draft("log", text=content, data={"type": kind}, item=record["item_id"], ref=action)

        return self._write(
            "task_log_append", task_id, decide, key=key, token=token, arguments=[action, content, kind]
        )

    @operation(scope="read")
    def task_thread(
        self,
        task_id: str | None = None,
        *,
        limit: int = 50,
        before: int | None = None,
        types: Sequence[str] | None = None,
    ) -> Thread:
        """The latest events of a task, in order.

        Args:
            before: Only events before this seq: the previous page.
            types: Only events of these types.
        """
        limit = validate.whole("limit", limit, 1, 1000)
        if before is not None:
            validate.whole("before", before, 1, 1 << 62)
        kinds = validate.text_list("types", types)

        def work(tx: Tx) -> Thread:
            head = self._find(tx, task_id)
            rows = tx.thread(head["task_id"], limit + 1, before, kinds)
            more = len(rows) > limit
            events = tuple(read_event(row) for row in reversed(rows[:limit]))
            return Thread(task_id=head["task_id"], events=events, cursor=events[0].seq if more else None)

        return self.store.read(work)

    @operation(scope="read")
    def task_drill_down(
        self,
        task_id: str | None = None,
        step: str | int | None = None,
        *,
        ordinal: int | None = None,
        action: int | None = None,
        limit: int = 100,
    ) -> Drill:
        """Go one level down: a task's steps, a step's actions and entries, or an action's logs.

        Args:
            ordinal: The step by its position from 0, instead of `step`.
            action: Seq of an action.
        """
        limit = validate.whole("limit", limit, 1, 1000)
        if action is not None:
            validate.whole("action", action, 1, 1 << 62)
        if ordinal is not None:
            step = validate.whole("ordinal", ordinal, 0, 1 << 31) + 1

        def work(tx: Tx) -> Drill:
            head = self._find(tx, task_id)
            full_id = head["task_id"]
            steps = tx.steps(full_id)
            unknown = sum(tx.record_count(full_id, "effect", status) for status in OPEN_EFFECTS)
            (life,) = lives(tx, [head], self._clock(), stuck_after(self.settings)).values()
            card = TaskCard(**read_card(with_titles(head, steps, unknown), life))
            items = read_items(steps)
            if action is not None:
                rows = tx.records(full_id, "action", rules.ACTION_STATUSES, limit=1, seq=action)
                if not rows:
                    raise _no_action(head, action)
                (with_logs,) = read_actions(tx, full_id, rows, with_logs=True)
                one = next((one for one in items if one.id == with_logs.step), None)
                return Drill(task=card, step=one, action=with_logs)
            if step is None:
                return Drill(task=card, steps=items)
            row = find_item(steps, step)
            rows = tx.records(full_id, "action", rules.ACTION_STATUSES, limit=limit + 1, item=row["item_id"])
            left_out = 0
            if len(rows) > limit:
                left_out = tx.item_actions(full_id, row["item_id"]) - limit
            actions = read_actions(tx, full_id, reversed(rows[:limit]), with_logs=True)
            entries = [
                entry
                for kind in rules.ENTRY_TYPES
                for entry in self._entries(tx, full_id, kind, ("active",), limit, item=row["item_id"])
            ]
            return Drill(
                task=card,
                step=next(one for one in items if one.id == row["item_id"]),
                actions=actions,
                entries=tuple(sorted(entries, key=lambda entry: entry.seq)),
                left_out=left_out,
            )

        return self.store.read(work)


def _start_draft(
    tx: Tx,
    head: Row,
    now: str,
    item: str | int | None,
    status: str,
    summary: str | None,
    data: Mapping[str, Any],
) -> Draft:
    """The event of an action that starts, or that is logged when it is over."""
    begun = begin_work(head, now)
    return Draft(
        "action",
        text=summary,
        data=data,
        sets={"heads": begun} if begun else {},
        item=head["current_item"] if item is None else step_id(tx, head, item),
        record={"type": "action", "status": status, "ended_at": None if status == "started" else now},
    )


def _end_draft(
    tx: Tx, head: Row, now: str, action: int, status: str, summary: str | None, data: Mapping[str, Any]
) -> Draft:
    """The event that ends a started action."""
    record = _action(tx, head, action)
    rules.check_transition(
        rules.ACTION_TRANSITIONS, f"Action #{action}", record["status"], status, again=False
    )
    if data["duration_ms"] is None:
        begun = tx.event(head["task_id"], record["seq"])
        if begun and begun["timestamp"] <= now:
            took = validate.seconds_of(now) - validate.seconds_of(begun["timestamp"])
            data = {**data, "duration_ms": round(took * 1000)}
    changed = {"status": status, "ref_seq": head["last_seq"] + 1, "ended_at": now}
    sets = {"records": {str(action): changed}}
    return Draft("action.ended", text=summary, data=data, sets=sets, item=record["item_id"], ref=action)


def _mark_receipt(tx: Tx, head: Row, draft: Draft, item: str, passed: bool) -> None:
    """Make an action the receipt of its step; the same check may end the contradiction of other steps."""
    draft.record = {**(draft.record or {}), "key": RECEIPT}
    steps = tx.steps(head["task_id"])
    row = find_item(steps, item)
    evidence = "verified" if passed else failed_evidence(row)
    changed = {item: evidence} if row["status"] == "completed" and row["evidence"] != evidence else {}
    if passed:
        command = _command(draft.data, draft.text)
        for other in steps:
            if other["evidence"] == "contradicted" and other["item_id"] != item:
                failed = last_receipt(tx, head["task_id"], other["item_id"])
                if failed and covers_check(command, _command(json.loads(failed["data"]), failed["text"])):
                    changed[other["item_id"]] = "reported"
    if changed:
        draft.sets["steps"] = {name: {"evidence": value} for name, value in changed.items()}


def _command(data: Any, text: str | None) -> str:
    """The command of a check."""
    given = data.get("input") if is_dict(data) else None
    command = given.get("command") or given.get("cmd") if is_dict(given) else None
    return command if isinstance(command, str) else text or ""


def _note_edit(tx: Tx, head: Row, draft: Draft, action: int | None, files: Sequence[Row]) -> None:
    """Record the files that an action changed; verified steps with these files become `reported` again."""
    draft.sets["files"] = files
    if action is None:
        draft.record = {**(draft.record or {}), "key": EDIT}
    else:
        draft.sets["records"][str(action)]["key"] = EDIT
    paths = {row["path"] for row in files}
    for row in tx.steps(head["task_id"]):
        own = row["item_id"] == draft.item
        if row["evidence"] == "verified" and (
            own or paths & _edited_files(tx, head["task_id"], row["item_id"])
        ):
            draft.sets.setdefault("steps", {})[row["item_id"]] = {"evidence": "reported"}


def _edited_files(tx: Tx, task_id: str, item: str) -> set[str]:
    """The files that a step has changed, which its receipt covers."""
    paths: set[str] = set()
    for row in tx.records(task_id, "action", rules.ACTION_STATUSES, MOST_EDITS, item=item, key=EDIT):
        for seq in {row["seq"], row["replaced_by"]} - {None}:
            event = tx.event(task_id, seq)
            paths |= {file["path"] for file in read_event(event).sets.get("files", ())} if event else set()
    return paths


def _no_action(head: Row, action: int) -> NotFound:
    return NotFound(
        "record_not_found",
        f"#{action} is not an action of task {head['task_id']}.",
        "Use the seq that task_log_action returned.",
    )


def _action(tx: Tx, head: Row, action: int) -> Row:
    record = tx.record(head["task_id"], action)
    if record is None or record["type"] != "action":
        raise _no_action(head, action)
    return record


def _file_changes(files: Any) -> dict[str, str]:
    if files is None:
        return {}
    if not is_list(files) or len(files) > 1000:
        raise InvalidInput(
            "invalid_argument", "files must be a list of at most 1,000.", "Log the rest in another action."
        )
    changes: dict[str, str] = {}
    for part in files:
        row: dict[str, Any] = part if is_dict(part) else {"path": part}
        path = validate.line("a file's path", row.get("path"), 2000)
        changes[path] = validate.choice("file change", row.get("change", "modified"), rules.FILE_CHANGES)
    return changes


def _file_rows(tx: Tx, head: Row, touched: Mapping[str, str], now: str) -> list[Row]:
    rows: list[Row] = []
    for path, change in touched.items():
        known = tx.file(head["task_id"], path)
        # A file that the task created stays `created`, however often it is edited.
        if change == "modified" and known and known["change"] == "created":
            change = "created"
        rows.append({"path": path, "change": change, "seq": head["last_seq"] + 1, "at": now})
    return rows
