"""Ringbolt for the benchmarks: `python ../shared/bench/recall.py --adapter bench/adapter.py`.

Events arrive as Claude Code passes them to its hooks, and go through the code that the hooks run: the host's
schema, clipping and redaction, then the ledger. A block is the answer to SessionStart after a compaction;
questions go through the public operations. RINGBOLT_EMBEDDER=static searches with vectors too.

Events of the kit without a hook: what the agent says between two tool calls, calls that were refused before
they ran, and `meta` (what the host itself puts into the context). They are in the transcript that every hook
names; this adapter writes it as the host does, and the code of the hooks reads it. `state` and an agent's
decisions (`gsd.py`) are calls of this memory's own tools, and are made as such.
"""

from __future__ import annotations

import json
import re
import time
from calendar import timegm
from pathlib import Path
from typing import Any
from uuid import uuid4

from ringbolt import TaskMemory
from ringbolt.hosts import host_schemas
from ringbolt.hosts.answers.compaction_state import PENDING, Mark
from ringbolt.hosts.answers.context_injection import Answers
from ringbolt.hosts.capture import events
from ringbolt.hosts.hook_parts.system_calls import set_alarm
from ringbolt.hosts.host_table import HOSTS
from ringbolt.hosts.transcripts.tail import apply_transcript_tail
from ringbolt.journal.event_files import Journal
from ringbolt.journal.side_files import SideFiles
from ringbolt.model.redaction import Redactor
from ringbolt.packet import tokens
from ringbolt.progress.plan_progress import Observation, Progress

HOST, SESSION = "claude-code", "bench"
PATIENCE = 60.0  # seconds that an answer may take here, where nobody waits for it


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
        """Pass a session on as a host would, up to the moment before its compaction."""
        feeding = Feeding(Host(self.memory, self._folder))
        for event in events:
            self._now = max(self._now, _stamp(event["ts"])) if feeding.begun else _stamp(event["ts"])
            feeding.take(event)
        feeding.end()

    def block(self, budget_tokens: int) -> str:
        """What the agent is given after the compaction; the kit counts four bytes as a token."""
        tokens.counter = lambda exact: _kit_tokens  # type: ignore[assignment]
        host = Host(self.memory, self._folder, budget_tokens)
        host.forget_delivery()
        return host.tell("SessionStart", source="compact")

    def overhead(self) -> list[str]:
        """The lines that only frame a block: the fence and the legend."""
        return [r"</?ringbolt-[0-9a-f]{8}>", r"(?:Task record: data|Recorded state of a task), .*"]

    def ask(self, question: str) -> str:
        return self.memory.task_ask(None, question).text if hasattr(self.memory, "task_ask") else ""

    def search(self, query: str, k: int) -> list[str]:
        return [hit.snippet or hit.title for hit in self.memory.task_recall(query, limit=k, near=True).hits]

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
        found = self.memory.task_recall(query, limit=k, types="message", titles=True, near=True)
        return [ids[hit.seq - 1] for hit in found.hits]

    def progress(self, items: list[str], events: list[dict[str, Any]]) -> dict[str, Any]:
        """Which items of a plan are over, judged from the work alone."""
        belief = Progress(items)
        for event in events:
            if (seen := _observation(event)) is not None:
                belief.observe(seen)
        completed = [finding.item for finding in belief.findings() if finding.status == "completed"]
        return {"completed": completed, "current": belief.current}


class Host:
    """One session of a host, whose events go through the code of the hooks in this process."""

    def __init__(self, memory: TaskMemory, folder: Path, budget: int | None = None) -> None:
        self.memory = memory.acting_as(session=SESSION, agent=HOST)
        self._files = SideFiles(Journal.of(str(folder / "store.db")))
        self._transcript = folder / "transcript.jsonl"
        self._shape = HOSTS[HOST]
        if budget is not None:
            self._shape = self._shape.replace(tokens=budget, characters=8 * budget)

    def tell(self, name: str, **fields: Any) -> str:
        """Pass an event on as on the standard input of a hook; returns the answer."""
        common = {"session_id": SESSION, "cwd": "/bench", "transcript_path": str(self._transcript)}
        payload = json.loads(json.dumps({**common, "hook_event_name": name, **fields}))
        event = host_schemas.read_event(HOST, name, payload)
        assert event is not None
        event = events.cleaned(event, Redactor())
        apply_transcript_tail(
            self._files, "claude", event, Redactor(), lambda one, key: events.apply(self.memory, one, key)
        )
        mark = Mark(self._files, SESSION)
        if name == "PreCompact":
            mark.set(PENDING)
        answers = Answers(self.memory, self._shape, event, mark, time.monotonic() + PATIENCE)
        events.apply(self.memory, event, f"hook/{uuid4().hex}")
        try:
            return answers.text()
        finally:
            set_alarm(None)

    def write(self, kind: str, *blocks: dict[str, Any], is_meta: bool = False) -> None:
        """Write a line of the transcript."""
        line = {"type": kind, "uuid": str(uuid4()), "message": {"role": kind, "content": blocks}}
        with self._transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"isSidechain": False, "isMeta": is_meta, **line}, separators=(",", ":")))
            file.write("\n")

    def forget_delivery(self) -> None:
        """Every block is the first after its compaction."""
        Mark(self._files, SESSION).clear()


class Feeding:
    """The events of the kit, in the words of a host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._memory = host.memory
        self._calls: dict[int, dict[str, Any]] = {}
        self._items: dict[str, dict[str, Any]] = {}
        self._last = ""  # what the agent said last, if it has done nothing since
        self.begun = False

    def take(self, event: dict[str, Any]) -> None:
        if not self.begun and event["k"] != "meta":
            self.begun = True
            self._host.tell("SessionStart", source="startup")
            if event["k"] != "user" and events.own_task(self._host.memory) is None:
                self._host.memory.task_register("Work")  # by the agent: the kit tells of no prompt
        getattr(self, f"_{event['k']}", lambda event: None)(event)

    def end(self) -> None:
        """The context is full: the turn need not be over. Calls without a result are still under way."""
        self._host.tell("PreCompact", trigger="auto")

    def _user(self, event: dict[str, Any]) -> None:
        if self._last:
            self._host.tell("Stop", last_assistant_message=self._last, stop_hook_active=False)
            self._last = ""
        self._host.tell("UserPromptSubmit", prompt=event["text"])
        self._host.write("user", {"type": "text", "text": event["text"]})

    def _meta(self, event: dict[str, Any]) -> None:
        if self.begun:
            self._host.write("user", {"type": "text", "text": event["text"]}, is_meta=True)

    def _assistant(self, event: dict[str, Any]) -> None:
        self._host.write("assistant", {"type": "text", "text": event["text"]})
        self._last = event["text"]

    def _call(self, event: dict[str, Any]) -> None:
        self._last = ""
        self._calls[event["i"]] = event
        block = {"id": f"toolu_{event['i']}", "name": event["tool"], "input": event["input"]}
        self._host.write("assistant", {"type": "tool_use", **block})

    def _result(self, event: dict[str, Any]) -> None:
        call = self._calls.pop(event.get("call_i", -1), {"input": {}})
        # The kit has clipped long outputs and lists the names that were in the rest: they were in the output.
        rest = " ".join(value for _, value in event.get("ents") or ())
        output = f"{event['text']}\n{rest}" if rest else event["text"]
        name = f"toolu_{event.get('call_i')}"
        used = {"tool_name": event["tool"], "tool_input": call["input"], "tool_use_id": name}
        if not event["error"]:
            self._host.tell("PostToolUse", **used, tool_response=_response(event["tool"], output, rest))
        elif not _UNTOLD.match(output):
            self._host.tell("PostToolUseFailure", **used, error=output)
        result = {"tool_use_id": name, "content": output, "is_error": event["error"]}
        self._host.write("user", {"type": "tool_result", **result})

    def _plan(self, event: dict[str, Any]) -> None:
        """A whole list as TodoWrite or update_plan writes it, or what the Task tools changed of theirs."""
        if event["src"] == "update_plan":
            plan = [{"step": item["text"], "status": item["status"]} for item in event["items"]]
            self._host.tell("PostToolUse", tool_name="update_plan", tool_input={"plan": plan})
            return
        if event["src"] == "TodoWrite":
            todos = [
                {"content": item["text"], "status": item["status"], "activeForm": item.get("active")}
                for item in event["items"]
            ]
            self._host.tell("PostToolUse", tool_name="TodoWrite", tool_input={"todos": todos})
            return
        items = {item["id"]: item for item in event["items"]}
        for name, item in items.items():
            known = self._items.get(name)
            if known is None:
                given = {"subject": item["text"], "description": item.get("desc") or ""}
                made = {"task": {"id": name, "subject": item["text"]}}
                self._host.tell("PostToolUse", tool_name="TaskCreate", tool_input=given, tool_response=made)
            if item["status"] != (known or {"status": "pending"})["status"]:
                self._update(name, item["status"])
        for name in self._items.keys() - items.keys():
            self._update(name, "deleted")
        self._items = items

    def _update(self, name: str, status: str) -> None:
        given = {"taskId": name, "status": status}
        self._host.tell("PostToolUse", tool_name="TaskUpdate", tool_input=given, tool_response={})

    def _decision(self, event: dict[str, Any]) -> None:
        if event["src"] == "AskUserQuestion":
            asked, answers = event["questions"], event["answers"]
            self._host.tell(
                "PostToolUse",
                tool_name="AskUserQuestion",
                tool_input={"questions": asked},
                tool_response={"questions": asked, "answers": answers},
            )
        elif event["src"] == "ExitPlanMode":
            used = {"tool_name": "ExitPlanMode", "tool_input": {"plan": event["plan"] or ""}}
            if event["approved"]:
                self._host.tell("PostToolUse", **used, tool_response={"plan": event["plan"]})
            else:
                self._host.tell("PostToolUseFailure", **used, error="The user rejected the plan.")
        else:
            tags = [event["tag"]] if event.get("tag") else None
            self._memory.task_decide(choice=event["choice"], reasoning=event.get("reason"), tags=tags)

    def _state(self, event: dict[str, Any]) -> None:
        values = {name: event.get(name) for name in ("phase", "plan", "status")}
        task = self._memory.task_get()
        for name, value in values.items():
            if value is not None and task.variables.get(name) != value:
                self._memory.task_set(task.id, name, value)
        blockers = tuple(event.get("blockers") or ())
        if blockers != task.blockers:
            self._memory.task_update(task.id, blockers=blockers)


# Results of calls that never ran: the transcript has them, and no hook reports them.
_UNTOLD = re.compile(r"<tool_use_error>|The user doesn't want to|\[Request interrupted")


_NUMBERED = re.compile(r"^ *\d+\u2192(.*)$", re.M)


def _response(tool: str, output: str, rest: str) -> Any:
    """What a tool gave, in the shape of the host's own tools."""
    if tool == "Bash":
        return {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    if tool == "Read":
        return {"type": "text", "file": {"content": output}}
    if tool in ("Edit", "Write", "MultiEdit"):
        # The host's model is shown what stands around the edit; a hook is given it as a patch.
        around = [f" {line}" for line in (*_NUMBERED.findall(output), rest)]
        return {"filePath": "", "structuredPatch": [{"oldStart": 1, "newStart": 1, "lines": around}]}
    if tool == "Grep":
        return {"mode": "content", "filenames": [], "content": output}
    return [{"type": "text", "text": output}]


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
