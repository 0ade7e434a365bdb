"""Calls that would do something outside again, or that a person decides about."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from ...ledger import approvals
from ...model import validate
from ...model.lazy_regex import lazy_regex
from ...model.types import is_dict
from ...packet import encode
from ...signals.calls.command_form import (
    command_form,
    only_reads,
)
from ...signals.effects.side_effects import SideEffect, side_effects
from ...store.tx import Row
from ..hook_parts.calls import command_line
from .attempt import Look, actions, changes, clock, quoted
from .queries import MOST_OTHERS, changed_tasks

_RECENT = 7 * 86_400  # how long a side effect of another task is remembered
_MOST_EFFECTS = 100  # side effects of the task that are compared
# Side effects that a change in between makes worth repeating; all others are done once.
_DEPENDS_ON_STATE = frozenset(
    "push publish image deploy infrastructure container service migration upload remote storage".split()
)
# Those of them that depend on local files alone: what other calls did outside makes no difference.
_DEPENDS_ON_FILES = frozenset("push publish image upload".split())
# Those that may be repeated freely.
_HARMLESS = frozenset("local_http container service".split())
_AGAIN = lazy_regex(
    r"(?i)\b(?:again|once more|another|second|repeat|redo|re-?(?:run|send|try|do|post|open|create"
    r"|publish|deploy|apply|push))\b"
)


class Effects(Look):
    """Compares a call with the side effects on record."""

    def unapproved(self) -> str:
        """A line if the task's approval mode lets a person decide about the call, and nobody has yet."""
        wanted = [one for one in self._attempt.effects if one.kind not in _HARMLESS]
        if not self._task or not wanted:
            return ""
        mode = self._tx.extras(self._task)["approval_mode"]
        if mode not in (approvals.CONFIRM, approvals.MANUAL):
            return ""
        allowed = self._tx.records(self._task, approvals.KIND, (approvals.APPROVED,), _MOST_EFFECTS)
        for row in allowed:
            asks, _, seq = row["key"].partition(":")
            event = self._tx.event(self._task, int(seq)) if asks == "effect" else None
            effect = self._tx.record(self._task, int(seq)) if event else None
            if event and effect and self._is_announced(event["text"], effect["key"]):
                return ""
        what = wanted[0].kind.replace("_", " ")
        return (
            f"This task has the approval mode {mode}: the user decides whether to run"
            f" {encode.quoted(self._attempt.shown)} ({what}). Do not go around it."
        )

    def repeated_effect(self) -> str:
        """A line if the call did the same outside before, or may have."""
        if not self._attempt.effects and not self._attempt.command:
            return ""
        wanted = [one for one in self._attempt.effects if one.kind not in _HARMLESS]
        if self._attempt.effects and not wanted:
            return ""
        if text := self._announced(wanted):
            return text
        return self._done(wanted) or self._done_elsewhere(wanted) if wanted else ""

    def _announced(self, wanted: list[SideEffect]) -> str:
        """A line about a side effect of the task that the ledger has: one that was done, or may have been."""
        if not self._task:
            return ""
        acts = [row["seq"] for row in self._thread if row["event_type"] == "action"]
        rows = self._tx.records(self._task, "effect", ("did", "intended", "unknown"), _MOST_EFFECTS)
        rows = [row for row in rows if self._is_announced(row["text"], row["key"])]
        done = any(row["status"] == "did" for row in rows)
        for row in rows:
            if done and row["status"] == "unknown" and self._is_wanted_again(row["seq"]):
                continue  # the user knows that it was done, and wants it once more
            own = row["session"] == self._memory.origin.session
            if row["status"] == "intended" and own and not any(seq > row["seq"] for seq in acts):
                continue  # the call itself, which was announced a moment ago
            return self._effect_line(row, wanted, here=True)
        return ""

    def _is_announced(self, text: str | None, key: str | None) -> bool:
        form = self._attempt.form
        if key and any(key == one.signature for one in self._attempt.effects):
            return True
        return bool(form.parts) and any(
            command_form(one, self._attempt.root).key == form.key for one in (text, key) if one
        )

    def _effect_line(self, row: Row, wanted: list[SideEffect], *, here: bool) -> str:
        data = json.loads(row["data"])
        kinds = {str(data["kind"])} if data.get("kind") else {one.kind for one in wanted}
        begun = f"Task memory, #{row['seq']}: {quoted(row['text'])}"
        check = f"; check first: {quoted(data['verify'])}" if data.get("verify") else ""
        if kinds and kinds <= _HARMLESS:
            return ""
        if row["status"] != "did":
            if kinds and kinds <= _DEPENDS_ON_FILES and here:
                return ""  # to push once more does no harm
            check = check or "; check before you repeat it"
            return f"{begun} was begun at {clock(row)} and its outcome is not known{check}."
        if self._is_due_again(row["seq"], kinds, here=here):
            return ""
        return f"{begun} was done at {clock(row)}; doing it again would repeat its side effect{check}."

    def _is_due_again(self, seq: int, kinds: set[str], *, here: bool) -> bool:
        """Whether there is a reason to repeat a side effect: a change it depends on, or the user's wish."""
        depends = kinds <= _DEPENDS_ON_STATE
        if not here:
            return depends  # what changed since cannot be seen from this task
        later = [row for row in self._thread if row["seq"] > seq]
        spoken = [row for row in later if row["channel"] == "user"]
        unseen = bool(self._thread) and self._thread[-1]["seq"] > seq
        if depends and (unseen or spoken or any(_changes_result(row, kinds) for row in later)):
            return True
        return self._is_wanted_again(seq)

    def _is_wanted_again(self, seq: int) -> bool:
        """Whether the user asked after an event to do something again."""
        later = (row for row in self._thread if row["seq"] > seq and row["channel"] == "user")
        return any(_AGAIN.search(row["text"] or "") for row in later)

    def _done(self, wanted: list[SideEffect]) -> str:
        """A line about the same side effect among the actions of the task."""
        for row, data in actions(self._thread):
            if data.get("error") is not None or not self._same_effect(data):
                continue
            if self._is_due_again(row["seq"], {one.kind for one in wanted}, here=True):
                return ""
            return self._done_line(row, data, wanted)
        return ""

    def _same_effect(self, data: Mapping[str, Any]) -> bool:
        """Whether an action has a side effect of the call: by its signature or its form."""
        given = data.get("input")
        earlier = [
            one for one in side_effects(str(data.get("tool") or ""), given) if one.kind not in _HARMLESS
        ]
        if not earlier:
            return False
        if {one.signature for one in earlier} & {one.signature for one in self._attempt.effects}:
            return True
        if not self._attempt.command or not is_dict(given):
            return False
        form = command_form(command_line(given), self._attempt.root)
        programs = {one.signature.split()[0] for one in self._attempt.effects}
        for mine in self._attempt.form.parts:
            if not programs & {mine.program, *mine.launch.split()}:
                continue
            for other in form.parts:
                if mine.key == other.key and (
                    not mine.folder or not other.folder or mine.folder == other.folder
                ):
                    return True
        return False

    def _done_line(self, row: Row, data: Mapping[str, Any], wanted: list[SideEffect]) -> str:
        output = data.get("output")
        said = encode.clip(" ".join(output.split()), 80) if isinstance(output, str) else ""
        check = next((one.check for one in wanted if one.check), "")
        parts = [f"Task memory, #{row['seq']}: {quoted(self._attempt.shown)} was done at {clock(row)}"]
        parts += [f"it said {quoted(said)}"] if said else []
        parts.append(
            f"doing it again would repeat its side effect{f'; check: {quoted(check)}' if check else ''}"
        )
        return "; ".join(parts) + "."

    def _done_elsewhere(self, wanted: list[SideEffect]) -> str:
        """A line about the same side effect in another task of the repository."""
        memory = self._memory
        oldest = validate.stamp(time.time() - _RECENT)
        heads = changed_tasks(self._tx, memory.workspace, memory.repository, 0, MOST_OTHERS + 1)
        for head in heads if memory.workspace else ():
            if head["task_id"] == self._task:
                continue
            for row in self._tx.records(head["task_id"], "effect", ("did", "intended", "unknown"), 50):
                if row["timestamp"] >= oldest and self._is_announced(row["text"], row["key"]):
                    if text := self._effect_line(row, wanted, here=False):
                        return text
                    break  # the newest decides
        return ""


def _changes_result(row: Row, kinds: set[str]) -> bool:
    """Whether an event may have changed what a side effect of these kinds does when it is repeated."""
    if not changes(row):
        return False
    if not kinds <= _DEPENDS_ON_FILES:
        return True
    data = json.loads(row["data"])
    given = data.get("input")
    command = command_line(given) if is_dict(given) else ""
    active = [part for part in command_form(command).parts if not only_reads(part)]
    return not command or len(side_effects(str(data.get("tool") or ""), given)) < len(active)
