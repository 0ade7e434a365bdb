"""What every engine promises behind the Store protocol. One suite for all engines."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ringbolt.config import Settings
from ringbolt.model.errors import InvalidInput, StoreError
from ringbolt.model.types import Origin
from ringbolt.store import Tx, open_store
from ringbolt.store.hashes import origin_id
from ringbolt.store.schema import STATE
from tests.store.full_fold import scratch

ORIGIN = Origin(principal="tester", agent="conformance", channel="agent", session="S")


@pytest.fixture
def url(store_url) -> str:
    return store_url


@pytest.fixture
def store(url) -> Iterator[Any]:
    found = open_store(url, Settings())
    yield found
    found.close()


def event(task_id: str, seq: int, **fields: Any) -> dict[str, Any]:
    row = {
        "task_id": task_id, "seq": seq, "event_type": "message", "timestamp": "2026-01-01T00:00:00.000Z",
        "item_id": None, "ref_seq": None, "text": None, "data": "{}", "sets": None,
        "origin_id": origin_id(ORIGIN), "correlation_id": "", "forgotten": None,
    }  # fmt: skip
    return {**row, **fields}


def begin(tx: Tx, task_id: str = "aaaaaaaaaa", name: str = "task") -> dict[str, Any]:
    head: dict[str, Any] = {"task_id": task_id, "root_id": task_id}
    sets = {
        "heads": {"kind": "task", "name": name, "status": "active", "phase": "received"},
        "+extras": {},
    }
    tx.append(head, event(task_id, 1, event_type="task.registered"), ORIGIN, sets)
    return head


def add(tx: Tx, task_id: str, text: str) -> int:
    head = tx.head(task_id, lock=True)
    assert head is not None
    tx.append(head, event(task_id, head["last_seq"] + 1, text=text), ORIGIN)
    return head["last_seq"]


def test_a_write_is_visible_to_the_next_read_and_to_another_store(store, url):
    store.write(begin)
    assert store.read(lambda tx: tx.head("aaaaaaaaaa"))["name"] == "task"
    other = open_store(url, Settings())
    assert other.read(lambda tx: tx.head("aaaaaaaaaa"))["name"] == "task"
    other.close()


def test_what_is_written_outlives_the_store(store, url):
    store.write(begin)
    store.close()
    again = open_store(url, Settings())
    assert again.read(lambda tx: tx.task_ids()) == ["aaaaaaaaaa"]
    again.close()


def test_work_that_raises_leaves_nothing_behind(store):
    def work(tx: Tx) -> None:
        begin(tx)
        raise InvalidInput("invalid_argument", "no", "")

    with pytest.raises(InvalidInput):
        store.write(work)
    assert store.read(lambda tx: tx.task_ids()) == []
    store.write(begin)
    assert store.read(lambda tx: tx.task_ids()) == ["aaaaaaaaaa"]


def test_a_reader_sees_one_moment_however_much_is_written_meanwhile(store):
    store.write(begin)
    reading, written = threading.Event(), threading.Event()

    def slow(tx: Tx) -> tuple[int, int]:
        first = tx.head("aaaaaaaaaa")["last_seq"]  # type: ignore[index]
        reading.set()
        assert written.wait(100)
        return first, tx.head("aaaaaaaaaa")["last_seq"]  # type: ignore[index]

    found: list[tuple[int, int]] = []
    reader = threading.Thread(target=lambda: found.append(store.read(slow)))
    reader.start()
    assert reading.wait(100)
    store.write(lambda tx: add(tx, "aaaaaaaaaa", "while it reads"))
    written.set()
    reader.join()
    assert found == [(1, 1)]
    assert store.read(lambda tx: tx.head("aaaaaaaaaa"))["last_seq"] == 2


def test_readers_cannot_write(store):
    with pytest.raises(StoreError) as caught:
        store.read(begin)
    assert caught.value.code == "store_readonly"
    assert store.read(lambda tx: tx.task_ids()) == []


def test_concurrent_writers_to_one_task_are_numbered_without_gap(store):
    store.write(begin)

    def work(name: str) -> None:
        for number in range(20):
            store.write(lambda tx, n=number: add(tx, "aaaaaaaaaa", f"{name}:{n}"))

    threads = [threading.Thread(target=work, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = store.read(lambda tx: tx.events("aaaaaaaaaa", 0, 1000))
    assert [row["seq"] for row in rows] == list(range(1, 162))
    assert len({row["text"] for row in rows[1:]}) == 160


def test_a_write_inside_a_write_is_refused_and_does_not_hang(store):
    with pytest.raises(RuntimeError, match="inside a write"):
        store.write(lambda _tx: store.write(begin))
    store.write(begin)


def test_a_closed_store_says_so(store):
    store.close()
    store.close()
    for call in (store.read, store.write):
        with pytest.raises(StoreError) as caught:
            call(lambda tx: tx.task_ids())
        assert caught.value.code == "store_closed"


def test_a_healthy_store_has_no_problems_and_tells_facts(store):
    store.write(begin)
    assert store.check() == []
    info = store.info()
    assert info["schema"] >= 1
    assert info["engine"]


def test_every_state_table_comes_back_as_it_was_set(store):
    """Each kind of change that an event can make, on the engine and in the scratch ledger alike."""
    sets = {
        "+steps": {"s1": {"ordinal": 0, "title": "one", "plan_version": 1, "depends_on": ["s2"]},
                   "s2": {"ordinal": 1, "title": "two", "plan_version": 1, "detail": {"tool": "x"}}},
        "+records": {"2": {"type": "decision", "status": "active", "key": "k"}},
        "+labels": [[0, "tag", "red"], [2, "item", "s1"]],
        "files": [{"path": "a.py", "change": "created", "seq": 2, "at": "2026-01-01T00:00:00.000Z"}],
        "links": [{"kind": "goal", "target": "g", "seq": 2, "status": "active"}],
        "claims": [{"item_id": "", "holder": "me", "token": 1, "status": "held", "reason": None,
                    "expires_at": "2026-01-01T00:00:00.000Z"}],
        "+keys": {"key": "k", "operation": "o", "arguments": "a", "result": "{}"},
        "heads": {"blockers": ["b"], "next_step": "n"},
        "extras": {"metadata": {"m": 1}, "context": "[1]"},
    }  # fmt: skip
    then = {
        "steps": {"s1": {"status": "completed"}},
        "records": {"2": {"status": "resolved"}},
        "files": [{"path": "a.py", "change": "deleted", "seq": 3, "at": "2026-01-01T00:00:00.000Z"}],
        "heads": {"blockers": None},
    }

    def work(tx: Tx) -> None:
        head = begin(tx)
        tx.append(head, event("aaaaaaaaaa", 2, event_type="all"), ORIGIN, sets)
        tx.append(head, event("aaaaaaaaaa", 3, event_type="then"), ORIGIN, then)

    def rows(tx: Tx) -> dict[str, Any]:
        return {table: tx.state_rows(table, "aaaaaaaaaa") for table in STATE}

    store.write(work)
    there = store.read(rows)
    memory = scratch()
    work(memory)
    assert there == rows(memory)
    assert all(there.values())
    (head,) = there["heads"]
    assert (head["done"], head["total"], head["next_item"], head["blockers"]) == (1, 2, "s2", None)
    assert there["records"][0]["status"] == "resolved"
    assert there["files"][0]["change"] == "deleted"


def test_a_task_row_follows_its_events(store):
    store.write(begin)
    store.write(lambda tx: add(tx, "aaaaaaaaaa", "hello"))
    head = store.read(lambda tx: tx.head("aaaaaaaaaa"))
    last = store.read(lambda tx: tx.event("aaaaaaaaaa", 2))
    assert (head["last_seq"], head["last_hash"], head["messages"]) == (2, last["hash"], 1)
    assert head["position"] == store.read(lambda tx: tx.last_position())


@pytest.mark.parametrize(
    "text", ["plain", "ümläut 漢字 🙂", "a\nb\tc\r\n", "\x1b[2J\u202e\u200b", "'; DROP TABLE heads; --"]
)
def test_text_comes_back_byte_for_byte(store, text):
    store.write(begin)
    store.write(lambda tx: add(tx, "aaaaaaaaaa", text))
    assert store.read(lambda tx: tx.event("aaaaaaaaaa", 2))["text"] == text
