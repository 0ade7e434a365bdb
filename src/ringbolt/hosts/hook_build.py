"""Builds the capture hook: one compiled file that the base interpreter runs without `site`, `re` or `json`.

The file holds the code of `hook_parts/` and `capture_hook.py`, joined into one module, and as marshalled
bytes: the modules of `model/redaction/` without their imports, patterns as `re` compiles them,
the facts about each host, and where the package is. Its name has our version, Python's magic number and a
digest of all that goes into it, so a settings file that names it says which build it runs.

A command line names the build first and `ringbolt-hook` second. A Python that cannot run the build (another
version, or the file is gone) fails before it reads standard input, so the second program gets the event.
"""

from __future__ import annotations
import __future__

import ast
import marshal
import os
import shlex
import sys
import sysconfig
from collections.abc import Iterable
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import MAGIC_NUMBER, find_spec
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

from .. import packet
from .._version import __version__
from ..config import user_folder
from ..model import redaction
from ..model.lazy_regex import lazy_patterns
from ..model.types import Value
from ..signals.effects.side_effects import HINT_PARTS, HINT_WORDS
from ..signals.effects.tool_effects import TOOL_VERBS
from ..system.files import FileErrors, write_atomic
from ..system.os_calls import make_private_folders
from . import capture_hook
from .hook_parts import (
    calls,
    card_check,
    cleaning,
    embedded_parts,
    hook_settings,
    host_state,
    journal_files,
    plain_json,
    system_calls,
)
from .host_table import EVENT_FIELDS, FIELDS, HOSTS, WHOLE
from .redaction_rules import rules_digest

PROGRAM = "ringbolt-hook"
# Our names of the fields that the hook reads.
_FIELDS_READ = ("session", "tool", "input", "output", "transcript", "agent_id", "prompt")
_FOR_CHECKERS = "TYPE_CHECKING"  # the name of the constant for imports that only type checkers need
# The modules of the hook, each after those that it imports.
_HOOK_MODULES = (
    system_calls,
    plain_json,
    embedded_parts,
    cleaning,
    calls,
    card_check,
    journal_files,
    hook_settings,
    host_state,
    capture_hook,
)
# Modules that the hook imports only for types.
_ONLY_TYPES = ("typing", "collections.abc")


class HookProgram(Value, frozen=True, kw_only=True):
    """What a host runs: `ringbolt-hook`, and before it the command that starts a build, if there is one."""

    path: str = PROGRAM
    fast: tuple[str, ...] = ()
    before: str = ""  # shell code that comes first

    @property
    def build(self) -> str:
        """The path of the build; empty without one."""
        return self.fast[-1] if self.fast else ""

    def command(self, host: str, event: str) -> str:
        """The command line of an event, for a POSIX shell."""
        return self.shell_line(host, shlex.quote(event))

    def shell_line(self, host: str, event: str) -> str:
        """The same with an event that the shell is to expand."""
        programs = [self.fast, (self.path,)] if self.fast else [(self.path,)]
        return self.before + " || ".join(f"{shlex.join([*words, host])} {event}" for words in programs)


def is_hook_command(command: str | None, host: str, event: str) -> bool:
    """Whether a command line is that of our hook, with or without a build, wherever its programs are."""
    try:
        words = shlex.split(command or "")
    except ValueError:
        return False
    *build, program = _split(words, "||")
    if len(program) != 3 or os.path.basename(program[0]) != PROGRAM or program[1:] != [host, event]:
        return False
    if not build:
        return True
    return len(build) == 1 and len(build[0]) > 3 and _is_build_name(os.path.basename(build[0][-3]))


def _split(words: list[str], separator: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == separator:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def with_build(path: str) -> HookProgram:
    """A program with its build; only the `ringbolt-hook` beside this Python, of this package, has one."""
    base = getattr(sys, "_base_executable", None) or ""
    beside = os.path.realpath(os.path.dirname(sys.executable))
    if os.name != "posix" or os.path.realpath(os.path.dirname(path)) != beside or not base.isprintable():
        return HookProgram(path=path)
    build = os.path.join(build_folder(), build_name())
    if not os.access(base, os.X_OK) or not build.isprintable():
        return HookProgram(path=path)
    return HookProgram(path=path, fast=(base, "-I", "-S", build))


# --- the file ---------------------------------------------------------------------------------------


def build_folder() -> str:
    """Where builds are kept."""
    return os.path.join(user_folder("data"), "hooks")


@cache
def build_name() -> str:
    """The name of this version's build. It follows from what goes in: marshalled code differs every time."""
    hints = repr([sorted(part) for part in effect_hints()])
    parts = [
        *(_source(module) for module in (*_HOOK_MODULES, *redaction.MODULES, redaction.rules)),
        repr(packet_patterns()),
        hints,
        repr(_package()),
        repr({host: facts_of_host(host) for host in HOSTS}),
        sys.version,
    ]
    digest = blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=6).hexdigest()
    return f"{PROGRAM}-{__version__}-{MAGIC_NUMBER[:2].hex()}-{digest}.pyc"


def _is_build_name(name: str) -> bool:
    return name.startswith(f"{PROGRAM}-") and name.endswith(".pyc")


def write_build(path: str) -> None:
    """Write the build, unless it is there."""
    if os.path.isfile(path):
        return
    with FileErrors(path):
        make_private_folders(os.path.dirname(path))
        write_atomic(path, compiled(), mode=0o644)


def remove_unused_builds(settings: Iterable[str]) -> None:
    """Remove the builds that none of these settings files names, and their folder when it is empty."""
    folder = build_folder()
    if not os.path.isdir(folder):
        return
    texts = [_text(path) for path in settings]
    for name in os.listdir(folder):
        if _is_build_name(name) and not any(name in text for text in texts):
            os.unlink(os.path.join(folder, name))
    if not os.listdir(folder):
        os.rmdir(folder)


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def compiled() -> bytes:
    """The content of the build: what Python writes to a .pyc file, without a source to compare with."""
    rules = _without_imports(ast.parse(_source(redaction.rules)))
    built: dict[str, bytes] = {
        "redaction": marshal.dumps(_code(_joined(redaction.MODULES), "redaction")),
        "redaction rules": marshal.dumps(_code(rules, "rules.py")),
        "patterns": _ready_patterns((source, 0) for source in redaction.pattern_sources()),
        "packet patterns": _ready_patterns(packet_patterns()),
        "hints": marshal.dumps((_hints_in_json(), _as_bytes(redaction.EXACT_HINTS))),
        "sre": marshal.dumps(import_module("_sre").MAGIC),
        "package": marshal.dumps(_package()),
        "effects": marshal.dumps(effect_hints()),
        "rules": marshal.dumps(rules_digest()),
        **{f"host {host}": marshal.dumps(facts_of_host(host)) for host in HOSTS},
    }
    code = _code(_with_built(_joined(_HOOK_MODULES, _ONLY_TYPES), built), "capture_hook.py")
    # No flags, no time and no size of a source: Python runs such a file without asking for one.
    return MAGIC_NUMBER + bytes(12) + marshal.dumps(code)


def _joined(modules: Iterable[ModuleType], left_out: tuple[str, ...] | None = None) -> ast.Module:
    """Modules as one, without what they import from each other, or with `left_out` None any imports."""
    joined = ast.Module(body=[], type_ignores=[])
    seen: dict[str, str] = {}
    for module in modules:
        tree = _without_imports(ast.parse(_source(module)), left_out)
        for name in _defined(tree):
            if seen.setdefault(name, module.__name__) != module.__name__:
                raise AssertionError(f"{name} is defined in {seen[name]} and {module.__name__}")
        joined.body += tree.body
    return joined


def _defined(tree: ast.Module) -> Iterable[str]:
    """The names that a module defines at its top."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))


def _as_bytes(words: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(word.encode() for word in words if word.isascii())  # the hook searches nothing else


def _hints_in_json() -> tuple[tuple[bytes, tuple[bytes, ...]], ...]:
    """The hints of redaction as JSON has them, by the sign that must be there too; JSON escapes quotes."""
    found: dict[str, dict[str, None]] = {}
    for sign, hints in redaction.HINTS:
        sign = sign.strip('"').replace("\n", "\\n")
        found.setdefault(sign, {}).update(dict.fromkeys(hint.strip('"') for hint in hints))
    return tuple((sign.encode(), _as_bytes(hints)) for sign, hints in found.items())


def _source(module: ModuleType) -> str:
    with open(str(module.__file__), encoding="utf-8") as file:
        return file.read()


def _code(tree: ast.Module, name: str) -> Any:
    # `from __future__ import …` would load a file each time: the flag does the same here. Level 2 leaves
    # docstrings out. The name is not a path, so builds are alike wherever the package is.
    annotations = __future__.annotations.compiler_flag
    return compile(tree, name, "exec", flags=annotations, optimize=2, dont_inherit=True)


def _without_imports(tree: ast.Module, modules: tuple[str, ...] | None = None) -> ast.Module:
    """A module without the imports at its top: those of our own, `__future__` and some modules, or all."""

    def goes(node: ast.stmt) -> bool:
        if isinstance(node, ast.If):
            return ast.unparse(node.test) == _FOR_CHECKERS
        if isinstance(node, ast.Assign):
            return ast.unparse(node.targets[0]) == _FOR_CHECKERS
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            return False
        if modules is None or isinstance(node, ast.Import):
            return modules is None
        return node.level > 0 or node.module in ("__future__", *modules)

    tree.body = [node for node in tree.body if not goes(node)]
    return tree


def _with_built(tree: ast.Module, built: dict[str, bytes]) -> ast.Module:
    """The hook's module with the embedded parts as the value of `BUILT`."""
    for node in tree.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.target.id == "BUILT"
        ):
            node.value = ast.parse(repr(built), mode="eval").body
            return ast.fix_missing_locations(tree)
    raise AssertionError("no part of the hook has BUILT")


def packet_patterns() -> list[tuple[str, int]]:
    """The patterns that packets are made with, as arguments of `re.compile`."""
    names = [f"{packet.__name__}.{one.name}" for one in iter_modules(packet.__path__)]
    return sorted({pattern for name in names for pattern in lazy_patterns(import_module(name))})


def _ready_patterns(patterns: Iterable[tuple[str, int]]) -> bytes:
    """The arguments of `_sre.compile` for each pattern, as `re` computes them; none if `re` has changed.

    Each is marshalled by itself: an event needs few of them. Those without flags go by their source alone.
    """
    try:
        ready = {
            source if not flags else (source, flags): marshal.dumps(_ready(source, flags))
            for source, flags in patterns
        }
    except (ImportError, AttributeError, TypeError):
        ready = {}  # the hook then imports `re` when it needs a pattern
    return marshal.dumps(ready)


def _ready(source: str, flags: int) -> tuple[Any, ...]:
    """What re._compiler.compile computes for its last line; private, so imported where that may fail."""
    compiler: Any = import_module("re._compiler")
    parsed: Any = import_module("re._parser").parse(source, flags)
    groups: dict[str, int] = parsed.state.groupdict
    names: list[str | None] = [None] * parsed.state.groups
    for name, number in groups.items():
        names[number] = name
    code = [int(word) for word in compiler._code(parsed, flags)]  # named constants cannot be marshalled
    return int(flags | parsed.state.flags), code, parsed.state.groups - 1, groups, tuple(names)


def _package() -> dict[str, Any]:
    """Where the package and the libraries that it needs are, for an interpreter without `site`."""
    packages = [find_spec(name) for name in ("ringbolt", "apsw", "msgspec")]
    places = [os.path.dirname(os.path.dirname(spec.origin)) for spec in packages if spec and spec.origin]
    installed = sysconfig.get_paths()
    paths = dict.fromkeys([*places, installed["purelib"], installed["platlib"]])
    return {"paths": list(paths), "python": sys.executable}


def effect_hints() -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    """What the hook looks for in a call before it writes down that it is about to be made."""
    return HINT_PARTS, HINT_WORDS, TOOL_VERBS


def facts_of_host(host: str) -> dict[str, Any]:
    """What the hook needs to know about a host; empty if the host is unknown."""
    if (row := HOSTS.get(host)) is None:
        return {}
    places = {**FIELDS, **EVENT_FIELDS["SubagentStart"], **row.fields}
    return {
        "events": dict(row.events),
        "whole": tuple(dict.fromkeys(place for name in WHOLE for place in places[name])),
        "injects": row.injects,
        "inputs": dict(row.inputs),
        "tools": dict(row.tools),
        "project": row.project,
        "only_looks": row.only_looks,
        **{name: places[name] for name in _FIELDS_READ},
    }
