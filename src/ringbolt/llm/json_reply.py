"""Reading a model's reply: the JSON object in its text, and whether it has the required form.

The schemas use a small part of JSON Schema: type, properties, required, items, maxItems, maxLength and
minLength. Other fields are allowed; the reader of the object keeps or drops them. The checker is our own
because its messages go back to the model, and because jsonschema takes longer to import than a call to check.
msgspec was tried: it drops the fields it does not know, which entries keep, accepts blank texts, puts every
object of a schema behind `$ref`, and its messages name paths like `$.cites[0]`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..model.types import is_dict, is_list

# A model's thoughts are not its answer. A truncated thought has no end tag; some servers drop the start tag.
_THOUGHT = lazy_regex(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.S | re.I)
_THOUGHT_END = lazy_regex(r"\A.*</(?:think|thinking|reasoning)>", re.S | re.I)
# Opening braces that are tried before giving up.
_TRIES = 50
_KINDS: dict[str, type] = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}


def first_object(text: str, listed_as: str = "") -> dict[str, Any]:
    """The first JSON object in a text, after thoughts, fences and chatter; ValueError if there is none.

    With `listed_as`, a list of objects that comes first is accepted too, under that name.
    """
    text = _THOUGHT_END.sub("", _THOUGHT.sub("", text))
    if listed_as and 0 <= (begin := text.find("[")) < (text.find("{") % (len(text) + 1)):
        with suppress(ValueError, RecursionError):
            found, _end = _DECODER.raw_decode(text, begin)
            if is_list(found) and all(map(is_dict, found)):
                return {listed_as: _sound(found)}
    place = text.find("{")
    for _ in range(_TRIES):
        if place < 0:
            break
        try:
            found, _end = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        if is_dict(found):
            return _sound(found)
    raise ValueError("it contains no JSON object")


def _sound(value: Any) -> Any:
    """A JSON value without lone surrogates, which JSON allows and no store accepts."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-8", "replace").decode()
    if is_list(value):
        return [_sound(inner) for inner in value]
    if is_dict(value):
        return {_sound(name): _sound(inner) for name, inner in value.items()}
    return value


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def problem(value: Any, schema: Mapping[str, Any], at: str = "it") -> str | None:
    """How a value violates a schema, in words for the model; None if it does not."""
    kind = schema["type"]
    if type(value) is not _KINDS[kind]:  # `True` is an int, but not an integer
        return f"{at} must be of type {kind}"
    problems: Iterator[str | None] = iter(())
    if kind == "string":
        if len(value) > schema.get("maxLength", len(value)):
            return f"{at} has {len(value)} characters and may have {schema['maxLength']}"
        if len(value.strip()) < schema.get("minLength", 0):
            return f"{at} is empty"
    elif kind == "array":
        if len(value) > schema.get("maxItems", len(value)):
            return f"{at} has {len(value)} parts and may have {schema['maxItems']}"
        parts = enumerate(value, 1)
        problems = (problem(part, schema["items"], f"part {number} of {at}") for number, part in parts)
    elif kind == "object":
        if lacking := [name for name in schema["required"] if name not in value]:
            return f"{at} lacks {', '.join(lacking)}"
        known = {name: inner for name, inner in schema["properties"].items() if name in value}
        problems = (problem(value[name], inner, f"“{name}”") for name, inner in known.items())
    return next(filter(None, problems), None)
