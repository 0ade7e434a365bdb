"""Asking a model whether a prompt begins a new request, where the rules are unsure.

A hook writes such a prompt as an instruction and adds a job; the worker asks the model later. If the model
says that the prompt began a new request, the worker replaces the instruction by one that is tagged so, which
`task_undo` takes back.
"""

from __future__ import annotations

from ..ledger.current_task import REQUEST
from ..ledger.values import read_event, read_task
from ..llm.calls import Modelling
from ..llm.prompts import fact_of
from ..model.types import Entry

KIND = "request"  # of the job; its key is the number of the instruction
EVENTS_BEFORE = 40


class RequestJudging(Modelling):
    """Asks a model about prompts. For the worker, never for a hook."""

    def _begins_request(self, task_id: str, seq: int) -> tuple[Entry, str] | None:
        """The instruction with this number and the model's name, if the model says that it began a request.

        None also if the instruction has been replaced meanwhile or a later one began a request.
        """
        task = self.store.read(lambda tx: read_task(tx, task_id))
        if task is None or any(REQUEST in entry.tags for entry in task.instructions if entry.seq >= seq):
            return None
        entry = next((one for one in task.instructions if one.seq == seq), None)
        if entry is None:
            return None
        first = max(0, seq - 1 - EVENTS_BEFORE)
        rows = self.store.read(lambda tx: tx.events(task_id, first, EVENTS_BEFORE, seq - 1))
        facts = [fact_of(read_event(row)) for row in rows]
        verdict, _ = self._model_new_request(task, facts, entry.summary)
        return (entry, verdict[1]) if verdict and verdict[0] else None
