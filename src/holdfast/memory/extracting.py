# pyright: reportPrivateUsage=false
"""Extraction: what a step brought to light becomes entries, once each, with the trust of where it comes from.

A fold with a mark: the events after the mark are read, looked at outside any transaction, and what was found
is written together with the new mark. Whoever finds the mark moved begins again: no event is taken twice.
"""

from __future__ import annotations

import re

from .. import checks, rules
from ..checks import blake2b
from ..errors import InvalidInput
from ..store import distilled, jobs, learned
from ..types import Event, Extraction, is_dict, is_list
from . import patterns
from .base import Base, Draft, find_item
from .reading import read_event

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from ..store.tx import Row, Tx

    class Found(Protocol):
        """What an extractor found: an entry to be, the events it comes from, and how much it matters.

        An error whose `data` has a `fix` is settled by it.
        """

        @property
        def type(self) -> str: ...
        @property
        def summary(self) -> str: ...
        @property
        def detail(self) -> str | None: ...
        @property
        def data(self) -> Mapping[str, Any]: ...
        @property
        def key(self) -> str | None: ...
        @property
        def seq(self) -> tuple[int, ...]: ...
        @property
        def channel(self) -> str: ...
        @property
        def weight(self) -> float: ...

    Extractor = Callable[[Sequence[Event]], Sequence[Found]]
    Settle = Callable[[Tx], None]

KIND = "extraction"
AGENT = "holdfast"
# Events that are taken at once, and how many before them are looked at again: an error may be fixed by now.
PAGE, CONTEXT = 200, 40
MOST_KNOWN = 20_000
TRUST = (
    "import",
    "web",
    "tool",
    "agent",
)  # from the least on; what is extracted is never the user's own word
_ECHO = re.compile(
    r"<(holdfast-[\w-]{1,80}|active-tasks|task-hygiene|stale-tasks)\b[^>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL
)


class Extracting(Base):
    """Operations that find what is worth remembering."""

    def task_extract(self, task_id: str | None = None, item: str | int | None = None) -> Extraction:
        """Remember what a task's events say and nobody has recorded: errors and their fixes, decisions and
        why, artifacts, versions, addresses.

        Looks at the events since the last time; with `item`, again at all that belongs to that step. What is
        known already is not written twice. The worker does this by itself when a step is over.
        """
        return self._extract(task_id, item)

    def _extract(
        self,
        task_id: str | None = None,
        item: str | int | None = None,
        *,
        extractor: Extractor | None = None,
        settle: Settle | None = None,
    ) -> Extraction:
        """The same with another extractor; `settle` runs in the last transaction of it."""
        if extractor is None:
            from ..distill.extract import extract

            extractor = extract
        found = self.store.read(lambda tx: self._find(tx, task_id))["task_id"]
        total = Extraction(task_id=found, seq=0)
        known = _Known(found, again=item is not None)
        after: int | None = None
        while True:
            page = self.store.read(lambda tx, a=after, k=known: _Page(tx, found, item, a, k))
            work = _Writing(self, page, _candidates(self, page, extractor), settle if page.last else None)
            part = self._commit(work, tasks=lambda _: (found,))
            if part is None:  # someone else has taken these events meanwhile
                continue
            total = _sum(total, part)
            if page.last:
                return total
            known = work.known
            after = None if item is None else page.until


class _Page:
    """Some events of a task with all that is needed to judge what is new in them."""

    def __init__(
        self, tx: Tx, task_id: str, item: str | int | None, after: int | None, known: _Known
    ) -> None:
        self.task_id = task_id
        head = tx.head(task_id)
        self.name = head["name"] if head else ""
        steps = tx.steps(task_id)
        self.titles = {row["item_id"]: row["title"] for row in steps}
        self.mark, self.state = distilled.get(tx, task_id, KIND)
        self.again = item is not None  # looked at once more: the mark stays where it is
        begin, end = self.mark, None
        if item is not None:
            begin, end = learned.span(tx, task_id, find_item(steps, item)["item_id"])
            begin = begin if after is None else after
        self.after = begin
        rows = tx.events(task_id, max(begin - CONTEXT, 0), CONTEXT + PAGE, end)
        self.events = [read_event(row) for row in rows]
        self.new = [event for event in self.events if event.seq > begin]
        self.until = self.events[-1].seq if self.new else begin
        self.last = len(rows) < CONTEXT + PAGE or (end is not None and self.until >= end)
        self.known = known.copy()
        self.known.read(tx, head["last_seq"] if head else 0)


class _Known:
    """The entries that a task has, by what they are recognised by, up to an event."""

    def __init__(self, task_id: str, again: bool) -> None:
        self._task_id = task_id
        # Looked at once more, what was settled or replaced is known, too; else it may have come back.
        self._blocking = tuple(rules.ENTRY_TRANSITIONS) if again else ("active", "invalidated")
        self._until = 0
        self._rows: dict[str, Row] = {}
        self._own: set[str] = set()

    def copy(self) -> _Known:
        """The same, to be added to."""
        again = _Known.__new__(_Known)
        again.__dict__.update(self.__dict__, _rows=dict(self._rows), _own=set[str]())
        return again

    def read(self, tx: Tx, until: int) -> None:
        """Add the entries that came since the last time."""
        if until <= self._until:
            return
        found: dict[str, Row] = {}
        for row in learned.entries(tx, self._task_id, self._until, self._blocking, MOST_KNOWN):
            for name in _names(row["type"], row["key"], row["text"] or ""):
                found.setdefault(name, row)
        self._rows.update(found)
        self._until = until

    def has(self, names: Sequence[str]) -> bool:
        """Whether an entry that is recognised by one of these must not be written."""
        return any(
            name in self._own or (name in self._rows and self._rows[name]["status"] in self._blocking)
            for name in names[:2]
        )

    def get(self, name: str) -> Row | None:
        """The active entry that is recognised by this."""
        row = self._rows.get(name)
        return row if row and row["status"] == "active" else None

    def add(self, names: Sequence[str], row: Row) -> None:
        """What was written or changed in this transaction."""
        self._rows.update(dict.fromkeys(names, row))
        self._own.update(names)


def _names(kind: str, key: str | None, text: str) -> tuple[str, ...]:
    """What an entry is recognised by: its text whatever its type, the fingerprint, a variable's key."""
    plain = " ".join(text.lower().split()).strip(".:;!,")
    mark = blake2b(f"{kind}\0{key or ''}\0{plain}".encode("utf-8", "replace"), digest_size=8).hexdigest()
    named = (f"variable\0{key}",) if kind == "variable" else ()
    return (mark, f"text\0{plain}", *named)


# --- looking ----------------------------------------------------------------------------------------


class _Candidate:
    """Something found, ready to be written."""

    def __init__(self, memory: Extracting, found: Found, sources: Sequence[Event]) -> None:
        if not sources:
            raise InvalidInput("invalid_argument", "It comes from no event that was read.", "Cite events.")
        kind = checks.word("entry type", found.type, rules.ENTRY_TYPES)
        self.key = checks.optional("key", found.key, 500)
        self.channel = trust_of([found.channel, *(event.origin.channel for event in sources)])
        if kind == "user_instruction" and any(event.origin.channel != "user" for event in sources):
            kind = "context"  # only the user instructs
        if kind == "variable" and not self.key:
            raise InvalidInput("invalid_argument", "A variable without a name.", "Give it a key.")
        data = memory._mapping("data", found.data)
        summary = memory._line("summary", found.summary)
        detail = memory._text("detail", found.detail)
        if kind == "variable":
            data.setdefault("value", summary)
            value = data["value"]
            summary = f"{self.key} = {value if isinstance(value, str) else checks.dumps(value)}"
        fix = data.get("fix")
        self.fix = (fix if isinstance(fix, str) else checks.dumps(fix)) if kind == "error" and fix else None
        self.kind = kind
        self.names = _names(kind, self.key, summary)
        self.draft = Draft(
            kind,
            text=summary,
            data={
                "detail": detail or data.pop("detail", None),
                **data,
                "inferred": True,
                "from": [event.seq for event in sources],
                "weight": found.weight,
            },
            item=sources[-1].item,
            record={"type": kind, "status": "active", "key": self.key},
        )


def _candidates(memory: Extracting, page: _Page, extractor: Extractor) -> tuple[list[_Candidate], int]:
    """What the extractor finds in the new events, and how much of that cannot be stored."""
    events = [clean for event in page.events if (clean := without_echo(event)) is not None]
    by_seq = {event.seq: event for event in events}
    found: list[_Candidate] = []
    refused = 0
    for one in extractor(events) if any(event.seq > page.after for event in events) else ():
        if not any(seq > page.after for seq in one.seq):
            continue  # found the last time
        try:
            found.append(_Candidate(memory, one, [by_seq[seq] for seq in sorted(one.seq) if seq in by_seq]))
        except InvalidInput:  # from a model, perhaps; it is counted
            refused += 1
    return found, refused


def trust_of(channels: Iterable[str]) -> str:
    """The channel of what comes from several: the least trusted, and never the user's."""
    ranks = [TRUST.index(channel) if channel in TRUST else len(TRUST) - 1 for channel in channels]
    return TRUST[min(ranks, default=0)]


def without_echo(event: Event) -> Event | None:
    """An event without what this memory itself has put into it; None if nothing else is left."""
    tool = event.data.get("tool")
    if event.origin.agent == AGENT or (isinstance(tool, str) and "holdfast" in tool.lower()):
        return None
    text = _stripped(event.text) if event.text else event.text
    data = _stripped(dict(event.data))
    return event if text == event.text and data == event.data else event.replace(text=text, data=data)


def _stripped(value: Any) -> Any:
    if isinstance(value, str):
        return _ECHO.sub(" ", value) if "<" in value else value
    if is_dict(value):
        return {name: _stripped(inner) for name, inner in value.items()}
    if is_list(value):
        return [_stripped(inner) for inner in value]
    return value


# --- writing ----------------------------------------------------------------------------------------


class _Writing:
    """The transaction that writes what was found: entries, mark, patterns, and the end of the job."""

    def __init__(
        self,
        memory: Extracting,
        page: _Page,
        found: tuple[list[_Candidate], int],
        settle: Settle | None,
    ) -> None:
        self._memory = memory
        self._page = page
        self._found, self._refused = found
        self._settle = settle
        self._as = {
            channel: memory.acting_as(agent=AGENT, channel=channel, session="")
            for channel in {one.channel for one in self._found}
        }

    def __call__(self, tx: Tx) -> Extraction | None:
        memory, page = self._memory, self._page
        head = memory._find(tx, page.task_id, lock=True)
        if not page.again and distilled.get(tx, page.task_id, KIND)[0] != page.mark:
            return None
        now = memory._now()
        self.known = known = page.known.copy()
        known.read(tx, head["last_seq"])
        unchanged = head["last_seq"] == page.until
        written: list[int] = []
        settled = 0
        for one in self._found:
            seq = self._entry(tx, head, one, known, now)
            if seq is not None:
                written.append(seq)
            if one.fix is not None:
                settled += self._settled(tx, head, one, known, now)
        seen = 0
        if not page.again:
            seen = self._learned(tx, now)
            # Our own events need not be looked at either, unless others came before them.
            until = head["last_seq"] if unchanged else page.until
            distilled.put(tx, page.task_id, KIND, until, now, self._state)
        if self._settle is not None:
            self._settle(tx)
        return Extraction(
            task_id=page.task_id,
            seq=page.until,
            events=len(page.new),
            entries=tuple(written),
            known=len(self._found) - len(written),
            settled=settled,
            refused=self._refused,
            patterns=seen,
        )

    def _entry(self, tx: Tx, head: Row, one: _Candidate, known: _Known, now: str) -> int | None:
        """Write an entry; None if it is there already, or someone better trusted has said otherwise."""
        if known.has(one.names):
            return None
        draft = one.draft.copy()
        if one.kind == "variable" and (old := known.get(one.names[2])) is not None:
            if old["agent"] != AGENT or TRUST.index(trust_of([old["channel"]])) > TRUST.index(one.channel):
                return None
            draft.sets["records"] = {
                str(old["seq"]): {"status": "superseded", "ref_seq": head["last_seq"] + 1}
            }
        seq = self._as[one.channel]._append(tx, head, draft, now, "task_extract").seq
        known.add(one.names, {"seq": seq, "status": "active", "agent": AGENT, "channel": one.channel})
        return seq

    def _settled(self, tx: Tx, head: Row, one: _Candidate, known: _Known, now: str) -> int:
        """Resolve an error with what fixed it, if it is an open one that was extracted."""
        row = known.get(one.names[0])
        if row is None or row["agent"] != AGENT:
            return 0
        change = {"status": "resolved", "ref_seq": head["last_seq"] + 1}
        draft = Draft(
            "entry.closed",
            text=one.fix,
            data={"resolved": [row["seq"]], "inferred": True, "from": one.draft.data["from"]},
            sets={"records": {str(row["seq"]): change}},
            item=one.draft.item,
        )
        self._as[one.channel]._append(tx, head, draft, now, "task_extract")
        known.add(one.names, {**row, "status": "resolved"})
        return 1

    def _learned(self, tx: Tx, now: str) -> int:
        """Keep the patterns that the new events show, and see to it that old ones are forgotten some day."""
        import copy

        page = self._page
        self._state = copy.deepcopy(page.state)
        seen = patterns.learn(self._state, page.new, page.name, page.titles)
        if seen:
            tomorrow = checks.stamp(checks.seconds_of(now) + 86_400)
            jobs.add(tx, "prune", "", "patterns", {}, tomorrow, now)
        return patterns.keep(tx, page.task_id, seen, now)


def _sum(total: Extraction, part: Extraction) -> Extraction:
    counted = ("events", "entries", "known", "settled", "refused", "patterns")
    return total.replace(
        seq=part.seq, **{name: getattr(total, name) + getattr(part, name) for name in counted}
    )
