"""What differs between systems: locks, opening, replacing, permissions, processes, commands.

These run on every system, also simulated and under Wine: the same calls must keep the same promises.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from ringbolt.system import commands, os_calls, processes
from ringbolt.system.files import TEMP, locked_folder, sweep, write_atomic
from ringbolt.system.user_folders import user_folder

ON_WINDOWS = sys.platform == "win32"
_LOCK = """
import os, sys
from ringbolt.system import os_calls
os_calls.lock(os_calls.open_file(sys.argv[1], os.O_RDWR | os.O_CREAT), wait=True)
print("held", flush=True)
sys.stdin.read()
"""
# A command that leaves a process behind, which would write a file later.
_LEAVES = """
import subprocess, sys
late = "import sys, time; time.sleep(float(sys.argv[2])); open(sys.argv[1], 'w').close()"
subprocess.Popen([sys.executable, "-c", late, sys.argv[1], sys.argv[2]])
print("done")
"""


def opened(path, flags=os.O_RDWR | os.O_CREAT):
    return os_calls.open_file(str(path), flags)


# --- locks ------------------------------------------------------------------------------------------


def test_a_lock_keeps_others_out_and_lets_them_read(tmp_path):
    one, other = opened(tmp_path / "a"), opened(tmp_path / "a")
    try:
        assert os_calls.lock(one, wait=False)
        assert not os_calls.lock(other, wait=False)
        assert not os_calls.lock(other, wait=False, shared=True)
        os_calls.write_at(one, b"who holds it", 0)
        assert os_calls.read_at(other, 50, 0) == b"who holds it"
        os_calls.unlock(one)
        assert os_calls.lock(other, wait=True)
    finally:
        os.close(one)
        os.close(other)


def test_many_may_share_a_lock(tmp_path):
    handles = [opened(tmp_path / "a") for _ in range(3)]
    try:
        assert all(os_calls.lock(handle, wait=False, shared=True) for handle in handles[:2])
        assert not os_calls.lock(handles[2], wait=False)
    finally:
        for handle in handles:
            os.close(handle)


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = str(tmp_path / "a")
    holder = subprocess.Popen(
        [sys.executable, "-c", _LOCK, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    own = opened(path)
    try:
        assert holder.stdout.readline().strip() == b"held"
        assert not os_calls.lock(own, wait=False)
    finally:
        holder.kill()
        holder.communicate()
    try:
        assert os_calls.lock(own, wait=True)
    finally:
        os.close(own)


def test_a_locked_folder_is_for_one_at_a_time_and_nothing_stays_in_it(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    inside, most = [0], [0]

    def enter():
        for _ in range(20):
            with locked_folder(str(folder)):
                inside[0] += 1
                most[0] = max(most[0], inside[0])
                time.sleep(0)
                inside[0] -= 1

    threads = [threading.Thread(target=enter) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert os.listdir(folder) == []


# --- files ------------------------------------------------------------------------------------------


def test_bytes_are_written_as_they_are(tmp_path):
    handle = opened(tmp_path / "a")
    os.write(handle, b"one\ntwo\r\n\x1a end")
    os.close(handle)
    handle = opened(tmp_path / "a", os.O_RDONLY)
    assert os.read(handle, 100) == b"one\ntwo\r\n\x1a end"
    os.close(handle)


def test_a_file_is_replaced_while_others_read_it(tmp_path):
    path = str(tmp_path / "a")
    write_atomic(path, b"0")
    seen, stop = set(), threading.Event()

    def read():
        while not stop.is_set():
            handle = os_calls.open_file(path)
            seen.add(os.read(handle, 10))
            os.close(handle)
            stop.wait(0.002)  # no file that is always open can be replaced on Windows

    readers = [threading.Thread(target=read, daemon=True) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for number in range(40):
            write_atomic(path, str(number).encode())
    finally:
        stop.set()
    for reader in readers:
        reader.join()
    assert seen <= {str(number).encode() for number in range(40)}
    assert (tmp_path / "a").read_bytes() == b"39"


def test_what_was_left_over_is_swept(tmp_path):
    left = tmp_path / f".a.99999999-1{TEMP}"
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    assert sweep(str(tmp_path)) == 1
    assert os.listdir(tmp_path) == []


def test_a_name_that_is_taken_is_not_replaced(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).write_text(name)
    assert os_calls.put_if_absent(str(tmp_path / "one"), str(tmp_path / "kept"))
    assert not os_calls.put_if_absent(str(tmp_path / "two"), str(tmp_path / "kept"))
    assert os.listdir(tmp_path) == ["kept"]
    assert (tmp_path / "kept").read_text() == "one"


def test_what_we_make_is_for_its_owner_alone(tmp_path):
    folder = tmp_path / "own"
    os_calls.make_private_folders(str(folder))
    write_atomic(str(folder / "a"), b"secret")
    (folder / "made by others").write_text("x")
    assert os_calls.is_ours_alone(str(folder / "a"))
    assert not os_calls.others_may_replace_in(str(folder))
    os_calls.make_private(str(folder / "made by others"))
    assert os_calls.is_ours_alone(str(folder / "made by others"))


def test_a_reserved_file_has_its_size(tmp_path):
    handle = opened(tmp_path / "a")
    os_calls.reserve(handle, 3_000_000)
    os.close(handle)
    assert (tmp_path / "a").stat().st_size == 3_000_000


def test_an_open_file_tells_its_path(tmp_path):
    handle = opened(tmp_path / "a")
    try:
        assert os.path.samefile(os_calls.path_of(handle), tmp_path / "a")
    finally:
        os.close(handle)


def test_the_folder_of_a_user_is_the_one_of_the_system(monkeypatch, tmp_path):
    environ = {"LOCALAPPDATA": str(tmp_path / "local"), "APPDATA": str(tmp_path / "roaming")}
    monkeypatch.setenv("HOME", str(tmp_path))
    found = user_folder("data", environ), user_folder("config", environ)
    if os_calls.IS_WINDOWS:
        assert found == (str(tmp_path / "local" / "ringbolt"), str(tmp_path / "roaming" / "ringbolt"))
    else:
        assert found == (str(tmp_path / ".local/share/ringbolt"), str(tmp_path / ".config/ringbolt"))


# --- processes and commands -------------------------------------------------------------------------


def test_a_process_is_known_by_its_start_and_asking_does_not_end_it():
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        pid = str(child.pid)
        found = processes.look_up(pid)
        assert found is not None
        assert processes.is_running(f"{pid}:{found.start}")
        assert not processes.is_running(f"{pid}:{found.start}9")
        assert not processes.is_gone(pid)
        before = processes.program(pid)
        assert child.poll() is None
    finally:
        child.kill()
        child.communicate()
    assert processes.is_gone(pid)
    assert processes.program(pid) != before


@pytest.mark.parametrize("pid", ["99999999", "4194304999"])
def test_a_number_that_no_process_has(pid):
    assert processes.look_up(pid) is None
    assert not processes.is_running(f"{pid}:1")


def test_the_steady_clock_is_the_same_in_other_processes():
    code = "from ringbolt.system.os_calls import steady; print(repr(steady()))"
    before = os_calls.steady()
    other = float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert before <= other <= os_calls.steady()


def test_our_parents_are_known():
    code = "from ringbolt.system import processes; print(*processes.ancestors())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = {process.partition(":")[0] for process in done.stdout.split()}
    assert str(os.getpid()) in found


def test_a_command_answers_with_its_code_and_the_start_of_its_output():
    code = "import sys; print('x' * 100_000); sys.stderr.write('y'); sys.exit(3)"
    found, output = commands.run([sys.executable, "-c", code], None, 60, 1000)
    assert (found, output) == (3, b"x" * 1000)


def test_a_command_that_takes_too_long_is_ended():
    with pytest.raises(TimeoutError):
        commands.run([sys.executable, "-c", "import time; time.sleep(1000)"], None, 1, 1000)


def test_what_a_command_leaves_behind_is_ended_with_it(tmp_path):
    mark = tmp_path / "survived"
    code, output = commands.run([sys.executable, "-c", _LEAVES, str(mark), "3"], None, 60, 1000)
    assert (code, output.strip()) == (0, b"done")
    # As long as the one that was left would have needed, in a process of its own.
    commands.run([sys.executable, "-c", "import time; time.sleep(4)"], None, 60, 1000)
    assert not mark.exists()


@pytest.mark.skipif(not ON_WINDOWS, reason="only Windows refuses to replace an open file")
def test_a_file_that_another_program_has_open_is_replaced_when_it_is_closed(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    file = open(path, "rb")  # noqa: SIM115 - closed by the timer
    timer = threading.Timer(0.3, file.close)
    timer.start()
    write_atomic(str(path), b"new")
    timer.join()
    assert path.read_bytes() == b"new"
