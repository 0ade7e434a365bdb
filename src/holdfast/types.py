"""The values that go in and out of Holdfast: words with a fixed meaning, and frozen records.

Nothing here imports `typing` or `dataclasses` at run time: together they would cost a hook more than
everything else it does (docs/adr/0002). Type checkers see ordinary dataclasses all the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypeGuard, dataclass_transform

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
    ItemStatus = Literal["pending", "active", "completed", "failed", "skipped", "cancelled"]
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
    EffectStatus = Literal["intended", "did", "did_not", "unknown"]
    Channel = Literal["user", "agent", "tool", "web", "import", "system"]
    LinkKind = Literal["parent", "goal", "supersedes", "blocks", "related"]
    Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
else:

    def dataclass_transform(**_: object):
        return lambda cls: cls


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list or tuple: what JSON calls an array."""
    return isinstance(value, (list, tuple))


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is a mapping: what JSON calls an object."""
    return isinstance(value, dict)


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Record:
    """A frozen value with named fields, compared and shown by them."""

    __fields__: tuple[str, ...] = ()
    __names__: frozenset[str] = frozenset()
    __defaults__: dict[str, Any] = {}  # noqa: RUF012 - one for each class, never changed

    def __init_subclass__(cls) -> None:
        own = cls.__dict__.get("__annotations__", {})  # noqa: RUF063 - inspect costs 8 ms to import
        inherited, given = cls.__fields__, cls.__dict__
        cls.__fields__ = (*inherited, *[name for name in own if name not in inherited])
        cls.__names__ = frozenset(cls.__fields__)
        cls.__defaults__ = cls.__defaults__ | {name: given[name] for name in own if name in given}

    def __init__(self, **values: Any) -> None:
        fields = self.__dict__
        fields.update(self.__defaults__)
        fields.update(values)
        if fields.keys() != self.__names__:
            missing = [name for name in self.__fields__ if name not in fields]
            unknown = [name for name in fields if name not in self.__fields__]
            raise TypeError(f"{type(self).__name__} lacks {missing} and has no {unknown}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        # Fields that are mappings or lists are left out: they cannot be hashed, and need not be.
        plain = (value for value in self.__dict__.values() if isinstance(value, (str, int, float)))
        return hash((type(self), *plain))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__fields__)
        return f"{type(self).__name__}({shown})"

    def replace(self, **changes: Any):
        """The same value with some fields changed."""
        return type(self)(**{**self.__dict__, **changes})

    def to_dict(self) -> dict[str, Any]:
        """The value as plain dicts, lists and scalars, ready for JSON."""
        return {name: _plain(self.__dict__[name]) for name in self.__fields__}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_dict()
    if is_list(value):
        return [_plain(inner) for inner in value]
    if is_dict(value):
        return {key: _plain(inner) for key, inner in value.items()}
    return value


class Origin(Record):
    """Who wrote a row, stamped on every event: principal, agent, channel of trust, session."""

    principal: str = ""
    agent: str = ""
    channel: Channel = "agent"
    session: str = ""


class Event(Record):
    """One line of the ledger: what happened (`type`, `text`, `data`) and what it changed (`sets`)."""

    task_id: str
    seq: int
    type: str
    at: str
    origin: Origin
    item: str | None = None
    text: str | None = None
    data: Mapping[str, Any]
    sets: Mapping[str, Any]
    ref: int | None = None
    correlation: str = ""
    hash: str = ""
    forgotten: bool = False


class Source(Record):
    """Where a text comes from: the event that set it, and the channel of trust it came through."""

    seq: int
    channel: Channel


class Item(Record):
    """A step of the plan. `ordinal` is its place for display; only `id` is a name."""

    id: str
    ordinal: int
    title: str
    status: ItemStatus
    stage: str | None = None
    basis: Literal["explicit", "inferred"] | None = None
    evidence: Literal["reported", "verified"] | None = None
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


class PlanVersion(Record):
    """A plan as it was when it was made."""

    version: int
    seq: int
    at: str
    reason: str | None = None
    items: tuple[Item, ...] = ()


class Entry(Record):
    """Something worth remembering; the fields of a decision or an exclusion are in `data`."""

    seq: int
    type: EntryType
    at: str
    status: EntryStatus
    summary: str
    detail: str | None = None
    item: str | None = None
    key: str | None = None
    tags: tuple[str, ...] = ()
    relevance_to: tuple[str, ...] = ()
    data: Mapping[str, Any]
    replaced_by: int | None = None
    origin: Origin


class Action(Record):
    """Something that was done, with its input, its output and its logs one level down."""

    seq: int
    at: str
    type: ActionType
    status: ActionStatus
    summary: str
    item: str | None = None
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


class Effect(Record):
    """A change to the world that must not be made twice: did it, did not, or unknown (then verify)."""

    seq: int
    at: str
    what: str
    status: EffectStatus
    verify: str | None = None
    item: str | None = None
    outcome: str | None = None
    outcome_seq: int | None = None
    outcome_channel: Channel | None = None
    channel: Channel = "agent"


class FileTouch(Record):
    """A file that the task created, modified or deleted."""

    path: str
    change: Literal["created", "modified", "deleted"]
    seq: int
    at: str
    channel: Channel | None = None


class Claim(Record):
    """A lease on a task (item is empty) or on one item; writes with an older token are refused."""

    item: str
    holder: str
    token: int
    expires_at: str
    reason: str | None = None


class Link(Record):
    """A tie from this task to another one, or to a goal."""

    kind: LinkKind
    target: str
    seq: int


class ErrorSummary(Record):
    """Why a task failed, and where."""

    message: str
    stage: str | None = None
    step: str | None = None


class Timestamps(Record):
    """The six moments of a task's life; what has not happened is None."""

    created_at: str
    plan_generated_at: str | None = None
    execution_started_at: str | None = None
    synthesis_started_at: str | None = None
    completed_at: str | None = None
    last_updated_at: str


class TaskCard(Record):
    """A task in one line: enough to choose one from a list.

    Of the steps that are done some are `verified` by a receipt, the others only reported. `unknown` is how
    many side effects were begun of which nobody knows how they ended.
    """

    id: str
    name: str
    status: TaskStatus
    phase: Phase
    reason: str | None = None
    attention: str | None = None
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


class Task(TaskCard):
    """A task as it stands: goal, plan, decisions, exclusions, variables and what is open."""

    goal: str | None = None
    request: str | None = None
    context: Any = None
    repository: str | None = None
    acceptance: tuple[Any, ...] = ()
    approval_mode: str = "auto"
    callback_url: str | None = None
    metadata: Mapping[str, Any]
    tags: tuple[str, ...] = ()
    timestamps: Timestamps
    plan_version: int = 0
    last_replanned_at: str | None = None
    items: tuple[Item, ...] = ()
    decisions: tuple[Entry, ...] = ()
    exclusions: tuple[Entry, ...] = ()
    errors: tuple[Entry, ...] = ()
    questions: tuple[Entry, ...] = ()
    instructions: tuple[Entry, ...] = ()
    notes: tuple[Entry, ...] = ()
    variables: Mapping[str, Any]
    effects: tuple[Effect, ...] = ()
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


class Moment(Record):
    """One thing that happened lately, in a line; long texts are cut."""

    seq: int
    at: str
    type: str
    text: str
    channel: Channel
    item: str | None = None
    status: str | None = None


class Wait(Record):
    """Something that the task waits for."""

    seq: int
    at: str
    target: str
    until: str | None = None
    channel: Channel = "agent"


class WaitResult(Record):
    """A wait as it stands: `result` says how it ended, `said` what the last look found. It is `due` when
    nobody has looked although it was time to: then no worker runs."""

    wait_id: str
    task_id: str
    seq: int
    state: Literal["watching", "resolved", "timeout", "cancelled", "error"]
    target: str
    until: str | None
    timeout: float
    started_at: str
    ended_at: str | None = None
    result: str | None = None
    said: str | None = None
    judged_by: Literal["rule", "model"] = "rule"
    due: bool = False


class Name(Record):
    """A name that the work uses: a file, an identifier, a version, a ticket, a commit, an address."""

    name: str
    kind: str
    seq: int
    channel: Channel
    weight: float


class Summary(Record):
    """A running summary: what it says, up to which event, and who made it (`ledger`, or a model's name).

    Its trust is the lowest of what it was made of. `since` has a line for each event after it, the newest
    ones where there are many; `left_out` counts the others.
    """

    text: str
    seq: int
    at: str
    source: str
    channel: Channel
    since: tuple[str, ...] = ()
    left_out: int = 0


class Snapshot(Task):
    """A task with all that views show: also its variables as entries, what happened lately, waits, the errors
    and side effects that were settled, and what was distilled: the names in use, the running summary."""

    values: tuple[Entry, ...] = ()
    recent: tuple[Moment, ...] = ()
    waits: tuple[Wait, ...] = ()
    resolved: tuple[Entry, ...] = ()
    settled: tuple[Effect, ...] = ()
    criteria: tuple[Criterion, ...] = ()
    goals: tuple[RelatedGoal, ...] = ()
    names: tuple[Name, ...] = ()
    summary: Summary | None = None


class Criterion(Record):
    """What must hold for a goal to be reached: how it stands, and what says so.

    `check` is `file`, `command`, `http` or `manual`, where a person decides; `evidence` what the last look or
    decision said, `evidence_seq` its event, `by` the channel that it came through.
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


class GoalTask(Record):
    """A task that is tied to a goal."""

    id: str
    name: str
    status: TaskStatus
    reason: str | None = None
    done: int = 0
    total: int = 0
    blockers: tuple[str, ...] = ()
    seq: int
    updated_at: str


class GoalBudget(Record):
    """What a goal may use and has used: attempts in vain, tokens, seconds, cost; `exhausted` names the limits
    that are reached."""

    limits: Mapping[str, float]
    used: Mapping[str, float]
    exhausted: tuple[str, ...] = ()


class GoalStatus(Record):
    """A goal as it stands: its criteria and its tasks, what it may use, and what keeps it from going on.

    `ready`: all criteria are met or waived. `blocked` says why it stands still, until it is reset; `repeated`
    are the blockers of its tasks since the last reset: how often each came, and in which event last.
    """

    goal_id: str
    name: str
    status: TaskStatus
    reason: str | None = None
    description: str | None = None
    seq: int
    ready: bool
    met: int
    criteria: tuple[Criterion, ...] = ()
    tasks_done: int = 0
    tasks_total: int = 0
    steps_done: int = 0
    steps_total: int = 0
    tasks: tuple[GoalTask, ...] = ()
    budget: GoalBudget
    blocked: str | None = None
    blocker_limit: int
    repeated: tuple[Repeated, ...] = ()


class Repeated(Record):
    """A blocker that tasks of a goal have met: its words when it came last, where that was, and how often."""

    text: str
    task_id: str
    seq: int
    times: int


class RelatedGoal(Record):
    """A goal that a task is tied to, in a line; of a text that stands for one, only that is known."""

    id: str
    name: str | None = None
    status: str | None = None
    reason: str | None = None
    met: int = 0
    total: int = 0
    channel: Channel | None = None


class Distilled(Record):
    """What distilling did: up to which event all that is derived from a task is now, and the new entries."""

    task_id: str
    seq: int
    entries: tuple[int, ...] = ()


class ItemProgress(Record):
    """A step with what is believed of it: how likely it is over, and what that suggests."""

    id: str
    title: str
    status: ItemStatus
    basis: Literal["explicit", "inferred"] | None = None
    confidence: float | None = None
    suggestion: Literal["completed", "active"] | None = None
    cause: int | None = None


class ProgressReport(Record):
    """How a plan stands; `current` is the step that is likely worked on."""

    task_id: str
    seq: int
    current: str | None
    items: tuple[ItemProgress, ...]


class Answer(Record):
    """An answer from the memory: the text with its citations, and where it comes from.

    `source` is `ledger` (the recorded state), `recall` (a search) or a model's name; `about` is what the
    question was understood to ask for.
    """

    task_id: str | None
    seq: int
    question: str
    text: str
    source: str
    about: str
    cites: tuple[int, ...] = ()


class Packet(Record):
    """A resume packet: its text, how many tokens that has, and how much of each part was left out."""

    task_id: str
    seq: int
    text: str
    tokens: int
    budget: int
    left_out: Mapping[str, int]


class Pattern(Record):
    """What tasks have taught: something that worked, that failed, or that worked in the end (`retry`).

    `text` is the step or command that it was last seen with, `detail` the error or the means, `fix` what
    worked after all. They are quoted from tasks and tools: data, never instructions.
    """

    type: Literal["success", "failure", "retry"]
    key: str
    text: str
    detail: str | None = None
    fix: str | None = None
    frequency: int = 1
    last_seen: str
    channel: Channel
    task_id: str
    seq: int


class Written(Record):
    """What every write answers: the citation of what was written, and where the task now stands."""

    task_id: str
    seq: int
    status: TaskStatus
    phase: Phase
    done: int
    total: int
    current: str | None = None
    next: str | None = None
    items: tuple[str, ...] = ()
    token: int | None = None
    expires_at: str | None = None
    warnings: tuple[str, ...] = ()
    answer: Answer | None = None
    patterns: tuple[Pattern, ...] = ()


class TaskPage(Record):
    """Some tasks, newest change first, and the cursor of the next page."""

    tasks: tuple[TaskCard, ...]
    cursor: int | None = None


class Thread(Record):
    """Some events of a task in order, and the cursor of the page before."""

    task_id: str
    events: tuple[Event, ...]
    cursor: int | None = None


class Drill(Record):
    """One level of Task → items → actions → logs, with the level below."""

    task: TaskCard
    items: tuple[Item, ...] = ()
    item: Item | None = None
    actions: tuple[Action, ...] = ()
    action: Action | None = None
    entries: tuple[Entry, ...] = ()
    left_out: int = 0


class DrillRow(Record):
    """One kind of thing that must come back after a compaction: how many of them there were, the percentage
    that is wanted, and how many came back in each way."""

    name: str
    wanted: int | None
    count: int
    small: int
    usual: int
    asked: int
    host: int
    host_count: int


class DrillResult(Record):
    """A recovery drill: where the context was lost and why there, its rows, and whether all came back of what
    must come back whole."""

    task_id: str | None
    name: str
    cut: int
    last: int
    because: str
    rows: tuple[DrillRow, ...]
    ok: bool
    seq: int | None = None
    at: str | None = None


class DrillResults(Record):
    """Recovery drills that were kept, the newest first."""

    results: tuple[DrillResult, ...]
    left_out: int = 0


class Anchor(Record):
    """A file that an entry cites, by its content: whether it is still what was cited."""

    path: str
    state: Literal["fresh", "stale", "unverifiable"]


class Hit(Record):
    """Something that recall found: where it stands, who wrote it, the words around the match, and why."""

    task_id: str
    task_name: str
    seq: int
    type: str
    at: str
    origin: Origin
    item: str | None = None
    status: str | None = None
    replaced_by: int | None = None
    title: str
    snippet: str | None = None
    score: float
    why: str
    alike: int = 0
    anchors: tuple[Anchor, ...] = ()


class Recall(Record):
    """What recall found, best first, and the cursor of the next page."""

    query: str | None
    hits: tuple[Hit, ...]
    cursor: int | None = None
    semantic: bool = False
    warnings: tuple[str, ...] = ()


class Problem(Record):
    """Something that `verify` found: where, what kind, and the difference."""

    kind: str
    task_id: str | None = None
    seq: int | None = None
    detail: str


class VerifyReport(Record):
    """The outcome of folding the ledger again and comparing it with the state."""

    ok: bool
    tasks: int
    events: int
    problems: tuple[Problem, ...] = ()


class Divergence(Record):
    """A task that two stores continued differently: the other side is kept as a task of its own."""

    task_id: str
    seq: int
    kept_as: str


class ImportReport(Record):
    """What an import did; everything it read is in one of these counts."""

    events: int
    added: int
    known: int
    tasks: tuple[str, ...] = ()
    conflicts: tuple[Divergence, ...] = ()
    purged: int = 0


class Removal(Record):
    """What forgetting or purging takes away: would take, with a token to confirm it, until it is `done`.

    `carried` are events that others wrote and that repeat what is forgotten; `spooled` events of hosts that
    were not written yet. `scrubbed`: nothing of it is left in the files of the store. `elsewhere` are files
    that may still hold it, and that are yours to remove.
    """

    operation: Literal["forget", "purge"]
    done: bool = False
    token: str | None = None
    expires_at: str | None = None
    tasks: int
    events: int
    carried: int = 0
    spooled: int = 0
    task_ids: tuple[str, ...] = ()
    scrubbed: bool | None = None
    elsewhere: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Extraction(Record):
    """What an extraction did: up to which event, the entries it wrote, and what became of the rest.

    `known` were there already, `settled` are errors that were found to be fixed, `refused` could not be
    stored; `patterns` were seen.
    """

    task_id: str
    seq: int
    events: int = 0
    entries: tuple[int, ...] = ()
    known: int = 0
    settled: int = 0
    refused: int = 0
    patterns: int = 0


class Job(Record):
    """Something that is to be done by a worker; of the same kind, task and key there is only one."""

    id: int
    kind: str
    task_id: str
    key: str
    data: Mapping[str, Any]
    status: Literal["waiting", "leased", "dead"]
    attempts: int
    due_at: str
    token: int
    holder: str | None = None
    error: str | None = None
    created_at: str


class WorkerSeen(Record):
    """A worker that runs, or ran last: who it is, what it does, and when it was heard of."""

    holder: str
    kinds: tuple[str, ...] = ()
    alive: bool = False
    started_at: str
    seen_at: str
    ended_at: str | None = None


class JobsStatus(Record):
    """The queue: how many jobs wait, are being worked on and were given up, by kind and in all.

    `due` are those that wait though their time has come, the first since `due_since`; `totals` is what
    became of jobs so far, by kind, and `workers` who does them.
    """

    waiting: int = 0
    leased: int = 0
    dead: int = 0
    due: int = 0
    kinds: Mapping[str, Mapping[str, int]]
    oldest: str | None = None
    due_since: str | None = None
    given_up: tuple[Job, ...] = ()
    workers: tuple[WorkerSeen, ...] = ()
    totals: Mapping[str, Mapping[str, int]] = {}


class WorkerReport(Record):
    """What a worker did: jobs that it did, that failed, that were given up, and whose lease it had lost."""

    done: int = 0
    failed: int = 0
    dead: int = 0
    lost: int = 0


class UpkeepChange(Record):
    """What the upkeep did to a task, or would do: the rule, the status before and after, and why.

    `seq` is the event that says so, None where nothing was written; undoing that event takes it back.
    """

    rule: str
    task_id: str
    name: str
    before: str
    after: str
    reason: str
    seq: int | None = None


class UpkeepReport(Record):
    """What a run of the upkeep did, or would do: how many changes by rule, and the first of them.

    `left_out` changes are not listed; `skipped` tasks had changed meanwhile. `clock_sure` says whether the
    clock is believed; `as_of` up to when time counts (None: nothing is old yet); `clock_jumped` by how many
    seconds it was found to be set. `failures`: rules that could not be gone through, with the error.
    """

    dry_run: bool
    at: str
    workspace: str | None
    rules: tuple[str, ...]
    counts: Mapping[str, int]
    changes: tuple[UpkeepChange, ...] = ()
    left_out: int = 0
    skipped: int = 0
    clock_sure: bool = True
    as_of: str | None = None
    clock_jumped: float | None = None
    failures: Mapping[str, str] = {}
    warnings: tuple[str, ...] = ()


class MirrorStatus(Record):
    """How a file that mirrors a task or a workspace stands: what it shows, and why it is stale if it is."""

    kind: str
    path: str
    task_id: str | None = None
    workspace: str | None = None
    seq_shown: int | None = None
    seq_now: int
    stale: bool
    reasons: tuple[str, ...] = ()
    refreshed_at: str | None = None
    failed_at: str | None = None


class CopyReport(Record):
    """What copying a store did, and how the two compare in the end."""

    ok: bool
    tasks: int
    events: int
    copied: int
    behind: tuple[str, ...] = ()
    diverged: tuple[str, ...] = ()
    others: int = 0
    source: VerifyReport | None = None
    target: VerifyReport | None = None


class FolderExport(Record):
    """What writing a task as a folder did; `path` is where its files are."""

    task_id: str
    path: str
    seq: int
    files: tuple[str, ...]
    written: int
    removed: int
    warnings: tuple[str, ...] = ()


class FolderImport(Record):
    """What reading a folder did: the tasks it was about, how many events are new, and how many were known."""

    tasks: tuple[str, ...]
    added: int
    known: int
    active: str | None = None
    conflicts: tuple[Divergence, ...] = ()
    warnings: tuple[str, ...] = ()


class Fact(Record):
    """Something known: about a task (category `project`), or about anything else.

    `derived` ones are no fact that was stored: they are what the task itself says now.
    """

    id: str
    task_id: str
    seq: int
    category: str
    entity: str | None = None
    key: str | None = None
    value: Any = None
    text: str | None = None
    why: str | None = None
    importance: float | None = None
    tags: tuple[str, ...] = ()
    status: EntryStatus = "active"
    at: str | None = None
    derived: bool = False
    channel: Channel | None = None


class FactPage(Record):
    """Some facts, the best match first, and how many more there are."""

    facts: tuple[Fact, ...]
    left_out: int = 0


class ActiveRow(Record):
    """One row of ACTIVE-TASKS.md; a time that is not known is None and shown as Unknown."""

    label: str
    title: str
    status: str = "In progress"
    next: str | None = None
    branch: str | None = None
    stash_commit: str | None = None
    subagent: str | None = None
    evidence: str | None = None
    unknown: str | None = None
    related_goal: str | None = None
    handoff: str | None = None
    started: str | None = None
    updated: str | None = None
    stale: bool = False
    completed: bool = False
    session: str | None = None
    task_id: str | None = None
    seq: int | None = None
    channel: Channel | None = None


class Projection(Record):
    """Which rows of ACTIVE-TASKS.md are shown, and how."""

    mode: str = "readable"
    exclude_generic_title: bool = True
    title_min_chars: int = 0
    dedupe_by: str = "none"
    max_rows: int = 0
    sectioned: bool = True


class Diagnostics(Record):
    """What became of the rows on their way into a file or a prompt."""

    fetched: int = 0
    grouped: int = 0
    collapsed: int = 0
    stale: int = 0
    rendered: int = 0
    injected: int = 0
    elapsed_ms: float = 0.0


class ProjectionState(Record):
    """Whether the file shows what the store has, and if not, why."""

    path: str | None = None
    stale: bool = False
    stale_reasons: tuple[str, ...] = ()
    store_position: int | None = None
    file_position: int | None = None
    file_modified_at: str | None = None


class RenderReport(Record):
    """What rendering ACTIVE-TASKS.md did."""

    requested: bool = True
    applied: bool = False
    path: str | None = None
    reason: str | None = None
    error: Mapping[str, Any] | None = None
    diagnostics: Diagnostics = Diagnostics()


class ActiveTaskList(Record):
    """The rows of ACTIVE-TASKS.md as they stand, and the state of the file."""

    generated_at: str
    source: str
    ledger: str
    stale_threshold_minutes: int
    active: tuple[ActiveRow, ...]
    active_count: int
    stale_count: int
    completed_count: int
    projection: ProjectionState
    render: RenderReport
    warnings: tuple[str, ...] = ()
    diagnostics: Diagnostics = Diagnostics()


class ActiveBlock(Record):
    """What is put into a prompt about active tasks; empty where there is nothing to say."""

    text: str
    diagnostics: Diagnostics
