"""Claims: one agent at a time, with a lease, a heartbeat and a fencing token."""

from __future__ import annotations

from typing import Any

from ..ledger.base import Base, Draft, check_guards, step_id, written
from ..model import validate
from ..model.errors import Conflict
from ..model.operation import operation
from ..model.types import Written
from ..store.tx import Row, Tx


class Claims(Base):
    """Operations on claims."""

    @operation(scope="write")
    def task_claim(
        self,
        task_id: str | None = None,
        *,
        step: str | int | None = None,
        holder: str | None = None,
        lease_seconds: float | None = None,
        reclaim: str | None = None,
        key: str | None = None,
    ) -> Written:
        """Claim a task, or one of its steps, for this agent; the result holds the fencing token.

        A claim lasts for its lease; task_heartbeat renews it. Anyone can claim after it has expired, but a
        live claim can only be taken with `reclaim`. Once someone else has claimed the task, writes from this
        memory fail with `stale_token`.

        Args:
            step: Step to claim: its id, its number from 1, or its title or a unique prefix of the title.
                Default: the whole task.
            holder: Who claims. Default: agent and session, otherwise the principal.
            lease_seconds: How long the claim lasts without a heartbeat. Default: the setting `lease_seconds`.
            reclaim: Reason for taking a claim that is still alive. It is stored.
        """
        who = validate.line("holder", holder or _default_holder(self), 200)
        lease = self._lease(lease_seconds)
        why = None if reclaim is None else validate.line("reclaim", reclaim, 2000)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            claimed = _claimed_item(tx, head, step)
            claims = tx.claims(head["task_id"])
            old = next((row for row in claims if row["item_id"] == claimed), None)
            reason = None
            if old is not None and old["status"] == "held":
                alive = old["expires_at"] > now
                if alive and old["holder"] != who and why is None:
                    raise Conflict(
                        "already_claimed",
                        f"{old['holder']} holds {_named(head, claimed)} until {old['expires_at']}.",
                        "Choose another one, wait, or pass a reason as `reclaim`.",
                        holder=old["holder"],
                        expires_at=old["expires_at"],
                    )
                reason = why or (None if old["holder"] == who else "lease expired")
            # Numbered across the whole task, so that a token identifies one claim.
            token = max((row["token"] for row in claims), default=0) + 1
            expires_at = validate.stamp(self._clock() + lease)
            row = {
                "item_id": claimed,
                "holder": who,
                "token": token,
                "status": "held",
                "reason": reason,
                "expires_at": expires_at,
            }
            return Draft(
                "claim.taken",
                text=reason,
                data={"holder": who, "token": token, "from": old["holder"] if reason and old else None},
                sets={"claims": [row]},
                item=claimed or None,
                token=token,
                expires_at=expires_at,
            )

        # Not fenced: taking a claim again must not fail because of the one that was lost.
        result = self._write(
            "task_claim",
            task_id,
            decide,
            key=key,
            fenced=False,
            arguments=[step, who, lease_seconds, reclaim],
        )
        if result.token is not None:
            claims = self.store.read(lambda tx: tx.claims(result.task_id))
            # A repeated keyed call may find that its claim has been taken over.
            names = [row["item_id"] for row in claims if row["token"] == result.token]
            self._tokens.setdefault(result.task_id, {}).update(dict.fromkeys(names, result.token))
        return result

    @operation(scope="write")
    def task_heartbeat(
        self,
        task_id: str | None = None,
        *,
        step: str | int | None = None,
        token: int | None = None,
        lease_seconds: float | None = None,
    ) -> Written:
        """Renew a claim for another lease. Heartbeats leave no events.

        Args:
            step: The claimed step. Default: the whole task.
            lease_seconds: How long the claim lasts without a heartbeat. Default: the setting `lease_seconds`.
        """
        lease = self._lease(lease_seconds)
        check_guards(token)

        def work(tx: Tx) -> Written:
            head = self._find(tx, task_id, lock=True)
            claimed = _claimed_item(tx, head, step)
            row = self._held(tx, head, claimed, token)
            expires_at = validate.stamp(self._clock() + lease)
            tx.renew_claim(head["task_id"], claimed, expires_at)
            draft = Draft("claim.renewed", token=row["token"], expires_at=expires_at)
            return written(head, head["last_seq"], draft)

        return self._commit(work)

    @operation(scope="write")
    def task_release(
        self,
        task_id: str | None = None,
        *,
        step: str | int | None = None,
        token: int | None = None,
        reason: str | None = None,
        key: str | None = None,
    ) -> Written:
        """Release a claim, so that another agent can continue.

        Args:
            step: The claimed step. Default: the whole task.
            reason: Why.
        """
        reason = validate.optional("reason", reason, 2000)
        check_guards(token)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            claimed = _claimed_item(tx, head, step)
            row: dict[str, Any] = dict(self._held(tx, head, claimed, token))
            row.pop("task_id")
            row.update(status="released", reason=reason)
            return Draft(
                "claim.released",
                text=reason,
                data={"holder": row["holder"], "token": row["token"]},
                sets={"claims": [row]},
                item=claimed or None,
                token=row["token"],
            )

        result = self._write(
            "task_release", task_id, decide, key=key, fenced=False, arguments=[step, token, reason]
        )
        own = self._tokens.get(result.task_id, {})
        self._tokens[result.task_id] = {name: held for name, held in own.items() if held != result.token}
        return result

    def _lease(self, seconds: float | None) -> float:
        if seconds is None:
            return self.settings.lease_seconds
        return validate.number("lease_seconds", seconds, 1, 604_800)

    def _held(self, tx: Tx, head: Row, claimed: str, token: int | None) -> Row:
        own = self._tokens.get(head["task_id"], {}).get(claimed) if token is None else token
        row = next((row for row in tx.claims(head["task_id"]) if row["item_id"] == claimed), None)
        if row is None or row["status"] != "held" or row["token"] != own:
            raise Conflict(
                "stale_token",
                f"The claim on {_named(head, claimed)} is not yours.",
                "Stop working on it, or claim it again before you continue.",
            )
        return row


def _default_holder(memory: Base) -> str:
    origin = memory.origin
    return "/".join(part for part in (origin.agent, origin.session) if part) or origin.principal


def _claimed_item(tx: Tx, head: Row, item: str | int | None) -> str:
    return step_id(tx, head, item) or ""


def _named(head: Row, item_id: str) -> str:
    return f"step {item_id} of task {head['task_id']}" if item_id else f"task {head['task_id']}"
