"""Reads that only the web page needs: many tasks at a glance, and a long history line by line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._version import __version__
from ...hosts.drill import drill as run_drill
from ...ledger.access import find_task, seconds_now
from ...ledger.task_life import lives, stuck_after
from ...ledger.values import read_card, read_event, read_task
from ...memory import TaskMemory
from ...model import rules, validate
from ...model.errors import InvalidInput
from ...model.types import TaskCard
from ...signals.text_layout import plain
from ...store.past import past as past_of
from ...store.queries import feed
from ...store.tx import Row, Tx
from .. import doctor as checks
from ..http.events import whole_number
from . import queries
from .story import story as task_story

Read = Callable[[TaskMemory, "Query"], Any]


MOST_OPEN, MOST_ENDED, MOST_NAMED = 5000, 200, 100
MOST_MOMENTS = 500
MOST_AROUND = 10
OURSELVES = "ringbolt"  # the agent name under which Ringbolt itself writes
_WORK_TREES = (".worktrees", "worktrees")
_DOING = 160
_STARTED = time.monotonic()


class Query:
    """The parameters of a request, from its path and query string. Each is validated when it is read."""

    def __init__(self, path: Mapping[str, Any], query: Mapping[str, str]) -> None:
        self._path = path
        self._query = query

    def task(self) -> str:
        return str(self._path["id"])

    def text(self, name: str, most: int = 500) -> str:
        return validate.text(name, self._query.get(name, ""), most)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        return whole_number(name, self._query.get(name) or str(default), least, most)

    def comma_list(self, name: str, most: int) -> list[str]:
        parts = [part for part in self._query.get(name, "").split(",") if part]
        if len(parts) > most:
            raise InvalidInput(
                "invalid_argument", f"{name} has more than {most} values.", "Ask for fewer at once."
            )
        return parts


def overview(memory: TaskMemory, query: Query) -> dict[str, Any]:
    """Cards of all open tasks and goals and of those that ended last; with `ids`, only those, in any
    status."""
    ids = query.comma_list("ids", MOST_NAMED)

    def work(tx: Tx) -> dict[str, Any]:
        if ids:
            named = [card for task_id in ids if (card := _card(memory, tx, task_id))]
            return {"tasks": _with_details(tx, named)}
        rows = queries.cards(tx, rules.OPEN, MOST_OPEN) + queries.cards(tx, rules.ENDED, MOST_ENDED)
        life = lives(tx, rows, seconds_now(memory), stuck_after(memory.settings))
        cards = _with_details(tx, [read_card(row, life[row["task_id"]]) for row in rows])
        return {"tasks": cards, "counts": feed.task_counts(tx)}

    return {**memory.store.read(work), "now": time.time(), **_thresholds(memory)}


def _thresholds(memory: TaskMemory) -> dict[str, float | None]:
    """How long a task may be idle before it is shown as stale or as stuck; None means never."""
    stale = rules.parse_duration("stale_threshold", memory.settings.stale_threshold) * 60
    return {"stale_seconds": stale, "stuck_seconds": stuck_after(memory.settings)}


def _card(memory: TaskMemory, tx: Tx, task_id: str) -> dict[str, Any] | None:
    """The card of the task with exactly this id, archived or not; None if there is no such task."""
    task = read_task(tx, task_id, seconds_now(memory), stuck_after(memory.settings))
    if task is None or task.kind not in ("task", "goal"):
        return None
    return {field: getattr(task, field) for field in TaskCard.__annotations__}


def _with_details(tx: Tx, cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add agent, tags and counts to cards. For a goal, `done` and `total` count its criteria."""
    details = queries.card_details(tx, [card["id"] for card in cards])
    added = (
        "channel", "tags", "waits", "questions", "effects", "decisions", "claimed_until", "repository",
        "branch", "asks", "decides", "doing",
    )  # fmt: skip
    for card in cards:
        row = details[card["id"]]
        # Upkeep writes as Ringbolt itself; show the last real agent.
        agent = row["agent"] if row["agent"] not in ("", OURSELVES) else row["first_agent"]
        card |= {"agent": agent, **{name: row[name] for name in added}}
        folder = str(card["workspace"] or "")
        card |= {
            "repository": repository_folder(row["repository"] or folder),
            "doing": doing(row["doing"], folder),
        }
        if card["kind"] == "goal":
            card |= {"done": row["met"], "total": row["criteria"]}
    return cards


def repository_folder(path: str) -> str:
    """The folder of a repository, of which hooks report the `.git` inside: for one of its work trees, which
    tools keep in a folder inside it, the folder around that."""
    path = path.removesuffix("/.git")
    parts = path.split("/")
    for number, part in enumerate(parts):
        if part in _WORK_TREES:
            above = parts[: number - 1] if parts[number - 1].startswith(".") else parts[:number]
            return "/".join(above) or path
    return path


def doing(text: str | None, folder: str) -> str:
    """What was said or done last, in one line with paths from the repository."""
    first = next((line for line in (text or "").splitlines() if line.strip()), "")
    return plain(first.replace(f"{folder}/", "") if folder else first, _DOING)


def story(memory: TaskMemory, query: Query) -> list[dict[str, Any]]:
    """A task as a story, in sections; every line names its event."""
    return task_story(memory, query.task())


def activity(memory: TaskMemory, query: Query) -> dict[str, Any]:
    """Recent activity: events per ten minutes of the last day, and per day of the last month."""
    now = time.time()
    # Timestamps share a prefix within ten minutes (2026-03-01T14:3) and within a day (2026-03-01).
    day, month = (time.strftime("%Y-%m-%dT%H:%M", time.gmtime(now - 86400 * days)) for days in (1, 30))

    def work(tx: Tx) -> dict[str, Any]:
        return {"tens": queries.activity(tx, day, 15), "days": queries.activity(tx, month, 10)}

    return {**memory.store.read(work), "now": now}


def moments(memory: TaskMemory, query: Query) -> dict[str, Any]:
    """Events of a task, one line each: those after a number, or those listed in `seqs`."""
    after = query.number("after", 0, 0, 1 << 62)
    limit = query.number("limit", 200, 1, MOST_MOMENTS)
    seqs = [whole_number("seqs", text, 1, 1 << 62) for text in query.comma_list("seqs", limit)]

    def work(tx: Tx) -> dict[str, Any]:
        head = _head(memory, tx, query)
        task_id = head["task_id"]
        rows = queries.some_moments(tx, task_id, seqs) if seqs else queries.moments(tx, task_id, after, limit)
        return {"task_id": task_id, "last": head["last_seq"], "moments": [_with_text(row) for row in rows]}

    return memory.store.read(work)


def _with_text(row: Row) -> Row:
    """Describe an event without text by its changes."""
    sets = row.pop("sets")
    if not sets or row["text"]:
        return row
    parts: list[str] = []
    for table, changed in json.loads(sets).items():
        if table == "heads":
            fields = ((name, value) for name, value in changed.items() if not name.endswith(("_at", "_seq")))
            parts += [f"{name}: {value}" for name, value in fields if isinstance(value, str)]
        elif table == "steps":
            parts += [f"{step} → {cells['status']}" for step, cells in changed.items() if "status" in cells]
        elif table == "+steps":
            parts.append(f"{len(changed)} steps")
    return {**row, "text": ", ".join(parts)[: queries.LINE]}


def timeline(memory: TaskMemory, query: Query) -> dict[str, Any]:
    """The numbers of a task's events that match the filters; without filters, the count of each type."""
    text = query.text("text")
    escaped = text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    filters: dict[str, Any] = {
        "types": query.comma_list("types", 50),
        "channel": query.text("channel", 20),
        "step": query.text("step", 200),
        "pattern": f"%{escaped}%" if text else "",
    }

    def work(tx: Tx) -> dict[str, Any]:
        head = _head(memory, tx, query)
        data: dict[str, Any] = {"task_id": head["task_id"], "last": head["last_seq"]}
        if any(filters.values()):
            data["seqs"] = queries.matching(tx, head["task_id"], **filters)
        else:
            data["types"] = queries.type_counts(tx, head["task_id"])
        return data

    return memory.store.read(work)


def records(memory: TaskMemory, query: Query) -> list[dict[str, Any]]:
    """All side effects or waits of a task, including ended ones, newest first."""
    kind = validate.choice("kind", query.text("kind"), ("effect", "wait"))
    limit = query.number("limit", 100, 1, 500)

    def work(tx: Tx) -> list[Row]:
        return queries.all_records(tx, _head(memory, tx, query)["task_id"], kind, limit)

    rows = [
        {**row, "data": json.loads(row["data"]), "end_data": json.loads(row["end_data"] or "{}")}
        for row in memory.store.read(work)
    ]
    if kind == "wait":
        # A wait can be changed after it started, and its last check is not an event.
        head = memory.store.read(lambda tx: _head(memory, tx, query))
        for row in rows:
            row["wait"] = memory.wait_status(f"{head['task_id']}#{row['seq']}")[0].to_dict()
    return rows


def past(memory: TaskMemory, query: Query) -> dict[str, Any]:
    """The task as it was after an event, and after each of its neighbours."""
    seq = query.number("seq", 0, 1, 1 << 62)
    around = query.number("around", 0, 0, MOST_AROUND)
    head = memory.store.read(lambda tx: _head(memory, tx, query))
    validate.whole("seq", seq, 1, head["last_seq"])
    first, until = max(1, seq - 1 - around), min(seq + around, head["last_seq"])

    def work(tx: Tx) -> dict[str, Any]:
        states: dict[int, Any] = {}
        events: dict[int, Any] = {}
        for row in tx.events(head["task_id"], first - 1, MOST_AROUND * 2 + 2, until):
            task = read_task(past_of(tx, head, row["seq"]), head["task_id"])
            states[row["seq"]] = task.to_dict() if task else None
            events[row["seq"]] = read_event(row).to_dict()
        return {"states": states, "events": events}

    return memory.store.read(work)


def drill(memory: TaskMemory, query: Query) -> dict[str, Any]:
    """Simulate a compaction and score what is recovered; nothing is stored."""
    return run_drill(memory, query.task()).to_dict()


def doctor(memory: TaskMemory, query: Query) -> list[dict[str, Any]]:
    """All findings of `ringbolt doctor`."""
    first = (checks.version(), checks.journal(memory.store.url, memory.settings.tenant), checks.hosts(None))
    return [finding.to_dict() for finding in (*first, *checks.checks(memory))]


def system(memory: TaskMemory, query: Query) -> dict[str, Any]:
    """Size of the store, job queue, mirror files, and model usage of the last 30 days."""
    month = time.strftime("%Y-%m-%d", time.gmtime(time.time() - 30 * 86400))

    def work(tx: Tx) -> dict[str, Any]:
        return {
            **_plain(queries.sizes(tx)),
            "models": [_plain(row) for row in feed.model_totals(tx)],
            "spending": [_plain(row) for row in queries.spending(tx, month)],
        }

    return {
        **memory.store.read(work),
        "store": memory.store.info(),
        "jobs": memory.jobs_status().to_dict(),
        "mirrors": [mirror.to_dict() for mirror in memory.acting_as(workspace=None).mirrors_status()],
        "version": __version__,
        "up_seconds": time.monotonic() - _STARTED,
    }


def _plain(row: Row) -> Row:
    """Sums as JSON numbers: PostgreSQL returns Decimal for them."""
    return {
        name: value if isinstance(value, str) else float(value) if name == "cost" else int(value)
        for name, value in row.items()
    }


def _head(memory: TaskMemory, tx: Tx, query: Query) -> Row:
    return find_task(memory, tx, query.task())


READS: dict[str, Read] = {
    "/api/overview": overview,
    "/api/activity": activity,
    "/api/tasks/{id}/story": story,
    "/api/tasks/{id}/moments": moments,
    "/api/tasks/{id}/timeline": timeline,
    "/api/tasks/{id}/records": records,
    "/api/tasks/{id}/past": past,
    "/api/tasks/{id}/drill": drill,
    "/api/doctor": doctor,
    "/api/system": system,
}
