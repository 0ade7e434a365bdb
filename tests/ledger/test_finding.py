"""Finding the task that a call is about: by id, by prefix, or the current one; and nothing else's."""

from __future__ import annotations

import os
import subprocess
from itertools import cycle

import pytest

from tests.support import refused


def ids_of(*names: str):
    """Randomness that gives these ids, one after the other."""
    letters = "0123456789abcdefghjkmnpqrstvwxyz"
    given = cycle([bytes(letters.index(letter) for letter in name) for name in names])
    return lambda size: next(given)


# --- by id ------------------------------------------------------------------------------------------


@pytest.fixture
def twins(opened, store_url):
    """A memory with the tasks abc0100000 and abc2222222."""
    memory = opened(store_url, random=ids_of("abc0100000", "abc2222222"))
    memory.task_register("first")
    memory.task_register("second")
    return memory


def test_a_task_is_found_by_its_id_in_any_case_by_a_prefix_and_with_look_alike_letters(twins):
    for given in [
        "abc0100000",
        "ABC0100000",
        " abc0100000\n",
        "abcOiOOOOo",  # O, o for zero, i for one
        "abc0L00000",
        "abc0",
        "ABCO",
        "abc0l",
    ]:
        assert twins.task_get(given).name == "first"
        assert twins.task_update(given, "found").task_id == "abc0100000"


@pytest.mark.parametrize("given", ["a", "abc", "ABC"])
def test_an_ambiguous_prefix_is_refused_and_the_candidates_are_listed(twins, given):
    for call in (twins.task_get, lambda name: twins.task_update(name, "x"), twins.task_thread):
        with refused(twins, "ambiguous_task", naming="abc2222222 (second)") as caught:
            call(given)
        assert caught.value.details["candidates"] == ["abc0100000", "abc2222222"]


def test_a_task_that_is_not_there_is_not_found(twins):
    for given in ["abd", "abc01000001", "abc0100001", "", " ", "u", "abc%", "_", "task-1"]:
        with refused(twins, "task_not_found"):
            twins.task_get(given)
        with refused(twins, "task_not_found"):
            twins.task_update(given, "x")


def test_an_id_that_is_taken_is_drawn_again(opened, store_url):
    memory = opened(store_url, random=ids_of("aaaaaaaaaa", "aaaaaaaaaa", "bbbbbbbbbb"))
    assert [memory.task_register("x").task_id for _ in range(2)] == ["aaaaaaaaaa", "bbbbbbbbbb"]


def test_a_task_is_found_from_any_workspace_and_session_by_its_id(memory, task):
    stranger = memory.acting_as(workspace="/elsewhere", session="T", agent="stranger")
    assert stranger.task_get(task[:8]).id == task


# --- the current one --------------------------------------------------------------------------------


def test_the_current_task_is_the_one_that_the_session_turned_to_last(memory):
    memory.task_register("first")
    second = memory.task_register("second").task_id
    assert memory.task_get().id == second
    assert memory.task_update(message="to the current one").task_id == second


def test_when_the_current_task_ends_the_one_before_is_current_again(memory):
    first = memory.task_register("first").task_id
    memory.task_register("second")
    memory.task_finish()
    assert memory.task_get().id == first


@pytest.mark.parametrize("status", ["waiting", "paused"])
def test_a_task_that_waits_or_is_paused_is_still_current(memory, task, status):
    memory.task_update(task, status=status)
    assert memory.task_get().id == task


def test_every_operation_works_on_the_current_task(memory, task):
    memory.task_plan_append(items=["more"])
    memory.task_plan_replace(plan=["Build", "Run"])
    memory.task_item_update(item=1, status="active")
    action = memory.task_log_action(summary="x", status="started").seq
    memory.task_log_append(action=action, content="x")
    memory.task_decide(choice="x")
    memory.task_exclude(what="x")
    memory.task_set(name="x", value=1)
    memory.task_remember(summary="x")
    memory.task_snapshot(content="x")
    memory.task_outcome(intent=memory.task_intent(what="x").seq, outcome="did")
    memory.task_claim()
    memory.task_heartbeat()
    memory.task_release()
    memory.task_focus()
    memory.task_link(target="a goal", kind="goal")
    memory.task_undo()
    assert memory.task_thread().task_id == task
    assert memory.task_drill_down().task.id == task
    assert len(memory.task_history(type="decision")) == 1
    assert len(memory.task_plans()) == 2
    memory.task_finish()
    assert memory.task_get(task).status == "completed"
    late = memory.task_update(message="cleaned up")
    assert (late.task_id, late.warnings) == (task, ("task is completed",))


def test_without_any_task_the_error_says_how_to_begin_one(memory):
    with refused(memory, "no_current_task", naming="task_register"):
        memory.task_get()


def test_without_a_session_the_only_open_task_of_the_workspace_is_current(memory, task):
    assert memory.acting_as(session="").task_get().id == task


def test_a_new_session_goes_on_with_the_only_open_task_of_its_workspace(memory, task):
    assert memory.acting_as(session="tomorrow").task_get().id == task


def test_without_a_session_the_task_worked_on_last_is_taken_and_the_reply_says_so(memory, task):
    second = memory.task_register("Second").task_id
    anybody = memory.acting_as(session="")
    assert anybody.task_get().id == second
    memory.task_update(task, "work")
    written = anybody.task_update(message="x")
    assert written.task_id == task
    assert "2 tasks are open here" in written.warnings[0]
    assert "it was worked on last" in written.warnings[0]


def test_a_paused_task_is_taken_only_where_no_other_is_open(memory, task):
    second = memory.task_register("Second").task_id
    memory.task_update(second, status="paused")
    anybody = memory.acting_as(session="")
    assert anybody.task_get().id == task
    memory.task_finish(task)
    assert anybody.task_get().id == second


def test_a_session_that_never_had_a_task_begins_one_when_it_writes(memory, task):
    memory.task_register("Second")
    tomorrow = memory.acting_as(session="tomorrow")
    written = tomorrow.task_update(message="x")
    assert "one was begun for it" in written.warnings[0]
    assert tomorrow.task_get().id == written.task_id
    assert not {event.text for event in memory.task_thread(task).events} & {"x"}


def test_an_archived_task_is_not_current_for_its_workspace(memory, task):
    memory.task_update(task, archived=True)
    with refused(memory, "no_current_task"):
        memory.acting_as(session="").task_get()


def test_a_goal_is_never_the_current_task(memory, task):
    memory.task_register("a goal", kind="goal")
    assert memory.task_get().id == task
    assert memory.acting_as(session="").task_get().id == task


# --- nothing leaks ----------------------------------------------------------------------------------


def test_sessions_in_one_workspace_have_each_their_own_task(memory, task):
    other = memory.acting_as(session="T")
    theirs = other.task_register("theirs").task_id
    assert (memory.task_get().id, other.task_get().id) == (task, theirs)
    memory.task_update(message="mine")
    other.task_update(message="theirs")
    assert [event.text for event in memory.task_thread(task, types=["message"]).events] == ["mine"]
    assert [event.text for event in memory.task_thread(theirs, types=["message"]).events] == ["theirs"]


def test_a_session_writes_to_no_task_of_no_session_unasked(memory):
    nobodys = memory.acting_as(session="").task_register("Nobody's").task_id
    assert memory.task_get().id == nobodys
    assert memory.task_update(message="mine").task_id != nobodys
    memory.task_focus(nobodys)
    memory.task_update(message="taken over")
    assert memory.task_thread(nobodys).events[-1].text == "taken over"


def test_workspaces_of_one_session_have_each_their_own_task(memory, task):
    there = memory.acting_as(workspace="/there")
    with refused(memory, "no_current_task"):
        there.task_get()
    theirs = there.task_register("theirs").task_id
    assert (memory.task_get().id, there.task_get().id) == (task, theirs)
    assert [card.id for card in there.task_list().tasks] == [theirs]
    assert [card.id for card in memory.task_list().tasks] == [task]


def test_workspaces_that_look_alike_are_two(memory, task):
    for place in ("/W", "/w/", "/w ", "/w/sub"):
        with refused(memory, "no_current_task"):
            memory.acting_as(workspace=place).task_get()


def test_the_worktrees_of_a_repository_are_workspaces_of_their_own(opened, store_url, tmp_path):
    main, feature = tmp_path / "main", tmp_path / "feature"
    main.mkdir()
    quiet = {"check": True, "capture_output": True, "env": {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}}
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", str(main)]
    subprocess.run([*git, "init", "--quiet"], **quiet)
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "first"], **quiet)
    subprocess.run([*git, "worktree", "add", "--quiet", str(feature)], **quiet)
    (main / "src").mkdir()

    here = opened(store_url, workspace=str(main / "src"))
    there = here.acting_as(workspace=str(feature))
    ours = here.task_register("on main").task_id
    with refused(here, "no_current_task"):
        there.task_get()
    theirs = there.task_register("on feature").task_id
    assert (here.task_get().id, there.task_get().id) == (ours, theirs)
    mine, other = here.task_get(ours), here.task_get(theirs)
    assert (mine.workspace, other.workspace) == (str(main), str(feature))
    assert mine.repository == other.repository == str(main / ".git")


def test_the_workspace_is_the_current_folder_by_default(opened, store_url, tmp_path, monkeypatch):
    folder = tmp_path / "plain"
    folder.mkdir()
    monkeypatch.chdir(folder)
    memory = opened(store_url, workspace="")
    assert memory.task_get(memory.task_register("here").task_id).workspace == str(folder)


def test_session_agent_and_principal_come_from_the_environment(opened, store_url, monkeypatch):
    monkeypatch.setenv("RINGBOLT_SESSION", "evening")
    monkeypatch.setenv("RINGBOLT_AGENT", "robot")
    monkeypatch.setenv("RINGBOLT_PRINCIPAL", "Ada")
    memory = opened(store_url, session=None, agent=None, principal=None)
    origin = memory.task_thread(memory.task_register("x").task_id).events[0].origin
    assert (origin.session, origin.agent, origin.principal, origin.channel) == (
        "evening",
        "robot",
        "Ada",
        "agent",
    )
