"""Calls that failed before, while nothing has changed that could make them work."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ...model import rules
from ...model.types import is_dict
from ...packet import encode
from ...signals.calls.command_form import (
    CommandForm,
    command_form,
    passes_by_itself,
    same_try,
)
from ...signals.calls.failures import error_line, fingerprint, rejection
from ...signals.calls.tools import PATH_FIELDS, first_text, is_edit
from ...store.tx import Row
from ..hook_parts.calls import command_line
from .attempt import Attempt, Look, changes, clock, quoted

_SAME_ERRORS = 3
# How an error begins when the host refused the call.
_REFUSALS = (
    "<tool_use_error>",
    "tool use error: ",
    "[Request interrupted",
    "[Tool call interrupted",
    "Permission",
    "This command requires",
)


class _Tries:
    """The failed tries of a call since it last worked, or since the user spoke."""

    def __init__(self) -> None:
        self.last: Row | None = None  # the newest one
        self.error = ""
        self.count = 0  # those in a row with the same error
        self.moved = False  # whether anything may have changed since the newest one
        self.changed: list[str] = []  # files edited since then, the newest first
        self.worked = ""  # the command that worked when it was started in another way


class Failures(Look):
    """Compares a call with those that failed."""

    def failed(self) -> str:
        """A line if the same command failed and nothing has changed since, or if it keeps failing."""
        attempt = self._attempt
        if not attempt.command or not attempt.form.parts or attempt.form.reads or attempt.form.waits:
            return ""
        tries = self._earlier_tries()
        if tries is None or tries.last is None:
            return ""
        last, count = tries.last, tries.count
        symptom = str(json.loads(last["data"]).get("error"))
        if tries.worked and not _is_started_alike(tries.worked, attempt):
            more = f"what worked instead: {quoted(tries.worked)}"
            return _failed_line(last, attempt, symptom, count, more)
        if count >= _SAME_ERRORS and tries.moved:
            since = "changes in between did not help"
            if tries.changed:
                since = f"last changed {encode.name(os.path.basename(tries.changed[0]))}"
            return _failed_line(last, attempt, symptom, count, since)
        if tries.moved or (passes_by_itself(symptom) and count < _SAME_ERRORS) or self._others_at_work(last):
            return ""
        return _failed_line(last, attempt, symptom, count, "nothing was changed since")

    def _earlier_tries(self) -> _Tries | None:
        """The failed tries of the call; None if it has worked since."""
        attempt, tries = self._attempt, _Tries()
        for row in self._thread:
            if row["channel"] == "user":
                break
            if row["event_type"] != "action":
                continue
            data = json.loads(row["data"])
            error, given = data.get("error"), data.get("input")
            command = command_line(given) if is_dict(given) else ""
            form = command_form(command, attempt.root) if command else CommandForm()
            alike = bool(form.parts) and form.key == attempt.form.key and data.get("tool") == attempt.tool
            if error is None and alike:
                if tries.last is not None:
                    break
                if form.parts[0].launch == attempt.form.parts[0].launch:
                    return None
                tries.worked = tries.worked or command
            elif error is None:
                if tries.last is None and changes(row, data):
                    tries.moved = True
                    tries.changed += [path] if (path := _edited(data)) else []
            elif _is_refusal(str(error)):
                continue
            elif alike and same_try(form, attempt.form, str(error)):
                mark = fingerprint(error_line(str(error)) or str(error))
                if tries.last is None:
                    tries.last, tries.error = row, mark
                elif mark != tries.error:
                    break
                tries.count += 1
            elif tries.last is None and changes(row, data, failed=True):
                tries.moved = True
        return tries

    def _others_at_work(self, since: Row) -> bool:
        """Whether another task of this workspace changed last: it may have changed anything."""
        statuses = (*rules.OPEN, *rules.ENDED)
        found = self._tx.cards(statuses, 1, workspace=self._memory.workspace)
        return any(head["task_id"] != since["task_id"] for head in found)


def _is_refusal(error: str) -> bool:
    """Whether the host or the user refused a call, so that the command itself did not fail."""
    return error.startswith(_REFUSALS) or rejection(error) is not None


def _is_started_alike(command: str, attempt: Attempt) -> bool:
    """Whether a command was started in the same way as this one."""
    mine, other = attempt.form.parts[0], command_form(command, attempt.root).parts[0]
    return (other.launch, other.env) == (mine.launch, mine.env)


def _edited(data: Mapping[str, Any]) -> str:
    """The file that an action edited; empty if it edited none."""
    given = data.get("input")
    if not is_dict(given) or not is_edit(str(data.get("tool") or ""), given):
        return ""
    return first_text(given, PATH_FIELDS)


def _failed_line(row: Row, attempt: Attempt, error: str, count: int, more: str) -> str:
    times = f" {count} times with the same error, last" if count > 1 else ""
    what = f"{quoted(attempt.shown)} failed{times} at {clock(row)}"
    return f"Task memory, #{row['seq']}: {what}, and {more}; it said {quoted(error_line(error) or error)}."
