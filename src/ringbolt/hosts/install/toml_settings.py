"""Our tables in a host's TOML settings.

They are between two comment lines at the end of the file, so that they can be removed exactly. tomlkit, a
TOML library that keeps comments, did not restore the file in half of the layouts we tried.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
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

    label = "MCP server"

    def states(self, text: str | None) -> dict[str, str]:
        """Whether the table is installed."""
        server = self._table(text or "")
        if server is None:
            return {self.label: MISSING}
        right = server.get("command") == self.command or not _is_marked(text or "")
        return {self.label: INSTALLED if right else OUTDATED}

    def _table(self, text: str) -> dict[str, Any] | None:
        """The table, if there is one; an error if it is not a server that runs our program."""
        node: Any = _parsed(text, self.path)
        for name in self.table:
            node = node.get(name) if isinstance(node, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        if node is None:
            return None
        server: dict[str, Any] = node if isinstance(node, dict) else {}  # pyright: ignore[reportUnknownVariableType]
        runs = os.path.basename(str(server.get("command"))) == PROGRAM and "mcp" in (server.get("args") or ())
        if not runs:
            raise foreign_server()
        return server

    def _lines(self) -> list[str]:
        return [
            f"[{'.'.join(self.table)}]",
            f"command = {json.dumps(self.command, ensure_ascii=False)}",
            'args = ["mcp"]',
        ]

    def installed(self, text: str | None) -> tuple[str, Created]:
        """The text with the table at its end."""
        text = text or ""
        if (server := self._table(text)) is not None:
            if not _is_marked(text) or server.get("command") == self.command:
                return text, []
            text = _without_block(text, self.path)
        changed = _with_block(text, self._lines())
        self._table(changed)  # raises if the servers are an inline table, which cannot be extended
        return changed, []

    def removed(self, text: str, before: Before | None) -> str | None:
        """The text without our table; None if the file should be deleted."""
        self._table(text)
        return _rest(text, self.path, before)


class TomlHooks(Value, frozen=True, kw_only=True):
    """Our hooks in a TOML file, as tables of the array `hooks`."""

    path: str
    hooks: tuple[Mapping[str, Any], ...]
    private: bool = False

    label = "hooks"

    def states(self, text: str | None) -> dict[str, str]:
        """Whether the hooks are installed."""
        _parsed(text or "", self.path)
        if not _is_marked(text or ""):
            return {self.label: MISSING}
        return {self.label: INSTALLED if self.installed(text)[0] == text else OUTDATED}

    def installed(self, text: str | None) -> tuple[str, Created]:
        """The text with the hooks at its end."""
        _parsed(text or "", self.path)
        changed = _with_block(_without_block(text or "", self.path), self._lines())
        _parsed(changed, self.path)  # raises if `hooks` is an inline array, which cannot be extended
        return changed, []

    def _lines(self) -> list[str]:
        return [
            line
            for hook in self.hooks
            for line in (
                "[[hooks]]",
                *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in hook.items()),
            )
        ]

    def removed(self, text: str, before: Before | None) -> str | None:
        """The text without our hooks; None if the file should be deleted."""
        _parsed(text, self.path)
        return _rest(text, self.path, before)


BEGIN, END = "# ringbolt: begin", "# ringbolt: end"


def _is_marked(text: str) -> bool:
    return BEGIN in text


def _parsed(text: str, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(path, 400)} is not valid TOML: {error}.",
            "Correct it, then try again.",
        ) from None


def _with_block(text: str, lines: list[str]) -> str:
    line_end = "\r\n" if "\r\n" in text else "\n"
    return text + (line_end if text else "") + "".join(line + line_end for line in (BEGIN, *lines, END))


def _without_block(text: str, path: str) -> str:
    if not _is_marked(text):
        return text
    start = text.index(BEGIN)
    end = text.find(END, start)
    if end < 0:
        raise InvalidInput(
            "invalid_argument",
            f"{shown(path, 400)} has the line {shown(BEGIN)} without {shown(END)}.",
            "Remove our lines by hand.",
        )
    end += len(END)
    end += len(text[end : end + 2]) if text.startswith("\r\n", end) else len(text[end : end + 1])
    return text[:start].removesuffix("\n").removesuffix("\r") + text[end:]


def _rest(text: str, path: str, before: Before | None) -> str | None:
    left = _without_block(text, path)
    return None if not left and before is not None and not before.existed else left
