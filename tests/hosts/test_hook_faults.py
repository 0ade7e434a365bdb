"""Whatever goes wrong, a real hook process ends with 0 and in time, and no event is lost or written twice."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringbolt import TaskMemory
from ringbolt.hosts import drained_events, hook_build
from ringbolt.hosts.capture import events
from ringbolt.hosts.drain import Drainer, drain
from ringbolt.hosts.hook_parts.system_calls import Late, set_alarm
from ringbolt.hosts.redaction_rules import rules_digest
from ringbolt.journal.event_files import Journal
from tests.hosts.capture_process import Capturing, built_hook
from tests.hosts.hosting import PROGRAM, Host
from tests.reliability.small_disks import done_as_root, small_disk
from tests.support import lock_held

REQUEST = "Make the invoices round to whole cents."
# A process whose children are killed after so many calls of functions, counted from when the hook has its
# input or, without a host's event, from when a drain begins. They are forked, so that each has everything
# imported and every pattern compiled: that takes longer than what is tried here, and has far more calls. Each
# is given the number of calls and a file with the event; the answer is its exit code.
_KILLED = """
import os, signal, sys
from ringbolt import TaskMemory
from ringbolt.hosts import capture_hook, drain
from ringbolt.hosts.answers import store_hook
def count(frame, event, argument):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
def counted(function):
    def call(*given, **named):
        sys.setprofile(count)
        return function(*given, **named)
    return call
def work(path):
    if path:
        os.dup2(os.open(path, os.O_RDONLY), 0)
        os.dup2(2, 1)
        capture_hook.main()
    TaskMemory.open(os.environ["RINGBOLT_STORE"], workspace=None)
capture_hook.CapturedEvent.run = counted(capture_hook.CapturedEvent.run)
TaskMemory.open(os.environ["RINGBOLT_STORE"], workspace=None).close()
print("ready", flush=True)
drain.drain = counted(drain.drain)
for line in sys.stdin:
    calls, _, path = line.rstrip().partition(" ")
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    left = int(calls)
    try:
        work(path)
        os._exit(0)
    finally:
        os._exit(1)
"""


class Killer:
    """Runs hooks and drains of a host that are killed in the middle."""

    def __init__(self, host, process):
        self._host, self._process = host, process
        self._event = host.folder / "event.json"

    def killed_after(self, calls: int, message: str = "") -> bool:
        """Whether a hook, or without a message a drain, was killed after so many calls."""
        told = self._host.told("Stop", last_assistant_message=message)
        self._event.write_text(json.dumps(told), encoding="utf-8")
        self._process.stdin.write(f"{calls} {self._event if message else ''}\n".encode())
        self._process.stdin.flush()
        code = int(self._process.stdout.readline())
        assert code in (0, -9)
        return code == -9


@pytest.fixture
def killer(host):
    host.leave("UserPromptSubmit", prompt="Show the sums with two digits.")  # the process itself drains once
    host.leave("Stop", last_assistant_message="They are shown so.")
    with subprocess.Popen(
        [sys.executable, "-c", _KILLED, "claude-code", "Stop"], env=host.environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdout.readline() == b"ready\n"
        yield Killer(host, process)
        process.stdin.close()


@pytest.fixture
def host(tmp_path):
    host = Host(tmp_path)
    host.tell("UserPromptSubmit", prompt=REQUEST)
    host.drain()
    return host


def keep_some(host, wanted: int) -> list[str]:
    """Events that wait in the journal."""
    texts = [f"kept {number}" for number in range(wanted)]
    for text in texts:
        host.leave("Stop", last_assistant_message=text)
    return texts


def texts(host) -> list[str]:
    with host.memory() as memory:
        assert memory.verify().ok
        return [event.text for event in memory.events() if event.text]


def check_kills(host, killer, points) -> None:
    kept = keep_some(host, 4)
    acknowledged = []
    killed = 0
    for place, calls in enumerate(points):
        if killer.killed_after(calls, f"at {place}"):
            killed += 1
        else:
            acknowledged.append(f"at {place}")
    assert killed >= len(points) // 2  # else nothing was tried
    host.tell("Stop", last_assistant_message="last")
    said = Counter(texts(host))
    assert [text for text in texts(host) if text.startswith("kept")] == kept
    assert all(said[text] == 1 for text in (*acknowledged, "last"))
    assert all(count == 1 for text, count in said.items() if text.startswith("at "))
    assert host.left() == 0


def test_killed_anywhere_nothing_is_lost_or_written_twice(host, killer):
    check_kills(host, killer, [30, 300, 1_000, 2_000, 3_000, 4_000, 5_000, 100_000_000])


def killed_drains(host, killer, first: int, step: int) -> int:
    """Kill drains after ever more calls, until one comes to its end; how many were killed."""
    kept = keep_some(host, 3)
    host.leave("UserPromptSubmit", prompt="Round the totals, too.")
    killed = 0
    while killer.killed_after(first + killed * step):
        killed += 1
    said = Counter(texts(host))
    assert [said[text] for text in (*kept, "Round the totals, too.")] == [1] * 4, said
    assert host.left() == 0
    return killed


def test_a_drain_that_is_killed_anywhere_loses_nothing_and_repeats_nothing(host, killer):
    assert killed_drains(host, killer, 50, 700) >= 3


@pytest.mark.reliability
@pytest.mark.timeout(600)
def test_a_drain_that_is_killed_at_very_many_places(host, killer):
    assert killed_drains(host, killer, 10, 25) >= 50


def test_without_its_receipt_a_drain_that_is_killed_would_repeat_events(host, monkeypatch):
    """The control: a drainer that dies between commit and removal is what the receipt is for."""
    kept = keep_some(host, 3)
    with TaskMemory.open(host.store, workspace=None, catch_up=False) as memory:
        with monkeypatch.context() as patch:
            patch.setattr(Drainer, "_finish", lambda *_: None)  # as if killed after the commit
            assert drain(memory, host.journal()).applied == 3
        with monkeypatch.context() as patch:
            patch.setattr(Drainer, "_finish_last", lambda self, files: files)
            patch.setattr(events, "name_of", lambda memory, event, told: os.urandom(8).hex())
            patch.setattr(drained_events, "name_of", lambda memory, event, told: os.urandom(8).hex())
            assert drain(memory, host.journal()).applied == 3
    assert [text for text in texts(host) if text.startswith("kept")] == [*kept, *kept]


@pytest.mark.reliability
def test_killed_at_very_many_places(host, killer):
    check_kills(host, killer, range(20, 6_000, 50))


def test_a_store_on_a_read_only_disk_loses_no_event(tmp_path, request):
    if done_as_root(request):
        return
    with small_disk(tmp_path / "data", megabytes=8) as disk:
        host = Host(tmp_path)
        host.tell("UserPromptSubmit", prompt=REQUEST)
        host.drain()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        host.tell("Stop", last_assistant_message="while it was read-only")
        assert list((tmp_path / "xdg").rglob("new/*.json"))  # beside the store there is no place
        told = host.context("SessionStart", source="compact")
        assert "2 events wait" in told
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        host.tell("Stop", last_assistant_message="then")
        assert texts(host)[-2:] == ["while it was read-only", "then"]
        assert host.left() == 0


def fill_up(path) -> None:
    """Write to a file until its disk is full."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        while True:
            os.write(file, bytes(4096))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    finally:
        os.close(file)


def test_a_full_disk_loses_no_event(tmp_path, request):
    if done_as_root(request):
        return
    with small_disk(tmp_path / "data", megabytes=3) as disk:
        host = Host(tmp_path)
        host.tell("UserPromptSubmit", prompt=REQUEST)
        host.drain()
        said = [f"full {number} " + "x" * 3000 for number in range(4)]
        for text in said:
            fill_up(disk / "ballast")  # also what the store gives up for such a moment
            host.tell("Stop", last_assistant_message=text)
        assert host.left() >= 2
        (disk / "ballast").unlink()
        host.tell("Stop", last_assistant_message="then")
        found = [text for text in texts(host) if text.startswith(("full", "then"))]
        # What still fitted came first; the rest was kept, and came in order.
        assert found == [*said, "then"]
        assert host.left() == 0


def test_a_hook_does_not_wait_for_a_host_that_never_closes_its_end(host):
    impatient = PROGRAM.replace("import main;", "import main; main.__globals__['_PATIENCE'] = 0.5;")
    assert impatient != PROGRAM
    host.words = [sys.executable, "-c", impatient]
    process = host.start("Stop")
    process.stdin.write(b'{"session_id": "x"')
    process.stdin.flush()
    assert process.wait(timeout=100) == 0
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_an_alarm_that_python_drops_rings_again(monkeypatch):
    """An exception in a destructor or a callback goes nowhere."""
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: dropped.append(found.exc_type))

    class Busy:
        def __del__(self):
            threading.Event().wait(100)

    def rings_in_a_destructor():
        busy = Busy()
        set_alarm(0.01)
        del busy
        threading.Event().wait(100)

    try:
        with pytest.raises(Late):
            rings_in_a_destructor()
    finally:
        set_alarm(None)
    assert dropped == [Late]


def test_a_host_that_reads_no_output_gets_its_event_written(host):
    host.tell("PreCompact", trigger="auto")
    process = host.start("UserPromptSubmit")
    process.stdout.close()  # the packet has nowhere to go
    process.stderr.close()
    process.stdin.write(json.dumps(host.told("UserPromptSubmit", prompt="Go on with the taxes.")).encode())
    process.stdin.close()
    assert process.wait(timeout=100) == 0
    assert "Go on with the taxes." in texts(host)
    # Without any stream at all: the shell closes them.
    command = f"{sys.executable} -c '{PROGRAM}' claude-code Stop 0<&- 1>&- 2>&-"
    assert subprocess.run(["sh", "-c", command], env=host.environment(), check=False).returncode == 0


def test_a_store_locked_for_two_seconds_loses_no_event_and_delays_no_hook(host):
    with lock_held(str(host.store)):
        for number in range(3):  # each comes back while the store is still held
            host.tell(
                "Stop", env={"RINGBOLT_HOOK_DEADLINE_MS": "300"}, last_assistant_message=f"one {number}"
            )
    host.tell("Stop", last_assistant_message="two")
    assert texts(host)[-4:] == ["one 0", "one 1", "one 2", "two"]


def test_hooks_that_drain_at_once_write_each_event_once_and_in_order(host):
    kept = keep_some(host, 12)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: host.tell("Stop", last_assistant_message=f"new {number}"), range(4)))
    host.tell("Stop", last_assistant_message="last")
    said = texts(host)
    assert [text for text in said if text.startswith("kept")] == kept
    assert sorted(text for text in said if text.startswith("new")) == [f"new {number}" for number in range(4)]
    assert host.left() == 0


# --- many at once -----------------------------------------------------------------------------------


def many_at_once(host, wanted: int) -> list[float]:
    """Tell so many events, eight at a time; the seconds that each took."""

    def one(number: int) -> float:
        begun = time.monotonic()
        host.tool("Bash", {"command": f"echo {number}"}, {"stdout": "x"}, number)
        return time.monotonic() - begun

    with ThreadPoolExecutor(8) as pool:
        took = list(pool.map(one, range(wanted)))
    with host.memory() as memory:
        commands = [event.data["input"]["command"] for event in memory.events() if event.type == "action"]
        assert memory.verify().ok
    assert Counter(commands) == Counter(f"echo {number}" for number in range(wanted))
    assert host.left() == 0
    return took


def test_many_hooks_at_once_lose_nothing(host):
    many_at_once(host, 32)


@pytest.mark.reliability
@pytest.mark.timeout(600)
def test_a_thousand_hooks_from_eight_processes_at_once(host):
    took = sorted(many_at_once(host, 1_000))
    assert took[990] <= 10 * took[500], (took[500], took[990])


def test_a_hook_of_another_version_writes_beside_this_one(tmp_path, monkeypatch):
    """An update replaces the build while sessions that were started with the old one go on."""
    hooks = []
    for rules in (None, "0" * 16):
        folder = tmp_path / f"build{len(hooks)}"
        folder.mkdir()
        with monkeypatch.context() as patch:
            if rules:
                # Other rules for secrets, and no digest that this version knows.
                patch.setattr(hook_build, "rules_digest", lambda: "0" * 16)
                patch.setattr(hook_build, "__version__", "0.0.1")
            hooks.append(Capturing(tmp_path, built_hook(folder, patch)))
    new, old = hooks
    for number in range(6):
        (old if number % 2 else new).tell("UserPromptSubmit", prompt=f"Part {number} of the report, please.")
    assert {content["redacted_by"] for _, content in new.events()} == {"0" * 16, rules_digest()}
    with TaskMemory.open(new.store, workspace=None, session="s-1") as memory:
        drain(memory, Journal.of(str(new.store)))
        said = [event.text for event in memory.events() if "of the report" in (event.text or "")]
    assert said == [f"Part {number} of the report, please." for number in range(6)]
    assert new.events() == []
