"""Holdfast for the benchmarks: `python ../shared/bench/recall.py --adapter bench/adapter.py`.

What happens goes through the code that hosts use (hosts/capture.py), what is asked for through the public
operations. HOLDFAST_EMBEDDER=static searches with vectors too.
"""

from __future__ import annotations

import re
import time
from calendar import timegm
from pathlib import Path
from typing import Any

from holdfast import TaskMemory
from holdfast.distill.progress import Observation, Progress
from holdfast.hosts.capture import Capture
from holdfast.views.packet import resume_packet


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

    def feed(self, events: list[dict[str, Any]], mode: str) -> None:
        """Capture a session as a host would, and distil it as is done before a compaction."""
        feeding = Feeding(Capture(self.memory))
        for event in events:
            self._now = max(self._now, _stamp(event["ts"])) if feeding.begun else _stamp(event["ts"])
            feeding.take(event)
        feeding.end()
        self.memory.task_distill()

    def block(self, budget_tokens: int) -> str:
        """What the agent is given after the compaction; the kit counts four bytes as a token."""
        return resume_packet(self.memory._snapshot(None), budget_tokens, count=_kit_tokens).text

    def ask(self, question: str) -> str:
        return self.memory.task_ask(None, question).text if hasattr(self.memory, "task_ask") else ""

    def search(self, query: str, k: int) -> list[str]:
        return [hit.snippet or hit.title for hit in self.memory.task_recall(query, limit=k).hits]

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


class Feeding:
    """The events of the kit, in the words of a host."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._calls: dict[int, dict[str, Any]] = {}
        self.begun = False

    def take(self, event: dict[str, Any]) -> None:
        self.begun = self.begun or event["k"] != "meta"
        getattr(self, f"_{event['k']}", lambda event: None)(event)

    def end(self) -> None:
        """Calls whose result never came are still under way: nothing to say about them yet."""
        self._calls.clear()

    def _user(self, event: dict[str, Any]) -> None:
        self._capture.prompt(event["text"])

    def _assistant(self, event: dict[str, Any]) -> None:
        self._capture.message(event["text"])

    def _meta(self, event: dict[str, Any]) -> None:
        if self.begun:
            self._capture.notice(event["text"])

    def _call(self, event: dict[str, Any]) -> None:
        self._calls[event["i"]] = event

    def _result(self, event: dict[str, Any]) -> None:
        call = self._calls.pop(event.get("call_i", -1), None)
        # The kit has clipped long outputs and lists the names that were in the rest: they were in the output.
        rest = " ".join(value for _, value in event.get("ents") or ())
        output = f"{event['text']}\n{rest}" if rest else event["text"]
        self._capture.tool(event["tool"], call["input"] if call else {}, output, failed=event["error"])

    def _plan(self, event: dict[str, Any]) -> None:
        # The ids of TodoWrite are places in the list: they name nothing.
        ids = event["src"] != "TodoWrite"
        keep = ("text", "status", "id") if ids else ("text", "status")
        self._capture.todo([{name: item[name] for name in keep} for item in event["items"]])

    def _decision(self, event: dict[str, Any]) -> None:
        if event["src"] == "AskUserQuestion":
            self._capture.answered(event["questions"], event["answers"])
        elif event["src"] == "ExitPlanMode":
            self._capture.planned(event["plan"] or "", bool(event["approved"]))
        else:
            tags = [event["tag"]] if event.get("tag") else None
            self._capture.decided(event["choice"], reasoning=event.get("reason"), tags=tags)

    def _state(self, event: dict[str, Any]) -> None:
        values = {name: event.get(name) for name in ("phase", "plan", "status")}
        self._capture.state(values, event.get("blockers") or [])


def _kit_tokens(text: str) -> int:
    return (len(text.encode()) + 3) // 4


def _stamp(ts: str) -> float:
    return timegm(time.strptime(ts[:19], "%Y-%m-%dT%H:%M:%S"))


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
