"""Files that are entirely ours: plugins for hosts that do not run commands as hooks.

A plugin translates the host's events to those of Claude Code, reports them to `ringbolt-hook`, and puts the
context that it answers with where the host takes it.
"""

from __future__ import annotations

import json

from .._version import __version__
from ..model.errors import Conflict, shown
from ..model.types import Value
from .hook_build import HookProgram
from .json_settings import INSTALLED, MISSING, OUTDATED, Before, Created
from .templates import template

# Every file of ours contains this, and no other does.
MARK = "Written by ringbolt install"


def plugin_file(name: str, host: str, hook: HookProgram) -> str:
    """A file of a host's plugin, made from the template of that name."""
    command = json.dumps(hook.shell_line(host, '"$1"'))
    report = template("report_event.js").replace('"{{command}}"', command)
    return template(name, host=host, version=__version__).replace("{{report_event.js}}", report)


class OwnFile(Value, frozen=True, kw_only=True):
    """A file that is entirely ours."""

    path: str
    content: str
    label: str
    private: bool = False

    def states(self, text: str | None) -> dict[str, str]:
        """Whether the file is installed."""
        if text is None:
            return {self.label: MISSING}
        self._check(text)
        return {self.label: INSTALLED if text == self.content else OUTDATED}

    def _check(self, text: str) -> None:
        if MARK not in text:
            raise Conflict(
                "not_ours",
                f"{shown(self.path, 400)} exists, and Ringbolt did not write it.",
                "Rename it, then install again.",
            )

    def installed(self, text: str | None) -> tuple[str, Created]:
        """Our text."""
        if text is not None:
            self._check(text)
        return self.content, []

    def removed(self, text: str, before: Before | None) -> str | None:
        """None: the file goes."""
        self._check(text)
        return None
