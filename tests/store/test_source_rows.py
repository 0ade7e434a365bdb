"""The SQL of the source documents gives rows that are of use, not only rows that are valid."""

from __future__ import annotations

import json

import pytest

from ringbolt.model.rules import ENTRY_TYPES
from tests.support import rows


@pytest.fixture
def query(memory, store_url):
    """A function that runs SQL on the store as another client would."""
    return lambda sql, *args: rows(store_url, sql, *args)


def test_dropped_steps_are_kept_apart_from_the_plan(memory, query, task):
    memory.task_plan_replace(task, ["Build", "Ship"], reason="no registry")
    assert [row["title"] for row in query("SELECT title FROM plan_items ORDER BY ordinal")] == [
        "Build",
        "Ship",
    ]
    known = {"pending", "active", "completed", "failed", "skipped"}
    assert {row["status"] for row in query("SELECT status FROM plan_items")} <= known
    dropped = query("SELECT title, status, dropped_in FROM dropped_plan_items ORDER BY ordinal")
    assert [tuple(row.values()) for row in dropped] == [("Push", "cancelled", 2), ("Run", "cancelled", 2)]


def test_a_cancelled_step_has_a_status_that_the_source_knows(memory, query, task):
    memory.task_step_update(task, 2, status="cancelled")
    assert {row["status"] for row in query("SELECT status FROM plan_items")} == {"pending", "skipped"}


def test_a_wait_speaks_as_the_system_and_its_result_is_bare(memory, query, task, tmp_path):
    wait = memory.smart_wait("manual: the gate opens", task_id=task, timeout=60, block=False)
    memory.wait_cancel(wait.wait_id)
    started, ended = query("SELECT role, content FROM task_messages WHERE msg_type = 'wait' ORDER BY id")
    assert (started["role"], ended["role"]) == ("system", "system")
    assert ended["content"].startswith("[Wait cancelled]")
    (job,) = query("SELECT status, result_message FROM wait_jobs")
    assert job["status"] == "cancelled"
    assert not job["result_message"].startswith("[")


def test_the_request_is_the_users_and_every_message_says_something(memory, query, task):
    memory.task_step_update(task, 1, status="completed")
    memory.task_update(task, status="paused")
    memory.task_plan_append(task, ["Tell"])
    memory.task_finish(task)
    memory.task_register("Nameless")
    found = query("SELECT role, content, msg_type FROM task_messages")
    said = {(row["role"], row["content"], row["msg_type"]) for row in found}
    assert said == {
        ("user", "Deploy it, please.", "lifecycle"),
        ("agent", "Build: completed", "progress"),
        ("agent", "Task: paused", "progress"),
        ("agent", "Steps were added to the plan", "plan"),
        ("agent", "Task: completed", "lifecycle"),
        ("agent", "Task registered: Nameless", "lifecycle"),
    }


def test_a_request_from_a_tool_is_not_the_users(memory, query):
    memory.acting_as(channel="tool").task_register("Fetch", request="Fetch it.")
    (row,) = query("SELECT role FROM task_messages")
    assert row["role"] == "agent"


def test_an_entry_has_summary_detail_tags_and_relevance(memory, query, task):
    memory.task_decide(
        task, choice="pgloader", title="Bulk transfer", reasoning="it handles type coercion",
        options=["pgloader", "manual SQL"], risks="SPATIAL indexes", if_wrong="dump again", item=2,
    )  # fmt: skip
    memory.task_exclude(task, what="push to docker.io", why="no rights", symptom="denied")
    memory.task_remember(task, "The API is 47 times deprecated", type="tool_result", relevance_to=["s3"])
    sql = "SELECT summary, detail, tags, relevance_to FROM memory_entries ORDER BY id"
    decision, exclusion, result = query(sql)
    assert decision["summary"] == "Bulk transfer: pgloader"
    assert decision["detail"].splitlines() == [
        "it handles type coercion",
        'Options: ["pgloader","manual SQL"]',
        "Risks: SPATIAL indexes",
        "If wrong: dump again",
    ]
    assert decision["relevance_to"] == "s2"
    assert "pgloader" in decision["tags"].split(",")
    assert (exclusion["summary"], exclusion["detail"]) == (
        "push to docker.io",
        "no rights\nSymptom: denied",
    )
    assert "docker.io" in exclusion["tags"].split(",")
    assert (result["relevance_to"], "api" in result["tags"].split(",")) == ("s3", True)


def test_given_tags_are_not_mixed_with_derived_words(memory, query, task):
    memory.task_remember(task, "The registry is slow", tags=["net"])
    assert query("SELECT tags FROM memory_entries") == [{"tags": "net"}]
    (entry,) = memory.task_history(task, type="discovery")
    assert entry.tags == ("net",)


def test_an_event_carries_its_payload_and_a_correlation_id(memory, query, task):
    memory.task_update(task, "Step 1 done", status="paused")
    memory.task_step_update(task, 2, status="active", note="going")
    memory.task_finish(task, "It runs.", message="over")
    found = query("SELECT event_type, data, correlation_id FROM events ORDER BY id")
    assert all(row["correlation_id"] for row in found)
    data = {row["event_type"]: json.loads(row["data"]) for row in found}
    assert data["task.registered"] == {
        "name": "Deploy", "message": "Deploy it, please.", "plan": ["Build", "Push", "Run"],
    }  # fmt: skip
    assert data["task.updated"]["message"] == "Step 1 done"
    assert data["task.updated"]["status"] == "paused"
    assert data["step.updated"] == {"message": "going", "step": "s2", "step_status": "active"}
    assert data["task.finished"]["message"] == "over"


def test_a_message_and_what_is_inferred_from_it_belong_together(memory, query, task):
    memory.task_update(task, "Step 1 done: the image is built.")
    sql = "SELECT event_type, correlation_id FROM events WHERE event_type <> 'task.registered' ORDER BY id"
    message, inferred = query(sql)
    assert (message["event_type"], inferred["event_type"]) == ("message", "step.inferred")
    assert message["correlation_id"] == inferred["correlation_id"]


def test_every_type_of_entry_is_in_the_view(memory, query, task):
    for kind in ENTRY_TYPES:
        if kind == "variable":
            memory.task_set(task, "port", 8080)
        else:
            memory.task_remember(task, f"a {kind} of use", type=kind)
    found = {row["entry_type"] for row in query("SELECT entry_type FROM memory_entries")}
    assert found == set(ENTRY_TYPES)


def test_an_adopted_task_is_one_group_with_its_plan(memory, query):
    memory.task_register("Deploy", ["Build"], request="Deploy it.")
    memory.task_plan(["Build", "Push"])
    groups = query("SELECT correlation_id, count(*) AS events FROM events GROUP BY correlation_id ORDER BY 1")
    assert [row["events"] for row in groups] == [1, 1]


def test_an_id_of_the_caller_groups_what_it_writes(memory, query, task):
    turn = memory.acting_as(correlation="turn-7")
    turn.task_update(task, "Step 1 done")
    turn.task_decide(task, "Use ghcr.io")
    rows = query("SELECT event_type FROM events WHERE correlation_id = 'turn-7' ORDER BY id")
    assert [row["event_type"] for row in rows] == ["message", "step.inferred", "decision"]
