"""What rows of a packet are worth: `python bench/packet_worth.py --half tune`.

Feeds the cases of ../shared/data/crb as `adapter.py` does and takes the snapshot from which the packet is
made. For every entry and step that a row could show, in its short form, it asks with the rules of the kit
(`kit.Text.holds`) whether the row alone tells a truth of the case, and what that brings: 1 for a row of the
kit, divided by the number of its truths. It prints by kind how many rows there were, how often one held a
truth, and the mean gain times 1,000. `packet/worth.py` was set from these figures and then tuned on the same
half, with `recovery.py` as the judge. Sessions are split by their names.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from argparse import Namespace
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import adapter
from name_training import DATA, HERE, half

from ringbolt.model.types import Snapshot
from ringbolt.packet import resume_rows as rows
from ringbolt.packet.operations import read_whole_task
from ringbolt.packet.worth import kind_of_entry, kind_of_step

sys.path.insert(0, str(HERE.parent.parent / "shared" / "bench"))
import kit
import recovery

# Rows of the kit that single rows of a packet answer; requests and names are judged as a whole.
JUDGED = {
    "open items", "completed items", "current step", "next step", "decision: choice", "decision: reason",
    "user rejected", "error, then changed", "commits",
}  # fmt: skip


def snapshot(case: dict[str, Any], mode: str) -> Snapshot | None:
    """The state of a case's task after its events."""
    with tempfile.TemporaryDirectory() as folder:
        memory = adapter.Memory(Path(folder))
        memory.feed(kit.visible(case["events"], mode), mode)
        memory.block(500)
        found = memory.memory.task_list().tasks
        own = memory.memory
        result = own.store.read(lambda tx: read_whole_task(own, tx, found[0].id)) if found else None
        own.close()
    return result


def shown(task: Snapshot) -> Iterator[tuple[str, str]]:
    """The kind and the short form of each row that could be shown."""
    entries = (*task.decisions, *task.exclusions, *task.errors, *task.resolved)
    commits = [entry for entry in task.notes if "commit" in entry.tags]
    for entry in (*entries, *commits):
        make = rows.decision if entry.type == "decision" else rows.exclusion
        make = rows.settled if entry.status == "resolved" else rows.commit if entry in commits else make
        yield kind_of_entry(entry), make(entry, 1).forms[0][1]()
    for item in task.steps:
        yield kind_of_step(item), rows.step(item, 0, turn=True).forms[0][1]()


def main() -> int:
    parser = argparse.ArgumentParser(description="What rows of a packet are worth.")
    parser.add_argument("--half", choices=["tune", "check"], default="tune")
    parser.add_argument("--limit", type=int, help="so many cases only, for a quick look")
    options = parser.parse_args()
    cases = recovery.load(Namespace(data=DATA, kind=None, limit=options.limit))
    judged = [row for row in recovery.ROWS if row.name in JUDGED]
    totals = {row.name: sum(len(row.of(case)) for case in cases) for row in judged}
    count: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0.0])
    for mode in kit.MODES:
        for case in cases:
            task = snapshot(case, mode) if half(case["session"]) == options.half else None
            held_before: set[tuple[str, str]] = set()
            for kind, text in shown(task) if task else ():
                held = {
                    (row.name, truth.text)
                    for row in judged
                    for truth in row.of(case)
                    if kit.Text(text).holds(truth.text)
                }
                gain = sum(1 / totals[name] for name, _ in held - held_before)
                held_before |= held
                count[kind] = [a + b for a, b in zip(count[kind], (1, bool(held), gain), strict=True)]
    table = [[kind, int(n), hit / n, 1000 * gain / n] for kind, (n, hit, gain) in sorted(count.items())]
    print(kit.table(["kind", "rows", "tells a truth", "gain"], table))
    return 0


if __name__ == "__main__":
    sys.exit(main())
