"""Limits of a goal: its budget, repeated blockers, and the criteria that must be met first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..model import validate
from ..model.errors import Conflict, InvalidInput, shown
from ..model.results import GoalBudget
from ..model.types import is_dict
from ..model.validate import blake2b
from ..store.tx import Row

SETTLED = ("met", "waived")


BUDGETS = ("attempts", "tokens", "seconds", "cost")


BLOCKER_LIMIT = 3


MOST_WORDS = 8  # of a blocker: what comes later is particular to the case


# Why a goal stands still until someone resets it.
BLOCKED, SPENT = "blocked", "budget"


STOPPED = (BLOCKED, SPENT)


# Of the metadata of a goal.
BUDGET, LIMIT, SPENDING = "goal_budget", "goal_blocker_limit", "goal_spent"


_REMARK = re.compile(r"\([^()]{0,200}\)|\[[^][]{0,200}\]|\"[^\"]{0,200}\"|'[^']{0,200}'|`[^`]{0,200}`")


# How a task ends that was an attempt in vain.
IN_VAIN = ("failed", "abandoned", "cancelled")


def read_budget(budget: Any) -> dict[str, float]:
    """The limits of a budget; what is not limited is not there."""
    if not is_dict(budget) or not set(budget) <= set(BUDGETS):
        raise InvalidInput(
            "invalid_argument",
            f"{shown(budget)} is no budget.",
            f'Give some of {", ".join(BUDGETS)}, for example {{"attempts": 5, "tokens": 200000}}.',
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
    """What was spent, as numbers."""
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
    """What a goal may use, and what it has used: attempts in vain, tokens, time and money."""
    reported = _numbers(metadata.get(SPENDING))
    used: dict[str, float] = {
        "attempts": sum(statuses.get(status, 0) for status in IN_VAIN),
        "tokens": int(reported.get("tokens", 0)) + models[0],
        "seconds": round(max(0.0, seconds), 3),
        "cost": round(reported.get("cost", 0.0) + models[1], 6),
    }
    limits = _numbers(metadata.get(BUDGET))
    spent = tuple(name for name in BUDGETS if name in limits and used[name] >= limits[name])
    return GoalBudget(limits=limits, used=used, exhausted=spent)


def _numbers(value: Any) -> dict[str, float]:
    """The numbers of a mapping in the metadata, which anybody may have written."""
    if not is_dict(value):
        return {}
    return {
        name: number
        for name, number in value.items()
        if name in BUDGETS and isinstance(number, (int, float)) and not isinstance(number, bool)
    }


def blocker_limit(metadata: Mapping[str, Any]) -> int:
    """How often the same blocker may come."""
    found: Any = metadata.get(LIMIT)
    return found if type(found) is int and found > 0 else BLOCKER_LIMIT


def fingerprint(blocker: str) -> str:
    """What is the same for the same blocker, whatever its numbers, paths and names; it has no words."""
    told = [word.strip(".,:;!?") for word in _REMARK.sub(" ", blocker[:2000]).casefold().split()]
    plain = " ".join([word for word in told if word.isalpha()][:MOST_WORDS]) or " ".join(
        blocker.casefold().split()
    )
    return blake2b(plain.encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def check_ready(goal: str, criteria: Sequence[Row]) -> None:
    """Raise unless all criteria of a goal are met or waived."""
    missing = [row for row in criteria if row["status"] not in SETTLED]
    if missing:
        named = ", ".join(f"#{row['seq']} ({row['status']})" for row in missing[:10])
        raise Conflict(
            "illegal_transition",
            f"Goal {goal} is not reached: {len(missing)} of {len(criteria)} criteria are not met: {named}.",
            "goal_check looks at them; goal_finish with `despite` completes it all the same, and says why.",
            missing=[row["seq"] for row in missing],
        )
