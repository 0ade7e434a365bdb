"""Hand a task over as a capsule, and receive one."""

from __future__ import annotations

import os
from typing import Any

from ..ledger.base import Draft, stored_result
from ..model import foreign_statuses, rules, validate
from ..model.errors import InvalidInput, RingboltError, shown
from ..model.operation import operation
from ..model.types import ErrorSummary, Written
from ..packet import capsule, resume
from ..packet.capsule import TITLE, read_capsule
from ..packet.operations import Views
from ..store.imported_sets import check_sets
from ..store.tx import Row, Tx
from ..system.files import FileErrors, open_plain, read_bounded, write_atomic
from .tasks import Tasks

_KINDS = {
    "instructions": "user_instruction",
    "reported": "user_instruction",
    "decisions": "decision",
    "exclusions": "exclusion",
    "errors": "error",
    "questions": "question",
    "values": "variable",
    "notes": None,  # each note names its own type
}

_HOME = ("id", "workspace", "session", "seq", "created_at", "updated_at")
_STEP_CELLS = (
    "stage basis evidence note active_issue depends_on detail plan_version dropped_in replaced_by started_at"
    " completed_at duration_seconds"
).split()


class Handoff(Views, Tasks):
    """Operations that move a task from one agent to another."""

    @operation(scope="read", tools="none", http=False)
    def task_handoff(
        self,
        task_id: str | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        budget: int = 1500,
        max_bytes: int = 256 << 10,
    ) -> str:
        """Write a task as one file of limited size that any agent can read and `task_receive` can import.

        The file is Markdown with the resume packet, and a JSON block with the plan and all entries.

        Args:
            path: Also write it to this file. An existing file is replaced only if it is a capsule.
            budget: Maximum number of tokens of the readable part, from 300 to 8,000.
            max_bytes: Maximum size of the whole file.
        """
        budget = validate.whole("budget", budget, resume.LEAST, resume.MOST)
        most = validate.whole("max_bytes", max_bytes, 4096, 1 << 30)
        target = None if path is None else validate.path("the capsule", path)
        text = capsule.capsule(self._snapshot(task_id), budget=budget, most_bytes=most, count=self._counter())
        if target is not None:
            with FileErrors(target):
                _check_free(target)
                write_atomic(target, text.encode())
        return text

    @operation(scope="write", tools="none", http=False)
    def task_receive(
        self,
        capsule: str | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        key: str | None = None,
    ) -> Written:
        """Import a task that was handed over, as a new task of this workspace and session.

        Everything in it is marked as imported and keeps the trust it had in its own store. Receiving the same
        capsule twice creates one task.

        Args:
            capsule: The text of a capsule.
            path: The file of a capsule, instead of its text.
        """
        if (capsule is None) == (path is None):
            raise InvalidInput("invalid_argument", "Pass a capsule or a path.", "Exactly one of them.")
        if capsule is None:
            source = validate.path("the capsule", path)
            with FileErrors(source):
                capsule = read_bounded(source, self.settings.max_json_bytes * 2).decode("utf-8", "replace")
        text = validate.text("the capsule", capsule, self.settings.max_json_bytes * 2)
        content = read_capsule(text)
        receiver = self.acting_as(channel="import")
        drafts = _drafts(content, receiver)
        fingerprint = validate.blake2b(validate.dumps(content).encode(), digest_size=12).hexdigest()
        scoped = self._registration_key(key or f"capsule {fingerprint}", self.workspace)

        def work(tx: Tx) -> Written:
            if known := tx.register_key(scoped):
                return stored_result(known, fingerprint)
            return receiver._receive(tx, content, drafts, scoped, fingerprint)

        return self._commit(work, settles=True, tasks=lambda written: (written.task_id,))

    def _receive(
        self, tx: Tx, content: dict[str, Any], drafts: list[Draft], key: str, fingerprint: str
    ) -> Written:
        now = self._now()
        task_id = self._new_id(tx)
        # Work may be tried more than once, and appending changes the drafts.
        first, *rest = [draft.copy() for draft in drafts]
        heads = {**first.sets["heads"], "workspace_path": self.workspace, "repository": self.repository}
        if self.origin.session:
            heads |= {"session_id": self.origin.session, "focus": tx.last_focus(self.origin.session) + 1}
        first.sets["heads"] = heads
        if files := first.sets.get("files"):
            first.sets["files"] = [{**row, "seq": 1, "at": now} for row in files]
        at_home = rules.normal_id(str(content["task"].get("id") or ""))
        if at_home and tx.head(at_home):
            first.result["warnings"] = (f"task {at_home} is also in this store; task_focus takes it over",)
        head: Row = {"task_id": task_id, "root_id": task_id, **heads}
        result = self._append(tx, head, first, now, "task_register", key, fingerprint)
        for draft in rest:
            self._append(tx, head, draft, now, "task_receive")
        if (status := content["task"].get("status")) in rules.ENDED:
            data = {"status": status, "answer": content["task"].get("answer"), "error": content.get("error")}
            ended = {"status": status, "completed_at": now, "finish_seq": head["last_seq"] + 1}
            self._append(
                tx, head, Draft("task.finished", data=data, sets={"heads": ended}), now, "task_receive"
            )
        return result


def _check_free(path: str) -> None:
    """Raise if the path is a file other than a capsule, which would be overwritten."""
    if os.path.lexists(path):
        with open_plain(path) as file:
            if file.read(len(TITLE)) != TITLE.encode():
                raise InvalidInput(
                    "invalid_argument",
                    f"{shown(path, 400)} exists and is not a capsule.",
                    "Name a file that does not exist yet.",
                )


# --- from a capsule to events -----------------------------------------------------------------------


def _drafts(content: dict[str, Any], memory: Handoff) -> list[Draft]:
    """The events of a received capsule: one that registers the task in its last state, and one per entry."""
    try:
        steps = _steps(content, memory)
        drafts = [_beginning(content, steps, memory)]
        for name, kind in _KINDS.items():
            drafts += [_entry(row, kind, content, steps) for row in content[name]]
        drafts += [_effect(row, content, steps) for row in content["effects"]]
        for draft in drafts:
            validate.json_value("an entry", draft.data, memory.settings)
            validate.optional("a text", draft.text, memory.settings.max_text_bytes)
        check_sets(drafts[0].sets, 1)
        if (error := content.get("error")) is not None:
            ErrorSummary(**error)
        validate.optional("answer", content["task"].get("answer"), memory.settings.max_text_bytes)
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise _bad(str(error)) from None
    except RingboltError as error:
        raise _bad(error.message) from None
    return drafts


def _beginning(content: dict[str, Any], steps: dict[str, Any], memory: Handoff) -> Draft:
    task = content["task"]
    status = validate.choice("status", task.get("status", "active"), rules.TASK_STATUSES)
    heads = {
        "kind": "task",
        "name": validate.line("name", task["name"], 500),
        "status": status if status in rules.OPEN else "active",
        "phase": foreign_statuses.read_phase(task.get("phase") or "received"),
        "reason": validate.optional("reason", task.get("reason"), 500),
        "attention": validate.optional("attention", task.get("attention"), 500),
        "next_step": validate.optional("next_step", task.get("next_step"), 2000),
        "blockers": validate.text_list("blockers", task.get("blockers"), 2000, 50) or None,
    }
    if steps:
        version = validate.whole("plan_version", task["plan_version"], 0, 1 << 40)
        heads |= {"plan_version": max(1, version), "plan_seq": 1}
    home = {name: task.get(name) for name in _HOME}
    context = task.get("context")
    mode = validate.choice("approval mode", task.get("approval_mode", "auto"), rules.APPROVAL_MODES)
    extras: dict[str, Any] = {
        "goal": validate.optional("goal", task.get("goal"), memory.settings.max_text_bytes),
        "context": None if context is None else validate.dumps(context),
        "acceptance": task.get("acceptance") or None,
        "approval_mode": mode,
        "metadata": {**(task.get("metadata") or {}), "received_from": home},
    }
    files = [
        {
            "path": validate.line("a file's path", row["path"], 2000),
            "change": validate.choice("file change", row["change"], rules.FILE_CHANGES),
            "seq": 1,
            "at": validate.stamp(0),
        }
        for row in content["files"]
    ]
    sets: dict[str, Any] = {
        "heads": {name: value for name, value in heads.items() if value is not None},
        "+extras": {name: value for name, value in extras.items() if value is not None},
    }
    if steps:
        sets["+steps"] = steps
    if tags := validate.text_list("tags", task.get("tags")):
        sets["+labels"] = [[0, "tag", tag] for tag in tags]
    if files:
        sets["files"] = files
    request = validate.optional("request", task.get("request"), memory.settings.max_text_bytes)
    return Draft("task.registered", text=request, data={"received": home}, sets=sets, steps=tuple(steps))


def _steps(content: dict[str, Any], memory: Handoff) -> dict[str, Any]:
    """The steps of the plan, including dropped ones."""
    steps: dict[str, Any] = {}
    for ordinal, row in enumerate(content["steps"]):
        name = row["id"]
        if not isinstance(name, str) or not rules.is_slug(name) or name in steps:
            raise ValueError(f"{name!r:.40} cannot be a step's id")
        cells = {column: row[column] for column in _STEP_CELLS if row.get(column) not in (None, [], {})}
        cells["title"] = validate.line("a step's title", row["title"], 4000)
        cells["status"] = validate.choice("step status", row["status"], rules.ITEM_STATUSES)
        for column in ("started_at", "completed_at"):
            if column in cells:
                cells[column] = validate.moment(column, cells[column])
        steps[name] = {"plan_version": 1, **cells, "ordinal": ordinal}
    if len(steps) > memory.settings.max_plan_steps:
        raise ValueError(f"the plan has {len(steps)} steps")
    waits_for = {
        name: [part for part in row.get("depends_on", []) if part in steps] for name, row in steps.items()
    }
    rules.check_dependencies(waits_for)
    for name, depends_on in waits_for.items():
        steps[name] = {**steps[name], "depends_on": depends_on}
    return steps


def _entry(row: dict[str, Any], kind: str | None, content: dict[str, Any], steps: dict[str, Any]) -> Draft:
    kind = validate.choice("entry type", kind or row["type"], rules.ENTRY_TYPES)
    data: dict[str, Any] = {**row.get("data", {}), "received": _received(row, content)}
    if row.get("detail") is not None:
        data["detail"] = validate.text("detail", row["detail"], 1 << 30)
    labels = [("tag", tag) for tag in validate.text_list("tags", row.get("tags"))]
    labels += [("item", name) for name in validate.text_list("relevance_to", row.get("relevance_to"), 64)]
    key = validate.optional("key", row.get("key"), 500)
    if kind == "variable":
        validate.line("a variable's name", key, 200)
    return Draft(
        kind,
        text=validate.line("summary", row["summary"], 1 << 30),
        data=data,
        item=row.get("step") if row.get("step") in steps else None,
        labels=labels,
        record={"type": kind, "status": "active", "key": key},
    )


def _effect(row: dict[str, Any], content: dict[str, Any], steps: dict[str, Any]) -> Draft:
    verify = validate.optional("verify", row.get("verify"), 1 << 30)
    status = validate.choice("status of a side effect", row["status"], ("intended", "unknown"))
    return Draft(
        "intent",
        text=validate.line("a side effect", row["what"], 1 << 30),
        data={"verify": verify, "received": _received(row, content)},
        item=row.get("step") if row.get("step") in steps else None,
        record={"type": "effect", "status": status},
    )


def _received(row: dict[str, Any], content: dict[str, Any]) -> dict[str, Any]:
    """The original source of an entry, stored with it because its origin in this store is `import`."""
    by = row.get("by") or row.get("channel")
    home = {"task": content["task"].get("id"), "seq": row.get("seq"), "at": row.get("at"), "by": by}
    return {name: value for name, value in home.items() if value is not None}


def _bad(reason: str) -> InvalidInput:
    return InvalidInput(
        "import_invalid",
        f"The capsule is not valid: {reason}",
        "Pass the complete, unchanged text from task_handoff. Nothing was written.",
    )
