"""Rooms import one way, as the table in CONTRIBUTING.md allows, and late imports are the listed ones."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import ringbolt

SOURCE = Path(ringbolt.__file__).parent
PROJECT = Path(__file__).parents[1]


def table(page: str, name: str) -> list[list[str]]:
    """The rows of the table between two comments of a page."""
    text = (PROJECT / page).read_text(encoding="utf-8")
    lines = text.split(f"<!-- {name} -->")[1].split(f"<!-- end of {name} -->")[0].strip().splitlines()
    return [line.strip("|").split("|") for line in lines[2:]]


def allowed_edges() -> dict[str, set[str]]:
    """The rooms of the table, each with the rooms that it may import."""
    return {row[0].strip(" `"): set(row[2].split()) for row in table("CONTRIBUTING.md", "rooms")}


def modules() -> dict[str, Path]:
    """Every module by its dotted name below the package."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room_of(module: str) -> str:
    return module.split(".")[0] or "__init__"


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def targets(node: ast.AST, name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """What a statement of a module imports: dotted names below the package, or names of other packages."""
    if isinstance(node, ast.ImportFrom) and node.level:
        above = name.split(".") if name else []
        above = above if path.name == "__init__.py" else above[:-1]
        base = above[: len(above) - node.level + 1] + (node.module.split(".") if node.module else [])
        inner = [".".join([*base, alias.name]) for alias in node.names]
        return {one if one in known else ".".join(base) for one in inner}
    if isinstance(node, ast.ImportFrom):
        return {node.module or ""}
    return {alias.name for alias in node.names} if isinstance(node, ast.Import) else set()


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a module imports anywhere, also for types or inside functions."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        of_package = isinstance(node, ast.ImportFrom) and node.level
        found |= {
            one.removeprefix("ringbolt").removeprefix(".")
            for one in targets(node, name, path, known)
            if of_package or one.split(".")[0] == "ringbolt"
        }
    return found


def late_imports(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """What the functions of a module import."""
    return {
        one
        for function in ast.walk(parsed(path))
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
        for node in ast.walk(function)
        for one in targets(node, name, path, known)
    }


@cache
def edges() -> dict[str, dict[str, str]]:
    """For each room the other rooms it imports, with one import as an example."""
    known, found = modules(), {}
    for name, path in known.items():
        for target in imported(name, path, known):
            if room_of(target) != room_of(name):
                found.setdefault(room_of(name), {})[room_of(target)] = (
                    f"{name or '__init__'} imports {target}"
                )
    return found


def test_rooms_import_only_what_the_table_allows():
    allowed = allowed_edges()
    wrong = [
        example
        for room, targets in edges().items()
        for target, example in targets.items()
        if target not in allowed.get(room, set())
    ]
    assert wrong == []


def test_the_table_lists_every_room_no_unused_edge_and_no_cycle():
    allowed, used = allowed_edges(), edges()
    assert {room_of(name) for name in modules()} - {"_version"} == set(allowed)
    assert {room: targets - set(used.get(room, {})) for room, targets in allowed.items()} == {
        room: set() for room in allowed
    }
    list(TopologicalSorter(allowed).static_order())  # raises CycleError


def test_an_import_that_points_up_is_found(tmp_path):
    known = modules()
    cases = (
        ("from ..memory import TaskMemory", "memory"),
        ("from .. import aio", "aio"),
        ("def f():\n    from ..hosts.drain import drain", "hosts.drain"),
        ("import ringbolt.surfaces.cli", "surfaces.cli"),
        ("from ringbolt.worker.pool import Pool", "worker.pool"),
    )
    for number, (source, target) in enumerate(cases):
        path = tmp_path / f"tx{number}.py"
        path.write_text(source, encoding="utf-8")
        assert imported("store.tx", path, known) == {target}, source


def test_late_imports_are_those_that_adr_0016_lists():
    known = modules()
    used = {
        (name or "__init__", one) for name, path in known.items() for one in late_imports(name, path, known)
    }
    covered = set()
    for where, what, _ in table("docs/adr/0016-rooms-and-plain-imports.md", "late imports"):
        places, names = (
            {one.strip("`"): f"{one.strip('`')}.".replace("everything.", "") for one in cell.split()}
            for cell in (where, what)
        )
        fits = {
            (late, place, name)
            for late in used
            for place, start in places.items()
            for name, begin in names.items()
            if f"{late[0]}.".startswith(start) and f"{late[1]}.".startswith(begin)
        }
        assert {place for _, place, _ in fits} == set(places), where  # each name stands for an import
        assert {name for _, _, name in fits} == set(names), what
        covered |= {late for late, _, _ in fits}
    assert used == covered
