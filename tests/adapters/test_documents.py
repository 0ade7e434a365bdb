"""Documents by key: on both engines, in transactions, with history, and invisible among tasks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ringbolt.adapters.documents import Documents


@pytest.fixture
def memory(opened, store_url):
    return opened(store_url)


def test_documents_are_replaced_deleted_and_listed(memory, clock):
    notes = Documents(memory, "notes")
    assert notes.read(lambda own: (own.get("a"), own.all())) == (None, [])
    notes.write(lambda own: own.delete(["a"]))  # there is nothing to delete, and no collection yet
    notes.write(lambda own: [own.put("a", {"n": 1}), own.put("b", [1, "two", None])])
    clock.forward(60)
    notes.write(lambda own: own.put("a", {"n": 2}))
    first = notes.read(lambda own: own.get("a"))
    assert (first.value, first.created < first.updated) == ({"n": 2}, True)
    assert [one.key for one in notes.read(lambda own: own.all())] == ["b", "a"]
    assert [one.key for one in notes.read(lambda own: own.all(1))] == ["a"]
    notes.write(lambda own: own.delete(["a", "unknown"]))
    assert notes.read(lambda own: own.get("a")) is None
    assert [one.key for one in notes.read(lambda own: own.all())] == ["b"]


def test_collections_and_workspaces_are_apart_and_no_list_of_tasks_shows_them(memory):
    Documents(memory, "one").write(lambda own: own.put("a", 1))
    assert Documents(memory, "two").read(lambda own: own.get("a")) is None
    elsewhere = memory.acting_as(workspace="/elsewhere")
    assert Documents(elsewhere, "one").read(lambda own: own.get("a")) is None
    long = "x" * 500
    Documents(memory, long).write(lambda own: own.put("a", 2))
    assert Documents(memory, long).read(lambda own: own.get("a")).value == 2
    assert memory.task_list(status="all").tasks == ()
    assert memory.memory_recall("a").facts == ()
    assert memory.verify().ok


def test_a_transaction_that_fails_writes_nothing_and_secrets_are_redacted(memory):
    notes = Documents(memory, "notes")

    def work(own):
        own.put("a", 1)
        raise LookupError("broken")

    with pytest.raises(LookupError, match="broken"):
        notes.write(work)
    assert notes.read(lambda own: own.all()) == []
    notes.write(lambda own: own.put("login", {"password": "hunter2-Zx81-kq"}))
    assert "hunter2" not in str(notes.read(lambda own: own.get("login")))


def test_writers_at_once_lose_nothing(memory):
    notes = Documents(memory, "counter")

    def add(_):
        def work(own):
            old = own.get("n")
            own.put("n", (old.value if old else 0) + 1)

        notes.write(work)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(add, range(20)))
    assert notes.read(lambda own: own.get("n")).value == 20
