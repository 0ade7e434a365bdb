"""Build facts from rows, stored or derived from the columns of tasks; and match them with a query."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..model import foreign_statuses, validate
from ..model.lazy_regex import lazy_regex
from ..model.results import Fact
from ..store.tx import Row, Tx
from .fact_queries import FactQueries

_WORDS = lazy_regex(r"\w+")


def read_fact(row: Row, labels: dict[str, str]) -> Fact:
    """A stored fact, without its tags."""
    data: dict[str, Any] = json.loads(row["data"])
    task = row["kind"] != "facts"

    def text(name: str) -> str | None:
        value = data.get(name)
        return value if isinstance(value, str) else None  # an import may hold anything

    return Fact(
        id=f"{row['task_id']}#{row['seq']}",
        task_id=row["task_id"],
        seq=row["seq"],
        category=text("category") or "project",
        entity=labels.get(row["task_id"], row["task_id"]) if task else text("entity"),
        key=row["key"] if task else text("key"),
        value=data.get("value"),
        text=row["text"] if row["key"] is None else text("text"),
        why=text("why"),
        importance=data.get("importance"),
        status=row["status"],
        at=text("at") or row["timestamp"],
        channel=row["channel"],
    )


def with_columns(tx: Tx, facts: list[Fact], heads: Sequence[Row], history: bool) -> list[Fact]:
    """Add the facts from the columns of tasks; a stored fact that contradicts a column becomes history."""
    labels = FactQueries(tx).own_labels([head["task_id"] for head in heads])
    derived: list[Fact] = []
    outdated: set[str] = set()
    stored_by_task: dict[str, dict[str | None, Fact]] = {}
    for fact in facts:
        if fact.status == "active":
            stored_by_task.setdefault(fact.task_id, {})[fact.key] = fact
    for head in heads:
        own = stored_by_task.get(head["task_id"], {})
        now = {"title": head["name"], "status": head["status"], "next": head["next_step"]}
        seqs = {"title": head["name_seq"], "status": head["version"], "next": head["next_seq"]}
        for key, value in now.items():
            stored = own.get(key)
            if stored is not None and _still(key, stored.value, value):
                continue
            if stored is not None:
                outdated.add(stored.id)
            if value is not None:
                derived.append(
                    Fact(
                        id=f"{head['task_id']}#{seqs[key]}",
                        task_id=head["task_id"],
                        seq=seqs[key],
                        category="project",
                        entity=labels.get(head["task_id"], head["task_id"]),
                        key=key,
                        value=value,
                        derived=True,
                    )
                )
    past = [fact.replace(status="superseded") for fact in facts if history and fact.id in outdated]
    return [fact for fact in facts if fact.id not in outdated] + derived + past


def _still(key: str, stored: Any, value: Any) -> bool:
    """Whether a stored fact agrees with the column of its task."""
    if not isinstance(stored, str):  # an import may hold anything
        return False
    if key == "status":
        return foreign_statuses.means(stored, "active-tasks") == value
    return (stored.strip() if key == "title" else stored or None) == value


def fits(fact: Fact, key: str | None, category: str | None) -> bool:
    """Whether a fact has the wanted key and category."""
    return (key is None or fact.key == key) and (category is None or fact.category == category)


def query_words(query: Any) -> frozenset[str]:
    """The words of a query, without case."""
    if query is None:
        return frozenset()
    return frozenset(_WORDS.findall(validate.text("query", query, 10_000).casefold()))


def score(fact: Fact, wanted: frozenset[str]) -> int:
    """The number of wanted words that a fact contains."""
    value = fact.value if isinstance(fact.value, str) else validate.dumps(fact.value)
    parts = (fact.entity, fact.key, fact.text, value, fact.why)
    own = set(_WORDS.findall(" ".join(part for part in parts if part).casefold()))
    return len(wanted & own)
