"""The rows of active tasks, from the store or from ACTIVE-TASKS.md, and whether the file is up to date."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ledger.task_life import DONE, lives, stuck_after
from ..model import foreign_statuses, rules, validate
from ..model.errors import Conflict, RingboltError, shown
from ..model.results import ActiveRow, Projection, ProjectionState
from ..model.trust import least_trusted
from ..model.types import Value
from ..packet.effect_checks import natural_check
from ..store.queries.task_rows import TaskRows
from ..store.tx import Row, Tx
from . import shared_file
from .active_tasks import STARTED, UPDATED, is_completed, is_stale, read_stamp, resolved
from .fact_queries import FactQueries
from .facts import TIMES, Facts
from .tasks_file import Document, find, parse, upsert, write

# The variables of a task that have a line in the file.
VARIABLES = {
    "branch": "branch", "stash_commit": "stash_commit", "related_session": "subagent", "handoff": "handoff",
}  # fmt: skip
_KEYS = (*VARIABLES, *TIMES)
MOST_ROWS = 10_000
_MOST_VALUE = 2_000
_OLD_NAME = ("ACTIVE-TASKS.md", "ACTIVE-TASK.md")


class SourcedRows(Value, frozen=True, kw_only=True):
    """The rows of a ledger, and their source."""

    rows: tuple[ActiveRow, ...]
    source: str
    position: int | None = None
    path: str | None = None
    warnings: tuple[str, ...] = ()


class ActiveRows(Facts):
    """The rows of active tasks, and the file that holds or shows them."""

    def _rows(self, ended: bool = True) -> SourcedRows:
        """The rows of the ledger, with their current staleness."""
        sourced = self._file_rows() if self._is_markdown() else self._store_rows(ended)
        return sourced.replace(rows=self._aged(sourced.rows))

    def _aged(self, rows: Sequence[ActiveRow]) -> tuple[ActiveRow, ...]:
        """The rows with their current staleness."""
        now, threshold = self._clock(), self._threshold()
        return tuple(
            row if row.stale == stale else row.replace(stale=stale)
            for row in rows
            for stale in (not row.completed and is_stale(row.updated, now, threshold),)
        )

    def _row(self, tx: Tx, task_id: str) -> ActiveRow:
        """The row of one task."""
        rows, _ = FactQueries(tx).active_rows(self.workspace, rules.TASK_STATUSES, _KEYS, 1, only=task_id)
        (row,) = self._aged(_read_rows(rows))
        return row

    def _store_rows(self, ended: bool) -> SourcedRows:
        statuses = rules.TASK_STATUSES if ended else (*rules.OPEN, "failed")

        def work(tx: Tx) -> tuple[TaskRows, int | None, dict[str, str]]:
            rows, position = FactQueries(tx).active_rows(self.workspace, statuses, _KEYS, MOST_ROWS)
            life = lives(tx, rows["heads"], self._clock(), stuck_after(self.settings))
            return rows, position, life

        rows, position, life = self.store.read(work, once=True)
        full = len(rows["heads"]) >= MOST_ROWS
        return SourcedRows(
            rows=tuple(_read_rows(rows, life)),
            source="store",
            position=position,
            warnings=(f"only {MOST_ROWS:,} tasks of each status are read",) if full else (),
        )

    def _is_markdown(self) -> bool:
        return self.settings.active_tasks_ledger == "markdown"

    def _threshold(self) -> int:
        return rules.parse_duration("stale_threshold", self.settings.stale_threshold)

    def _projection(self) -> Projection:
        settings = self.settings
        return Projection(
            mode=settings.projection_mode,
            exclude_generic_title=settings.projection_exclude_generic_title == "on",
            title_min_chars=settings.projection_title_min_chars,
            dedupe_by=settings.projection_dedupe_by,
            max_rows=settings.projection_max_rows,
            sectioned=settings.projection_sectioned == "on",
        )

    # --- the file ---------------------------------------------------------------------------------

    def _ledger_path(self) -> tuple[str, tuple[str, ...]]:
        """The file of the markdown ledger, and a warning if only one with the old name exists."""
        name = self.settings.active_tasks_file
        path = shared_file.locate(name, self.workspace)
        new, old = _OLD_NAME
        if os.path.basename(name) == new and not os.path.lexists(path):
            other = shared_file.locate(name.removesuffix(new) + old, self.workspace)
            if os.path.exists(other):
                return other, (f"{new} does not exist; {old} is used",)
        return path, ()

    def _file_rows(self) -> SourcedRows:
        path, warnings = self._ledger_path()
        content = shared_file.read(path, self.settings.max_text_bytes)
        rows = parse(content[0]).rows if content else ()
        labels = [row.label for row in rows]
        if twice := sorted({label for label in labels if labels.count(label) > 1}):
            warnings = (*warnings, f"labels that are used twice: {', '.join(map(shown, twice[:5]))}")
        return SourcedRows(rows=rows, source="file", path=path, warnings=warnings)

    def _upsert_file(self, label: str, values: dict[str, Any]) -> ActiveRow:
        now = self._now()
        changes: dict[str, str | None] = {
            "title": values.get("title"),
            "branch": values.get("branch"),
            "subagent": values.get("related_session"),
            "next": values.get("next"),
            "related_goal": values.get("related_goal"),
            "updated": now,
        }
        if values.get("status") is not None:
            status, phase, reason = foreign_statuses.read_task_status(values["status"], "active-tasks")
            changes["status"] = foreign_statuses.write_task_status("active-tasks", status, phase, reason)

        def change(document: Document) -> Document:
            if find(document, label) is not None:
                return upsert(document, label, changes)
            first = {"title": label, "status": "In progress", "started": now}
            new = {name: value for name, value in changes.items() if value is not None}
            return upsert(document, label, {**first, **new})

        return self._edit_file(label, change)

    def _edit_file(self, label: str, change: Callable[[Document], Document]) -> ActiveRow:
        path, _ = self._ledger_path()
        after: list[Document] = []

        def edited(old: bytes | None) -> bytes:
            after.append(change(parse(old or b"")))
            return write(after[0])

        shared_file.edit(path, edited, self.settings.max_text_bytes)
        block = find(after[0], label)
        assert block is not None  # noqa: S101 - `change` has checked it
        return self._aged([block.row])[0]

    def _file_state(self, wanted: str, sourced: SourcedRows) -> ProjectionState:
        """Whether the file has the wanted content, and if not, why."""
        stale = ProjectionState(stale=True, store_position=sourced.position)
        try:
            path = shared_file.locate(self.settings.active_tasks_file, self.workspace)
            content = shared_file.read(path, self.settings.max_text_bytes)
        except RingboltError as error:
            return stale.replace(stale_reasons=(f"unreadable: {error.message}",))
        if content is None:
            return stale.replace(path=path, stale_reasons=("missing",))
        text = content[0].decode("utf-8", "surrogateescape")
        stamp = read_stamp(text)
        reasons: list[str] = []
        if stamp is None:
            reasons.append("not rendered by ringbolt")
        else:
            if not stamp[1]:
                reasons.append("edited by hand")
            if stamp[0] != sourced.position:
                reasons.append("behind the store")
            if not reasons and text != wanted:
                reasons.append("rendered with other settings, or rows have gone stale since")
        return stale.replace(
            path=path,
            stale=bool(reasons),
            stale_reasons=tuple(reasons),
            file_position=stamp[0] if stamp else None,
            file_modified_at=validate.stamp(content[1].st_mtime),
        )


def check_ours(path: str, content: bytes | None) -> None:
    """Raise if a file was written or edited by someone else."""
    if content is None or not content.strip():
        return
    stamp = read_stamp(content.decode("utf-8", "surrogateescape"))
    if stamp is None or not stamp[1]:
        what = "was not rendered by ringbolt" if stamp is None else "was edited since it was rendered"
        raise Conflict(
            "stale_version",
            f"{path} {what}.",
            "Nothing was written. Move its content into the tasks and the file out of the way,"
            " or set active_tasks_ledger = markdown to make the file the source of truth.",
        )


def _life(head: Row, life: Mapping[str, str]) -> str | None:
    """The life of a task, if it says more than the status."""
    word = life.get(head["task_id"])
    return None if word in (None, DONE, head["status"]) else word


def _read_rows(task_rows: TaskRows, life: Mapping[str, str] | None = None) -> list[ActiveRow]:
    facts: dict[str, dict[str, Row]] = {}
    for row in task_rows["facts"]:
        facts.setdefault(row["task_id"], {})[row["key"]] = row
    effects: dict[str, list[Row]] = {}
    for row in task_rows["effects"]:
        effects.setdefault(row["task_id"], []).append(row)
    rows: list[ActiveRow] = []
    for head in task_rows["heads"]:
        own = facts.get(head["task_id"], {})
        begun = effects.get(head["task_id"], [])
        values: dict[str, Any] = {key: json.loads(row["data"]).get("value") for key, row in own.items()}
        texts: dict[str, Any] = {
            field: _shown(values[key]) for key, field in VARIABLES.items() if values.get(key) is not None
        }
        status = foreign_statuses.write_task_status(
            "active-tasks", head["status"], head["phase"], head["reason"]
        )
        updated = resolved(values, UPDATED, head["updated_at"])
        # Work that was recorded after the last fact also counts as an update.
        if all(row["worked"] for row in own.values()):
            updated = max(updated or "", head["updated_at"])
        rows.append(
            ActiveRow(
                label=head["label"] or head["task_id"],
                title=head["name"],
                status=status,
                next=head["next"],
                evidence=_evidence(head),
                unknown=_unknown(begun),
                related_goal=head["goal"],
                started=resolved(values, STARTED, head["created_at"]),
                updated=updated,
                completed=is_completed(status),
                life=_life(head, life or {}),
                session=head["session_id"],
                task_id=head["task_id"],
                seq=head["last_seq"],
                channel=least_trusted([*_channels(head, own), *(row["channel"] for row in begun)]),
                **texts,
            )
        )
    return rows


def _evidence(head: Row) -> str | None:
    """The number of verified and of only reported steps of an open task."""
    if not head["done"] or head["verified"] is None:
        return None
    parts = (("verified", head["verified"]), ("reported", head["done"] - head["verified"]))
    return ", ".join(f"{count} {word}" for word, count in parts if count > 0)


def _unknown(effects: Sequence[Row]) -> str | None:
    """The last side effect whose outcome is unknown, and how to verify it."""
    if not effects:
        return None
    last = effects[-1]
    check = json.loads(last["data"]).get("verify") or natural_check(last["what"])
    more = f" (and {len(effects) - 1} more)" if len(effects) > 1 else ""
    return _shown(f"{last['what']}: unknown — verify with {check}{more}")


def _channels(head: Row, facts: Mapping[str, Row]) -> list[Any]:
    """The channels of the texts of a row."""
    channels = [head["name_channel"]]
    if head["next"] is not None:
        channels.append(head["next_channel"])
    return channels + [facts[key]["channel"] for key in VARIABLES if key in facts]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else validate.dumps(value)
    return text if len(text) <= _MOST_VALUE else f"{text[: _MOST_VALUE - 1]}…"
