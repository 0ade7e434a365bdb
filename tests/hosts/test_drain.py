"""Draining: events move from the journal into the store, in order, each once, whatever some of them are."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from ringbolt import StoreError, TaskMemory
from ringbolt.hosts import drained_events as module
from ringbolt.hosts.answers.store_hook import answer
from ringbolt.hosts.capture import events as host_events
from ringbolt.hosts.capture.session_capture import Capture
from ringbolt.hosts.drain import BATCH, MOST_TRIES, Drainer, drain
from ringbolt.hosts.hook_parts.system_calls import Late
from ringbolt.hosts.redaction_rules import rules_digest
from ringbolt.journal.cards import read_card
from ringbolt.journal.event_files import Journal
from ringbolt.journal.health import journal_health
from ringbolt.journal.names import session_digest
from ringbolt.journal.side_files import SideFiles
from ringbolt.model.validate import seconds_of
from tests.hosts.hosting import leave
from tests.journal.writing import new_name, write_event
from tests.support import Clock, is_postgres, sqlite_only

REQUEST = "Make the invoices round to whole cents."


class Session:
    """One session of a host whose events lie in the journal of a store."""

    def __init__(self, url, session="s-1"):
        self.url, self.session = url, session
        self.journal = Journal.of(url)

    def leave(self, event, **fields):
        return leave(self.journal, self.session, event, cwd="/w", **fields)

    def said(self, text, **fields):
        return self.leave("Stop", last_assistant_message=text, **fields)

    def bash(self, command, number):
        given, output = {"command": command}, {"stdout": "fine", "stderr": ""}
        return self.leave(
            "PostToolUse", tool_name="Bash", tool_input=given, tool_response=output, tool_use_id=str(number)
        )


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """A transaction ends with its events, not with its time: the machine may be busy."""
    monkeypatch.setattr(module, "BATCH_SECONDS", 1e9)


@pytest.fixture
def session(store_url):
    found = Session(store_url)
    found.leave("UserPromptSubmit", prompt=REQUEST)
    return found


@pytest.fixture
def plain(opened, store_url):
    """A memory that does not drain by itself, with the clock that people set."""
    return opened(store_url, catch_up=False, clock=time.time)


def texts(memory) -> list[str]:
    return [event.text for event in memory.events() if event.text]


def test_an_event_is_redacted_again_unless_the_hook_had_the_same_rules(session, plain):
    secret = "AKIA" + "Q3EGRZ7JXKPL2MNB"
    for text, rules in (("old", "0123456789abcdef"), ("none", None), ("same", rules_digest())):
        payload = {"session_id": "s-1", "cwd": "/w", "last_assistant_message": f"The {text} key is {secret}."}
        line = {"host": "claude-code", "event": "Stop", "payload": payload, "redacted_by": rules}
        write_event(session.journal, new_name("s-1"), line)
    drain(plain, session.journal)
    shown = {text.split()[1]: secret in text for text in texts(plain) if text.startswith("The ")}
    assert shown == {"old": False, "none": False, "same": True}


# --- everyday ---------------------------------------------------------------------------------------


def test_opening_reading_and_writing_apply_the_journal_first(session, opened, store_url):
    memory = opened(store_url, clock=time.time, session="s-1")
    assert memory.task_get().request == REQUEST
    session.said("First.")
    assert "First." in texts(memory)
    session.said("Second.")
    memory.task_update(None, "Third.")
    assert texts(memory)[-3:] == ["First.", "Second.", "Third."]
    assert session.journal.is_empty()


def test_many_events_are_one_transaction(session, plain, monkeypatch):
    for number in range(BATCH - 1):
        session.bash(f"make {number}", number)
    writes = []
    write = plain.store.write
    monkeypatch.setattr(plain.store, "write", lambda work, **given: writes.append(1) or write(work, **given))
    assert drain(plain, session.journal).applied == BATCH
    assert len(writes) == 1
    commands = [event.data["input"]["command"] for event in plain.events() if event.type == "action"]
    assert commands == [f"make {number}" for number in range(BATCH - 1)]
    assert plain.verify().ok


def test_an_event_is_written_with_its_own_time_and_by_its_own_host(session, plain, opened, store_url):
    at = time.time() - 5
    leave(session.journal, "s-1", "Stop", at=at, host="codex", cwd="/w", last_assistant_message="Then.")
    drain(plain, session.journal)
    (event,) = [event for event in plain.events() if event.text == "Then."]
    assert (event.origin.agent, event.origin.session, event.origin.channel) == ("codex", "s-1", "agent")
    # The task was begun after that: nothing is before what its task has.
    assert seconds_of(event.at) >= at


def test_an_event_of_the_future_is_written_with_the_time_of_now(session, opened, store_url):
    clock = Clock(time.time())
    memory = opened(store_url, catch_up=False, clock=clock)
    leave(session.journal, "s-1", "Stop", at=clock.now + 1e6, cwd="/w", last_assistant_message="Later.")
    drain(memory, session.journal)
    assert seconds_of(list(memory.events())[-1].at) <= clock.now + 0.001


def test_a_wall_clock_that_jumps_changes_neither_the_order_nor_the_sequence_of_times(session, plain):
    now = time.time()
    for number, jump in enumerate((0, 3e7, -86_400, 5, -3e8, 1)):
        at = now + jump
        leave(session.journal, "s-1", "Stop", at=at, cwd="/w", last_assistant_message=f"Part {number}.")
    assert drain(plain, session.journal).left == 0
    assert texts(plain)[-6:] == [f"Part {number}." for number in range(6)]
    times = [event.at for event in plain.events()]
    assert times == sorted(times)
    assert seconds_of(times[-1]) <= time.time()
    assert plain.verify().ok


def test_the_card_of_a_session_names_what_failed_and_what_was_ruled_out(session, plain, opened, store_url):
    session.leave("PostToolUseFailure", tool_name="Bash", tool_input={"command": "make all"},
                  error="Exit code 2", tool_use_id="t")  # fmt: skip
    drain(plain, session.journal)
    files, digest = SideFiles(session.journal), session_digest("s-1")
    assert read_card(files, digest).heads == ("make all",)
    memory = opened(store_url, session="s-1", clock=time.time)
    memory.task_exclude(what="npm publish", why="frozen")
    assert read_card(files, digest).stale  # at once, without any event of the host
    session.said("On we go.")
    drain(plain, session.journal)
    card = read_card(files, digest)
    assert not card.stale
    assert ("c", "npm", "publish") in read_card(files, card.shared).hints


# --- trouble with events ----------------------------------------------------------------------------


def test_files_that_are_not_events_are_rejected_and_delay_nothing(session, plain):
    path = session.said("Rubbish.")
    with open(path, "w") as file:
        file.write("rubbish")
    write_event(
        session.journal, new_name("s-1"), {"v": 1, "host": "claude-code", "event": "Stop", "raw": "{"}
    )
    write_event(
        session.journal, new_name("s-1"), {"v": 1, "host": "claude-code", "event": "Nap", "payload": {}}
    )
    session.said("After.")
    report = drain(plain, session.journal)
    assert (report.applied, report.rejected, report.left) == (2, 3, 0)
    reasons = sorted(journal_health(session.journal).reasons)
    assert [reason.partition(":")[0] for reason in reasons] == [
        "Nap of claude-code is not an event that this version knows",
        "it is not JSON",
        "the host sent something that is not a JSON object",
    ]


@pytest.mark.parametrize("version", [0, 2, "x", None])
def test_hooks_of_other_versions_are_understood(session, plain, version):
    told = {
        "session_id": "s-1",
        "cwd": "/w",
        "last_assistant_message": f"By {version}.",
        "new_field": {"a": 1},
    }
    line = {"v": version, "host": "claude-code", "event": "Stop", "payload": told, "more": [1]}
    write_event(session.journal, new_name("s-1"), line)
    session.said("By this one.")
    assert drain(plain, session.journal).applied == 3
    assert texts(plain)[-2:] == [f"By {version}.", "By this one."]


def failing(monkeypatch, text):
    concluded = Capture.concluded

    def odd(self, said, **more):
        if said == text:
            self._agent.task_update(None, "half of it")  # what it has written by then must go
            raise ValueError(said)
        return concluded(self, said, **more)

    monkeypatch.setattr(Capture, "concluded", odd)


def test_an_event_that_fails_is_tried_again_and_then_given_up(session, plain, store_url, monkeypatch):
    failing(monkeypatch, "Odd.")
    other = Session(store_url, "s-2")
    other.leave("UserPromptSubmit", prompt="Write the notes.")
    session.said("Odd.")
    session.said("After.")
    other.said("Of another session.")
    for _ in range(MOST_TRIES - 1):
        report = drain(plain, session.journal)
        assert report.left == 2  # what follows it in its session does not overtake it
        assert "Of another session." in texts(plain)
        assert "After." not in texts(plain)
    report = drain(plain, session.journal)
    assert report.rejected == 1
    drain(plain, session.journal)
    assert texts(plain).count("After.") == 1
    assert "half of it" not in texts(plain)
    assert journal_health(session.journal).reasons == {"ValueError: Odd.": 1}
    assert plain.verify().ok


def test_an_event_that_can_be_written_the_second_time_is(session, plain, monkeypatch):
    with monkeypatch.context() as patch:
        failing(patch, "Odd.")
        session.said("Odd.")
        drain(plain, session.journal)
    report = drain(plain, session.journal)
    assert (report.applied, report.left) == (1, 0)
    assert session.journal.tries() == {}
    assert texts(plain)[-1] == "Odd."


def test_one_event_that_the_engine_refuses_takes_no_other_with_it(session, plain, monkeypatch):
    applied = host_events.apply

    def refused(memory, event, name, capture=None):
        if event.get("message") == "Refused.":
            memory.store.write(lambda tx: tx.database.run("INSERT INTO heads (task_id) VALUES (NULL)", {}))
        applied(memory, event, name, capture)

    monkeypatch.setattr(module, "apply", refused)
    session.said("Before.")
    session.said("Refused.")
    session.said("After.")
    for _ in range(MOST_TRIES + 1):
        drain(plain, session.journal)
    assert texts(plain)[-2:] == ["Before.", "After."]
    assert journal_health(session.journal).rejected == 1
    assert plain.verify().ok


# --- slow events ------------------------------------------------------------------------------------


def test_a_slow_event_waits_for_one_without_a_deadline_and_holds_up_no_other_session(
    session, plain, store_url
):
    todos = [{"content": f"Step {number}", "status": "pending"} for number in range(8_000)]
    drain(plain, session.journal)
    path = session.leave("PostToolUse", tool_name="TodoWrite", tool_input={"todos": todos},
                         tool_response={}, tool_use_id="t")  # fmt: skip
    session.said("After the list.")
    other = Session(store_url, "s-2")
    other.leave("UserPromptSubmit", prompt="Write the notes.")
    files = session.journal.waiting()
    (slow,) = [file for file in files if file.path == path]
    # As a hook does that is interrupted while it applies the list.
    drainer = Drainer(plain, session.journal, time.monotonic() + 0.1)
    drainer.applying = slow, time.monotonic() - 0.2
    drainer.note_slow()
    report = drain(plain, session.journal, deadline=time.monotonic() + 60)
    assert (report.applied, report.left) == (1, 2)
    assert "After the list." not in texts(plain)
    assert drain(plain, session.journal).left == 0
    task = next(one for one in plain.task_list(status="all").tasks if "invoices" in one.name)
    assert task.total == 8_000
    assert "After the list." in texts(plain)
    assert session.journal.tries() == {}


def test_an_event_that_was_quick_is_not_called_slow(session, plain):
    (file,) = session.journal.waiting()
    drainer = Drainer(plain, session.journal, time.monotonic() + 60)
    drainer.applying = file, time.monotonic()
    drainer.note_slow()
    assert session.journal.tries() == {}


def test_a_drain_interrupted_anywhere_has_written_a_whole_batch_or_nothing(session, plain, monkeypatch):
    session.said("First.")
    session.said("Second.")
    applied = host_events.apply

    def late(memory, event, name, capture=None):
        applied(memory, event, name, capture)
        if event.get("message") == "Second.":
            raise Late

    with monkeypatch.context() as patch:
        patch.setattr(module, "apply", late)
        with pytest.raises(Late):
            drain(plain, session.journal, deadline=time.monotonic() + 60)
    assert len(session.journal.waiting()) == 3
    assert drain(plain, session.journal).applied == 3
    assert texts(plain)[-2:] == ["First.", "Second."]


# --- two at once, killed, full, read-only -----------------------------------------------------------


def test_two_drainers_at_once_write_each_event_once(session, opened, store_url):
    for number in range(150):
        session.said(f"Said {number}.")
    memories = [opened(store_url, catch_up=False, clock=time.time) for _ in range(4)]
    begin = threading.Barrier(4)

    def work(memory):
        begin.wait()
        while drain(memory, session.journal, limit=20).left:
            pass

    threads = [threading.Thread(target=work, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [text for text in texts(memories[0]) if text.startswith("Said")]
    assert said == [f"Said {number}." for number in range(150)]


def test_a_drainer_that_finds_another_at_work_gives_up(session, plain):
    with session.journal.locked(None):
        report = drain(plain, session.journal)
    assert (report.applied, report.left) == (0, 1)
    assert "another" in report.stopped


@pytest.mark.parametrize("step", ["side files", "removal", "half of the removal"])
def test_the_work_of_a_drainer_killed_after_its_commit_is_finished_not_repeated(
    session, plain, monkeypatch, step
):
    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    session.leave("UserPromptSubmit", prompt="Round the totals, too.")
    session.bash("make all", 1)
    with monkeypatch.context() as patch:
        if step == "side files":
            patch.setattr(module.PendingSideFiles, "write", killed)
        elif step == "removal":
            patch.setattr(Journal, "remove", killed)
        else:
            remove = Journal.remove
            patch.setattr(Journal, "remove", lambda self, files: killed(remove(self, list(files)[:1])))
        with pytest.raises(Killed):
            drain(plain, session.journal)
    assert not session.journal.is_empty()
    session.said("After.")
    report = drain(plain, session.journal)
    assert (report.applied, report.left) == (1, 0)
    assert Counter(texts(plain))["Round the totals, too."] == 1
    assert sum(event.type == "action" for event in plain.events()) == 1


@pytest.mark.parametrize("code", ["store_full", "store_readonly", "store_busy"])
def test_a_failing_store_is_not_counted_against_an_event(session, plain, monkeypatch, code):
    session.said("Kept.")

    def refused(*_, **__):
        raise StoreError(code, "Not now.")

    with monkeypatch.context() as patch:
        patch.setattr(plain.store, "write", refused)
        for _ in range(MOST_TRIES + 1):
            report = drain(plain, session.journal)
            assert (report.stopped, report.left, report.rejected) == (code, 2, 0)
    assert drain(plain, session.journal).applied == 2


def test_event_files_that_cannot_be_removed_are_not_applied_again(session, plain, monkeypatch):
    unlink = os.unlink

    def refuse(path, *given, **named):
        if "/new/" in str(path):
            raise PermissionError(errno.EACCES, "no")
        unlink(path, *given, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        for _ in range(2):
            assert drain(plain, session.journal).left == 1
    assert drain(plain, session.journal).left == 0
    assert len(plain.task_list(status="all").tasks) == 1
    assert [event.type for event in plain.events()].count("user_instruction") == 0


@sqlite_only
def test_a_store_that_cannot_be_written_is_still_read(session, store_url, tmp_path):
    """Reading goes on as long as the events cannot be taken in, and nothing is lost."""
    path = store_url.removeprefix("sqlite://")
    with TaskMemory.open(path, workspace="/w", session="s-1") as memory:
        assert memory.task_get().request == REQUEST
    program = (
        "import resource, sys\n"
        "from ringbolt import TaskMemory\n"
        "memory = TaskMemory.open(sys.argv[1], workspace='/w', session='s-1', catch_up=False)\n"
        "from ringbolt.hosts.drain import drain\n"
        "from ringbolt.journal.event_files import Journal\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "report = drain(memory, Journal.of(sys.argv[1]))\n"
        "print(report.applied, report.rejected, report.left, memory.task_get().request)\n"
    )
    session.said("Kept.")
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"0 0 1 {REQUEST}\n"
    with TaskMemory.open(path, workspace="/w", session="s-1") as memory:
        assert texts(memory)[-1] == "Kept."


# --- many -------------------------------------------------------------------------------------------


@sqlite_only
def test_no_reader_pays_for_thousands_of_events(session, store_url, opened, monkeypatch):
    (waiting,) = session.journal.waiting()
    with open(waiting.path, "rb") as file:
        content = file.read()
    folder = os.path.dirname(waiting.path)
    for number in range(20_000):
        with open(os.path.join(folder, new_name(f"other-{number % 50}")), "wb") as file:
            file.write(content.replace(b"s-1", b"o-%d" % (number % 50)))
    reads = []
    read = Journal.read
    monkeypatch.setattr(Journal, "read", lambda self, file: reads.append(1) or read(self, file))
    memory = opened(store_url, session="s-1", clock=time.time)
    assert len(reads) <= 2 * BATCH
    assert memory.task_get().request == REQUEST
    assert len(session.journal.waiting()) > 19_000
    # Whoever has a session of its own to answer for takes that first.
    last = Session(store_url, "mine")
    last.leave("UserPromptSubmit", prompt="Mine.")
    drain(memory, session.journal, limit=1, first="mine")
    assert "Mine" in [task.name for task in memory.task_list(status="all", limit=1000).tasks]


@pytest.mark.reliability
@pytest.mark.timeout(900)
@sqlite_only
def test_twenty_thousand_events_are_all_written_once_and_in_order(session, plain):
    sessions, each = [f"s-{number}" for number in range(200)], 100
    (waiting,) = session.journal.waiting()
    os.unlink(waiting.path)
    folder = os.path.dirname(waiting.path)
    for number in range(each):
        for one in sessions:
            call = {"tool_name": "Bash", "tool_input": {"command": f"make part-{number}"}}
            payload = {"session_id": one, "cwd": "/w", "tool_use_id": f"t{number}", **call}
            line = {"host": "claude-code", "event": "PostToolUse", "payload": payload}
            with open(os.path.join(folder, new_name(one)), "w") as file:  # without the fsync of a hook
                json.dump(line, file)
    left = len(sessions) * each
    while left:
        report = drain(plain, session.journal)
        assert (report.rejected, report.left) == (0, left - report.applied)
        left = report.left
    found: dict[str, list[str]] = {one: [] for one in sessions}
    for event in plain.events():
        if event.type == "action":
            found[event.origin.session].append(event.data["input"]["command"])
    assert found == {one: [f"make part-{number}" for number in range(each)] for one in sessions}


# --- live -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", ["pool", "serve"])
def test_servers_drain_events_unasked(session, store_url, opened, who, tmp_path):
    from ringbolt.surfaces.http.auth import Tokens
    from ringbolt.surfaces.http.routes import Gateway
    from ringbolt.worker.pool import Pool

    memory = opened(store_url, clock=time.time)
    stop = threading.Event()
    if who == "pool":
        thread = threading.Thread(target=Pool(memory).run, args=(stop,))
    else:
        gateway = Gateway(memory, Tokens(str(tmp_path / "tokens")), worker=False, heartbeat=1.0)
        thread = threading.Thread(target=_run_gateway, args=(gateway, stop))
    thread.start()
    try:
        session.said("Seen by nobody yet.")
        while not session.journal.is_empty():
            assert thread.is_alive()
            stop.wait(0.01)
    finally:
        stop.set()
        thread.join(60)
    memory.store.catch_up = None
    assert "Seen by nobody yet." in texts(memory)


def _run_gateway(gateway, stop):
    import asyncio

    async def run():
        async with gateway.running(None):
            await asyncio.to_thread(stop.wait)

    asyncio.run(run())


@sqlite_only
def test_an_mcp_server_drains_events_before_the_first_call(session, store_url, tmp_path):
    environment = {**os.environ, "RINGBOLT_STORE": store_url}
    process = subprocess.Popen(
        [sys.executable, "-m", "ringbolt", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=environment, cwd=tmp_path,
    )  # fmt: skip
    try:
        pause = threading.Event()
        while not session.journal.is_empty():
            assert process.poll() is None
            pause.wait(0.02)
    finally:
        process.kill()
        process.communicate()
    with TaskMemory.open(store_url, workspace="/w", session="s-1", catch_up=False) as memory:
        assert memory.task_get().request == REQUEST


def test_an_event_that_no_journal_can_keep_is_written_straight_to_the_store(store_url, tmp_path, monkeypatch):
    if is_postgres(store_url):  # a SQLite store that can be written has a folder that can be, too
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    monkeypatch.setenv("RINGBOLT_STORE", store_url)
    told = {"session_id": "s-1", "cwd": "/w", "prompt": REQUEST}
    TaskMemory.open(store_url, workspace="/w").close()
    assert answer("claude-code", "UserPromptSubmit", None, told, time.monotonic() + 60) == ""
    with TaskMemory.open(store_url, workspace="/w", session="s-1") as memory:
        assert memory.task_get().request == REQUEST
