"""The documentation matches the code: generated parts, links, code blocks, walks and requirements."""

from __future__ import annotations

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import apsw
import pytest

from ringbolt import AsyncTaskMemory, TaskMemory, config
from ringbolt.model import errors
from tests.doc_blocks import blocks, run_page
from tools import docs

ROOT = docs.ROOT
PAGES = docs.pages()
RUN_PAGES = [
    page
    for page in PAGES
    if (page == ROOT / "README.md" or page.parent.name in ("quickstart", "how-to"))
    and "```python\n" in page.read_text(encoding="utf-8")
]
REQUIREMENTS = [
    *(f"S0.{number}" for number in range(1, 16)),
    *(f"S1.{number}" for number in range(1, 10)),
    *(f"S2.{number}" for number in range(1, 14)),
    *(f"S3.{number}" for number in range(1, 10)),
    *(f"S4.{number}" for number in range(1, 12)),
    *(f"B{number}" for number in range(1, 31)),
]


def named(page: Path) -> str:
    return str(page.relative_to(ROOT))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def prose(text: str) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, formed as GitHub forms them."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        base = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        number = 0
        while (anchor := f"{base}-{number}" if number else base) in found:
            number += 1
        found.add(anchor)
    return found


# --- generated parts --------------------------------------------------------------------------------


def test_generated_parts_are_up_to_date():
    found = docs.differences()
    assert not found, f"run `python tools/docs.py`:\n{found}"


def test_check_mode_shows_what_is_out_of_date(monkeypatch, capsys):
    parts = {name: (lambda: "") for name in docs.PARTS}  # making them all is another test's work
    monkeypatch.setattr(docs, "PARTS", {**parts, "phases": lambda: "something else"})
    before = read("docs/explanation/states.md")
    assert docs.main(["--check"]) == 1
    assert "+something else" in capsys.readouterr().out
    assert read("docs/explanation/states.md") == before


def test_every_operation_is_in_the_reference():
    page = read("docs/reference/operations.md")
    names = [name for name, _ in inspect.getmembers(TaskMemory, callable) if not name.startswith("_")]
    assert "task_register" in names
    for name in names:
        assert f"### `{name}`\n" in page, name


def test_every_operation_can_be_awaited():
    for _, name, _ in docs.public_operations():
        assert hasattr(AsyncTaskMemory, name), name


def test_every_setting_is_in_the_reference():
    page = read("docs/reference/settings.md")
    for name in config.SETTINGS:
        assert f"| `{name}` |" in page
        assert f"`RINGBOLT_{name.upper()}`" in page


def test_every_error_code_is_in_the_reference():
    page = read("docs/reference/errors.md")
    for code in errors.CODES:
        assert f"| `{code}` |" in page


def test_every_error_is_raised_as_the_class_that_is_documented():
    documented = docs.error_classes()
    assert documented.keys() == errors.CODES.keys()
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if not any(f"{kind}(" in source for kind in documented.values()):
            continue  # parsing is slow
        for node in ast.walk(ast.parse(source)):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            code = node.args[0].value if isinstance(node.args[0], ast.Constant) else None
            if node.func.id in documented.values() and code in documented:
                assert node.func.id == documented[code], f"{path.name}:{node.lineno}"


def test_every_parameter_field_table_and_column_has_a_meaning():
    missing = [
        f"parameter {name}.{part.name}"
        for _, name, function in docs.public_operations()
        for part in docs.parameters(function)
        if not docs.parameter_meaning(function, part.name)
    ]
    missing += [
        f"field {name}.{field}"
        for name, record in docs.record_types().items()
        for field in docs.own_fields(record)
        if not docs.field_meaning(name, field)
    ]
    for kind in ("table", "view"):
        for name, (sql, columns) in docs.schema(kind).items():
            missing += [] if name in docs.TABLES else [f"{kind} {name}"]
            missing += [
                f"column {name}.{column}"
                for column, _, _ in columns
                if not docs.column_meaning(name, sql if kind == "table" else "", column)
            ]
    assert not missing, "say in tools/docs.py what they mean"


def test_every_event_type_is_in_the_reference():
    page = read("docs/reference/events.md")
    written: set[str] = set()
    for path in (ROOT / "src/ringbolt").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "Draft(" in source else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Draft":
                first = node.args[0]
                branches = [first]
                while isinstance(first, ast.IfExp):
                    branches += [first.body, first.orelse]
                    first = first.orelse
                written.update(part.value for part in branches if isinstance(part, ast.Constant))
    assert {"task.registered", "message", "step.updated", "undone"} <= written
    written.update(docs.rules.ENTRY_TYPES)
    assert not {kind for kind in written if f"`{kind}`" not in page}


def test_every_kind_of_problem_is_explained():
    page = read("docs/how-to/verify.md")
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        found.update(re.findall(r"""Problem\(\s*kind="(\w+)"|(?:self|fold)\.report\(\s*"(\w+)\"""", source))
    kinds = {kind for pair in found for kind in pair if kind}
    assert {"file", "lost_tail", "hash", "state", "stray", "past"} <= kinds
    assert not {kind for kind in kinds if f"| `{kind}` |" not in page}


def test_example_queries_run(tmp_path):
    path = tmp_path / "tasks.db"
    with TaskMemory.open(path) as memory:
        task = memory.task_register("Deploy", ["Build"]).task_id
        memory.task_intent(task, what="Send it", verify="look")
    queries = [block.text for block in blocks(read("docs/reference/sql.md")) if block.language == "sql"]
    assert queries
    database = apsw.Connection(str(path))
    rows = [database.execute(query.replace("7k3m9xq2wd", task)).fetchall() for query in queries]
    database.close()
    assert rows[0][0][:2] == (task, "Deploy")
    assert ("Send it", "look") in [row[1:] for found in rows for row in found if len(row) == 3]


# --- pages ------------------------------------------------------------------------------------------


def test_relative_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", prose(page.read_text(encoding="utf-8"))):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            place = f"{named(page)}: {target}"
            assert file.exists(), place
            assert file.is_relative_to(ROOT), place
            if anchor:
                assert anchor in anchors(file.read_text(encoding="utf-8")), place


def test_every_page_can_be_reached_from_its_index():
    for page in PAGES:
        if page.name in ("README.md", "index.md") or page.parent == ROOT / "docs":
            continue
        index = next(
            page.parent / name for name in ("index.md", "README.md") if (page.parent / name).exists()
        )
        assert f"({page.name})" in index.read_text(encoding="utf-8"), named(page)


def test_pages_name_no_folder_of_a_machine():
    for page in PAGES:
        found = re.search(r"(?<![\w.~…])/(work|home|root|Users)/", page.read_text(encoding="utf-8"))
        assert not found, named(page)


@pytest.mark.skipif(
    not (ROOT / "src/ringbolt/hosts/drain.py").exists(),
    reason="the walks describe the journal",
)
def test_the_walks_in_contributing_name_functions_that_exist():
    for file, function in re.findall(r"`([\w/]+\.py)`(?: `(\w+)`)?", read("CONTRIBUTING.md")):
        path = ROOT / "src/ringbolt" / file
        path = path if path.exists() else ROOT / file
        assert path.is_file(), file
        if function:
            names = {
                getattr(node, "name", "") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            }
            assert function in names, f"{file} {function}"


@pytest.mark.parametrize("page", RUN_PAGES, ids=named)
def test_python_blocks_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("RINGBOLT_HOOK_DEADLINE_MS", "RINGBOLT_HOOK_COMPACT_MS"):
        monkeypatch.setenv(name, "20000")  # the hooks on a page may take as long as a busy machine needs
    run_page(page)


# --- requirements -----------------------------------------------------------------------------------


def requirement_rows() -> list[tuple[str, str, str]]:
    rows = re.findall(r"^\| ([SB][\d.]+) \| (.+?) \| (.+?) \|$", read("docs/requirements.md"), re.MULTILINE)
    return [(name, what, shown) for name, what, shown in rows]


def test_every_requirement_has_exactly_one_row():
    assert [name for name, _, _ in requirement_rows()] == REQUIREMENTS


@cache
def names_in(path: Path) -> set[str]:
    """Functions, classes and their methods of a test file, as pytest names them."""
    found: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found.add(node.name)
            found.update(
                f"{node.name}::{part.name}" for part in node.body if isinstance(part, ast.FunctionDef)
            )
        elif isinstance(node, ast.Assign):
            found.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return found


def test_requirements_name_tests_that_exist():
    for name, _, shown in requirement_rows():
        tests = re.findall(r"`(tests/[^`]+)`", shown)
        assert shown == "not yet" or tests, name
        for test in tests:
            file, _, function = test.partition("::")
            assert (ROOT / file).is_file(), f"{name}: {test}"
            if function:
                assert function in names_in(ROOT / file), f"{name}: {test}"
