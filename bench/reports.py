"""Reports that move a plan: which steps does a message of `task_update` move, with messages alone?

    .venv/bin/python bench/reports.py [--half tune|held|all] [--set FILE] [--show]

Each plan of `labels/reports.txt` is registered in a store of its own, and its messages are sent in order; an
error therefore also costs what follows from it, as it would an agent. Figures per language and per act:

- `moved`: of the steps that a message completes, fails, skips or reopens, the share that moved with it;
- `false`: the share of messages that gave any step a status that the message does not say;
- `current`: the share of messages after which the step in work, or else the next one, is the right one;
- `asked`: the messages whose reply asks about a step, and changes no status.
`--show` lists what went wrong in the tuned half; the other half is only counted.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ringbolt import TaskMemory

LABELS = Path(__file__).parent / "labels" / "reports.txt"
SHOWN = (
    "tune",
    "held",
    "trades-tune",
    "trades-held",
    "more",
    "last",
    "final",
    "indirect",
    "july",
    "messages_a",
)  # halves that were tuned on
STATUSES = {"done": "completed", "fail": "failed", "skip": "skipped", "open": "open"}


@dataclass
class Report:
    """A message, its act, and its effects as pairs of a word and the number of a step."""

    text: str
    act: str
    effects: list[tuple[str, int]]


@dataclass
class Plan:
    half: str
    language: str
    trade: str
    name: str
    steps: list[str] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)


@dataclass
class Count:
    messages: int = 0
    due: int = 0
    moved: int = 0
    false: int = 0
    current: int = 0
    asked: int = 0

    def row(self) -> list[str]:
        def share(part: int, whole: int) -> str:
            return f"{part / whole:.3f}" if whole else "-"

        return [
            str(self.messages),
            str(self.due),
            share(self.moved, self.due),
            share(self.false, self.messages),
            share(self.current, self.messages),
            str(self.asked),
        ]


def read_json_plans(path: Path) -> list[Plan]:
    """Plans and messages as JSON lines: a line with `steps` is a plan, those after it its messages."""
    plans: list[Plan] = []
    for line in path.read_text().splitlines():
        row = json.loads(line)
        if "steps" in row:
            plans.append(Plan(path.stem, row["lang"], row["trade"], row["plan"], row["steps"]))
            continue
        effects = [("done", step) for step in row["completes"]]
        effects += [("open", step) for step in row["reopens"]]
        effects += [("now", row["current"])] if row["current"] else []
        plans[-1].reports.append(Report(row["text"], "any", effects))
    return plans


def read_plans(path: Path) -> list[Plan]:
    if path.suffix == ".jsonl":
        return read_json_plans(path)
    plans: list[Plan] = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or (line.startswith("#") and not line.startswith("##")):
            continue
        if line.startswith("## "):
            plans.append(Plan(*(part.strip() for part in line[3:].split("|"))))
        elif "||" in line:
            text, _, label = line.rpartition("||")
            act, _, effects = label.partition("|")
            found = [
                (word, int(step)) for word, step in re.findall(r"(done|now|fail|skip|open) (\d+)", effects)
            ]
            if not found and effects.strip() != "-":
                raise SystemExit(f"{path}:{number}: no effects in {line!r}")
            plans[-1].reports.append(Report(text.strip(), act.strip(), found))
        else:
            plans[-1].steps.append(line.split(" ", 1)[1])
    return plans


def statuses(memory: TaskMemory, task: str) -> dict[int, str]:
    """The status of each step by its number; pending and active count as open."""
    found = memory.task_get(task).steps
    return {
        n: "open" if item.status in ("pending", "active") else item.status for n, item in enumerate(found, 1)
    }


def wanted_current(plan: Plan, upto: int) -> int | None:
    """The step in work after some reports, by their labels: the one begun last, or the first open one."""
    state = dict.fromkeys(range(1, len(plan.steps) + 1), "open")
    begun: int | None = None
    for report in plan.reports[:upto]:
        for word, step in report.effects:
            if word in ("now", "open"):
                begun, state[step] = step, "open"
            elif word in STATUSES:
                state[step] = STATUSES[word]
    if begun is not None and state[begun] == "open":
        return begun
    return next((step for step, status in state.items() if status == "open"), None)


def told(plan: Plan, memory: TaskMemory) -> Iterator[tuple[Report, dict[int, str], int | None, bool]]:
    """Send the reports of a plan: what each changed, the step in work after it, whether the reply asks."""
    task = memory.task_register(plan.name, plan.steps).task_id
    before = statuses(memory, task)
    for report in plan.reports:
        written = memory.task_update(task, report.text)
        after = statuses(memory, task)
        changed = {step: status for step, status in after.items() if before[step] != status}
        here = written.current or written.next
        items = [item.id for item in memory.task_get(task).steps]
        asks = bool(getattr(written, "asks", ()))
        yield report, changed, items.index(here) + 1 if here else None, asks
        before = after


def measure(plans: list[Plan], show: bool) -> dict[str, Count]:
    counts: dict[str, Count] = defaultdict(Count)
    for plan in plans:
        with tempfile.TemporaryDirectory(prefix="reports-") as folder:
            memory = TaskMemory.open(Path(folder) / "store.db", workspace="/bench", session="bench")
            for place, (report, changed, here, asks) in enumerate(told(plan, memory), 1):
                due = {step: STATUSES[word] for word, step in report.effects if word in STATUSES}
                wrong = {step for step, status in changed.items() if due.get(step) != status}
                missed = {step for step, status in due.items() if changed.get(step) != status}
                right = here == wanted_current(plan, place)
                for name in ("all", f"language {plan.language}", f"act {report.act}"):
                    count = counts[name]
                    count.messages += 1
                    count.due += len(due)
                    count.moved += len(due) - len(missed)
                    count.false += bool(wrong)
                    count.current += right
                    count.asked += asks
                if show and plan.half in SHOWN and (wrong or missed or not right):
                    marks = (("FALSE", wrong), ("missed", missed), ("current", not right))
                    what = " ".join(name for name, applies in marks if applies)
                    print(
                        f"{what:16} {plan.name}: {report.text!r}\n{'':17}due {report.effects},"
                        f" moved {changed}, at {here}, asks {asks}"
                    )
            memory.close()
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", default="all", metavar="HALF")
    parser.add_argument("--set", type=Path, default=LABELS)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    plans = read_plans(args.set)
    halves = sorted({plan.half for plan in plans}) if args.half == "all" else [args.half]
    for half in halves:
        chosen = [plan for plan in plans if plan.half == half]
        counts = measure(chosen, args.show)
        print(f"\n{half}: {len(chosen)} plans")
        print(f"{'':20}{'messages':>10}{'due':>6}{'moved':>8}{'false':>8}{'current':>9}{'asked':>7}")
        for name, count in counts.items():
            cells = count.row()
            print(f"{name:20}{cells[0]:>10}{cells[1]:>6}{cells[2]:>8}{cells[3]:>8}{cells[4]:>9}{cells[5]:>7}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
