"""The results of operations outside the core: reports, pages, goals, jobs, projections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .types import Channel, Criterion, EntryStatus, Origin, StepStatus, TaskStatus, Value


class WaitResult(Value, frozen=True, kw_only=True):
    """A wait: `result` says how it ended, `last_check` what the last check saw. `due` means that a check is
    overdue, so no worker is running."""

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
    last_check: str | None = None
    judged_by: Literal["rule", "model"] = "rule"
    due: bool = False


class GoalTask(Value, frozen=True, kw_only=True):
    """A task that is linked to a goal."""

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
    """The limits of a goal and what it has used: failed attempts, tokens, seconds, cost. `exhausted` names
    the limits it has reached."""

    limits: Mapping[str, float]
    used: Mapping[str, float]
    exhausted: tuple[str, ...] = ()


class GoalStatus(Value, frozen=True, kw_only=True):
    """A goal: its criteria and tasks, its budget, and its blockers.

    `ready`: all criteria are met or waived. `blocked` says why it is stopped until someone resets it;
    `repeated` lists the blockers of its tasks since the last reset.
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
    """A blocker of a goal's tasks: its text and event when it last occurred, and how often it did."""

    text: str
    task_id: str
    seq: int
    times: int


class Distilled(Value, frozen=True, kw_only=True):
    """The result of distilling a task: the last event covered, and the new entries."""

    task_id: str
    seq: int
    entries: tuple[int, ...] = ()


class StepProgress(Value, frozen=True, kw_only=True):
    """A step with an estimate of its progress: how likely it is over, and the status that this suggests."""

    id: str
    title: str
    status: StepStatus
    basis: Literal["explicit", "inferred"] | None = None
    confidence: float | None = None
    suggestion: Literal["completed", "active"] | None = None
    cause: int | None = None


class ProgressReport(Value, frozen=True, kw_only=True):
    """The progress of a plan; `current` is the step most likely being worked on."""

    task_id: str
    seq: int
    current: str | None
    steps: tuple[StepProgress, ...]


class Packet(Value, frozen=True, kw_only=True):
    """A resume packet: its text, its size in tokens, and the number of rows left out of each part."""

    task_id: str
    seq: int
    text: str
    tokens: int
    budget: int
    left_out: Mapping[str, int]


class DrillLoss(Value, frozen=True, kw_only=True):
    """Something to recover, which one way may have lost: where it was recorded, and which ways have it.

    `host` is None where the host's own summary is not known. A stored result has no `text`; its event does.
    """

    seq: int | None = None
    text: str | None = None
    small: bool
    usual: bool
    asked: bool
    host: bool | None = None


class DrillRow(Value, frozen=True, kw_only=True):
    """One kind of content that must be recovered after a compaction: its count, the required percentage, how
    many were recovered in each way, and what the packet of 1,500 tokens or the host's summary has lost.

    With a count of 0 there was nothing to measure. `kept` lists the rest; a stored result does not have it.
    """

    name: str
    wanted: int | None
    count: int
    small: int
    usual: int
    asked: int
    host: int
    host_count: int
    lost: tuple[DrillLoss, ...] = ()
    kept: tuple[DrillLoss, ...] = ()

    def missed(self) -> bool:
        """Whether the packet of 1,500 tokens has less than is required."""
        return self.wanted is not None and 100 * self.usual < self.wanted * self.count


class DrillResult(Value, frozen=True, kw_only=True):
    """A recovery drill: where the context was cut and why there, the score per kind, and whether everything
    required was recovered. `missed` names the rows that were not."""

    task_id: str | None
    name: str
    cut: int
    last: int
    because: str
    rows: tuple[DrillRow, ...]
    ok: bool
    missed: tuple[str, ...] = ()
    truth: str = ""
    seq: int | None = None
    at: str | None = None


class DrillResults(Value, frozen=True, kw_only=True):
    """Stored results of recovery drills, the newest first."""

    results: tuple[DrillResult, ...]
    left_out: int = 0


class Anchor(Value, frozen=True, kw_only=True):
    """A file that an entry cites, and whether its content is still the same."""

    path: str
    state: Literal["fresh", "stale", "unverifiable"]


class Hit(Value, frozen=True, kw_only=True):
    """A result of recall: its event, who wrote it, the text around the match, and why it matched."""

    task_id: str
    task_name: str
    seq: int
    type: str
    at: str
    origin: Origin
    step: str | None = None
    status: str | None = None
    replaced_by: int | None = None
    title: str
    snippet: str | None = None
    score: float
    why: str
    alike: int = 0
    anchors: tuple[Anchor, ...] = ()


class Recall(Value, frozen=True, kw_only=True):
    """The results of recall, best first, and the cursor of the next page."""

    query: str | None
    hits: tuple[Hit, ...]
    cursor: int | None = None
    semantic: bool = False
    warnings: tuple[str, ...] = ()


class Problem(Value, frozen=True, kw_only=True):
    """A problem that `verify` found: its kind, place and detail."""

    kind: str
    task_id: str | None = None
    seq: int | None = None
    detail: str


class VerifyReport(Value, frozen=True, kw_only=True):
    """The result of folding the ledger again and comparing it with the stored state."""

    ok: bool
    tasks: int
    events: int
    problems: tuple[Problem, ...] = ()


class Divergence(Value, frozen=True, kw_only=True):
    """A task that two stores continued differently; the imported side is kept as `kept_as`."""

    task_id: str
    seq: int
    kept_as: str


class ImportReport(Value, frozen=True, kw_only=True):
    """The result of an import; each event that was read is in one of these counts."""

    events: int
    added: int
    known: int
    tasks: tuple[str, ...] = ()
    conflicts: tuple[Divergence, ...] = ()
    purged: int = 0


class SyncReport(Value, frozen=True, kw_only=True):
    """The result of a sync, in events.

    `waiting` counts segments that follow events which no machine has sent yet; `rejected` names segments that
    cannot be used, each with the reason.
    """

    remote: str
    dry_run: bool = False
    sent: int = 0
    received: int = 0
    known: int = 0
    purged: int = 0
    waiting: int = 0
    tasks: tuple[str, ...] = ()
    conflicts: tuple[Divergence, ...] = ()
    rejected: tuple[str, ...] = ()


class SyncEnds(Value, frozen=True, kw_only=True):
    """The histories of a store: task, root, last seq and last hash of each."""

    ends: tuple[tuple[str, str, int, str], ...]


class SyncParts(Value, frozen=True, kw_only=True):
    """Consecutive events of tasks, as lines of an export, for a machine that syncs."""

    parts: tuple[dict[str, Any], ...]


class Removal(Value, frozen=True, kw_only=True):
    """The events that forgetting or purging removes. Until it is `done`, a preview with a token to confirm
    it.

    `carried` counts events of other sources that repeat forgotten content, `waiting` counts events from hosts
    that are not in the store yet. `scrubbed`: the store's files no longer contain the content. `elsewhere`
    lists files that may still contain it and that you have to remove yourself.
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
    """The result of an extraction: the last event covered, and the entries it wrote.

    Of the candidates, `known` were already stored and `refused` could not be stored. `settled` counts errors
    that turned out to be fixed, `patterns` the patterns seen.
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
    """A job for the worker; kind, task and key identify it."""

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
    """A worker that is running or ended recently."""

    holder: str
    kinds: tuple[str, ...] = ()
    alive: bool = False
    started_at: str
    seen_at: str
    ended_at: str | None = None


class JobsStatus(Value, frozen=True, kw_only=True):
    """The job queue: how many jobs are waiting, leased and dead, by kind and in total.

    `due` jobs could run now, the first since `due_since`. `failing` jobs will be tried again, `given_up` ones
    are dead. `totals` counts the outcomes of jobs so far, by kind.
    """

    waiting: int = 0
    leased: int = 0
    dead: int = 0
    due: int = 0
    kinds: Mapping[str, Mapping[str, int]]
    oldest: str | None = None
    due_since: str | None = None
    failing: tuple[Job, ...] = ()
    given_up: tuple[Job, ...] = ()
    workers: tuple[WorkerSeen, ...] = ()
    totals: Mapping[str, Mapping[str, int]] = {}


class WorkerReport(Value, frozen=True, kw_only=True):
    """A worker's counts of jobs that were done, failed, died, or were lost to another worker."""

    done: int = 0
    failed: int = 0
    dead: int = 0
    lost: int = 0


class UpkeepChange(Value, frozen=True, kw_only=True):
    """A change that upkeep made to a task, or would make: the rule, the status before and after, and why.

    `seq` is the event of the change, or None if nothing was written; undoing that event reverts it.
    """

    rule: str
    task_id: str
    name: str
    before: str
    after: str
    reason: str
    seq: int | None = None


class UpkeepReport(Value, frozen=True, kw_only=True):
    """The result of an upkeep run or dry run: the number of changes by rule, and the first changes.

    `left_out` changes are not listed; `skipped` tasks had changed in the meantime. `clock_sure` says whether
    the clock is trusted; ages are measured at `as_of` (None: nothing is old yet); `clock_jumped` is the
    number of seconds by which the clock was set. `failures` has the error of each rule that failed.
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
    """A file that mirrors a task or a workspace, whether it is stale, and why."""

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
    """The result of copying a store, and how the two compare afterwards."""

    ok: bool
    tasks: int
    events: int
    copied: int
    behind: tuple[str, ...] = ()
    diverged: tuple[str, ...] = ()
    others: int = 0
    source: VerifyReport | None = None
    target: VerifyReport | None = None


class LostEvents(Value, frozen=True, kw_only=True):
    """Events that `repair` could not recover: from one seq to another, and why."""

    task_id: str
    first: int
    last: int
    why: str


class RepairReport(Value, frozen=True, kw_only=True):
    """What `repair` wrote into the new store, and what was lost.

    `elsewhere` counts the events that only another file had, by its path. `unproven` are events that follow a
    lost one: they were readable, but their hash covers the lost one. `waiting` are the events of hooks that
    were not in the damaged store yet and are now in the journal of the new one.
    """

    ok: bool
    tasks: int
    events: int
    lost: tuple[LostEvents, ...] = ()
    unproven: int = 0
    elsewhere: Mapping[str, int] = {}
    waiting: int = 0
    skipped: tuple[str, ...] = ()
    verified: VerifyReport | None = None


class FolderExport(Value, frozen=True, kw_only=True):
    """The result of writing a task as a folder; `path` is the folder."""

    task_id: str
    path: str
    seq: int
    files: tuple[str, ...]
    written: int
    removed: int
    warnings: tuple[str, ...] = ()


class FolderImport(Value, frozen=True, kw_only=True):
    """The result of reading a folder: its tasks, and how many events were new or known."""

    tasks: tuple[str, ...]
    added: int
    known: int
    active: str | None = None
    conflicts: tuple[Divergence, ...] = ()
    warnings: tuple[str, ...] = ()


class Fact(Value, frozen=True, kw_only=True):
    """A fact about a task (category `project`) or anything else.

    A `derived` fact was not stored: it is read from the task itself.
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
    """A page of facts, the best match first, and how many more there are."""

    facts: tuple[Fact, ...]
    left_out: int = 0


class ActiveRow(Value, frozen=True, kw_only=True):
    """One row of ACTIVE-TASKS.md; an unknown time is None, shown as Unknown.

    `life` is set where the session says more about the task than its status: at work, resting, stuck.
    """

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
    life: str | None = None
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
    """How many rows passed each stage on the way into a file or a prompt."""

    fetched: int = 0
    grouped: int = 0
    collapsed: int = 0
    stale: int = 0
    rendered: int = 0
    injected: int = 0
    elapsed_ms: float = 0.0


class ProjectionState(Value, frozen=True, kw_only=True):
    """Whether the file matches the store, and if not, why."""

    path: str | None = None
    stale: bool = False
    stale_reasons: tuple[str, ...] = ()
    store_position: int | None = None
    file_position: int | None = None
    file_modified_at: str | None = None


class RenderReport(Value, frozen=True, kw_only=True):
    """The result of rendering ACTIVE-TASKS.md."""

    requested: bool = True
    applied: bool = False
    path: str | None = None
    reason: str | None = None
    error: Mapping[str, Any] | None = None
    diagnostics: Diagnostics = Diagnostics()


class ActiveTaskList(Value, frozen=True, kw_only=True):
    """The rows of ACTIVE-TASKS.md, and the state of the file."""

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
    """The text about active tasks for a prompt; empty if there are none."""

    text: str
    diagnostics: Diagnostics
