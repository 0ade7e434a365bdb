# pyright: reportPrivateUsage=false
"""The operations that show a task: the resume packet, the YAML state, the one-line state."""

from __future__ import annotations

from collections.abc import Callable

from ..journal.event_files import Journal
from ..journal.health import health_lines
from ..ledger.base import Base
from ..ledger.current_task import current_task
from ..ledger.task_life import stuck_after
from ..ledger.values import read_snapshot
from ..model import rules, validate
from ..model.errors import NotFound
from ..model.operation import operation
from ..model.results import Packet
from ..model.types import Snapshot
from ..store import jobs
from ..store.tx import Tx
from . import resume, state, tokens


class Views(Base):
    """Operations that show a task within a budget of tokens."""

    @operation(scope="read", core=("task_id", "budget"), example={"budget": 1500})
    def task_resume(
        self, task_id: str | None = None, *, budget: int = 1500, repository: bool = False
    ) -> Packet:
        """Everything needed to continue a task, in at most `budget` tokens: the text to inject after a
        compaction.

        It holds the request, plan, current and next step, blockers, decisions with their reasons, what
        failed, values, files, and side effects with unknown outcome. It counts what did not fit.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            budget: Maximum number of tokens, from 300 to 8,000.
            repository: Without a task: choose among those of every worktree of this workspace's repository.
        """
        budget = validate.whole("budget", budget, resume.LEAST, resume.MOST)
        if repository and task_id is None:
            place = self._own_repository()
            task_id = self.store.read(lambda tx: current_task(self, tx, False, place)[0])
        return resume.resume_packet(
            self._snapshot(task_id), budget, count=self._counter(), now=self._now(), health=self._health()
        )

    @operation(scope="read")
    def task_state(self, task_id: str | None = None, *, budget: int = 1500) -> str:
        """The state of a task as YAML, in a shape that other agents know.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            budget: Maximum number of tokens, from 300 to 1,500.
        """
        budget = validate.whole("budget", budget, 300, state.BUDGET)
        return state.yaml_state(self._snapshot(task_id), budget, count=self._counter())

    @operation(scope="read")
    def task_line(self, task_id: str | None = None) -> str:
        """The state of a task in one line: `[STATE] Task: … | Phase: … | Next: … | Last decision: …`.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
        """
        return state.inline_state(self._snapshot(task_id))

    # Events in the journal that the caller is just handling.
    events_at_hand = 0

    def _health(self) -> tuple[str, ...]:
        """Problems of the memory itself that are known here; empty if there are none."""
        found: list[str] = []
        failing = () if self._mirrors is None else self._mirrors.failing()
        if failing:
            found.append(f"{len(failing)} mirror files cannot be written; mirrors_status says why")
        if dead := self.store.read(jobs.dead_count, once=True):
            found.append(f"{dead} background jobs were given up; jobs_status says why")
        journal = Journal.of(self.store.url, self.settings.tenant)
        return (*found, *health_lines(journal, self.events_at_hand))

    def _counter(self) -> Callable[[str], int]:
        return tokens.counter(self.settings.tokens == "exact")

    def _snapshot(self, task_id: str | None) -> Snapshot:
        return self.store.read(lambda tx: read_whole_task(self, tx, task_id))


def read_whole_task(memory: Base, tx: Tx, task_id: str | None) -> Snapshot:
    """A task with everything that views show; raises NotFound."""
    # A complete id is read directly, without resolving it first, if the caller may see every task.
    is_direct = memory.grant.workspaces is None
    whole = rules.normal_id(task_id) if isinstance(task_id, str) and is_direct else None
    seen = memory._clock(), stuck_after(memory.settings), memory.origin.session
    found = read_snapshot(tx, whole, *seen) if whole and len(whole) == rules.ID_LENGTH else None
    found = found or read_snapshot(tx, memory._find(tx, task_id)["task_id"], *seen)
    if found is None:
        raise NotFound("task_not_found", f"There is no task {task_id}.", "task_list shows the tasks.")
    return found
