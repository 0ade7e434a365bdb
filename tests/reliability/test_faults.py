"""Faults as figures (the numbers are those of the design's list): nothing acknowledged is ever lost."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import apsw
import pytest

from ringbolt import RingboltError, StoreError, TaskMemory
from ringbolt.store import sqlite
from tests.reliability.small_disks import done_as_root, small_disk
from tests.support import once_free

FAULTS = Path(__file__).with_name("faults.py")


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    """A fault program; it is ready for work when this returns."""
    process = subprocess.Popen(
        [sys.executable, str(FAULTS), program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


def open_memory(store: Path, **options: object) -> TaskMemory:
    return TaskMemory.open(store, workspace=None, agent="test", **options)  # type: ignore[arg-type]


def new_task(store: Path) -> str:
    with open_memory(store) as memory:
        return memory.task_register("faults", ["one", "two"]).task_id


def messages(memory: TaskMemory, task: str) -> Counter[str]:
    return Counter(event.text or "" for event in memory.events(task) if event.type == "message")


# --- 1: kill -9 -------------------------------------------------------------------------------------


def kill_round(store: Path, task: str, writers: int, pause: float, round_number: int) -> dict[str, int]:
    """Start writers, kill them all after a moment, and return what each had acknowledged last."""
    names = [f"r{round_number}w{number}" for number in range(writers)]
    processes = {name: start("acknowledge", store, task, name) for name in names}
    begun = {name: [process.stdout.readline() for _ in range(2)] for name, process in processes.items()}
    threading.Event().wait(pause)
    for process in processes.values():
        process.send_signal(signal.SIGKILL)
    acknowledged = {}
    for name, process in processes.items():
        output = "".join(begun[name]) + process.communicate()[0]
        # The last line may be cut in the middle of its digits; only whole lines count.
        acknowledged[name] = int(output[: output.rfind("\n")].split()[-1])
    return acknowledged


def check_kill_rounds(store: Path, rounds: int, writers: int) -> None:
    task = new_task(store)
    pauses = random.Random(1)
    acknowledged: dict[str, int] = {}
    for number in range(rounds):
        acknowledged |= kill_round(store, task, writers, pauses.uniform(0.01, 0.08), number)
        with open_memory(store) as memory:
            memory.task_get(task)
    with open_memory(store) as memory:
        written = messages(memory, task)
        assert not [text for text, count in written.items() if count > 1], "something was written twice"
        for name, last in acknowledged.items():
            lost = [n for n in range(1, last + 1) if n % 5 and f"{name}:{n}" not in written]
            assert not lost, f"{name} lost {lost[:5]} of {last}"
            if last >= 5:
                assert memory.task_history(task, name=name)[-1].data["value"] >= last // 5 * 5
        report = memory.verify()
        assert report.ok, report.problems


def test_killed_writers_lose_nothing_that_was_acknowledged(tmp_path):
    check_kill_rounds(tmp_path / "store.db", rounds=2, writers=4)


@pytest.mark.reliability
def test_killed_writers_lose_nothing_in_many_rounds(tmp_path):
    check_kill_rounds(tmp_path / "store.db", rounds=60, writers=8)


# --- 2: many writer processes -----------------------------------------------------------------------


def check_writers(store: Path, writers: int, seconds: float) -> list[int]:
    task = new_task(store)
    processes = [start("write_for", store, task, f"w{number}", seconds) for number in range(writers)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    counts = []
    for process in processes:
        output, _ = process.communicate(timeout=seconds + 60)
        count, _, errors = output.strip().partition(" ")
        assert not errors, f"a writer was locked out: {errors}"
        counts.append(int(count))
    with open_memory(store) as memory:
        assert sum(messages(memory, task).values()) == sum(counts)
        assert memory.verify().ok
    return counts


def test_eight_writer_processes_all_get_their_turn(tmp_path):
    """However long the others go on, each has its turn."""
    store = tmp_path / "store.db"
    task = new_task(store)
    processes = [start("acknowledge", store, task, f"w{number}") for number in range(8)]
    for process in processes:
        for _ in range(3):
            assert process.stdout.readline()
    for process in processes:
        process.kill()
        process.communicate()
    with open_memory(store) as memory:
        written = messages(memory, task)
        assert all(written[f"w{number}:{count}"] == 1 for number in range(8) for count in (1, 2, 3))
        assert memory.verify().ok


@pytest.mark.reliability
def test_eight_writer_processes_get_about_as_many_turns_each(tmp_path):
    counts = check_writers(tmp_path / "store.db", writers=8, seconds=5)
    assert min(counts) / max(counts) >= 0.3, counts


@pytest.mark.reliability
@pytest.mark.parametrize("writers", [1, 2, 4, 8, 16, 32])
def test_any_number_of_writer_processes_get_their_turn(tmp_path, writers):
    check_writers(tmp_path / "store.db", writers, seconds=4)


def test_a_lock_held_too_long_is_a_clear_error_and_the_next_write_works(tmp_path):
    store = tmp_path / "store.db"
    task = new_task(store)
    with open_memory(store, lock_timeout=0.2) as memory:
        holder = start("hold_lock", store)
        with pytest.raises(StoreError) as caught:
            memory.task_update(task, "too early")
        assert caught.value.code == "store_busy"
        assert memory.task_get(task).seq == 1, "reading does not wait for writers"
        holder.communicate("let go\n")
        once_free(lambda: memory.task_update(task, "now"))
        assert memory.task_get(task).messages == 1


def test_many_who_wait_in_vain_are_all_told_in_time(tmp_path):
    store = tmp_path / "store.db"
    task = new_task(store)
    with open_memory(store, lock_timeout=0.5) as memory:
        holder = start("hold_lock", store)
        errors: list[StoreError] = []
        begin = threading.Barrier(16)

        def write() -> None:
            begin.wait(30)
            try:
                memory.task_update(task, "too early")
            except StoreError as error:
                errors.append(error)

        threads = [threading.Thread(target=write) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [error.code for error in errors] == ["store_busy"] * 16
        # Each error says how long the lock was waited for; one after the other would be 8 s in all.
        waited = [float(error.message.split(" for ")[-1].split()[0]) for error in errors]
        assert sum(waited) < 4
        holder.communicate("let go\n")
        once_free(lambda: memory.task_update(task, "now"))
        assert memory.task_get(task).messages == 1


# --- 3: group commit --------------------------------------------------------------------------------


def test_threads_share_commits_and_errors_stay_with_their_caller(tmp_path):
    with open_memory(tmp_path / "store.db") as memory:
        task = memory.task_register("threads", ["one"]).task_id
        failures: list[str] = []

        def work(name: str) -> None:
            for number in range(40):
                if number % 4 == 3:
                    try:
                        memory.task_update(task, step="no such step", step_status="completed")
                    except RingboltError as error:
                        failures.append(error.code)
                else:
                    memory.task_update(task, f"{name}:{number}")

        threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(32)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        written = messages(memory, task)
        assert len(written) == 32 * 30
        assert set(written.values()) == {1}
        assert failures == ["step_not_found"] * 32 * 10
        assert memory.verify().ok


# --- 4: full disk -----------------------------------------------------------------------------------


def fill(memory: TaskMemory, task: str, first: int) -> int:
    """Write until the disk is full; returns how many messages there are then."""
    written = first

    def write_on() -> None:
        nonlocal written
        for number in range(first, first + 100_000):
            memory.task_update(task, f"{number}:" + "x" * 2000, key=str(number))
            written = number + 1

    with pytest.raises(StoreError) as caught:
        write_on()
    assert caught.value.code == "store_full"
    assert "reading still works" in caught.value.hint
    return written


def test_a_full_disk_loses_nothing_and_still_reads(tmp_path, request):
    if done_as_root(request):
        return
    with small_disk(tmp_path / "disk") as disk:
        store, ballast = disk / "store.db", disk / "ballast"
        ballast.write_bytes(b"x" * (1 << 20))
        memory = open_memory(store, reserve_bytes=256 << 10)
        task = memory.task_register("full disk", ["one"]).task_id
        acknowledged = fill(memory, task, 0)
        with open(disk / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        assert memory.task_get(task).messages == acknowledged
        memory.close()
        (disk / "store.db-shm").unlink()  # as after a reboot: SQLite must make its index of the log anew
        with open_memory(store, reserve_bytes=256 << 10) as cold:
            assert cold.task_get(task).messages == acknowledged, "a cold open reads on a full disk"
            acknowledged = fill(cold, task, acknowledged)
            ballast.unlink()
            cold.task_update(task, f"{acknowledged}:" + "x" * 2000, key=str(acknowledged))
            assert cold.task_get(task).messages == acknowledged + 1
            assert cold.verify().ok
        with open_memory(store, reserve_bytes=256 << 10) as memory:
            assert memory.store.info()["reserve_bytes"] == 256 << 10, "the reserve is back"


def test_without_the_reserve_a_cold_open_on_a_full_disk_fails(tmp_path, request):
    """The positive control of the test above."""
    if done_as_root(request):
        return
    with small_disk(tmp_path / "disk") as disk:
        store = disk / "store.db"
        with open_memory(store, reserve_bytes=0) as memory:
            task = memory.task_register("full disk", ["one"]).task_id
            fill(memory, task, 0)
        (disk / "store.db-shm").unlink()
        with open(disk / "filler", "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)
        with pytest.raises(StoreError) as caught:
            open_memory(store, reserve_bytes=0)
        assert caught.value.code in ("store_full", "store_unavailable")


# --- 5: failing system calls ------------------------------------------------------------------------


class FailingVFS(apsw.VFS):
    """The machine's file system, in which one chosen write or sync of the log fails."""

    def __init__(self) -> None:
        self.calls = 0
        self.fail_at = 0
        self.operation = ""
        super().__init__("failing", "")

    def xOpen(self, name, flags):
        return FailingFile(self, name, flags)

    def note(self, operation: str) -> None:
        if operation == self.operation:
            self.calls += 1
            if self.calls == self.fail_at:
                raise apsw.IOError("injected")


class FailingFile(apsw.VFSFile):
    def __init__(self, vfs: FailingVFS, name, flags) -> None:
        self.vfs = vfs
        super().__init__("", name, flags)

    def xWrite(self, data, offset):
        self.vfs.note("write")
        return super().xWrite(data, offset)

    def xSync(self, flags):
        self.vfs.note("sync")
        return super().xSync(flags)


FAILING_WRITER = """
import sys, apsw
sys.path.insert(0, {folder!r})
from test_faults import FailingVFS
from ringbolt import TaskMemory, StoreError
vfs = FailingVFS()
store, task, most = sys.argv[1:]
real = apsw.Connection
def connect(path, **options):
    return real(path, vfs="failing", **options)
apsw.Connection = connect
for operation in ("sync", "write"):
    for fail_at in range(1, int(most) + 1):
        vfs.operation = ""
        memory = TaskMemory.open(store, workspace=None, agent="failing")
        vfs.operation, vfs.fail_at, vfs.calls = operation, fail_at, 0
        for number in range(6):
            key = f"{{operation}}{{fail_at}}:{{number}}"
            for attempt in range(4):
                try:
                    memory.task_update(task, key, key=key)
                    print("acknowledged", key)
                    break
                except StoreError as error:
                    print("error", error.code)
        vfs.operation = ""
        memory.close()
        with TaskMemory.open(store, workspace=None) as checked:
            report = checked.verify()
            assert report.ok, (key, report.problems)
"""


def check_all_failures(store: Path, most: int) -> None:
    task = new_task(store)
    code = FAILING_WRITER.format(folder=str(FAULTS.parent))
    ran = subprocess.run(
        [sys.executable, "-c", code, str(store), task, str(most)], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    lines = Counter(tuple(line.split()) for line in ran.stdout.splitlines())
    acknowledged = {key for word, key in lines if word == "acknowledged"}
    assert len(acknowledged) == 12 * most, "a retry did not succeed"
    # The positive control: failures were really injected, and the dangerous one was told as such.
    assert ("error", "outcome_unknown") in lines, lines
    with open_memory(store) as memory:
        assert messages(memory, task) == dict.fromkeys(acknowledged, 1), "lost, or written twice"


def test_a_failing_disk_never_loses_or_doubles_a_keyed_write(tmp_path):
    check_all_failures(tmp_path / "store.db", most=4)


@pytest.mark.reliability
def test_a_disk_that_fails_at_any_call_never_loses_or_doubles_a_keyed_write(tmp_path):
    check_all_failures(tmp_path / "store.db", most=40)


# --- 6 and 7: damage --------------------------------------------------------------------------------


def grown_store(store: Path, updates: int) -> tuple[str, int]:
    with open_memory(store) as memory:
        task = memory.task_register("damage", ["one", "two"]).task_id
        for number in range(updates):
            memory.task_update(task, f"message {number} " + "payload " * 20)
        return task, memory.task_get(task).seq


def test_a_lost_tail_of_the_log_is_detected(tmp_path):
    store = tmp_path / "store.db"
    task, last = grown_store(store, 50)
    with open_memory(store) as memory:
        assert memory.verify().ok
    log = tmp_path / "store.db-wal"
    size = log.stat().st_size
    assert size > 40_000
    for cut in (size - 3000, size // 2):
        copy = tmp_path / f"cut{cut}"
        copy.mkdir()
        for file in tmp_path.glob("store.db*"):
            if not file.name.endswith("-shm"):
                shutil.copy(file, copy / file.name)
        os.truncate(copy / "store.db-wal", cut)
        with open_memory(copy / "store.db") as memory:
            report = memory.verify()
            assert "lost_tail" in {problem.kind for problem in report.problems}, report
            events = [event.seq for event in memory.events(task)]
            assert events == list(range(1, len(events) + 1)), "what is left is a prefix"
            assert len(events) < last


def flip(store: Path, numbers: random.Random, payloads: list[tuple[int, int]]) -> None:
    """Flip one bit inside a payload of the database file."""
    start_at, length = numbers.choice(payloads)
    with open(store, "r+b") as file:
        file.seek(start_at + numbers.randrange(length))
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ (1 << numbers.randrange(8))]))


def check_bit_flips(folder: Path, flips: int) -> float:
    store = folder / "store.db"
    grown_store(store, 60)
    connection = apsw.Connection(str(store))
    connection.execute("SELECT count(*) FROM events").fetchall()  # else it does not know of a log
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    raw = store.read_bytes()
    payloads = []
    for number in range(60):
        text = (f"message {number} " + "payload " * 20).encode()
        # An event has its message as text and in its data. Of more copies, some are in free space, which
        # nobody reads.
        if raw.count(text) == 2:
            payloads += [(raw.index(text), len(text)), (raw.rindex(text), len(text))]
    assert len(payloads) > 40
    numbers = random.Random(7)
    detected = 0
    for number in range(flips):
        copy = folder / f"flip{number}.db"
        copy.write_bytes(raw)
        flip(copy, numbers, payloads)
        with open_memory(copy) as memory:
            report = memory.verify()
            detected += not report.ok
            hashes = {problem.seq for problem in report.problems if problem.kind in ("hash", "damaged")}
            assert len(hashes) <= 1, "one flip damages one event, and the others are still read"
        for leftover in folder.glob(f"flip{number}.db*"):
            leftover.unlink()
    return detected / flips


def test_bit_flips_in_payloads_are_detected(tmp_path):
    assert check_bit_flips(tmp_path, 25) >= 0.99


@pytest.mark.reliability
def test_two_thousand_bit_flips_are_detected(tmp_path):
    assert check_bit_flips(tmp_path, 2000) >= 0.99


# --- 9: backup --------------------------------------------------------------------------------------


def check_backups(folder: Path, backups: int, writers: int) -> None:
    store = folder / "store.db"
    task = new_task(store)
    processes = [start("acknowledge", store, task, f"w{number}") for number in range(writers)]
    drains = [
        threading.Thread(target=process.stdout.read, daemon=True)  # type: ignore[union-attr]
        for process in processes
    ]
    for drain in drains:
        drain.start()
    sizes = []
    try:
        with open_memory(store) as memory:
            for number in range(backups):
                memory.backup(folder / f"backup{number}.db")
                sizes.append(memory.task_get(task).seq)
                # On a busy machine a backup may be done before any writer has its turn.
                while number == 0 and memory.task_get(task).seq == sizes[0]:
                    pass
    finally:
        for process, drain in zip(processes, drains, strict=True):
            process.kill()
            drain.join()
            process.communicate()
    with open_memory(store) as memory:
        memory.export_events(folder / "whole.jsonl")
    whole = (folder / "whole.jsonl").read_text().splitlines()
    for number in range(backups):
        backup = folder / f"backup{number}.db"
        assert backup.stat().st_mode & 0o077 == 0
        with open_memory(backup) as copy:
            assert copy.verify().ok
            copy.export_events(folder / "part.jsonl")
        part = (folder / "part.jsonl").read_text().splitlines()
        assert part == whole[: len(part)], "a backup is a prefix of the whole"
        assert 1 < len(part) <= sizes[number] + 1
    assert sizes[-1] > sizes[0], "nobody wrote while the backups were made"


def test_backups_under_load_are_valid_prefixes(tmp_path):
    check_backups(tmp_path, backups=5, writers=2)


@pytest.mark.reliability
def test_a_hundred_backups_under_load_are_valid_prefixes(tmp_path):
    check_backups(tmp_path, backups=100, writers=4)


# --- 10: the log stays short ------------------------------------------------------------------------


def test_the_log_stays_bounded_while_readers_come_and_go(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "WAL_PAGES", 50)
    store = tmp_path / "store.db"
    with open_memory(store, synchronous="off", wal_limit_bytes=1 << 17) as memory:
        task = memory.task_register("log", ["one"]).task_id
        readers = [start("read_on", store, task) for _ in range(2)]
        largest = 0
        for _ in range(200):
            memory.task_update(task, "x" * 6000)
            largest = max(largest, (tmp_path / "store.db-wal").stat().st_size)
        for reader in readers:
            reader.kill()
            reader.communicate()
        assert largest <= 3 << 20, largest  # three times as much is written
        assert store.stat().st_size > 1 << 20, "the log was folded back into the file"


# --- 12: keyed retries ------------------------------------------------------------------------------


def check_keyed_retries(store: Path, calls: int) -> None:
    with open_memory(store, synchronous="off") as memory:
        task = memory.task_register("retries", ["one"]).task_id
        numbers = random.Random(3)
        first = {}
        for _ in range(calls):
            key = str(numbers.randrange(calls // 4))
            result = memory.task_update(task, f"message {key}", key=key)
            assert first.setdefault(key, result) == result
        written = messages(memory, task)
        assert len(written) == len(first)
        assert set(written.values()) == {1}


def test_keyed_retries_write_once(tmp_path):
    check_keyed_retries(tmp_path / "store.db", 1000)


@pytest.mark.reliability
def test_ten_thousand_keyed_retries_write_once(tmp_path):
    check_keyed_retries(tmp_path / "store.db", 10_000)


# --- fork -------------------------------------------------------------------------------------------


def test_a_forked_child_and_its_parent_both_go_on_writing(tmp_path):
    store = tmp_path / "store.db"
    code = f"""
import os, sys
from ringbolt import TaskMemory
memory = TaskMemory.open({str(store)!r}, workspace=None)
task = memory.task_register("fork", ["one"]).task_id
memory.task_get(task)
children = []
for number in range(4):
    child = os.fork()
    if child == 0:
        for count in range(25):
            memory.task_update(task, f"child{{number}}:{{count}}")
            memory.task_get(task)
        os._exit(0)
    children.append(child)
for count in range(25):
    memory.task_update(task, f"parent:{{count}}")
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
assert memory.task_get(task).messages == 125, memory.task_get(task).messages
assert memory.verify().ok
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_two_versions_of_the_library_do_not_share_a_newer_store(tmp_path):
    store = tmp_path / "store.db"
    new_task(store)
    connection = apsw.Connection(str(store))
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(StoreError) as caught:
        open_memory(store)
    assert caught.value.code == "schema_newer"
    assert "999" in str(caught.value)
