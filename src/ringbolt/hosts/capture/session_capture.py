"""Capture: writes what happens in a session of a host to the ledger of its task.

There is one method for each thing that can happen, with one short transaction of core operations. What needs
more work (why an attempt failed, which names matter) is derived later from what is written here.
"""

from __future__ import annotations

from ...core.task_updates import write_captured
from ...model import rules
from ...model.types import Written
from ...requests.completion import says_done
from ..hook_parts.cleaning import clipped as clipped
from .prompts import Prompts
from .questions import Questions
from .tool_calls import ToolCalls


class Capture(Prompts, ToolCalls, Questions):
    """Writes the events of one session of a host, through a memory of that session."""

    def concluded(self, text: str, *, at_work: bool = False, key: str | None = None) -> Written | None:
        """What the agent says at the end of its turn; after a greeting there may be no task to write it to.

        If its plan is done and it says so, the task is taken to be completed, unless helpers are `at_work`.
        """
        message = clipped(text)
        if not message.strip():
            return None
        written = self._if_task(lambda: write_captured(self._agent, message, key))
        if written is None:
            return None
        is_done = written.status == "active" and 0 < written.total <= written.done
        if is_done and not at_work and says_done(text):
            self._agent.task_update(written.task_id, status="completed", reason=rules.INFERRED)
        elif written.status == "active":
            self._look_again(written.task_id)
        return written

    def session_over(self, reason: str, *, key: str | None = None) -> None:
        """The session ended; what it left open rests until somebody goes on with it."""
        written = self.aside(f"{rules.SESSION_ENDED}: {reason or 'no reason given'}.", key=key)
        if written and written.status == "active":
            self._tool.task_update(written.task_id, status="paused", reason=rules.SESSION_OVER)

    def helper_began(self, parent: str, name: str, *, request: str | None, key: str) -> Written:
        """The agent gave work to another agent, which has its own task; this capture is that one's."""
        return self._agent.task_register(name[:120], request=request, parent=parent, key=key)

    def helper_ended(self, answer: str, *, key: str) -> Written | None:
        """A helper is done; this is the helper's capture."""
        return self._if_task(lambda: self._agent.task_finish(None, answer or None, key=key))

    def result(self, summary: str, detail: str, *, key: str) -> Written | None:
        """The result of a helper, for the agent that it worked for."""
        return self._if_task(
            lambda: self._tool.task_remember(
                None, summary, type="tool_result", detail=detail or None, key=key
            )
        )
