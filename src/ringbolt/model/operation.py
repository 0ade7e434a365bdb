"""The declaration of an operation: everything that a surface must know about a method of TaskMemory.

The decorator says where an operation can be called; the method's docstring says what it does, and its
`Args:` section what each parameter means. Command line, MCP tools, HTTP routes, OpenAPI and the reference are
made from these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar

from .types import Value

M = TypeVar("M", bound=Callable[..., Any])


class Operation(Value, frozen=True, kw_only=True):
    """An operation: its name is that of the method.

    `tools` is the set of MCP tools that has it: core, full, or none. `core` lists the arguments of a core
    tool: few, because models see them all the time. `http` is false for operations that take a path on the
    server. `repeatable`: a second call changes nothing more. `writes_with` lists arguments that make a read
    operation write.
    """

    method: Callable[..., Any]
    scope: Literal["read", "write"]
    tools: Literal["core", "full", "none"]
    core: tuple[str, ...]
    http: bool
    repeatable: bool
    destructive: bool
    writes_with: tuple[str, ...]
    example: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The method's name."""
        return self.method.__name__

    @property
    def description(self) -> str:
        """What it does: the docstring without its parameters."""
        return split_docstring(self.method)[0]

    @property
    def summary(self) -> str:
        """What it does, in the first paragraph or its first sentence."""
        first = self.description.split("\n\n", 1)[0].replace("\n", " ")
        return first if len(first) <= 120 else first_sentence(first).partition(": ")[0].rstrip(".") + "."

    @property
    def parameter_docs(self) -> dict[str, str]:
        """What each parameter means."""
        return split_docstring(self.method)[1]


def operation(
    *,
    scope: Literal["read", "write"],
    tools: Literal["core", "full", "none"] = "full",
    core: tuple[str, ...] = (),
    http: bool = True,
    repeatable: bool | None = None,
    destructive: bool = False,
    writes_with: tuple[str, ...] = (),
    example: Mapping[str, Any] | None = None,
) -> Callable[[M], M]:
    """Declare a method as an operation; see Operation. Reads are repeatable unless they say otherwise."""

    def declare(method: M) -> M:
        declared = Operation(
            method=method,
            scope=scope,
            tools="core" if core else tools,
            core=core,
            http=http,
            repeatable=scope == "read" if repeatable is None else repeatable,
            destructive=destructive,
            writes_with=writes_with,
            example=example or {},
        )
        setattr(method, _DECLARED, declared)
        return method

    return declare


_DECLARED = "ringbolt_operation"


def declared(method: object) -> Operation | None:
    """The declaration of a method; None if it is not an operation."""
    return getattr(method, _DECLARED, None)


def split_docstring(method: object) -> tuple[str, dict[str, str]]:
    """A docstring's text, and its `Args:` by name, each on one line."""
    from inspect import cleandoc  # slow to load, and only surfaces need descriptions

    text, _, section = cleandoc(method.__doc__ or "").partition("\n\nArgs:\n")
    parameters: dict[str, str] = {}
    for line in section.splitlines():
        if line.startswith("        "):  # a continuation
            parameters[next(reversed(parameters))] += " " + line.strip()
        elif line.strip():
            name, _, meaning = line.strip().partition(": ")
            parameters[name] = meaning
    return text, parameters


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    return re.split(r"(?<=[.…])\s(?=[A-Z])", text, maxsplit=1)[0]
