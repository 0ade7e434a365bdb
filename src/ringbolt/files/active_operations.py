"""Operations on active tasks: the rows of ACTIVE-TASKS.md, the file itself, and the blocks for prompts.

Either the store is the source of truth and the file shows it (ledger `facts`), or the file itself is
(ledger `markdown`).
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from ..ledger.base import Draft
from ..ledger.proposals import Call
from ..model import foreign_statuses, rules, validate
from ..model.errors import Conflict, NotFound, RingboltError, shown
from ..model.operation import operation
from ..model.results import ActiveBlock, ActiveRow, ActiveTaskList, Diagnostics, ProjectionState, RenderReport
from ..model.types import Written
from ..store.tx import Row, Tx
from . import shared_file
from .active_block import inject
from .active_rows import ActiveRows, SourcedRows, check_ours
from .active_tasks import Selection, rendered, select
from .facts import TIMES, goal_links, status_heads
from .tasks_file import complete


def _no_label(label: str | None) -> NotFound:
    return NotFound(
        "task_not_found",
        f"No task here has the label or id {shown(label)}.",
        "active_tasks lists the labels.",
    )


class ActiveTasks(ActiveRows):
    """Operations on the list of active tasks."""

    @operation(scope="read", writes_with=("render",))
    def active_tasks(self, *, render: bool = False, completed: bool = False) -> ActiveTaskList:
        """List the active tasks with the state of their file, ACTIVE-TASKS.md.

        Rows come in the order of the file: live ones first, then stale ones. If the file cannot be written,
        the list is marked as stale; the call does not fail.

        Args:
            render: Update the file first, if possible.
            completed: Include completed rows.
        """
        begun = time.perf_counter()
        report = RenderReport(requested=False)
        if render:
            try:
                report = self.active_tasks_render()
            except RingboltError as error:
                report = RenderReport(error=error.to_dict())
        ledger_rows = self._rows()
        selection = select(ledger_rows.rows, self._projection().replace(max_rows=0))
        shown_rows = selection.active + selection.stale + (selection.completed if completed else ())
        if ledger_rows.source == "store":
            state = self._file_state(self._rendered(ledger_rows)[0], ledger_rows)
        else:
            state = ProjectionState(path=ledger_rows.path)
        return ActiveTaskList(
            generated_at=self._now(),
            source=ledger_rows.source,
            ledger=self.settings.active_tasks_ledger,
            stale_threshold_minutes=self._threshold(),
            active=shown_rows,
            active_count=len(selection.active),
            stale_count=len(selection.stale),
            completed_count=len(selection.completed),
            projection=state,
            render=report,
            warnings=ledger_rows.warnings,
            diagnostics=self._diagnostics(
                "active_tasks", begun, ledger_rows, selection, rendered=len(shown_rows)
            ),
        )

    @operation(scope="write", tools="none", repeatable=True)
    def active_tasks_render(self) -> RenderReport:
        """Write ACTIVE-TASKS.md from the store.

        With the markdown ledger the file is the source of truth, and nothing is written. A file that Ringbolt
        did not write, or that was edited since, is not overwritten.
        """
        if self._is_markdown():
            return RenderReport(reason="the ledger is markdown: the file itself is the source of truth")
        begun = time.perf_counter()
        path = shared_file.locate(self.settings.active_tasks_file, self.workspace)
        ledger_rows = self._rows()
        text, selection = self._rendered(ledger_rows)

        def change(old: bytes | None) -> bytes:
            check_ours(path, old)
            return text.encode()

        applied = shared_file.edit(path, change, self.settings.max_text_bytes)
        figures = self._diagnostics(
            "active_tasks_render", begun, ledger_rows, selection, rendered=selection.shown
        )
        reason = None if applied else "the file is up to date"
        return RenderReport(applied=applied, path=path, reason=reason, diagnostics=figures)

    def _active_tasks_text(self) -> str:
        """ACTIVE-TASKS.md as it should be now, rendered from the store."""
        return self._rendered(self._rows())[0]

    def _rendered(self, ledger_rows: SourcedRows) -> tuple[str, Selection]:
        projection = self._projection()
        selection = select(ledger_rows.rows, projection)
        return rendered(selection, projection, ledger_rows.position), selection

    @operation(scope="read")
    def active_tasks_stale(self) -> tuple[ActiveRow, ...]:
        """List the rows without an update for longer than the setting `stale_threshold`, or for an unknown
        time.
        """
        return select(self._rows().rows, self._projection().replace(max_rows=0)).stale

    @operation(scope="read")
    def active_tasks_block(
        self,
        user_text: str = "",
        *,
        session: str | None = None,
        budget: int | None = None,
        heartbeat: bool = False,
    ) -> ActiveBlock:
        """Describe the active tasks for a prompt, within a token budget; empty if there are none.

        Live tasks come first, starting with those that match the user's message and session. Stale tasks have
        a separate block.

        Args:
            user_text: The user's message. Tasks related to it come first.
            session: The session of the prompt. Default: that of this memory.
            budget: Maximum number of tokens of all blocks together. Default: the setting `injection_budget`.
            heartbeat: Add a block that counts the tasks that need tidying.
        """
        begun = time.perf_counter()
        user_text = validate.text("user_text", user_text, self.settings.max_text_bytes)
        session = self.origin.session if session is None else validate.text("session", session, 200)
        budget = self.settings.injection_budget if budget is None else budget
        ledger_rows = self._rows(ended=False)
        block, selection, injected = inject(
            ledger_rows.rows,
            projection=self._projection(),
            user_text=user_text,
            session=session,
            budget=validate.whole("budget", budget, 0, 1_000_000),
            max_tasks=self.settings.injection_max_tasks,
            threshold_minutes=self._threshold(),
            heartbeat=bool(heartbeat),
            file=self._file_name(ledger_rows),
            now=self._clock(),
        )
        figures = self._diagnostics("active_tasks_block", begun, ledger_rows, selection, injected=injected)
        return ActiveBlock(text=block, diagnostics=figures)

    def _file_name(self, ledger_rows: SourcedRows) -> str:
        """The name of the file with the active tasks; empty if there is none."""
        path = ledger_rows.path
        if path is None and self.workspace and os.path.isdir(self.workspace):
            path = shared_file.locate(self.settings.active_tasks_file, self.workspace)
        return os.path.basename(path) if path and os.path.exists(path) else ""

    # --- changing ---------------------------------------------------------------------------------

    @operation(scope="write", example={"label": "shop", "description": "Deploy the shop"})
    def active_tasks_add(
        self,
        label: str,
        description: str,
        *,
        branch: str | None = None,
        status: str | None = None,
        subagent: str | None = None,
        next: str | None = None,
    ) -> ActiveRow:
        """Add a task with a label, or change the open task that has it. Safe to repeat.

        Args:
            label: A short name, unique among the open tasks of the workspace. At most 200 bytes.
            description: The task in a few words, at most 500 bytes.
            branch: The branch that the work is on.
            status: For example “In progress”, waiting, blocked, failed or done.
            subagent: The session that works on it.
            next: What to do next, in words.
        """
        return self._upsert(
            label,
            {
                "title": validate.line("description", description, 500),
                "branch": branch,
                "status": status,
                "related_session": subagent,
                "next": next,
            },
            fresh=True,
        )

    @operation(scope="write", example={"entity": "shop", "next": "check the logs"})
    def active_task_checkpoint(
        self,
        entity: str,
        *,
        status: str | None = None,
        owner: str | None = None,
        next: str | None = None,
        related_session: str | None = None,
        related_goal: str | None = None,
        title: str | None = None,
        resume_at: str | float | None = None,
        state: Mapping[str, Any] | None = None,
    ) -> ActiveRow:
        """Record the state of a task, by label or id, and mark it as updated now.

        An unknown task is registered. With the markdown ledger, only fields that have a line in the file are
        kept.

        Args:
            entity: The label or id of a task.
            status: A status, ours or a word of another project.
            owner: Who is responsible for it.
            next: What to do next, in words.
            related_session: The session that works on it.
            related_goal: Id of its goal; an empty text removes it.
            title: The task in a few words.
            resume_at: When to continue: an ISO 8601 time or seconds since 1970.
            state: A JSON object, stored as the variable `state`.
        """
        return self._upsert(
            entity,
            {
                "title": None if title is None else validate.line("title", title, 500),
                "status": status,
                "owner": owner,
                "next": next,
                "related_session": related_session,
                "related_goal": related_goal,
                "resume_at": None if resume_at is None else validate.moment("resume_at", resume_at),
                "state": None if state is None else self._mapping("state", state),
            },
        )

    @operation(scope="write", example={"task_label": "shop", "criteria": ["the owner is content"]})
    def active_task_propose_goal(
        self, task_label: str | None = None, *, name: str | None = None, criteria: Sequence[str] | None = None
    ) -> Written:
        """Propose to make a goal of a task; a person decides with task_accept or task_reject.

        An accepted proposal does what goal_promote does. The same one is recorded only once.

        Args:
            task_label: The label or id of a task. Default: the current task.
            name: Short name of the goal. Default: the task's name.
            criteria: What would show that the goal is reached, in words.
        """
        label = None if task_label is None else validate.line("task_label", task_label, 200)
        arguments = {
            "name": None if name is None else validate.line("name", name, 500),
            "criteria": [validate.line("criteria", one, 500) for one in self._list("criteria", criteria)]
            or None,
        }

        def work(tx: Tx) -> Written:
            head = self._find(tx, None, lock=True) if label is None else self._labelled(tx, label, lock=True)
            if head is None:
                raise _no_label(label)
            if head["kind"] != "task":
                raise Conflict(
                    "illegal_transition",
                    f"{head['task_id']} is not a task.",
                    "Only a task can become a goal.",
                )
            call = Call(operation="goal_promote", arguments=arguments)
            return self._propose(tx, head, call, "whether this task becomes a goal", self._now())

        return self._commit(work)

    @operation(scope="write", example={"label": "shop"})
    def active_tasks_complete(self, label: str) -> ActiveRow:
        """Mark the task with a label as done. A task that is already done is left unchanged.

        Args:
            label: The label or id of a task.
        """
        label = validate.line("label", label, 200)
        if self._is_markdown():
            return self._edit_file(label, lambda document: complete(document, label, self._now()))

        def work(tx: Tx) -> ActiveRow:
            head = self._labelled(tx, label, lock=True)
            if head is None:
                raise _no_label(label)
            if head["status"] == "completed":
                return self._row(tx, head["task_id"])
            rules.check_transition(
                rules.TASK_TRANSITIONS, f"Task {head['task_id']}", head["status"], "completed"
            )
            self._check_own_claims(tx, head)
            now = self._now()
            heads = {**status_heads(head, "completed", now), "finish_seq": head["last_seq"] + 1}
            heads |= {name: None for name in ("next_step", "blockers") if head[name] is not None}
            draft = Draft("task.finished", data={"status": "completed"}, sets={"heads": heads})
            self._append(tx, head, draft, now, "active_tasks_complete")
            self._touch(tx, head, now)
            return self._row(tx, head["task_id"])

        return self._commit(work, tasks=lambda row: (row.task_id,) if row.task_id else ())

    def _upsert(self, label: str, values: dict[str, Any], fresh: bool = False) -> ActiveRow:
        """Create or change a row; with `fresh` the label of an ended task starts a new one."""
        label = validate.line("label", label, 200)
        for name in ("branch", "owner", "related_session", "related_goal"):
            validate.optional(name, values.get(name), 500)
        validate.optional("next", values.get("next"), 2000)
        if values.get("status") is not None:
            foreign_statuses.read_task_status(validate.line("status", values["status"]), "active-tasks")
        if self._is_markdown():
            return self._upsert_file(label, values)

        def work(tx: Tx) -> ActiveRow:
            now = self._now()
            head = self._labelled(tx, label, lock=True)
            if head is None or (fresh and head["status"] in rules.ENDED and head["status"] != "failed"):
                head = self._begin_task(tx, now, label, values.get("title") or label)
            self._check_own_claims(tx, head)
            self._checkpoint(tx, head, values, now)
            return self._row(tx, head["task_id"])

        return self._commit(work, tasks=lambda row: (row.task_id,) if row.task_id else ())

    def _checkpoint(self, tx: Tx, head: Row, values: dict[str, Any], now: str) -> None:
        """Write the changes: the columns in one event, each variable in its own."""
        heads: dict[str, Any] = {}
        for name, column in (("title", "name"), ("next", "next_step")):
            if values.get(name) is not None and (values[name] or None) != head[column]:
                heads[column] = values[name] or None
        if values.get("status") is not None:
            heads |= status_heads(head, values["status"], now)
        sets: dict[str, Any] = {"heads": heads} if heads else {}
        if values.get("related_goal") is not None and (links := goal_links(tx, head, values["related_goal"])):
            sets["links"] = links
        values = {name: value for name, value in values.items() if value is not None}
        draft = Draft("task.updated", data={"checkpoint": values}, sets=sets)
        self._append(tx, head, draft, now, "checkpoint")
        for name in ("branch", "owner", "related_session", "resume_at", "state"):
            if name in values:
                self._set_variable(tx, head, name, values[name], now)
        self._touch(tx, head, now)

    def _set_variable(
        self, tx: Tx, head: Row, name: str, value: Any, now: str, kind: str = "variable"
    ) -> None:
        """Set a variable of a task, unless it already has that value."""
        old = tx.record_with_key(head["task_id"], kind, name)
        event = tx.event(head["task_id"], old["seq"]) if old else None
        if event is not None and json.loads(event["data"]).get("value") == value:
            return
        fact = {"key": name, "value": value, "category": "project", "entity": None, "text": None, "at": None}
        self._append(tx, head, self._fact_draft(tx, head, fact, now), now, "checkpoint")

    def _touch(self, tx: Tx, head: Row, now: str) -> None:
        """Set a task's facts about the time of its update, if it has any, to now."""
        for name in TIMES[3:]:
            if tx.record_with_key(head["task_id"], "fact", name):
                self._set_variable(tx, head, name, now, now, kind="fact")

    def _diagnostics(
        self, what: str, begun: float, ledger_rows: SourcedRows, selection: Selection, **counts: int
    ) -> Diagnostics:
        """The figures of a call; also logged if the process uses logging."""
        diagnostics = Diagnostics(
            fetched=len(ledger_rows.rows),
            grouped=len(ledger_rows.rows) - selection.collapsed,
            collapsed=selection.collapsed,
            stale=len(selection.stale),
            elapsed_ms=round((time.perf_counter() - begun) * 1000, 3),
            **counts,
        )
        if (logging := sys.modules.get("logging")) is not None:  # otherwise there is no handler
            logging.getLogger("ringbolt.active").debug("%s %s", what, diagnostics.to_dict())
        return diagnostics
