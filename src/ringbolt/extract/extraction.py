# pyright: reportPrivateUsage=false
"""Extraction: findings in a task's events become entries, once each, with the trust of their sources.

A fold with a mark: the events after the mark are read, searched outside any transaction, and the findings
are written together with the new mark. A writer that finds the mark moved starts over, so no event is read
twice.

Where a local model is set, it reads the same events after the rules, with a mark of its own and in chunks
that it can hold. Only a worker does that; extraction in a hook requests the job.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ..ledger.base import Draft, find_item
from ..ledger.trust import is_trusted_as, least_trusted
from ..ledger.values import read_event, read_task
from ..llm.calls import Modelling
from ..llm.prompts import ModelEntry, fact_of, fitting
from ..model import rules, validate
from ..model.errors import InvalidInput
from ..model.lazy_regex import lazy_regex
from ..model.operation import operation
from ..model.results import Extraction
from ..model.trust import may_overrule
from ..model.types import Event, is_dict, is_list
from ..model.validate import blake2b
from ..signals.keywords import keywords
from ..store import jobs
from ..store.queries import distilled
from ..store.tx import Row, Tx
from . import patterns, queries
from .extractor import Extractor, Found
from .known_entries import AGENT, LATEST, MODEL_BLOCKER, KnownEntries, names_of


class Reader(Protocol):
    """Reads events one by one; `state` is all it must keep, `open` returns what is open at the end."""

    def observe(self, event: Event) -> Sequence[Found]: ...
    def open(self) -> Sequence[Found]: ...
    def state(self) -> Mapping[str, Any]: ...


MakeReader = Callable[[Mapping[str, Any] | None], Reader]

More = Callable[[str, Sequence[Event]], Sequence[Found]]

Settle = Callable[[Tx], None]

KIND = "extraction"
PAGE = 200  # events that are read at once
BY_MODEL = "model_extraction"  # the mark of what the model has read
MOST_CHUNKS = 8  # that the model reads in one job; another job continues
MODEL_JOB = "model"  # the key of the job that lets the model read
_TELLING = frozenset(
    "message task.registered task.updated step.updated task.finished user_instruction action"
    " action.ended".split()
)
_ECHO = lazy_regex(
    r"<(ringbolt-[\w-]{1,80}|active-tasks|task-hygiene|stale-tasks)\b[^>]{0,200}>.*?(?:</\1>|\Z)", re.DOTALL
)


class Extracting(Modelling):
    """Operations that find what is worth remembering."""

    @operation(scope="write", repeatable=True)
    def task_extract(self, task_id: str | None = None, step: str | int | None = None) -> Extraction:
        """Extract from a task's events what has not been recorded yet: errors and their fixes, decisions and
        reasons, artifacts, versions, addresses.

        Known facts are not written twice. A worker does this by itself when a step ends.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            step: Look again at all events of this step. Default: only events since the last run.
        """
        return self._extract(task_id, step)

    def _extract(
        self,
        task_id: str | None = None,
        item: str | int | None = None,
        *,
        extractor: MakeReader | None = None,
        more: More | None = None,
        settle: Settle | None = None,
    ) -> Extraction:
        """Like `task_extract`, with another extractor or more findings; `settle` joins the last commit."""
        if extractor is None:
            extractor = Extractor
        found = self.store.read(lambda tx: self._find(tx, task_id))["task_id"]
        total = Extraction(task_id=found, seq=0)
        known = KnownEntries(found, again=item is not None)
        before: _Page | None = None
        while True:
            page = self.store.read(lambda tx, k=known, b=before: _Page(tx, found, KIND, item, k, b))
            findings = _look(self, page, extractor(page.state.get("reader")), more)
            work = _Writing(self, page, findings, settle if page.last else None)
            part = self._commit(work, tasks=lambda _: (found,))
            if part is None:  # another process has read these events meanwhile
                continue
            total = _sum(total, part)
            if page.last:
                return total
            known, before = work.known, page

    def _extract_with_model(self, task_id: str, settle: Settle) -> None:
        """Let the local model read what it has not read yet; for the worker, never for a hook.

        What the model does not answer is read again by a later job.
        """
        left = bool(self.settings.model_local_url)
        for _ in range(MOST_CHUNKS if left else 0):
            known = KnownEntries(task_id, again=False)
            page = self.store.read(lambda tx, k=known: _Page(tx, task_id, BY_MODEL, None, k, None))
            if not page.events:
                left = False
                break
            found = self._found_by_model(task_id, page.events)
            if found is None:
                left = False
                break
            findings = _look(self, page, _NoReader(), lambda _task, _events, found=found: found)
            self._commit(_Writing(self, page, findings, None), tasks=lambda _: (task_id,))

        def end(tx: Tx) -> None:
            if left:
                jobs.add(tx, "extract", task_id, MODEL_JOB, {}, jobs.NOW, self._now())
            settle(tx)

        self.store.write(end)

    def _found_by_model(self, task_id: str, events: Sequence[Event]) -> Sequence[Found] | None:
        """What the local model finds in some events; None if it does not answer."""
        telling = [one for event in events if is_telling(event) and (one := without_echo(event)) is not None]
        task = self.store.read(lambda tx: read_task(tx, task_id))
        if task is None or not telling:
            return ()
        reply, _ = self._model_extraction(
            task, [fact_of(event) for event in telling], task.current_title or ""
        )
        return None if reply is None else [_finding(entry, reply[1]) for entry in reply[0].entries]


class _NoReader:
    """The reader of what only the model reads."""

    def observe(self, event: Event) -> Sequence[Found]:
        return ()

    def open(self) -> Sequence[Found]:
        return ()

    def state(self) -> Mapping[str, Any]:
        return {}


def is_telling(event: Event) -> bool:
    """Whether an event may say something worth remembering: words of somebody, or what was done."""
    return event.origin.agent != AGENT and event.type in _TELLING and bool(event.text or event.data)


def _finding(entry: ModelEntry, model: str) -> Found:
    """An entry that a model wrote, as a finding; every field the model gave is kept."""
    labels = [("tag", tag) for tag in entry.tags] + [("item", name) for name in entry.relevance_to]
    data = {**entry.data, "by": model}
    key: str | None = None
    if entry.type == "variable":
        key = str(data.pop("name", "") or "") or None
    elif entry.type == "decision":
        data.setdefault("choice", entry.summary)
        if instead := data.pop("instead", None):
            data["options"] = [instead]
    elif entry.type == "exclusion":
        data.setdefault("what", entry.summary)
        data.setdefault("kind", "dead_end")
    elif entry.type == "context" and data.get("kind") == "blocker":
        key = f"{MODEL_BLOCKER}{blake2b(entry.summary.encode(), digest_size=8).hexdigest()}"
    return Found(
        type=entry.type,
        summary=entry.summary,
        detail=entry.detail,
        data=data,
        key=key,
        seqs=entry.cites,
        channel=entry.channel,
        confidence=0.5,
        labels=tuple(labels),
    )


class _Page:
    """A page of a task's events, with all that is needed to decide what is new in them."""

    def __init__(
        self,
        tx: Tx,
        task_id: str,
        kind: str,
        item: str | int | None,
        known: KnownEntries,
        before: _Page | None,
    ) -> None:
        self.task_id = task_id
        self.kind = kind
        head = tx.head(task_id)
        self.name = head["name"] if head else ""
        steps = tx.steps(task_id)
        self.titles = {row["item_id"]: row["title"] for row in steps}
        self.mark, self.state = distilled.get(tx, task_id, kind)
        self.again = item is not None  # a second reading, which leaves the mark where it is
        begin, end = self.mark, None
        if item is not None:
            begin, end = queries.span(tx, task_id, find_item(steps, item)["item_id"])
            begin = before.until if before else begin
            self.state = before.state if before else {}
        rows = tx.events(task_id, begin, PAGE, end)
        self.events = [read_event(row) for row in rows]
        if kind == BY_MODEL:
            self.events = self.events[: fitting([fact_of(event) for event in self.events])]
        self.until: int = self.events[-1].seq if self.events else begin
        self.last = len(self.events) < PAGE or self.until == end
        self.known = known.copy()
        self.known.read(tx, head["last_seq"] if head else 0)


# --- looking ----------------------------------------------------------------------------------------


class _Findings:
    """The findings of a page, ready to be written."""

    def __init__(self) -> None:
        self.candidates: list[_Candidate] = []
        self.refused = 0
        self.open: set[str] = set()  # names of what is open now


class _Candidate:
    """A finding as an entry."""

    def __init__(
        self, memory: Extracting, found: Found, sources: Sequence[tuple[int, str, str | None]]
    ) -> None:
        if not sources:
            raise InvalidInput("invalid_argument", "It cites no event of the task.", "Cite events.")
        kind = validate.choice("entry type", found.type, rules.ENTRY_TYPES)
        self.key = validate.optional("key", found.key, 500)
        self.channel = least_trusted([found.channel, *(channel for _, channel, _ in sources)])
        if kind == "user_instruction" and any(channel != "user" for _, channel, _ in sources):
            kind = "context"  # only the user gives instructions
        if kind == "variable" and not self.key:
            raise InvalidInput("invalid_argument", "A variable needs a name.", "Give it a key.")
        self.kind = kind
        data = memory._mapping("data", found.data)
        overrules: str | None = data.pop("overrules_key", None)
        self.overrules = names_of(data.pop("overrules_type", kind), overrules, "")[0] if overrules else None
        self.summary = memory._line("summary", found.summary)
        detail = memory._text("detail", found.detail)
        if kind == "variable":
            value = data.setdefault("value", self.summary)
            self.summary = f"{self.key} = {value if isinstance(value, str) else validate.dumps(value)}"
        self.names = names_of(kind, self.key, self.summary)
        self.fix: str | None = None
        if kind == "error" and data.get("resolved"):
            self.fix = str(data.get("fixed_by") or "the same worked later")
        own = {"inferred": True, "from": [seq for seq, _, _ in sources], "confidence": found.confidence}
        self.draft = Draft(
            kind,
            text=self.summary,
            data={"detail": detail, **data, **own},
            item=sources[-1][2],
            labels=_labels(found, data),
            record={"type": kind, "status": "active", "key": self.key},
        )


def _labels(found: Found, data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The labels of an entry; an artifact is also tagged with its kind."""
    labels = found.labels
    if found.type == "artifact" and isinstance(data.get("kind"), str):
        labels += (("tag", validate.line("tag", data["kind"], 100)),)
    if not any(kind == "tag" for kind, _ in labels):
        labels += tuple(("word", word) for word in keywords(found.summary))
    return list(dict.fromkeys(labels))


def _look(memory: Extracting, page: _Page, reader: Reader, more: More | None) -> _Findings:
    """Search a page, outside any transaction; the reader's state is kept for the next page."""
    events = [clean for event in page.events if (clean := without_echo(event)) is not None]
    found = [one for event in events for one in reader.observe(event)]
    result = _Findings()
    if page.last:
        still = reader.open()
        result.open = {names_of(one.type, one.key, one.summary)[0] for one in still}
        found += still
    if more is not None and events:
        found += more(page.task_id, events)
    page.state = {**page.state, "reader": reader.state()}
    sources = _sources(memory, page, {seq for one in found for seq in one.seqs})
    for one in found:
        try:
            cited = [sources[seq] for seq in sorted(set(one.seqs)) if seq in sources]
            result.candidates.append(_Candidate(memory, one, cited))
        except InvalidInput:  # mostly from a model; counted in the report
            result.refused += 1
    return result


def _sources(memory: Extracting, page: _Page, seqs: set[int]) -> dict[int, tuple[int, str, str | None]]:
    """The channel and step of each cited event; those of earlier pages are read again."""
    known = {event.seq: (event.seq, event.origin.channel, event.step) for event in page.events}
    if missing := sorted(seqs - set(known)):
        rows = memory.store.read(lambda tx: queries.origins(tx, page.task_id, missing))
        known |= {row[0]: row for row in rows}
    return known


def without_echo(event: Event) -> Event | None:
    """An event without the text that this memory injected; None if nothing else is left."""
    tool = event.data.get("tool")
    if event.origin.agent == AGENT or (isinstance(tool, str) and "ringbolt" in tool.lower()):
        return None
    text = _stripped(event.text)
    data = _stripped(event.data)
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
    """The transaction that writes the findings: entries, mark, patterns, and the end of the job."""

    def __init__(self, memory: Extracting, page: _Page, found: _Findings, settle: Settle | None) -> None:
        self._memory = memory
        self._page = page
        self._found = found
        self._settle = settle
        self._as = {
            channel: memory.acting_as(agent=AGENT, channel=channel, session="")
            for channel in {"agent", *(one.channel for one in found.candidates)}
        }

    def __call__(self, tx: Tx) -> Extraction | None:
        page, found = self._page, self._found
        head = self._memory._find(tx, page.task_id, lock=True)
        if not page.again and distilled.get(tx, page.task_id, page.kind)[0] != page.mark:
            return None
        now = self._memory._now()
        self.known = page.known.copy()
        self.known.read(tx, head["last_seq"])
        unchanged = head["last_seq"] == page.until
        written: list[int] = []
        settled = 0
        for one in found.candidates:
            if (seq := self._entry(tx, head, one, now)) is not None:
                written.append(seq)
            if one.fix is not None and (row := self._own(one, one.names[0])):
                self._close(tx, head, row, one.fix, one.channel, now)
                settled += 1
        if page.last and not page.again and page.kind == KIND:
            user_spoke = any(event.origin.channel == "user" for event in page.events)
            # A question or a blocker that is no longer open was settled, or the work went on without it.
            for row in self.known.asked(found.open, user_spoke):
                self._close(tx, head, row, None, "agent", now)
        seen = 0 if page.again else self._mark(tx, head, head["last_seq"] if unchanged else page.until, now)
        if self._settle is not None:
            self._settle(tx)
        return Extraction(
            task_id=page.task_id,
            seq=page.until,
            events=len(page.events),
            entries=tuple(written),
            known=len(found.candidates) - len(written),
            settled=settled,
            refused=found.refused,
            patterns=seen,
        )

    def _entry(self, tx: Tx, head: Row, one: _Candidate, now: str) -> int | None:
        """Write an entry; None if it exists, or if a more trusted source says otherwise."""
        known = self.known
        names = one.names
        old = known.active(names[0])
        if one.kind == "exclusion" and (failed := known.active(names_of("error", one.key, one.summary)[0])):
            # An error for which something else worked becomes an exclusion.
            old, names = failed, names[:1]
        if known.has(one.kind, names):
            return None
        if (
            old
            and one.kind in LATEST
            and not (old["agent"] == AGENT and is_trusted_as(one.channel, old["channel"]))
        ):
            return None
        draft = one.draft.copy()
        if old and old["agent"] == AGENT and may_overrule(one.channel, old["channel"]):
            change = {"status": "superseded", "ref_seq": head["last_seq"] + 1}
            draft.sets["records"] = {str(old["seq"]): change}
            known.change(old, "superseded")
        if one.overrules and (taken := self._own(one, one.overrules)):
            draft.data = {**draft.data, "overrules": taken["seq"]}
            over = {"status": "superseded", "ref_seq": head["last_seq"] + 1}
            draft.sets.setdefault("records", {})[str(taken["seq"])] = over
            known.change(taken, "superseded")
        seq = self._as[one.channel]._append(tx, head, draft, now, "task_extract").seq
        known.add(one.names, {"seq": seq, "type": one.kind, "channel": one.channel, "key": one.key})
        return seq

    def _own(self, one: _Candidate, name: str) -> Row | None:
        """The active entry of this name, if extraction wrote it and the finding may end it."""
        row = self.known.active(name)
        is_ours = row is not None and row["agent"] == AGENT and may_overrule(one.channel, row["channel"])
        return row if is_ours else None

    def _close(self, tx: Tx, head: Row, row: Row, why: str | None, channel: str, now: str) -> None:
        """Mark one of our entries as resolved, with what fixed it."""
        change = {"status": "resolved", "ref_seq": head["last_seq"] + 1}
        draft = Draft(
            "entry.closed",
            text=why,
            data={"resolved": [row["seq"]], "inferred": True},
            sets={"records": {str(row["seq"]): change}},
        )
        self._as[channel]._append(tx, head, draft, now, "task_extract")
        self.known.change(row, "resolved")

    def _mark(self, tx: Tx, head: Row, until: int, now: str) -> int:
        """Move the mark and store the patterns of the events; returns how many there were.

        The mark covers our own events too, unless other events came before them.
        """
        page = self._page
        if page.kind == BY_MODEL:
            distilled.put(tx, page.task_id, BY_MODEL, until, now, {})
            return 0
        if self._memory.settings.model_local_url and any(map(is_telling, page.events)):
            jobs.add(tx, "extract", page.task_id, MODEL_JOB, {}, jobs.NOW, now)
        state = copy.deepcopy(page.state)
        lessons = patterns.learn(state, page.events, page.name, page.titles)
        patterns.keep(tx, head, lessons, now)
        if lessons.seen:  # schedule the job that forgets old patterns
            jobs.add(tx, "prune", "", "patterns", {}, validate.stamp(validate.seconds_of(now) + 86_400), now)
        distilled.put(tx, page.task_id, KIND, until, now, state)
        return len(lessons.seen)


def _sum(total: Extraction, part: Extraction) -> Extraction:
    counted = ("events", "entries", "known", "settled", "refused", "patterns")
    return total.replace(
        seq=part.seq, **{name: getattr(total, name) + getattr(part, name) for name in counted}
    )
