"""Continuing a task in another host: the command, and the prompt that hands the task over once."""

from __future__ import annotations

import json
import shlex

import pytest

from ringbolt.hosts.handover import fresh_environment, read_handover, start_command
from ringbolt.hosts.host_table import ARGUMENTS, HOSTS, PROMPT
from ringbolt.model.errors import InvalidInput
from tests.hosts.hosting import Host
from tests.surfaces.command_line import process


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path)
    host.tell("UserPromptSubmit", prompt="Deploy the shop to staging")
    host.tell("Stop", last_assistant_message="Built.", stop_hook_active=False)
    return host


def prompt_for(host, *words):
    """The folder and the command that `ringbolt continue --print` gives."""
    env = host.environment()
    done = process("continue", "--print", "--json", *words, env=env, cwd=host.work)
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)["data"]
    assert data["folder"] == str(host.work)
    assert shlex.split(data["shell"])[3:] == data["command"]
    return data["command"]


def test_each_program_gets_the_packet_as_its_first_prompt(host):
    for name, words in {
        "claude-code": ["claude"], "codex": ["codex"], "gemini-cli": ["gemini", "-i"],
        "opencode": ["opencode", "--prompt"],
    }.items():  # fmt: skip
        *command, prompt = prompt_for(host, "--in", name)
        assert command == words
        assert read_handover(prompt) is not None
        assert "Deploy the shop to staging" in prompt
    assert prompt_for(host, "--in", "codex", "--once", "--", "-m", "x")[:-1] == ["codex", "exec", "-m", "x"]
    with pytest.raises(InvalidInput):
        start_command("cursor", "x")
    with pytest.raises(InvalidInput) as refused:
        start_command("kimi-code", "x")
    assert refused.value.hint == "Use --once."
    for row in HOSTS.values():
        for words in (row.starts, row.runs_once):
            assert not words or words.count(PROMPT) == words.count(ARGUMENTS) == 1


def test_the_task_goes_over_once(host, tmp_path):
    prompt = prompt_for(host, "--in", "codex")[-1]
    new, late = (Host(tmp_path, session=name, name="codex") for name in ("22222222-bbbb", "33333333-cccc"))
    for _ in range(2):  # the same event may be reported twice
        new.tell("UserPromptSubmit", prompt=prompt)
    late.tell("UserPromptSubmit", prompt=prompt)
    with host.memory() as memory:
        (task,) = memory.task_list(status="all", workspace=None).tasks
        focused = [event for event in memory.events() if event.type == "task.focused"]
        assert [(event.data["from"], event.origin.session) for event in focused] == [
            (host.session, new.session)
        ]
        assert memory.task_get(task.id).instructions == ()
    assert "took over your task" in host.context("UserPromptSubmit", prompt="Go on")
    assert "took over" not in host.tell("PostToolUse", tool_name="Bash", tool_input={"command": "ls"})


def test_a_new_program_does_not_inherit_the_session():
    given = {
        "PATH": "/bin",
        "RINGBOLT_HOST_SESSION": "a",
        "CLAUDE_CODE_SESSION_ID": "a",
        "RINGBOLT_STORE": "s",
    }
    assert fresh_environment(given) == {"PATH": "/bin", "RINGBOLT_STORE": "s"}
