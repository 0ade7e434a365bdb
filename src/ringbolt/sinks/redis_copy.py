"""Redis: a hash, a JSON text and a stream of events for each task, and a wake by pub/sub.

All keys of a task have its id as their hash tag, so one transaction can write them on a cluster too. The id
of an event in the stream is its number, so no event is ever there twice. The transaction watches the task's
hash: if another worker publishes in between, the task is read from the ledger again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from ..model.errors import InvalidInput
from ..model.settings import Settings
from ..model.types import Event, Task
from ..packet.encode import clip
from .sink import Lag, Ledger, Mark, Reply, not_installed

SECONDS = 5.0  # for one answer of the server
TEXT = 4000  # characters of an event's text
_PAGE = 500
_FIELDS = (
    "id", "name", "goal", "status", "phase", "reason", "done", "total", "current", "next", "next_step",
    "workspace", "updated_at", "seq",
)  # fmt: skip


class RedisCopy:
    """Publishes tasks to Redis."""

    name = "redis"
    replies = 0.0

    def __init__(self, settings: Settings) -> None:
        try:
            redis: Any = import_module("redis")
        except ImportError:
            raise not_installed("redis", "redis") from None
        self._prefix = settings.redis_prefix
        self._most = settings.redis_events
        password = os.environ.get(settings.redis_password_env) or None
        try:
            self._client: Any = redis.Redis.from_url(
                settings.redis_url,
                **({"password": password} if password else {}),
                socket_timeout=SECONDS,
                socket_connect_timeout=SECONDS,
                decode_responses=True,
            )
        except ValueError:  # its message could quote a password
            raise InvalidInput(
                "sink_setup",
                "redis_url is not the URL of a Redis server.",
                "For example redis://localhost:6379/0.",
            ) from None

    def probe(self, lag: Lag) -> bool:
        """Tell Redis how far behind it is; False if it has lost that, and so everything else."""
        key = f"{self._prefix}:status"
        status = {"newest": lag.newest, "behind": lag.behind, "checked_at": lag.at}
        with self._client.pipeline() as pipe:
            pipe.exists(key)
            pipe.hset(key, mapping=status)
            return bool(pipe.execute()[0])

    def collect(self, mark: Mark) -> tuple[list[Reply], Mark]:
        """Nothing: Redis is for readers."""
        return [], mark

    def publish(self, ledger: Ledger, mark: Mark) -> Mark:
        """Bring the keys of a task up to date."""
        key = self._key(ledger.task_id)
        stream = f"{key}:events"

        def write(pipe: Any) -> Mark:
            shown: str | None
            check: str | None
            shown, check = pipe.hmget(key, "seq", "check")
            task = ledger.task()
            last = ledger.events(task.seq - 1, 1)[0]
            rewrite = shown is None or ledger.is_rewritten(int(shown), check or "")
            known = 0 if rewrite else int(shown or 0)
            events = list(_events(ledger, max(known, task.seq - self._most), task.seq))
            pipe.multi()
            if rewrite:
                pipe.delete(stream)
            pipe.delete(key)
            pipe.hset(key, mapping={**_hash(task), "check": last.hash[:8]})
            pipe.set(f"{key}:json", json.dumps(task.to_dict(), ensure_ascii=False))
            for event in events:
                pipe.xadd(stream, _fields(event), id=f"{event.seq}-0")
            pipe.xtrim(stream, maxlen=self._most, approximate=False)
            if events or rewrite:
                wake = {
                    "task": task.id,
                    "seq": task.seq,
                    "status": task.status,
                    "events": [e.type for e in events],
                }
                pipe.publish(f"{self._prefix}:wake", json.dumps(wake))
            return {"seq": task.seq}

        return self._client.transaction(write, key, value_from_callable=True)

    def remove(self, task_id: str, mark: Mark) -> None:
        """Delete the keys of a task."""
        key = self._key(task_id)
        self._client.delete(key, f"{key}:json", f"{key}:events")

    def _key(self, task_id: str) -> str:
        return f"{self._prefix}:{{{task_id}}}"


def _events(ledger: Ledger, after: int, until: int) -> Iterator[Event]:
    while after < until and (page := ledger.events(after, min(_PAGE, until - after))):
        yield from page
        after = page[-1].seq


def _hash(task: Task) -> dict[str, str]:
    values = task.to_dict()
    return {name: str(values[name]) for name in _FIELDS if values[name] is not None}


def _fields(event: Event) -> dict[str, str]:
    fields = {"type": event.type, "at": event.at, "channel": event.origin.channel}
    if event.step:
        fields["step"] = event.step
    if event.text:
        fields["text"] = clip(event.text, TEXT)
    return fields
