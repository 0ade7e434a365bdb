"""The operation `task_update`: a message, and with it changes of a task's status, phase, plan and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ledger.base import Base, Draft, find_item, written
from ..ledger.current_task import DRAFT
from ..ledger.goal_limits import STOPPED, check_ready
from ..ledger.step_changes import begun_phase, item_changes
from ..model import foreign_statuses, rules, validate
from ..model.errors import Conflict, InvalidInput, RingboltError
from ..model.operation import operation
from ..model.types import Value, Written
from ..signals.phrases import may_tell_progress
from ..store.queries.goal_queries import criteria
from ..store.tx import Row, Tx
from .adoption import adopt_inferred_plan


class _Change(Value, frozen=True, kw_only=True):
    """What an update changes, with its words translated into ours."""

    message: str | None
    heads: dict[str, Any]
    phase: str | None
    reason: str | None
    step: str | int | None
    step_status: str | None
    goal: str | None
    metadata: Mapping[str, Any] | None
    archived: bool | None

    def draft(self, tx: Tx, head: Row, now: str) -> Draft:
        """The event that an update writes."""
        status = self.heads.get("status")
        if head["kind"] == "goal" and status is not None:
            check_goal(tx, head, status)
        heads = {**self.heads, **status_changes(head, status, self.reason, now)}
        if self.archived is not None:
            heads["archived_at"] = now if self.archived else None
        item_id, steps, warnings = _step_changes(tx, head, self.step, self.step_status, self.message, now)
        word = None if self.step_status is None else foreign_statuses.read_item_status(self.step_status)
        phase = self.phase
        if phase is None and word in ("active", "completed"):
            phase = begun_phase(head)
        if phase is not None:
            heads.update(rules.phase_stamps(head, phase, now), phase=phase)
        heads = {name: value for name, value in heads.items() if differs(head, name, value)}
        if head["status"] in rules.ENDED and "status" not in heads and self.message:
            warnings.append(f"task is {head['status']}")
        extras = _extras_changes(tx, head, self.goal, self.metadata)
        sets = without_none({"steps": steps or None, "heads": heads or None, "extras": extras or None})
        plain = not sets and self.message is not None
        return Draft(
            "message" if plain else "step.updated" if steps and not heads else "task.updated",
            text=self.message,
            sets=sets,
            item=item_id,
            warnings=tuple(warnings),
        )


class Updates(Base):
    """The operation that reports and changes."""

    @operation(
        scope="write",
        core=("task_id", "message", "status", "step", "step_status", "next", "blockers", "query"),
        texts=("message",),
        example={"message": "The image is built.", "step": 1, "step_status": "completed"},
    )
    def task_update(
        self,
        task_id: str | None = None,
        message: str | None = None,
        *,
        status: str | None = None,
        phase: str | None = None,
        reason: str | None = None,
        step: str | int | None = None,
        step_status: str | None = None,
        next: str | None = None,
        blockers: Sequence[str] | None = None,
        name: str | None = None,
        goal: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        attention: str | None = None,
        archived: bool | None = None,
        query: str | None = None,
        expect: int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Report what happened, and with it any change of status, phase, step, next step or blockers.

        Status words of other projects ("EXECUTING_PLAN", "In progress", "canceled") are understood. An empty
        text or list clears `next`, `attention` or `blockers`. `query` asks a question, answered as by
        task_ask after the update is written; a query alone writes nothing.

        Args:
            message: What happened.
            status: New status of the task: active, waiting, paused, completed, failed or cancelled.
            phase: New phase of the task: planning, executing, reviewing, …
            reason: Why the task has its status: approval, input, auth, rejected, blocked, or your own words.
            step: Step the message is about: id, number from 1, or title.
            step_status: New status of the step: pending, active, completed, failed or skipped.
            next: What to do next, in words.
            blockers: What blocks the task; [] clears it. At most 50.
            name: New name of the task, at most 500 bytes.
            goal: New goal of the task.
            metadata: Merged into the task's metadata; null removes a name.
            attention: Why a person should look at the task.
            archived: True archives the task, false restores it.
            query: Question about the task to answer. It is not stored.
        """
        if query is not None:
            return self._update_and_ask(
                task_id, query, message=message, status=status, phase=phase, reason=reason, step=step,
                step_status=step_status, next=next, blockers=blockers, name=name, goal=goal,
                metadata=metadata, attention=attention, archived=archived, expect=expect, token=token,
                key=key,
            )  # fmt: skip
        arguments = [message, status, phase, reason, step, step_status, next, blockers, name, goal,
                     metadata, attention, archived]  # fmt: skip
        if all(part is None for part in arguments):
            raise InvalidInput(
                "invalid_argument", "There is nothing to write.", "Pass a message or a change."
            )
        if step_status is not None and step is None:
            raise InvalidInput("invalid_argument", "step_status needs a step.", "Name the step with `step`.")
        heads, meant_phase, meant_reason = _read_status(status, phase, reason)
        change = _Change(
            message=self._text("message", message),
            heads={**heads, **_read_texts(next, attention, blockers, name)},
            phase=meant_phase,
            reason=meant_reason,
            step=step,
            step_status=None if step_status is None else validate.line("step_status", step_status),
            goal=self._text("goal", goal),
            metadata=None if metadata is None else self._mapping("metadata", metadata),
            archived=archived,
        )
        if step is not None:
            expect = adopt_inferred_plan(self, task_id, step, token, expect)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            draft = change.draft(tx, head, now)
            if change.message and _may_move(self, head):
                _move_plan(self, tx, head, draft, now)
            return draft

        return self._write(
            "task_update", task_id, decide, key=key, token=token, expect=expect, arguments=arguments
        )

    def _update_and_ask(self, task_id: str | None, query: str, **changes: Any) -> Written:
        # Asking loads the search and the model client, which an update without a question does not need.
        from ..ask.answering import ask
        from ..ask.operations import read_question

        question = read_question(query)
        guards = ("expect", "token", "key")
        if all(value is None for name, value in changes.items() if name not in guards):
            head = self.store.read(lambda tx: self._find(tx, task_id))
            done = written(head, head["last_seq"], Draft("message"))
        else:
            done = self.task_update(task_id, **changes)
        try:
            return done.replace(answer=ask(self, done.task_id, question))
        except RingboltError as error:  # the write is committed, and the caller must know that
            return done.replace(warnings=(*done.warnings, f"not answered: {error.message}"))


def write_captured(memory: Base, text: str, key: str | None = None) -> Written:
    """Write what an agent said to its user, captured by a hook, as a message of the current task.

    It is not written for the plan, so it is read with more caution than a message of `task_update`.
    """
    said = memory._text("message", text)  # pyright: ignore[reportPrivateUsage]

    def decide(tx: Tx, head: Row, now: str) -> Draft:
        draft = Draft("message", text=said, data={"captured": True})
        if said and _may_move(memory, head) and may_tell_progress(said):
            _move_plan(memory, tx, head, draft, now)
        return draft

    return memory._write("task_update", None, decide, key=key, arguments=[said])  # pyright: ignore[reportPrivateUsage]


def _may_move(memory: Base, head: Row) -> bool:
    """Whether a message may move a plan: it is the agent's own, and there is a plan."""
    return bool(head["total"]) and memory.origin.channel == "agent" and memory.settings.progress != "off"


def _move_plan(memory: Base, tx: Tx, head: Row, draft: Draft, now: str) -> None:
    """Let a message move the plan, in the same transaction."""
    # Its tables are slow to load, and most short-lived processes never need them.
    from ..progress.progress_updates import foresee

    foreseen = foresee(memory, tx, head, draft, now)
    if foreseen is not None:
        draft.then = foreseen
        draft.result.update(moved=foreseen.moved, asks=foreseen.asks)


def check_goal(tx: Tx, head: Row, status: str) -> None:
    """Raise unless a goal may get a status: its criteria must be met to complete it, and a stopped goal needs
    a reset."""
    if status == "completed":
        check_ready(head["task_id"], criteria(tx, head["task_id"]))
    elif status in rules.OPEN and head["reason"] in STOPPED:
        raise Conflict(
            "illegal_transition",
            f"Goal {head['task_id']} is stopped ({head['reason']}).",
            "Use goal_update with a reason in `reset` to continue it.",
            current=head["status"],
        )


def _read_texts(
    next_step: str | None, attention: str | None, blockers: Sequence[str] | None, name: str | None
) -> dict[str, Any]:
    """The texts of a task that an update changes; an empty one clears it."""
    changes: dict[str, Any] = {}
    if next_step is not None:
        changes["next_step"] = validate.text("next", next_step, 2000) or None
    if attention is not None:
        changes["attention"] = validate.text("attention", attention, 500) or None
    if blockers is not None:
        changes["blockers"] = validate.text_list("blockers", blockers, 2000, 50) or None
    if name is not None:
        changes["name"] = validate.line("name", name, 500)
    return changes


def _read_status(
    status: str | None, phase: str | None, reason: str | None
) -> tuple[dict[str, Any], str | None, str | None]:
    """Translate words of any project into our status (as a change), phase and reason."""
    changes: dict[str, Any] = {}
    meant_phase = meant_reason = None
    if status is not None:
        changes["status"], meant_phase, meant_reason = foreign_statuses.read_task_status(
            validate.line("status", status)
        )
    if phase is not None:
        meant_phase = foreign_statuses.read_phase(validate.line("phase", phase))
    if reason is not None:
        meant_reason = validate.text("reason", reason, 500) or None
    return changes, meant_phase, meant_reason


def status_changes(head: Row, status: str | None, reason: str | None, now: str) -> dict[str, Any]:
    """The columns that a new status changes; raises if it cannot follow the current status."""
    if status is None:
        return {} if reason is None else {"reason": reason}
    rules.check_transition(rules.TASK_TRANSITIONS, f"Task {head['task_id']}", head["status"], status)
    if status in rules.OPEN:
        return {"reason": reason, "completed_at": None, "finish_seq": None, "archived_at": None}
    return {"reason": reason, "completed_at": now if head["status"] in rules.OPEN else head["completed_at"]}


def _step_changes(
    tx: Tx, head: Row, step: str | int | None, word: str | None, message: str | None, now: str
) -> tuple[str | None, dict[str, Any], list[str]]:
    """The step that an update is about, the changes to the plan, and warnings."""
    if step is None:
        return None, {}, []
    steps = tx.steps(head["task_id"])
    row = find_item(steps, step)
    if word is None:
        return row["item_id"], {}, []
    status = foreign_statuses.read_item_status(word)
    changes, warnings = item_changes(tx, head, steps, row, now, status=status)
    if word.lower() == "blocked":
        changes[row["item_id"]]["active_issue"] = message or "blocked"
    return row["item_id"], changes, warnings


def _extras_changes(
    tx: Tx, head: Row, goal: str | None, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if goal is not None:
        changes["goal"] = goal or None
    if metadata is not None:
        known = tx.extras(head["task_id"])["metadata"]
        merged = {**known, **metadata}
        if DRAFT not in known:  # only hooks begin drafts
            merged.pop(DRAFT, None)
        changes["metadata"] = {name: value for name, value in merged.items() if value is not None}
    return changes


def differs(head: Row, name: str, value: Any) -> bool:
    """Whether a column of a task gets another value."""
    old = head[name]
    if name == "blockers":
        return (validate.dumps(value) if value else None) != old
    return old != value


def without_none(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without its empty cells."""
    return {name: value for name, value in row.items() if value is not None}
