"""The short path reads a command line as click does, or leaves it to click."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ringbolt import TaskMemory
from ringbolt.surfaces.cli import console, short_path
from ringbolt.surfaces.cli.main import main
from ringbolt.surfaces.cli.parameters import OperationCommand

# Lines of `update` that it reads by itself.
PLAIN = (
    [],
    ["hello"],
    ["-"],
    ["hello", "--step", "1", "--step-status=done"],
    ["--status", "waiting", "hello", "--blocker", "a", "--blocker=b"],
    ["--reason", "--status", "--next="],
    ["--name", "-"],
    ["--no-blockers", "--archive", "--unarchive", "--step", "1", "--step", "2"],
    ["x", "--task", "abc", "--json", "--as-user", "--store=/a=b", "--store", "/c", "--workspace", ""],
    ["--key", "k", "--token", "3", "--expect", "4"],
    ["--status", "waiting", "--no-blockers", "--blocker", "a"],
)
# Lines of other commands that it reads by itself.
OF_OTHERS = (
    "register Deploy --step Build --step Push --plan [] --tag a --json",
    "note hello",
    "note - --kind error --because x --why y --step 2",
    "decide ghcr.io --because works --option a --option b --replaces 12",
    "set version v1 --value-is-json",
    "log Built --exit-code 0 --command make --duration-ms 1.5 --file a --file b",
    "finish",
    "pause --because later",
    "reopen 7k3m --message go",
    "undo",
    "undo 12",
    "claim --step 2 --lease 60",
    "list",
    "list --status all --status open --everywhere --archived --limit 5",
    "show",
    "show 7k3m --at 12",
    "ask",
    "ask What is next? --task 7k3m",
    "summary --kept --detail items",
)
# Lines of `update` that it leaves to click.
OTHERS = (
    ["--help"],
    ["-h"],
    ["a", "b"],
    ["--", "a"],
    ["-x"],
    ["--no-such"],
    ["--step"],
    ["--token", "three"],
    ["--archive=yes"],
    ["--stat", "waiting"],
)


def test_it_reads_plain_lines_as_click_does(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def note(self: OperationCommand, read: dict[str, Any]) -> int:
        seen.append((dict(read), dict(console.common_values())))
        return 7

    monkeypatch.setattr(OperationCommand, "run", note)
    for line in [*(["update", *line] for line in PLAIN), *(line.split() for line in OF_OTHERS)]:
        for run in (short_path.main, main):
            with pytest.raises(SystemExit) as end:
                run(line)
            assert end.value.code == 7
        with_click, without = seen.pop(), seen.pop()
        assert with_click == without, line
    others = [*(["update", *line] for line in OTHERS), ["--json", "update"], ["resume"], ["nothing"]]
    for line in [*others, ["note"], ["set", "a"], ["undo", "x"], ["list", "--limit", "x"], ["log"]]:
        assert short_path.main(line) is None, line
    monkeypatch.setenv("_RINGBOLT_COMPLETE", "bash_complete")
    assert short_path.main(["update", "hello"]) is None


def test_its_commands_load_neither_click_nor_other_slow_modules(tmp_path: Path) -> None:
    path = str(tmp_path / "tasks.db")
    with TaskMemory.open(path, workspace=None) as memory:
        task = memory.task_register("Deploy").task_id
    code = (
        "import os, sys; from ringbolt.__main__ import run\n"
        "end = os._exit\n"
        "def told(code):\n"
        "    print(*sys.modules, file=sys.stderr, flush=True)\n"
        "    end(code)\n"
        "os._exit = told\n"
        "run()"
    )
    words = [sys.executable, "-c", code, "update", "Built", "--task", task, "--store", path]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert f"({task})" in done.stdout
    slow = {"click", "inspect", "typing_extensions", "dataclasses", "ssl", "http", "email", "rich", "logging"}
    assert not slow & set(done.stderr.split())
    # What it leaves to click is reported as ever.
    wrong = subprocess.run([*words, "--nothing"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "No such option '--nothing'" in wrong.stderr
