"""A to-do list from elsewhere becomes the plan: statuses too, in one event, and only if something is new."""

from __future__ import annotations

import pytest

from ringbolt.model.types import Step
from tests.support import refused


def listed(*steps: tuple[str, str], ids: bool = False) -> list[dict[str, str]]:
    return [
        {"title": title, "status": status, **({"id": str(number)} if ids else {})}
        for number, (title, status) in enumerate(steps)
    ]


def live(memory, task: str) -> list[tuple[str, str]]:
    return [(item.title, item.status) for item in memory.task_get(task).steps if item.dropped_in is None]


@pytest.fixture
def task(memory) -> str:
    return memory.task_register("Release").task_id


def test_a_list_with_statuses_is_one_event(memory, task):
    written = memory.task_plan_sync(
        task, listed(("Build", "completed"), ("Push", "in_progress"), ("Tell", "pending"))
    )
    assert written.seq == 2
    assert (written.done, written.total, written.current, written.next) == (1, 3, "s2", "s3")
    assert live(memory, task) == [("Build", "completed"), ("Push", "active"), ("Tell", "pending")]
    found = memory.task_get(task)
    assert found.phase == "executing"
    assert found.plan_version == 1
    assert [item.basis for item in found.steps] == ["explicit"] * 3
    assert memory.verify().problems == ()


def test_the_same_list_again_writes_nothing(memory, task):
    steps = listed(("Build", "completed"), ("Push", "in_progress"))
    first = memory.task_plan_sync(task, steps)
    again = memory.task_plan_sync(task, steps)
    assert again.seq == first.seq == memory.task_get(task).seq


def test_a_new_status_is_not_a_new_plan_version(memory, task):
    memory.task_plan_sync(task, listed(("Build", "in_progress"), ("Push", "pending")))
    memory.task_plan_sync(task, listed(("Build", "completed"), ("Push", "in_progress")))
    found = memory.task_get(task)
    assert found.plan_version == 1
    assert live(memory, task) == [("Build", "completed"), ("Push", "active")]
    assert memory.task_event(task, found.seq).type == "step.updated"


def test_several_steps_can_be_active_at_once(memory, task):
    memory.task_plan_sync(task, listed(("A", "in_progress"), ("B", "in_progress"), ("C", "pending")))
    memory.task_plan_sync(task, listed(("A", "in_progress"), ("B", "in_progress"), ("C", "in_progress")))
    assert [status for _, status in live(memory, task)] == ["active"] * 3


def test_what_the_list_leaves_out_becomes_a_tombstone_but_what_is_done_stays_done(memory, task):
    memory.task_plan_sync(task, listed(("Build", "completed"), ("Push", "pending"), ("Tell", "pending")))
    memory.task_plan_sync(task, listed(("Tell", "pending"), ("Sign", "pending")))
    found: dict[str, Step] = {item.title: item for item in memory.task_get(task).steps}
    assert (found["Build"].status, found["Build"].dropped_in) == ("completed", 2)
    assert (found["Push"].status, found["Push"].dropped_in) == ("cancelled", 2)
    assert [item.title for item in memory.task_get(task).steps][:2] == ["Tell", "Sign"]
    assert (memory.task_get(task).done, memory.task_get(task).total) == (1, 3)
    assert memory.verify().problems == ()


def test_a_step_is_known_again_by_the_lists_own_id_while_it_is_open(memory, task):
    memory.task_plan_sync(task, listed(("Build", "completed"), ("Push", "pending"), ids=True))
    names = {item.title: item.id for item in memory.task_get(task).steps}
    memory.task_plan_sync(task, listed(("Another list", "pending"), ("Push it", "in_progress"), ids=True))
    found = {item.title: item.id for item in memory.task_get(task).steps}
    assert found["Push it"] == names["Push"]
    assert found["Build"] == names["Build"]
    assert found["Another list"] not in names.values()


def test_two_steps_of_one_title_stay_two(memory, task):
    memory.task_plan_sync(
        task, listed(("Run tests", "completed"), ("Fix", "pending"), ("Run tests", "pending"))
    )
    memory.task_plan_sync(
        task, listed(("Run tests", "completed"), ("Fix", "completed"), ("Run tests", "completed"))
    )
    assert [status for _, status in live(memory, task)] == ["completed"] * 3
    assert len(memory.task_get(task).steps) == 3


def test_statuses_of_a_list_are_explicit_and_are_not_overruled_by_inference(memory, task):
    memory.task_plan_append(task, ["Build the image", "Push the image"])
    memory.task_update(task, "Step 1 is done.")
    assert memory.task_get(task).steps[0].basis == "inferred"
    memory.task_plan_sync(task, listed(("Build the image", "pending"), ("Push the image", "pending")))
    memory.task_update(task, "Step 1 is done. Moving on to step 2.")
    assert [(item.status, item.basis) for item in memory.task_get(task).steps] == [
        ("pending", "explicit")
    ] * 2


def test_a_list_that_is_none_is_refused_and_changes_nothing(memory, task):
    for items, code in [
        ([{"status": "pending"}], "invalid_plan"),
        ([{"title": " "}], "invalid_plan"),
        ([{"title": 3}], "invalid_plan"),
        ([7], "invalid_plan"),
        ("Build", "invalid_argument"),
        ([{"title": "a", "status": "somehow"}], "unknown_word"),
    ]:
        with refused(memory, code):
            memory.task_plan_sync(task, items)


def test_a_key_repeats_the_first_result(memory, task):
    steps = listed(("Build", "pending"))
    first = memory.task_plan_sync(task, steps, key="k")
    memory.task_plan_sync(task, listed(("Build", "completed")))
    assert memory.task_plan_sync(task, steps, key="k") == first
