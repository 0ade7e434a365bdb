"""AsyncTaskMemory: the same operations for asyncio. They run on threads, so they never block the event
loop; reads, writes and waits have threads of their own, so that none of them waits for another's."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from .memory import TaskMemory
from .model.errors import StoreError
from .model.operation import declared
from .model.types import Event
from .packet import tokens
from .system.thread_pools import ThreadPools, Use, use_of

P = ParamSpec("P")
R = TypeVar("R")

# Loading the table of tokens holds the interpreter's lock, so that no thread could keep it from stopping an
# event loop. It is loaded here, with the module, before there is a loop.
tokens.load()


def _awaited(
    method: Callable[Concatenate[TaskMemory, P], R],
) -> Callable[Concatenate[AsyncTaskMemory, P], Coroutine[Any, Any, R]]:
    operation = declared(method)
    use = use_of(method.__name__, operation.scope if operation else "write")

    @wraps(method)
    async def call(self: AsyncTaskMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self.on_thread(lambda: method(self.memory, *args, **kwargs), use)

    return call


def sync_memory(memory: TaskMemory | AsyncTaskMemory) -> TaskMemory:
    """The TaskMemory behind a memory of either kind."""
    return memory.memory if isinstance(memory, AsyncTaskMemory) else memory


class AsyncTaskMemory:
    """A TaskMemory for event loops. A cancelled call may still write: use idempotency keys."""

    def __init__(self, memory: TaskMemory, threads: ThreadPools | None = None) -> None:
        self.memory = memory
        self._closed = False
        self._threads = threads or ThreadPools("ringbolt")

    @classmethod
    async def open(cls, location: Any = None, **options: Any) -> Self:
        """Open a memory as TaskMemory.open does."""
        threads = ThreadPools("ringbolt")
        opening = threads.submit("write", lambda: TaskMemory.open(location, **options))
        try:
            memory = await asyncio.wrap_future(opening)
        except BaseException:
            threads.shutdown(wait=False)
            raise
        return cls(memory, threads)

    def acting_as(self, **who: Any) -> Self:
        """The same memory for another session or agent; it shares the store and the threads."""
        return type(self)(self.memory.acting_as(**who), self._threads)

    async def on_thread(self, work: Callable[[], R], use: Use = "read") -> R:
        """Run a function on one of the memory's threads: for reads, writes or waits."""
        try:
            return await asyncio.wrap_future(self._threads.submit(use, work))
        except RuntimeError:
            if self._closed:
                raise StoreError("store_closed", "The memory is closed.", "Open it again.") from None
            raise

    task_register = _awaited(TaskMemory.task_register)
    task_update = _awaited(TaskMemory.task_update)
    task_get = _awaited(TaskMemory.task_get)
    task_list = _awaited(TaskMemory.task_list)
    task_finish = _awaited(TaskMemory.task_finish)
    task_focus = _awaited(TaskMemory.task_focus)
    task_link = _awaited(TaskMemory.task_link)
    task_plan_replace = _awaited(TaskMemory.task_plan_replace)
    task_plan_append = _awaited(TaskMemory.task_plan_append)
    task_plan_sync = _awaited(TaskMemory.task_plan_sync)
    task_step_update = _awaited(TaskMemory.task_step_update)
    task_item_update = task_step_update
    task_plans = _awaited(TaskMemory.task_plans)
    task_log_action = _awaited(TaskMemory.task_log_action)
    task_log_append = _awaited(TaskMemory.task_log_append)
    task_thread = _awaited(TaskMemory.task_thread)
    task_drill_down = _awaited(TaskMemory.task_drill_down)
    task_decide = _awaited(TaskMemory.task_decide)
    task_exclude = _awaited(TaskMemory.task_exclude)
    task_set = _awaited(TaskMemory.task_set)
    task_history = _awaited(TaskMemory.task_history)
    task_remember = _awaited(TaskMemory.task_remember)
    task_snapshot = _awaited(TaskMemory.task_snapshot)
    task_intent = _awaited(TaskMemory.task_intent)
    task_outcome = _awaited(TaskMemory.task_outcome)
    task_claim = _awaited(TaskMemory.task_claim)
    task_heartbeat = _awaited(TaskMemory.task_heartbeat)
    task_release = _awaited(TaskMemory.task_release)
    task_approve = _awaited(TaskMemory.task_approve)
    task_split = _awaited(TaskMemory.task_split)
    task_merge = _awaited(TaskMemory.task_merge)
    task_proposals = _awaited(TaskMemory.task_proposals)
    task_accept = _awaited(TaskMemory.task_accept)
    task_reject = _awaited(TaskMemory.task_reject)
    task_undo = _awaited(TaskMemory.task_undo)
    task_receipt = _awaited(TaskMemory.task_receipt)
    task_recall = _awaited(TaskMemory.task_recall)
    query_relevant = _awaited(TaskMemory.query_relevant)
    task_around = _awaited(TaskMemory.task_around)
    task_event = _awaited(TaskMemory.task_event)
    reindex = _awaited(TaskMemory.reindex)
    task_resume = _awaited(TaskMemory.task_resume)
    task_state = _awaited(TaskMemory.task_state)
    task_line = _awaited(TaskMemory.task_line)
    task_handoff = _awaited(TaskMemory.task_handoff)
    task_receive = _awaited(TaskMemory.task_receive)
    verify = _awaited(TaskMemory.verify)
    sync = _awaited(TaskMemory.sync)
    sync_ends = _awaited(TaskMemory.sync_ends)
    sync_pull = _awaited(TaskMemory.sync_pull)
    sync_push = _awaited(TaskMemory.sync_push)
    export_events = _awaited(TaskMemory.export_events)
    import_events = _awaited(TaskMemory.import_events)
    backup = _awaited(TaskMemory.backup)
    restore = _awaited(TaskMemory.restore)
    mirrors_status = _awaited(TaskMemory.mirrors_status)
    mirrors_refresh = _awaited(TaskMemory.mirrors_refresh)
    export_bank = _awaited(TaskMemory.export_bank)
    import_bank = _awaited(TaskMemory.import_bank)
    export_states = _awaited(TaskMemory.export_states)
    import_states = _awaited(TaskMemory.import_states)
    memory_store = _awaited(TaskMemory.memory_store)
    memory_recall = _awaited(TaskMemory.memory_recall)
    active_tasks = _awaited(TaskMemory.active_tasks)
    active_tasks_render = _awaited(TaskMemory.active_tasks_render)
    active_tasks_stale = _awaited(TaskMemory.active_tasks_stale)
    active_tasks_block = _awaited(TaskMemory.active_tasks_block)
    active_tasks_add = _awaited(TaskMemory.active_tasks_add)
    active_task_checkpoint = _awaited(TaskMemory.active_task_checkpoint)
    active_task_propose_goal = _awaited(TaskMemory.active_task_propose_goal)
    active_tasks_complete = _awaited(TaskMemory.active_tasks_complete)
    task_ask = _awaited(TaskMemory.task_ask)
    task_progress = _awaited(TaskMemory.task_progress)
    task_summary = _awaited(TaskMemory.task_summary)
    task_extract = _awaited(TaskMemory.task_extract)
    task_distill = _awaited(TaskMemory.task_distill)
    task_note = _awaited(TaskMemory.task_note)
    task_plan = _awaited(TaskMemory.task_plan)
    pattern_record = _awaited(TaskMemory.pattern_record)
    learned_patterns = _awaited(TaskMemory.learned_patterns)
    drill_results = _awaited(TaskMemory.drill_results)
    jobs_status = _awaited(TaskMemory.jobs_status)
    jobs_retry = _awaited(TaskMemory.jobs_retry)
    smart_wait = _awaited(TaskMemory.smart_wait)
    upkeep_run = _awaited(TaskMemory.upkeep_run)
    tasks_reconcile = _awaited(TaskMemory.tasks_reconcile)
    tasks_hygiene = _awaited(TaskMemory.tasks_hygiene)
    wait_status = _awaited(TaskMemory.wait_status)
    wait_update = _awaited(TaskMemory.wait_update)
    wait_cancel = _awaited(TaskMemory.wait_cancel)
    goal_create = _awaited(TaskMemory.goal_create)
    goal_promote = _awaited(TaskMemory.goal_promote)
    goal_status = _awaited(TaskMemory.goal_status)
    goal_check = _awaited(TaskMemory.goal_check)
    goal_decide = _awaited(TaskMemory.goal_decide)
    goal_update = _awaited(TaskMemory.goal_update)
    goal_finish = _awaited(TaskMemory.goal_finish)
    purge = _awaited(TaskMemory.purge)
    forget = _awaited(TaskMemory.forget)

    async def events(self, task_id: str | None = None, *, after: int = 0) -> AsyncIterator[Event]:
        """Iterate over events as TaskMemory.events does."""
        source = self.memory.events(task_id, after=after)
        while (event := await self.on_thread(lambda: next(source, None))) is not None:
            yield event

    async def close(self) -> None:
        """Close the store and its threads; safe to call twice."""
        if not self._closed:
            await self.on_thread(self.memory.close, "write")
            self._closed = True
            self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
