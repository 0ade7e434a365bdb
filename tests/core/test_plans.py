"""Plans: replacing, extending, and moving their steps; what is dropped stays as a tombstone."""

from __future__ import annotations

from itertools import product

import pytest

from ringbolt.model import rules
from tests.support import NOON, newest, refused

BANK_PLAN = [
    {
        "stage": 1,
        "steps": [
            {
                "stepDescription": "Search",
                "toolName": "web",
                "sub_task_input": {"q": "x"},
                "narrative_step": "Looking",
            }
        ],
    },
    {"stage": 2, "steps": [{"stepDescription": "Write", "toolName": "editor", "narrative_step": "Writing"}]},
]


def statuses(memory, task) -> dict[str, str]:
    return {item.id: item.status for item in memory.task_get(task).steps}


def live(memory, task) -> list[str]:
    return [item.id for item in memory.task_get(task).steps if item.dropped_in is None]


def item_of(memory, task, name):
    return next(item for item in memory.task_get(task).steps if item.id == name)


# --- reading a plan ---------------------------------------------------------------------------------


def test_the_steps_of_a_bank_keep_all_their_fields(memory):
    task = memory.task_register("Research", BANK_PLAN).task_id
    first, second = memory.task_get(task).steps
    assert (first.title, first.stage) == ("Search", "1")
    assert first.detail == {"tool": "web", "input": {"q": "x"}, "narrative": "Looking"}
    assert (second.title, second.stage, second.ordinal) == ("Write", "2", 1)


def test_steps_that_wait_for_nothing_are_ready(memory):
    plan = {"a": {"title": "A"}, "b": {"title": "B", "depends_on": ["a"]}, "c": {"title": "C"}}
    task = memory.task_register("Graph", plan).task_id
    ready = lambda: [item.id for item in memory.task_get(task).steps if item.ready]  # noqa: E731
    assert ready() == ["a", "c"]
    memory.task_update(task, step="a", step_status="completed")
    assert ready() == ["b", "c"]


# --- replacing --------------------------------------------------------------------------------------


def test_a_new_plan_takes_the_place_of_the_old_one_and_tombstones_stay(memory, task, clock):
    memory.task_update(task, step=1, step_status="completed")
    memory.task_update(task, step=2, step_status="active")
    clock.forward(60)
    written = memory.task_plan_replace(task, ["Push", "Check", "Tell"], reason="No container needed")
    assert written.steps == ("s2", "s4", "s5")
    assert (written.done, written.total, written.current, written.next) == (1, 4, "s2", "s4")
    assert statuses(memory, task) == {
        "s1": "completed",
        "s2": "active",
        "s3": "cancelled",
        "s4": "pending",
        "s5": "pending",
    }
    gone = item_of(memory, task, "s3")
    assert (gone.dropped_in, gone.completed_at, gone.title) == (2, "2026-03-01T12:01:00.000Z", "Run")
    seen = memory.task_get(task)
    assert (seen.plan_version, seen.last_replanned_at) == (2, "2026-03-01T12:01:00.000Z")
    assert [item.id for item in seen.steps][:3] == ["s2", "s4", "s5"]
    assert memory.task_thread(task).events[-1].text == "No container needed"


def test_a_failed_step_that_is_left_out_is_dropped_and_a_skipped_one_stays(memory, task):
    memory.task_item_update(task, "s1", status="failed")
    memory.task_item_update(task, "s2", status="skipped")
    memory.task_plan_replace(task, ["New"])
    assert item_of(memory, task, "s1").dropped_in == 2
    assert (item_of(memory, task, "s2").status, item_of(memory, task, "s2").dropped_in) == ("skipped", None)


def test_a_dropped_step_never_comes_back(memory, task):
    memory.task_plan_replace(task, ["Other"])
    with refused(memory, "illegal_transition", naming="dropped"):
        memory.task_item_update(task, "s1", status="active")
    with refused(memory, "illegal_transition", naming="dropped"):
        memory.task_update(task, step="s1", step_status="done")
    with refused(memory, "invalid_plan", naming="s1"):
        memory.task_plan_replace(task, [{"id": "s1", "title": "Build"}])
    memory.task_plan_replace(task, ["Build"])
    assert live(memory, task) == ["s5"]  # the same title, another step


def test_ids_are_never_given_twice_however_often_the_plan_changes(memory, task):
    seen = {"s1", "s2", "s3"}
    for round_ in range(5):
        written = memory.task_plan_replace(task, [f"Step {round_}", {"id": f"x{round_}", "title": "x"}])
        assert not seen & set(written.steps)
        seen |= set(written.steps)
        written = memory.task_plan_append(task, ["More"])
        assert not seen & set(written.steps)
        seen |= set(written.steps)
    assert set(statuses(memory, task)) == seen


def test_a_step_that_is_kept_keeps_its_status_and_takes_new_details(memory, task):
    memory.task_update(task, step=1, step_status="completed")
    memory.task_plan_replace(
        task,
        [
            {"id": "s3", "title": "Run it", "depends_on": ["s1"], "stage": "last"},
            {"id": "s1", "title": "Build", "owner": "me"},
        ],
    )
    third, first = memory.task_get(task).steps[:2]
    assert (third.id, third.title, third.stage, third.depends_on) == ("s3", "Run it", "last", ("s1",))
    assert (first.status, first.detail, first.ordinal) == ("completed", {"owner": "me"}, 1)
    assert item_of(memory, task, "s2").status == "cancelled"


def test_the_same_plan_again_changes_no_step(memory):
    plan = ["Test", "Fix", "Test"]
    task = memory.task_register("Deploy", plan).task_id
    memory.task_update(task, step="s3", step_status="completed")
    memory.task_plan_replace(task, plan)
    assert statuses(memory, task) == {"s1": "pending", "s2": "pending", "s3": "completed"}


def test_a_first_plan_makes_the_task_planned(memory, clock):
    task = memory.task_register("Deploy").task_id
    clock.forward(60)
    written = memory.task_plan_replace(task, ["Build"])
    seen = memory.task_get(task)
    assert (written.phase, seen.plan_version) == ("planned", 1)
    assert seen.timestamps.plan_generated_at == "2026-03-01T12:01:00.000Z"
    assert seen.last_replanned_at is None


@pytest.mark.parametrize(
    ("phase", "stamp"),
    [
        ("executing", "execution_started_at"),
        ("recovering", "execution_started_at"),
        ("synthesizing", "synthesis_started_at"),
    ],
)
def test_a_phase_that_comes_with_a_plan_is_stamped_like_any_other(memory, clock, phase, stamp):
    task = memory.task_register("Deploy").task_id
    clock.forward(60)
    assert memory.task_plan_replace(task, ["Recover"], phase=phase).phase == phase
    stamps = memory.task_get(task).timestamps
    assert getattr(stamps, stamp) == stamps.plan_generated_at == "2026-03-01T12:01:00.000Z"


def test_a_plan_seen_before_it_changed_is_not_replaced(memory, task):
    version = memory.task_get(task).version
    memory.task_plan_replace(task, ["One"], expect=version)
    with refused(memory, "stale_version"):
        memory.task_plan_replace(task, ["Two"], expect=version)


def test_a_plan_that_cannot_be_leaves_the_old_one(memory, task):
    for arguments, code in [
        ({"plan": 5}, "invalid_plan"),
        ({"plan": [{"id": "a", "title": "A", "depends_on": ["b"]}]}, "invalid_plan"),
        (
            {
                "plan": [
                    {"id": "a", "title": "A", "depends_on": ["b"]},
                    {"id": "b", "title": "B", "depends_on": ["a"]},
                ]
            },
            "dependency_cycle",
        ),
        ({"plan": ["A"], "phase": "bogus"}, "unknown_word"),
        ({"plan": ["A"], "reason": 5}, "invalid_argument"),
        ({"plan": ["A"], "token": 1}, "stale_token"),
        ({"plan": ["x" * 4001]}, "too_large"),
        ({"plan": [{"title": "A", "stage": "x" * 201}]}, "too_large"),
        ({"plan": [{"title": "A", "extra": float("nan")}]}, "invalid_json"),
    ]:
        with refused(memory, code):
            memory.task_plan_replace(task, **arguments)


def test_every_earlier_plan_stays_readable(memory, task, clock):
    memory.task_update(task, step=1, step_status="completed")
    clock.forward(60)
    second = memory.task_plan_replace(task, BANK_PLAN, reason="Started anew")
    memory.task_plan_append(task, ["Afterthought"])
    clock.forward(60)
    memory.task_plan_replace(task, ["Search", "Last"])
    plans = memory.task_plans(task)
    assert [plan.version for plan in plans] == [1, 2, 3]
    assert [(plan.seq, plan.at, plan.reason) for plan in plans[:2]] == [
        (1, NOON, None),
        (second.seq, "2026-03-01T12:01:00.000Z", "Started anew"),
    ]
    assert [item.title for item in plans[0].steps] == ["Build", "Push", "Run"]
    assert [item.title for item in plans[1].steps if item.dropped_in is None] == ["Search", "Write", "Build"]
    assert plans[1].steps[0].detail["narrative"] == "Looking"
    assert [item.title for item in plans[2].steps if item.status == "pending"] == ["Search", "Last"]


def test_a_task_without_a_plan_has_no_plans(memory):
    task = memory.task_register("Deploy").task_id
    assert memory.task_plans(task) == ()
    memory.task_plan_append(task, ["A"])
    assert [plan.version for plan in memory.task_plans(task)] == [1]


# --- appending --------------------------------------------------------------------------------------


def test_steps_are_added_at_the_end(memory, task):
    written = memory.task_plan_append(task, ["Check", {"id": "tell", "title": "Tell", "depends_on": ["s3"]}])
    assert written.steps == ("s4", "tell")
    assert written.total == 5
    assert live(memory, task) == ["s1", "s2", "s3", "s4", "tell"]
    assert [item.ordinal for item in memory.task_get(task).steps] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("after", ["s1", 1, "Build", "bui"])
def test_steps_are_added_after_a_step(memory, task, after):
    memory.task_plan_append(task, ["Test", "Sign"], after=after, note="forgotten")
    assert live(memory, task) == ["s1", "s4", "s5", "s2", "s3"]
    assert [item.ordinal for item in memory.task_get(task).steps] == [0, 1, 2, 3, 4]
    assert memory.task_thread(task).events[-1].text == "forgotten"


def test_steps_are_added_before_the_tombstones(memory, task):
    memory.task_plan_replace(task, ["Only"])
    memory.task_plan_append(task, ["Then"])
    assert [item.title for item in memory.task_get(task).steps] == ["Only", "Then", "Build", "Push", "Run"]
    assert memory.task_update(task, step=2, step_status="active").current == "s5"


def test_the_first_steps_that_are_added_are_the_plan(memory, clock):
    task = memory.task_register("Deploy").task_id
    clock.forward(60)
    assert memory.task_plan_append(task, ["A"]).phase == "planned"
    seen = memory.task_get(task)
    assert (seen.plan_version, seen.timestamps.plan_generated_at) == (1, "2026-03-01T12:01:00.000Z")


def test_steps_that_cannot_be_added_leave_the_plan_as_it_is(memory, task):
    for arguments, code in [
        ({"items": None}, "invalid_plan"),
        ({"items": []}, "invalid_plan"),
        ({"items": ""}, "invalid_plan"),
        ({"items": "\n"}, "invalid_plan"),
        ({"items": {"steps": []}}, "invalid_plan"),
        ({"items": ["A"], "after": "nowhere"}, "step_not_found"),
        ({"items": [{"id": "s1", "title": "A"}]}, "invalid_plan"),
        ({"items": [{"id": "x", "title": "A", "depends_on": ["x"]}]}, "dependency_cycle"),
        ({"items": ["A"], "note": 5}, "invalid_argument"),
        ({"items": ["A"], "token": 1}, "stale_token"),
    ]:
        with refused(memory, code):
            memory.task_plan_append(task, **arguments)


# --- moving a step ----------------------------------------------------------------------------------


def test_a_step_follows_the_transitions_and_the_error_names_the_legal_ones(memory):
    for old, status in product(rules.ITEM_STATUSES, repeat=2):
        task = memory.task_register("Deploy", ["Build"]).task_id
        if old != "pending":
            memory.task_item_update(task, 1, status=old)
        if status == old or status in rules.ITEM_TRANSITIONS[old]:
            memory.task_item_update(task, 1, status=status)
            assert statuses(memory, task)["s1"] == status
            continue
        before = newest(memory)
        with refused(None, "illegal_transition", naming=", ".join(rules.ITEM_TRANSITIONS[old])):
            memory.task_item_update(task, 1, status=status)
        assert newest(memory) == before


@pytest.mark.parametrize(
    "named",
    [
        {"item": "s2"},
        {"item": 2},
        {"item": "2"},
        {"item": "Push"},
        {"item": "push"},
        {"item": " PU "},
        {"ordinal": 1},
    ],
)
def test_a_step_is_found_by_id_number_title_beginning_and_ordinal(memory, task, named):
    memory.task_item_update(task, **named, status="completed")
    assert statuses(memory, task) == {"s1": "pending", "s2": "completed", "s3": "pending"}


def test_a_whole_title_beats_a_beginning_and_an_id_beats_a_number(memory):
    plan = [{"id": "2", "title": "First"}, {"id": "x", "title": "Run"}, {"id": "y", "title": "Run all"}]
    task = memory.task_register("Deploy", plan).task_id
    memory.task_item_update(task, "run", status="completed")
    memory.task_item_update(task, 2, status="failed")
    assert statuses(memory, task) == {"2": "failed", "x": "completed", "y": "pending"}


def test_step_ids_that_differ_only_in_case_are_two_steps(memory):
    plan = [{"id": "build", "title": "one"}, {"id": "Build", "title": "two"}]
    task = memory.task_register("Deploy", plan).task_id
    memory.task_item_update(task, "Build", status="completed")
    assert statuses(memory, task) == {"build": "pending", "Build": "completed"}


def test_time_is_kept_for_each_step(memory, task, clock):
    memory.task_item_update(task, 1, status="active")
    clock.forward(12.3456)
    memory.task_item_update(task, 1, status="failed")
    item = item_of(memory, task, "s1")
    assert (item.started_at, item.completed_at) == (NOON, "2026-03-01T12:00:12.346Z")
    assert item.duration_seconds == 12.346
    memory.task_item_update(task, 1, status="active")
    item = item_of(memory, task, "s1")
    assert (item.started_at, item.completed_at, item.duration_seconds) == (NOON, None, None)


def test_a_clock_that_was_set_back_gives_no_duration(memory, task, clock):
    memory.task_item_update(task, 1, status="active")
    clock.forward(-3600)
    memory.task_item_update(task, 1, status="completed")
    assert item_of(memory, task, "s1").duration_seconds is None


def test_a_step_completed_at_once_has_no_duration_and_is_only_reported(memory, task):
    memory.task_item_update(task, 1, status="completed")
    item = item_of(memory, task, "s1")
    assert (item.started_at, item.duration_seconds, item.evidence) == (None, None, "reported")
    memory.task_item_update(task, 1, status="pending")
    assert item_of(memory, task, "s1").evidence is None


def test_one_thing_at_a_time(memory, task):
    memory.task_item_update(task, 1, status="active")
    written = memory.task_item_update(task, 2, status="active")
    assert written.warnings == ("s1 set aside as pending",)
    assert written.current == "s2"
    assert statuses(memory, task)["s1"] == "pending"


def test_steps_that_agents_have_claimed_are_active_together(memory, task):
    one, two = memory.acting_as(agent="one"), memory.acting_as(agent="two")
    one.task_claim(task, item="s1")
    two.task_claim(task, item="s2")
    one.task_item_update(task, "s1", status="active")
    assert two.task_item_update(task, "s2", status="active").warnings == ()
    assert statuses(memory, task) == {"s1": "active", "s2": "active", "s3": "pending"}


def test_a_step_before_its_turn_is_done_with_a_warning(memory):
    plan = {"a": "A", "b": {"title": "B", "depends_on": ["a"]}}
    task = memory.task_register("Graph", plan).task_id
    assert memory.task_item_update(task, "b", status="completed").warnings == (
        "b depends on a, not completed yet",
    )


def test_note_title_issue_dependencies_and_successor_are_changed_and_cleared(memory, task):
    memory.task_item_update(
        task,
        "s2",
        note="twice, to be sure",
        title="Push it",
        active_issue="the registry is slow",
        depends_on=["s1"],
        replaced_by="s3",
    )
    item = item_of(memory, task, "s2")
    assert (item.note, item.title, item.active_issue) == (
        "twice, to be sure",
        "Push it",
        "the registry is slow",
    )
    assert (item.depends_on, item.replaced_by, item.status) == (("s1",), "s3", "pending")
    memory.task_item_update(task, "s2", note="", active_issue="", depends_on=[])
    item = item_of(memory, task, "s2")
    assert (item.note, item.active_issue, item.depends_on) == (None, None, ())


def test_dependencies_may_be_named_by_number_or_title(memory, task):
    memory.task_item_update(task, "s3", depends_on=["Build", "2"])
    assert item_of(memory, task, "s3").depends_on == ("s1", "s2")


def test_an_issue_is_over_with_its_step(memory, task):
    memory.task_item_update(task, 1, status="active", active_issue="slow")
    memory.task_item_update(task, 1, status="completed")
    assert item_of(memory, task, "s1").active_issue is None


@pytest.mark.parametrize(("note", "issue"), [(None, "blocked"), ("no ENUM type", "no ENUM type")])
def test_a_blocked_step_is_active_with_an_issue(memory, task, note, issue):
    memory.task_item_update(task, 1, status="blocked", note=note)
    item = item_of(memory, task, "s1")
    assert (item.status, item.active_issue) == ("active", issue)


def test_a_step_that_an_update_calls_blocked_has_an_issue_too(memory, task):
    memory.task_update(task, "no ENUM type", step=1, step_status="blocked")
    item = item_of(memory, task, "s1")
    assert item.status == "active"
    assert item.active_issue


def test_moving_a_step_begins_the_execution(memory, task, clock):
    clock.forward(60)
    memory.task_item_update(task, 1, status="active")
    seen = memory.task_get(task)
    assert (seen.phase, seen.timestamps.execution_started_at) == ("executing", "2026-03-01T12:01:00.000Z")


def test_a_step_that_has_changed_since_it_was_read_is_not_changed(memory, task):
    version = item_of(memory, task, "s1").version
    memory.task_item_update(task, "s1", status="active", expect=version)
    memory.task_item_update(task, "s2", note="another step does not count", expect=version)
    with refused(memory, "stale_version", naming="Step s1"):
        memory.task_item_update(task, "s1", status="completed", expect=version)


def test_a_step_that_cannot_be_changed_so_stays_as_it_is(memory, task):
    for arguments, code in [
        ({"status": "done"}, "invalid_argument"),
        ({"item": "s1"}, "invalid_argument"),
        ({"item": "s1", "status": "bogus"}, "unknown_word"),
        ({"item": "nowhere", "status": "done"}, "step_not_found"),
        ({"item": 0, "status": "done"}, "step_not_found"),
        ({"item": 4, "status": "done"}, "step_not_found"),
        ({"item": -1, "status": "done"}, "step_not_found"),
        ({"item": 10**12, "status": "done"}, "step_not_found"),
        ({"item": "", "status": "done"}, "step_not_found"),
        ({"ordinal": 3, "status": "done"}, "step_not_found"),
        ({"ordinal": -1, "status": "done"}, "invalid_argument"),
        ({"ordinal": "1", "status": "done"}, "invalid_argument"),
        ({"item": "s1", "depends_on": ["s1"]}, "dependency_cycle"),
        ({"item": "s1", "depends_on": ["nowhere"]}, "step_not_found"),
        ({"item": "s1", "replaced_by": "nowhere"}, "step_not_found"),
        ({"item": "s1", "title": " "}, "invalid_argument"),
        ({"item": "s1", "note": "x" * 100_001}, "too_large"),
        ({"item": "s1", "status": "done", "token": 1}, "stale_token"),
    ]:
        with refused(memory, code):
            memory.task_item_update(task, **arguments)


def test_the_error_for_an_unknown_step_lists_the_known_ones(memory, task):
    with refused(memory, "step_not_found", naming="s1 (Build), s2 (Push), s3 (Run)"):
        memory.task_item_update(task, "nowhere", status="done")


def test_an_ambiguous_title_is_refused_with_its_candidates(memory):
    task = memory.task_register("Deploy", ["Test", "Fix", "Test"]).task_id
    with refused(memory, "ambiguous_step", naming="s1 (Test), s3 (Test)") as caught:
        memory.task_item_update(task, "test", status="done")
    assert caught.value.details["candidates"] == ["s1", "s3"]


def test_a_circle_through_several_steps_is_refused(memory):
    task = memory.task_register("G", {"a": "A", "b": {"depends_on": "a"}, "c": {"depends_on": "b"}}).task_id
    with refused(memory, "dependency_cycle", naming="a → c → b → a"):
        memory.task_item_update(task, "a", depends_on=["c"])


def test_a_new_plan_by_titles_keeps_dependencies_stages_and_states_of_the_steps_that_stay(memory):
    task = memory.task_register(
        "Move",
        [
            {"id": "a", "title": "Dump", "stage": "1"},
            {"id": "b", "title": "Load", "stage": "2", "depends_on": ["a"]},
            {"id": "c", "title": "Check", "depends_on": ["b"]},
            {"id": "d", "title": "Switch", "depends_on": ["c"]},
        ],
    ).task_id
    memory.task_step_update(task, "a", status="completed")
    memory.task_step_update(task, "b", status="active", note="half of it")
    memory.task_plan(["Dump", "Load", "Tell the users", "Switch"])  # without Check
    steps = {item.id: item for item in memory.task_get(task).steps if item.dropped_in is None}
    assert [item.title for item in steps.values()] == ["Dump", "Load", "Tell the users", "Switch"]
    assert (steps["a"].status, steps["b"].status, steps["b"].note) == ("completed", "active", "half of it")
    assert (steps["b"].depends_on, steps["b"].stage) == (("a",), "2")
    assert steps["d"].depends_on == ()  # nothing waits for a step that was dropped
    memory.task_plan_replace(task, [{"id": "b", "title": "Load", "depends_on": []}])
    assert memory.task_get(task).steps[0].depends_on == ()
