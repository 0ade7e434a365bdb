# pyright: reportPrivateUsage=false
"""Webhooks: call the callback_url of a task when the task or one of its waits ends, or the task is stuck.

The event adds a job of kind `webhook` in its own transaction. A worker delivers it, with growing pauses
between attempts, until it is accepted or given up. Requests are signed as in Standard Webhooks
(https://www.standardwebhooks.com). The address is resolved once and checked before anything is sent.
"""

from __future__ import annotations

import hmac
import json
import os
from base64 import b64decode, b64encode
from typing import Any

from ..config import user_folder
from ..extract.summary_text import compose
from ..memory import TaskMemory
from ..model.redaction import is_marked
from ..model.results import Job
from ..store import jobs
from ..store.tx import Tx
from ..system import http_client
from ..system.files import FileErrors, locked_folder, read_bounded, write_atomic
from ..system.http_client import StatusError, is_public
from ..system.os_calls import make_private_folders

KEY_PREFIX = "whsec_"
MOST_RESPONSE = 64 << 10  # bytes of the response that are read; only its status matters
_SHOWN = ("id", "name", "status", "phase", "reason", "done", "total", "workspace", "created_at", "updated_at")


def deliver(memory: TaskMemory, job: Job) -> None:
    """Call the callback_url of a task or of a wait; OSError or ValueError if that fails.

    Every attempt for the same event has the same `webhook-id`, by which a receiver recognises repetitions.
    """
    url = job.data.get("url") or memory.store.read(lambda tx: _callback_url(tx, job.task_id), once=True)
    if not url or memory.settings.callbacks == "off":  # it was on when the job was added
        return
    address = http_client.read_url(url, "the callback_url")
    delivery = f"{job.task_id}-{job.key}"
    body = json.dumps(message(memory, job, delivery)).encode()
    status, answer = http_client.exchange(
        address,
        body,
        signed(read_key(), delivery, int(memory._clock()), body),
        memory.settings.callback_seconds,
        MOST_RESPONSE,
        allowed=None if memory.settings.callback_private == "on" else is_public,
    )
    if not 200 <= status < 300:
        raise StatusError(status, answer)


def _callback_url(tx: Tx, task_id: str) -> str | None:
    """The callback_url of a task with its secrets; ValueError if this store does not have them."""
    found = tx.callback_url(task_id)
    if found is None:
        return None
    url = jobs.unsealed(tx, task_id, found[1]) or found[0]
    if is_marked(url):
        raise ValueError("the callback_url has a secret that this store does not have")
    return url


def message(memory: TaskMemory, job: Job, delivery: str) -> dict[str, Any]:
    """The body of a delivery: the event, the task as it is now, and a summary from the ledger."""
    event = memory.task_event(job.task_id, int(job.key))
    task = memory.task_get(job.task_id)
    data = event.data
    kind = f"task.{event.sets.get('heads', {}).get('status', task.status)}"
    wait = None
    if event.type == "wait.ended":
        kind = f"wait.{data['state']}"
        wait = memory.wait_status(f"{job.task_id}#{event.ref}")[0].to_dict()
    elif event.type == "task.stuck":
        kind = event.type
    return {
        "schema_version": 1,
        "type": kind,
        "delivery": delivery,
        "timestamp": event.at,
        "task": {
            **{name: value for name, value in task.to_dict().items() if name in _SHOWN},
            "metadata": task.metadata,
        },
        "seq": event.seq,
        "wait": wait,
        "answer": data.get("answer"),
        "error": data.get("error"),
        "summary": compose(memory._snapshot(job.task_id), count=memory._counter()).text,
    }


# --- signatures -------------------------------------------------------------------------------------


def key_path() -> str:
    """The path of the signing key."""
    return os.path.join(user_folder("data"), "webhook.key")


def read_key() -> str:
    """The signing key (`whsec_…`), created when it is first needed."""
    path = key_path()
    folder = os.path.dirname(path)
    make_private_folders(folder)
    with FileErrors(path), locked_folder(folder):
        if not os.path.lexists(path):
            write_atomic(path, KEY_PREFIX.encode() + b64encode(os.urandom(32)) + b"\n")
        return read_bounded(path, 1000).decode().strip()


def signed(key: str, delivery: str, now: int, body: bytes) -> dict[str, str]:
    """The headers of a delivery: its id, its time, and a signature of both and the body."""
    secret = b64decode(key.removeprefix(KEY_PREFIX))
    content = b".".join((delivery.encode(), str(now).encode(), body))
    signature = b64encode(hmac.digest(secret, content, "sha256")).decode()
    return {"webhook-id": delivery, "webhook-timestamp": str(now), "webhook-signature": f"v1,{signature}"}


def is_signed(key: str, headers: Any, body: bytes, now: float, tolerance: float = 300) -> bool:
    """Whether a delivery was recently signed with a key, as a receiver would check it."""
    delivery, at, signatures = (
        headers.get(f"webhook-{name}") or "" for name in ("id", "timestamp", "signature")
    )
    if not at.isdecimal() or abs(now - int(at[:18])) > tolerance:
        return False
    wanted = signed(key, delivery, int(at), body)["webhook-signature"]
    return any(hmac.compare_digest(each.encode(), wanted.encode()) for each in signatures.split())
