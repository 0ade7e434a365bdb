"""Steps of a plan that expect a failure, such as a test that must fail first."""

from __future__ import annotations

import re

from ..model.lazy_regex import lazy_regex

# Steps that are done when a check fails: a test that fails until the fix is in, a bug that is reproduced.
_EXPECTS_FAILURE = lazy_regex(
    r"\b(?:failing|red|broken)\b[^.;]{0,40}\b(?:tests?|specs?|case|check)\b"
    r"|\b(?:tests?|specs?|case|check)s?\b[^.;]{0,60}\b(?:that|which|to|must|should|and)\s+"
    r"(?:still\s+|first\s+)?fails?\b"
    r"|\b(?:see|watch|make|let|confirm)\b[^.;]{0,30}\bfail(?:s|ing)?\b"
    r"|\breproduc(?:e|es|ing|tion)\b|\brepro\b|\btest[- ]first\b|\bred phase\b"
    r"|\b(?:show|prove|demonstrate|expose)\w*\b[^.;]{0,20}\b(?:bug|failure|regression|crash|race)\b",
    re.I,
)


def expects_failure(title: str) -> bool:
    """Whether a step is about something that fails on purpose; then a failed check does not contradict it."""
    return _EXPECTS_FAILURE.search(title) is not None
