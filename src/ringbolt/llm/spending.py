"""What models have cost in this store, for budgets: sums over the events `model.used`."""

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
    """What a task has spent in total, and what all tasks have spent in a day."""

    task_tokens: int = 0
    day_tokens: int = 0
    day_cost: float = 0.0


def spent(tx: Tx, task_id: str, day: str) -> Spent:
    """The sums for a task and for a day."""
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
    """Add the usage of a model."""
    tx.database.run(
        _ADD,
        {
            "day": day, "task_id": task_id, "model": model, "calls": calls, "tokens_in": tokens_in,
            "tokens_out": tokens_out, "cost": cost,
        },
    )  # fmt: skip
