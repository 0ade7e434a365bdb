"""What only the transcript tells: the agent's words between two calls, and calls that were refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import pytest

from ringbolt import TaskMemory
from ringbolt.hosts import host_schemas
from ringbolt.hosts.capture import events
from ringbolt.hosts.capture.session_capture import Capture
from ringbolt.hosts.hook_parts.system_calls import Late
from ringbolt.hosts.transcripts.tail import apply_transcript_tail
from ringbolt.journal.event_files import Journal
from ringbolt.journal.health import journal_health
from ringbolt.journal.side_files import SideFiles
from ringbolt.model import validate
from ringbolt.model.redaction import Redactor
from tests.hosts import recordings
from tests.hosts.hosting import QuickHost

REQUEST = "Move the login to the new server."


class Session:
    """Claude Code with its hooks in this process, and the transcript that it writes beside."""

    def __init__(self, folder):
        self.store = str(folder / "store.db")
        self.transcript = folder / "session.jsonl"
        self.separators = (",", ":")  # as the host writes them
        self.lines = 0

    def told(self, event, **fields):
        return {
            "session_id": "s1", "transcript_path": str(self.transcript), "cwd": "/w/shop",
            "hook_event_name": event, **fields,
        }  # fmt: skip

    def tell(self, event, **fields):
        self.lines += 1
        found = events.cleaned(
            host_schemas.read_event("claude-code", event, self.told(event, **fields)), Redactor()
        )
        with TaskMemory.open(self.store, workspace="/w/shop", session="s1", agent="claude-code") as memory:
            files = SideFiles(Journal.of(self.store))
            apply_transcript_tail(
                files, "claude", found, Redactor(), lambda told, name: events.apply(memory, told, name)
            )
            events.apply(memory, found, f"hook/{self.lines}")

    def write(self, kind, *blocks, end="\n", **more):
        self.lines += 1
        row = {"type": kind, "uuid": f"u{self.lines}", "message": {"role": kind, "content": blocks}, **more}
        with open(self.transcript, "a", encoding="utf-8") as file:
            file.write(json.dumps(row, separators=self.separators) + end)

    def says(self, text, **more):
        self.write("assistant", {"type": "text", "text": text}, **more)

    def calls(self, number, tool="Bash", **given):
        self.write("assistant", {"type": "tool_use", "id": f"t{number}", "name": tool, "input": given})

    def used(self, number, **given):
        self.tell(
            "PostToolUse", tool_name="Bash", tool_input=given, tool_response="ok", tool_use_id=f"t{number}"
        )

    def ledger(self):
        """The kinds and texts of what happened, without what was inferred from it."""
        with TaskMemory.open(self.store, workspace="/w/shop", session="s1") as memory:
            return [
                (event.type, event.text) for event in memory.events() if event.type in ("message", "action")
            ]


@pytest.fixture
def session(tmp_path):
    found = Session(tmp_path)
    found.tell("SessionStart", source="startup")  # the transcript is not there yet
    found.tell("UserPromptSubmit", prompt=REQUEST)
    return found


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")], ids=["compact", "with spaces"])
def test_words_between_two_calls_are_written_once_and_in_their_order(session, separators):
    session.separators = separators
    session.says("First I look at the proxy.")
    session.calls(1, command="ls")
    session.used(1, command="ls")
    session.says("The proxy is fine, so the cookie is wrong.")
    session.says("Words of a sub-agent.", isSidechain=True)
    session.write("user", {"type": "text", "text": "A skill: how to bake cookies."}, isMeta=True)
    session.calls(2, command="cat cookie.py")
    session.used(2, command="cat cookie.py")
    session.calls(3, command="rm cookie.py")
    session.write(
        "user", {"type": "tool_result", "tool_use_id": "t3", "content": "Permission denied", "is_error": True}
    )
    session.tell("PreToolUse", tool_name="Bash", tool_input={"command": "true"})
    assert session.ledger() == [
        ("message", "First I look at the proxy."),
        ("action", "Bash: ls"),
        ("message", "The proxy is fine, so the cookie is wrong."),
        ("message", "A skill: how to bake cookies."),
        ("action", "Bash: cat cookie.py"),
        ("action", "Bash: rm cookie.py"),
    ]


@pytest.mark.parametrize("written_first", [True, False])
def test_the_last_message_of_a_turn_is_written_once_in_either_order(session, written_first):
    if written_first:
        session.says("The login is moved.")
    session.tell("Stop", last_assistant_message="The login is moved.", stop_hook_active=False)
    if not written_first:
        session.says("The login is moved.")
    session.tell("UserPromptSubmit", prompt="And now the logout, please.")
    assert session.ledger() == [("message", "The login is moved.")]


def test_a_last_message_with_a_secret_is_written_once(session):
    words = "It is moved, with password=hunter2x9Q and AKIAIOSFODNN7EXAMPLE."
    session.says(words)
    session.tell("Stop", last_assistant_message=words)
    session.tell("UserPromptSubmit", prompt="And now the logout, please.")
    assert [kind for kind, _ in session.ledger()] == ["message"]


@pytest.mark.parametrize("written_first", [True, False])
def test_a_message_repeated_in_a_later_turn_is_written_again(session, written_first):
    if written_first:
        session.says("Done.")
    session.tell("Stop", last_assistant_message="Done.")
    if not written_first:
        session.says("Done.")
    session.tell("UserPromptSubmit", prompt="And now the logout, please.")
    session.says("Done.")
    session.used(1, command="ls")
    assert session.ledger() == [("message", "Done."), ("message", "Done."), ("action", "Bash: ls")]


def test_the_end_of_a_turn_that_had_to_wait_is_written_once(tmp_path, monkeypatch):
    host, session = QuickHost(tmp_path, monkeypatch), Session(tmp_path)
    place = {"transcript_path": str(session.transcript)}
    host.tell("SessionStart", source="startup", **place)
    host.tell("UserPromptSubmit", prompt=REQUEST, **place)
    session.says("The login is moved.")
    with monkeypatch.context() as patch:
        patch.setenv("RINGBOLT_WAL_LIMIT_BYTES", "a lot")
        host.tell("Stop", last_assistant_message="The login is moved.", **place)
    session.says("Said after the end.")
    host.tell("UserPromptSubmit", prompt="And now the logout, please.", **place)
    said = [event.text for event in host.events() if event.type == "message"]
    assert said == ["The login is moved.", "Said after the end."]


def test_a_fork_does_not_repeat_the_events_of_its_parent_session(tmp_path):
    session = Session(tmp_path)
    # The transcript comes after the prompt, with all that was before; its lines have kept their times.
    session.tell("SessionStart", source="fork")
    session.tell("UserPromptSubmit", prompt=REQUEST)
    session.says("Said before.", timestamp="2026-01-01T00:00:00.000Z")
    session.calls(1, command="make")
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "Exit code 2", "is_error": True}
    session.write("user", result, timestamp="2026-01-01T00:00:01.000Z")
    session.says("Said since.", timestamp=validate.stamp(time.time() + 1))
    session.used(2, command="ls")
    assert session.ledger() == [("message", "Said since."), ("action", "Bash: ls")]


def test_a_transcript_that_could_not_be_read_at_first_is_not_read_from_its_beginning(tmp_path):
    session = Session(tmp_path)
    session.transcript.symlink_to(session.transcript)
    session.tell("UserPromptSubmit", prompt=REQUEST)
    session.transcript.unlink()
    session.says("Said before anything was installed.")
    session.used(1, command="ls")
    assert session.ledger() == [("action", "Bash: ls")]


def test_a_refused_call_is_recorded_and_one_that_ran_is_not_recorded_twice(session):
    session.calls(1, command="rm -r build")
    refused = "The user doesn't want to proceed with this tool use. The user said:\nkeep the build"
    result = {"type": "tool_result", "tool_use_id": "t1", "content": refused, "is_error": True}
    session.write("user", result)
    session.calls(2, command="make")
    session.tell("PostToolUseFailure", tool_name="Bash", tool_input={"command": "make"}, tool_use_id="t2",
                 error="Exit code 2")  # fmt: skip
    result = {"type": "tool_result", "tool_use_id": "t2", "content": "Error: Exit code 2", "is_error": True}
    session.write("user", result)
    session.used(3, command="ls")
    assert session.ledger() == [
        ("action", "Bash: rm -r build"), ("action", "Bash: make"), ("action", "Bash: ls"),
    ]  # fmt: skip
    with TaskMemory.open(session.store, workspace="/w/shop", session="s1") as memory:
        memory.task_distill()
        rejected = [entry for entry in memory.task_get().exclusions if entry.data.get("rejected")]
    assert [entry.data["why"] for entry in rejected] == ["keep the build"]


def test_a_line_that_is_half_written_is_read_when_it_is_whole(session):
    session.write("assistant", {"type": "text", "text": "Nearly said."}, end="")
    session.used(1, command="ls")
    assert session.ledger() == [("action", "Bash: ls")]
    with open(session.transcript, "a", encoding="utf-8") as file:
        file.write("\n")
    session.used(2, command="pwd")
    assert ("message", "Nearly said.") in session.ledger()


def test_events_before_a_sessions_first_hook_are_left_to_capture(tmp_path):
    session = Session(tmp_path)
    session.says("Said before anything was installed.")
    session.tell("UserPromptSubmit", prompt=REQUEST)
    session.says("Said after.")
    session.used(1, command="ls")
    assert session.ledger() == [("message", "Said after."), ("action", "Bash: ls")]


def test_whatever_is_in_the_transcript_the_event_itself_is_written(session):
    for line in (b"\xff\xfe\n", b'"type":"assistant"\n', b"[" * 100_000 + b'"is_error":true\n', b"{}\n"):
        with open(session.transcript, "ab") as file:
            file.write(line)
    session.write("assistant", 7, {"type": "text", "text": None}, {"type": "text"})
    session.write("user", {"type": "tool_result", "is_error": True, "content": None})
    session.used(1, command="ls")
    assert session.ledger()[-1] == ("action", "Bash: ls")
    os.truncate(session.transcript, 0)
    session.used(2, command="pwd")
    session.transcript.unlink()
    os.mkfifo(session.transcript)
    session.used(3, command="whoami")
    assert [text for _, text in session.ledger()][-2:] == ["Bash: pwd", "Bash: whoami"]


def test_very_long_words_cost_no_more_than_long_ones_and_are_written_once(session, monkeypatch):
    looked_at = []
    text = Redactor.text
    monkeypatch.setattr(
        Redactor, "text", lambda self, words: looked_at.append(len(words)) or text(self, words)
    )
    words = "The password of the old server is not known. " * 10_000
    session.says(words)
    session.used(1, command="ls")
    assert max(looked_at) < 150_000
    session.says(words)
    session.tell("Stop", last_assistant_message=words)
    assert [kind for kind, _ in session.ledger()] == ["message", "action", "message"]


def test_events_read_before_the_deadline_are_not_read_again(session, monkeypatch):
    session.says("First.")
    session.says("Second.")
    applied = events.apply

    def slow(memory, event, name):
        if event.get("message") == "Second.":
            raise Late
        applied(memory, event, name)

    with monkeypatch.context() as patch:
        patch.setattr(events, "apply", slow)
        with pytest.raises(Late):
            session.used(1, command="ls")
    place = next(session.transcript.parent.glob("*.journal/sessions/*.read")).read_text()
    assert int(place.split()[0]) == len(session.transcript.read_bytes().splitlines(keepends=True)[0])
    session.tell("PostToolUse", tool_name="Read", tool_input={}, tool_response="ok", agent_id="a1")
    session.used(1, command="ls")
    assert [text for kind, text in session.ledger() if kind == "message"] == ["First.", "Second."]


def test_an_unreported_event_that_cannot_be_written_delays_nothing(tmp_path, monkeypatch):
    host, session = QuickHost(tmp_path, monkeypatch), Session(tmp_path)
    place = {"transcript_path": str(session.transcript)}
    host.tell("SessionStart", source="startup", **place)
    host.tell("UserPromptSubmit", prompt=REQUEST, **place)
    concluded = Capture.concluded

    def odd(self, text, **more):
        if text == "Odd.":
            raise ValueError(text)
        return concluded(self, text, **more)

    monkeypatch.setattr(Capture, "concluded", odd)
    session.says("Odd.")
    session.says("Plain.")
    host.bash("ls", **place)
    said = [(event.type, event.text) for event in host.events() if event.type in ("message", "action")]
    assert said == [("message", "Plain."), ("action", "Bash: ls")]
    health = journal_health(host.journal())
    assert (health.waiting, health.rejected, health.reasons) == (0, 1, {"ValueError: Odd.": 1})
    assert host.journal().count(lambda event: event["host"] == "claude-code") == 1  # to be forgotten by


def test_the_hook_itself_reads_the_transcript(session):
    session.says("Only the transcript has this.")
    event = session.told("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="ok",
                         tool_use_id="t1")  # fmt: skip
    program = "from ringbolt.hosts.capture_hook import main; main()"
    subprocess.run(
        [sys.executable, "-c", program, "claude-code", "PostToolUse"], input=json.dumps(event).encode(),
        env={**os.environ, "RINGBOLT_STORE": session.store, "RINGBOLT_HOOK_DEADLINE_MS": "20000"}, check=True,
    )  # fmt: skip
    assert session.ledger() == [("message", "Only the transcript has this."), ("action", "Bash: ls")]


def test_words_of_codex_between_its_calls_are_in_its_transcript_alone(tmp_path):
    """A session that the real program wrote: each report of a hook, with the transcript as long as it was."""
    whole = recordings.transcript("codex").read_bytes()
    path, store = tmp_path / "rollout.jsonl", str(tmp_path / "store.db")
    files = SideFiles(Journal.of(store))
    for number, report in enumerate(recordings.hook_reports("codex")):
        path.write_bytes(whole[: report.transcript_bytes])
        told = {**report.told, "transcript_path": str(path)}
        found = host_schemas.read_event("codex", report.event, told, report.transcript_bytes)
        if found is None:
            continue
        found = {
            **events.cleaned(events.tidied(found), Redactor()),
            "transcript_bytes": report.transcript_bytes,
        }
        session = str(found.get("session") or "")
        with TaskMemory.open(store, workspace="/w", session=session, agent="codex") as memory:
            write = lambda one, name, memory=memory: events.apply(memory, one, name)  # noqa: E731
            apply_transcript_tail(files, "codex", found, Redactor(), write)
            events.apply(memory, found, f"hook/{number}")
    with TaskMemory.open(store, workspace="/w") as memory:
        said = [one for one in memory.events() if one.type == "message" and one.origin.channel == "agent"]
    spoken = [one.text for one in said]
    assert "I make a plan first." in spoken
    assert "A line without a comma has no second field." in spoken
    assert len(spoken) == len(set(spoken))
    assert not any("<summary>" in text for text in spoken)  # the host's own, at the compaction
