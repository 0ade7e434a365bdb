# pyright: basic, reportMissingImports=false
"""LangGraph: a `BaseStore` on the memory, for what agents keep across threads."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .documents import Document, Documents, Reading, Writing, shared_words
from .recorder import off_loop


class RingboltStore(BaseStore):
    """Keeps LangGraph's items in a memory. Unlike recording, it raises if the memory fails.

    A query ranks by the words that an item shares with it; there is no index of vectors.

    Args:
        memory: The memory to write to.
        name: The name of the collection; stores with different names share nothing.
    """

    __slots__ = ("_documents",)

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, name: str = "store") -> None:
        self._documents = Documents(memory, f"langgraph/{name}")

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations in one transaction: first all that read, then all that write, the last of a key."""
        every = list(ops)
        puts = {_place(op.namespace, op.key): op for op in every if isinstance(op, PutOp)}

        def work(own: Reading) -> list[Result]:
            found = _Found(own)
            results = [None if isinstance(op, PutOp) else found.answer(op) for op in every]
            if isinstance(own, Writing):
                own.delete([place for place, op in puts.items() if op.value is None])
                for place, op in puts.items():
                    if op.value is not None:
                        own.put(place, op.value)
            return results

        return self._documents.write(work) if puts else self._documents.read(work)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same for event loops."""
        return await off_loop(self.batch, list(ops))


class _Found:
    """Answers the reading operations of one batch."""

    def __init__(self, own: Reading) -> None:
        self._own = own
        self._all: list[Item] | None = None

    def answer(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            document = self._own.get(_place(op.namespace, op.key))
            return _item(document) if document else None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise ValueError(f"Unknown operation: {type(op).__name__}")

    def _items(self) -> list[Item]:
        """Every item, the newest first."""
        if self._all is None:
            self._all = [_item(document) for document in reversed(self._own.all())]
        return self._all

    def _search(self, op: SearchOp) -> list[SearchItem]:
        prefix = tuple(op.namespace_prefix)
        items = [
            item
            for item in self._items()
            if item.namespace[: len(prefix)] == prefix and _fits(item.value, op.filter or {})
        ]
        scores: dict[int, float] = {}
        if op.query:
            for number, item in enumerate(items):
                if score := shared_words(op.query, json.dumps(item.value, ensure_ascii=False)):
                    scores[number] = score
        ranked = sorted(range(len(items)), key=lambda number: -scores.get(number, 0))  # equals: newest first
        return [
            SearchItem(
                items[number].namespace,
                items[number].key,
                items[number].value,
                items[number].created_at,
                items[number].updated_at,
                scores.get(number),
            )
            for number in ranked[op.offset : op.offset + op.limit]
        ]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        found = {item.namespace for item in self._items()}
        found = {one for one in found if all(_matches(one, rule) for rule in op.match_conditions or ())}
        if op.max_depth is not None:
            found = {one[: op.max_depth] for one in found}
        return sorted(found)[op.offset : op.offset + op.limit]


def _place(namespace: tuple[str, ...], key: str) -> str:
    return json.dumps([list(namespace), str(key)], ensure_ascii=False)


def _item(document: Document) -> Item:
    namespace, key = json.loads(document.key)
    created, updated = map(datetime.fromisoformat, (document.created, document.updated))
    return Item(
        value=document.value, key=key, namespace=tuple(namespace), created_at=created, updated_at=updated
    )


def _matches(namespace: tuple[str, ...], rule: MatchCondition) -> bool:
    """Whether a namespace begins or ends with a path, in which `*` stands for any label."""
    path = tuple(rule.path)
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if rule.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(part, path, strict=True))


_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def _fits(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(_compares(_field(value, name), rule) for name, rule in wanted.items())


def _field(value: Mapping[str, Any], name: str) -> Any:
    """A field of a value, or by a name like `user.id` one inside another."""
    if name in value:
        return value[name]
    first, _, rest = name.partition(".")
    inner = value.get(first)
    return _field(inner, rest) if rest and isinstance(inner, Mapping) else None


def _compares(value: Any, rule: Any) -> bool:
    """Whether a field has a value, or fulfils every comparison of a mapping like `{"$gte": 3}`."""
    if not (isinstance(rule, dict) and any(name.startswith("$") for name in rule)):
        return type(value) is type(rule) and value == rule if isinstance(rule, bool) else value == rule
    for name, other in rule.items():
        if name not in _COMPARISONS:
            raise ValueError(f"Unknown comparison {name}: use {', '.join(_COMPARISONS)}.")
        if name not in ("$eq", "$ne"):
            try:
                value, other = float(value), float(other)
            except (TypeError, ValueError):
                return False
        if not _COMPARISONS[name](value, other):
            return False
    return True
