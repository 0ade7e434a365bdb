"""Semantic search: the embedder of a memory, and the texts that still lack vectors.

It never makes a search worse: after a failure the result has a warning and uses words alone. A worker
computes vectors, and each search a few; a write never does.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from msgspec import Struct

from ..ledger.base import Base
from ..model.errors import RingboltError, StoreError
from ..model.settings import Settings
from ..signals.terms import Query
from ..store import Store
from ..store.tx import Tx
from .embedding import Embedder, embedder_for
from .postings import StorePostings
from .vectors import Model, Vectors, check_dimensions, rounded

# How much one search does for texts without vectors.
FILL_TEXTS, FILL_SECONDS = 2000, 0.3
# How long it waits for other writers, which a search must not depend on.
FILL_PATIENCE = 0.5
NEAREST = 100  # texts considered for their likeness alone: as many as fit on a page
# Only the newest texts of a scope are compared; more would take too long.
COMPARED = 50_000

_known: WeakKeyDictionary[Store, SemanticIndex] = WeakKeyDictionary()


def semantic_index(memory: Base) -> SemanticIndex:
    """The semantic index of a memory's store, shared by every memory on that store."""
    if (index := _known.get(memory.store)) is None:
        index = _known.setdefault(memory.store, SemanticIndex(memory.settings))
    return index


class VectorLikeness(Struct):
    """Likeness by the vectors of a store; `wanted` is the query's vector."""

    tx: Tx
    vectors: Vectors
    model: Model
    postings: StorePostings
    embedder: Embedder
    text: str
    wanted: Any  # rounded; None until the words of the query are weighted

    def closest(self, weights: Mapping[str, float], total: int) -> Sequence[int]:
        """The closest texts in scope."""
        if self.wanted is None:
            self.wanted = rounded(self.embedder.query(self.text, weights, math.log(1 + 2 * total)))
        scope = self.postings.all_in_scope(COMPARED)
        if scope is None or not self.wanted.any():
            return ()
        return self.vectors.nearest(self.tx, self.model, self.wanted, *scope, NEAREST)

    def of(self, texts: Sequence[int]) -> Mapping[int, float]:
        """How close these texts are."""
        return self.vectors.cosines(self.tx, self.model, self.wanted, texts)


class PreparedQuery:
    """A query whose slow part is done before the snapshot of a search: anything that may wait, fail or
    write."""

    def __init__(self, meaning: SemanticIndex, query: Query) -> None:
        self._meaning = meaning
        self._query = query
        self.embedder: Embedder | None = None
        self.wanted: Sequence[float] | None = None
        self.warnings: tuple[str, ...] = ()

    def likeness(self, tx: Tx, postings: StorePostings) -> VectorLikeness | None:
        """The likeness of texts to the query; None if it is unavailable."""
        if self.embedder is None:
            return None
        vectors = self._meaning.vectors
        model = vectors.model(tx, self.embedder.name)
        if not model.number or model.dimensions != self.embedder.dimensions:
            return None
        wanted = None if self.wanted is None else rounded(self.wanted)
        return VectorLikeness(tx, vectors, model, postings, self.embedder, self._query.text, wanted)

    def warn(self, error: RingboltError) -> None:
        """Add a warning to the result."""
        self.warnings += (f"{error.message} {error.hint}".strip(),)


class SemanticIndex:
    """The embedder and vectors of a store in this process. It must not refer to the store, or the store could
    never be freed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._embedder: Embedder | None = None
        self.vectors = Vectors()

    def prepared(self, store: Store, query: Query) -> PreparedQuery | None:
        """Prepare a query; None if only words can match it."""
        if query.exact or not query.terms or any(term.prefix for term in query.terms):
            return None
        prepared = PreparedQuery(self, query)
        try:
            embedder = self._ready()
            if not embedder.weighs:
                prepared.wanted = embedder.query(query.text, {}, 0.0)
                model = store.read(lambda tx: self.vectors.model(tx, embedder.name))
                check_dimensions(model, len(prepared.wanted))
        except RingboltError as error:
            if error.code != "embedder_unavailable":
                raise
            prepared.warn(error)
            return prepared
        prepared.embedder = embedder
        try:
            if self._fill(store, embedder):
                prepared.warnings += (self._backlog(store, embedder),)
        except StoreError as error:
            # A full disk or a busy store: texts that have vectors can still be compared.
            prepared.warn(error)
        return prepared

    def check(self) -> None:
        """Raise if no embedder is configured or it does not work."""
        embedder = self._ready(forgive=True)
        embedder.texts(["test"])

    def is_behind(self, store: Store) -> bool:
        """Whether texts may lack vectors; True if the embedder fails, so that the job reports the failure."""
        try:
            name = self._ready().name
        except RingboltError:
            return True

        def work(tx: Tx) -> bool:
            model = self.vectors.model(tx, name)
            newest = tx.last_position()
            return bool(newest) and (model.done_from > 0 or model.done_to < newest)

        return store.read(work, once=True)

    def fill_for(self, store: Store, seconds: float) -> bool:
        """Compute missing vectors for some time; returns whether more are missing."""
        embedder = self._ready(forgive=True)
        until = time.monotonic() + seconds
        while self._batch(store, embedder, None):
            if time.monotonic() > until:
                return True
        return False

    def fill_all(self, store: Store) -> None:
        """Compute all missing vectors."""
        embedder = self._ready(forgive=True)
        while self._batch(store, embedder, None):
            pass
        store.refresh_statistics()

    def _ready(self, forgive: bool = False) -> Embedder:
        if self._embedder is None:
            self._embedder = embedder_for(self._settings)
        if self._embedder is None:
            raise StoreError(
                "embedder_unavailable",
                "No embedder is configured, so vectors cannot be computed.",
                "Set embedder to static or endpoint.",
            )
        if forgive:
            self._embedder.forgive()
        return self._embedder

    def _fill(self, store: Store, embedder: Embedder) -> bool:
        """Compute some missing vectors; returns whether more are missing."""
        until = time.monotonic() + FILL_SECONDS
        done = 0
        while self._batch(store, embedder, FILL_PATIENCE):
            done += embedder.batch
            if not embedder.weighs or done >= FILL_TEXTS or time.monotonic() > until:
                return True
        return False

    def _batch(self, store: Store, embedder: Embedder, patience: float | None) -> bool:
        """Compute the vectors of one batch of texts; returns whether more texts are waiting."""
        size = embedder.batch
        settled = store.read(lambda tx: tx.database.settled())
        batch = store.read(lambda tx: self.vectors.waiting(tx, embedder.name, settled, size, size))
        moved = batch.done not in (None, (batch.model.done_from, batch.model.done_to))
        if batch.pieces or (moved and batch.model.number):
            vectors = embedder.texts([text for _, _, text in batch.pieces]) if batch.pieces else ()
            store.write(lambda tx: self.vectors.add(tx, batch, vectors), settles=True, patience=patience)
        return batch.more

    def _backlog(self, store: Store, embedder: Embedder) -> str:
        def work(tx: Tx) -> int:
            return self.vectors.count_waiting(tx, self.vectors.model(tx, embedder.name))

        return (
            f"{store.read(work)} texts have no vectors yet and are found only by words. A worker or each"
            " search adds some; reindex(vectors=True) adds all."
        )
