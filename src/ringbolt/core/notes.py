"""Two operations that replace many: one for notes of any kind, one for the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import validate
from ..model.errors import InvalidInput
from ..model.operation import operation
from ..model.types import Written
from .entries import Entries
from .plans import Plans

# The kinds of notes, and other words that people and models use for them.
KINDS = "decision exclusion variable error discovery artifact instruction question context".split()
_SYNONYMS = {
    "choice": "decision",
    "failed": "exclusion",
    "dead_end": "exclusion",
    "value": "variable",
    "fact": "discovery",
    "finding": "discovery",
    "note": "discovery",
    "file": "artifact",
    "user_instruction": "instruction",
}


class Notes(Plans, Entries):
    """Operations with few names and flat arguments."""

    @operation(
        scope="write",
        core=("task_id", "text", "type", "why", "name", "value", "step"),
        texts=("text",),
        example={"type": "decision", "text": "Push to ghcr.io", "why": "the key works there"},
    )
    def task_note(
        self,
        task_id: str | None = None,
        text: str | None = None,
        *,
        type: str = "discovery",
        why: str | None = None,
        name: str | None = None,
        value: Any = None,
        options: Sequence[str] | None = None,
        step: str | int | None = None,
        tags: Sequence[str] | None = None,
        replaces: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Record what must survive: a decision and why, an approach that failed and why, a value to keep.

        Args:
            text: What to remember, in one sentence; for an exclusion, what was tried.
            type: decision, exclusion (failed: do not retry), variable (name and value), error, discovery,
                artifact, instruction (from the user), question or context.
            why: The reason; for an exclusion, why it failed; for other kinds, more detail.
            name: Name of the variable, or a short title for a decision.
            value: Value of the variable.
            options: For a decision: the alternatives that were considered.
            step: Step it belongs to: id, number from 1, or title.
            replaces: Seq of the entry that this one replaces.
        """
        word = validate.line("type", type).strip().lower().replace("-", "_").replace(" ", "_")
        kind = validate.choice("type", _SYNONYMS.get(word, word), KINDS)
        if kind == "variable":
            return self.task_set(task_id, *_variable(text, name, value), step=step, key=key)
        content = self._line("text", text)
        shared: dict[str, Any] = {"step": step, "tags": tags, "supersedes": replaces, "key": key}
        if kind == "decision":
            return self.task_decide(
                task_id, choice=content, title=name, reasoning=why, options=options, **shared
            )
        if kind == "exclusion":
            return self.task_exclude(task_id, what=content, why=why, **shared)
        entry_type = "user_instruction" if kind == "instruction" else kind
        return self.task_remember(task_id, content, type=entry_type, detail=why, **shared)

    @operation(
        scope="write",
        core=("task_id", "steps", "append", "reason"),
        texts=("steps",),
        example={"steps": ["Build the image", "Push it", "Run it", "Check it"]},
    )
    def task_plan(
        self,
        task_id: str | None = None,
        steps: Sequence[Any] | None = None,
        *,
        append: bool = False,
        after: str | int | None = None,
        reason: str | None = None,
        key: str | None = None,
    ) -> Written:
        """Create the plan, replace it, or with `append` add steps to it. Steps are titles, in order.

        Steps that stay keep their status. Open steps that the new plan leaves out stay visible as dropped.

        Args:
            steps: Titles of the steps, in order.
            append: Add the steps to the plan instead of replacing it.
            after: Step after which to add them. Default: the last one.
            reason: Why the plan changes.
        """
        if append or after is not None:
            return self.task_plan_append(task_id, steps, after=after, note=reason, key=key)
        return self.task_plan_replace(task_id, steps, reason=reason, key=key)


def _variable(text: str | None, name: str | None, value: Any) -> tuple[str | None, Any]:
    """The name and value of a variable; a text like `port = 8080` has both."""
    if name is None and value is None and isinstance(text, str) and "=" in text:
        left, _, right = text.partition("=")
        return left.strip(), right.strip()
    if name is None:
        raise InvalidInput(
            "invalid_argument",
            "A variable has no name.",
            "Pass name and value, or a text like 'port = 8080'.",
        )
    return name, text if value is None else value
