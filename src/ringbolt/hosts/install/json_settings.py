"""Our entries in a host's JSON settings: hooks and an MCP server, added, found again and removed."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeAlias

from ...model.errors import Conflict, InvalidInput, shown
from ...model.types import Value
from ..hook_build import HookProgram, is_hook_command
from ..host_table import HOSTS, RINGBOLT, HostFile
from . import jsonc

# Where an entry is: the list or object that holds it, its index there, and the node with its command.
Place = tuple[jsonc.Node, int, jsonc.Node]

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
PROGRAM = "ringbolt"
INSTALLED, OUTDATED, MISSING = "installed", "outdated", "not installed"
Entry: TypeAlias = "HookEntry | ServerEntry | StatusLineEntry"
# Members that were created to hold our entries, as paths in the document.
Created = list[list[str]]


class Before(Value, frozen=True, kw_only=True):
    """The state of a file before the installation, for its removal."""

    text: str | None = None  # the text, if it held only comments and white space
    existed: bool = True
    folders: list[str] = []  # noqa: RUF012 - created for the file; never changed
    created: Created | None = None  # None if unknown: then a member that becomes empty is removed


class HookEntry(Value, frozen=True, kw_only=True):
    """Our hook in the list of an event."""

    host: str
    event: str
    value: dict[str, Any]  # an element of the list, which holds the command
    command: str

    @property
    def label(self) -> str:
        """Its name in a report."""
        return self.event

    @property
    def path(self) -> tuple[str, ...]:
        """The path of the list."""
        return "hooks", self.event

    def find(self, text: str, box: jsonc.Node) -> Iterator[Place]:
        """Each place of our hook in the list."""
        for index, element in enumerate(box.members):
            if (program := self._our_command(text, element.value)) is not None:
                yield box, index, program
            inner = hooks.value if (hooks := element.value.get("hooks")) else jsonc.Node("scalar", 0)
            for place, hook in enumerate(inner.members if inner.kind == "array" else ()):
                if (program := self._our_command(text, hook.value)) is not None:
                    yield (box, index, program) if len(inner.members) == 1 else (inner, place, program)

    def _our_command(self, text: str, hook: jsonc.Node) -> jsonc.Node | None:
        member = hook.get("command")
        command = jsonc.string_of(text, member)
        if member is not None and is_hook_command(command, self.host, self.event):
            return member.value
        if jsonc.string_of(text, hook.get("name")) == PROGRAM:
            raise Conflict(
                "not_ours",
                f"The event {self.event} has a hook named {PROGRAM} that Ringbolt did not write.",
                "Rename it, then install again.",
            )
        return None

    def add(self, text: str, box: jsonc.Node, style: jsonc.Style) -> str:
        """The text with the hook at the end of the list."""
        return jsonc.insert(text, box, None, self.value, style)


class ServerEntry(Value, frozen=True, kw_only=True):
    """Our MCP server in the table of servers."""

    value: dict[str, Any]
    command: str
    path: tuple[str, ...]  # of the table

    label = "MCP server"

    def find(self, text: str, box: jsonc.Node) -> Iterator[Place]:
        """The place of our server."""
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

    def add(self, text: str, box: jsonc.Node, style: jsonc.Style) -> str:
        """The text with the server after the others."""
        return jsonc.insert(text, box, PROGRAM, self.value, style)


class StatusLineEntry(Value, frozen=True, kw_only=True):
    """Our command as the host's status line, of which there is only one."""

    command: str
    adds: bool  # whether to add it, so that another one is an error; one of ours is kept up to date anyway

    label = "status line"
    path: ClassVar[tuple[str, ...]] = ()  # it is a member of the whole document
    _member = "statusLine"

    def find(self, text: str, box: jsonc.Node) -> Iterator[Place]:
        """The place of our status line; raises if it is to be added and the user has another one."""
        member = box.get(self._member)
        program = member.value.get("command") if member is not None else None
        command = jsonc.string_of(text, program)
        if member is not None and program is not None and is_statusline_command(command):
            yield box, box.members.index(member), program.value
        elif member is not None and self.adds:
            raise Conflict(
                "not_ours",
                "You have a status line of your own; it stays as it is.",
                "Call `ringbolt statusline` in your script with the same standard input, or remove yours.",
            )

    def add(self, text: str, box: jsonc.Node, style: jsonc.Style) -> str:
        """The text with the status line, if it is to be added."""
        if not self.adds:
            return text
        return jsonc.insert(text, box, self._member, {"type": "command", "command": self.command}, style)


def is_statusline_command(command: str | None) -> bool:
    """Whether a command line is that of our status line, wherever the program is."""
    try:
        words = shlex.split(command or "")
    except ValueError:
        return False
    return len(words) == 2 and os.path.basename(words[0]) == PROGRAM and words[1] == "statusline"


def hook_entries(host: str, hook: HookProgram) -> list[HookEntry]:
    """Our hooks for all events of a host, in the layout of its settings."""
    row = HOSTS[host]
    entries: list[HookEntry] = []
    for event in row.events:
        command = hook.command(host, event)
        value: dict[str, Any] = {**row.hook_fields, "command": command, "timeout": row.timeout(event)}
        if not row.flat_hooks:
            matcher = {"matcher": row.matchers[event]} if event in row.matchers else {}
            value = {**matcher, "hooks": [{"type": "command", **value}]}
        entries.append(HookEntry(host=host, event=event, value=value, command=command))
    return entries


def toml_hooks(host: str, hook: HookProgram) -> Iterator[dict[str, Any]]:
    """Our hooks for all events of a host with settings in TOML."""
    row = HOSTS[host]
    for event in row.events:
        yield {"event": event, "command": hook.command(host, event), "timeout": row.timeout(event)}


def server_value(file: HostFile, ringbolt: str) -> dict[str, Any]:
    """Our entry in a table of MCP servers; `ringbolt` is the path of the program."""
    return json.loads(json.dumps(file.server).replace(json.dumps(RINGBOLT), json.dumps(ringbolt)))


def foreign_server() -> Conflict:
    """The error for a server with our name that is not ours."""
    return Conflict(
        "not_ours",
        f"There is an MCP server named {PROGRAM} that does not run `{PROGRAM} mcp`.",
        "Rename it, then install again.",
    )


def _is_by_hand(text: str, program: jsonc.Node) -> bool:
    """Whether a user wrote the entry, with the bare name of our program; it works, and is left alone."""
    return json.loads(text[program.start : program.end]) == PROGRAM


class JsonFile(Value, frozen=True, kw_only=True):
    """A settings file of a host: JSON, perhaps with comments."""

    path: str
    entries: tuple[Entry, ...]
    required: Mapping[str, Any] = {}  # members that every such file must have
    private: bool = False

    def states(self, text: str | None) -> dict[str, str]:
        """Whether each entry is installed."""
        root = self._root(text or "")
        states: dict[str, str] = {}
        for entry in self.entries:
            box = _box(root, entry) if root is not None else None
            programs = [program for _, _, program in entry.find(text or "", box)] if box is not None else []
            if not programs and isinstance(entry, StatusLineEntry) and not entry.adds:
                continue  # nobody asked for it
            right = [self._is_right(text or "", entry, program) for program in programs]
            states[entry.label] = MISSING if not right else INSTALLED if right == [True] else OUTDATED
        return states

    def _root(self, text: str) -> jsonc.Node | None:
        try:
            root = jsonc.parse(text)
        except jsonc.NotJson as error:
            raise InvalidInput(
                "invalid_json",
                f"{shown(self.path, 400)} is not valid JSON: {error}.",
                "Correct it, then try again.",
            ) from None
        if root is not None and root.kind != "object":
            raise InvalidInput(
                "invalid_json",
                f"{shown(self.path, 400)} does not hold a JSON object.",
                "Check that it is the right file.",
            )
        return root

    @staticmethod
    def _is_right(text: str, entry: Entry, program: jsonc.Node) -> bool:
        if isinstance(entry, ServerEntry) and _is_by_hand(text, program):
            return True
        return json.loads(text[program.start : program.end]) == entry.command

    def installed(self, text: str | None) -> tuple[str, Created]:
        """The text with all entries, and the members that were created to hold them."""
        created: Created = []
        if text is None or self._root(text) is None:
            text = _begun(text)
        style = jsonc.style_of(text, self._root(text))
        for name, value in self.required.items():
            root = self._object(text)
            if root.get(name) is None:
                text = jsonc.insert(text, root, name, value, style)
                created.append([name])
        for entry in self.entries:
            text = self._with(text, entry, style, created)
        return text, created

    def _object(self, text: str) -> jsonc.Node:
        root = self._root(text)
        assert root is not None  # noqa: S101 - installed() and removed() have checked it
        return root

    def _with(self, text: str, entry: Entry, style: jsonc.Style, created: Created) -> str:
        while (box := _box(self._object(text), entry)) is None:
            text = self._with_box(text, entry, style, created)
        places = list(entry.find(text, box))
        if not places:
            return entry.add(text, box, style)
        if len(places) > 1:
            text = jsonc.remove(text, *places[-1][:2])
            return self._with(text, entry, style, created)
        program = places[0][2]
        if self._is_right(text, entry, program):
            return text
        return jsonc.replace_scalar(text, program, entry.command)

    def _with_box(self, text: str, entry: Entry, style: jsonc.Style, created: Created) -> str:
        """The text with the outermost missing container of an entry."""
        node, path = self._object(text), entry.path
        for depth, name in enumerate(path):
            member = node.get(name)
            if member is None:
                empty: Any = [] if depth == len(path) - 1 and isinstance(entry, HookEntry) else {}
                created.append(list(path[: depth + 1]))
                return jsonc.insert(text, node, name, empty, style)
            node = member.value
        raise AssertionError(path)

    def removed(self, text: str, before: Before | None) -> str | None:
        """The text without our entries; None if the file should be deleted."""
        if self._root(text) is None:
            return text
        created = before.created if before is not None else None
        # In reverse order, so that each removal sees the layout of its insertion.
        for entry in reversed(self.entries):
            count = 0
            while (hit := self._first_ours(text, entry)) is not None:
                text = jsonc.remove(text, *hit)
                count += 1
            for length in range(len(entry.path), 0, -1):
                path = list(entry.path[:length])
                # If it is not known what was created, remove a container that has just become empty.
                if path in created if created is not None else count:
                    text = self._without_box(text, path, created or [])
        for name in reversed(list(self.required)):
            if [name] in (created or []):
                text = self._without_box(text, [name], created or [])
        return self._rest(text, before)

    def _first_ours(self, text: str, entry: Entry) -> tuple[jsonc.Node, int] | None:
        box = _box(self._object(text), entry)
        for place, index, program in entry.find(text, box) if box is not None else ():
            if isinstance(entry, HookEntry) or not _is_by_hand(text, program):
                return place, index
        return None

    def _without_box(self, text: str, path: list[str], created: Created) -> str:
        """The text without an empty container, or a required member that is no longer needed."""
        node = self._object(text)
        for name in path[:-1]:
            member = node.get(name)
            if member is None:
                return text
            node = member.value
        member = node.get(path[-1])
        if member is None:
            return text
        if path[-1] in self.required and len(path) == 1:
            gone = not any(node.get(path[0]) for path in self._boxes() if [path[0]] in created)
        else:
            whole = text[member.start : member.value.end].removeprefix(json.dumps(path[-1]))
            gone = member.value.kind != "scalar" and "".join(whole.split()) in (":{}", ":[]")
        return jsonc.remove(text, node, node.members.index(member)) if gone else text

    def _boxes(self) -> Iterator[tuple[str, ...]]:
        """The paths of the containers of our entries."""
        return (entry.path for entry in self.entries if entry.path)

    def _rest(self, text: str, before: Before | None) -> str | None:
        if before is None or text.strip() != _begun(before.text).strip():
            return text
        if not before.existed:
            return None
        return text if before.text is None else before.text


def _begun(text: str | None) -> str:
    """An empty document for a file without one, after its comments if it has any."""
    return "{}\n" if not (text or "").strip() else f"{text}\n{{}}\n"


def _box(root: jsonc.Node, entry: Entry) -> jsonc.Node | None:
    """The list or object that holds an entry, if it exists."""
    node = root
    for depth, name in enumerate(entry.path):
        member = node.get(name)
        if member is None:
            return None
        node = member.value
        kind = "array" if depth == len(entry.path) - 1 and isinstance(entry, HookEntry) else "object"
        if node.kind != kind:
            raise InvalidInput(
                "invalid_json",
                f"{shown('.'.join(entry.path[: depth + 1]))} in the host's settings is not an {kind}.",
                "Correct it, then try again.",
            )
    return node
