# ruff: noqa: E501 - texts
"""Ask the questions of a file of JSON lines about its ledgers: `python bench/blind_questions.py FILE [--totals]`.

A line with `events` is a ledger; the lines after it with `q` are questions about it. `expect` are words that the answer must
have (one string for each fact, `|` between spellings), `evidence` numbers of events. The verdict that is printed is a rough
one: whoever reads the answers has the last word.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from ringbolt import TaskMemory
from ringbolt.model.types import Answer


class Told:
    """A ledger that was told to a store event by event."""

    def __init__(self, folder: Path, row: dict[str, Any]) -> None:
        self.now = 0.0
        self._zone = ZoneInfo(row["timezone"])
        self.memory = TaskMemory.open(
            folder / "store.db", workspace="/srv/project", session="bench", clock=lambda: self.now,
            synchronous="off", reserve_bytes=0, time_zone=row["timezone"],
        )  # fmt: skip
        self.task = ""
        self.seqs: dict[int, int] = {}
        for event in row["events"]:
            self._at(event["at"])
            self.seqs[event["n"]] = self._tell(event, row)
        self._at(row["now"])

    def _at(self, when: str) -> None:
        moment = datetime.fromisoformat(when)
        self.now = (moment if moment.tzinfo else moment.replace(tzinfo=self._zone)).timestamp()

    def _tell(self, event: dict[str, Any], row: dict[str, Any]) -> int:
        by = self.memory.acting_as(channel=event["who"])
        do, task = event["do"], self.task
        if do == "register":
            made = self.memory.acting_as(channel="user").task_register(
                row["request"].split(".")[0][:80], event["steps"], request=row["request"]
            )
            self.task = made.task_id
        elif do == "step":
            made = by.task_step_update(task, event["step"], status=event["status"])
        elif do == "message":
            made = by.task_update(task, event["text"])
        elif do == "next":
            made = by.task_update(task, next=event["text"])
        elif do == "block":
            made = by.task_update(task, blockers=event["blockers"])
        elif do == "note" and " = " in event["text"] and event["type"] == "variable":
            for pair in event["text"].split(", "):
                name, _, value = pair.partition(" = ")
                made = by.task_set(task, name.strip().replace(" ", "_"), value.strip())
        elif do == "note":
            kind = "context" if event["type"] == "variable" else event["type"]
            made = by.task_remember(task, event["text"], type=kind)
        elif do == "decide":
            made = by.task_decide(
                task, event["choice"],
                **{name: event[name] for name in ("title", "reasoning", "options", "risks", "if_wrong") if event.get(name)},
            )  # fmt: skip
        elif do == "exclude":
            made = by.task_exclude(task, event["what"], why=event["why"])
        elif do == "replan":
            made = self.memory.acting_as(channel="user").task_plan_replace(
                task, event["steps"], reason=event["why"]
            )
        elif do == "action":
            failed = event["status"] == "failed"
            made = by.task_log_action(
                task, event["input"], type=event["kind"], tool=event["name"], input={"command": event["input"]},
                output=event["output"], status=event["status"], error=event["output"] if failed else None,
            )  # fmt: skip
        else:
            raise SystemExit(f"no such event: {do}")
        return made.seq


def verdict(row: dict[str, Any], answer: Answer, seqs: dict[int, int]) -> str:
    if row["none"]:
        return "right" if not answer.recorded else "misleading?"
    said = answer.text.lower()
    met = [any(one in said for one in fact.lower().split("|")) for fact in row["expect"]]
    cited = {seqs[n] for n in row["evidence"]} & set(answer.cites)
    if not answer.recorded:
        return "half?" if any(met) or cited else "missed"
    if (met and all(met)) or (not met and cited):
        return "right"
    return "half?" if any(met) or cited else "misleading?"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--totals", action="store_true", help="print the figures alone")
    parser.add_argument("--wrong", action="store_true", help="print only what is not right")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    rows = [json.loads(line) for line in options.file.read_text().splitlines() if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        ledgers: dict[str, Told] = {}
        for row in (one for one in rows if "events" in one):
            place = Path(folder) / row["ledger"]
            place.mkdir()
            ledgers[row["ledger"]] = Told(place, row)
        for number, row in enumerate((one for one in rows if "q" in one), 1):
            told = ledgers[row["ledger"]]
            answer = told.memory.task_ask(row["q"], task_id=told.task)
            rated = verdict(row, answer, told.seqs)
            counts[rated] += 1
            if not options.totals and not (options.wrong and rated == "right"):
                wanted = (
                    "NONE" if row["none"] else f"{row['expect']} {[told.seqs[n] for n in row['evidence']]}"
                )
                print(f"{number} {rated:12} {row['q']}\n      want {wanted}\n      said {answer.text}")
        for told in ledgers.values():
            told.memory.close()
    print(dict(counts), {name: round(number / counts.total(), 3) for name, number in counts.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
