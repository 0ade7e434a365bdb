"""What models have cost this store: sums of the events `model.used` that were written here, for budgets."""

from __future__ import annotations

from ..model.types import Value
from ..store.tx import Tx

_ADD = (
    "INSERT INTO spending (day, task_id, model, calls, tokens_in, tokens_out, cost)"
    " VALUES (:day, :task_id, :model, :calls, :tokens_in, :tokens_out, :cost)"
    " ON CONFLICT (day, task_id, model) DO UPDATE SET calls = spending.calls + excluded.calls,"
    " tokens_in = spending.tokens_in + excluded.tokens_in,"
    " tokens_out = spending.tokens_out + excluded.tokens_out, cost = spending.cost + excluded.cost"
)


class Spent(Value, frozen=True, kw_only=True):
    """What was spent: by a task in all its life, and by all tasks in a day."""

    task_tokens: int = 0
    day_tokens: int = 0
    day_cost: float = 0.0


def spent(tx: Tx, task_id: str, day: str) -> Spent:
    """What a task, and what a day has spent."""
    ((task_tokens,),) = tx.database.query(
        "SELECT coalesce(sum(tokens_in + tokens_out), 0) FROM spending WHERE task_id = :task_id",
        {"task_id": task_id},
    )
    ((day_tokens, day_cost),) = tx.database.query(
        "SELECT coalesce(sum(tokens_in + tokens_out), 0), coalesce(sum(cost), 0) FROM spending"
        " WHERE day = :day",
        {"day": day},
    )
    return Spent(task_tokens=int(task_tokens), day_tokens=int(day_tokens), day_cost=float(day_cost))


def add(
    tx: Tx, task_id: str, day: str, model: str, calls: int, tokens_in: int, tokens_out: int, cost: float
) -> None:
    """Add what a model was used for."""
    tx.database.run(
        _ADD,
        {
            "day": day, "task_id": task_id, "model": model, "calls": calls, "tokens_in": tokens_in,
            "tokens_out": tokens_out, "cost": cost,
        },
    )  # fmt: skip
