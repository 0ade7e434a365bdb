"""Interruptions, refusals, plans that wait, sessions that go on under a new id; all content is invented."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest

from ringbolt.hosts import capture_hook
from ringbolt.hosts.answers import context_injection
from ringbolt.hosts.answers.compaction_state import DELIVERED, PENDING, Mark
from ringbolt.hosts.capture.interruptions import resume_time
from ringbolt.hosts.transcripts.events import is_host_text
from ringbolt.journal.side_files import SideFiles, compaction_file
from ringbolt.model.validate import seconds_of, stamp
from ringbolt.store import sessions
from tests.hosts.hosting import QuickHost

REQUEST = "Make the invoices round to whole cents."
PLAN = "# Round at the end\n\n1. Find the rounding\n2. Move it"


@pytest.fixture
def host(tmp_path, monkeypatch):
    return QuickHost(tmp_path, monkeypatch)


def row(host, session=None):
    with host.memory() as memory:
        return memory.store.read(lambda tx: sessions.get(tx, session or host.session))


def texts(host):
    return [(event.origin.channel, event.text) for event in host.events() if event.text]


# --- when it may go on -------------------------------------------------------------------------------

NOW = datetime(2026, 11, 18, 14, 30, tzinfo=UTC).timestamp()


def test_the_time_when_work_may_go_on_is_read_from_the_hosts_words():
    for text, expected in {
        "You've hit your session limit · resets 3pm": "2026-11-18T15:00",
        "resets 3:45pm (UTC)": "2026-11-18T15:45",
        "resets 9am": "2026-11-19T09:00",
        "resets 4pm (Europe/Berlin)": "2026-11-18T15:00",
        "Your weekly limit resets Nov 20 at 12am (UTC)": "2026-11-20T00:00",
        "Your limit will reset at 2026-11-18T18:20:00Z.": "2026-11-18T18:20",
        "try again after 2026-11-18 20:20 +02:00": "2026-11-18T18:20",
        "Please try again in 2h.": "2026-11-18T16:30",
        "try again in 1 hour and 30 minutes": "2026-11-18T16:00",
        "Try again in 1 day 2h5m": "2026-11-19T16:35",
        "Try again at Nov 20th, 2026 3:04 PM.": "2026-11-20T15:04",
        "You've hit your usage limit. Try again at 3:04 PM.": "2026-11-18T15:04",
        f"Claude AI usage limit reached|{int(NOW) + 3600}": "2026-11-18T15:30",
        "resets Jan 2, 3am": "2027-01-02T03:00",
    }.items():
        found = resume_time(text, NOW, UTC)
        assert found is not None, text
        assert stamp(found).startswith(expected), text


def test_a_text_without_a_resume_time_yields_none():
    for text in (
        "", "API Error: 529 overloaded", "resets soon", "try again in a few minutes", "try again in 3 moons",
        "limit reached|12", "It failed at 2025-01-01T00:00:00Z", "resets 3pm (Nowhere/Land) resets",
        "resets Foo 3 at 4pm", "resets 99:99", "try again in . s",
    ):  # fmt: skip
        found = resume_time(text, NOW, UTC)
        assert found is None or "Nowhere" in text, text


# --- interrupted turns --------------------------------------------------------------------------------


def test_a_turn_that_a_limit_ended_is_held_up_until_the_next_prompt(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    until = int(time.time()) + 3600
    host.tell("StopFailure", error="rate_limit", error_details="429", last_assistant_message=f"Limit|{until}")
    held = row(host)
    assert held.turn == sessions.INTERRUPTED
    assert held.interruption["kind"] == "rate_limit"
    assert seconds_of(held.interruption["until"]) == until
    assert [text for channel, text in texts(host) if channel == "tool"] == [
        f"The turn broke off (rate_limit): Limit|{until}: 429. It may go on at {stamp(until)}."
    ]
    host.tell("Notification", message="Claude is waiting", notification_type="idle_prompt")
    host.bash("ls", agent_id="a1")  # a helper in the background
    assert row(host).turn == sessions.INTERRUPTED
    host.tell("SessionEnd", reason="other")
    assert row(host).interruption == held.interruption  # for the next time
    host.tell("UserPromptSubmit", prompt="continue")
    assert (row(host).turn, row(host).interruption) == (sessions.WORKING, None)


def test_an_error_without_words_is_an_interruption_too(host):
    host.tell("StopFailure", error="server_error")
    assert row(host).interruption["kind"] == "server_error"
    assert "until" not in row(host).interruption
    assert host.tasks() == ()


def test_a_call_that_the_user_interrupts_did_not_fail(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.bash("make all", "[Request interrupted by user for tool use]", failed=True, is_interrupt=True)
    [action] = [event for event in host.events() if event.type == "action"]
    [record] = action.sets["+records"].values()
    assert record["status"] == "skipped"
    assert not action.data.get("error")
    assert action.text == "Bash: make all (interrupted by the user)"
    assert host.task().errors == host.task().exclusions == ()
    assert host.before("make all") == ""
    assert row(host).turn == sessions.WAITING
    assert row(host).interruption["kind"] == "user"
    host.bash("make all", "No rule", 2, failed=True)
    assert "failed at" in host.before("make all")


def test_codex_reports_an_interrupted_turn(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch, name="codex")
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.tell("Interrupt", turn_id="t1")
    assert texts(host)[-1] == ("user", "The user interrupted the turn.")
    assert row(host).turn == sessions.WAITING


def test_a_usage_limit_that_codex_reports_to_no_hook_is_in_its_transcript(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch, name="codex")
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text("")
    where = {"transcript_path": str(rollout)}
    host.tell("SessionStart", source="startup", **where)
    host.tell("UserPromptSubmit", prompt=REQUEST, **where)
    fine = {"type": "task_complete", "turn_id": "t1", "last_agent_message": "Done.", "error": None}
    said = "You've hit your usage limit. Try again in 2h."
    failed = fine | {"turn_id": "t2", "error": {"message": said, "codex_error_info": "usage_limit_exceeded"}}
    for payload in (fine, failed):
        line = {"timestamp": "2026-11-18T01:32:59.520Z", "type": "event_msg", "payload": payload}
        with rollout.open("a") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
    host.tell("SessionEnd", reason="other", **where)
    wanted = {"kind": "usage_limit_exceeded", "message": said, "at": "2026-11-18T01:32:59.520Z"}
    assert row(host).interruption == {**wanted, "until": "2026-11-18T03:32:59.520Z"}
    lines = [text for _, text in texts(host) if "usage limit" in text]
    assert len(lines) == 1
    assert lines[0].endswith("It may go on at 2026-11-18T03:32:59.520Z.")
    host.tell("SessionStart", source="resume", **where)  # the line is not read again
    assert "usage limit" in host.context("SessionStart", source="resume", **where)
    host.tell("UserPromptSubmit", prompt="Go on.", **where)
    assert row(host).interruption is None
    assert len([text for _, text in texts(host) if "usage limit" in text]) == 1


def test_plan_mode_of_codex_is_in_its_transcript(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch, name="codex")
    rollout = tmp_path / "rollout.jsonl"
    told = {"transcript_path": str(rollout), "permission_mode": "default"}

    def turn(mode: str) -> list[str]:
        line = {"type": "event_msg", "payload": {"type": "task_started", "collaboration_mode_kind": mode}}
        with rollout.open("a") as file:
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
        host.tell("UserPromptSubmit", prompt=f"Think about the invoices in {mode} mode.", **told)
        host.tell("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="a", **told)
        host.tell("Stop", last_assistant_message=f"That was {mode} mode.", **told)
        return [row(host).mode, *(text for _, text in texts(host) if text.startswith("Plan mode"))]

    began = "Plan mode began: nothing is to be changed before the user approves a plan."
    assert turn("default") == ["default"]
    assert turn("plan") == ["plan", began]
    assert turn("plan") == ["plan", began]
    mode, *lines = turn("default")
    assert (mode, lines[0], lines[1].partition(";")[0]) == ("default", began, "Plan mode ended")


def test_a_helper_of_codex_has_the_name_that_its_agent_gave_it(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch, name="codex")
    host.tell("UserPromptSubmit", prompt=REQUEST)
    rollout = tmp_path / "helper.jsonl"
    meta = {"id": "a1", "parent_thread_id": host.session, "agent_path": "/root/count_files"}
    rollout.write_text(json.dumps({"type": "session_meta", "payload": meta}) + "\n")
    host.tell("SubagentStart", agent_id="a1", agent_type="default", transcript_path=str(rollout))
    host.tell("SubagentStart", agent_id="a2", agent_type="default", transcript_path=str(tmp_path / "none"))
    host.task()
    with host.memory() as memory:
        names = {task.name for task in memory.task_list(status="all").tasks}
    assert {"count_files", "default a2"} <= names


def test_a_host_that_asks_waits_for_its_user(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    for kind, turn in (("auth_success", sessions.WORKING), ("permission_prompt", sessions.WAITING)):
        host.tell("Notification", message="x", notification_type=kind)
        assert row(host).turn == turn
    host.bash("ls")
    assert row(host).turn == sessions.WORKING


# --- whose words --------------------------------------------------------------------------------------


def test_prompts_that_the_host_wrote_are_not_the_users_words(host):
    for source in ("system", "loop_wakeup", "schedule_wakeup", "poll_event"):
        host.tell("UserPromptSubmit", prompt=f"Check the deployment again, {source}.", source=source)
    assert host.tasks() == ()
    host.tell("UserPromptSubmit", prompt=REQUEST, source="user")
    host.tell("UserPromptSubmit", prompt="Keep the old totals.", source="sdk")
    host.tell("UserPromptSubmit", prompt="Check the deployment again.", source="loop_wakeup")
    assert [entry.summary for entry in host.task().instructions] == ["Keep the old totals."]
    assert texts(host)[-1] == ("tool", "Check the deployment again.")


def test_a_prompt_that_a_hook_stopped_is_not_recorded(host):
    host.tell("UserPromptSubmit", prompt="Operation stopped by hook: no pushes on Fridays")
    assert host.tasks() == ()
    assert is_host_text("Operation stopped by hook")
    assert not is_host_text("Operation stopped; why?")


def test_a_refused_call_is_noted_once_and_has_not_failed(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    push = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
    for number in range(3):
        host.tell("PermissionDenied", **push, tool_use_id=f"d{number}", reason="Rewrites a shared branch")
    host.tell("PermissionDenied", tool_name="Write", tool_input={"file_path": "/etc/hosts"}, tool_use_id="w",
              reason="The user doesn't want to proceed with this tool use.")  # fmt: skip
    rules, users = sorted(host.task().exclusions, key=lambda entry: entry.seq)
    assert (rules.origin.channel, rules.summary) == ("tool", "Bash: git push --force")
    assert rules.data["why"] == "not allowed by the host: Rewrites a shared branch"
    assert (users.origin.channel, users.summary) == ("user", "Write: /etc/hosts")
    # The transcript has the refusal as the result of the call.
    error = "This was denied by the Claude Code auto mode classifier. Reason: Rewrites a shared branch"
    host.tell("PostToolUseFailure", **push, tool_use_id="d0", error=error)
    assert len(host.task().exclusions) == 2
    assert not [event for event in host.events() if event.type == "action"]


def test_a_refusal_ends_when_the_same_call_is_made_after_all(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    for number, command in enumerate(("git push --force", "rm -r build")):
        given = {"command": command, "description": f"Attempt {number}"}
        host.tell("PermissionDenied", tool_name="Bash", tool_input=given, tool_use_id=f"d{number}",
                  reason="The user doesn't want to proceed with this tool use.")  # fmt: skip
    host.bash("git push --force", number="p", failed=True)  # it was allowed, whatever came of it
    assert [entry.summary for entry in host.task().exclusions] == ["Bash: Attempt 1"]
    host.bash("rm -r build", number="r")
    assert host.task().exclusions == ()


REFUSALS = {
    "a rule": "Permission to use Bash with command git push has been denied.",
    "don't ask": "Permission to use Bash has been denied because Claude Code is running in don't ask mode.",
    "nobody there": "This command requires approval",
    "auto": "Auto mode is unavailable: its safety check does not run for this session, so Bash was not run.",
}


@pytest.mark.parametrize("error", REFUSALS.values(), ids=REFUSALS)
def test_a_refusal_found_only_in_the_transcript_is_not_a_failure_either(host, error):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.bash("git push", error, failed=True)
    (entry,) = host.task().exclusions
    assert entry.summary == "Bash: git push"
    assert not [event for event in host.events() if event.type == "action"]
    host.bash("git push", "remote: permission denied to use this repository", number="2", failed=True)
    assert host.task().exclusions == ()  # it was made, and failed
    assert [event.type for event in host.events()].count("action") == 1


def test_a_rejected_call_is_open_again_once_the_user_allows_it(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.bash("git push", "The user doesn't want to proceed with this tool use.", failed=True)
    with host.memory() as memory:
        memory.task_distill()
    assert [entry.data["rejected"] for entry in host.task().exclusions] == [True]
    host.bash("git push", "The user doesn't want to proceed with this tool use.", number="2", failed=True)
    assert len(host.task().exclusions) == 1
    host.bash("git push", "pushed", number="3")
    assert host.task().exclusions == ()


@pytest.mark.parametrize(
    ("words", "ruled_out"),
    [("You may push now.", []), ("ok, go ahead", []), ("You can not push to main.", ["git push"])],
)
def test_permission_is_not_recorded_as_the_reason_of_a_refusal(host, words, ruled_out):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.bash("git push", "The user doesn't want to proceed with this tool use.", failed=True)
    host.tell("UserPromptSubmit", prompt=words)
    with host.memory() as memory:
        memory.task_distill()
    assert [entry.data["what"] for entry in host.task().exclusions] == ruled_out


def test_a_plan_approved_later_is_no_longer_ruled_out(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    plan = {"tool_name": "ExitPlanMode", "tool_input": {"plan": "# Round the taxes"}}
    host.tell("PostToolUseFailure", **plan, tool_use_id="p1",
              error="The user doesn't want to proceed with this tool use.")  # fmt: skip
    assert [entry.summary for entry in host.task().exclusions] == ["the plan: Round the taxes"]
    host.tell("PostToolUse", **plan, tool_use_id="p2", tool_response={"plan": "# Round the taxes"})
    assert host.task().exclusions == ()


def test_answers_to_an_mcp_server_are_decisions_of_the_user(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.tell("Elicitation", mcp_server_name="deploy", message="Which environment?")
    assert [entry.summary for entry in host.task().questions] == [
        "The MCP server deploy asks: Which environment?"
    ]
    assert row(host).turn == sessions.WAITING
    host.tell(
        "ElicitationResult", mcp_server_name="deploy", action="accept", content={"environment": "staging"}
    )
    task = host.task()
    assert task.questions == ()
    [decision] = task.decisions
    assert (decision.origin.channel, decision.data["choice"]) == ("user", "environment: staging")
    assert decision.summary == "The MCP server deploy asks: Which environment?"
    assert row(host).turn == sessions.WORKING
    host.tell("ElicitationResult", mcp_server_name="deploy", action="decline")
    assert texts(host)[-1] == ("user", "The user declined what the MCP server deploy asked.")
    assert len(host.task().decisions) == 1


# --- plans --------------------------------------------------------------------------------------------


def test_to_dos_that_host_and_tool_both_report_are_one_step(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.tell("TaskCreated", task_id="1", task_subject="Find the rounding")
    host.tell("PostToolUse", tool_name="TaskCreate", tool_input={"subject": "Find the rounding"},
              tool_use_id="c1", tool_response={"task": {"id": "1"}})  # fmt: skip
    host.tell("PostToolUse", tool_name="TaskCreate", tool_input={"subject": "Mend it"}, tool_use_id="c2",
              tool_response={"task": {"id": "2"}})  # fmt: skip
    host.tell("TaskCreated", task_id="2", task_subject="Mend it")
    host.tell("TaskCompleted", task_id="1", task_subject="Find the rounding")
    host.tell("PostToolUse", tool_name="TaskUpdate", tool_input={"taskId": "1", "status": "completed"},
              tool_use_id="u1", tool_response={})  # fmt: skip
    host.tell("TaskCompleted", task_id="9", task_subject="By a teammate")
    steps = [(step.title, step.status) for step in host.task().steps if step.dropped_in is None]
    done = [("Find the rounding", "completed"), ("Mend it", "pending"), ("By a teammate", "completed")]
    assert steps == done


def shown(host, event, plan=PLAN, number=1, **fields):
    host.tell(event, tool_name="ExitPlanMode", tool_input={"plan": plan}, tool_use_id=f"p{number}", **fields)


def test_a_plan_that_was_shown_waits_for_approval(host):
    host.tell("UserPromptSubmit", prompt=REQUEST, permission_mode="plan")
    shown(host, "PreToolUse")
    shown(host, "PreToolUse")  # told twice
    [question] = host.task().questions
    assert question.summary == "The plan waits for the user's approval: Round at the end"
    assert question.detail == PLAN
    assert row(host).turn == sessions.WAITING
    shown(host, "PostToolUseFailure", error="The user doesn't want to proceed")
    assert host.task().questions == ()
    shown(host, "PreToolUse", "# Another way", 2)
    shown(host, "PreToolUse", "# A third way", 3)
    assert [entry.summary[-11:] for entry in host.task().questions] == ["A third way"]
    shown(host, "PostToolUse", "# A third way", 3, tool_response={"plan": "# A third way"})
    assert host.task().questions == ()
    assert [entry.data["choice"] for entry in host.task().decisions] == ["approved the plan: A third way"]
    host.tell("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="b")
    assert not host.journal().waiting()  # no other tool is kept before it ran


def test_plan_mode_is_noted_when_it_begins_and_ends(host):
    host.tell("UserPromptSubmit", prompt=REQUEST, permission_mode="default")
    for mode in ("plan", "plan", "acceptEdits", "default", "plan"):
        host.bash("ls", number=str(time.monotonic_ns()), permission_mode=mode)
    host.bash("ls", number="h", permission_mode="default", agent_id="a1")
    lines = [text for channel, text in texts(host) if channel == "tool" and text.startswith("Plan mode")]
    assert lines == [
        "Plan mode began: nothing is to be changed before the user approves a plan.",
        "Plan mode ended; the permission mode is acceptEdits now.",
        "Plan mode began: nothing is to be changed before the user approves a plan.",
    ]


# --- where and as whom ----------------------------------------------------------------------------------


def test_a_session_follows_its_agent_into_another_working_tree(host, monkeypatch):
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(host.work))
    tree, plain = host.folder / "tree", host.folder / "plain"
    (tree / ".git").mkdir(parents=True)
    (tree / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tree / "src").mkdir()
    plain.mkdir()
    host.tell("UserPromptSubmit", prompt=REQUEST)
    for folder in (plain, host.work / "gone", tree / "src", tree):
        host.tell("CwdChanged", old_cwd=str(host.work), new_cwd=str(folder))
    host.bash("ls")
    assert row(host).workspace == str(tree)
    assert [text for _, text in texts(host) if text.startswith("The session moved")] == [
        f"The session moved to {tree}."
    ]
    assert len(host.tasks()) == 1


def has_task(host, session):
    with host.memory(session) as memory:
        return memory.store.read(lambda tx: tx.session_task(session, memory.workspace))


@pytest.mark.parametrize("source", ["fork", "resume"])
def test_a_session_under_a_new_id_goes_on_with_the_task(host, source):
    """All sessions here have the same host process: that of this test."""
    host.tell("UserPromptSubmit", prompt=REQUEST)
    task = host.task().id
    host.tell("SessionEnd", reason="other")
    new = host.other("s-2")
    assert REQUEST in new.context("SessionStart", source=source)
    assert new.task().id == task
    new.tell("UserPromptSubmit", prompt="And the totals, please.")
    assert len(host.tasks()) == 1
    assert new.task().status == "active"


def test_a_fork_is_known_by_its_transcript(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.tell("SessionEnd", reason="resume")
    other, forked = host.folder / "other.jsonl", host.folder / "forked.jsonl"
    other.write_text(json.dumps({"sessionId": "s-2", "type": "user"}) + "\n")
    forked.write_text(json.dumps({"sessionId": "s-3", "forkedFrom": {"sessionId": host.session}}) + "\n")
    host.other("s-2").tell("SessionStart", source="resume", transcript_path=str(other))
    assert has_task(host, "s-2") is None
    with host.memory() as memory:
        memory.store.write(lambda tx: tx.database.run("DELETE FROM sessions WHERE session_id = 's-2'", {}))
    host.other("s-3").tell("SessionStart", source="fork", transcript_path=str(forked))
    assert has_task(host, "s-3")


def test_a_task_is_not_taken_from_a_live_session_or_another_process(host, monkeypatch):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.other("s-2").tell("SessionStart", source="fork")  # the first one has not ended
    host.tell("SessionEnd", reason="other")
    with host.memory() as memory:
        memory.store.write(lambda tx: tx.database.run("DELETE FROM sessions WHERE session_id = 's-2'", {}))
    host.other("s-3").tell("SessionStart", source="startup")
    monkeypatch.setattr(capture_hook, "host_process", lambda: "1:1")
    host.other("s-4").tell("SessionStart", source="resume")
    assert [has_task(host, session) for session in ("s-2", "s-3", "s-4")] == [None] * 3


# --- marks ------------------------------------------------------------------------------------------------


def test_a_damaged_mark_delays_no_event(host):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    SideFiles(host.journal()).set(compaction_file(host.session), f"{DELIVERED} 17z")
    host.bash("ls")
    assert [event.type for event in host.events()].count("action") == 1
    assert Mark(SideFiles(host.journal()), host.session).read() == ""


def test_a_packet_that_could_not_be_made_is_asked_for_again(host, monkeypatch):
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.tell("PreCompact", trigger="auto")

    def broken(*_):
        raise RuntimeError("no packet")

    with monkeypatch.context() as patch:
        patch.setattr(context_injection, "packet_text", broken)
        assert host.context("UserPromptSubmit", prompt="Go on with the totals.") == ""
    assert Mark(SideFiles(host.journal()), host.session).read() == PENDING
    assert REQUEST in host.context("UserPromptSubmit", prompt="Go on with the taxes.")
    assert Mark(SideFiles(host.journal()), host.session).read() == ""
