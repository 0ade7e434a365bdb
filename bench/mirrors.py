"""What mirrors cost: `python bench/mirrors.py`. Ratios measured in one run, as in bench/speed.py."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from speed import (
    MESSAGE,
    Figure,
    at_most,
    in_turn,
    machine,
    percentiles,
    ratio,
    scratch_folder,
    seconds_of,
    table,
    timed,
)

from ringbolt import TaskMemory

PLAN = [f"Step {number}: build, test and release part {number}" for number in range(20)]


def opened(folder: str, name: str, **options: str) -> TaskMemory:
    # Not in the workspace: that would be the repository which the scratch folder stands in.
    mirrors = str(Path(folder) / f"mirrors-{name}")
    place = str(Path(folder) / f"{name}.db")
    return TaskMemory.open(place, workspace="bench", mirror_folder=mirrors, **options)


def burst(folder: str, rounds: int, calls: int) -> list[Figure]:
    """A burst of writes with and without the mirror, to its very end: closing is part of it."""

    def seconds(name: str, **options: str) -> float:
        memory = opened(folder, name, **options)
        task = memory.task_register("burst", PLAN).task_id
        begin = time.perf_counter()
        for _ in range(calls):
            memory.task_update(task, MESSAGE)
        memory.close()
        return time.perf_counter() - begin

    found = in_turn(
        rounds, plain=lambda: seconds("plain"), mirrored=lambda: seconds("mirrored", mirrors="state")
    )
    value, note = ratio(found["mirrored"], found["plain"])
    each = sorted(found["plain"])[rounds // 2] / calls * 1000
    return [at_most(f"{calls} updates, mirror / none", value, 2, f"{note}; {each:.2f} ms an update without")]


def alone(folder: str, calls: int) -> list[Figure]:
    """One write after a quiet time, which refreshes the mirror itself."""
    times: dict[str, list[float]] = {"plain": [], "mirrored": []}
    for name, options in (("plain", {}), ("mirrored", {"mirrors": "state"})):
        with opened(folder, f"alone-{name}", **options) as memory:
            task = memory.task_register("alone", PLAN).task_id

            def write(memory: TaskMemory = memory, task: str = task) -> None:
                if memory._mirrors is not None:
                    memory._mirrors._due = 0.0
                memory.task_update(task, MESSAGE)

            for _ in range(calls):
                timed(write, times[name])()
    return [Figure(f"one update, {name}, p50 / p99", percentiles(values)) for name, values in times.items()]


def opening(folder: str, rounds: int) -> list[Figure]:
    """Opening and closing a store whose 50 mirrors are all up to date."""
    with opened(folder, "open", mirrors="state") as memory:
        for number in range(50):
            memory.task_register(f"Task {number}", PLAN)
    found = in_turn(
        rounds,
        plain=lambda: seconds_of(lambda: opened(folder, "open").close(), 20) / 20,
        mirrored=lambda: seconds_of(lambda: opened(folder, "open", mirrors="state").close(), 20) / 20,
    )
    more = sorted(a - b for a, b in zip(found["mirrored"], found["plain"], strict=True))[rounds // 2] * 1000
    plain = sorted(found["plain"])[rounds // 2] * 1000
    return [
        Figure(
            "opening with 50 fresh mirrors, more than without", f"{more:.2f} ms", note=f"of {plain:.2f} ms"
        )
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, less exact")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a goal is missed")
    options = parser.parse_args()
    print(" · ".join(f"{name} {value}" for name, value in machine().items()), flush=True)
    with scratch_folder() as folder:
        os.environ["XDG_DATA_HOME"] = folder
        figures = burst(folder, 3 if options.quick else 5, 500 if options.quick else 2000)
        figures += alone(folder, 100)
        figures += opening(folder, 5)
    print(f"\n{table(figures)}")
    return 1 if options.gate and any(figure.ok is False for figure in figures) else 0


if __name__ == "__main__":
    sys.exit(main())
