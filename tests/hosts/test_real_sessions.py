"""Real sessions of an agent, replayed as the host reported them.

Ours were recorded with the real programs and a scripted model. Larger ones of real users are not part of the
project: RINGBOLT_TEST_DATA names their folder, else they are looked for beside ours.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from ringbolt.hosts.capture.events import apply, cleaned, own_task
from ringbolt.hosts.guard.warnings import warning
from ringbolt.hosts.host_schemas import read_event
from ringbolt.hosts.transcripts.importing import TranscriptClock, capture_transcripts
from ringbolt.model.redaction import Redactor
from tests.hosts.hosting import QuickHost
from tests.hosts.recordings import HOSTS, WORK, hook_reports, transcript
from tests.support import open_memory

_BESIDE = Path(__file__).parents[3] / "shared" / "data"
TRACES = sorted((Path(os.environ.get("RINGBOLT_TEST_DATA") or _BESIDE) / "traces").glob("*.gz"))
_PLANS = ("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "AskUserQuestion", "ExitPlanMode")


def replay(host: QuickHost):
    """Report a recorded session to the hook, with the transcript growing as it did; what was answered."""
    content, path = transcript(host.name).read_bytes(), host.folder / "transcript.jsonl"
    session = ""
    for report in hook_reports(host.name):
        session = report.told["session_id"]
        if report.transcript_bytes:
            path.write_bytes(content[: report.transcript_bytes])
        told = json.dumps({**report.told, "transcript_path": str(path)}).replace(WORK, str(host.work))
        yield report, host.raw(report.event, told.encode())
    path.write_bytes(content)
    host.session = session


@pytest.mark.parametrize("name", HOSTS)
def test_a_recorded_session_becomes_a_ledger_and_a_packet(tmp_path, monkeypatch, name):
    host = QuickHost(tmp_path, monkeypatch, name=name)
    answers = [(report.event, answer) for report, answer in replay(host)]
    starts = [answer for event, answer in answers if event == "SessionStart"]
    assert "Find out why and fix it." not in starts[0]
    assert all("Find out why and fix it." in answer for answer in starts[1:])
    task, events = host.task(), host.events()
    assert task.request.startswith("The import of orders stops at line 900.")
    assert task.instructions[0].summary.startswith("Now make the importer log")
    assert [(item.title, item.status) for item in task.steps] == [
        ("Reproduce the failure", "completed"), ("Fix the importer", "completed"), ("Test it", "completed"),
    ]  # fmt: skip
    actions = [event.data for event in events if event.type == "action"]
    failed = [data["input"].get("command") for data in actions if "error" in data]
    assert {"cat missing-orders.csv", "python3 -m no_such_linter importer.py"} <= set(failed)
    assert {os.path.basename(file.path) for file in task.files} >= {"importer.py", "test_importer.py"}
    assert next(event.data["label"] for event in events if event.type == "snapshot") == "before compaction"
    assert not list(tmp_path.rglob("*.spool*"))


def test_events_without_a_hook_are_read_from_claude_codes_transcript(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch)
    list(replay(host))
    task, events = host.task(), host.events()
    messages = [event.text for event in events if event.type == "message"]
    assert messages.count("A line without a comma has no second field. That is the reason.") == 1
    assert messages.count("The importer skips broken lines now. A lasting test is still missing.") == 1
    refused = [event for event in events if event.type == "action" and "rm -r archive" in event.text]
    assert [event.data["error"] for event in refused] == ["Keep the archive, the auditors need it."]
    (decision,) = (entry for entry in task.decisions if not entry.data.get("inferred"))
    assert (decision.data["choice"], decision.origin.channel) == ("Skip it", "user")


@pytest.mark.parametrize("name", HOSTS)
def test_a_session_that_hooks_captured_is_not_captured_again(tmp_path, monkeypatch, name):
    host = QuickHost(tmp_path, monkeypatch, name=name)
    list(replay(host))
    with open_memory(host.store, workspace=None, clock=(clock := TranscriptClock())) as memory:
        report = capture_transcripts(memory, clock, [str(tmp_path / "transcript.jsonl")])
    assert (report.new, report.skipped, len(report.tasks)) == (0, 0, 1)


# --- sessions of real users ---------------------------------------------------------------------------


def told(path):
    """The prompts and tool calls of a session as a host reports them: events with their fields."""
    with gzip.open(path, "rt") as lines:
        events = [json.loads(line) for line in lines]
    calls = {event["i"]: event for event in events if event["k"] == "call"}
    for event in events:
        if event["k"] == "user":
            yield "UserPromptSubmit", {"prompt": event["text"]}
        elif event["k"] == "compact":
            yield "PreCompact", {"trigger": "auto"}
            yield "PostCompact", {"compact_summary": event.get("summary") or "S"}
        elif event["k"] == "result" and event["tool"] not in _PLANS and event["call_i"] in calls:
            given = calls[event["call_i"]]["input"]
            used = {"tool_name": event["tool"], "tool_input": given, "tool_use_id": str(event["call_i"])}
            yield "PreToolUse", used
            failed = bool(event.get("error"))
            result = {"error": event["text"]} if failed else {"tool_response": event["text"]}
            yield "PostToolUseFailure" if failed else "PostToolUse", {**used, **result}


def sessions(traces):
    """Ours, and sessions of real users: the events of each."""
    yield [(report.event, report.told) for report in hook_reports("claude-code")]
    yield from ([*told(path)] for path in traces)


def test_a_session_becomes_a_ledger_and_a_packet(tmp_path, monkeypatch):
    typical = sorted(TRACES, key=lambda path: abs(path.stat().st_size - 15_000))[:1]
    for number, events in enumerate(sessions(typical)):
        (folder := tmp_path / str(number)).mkdir()
        host, expected = QuickHost(folder, monkeypatch), Counter()
        for event, fields in events:
            if event in ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure"):
                own = {"session_id": host.session, "cwd": str(host.work), "transcript_path": None}
                host.tell(event, **{**fields, **own})
                expected[event] += fields.get("tool_name") not in _PLANS
        actions = [event for event in host.events() if event.type == "action"]
        assert expected["PostToolUse"] > 10
        assert len(actions) == expected["PostToolUse"] + expected["PostToolUseFailure"]
        failed = [event for event in actions if event.data.get("error") is not None]
        assert len(failed) == expected["PostToolUseFailure"]
        assert not list(folder.rglob("*.spool*"))
        host.tell("PreCompact", trigger="auto")
        packet = host.context("SessionStart", source="compact")
        assert 500 < len(packet) <= 8_000


@pytest.mark.reliability
@pytest.mark.timeout(600)
def test_the_guard_rarely_warns_about_calls_that_work(tmp_path):
    """Over all sessions: how often it speaks before a call, and how often that call then worked."""
    redactor = Redactor()
    calls, spoken, wrong = 0, 0, []
    for number, events in enumerate(sessions(TRACES)):
        fails = {f["tool_use_id"] for event, f in events if event == "PostToolUseFailure"}
        with open_memory(tmp_path / f"{number}.db") as memory:
            for place, (event, fields) in enumerate(events):
                ours = read_event("claude-code", event, {**fields, "session_id": "S", "cwd": None})
                ours = cleaned(ours, redactor)
                task = own_task(memory)
                if event == "PreToolUse":
                    calls += 1
                    if task and (found := warning(memory, task, ours["tool"], ours.get("input"))):
                        spoken += 1
                        wrong += [] if fields["tool_use_id"] in fails else [found.text]
                elif event == "PreCompact" and task:
                    memory.task_distill(task)
                elif event != "PreCompact":
                    apply(memory, ours, f"{place}")
    assert calls > (1_000 if TRACES else 20)
    assert len(wrong) <= calls / 1_000, (spoken, wrong[:5])
