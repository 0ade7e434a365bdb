"""A copy of a store's vectors in memory, for engines that cannot compare vectors themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..store.tx import Tx
from .lazy_numpy import numpy

if TYPE_CHECKING:
    from .vectors import Model

# With more vectors only the newest are kept. They are float32, twice the stored size, because converting them
# for each search would take five times as long as comparing them.
MOST_BYTES = 256 << 20
BLOCK = 16_384
_SOME = "SELECT number, id, vector FROM vectors WHERE model = :model"


class Matrix:
    """The vectors of one model; each search adds the new ones."""

    def __init__(self) -> None:
        self._held: Held | None = None

    def of(self, tx: Tx, model: Model) -> Held:
        """All vectors of a model in this snapshot, and perhaps some newer ones."""
        # Never changed, only replaced: if two threads meet here, one of them works for nothing.
        held = self._held
        if held is None or held.model != (model.number, model.name) or not (held := held.grown(tx)):
            held = Held.read(tx, model)
        self._held = held
        return held


class Held:
    """Immutable vectors, so that several threads can use them."""

    def __init__(self, model: tuple[int, str], dimensions: int) -> None:
        np = numpy()
        self.model = model
        self._dimensions = dimensions
        self._newest: tuple[Any, ...] | None = None
        self._ids = np.zeros(0, np.int64)
        self._blocks: list[Any] = []

    @classmethod
    def read(cls, tx: Tx, model: Model) -> Held:
        """All vectors of a model or, if there are too many, those of the newest texts."""
        held = cls((model.number, model.name), model.dimensions)
        most = held._most()
        rows = tx.database.query(
            f"{_SOME} ORDER BY id DESC LIMIT :most", {"model": model.number, "most": most}
        )
        rows.sort()
        held._add(rows)
        return held

    def _most(self) -> int:
        return MOST_BYTES // (4 * max(1, self._dimensions))

    def grown(self, tx: Tx) -> Held | None:
        """These vectors and those added since; None if the old ones are gone or there are too many."""
        if self._newest is None:
            return None
        rows = tx.database.query(
            f"{_SOME} AND number >= :newest ORDER BY number",
            {"model": self.model[0], "newest": self._newest[0]},
        )
        if not rows or rows[0] != self._newest:
            # The snapshot is older than the last one, or all vectors were rebuilt.
            return None
        if len(rows) == 1:
            return self
        if len(self._ids) + len(rows) > 1.2 * self._most():
            return None
        held = Held(self.model, self._dimensions)
        held._ids, held._blocks = self._ids, list(self._blocks)
        held._add(rows[1:])
        return held

    def _add(self, rows: list[tuple[Any, ...]]) -> None:
        np = numpy()
        if rows:
            self._newest = rows[-1]
            self._ids = np.concatenate([self._ids, np.array([row[1] for row in rows], np.int64)])
            for begin in range(0, len(rows), BLOCK):
                raw = b"".join(row[2] for row in rows[begin : begin + BLOCK])
                block = np.frombuffer(raw, "<f2").reshape(-1, self._dimensions).astype(np.float32)
                block /= np.maximum(np.linalg.norm(block, axis=1, keepdims=True), 1e-12)
                last = self._blocks[-1] if self._blocks else None
                if last is not None and len(last) + len(block) <= BLOCK:
                    self._blocks[-1] = np.concatenate([last, block])
                else:
                    self._blocks.append(block)
        self._order = np.argsort(self._ids, kind="stable")
        self._sorted = self._ids[self._order]
        self._starts = np.cumsum([0, *(len(block) for block in self._blocks)])

    def nearest(self, wanted: Any, ids: Sequence[int], limit: int) -> list[int]:
        """The texts closest to a vector."""
        np = numpy()
        texts, cosines = self._compare(wanted, ids)
        if len(texts) > limit:
            least = np.partition(cosines, -limit)[-limit]
            texts, cosines = texts[cosines >= least], cosines[cosines >= least]
        return texts[np.lexsort((-texts, -cosines))][:limit].tolist()

    def cosines(self, wanted: Any, ids: Sequence[int]) -> dict[int, float]:
        """How close texts are to a vector."""
        texts, cosines = self._compare(wanted, ids)
        return dict(zip(texts.tolist(), cosines.tolist(), strict=True))

    def _compare(self, wanted: Any, ids: Sequence[int]) -> tuple[Any, Any]:
        """The texts with vectors, and the cosine of the best piece of each."""
        np = numpy()
        asked = np.sort(np.array(ids, np.int64))
        asked = asked[np.diff(asked, prepend=-1) > 0]
        begin = np.searchsorted(self._sorted, asked, "left")
        counts = np.searchsorted(self._sorted, asked, "right") - begin
        asked, begin, counts = asked[counts > 0], begin[counts > 0], counts[counts > 0]
        if not len(asked):
            return asked, np.zeros(0, np.float32)
        first = np.cumsum(counts) - counts
        rows = self._order[np.repeat(begin - first, counts) + np.arange(counts.sum())]
        cosines = np.maximum.reduceat(self._dot(wanted, rows), first)
        return asked, np.round(cosines.astype(np.float64), 5)

    def _dot(self, wanted: Any, rows: Any) -> Any:
        np = numpy()
        products = np.empty(len(rows), np.float32)
        places = np.searchsorted(self._starts, rows, "right") - 1
        for number, block in enumerate(self._blocks):
            here = places == number
            inside = rows[here] - self._starts[number]
            # Selecting many rows costs more than multiplying all of them.
            many = 4 * len(inside) > len(block)
            products[here] = (block @ wanted)[inside] if many else block[inside] @ wanted
        return products
