"""Hosts that speak the format of Claude Code, or nearly: the programs themselves, with our hooks and our
server installed; only the model is ours. What they have in common is tried once, with each."""

from __future__ import annotations

import pytest

from tests.live.model_servers import calls, says
from tests.live.programs import Cline, CopilotCli, Droid, KimiCode, QwenCode, actions

pytestmark = pytest.mark.hosts

REQUEST = "Round the invoices to whole cents. Leave the tax tables alone."
PACKET = "Recorded state of a task, kept by Ringbolt"
# The host, its shell with what that needs besides a command, and our tool.
RUNS = {
    QwenCode: ("run_shell_command", {"is_background": False}, "mcp__ringbolt__task_resume"),
    CopilotCli: ("bash", {"description": "Run the tests"}, "ringbolt-task_resume"),
    KimiCode: ("Bash", {}, "mcp__ringbolt__task_resume"),
}


def packets(server, words: str) -> set[str]:
    """The packets in the requests in which the user says these words."""
    asked = [one.text for one in server.script.main() if words in one.text]
    return {part.partition("</ringbolt")[0] for text in asked for part in text.split(PACKET)[1:]}


@pytest.mark.parametrize("program", RUNS, ids=lambda program: program.host)
def test_what_happens_is_recorded_and_the_packet_is_there_when_the_session_continues(
    tmp_path, server, program
):
    shell, needs, resume = RUNS[program]
    host = program(tmp_path, server)
    host.install()
    host.install()  # twice is once
    server.script.turns = [
        calls(shell, command="echo three-passed", **needs),
        calls(shell, command="cat missing-ledger.txt", **needs),
        calls(resume),
        says("One invoice is rounded."),
    ]
    host.run("-p", REQUEST)
    (task,) = host.tasks().values()
    assert task.request == REQUEST
    done = [(about, failed) for _, about, failed in actions(host.events())]
    assert done[:2] == [("echo three-passed", False), ("cat missing-ledger.txt", True)]
    outputs = [str(event.data.get("output")) for event in host.events() if event.type == "action"]
    assert "three-passed" in outputs[0]
    before = packets(server, REQUEST)
    assert before, "through our tool"
    server.script.turns = [says("All of them are.")]
    host.run("--continue", "-p", "Now the credit notes.")
    if program is not QwenCode:  # it reports no start of a session with `-p`, and keeps its whole history
        assert packets(server, "Now the credit notes.") - before, "through the hook"
    assert host.unwritten() == []
    (task,) = host.tasks().values()
    assert "Now the credit notes." in str(task.instructions)


def test_droid_reports_its_tools_and_takes_context_when_a_run_starts(tmp_path, server):
    """`droid exec` reports no prompt, and no command that failed."""
    droid = Droid(tmp_path, server)
    droid.install()
    server.script.turns = [calls("Execute", command="echo three-passed"), says("Done.")]
    droid.run(REQUEST)
    assert [about for _, about, _ in actions(droid.events())] == ["echo three-passed"]
    (task,) = droid.tasks().values()
    assert task.name == "Work without a request"
    server.script.turns = [says("Done.")]
    droid.run("Go on.")
    assert task.id in server.script.main()[-1].text, "among the open tasks"
    assert droid.unwritten() == []


def test_cline_has_our_tools(tmp_path, server):
    cline = Cline(tmp_path, server)
    cline.install()
    cline.sign_in()
    server.script.turns = [calls("ringbolt__task_register", name="Round the invoices"), says("Done.")]
    cline.run(REQUEST)
    assert [task.name for task in cline.tasks().values()] == ["Round the invoices"]
