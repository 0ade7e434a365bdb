"""Rooms import one way, as the table in CONTRIBUTING.md allows, and late imports are the listed ones."""

from __future__ import annotations

import ast
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import ringbolt

SOURCE = Path(ringbolt.__file__).parent
TABLE = Path(__file__).parents[1] / "CONTRIBUTING.md"


def allowed_edges() -> dict[str, set[str]]:
    """The rooms of the table, each with the rooms that it may import."""
    lines = TABLE.read_text(encoding="utf-8").split("<!-- rooms -->")[1].split("<!-- end of rooms -->")[0]
    rows = [line.strip("|").split("|") for line in lines.strip().splitlines()[2:]]
    return {row[0].strip(" `"): set(row[2].split()) for row in rows}


def modules() -> dict[str, Path]:
    """Every module by its dotted name below the package."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def room_of(module: str) -> str:
    return module.split(".")[0] or "__init__"


def imported(name: str, path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of the package that a module imports anywhere, also for types or inside functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = name.split(".") if name else []
            above = above if path.name == "__init__.py" else above[:-1]
            base = above[: len(above) - node.level + 1] + (node.module.split(".") if node.module else [])
            for alias in node.names:
                inner = ".".join([*base, alias.name])
                found.add(inner if inner in known else ".".join(base))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            found |= {
                one.removeprefix("ringbolt").removeprefix(".")
                for one in names
                if one.split(".")[0] == "ringbolt"
            }
    return found


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
    path = tmp_path / "tx.py"
    known = modules()
    for source, target in (
        ("from ..memory import TaskMemory", "memory"),
        ("from .. import aio", "aio"),
        ("def f():\n    from ..hosts.drain import drain", "hosts.drain"),
        ("import ringbolt.surfaces.cli", "surfaces.cli"),
        ("from ringbolt.worker.pool import Pool", "worker.pool"),
    ):
        path.write_text(source, encoding="utf-8")
        assert imported("store.tx", path, known) == {target}, source
