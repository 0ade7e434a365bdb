"""What the web page asks that no operation answers: many tasks at a glance, a long history line by line."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..._version import __version__
from ...ledger.values import read_card, read_event, read_task
from ...memory import TaskMemory
from ...model import rules, validate
from ...model.errors import InvalidInput
from ...model.types import TaskCard
from ...store import feed
from ...store.tx import Row, Tx
from .. import doctor as checkup
from . import queries
from .past import Pasts

Read = Callable[[TaskMemory, "Asked"], Any]


OPEN = ("active", "waiting", "paused")
ENDED = ("completed", "failed", "cancelled", "abandoned", "superseded")
MOST_OPEN, MOST_ENDED, MOST_NAMED = 5000, 200, 100
MOST_MOMENTS = 500
MOST_AROUND = 10
OURSELVES = "ringbolt"
_STARTED = time.monotonic()
_pasts = Pasts()


class Asked:
    """The parts of a path and of a query, each checked where it is read."""

    def __init__(self, path: Mapping[str, Any], query: Mapping[str, str]) -> None:
        self._path = path
        self._query = query

    def task(self) -> str:
        return str(self._path["id"])

    def text(self, name: str, most: int = 500) -> str:
        return validate.text(name, self._query.get(name, ""), most)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        given = self._query.get(name, "")
        plain = int(given) if given.isascii() and given.isdecimal() and len(given) < 20 else given
        return validate.whole(name, plain if given else default, least, most)

    def words(self, name: str, most: int) -> list[str]:
        found = [part for part in self._query.get(name, "").split(",") if part]
        if len(found) > most:
            raise InvalidInput(
                "invalid_argument", f"{name} names more than {most}.", "Ask for fewer at once."
            )
        return found


def overview(memory: TaskMemory, asked: Asked) -> dict[str, Any]:
    """Every open task and goal and the last that ended, a card each; with `ids`, only those, ended or not."""
    named = asked.words("ids", MOST_NAMED)

    def work(tx: Tx) -> dict[str, Any]:
        if named:
            return {"tasks": _with_more(tx, [card for name in named if (card := _named(tx, name))])}
        rows = queries.cards(tx, OPEN, MOST_OPEN) + queries.cards(tx, ENDED, MOST_ENDED)
        return {"tasks": _with_more(tx, [read_card(row) for row in rows]), "counts": feed.task_counts(tx)}

    return {**memory.store.read(work), "now": time.time(), **_thresholds(memory)}


def _thresholds(memory: TaskMemory) -> dict[str, float | None]:
    """How long a task may be idle before it is shown as stale, or as stuck; None: for ever."""
    stale = rules.parse_duration("stale_threshold", memory.settings.stale_threshold) * 60
    given = memory.settings.stuck_after
    stuck = None if given == "off" else rules.parse_duration("stuck_after", given) * 60
    return {"stale_seconds": stale, "stuck_seconds": stuck}


def _named(tx: Tx, name: str) -> dict[str, Any] | None:
    """The card of a task with this very id, archived or not; None if there is no such task."""
    task = read_task(tx, name)
    if task is None or task.kind not in ("task", "goal"):
        return None
    return {field: getattr(task, field) for field in TaskCard.__annotations__}


def _with_more(tx: Tx, cards: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cards with what else a list says of tasks. What is done of a goal are its criteria."""
    found = queries.about(tx, [card["id"] for card in cards])
    told = ("channel", "tags", "waits", "questions", "effects", "decisions", "claimed_until")
    for card in cards:
        more = found[card["id"]]
        # What works on the store by itself is no agent that someone runs.
        agent = more["agent"] if more["agent"] not in ("", OURSELVES) else more["first_agent"]
        card |= {"agent": agent, **{name: more[name] for name in told}}
        if card["kind"] == "goal":
            card |= {"done": more["met"], "total": more["criteria"]}
    return cards


def activity(memory: TaskMemory, asked: Asked) -> dict[str, Any]:
    """How much happened lately: events in each ten minutes of a day, and in each day of a month."""
    now = time.time()
    # Timestamps begin alike within ten minutes: 2026-03-01T14:3, and within a day: 2026-03-01.
    day, month = (time.strftime("%Y-%m-%dT%H:%M", time.gmtime(now - 86400 * days)) for days in (1, 30))

    def work(tx: Tx) -> dict[str, Any]:
        return {"tens": queries.activity(tx, day, 15), "days": queries.activity(tx, month, 10)}

    return {**memory.store.read(work), "now": now}


def moments(memory: TaskMemory, asked: Asked) -> dict[str, Any]:
    """Events of a task, a line each: those after a number, or those with the numbers of `seqs`."""
    after = asked.number("after", 0, 0, 1 << 62)
    limit = asked.number("limit", 200, 1, MOST_MOMENTS)
    seqs = [
        validate.whole("seqs", int(one) if one.isdecimal() else one, 1, 1 << 62)
        for one in asked.words("seqs", limit)
    ]

    def work(tx: Tx) -> dict[str, Any]:
        head = _head(memory, tx, asked)
        task_id = head["task_id"]
        rows = queries.some_moments(tx, task_id, seqs) if seqs else queries.moments(tx, task_id, after, limit)
        return {"task_id": task_id, "last": head["last_seq"], "moments": [_worded(row) for row in rows]}

    return memory.store.read(work)


def _worded(row: Row) -> Row:
    """A line with some words: where nobody gave any, what it changed."""
    sets = row.pop("sets")
    if not sets or row["text"]:
        return row
    found: list[str] = []
    for table, changed in json.loads(sets).items():
        if table == "heads":
            told = ((name, value) for name, value in changed.items() if not name.endswith(("_at", "_seq")))
            found += [f"{name}: {value}" for name, value in told if isinstance(value, str)]
        elif table == "steps":
            found += [f"{step} → {cells['status']}" for step, cells in changed.items() if "status" in cells]
        elif table == "+steps":
            found.append(f"{len(changed)} steps")
    return {**row, "text": ", ".join(found)[: queries.LINE]}


def timeline(memory: TaskMemory, asked: Asked) -> dict[str, Any]:
    """Which events of a task fit a filter, by number; without one only how many there are of each type."""
    plain = asked.text("text")
    escaped = plain.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    types = asked.words("types", 50)
    filters: dict[str, Any] = {
        "types": types,
        "channel": asked.text("channel", 20),
        "item": asked.text("item", 200),
        "pattern": f"%{escaped}%" if plain else "",
    }

    def work(tx: Tx) -> dict[str, Any]:
        head = _head(memory, tx, asked)
        found: dict[str, Any] = {"task_id": head["task_id"], "last": head["last_seq"]}
        if any(filters.values()):
            found["seqs"] = queries.matching(tx, head["task_id"], **filters)
        else:
            found["types"] = queries.types_of(tx, head["task_id"])
        return found

    return memory.store.read(work)


def records(memory: TaskMemory, asked: Asked) -> list[dict[str, Any]]:
    """All side effects or waits of a task, ended ones too, the newest first."""
    kind = validate.word("kind", asked.text("kind"), ("effect", "wait"))
    limit = asked.number("limit", 100, 1, 500)

    def work(tx: Tx) -> list[Row]:
        return queries.all_records(tx, _head(memory, tx, asked)["task_id"], kind, limit)

    found = [
        {**row, "data": json.loads(row["data"]), "end_data": json.loads(row["end_data"] or "{}")}
        for row in memory.store.read(work)
    ]
    if kind == "wait":
        # What it waits for may have been changed since, and the last look is no event.
        head = memory.store.read(lambda tx: _head(memory, tx, asked))
        for row in found:
            row["wait"] = memory.wait_status(f"{head['task_id']}#{row['seq']}")[0].to_dict()
    return found


def past(memory: TaskMemory, asked: Asked) -> dict[str, Any]:
    """A task as it stood after an event, and after those around it."""
    seq = asked.number("seq", 0, 1, 1 << 62)
    around = asked.number("around", 0, 0, MOST_AROUND)
    head = memory.store.read(lambda tx: _head(memory, tx, asked))
    validate.whole("seq", seq, 1, head["last_seq"])
    states: dict[int, Any] = {}
    events: dict[int, Any] = {}

    def visit(tx: Tx, row: Row) -> None:
        found = read_task(tx, row["task_id"])
        states[row["seq"]] = found.to_dict() if found else None
        events[row["seq"]] = read_event(row).to_dict()

    first, until = max(1, seq - 1 - around), min(seq + around, head["last_seq"])
    _pasts.walk(memory, head, first, until, visit)
    return {"states": states, "events": events}


def drill(memory: TaskMemory, asked: Asked) -> dict[str, Any]:
    """What would come back of a task after a compaction; nothing is written."""
    from ...hosts.drill import drill

    return drill(memory, asked.task()).to_dict()


def doctor(memory: TaskMemory, asked: Asked) -> list[dict[str, Any]]:
    """Everything that `ringbolt doctor` says of the store and what is around it."""

    around = (
        checkup.version(),
        checkup.journal(memory.store.url, memory.settings.tenant),
        checkup.hosts(None),
    )
    return [finding.to_dict() for finding in (*around, *checkup.checks(memory))]


def system(memory: TaskMemory, asked: Asked) -> dict[str, Any]:
    """How large the store is, what waits for a worker, which files lag behind, what models have cost."""
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
        "mirrors": [one.to_dict() for one in memory.acting_as(workspace=None).mirrors_status()],
        "version": __version__,
        "up_seconds": time.monotonic() - _STARTED,
    }


def _plain(row: Row) -> Row:
    """Sums as numbers of JSON: an engine may have kinds of its own for them."""
    return {
        name: value if isinstance(value, str) else float(value) if name == "cost" else int(value)
        for name, value in row.items()
    }


def _head(memory: TaskMemory, tx: Tx, asked: Asked) -> Row:
    return memory._find(tx, asked.task())  # pyright: ignore[reportPrivateUsage]


READS: dict[str, Read] = {
    "/api/overview": overview,
    "/api/activity": activity,
    "/api/tasks/{id}/moments": moments,
    "/api/tasks/{id}/timeline": timeline,
    "/api/tasks/{id}/records": records,
    "/api/tasks/{id}/past": past,
    "/api/tasks/{id}/drill": drill,
    "/api/doctor": doctor,
    "/api/system": system,
}
