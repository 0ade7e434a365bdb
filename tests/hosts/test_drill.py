"""The recovery drill: what comes back of a task after a compaction is measured against its record."""

from __future__ import annotations

import pytest

from ringbolt.hosts.drill import MOST_CUTS, covers, drill, has_exactly, run, total
from ringbolt.packet.resume import resume_packet
from ringbolt.surfaces.demo import REQUEST, fill
from tests.support import newest, sqlite_only

S38 = ["goal", "phase and progress", "last 3 decisions, reasons", "variables", "exclusions", "step history"]
SUMMARY = "The user said: deploy coursefolio v1.2.3 to the production server, do not touch the database."


@pytest.fixture
def story(memory):
    """The deployment story up to a compaction, and how it went on."""
    task = fill(memory)
    agent = memory.acting_as(agent="deployer", session="monday")
    file = "/w/deploy/compose.yaml"
    edit = {"file_path": file, "new_string": "DB_HOST: db1"}
    agent.task_log_action(task, "Edit compose.yaml", type="edit", files=[file], input=edit)
    for title, choice, reasoning in [
        ("Port", "8443", "443 is taken by the old proxy"),
        ("Rollout", "blue-green", "users must not notice a restart"),
        ("Health check", "/healthz", "/ redirects to the login page"),
    ]:
        agent.task_decide(task, title=title, choice=choice, reasoning=reasoning)
    agent.task_set(task, "server", "app-17.internal")
    agent.task_exclude(
        task, what="docker compose v1", why="the server has only v2", symptom="command not found"
    )
    agent.task_snapshot(task, SUMMARY, label="after compaction", summarized=True)
    agent.task_log_action(task, "ssh app-17.internal", type="cli", input={"command": "cat compose.yaml"})
    agent.task_update(task, "The container runs", step="run", step_status="completed")
    agent.task_decide(task, title="Later", choice="prune old images", reasoning="the disk is nearly full")
    return task


def by_name(report):
    return {row.name: row for row in report.rows}


def test_with_structured_writes_every_row_comes_back_whole(memory, story):
    before = newest(memory)
    report = drill(memory, story)
    assert newest(memory) == before
    assert report.ok
    assert report.because == "compaction"
    rows = by_name(report)
    for row in report.rows:
        assert row.count, row.name
        assert row.usual == row.asked == row.count, row
    assert all(rows[name].small == rows[name].count for name in S38)
    assert [rows[name].wanted for name in S38] == [100, 100, 100, 95, 90, 70]
    assert (rows["variables"].count, rows["exclusions"].count, rows["step history"].count) == (2, 2, 3)
    # The host kept the request and forgot the rest.
    assert (rows["goal"].host, rows["goal"].host_count) == (1, 1)
    assert (rows["last 3 decisions, reasons"].host, rows["last 3 decisions, reasons"].host_count) == (0, 3)


def test_nothing_that_happened_after_the_cut_helps(memory, story):
    given = []

    def build(task, budget):
        given.append(task)
        return resume_packet(task, budget).text

    report = drill(memory, story, build=build)
    (state, _) = given
    assert state.seq < report.last
    assert state.current_title == "Pull the image and run the container"
    assert "Later" not in {entry.data.get("title") for entry in state.decisions}
    assert "compose.yaml" in {name.name for name in state.names}
    early = drill(memory, story, at=2)
    assert (early.cut, early.because) == (2, "asked")
    assert by_name(early)["last 3 decisions, reasons"].count == 0
    assert by_name(early)["goal"].host_count == 0


def test_a_packet_without_the_decisions_is_caught(memory, story):
    report = drill(
        memory, story, build=lambda task, budget: resume_packet(task.replace(decisions=()), budget).text
    )
    row = by_name(report)["last 3 decisions, reasons"]
    assert not report.ok
    assert (row.usual, row.count) == (0, 3)
    assert by_name(report)["goal"].usual == 1
    silent = drill(memory, story, build=lambda task, budget: "")
    assert [row.usual for row in silent.rows] == [0] * len(silent.rows)


def test_each_compaction_is_drilled_and_the_scores_are_kept_without_being_work(memory, story, clock):
    agent = memory.acting_as(agent="deployer", session="monday")
    agent.task_snapshot(story, "[STATE] …", label="before compaction")
    agent.task_snapshot(story, SUMMARY, label="after compaction", summarized=True)
    clock.forward(3600)
    before, seen = memory.task_get(story), memory.task_resume(story).text
    first, second = run(memory, story)
    assert [one.because for one in (first, second)] == ["compaction"] * 2
    assert (second.cut, second.last) == (before.seq - 1, before.seq)
    assert by_name(second)["goal"].host_count == 1
    kept = memory.drill_results(story)
    assert [(one.cut, one.rows, one.ok) for one in kept.results] == [
        (one.cut, one.rows, one.ok) for one in (second, first)
    ]
    # They are not work: nothing looks newer, and what a fresh context gets is the same.
    after = memory.task_get(story)
    assert (after.seq, after.updated_at) == (before.seq + 2, before.updated_at)
    assert memory.task_resume(story).text.split("\n", 1)[1] == seen.split("\n", 1)[1]
    assert (
        memory.task_recall("drill scored compaction rows").hits
        == memory.task_recall("drill scored compaction rows", at=before.seq).hits
    )
    assert run(memory, story) == (first, second)
    assert memory.task_get(story).seq == after.seq
    assert memory.verify().ok


def test_a_score_that_changed_is_another_result_and_workspaces_are_kept_apart(memory, story, clock):
    (found,) = run(memory, story)
    clock.forward(60)
    worse = found.replace(rows=tuple(row.replace(usual=0) for row in found.rows), ok=False)
    assert memory._keep_drill(worse)
    assert not memory._keep_drill(worse)
    results = memory.drill_results(story).results
    assert [one.ok for one in results] == [False, True]
    assert results[0].at > results[1].at
    assert memory.drill_results(workspace=None).results == results
    assert memory.acting_as(workspace="/elsewhere").drill_results().results == ()
    limited = memory.drill_results(story, limit=1)
    assert (len(limited.results), limited.left_out) == (1, 1)


@sqlite_only
def test_of_many_compactions_the_last_are_drilled(memory):
    task = memory.task_register("Long").task_id
    for number in range(MOST_CUTS + 2):
        memory.task_update(task, f"part {number}")
        memory.task_snapshot(task, "…", label="after compaction", summarized=True)
    assert [one.cut for one in run(memory, task)] == [2 * number + 2 for number in range(2, MOST_CUTS + 2)]


@sqlite_only
def test_without_a_compaction_the_cut_is_after_60_percent(memory):
    task = fill(memory)
    report = drill(memory, task)
    assert (report.cut, report.because) == (report.last * 60 // 100, "60 %")
    assert report.ok


@sqlite_only
def test_many_drills_add_up(memory, story):
    one = drill(memory, story)
    both = total([one, drill(memory, memory.task_register("Empty").task_id)])
    assert by_name(both)["goal"].count == 2
    assert by_name(both)["variables"].usual == by_name(one)["variables"].usual
    assert both.ok


def test_a_truth_is_judged_by_its_words_and_a_name_letter_by_letter():
    assert covers(REQUEST, f"… {REQUEST.upper()} …")
    assert not covers(REQUEST, "Deploy something to production")
    assert covers("a b", "x a b y")  # nothing but small words: as it is
    assert not covers("a b", "b a")
    assert has_exactly("login.py", "in src/login.py:")
    assert not has_exactly("login.py", "login.pyc")
