"""The memory tool of the Anthropic SDK: the same replies as the SDK's own tool on local files."""

from __future__ import annotations

import asyncio
import json
import re

import httpx2
import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.adapters.anthropic_memory import RingboltAsyncMemoryTool, RingboltMemoryTool
from tests.support import open_memory

pytestmark = pytest.mark.adapters

STORY = [
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/nothing.md"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "Port: 8081\nHost: shop\n"},
    {"command": "create", "path": "/memories/notes.md", "file_text": "again"},
    {"command": "create", "path": "/memories/plan/now/deep/step.md", "file_text": "one\ntwo"},
    {"command": "create", "path": "/memories/plan/.hidden", "file_text": "x" * 1500},
    {"command": "view", "path": "/memories"},
    {"command": "view", "path": "/memories/plan"},
    {"command": "view", "path": "/memories/notes.md"},
    {"command": "view", "path": "/memories/notes.md", "view_range": [2, -1]},
    {"command": "view", "path": "/memories/notes.md", "view_range": [1, 1]},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "8081", "new_str": "9090"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "8081", "new_str": "9090"},
    {"command": "str_replace", "path": "/memories/notes.md", "old_str": "o", "new_str": "0"},
    {"command": "str_replace", "path": "/memories/plan", "old_str": "o", "new_str": "0"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 1, "insert_text": "User: deploy\n"},
    {"command": "insert", "path": "/memories/notes.md", "insert_line": 9, "insert_text": "late"},
    {
        "command": "insert",
        "path": "/memories/plan/now/deep/step.md",
        "insert_line": 2,
        "insert_text": "three",
    },
    {"command": "view", "path": "/memories/plan/now/deep/step.md"},
    {"command": "rename", "old_path": "/memories/plan", "new_path": "/memories/archive/plan"},
    {"command": "rename", "old_path": "/memories/plan", "new_path": "/memories/other"},
    {"command": "rename", "old_path": "/memories/notes.md", "new_path": "/memories/archive"},
    {"command": "view", "path": "/memories/archive"},
    {"command": "delete", "path": "/memories/archive"},
    {"command": "delete", "path": "/memories/archive"},
    {"command": "delete", "path": "/memories"},
    {"command": "view", "path": "/memories/../../etc/passwd"},
    {"command": "view", "path": "/etc/passwd"},
    {"command": "view", "path": "/memories/notes.md"},
]


def reply(tool, command):
    """What the model reads after a command."""
    try:
        return tool.call(command)
    except ToolError as error:
        return f"error: {error}"


def comparable(text):
    """Without the sizes of folders, which on a disk are those of their entries."""
    return re.sub(r"(?m)^\S+\t(?=/memories(\S*/)?$|/memories/(plan|archive)$)", "", text)


def test_the_replies_are_those_of_the_sdks_tool(memory, tmp_path):
    ours, theirs = RingboltMemoryTool(memory), BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))
    for command in STORY:
        assert comparable(reply(ours, command)) == comparable(reply(theirs, command)), command


# None is a folder of another: an empty folder stays on a disk, and is not kept here.
PATHS = st.sampled_from([f"/memories/{name}" for name in ("a", "b", "c/d", "c/e.md")])
TEXTS = st.text("ab\n", max_size=8)
COMMANDS = st.one_of(
    st.fixed_dictionaries({"command": st.just("create"), "path": PATHS, "file_text": TEXTS}),
    st.fixed_dictionaries(
        {
            "command": st.just("str_replace"),
            "path": PATHS,
            "old_str": st.text("ab\n", min_size=1, max_size=2),
            "new_str": TEXTS,
        }
    ),
    st.fixed_dictionaries(
        {"command": st.just("insert"), "path": PATHS, "insert_line": st.integers(-1, 5), "insert_text": TEXTS}
    ),
    st.fixed_dictionaries({"command": st.just("delete"), "path": PATHS}),
    st.fixed_dictionaries({"command": st.just("view"), "path": PATHS}),
)


@given(st.lists(COMMANDS, max_size=15))
def test_any_sequence_of_commands_leaves_the_same_files(tmp_path_factory, commands):
    folder = tmp_path_factory.mktemp("story")
    theirs = BetaLocalFilesystemMemoryTool(str(folder))
    with open_memory(f"{folder}/tasks.db") as memory:
        ours = RingboltMemoryTool(memory)
        for command in commands:
            left, right = reply(ours, command), reply(theirs, command)
            assert left.startswith("error") == right.startswith("error"), (command, left, right)
        for path in ("/memories/a", "/memories/b", "/memories/c/d", "/memories/c/e.md"):
            if (folder / path[1:]).is_file():
                view = {"command": "view", "path": path}
                assert reply(ours, view) == reply(theirs, view)


def test_each_name_has_files_of_its_own_and_they_outlive_the_process(memory, another):
    RingboltMemoryTool(memory).call(STORY[2])
    assert "8081" in RingboltMemoryTool(another).call(STORY[8])
    assert "does not exist" in reply(RingboltMemoryTool(another, "other"), STORY[8])
    RingboltMemoryTool(another).clear_all_memory()
    assert "does not exist" in reply(RingboltMemoryTool(memory), STORY[8])


def test_secrets_are_redacted(memory):
    tool = RingboltMemoryTool(memory)
    tool.call(
        {"command": "create", "path": "/memories/k", "file_text": "password = 'correct-horse-9-battery'"}
    )
    assert "correct-horse" not in tool.call({"command": "view", "path": "/memories/k"})


def test_the_asynchronous_tool_does_the_same(memory, tmp_path):
    theirs = BetaLocalFilesystemMemoryTool(str(tmp_path / "files"))

    async def story():
        tool = RingboltAsyncMemoryTool(memory)
        for command in STORY:
            try:
                answer = await tool.call(command)
            except ToolError as error:
                answer = f"error: {error}"
            assert comparable(answer) == comparable(reply(theirs, command)), command
        assert await tool.clear_all_memory() == "All memory cleared"

    asyncio.run(story())


def test_the_runner_of_the_sdk_calls_it(memory):
    """A model on the wire: it asks for two commands, and sees what came of them."""
    use = {"type": "tool_use", "name": "memory"}
    answers = [
        [{**use, "id": "t1", "input": STORY[2]}, {**use, "id": "t2", "input": STORY[1]}],
        [{"type": "text", "text": "Noted."}],
    ]
    seen = []

    def answer(request):
        seen.append(json.loads(request.content))
        content = answers.pop(0)
        reason = "tool_use" if answers else "end_turn"
        usage = {"input_tokens": 1, "output_tokens": 1}
        body = {"id": "m", "type": "message", "role": "assistant", "model": "scripted", "content": content,
                "stop_reason": reason, "stop_sequence": None, "usage": usage}  # fmt: skip
        return httpx2.Response(200, json=body)

    client = Anthropic(api_key="none", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
    runner = client.beta.messages.tool_runner(
        model="scripted",
        max_tokens=100,
        tools=[RingboltMemoryTool(memory)],
        messages=[{"role": "user", "content": "Remember the port."}],
    )
    assert runner.until_done().content[0].text == "Noted."
    assert seen[0]["tools"][0]["type"] == "memory_20250818"
    created, missing = seen[1]["messages"][-1]["content"]
    assert "created successfully" in str(created["content"])
    assert missing["is_error"]
    assert "does not exist" in str(missing["content"])
