"""What stands in `<private>…</private>` is never stored, whichever way it comes in."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from ringbolt import operations
from ringbolt.hosts.hook_build import compiled
from ringbolt.hosts.transcripts.importing import TranscriptClock, capture_transcripts
from ringbolt.ledger.without_secrets import redacted_event
from ringbolt.model.errors import RingboltError
from ringbolt.model.redaction import Redactor, marker, without_private
from tests.core.calls import WRITES
from tests.hosts.hosting import Host
from tests.security.doors import door, tool_call
from tests.support import open_memory
from tests.surfaces.command_line import environ, process

WORD = "zebrafish"
TAGGED = f"Keep this. <private>The {WORD} is ill.</private> And this."
LEFT = f"Keep this. {marker('private')} And this."
SHAPES = {
    TAGGED: LEFT,
    f"a <PRIVATE>{WORD}</Private> b": f"a {marker('private')} b",
    f"a <private>\n{WORD}\n\n{WORD}\n</private\n> b": f"a {marker('private')} b",
    f"a <private>x <private>{WORD}</private> {WORD}</private> b": f"a {marker('private')} b",
    f"a <private>{WORD} b\nc": f"a {marker('private')}",
    f"a <private>x</private> b <private>{WORD}": f"a {marker('private')} b {marker('private')}",
    f'a <private reason="health">{WORD}</private> b': f"a {marker('private')} b",
    f"a \\u003cprivate\\u003e{WORD}\\u003c/private\\u003e b": f"a {marker('private')} b",
}
NO_TAGS = (
    "private parts", "KEY=<private key>", "<privateer>x</privateer>", "a </private> b", "a <private/> b",
    "List<private_type> x",
)  # fmt: skip


def stored(folder) -> bytes:
    """All that is on disk below a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@pytest.mark.parametrize("keep", [False, True])
def test_the_part_goes_and_the_rest_stays(keep):
    redactor = Redactor(keep=keep)
    for text, left in SHAPES.items():
        assert redactor.text(text) == left
        assert redactor.whole({"a": [text], text: 1}) == {"a": [left], left: 1}
        assert redactor.value({"a": [text]}, str) == {"a": [left]}
        assert redactor.text(left) == left
    for text in NO_TAGS:
        assert redactor.text(text) == text


def test_a_long_text_is_not_cut_between_the_tags():
    text = f"{'a ' * 40_000}<private>{'b ' * 40_000}{WORD} </private>{'c ' * 40_000}"
    assert WORD not in Redactor().value(text, str)
    assert without_private(text) == f"{'a ' * 40_000}{marker('private')}{'c ' * 40_000}"


def tagged(value):
    """Arguments with a private part in every text that a caller may choose freely."""
    if isinstance(value, str):
        return f"{value} {TAGGED}" if " " in value or len(value) == 1 else value
    if isinstance(value, dict):
        return {name: tagged(inner) for name, inner in value.items()}
    return [tagged(inner) for inner in value] if isinstance(value, list) else value


@pytest.mark.parametrize("keep", ["off", "on"])
def test_no_operation_stores_it(tmp_path, keep):
    done = 0
    with open_memory(tmp_path / "store.db", keep_secrets=keep) as memory:
        for name, (arguments, _) in WRITES.items():
            if name not in operations.OPERATIONS or "path" in arguments or "target" in arguments:
                continue
            task = memory.task_register(f"{name} {TAGGED}", ["One", TAGGED], request=TAGGED).task_id
            given = tagged(arguments)
            own = {parameter.name for parameter in operations.parameters(name)}
            given |= {"task_id": task} if "task_id" in own else {}
            try:
                operations.call(memory, name, given)
                done += 1
            except RingboltError:
                continue  # an argument that takes no free text
        memory.goal_create(f"Goal {TAGGED}", criteria=[f"human: {TAGGED}"])
        memory.smart_wait("manual:", task_id=task, message=TAGGED, block=False)
        assert not memory.task_recall(WORD, workspace=None).hits
        assert "Keep this" in memory.task_resume(task).text
        assert WORD not in memory.task_resume(task).text
        assert memory.verify().ok
    assert done >= 15
    assert b"Keep this" in stored(tmp_path)
    assert WORD.encode() not in stored(tmp_path)


def test_neither_the_command_line_nor_http_nor_mcp_stores_it(tmp_path):
    given = environ(RINGBOLT_STORE=str(tmp_path / "s.db"), RINGBOLT_WORKSPACE=str(tmp_path))
    for words in (("register", TAGGED, "--request", TAGGED), ("note", TAGGED), ("update", TAGGED)):
        made = process(*words, env=given, cwd=tmp_path)
        assert made.returncode == 0, made.stderr
        assert WORD not in made.stdout
    with open_memory(tmp_path / "h.db") as memory:
        memory.task_register("A task")
        with door(memory, tmp_path) as ask:
            ask.token("writer", access="write")
            result = tool_call(ask, "task_note", {"text": TAGGED}, "writer")
            assert not result.get("isError"), result
            answer = ask("POST", "/api/task_update", {"message": TAGGED}, token="writer")
            assert answer.status == 200, answer.body
    assert b"Keep this" in stored(tmp_path)
    assert WORD.encode() not in stored(tmp_path)


EVENTS = (
    ("UserPromptSubmit", {"prompt": TAGGED}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": f"echo '{TAGGED}'"},
                     "tool_response": {"stdout": TAGGED, "stderr": ""}, "tool_use_id": "t1"}),
    ("PostCompact", {"trigger": "auto", "compact_summary": TAGGED}),
    ("SubagentStart", {"agent_id": "a", "agent_type": "b", "prompt": TAGGED}),
    ("Stop", {"last_assistant_message": TAGGED, "stop_hook_active": False}),
    ("UserPromptSubmit", {"prompt": f"Go on. <Private>{WORD}"}),
)  # fmt: skip


@pytest.mark.parametrize("keep", ["off", "on"])
@pytest.mark.parametrize("is_built", [False, True])
def test_neither_the_journal_nor_the_store_has_what_a_hook_was_told(tmp_path, is_built, keep):
    host = Host(tmp_path)
    build = tmp_path / "hook.pyc"
    build.write_bytes(compiled())
    for event, fields in EVENTS:
        given = json.dumps(host.told(event, **fields)).encode()
        env = host.environment(RINGBOLT_KEEP_SECRETS=keep)
        if is_built:
            command = [sys._base_executable, "-I", "-S", str(build), host.name, event]
            done = subprocess.run(command, input=given, env=env, capture_output=True, check=True)
        else:
            done = subprocess.run(
                [sys.executable, "-m", "ringbolt.hosts.capture_hook", host.name, event],
                input=given, env=env, capture_output=True, check=True,
            )  # fmt: skip
        assert WORD.encode() not in done.stdout + done.stderr + stored(tmp_path / "data")
    broken = json.dumps(host.told("UserPromptSubmit", prompt=TAGGED))[:-3].encode()
    host.raw("UserPromptSubmit", broken, RINGBOLT_KEEP_SECRETS=keep)
    assert WORD.encode() not in stored(tmp_path / "data")
    with host.memory() as memory:
        texts = [event.text or "" for event in memory.events()]
    assert LEFT in texts
    assert f"Go on. {marker('private')}" in texts
    assert WORD.encode() not in stored(tmp_path / "data")


def test_an_imported_transcript_is_without_it(tmp_path):
    path = tmp_path / "11111111-aaaa.jsonl"
    common = {"sessionId": "11111111-aaaa", "cwd": str(tmp_path), "timestamp": "2026-03-01T12:00:00.000Z"}
    blocks = [
        {"type": "text", "text": f"Fix it. <private>{WORD}"},
        {"type": "text", "text": f"{WORD}</private> Now."},
    ]
    lines = [
        {"type": "user", "uuid": "1", "message": {"role": "user", "content": blocks}, **common},
        {"type": "assistant", "uuid": "2", **common,
         "message": {"id": "m", "role": "assistant", "content": [{"type": "text", "text": TAGGED}]}},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with open_memory(tmp_path / "data" / "s.db", workspace=str(tmp_path)) as memory:
        capture_transcripts(memory, TranscriptClock(), [str(path)])
        texts = "\n".join(event.text or "" for event in memory.events())
    assert "Fix it." in texts
    assert LEFT in texts
    assert WORD.encode() not in stored(tmp_path / "data")


@pytest.mark.parametrize("keep", [False, True])
def test_an_event_of_another_store_is_without_it(keep):
    event = {
        "text": TAGGED,
        "data": json.dumps({"input": {"command": TAGGED}}),
        "sets": json.dumps({"+records": {"2": {"note": TAGGED}}}),
    }
    found = redacted_event(event, keep_secrets=keep)
    assert WORD not in json.dumps(found)
    assert found["text"] == LEFT


def test_mirrors_are_without_it(tmp_path):
    with open_memory(
        tmp_path / "data" / "s.db", workspace=str(tmp_path), mirrors="state,resume,active-tasks,bank"
    ) as memory:
        memory.task_register(f"Deploy {TAGGED}", [TAGGED], request=TAGGED)
        memory.active_tasks_render()
    assert b"Keep this" in b"".join(path.read_bytes() for path in tmp_path.rglob("*.md"))
    assert WORD.encode() not in stored(tmp_path)
