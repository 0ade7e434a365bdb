"""How fast Ringbolt is, as ratios measured in one run: `make bench`, or `python bench/speed.py --help`.

Absolute times say more about the machine than about the code, so each figure compares the product with a
rival (or with itself on another size) in short rounds that take turns, and is the median of the rounds'
ratios. What each figure means is in bench/README.md.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import http.client
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from itertools import accumulate, product
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from ringbolt import TaskMemory
from ringbolt.model.redaction import Redactor
from ringbolt.store import sqlite
from ringbolt.store.schema import EVENTS, HEADS
from ringbolt.store.tx import Tx
from ringbolt.waits.loop import Watcher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PAYLOAD = 300
THREADS = 32
AT_ONCE = 5000  # calls in one commit while building
MESSAGE = ("The migration went through on the second try; the lock was held by the old worker. " * 4)[
    :PAYLOAD
]
MIX = "mamdmamvmammmdammmam"  # 60% messages, 25% actions, 10% decisions, 5% variables
CROWDED = "ddmdddvddadddmddd"  # so many decisions that a hundred events fill what is shown
REDACTED_UNITS = (
    "password=", "eyJaaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "://a:", "--token ", "bearer ", "a_token_",
)  # fmt: skip
clock = time.perf_counter


class Sizes(NamedTuple):
    """How much is done: rounds and calls, sizes of stores, seconds."""

    writer_rounds: int = 24
    writer_calls: int = 200
    thread_rounds: int = 14
    sleeping_rounds: int = 5
    thread_calls: int = 40
    process_seconds: float = 3.0
    events: int = 100_000
    tasks: int = 100_000
    read_rounds: int = 40
    starts: int = 40
    updates: int = 5000
    reopens: int = 9
    questions: int = 300
    hooks: int = 1000
    waits: int = 10_000
    wait_seconds: float = 60.0


QUICK = Sizes(8, 150, 6, 3, 20, 1.0, 10_000, 10_000, 15, 12, 1000, 3, 100, 200, 1000, 10.0)


class Figure(NamedTuple):
    """A line of the table. Without a goal it is information."""

    name: str
    value: str
    goal: str = ""
    ok: bool | None = None
    note: str = ""


def at_least(name: str, value: float, goal: float, note: str = "") -> Figure:
    return Figure(name, f"{value:.2f}", f"≥ {goal:g}", value >= goal, note)


def at_most(name: str, value: float, goal: float, note: str = "") -> Figure:
    return Figure(name, f"{value:.2f}" if goal < 100 else f"{value:.0f}", f"≤ {goal:g}", value <= goal, note)


# --- measuring --------------------------------------------------------------------------------------


def in_turn(rounds: int, **works: Callable[[], float]) -> dict[str, list[float]]:
    """What each work returns, round by round; each round begins with another one."""
    names = list(works)
    found: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            value = works[name]()
            if number:  # the first round warms up
                found[name].append(value)
    return found


def ratio(above: list[float], below: list[float]) -> tuple[float, str]:
    """The median of the rounds' ratios, and the middle half of them as a note."""
    each = [a / b for a, b in zip(above, below, strict=True)]
    low, middle, high = quantiles(each, n=4)
    return middle, f"rounds {low:.2f}–{high:.2f}"


def seconds_of(work: Callable[[], object], calls: int = 1) -> float:
    begin = clock()
    for _ in range(calls):
        work()
    return clock() - begin


def timed(work: Callable[[], object], times: list[float]) -> Callable[[], None]:
    """The same work, with how long it took added to `times`."""

    def run() -> None:
        begin = clock()
        work()
        times.append(clock() - begin)

    return run


def percentiles(times: list[float]) -> str:
    cuts = quantiles(times, n=100)
    return f"{cuts[49] * 1000:.2f} / {cuts[98] * 1000:.2f} ms"


def rate_of_threads(works: list[Callable[[], object]], calls: int) -> float:
    """Calls a second of as many threads as there are works, until the last has made all its calls."""
    begin = 0.0
    errors: list[Exception] = []

    def start_clock() -> None:
        nonlocal begin
        begin = clock()

    gate = threading.Barrier(len(works), action=start_clock)

    def run(work: Callable[[], object]) -> None:
        gate.wait()
        try:
            for _ in range(calls):
                work()
        except Exception as error:  # noqa: BLE001 - it is raised again below
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return len(works) * calls / (clock() - begin)


# --- the rival: the same SQL by hand ----------------------------------------------------------------


class Raw:
    """One message at a time with apsw and nothing else: same schema, same statements, same durability."""

    _ORIGIN = (1, "bench", "", "agent", "")
    _HASH = bytes(16)
    _AT = "2026-01-01T00:00:00.000Z"
    _SELECT = f"SELECT {', '.join(HEADS)} FROM heads WHERE task_id = ?"
    _INSERT_ORIGIN = "INSERT INTO origins VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
    _INSERT = f"INSERT INTO events ({', '.join(EVENTS)}) VALUES ({', '.join('?' * len(EVENTS))})"
    _UPDATE = (
        "UPDATE heads SET last_seq = ?2, last_hash = ?3, updated_at = ?4, messages = ?5, position ="
        " (SELECT id FROM events WHERE task_id = ?1 AND seq = ?2) WHERE task_id = ?1"
    )

    def __init__(self, path: str, task_id: str) -> None:
        self.connection = apsw.Connection(path)
        self.connection.set_busy_timeout(30_000)
        self._execute = self.connection.execute
        self._execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON").fetchall()
        self._task_id = task_id

    def update(self) -> int:
        execute, task_id = self._execute, self._task_id
        execute("BEGIN IMMEDIATE")
        head = dict(zip(HEADS, execute(self._SELECT, (task_id,)).fetchall()[0], strict=True))
        seq = head["last_seq"] + 1
        execute(self._INSERT_ORIGIN, self._ORIGIN)
        execute(
            self._INSERT,
            (task_id, seq, "message", self._AT, None, None, MESSAGE, "{}", None, 1, "", self._HASH, None),
        )
        execute(self._UPDATE, (task_id, seq, self._HASH, self._AT, head["messages"] + 1))
        execute("COMMIT")
        return seq


class RawPostgres:
    """The same on PostgreSQL with psycopg and nothing else, statement by statement or in a pipeline."""

    _SELECT = f"SELECT {', '.join(HEADS)} FROM heads WHERE task_id = %s FOR UPDATE"
    _INSERT_ORIGIN = (
        "INSERT INTO origins (id, principal, agent, channel, session) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT DO NOTHING"
    )
    _INSERT = f"INSERT INTO events ({', '.join(EVENTS)}) VALUES ({', '.join(['%s'] * len(EVENTS))})"
    _UPDATE = (
        "UPDATE heads SET last_seq = %s, last_hash = %s, updated_at = %s, messages = %s, position ="
        " (SELECT id FROM events WHERE task_id = %s AND seq = %s) WHERE task_id = %s"
    )

    def __init__(self, url: str, tenant: str, task_id: str, pipelined: bool) -> None:
        import psycopg

        self.connection = psycopg.connect(url, autocommit=True)
        self._tenant = tenant
        self._task_id = task_id
        self._batch = self.connection.pipeline if pipelined else contextlib.nullcontext

    def update(self) -> int:
        execute, task_id = self.connection.execute, self._task_id
        with self._batch():
            execute("BEGIN")
            execute("SELECT set_config('ringbolt.tenant', %s, true)", (self._tenant,))
            head = dict(zip(HEADS, execute(self._SELECT, (task_id,)).fetchall()[0], strict=True))
            seq = head["last_seq"] + 1
            execute(self._INSERT_ORIGIN, Raw._ORIGIN)
            row = (task_id, seq, "message", Raw._AT, None, None, MESSAGE, "{}", None, 1, "", Raw._HASH, None)
            execute(self._INSERT, row)
            changes = (seq, Raw._HASH, Raw._AT, head["messages"] + 1, task_id, seq, task_id)
            execute(self._UPDATE, changes)
            execute("COMMIT")
        return seq


# --- building ---------------------------------------------------------------------------------------


class Joined:
    """A store whose calls all join one transaction that is already open."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx

    def write(self, work: Callable[[Tx], Any], **_: bool) -> Any:
        return work(self._tx)

    read = write


def build(memory: TaskMemory, steps: Iterable[Callable[[TaskMemory], object]]) -> None:
    """Make the memory's own calls, many in one commit: the same rows, in a bearable time."""
    left = iter(steps)

    def some(tx: Tx) -> bool:
        inside = copy.copy(memory)
        inside.store = Joined(tx)  # type: ignore[assignment]
        for _ in range(AT_ONCE):
            step = next(left, None)
            if step is None:
                return False
            step(inside)
        return True

    while memory.store.write(some):
        pass


def fill_task(memory: TaskMemory, task_id: str, events: int, keep: int | None = None, mix: str = MIX) -> None:
    """Messages, actions on steps, decisions and variables, in the order of the letters of `mix`.

    Of the decisions only the last `keep` stay in force, or all. There are five variables.
    """
    in_force: list[int] = []

    def decide(inside: TaskMemory, number: int) -> None:
        old = in_force.pop(0) if len(in_force) == keep else None
        written = inside.task_decide(
            task_id,
            choice=f"Variant {number}",
            reasoning="It needs no second service, and the other one failed under load.",
            supersedes=old,
        )
        in_force.append(written.seq)

    def step(number: int) -> Callable[[TaskMemory], object]:
        match mix[number % len(mix)]:
            case "d":
                return lambda inside: decide(inside, number)
            case "v":
                return lambda inside: inside.task_set(task_id, f"name{number // len(mix) % 5}", number)
            case "a":
                return lambda inside: inside.task_log_action(
                    task_id, "Ran the tests", type="cli", tool="bash", step=number % 10 + 1,
                    input={"command": "make test"}, output={"exit": 0, "lines": number},
                )  # fmt: skip
            case _:
                return lambda inside: inside.task_update(task_id, MESSAGE)

    build(memory, (step(number) for number in range(1, events)))


def fill_tasks(memory: TaskMemory, count: int, open_tasks: int) -> None:
    """Tasks of which most are completed. The workspace /repo/here has 50 of them, 25 open, wherever there
    are that many; the rest is spread over 40 others."""
    shuffled = random.Random(1)
    numbers = list(range(count))
    shuffled.shuffle(numbers)
    here, still_open = set(numbers[:50]), {*numbers[:25], *numbers[50 : 25 + open_tasks]}

    def step(number: int) -> Callable[[TaskMemory], object]:
        where = "/repo/here" if number in here else f"/repo/{number % 40}"

        def run(inside: TaskMemory) -> None:
            task_id = inside.task_register(f"Task {number}", plan=["Build", "Ship"], workspace=where).task_id
            if number not in still_open:
                inside.task_finish(task_id, "Done.")

        return run

    build(memory, (step(number) for number in range(count)))


class Texts:
    """Entries of an agent's work: words of very different frequency, paths, versions, numbers."""

    TASKS = 200
    OFTEN = "service"

    def __init__(self, count: int) -> None:
        self._count = count
        dice = random.Random(4)
        letters = "bcdfghklmnprstvz", "aeiou"
        made = (
            "".join(dice.choice(letters[at % 2]) for at in range(dice.randint(4, 9))) for _ in range(30_000)
        )
        self._words = list(dict.fromkeys(made))
        self._weights = [1 / (place + 3) for place in range(len(self._words))]
        self._summed = list(accumulate(self._weights))
        self.ids: list[str] = []

    def text(self, number: int) -> str:
        """An entry of about 250 characters; every other one has the word that is everywhere."""
        dice = random.Random(number)
        said = dice.choices(self._words, cum_weights=self._summed, k=26)
        if number % 2:
            said[3] = self.OFTEN
        said.insert(7, f"src/{said[0]}/{said[1]}_{number % 211}.py")
        said.insert(14, f"v{number % 9}.{number % 13}.{number % 29}")
        return " ".join(said)

    def question(self, dice: random.Random) -> str:
        """Two to six words of one entry."""
        said = self.text(dice.randrange(self._count)).split()
        return " ".join(dice.sample(said, dice.randint(2, 6)))

    def fill(self, memory: TaskMemory) -> Iterator[tuple[int, int, str, str]]:
        """Write all entries to 200 tasks of two workspaces, ten at a time; yields what was written."""
        self.ids = [
            memory.acting_as(workspace=f"/repo/{task % 2}").task_register(f"Task {task}").task_id
            for task in range(self.TASKS)
        ]
        kinds = ("message", "message", "error", "message", "discovery")

        def step(number: int) -> Callable[[TaskMemory], object]:
            task, kind, text = self.ids[number // 10 % self.TASKS], kinds[number % 5], self.text(number)
            if kind == "message":
                return lambda inside: inside.task_update(task, text)
            return lambda inside: inside.task_remember(task, text, type=kind)

        build(memory, (step(number) for number in range(self._count)))
        memory.store.index()
        for number in range(self._count):
            yield number + 1, number // 10 % self.TASKS, kinds[number % 5], self.text(number)


class RawWords:
    """The same texts in one FTS5 table with porter, ranked by its own bm25, filtered by a join."""

    def __init__(self, path: str, rows: Iterable[tuple[int, int, str, str]]) -> None:
        self._execute = (connection := apsw.Connection(path)).execute
        self._execute(
            "CREATE VIRTUAL TABLE raw USING fts5(text, tokenize='porter unicode61');"
            "CREATE TABLE docs (id INTEGER PRIMARY KEY, task INTEGER, type TEXT, text TEXT)"
        ).fetchall()
        with connection:
            for number, task, kind, text in rows:
                self._execute("INSERT INTO raw (rowid, text) VALUES (?, ?)", (number, text))
                self._execute("INSERT INTO docs VALUES (?, ?, ?, ?)", (number, task, kind, text))

    def search(self, query: str, task: int, condition: str) -> list[Any]:
        """The ten best texts that have one of the words and fulfil the condition."""
        words = " OR ".join(f'"{word}"' for word in query.split())
        return self._execute(
            "SELECT d.id, d.text FROM raw JOIN docs d ON d.id = raw.rowid WHERE raw MATCH ?1 AND"
            f" {condition} AND ?2 IS NOT NULL ORDER BY bm25(raw) LIMIT 10",
            (words, task),
        ).fetchall()


# --- the figures ------------------------------------------------------------------------------------


class Bench:
    """Each public method measures one thing and yields its figures."""

    def __init__(self, folder: str, sizes: Sizes) -> None:
        self._folder = folder
        self._sizes = sizes
        self._opened = contextlib.ExitStack()
        self._number = 0

    def close(self) -> None:
        self._opened.close()

    def _path(self) -> str:
        self._number += 1
        return os.path.join(self._folder, str(self._number), "store.db")

    def _open(self, path: str | None = None, **settings: Any) -> tuple[TaskMemory, str]:
        path = path or self._path()
        return self._opened.enter_context(TaskMemory.open(path, workspace=None, **settings)), path

    def writer(self) -> Iterator[Figure]:
        """One writer against the same SQL by hand."""
        memory, _ = self._open()
        task_id = memory.task_register("One writer", plan=["Build", "Ship"]).task_id
        other, path = self._open()
        raw = Raw(path, other.task_register("One writer", plan=["Build", "Ship"]).task_id)
        times: list[float] = []
        update = timed(lambda: memory.task_update(task_id, MESSAGE), times)
        by_hand = timed(raw.update, [])
        calls = self._sizes.writer_calls
        found = in_turn(
            self._sizes.writer_rounds,
            ours=lambda: calls / seconds_of(update, calls),
            raw=lambda: calls / seconds_of(by_hand, calls),
        )
        raw.connection.close()
        value, spread = ratio(found["ours"], found["raw"])
        rates = f"{median(found['ours']):,.0f}/s, by hand {median(found['raw']):,.0f}/s"
        yield at_least("one writer / same SQL by hand", value, 0.4, f"{rates}; {spread}")
        yield Figure("task_update alone, p50 / p99", percentiles(times))

    def threads(self) -> Iterator[Figure]:
        """32 threads: group commit against no fsync at all, and against commits of their own."""

        def updates(times: list[float], **settings: Any) -> list[Callable[[], object]]:
            memory, _ = self._open(**settings)
            ids = [memory.task_register(f"Thread {number}").task_id for number in range(THREADS)]
            return [timed(lambda i=task_id: memory.task_update(i, MESSAGE), times) for task_id in ids]

        def by_hand(lock: threading.Lock | None) -> list[Callable[[], object]]:
            memory, path = self._open()
            ids = [memory.task_register(f"Thread {number}").task_id for number in range(THREADS)]
            raws = [Raw(path, task_id) for task_id in ids]
            for raw in raws:
                self._opened.callback(raw.connection.close)

            def locked(raw: Raw) -> None:
                with lock or contextlib.nullcontext():
                    raw.update()

            return [timed(lambda r=raw: locked(r), []) for raw in raws]

        times: list[float] = []
        works = {
            "full": updates(times),
            "off": updates([], synchronous="off"),
            "locked": by_hand(threading.Lock()),
            "raw": by_hand(None),
        }

        def compare(rounds: int, *names: str) -> dict[str, list[float]]:
            calls = self._sizes.thread_calls
            return in_turn(
                rounds, **{name: lambda w=works[name]: rate_of_threads(w, calls) for name in names}
            )

        found = compare(self._sizes.thread_rounds, "full", "off", "locked")
        slow = compare(self._sizes.sleeping_rounds, "full", "raw")
        rates = {name: f"{median(values):,.0f}/s" for name, values in {**slow, **found}.items()}
        value, spread = ratio(found["full"], found["off"])
        note = f"{rates['full']}, off {rates['off']}; {spread}"
        yield at_least(f"{THREADS} threads, full / off", value, 0.6, note)
        value, spread = ratio(slow["full"], slow["raw"])
        yield at_least(f"{THREADS} threads / own commits", value, 2.0, f"by hand {rates['raw']}; {spread}")
        value, spread = ratio(found["full"], found["locked"])
        note = f"by hand, one lock {rates['locked']}; {spread}"
        yield Figure(f"{THREADS} threads / own commits in turn", f"{value:.2f}", note=note)
        yield Figure(f"task_update of {THREADS} threads, p50 / p99", percentiles(times))

    def processes(self) -> Iterator[Figure]:
        """8 and 32 processes on one store: nobody fails, nobody starves."""
        for count in (8, 32):
            memory, path = self._open()
            ids = [memory.task_register(f"Process {number}").task_id for number in range(count)]
            children = [
                child("writer", path, task_id, str(self._sizes.process_seconds), stdin=subprocess.PIPE)
                for task_id in ids
            ]
            for each in children:
                each.stdout.readline()  # it has opened the store
            for each in children:
                each.stdin.write("go\n")
                each.stdin.flush()
            reports = [json.loads(each.communicate()[0]) for each in children]
            counts = [report["count"] for report in reports]
            errors = [error for report in reports for error in report["errors"]]
            missing = sum(counts) - sum(memory.task_get(task_id).seq - 1 for task_id in ids)
            total = sum(counts) / self._sizes.process_seconds
            longest = max(report["longest"] for report in reports) * 1000
            note = f"{min(counts)}–{max(counts)} each, {total:,.0f}/s in all, longest call {longest:.0f} ms"
            fair = min(counts) / max(counts)
            if count == 8:
                yield at_least("8 processes, slowest / fastest", fair, 0.3, note)
                yield Figure(
                    "8 processes, errors + lost writes",
                    f"{len(errors) + missing}",
                    "= 0",
                    not errors and not missing,
                    "; ".join(errors[:2]),
                )
            else:
                trouble = f", {len(errors)} errors, {missing} lost" if errors or missing else ""
                yield Figure(f"{count} processes, slowest / fastest", f"{fair:.2f}", note=note + trouble)

    @cached_property
    def _long_task(self) -> tuple[TaskMemory, str]:
        memory, _ = self._open()
        return memory, self._filled(memory, self._sizes.events, keep=10)

    def _filled(self, memory: TaskMemory, events: int, keep: int | None = None, mix: str = MIX) -> str:
        task_id = memory.task_register("Filled", plan=[f"Step {number}" for number in range(10)]).task_id
        fill_task(memory, task_id, events, keep, mix)
        return task_id

    def get(self) -> Iterator[Figure]:
        """task_get with a long history against a short one, each showing as much."""
        memory, long_id = self._long_task
        ids = {
            "long": long_id,
            "short": self._filled(memory, 100, keep=10),
            "long_full": self._filled(memory, self._sizes.events),
            "short_full": self._filled(memory, 100, mix=CROWDED),
        }
        found = in_turn(
            self._sizes.read_rounds,
            **{
                name: lambda i=task_id: seconds_of(lambda: memory.task_get(i), 5) / 5
                for name, task_id in ids.items()
            },
        )
        for tail, shown in (("", "10 decisions of 10 in force"), ("_full", "50 decisions of all in force")):
            long, short = found["long" + tail], found["short" + tail]
            value, spread = ratio(long, short)
            yield at_most(
                f"task_get, {self._sizes.events:,} / 100 events{', all limits met' if tail else ''}",
                value,
                1.3,
                f"{median(long) * 1000:.2f} ms, {median(short) * 1000:.2f} ms; {spread}; shows {shown}",
            )

    def views(self) -> Iterator[Figure]:
        """The resume packet and the YAML state against reading what they show, and over long histories."""
        memory, _ = self._open()
        sizes = (1_000, 10_000, self._sizes.events)
        ids = {size: self._filled(memory, size) for size in sizes}
        middle = ids[10_000]

        def timing(work: Callable[[], object]) -> Callable[[], float]:
            return lambda: seconds_of(work, 5) / 5

        found = in_turn(
            self._sizes.read_rounds,
            snapshot=timing(lambda: memory._snapshot(middle)),
            packet=timing(lambda: memory.task_resume(middle)),
            state=timing(lambda: memory.task_state(middle)),
            short=timing(lambda: memory.task_resume(ids[1_000])),
            long=timing(lambda: memory.task_resume(ids[self._sizes.events])),
        )
        times = {name: f"{median(each) * 1000:.2f} ms" for name, each in found.items()}
        value, spread = ratio(found["packet"], found["snapshot"])
        note = f"{times['packet']}, {times['snapshot']}; {spread}"
        yield at_most("task_resume at 1,500 tokens / reading the snapshot", value, 3, note)
        value, spread = ratio(found["state"], found["snapshot"])
        yield at_most("task_state / reading the snapshot", value, 3, f"{times['state']}; {spread}")
        value, spread = ratio(found["long"], found["short"])
        note = f"{times['long']}, {times['short']}; {spread}"
        yield at_most(f"task_resume, {self._sizes.events:,} / 1,000 events", value, 1.3, note)
        tasks, _ = self._open()
        for number in range(1000):
            with_plan = {"plan": ["Build it", "Ship it"], "metadata": {"number": number}}
            tasks.task_register(f"Task number {number} of the bench", **with_plan)
        file = [seconds_of(tasks._active_tasks_text) * 1000 for _ in range(7)]
        yield at_most("ACTIVE-TASKS.md of 1,000 tasks, ms", median(file), 50)
        block = [seconds_of(lambda: tasks.active_tasks_block("ship task 7")) * 1000 for _ in range(7)]
        yield at_most("its block for a prompt, ms", median(block), 50)

    def recall(self) -> Iterator[Figure]:
        """Filtered top 10 and frequent words against FTS5's own bm25, and what the index costs a write."""
        memory, path = self._open()
        texts = Texts(self._sizes.events)
        raw = RawWords(f"{path}.raw", texts.fill(memory))
        dice = random.Random(11)
        queries = [(texts.question(dice), dice.randrange(texts.TASKS)) for _ in range(self._sizes.questions)]
        filters: dict[str, tuple[Callable[[int], dict[str, Any]], str]] = {
            "of one task of 200": (lambda task: {"task_id": texts.ids[task]}, "d.task = ?2"),
            "of one type": (lambda _: {"types": "error"}, "d.type = 'error'"),
            "of a workspace with half of it": (lambda _: {"workspace": "/repo/0"}, "d.task % 2 = 0"),
            "of everything": (lambda _: {"workspace": None}, "1"),
        }
        for name, (given, condition) in filters.items():
            ours: list[float] = []
            theirs: list[float] = []
            for query, task in queries:
                theirs.append(seconds_of(lambda q=query, t=task, c=condition: raw.search(q, t, c)))
                ours.append(
                    seconds_of(lambda q=query, t=task, g=given: memory.task_recall(q, **g(t), limit=10))
                )
            p95 = [quantiles(times, n=20)[18] for times in (ours, theirs)]
            note = f"{p95[0] * 1000:.1f} ms, {p95[1] * 1000:.1f} ms; medians"
            note += f" {median(ours) * 1000:.1f} ms, {median(theirs) * 1000:.1f} ms"
            title = f"task_recall {name} / FTS5 bm25, p95, {self._sizes.events:,} entries"
            # The time of a search has a bound; FTS5's grows, and in a small store it is the faster one.
            goal = self._sizes.events >= Sizes().events
            value = p95[0] / p95[1]
            yield at_most(title, value, 2, note) if goal else Figure(title, f"{value:.2f}", note=note)
        often = [
            seconds_of(lambda: memory.task_recall(texts.OFTEN, workspace=None, limit=10))
            for _ in range(self._sizes.read_rounds)
        ]
        slow = seconds_of(lambda: raw.search(texts.OFTEN, 0, "1"))
        note = f"p95; FTS5 bm25 {slow * 1000:.0f} ms"
        yield at_most("One word in half of the entries, ms", quantiles(often, n=20)[18] * 1000, 50, note)
        for synchronous, goal in (("full", 1.4), ("off", None)):
            value, note = self._index_cost(texts, synchronous)
            name = f"task_update with / without the index, synchronous={synchronous}"
            yield at_most(name, value, goal, note) if goal else Figure(name, f"{value:.2f}", note=note)

    def _index_cost(self, texts: Texts, synchronous: str) -> tuple[float, str]:
        """How much longer a write takes with the index; without it is a store whose batch is never full."""
        plain, _ = self._open(synchronous=synchronous)
        indexed, _ = self._open(synchronous=synchronous)
        ids = {id(memory): memory.task_register("T").task_id for memory in (plain, indexed)}
        numbers = iter(range(1 << 30))

        def writing(memory: TaskMemory, batch: int) -> Callable[[], float]:
            def run() -> float:
                lines = [texts.text(next(numbers)) for _ in range(self._sizes.writer_calls)]
                usual, sqlite.INDEX_BATCH = sqlite.INDEX_BATCH, batch
                try:
                    begin = clock()
                    for line in lines:
                        memory.task_update(ids[id(memory)], line)
                    return clock() - begin
                finally:
                    sqlite.INDEX_BATCH = usual

            return run

        found = in_turn(
            self._sizes.writer_rounds,
            plain=writing(plain, 1 << 60),
            indexed=writing(indexed, sqlite.INDEX_BATCH),
        )
        value, spread = ratio(found["indexed"], found["plain"])
        each = [median(found[name]) / self._sizes.writer_calls * 1e6 for name in ("indexed", "plain")]
        return value, f"{each[0]:.0f} µs, {each[1]:.0f} µs; {spread}"

    def million(self) -> Iterator[Figure]:
        """How long recall takes among a million entries; only when asked for."""
        memory, _ = self._open()
        texts = Texts(1_000_000)
        begin = clock()
        next(texts.fill(memory))
        yield Figure("Building 1,000,000 entries", f"{clock() - begin:.0f} s")
        dice = random.Random(11)
        for name, given in (
            ("one task of 200", lambda: {"task_id": dice.choice(texts.ids)}),
            ("everything", lambda: {"workspace": None}),
        ):
            times = [
                seconds_of(lambda g=given: memory.task_recall(texts.question(dice), **g(), limit=10))
                for _ in range(100)
            ]
            note = f"median / p99 {percentiles(times)}"
            yield Figure(
                f"task_recall in {name}, 1,000,000 entries", f"{median(times) * 1000:.1f} ms", note=note
            )
        often = [seconds_of(lambda: memory.task_recall(texts.OFTEN, workspace=None)) for _ in range(20)]
        yield Figure("One word in half of 1,000,000 entries", f"{median(often) * 1000:.1f} ms")

    def list(self) -> Iterator[Figure]:
        """task_list(limit=20) among very many tasks against among a hundred."""
        few, _ = self._open()
        fill_tasks(few, 100, 30)
        many, _ = self._open()
        fill_tasks(many, self._sizes.tasks, self._sizes.tasks // 100)
        for status, where in product(("open", "all"), (None, "/repo/here")):

            def listing(memory: TaskMemory, s: str = status, w: str | None = where) -> float:
                return seconds_of(lambda: memory.task_list(status=s, workspace=w, limit=20), 10) / 10

            found = in_turn(self._sizes.read_rounds, few=lambda: listing(few), many=lambda: listing(many))
            value, spread = ratio(found["many"], found["few"])
            name = f"task_list {status}{' of a workspace' if where else ''}, {self._sizes.tasks:,} / 100"
            times = f"{median(found['many']) * 1000:.2f} ms, {median(found['few']) * 1000:.2f} ms"
            yield at_most(name, value, 2.0, f"{times}; {spread}")

    def start(self) -> Iterator[Figure]:
        """A whole process that opens a store and writes once."""
        memory, path = self._open()
        task_id = memory.task_register("Start").task_id
        memory.close()  # each process finds the store as the one before has left it
        script = "from ringbolt import TaskMemory; TaskMemory.open({!r}).{}"
        found = in_turn(
            self._sizes.starts,
            bare=lambda: seconds_of_process("import apsw, json, sqlite3"),
            write=lambda: seconds_of_process(script.format(path, f"task_update({task_id!r}, 'hello')")),
            new=lambda: seconds_of_process(script.format(self._path(), "task_register('hello')")),
        )
        times = {name: f"{median(values) * 1000:.1f} ms" for name, values in found.items()}
        value, spread = ratio(found["write"], found["bare"])
        note = f"{times['write']}, bare {times['bare']}; {spread}"
        yield at_most("whole process, open + write / bare imports", value, 1.5, note)
        value, spread = ratio(found["new"], found["bare"])
        yield Figure(
            "whole process, new store / bare imports", f"{value:.2f}", note=f"{times['new']}; {spread}"
        )

    def cli(self) -> Iterator[Figure]:
        """A whole process of the command line that writes once, and one that only shows its help."""
        memory, path = self._open()
        task_id = memory.task_register("Command line").task_id
        memory.close()
        # What the script that pip installs does.
        script = "import sys; from ringbolt.__main__ import run; sys.argv[1:] = {!r}; run()"
        update = ["update", "hello", "--task", task_id, "--store", path]
        found = in_turn(
            self._sizes.starts,
            bare=lambda: seconds_of_process("import apsw, json"),
            update=lambda: seconds_of_process(script.format(update)),
            help=lambda: seconds_of_process(script.format(["--help"])),
        )
        times = {name: f"{median(values) * 1000:.1f} ms" for name, values in found.items()}
        value, spread = ratio(found["update"], found["bare"])
        note = f"{times['update']}, bare {times['bare']}; {spread}"
        yield at_most("ringbolt update, whole process / bare imports", value, 3.0, note)
        value, spread = ratio(found["help"], found["bare"])
        yield Figure("ringbolt --help / bare imports", f"{value:.2f}", note=f"{times['help']}; {spread}")

    def hook(self) -> Iterator[Figure]:
        """A whole process of a host's hook: one that writes an event, and one that gives a packet."""
        paths: dict[str, str] = {}
        for event, events in (("PostToolUse", 100), ("SessionStart", self._sizes.events)):
            memory, paths[event] = self._open()
            session = memory.acting_as(session="bench", workspace="/")
            plan = [f"Step {number}" for number in range(10)]
            task_id = session.task_register("Hook", plan, request=MESSAGE).task_id
            fill_task(session, task_id, events)
            memory.store.index()
            memory.close()
        numbers = iter(range(10**9))
        script = "from ringbolt.hosts.capture_hook import main; main(['claude-code', {!r}])"
        transcript = Path(self._folder, "transcript.jsonl")

        def told(event: str, **fields: Any) -> float:
            # Files, not pipes: what is compared with it has none to wait for.
            given, answer = Path(self._folder, "told.json"), Path(self._folder, "answer.json")
            # As between two calls of a tool: the host has written lines that tell nothing new.
            call = {"type": "tool_use", "id": "toolu_0", "name": "Bash", "input": {"command": "ls -la"}}
            line = {"type": "assistant", "uuid": "u", "message": {"role": "assistant", "content": [call]}}
            with transcript.open("a") as file:
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
            told = {"session_id": "bench", "cwd": "/", "transcript_path": str(transcript), **fields}
            given.write_text(json.dumps(told))
            command = [sys.executable, "-c", script.format(event)]
            own = {"RINGBOLT_STORE": paths[event], "RINGBOLT_HOOK_DEADLINE_MS": "5000"}
            environment = {**child_environment(), **own}
            with given.open() as stdin, answer.open("w") as stdout:
                seconds = seconds_of(
                    lambda: subprocess.run(command, stdin=stdin, stdout=stdout, check=True, env=environment)
                )
            if ("additionalContext" in answer.read_text()) != (event == "SessionStart"):
                raise RuntimeError(f"the hook answered {answer.read_text()[:200]!r}")
            return seconds

        def used() -> float:
            given = {"command": "ls -la", "description": "List the files"}
            output = {"stdout": MESSAGE, "stderr": ""}
            number = f"toolu_{next(numbers)}"
            return told(
                "PostToolUse", tool_name="Bash", tool_input=given, tool_response=output, tool_use_id=number
            )

        found = in_turn(
            self._sizes.starts,
            bare=lambda: seconds_of_process("import apsw, json"),
            capture=used,
            packet=lambda: told("SessionStart", source="resume"),
        )
        times = {name: f"{median(values) * 1000:.1f} ms" for name, values in found.items()}
        value, spread = ratio(found["capture"], found["bare"])
        note = f"{times['capture']}, bare {times['bare']}; {spread}"
        yield at_most("hook that captures / bare imports", value, 1.5, note)
        value, spread = ratio(found["packet"], found["bare"])
        events = f"{self._sizes.events:,} events"
        yield at_most(
            f"hook with a packet, {events} / bare imports", value, 2.5, f"{times['packet']}; {spread}"
        )
        yield from self._hooks_at_once()

    def _hooks_at_once(self) -> Iterator[Figure]:
        """Hook processes, eight at a time: none is lost, none is locked out, and how long they take."""
        memory, path = self._open()
        task_id = memory.acting_as(session="bench", workspace="/").task_register("Many").task_id
        memory.close()
        script = "from ringbolt.hosts.capture_hook import main; main(['claude-code', 'PostToolUse'])"
        environment = {**child_environment(), "RINGBOLT_STORE": path, "RINGBOLT_HOOK_DEADLINE_MS": "60000"}
        told = {"session_id": "bench", "cwd": "/", "tool_name": "Bash", "tool_response": MESSAGE}

        def one(number: int) -> tuple[float, bytes]:
            given = json.dumps(
                {**told, "tool_use_id": str(number), "tool_input": {"command": f"echo {number}"}}
            )
            begin = clock()
            done = subprocess.run(
                [sys.executable, "-c", script], input=given.encode(), capture_output=True, env=environment
            )
            return clock() - begin, done.stderr + (b"" if done.returncode == 0 else b"exit")

        count = self._sizes.hooks
        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(one, range(count)))
        took = sorted(seconds for seconds, _ in results)
        with TaskMemory.open(path, workspace=None) as memory:
            actions = [event for event in memory.events(task_id) if event.type == "action"]
        found = len({event.data["input"]["command"] for event in actions})
        wrong = (count - found) + (len(actions) - found)
        yield at_most(f"{count:,} hooks, eight at a time: lost or twice", wrong, 0)
        yield at_most("the same: that said anything but yes", sum(bool(said) for _, said in results), 0)
        middle, slow = took[count // 2], took[count * 99 // 100]
        note = f"{middle * 1000:.0f} ms, p99 {slow * 1000:.0f} ms"
        yield at_most("the same: p99 / median", slow / middle, 10, note)

    def bytes(self) -> Iterator[Figure]:
        """What an update adds to the file."""
        memory, path = self._open()
        task_id = memory.task_register("Bytes").task_id
        before = folded_size(path)
        for _ in range(self._sizes.updates):
            memory.task_update(task_id, MESSAGE)
        grown = (folded_size(path) - before) / self._sizes.updates
        yield at_most("bytes on disk an update of 300", grown, 3 * PAYLOAD + 300)

    def history(self) -> Iterator[Figure]:
        """Time travel, verify, export and import on the long task."""
        memory, task_id = self._long_task
        events, half = self._sizes.events, self._sizes.events // 2
        took = seconds_of(lambda: memory.task_get(task_id, at=half))
        yield Figure(f"task_get(at={half:,})", f"{took:.2f} s", note=f"{half / took:,.0f} events/s folded")
        took = seconds_of(lambda: memory.verify(task_id))
        yield Figure(
            "verify, one long task", f"{events / took:,.0f}/s", note=f"{events:,} events, {took:.1f} s"
        )
        file = os.path.join(self._folder, "export.jsonl")
        took = seconds_of(lambda: memory.export_events(file, task_id))
        size = os.path.getsize(file) >> 20
        yield Figure("export", f"{events / took:,.0f}/s", note=f"{events:,} events, {size} MB, {took:.1f} s")
        into, _ = self._open()
        took = seconds_of(lambda: into.import_events(file))
        yield Figure("import", f"{events / took:,.0f}/s", note=f"{events:,} events, {took:.1f} s")

    def reopen(self) -> Iterator[Figure]:
        """Opening a store whose last writer was killed with 4 MB in its log, and reading a task."""
        memory, path = self._open()
        task_id = memory.task_register("Killed").task_id
        memory.close()
        child("victim", path, task_id).wait()
        log = os.path.getsize(path + "-wal") / (1 << 20)

        def open_and_read(where: str) -> None:
            with TaskMemory.open(where, workspace=None) as again:
                again.task_get(task_id)

        copies = [self._path() for _ in range(self._sizes.reopens)]
        for target in copies:
            os.makedirs(os.path.dirname(target))
            for tail in ("", "-wal", ".gate", ".lock", ".reserve"):
                shutil.copy(path + tail, target + tail)
        killed = [seconds_of(lambda t=target: open_and_read(t)) for target in copies]
        clean, clean_path = self._open()
        task_id = clean.task_register("Clean").task_id
        again = [seconds_of(lambda: open_and_read(clean_path)) for _ in copies]
        yield Figure(
            "reopen after kill -9",
            f"{median(killed) * 1000:.1f} ms",
            note=f"log of {log:.1f} MB; a small clean store {median(again) * 1000:.1f} ms",
        )

    def redact(self) -> Iterator[Figure]:
        """Texts that consist of how secrets begin: no pattern may take quadratic time."""
        redactor = Redactor()

        def seconds(unit: str, size: int) -> float:
            return seconds_of(lambda: redactor.text(unit * (size // len(unit))))

        worst: list[float] = []
        for unit in REDACTED_UNITS:
            found = in_turn(5, long=partial(seconds, unit, 120_000), short=partial(seconds, unit, 12_000))
            worst.append(median(found["long"]) / max(median(found["short"]), 0.001))
        yield at_most("redaction: 10 × the length", max(worst), 40, "quadratic would be 100")

    def postgres(self) -> Iterator[Figure]:
        """The same ledger on PostgreSQL: one writer, many, and the reads."""
        sys.path.insert(0, str(Path(__file__).parents[1]))
        from tests.servers import fresh_database, postgres_server

        server = self._opened.enter_context(postgres_server(max_connections=200, shared_buffers="256MB"))
        url = self._opened.enter_context(fresh_database(server.url, "bench"))
        memory, _ = self._open(url)
        ids = [memory.task_register(f"Task {number}", plan=["Build"]).task_id for number in range(THREADS)]
        raws = {
            name: RawPostgres(url, "default", memory.task_register("By hand").task_id, name == "pipelined")
            for name in ("plain", "pipelined")
        }
        calls, times, reads = self._sizes.writer_calls, list[float](), list[float]()
        update = timed(lambda: memory.task_update(ids[0], MESSAGE), times)
        found = in_turn(
            self._sizes.writer_rounds,
            ours=lambda: calls / seconds_of(update, calls),
            **{n: lambda r=r: calls / seconds_of(r.update, calls) for n, r in raws.items()},
        )
        for raw in raws.values():
            raw.connection.close()
        rates = {name: f"{median(values):,.0f}/s" for name, values in found.items()}
        value, spread = ratio(found["ours"], found["plain"])
        note = f"{rates['ours']}, by hand {rates['plain']}; {spread}"
        yield at_least("PostgreSQL: one writer / by hand", value, 0.6, note)
        value, spread = ratio(found["ours"], found["pipelined"])
        note = f"by hand in a pipeline {rates['pipelined']}; {spread}"
        yield at_least("PostgreSQL: one writer / by hand in a pipeline", value, 0.6, note)
        yield Figure("PostgreSQL: task_update alone, p50 / p99", percentiles(times))
        works = [lambda i=task_id: memory.task_update(i, MESSAGE) for task_id in ids]
        many = in_turn(
            self._sizes.thread_rounds,
            one=lambda: rate_of_threads(works[:1], calls),
            all=lambda: rate_of_threads(works, self._sizes.thread_calls),
        )
        value, spread = ratio(many["all"], many["one"])
        note = f"{median(many['all']):,.0f}/s against {median(many['one']):,.0f}/s; {spread}"
        yield at_least(f"PostgreSQL: {THREADS} connections / one", value, 3, note)
        seconds_of(timed(lambda: memory.task_get(ids[0]), reads), 10 * calls)
        yield Figure("PostgreSQL: task_get, p50 / p99", percentiles(reads))

    def upkeep(self) -> Iterator[Figure]:
        """All of the upkeep over many tasks: nothing to do, a tenth to pause, and a writer meanwhile."""
        memory, path = self._open(extraction="off")
        count = self._sizes.tasks
        fill_tasks(memory, count, count // 10)
        task_id = memory.task_register("Beside it").task_id
        done: dict[str, Any] = {}
        waited: list[float] = []
        for name, days in (("nothing", 0), ("a tenth", 2), ("nothing again", 2)):
            process = child("maintain", path, str(days))
            assert process.stdout is not None
            process.stdout.readline()
            if name == "a tenth":
                write = timed(lambda: memory.task_update(task_id, MESSAGE), waited)
                while process.poll() is None:
                    write()
            done[name] = json.loads(process.communicate()[0])
        for name, found in done.items():
            note = f"{found['changes']:,} changes, {found['cpu']:.1f} s of CPU"
            goal = 20 if name == "a tenth" else 5
            yield at_most(f"maintain, {count:,} tasks, {name} due: s", found["seconds"], goal, note)
        alone = seconds_of(lambda: memory.task_update(task_id, MESSAGE), 20) / 20
        note = f"p50 / p99 {percentiles(waited)}, alone {alone * 1000:.1f} ms"
        yield at_most("a write beside maintain, the longest: s", max(waited), 2, note)
        grown = max(found["grown"] for found in done.values())
        yield at_most("maintain, memory that it adds: MB", grown, 32)

    def http(self) -> Iterator[Figure]:
        """A call over HTTP against a bare route that does the same SQL by hand."""
        calls = self._sizes.writer_calls // 4
        with contextlib.ExitStack() as servers:
            ours = servers.enter_context(self._server("gateway"))
            bare = servers.enter_context(self._server("bare"))
            for clients in (1, 16):
                each = max(calls // clients, 10)
                works = {"ours": ours(clients), "bare": bare(clients)}
                found = in_turn(
                    self._sizes.writer_rounds,
                    **{name: partial(rate_of_threads, posts, each) for name, posts in works.items()},
                )
                value, spread = ratio(found["ours"], found["bare"])
                rates = f"{median(found['ours']):,.0f}/s, bare {median(found['bare']):,.0f}/s"
                name = "one client" if clients == 1 else f"{clients} clients"
                yield at_least(f"HTTP task_update / bare route, {name}", value, 0.5, f"{rates}; {spread}")

    def waits(self) -> Iterator[Figure]:
        """Waits for files that do not change: the share of a processor, and how soon a change is noticed."""
        memory, path = self._open()
        folder, found = os.path.dirname(path), []
        for start in range(0, self._sizes.waits, 50):
            task = memory.task_register("Waiting").task_id
            for number in range(start, start + 50):
                target = f"file:{folder}/wait-{number}"
                found.append(memory.smart_wait(target, task_id=task, block=False, timeout=86_400))
        stop = threading.Event()
        watcher = Watcher(memory, "bench:0:1")
        thread = threading.Thread(target=watcher.run, args=(stop,))
        thread.start()
        try:
            while watcher.checks < 2 * self._sizes.waits:
                time.sleep(0.1)
            begin, used, looks = clock(), time.process_time(), watcher.checks
            time.sleep(self._sizes.wait_seconds)
            took = clock() - begin
            share = 100 * (time.process_time() - used) / took
            rate = (watcher.checks - looks) / took
            late = 0.0
            for wait in found[:: max(len(found) // 9, 1)][:9]:
                Path(wait.target.removeprefix("file:")).touch()
                begin = clock()
                while memory.wait_status(wait.wait_id)[0].state == "watching":
                    time.sleep(0.01)
                late = max(late, clock() - begin)
        finally:
            stop.set()
            thread.join()
        name = f"{self._sizes.waits:,} waits that do not change, % of a core"
        yield at_most(name, share, 5, f"{rate:,.0f} looks/s")
        yield at_most("a change is noticed after, interval 2 s, slowest of 9", late, 2.5)

    @contextlib.contextmanager
    def _server(self, kind: str) -> Iterator[Callable[[int], list[Callable[[], object]]]]:
        """A server in a process of its own; gives a function that makes clients of it."""
        memory, path = self._open()
        task_id = memory.task_register("Over HTTP", plan=["Build", "Ship"]).task_id
        process = child(kind, path, task_id, stdin=subprocess.PIPE)
        assert process.stdout is not None
        port, token = process.stdout.readline().split()
        opened = contextlib.ExitStack()

        def posts(count: int) -> list[Callable[[], object]]:
            connections = [http.client.HTTPConnection("127.0.0.1", int(port)) for _ in range(count)]
            for connection in connections:
                opened.callback(connection.close)
            body = json.dumps({"task_id": task_id, "message": MESSAGE})
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

            def post(connection: http.client.HTTPConnection) -> None:
                connection.request("POST", "/api/task_update", body, headers)
                answer = connection.getresponse()
                if answer.status != 200 or b"seq" not in answer.read():
                    raise RuntimeError(f"the server answered {answer.status}")

            return [lambda c=connection: post(c) for connection in connections]

        try:
            yield posts
        finally:
            opened.close()
            process.terminate()
            process.wait()


def folded_size(path: str) -> int:
    """The size of a store's file after its log was folded back into it."""
    connection = apsw.Connection(path)
    busy = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0][0]
    connection.close()
    if busy or os.path.getsize(path + "-wal"):
        raise RuntimeError("the log was not folded back")
    return os.path.getsize(path)


# --- child processes --------------------------------------------------------------------------------


def child_environment() -> dict[str, str]:
    """Ours, but with byte code kept, and without settings for another store."""
    return {
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONDONTWRITEBYTECODE" and not name.startswith("RINGBOLT_")
    }


def child(*arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, os.path.abspath(__file__), "--child", *arguments]
    return subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True, env=child_environment())


def seconds_of_process(code: str) -> float:
    return seconds_of(
        lambda: subprocess.run(
            [sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL, env=child_environment()
        )
    )


def child_writer(path: str, task_id: str, seconds: str) -> None:
    """Write until the time is up, then say how often, how long the longest call took, and what failed."""
    memory = TaskMemory.open(path, workspace=None)
    print("ready", flush=True)
    sys.stdin.readline()
    count, longest, errors = 0, 0.0, []
    begin = now = clock()
    while now - begin < float(seconds):
        try:
            memory.task_update(task_id, MESSAGE)
            count += 1
        except Exception as error:  # noqa: BLE001 - what it is is reported
            errors.append(f"{type(error).__name__}: {error}")
        before, now = now, clock()
        longest = max(longest, now - before)
    print(json.dumps({"count": count, "longest": longest, "errors": errors}))


def child_victim(path: str, task_id: str) -> None:
    """Write until the log has nearly the size at which it is folded back, then die without a word."""
    memory = TaskMemory.open(path, workspace=None)
    while os.path.getsize(path + "-wal") < 980 * 4096:
        memory.task_update(task_id, MESSAGE)
    os.kill(os.getpid(), signal.SIGKILL)


def most_memory() -> int:
    """The most memory that this process has had, in KB; `getrusage` would count that of its parent."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmHWM:")[2].split()[0])


def child_maintain(path: str, days: str) -> None:
    """Do all of the upkeep as if so many days had passed, then say how long it took, and how much memory."""
    ahead = 86_400 * float(days)
    # A table of tokens is large, and not what is measured.
    settings: dict[str, Any] = {"extraction": "off", "tokens": "estimate"}
    memory = TaskMemory.open(path, workspace=None, clock=lambda: time.time() + ahead, **settings)
    # Another machine: on this one, the clock would be found to be set, and nothing would be old.
    memory._machine = lambda: (f"{days} days ahead", time.monotonic())  # type: ignore[attr-defined]
    memory.upkeep_run(rules=["lease"], trust_clock=True)
    peak = most_memory()
    print("ready", flush=True)
    begin, cpu = clock(), time.process_time()
    report = memory.upkeep_run(rules="all", trust_clock=True)
    figures = {
        "seconds": clock() - begin,
        "cpu": time.process_time() - cpu,
        "changes": sum(report.counts.values()),
        "grown": (most_memory() - peak) / 1024,
    }
    print(json.dumps(figures))


def child_gateway(path: str, task_id: str) -> None:
    """The server of the product."""
    from ringbolt.surfaces.http.app import create_app
    from ringbolt.surfaces.http.auth import Tokens, read_tokens
    from ringbolt.surfaces.http.server import Server, listen

    with TaskMemory.open(path, workspace=None) as memory, listen("127.0.0.1", 0) as bound:
        tokens = Tokens(os.path.join(os.path.dirname(path), "tokens.json"))
        port = bound.getsockname()[1]
        print(port, read_tokens(tokens.path)["write"], flush=True)
        Server(create_app(memory, port=port, tokens=tokens), 10).run(sockets=[bound])


def child_bare(path: str, task_id: str) -> None:
    """A route that reads the body and does the same SQL by hand, on a thread of starlette's."""
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    from ringbolt.surfaces.http.server import listen

    raw, lock = Raw(path, task_id), threading.Lock()

    def update() -> int:
        with lock:
            return raw.update()

    async def endpoint(request: Any) -> JSONResponse:
        given = await request.json()
        return JSONResponse({"task_id": given["task_id"], "seq": await run_in_threadpool(update)})

    with listen("127.0.0.1", 0) as bound:
        print(bound.getsockname()[1], "none", flush=True)
        app = Starlette(routes=[Route("/api/task_update", endpoint, methods=["POST"])])
        uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False)).run(sockets=[bound])


CHILDREN = {
    "writer": child_writer, "victim": child_victim, "maintain": child_maintain, "gateway": child_gateway,
    "bare": child_bare,
}  # fmt: skip

# --- the command ------------------------------------------------------------------------------------

SECTIONS = (
    "writer threads processes get views recall list start hook cli bytes history reopen redact upkeep http"
    " waits postgres"
).split()


def machine() -> dict[str, str]:
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as lines:
        model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")
    return {
        "cores": str(os.cpu_count()),
        "processor": model or platform.machine(),
        "python": platform.python_version(),
        "sqlite": apsw.sqlite_lib_version(),
        "apsw": apsw.apsw_version(),
        "system": f"{platform.system()} {platform.release()}",
        "load": " ".join(f"{load:.2f}" for load in os.getloadavg()),
    }


def table(figures: list[Figure]) -> str:
    cells = [("figure", "value", "goal", "", "")]
    cells += [
        (f.name, f.value, f.goal, {None: "", True: "ok", False: "MISSED"}[f.ok], f.note) for f in figures
    ]
    widths = [max(len(row[column]) for row in cells) for column in range(4)]
    return "\n".join(
        f"{name:<{widths[0]}}  {value:>{widths[1]}}  {goal:<{widths[2]}}  {ok:<{widths[3]}}  {note}".rstrip()
        for name, value, goal, ok, note in cells
    )


@contextlib.contextmanager
def scratch_folder() -> Iterator[str]:
    """A folder on the disk of the current one, hidden from git and gone at the end."""
    base = Path(".bench-tmp").absolute()
    base.mkdir(exist_ok=True)
    (base / ".gitignore").write_text("*\n", encoding="utf-8")
    folder = tempfile.mkdtemp(dir=base)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if [each.name for each in base.iterdir()] == [".gitignore"]:  # no other run is using it
            shutil.rmtree(base, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure Ringbolt against plain SQLite and against itself.")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, less exact")
    parser.add_argument("--gate", action="store_true", help="exit with 1 when a goal is missed")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file as well")
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="NAME", help=", ".join(SECTIONS))
    parser.add_argument("--million", action="store_true", help="also recall among a million entries")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the stores are removed
    facts = machine()
    print(" · ".join(f"{name} {value}" for name, value in facts.items()), flush=True)
    figures: list[Figure] = []
    begin = clock()
    with (
        scratch_folder() as folder,
        contextlib.closing(Bench(folder, QUICK if options.quick else Sizes())) as bench,
    ):
        for name in [*(options.only or SECTIONS), *(["million"] if options.million else [])]:
            section = clock()
            figures += getattr(bench, name)()
            print(f"{name}: {clock() - section:.1f} s", file=sys.stderr, flush=True)
    print(f"\n{table(figures)}\n\n{clock() - begin:.0f} s")
    if options.json:
        report = {"machine": facts, "figures": [figure._asdict() for figure in figures]}
        Path(options.json).write_text(
            json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    missed = any(figure.ok is False for figure in figures)
    return 1 if options.gate and missed else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        CHILDREN[sys.argv[2]](*sys.argv[3:])
    else:
        sys.exit(main())
