"""Commands that do the same, however they are written."""

from __future__ import annotations

import pytest

from ringbolt.hosts.hook_parts.calls import call_heads
from ringbolt.signals.calls.command_form import (
    changed_paths,
    changes_nothing,
    command_form,
    passes_by_itself,
    same_try,
    telling_words,
)

SAME = [
    [
        "pytest tests/test_a.py",
        "cd /srv/shop && PYTHONPATH=src uv run python3.12 -m pytest 'tests/test_a.py' -q 2>&1 | tail -5",
        "timeout 60 .venv/bin/pytest tests/test_a.py -x",
        "bash -lc 'poetry run pytest ./tests/test_a.py > out.log'",
        "sudo -u ci env A=1 pytest --tb=short tests/test_a.py",
    ],
    [
        "npm run build",
        "npm  build 2>&1",
        "(cd web && npm run build) | tee log",
        "CI=1 npm run --silent build",
    ],
    ["npx jest@29 a.test.ts", "pnpm exec jest a.test.ts", "./node_modules/.bin/jest --ci a.test.ts"],
    ["npm publish --access public", "npm publish --access=public"],
    ["git push origin --delete old", "git push --delete origin old", "git -C . push origin old --delete"],
    ["./deploy.sh prod", "bash deploy.sh prod", "sh ./deploy.sh prod"],
    ["curl -X POST -d x https://a.example", "curl -sS --request POST https://a.example --data x"],
    ["make run", "make -s -j4 run", "git status; make run | grep error"],
]


@pytest.mark.parametrize("commands", SAME, ids=lambda commands: commands[0])
def test_commands_that_do_the_same_have_one_form_and_share_a_head(commands):
    first = command_form(commands[0])
    heads = set(call_heads("Bash", {"command": commands[0]}))
    for command in commands[1:]:
        assert command_form(command).key == first.key, command
        assert heads & set(call_heads("Bash", {"command": command})), command


def test_commands_that_do_something_else_have_another_form():
    different = [
        "pytest tests/test_a.py",
        "pytest tests/test_b.py",
        "pytest -k a tests/test_a.py",
        "npm run build",
        "npm run build:docs",
        "cp a b",
        "cp b a",
        "docker run -v /a:/b x",
        "docker run x",
        "ssh a make",
        "make",
        "npm install && npm run build",
        "psql -c 'SELECT 1'",
        "psql -c 'SELECT 2'",
        "cat <<E | psql\nx\nE",
    ]
    keys = [command_form(command).key for command in different]
    assert len(set(keys)) == len(different)


def test_paths_below_the_root_are_relative():
    assert command_form("pytest /w/tests/a.py", "/w").key == command_form("pytest tests/a.py").key


@pytest.mark.parametrize(
    ("earlier", "later", "error", "same"),
    [
        ("ruff check", "uv run ruff check", "ruff: command not found", False),
        ("ruff check", "uv run ruff check", "F401 imported but unused", True),
        ("uv run ruff check", "ruff check", "F401 imported but unused", True),
        ("npm test", "DATABASE_URL=x npm test", "DATABASE_URL is not set", False),
        ("npm test", "CI=1 npm test", "expected 3 to be 4", True),
        ("A=1 npm test", "A=2 npm test", "expected 3 to be 4", False),
        ("make all", "sudo make all", "Permission denied", False),
        ("make all", "cd lib && make all", "No rule to make target 'all'", False),
        ("make all", "cd lib && make all", "undefined: x", True),
        ("cd a && make all", "cd b && make all", "undefined: x", False),
        ("x | time y", "x | y", "parse error near `time'", False),
        ("rtk bun test", "bun test", "unrecognized subcommand 'bun'", False),
    ],
)
def test_the_error_decides_whether_another_launcher_folder_or_variable_is_another_try(
    earlier, later, error, same
):
    assert same_try(command_form(earlier), command_form(later), error) == same


def test_what_only_reads_or_checks_changes_nothing():
    quiet = [
        "ls -la",
        "cat a | grep b | head",
        "git status && git log -3",
        "git branch -a",
        "gh pr view 3",
        "pytest -q",
        "find . -name x",
        "kubectl -n a get pods",
        "sed -n 1,9p a",
        "curl https://a.example",
        "npm run lint",
        "go vet ./... 2>/dev/null",
        "psql -c 'select 1'",
        "docker compose ps",
        "tsc --noEmit",
        "node --version",
        "aws s3 ls",
        "rg x -g '*.py'",
        "terraform plan",
    ]
    loud = [
        "rm a",
        "cat a > b",
        "git branch new",
        "gh pr create",
        "ruff check --fix",
        "find . -delete",
        "sed -i s/a/b/ c",
        "curl -X DELETE https://a.example",
        "npm run lint:fix",
        "sleep 5; ls",
        "psql -c 'drop table a'",
        "npm ci",
        "docker compose up -d",
        "tsc",
        "git stash",
        "kubectl apply -f a",
        "echo a | tee b >> c",
        "./x",
    ]
    assert [command for command in quiet if not changes_nothing(command)] == []
    assert [command for command in loud if changes_nothing(command)] == []


def test_the_files_that_a_command_changes():
    assert changed_paths("echo a > /w/x.txt 2>&1 && rm -rf build/ && sed -i s/a/b/ c.py", "/w") == [
        "x.txt",
        "build",
        "c.py",
    ]
    assert changed_paths("cat a.txt | grep '>' && ls > /dev/null") == []
    assert changed_paths("cd db && mv a b") == ["db/a", "db/b"]


def test_networks_and_locks_recover_by_themselves():
    assert passes_by_itself("curl: (7) Failed to connect to localhost port 80: Connection refused")
    assert not passes_by_itself("AssertionError: 3 != 4")


def test_telling_words_are_in_every_way_to_write_a_command():
    for commands in SAME:
        for words in telling_words(command_form(commands[0])):
            for command in commands:
                plain = command.replace("'", "").lower()
                assert all(word in plain for word in words), (words, command)
