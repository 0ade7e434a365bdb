"""Tasks: registering, updating, reading, listing, finishing, linking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..extract.patterns import relevant
from ..ledger.base import Base, Draft, find_item, stored_result, written
from ..ledger.current_task import DRAFT
from ..ledger.goal_limits import STOPPED, check_ready
from ..ledger.step_changes import begun_phase, item_changes
from ..ledger.task_life import lives, stuck_after
from ..ledger.values import read_card, read_task
from ..model import foreign_statuses, rules, validate
from ..model.errors import Conflict, InvalidInput, NotFound, RingboltError, shown
from ..model.operation import operation
from ..model.types import Pattern, Task, TaskCard, TaskPage, Written, is_dict, is_list
from ..signals.phrases import may_tell_progress
from ..store.goal_queries import criteria
from ..store.schema import escape_like
from ..store.tx import Row, Tx
from .draft_tasks import adoption, focus_event, own_draft
from .plans import added_steps

MOST_ROWS = 1000


class Tasks(Base):
    """Operations on whole tasks."""

    @operation(
        scope="write",
        core=("name", "plan", "request", "goal"),
        example={"name": "Deploy the shop", "plan": ["Build the image", "Push it", "Run it"]},
    )
    def task_register(
        self,
        name: str,
        plan: Any = None,
        *,
        request: str | None = None,
        goal: str | None = None,
        context: Any = None,
        workspace: str | None = "",
        parent: str | None = None,
        acceptance: Sequence[Any] | None = None,
        approval_mode: str = "auto",
        callback_url: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        tags: Sequence[str] | None = None,
        phase: str | None = None,
        related_goal: str | None = None,
        kind: str = "task",
        key: str | None = None,
    ) -> Written:
        """Start a task: its name, its plan, and the user's request word for word.

        The task becomes the current one of this session. If hooks have already begun a task for the user's
        prompt in this session, this call gives that one its name and plan, and nothing is lost or doubled.

        Args:
            name: Short name of the task. At most 500 bytes.
            plan: Titles of the steps, in order. Also accepted: steps as objects, stages with steps, a mapping
                of ids to steps, or text with one step per line.
            request: The user's request, word for word. Kept for good and never shortened.
            goal: What to achieve. Default: the request, or else the name.
            context: Any JSON value that belongs to the task.
            workspace: `""`: the workspace of this memory. `None`: no workspace.
            parent: The task that this one is part of.
            acceptance: Acceptance criteria: a list of JSON values.
            approval_mode: auto, manual or confirm. Stored only; nothing acts on it yet.
            callback_url: URL that gets a POST when the task, or one of its waits, ends.
            metadata: A JSON object.
            phase: The initial phase. Default: planned with a plan, received without one.
            related_goal: Id of a goal, stored as a link of kind `goal`. Any text is accepted.
            kind: `task` or `goal`.
        """
        name = validate.line("name", name, 500)
        request = self._text("request", request)
        plan = self._plain("plan", plan)
        steps = rules.parse_plan(plan)
        self._check_steps(steps)
        context = self._plain("context", context)
        criteria = self._list("acceptance", acceptance)
        extra: dict[str, Any] = {
            "goal": self._text("goal", goal),
            "context": None if context is None else validate.dumps(context),
            "acceptance": criteria or None,
            "approval_mode": validate.choice("approval mode", approval_mode, rules.APPROVAL_MODES),
            "callback_url": validate.optional("callback_url", callback_url, 2000),
            "metadata": self._mapping("metadata", metadata),
        }
        labels = [[0, "tag", tag] for tag in validate.text_list("tags", tags)]
        phase = (
            foreign_statuses.read_phase(validate.line("phase", phase))
            if phase
            else ("planned" if steps else "received")
        )
        kind = validate.choice("kind", kind, ("task", "goal"))
        goal_id = validate.optional("related_goal", related_goal, 500)
        here, repository = self.workspace, self.repository
        if workspace != "":
            here, repository = validate.optional("workspace", workspace, 2000), None
        scoped_key = None
        if key is not None:
            scoped_key = f"{self.origin.principal}\n{here or ''}\n{validate.line('key', key, 200)}"
        fingerprint = self._fingerprint(
            "task_register", key, [name, plan, request, extra, criteria, parent, labels, phase, goal_id, kind]
        )

        def matching_patterns(tx: Tx) -> tuple[Pattern, ...]:
            return relevant(tx, [name, *(step["title"] for step in steps)], self._clock())

        # A draft of this session becomes the task, unless this call begins a draft, a part or a goal itself.
        is_own = kind == "task" and parent is None and workspace == "" and DRAFT not in extra["metadata"]

        def adopt(tx: Tx, head: Row, now: str) -> Written:
            goal_link = goal_id and goal_named(tx, goal_id)
            *first, last = adoption(
                self,
                tx,
                head,
                now,
                heads={"name": name} | ({"phase": phase} if phase not in ("received", "planned") else {}),
                extras=extra,
                labels=labels,
                links=_first_links(None, goal_link, head["last_seq"] + 1),
                request=request,
                plan=plan if steps else None,
            )
            for draft in first:
                self._append(tx, head, draft, now, "task_register")
            last.result.update(
                warnings=(f"This is the task that this session already had, {head['task_id']}.",),
                patterns=matching_patterns(tx),
            )
            return self._append(tx, head, last, now, "task_register", scoped_key, fingerprint)

        def work(tx: Tx) -> Written:
            if scoped_key is not None and (known := tx.register_key(scoped_key)):
                return stored_result(known, fingerprint).replace(patterns=matching_patterns(tx))
            now = self._now()
            if is_own and (draft_task := own_draft(self, tx)) is not None:
                return adopt(tx, draft_task, now)
            task_id = self._new_id(tx)
            heads: dict[str, Any] = {
                "kind": kind,
                "name": name,
                "status": "active",
                "phase": phase,
                "workspace_path": here,
                "repository": repository,
                **rules.phase_stamps({}, phase, now, planned=bool(steps)),
            }
            if self.origin.session:
                heads["session_id"] = self.origin.session
                heads["focus"] = tx.last_focus(self.origin.session) + 1
            if parent is not None:
                heads["parent_id"] = self._find(tx, parent)["task_id"]
            if steps:
                heads.update(plan_version=1, plan_seq=1)
            sets = _without_none(
                {
                    "heads": heads,
                    "+extras": _without_none(extra),
                    "links": _first_links(heads.get("parent_id"), goal_id and goal_named(tx, goal_id))
                    or None,
                    "+steps": added_steps(steps, 1, 0) or None,
                    "+labels": labels or None,
                }
            )
            draft = Draft(
                "task.registered",
                text=request,
                sets=sets,
                items=tuple(step["id"] for step in steps),
                patterns=matching_patterns(tx),
            )
            head: Row = {"task_id": task_id, "root_id": task_id, **heads}
            return self._append(tx, head, draft, now, "task_register", scoped_key, fingerprint)

        return self._commit(work, settles=key is not None)

    @operation(
        scope="write",
        core=("task_id", "message", "status", "step", "step_status", "next", "blockers", "query"),
        example={"message": "The image is built.", "step": 1, "step_status": "completed"},
    )
    def task_update(
        self,
        task_id: str | None = None,
        message: str | None = None,
        *,
        status: str | None = None,
        phase: str | None = None,
        reason: str | None = None,
        step: str | int | None = None,
        step_status: str | None = None,
        next: str | None = None,
        blockers: Sequence[str] | None = None,
        name: str | None = None,
        goal: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        attention: str | None = None,
        archived: bool | None = None,
        query: str | None = None,
        expect: int | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Report what happened, and with it any change of status, phase, step, next step or blockers.

        Status words of other projects ("EXECUTING_PLAN", "In progress", "canceled") are understood. An empty
        text or list clears `next`, `attention` or `blockers`. `query` asks a question, answered as by
        task_ask after the update is written; a query alone writes nothing.

        Args:
            message: What happened.
            status: New status of the task: active, waiting, paused, completed, failed or cancelled.
            phase: New phase of the task: planning, executing, reviewing, …
            reason: Why the task has its status: approval, input, auth, rejected, blocked, or your own words.
            step: Step the message is about: id, number from 1, or title.
            step_status: New status of the step: pending, active, completed, failed or skipped.
            next: What to do next, in words.
            blockers: What is in the way; [] clears it. At most 50.
            name: New name of the task, at most 500 bytes.
            goal: New goal of the task.
            metadata: Merged into the task's metadata; null removes a name.
            attention: Something that a person should look at.
            archived: True archives the task, false brings it back.
            query: Question about the task to answer. It is not stored.
        """
        if query is not None:
            return self._update_and_ask(
                task_id, query, message=message, status=status, phase=phase, reason=reason, step=step,
                step_status=step_status, next=next, blockers=blockers, name=name, goal=goal,
                metadata=metadata, attention=attention, archived=archived, expect=expect, token=token,
                key=key,
            )  # fmt: skip
        message = self._text("message", message)
        changes, meant_phase, meant_reason = _read_status(status, phase, reason)
        if next is not None:
            changes["next_step"] = validate.text("next", next, 2000) or None
        if attention is not None:
            changes["attention"] = validate.text("attention", attention, 500) or None
        if blockers is not None:
            changes["blockers"] = validate.text_list("blockers", blockers, 2000, 50) or None
        if name is not None:
            changes["name"] = validate.line("name", name, 500)
        goal = self._text("goal", goal)
        metadata = None if metadata is None else self._mapping("metadata", metadata)
        word = None if step_status is None else validate.line("step_status", step_status)
        item_status = None if word is None else foreign_statuses.read_item_status(word)
        if word is not None and step is None:
            raise InvalidInput("invalid_argument", "step_status needs a step.", "Name the step with `step`.")
        arguments = [message, status, phase, reason, step, step_status, next, blockers, name, goal,
                     metadata, attention, archived]  # fmt: skip
        if all(part is None for part in arguments):
            raise InvalidInput(
                "invalid_argument", "There is nothing to write.", "Give a message or a change."
            )

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            if head["kind"] == "goal" and "status" in changes:
                check_goal(tx, head, changes["status"])
            heads = {**changes, **status_changes(head, changes.get("status"), meant_reason, now)}
            if archived is not None:
                heads["archived_at"] = now if archived else None
            item_id, steps, warnings = _step_changes(tx, head, step, word, message, now)
            new_phase = meant_phase
            if new_phase is None and item_status in ("active", "completed"):
                new_phase = begun_phase(head)
            if new_phase is not None:
                heads.update(rules.phase_stamps(head, new_phase, now), phase=new_phase)
            heads = {name: value for name, value in heads.items() if _differs(head, name, value)}
            if head["status"] in rules.ENDED and "status" not in heads and message:
                warnings.append(f"task is {head['status']}")
            extras = _extras_changes(tx, head, goal, metadata)
            sets = _without_none({"steps": steps or None, "heads": heads or None, "extras": extras or None})
            plain = not sets and message is not None
            draft = Draft(
                "message" if plain else "item.updated" if steps and not heads else "task.updated",
                text=message,
                sets=sets,
                item=item_id,
                warnings=tuple(warnings),
            )
            if message and self._may_move(head, message):
                # Its patterns are slow to compile, and most short-lived processes never need them.
                from ..extract.progress_updates import foresee

                draft.then = foresee(self, tx, head, draft, now)
            return draft

        return self._write(
            "task_update", task_id, decide, key=key, token=token, expect=expect, arguments=arguments
        )

    def _update_and_ask(self, task_id: str | None, query: str, **changes: Any) -> Written:
        # Asking loads the search and the model client, which an update without a question does not need.
        from ..ask.answering import ask
        from ..ask.operations import read_question

        question = read_question(query)
        guards = ("expect", "token", "key")
        if all(value is None for name, value in changes.items() if name not in guards):
            head = self.store.read(lambda tx: self._find(tx, task_id))
            done = written(head, head["last_seq"], Draft("message"))
        else:
            done = self.task_update(task_id, **changes)
        try:
            return done.replace(answer=ask(self, done.task_id, question))
        except RingboltError as error:  # the write is committed, and the caller must know that
            return done.replace(warnings=(*done.warnings, f"not answered: {error.message}"))

    def _may_move(self, head: Row, message: str) -> bool:
        """Whether a message may report progress. A cheap filter, because every message passes it."""
        if head["current_item"] is None and head["next_item"] is None:
            return False
        if self.origin.channel != "agent" or self.settings.progress == "off":
            return False
        return may_tell_progress(message)

    @operation(scope="read")
    def task_get(self, task_id: str | None = None, *, at: int | str | float | None = None) -> Task:
        """Show a task as it is now, or as it was after an event (`at=42`) or at a time.

        Args:
            at: An integer is a seq, a string an ISO 8601 time, a float seconds since 1970.
        """
        if at is None:
            return self.store.read(lambda tx: self._read(tx, task_id), once=True)
        tx, found = self._as_of(task_id, at)
        task = read_task(tx, found)
        if task is None:
            raise NotFound("task_not_found", f"Task {found} did not exist yet.", "Give a later time.")
        return task

    def _read(self, tx: Tx, task_id: str | None) -> Task:
        # A complete id needs no lookup first.
        seen = self._clock(), stuck_after(self.settings)
        whole = rules.normal_id(task_id) if isinstance(task_id, str) else None
        if whole and len(whole) == rules.ID_LENGTH and (task := read_task(tx, whole, *seen)):
            return task
        task = read_task(tx, self._find(tx, task_id)["task_id"], *seen)
        if task is None:
            raise NotFound("task_not_found", f"There is no task {task_id}.", "task_list shows the tasks.")
        return task

    @operation(scope="read", core=("status", "text", "limit"), example={"status": "open"})
    def task_list(
        self,
        *,
        status: str | Sequence[str] = "open",
        workspace: str | None = "",
        session: str | None = None,
        tag: str | None = None,
        parent: str | None = None,
        text: str | None = None,
        kind: str | None = "task",
        archived: bool = False,
        limit: int = 20,
        cursor: int | None = None,
    ) -> TaskPage:
        """List tasks, most recently changed first. By default: the open tasks of this workspace.

        Args:
            status: open, ended, all, or a status. Several statuses can be given as a list.
            session: Only tasks of this session.
            tag: Only tasks with this tag.
            parent: Only sub-tasks of this task.
            text: Only tasks with this text in their name.
            kind: `task`, `goal`, or `None` for both.
            archived: Include archived tasks.
            cursor: The `cursor` of the previous page.
        """
        limit = validate.whole("limit", limit, 1, MOST_ROWS)
        if cursor is not None:
            validate.whole("cursor", cursor, 0, 1 << 62)
        statuses = statuses_in(status)
        pattern = None
        if text is not None:
            pattern = f"%{escape_like(validate.text('text', text, 500))}%"
        here = self.workspace if workspace == "" else workspace
        for what, value in (("workspace", here), ("session", session), ("tag", tag)):
            validate.optional(what, value, 4000)

        def work(tx: Tx) -> TaskPage:
            rows = tx.cards(
                statuses,
                limit + 1,
                workspace=here,
                session=session,
                tag=tag,
                parent=None if parent is None else self._find(tx, parent)["task_id"],
                text=pattern,
                kind=None if kind is None else validate.choice("kind", kind, ("task", "goal")),
                archived=archived,
                before=cursor,
            )
            more = len(rows) > limit
            rows = rows[:limit]
            stand = lives(tx, rows, self._clock(), stuck_after(self.settings))
            return TaskPage(
                tasks=tuple(TaskCard(**read_card(row, stand[row["task_id"]])) for row in rows),
                cursor=rows[-1]["position"] if more else None,
            )

        return self.store.read(work)

    @operation(scope="write", example={"answer": "It runs at https://shop.example."})
    def task_finish(
        self,
        task_id: str | None = None,
        answer: str | None = None,
        *,
        status: str | None = None,
        error: str | Mapping[str, Any] | None = None,
        message: str | None = None,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """End a task with its final answer, or with the error that ended it.

        With `error` the task has failed, unless `status` says otherwise.

        Args:
            answer: The final answer.
            status: How it ended: completed, failed, cancelled, abandoned or superseded.
            error: What ended it: a text, or an object with message, stage and step.
            message: What happened.
        """
        answer = self._text("answer", answer)
        message = self._text("message", message)
        summary = _error_summary(error)
        phase = reason = None
        if status is not None:
            ends, phase, reason = foreign_statuses.read_task_status(validate.line("status", status))
            if ends not in rules.ENDED:
                raise InvalidInput(
                    "unknown_word",
                    f"A task cannot finish as {ends}.",
                    f"Use one of: {', '.join(rules.ENDED)}.",
                    allowed=list(rules.ENDED),
                )
        else:
            ends = "failed" if summary else "completed"

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            rules.check_transition(
                rules.TASK_TRANSITIONS, f"Task {head['task_id']}", head["status"], ends, again=False
            )
            if head["kind"] == "goal":
                check_goal(tx, head, ends)
            heads: dict[str, Any] = {
                "status": ends,
                "phase": phase or head["phase"],
                "reason": reason,
                "completed_at": now,
                "finish_seq": head["last_seq"] + 1,
                "blockers": None,
                "next_step": None,
            }
            changed = {name: value for name, value in heads.items() if _differs(head, name, value)}
            open_steps = head["total"] - head["done"]
            warnings = (
                (f"{open_steps} of {head['total']} steps are not completed",)
                if ends == "completed" and open_steps
                else ()
            )
            return Draft(
                "task.finished",
                text=message,
                data={"status": ends, "answer": answer, "error": summary},
                sets={"heads": changed},
                warnings=warnings,
            )

        return self._write(
            "task_finish", task_id, decide, key=key, token=token,
            arguments=[answer, status, error, message],
        )  # fmt: skip

    @operation(scope="write", repeatable=True)
    def task_focus(self, task_id: str | None = None, *, key: str | None = None) -> Written:
        """Make a task the current one of this session, for example when a session takes over from another."""
        session = self.origin.session
        if not session:
            raise InvalidInput(
                "invalid_argument",
                "This memory has no session.",
                "Set RINGBOLT_SESSION or pass --session; for one command use --task ID.",
            )

        return self._write(
            "task_focus",
            task_id,
            lambda tx, head, now: focus_event(self, tx, head),
            key=key,
            arguments=[session],
        )

    @operation(scope="write", example={"target": "goal-1", "kind": "goal"})
    def task_link(
        self,
        task_id: str | None = None,
        *,
        target: str,
        kind: str = "related",
        remove: bool = False,
        token: int | None = None,
        key: str | None = None,
    ) -> Written:
        """Link a task to another one (parent, supersedes, blocks, related) or to a goal.

        A task that this one supersedes gets the status `superseded` in the same transaction.

        Args:
            target: The other task. For the kind `goal`, any text.
            kind: parent, goal, supersedes, blocks or related.
            remove: Remove the link.
        """
        kind = validate.choice("kind of link", kind, rules.LINK_KINDS)
        target = validate.line("target", target, 500)

        def decide(tx: Tx, head: Row, now: str) -> Draft:
            other = None
            named = target
            if kind == "goal":
                named = goal_named(tx, target)
            else:
                other = self._find(tx, target, lock=True)
                named = other["task_id"]
            if named == head["task_id"]:
                raise InvalidInput(
                    "invalid_argument", "A task cannot be linked to itself.", "Name another one."
                )
            heads: dict[str, Any] = {}
            if kind == "parent":
                if not remove:
                    self._check_ancestors(tx, head["task_id"], named)
                heads["parent_id"] = None if remove else named
            if kind == "supersedes" and not remove and other is not None:
                rules.check_transition(rules.TASK_TRANSITIONS, f"Task {named}", other["status"], "superseded")
                own = Draft(
                    "task.updated",
                    data={"superseded_by": head["task_id"]},
                    sets={
                        "heads": {
                            "status": "superseded",
                            **({} if other["completed_at"] else {"completed_at": now}),
                        }
                    },
                )
                self._append(tx, other, own, now, "task_link")
            link = {
                "kind": kind,
                "target": named,
                "seq": head["last_seq"] + 1,
                "status": "removed" if remove else "active",
            }
            sets: dict[str, Any] = {"links": [link]}
            if heads:
                sets["heads"] = heads
            return Draft(
                "task.linked", data={"kind": kind, "target": named, "remove": remove or None}, sets=sets
            )

        return self._write(
            "task_link", task_id, decide, key=key, token=token, arguments=[target, kind, remove]
        )

    def _check_ancestors(self, tx: Tx, task_id: str, parent: str) -> None:
        seen = [parent]
        while (above := (tx.head(seen[-1]) or {}).get("parent_id")) and above not in seen:
            seen.append(above)
        if task_id in seen:
            raise InvalidInput(
                "dependency_cycle",
                f"Task {parent} is already below {task_id}.",
                "A task cannot be its own ancestor.",
                cycle=[*seen[: seen.index(task_id) + 1]],
            )


def goal_named(tx: Tx, name: str) -> str:
    """The id of the goal with this id or prefix; any other text stands for itself."""
    plain = rules.normal_id(name)
    found = [] if plain is None else tx.heads_with_prefix(plain, 2)
    head = tx.head(found[0]["task_id"]) if len(found) == 1 else None
    return head["task_id"] if head is not None and head["kind"] == "goal" else name


def check_goal(tx: Tx, head: Row, status: str) -> None:
    """Raise unless a goal may get a status: completing needs its criteria, continuing needs a reset."""
    if status == "completed":
        check_ready(head["task_id"], criteria(tx, head["task_id"]))
    elif status in rules.OPEN and head["reason"] in STOPPED:
        raise Conflict(
            "illegal_transition",
            f"Goal {head['task_id']} is stopped ({head['reason']}).",
            "Use goal_update with a reason in `reset` to continue it.",
            current=head["status"],
        )


def _first_links(parent: str | None, goal: str | None, seq: int = 1) -> list[dict[str, Any]]:
    """The links that a task is registered with."""
    ties = {"parent": parent, "goal": goal}
    return [
        {"kind": kind, "target": target, "seq": seq, "status": "active"}
        for kind, target in ties.items()
        if target is not None
    ]


def _read_status(
    status: str | None, phase: str | None, reason: str | None
) -> tuple[dict[str, Any], str | None, str | None]:
    """Our status (as a change), phase and reason for words of any project."""
    changes: dict[str, Any] = {}
    meant_phase = meant_reason = None
    if status is not None:
        changes["status"], meant_phase, meant_reason = foreign_statuses.read_task_status(
            validate.line("status", status)
        )
    if phase is not None:
        meant_phase = foreign_statuses.read_phase(validate.line("phase", phase))
    if reason is not None:
        meant_reason = validate.text("reason", reason, 500) or None
    return changes, meant_phase, meant_reason


def status_changes(head: Row, status: str | None, reason: str | None, now: str) -> dict[str, Any]:
    """The columns that a new status changes; raises if it cannot follow the current one."""
    if status is None:
        return {} if reason is None else {"reason": reason}
    rules.check_transition(rules.TASK_TRANSITIONS, f"Task {head['task_id']}", head["status"], status)
    if status in rules.OPEN:
        return {"reason": reason, "completed_at": None, "finish_seq": None, "archived_at": None}
    return {"reason": reason, "completed_at": now if head["status"] in rules.OPEN else head["completed_at"]}


def _step_changes(
    tx: Tx, head: Row, step: str | int | None, word: str | None, message: str | None, now: str
) -> tuple[str | None, dict[str, Any], list[str]]:
    """The step that an update is about, the changes to the plan, and warnings."""
    if step is None:
        return None, {}, []
    steps = tx.steps(head["task_id"])
    row = find_item(steps, step)
    if word is None:
        return row["item_id"], {}, []
    status = foreign_statuses.read_item_status(word)
    changes, warnings = item_changes(tx, head, steps, row, now, status=status)
    if word.lower() == "blocked":
        changes[row["item_id"]]["active_issue"] = message or "blocked"
    return row["item_id"], changes, warnings


def _extras_changes(
    tx: Tx, head: Row, goal: str | None, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if goal is not None:
        changes["goal"] = goal or None
    if metadata is not None:
        merged = {**tx.extras(head["task_id"])["metadata"], **metadata}
        changes["metadata"] = {name: value for name, value in merged.items() if value is not None}
    return changes


def _differs(head: Row, name: str, value: Any) -> bool:
    old = head[name]
    if name == "blockers":
        return (validate.dumps(value) if value else None) != old
    return old != value


def _without_none(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}


def statuses_in(status: str | Sequence[str]) -> list[str]:
    """The statuses of a filter: open, ended, all, or one or several words."""
    groups = {"open": rules.OPEN, "ended": rules.ENDED, "all": rules.TASK_STATUSES}
    if isinstance(status, str) and status in groups:
        return list(groups[status])
    given = [status] if isinstance(status, str) else status
    if not is_list(given) or not given:
        raise InvalidInput(
            "invalid_argument",
            f"status cannot be {shown(status)}.",
            "Use open, ended, all, or one or several statuses.",
        )
    return list(
        dict.fromkeys(foreign_statuses.read_task_status(validate.line("status", word))[0] for word in given)
    )


_ERROR_NAMES = {
    "message": ("message", "errorMessage", "error"),
    "stage": ("stage", "failedAtStage"),
    "step": ("step", "failedStepNarrative"),
}


def _error_summary(error: Any) -> dict[str, str] | None:
    if error is None:
        return None
    fields: dict[str, Any] = error if is_dict(error) else {"message": error}
    summary: dict[str, str] = {}
    for name, aliases in _ERROR_NAMES.items():
        value = next((fields[alias] for alias in aliases if fields.get(alias) is not None), None)
        if value is not None:
            shown_as = value if name == "message" else str(value)
            summary[name] = validate.text(f"error.{name}", shown_as, 100_000)
    if "message" not in summary:
        raise InvalidInput("invalid_argument", "error has no message.", "Give the error message.")
    return summary
