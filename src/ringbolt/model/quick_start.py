"""Load msgspec without what it does not need, in our own short processes: hooks and the command line.

msgspec loads more modules than we use, which together take longer than msgspec itself:

- typing_extensions, if it is installed, for two names that typing has since Python 3.11,
- uuid and decimal, for the two types. We keep no values of them, so a class that has no instances will do,
- its own modules `inspect` and `_json_schema`, which only describe types. They load when they are first used.

A program that uses Ringbolt as a library loads msgspec as usual.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import SimpleNamespace
from typing import Any

_SCHEMAS = "msgspec._json_schema"
_INSPECT = "msgspec.inspect"


def load_msgspec() -> None:
    """Load msgspec; all modules that stay out of it can be imported as usual afterwards."""
    modules: dict[str, Any] = sys.modules
    if "msgspec" in modules:
        return
    stand_ins: dict[str, Any] = {
        "typing_extensions": None,  # importing a module that is None fails as if it were not installed
        "uuid": SimpleNamespace(UUID=type("UUID", (), {}), SafeUUID=SimpleNamespace(unknown=None)),
        "decimal": SimpleNamespace(Decimal=type("Decimal", (), {})),
        _INSPECT: SimpleNamespace(),
        _SCHEMAS: SimpleNamespace(schema=_loading("schema"), schema_components=_loading("schema_components")),
    }
    stand_ins = {name: module for name, module in stand_ins.items() if name not in modules}
    modules.update(stand_ins)
    try:
        msgspec: Any = import_module("msgspec")
        if msgspec.inspect is stand_ins.get(_INSPECT):
            del msgspec.inspect
    except (
        ImportError,
        AttributeError,
    ):  # a version of msgspec that needs more of them
        for name in [name for name in modules if name.partition(".")[0] == "msgspec"]:
            del modules[name]
    finally:
        for name, module in stand_ins.items():
            if modules.get(name, module) is module:
                modules.pop(name, None)


def _loading(name: str) -> Any:
    """A function of `msgspec.json` that loads the module of both, and calls the real one."""

    def call(*words: Any, **named: Any) -> Any:
        return getattr(import_module(_SCHEMAS), name)(*words, **named)

    return call
