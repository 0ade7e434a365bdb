"""Proposals to the user: list them, accept them, reject them."""

from __future__ import annotations

import json
from typing import Any

from ..ledger.base import Base, Draft, written
from ..ledger.one_transaction import OneTransaction
from ..ledger.proposals import ACCEPTED, KIND, PROPOSED, REJECTED, open_rows, read_proposal
from ..ledger.values import read_origin
from ..model import validate
from ..model.errors import Conflict, NotFound
from ..model.operation import declared, operation
from ..model.trust import may_overrule
from ..model.types import Proposal, Written, is_dict
from ..store.tx import Row, Tx


class Proposing(Base):
    """Operations on proposals."""

    @operation(scope="read")
    def task_proposals(self, task_id: str | None = None) -> tuple[Proposal, ...]:
        """List what agents proposed to the user and the user has not decided yet, oldest first."""
        return self.store.read(
            lambda tx: tuple(map(read_proposal, open_rows(tx, self._find(tx, task_id)["task_id"])))
        )

    @operation(scope="write", example={"proposal": 12})
    def task_accept(self, task_id: str | None = None, *, proposal: int, reason: str | None = None) -> Written:
        """Accept a proposal: what it asks for is done now. Only the user can do this.

        The proposed words stay marked as those of the agent that wrote them.

        Args:
            proposal: Number of the proposal.
            reason: A remark.
        """
        number = validate.whole("proposal", proposal, 1, 1 << 62)
        reason = self._text("reason", reason)
        self._check_user(number)

        def work(tx: Tx) -> tuple[Written, str]:
            head = self._find(tx, task_id, lock=True)
            row = _open_proposal(tx, head, number)
            done = self._carry_out(tx, head, row)
            head = self._find(tx, head["task_id"], lock=True)
            self._decide(tx, head, number, ACCEPTED, reason)
            # The result names the event of the call, not the acceptance that follows it.
            fresh = self._find(tx, head["task_id"])
            return written(fresh, done.seq, Draft("", warnings=done.warnings)), head["task_id"]

        return self._commit(work, tasks=lambda result: (result[1], result[0].task_id))[0]

    @operation(scope="write", example={"proposal": 12})
    def task_reject(self, task_id: str | None = None, *, proposal: int, reason: str | None = None) -> Written:
        """Reject a proposal; nothing else changes. Its author may withdraw it this way.

        Args:
            proposal: Number of the proposal.
            reason: Why.
        """
        number = validate.whole("proposal", proposal, 1, 1 << 62)
        reason = self._text("reason", reason)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            row = _open_proposal(tx, head, number)
            if not may_overrule(self._authority, row["channel"]):
                self._check_user(number)
            return _decided(head, number, REJECTED, reason)

        return self._write("task_reject", task_id, decide, arguments=[number, reason])

    def _check_user(self, number: int) -> None:
        if self._authority != "user":
            raise Conflict(
                "needs_user",
                f"Only the user can decide about proposal #{number}.",
                "Ask the user: `ringbolt accept` on their terminal, or the page of the task.",
            )

    def _decide(self, tx: Tx, head: Row, number: int, status: str, reason: str | None) -> None:
        self._append(tx, head, _decided(head, number, status, reason), self._now(), "task_accept")

    def _carry_out(self, tx: Tx, head: Row, row: Row) -> Written:
        """Make the proposed call in this transaction, with the origin of its author and the rights of the
        user."""
        call: Any = json.loads(row["data"]).get("call")
        name: str = str(call.get("operation")) if is_dict(call) else ""
        given: Any = call.get("arguments") if is_dict(call) else None
        arguments: dict[str, Any] = dict(given) if is_dict(given) else {}
        method = getattr(type(self), name, None)
        known = declared(method)
        # An imported event may name anything.
        if known is None or known.scope != "write" or known.destructive or row["channel"] == "import":
            raise Conflict(
                "illegal_transition",
                f"Proposal #{row['seq']} does not name a call that can be made.",
                "Reject it with task_reject, and make the change yourself.",
            )
        origin = read_origin(row)
        store: Any = OneTransaction(tx, self.store)
        author = type(self)(
            store, self.settings, origin=origin, workspace=self.workspace, repository=self.repository,
            correlation=self._correlation, clock=self._clock, random=self._random, grant=self.grant,
        )  # fmt: skip
        author._authority = self._authority
        if "task_id" in known.parameters:
            arguments["task_id"] = head["task_id"]
        result = getattr(author, name)(**arguments)
        return result if isinstance(result, Written) else written(head, row["seq"], Draft(""))


def _open_proposal(tx: Tx, head: Row, number: int) -> Row:
    rows = tx.records(head["task_id"], KIND, (PROPOSED,), 1, seq=number)
    if rows:
        return rows[0]
    record = tx.record(head["task_id"], number)
    if record is not None and record["type"] == KIND:
        raise Conflict(
            "illegal_transition",
            f"Proposal #{number} is already {record['status']}.",
            "task_proposals lists the open ones.",
            current=record["status"],
        )
    raise NotFound(
        "record_not_found",
        f"#{number} is not a proposal of task {head['task_id']}.",
        "task_proposals lists them with their numbers.",
    )


def _decided(head: Row, number: int, status: str, reason: str | None) -> Draft:
    changed = {"status": status, "ref_seq": head["last_seq"] + 1}
    return Draft(f"proposal.{status}", text=reason, sets={"records": {str(number): changed}}, ref=number)
