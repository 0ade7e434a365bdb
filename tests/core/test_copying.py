"""Copying a store: to another engine, place or tenant, and back."""

from __future__ import annotations

from uuid import uuid4

import pytest

from ringbolt import copy_store
from tests.support import contents


@pytest.fixture(params=["sqlite", "postgres"])
def other_url(request, tmp_path):
    """The URL of an empty store on each engine, whatever the engine of the first one is."""
    if request.param == "sqlite":
        return f"sqlite://{tmp_path}/other.db"
    return f"{request.getfixturevalue('postgres_url')}&tenant={uuid4().hex}"


@pytest.fixture
def lived(memory, clock):
    """A store with a past: plans, entries, claims, undone and finished work, and text of every kind."""
    first = memory.task_register("Deploy", ["Build", "Push", "Run"], request="Grüße 🚀", key="k1")
    task = first.task_id
    clock.forward(1)
    memory.task_update(task, "built 100%", step=1, step_status="completed", key="k2")
    memory.task_decide(task, title="Registry", choice="ghcr", reasoning="the key works there")
    memory.task_remember(task, "a fact", tags=["x"], data={"n": [1, 2.5, None, "é"]})
    memory.task_undo(task, memory.task_set(task, "version", "v1").seq)
    action = memory.task_log_action(task, "docker run", type="cli", status="started")
    memory.task_log_action(task, action=action.seq, status="failed", error={"message": "no"})
    memory.task_claim(task, item="push", lease_seconds=60)
    clock.forward(30)
    memory.task_heartbeat(task, item="push")
    clock.forward(1)
    child = memory.task_register("Part", parent=task, tags=["child"]).task_id
    memory.task_update(child, "done", status="completed")
    return memory


def exported(memory, path):
    memory.export_events(path)
    return path.read_bytes()


def test_there_and_back_gives_equal_exports(lived, opened, new_store_url, other_url, tmp_path):
    other, back = opened(other_url), opened(new_store_url())
    before = exported(lived, tmp_path / "before")
    there = copy_store(lived, other)
    assert there.ok
    assert there.copied == there.events == sum(1 for _ in lived.events())
    assert copy_store(other, back).ok
    assert exported(other, tmp_path / "other") == before
    assert exported(back, tmp_path / "back") == before
    assert contents(back) == contents(lived) == contents(other)


def test_a_second_copy_brings_what_is_new_and_nothing_twice(lived, opened, other_url, clock):
    other = opened(other_url)
    copy_store(lived, other)
    assert copy_store(lived, other).copied == 0
    clock.forward(1)
    lived.task_register("One more")
    lived.task_update(lived.task_list(status="all", text="Deploy").tasks[0].id, "more")
    again = copy_store(lived, other)
    assert (again.ok, again.copied) == (True, 2)
    assert contents(other) == contents(lived)


def test_a_copy_that_is_cut_short_goes_on_where_it_was(memory, opened, other_url, monkeypatch):
    monkeypatch.setattr("ringbolt.core.copying.PAGE", 10)
    for number in range(3):
        task = memory.task_register(f"Task {number}").task_id
        for step in range(25):
            memory.task_update(task, f"step {step}")
    other = opened(other_url)
    told = []

    def cut(done, wanted):
        told.append((done, wanted))
        if len(told) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_store(memory, other, cut)
    assert told[-1][1] == 78
    rest = copy_store(memory, other)
    assert rest.ok
    assert rest.copied == 78 - told[-1][0]
    assert contents(other) == contents(memory)


def test_what_the_target_did_on_its_own_is_neither_lost_nor_overwritten(lived, opened, other_url):
    other = opened(other_url)
    copy_store(lived, other)
    task = lived.task_list(status="all", text="Deploy").tasks[0].id
    lived.task_update(task, "here")
    other.task_update(task, "there")
    own = other.task_register("Of its own").task_id
    kept = contents(other)
    report = copy_store(lived, other)
    assert not report.ok
    assert report.diverged == (task,)
    assert report.others == 1
    assert contents(other) == kept
    assert own in {card.id for card in other.task_list().tasks}


def test_a_target_that_is_ahead_is_left_as_it_is(lived, opened, other_url):
    other = opened(other_url)
    copy_store(lived, other)
    task = lived.task_list(status="all", text="Deploy").tasks[0].id
    other.task_update(task, "further")
    report = copy_store(lived, other)
    assert (report.ok, report.copied, report.diverged) == (False, 0, (task,))


def test_both_sides_of_a_conflict_are_copied_as_the_two_tasks_they_are(
    lived, opened, new_store_url, other_url, tmp_path
):
    second = opened(new_store_url())
    copy_store(lived, second)
    task = lived.task_list(status="all", text="Deploy").tasks[0].id
    for number in range(3):
        lived.task_update(task, f"here {number}")
    for number in range(9):
        second.task_update(task, f"there {number}")
    second.export_events(tmp_path / "second")
    assert lived.import_events(tmp_path / "second").conflicts
    other = opened(other_url)
    assert copy_store(lived, other).ok
    assert contents(other) == contents(lived)
    # And again, now that both have grown: the longer side must not be taken for the other's future.
    for card in lived.task_list(status="all", text="Deploy").tasks:
        lived.task_update(card.id, "on")
    assert copy_store(lived, other).ok
    assert contents(other) == contents(lived)


def test_leases_that_were_renewed_are_as_long_in_the_copy(lived, opened, other_url):
    other = opened(other_url)
    copy_store(lived, other)
    task = lived.task_list(status="all", text="Deploy").tasks[0].id
    assert other.task_get(task).claims == lived.task_get(task).claims
