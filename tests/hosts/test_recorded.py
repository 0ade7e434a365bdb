"""Every event of every host, as the host documents it, through the hook; its answers by the host's own rules.

The files below `recorded/` are written from the documentation of the hosts, with invented content. The rules
here are the hosts' as they publish them, not read from our table: if that is wrong, this says so.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringbolt.hosts.host_table import HOSTS
from ringbolt.packet.tokens import estimate
from tests.hosts.hosting import Host, QuickHost

RECORDED = Path(__file__).parent / "recorded"
REQUEST = "Make the invoices round to whole cents."
# What a host does in its life, in the names of each.
ORDER = (
    "SessionStart sessionStart UserPromptSubmit beforeSubmitPrompt BeforeAgent PreToolUse preToolUse"
    " BeforeTool PostToolUse postToolUse AfterTool PostToolUseFailure postToolUseFailure SubagentStart"
    " subagentStart SubagentStop subagentStop Notification PermissionDenied Elicitation ElicitationResult"
    " TaskCreated TaskCompleted CwdChanged PreCompact preCompact PreCompress PostCompact StopFailure"
    " Interrupt Stop stop AfterAgent SessionEnd sessionEnd"
).split()
# Host: events whose answer may carry context, and its form.
_MOST = "SessionStart UserPromptSubmit PreToolUse PostToolUse"
WAYS_IN = {
    "claude-code": (f"{_MOST} SubagentStart", "nested"),
    "codex": (f"{_MOST} SubagentStart", "nested"),
    "cursor": ("sessionStart beforeSubmitPrompt", "additional_context"),
    "gemini-cli": ("SessionStart BeforeAgent AfterTool", "nested"),
    "vscode": ("SessionStart PreToolUse PostToolUse SubagentStart", "nested"),
    "opencode": (_MOST, "nested"),
    "openclaw": (_MOST, "nested"),
    "qwen-code": (f"{_MOST} SubagentStart", "nested"),
    "droid": ("SessionStart UserPromptSubmit PostToolUse", "nested"),
    "copilot-cli": (_MOST, "additionalContext"),
    "kimi-code": ("UserPromptSubmit", "message"),
    "goose": ("", ""),
}
WITH_HOOKS = sorted(name for name, host in HOSTS.items() if host.events)
# Claude Code shows 2 KB of what is longer, Codex cuts what has more tokens; others name no limit.
MOST_CHARACTERS, MOST_TOKENS = 10_000, 2_500
# Hosts that take plain text before a compaction as words to their summary.
TAKES_NOTES = ("claude-code", "opencode")


def recorded(host: str) -> dict[str, dict]:
    """The events of a host in the order of a life, with what it says of each."""
    files = {path.stem: json.loads(path.read_text()) for path in (RECORDED / host).glob("*.json")}
    assert set(files) <= set(ORDER)
    return {name: files[name] for name in ORDER if name in files}


def filled(told: dict, folder) -> bytes:
    return json.dumps(told).replace("{cwd}", str(folder)).encode()


def context_of(host: str, event: str, said: str) -> str:
    """The text that an answer gives the model; an answer that the host would not take fails."""
    if not said:
        return ""
    events, form = WAYS_IN[host]
    if event.lower() in ("precompact", "precompress"):
        assert host in TAKES_NOTES, f"{host} takes nothing on {event}"
        assert not said.startswith("{")
        return said
    assert event in events.split(), f"{host} takes nothing on {event}"
    answer = json.loads(said)
    if form != "nested":
        assert list(answer) == [form]
        text = answer[form]
    else:
        assert list(answer) == ["hookSpecificOutput"]
        inner = answer["hookSpecificOutput"]
        assert list(inner) == ["hookEventName", "additionalContext"]
        assert inner["hookEventName"] == event
        text = inner["additionalContext"]
    assert isinstance(text, str)
    assert 0 < len(text) < MOST_CHARACTERS
    assert estimate(text) <= MOST_TOKENS
    return text


def test_every_host_has_a_recording_of_each_event_we_install():
    assert sorted(path.name for path in RECORDED.iterdir()) == WITH_HOOKS
    for name, host in HOSTS.items():
        if any(file.hooks for file in host.files):
            assert set(host.events) <= set(recorded(name)), name


def lived(host, name: str) -> dict[str, str]:
    """Replay the life of a session; what the model was told on each event."""
    told = {}
    for event, given in recorded(name).items():
        told[event] = context_of(name, event, host.raw(event, filled(given, host.work)))
    return told


def what_is_there(host, name: str, session: str) -> None:
    """The ledger has what the recorded life says, and nothing waits."""
    with host.memory(session) as memory:
        task = memory.task_get()
        events = list(memory.events(task.id))
    assert task.request.startswith(REQUEST)
    commands = [event.data["input"]["command"] for event in events if event.type == "action"]
    assert commands[0] == "pytest tests/test_invoice.py"
    assert all(event.origin.channel == "tool" for event in events if event.type == "action")
    assert not list(host.folder.rglob("rejected/*"))


def session_of(name: str) -> str:
    told = next(iter(recorded(name).values()))
    return next(told[field] for field in ("session_id", "conversation_id", "sessionId") if field in told)


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_the_life_of_a_session(tmp_path, monkeypatch, name):
    host = QuickHost(tmp_path, monkeypatch, name=name)
    lived(host, name)
    what_is_there(host, name, session_of(name))
    # The session is opened again: it is told where it stands.
    start = next(event for event in recorded(name) if event.lower() == "sessionstart")
    again = {**recorded(name)[start], "source": "resume"}
    text = context_of(name, start, host.raw(start, filled(again, host.work)))
    if start not in WAYS_IN[name][0].split():
        # It takes no context then; if it does with a prompt, each start comes with the next one.
        prompt = {**recorded(name)["UserPromptSubmit"], "prompt": "And now?"}
        said = [host.raw("UserPromptSubmit", filled(prompt, host.work))]
        said += [host.raw(start, filled(again, host.work))]
        said += [host.raw("UserPromptSubmit", filled(prompt, host.work))]
        text = context_of(name, "UserPromptSubmit", said[-1])
    assert REQUEST in text or not WAYS_IN[name][0]


@pytest.mark.parametrize("name", ["claude-code", "codex"])
def test_the_life_of_a_session_with_a_process_for_each_event(tmp_path, name):
    host = Host(tmp_path, name=name)
    told = lived(host, name)
    assert host.complained == ""
    what_is_there(host, name, session_of(name))
    assert bool(told["PreCompact"]) == (name in TAKES_NOTES)


@pytest.mark.reliability
@pytest.mark.parametrize("name", sorted(set(WITH_HOOKS) - {"claude-code", "codex"}))
def test_the_life_of_a_session_of_other_hosts_with_a_process_for_each_event(tmp_path, name):
    host = Host(tmp_path, name=name)
    lived(host, name)
    what_is_there(host, name, session_of(name))


@pytest.mark.parametrize("name", WITH_HOOKS)
def test_the_packet_of_a_huge_task_fits_the_hosts_limit(tmp_path, monkeypatch, name):
    """Long titles, many steps, instructions and failures, in letters that are many tokens each."""
    host = QuickHost(tmp_path, monkeypatch, name=name)
    given = recorded(name)
    prompt = next(event for event in given if HOSTS[name].events[event] == "UserPromptSubmit")
    host.raw(prompt, filled({**given[prompt], "prompt": REQUEST + " 漢字🙂ﷺ" * 3000}, host.work))
    with host.memory(session_of(name)) as memory:
        task = memory.task_get().id
        memory.task_plan_append(task, [f"Step {number} " + "długi tytuł 漢字 " * 20 for number in range(60)])
        user = memory.acting_as(channel="user")
        for number in range(25):
            user.task_remember(task, f"Rule {number}: " + "never 漢 ever " * 40, type="user_instruction")
            memory.task_decide(task, choice=f"Way {number} " + "ß∂ƒ" * 100, reasoning="because 漢字 " * 50)
            memory.task_exclude(task, what=f"try {number} " + "x" * 300, why="y " * 300)
            memory.task_set(task, f"name{number}", "value 🙂 " * 40)
    shape = HOSTS[name]
    for event, ours in shape.events.items():
        if ours in ("PreCompact", "SessionStart") and event in given:
            for source in ("resume", "compact"):
                said = host.raw(event, filled({**given[event], "source": source}, host.work))
                text = context_of(name, event, said)
                assert text or event not in WAYS_IN[name][0] or source == "compact"
                assert len(text) <= 8_000
