"""Retention: purging tasks that have ended, and forgetting what came from one source, for good.

Both say first what they would take away, with a token that is good for exactly that, and for a short time.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.tasks import _statuses  # pyright: ignore[reportPrivateUsage]
from ..journal.event_files import Journal
from ..journal.side_files import forget_session
from ..ledger.base import Base, Draft
from ..ledger.values import read_origin
from ..model import rules, validate
from ..model.errors import Conflict, InvalidInput, StoreError
from ..model.results import Removal
from ..model.validate import blake2b
from ..store import forgetting, scratch
from ..store.tombstones import written
from ..store.tx import Row, Tx
from .forgetting import AUDIT, Grave, Source, goes_on, idle_jobs, rest_on, unknown_source, without_waits

TOKEN_SECONDS = 600
MOST_TASKS = 1000
SHOWN = 100  # ids of tasks in an answer
LOG = "log"  # the kind of the task that says what was purged
_KINDS = ("task", "goal")


class Retention(Base):
    """The operations that take away."""

    def forget(self, source: str, *, confirm: str | None = None) -> Removal:
        """Remove what came from one source, everywhere, and leave tombstones without content.

        A source is `session:S`, `agent:A`, `host:H`, `principal:P`, `channel:C`, `correlation:ID`, `task:ID`,
        `event:TASK#SEQ`, `import:TAG`, `file:PATH`, `url:URL` or `text:WORDS`. Without `confirm` nothing
        changes: the answer says what would go, with a token; the same call with that token does it. It cannot
        be undone.
        """
        named = Source(source)
        policy = {"source": [named.kind, named.value]}
        check_form(confirm)
        graves = self.store.read(lambda tx: self._graves(tx, named))
        journal = self._journal()
        waiting = journal.count(named.is_of)
        if not graves and not waiting:
            raise unknown_source(named)
        contents = [[grave.task_id, grave.seqs] for grave in graves]
        found = Removal(
            operation="forget",
            tasks=sum(bool(grave.seqs) for grave in graves),
            events=sum(len(grave.own) for grave in graves),
            carried=sum(len(grave.carried) for grave in graves),
            waiting=waiting,
            task_ids=tuple(grave.task_id for grave in graves if grave.seqs)[:SHOWN],
        )
        if confirm is None:
            return self._offered(found, policy, [*contents, waiting])
        self._check_token(confirm, "forget", policy, [*contents, waiting])
        # First what is not written yet, so that it does not come after the rest has gone.
        journal.drop(named.is_of)
        if named.kind in ("session", "agent", "host"):
            self._drop_side_files({named.value} if named.kind == "session" else _sessions(graves))
        for grave in graves:
            if grave.seqs:
                self._commit(
                    lambda tx, g=grave: self._bury(tx, g.task_id, g.own, named.kind), tasks=lambda _: ()
                )
        heads = self.store.read(lambda tx: [tx.head(grave.task_id) for grave in graves])
        return self._ended(found, [head for head in heads if head], gone=False)

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
        """Remove tasks that have ended and were not changed for a time, with all that belongs to them.

        `older_than` is a duration such as `90d`; or name one task. Tasks that are open, or on which open ones
        hang, are never removed. Without `confirm` nothing changes: the answer says what would go, with a
        token; the same call with that token does it. What is left is a line that says which tasks there were,
        when and by whom they were purged. It cannot be undone.
        """
        policy = self._policy(older_than, status, archived, workspace, kind, task_id, limit)
        check_form(confirm)
        heads = self.store.read(lambda tx: self._purgeable(tx, policy))
        found = Removal(
            operation="purge",
            tasks=len(heads),
            events=sum(head["last_seq"] for head in heads),
            task_ids=tuple(head["task_id"] for head in heads)[:SHOWN],
        )
        if confirm is None:
            return self._offered(found, policy, _ends(heads))

        def work(tx: Tx) -> list[Row]:
            again = self._purgeable(tx, policy, lock=True)
            self._check_token(confirm, "purge", policy, _ends(again))
            if again:
                self._log_purge(tx, again)
            for head in again:
                forgetting.remove(tx, head["task_id"])
            return again

        return self._ended(found, self._commit(work, tasks=lambda _: ()), gone=True)

    # --- what would go ----------------------------------------------------------------------------

    def _graves(self, tx: Tx, source: Source) -> list[Grave]:
        """What came from a source, task by task: also what goals have taken over from those tasks."""
        wanted: dict[str, set[int]] = {}
        logs = forgetting.logs(tx)  # what was purged has no words
        for row in source.events(tx, lambda name: self._find(tx, name)["task_id"]):
            if row["event_type"] != AUDIT and row["task_id"] not in logs:
                wanted.setdefault(row["task_id"], set()).add(row["seq"])
        graves = {task_id: Grave(tx, task_id, seqs) for task_id, seqs in wanted.items()}
        for grave in list(graves.values()):
            for promotion in forgetting.promoted_from(tx, grave.task_id):
                goal = promotion["task_id"]
                taken = {
                    row["seq"]
                    for row in tx.events(goal, 0, forgetting.PAGE, promotion["seq"])
                    if grave.holds(written(row, keys=False))
                }
                if taken - wanted.get(goal, set()):
                    wanted.setdefault(goal, set()).update(taken)
                    graves[goal] = Grave(tx, goal, wanted[goal])
        return [graves[task_id] for task_id in sorted(graves)]

    def _policy(
        self, older_than: Any, status: Any, archived: Any, workspace: Any, kind: Any, task_id: Any, limit: Any
    ) -> dict[str, Any]:
        """What to purge, with every argument checked."""
        if (older_than is None) == (task_id is None):
            raise InvalidInput(
                "invalid_argument",
                "A purge needs an age or a task.",
                "Give older_than, for example 90d, or a task_id; not both.",
            )
        statuses = _statuses(status)
        if still := [word for word in statuses if word in rules.OPEN]:
            raise InvalidInput(
                "invalid_argument",
                f"Tasks that are {' or '.join(still)} are never purged.",
                f"Use ended, or some of: {', '.join(rules.ENDED)}.",
            )
        return {
            "minutes": None if older_than is None else rules.parse_duration("older_than", older_than),
            "statuses": statuses,
            "archived": bool(archived),
            "workspace": validate.optional(
                "workspace", self.workspace if workspace == "" else workspace, 4000
            ),
            "kinds": list(_KINDS) if kind is None else [validate.word("kind", kind, _KINDS)],
            "task_id": validate.optional("task_id", task_id, 100_000),
            "limit": validate.whole("limit", limit, 1, MOST_TASKS),
        }

    def _purgeable(self, tx: Tx, policy: Mapping[str, Any], lock: bool = False) -> list[Row]:
        """The tasks that a policy means, the oldest first."""
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
                "illegal_transition", f"{name} is no task but the home of {head['kind']}.", "Name a task."
            )
        if head["status"] in rules.OPEN:
            raise Conflict(
                "illegal_transition",
                f"Task {name} is {head['status']}; only what has ended can be purged.",
                "If its work is over, end it with task_finish first.",
                current=head["status"],
            )
        if forgetting.hangs(tx, name):
            raise Conflict(
                "illegal_transition",
                f"Open tasks hang on {name}, as their parent or goal.",
                "End those, or untie them with task_link, first.",
            )

    # --- tokens -----------------------------------------------------------------------------------

    def _offered(self, found: Removal, policy: Mapping[str, Any], contents: Any) -> Removal:
        until = int(self._clock()) + TOKEN_SECONDS
        return found.replace(
            token=self._token(until, found.operation, policy, contents),
            expires_at=validate.stamp(until),
            elsewhere=self._elsewhere(),
        )

    def _token(self, until: int, operation: str, policy: Mapping[str, Any], contents: Any) -> str:
        said = validate.dumps([until, operation, policy, contents])
        return f"{until:x}-{blake2b(said.encode('utf-8', 'backslashreplace'), digest_size=12).hexdigest()}"

    def _check_token(self, token: str, operation: str, policy: Mapping[str, Any], contents: Any) -> None:
        """Raise unless a token was given out for this, not long ago."""
        until = int(token.partition("-")[0], 16)
        again = f"Call {operation} without confirm again, look at what it says, and use the new token."
        if not 0 <= until - self._clock() <= TOKEN_SECONDS:
            raise Conflict("stale_version", "The token has expired.", again)
        if token != self._token(until, operation, policy, contents):
            raise Conflict(
                "stale_version", "The token is for something else: what would go has changed since.", again
            )

    # --- taking away ------------------------------------------------------------------------------

    def _bury(self, tx: Tx, task_id: str, seqs: set[int], kind: str) -> None:
        """Forget events of a task, with the state and all else that follows from them, in one transaction."""
        head = self._find(tx, task_id, lock=True)
        grave = Grave(tx, task_id, seqs)  # what carries it along may have come meanwhile
        patterns, idle = rest_on(tx, grave), idle_jobs(tx, grave)
        spared = grave.spared(tx.extras(task_id)["metadata"])
        forgetting.bury(tx, task_id, grave.stones())
        folder = scratch()
        row: Row = {"task_id": task_id, "root_id": head["root_id"]}
        for event in forgetting.whole_task(tx, task_id):
            folder.append(row, event, read_origin(event))
        forgetting.restate(tx, folder, task_id)
        forgetting.undistill(tx, task_id)
        forgetting.unlearn(tx, patterns)
        forgetting.drop_jobs(tx, idle)
        data = {"source": kind, "events": len(grave.own), "carried": len(grave.carried) or None}
        fresh = tx.head(task_id, lock=True) or head
        sets = {"heads": goes_on(tx, fresh)}
        spared = without_waits(spared, grave, self._now())
        # Metadata that others have set by events which carried along what is forgotten are set anew.
        if tx.extras(task_id)["metadata"] != spared:
            sets["extras"] = {"metadata": spared}
        draft = Draft(AUDIT, data=data, sets={table: row for table, row in sets.items() if row})
        self._append(tx, fresh, draft, self._now(), "forget")

    def _log_purge(self, tx: Tx, heads: Sequence[Row]) -> None:
        """Write down which tasks go, before they do: the newest number of the store must not go with them."""
        tx.database.lock("retention")
        now = self._now()
        log = next((head for name in forgetting.logs(tx) if (head := tx.head(name, lock=True))), None)
        if log is None:
            log = {"task_id": self._new_id(tx), "kind": LOG, "name": "What was purged"}
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

    def _ended(self, found: Removal, heads: Sequence[Row], gone: bool) -> Removal:
        """See to it that the bytes are gone, too: in the files of the store, and in the mirrors."""
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
            warnings.append("the file still has free room with old content: repeat the call to clear it")
        return found.replace(
            done=True, scrubbed=scrubbed, warnings=tuple(warnings), elsewhere=(*left, *self._elsewhere())
        )

    def _elsewhere(self) -> tuple[str, ...]:
        """Copies that we have made on someone's order, and that nobody but them may remove."""

        if not (files := self.store.files()):
            return ()
        folder, name = os.path.split(files[0])
        return tuple(
            os.path.join(folder, one)
            for one in sorted(os.listdir(folder))
            if one.startswith(f"{name}.before-restore")
        )

    def _drop_side_files(self, sessions: set[str]) -> None:
        """Remove what hooks keep beside the store about sessions."""
        journal = self._journal()
        for session in sessions:
            forget_session(journal, session)

    def _journal(self) -> Journal:
        return Journal.of(self.store.url, self.settings.tenant)


def _sessions(graves: Sequence[Grave]) -> set[str]:
    """The sessions in which was written what is forgotten."""
    return {session for grave in graves for seq in grave.own if (session := grave.rows[seq]["session"])}


def _ends(heads: Sequence[Row]) -> list[Any]:
    return [[head["task_id"], head["last_seq"], head["last_hash"].hex()] for head in heads]


def check_form(token: Any) -> None:
    """Raise unless a token, where one is given, can have been given out by a dry run."""
    if token is None:
        return
    until, _, digest = validate.line("confirm", token, 100).partition("-")
    if not all(part and set(part) <= set("0123456789abcdef") for part in (until, digest)) or len(until) > 12:
        raise InvalidInput(
            "invalid_argument",
            "confirm is no token of a dry run.",
            "Make the same call without confirm first: it says what would go, and gives the token.",
        )
