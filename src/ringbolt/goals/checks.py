"""The checks of criteria: a file is there, a command succeeds, an address answers. One look each, bounded."""

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

SECONDS = 10.0  # the most that one look takes
MOST_BYTES = 1 << 16  # of what a command prints, or of an answer: nothing of it is kept


def read_target(kind: str, target: Any, folder: str | None) -> str:
    """What a check looks at, as it is written down; an error if that cannot be looked at."""
    if kind == "command":
        return _words(target)
    text = validate.line("target", target, 4000)
    if kind == "http":
        try:
            http_client.read_url(text, "the URL")
        except ValueError as error:
            raise _refused(text, f"{str(error)[:1].upper()}{str(error)[1:]}.") from None
        return text
    base = folder if folder and os.path.isabs(folder) else os.path.abspath(os.curdir)
    return os.path.normpath(os.path.join(base, os.path.expanduser(text)))


def _words(target: Any) -> str:
    """The words of a command as JSON: a list, or a text of JSON. There is no shell."""
    try:
        words: Any = json.loads(target) if isinstance(target, str) else target
    except ValueError:
        words = None
    if not is_list(words) or not words or not all(isinstance(word, str) and word for word in words):
        raise _refused(target, 'Give the words of the command as a list: ["make", "test"].')
    return validate.text("target", validate.dumps(list(words)), 4000)


def _refused(target: Any, hint: str) -> InvalidInput:
    return InvalidInput("invalid_argument", f"Nothing can be checked at {shown(target)}.", hint)


def look(kind: str, target: str, folder: str | None, settings: Settings) -> tuple[bool | None, str]:
    """Whether it is as wanted, and what was seen; None where that could not be found out.

    Nothing of what is read is repeated: an output may hold secrets.
    """
    if kind == "file":
        there = os.path.exists(target)
        return there, "it is there" if there else "it is not there"
    if kind == "command":
        return _run(target, folder, settings)
    return _ask(target, settings)


def _run(target: str, folder: str | None, settings: Settings) -> tuple[bool | None, str]:

    if settings.wait_commands != "on":
        return None, "commands are not allowed here (wait_commands)"
    try:
        code, _ = run(json.loads(target), folder, SECONDS, MOST_BYTES)
    except TimeoutError as error:
        return False, str(error)
    except OSError as error:
        return None, f"it cannot be run: {http_client.error_text(error)}"
    return code == 0, f"exit code {code}"


def _ask(target: str, settings: Settings) -> tuple[bool | None, str]:
    allowed = None if settings.wait_private == "on" else http_client.is_public
    address = http_client.read_url(target, "the URL")
    try:
        status, _ = http_client.exchange(address, None, {}, SECONDS, MOST_BYTES, allowed=allowed)
    except http_client.Forbidden as error:
        return None, f"{error} (wait_private)"
    except OSError as error:
        return False, f"no answer: {http_client.error_text(error)}"
    return 200 <= status < 300, f"status {status}"
