"""Operations on goals.

A goal is a task of kind `goal` in the same ledger; its criteria are records, and links connect tasks to it.
So a goal can be exported, searched, undone and verified like any task.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..core.tasks import Tasks
from ..ledger import goal_limits
from ..ledger.base import Base, Draft
from ..ledger.drafts import link_row
from ..ledger.goal_breaker import stop_if_spent
from ..ledger.looking import check_patience, gate_of, refused_look
from ..ledger.one_transaction import OneTransaction
from ..model import rules, validate
from ..model.capabilities import Power
from ..model.errors import Conflict, InvalidInput, NotFound, RingboltError, shown
from ..model.operation import operation
from ..model.results import GoalStatus
from ..model.trust import Overruled, may_overrule
from ..model.types import Written
from ..store.queries import goal_queries as queries
from ..store.tx import Row, Tx
from ..system.gate import POWER_OF, REFUSED
from . import criteria as criteria_rules
from .checks import read_target, run_check
from .reading import goal_status

MOST_GOALS = 50
# Checking a criterion looks at a file, runs a command or calls a URL.
CHECK_POWERS: tuple[Power, ...] = ("files", "commands", "egress")


class Goals(Base):
    """Operations on goals."""

    @operation(
        scope="write",
        powers={"callback_url": ("egress",), "criteria": CHECK_POWERS},
        example={
            "name": "The shop is live",
            "criteria": ["the owner is content", {"check": "http", "target": "https://shop.example/"}],
            "budget": {"attempts": 5},
        },
    )
    def goal_create(
        self,
        name: str,
        criteria: Sequence[Any] | None = None,
        *,
        description: str | None = None,
        request: str | None = None,
        budget: Mapping[str, Any] | None = None,
        blocker_limit: int = goal_limits.BLOCKER_LIMIT,
        workspace: str | None = "",
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        callback_url: str | None = None,
        key: str | None = None,
    ) -> Written:
        """Set a goal: what to achieve, and the criteria that show it.

        A criterion is a text, which a person decides, or {text, check, target} with the check `file` (a path
        that must exist), `command` (a list of words that must succeed; only if the operator allows commands)
        or `http` (a URL that must respond successfully). Link tasks to the goal with task_link.

        Args:
            name: Short name of the goal, at most 500 bytes.
            criteria: The criteria: texts, or objects {text, check, target} with the check file, command,
                http or manual.
            description: What to achieve, in detail.
            request: The user's request, word for word.
            budget: Limits: attempts (failed ones), tokens, seconds, cost.
            workspace: Its workspace. `""`: the workspace of this memory. `None`: no workspace.
            metadata: A JSON object.
            callback_url: URL that gets a POST when the goal ends.
        """
        wanted = self._read_criteria(criteria)
        fields = {
            "goal": description,
            "request": request,
            "workspace": workspace,
            "tags": tags,
            "callback_url": callback_url,
            "metadata": self._goal_metadata(metadata, budget, blocker_limit),
        }
        return self._commit(
            lambda tx: self._begin_goal(tx, name, wanted, fields, key)[0], settles=key is not None
        )

    @operation(
        scope="write",
        powers={"criteria": CHECK_POWERS},
        example={"criteria": [{"text": "it is built", "check": "file", "target": "dist/app.whl"}]},
    )
    def goal_promote(
        self,
        task_id: str | None = None,
        *,
        name: str | None = None,
        criteria: Sequence[Any] | None = None,
        budget: Mapping[str, Any] | None = None,
        blocker_limit: int = goal_limits.BLOCKER_LIMIT,
        key: str | None = None,
    ) -> Written:
        """Create a goal from a task, with its request, goal and acceptance criteria.

        The task itself is unchanged, and linked to the goal.

        Args:
            name: Short name of the goal. Default: the task's name.
            criteria: More criteria, besides the task's acceptance criteria; see goal_create.
            budget: Limits: attempts (failed ones), tokens, seconds, cost.
        """
        more = self._read_criteria(criteria)
        title = None if name is None else validate.line("name", name, 500)
        metadata = self._goal_metadata(None, budget, blocker_limit)

        def work(tx: Tx) -> Written:
            head = self._find(tx, task_id, lock=True)
            if head["kind"] != "task":
                raise Conflict(
                    "illegal_transition",
                    f"{head['task_id']} is not a task.",
                    "Only a task can be promoted to a goal.",
                )
            extras = tx.extras(head["task_id"])
            first = tx.event(head["task_id"], 1) or {}
            fields: dict[str, Any] = {
                "goal": extras["goal"],
                "request": first.get("text"),
                "workspace": head["workspace_path"],
                "metadata": metadata,
            }
            wanted = [
                *criteria_rules.read_criteria(criteria_rules.accepted(extras["acceptance"]), self.workspace),
                *more,
            ]
            made, fresh = self._begin_goal(tx, title or head["name"], wanted, fields, key)
            if fresh:
                data = {
                    "promoted_from": head["task_id"],
                    "request": 1 if first.get("text") else None,
                    "goal": extras["goal_seq"],
                    "name": None if title else head["name_seq"],
                }
                goal = self._find(tx, made.task_id, lock=True)
                self._append(tx, goal, Draft("goal.promoted", data=data), self._now(), "goal_promote")
                row = link_row("goal", made.task_id, head["last_seq"] + 1)
                data = {"kind": "goal", "target": made.task_id}
                linked = Draft("task.linked", data=data, sets={"links": [row]})
                self._append(tx, head, linked, self._now(), "goal_promote")
            return made

        return self._commit(work, settles=key is not None, tasks=lambda made: (made.task_id,))

    @operation(scope="read", example={"goal_id": "7k3m"})
    def goal_status(self, goal_id: str | None = None) -> tuple[GoalStatus, ...]:
        """Show a goal: its criteria with their evidence, its tasks, its budget, and what blocks it.

        Args:
            goal_id: Goal id or a unique prefix; default: every open goal of the workspace.
        """

        def work(tx: Tx) -> tuple[GoalStatus, ...]:
            if goal_id is not None:
                names = [self._find_goal(tx, goal_id)["task_id"]]
            else:
                names = queries.open_goals(tx, self.workspace, MOST_GOALS)
            return tuple(goal_status(self, tx, name) for name in names)

        return self.store.read(work)

    @operation(scope="write", powers={"goal_id": CHECK_POWERS}, example={"goal_id": "7k3m"})
    def goal_check(self, goal_id: str, *, finish: bool = False) -> GoalStatus:
        """Check every criterion that can be checked, record changes, and return the goal's status.

        Criteria that a person decides are left alone.

        Args:
            finish: Complete the goal if all its criteria are met or waived.
        """
        check_patience(self)
        goal, rows, known = self.store.read(lambda tx: self._checkable(tx, goal_id))
        verdicts = {row["seq"]: self._check_criterion(row, row["seq"] in known) for row in rows}
        checker = self.acting_as(channel="tool")

        def work(tx: Tx) -> tuple[str]:
            head = self._find(tx, goal, lock=True)
            for row in queries.criteria(tx, goal):
                if (verdict := verdicts.get(row["seq"])) is None or row["status"] == "waived":
                    continue
                met, evidence = verdict
                status = row["status"] if met is None else "met" if met else "failed"
                if (status, evidence) != (row["status"], row["evidence"]):
                    now = self._now()
                    draft = _judgement(head, row["seq"], status, evidence, now)
                    checker._append(tx, head, draft, now, "goal_check")
            stop_if_spent(self, tx, head)
            return (goal,)

        self._commit(work, tasks=lambda names: names)
        (status,) = self.goal_status(goal)
        if not (finish and status.ready and status.status in rules.OPEN):
            return status
        self.goal_finish(goal)
        return self.goal_status(goal)[0]

    @operation(
        scope="write",
        example={"goal_id": "7k3m", "criterion": 2, "status": "met", "reason": "I have looked at it"},
    )
    def goal_decide(
        self, goal_id: str, criterion: int, status: str, *, reason: str | None = None, key: str | None = None
    ) -> Written:
        """Decide a criterion: met, failed, waived, or open again.

        Only the user can waive a criterion, or say that a manual one is met; from others that is recorded as
        a proposal. `open` allows a check that came from another store to run here.

        Args:
            criterion: Number of the criterion, from goal_status.
            status: met, failed, waived or open.
            reason: The evidence.
        """
        word = validate.choice("status of a criterion", status, criteria_rules.STATUSES)
        number = validate.whole("criterion", criterion, 1, 1 << 62)
        evidence = self._text("reason", reason)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            self._check_goal(head)
            rows = queries.criteria(tx, head["task_id"])
            row = next((row for row in rows if row["seq"] == number), None)
            if row is None:
                raise NotFound(
                    "record_not_found",
                    f"Goal {head['task_id']} has no criterion #{number}.",
                    "goal_status shows them with their numbers.",
                )
            manual = json.loads(row["data"]).get("check") == "manual"
            if self._authority != "user" and (word == "waived" or (manual and word == "met")):
                raise Overruled(head["task_id"], f"criterion #{number}, about which a person decides")
            if word == "open" and not manual and self.origin.channel == "user":
                mine = queries.own_checks(tx, head["task_id"]) | {number}
                queries.keep_checks(tx, head["task_id"], mine, now)
            return _judgement(head, number, word, evidence, now)

        return self._write("goal_decide", goal_id, decide, key=key, arguments=[number, word, evidence])

    @operation(
        scope="write",
        powers={"criteria": CHECK_POWERS},
        example={"goal_id": "7k3m", "reset": "the key was renewed"},
    )
    def goal_update(
        self,
        goal_id: str,
        *,
        criteria: Sequence[Any] | None = None,
        budget: Mapping[str, Any] | None = None,
        blocker_limit: int | None = None,
        spent: Mapping[str, Any] | None = None,
        reset: str | None = None,
        key: str | None = None,
    ) -> Written:
        """Add criteria, change the budget, report what was spent, or let a stopped goal continue.

        Args:
            criteria: Criteria to add; see goal_create.
            budget: New limits: attempts (failed ones), tokens, seconds, cost.
            spent: Tokens or cost to add to the usage, for example {"tokens": 1200}.
            reset: Why a stopped goal may continue. Blockers are counted from zero again.
        """
        more = self._read_criteria(criteria)
        limits = None if budget is None else goal_limits.read_budget(self._mapping("budget", budget))
        added = None if spent is None else goal_limits.read_spending(self._mapping("spent", spent))
        most = None if blocker_limit is None else validate.whole("blocker_limit", blocker_limit, 1, 1000)
        why = None if reset is None else validate.line("reset", reset, 2000)
        if not more and limits is added is most is why is None:
            raise InvalidInput(
                "invalid_argument",
                "There is nothing to change.",
                "Pass criteria, budget, blocker_limit, spent or reset.",
            )

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            self._check_goal(head)
            if limits is not None or most is not None or why is not None:
                author = tx.channels_of(head["task_id"], [1]).get(1)
                if not may_overrule(self._authority, author):
                    raise Overruled(head["task_id"], "the limits of the goal", author=author or "user")
            if more:
                self._add_criteria(tx, head, more, now)
            metadata = dict(tx.extras(head["task_id"])["metadata"])
            if limits is not None:
                metadata[goal_limits.BUDGET] = limits
            if most is not None:
                metadata[goal_limits.LIMIT] = most
            if added is not None:
                before: Any = metadata.get(goal_limits.SPENDING) or {}
                sums = {name: before.get(name, 0) + value for name, value in added.items()}
                metadata[goal_limits.SPENDING] = {**before, **sums}
            sets: dict[str, Any] = {"extras": {"metadata": metadata}}
            if why is not None:
                sets |= self._reset(tx, head)
            draft = Draft("goal.updated", text=why, data={"spent": added, "reset": why and True}, sets=sets)
            stop_if_spent(self, tx, head, draft, metadata)
            return draft

        arguments = [more, limits, most, added, why]
        return self._write("goal_update", goal_id, decide, key=key, arguments=arguments)

    @operation(scope="write", example={"goal_id": "7k3m", "answer": "It is live."})
    def goal_finish(
        self, goal_id: str, answer: str | None = None, *, despite: str | None = None, key: str | None = None
    ) -> Written:
        """Complete a goal whose criteria are all met or waived.

        To give a goal up, use task_finish with another status.

        Args:
            answer: What was achieved.
            despite: Why it counts as achieved although some criteria are not met.
        """
        answer = self._text("answer", answer)
        why = None if despite is None else validate.line("despite", despite, 2000)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            self._check_goal(head)
            rules.check_transition(
                rules.TASK_TRANSITIONS, f"Goal {head['task_id']}", head["status"], "completed", again=False
            )
            rows = queries.criteria(tx, head["task_id"])
            if why is None:
                goal_limits.check_ready(head["task_id"], rows)
            missing = [row["seq"] for row in rows if row["status"] not in goal_limits.SETTLED]
            for row in rows:
                by_person = json.loads(row["data"]).get("check") == "manual" and self._authority != "user"
                if row["seq"] in missing and (by_person or not may_overrule(self._authority, row["channel"])):
                    raise Overruled(head["task_id"], f"criterion #{row['seq']}", author=row["channel"])
            heads: dict[str, Any] = {"status": "completed", "reason": None, "completed_at": now}
            heads["finish_seq"] = head["last_seq"] + 1
            heads |= {name: None for name in ("attention", "blockers", "next_step") if head[name] is not None}
            data = {"status": "completed", "answer": answer, "despite": why, "missing": missing or None}
            draft = Draft("task.finished", text=why, data=data, sets={"heads": heads})
            draft.tidies = ("attention", "blockers", "next_step")
            return draft

        return self._write("goal_finish", goal_id, decide, key=key, arguments=[answer, why])

    # --- registering ------------------------------------------------------------------------------

    def _goal_metadata(self, metadata: Any, budget: Any, limit: Any) -> dict[str, Any]:
        fields = self._mapping("metadata", metadata)
        if budget is not None:
            fields[goal_limits.BUDGET] = goal_limits.read_budget(self._mapping("budget", budget))
        return {**fields, goal_limits.LIMIT: validate.whole("blocker_limit", limit, 1, 1000)}

    def _read_criteria(self, criteria: Any) -> list[tuple[str, dict[str, Any]]]:
        """Parse criteria. The process that runs their checks may have more powers than the caller, so the
        caller needs these powers now."""
        parsed = criteria_rules.read_criteria(self._plain("criteria", criteria), self.workspace)
        for _, check in parsed:
            power = POWER_OF.get(check.get("check", ""))
            if power is not None and power not in self.grant.powers:
                raise refused_look(self, str(check.get("target")))
        return parsed

    def _begin_goal(
        self, tx: Tx, name: str, criteria: Sequence[Any], fields: Mapping[str, Any], key: str | None
    ) -> tuple[Written, bool]:
        """Register a goal with its criteria in the caller's transaction; returns whether it is new."""
        store: Any = OneTransaction(tx, self.store)
        writer = Tasks(
            store, self.settings, origin=self.origin, workspace=self.workspace, repository=self.repository,
            correlation=self._correlation, clock=self._clock, random=self._random, grant=self.grant,
        )  # fmt: skip
        made = writer.task_register(name, kind="goal", key=key, **fields)
        head = self._find(tx, made.task_id, lock=True)
        if head["last_seq"] > 1:  # a repetition of an earlier call
            known = [(row["text"], json.loads(row["data"])) for row in queries.criteria(tx, made.task_id)]
            if known[: len(criteria)] != list(criteria):
                raise Conflict(
                    "key_reused",
                    f"The key {shown(key)} was used for a goal with other criteria.",
                    "Use a new key for a new call; the same key only repeats the same call.",
                )
            return made, False
        self._add_criteria(tx, head, criteria, self._now())
        return made, True

    def _add_criteria(self, tx: Tx, head: Row, criteria: Sequence[Any], now: str) -> None:
        known = queries.criteria(tx, head["task_id"])
        criteria_rules.check_count(len(known) + len(criteria))
        mine = queries.own_checks(tx, head["task_id"])
        for text, check in criteria:
            draft = Draft("criterion", text=text, data=check, record={"type": "criterion", "status": "open"})
            mine.add(self._append(tx, head, draft, now, "goal").seq)
        if criteria:
            queries.keep_checks(tx, head["task_id"], mine, now)

    # --- finding ----------------------------------------------------------------------------------

    def _find_goal(self, tx: Tx, goal_id: str) -> Row:
        head = self._find(tx, validate.text("goal_id", goal_id, 100_000))
        self._check_goal(head)
        return head

    def _check_goal(self, head: Row) -> None:
        if head["kind"] != "goal":
            raise NotFound(
                "task_not_found",
                f"{head['task_id']} ({head['name'][:40]}) is not a goal.",
                "goal_status lists the goals; goal_promote turns a task into one.",
            )

    # --- checking ---------------------------------------------------------------------------------

    def _checkable(self, tx: Tx, goal_id: str) -> tuple[str, list[Row], set[int]]:
        head = self._find_goal(tx, goal_id)
        if head["status"] in rules.ENDED:
            raise Conflict(
                "illegal_transition", f"Goal {head['task_id']} is {head['status']}.", "Reopen it first."
            )
        rows = [
            {**row, "check": json.loads(row["data"]), "folder": head["workspace_path"]}
            for row in queries.criteria(tx, head["task_id"])
        ]
        checkable = [row for row in rows if row["check"].get("check") in ("file", "command", "http")]
        return head["task_id"], checkable, queries.own_checks(tx, head["task_id"])

    def _check_criterion(self, row: Row, known: bool) -> tuple[bool | None, str]:
        """Whether a criterion is met, and why; None if it was not checked."""
        if not known:
            return None, "it was imported and is not checked here until a person reopens it"
        kind = row["check"]["check"]
        try:  # an imported criterion may hold anything
            target = read_target(kind, row["check"].get("target"), row["folder"])
        except RingboltError as error:
            return None, error.message
        met, detail = run_check(kind, target, row["folder"], gate_of(self, row["folder"]))
        if detail == REFUSED:
            refused_look(self, target)
        return met, detail

    # --- resuming ---------------------------------------------------------------------------------

    def _reset(self, tx: Tx, head: Row) -> dict[str, Any]:
        """The changes of a reset: the goal continues, and blockers are counted from zero."""
        if head["reason"] not in goal_limits.STOPPED:
            raise Conflict(
                "illegal_transition",
                f"Goal {head['task_id']} was not stopped: it is {head['status']}.",
                "There is nothing to reset.",
                current=head["status"],
            )
        over = {"status": "resolved", "ref_seq": head["last_seq"] + 1}
        records = {str(row["seq"]): over for row in queries.blockers(tx, head["task_id"])}
        heads = {"status": "active", "reason": None, "attention": None}
        return {"heads": heads, **({"records": records} if records else {})}


def _judgement(head: Row, seq: int, status: str, evidence: str | None, now: str) -> Draft:
    changed = {"status": status, "ref_seq": head["last_seq"] + 1, "ended_at": now}
    return Draft(
        "criterion.updated",
        text=evidence,
        data={"status": status},
        sets={"records": {str(seq): changed}},
        ref=seq,
    )
