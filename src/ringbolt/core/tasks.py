"""Operations on tasks: register, update, read, list, finish, link."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..ledger.base import Base, Draft, stored_result, written
from ..ledger.current_task import DRAFT
from ..ledger.drafts import link_row
from ..ledger.looking import check_callback
from ..ledger.task_life import lives, stuck_after
from ..ledger.values import read_card, read_task
from ..model import foreign_statuses, rules, validate
from ..model.capabilities import Grant
from ..model.errors import Conflict, InvalidInput, NotFound, shown
from ..model.operation import operation
from ..model.rules import EXTERNAL_ID
from ..model.types import Task, TaskCard, TaskPage, Value, Written, is_dict, is_list
from ..store.queries import folder_tasks
from ..store.schema import escape_like
from ..store.tx import Row, Tx
from .draft_tasks import adoption, focus_event, own_draft
from .plans import added_steps
from .task_updates import Updates, check_goal, differs, without_none

MOST_ROWS = 1000


class _Registration(Value, frozen=True, kw_only=True):
    """The validated arguments of `task_register`."""

    name: str
    plan: Any
    steps: list[dict[str, Any]]
    request: str | None
    kind: str
    phase: str
    extras: dict[str, Any]
    tags: list[str]
    related_goal: str | None
    external_id: str | None = None

    @property
    def labels(self) -> list[list[Any]]:
        """The rows of the task's tags, and of the id that its caller gave it."""
        own = [[0, EXTERNAL_ID, self.external_id]] if self.external_id is not None else []
        return [*([0, "tag", tag] for tag in self.tags), *own]

    def links(self, tx: Tx, grant: Grant, parent: str | None = None, seq: int = 1) -> list[dict[str, Any]]:
        """The rows of the task's first links."""
        goal = self.related_goal and goal_named(tx, self.related_goal, grant)
        return [
            link_row(kind, target, seq)
            for kind, target in (("parent", parent), ("goal", goal))
            if target is not None
        ]


class Tasks(Updates):
    """Operations on whole tasks."""

    @operation(
        scope="write",
        core=("name", "plan", "request", "goal"),
        powers={"callback_url": ("egress",)},
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
        id: str | None = None,
        key: str | None = None,
    ) -> Written:
        """Start a task: its name, its plan, and the user's request word for word.

        The task becomes the current one of this session. If hooks have already begun a task for the user's
        prompt in this session, this call gives that task its name and plan instead of creating another.

        Args:
            name: Short name of the task. At most 500 bytes.
            plan: Titles of the steps, in order. Also accepted: steps as objects, stages with steps, a mapping
                of ids to steps, or text with one step per line.
            request: The user's request, word for word. It is never shortened or dropped.
            goal: What to achieve. Default: the request, otherwise the name.
            context: Any JSON value that belongs to the task.
            workspace: `""`: the workspace of this memory. `None`: no workspace.
            parent: The task that this one is part of.
            acceptance: Acceptance criteria: a list of JSON values.
            approval_mode: auto; confirm: side effects wait for the user's approval; manual: steps wait too.
            callback_url: URL that gets a POST when the task, or one of its waits, ends.
            metadata: A JSON object.
            phase: The initial phase. Default: planned with a plan, received without one.
            related_goal: Id of a goal, stored as a link of kind `goal`. Any text is accepted.
            kind: `task` or `goal`.
            id: An id of your own, such as a UUID, by which the task can be named besides ours.
        """
        new = self._read_registration(
            name, plan, request, kind=kind, phase=phase, goal=goal, context=context, acceptance=acceptance,
            approval_mode=approval_mode, callback_url=callback_url, metadata=metadata, tags=tags,
            related_goal=related_goal, external_id=id,
        )  # fmt: skip
        here, repository = self.workspace, self.repository
        if workspace != "":
            here, repository = validate.optional("workspace", workspace, 2000), None
        scoped_key = None
        if key is not None:
            scoped_key = self._registration_key(key, here)
        fingerprint = self._fingerprint("task_register", key, [new.to_dict(), parent])
        # A draft of this session becomes the task, unless this call begins a draft, a sub-task or a goal.
        is_own = (
            new.kind == "task" and parent is None and workspace == "" and DRAFT not in new.extras["metadata"]
        )

        # Loaded late: every session starts with other operations of this class, which need no patterns.
        from ..extract.patterns import relevant, remember_lessons

        def work(tx: Tx) -> Written:
            titles = [new.name, *(step["title"] for step in new.steps)]
            # Patterns may come from other workspaces of the repository.
            everywhere = self.grant.workspaces is None
            patterns = relevant(tx, titles, self._clock(), repository or here or "") if everywhere else ()
            if scoped_key is not None and (known := tx.register_key(scoped_key)):
                return stored_result(known, fingerprint).replace(patterns=patterns)
            now = self._now()
            if new.external_id is not None and (taken := tx.task_with_label(EXTERNAL_ID, new.external_id)):
                raise Conflict(
                    "key_reused",
                    f"Task {taken} has the id {new.external_id} already.",
                    "Name that task, or choose another id.",
                )
            head = own_draft(self, tx) if is_own else None
            if head is not None:
                *first, last = _adopted(self, tx, head, new, now)
                for draft in first:
                    self._append(tx, head, draft, now, "task_register")
                last.result["warnings"] = (
                    f"This is the task that this session already had, {head['task_id']}.",
                )
            else:
                task_id = self._new_id(tx)
                parent_id = None if parent is None else self._find(tx, parent)["task_id"]
                last = _registered(self, tx, new, parent_id, here, repository, now)
                head = {"task_id": task_id, "root_id": task_id, **last.sets["heads"]}
            last.result["patterns"] = patterns
            remember_lessons(tx, head["task_id"], patterns, now)
            return self._append(tx, head, last, now, "task_register", scoped_key, fingerprint)

        return self._commit(work, settles=key is not None)

    def _callback_url(self, url: str | None) -> str | None:
        url = validate.optional("callback_url", url, 2000)
        if url is not None:
            check_callback(self, url)
        return url

    def _read_registration(
        self, name: str, plan: Any, request: str | None, *, kind: str, phase: str | None, **fields: Any
    ) -> _Registration:
        """Validate the arguments of `task_register`."""
        name = validate.line("name", name, 500)
        request = self._text("request", request)
        plan = self._plain("plan", plan)
        steps = rules.parse_plan(plan)
        self._check_steps(steps)
        context = self._plain("context", fields["context"])
        external_id = fields["external_id"]
        if external_id is not None:
            external_id = validate.line("id", external_id, 200)
        named = {} if external_id is None else {EXTERNAL_ID: external_id}
        default_phase = "planned" if steps else "received"
        return _Registration(
            name=name,
            plan=plan,
            steps=steps,
            request=request,
            kind=validate.choice("kind", kind, ("task", "goal")),
            phase=foreign_statuses.read_phase(validate.line("phase", phase)) if phase else default_phase,
            extras={
                "goal": self._text("goal", fields["goal"]),
                "context": None if context is None else validate.dumps(context),
                "acceptance": self._list("acceptance", fields["acceptance"]) or None,
                "approval_mode": validate.choice(
                    "approval mode", fields["approval_mode"], rules.APPROVAL_MODES
                ),
                "callback_url": self._callback_url(fields["callback_url"]),
                "metadata": {**self._mapping("metadata", fields["metadata"]), **named},
            },
            tags=validate.text_list("tags", fields["tags"]),
            related_goal=validate.optional("related_goal", fields["related_goal"], 500),
            external_id=external_id,
        )

    @operation(scope="read")
    def task_get(self, task_id: str | None = None, *, at: int | str | float | None = None) -> Task:
        """Show a task as it is now, or as it was after an event (`at=42`) or at a time.

        Args:
            at: An integer is a seq, a string an ISO 8601 time, a float seconds since 1970.
        """
        if at is None:
            return self.store.read(lambda tx: self._read(tx, task_id), once=True)
        return self.store.read(lambda tx: self._read_past(tx, task_id, at))

    def _read_past(self, tx: Tx, task_id: str | None, at: Any) -> Task:
        then, full_id = self._past(tx, task_id, at)
        return _existing(read_task(then, full_id), full_id)

    def _read(self, tx: Tx, task_id: str | None) -> Task:
        # A complete id needs no lookup first, if the caller may see every task.
        for_life = self._clock(), stuck_after(self.settings)
        is_direct = self.grant.workspaces is None
        plain = rules.normal_id(task_id) if isinstance(task_id, str) and is_direct else None
        if plain and len(plain) == rules.ID_LENGTH and (task := read_task(tx, plain, *for_life)):
            return task
        return _existing(read_task(tx, self._find(tx, task_id)["task_id"], *for_life), task_id)

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
        repository: bool = False,
        limit: int = 20,
        cursor: int | None = None,
    ) -> TaskPage:
        """List tasks, most recently changed first. By default: the open tasks of this workspace.

        Args:
            status: open, ended, all, a status, or a list of statuses.
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
        place = self._own_repository() if repository else None
        here = (None if repository else self.workspace) if workspace == "" else workspace
        for what, value in (("workspace", here), ("session", session), ("tag", tag)):
            validate.optional(what, value, 4000)

        def work(tx: Tx) -> TaskPage:
            rows = tx.cards(
                statuses,
                limit + 1,
                workspace=here,
                repository=place,
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
            life = lives(tx, rows, self._clock(), stuck_after(self.settings))
            return TaskPage(
                tasks=tuple(TaskCard(**read_card(row, life[row["task_id"]])) for row in rows),
                cursor=rows[-1]["position"] if more else None,
            )

        return self.store.read(work)

    @operation(scope="write", texts=("answer",), example={"answer": "It runs at https://shop.example."})
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
            changed = {name: value for name, value in heads.items() if differs(head, name, value)}
            open_steps = head["total"] - head["done"]
            warnings = (
                (f"{open_steps} of {head['total']} steps are not completed",)
                if ends == "completed" and open_steps
                else ()
            )
            draft = Draft(
                "task.finished",
                text=message,
                data={"status": ends, "answer": answer, "error": summary},
                sets={"heads": changed},
                warnings=warnings,
            )
            draft.tidies = ("blockers", "next_step")
            return draft

        return self._write(
            "task_finish", task_id, decide, key=key, token=token,
            arguments=[answer, status, error, message],
        )  # fmt: skip

    @operation(scope="write", repeatable=True)
    def task_focus(self, task_id: str | None = None, *, key: str | None = None) -> Written:
        """Make a task the current one of this session, for example when a session takes over from another.

        Without a session, the user chooses the task of this folder: calls without an id and without a session
        use it as long as it is open.
        """
        session = self.origin.session
        if not session:
            return self._choose_for_folder(task_id)
        return self._write(
            "task_focus",
            task_id,
            lambda tx, head, now: focus_event(self, tx, head),
            key=key,
            arguments=[session],
        )

    def _choose_for_folder(self, task_id: str | None) -> Written:
        workspace = self.workspace
        if self.origin.channel != "user" or not workspace:
            raise InvalidInput(
                "invalid_argument",
                "Without a session, only the user can choose the task of a folder.",
                "Set RINGBOLT_SESSION or pass --session; for one command name the task.",
            )

        def work(tx: Tx) -> Written:
            head = self._find(tx, task_id)
            folder_tasks.choose(tx, workspace, head["task_id"])
            return written(head, head["last_seq"], Draft(""))

        return self._commit(work)

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
                named = goal_named(tx, target, self.grant)
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
                ended = {"status": "superseded"}
                if not other["completed_at"]:
                    ended["completed_at"] = now
                replaced = Draft(
                    "task.updated", data={"superseded_by": head["task_id"]}, sets={"heads": ended}
                )
                self._append(tx, other, replaced, now, "task_link")
            link = link_row(kind, named, head["last_seq"] + 1, "removed" if remove else "active")
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


def _existing(task: Task | None, name: str | None) -> Task:
    if task is None:
        raise NotFound("task_not_found", f"There is no task {name}.", "task_list shows the tasks.")
    return task


def goal_named(tx: Tx, name: str, grant: Grant) -> str:
    """The id of the goal with this id or prefix; any other text is returned unchanged."""
    plain = rules.normal_id(name)
    matches = [] if plain is None else tx.heads_with_prefix(plain, 2)
    matches = [row for row in matches if grant.sees(row["workspace_path"])]
    head = tx.head(matches[0]["task_id"]) if len(matches) == 1 else None
    return head["task_id"] if head is not None and head["kind"] == "goal" else name


def _registered(
    memory: Base,
    tx: Tx,
    new: _Registration,
    parent: str | None,
    workspace: str | None,
    repository: str | None,
    now: str,
) -> Draft:
    """The event that registers a new task."""
    heads: dict[str, Any] = {
        "kind": new.kind,
        "name": new.name,
        "status": "active",
        "phase": new.phase,
        "workspace_path": workspace,
        "repository": repository,
        **rules.phase_stamps({}, new.phase, now, planned=bool(new.steps)),
    }
    if session := memory.origin.session:
        heads.update(session_id=session, focus=tx.last_focus(session) + 1)
    if parent is not None:
        heads["parent_id"] = parent
    if new.steps:
        heads.update(plan_version=1, plan_seq=1)
    sets = {
        "heads": heads,
        "+extras": without_none(new.extras),
        "links": new.links(tx, memory.grant, parent) or None,
        "+steps": added_steps(new.steps, 1, 0) or None,
        "+labels": new.labels or None,
    }
    items = tuple(step["id"] for step in new.steps)
    return Draft("task.registered", text=new.request, sets=without_none(sets), steps=items)


def _adopted(memory: Base, tx: Tx, head: Row, new: _Registration, now: str) -> list[Draft]:
    """The events that turn the session's draft into the registered task."""
    phase = {"phase": new.phase} if new.phase not in ("received", "planned") else {}
    return adoption(
        memory,
        tx,
        head,
        now,
        heads={"name": new.name, **phase},
        extras=new.extras,
        labels=new.labels,
        links=new.links(tx, memory.grant, seq=head["last_seq"] + 1),
        request=new.request,
        plan=new.plan if new.steps else None,
    )


def statuses_in(status: str | Sequence[str]) -> list[str]:
    """The statuses of a filter: open, ended, all, or one or several words."""
    groups = {"open": rules.OPEN, "ended": rules.ENDED, "all": rules.TASK_STATUSES}
    if isinstance(status, str) and status in groups:
        return list(groups[status])
    words = [status] if isinstance(status, str) else status
    if not is_list(words) or not words:
        raise InvalidInput(
            "invalid_argument",
            f"status cannot be {shown(status)}.",
            "Use open, ended, all, or one or several statuses.",
        )
    return list(
        dict.fromkeys(foreign_statuses.read_task_status(validate.line("status", word))[0] for word in words)
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
        raise InvalidInput("invalid_argument", "error has no message.", "Pass the error message.")
    return summary
