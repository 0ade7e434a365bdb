"""Failed attempts: which count, when they are settled, and which line of an output tells what went wrong."""

from __future__ import annotations

import pytest

from ringbolt.signals.calls.failures import clean_output, error_line, hides_failure

FAILED = "Exit code 1\n--- FAIL: TestTotals (0.02s)\n    totals_test.go:12: got 3, want 4\nFAIL"


def bash(memory, task, command, output="", *, failed=False, number=0):
    result = {"error": output} if failed else {"output": output}
    memory.task_log_action(
        task, command, type="cli", tool="Bash", status="failed" if failed else "completed",
        input={"command": command}, **result,
    )  # fmt: skip


def errors(memory, task):
    memory.task_distill(task)
    return [entry.summary for entry in memory.task_get(task).errors]


def test_a_check_of_the_same_kind_that_passes_settles_a_failure(memory, task):
    bash(memory, task, "go test ./totals/ -run TestTotals -v 2>&1 | tail -20", FAILED, failed=True)
    assert len(errors(memory, task)) == 1
    memory.task_log_action(task, "edit", type="edit", tool="Edit", files=["totals.go"])
    bash(memory, task, "go test ./mail/ -run TestMail", "ok  \tmail")  # another test says nothing about it
    assert len(errors(memory, task)) == 1
    bash(memory, task, "make test", "ok")
    assert errors(memory, task) == []


def test_a_command_line_that_has_the_failed_command_settles_it(memory, task):
    bash(memory, task, "pnpm changeset status", "error Failed to find where HEAD diverged", failed=True)
    bash(memory, task, "git fetch -q origin main:main && pnpm lint", "ok")
    assert len(errors(memory, task)) == 1
    bash(memory, task, "git fetch -q origin main:main && pnpm changeset status 2>&1 | tail -3", "info patch")
    assert errors(memory, task) == []


def test_the_same_program_with_a_quoted_subcommand_is_the_next_attempt(memory, task):
    bash(memory, task, "sbt run", "[error] java.lang.OutOfMemoryError: Java heap space", failed=True)
    assert len(errors(memory, task)) == 1
    bash(memory, task, 'JAVA_OPTS=-Xmx4g sbt "run --day 2024-03-04"', "[info] read 48 rows")
    assert errors(memory, task) == []
    assert "Xmx4g" in memory.task_get(task).exclusions[-1].data["worked"]


def test_a_merge_that_stopped_is_settled_when_it_goes_on(memory, task):
    bash(
        memory,
        task,
        "git fetch && git rebase origin/main",
        "error: could not apply 1a2b3c4... totals",
        failed=True,
    )
    assert len(errors(memory, task)) == 1
    bash(memory, task, "git add a.go && GIT_EDITOR=true git rebase --continue", "Successfully rebased")
    assert errors(memory, task) == []


def test_a_failure_that_is_never_retried_is_given_up(memory, task):
    bash(memory, task, "terraform output db_url", 'Error: Output "db_url" not found in state', failed=True)
    assert len(errors(memory, task)) == 1
    for number in range(12):
        bash(memory, task, f"./report{number}", "fine")
    assert errors(memory, task) == []
    found = memory.task_recall("db_url output", types="error").hits
    assert found


@pytest.mark.parametrize(
    ("tool", "command", "error"),
    [
        ("Bash", "cat missing.txt", "cat: missing.txt: No such file or directory"),
        ("Bash", "cd src && rg -n foo nowhere", "rg: nowhere: No such file or directory (os error 2)"),
        ("Bash", "rg -n pattern src", "Exit code 1"),
        ("Edit", "", "<tool_use_error>String to replace not found in file.</tool_use_error>"),
        ("Read", "", "<tool_use_error>File does not exist.</tool_use_error>"),
        ("Bash", "make test", "[Request interrupted by user for tool use]"),
        ("Bash", "make test", "<tool_use_error>Sibling tool call errored</tool_use_error>"),
    ],
)
def test_errors_of_the_host_are_not_listed(memory, task, tool, command, error):
    given = {"command": command} if command else {"file_path": "/srv/a.py"}
    memory.task_log_action(task, "x", type="tool", tool=tool, status="failed", input=given, error=error)
    assert errors(memory, task) == []


def test_the_line_that_says_why_is_chosen():
    for output, line in (
        ('$ biome check .\nbash: line 1: biome: command not found\nerror: script "lint" exited with code 127',
         "bash: line 1: biome: command not found"),
        ("  15 │ - const errors = [];\n  × Imports could be sorted", "× Imports could be sorted"),
        ("user@host:~/app$ make\nmake: *** [all] Error 1\ncc: fatal error: no input files",
         "cc: fatal error: no input files"),
        ("<tool_use_error>Unknown skill: a &amp; b</tool_use_error>", "Unknown skill: a & b"),
    ):  # fmt: skip
        assert error_line(output).startswith(line)


def test_errors_in_the_log_of_a_command_that_succeeded_are_not_failures():
    log = "error: item 3 failed\n12 pass\n0 fail"
    assert not hides_failure("bun test", log)
    assert not hides_failure("bun test 2>&1 | tail -5", log)
    assert hides_failure("pytest 2>&1 | tail -2", "FAILED tests/test_a.py::test_b\n1 failed, 3 passed")
    assert hides_failure("cargo build || true", "error[E0425]: cannot find value `x`")


def test_outputs_are_stored_clean():
    header = "Chunk ID: a1b2\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n"
    assert clean_output(f"{header}fine") == "fine"
    assert clean_output("Exit code: 2\nWall time: 1 s\nOutput:\nboom", failed=True) == "Exit code: 2\nboom"
    assert clean_output("\x1b[31mred\x1b[0m\x1b]0;title\x07 1%\r50%\rdone") == "done"
    assert (
        clean_output("<tool_use_error>a &amp;&amp; b</tool_use_error>", failed=True)
        == "tool use error: a && b"
    )
    assert clean_output("<p>a &amp; b</p>") == "<p>a &amp; b</p>"
