"""Operations on plans: replace and extend them, and update steps. Dropped steps stay as tombstones."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..ledger.access import check_steps
from ..ledger.base import Base, Draft, check_guards, find_item
from ..ledger.step_changes import StepChanges, begin_work, item_changes
from ..ledger.values import read_items
from ..model import foreign_statuses, rules, validate
from ..model.errors import Conflict, InvalidInput
from ..model.operation import operation
from ..model.types import PlanVersion, Written
from ..store.past import past
from ..store.tx import Row, Tx

# Events that can begin a version of a plan.
_MAKE_PLANS = ("task.registered", "plan.replaced", "plan.appended", "task.split", "task.merged")


def added_steps(steps: list[dict[str, Any]], version: int, after: int) -> dict[str, dict[str, Any]]:
    """New steps as an event sets them, numbered from `after`."""
    rows: dict[str, dict[str, Any]] = {}
    for number, step in enumerate(steps):
        row = {"ordinal": after + number, "title": step["title"], "plan_version": version}
        for name in ("stage", "depends_on", "detail"):
            if step[name]:
                row[name] = step[name]
        rows[step["id"]] = row
    return rows


def plan_heads(head: Row, now: str) -> dict[str, Any]:
    """The columns of a task that a new version of its plan changes, without the phase."""
    heads: dict[str, Any] = {"plan_version": head["plan_version"] + 1, "plan_seq": head["last_seq"] + 1}
    if head["plan_version"]:
        heads["replanned_at"] = now
    if head["plan_generated_at"] is None:
        heads["plan_generated_at"] = now
    return heads


def plan_replacement(
    memory: Base,
    tx: Tx,
    head: Row,
    now: str,
    plan: Any,
    reason: str | None = None,
    phase: str | None = None,
    label: str | None = None,
) -> Draft:
    """The event that replaces a task's plan; a step with the id or title of an old one continues it."""
    old = tx.steps(head["task_id"])
    version = head["plan_version"] + 1
    steps, kept = _matched(memory, plan, old)
    over_and_done = {row["item_id"] for row in old if row["status"] == "completed"}
    changes: StepChanges = {}
    added: list[tuple[int, dict[str, Any]]] = []
    place = 0
    for step in steps:
        if (row := kept.get(step["id"])) is not None:
            changed = {
                "ordinal": place,
                "title": step["title"],
                # Fields that the new plan leaves out stay, except that no step waits for a dropped one.
                "stage": step["stage"] if "stage" in step.get("given", ()) else row["stage"],
                "depends_on": step["depends_on"]
                if "depends_on" in step.get("given", ())
                else [name for name in row["depends_on"] if name in kept or name in over_and_done],
                **({"detail": step["detail"]} if step["detail"] else {}),
            }
            changes[step["id"]] = {k: v for k, v in changed.items() if row[k] != v}
        else:
            added.append((place, step))
        place += 1
    over = [row for row in old if row["item_id"] not in kept]
    for number, row in enumerate(over):
        gone: dict[str, Any] = {"ordinal": place + number}
        if row["dropped_in"] is None and row["status"] in ("pending", "active", "failed"):
            gone.update(status="cancelled", basis="explicit", dropped_in=version)
            gone["completed_at"] = now
        changes[row["item_id"]] = {k: v for k, v in gone.items() if row[k] != v}
    sets: dict[str, Any] = {}
    if added:
        sets["+steps"] = {
            name: row for where, step in added for name, row in added_steps([step], version, where).items()
        }
    if changes := {name: row for name, row in changes.items() if row}:
        sets["steps"] = changes
    heads = plan_heads(head, now)
    new_phase = phase or ("planned" if head["phase"] in ("received", "planning") else None)
    if new_phase and new_phase != head["phase"]:
        heads.update(rules.phase_stamps(head, new_phase, now), phase=new_phase)
    sets["heads"] = heads
    return Draft(
        "plan.replaced",
        text=reason,
        data={"version": version, "plan": [step["id"] for step in steps], "label": label},
        sets=sets,
        steps=tuple(step["id"] for step in steps),
    )


def _matched(memory: Base, plan: Any, old: list[Row]) -> tuple[list[dict[str, Any]], dict[str, Row]]:
    """The steps of a new plan, and the old steps that they continue, by id."""
    live = {row["item_id"]: row for row in old if row["dropped_in"] is None}
    steps = rules.parse_plan(
        plan,
        taken=[row["item_id"] for row in old],
        live={name: row["title"] for name, row in live.items()},
    )
    kept = {step["id"]: live[step["id"]] for step in steps if step["id"] in live}
    check_steps(memory, steps, len(old) - len(kept))
    return steps, kept


def _all_of_type(tx: Tx, task_id: str, kind: str) -> Iterator[Row]:
    before = None
    while events := tx.thread(task_id, 1000, before, (kind,)):
        yield from events
        before = events[-1]["seq"]


def _plan_made(tx: Tx, head: Row, event: Row) -> PlanVersion | None:
    """The plan that an event made, as it was then; None if it made none."""
    then = past(tx, head, event["seq"])
    state = then.head(head["task_id"])
    if state is None or state["plan_seq"] != event["seq"]:
        return None
    return PlanVersion(
        version=state["plan_version"],
        seq=event["seq"],
        at=event["timestamp"],
        reason=None if event["seq"] == 1 else event["text"],
        label=json.loads(event["data"]).get("label"),
        steps=read_items(then.steps(head["task_id"])),
    )


class Plans(Base):
    """Operations on a task's plan."""

    @operation(
        scope="write", repeatable=True, texts=("plan",), example={"plan": ["Build the image", "Run it"]}
    )
    def task_plan_replace(
        self,
        task_id: str | None = None,
        plan: Any = None,
        *,
        reason: str | None = None,
        label: str | None = None,
        phase: str | None = None,
        expect: int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Replace the plan. Earlier plans stay readable.

        A step with the id or title of an old one continues it: it keeps its status, and its dependencies and
        stage unless the new plan gives others. Open steps that the new plan leaves out become tombstones;
        completed ones stay.

        Args:
            plan: The new plan, in any form that `task_register` accepts.
            reason: Why the plan changes.
            label: Your own name for this version of the plan, such as `replan_1`.
            phase: New phase of the task.
        """
        if plan is None:
            raise InvalidInput(
                "invalid_plan",
                "There is no plan.",
                "Pass a list of steps; an empty list drops all open ones.",
            )
        plan = self._plain("plan", plan)
        reason = self._text("reason", reason)
        name = None if label is None else validate.line("label", label, 200)
        new_phase = None if phase is None else foreign_statuses.read_phase(validate.line("phase", phase))

        return self._write(
            "task_plan_replace",
            task_id,
            lambda tx, head, now: plan_replacement(self, tx, head, now, plan, reason, new_phase, name),
            key=key,
            token=token,
            expect=expect,
            arguments=[plan, reason, phase, *([name] if name else [])],
        )

    @operation(scope="write", texts=("steps",), example={"steps": ["Tell the users"]})
    def task_plan_append(
        self,
        task_id: str | None = None,
        steps: Any = None,
        *,
        after: str | int | None = None,
        note: str | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Add steps to the plan, at its end or after a step.

        Args:
            steps: Steps, in any form that `task_register` accepts.
            after: Step after which to add them. Default: the last one.
            note: A note.
        """
        note = self._text("note", note)
        wanted = self._plain("steps", steps)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            old = tx.steps(head["task_id"])
            steps = rules.parse_plan(wanted, taken=[row["item_id"] for row in old])
            if not steps:
                raise InvalidInput("invalid_plan", "There are no steps to add.", "Pass some titles.")
            self._check_steps(steps, len(old))
            rules.check_dependencies(
                {row["item_id"]: row["depends_on"] for row in old}
                | {step["id"]: step["depends_on"] for step in steps}
            )
            live = [row for row in old if row["dropped_in"] is None]
            place = max((row["ordinal"] for row in live), default=-1) + 1
            if after is not None:
                place = find_item(old, after)["ordinal"] + 1
            version = max(head["plan_version"], 1)
            moved = {
                row["item_id"]: {"ordinal": row["ordinal"] + len(steps)}
                for row in old
                if row["ordinal"] >= place
            }
            sets: dict[str, Any] = {"+steps": added_steps(steps, version, place)}
            if moved:
                sets["steps"] = moved
            if head["plan_version"] == 0:
                sets["heads"] = plan_heads(head, now)
                if head["phase"] in ("received", "planning"):
                    sets["heads"]["phase"] = "planned"
            return Draft("plan.appended", text=note, sets=sets, steps=tuple(step["id"] for step in steps))

        return self._write(
            "task_plan_append", task_id, decide, key=key, token=token, arguments=[wanted, after, note]
        )

    @operation(scope="read")
    def task_plans(self, task_id: str | None = None) -> tuple[PlanVersion, ...]:
        """Every plan that a task has had, each as it was when it was made."""

        def work(tx: Tx) -> tuple[PlanVersion, ...]:
            head = self._find(tx, task_id)
            # One type after the other: for several at once an engine may read every event of the task.
            events = [event for kind in _MAKE_PLANS for event in _all_of_type(tx, head["task_id"], kind)]
            events.sort(key=lambda event: event["seq"])
            return tuple(filter(None, (_plan_made(tx, head, event) for event in events)))

        return self.store.read(work)

    @operation(scope="write", example={"step": 1, "status": "completed"})
    def task_step_update(
        self,
        task_id: str | None = None,
        step: str | int | None = None,
        *,
        ordinal: int | None = None,
        status: str | None = None,
        note: str | None = None,
        title: str | None = None,
        active_issue: str | None = None,
        depends_on: Sequence[str] | None = None,
        replaced_by: str | None = None,
        expect: int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Change a step: status, note, title, issue, dependencies.

        An empty note or issue clears it.

        Args:
            ordinal: The step by its position from 0, instead of `step`.
            status: pending, active, completed, failed, skipped or cancelled.
            note: A note; an empty text clears it.
            title: New title of the step.
            active_issue: The problem that blocks the step; an empty text clears it.
            depends_on: Steps that must end before this one.
            replaced_by: The step that replaces this one.
        """
        new_status = None
        if status is not None:
            word = validate.line("status", status)
            new_status = foreign_statuses.read_item_status(word)
            if word.strip().lower() == "blocked" and active_issue is None:
                active_issue = note or "blocked"
        note = validate.optional("note", note, 100_000)
        issue = validate.optional("active_issue", active_issue, 10_000)
        new_title = None if title is None else validate.line("title", title, 4000)
        depends = None if depends_on is None else validate.text_list("depends_on", depends_on, 64)
        check_guards(expect=expect)
        if step is None and ordinal is None:
            raise InvalidInput("invalid_argument", "No step was named.", "Pass step or ordinal.")
        if all(part is None for part in (new_status, note, new_title, issue, depends, replaced_by)):
            raise InvalidInput("invalid_argument", "There is nothing to change.", "Pass a status.")

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            steps = tx.steps(head["task_id"])
            if step is not None:
                row = find_item(steps, step)
            else:
                row = find_item(steps, validate.whole("ordinal", ordinal, 0, len(steps)) + 1)
            name = row["item_id"]
            if expect is not None and expect != row["version"]:
                raise Conflict(
                    "stale_version",
                    f"Step {name} is at version {row['version']}, not {expect}.",
                    "Read it again, then decide.",
                    current=row["version"],
                )
            changes: StepChanges = {}
            warnings: list[str] = []
            if new_status is not None:
                changes, warnings = item_changes(tx, head, steps, row, now, status=new_status)
            own = changes.setdefault(name, {})
            for column, value in (("note", note), ("title", new_title), ("active_issue", issue)):
                if value is not None and (value or None) != row[column]:
                    own[column] = value or None
            if depends is not None:
                known = {step["item_id"]: step["depends_on"] for step in steps}
                own["depends_on"] = [find_item(steps, other)["item_id"] for other in depends]
                rules.check_dependencies({**known, name: own["depends_on"]})
            if replaced_by is not None:
                own["replaced_by"] = find_item(steps, replaced_by)["item_id"]
            sets: dict[str, Any] = {"steps": {k: v for k, v in changes.items() if v}}
            if new_status in ("active", "completed") and (begun := begin_work(head, now)):
                sets["heads"] = begun
            return Draft("step.updated", text=note or None, sets=sets, item=name, warnings=tuple(warnings))

        arguments = [step, ordinal, status, note, title, active_issue, depends_on, replaced_by]
        return self._write("task_step_update", task_id, decide, key=key, token=token, arguments=arguments)

    # Its former name, from when steps were called items.
    task_item_update = task_step_update
