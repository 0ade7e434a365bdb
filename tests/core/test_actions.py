"""What was done: actions, their logs, and the ways down to them."""

from __future__ import annotations

import pytest

from ringbolt.model import rules
from tests.support import refused

# --- actions ----------------------------------------------------------------------------------------


def test_an_action_keeps_all_its_fields(memory, task, clock):
    memory.task_update(task, step=1, step_status="active")
    clock.forward(60)
    written = memory.task_log_action(
        task,
        "docker build",
        type="cli",
        tool="bash",
        input={"command": "docker build ."},
        output={"exit_code": 0, "lines": ["ok"]},
        error={"message": "a warning", "details": None},
        duration_ms=1234.5,
        stage=1,
        sub_task_id="11111111-2222",
        files=["a.py", {"path": "b.py", "change": "created"}],
    )
    action = memory.task_drill_down(task, action=written.seq).action
    assert action.to_dict() == {
        "seq": written.seq,
        "at": "2026-03-01T12:01:00.000Z",
        "type": "cli",
        "status": "completed",
        "summary": "docker build",
        "step": "s1",  # the active step
        "tool": "bash",
        "input": {"command": "docker build ."},
        "output": {"exit_code": 0, "lines": ["ok"]},
        "error": {"message": "a warning", "details": None},
        "stage": "1",
        "sub_task_id": "11111111-2222",
        "ended_at": "2026-03-01T12:01:00.000Z",
        "duration_ms": 1234.5,
        "logs": [],
        "origin": {
            "principal": "owner",
            "agent": "tester",
            "channel": "agent",
            "session": "S",
            "claimed": "",
        },
    }
    assert memory.task_get(task).actions == 1


def test_an_action_with_nothing_but_a_summary_is_another_one_that_is_over(memory, task):
    seq = memory.task_log_action(task, "thought about it").seq
    action = memory.task_drill_down(task, action=seq).action
    assert (action.type, action.status, action.step, action.tool) == ("other", "completed", None, None)


def test_an_action_begins_and_ends(memory, task, clock):
    begun = memory.task_log_action(
        task, "docker push", type="cli", status="started", item="Push", input={"x": 1}
    ).seq
    action = memory.task_drill_down(task, action=begun).action
    assert (action.status, action.ended_at, action.duration_ms) == ("started", None, None)
    clock.forward(2.5)
    ended = memory.task_log_action(
        task, action=begun, status="failed", output={"lines": 3}, error="denied", files=["log.txt"]
    )
    action = memory.task_drill_down(task, action=begun).action
    assert (action.status, action.ended_at) == ("failed", "2026-03-01T12:00:02.500Z")
    assert (action.duration_ms, action.input, action.output) == (2500, {"x": 1}, {"lines": 3})
    assert (action.error, action.step, action.type) == ("denied", "s2", "cli")
    event = memory.task_thread(task).events[-1]
    assert (event.type, event.ref, event.step, event.seq) == ("action.ended", begun, "s2", ended.seq)
    assert memory.task_get(task).actions == 1


def test_a_measured_duration_beats_the_clock(memory, task, clock):
    begun = memory.task_log_action(task, "x", status="started").seq
    clock.forward(60)
    memory.task_log_action(task, action=begun, duration_ms=5)
    assert memory.task_drill_down(task, action=begun).action.duration_ms == 5


def test_a_clock_that_was_set_back_gives_no_duration(memory, task, clock):
    begun = memory.task_log_action(task, "x", status="started").seq
    clock.forward(-60)
    memory.task_log_action(task, action=begun)
    assert memory.task_drill_down(task, action=begun).action.duration_ms is None


def test_an_action_of_every_type_is_kept(memory, task):
    for kind in rules.ACTION_TYPES:
        seq = memory.task_log_action(task, "x", type=kind.upper()).seq
        assert memory.task_drill_down(task, action=seq).action.type == kind


def test_the_words_of_an_execution_log_are_understood(memory, task):
    for word, status, kind in [
        ("started", "started", "cli"),
        ("COMPLETED", "completed", "cli"),
        ("FAILED", "failed", "cli"),
        ("SKIPPED", "skipped", "cli"),
        ("SYSTEM_ACTION", "completed", "system"),
        ("SYSTEM_ERROR", "failed", "system"),
        ("success", "completed", "cli"),
        ("done", "completed", "cli"),
        ("error", "failed", "cli"),
        ("running", "started", "cli"),
    ]:
        seq = memory.task_log_action(task, "x", type="cli", status=word).seq
        action = memory.task_drill_down(task, action=seq).action
        assert (action.status, action.type) == (status, kind)


def test_an_action_that_is_over_stays_so(memory, task):
    for old, status in [
        (old, new)
        for old in ("completed", "failed", "skipped")
        for new in rules.ACTION_STATUSES
        if new != old
    ]:
        seq = memory.task_log_action(task, "x", status=old).seq
        with refused(memory, "illegal_transition", naming="final"):
            memory.task_log_action(task, action=seq, status=status)


def test_an_action_cannot_end_by_starting(memory, task):
    seq = memory.task_log_action(task, "x", status="started").seq
    with refused(memory, "illegal_transition", naming="completed, failed, skipped"):
        memory.task_log_action(task, action=seq, status="started")


def test_the_first_action_begins_the_execution(memory, task, clock):
    clock.forward(60)
    memory.task_log_action(task, "x")
    seen = memory.task_get(task)
    assert (seen.phase, seen.timestamps.execution_started_at) == ("executing", "2026-03-01T12:01:00.000Z")


def test_the_files_of_a_task_are_known_with_what_became_of_them(memory, task, clock):
    memory.task_log_action(
        task, "write", type="edit", files=[{"path": "new.py", "change": "created"}, "old.py"]
    )
    clock.forward(60)
    last = memory.task_log_action(
        task, "edit", files=["new.py", {"path": "gone.py", "change": "deleted"}]
    ).seq
    files = {touch.path: touch for touch in memory.task_get(task).files}
    assert {path: touch.change for path, touch in files.items()} == {
        "new.py": "created",  # it is the task's own, however often it is edited
        "old.py": "modified",
        "gone.py": "deleted",
    }
    assert (files["new.py"].seq, files["new.py"].at) == (last, "2026-03-01T12:01:00.000Z")
    memory.task_log_action(task, "rm", files=[{"path": "new.py", "change": "deleted"}])
    memory.task_log_action(task, "restore", files=[{"path": "new.py", "change": "modified"}])
    assert {touch.path: touch.change for touch in memory.task_get(task).files}["new.py"] == "modified"


def test_an_action_that_cannot_be_is_refused(memory, task):
    for arguments, code in [
        ({"summary": None}, "invalid_argument"),
        ({"summary": ""}, "invalid_argument"),
        ({"summary": "x", "type": "magic"}, "unknown_word"),
        ({"summary": "x", "status": "bogus"}, "unknown_word"),
        ({"summary": "x", "item": "nowhere"}, "step_not_found"),
        ({"summary": "x", "tool": "x" * 501}, "too_large"),
        ({"summary": "x", "input": object()}, "invalid_json"),
        ({"summary": "x", "output": float("nan")}, "invalid_json"),
        ({"summary": "x", "error": {1: 2}}, "invalid_json"),
        ({"summary": "x", "duration_ms": -1}, "invalid_argument"),
        ({"summary": "x", "duration_ms": float("inf")}, "invalid_argument"),
        ({"summary": "x", "stage": "x" * 201}, "too_large"),
        ({"summary": "x", "sub_task_id": "x" * 201}, "too_large"),
        ({"summary": "x", "files": "a.py"}, "invalid_argument"),
        ({"summary": "x", "files": [5]}, "invalid_argument"),
        ({"summary": "x", "files": [{}]}, "invalid_argument"),
        ({"summary": "x", "files": [{"path": "a", "change": "moved"}]}, "unknown_word"),
        ({"summary": "x", "files": ["a"] * 1001}, "invalid_argument"),
        ({"summary": "x", "token": 1}, "stale_token"),
        ({"action": 1}, "record_not_found"),
        ({"action": 99}, "record_not_found"),
        ({"action": "1"}, "invalid_argument"),
        ({"action": 2**63}, "invalid_argument"),
    ]:
        with refused(memory, code):
            memory.task_log_action(task, **arguments)


# --- logs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", ["line 1", "  indented output\n\n", "\ttab\n", "\x1b[31mred\x1b[0m\r\n"])
def test_a_log_is_kept_as_it_came(memory, task, content):
    action = memory.task_log_action(task, "make", status="started", item="Build").seq
    memory.task_log_append(task, action=action, content=content, type="stdout")
    (log,) = memory.task_drill_down(task, action=action).action.logs
    assert log.text == content
    assert (log.data, log.ref, log.step, log.type) == ({"type": "stdout"}, action, "s1", "log")


def test_the_logs_of_an_action_are_in_order_and_its_own(memory, task):
    one = memory.task_log_action(task, "one", status="started").seq
    two = memory.task_log_action(task, "two", status="started").seq
    for number in range(5):
        memory.task_log_append(task, action=one if number % 2 else two, content=f"log {number}")
    logs = memory.task_drill_down(task, action=two).action.logs
    assert [log.text for log in logs] == ["log 0", "log 2", "log 4"]
    assert logs[0].data == {"type": "output"}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"action": 1, "content": "x"}, "record_not_found"),
        ({"action": 99, "content": "x"}, "record_not_found"),
        ({"action": "2", "content": "x"}, "invalid_argument"),
        ({"action": 2, "content": ""}, "invalid_argument"),
        ({"action": 2, "content": "x", "type": ""}, "invalid_argument"),
        ({"action": 2, "content": "x", "type": "x" * 101}, "too_large"),
        ({"action": 2, "content": "x", "token": 1}, "stale_token"),
    ],
)
def test_a_log_that_cannot_be_is_refused(memory, task, arguments, code):
    assert memory.task_log_action(task, "make").seq == 2
    with refused(memory, code):
        memory.task_log_append(task, **arguments)


# --- the thread -------------------------------------------------------------------------------------


def test_the_thread_has_the_last_events_in_order(memory, task):
    for number in range(10):
        memory.task_update(task, f"message {number}")
    thread = memory.task_thread(task, limit=3)
    assert [event.text for event in thread.events] == ["message 7", "message 8", "message 9"]
    assert [event.seq for event in thread.events] == [9, 10, 11]
    assert (thread.task_id, thread.cursor) == (task, 9)


def test_the_whole_thread_can_be_walked_back(memory, task):
    for number in range(10):
        memory.task_update(task, f"message {number}")
    seqs, before = [], None
    while True:
        thread = memory.task_thread(task, limit=4, before=before)
        seqs = [event.seq for event in thread.events] + seqs
        before = thread.cursor
        if before is None:
            break
    assert seqs == list(range(1, 12))


def test_the_thread_can_be_of_some_types_only(memory, task):
    memory.task_update(task, "hello")
    memory.task_decide(task, choice="x")
    memory.task_log_action(task, "y")
    thread = memory.task_thread(task, types=["decision", "action", "no such type"])
    assert [event.type for event in thread.events] == ["decision", "action"]
    assert [event.type for event in memory.task_thread(task, types="message").events] == ["message"]


def test_a_thread_that_cannot_be_is_refused(memory, task):
    for arguments in [
        {"limit": 0},
        {"limit": 1001},
        {"limit": 2.5},
        {"before": 0},
        {"before": 2**63},
        {"types": 5},
        {"types": [""]},
    ]:
        with refused(memory, "invalid_argument"):
            memory.task_thread(task, **arguments)


# --- drilling down ----------------------------------------------------------------------------------


def test_each_level_leads_to_the_one_below(memory, task):
    memory.task_update(task, step=2, step_status="active")
    first = memory.task_log_action(task, "docker push", type="cli").seq
    memory.task_log_append(task, action=first, content="layer 1")
    memory.task_log_action(task, "elsewhere", item="Run")
    memory.task_decide(task, choice="ghcr.io", item="Push")
    memory.task_remember(task, "slow", type="error", item="s2")

    top = memory.task_drill_down(task)
    assert [item.title for item in top.steps] == ["Build", "Push", "Run"]
    assert (top.task.id, top.task.current_title, top.step, top.actions) == (task, "Push", None, ())

    middle = memory.task_drill_down(task, top.steps[1].id)
    assert (middle.step.title, middle.left_out, middle.steps) == ("Push", 0, ())
    assert [(action.seq, action.summary) for action in middle.actions] == [(first, "docker push")]
    assert [log.text for log in middle.actions[0].logs] == ["layer 1"]
    assert [(entry.type, entry.summary) for entry in middle.entries] == [
        ("decision", "ghcr.io"),
        ("error", "slow"),
    ]

    bottom = memory.task_drill_down(task, action=middle.actions[0].seq)
    assert (bottom.step.id, bottom.action.logs[0].text) == ("s2", "layer 1")


@pytest.mark.parametrize("named", [{"item": "s2"}, {"item": 2}, {"item": "push"}, {"ordinal": 1}])
def test_a_step_is_found_in_each_way(memory, task, named):
    assert memory.task_drill_down(task, **named).step.id == "s2"


@pytest.mark.parametrize(
    "kind", ["decision", "error", "tool_result", "user_instruction", "discovery", "artifact", "context",
             "exclusion", "question"],
)  # fmt: skip
def test_every_type_of_entry_is_found_below_its_step(memory, task, kind):
    memory.task_remember(task, "something", type=kind, item="s1")
    assert [entry.type for entry in memory.task_drill_down(task, "s1").entries] == [kind]


def test_a_step_with_many_actions_shows_the_last_ones_and_counts_the_rest(memory, task):
    for number in range(8):
        memory.task_log_action(task, f"action {number}", item="s1")
    down = memory.task_drill_down(task, "s1", limit=3)
    assert [action.summary for action in down.actions] == ["action 5", "action 6", "action 7"]
    assert down.left_out == 5


def test_a_way_down_that_does_not_exist_is_refused(memory, task):
    for arguments, code in [
        ({"item": "nowhere"}, "step_not_found"),
        ({"ordinal": 3}, "step_not_found"),
        ({"ordinal": -1}, "invalid_argument"),
        ({"action": 1}, "record_not_found"),
        ({"action": 99}, "record_not_found"),
        ({"action": 2**63}, "invalid_argument"),
        ({"action": "1"}, "invalid_argument"),
        ({"action": [1]}, "invalid_argument"),
        ({"limit": 0}, "invalid_argument"),
        ({"limit": 1001}, "invalid_argument"),
    ]:
        with refused(memory, code):
            memory.task_drill_down(task, **arguments)
