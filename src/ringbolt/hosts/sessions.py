"""Sessions of hosts: their ids in the store, and the task that each works on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..ledger.base import Base
from ..ledger.current_task import session_task
from ..model.validate import blake2b


def session_of(event: Mapping[str, Any], agent: str = "") -> str:
    """The session that an event belongs to; a helper of the agent has its own."""
    session = str(event.get("session") or "")
    whole = f"{session}/{agent}" if agent and session else session
    if len(whole) <= 150:
        return whole
    return whole[:100] + blake2b(whole.encode(), digest_size=12).hexdigest()


def own_task(memory: Base) -> str | None:
    """The open task that this session focused last."""
    return memory.store.read(lambda tx: session_task(memory, tx))
