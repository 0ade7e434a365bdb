"""A condition on one value of a JSON document: `state`, `items[0].state == "ready"`, `progress >= 90`.

JMESPath would not do: there `"ready"` is a field name and a bare 90 is a syntax error, so of the conditions
above, the second would never be met and the third would be refused.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..model.errors import InvalidInput, shown
from ..model.lazy_regex import lazy_regex
from ..model.types import Value, is_dict, is_list

MOST_STEPS = 20
_MISSING: Any = object()
_STEP = lazy_regex(r'\.?([A-Za-z_][\w-]{0,99})|\[(\d{1,9})\]|\["([^"\\\x00-\x1f]{1,200})"\]', re.ASCII)
_SYNONYMS = {"is": "==", "=": "==", "is not": "!="}
_TEST = lazy_regex(r'((?:[^\s=!<>"]|"[^"]*")+)'
                   r"(?:\s*(==|=|!=|>=|<=|>|<|\sis not\s|\sis\s)\s*(.+))?")  # fmt: skip


class JsonCondition(Value, frozen=True, kw_only=True):
    """A path into a document and a comparison with the value there; without an operator it must exist."""

    steps: tuple[str | int, ...]
    operator: str = ""
    wanted: Any = None

    def __str__(self) -> str:
        path = "".join(map(_step_text, self.steps)).removeprefix(".")
        return f"{path} {self.operator} {json.dumps(self.wanted)}" if self.operator else path

    def check(self, document: bytes) -> tuple[bool, str]:
        """Whether a document meets it, and a reason that quotes nothing from the document."""
        try:
            value: Any = json.loads(document)
        except (ValueError, RecursionError):
            return False, "not JSON"
        for step in self.steps:
            if is_dict(value) and isinstance(step, str):
                value = value.get(step, _MISSING)
            elif is_list(value) and isinstance(step, int) and step < len(value):
                value = value[step]
            else:
                value = _MISSING
        if value is _MISSING:
            return False, "the value is missing"
        met = not self.operator or self._compares(value)
        return met, "the value matches" if met else "the value does not match"

    def _compares(self, value: Any) -> bool:
        wanted = self.wanted
        if self.operator in ("==", "!="):
            return (_typed(value) == _typed(wanted)) == (self.operator == "==")
        if not (_is_number(value) and _is_number(wanted)):
            return False
        above, below = value > wanted, value < wanted
        return {">": above, "<": below, ">=": not below, "<=": not above}[self.operator]


def _step_text(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if re.fullmatch(r"[A-Za-z_][\w-]*", step, re.ASCII) else f'["{step}"]'


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _typed(value: Any) -> tuple[bool, Any]:
    """A value that compares as in JSON, where true does not equal 1."""
    return isinstance(value, bool), value


def parse(text: str) -> JsonCondition:
    """Parse a condition; InvalidInput if it is not one."""
    match = _TEST.fullmatch(text.strip())
    steps = _steps(match[1]) if match else None
    if not match or steps is None:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(text)} is not a condition on JSON.",
            'Examples: json state == "ready", json items[0].done is true, json progress >= 90.',
        )
    operator = (match[2] or "").strip()
    operator = _SYNONYMS.get(operator, operator)
    wanted: Any = None
    if operator:
        try:
            wanted = json.loads(match[3], parse_constant=float)
        except (ValueError, RecursionError):
            wanted = match[3]
        if isinstance(wanted, float) and wanted - wanted != 0:  # NaN or infinite, which JSON does not allow
            wanted = match[3]
    return JsonCondition(steps=steps, operator=operator, wanted=wanted)


def _steps(path: str) -> tuple[str | int, ...] | None:
    """The steps of a path; None if it is not one."""
    place = 1 if path[0] == "$" else 0
    steps: list[str | int] = []
    while place < len(path):
        match = _STEP.match(path, place)
        if match is None or len(steps) == MOST_STEPS:
            return None
        steps.append(int(match[2]) if match[2] is not None else match[1] or match[3])
        place = match.end()
    return tuple(steps) or None
