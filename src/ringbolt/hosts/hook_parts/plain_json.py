"""JSON without the module `json`, which imports `re`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing takes longer to load than `ringbolt statusline` to answer
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeGuard


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, (list, tuple))


class _Scanning:
    """The context that `_json.make_scanner` needs, as `json.loads` sets it, except for numbers.

    NaN, Infinity and 1e999 become null, as no store can hold them.
    """

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_int = int

    @staticmethod
    def parse_float(text: str) -> float | None:
        number = float(text)
        return number if -1.8e308 < number < 1.8e308 else None

    @staticmethod
    def parse_constant(name: str) -> None:
        return None


def parse(data: bytes) -> dict[str, Any] | None:
    """The JSON object of an input; None if it is anything else."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").strip(" \t\n\r")
    if not text.startswith("{"):
        return None
    try:
        scan = _scanner()
        value, end = scan(text, 0)
    except (ValueError, RecursionError, StopIteration):
        return None
    except SystemError:  # the C scanner has no error of its own to raise while `json` is not imported
        return None
    return value if end == len(text) and is_dict(value) else None


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    try:
        if hasattr(sys, "gettotalrefcount"):  # a debug build of Python ends the process for that SystemError
            raise ImportError
        from _json import make_scanner

        context: Any = _Scanning
        return make_scanner(context)
    except (ImportError, TypeError, AttributeError):
        from json import JSONDecoder

        names = ("parse_float", "parse_constant")
        decoder: Any = JSONDecoder(**{name: getattr(_Scanning, name) for name in names})
        return decoder.scan_once


def encode(value: Any) -> str:
    """A value as JSON, in ASCII."""
    try:
        from _json import encode_basestring_ascii, make_encoder

        encoder = make_encoder(None, str, encode_basestring_ascii, None, ": ", ", ", False, False, True)
    except (ImportError, TypeError):
        from json import dumps

        return dumps(value)
    return "".join(encoder(value, 0))
