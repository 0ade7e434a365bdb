"""A condition on one value of a JSON document: `state`, `items[0].state == "ready"`, `progress >= 90`."""

from __future__ import annotations

import json
import re
from typing import Any

from ..model.errors import InvalidInput, shown
from ..model.types import Value, is_dict, is_list

MOST_STEPS = 20
_STEP = re.compile(r'\.?([A-Za-z_][\w-]{0,99})|\[(\d{1,9})\]|\["([^"\\\x00-\x1f]{1,200})"\]', re.ASCII)
_SAME = {"is": "==", "=": "==", "is not": "!="}
_TEST = re.compile(r'((?:[^\s=!<>"]|"[^"]*")+)'
                   r"(?:\s*(==|=|!=|>=|<=|>|<|\sis not\s|\sis\s)\s*(.+))?")  # fmt: skip


class JsonTest(Value, frozen=True, kw_only=True):
    """A way into a document, and what must be true of the value there; without a sign: that there is one."""

    steps: tuple[str | int, ...]
    sign: str = ""
    wanted: Any = None

    def __str__(self) -> str:
        path = "".join(
            f"[{step}]"
            if isinstance(step, int)
            else f".{step}"
            if re.fullmatch(r"[A-Za-z_][\w-]*", step, re.ASCII)
            else f'["{step}"]'
            for step in self.steps
        ).removeprefix(".")
        return f"{path} {self.sign} {json.dumps(self.wanted)}" if self.sign else path

    def holds(self, document: bytes) -> tuple[bool, str]:
        """Whether it is so in a document, and what was found in few words, which repeat nothing of it."""
        try:
            value: Any = json.loads(document)
        except (ValueError, RecursionError):
            return False, "no JSON"
        for step in self.steps:
            found = _below(value, step)
            if found is None:
                return False, "without that value"
            (value,) = found
        met = not self.sign or self._compares(value)
        return met, "with that value" if met else "with another value"

    def _compares(self, value: Any) -> bool:
        wanted = self.wanted
        if self.sign in ("==", "!="):
            return (_typed(value) == _typed(wanted)) == (self.sign == "==")
        if not (_is_number(value) and _is_number(wanted)):
            return False
        above, below = value > wanted, value < wanted
        return {">": above, "<": below, ">=": not below, "<=": not above}[self.sign]


def _below(value: Any, step: str | int) -> tuple[Any] | None:
    """What a value has at a step; None if it has nothing there."""
    if is_dict(value):
        return (value[step],) if isinstance(step, str) and step in value else None
    return (value[step],) if is_list(value) and isinstance(step, int) and step < len(value) else None


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _typed(value: Any) -> tuple[bool, Any]:
    """A value that equals another only as JSON means it: true is not 1."""
    return isinstance(value, bool), value


def read(text: str) -> JsonTest:
    """What a text means; an error says what can be written."""
    found = _TEST.fullmatch(text.strip())
    steps = _steps(found[1]) if found else None
    if not found or steps is None:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(text)} is no condition on JSON.",
            'For example: json state == "ready", json items[0].done is true, json progress >= 90.',
        )
    sign = (found[2] or "").strip()
    sign = _SAME.get(sign, sign)
    wanted: Any = None
    if sign:
        try:
            wanted = json.loads(found[3], parse_constant=float)
        except (ValueError, RecursionError):
            wanted = found[3]
        if isinstance(wanted, float) and wanted - wanted != 0:  # no number, or one without end
            wanted = found[3]
    return JsonTest(steps=steps, sign=sign, wanted=wanted)


def _steps(path: str) -> tuple[str | int, ...] | None:
    """The steps of a path, or None if it is none."""
    place = 1 if path[0] == "$" else 0
    steps: list[str | int] = []
    while place < len(path):
        found = _STEP.match(path, place)
        if found is None or len(steps) == MOST_STEPS:
            return None
        steps.append(int(found[2]) if found[2] is not None else found[1] or found[3])
        place = found.end()
    return tuple(steps) or None
