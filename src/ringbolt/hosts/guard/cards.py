"""What cards tell hooks: the calls that the guard may warn about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from ...journal.cards import MOST_DONE, MOST_HINTS, bounded, read_card, write_card
from ...journal.side_files import SideFiles
from ...model.types import is_dict
from ...store.queries import distilled
from ...store.tx import Tx
from ..hook_parts.calls import call_heads
from .rules import MOST_TASKS, collected, rules_of, scope_digest

_MOST_FAILED = 20  # failures whose programs a session's card has
_MOST_OPEN = 20  # side effects of one task whose outcome is not known


def heads_of_interest(tx: Tx, task_id: str) -> Iterator[str]:
    """The programs of a task that failed lately, for the card of its session."""
    for row in tx.records(task_id, "action", ("failed",), _MOST_FAILED):
        data = json.loads(row["data"])
        given = data.get("input")
        if is_dict(given):
            yield from call_heads(str(data.get("tool") or ""), given)
    for row in tx.records(task_id, "effect", ("intended", "unknown", "did"), _MOST_FAILED):
        yield from call_heads("", {"command": row["text"] or ""})
        if row["key"] and " " in row["key"]:
            yield from call_heads("", {"command": row["key"]})


def refresh(
    tx: Tx, files: SideFiles, workspace: str | None, repository: str | None, done: Iterable[str], now: str
) -> str:
    """Take in what was ruled out since the last call, and write the repository's card; returns its digest.

    `done` are heads of calls that did something outside.
    """
    if not (digest := scope_digest(workspace, repository)):
        return ""
    found = collected(tx, workspace, repository, digest)
    known = read_card(files, digest)
    card = known
    if found.refs != found.refs_before or (found.refs and not known.hints):
        every = (hint for rule in rules_of(tx, found.refs) for hint in rule.hints())
        card = card.replace(hints=tuple(dict.fromkeys(hint for hint in every if len(hint) > 1))[-MOST_HINTS:])
    begun = [head for task in found.changed for head in _open_effects(tx, task)]
    if new := (*begun, *done):
        card = card.replace(done=bounded((*card.done, *new), MOST_DONE))
    if found.mark != found.mark_before:
        kept = dict(list(found.marks.items())[-MOST_TASKS:])
        distilled.put(tx, "", f"guard/{digest}", found.mark, now, {"marks": kept, "refs": found.refs})
    if card != known:
        write_card(files, digest, card)
    return digest


def _open_effects(tx: Tx, task: str) -> Iterator[str]:
    """The heads of calls that were announced and whose outcome is unknown."""
    for row in tx.records(task, "effect", ("intended", "unknown"), _MOST_OPEN):
        yield from call_heads("", {"command": row["text"] or ""})
