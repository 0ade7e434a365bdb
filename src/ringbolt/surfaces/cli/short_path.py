"""A short path for frequent commands: it reads a plain command line without click.

click takes longer to load than such a command takes to run. The options are those that the command declares,
so that there is nothing to keep in step. Whatever is not plain (help, completion, short options, mistakes) is
left to click, which then reads the same line from its beginning.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from .console import run_to_end
from .parameters import CommonOption, OperationCommand, Parameter

# Commands and their modules, which must not import click.
COMMANDS = {"update": "update"}
_COMPLETION = "_RINGBOLT_COMPLETE"  # the variable with which shells ask click for completions
# What is known here of what click can be given for a parameter.
_KNOWN = {"is_flag", "multiple", "type", "default", "required", "metavar", "help", "show_default"}


def main(words: Sequence[str]) -> None:
    """Run a command and end the process, if it is a frequent one and the line is plain; else return."""
    if not words or words[0] not in COMMANDS or _COMPLETION in os.environ:
        return
    name = words[0]
    command = getattr(import_module(f"{__package__}.{COMMANDS[name]}"), f"{name.replace('-', '_')}_command")
    line = PlainLine(command)
    if line.read(words[1:]):
        run_to_end(line.run, plain="--json" in words)


class PlainLine:
    """What a command line gives to each parameter of a command."""

    def __init__(self, command: OperationCommand) -> None:
        self._command = command
        self.common: dict[CommonOption, Any] = {}
        self.values: dict[str, Any] = {}
        self._options: dict[str, tuple[Parameter | CommonOption, Any, dict[str, Any]]] = {}
        self._places: list[tuple[Parameter, dict[str, Any]]] = []
        self._known = all(self._declare(one, attributes) for one, attributes in command.attributes())
        for common in command.common_options():
            self._options[common.flag] = (common, True, {} if common.metavar else {"is_flag": True})

    def _declare(self, one: Parameter, attributes: dict[str, Any]) -> bool:
        """Note a parameter; False if only click can read it."""
        if one.positional:
            self._places.append((one, attributes))
            self.values[one.key] = None
            return not attributes.keys() - _KNOWN
        usual = False if attributes.get("is_flag") else None
        self.values[one.key] = () if attributes.get("multiple") else attributes.get("default", usual)
        for flag in one.flags:
            on, _, off = flag.partition("/")
            own = {**attributes, "is_flag": True} if off else attributes
            self._options[on] = (one, True, own)
            if off:
                self._options[off] = (one, False, own)
        kind = attributes.get("type", str)
        return not attributes.keys() - _KNOWN and not attributes.get("required") and kind in (str, int, float)

    def read(self, words: Sequence[str]) -> bool:
        """Read a line; False if click must read it."""
        if not self._known:
            return False
        rest, places = list(words), list[str]()
        while rest:
            word = rest.pop(0)
            if word == "-" or not word.startswith("-"):
                places.append(word)
            elif not self._read_option(word, rest):
                return False
        if len(places) > len(self._places):
            return False
        for (one, attributes), word in zip(self._places, places, strict=False):
            self.values[one.key] = word
            if attributes.get("type", str) is not str:
                return False
        return not any(attributes.get("required", True) for _, attributes in self._places[len(places) :])

    def _read_option(self, word: str, rest: list[str]) -> bool:
        flag, equals, value = word.partition("=")
        if flag not in self._options:
            return False
        one, sets, attributes = self._options[flag]
        found: Any = sets
        if attributes.get("is_flag"):
            if equals:
                return False
        elif not equals and not rest:
            return False
        else:
            found = value if equals else rest.pop(0)
            try:
                found = attributes.get("type", str)(found)
            except ValueError:
                return False
        if isinstance(one, CommonOption):
            self.common[one] = found
        elif attributes.get("multiple"):
            self.values[one.key] = (*self.values[one.key], found)
        else:
            self.values[one.key] = found
        return True

    def run(self) -> int:
        """Run the command with what was read."""
        for one, value in self.common.items():
            one.keep(value)
        return self._command.run(self.values)
