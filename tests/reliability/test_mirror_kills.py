"""A kill between commit and mirror (8 of the design's list): nothing torn, mended by the next open."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from ringbolt import TaskMemory
from ringbolt.files.views import VIEWS
from ringbolt.model.settings import SETTINGS
from ringbolt.packet.state import yaml_state
from tests.reliability.mirror_programs import add_folder_kind, folder_files

PROGRAM = Path(__file__).with_name("mirror_programs.py")
STAMP = re.compile(rb"# (ringbolt: task=\w+ seq=(\d+) head=\w+) digest=(\w+)\n")


@pytest.fixture(autouse=True)
def folder_kind(monkeypatch):
    monkeypatch.setitem(VIEWS, "bank", None)  # taken out again after the test
    monkeypatch.setitem(SETTINGS, "mirrors", SETTINGS["mirrors"])
    add_folder_kind()


def opened(store: Path, work: Path, mirrors: str = "state,bank") -> TaskMemory:
    return TaskMemory.open(store, workspace=str(work), mirrors=mirrors, agent="test")


def begin(tmp_path: Path) -> tuple[Path, Path, str]:
    """A store, a workspace with mirrors, and a task with a plan of some length."""
    store, work = tmp_path / "store.db", tmp_path / "work"
    work.mkdir()
    with opened(store, work) as memory:
        plan = [f"Step {number}: " + "x" * 60 for number in range(60)]
        return store, work, memory.task_register("kills", plan).task_id


def killed(how: str, store: Path, work: Path, task: str, pause: float) -> int:
    """Let a writer write for a moment, kill it, and return the last number that it acknowledged."""
    writer = subprocess.Popen(
        [sys.executable, str(PROGRAM), how, str(store), str(work), task],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"ready\n"
    threading.Event().wait(pause)
    writer.send_signal(signal.SIGKILL)
    output, _ = writer.communicate()
    whole = output[: output.rfind(b"\n") + 1].split()
    return int(whole[-1]) if whole else 0


def torn(work: Path, task: str) -> list[str]:
    """The mirrors that are not whole, by their own means: nothing of the product is asked."""
    found = []
    content = (work / ".ringbolt" / f"{task}.state.yaml").read_bytes()
    body, _, last = content.rstrip(b"\n").rpartition(b"\n")
    stamp = STAMP.fullmatch(last + b"\n")
    wanted = stamp and hashlib.blake2b(body + b"\n\0" + stamp[1], digest_size=8).hexdigest().encode()
    if stamp is None or wanted != stamp[3] or not content.endswith(b"\n"):
        found.append("state")
    for name in (f".ringbolt/{task}.bank.json", f"bank/{task}/metadata.json"):
        try:
            json.loads((work / name).read_bytes())
        except ValueError:
            found.append(name)
    lines = (work / "bank" / task / "messages.txt").read_text().splitlines()
    if len(lines) != 200 or len(set(lines)) != 1:
        found.append("messages.txt")
    return found


def temps(work: Path) -> list[Path]:
    return list(work.rglob("*.ringbolt-tmp"))


def check_kills(tmp_path: Path, rounds: int) -> Counter[str]:
    """Kill a writer so many times; returns how often a mirror was late, or a file left half written."""
    store, work, task = begin(tmp_path)
    pauses = random.Random(8)
    seen: Counter[str] = Counter()
    state = work / ".ringbolt" / f"{task}.state.yaml"
    for number in range(rounds):
        acknowledged = killed("atomic", store, work, task, pauses.uniform(0.0, 0.08))
        assert torn(work, task) == [], f"round {number}"
        seen["left half written"] += bool(temps(work))
        with opened(store, work, mirrors="none") as looking:
            seq = looking.task_get(task).seq
            seen["late"] += f"seq={seq} ".encode() not in state.read_bytes()
        assert seq >= acknowledged
        with opened(store, work) as memory:
            if (thread := memory._mirrors.thread) is not None:  # opening leaves what takes long to it
                thread.join(30)
            assert [status.reasons for status in memory.mirrors_status()] == [(), ()], f"round {number}"
            assert [status.seq_shown for status in memory.mirrors_status()] == [seq, seq]
            shown = state.read_text().rpartition("# ringbolt:")[0]
            assert shown == yaml_state(memory._snapshot(task))
            for name, text in folder_files(memory, task).items():
                assert (work / name).read_text() == text
        assert torn(work, task) == []
        assert temps(work) == [], f"round {number}"
        assert not list(work.rglob("*.edited")), "what a kill left was taken for an edit"
    return seen


def test_a_kill_between_commit_and_mirror_leaves_nothing_torn_and_is_mended(tmp_path):
    check_kills(tmp_path, rounds=6)


@pytest.mark.reliability
@pytest.mark.timeout(600)
def test_two_hundred_kills_between_commit_and_mirror(tmp_path):
    seen = check_kills(tmp_path, rounds=200)
    print(dict(seen))
    assert seen["late"] >= 20
    assert seen["left half written"]


def test_a_plain_writer_would_be_caught(tmp_path):
    """The positive control of the tests above."""
    store, work, task = begin(tmp_path)
    pauses = random.Random(8)
    for _ in range(40):
        killed("plain", store, work, task, pauses.uniform(0.0, 0.08))
        if torn(work, task):
            return
    pytest.fail("40 kills of a plain writer, and none was noticed")
