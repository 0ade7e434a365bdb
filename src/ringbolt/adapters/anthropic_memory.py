# pyright: basic, reportMissingImports=false
"""The memory tool of the Anthropic SDK: its files are kept in a memory instead of a folder.

The replies are those of the SDK's own tool on local files, because models are trained on them.
"""

from __future__ import annotations

import posixpath
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError

from ..aio import AsyncTaskMemory
from ..memory import TaskMemory
from .documents import Documents, Reading, Writing
from .recorder import off_loop

_ROOT = "/memories"
_LEVELS = 2  # of folders that a listing shows
_WIDTH = 6  # of a line number
_AROUND = 2  # lines shown before and after a change


class _Files:
    """The commands of the tool, on one collection of documents: a path is a key, a text its value.

    A folder is there while it has files. Every command is one transaction.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, name: str) -> None:
        self._documents = Documents(memory, f"anthropic-memory/{name}")

    def view(self, command: Any) -> str:
        path = _path(command.path)

        def work(own: Reading) -> str:
            if (document := own.get(path)) is not None:
                return _numbered(command.path, document.value, command.view_range)
            below = _below(own, path)
            if not below and path != _ROOT:
                raise ToolError(f"The path {command.path} does not exist. Please provide a valid path.")
            return _listing(command.path, path, below)

        return self._documents.read(work)

    def create(self, command: Any) -> str:
        path = _path(command.path)

        def work(own: Writing) -> str:
            if _exists(own, path):
                raise ToolError(f"File {command.path} already exists")
            _check_parents(own, path)
            own.put(path, command.file_text)
            return f"File created successfully at: {command.path}"

        return self._documents.write(work)

    def str_replace(self, command: Any) -> str:
        path, old = _path(command.path), command.old_str

        def work(own: Writing) -> str:
            text = _file(own, path, command.path)
            places = _occurrences(text, old)
            if not places:
                raise ToolError(
                    f"No replacement was performed, old_str `{old}` did not appear verbatim "
                    f"in {command.path}."
                )
            if len(places) > 1:
                raise ToolError(
                    f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                    f"{', '.join(map(str, places))}. Please ensure it is unique"
                )
            changed = text.replace(old, command.new_str)
            own.put(path, changed)
            lines = changed.split("\n")
            first = max(0, places[0] - 1 - _AROUND)
            shown = _with_numbers(lines[first : places[0] + _AROUND], first + 1)
            return (
                "The memory file has been edited. "
                f"Here is the snippet showing the change (with line numbers):\n{shown}"
            )

        return self._documents.write(work)

    def insert(self, command: Any) -> str:
        path, at = _path(command.path), command.insert_line

        def work(own: Writing) -> str:
            lines = _file(own, path, command.path).split("\n")
            if lines[-1] == "":
                lines.pop()
            if not 0 <= at <= len(lines):
                raise ToolError(
                    f"Invalid `insert_line` parameter: {at}. It should be within the range [0, {len(lines)}]."
                )
            lines.insert(at, command.insert_text.rstrip("\n"))
            text = "\n".join(lines)
            own.put(path, text if text.endswith("\n") else f"{text}\n")
            return f"The file {command.path} has been edited."

        return self._documents.write(work)

    def delete(self, command: Any) -> str:
        path = _path(command.path)
        if path == _ROOT:
            raise ToolError("Cannot delete the /memories directory itself")

        def work(own: Writing) -> str:
            paths = [path] if own.get(path) is not None else list(_below(own, path))
            if not paths:
                raise ToolError(f"The path {command.path} does not exist")
            own.delete(paths)
            return f"Successfully deleted {command.path}"

        return self._documents.write(work)

    def rename(self, command: Any) -> str:
        old, new = _path(command.old_path), _path(command.new_path)
        if old == _ROOT:
            raise ToolError("Cannot rename the /memories directory itself")

        def work(own: Writing) -> str:
            if _exists(own, new):
                raise ToolError(f"The destination {command.new_path} already exists")
            document = own.get(old)
            moved = {old: document.value} if document else _below(own, old)
            if not moved:
                raise ToolError(f"The path {command.old_path} does not exist")
            if new.startswith(f"{old}/"):
                raise ToolError(f"Cannot move {command.old_path} into itself")
            _check_parents(own, new)
            own.delete(list(moved))
            for path, text in moved.items():
                own.put(new + path.removeprefix(old), text)
            return f"Successfully renamed {command.old_path} to {command.new_path}"

        return self._documents.write(work)

    def clear(self) -> str:
        self._documents.write(lambda own: own.delete(list(_below(own, _ROOT))))
        return "All memory cleared"


class RingboltMemoryTool(BetaAbstractMemoryTool):
    """The memory tool, for `client.beta.messages.tool_runner(tools=[…])`.

    Args:
        memory: The memory to keep the files in.
        name: Which set of files; each name has its own in the workspace of the memory.
        **options: Options of the SDK's tool, such as `cache_control`.
    """

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, name: str = "default", **options: Any) -> None:
        super().__init__(**options)
        self._files = _Files(memory, name)

    def view(self, command: Any) -> str:
        """Show a file with line numbers, or what is in a folder."""
        return self._files.view(command)

    def create(self, command: Any) -> str:
        """Create a file."""
        return self._files.create(command)

    def str_replace(self, command: Any) -> str:
        """Replace a text that occurs once in a file."""
        return self._files.str_replace(command)

    def insert(self, command: Any) -> str:
        """Insert text after a line of a file."""
        return self._files.insert(command)

    def delete(self, command: Any) -> str:
        """Delete a file or folder; its earlier texts stay in the history of the store."""
        return self._files.delete(command)

    def rename(self, command: Any) -> str:
        """Rename or move a file or folder."""
        return self._files.rename(command)

    def clear_all_memory(self) -> str:
        """Delete every file."""
        return self._files.clear()


class RingboltAsyncMemoryTool(BetaAsyncAbstractMemoryTool):
    """`RingboltMemoryTool` for the SDK's asynchronous client."""

    def __init__(self, memory: TaskMemory | AsyncTaskMemory, name: str = "default", **options: Any) -> None:
        super().__init__(**options)
        self._files = _Files(memory, name)

    async def view(self, command: Any) -> str:
        """Show a file with line numbers, or what is in a folder."""
        return await off_loop(self._files.view, command)

    async def create(self, command: Any) -> str:
        """Create a file."""
        return await off_loop(self._files.create, command)

    async def str_replace(self, command: Any) -> str:
        """Replace a text that occurs once in a file."""
        return await off_loop(self._files.str_replace, command)

    async def insert(self, command: Any) -> str:
        """Insert text after a line of a file."""
        return await off_loop(self._files.insert, command)

    async def delete(self, command: Any) -> str:
        """Delete a file or folder; its earlier texts stay in the history of the store."""
        return await off_loop(self._files.delete, command)

    async def rename(self, command: Any) -> str:
        """Rename or move a file or folder."""
        return await off_loop(self._files.rename, command)

    async def clear_all_memory(self) -> str:
        """Delete every file."""
        return await off_loop(self._files.clear)


def _path(given: str) -> str:
    """A path below /memories in its shortest form."""
    if given != _ROOT and not given.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path must start with {_ROOT}, got: {given}")
    path = posixpath.normpath(given)
    if path != _ROOT and not path.startswith(f"{_ROOT}/"):
        raise ToolError(f"Path {given} would escape {_ROOT} directory")
    return path


def _below(own: Reading, folder: str) -> dict[str, str]:
    """The files in a folder and in those below it, by path."""
    return {one.key: one.value for one in own.all() if one.key.startswith(f"{folder}/")}


def _exists(own: Reading, path: str) -> bool:
    return path == _ROOT or own.get(path) is not None or bool(_below(own, path))


def _check_parents(own: Reading, path: str) -> None:
    """Refuse a path that has a file where a folder would have to be."""
    while (path := posixpath.dirname(path)) != _ROOT:
        if own.get(path) is not None:
            raise ToolError(f"The path {path} is a file, not a directory.")


def _file(own: Reading, path: str, given: str) -> str:
    document = own.get(path)
    if document is not None:
        return document.value
    if path == _ROOT or _below(own, path):
        raise ToolError(f"The path {given} is not a file.")
    raise ToolError(f"The path {given} does not exist. Please provide a valid path.")


def _occurrences(text: str, part: str) -> list[int]:
    """The number of the line of each place where a text begins."""
    places, at = [], text.find(part)
    while at >= 0 and part:
        places.append(text.count("\n", 0, at) + 1)
        at = text.find(part, at + 1)
    return places


def _with_numbers(lines: list[str], first: int) -> str:
    return "\n".join(f"{number:>{_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _numbered(given: str, text: str, view_range: list[int] | None) -> str:
    lines, first = text.split("\n"), 1
    if view_range and len(view_range) == 2:
        first, last = max(1, view_range[0]), view_range[1]
        lines = lines[first - 1 : len(lines) if last == -1 else last]
    return f"Here's the content of {given} with line numbers:\n{_with_numbers(lines, first)}"


def _listing(given: str, folder: str, files: dict[str, str]) -> str:
    """A folder with the sizes of what is in it."""
    sizes: dict[str, int] = {}
    for path, text in files.items():
        parts = path.removeprefix(f"{folder}/").split("/")
        for level in range(1, min(len(parts), _LEVELS) + 1):
            shown = "/".join(parts[:level]) + ("/" if level < len(parts) else "")
            if not any(part.startswith(".") for part in parts[:level]):
                sizes[shown] = sizes.get(shown, 0) + _size(text)
    rows = [f"{_human(sum(map(_size, files.values())))}\t{given}"]
    rows += [f"{_human(sizes[shown])}\t{given}/{shown}" for shown in sorted(sizes, key=_sorting)]
    header = f"Here're the files and directories up to 2 levels deep in {given}, excluding hidden items:"
    return "\n".join([header, *rows])


def _sorting(shown: str) -> list[str]:
    return shown.rstrip("/").split("/")


def _size(text: str) -> int:
    return len(text.encode())


def _human(size: float) -> str:
    unit = "B"
    for larger in "KMG":
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.1f}".removesuffix(".0") + unit
