"""Calls that the user forbade or rejected, or that were excluded."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...ledger.step_changes import EDIT
from ...model.lazy_regex import lazy_regex
from ...model.types import is_dict
from ...signals.calls.command_form import (
    CommandForm,
    command_form,
    includes,
    only_reads,
    same_try,
)
from ...signals.calls.failures import rejection
from ...signals.prohibitions import Call, goes_against, lifts, names_again
from ..hook_parts.calls import command_line
from .attempt import Look, actions, quoted
from .queries import MOST_OTHERS, changed_tasks, user_words
from .rules import Rule, current_rules

_MOST_DONE = 60  # actions of each of these tasks that may show that a rejected call was made after all
# A reason for a rejection that is not only about the moment.
_STANDING = lazy_regex(
    r"(?i)n['’]t\b|\b(?:not|never(?! mind)|no|keep|leave|forbidden|wrong|stop|instead|avoid)\b"
)


class RuledOut(Look):
    """Compares a call with what is ruled out in the repository."""

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
            data for row, data in actions(self._thread) if row["seq"] > failed and data.get("error") is None
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
        reason = f": {quoted(why)}" if why else ""
        call = quoted(self._attempt.shown)
        return f"Task memory, #{rule.seq}: the user rejected {call} on {_day(rule.at)}{reason}."

    def _was_done_after(self, rule: Rule) -> bool:
        """Whether the same call worked after a rule: on its task, or on one that changed lately."""
        memory = self._memory
        heads = changed_tasks(self._tx, memory.workspace, memory.repository, 0, MOST_OTHERS)
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
                said = f"Task memory, #{rule.seq}: the user said on {_day(rule.at)}: {quoted(one.said)}"
                return f"{said} This call goes against it."
        return ""

    def _lifted(self, rule: Rule, one: Any) -> bool:
        return any(lifts(one, text) for text in self._later_words(rule))

    def _later_words(self, rule: Rule) -> Iterator[str]:
        """What the user said after a rule: on its task, and on that of this session."""
        for task in {rule.task, self._task or rule.task}:
            yield from (row["text"] for row in user_words(self._tx, task, rule.at))


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
    parts = [f"Task memory, #{rule.seq}: {quoted(data.get('what') or rule.text)} was {outcome}"]
    for name, word in (("symptom", "symptom"), ("why", "reason"), ("worked", "what worked instead")):
        if (text := data.get(name)) and isinstance(text, str):
            parts.append(f"{word}: {quoted(text)}")
    return "; ".join(parts) + "."
