"""Claude Code, the program itself, with our hooks and our server installed; only the model is ours."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.live.model_servers import Asked, Call, Turn, calls, says
from tests.live.programs import SECONDS, ClaudeCode, actions, command_that_hangs, push_that_hangs

pytestmark = pytest.mark.hosts

REQUEST = "Round the invoices to whole cents.\nLeave the tax tables alone."
FAILS = "cat missing-ledger.txt"
PACKET = "Recorded state of a task, kept by Ringbolt"
GUARD = f'"{FAILS}" was tried before and did not work; reason: "the ledger was moved"'


@pytest.fixture
def claude(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    claude.install("--project")
    return claude


def work_a_while(claude: ClaudeCode) -> None:
    """A session: it prints, fails, writes, edits, notes what it ruled out, and tries that again."""
    file = str(claude.work / "invoice.py")
    claude.server.script.turns = [
        calls("Bash", command="echo three-passed", description="Run the tests"),
        calls("Bash", command=FAILS),
        calls("Write", file_path=file, content="total = 1.234\n"),
        calls("Edit", file_path=file, old_string="1.234", new_string="1.23"),
        calls("mcp__ringbolt__task_note", kind="exclusion", text=FAILS, why="the ledger was moved"),
        calls("Bash", command=FAILS),
        says("The invoice is rounded."),
    ]
    claude.run(REQUEST)


def results(asked: Asked) -> list[dict]:
    """What tools gave, as the model reads it; the host may put words of its own after it."""
    contents = [message["content"] for message in asked.body["messages"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [part for part in parts if part["type"] == "tool_result"]


def test_after_a_compaction_the_model_reads_where_its_task_stands(claude):
    work_a_while(claude)
    script = claude.server.script
    assert PACKET not in script.asked[0].text
    assert (claude.work / "invoice.py").read_text() == "total = 1.23\n"
    # What was ruled out is told when it is tried again, with the result, and not before.
    assert [GUARD in asked.text for asked in script.main()] == [False] * 6 + [True]

    script.summary = "SUMMARY: one invoice is rounded."
    claude.run("--continue", "/compact")
    note = next(asked.text for asked in script.asked if asked.side)
    assert "The user's request, verbatim:\n| Round the invoices" in note
    before = len(script.asked)
    script.turns = [calls("mcp__ringbolt__task_resume"), says("All of them are.")]
    claude.run("--continue", "Now the credit notes.")
    first, second = script.asked[before:]
    assert script.summary in first.text
    for part in (PACKET, *(f"| {line}" for line in REQUEST.splitlines()), FAILS, "invoice.py"):
        assert part in first.text
    # Our server answers as well, from the same ledger.
    assert "Now the credit notes." in json.dumps(results(second)[-1])

    events = claude.events()
    with claude.memory() as memory:
        (task,) = memory.task_list().tasks
        task = memory.task_get(task.id)
    assert task.request == REQUEST
    assert [entry.summary for entry in task.instructions] == ["Now the credit notes."]
    assert actions(events) == [
        ("Bash", "echo three-passed", False),
        ("Bash", FAILS, True),
        ("Write", str(claude.work / "invoice.py"), False),
        ("Edit", str(claude.work / "invoice.py"), False),
        ("Bash", FAILS, True),
    ]
    assert [file.path for file in task.files] == [str(claude.work / "invoice.py")]
    snapshots = [event for event in events if "compaction" in event.data.get("label", "")]
    assert [event.data["label"] for event in snapshots] == ["before compaction", "after compaction"]
    assert script.summary in snapshots[1].text
    assert [event.type for event in events].count("exclusion") == 1
    # The summary was written by an agent of the host's own, which is no helper of ours.
    assert {event.task_id for event in events} == {task.id}
    assert not [event for event in events if event.type == "tool_result"]
    assert not claude.unwritten()


def test_a_push_that_was_under_way_when_the_host_was_killed_is_to_be_checked_first(claude):
    script = claude.server.script
    with push_that_hangs(claude.work) as (command, began):
        script.turns = [calls("Bash", command=command)]
        claude.run_until(began, REQUEST)
        before = len(script.asked)
        script.turns = [says("I look at what the other side has.")]
        claude.run("--continue", "Please go on with the invoices.")
    (asked,) = script.asked[before:]
    flight = asked.text.partition("In flight, check first\n")[2].partition("\n")[0]
    assert "git push origin HEAD:release-3" in flight
    assert "unknown — verify with" in flight
    assert "Done outside" not in asked.text
    with claude.memory() as memory:
        (task,) = memory.task_list().tasks
        (effect,) = memory.task_get(task.id).effects
    assert effect.status in ("intended", "unknown")


def test_a_session_that_is_killed_in_the_middle_of_a_command_goes_on_where_it_was(claude):
    with command_that_hangs(claude.work) as (command, began):
        claude.server.script.turns = [
            calls("Bash", command="echo half-way"),
            calls("Bash", command=command),
        ]
        claude.run_until(began, REQUEST)
    script = claude.server.script
    before = len(script.asked)
    script.turns = [says("Going on.")]
    claude.run("--continue", "Please go on with the invoices.")
    (asked,) = script.asked[before:]
    for part in (PACKET, "| Round the invoices to whole cents.", "echo half-way"):
        assert part in asked.text
    events = claude.events()
    # What the second came to is nowhere: the host says so in its transcript when it goes on.
    assert actions(events) == [("Bash", "echo half-way", False), ("Bash", command, True)]
    (cut,) = [event.data["error"] for event in events if event.type == "action" and event.data.get("error")]
    assert "outcome is unknown" in cut
    assert [event.type for event in events].count("task.registered") == 1
    with claude.memory() as memory:
        (task,) = memory.task_list().tasks
        said = [entry.summary for entry in memory.task_get(task.id).instructions]
    assert said == ["Please go on with the invoices."]
    assert not claude.unwritten()


def test_the_list_that_the_agent_keeps_is_the_plan(claude):
    claude.server.script.turns = [
        calls("ToolSearch", query="select:TaskCreate,TaskUpdate"),
        calls("TaskCreate", subject="Find the rounding", description="Where it is done"),
        calls("TaskCreate", subject="Round to cents", description="In one place"),
        calls("TaskUpdate", taskId="1", status="completed"),
        calls("TaskUpdate", taskId="2", status="in_progress"),
        says("Half of it is done."),
    ]
    claude.run("--model", "claude-sonnet-4-5", REQUEST)  # on the newest models it has no such tools
    with claude.memory() as memory:
        (task,) = memory.task_list().tasks
        steps = memory.task_get(task.id).steps
    assert [(step.title, step.status) for step in steps] == [
        ("Find the rounding", "completed"),
        ("Round to cents", "active"),
    ]


def test_a_helpers_work_is_on_its_own_task_and_its_result_on_the_parents(claude):
    helper = {
        "description": "Count the files",
        "prompt": "Count the files here.",
        "subagent_type": "general-purpose",
        "run_in_background": False,
    }
    claude.server.script.turns = [
        Turn(calls=(Call("Agent", helper),)),
        calls("Bash", command="ls | wc -l"),
        says("There are 42 files."),
        says("All are counted."),
    ]
    claude.run("How many files are there in this project?")
    events = claude.events()
    # Whatever the host puts into the user's place, nobody but the user instructs.
    (asked,) = (event for event in events if event.origin.channel == "user")
    assert asked.type == "task.registered"
    parent = asked.task_id
    (child,) = {event.task_id for event in events} - {parent}
    with claude.memory() as memory:
        assert memory.task_get(child).parent == parent
        assert memory.task_get(child).status == "completed"
    assert ("Bash", "ls | wc -l", False) in actions([one for one in events if one.task_id == child])
    assert ("Bash", "ls | wc -l", False) not in actions([one for one in events if one.task_id == parent])
    assert "There are 42 files." in next(e for e in events if e.type == "tool_result").data["detail"]


def test_the_plugin_is_valid_and_does_the_same(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    folder = tmp_path / "plugin"
    claude.have_programs()
    claude.ringbolt("install", "claude-code", "--plugin", str(folder))
    done = subprocess.run(
        [claude.command()[0], "plugin", "validate", folder], env=claude.environment(), cwd=claude.work,
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    server.script.turns = [
        calls("Bash", command="echo three-passed"),
        calls("mcp__plugin_ringbolt_ringbolt__task_resume"),
        says("Done."),
    ]
    claude.run("--plugin-dir", str(folder), REQUEST)
    answer = json.dumps(results(server.script.main()[2])[-1])
    assert PACKET in answer
    assert "echo three-passed" in answer
    server.script.turns = [says("Going on.")]
    claude.run("--plugin-dir", str(folder), "--continue", "Please go on with the invoices.")
    assert PACKET in server.script.main()[3].text
    assert actions(claude.events()) == [("Bash", "echo three-passed", False)]


def test_a_fork_has_its_own_task_without_earlier_events(claude):
    script = claude.server.script
    script.turns = [calls("Bash", command=FAILS), says("It is not there.")]
    claude.run(REQUEST)
    known = claude.events()
    script.turns = [calls("Bash", command="echo other-way"), says("It is here.")]
    claude.run("--continue", "--fork-session", "Look in the other folder.")
    with claude.memory() as memory:
        forked = next(task for task in memory.task_list().tasks if task.id != known[0].task_id)
        assert memory.task_get(forked.id).request == "Look in the other folder."
        events = list(memory.events(forked.id))
    assert actions(events) == [("Bash", "echo other-way", False)]
    assert [event.text for event in events if event.type == "message"][:1] == ["It is here."]
