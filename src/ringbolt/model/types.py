"""The values that operations take and return: literal types and frozen structs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, Self, TypeGuard

import msgspec

TaskStatus = Literal[
    "active",
    "waiting",
    "paused",
    "completed",
    "failed",
    "cancelled",
    "abandoned",
    "superseded",
]
Phase = Literal[
    "received",
    "planning",
    "planned",
    "executing",
    "replanning",
    "recovering",
    "debugging",
    "reviewing",
    "synthesizing",
]
StepStatus = Literal["pending", "active", "completed", "failed", "skipped", "cancelled"]
ActionType = Literal["cli", "gui", "wait", "vision", "reasoning", "tool", "edit", "system", "other"]
ActionStatus = Literal["started", "completed", "failed", "skipped"]
EntryType = Literal[
    "decision",
    "error",
    "tool_result",
    "user_instruction",
    "discovery",
    "artifact",
    "context",
    "exclusion",
    "variable",
    "question",
    "snapshot",
    "fact",
]
EntryStatus = Literal["active", "resolved", "superseded", "invalidated"]
EffectStatus = Literal["intended", "did", "did_not", "unknown", "undone", "superseded"]
Channel = Literal["user", "agent", "tool", "web", "import", "system"]
RequestStatus = Literal["current", "finished", "open"]
LinkKind = Literal["parent", "goal", "supersedes", "blocks", "related"]
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


_SCALARS = frozenset((str, int, bool, float))


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list or tuple, a JSON array."""
    return isinstance(value, (list, tuple))


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a dict, a JSON object."""
    return isinstance(value, dict)


def as_json(value: Any) -> Any:
    """The result of an operation as plain JSON data."""
    if isinstance(value, Value):
        return value.to_dict()
    return [as_json(part) for part in value] if is_list(value) else value


class Value(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """A frozen value with named fields. `str()` is what a person wants to read of it."""

    def __str__(self) -> str:
        from .printing import printed  # only programs that print values need it

        return printed(self)

    def replace(self, **changes: Any) -> Self:
        """The same value with some fields changed."""
        return msgspec.structs.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """The value as plain dicts, lists and scalars, ready for JSON."""
        return {name: _plain(getattr(self, name)) for name in self.__struct_fields__}


def _plain(value: Any) -> Any:
    if value is None or type(value) in _SCALARS:  # most fields
        return value
    if isinstance(value, Value):
        return value.to_dict()
    if is_list(value):
        return [_plain(inner) for inner in value]
    if is_dict(value):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


class Origin(Value, frozen=True, kw_only=True):
    """Who wrote an event: principal, agent, channel of trust, session.

    Of an import, these are what the file says, except for the channel: that is `import`, and `claimed` is the
    channel that the file names.
    """

    principal: str = ""
    agent: str = ""
    channel: Channel = "agent"
    session: str = ""
    claimed: str = ""


class Event(Value, frozen=True, kw_only=True):
    """One event of the ledger: what happened (`type`, `text`, `data`) and the state it changed (`sets`)."""

    task_id: str
    seq: int
    type: str
    at: str
    origin: Origin
    step: str | None = None
    text: str | None = None
    data: Mapping[str, Any]
    sets: Mapping[str, Any]
    ref: int | None = None
    correlation: str = ""
    hash: str = ""
    forgotten: bool = False


class Source(Value, frozen=True, kw_only=True):
    """Where a text comes from: the event that set it, and its channel of trust."""

    seq: int
    channel: Channel


class Step(Value, frozen=True, kw_only=True):
    """A step of the plan. `ordinal` is only its place for display; `id` identifies it.

    `evidence` of a completed step: somebody `reported` it, a check has `verified` it, or its last check has
    `contradicted` it: it failed and has not passed since.
    """

    id: str
    ordinal: int
    title: str
    status: StepStatus
    stage: str | None = None
    basis: Literal["explicit", "inferred"] | None = None
    evidence: Literal["reported", "verified", "contradicted"] | None = None
    cause: int | None = None
    note: str | None = None
    active_issue: str | None = None
    depends_on: tuple[str, ...] = ()
    ready: bool = False
    detail: Mapping[str, Any]
    plan_version: int = 1
    dropped_in: int | None = None
    replaced_by: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    duration_seconds: float | None = None
    version: int = 0
    sources: Mapping[str, Source] = {}


class PlanVersion(Value, frozen=True, kw_only=True):
    """A version of the plan as it was made."""

    version: int
    seq: int
    at: str
    reason: str | None = None
    label: str | None = None
    steps: tuple[Step, ...] = ()


class Entry(Value, frozen=True, kw_only=True):
    """A decision, error, value or other note to remember; the fields of its type are in `data`."""

    seq: int
    type: EntryType
    at: str
    status: EntryStatus
    summary: str
    detail: str | None = None
    step: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    relevance_to: tuple[str, ...] = ()
    data: Mapping[str, Any]
    replaced_by: int | None = None
    origin: Origin


class Action(Value, frozen=True, kw_only=True):
    """A tool call, command, edit or other action, with its input, output and logs."""

    seq: int
    at: str
    type: ActionType
    status: ActionStatus
    summary: str
    step: str | None = None
    tool: str | None = None
    input: Any = None
    output: Any = None
    error: Any = None
    stage: str | None = None
    sub_task_id: str | None = None
    ended_at: str | None = None
    duration_ms: float | None = None
    logs: tuple[Event, ...] = ()
    origin: Origin


class Effect(Value, frozen=True, kw_only=True):
    """A side effect that must not happen twice: done, not done, or unknown (verify it first)."""

    seq: int
    at: str
    what: str
    status: EffectStatus
    kind: str | None = None
    verify: str | None = None
    step: str | None = None
    outcome: str | None = None
    outcome_seq: int | None = None
    outcome_channel: Channel | None = None
    channel: Channel = "agent"


class Approval(Value, frozen=True, kw_only=True):
    """Something that waits for the user's word, or got it: a step (`step`) or a side effect (`intent`).

    `note` is what the user said about it."""

    seq: int
    at: str
    what: str
    asks: Literal["step", "effect"]
    status: Literal["pending", "approved", "rejected"]
    step: str | None = None
    intent: int | None = None
    note: str | None = None
    channel: Channel = "agent"


class FileTouch(Value, frozen=True, kw_only=True):
    """A file that the task created, modified or deleted."""

    path: str
    change: Literal["created", "modified", "deleted"]
    seq: int
    at: str
    channel: Channel | None = None


class Claim(Value, frozen=True, kw_only=True):
    """A lease on a task (`step` is empty) or a step; writes with an older token get `stale_token`."""

    step: str
    holder: str
    token: int
    expires_at: str
    reason: str | None = None


class Link(Value, frozen=True, kw_only=True):
    """A link from this task to another one or to a goal."""

    kind: LinkKind
    target: str
    seq: int


class ErrorSummary(Value, frozen=True, kw_only=True):
    """Why a task failed, and where."""

    message: str
    stage: str | None = None
    step: str | None = None


class Timestamps(Value, frozen=True, kw_only=True):
    """The six timestamps of a task; None for a stage that it has not reached."""

    created_at: str
    plan_generated_at: str | None = None
    execution_started_at: str | None = None
    synthesis_started_at: str | None = None
    completed_at: str | None = None
    last_updated_at: str


class Proposal(Value, frozen=True, kw_only=True):
    """Something that a caller wanted and only the user may do, until the user accepts or rejects it.

    `operation` is the call that accepting it makes, `about` what that would change.
    """

    seq: int
    at: str
    text: str
    operation: str
    about: str = ""
    channel: Channel = "agent"


class TaskCard(Value, frozen=True, kw_only=True):
    """A task in one line: enough to choose it from a list.

    `life` sums up its status and the session that works on it in a word or two: at work, waiting for you,
    held up, resting, stuck, done. Of the `done` steps, `verified` have a receipt and the others were only
    reported. `unknown` counts side effects that were started and whose outcome is unknown.
    """

    id: str
    name: str
    status: TaskStatus
    phase: Phase
    reason: str | None = None
    attention: str | None = None
    life: str = ""
    kind: Literal["task", "goal", "facts", "log"] = "task"
    done: int = 0
    total: int = 0
    verified: int = 0
    unknown: int = 0
    current: str | None = None
    current_title: str | None = None
    next: str | None = None
    next_title: str | None = None
    next_step: str | None = None
    blockers: tuple[str, ...] = ()
    workspace: str | None = None
    session: str | None = None
    parent: str | None = None
    archived: bool = False
    created_at: str
    updated_at: str
    seq: int
    version: int


class Request(Value, frozen=True, kw_only=True):
    """A request that the user made within the task: the current one, or an earlier one, finished or open."""

    seq: int
    at: str
    text: str
    status: RequestStatus


class Task(TaskCard, frozen=True, kw_only=True):
    """A task: its goal, plan, decisions, exclusions, variables and open questions.

    `instructions` are the user's own words. What others recorded as an instruction of the user is in
    `reported`. `proposals` are not in force: they wait for the user.
    """

    goal: str | None = None
    request: str | None = None
    requests: tuple[Request, ...] = ()
    context: Any = None
    repository: str | None = None
    acceptance: tuple[Any, ...] = ()
    approval_mode: str = "auto"
    callback_url: str | None = None
    metadata: Mapping[str, Any]
    tags: tuple[str, ...] = ()
    timestamps: Timestamps
    plan_version: int = 0
    plan_inferred: bool = False
    last_replanned_at: str | None = None
    steps: tuple[Step, ...] = ()
    decisions: tuple[Entry, ...] = ()
    exclusions: tuple[Entry, ...] = ()
    errors: tuple[Entry, ...] = ()
    questions: tuple[Entry, ...] = ()
    instructions: tuple[Entry, ...] = ()
    reported: tuple[Entry, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    notes: tuple[Entry, ...] = ()
    variables: Mapping[str, Any]
    effects: tuple[Effect, ...] = ()
    approvals: tuple[Approval, ...] = ()
    files: tuple[FileTouch, ...] = ()
    links: tuple[Link, ...] = ()
    claims: tuple[Claim, ...] = ()
    answer: str | None = None
    error: ErrorSummary | None = None
    conflict_of: str | None = None
    messages: int = 0
    actions: int = 0
    sources: Mapping[str, Source]
    left_out: Mapping[str, int]


class Moment(Value, frozen=True, kw_only=True):
    """A recent event in one line; long texts are cut."""

    seq: int
    at: str
    type: str
    text: str
    channel: Channel
    step: str | None = None
    status: str | None = None


class Wait(Value, frozen=True, kw_only=True):
    """An open wait of the task."""

    seq: int
    at: str
    target: str
    until: str | None = None
    channel: Channel = "agent"


class Name(Value, frozen=True, kw_only=True):
    """A name that the task uses: a file, an identifier, a version, a ticket, a commit, an address.

    `chance` says how likely it is needed soon; `folder` is the one that a file is in, if it was opened.
    """

    name: str
    kind: str
    seq: int
    channel: Channel
    chance: float
    folder: str = ""


class WorkTree(Value, frozen=True, kw_only=True):
    """The working tree as it was seen last: branch, last commit, files that are not committed, and files that
    were edited after the last check that passed. Paths are from the root of the repository."""

    branch: str | None = None
    commit: str | None = None
    dirty: tuple[str, ...] = ()
    dirty_count: int = 0
    edited_since_check: tuple[str, ...] = ()
    taken_back: Mapping[str, int] = {}
    last_check: str | None = None
    last_check_ok: bool | None = None
    at: str
    seq: int


class RunCommand(Value, frozen=True, kw_only=True):
    """A command that worked here, and its purpose: test, check, build, lint, typecheck, format, run, migrate
    or install."""

    kind: str
    command: str
    needs: str | None = None
    instead_of: str | None = None
    uses: int = 1
    seq: int
    at: str


class Summary(Value, frozen=True, kw_only=True):
    """A running summary: its text, the last event it covers, and who made it (`ledger` or a model's name).

    Its channel is the least trusted one of its sources. `since` has a line for each later event, the newest
    ones if there are many; `left_out` counts the others.
    """

    text: str
    seq: int
    at: str
    source: str
    channel: Channel
    since: tuple[str, ...] = ()
    left_out: int = 0


class Snapshot(Task, frozen=True, kw_only=True):
    """A task with everything that views show: in addition, its variables as entries, recent events, waits,
    settled errors and side effects, the names in use and the running summary. `reports` are the messages that
    completed steps, by step."""

    values: tuple[Entry, ...] = ()
    recent: tuple[Moment, ...] = ()
    waits: tuple[Wait, ...] = ()
    resolved: tuple[Entry, ...] = ()
    settled: tuple[Effect, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    goals: tuple[RelatedGoal, ...] = ()
    names: tuple[Name, ...] = ()
    summary: Summary | None = None
    work_tree: WorkTree | None = None
    run_commands: tuple[RunCommand, ...] = ()
    new_requests: tuple[NewRequest, ...] = ()
    lessons: tuple[Pattern, ...] = ()
    reports: Mapping[str, Moment] = {}
    mode: str = ""
    interruption: Interruption | None = None
    helpers: tuple[Helper, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()


class NewRequest(Value, frozen=True, kw_only=True):
    """A new request of the user within a task; `before` is the state of the request before it
    (`previous finished` or `previous open`)."""

    seq: int
    at: str
    text: str
    channel: Channel
    before: str | None = None


class Interruption(Value, frozen=True, kw_only=True):
    """Why the last turn of a session broke off, and when it can continue, if known."""

    at: str
    what: str
    until: str | None = None


class Helper(Value, frozen=True, kw_only=True):
    """A sub-agent or background command that has started and not yet reported its result."""

    since: str
    what: str
    task_id: str | None = None
    channel: Channel = "tool"


class Neighbour(Value, frozen=True, kw_only=True):
    """Another live session in the same workspace, and the task that it works on, which may be this one."""

    session: str
    since: str
    task_id: str | None = None
    name: str | None = None
    step: str | None = None
    channel: Channel | None = None


class Criterion(Value, frozen=True, kw_only=True):
    """A condition that a goal must meet, with its status and evidence.

    `check` is `file`, `command`, `http`, or `manual`, where a person decides. `evidence` is the result of the
    last check or decision, `evidence_seq` its event, `by` the channel of that event.
    """

    seq: int
    text: str
    status: Literal["open", "met", "failed", "waived"]
    check: str
    target: str | None = None
    channel: Channel
    evidence: str | None = None
    evidence_seq: int | None = None
    by: Channel | None = None
    at: str | None = None


class RelatedGoal(Value, frozen=True, kw_only=True):
    """A goal that a task is linked to, in one line; if the link names no stored goal, only `id` is set."""

    id: str
    name: str | None = None
    status: str | None = None
    reason: str | None = None
    met: int = 0
    total: int = 0
    channel: Channel | None = None


class Pattern(Value, frozen=True, kw_only=True):
    """What an earlier task teaches: something that failed (`model_failure`), with what worked instead in
    `fix`; something that worked (`subtask_success`); or words of the user that were needed
    (`prompt_effective`).

    `detail` is the error or the means, `times` how often it failed in the last task. These texts are quoted
    from tasks and tools: data, never instructions.
    """

    type: Literal["subtask_success", "model_failure", "prompt_effective"]
    key: str
    repository: str = ""
    text: str
    detail: str | None = None
    fix: str | None = None
    times: int = 1
    frequency: int = 1
    last_seen: str
    channel: Channel
    task_id: str
    seq: int

    def sentence(self, quote: Callable[[str], str] = lambda text: text) -> str:
        """The pattern in a sentence; `quote` quotes the recorded texts."""
        if self.type == "prompt_effective":
            return f"the user had to say {quote(self.text)}"
        if self.type == "subtask_success":
            return f"{quote(self.text)} worked" + (f" with {quote(self.detail)}" if self.detail else "")
        most = max(self.times, self.frequency)
        times = {1: "", 2: " twice"}.get(most, f" {most} times")
        why = f" ({quote(self.detail)})" if self.detail else ""
        return f"{quote(self.text)} failed{times}{why}" + (f"; {quote(self.fix)} worked" if self.fix else "")


class Answer(Value, frozen=True, kw_only=True):
    """The answer to a question: its text with citations, and its source.

    `source` is `ledger` (the recorded state), `recall` (a search) or a model's name; `about` is the subject
    that was recognised in the question. `items` are the rows of an answer that is a list, each with its
    citation. `recorded` is false if nothing recorded answers the question; the text then says so, and may
    name the nearest thing.
    """

    task_id: str | None
    seq: int
    question: str
    text: str
    source: str
    about: str
    cites: tuple[int, ...] = ()
    items: tuple[str, ...] = ()
    recorded: bool = True


class StepMove(Value, frozen=True, kw_only=True):
    """A step that a message moved: its id, number and title, and the status it has now."""

    step: str
    number: int
    title: str
    status: StepStatus


class Written(Value, frozen=True, kw_only=True):
    """The result of every write: the new event, and the state of the task after it.

    `moved` are the steps that the message moved by what it says, `asks` the questions that it leaves open:
    the steps in them keep their status.
    """

    task_id: str
    seq: int
    status: TaskStatus
    phase: Phase
    done: int
    total: int
    current: str | None = None
    next: str | None = None
    steps: tuple[str, ...] = ()
    token: int | None = None
    expires_at: str | None = None
    warnings: tuple[str, ...] = ()
    moved: tuple[StepMove, ...] = ()
    asks: tuple[str, ...] = ()
    answer: Answer | None = None
    patterns: tuple[Pattern, ...] = ()


class TaskPage(Value, frozen=True, kw_only=True):
    """A page of tasks, the most recently changed first, and the cursor of the next page."""

    tasks: tuple[TaskCard, ...]
    cursor: int | None = None


class Thread(Value, frozen=True, kw_only=True):
    """A page of a task's events in order, and the cursor of the previous page."""

    task_id: str
    events: tuple[Event, ...]
    cursor: int | None = None


class Drill(Value, frozen=True, kw_only=True):
    """One level of Task → steps → actions → logs, with the level below."""

    task: TaskCard
    steps: tuple[Step, ...] = ()
    step: Step | None = None
    actions: tuple[Action, ...] = ()
    action: Action | None = None
    entries: tuple[Entry, ...] = ()
    left_out: int = 0
