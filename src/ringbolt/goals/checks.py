"""Check criteria, with a time limit: a file exists, a command succeeds, a URL responds."""

from __future__ import annotations

import json
import os
from typing import Any

from ..model import validate
from ..model.errors import InvalidInput, shown
from ..model.types import is_list
from ..system import http_client
from ..system.gate import Gate
from ..waits.conditions import WORDS, Watch
from ..waits.targets import CheckContext, check


def read_target(kind: str, target: Any, folder: str | None) -> str:
    """Normalise the target of a check for storage; InvalidInput if it cannot be checked."""
    if kind == "command":
        return _argv(target)
    text = validate.line("target", target, 4000)
    if kind == "http":
        try:
            http_client.read_url(text, "the URL")
        except ValueError as error:
            raise _refused(text, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        return text
    base = folder if folder and os.path.isabs(folder) else os.path.abspath(os.curdir)
    return os.path.normpath(os.path.join(base, os.path.expanduser(text)))


def _argv(target: Any) -> str:
    """A command as a JSON list of arguments; no shell runs it."""
    try:
        argv: Any = json.loads(target) if isinstance(target, str) else target
    except ValueError:
        argv = None
    if not is_list(argv) or not argv or not all(isinstance(part, str) and part for part in argv):
        raise _refused(target, 'Write the command as a list of arguments: ["make", "test"].')
    return validate.text("target", validate.dumps(list(argv)), 4000)


def _refused(target: Any, hint: str) -> InvalidInput:
    return InvalidInput("invalid_argument", f"{shown(target)} cannot be checked.", hint)


def run_check(kind: str, target: str, folder: str | None, gate: Gate) -> tuple[bool | None, str]:
    """Whether a check passes, and why; None if it could not be run.

    It runs as a single check of a wait. The reason never quotes content: an output may hold secrets.
    """
    context = CheckContext(
        now=0.0,
        waited=0.0,
        status_of=lambda _: None,
        folder=folder,
        gate=gate,
    )
    verdict, _ = check(Watch(kind=kind, value=target, word=WORDS[kind][0]), {}, context)
    return (None if verdict.failed else verdict.met), verdict.detail
