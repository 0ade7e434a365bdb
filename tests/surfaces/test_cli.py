"""The command line: a story through every command, the same as the operations; help, errors, exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

import ringbolt
from ringbolt import TaskMemory
from ringbolt.model.settings import SETTINGS
from ringbolt.operations import OPERATIONS, call
from ringbolt.surfaces.cli import hints
from ringbolt.surfaces.cli.command_table import SECTIONS
from ringbolt.surfaces.cli.commands import config
from ringbolt.surfaces.cli.main import main
from tests.surfaces.command_line import data, run


def commands(group=main, path=()):
    """Every command with the words that lead to it."""
    context = click.Context(group, info_name="ringbolt")
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


# --- the story --------------------------------------------------------------------------------------


def test_a_story_through_every_command(place, tmp_path):
    told: set[str] = set()

    def tell(*words: str, **more) -> str:
        told.add(words[0])
        done = run(*words, **more)
        assert done.exit_code == 0, (words, done.output)
        return done.stdout

    first = tell(
        "register", "Deploy", "--step", "Build", "--step", "Push", "--request", "-", stdin="Do it.\n"
    )
    task = re.search(r"\((\w+)\)", first)[1]
    assert first == f"#1 task started: Do it.\nDeploy ({task}): 0 of 2 steps done; next: Build\n"
    assert tell("update", "Built", "--step", "1", "--step-status", "done") == (
        f"#2 update: Built; Build: done\nDeploy ({task}): 1 of 2 steps done; next: Push\n"
    )
    assert tell("update", "-", "--query", "What is next?", stdin="hm").endswith('Next: step 2 — "Push" #1.\n')
    tell("note", "Two ports are free", "--why", "netstat says so")
    tell("decide", "ghcr.io", "--because", "the key works", "--option", "docker.io", "--option", "ghcr.io")
    tell("exclude", "docker.io", "--because", "no rights", "--symptom", "denied")
    tell("set", "version", "1.10")
    tell("set", "ports", "[8080]", "--value-is-json")
    tell(
        "log",
        "make image",
        "--type",
        "cli",
        "--command",
        "make image",
        "--exit-code",
        "0",
        "--file",
        "Dockerfile",
    )
    tell("plan", "add", "Check", "--after", "Push")
    tell("plan", "start", "Push")
    tell("plan", "change", "Push", "--note", "to ghcr.io", "--issue", "slow")
    assert "[>] s2  Push  (to ghcr.io; issue: slow)" in tell("plan")
    assert "Plan v1" in tell("plan", "history")
    assert "active     s2  Push" in tell("plan", "progress")
    assert " resolved: time:0.01s passes: the time has come\n" in tell("wait", "time:0.01s")
    assert run("wait", "file:nowhere", "--timeout", "0").exit_code == 1
    assert tell("waits") == "No waits.\n"
    wait = tell("wait", "manual:", "--no-block").split()[0]
    assert f"{wait}  watching  manual: decided" in tell("waits")
    assert " watching: " in tell("waits", "change", wait, "--timeout", "900")
    assert " resolved: manual: decided: go ahead\n" in tell("waits", "decide", wait, "go ahead", "--as-user")
    other = tell("wait", "manual:", "--no-block").split()[0]
    assert " cancelled: " in tell("waits", "cancel", other, "--because", "not needed")
    assert " cancelled: " in tell("waits", "show", other)
    assert tell("goal") == "No open goals.\n"  # the rest: test_goals_cli.py
    assert re.fullmatch(r"#1 .* current +Do it\.\n", tell("task"))  # the rest: test_split_merge_cli.py
    own = tell("note", "Ask first", "--kind", "instruction", "--as-user", "--json")
    kept = json.loads(own)["data"]["seq"]
    for _ in range(2):
        asked = json.loads(tell("undo", str(kept), "--json"))["data"]["seq"]
        assert f"#{asked} " in tell("proposals")
        tell("decline", str(asked), "--as-user")
    asked = json.loads(tell("undo", str(kept), "--json"))["data"]["seq"]
    tell("accept", str(asked), "--as-user")
    assert "Nothing is proposed." in tell("proposals")
    assert "Would be removed: 0 events" in tell("purge", "--older-than", "90d", "--as-user")
    assert "Would be removed: 1 events" in tell("forget", "--source", f"event:{task}#4", "--as-user")
    assert tell("undo", "--because", "it is fast now").count(" undid #12, step: to ghcr.io\n") == 1
    shown = tell("show")
    for part in (
        "  | Do it.",
        "ghcr.io, because the key works",
        "docker.io, because no rights",
        "ports = [8080]",
    ):
        assert part in shown
    assert "version" not in tell("show", task[:4], "--at", "6")
    assert tell("ask", "why", "ghcr.io?") == '"ghcr.io" because "the key works" #5\n'
    assert tell("resume", "--budget", "600").startswith("<ringbolt-")
    assert 'name: "Deploy"' in tell("state")
    assert tell("state", "--line").startswith("[STATE] Task: Deploy")
    assert "step" in tell("summary")
    found = tell("recall", "ghcr.io")
    assert found.startswith("#5 decision: ghcr.io\n")
    assert f"    Deploy ({task}), just now; has ghcr, ghcr.io, io" in found
    assert re.search(rf"^{task}  Deploy  active  1/3", tell("list"), re.MULTILINE)
    assert " task started: Do it.\n" in tell("thread")
    assert tell("thread", "--around", "5", "--limit", "1").count("\n") == 3
    assert '"choice": "ghcr.io"' in tell("event", "5")
    assert "token 1 until " in tell("claim", "--step", "2")
    tell("release", "--step", "2", "--token", "1")
    tell("approve", "--mode", "manual", "--as-user")
    tell("plan", "add", "Sign")
    tell("plan", "start", "Sign")
    tell("reject", "Sign", "--because", "not today", "--as-user")
    tell("approve", "Sign", "--as-user")
    tell("approve", "--mode", "auto", "--as-user")
    tell("pause", "--because", "lunch")
    tell("reopen", task)
    tell("focus", task)
    assert tell("distill").startswith(f"{task}: up to #")
    assert tell("jobs").endswith(" given up.\n")
    assert " done, 0 failed" in tell("worker", "--once")
    assert "nothing is lost or changed" in tell("verify")
    assert tell("reindex") == "The search index is rebuilt.\n"
    assert "\nproblem " not in tell("doctor")
    assert tell("config", "get", "synchronous") == "off\n"
    assert tell("config", "path").endswith("config/ringbolt/config.toml\n")
    assert "RINGBOLT_SYNCHRONOUS" in tell("config", "--changed")
    assert "[Deploy]" in tell("active-tasks") or task in tell("active-tasks")
    assert "Context cut after #" in tell("drill", task)
    (tmp_path / "sessions").mkdir()
    assert tell("capture", str(tmp_path / "sessions")).startswith("0 files, 0 sessions, 0 tasks")
    events = str(tmp_path / "events.jsonl")
    assert " events\n" in tell("export", events)
    assert "0 events added to 0 tasks" in tell("import", events)
    assert "files written" in tell("export", str(tmp_path / "bank"), "--format", "bank")
    assert "0 events added" in tell("import", str(tmp_path / "bank"), "--format", "bank")
    capsule = tell("handoff")
    assert "#1 task started" in tell("receive", "-", stdin=capsule, RINGBOLT_SESSION="T")
    assert " bytes\n" in tell("handoff", str(tmp_path / "capsule.md"), "--task", task)
    backup = str(tmp_path / "tasks.backup")
    tell("backup", backup)
    assert "nothing was lost" in tell("repair", backup, "--to", str(tmp_path / "repaired.db"))
    assert "completed" in tell("finish", "It runs.", "--task", task)
    assert "is kept in" in tell("restore", backup, "--yes", "--as-user")
    assert "active" in tell("show", task)
    assert "tasks" in tell("store", "info")
    assert json.loads(tell("op", "task_line", "--task", task)).startswith("[STATE]")
    assert "task_receipt" in tell("op")
    assert "kill -9" in tell("demo")
    assert "_RINGBOLT_COMPLETE=bash_complete" in tell("completion", "bash")
    assert "Usage: ringbolt plan done" in tell("help", "plan", "done")
    assert "LAST USED" in tell("token", "list")
    (tmp_path / "remote").mkdir()
    tell("sync", str(tmp_path / "remote"))
    running = {
        "serve",
        "mcp",
        "watch",
        "hook",
        "install",
        "continue",
        "statusline",
    }  # which have tests of their own
    assert told | running == {words[0] for words, _ in commands()}


def test_what_a_program_gets_is_what_the_operation_answers(place):
    """The same story by commands and by operations, in two stores with the same clock and ids."""
    story = [
        (("register", "Deploy", "--step", "Build", "--step", "Push", "--tag", "shop"),
         "task_register", {"name": "Deploy", "plan": ["Build", "Push"], "tags": ["shop"]}),
        (("update", "Built", "--step", "1", "--step-status", "done", "--blocker", "slow", "--query", "next?"),
         "task_update", {"message": "Built", "step": 1, "step_status": "done", "blockers": ["slow"],
                         "query": "next?"}),
        (("update", "--no-blockers", "--next", "rest"), "task_update", {"blockers": [], "next": "rest"}),
        (("note", "Why?", "--kind", "question"), "task_note", {"text": "Why?", "kind": "question"}),
        (("decide", "ghcr.io", "--because", "key", "--risk", "slow"),
         "task_decide", {"choice": "ghcr.io", "reasoning": "key", "risks": ["slow"]}),
        (("exclude", "docker", "--because", "denied"), "task_exclude", {"what": "docker", "why": "denied"}),
        (("set", "empty", "[]", "--value-is-json"), "task_set", {"name": "empty", "value": []}),
        (("set", "version", "1.10"), "task_set", {"name": "version", "value": "1.10"}),
        (("log", "make", "--type", "cli", "--exit-code", "1"),
         "task_log_action", {"summary": "make", "type": "cli", "output": {"exit_code": 1}}),
        (("plan", "set", "Build", "Run", "--because", "simpler"),
         "task_plan", {"steps": ["Build", "Run"], "reason": "simpler"}),
        (("plan", "skip", "Run", "--note", "no need"),
         "task_step_update", {"step": "Run", "status": "skipped", "note": "no need"}),
        (("undo",), "task_undo", {}),
        (("claim", "--holder", "me"), "task_claim", {"holder": "me"}),
        (("plan",), "task_drill_down", {"limit": 1000}),
        (("plan", "history"), "task_plans", {}),
        (("show", "--at", "3"), "task_get", {"at": 3}),
        (("show",), "task_get", {}),
        (("ask", "what", "failed?"), "task_ask", {"question": "what failed?"}),
        (("resume", "--budget", "500"), "task_resume", {"budget": 500}),
        (("state",), "task_state", {}),
        (("summary", "--detail", "items"), "task_summary", {"detail": "items"}),
        (("recall", "docker", "--type", "error"), "task_recall", {"query": "docker", "types": "error"}),
        (("list", "--status", "all"), "task_list", {"status": "all"}),
        (("thread", "--limit", "3"), "task_thread", {"limit": 3}),
        (("event", "5"), "task_event", {"seq": 5}),
        (("op", "task_receipt", "command=make test", "exit_code=0", "item=1"),
         "task_receipt", {"command": "make test", "exit_code": 0, "item": 1}),
        (("op", "task_set", "name=a", "value:=[1]"), "task_set", {"name": "a", "value": [1]}),
        (("jobs",), "jobs_status", {}),
        (("verify",), "verify", {}),
        (("finish", "Done."), "task_finish", {"answer": "Done."}),
    ]  # fmt: skip
    own = os.environ["RINGBOLT_STORE"]
    with TaskMemory.open(f"{own}.other") as memory:
        seen: list[tuple[dict, dict]] = []
        for words, name, arguments in story:
            answers = data(*words), json.loads(json.dumps(call(memory, name, arguments)))
            if name == "task_register":
                seen.append(answers)
            assert _leveled(answers[0], seen[0][0]["task_id"]) == _leveled(
                answers[1], seen[0][1]["task_id"]
            ), words


def _leveled(answer: object, task_id: str) -> str:
    """An answer with the same task id, times, hashes and fences as the other one."""
    text = json.dumps(answer).replace(task_id, "TASK")
    text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]*Z", "TIME", text)
    text = re.sub(r'"duration_seconds": [\d.]+', '"duration_seconds": 0', text)
    return re.sub(r'ringbolt-[0-9a-f]{8}|"hash": "[0-9a-f]+"|"tokens": \d+', "X", text)


# --- help -------------------------------------------------------------------------------------------


def test_every_command_has_help_with_an_example():
    for words, command in commands():
        told = run(*words, "--help")
        assert told.exit_code == 0
        assert told.stdout.startswith(f"Usage: ringbolt {' '.join(words)} ")
        assert "\nExamples:\n" in told.stdout, words
        assert any(f"ringbolt {' '.join(words)}" in example for example in command.examples), words
        assert 0 < len(command.get_short_help_str()) < 80


def test_the_list_of_commands_says_what_each_command_says():
    listed = {
        name: told
        for modules in SECTIONS.values()
        for names in modules.values()
        for name, told in names.items()
    }
    assert listed == {words[0]: command.short_help for words, command in commands() if len(words) == 1}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("updaet", "x"), "update"),
        (("search",), "recall"),
        (("serch",), "recall"),
        (("plan", "dome"), "done"),
    ],
)
def test_an_unknown_command_suggests_the_near_one(words, meant):
    told = run(*words)
    assert (told.exit_code, told.stdout) == (2, "")
    assert f"Did you mean {meant!r}?" in told.stderr


def test_help_and_an_update_load_nothing_that_they_do_not_need(task):
    code = (
        "import sys; from ringbolt.surfaces.cli.main import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print(*sys.modules)"
    )
    for words in (["--help"], ["update", "x"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
        )
        loaded = done.stdout.splitlines()[-1].split()
        heavy = {"rich", "mcp", "starlette", "uvicorn", "asyncio", "http.client", "ssl", "tomllib"}
        rooms = {"ask", "recall", "llm", "files", "goals", "waits", "hosts", "memory"}
        assert not heavy & set(loaded)
        assert not {f"ringbolt.{room}" for room in rooms} & set(loaded)
        own = {name.rpartition(".")[2] for name in loaded if "surfaces.cli." in name}
        assert own - {"main", "command", "command_table", "commands", "console", "parameters"} == (
            set() if words == ["--help"] else {"update", "receipts", "wording"}
        )


# --- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        (("update", "x", "--task", "zzzz"), 3, "task_not_found"),
        (("update", "x", "--step", "9"), 3, "step_not_found"),
        (("event", "99"), 3, "record_not_found"),
        (("update", "x", "--expect", "77"), 4, "stale_version"),
        (("update", "--status", "finito"), 5, "unknown_word"),
        (("update",), 5, "invalid_argument"),
        (("update", "a\udcff"), 5, "invalid_text"),
        (("note", "x", "--kind", "rumour"), 5, "unknown_word"),
        (("set", "a", "{", "--value-is-json"), 5, "invalid_json"),
        (("show", "--at", "yesterday-ish"), 5, "invalid_time"),
        (("resume", "--budget", "1"), 5, "invalid_argument"),
        (("recall", "x", "--limit", "100000"), 5, "invalid_argument"),
        (("op", "task_recal"), 5, "invalid_argument"),
        (("op", "task_set", "nam=x"), 5, "invalid_argument"),
        (("op", "task_set", "--json-args", "[1]"), 5, "invalid_json"),
        (("import", "missing.jsonl"), 1, "store_unavailable"),
        (("receive", "missing.md"), 1, "store_unavailable"),
        (("export", "missing/events.jsonl"), 1, "store_unavailable"),
        (("jobs", "retry", "9"), 3, "job_not_found"),
        (("config", "get", "tokns"), 5, "invalid_argument"),
        (("list", "--store", "mongo://x"), 5, "invalid_argument"),
        (("list", "--store", "missing.db"), 1, "store_not_found"),
        (("op", "restore", "path=x"), 2, "usage"),
        (("restore", "x"), 2, "usage"),
        (("restore", "x", "--yes", "--as-user"), 5, "invalid_argument"),
        (("register",), 2, "usage"),
        (("register", "x", "--step", "a", "--plan", "[]"), 2, "usage"),
        (("event", "one"), 2, "usage"),
        (("update", "--bogus"), 2, "usage"),
        (("nonsense",), 2, "usage"),
        (("op", "task_set", "name"), 2, "usage"),
        (("import", "."), 2, "usage"),
    ],
)  # fmt: skip
def test_bad_input_has_a_code_and_an_exit_code_of_its_kind(task, place, words, code, name):
    before = data("thread", "--task", task)
    told = run(*words)
    assert (told.exit_code, told.stdout) == (code, ""), told.output
    assert f"[{name}]" in told.stderr
    assert "Traceback" not in told.stderr
    plain = run(*words, "--json")
    assert (plain.exit_code, plain.stderr) == (code, "")
    error = json.loads(plain.stdout)["error"]
    assert error["code"] == name
    assert error["message"]
    assert data("thread", "--task", task) == before
    assert list(place.iterdir()) == []


def test_without_a_session_the_answer_names_the_task_that_was_chosen(task, monkeypatch):
    other = data("register", "Another")["task_id"]
    monkeypatch.delenv("RINGBOLT_SESSION")
    told = run("update", "x")
    assert told.exit_code == 0
    assert f"Another ({other})" in told.stdout
    assert "2 tasks are open here. This is “Another”: it was worked on last." in told.stderr


def test_resume_with_an_id_turns_the_session(task):
    other = data("register", "Another")["task_id"]
    assert data("update", "x")["task_id"] == other
    assert f"Task {task}" in run("resume", task).stdout
    assert data("update", "y")["task_id"] == task
    assert f"Task {other}" in run("resume", "--task", other).stdout
    assert data("update", "z")["task_id"] == other


def test_without_a_session_the_user_chooses_the_task_of_the_folder(task, monkeypatch, tmp_path):
    data("register", "Another")
    monkeypatch.delenv("RINGBOLT_SESSION")
    mine = data("register", "Mine")["task_id"]
    other = data("register", "Other")["task_id"]
    assert data("update", "x")["task_id"] == other
    told = run("focus", "mine", "--as-user")
    assert told.stdout == f"Current task: Mine ({mine})\n"
    done = run("update", "y")
    assert f"Mine ({mine})" in done.stdout
    assert done.stderr == ""  # nothing was ambiguous
    run("finish", "It is done.", "--task", mine)
    assert data("update", "z")["task_id"] == other


def test_without_a_session_an_agent_cannot_choose_for_the_folder(task, monkeypatch):
    monkeypatch.delenv("RINGBOLT_SESSION")
    told = run("focus", task)
    assert told.exit_code == 5
    assert "only the user" in told.stderr


def test_a_task_is_named_by_words_of_its_name(task):
    other = data("register", "Fix the login page")["task_id"]
    assert data("show", "login page")["id"] == other
    assert data("update", "x", "--task", "LOGIN")["task_id"] == other
    assert data("show", task[:5])["id"] == task
    data("register", "Fix the logout page")
    told = run("show", "fix page")
    assert told.exit_code == 4
    assert "2 tasks have 'fix page' in their name" in told.stderr
    data("finish", "--task", other)
    assert data("show", "login")["id"] == other  # ended tasks come last, and still have their names
    assert run("show", "no such thing").exit_code == 3
    assert "named twice" in run("show", task, "--task", other).stderr


def test_without_a_command_it_says_where_the_work_stands(place):
    nothing = run()
    assert nothing.exit_code == 0
    assert "Nothing is recorded here yet." in nothing.stdout
    assert "ringbolt install claude-code" in nothing.stdout
    task = data("register", "Deploy", "--step", "Build", "--step", "Push")["task_id"]
    data("update", "Built the image", "--step", "Build", "--step-status", "done")
    data("note", "Which port?", "--type", "question")
    other = data("register", "Another", RINGBOLT_SESSION="T")["task_id"]
    told = run()
    assert told.exit_code == 0
    lines = told.stdout.splitlines()
    assert lines[0].startswith(f"Deploy ({task}) in ")
    assert lines[1:6] == [
        "  active, 1 of 2 steps done",
        "  Next: Push",
        "  Last: just now, question: Which port?",
        "  Waits for you: Which port? (question #3)",
        f"Also open: Another ({other}), active",
    ]
    assert data()["task"]["id"] == task
    broken = run(RINGBOLT_STORE="nosuch://store")
    assert broken.exit_code == 0
    assert "ringbolt doctor" in broken.stdout


def test_few_commands_are_in_the_help_and_all_in_help_all():
    few, every = run("--help").stdout, run("help", "--all").stdout
    names = [name for modules in SECTIONS.values() for commands in modules.values() for name in commands]
    assert all(re.search(rf"^  {name} ", every, re.MULTILINE) for name in names)
    assert len(re.findall(r"^  [a-z]+ +[A-Z]", few, re.MULTILINE)) < 15
    assert "--store STORE" in few
    assert "--store STORE" not in run("note", "--help").stdout
    assert run("help", "nosuch").exit_code == 2


def test_an_empty_input_writes_nothing(task):
    told = run("note", "-", stdin="\n")
    assert told.exit_code == 5
    assert "empty" in told.stderr
    assert data("show")["seq"] == 1


def test_files_are_not_replaced_by_themselves(task, tmp_path):
    for command in ("backup", "export"):
        path = tmp_path / command
        assert run(command, str(path)).exit_code == 0
        before = path.read_bytes()
        told = run(command, str(path))
        assert (told.exit_code, path.read_bytes()) == (5, before)
        assert run(command, str(path), "--force").exit_code == 0


def test_a_setting_is_written_to_its_file(place, tmp_path, monkeypatch):
    file = tmp_path / "config.toml"
    file.write_text('# mine\nguard = "off"  # for now\nlock_timeout = 5\n')
    monkeypatch.setenv("RINGBOLT_CONFIG", str(file))
    assert run("config", "set", "guard", "ask").exit_code == 6  # an agent changes no settings
    assert run("config", "set", "guard", "ask", "--as-user").exit_code == 0
    assert run("config", "set", "time_zone", "Europe/Berlin", "--as-user").exit_code == 0
    assert file.read_text() == '# mine\nguard = "ask"\nlock_timeout = 5\ntime_zone = "Europe/Berlin"\n'
    assert data("config", "get", "guard")["value"] == "ask"
    for name, value in (("guard", "loud"), ("nosuch", "1"), ("lock_timeout", "soon")):
        assert run("config", "set", name, value, "--as-user").exit_code == 5
    assert data("config", "get", "lock_timeout")["value"] == 5


def test_settings_are_shown_in_groups_with_their_meaning(place):
    shown = run("config").stdout
    assert "The server:\n  http_hosts = " in shown
    assert all(f"  {name} = " in shown for name in SETTINGS)
    assert all(f"{title}:\n" in shown for title in config._GROUPS.values())
    changed = run("config", "--changed", RINGBOLT_GUARD="ask").stdout
    assert "  guard = ask  (from RINGBOLT_GUARD)\n" in changed
    assert "http_hosts" not in changed


def test_hints_name_commands(task):
    told = run("show", "zzzz")
    assert "`ringbolt list` shows the tasks" in told.stderr
    for operation, command in hints.COMMANDS.items():
        assert operation in OPERATIONS
        assert run("help", *command.split()).exit_code == 0, command
    # Every operation that an error names has its command here.
    source = Path(ringbolt.__file__).parent
    text = "".join(
        path.read_text(encoding="utf-8") for path in source.rglob("*.py") if "surfaces" not in path.parts
    )
    named = set(
        re.findall(rf'"[^"\n]*\b({"|".join(OPERATIONS)})\b (?:shows|lists|takes|turns)[^"\n]*"', text)
    )
    assert named <= hints.COMMANDS.keys()


def test_what_looks_makes_no_store(place):
    for words in (("list",), ("update", "x"), ("show",), ("watch",), ("doctor",)):
        assert run(*words).exit_code == (0 if words == ("doctor",) else 1)
    assert not os.path.exists(os.environ["RINGBOLT_STORE"])


def test_input_that_is_no_text_or_far_too_long_is_refused(task, monkeypatch):
    assert "[invalid_text]" in run("update", "-", stdin=b"\xff\xfe").stderr
    monkeypatch.setattr("ringbolt.surfaces.cli.console.MOST_INPUT", 1000)
    assert "[too_large]" in run("update", "-", stdin="x" * 1001).stderr


# --- what is recorded is hostile --------------------------------------------------------------------

HOSTILE = "a\x1b[2J\x1b]0;owned\x07b\r\u202ec\x9b31m\n[X] d\u2028"


def test_recorded_text_reaches_a_terminal_as_text(place):
    data("register", HOSTILE, "--step", HOSTILE, "--request", HOSTILE, "--tag", "t")
    data("update", HOSTILE, "--next", HOSTILE, "--blocker", HOSTILE, "--attention", HOSTILE)
    data("note", HOSTILE, "--kind", "error", "--why", HOSTILE)
    data("decide", HOSTILE, "--because", HOSTILE, "--title", HOSTILE)
    data("exclude", HOSTILE, "--because", HOSTILE)
    data("set", HOSTILE.replace("\n", ""), HOSTILE)
    data("log", HOSTILE, "--command", HOSTILE, "--file", "a\x1bb")
    data("claim", "--holder", HOSTILE.replace("\n", ""))
    data("plan", "change", "1", "--note", HOSTILE, "--issue", HOSTILE)
    for words in (
        ("show",), ("list",), ("thread",), ("event", "1"), ("event", "4"), ("plan",), ("plan", "history"),
        ("plan", "progress"), ("ask",), ("ask", "what failed?"), ("resume",), ("state",), ("state", "--line"),
        ("summary",), ("summary", "--detail", "full"), ("recall", "owned"), ("handoff",), ("active-tasks",),
        ("op", "task_get"), ("show", HOSTILE), ("update", "x", "--step", HOSTILE[:3]), ("doctor",),
    ):  # fmt: skip
        told = run(*words)
        found = re.sub(r"[\n\t]", "", told.output)
        assert found.isprintable() or not re.search("[\x00-\x1f\x7f-\x9f\u202e\u2028]", found), words
        assert re.search("[\x1b\x9b]", told.stdout + told.stderr) is None, words


# --- who is speaking --------------------------------------------------------------------------------


def test_without_a_terminal_an_agent_speaks_unless_it_is_said_otherwise(task):
    run("note", "Never on Friday", "--kind", "instruction")
    run("note", "Ask first", "--kind", "instruction", "--as-user", "--agent", "x")
    events = data("thread", "--limit", "2")["events"]
    assert [event["origin"]["channel"] for event in events] == ["agent", "user"]
    assert [event["origin"]["agent"] for event in events] == ["", "x"]


def test_options_may_stand_before_or_after_the_command(task, tmp_path):
    other = str(tmp_path / "other.db")
    assert json.loads(run("--json", "--store", other, "register", "Elsewhere").stdout)["data"]["seq"] == 1
    assert [card["name"] for card in data("list", "--store", other)["tasks"]] == ["Elsewhere"]
    assert [card["name"] for card in data("list")["tasks"]] == ["Deploy"]
    assert data("list", "--workspace", str(tmp_path))["tasks"] == []
    assert len(data("list", "--workspace", str(tmp_path), "--everywhere")["tasks"]) == 1


def test_every_operation_can_be_called_by_name(place):
    listed = data("op")
    assert set(listed) == set(OPERATIONS)
    assert all(row["summary"] for row in listed.values())


def test_a_thread_marks_what_was_undone_and_an_ended_task_has_no_next_step(task):
    run("update", "Wrong")
    run("undo")
    assert " update: Wrong (undone)\n" in run("thread").stdout
    assert "; next: " not in run("finish", "done").stdout
    assert run("list", "--status", "all").stdout.splitlines()[1].split()[-2:] == ["just", "now"]
