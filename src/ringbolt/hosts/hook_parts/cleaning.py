"""Remove secrets and bulk from an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .embedded_parts import BUILT, embedded
from .plain_json import encode, is_dict, is_list
from .system_calls import BLOCK

# No host sends as many.
_MOST_FIELDS = 200
# What people and agents write is kept whole, up to a size that no one types.
MOST_TEXT = 500_000
MOST_VALUE = 400_000
# JSON written from an input of this size cannot be longer than MOST_VALUE: one byte becomes six at most.
SURELY_FITS = MOST_VALUE // 6
# Of a longer text the beginning and the end are kept; the end says how it went.
OUTPUT_CHARACTERS = 16_000
# Fields of a tool's response that repeat its input, or hold whole files.
BULKY = ("originalFile", "oldString", "newString", "oldTodos")


def cleaned(
    payload: Mapping[str, Any],
    facts: Mapping[str, Any],
    redactor: Any,
    storable: Callable[[str], str],
    *,
    fits: bool = False,
) -> dict[str, Any]:
    """A host's event without secrets and bulk, in the host's own shape; `fits` if it is known to be small."""
    found: dict[str, Any] = {}
    for name, value in list(payload.items())[:_MOST_FIELDS]:
        if name in facts["whole"] and isinstance(value, str):
            kept: Any = redactor.text(storable(value[:MOST_TEXT]))
        else:
            if name in facts["output"] and is_dict(value):
                value = {key: one for key, one in value.items() if key not in BULKY}
            if not fits and is_oversized(value):
                value = short_texts(value, f"more than {2 * MOST_VALUE:,} characters")
            kept = redactor.value(value, clipped, name=name)
            if not fits:
                kept = fitting(kept)
        found[storable(name)[:500]] = kept
    return found


def clipped(text: str) -> str:
    """A long text without its middle; a clipped text stays as it is."""
    head, tail = OUTPUT_CHARACTERS // 4, OUTPUT_CHARACTERS * 3 // 4
    if len(text) <= OUTPUT_CHARACTERS or (len(text) < head + tail + 60 and text.startswith("\n… ", head)):
        return text
    return f"{text[:head]}\n… {len(text) - head - tail:,} characters left out …\n{text[-tail:]}"


def fitting(value: Any) -> Any:
    """A value of a bounded size: of one that is too large, its short texts."""
    if isinstance(value, str) or value is None or (size := len(encode(value))) <= MOST_VALUE:
        return value
    return short_texts(value, f"{size:,} characters")


def short_texts(value: Any, left_out: str) -> dict[str, Any]:
    """What is kept of a value that is too large."""
    fields: Mapping[str, Any] = value if is_dict(value) else {}
    short = {name: one for name, one in fields.items() if isinstance(one, str) and len(one) <= 2000}
    return {**dict(list(short.items())[:50]), "left_out": left_out}


def is_oversized(value: Any) -> bool:
    """Whether a value is surely too large once it is cleaned: a million rows need not be cleaned first."""
    size, left = 0, [value]
    while left and size <= 2 * MOST_VALUE:
        one = left.pop()
        if isinstance(one, str):
            size += min(len(one), OUTPUT_CHARACTERS)
        elif is_dict(one):
            left.extend(one.values())
        elif is_list(one):
            left.extend(one)
        size += 2
    return size > 2 * MOST_VALUE


def encodable(text: str) -> str:
    """A variable of the environment as JSON can hold it: its bytes may be anything."""
    return text.encode("utf-8", "replace").decode("utf-8", "replace")[:4000]


def may_hold_secret(data: bytes) -> bool:
    """Whether an event may hold a secret: a quick look, so that most events need not load the rules."""
    # Of a large event most is dropped before it is searched; searching all of it here would take seconds.
    if not BUILT or len(data) > BLOCK or b"\\u" in data or not data.isascii():
        return True
    groups, exact = embedded("hints")
    lowered = data.lower()
    return any(hint in data for hint in exact) or any(
        sign in lowered and any(hint in lowered for hint in hints) for sign, hints in groups
    )


class Harmless:
    """Stands for the Redactor of an event without anything that could be a secret; its texts are ASCII."""

    def __init__(self, *, keep: bool) -> None:
        self.keeps = keep

    def text(self, text: str) -> str:
        return text

    def value(self, value: Any, clip: Callable[[str], str], depth: int = 0, name: str = "") -> Any:
        if isinstance(value, str):
            return clip(_bounded(_without_nul(value)))
        if depth > 40:
            return None if is_dict(value) or is_list(value) else value
        if is_dict(value):
            return {
                _without_nul(str(key))[:500]: self.value(inner, clip, depth + 1)
                for key, inner in value.items()
            }
        return [self.value(inner, clip, depth + 1) for inner in value] if is_list(value) else value


def _without_nul(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text


def _bounded(text: str) -> str:
    kept = 60_000
    if len(text) <= 2 * kept:
        return text
    return f"{text[:kept]}\n… {len(text) - 2 * kept:,} characters left out …\n{text[-kept:]}"


# The same names as those of redaction_module.
HARMLESS: dict[str, Any] = {"Redactor": Harmless, "storable": _without_nul}
