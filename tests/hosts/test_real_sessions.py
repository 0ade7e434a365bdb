"""Real sessions of an agent, replayed as the host would have told them; they are read where they are.

The data is no part of the project. RINGBOLT_TEST_DATA names its folder; else it is looked for beside ours.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path

import pytest

from ringbolt.hosts.events import apply, cleaned, own_task
from ringbolt.hosts.guard import advice
from ringbolt.model.redaction import Redactor
from tests.hosts.hosting import QuickHost
from tests.support import open_memory

_BESIDE = Path(__file__).parents[3] / "shared" / "data"
TRACES = Path(os.environ.get("RINGBOLT_TEST_DATA") or _BESIDE) / "traces"
pytestmark = pytest.mark.skipif(not TRACES.is_dir(), reason="the recorded sessions are not on this machine")
_PLANS = ("TodoWrite", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "AskUserQuestion", "ExitPlanMode")


def told(path):
    """The prompts and tool calls of a session as a host tells them: events with their fields."""
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
            yield "PreToolUse", {**used, "will_fail": bool(event.get("error"))}
            failed = bool(event.get("error"))
            result = {"error": event["text"]} if failed else {"tool_response": event["text"]}
            yield "PostToolUseFailure" if failed else "PostToolUse", {**used, **result}


def test_a_real_session_becomes_a_ledger_and_a_packet(tmp_path, monkeypatch):
    host = QuickHost(tmp_path, monkeypatch)
    path = min(TRACES.glob("*.gz"), key=lambda path: abs(path.stat().st_size - 15_000))
    expected = Counter()
    for event, fields in told(path):
        fields.pop("will_fail", None)
        if event != "PreToolUse":
            host.tell(event, **fields)
            expected[event] += 1
    actions = [event for event in host.events() if event.type == "action"]
    assert expected["PostToolUse"] > 10
    assert len(actions) == expected["PostToolUse"] + expected["PostToolUseFailure"]
    failed = [event for event in actions if event.data.get("error") is not None]
    assert len(failed) == expected["PostToolUseFailure"]
    assert not list(tmp_path.rglob("rejected/*"))
    host.tell("PreCompact", trigger="auto")
    packet = host.context("SessionStart", source="compact")
    assert 500 < len(packet) <= 8_000


@pytest.mark.reliability
@pytest.mark.timeout(600)
def test_the_guard_hardly_ever_warns_of_what_then_works(tmp_path):
    """Over all sessions: how often it speaks before a call, and how often that call then worked."""
    redactor = Redactor(b"k" * 32)
    calls, spoken, wrong = 0, 0, []
    for number, path in enumerate(sorted(TRACES.glob("*.gz"))):
        with open_memory(tmp_path / f"{number}.db") as memory:
            for place, (event, fields) in enumerate(told(path)):
                fails = fields.pop("will_fail", None)
                names = {"tool_name": "tool", "tool_input": "input", "tool_response": "output"}
                ours = {names.get(name, name): value for name, value in fields.items()}
                ours = cleaned({"event": event, "session": "S", **ours}, redactor)
                task = own_task(memory)
                if event == "PreToolUse":
                    calls += 1
                    if task and (said := advice(memory, task, ours["tool"], ours.get("input"))):
                        spoken += 1
                        wrong += [] if fails else [said]
                elif event == "PreCompact" and task:
                    memory.task_distill(task)
                elif event != "PreCompact":
                    apply(memory, ours, f"{place}")
    assert calls > 1_000
    assert len(wrong) <= calls / 1_000, (spoken, wrong[:5])
