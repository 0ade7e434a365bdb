"""The context that a host's model gets from us: the state of its task, after a compaction or at the start."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from ...hook_memory import HookMemory
from ...ledger.current_task import FINISHED
from ...model.trust import is_users
from ...model.types import Snapshot
from ...packet import encode
from ...packet.operations import read_whole_task
from ...packet.resume import standing_orders, turn_block
from ...packet.resume_rows import request_seqs
from ..guard.warnings import APPROVAL, FAILED, warning
from ..hook_parts.system_calls import Late, set_alarm
from ..host_table import Host
from ..sessions import own_task, session_of
from .compaction_state import COMPACTED, DELIVERED, OFFERED, PENDING, Mark, delivers
from .due_line import due_line
from .open_tasks_text import open_tasks_text
from .packet_text import packet_text
from .stop_gate import unproven_claims

_SHARE = 0.6  # of the remaining time, for distilling before the packet is made
_NOTE_CHARACTERS = 4000


def _present_request(task: Snapshot) -> tuple[str | None, str | None]:
    """What is asked for now, and the channel that it came through."""
    if task.new_requests:
        return task.new_requests[-1].text, task.new_requests[-1].channel
    source = task.sources.get("request")
    return task.request, source.channel if source else None


class _Enough(Late):
    """The time for distilling is up; the packet is made from what there is."""


class Answers:
    """The answer to one event."""

    def __init__(
        self, memory: HookMemory, shape: Host, event: Mapping[str, Any], mark: Mark, end: float
    ) -> None:
        self._memory, self._shape, self._event, self._mark, self._end = memory, shape, event, mark, end
        self._marked = mark.read()
        self.asks = False  # whether the user is to decide on the call that the text is about

    def text(self) -> str:
        """The text for the model, or for the host's summary; empty if there is nothing to say."""
        name = self._event["event"]
        if name == "PreCompact":
            return self._before_compaction()
        if name == "SessionStart":
            return self._at_start()
        if name == "Heartbeat":
            return due_line(self._memory)
        if name == "PreToolUse":
            return self._advice()
        if self._marked == OFFERED and name == "UserPromptSubmit":
            self._mark.clear()  # the prompt took over none of the tasks
        if self._marked in (PENDING, COMPACTED) and name in delivers(self._shape):
            text = self._packet(distill=True)
            self._mark.clear()  # only now: if the packet fails, the next event asks for it again
            return text
        if name == "UserPromptSubmit" and self._memory.settings.hook_turn_block == "on":
            return self._turn()
        if name in ("Stop", "SessionEnd"):
            self.distill()  # while nobody waits for it
        return self._gate() if name == "Stop" else ""

    def distill(self) -> None:
        """Derive what follows from the events of the session's task."""
        if task := own_task(self._memory):
            self._distill(task)

    def _gate(self) -> str:
        """Why the turn should not end yet; empty for hosts that cannot be asked, and when asked again."""
        memory, is_on = self._memory, self._memory.settings.stop_gate == "on"
        if not is_on or not self._shape.holds or self._event.get("again") or self._event.get("agent_id"):
            return ""
        task = own_task(memory)
        return memory.store.read(lambda tx: unproven_claims(tx, self._mark.files, task)) if task else ""

    def _turn(self) -> str:
        """The state of the task in a few lines for the turn that begins, if it has changed."""
        memory, task_id = self._memory, own_task(self._memory)
        if task_id is None:
            return ""
        text = turn_block(memory.store.read(lambda tx: read_whole_task(memory, tx, task_id)))
        return text if self._mark.is_new_block(text) else ""

    def _at_start(self) -> str:
        if self._event.get("source") == "compact":
            if self._marked == DELIVERED:
                return ""  # asked again for the same compaction
            text = self._packet(distill=True)
            self._mark.set(DELIVERED, time.time())
            return text
        if packet := self._packet(distill=True):
            return packet
        if text := open_tasks_text(self._memory, self._shape):
            self._mark.set(OFFERED)
        return text

    def _packet(self, *, distill: bool) -> str:
        """The resume packet of this session's task, within what the host takes."""
        task = own_task(self._memory)
        if task is None:
            return ""
        if distill:
            self._distill(task)
        return packet_text(self._memory, task, self._shape)

    def _before_compaction(self) -> str:
        task = own_task(self._memory)
        if task is None:
            return ""
        note = self._note(task) if self._shape.notes else ""
        self._distill(task)
        return note

    def _note(self, task_id: str) -> str:
        """What the host's summary should keep word for word."""
        memory = self._memory
        task = memory.store.read(lambda tx: read_whole_task(memory, tx, task_id))
        lines = [
            f"This session has task {task.id} in the task memory, which keeps its ledger outside the context."
        ]
        lines += standing_orders(task)
        request, channel = _present_request(task)
        since = max(request_seqs(task), default=0)
        if request:
            whose = "The user's request, verbatim:" if is_users(channel) else "The request, as recorded:"
            lines += [whose, encode.margined(encode.clip(request, 1500))]
        if task.new_requests and task.request:
            done = task.new_requests[-1].before == FINISHED
            lines.append(
                f"Asked before that{', and finished' if done else ', not all of it finished'}:"
                f" {encode.quoted(encode.clip(encode.one_line(task.request), 200))}"
            )
        if later := [entry for entry in task.instructions if entry.seq > since]:
            lines.append("Instructions of the user since, verbatim:")
            lines += [encode.margined(encode.clip(entry.summary, 300)) for entry in later[-5:]]
        if task.current:
            title = next((item.title for item in task.steps if item.id == task.current), task.current)
            lines.append(f"The current step: {encode.quoted(encode.clip(title, 300))}")
        lines.append(
            "Paths, commands, versions, ids and error messages are worth keeping as they are written."
        )
        return "\n".join(lines)[:_NOTE_CHARACTERS]

    def _advice(self) -> str:
        memories, tool = [self._memory], str(self._event.get("tool") or "")
        if agent := str(self._event.get("agent_id") or ""):  # a helper's attempts are on its own task
            memories.insert(0, self._memory.acting_as(session=session_of(self._event, agent)))
        for memory in memories:
            found = warning(memory, own_task(memory), tool, self._event.get("input"))
            if found is not None:
                is_set = found.kind != FAILED and self._memory.settings.guard == "ask"
                self.asks = is_set or found.kind == APPROVAL
                return found.text
        return ""

    def _distill(self, task: str) -> None:
        """Derive what follows from the events, as far as the time allows; the next call continues."""
        share = (self._end - time.monotonic()) * _SHARE
        try:
            try:
                set_alarm(share, _Enough)
                self._memory.task_distill(task)
            finally:
                set_alarm(self._end - time.monotonic())
        except _Enough:
            return
