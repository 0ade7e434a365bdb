"""Sync the plan with a host's to-do list: steps and statuses in one event, or none if nothing changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ledger.base import Base, Draft
from ..ledger.step_changes import StepChanges, begun_phase, item_changes
from ..model import foreign_statuses, rules, validate
from ..model.errors import InvalidInput, shown
from ..model.operation import operation
from ..model.types import Written, is_dict
from ..store.tx import Row, Tx
from .plans import added_steps, plan_heads

Listed = dict[str, Any]

# The field of a step's detail that holds its id in the list.
LIST_ID = "list_id"


class Syncing(Base):
    """Operations that copy a list from elsewhere."""

    @operation(
        scope="write",
        repeatable=True,
        example={"steps": [{"title": "Build the image", "status": "completed"}]},
    )
    def task_plan_sync(
        self,
        task_id: str | None = None,
        steps: Sequence[Any] | None = None,
        *,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Make the plan match a complete to-do list, including statuses.

        A step is recognized by its title or, while it is open, by the list's own id. Steps that are no longer
        on the list become tombstones: open ones are cancelled, completed ones stay completed. Several steps
        may be active at once. A list without changes writes nothing.

        Args:
            steps: The complete list: texts, or objects with `title`, `status` and optionally the list's own
                `id`.
        """
        wanted = self._listed(steps)

        def decide(tx: Tx, head: Row, now: str) -> Draft | None:
            old = tx.steps(head["task_id"])
            known = matched_rows(wanted, [row for row in old if row["dropped_in"] is None])
            version = head["plan_version"] + 1
            changes = _changed(tx, head, old, wanted, known, version, now)
            added = _added(old, wanted, known)
            self._check_steps([step for _, step in added], len(old))
            sets: dict[str, Any] = {}
            if added:
                sets["+steps"] = {
                    name: {**row, **_status(wanted[place]["status"], head, now)}
                    for place, step in added
                    for name, row in added_steps([step], version, place).items()
                }
            if changes:
                sets["steps"] = changes
            if not sets:
                return None
            other_list = bool(added) or any(
                "ordinal" in row or "dropped_in" in row for row in changes.values()
            )
            if heads := _heads(head, other_list, wanted, now):
                sets["heads"] = heads
            names = [known[place]["item_id"] if place in known else "" for place in range(len(wanted))]
            for place, step in added:
                names[place] = step["id"]
            data = {"version": version, "plan": names} if other_list else None
            return Draft(
                "plan.replaced" if other_list else "step.updated", data=data, sets=sets, steps=tuple(names)
            )

        return self._write("task_plan_sync", task_id, decide, key=key, token=token, arguments=wanted)

    def _listed(self, listed: Any) -> list[Listed]:
        """The steps of a list, each with a title, our status, and the list's id or None."""
        steps: list[Listed] = []
        for item in self._list("steps", listed):
            fields: Listed = item if is_dict(item) else {"title": item}
            title = next(
                (fields[name] for name in ("title", "text", "content", "subject") if fields.get(name)), None
            )
            if not isinstance(title, str) or not title.strip():
                raise InvalidInput(
                    "invalid_plan", f"A step has no title: {shown(item)}.", 'Each step needs a "title".'
                )
            status = fields.get("status") or "pending"
            steps.append(
                {
                    "title": validate.line("title", title.strip()[:4000], 4000),
                    "status": foreign_statuses.read_item_status(validate.line("status", status)),
                    "id": None if fields.get("id") is None else str(fields["id"])[:200],
                }
            )
        return steps


def matched_rows(wanted: Sequence[Listed], live: Sequence[Row]) -> dict[int, Row]:
    """The steps of the plan that are on the list, by their places in the list."""
    known: dict[int, Row] = {}
    taken: set[str] = set()

    def match(places: Iterable[int], wanted_by: Callable[[Listed], Any], named: Callable[[Row], Any]) -> None:
        """Give each place the first free step with the same name; steps are looked up, not searched."""
        free: dict[Any, deque[Row]] = {}
        for row in live:
            if row["item_id"] not in taken and (name := named(row)) is not None:
                free.setdefault(name, deque()).append(row)
        for place in places:
            if rows := free.get(wanted_by(wanted[place])):
                known[place] = rows.popleft()
                taken.add(known[place]["item_id"])

    match(range(len(wanted)), lambda step: step["title"], lambda row: row["title"])
    listed = [place for place, step in enumerate(wanted) if place not in known and step["id"] is not None]
    if listed:
        match(
            listed,
            lambda step: step["id"],
            lambda row: row["detail"].get(LIST_ID) if row["status"] in rules.ITEM_OPEN else None,
        )
    return known


def _changed(
    tx: Tx, head: Row, old: list[Row], wanted: Sequence[Listed], known: dict[int, Row], version: int, now: str
) -> StepChanges:
    """The changes to existing steps: places, titles, statuses, and dropped steps."""
    changes: StepChanges = {}
    for place, row in known.items():
        step = wanted[place]
        own: dict[str, Any] = {}
        if step["status"] != row["status"] or row["basis"] != "explicit":
            own = item_changes(tx, head, [row], row, now, status=step["status"])[0][row["item_id"]]
        own |= {
            name: value
            for name, value in (("ordinal", place), ("title", step["title"]))
            if row[name] != value
        }
        if own:
            changes[row["item_id"]] = own
    kept = {row["item_id"] for row in known.values()}
    for number, row in enumerate(row for row in old if row["item_id"] not in kept):
        gone: dict[str, Any] = {"ordinal": len(wanted) + number}
        if row["dropped_in"] is None:
            gone["dropped_in"] = version
            if row["status"] in ("pending", "active", "failed"):
                gone |= {"status": "cancelled", "basis": "explicit", "completed_at": now}
        if gone := {name: value for name, value in gone.items() if row[name] != value}:
            changes[row["item_id"]] = gone
    return changes


def _added(old: list[Row], wanted: Sequence[Listed], known: dict[int, Row]) -> list[tuple[int, Listed]]:
    """The new steps of the list, with their places."""
    places = [place for place in range(len(wanted)) if place not in known]
    steps = rules.parse_plan(
        [{"title": wanted[place]["title"]} for place in places], taken=[row["item_id"] for row in old]
    )
    for place, step in zip(places, steps, strict=True):
        if wanted[place]["id"] is not None:
            step["detail"] = {LIST_ID: wanted[place]["id"]}
    return list(zip(places, steps, strict=True))


def _status(status: str, head: Row, now: str) -> dict[str, Any]:
    """The columns of a new step that follow from its status in the list."""
    own: dict[str, Any] = {"status": status, "basis": "explicit", "cause_seq": head["last_seq"] + 1}
    if status == "pending":
        return own
    if status == "active":
        own["started_at"] = now
    else:
        own["completed_at"] = now
    if status == "completed":
        own["evidence"] = "reported"
    return own


def _heads(head: Row, other_list: bool, wanted: Sequence[Listed], now: str) -> dict[str, Any]:
    """The changes to the task itself."""
    heads = plan_heads(head, now) if other_list else {}
    begun = any(step["status"] in ("active", "completed") for step in wanted)
    if begun and (phase := begun_phase(head)):
        heads["phase"] = phase
        if head["execution_started_at"] is None:
            heads["execution_started_at"] = now
    elif other_list and head["phase"] in ("received", "planning"):
        heads["phase"] = "planned"
    return heads
