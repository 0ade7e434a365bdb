"""The store as a file: who may read it, who waits for whom, and what an operator is told."""

from __future__ import annotations

import gc
import os
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from ringbolt import TaskMemory
from ringbolt.store import sqlite
from tests.support import (
    contents,
    foreign_database,
    once_free,
    open_memory,
    path_of,
    refused,
    run_python,
    sqlite_only,
    write_held,
)


def modes(folder) -> dict[str, int]:
    return {name: stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) for name in os.listdir(folder)}


@pytest.fixture
def no_umask():
    """The process gives every right to everyone, unless the code says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def open_files() -> int:
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


# --- rights -----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_umask")
def test_a_store_belongs_to_its_owner_alone(tmp_path):
    path = tmp_path / "new" / "store.db"
    with TaskMemory.open(path, workspace=None) as memory:
        task = memory.task_register("secret").task_id
        memory.task_get(task)
        memory.backup(tmp_path / "new" / "copy.db")
        memory.export_events(tmp_path / "new" / "export.jsonl")
        memory.acting_as(channel="user").restore(tmp_path / "new" / "copy.db")
        assert stat.S_IMODE(os.stat(path.parent).st_mode) == 0o700
        found = modes(path.parent)
    assert set(found) >= {"store.db", "store.db-wal", "store.db-shm", "store.db.lock", "store.db.reserve"}
    assert {name: mode for name, mode in found.items() if mode != 0o600} == {}


@pytest.mark.usefixtures("no_umask")
def test_a_file_that_others_could_read_is_not_written_into_by_an_export(tmp_path, memory, task):
    (tmp_path / "export.jsonl.part").touch(mode=0o666)
    memory.export_events(tmp_path / "export.jsonl")
    assert stat.S_IMODE(os.stat(tmp_path / "export.jsonl").st_mode) == 0o600


def test_the_rights_of_a_folder_that_was_there_are_left_alone(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    os.chmod(folder, 0o755)
    TaskMemory.open(folder / "store.db", workspace=None).close()
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o755


# --- opening and closing ----------------------------------------------------------------------------


def test_what_was_written_is_there_when_the_store_is_opened_again(store_url):
    with open_memory(store_url) as memory:
        task = memory.task_register("Deploy", ["Build"], request="Please").task_id
        memory.task_update(task, "done", step=1, step_status="completed")
        before = contents(memory)
    with open_memory(store_url) as again:
        assert contents(again) == before


def test_two_memories_on_one_file_see_each_others_writes_at_once(memory, task, opened, store_url):
    other = opened(store_url)
    for number in range(5):
        written = (memory if number % 2 else other).task_update(task, f"message {number}")
        assert (other if number % 2 else memory).task_get(task).seq == written.seq


@sqlite_only
def test_a_store_can_be_moved_to_another_name(memory, task, store_url, tmp_path):
    before = contents(memory)
    memory.backup(tmp_path / "elsewhere.db")
    with open_memory(str(tmp_path / "elsewhere.db")) as again:
        assert contents(again) == before
        assert again.store.info()["engine"].startswith("SQLite 3.")


def test_opening_and_closing_leaves_no_file_open(store_url):
    open_memory(store_url).close()
    before = open_files()
    for _ in range(5):
        with open_memory(store_url) as memory:
            memory.task_list()
    assert open_files() == before


@pytest.mark.parametrize("kind", ["folder", "text", "foreign", "newer"])
def test_a_store_that_cannot_be_opened_leaves_no_file_open_and_no_file_behind(tmp_path, kind):
    path = tmp_path / "it"
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("no database at all, " * 100)
    elif kind == "foreign":
        foreign_database(path)
    else:
        with open_memory(str(path)):
            pass
        foreign_database(path, 99, "SELECT 1")
    before, names = open_files(), sorted(os.listdir(tmp_path))
    for _ in range(3):
        with refused(None, {"folder": "store_unavailable", "text": "store_corrupt", "foreign": "not_a_store",
                            "newer": "schema_newer"}[kind]):  # fmt: skip
            open_memory(str(path))
    assert open_files() == before
    assert sorted(os.listdir(tmp_path)) == names


@sqlite_only
def test_an_engine_that_can_lose_data_is_refused(store_url, monkeypatch):
    monkeypatch.setattr(sqlite, "OLDEST_ENGINE", (99, 0, 0))
    with refused(None, "engine_too_old", naming="apsw"):
        open_memory(store_url)


# --- waiting for others -----------------------------------------------------------------------------


def test_a_write_waits_for_another_process_only_as_long_as_allowed(opened, store_url):
    memory = opened(store_url, lock_timeout=0.05)
    task = memory.task_register("Deploy").task_id
    with write_held(store_url):
        with refused(memory, "store_busy", naming="0.05 s"):
            memory.task_update(task, "too long")
        assert memory.task_get(task).name == "Deploy"  # readers wait for nobody
    assert once_free(lambda: memory.task_update(task, "now")).seq == 2


def test_one_who_gave_up_waiting_does_not_keep_others_out(opened, store_url):
    memory = opened(store_url, lock_timeout=0.05)
    task = memory.task_register("Deploy").task_id
    with write_held(store_url), refused(memory, "store_busy"):
        memory.task_update(task, "too long")
    write = (
        "import sys; from ringbolt import TaskMemory;"
        "memory = TaskMemory.open(sys.argv[1], workspace='/w', lock_timeout=50);"
        "print(memory.task_update(sys.argv[2], 'from another process').seq)"
    )
    assert run_python(write, store_url, task).stdout.strip() == "2"


def test_a_write_waits_until_it_is_its_turn(opened, store_url):
    memory = opened(store_url)
    task = memory.task_register("Deploy").task_id
    hold = (
        "import sys; from ringbolt import TaskMemory;"
        "memory = TaskMemory.open(sys.argv[1], workspace='/w');"
        "[memory.task_update(sys.argv[2], 'x') for _ in range(20)]"
    )
    with ThreadPoolExecutor(4) as threads:
        others = [threads.submit(run_python, hold, store_url, task) for _ in range(2)]
        ours = [threads.submit(memory.task_update, task, "y") for _ in range(20)]
        for future in (*others, *ours):
            future.result()
    assert memory.task_get(task).seq == 61
    assert memory.verify().ok


# --- a disk that fails ------------------------------------------------------------------------------

_FAILING = """
import os, resource, signal, sys
from ringbolt import RingboltError, TaskMemory
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = TaskMemory.open(sys.argv[1], workspace="/w", reserve_bytes=0)
task = memory.task_register("Deploy").task_id
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
# From here on no file can grow: the commit fails in the middle of its writing.
resource.setrlimit(resource.RLIMIT_FSIZE, (os.path.getsize(memory.store.path + "-wal"), hard))
try:
    memory.task_update(task, "x" * 300_000, key="k")
except RingboltError as error:
    print(error.code, bool(error.hint))
print(memory.task_get(task).name)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
first = memory.task_update(task, "x" * 300_000, key="k")
assert memory.task_update(task, "x" * 300_000, key="k") == first
print(memory.task_get(task).messages, memory.verify().ok)
"""


@sqlite_only
def test_after_a_disk_error_the_outcome_is_unknown_and_a_keyed_retry_settles_it(store_url):
    assert run_python(_FAILING, path_of(store_url)).stdout.split() == [
        "outcome_unknown", "True", "Deploy", "1", "True",
    ]  # fmt: skip
