"""Plan progress: what an agent says moves the steps that nobody has set, and can be traced and taken back."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.progress import progress_updates
from ringbolt.progress.plan_progress import Observation, Progress
from ringbolt.signals.phrases import may_tell_progress
from tests.support import run_python

PLAN = [
    "Add the Invoice model to billing.py",
    "Write tests for the tax calculator",
    "Update the README with the new endpoint",
    "Run tests and lint",
    "Commit and push the branch",
]


@pytest.fixture
def task(memory):
    return memory.task_register("Bill", PLAN).task_id


def done(memory, task):
    return [item.id for item in memory.task_get(task).steps if item.status == "completed"]


def inferred(memory, task):
    return [event for event in memory.events(task) if event.type == "step.inferred"]


def distil(memory, task):
    """Take in all that is new, as the one who distils does."""

    def work(tx):
        head = tx.head(task, lock=True)
        return progress_updates.catch_up(memory, tx, head, head["updated_at"])

    while memory.store.write(work):
        pass


# --- what counts


@pytest.mark.parametrize(
    ("message", "over", "current"),
    [
        ("step 3 done", ["s3"], None),
        ("Steps 1-3 are finished.", ["s1", "s2", "s3"], None),
        ("Steps 1 and 3 are done.", ["s1", "s3"], None),
        ("The Invoice model in billing.py is now complete.", ["s1"], None),
        ("Now I'll write the tests for the tax calculator.", [], "s2"),
        ("Moving on to step 3.", [], "s3"),
        ("Step 1 is done. Moving on to step 2.", ["s1"], "s2"),
        ("All done.", ["s1", "s2", "s3", "s4", "s5"], None),
        ("Let me start with step 1.", [], "s1"),
    ],
)
def test_what_the_agent_says_moves_the_plan(memory, task, message, over, current):
    written = memory.task_update(task, message)
    now = memory.task_get(task)
    assert done(memory, task) == over
    assert (written.done, written.current, written.next) == (len(over), now.current, now.next)
    assert now.current == current
    moved = {item.id for item in now.steps if item.basis == "inferred"}
    assert moved == {*over, *([current] if current else [])}
    assert {item.cause for item in now.steps if item.basis == "inferred"} == {written.seq}
    assert now.phase == "executing"


@pytest.mark.parametrize(
    "message",
    [
        "Step 1 is not done yet.",
        "should I mark step 2 done?",
        "Once step 1 is done, I will start with the tests.",
        "The log says:\n> step 4 done ✓",
        "```\nstep 4 done ✓\n```",
        "The cache was updated.",
        "hello",
    ],
)
def test_what_is_denied_asked_quoted_or_about_something_else_completes_nothing(memory, task, message):
    memory.task_update(task, message)
    assert done(memory, task) == []


@pytest.mark.parametrize("channel", ["user", "tool", "web", "import", "system"])
def test_the_words_of_others_complete_nothing(memory, task, channel):
    memory.acting_as(channel=channel).task_update(task, "step 4 done ✓")
    memory.task_log_action(task, "cat log", tool="Bash", input={"command": "cat log"}, output="step 4 done ✓")
    memory.task_update(task, "Let me look at that now.")
    distil(memory, task)
    assert done(memory, task) == []


def test_what_is_said_to_be_open_after_all_is_opened_again(memory, task):
    memory.task_update(task, "Steps 1-2 are done.")
    memory.task_update(task, "Step 2 is not done yet.")
    items = memory.task_get(task).steps
    assert [(item.status, item.basis) for item in items[:2]] == [
        ("completed", "inferred"),
        ("active", "inferred"),
    ]


def test_actions_count_too_and_are_read_with_the_next_message(memory, task):
    edit = {"file_path": "/w/billing.py", "old_string": "", "new_string": "class Invoice: model"}
    memory.task_log_action(task, "edit", tool="Edit", input=edit)
    started = memory.task_log_action(task, "t", tool="Bash", input={"command": "pytest"}, status="started")
    memory.task_log_action(task, action=started.seq, status="completed", output="12 passed")
    assert inferred(memory, task) == []
    memory.task_update(task, "Now the tests for the tax calculator.")
    assert done(memory, task) == ["s1"]


def test_a_message_that_says_nothing_waits_for_one_that_does(memory, task):
    memory.task_update(task, "step 2: nothing to see")
    memory.task_update(task, "Step 1 is done.")
    memory.task_update(task, "hello")
    assert done(memory, task) == ["s1"]


# --- what it leaves behind


def test_an_inferred_event_names_its_cause_and_carries_what_it_sets(memory, task):
    cause = memory.task_update(task, "Steps 1-2 are done.").seq
    (event,) = inferred(memory, task)
    assert event.seq == cause + 1
    assert (event.origin.agent, event.origin.channel) == ("ringbolt", "agent")
    assert (event.data["inferred"], event.data["from"]) == (True, [cause])
    assert set(event.data["confidence"]) == {"s1", "s2"}
    assert min(event.data["confidence"].values()) >= 0.9
    assert {row["basis"] for row in event.sets["steps"].values()} == {"inferred"}
    assert memory.task_get(task).messages == 1
    assert memory.verify().ok


def test_time_travel_shows_what_was_inferred_by_then(memory, task):
    first = memory.task_update(task, "Step 1 is done.").seq
    memory.task_update(task, "Step 2 is done.")
    assert memory.task_get(task, at=first).done == 0
    assert memory.task_get(task, at=first + 1).done == 1
    assert memory.task_get(task).done == 2


def test_a_ledger_with_inferred_events_moves_whole(memory, task, opened, new_store_url, tmp_path):
    memory.task_update(task, "Steps 1-2 are done.")
    memory.export_events(tmp_path / "events.jsonl")
    other = opened(new_store_url())
    other.import_events(tmp_path / "events.jsonl")
    assert other.task_get(task) == memory.task_get(task)
    other.task_update(task, "Step 3 is done.")
    assert done(other, task) == ["s1", "s2", "s3"]
    assert len(inferred(other, task)) == 2
    assert other.verify().ok


def test_a_retry_with_the_same_key_gets_the_same_answer_and_writes_nothing(memory, task):
    first = memory.task_update(task, "Step 1 is done. Moving on to step 2.", key="k")
    count = len(list(memory.events(task)))
    memory.task_update(task, "Step 2 is done.")
    assert memory.task_update(task, "Step 1 is done. Moving on to step 2.", key="k") == first
    assert (first.done, first.current, first.next) == (1, "s2", "s3")
    assert len(list(memory.events(task))) == count + 2


# --- what was set on purpose


def test_a_status_that_was_set_on_purpose_is_never_changed(memory, task):
    memory.task_item_update(task, "s1", status="pending")
    memory.task_item_update(task, "s2", status="active")
    memory.task_update(task, "Steps 1-3 are done. Moving on to step 4.")
    assert [item.status for item in memory.task_get(task).steps] == [
        "pending", "active", "completed", "pending", "pending",
    ]  # fmt: skip
    report = memory.task_progress(task)
    assert [item.suggestion for item in report.steps] == ["completed", "completed", None, "active", None]
    assert report.steps[1].cause == 4


def test_a_status_that_is_set_says_nothing_about_the_others(memory, task):
    memory.task_item_update(task, "s3", status="active")
    memory.task_update(task, "That was added.")
    assert done(memory, task) == []
    memory.task_update(task, "finished", step="s3", step_status="completed")
    assert done(memory, task) == ["s3"]


@pytest.mark.parametrize("status", ["failed", "skipped", "active", "pending", "cancelled"])
def test_what_is_set_on_purpose_replaces_what_was_inferred(memory, task, status):
    memory.task_update(task, "Step 1 is done.")
    memory.task_item_update(task, "s1", status=status)
    memory.task_update(task, "Step 1 is done.")
    assert (memory.task_get(task).steps[0].status, memory.task_get(task).steps[0].basis) == (
        status,
        "explicit",
    )


def test_what_was_inferred_can_be_undone_and_is_not_inferred_again(memory, task):
    seq = memory.task_update(task, "Steps 1-2 are done.").seq + 1
    memory.task_undo(task, seq)
    assert done(memory, task) == []
    memory.task_update(task, "As I said: steps 1-2 are done.")
    distil(memory, task)
    assert done(memory, task) == []
    memory.task_undo(task, memory.task_thread(task, types=["undone"]).events[0].seq)
    assert done(memory, task) == ["s1", "s2"]
    assert memory.verify().ok


def test_a_step_that_somebody_claimed_is_left_to_them(memory, task):
    memory.acting_as(agent="other").task_claim(task, item="s2")
    memory.task_update(task, "Steps 1-3 are done.")
    assert done(memory, task) == ["s1", "s3"]


def test_an_ended_task_is_left_as_it_is(memory, task):
    memory.task_finish(task)
    memory.task_update(task, "Step 1 is done.")
    assert done(memory, task) == []


def test_the_setting_turns_it_off_and_a_later_run_catches_up(memory, task, opened, store_url):
    quiet = opened(store_url, progress="off")
    quiet.task_update(task, "Step 1 is done.")
    assert done(memory, task) == []
    distil(memory, task)
    assert done(memory, task) == ["s1"]
    assert inferred(memory, task)[0].data["from"] == [2]


# --- other plans


def test_a_new_plan_begins_with_a_new_belief(memory, task):
    memory.task_update(task, "Steps 1-2 are done.")
    memory.task_plan_replace(task, [PLAN[0], PLAN[1], "Print the report", "Mail the report"])
    memory.task_update(task, "Step 3 is done.")
    items = memory.task_get(task).steps
    assert [item.status for item in items[:4]] == ["completed", "completed", "completed", "pending"]
    assert memory.task_progress(task).current == items[3].id


def test_what_was_said_before_a_plan_is_not_about_it(memory, task, opened, store_url):
    opened(store_url, progress="off").task_update(task, "Step 4 is done.")
    memory.task_plan_append(task, ["Tell the team"])
    memory.task_update(task, "Let me see now.")
    distil(memory, task)
    assert done(memory, task) == []


def test_a_plan_that_is_very_long_is_not_followed(memory):
    task = memory.task_register("Long", [f"Part {number} of it" for number in range(300)]).task_id
    memory.task_update(task, "Step 1 is done.")
    report = memory.task_progress(task)
    assert done(memory, task) == []
    assert {item.confidence for item in report.steps} == {None}


def test_the_report_of_a_task_without_a_plan_is_empty(memory):
    task = memory.task_register("Bare").task_id
    memory.task_update(task, "Step 1 is done.")
    assert memory.task_progress(task).steps == ()


def test_many_events_are_read_page_by_page(memory, task, opened, store_url):
    quiet = opened(store_url, progress="off")
    for number in range(250):
        quiet.task_update(task, f"note {number}")
    quiet.task_update(task, "Step 1 is done.")
    memory.task_update(task, "Step 2 is done.")
    assert done(memory, task) == []
    memory.task_update(task, "Step 3 is done.")
    assert done(memory, task) == ["s1", "s2", "s3"]


# --- at once, and at what cost

_SAY = """
import sys
from ringbolt.core.tasks import Tasks
from tests.processes import open_rooms
memory = open_rooms(sys.argv[1], Tasks, agent=sys.argv[3])
sys.stdin.readline()
for number in range(1, 6):
    memory.task_update(sys.argv[2], f"Step {number} is done.")
    memory.task_update(sys.argv[2], f"That was {sys.argv[3]}.")
"""


def test_two_processes_at_once_infer_each_thing_once(memory, task, store_url):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", _SAY, store_url, task, name], stdin=subprocess.PIPE, text=True
        )
        for name in ("a", "b")
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert done(memory, task) == ["s1", "s2", "s3", "s4", "s5"]
    completed = [
        item
        for event in inferred(memory, task)
        for item, row in event.sets["steps"].items()
        if row.get("status") == "completed"
    ]
    assert sorted(completed) == ["s1", "s2", "s3", "s4", "s5"]
    assert memory.verify().ok


def test_a_cached_and_a_stored_belief_agree(memory):
    """As when one process says everything, or each message comes from another one."""
    said = [
        "Let me start with step 1.",
        "hello",
        "Step 1 is done.",
        "Now the README.",
        "Step 2 is not done yet.",
    ]
    outcomes = []
    for fresh in (False, True):
        task = memory.task_register("Bill", PLAN).task_id
        for text in said:
            if fresh:
                progress_updates._cache.clear()
            memory.task_update(task, text)
        outcomes.append([(item.status, item.basis) for item in memory.task_get(task).steps])
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    "calls",
    [
        "task_update(None, 'Step 1 is done. Next!', key='k')",
        "task_log_action(None, 'ls')",
    ],
)
@pytest.mark.parametrize("plan", [None, ["over"]])
def test_operations_that_need_no_belief_import_nothing_for_it(tmp_path, calls, plan):
    code = f"""
import sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], session="S")
memory.task_register("a", {plan!r})
if {plan!r}:
    memory.task_item_update(None, 1, status="completed")
memory.{calls}
print([name for name in sys.modules if name.startswith("ringbolt.distill")])
"""
    assert run_python(code, str(tmp_path / "store.db")).stdout == "[]\n"


FRAGMENTS = [
    "step 1", "steps 1-3", "the Invoice model", "tests for the tax calculator", "done", "not done yet", "✓",
    "is complete", "[x]", "moving on to", "Moving on", "next", "now", "let me", "was added", "pass", "look",
    "committed", "all green", "ticking off the list", "I'll", "in place", "everything is done", "the README",
    "builds cleanly", "on to", "-", "proceed", "dispatching", "first", "is fixed", "compiles", "time to",
    "mark step 2 as completed", ".", "?",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=6).map(" ".join))
def test_a_message_that_moves_the_belief_is_never_overlooked(text):
    progress = Progress(PLAN)
    before = {**progress.state(), "texts": 0, "seen": {}}
    progress.observe(Observation(at=1, kind="agent", text=text))
    moved = {**progress.state(), "texts": 0, "seen": {}} != before
    assert not moved or may_tell_progress(text), json.dumps(text)
