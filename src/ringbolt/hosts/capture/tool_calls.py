"""Tool calls: what was done, what was refused, and the agent's to-do list."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...ledger.values import OPEN_EFFECTS
from ...model.lazy_regex import lazy_regex
from ...model.trust import is_users
from ...model.types import Written, is_dict
from ...signals.calls.failures import clean_output, is_refusal
from ...signals.calls.run_kinds import is_narrow
from ...signals.calls.tools import PATH_FIELDS, first_text, is_edit, is_shell
from ...signals.effects.side_effects import side_effects
from ...store.tx import Row
from ..hook_parts.cleaning import clipped as clipped
from ..transcripts.events import as_text
from .side_effects import SideEffects

SUMMARY_CHARACTERS = 300
# Fields of a tool's input that say what it is about, the best first.
_DESCRIBING = "description command cmd file_path path notebook_path pattern query url".split()
# Words of a check that say nothing about what is checked.
_NAME_PARTS = lazy_regex(r"[a-z]{4,}")
_CHECK_WORDS = frozenset("test tests spec pytest jest vitest python cargo unit integration npx exec".split())
_MOST_REFUSALS = 30  # of a task's exclusions, the newest
_PERMISSION = "permission "  # begins the signature of a refusal
_SAME = 200  # characters that two calls must have in common to be the same
_PATCH = "*** Begin Patch"
_CHANGES = {"*** Add File:": "created", "*** Update File:": "modified", "*** Delete File:": "deleted"}


class ToolCalls(SideEffects):
    """Writes the tool calls of a session."""

    def tool(
        self,
        name: str,
        tool_input: Any,
        output: Any = None,
        *,
        failed: bool = False,
        interrupted: bool = False,
        receipt: bool = False,
        duration_ms: float | None = None,
        key: str | None = None,
    ) -> Written:
        """A tool call has ended; a `receipt` shows whether the active step is really done.

        One that the user `interrupted` neither worked nor failed.
        """
        fields: Mapping[str, Any] = tool_input if is_dict(tool_input) else {}
        kept = clipped(clean_output(as_text(output), failed=failed))
        summary, outcome = summary_of(name, fields), "failed" if failed else "completed"
        if interrupted:
            summary, outcome, failed, kept = f"{summary} (interrupted by the user)", "skipped", False, None
        receipt = receipt and self._is_about_step(first_text(fields, ("command", "cmd")))
        edits = is_edit(name, fields)
        patched = patched_files(fields)
        written = self._on_task(
            lambda: self._tool.task_log_action(
                None,
                summary,
                type="edit" if edits or patched else "cli" if is_shell(name) else "tool",
                status=outcome,
                tool=name[:500],
                input=tool_input,
                output=None if failed else kept,
                error=kept if failed else None,
                duration_ms=duration_ms,
                files=None
                if outcome != "completed"
                else patched or ([first_text(fields, PATH_FIELDS)] if edits else None),
                receipt=receipt,
                key=key,
            )
        )
        self._settle_effects(
            name, tool_input, as_text(output), failed=failed, interrupted=interrupted, key=key
        )
        if not interrupted and not (failed and is_refusal(kept or "")):
            self._allowed(written.task_id, name, fields)
        return self._woken(self._agent, written)

    def _is_about_step(self, command: str) -> bool:
        """Whether a check is about the current step: one of everything, or one that shares a word with it."""
        own = self._own_task()
        if not is_narrow(command) or own is None:
            return True
        task = self._agent.task_get(own)
        about = f"{task.current_title or ''} {' '.join(file.path for file in task.files[-20:])}".lower()
        words = {word for word in _NAME_PARTS.findall(command.lower()) if word not in _CHECK_WORDS}
        return any(word in about for word in words)

    def refused(self, name: str, tool_input: Any, reason: str, *, by_user: bool, key: str) -> Written | None:
        """The host or the user did not allow a tool call: nothing was tried, so nothing failed.

        The same refusal is written once, and stands until the same call is made after all.
        """
        for effect in side_effects(name, tool_input):
            task = self._own_task()
            for row in self._effects(task, OPEN_EFFECTS, effect.signature)[:1] if task else ():
                note = f"not allowed: {reason}" if reason else "not allowed"
                self._tool.task_outcome(task, intent=row["seq"], outcome="did_not", note=note)
        fields: Mapping[str, Any] = tool_input if is_dict(tool_input) else {}
        what = summary_of(name, fields)
        if any(one.summary == what for one in self._task().exclusions):
            return None
        memory = self._user if by_user else self._tool
        why = f"not allowed by the {'user' if by_user else 'host'}: {reason or 'no reason given'}"
        return self._on_task(
            lambda: memory.task_exclude(
                None, what=what, why=why, signature=_permission(name, fields), tags=["permission"], key=key
            )
        )

    def _allowed(self, task_id: str, name: str, fields: Mapping[str, Any]) -> None:
        """A call was made: if it had not been allowed before, that is over."""
        what = summary_of(name, {**fields, "description": None})
        rows = self._agent.store.read(
            lambda tx: tx.records(task_id, "exclusion", ("active",), _MOST_REFUSALS)
        )
        over = [row for row in rows if _refuses(row, name, what)]
        # A host makes a call that the user refused only once the user allows it: that is the user's doing.
        for memory, by_user in ((self._user, True), (self._tool, False)):
            if seqs := [row["seq"] for row in over if is_users(row["channel"]) == by_user]:
                memory.task_remember(task_id, resolves=seqs)

    def todo(self, items: Sequence[Mapping[str, Any]], *, key: str | None = None) -> Written:
        """The agent's to-do list now has these items."""
        return self._on_task(lambda: self._agent.task_plan_sync(None, items, key=key))

    def todo_changed(
        self, item: str | None, *, title: str | None = None, status: str | None = None, key: str | None = None
    ) -> Written | None:
        """The agent added an item to its to-do list, changed one, or deleted it (the status `deleted`).

        `item` is the list's own id of it.
        """
        task = self._task()
        listed: list[dict[str, Any]] = [
            {"id": step.detail.get("list_id"), "title": step.title, "status": step.status}
            for step in task.steps
            if step.dropped_in is None and not task.plan_inferred
        ]
        own = next((row for row in listed if item is not None and row["id"] == item), None)
        if own is None:
            if title is None:
                return None
            own = {"id": item, "title": title, "status": "pending"}
            listed.append(own)
        if status == "deleted":
            listed.remove(own)
        else:
            own |= {name: value for name, value in (("title", title), ("status", status)) if value}
        return self._agent.task_plan_sync(task.id, listed, key=key)


def _permission(tool: str, tool_input: Mapping[str, Any]) -> str:
    """The signature of the permission to make a call: the tool and its input, without a description."""
    return f"{_PERMISSION}{summary_of(tool, {**tool_input, 'description': None})}"


def _refuses(row: Row, tool: str, what: str) -> bool:
    """Whether an exclusion says that a call was not allowed, as the host reported or the extraction found."""
    if row["key"] == f"{_PERMISSION}{what}":
        return True
    found = json.loads(row["data"])
    return bool(found.get("rejected")) and f"{tool}: {found.get('what')}"[:_SAME] == what[:_SAME]


def patched_files(tool_input: Mapping[str, Any]) -> list[dict[str, str]]:
    """The files that a patch in a tool's input adds, changes or deletes."""
    text = next(
        (value for value in tool_input.values() if isinstance(value, str) and _PATCH in value[:200]), ""
    )
    found: dict[str, str] = {}
    for line in text.splitlines():
        for begin, change in _CHANGES.items():
            if line.startswith(begin) and line[len(begin) :].strip():
                found[line[len(begin) :].strip()[:2000]] = change
    return [{"path": path, "change": change} for path, change in found.items()]


def summary_of(tool: str, tool_input: Mapping[str, Any]) -> str:
    """A tool call in a line."""
    texts = (
        tool_input[name]
        for name in _DESCRIBING
        if isinstance(tool_input.get(name), str) and tool_input[name].strip()
    )
    line = " ".join(next(texts, "")[: 2 * SUMMARY_CHARACTERS].split())[:SUMMARY_CHARACTERS]
    return f"{tool}: {line}" if line else tool or "tool"
