"""What may follow what, plans in all their forms, and the arithmetic of a plan."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ringbolt.model import rules
from ringbolt.model.errors import Conflict, InvalidInput
from tests.support import LONG, complaint

TABLES = {
    "task": rules.TASK_TRANSITIONS,
    "item": rules.ITEM_TRANSITIONS,
    "action": rules.ACTION_TRANSITIONS,
    "effect": rules.EFFECT_TRANSITIONS,
    "entry": rules.ENTRY_TRANSITIONS,
}
EVERY_STEP = [
    (name, old, new) for name, table in TABLES.items() for old in table for new in table if new != old
]


def refusal(plan, **options) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        rules.parse_plan(plan, **options)
    assert complaint(caught.value) is None
    return caught.value


def titles(plan) -> list[str]:
    return [step["title"] for step in rules.parse_plan(plan)]


def item(name: str, status: str, version: int = 1, depends_on=()) -> dict:
    return {"item_id": name, "status": status, "version": version, "depends_on": list(depends_on)}


# --- transitions ------------------------------------------------------------------------------------


def test_a_transition_leads_only_to_a_status_that_has_a_row_of_its_own():
    for table in TABLES.values():
        for old, following in table.items():
            assert set(following) <= set(table)
            assert old not in following
            assert len(following) == len(set(following))


def test_only_what_the_table_allows_may_follow_and_the_error_names_the_legal_ones():
    for name, old, new in EVERY_STEP:
        table = TABLES[name]
        if new in table[old]:
            rules.check_transition(table, "It", old, new)
            continue
        with pytest.raises(Conflict) as caught:
            rules.check_transition(table, "It", old, new)
        error = caught.value
        assert error.code == "illegal_transition"
        assert error.details == {"current": old, "legal": list(table[old])}
        assert old in error.message
        assert new in error.message
        assert all(word in error.hint for word in table[old])
        if not table[old]:
            assert "final" in error.hint


def test_staying_the_same_is_always_allowed():
    for table in TABLES.values():
        for status in table:
            rules.check_transition(table, "It", status, status)


def test_open_and_ended_share_out_the_task_statuses():
    assert sorted((*rules.OPEN, *rules.ENDED)) == sorted(rules.TASK_STATUSES)


def test_every_ended_task_can_be_reopened_and_every_open_one_can_end():
    for status in rules.ENDED:
        assert "active" in rules.TASK_TRANSITIONS[status]
    for status in rules.OPEN:
        assert set(rules.ENDED) < set(rules.TASK_TRANSITIONS[status])


def test_every_phase_that_stamps_a_time_is_a_phase():
    assert set(rules.PHASE_STAMPS) < set(rules.PHASES)


# --- ids --------------------------------------------------------------------------------------------


def test_an_id_has_ten_letters_of_crockfords_alphabet():
    made = rules.make_id(bytes(range(100, 120)))
    assert len(made) == 10
    assert set(made) <= set("0123456789abcdefghjkmnpqrstvwxyz")
    assert rules.make_id(bytes(10)) == "0000000000"
    assert rules.make_id(b"\xff" * 10) == "zzzzzzzzzz"


def test_an_id_is_read_in_any_case_and_with_look_alike_letters():
    for given, read in [
        ("abc", "abc"),
        ("ABC", "abc"),
        (" abc\n", "abc"),
        ("oil", "011"),
        ("OIL", "011"),
        ("0123456789", "0123456789"),
    ]:
        assert rules.normal_id(given) == read


def test_what_cannot_be_an_id_is_none():
    for given in ["", " ", "a" * 11, "u", "a-b", "../x", "a\0", "é", "a b", "%", "\u202eabc", LONG]:
        assert rules.normal_id(given) is None


def test_a_slug_may_name_a_step():
    for given in ["a", "schema-convert", "v1.2", "A_b", "1", "x" * 64]:
        assert rules.is_slug(given)


def test_what_is_no_slug_may_not():
    for given in ["", "x" * 65, ".a", "-a", "_a", "a/b", "a b", "ä", "a\n", "../x", "a\0", "é"]:
        assert not rules.is_slug(given)


# --- plans in their forms ---------------------------------------------------------------------------


def test_titles_become_steps_with_ids_in_order():
    assert rules.parse_plan(["Build", "Push"]) == [
        {"id": "s1", "title": "Build", "stage": None, "depends_on": [], "detail": {}},
        {"id": "s2", "title": "Push", "stage": None, "depends_on": [], "detail": {}},
    ]


def test_an_empty_plan_has_no_steps():
    for nothing in [None, [], (), "", "\n \n", {}, {"steps": []}]:
        assert rules.parse_plan(nothing) == []


def test_a_text_is_a_step_a_line_without_its_bullets_numbers_and_boxes():
    text = "1. Build\n2) Push\n3: Run\n\n- Check\n* Tell\n+ Sleep\n• Wake\n- [ ] Open\n- [x] Shut\n  Plain  "
    assert titles(text) == [
        "Build", "Push", "Run", "Check", "Tell", "Sleep", "Wake", "Open", "Shut", "Plain",
    ]  # fmt: skip


def test_a_number_that_belongs_to_the_title_stays():
    assert titles("3 retries\n2026 report\n-5 degrees") == ["3 retries", "2026 report", "-5 degrees"]


def test_steps_as_objects_keep_what_they_say():
    (step,) = rules.parse_plan(
        [
            {
                "id": "build",
                "title": " Build ",
                "stage": 2,
                "tool": "docker",
                "input": {"tag": 1},
                "owner": "me",
            }
        ]
    )
    assert step == {
        "id": "build",
        "title": "Build",
        "stage": "2",
        "depends_on": [],
        "detail": {"tool": "docker", "input": {"tag": 1}, "owner": "me"},
        "given": ["stage"],
    }


def test_a_title_is_found_under_each_name_that_sources_use():
    for name in ["title", "stepDescription", "description", "text", "content", "name"]:
        (step,) = rules.parse_plan([{name: "Build"}])
        assert step["title"] == "Build"
        assert step["detail"] == {}


def test_dependencies_are_found_under_each_name_that_sources_use():
    for name in ["depends_on", "dependsOn", "dependencies"]:
        steps = rules.parse_plan([{"id": "a", "title": "A"}, {"id": "b", "title": "B", name: ["a"]}])
        assert steps[1]["depends_on"] == ["a"]


def test_the_stages_of_a_task_memory_bank_become_steps():
    stages = [
        {
            "stage": 1,
            "steps": [
                {
                    "stepDescription": "Search the web",
                    "toolName": "search",
                    "sub_task_input": {"query": "x"},
                    "narrative_step": "Looking around",
                },
                {"stepDescription": "Read", "toolName": "read", "narrative_step": "Reading"},
            ],
        },
        {"stage": 2, "steps": [{"narrative_step": "Only told", "toolName": "none", "sub_task_input": None}]},
    ]  # fmt: skip
    first, second, third = rules.parse_plan(stages)
    assert (first["title"], first["stage"]) == ("Search the web", "1")
    assert first["detail"] == {"tool": "search", "input": {"query": "x"}, "narrative": "Looking around"}
    assert second["detail"]["narrative"] == "Reading"
    assert (third["id"], third["title"], third["stage"]) == ("s3", "Only told", "2")


def test_a_plan_may_be_wrapped_in_an_object():
    for name in ["stages", "steps", "items", "plan", "subtasks"]:
        assert titles({name: ["Build", {"title": "Push"}]}) == ["Build", "Push"]
        assert titles({name: ("Build",)}) == ["Build"]


def test_a_wrapped_plan_with_stages_keeps_each_stage():
    plan = {"stages": [{"stage": "prepare", "steps": ["A"]}, {"stage": "ship", "steps": ["B"]}]}
    assert [(step["title"], step["stage"]) for step in rules.parse_plan(plan)] == [
        ("A", "prepare"),
        ("B", "ship"),
    ]


def test_a_step_may_name_another_stage_than_the_one_around_it():
    (step,) = rules.parse_plan([{"stage": 1, "steps": [{"title": "A", "stage": 9}]}])
    assert step["stage"] == "9"


def test_a_graph_maps_ids_to_steps():
    steps = rules.parse_plan(
        {
            "backup": {"title": "Back up"},
            "convert": {"depends_on": "backup"},
            "migrate": {"title": "Migrate", "depends_on": ["convert", "backup"]},
            "tell": "Tell everyone",
        }
    )
    assert [(step["id"], step["title"], step["depends_on"]) for step in steps] == [
        ("backup", "Back up", []),
        ("convert", "convert", ["backup"]),
        ("migrate", "Migrate", ["convert", "backup"]),
        ("tell", "Tell everyone", []),
    ]


def test_a_dependency_may_be_a_title():
    steps = rules.parse_plan([{"title": "Build"}, {"title": "Push", "depends_on": ["Build"]}])
    assert steps[1]["depends_on"] == ["s1"]


def test_a_dependency_may_come_later_in_the_plan():
    steps = rules.parse_plan([{"id": "a", "title": "A", "depends_on": ["b"]}, {"id": "b", "title": "B"}])
    assert steps[0]["depends_on"] == ["b"]


def test_the_callers_plan_is_not_changed():
    plan = [{"title": "A", "depends_on": []}, {"title": "B", "depends_on": ["A"], "more": {"x": 1}}]
    before = [dict(step) for step in plan]
    rules.parse_plan(plan)
    assert plan == before


# --- ids of steps -----------------------------------------------------------------------------------


def test_ids_are_never_used_twice():
    steps = rules.parse_plan(["C", {"id": "s4", "title": "D"}, "E"], taken=["s1", "s2"])
    assert [step["id"] for step in steps] == ["s3", "s4", "s5"]


def test_an_id_that_is_taken_is_refused():
    error = refusal([{"id": "s1", "title": "A"}], taken=["s1"])
    assert error.code == "invalid_plan"
    assert "s1" in error.message


def test_the_same_id_twice_is_refused():
    assert refusal([{"id": "a", "title": "A"}, {"id": "a", "title": "B"}]).code == "invalid_plan"


def test_a_step_with_the_id_or_title_of_a_live_one_is_that_one():
    steps = rules.parse_plan(
        [{"id": "build", "title": "Build anew"}, "Push", "Third"],
        taken=["build", "s1", "s2"],
        live={"build": "Build", "s1": "Push"},
    )
    assert [step["id"] for step in steps] == ["build", "s1", "s3"]


def test_of_two_new_steps_with_one_title_only_the_first_is_the_live_one():
    steps = rules.parse_plan(["Test", "Test"], taken=["s1"], live={"s1": "Test"})
    assert [step["id"] for step in steps] == ["s1", "s2"]


def test_of_two_live_steps_with_one_title_each_is_found_once():
    steps = rules.parse_plan(["Test", "Test"], taken=["s1", "s2"], live={"s1": "Test", "s2": "Test"})
    assert [step["id"] for step in steps] == ["s1", "s2"]


def test_an_id_that_could_be_mistaken_is_refused():
    for bad in ["../x", "a b", "", ".", "x" * 65, 7, True, ["a"], "\ud800", "a\0", "\x1b[2J"]:
        assert refusal([{"id": bad, "title": "A"}]).code == "invalid_plan"


def test_a_refused_id_is_shown_without_its_control_characters():
    assert "\x1b" not in refusal([{"id": "\x1b[2J", "title": "A"}]).message


# --- plans that cannot be read ----------------------------------------------------------------------


def test_a_plan_that_cannot_be_read_is_refused():
    for plan in [5, 1.5, True, b"Build", object(), [None], [5], [[]], [["A"]], [{}], [{"title": " "}], [" "]]:
        assert refusal(plan).code == "invalid_plan"


def test_a_dependency_on_no_step_is_refused():
    for depends in [["nowhere"], "nowhere", [7], 7, [None], [["a"]], {"a": 1}]:
        error = refusal([{"id": "a", "title": "A"}, {"id": "b", "title": "B", "depends_on": depends}])
        assert error.code == "invalid_plan"
        assert "b" in error.message


def test_a_plan_nested_without_end_is_refused():
    step: object = "A"
    for _ in range(10_000):
        step = {"steps": [step]}
    assert refusal([step]).code in ("invalid_plan", "too_large", "invalid_json")
    deep: object = "A"
    for _ in range(10_000):
        deep = [deep]
    assert refusal([deep]).code in ("invalid_plan", "too_large", "invalid_json")


# --- dependencies -----------------------------------------------------------------------------------


def test_steps_that_wait_for_one_another_are_refused_by_name():
    for graph, circle in [
        ({"a": ["a"]}, {"a"}),
        ({"a": ["b"], "b": ["a"]}, {"a", "b"}),
        ({"x": [], "a": ["b", "x"], "b": ["c"], "c": ["a"], "d": ["a"]}, {"a", "b", "c"}),
    ]:
        with pytest.raises(InvalidInput) as caught:
            rules.check_dependencies(graph)
        assert caught.value.code == "dependency_cycle"
        found = caught.value.details["cycle"]
        assert set(found) == circle
        assert found[0] == found[-1]
        for here, following in pairwise(found):
            assert following in graph[here]
        assert " → ".join(found) in caught.value.message


def test_steps_that_can_be_done_one_after_the_other_pass():
    for graph in [
        {},
        {"a": []},
        {"a": ["b"], "b": []},
        {"a": ["b", "c"], "b": ["d"], "c": ["d"], "d": []},  # a diamond is no circle
        {"a": ["gone"]},
        {"a": ["b", "b"], "b": []},
    ]:
        rules.check_dependencies(graph)


def test_a_chain_of_ten_thousand_steps_is_no_problem():
    chain = {f"s{n}": [f"s{n + 1}"] for n in range(10_000)}
    rules.check_dependencies(chain)
    with pytest.raises(InvalidInput):
        rules.check_dependencies({**chain, "s10000": ["s0"]})


def test_a_step_is_ready_when_what_it_waits_for_is_over():
    for status, ready in [
        ("pending", False),
        ("active", False),
        ("failed", False),
        ("completed", True),
        ("skipped", True),
        ("cancelled", True),
    ]:
        assert rules.is_ready(["a"], {"a": status}) is ready
        assert rules.is_ready(["a", "b"], {"a": status, "b": "pending"}) is False


def test_a_step_that_waits_for_nothing_or_for_what_is_gone_is_ready():
    assert rules.is_ready([], {})
    assert rules.is_ready(["gone"], {})


# --- where a plan stands ----------------------------------------------------------------------------


def test_an_empty_plan_stands_nowhere():
    assert rules.plan_position([]) == {"done": 0, "total": 0, "current_item": None, "next_item": None}


def test_done_counts_completed_steps_and_next_is_the_first_pending_one():
    position = rules.plan_position([item("a", "completed"), item("b", "pending"), item("c", "pending")])
    assert position == {"done": 1, "total": 3, "current_item": None, "next_item": "b"}


def test_skipped_and_cancelled_steps_are_out_of_the_count_so_that_all_can_be_done():
    position = rules.plan_position([item("a", "completed"), item("b", "skipped"), item("c", "cancelled")])
    assert (position["done"], position["total"]) == (1, 1)


def test_a_failed_step_stays_in_the_count():
    position = rules.plan_position([item("a", "completed"), item("b", "failed")])
    assert (position["done"], position["total"], position["next_item"]) == (1, 2, None)


def test_current_is_the_step_that_became_active_last():
    position = rules.plan_position([item("a", "active", 7), item("b", "active", 9), item("c", "active", 8)])
    assert position["current_item"] == "b"


def test_next_is_a_step_that_waits_for_nothing():
    position = rules.plan_position(
        [item("a", "active"), item("b", "pending", depends_on=["a"]), item("c", "pending")]
    )
    assert position["next_item"] == "c"


def test_when_every_pending_step_waits_the_first_of_them_is_next():
    position = rules.plan_position([item("a", "active"), item("b", "pending", depends_on=["a"])])
    assert position["next_item"] == "b"


# --- durations --------------------------------------------------------------------------------------


def test_a_duration_is_days_hours_and_minutes():
    for text, minutes in [
        ("24h", 1440),
        ("1d12h30m", 2190),
        ("1d30m", 1470),
        ("90m", 90),
        ("5", 5),
        (" 7d ", 10_080),
        (45, 45),
        ("0d5m", 5),
    ]:
        assert rules.parse_duration("it", text) == minutes


def test_anything_else_is_no_duration():
    for text in [
        "",
        " ",
        "0",
        "0h",
        "0d0h0m",
        False,
        -7,
        "-5",
        "1.5h",
        "24 h",
        "h",
        "1h1d",
        "1h1h",
        "24hours",
        "1w",
        "soon",
        None,
        True,
        1.5,
        [],
        "٣",
        "٣h",
        "1e3",
        "9" * 30,
        10**30,
        "1H",
    ]:
        with pytest.raises(InvalidInput) as caught:
            rules.parse_duration("the threshold", text)
        assert caught.value.code == "invalid_time"
        assert "the threshold" in caught.value.message
