"""What a long history costs: `python bench/history.py [EVENTS …]` (default: 100, 10,000 and 100,000).

One task of a realistic mix is written for each length; then the present, several past states, an undo, the
list of plans and `verify` are timed in turn, in CPU time. Times depend on the machine: the figures are
multiples of reading the present of the same task, and of the same thing on the shortest task.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

sys.path.insert(0, str(Path(__file__).parents[1]))

from ringbolt import TaskMemory
from ringbolt.ledger.one_transaction import OneTransaction

MIX = "mamdmamvmammmdmammam"  # 60% messages, 25% actions, 10% decisions, 5% variables
PAGE = 2000
ROUNDS = 7


def filled(path: Path, events: int) -> TaskMemory:
    """A store with one task of so many events."""
    memory = TaskMemory.open(
        path, workspace="/shop", session="s", agent="bench", progress="off", extraction="off", summary_every=0
    )
    task = memory.task_register("Shop", plan=[f"Step {number}" for number in range(1, 9)]).task_id
    for begin in range(1, events, PAGE):

        def work(tx: Any, begin: int = begin) -> None:
            writer = TaskMemory(
                cast("Any", OneTransaction(tx, memory.store)),
                memory.settings,
                origin=memory.origin,
                workspace="/shop",
            )
            for number in range(begin, min(events, begin + PAGE)):
                write(writer, task, number)

        memory.store.write(work)
    return memory


def write(memory: TaskMemory, task: str, number: int) -> None:
    """One event of the mix."""
    step = number // 500 % 8 + 1
    match MIX[number % len(MIX)]:
        case _ if number % 500 == 7:
            memory.task_update(
                task, f"next {number}", step=step, step_status="active", next=f"go on {number}"
            )
        case _ if number % 500 == 8:
            memory.task_step_update(task, step, status="completed" if number % 1000 == 8 else "pending")
        case "a":
            memory.task_log_action(
                task, f"Ran the suite {number}", type="cli", tool="bash", input={"command": "make test"},
                output={"exit": 0}, files=[f"src/{number % 300}.py"] if number % 3 == 0 else None,
            )  # fmt: skip
        case "d":
            memory.task_decide(task, choice=f"choice {number} of the index", reasoning="because of it")
        case "v":
            memory.task_set(task, f"name{number % 5}", number)
        case _:
            memory.task_update(task, f"The migration went through on try {number}; the lock was held.")


def seconds(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The shortest CPU time of a call: others may be using the machine."""
    times: list[float] = []
    for _ in range(rounds):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return min(times)


def measured(memory: TaskMemory) -> dict[str, float]:
    """Each row's time in milliseconds; for `verify`, the events per second of CPU."""
    task = memory.store.read(lambda tx: tx.task_ids())[0]
    last = memory.task_get(task).seq
    rows = {"present": seconds(lambda: memory.task_get(task))}
    for share in (0.1, 0.5, 0.9):
        seq = max(2, round(last * share))
        rows[f"past at {share:.0%}"] = seconds(lambda seq=seq: memory.task_get(task, at=seq))
    rows["undo"] = seconds(lambda: memory.task_undo(task))
    rows["plans"] = seconds(lambda: memory.task_plans(task), 3)
    times = {name: 1000 * value for name, value in rows.items()}
    begin = time.process_time()
    report = memory.verify(task)
    if not report.ok:
        raise RuntimeError(report.problems)
    return {**times, "verify, events/s": report.events / (time.process_time() - begin)}


def main() -> None:
    lengths = [int(word.replace(",", "")) for word in sys.argv[1:]] or [100, 10_000, 100_000]
    found: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for events in lengths:
            with filled(Path(folder) / f"{events}.db", events) as memory:
                found[events] = measured(memory)
    print("| | " + " | ".join(f"{events:,} events" for events in lengths) + " |")
    for name in found[lengths[0]]:
        cells = [
            f"{rows[name]:,.0f}"
            if "verify" in name
            else f"{rows[name]:.1f} ms, {rows[name] / rows['present']:.1f} × present,"
            f" {rows[name] / found[lengths[0]][name]:.1f} × the first"
            for rows in found.values()
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
