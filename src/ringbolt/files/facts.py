"""Operations on facts about tasks, by their labels, and about anything else in the workspace.

A fact of category `project` is about a task. If the task has a column for it (title, status, next), the fact
sets that column; otherwise it becomes a variable or a note of the task. Facts of other categories are stored
in a ledger of kind `facts`, which no list of tasks shows (docs/adr/0008).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..core.task_updates import status_changes
from ..ledger.base import Base, Draft, stored_result
from ..model import foreign_statuses, rules, validate
from ..model.capabilities import workspace_refused
from ..model.errors import InvalidInput, NotFound, shown
from ..model.operation import operation
from ..model.results import Fact, FactPage
from ..model.types import Written, is_list
from ..store.tx import Row, Tx
from .fact_queries import FactQueries
from .fact_reading import fits, query_words, read_fact, score, with_columns

CATEGORIES = ("project", "preference", "fact", "decision", "entity", "other")
SCOPES = ("workspace", "global")
TIMES = ("started", "task_started", "created_at", "task_updated", "updated", "updated_at")
GOALS = ("related_goal", "goal_id")
# The columns of a task; every other fact about it is a variable.
COLUMNS = ("title", "status", "next")
_OWN = frozenset((*COLUMNS, *TIMES, *GOALS))
_STATUSES = tuple(rules.ENTRY_TRANSITIONS)
_MOST_READ = 10_000


class Facts(Base):
    """Operations on facts."""

    @operation(scope="write", example={"entity": "shop", "key": "next", "value": "check the logs"})
    def memory_store(
        self,
        text: str | None = None,
        *,
        entity: str | None = None,
        key: str | None = None,
        value: Any = None,
        category: str = "project",
        why: str | None = None,
        importance: float | None = None,
        tags: Sequence[str] | None = None,
        supersedes: str | Sequence[str] | None = None,
        scope: str = "workspace",
        at: str | float | None = None,
        idempotency_key: str | None = None,
    ) -> Written:
        """Store a fact: a text, or a key with its value, about an entity.

        In the category `project` the entity is a task, by label or id; an unknown one is registered. The keys
        title, status, next and related_goal change the task itself. The previous fact with the same entity
        and key stays in the history. A fact that is older (`at`) than the known one goes straight into the
        history.

        Args:
            text: The fact in words. With a key and a value: a comment.
            entity: What the fact is about, at most 200 bytes. In the category `project`: a task, by label or
                id; default: the current task.
            key: The name of the fact: title, status, next, branch, … or your own word, at most 200 bytes.
                This is not an idempotency key.
            value: Any JSON value. For title, next and related_goal a text, for status a status word, for a
                time a time.
            category: project, preference, fact, decision, entity or other.
            why: The reason for the fact, or how it is known.
            importance: From 0 to 1.
            tags: Labels, at most 200 of up to 100 bytes each.
            supersedes: Ids of the facts (`task#seq`) that this one replaces.
            scope: `workspace`, or `global` for a fact that holds everywhere.
            at: When it became true. Default: now. Newer facts win.
            idempotency_key: Repeating the call with the same key writes nothing.
        """
        fact = self._fact(text, entity, key, value, category, why, importance, at)
        labels = [("tag", tag) for tag in validate.text_list("tags", tags)]
        ended = _ids(supersedes)
        if validate.choice("scope", scope, SCOPES) == "global" and fact["category"] == "project":
            raise InvalidInput(
                "invalid_argument",
                "Facts of category project belong to a task, and so to a workspace.",
                "Choose another category, or leave out scope.",
            )
        here = None if scope == "global" else self.workspace
        if not self.grant.sees(here):
            raise workspace_refused()
        fingerprint = self._fingerprint("memory_store", idempotency_key, [fact, labels, ended, scope])

        def work(tx: Tx) -> Written:
            head = self._home(tx, fact, here)
            if idempotency_key is not None and (
                known := tx.own_key(self._scoped(idempotency_key), "memory_store", self._origin_id, here)
            ):
                return stored_result(known, fingerprint)
            now = self._now()
            if head is None:
                head = self._begin(tx, now, fact, here)
            self._check_own_claims(tx, head)
            draft = self._fact_draft(tx, head, fact, now)
            draft.labels += labels
            _supersede(tx, head, draft, ended)
            key = None if idempotency_key is None else self._scoped(idempotency_key)
            return self._append(tx, head, draft, now, "memory_store", key, fingerprint)

        return self._commit(work, settles=idempotency_key is not None)

    @operation(scope="read", example={"query": "logs"})
    def memory_recall(
        self,
        query: str | None = None,
        *,
        id: str | None = None,
        entity: str | None = None,
        key: str | None = None,
        category: str | None = None,
        tag: str | None = None,
        history: bool = False,
        limit: int = 20,
    ) -> FactPage:
        """Find facts by id (`task#seq`), entity, key, category, tag or words.

        Facts that match the most words come first, then the newest. The title, status and next step of a task
        are found like stored facts.

        Args:
            query: Words. A fact matches if it contains one of them as a whole word.
            id: Id of a fact: `task#seq`.
            entity: Only facts about this entity.
            key: Only facts with this key.
            category: Only facts of this category.
            tag: Only facts with this tag.
            history: Include facts that were replaced.
            limit: Maximum number of results.
        """
        asked = query_words(query)
        limit = validate.whole("limit", limit, 1, 1000)
        for what, text in (("entity", entity), ("key", key), ("tag", tag)):
            validate.optional(what, text, 500)
        wanted = None if category is None else validate.choice("category", category, CATEGORIES)
        statuses = _STATUSES if history else ("active",)

        def work(tx: Tx) -> FactPage:
            if id is not None:
                return FactPage(facts=_tagged(tx, self._fact_by_id(tx, id)))
            facts = self._facts(tx, entity, wanted, statuses)
            facts = [fact for fact in facts if fits(fact, key, wanted)]
            if tag is not None:
                tagged = FactQueries(tx).tagged(tag)
                facts = [fact for fact in facts if (fact.task_id, fact.seq) in tagged and not fact.derived]
            if asked:
                ranked = [(score(fact, asked), fact) for fact in facts]
                best = sorted((pair for pair in ranked if pair[0]), key=lambda pair: -pair[0])
                facts = [fact for _, fact in best]
            return FactPage(facts=_tagged(tx, facts[:limit]), left_out=max(0, len(facts) - limit))

        return self.store.read(work)

    # --- writing ----------------------------------------------------------------------------------

    def _fact(
        self, text: Any, entity: Any, key: Any, value: Any, category: Any, why: Any, importance: Any, at: Any
    ) -> dict[str, Any]:
        """Validate the arguments of a fact."""
        text = None if text is None else self._line("text", text)
        key = None if key is None else validate.line("key", key, 200)
        value = self._plain("value", value)
        if (key is None) != (value is None) or (key is None and text is None):
            raise InvalidInput(
                "invalid_argument",
                "A fact is a text, or a key with a value.",
                "Pass text=…, or both key=… and value=….",
            )
        category = validate.choice("category", category, CATEGORIES)
        return {
            "entity": None if entity is None else validate.line("entity", entity, 200),
            "key": key,
            "value": _own_value(key, value) if category == "project" else value,
            "category": category,
            "text": text,
            "why": self._text("why", why),
            "importance": None if importance is None else validate.number("importance", importance, 0, 1),
            "at": None if at is None else validate.moment("at", at),
        }

    def _home(self, tx: Tx, fact: dict[str, Any], here: str | None) -> Row | None:
        """The ledger that a fact belongs to, locked; None if it does not exist yet."""
        if fact["category"] != "project":
            homes = FactQueries(tx).labelled("facts", here or "", here, lock=True)
            return tx.head(homes[0]["task_id"], lock=True) if homes else None
        if fact["entity"] is None:
            return self._find(tx, None, lock=True)
        return self._labelled(tx, fact["entity"], lock=True)

    def _labelled(self, tx: Tx, label: str, lock: bool = False) -> Row | None:
        """The task of this workspace with a label or an id; None if there is none."""
        matches = FactQueries(tx).labelled("label", label, self.workspace, lock=lock)
        task_id = matches[0]["task_id"] if matches else label
        if not matches and (rules.normal_id(label) != label or len(label) != rules.ID_LENGTH):
            return None
        head = tx.head(task_id, lock)
        if head is not None and (head["kind"] != "task" or head["workspace_path"] != self.workspace):
            raise NotFound(
                "task_not_found",
                f"{shown(label)} is not a task of this workspace.",
                "Name a task of this workspace by label or id, or open the memory in the other workspace.",
            )
        return head

    def _begin(self, tx: Tx, now: str, fact: dict[str, Any], here: str | None) -> Row:
        """Begin a ledger for facts: a task with a label, or the ledger of facts without a task."""
        if fact["category"] == "project":
            return self._begin_task(tx, now, fact["entity"], fact["entity"])
        heads = {"kind": "facts", "name": "Facts", "workspace_path": here}
        return self._begun(tx, now, heads, ["facts", here or ""])

    def _begin_task(self, tx: Tx, now: str, label: str, name: str) -> Row:
        """Register a task with a label; it does not become the current one of the session."""
        place = {"workspace_path": self.workspace, "repository": self.repository}
        heads: dict[str, Any] = {"kind": "task", "name": name, **place}
        if self.origin.session:
            heads["session_id"] = self.origin.session
        return self._begun(tx, now, heads, ["label", label])

    def _begun(self, tx: Tx, now: str, heads: dict[str, Any], label: list[str]) -> Row:
        task_id = self._new_id(tx)
        heads = {**heads, "status": "active", "phase": "received"}
        head: Row = {"task_id": task_id, "root_id": task_id, **heads}
        sets: dict[str, Any] = {"heads": heads, "+extras": {}, "+labels": [[0, *label]]}
        self._append(tx, head, Draft("task.registered", sets=sets), now, "memory_store")
        return tx.head(task_id, lock=True) or head

    def _check_own_claims(self, tx: Tx, head: Row) -> None:
        """Raise if this memory has lost a claim that it took on the task."""
        self._check_tokens(tx, head, set(self._tokens.get(head["task_id"], {}).values()))

    def _fact_draft(self, tx: Tx, head: Row, fact: dict[str, Any], now: str) -> Draft:
        """The event that stores a fact, with its changes to the task and earlier facts."""
        key, value = fact["key"], fact["value"]
        own = head["kind"] == "task"
        data = {name: part for name, part in fact.items() if name != "text" or key is not None}
        if key is None:
            kind = "discovery" if own else "fact"
            return Draft(kind, text=fact["text"], data=data, record={"type": kind, "status": "active"})
        kind = "fact" if key in _OWN or not own else "variable"
        name = key if own else f"{fact['entity'] or ''}\n{key}"
        written = value if isinstance(value, str) else validate.dumps(value)
        old = tx.record_with_key(head["task_id"], kind, name)
        late = self._is_late(tx, head, fact, old, now)
        draft = Draft(
            kind,
            text=f"{key} = {written}",
            data=data,
            sets={} if late else _column_changes(tx, head, key, value, now) if own else {},
            record={"type": kind, "status": "superseded" if late else "active", "key": name},
            warnings=("older than the known fact: stored only in the history",) if late else (),
        )
        if late:
            draft.record = {**(draft.record or {}), "ref_seq": old["seq"] if old else None}
        elif old:
            closed = {"status": "superseded", "ref_seq": head["last_seq"] + 1}
            draft.sets["records"] = {str(old["seq"]): closed}
        return draft

    def _is_late(self, tx: Tx, head: Row, fact: dict[str, Any], old: Row | None, now: str) -> bool:
        """Whether a newer fact is known; at the same moment, a completed task stays completed."""
        moment = fact["at"] or now
        if fact["key"] == "status" and head["kind"] == "task" and head["status"] in rules.ENDED:
            status, _, _ = foreign_statuses.read_task_status(fact["value"], "active-tasks")
            if status in rules.OPEN and moment <= (head["completed_at"] or head["updated_at"]):
                return True
        if old is None or fact["at"] is None:
            return False
        event = tx.event(head["task_id"], old["seq"])
        if event is None:
            return False
        at = json.loads(event["data"]).get("at")
        return fact["at"] < (at if isinstance(at, str) else event["timestamp"])

    # --- reading ----------------------------------------------------------------------------------

    def _fact_by_id(self, tx: Tx, name: Any) -> tuple[Fact, ...]:
        task_id, seq = _citation(name)
        rows = [row for row in FactQueries(tx).facts(_STATUSES, _MOST_READ, [task_id]) if row["seq"] == seq]
        head = tx.head(task_id)
        if not rows or head is None or head["workspace_path"] not in (None, self.workspace):
            raise NotFound(
                "record_not_found",
                f"There is no fact {shown(name)}.",
                "memory_recall returns facts with their ids, which look like 7k3m9xq2wd#12.",
            )
        return self._read_facts(tx, rows)

    def _facts(self, tx: Tx, entity: str | None, category: str | None, statuses: Sequence[str]) -> list[Fact]:
        """The facts of an entity, or of the whole workspace: stored ones first, newest first."""
        queries = FactQueries(tx)
        facts: list[Fact] = []
        heads: list[Row] = []
        if category in (None, "project"):
            rows: list[Row] = []
            if entity is None:
                rows = queries.facts(statuses, _MOST_READ, workspace=self.workspace)
                heads = tx.cards(rules.OPEN, 1000, workspace=self.workspace, kind="task")
            elif (head := self._labelled(tx, entity)) is not None:
                heads = [head]
                rows = queries.facts(statuses, _MOST_READ, [head["task_id"]])
            facts += self._read_facts(tx, rows)
        if category != "project":
            places = {self.workspace, None}
            ledgers = [row for here in places for row in queries.labelled("facts", here or "", here)]
            homes = [row["task_id"] for row in ledgers]
            rows = queries.facts(statuses, _MOST_READ, homes) if homes else []
            facts += [fact for fact in self._read_facts(tx, rows) if entity is None or fact.entity == entity]
        return with_columns(tx, facts, heads, history=len(statuses) > 1)

    def _read_facts(self, tx: Tx, rows: Sequence[Row]) -> tuple[Fact, ...]:
        labels = FactQueries(tx).own_labels(list(dict.fromkeys(row["task_id"] for row in rows)))
        return tuple(read_fact(row, labels) for row in rows)


def _tagged(tx: Tx, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Add tags to the facts that are returned; this takes a query for each task."""
    seqs: dict[str, list[int]] = {}
    for fact in facts:
        if not fact.derived:
            seqs.setdefault(fact.task_id, []).append(fact.seq)
    labels = {task_id: tx.labels(task_id, numbers) for task_id, numbers in seqs.items()}

    def tagged(fact: Fact) -> Fact:
        tags = labels.get(fact.task_id, {}).get(fact.seq, {}).get("tag")
        return fact.replace(tags=tuple(tags)) if tags and not fact.derived else fact

    return tuple(map(tagged, facts))


def _own_value(key: str | None, value: Any) -> Any:
    """Validate the value of a key that sets a column or time of a task."""
    if key == "title":
        validate.line("title", value, 500)
    elif key == "status":
        foreign_statuses.read_task_status(validate.line("status", value), "active-tasks")
    elif key == "next":
        validate.text("next", value, 2000)
    elif key in GOALS:
        validate.text(key, value, 500)
    elif key in TIMES:
        validate.moment(key, value)
    return value


def _column_changes(tx: Tx, head: Row, key: str, value: Any, now: str) -> dict[str, Any]:
    """The columns that a fact sets in its task."""
    if key == "title":
        return {"heads": {"name": value.strip()}}
    if key == "next":
        return {"heads": {"next_step": value or None}}
    if key == "status":
        return {"heads": status_heads(head, value, now)}
    if key in GOALS:
        links = goal_links(tx, head, value)
        return {"links": links} if links or FactQueries(tx).links(head["task_id"]) else {}
    return {}


def status_heads(head: Row, word: str, now: str) -> dict[str, Any]:
    """The columns of a task that a status, ours or another project's, changes."""
    status, phase, reason = foreign_statuses.read_task_status(word, "active-tasks")
    heads = {"status": status, **status_changes(head, status, reason, now)}
    if phase is not None:
        heads |= {"phase": phase, **rules.phase_stamps(head, phase, now)}
    return {name: value for name, value in heads.items() if head.get(name) != value}


def goal_links(tx: Tx, head: Row, target: str) -> list[dict[str, Any]]:
    """The links that make `target` the only goal of a task; none if it is empty."""
    links = [
        {**{name: value for name, value in row.items() if name != "task_id"}, "status": "removed"}
        for row in FactQueries(tx).links(head["task_id"])
        if row["kind"] == "goal" and row["target"] != target
    ]
    if target:
        links.append({"kind": "goal", "target": target, "seq": head["last_seq"] + 1, "status": "active"})
    return links


def _supersede(tx: Tx, head: Row, draft: Draft, ended: Sequence[tuple[str, int]]) -> None:
    """Let a fact supersede others of the same ledger."""
    for task_id, seq in ended:
        row = tx.record(head["task_id"], seq) if task_id == head["task_id"] else None
        if row is None or row["type"] not in ("fact", "variable", "discovery"):
            raise NotFound(
                "record_not_found",
                f"{task_id}#{seq} is not a fact about the same entity.",
                "A fact can supersede others of its task or, without a task, of its scope.",
            )
        rules.check_transition(rules.ENTRY_TRANSITIONS, f"Fact #{seq}", row["status"], "superseded")
        closed = {"status": "superseded", "ref_seq": head["last_seq"] + 1}
        draft.sets.setdefault("records", {})[str(seq)] = closed


def _citation(name: Any) -> tuple[str, int]:
    """The task and number in the id of a fact."""
    task_id, _, number = validate.text("id", name, 200).partition("#")
    plain = rules.normal_id(task_id)
    if plain is None or len(plain) != rules.ID_LENGTH or not (number.isascii() and number.isdecimal()):
        raise InvalidInput(
            "invalid_argument", f"{shown(name)} is not the id of a fact.", "Ids look like 7k3m9xq2wd#12."
        )
    return plain, validate.whole("the number of the fact", int(number[:19]), 1, 1 << 62)


def _ids(value: Any) -> list[tuple[str, int]]:
    names = [] if value is None else value if is_list(value) else [value]
    return [_citation(name) for name in names]
