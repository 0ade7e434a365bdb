"""How well plans in prose are found and followed: `python bench/prose_plans.py`.

The to-do lists of recorded sessions are hidden; the sessions are read by `ProsePlan` alone, without the store
and the packet, so that it takes seconds. A to-do item counts as found when one line of the plan holds it (the
rule of the kit's `recovery.py`); `precision` is, of the to-do items that steps called completed hold, the
share that was completed. New requests are those of `labels/requests.json` where a session is labelled.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHARED = HERE.parents[1] / "shared"
sys.path.append(str(SHARED / "bench"))

import kit  # noqa: E402
from adapter import _observation  # noqa: E402
from plan_training import is_tuned  # noqa: E402

from ringbolt.progress.prose_plan import ProsePlan, Step  # noqa: E402


def boundaries() -> dict[str, set[int]]:
    """The prompts that begin new requests, by session."""
    streams = json.loads((HERE / "labels" / "requests.json").read_text("utf-8"))
    return {row["session"]: set(row.get("new", ())) for rows in streams.values() for row in rows}


def replay(events: list[dict[str, Any]], new: set[int]) -> ProsePlan:
    """Read a session."""
    plan = ProsePlan()
    first = True
    for event in events:
        kind, at = event["k"], event["i"]
        if kind == "user":
            plan.hear_user(at, event["text"], new_request=first or at in new)
            first = False
        elif kind == "assistant":
            plan.hear(at, event["text"])
        elif kind in ("call", "result") and (seen := _observation(event)) is not None:
            plan.act(seen)
    return ProsePlan(json.loads(json.dumps(plan.state())))


def lines(steps: list[Step]) -> kit.Text:
    return kit.Text("\n".join(f'[ ] p1 a "{step.title}"; note {step.note or ""}' for step in steps))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=SHARED / "data")
    parser.add_argument("--show", metavar="SESSION", help="print the plans of a session, or `all`")
    options = parser.parse_args()
    new = boundaries()
    sums: dict[str, Counter[str]] = {}
    spent = events_read = 0.0
    for case in kit.read_lines(options.data / "crb" / "cases.jsonl"):
        events = kit.visible(kit.trace(options.data, case["session"])[: case["cut"]], "inferred")
        begun = time.perf_counter()
        plan = replay(events, new.get(case["session"], set()))
        spent += time.perf_counter() - begun
        events_read += len(events)
        items = case["plan"]["items"]
        steps = plan.steps()
        whole, over = lines(steps), lines([step for step in steps if step.status == "completed"])
        at_work = lines([step for step in steps if step.status == "active"])
        group = "tuned" if is_tuned(case["session"], case["repo"]) else f"not tuned, {case['repo']}"
        if options.show and (options.show == "all" or case["session"].startswith(options.show)):
            print(f"\n=== {case['session']} {case['cut']} {group} next: {plan.next_step}")
            for item in items:
                print(f"   {'+' if whole.holds(item['text']) else '-'} {item['status'][:4]} {item['text']}")
            for step in steps:
                print(f"      [{step.status[0]}] {step.title}" + (f" ({step.note})" if step.note else ""))
        for name in (group, "all", *(["not tuned"] if group != "tuned" else [])):
            found = sums.setdefault(name, Counter())
            found["cases"] += 1
            found["steps"] += len(steps)
            if not items:
                continue
            for status in ("completed", "in_progress", "pending"):
                own = [item["text"] for item in items if item["status"] == status]
                found[f"{status} n"] += len(own)
                found[f"{status} hit"] += sum(map(whole.holds, own))
            found["next n"] += bool(case["plan"]["next"])
            found["next hit"] += bool(case["plan"]["next"]) and whole.holds(case["plan"]["next"])
            named = [item["status"] == "completed" for item in items if over.holds(item["text"])]
            rest = lines([step for step in steps if step.status != "completed"])
            still = [item["status"] != "completed" for item in items if rest.holds(item["text"])]
            found["open precision n"] += len(still)
            found["open precision hit"] += sum(still)
            found["precision n"] += len(named)
            found["precision hit"] += sum(named)
            found["current shown"] += sum(
                at_work.holds(item["text"]) for item in items if item["status"] == "in_progress"
            )
    for name, found in sums.items():
        print(f"{name}: {_figures(found)}")
    print(f"{spent / events_read * 1000:.3f} ms an event")
    return 0


def _figures(found: Counter[str]) -> str:
    def share(hits: float, many: int) -> str:
        return f"{hits / max(1, many):.2f} of {many}"

    opened, many = (found[f"in_progress {one}"] + found[f"pending {one}"] for one in ("hit", "n"))
    parts = [f"open {share(opened, many)}"]
    for name, key in (("completed", "completed"), ("current", "in_progress"), ("next", "next")):
        parts.append(f"{name} {share(found[f'{key} hit'], found[f'{key} n'])}")
    parts.append(f"shown as current {found['current shown']}")
    parts.append(f"called completed: precision {share(found['precision hit'], found['precision n'])}")
    parts.append(f"called open: {share(found['open precision hit'], found['open precision n'])}")
    parts.append(f"recall {found['precision hit'] / max(1, found['completed n']):.2f}")
    return f"{', '.join(parts)}; {found['steps'] / found['cases']:.1f} steps"


if __name__ == "__main__":
    sys.exit(main())
