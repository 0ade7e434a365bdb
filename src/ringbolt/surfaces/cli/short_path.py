"""A short path for frequent commands: parse a plain command line without click.

click takes longer to load than such a command takes to run. The options come from the command's declaration,
so nothing is declared twice. Anything else (help, completion, short options, mistakes) is left to click,
which then parses the same line from its start.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .command_table import COMMANDS, load_command, show_standing
from .console import apply_common_options, run_to_end
from .parameters import CommonOption, OperationCommand, Parameter

# Modules that do not import click.
_MODULES = ("update", "writing", "tasks", "ask")
_COMPLETION = "_RINGBOLT_COMPLETE"  # the variable with which shells ask click for completions
# The attributes of click parameters that are supported here.
_KNOWN = set("is_flag multiple nargs type default required metavar help show_default".split())


def main(words: Sequence[str]) -> None:
    """Run a frequent command and end the process, if the line is plain; otherwise return."""
    if not words and _COMPLETION not in os.environ:
        run_to_end(show_standing, plain=False)
    module = COMMANDS[words[0]][0] if words and words[0] in COMMANDS else ""
    if module not in _MODULES or _COMPLETION in os.environ:
        return
    line = PlainLine(load_command(words[0]))
    if line.read(words[1:]):
        run_to_end(line.run, plain="--json" in words)


class PlainLine:
    """The values on a command line for each parameter of a command."""

    def __init__(self, command: OperationCommand) -> None:
        self._command = command
        self.common: dict[CommonOption, Any] = {}
        self.values: dict[str, Any] = {}
        self._options: dict[str, tuple[Parameter | CommonOption, Any, dict[str, Any]]] = {}
        self._places: list[tuple[Parameter, dict[str, Any]]] = []
        self._known = all(self._declare(*pair) for pair in command.attributes())
        for common in command.common_options():
            self._options[common.flag] = (common, True, {} if common.metavar else {"is_flag": True})

    def _declare(self, parameter: Parameter, attributes: dict[str, Any]) -> bool:
        """Register a parameter; False if only click can parse it."""
        known = not attributes.keys() - _KNOWN and attributes.get("type", str) in (str, int, float)
        if parameter.positional:
            self._places.append((parameter, attributes))
            self.values[parameter.key] = () if "nargs" in attributes else None
            return known and attributes.get("nargs", -1) == -1
        usual = False if attributes.get("is_flag") else None
        self.values[parameter.key] = () if attributes.get("multiple") else attributes.get("default", usual)
        for flag in parameter.flags:
            on, _, off = flag.partition("/")
            own = {**attributes, "is_flag": True} if off else attributes
            self._options[on] = (parameter, True, own)
            if off:
                self._options[off] = (parameter, False, own)
        return known and not attributes.get("required") and "nargs" not in attributes

    def read(self, words: Sequence[str]) -> bool:
        """Parse a line; False if click must parse it."""
        if not self._known:
            return False
        rest, places = list(words), list[str]()
        try:
            while rest:
                word = rest.pop(0)
                if word == "-" or not word.startswith("-"):
                    places.append(word)
                elif not self._read_option(word, rest):
                    return False
            return self._read_places(places)
        except ValueError:  # not a number
            return False

    def _read_option(self, word: str, rest: list[str]) -> bool:
        flag, equals, value = word.partition("=")
        if flag not in self._options:
            return False
        target, parsed, attributes = self._options[flag]
        if attributes.get("is_flag"):
            if equals:
                return False
        elif equals or rest:
            parsed = _converted(attributes, value if equals else rest.pop(0))
        else:
            return False
        if isinstance(target, CommonOption):
            self.common[target] = parsed
        elif attributes.get("multiple"):
            self.values[target.key] = (*self.values[target.key], parsed)
        else:
            self.values[target.key] = parsed
        return True

    def _read_places(self, words: list[str]) -> bool:
        for number, (parameter, attributes) in enumerate(self._places):
            if "nargs" in attributes:
                if len(self._places) > 1 or (attributes.get("required", True) and not words):
                    return False
                self.values[parameter.key] = tuple(_converted(attributes, word) for word in words)
                return True
            if number < len(words):
                self.values[parameter.key] = _converted(attributes, words[number])
            elif attributes.get("required", True):
                return False
        return len(words) <= len(self._places)

    def run(self) -> int:
        """Run the command with the parsed values."""
        for common, value in self.common.items():
            common.keep(value)
        apply_common_options()
        return self._command.run(self.values)


def _converted(attributes: dict[str, Any], word: str) -> Any:
    """Convert a word to the type of its parameter; ValueError if it cannot be."""
    return attributes.get("type", str)(word)
