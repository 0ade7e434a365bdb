# pyright: reportPrivateUsage=false
"""Documents by key on a ledger of their own, for frameworks that want a store or a file system.

A collection is a ledger of kind `facts`, like those of memory_store: no list of tasks shows it, exports,
backups and `verify` include it, secrets are redacted, and what was replaced or deleted stays in its history.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ..aio import AsyncTaskMemory, sync_memory
from ..files.fact_queries import FactQueries
from ..ledger.drafts import Draft
from ..memory import TaskMemory
from ..model import validate
from ..model.types import Value
from ..store.tx import Row, Tx

R = TypeVar("R")
T = TypeVar("T")

_WORDS = re.compile(r"\w+")
_LABEL = "documents"
_MOST = 1_000_000


class Document(Value, frozen=True, kw_only=True):
    """One document: its key, its value, and when it was first and last written."""

    key: str
    value: Any
    created: str
    updated: str
    seq: int


class Documents:
    """A collection of documents in the workspace of a memory.

    Args:
        memory: The memory.
        name: The name of the collection.
        searchable: Whether task_recall finds the texts of the documents.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, name: str, *, searchable: bool = True) -> None:
        self.memory, self.searchable = sync_memory(memory), searchable
        self.name = name if len(name) <= 200 else validate.blake2b(name.encode(), digest_size=24).hexdigest()

    def read(self, work: Callable[[Reading], R]) -> R:
        """Read several documents at one moment."""
        return self.memory.store.read(lambda tx: work(Reading(self, tx)))

    def write(self, work: Callable[[Writing], R]) -> R:
        """Read and write several documents in one transaction; `work` may be called twice."""
        return self.memory._commit(lambda tx: work(Writing(self, tx)), tasks=lambda _: ())


class Reading:
    """Reads a collection within one transaction."""

    def __init__(self, documents: Documents, tx: Tx) -> None:
        self._documents, self._tx = documents, tx
        self._ledger: Row | None = self._find()

    def _find(self, lock: bool = False) -> Row | None:
        memory = self._documents.memory
        found = FactQueries(self._tx).labelled(_LABEL, self._documents.name, memory.workspace, lock=lock)
        return self._tx.head(found[0]["task_id"], lock) if found else None

    def get(self, key: str) -> Document | None:
        """The document with a key."""
        if self._ledger is None:
            return None
        rows = self._tx.records(self._ledger["task_id"], "fact", ("active",), 1, key=key)
        return _document(rows[0]) if rows else None

    def all(self, most: int = _MOST) -> list[Document]:
        """Every document, in the order in which they were last written; at most the newest `most`."""
        if self._ledger is None:
            return []
        rows = self._tx.records(self._ledger["task_id"], "fact", ("active",), most)
        return [_document(row) for row in reversed(rows)]


class Writing(Reading):
    """Reads and writes a collection within one transaction."""

    def __init__(self, documents: Documents, tx: Tx) -> None:
        super().__init__(documents, tx)
        self._now = documents.memory._now()
        self._about = {"category": "other", "entity": documents.name}

    def _find(self, lock: bool = True) -> Row | None:
        return super()._find(lock)

    def of(self, documents: Documents) -> Writing:
        """Another collection, in the same transaction."""
        return Writing(documents, self._tx)

    def put(self, key: str, value: Any) -> None:
        """Write a document; an earlier one with the key is history."""
        memory, head = self._documents.memory, self._begun()
        value = memory._plain("value", value)
        old = self.get(key)
        created = old.created if old else self._now
        draft = Draft(
            "fact",
            text=f"{key} = {validate.dumps(value)}" if self._documents.searchable else None,
            data={**self._about, "key": key, "value": value, "created": created},
            sets=_closed(head, [old] if old else []),
            record={"type": "fact", "status": "active", "key": key},
        )
        memory._append(self._tx, head, draft, self._now, "memory_store")

    def delete(self, keys: list[str]) -> None:
        """Delete documents; a key without one is ignored."""
        found = [document for key in keys if (document := self.get(key))]
        if found and self._ledger is not None:
            draft = Draft(
                "fact",
                text=f"deleted: {', '.join(one.key for one in found)}"
                if self._documents.searchable
                else None,
                data={**self._about, "deleted": len(found)},
                sets=_closed(self._ledger, found),
            )
            self._documents.memory._append(self._tx, self._ledger, draft, self._now, "memory_store")

    def next_key(self) -> str:
        """A key that sorts after those of all documents so far."""
        return f"{self._begun()['last_seq'] + 1:012}"

    def _begun(self) -> Row:
        if self._ledger is None:
            memory, name = self._documents.memory, self._documents.name
            heads = {"kind": "facts", "name": name, "workspace_path": memory.workspace}
            self._ledger = memory._begun(self._tx, self._now, heads, [_LABEL, name])
        return self._ledger


def _closed(head: Row, documents: list[Document]) -> dict[str, Any]:
    """The changes that end documents with the next event of their ledger."""
    closed = {"status": "superseded", "ref_seq": head["last_seq"] + 1}
    return {"records": {str(one.seq): closed for one in documents}} if documents else {}


def _document(row: Row) -> Document:
    data: dict[str, Any] = json.loads(row["data"]) if isinstance(row["data"], str) else row["data"]
    return Document(
        key=row["key"],
        value=data.get("value"),
        created=data["created"],
        updated=row["timestamp"],
        seq=row["seq"],
    )


def shared_words(query: str, text: str) -> float:
    """The share of the query's words that a text has."""
    asked = set(_WORDS.findall(query.casefold()))
    return len(asked.intersection(_WORDS.findall(text.casefold()))) / len(asked) if asked else 0.0


def by_shared_words(items: Sequence[T], query: str, text: Callable[[T], str]) -> list[T]:
    """The items that share words with a query, the best first; equals keep their order."""
    scores = [shared_words(query, text(item)) for item in items]
    best = sorted(range(len(items)), key=lambda number: -scores[number])
    return [items[number] for number in best if scores[number]]
