"""A sync that is killed with SIGKILL at any step loses nothing, and the next one completes it."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .machines import KINDS, histories, interleave, machine, new_remote, settle, texts

REPOSITORY = Path(__file__).parents[2]


def sync_until(step: int, store: Path, remote: str) -> bool:
    """Sync in a process that dies at a step; returns whether it died."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.sync.killed_sync", str(store), remote, str(step)],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    assert done.returncode or "done" in done.stdout
    return done.returncode != 0


def check_kills(tmp_path: Path, kind: str, steps: range) -> int:
    """Kill a sync at each of these steps, each time from the same beginning; returns how many kills."""
    remote = new_remote(kind, tmp_path)
    with machine(tmp_path, "one") as one, machine(tmp_path, "two") as two:
        written = interleave((one, two), remote, 24, 1)
        for memory, name in ((one, "Only here"), (two, "Only there")):
            memory.task_register(name)
            written.add(name)
        two.sync(remote)
    beginning = tmp_path / "beginning"
    beginning.mkdir()
    for name in ("one", "remote"):
        shutil.copytree(tmp_path / name, beginning / name, symlinks=True)
    kills = 0
    for step in steps:
        for name in ("one", "remote"):
            shutil.rmtree(tmp_path / name)
            shutil.copytree(beginning / name, tmp_path / name, symlinks=True)
        if not sync_until(step, tmp_path / "one" / "tasks.db", remote):
            break
        kills += 1
        with machine(tmp_path, "one") as one, machine(tmp_path, f"two-{step}") as two:
            settle((one, two), remote)
            assert histories(one) == histories(two), step
            names = {task.name for task in two.task_list(workspace=None, limit=1000).tasks}
            assert written <= texts(two) | names, step
            assert one.verify().ok
    return kills


@pytest.mark.parametrize("kind", KINDS)
def test_a_sync_that_is_killed_is_completed_by_the_next(tmp_path, kind):
    assert check_kills(tmp_path, kind, range(3, 200, 17)) >= 2


@pytest.mark.reliability
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kind", KINDS)
def test_a_sync_may_be_killed_at_every_step(tmp_path, kind):
    kills = check_kills(tmp_path, kind, range(1, 1000))
    print(f"{kind}: killed at {kills} steps")
    assert kills >= 20
