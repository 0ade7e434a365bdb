"""The running summary: rewritten after enough new messages, stored, and shown with what happened since."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..ledger.trust import least_trusted
from ..ledger.values import read_actions, read_event
from ..llm.prompts import fact_of
from ..model import rules, validate
from ..model.operation import operation
from ..model.types import Action, Event, Snapshot, Summary
from ..packet import outline, tokens
from ..packet.operations import read_whole_task
from ..store.queries import distilled
from ..store.tx import Row, Tx
from .distillation import Distilling
from .summary_text import compose, event_line, says_enough

Writer = Callable[[Snapshot, str, Sequence[Event]], tuple[str, str] | None]

KIND = "summary"
DETAILS = ("summary", "items", "actions", "full", "focused")
MOST_SINCE = 30  # lines about newer events
MOST_NEW = 200  # events for a model that writes the summary
MOST_ACTIONS = 20  # of each step


class Summarizing(Distilling):
    """The operation that sums a task up."""

    @operation(scope="read")
    def task_summary(
        self, task_id: str | None = None, *, detail: str = "summary", refresh: bool = True
    ) -> Summary:
        """A task in three to five sentences (at most 500 tokens), and what happened since, line by line.

        The summary is stored and renewed after every `summary_every` messages. Other levels of detail are
        computed on the spot: `items` (the steps), `actions` (with what was done), `full` (with inputs,
        outputs and logs), `focused` (the active step in full).

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            detail: summary, items, actions, full or focused.
            refresh: False: show the stored summary as it is, however old.
        """
        level = validate.choice("detail", detail, DETAILS)
        task, covered = self.store.read(lambda tx: self._summed_up(tx, task_id))
        if level != "summary":
            return self._outline(task, level)
        every = self.settings.summary_every
        new = task.messages - covered
        if refresh and (task.summary is None or 0 < every <= new):
            self._summarize(task.id, self._model_writer())
            task, _ = self.store.read(lambda tx: self._summed_up(tx, task.id))
        summary = task.summary
        if summary is None:  # none is stored or wanted: show what the state gives now
            now = compose(task, count=tokens.counter(self.settings.tokens == "exact"))
            summary = Summary(
                text=now.text, seq=task.seq, at=task.updated_at, source="ledger", channel=now.channel
            )
        return self._with_news(task, summary)

    def _summed_up(self, tx: Tx, task_id: str | None) -> tuple[Snapshot, int]:
        """A task with its summary, and how many messages the summary covers."""
        task = read_whole_task(self, tx, task_id)
        _, state = distilled.get(tx, task.id, KIND)
        return task, state.get("messages", 0)

    def _summarize(
        self, task_id: str, write: Writer | None = None, settle: Callable[[Tx], None] | None = None
    ) -> int:
        """Rewrite the summary and store it; returns the last event that it covers.

        Only the events since the last summary are read. `write` is called outside any transaction. If two
        processes do this at once, the later one has seen at least as much, and its summary stays.
        """
        self._fold(task_id)
        task, _ = self.store.read(lambda tx: self._summed_up(tx, task_id))
        made = compose(task, count=tokens.counter(self.settings.tokens == "exact"))
        text, source, channel = made.text, "ledger", made.channel
        if write is not None:
            previous = task.summary
            new = self._new_events(task_id, previous.seq if previous else 0, task.seq, MOST_NEW)
            # The model is given our own sentences, never those of a model: what it leaves out or gets wrong
            # is not the base of the next summary.
            text_and_model = write(task, made.text, new)
            if text_and_model is not None and says_enough(text_and_model[0], task):
                text, source = text_and_model
                # The model may have used anything in its prompt.
                channel = least_trusted([channel, *(event.origin.channel for event in new)])
        state = {"text": text, "source": source, "channel": channel, "messages": task.messages}
        now = self._now()

        def keep(tx: Tx) -> None:
            distilled.put(tx, task_id, KIND, task.seq, now, state)
            if settle is not None:  # ends the job that asked for it, in the same transaction
                settle(tx)

        self.store.write(keep, settles=True)
        return task.seq

    def _model_writer(self) -> Writer | None:
        """A function that lets the local model write the summary, if one is set; not for hooks."""
        if not self.settings.model_local_url:
            return None

        def write(task: Snapshot, previous: str, new: Sequence[Event]) -> tuple[str, str] | None:
            summary, _ = self._model_summary(task, previous, [fact_of(event) for event in new])
            return summary

        return write

    def _with_news(self, task: Snapshot, summary: Summary) -> Summary:
        new = self._new_events(task.id, summary.seq, task.seq, 2 * MOST_SINCE)
        lines = [line for event in new if (line := event_line(event))]
        left_out = task.seq - summary.seq - len(new) + max(0, len(lines) - MOST_SINCE)
        return summary.replace(since=tuple(lines[-MOST_SINCE:]), left_out=left_out)

    def _new_events(self, task_id: str, after: int, until: int, most: int) -> list[Event]:
        """The newest events between two numbers."""
        first = max(after, until - most)
        if first >= until:
            return []
        return [read_event(row) for row in self.store.read(lambda tx: tx.events(task_id, first, most, until))]

    def _outline(self, task: Snapshot, level: str) -> Summary:
        """The steps of a task, with as much detail below them as a level asks for."""
        below: dict[str | None, tuple[Action, ...]] = {}
        if level != "items":
            shown: list[str | None] = [*(item.id for item in task.steps), None][-outline.MOST_ITEMS :]
            if level == "focused":
                shown = [task.current] if task.current else []
            below = self.store.read(lambda tx: {item: _actions(tx, task.id, item, level) for item in shown})
        text, channel = outline.outline(task, level, below)
        return Summary(text=text, seq=task.seq, at=task.updated_at, source="ledger", channel=channel)


def _actions(tx: Tx, task_id: str, item: str | None, level: str) -> tuple[Action, ...]:
    """The last actions of a step, in order, with logs where the level shows them."""
    most = MOST_ACTIONS if item else 10 * MOST_ACTIONS  # only those that belong to no step are shown
    rows: list[Row] = tx.records(task_id, "action", rules.ACTION_STATUSES, most, item=item)
    return read_actions(tx, task_id, reversed(rows), with_logs=level != "actions")
