"""A task that begins in Claude Code and goes on in Codex, in the programs themselves."""

from __future__ import annotations

import subprocess

import pytest

from tests.live.model_servers import Call, Turn, calls, says
from tests.live.programs import OURS, SECONDS, ClaudeCode, Codex, Program

pytestmark = pytest.mark.hosts

REQUEST = "Round the invoices to whole cents."
PACKET = "Recorded state of a task, kept by Ringbolt"


class Both(Codex):
    """Codex in the home and the project of Claude Code."""

    def __init__(self, claude: ClaudeCode) -> None:
        self.home, self.work, self.server = claude.home, claude.work, claude.server
        self.prepare()


def continued(host: Program, *more: str) -> None:
    """Continue the task of the folder in another host, as a person would from a terminal."""
    program, _, *options = host.command()
    name = {"claude-code": "claude"}.get(host.host, host.host)
    places = host.home / "bin"
    places.mkdir(exist_ok=True)
    if not (places / name).exists():
        (places / name).symlink_to(program)
    env = host.environment()
    env["PATH"] = f"{places}:{env['PATH']}"
    words = ["continue", "--in", host.host, "--once", "--", *options, *more]
    done = subprocess.run(
        [OURS / "ringbolt", *words], env=env, cwd=host.work, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no Ringbolt hooks" not in done.stderr


def test_a_task_goes_on_in_codex_with_both_sessions_in_its_ledger(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    claude.install("--project")
    codex = Both(claude)
    codex.install()
    server.script.turns = [calls("Bash", command="echo three-passed"), says("One invoice is rounded.")]
    with claude.conversation() as talk:
        talk.say(REQUEST)
        before = len(server.script.asked)
        server.script.turns = [says("The others are rounded too.")]
        continued(codex)
        first = server.script.asked[before].text
        assert PACKET in first
        assert REQUEST in first
        # The session that had the task is told when it goes on.
        server.script.turns = [says("I see.")]
        before = len(server.script.asked)
        talk.say("And the credit notes?")
        assert "took over your task" in "".join(asked.text for asked in server.script.asked[before:])
        talk.end()

    with claude.memory() as memory:
        (task,) = [one for one in memory.task_list(status="all").tasks if "Round" in one.name]
        events = [event for event in memory.events() if event.task_id == task.id]
        task = memory.task_get(task.id)
    (focused,) = [event for event in events if event.type == "task.focused"]
    assert focused.origin.agent == "codex"
    assert focused.data["from"] == events[0].origin.session != focused.origin.session
    assert task.session == focused.origin.session
    # The packet is not stored as words of the user.
    assert not task.instructions
    assert not any(PACKET in (event.text or "") for event in events)
    assert any(event.text == "The others are rounded too." for event in events)


def test_a_task_goes_to_codex_through_a_compaction_there_and_back(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    claude.install("--project")
    codex = Both(claude)
    codex.install()
    script = server.script
    script.turns = [calls("Bash", command="echo three-passed"), says("One invoice is rounded.")]
    claude.run(REQUEST)

    script.summary = "SUMMARY: one invoice is rounded."
    script.turns = [
        Turn(calls=(Call("exec_command", {"cmd": "echo all-passed"}),), tokens=9000),
        says("The others are rounded too."),
    ]
    continued(codex, "-c", "model_auto_compact_token_limit=5000")
    after = script.main()[-1].text
    for part in (script.summary, PACKET, REQUEST, "echo all-passed"):
        assert part in after

    script.turns = [says("All of them are.")]
    continued(claude)
    back = script.main()[-1].text
    for part in (PACKET, REQUEST, "The others are rounded too."):
        assert part in back

    with claude.memory() as memory:
        (task,) = memory.task_list(status="all").tasks
        events = [event for event in memory.events() if event.task_id == task.id]
    assert [event.origin.agent for event in events if event.type == "task.focused"] == [
        "codex",
        "claude-code",
    ]
    said = ("One invoice is rounded.", "The others are rounded too.", "All of them are.")
    assert [event.text for event in events if event.text in said] == list(said)
