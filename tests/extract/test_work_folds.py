"""The working tree and how to run things, derived from the commands and edits of a task."""

from __future__ import annotations

import pytest

from ringbolt.model.rules import TREE_STATUS
from ringbolt.packet.operations import read_whole_task


def bash(memory, task, command, output="", *, failed=False):
    result = {"error": output} if failed else {"output": output}
    memory.task_log_action(
        task, command, type="cli", tool="Bash", status="failed" if failed else "completed",
        input={"command": command}, **result,
    )  # fmt: skip


def edit(memory, task, path):
    memory.task_log_action(task, f"edit {path}", type="edit", tool="Edit", files=[path])


def whole(memory, task):
    return memory.store.read(lambda tx: read_whole_task(memory, tx, task))


def distilled(memory, task):
    memory.task_distill(task)
    return whole(memory, task)


def test_the_tree_follows_git_edits_and_checks(memory, task):
    bash(memory, task, "git checkout -b feat/totals", "Switched to a new branch 'feat/totals'")
    edit(memory, task, "src/totals.py")
    edit(memory, task, "src/tax.py")
    bash(memory, task, "uv run pytest -q 2>&1 | tail -3", "12 passed in 0.4s")
    edit(memory, task, "src/totals.py")
    tree = distilled(memory, task).work_tree
    assert (tree.branch, tree.last_check, tree.last_check_ok) == ("feat/totals", "uv run pytest -q", True)
    assert (tree.dirty, tree.edited_since_check) == (("src/tax.py", "src/totals.py"), ("src/totals.py",))
    bash(memory, task, "git add src/tax.py && git commit -m 'Round the tax'",
         "[feat/totals 1a2b3c4] Round the tax\n 1 file changed")  # fmt: skip
    bash(memory, task, "uv run pytest -q", "1 failed, 11 passed", failed=True)
    tree = distilled(memory, task).work_tree
    assert (tree.commit, tree.dirty) == ("1a2b3c4 Round the tax", ("src/totals.py",))
    # A commit proves nothing, and a check that failed proves less.
    assert (tree.edited_since_check, tree.last_check_ok) == (("src/totals.py",), False)


def test_a_status_counts_more_than_what_was_followed(memory, task):
    edit(memory, task, "a.py")
    bash(memory, task, "git status", "On branch main\nChanges not staged for commit:\n\tmodified:   b.py\n\n"
         "Untracked files:\n  (use \"git add\")\n\tnew.py\n")  # fmt: skip
    tree = distilled(memory, task).work_tree
    assert (tree.branch, tree.dirty) == ("main", ("b.py", "new.py"))
    bash(memory, task, "git status --short --branch", "## dev...origin/dev [ahead 1]\n M c.py\n?? d/\n")
    tree = distilled(memory, task).work_tree
    assert (tree.branch, tree.dirty, tree.dirty_count) == ("dev", ("c.py", "d/"), 2)
    porcelain = (
        "# branch.oid 0123456789abcdef0123456789abcdef01234567\n# branch.head main\n"
        "1 .M N... 100644 100644 100644 aaaa bbbb src/e f.py\n? g.py\n"
    )
    memory.task_snapshot(task, porcelain, label=TREE_STATUS)
    tree = distilled(memory, task).work_tree
    assert (tree.branch, tree.commit, tree.dirty) == ("main", "0123456789", ("src/e f.py", "g.py"))
    bash(memory, task, "git status", "On branch main\nnothing to commit, working tree clean")
    assert distilled(memory, task).work_tree.dirty == ()


def changed(memory, task):
    return sorted(file.path for file in distilled(memory, task).files)


@pytest.mark.parametrize(
    "command",
    ["git checkout -- src/b.py", "git restore src/b.py", "git restore src", "git reset --hard", "git stash",
     "git checkout .", "git restore ."],
)  # fmt: skip
def test_a_file_whose_edits_were_taken_back_is_not_changed(memory, task, command):
    edit(memory, task, "src/a.py")
    bash(memory, task, "git commit -am 'First'", "[main 1a2b3c4] First")
    edit(memory, task, "src/a.py")  # its first edit is committed
    edit(memory, task, "src/b.py")
    memory.task_log_action(
        task, "new", type="edit", tool="Write", files=["src/new.py"]
    )  # git leaves it there
    output = "Updated 2 paths from the index" if command == "git checkout ." else ""
    bash(memory, task, command, output)
    assert changed(memory, task) == ["src/a.py", "src/new.py"]
    assert "b.py*" not in memory.task_resume(task).text  # it may be named, but not as changed
    edit(memory, task, "src/b.py")
    assert "src/b.py" in [file.path for file in whole(memory, task).files]  # also before it is distilled
    assert "src/b.py" in changed(memory, task)


def test_edits_that_are_not_surely_gone_still_count(memory, task):
    edit(memory, task, "a.py")
    bash(memory, task, "git checkout -- a.py", "error: unable to write", failed=True)
    bash(memory, task, "git restore --staged a.py")
    bash(memory, task, "git restore --source=HEAD~2 a.py")
    bash(memory, task, "cd ../other && git reset --hard")
    assert changed(memory, task) == ["a.py"]
    edit(memory, task, "b.py")
    bash(memory, task, "git stash", "Saved working directory")
    assert changed(memory, task) == ["a.py"]
    bash(memory, task, "git stash pop", "Dropped refs/stash@{0}")
    assert changed(memory, task) == ["a.py", "b.py"]


def test_other_repositories_and_other_branches_do_not_count(memory, task):
    bash(memory, task, "git branch --show-current", "main\n")
    bash(memory, task, "cd ../other && git checkout -b x", "Switched to a new branch 'x'")
    bash(memory, task, "git -C /elsewhere status", "On branch y\n")
    bash(memory, task, "git log --oneline origin/z -3", "aaaaaaa Not ours")
    bash(memory, task, "git log --oneline -2", "bbbbbbb Ours\nccccccc Older")
    tree = distilled(memory, task).work_tree
    assert (tree.branch, tree.commit) == ("main", "bbbbbbb Ours")


def test_a_test_of_one_file_says_nothing_about_the_others(memory, task):
    edit(memory, task, "src/totals.py")
    edit(memory, task, "src/mail.py")
    bash(memory, task, "pytest tests/test_totals.py", "3 passed")
    assert distilled(memory, task).work_tree.edited_since_check == ("src/mail.py",)


def test_the_command_that_worked_after_another_failed_comes_first(memory, task):
    bash(memory, task, "pytest -q", "bash: pytest: command not found", failed=True)
    bash(memory, task, "cd api && DB_URL=postgres://db/test uv run pytest -q", "30 passed")
    bash(memory, task, "npm run lint", "ok")
    bash(memory, task, "npm run lint 2>&1 | tail -2", "ok")
    (test, lint) = distilled(memory, task).run_commands
    assert (test.kind, test.command) == ("test", "DB_URL=postgres://db/test uv run pytest -q")
    assert (test.needs, test.instead_of) == ("in api", "pytest -q")
    assert (lint.kind, lint.command, lint.uses) == ("lint", "npm run lint", 2)


def test_a_program_that_only_failed_is_no_way_to_run_it(memory, task):
    bash(memory, task, "sbt run", "java.lang.OutOfMemoryError: Java heap space", failed=True)
    bash(memory, task, "JAVA_OPTS=-Xmx4g sbt run", "read 100 rows")
    (one,) = distilled(memory, task).run_commands
    assert (one.command, one.uses) == ("JAVA_OPTS=-Xmx4g sbt run", 1)


def test_a_service_that_had_to_run_is_named(memory, task):
    bash(memory, task, "make test", "psycopg.OperationalError: connection refused", failed=True)
    bash(memory, task, "docker compose up -d db", "Container db Started")
    bash(memory, task, "make test", "8 passed")
    (one,) = (row for row in distilled(memory, task).run_commands if row.kind == "test")
    assert (one.command, one.needs) == ("make test", "first docker compose up -d db")


def test_a_general_command_is_better_than_one_for_a_single_test(memory, task):
    for number in range(4):
        bash(memory, task, f"go test ./... -run TestTotals{number}", "ok")
    bash(memory, task, "go test ./...", "ok")
    (one,) = distilled(memory, task).run_commands
    assert (one.command, one.uses) == ("go test ./...", 5)


def test_folds_are_the_same_in_one_run_and_in_many(memory):
    commands = [
        ("git status -s", " M a.py"),
        ("pytest", "1 passed"),
        ("git commit -am 'X'", "[main abcdef1] X"),
    ] * 3
    shown = []
    for step in (1, 9):
        task = memory.task_register(f"in steps of {step}").task_id
        for number, (command, output) in enumerate(commands, 1):
            bash(memory, task, command, output)
            if number % step == 0:
                memory.task_distill(task)
        found = distilled(memory, task)
        shown.append(
            (found.work_tree.to_dict() | {"at": "", "seq": 0}, [row.command for row in found.run_commands])
        )
    assert shown[0] == shown[1]
