"""The commands for goals, and those that take away for good."""

from __future__ import annotations

import pytest

from tests.surfaces.command_line import data, run


@pytest.fixture
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RINGBOLT_STORE", str(tmp_path / "tasks.db"))
    return tmp_path


def test_a_goal_from_its_first_criterion_to_its_end(here):
    goal = run(
        "goal", "create", "Live", "--file", "app.whl", "--criterion", "content", "--attempts", "2"
    ).output
    goal = goal.strip()
    run("register", "Deploy", "--step", "Build")
    assert run("goal", "link", goal[:6]).exit_code == 0
    found = run("goal", "check", goal)
    assert (found.exit_code, "0 of 2 criteria met; 0 of 1 tasks completed" in found.output) == (1, True)
    (here / "app.whl").write_text("wheel")
    manual = next(one for one in data("goal", "status", goal)[0]["criteria"] if one["check"] == "manual")
    proposed = data("goal", "decide", goal, str(manual["seq"]), "met", "--agent", "a")
    assert "until the user accepts it, nothing changes" in proposed["warnings"][0]
    after = {one["seq"]: one for one in data("goal", "status", goal)[0]["criteria"]}
    assert after[manual["seq"]]["status"] == "open"
    assert (
        run("goal", "decide", goal, str(manual["seq"]), "met", "--as-user", "--because", "seen").exit_code
        == 0
    )
    assert run("goal", "check", goal, "--finish").exit_code == 0
    assert data("goal") == []
    assert "No open goals" in run("goal").output


def test_forget_and_purge_say_first_what_would_go(here):
    task = data("register", "Deploy", "--session", "leaky")["task_id"]
    run("update", "zebrafish", "--task", task, "--session", "leaky")
    leaky = ("forget", "--source", "session:leaky", "--as-user")
    assert "Would be removed: 2 events of 1 tasks." in run(*leaky).output
    assert "zebrafish" in run("thread", "--task", task).output
    token = data(*leaky)["token"]
    assert "Removed: 2 events" in run(*leaky, "--confirm", token).output
    assert "zebrafish" not in run("thread", "--task", task).output
    assert run(*leaky, "--confirm", token).exit_code == 4
    assert run("forget", "--source", "nonsense", "--as-user").exit_code == 5
    assert run("purge", "--task", task, "--as-user").exit_code == 4  # it is open
    assert run("op", "purge", f"task_id={task}", "--as-user").exit_code == 2  # without --yes
    run("finish", "--task", task)
    token = data("purge", "--task", task, "--as-user")["token"]
    assert run("purge", "--task", task, "--confirm", token, "--as-user").exit_code == 0
    assert run("show", task).exit_code == 3
    open_too = ("--older-than", "90d", "--everywhere", "--status", "active")
    assert run("purge", *open_too, "--as-user").exit_code == 5


def test_only_the_user_removes_or_replaces_anything(here, tmp_path):
    task = data("register", "Deploy", "--session", "leaky")["task_id"]
    for words in (
        ("forget", "--source", "session:leaky"),
        ("purge", "--task", task),
        ("op", "purge", f"task_id={task}", "--yes"),
    ):
        refused = run(*words)
        assert refused.exit_code == 6, words
        assert "wrong_scope" in refused.output
    (tmp_path / "backup").touch()
    assert run("restore", str(tmp_path / "backup"), "--yes").exit_code == 6
    assert run("show", task).exit_code == 0
