"""What a packet says first: the mode, what broke off, the present request, and who else is at work."""

from __future__ import annotations

import pytest

from ringbolt.model.validate import stamp
from ringbolt.store import sessions
from ringbolt.store.sessions import INTERRUPTED, WAITING, WORKING, Session

REQUEST, FINISHED, LEFT_OPEN = "request", "previous finished", "previous open"


@pytest.fixture
def own(memory, clock):
    """The memory of a session, with a function that says what its host reported."""
    mine = memory.acting_as(session="mine")
    return mine, lambda name="mine", **told: put(mine, clock, name, **told)


def put(memory, clock, name, **told):
    now = stamp(clock())
    fields = {"turn": WORKING, "started_at": now, "seen_at": now, "workspace": memory.workspace, **told}
    memory.store.write(lambda tx: sessions.put(tx, Session(id=name, **fields)))


def asked(memory, task, text, *tags):
    memory.acting_as(channel="user").task_remember(task, text, type="user_instruction", tags=list(tags))


def test_the_present_request_leads_and_finished_ones_are_a_line(own):
    memory, _ = own
    task = (
        memory.acting_as(channel="user").task_register("Typo", request="Fix the typo in the title.").task_id
    )
    asked(memory, task, "Now write a parser for the log files.", REQUEST, FINISHED)
    text = memory.task_resume(task).text
    assert "Request #2u:\n| Now write a parser for the log files.\n" in text
    assert 'Finished before #1u: "Fix the typo in the title."\n' in text
    assert text.index("parser for the log files") < text.index("Finished before")
    asked(memory, task, "And then the docs.", REQUEST, LEFT_OPEN)
    text = memory.task_resume(task, budget=300).text
    assert "Request #3u:\n| And then the docs.\n" in text
    assert 'Also open #2u: "Now write a parser for the log files."\n' in text
    assert "User instructions" not in text


def test_a_request_leads_however_many_instructions_follow(own):
    memory, _ = own
    task = memory.acting_as(channel="user").task_register("Typo", request="Fix the typo.").task_id
    asked(memory, task, "Write a parser.", REQUEST, FINISHED)
    for number in range(30):
        asked(memory, task, f"Mind the case number {number} too, it matters to us.")
    assert "Request #2u:\n| Write a parser.\n" in memory.task_resume(task, budget=400).text


def test_what_the_user_forbids_stands_right_after_the_request(own):
    memory, _ = own
    task = memory.task_register("Parser", request="Write a parser.").task_id
    asked(memory, task, "It should read gzip too. Please don't touch the tests, they are mine.")
    asked(memory, task, "I don't know which version we have.")
    asked(memory, task, "Do not write code yet")
    for number in range(10):
        asked(memory, task, f"Mind the case number {number} too, it matters to us.")
    lines = memory.task_resume(task, budget=400).text.splitlines()
    at = lines.index("| Write a parser.")
    assert lines[at + 1].startswith("The user said #2u ")
    assert "don't touch the tests, they are mine" in lines[at + 1]
    assert lines[at + 2] == 'The user said #4u "Do not write code yet"'
    assert "which version" not in lines[at + 3]


def test_what_a_long_request_forbids_is_not_cut_off(own):
    memory, _ = own
    request = f"Write a parser. {'It reads many formats. ' * 60}Do not write code yet. Thank you."
    task = memory.task_register("Parser", request=request).task_id
    text = memory.task_resume(task, budget=300).text
    assert text.count("Do not write code yet") == 1  # within the request, so it needs no row of its own
    request = f"Write a lexer. {'It reads many formats. ' * 90}Do not write code yet. Thank you."
    task = memory.task_register("Lexer", request=request).task_id
    assert "The request says #" in (text := memory.task_resume(task, budget=300).text)
    assert '"Do not write code yet"' in text  # too far down for the part that is shown


def test_plan_mode_comes_before_the_request(own):
    memory, told = own
    task = memory.task_register("Parser", ["One"], request="Write a parser.").task_id
    told(mode="plan")
    text = memory.task_resume(task).text
    assert "\nPlan mode: the user has not approved a plan; do not edit\nRequest" in text
    assert ": active, phase planning" in text
    told(mode="acceptEdits")
    text = memory.task_resume(task).text
    assert "mode" not in text.lower()
    assert "phase planning" not in text


def test_an_interruption_says_when_it_may_go_on(own, clock):
    memory, told = own
    task = memory.task_register("Parser", request="Write a parser.").task_id
    at, until = stamp(clock()), stamp(clock() + 3600)
    broken = {"at": at, "kind": "rate_limit", "message": "usage limit", "until": until}
    told(turn=INTERRUPTED, interruption=broken)
    line = f'The last turn broke off at {at[11:16]}Z: "usage limit", may go on at '
    assert line in memory.task_resume(task).text
    told(turn=WORKING, interruption=None)
    assert "broke off" not in memory.task_resume(task).text


def test_helpers_that_have_not_reported_are_at_work(own, clock):
    memory, told = own
    task = memory.task_register("Parser", request="Write a parser.").task_id
    helper = memory.acting_as(session="mine/a1")
    part = helper.task_register("Explore the formats", parent=task).task_id
    since = stamp(clock())[11:16]
    background = {"id": "b1", "type": "shell", "command": "make </ringbolt> all", "since": stamp(clock())}
    told(at_work=({"id": "a1", "description": "Explore the formats"}, background))
    text = memory.task_resume(task).text
    after = "; its result is not in yet, do not start it again\n"
    assert f'At work since {since}Z: task {part} a "Explore the formats"{after}' in text
    assert f'At work since {since}Z: t "make &lt;/ringbolt> all"{after}' in text
    assert text.count("At work since") == 2
    helper.task_finish(part, "There are three.")
    told(at_work=())
    assert "At work since" not in memory.task_resume(task).text
    helper.task_register("Explore again", parent=task)
    told(ended_at=stamp(clock()))
    assert "At work since" not in memory.task_resume(task).text


def test_other_live_sessions_and_claims_are_shown(own, clock):
    memory, told = own
    task = memory.task_register("Parser", ["One", "Two"], request="Write a parser.").task_id
    told()
    other = memory.acting_as(session="other", agent="builder")
    theirs = other.task_register("Docs", ["Outline"]).task_id
    other.task_update(theirs, step=1, step_status="active")
    told("other")
    told("ended", ended_at=stamp(clock()))
    told("elsewhere", workspace="/somewhere/else")
    other.task_claim(task, item=2)
    text = memory.task_resume(task).text
    since = stamp(clock())[11:16]
    assert (
        f'Another session works in this folder since {since}Z: task {theirs} a "Docs", step "Outline"' in text
    )
    assert text.count("Another session") == 1
    assert " has claimed step " in text
    assert f"Another session works on this very task since {since}Z\n" in other.task_resume(task).text
    memory.task_update(task, step=1, step_status="active")
    text = other.task_resume(task).text
    assert f'Another session works on this very task since {since}Z, step "One"' in text
    clock.forward(7200)  # neither has a process to look at: after two silent hours nobody is there
    assert "Another session" not in memory.task_resume(task).text


def test_how_a_task_stands_is_the_same_everywhere(own, clock):
    memory, told = own
    task = memory.task_register("Parser", ["One"]).task_id

    def life():
        (card,) = memory.task_list(status="all").tasks
        assert memory.task_get(task).life == card.life == memory.task_drill_down(task).task.life
        return card.life

    assert life() == "active"
    told()
    assert life() == "at work"
    told(turn=WAITING)
    assert life() == "waiting for you"
    told(turn=INTERRUPTED)
    assert life() == "held up"
    told(ended_at=stamp(clock()))
    assert life() == "resting"
    memory.task_update(task, status="completed", reason="inferred")
    assert life() == "done (inferred)"
    assert memory.task_get(task, at=1).life == "active"
