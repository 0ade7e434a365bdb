"""The guard: what it says before a call, and when it says nothing, through the hook's own code."""

from __future__ import annotations

import json
import subprocess

import pytest

from ringbolt import TaskMemory
from ringbolt.journal.cards import read_card
from ringbolt.journal.names import session_digest
from ringbolt.journal.side_files import SideFiles
from tests.hosts.hosting import QuickHost

REQUEST = "Release the cart package."


@pytest.fixture
def host(tmp_path, monkeypatch) -> QuickHost:
    found = QuickHost(tmp_path, monkeypatch)
    found.tell("SessionStart", source="startup")
    found.tell("UserPromptSubmit", prompt=REQUEST)
    return found


def edited(host, path="/w/a.py"):
    host.tell("PostToolUse", tool_name="Edit", tool_input={"file_path": path, "new_string": "x"},
              tool_response={}, tool_use_id=f"e{path}")  # fmt: skip


def before_edit(host, path):
    given = {"file_path": path, "old_string": "a", "new_string": "b"}
    return host.context("PreToolUse", tool_name="Edit", tool_input=given, tool_use_id="b")


def later_session(host, name="s-2", prompt="Go on."):
    host.tell("SessionEnd", reason="other")
    other = host.other(name)
    other.tell("SessionStart", source="startup")
    other.tell("UserPromptSubmit", prompt=prompt)
    return other


# --- what failed ------------------------------------------------------------------------------------


def test_a_failed_command_is_known_again_in_other_words_until_something_changes(host):
    host.bash(
        "cd shop && python -m pytest tests/a.py -q | tail -3", "Exit code 1\nE  assert 1 == 2", failed=True
    )
    host.bash("git status && ls", "clean")
    host.bash("mypy shop", "Success: no issues found")
    text = host.before("timeout 60 uv run pytest 'tests/a.py'")
    assert "failed at " in text
    assert "nothing was changed since" in text
    assert "\n" not in text
    assert host.before("pytest tests/b.py") == ""
    edited(host)
    assert host.before("pytest tests/a.py") == ""


def test_a_program_that_was_not_found_may_be_started_in_another_way_which_is_then_recommended(host):
    host.bash("ruff check src", "Exit code 127\nbash: ruff: command not found", failed=True)
    assert host.before("uv run ruff check src") == ""
    host.bash("uv run ruff check src", "All checks passed!")
    assert 'what worked instead: "uv run ruff check src"' in host.before("ruff check src")


def test_the_third_time_the_same_error_is_counted_with_what_was_changed_last(host):
    for number in range(3):
        host.bash(
            "go test ./tls", f"Exit code 1\n--- FAIL: TestTLS 0.0{number}s: x509 unknown", number, failed=True
        )
        assert (host.before("go test ./tls") != "") == (number >= 0)
        edited(host, f"/w/tls{number}.go")
        assert (host.before("go test ./tls") != "") == (number == 2)
    text = host.before("go test -v ./tls")
    assert "3 times with the same error" in text
    assert "last changed tls2.go" in text


def test_a_transient_error_is_no_reason_to_warn(host):
    host.bash(
        "git push origin main", "Exit code 128\nfatal: Could not resolve host: git.example", failed=True
    )
    assert host.before("git push origin main") == ""


# --- side effects -----------------------------------------------------------------------------------


def test_a_side_effect_is_not_repeated_until_what_it_depends_on_has_changed(host):
    host.bash("npm publish --access public", "+ cart@1.4.0")
    text = host.before("cd . && npm publish --access=public")
    assert "was done at " in text
    assert "repeat its side effect" in text
    assert host.before("npm publish --access public --dry-run") == ""
    edited(host, "/w/package.json")
    assert host.before("npm publish --access public") == ""


def test_a_one_time_effect_is_warned_about_unless_the_user_wants_it_again(host):
    message = {"channel": "#ops", "text": "Checkout is down"}
    call = {"tool_name": "mcp__slack__post_message", "tool_input": message}
    host.tell("PostToolUse", tool_response={"ok": True}, tool_use_id="1", **call)
    edited(host)
    assert "repeat its side effect" in host.context("PreToolUse", tool_use_id="2", **call)
    other = {**call, "tool_input": {**message, "text": "Checkout is back"}}
    assert host.context("PreToolUse", tool_use_id="3", **other) == ""
    # The other message was announced and never sent; the user asks for the first one again.
    host.tell("UserPromptSubmit", prompt="Post that message again, please.")
    assert host.context("PreToolUse", tool_use_id="4", **call) == ""


def test_a_side_effect_whose_outcome_is_unknown_is_checked_first_also_in_a_later_session(host):
    with host.memory() as memory:
        memory.task_intent(what="./deploy.sh production", verify="curl https://shop.example/version")
    other = later_session(host)
    text = other.before("bash deploy.sh production")
    assert "its outcome is not known" in text
    assert 'check first: "curl https://shop.example/version"' in text
    assert other.before("./deploy.sh staging") == ""


def test_a_call_that_was_announced_a_moment_ago_is_the_one_that_is_made_now(host):
    with host.memory() as memory:
        memory.task_intent(what="./deploy.sh production", verify="curl https://shop.example/version")
    assert host.before("./deploy.sh production") == ""


# --- what was ruled out -----------------------------------------------------------------------------


def test_a_prohibition_holds_at_once_and_in_later_sessions_until_the_user_lifts_it(host):
    host.tell("UserPromptSubmit", prompt="Rename sum to total. Do not touch anything under db/migrations/.")
    text = before_edit(host, str(host.work / "db/migrations/0001.sql"))
    assert "the user said on " in text
    assert "Do not touch anything under db/migrations/." in text
    assert before_edit(host, "src/total.py") == ""
    assert host.before("cat db/migrations/0001.sql") == ""
    assert "db/migrations" in host.before("rm db/migrations/0001.sql")
    other = later_session(host)
    assert before_edit(other, "db/migrations/0002.sql") != ""
    other.tell("UserPromptSubmit", prompt="Now add a migration under db/migrations/ for the new name.")
    assert before_edit(other, "db/migrations/0002.sql") == ""


def test_an_exclusion_in_words_holds_in_every_worktree_of_the_repository(tmp_path, monkeypatch):
    main, beside = tmp_path / "work", tmp_path / "beside"
    for command in (
        ["git", "init", "-q", str(main)],
        [
            "git",
            "-C",
            str(main),
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "x",
        ],
        ["git", "-C", str(main), "worktree", "add", "-q", str(beside)],
    ):
        subprocess.run(command, check=True)
    host = QuickHost(tmp_path, monkeypatch)
    host.tell("UserPromptSubmit", prompt="Start the database.")
    with host.memory() as memory:
        memory.task_exclude(what="docker compose up with the host network", why="port 5432 is taken")
    other = host.other("s-2")
    other.work = beside
    other.tell("SessionStart", source="startup")
    assert "port 5432 is taken" in other.before("docker compose --network host up -d")
    assert other.before("docker compose up -d") == ""
    elsewhere = host.other("s-3")
    elsewhere.work = tmp_path
    elsewhere.tell("SessionStart", source="startup")
    assert elsewhere.before("docker compose --network host up -d") == ""


def test_a_rejected_call_is_warned_about_while_its_reason_stands(host):
    rejected = "The user doesn't want to proceed with this tool use. The user said: "
    host.bash("git push", f"{rejected}rebase first", 1, failed=True)
    assert "the user rejected" in host.before("git push")
    host.bash("git rebase main", "done")
    assert host.before("git push") == ""
    host.bash("git branch -D old", f"{rejected}keep it, QA needs it", 2, failed=True)
    other = later_session(host)
    assert '"keep it, QA needs it"' in other.before("git branch -D old")
    other.tell("UserPromptSubmit", prompt="QA is done, delete the branch old.")
    assert other.before("git branch -D old") == ""


def test_an_undone_or_expired_exclusion_warns_about_nothing(host):
    with host.memory() as memory:
        seq = memory.task_exclude(what="make report-all", why="nine hours").seq
        memory.task_exclude(what="make old", why="broken", until="2020-01-01T00:00:00Z")
    assert "nine hours" in host.before("nice make -j4 report-all")
    assert host.before("make old") == ""
    with host.memory() as memory:
        memory.task_remember(resolves=[seq])
    assert host.before("make report-all") == ""


# --- how it is said ---------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["advise", "ask", "off"])
def test_the_user_is_asked_only_if_that_is_set_and_never_about_a_mere_failure(host, monkeypatch, setting):
    monkeypatch.setenv("RINGBOLT_GUARD", setting)
    host.tell("UserPromptSubmit", prompt="Never use docker.io.")
    host.bash("make all", "Exit code 2\nundefined: x", failed=True)

    def answer(command):
        said = host.tell("PreToolUse", tool_name="Bash", tool_input={"command": command}, tool_use_id="b")
        return json.loads(said)["hookSpecificOutput"] if said else {}

    forbidden, failed = answer("docker pull docker.io/redis"), answer("make all")
    assert ("additionalContext" in forbidden, "additionalContext" in failed) == ((setting != "off"),) * 2
    assert forbidden.get("permissionDecision") == ("ask" if setting == "ask" else None)
    assert forbidden.get("permissionDecisionReason") == (
        forbidden["additionalContext"] if setting == "ask" else None
    )
    assert "permissionDecision" not in failed


def test_cards_lose_the_words_of_a_session_that_is_forgotten(host):
    host.tell("UserPromptSubmit", prompt="Never use docker.io.")
    host.tell("Stop")
    files = SideFiles(host.journal())
    shared = read_card(files, session_digest("s-1")).shared
    assert ("a", "docker.io") in read_card(files, shared).hints
    with TaskMemory.open(host.store, workspace=str(host.work)) as memory:
        user = memory.acting_as(channel="user")
        user.forget("session:s-1", confirm=user.forget("session:s-1").token)
    for folder in host.journal().folders:
        assert subprocess.run(["grep", "-rq", "docker.io", folder], check=False).returncode != 0
    later_session(host)
    assert read_card(files, shared).hints == ()


# --- approval modes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["advise", "off"])
@pytest.mark.parametrize("mode", ["auto", "confirm", "manual"])
def test_a_person_decides_about_side_effects_of_a_task_with_an_approval_mode(
    host, monkeypatch, mode, setting
):
    monkeypatch.setenv("RINGBOLT_GUARD", setting)
    with host.memory() as memory:
        memory.acting_as(channel="user").task_approve(host.task().id, mode=mode)

    def decision(command):
        given = {"command": command}
        said = host.tell("PreToolUse", tool_name="Bash", tool_input=given, tool_use_id="b")
        return json.loads(said)["hookSpecificOutput"].get("permissionDecision") if said else None

    assert decision("git push origin main") == (None if mode == "auto" else "ask")
    assert decision("ls -la") is None
    host.bash("ls -la", "a.py")  # drained: the card still means every call
    assert decision("git push origin main") == (None if mode == "auto" else "ask")


def test_a_side_effect_that_the_user_approved_is_not_asked_about_again(host):
    task = host.task().id
    with host.memory() as memory:
        user = memory.acting_as(channel="user")
        user.task_approve(task, mode="confirm")
        intent = memory.task_intent(task, "git push origin main")
    text = host.before("git push origin main")
    assert "approval mode confirm" in text
    with host.memory() as memory:
        memory.acting_as(channel="user").task_approve(task, f"#{intent.seq}")
    assert "approval mode" not in host.before("git push origin main")
    assert "approval mode confirm" in host.before("npm publish")
