"""Regular expressions that are compiled on first use.

A process uses few of our patterns, but compiling them all at import takes about as long as a short command
runs. `lazy_regex` has the signature of `re.compile` and is the one way to postpone that work.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, cast

# Compiles a pattern, faster than `re` where it can: a hook brings patterns that are compiled already.
compile_pattern: Callable[[str, int], re.Pattern[str]] = re.compile
_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub")


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags_given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # Called only while the attribute is missing. From then on the methods of the compiled pattern are
        # attributes of this object, so later calls cost no more than those of a compiled pattern.
        compiled = compile_pattern(self.pattern, self.flags_given)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def lazy_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that behaves like `re.compile(pattern, flags)` and is compiled when first used."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


def lazy_patterns(module: ModuleType) -> list[tuple[str, int]]:
    """The lazy patterns of a module, each as the arguments of `re.compile`."""
    found = (value for value in vars(module).values() if isinstance(value, _LazyPattern))
    return [(one.pattern, int(one.flags_given)) for one in found]
