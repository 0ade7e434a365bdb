"""How a PostgreSQL store grows: `python bench/scale.py`, or `--quick`.

What the figures mean is in docs/explanation/scale.md; the SQL that changes the layout of `events` is read
from that page, so that what it says is what was run.

Real tasks are written once, by the library, for one tenant, and then copied inside the server for as many
tenants as make up the wanted number of events: other ids, the same hashes, in the order in which they would
have come if all had worked at the same time. So each task can be read, continued and verified. Times depend
on the machine; `×` compares with a small store in one table that is measured in the same rounds.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import struct
import sys
import threading
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo

sys.path.insert(0, str(Path(__file__).parents[1]))

from ringbolt import TaskMemory
from ringbolt.core.copying import copy_store
from tests.servers import ROLE, Server, fresh_database, postgres_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connection = psycopg.Connection[tuple[Any, ...]]

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "scale.md"
STATE = "origins heads extras steps records labels files links claims keys".split()
MIX = "mamdmamvmammmdammmam"  # 60% messages, 25% actions, 10% decisions, 5% variables
WORDS = (
    "The migration went through on the second try; the lock was held by the old worker. ",
    "Ran the whole suite again with the new index in place and the timings went down by a third. ",
    "The customer wants the export as one file per month, with the totals at the end of each. ",
)
START, YEAR = 1_767_225_600.0, 365 * 86_400
PARTS, RANGES = 16, 12
LAYOUTS = {
    "flat": "one table",
    "hash": f"hash of {PARTS}",
    "ranges": f"{RANGES} ranges",
    "both": f"{RANGES} ranges × hash of {PARTS}",
}
INTO = {
    "hash": ("table", "copy what comes", "copy what is there", "compare", "statistics", "swap"),
    "ranges": ("bound", "validate", "root", "next", "swap"),
}
LEAVES = "(SELECT relid FROM pg_partition_tree('events') WHERE isleaf UNION SELECT 'events'::regclass)"
FIRST_ID = 10_001  # ids below are those of the pattern
BLOCK = 8192
BILLION = 1e9
clock = time.perf_counter


class Sizes(NamedTuple):
    """How much is done: lengths of a tenant's tasks, stores and their layouts, calls, events that move."""

    lengths: list[int]
    stores: list[tuple[int, list[str]]]
    calls: int
    moved: int
    cold: tuple[str, ...] = ()


FULL = Sizes(
    [20] * 14 + [60] * 10 + [150] * 8 + [400] * 3 + [1000],
    [(100_000, [*LAYOUTS]), (1_000_000, [*LAYOUTS]), (3_000_000, ["flat", "hash", "both"])],
    240,
    1_000_000,
    ("flat", "both"),
)
QUICK = Sizes([20] * 6 + [60] * 4 + [400], [(10_000, [*LAYOUTS])], 24, 10_000)


def say(*words: object) -> None:
    print(*words, flush=True)


def seconds(work: Callable[[], object]) -> float:
    begin = clock()
    work()
    return clock() - begin


def in_threads(works: list[Callable[[], object]]) -> None:
    """Do all at once; the first error of any is raised."""
    errors: list[Exception] = []

    def guarded(work: Callable[[], object]) -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 - it is raised again below
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


# --- SQL --------------------------------------------------------------------------------------------


def run(admin: Connection, name: str) -> None:
    """Run the SQL blocks of the page that begin with this name, each again until it got its locks."""
    text = PAGE.read_text(encoding="utf-8")
    found = re.findall(rf"^```sql\n(-- {re.escape(name)}\b.*?)^```$", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise LookupError(f"{PAGE.name} has no SQL block {name!r}")
    for block in found:
        while True:
            try:
                answer = admin.execute(block)
                if answer.description and answer.fetchone() == (False,):
                    raise RuntimeError(f"{name} answered no")
                break
            except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
                if admin.info.transaction_status:
                    admin.execute("ROLLBACK")
                time.sleep(0.1)


def one(connection: Connection, sql: Any, *params: Any) -> Any:
    """The first value of the first row."""
    row = connection.execute(sql, params).fetchone()
    return row[0] if row else None


def as_tenant(store: Store) -> Connection:
    """A connection of the application's role, for the tenant in the middle."""
    connection = psycopg.connect(store.url, autocommit=True)
    connection.execute("SELECT set_config('ringbolt.tenant', %s, false)", (store.middle,))
    return connection


# --- the pattern: the tasks of one tenant -----------------------------------------------------------


def opened(url: str, tenant: str, **options: Any) -> TaskMemory:
    given = {"workspace": "/repo/shop", "session": "s", "agent": "bench", "principal": "bench", **options}
    return TaskMemory.open(f"{url}&tenant={tenant}", **given)


def write_pattern(url: str, lengths: list[int]) -> None:
    """Write a year of a tenant's tasks, side by side as they would have been."""
    chance = random.Random(1)
    now = START
    plan: list[tuple[float, int, int]] = []
    for task, length in enumerate(lengths):
        begin = chance.random() * 0.9 * YEAR
        lasts = min(YEAR - begin, length * chance.uniform(300, 6000))
        plan += [(START + begin + lasts * step / length, task, step) for step in range(length)]
    ids: dict[int, str] = {}
    with closing(opened(url, "pattern", clock=lambda: now)) as memory:
        for moment, task, step in sorted(plan):
            now = moment
            text = (chance.choice(WORDS) * 8)[: chance.randint(80, 520)]
            if step == 0:
                steps = [f"Step {number} of the plan" for number in range(1, 9)]
                ids[task] = memory.task_register(f"Task {task} of the shop", plan=steps, request=text).task_id
                continue
            match MIX[(step + task) % len(MIX)]:
                case "a":
                    memory.task_log_action(
                        ids[task], text[:90], type="cli", tool="bash", step=step % 8 + 1,
                        input={"command": "make test"}, output={"exit": 0, "tail": text[:200]},
                    )  # fmt: skip
                case "d":
                    memory.task_decide(ids[task], choice=text[:60], reasoning=text[:200])
                case "v":
                    memory.task_set(ids[task], f"name{step % 5}", step)
                case _ if step == lengths[task] - 1:
                    memory.task_finish(ids[task], "Done.")
                case _:
                    memory.task_update(ids[task], text)


def tenant_name(number: int) -> str:
    return f"team-{number:06d}"


# --- stores -----------------------------------------------------------------------------------------


class Store:
    """A database with many tenants, its `events` in one of the layouts."""

    def __init__(self, bench: Bench, layout: str, events: int, name: str) -> None:
        each = sum(bench.sizes.lengths)
        self.name = name
        self.layout = layout
        self.tenants = max(4, round(events / each))
        self.events = self.tenants * each
        self.middle = tenant_name(self.tenants // 2)
        self.url = bench.url.replace("/pattern?", f"/{name}?")
        self._admin_url = make_conninfo(bench.server.url, dbname=name)
        bench.execute(f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE pattern")
        self.connect()
        self._shape()
        self.load_rate = self._load()
        self.vacuum = seconds(lambda: self.admin.execute("VACUUM (FREEZE) events"))
        self.analyze = seconds(lambda: self.admin.execute("ANALYZE events"))
        self.admin.execute(f"VACUUM (FREEZE, ANALYZE) {', '.join(STATE)}")
        self.admin.execute("CHECKPOINT")

    def connect(self) -> None:
        self.admin: Connection = psycopg.connect(self._admin_url, autocommit=True)

    def tasks(self, tenant: str, least: int = 0) -> list[str]:
        """The tasks of a tenant that have at least so many events."""
        found = self.admin.execute(
            "SELECT task_id FROM heads WHERE tenant_id = %s AND last_seq >= %s ORDER BY last_seq, task_id",
            (tenant, least),
        )
        return [row[0] for row in found.fetchall()]

    def _shape(self) -> None:
        run(self.admin, "helper")
        if self.layout == "hash":
            for step in INTO["hash"]:
                run(self.admin, f"hash: {step}")
            self.admin.execute("DROP TABLE events_old; DROP FUNCTION events_copy")
        elif self.layout != "flat":
            self.admin.execute("SELECT set_config('ringbolt.bound', %s, false)", (str(FIRST_ID),))
            for step in INTO["ranges"]:
                run(self.admin, f"ranges: {step}")
            # The page goes on with one range of 100 million ids. Here come several small ones.
            self.admin.execute("ALTER TABLE events DETACH PARTITION events_r1; DROP TABLE events_r1")
            kind = "hash" if self.layout == "both" else "plain"
            edges = [FIRST_ID + self.events * number // RANGES for number in range(RANGES)] + [1 << 62]
            for number, (low, high) in enumerate(pairwise(edges), 1):
                add = (
                    f"SELECT events_like('events_r{number}', '{kind}', {PARTS}); ALTER TABLE events"
                    f" ATTACH PARTITION events_r{number} FOR VALUES FROM ({low}) TO ({high})"
                )
                self.admin.execute(add)

    def _copies(self, table: str, first: int, step: int) -> str:
        """The pattern's rows of a table, for every step-th tenant."""
        tenant = "'team-' || lpad(n::text, 6, '0')"
        place = f"{FIRST_ID} + (p.place - 1) * {self.tenants} + n"
        values = {"task_id": f"left(md5({tenant} || p.task_id), 10)", "position": place}
        source = f"SELECT * FROM {table} t"
        if table in ("events", "heads"):
            column = "id" if table == "events" else "position"
            values[column] = place
            source = f"SELECT t.*, b.place FROM {table} t JOIN bench_places b ON b.id = t.{column}"
        rows = self.admin.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
            " AND NOT attisdropped AND attname <> 'tenant_id' ORDER BY attnum",
            (table,),
        )
        columns = [row[0] for row in rows.fetchall()]
        order = " ORDER BY b.place" if table == "events" else ""
        return (
            f"INSERT INTO {table} (tenant_id, {', '.join(columns)})"
            f" SELECT {tenant}, {', '.join(values.get(name, f'p.{name}') for name in columns)}"
            f" FROM ({source} WHERE t.tenant_id = 'pattern'{order}) p,"
            f" generate_series({first}, {self.tenants}, {step}) n"
        )

    def _load(self, loaders: int = 2) -> float:
        """Load all tenants with some connections at once; events a second."""

        def load(table: str, first: int) -> None:
            with psycopg.connect(self._admin_url, autocommit=True) as connection:
                connection.execute("SET session_replication_role = replica")  # foreign keys: they hold
                connection.execute(self._copies(table, first, loaders))

        for table in [*STATE, "events"]:
            begin = clock()
            in_threads([lambda n=number, t=table: load(t, n) for number in range(1, loaders + 1)])
        self.admin.execute("SELECT setval('events_id_seq', %s)", (FIRST_ID + self.events,))
        return self.events / (clock() - begin)

    def leaves(self) -> int:
        return max(1, one(self.admin, f"SELECT count(*) - 1 FROM {LEAVES} t"))

    def bytes(self) -> dict[str, float]:
        """Bytes an event: the table, its indexes, and all other tables with theirs."""
        sizes = f"SELECT sum(pg_{{}}_size(relid)) FROM {LEAVES} t"
        names = ", ".join(f"'{name}'::regclass" for name in STATE)
        rest = f"SELECT sum(pg_total_relation_size(r)) FROM unnest(ARRAY[{names}]) r"
        queries = {"table": sizes.format("table"), "indexes": sizes.format("indexes"), "state": rest}
        return {name: float(one(self.admin, query)) / self.events for name, query in queries.items()}


class Bench:
    """A server with the pattern on it."""

    def __init__(self, server: Server, url: str, sizes: Sizes) -> None:
        self.server = server
        self.url = url
        self.sizes = sizes
        with psycopg.connect(make_conninfo(server.url, dbname="pattern"), autocommit=True) as admin:
            admin.execute("ALTER DATABASE pattern SET synchronous_commit = off")
            write_pattern(url, sizes.lengths)
            admin.execute("ALTER DATABASE pattern RESET synchronous_commit")
            admin.execute(
                "CREATE TABLE bench_places AS"
                " SELECT id, row_number() OVER (ORDER BY id) AS place FROM events;"
                " ALTER TABLE bench_places ADD PRIMARY KEY (id); ANALYZE"
            )

    def execute(self, sql: Any) -> None:
        with psycopg.connect(self.server.url, autocommit=True) as server:
            server.execute(sql)

    def make(self, layout: str, events: int, name: str = "growing") -> Store:
        return Store(self, layout, events, name)

    def drop(self, store: Store) -> None:
        store.admin.close()
        self.execute(f"DROP DATABASE {store.name} WITH (FORCE)")

    def restart(self, *stores: Store) -> None:
        """Start the server again, with nothing in its memory."""
        for store in stores:
            store.admin.close()
        self.server.stop()
        self.server.start()
        for store in stores:
            store.connect()


# --- the library at work ----------------------------------------------------------------------------


class Calls:
    """The library for the tenant in the middle of a store: the same calls on one task after the other."""

    def __init__(self, store: Store, *warm: str) -> None:
        self._memory = opened(store.url, store.middle)
        self._tasks = store.tasks(store.middle, 60)
        self._long = store.tasks(store.middle, 400)[0]
        self._number = 0
        for name in warm:
            for _ in range(16):  # until its statements are prepared and their plans have settled
                getattr(self, name)()

    def __enter__(self) -> Calls:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.close()

    def _next(self) -> str:
        self._number += 1
        return self._tasks[self._number % len(self._tasks)]

    def update(self) -> None:
        self._memory.task_update(self._next(), (WORDS[self._number % 3] * 4)[:300])

    def get(self) -> None:
        self._memory.task_get(self._next())

    def verify(self) -> None:
        if not self._memory.verify(self._long).ok:
            raise RuntimeError("a copied task does not verify")


class Times(NamedTuple):
    """Milliseconds: the median, the 95th percentile, and the median against the reference's."""

    middle: float
    high: float
    ratio: float


def latencies(store: Store, reference: Store, calls: int) -> dict[str, Times]:
    """How long calls take, in turn with the reference; `first` is a get as a process' first call."""
    names = ("update", "get", "verify")
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in (*names, "first")}
    with Calls(store, *names) as ours, Calls(reference, *names) as theirs:
        for name, rounds, each in (("update", calls // 12, 12), ("get", calls // 12, 12), ("verify", 6, 1)):
            for _ in range(rounds):
                for side, into in zip((ours, theirs), times[name], strict=True):
                    into += [seconds(getattr(side, name)) * 1000 for _ in range(each)]
    for _ in range(6):
        for side, into in zip((store, reference), times["first"], strict=True):
            with Calls(side) as fresh:
                into.append(seconds(fresh.get) * 1000)
    return {
        name: Times(median(mine), quantiles(mine, n=20)[-1], median(mine) / median(other))
        for name, (mine, other) in times.items()
    }


def page_counts(store: Store, kind: str) -> int:
    """Pages of our tables and indexes that sessions found in the server's memory, or had to read."""
    store.admin.execute("SELECT pg_stat_force_next_flush()")
    while one(store.admin, "SELECT numbackends FROM pg_stat_database WHERE datname = current_database()") > 1:
        time.sleep(0.02)
    time.sleep(0.1)
    columns = f"coalesce(heap_blks_{kind}, 0) + coalesce(idx_blks_{kind}, 0)"
    return int(one(store.admin, f"SELECT sum({columns}) FROM pg_statio_user_tables"))


def touched(store: Store, name: str) -> float:
    """Pages that one call touches: the difference between many calls and few."""
    totals: list[int] = []
    counts = (5, 45)
    for count in counts:
        before = page_counts(store, "hit") + page_counts(store, "read")
        with Calls(store, name) as calls:
            for _ in range(count):
                getattr(calls, name)()
        totals.append(page_counts(store, "hit") + page_counts(store, "read") - before)
    return (totals[1] - totals[0]) / (counts[1] - counts[0])


def cold(store: Store) -> dict[str, float]:
    """Pages that a call reads on a task that nobody has touched since the server was started."""
    found: dict[str, float] = {}
    some = [tenant_name(1 + number * (store.tenants - 1) // 24) for number in range(24)]
    for name, tenants in (("get", some[::2]), ("update", some[1::2])):
        for number, tenant in enumerate(tenants):
            if number == 4:  # the first ones warm the upper pages of the indexes
                found[name] = -page_counts(store, "read")
            with closing(opened(store.url, tenant)) as memory:
                task = store.tasks(tenant, 150)[0]
                if name == "get":
                    memory.task_get(task)
                else:
                    memory.task_update(task, WORDS[0] * 3)
        found[name] = (found[name] + page_counts(store, "read")) / (len(tenants) - 4)
    return found


def writers(store: Store, threads: int = 8, calls: int = 40) -> float:
    """Updates a second of some threads, each on a task of its own."""
    with closing(opened(store.url, store.middle, pool_size=threads)) as memory:

        def write(task: str, count: int) -> None:
            for _ in range(count):
                memory.task_update(task, WORDS[0] * 3)

        tasks = store.tasks(store.middle)[:threads]
        in_threads([lambda t=task: write(t, 16) for task in tasks])
        return len(tasks) * calls / seconds(lambda: in_threads([lambda t=t: write(t, calls) for t in tasks]))


# --- the server's side ------------------------------------------------------------------------------


class Plans(NamedTuple):
    """How one event is found: ms of planning, the tenant from the policy or in the query; locks; plan."""

    by_policy: float
    by_query: float
    locks: int
    plan: list[str]


def plans(store: Store) -> Plans:
    """Look for one event as the application's role."""
    query = f"SELECT * FROM events WHERE task_id = '{store.tasks(store.middle, 60)[0]}' AND seq = 7"
    times: dict[str, list[float]] = {query: [], f"{query} AND tenant_id = '{store.middle}'": []}
    plan: dict[str, list[str]] = {}
    with as_tenant(store) as connection:
        for _ in range(15):
            for text, into in times.items():
                explain: Any = f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) {text}"
                lines = [row[0] for row in connection.execute(explain).fetchall()]
                into += [float(line.split()[2]) for line in lines if line.startswith("Planning Time")]
                plan[text] = lines
        with connection.transaction():
            one(connection, query)
            locks = one(connection, "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()")
    by_policy, by_query = (median(each) for each in times.values())
    return Plans(by_policy, by_query, locks, plan[query])


def shortened(plan: list[str]) -> list[str]:
    """A plan with but one of its scans: the one that found something."""
    scans = [number for number, line in enumerate(plan) if "->" in line]
    if len(scans) < 2:
        return plan
    end = next(number for number, line in enumerate(plan) if line.startswith("Planning"))
    found = next(place for place, number in enumerate(scans) if "rows=1" in plan[number])
    shown = plan[scans[found] : [*scans, end][found + 1]]
    return [*plan[: scans[0]], *shown, f"  … and {len(scans) - 1} scans that found nothing", *plan[end:]]


class Tree(NamedTuple):
    """A B-tree as it lies in its file: pages by level, leaves first, and the entries on a page."""

    pages: list[int]
    entries: list[float]


def tree(server: Server, store: Store, index: str) -> Tree:
    """Read every page of an index: what pageinspect would tell, which this server does not have."""
    store.admin.execute("CHECKPOINT")
    path = server.folder / "data" / one(store.admin, "SELECT pg_relation_filepath(%s)", index)
    counts: dict[int, list[int]] = {}
    for part in path.parent.glob(f"{path.name}*"):
        if re.fullmatch(rf"{path.name}(\.\d+)?", part.name):
            data = part.read_bytes()
            for at in range(0, len(data), BLOCK):
                lower, _, special = struct.unpack_from("<HHH", data, at + 12)
                if special == BLOCK - 16:
                    _, _, level, flags = struct.unpack_from("<IIIH", data, at + special)
                    if not flags & 0b1100:  # neither a deleted page nor the one about the index
                        counts.setdefault(level, []).append((lower - 24) // 4)
    levels = [counts[level] for level in sorted(counts)]
    return Tree([len(level) for level in levels], [sum(level) / len(level) for level in levels])


def log_bytes(store: Store) -> tuple[float, float]:
    """Bytes of log an update: right after a checkpoint, and once its pages have been in the log."""
    found: list[float] = []
    with Calls(store, "update") as calls:
        store.admin.execute("CHECKPOINT")
        for _ in range(2):
            before = one(store.admin, "SELECT pg_current_wal_insert_lsn() - '0/0'")
            for _ in range(40):
                calls.update()
            found.append(float(one(store.admin, "SELECT pg_current_wal_insert_lsn() - '0/0'") - before) / 40)
    return found[0], found[1]


# --- changing the layout while others write ---------------------------------------------------------


class Busy:
    """Two tenants that write and read all the time; how long each turn took, and what went wrong."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._stop = threading.Event()
        self._turns: dict[str, list[tuple[float, float]]] = {tenant_name(1): [], tenant_name(2): []}
        self.problems: list[str] = []
        self._threads = [threading.Thread(target=self._guarded, args=(tenant,)) for tenant in self._turns]

    def __enter__(self) -> Busy:
        for thread in self._threads:
            thread.start()
        time.sleep(1)
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _guarded(self, tenant: str) -> None:
        try:
            with closing(opened(self._store.url, tenant)) as memory:
                self._work(memory, tenant)
        except Exception as error:  # noqa: BLE001 - it is raised when all is done
            self.problems.append(repr(error))

    def _work(self, memory: TaskMemory, tenant: str) -> None:
        task = memory.task_register("Busy", ["Write"]).task_id
        written = 1
        while not self._stop.is_set():
            begin = clock()
            memory.task_update(task, WORDS[0] * 3)
            memory.task_get(task)
            self._turns[tenant].append((begin, clock()))
            written += 1
        if memory.verify(task).events != written:
            self.problems.append(f"not all of {written} events are there")
        tasks = self._store.tasks(tenant)
        self.problems += [f"{each} does not verify" for each in tasks if not memory.verify(each).ok]

    def longest(self, begin: float, end: float) -> float:
        """The longest turn, a write and a read, of those in a time."""
        while not self.problems and any(not turns or turns[-1][0] < end for turns in self._turns.values()):
            time.sleep(0.02)
        turns = [turn for each in self._turns.values() for turn in [*each]]
        return max((done - began for began, done in turns if done > begin and began < end), default=0.0)


def change_layout(store: Store, steps: list[str]) -> Iterator[tuple[str, float, float]]:
    """Run steps of the page while two tenants are at work: name, seconds, their longest turn."""
    with Busy(store) as busy:
        for step in ["", *steps]:
            begin = clock()
            if step:
                run(store.admin, step)
            else:
                time.sleep(1)
            end = clock()
            yield step or "nothing", end - begin, busy.longest(begin, end)
    if busy.problems:
        raise RuntimeError(busy.problems)
    with as_tenant(store) as connection:
        if not all(one(connection, f"SELECT count(*) FROM {view}") for view in ("actions", "task_messages")):
            raise RuntimeError("the views see nothing")


def migrations(bench: Bench) -> None:
    """The steps of the page, on stores in use."""
    ways = {"ranges": ["ranges"], "hash, then ranges": ["hash", "ranges"]}
    for title, kinds in ways.items():
        store = bench.make("flat", bench.sizes.moved)
        store.admin.execute("SET lock_timeout = '500ms'")
        store.admin.execute(
            "SELECT set_config('ringbolt.bound', (last_value + 1000000)::text, false) FROM events_id_seq"
        )
        say(f"\nInto {title}, {store.events:,} events, two tenants at work:")
        steps = [f"{kind}: {step}" for kind in kinds for step in INTO[kind]]
        for step, took, longest in change_layout(store, steps):
            say(f"  {step:28} {took:7.2f} s, longest turn {longest * 1000:5.0f} ms")
        if title == "ranges":
            away_and_back(store)
            move_tenant(bench, store)
        bench.drop(store)


def away_and_back(store: Store) -> None:
    """Add a range, take the oldest one away, and bring it back."""
    for step in ("one more range", "old range: take away", "old range: bring back"):
        took = seconds(lambda s=step: run(store.admin, s))
        say(f"  {step:28} {took:7.2f} s")
    with closing(opened(store.url, store.middle)) as memory:
        if not memory.verify(store.tasks(store.middle, 60)[0]).ok:
            raise RuntimeError("not all came back")


def move_tenant(bench: Bench, store: Store) -> None:
    """Copy a tenant to another database with the library."""
    bench.execute(f"CREATE DATABASE elsewhere OWNER {ROLE} TEMPLATE template0 ENCODING 'UTF8'")
    url = store.url.replace(f"/{store.name}?", "/elsewhere?")
    with closing(opened(store.url, store.middle)) as source, closing(opened(url, store.middle)) as target:
        begin = clock()
        report = copy_store(source, target)
        took = clock() - begin
    bench.execute("DROP DATABASE elsewhere WITH (FORCE)")
    if not report.ok:
        raise RuntimeError(report)
    say(f"  {'a tenant to another place':28} {took:7.2f} s, {report.events:,} events, verified")


# --- the run ----------------------------------------------------------------------------------------

COLUMNS = (
    "events", "layout", "leaves", "loaded/s", "B/event: table + indexes", "state", "freeze s", "analyze s",
    "update ms p50 / p95", "get ms p50 / p95", "first get ms", "verify ms", "pages: update / get",
    "plan ms: policy / query", "locks",
)  # fmt: skip


def line(store: Store, reference: Store, calls: int, found: Plans) -> list[str]:
    """What is measured on every store, as a line of the table."""
    times = latencies(store, reference, calls)
    size = store.bytes()
    return [
        f"{store.events:,}",
        LAYOUTS[store.layout],
        str(store.leaves()),
        f"{store.load_rate:,.0f}",
        f"{size['table']:.0f} + {size['indexes']:.0f}",
        f"{size['state']:.0f}",
        f"{store.vacuum:.2f}",
        f"{store.analyze:.2f}",
        *(
            f"{each.middle:.1f} / {each.high:.1f} (×{each.ratio:.2f})"
            for each in (times["update"], times["get"])
        ),
        *(f"{each.middle:.0f} (×{each.ratio:.2f})" for each in (times["first"], times["verify"])),
        f"{touched(store, 'update'):.0f} / {touched(store, 'get'):.0f}",
        f"{found.by_policy:.2f} / {found.by_query:.2f}",
        str(found.locks),
    ]


def further(bench: Bench, store: Store) -> None:
    """What is measured on stores in one table only."""
    say(f"\n{store.events:,} events in {LAYOUTS[store.layout]}:")
    first, later = log_bytes(store)
    say(f"  log an update: {first / 1024:.1f} kB right after a checkpoint, then {later / 1024:.1f} kB")
    updates, hot = store.admin.execute(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'heads'"
    ).fetchone() or (0, 0)
    say(f"  updates of heads: {updates}, of them HOT: {hot}")
    say(f"  8 threads: {writers(store):,.0f} updates/s")
    for index in ("events_pkey", "events_by_type", "events_by_id"):
        found = tree(bench.server, store, index)
        entries = ", ".join(f"{count:.0f}" for count in found.entries)
        say(f"  {index}: pages by level, leaves first: {found.pages}; entries a page: {entries}")
    model(store, tree(bench.server, store, "events_pkey"))


def model(store: Store, key: Tree) -> None:
    """What this store would be with 10⁹ events, if nothing but their number changed."""
    size = store.bytes()
    parts = ", ".join(f"{name} {each / 1000:.2f}" for name, each in size.items())
    say(f"  10⁹ events: {sum(size.values()) / 1000:.2f} TB ({parts})")
    fan_out = key.entries[1]
    for tables in (1, 10, 16, 160):
        pages, levels = BILLION / tables / key.entries[0], 1
        while pages > 1:
            pages, levels = pages / fan_out, levels + 1
        say(f"    primary key in {tables} tables: {levels} levels")
    say(f"    pages of the indexes above the leaves: {size['indexes'] / fan_out:.1f} GB")
    rate = size["table"] * store.events / store.vacuum / 1e9
    say(f"    freezing at {rate:.2f} GB/s: {size['table'] / rate / 60:.0f} min of reading and writing")


def measure(bench: Bench) -> None:
    sizes = bench.sizes
    rows: list[list[str]] = []
    seen: dict[str, Plans] = {}
    reference = bench.make("flat", sizes.stores[0][0], "reference")
    for events, layouts in sizes.stores:
        for layout in layouts:
            store = bench.make(layout, events)
            seen[layout] = plans(store)
            rows.append(line(store, reference, sizes.calls, seen[layout]))
            say(f"[{' | '.join(rows[-1])}]")
            if layout == "flat":
                further(bench, store)
            if events == sizes.stores[-1][0] and layout in sizes.cold:
                bench.restart(store, reference)
                reads = ", ".join(f"{name} {count:.0f}" for name, count in cold(store).items())
                say(f"  pages read for a cold task, {LAYOUTS[layout]}: {reads}")
            bench.drop(store)
    rule = ["---"] * len(COLUMNS)
    say("\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in (COLUMNS, rule, *rows)))
    for layout, found in seen.items():
        say(f"\nOne event in {LAYOUTS[layout]}:", *(f"\n    {text}" for text in shortened(found.plan)))
    bench.drop(reference)
    migrations(bench)


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how a PostgreSQL store grows.")
    parser.add_argument("--quick", action="store_true", help="small stores, under a minute")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is removed
    begin = clock()
    settings = {
        "shared_buffers": "512MB",
        "max_wal_size": "2GB",
        "maintenance_work_mem": "256MB",
        "autovacuum": "off",  # so that it does not come in between: both of its works are measured
        "max_connections": 60,
    }
    with postgres_server(**settings) as server, fresh_database(server.url, "pattern") as url:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
        with psycopg.connect(server.url) as admin:
            say(
                f"PostgreSQL {one(admin, 'SHOW server_version')} · {os.cpu_count()} cores · {memory} GB"
                f" · load {os.getloadavg()[0]:.1f}"
            )
        measure(Bench(server, url, QUICK if options.quick else FULL))
    say(f"\n{clock() - begin:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
