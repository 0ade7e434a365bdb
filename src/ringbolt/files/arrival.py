"""Import tasks from other projects' files with ordinary operations, in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ..core.actions import Actions
from ..core.entries import Entries
from ..core.plans import Plans
from ..core.tasks import Tasks
from ..ledger.base import Draft
from ..ledger.step_changes import begun_phase
from ..model import foreign_statuses, rules, validate
from ..model.errors import InvalidInput, shown
from ..model.types import is_dict, is_list
from ..store.tx import Row, Tx
from .projection import digest

Result = TypeVar("Result")


class Arrival(Tasks, Plans, Actions, Entries):
    """A memory within one transaction that imports a task. Its events get the time of the import; the times
    in the files are kept as `recorded_at` in the data."""

    def known_as(self, tx: Tx, tag: str, source: str, digest: str) -> tuple[str | None, list[str]]:
        """The task from an earlier import of the same files, and tasks from other files with that name."""
        tx.register_key(tag)  # another import of the same files waits
        rows = tx.cards(rules.TASK_STATUSES, 1000, tag=tag, archived=True)
        others: list[str] = []
        for row in rows:
            origin: Any = tx.extras(row["task_id"])["metadata"].get(source)
            if is_dict(origin) and origin.get("digest") == digest:
                return row["task_id"], []
            others.append(row["task_id"])
        return None, others

    def begin(self, name: str, plan: Any, own: Mapping[str, Any], **fields: Any) -> str:
        """Register the task; `own` holds the fields that Ringbolt recorded, if it wrote the files."""
        optional: dict[str, Any] = {
            key: own[key]
            for key in ("goal", "context", "acceptance", "approval_mode", "callback_url", "kind")
            if own.get(key) is not None
        }
        known = own.get("tags")
        tags = [*(known if is_list(known) else []), *fields.pop("tags")]
        return self.task_register(name, plan, **{**optional, **fields}, tags=tags).task_id

    def head(self, tx: Tx, task_id: str) -> Row:
        """The row of the task, locked."""
        return self._find(tx, task_id, lock=True)

    def text(self, what: str, value: Any) -> str:
        """A text that is not empty."""
        return self._line(what, value)

    def mapping(self, what: str, value: Any) -> dict[str, Any]:
        """A mapping of plain JSON values, without nulls."""
        return {name: part for name, part in self._mapping(what, value).items() if part is not None}

    def append(self, tx: Tx, head: Row, draft: Draft) -> None:
        """Add an event with a `recorded_at`, which no operation writes."""
        self._append(tx, head, draft, self._now(), "import")

    def action(self, tx: Tx, head: Row, entry: Mapping[str, Any], item: str | None) -> None:
        """Add an entry of an execution log."""
        kind: Any = entry.get("type")
        duration: Any = entry.get("duration_ms")
        plain = isinstance(duration, (int, float)) and not isinstance(duration, bool) and 0 <= duration < 1e15
        rest: dict[str, Any] = dict(entry.get("bank", {}))
        if duration is not None and not plain:
            rest["duration_ms"] = duration
        data: dict[str, Any] = {
            "type": kind if kind in rules.ACTION_TYPES else "other",
            "tool": validate.optional("tool_name", _word(entry.get("tool")), 500),
            "input": self._plain("input_payload", entry.get("input")),
            "output": self._plain("result_data", entry.get("output")),
            "error": self._plain("error_info", entry.get("error")),
            "stage": validate.optional("stage", _word(entry.get("stage")), 200),
            "sub_task_id": validate.optional("sub_task_id", _word(entry.get("sub_task_id")), 200),
            "duration_ms": duration if plain else None,
            "recorded_at": validate.optional("timestamp", _word(entry.get("recorded_at")), 200),
            "bank": self._plain("the entry", rest) or None,
        }
        summary = (_word(entry.get("summary")) or "").strip() or data["tool"] or entry["status"]
        sets: dict[str, Any] = {}
        now = self._now()
        if (phase := begun_phase(head)) is not None:
            sets["heads"] = {"phase": phase, **rules.phase_stamps(head, phase, now)}
        record = {"type": "action", "status": entry["status"], "ended_at": now}
        text = self._line("step_narrative", summary)
        self.append(tx, head, Draft("action", text=text, data=data, sets=sets, item=item, record=record))

    def context(self, tx: Tx, head: Row, content: str, row: Mapping[str, Any], item: str | None) -> None:
        """Add a saved context."""
        label = validate.line("label", _word(row.get("label")) or "context", 200)
        data = {
            "label": label,
            "summarized": row.get("summarized") is True,
            "recorded_at": validate.optional("at", _word(row.get("at")), 200),
        }
        text = validate.nonempty("the context", content, self.settings.max_text_bytes)
        record = {"type": "snapshot", "status": "active", "key": label}
        self.append(tx, head, Draft("snapshot", text=text, data=data, item=item, record=record))

    def move_steps(self, tx: Tx, head: Row, imported: Mapping[str, Mapping[str, Any]]) -> None:
        """Give steps the statuses, notes and issues that the files state or imply, in one event."""
        now = self._now()
        changes: dict[str, dict[str, Any]] = {}
        for row in tx.steps(head["task_id"]):
            own = imported.get(row["item_id"])
            if own is None or row["dropped_in"] is not None:
                continue
            status = foreign_statuses.read_item_status(validate.line("status", own.get("status", "pending")))
            basis = "inferred" if own.get("basis") == "inferred" else "explicit"
            changed: dict[str, Any] = {
                "note": validate.optional("note", own.get("note"), 100_000),
                "active_issue": validate.optional("active_issue", own.get("active_issue"), 10_000),
            }
            if status != "pending":
                changed.update(status=status, basis=basis, cause_seq=head["last_seq"] + 1)
                changed["evidence"] = "reported" if status == "completed" else None
                changed["started_at"] = now if status == "active" else None
                changed["completed_at"] = now if status in rules.ITEM_OVER else None
            if changed := {name: value for name, value in changed.items() if value is not None}:
                changes[row["item_id"]] = changed
        if changes:
            self.append(tx, head, Draft("step.updated", sets={"steps": changes}))

    def settle(
        self,
        task_id: str,
        own: Mapping[str, Any],
        status: tuple[str | None, str | None, str | None],
        answer: str | None,
        error: Mapping[str, Any] | None,
    ) -> None:
        """Give the task the status, phase and answer of the files; this is written last."""
        ends, phase, reason = status
        changes: dict[str, Any] = {
            "phase": phase,
            "reason": reason,
            "next": own.get("next_step"),
            "blockers": own.get("blockers") or None,
            "attention": own.get("attention"),
        }
        if ends in rules.ENDED:
            self.task_finish(task_id, answer, status=ends, error=error)
        else:
            changes["status"] = ends
            if answer is not None:
                self.task_remember(task_id, "The final answer", type="artifact", detail=answer)
            if error is not None:
                words = error["message"].strip() or "an error"
                self.task_remember(task_id, words, type="error", data={"error": dict(error)})
        if any(value is not None for value in changes.values()):
            self.task_update(task_id, **changes)
        if own.get("archived") is True:
            self.task_update(task_id, archived=True)


def short_name(request: Any, default: str) -> str:
    """A name for a task that has none: the first line of the request."""
    lines = request.strip().splitlines() if isinstance(request, str) else []
    first = lines[0].strip() if lines else ""
    return first[:100] or default


def read_status(
    own: Mapping[str, Any], word: Any, source: str | None = None
) -> tuple[str | None, str | None, str | None]:
    """Our status, phase and reason: as Ringbolt recorded them, otherwise from the word of the source."""
    if isinstance(own.get("status"), str):
        status = foreign_statuses.read_task_status(own["status"])[0]
        phase = foreign_statuses.read_phase(own["phase"]) if isinstance(own.get("phase"), str) else None
        return status, phase, _word(own.get("reason"))
    if word is None:
        return None, None, None
    if not isinstance(word, str):
        raise InvalidInput("unknown_word", f"{shown(word)} is not a task status.", "Use a string.")
    return foreign_statuses.read_task_status(word, source)


def _word(value: Any) -> str | None:
    """A value as text: other projects have numbers where we have words."""
    return value if value is None or isinstance(value, str) else validate.dumps(value)


def tag_of(source: str, identity: str) -> str:
    """The tag of tasks that were imported from the same place."""
    tag = f"{source}:{identity}"
    if len(tag.encode("utf-8", "backslashreplace")) <= 100 and tag.isprintable():
        return tag
    return f"{source}:{digest(identity.encode('utf-8', 'backslashreplace'))}"


def infer_steps(steps: Sequence[Row]) -> Callable[[Mapping[str, Any]], str | None]:
    """A function that finds the step of a log entry, by its stage and its text."""
    live = sorted(steps, key=lambda row: row["dropped_in"] is not None)
    exact: dict[tuple[str | None, str], str] = {}
    loose: dict[str, str] = {}
    ids = {row["item_id"] for row in steps}
    for row in live:
        for words in (row["detail"].get("narrative"), row["title"]):
            if isinstance(words, str):
                exact.setdefault((row["stage"], words.strip()), row["item_id"])
                loose.setdefault(words.strip(), row["item_id"])

    def find(entry: Mapping[str, Any]) -> str | None:
        if isinstance(entry.get("step"), str) and entry["step"] in ids:
            return entry["step"]
        words = (_word(entry.get("summary")) or "").strip()
        return exact.get((_word(entry.get("stage")), words)) or loose.get(words)

    return find
