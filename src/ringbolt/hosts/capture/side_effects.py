"""Side effects of tool calls: announced before the call, settled by its result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from ...ledger.values import OPEN_EFFECTS
from ...model.trust import key_of
from ...model.types import Written, is_dict
from ...signals.calls.refusals import refuses_call
from ...signals.effects.outcomes import Outcome, outcome
from ...signals.effects.relations import Acts, relation
from ...signals.effects.side_effects import SideEffect, side_effects
from ...signals.text_layout import one_line
from ...store.tx import Row, Tx
from ..hook_parts.cleaning import clipped as clipped
from .session_writer import SessionWriter

# Side effects that are the same however often they are done: what counts is that the last attempt worked.
_REPEATABLE = frozenset(
    "push publish release image deploy infrastructure migration upload service settings".split()
)
_MOST_EFFECTS = 50
_MOST_BETWEEN = 20  # events between an action and the outcome of its last side effect
_RELATION = {"undone": "undoes", "superseded": "replaces"}
_MOST_LOOKED_AT = 500  # events of a turn
_MOST_SHOWN = 120  # characters of a prompt in a note
_NO_RESULT = "the turn ended and no result was reported"


class SideEffects(SessionWriter):
    """Writes what tool calls do outside."""

    def intended(self, tool: str, tool_input: Any, *, key: str) -> None:
        """A tool call is about to be made: announce what it does outside, if anything."""
        for number, effect in enumerate(side_effects(tool, tool_input)):
            self._announce(effect, f"{key}/effect{number}")

    def effects_unknown(self, reason: str) -> None:
        """No more results come from calls that were announced: how they ended is unknown."""
        task = self._own_task()
        rows = self._effects(task, ("intended",)) if task else []
        for row in rows:
            self._tool.task_outcome(task, intent=row["seq"], outcome="unknown", note=reason)

    def turn_over(self, prompt: str = "") -> None:
        """The agent ended its turn, or the user's next `prompt` came: no call of the turn is running.

        A call without a result is over and its outcome unknown, unless the prompt says that it was refused.
        A result that comes later still settles it.
        """
        task = self._own_task()
        for row in self._without_result(task) if task else ():
            intended = row["status"] == "intended"
            if prompt and refuses_call(prompt, row["text"] or "", ended_turn=intended):
                note = f"the user refused it: {one_line(prompt, _MOST_SHOWN)}"
                self._user.task_outcome(task, intent=row["seq"], outcome="did_not", note=note)
            elif intended:
                self._tool.task_outcome(task, intent=row["seq"], outcome="unknown", note=_NO_RESULT)

    def _without_result(self, task: str) -> list[Row]:
        """The side effects of this session's last turn that the host announced and never reported."""

        def work(tx: Tx) -> list[Row]:
            session = self._agent.origin.session
            rows = [
                row
                for row in tx.records(task, "effect", OPEN_EFFECTS, _MOST_EFFECTS)
                if row["channel"] == "tool" and row["session"] == session
            ]
            settled = {row["seq"]: tx.event(task, row["replaced_by"]) for row in rows if row["replaced_by"]}
            rows = [
                row
                for row in rows
                if row["status"] == "intended" or (settled.get(row["seq"]) or {}).get("text") == _NO_RESULT
            ]
            if all(row["status"] == "intended" for row in rows):
                return rows
            # What ended without a result before the user's last prompt is not what the next one is about.
            oldest = min(row["seq"] for row in rows)
            since = tx.events(task, oldest, _MOST_LOOKED_AT)
            prompted = max((row["seq"] for row in since if row["channel"] == "user"), default=0)
            return [row for row in rows if row["status"] == "intended" or row["seq"] > prompted]

        return self._agent.store.read(work)

    def _announce(self, effect: SideEffect, key: str | None) -> Written:
        return self._on_task(
            lambda: self._tool.task_intent(
                None,
                what=effect.what,
                verify=effect.check or None,
                signature=effect.signature,
                kind=effect.kind,
                key=None if key is None else key[:200],
            )
        )

    def _settle_effects(
        self, tool: str, tool_input: Any, output: str, *, failed: bool, interrupted: bool, key: str | None
    ) -> None:
        """Record how the side effects of a call ended; unannounced ones are announced first."""
        effects = side_effects(tool, tool_input)
        for number, effect in enumerate(effects):
            ended = outcome(effect, output, failed=failed, interrupted=interrupted, alone=len(effects) == 1)
            self._settle(effect, ended, None if key is None else f"{key}/effect{number}")

    def _settle(self, effect: SideEffect, ended: Outcome, key: str | None) -> None:
        task = self._own_task()
        done = None if key is None else f"{key}/outcome"[:200]
        if task and done and self._agent.store.read(lambda tx: tx.key(task, key_of("tool", done))):
            return  # both the transcript and the hook report it
        known = self._effects(task, OPEN_EFFECTS, effect.signature) if task else []
        announced = (
            key and task and self._agent.store.read(lambda tx: tx.key(task, key_of("tool", key[:200])))
        )
        if not announced and known:
            intent, task_id = known[0]["seq"], known[0]["task_id"]  # the host gives calls no id
        else:
            written = self._announce(effect, key)
            intent, task_id = written.seq, written.task_id
        if not self._agent.store.read(lambda tx: _is_open(tx.record(task_id, intent))):
            return
        related = self._related(task_id, intent, effect, ended) if ended.status == "did" else []
        notes = [ended.note] if ended.note else []
        notes += [f"{_RELATION[status]} #{row['seq']}" for row, status in related]
        self._tool.task_outcome(
            task_id, intent=intent, outcome=ended.status, note="; ".join(notes) or None, key=done
        )
        for row, status in related:
            note = f"{status} by #{intent}: {effect.what}"
            self._tool.task_outcome(task_id, intent=row["seq"], outcome=status, note=note)
        if ended.status == "did" and effect.kind in _REPEATABLE:
            # An earlier attempt that broke off does not matter any more.
            for row in known:
                if row["seq"] != intent:
                    note = f"a later call did it (#{intent})"
                    self._tool.task_outcome(task_id, intent=row["seq"], outcome="did", note=note)

    def _related(
        self, task: str, intent: int, effect: SideEffect, ended: Outcome
    ) -> list[tuple[Row, Literal["undone", "superseded"]]]:
        """The side effects of a task that one takes back or replaces, which was done now."""
        if (acts := effect.acts) is None:
            return []

        def work(tx: Tx) -> list[tuple[Row, Literal["undone", "superseded"]]]:
            found: list[tuple[Row, Literal["undone", "superseded"]]] = []
            for row in tx.records(task, "effect", ("did",), _MOST_EFFECTS):
                if row["seq"] >= intent or (before := _acts_of(tx, task, row)) is None:
                    continue
                settled = tx.event(task, row["replaced_by"]) if row["replaced_by"] else None
                note = (settled or {}).get("text") or ""
                if status := relation((before, note), (acts, ended.note)):
                    found.append((row, status))
            return found

        return self._agent.store.read(work)

    def _effects(self, task: str, statuses: Sequence[str], signature: str | None = None) -> list[Row]:
        """The side effects of a task with one of these statuses, the newest first."""
        return self._agent.store.read(
            lambda tx: tx.records(task, "effect", statuses, _MOST_EFFECTS, key=signature)
        )


def _acts_of(tx: Tx, task: str, row: Row) -> Acts | None:
    """What a side effect of the ledger acts on, by the action that the host reported before its outcome."""
    last = row["replaced_by"] or row["seq"]
    for event in reversed(tx.events(task, max(0, last - _MOST_BETWEEN), _MOST_BETWEEN, last)):
        data: Any = json.loads(event["data"]) if event["event_type"] == "action" else None
        for one in side_effects(str(data.get("tool") or ""), data.get("input")) if is_dict(data) else ():
            if one.signature == row["key"]:
                return one.acts
    return None


def _is_open(record: Row | None) -> bool:
    return record is not None and record["status"] in OPEN_EFFECTS
