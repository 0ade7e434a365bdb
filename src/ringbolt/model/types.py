"""The values that go in and out of Ringbolt: words with a fixed meaning, and frozen records.

Nothing here imports `typing` or `dataclasses` at run time: together they would cost a hook more than
everything else it does (docs/adr/0002). Type checkers see ordinary dataclasses all the same.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Literal, TypeGuard, dataclass_transform

    from .results import Answer

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


class RelatedGoal(Record):
    """A goal that a task is tied to, in a line; of a text that stands for one, only that is known."""

    id: str
    name: str | None = None
    status: str | None = None
    reason: str | None = None
    met: int = 0
    total: int = 0
    channel: Channel | None = None


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
