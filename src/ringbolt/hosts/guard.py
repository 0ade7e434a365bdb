"""The guard: one line before a tool call that the agent would regret.

It speaks of four things, the most important first:

1. The call did something outside before (a release, a message, a deployment) and would do it again, or
   nobody knows whether it did.
2. The user forbade it, or rejected the same call; or it was ruled out with `task_exclude`. This holds in
   the whole repository and in later sessions, until the user asks for it.
3. It failed, and nothing has changed since that could make it work.
4. It failed several times in a row with the same error, whatever was changed in between.

It advises, and never blocks; with the setting `guard = ask` the host asks the user in the first two cases.
In a task whose approval mode is `confirm` or `manual`, the host asks before any side effect that the user has
not approved yet, whatever the setting says.
Most repetitions have a reason, so it keeps silent where it cannot tell: a false alarm is worse than none.
See docs/explanation/guard.md.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..hook_memory import HookMemory
from ..ledger import approvals
from ..ledger.step_changes import EDIT
from ..model import rules, validate
from ..model.lazy_regex import lazy_regex
from ..model.types import Value, is_dict
from ..packet import encode
from ..signals.calls.command_form import (
    CommandForm,
    changes_nothing,
    command_form,
    includes,
    only_reads,
    passes_by_itself,
    same_try,
)
from ..signals.calls.failures import error_line, fingerprint, rejection
from ..signals.calls.tools import PATH_FIELDS, first_text, is_edit, is_read_only, may_edit
from ..signals.effects.side_effects import SideEffect, side_effects
from ..signals.prohibitions import Call, goes_against, lifts, names_again, read_call, tool_call
from ..store.tx import Row, Tx
from .capture import patched_files
from .guard_queries import changed_tasks, user_words
from .guard_rules import Rule, current_rules
from .hook_parts.calls import call_heads, command_line

_MOST_SINCE = 150  # events compared with a call
_MOST_FAILED = 20  # failures whose programs a session's card has
_MOST_OTHERS = 8  # tasks of the repository whose side effects count, besides the session's own
_MOST_DONE = 60  # actions of each of these tasks that may show that a rejected call was made after all
_MOST_EFFECTS = 100  # side effects of the task that are compared
_SAME_ERRORS = 3
_SHOWN = 160
_RECENT = 7 * 86_400  # how long a side effect of another task is remembered
# Side effects that a change in between makes worth repeating; all others are done once.
_DEPENDS_ON_STATE = frozenset(
    "push publish image deploy infrastructure container service migration upload remote storage".split()
)
# Those of them that depend on local files alone: what other calls did outside makes no difference.
_DEPENDS_ON_FILES = frozenset("push publish image upload".split())
# Those that nobody minds twice.
_HARMLESS = frozenset("local_http container service".split())
# The host refused; the command itself did not fail.
_REFUSALS = (
    "<tool_use_error>",
    "tool use error: ",
    "[Request interrupted",
    "[Tool call interrupted",
    "Permission",
    "This command requires",
)
_AGAIN = lazy_regex(
    r"(?i)\b(?:again|once more|another|second|repeat|redo|re-?(?:run|send|try|do|post|open|create"
    r"|publish|deploy|apply|push))\b"
)
# A reason for a rejection that is not only about the moment.
_STANDING = lazy_regex(
    r"(?i)n['’]t\b|\b(?:not|never(?! mind)|no|keep|leave|forbidden|wrong|stop|instead|avoid)\b"
)

APPROVAL, EFFECT, RULED_OUT, FAILED = "approval", "effect", "ruled out", "failed"


class Warned(Value, frozen=True, kw_only=True):
    """A line about a call that is about to be made, and why: approval, effect, ruled out or failed."""

    text: str
    kind: str


class Attempt:
    """A call that is about to be made."""

    def __init__(self, tool: str, given: Any, root: str, tool_use_id: str = "") -> None:
        self.tool, self.root, self.id = tool, root, tool_use_id
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


def advice(memory: HookMemory, task_id: str | None, tool: str, given: Any, tool_use_id: str = "") -> str:
    """A line about a call that is about to be made; empty if there is nothing to say."""
    found = warning(memory, task_id, tool, given, tool_use_id)
    return found.text if found else ""


def warning(
    memory: HookMemory, task_id: str | None, tool: str, given: Any, tool_use_id: str = ""
) -> Warned | None:
    """What to say before a call, if anything; `task_id` is the task of the session, if it has one."""
    if is_read_only(tool):
        return None
    attempt = Attempt(tool, given, memory.workspace or "", tool_use_id)

    def work(tx: Tx) -> Warned | None:
        thread = tx.thread(task_id, _MOST_SINCE, None) if task_id else []
        found = _Look(memory, tx, task_id, attempt, thread)
        if text := found.unapproved():
            return Warned(text=text, kind=APPROVAL)
        if memory.settings.guard == "off":
            return None
        if text := found.repeated_effect():
            return Warned(text=text, kind=EFFECT)
        if text := found.ruled_out():
            return Warned(text=text, kind=RULED_OUT)
        if text := found.failed():
            return Warned(text=text, kind=FAILED)
        return None

    return memory.store.read(work)


class _Look:
    """One look at the ledger for a call."""

    def __init__(
        self, memory: HookMemory, tx: Tx, task_id: str | None, attempt: Attempt, thread: list[Row]
    ) -> None:
        self._memory, self._tx, self._task, self._attempt, self._thread = memory, tx, task_id, attempt, thread
        self._now = validate.stamp(time.time())

    # --- approval

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

    # --- side effects

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
        begun = f"Task memory, #{row['seq']}: {_quoted(row['text'])}"
        check = f"; check first: {_quoted(data['verify'])}" if data.get("verify") else ""
        if kinds and kinds <= _HARMLESS:
            return ""
        if row["status"] != "did":
            if kinds and kinds <= _DEPENDS_ON_FILES and here:
                return ""  # to push once more does no harm
            check = check or "; check before you repeat it"
            return f"{begun} was begun at {_clock(row)} and its outcome is not known{check}."
        if self._is_due_again(row["seq"], kinds, here=here):
            return ""
        return f"{begun} was done at {_clock(row)}; doing it again would repeat its side effect{check}."

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

    def _changed_since(self, seq: int) -> bool:
        """Whether anything may have changed after an event of the thread."""
        later = [row for row in self._thread if row["seq"] > seq]
        return any(row["channel"] == "user" or _changes(row) for row in later)

    def _done(self, wanted: list[SideEffect]) -> str:
        """A line about the same side effect among the actions of the task."""
        for row, data in _actions(self._thread):
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
        parts = [f"Task memory, #{row['seq']}: {_quoted(self._attempt.shown)} was done at {_clock(row)}"]
        parts += [f"it said {_quoted(said)}"] if said else []
        parts.append(
            f"doing it again would repeat its side effect{f'; check: {_quoted(check)}' if check else ''}"
        )
        return "; ".join(parts) + "."

    def _done_elsewhere(self, wanted: list[SideEffect]) -> str:
        """A line about the same side effect in another task of the repository."""
        memory = self._memory
        oldest = validate.stamp(time.time() - _RECENT)
        heads = changed_tasks(self._tx, memory.workspace, memory.repository, 0, _MOST_OTHERS + 1)
        for head in heads if memory.workspace else ():
            if head["task_id"] == self._task:
                continue
            for row in self._tx.records(head["task_id"], "effect", ("did", "intended", "unknown"), 50):
                if row["timestamp"] >= oldest and self._is_announced(row["text"], row["key"]):
                    if text := self._effect_line(row, wanted, here=False):
                        return text
                    break  # the newest decides
        return ""

    # --- what was ruled out

    def ruled_out(self) -> str:
        """A line if the call was forbidden, rejected or excluded."""
        calls = list(self._attempt.calls())
        if not calls:
            return ""
        found = current_rules(self._tx, self._memory.workspace, self._memory.repository)
        for rule in reversed(found):
            text = ""
            if rule.kind == "exclusion":
                text = self._excluded(rule, calls)
            elif rule.kind == "rejection":
                if self._attempt.form.parts and rule.form.key == self._attempt.form.key:
                    text = self._rejected(rule, rejection(str(rule.data.get("error") or "")) or "")
            else:
                text = self._forbidden(rule, calls)
            if text:
                return text
        return ""

    def _excluded(self, rule: Rule, calls: list[Call]) -> str:
        data = rule.data
        if data.get("until") and data["until"] <= self._now:
            return ""  # it may be tried again
        if data.get("inferred"):
            return self._dead_end(rule)
        form = self._attempt.form
        # Reading what an exclusion is about goes against it only where the exclusion is of a reading itself.
        reads = all(only_reads(part) for part in rule.form.parts)
        parts = [part for part in form.parts if reads or not only_reads(part)]
        by_form = bool(rule.form.parts) and all(
            any(includes(mine, other) for mine in parts) for other in rule.form.parts
        )
        same_file = _same_text(f"{self._attempt.tool} {self._attempt.path}", rule)
        if by_form or same_file or any(goes_against(one, call) for one in rule.forbids for call in calls):
            return _exclusion_line(rule)
        return ""

    def _dead_end(self, rule: Rule) -> str:
        """A line about an attempt that failed while another worked, as long as its reason holds."""
        form = self._attempt.form
        if not form.parts or form.reads or rule.task != self._task:
            return ""  # another edit of the same file is another attempt
        # The exclusion has the command only in short.
        tried = self._form_of(rule)
        if rule.data.get("rejected"):
            return self._rejected(rule, str(rule.data.get("why") or "")) if tried.key == form.key else ""
        symptom = str(rule.data.get("symptom") or rule.data.get("why") or "")
        if not same_try(tried, form, symptom) or not self._still_holds(rule):
            return ""
        return _exclusion_line(rule)

    def _form_of(self, rule: Rule) -> CommandForm:
        """The form of the command that an inferred exclusion is about."""
        first = min((seq for seq in rule.data.get("from") or () if isinstance(seq, int)), default=0)
        event = self._tx.event(rule.task, first) if first else None
        given = json.loads(event["data"]).get("input") if event and event["data"] else None
        return command_form(command_line(given), self._attempt.root) if is_dict(given) else CommandForm()

    def _still_holds(self, rule: Rule) -> bool:
        """Whether an inferred failure still holds: no edit since, and the call has not worked."""
        failed = min((seq for seq in rule.data.get("from") or () if isinstance(seq, int)), default=0)
        edits = self._tx.records(rule.task, "action", ("completed",), 1, key=EDIT)
        if rule.data.get("worked") and edits and edits[0]["seq"] > failed:
            return False
        done = (
            data for row, data in _actions(self._thread) if row["seq"] > failed and data.get("error") is None
        )
        return not any(self._is_same_call(data) for data in done)

    def _is_same_call(self, data: Mapping[str, Any]) -> bool:
        given = data.get("input")
        if data.get("tool") != self._attempt.tool or not is_dict(given):
            return False
        form = command_form(command_line(given), self._attempt.root)
        return bool(form.parts) and form.key == self._attempt.form.key

    def _rejected(self, rule: Rule, why: str) -> str:
        """A line about a call that the user rejected.

        Most rejections are about the moment ("rebase first") and end with the next change or prompt. One
        whose reason forbids or keeps something holds until the user names it, or the call was made after all.
        """
        if self._attempt.form.reads:
            return ""
        if not _STANDING.search(why):
            if rule.task != self._task or self._changed_since(rule.seq):
                return ""
        elif self._was_done_after(rule):
            return ""
        words = {
            word.lower()
            for part in self._attempt.form.parts
            for word in (part.program, *part.words)
            if len(word) > 3
        }
        if any(names_again(words, text) for text in self._later_words(rule)):
            return ""
        reason = f": {_quoted(why)}" if why else ""
        call = _quoted(self._attempt.shown)
        return f"Task memory, #{rule.seq}: the user rejected {call} on {_day(rule.at)}{reason}."

    def _was_done_after(self, rule: Rule) -> bool:
        """Whether the same call worked after a rule: on its task, or on one that changed lately."""
        memory = self._memory
        heads = changed_tasks(self._tx, memory.workspace, memory.repository, 0, _MOST_OTHERS)
        for task in dict.fromkeys((rule.task, *(head["task_id"] for head in heads))):
            for row in self._tx.records(task, "action", ("completed",), _MOST_DONE):
                if row["timestamp"] > rule.at and self._is_same_call(json.loads(row["data"])):
                    return True
        return False

    def _forbidden(self, rule: Rule, calls: list[Call]) -> str:
        for one in rule.forbids:
            if rule.task != self._task and not one.outlasts_task():
                continue
            if any(goes_against(one, call) for call in calls) and not self._lifted(rule, one):
                said = f"Task memory, #{rule.seq}: the user said on {_day(rule.at)}: {_quoted(one.said)}"
                return f"{said} This call goes against it."
        return ""

    def _lifted(self, rule: Rule, one: Any) -> bool:
        return any(lifts(one, text) for text in self._later_words(rule))

    def _later_words(self, rule: Rule) -> Iterator[str]:
        """What the user said after a rule: on its task, and on that of this session."""
        for task in {rule.task, self._task or rule.task}:
            yield from (row["text"] for row in user_words(self._tx, task, rule.at))

    # --- what failed

    def failed(self) -> str:
        """A line if the same command failed and nothing has changed since, or if it keeps failing."""
        attempt = self._attempt
        if not attempt.command or not attempt.form.parts or attempt.form.reads or attempt.form.waits:
            return ""
        changed: list[str] = []
        worked = first_error = ""
        last: Row | None = None
        moved = False  # whether anything may have changed since the last failure
        count = 0
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
            if error is None:
                if alike and last is None:
                    if form.parts[0].launch == attempt.form.parts[0].launch:
                        return ""
                    worked = worked or command
                    continue
                if alike:
                    break
                if _changes(row, data):
                    moved = moved or last is None
                    changed += [_edited(data)] if last is None and _edited(data) else []
                continue
            symptom = str(error)
            if symptom.startswith(_REFUSALS) or rejection(symptom) is not None:
                continue
            if alike and same_try(form, attempt.form, symptom):
                mark = fingerprint(error_line(symptom) or symptom)
                if last is None:
                    last, first_error = row, mark
                elif mark != first_error:
                    break
                count += 1
            elif last is None and _changes(row, data, failed=True):
                moved = True
        if last is None:
            return ""
        symptom = str(json.loads(last["data"]).get("error"))
        if worked and not _is_worked_try(worked, attempt):
            return _failed_line(last, attempt, symptom, count, f"what worked instead: {_quoted(worked)}")
        if count >= _SAME_ERRORS and moved:
            since = (
                f"last changed {encode.name(os.path.basename(changed[0]))}"
                if changed
                else "changes in between did not help"
            )
            return _failed_line(last, attempt, symptom, count, since)
        if moved or (passes_by_itself(symptom) and count < _SAME_ERRORS) or self._others_at_work(last):
            return ""
        return _failed_line(last, attempt, symptom, count, "nothing was changed since")

    def _others_at_work(self, since: Row) -> bool:
        """Whether another task of this workspace changed last: it may have changed anything."""
        statuses = (*rules.OPEN, *rules.ENDED)
        found = self._tx.cards(statuses, 1, workspace=self._memory.workspace)
        return any(head["task_id"] != since["task_id"] for head in found)


def _is_worked_try(worked: str, attempt: Attempt) -> bool:
    """Whether the command that worked was started as this one is."""
    form = command_form(worked, attempt.root)
    return (form.parts[0].launch, form.parts[0].env) == (
        attempt.form.parts[0].launch,
        attempt.form.parts[0].env,
    )


def _actions(thread: Iterable[Row]) -> Iterator[tuple[Row, dict[str, Any]]]:
    for row in thread:
        if row["event_type"] == "action":
            yield row, json.loads(row["data"])


def _changes(row: Row, data: Mapping[str, Any] | None = None, *, failed: bool = False) -> bool:
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


def _changes_result(row: Row, kinds: set[str]) -> bool:
    """Whether an event may have changed what a side effect of these kinds does when it is repeated."""
    if not _changes(row):
        return False
    if not kinds <= _DEPENDS_ON_FILES:
        return True
    data = json.loads(row["data"])
    given = data.get("input")
    command = command_line(given) if is_dict(given) else ""
    active = [part for part in command_form(command).parts if not only_reads(part)]
    return not command or len(side_effects(str(data.get("tool") or ""), given)) < len(active)


def _edited(data: Mapping[str, Any]) -> str:
    given = data.get("input")
    return (
        first_text(given, PATH_FIELDS)
        if is_dict(given) and is_edit(str(data.get("tool") or ""), given)
        else ""
    )


def heads_of_interest(tx: Tx, task_id: str) -> Iterator[str]:
    """The programs of a task that failed lately, for the card of its session."""
    for row in tx.records(task_id, "action", ("failed",), _MOST_FAILED):
        data = json.loads(row["data"])
        given = data.get("input")
        if is_dict(given):
            yield from call_heads(str(data.get("tool") or ""), given)
    for row in tx.records(task_id, "effect", ("intended", "unknown", "did"), _MOST_FAILED):
        yield from call_heads("", {"command": row["text"] or ""})
        if row["key"] and " " in row["key"]:
            yield from call_heads("", {"command": row["key"]})


# --- lines ------------------------------------------------------------------------------------------


def _quoted(text: Any) -> str:
    return encode.quoted(encode.clip(str(text), _SHOWN))


def _clock(row: Row) -> str:
    return f"{row['timestamp'][11:16]} UTC"


def _day(at: str) -> str:
    return at[:10]


def _same_text(attempt: str, rule: Rule) -> bool:
    """Whether a call is word for word what was excluded; of a long one, only the beginning was kept."""
    attempt = " ".join(attempt.split())
    for known in (rule.text, rule.data.get("what")):
        text = " ".join(known.split()) if isinstance(known, str) else ""
        if text.endswith("…"):
            if len(text) > 100 and attempt.startswith(text[:-1]):
                return True
        elif text and text == attempt:
            return True
    return False


def _exclusion_line(rule: Rule) -> str:
    data = rule.data
    outcome = "rejected before" if data.get("rejected") else "tried before and did not work"
    parts = [f"Task memory, #{rule.seq}: {_quoted(data.get('what') or rule.text)} was {outcome}"]
    for name, word in (("symptom", "symptom"), ("why", "reason"), ("worked", "what worked instead")):
        if (text := data.get(name)) and isinstance(text, str):
            parts.append(f"{word}: {_quoted(text)}")
    return "; ".join(parts) + "."


def _failed_line(row: Row, attempt: Attempt, error: str, count: int, more: str) -> str:
    times = f" {count} times with the same error, last" if count > 1 else ""
    what = f"{_quoted(attempt.shown)} failed{times} at {_clock(row)}"
    return f"Task memory, #{row['seq']}: {what}, and {more}; it said {_quoted(error_line(error) or error)}."
