"""An embedder behind HTTP: any server with OpenAI's API (POST …/embeddings)."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..model.errors import StoreError, shown
from ..model.settings import Settings
from ..system import http_client
from .lazy_numpy import numpy

if TYPE_CHECKING:
    from .embedding import Vector

QUERY_SECONDS = 3.0
BATCH_SECONDS = 5.0
# After a failure no request is sent for this long, so that not every search waits for the server.
PAUSE_SECONDS = 30.0
MOST_BYTES = 64 << 20
MOST_DIMENSIONS = 16_000


class EndpointEmbedder:
    """Vectors from a server. There is one request without retries; a failure raises and starts a pause."""

    weighs = False
    batch = 64

    def __init__(self, settings: Settings) -> None:
        self.name = settings.embedding_model
        self.dimensions = 0
        self._address = _address(settings.embedding_url)
        self._key = _key(settings.embedding_key_env)
        self._failed_at = -math.inf
        self._failure = ""
        if not self.name:
            raise _error(
                "The embedder is an endpoint, but no model is named.",
                "Set embedding_model to the server's name for the model.",
            )

    def texts(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The vectors of stored texts."""
        return self._ask([text or " " for text in texts], BATCH_SECONDS)

    def query(self, text: str, weights: Mapping[str, float], unknown: float) -> Vector:
        """The vector of a query; the model does its own weighting."""
        return self._ask([text], QUERY_SECONDS)[0]

    def forgive(self) -> None:
        """End the pause after a failure, to try again at once."""
        self._failed_at = -math.inf

    def _ask(self, texts: Sequence[str], seconds: float) -> Sequence[Vector]:
        since = time.monotonic() - self._failed_at
        if since < PAUSE_SECONDS:
            raise _error(self._failure, f"The next attempt is in {PAUSE_SECONDS - since:.0f} s.")
        try:
            return self._read(self._post(texts, seconds), len(texts))
        except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError) as error:
            self._failed_at = time.monotonic()
            self._failure = f"The embedding server {self._address} failed: {_reason(error)}."
            raise _error(self._failure, "Check that it runs, and the settings embedding_*.") from None

    def _post(self, texts: Sequence[str], seconds: float) -> bytes:
        value = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        return http_client.post(self._address, self._key, value, seconds, MOST_BYTES)

    def _read(self, answer: bytes, count: int) -> Sequence[Vector]:
        """The vectors of an answer, in the order of the texts, each of length one."""
        np = numpy()
        rows = json.loads(answer)["data"]
        if len(rows) != count:
            raise ValueError(f"it answered {len(rows)} vectors for {count} texts")
        ordered = sorted(rows, key=lambda row: row["index"])
        if [row["index"] for row in ordered] != list(range(count)):
            raise ValueError("its vectors are not numbered as the texts were")
        if len({len(row["embedding"]) for row in ordered}) != 1:
            raise ValueError("its vectors differ in length")
        with np.errstate(over="ignore"):  # values that are too large are found below
            vectors = np.array([row["embedding"] for row in ordered], np.float32)
        if vectors.ndim != 2 or not 1 <= vectors.shape[1] <= MOST_DIMENSIONS:
            raise ValueError("its vectors are not lists of numbers")
        if self.dimensions not in (0, vectors.shape[1]):
            raise ValueError(f"its vectors had {self.dimensions} numbers, and now have {vectors.shape[1]}")
        if not np.isfinite(vectors).all():
            raise ValueError("its vectors contain NaN or infinity")
        self.dimensions = vectors.shape[1]
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _address(url: str) -> http_client.Address:
    try:
        return http_client.read_address(url, "embeddings")
    except ValueError:
        raise _error(
            f"embedding_url is {shown(url)}, which is not the address of a server.",
            "Set it to the base address of an OpenAI-compatible server, like http://localhost:8080/v1.",
        ) from None


def _key(variable: str) -> str:
    try:
        return http_client.read_key(variable)
    except ValueError:
        raise _error(f"The key in {shown(variable)} has invalid characters.", "Set it again.") from None


def _error(message: str, hint: str) -> StoreError:
    return StoreError("embedder_unavailable", message, hint)


def _reason(error: Exception) -> str:
    if isinstance(error, (LookupError, TypeError, RecursionError, OverflowError)):
        return "its response is not a list of vectors"
    if isinstance(error, json.JSONDecodeError):
        return "its response is not JSON"
    return http_client.error_text(error)
