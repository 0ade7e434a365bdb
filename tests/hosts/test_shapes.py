"""What hosts say, in our words: the shapes are those that their programs were seen to send."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from ringbolt import TaskMemory
from ringbolt.hosts.capture.events import cleaned
from ringbolt.hosts.hook_parts.host_state import was_compacted
from ringbolt.hosts.host_schemas import has_failed, output_of, read_event
from ringbolt.hosts.transcripts.lines import exit_code
from ringbolt.model.redaction import Redactor
from tests.hosts.hosting import hook_words

INJECTED = "<hook_context>&lt;ringbolt-1&gt;\nRecorded state.\n&lt;/ringbolt-1&gt;\n</hook_context>\n\n"


@pytest.mark.parametrize(
    ("host", "told", "typed"),
    [
        ("gemini-cli", INJECTED + "Now the taxes.", "Now the taxes."),
        ("gemini-cli", INJECTED * 2 + "Now the taxes.", "Now the taxes."),
        ("gemini-cli", "What is <hook_context>a</hook_context>?", "What is <hook_context>a</hook_context>?"),
        ("gemini-cli", "<hook_context> is never closed", "<hook_context> is never closed"),
        ("claude-code", INJECTED + "Now.", INJECTED + "Now."),
        ("opencode", '"Now the taxes."', "Now the taxes."),
        ("opencode", r'"Say \"done\" then."', 'Say "done" then.'),
        ("opencode", "/init", "/init"),
        ("opencode", '"', '"'),
        ("codex", '"Now the taxes."', '"Now the taxes."'),
    ],
)
def test_a_prompt_is_what_the_user_typed(host, told, typed):
    name = "BeforeAgent" if host == "gemini-cli" else "UserPromptSubmit"
    assert read_event(host, name, {"session_id": "1", "prompt": told})["prompt"] == typed


def wrapped(text: str) -> dict:
    return {"llmContent": f"<untrusted_context>\n{text}\nProcess Group PGID: 7\n</untrusted_context>"}


@pytest.mark.parametrize(
    ("response", "output", "failed"),
    [
        (wrapped("Output: three passed"), "three passed", False),
        (wrapped("Output: no such file\nExit Code: 2"), "no such file\nExit Code: 2", True),
        (wrapped("Output: Exit Code: 2 means usage"), "Exit Code: 2 means usage", False),
        ({"llmContent": "Wrote it.", "returnDisplay": {}}, "Wrote it.", False),
        ("three passed", "three passed", False),
        ("Exit code: 1\nOutput:\nno", "Exit code: 1\nOutput:\nno", True),
        ("Exit code: 0\nOutput:\nyes", "Exit code: 0\nOutput:\nyes", False),
        ({"output": "no", "metadata": {"exit": 2}}, "no", True),
        ({"output": "yes", "metadata": {"exit": 0}}, "yes", False),
        ({"content": ["no"], "isError": True}, ["no"], True),
    ],
)  # fmt: skip
def test_the_output_of_a_tool_and_whether_it_failed(response, output, failed):
    assert output_of(response) == output
    assert has_failed(response) is failed


def test_a_tool_of_opencode_is_known_by_our_names():
    given = {"filePath": "/shop/a.py", "oldString": "a", "newString": "b"}
    event = read_event("opencode", "PostToolUse", {"tool_name": "edit", "tool_input": given})
    assert event["input"] == {"file_path": "/shop/a.py", "oldString": "a", "newString": "b"}
    assert read_event("opencode", "PostToolUse", {"tool_name": "todowrite"})["tool"] == "TodoWrite"


def ended(call: str, code: int, printed: str = "no such file") -> str:
    item = {"type": "CommandExecution", "id": call, "aggregated_output": printed, "exit_code": code}
    line = {
        "type": "event_msg",
        "payload": {"type": "item_completed", "item": {**item, "duration": {"secs": 0}}},
    }
    return json.dumps(line, separators=(",", ":")) + "\n"


def test_how_a_command_of_codex_ended_is_in_its_transcript(tmp_path):
    path = tmp_path / "rollout.jsonl"
    tricky = '","exit_code":0,"id":"call_1"'
    path.write_text(ended("call_1", 2, tricky) + ended("call_2", 0) + ended("call_3", -9, "x" * 300_000))
    assert [exit_code(str(path), f"call_{number}") for number in (1, 2, 3, 4)] == [2, 0, -9, None]
    told = {"tool_name": "Bash", "tool_input": {"command": "cat a"}, "transcript_path": str(path)}
    events = [
        read_event("codex", "PostToolUse", {**told, "tool_use_id": call, "tool_response": "no such file"})
        for call in ("call_1", "call_2")
    ]
    found = [cleaned(event, Redactor()) for event in events]
    assert [(one["output"], one["failed"]) for one in found] == [
        ("no such file", True),
        ("no such file", False),
    ]


@pytest.mark.parametrize("path", ["", "nowhere/rollout.jsonl", ".", "a\0b"])
def test_an_unreadable_transcript_yields_nothing(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert exit_code(path, "call_1") is None
    assert was_compacted(path, 0) is False
    told = {"tool_response": "fine", "tool_use_id": "call_1", "transcript_path": path}
    assert read_event("codex", "PostToolUse", told)["output"] == "fine"


class Host:
    """The real hook, called as a host calls it."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.transcript = folder / "transcript.jsonl"
        self.transcript.write_text("")
        (folder / "work").mkdir()

    def tell(self, event: str, **fields) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RINGBOLT_")}
        patient = {"RINGBOLT_HOOK_DEADLINE_MS": "20000", "RINGBOLT_HOOK_COMPACT_MS": "30000"}
        env = {**kept, **patient, "RINGBOLT_STORE": str(self.folder / "store.db")}
        told = {"session_id": "1", "cwd": str(self.folder / "work"), "transcript_path": str(self.transcript)}
        done = subprocess.run(
            [*hook_words(self.folder), self.name, event], input=json.dumps({**told, **fields}).encode(),
            env=env, capture_output=True, timeout=60, check=True,
        )  # fmt: skip
        assert done.stderr == b""
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""

    def events(self) -> list:
        with TaskMemory.open(self.folder / "store.db", create=False) as memory:
            return list(memory.events())


def test_gemini_cli_looks_before_every_request_and_only_a_real_compaction_counts(tmp_path):
    host = Host(tmp_path, "gemini-cli")
    used = {"tool_name": "run_shell_command", "tool_response": wrapped("Output: three passed")}
    host.tell("BeforeAgent", prompt="Round the invoices to whole cents.")
    for command in ("make test", "make lint"):
        host.tell("PreCompress", trigger="auto")
        host.transcript.write_text(host.transcript.read_text() + '{"type":"user","content":"more"}\n')
        assert host.tell("AfterTool", tool_input={"command": command}, **used) == ""
    host.tell("PreCompress", trigger="auto")
    host.transcript.write_text(host.transcript.read_text() + '{"$set":{"messages":[{"id":"1"}]}}\n')
    host.tell("PreCompress", trigger="auto")  # the request was made again
    assert host.tell("BeforeTool", tool_name="run_shell_command", tool_input={"command": "make all"}) == ""
    packet = host.tell("AfterTool", tool_input={"command": "make all"}, **used)
    for part in ("| Round the invoices to whole cents.", "make test", "make all"):
        assert part in packet
    # Once is enough.
    host.tell("PreCompress", trigger="auto")
    assert host.tell("AfterTool", tool_input={"command": "make more"}, **used) == ""
    assert [event.type for event in host.events()].count("action") == 4
    assert not [event for event in host.events() if event.type == "snapshot"]
    # What the user asks for is one without a look.
    host.tell("PreCompress", trigger="manual")
    assert "make more" in host.tell("BeforeAgent", prompt="Now the credit notes.")
    assert [event.type for event in host.events()].count("snapshot") == 1


def test_the_summary_writer_of_claude_code_is_not_a_helper(tmp_path):
    host = Host(tmp_path, "claude-code")
    host.tell("UserPromptSubmit", prompt="Round the invoices to whole cents.")
    said = {"last_assistant_message": "<summary>All is well.</summary>"}
    host.tell("SubagentStop", agent_id="a1", agent_type="", **said)
    assert [event.type for event in host.events()] == ["task.registered"]
    host.tell("SubagentStart", agent_id="a2", agent_type="Explore")
    host.tell("SubagentStop", agent_id="a2", agent_type="Explore", **said)
    assert [event.type for event in host.events()].count("task.registered") == 2
    assert [event.type for event in host.events()].count("tool_result") == 1
