"""The values that operations outside of the core give: reports, pages, answers. A hook needs none of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .types import Channel, Criterion, EntryStatus, ItemStatus, Origin, TaskStatus, Value


class WaitResult(Value, frozen=True, kw_only=True):
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


class GoalTask(Value, frozen=True, kw_only=True):
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


class GoalBudget(Value, frozen=True, kw_only=True):
    """What a goal may use and has used: attempts in vain, tokens, seconds, cost; `exhausted` names the limits
    that are reached."""

    limits: Mapping[str, float]
    used: Mapping[str, float]
    exhausted: tuple[str, ...] = ()


class GoalStatus(Value, frozen=True, kw_only=True):
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


class Repeated(Value, frozen=True, kw_only=True):
    """A blocker that tasks of a goal have met: its words when it came last, where that was, and how often."""

    text: str
    task_id: str
    seq: int
    times: int


class Distilled(Value, frozen=True, kw_only=True):
    """What distilling did: up to which event all that is derived from a task is now, and the new entries."""

    task_id: str
    seq: int
    entries: tuple[int, ...] = ()


class ItemProgress(Value, frozen=True, kw_only=True):
    """A step with what is believed of it: how likely it is over, and what that suggests."""

    id: str
    title: str
    status: ItemStatus
    basis: Literal["explicit", "inferred"] | None = None
    confidence: float | None = None
    suggestion: Literal["completed", "active"] | None = None
    cause: int | None = None


class ProgressReport(Value, frozen=True, kw_only=True):
    """How a plan stands; `current` is the step that is likely worked on."""

    task_id: str
    seq: int
    current: str | None
    items: tuple[ItemProgress, ...]


class Packet(Value, frozen=True, kw_only=True):
    """A resume packet: its text, how many tokens that has, and how much of each part was left out."""

    task_id: str
    seq: int
    text: str
    tokens: int
    budget: int
    left_out: Mapping[str, int]


class DrillRow(Value, frozen=True, kw_only=True):
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


class DrillResult(Value, frozen=True, kw_only=True):
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


class DrillResults(Value, frozen=True, kw_only=True):
    """Recovery drills that were kept, the newest first."""

    results: tuple[DrillResult, ...]
    left_out: int = 0


class Anchor(Value, frozen=True, kw_only=True):
    """A file that an entry cites, by its content: whether it is still what was cited."""

    path: str
    state: Literal["fresh", "stale", "unverifiable"]


class Hit(Value, frozen=True, kw_only=True):
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


class Recall(Value, frozen=True, kw_only=True):
    """What recall found, best first, and the cursor of the next page."""

    query: str | None
    hits: tuple[Hit, ...]
    cursor: int | None = None
    semantic: bool = False
    warnings: tuple[str, ...] = ()


class Problem(Value, frozen=True, kw_only=True):
    """Something that `verify` found: where, what kind, and the difference."""

    kind: str
    task_id: str | None = None
    seq: int | None = None
    detail: str


class VerifyReport(Value, frozen=True, kw_only=True):
    """The outcome of folding the ledger again and comparing it with the state."""

    ok: bool
    tasks: int
    events: int
    problems: tuple[Problem, ...] = ()


class Divergence(Value, frozen=True, kw_only=True):
    """A task that two stores continued differently: the other side is kept as a task of its own."""

    task_id: str
    seq: int
    kept_as: str


class ImportReport(Value, frozen=True, kw_only=True):
    """What an import did; everything it read is in one of these counts."""

    events: int
    added: int
    known: int
    tasks: tuple[str, ...] = ()
    conflicts: tuple[Divergence, ...] = ()
    purged: int = 0


class Removal(Value, frozen=True, kw_only=True):
    """What forgetting or purging takes away: would take, with a token to confirm it, until it is `done`.

    `carried` are events that others wrote and that repeat what is forgotten; `waiting` events of hosts that
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
    waiting: int = 0
    task_ids: tuple[str, ...] = ()
    scrubbed: bool | None = None
    elsewhere: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Extraction(Value, frozen=True, kw_only=True):
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


class Job(Value, frozen=True, kw_only=True):
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


class WorkerSeen(Value, frozen=True, kw_only=True):
    """A worker that runs, or ran last: who it is, what it does, and when it was heard of."""

    holder: str
    kinds: tuple[str, ...] = ()
    alive: bool = False
    started_at: str
    seen_at: str
    ended_at: str | None = None


class JobsStatus(Value, frozen=True, kw_only=True):
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


class WorkerReport(Value, frozen=True, kw_only=True):
    """What a worker did: jobs that it did, that failed, that were given up, and whose lease it had lost."""

    done: int = 0
    failed: int = 0
    dead: int = 0
    lost: int = 0


class UpkeepChange(Value, frozen=True, kw_only=True):
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


class UpkeepReport(Value, frozen=True, kw_only=True):
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


class MirrorStatus(Value, frozen=True, kw_only=True):
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


class CopyReport(Value, frozen=True, kw_only=True):
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


class FolderExport(Value, frozen=True, kw_only=True):
    """What writing a task as a folder did; `path` is where its files are."""

    task_id: str
    path: str
    seq: int
    files: tuple[str, ...]
    written: int
    removed: int
    warnings: tuple[str, ...] = ()


class FolderImport(Value, frozen=True, kw_only=True):
    """What reading a folder did: the tasks it was about, how many events are new, and how many were known."""

    tasks: tuple[str, ...]
    added: int
    known: int
    active: str | None = None
    conflicts: tuple[Divergence, ...] = ()
    warnings: tuple[str, ...] = ()


class Fact(Value, frozen=True, kw_only=True):
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


class FactPage(Value, frozen=True, kw_only=True):
    """Some facts, the best match first, and how many more there are."""

    facts: tuple[Fact, ...]
    left_out: int = 0


class ActiveRow(Value, frozen=True, kw_only=True):
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


class Projection(Value, frozen=True, kw_only=True):
    """Which rows of ACTIVE-TASKS.md are shown, and how."""

    mode: str = "readable"
    exclude_generic_title: bool = True
    title_min_chars: int = 0
    dedupe_by: str = "none"
    max_rows: int = 0
    sectioned: bool = True


class Diagnostics(Value, frozen=True, kw_only=True):
    """What became of the rows on their way into a file or a prompt."""

    fetched: int = 0
    grouped: int = 0
    collapsed: int = 0
    stale: int = 0
    rendered: int = 0
    injected: int = 0
    elapsed_ms: float = 0.0


class ProjectionState(Value, frozen=True, kw_only=True):
    """Whether the file shows what the store has, and if not, why."""

    path: str | None = None
    stale: bool = False
    stale_reasons: tuple[str, ...] = ()
    store_position: int | None = None
    file_position: int | None = None
    file_modified_at: str | None = None


class RenderReport(Value, frozen=True, kw_only=True):
    """What rendering ACTIVE-TASKS.md did."""

    requested: bool = True
    applied: bool = False
    path: str | None = None
    reason: str | None = None
    error: Mapping[str, Any] | None = None
    diagnostics: Diagnostics = Diagnostics()


class ActiveTaskList(Value, frozen=True, kw_only=True):
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


class ActiveBlock(Value, frozen=True, kw_only=True):
    """What is put into a prompt about active tasks; empty where there is nothing to say."""

    text: str
    diagnostics: Diagnostics
