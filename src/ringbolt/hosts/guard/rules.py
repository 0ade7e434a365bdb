"""What is ruled out in a repository: exclusions, prohibitions of the user, and calls that the user rejected.

They hold in all tasks and sessions of the repository, so they are collected in one place: the row `guard/…`
of the table `distilled` lists their events, without content. Each drain adds what is new and, if that
changed anything, writes the repository's card for the hooks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...journal.cards import MOST_HINT
from ...model.types import Value, is_dict
from ...model.validate import blake2b
from ...signals.calls.command_form import CommandForm, command_form, telling_words
from ...signals.calls.failures import reported_rejection
from ...signals.prohibitions import Prohibition, exclusion_rule, may_forbid, prohibitions
from ...store.queries import distilled
from ...store.tx import Row, Tx
from ..hook_parts.calls import command_line
from .queries import changed_tasks, new_entries, rule_rows

_MOST_REFS = 300
MOST_TASKS = 60  # of which the last event read is remembered
_MOST_ENTRIES = 200  # of one task at a time
# Transactions of another process may commit a little out of order.
_OVERLAP = 100


class Rule(Value, frozen=True, kw_only=True):
    """Something that is ruled out: the event that says so, and what it means.

    `kind` is exclusion, prohibition or rejection. An exclusion may have the form of a command, and words.
    """

    task: str
    seq: int
    kind: str
    at: str
    text: str
    data: Mapping[str, Any] = {}
    channel: str = "user"
    form: CommandForm = CommandForm()
    forbids: tuple[Prohibition, ...] = ()

    def hints(self) -> Iterator[tuple[str, ...]]:
        """What a hook looks for in a call, as `Card.hints` has it."""
        for one in self.forbids:
            for kind, words in one.hints():
                yield kind[0], *(word[:MOST_HINT] for word in words if word)
        for words in telling_words(self.form):
            yield "c", *(word[:MOST_HINT] for word in words)


def scope_digest(workspace: str | None, repository: str | None) -> str:
    """The name of a repository's card and row; of the workspace where there is no repository."""
    name = repository or workspace or ""
    return f"r{blake2b(name.encode('utf-8', 'replace'), digest_size=8).hexdigest()}" if name else ""


class _Collected(NamedTuple):
    """What rules something out: where it is, and how far the ledger was read, before and now."""

    mark_before: int
    mark: int
    marks: dict[str, int]  # the last event read of each task
    refs_before: list[list[Any]]
    refs: list[list[Any]]
    changed: list[str]


def collected(tx: Tx, workspace: str | None, repository: str | None, digest: str) -> _Collected:
    before, state = distilled.get(tx, "", f"guard/{digest}")
    marks: dict[str, int] = state.get("marks") or {}
    known: list[list[Any]] = state.get("refs") or []
    refs, mark, changed = list(known), before, list[str]()
    for head in reversed(changed_tasks(tx, workspace, repository, max(0, before - _OVERLAP), MOST_TASKS)):
        task, mark = head["task_id"], max(mark, head["position"])
        after = marks.get(task, 0)
        if head["last_seq"] > after:
            refs += _new_refs(tx, task, after)
            marks.pop(task, None)
            marks[task] = head["last_seq"]
            changed.append(task)
    return _Collected(before, mark, marks, known, refs[-_MOST_REFS:], changed)


def _new_refs(tx: Tx, task: str, after: int) -> list[list[Any]]:
    """The events of a task, after one of them, that rule something out."""
    found: list[list[Any]] = []
    if after == 0 and (first := tx.event(task, 1)) and _forbids(first["text"], first["channel"]):
        found.append([task, 1])
    rows = reversed(new_entries(tx, task, after, _MOST_ENTRIES))
    return [*found, *([task, row["seq"]] for row in rows if _rules_out(row))]


def _rules_out(row: Row) -> bool:
    if row["type"] == "user_instruction":
        return _forbids(row["text"], row["channel"])
    return row["type"] == "exclusion" or _rejected(json.loads(row["data"]))


def _forbids(text: str | None, channel: str) -> bool:
    return channel == "user" and bool(text) and may_forbid(text or "") and bool(prohibitions(text or ""))


def _rejected(data: Mapping[str, Any]) -> bool:
    """Whether the host reported that the user rejected an action."""
    error = data.get("error")
    status = "failed" if isinstance(error, str) else ""
    return reported_rejection(str(data.get("tool") or ""), status, data) is not None


def current_rules(tx: Tx, workspace: str | None, repository: str | None) -> list[Rule]:
    """What is ruled out in a repository now, the newest last."""
    digest = scope_digest(workspace, repository)
    return rules_of(tx, collected(tx, workspace, repository, digest).refs) if digest else []


def rules_of(tx: Tx, refs: Iterable[list[Any]]) -> list[Rule]:
    """The rules of some events, as they stand now."""
    by_task: dict[str, list[int]] = {}
    for task, seq in refs:
        by_task.setdefault(task, []).append(seq)
    found = [
        rule
        for task, seqs in by_task.items()
        for row in rule_rows(tx, task, seqs)
        if (rule := _rule(task, row)) is not None
    ]
    return sorted(found, key=lambda rule: rule.at)


def _rule(task: str, row: Row) -> Rule | None:
    data: dict[str, Any] = json.loads(row["data"]) if row["data"] else {}
    text = row["text"] or ""
    parts: dict[str, Any] = {
        "task": task, "seq": row["seq"], "at": row["timestamp"], "text": text, "data": data,
        "channel": row["channel"],
    }  # fmt: skip
    if row["type"] == "exclusion":
        if row["status"] != "active" or text.startswith("the plan: "):
            return None
        what = row["key"] or data.get("what") or text
        meant = () if data.get("inferred") else (exclusion_rule(str(data.get("what") or text)),)
        forbids = tuple(one for one in meant if one is not None)
        return Rule(kind="exclusion", form=command_form(str(what)), forbids=forbids, **parts)
    if row["type"] == "action":
        given = data.get("input")
        command = command_line(given) if is_dict(given) else ""
        return Rule(kind="rejection", form=command_form(command), **parts) if command else None
    if row["status"] not in (None, "active"):
        return None
    return Rule(kind="prohibition", forbids=tuple(prohibitions(text)), **parts)
