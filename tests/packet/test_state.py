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
        "id": "build", "status": "completed", "summary": "Build the Docker image", "evidence": "verified",
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
    assert [step["status"] for step in found["subtasks"]] == ["running", "pending", "pending", "pending"]
    assert "# completed: 50" in text
    assert found["task"]["progress"] == "50 of 100"


@pytest.mark.parametrize(
    "word", ["NO", "yes", "1e3", "2026-01-01", "null", "~", "0x10", "1_000", "", "a: b", "- x"]
)
def test_a_text_stays_a_text_whatever_it_looks_like(memory, word):
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
