"""Gemini CLI, the program itself, with our hooks and our server installed; only the model is ours."""

from __future__ import annotations

import json

import pytest

from tests.live.model_servers import Call, Turn, calls, says
from tests.live.programs import GeminiCli, actions, command_that_hangs

pytestmark = pytest.mark.hosts

REQUEST = "Round the invoices to whole cents.\nLeave the tax tables alone."
FAILS = "cat missing-ledger.txt"
PACKET = "Recorded state of a task, kept by Ringbolt"


@pytest.fixture
def gemini(tmp_path, server):
    gemini = GeminiCli(tmp_path, server)
    gemini.install("--project")
    return gemini


def test_the_packet_is_there_when_a_session_goes_on_and_after_a_compaction_that_really_was_one(gemini):
    script = gemini.server.script
    script.summary = "SUMMARY: one invoice is rounded. " * 5
    script.turns = [
        calls("run_shell_command", command="echo three-passed"),
        calls("run_shell_command", command=FAILS),
        calls("write_file", file_path=str(gemini.work / "invoice.py"), content="total = 1.23\n"),
        calls("mcp_ringbolt_task_resume"),
        says("The invoice is rounded."),
    ]
    gemini.run("-p", REQUEST)
    answer = json.dumps(script.main()[-1].body["contents"][-1])
    assert PACKET in answer
    assert FAILS in answer
    # It says PreCompress before every request, and compacts hardly ever.
    assert not [event for event in gemini.events() if event.type == "snapshot"]

    before = len(script.asked)
    script.turns = [
        Turn(calls=(Call("run_shell_command", {"command": "echo more"}),), tokens=900_000),
        calls("run_shell_command", command="echo on"),
        says("All of them are."),
    ]
    gemini.run("--resume", "latest", "-p", "Now the credit notes.")
    first, compacted, after = (asked for asked in script.asked[before:] if not asked.side)
    prompt = json.dumps(first.body["contents"][-1])
    assert PACKET in prompt
    assert "| Leave the tax tables alone." in prompt
    # The summary took the place of what was before it; the packet comes with the next result.
    assert "SUMMARY: one invoice" in compacted.text
    assert "echo three-passed" not in json.dumps(compacted.body["contents"][:2])
    result = json.dumps(after.body["contents"][-1])
    for part in (PACKET, "Leave the tax tables alone.", "The invoice is rounded.", "echo more", "invoice.py"):
        assert part in result

    events = gemini.events()
    with gemini.memory() as memory:
        (task,) = memory.task_list().tasks
        task = memory.task_get(task.id)
    assert task.request == REQUEST
    # It shows hooks a prompt together with what they gave before.
    assert [entry.summary for entry in task.instructions] == ["Now the credit notes."]
    assert actions(events) == [
        ("run_shell_command", "echo three-passed", False),
        ("run_shell_command", FAILS, True),
        ("write_file", str(gemini.work / "invoice.py"), False),
        ("run_shell_command", "echo more", False),
        ("run_shell_command", "echo on", False),
    ]
    outputs = [event.data.get("output") for event in events if event.type == "action"]
    assert outputs[0] == "three-passed"
    assert [file.path for file in task.files] == [str(gemini.work / "invoice.py")]
    assert not gemini.unwritten()


def test_a_session_that_is_killed_in_the_middle_of_a_command_goes_on_where_it_was(gemini):
    script = gemini.server.script
    with command_that_hangs(gemini.work) as (command, began):
        script.turns = [
            calls("run_shell_command", command="echo half-way"),
            calls("run_shell_command", command=command),
        ]
        gemini.run_until(began, "-p", REQUEST)
    before = len(script.asked)
    script.turns = [says("Going on.")]
    gemini.run("--resume", "latest", "-p", "Please go on with the invoices.")
    (asked,) = script.asked[before:]
    for part in (PACKET, "| Round the invoices to whole cents.", "echo half-way"):
        assert part in asked.text
    assert actions(gemini.events()) == [("run_shell_command", "echo half-way", False)]
    assert not gemini.unwritten()
