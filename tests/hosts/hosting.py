"""Hosts as their hooks see them: with a real process for each event, or in the test's own process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from functools import cache

from ringbolt import TaskMemory
from ringbolt.hosts import hook_build
from ringbolt.hosts.capture_hook import CapturedEvent
from ringbolt.hosts.drain import drain
from ringbolt.hosts.hook_parts.embedded_parts import host_facts
from ringbolt.hosts.host_table import HOSTS
from ringbolt.journal.event_files import Journal
from ringbolt.journal.health import journal_health
from tests.journal.writing import new_name, write_event


def leave(journal, session, event, at=None, name=None, host="claude-code", **fields):
    """An event in a journal, as a hook leaves it there."""
    payload = {"session_id": session, "hook_event_name": event, **fields}
    line = {"v": 1, "id": os.urandom(8).hex(), "at": time.time() if at is None else at, "host": host,
            "event": event, "payload": payload}  # fmt: skip
    return write_event(journal, name or new_name(session), line)


def opened(host, session: str) -> TaskMemory:
    """A memory that has taken in every event: by itself it takes what it can in a short time."""
    memory = TaskMemory.open(host.store, workspace=str(host.work), session=session, create=False)
    drain(memory, host.journal())
    return memory


PROGRAM = "from ringbolt.hosts.capture_hook import main; main()"
HOST_LIMIT = 10_000


_build = cache(hook_build.compiled)


def hook_words(folder) -> list[str]:
    """The command of a hook that is built in a folder."""
    build = folder / "hook.pyc"
    if not build.exists():
        build.write_bytes(_build())
    return [getattr(sys, "_base_executable", sys.executable), "-I", "-S", str(build)]


class Host:
    """Claude Code as its hooks see it: one session in one folder, with the hook that `install` builds."""

    def __init__(self, folder, session="11111111-aaaa", name="claude-code"):
        self.folder = folder
        self.session = session
        self.name = name
        self.store = folder / "data" / "store.db"
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        self.words = hook_words(folder)

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RINGBOLT_")}
        patient = {"RINGBOLT_HOOK_DEADLINE_MS": "20000", "RINGBOLT_HOOK_COMPACT_MS": "30000"}
        # Tests kill processes and fill disks; none cuts the power.
        patient["RINGBOLT_SYNCHRONOUS"] = "off"
        places = {"RINGBOLT_STORE": str(self.store), "XDG_DATA_HOME": str(self.folder / "xdg")}
        return {**kept, **places, **patient, **more}

    def told(self, event, **fields):
        return {
            "session_id": self.session,
            "transcript_path": str(self.folder / "transcript.jsonl"),
            "cwd": str(self.work),
            "permission_mode": "default",
            "hook_event_name": event,
            **fields,
        }

    def start(self, event, **more):
        return subprocess.Popen(
            [*self.words, self.name, event],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=self.environment(**more), cwd=self.folder,
        )  # fmt: skip

    def raw(self, event, data: bytes, **more) -> str:
        process = self.start(event, **more)
        out, error = process.communicate(data, timeout=60)
        assert process.returncode == 0, error
        self.complained = error.decode()
        return out.decode()

    def tell(self, event, *, env=None, **fields) -> str:
        return self.raw(event, json.dumps(self.told(event, **fields)).encode(), **(env or {}))

    def context(self, event, **fields) -> str:
        """The context that an event is answered with; the answer must be of the host's form."""
        said = self.tell(event, **fields)
        if not said:
            return ""
        answer = json.loads(said)
        assert set(answer) == {"hookSpecificOutput"}
        inner = answer["hookSpecificOutput"]
        assert set(inner) == {"hookEventName", "additionalContext"}
        assert inner["hookEventName"] == event
        assert event in HOSTS[self.name].injects
        assert len(inner["additionalContext"]) < HOST_LIMIT
        return inner["additionalContext"]

    def tool(self, name, given, response, number, event="PostToolUse", **fields):
        return self.tell(
            event, tool_name=name, tool_input=given, tool_use_id=f"toolu_{number}",
            **({"tool_response": response} if event == "PostToolUse" else {"error": response}), **fields,
        )  # fmt: skip

    def memory(self, session=None) -> TaskMemory:
        return opened(self, session or self.session)

    def journal(self) -> Journal:
        return Journal([f"{self.store}.journal", *self._away()])

    def _away(self):
        return sorted(str(path) for path in (self.folder / "xdg").rglob("*.journal"))

    def leave(self, event, **fields):
        """An event that is not in the store yet."""
        return leave(self.journal(), self.session, event, cwd=str(self.work), **fields)

    def drain(self):
        """Take in what waits, as any command does."""
        with TaskMemory.open(self.store, workspace=None):
            pass

    def left(self) -> int:
        """How many events wait or were rejected."""
        health = journal_health(self.journal())
        return health.waiting + health.rejected


class QuickHost:
    """One session of a host in one folder: what `ringbolt-hook` does after it has read its input."""

    def __init__(self, folder, monkeypatch, session="s-1", name="claude-code"):
        self.folder, self.session, self.name = folder, session, name
        self._monkeypatch = monkeypatch
        self.store = folder / "data" / "store.db"
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)
        for variable, value in (
            ("STORE", str(self.store)), ("HOOK_DEADLINE_MS", "20000"), ("HOOK_COMPACT_MS", "30000"),
            ("SYNCHRONOUS", "off"), ("RESERVE_BYTES", "0"),
        ):  # fmt: skip
            monkeypatch.setenv(f"RINGBOLT_{variable}", value)

    def other(self, session, **changes):
        return QuickHost(self.folder, self._monkeypatch, session, **{"name": self.name, **changes})

    def tell(self, event, **fields) -> str:
        told = {"session_id": self.session, "cwd": str(self.work), "hook_event_name": event, **fields}
        return self.raw(event, json.dumps(told).encode())

    def raw(self, event, data: bytes) -> str:
        facts = host_facts(self.name)
        return CapturedEvent(self.name, event, facts, data, time.monotonic_ns()).run()

    def context(self, event, **fields) -> str:
        said = self.tell(event, **fields)
        return json.loads(said)["hookSpecificOutput"]["additionalContext"] if said else ""

    def bash(self, command, output="", number=None, *, failed=False, **fields):
        event = "PostToolUseFailure" if failed else "PostToolUse"
        result = {"error": output} if failed else {"tool_response": {"stdout": output, "stderr": ""}}
        number = command if number is None else number
        return self.tell(event, tool_name="Bash", tool_input={"command": command}, tool_use_id=str(number),
                         **result, **fields)  # fmt: skip

    def before(self, command):
        """What the agent is told before it runs a command."""
        return self.context("PreToolUse", tool_name="Bash", tool_input={"command": command}, tool_use_id="b")

    def memory(self, session=None) -> TaskMemory:
        return opened(self, self.session if session is None else session)

    def task(self):
        with self.memory() as memory:
            return memory.task_get()

    def journal(self) -> Journal:
        return Journal.of(str(self.store))

    def leave(self, event, at=None, **fields):
        """An event that is not in the store yet."""
        return leave(self.journal(), self.session, event, at, cwd=str(self.work), **fields)

    def tasks(self):
        with self.memory() as memory:
            return memory.task_list(status="all").tasks

    def events(self):
        with self.memory() as memory:
            return list(memory.events())
