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

from typing import Any

from ...hook_memory import HookMemory
from ...model.types import Value
from ...signals.calls.tools import is_read_only
from ...store.tx import Tx
from .attempt import Attempt
from .effects import Effects
from .failures import Failures
from .ruled_out import RuledOut

_MOST_SINCE = 150  # events compared with a call
APPROVAL, EFFECT, RULED_OUT, FAILED = "approval", "effect", "ruled out", "failed"


class Warned(Value, frozen=True, kw_only=True):
    """A line about a call that is about to be made, and why: approval, effect, ruled out or failed."""

    text: str
    kind: str


class _Look(Effects, RuledOut, Failures):
    """One look at the ledger for a call, for every kind of reason."""


def warning(memory: HookMemory, task_id: str | None, tool: str, given: Any) -> Warned | None:
    """What to say before a call, if anything; `task_id` is the task of the session, if it has one."""
    if is_read_only(tool):
        return None
    attempt = Attempt(tool, given, memory.workspace or "")

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
