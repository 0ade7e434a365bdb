"""Reading a model's reply: the JSON object in its text, and whether it has the required form.

The schemas use a small part of JSON Schema: type, properties, required, enum, items, maxItems, maxLength and
minLength. Other fields are allowed; the reader of the object keeps or drops them. The checker is our own
because its messages go back to the model, and because jsonschema takes longer to import than a call to check.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..model.errors import shown
from ..model.lazy_regex import lazy_regex
from ..model.types import is_dict, is_list

# A model's thoughts are not its answer. A truncated thought has no end tag; some servers drop the start tag.
_THOUGHT = lazy_regex(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.S | re.I)
_THOUGHT_END = lazy_regex(r"\A.*</(?:think|thinking|reasoning)>", re.S | re.I)
# Opening braces that are tried before giving up.
_TRIES = 50
_KINDS: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def first_object(text: str) -> dict[str, Any]:
    """The first JSON object in a text, after thoughts, fences and chatter; ValueError if there is none."""
    text = _THOUGHT_END.sub("", _THOUGHT.sub("", text))
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


def problem(value: Any, schema: dict[str, Any], at: str = "it") -> str | None:
    """How a value violates a schema, in words for the model; None if it does not."""
    kind = schema.get("type")
    if kind is not None and (
        not isinstance(value, _KINDS[kind]) or (isinstance(value, bool) and kind != "boolean")
    ):
        return f"{at} must be of type {kind}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{at} must be one of {', '.join(map(str, schema['enum']))}, not {shown(value)}"
    if isinstance(value, str):
        return _text_problem(value, schema, at)
    if is_dict(value):
        return _object_problem(value, schema, at)
    if is_list(value):
        return _list_problem(value, schema, at)
    return None


def _text_problem(value: str, schema: dict[str, Any], at: str) -> str | None:
    if len(value) > schema.get("maxLength", len(value)):
        return f"{at} has {len(value)} characters and may have {schema['maxLength']}"
    if len(value.strip()) < schema.get("minLength", 0):
        return f"{at} is empty"
    return None


def _object_problem(value: dict[str, Any], schema: dict[str, Any], at: str) -> str | None:
    properties: dict[str, Any] = schema.get("properties", {})
    if lacking := [name for name in schema.get("required", ()) if name not in value]:
        return f"{at} lacks {', '.join(lacking)}"
    problems = (
        problem(value[name], inner, f"“{name}”") for name, inner in properties.items() if name in value
    )
    return next(filter(None, problems), None)


def _list_problem(value: list[Any], schema: dict[str, Any], at: str) -> str | None:
    if len(value) > schema.get("maxItems", len(value)):
        return f"{at} has {len(value)} parts and may have {schema['maxItems']}"
    inner: dict[str, Any] = schema.get("items", {})
    problems = (problem(part, inner, f"part {number} of {at}") for number, part in enumerate(value, 1))
    return next(filter(None, problems), None)
