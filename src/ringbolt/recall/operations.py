"""The operations of recall: search, the entries relevant to a step, and the events around a hit."""

from __future__ import annotations

from collections.abc import Sequence

from ..ledger.base import Base, find_item
from ..ledger.values import read_entries, read_event
from ..model import validate
from ..model.errors import InvalidInput, NotFound
from ..model.operation import operation
from ..model.results import Recall
from ..model.types import Entry, Event, Thread
from ..store.queries.search import Search
from ..store.tx import Row, Tx
from . import search
from .semantic import semantic_index


class Recalling(Base):
    """Operations that search."""

    @operation(scope="read", core=("query", "task_id", "types", "limit"), example={"query": "registry"})
    def task_recall(
        self,
        query: str | None = None,
        *,
        task_id: str | None = None,
        step: str | int | None = None,
        types: str | Sequence[str] | None = None,
        tags: str | Sequence[str] | None = None,
        since: str | float | None = None,
        until: str | float | None = None,
        at: int | str | float | None = None,
        workspace: str | None = "",
        limit: int = 10,
        cursor: int | None = None,
        titles: bool = False,
        near: bool = False,
        repository: bool = False,
    ) -> Recall:
        """Search everything recorded: messages, actions and their output, decisions and their reasons,
        errors, values.

        Any words will do. "Quoted phrases" must match, `conf*` matches a prefix, and identifiers, paths and
        versions are found whole and by their parts. If nothing matches, misspelt words and compounds are
        tried as the recorded texts write them. `#42` gives event 42 of the task in full. Without a
        query: the newest results that pass the filters. The search covers the tasks of this workspace, one
        task, or with `workspace=None` everything.

        Args:
            query: Any words, "quoted phrases" or prefixes*; #42 for event 42.
            task_id: Only this task; default: every task of the workspace.
            step: Only results of this step of the task.
            types: Only these: decision, exclusion, error, variable, message, action, log, … Also any other
                entry type, snapshot, answer, request, plan, effect or fact.
            tags: Only results with all of these tags.
            since: Only results from this time or later.
            until: Only results from this time or earlier.
            at: Search the past: as it was after this event of the task (an integer), or at this time.
            workspace: `""`: the workspace of this memory. `None` (`*` where null means "not given"):
                everywhere.
            limit: Maximum number of results. At most 100.
            cursor: The `cursor` of the previous page.
            titles: Only titles, without the text around the match: the cheapest search.
            near: Also texts without any of the words that stand next to ones that have them.
        """
        return search.recall(
            self, query, task_id=task_id, item=step, types=types, tags=tags, since=since, until=until, at=at,
            workspace=workspace, limit=limit, cursor=cursor, titles=titles, near=near,
            repository=repository,
        )  # fmt: skip

    @operation(scope="read")
    def query_relevant(
        self, task_id: str | None = None, step: str | int | None = None, *, limit: int = 20
    ) -> tuple[Entry, ...]:
        """The entries relevant to a step: its own and those that name it in `relevance_to`, newest first,
        then the decisions, errors and user instructions of the rest of the task.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            step: Step: its id, its number from 1, or its title or a unique prefix of the title.
            limit: Maximum number of results.
        """
        limit = validate.whole("limit", limit, 1, 1000)

        def work(tx: Tx) -> tuple[Entry, ...]:
            head = self._find(tx, task_id)
            name = _step(tx, head, step)
            rows = Search(tx).relevant(head["task_id"], name, limit)
            labels = tx.labels(head["task_id"], [row["seq"] for row in rows])

            def is_other(row: Row) -> bool:
                return row["item_id"] != name and name not in labels.get(row["seq"], {}).get("item", ())

            return read_entries(sorted(rows, key=lambda row: (is_other(row), -row["seq"])), labels)

        return self.store.read(work)

    @operation(scope="read", example={"seq": 1})
    def task_around(
        self, task_id: str | None = None, seq: int | None = None, *, before: int = 3, after: int = 3
    ) -> Thread:
        """Show the events around an event, in order.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            seq: The event.
            before: How many events before it.
            after: How many events after it.
        """
        seq = validate.whole("seq", seq, 1, 1 << 62)
        before = validate.whole("before", before, 0, 100)
        after = validate.whole("after", after, 0, 100)

        def work(tx: Tx) -> Thread:
            head = self._find(tx, task_id)
            _check_seq(head, seq)
            first = max(0, seq - before - 1)
            rows = tx.events(head["task_id"], first, before + after + 1, seq + after)
            events = tuple(read_event(row) for row in rows)
            return Thread(task_id=head["task_id"], events=events, cursor=events[0].seq if first else None)

        return self.store.read(work)

    @operation(scope="read", example={"seq": 1})
    def task_event(self, task_id: str | None = None, seq: int | None = None) -> Event:
        """Show one event in full, such as `#42` cited in a packet, an answer or a search result.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            seq: The event.
        """
        seq = validate.whole("seq", seq, 1, 1 << 62)

        def work(tx: Tx) -> Event:
            head = self._find(tx, task_id)
            _check_seq(head, seq)
            row = tx.event(head["task_id"], seq)
            if row is None:
                raise _no_event(head, seq)
            return read_event(row)

        return self.store.read(work)

    @operation(scope="write", tools="none", repeatable=True, whole_store=True)
    def reindex(self, *, vectors: bool = False) -> None:
        """Rebuild the search index from the events.

        Later searches compute the missing vectors, a few each.

        Args:
            vectors: Also compute all vectors now.
        """
        if not vectors:
            self.store.reindex()
            return

        meaning = semantic_index(self)
        meaning.check()
        self.store.reindex()
        meaning.fill_all(self.store)


def _step(tx: Tx, head: Row, item: str | int | None) -> str:
    if item is None and head["current_item"] is None:
        raise InvalidInput("invalid_argument", "No step was named, and none is active.", "Name a step.")
    if item is None:
        return head["current_item"]
    return find_item(tx.steps(head["task_id"]), item)["item_id"]


def _no_event(head: Row, seq: int) -> NotFound:
    return NotFound(
        "record_not_found",
        f"Task {head['task_id']} has no event #{seq}.",
        f"Its events are #1 to #{head['last_seq']}.",
    )


def _check_seq(head: Row, seq: int) -> None:
    if seq > head["last_seq"]:
        raise _no_event(head, seq)
