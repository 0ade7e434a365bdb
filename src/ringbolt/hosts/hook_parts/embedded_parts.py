"""What a build of the capture hook has embedded; as a module of the package, the same is imported."""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping
from typing import Any

from .plain_json import is_dict, is_list

# What the build embeds, as marshalled bytes by name; empty when this runs as a module of the package.
BUILT: dict[str, bytes] = {}


def embedded(name: str) -> Any:
    """A part that the build embedded."""
    return marshal.loads(BUILT[name])  # noqa: S302 - from the file that runs


def rules_digest() -> str:
    """What identifies the rules of `redaction_module`."""
    if not BUILT:
        from ringbolt.hosts.redaction_rules import rules_digest  # only as a module, as above

        return rules_digest()
    return embedded("rules")


def redaction_module() -> Mapping[str, Any]:
    """The names of model/redaction, from the build or imported."""
    if not BUILT:
        from ringbolt.model import redaction  # only as a module: the build has it embedded

        return vars(redaction)
    # These stand for the imports that the build left out.
    names: dict[str, Any] = {
        "__name__": "redaction",
        "re": ReadyPatterns,
        "log2": _log2,
        "rules": RedactionRules(),
        "is_dict": is_dict,
        "is_list": is_list,
    }
    exec(embedded("redaction"), names)  # noqa: S102 - our own module, compiled by the build
    return names


class RedactionRules:
    """Stands for the module `rules` of model/redaction."""

    def __init__(self) -> None:
        exec(embedded("redaction rules"), vars(self))  # noqa: S102 - our own module, compiled by the build


class ReadyPatterns:
    """Stands for `re`: patterns that the build compiled, made without importing the compiler."""

    _known: dict[Any, bytes] | None = None

    @classmethod
    def compile(cls, source: str, flags: int = 0) -> Any:
        """The pattern of a source, as `re.compile` gives it."""
        if cls._known is None:
            cls._known = embedded("patterns")
        ready = (cls._known or {}).get((source, int(flags)) if flags else source)
        engine: Any = __import__("_sre")  # the C module below `re`
        if ready is None or embedded("sre") != engine.MAGIC:
            import re  # compiled by another release of Python, or unknown to the build

            return re.compile(source, flags)
        return engine.compile(source, *marshal.loads(ready))  # noqa: S302 - from the file that runs

    @classmethod
    def add_packet_patterns(cls) -> Callable[..., Any]:
        """Also the patterns that packets need; returns `compile`."""
        cls._known = {**(cls._known or embedded("patterns")), **embedded("packet patterns")}
        return cls.compile


def _log2(number: float) -> float:
    from math import log2  # a shared library that few events need

    return log2(number)


def host_facts(host: str) -> dict[str, Any]:
    """What this process needs to know about a host; empty if the host is unknown."""
    if not BUILT:
        from ringbolt.hosts.hook_build import facts_of_host  # only as a module: the build has them embedded

        return facts_of_host(host)
    return embedded(f"host {host}") if f"host {host}" in BUILT else {}


def effect_hints() -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    """What a call with a side effect has in it: parts and words of its command, or of its tool's name."""
    if not BUILT:
        from ringbolt.hosts.hook_build import effect_hints  # only as a module: the build has them embedded

        return effect_hints()
    return embedded("effects")
