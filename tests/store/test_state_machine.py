"""Any sequence of operations leaves a ledger that folds back to the state, at every moment of it."""

from __future__ import annotations

import itertools
import random
import shutil
import tempfile
from pathlib import Path

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

from holdfast import Conflict, InvalidInput, NotFound, TaskMemory
from holdfast.rules import ACTION_TYPES, CHANNELS, ENTRY_TYPES, LINK_KINDS, PHASES, TASK_STATUSES
from holdfast.types import Task

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
LINES = TEXTS.filter(lambda text: text.strip())
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
# Which of the things that exist: the machine takes the number modulo how many there are.
WHICH = st.integers(0, 1000)
ITEM_STATUSES = st.sampled_from(["pending", "active", "completed", "failed", "skipped", "cancelled", "done"])


class Ledger(RuleBasedStateMachine):
    """Drives one store through its public operations, mostly with arguments that make sense."""

    def open_memory(self, name: str) -> TaskMemory:
        ticks = itertools.count()
        numbers = random.Random(0)  # ids that a failing example repeats
        return TaskMemory.open(
            str(self.folder / name),
            workspace="/w",
            session="S",
            agent="machine",
            # The clock goes backwards now and then: order must not depend on it.
            clock=lambda: 1_700_000_000 + (7919 * next(ticks)) % 100_000 / 10,
            random=numbers.randbytes,
            synchronous="off",
        )

    @initialize(first=PLANS, second=PLANS)
    def begin(self, first, second):
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-machine-"))
        self.memory = self.open_memory("store.db")
        self.seen: dict[tuple[str, int], Task] = {}
        self.ids: list[str] = []
        self.register("first", first, "the request", [], None, False)
        self.register("second", second, None, ["alpha"], 0, True)

    def teardown(self) -> None:
        if hasattr(self, "memory"):
            self.at_the_end()
            self.memory.close()
            shutil.rmtree(self.folder)

    def do(self, operation: str, *args, **kwargs):
        """Call an operation; what it wrote must be readable, and an error must have changed nothing."""
        before = self.positions()
        try:
            result = getattr(self.memory, operation)(*args, **kwargs)
        except (Conflict, InvalidInput, NotFound) as error:
            event(f"{operation}: {error.code}")
            self.unchanged_since(before, operation)
            return None
        event(f"{operation}: written")
        if kwargs.get("key") is not None:
            again = getattr(self.memory, operation)(*args, **kwargs)
            assert again == result, f"{operation} with the same key answered another result"
        task = self.memory.task_get(result.task_id)
        assert (task.done, task.total, task.status) == (result.done, result.total, result.status)
        assert (task.current, task.next) == (result.current, result.next)
        self.seen[task.id, task.seq] = task
        return result

    def positions(self) -> list[tuple[str, int]]:
        page = self.memory.task_list(status="all", limit=1000, archived=True, kind=None)
        return [(card.id, card.seq) for card in page.tasks]

    def unchanged_since(self, before: list[tuple[str, int]], operation: str) -> None:
        assert self.positions() == before, f"{operation} failed, but it wrote"

    def task(self, which: int) -> str:
        return self.ids[which % len(self.ids)]

    def item(self, which: int, number: int | None) -> str | None:
        items = self.memory.task_get(self.task(which)).items
        return items[number % len(items)].id if number is not None and items else None

    def seq(self, which: int, number: int | None, *types: str) -> int | None:
        """One of the task's events of some types, if there is any."""
        found = [e.seq for e in self.memory.task_thread(self.task(which), limit=1000, types=types).events]
        return found[number % len(found)] if number is not None and found else None

    def key(self, keyed: bool) -> str | None:
        return f"key {len(self.seen)}" if keyed else None

    @rule(name=LINES, plan=PLANS, request=st.none() | TEXTS, tags=st.lists(WORDS, max_size=2),
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

    @rule(channel=st.sampled_from(CHANNELS), session=st.sampled_from(["S", "T"]))
    def become(self, channel, session):
        self.memory = self.memory.acting_as(channel=channel, session=session)

    @invariant()
    def state_is_the_fold_of_the_events(self) -> None:
        if hasattr(self, "memory"):
            report = self.memory.verify()
            assert report.ok, report.problems

    def at_the_end(self) -> None:
        for (task_id, seq), task in self.seen.items():
            assert self.memory.task_get(task_id, at=seq) == task
        export = self.folder / "export.jsonl"
        count = self.memory.export_events(export)
        other = self.open_memory("copy.db")
        report = other.import_events(export)
        assert (report.added, report.known, report.conflicts) == (count, 0, ())
        other.export_events(self.folder / "again.jsonl")
        assert (self.folder / "again.jsonl").read_bytes() == export.read_bytes()
        assert other.import_events(export).added == 0
        for task_id in {task_id for task_id, _ in self.seen}:
            assert other.task_get(task_id) == self.memory.task_get(task_id)
        assert other.verify().ok
        other.close()


COMMON = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}


def test_any_sequence_of_operations_keeps_the_ledger_and_the_state_equal():
    # Without shrinking: that can take five minutes, and the printed steps repeat the failure as they are.
    phases = [Phase.explicit, Phase.reuse, Phase.generate]
    run_state_machine_as_test(
        Ledger, settings=settings(max_examples=40, stateful_step_count=30, phases=phases, **COMMON)
    )


@pytest.mark.reliability
def test_long_sequences_of_operations_keep_the_ledger_and_the_state_equal():
    run_state_machine_as_test(Ledger, settings=settings(max_examples=600, stateful_step_count=50, **COMMON))
