"""Check criteria: a file exists, a command succeeds, a URL answers. One bounded look each."""

from __future__ import annotations

import json
import os
from typing import Any

from ..model import validate
from ..model.errors import InvalidInput, shown
from ..model.settings import Settings
from ..model.types import is_list
from ..system import http_client
from ..system.commands import run

SECONDS = 10.0  # the most that one check takes
MOST_BYTES = 1 << 16  # of an output or an answer; nothing of it is kept


def read_target(kind: str, target: Any, folder: str | None) -> str:
    """The target of a check in the form that is stored; InvalidInput if it cannot be checked."""
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
        raise _refused(target, 'Give the command as a list of arguments: ["make", "test"].')
    return validate.text("target", validate.dumps(list(argv)), 4000)


def _refused(target: Any, hint: str) -> InvalidInput:
    return InvalidInput("invalid_argument", f"{shown(target)} cannot be checked.", hint)


def look(kind: str, target: str, folder: str | None, settings: Settings) -> tuple[bool | None, str]:
    """Whether a check passes, and why; None if that could not be found out.

    The reason repeats nothing of what was read: an output may hold secrets.
    """
    if kind == "file":
        exists = os.path.exists(target)
        return exists, "it exists" if exists else "it does not exist"
    if kind == "command":
        return _check_command(target, folder, settings)
    return _check_url(target, settings)


def _check_command(target: str, folder: str | None, settings: Settings) -> tuple[bool | None, str]:
    if settings.wait_commands != "on":
        return None, "commands are not allowed here (wait_commands)"
    try:
        code, _ = run(json.loads(target), folder, SECONDS, MOST_BYTES)
    except TimeoutError as error:
        return False, str(error)
    except OSError as error:
        return None, f"it cannot be run: {http_client.said(error)}"
    return code == 0, f"exit code {code}"


def _check_url(target: str, settings: Settings) -> tuple[bool | None, str]:
    allowed = None if settings.wait_private == "on" else http_client.is_public
    address = http_client.read_url(target, "the URL")
    try:
        status, _ = http_client.exchange(address, None, {}, SECONDS, MOST_BYTES, allowed=allowed)
    except http_client.Forbidden as error:
        return None, f"{error} (wait_private)"
    except OSError as error:
        return False, f"no answer: {http_client.said(error)}"
    return 200 <= status < 300, f"status {status}"
