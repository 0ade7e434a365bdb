"""The Claude Agent SDK: its conformance suite for stores, and its own program with our callbacks."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query
from claude_agent_sdk.testing import run_session_store_conformance

from ringbolt.adapters.claude_agent_sdk import RingboltHooks, RingboltSessionStore
from tests.adapters.ledger import actions, events, said, task_of
from tests.live.model_servers import calls, model_server, says

pytestmark = pytest.mark.adapters
REQUEST = "Round the invoices to whole cents. Leave the tax tables alone."
PACKET = "Recorded state of a task, kept by Ringbolt"


def test_the_store_passes_the_fourteen_contracts(memory):
    numbers = count()
    asyncio.run(
        run_session_store_conformance(
            lambda: RingboltSessionStore(memory.acting_as(workspace=f"/w{next(numbers)}"))
        )
    )


def test_an_entry_that_is_appended_again_is_kept_once(memory):
    async def steps():
        store, key = RingboltSessionStore(memory), {"project_key": "p", "session_id": "s"}
        first, title = {"uuid": "a", "n": 1}, {"type": "title", "title": "x"}
        await store.append(key, [first, title])
        await store.append(key, [first, title, {"uuid": "b", "n": 2}])
        assert await store.load(key) == [first, title, title, {"uuid": "b", "n": 2}]

    asyncio.run(steps())


@pytest.fixture
def server():
    with model_server() as server:
        yield server


def ask(prompt, server, folder, **options):
    """Run the SDK with its own program and the scripted model; returns the id of the session."""
    home = folder / "home"
    work = folder / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    environment = {
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    settings = ClaudeAgentOptions(
        cwd=work, env=environment, permission_mode="bypassPermissions", setting_sources=[], **options
    )

    async def run():
        last = None
        async for message in query(prompt=prompt, options=settings):
            last = message
        assert isinstance(last, ResultMessage)
        return last.session_id

    return asyncio.run(run())


def test_a_session_is_recorded_and_resumed_elsewhere_from_the_store(memory, another, server, tmp_path):
    server.script.turns = [
        calls("Bash", command="echo three-passed", description="Run the tests"),
        calls("Bash", command="cat missing-ledger.txt"),
        says("The invoice is rounded."),
    ]
    session = ask(
        REQUEST,
        server,
        tmp_path,
        hooks=RingboltHooks(memory).hooks,
        session_store=RingboltSessionStore(memory),
    )
    task = task_of(memory, session)
    assert (task.request, task.sources["request"].channel) == (REQUEST, "user")
    assert actions(memory, session) == [("Bash", "completed"), ("Bash", "failed")]
    assert said(memory, session)[-1] == "The invoice is rounded."
    assert PACKET not in server.script.asked[0].text

    # Another machine: no transcript on its disk, only the store.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    server.script.turns = [says("I go on.")]
    before = len(server.script.asked)
    again = ask(
        "Please go on with the next invoice.",
        server,
        elsewhere,
        resume=session,
        hooks=RingboltHooks(another).hooks,
        session_store=ProjectOf(another, tmp_path / "work", elsewhere / "work"),
    )
    assert again == session
    text = "".join(asked.text for asked in server.script.asked[before:])
    assert PACKET in text
    assert "three-passed" in text  # the history itself
    assert len(events(memory, session)) > 3


class ProjectOf(RingboltSessionStore):
    """A store that takes one folder for another, as a program does whose project is elsewhere."""

    def __init__(self, memory, there, here):
        super().__init__(memory)
        self._names = {self._named(here): self._named(there)}

    @staticmethod
    def _named(folder):
        return "".join(letter if letter.isalnum() else "-" for letter in str(folder))

    async def load(self, key):
        return await super().load(
            {**key, "project_key": self._names.get(key["project_key"], key["project_key"])}
        )

    async def list_subkeys(self, key):
        return []
