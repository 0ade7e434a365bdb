"""Whole tasks: registering, updating, reading, listing, finishing, focusing, linking."""

from __future__ import annotations

import json
from itertools import product

import pytest

from ringbolt.model import rules
from ringbolt.model.types import Written
from tests.support import NOON, newest, refused

# --- registering ------------------------------------------------------------------------------------


def test_a_new_task_is_active_and_has_a_short_id(memory):
    first = memory.task_register("Deploy", ["Build", "Push"])
    assert first == Written(
        task_id=first.task_id,
        seq=1,
        status="active",
        phase="planned",
        done=0,
        total=2,
        next="s1",
        steps=("s1", "s2"),
    )
    assert rules.normal_id(first.task_id) == first.task_id
    assert len(first.task_id) == 10


def test_many_tasks_are_active_at_once(memory):
    ids = {memory.task_register(f"Task {n}").task_id for n in range(20)}
    assert len(ids) == 20
    assert {card.id for card in memory.task_list(limit=100).tasks} == ids


def test_everything_that_a_task_is_registered_with_is_read_back(memory):
    goal = memory.task_register("The goal", kind="goal").task_id
    parent = memory.task_register("The parent").task_id
    registered = memory.task_register(
        "  Deploy \n",
        [{"id": "build", "title": "Build"}, {"id": "run", "title": "Run", "depends_on": ["build"]}],
        request="Deploy it,\n please. ",
        goal="It runs",
        context={"branch": "main", "numbers": [1, 2.5, None]},
        workspace="/elsewhere",
        parent=parent,
        acceptance=["health answers 200", {"check": "docker ps"}],
        approval_mode="manual",
        callback_url="https://example.org/done?x=1",
        metadata={"display": ":100", "nested": {"a": [1]}},
        tags=["deploy", "urgent", "deploy"],
        phase="planning",
        related_goal=goal,
    )
    task = memory.task_get(registered.task_id)
    assert task.name == "Deploy"
    assert task.request == "Deploy it,\n please. "
    assert task.goal == "It runs"
    assert task.context == {"branch": "main", "numbers": [1, 2.5, None]}
    assert (task.workspace, task.repository) == ("/elsewhere", None)
    assert task.parent == parent
    assert task.acceptance == ("health answers 200", {"check": "docker ps"})
    assert task.approval_mode == "manual"
    assert task.callback_url == "https://example.org/done?x=1"
    assert task.metadata == {"display": ":100", "nested": {"a": [1]}}
    assert task.tags == ("deploy", "urgent")
    assert (task.status, task.phase, task.kind) == ("active", "planning", "task")
    assert {(link.kind, link.target) for link in task.links} == {("parent", parent), ("goal", goal)}
    assert [item.id for item in task.steps] == ["build", "run"]
    assert (task.session, task.plan_version, task.seq) == ("S", 1, 1)
    assert json.loads(json.dumps(task.to_dict()))["name"] == "Deploy"


def test_a_task_with_nothing_but_a_name_has_plain_defaults(memory):
    task = memory.task_get(memory.task_register("Deploy").task_id)
    assert (task.phase, task.kind, task.approval_mode) == ("received", "task", "auto")
    assert (task.goal, task.request) == ("Deploy", None)
    assert (task.steps, task.plan_version, task.done, task.total) == ((), 0, 0, 0)
    assert (task.workspace, task.metadata, task.variables, task.left_out) == ("/w", {}, {}, {})
    assert task.answer is task.error is task.conflict_of is task.context is None


def test_the_goal_defaults_to_the_request(memory):
    task = memory.task_register("Deploy", request="Please deploy").task_id
    assert memory.task_get(task).goal == "Please deploy"


def test_the_request_stays_word_for_word_whatever_happens_to_the_task(memory):
    words = "  Deploy\r\n\tit — “please”, now!\u200b 😀 " + "x" * 100_000 + "\n\n"
    task = memory.task_register("Deploy", ["A"], request=words).task_id
    memory.task_update(task, "renaming", name="Other", goal="another goal")
    memory.task_plan_replace(task, ["B"])
    memory.task_finish(task, "done")
    assert memory.task_get(task).request == words


def test_a_goal_is_a_task_of_another_kind(memory):
    goal = memory.task_register("Grow", kind="goal").task_id
    assert memory.task_get(goal).kind == "goal"
    assert memory.task_list().tasks == ()
    assert [card.id for card in memory.task_list(kind="goal").tasks] == [goal]
    assert [card.id for card in memory.task_list(kind=None).tasks] == [goal]


def test_a_workspace_of_none_belongs_to_no_place(memory):
    task = memory.task_register("Anywhere", workspace=None).task_id
    assert memory.task_get(task).workspace is None
    assert memory.task_list().tasks == ()
    assert [card.id for card in memory.task_list(workspace=None).tasks] == [task]


def test_a_task_that_cannot_be_registered_leaves_nothing_behind(memory):
    for arguments, code in [
        ({"name": ""}, "invalid_argument"),
        ({"name": "x" * 501}, "too_large"),
        ({"approval_mode": "sometimes"}, "unknown_word"),
        ({"phase": "sleeping"}, "unknown_word"),
        ({"kind": "wish"}, "unknown_word"),
        ({"parent": "zzzzzzzzzz"}, "task_not_found"),
        ({"callback_url": "x" * 2001}, "too_large"),
        ({"tags": [""]}, "invalid_argument"),
        ({"plan": [{"title": "A", "depends_on": ["A"]}]}, "dependency_cycle"),
        ({"plan": 7}, "invalid_plan"),
        ({"context": {"x": float("nan")}}, "invalid_json"),
        ({"metadata": {1: 2}}, "invalid_json"),
        ({"key": ""}, "invalid_argument"),
    ]:
        with refused(memory, code):
            memory.task_register(**{"name": "Deploy", **arguments})


def test_a_plan_over_its_limit_is_refused(opened, store_url):
    memory = opened(store_url, max_plan_steps=10)
    task = memory.task_register("Deploy", ["x"] * 10).task_id
    with refused(memory, "too_large", naming="10"):
        memory.task_register("Deploy", ["x"] * 11)
    with refused(memory, "too_large", naming="11"):
        memory.task_plan_append(task, ["one more"])


# --- updating ---------------------------------------------------------------------------------------


def test_a_message_is_appended_to_the_history(memory, task, clock):
    clock.forward(60)
    written = memory.task_update(task, "The registry is ghcr.io")
    assert (written.task_id, written.seq, written.warnings) == (task, 2, ())
    event = memory.task_thread(task).events[-1]
    assert (event.type, event.text, event.at) == (
        "message",
        "The registry is ghcr.io",
        "2026-03-01T12:01:00.000Z",
    )
    after = memory.task_get(task)
    assert (after.messages, after.updated_at) == (1, "2026-03-01T12:01:00.000Z")
    assert after.version == 1  # a message changes nothing that someone could have seen otherwise


def test_a_step_is_moved_along_with_a_message(memory, task, clock):
    memory.task_update(task, "building", step=1, step_status="active")
    clock.forward(90.5)
    written = memory.task_update(task, "built", step="s1", step_status="done")
    assert (written.done, written.total, written.current, written.next) == (1, 3, None, "s2")
    item = memory.task_get(task).steps[0]
    assert (item.status, item.basis, item.evidence, item.cause) == ("completed", "explicit", "reported", 3)
    assert (item.started_at, item.completed_at) == (NOON, "2026-03-01T12:01:30.500Z")
    assert item.duration_seconds == 90.5
    assert memory.task_thread(task).events[-1].step == "s1"


def test_a_step_can_be_named_without_changing_it(memory, task):
    memory.task_update(task, "the log is in /tmp", step="Build")
    assert memory.task_thread(task).events[-1].step == "s1"
    assert memory.task_get(task).steps[0].status == "pending"


def test_status_phase_reason_next_blockers_and_attention_are_set_and_cleared(memory, task):
    memory.task_update(
        task,
        status="waiting",
        phase="debugging",
        reason="the server is down",
        next="Call Ada",
        blockers=["no network", "no power"],
        attention="needs-review",
    )
    seen = memory.task_get(task)
    assert (seen.status, seen.phase, seen.reason) == ("waiting", "debugging", "the server is down")
    assert (seen.next_step, seen.blockers) == ("Call Ada", ("no network", "no power"))
    assert (seen.attention, seen.version) == ("needs-review", 2)
    memory.task_update(task, status="active", next="", blockers=[], attention="")
    seen = memory.task_get(task)
    assert (seen.status, seen.phase, seen.reason) == ("active", "debugging", None)
    assert (seen.next_step, seen.blockers, seen.attention) == (None, (), None)


def test_a_reason_can_be_changed_alone(memory, task):
    memory.task_update(task, status="waiting", reason="one")
    memory.task_update(task, reason="two")
    assert memory.task_get(task).reason == "two"


def test_name_and_goal_can_be_changed(memory, task):
    memory.task_update(task, name="Deploy again", goal="It runs twice")
    seen = memory.task_get(task)
    assert (seen.name, seen.goal, seen.request) == ("Deploy again", "It runs twice", "Deploy it, please.")
    memory.task_update(task, goal="")
    assert memory.task_get(task).goal == "Deploy it, please."


def test_metadata_is_merged_and_null_removes_a_name(memory, task):
    memory.task_update(task, metadata={"a": 1, "b": {"x": [1]}})
    memory.task_update(task, metadata={"b": None, "c": "new"})
    assert memory.task_get(task).metadata == {"a": 1, "c": "new"}


def test_the_metadata_keys_of_the_source_are_kept(memory, task):
    keys = {
        "active_wait_ids": ["w1", "w2"],
        "last_wait_state": "watching",
        "last_wait_event_at": 1772366400.25,
        "last_stuck_alert_at": 1772366500.0,
        "display": ":100",
        "display_num": 100,
        "display_resolution": "1280x720",
    }
    memory.task_update(task, metadata=keys)
    assert memory.task_get(task).metadata == keys


def test_an_archived_task_is_out_of_the_list_but_not_gone(memory, task):
    memory.task_update(task, archived=True)
    assert memory.task_list().tasks == ()
    assert [card.id for card in memory.task_list(archived=True).tasks] == [task]
    assert memory.task_get(task).archived
    memory.task_update(task, archived=False)
    assert [card.archived for card in memory.task_list().tasks] == [False]


def test_a_task_that_continues_is_no_longer_archived(memory, task):
    memory.task_finish(task)
    memory.task_update(task, archived=True)
    memory.task_update(task, status="active")
    assert memory.task_get(task).archived is False


@pytest.mark.parametrize(
    ("word", "status", "phase", "reason"),
    [
        ("EXECUTING_PLAN", "active", "executing", None),
        ("EXECUTING_REPLAN", "active", "recovering", None),
        ("waiting_approval", "waiting", "planned", "approval"),
        ("In progress", "active", "planned", None),
        ("Stalled", "paused", "planned", None),
        ("auth-required", "waiting", "planned", "auth"),
        ("canceled", "cancelled", "planned", None),
        ("FAILED_SYNTHESIS", "failed", "synthesizing", None),
        ("rejected", "failed", "planned", "rejected"),
    ],
)
def test_statuses_of_other_projects_are_understood(memory, task, word, status, phase, reason):
    memory.task_update(task, status=word)
    seen = memory.task_get(task)
    assert (seen.status, seen.phase, seen.reason) == (status, phase, reason)


def test_an_explicit_phase_beats_the_one_that_a_status_word_implies(memory, task):
    memory.task_update(task, status="EXECUTING_PLAN", phase="debugging")
    assert memory.task_get(task).phase == "debugging"


def test_a_task_follows_the_transitions_and_the_error_names_the_legal_ones(memory):
    for old, status in product(rules.TASK_STATUSES, repeat=2):
        task = memory.task_register("Deploy").task_id
        if old != "active":
            memory.task_update(task, status=old)
        if status == old or status in rules.TASK_TRANSITIONS[old]:
            memory.task_update(task, "moving", status=status)
            assert memory.task_get(task).status == status
            continue
        before = newest(memory)
        with refused(None, "illegal_transition", naming=", ".join(rules.TASK_TRANSITIONS[old])) as caught:
            memory.task_update(task, "moving", status=status)
        assert caught.value.details["current"] == old
        assert newest(memory) == before


def test_completed_at_is_set_at_the_end_and_cleared_when_reopened(memory, task, clock):
    clock.forward(10)
    memory.task_update(task, status="failed")
    ended = memory.task_get(task).timestamps.completed_at
    clock.forward(10)
    memory.task_update(task, status="cancelled")
    assert memory.task_get(task).timestamps.completed_at == ended == "2026-03-01T12:00:10.000Z"
    memory.task_update(task, status="active")
    assert memory.task_get(task).timestamps.completed_at is None


def test_the_six_timestamps_are_each_stamped_once(memory, clock):
    task = memory.task_register("Deploy").task_id
    marks = {}
    for phase in (
        "planning",
        "planned",
        "executing",
        "replanning",
        "recovering",
        "synthesizing",
        "executing",
    ):
        clock.forward(60)
        memory.task_update(task, phase=phase)
        marks.setdefault(phase, memory.task_get(task).updated_at)
    clock.forward(60)
    memory.task_finish(task, "answer")
    stamps = memory.task_get(task).timestamps
    assert stamps.created_at == NOON
    assert stamps.plan_generated_at == marks["planned"]
    assert stamps.execution_started_at == marks["executing"]
    assert stamps.synthesis_started_at == marks["synthesizing"]
    assert stamps.completed_at == stamps.last_updated_at == "2026-03-01T12:08:00.000Z"


def test_work_itself_brings_a_task_into_execution(memory, task, clock):
    clock.forward(5)
    memory.task_update(task, step=1, step_status="active")
    seen = memory.task_get(task)
    assert (seen.phase, seen.timestamps.execution_started_at) == ("executing", "2026-03-01T12:00:05.000Z")


def test_work_does_not_move_a_later_phase(memory, task):
    memory.task_update(task, phase="reviewing")
    memory.task_update(task, step=1, step_status="completed")
    assert memory.task_get(task).phase == "reviewing"


def test_a_message_to_an_ended_task_is_kept_with_a_warning(memory, task):
    memory.task_finish(task)
    assert memory.task_update(task, "one more thing").warnings == ("task is completed",)
    assert memory.task_thread(task).events[-1].text == "one more thing"


def test_what_the_caller_saw_must_still_be_so(memory, task):
    version = memory.task_get(task).version
    memory.task_update(task, "a message does not count", expect=version)
    memory.task_update(task, status="paused", expect=version)
    with refused(memory, "stale_version", naming="version 3") as caught:
        memory.task_update(task, status="active", expect=version)
    assert caught.value.details == {"current": 3}


def test_an_update_that_cannot_be_leaves_nothing_behind(memory, task):
    for arguments, code in [
        ({}, "invalid_argument"),
        ({"status": "bogus"}, "unknown_word"),
        ({"status": ""}, "invalid_argument"),
        ({"phase": "bogus"}, "unknown_word"),
        ({"step": 1, "step_status": "bogus"}, "unknown_word"),
        ({"step_status": "done"}, "invalid_argument"),
        ({"step": 9, "step_status": "done"}, "step_not_found"),
        ({"message": "x", "step": "nowhere"}, "step_not_found"),
        ({"blockers": 5}, "invalid_argument"),
        ({"blockers": ["x"] * 51}, "too_large"),
        ({"name": ""}, "invalid_argument"),
        ({"next": "x" * 2001}, "too_large"),
        ({"attention": "x" * 501}, "too_large"),
        ({"reason": "x" * 501}, "too_large"),
        ({"metadata": {"x": float("inf")}}, "invalid_json"),
        ({"message": "x", "token": 1}, "stale_token"),
        ({"message": "x", "expect": 99}, "stale_version"),
    ]:
        with refused(memory, code):
            memory.task_update(task, **arguments)


def test_a_step_with_an_ambiguous_name_is_refused_and_the_candidates_are_listed(memory):
    task = memory.task_register("Deploy", ["Run the tests", "Run the server"]).task_id
    with refused(memory, "ambiguous_step", naming="s2 (Run the server)") as caught:
        memory.task_update(task, step="Run the", step_status="done")
    assert caught.value.details["candidates"] == ["s1", "s2"]


# --- listing ----------------------------------------------------------------------------------------


def names(page) -> list[str]:
    return [card.name for card in page.tasks]


def test_a_list_has_the_open_tasks_of_this_workspace_with_the_last_changed_first(memory):
    first = memory.task_register("first").task_id
    memory.task_register("second")
    memory.task_register("elsewhere", workspace="/other")
    ended = memory.task_register("ended").task_id
    memory.task_finish(ended)
    memory.task_update(first, "changed")
    assert names(memory.task_list()) == ["first", "second"]


def test_a_card_says_where_its_task_stands(memory, task):
    memory.task_update(task, step=1, step_status="completed")
    memory.task_update(task, step=2, step_status="active", next="Push it", blockers=["slow"])
    (card,) = memory.task_list().tasks
    assert (card.done, card.total, card.current, card.current_title) == (1, 3, "s2", "Push")
    assert (card.next, card.next_title, card.next_step, card.blockers) == ("s3", "Run", "Push it", ("slow",))
    full = memory.task_get(task)
    assert card.to_dict() == {name: full.to_dict()[name] for name in card.to_dict()}


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ("open", {"active", "waiting", "paused"}),
        ("ended", {"completed", "failed", "cancelled", "abandoned", "superseded"}),
        ("all", set(rules.TASK_STATUSES)),
        ("Done", {"completed"}),
        (["paused", "failed"], {"paused", "failed"}),
        (("In progress", "active"), {"active"}),
    ],
)
def test_a_list_is_filtered_by_status(memory, status, found):
    for word in rules.TASK_STATUSES:
        task = memory.task_register(word).task_id
        if word != "active":
            memory.task_update(task, status=word)
    assert set(names(memory.task_list(status=status))) == found


def test_a_list_is_filtered_by_workspace_session_tag_and_parent(memory):
    parent = memory.task_register("parent", tags=["a", "b"]).task_id
    memory.task_register("child", parent=parent[:6], tags=["b"])
    memory.acting_as(session="T").task_register("other session")
    memory.task_register("other place", workspace="/other")
    assert names(memory.task_list(workspace=None)) == ["other place", "other session", "child", "parent"]
    assert names(memory.task_list(workspace="/other")) == ["other place"]
    assert names(memory.task_list(session="T")) == ["other session"]
    assert names(memory.task_list(tag="b")) == ["child", "parent"]
    assert names(memory.task_list(tag="a")) == ["parent"]
    assert names(memory.task_list(tag="")) == []
    assert names(memory.task_list(parent=parent)) == ["child"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("deploy", ["Deploy it"]),
        ("DEPLOY", ["Deploy it"]),
        ("100%", ["100% _done_"]),
        ("%", ["100% _done_"]),
        ("_", ["100% _done_"]),
        ("!", ["really!"]),
        ("\\", ["back\\slash"]),
        ("' OR 1=1 --", []),
        ("Übersicht", ["Übersicht ÄÖ"]),
        ("übersicht äö", ["Übersicht ÄÖ"]),
    ],
)
def test_a_list_is_filtered_by_a_piece_of_the_name_and_nothing_in_it_is_a_pattern(memory, text, found):
    for name in ("Deploy it", "100% _done_", "really!", "back\\slash", "Übersicht ÄÖ"):
        memory.task_register(name)
    assert names(memory.task_list(text=text)) == found


def test_a_long_list_comes_in_pages_that_neither_repeat_nor_leave_out(memory):
    for number in range(25):
        memory.task_register(f"task {number}")
    pages, cursor = [], None
    while True:
        page = memory.task_list(limit=10, cursor=cursor)
        pages.append(names(page))
        cursor = page.cursor
        if cursor is None:
            break
    assert [len(page) for page in pages] == [10, 10, 5]
    assert sum(pages, []) == [f"task {number}" for number in reversed(range(25))]  # noqa: RUF017


def test_a_page_that_is_just_full_has_no_cursor(memory):
    for number in range(10):
        memory.task_register(f"task {number}")
    assert memory.task_list(limit=10).cursor is None


def test_a_list_that_cannot_be_is_refused(memory, task):
    for arguments, code in [
        ({"limit": 0}, "invalid_argument"),
        ({"limit": 1001}, "invalid_argument"),
        ({"limit": "10"}, "invalid_argument"),
        ({"cursor": -1}, "invalid_argument"),
        ({"cursor": 2**63}, "invalid_argument"),
        ({"status": "bogus"}, "unknown_word"),
        ({"status": ["active", "bogus"]}, "unknown_word"),
        ({"status": []}, "invalid_argument"),
        ({"status": None}, "invalid_argument"),
        ({"status": 5}, "invalid_argument"),
        ({"kind": "x') OR 1=1--"}, "unknown_word"),
        ({"parent": "zzzzzzzzzz"}, "task_not_found"),
        ({"workspace": 5}, "invalid_argument"),
        ({"session": "a\0"}, "invalid_text"),
        ({"tag": ["a"]}, "invalid_argument"),
        ({"text": "x" * 501}, "too_large"),
    ]:
        with refused(memory, code):
            memory.task_list(**arguments)


# --- finishing --------------------------------------------------------------------------------------


def test_a_task_is_finished_with_its_answer(memory, task, clock):
    memory.task_update(task, next="Wait", blockers=["something"])
    for step in (1, 2, 3):
        memory.task_update(task, step=step, step_status="completed")
    clock.forward(60)
    answer = " It runs.\n\nSee https://example.org \n"
    written = memory.task_finish(task, answer, message="That was it")
    assert (written.status, written.warnings) == ("completed", ())
    seen = memory.task_get(task)
    assert (seen.answer, seen.error) == (answer, None)
    assert seen.timestamps.completed_at == "2026-03-01T12:01:00.000Z"
    assert (seen.next_step, seen.blockers) == (None, ())
    assert memory.task_thread(task).events[-1].text == "That was it"


def test_finishing_with_open_steps_is_allowed_with_a_warning(memory, task):
    memory.task_update(task, step=1, step_status="completed")
    memory.task_update(task, step=2, step_status="skipped")
    assert memory.task_finish(task).warnings == ("1 of 2 steps are not completed",)


@pytest.mark.parametrize(
    ("error", "summary"),
    [
        ("no network", {"message": "no network", "stage": None, "step": None}),
        ({"message": "m", "stage": "2", "step": "s1"}, {"message": "m", "stage": "2", "step": "s1"}),
        (
            {"failedAtStage": 2, "failedStepNarrative": "Pushing", "errorMessage": "denied"},
            {"message": "denied", "stage": "2", "step": "Pushing"},
        ),
        ({"error": "x"}, {"message": "x", "stage": None, "step": None}),
    ],
)
def test_a_task_that_failed_says_why_and_where(memory, task, error, summary):
    assert memory.task_finish(task, error=error).status == "failed"
    assert memory.task_get(task).error.to_dict() == summary


@pytest.mark.parametrize("status", rules.ENDED)
def test_a_task_can_finish_in_each_way(memory, task, status):
    assert memory.task_finish(task, status=status, error="because").status == status
    assert memory.task_get(task).error.message == "because"


@pytest.mark.parametrize(
    ("word", "phase", "reason"),
    [
        ("FAILED_SYNTHESIS", "synthesizing", None),
        ("FAILED_PLANNING", "planning", None),
        ("FAILED_RECOVERY_EXECUTION", "recovering", None),
        ("FAILED_REPLANNING_NO_RECOVERY_PLAN", "replanning", None),
        ("rejected", "planned", "rejected"),
    ],
)
def test_a_foreign_status_word_names_the_phase_in_which_a_task_failed(memory, task, word, phase, reason):
    memory.task_finish(task, status=word, error="because")
    seen = memory.task_get(task)
    assert (seen.status, seen.phase, seen.reason) == ("failed", phase, reason)


def test_a_task_that_cannot_finish_so_stays_as_it_is(memory, task):
    for arguments, code in [
        ({"status": "paused"}, "unknown_word"),
        ({"status": "bogus"}, "unknown_word"),
        ({"error": {}}, "invalid_argument"),
        ({"error": {"stage": 1}}, "invalid_argument"),
        ({"error": ["x"]}, "invalid_argument"),
        ({"error": 5}, "invalid_argument"),
        ({"answer": 5}, "invalid_argument"),
        ({"token": 3}, "stale_token"),
    ]:
        with refused(memory, code):
            memory.task_finish(task, **arguments)


def test_a_completed_task_cannot_fail_afterwards(memory, task):
    memory.task_finish(task, "answer")
    with refused(memory, "illegal_transition", naming="active, superseded"):
        memory.task_finish(task, error="late")


def test_a_reopened_task_has_neither_answer_nor_error_until_it_ends_again(memory, task):
    memory.task_finish(task, error="no network")
    memory.task_update(task, status="active")
    seen = memory.task_get(task)
    assert (seen.answer, seen.error) == (None, None)
    memory.task_update(task, status="completed")
    assert memory.task_get(task).error is None


# --- focus ------------------------------------------------------------------------------------------


def test_the_task_in_focus_is_the_current_one(memory):
    first = memory.task_register("first").task_id
    second = memory.task_register("second").task_id
    assert memory.task_get().id == second
    memory.task_focus(first)
    assert memory.task_get().id == first


def test_a_session_takes_a_task_over_from_another(memory, task):
    other = memory.acting_as(session="T")
    other.task_register("something else")
    other.task_focus(task)
    assert other.task_get().id == task
    assert memory.task_get(task).session == "T"
    event = memory.task_thread(task).events[-1]
    assert (event.type, event.data) == ("task.focused", {"from": "S"})


def test_a_memory_without_a_session_cannot_focus(memory, task):
    with refused(memory, "invalid_argument", naming="session"):
        memory.acting_as(session="").task_focus(task)


# --- links ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["related", "blocks", "parent", "supersedes"])
def test_a_task_is_tied_to_another_one_and_untied_again(memory, task, kind):
    other = memory.task_register("other").task_id
    written = memory.task_link(task, target=other[:7], kind=kind)
    assert [link.to_dict() for link in memory.task_get(task).links] == [
        {"kind": kind, "target": other, "seq": written.seq}
    ]
    memory.task_link(task, target=other, kind=kind, remove=True)
    assert memory.task_get(task).links == ()


def test_a_link_is_related_by_default_and_a_goal_may_be_anything(memory, task):
    other = memory.task_register("other").task_id
    memory.task_link(task, target=other)
    memory.task_link(task, target="OKR-7: grow", kind="goal")
    assert [(link.kind, link.target) for link in memory.task_get(task).links] == [
        ("related", other),
        ("goal", "OKR-7: grow"),
    ]


def test_a_parent_is_the_parent_until_it_is_removed(memory, task):
    parent = memory.task_register("parent").task_id
    memory.task_link(task, target=parent, kind="parent")
    assert memory.task_get(task).parent == parent
    assert [card.id for card in memory.task_list(parent=parent).tasks] == [task]
    memory.task_link(task, target=parent, kind="parent", remove=True)
    assert memory.task_get(task).parent is None


def test_a_task_that_is_superseded_gets_that_status_in_the_same_moment(memory, task, clock):
    new = memory.task_register("new").task_id
    clock.forward(60)
    memory.task_link(new, target=task, kind="supersedes")
    old = memory.task_get(task)
    assert (old.status, old.timestamps.completed_at) == ("superseded", "2026-03-01T12:01:00.000Z")
    assert memory.task_thread(task).events[-1].data == {"superseded_by": new, "status": "superseded"}


def test_a_family_has_no_circles(memory):
    top = memory.task_register("top").task_id
    middle = memory.task_register("middle", parent=top).task_id
    bottom = memory.task_register("bottom", parent=middle).task_id
    with refused(memory, "dependency_cycle"):
        memory.task_link(top, target=bottom, kind="parent")
    with refused(memory, "invalid_argument", naming="itself"):
        memory.task_link(top, target=top, kind="related")


def test_a_link_that_cannot_be_is_refused(memory, task):
    for arguments, code in [
        ({"target": "zzzzzzzzzz"}, "task_not_found"),
        ({"target": ""}, "invalid_argument"),
        ({"target": "a goal", "kind": "wish"}, "unknown_word"),
        ({"target": "x" * 501, "kind": "goal"}, "too_large"),
        ({"target": "a goal", "kind": "goal", "token": 1}, "stale_token"),
    ]:
        with refused(memory, code):
            memory.task_link(task, **arguments)


def test_a_task_that_is_superseded_already_stays_so(memory, task):
    first, second = memory.task_register("first").task_id, memory.task_register("second").task_id
    memory.task_link(first, target=task, kind="supersedes")
    memory.task_link(second, target=first, kind="supersedes")
    assert [memory.task_get(name).status for name in (task, first, second)] == [
        "superseded",
        "superseded",
        "active",
    ]
