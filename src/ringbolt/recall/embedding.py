"""Embedders: texts as vectors, so that a search finds texts of the same meaning in other words.

There are three choices: none, a table of word vectors that needs no network and no model, and any server
with OpenAI's API. The last two need numpy, which is imported when the first vector is needed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Protocol

from ..model.errors import StoreError
from ..model.lazy_regex import lazy_regex
from ..model.settings import Settings
from ..model.validate import blake2b
from ..signals.terms import stems
from ..signals.words import QUESTION_WORDS
from .endpoint_embedder import EndpointEmbedder
from .lazy_numpy import not_installed, numpy

Vector = Sequence[float]


class Embedder(Protocol):
    """Turns texts into vectors of length one; texts of the same meaning point the same way."""

    # The model and its version; vectors of different names are never compared.
    name: str
    # The length of a vector; 0 until the first response of a server shows it.
    dimensions: int
    # Whether a query is weighted by how rare its words are in the store today. That is known only inside a
    # snapshot, where nothing may wait, so `query` of such an embedder must not block.
    weighs: bool
    # Texts per call.
    batch: int

    def texts(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The vectors of stored texts; they stay valid as long as the name does."""
        ...

    def query(self, text: str, weights: Mapping[str, float], unknown: float) -> Vector:
        """The vector of a query; `weights` are by stem, `unknown` is for words not in the store."""
        ...

    def forgive(self) -> None:
        """End the pause after a failure, to try again at once."""
        ...


CHUNK = 1000
# Of a longer text only the start and the end are embedded: the end of a log matters most.
HEAD, TAIL = 12 * CHUNK, 8 * CHUNK
_WORD = lazy_regex(r"\w+")
_LONGEST_WORD = 40
_QUESTION_WORDS = frozenset(QUESTION_WORDS.split())


def chunks(text: str) -> list[str]:
    """Cut a text into pieces short enough to have one meaning: 1 to about 20."""
    if len(text) > HEAD + TAIL:
        return [*chunks(text[:HEAD]), *chunks(text[-TAIL:])]
    pieces: list[str] = []
    while len(text) > CHUNK + CHUNK // 3:
        space = max(text.rfind(" ", CHUNK // 2, CHUNK), text.rfind("\n", CHUNK // 2, CHUNK))
        cut = space + 1 or CHUNK
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


def embedder_for(settings: Settings) -> Embedder | None:
    """The configured embedder, ready to use; None if there is none."""
    if settings.embedder == "static":
        return _static()
    if settings.embedder == "endpoint":
        numpy()  # fail now if it is missing, not at the first comparison
        return EndpointEmbedder(settings)
    return None


@lru_cache(1)
def _static() -> StaticEmbedder:
    return StaticEmbedder()


class StaticEmbedder:
    """Word vectors from the wordllama package: no model runs, a text takes a tenth of a millisecond.

    Only the package's files are used, because its own loader fetches them from the network. The vector of a
    text is the sum of its words, weighted by their rarity in general; that of a query is weighted by the
    rarity of its words in this store. This weighting is essential: plain means find less than half.
    """

    weighs = True
    batch = 250

    def __init__(self) -> None:
        self._np = np = numpy()
        folder = _package_folder()
        weights = _read(os.path.join(folder, "weights", "l2_supercat_256.safetensors"))
        model = json.loads(_read(os.path.join(folder, "tokenizers", "l2_supercat_tokenizer_config.json")))
        size = int.from_bytes(weights[:8], "little")
        (spec,) = (part for name, part in json.loads(weights[8 : 8 + size]).items() if name != "__metadata__")
        begin = 8 + size + spec["data_offsets"][0]
        self._vectors = np.frombuffer(weights, np.float16, offset=begin).reshape(spec["shape"])
        self._vocabulary: dict[str, int] = model["model"]["vocab"]
        self._merges = {tuple(pair.split(" ")): rank for rank, pair in enumerate(model["model"]["merges"])}
        # Tokens are numbered by falling frequency, after 259 bytes and signs. So the number gives the weight
        # of a token in any text, and stored vectors never have to be recomputed.
        self._rarity = np.log1p(np.maximum(np.arange(len(self._vectors)) - 258, 1) / 50).astype(np.float32)
        self._tokens = lru_cache(50_000)(self._split)
        self.dimensions: int = self._vectors.shape[1]
        self.name = f"wordllama-l2_supercat_256-{blake2b(weights, digest_size=4).hexdigest()}-1"

    def texts(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The vectors of stored texts."""
        return [self._text(text) for text in texts]

    def _text(self, text: str) -> Any:
        tokens = [token for word in _words(text) for token in self._tokens(word)]
        return self._unit((self._vectors[tokens] * self._rarity[tokens, None]).sum(0))

    def query(self, text: str, weights: Mapping[str, float], unknown: float) -> Vector:
        """The vector of a query."""
        total = self._np.zeros(self.dimensions, self._np.float32)
        for word in dict.fromkeys(_words(text)):
            stem = (stems(word) or [""])[-1]
            vectors = self._vectors[list(self._tokens(word))].astype(self._np.float32)
            total += weights.get(stem, unknown) * vectors.mean(0)
        return self._unit(total)

    def forgive(self) -> None:
        """Nothing to do: it never fails."""

    def _unit(self, vector: Any) -> Any:
        length = float(self._np.linalg.norm(vector))
        return vector / length if length else self._np.zeros(self.dimensions, self._np.float32)

    def _split(self, word: str) -> tuple[int, ...]:
        """The tokens of a word, by byte-pair encoding; the rest is encoded byte by byte."""
        parts = list(f"▁{word}")
        never = len(self._merges)
        while len(parts) > 1:
            pairs = pairwise(parts)
            best, at = min((self._merges.get(pair, never), at) for at, pair in enumerate(pairs))
            if best == never:
                break
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        tokens: list[int] = []
        for part in parts:
            if (token := self._vocabulary.get(part)) is not None:
                tokens.append(token)
            else:
                tokens += [self._vocabulary[f"<0x{byte:02X}>"] for byte in part.encode("utf-8", "replace")]
        return tuple(tokens)


def _words(text: str) -> list[str]:
    """The words of a text without question words."""
    return [word[:_LONGEST_WORD] for word in _WORD.findall(text) if word.lower() not in _QUESTION_WORDS]


def _package_folder() -> str:
    from importlib.util import find_spec

    spec = find_spec("wordllama")  # locates the package without running it
    if spec is None or not spec.submodule_search_locations:
        if sys.version_info >= (3, 14):
            raise StoreError(
                "embedder_unavailable",
                "The static embedder needs wordllama, which has no wheel for this Python.",
                "Use Python 3.11 to 3.13, or set embedder to endpoint or none.",
            )
        raise not_installed("No module named 'wordllama'")
    return next(iter(spec.submodule_search_locations))


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise StoreError(
            "embedder_unavailable",
            f"The word vectors cannot be read: {error}.",
            "Install the package wordllama again: pip install --force-reinstall wordllama.",
        ) from None
