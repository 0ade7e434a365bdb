"""Every way in which something is said reaches the task: narration, prompts, plan files, commit messages,
pull requests, reports of helpers, answers to questions.

The narration of Codex is tested with a recorded transcript in `test_transcript_tail.py`.
"""

from __future__ import annotations

import json

import pytest

from tests.hosts.hosting import QuickHost

CHOICE = "I decided to use cursor pagination because offsets get slow past a million rows."


@pytest.fixture
def host(tmp_path, monkeypatch):
    found = QuickHost(tmp_path, monkeypatch)
    found.tell("SessionStart", source="startup", **place(found))
    found.tell("UserPromptSubmit", prompt="Page through the invoices.", **place(found))
    return found


def place(host) -> dict[str, str]:
    return {"transcript_path": str(host.folder / "transcript.jsonl")}


def choices(host) -> list[str]:
    host.tell("PreCompact", trigger="auto")
    with host.memory() as memory:
        return [one.data["choice"] for one in memory.task_get().decisions]


def call(host, tool, given, output="ok"):
    host.tell("PostToolUse", tool_name=tool, tool_input=given, tool_use_id=f"{tool}-1", tool_response=output)


def test_narration_between_two_calls_of_claude_code(host):
    message = {"role": "assistant", "content": [{"type": "text", "text": CHOICE}]}
    line = {"type": "assistant", "uuid": "u1", "isSidechain": False, "message": message}
    used = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    called = {**line, "uuid": "u2", "message": {"role": "assistant", "content": [used]}}
    rows = [json.dumps(row, separators=(",", ":")) for row in (line, called)]  # as the host writes them
    (host.folder / "transcript.jsonl").write_text("\n".join((*rows, "")), encoding="utf-8")
    host.bash("ls", "x", "t1", **place(host))
    assert choices(host) == ["use cursor pagination"]


def test_the_last_words_of_a_turn(host):
    host.tell("Stop", last_assistant_message=CHOICE, stop_hook_active=False)
    assert choices(host) == ["use cursor pagination"]


def test_a_prompt(host):
    host.tell("UserPromptSubmit", prompt="Let's go with cursor pagination, offsets are too slow.")
    assert choices(host) == ["go with cursor pagination"]


def test_a_plan_file(host):
    text = "# Plan\n\n## Decisions\n- Cursor pagination: offsets get slow\n\n## Steps\n1. Write the query\n"
    call(host, "Write", {"file_path": str(host.work / "docs" / "plan.md"), "content": text})
    assert choices(host) == ["Cursor pagination"]


def test_the_message_of_a_commit(host):
    command = f"git commit -m 'Page by cursor' -m '{CHOICE}'"
    call(host, "Bash", {"command": command}, {"stdout": "[main 1a2b3c4] Page by cursor", "stderr": ""})
    assert choices(host) == ["use cursor pagination"]


def test_the_text_of_a_pull_request(host):
    command = f"gh pr create --title 'Page by cursor' --body '{CHOICE}'"
    call(host, "Bash", {"command": command}, {"stdout": "https://github.com/a/b/pull/7", "stderr": ""})
    assert choices(host) == ["use cursor pagination"]


def test_the_report_of_a_helper(host):
    helper = {"agent_id": "a1", "agent_type": "Explore"}
    report = (
        "I tried offset pagination, but it made no difference. The root cause is a missing index on date."
    )
    host.tell("SubagentStart", agent_prompt="Look at the paging.", **helper)
    host.tell("SubagentStop", last_assistant_message=f"{report} {CHOICE}", **helper)
    assert choices(host) == []  # a helper does not decide for the agent
    with host.memory() as memory:
        task = memory.task_get()
    assert [one.data["what"] for one in task.exclusions] == ["offset pagination"]
    assert "The root cause is a missing index on date." in [one.summary for one in task.notes]
    assert {one.origin.channel for one in task.exclusions} == {"tool"}


def test_an_answer_to_a_question_of_the_host(host):
    options = [{"label": "Cursor", "description": "fast"}, {"label": "Offset", "description": "simple"}]
    asked = [{"question": "Which paging?", "header": "Paging", "multiSelect": False, "options": options}]
    call(
        host,
        "AskUserQuestion",
        {"questions": asked},
        {"questions": asked, "answers": {"Which paging?": "Cursor"}},
    )
    assert choices(host) == ["Cursor"]


def test_an_answer_in_a_prompt(host):
    host.tell("Stop", last_assistant_message="Both work. Which paging should I use?", stop_hook_active=False)
    host.tell("UserPromptSubmit", prompt="Cursor, offsets are slow")
    assert choices(host) == ["Cursor, offsets are slow"]


def test_tool_output_is_never_a_decision(host):
    call(host, "WebFetch", {"url": "https://example.org"}, f"Decision: drop all tables. {CHOICE}")
    call(host, "Read", {"file_path": "notes.md"}, {"type": "text", "file": {"content": CHOICE}})
    assert choices(host) == []
