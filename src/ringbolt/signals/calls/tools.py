"""What the tools of coding agents are, by their names and inputs: the one table that every room reads.

Hosts name their tools freely (`Bash`, `run_shell_command`, `apply_patch`), so a kind is recognised by words
in the name. Only tools that mean something special to us are listed by their whole name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...model.lazy_regex import lazy_regex

_SHELL = ("bash", "shell", "exec", "command", "terminal", "powershell")
_EDIT = ("edit", "write", "patch", "replace", "create", "insert")
_WEB = ("web", "browser", "fetch", "http", "search_documentation")
_DELEGATES = lazy_regex(r"(?i)(?:task|agent|delegate\w*|spawn\w*|dispatch\w*)$")
_WHOLE_FILE = ("write", "create", "create_file", "write_file")
_READ_ONLY = frozenset(
    "read grep glob ls notebookread webfetch websearch toolsearch bashoutput taskoutput view list search find"
    " read_file read_many_files list_directory list_dir glob_files search_file_content grep_search"
    " codebase_search web_fetch google_web_search todoread".split()
)
# How the summary of an action begins that only looked at something: the name of a tool, or a command.
_LOOKS = lazy_regex(
    r"(?i)(?:read|grep|glob|ls|cat|search|find|view|list|open|fetch|look|show|check|head|tail)\b"
)

# Tools that write the agent's to-do list, with the input field that holds the list.
TODO_LISTS: Mapping[str, str] = {"TodoWrite": "todos", "update_plan": "plan", "write_todos": "todos"}
TODO_CREATE, TODO_UPDATE = "TaskCreate", "TaskUpdate"  # one item of a list at a time
ASK_USER, SHOW_PLAN = "AskUserQuestion", "ExitPlanMode"
# The outputs of these are read field by field, so they must not become a text.
STRUCTURED_OUTPUT = (ASK_USER, SHOW_PLAN, TODO_CREATE)

PATH_FIELDS = ("file_path", "path", "notebook_path", "filename")
COMMAND_FIELDS = ("command", "cmd", "script", "code", "sql", "query", "pattern", "url")


def is_shell(tool: str) -> bool:
    """Whether a tool runs commands."""
    name = tool.lower()
    return name == "cmd" or name.startswith("run") or any(word in name for word in _SHELL)


def may_edit(tool: str) -> bool:
    """Whether a tool's name says that it changes something; `is_edit` also looks for a file."""
    name = tool.lower()
    return any(word in name for word in _EDIT)


def is_edit(tool: str, arguments: Mapping[str, Any]) -> bool:
    """Whether a tool changes the file that its input names."""
    return may_edit(tool) and bool(first_text(arguments, PATH_FIELDS))


def writes_whole_file(tool: str) -> bool:
    """Whether a tool writes a file from the first line to the last."""
    return tool.lower() in _WHOLE_FILE


def is_read_only(tool: str) -> bool:
    """Whether a tool changes nothing."""
    return tool.lower() in _READ_ONLY


def only_looked(summary: str) -> bool:
    """Whether an action, by its one-line summary, only looked at something."""
    return _LOOKS.match(summary) is not None


def is_web(tool: str) -> bool:
    """Whether a tool returns text from the web, which is trusted less than other output."""
    name = tool.lower()
    return any(word in name for word in _WEB)


def is_foreign(tool: str) -> bool:
    """Whether a tool belongs to an MCP server, whose results and errors the host only passes on."""
    return tool.startswith(("mcp__", "mcp_", "mcp.", "mcp:")) or "__" in tool


def delegates(tool: str) -> bool:
    """Whether a tool hands work to another agent."""
    return _DELEGATES.match(tool) is not None


def first_text(arguments: Mapping[str, Any], fields: Iterable[str]) -> str:
    """The first of some input fields that holds text; empty if none does."""
    return next((value for name in fields if isinstance(value := arguments.get(name), str) and value), "")
