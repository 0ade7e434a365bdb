"""The operations of syncing."""

from __future__ import annotations

import os
from typing import Any

from ..core.transfer import Transfer
from ..ledger.base import Base
from ..model import validate
from ..model.errors import InvalidInput, shown
from ..model.operation import operation
from ..model.results import SyncEnds, SyncParts, SyncReport
from ..model.rules import ID_LENGTH
from ..store.tx import Tx
from ..system.files import FileErrors, locked_folder
from .exchange import Lacking, checked, last_known, segments_of, take
from .folder_remote import FolderRemote
from .git_remote import GitRemote, is_repository, remote_url, without_credentials
from .rounds import SegmentRounds, ServerRounds, SyncCounts
from .segments import read_part, sealer_for
from .server_remote import ServerRemote
from .sync_state import SyncState, Tip, read_state, state_path, sync_folder

_GIT_URLS = ("ssh://", "git://", "file://", "git+ssh://")
_MOST_WANTED = 10_000


class MachineSync(Transfer):
    """Operations that exchange events with other machines."""

    @operation(
        scope="write",
        tools="none",
        http=False,
        repeatable=True,
        whole_store=True,
        example={"remote": "/mnt/shared/tasks"},
    )
    def sync(
        self,
        remote: str = "",
        task_id: str | None = None,
        *,
        key_file: str = "",
        dry_run: bool = False,
    ) -> SyncReport:
        """Exchange events with another machine: send those that the remote lacks, merge those that it has.

        The remote is a git repository (a URL, a path, or the name of a remote of the workspace's repository;
        only `refs/ringbolt/sync` is used), a folder that several machines can write to, or the address of
        another Ringbolt server. Events of a store with the same signing key keep their origins; all others
        arrive as an import. Where two machines continued a task differently, both histories are kept, and
        reported as a conflict. It can be interrupted at any time, and repeated.

        Args:
            remote: The remote. Default: the setting `sync_remote`.
            task_id: Only this task, with all of its histories. Default: all tasks.
            key_file: File with a key or passphrase that encrypts what a git repository or folder keeps.
                Default: the setting `sync_key`.
        """
        name = validate.text("remote", remote or self.settings.sync_remote, 2000)
        if not name:
            raise InvalidInput(
                "sync_remote", "No remote was named.", "Name one, or set `sync_remote` in the settings."
            )
        folder = sync_folder(self)
        with FileErrors(folder):
            os.makedirs(folder, 0o700, exist_ok=True)
        with locked_folder(folder):  # a second sync of this store waits
            return self._synced(name, task_id, key_file or self.settings.sync_key, dry_run)

    def _synced(self, name: str, task_id: str | None, key_file: str, dry_run: bool) -> SyncReport:
        place = self._remote(name)
        state = self._state(place.name)
        roots = None if task_id is None else {self.store.read(lambda tx: self._root(tx, task_id))}
        counts = SyncCounts()
        if isinstance(place, ServerRemote):
            rounds = ServerRounds(self, place, state, self._signer(), roots, counts)
        else:
            rounds = SegmentRounds(self, place, state, self._signer(), roots, counts, sealer_for(key_file))
        if dry_run:
            rounds.preview()
        else:
            rounds.run()
            state.remote, state.synced_at = name, self._now()
            state.save()
        return counts.report(without_credentials(name), dry_run)

    def _remote(self, name: str) -> ServerRemote | GitRemote | FolderRemote:
        plain = name.removeprefix("git+") if name.startswith(("git+http://", "git+https://")) else name
        is_http = name.startswith(("http://", "https://"))
        if is_http and not name.rstrip("/").endswith(".git"):
            return ServerRemote(name, self.settings.sync_token_env)
        path = os.path.abspath(os.path.expanduser(name))
        if plain != name or is_http or name.startswith(_GIT_URLS):
            url = plain
        elif os.path.isdir(path):
            url = path if is_repository(path) else None
        else:
            # A remote of the repository, or the short form of ssh: user@host:path.
            url = remote_url(name, self.workspace) or (name if _is_scp_form(name) else None)
        if url is None:
            return FolderRemote(path)
        return GitRemote(url, f"{state_path(self, url).removesuffix('.json')}.git")

    def _state(self, remote: str) -> SyncState:
        state = read_state(path := state_path(self, remote))
        return state if self.store.read(state.fits) else SyncState(path)

    def _root(self, tx: Tx, task_id: str) -> str:
        if len(task_id) == ID_LENGTH and tx.head(task_id) is None:
            return task_id  # it may be on the remote only
        return self._find(tx, task_id, False)["root_id"]

    # --- for the server's side ----------------------------------------------------------------------

    @operation(scope="read", tools="none", whole_store=True)
    def sync_ends(self) -> SyncEnds:
        """The last event of each history, for another machine that syncs with this server."""
        ends = self.store.read(lambda tx: tx.chain_ends())
        return SyncEnds(
            ends=tuple((task, root, last, digest.hex()) for task, (root, last, digest) in ends.items())
        )

    @operation(
        scope="read",
        tools="none",
        whole_store=True,
        example={"wanted": [{"task": "7k3m9xq2wd", "have": []}]},
    )
    def sync_pull(self, wanted: list[dict[str, Any]]) -> SyncParts:
        """Signed events for another machine that syncs with this server, as many as make a segment.

        Args:
            wanted: Histories, each with its `task`, and under `have` the seq and hash of events that the
                other machine has.
        """
        if len(wanted) > _MOST_WANTED:
            raise InvalidInput("too_large", f"More than {_MOST_WANTED} histories.", "Ask for fewer.")
        try:
            pairs = [
                (str(each["task"]), [(int(seq), str(digest)) for seq, digest in each.get("have", ())])
                for each in wanted
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInput(
                "invalid_argument", f"`wanted` cannot be read: {shown(error)}.", "Pass task and have."
            ) from None

        def work(tx: Tx) -> list[Lacking]:
            result: list[Lacking] = []
            for task, have in pairs:
                if (head := tx.head(task)) is not None:
                    tips = sorted((Tip(seq, digest, task, digest) for seq, digest in have), reverse=True)
                    known = last_known(tx, task, head["last_seq"], head["last_hash"], tips)
                    result.append(Lacking(task, head["root_id"], head["last_seq"], known))
            return [each for each in result if each.known.seq < each.last]

        lacking = self.store.read(work)
        first = next(segments_of(self, lacking, self._signer()), None)
        return SyncParts(parts=tuple(part.to_dict() for part in first or ()))

    @operation(scope="write", tools="none", repeatable=True, whole_store=True, example={"parts": []})
    def sync_push(self, parts: list[dict[str, Any]]) -> SyncReport:
        """Merge events of another machine that syncs with this server, as an import does.

        Args:
            parts: Consecutive events of tasks, as `sync_pull` returns them.
        """
        try:
            read = [read_part(part) for part in parts]
        except ValueError as error:
            raise InvalidInput("import_invalid", f"A part cannot be read: {error}.", "Sync again.") from None
        folder = sync_folder(self)
        with FileErrors(folder):
            os.makedirs(folder, 0o700, exist_ok=True)
        events = checked(read, self._signer())
        counts = SyncCounts()
        with locked_folder(folder):
            state = self._state("pushed")
            taken = take(self, events, state)
            # Only what has other hashes here is worth remembering; the rest is found in the store.
            state.tips = {
                root: kept
                for root, tips in state.tips.items()
                if (kept := [tip for tip in tips if tip.remote_hash != tip.local_hash])
            }
            state.save()
        counts.take(taken)
        counts.waiting = taken.waiting
        return counts.report("", False)


def last_sync(memory: Base) -> SyncState | None:
    """What is known about the last sync with the remote of the settings; None if there was none."""
    folder = sync_folder(memory)
    found = [
        read_state(os.path.join(folder, name))
        for name in (os.listdir(folder) if os.path.isdir(folder) else ())
        if name.endswith(".json")
    ]
    wanted = [state for state in found if state.remote == memory.settings.sync_remote and state.synced_at]
    return max(wanted, key=lambda state: state.synced_at, default=None)


def _is_scp_form(name: str) -> bool:
    host, colon, path = name.partition(":")
    return bool(colon and path and host) and "/" not in host and not name.startswith("-")
