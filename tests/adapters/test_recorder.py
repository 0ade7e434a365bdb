"""The recorder that adapters share, without any framework."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringbolt import AsyncTaskMemory
from ringbolt.adapters.recorder import Recorder, core_tools, off_loop, plain
from tests.adapters.ledger import actions, events, said, task_of

REQUEST = "Please deploy the shop to production, and do not touch the database."


@pytest.fixture
def memory(opened, store_url):
    return opened(store_url)


@pytest.fixture
def session(memory):
    return Recorder(memory, agent="test").session("C1")


def test_importing_the_package_imports_no_adapter():
    code = (
        "import ringbolt, sys; print([name for name in sys.modules if name.startswith('ringbolt.adapters')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"


def test_a_session_becomes_a_task_and_repetitions_are_written_once(memory, session):
    for _ in range(2):
        session.prompt(REQUEST, "m1")
        session.tool_begins("deploy", {"target": "a"}, "c1")
        session.tool_ends("deploy", {"target": "a"}, "deployed", "c1")
        session.tool_ends("write_todos", {"todos": [{"content": "Build", "status": "completed"}]}, "", "c2")
        session.tool_ends("task_note", {"text": "x"}, "", "c3")  # our own tool
        session.ends("Done with the build.", "m2")
    task = task_of(memory, "C1")
    assert (task.request, task.instructions) == (REQUEST, ())
    assert [step.title for step in task.steps] == ["Build"]
    assert actions(memory, "C1") == [("deploy", "completed")]
    assert said(memory, "C1") == ["Done with the build."]
    assert session.recorder.failures == 0


def test_without_ids_a_repetition_is_known_as_long_as_nothing_else_happened(memory, session):
    session.prompt(REQUEST)
    session.prompt(REQUEST)
    session.tool_ends("deploy", {}, "ok", "c1")
    session.prompt("Now the documentation.")
    task = task_of(memory, "C1")
    assert [one.summary for one in task.instructions] == ["Now the documentation."]


def test_the_packet_comes_with_missing_messages_and_stays_the_same_until_more_are_missing(session):
    session.prompt(REQUEST, "m1")
    assert session.context(["m1"]) == ""
    assert session.context(["m1", "m2", "m3"]) == ""
    packet = session.context(["m3", "m4"])
    assert "do not touch the database" in packet
    session.tool_ends("deploy", {"target": "a"}, "ok", "c1")
    assert session.context(["m3", "m4", "m5"]) == packet
    assert "deploy" in session.context(["m5"])


def test_a_session_of_another_process_is_resumed_and_its_open_side_effects_are_unknown(memory, session):
    session.prompt(REQUEST, "m1")
    session.tool_begins("Bash", {"command": "git push origin main"}, "c1")
    again = Recorder(memory, agent="test").session("C1")
    again.prompt("Please continue.", "m2")
    packet = again.context(["m2"])
    assert "git push origin main" in packet
    assert "unknown" in packet
    assert Recorder(memory, agent="test").session("C2").context(["m1"]) == ""


def test_a_long_session_id_and_values_that_json_does_not_have(memory):
    session = Recorder(memory, agent="test").session("x" * 1000)
    session.prompt(REQUEST, "m1")
    session.tool_ends("look", {"at": object(), (1, 2): 3}, {1, 2}, "c1")
    assert session.recorder.failures == 0
    assert session.memory.task_get().actions == 1
    assert plain({"a": {1}}) == {"a": "{1}"}


def test_secrets_are_redacted(memory, session):
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session.prompt(f"Deploy with {secret}, please.", "m1")
    session.tool_ends("deploy", {"token": secret}, f"used {secret}", "c1")
    session.ends(f"I used {secret}.", "m2")
    assert not [
        event for event in events(memory, "C1") if secret in f"{event.text} {event.data} {event.sets}"
    ]


def test_nothing_raises_and_one_line_is_logged(memory, session, caplog):
    memory.close()
    with caplog.at_level(logging.INFO, "ringbolt.adapters"):
        session.prompt(REQUEST, "m1")
        session.tool_begins("deploy", {}, "c1")
        session.tool_ends("deploy", {}, "", "c1")
        session.ends("x")
        assert session.packet() == session.context(["m1"]) == ""
    assert len(caplog.records) == 1
    assert session.recorder.failures >= 5  # nothing was swallowed without being counted


def test_calls_at_once_and_from_an_event_loop(memory):
    recorder = Recorder(AsyncTaskMemory(memory), agent="test")
    recorder.session("C1").prompt(REQUEST, "m1")

    def record(number):
        recorder.session("C1").tool_ends("deploy", {"n": number}, "ok", f"c{number}")

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(record, range(8)))

    async def steps():
        await asyncio.gather(*(off_loop(record, number) for number in range(8, 12)))
        return await recorder.session("C1").acall("task_note", {"text": "Use blue", "type": "decision"})

    assert "written to task" in asyncio.run(steps())
    task = task_of(memory, "C1")
    assert task.actions == 12
    assert [one.summary for one in task.decisions] == ["Use blue"]
    assert recorder.failures == 0


def test_core_tools_have_schemas_and_answer_mistakes_with_text(session):
    tools = {tool["name"]: tool for tool in core_tools()}
    assert {"task_resume", "task_recall", "task_update", "task_note", "smart_wait"} <= tools.keys()
    assert tools["task_note"]["parameters"]["properties"]["text"]["type"] == "string"
    assert session.call("task_note", {"colour": "red"}).startswith("Error invalid_argument")
