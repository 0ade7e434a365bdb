"""The command line as a person and as a program uses it: real processes, their output and exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from uuid import uuid4

import pytest

from ringbolt import TaskMemory
from tests.support import open_memory


def ringbolt(*words, **options):
    return subprocess.run(
        [sys.executable, "-m", "ringbolt", *words], capture_output=True, text=True, check=False, **options
    )


@pytest.fixture
def filled(opened, store_url):
    memory = opened(store_url)
    task = memory.task_register("Deploy", ["Build", "Push"]).task_id
    memory.task_update(task, "built", step=1, step_status="completed")
    return store_url


def test_a_wrong_word_is_told_with_the_right_one():
    told = ringbolt("stroe")
    assert told.returncode == 2
    assert "Did you mean 'store'?" in told.stderr


def test_info_tells_what_a_store_is(filled):
    told = ringbolt("store", "info", filled)
    assert told.returncode == 0, told.stderr
    facts = dict(line.split(None, 1) for line in told.stdout.splitlines())
    assert facts["tasks"] == "1"
    assert facts["events"] == "2"
    assert facts["engine"].startswith(("SQLite ", "PostgreSQL "))
    assert ":test@" not in told.stdout  # no password
    plain = json.loads(ringbolt("store", "info", "--json", filled).stdout)["data"]
    assert plain["events"] == 2
    assert plain["url"] == facts["url"]


def test_info_takes_the_store_of_the_settings(filled):
    told = ringbolt("store", "info", env={**os.environ, "RINGBOLT_STORE": filled})
    assert "events" in told.stdout


@pytest.mark.parametrize("words", [("info",), ("copy",)])
def test_a_store_that_is_not_there_is_not_made_by_looking(tmp_path, words):
    missing = tmp_path / "missing.db"
    more = [str(tmp_path / "target.db")] if words == ("copy",) else []
    told = ringbolt("store", *words, str(missing), *more)
    assert told.returncode == 1
    assert "[store_not_found]" in told.stderr
    assert "Traceback" not in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_a_store_is_not_filled_by_looking(postgres_server_url):
    from tests.servers import fresh_database

    with fresh_database(postgres_server_url, f"empty_{uuid4().hex}") as url:
        told = ringbolt("store", "info", url)
        assert "[store_not_found]" in told.stderr


def test_copy_moves_a_store_to_the_other_engine_and_says_so(filled, postgres_url, tmp_path):
    other = (
        f"{postgres_url}&tenant={uuid4().hex}" if filled.startswith("sqlite") else str(tmp_path / "other.db")
    )
    told = ringbolt("store", "copy", filled, other)
    assert told.returncode == 0, told.stderr
    assert told.stdout == (
        "1 tasks with 2 events; 2 copied now.\nBoth stores verify, and every task ends with the same hash.\n"
    )
    report = json.loads(ringbolt("store", "copy", "--json", other, filled).stdout)["data"]
    assert (report["ok"], report["copied"]) == (True, 0)


def test_copy_fails_aloud_when_the_two_have_parted(filled, tmp_path):
    other = str(tmp_path / "other.db")
    ringbolt("store", "copy", filled, other)
    for url in (filled, other):
        with TaskMemory.open(url, workspace="/w", synchronous="off") as memory:
            memory.task_update(message=f"in {url}")
    told = ringbolt("store", "copy", filled, other)
    assert told.returncode == 1
    assert "continued them differently" in told.stdout


@pytest.mark.parametrize("new_store_url", ["sqlite"], indirect=True)
def test_a_copy_that_is_killed_is_finished_by_the_same_command(store_url, postgres_url):
    with open_memory(store_url) as memory:
        for number in range(20):
            task = memory.task_register(f"Task {number}").task_id
            for step in range(200):
                memory.task_update(task, f"step {step}")
    other = f"{postgres_url}&tenant={uuid4().hex}"
    words = [sys.executable, "-m", "ringbolt", "store", "copy", store_url, other]
    first = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open_memory(other) as target:
        while first.poll() is None and not target.store.read(lambda tx: tx.task_ids()):
            pass
        first.send_signal(signal.SIGKILL)
        first.wait()
        arrived = sum(1 for _ in target.events())
    assert 0 < arrived < 4020
    done = ringbolt(*words[3:])
    assert done.returncode == 0, done.stderr
    assert f"20 tasks with 4,020 events; {4020 - arrived:,} copied now." in done.stdout
