"""The library as somebody types it: short calls, and results that can be read."""

from __future__ import annotations

import inspect

import ringbolt
from ringbolt import TaskMemory
from ringbolt.operations import OPERATIONS, input_schema, parameters
from tests.support import refused


def test_one_positional_text_is_what_the_call_is_about(memory, task):
    memory.task_decide("Use ghcr.io", reasoning="the key works there")
    memory.task_exclude("docker.io", why="denied twice")
    memory.task_intent("Run the container", verify="docker ps")
    memory.task_set("port", 8080)
    memory.task_remember("The server has two free ports")
    memory.task_note("Redis stays", type="decision", why="it is there")
    memory.task_log_action("Built the image", type="cli")
    memory.task_update("The image is built")
    memory.task_plan(["Build", "Push", "Run", "Tell"])
    known = memory.task_get(task)
    assert [entry.data["choice"] for entry in known.decisions] == ["Use ghcr.io", "Redis stays"]
    assert known.exclusions[0].summary == "docker.io"
    assert known.variables == {"port": 8080}
    assert [step.title for step in known.steps] == ["Build", "Push", "Run", "Tell"]
    assert memory.task_ask("what is the port?").text
    memory.task_finish("It runs at https://shop.example.")
    assert memory.task_get(task).answer == "It runs at https://shop.example."


def test_two_positional_texts_are_the_task_and_what_the_call_is_about(memory, task):
    other = memory.task_register("Other").task_id
    memory.task_decide(task, "Use ghcr.io")
    memory.task_decide(task, choice="Use podman")
    memory.task_set(task, "port", 8080)
    memory.task_set(task, "empty", value=None)
    memory.task_update(task, "Hello")
    assert len(memory.task_get(task).decisions) == 2
    assert memory.task_get(task).variables == {"port": 8080, "empty": None}
    assert memory.task_get(other).decisions == ()


def test_a_task_id_alone_is_never_taken_for_a_text(memory, task):
    for name in ("task_decide", "task_exclude", "task_intent", "task_snapshot", "task_receipt"):
        with refused(memory, "invalid_argument"):
            getattr(memory, name)(task)
        with refused(memory, "invalid_argument"):
            getattr(memory, name)(task_id=task)
    memory.task_update(task, status="paused")
    assert memory.task_get(task).status == "paused"
    assert memory.task_get(task).messages == 0


def test_what_is_needed_is_needed_on_every_surface():
    for name, needed in {"task_decide": "choice", "task_exclude": "what", "task_intent": "what"}.items():
        assert input_schema(name)["required"] == [needed]


def test_one_word_for_one_thing():
    for name in OPERATIONS:
        words = {parameter.name for parameter in parameters(name)}
        assert not words & {"item", "items", "subtask", "subtask_id"}, name
        assert not {"type", "kind"} <= words, name


def test_help_shows_the_real_signature():
    signature = inspect.signature(TaskMemory.task_decide)
    assert list(signature.parameters)[:3] == ["self", "task_id", "choice"]
    assert "What was chosen." in (TaskMemory.task_decide.__doc__ or "")


def test_the_module_lists_its_public_names_and_nothing_else():
    assert dir(ringbolt) == sorted(ringbolt.__all__)
    assert all(hasattr(ringbolt, name) for name in dir(ringbolt))


def test_results_print_readably(memory, task):
    decided = memory.task_decide("Use ghcr.io", reasoning="the key works there")
    assert str(decided) == f"Task {task} #2: active, 0 of 3 steps done, next s1."
    assert repr(decided).startswith("Written(task_id=")
    assert "None" not in repr(decided)
    answer = memory.task_ask("What is next?")
    assert str(answer) == answer.text
    assert str(memory.task_get(task)).splitlines()[1:] == [
        "  [ ] s1  Build",
        "  [ ] s2  Push",
        "  [ ] s3  Run",
    ]
    assert str(memory.task_list()).startswith(f"{task}  Deploy: ")
    assert str(memory.task_resume(task)) == memory.task_resume(task).text
    (entry,) = memory.task_get(task).decisions
    assert str(entry) == "#2 decision: Use ghcr.io (the key works there)"
    assert str(memory.task_thread(task).events[1]).startswith("#2 2026-03-01T12:00:00.000Z decision: Use")
    assert str(memory.task_recall("ghcr.io")).startswith(f"{task}#2 decision")
