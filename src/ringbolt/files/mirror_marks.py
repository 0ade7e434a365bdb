"""What mirrors should show: the tasks changed last, and the marks that tell their states apart."""

from __future__ import annotations

import os
import re

from ..model.rules import ENDED, TASK_STATUSES
from ..model.validate import blake2b
from ..store.tx import Row, Tx
from .mirror_files import Mark, digest


def recent(tx: Tx, workspace: str | None, limit: int, before: int | None = None) -> list[Row]:
    """Tasks of a workspace, or of all, the last changed first: open, ended and archived ones."""
    return tx.recent_heads(TASK_STATUSES, limit, workspace, before)


def task_mark(head: Row) -> Mark:
    return Mark(number=head["last_seq"], check=bytes(head["last_hash"][:4]).hex())


def workspace_mark(heads: list[Row]) -> Mark | None:
    """The state of a workspace: the position of its last event, and the ends of the tasks changed lately.

    The position alone would not do: on PostgreSQL an event may be seen before one with a lower position.
    """
    if not heads:
        return None
    ends = blake2b(digest_size=4)
    for head in heads:
        ends.update(bytes(head["last_hash"]))
    return Mark(number=max(head["position"] for head in heads), check=ends.hexdigest())


def is_open(head: Row) -> bool:
    return head["status"] not in ENDED and head["archived_at"] is None


def folder_name(workspace: str) -> str:
    """The name of a workspace's folder among those of others."""
    plain = re.sub(r"[^\w.-]+", "-", os.path.basename(workspace.rstrip("/")), flags=re.ASCII).strip(".-")
    return f"{plain[:40] or 'workspace'}-{digest(workspace.encode())}"
