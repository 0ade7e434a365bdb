"""One sync with a remote: take what it has, then give what it lacks, until both have the same."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Generic, Protocol, TypeVar

from ..core.signing import Signer
from ..ledger.base import Base
from ..model.errors import InvalidInput, StoreError
from ..model.results import Divergence, SyncReport
from ..store.tx import Tx
from .exchange import Lacking, Taken, checked, histories, lacking, segments_of, sent_tips, take
from .queries import hashes_between
from .segments import BadSegment, Part, Sealer, decode, encode, hash_pairs, read_part
from .server_remote import ServerRemote
from .sync_state import SyncState, Tip

_RACES = 50  # how often other machines may be faster with a push
_TOGETHER = 16  # segments of one commit
_WANTED = 500  # histories of one request
_SAVE_EVERY = 20  # segments


class SegmentRemote(Protocol):
    """A place that keeps segments."""

    name: str

    def names(self) -> list[str]:
        """The names of all segments, the oldest first."""
        ...

    def read(self, name: str) -> bytes:
        """A segment."""
        ...

    def add(self, segments: list[bytes]) -> list[str] | None:
        """Add segments and return their names; None if the remote has changed since `names`."""
        ...


Remote = TypeVar("Remote")


class SyncCounts:
    """Counts what a sync does."""

    def __init__(self) -> None:
        self.sent = self.received = self.known = self.purged = 0
        self.waiting = 0
        self.tasks: dict[str, None] = {}
        self.conflicts: dict[str, Divergence] = {}
        self.rejected: dict[str, str] = {}

    def take(self, taken: Taken) -> None:
        """Count what was merged."""
        self.received += taken.added
        self.known += taken.known
        self.purged += taken.purged
        self.tasks.update(dict.fromkeys(taken.tasks))
        for conflict in taken.conflicts:
            self.conflicts.setdefault(conflict.kept_as, conflict)

    def report(self, remote: str, dry_run: bool) -> SyncReport:
        """The counts as a result."""
        return SyncReport(
            remote=remote,
            dry_run=dry_run,
            sent=self.sent,
            received=self.received,
            known=self.known,
            purged=self.purged,
            waiting=self.waiting,
            tasks=tuple(self.tasks),
            conflicts=tuple(self.conflicts.values()),
            rejected=tuple(f"{name}: {reason}" for name, reason in self.rejected.items()),
        )


class _Rounds(Generic[Remote]):
    def __init__(
        self,
        memory: Base,
        remote: Remote,
        state: SyncState,
        signer: Signer,
        roots: Collection[str] | None,
        counts: SyncCounts,
    ) -> None:
        self._memory = memory
        self._remote = remote
        self._state = state
        self._signer = signer
        self._roots = roots
        self._counts = counts

    def _take(self, parts: list[Part]) -> Taken:
        taken = take(self._memory, checked(parts, self._signer), self._state)
        self._counts.take(taken)
        return taken

    def _progress(self, done: int, total: int) -> None:
        if self._memory.progress is not None:
            self._memory.progress(done, total)

    def _preview_parts(self, parts: list[Part]) -> None:
        """Count the events of parts that are not here; what is here, the remote has."""

        def work(tx: Tx) -> int:
            tasks, new = histories(tx), 0
            for part in parts:
                here = [hashes_between(tx, task, part.first, part.last) for task in tasks.get(part.root, ())]
                same = [sum(each.get(seq) == digest for seq, digest in hash_pairs(part)) for each in here]
                best = max(same, default=0)
                new += len(part.events) - best
                if best == len(part.events):
                    task = list(tasks[part.root])[same.index(best)]
                    self._state.add(part.root, Tip(part.last, part.end, task, part.end))
            return new

        self._counts.received += self._memory.store.read(work)

    def _preview_sending(self) -> None:
        self._counts.sent = self._lacking()[1]

    def _lacking(self) -> tuple[list[Lacking], int]:
        """The histories that the remote does not have in full, and the number of events that it lacks."""
        found = lacking(self._memory, self._state, self._roots)
        return found, sum(each.last - each.known.seq for each in found)

    def _count_sent(self, parts: list[Part]) -> None:
        for root, tip in sent_tips(parts):
            self._state.add(root, tip)
        self._counts.sent += sum(len(part.events) for part in parts)


class SegmentRounds(_Rounds[SegmentRemote]):
    """A sync with a place that keeps segments."""

    def __init__(
        self,
        memory: Base,
        remote: SegmentRemote,
        state: SyncState,
        signer: Signer,
        roots: Collection[str] | None,
        counts: SyncCounts,
        sealer: Sealer,
    ) -> None:
        super().__init__(memory, remote, state, signer, roots, counts)
        self._sealer = sealer

    def run(self) -> None:
        """Exchange segments until the remote lacks nothing."""
        for _ in range(_RACES):
            self._take_all()
            if self._give_all():
                return
        raise StoreError(
            "sync_failed",
            "Other machines kept writing to the remote at the same time.",
            "What was synced is kept; sync again.",
        )

    def preview(self) -> None:
        """Count what a sync would do."""
        for name in self._unseen():
            if (parts := self._parts(name)) is not None:
                self._preview_parts(self._wanted(parts))
        self._check_key()
        self._preview_sending()

    def _unseen(self) -> list[str]:
        present = self._remote.names()
        self._state.seen &= set(present)
        return [name for name in present if name not in self._state.seen]

    def _parts(self, name: str) -> list[Part] | None:
        """The parts of a segment; None, with a reason in the report, if it cannot be read."""
        try:
            return decode(self._sealer.open(self._remote.read(name)))
        except BadSegment as error:
            self._counts.rejected[name] = str(error)
            return None

    def _wanted(self, parts: list[Part]) -> list[Part]:
        return parts if self._roots is None else [part for part in parts if part.root in self._roots]

    def _take_all(self) -> None:
        names = self._unseen()
        total, done = len(names), 0
        while names:
            again: list[str] = []
            moved = False
            for name in names:
                added, complete = self._take_segment(name)
                moved |= added or complete
                if complete:
                    done += 1
                    self._progress(done, total)
                    if done % _SAVE_EVERY == 0:
                        self._state.save()
                elif name not in self._counts.rejected:
                    again.append(name)
            # A segment may follow one that sorts after it, if the clocks of two machines differ.
            names = again if moved else []
            self._counts.waiting = len(again)
        self._check_key()
        if total:
            self._state.save()

    def _take_segment(self, name: str) -> tuple[bool, bool]:
        """Merge a segment; returns whether anything was new, and whether all of it is here now."""
        if (parts := self._parts(name)) is None:
            return False, False
        wanted = self._wanted(parts)
        try:
            taken = self._take(wanted)
        except InvalidInput as error:
            if error.code != "import_invalid":
                raise
            self._counts.rejected[name] = error.message
            return False, False
        complete = not taken.waiting and len(wanted) == len(parts)
        if complete:
            self._state.seen.add(name)
        return bool(taken.added), complete or not taken.waiting

    def _check_key(self) -> None:
        """Never add to a remote where nothing can be read: the key must be wrong."""
        if self._counts.rejected and not self._state.seen:
            name, reason = next(iter(self._counts.rejected.items()))
            raise InvalidInput(
                "sync_key",
                f"Nothing on the remote can be read; {name}: {reason}.",
                "Pass the key that the other machines use. Nothing was sent.",
            )

    def _give_all(self) -> bool:
        """Send what the remote lacks; False if another machine was faster."""
        wanted, total = self._lacking()
        sent_before = self._counts.sent
        batch: list[list[Part]] = []

        def flush() -> bool:
            names = self._remote.add([self._sealer.seal(encode(parts)) for parts in batch])
            if names is None:
                return False
            self._state.seen.update(names)
            for parts in batch:
                self._count_sent(parts)
            self._state.save()
            batch.clear()
            self._progress(self._counts.sent - sent_before, total)
            return True

        for parts in segments_of(self._memory, wanted, self._signer):
            batch.append(parts)
            if len(batch) == _TOGETHER and not flush():
                return False
        return not batch or flush()


class ServerRounds(_Rounds[ServerRemote]):
    """A sync with another server, which merges by itself."""

    def run(self) -> None:
        """Pull until nothing is missing here, then push."""
        self._pull(lambda parts: bool(self._take(parts).tips))
        self._state.save()
        wanted, total = self._lacking()
        for parts in segments_of(self._memory, wanted, self._signer):
            report = self._remote.push([part.to_dict() for part in parts])
            if report.get("waiting"):
                raise StoreError(
                    "sync_failed",
                    "The server no longer has events that these follow.",
                    "What was synced is kept; sync again.",
                )
            self._count_sent(parts)
            self._state.save()
            self._progress(self._counts.sent, total)

    def preview(self) -> None:
        """Count what a sync would do; of a long history, at least what one request returns."""

        def count(parts: list[Part]) -> bool:
            self._preview_parts(parts)
            return False

        self._pull(count)
        self._preview_sending()

    def _pull(self, use: Callable[[list[Part]], bool]) -> None:
        """Ask for what is missing here, and again while it helps."""
        ends = [end for end in self._remote.ends() if self._roots is None or end[1] in self._roots]
        before: list[dict[str, Any]] = []
        while (missing := self._missing(ends)) and missing != before:
            before = missing
            found = [read_part(part) for part in self._remote.pull(missing[:_WANTED])]
            if not found or not use(found):
                return
            self._progress(len(ends) - len(missing), len(ends))

    def _missing(self, ends: list[list[Any]]) -> list[dict[str, Any]]:
        """The histories of the server that are not here in full, with what is here of each."""

        def work(tx: Tx) -> list[dict[str, Any]]:
            result: list[dict[str, Any]] = []
            tasks = histories(tx)
            local = tx.chain_ends()
            for task, root, last, digest in ends:
                tips = self._state.tips.get(root, [])
                if any(tip[:2] == (last, digest) for tip in tips):
                    continue
                for own in tasks.get(root, ()):
                    if hashes_between(tx, own, last, last).get(last, b"").hex() == digest:
                        self._state.add(root, Tip(last, digest, own, digest))
                        break
                else:
                    have = {tip[:2] for tip in tips}
                    have |= {(local[own][1], local[own][2].hex()) for own in tasks.get(root, ())}
                    result.append({"task": task, "have": sorted(have)})
            return result

        return self._memory.store.read(work)
