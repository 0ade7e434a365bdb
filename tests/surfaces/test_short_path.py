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

# Lines that it reads by itself.
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
# Lines that it leaves to click.
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
        seen.append((dict(read), dict(console.given())))
        return 7

    monkeypatch.setattr(OperationCommand, "run", note)
    for name in short_path.COMMANDS:
        for line in PLAIN:
            for run in (short_path.main, main):
                with pytest.raises(SystemExit) as end:
                    run([name, *line])
                assert end.value.code == 7
            with_click, without = seen.pop(), seen.pop()
            assert with_click == without, line
        for line in OTHERS:
            assert short_path.main([name, *line]) is None, line
    assert short_path.main([]) is None
    assert short_path.main(["--json", "update"]) is None
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
    assert done.stdout.startswith(task)
    slow = {"click", "inspect", "typing_extensions", "dataclasses", "ssl", "http", "email", "rich", "logging"}
    assert not slow & set(done.stderr.split())
    # What it leaves to click is reported as ever.
    wrong = subprocess.run([*words, "--nothing"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "No such option '--nothing'" in wrong.stderr
