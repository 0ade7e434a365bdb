"""The rules: statuses and their transitions, durations, ids, plans. Data and pure functions, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from .errors import Conflict, InvalidInput, shown
from .types import ActionType, Channel, EntryType, LinkKind, Phase, is_dict, is_list

# The one list of open and ended statuses of tasks, and of steps that are over.
OPEN = ("active", "waiting", "paused")
ENDED = ("completed", "failed", "cancelled", "abandoned", "superseded")
ITEM_OPEN = ("pending", "active")
ITEM_OVER = ("completed", "failed", "skipped", "cancelled")

# An ended task continues only if someone reopens it; a failed one may also be given up.
TASK_TRANSITIONS = {
    "active": ("waiting", "paused", *ENDED),
    "waiting": ("active", "paused", *ENDED),
    "paused": ("active", "waiting", *ENDED),
    "completed": ("active", "superseded"),
    "failed": ("active", "cancelled", "abandoned", "superseded"),
    "cancelled": ("active", "superseded"),
    "abandoned": ("active", "cancelled", "superseded"),
    "superseded": ("active",),
}
PHASES: tuple[str, ...] = get_args(Phase)
ITEM_TRANSITIONS = {
    "pending": ("active", "completed", "failed", "skipped", "cancelled"),
    "active": ("pending", "completed", "failed", "skipped", "cancelled"),
    "completed": ("active", "pending"),
    "failed": ("pending", "active", "completed", "skipped", "cancelled"),
    "skipped": ("pending", "active", "completed", "cancelled"),
    "cancelled": ("pending", "active"),
}
ACTION_TRANSITIONS = {
    "started": ("completed", "failed", "skipped"),
    "completed": (),
    "failed": (),
    "skipped": (),
}
EFFECT_TRANSITIONS = {
    "intended": ("did", "did_not", "unknown"),
    "unknown": ("did", "did_not"),
    "did": ("undone", "superseded"),
    "did_not": (),
    "undone": (),
    "superseded": (),
}
ENTRY_TRANSITIONS = {
    "active": ("resolved", "superseded", "invalidated"),
    "resolved": ("active", "invalidated"),
    "superseded": ("invalidated",),
    "invalidated": (),
}
ITEM_STATUSES = tuple(ITEM_TRANSITIONS)
TASK_STATUSES = tuple(TASK_TRANSITIONS)
ACTION_STATUSES = tuple(ACTION_TRANSITIONS)
ACTION_TYPES: tuple[str, ...] = get_args(ActionType)
# The types that callers write; snapshots and facts have operations of their own.
ENTRY_TYPES: tuple[str, ...] = tuple(word for word in get_args(EntryType) if word not in ("snapshot", "fact"))
CHANNELS: tuple[str, ...] = get_args(Channel)
LINK_KINDS: tuple[str, ...] = get_args(LinkKind)
FILE_CHANGES = ("created", "modified", "deleted")
APPROVAL_MODES = ("auto", "manual", "confirm")
# The name under which a task's metadata keep an id that its caller gave it, and the kind of its label.
EXTERNAL_ID = "external_id"

# The first words of the messages, on the channel `tool`, with which a host reports that a session ended or
# continues.
SESSION_ENDED, SESSION_CONTINUES = "The session ended", "The session goes on"

# The label of the snapshots that hold what `git status --porcelain=v2 --branch` printed.
TREE_STATUS = "git status"

# The reasons for which upkeep pauses a task, and the attention it requests when the session is gone.
IDLE, SESSION_GONE, NEEDS_REVIEW = "idle", "session gone", "needs review: session "

# The reason of a task whose session ended with work left, and every reason for which a task rests. Nobody
# decided to pause a resting task, so any work on it makes it active again.
SESSION_OVER = "session ended"
RESTING = (IDLE, SESSION_GONE, SESSION_OVER)
# The reason of a task that counts as completed because its steps are and its agent said so.
INFERRED = "inferred"

# The timestamp that a task gets when it first enters a phase.
PHASE_STAMPS = {
    "planned": "plan_generated_at",
    "executing": "execution_started_at",
    "recovering": "execution_started_at",
    "synthesizing": "synthesis_started_at",
}


def phase_stamps(head: Mapping[str, Any], phase: str, now: str, planned: bool = False) -> dict[str, str]:
    """The timestamps that entering a phase, or getting a plan, sets for the first time."""
    names = {PHASE_STAMPS.get(phase), "plan_generated_at" if planned else None}
    return {name: now for name in names if name and not head.get(name)}


def check_transition(
    table: Mapping[str, Sequence[str]], what: str, old: str, new: str, again: bool = True
) -> None:
    """Raise `illegal_transition` unless `new` may follow `old`; with `again`, staying the same is fine."""
    following = table.get(old, ())  # an undone record is invalidated, which is not in every table
    if new in following or (again and new == old):
        return
    legal = ", ".join(following) or "nothing: it is final"
    raise Conflict(
        "illegal_transition",
        f"{what} is already {old}." if new == old else f"{what} is {old} and cannot become {new}.",
        f"From {old} it may become: {legal}.",
        current=old,
        legal=list(following),
    )


# --- durations --------------------------------------------------------------------------------------

_UNITS = {"d": 1440, "h": 60, "m": 1}
_MOST_DIGITS = 7


def parse_duration(what: str, value: Any) -> int:
    """The minutes of a duration such as `24h` or `1d12h30m`, or of a number of minutes; never zero."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**_MOST_DIGITS:
        return value
    minutes = _minutes(value.strip()) if isinstance(value, str) else 0
    if not minutes:
        raise InvalidInput(
            "invalid_time",
            f"{what} cannot be {shown(value)}.",
            "Use days, hours and minutes in this order, for example 24h or 1d12h30m, or a number of minutes.",
        )
    return minutes


def _minutes(text: str) -> int:
    """The minutes of a duration; 0 if the text is not one."""
    if text.isascii() and text.isdecimal():
        return int(text) if len(text) <= _MOST_DIGITS else 0
    total = 0
    for unit, length in _UNITS.items():
        digits, found, rest = text.partition(unit)
        if found:
            if not (digits.isascii() and digits.isdecimal()) or len(digits) > _MOST_DIGITS:
                return 0
            total += int(digits) * length
            text = rest
    return 0 if text else total


# --- ids --------------------------------------------------------------------------------------------

CROCKFORD = "0123456789abcdefghjkmnpqrstvwxyz"
ID_LENGTH = 10
_SLUG_REST = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LOOKALIKE = str.maketrans("ilo", "110")


def make_id(random: bytes) -> str:
    """A short id from random bytes (5 bits each): 10 characters without look-alikes."""
    return "".join(CROCKFORD[byte & 31] for byte in random[:ID_LENGTH])


def normal_id(text: str) -> str | None:
    """A task id or prefix in its normal form, or None if it cannot be one."""
    plain = text.strip().lower().translate(_LOOKALIKE)
    if 0 < len(plain) <= ID_LENGTH and all(letter in CROCKFORD for letter in plain):
        return plain
    return None


def is_slug(text: str) -> bool:
    """Whether a text can be a step's id: letters, digits, `.`, `_`, `-`, at most 64."""
    return 0 < len(text) <= 64 and text[0] not in ".-_" and _SLUG_REST.issuperset(text)


# --- plans ------------------------------------------------------------------------------------------

MOST_LEVELS = 8
_TITLES = ("title", "stepDescription", "description", "text", "content", "name", "narrative_step")
_KNOWN = {
    "id": "id",
    "stage": "stage",
    "depends_on": "depends_on",
    "dependsOn": "depends_on",
    "dependencies": "depends_on",
    "tool": "tool",
    "toolName": "tool",
    "input": "input",
    "sub_task_input": "input",
    "narrative": "narrative",
    "narrative_step": "narrative",
}


def parse_plan(
    plan: Any, taken: Iterable[str] = (), live: Mapping[str, str] | None = None
) -> list[dict[str, Any]]:
    """Parse a plan in any of its forms into steps with id, title, stage, depends_on and detail.

    The forms are: titles; steps as objects; stages `{"stage": 1, "steps": […]}`; a graph `{id: {title,
    depends_on}}`; or a text with one step per line. Steps without an id get `s1`, `s2`, …, never one that is
    `taken`. A step with the id or title of a `live` step (a mapping of ids to titles) continues that step.
    """
    steps = list(_steps(plan, None))
    live = dict(live or {})
    own_ids: set[str] = set()
    taken = set(taken)
    for step in steps:
        if (slug := step["id"]) is None:
            continue
        if not isinstance(slug, str) or not is_slug(slug):
            raise InvalidInput(
                "invalid_plan",
                f"{shown(slug)} cannot be a step's id.",
                "Use up to 64 letters, digits, dots, dashes or underscores, or give no id.",
            )
        if slug in own_ids or (slug in taken and slug not in live):
            raise InvalidInput(
                "invalid_plan",
                f"The step id {slug} is already used.",
                "Ids are never reused, not even after a step was dropped. Choose another one.",
            )
        own_ids.add(slug)
    used = own_ids.union(taken)
    same: dict[str, list[str]] = {}
    for name, title in reversed(live.items()):
        if name not in own_ids:
            same.setdefault(title, []).append(name)
    number = 0
    for step in steps:
        if step["id"] is None and same.get(step["title"]):
            step["id"] = same[step["title"]].pop()
        while step["id"] is None:
            number += 1
            if f"s{number}" not in used:
                step["id"] = f"s{number}"
                used.add(step["id"])
    by_title = {step["title"]: step["id"] for step in steps}
    for step in steps:
        step["depends_on"] = [_dependency(step, ref, used, by_title) for ref in step["depends_on"]]
    return steps


def _steps(plan: Any, stage: str | None, depth: int = 0) -> Iterable[dict[str, Any]]:
    if depth > MOST_LEVELS:
        raise InvalidInput(
            "invalid_plan",
            f"The plan is nested more than {MOST_LEVELS} levels deep.",
            "Use stages with steps, and sub-tasks for anything deeper.",
        )
    if isinstance(plan, str):
        for line in plan.splitlines():
            if title := _unbulleted(line):
                yield _step(title, stage)
    elif is_dict(plan):
        for name in ("stages", "steps", "items", "plan", "subtasks"):
            if is_list(plan.get(name)):
                own = plan.get("stage", stage)
                yield from _steps(plan[name], None if own is None else str(own), depth + 1)
                return
        for slug, body in plan.items():
            fields = body if is_dict(body) else {"title": body}
            yield _step({"id": slug, "title": slug, **fields}, stage)
    elif is_list(plan):
        for part in plan:
            if is_dict(part) and is_list(part.get("steps")):
                yield from _steps(part, stage, depth + 1)
            else:
                yield _step(part, stage)
    elif plan is not None:
        raise InvalidInput(
            "invalid_plan",
            f"A plan cannot be of type {type(plan).__name__}.",
            "Give a list of titles, a list of steps, stages with steps, or a mapping of ids to steps.",
        )


def _step(step: Any, stage: str | None) -> dict[str, Any]:
    if isinstance(step, str) and (plain := step.strip()):  # the usual form, in plans of thousands too
        named = {"given": ["stage"]} if stage is not None else {}
        return {"id": None, "title": plain, "stage": stage, "depends_on": [], "detail": {}, **named}
    fields: dict[str, Any] = step if is_dict(step) else {"title": step}
    key = next((key for key in _TITLES if isinstance(fields.get(key), str)), None)
    title = fields[key].strip() if key else None
    if not title:
        raise InvalidInput(
            "invalid_plan",
            f"A step of the plan has no title: {shown(step)}.",
            'Each step is a text, or an object with "title".',
        )
    known = {_KNOWN[name]: value for name, value in fields.items() if name in _KNOWN and name != key}
    rest = {name: value for name, value in fields.items() if name not in _KNOWN and name != key}
    own_stage = known.pop("stage", None)
    given = [name for name, value in (("stage", own_stage or stage), ("depends_on", known.get("depends_on")))
             if value is not None]  # fmt: skip
    depends: Any = known.pop("depends_on", None) or []
    return {
        "id": known.pop("id", None),
        "title": title,
        "stage": stage if own_stage is None else str(own_stage),
        "depends_on": depends if is_list(depends) else [depends],
        "detail": {**known, **rest},
        **({"given": given} if given else {}),
    }


def _dependency(step: dict[str, Any], ref: Any, used: set[str], titles: dict[str, str]) -> str:
    name = str(ref)
    if name in used:
        return name
    if name in titles:
        return titles[name]
    raise InvalidInput(
        "invalid_plan",
        f"Step {step['id']} depends on {shown(ref)}, which is not a step of this plan.",
        "Name a step's id.",
    )


def _unbulleted(line: str) -> str:
    text = line.strip()
    head, _, tail = text.partition(" ")
    if head in ("-", "*", "•", "+") or (head[:-1].isdecimal() and head[-1:] in (".", ")", ":")):
        text = tail.strip()
    if text[:1] == "[":
        for box in ("[ ]", "[x]", "[X]"):
            if text.startswith(box):
                text = text[3:].strip()
    return text


def check_dependencies(depends_on: Mapping[str, Sequence[str]]) -> None:
    """Raise `dependency_cycle` if steps depend on one another in a cycle, and name them."""
    state: dict[str, int] = {}
    for start in depends_on:
        stack = [(start, iter(depends_on[start]))]
        if state.setdefault(start, 1) == 2:
            continue
        while stack:
            name, rest = stack[-1]
            below = next(rest, None)
            if below is None:
                state[name] = 2
                stack.pop()
            elif state.get(below) == 1:
                path = [entry for entry, _ in stack]
                cycle = [*path[path.index(below) :], below]
                raise InvalidInput(
                    "dependency_cycle",
                    f"These steps depend on one another: {' → '.join(cycle)}.",
                    "Remove one of these dependencies.",
                    cycle=cycle,
                )
            elif below not in state and below in depends_on:
                state[below] = 1
                stack.append((below, iter(depends_on[below])))


def is_ready(depends_on: Sequence[str], statuses: Mapping[str, str]) -> bool:
    """Whether all dependencies of a step are over; a dropped step blocks nothing."""
    return all(
        statuses.get(name, "completed") in ("completed", "skipped", "cancelled") for name in depends_on
    )


def plan_position(items: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Where a plan stands, from its steps in order: done, total, current and next.

    Skipped and cancelled steps do not count, so that 100 % can be reached. Current is the step that became
    active last; next is the first pending one whose dependencies are over.
    """
    statuses = {item["item_id"]: item["status"] for item in items}
    done = sum(item["status"] == "completed" for item in items)
    total = sum(item["status"] not in ("skipped", "cancelled") for item in items)
    active = [item for item in items if item["status"] == "active"]
    current = max(active, key=lambda item: item["version"])["item_id"] if active else None
    pending = [item for item in items if item["status"] == "pending"]
    ready = (item for item in pending if is_ready(item["depends_on"], statuses))
    following = next(ready, pending[0] if pending else None)
    return {
        "done": done,
        "total": total,
        "current_item": current,
        "next_item": following["item_id"] if following else None,
    }
