"""The YAML state and the one-line state."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringbolt.packet import state, tokens
from tests.packet.golden import golden
from tests.packet.payloads import UNSEEN, hostile
from tests.packet.tasks import cook, deployment, long_plan, recipes
from tests.support import Clock, open_memory, refused


def read(text: str) -> dict:
    return yaml.load(text, Loader=yaml.CSafeLoader)


def test_a_state_that_a_reader_can_judge(memory):
    task = deployment(memory)
    text = memory.task_state(task)
    assert text == golden("state.yaml", text, task=task)


def test_the_state_has_the_shape_that_other_agents_know(memory):
    found = read(memory.task_state(deployment(memory)))
    assert found["task"]["goal"].startswith("Deploy coursefolio v1.2.3")
    assert found["task"]["status"] == "executing"
    assert found["plan"] == {"version": 1}
    assert [step["id"] for step in found["subtasks"]] == ["build", "push", "connect", "run", "check"]
    assert found["subtasks"][0] == {
        "id": "build", "status": "completed", "summary": "Image built as v1.2.3", "evidence": "verified",
    }  # fmt: skip
    assert found["subtasks"][4]["depends_on"] == ["run"]
    assert found["decisions_log"] == ["Registry: ghcr.io (the deploy key already works there)"]
    assert found["errors_encountered"] == [
        {"error": "SSH timed out once", "subtask": "connect", "resolution": "A second try worked"},
        {"error": "docker pull: no such host", "subtask": "run"},
    ]
    assert found["workspace_changes"]["files_created"] == 1
    assert found["workspace_changes"]["files_modified"] == 1
    assert found["variables"] == {"version": "v1.2.3", "replicas": 3}
    assert found["blockers"] == ["no route to the registry"]
    assert found["exclusions"] == ["Pushing to docker.io: the account has no rights there"]


def test_a_write_is_in_the_next_state(memory, task):
    for number in range(3):
        memory.task_set(task, "count", number)
        assert read(memory.task_state(task))["variables"]["count"] == number


def test_the_states_limits_cut_the_view_and_not_the_store(memory):
    task = memory.task_register("x", [f"Step {number} " + "long " * 60 for number in range(1, 16)]).task_id
    for number in range(30):
        memory.task_decide(task, choice=f"choice {number}")
        memory.task_remember(task, f"error {number}", type="error")
    found = read(memory.task_state(task))
    assert len(found["subtasks"]) == 15
    assert all(len(step["summary"]) <= 100 for step in found["subtasks"])
    assert found["decisions_log"][-1] == "choice 29"
    assert len(found["decisions_log"]) <= 10
    assert [row["error"] for row in found["errors_encountered"]] == [f"error {n}" for n in range(25, 30)]
    assert len(memory.task_get(task).decisions) == 30


def test_a_long_plan_is_a_count_the_current_step_and_the_next_three(memory):
    text = memory.task_state(long_plan(memory, 100))
    found = read(text)
    assert [step["id"] for step in found["subtasks"]] == ["s51", "s52", "s53", "s54"]
    statuses = ["in_progress", "pending", "pending", "pending"]
    assert [step["status"] for step in found["subtasks"]] == statuses
    assert "subtasks:  # 4 of 100\n  # completed: 50, in_progress: 1, pending: 49\n" in text
    assert found["task"]["progress"] == "50 of 100"


def test_in_a_long_plan_what_went_wrong_is_shown_and_everything_is_counted(memory):
    task = long_plan(memory, 200)
    memory.task_step_update(task, 3, status="active")
    memory.task_step_update(task, 3, status="failed", note="no rights")
    memory.task_step_update(task, 150, active_issue="the key has expired")
    memory.task_step_update(task, 199, status="skipped")
    text = memory.task_state(task)
    shown = {step["id"]: step for step in read(text)["subtasks"]}
    assert shown["s3"]["status"] == "failed"
    assert shown["s150"]["active_issue"] == "the key has expired"
    counted = re.search(r"subtasks:  # (\d+) of 200\n  # (.*)", text)
    assert int(counted[1]) == len(shown)
    assert sum(int(number) for number in re.findall(r": (\d+)", counted[2])) == 200
    assert "failed: 1" in counted[2]
    assert "skipped: 1" in counted[2]


SOURCE_STATE = """
task:
  goal: "Migrate database from MySQL to PostgreSQL"
  status: executing
subtasks:
  - id: backup
    status: completed
    summary: "Full backup at /artifacts/backup.sql (2.3GB, verified checksum)"
  - id: schema-convert
    status: in_progress
    summary: "Converting 47 tables. 31 done. Blocked on ENUM type mapping."
    active_issue: "MySQL ENUM needs custom type mapping for PostgreSQL"
  - id: data-migrate
    status: pending
    summary: "Move the data"
    depends_on: [schema-convert]
decisions_log:
  - "Using pgloader for bulk data transfer (handles type coercion)"
  - "Keeping ENUM as VARCHAR with CHECK constraints (simpler than custom types)"
errors_encountered:
  - subtask: schema-convert
    error: "SPATIAL index not supported in pgloader"
    resolution: "Manual post-migration index creation queued"
user_instructions:
  - "Use PostgreSQL CHECK constraints for enums"
"""


def test_the_example_of_the_source_comes_out_as_it_shows_it(memory):
    task = memory.task_register(
        "Migrate",
        [
            {"id": "backup", "title": "Back the database up"},
            {"id": "schema-convert", "title": "Convert the schema"},
            {"id": "data-migrate", "title": "Move the data", "depends_on": ["schema-convert"]},
        ],
        goal="Migrate database from MySQL to PostgreSQL",
    ).task_id
    memory.task_update(
        task, "Full backup at /artifacts/backup.sql (2.3GB, verified checksum)", step="backup",
        step_status="completed",
    )  # fmt: skip
    memory.task_step_update(
        task, "schema-convert", status="in_progress",
        active_issue="MySQL ENUM needs custom type mapping for PostgreSQL",
    )  # fmt: skip
    memory.task_update(
        task, "Converting 47 tables. 31 done. Blocked on ENUM type mapping.", step="schema-convert"
    )
    memory.task_decide("Using pgloader for bulk data transfer", reasoning="handles type coercion")
    memory.task_decide(
        "Keeping ENUM as VARCHAR with CHECK constraints", reasoning="simpler than custom types"
    )
    error = memory.task_remember(
        task, "SPATIAL index not supported in pgloader", type="error", step="schema-convert"
    ).seq
    memory.task_remember(task, "Manual post-migration index creation queued", type="context", resolves=error)
    memory.acting_as(channel="user").task_remember(
        task, "Use PostgreSQL CHECK constraints for enums", type="user_instruction"
    )
    found = read(memory.task_state(task))
    for name, value in read(SOURCE_STATE).items():
        if isinstance(value, dict):
            assert value.items() <= found[name].items()
        else:
            assert found[name] == value


def test_the_message_that_completes_a_step_becomes_its_summary_in_whole_words(memory, task):
    memory.task_update(task, "Step 1 done — image built as v1.2.3")
    memory.task_update(task, "word " * 60, step=2, step_status="completed")
    first, second, _ = read(memory.task_state(task))["subtasks"]
    assert (first["status"], first["summary"]) == ("completed", "image built as v1.2.3")
    assert len(second["summary"]) <= 100
    assert set(second["summary"].removesuffix("…").split()) == {"word"}


def test_an_error_that_was_resolved_says_how(memory, task):
    plain = memory.task_remember(task, "slow", type="error").seq
    memory.task_remember(task, "denied", type="error", data={"resolution": "a new key"})
    memory.task_remember(task, resolves=plain)
    slow, denied = read(memory.task_state(task))["errors_encountered"]
    assert (slow["resolution"], denied["resolution"]) == ("resolved", "a new key")


@pytest.mark.parametrize(
    "word", ["NO", "yes", "1e3", "2026-01-01", "null", "~", "0x10", "1_000", "", "a: b", "- x"]
)
def test_text_that_looks_like_another_type_stays_text(memory, word):
    task = memory.task_register(word or "x").task_id
    memory.task_set(task, word or "x", word)
    found = read(memory.task_state(task))
    assert found["task"]["name"] == (word or "x")
    assert found["variables"] == {word or "x": word}


def test_the_class_of_each_text_stands_behind_it(memory):
    task = memory.task_register("x", ["A"]).task_id
    memory.acting_as(channel="web").task_update(task, next="go", blockers=["rain"])
    memory.acting_as(channel="tool").task_set(task, "v", "1")
    text = memory.task_state(task)
    assert '  next: "go"  # #2w' in text
    assert '  - "rain"  # #2w' in text
    assert '  "v": "1"  # #3t' in text
    assert '  - id: "s1"  # #1a' in text


@settings(suppress_health_check=list(HealthCheck))
@given(recipes(), st.integers(300, 1500))
def test_any_state_is_yaml_within_its_budget(tmp_path_factory, recipe, budget):
    with open_memory(str(tmp_path_factory.mktemp("state") / "store.db"), Clock()) as memory:
        snapshot = memory._snapshot(cook(memory, recipe))
    for count in {tokens.estimate, tokens.counter(True)}:
        text = state.yaml_state(snapshot, budget, count=count)
        assert count(text) <= budget
        assert read(text)["task"]["id"] == snapshot.id
        assert text == state.yaml_state(snapshot, budget, count=count)
    line = state.inline_state(snapshot)
    assert line.count("\n") == 0
    assert line.count(" | ") == 3
    assert not UNSEEN.search(line)


def test_a_hostile_text_is_only_a_value(memory):
    for text in hostile(150):
        is_only_a_value(memory, text)


def is_only_a_value(memory, text):
    name = text.strip()[:200] or "x"
    task = memory.task_register(name, [name], request=name).task_id
    memory.task_decide(task, choice=name)
    memory.task_set(task, name[:100], text)
    memory.task_update(task, next=name, blockers=[name])
    found = read(memory.task_state(task))
    assert set(found) <= {"task", "plan", "subtasks", "decisions_log", "blockers", "variables"}
    assert len(found["subtasks"]) == len(found["decisions_log"]) == len(found["blockers"]) == 1
    line = memory.task_line(task)
    assert re.fullmatch(
        r"\[STATE\] Task: [^|\n]* \| Phase: [^|\n]* \| Next: [^|\n]* \| Last decision: [^|\n]*", line
    )


def test_a_line_that_a_reader_can_judge(memory):
    task = deployment(memory)
    text = f"{memory.task_line(task)}\n"
    assert text == golden("line.txt", text)


def test_the_line(memory, task):
    assert memory.task_line(task) == (
        "[STATE] Task: Deploy #1a | Phase: planned 0/3 | Next: Build #1a | Last decision: none"
    )
    memory.task_decide(task, choice="A | B", reasoning="r")
    memory.task_update(task, step=1, step_status="active", next="push | pull")
    assert memory.task_line(task) == (
        "[STATE] Task: Deploy #1a | Phase: executing 0/3 | Next: push &#124; pull #3a"
        " | Last decision: A &#124; B #2a"
    )


@pytest.mark.parametrize("budget", [299, 1501, "x"])
def test_a_budget_out_of_bounds_is_refused(memory, task, budget):
    with refused(memory, "invalid_argument", naming="budget"):
        memory.task_state(task, budget=budget)
