"""A key makes a write happen once: the same call again gives the first answer, another one is refused."""

from __future__ import annotations

import inspect

from ringbolt import TaskMemory
from tests.core.calls import OTHER_REGISTER, REGISTER, WRITES, prepare, with_other
from tests.support import newest, refused


def test_every_operation_that_takes_a_key_is_in_the_table():
    keyed = {
        name
        for name, method in inspect.getmembers(TaskMemory, inspect.isfunction)
        if "key" in inspect.signature(method).parameters and not name.startswith(("_", "memory_"))
        if name == method.__name__  # not another name for one of them
    }
    # What is received is known by its content (test_handoff.py); waits, goals, approvals and patterns have
    # tests of their own.
    goals = {
        "task_approve",
        "pattern_record",
        "goal_create",
        "goal_promote",
        "goal_decide",
        "goal_update",
        "goal_finish",
    }
    assert keyed == {
        *(*WRITES, *goals),
        *("task_register", "task_receive", "smart_wait"),
    }


def test_every_argument_of_every_operation_is_in_the_table():
    for call, (arguments, others) in WRITES.items():
        given = {*arguments, *others, "self", "task_id", "key", "token", "expect", "anchors", "query"}
        assert set(inspect.signature(getattr(TaskMemory, call)).parameters) <= given, call
    given = {*REGISTER, "self", "key", "workspace", "id"}
    assert set(inspect.signature(TaskMemory.task_register).parameters) == given


def new_task(memory) -> str:
    task = memory.task_register("Deploy", ["Build", "Push", "Run"], request="Deploy it, please.").task_id
    prepare(memory, task)
    return task


def test_the_same_call_again_gives_the_first_answer_and_writes_nothing(memory, clock):
    for call, (arguments, _) in WRITES.items():
        task, arguments = new_task(memory), with_other(memory, arguments)
        first = getattr(memory, call)(task, **arguments, key="k")
        events = list(memory.events(task))
        clock.forward(1000)
        assert getattr(memory, call)(task, **arguments, key="k") == first, call
        assert getattr(memory, call)(task, **arguments, key="k") == first, call
        assert list(memory.events(task)) == events, call


def test_another_process_that_repeats_the_call_gets_the_first_answer(memory, opened, store_url):
    again = opened(store_url)
    for call, (arguments, _) in WRITES.items():
        task, arguments = new_task(memory), with_other(memory, arguments)
        first = getattr(memory, call)(task, **arguments, key="k")
        # Whatever has happened in between.
        memory.task_set(task, "another", "value")
        count = memory.task_get(task).seq
        assert getattr(again, call)(task, **arguments, key="k") == first, call
        assert again.task_get(task).seq == count, call


def test_the_same_key_with_another_argument_is_refused(memory):
    for call, (arguments, others) in WRITES.items():
        task, arguments = new_task(memory), with_other(memory, arguments)
        getattr(memory, call)(task, **arguments, key="k")
        before = newest(memory)
        for name, value in others.items():
            with refused(None, "key_reused", naming="'k'"):
                getattr(memory, call)(task, **{**arguments, name: value}, key="k")
            assert newest(memory) == before, (call, name)


def test_the_same_key_for_another_operation_is_refused(memory, prepared):
    memory.task_update(prepared, "x", key="k")
    with refused(memory, "key_reused", naming="task_update"):
        memory.task_remember(prepared, "x", key="k")


def test_the_same_key_on_another_task_is_another_key(memory, prepared):
    other = memory.task_register("other").task_id
    first = memory.task_update(prepared, "x", key="k")
    second = memory.task_update(other, "x", key="k")
    assert (first.task_id, second.task_id) == (prepared, other)


def test_a_call_without_a_key_is_a_new_one_each_time(memory, prepared):
    assert memory.task_update(prepared, "x").seq + 1 == memory.task_update(prepared, "x").seq


def test_a_call_that_failed_did_not_use_up_its_key(memory, prepared):
    with refused(memory, "step_not_found"):
        memory.task_update(prepared, "x", step=99, key="k")
    assert memory.task_update(prepared, "x", step=1, key="k").seq


def test_a_task_is_registered_once(memory, clock):
    first = memory.task_register(**REGISTER, key="k")
    clock.forward(60)
    assert memory.task_register(**REGISTER, key="k") == first
    assert len(memory.task_list(status="all", workspace=None).tasks) == 1
    assert len(list(memory.events())) == 1


def test_the_same_key_for_another_task_is_refused(memory):
    memory.task_register(**REGISTER, key="k")
    for name, value in OTHER_REGISTER.items():
        with refused(memory, "key_reused"):
            memory.task_register(**{**REGISTER, name: value}, key="k")


def test_the_same_key_for_a_task_with_another_parent_is_refused(memory, task):
    memory.task_register(**REGISTER, key="k")
    with refused(memory, "key_reused"):
        memory.task_register(**{**REGISTER, "parent": task}, key="k")


def test_a_key_of_another_workspace_or_principal_is_another_key(memory):
    ids = {
        memory.task_register("x", key="k").task_id,
        memory.task_register("x", key="k", workspace="/other").task_id,
        memory.task_register("x", key="k", workspace=None).task_id,
        memory.acting_as(principal="someone").task_register("x", key="k").task_id,
    }
    assert len(ids) == 4


def test_a_bad_key_is_refused(memory, task):
    for key, code in [
        ("", "invalid_argument"),
        (" ", "invalid_argument"),
        (5, "invalid_argument"),
        ("x" * 201, "too_large"),
        ("\ud800", "invalid_text"),
        ("a\0", "invalid_text"),
    ]:
        with refused(memory, code):
            memory.task_update(task, "x", key=key)
        with refused(memory, code):
            memory.task_register("x", key=key)


def test_a_keyed_call_on_an_ended_task_that_ended_it_still_answers(memory, task):
    first = memory.task_finish(task, "a", key="k")
    memory.task_update(task, status="active")
    assert memory.task_finish(task, "a", key="k") == first
    assert memory.task_get(task).status == "active"


def test_a_keyed_call_on_the_current_task_is_repeated_on_the_task_that_it_was_about(memory, task):
    second = memory.task_register("second").task_id
    first = memory.task_finish(answer="a", key="k")
    assert first.task_id == second
    assert memory.task_get().id == task  # which is the current one by now
    assert memory.task_finish(answer="a", key="k") == first
    assert memory.task_get(task).status == "active"


def test_a_key_for_the_current_task_of_one_workspace_says_nothing_about_that_of_another(memory, task):
    there = memory.acting_as(workspace="/there")
    theirs = there.task_register("theirs").task_id
    assert memory.task_update(message="x", key="k").task_id == task
    assert there.task_update(message="x", key="k").task_id == theirs


def test_a_keyed_call_on_the_current_task_is_not_answered_with_that_of_another_agent(memory, task):
    memory.task_update(message="x", key="k")
    other = memory.acting_as(session="T")
    theirs = other.task_register("theirs").task_id
    assert other.task_update(message="y", key="k").task_id == theirs
