"""Any sequence of operations leaves a ledger that folds back to the state, at every moment of it.

Every call goes to SQLite and to PostgreSQL side by side, and both must answer the same.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, Phase, event, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from ringbolt import Conflict, InvalidInput, NotFound, TaskMemory
from ringbolt.model.rules import ACTION_TYPES, CHANNELS, ENTRY_TYPES, LINK_KINDS, PHASES, TASK_STATUSES
from ringbolt.model.types import Task, Written
from tests.core.calls import ON_TWO_TASKS, READS, REGISTER, WRITES, prepare
from tests.store.full_fold import check_pasts
from tests.store.side_by_side import Both, Differs, open_both

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
LINES = TEXTS.filter(lambda text: text.strip())
# Letters whose small and capital forms are not one to one, and what LIKE would take for its own.
LETTERS = "aAéÉßẞİiIıΣσςKk%_!\\'"
NAMES = st.text(LETTERS, min_size=1, max_size=5)
WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "v1.2.3", "src/app.py"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)
PLANS = st.one_of(
    st.lists(LINES, max_size=5),
    st.lists(st.fixed_dictionaries({"title": LINES, "stage": st.integers(1, 3)}), max_size=4),
    st.just({"a": {"title": "first"}, "b": {"title": "second", "depends_on": ["a"]}}),
)
FILTERS = st.fixed_dictionaries(
    {"status": st.sampled_from(["all", "all", "open", "ended", "active", ["waiting", "completed"]])},
    optional={
        "workspace": st.sampled_from([None, "/w", "/elsewhere"]),
        "session": st.sampled_from(["S", "T", ""]),
        "tag": WORDS,
        "text": st.text(LETTERS, max_size=2) | TEXTS,
        "kind": st.sampled_from([None, "task", "goal"]),
        "archived": st.booleans(),
    },
)
# Which of the things that exist: the machine takes the number modulo how many there are.
WHICH = st.integers(0, 1000)
ITEM_STATUSES = st.sampled_from(["pending", "active", "completed", "failed", "skipped", "cancelled", "done"])


def without_leases(task: Task) -> Task:
    """A task without what a heartbeat moves, for that leaves no event."""
    return task.replace(claims=tuple(claim.replace(expires_at="") for claim in task.claims))


class Ledger(RuleBasedStateMachine):
    """Drives a store of each engine through the public operations, mostly with arguments that make sense."""

    def __init__(self, postgres_url: str) -> None:
        super().__init__()
        self.postgres_url = postgres_url

    def open_memory(self, name: str) -> Both:
        return open_both(self.folder / name, f"{self.postgres_url}&tenant={uuid4().hex}")

    @initialize(first=PLANS, second=PLANS)
    def begin(self, first, second):
        self.folder = Path(tempfile.mkdtemp(prefix="ringbolt-machine-"))
        self.memory = self.open_memory("store.db")
        self.seen: dict[tuple[str, int], Task] = {}
        self.written: str | None = None
        self.before = sys.exception()
        self.ids: list[str] = []
        self.register("first", first, "the request", [], None, False)
        self.register("second", second, None, ["alpha"], 0, True)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            try:
                if sys.exception() is self.before:  # else a step has failed, and should be what is reported
                    self.at_the_end()
            finally:
                self.memory.close()
                shutil.rmtree(self.folder)

    def do(self, operation: str, *args, **kwargs):
        """Call an operation; what it wrote must be readable, and an error must have changed nothing."""
        before = self.positions(self.memory.first)
        try:
            result = getattr(self.memory, operation)(*args, **kwargs)
        except (Conflict, InvalidInput, NotFound) as error:
            event(f"{operation}: {error.code}")
            assert self.positions(self.memory) == before, f"{operation} failed, but it wrote"
            return None
        event(f"{operation}: written")
        if kwargs.get("key") is not None:
            again = getattr(self.memory, operation)(*args, **kwargs)
            assert again == result, f"{operation} with the same key answered another result"
        task = self.memory.task_get(result.task_id)
        assert (task.done, task.total, task.status) == (result.done, result.total, result.status)
        assert (task.current, task.next) == (result.current, result.next)
        self.seen[task.id, task.seq] = without_leases(task)
        self.written = task.id
        return result

    def ask(self, operation: str, *args, **kwargs) -> None:
        """Call an operation that only reads: what counts is that both engines answer alike."""
        try:
            getattr(self.memory, operation)(*args, **kwargs)
        except (Conflict, InvalidInput, NotFound) as error:
            event(f"{operation}: {error.code}")
        else:
            event(f"{operation}: read")

    def positions(self, memory: Both | TaskMemory) -> list[tuple[str, int]]:
        page = memory.task_list(status="all", limit=1000, archived=True, kind=None)
        return [(card.id, card.seq) for card in page.tasks]

    def task(self, which: int) -> str:
        return self.ids[which % len(self.ids)]

    def item(self, which: int, number: int | None) -> str | None:
        items = self.memory.first.task_get(self.task(which)).steps
        return items[number % len(items)].id if number is not None and items else None

    def seq(self, which: int, number: int | None, *types: str) -> int | None:
        """One of the task's events of some types, if there is any."""
        thread = self.memory.first.task_thread(self.task(which), limit=1000, types=types)
        found = [event.seq for event in thread.events]
        return found[number % len(found)] if number is not None and found else None

    def key(self, keyed: bool) -> str | None:
        return f"key {len(self.seen)}" if keyed else None

    @rule(name=LINES | NAMES, plan=PLANS, request=st.none() | TEXTS, tags=st.lists(WORDS, max_size=2),
          parent=st.none() | WHICH, keyed=st.booleans())  # fmt: skip
    def register(self, name, plan, request, tags, parent, keyed):
        result = self.do(
            "task_register", name, plan, request=request, tags=tags, metadata={"n": 1},
            parent=None if parent is None or not self.ids else self.task(parent),
            key=f"register {len(self.ids)}" if keyed else None,
        )  # fmt: skip
        if result:
            self.ids.append(result.task_id)

    @rule(task=WHICH, message=st.none() | TEXTS, status=st.none() | st.sampled_from(TASK_STATUSES),
          phase=st.none() | st.sampled_from(PHASES), step=st.none() | WHICH,
          step_status=ITEM_STATUSES, blockers=st.none() | st.lists(LINES, max_size=2),
          following=st.none() | TEXTS, archived=st.none() | st.booleans(), keyed=st.booleans())  # fmt: skip
    def update(self, task, message, status, phase, step, step_status, blockers, following, archived, keyed):
        item = self.item(task, step)
        self.do(
            "task_update", self.task(task), message, status=status, phase=phase, step=item,
            step_status=step_status if item else None, blockers=blockers, next=following, archived=archived,
            key=self.key(keyed),
        )  # fmt: skip

    @rule(task=WHICH, message=TEXTS, keyed=st.booleans())
    def say(self, task, message, keyed):
        self.do("task_update", self.task(task), message, key=self.key(keyed))

    @rule(task=WHICH, plan=PLANS, reason=st.none() | TEXTS, keyed=st.booleans())
    def replan(self, task, plan, reason, keyed):
        self.do("task_plan_replace", self.task(task), plan, reason=reason, key=self.key(keyed))

    @rule(task=WHICH, titles=st.lists(LINES, min_size=1, max_size=3), after=st.none() | WHICH)
    def append(self, task, titles, after):
        self.do("task_plan_append", self.task(task), titles, after=self.item(task, after))

    @rule(task=WHICH, item=WHICH, status=ITEM_STATUSES, note=st.none() | TEXTS, issue=st.none() | TEXTS,
          depends=st.none() | st.lists(WHICH, max_size=2), keyed=st.booleans())  # fmt: skip
    def change_item(self, task, item, status, note, issue, depends, keyed):
        others = None if depends is None else [self.item(task, number) or "s1" for number in depends]
        self.do("task_item_update", self.task(task), self.item(task, item) or "s1", status=status, note=note,
                active_issue=issue, depends_on=others, key=self.key(keyed))  # fmt: skip

    @rule(task=WHICH, summary=LINES, kind=st.sampled_from(ACTION_TYPES), value=JSON,
          status=st.sampled_from(["started", "completed", "failed", "SYSTEM_ERROR"]),
          item=st.none() | WHICH, files=st.lists(WORDS, max_size=2))  # fmt: skip
    def act(self, task, summary, kind, value, status, item, files):
        self.do("task_log_action", self.task(task), summary, type=kind, status=status, input=value,
                item=self.item(task, item), files=files)  # fmt: skip

    @rule(task=WHICH, action=WHICH, value=JSON, status=st.sampled_from(["completed", "failed"]))
    def end_action(self, task, action, value, status):
        self.do("task_log_action", self.task(task), action=self.seq(task, action, "action") or 1,
                output=value, status=status)  # fmt: skip

    @rule(task=WHICH, action=WHICH, content=LINES)
    def log(self, task, action, content):
        self.do("task_log_append", self.task(task), action=self.seq(task, action, "action") or 1,
                content=content)  # fmt: skip

    @rule(task=WHICH, choice=LINES, options=st.lists(JSON, max_size=2), supersedes=st.none() | WHICH)
    def decide(self, task, choice, options, supersedes):
        self.do("task_decide", self.task(task), choice=choice, options=options, reasoning="because",
                supersedes=self.seq(task, supersedes, "decision"), key=self.key(True))  # fmt: skip

    @rule(task=WHICH, what=LINES, item=st.none() | WHICH)
    def exclude(self, task, what, item):
        self.do("task_exclude", self.task(task), what=what, why="it broke", symptom="boom",
                item=self.item(task, item))  # fmt: skip

    @rule(task=WHICH, name=WORDS, value=JSON)
    def set_variable(self, task, name, value):
        self.do("task_set", self.task(task), name, value)

    @rule(task=WHICH, summary=LINES, kind=st.sampled_from(ENTRY_TYPES), tags=st.lists(WORDS, max_size=2),
          ends=st.none() | WHICH, how=st.sampled_from(["supersedes", "resolves", "invalidates"]),
          relevant=st.lists(WORDS, max_size=2))  # fmt: skip
    def remember(self, task, summary, kind, tags, ends, how, relevant):
        self.do("task_remember", self.task(task), summary, type=kind, tags=tags, relevance_to=relevant,
                **{how: self.seq(task, ends, *ENTRY_TYPES)})  # fmt: skip

    @rule(task=WHICH, content=LINES)
    def snapshot(self, task, content):
        self.do("task_snapshot", self.task(task), content, label="before stage 1")

    @rule(task=WHICH, what=LINES, verify=st.none() | TEXTS)
    def intend(self, task, what, verify):
        self.do("task_intent", self.task(task), what=what, verify=verify)

    @rule(task=WHICH, intent=WHICH, outcome=st.sampled_from(["did", "did_not", "unknown"]))
    def outcome(self, task, intent, outcome):
        self.do(
            "task_outcome", self.task(task), intent=self.seq(task, intent, "intent") or 1, outcome=outcome
        )

    @rule(task=WHICH, item=st.none() | WHICH, holder=WORDS, reclaim=st.none() | LINES)
    def claim(self, task, item, holder, reclaim):
        self.do("task_claim", self.task(task), item=self.item(task, item), holder=holder, reclaim=reclaim)

    @rule(task=WHICH, item=st.none() | WHICH)
    def release(self, task, item):
        self.do("task_release", self.task(task), item=self.item(task, item))

    @rule(task=WHICH, other=WHICH, kind=st.sampled_from(LINK_KINDS), remove=st.booleans())
    def link(self, task, other, kind, remove):
        self.do("task_link", self.task(task), target=self.task(other), kind=kind, remove=remove)

    @rule(task=WHICH, answer=st.none() | TEXTS, error=st.none() | TEXTS)
    def finish(self, task, answer, error):
        self.do("task_finish", self.task(task), answer, error=error)

    @rule(task=WHICH, number=st.none() | WHICH)
    def undo(self, task, number):
        self.do("task_undo", self.task(task), self.seq(task, number))

    @rule(task=WHICH)
    def focus(self, task):
        self.do("task_focus", self.task(task))

    @rule(message=TEXTS, keyed=st.booleans())
    def say_to_the_current_one(self, message, keyed):
        self.do("task_update", None, message, key=self.key(keyed))

    @rule(task=WHICH, item=st.none() | WHICH)
    def heartbeat(self, task, item):
        self.do("task_heartbeat", self.task(task), item=self.item(task, item))

    @rule(task=WHICH, letters=st.integers(0, 10), at=st.none() | st.floats(1_700_000_000, 1_700_010_000))
    def get(self, task, letters, at):
        self.ask("task_get", self.task(task)[:letters] or None, at=at)

    @rule(filters=FILTERS, parent=st.none() | WHICH, limit=st.integers(1, 3))
    def list_some(self, filters, parent, limit):
        self.ask("pages", **filters, parent=None if parent is None else self.task(parent), limit=limit)

    @rule(task=WHICH, limit=st.integers(1, 5), before=st.none() | st.integers(1, 40),
          types=st.lists(st.sampled_from(["message", "action", "log", "intent"]), max_size=2))  # fmt: skip
    def thread(self, task, limit, before, types):
        self.ask("task_thread", self.task(task), limit=limit, before=before, types=types)

    @rule(task=WHICH, item=st.none() | WHICH, action=st.none() | WHICH, limit=st.integers(1, 3))
    def drill_down(self, task, item, action, limit):
        self.ask("task_drill_down", self.task(task), self.item(task, item),
                 action=self.seq(task, action, "action"), limit=limit)  # fmt: skip

    @rule(task=WHICH, kind=st.sampled_from([*ENTRY_TYPES, "snapshot"]), name=st.none() | WORDS,
          limit=st.integers(1, 3))  # fmt: skip
    def history(self, task, kind, name, limit):
        self.ask("task_history", self.task(task), type=kind, name=name, limit=limit)

    @rule(task=WHICH)
    def plans(self, task):
        self.ask("task_plans", self.task(task))

    @rule(channel=st.sampled_from(CHANNELS), session=st.sampled_from(["S", "T"]))
    def become(self, channel, session):
        self.memory = self.memory.acting_as(channel=channel, session=session)

    @invariant()
    def state_is_the_fold_of_the_events(self) -> None:
        if getattr(self, "written", None):
            report = self.memory.verify(self.written)
            assert report.ok, report.problems
            self.written = None

    def at_the_end(self) -> None:
        assert self.memory.verify().ok
        self.memory.pages(status="all", limit=2, archived=True, kind=None)
        for number, ((task_id, seq), task) in enumerate(self.seen.items()):
            memory = self.memory.first if number % 5 else self.memory
            assert without_leases(memory.task_get(task_id, at=seq)) == task
        for memory in self.memory.each:
            check_pasts(memory)
        export = self.folder / "export.jsonl"
        count = self.memory.export_events(export)
        other = self.open_memory("copy.db")
        try:
            self.take_over(other, export, count)
        finally:
            other.close()

    def take_over(self, other: Both, export: Path, count: int) -> None:
        """Another memory takes the export, both go on by themselves, and are merged."""
        report = other.import_events(export)
        assert (report.added, report.known, report.conflicts) == (count, 0, ())
        other.export_events(self.folder / "again.jsonl")
        assert (self.folder / "again.jsonl").read_bytes() == export.read_bytes()
        assert other.import_events(export).added == 0
        for task_id in {task_id for task_id, _ in self.seen}:
            here, there = self.memory.task_get(task_id), other.task_get(task_id)
            assert without_leases(there) == without_leases(here)
        assert other.verify().ok
        other.acting_as(session="T").task_update(self.ids[0], "there")
        self.memory.acting_as(session="T").task_update(self.ids[0], "here")
        other.export_events(export)
        (conflict,) = self.memory.import_events(export).conflicts
        assert conflict.task_id == self.ids[0]
        assert self.memory.task_get(conflict.kept_as).conflict_of == self.ids[0]
        assert self.memory.verify().ok
        for memory in self.memory.each:  # what was imported, and kept twice
            check_pasts(memory, 5)
        self.memory.export_events(export)


COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


def run(postgres_url: str, **wanted) -> None:
    run_state_machine_as_test(lambda: Ledger(postgres_url), settings=settings(**wanted, **COMMON))


def test_any_sequence_of_operations_keeps_the_ledger_and_the_state_equal(postgres_url):
    # Without shrinking: that can take five minutes, and the printed steps repeat the failure as they are.
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    run(postgres_url, max_examples=3, stateful_step_count=20, phases=phases)


@pytest.mark.reliability
def test_long_sequences_of_operations_keep_the_ledger_and_the_state_equal(postgres_url):
    run(postgres_url, max_examples=300, stateful_step_count=50)


@pytest.fixture
def both(tmp_path, postgres_url):
    memory = open_both(tmp_path / "store.db", f"{postgres_url}&tenant={uuid4().hex}")
    yield memory
    memory.close()


def attempt(memory: Both, call: str, *args, **kwargs):
    """What a call answers, if anything: when both engines refuse it in the same words, that is as good."""
    try:
        return getattr(memory, call)(*args, **kwargs)
    except (Conflict, InvalidInput, NotFound):
        return None


def test_a_difference_is_noticed_wherever_it_shows(both, tmp_path):
    task = both.task_register("name", ["A"]).task_id
    both.first.task_update(task, "said to one of them only")
    for call, arguments in {
        "task_get": {}, "task_thread": {}, "task_drill_down": {}, "verify": {}, "events": {},
        "export_events": {"path": tmp_path / "export.jsonl"}, "task_undo": {"seq": 2},
        "task_plan_append": {"items": ["B"]},
    }.items():  # fmt: skip
        with pytest.raises(Differs):
            getattr(both, call)(task_id=task, **arguments)
    for call in (both.task_list, both.pages):
        with pytest.raises(Differs):
            call()


def test_lists_find_the_same_names_whatever_their_case(both):
    names = [*LETTERS, "Ékezet", "STRASSE", "Straße", "İstanbul", "ΟΔΟΣ", "Οδος Σ", "100% a_b!"]
    for name in names:
        both.task_register(name)
    for name in names:
        for text in sorted({name, name.lower(), name.upper(), name.swapcase(), name.casefold(), name[1:]}):
            both.pages(text=text, limit=7)


@pytest.mark.parametrize("call", ["task_register", *WRITES])
def test_long_texts_are_taken_or_refused_alike(both, call):
    task = both.task_register("name", ["A", "B", "C"]).task_id
    prepare(both, task)
    usual = {**REGISTER, "workspace": "/w"}
    if call != "task_register":
        usual = {**WRITES[call][0], "task_id": task}
    for size in (200, 500, 1000, 2000, 3000, 4000):
        # Digits in disorder, for what repeats itself could be made to fit.
        text = f"{random.Random(size).getrandbits(4 * size):0{size}x}"
        for name, value in {**usual, "key": "k"}.items():
            if isinstance(value, (str, list)):
                attempt(both, call, **{**usual, name: text if isinstance(value, str) else [text]})
    assert both.verify().ok


# Arguments without which a call comes to nothing, and what the numbers among them refer to.
NEEDED = set("name value summary choice what target content intent outcome action plan steps step".split())
ENTRIES = ("task_remember", "task_decide", "task_exclude")
REFERS = {
    "action": ("task_log_action",),
    "intent": ("task_intent",),
    **dict.fromkeys(("supersedes", "resolves", "invalidates"), ENTRIES),
    **dict.fromkeys(("seq", "at", "before"), tuple(WRITES)),
}


def any_call(draw: random.Random, written: list[tuple[str, int]], claim: dict) -> tuple[str, dict]:
    """A call with arguments that mostly make sense for a task.

    Written are the calls that have made its events; the claim is its last one.
    """
    writes = [name for name in WRITES if name not in ON_TWO_TASKS]
    call = draw.choice([*writes, *writes, "task_heartbeat", *(name for name in READS if name != "task_list")])
    one, other = WRITES.get(call) or (READS.get(call, {}), {})
    given = {}
    for name in sorted({**one, **other}):
        if name in REFERS:
            if name in one or draw.random() < 0.3:
                given[name] = draw.choice([seq for by, seq in written if by in REFERS[name]] or [1])
        elif name in one and name != "token" and (name in NEEDED or draw.random() < 0.4):
            given[name] = draw.choice((one, other if name in other else one))[name]
    if call in ("task_heartbeat", "task_release"):
        given |= claim
    if call in WRITES and draw.random() < 0.2:
        given["key"] = f"key {draw.randint(1, 200)}"
    return call, given


@pytest.mark.parametrize("calls", [160, pytest.param(600, marks=pytest.mark.reliability)])
def test_a_long_history_is_the_same_on_both_engines(both, tmp_path, calls):
    draw = random.Random(13)
    written = {both.task_register(f"Task {number}", ["A", "B", "C"]).task_id: [] for number in range(12)}
    claims = {task: {} for task in written}
    memory = both
    for number in range(calls):
        if number % 50 == 0:
            memory = both.acting_as(session=draw.choice("STU"), channel=draw.choice(CHANNELS))
        task = draw.choice(list(written))
        call, given = any_call(draw, written[task], claims[task])
        if isinstance(result := attempt(memory, call, task, **given), Written):
            written[task].append((call, result.seq))
            if call == "task_claim":
                claims[task] = {"step": given["step"], "token": result.token}
        if number % 25 == 0:
            both.pages(status="all", limit=draw.randint(1, 5), archived=draw.random() < 0.5)
    for task in written:
        last = both.task_get(task).seq
        for at in draw.sample(range(1, last + 1), min(5, last)):
            both.task_get(task, at=at)
        for kind in (*ENTRY_TYPES, "snapshot"):
            both.task_history(task, type=kind)
        both.task_drill_down(task, "s1")
        both.task_plans(task)
    assert both.verify().ok
    assert both.export_events(tmp_path / "export.jsonl") > calls * 0.4
