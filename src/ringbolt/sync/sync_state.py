"""What a remote has, as of the last sync: the segments that were read, and the ends of the histories in them.

It is a cache beside the store. Without it, or if the store has gone back to a backup since, everything on the
remote is read again, and merging skips what is known.
"""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

from ..journal.folders import journal_folders
from ..ledger.base import Base
from ..model.validate import blake2b, dumps
from ..store.forgetting import is_purged
from ..store.tx import Tx
from ..system.files import FileErrors, write_atomic

_VERSION = 1


class Tip(NamedTuple):
    """An event that the remote has under `remote_hash`, and where it is in this store."""

    seq: int
    remote_hash: str
    task_id: str
    local_hash: str  # empty: the task was purged here


class SyncState:
    """What one remote has."""

    def __init__(self, path: str, fields: dict[str, Any] | None = None) -> None:
        fields = fields or {}
        self.path = path
        self.seen: set[str] = set(fields.get("seen", ()))
        self.tips: dict[str, list[Tip]] = {
            root: [Tip(*tip) for tip in tips] for root, tips in fields.get("tips", {}).items()
        }
        self.synced_at: str = fields.get("synced_at", "")
        self.remote: str = fields.get("remote", "")

    def add(self, root: str, tip: Tip) -> None:
        """The remote has the history up to this event."""
        kept = [
            old
            for old in self.tips.get(root, ())
            # Earlier events of the same history are found in the store by their hashes, unless they differ.
            if old.remote_hash != old.local_hash or old.task_id != tip.task_id or old.seq > tip.seq
        ]
        if tip not in kept:
            kept.append(tip)
        self.tips[root] = sorted(kept, reverse=True)

    def save(self) -> None:
        """Write the state."""
        fields = {
            "version": _VERSION,
            "remote": self.remote,
            "synced_at": self.synced_at,
            "seen": sorted(self.seen),
            "tips": self.tips,
        }
        with FileErrors(self.path):
            write_atomic(self.path, dumps(fields).encode())

    def fits(self, tx: Tx) -> bool:
        """Whether the store still has everything that was read."""
        ends = tx.chain_ends()
        for tips in self.tips.values():
            for tip in tips:
                _, last, digest = ends.get(tip.task_id, ("", 0, b""))
                if tip.local_hash and not (tip.seq == last and digest.hex() == tip.local_hash):
                    event = tx.event(tip.task_id, tip.seq) if tip.seq < last else None
                    if (event is None or event["hash"].hex() != tip.local_hash) and not (
                        last == 0 and is_purged(tx, tip.task_id)
                    ):
                        return False
        return True


def sync_folder(memory: Base) -> str:
    """The folder for the state of syncs, beside the store."""
    return os.path.join(journal_folders(memory.store.url, memory.settings.tenant)[0], "sync")


def state_path(memory: Base, remote: str) -> str:
    """The file for the state of a remote."""
    digest = blake2b(remote.encode("utf-8", "replace"), digest_size=8).hexdigest()
    return os.path.join(sync_folder(memory), f"{digest}.json")


def read_state(path: str) -> SyncState:
    """The state in a file; empty if there is none that can be used."""
    try:
        with open(path, "rb") as file:
            fields: Any = json.loads(file.read())
        if fields.get("version") != _VERSION:
            return SyncState(path)
        return SyncState(path, fields)
    except (OSError, ValueError, AttributeError, TypeError):
        return SyncState(path)
