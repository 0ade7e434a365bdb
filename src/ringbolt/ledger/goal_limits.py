"""The limits of a goal: its budget, repeated blockers, and the criteria it must meet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model import validate
from ..model.errors import Conflict, InvalidInput, shown
from ..model.lazy_regex import lazy_regex
from ..model.results import GoalBudget
from ..model.types import is_dict
from ..model.validate import blake2b
from ..store.tx import Row

SETTLED = ("met", "waived")
BUDGETS = ("attempts", "tokens", "seconds", "cost")
BLOCKER_LIMIT = 3
MOST_WORDS = 8  # of a blocker that count for its fingerprint: later words are particular to the case
# Reasons for which a goal is stopped until someone resets it.
BLOCKED, SPENT = "blocked", "budget"
STOPPED = (BLOCKED, SPENT)
# Keys in the metadata of a goal.
BUDGET, LIMIT, SPENDING = "goal_budget", "goal_blocker_limit", "goal_spent"
_REMARK = lazy_regex(r"\([^()]{0,200}\)|\[[^][]{0,200}\]|\"[^\"]{0,200}\"|'[^']{0,200}'|`[^`]{0,200}`")
# Statuses of a task that count as a failed attempt.
FAILED_ATTEMPTS = ("failed", "abandoned", "cancelled")


def read_budget(budget: Any) -> dict[str, float]:
    """The limits of a budget; unlimited ones are left out."""
    if not is_dict(budget) or not set(budget) <= set(BUDGETS):
        raise InvalidInput(
            "invalid_argument",
            f"{shown(budget)} is not a budget.",
            f'Use any of {", ".join(BUDGETS)}, for example {{"attempts": 5, "tokens": 200000}}.',
        )
    limits: dict[str, float] = {}
    for name, value in budget.items():
        if value is not None:
            least = 1 if name == "attempts" else 0
            limits[name] = (validate.number if name in ("seconds", "cost") else validate.whole)(
                name, value, least, 10**15
            )
    return limits


def read_spending(spent: Mapping[str, Any]) -> dict[str, float]:
    """Validate reported spending."""
    if not spent or not set(spent) <= {"tokens", "cost"}:
        raise InvalidInput(
            "invalid_argument",
            f"spent cannot be {shown(spent)}.",
            'For example {"tokens": 1200, "cost": 0.02}.',
        )
    return {name: validate.number(name, value, 0, 10**15) for name, value in spent.items()}


def budget_used(
    metadata: Mapping[str, Any], statuses: Mapping[str, int], models: tuple[int, float], seconds: float
) -> GoalBudget:
    """The limits of a goal and what it has used: failed attempts, tokens, seconds, cost."""
    reported = _numbers(metadata.get(SPENDING))
    used: dict[str, float] = {
        "attempts": sum(statuses.get(status, 0) for status in FAILED_ATTEMPTS),
        "tokens": int(reported.get("tokens", 0)) + models[0],
        "seconds": round(max(0.0, seconds), 3),
        "cost": round(reported.get("cost", 0.0) + models[1], 6),
    }
    limits = _numbers(metadata.get(BUDGET))
    spent = tuple(name for name in BUDGETS if name in limits and used[name] >= limits[name])
    return GoalBudget(limits=limits, used=used, exhausted=spent)


def _numbers(value: Any) -> dict[str, float]:
    """The numbers of a mapping in the metadata, which a caller may have set to anything."""
    if not is_dict(value):
        return {}
    return {
        name: number
        for name, number in value.items()
        if name in BUDGETS and isinstance(number, (int, float)) and not isinstance(number, bool)
    }


def blocker_limit(metadata: Mapping[str, Any]) -> int:
    """How often the same blocker may occur."""
    limit: Any = metadata.get(LIMIT)
    return limit if type(limit) is int and limit > 0 else BLOCKER_LIMIT


def fingerprint(blocker: str) -> str:
    """A digest that is equal for the same blocker, ignoring numbers, paths and quoted names."""
    words = [word.strip(".,:;!?") for word in _REMARK.sub(" ", blocker[:2000]).casefold().split()]
    plain = " ".join([word for word in words if word.isalpha()][:MOST_WORDS]) or " ".join(
        blocker.casefold().split()
    )
    return blake2b(plain.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def check_ready(goal: str, criteria: Sequence[Row]) -> None:
    """Raise `illegal_transition` unless all criteria of a goal are met or waived."""
    missing = [row for row in criteria if row["status"] not in SETTLED]
    if missing:
        named = ", ".join(f"#{row['seq']} ({row['status']})" for row in missing[:10])
        raise Conflict(
            "illegal_transition",
            f"Goal {goal} is not reached: {len(missing)} of {len(criteria)} criteria are not met: {named}.",
            "Run goal_check, or complete it anyway with goal_finish and a reason in `despite`.",
            missing=[row["seq"] for row in missing],
        )
