"""`ringbolt active-tasks` as a person and as a program uses it: output and exit codes."""

from __future__ import annotations

import json

import pytest

from tests.support import open_memory
from tests.surfaces import command_line


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.fixture
def settings(store_url):
    return {"RINGBOLT_STORE": store_url, "RINGBOLT_SYNCHRONOUS": "off"}


@pytest.fixture
def run(folder, settings, monkeypatch):
    monkeypatch.chdir(folder)

    def call(*words, **environ):
        return command_line.run("active-tasks", *words, **{**settings, **environ})

    return call


def data(done) -> object:
    assert done.exit_code == 0, done.output
    return answer(done)["data"]


def answer(done) -> dict:
    (line,) = done.stdout.splitlines()  # nothing but the answer
    found = json.loads(line)
    assert found["schema_version"] == 1
    return found


def test_a_process_answers_in_json_and_ends_with_the_code_of_its_error(folder, settings):
    options = {"cwd": folder, "env": command_line.environ(**settings)}
    added = command_line.process("active-tasks", "add", "a", "One", "--json", **options)
    assert (added.returncode, added.stderr) == (0, "")
    assert answer(added)["data"]["label"] == "a"
    missing = command_line.process("active-tasks", "complete", "nope", **options)
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "[task_not_found]" in missing.stderr
    assert "Traceback" not in missing.stderr
    plain = command_line.process("active-tasks", "complete", "nope", "--json", **options)
    assert (plain.returncode, plain.stderr) == (3, "")
    assert answer(plain)["error"]["code"] == "task_not_found"


def test_a_task_is_added_listed_rendered_and_completed(run, folder):
    done = run(
        "add", "api: v2", "Deploy the API", "--branch", "feat/x", "--next", "Run it", "--subagent", "w-7"
    )
    assert done.exit_code == 0, done.stderr
    assert done.stdout == (
        "  [api: v2] Deploy the API (In progress), last update less than an hour ago\n"
        "      Next: Run it\n      Branch: feat/x\n      Subagent: w-7\n"
    )
    listed = run("list")
    assert listed.stdout.startswith("Active (1)\n  [api: v2] Deploy the API (In progress)")
    assert run().stdout == listed.stdout
    assert data(run("--json"))["activeCount"] == data(run("list", "--json"))["activeCount"] == 1
    rendered = run("render")
    assert rendered.stdout == f"{folder}/ACTIVE-TASKS.md: 1 tasks\n"
    assert "### [api: v2]: Deploy the API\n" in (folder / "ACTIVE-TASKS.md").read_text()
    assert run("render").stdout == "Nothing was written: the file is up to date.\n"
    assert "(Done)" in run("complete", "api: v2").stdout
    assert run("list").stdout == "No active tasks.\n"
    assert "the file is out of date: behind the store" in run("list").stderr
    assert "Completed (1)" in run("list", "--completed").stdout


def test_programs_get_json_and_nothing_else(run):
    row = data(run("add", "a", "One", "--status", "blocked", "--json", RINGBOLT_AGENT="x"))
    assert (row["label"], row["status"]) == ("a", "Waiting")
    found = data(run("list", "--json"))
    assert (found["activeCount"], found["ledger"], found["active"][0]["label"]) == (1, "facts", "a")
    assert data(run("render", "--json"))["applied"] is True
    assert data(run("stale", "--json")) == []
    assert data(run("complete", "a", "--json"))["completed"] is True


def test_stale_tasks_are_listed_with_their_age(run, store_url, folder):
    with open_memory(store_url, workspace=str(folder)) as memory:
        memory.active_tasks_add("old", "An old one")
    assert "[old] An old one (In progress), last update " in run("stale").stdout
    assert run("list").stdout.startswith("Stale — revisit (1)")
    told = run("stale", RINGBOLT_STALE_THRESHOLD="3000d")
    assert told.stdout == "No stale tasks (threshold 3000d).\n"


def test_with_the_markdown_ledger_the_file_is_all_there_is(run, folder):
    markdown = {"RINGBOLT_ACTIVE_TASKS_LEDGER": "markdown"}
    (folder / "ACTIVE-TASKS.md").write_text("# Mine\n\n## Active\n\n### [x]: By hand\n\ntext\n")
    assert "[x] By hand (In progress), last update unknown" in run("list", **markdown).stdout
    assert run("add", "y", "Why", **markdown).exit_code == 0
    assert run("complete", "x", **markdown).exit_code == 0
    assert "Nothing was written: the ledger is markdown" in run("render", **markdown).stdout
    text = (folder / "ACTIVE-TASKS.md").read_text()
    assert "### [y]: Why" in text.partition("## Completed")[0]
    assert "### [x]: By hand\n" in text.partition("## Completed")[2]
    assert "\ntext\n" in text


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        (("complete", "nope"), 3, "task_not_found"),
        (("add", "a", "b", "--status", "finito"), 5, "unknown_word"),
        (("add", "a", " "), 5, "invalid_argument"),
        (("render",), 4, "stale_version"),
    ],
)
def test_errors_have_a_code_for_programs_and_an_exit_code_of_their_kind(run, folder, words, code, name):
    run("add", "first", "The first")
    (folder / "ACTIVE-TASKS.md").write_text("Someone's own notes.\n")
    told = run(*words)
    assert (told.exit_code, told.stdout) == (code, "")
    assert f"[{name}]" in told.stderr
    assert "Traceback" not in told.stderr
    plain = run(*words, "--json")
    assert (plain.exit_code, plain.stderr) == (code, "")
    error = json.loads(plain.stdout)["error"]
    assert (error["code"], bool(error["hint"])) == (name, True)
    assert (folder / "ACTIVE-TASKS.md").read_text() == "Someone's own notes.\n"


def test_wrong_usage_is_told_as_such(run):
    assert run("add", "a").exit_code == 2
    assert run("lits").exit_code == 2


def test_listing_makes_no_store(run, tmp_path):
    missing = tmp_path / "missing.db"
    told = run("list", RINGBOLT_STORE=str(missing))
    assert told.exit_code == 1
    assert "[store_not_found]" in told.stderr
    assert not missing.exists()


def test_the_store_and_the_workspace_can_be_named(run, tmp_path, store_url):
    other = tmp_path / "other"
    other.mkdir()
    assert (
        run("--workspace", str(other), "--store", store_url, "add", "a", "One", RINGBOLT_STORE="").exit_code
        == 0
    )
    assert "[a]" in run("--workspace", str(other), "list").stdout
    assert run("list").stdout == "No active tasks.\n"


def test_what_would_steer_a_terminal_is_shown_and_not_sent(run):
    run("add", "a\x1b[2J", "One\x1b]52;c;x\x07 \u202e two\nthree", "--next", "\x1b[31mred")
    for words in (("list",), ("complete", "a\x1b[2J")):
        told = run(*words)
        assert told.exit_code == 0, told.stderr
        assert "\x1b" not in told.stdout
        assert "\u202e" not in told.stdout
        assert "\\x1b[2J" in told.stdout
