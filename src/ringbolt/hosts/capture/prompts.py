"""Prompts of the user: requests, instructions, and the words that only agree."""

from __future__ import annotations

from typing import Any

from ...ledger.current_task import DRAFT, UNNAMED, request_tags
from ...model.errors import RingboltError
from ...model.types import Entry, Task, Written
from ...requests.task_name import task_name
from ..handover import Handover, read_handover
from ..hook_parts.cleaning import clipped as clipped
from .requests import is_finished, judge_later, judged, request_begun_lately, requests_of, task_to_take_over
from .session_writer import SessionWriter

# Where a task keeps the key of the prompt that it was made of.
_FIRST = "first_prompt"
# Words of prompts that only agree or greet, and ask for nothing by themselves.
_ASSENT = frozenset(
    "yes y yep yeah yup ok okay sure k continue proceed go on ahead do it please thanks thank you great good"
    " nice cool perfect right correct fine done lgtm sounds looks and now keep going carry hi hello hey there"
    " morning".split()
)
_ASSENT_WORDS = 4
_INTERRUPTED = "[Request interrupted"


class Prompts(SessionWriter):
    """Writes what the user asks for."""

    def prompt(self, text: str, *, key: str | None = None) -> Written | None:
        """The user wrote something: the first prompt becomes the request of a task, later ones instructions.

        A greeting begins no task.
        """
        text = text.strip()
        if not text:
            return None
        if (handed := read_handover(text)) is not None:
            return self._taken_over(handed)
        own = self._own_task()
        if own is None:
            if self._agent.origin.session and (other := task_to_take_over(self._agent, text)):
                self._agent.task_focus(other)
                return self._woken(self._user, self._instructed(other, text, key))
            if is_assent(text):
                return None
            metadata: dict[str, Any] = {DRAFT: True} if key is None else {DRAFT: True, _FIRST: key}
            name = task_name(text) or UNNAMED
            return self._user.task_register(name, request=text, metadata=metadata, key=key)
        task = self._user.task_get(own)
        # A prompt that is reported again may be the one that the task was made of.
        if key is not None and task.metadata.get(_FIRST) == key:
            return None
        if is_assent(text):
            written = self._user.task_update(own, text, key=key)
            return written if written.status == "completed" else self._woken(self._user, written)
        if not task.request and DRAFT in task.metadata and not requests_of(task.instructions):
            # The first request of a draft that began without one.
            return self._woken(self._user, self._requested(task, text, finished=False, key=key))
        verdict = judged(self._agent, task, text)
        finished = is_finished(task, self._last_words(task))
        if verdict.is_new:
            return self._woken(self._user, self._requested(task, text, finished=finished, key=key))
        written = self._instructed(own, text, key)
        if verdict.is_unsure:
            judge_later(self._agent, task, text, written.seq, finished)
        return self._woken(self._user, written)

    def _taken_over(self, handed: Handover) -> Written | None:
        """This session continues a task that was handed over to it; the packet in its prompt is not news."""
        try:
            return self._woken(self._user, self._agent.task_focus(handed.task, key=f"handover/{handed.code}"))
        except RingboltError as error:
            if error.code not in ("key_reused", "task_not_found"):
                raise
            return None  # another session was first, or the task is in another store

    def _instructed(self, task: str, text: str, key: str | None) -> Written:
        return self._user.task_remember(task, text, type="user_instruction", key=key)

    def _requested(
        self, task: Task, text: str, *, finished: bool, key: str | None, replaces: Entry | None = None
    ) -> Written:
        """A new request of a task: it leads from now on, and gives a draft its name."""
        written = self._user.task_remember(
            task.id, text, type="user_instruction", key=key,
            tags=[*(replaces.tags if replaces else ()), *request_tags(finished)],
            detail=replaces and replaces.detail, supersedes=replaces and replaces.seq,
            data={**replaces.data, "from": [replaces.seq]} if replaces else None,
        )  # fmt: skip
        is_new = written.seq > task.seq  # and not the result of an earlier call with this key
        if is_new and DRAFT in task.metadata and (name := task_name(text)) not in ("", task.name):
            self._agent.task_update(task.id, name=name)
        return written

    def _last_words(self, task: Task) -> str:
        """What the agent said last."""
        rows = self._agent.store.read(lambda tx: tx.events(task.id, max(0, task.seq - 20), 20))
        messages = (row["text"] for row in reversed(rows) if row["channel"] == "agent" and row["text"])
        return next(messages, "")

    def _look_again(self, own: str) -> None:
        """Tag the instruction that turns out to have begun a request, by a copy that replaces it, once."""
        task = self._user.task_get(own)
        if found := request_begun_lately(self._agent, task):
            entry, finished = found
            self._requested(
                task, entry.summary, finished=finished, key=f"request/{entry.seq}", replaces=entry
            )


def is_assent(text: str) -> bool:
    """Whether a prompt only asks the agent to continue, or interrupts it."""
    if text.startswith(_INTERRUPTED):
        return True
    words = text.lower().replace(",", " ").replace(".", " ").replace("!", " ").split()
    return len(words) <= _ASSENT_WORDS and all(word in _ASSENT for word in words)
