"""The vectors of a store: find texts without vectors, write vectors, and find the closest texts in a scope.

PostgreSQL with pgvector compares vectors itself; elsewhere they are float16 blobs, and each process keeps a
copy in memory. Both return the same results: every text in scope is compared, without an approximate index.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..model.errors import StoreError
from ..model.types import Value
from ..store.event_texts import SILENT, full_text
from ..store.queries.search import Search
from ..store.tx import Row, Tx
from .embedding import chunks
from .lazy_numpy import numpy
from .vector_matrix import Matrix

_MODEL = "SELECT model, dimensions, done_from, done_to FROM vector_models WHERE name = :name"
_SILENT = ", ".join(f"'{kind}'" for kind in sorted(SILENT))
_WITHOUT = (
    f" FROM events e WHERE e.id > :after AND e.id < :before AND e.event_type NOT IN ({_SILENT})"
    " AND e.forgotten IS NULL AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.model = :model AND v.id = e.id"
    " AND v.chunk = 0)"
)
_WAITING = f"SELECT e.id{_WITHOUT} ORDER BY e.id DESC LIMIT :limit"
_INSERT = (
    "INSERT INTO vectors (model, id, chunk, vector) VALUES (:model, :id, :chunk, {}) ON CONFLICT DO NOTHING"
)
_LOOPS = "SELECT set_config('enable_nestloop', :how, true)"
_EVERYTHING = 1 << 62
_AT_ONCE = 500


class Model(Value, frozen=True, kw_only=True):
    """A model in a store. All events from `done_from` to `done_to` have their vectors."""

    name: str
    number: int = 0  # 0 if nothing was ever stored for it
    dimensions: int = 0
    done_from: int = _EVERYTHING
    done_to: int = 0

    @property
    def settled(self) -> bool:
        """Whether it is known which events are done."""
        return self.done_from <= self.done_to + 1


class Batch(Value, frozen=True, kw_only=True):
    """Texts that need vectors, and the range that is done once they have them."""

    model: Model
    pieces: Sequence[tuple[int, int, str]]  # event id, number of the piece, text
    done: tuple[int, int] | None
    more: bool


class Vectors:
    """The vectors of a store; lives as long as the store is open."""

    def __init__(self) -> None:
        self._matrix = Matrix()

    def model(self, tx: Tx, name: str) -> Model:
        """The row of a model in the store; an empty one if it has none."""
        rows = tx.database.query(_MODEL, {"name": name})
        if not rows:
            return Model(name=name)
        number, dimensions, done_from, done_to = rows[0]
        return Model(name=name, number=number, dimensions=dimensions, done_from=done_from, done_to=done_to)

    def waiting(self, tx: Tx, name: str, settled: int | None, texts: int, pieces: int) -> Batch:
        """The newest texts without vectors, up to a number of texts and pieces; new events before old ones.

        `settled` was read in an earlier transaction, so this one sees every event up to there.
        """
        model = self.model(tx, name)
        if not model.number and settled is not None:
            model = model.replace(done_from=settled + 1, done_to=settled)
        newer = self._without(tx, model, model.done_to, _EVERYTHING, texts)
        older: list[int] = []
        if len(newer) < texts and model.settled:
            older = self._without(tx, model, 0, model.done_from, texts - len(newer))
        selected, left = self._pieces(tx, [*newer, *older], pieces)
        full = len(newer) + len(older) == texts or left > 0
        done: tuple[int, int] | None
        if len(newer) == texts or left > len(older):
            done = (model.done_from, model.done_to) if model.settled else None
        elif not model.settled:
            done = None if settled is None else (0, settled)
        else:
            older = older[: len(older) - left]
            reached = (older[-1] if older else model.done_from) if full else 0
            done = reached, model.done_to if settled is None else max(settled, model.done_to)
        return Batch(model=model, pieces=selected, done=done, more=full)

    def _without(self, tx: Tx, model: Model, after: int, before: int, limit: int) -> list[int]:
        params = {"after": after, "before": before, "limit": limit, "model": model.number}
        return [row[0] for row in tx.database.query(_WAITING, params)]

    def _pieces(self, tx: Tx, ids: Sequence[int], most: int) -> tuple[list[tuple[int, int, str]], int]:
        """The pieces of texts, only whole texts, and the number of texts that did not fit."""
        pieces: list[tuple[int, int, str]] = []
        for begin in range(0, len(ids), _AT_ONCE):
            page = ids[begin : begin + _AT_ONCE]
            rows: dict[int, Row] = {row["id"]: row for row in Search(tx).texts(page)}
            for at, event in enumerate(page):
                parts = chunks(full_text(rows[event])) if event in rows else []
                if pieces and len(pieces) + len(parts) > most:
                    return pieces, len(ids) - begin - at
                pieces += [(event, number, part) for number, part in enumerate(parts)]
        return pieces, 0

    def add(self, tx: Tx, batch: Batch, vectors: Sequence[Sequence[float]]) -> None:
        """Write the vectors of a batch, keeping those that others have written in the meantime."""
        database = tx.database
        database.lock("vectors")  # so that their numbers are committed in order
        dimensions = len(vectors[0]) if len(vectors) else batch.model.dimensions
        now = self.model(tx, batch.model.name)
        if now.number:
            check_dimensions(now, dimensions)
        if batch.model.number and not _covers(now, batch.model):
            return  # the vectors were dropped in between; the texts will be found again
        if not now.number:
            if not dimensions:
                return
            # Random, so that dropped vectors are never mistaken for those that replace them.
            number = int.from_bytes(os.urandom(4), "big") >> 1 or 1
            now = batch.model.replace(number=number, dimensions=dimensions)
            database.run(
                "INSERT INTO vector_models (model, name, dimensions, done_from, done_to)"
                " VALUES (:model, :name, :dimensions, :done_from, :done_to)",
                {
                    "model": now.number, "name": now.name, "dimensions": dimensions,
                    "done_from": now.done_from, "done_to": now.done_to,
                },
            )  # fmt: skip
        compares = database.compares_vectors()
        stored = as_text if compares else as_bytes
        database.run_many(
            _INSERT.format("CAST(:vector AS halfvec)" if compares else ":vector"),
            [
                {"model": now.number, "id": event, "chunk": chunk, "vector": stored(vector)}
                for (event, chunk, _), vector in zip(batch.pieces, vectors, strict=True)
            ],
        )
        if (done := _joined(now, batch.done)) is not None:
            database.run(
                "UPDATE vector_models SET done_from = :done_from, done_to = :done_to WHERE model = :model",
                {"model": now.number, "done_from": done[0], "done_to": done[1]},
            )

    def count_waiting(self, tx: Tx, model: Model) -> int:
        """The approximate number of texts without vectors of a model."""
        sql = f"SELECT count(*){_WITHOUT}"
        params = {"model": model.number, "after": model.done_to, "before": _EVERYTHING}
        newer: int = tx.database.query(sql, params)[0][0]
        if not model.settled:
            return newer
        return newer + tx.database.query(sql, {**params, "after": 0, "before": model.done_from})[0][0]

    # --- comparing --------------------------------------------------------------------------------

    def nearest(
        self,
        tx: Tx,
        model: Model,
        wanted: Any,
        scope: tuple[str, Mapping[str, Any]],
        besides: Sequence[int],
        limit: int,
    ) -> list[int]:
        """The texts closest to a vector, among the results of a query and some others (`besides`)."""
        if tx.database.compares_vectors():
            sql, params = scope
            asked = (
                f"SELECT v.id, min(v.vector <=> CAST(:wanted AS halfvec)) AS far FROM ({sql}) s (id)"
                " JOIN vectors v ON v.id = s.id WHERE v.model = :model GROUP BY v.id"
                " ORDER BY far, v.id DESC LIMIT :nearest"
            )
            more = {"wanted": as_text(wanted), "model": model.number, "nearest": limit}
            # The planner has no statistics of a table that was just filled, and would scan the whole scope
            # for each vector.
            steps = [(_LOOPS, {"how": "off"}), (asked, {**params, **more}), (_LOOPS, {"how": "on"})]
            return [*(row[0] for row in tx.database.query_fresh(steps)[1]), *besides]
        ids = [row[0] for row in tx.database.query_fresh([scope])[0]]
        return self._matrix.of(tx, model).nearest(wanted, [*ids, *besides], limit)

    def cosines(self, tx: Tx, model: Model, wanted: Any, ids: Sequence[int]) -> dict[int, float]:
        """How close texts are to a vector; texts without vectors are left out."""
        if not tx.database.compares_vectors():
            return self._matrix.of(tx, model).cosines(wanted, ids)
        sql = (
            "SELECT id, min(vector <=> CAST(:wanted AS halfvec)) FROM vectors WHERE model = :model"
            " AND id = ANY(CAST(:ids AS bigint[])) GROUP BY id"
        )
        params = {"wanted": as_text(wanted), "model": model.number, "ids": list(ids)}
        # The distance to a zero vector is NaN.
        return {
            event: round(1 - far, 5) if far == far else 0.0 for event, far in tx.database.query(sql, params)
        }


def check_dimensions(model: Model, dimensions: int) -> None:
    """Raise if a model's vectors have changed their length."""
    if dimensions and model.number and dimensions != model.dimensions:
        raise StoreError(
            "embedder_unavailable",
            f"The model {model.name} returns vectors of {dimensions} numbers; those in the store have"
            f" {model.dimensions}.",
            "If the model has changed, rebuild all vectors: reindex(vectors=True).",
        )


def rounded(vector: Sequence[float]) -> Any:
    """A vector rounded as if stored and read again, so that every engine compares the same numbers."""
    np = numpy()
    return np.asarray(vector, np.float32).astype("<f2").astype(np.float32)


def as_bytes(vector: Sequence[float]) -> bytes:
    """A vector as float16 numbers."""
    return numpy().asarray(vector).astype("<f2").tobytes()


def as_text(vector: Sequence[float]) -> str:
    """A vector in the syntax of pgvector."""
    return f"[{','.join(map(str, numpy().asarray(vector).astype('<f2').tolist()))}]"


def _covers(now: Model, before: Model) -> bool:
    return now.number == before.number and now.done_from <= before.done_from and now.done_to >= before.done_to


def _joined(now: Model, done: tuple[int, int] | None) -> tuple[int, int] | None:
    """The range that is done including a batch; None if there is a gap between the two."""
    if done is None or not now.settled:
        return done
    if done[0] > now.done_to + 1 or now.done_from > done[1] + 1:
        return None
    return min(now.done_from, done[0]), max(now.done_to, done[1])
