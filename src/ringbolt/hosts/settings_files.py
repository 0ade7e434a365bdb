"""Settings of hosts in JSON: what is ours in them is put in, found again and taken out."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from ..model.errors import Conflict, InvalidInput, shown
from ..model.types import Value
from . import jsonc
from .hook_build import is_hook_command

Found = tuple[jsonc.Node, int, jsonc.Node]  # the box, which member of it, and the text of its program


BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
PROGRAM = "ringbolt"
INSTALLED, OUTDATED, MISSING = "installed", "outdated", "not installed"
# Members that were made to hold ours, as paths in the document.
Made = list[list[str]]


class Remembered(Value, frozen=True, kw_only=True):
    """What a removal needs to know of the file as it was before the installation."""

    before: str | None = None  # the text, if it said nothing; None if there was no file
    existed: bool = True
    folders: list[str] = []  # noqa: RUF012 - never changed
    made: Made | None = None  # None: not known, and what is empty then goes


class Hook(Value, frozen=True, kw_only=True):
    """A hook in the list of an event."""

    host: str
    event: str
    value: dict[str, Any]  # an element of the list, which holds the command
    command: str
    under: tuple[str, ...] = ("hooks",)

    @property
    def label(self) -> str:
        """What people call it."""
        return self.event

    @property
    def path(self) -> tuple[str, ...]:
        """Where the list is."""
        return (*self.under, self.event)

    def found(self, text: str, box: jsonc.Node) -> Iterator[Found]:
        """Where our hook is in the list."""
        for index, element in enumerate(box.members):
            hooks = element.value.get("hooks")
            inner = hooks.value if hooks is not None and hooks.value.kind == "array" else None
            if (program := self._ours(text, element.value)) is not None:
                yield box, index, program
            for place, hook in enumerate(inner.members if inner is not None else ()):
                if inner is None or (program := self._ours(text, hook.value)) is None:
                    continue
                yield (box, index, program) if len(inner.members) == 1 else (inner, place, program)

    def _ours(self, text: str, hook: jsonc.Node) -> jsonc.Node | None:
        member = hook.get("command")
        command = jsonc.string_of(text, member)
        if member is not None and is_hook_command(command, self.host, self.event):
            return member.value
        if jsonc.string_of(text, hook.get("name")) == PROGRAM:
            raise Conflict(
                "not_ours",
                f"The event {self.event} has a hook named {PROGRAM} that is not ours.",
                "Give it another name, then install again.",
            )
        return None

    def put(self, text: str, box: jsonc.Node, style: jsonc.Style) -> str:
        """The text with the hook at the end of the list."""
        return jsonc.put(text, box, None, self.value, style)


class Server(Value, frozen=True, kw_only=True):
    """An MCP server in the object of servers."""

    value: dict[str, Any]
    command: str
    under: tuple[str, ...]

    label = "MCP server"

    @property
    def path(self) -> tuple[str, ...]:
        """Where the servers are."""
        return self.under

    def found(self, text: str, box: jsonc.Node) -> Iterator[Found]:
        """Where our server is."""
        member = box.get(PROGRAM)
        if member is None:
            return
        program, words = member.value.get("command"), ["mcp"]
        if program is not None and program.value.kind == "array":  # command and arguments in one
            words = jsonc.value_of(text, program.value)[1:]
            program = program.value.members[0] if program.value.members else None
        elif (arguments := member.value.get("args")) is not None:
            words = jsonc.value_of(text, arguments.value)
        command = jsonc.string_of(text, program)
        if program is None or command is None or os.path.basename(command) != PROGRAM or "mcp" not in words:
            raise foreign_server()
        yield box, box.members.index(member), program.value

    def put(self, text: str, box: jsonc.Node, style: jsonc.Style) -> str:
        """The text with the server after the others."""
        return jsonc.put(text, box, PROGRAM, self.value, style)


def foreign_server() -> Conflict:
    """There is a server of our name that is none of ours."""
    return Conflict(
        "not_ours",
        f"There is an MCP server named {PROGRAM} that does not run `{PROGRAM} mcp`.",
        "Give it another name, then install again.",
    )


def _is_by_hand(text: str, program: jsonc.Node) -> bool:
    """Whether somebody wrote the bare name of our program: that works, and is theirs."""
    return json.loads(text[program.start : program.end]) == PROGRAM


# --- the kinds of files -----------------------------------------------------------------------------


class JsonFile(Value, frozen=True, kw_only=True):
    """A settings file of a host: JSON, perhaps with comments."""

    path: str
    entries: tuple[Hook | Server, ...]
    skeleton: dict[str, Any] = {}  # noqa: RUF012 - what every such file must have; never changed
    private: bool = False

    def states(self, text: str | None) -> dict[str, str]:
        """How it stands with each entry."""
        root = self._root(text or "")
        states: dict[str, str] = {}
        for entry in self.entries:
            box = _box(root, entry) if root is not None else None
            programs = [program for _, _, program in entry.found(text or "", box)] if box is not None else []
            right = [self._is_right(text or "", entry, program) for program in programs]
            states[entry.label] = MISSING if not right else INSTALLED if right == [True] else OUTDATED
        return states

    def _root(self, text: str) -> jsonc.Node | None:
        try:
            root = jsonc.parse(text)
        except jsonc.NotJson as error:
            raise InvalidInput(
                "invalid_json", f"{shown(self.path, 400)} is no JSON: {error}.", "Mend it, then try again."
            ) from None
        if root is not None and root.kind != "object":
            raise InvalidInput(
                "invalid_json",
                f"{shown(self.path, 400)} holds no object.",
                "Look whether it is the right file.",
            )
        return root

    @staticmethod
    def _is_right(text: str, entry: Hook | Server, program: jsonc.Node) -> bool:
        if isinstance(entry, Server) and _is_by_hand(text, program):
            return True
        return json.loads(text[program.start : program.end]) == entry.command

    def installed(self, text: str | None) -> tuple[str, Made]:
        """The text with all entries, and what had to be made to hold them."""
        made: Made = []
        if text is None or self._root(text) is None:
            text = _begun(text)
        style = jsonc.style_of(text, self._root(text))
        for name, value in self.skeleton.items():
            root = self._object(text)
            if root.get(name) is None:
                text = jsonc.put(text, root, name, value, style)
                made.append([name])
        for entry in self.entries:
            text = self._with(text, entry, style, made)
        return text, made

    def _object(self, text: str) -> jsonc.Node:
        root = self._root(text)
        assert root is not None  # noqa: S101 - installed() and removed() have seen to it
        return root

    def _with(self, text: str, entry: Hook | Server, style: jsonc.Style, made: Made) -> str:
        while (box := _box(self._object(text), entry)) is None:
            text = self._with_box(text, entry, style, made)
        found = list(entry.found(text, box))
        if not found:
            return entry.put(text, box, style)
        if len(found) > 1:
            text = jsonc.taken(text, *found[-1][:2])
            return self._with(text, entry, style, made)
        program = found[0][2]
        if self._is_right(text, entry, program):
            return text
        return jsonc.replaced(text, program, entry.command)

    def _with_box(self, text: str, entry: Hook | Server, style: jsonc.Style, made: Made) -> str:
        """The text with the outermost box that an entry lacks."""
        node, path = self._object(text), entry.path
        for depth, name in enumerate(path):
            member = node.get(name)
            if member is None:
                empty: Any = [] if depth == len(path) - 1 and isinstance(entry, Hook) else {}
                made.append(list(path[: depth + 1]))
                return jsonc.put(text, node, name, empty, style)
            node = member.value
        raise AssertionError(path)

    def removed(self, text: str, known: Remembered | None) -> str | None:
        """The text without any entry; None if the file should go."""
        if self._root(text) is None:
            return text
        made = known.made if known is not None else None
        # The last that came is the first to go: the layout that an entry was fitted into is then as it was.
        for entry in reversed(self.entries):
            count = 0
            while (hit := self._first_ours(text, entry)) is not None:
                text = jsonc.taken(text, *hit)
                count += 1
            for length in range(len(entry.path), 0, -1):
                path = list(entry.path[:length])
                # Without a memory of what was made, a box goes that has just become empty.
                if path in made if made is not None else count:
                    text = self._without_box(text, path, made or [])
        for name in reversed(self.skeleton):
            if [name] in (made or []):
                text = self._without_box(text, [name], made or [])
        return self._rest(text, known)

    def _first_ours(self, text: str, entry: Hook | Server) -> tuple[jsonc.Node, int] | None:
        box = _box(self._object(text), entry)
        for place, index, program in entry.found(text, box) if box is not None else ():
            if isinstance(entry, Hook) or not _is_by_hand(text, program):
                return place, index
        return None

    def _without_box(self, text: str, path: list[str], made: Made) -> str:
        """The text without a box, if that is empty, or a word of the skeleton, if nothing new needs it."""
        node = self._object(text)
        for name in path[:-1]:
            member = node.get(name)
            if member is None:
                return text
            node = member.value
        member = node.get(path[-1])
        if member is None:
            return text
        if path[-1] in self.skeleton and len(path) == 1:
            gone = not any(node.get(entry.path[0]) for entry in self.entries if [entry.path[0]] in made)
        else:
            whole = text[member.start : member.value.end].removeprefix(json.dumps(path[-1]))
            gone = member.value.kind != "scalar" and "".join(whole.split()) in (":{}", ":[]")
        return jsonc.taken(text, node, node.members.index(member)) if gone else text

    def _rest(self, text: str, known: Remembered | None) -> str | None:
        nothing = known is not None and text.strip() == _begun(known.before).strip()
        if known is None or not nothing:
            return text
        if not known.existed:
            return None
        return text if known.before is None else known.before


def _begun(text: str | None) -> str:
    """A document for a file that says nothing yet: after its comments, if it has some."""
    return "{}\n" if not (text or "").strip() else f"{text}\n{{}}\n"


def _box(root: jsonc.Node, entry: Hook | Server) -> jsonc.Node | None:
    """The list or object that an entry stands in, if there is one."""
    node = root
    for depth, name in enumerate(entry.path):
        member = node.get(name)
        if member is None:
            return None
        node = member.value
        kind = "array" if depth == len(entry.path) - 1 and isinstance(entry, Hook) else "object"
        if node.kind != kind:
            raise InvalidInput(
                "invalid_json",
                f"{shown('.'.join(entry.path[: depth + 1]))} in the host's settings is no {kind}.",
                "Mend it, then try again.",
            )
    return node
