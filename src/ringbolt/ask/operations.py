"""The operation that answers questions about a task."""

from __future__ import annotations

from typing import Any

from ..llm.calls import Modelling
from ..model.errors import InvalidInput
from ..model.operation import operation
from ..model.types import Answer
from .answering import ask


class Asking(Modelling):
    """Operations that answer questions."""

    @operation(scope="read", texts=("question",), example={"question": "What is next?"})
    def task_ask(self, task_id: str | None = None, question: str | None = None) -> Answer:
        """Answer a question about a task in a sentence or two, or a short list, with `#seq` citations.

        It understands common questions: where was I, what is done, what is next, why did we choose X, what
        failed, what is the value of X, did I already do Y, what happened since yesterday. For anything else
        it searches. Every statement comes from the ledger. Without a question it reports the state of the
        task. A configured model words the answer, provided that its wording agrees with the ledger; `source`
        says where the wording comes from.

        Args:
            task_id: Task id or a unique prefix; default: the current task.
            question: The question, in any words. Default: the state of the task.
        """
        return ask(self, task_id, read_question(question))


def read_question(question: Any) -> str:
    """Validate a question. It is not stored, so any characters will do."""
    if question is not None and not isinstance(question, str):
        raise InvalidInput("invalid_argument", "The question must be a text.", "Pass a string.")
    return (question or "").encode("utf-8", "replace").decode()
