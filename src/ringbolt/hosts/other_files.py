"""Files of hosts that are no JSON: a table in TOML, and files that are ours as a whole."""

from __future__ import annotations

import json
import os
import tomllib
from typing import Any

from ..model.errors import Conflict, InvalidInput, shown
from ..model.types import Value
from .settings_files import INSTALLED, MISSING, OUTDATED, PROGRAM, Made, Remembered, foreign_server


class TomlTable(Value, frozen=True, kw_only=True):
    """A table in a TOML file, between two lines that say whose it is."""

    path: str
    table: tuple[str, ...]
    command: str
    private: bool = False

    BEGIN, END = "# ringbolt: begin", "# ringbolt: end"
    label = "MCP server"

    def states(self, text: str | None) -> dict[str, str]:
        """How it stands with the table."""
        found = self._read(text or "")
        if found is None:
            return {self.label: MISSING}
        right = found.get("command") == self.command or not self._is_marked(text or "")
        return {self.label: INSTALLED if right else OUTDATED}

    def _is_marked(self, text: str) -> bool:
        return self.BEGIN in text

    def _read(self, text: str) -> dict[str, Any] | None:
        """The table, if there is one; one that is not ours must run our program."""

        try:
            node: Any = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(
                "invalid_argument",
                f"{shown(self.path, 400)} is no TOML: {error}.",
                "Mend it, then try again.",
            ) from None
        for name in self.table:
            node = node.get(name) if isinstance(node, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        if node is None:
            return None
        server: dict[str, Any] = node if isinstance(node, dict) else {}  # pyright: ignore[reportUnknownVariableType]
        runs = os.path.basename(str(server.get("command"))) == PROGRAM and "mcp" in (server.get("args") or ())
        if not runs:
            raise foreign_server()
        return server

    def _block(self, line_end: str) -> str:
        lines = [
            self.BEGIN,
            f"[{'.'.join(self.table)}]",
            f"command = {json.dumps(self.command, ensure_ascii=False)}",
            'args = ["mcp"]',
            self.END,
        ]
        return "".join(line + line_end for line in lines)

    def installed(self, text: str | None) -> tuple[str, Made]:
        """The text with the table at its end."""
        text = text or ""
        if (found := self._read(text)) is not None:
            if not self._is_marked(text) or found.get("command") == self.command:
                return text, []
            text = self._without(text)
        line_end = "\r\n" if "\r\n" in text else "\n"
        changed = text + (line_end if text else "") + self._block(line_end)
        self._read(changed)  # a table of servers in one line cannot be added to
        return changed, []

    def _without(self, text: str) -> str:
        start = text.index(self.BEGIN)
        end = text.find(self.END, start)
        if end < 0:
            raise InvalidInput(
                "invalid_argument",
                f"{shown(self.path, 400)} has the line {shown(self.BEGIN)} without {shown(self.END)}.",
                "Take our lines out by hand.",
            )
        end += len(self.END)
        end += len(text[end : end + 2]) if text.startswith("\r\n", end) else len(text[end : end + 1])
        before = text[:start]
        return before.removesuffix("\n").removesuffix("\r") + text[end:]

    def removed(self, text: str, known: Remembered | None) -> str | None:
        """The text without our table; None if the file should go."""
        self._read(text)
        left = self._without(text) if self._is_marked(text) else text
        return None if not left and known is not None and not known.existed else left


class OwnFile(Value, frozen=True, kw_only=True):
    """A file that is ours as a whole."""

    path: str
    content: str
    mark: str  # what only our file has in it
    label: str
    private: bool = False

    def states(self, text: str | None) -> dict[str, str]:
        """How it stands with the file."""
        if text is None:
            return {self.label: MISSING}
        self._check(text)
        return {self.label: INSTALLED if text == self.content else OUTDATED}

    def _check(self, text: str) -> None:
        if self.mark not in text:
            raise Conflict(
                "not_ours",
                f"{shown(self.path, 400)} is in the way: it is not ours.",
                "Give it another name, then install again.",
            )

    def installed(self, text: str | None) -> tuple[str, Made]:
        """Our text."""
        if text is not None:
            self._check(text)
        return self.content, []

    def removed(self, text: str, known: Remembered | None) -> str | None:
        """Nothing is left of it."""
        self._check(text)
        return None
