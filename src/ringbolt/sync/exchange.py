"""The store's side of a sync: which events a remote lacks, and merging those that it has.

A history is identified by its root and the hash of its last event, which covers all of it: after a conflict,
two stores have the same histories under different task ids. So parts are placed by hash, never by task id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..core.signing import Signer
from ..core.transfer import INVALID, PAGE, ChainCheck, Merge, event_line, is_import_of
from ..ledger.access import commit
from ..ledger.base import Base
from ..model.errors import InvalidInput, RingboltError
from ..model.results import Divergence
from ..model.types import Origin
from ..store.forgetting import is_purged
from ..store.tx import Row, Tx
from .queries import hashes_between
from .segments import Part, hash_pairs
from .sync_state import SyncState, Tip

MAX_EVENTS = 500
MAX_TEXT = 1 << 20  # characters in one segment, unless a single event has more

Events = list[tuple[int, Row, Origin]]
Histories = dict[str, dict[str, int]]  # by root: its tasks here with their last seq


class Taken(NamedTuple):
    """The result of merging the parts of a segment."""

    added: int
    known: int
    purged: int
    tasks: tuple[str, ...]
    conflicts: tuple[Divergence, ...]
    tips: tuple[tuple[str, Tip], ...]
    waiting: int  # parts that follow events which are not here yet


def checked(parts: list[Part], signer: Signer) -> list[tuple[Part, Events]]:
    """The events of parts; InvalidInput if one is not what its hash says."""
    result: list[tuple[Part, Events]] = []
    for part in parts:
        check = ChainCheck(signer)
        if part.first > 1:
            check.begin(part.task, part.first - 1, bytes.fromhex(part.link or part.after))
        events: Events = []
        try:
            for number, line in enumerate(part.events, part.first):
                row, origin = check.read(line)
                if (row["task_id"], row["root_id"], row["seq"]) != (part.task, part.root, number):
                    raise ValueError("it does not belong to its part")
                events.append((number, row, origin))
        except INVALID as error:
            reason = error.message if isinstance(error, RingboltError) else str(error)
            raise InvalidInput(
                "import_invalid",
                f"#{part.first + len(events)} of task {part.task} is not an event: {reason}",
                "Sync the machine that wrote it again. Nothing of this segment was written.",
            ) from None
        result.append((part, events))
    return result


def take(memory: Base, parts: list[tuple[Part, Events]], state: SyncState) -> Taken:
    """Merge the checked parts of a segment in one transaction."""
    keep_secrets = memory.settings.keep_secrets == "on"

    def work(tx: Tx) -> Taken:
        return _Taking(tx, state, keep_secrets).take(parts)

    taken = commit(memory, work, settles=True, tasks=lambda taken: taken.tasks)
    for root, tip in taken.tips:
        state.add(root, tip)
    return taken


class _Taking:
    """One transaction that merges parts."""

    def __init__(self, tx: Tx, state: SyncState, keep_secrets: bool) -> None:
        self._tx = tx
        self._state = state
        self._keep_secrets = keep_secrets
        self._histories = histories(tx)
        self._new: dict[tuple[str, int, str], Tip] = {}  # what this transaction has placed

    def take(self, parts: list[tuple[Part, Events]]) -> Taken:
        merge = Merge(all_tasks=False)
        waiting = 0
        for part, events in parts:
            if (merged := self._merged(part, events)) is None:
                waiting += 1
            else:
                merge.take(merged)
        report = merge.report()
        tips = tuple((key[0], tip) for key, tip in self._new.items())
        return Taken(report.added, report.known, report.purged, report.tasks, report.conflicts, tips, waiting)

    def _merged(self, part: Part, events: Events) -> Merge | None:
        """Merge a part; None if the event before it is not here yet."""
        known = self._tip(part.root, part.first - 1, part.after) if part.first > 1 else None
        if known is not None and not known.local_hash:
            return self._gone(part, known.task_id)
        home = self._home(part, events, known)
        if home is None and part.first > 1:
            if is_purged(self._tx, part.root) or is_purged(self._tx, part.task):
                return self._gone(part, part.task)
            return None
        before = self._hash(home, part.first - 1) if home and part.first > 1 else ""
        if part.first > 1 and before != (part.link or part.after):
            # It continues our import of an event, so it can only be an import as well.
            events = [(number, {**row, "signed": False}, origin) for number, row, origin in events]
        merge = Merge({part.task: home} if home else None, False, frozenset(), self._keep_secrets)
        merged = merge.add_all(self._tx, events)
        end = merged.home_of(part.task)
        self._placed(part, end)
        if digest := self._hash(end, part.last):
            tasks = self._histories[part.root]
            tasks[end] = max(part.last, tasks.get(end, 0))
        self._new[part.root, part.last, part.end] = Tip(part.last, part.end, end, digest)
        return merged

    def _placed(self, part: Part, end: str) -> None:
        """Remember each event that is here under another hash: parts of others may follow any of them."""
        here = hashes_between(self._tx, end, part.first, part.last)
        for seq, digest in hash_pairs(part):
            if (own := here.get(seq)) is not None and own != digest:
                self._new[part.root, seq, digest.hex()] = Tip(seq, digest.hex(), end, own.hex())

    def _gone(self, part: Part, task_id: str) -> Merge:
        merge = Merge(all_tasks=False)
        merge.count_purged(len(part.events))
        self._new[part.root, part.last, part.end] = Tip(part.last, part.end, task_id, "")
        return merge

    def _tip(self, root: str, seq: int, digest: str) -> Tip | None:
        if (tip := self._new.get((root, seq, digest))) is not None:
            return tip
        matches = (tip for tip in self._state.tips.get(root, ()) if tip[:2] == (seq, digest))
        return next(matches, None)

    def _home(self, part: Part, events: Events, known: Tip | None) -> str | None:
        """The task here whose history has the most of a part, or that the part continues.

        Histories share their beginning after a conflict, so that several tasks may have the event before it.
        """
        before = known.local_hash if known else part.after
        best: tuple[tuple[int, bool, bool, str], str] | None = None
        for task, last in self._histories.get(part.root, {}).items():
            if part.first > 1 and (last < part.first - 1 or self._hash(task, part.first - 1) != before):
                continue
            same = self._count_same(task, events) if last >= part.first else 0
            if part.first == 1 and not same:
                continue
            rank = same, last == part.first + same - 1, task == part.root, task
            if best is None or rank > best[0]:
                best = rank, task
        return best[1] if best else None

    def _count_same(self, task: str, events: Events) -> int:
        """How many of these events, from the first on, a task has, as they are or as an import."""
        here = hashes_between(self._tx, task, events[0][0], events[-1][0])
        for count, (seq, row, origin) in enumerate(events):
            if here.get(seq) != row["hash"]:
                own = self._tx.event(task, seq) if seq in here else None
                if own is None or not is_import_of(self._tx, own, row, origin):
                    return count
        return len(events)

    def _hash(self, task_id: str, seq: int) -> str:
        found = hashes_between(self._tx, task_id, seq, seq)
        return found[seq].hex() if found else ""


def histories(tx: Tx) -> Histories:
    """The histories in the store by root."""
    result: Histories = defaultdict(dict)
    for task, (root, last, _) in tx.chain_ends().items():
        result[root][task] = last
    return result


# --- what the remote lacks --------------------------------------------------------------------------


class Lacking(NamedTuple):
    """The end of a history that the remote does not have, and the last event of it that the remote has."""

    task_id: str
    root: str
    last: int
    known: Tip


_NOTHING = Tip(0, "", "", "")


def lacking(memory: Base, state: SyncState, roots: Collection[str] | None = None) -> list[Lacking]:
    """The histories that the remote does not have in full; with `roots`, only those of these roots."""

    def work(tx: Tx) -> list[Lacking]:
        result: list[Lacking] = []
        for task, (root, last, digest) in tx.chain_ends().items():
            if roots is None or root in roots:
                known = last_known(tx, task, last, digest, state.tips.get(root, []))
                if known.seq < last:
                    result.append(Lacking(task, root, last, known))
        return result

    return memory.store.read(work)


def last_known(tx: Tx, task: str, last: int, digest: bytes, tips: list[Tip]) -> Tip:
    """The last event of a history that is one of these, which are in descending order."""
    for tip in tips:
        if tip.seq > last or not tip.local_hash:
            continue
        own = digest if tip.seq == last else hashes_between(tx, task, tip.seq, tip.seq).get(tip.seq, b"")
        if own.hex() == tip.local_hash:
            return tip
    return _NOTHING


def segments_of(memory: Base, wanted: list[Lacking], signer: Signer) -> Iterator[list[Part]]:
    """The missing events in parts, as many of them together as make a segment."""
    parts: list[Part] = []
    events = size = 0
    for task, root, last, known in wanted:
        after, remote, own = known.seq, known.remote_hash, known.local_hash
        while after < last:
            most = min(PAGE, MAX_EVENTS - events)
            rows = memory.store.read(lambda tx, n=task, a=after, m=most, e=last: tx.events(n, a, m, e))
            if not rows:  # purged in the meantime
                break
            lines, used = _lines(rows, root, signer, MAX_TEXT - size)
            parts.append(
                Part(
                    root=root,
                    task=task,
                    first=after + 1,
                    after=remote,
                    link=own if own != remote else "",
                    events=tuple(lines),
                )
            )
            after += len(lines)
            remote = own = str(lines[-1]["hash"])
            events, size = events + len(lines), size + used
            if events >= MAX_EVENTS or size >= MAX_TEXT or after < last:
                yield parts
                parts, events, size = [], 0, 0
    if parts:
        yield parts


def _lines(rows: list[Row], root: str, signer: Signer, room: int) -> tuple[list[dict[str, object]], int]:
    """The lines of events, as many as there is room for, but at least one."""
    lines: list[dict[str, object]] = []
    size = 0
    for row in rows:
        size += len(row["text"] or "") + len(row["data"]) + len(row["sets"] or "") + 400
        if lines and size > room:
            break
        row["root_id"] = root
        row["signature"] = signer.sign(root, row["hash"])
        lines.append(event_line(row))
    return lines, size


def sent_tips(parts: list[Part]) -> Iterator[tuple[str, Tip]]:
    """The ends of parts of our own that a remote now has."""
    for part in parts:
        yield part.root, Tip(part.last, part.end, part.task, part.end)
