# pyright: reportPrivateUsage=false
"""The story of a task for a reader who was not there: what was asked, done and decided, what failed, what
happened outside, and what is next. Every line names its event."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ...memory import TaskMemory
from ...model import rules
from ...model.types import Entry, Snapshot, Step
from ...signals.text_layout import cut, one_line, plain

MOST_LINES = 40
_TEXT, _WHY, _REQUEST = 320, 240, 4000
# Tags that hosts put around texts, such as <tool_use_error>.
_HOST_TAGS = re.compile(r"</?[a-z]+(?:[_-][a-z]+)+>")
_EFFECTS = {
    "intended": "begun, outcome not recorded",
    "unknown": "outcome unknown: check it before doing it again",
    "did": "done",
    "did_not": "did not happen",
    "undone": "undone",
    "superseded": "replaced by a later one",
}
_OF_SESSIONS = (rules.SESSION_ENDED, rules.SESSION_CONTINUES)
_EVIDENCE = {"verified": "a check confirmed it", "contradicted": "but its last check failed"}
Line = dict[str, Any]


def story(memory: TaskMemory, task_id: str) -> list[dict[str, Any]]:
    """The sections of a task's story in reading order; empty sections are left out."""
    state = memory._snapshot(task_id)
    of_task = _Lines(state)
    sections = (
        ("asked", "What was asked", of_task.asked()),
        ("done", "What was done", of_task.done()),
        ("decided", "What was decided, and why", of_task.decided()),
        ("failed", "What failed", of_task.failed()),
        ("outside", "What happened outside", of_task.outside()),
        ("next", "What is next", of_task.upcoming()),
    )
    shown: list[dict[str, Any]] = []
    for name, title, lines in sections:
        if found := list(lines):
            kept = found[:MOST_LINES]
            shown.append({"name": name, "title": title, "lines": kept, "left_out": len(found) - len(kept)})
    return shown


class _Lines:
    """The lines of each section, from the state of one task."""

    def __init__(self, state: Snapshot) -> None:
        self._state = state
        self._roots = [f"{root.rstrip('/')}/" for root in (state.workspace, state.repository) if root]

    def asked(self) -> Iterable[Line]:
        state = self._state
        if not state.requests:
            text = state.request or state.goal or state.name
            yield {**self._line("", seq=1, at=state.created_at), "text": self._whole(text)}
        for request in state.requests:
            note = {"finished": "finished", "open": "left open"}.get(request.status, "")
            line = self._line("", seq=request.seq, at=request.at, note=note)
            yield {**line, "text": self._whole(request.text)}

    def done(self) -> Iterable[Line]:
        state = self._state
        if state.answer:
            yield self._line(state.answer, seq=state.seq, at=state.updated_at)
        for item in state.steps:
            if item.status == "completed" and not item.dropped_in:
                yield self._step(item)
        tree = state.work_tree
        if tree is not None and tree.commit:
            yield self._line(f"Last commit: {tree.commit}", seq=tree.seq, at=tree.at, note=tree.branch or "")
        if tree is not None and tree.last_check:
            result = "ran" if tree.last_check_ok is None else "passed" if tree.last_check_ok else "failed"
            yield self._line(f"Last check: `{tree.last_check}`", seq=tree.seq, at=tree.at, note=result)
        if not state.answer and (said := self._last_said()) is not None:
            yield said

    def decided(self) -> Iterable[Line]:
        for entry in reversed(self._state.decisions):
            choice = str(entry.data.get("choice") or entry.summary)
            title = str(entry.data.get("title") or "")
            text = f"{title.rstrip(':')} → {choice}" if title and title not in choice else choice
            yield self._entry(entry, text, str(entry.data.get("reasoning") or entry.detail or ""))

    def failed(self) -> Iterable[Line]:
        state = self._state
        if state.error is not None:
            yield self._line(state.error.message, seq=state.seq, at=state.updated_at, tone="bad")
        for entry in reversed(state.errors):
            yield self._entry(entry, entry.summary, entry.detail or "", note="not settled", tone="bad")
        for entry in reversed(state.exclusions):
            refused = "refused by you" if entry.data.get("rejected") else "ruled out"
            what = str(entry.data.get("what") or entry.summary)
            yield self._entry(entry, what, str(entry.data.get("why") or ""), note=refused)
        for entry in reversed(state.resolved):
            if entry.type == "error":
                yield self._entry(entry, entry.summary, "", note="settled since", tone="good")

    def outside(self) -> Iterable[Line]:
        state = self._state
        for effect in (*state.effects, *reversed(state.settled)):
            tone = "bad" if effect.status in ("intended", "unknown") else ""
            note = _EFFECTS.get(effect.status, effect.status)
            yield self._line(
                effect.what, effect.outcome or "", seq=effect.seq, at=effect.at, note=note, tone=tone
            )

    def upcoming(self) -> Iterable[Line]:
        state = self._state
        for entry in state.questions:
            yield self._entry(
                entry, entry.summary, entry.detail or "", note="waits for your answer", tone="bad"
            )
        for wait in state.waits:
            yield self._line(wait.target, seq=wait.seq, at=wait.at, note="waiting for this")
        for blocker in state.blockers:
            yield self._line(blocker, seq=state.seq, at=state.updated_at, note="blocked by this", tone="bad")
        if state.next_step:
            yield self._line(state.next_step, seq=state.seq, at=state.updated_at)
        for item in state.steps:
            if item.id in (state.current, state.next) and item.status in ("active", "pending"):
                note = "under way" if item.status == "active" else "next step"
                yield self._line(item.title, item.note or "", seq=item.cause or 1, note=note)

    def _step(self, item: Step) -> Line:
        report = self._state.reports.get(item.id)
        why = report.text if report is not None and report.text != item.title else ""
        seq = report.seq if report is not None else item.cause or 1
        note = _EVIDENCE.get(item.evidence or "", "")
        return self._line(item.title, why, seq=seq, at=item.completed_at, note=note)

    def _last_said(self) -> Line | None:
        """The last thing that the agent said: for work without a plan, the best account there is."""
        for moment in self._state.recent:
            if (
                moment.type == "message"
                and moment.channel == "agent"
                and not moment.text.startswith(_OF_SESSIONS)
            ):
                return self._line(moment.text, seq=moment.seq, at=moment.at, note="the agent's last words")
        return None

    def _entry(self, entry: Entry, text: str, why: str, note: str = "", tone: str = "") -> Line:
        inferred = "" if note or not entry.data.get("inferred") else "inferred"
        return self._line(text, why, seq=entry.seq, at=entry.at, note=note or inferred, tone=tone)

    def _line(
        self, text: str, why: str = "", *, seq: int, at: str | None = None, note: str = "", tone: str = ""
    ) -> Line:
        text, why = self._clean(text, _TEXT), self._clean(why, _WHY)
        if why and plain(why).lower() in plain(text, 2 * _TEXT).lower():
            why = ""  # it only repeats the line
        return {"text": text, "why": why, "seq": seq, "at": at, "note": note, "tone": tone}

    def _clean(self, text: str, most: int) -> str:
        return one_line(self._local(text), most)

    def _whole(self, text: str) -> str:
        """A request with its lines, because people write lists."""
        return cut(self._local(text).strip(), _REQUEST)

    def _local(self, text: str) -> str:
        """A text without the tags of hosts, with paths from the repository."""
        text = _HOST_TAGS.sub(" ", text)
        for root in self._roots:
            text = text.replace(root, "")
        return text
