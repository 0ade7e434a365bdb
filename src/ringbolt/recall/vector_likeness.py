"""The likeness of texts to a query by their vectors, in one snapshot."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..store.tx import Tx
from .embedding import Embedder
from .postings import StorePostings
from .vectors import Model, Vectors, rounded

NEAREST = 100  # texts considered for their likeness alone: as many as fit on a page
# Only the newest texts of a scope are compared; more would take too long.
COMPARED = 50_000


@dataclass(slots=True)
class VectorLikeness:
    """The likeness by the vectors of a store; `wanted` is the query's vector, unless the store weights it."""

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
        """How close some texts are."""
        return self.vectors.cosines(self.tx, self.model, self.wanted, texts)
