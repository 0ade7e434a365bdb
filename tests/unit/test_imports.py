"""Imports point one way, and the way of a hook stays light."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import ringbolt
from tests.support import run_python

SOURCE = Path(ringbolt.__file__).parent
# What stands higher may import what stands lower, never the other way round.
LEVELS = {
    0: ("_version", "types", "results", "errors"),
    1: ("rules", "vocabulary", "checks", "config", "scope", "files", "http_json", "redact", "spool", "views"),
    2: ("store", "recall", "distill", "waits"),
    3: ("memory",),
    4: ("aio", "crew", "demo", "rounds", "worker", "operations", "parameter_words", "upkeep", "webhooks"),
    5: ("hosts", "surfaces"),
    6: ("__main__",),
    7: ("",),  # the package itself: public names
}
LEVEL = {name: level for level, names in LEVELS.items() for name in names}
# Each of these costs a hook more than it may take.
HEAVY = """typing dataclasses inspect pathlib tempfile datetime hashlib asyncio secrets random
    logging""".split()


@cache
def modules() -> dict[str, Path]:
    """Every module of the package, by its name below the package."""
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, is_package: bool, source: str) -> list[tuple[int, str, bool]]:
    """(line, module below the package or with its full name, only for types) of every import."""
    found = []
    tree = ast.parse(source)
    typed = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for branch in node.body
        for inner in ast.walk(branch)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name, id(node) in typed) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.append((node.lineno, node.module or "", id(node) in typed))
        elif isinstance(node, ast.ImportFrom):
            above = ["ringbolt", *name.split(".")] if name else ["ringbolt"]
            above = above[: len(above) - node.level + is_package]
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                known = inner.removeprefix("ringbolt.") in modules()
                found.append((node.lineno, inner if known else base, id(node) in typed))
    return found


def level_of(module: str) -> int:
    return LEVEL[module.removeprefix("ringbolt").removeprefix(".").split(".")[0]]


def wrong_way(name: str, is_package: bool, source: str) -> list[str]:
    """The imports of a module that point upwards."""
    return [
        f"{name}:{line} imports {module}"
        for line, module, _ in imports(name, is_package, source)
        if module.split(".")[0] == "ringbolt" and level_of(module) > level_of(name)
    ]


@pytest.mark.parametrize("name", modules())
def test_every_import_points_down(name):
    path = modules()[name]
    assert wrong_way(name, path.name == "__init__.py", path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("name", "is_package", "source"),
    [
        ("rules", False, "from .memory import TaskMemory"),
        ("rules", False, "from . import store"),
        ("rules", False, "def f():\n    from .store.tx import Tx"),
        ("rules", False, "import ringbolt.store"),
        ("rules", False, "from ringbolt.store import Tx"),
        ("rules", False, "from ringbolt import TaskMemory"),
        ("types", False, "if TYPE_CHECKING:\n    from .config import Settings"),
        ("store.tx", False, "from ..memory.base import Draft"),
        ("store", True, "from ..memory import TaskMemory"),
        ("memory.base", False, "from .. import aio"),
    ],
)
def test_the_check_would_find_an_import_that_points_up(name, is_package, source):
    assert len(wrong_way(name, is_package, source)) == 1


@pytest.mark.parametrize(
    ("name", "is_package", "source"),
    [
        ("store.tx", False, "from ..errors import InvalidInput\nfrom .. import rules\nimport json"),
        ("store", True, "from .tx import Tx\nfrom ..types import Origin"),
        ("memory.base", False, "from ..store import Store\nfrom .reading import read_event"),
    ],
)
def test_the_check_lets_an_import_pass_that_points_down(name, is_package, source):
    assert wrong_way(name, is_package, source) == []


def test_no_module_imports_itself_by_a_detour():
    graph = {
        name: {
            module.removeprefix("ringbolt.")
            for _, module, only_types in imports(name, path.name == "__init__.py", path.read_text())
            if module.startswith("ringbolt.") and not only_types
        }
        for name, path in modules().items()
        if name  # the package itself names its modules lazily
    }
    # A package counts as what it re-exports: its modules may not need it.
    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("name", ["types", "errors", "rules", "vocabulary"])
def test_the_rules_do_no_input_or_output(name):
    path = modules()[name]
    outside = {
        module
        for _, module, only_types in imports(name, False, path.read_text())
        if not module.startswith("ringbolt") and not only_types
    }
    assert outside <= {"__future__"}


# --- what a hook loads ------------------------------------------------------------------------------

_SHOW = "\nimport sys\nprint('\\n'.join(sys.modules))"
_WORK = """
import sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], session="S", agent="hook")
memory.{write}
"""


def loaded(code: str, *args: str) -> set[str]:
    """The modules that a piece of code loads, beyond those that every Python here has."""
    bare = set(run_python(_SHOW).stdout.split())
    return set(run_python(code + _SHOW, *args).stdout.split()) - bare


def test_the_package_alone_loads_next_to_nothing():
    found = {name for name in loaded("import ringbolt") if not name.startswith("__")}
    assert found == {"ringbolt"}


@pytest.mark.parametrize(
    "write",
    [
        'task_register("a", ["b", {"title": "c", "depends_on": ["b"]}], request="r", tags=["t"], key="k")',
        'task_update(None, "a message", step=1, step_status="completed", key="k")',
        'task_log_action(None, "ls", type="cli", input={"command": "ls"}, files=["a.py"])',
        'task_remember(None, "an error", type="error", tags=["t"])',
        'task_claim(None, item=1)',
        'task_finish(None, "the answer")',
        "task_get()",
        "task_list()",
    ],
    ids=lambda write: write.partition("(")[0],
)  # fmt: skip
def test_opening_a_store_and_one_call_load_nothing_heavy(tmp_path, write):
    path = str(tmp_path / "store.db")
    run_python(_WORK.format(write='task_register("first", ["b"])'), path)
    found = loaded(_WORK.format(write=write), path)
    assert "ringbolt.store.sqlite" in found
    assert sorted(found & set(HEAVY)) == []


def test_making_a_store_loads_nothing_heavy(tmp_path):
    found = loaded(_WORK.format(write='task_register("first", ["b"])'), str(tmp_path / "store.db"))
    assert sorted(found & set(HEAVY)) == []


@pytest.mark.parametrize("embedder", ["static", "endpoint"])
def test_whoever_writes_loads_nothing_for_vectors(tmp_path, monkeypatch, embedder):
    monkeypatch.setenv("RINGBOLT_EMBEDDER", embedder)
    found = loaded(_WORK.format(write='task_register("first", ["b"])'), str(tmp_path / "store.db"))
    assert sorted(found & {*HEAVY, "numpy", "wordllama", "http", "urllib"}) == []


@pytest.mark.parametrize(
    "write",
    ['task_update(None, "a message", step=1)', 'task_log_action(None, "ls", type="cli")', "task_resume()"],
    ids=lambda write: write.partition("(")[0],
)
def test_no_hook_loads_what_asks_a_model(tmp_path, monkeypatch, write):
    monkeypatch.setenv("RINGBOLT_MODEL_LOCAL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RINGBOLT_MODEL_LOCAL_NAME", "small")
    path = str(tmp_path / "store.db")
    run_python(_WORK.format(write='task_register("first", ["b"])'), path)
    found = loaded(_WORK.format(write=write), path)
    assert sorted(found & {"ringbolt.distill.model", "ringbolt.distill.prompts", "http.client"}) == []


_HOOK = """
import os, sys
shown = "\\n".join
os._exit = lambda code: (print(shown(sys.modules)), sys.stdout.flush(), os.kill(os.getpid(), 9))
from ringbolt.hosts.hook import main
main(["claude-code", sys.argv[1]])
"""


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "PreToolUse", "Stop"])
def test_a_hook_loads_nothing_heavy(tmp_path, event):
    store = tmp_path / "store.db"
    told = {
        "session_id": "S",
        "cwd": str(tmp_path),
        "prompt": "Do the thing.",
        "last_assistant_message": "Done.",
    }
    told |= {"tool_name": "Bash", "tool_input": {"command": "ls -la"}, "tool_response": {"stdout": "a"}}
    bare = set(run_python(_SHOW).stdout.split())
    for name in ("UserPromptSubmit", event):
        done = subprocess.run(
            [sys.executable, "-c", _HOOK, name],
            input=json.dumps(told), capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "RINGBOLT_STORE": str(store), "RINGBOLT_HOOK_DEADLINE_MS": "20000"},
        )  # fmt: skip
    found = set(done.stdout.split()) - bare
    assert "ringbolt.store.sqlite" in found
    dear = {*HEAVY, "click", "rich", "signal", "threading", "weakref"}
    assert sorted(found & {*dear, "ringbolt.hosts.proofs", "ringbolt.hosts.happenings"}) == []
    assert [name for name in found if name.startswith(("ringbolt.distill", "ringbolt.surfaces"))] == []


def test_the_check_would_find_a_heavy_module():
    assert "logging" in loaded("import logging")


_AT_ONCE = """
import sys, threading
sys.setswitchinterval(1e-6)
from ringbolt import TaskMemory
names = "jobs_status verify task_event task_undo mirrors_status smart_wait task_ask import_events".split()
ready = threading.Barrier(8)
missing = []

def ask(name):
    ready.wait()
    if not callable(getattr(TaskMemory, name, None)):
        missing.append(name)

threads = [threading.Thread(target=ask, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not missing, missing
assert not hasattr(TaskMemory, "no_such_operation")
"""


def test_threads_that_are_the_first_to_ask_for_late_operations_all_find_them():
    run_python(_AT_ONCE)
