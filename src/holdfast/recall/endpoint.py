"""An embedder behind HTTP: any server that answers POST …/embeddings as OpenAI's does."""

from __future__ import annotations

import json
import math
import os
import threading
import time

from ..errors import StoreError, shown
from .numbers import numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from http.client import HTTPConnection
    from typing import Any

    from ..config import Settings
    from .embedding import Vector

CONNECT_SECONDS = 1.0
QUERY_SECONDS = 3.0
BATCH_SECONDS = 5.0
# For so long after a failure nobody else waits for the same failure.
PAUSE_SECONDS = 30.0
MOST_BYTES = 64 << 20
MOST_DIMENSIONS = 16_000


class EndpointEmbedder:
    """Vectors from a server. It is asked once; if it fails, that is an error, and a pause begins."""

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
                "Set embedding_model to the name that the server knows the model by.",
            )

    def texts(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The vectors of stored texts."""
        return self._ask([text or " " for text in texts], BATCH_SECONDS)

    def query(self, text: str, weights: Mapping[str, float], unknown: float) -> Vector:
        """The vector of a query; the weights are the model's business."""
        return self._ask([text], QUERY_SECONDS)[0]

    def forgive(self) -> None:
        """End the pause after a failure: someone wants to know whether it works now."""
        self._failed_at = -math.inf

    def _ask(self, texts: Sequence[str], seconds: float) -> Sequence[Vector]:
        since = time.monotonic() - self._failed_at
        if since < PAUSE_SECONDS:
            raise _error(self._failure, f"It is asked again in {PAUSE_SECONDS - since:.0f} s.")
        try:
            return self._read(_bounded(lambda open_: self._post(texts, open_), seconds), len(texts))
        except (OSError, ValueError, LookupError, TypeError, RecursionError, OverflowError) as error:
            self._failed_at = time.monotonic()
            self._failure = f"The embedding server {self._shown()} failed: {_said(error)}."
            raise _error(self._failure, "Look whether it runs, and at the settings embedding_*.") from None

    def _shown(self) -> str:
        scheme, host, port, path = self._address
        return f"{scheme}://{host}:{port}{path}"

    def _post(self, texts: Sequence[str], opened: list[HTTPConnection]) -> bytes:
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        scheme, host, port, path = self._address
        kind = HTTPSConnection if scheme == "https" else HTTPConnection
        connection = kind(host, port, timeout=CONNECT_SECONDS)
        opened.append(connection)
        headers = {"Content-Type": "application/json", "User-Agent": "holdfast"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        body = json.dumps({"model": self.name, "input": list(texts), "encoding_format": "float"})
        try:
            connection.connect()
            connection.sock.settimeout(None)  # from here on the whole is bounded
            connection.request("POST", path, body.encode("utf-8", "replace"), headers)
            answer = connection.getresponse()
            read = answer.read(MOST_BYTES + 1)
        except HTTPException as error:
            raise OSError(f"it does not speak HTTP ({type(error).__name__})") from None
        finally:
            connection.close()
        if answer.status != 200:  # a redirection too: the key is for this server alone
            raise OSError(f"it answered {answer.status} {shown(read[:300].decode('utf-8', 'replace'), 200)}")
        if len(read) > MOST_BYTES:
            raise OSError(f"its answer has more than {MOST_BYTES} bytes")
        return read

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
        with np.errstate(over="ignore"):  # what is too large is found below
            vectors = np.array([row["embedding"] for row in ordered], np.float32)
        if vectors.ndim != 2 or not 1 <= vectors.shape[1] <= MOST_DIMENSIONS:
            raise ValueError("its vectors are no lists of numbers")
        if self.dimensions not in (0, vectors.shape[1]):
            raise ValueError(f"its vectors had {self.dimensions} numbers, and now have {vectors.shape[1]}")
        if not np.isfinite(vectors).all():
            raise ValueError("its vectors have numbers that are none")
        self.dimensions = vectors.shape[1]
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def _bounded(call: Callable[[list[HTTPConnection]], bytes], seconds: float) -> bytes:
    """The result of a call that may hang anywhere, or TimeoutError when the time is up.

    Neither finding a host's address nor reading byte by byte has a time limit of its own, so another thread
    does the waiting; its connection is shut when nobody waits for it any more.
    """
    opened: list[HTTPConnection] = []
    outcome: list[Any] = []

    def run() -> None:
        try:
            outcome.append(call(opened))
        except Exception as error:  # noqa: BLE001 - raised below, by the one who waits
            outcome.append(error)

    thread = threading.Thread(target=run, name="holdfast-embedding", daemon=True)
    thread.start()
    thread.join(seconds)
    if not outcome:
        for connection in opened:
            if (socket := connection.sock) is not None:
                _shut(socket)
        raise TimeoutError(f"it took more than {seconds:g} s")
    if isinstance(outcome[0], Exception):
        raise outcome[0]
    return outcome[0]


def _shut(socket: Any) -> None:
    from contextlib import suppress

    with suppress(OSError):  # it was shut in this very moment
        socket.shutdown(2)


def _address(url: str) -> tuple[str, str, int, str]:
    """Scheme, host, port and path of the embeddings of a server."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        scheme, host = parts.scheme, parts.hostname
        port = parts.port or (443 if scheme == "https" else 80)
    except ValueError:
        scheme, host, port, parts = "", None, 0, None
    if parts is None or scheme not in ("http", "https") or not host or not url.isprintable() or " " in url:
        raise _error(
            f"embedding_url is {shown(url)}: no address of a server.",
            "Set it to the base address of an OpenAI-compatible server, like http://localhost:8080/v1.",
        )
    return scheme, host, port, f"{parts.path.rstrip('/')}/embeddings"


def _key(variable: str) -> str:
    key = os.environ.get(variable, "").strip() if variable else ""
    if not (key.isascii() and key.isprintable()):  # and it must not get into a message
        raise _error(f"The key in {shown(variable)} has letters that no key has.", "Set it again.")
    return key


def _error(message: str, hint: str) -> StoreError:
    return StoreError("embedder_unavailable", message, hint)


def _said(error: Exception) -> str:
    if isinstance(error, (LookupError, TypeError, RecursionError, OverflowError)):
        return "its answer is no list of vectors"
    if isinstance(error, json.JSONDecodeError):
        return "its answer is no JSON"
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")
