"""Many writes in one transaction: the rows kept between them are those of the store."""

from __future__ import annotations

import pytest

from ringbolt import RingboltError
from ringbolt.hosts.sessions import own_task
from ringbolt.ledger.one_transaction import OneTransaction
from ringbolt.store.batch_tx import BatchTx
from tests.support import contents, open_memory


def inside(memory, tx, **changes):
    """The same memory, writing within a transaction."""
    own = memory.acting_as(**changes)
    own.store = OneTransaction(tx, memory.store)
    return own


def in_a_batch(memory, work):
    """Call `work` with the transaction, and a memory that writes within it."""

    def batch(tx):
        tx = BatchTx(tx)
        return work(tx, inside(memory, tx))

    return memory.store.write(batch)


def write_some(memory) -> None:
    """Writes that depend on those before them."""
    memory.task_update(None, "first", key="a")
    memory.task_update(None, step=1, step_status="active")
    memory.task_log_action(None, "make", output="x", key="b")
    memory.task_log_action(None, "make", output="x", key="b")
    memory.task_update(None, step=1, step_status="completed", phase="executing")
    memory.task_decide(None, choice="one", key="c")
    other = memory.task_register("Other", ["X"], key="d").task_id  # from now on the current task
    memory.task_update(None, "on the other", key="e")
    memory.task_finish(other, "over")
    memory.task_update(None, "on the first again", key="f")
    memory.acting_as(channel="user").task_remember(None, "said", type="user_instruction")


def test_a_batch_writes_what_single_transactions_write(new_store_url, opened):
    seeds = [iter(range(1, 1000)), iter(range(1, 1000))]
    singly, batched = (
        opened(new_store_url(), random=lambda size, seed=seed: next(seed).to_bytes(size, "big"))
        for seed in seeds
    )
    for memory in (singly, batched):
        memory.task_register("Deploy", ["Build", "Push"], request="Deploy it.")
    write_some(singly)
    in_a_batch(batched, lambda tx, own: write_some(own))
    assert contents(singly) == contents(batched)
    assert batched.verify().ok


def test_what_a_savepoint_undid_is_read_again(memory, task):
    def work(tx, own):
        own.task_update(task, "kept", key="kept")
        before = tx.head(task, lock=True)

        def fail():
            inside(memory, tx, agent="somebody new").task_update(
                task, "undone", status="paused", key="undone"
            )
            inside(memory, tx).task_register("Undone")
            raise ValueError

        assert isinstance(tx.nested(fail), ValueError)
        assert {**tx.head(task, lock=True), "position": None} == {**before, "position": None}
        assert own_task(own) == task
        inside(memory, tx, agent="somebody new").task_update(task, "said instead", key="undone")

    in_a_batch(memory, work)
    assert [event.text for event in memory.events(task)][1:] == ["kept", "said instead"]
    assert memory.verify().ok


def test_a_key_that_was_used_is_found_in_a_batch(memory, task):
    memory.task_update(task, "before", key="before")

    def work(tx, own):
        assert own.task_update(None, "before", key="before").seq == 2
        assert own.task_update(None, "new", key="new").seq == 3
        assert own.task_update(None, "new", key="new").seq == 3
        with pytest.raises(RingboltError, match="was used for another call"):
            own.task_update(task, "another", key="before")

    in_a_batch(memory, work)
    assert [event.text for event in memory.events(task)][1:] == ["before", "new"]


def test_another_memory_waits_for_a_batch_and_sees_it_whole(memory, task, store_url):
    in_a_batch(memory, lambda tx, own: [own.task_update(task, f"{number}") for number in range(3)])
    with open_memory(store_url) as other:
        assert other.task_update(task, "then").seq == 5
