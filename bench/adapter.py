"""Holdfast for the benchmarks: `python ../shared/bench/recall.py --adapter bench/adapter.py`.

Everything goes through the public operations. HOLDFAST_EMBEDDER=static searches with vectors too.
"""

from __future__ import annotations

import re
import time
from calendar import timegm
from pathlib import Path
from typing import Any

from holdfast import TaskMemory
from holdfast.distill.progress import Observation, Progress


class Memory:
    """A store in a folder, with a clock that a benchmark sets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._now = time.time()
        self._open()

    def _open(self) -> None:
        self.memory = TaskMemory.open(
            self._folder / "store.db", workspace="/bench", session="bench", clock=lambda: self._now
        )

    def reopen(self) -> None:
        self.memory.close()
        self._open()

    def recall_index(self, docs: list[dict[str, str]]) -> None:
        """A conversation is a task, each turn a message of its speaker."""
        task = self.memory.task_register("Conversation").task_id
        ids = [""]
        for doc in docs:
            self._now = _seconds(doc["time"]) or self._now
            self.memory.acting_as(agent=doc["speaker"]).task_update(task, doc["text"])
            ids.append(doc["id"])
        self._folder.joinpath("ids").write_text("\n".join(ids), encoding="utf-8")

    def recall(self, query: str, k: int) -> list[str]:
        ids = self._folder.joinpath("ids").read_text(encoding="utf-8").split("\n")
        found = self.memory.task_recall(query, limit=k, types="message", titles=True)
        return [ids[hit.seq - 1] for hit in found.hits]

    def progress(self, items: list[str], events: list[dict[str, Any]]) -> dict[str, Any]:
        """Which items of a plan are over, judged from the work alone."""
        belief = Progress(items)
        for event in events:
            if (seen := _observation(event)) is not None:
                belief.observe(seen)
        completed = [finding.item for finding in belief.findings() if finding.status == "completed"]
        return {"completed": completed, "current": belief.current}


def _observation(event: dict[str, Any]) -> Observation | None:
    """An event of a benchmark as an observation; others say nothing about a plan."""
    at, kind = event["i"], event["k"]
    if kind in ("assistant", "user"):
        return Observation(at=at, kind="agent" if kind == "assistant" else "user", text=event["text"])
    if kind == "call":
        return Observation(at=at, kind="action", tool=event["tool"], input=event["input"])
    if kind == "result":
        ok = not event["error"]
        return Observation(at=at, kind="outcome", of=event["call_i"], ok=ok, text=event["text"])
    return None


def _seconds(said: str) -> float | None:
    """Seconds since 1970 of a time like "1:56 pm on 8 May, 2023"."""
    found = re.search(r"(\d+):(\d+) ([ap]m) on (\d+) (\w+), (\d{4})", said)
    if found is None:
        return None
    hour = int(found[1]) % 12 + 12 * (found[3] == "pm")
    day = time.strptime(f"{found[4]} {found[5][:3]} {found[6]}", "%d %b %Y")
    return timegm((day.tm_year, day.tm_mon, day.tm_mday, hour, int(found[2]), 0))


def open_adapter(folder: Path) -> Any:
    """What the benchmarks ask for."""
    return Memory(folder)
