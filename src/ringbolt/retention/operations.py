"""Operations that remove permanently: purge ended tasks, and forget everything from one source.

Without a token, both only report what they would remove, with a token that confirms exactly that for a short
time.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..core.tasks import statuses_in
from ..journal.event_files import Journal
from ..journal.side_files import forget_session
from ..ledger.base import Base, Draft
from ..ledger.values import read_origin
from ..model import rules, validate
from ..model.errors import Conflict, InvalidInput, StoreError
from ..model.operation import operation
from ..model.results import Removal
from ..model.trust import may_overrule
from ..model.validate import blake2b
from ..store import forgetting
from ..store.folding import Folder
from ..store.tombstones import all_texts
from ..store.tx import Row, Tx
from .forgetting import (
    AUDIT,
    Selection,
    Source,
    copies,
    jobs_about,
    originals,
    patterns_from,
    resumed,
    unknown_source,
    without_waits,
)

TOKEN_SECONDS = 600
MOST_TASKS = 1000
SHOWN = 100  # ids of tasks in a report
LOG = "log"  # the kind of the task that lists purged tasks
_KINDS = ("task", "goal")


class Retention(Base):
    """The operations that remove permanently."""

    @operation(
        scope="admin", tools="none", destructive=True, whole_store=True, example={"source": "session:S1"}
    )
    def forget(self, source: str, *, confirm: str | None = None) -> Removal:
        """Permanently remove everything from one source, leaving tombstones without content.

        Without `confirm` nothing changes: the result says what would be removed, and has a token; the same
        call with that token removes it. This cannot be undone.

        Args:
            source: KIND:NAME, where KIND is session, agent, host, principal, channel, correlation, task,
                event (`TASK#SEQ`), import (a tag), file (a path), url or text.
            confirm: The token from the same call without it. Valid for ten minutes, and only while the events
                to remove have not changed.
        """
        named = Source(source)
        policy = {"source": [named.kind, named.value]}
        check_form(confirm)
        selections = self.store.read(lambda tx: self._selections(tx, named))
        journal = self._journal()
        waiting = journal.count(named.is_of)
        if not selections and not waiting:
            raise unknown_source(named)
        self._check_forgettable(selections, waiting)
        contents = [[selection.task_id, selection.seqs] for selection in selections]
        removal = Removal(
            operation="forget",
            tasks=sum(bool(selection.seqs) for selection in selections),
            events=sum(len(selection.own) for selection in selections),
            carried=sum(len(selection.carried) for selection in selections),
            waiting=waiting,
            task_ids=tuple(selection.task_id for selection in selections if selection.seqs)[:SHOWN],
        )
        if confirm is None:
            return self._offered(removal, policy, [*contents, waiting])
        self._check_token(confirm, "forget", policy, [*contents, waiting])
        # First the events in the journal, so that they do not arrive after the rest is gone.
        journal.drop(named.is_of)
        if named.kind in ("session", "agent", "host"):
            self._drop_side_files({named.value} if named.kind == "session" else _sessions(selections))
        for selection in selections:
            if selection.seqs:
                self._commit(
                    lambda tx, s=selection: self._forget_selected(tx, s.task_id, s.own, named.kind),
                    tasks=lambda _: (),
                )
        heads = self.store.read(lambda tx: [tx.head(selection.task_id) for selection in selections])
        return self._ended(removal, [head for head in heads if head], gone=False)

    @operation(scope="admin", tools="none", destructive=True, example={"older_than": "90d"})
    def purge(
        self,
        *,
        older_than: str | int | None = None,
        status: str | Sequence[str] = "ended",
        archived: bool = True,
        workspace: str | None = "",
        kind: str | None = None,
        task_id: str | None = None,
        limit: int = MOST_TASKS,
        confirm: str | None = None,
    ) -> Removal:
        """Permanently remove tasks that have ended and have not changed for some time, with all their
        content.

        Open tasks, and tasks that open ones depend on, are never removed. Without `confirm` nothing changes:
        the result says what would be removed, and has a token; the same call with that token removes it. Only
        a log of which tasks were purged, when and by whom, remains. This cannot be undone.

        Args:
            older_than: Only tasks that have not changed for this long: 90d, 1d12h, or a number of minutes.
            status: ended, or one or several statuses of ended tasks.
            archived: Only archived tasks; false: other ended tasks too.
            kind: `task` or `goal`. Default: both.
            task_id: One task, instead of an age.
            limit: Maximum number of tasks to remove in one call.
            confirm: The token from the same call without it. Valid for ten minutes, and only while the tasks
                to remove have not changed.
        """
        policy = self._policy(older_than, status, archived, workspace, kind, task_id, limit)
        check_form(confirm)
        heads = self.store.read(lambda tx: self._purgeable(tx, policy))
        self.store.read(lambda tx: self._check_removable(tx, heads))
        removal = Removal(
            operation="purge",
            tasks=len(heads),
            events=sum(head["last_seq"] for head in heads),
            task_ids=tuple(head["task_id"] for head in heads)[:SHOWN],
        )
        if confirm is None:
            return self._offered(removal, policy, _ends(heads))

        def work(tx: Tx) -> list[Row]:
            again = self._purgeable(tx, policy, lock=True)
            self._check_token(confirm, "purge", policy, _ends(again))
            self._check_removable(tx, again)
            if again:
                self._log_purge(tx, again)
            for head in again:
                forgetting.delete_task(tx, head["task_id"])
            return again

        return self._ended(removal, self._commit(work, tasks=lambda _: ()), gone=True)

    # --- selecting --------------------------------------------------------------------------------

    def _selections(self, tx: Tx, source: Source) -> list[Selection]:
        """What came from a source, task by task, with what other tasks and goals copied from it."""
        wanted: dict[str, set[int]] = {}
        logs = forgetting.purge_logs(tx)  # the log of purges holds no content
        for row in source.events(tx, lambda name: self._find(tx, name)["task_id"]):
            if row["event_type"] != AUDIT and row["task_id"] not in logs:
                wanted.setdefault(row["task_id"], set()).add(row["seq"])
        if source.kind == "event":  # of a copy, the original too
            for task_id, seq in originals(tx, wanted):
                wanted.setdefault(task_id, set()).add(seq)
        selections = {task_id: Selection(tx, task_id, seqs) for task_id, seqs in wanted.items()}
        unread = list(selections.values())
        while unread:  # a copy may have been copied again
            for task_id, seqs in copies(tx, unread.pop()).items():
                if seqs - wanted.get(task_id, set()):
                    wanted.setdefault(task_id, set()).update(seqs)
                    selections[task_id] = Selection(tx, task_id, wanted[task_id])
                    unread.append(selections[task_id])
        for selection in list(selections.values()):
            for promotion in forgetting.promoted_from(tx, selection.task_id):
                goal = promotion["task_id"]
                taken = {
                    row["seq"]
                    for row in tx.events(goal, 0, forgetting.PAGE, promotion["seq"])
                    if selection.holds(all_texts(row, keys=False))
                }
                if taken - wanted.get(goal, set()):
                    wanted.setdefault(goal, set()).update(taken)
                    selections[goal] = Selection(tx, goal, wanted[goal])
        return [selections[task_id] for task_id in sorted(selections)]

    def _policy(
        self, older_than: Any, status: Any, archived: Any, workspace: Any, kind: Any, task_id: Any, limit: Any
    ) -> dict[str, Any]:
        """Validate the arguments of a purge."""
        if (older_than is None) == (task_id is None):
            raise InvalidInput(
                "invalid_argument",
                "purge needs an age or a task.",
                "Pass older_than, for example 90d, or a task_id; not both.",
            )
        statuses = statuses_in(status)
        if still := [word for word in statuses if word in rules.OPEN]:
            raise InvalidInput(
                "invalid_argument",
                f"Tasks that are {' or '.join(still)} cannot be purged.",
                f"Use ended, or some of: {', '.join(rules.ENDED)}.",
            )
        return {
            "minutes": None if older_than is None else rules.parse_duration("older_than", older_than),
            "statuses": statuses,
            "archived": bool(archived),
            "workspace": validate.optional(
                "workspace", self.workspace if workspace == "" else workspace, 4000
            ),
            "kinds": list(_KINDS) if kind is None else [validate.choice("kind", kind, _KINDS)],
            "task_id": validate.optional("task_id", task_id, 100_000),
            "limit": validate.whole("limit", limit, 1, MOST_TASKS),
        }

    def _purgeable(self, tx: Tx, policy: Mapping[str, Any], lock: bool = False) -> list[Row]:
        """The tasks that a policy selects, the oldest first."""
        if policy["task_id"] is not None:
            head = self._find(tx, policy["task_id"], lock=lock)
            self._check_purgeable(tx, head)
            return [head]
        before = validate.stamp(max(0.0, self._clock() - 60 * policy["minutes"]))
        heads = forgetting.purgeable(
            tx, policy["statuses"], policy["kinds"], before, policy["workspace"], policy["archived"],
            policy["limit"],
        )  # fmt: skip
        return [tx.head(head["task_id"], lock=True) or head for head in heads] if lock else heads

    def _check_purgeable(self, tx: Tx, head: Row) -> None:
        name = head["task_id"]
        if head["kind"] not in _KINDS:
            raise Conflict(
                "illegal_transition", f"{name} is not a task; its kind is {head['kind']}.", "Name a task."
            )
        if head["status"] in rules.OPEN:
            raise Conflict(
                "illegal_transition",
                f"Task {name} is {head['status']}; only ended tasks can be purged.",
                "If its work is over, end it with task_finish first.",
                current=head["status"],
            )
        if forgetting.has_open_dependents(tx, name):
            raise Conflict(
                "illegal_transition",
                f"{name} is the parent or goal of open tasks.",
                "End those, or remove the link with task_link, first.",
            )

    # --- trust ------------------------------------------------------------------------------------

    def _check_forgettable(self, selections: Sequence[Selection], waiting: int) -> None:
        """Raise if this caller may not forget these events; waiting events count as the user's."""
        if self._authority == "user":
            return
        authors = {selection.rows[seq]["channel"] for selection in selections for seq in selection.seqs} | (
            {"user"} if waiting else set[str]()
        )
        self._check_authors("forget", authors)

    def _check_removable(self, tx: Tx, heads: Sequence[Row]) -> None:
        """Raise if a task has events of an author whom this caller may not overrule."""
        if self._authority == "user":
            return
        for head in heads:
            self._check_authors("purge", forgetting.authors_of(tx, head["task_id"]))

    def _check_authors(self, operation: str, authors: Iterable[str]) -> None:
        for author in sorted(authors):
            if not may_overrule(self._authority, author):
                raise Conflict(
                    "needs_user",
                    f"This would remove words of the {author}, which the {self._authority} may not do.",
                    f"Ask the user to run `ringbolt {operation}`.",
                )

    # --- tokens -----------------------------------------------------------------------------------

    def _offered(self, removal: Removal, policy: Mapping[str, Any], contents: Any) -> Removal:
        until = int(self._clock()) + TOKEN_SECONDS
        return removal.replace(
            token=self._token(until, removal.operation, policy, contents),
            expires_at=validate.stamp(until),
            elsewhere=self._elsewhere(),
        )

    def _token(self, until: int, operation: str, policy: Mapping[str, Any], contents: Any) -> str:
        content = validate.dumps([until, operation, policy, contents]).encode("utf-8", "backslashreplace")
        return f"{until:x}-{blake2b(content, digest_size=12).hexdigest()}"

    def _check_token(self, token: str, operation: str, policy: Mapping[str, Any], contents: Any) -> None:
        """Raise unless a token was recently issued for exactly this removal."""
        until = int(token.partition("-")[0], 16)
        again = f"Call {operation} without confirm again, check its report, and use the new token."
        if not 0 <= until - self._clock() <= TOKEN_SECONDS:
            raise Conflict("stale_version", "The token has expired.", again)
        if token != self._token(until, operation, policy, contents):
            raise Conflict(
                "stale_version", "The token does not match: the content to remove has changed.", again
            )

    # --- removing ---------------------------------------------------------------------------------

    def _forget_selected(self, tx: Tx, task_id: str, seqs: set[int], kind: str) -> None:
        """Forget events of a task, in one transaction with everything derived from them.

        The state of a task is folded from its events. After the events are replaced by tombstones it is
        folded again from scratch, so that no column keeps a text whose event is gone.
        """
        head = self._find(tx, task_id, lock=True)
        selection = Selection(tx, task_id, seqs)  # again, as events that repeat the content may be new
        patterns, moot = patterns_from(tx, selection), jobs_about(tx, selection)
        spared = selection.spared(tx.extras(task_id)["metadata"])
        forgetting.write_tombstones(tx, task_id, selection.tombstones())
        folder = Folder()
        row: Row = {"task_id": task_id, "root_id": head["root_id"]}
        for event in forgetting.iterate_events(tx, task_id):
            folder.fold(row, event, read_origin(event))
        forgetting.replace_state(tx, folder, task_id)
        forgetting.reset_distilled(tx, task_id)
        forgetting.delete_patterns(tx, patterns)
        forgetting.delete_jobs(tx, moot)
        data = {"source": kind, "events": len(selection.own), "carried": len(selection.carried) or None}
        fresh = tx.head(task_id, lock=True) or head
        sets = {"heads": resumed(tx, fresh)}
        spared = without_waits(spared, selection, self._now())
        # This event sets metadata of other sources again if a forgotten event had set it.
        if tx.extras(task_id)["metadata"] != spared:
            sets["extras"] = {"metadata": spared}
        draft = Draft(AUDIT, data=data, sets={table: row for table, row in sets.items() if row})
        self._append(tx, fresh, draft, self._now(), "forget")

    def _log_purge(self, tx: Tx, heads: Sequence[Row]) -> None:
        """Log the tasks before they are purged, so that the highest position of the store is kept."""
        tx.database.lock("retention")
        now = self._now()
        log = next((head for name in forgetting.purge_logs(tx) if (head := tx.head(name, lock=True))), None)
        if log is None:
            log = {"task_id": self._new_id(tx), "kind": LOG, "name": "Purged tasks"}
            log.update(root_id=log["task_id"], status="completed", phase="received", archived_at=now)
            sets = {"heads": {name: log[name] for name in ("kind", "name", "status", "phase", "archived_at")}}
            self._append(tx, log, Draft("task.registered", sets={**sets, "+extras": {}}), now, "purge")
        for head in heads:
            draft = Draft(
                "purged",
                data={"task": head["task_id"], "events": head["last_seq"], "status": head["status"]},
                record={"type": "purged", "status": "active", "key": head["task_id"]},
            )
            self._append(tx, log, draft, now, "purge")

    def _ended(self, removal: Removal, heads: Sequence[Row], gone: bool) -> Removal:
        """Also erase the bytes: from the free pages of the store, and from the mirrors."""
        warnings: list[str] = []
        try:
            scrubbed = self.store.scrub()
        except StoreError as error:
            scrubbed = False
            warnings.append(error.message)
        left: tuple[str, ...] = ()
        if self._mirrors is not None:
            left = self._mirrors.cleared(heads, gone)
        if not scrubbed:
            warnings.append("free pages of the store still hold old content: repeat the call to clear them")
        return removal.replace(
            done=True, scrubbed=scrubbed, warnings=tuple(warnings), elsewhere=(*left, *self._elsewhere())
        )

    def _elsewhere(self) -> tuple[str, ...]:
        """Copies that only their owner may remove."""
        if not (files := self.store.files()):
            return ()
        folder, name = os.path.split(files[0])
        return tuple(
            os.path.join(folder, copy)
            for copy in sorted(os.listdir(folder))
            if copy.startswith(f"{name}.before-restore")
        )

    def _drop_side_files(self, sessions: set[str]) -> None:
        """Remove the files that hooks keep about sessions."""
        journal = self._journal()
        for session in sessions:
            forget_session(journal, session)

    def _journal(self) -> Journal:
        return Journal.of(self.store.url, self.settings.tenant)


def _sessions(selections: Sequence[Selection]) -> set[str]:
    """The sessions that wrote the forgotten events."""
    return {
        session
        for selection in selections
        for seq in selection.own
        if (session := selection.rows[seq]["session"])
    }


def _ends(heads: Sequence[Row]) -> list[Any]:
    return [[head["task_id"], head["last_seq"], head["last_hash"].hex()] for head in heads]


def check_form(token: Any) -> None:
    """Raise unless a token is None or has the form of one that a dry run issued."""
    if token is None:
        return
    until, _, digest = validate.line("confirm", token, 100).partition("-")
    if not all(part and set(part) <= set("0123456789abcdef") for part in (until, digest)) or len(until) > 12:
        raise InvalidInput(
            "invalid_argument",
            "confirm is not the token of a dry run.",
            "Make the same call without confirm first: it reports what it would remove, with a token.",
        )
