"""Classify a prompt: a new request, more about the current one, or a task to take over.

`requests/request_boundary` judges it, when it comes and again when the agent's turns on it have ended; this
module collects the state at that moment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import Any

from ...hook_memory import HookMemory
from ...ledger.access import seconds_now
from ...ledger.current_task import DRAFT, REQUEST, request_tags
from ...model import rules
from ...model.lazy_regex import lazy_regex
from ...model.types import Entry, Task
from ...model.validate import seconds_of, stamp
from ...requests.completion import says_done
from ...requests.request_boundary import Boundary, Moment, judge
from ...requests.request_model import KIND
from ...requests.task_name import task_name
from ...requests.turns import AFTER, Turn, files_of
from ...signals.words import weighted_words
from ...store import jobs, sessions
from ...store.database import Row
from ...store.schema import MESSAGE_TYPES

_RECENT_EVENTS = 60
_TURN_EVENTS = 600  # for the second look
_INTERRUPTED = "[Request interrupted"
# Prompts that continue earlier work, and words in them that do not identify it.
_GOES_ON = lazy_regex(
    r"\W*(?:(?:please|ok(?:ay)?|now|let['’]?s|can you|could you|we)\W+)*"
    r"(?:(?:continu\w*|resum\w*|carry on|go on|keep (?:going|on|at)|pick(?: \w+)? up|take over|get back to"
    r"|finish (?:what|where)|(?:mach(?:en|t)? )?weiter|fahr fort|prosegui|sigue|segue|ga (?:door|verder))\b"
    r"|继续|続けて)",
    re.I,
)
# After "go on." as a sentence of its own comes more about the work, which does not identify it.
_SENTENCE_END = lazy_regex(r"\s*(?:[.!;,:。！，、\n–—]|- |$)")
_EMPTY_WORDS = frozenset(
    "continu resum carry keep going pick tak over get back finish work wher left off wer last tim yesterday"
    " session previou earli befor project th it thing".split()
)
_TASK_ID = lazy_regex(rf"\b[{rules.CROCKFORD}]{{{rules.ID_LENGTH}}}\b")


def judged(memory: HookMemory, task: Task, prompt: str) -> Boundary:
    """Whether a prompt begins a new request of the session's task."""
    events = _newest_events(memory, task, _RECENT_EVENTS)
    moment = _moment(task, prompt, events, seconds_now(memory))
    # An inferred plan is too unsure to tell whether the request is done.
    known = not task.plan_inferred
    return judge(moment.replace(steps_done=task.done * known, steps_total=task.total * known))


def request_begun_lately(memory: HookMemory, task: Task) -> tuple[Entry, bool] | None:
    """The newest instruction that turns out to have begun a request, now that the agent has worked on it.

    Also whether the request before it was finished. An instruction before the last request is not judged.
    """
    begun = max((entry.seq for entry in requests_of(task.instructions)), default=0)
    doubtful = [entry for entry in task.instructions[-AFTER:] if entry.seq > begun]
    if not doubtful:
        return None
    copies = {entry.seq for entry in task.instructions if "from" in entry.data}
    events = [row for row in _newest_events(memory, task, _TURN_EVENTS) if row["seq"] not in copies]
    for entry in reversed(doubtful):
        earlier = [row for row in events if row["seq"] < entry.seq]
        after = _turns([row for row in events if row["seq"] >= entry.seq])
        if not earlier or not after:
            continue
        moment = _moment(task, entry.summary, earlier, seconds_of(entry.at), until=entry.seq)
        files = tuple(files_of(moment.recent[-_RECENT_EVENTS:]))
        moment = moment.replace(files=files, before=tuple(_turns(earlier)), after=tuple(after))
        if judge(moment).is_new:
            return entry, says_done(moment.message)
    return None


def _newest_events(memory: HookMemory, task: Task, most: int) -> Sequence[Row]:
    return memory.store.read(lambda tx: tx.events(task.id, max(0, task.seq - most), most))


def _turns(events: Sequence[Row]) -> list[Turn]:
    """What the agent said and did after each prompt."""
    found: list[tuple[str, list[str], list[str]]] = []
    for event in events:
        text = str(event["text"] or "")
        if event["channel"] == "user" and text and not text.startswith(_INTERRUPTED):
            found.append((text, [], []))
        elif found and event["event_type"] == "action":
            found[-1][2].append(text)
        elif found and event["channel"] == "agent" and event["event_type"] in MESSAGE_TYPES:
            found[-1][1].append(text)
    return [Turn(prompt=prompt, said=tuple(said), actions=tuple(done)) for prompt, said, done in found]


def judge_later(memory: HookMemory, task: Task, prompt: str, seq: int, finished: bool) -> None:
    """Let the worker ask a model, if one is set, whether an instruction began a new request."""
    if not (memory.settings.model_local_url or memory.settings.model_remote_url):
        return
    data: dict[str, Any] = {"tags": request_tags(finished)}
    if DRAFT in task.metadata and (name := task_name(prompt)) not in ("", task.name):
        data |= {"name": name, "was": task.name}
    now = stamp(seconds_now(memory))
    memory.store.write(lambda tx: jobs.add(tx, KIND, task.id, str(seq), data, jobs.NOW, now))


def _moment(task: Task, prompt: str, events: Sequence[Row], now: float, until: float = inf) -> Moment:
    """The state of a task when a prompt arrives, after these events; `until` is the number of the prompt."""
    begun = next((entry for entry in reversed(task.instructions) if REQUEST in entry.tags), None)
    since = begun.seq if begun else 0
    said: list[str] = []
    actions: list[str] = []
    message, stopped, interrupted = "", False, False
    for event in events:
        text = str(event["text"] or "")
        if event["channel"] == "user":
            message, stopped, interrupted = "", False, text.startswith(_INTERRUPTED)
            actions = []
        elif event["event_type"] in MESSAGE_TYPES and event["channel"] == "agent":
            message, stopped = text or message, True
        else:
            stopped = stopped and event["event_type"] != "action"
        if event["event_type"] == "action":
            actions.append(text)
        if event["seq"] > since and text and event["channel"] != "user":
            said.append(text)
    return Moment(
        request=begun.summary if begun else task.request or "",
        prompt=prompt,
        instructions=tuple(entry.summary for entry in task.instructions if since < entry.seq < until),
        message=message,
        recent=tuple(said),
        actions=tuple(actions),
        stopped=stopped,
        interrupted=interrupted,
        files=tuple(file.path for file in task.files),
        idle_seconds=max(0.0, now - seconds_of(events[-1]["timestamp"])) if events else None,
    )


def is_finished(task: Task, message: str) -> bool:
    """Whether the current request of a task is done, according to its plan and the agent's last message."""
    done = 0 < task.total <= task.done and not task.plan_inferred
    return task.status == "completed" or done or says_done(message)


def task_to_take_over(memory: HookMemory, prompt: str) -> str | None:
    """The task that the first prompt of a session continues, if it names one or says "continue".

    A task of a live session is only taken over by its id.
    """
    tasks = memory.store.read(lambda tx: tx.open_tasks(memory.workspace))
    named = set(_TASK_ID.findall(prompt[:2000].lower()))
    for row in tasks:
        if row["task_id"] in named:
            return row["task_id"]
    if (goes_on := _GOES_ON.match(prompt)) is None:
        return None
    live = {one.id for one in memory.store.read(lambda tx: sessions.live(tx, None, seconds_now(memory)))}
    free = [row for row in tasks if row["session_id"] not in live and row["parent_id"] is None]
    wanted = {word for word in weighted_words(prompt[:1000]) if word not in _EMPTY_WORDS}
    newest = free[0]["task_id"] if free else None
    if not wanted:
        return newest
    best, score = None, 0.0
    for row in free:
        about = weighted_words(f"{row['name']} {memory.task_get(row['task_id']).request or ''}"[:2000])
        found = sum(about[word] for word in wanted if word in about) / len(wanted)
        if found > score:
            best, score = row["task_id"], found
    if score >= 0.34:
        return best
    return newest if _SENTENCE_END.match(prompt, goes_on.end()) else None


def requests_of(instructions: Sequence[Entry]) -> list[Entry]:
    """The instructions that began new requests, oldest first."""
    return [entry for entry in instructions if REQUEST in entry.tags]
