"""Codex, the program itself, with our hooks and our server installed; only the model is ours."""

from __future__ import annotations

import json
import signal

import pytest

from tests.live.model_servers import Call, Turn, calls, refuses, says
from tests.live.programs import (
    SECONDS,
    Codex,
    actions,
    command_that_hangs,
    kill,
    push_that_hangs,
    release,
    wait_until,
)

pytestmark = pytest.mark.hosts

REQUEST = "Round the invoices to whole cents.\nLeave the tax tables alone."
NOTES = "Write the release notes for version 3."
FAILS = "cat missing-ledger.txt"
PACKET = "Recorded state of a task, kept by Ringbolt"
GUARD = f'"{FAILS}" was tried before and did not work; reason: "the ledger was moved"'
PATCH = "*** Begin Patch\n*** Add File: invoice.py\n+total = 1.23\n*** End Patch\n"


@pytest.fixture
def codex(tmp_path, server):
    codex = Codex(tmp_path, server)
    codex.install("--user")
    return codex


def test_after_a_compaction_in_the_middle_of_a_turn_the_model_reads_where_its_task_stands(codex):
    script = codex.server.script
    script.summary = "SUMMARY: one invoice is rounded."
    script.turns = [
        calls("exec_command", cmd="echo three-passed"),
        calls("exec_command", cmd=FAILS),
        calls("apply_patch", _free=PATCH),
        calls("mcp__ringbolt/task_note", kind="exclusion", text=FAILS, why="the ledger was moved"),
        calls("mcp__ringbolt/task_resume"),
        calls("exec_command", cmd=FAILS),
        Turn(calls=(Call("exec_command", {"cmd": "echo more"}),), tokens=9000),
        says("The invoice is rounded."),
    ]
    codex.run("-c", "model_auto_compact_token_limit=5000", REQUEST)
    assert (codex.work / "invoice.py").read_text() == "total = 1.23\n"
    *before, after = script.main()
    # Our server answers from the same ledger.
    answer = json.dumps(before[5].body["input"][-1])
    assert PACKET in answer
    assert "invoice.py" in answer
    assert [asked.text.count(PACKET) for asked in before] == [0] * 5 + [1, 1]
    assert [GUARD in asked.text for asked in before] == [False] * 6 + [True]
    for part in (script.summary, PACKET, "| Leave the tax tables alone.", FAILS, "invoice.py", "echo more"):
        assert part in after.text

    script.turns = [says("All of them are.")]
    codex.run("resume", "--last", "Now the credit notes.")
    assert script.main()[-1].text.count(PACKET) == 2  # after the compaction, and when it went on

    events = codex.events()
    with codex.memory() as memory:
        (task,) = memory.task_list().tasks
        task = memory.task_get(task.id)
    assert task.request == REQUEST
    assert [entry.summary for entry in task.instructions] == ["Now the credit notes."]
    assert actions(events) == [
        ("Bash", "echo three-passed", False),
        ("Bash", FAILS, True),  # the hook is not told so; it is in the transcript
        ("apply_patch", PATCH, False),
        ("Bash", FAILS, True),
        ("Bash", "echo more", False),
    ]
    assert [(file.path, file.change) for file in task.files] == [("invoice.py", "created")]
    # What Codex sums up is reported to no hook; it is in the transcript.
    labels = [event.data["label"] for event in events if event.type == "snapshot"]
    assert [label for label in labels if "compaction" in label] == ["before compaction", "after compaction"]
    assert [event.type for event in events].count("exclusion") == 1
    assert not codex.unwritten()


def test_a_push_that_was_under_way_when_the_host_was_killed_is_to_be_checked_first(codex):
    script = codex.server.script
    with push_that_hangs(codex.work) as (command, began):
        script.turns = [calls("exec_command", cmd=command, yield_time_ms=30_000)]
        codex.run_until(began, REQUEST)
        before = len(script.asked)
        script.turns = [says("I look at what the other side has.")]
        codex.run("resume", "--last", "Please go on with the invoices.")
    (asked,) = script.asked[before:]
    flight = asked.text.partition("In flight, check first\n")[2].partition("\n")[0]
    assert "git push origin HEAD:release-3" in flight
    assert "unknown — verify with" in flight
    assert "Done outside" not in asked.text


def test_a_session_that_is_killed_in_the_middle_of_a_command_goes_on_where_it_was(codex):
    script = codex.server.script
    with command_that_hangs(codex.work) as (command, began):
        script.turns = [
            calls("exec_command", cmd="echo half-way"),
            calls("exec_command", cmd=command, yield_time_ms=30_000),
        ]
        codex.run_until(began, REQUEST)
    before = len(script.asked)
    script.turns = [says("Going on.")]
    codex.run("resume", "--last", "Please go on with the invoices.")
    (asked,) = script.asked[before:]
    for part in (PACKET, "| Round the invoices to whole cents.", "echo half-way"):
        assert part in asked.text
    assert actions(codex.events()) == [("Bash", "echo half-way", False)]
    assert not codex.unwritten()


def test_without_trust_no_hook_runs(codex):
    codex.trusts = False
    codex.server.script.turns = [says("Hello.")]
    codex.run(REQUEST)
    assert not (codex.home / ".local/share/ringbolt/ringbolt.db").exists()


def decides(text: str) -> Turn:
    return calls("mcp__ringbolt/task_note", kind="decision", text=text, why="the tests say so")


def decided(task) -> list[str]:
    return [entry.summary for entry in task.decisions]


def assert_nothing_refused(codex: Codex) -> None:
    said = "\n".join(asked.text for asked in codex.server.script.main())
    assert "ambiguous_task" not in said
    assert "no_current_task" not in said


def test_in_the_second_session_a_call_without_an_id_is_about_its_own_task(codex):
    script = codex.server.script
    script.turns = [calls("exec_command", cmd="echo one"), says("Rounded.")]
    codex.run(REQUEST)
    script.turns = [decides("Markdown"), calls("mcp__ringbolt/task_resume"), says("Written.")]
    codex.run(NOTES)
    answer = json.dumps(script.main()[-1].body["input"][-1])
    assert NOTES in answer
    assert "Round the invoices" not in answer
    assert {name: decided(task) for name, task in codex.tasks().items()} == {REQUEST: [], NOTES: ["Markdown"]}
    assert_nothing_refused(codex)


def test_registering_after_work_has_begun_gives_the_draft_its_plan(codex):
    codex.server.script.turns = [
        calls("exec_command", cmd="echo one"),
        calls("mcp__ringbolt/task_register", name="Rounding", plan=["Find it", "Round it"]),
        decides("half up"),
        calls("exec_command", cmd="echo two"),
        says("Half of it is done."),
    ]
    codex.run(REQUEST)
    (task,) = codex.tasks().values()
    assert (task.name, task.request) == ("Rounding", REQUEST)
    assert [step.title for step in task.steps] == ["Find it", "Round it"]
    assert decided(task) == ["half up"]
    assert actions(codex.events()) == [("Bash", "echo one", False), ("Bash", "echo two", False)]
    assert_nothing_refused(codex)


@pytest.mark.parametrize("apart", [False, True], ids=["one folder", "two worktrees"])
def test_two_sessions_at_once_have_a_task_each(codex, apart):
    script = codex.server.script
    other = codex.worktree("notes") if apart else codex.work
    with command_that_hangs(codex.work) as (command, began):
        script.talks["Round the invoices"] = [
            calls("exec_command", cmd=command, yield_time_ms=60_000),
            decides("half up"),
            calls("mcp__ringbolt/task_resume"),
            says("Rounded."),
        ]
        script.talks[NOTES] = [decides("Markdown"), calls("mcp__ringbolt/task_resume"), says("Written.")]
        first = codex.start(REQUEST)
        try:
            wait_until(began.exists, "the first session is at work")
            codex.run("--cd", str(other), NOTES)
            release(codex.work)
            first.communicate(timeout=SECONDS)
        finally:
            kill(first)
    assert {name: decided(task) for name, task in codex.tasks().items()} == {
        REQUEST: ["half up"],
        NOTES: ["Markdown"],
    }
    assert {session.workspace for session in codex.sessions()} == {str(codex.work), str(other)}
    for own, foreign in (("Round the invoices", "Markdown"), (NOTES, "half up")):
        answer = json.dumps(script.main(own)[-1].body["input"][-1])
        assert own in answer
        assert foreign not in answer
    assert_nothing_refused(codex)


def test_another_session_takes_over_the_task_of_one_that_was_killed(codex):
    script = codex.server.script
    with command_that_hangs(codex.work) as (command, began):
        script.turns = [
            calls("mcp__ringbolt/task_register", name="Rounding", plan=["Find it", "Round it"]),
            calls("exec_command", cmd=command, yield_time_ms=30_000),
        ]
        codex.run_until(began, REQUEST)
    old = codex.tasks()[REQUEST].id
    asked = "Look after the task with the invoices that was left."
    script.turns = [
        calls("mcp__ringbolt/task_resume", task_id=old),
        calls("exec_command", cmd="echo two"),
        decides("half up"),
        says("It goes on."),
    ]
    codex.run(asked)
    assert "Find it" in script.main()[-1].text
    task = codex.tasks()[REQUEST]
    assert decided(task) == ["half up"]
    with codex.memory() as memory:  # the draft that was made of the prompt is gone
        assert [one.id for one in memory.task_list().tasks] == [old]
    assert [entry.summary for entry in task.instructions] == [asked]
    with codex.memory() as memory:
        assert ("Bash", "echo two", False) in actions(memory.events(old))
    assert_nothing_refused(codex)


def test_after_a_compaction_a_new_topic_comes_before_the_old_one(codex):
    script = codex.server.script
    script.summary = "SUMMARY: something was written."
    new = "Now something completely different: write the release notes for version 3."
    script.turns = [calls("exec_command", cmd="echo one"), says("All done: the invoices are rounded.")]
    codex.run(REQUEST)
    script.turns = [
        calls("exec_command", cmd="echo two"),
        Turn(calls=(Call("exec_command", {"cmd": "echo more"}),), tokens=9000),
        says("I have read the history."),
    ]
    codex.run("resume", "--last", "-c", "model_auto_compact_token_limit=5000", new)
    told = script.main()[-1].text
    told = told[told.rindex(PACKET) :]
    assert told.index(f"| {new}") < told.index("Round the invoices")
    assert "Finished before" in told
    (task,) = codex.tasks().values()
    assert [(one.text, one.status) for one in task.requests] == [(REQUEST, "finished"), (new, "current")]
    assert "release notes" in task.name


def test_a_turn_that_the_user_interrupts_is_on_record(codex):
    script = codex.server.script
    with command_that_hangs(codex.work) as (command, began):
        script.turns = [calls("exec_command", cmd=command)]
        process = codex.start(NOTES)
        try:
            wait_until(began.exists, "the command runs")
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS)
        finally:
            kill(process)
    (known,) = codex.sessions()
    assert known.interruption["kind"] == "user"
    (task,) = codex.tasks().values()
    assert (task.request, task.status, task.reason) == (NOTES, "paused", "session ended")
    assert task.errors == ()
    assert any(event.text == "The user interrupted the turn." for event in codex.events())


def test_a_usage_limit_is_recorded_and_in_the_packet_of_the_resumed_session(codex):
    script = codex.server.script
    script.turns = [calls("exec_command", cmd="echo one"), refuses("You have hit your usage limit.")]
    process = codex.start(NOTES)
    try:
        process.communicate(timeout=SECONDS)
    finally:
        kill(process)
    assert process.returncode == 1
    (known,) = codex.sessions()
    assert known.interruption["kind"] == "usage_limit_exceeded"
    (task,) = codex.tasks().values()
    assert (task.status, task.reason) == ("paused", "session ended")
    script.turns = [says("Going on.")]
    codex.run("resume", "--last", "Go on with the notes.")
    told = script.main()[-1].text
    assert "usage limit" in told[told.rindex(PACKET) :]
    (task,) = codex.tasks().values()
    assert [entry.summary for entry in task.instructions] == ["Go on with the notes."]
    assert [known.interruption for known in codex.sessions()] == [None]
    assert not codex.unwritten()


def test_a_helper_at_work_is_in_the_packet_after_a_compaction(codex):
    script = codex.server.script
    helper = {"task_name": "count_files", "message": "Count them by their kind.", "fork_turns": "none"}
    with command_that_hangs(codex.work) as (command, began):
        waits = f"until [ -e {began} ]; do sleep 0.1; done"
        script.talks[helper["message"]] = [
            calls("exec_command", cmd=command, yield_time_ms=60_000),
            says("There are three."),
        ]
        script.talks["Sort the files"] = [
            calls("collaboration/spawn_agent", **helper),
            Turn(calls=(Call("exec_command", {"cmd": waits}),), tokens=9000),
            says("I wait for it."),
        ]
        limit = "model_auto_compact_token_limit=5000"
        process = codex.start("--enable", "multi_agent_v2", "-c", limit, "Sort the files by date.")
        try:
            wait_until(lambda: len(script.main("Sort the files")) == 3, "the context was compacted")
            release(codex.work)
            process.communicate(timeout=SECONDS)
        finally:
            kill(process)
    told = script.main("Sort the files")[2].text
    told = told[told.rindex(PACKET) :]
    (at_work,) = (line for line in told.splitlines() if line.startswith("At work since"))
    assert '"count_files"; its result is not in yet' in at_work
    tasks = codex.tasks()
    parent, child = tasks["Sort the files by date."], tasks["count_files"]
    assert (child.parent, child.status) == (parent.id, "completed")
    with codex.memory() as memory:
        assert actions(memory.events(child.id)) == [("Bash", command, False)]
        results = [event.text for event in memory.events(parent.id) if event.type == "tool_result"]
    assert len(results) == 1
    assert results[0].endswith("is done: There are three.")
    assert not codex.unwritten()


def test_plan_mode_is_in_the_packet_after_a_compaction(codex):
    script = codex.server.script
    script.turns = [
        calls("exec_command", cmd="echo one"),
        says("Here is how.", tokens=9000),
        says("The plan."),
    ]
    with codex.conversation(model_auto_compact_token_limit=5000) as session:
        session.say("Think about how to round the invoices. Do not write code yet.", "plan")
        session.say("What is next?", "plan")
    told = script.main()[-1].text
    told = told[told.rindex(PACKET) :]
    assert "plan mode" in told.lower()
    assert "Do not write code yet." in told
    assert [known.mode for known in codex.sessions()] == ["plan"]
