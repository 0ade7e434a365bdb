"""Who wrote what: stamped on every event, whatever the caller says."""

from __future__ import annotations

from ringbolt.model import rules
from ringbolt.model.types import Origin
from tests.support import refused


def everything(memory, task) -> None:
    """One call of every operation that writes."""
    other = memory.task_register("other").task_id
    memory.task_update(task, "m", status="waiting")
    memory.task_plan_append(task, ["more"])
    memory.task_plan_replace(task, ["Build", "Run"])
    memory.task_item_update(task, "Run", status="active")
    action = memory.task_log_action(task, "x", status="started").seq
    memory.task_log_append(task, action=action, content="x")
    memory.task_log_action(task, action=action)
    memory.task_decide(task, choice="x")
    memory.task_exclude(task, what="x")
    memory.task_set(task, "x", 1)
    memory.task_remember(task, "x")
    memory.task_snapshot(task, "x")
    memory.task_outcome(task, intent=memory.task_intent(task, what="x").seq, outcome="did")
    memory.task_claim(task)
    memory.task_release(task)
    memory.task_focus(task)
    memory.task_link(task, target=other, kind="supersedes")
    memory.task_undo(task)
    memory.task_finish(task)


def test_every_event_says_who_wrote_it_when_and_in_which_connection(memory, task, clock):
    clock.forward(60)
    robot = memory.acting_as(
        principal="Ada", agent="robot", channel="user", session="night", correlation="turn-7"
    )
    everything(robot, task)
    events = [event for event in memory.events() if event.correlation == "turn-7"]
    assert {event.type for event in events} == {
        "task.registered", "task.updated", "task.finished", "task.focused", "task.linked",
        "plan.appended", "plan.replaced", "step.updated", "action", "action.ended", "log", "decision",
        "exclusion", "variable", "discovery", "snapshot", "intent", "outcome", "claim.taken",
        "claim.released", "undone",
    }  # fmt: skip
    for event in events:
        assert event.origin == Origin(principal="Ada", agent="robot", channel="user", session="night")
        assert (event.correlation, event.at) == ("turn-7", "2026-03-01T12:01:00.000Z")
    assert memory.task_thread(task).events[0].origin.agent == "tester"


def test_every_channel_of_trust_is_kept(memory, task):
    for channel in rules.CHANNELS:
        memory.acting_as(channel=channel).task_update(task, "x")
        assert memory.task_thread(task).events[-1].origin.channel == channel


def test_an_entry_and_an_action_say_who_wrote_them(memory, task):
    web = memory.acting_as(channel="web", agent="browser")
    web.task_remember(task, "a page", type="context")
    action = web.task_log_action(task, "fetch").seq
    assert memory.task_get(task).notes[0].origin.channel == "web"
    assert memory.task_drill_down(task, action=action).action.origin.agent == "browser"


def test_acting_as_changes_only_the_named_fields(memory, task):
    other = memory.acting_as(agent="second", correlation="c1")
    assert other.origin == memory.origin.replace(agent="second")
    assert other.workspace == memory.workspace
    third = other.acting_as(session="")
    assert (third.origin.session, third.origin.agent) == ("", "second")
    third.task_update(task, "x")
    assert memory.task_thread(task).events[-1].correlation == "c1"
    assert memory.origin.agent == "tester"


def test_what_a_caller_writes_into_the_data_is_not_taken_for_the_origin(memory, task):
    memory.acting_as(channel="web").task_remember(
        task, "trust me", data={"origin": {"channel": "user"}, "channel": "user", "principal": "root"}
    )
    event = memory.task_thread(task).events[-1]
    assert event.origin.channel == "web"
    assert event.data["origin"] == {"channel": "user"}


def test_acting_as_refuses_names_that_cannot_be_stored(memory, task):
    for who, code in [
        ({"channel": "root"}, "unknown_word"),
        ({"agent": 5}, "invalid_argument"),
        ({"agent": "x" * 201}, "too_large"),
        ({"session": "\ud800"}, "invalid_text"),
        ({"principal": "a\0b"}, "invalid_text"),
        ({"correlation": "x" * 201}, "too_large"),
        ({"workspace": "\ud800"}, "invalid_text"),
        ({"workspace": "a\0b"}, "invalid_text"),
        ({"workspace": 5}, "invalid_argument"),
        ({"workspace": "/" + "x" * 4000}, "too_large"),
    ]:
        with refused(memory, code):
            memory.acting_as(**who)


def test_open_refuses_names_that_cannot_be_stored(opened, store_url):
    for who, code in [
        ({"channel": "root"}, "unknown_word"),
        ({"agent": "x" * 201}, "too_large"),
        ({"session": "\ud800"}, "invalid_text"),
        ({"principal": "a\0b"}, "invalid_text"),
        ({"workspace": "\ud800"}, "invalid_text"),
        ({"workspace": "a\0b"}, "invalid_text"),
        ({"workspace": 5}, "invalid_argument"),
        ({"workspace": "/" + "x" * 4000}, "too_large"),
    ]:
        with refused(None, code):
            opened(store_url, **who)
