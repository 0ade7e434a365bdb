"""The asynchronous memory: the same operations, the same results, and a loop that never waits."""

from __future__ import annotations

import asyncio
import gc
import inspect
import threading

import pytest

from ringbolt import AsyncTaskMemory, RingboltError, TaskMemory
from tests.core.calls import ELSEWHERE, ON_A_TASK, READS, REGISTER, prepare
from tests.support import Clock, contents, open_memory, run_python, sqlite_only, write_held


def public(kind) -> dict:
    return {
        name: member
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_") and callable(member)
    }


def opened_async(url, **options) -> AsyncTaskMemory:
    return AsyncTaskMemory(open_memory(url, **options))


# --- parity -----------------------------------------------------------------------------------------


def test_every_public_operation_is_there():
    assert set(public(TaskMemory)) <= set(public(AsyncTaskMemory))


def test_every_operation_is_awaited_and_takes_the_same_arguments():
    for name in sorted(set(public(TaskMemory)) - {"open", "acting_as"}):
        ours, theirs = getattr(TaskMemory, name), getattr(AsyncTaskMemory, name)
        assert inspect.iscoroutinefunction(theirs) or inspect.isasyncgenfunction(theirs), name
        taken = [list(inspect.signature(method).parameters.values())[1:] for method in (ours, theirs)]
        one, other = ([(p.name, p.kind, p.default) for p in parameters] for parameters in taken)
        assert one == other, name
        assert theirs.__doc__, name


def answers_of_every_operation(url, is_async: bool) -> list:
    """What every operation answers or raises, each with a task of its own, and the store afterwards."""
    seed = iter(range(1, 1_000_000))
    memory = open_memory(url, random=lambda size: next(seed).to_bytes(size, "big"))
    results = []
    for call in (*ON_A_TASK, "task_list", "task_register", *ELSEWHERE):
        task = memory.task_register("Deploy", ["Build", "Push", "Run"]).task_id
        prepare(memory, task)
        if call in ON_A_TASK:
            arguments = {"task_id": task, **ON_A_TASK[call]}
        else:
            arguments = {"task_register": REGISTER, "task_list": READS["task_list"], **ELSEWHERE}[call]
        try:
            if is_async:
                results.append((call, asyncio.run(getattr(AsyncTaskMemory(memory), call)(**arguments))))
            else:
                results.append((call, getattr(memory, call)(**arguments)))
        except RingboltError as error:
            results.append((call, error.to_dict()))
    results.append(("contents", contents(memory)))
    memory.close()
    return results


def test_every_operation_gives_the_same_result(new_store_url):
    ours, theirs = (answers_of_every_operation(new_store_url(), is_async) for is_async in (False, True))
    for one, other in zip(ours, theirs, strict=True):
        assert one == other


def test_events_and_files_work_too(store_url, tmp_path):
    async def work():
        async with await AsyncTaskMemory.open(store_url, workspace="/w", synchronous="off") as memory:
            task = (await memory.task_register("Deploy", ["A"])).task_id
            await memory.task_update(task, "hello")
            events = [event async for event in memory.events(task)]
            assert [event.text for event in events] == [None, "hello"]
            assert [event async for event in memory.events()] == events
            assert await memory.export_events(tmp_path / "export.jsonl") == 2
            assert (await memory.import_events(tmp_path / "export.jsonl")).known == 2
            assert (await memory.verify()).ok
            assert (await memory.task_get(task)).messages == 1

    asyncio.run(work())


@sqlite_only
def test_backups_work_too(store_url, tmp_path):
    async def work():
        async with opened_async(store_url) as memory:
            task = (await memory.task_register("Deploy", ["A"])).task_id
            await memory.backup(tmp_path / "copy.db")
            await memory.task_update(task, "after the backup")
            assert await memory.acting_as(channel="user").restore(tmp_path / "copy.db")
            assert (await memory.verify()).ok
            assert (await memory.task_get(task)).messages == 0

    asyncio.run(work())


def test_an_error_is_raised_where_it_is_awaited(store_url):
    async def work():
        async with await AsyncTaskMemory.open(store_url, workspace=None) as memory:
            with pytest.raises(RingboltError) as caught:
                await memory.task_get("zzzzzzzzzz")
            assert caught.value.code == "task_not_found"

    asyncio.run(work())


def test_a_memory_for_someone_else_shares_the_store(store_url):
    async def work():
        async with opened_async(store_url) as memory:
            task = (await memory.task_register("Deploy")).task_id
            robot = memory.acting_as(agent="robot", channel="tool")
            await robot.task_update(task, "beep")
            event = (await memory.task_thread(task)).events[-1]
            assert (event.origin.agent, event.origin.channel) == ("robot", "tool")

    asyncio.run(work())


def test_a_memory_that_was_closed_says_so(store_url):
    async def work():
        memory = await AsyncTaskMemory.open(store_url, workspace=None)
        await memory.close()
        await memory.close()
        with pytest.raises(RingboltError) as caught:
            await memory.task_list()
        assert caught.value.code == "store_closed"

    asyncio.run(work())


def test_a_store_that_cannot_be_opened_raises_and_leaves_no_thread(tmp_path):
    async def work():
        with pytest.raises(RingboltError) as caught:
            await AsyncTaskMemory.open(str(tmp_path), workspace=None)
        assert caught.value.code == "store_unavailable"

    before = set(threading.enumerate())
    asyncio.run(work())
    gc.collect()
    new = set(threading.enumerate()) - before
    for thread in new:
        thread.join(100)
    assert not any(thread.is_alive() for thread in new)


# --- the loop never waits ---------------------------------------------------------------------------


async def ticks_while(waiting: asyncio.Task, number: int) -> int:
    """How often the loop comes round while a task is waiting, up to a number."""
    count = 0
    while count < number and not waiting.done():
        await asyncio.sleep(0)
        count += 1
    return count


WRITES = {
    "task_register": {"name": "x"},
    "task_update": {"message": "x"},
    "task_remember": {"summary": "x"},
    "task_claim": {},
    "task_plan_replace": {"plan": ["x"]},
    "task_finish": {},
}


@pytest.mark.parametrize("call", WRITES)
def test_the_loop_goes_on_while_a_write_waits_for_another_process(store_url, call):
    async def work():
        async with opened_async(store_url) as memory:
            await memory.task_register("Deploy", ["A"])
            with write_held(store_url):
                waiting = asyncio.create_task(getattr(memory, call)(**WRITES[call]))
                assert await ticks_while(waiting, 2000) == 2000
                assert (await memory.task_get()).name == "Deploy"  # readers wait for nobody
                assert not waiting.done()
            assert (await waiting).seq in (1, 2)

    asyncio.run(work())


@sqlite_only
def test_the_loop_goes_on_while_a_restore_waits_for_another_process(store_url, tmp_path):
    async def work():
        async with opened_async(store_url) as memory:
            await memory.backup(tmp_path / "copy.db")
            await memory.task_register("after the backup")
            with write_held(store_url):
                waiting = asyncio.create_task(memory.acting_as(channel="user").restore(tmp_path / "copy.db"))
                assert await ticks_while(waiting, 500) == 500
            await waiting
            assert (await memory.task_list()).tasks == ()

    asyncio.run(work())


def test_no_operation_runs_on_the_thread_of_the_loop(store_url):
    """The clock, which every write asks for the time, notes who asks."""
    asked = set()

    class Noting(Clock):
        def __call__(self) -> float:
            asked.add(threading.get_ident())
            return super().__call__()

    async def work():
        async with opened_async(store_url, clock=Noting()) as memory:
            await memory.task_register("Deploy", ["A"])
            await asyncio.gather(*(memory.task_update(message=f"{n}") for n in range(20)))
        assert asked
        assert threading.get_ident() not in asked

    asyncio.run(work())


def test_many_writes_at_once_are_all_written(store_url):
    async def work():
        async with opened_async(store_url) as memory:
            task = (await memory.task_register("Deploy")).task_id
            written = await asyncio.gather(*(memory.task_update(task, f"message {n}") for n in range(200)))
            assert sorted(one.seq for one in written) == list(range(2, 202))
            assert (await memory.task_get(task)).messages == 200

    asyncio.run(work())


def test_a_call_that_is_cancelled_leaves_the_memory_usable(store_url):
    async def work():
        async with opened_async(store_url) as memory:
            task = (await memory.task_register("Deploy")).task_id
            with write_held(store_url):
                waiting = asyncio.create_task(memory.task_update(task, "x", key="k"))
                await ticks_while(waiting, 100)
                waiting.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await waiting
            await memory.task_update(task, "x", key="k")
            assert (await memory.task_get(task)).messages == 1  # written once, cancelled or not

    asyncio.run(work())


# --- threads ----------------------------------------------------------------------------------------


def test_forty_blocked_writes_and_sixty_waits_hold_up_no_read(store_url):
    async def work():
        async with opened_async(store_url, clock=None, lock_timeout=60) as memory:
            task = (await memory.task_register("Deploy", ["A"])).task_id
            waits = [
                asyncio.ensure_future(memory.smart_wait("manual:", task_id=task, timeout=600))
                for _ in range(60)
            ]
            while (await memory.task_get(task)).seq < 61:
                pass  # until all of them have begun
            with write_held(store_url):
                writes = [asyncio.ensure_future(memory.task_update(task, f"{n}")) for n in range(40)]
                reads = await asyncio.gather(*(memory.task_get(task) for _ in range(20)))
                state = await memory.task_state(task)
                assert not any(write.done() for write in writes)
                assert (reads[0].messages, task in state) == (0, True)
            await asyncio.gather(*writes)
            assert (await memory.task_get(task)).messages == 40
            for wait in await memory.wait_status():
                await memory.wait_cancel(wait.wait_id)
            await asyncio.gather(*waits)

    asyncio.run(work())


def test_reads_writes_and_waits_have_threads_of_their_own(store_url):
    async def work():
        async with opened_async(store_url) as memory:
            names = {
                use: await memory.on_thread(lambda: threading.current_thread().name, use)
                for use in ("read", "write", "wait")
            }
            assert all(name.startswith(f"ringbolt-{use}") for use, name in names.items())

    asyncio.run(work())


def test_what_would_stop_a_loop_is_loaded_with_the_module():
    """The table of tokens is loaded at one go, without a switch to another thread."""
    code = """
from ringbolt import AsyncTaskMemory
from ringbolt.packet.tokens import exact
print(exact.cache_info().currsize)
"""
    assert run_python(code).stdout.strip() == "1"
