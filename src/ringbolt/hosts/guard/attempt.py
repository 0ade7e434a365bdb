"""A call that is about to be made, and what is known about the calls before it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...hook_memory import HookMemory
from ...model import validate
from ...model.types import is_dict
from ...packet import encode
from ...signals.calls.command_form import (
    CommandForm,
    changes_nothing,
    command_form,
)
from ...signals.calls.tools import PATH_FIELDS, first_text, is_edit, is_read_only, may_edit
from ...signals.effects.side_effects import side_effects
from ...signals.prohibitions import Call, read_call, tool_call
from ...store.tx import Row, Tx
from ..capture.tool_calls import patched_files
from ..hook_parts.calls import command_line

_SHOWN = 160


class Attempt:
    """A call that is about to be made."""

    def __init__(self, tool: str, given: Any, root: str) -> None:
        self.tool, self.root = tool, root
        self.fields: Mapping[str, Any] = given if is_dict(given) else {}
        self.command = "" if "patch" in tool.lower() else command_line(self.fields)
        self.form = command_form(self.command, root) if self.command else CommandForm()
        self.effects = side_effects(tool, self.fields)

    @property
    def shown(self) -> str:
        """The call in a few words."""
        return encode.clip(" ".join((self.command or f"{self.tool} {self.path}").split()), _SHOWN)

    @property
    def path(self) -> str:
        """The file that it changes."""
        return first_text(self.fields, PATH_FIELDS)

    def calls(self) -> Iterator[Call]:
        """The call as prohibitions look at it; a patch changes several files."""
        patched = [str(one["path"]) if is_dict(one) else str(one) for one in patched_files(self.fields) or ()]
        if self.command or patched or (self.path and may_edit(self.tool)):
            content = "\n".join(value for value in self.fields.values() if isinstance(value, str))
            for path in patched or [self.path]:
                yield read_call(self.command, path, content, self.root)
        elif "__" in self.tool:
            yield tool_call(self.tool, [value for value in self.fields.values() if isinstance(value, str)])


class Look:
    """One look at the ledger for a call; `thread` has the last events of its task, the newest first."""

    def __init__(
        self, memory: HookMemory, tx: Tx, task_id: str | None, attempt: Attempt, thread: list[Row]
    ) -> None:
        self._memory, self._tx, self._task, self._attempt, self._thread = memory, tx, task_id, attempt, thread
        self._now = validate.stamp(time.time())

    def _changed_since(self, seq: int) -> bool:
        """Whether anything may have changed after an event of the thread."""
        later = [row for row in self._thread if row["seq"] > seq]
        return any(row["channel"] == "user" or changes(row) for row in later)


def actions(thread: Iterable[Row]) -> Iterator[tuple[Row, dict[str, Any]]]:
    for row in thread:
        if row["event_type"] == "action":
            yield row, json.loads(row["data"])


def changes(row: Row, data: Mapping[str, Any] | None = None, *, failed: bool = False) -> bool:
    """Whether an event may have changed anything that a command depends on: not if it only read or tested."""
    if row["event_type"] != "action":
        return False
    known: Mapping[str, Any] = json.loads(row["data"]) if data is None else data
    tool, given = str(known.get("tool") or ""), known.get("input")
    if is_read_only(tool) or known.get("type") == "reasoning":
        return False
    fields: Mapping[str, Any] = given if is_dict(given) else {}
    command = command_line(fields)
    if not command:
        return not (failed and is_edit(tool, fields))  # an edit that failed changed nothing
    return not changes_nothing(command)


def quoted(text: Any) -> str:
    return encode.quoted(encode.clip(str(text), _SHOWN))


def clock(row: Row) -> str:
    return f"{row['timestamp'][11:16]} UTC"
