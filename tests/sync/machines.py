"""Two machines for the tests of syncing: each has a store of its own, and all have one remote."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

from tests.support import open_memory

KINDS = ("git", "folder")


def new_remote(kind: str, folder: Path) -> str:
    """An empty bare repository, or an empty folder."""
    place = folder / "remote"
    if kind == "git":
        subprocess.run(["git", "init", "--quiet", "--bare", str(place)], check=True)
    else:
        place.mkdir()
    return str(place)


def machine(folder: Path, name: str, **options):
    """The memory of a machine."""
    (folder / name).mkdir(exist_ok=True)
    return open_memory(str(folder / name / "tasks.db"), session=f"S-{name}", **options)


def histories(memory) -> set[tuple[str, int, str]]:
    """Every history in a store: its root, length and last hash, which covers all of it."""
    ends = memory.store.read(lambda tx: tx.chain_ends())
    return {(root, last, digest.hex()) for root, last, digest in ends.values()}


def texts(memory) -> set[str]:
    """Every text in a store."""
    return {event.text for event in memory.events() if event.text}


def interleave(memories, remote: str, writes: int, partitions: int, seed: int = 7) -> set[str]:
    """Write on all machines in turn, mostly to tasks that they share, and sync often except in partitions.

    Returns what was written.
    """
    chance = random.Random(seed)
    written: set[str] = set()
    phase = writes // (2 * partitions + 1)
    tasks = [memories[0].task_register(f"Task {number}").task_id for number in range(4)]
    for memory in memories:
        memory.sync(remote)
    for number in range(writes):
        partitioned = (number // phase) % 2 == 1
        memory = chance.choice(memories)
        text = f"Write {number} of {chance.random()}"
        if chance.random() < 0.02:
            tasks.append(memory.task_register(text).task_id)
        else:
            here = [task for task in tasks if memory.store.read(lambda tx, task=task: tx.head(task))]
            memory.task_note(chance.choice(here), text)
        written.add(text)
        if not partitioned and chance.random() < 0.1:
            memory.sync(remote)
    return written


def settle(memories, remote: str) -> None:
    """Sync every machine until nothing moves."""
    moved = True
    while moved:
        reports = [memory.sync(remote) for memory in memories]
        moved = any(report.sent or report.received for report in reports)
