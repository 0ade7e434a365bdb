"""Claude Code, the program itself: what its user allows, answers and approves, and where a session goes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from ringbolt.hosts.host_table import HOSTS
from tests.live.model_servers import calls, says
from tests.live.programs import FETCHED, ClaudeCode, wait_until

pytestmark = pytest.mark.hosts

INVOICES = "Round the invoices to whole cents."
NOTES = "Write the release notes for version 3."
RESUME = "mcp__ringbolt__task_resume"
ASKS = ("--permission-prompt-tool", "stdio")
MODES = ("dontAsk", "default", "auto")  # in which nobody is there to be asked
ALLOW = {"behavior": "allow"}
DENY = {"behavior": "deny", "message": "The user doesn't want to proceed with this tool use."}
PLAN = "# Round at the end\n\n1. Sum up\n2. Round once"


@pytest.fixture
def claude(tmp_path, server):
    claude = ClaudeCode(tmp_path, server)
    claude.install("--user")
    return claude


def test_a_live_session_learns_that_another_one_took_over_its_task(claude):
    script = claude.server.script
    with claude.conversation() as first:
        script.talks[INVOICES] = [calls("Bash", command="echo one"), says("One is done.")]
        first.say(INVOICES)
        (task,) = claude.tasks().values()
        with claude.conversation() as second:
            script.talks[NOTES] = [calls(RESUME, task_id=task.id), says("I go on with it.")]
            second.say(NOTES)
            script.talks[INVOICES] = [says("I stop here.")]
            first.say("Go on.")
            told = script.main(INVOICES)[-1].text
            assert "took over your task" in told
            assert task.id in told
            script.talks[INVOICES] = [says("I still wait.")]
            first.say("Are you there?")
            assert script.main(INVOICES)[-1].text.count("took over your task") == 1
            second.end()
        first.end()


def test_an_approved_plan_is_a_decision_of_the_user_and_names_the_task(claude):
    script = claude.server.script
    script.turns = [says("Let me think.")]
    with claude.conversation(*ASKS, "--permission-mode", "plan") as session:
        session.replies = [DENY, ALLOW]
        session.say(INVOICES)
        file = re.search(r"/[\w./-]+/plans/[\w.-]+\.md", json.dumps(script.main()[-1].body))[0]
        script.turns = [
            calls("Write", file_path=file, content=PLAN),
            calls("ExitPlanMode"),
            calls("ExitPlanMode"),
            says("It is rounded."),
        ]
        session.say("Plan it, please.")
        session.end()
    assert [one["tool_name"] for one in session.questions] == ["ExitPlanMode"] * 2
    (task,) = claude.tasks().values()
    assert [(entry.summary, entry.origin.channel) for entry in task.decisions] == [
        ("approved the plan: Round at the end", "user")
    ]
    assert task.exclusions == ()  # that it was refused before is over
    assert task.name == "Round at the end"


PUSH = "git push --force origin main"


@pytest.mark.parametrize(
    "mode",
    [("--disallowedTools", "Bash(git push:*)"), *(("--permission-mode", one) for one in MODES)],
    ids=["a rule", *MODES],
)
def test_a_call_that_the_host_does_not_allow_has_not_failed(claude, mode):
    script = claude.server.script
    script.turns = [calls("Bash", command=PUSH), says("It is not pushed.")]
    with claude.conversation(*mode) as session:
        session.say(INVOICES)
        session.end()
    (task,) = claude.tasks().values()
    (entry,) = task.exclusions
    assert entry.summary == f"Bash: {PUSH}"
    assert entry.data["why"].startswith("not allowed by the host")
    assert task.errors == ()
    assert not [event for event in claude.events() if event.type == "action"]


def test_what_the_user_rejects_is_ruled_out_until_the_user_allows_it(claude):
    script = claude.server.script
    with claude.conversation(*ASKS, "--permission-mode", "default") as session:
        session.replies = [DENY, ALLOW]
        script.turns = [calls("Bash", command=PUSH), says("It is not pushed.")]
        session.say(INVOICES)
        # The host may write the refusal to its transcript after the turn: the next event reads it there.
        script.turns = [says("I will not.")]
        session.say("Good, leave it.")
        (task,) = claude.tasks().values()
        assert [entry.data["what"] for entry in task.exclusions] == [PUSH]
        script.turns = [calls("Bash", command=PUSH), says("There is no remote.")]
        session.say("You may push now.")
        session.end()
    (task,) = claude.tasks().values()
    assert [entry for entry in task.exclusions if entry.data.get("rejected")] == []


def test_a_session_that_moves_to_another_working_tree_is_at_work_there(claude):
    inner = claude.work / "inner"
    subprocess.run(["git", "init", "-q", inner], check=True)
    script = claude.server.script
    script.turns = [calls("Bash", command=f"cd {inner}"), calls("Bash", command="pwd"), says("I am there.")]
    with claude.conversation() as session:
        session.say(INVOICES)
        wait_until(lambda: claude.sessions()[0].workspace == str(inner), "the session is in the inner tree")
        session.end()
    assert any((event.text or "").startswith("The session moved to") for event in claude.events())


SERVER = """
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def answer(asked, **result):
    send(id=asked["id"], result=result)

called = None
for line in sys.stdin:
    asked = json.loads(line)
    method = asked.get("method")
    if method == "initialize":
        answer(asked, protocolVersion=asked["params"]["protocolVersion"], capabilities={"tools": {}},
               serverInfo={"name": "deploy", "version": "1"})
    elif method == "tools/list":
        answer(asked, tools=[{"name": "deploy", "inputSchema": {"type": "object", "properties": {}}}])
    elif method == "tools/call":
        called = asked
        schema = {"type": "object", "properties": {"environment": {"type": "string"}}}
        send(id="e1", method="elicitation/create",
             params={"message": "Which environment?", "requestedSchema": schema})
    elif method is None and asked.get("id") == "e1":
        answer(called, content=[{"type": "text", "text": json.dumps(asked.get("result"))}])
    elif method and "id" in asked:
        send(id=asked["id"], error={"code": -32601, "message": "no such method"})
"""


def test_what_the_user_answers_to_an_mcp_server_is_a_decision(claude, tmp_path):
    server = tmp_path / "deploy.py"
    server.write_text(SERVER)
    config = tmp_path / "mcp.json"
    config.write_text(
        json.dumps({"mcpServers": {"deploy": {"command": sys.executable, "args": [str(server)]}}})
    )
    script = claude.server.script
    script.turns = [calls("mcp__deploy__deploy"), says("It is deployed.")]
    with claude.conversation(*ASKS, "--mcp-config", str(config)) as session:
        session.replies = [{"action": "accept", "content": {"environment": "staging"}}]
        session.say(INVOICES)
        session.end()
    (task,) = claude.tasks().values()
    (decision,) = task.decisions
    assert decision.data["choice"] == "environment: staging"
    assert decision.origin.channel == "user"


def test_every_event_of_the_program_has_a_hook_or_a_reason_for_having_none():
    """The list is in the program; the reasons are in docs/reference/hosts.md."""
    program = (FETCHED / "claude/claude_agent_sdk/_bundled/claude").read_bytes()
    names = re.search(rb'\["PreToolUse","PostToolUse","PostToolUseFailure","PostToolBatch"[^]]*\]', program)
    assert names, "the program lists its events in another form"
    events = set(json.loads(names[0]))
    page = (Path(__file__).parents[2] / "docs" / "reference" / "hosts.md").read_text(encoding="utf-8")
    rows = page.partition("## Events without a hook")[2].partition("\n## ")[0].splitlines()
    reasons = {name for row in rows if row.startswith("| ") for name in row.split("|")[1].strip().split(", ")}
    hooked = set(HOSTS["claude-code"].events)
    assert hooked <= events
    assert events - hooked == reasons - {"event", "---"}
    assert f"has {len(events)} events; {len(hooked)} of them" in page
