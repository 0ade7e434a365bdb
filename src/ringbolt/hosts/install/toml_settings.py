"""Our table in a host's TOML settings.

The table is between two comment lines at the end of the file, so that it can be removed exactly. tomlkit, a
TOML library that keeps comments, did not restore the file in half of the layouts we tried.
"""

from __future__ import annotations

import json
import os
import tomllib
from typing import Any

from ...model.errors import InvalidInput, shown
from ...model.types import Value
from .json_settings import INSTALLED, MISSING, OUTDATED, PROGRAM, Before, Created, foreign_server


class TomlTable(Value, frozen=True, kw_only=True):
    """A table in a TOML file, between two comment lines that mark it as ours."""

    path: str
    table: tuple[str, ...]
    command: str
    private: bool = False

    BEGIN, END = "# ringbolt: begin", "# ringbolt: end"
    label = "MCP server"

    def states(self, text: str | None) -> dict[str, str]:
        """Whether the table is installed."""
        server = self._table(text or "")
        if server is None:
            return {self.label: MISSING}
        right = server.get("command") == self.command or not self._is_marked(text or "")
        return {self.label: INSTALLED if right else OUTDATED}

    def _is_marked(self, text: str) -> bool:
        return self.BEGIN in text

    def _table(self, text: str) -> dict[str, Any] | None:
        """The table, if there is one; an error if it is not a server that runs our program."""
        try:
            node: Any = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise InvalidInput(
                "invalid_argument",
                f"{shown(self.path, 400)} is not valid TOML: {error}.",
                "Correct it, then try again.",
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

    def installed(self, text: str | None) -> tuple[str, Created]:
        """The text with the table at its end."""
        text = text or ""
        if (server := self._table(text)) is not None:
            if not self._is_marked(text) or server.get("command") == self.command:
                return text, []
            text = self._without(text)
        line_end = "\r\n" if "\r\n" in text else "\n"
        changed = text + (line_end if text else "") + self._block(line_end)
        self._table(changed)  # raises if the servers are an inline table, which cannot be extended
        return changed, []

    def _without(self, text: str) -> str:
        start = text.index(self.BEGIN)
        end = text.find(self.END, start)
        if end < 0:
            raise InvalidInput(
                "invalid_argument",
                f"{shown(self.path, 400)} has the line {shown(self.BEGIN)} without {shown(self.END)}.",
                "Remove our lines by hand.",
            )
        end += len(self.END)
        end += len(text[end : end + 2]) if text.startswith("\r\n", end) else len(text[end : end + 1])
        return text[:start].removesuffix("\n").removesuffix("\r") + text[end:]

    def removed(self, text: str, before: Before | None) -> str | None:
        """The text without our table; None if the file should be deleted."""
        self._table(text)
        left = self._without(text) if self._is_marked(text) else text
        return None if not left and before is not None and not before.existed else left
