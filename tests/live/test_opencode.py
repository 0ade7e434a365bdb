"""OpenCode, the program itself, with our plugin and our server installed; only the model is ours."""

from __future__ import annotations

import json

import pytest

from tests.live.model_servers import Call, Turn, calls, says
from tests.live.programs import OpenCode, actions, command_that_hangs

pytestmark = pytest.mark.hosts

REQUEST = "Round the invoices to whole cents. Leave the tax tables alone."
FAILS = "cat missing-ledger.txt"
PACKET = "Recorded state of a task, kept by Ringbolt"
GUARD = f'"{FAILS}" was tried before and did not work; reason: "the ledger was moved"'


@pytest.fixture
def opencode(tmp_path, server):
    opencode = OpenCode(tmp_path, server)
    opencode.install("--project")
    return opencode


def shell(command: str) -> Call:
    return Call("bash", {"command": command, "description": command})


def test_after_a_compaction_in_the_middle_of_a_turn_the_model_reads_where_its_task_stands(opencode):
    script = opencode.server.script
    script.summary = "SUMMARY: one invoice is rounded."
    file = str(opencode.work / "invoice.py")
    script.turns = [
        Turn(calls=(shell(FAILS),)),
        calls("write", filePath=file, content="total = 1.23\n"),
        calls("edit", filePath=file, oldString="never there", newString="2.34"),
        calls("todowrite", todos=[{"content": "Round", "status": "in_progress", "priority": "high"}]),
        calls("ringbolt_task_note", kind="exclusion", text=FAILS, why="the ledger was moved"),
        calls("ringbolt_task_resume"),
        Turn(calls=(shell(FAILS),)),
        Turn(calls=(shell("echo more"),), tokens=49_000),
        says("The invoice is rounded."),
    ]
    opencode.run(REQUEST)
    *before, after = script.main()
    answer = json.dumps(before[6].body["messages"][-1])
    assert PACKET in answer
    assert "invoice.py" in answer
    assert [GUARD in asked.text for asked in before] == [False] * 7 + [True]
    note = next(asked.text for asked in script.asked if asked.side and "verbatim" in asked.text)
    assert f"| {REQUEST}" in note
    for part in (script.summary, PACKET, f"| {REQUEST}", FAILS, "invoice.py", "echo more"):
        assert part in after.text

    script.turns = [says("All of them are.")]
    opencode.run("--continue", "Now the credit notes.")
    assert PACKET in script.main()[-1].text

    events = opencode.events()
    with opencode.memory() as memory:
        (task,) = memory.task_list().tasks
        task = memory.task_get(task.id)
    assert task.request == REQUEST
    assert [entry.summary for entry in task.instructions] == ["Now the credit notes."]
    assert [(step.title, step.status) for step in task.steps] == [("Round", "active")]
    assert actions(events) == [
        ("bash", FAILS, True),
        ("write", file, False),
        ("edit", file, True),
        ("bash", FAILS, True),
        ("bash", "echo more", False),
    ]
    assert [one.path for one in task.files] == [file]
    snapshots = [
        event for event in events if event.type == "snapshot" and "compaction" in event.data["label"]
    ]
    assert [event.data["label"] for event in snapshots] == ["before compaction", "after compaction"]
    assert script.summary in snapshots[1].text
    assert not opencode.unwritten()


def test_a_session_that_is_killed_in_the_middle_of_a_command_goes_on_where_it_was(opencode):
    script = opencode.server.script
    with command_that_hangs(opencode.work) as (command, began):
        script.turns = [
            Turn(calls=(shell("echo half-way"),)),
            Turn(calls=(shell(command),)),
        ]
        opencode.run_until(began, REQUEST)
    before = len(script.main())
    script.turns = [says("Going on.")]
    opencode.run("--continue", "Please go on with the invoices.")
    (asked,) = script.main()[before:]
    for part in (PACKET, f"| {REQUEST}", "echo half-way"):
        assert part in asked.text
    assert actions(opencode.events()) == [("bash", "echo half-way", False)]
    assert not opencode.unwritten()
