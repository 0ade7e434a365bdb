"""The likeness of texts to a query by their vectors, in one snapshot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..store.tx import Tx
from .embedding import Embedder
from .postings import StorePostings
from .vectors import Model, Vectors, rounded

NEAREST = 100  # texts considered for their likeness alone: as many as fit on a page
# Only the newest texts of a scope are compared; more would take too long.
COMPARED = 50_000


class VectorLikeness:
    """The likeness by the vectors of a store; `wanted` is the query's vector, unless the store weights it."""

    def __init__(
        self,
        tx: Tx,
        vectors: Vectors,
        model: Model,
        postings: StorePostings,
        embedder: Embedder,
        text: str,
        wanted: Sequence[float] | None,
    ) -> None:
        self._tx = tx
        self._vectors = vectors
        self._model = model
        self._postings = postings
        self._embedder = embedder
        self._text = text
        self._wanted: Any = None if wanted is None else rounded(wanted)

    def closest(self, weights: Mapping[str, float], total: int) -> Sequence[int]:
        """The closest texts in scope."""
        if self._wanted is None:
            self._wanted = rounded(self._embedder.query(self._text, weights, math.log(1 + 2 * total)))
        scope = self._postings.all_in_scope(COMPARED)
        if scope is None or not self._wanted.any():
            return ()
        return self._vectors.nearest(self._tx, self._model, self._wanted, *scope, NEAREST)

    def of(self, texts: Sequence[int]) -> Mapping[int, float]:
        """How close some texts are."""
        return self._vectors.cosines(self._tx, self._model, self._wanted, texts)
