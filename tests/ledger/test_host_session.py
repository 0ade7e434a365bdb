"""Which session a process belongs to: real hosts, each with a hook behind a shell and a server of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager

from tests.hosts.hosting import hook_words

# A host runs a hook through a shell, with the event on its input, or our server directly: a child of its own,
# forked, because importing everything for each one takes long.
HOST = """\
import json, os, shlex, subprocess, sys
from ringbolt import TaskMemory
from ringbolt.ledger.host_session import host_session
for line in sys.stdin:
    command, given = json.loads(line)
    if given is None:
        sys.stdout.flush()
        if (child := os.fork()) == 0:
            try:
                with TaskMemory.open(workspace=None) as memory:
                    print(json.dumps(host_session(memory.store)), flush=True)
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
    else:
        done = subprocess.run(["sh", "-c", shlex.join(command)], input=given, capture_output=True, text=True)
        print(json.dumps(done.stdout + done.stderr), flush=True)
"""


class Host:
    """A program that has hooks and an MCP server."""

    def __init__(self, process: subprocess.Popen, folder) -> None:
        self._process, self._hook = process, hook_words(folder)

    def _run(self, command: list[str], given: str | None) -> str:
        self._process.stdin.write(json.dumps([command, given]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline()).strip()

    def tell(self, session: str, event: str, **fields) -> None:
        told = {"session_id": session, "cwd": "/w", "hook_event_name": event, **fields}
        self._run([*self._hook, "claude-code", event], json.dumps(told))

    def session(self) -> str:
        """The session that a process of this host takes for its own."""
        return self._run([], None)


@contextmanager
def host(folder, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("RINGBOLT_", "CLAUDE"))}
    ours = {"RINGBOLT_STORE": str(folder / "store.db"), "RINGBOLT_HOOK_DEADLINE_MS": "20000",
            "RINGBOLT_SYNCHRONOUS": "off"}  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", HOST], env={**kept, **ours, **more}, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    with process:
        yield Host(process, folder)
        process.stdin.close()


def test_two_hosts_side_by_side_have_a_session_each(tmp_path):
    with host(tmp_path) as first, host(tmp_path) as second, host(tmp_path) as third:
        first.tell("one", "SessionStart", source="startup")
        second.tell("two", "SessionStart", source="startup")
        second.tell("two", "UserPromptSubmit", prompt="Round the invoices.")
        assert [first.session(), second.session()] == ["one", "two"]
        assert third.session() == ""  # it has no hooks


def test_a_host_that_goes_on_under_another_id_has_the_new_session(tmp_path):
    # The server keeps the environment that it was started with.
    with host(tmp_path, CLAUDE_CODE_SESSION_ID="one") as claude:
        assert claude.session() == "one"  # no hook has said anything yet
        claude.tell("one", "SessionStart", source="startup")
        assert claude.session() == "one"
        claude.tell("one", "SessionEnd", reason="clear")
        claude.tell("two", "SessionStart", source="clear")
        assert claude.session() == "two"
        claude.tell("two", "SessionEnd", reason="resume")
        claude.tell("one", "SessionStart", source="resume")
        assert claude.session() == "one"


def test_the_session_of_an_ended_host_is_not_inherited(tmp_path):
    with host(tmp_path) as first:
        first.tell("one", "SessionStart", source="startup")
        assert first.session() == "one"
    with host(tmp_path) as second:
        assert second.session() == ""
        second.tell("one", "SessionStart", source="resume")  # `--continue`, in a new process
        assert second.session() == "one"
