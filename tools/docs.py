"""Write the parts of the documentation that are generated from the code.

    python tools/docs.py            rewrite every generated part of README.md and docs/
    python tools/docs.py --check    change nothing; exit 1 with a diff if a part is out of date

A part is between `<!-- generated: name -->` and `<!-- end -->`; its name is a key of `PARTS`. The tables in
this file hold what the code does not say itself (the meaning of a field or a column); tests/docs checks that
none is missing.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import click
import msgspec

from ringbolt import TaskMemory
from ringbolt.model import errors, foreign_statuses, results, rules, types
from ringbolt.model.operation import split_docstring
from ringbolt.model.settings import SETTINGS, Setting
from ringbolt.surfaces.cli import main as cli

sys.path.insert(0, str(Path(__file__).parent))
import packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
PART = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def meanings(text: str) -> dict[str, str]:
    """Read lines of `name: meaning`."""
    pairs = (line.partition(": ") for line in text.strip().splitlines() if line.strip())
    return {name.strip(): words.strip() for name, _, words in pairs}


# --- what the code does not say itself --------------------------------------------------------------

PHASES = meanings("""
received: registered, and nothing more
planning: the plan is being made
planned: there is a plan, and work has not started
executing: the steps are being worked on
replanning: the plan turned out to be wrong, and a new one is being made
recovering: a new plan, made after a failure, is being worked on
debugging: the cause of a failure is being investigated
reviewing: the work is being reviewed
synthesizing: the final answer is being written
""")

# The parts of TaskMemory: the heading and the introduction of their operations.
GROUPS: Mapping[str, tuple[str, str]] = {
    "Opening": ("Opening and closing", "A memory is a store together with the identity of its caller."),
    "Tasks": ("Tasks", "Start, read, list, end and link tasks."),
    "Updates": ("Updates", "Report what happened, and change a task."),
    "Plans": ("Plans", "The steps of a task. Dropped steps stay as tombstones."),
    "Syncing": ("To-do lists", "A host's to-do list as the plan."),
    "Notes": ("Short forms", "Notes of every kind and the plan, for clients that want few tools."),
    "Actions": ("Actions and history", "Log actions, and read the history at any level of detail."),
    "Entries": ("Entries and side effects", "Record decisions, failures, values and side effects."),
    "Views": ("Views", "What a model or a person reads, within a token budget."),
    "Handoff": ("Handing over", "Export a task as one file, and import it."),
    "Recalling": ("Recall", "Search everything recorded."),
    "Asking": ("Asking", "[Questions](../how-to/ask.md) about a task, answered from the record."),
    "Claims": ("Claims", "Reserve a task or a step for one agent."),
    "Proposing": (
        "Proposals",
        "What agents proposed and only the user decides; see [Trust](../explanation/trust.md).",
    ),
    "SplitMerge": ("Split and merge", "Correct a wrong guess about where a request begins."),
    "Approvals": ("Approvals", "What [waits for a person](../how-to/approvals.md), and the answer."),
    "Undo": ("Undo", "Undoing changes."),
    "Verify": ("Verify", "Checking the ledger."),
    "MachineSync": (
        "Several machines",
        "[Syncing](../how-to/sync.md) stores through a git ref, a folder or a server.",
    ),
    "Transfer": ("Moving ledgers", "Export and import of events, backup and restore."),
    "Mirrors": ("Mirrors", "[Files](../how-to/mirrors.md) that follow the store."),
    "Folders": ("Folders", "Write tasks as folders of other projects, and import such folders."),
    "Facts": ("Facts", "Facts about tasks and anything else; see [Active tasks](../how-to/active-tasks.md)."),
    "Progressing": ("Progress", "The plan, and what can be [inferred](../explanation/progress.md) about it."),
    "Summarizing": ("Summaries", "A task [in a few sentences](../how-to/summary.md)."),
    "ActiveTasks": ("Active tasks", "The list of active tasks, its file, and its part of a prompt."),
    "Distilling": (
        "Distilling",
        "What is derived from events; see [Distillation](../explanation/distillation.md).",
    ),
    "Extracting": (
        "Extraction",
        "Find entries that nobody recorded; see [Extraction](../explanation/extraction.md).",
    ),
    "Patterns": ("Learned patterns", "What worked and what failed in earlier tasks."),
    "Goals": ("Goals", "What to [achieve](../how-to/goals.md), with criteria that can be checked."),
    "Retention": ("Retention", "[Permanent](../how-to/retention.md) removal."),
    "Waiting": ("Waits", "[Waiting](../how-to/waits.md) for a condition, across restarts."),
    "Drilling": ("Drills", "Results of [recovery drills](../how-to/drill.md)."),
    "Upkeep": ("Upkeep", "[Looking after](../how-to/upkeep.md) neglected tasks."),
    "Queue": ("Jobs", "The queue of [the worker](../how-to/worker.md), and failed jobs."),
}

# Links that the reference adds where a docstring mentions these words.
LINKS = {
    "current task": "../explanation/scope.md#the-current-task",
    "phase of the task": "../explanation/states.md#phases",
    "status of the task": "../explanation/states.md#tasks",
    "status of the step": "../explanation/states.md#steps",
    "entry types": "values.md#words",
    "these types": "events.md",
    "Any setting": "settings.md",
    "the setting": "settings.md",
}

FIELDS = meanings("""
task_id: the task's id
seq: number of the event in its task, from 1
at: when, in UTC
type: its type
step: id of the step it belongs to
origin: who wrote it
status: its status
tags: labels
Origin.principal: on whose behalf
Origin.agent: name of the agent
Origin.channel: channel of trust
Origin.session: session of the agent
Origin.claimed: of an import, the channel that the file names
Event.type: one of the [event types](events.md)
Event.text: the text: a message, a summary, a reason
Event.data: details beyond the text
Event.sets: what it changed in the state, table by table
Event.ref: seq of the event that this one refers to
Event.correlation: the caller's id for related events
Event.hash: hash of the previous event and all of this one, in hex
Event.forgotten: whether its content was [removed on purpose](../explanation/forgetting.md)
id: its id
Step.id: stable id of the step
Step.ordinal: position for display, from 0
Step.title: title of the step
stage: stage of the plan
Step.basis: whether the status was set (`explicit`) or inferred (`inferred`)
Step.evidence: whether completion was `reported`, `verified` by a receipt, or `contradicted` by its last one
Step.cause: seq of the event that set its status
Step.note: a note
Step.active_issue: what is holding it up
Step.depends_on: ids of the steps that must end before it
Step.ready: pending, and every step it depends on has ended
Step.detail: tool, input, narrative and every other field of the plan's step
Step.plan_version: the plan that added it
Step.dropped_in: the plan that dropped it; then it is a tombstone
Step.replaced_by: id of the step that replaced it
Step.started_at: when it first became active
Step.completed_at: when it was completed, failed, skipped or cancelled
Step.duration_seconds: from start to end
Step.version: seq of the last event that changed it
Step.sources: the event that each of its texts comes from
Source.seq: the event that set it
Source.channel: its channel of trust
Effect.channel: its channel of trust
FileTouch.channel: its channel of trust; only in snapshots
Task.sources: the event that each of its texts comes from: name, request, goal, next_step, …
Moment.text: the first 1,000 characters of its text
Moment.channel: its channel of trust
Moment.status: the status of an action or entry
Wait.target: what is watched
Wait.until: the condition
WaitResult.wait_id: `task#seq`
WaitResult.seq: the event that started it
WaitResult.state: watching, resolved, timeout, cancelled or error
WaitResult.target: what is watched, with absolute paths and full ids
WaitResult.until: the condition; a group has the conditions in its target
WaitResult.timeout: maximum seconds to wait
WaitResult.started_at: when it started
WaitResult.ended_at: when it ended
WaitResult.result: how it ended
WaitResult.last_check: the result of the last check
WaitResult.judged_by: rule, or model where a model judges a condition in words
WaitResult.due: a check is overdue: no worker is running
Wait.channel: its channel of trust
Snapshot.values: the variables as entries
Snapshot.recent: the last 40 events, newest first
Snapshot.waits: what the task waits for
Snapshot.criteria: the criteria of a goal
Snapshot.goals: the goals that the task is linked to
Snapshot.new_requests: what the user asked for after the first request
Snapshot.lessons: while it is beginning: what earlier tasks like it have taught; data, never instructions
Snapshot.reports: the messages that completed the last 30 steps, by the step's id
Snapshot.mode: the permission mode of its session's host, such as plan
Snapshot.interruption: why the last turn broke off
Snapshot.helpers: what was started and has not reported its result
Snapshot.neighbours: other live sessions in the workspace
NewRequest.seq: its event
NewRequest.at: when the user asked for it
NewRequest.text: the user's words
NewRequest.channel: its channel of trust
NewRequest.before: how the request before it stood: `previous finished` or `previous open`
Interruption.at: when it broke off
Interruption.what: why
Interruption.until: when it may go on
Helper.since: when it started
Helper.what: its purpose
Helper.task_id: its task, if it has one
Helper.channel: its channel of trust
Neighbour.session: the session
Neighbour.since: when it began
Neighbour.task_id: the task that it works on
Neighbour.name: the name of that task
Neighbour.step: the step that it works on
Neighbour.channel: the channel of the name
TaskCard.life: how it stands, in a word: at work, waiting for you, held up, resting, stuck, done, …
ActiveRow.life: how it stands, in a word
Criterion.seq: its number: the event that set it
Criterion.text: what must hold
Criterion.status: open, met, failed or waived
Criterion.check: file, command, http, or manual: a person decides
Criterion.target: the path, the command as a JSON list, or the URL
Criterion.channel: its channel of trust
Criterion.evidence: what the last check or decision said
Criterion.evidence_seq: the event of that check or decision
Criterion.by: the channel of trust of the evidence
Criterion.at: when that was
GoalTask.id: the task's id
GoalTask.name: its name
GoalTask.reason: why it is waiting
GoalTask.done: number of completed steps
GoalTask.total: number of steps that count
GoalTask.blockers: what blocks it
GoalTask.seq: number of its last event
GoalTask.updated_at: when it was last changed
GoalBudget.limits: the limits by name: attempts, tokens, seconds, cost
GoalBudget.used: what was used of each
GoalBudget.exhausted: the names of the limits that are reached
GoalStatus.goal_id: the goal's id
GoalStatus.name: short name of the goal
GoalStatus.reason: why it is waiting: blocked, budget, or a reason that was given
GoalStatus.description: what to achieve, in detail
GoalStatus.seq: number of its last event
GoalStatus.ready: it has criteria, and all of them are met or waived
GoalStatus.met: number of criteria that are met or waived
GoalStatus.criteria: its criteria
GoalStatus.tasks_done: number of its tasks that are completed
GoalStatus.tasks_total: number of tasks linked to it, without superseded ones
GoalStatus.steps_done: number of completed steps of those tasks
GoalStatus.steps_total: number of steps of those tasks that count
GoalStatus.tasks: its tasks, most recently changed first, at most 1,000
GoalStatus.budget: its limits, and what was used
GoalStatus.blocked: why it is stopped until it is reset
GoalStatus.blocker_limit: how often the same blocker may occur
GoalStatus.repeated: the blockers of its tasks since the last reset
Repeated.text: its text the last time
Repeated.task_id: the task that reported it last
Repeated.seq: the event of that report
Repeated.times: how often it occurred
RelatedGoal.id: the goal's id, or the text given instead
RelatedGoal.name: its name
RelatedGoal.status: its status
RelatedGoal.reason: why it is waiting
RelatedGoal.met: number of criteria that are met or waived
RelatedGoal.total: number of criteria
RelatedGoal.channel: channel of trust of its name
Removal.operation: forget or purge
Removal.done: whether it was done; false: a preview
Removal.token: the token that confirms it
Removal.expires_at: when the token expires
Removal.tasks: number of tasks affected
Removal.events: number of events that are removed or lose their content
Removal.carried: number of events from other sources that repeat them, also removed
Removal.waiting: number of events from hosts that are not written yet, also removed
Removal.task_ids: the tasks, at most 100
Removal.scrubbed: whether the store's files were rewritten without it
Removal.elsewhere: files that may still contain it; remove them yourself
Removal.warnings: what went wrong after the removal from the store
ImportReport.purged: events of tasks that were purged here and are not brought back
Snapshot.resolved: the last errors that were settled, with their `resolution`
Snapshot.settled: the last side effects with a known outcome
Snapshot.names: names that the work uses, most useful first
Snapshot.summary: the running summary
Snapshot.work_tree: the working tree as hooks saw it last
Snapshot.run_commands: commands that worked here, the best for each purpose first
WorkTree.branch: the branch that is checked out
WorkTree.commit: the last commit: its hash and subject
WorkTree.dirty: files that are not committed, at most 30
WorkTree.dirty_count: number of files that are not committed
WorkTree.edited_since_check: files that were edited after the last check that passed
WorkTree.taken_back: files whose only edits were taken back, each with the event that did it
WorkTree.last_check: the last test, build or check that was run
WorkTree.last_check_ok: whether it passed
WorkTree.at: when it last changed
WorkTree.seq: the event that changed it last
RunCommand.kind: what it is for: test, check, build, lint, typecheck, format, run, migrate or install
RunCommand.command: the command as it worked
RunCommand.needs: what it needed: a folder, variables, a service, a user
RunCommand.instead_of: another form that could not run before
RunCommand.uses: how often it was used
RunCommand.seq: its last use
RunCommand.at: when that was
Name.name: the name
Name.kind: file, path, identifier, version, ticket, commit, url, …
Name.seq: the last event that contains it
Name.channel: the channel of trust of that event
Name.chance: how likely it is needed in the next 30 calls or so, from 0 to 1
Name.folder: the folder of a file that was opened
Summary.text: the summary
Summary.seq: the last event that it covers
Summary.at: when it was made
Summary.source: `ledger`, or the name of the model that wrote it
Summary.channel: the lowest trust of its sources
Summary.since: a line for each later event, newest ones only
Summary.left_out: number of later events without a line
StepProgress.id: the step
StepProgress.title: what it is
StepProgress.status: its status
StepProgress.basis: whether the status was set or inferred
StepProgress.confidence: how likely it is to be over, from 0 to 1; `None` if the plan is too long to follow
StepProgress.suggestion: a likely status that was not written
StepProgress.cause: the event behind the suggestion, or else the status
ProgressReport.seq: the task's last event
ProgressReport.current: the step that is probably being worked on
ProgressReport.steps: the steps of the plan
Distilled.seq: the last event that the names cover
Distilled.entries: seqs of the entries that were found now
Answer.seq: the last event of the task at that time
Answer.question: the question
Answer.text: the answer, with `#seq` citations
Answer.source: `ledger`, `recall`, or the name of the model that worded it
Answer.about: what the question was understood to be about
Answer.cites: the events that it cites
Answer.items: the rows of an answer that is a list, each with its citation
Answer.recorded: false if nothing recorded answers the question
Anchor.path: the file, as cited
Anchor.state: fresh: unchanged; stale: changed or deleted; unverifiable: cannot be read here
Hit.task_name: name of the task
Hit.type: one of the [event types](events.md)
Hit.status: the status of an entry, an action or a retracted message
Hit.replaced_by: seq of the event that ended or replaced it
Hit.title: the first words
Hit.snippet: the words around the match
Hit.score: relevance, comparable within one answer
Hit.why: the words that matched, or the event it is similar to
Hit.alike: number of similar results that are left out
Hit.anchors: the files that it cites, and whether they have changed
Recall.query: the query
Recall.hits: the results, best first
Recall.cursor: for the next page; None: this was the last
Recall.semantic: whether vectors were used
Recall.warnings: what could not be done, such as missing vectors or an unreachable server
Packet.text: the text to inject
Packet.tokens: its number of tokens, by the counter in use
Packet.budget: the maximum number of tokens
Packet.left_out: how many entries of each part are not shown
PlanVersion.version: number of the plan, from 1
PlanVersion.seq: the event that made it
PlanVersion.reason: why it was made
PlanVersion.label: the caller's own name for it
PlanVersion.steps: the steps as they were then, tombstones included
Entry.summary: the entry in a sentence
Entry.detail: more than the summary says
Entry.key: a variable's name, an exclusion's signature, a snapshot's label
Entry.relevance_to: steps or names that it matters for
Entry.data: more fields: those of a decision or an exclusion, a variable's `value`
Entry.replaced_by: seq of the event that ended it
Action.summary: what was done
Action.tool: name of the tool
Action.input: the input
Action.output: the output
Action.error: what went wrong
Action.sub_task_id: the caller's own id for a sub-task
Action.ended_at: when it ended
Action.duration_ms: how long it took
Action.logs: its logs, oldest first, at most 1,000
Effect.what: the action
Effect.kind: what kind of action: push, pull_request, publish, deploy, migration, database, http, mail, …
Effect.verify: how to find out whether it was done
Effect.outcome: the note given with the outcome
Effect.outcome_seq: seq of the outcome
Effect.outcome_channel: channel of trust of the outcome
Approval.what: the step or side effect, in words
Approval.asks: whether a step or a side effect waits
Approval.status: pending, approved or rejected
Approval.intent: seq of the side effect
Approval.note: what the user said about it
Approval.channel: the channel of trust of whoever asked
FileTouch.path: the file
FileTouch.change: what the task did to it
Claim.step: id of the step; empty: the whole task
Claim.holder: who holds it
Claim.token: fencing token; increases with each claim on the task
Claim.expires_at: end of the lease
Claim.reason: why it changed hands
Link.kind: kind of link
Link.target: id of the other task, or a goal
ErrorSummary.message: what went wrong
ErrorSummary.step: the step in which it went wrong
Timestamps.created_at: when the task was registered
Timestamps.plan_generated_at: when it first had a plan
Timestamps.execution_started_at: when work first started
Timestamps.synthesis_started_at: when work on the answer first started
Timestamps.completed_at: when it ended; None again if it is reopened
Timestamps.last_updated_at: when its last event was written (model usage does not count)
TaskCard.name: short name of the task
TaskCard.phase: its phase
TaskCard.reason: why it has its status
TaskCard.attention: something that a person should look at
TaskCard.kind: a task, or a goal
done: completed steps
total: steps that are neither skipped nor cancelled
TaskCard.verified: completed steps that a receipt proves
TaskCard.unknown: side effects that were started and have an unknown outcome
TaskCard.current: id of the step that became active last
TaskCard.current_title: its title
TaskCard.next: id of the next step: the first pending one whose dependencies have ended
TaskCard.next_title: its title
TaskCard.next_step: what to do next, in the agent's words
TaskCard.blockers: what is in the way
TaskCard.workspace: the workspace it belongs to
TaskCard.session: the session that used it last
TaskCard.parent: id of the task it is part of
TaskCard.archived: whether it is archived
TaskCard.created_at: when it was registered
TaskCard.updated_at: when its last event was written (model usage does not count)
TaskCard.seq: its last event
TaskCard.version: seq of the last event that deliberately changed it; the value for `expect`
Task.goal: what to achieve
Task.request: the request as the user wrote it
Task.requests: all [requests](../explanation/states.md#requests) of the task, oldest first
Request.seq: the event that asked for it
Request.at: when
Request.text: the words
Request.status: `current`, `finished` or `open`: left for the next one
Task.context: the context given at registration
Task.repository: common git folder of the workspace
Task.acceptance: acceptance criteria
Task.approval_mode: auto, manual or confirm
Task.callback_url: URL that is called when the task ends
Task.metadata: a JSON object
Task.timestamps: the six moments
Task.plan_version: number of the current plan; 0: none
Task.plan_inferred: nobody wrote this plan; its steps were inferred from what was said
Task.last_replanned_at: when the plan was last replaced
Task.steps: all steps in order, tombstones included
Task.decisions: active decisions, oldest first, the newest 50
Task.exclusions: active exclusions, oldest first, the newest 50
Task.errors: active errors, oldest first, the newest 20
Task.questions: active questions, oldest first, the newest 20
Task.instructions: active instructions in the user's own words, oldest first, the newest 20
Task.reported: what others recorded as instructions of the user, oldest first, the newest 20
Task.proposals: open proposals to the user, oldest first; not in force
Task.approvals: what [waits for a person](../how-to/approvals.md), and the last answers
Proposal.seq: its number
Proposal.at: when it was made, in UTC
Proposal.text: what was wanted, in a line
Proposal.operation: the call that accepting it makes
Proposal.about: what that would change
Proposal.channel: the channel of whoever proposed it
Task.notes: active discoveries, artifacts, context and tool results, the newest 20 of each
Task.variables: name and present value, the newest 200
Task.effects: side effects that are intended or unknown, oldest first, the newest 50
Task.files: files that the task touched, most recent first, at most 200
Task.links: links to other tasks and goals
Task.claims: claims that were not released; some may have expired
Task.answer: the final answer
Task.error: why it failed
Task.conflict_of: after an import: the task whose other history this is
Task.messages: number of messages
Task.actions: number of actions
Task.left_out: entry types, and how many active entries of each are not shown; counted up to 1,000
Written.seq: the event that was written
Written.phase: the task's phase
Written.status: the task's status
Written.current: id of the step that became active last
Written.next: id of the next step
Written.steps: ids of the steps that a plan added
Written.token: fencing token of a claim
Written.expires_at: end of a claim's lease
Written.warnings: what was written but looks odd
Written.moved: the steps that the message moved by what it says
Written.asks: questions about steps that the message may have finished; they keep their status
StepMove.step: id of the step
StepMove.number: its place in the plan, from 1
StepMove.title: its title
StepMove.status: its status now
Written.answer: the answer to the `query` of the call
TaskPage.tasks: the tasks
cursor: pass it to get the next page; None: this was the last
Thread.events: the events, oldest first
Thread.cursor: pass it as `before` to get the previous page; None: there is none
Drill.task: the task
Drill.steps: the steps, if no step was given
Drill.step: the given step, or the step of the given action
Drill.actions: the step's actions with their logs, oldest first
Drill.action: the given action
Drill.entries: the step's active entries
Drill.left_out: number of older actions that are not shown
Problem.kind: one of the [kinds of problem](../how-to/verify.md)
Problem.task_id: the task, if it concerns one
Problem.seq: the event, if it concerns one
Problem.detail: what is wrong
VerifyReport.ok: no problem was found
VerifyReport.tasks: number of tasks checked
VerifyReport.events: number of events replayed
VerifyReport.problems: the problems found
Divergence.task_id: the task that both sides continued
Divergence.seq: the first event that differs
Divergence.kept_as: id of the task that holds the other history
ImportReport.events: number of events in the file
ImportReport.added: number of new events
ImportReport.known: number of events that were already there
ImportReport.tasks: ids of the tasks that got new events
ImportReport.conflicts: tasks that both stores continued differently
MirrorStatus.kind: what it mirrors: one of the kinds of the setting `mirrors`
MirrorStatus.path: the file, or the folder for several
MirrorStatus.task_id: the task that it shows, if any
MirrorStatus.workspace: the workspace that it shows, if any
MirrorStatus.seq_shown: the event that it shows: the seq of a task, or the store position of a workspace
MirrorStatus.seq_now: the event that it should show
MirrorStatus.stale: whether it is out of date
MirrorStatus.reasons: why: missing, behind, edited by hand, foreign file in the way, failed: with the error
MirrorStatus.refreshed_at: when it was last written
MirrorStatus.failed_at: when writing it last failed, even if it succeeded later
SyncReport.remote: the remote, without a password
SyncReport.dry_run: nothing was sent or taken in
SyncReport.sent: events that the remote did not have
SyncReport.received: events that this store did not have
SyncReport.known: events that this store had already
SyncReport.purged: events of tasks that this store has purged, and that stay away
SyncReport.waiting: segments that follow events which no machine has sent yet
SyncReport.tasks: ids of the tasks that changed here
SyncReport.conflicts: tasks that two machines continued differently
SyncReport.rejected: segments that cannot be used, each with the reason
SyncEnds.ends: task, root, last seq and last hash of each history
SyncParts.parts: consecutive events, each part of one task
CopyReport.ok: every task of the source is in the target with the same last hash, and both verify
CopyReport.tasks: tasks in the source
CopyReport.events: events in the source
CopyReport.copied: events that were copied this time
CopyReport.behind: ids of tasks that changed in the source meanwhile
CopyReport.diverged: ids of tasks that the target continued on its own; they were not changed
CopyReport.others: number of tasks that only the target has
CopyReport.source: the result of `verify` on the source
CopyReport.target: the result of `verify` on the target
LostEvents.first: the first lost event; without a task, a position in the store
LostEvents.last: the last one
LostEvents.why: why they could not be recovered
RepairReport.ok: nothing was lost, everything is proven, and the new store verifies
RepairReport.tasks: tasks in the new store
RepairReport.events: events in the new store, including those that stand for lost ones
RepairReport.lost: what was lost
RepairReport.unproven: events that follow a lost one, or whose author is lost
RepairReport.elsewhere: how many events only another file had, by its path
RepairReport.waiting: events of hooks that were copied to the journal of the new store
RepairReport.skipped: files that could not be read, and why
RepairReport.verified: the result of `verify` on the new store
FolderExport.path: where the files are
FolderExport.seq: the event up to which they show the task
FolderExport.files: the files of the task, relative to that path
FolderExport.written: number of files written
FolderExport.removed: number of files of an earlier export that were removed
warnings: what someone should look at
FolderImport.tasks: ids of the tasks that the files are about
FolderImport.added: events that were written
FolderImport.known: events that were there already
FolderImport.active: the active task of a states folder
FolderImport.conflicts: tasks that both sides continued differently
Fact.id: its citation, `task#seq`
Fact.seq: the event that stored it, or set what it says
Fact.category: project, preference, fact, decision, entity or other
Fact.entity: what it is about; for a task its label, or else its id
Fact.key: what is known
Fact.value: the value
Fact.text: the fact in words
Fact.why: why it is so
Fact.importance: from 0 to 1
Fact.at: since when, if known
Fact.derived: not stored as a fact: taken from the task itself
channel: its channel of trust
FactPage.facts: the facts
FactPage.left_out: number of facts that are not shown
ActiveRow.label: short name of the task, or else its id
ActiveRow.title: the task in a few words
ActiveRow.status: In progress, Waiting, Stalled, Failed, Done, or what a person wrote
ActiveRow.next: what to do next
ActiveRow.evidence: how many of its steps are verified and how many only reported, while it is open
ActiveRow.unknown: a side effect with unknown outcome, and how to find out
ActiveRow.branch: the branch that the work is on
ActiveRow.stash_commit: stash or commit that holds the work
ActiveRow.subagent: the session that works on it
ActiveRow.related_goal: its goal
ActiveRow.handoff: where to find a hand-off
ActiveRow.started: when it started; None: unknown
ActiveRow.updated: when it was last updated; None: unknown, which counts as stale
ActiveRow.stale: no update for longer than the threshold
ActiveRow.completed: nothing is left to do
ActiveRow.session: the session that used the task last
ActiveRow.task_id: the task; None for rows of a file
ActiveRow.seq: its last event
ActiveRow.channel: the least trusted channel of its texts; None: unknown
Projection.mode: readable, or full: no row is filtered out
Projection.exclude_generic_title: leave out rows titled only “Project task”
Projection.title_min_chars: leave out rows with a shorter title
Projection.dedupe_by: none, label or normalizedTitle
Projection.max_rows: maximum number of rows per section; 0: all
Projection.sectioned: three sections, or one flat list
Diagnostics.fetched: rows that were read
Diagnostics.grouped: rows after duplicates were collapsed
Diagnostics.collapsed: duplicates
Diagnostics.stale: stale rows
Diagnostics.rendered: rows that were shown
Diagnostics.injected: rows that went into the prompt
Diagnostics.elapsed_ms: how long it took
ProjectionState.path: the file
ProjectionState.stale: whether the file is out of date
ProjectionState.stale_reasons: why it is out of date
ProjectionState.store_position: position of the newest change of the workspace
ProjectionState.file_position: position that the file shows
ProjectionState.file_modified_at: when the file was written
RenderReport.requested: whether rendering was requested
RenderReport.applied: whether the file was written
RenderReport.path: the file
RenderReport.reason: why nothing was written
RenderReport.error: the error that prevented it
diagnostics: counts of what happened to the rows
ActiveTaskList.generated_at: when the list was made
ActiveTaskList.source: `store` or `file`
ActiveTaskList.ledger: facts or markdown
ActiveTaskList.stale_threshold_minutes: minutes without an update after which a row is stale
ActiveTaskList.active: the rows: live ones first, then stale ones, then completed ones if requested
ActiveTaskList.active_count: live rows
ActiveTaskList.stale_count: stale rows
ActiveTaskList.completed_count: completed rows
ActiveTaskList.projection: the state of the file
ActiveTaskList.render: the result of rendering
ActiveTaskList.warnings: what looks odd
ActiveBlock.text: the blocks; empty if there is nothing to say
Written.patterns: after a registration: what similar steps have taught; data, never instructions
Pattern.type: subtask_success: it worked; model_failure: it failed; prompt_effective: words that helped
Pattern.key: what it is found by: words of a title, or a command with the beginning of its error
Pattern.repository: where it was learned
Pattern.text: the step or command that it was last seen with
Pattern.detail: the error, or the commands that worked
Pattern.fix: what worked in the end, if it was something else
Pattern.times: how often it failed in the last task
Pattern.frequency: how often it was seen
Pattern.last_seen: when it was last seen
Pattern.channel: channel of trust of its texts
Pattern.task_id: the task where it was last seen
Pattern.seq: the event there
Extraction.seq: the last event that was read
Extraction.events: number of events read
Extraction.entries: the entries that were written
Extraction.known: number of findings that were already known
Extraction.settled: number of errors that turned out to be fixed
Extraction.refused: number of findings that cannot be stored
Extraction.patterns: number of patterns seen
Job.kind: kind of job
Job.task_id: the task; empty: none
Job.key: what it concerns, such as a step
Job.data: other input
Job.status: waiting, leased or dead
Job.attempts: number of attempts since it was last requested
Job.due_at: when it may be tried, empty for at once; while leased, when the lease ends
Job.token: increases with each lease
Job.holder: the worker that runs it
Job.error: why the last attempt failed
Job.created_at: when it was requested
DrillRow.name: what must be recovered
DrillRow.wanted: the required percentage; none: only measured
DrillRow.count: the number of items
DrillRow.small: number recovered from a packet of 500 tokens
DrillRow.usual: number recovered from a packet of 1,500 tokens
DrillRow.asked: number recovered by asking
DrillRow.host: number found in the host's own summary
DrillRow.host_count: the number of items where such a summary is stored
DrillRow.lost: what the packet of 1,500 tokens or the host's summary lost, at most 40
DrillRow.kept: what both kept, at most 40; a stored result does not list it
DrillLoss.seq: the event that recorded it, if there is one
DrillLoss.text: its beginning; none in a stored result
DrillLoss.small: whether the packet of 500 tokens has it
DrillLoss.usual: whether the packet of 1,500 tokens has it
DrillLoss.asked: whether asking finds it
DrillLoss.host: whether the host's own summary has it; none: that is not known
DrillResult.task_id: the task; none: the total of many
DrillResult.name: the name of the task
DrillResult.cut: the last event before the context was cut
DrillResult.last: the last event of the task's work
DrillResult.because: asked, compaction, or 60 %
DrillResult.rows: one for each kind of item
DrillResult.ok: whether enough of everything required was recovered in 1,500 tokens
DrillResult.missed: the rows that recovered less than the required share
DrillResult.truth: who said what was narrated before the cut: a file, a model; empty: nobody
DrillResult.seq: the event that stores it; none: not stored
DrillResult.at: when it was made
DrillResults.results: the results, newest first
DrillResults.left_out: number of results that are not shown
JobsStatus.waiting: number of queued jobs
JobsStatus.leased: number of running jobs
JobsStatus.dead: number of jobs that were given up
JobsStatus.kinds: the same for each kind
JobsStatus.oldest: since when the oldest queued job has been waiting
JobsStatus.failing: jobs whose last attempt failed and that will be tried again, the next one first
JobsStatus.given_up: the jobs that were given up, oldest first
JobsStatus.due: number of queued jobs that are due
JobsStatus.due_since: since when the first of these has been due
JobsStatus.workers: the workers, most recently seen first
JobsStatus.totals: results of jobs so far, by kind: done, failed, dead, lost
WorkerSeen.holder: machine, process and number
WorkerSeen.kinds: the kinds of jobs that it runs
WorkerSeen.alive: whether it was seen within the last minute and has not ended
WorkerSeen.started_at: when it started
WorkerSeen.seen_at: when it was last seen; it reports every 20 s
WorkerSeen.ended_at: when it ended normally
UpkeepChange.rule: lease, resume, reconcile, duplicate, failed, pause, stuck or archive
UpkeepChange.name: the task's name
UpkeepChange.before: its status before; of a claim: held
UpkeepChange.after: its status now, or archived; of a claim: released
UpkeepChange.reason: why
UpkeepChange.seq: the event of the change; without one nothing was written
UpkeepReport.dry_run: whether it was a dry run
UpkeepReport.at: when it ended
UpkeepReport.workspace: the workspace; none: all of them
UpkeepReport.rules: the rules that were applied
UpkeepReport.counts: number of changes of each rule
UpkeepReport.changes: the first 1,000 changes
UpkeepReport.left_out: number of changes that are not listed
UpkeepReport.skipped: number of tasks that changed meanwhile and were left alone
UpkeepReport.clock_sure: whether the clock [is trusted](../explanation/upkeep.md#time)
UpkeepReport.as_of: up to when time counts; none: nothing is old yet
UpkeepReport.clock_jumped: seconds by which the clock was set since the last run
UpkeepReport.failures: rules that failed, with the error
UpkeepReport.warnings: what should be known
WorkerReport.done: number of jobs done
WorkerReport.failed: number of jobs that failed and will be retried
WorkerReport.dead: number of jobs that were given up
WorkerReport.lost: number of jobs that another worker had taken over
""")

TABLES = meanings("""
events: The ledger. Append-only.
origins: Who wrote: principal, agent, channel, session. Stored once each.
heads: One row per task: what changes often.
extras: One row per task: what is long or rarely changes.
steps: The steps of plans, including dropped ones.
records: The part of an action, entry, effect or snapshot that can change.
labels: Tags, and the names that entries matter for.
files: Files that a task touched.
links: Links between tasks, and to goals.
claims: Leases with their fencing tokens, including released ones.
keys: Idempotency: the first answer to a call with a key.
learned_patterns: What tasks of a repository taught: what failed, what worked, what the user had to say.
words: The full-text index: the words of each event, by its id. Its text cannot be read back.
words_mark: How far the full-text index has come; later events are searched without it.
vector_models: Models of vectors, and which events have theirs.
vectors: Vectors of texts, for search by meaning. They can be recomputed from the events.
past_rows: Rows of the state that an event replaced, for time travel. They can be recomputed from the events.
distilled: What was distilled from a task's events, and up to which one. It can be recomputed from them.
jobs: Queued jobs, such as extractions; finished jobs are deleted. Rows of the kind `worker` are workers.
sessions: Sessions of agents, as the hooks of their hosts report them: who is at work now.
folder_tasks: The task that the user chose for a folder with `ringbolt focus`.
spending: Model costs, by day, task and model.
schema_migrations: The migrations that were applied to the store.
tasks: Tasks with their goal, plan and request.
plan_items: The steps of plans as they are now, in the words of the source: a cancelled step is `skipped`.
dropped_plan_items: The steps that a later plan left out.
actions: What was done, with input and output.
action_logs: Logs of actions.
task_messages: A task's history as messages with roles.
wait_jobs: Waits as they are now, and how they ended.
memory_entries: Decisions, errors, discoveries, exclusions, variables and the rest.
execution_log: Actions that have ended, in the format of an execution log.
""")

# Used if the schema has no comment of its own.
COLUMNS = meanings("""
words.body: the words; they can be searched (`words MATCH 'registry'`), not read
words_mark.up_to: the last event in the index
vector_models.model: a random number
vector_models.name: name with version: vectors of different models are never compared
vector_models.dimensions: number of dimensions of a vector
vector_models.done_from: from this event …
vector_models.done_to: … to this one, every event has its vectors
vectors.number: in the order of writing
vectors.model: the model
vectors.id: id of the event
vectors.chunk: number of the piece of its text, from 0
vectors.vector: float16 numbers; on PostgreSQL with pgvector a halfvec
past_rows.task_id: the task
past_rows.table_name: the table of the row
distilled.task_id: the task
distilled.at: when it was distilled
jobs.id: its id
jobs.kind: kind of job
jobs.attempts: number of attempts
jobs.holder: the worker that runs it
jobs.error: why the last attempt failed
jobs.created_at: when it was requested
sessions.host: the host, such as claude-code
sessions.seen_at: when it was last heard of
sessions.started_at: when it last began or was resumed
sessions.ended_at: when it ended
spending.day: the day, in UTC
spending.task_id: the task; empty: none
spending.model: the model
spending.calls: calls
spending.tokens_in: input tokens
spending.tokens_out: output tokens
spending.cost: in the currency of the settings' prices
name_seq: the event that gave the name
next_seq: the event that set `next_step`
blockers_seq: the event that set the blockers
attention_seq: the event that set `attention`
status_seq: the event that set the status
goal_seq: the event that set the goal
title_seq: the event that gave the title
note_seq: the event that set the note
issue_seq: the event that set the issue
task_id: the task
seq: number of the event in its task
item_id: id of the step
events.id: position in the store: the order of writing
events.event_type: one of the [event types](events.md)
events.timestamp: when, in UTC
events.text: the text: a message, a summary, a reason
events.origin_id: who wrote it
events.correlation_id: the caller's id for related events
origins.id: derived from the content, the same in every store
principal: on whose behalf
agent: name of the agent
session: session of the agent
heads.last_seq: its newest event
heads.last_hash: hash of its newest event
kind: what kind it is
name: short name of the task
status: its status
phase: its phase
reason: why it has its status
attention: something that a person should look at
next_step: what to do next, in words
done: completed steps
total: steps that are neither skipped nor cancelled
current_item: the step that became active last
next_item: the next step
heads.plan_version: number of the current plan; 0: none
plan_seq: the event that made the current plan
workspace_path: the workspace it belongs to
repository: common git folder of the workspace
session_id: the session that used it last
parent_id: the task it is part of
finish_seq: the event that ended it
messages: number of messages
actions: number of actions
created_at: when it was written
updated_at: when its last event was written
plan_generated_at: when it first had a plan
replanned_at: when the plan was last replaced
execution_started_at: when work first started
synthesis_started_at: when work on the answer first started
heads.completed_at: when it ended
archived_at: when it was archived
goal: what to achieve
approval_mode: auto, manual or confirm
callback_url: URL that is called when the task ends
ordinal: position for display, from 0
title: title of the step
stage: stage of the plan
cause_seq: the event that set its status
note: a note
active_issue: what is holding it up
depends_on: JSON list of step ids
steps.detail: JSON object: the rest of the plan's step
steps.plan_version: the plan that added it
replaced_by: the step that replaced it
started_at: when it first became active
completed_at: when it ended
duration_seconds: from start to end
version: seq of the last event that changed the row
records.type: action, effect, snapshot, an entry type, or message for an undone message
ended_at: when it ended
labels.kind: tag, item; `label`: the task's own label; `facts`: the workspace of facts
labels.value: the tag or name
files.path: the file
files.at: when it was last touched
links.target: the other task, or a goal
links.status: active or removed
holder: who holds it
token: fencing token; increases with each claim on the task
claims.reason: why it changed hands
keys.key: the key
operation: the operation that was called
arguments: digest of its arguments
result: its answer, as JSON
pattern_type: its type
pattern_key: its key
learned_patterns.data: JSON: the newest example
frequency: how often it was seen
last_seen: when it was last seen
learned_patterns.id: its id
learned_patterns.repository: where it was learned
schema_migrations.version: number of the migration
schema_migrations.name: name of the migration
checksum: of the SQL that was run
applied_at: when
tasks.id: the task
tasks.plan: JSON list of the live steps
tasks.request: the request as the user wrote it
context: JSON
metadata: JSON object
plan_items.id: `task/step`
dropped_plan_items.id: `task/step`
actions.id: `task#seq`
plan_item_id: `task/step`
action_type: cli, gui, …
summary: in a sentence
input_data: JSON
output_data: JSON
tool_name: name of the tool
error: JSON
action_logs.id: `task#seq`
action_id: `task#seq` of the action
log_type: output, note, …
content: the text
task_messages.id: `task#seq`
task_messages.channel: the channel of trust that it came through
role: user, agent or system
msg_type: text, plan, progress, lifecycle, …
memory_entries.id: position in the store
subtask_id: id of the step
timestamp: when, in UTC
entry_type: decision, error, …
detail: more than the summary says
tags: joined with commas
relevance_to: joined with commas
data: JSON object: further fields
step_narrative: what was done
sub_task_id: the caller's own id
execution_log.status: COMPLETED, FAILED, SKIPPED, SYSTEM_ACTION or SYSTEM_ERROR
input_payload: JSON
result_data: JSON
error_info: JSON
duration_ms: how long it took
basis: explicit or inferred
evidence: reported, verified or contradicted
dropped_in: the plan that dropped it
wait_jobs.id: `task#seq`
target_type: kind of target
target_id: the target
criteria: the condition
timeout_seconds: maximum seconds to wait
poll_interval: seconds between checks
result_message: how it ended
resolved_at: when it ended
""")

# --- Markdown ---------------------------------------------------------------------------------------


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def code(text: str) -> str:
    """Text as code in a table cell; empty for an empty text."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def fence(text: str, language: str = "") -> str:
    """A fenced block."""
    return f"```{language}\n{text}\n```"


def paragraphs(function: object) -> str:
    """A docstring as Markdown."""
    text = split_docstring(function)[0]
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


# --- states and vocabulary --------------------------------------------------------------------------


def diagram(transitions: Mapping[str, Sequence[str]], starts: Iterable[str] | None = None) -> str:
    """The transitions (optionally only those from some statuses) as a Mermaid diagram and as a table."""
    shown = {old: transitions[old] for old in starts or transitions}
    lines = ["stateDiagram-v2"]
    if next(iter(transitions)) in shown:
        lines.append(f"    [*] --> {next(iter(transitions))}")
    lines += [f"    {old} --> {new}" for old, following in shown.items() for new in following or ["[*]"]]
    rows = [
        [code(old), ", ".join(code(new) for new in following) or "nothing: it is final"]
        for old, following in shown.items()
    ]
    return f"{fence(chr(10).join(lines), 'mermaid')}\n\n{table(['From', 'It may become'], rows)}"


def task_states() -> str:
    return (
        f"While it is open:\n\n{diagram(rules.TASK_TRANSITIONS, rules.OPEN)}\n\n"
        f"After its end:\n\n{diagram(rules.TASK_TRANSITIONS, rules.ENDED)}"
    )


def phases() -> str:
    rows = [[code(name), PHASES[name], code(rules.PHASE_STAMPS.get(name, ""))] for name in rules.PHASES]
    return table(["Phase", "Meaning", "Timestamp of the first time"], rows)


def vocabulary_tables() -> str:
    parts: list[str] = []
    for source, words in foreign_statuses.TASK_WORDS.items():
        rows = [
            [
                code(word),
                *(code(part or "") for part in foreign_statuses.read_task_status(word, source)),
                code(
                    foreign_statuses.write_task_status(
                        source, *foreign_statuses.read_task_status(word, source)
                    )
                ),
            ]
            for word, *_ in words
        ]
        parts += [f"### `{source}`", table(["Their word", "Status", "Phase", "Reason", "Back"], rows)]
    rows = [
        [
            code(status),
            *(
                code(foreign_statuses.write_task_status(source, status))
                for source in foreign_statuses.TASK_WORDS
            ),
        ]
        for status in rules.TASK_STATUSES
    ]
    parts += [
        "### Our status in their words",
        "When the phase and the reason say nothing more:",
        table(["Status", *(code(source) for source in foreign_statuses.TASK_WORDS)], rows),
        "### Synonyms",
        "Understood in any call, never written.",
        table(
            ["Word", "Status", "Reason"],
            [
                [code(word), code(status), code(reason or "")]
                for word, (status, _, reason) in foreign_statuses.SYNONYMS.items()
            ],
        ),
        "### Words for steps",
        table(
            ["Word", "Status of a step"],
            [[code(word), code(status)] for word, status in foreign_statuses.ITEM_SYNONYMS.items()],
        ),
        "And back, in the words of `loom`:",
        table(
            ["Status of a step", "Their word"],
            [
                *(
                    [code(status), code(foreign_statuses.write_item_status(status))]
                    for status in rules.ITEM_STATUSES
                ),
            ],
        ),
    ]
    return "\n\n".join(parts)


# --- operations -------------------------------------------------------------------------------------

_SHOWN_DEFAULTS = {time.time: "time.time", os.urandom: "os.urandom"}


def public_operations() -> Iterator[tuple[str, str, Any]]:
    """Every public method of TaskMemory with the part that defines it, in the order of the source."""
    parts = {part.__name__: vars(part) for part in TaskMemory.__mro__}
    parts["Opening"] = {**parts["Opening"], **parts["Base"]}
    for group in GROUPS:
        for name, member in parts[group].items():
            function = member.__func__ if isinstance(member, classmethod) else member
            if not name.startswith("_") and inspect.isfunction(function):
                yield group, name, function


def parameters(function: Any) -> list[inspect.Parameter]:
    return [part for name, part in inspect.signature(function).parameters.items() if name not in _SELVES]


_SELVES = ("self", "cls")


def _default(part: inspect.Parameter) -> str:
    if part.default is part.empty:
        return ""
    return _SHOWN_DEFAULTS[part.default] if callable(part.default) else repr(part.default)


def _signature(name: str, function: Any) -> str:
    words: list[str] = []
    starred = False
    for part in parameters(function):
        if part.kind is part.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        default = _default(part)
        star = "**" if part.kind is part.VAR_KEYWORD else ""
        words.append(f"{star}{part.name}: {part.annotation}" + (f" = {default}" if default else ""))
    returned = inspect.signature(function).return_annotation
    line = f"{name}({', '.join(words)}) -> {returned}"
    if len(line) <= 100:
        return line
    return f"{name}(\n" + "".join(f"    {word},\n" for word in words) + f") -> {returned}"


def parameter_meaning(function: Any, name: str) -> str:
    """What the docstring says about a parameter, with links."""
    meaning = split_docstring(function)[1].get(name, "")
    for phrase, target in LINKS.items():
        if phrase in meaning:
            return meaning.replace(phrase, f"[{phrase}]({target})", 1)
    return meaning


def _linked(annotation: str) -> str:
    known = [name for name in re.findall(r"\w+", annotation) if name in record_types()]
    if [annotation] == known:
        return f"[`{annotation}`](values.md#{annotation.lower()})"
    links = ", ".join(f"[`{name}`](values.md#{name.lower()})" for name in known)
    return f"`{annotation}`" + (f", see {links}" if links else "")


def operations() -> str:
    parts: list[str] = []
    group = None
    for owner, name, function in public_operations():
        if owner is not group:
            group = owner
            parts += [f"## {GROUPS[owner][0]}", GROUPS[owner][1]]
        rows = [
            [
                code(part.name),
                code(part.annotation),
                code(_default(part)),
                parameter_meaning(function, part.name),
            ]
            for part in parameters(function)
        ]
        parts += [f"### `{name}`", fence(_signature(name, function), "python"), paragraphs(function)]
        if rows:
            parts.append(table(["Parameter", "Type", "Default", "Meaning"], rows))
        returned = inspect.signature(function).return_annotation
        parts.append(f"Returns {'nothing' if returned == 'None' else _linked(returned)}.")
    return "\n\n".join(parts)


# --- errors, settings, values -----------------------------------------------------------------------


def error_classes() -> dict[str, str]:
    """The class of each error code, from the comments in the table of codes."""
    found: dict[str, str] = {}
    kind = ""
    for line in inspect.getsource(errors).splitlines():
        if (comment := re.fullmatch(r"    # (\w+)", line)) and hasattr(errors, comment[1]):
            kind = comment[1]
        elif (entry := re.match(r'    "(\w+)": ', line)) and entry[1] in errors.CODES:
            found[entry[1]] = kind
    return found


def error_codes() -> str:
    classes = error_classes()
    rows = [[code(name), code(classes[name]), meaning] for name, meaning in errors.CODES.items()]
    return table(["Code", "Class", "Meaning"], rows)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return code(value) or "(empty)"
    if value >= 1 << 16 and not value % (1 << 16):
        for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
            if value >= size and not value % size:
                return f"{value} ({value // size} {unit})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def settings() -> str:
    rows = [
        [code(name), _shown(one.default), _bounds(one), code(f"RINGBOLT_{name.upper()}"), one.meaning]
        for name, one in SETTINGS.items()
    ]
    return table(["Setting", "Default", "Bounds", "Environment variable", "Meaning"], rows)


def _bounds(setting: Setting) -> str:
    words = [code(word) for word in setting.words]
    match setting.kind:
        case "number":
            return f"{_shown(setting.least)} to {_shown(setting.most)}"
        case "choice":
            return " or ".join(words)
        case "list":
            return f"{code('none')}, or some of {', '.join(words)}"
        case "duration":
            return "a duration" + (f", or {code('off')}" if setting.off else "")
        case "folder":
            return "an absolute path"
        case _:
            return "any text"


def record_types() -> dict[str, type[types.Value]]:
    """Every record, by name, in the order of the source."""
    return {
        name: kind
        for name, kind in {**vars(types), **vars(results)}.items()
        if isinstance(kind, type) and issubclass(kind, types.Value) and kind is not types.Value
    }


def own_fields(record: type[types.Value]) -> dict[str, str]:
    """The fields that a record adds, with their types as they are written."""
    return dict(vars(record).get("__annotations__", {}))


def default_of(record: type[types.Value], name: str) -> str:
    """The default of a field, as code; empty if there is none."""
    found = next(field for field in msgspec.structs.fields(record) if field.name == name)
    if found.required:
        return ""
    default = found.default if found.default is not msgspec.NODEFAULT else found.default_factory()
    return code(repr(default))


def field_meaning(record: str, name: str) -> str:
    return FIELDS.get(f"{record}.{name}") or FIELDS.get(name, "")


def values() -> str:
    parts: list[str] = []
    for name, record in record_types().items():
        parts += [f"## {name}", paragraphs(record)]
        above = record.__mro__[1]
        if above is not types.Value:
            parts.append(f"All fields of [{above.__name__}](#{above.__name__.lower()}), and:")
        rows = [
            [
                code(field),
                code(kind),
                default_of(record, field),
                field_meaning(name, field),
            ]
            for field, kind in own_fields(record).items()
        ]
        parts.append(table(["Field", "Type", "Default", "Meaning"], rows))
    return "\n\n".join(parts)


def literal_words() -> dict[str, list[str]]:
    """The names in types.py that are aliases of `Literal` types."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(ast.parse(inspect.getsource(types))):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript):
            target = node.targets[0]
            if isinstance(target, ast.Name) and ast.unparse(node.value.value) == "Literal":
                found[target.id] = list(ast.literal_eval(node.value.slice))
    return found


def words() -> str:
    rows = [[code(name), ", ".join(code(word) for word in known)] for name, known in literal_words().items()]
    return table(["Type", "Words"], rows)


# --- SQL --------------------------------------------------------------------------------------------


def schema(kind: str) -> dict[str, tuple[str, list[tuple[str, str, bool]]]]:
    """Tables or views of a new store: name, (SQL, columns as (name, type, part of the key))."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scratch.db")
        TaskMemory.open(path, workspace=None, reserve_bytes=0).close()
        connection = apsw.Connection(path)
        try:
            found = connection.execute(
                "SELECT name, sql FROM sqlite_schema WHERE type = ? AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
                # FTS5 keeps its index in tables of its own.
                " AND name NOT IN ('words_data', 'words_idx', 'words_docsize', 'words_config')",
                (kind,),
            ).fetchall()
            return {
                name: (
                    sql,
                    [
                        (column, type_, bool(key))
                        for column, type_, key in connection.execute(
                            "SELECT name, type, pk FROM pragma_table_info(?)", (name,)
                        )
                    ],
                )
                for name, sql in found
            }
        finally:
            connection.close()


def column_meaning(name: str, sql: str, column: str) -> str:
    comment = re.search(rf"^\s+{column}\s[^\n]*?--\s*(.+)$", sql, re.MULTILINE)
    return COLUMNS.get(f"{name}.{column}") or (comment[1] if comment else COLUMNS.get(column, ""))


def sql_tables() -> str:
    parts: list[str] = []
    for name, (sql, columns) in sorted(schema("table").items(), key=lambda part: list(TABLES).index(part[0])):
        rows = [
            [code(column), type_ + (", key" if key else ""), column_meaning(name, sql, column)]
            for column, type_, key in columns
        ]
        parts += [f"### `{name}`", TABLES[name], table(["Column", "Type", "Meaning"], rows)]
    return "\n\n".join(parts)


def sql_views() -> str:
    parts: list[str] = []
    for name, (_, columns) in schema("view").items():
        rows = [[code(column), column_meaning(name, "", column)] for column, _, _ in columns]
        parts += [f"### `{name}`", TABLES[name], table(["Column", "Meaning"], rows)]
    return "\n\n".join(parts)


# --- the demonstration ------------------------------------------------------------------------------


def demo() -> str:
    """What `ringbolt demo` prints, with a fixed path, task id and process id."""
    run = subprocess.run(
        [sys.executable, "-m", "ringbolt", "demo"],
        env=_clean_environ(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    output = re.sub(r"/\S+/ringbolt-demo-[^/\s]+/", "/tmp/…/", run.stdout)  # noqa: S108 - only shown
    output = re.sub(r"kill -9 \d+", "kill -9 4711", output)
    output = re.sub(r"ringbolt-[0-9a-f]{8}\b", "ringbolt-4f1a7c02", output)
    output = re.sub(r"Last change \S+Z,", "Last change 2026-03-01T12:00Z,", output)
    task = re.search(r"registered task (\w+)", output)
    return fence(output.replace(task[1], "7k3m9xq2wd").rstrip() if task else output, "text")


# --- views ------------------------------------------------------------------------------------------

GOLDEN = ROOT / "tests" / "golden"


def golden(name: str, language: str) -> str:
    """A view as the tests expect it."""
    return fence((GOLDEN / name).read_text(encoding="utf-8").rstrip(), language)


def recorded_packet() -> str:
    """The packet that `tools/recording.py` recorded."""
    path = ROOT / "docs" / "images" / "compaction.txt"
    return fence(path.read_text(encoding="utf-8").rstrip(), "text")


def view_sizes() -> str:
    """What each view costs for a small, a large and a very large task."""
    from ringbolt.packet import tokens

    count = tokens.exact()
    if count is None:
        raise SystemExit("the size table wants exact counts: pip install splintr-rs")
    rows = [["resume packet, budget 500"], ["resume packet, budget 1,500"], ["resume packet, budget 8,000"]]
    rows += [["YAML state"], ["one line"], ["capsule, the part for reading"], ["capsule, kilobytes"]]
    where: dict[str, Any] = {"workspace": None, "synchronous": "off", "clock": lambda: 1_772_366_400.0}
    where["random"] = bytes  # every task has the id 0000000000
    for steps in (10, 100, 1000):
        with (
            tempfile.TemporaryDirectory() as folder,
            TaskMemory.open(f"{folder}/store.db", **where) as memory,
        ):
            task = _half_done(memory, steps)
            texts = [memory.task_resume(task, budget=budget).text for budget in (500, 1500, 8000)]
            texts += [memory.task_state(task), memory.task_line(task)]
            capsule = memory.task_handoff(task, max_bytes=1 << 24)
        figures = [*map(count, [*texts, capsule.partition("```json")[0]]), round(len(capsule) / 1000)]
        for row, figure in zip(rows, figures, strict=True):
            row.append(f"{figure:,}")
    return table(["View", "10 steps", "100 steps", "1,000 steps"], rows)


def _half_done(memory: TaskMemory, steps: int) -> str:
    task = memory.task_register(
        f"Migrate {steps} tables",
        [f"Convert table number {number}" for number in range(1, steps + 1)],
        request="Move all tables to the new server, keep the old one readable, and tell me what you changed.",
    ).task_id
    for number in range(1, steps // 2 + 1):
        memory.task_update(task, f"Table {number} converted", step=number, step_status="completed")
        if number % 10 == 0 or number == 1:
            memory.task_decide(
                task, choice=f"Keep the key of table {number}", reasoning="other tables refer to it"
            )
            memory.task_exclude(
                task, what=f"Bulk copy of table {number}", why="its rows are too wide for the buffer"
            )
            memory.task_set(task, f"rows of table {number}", number * 1000)
            memory.task_log_action(task, f"wrote script {number}", files=[f"migrations/{number:04d}.sql"])
    memory.task_update(task, step=steps // 2 + 1, step_status="active")
    return task


# --- the command line -------------------------------------------------------------------------------


def command_line() -> str:
    """The help page of every command."""
    parts: list[str] = []

    def add(command: click.Command, name: str, above: click.Context | None) -> None:
        # The width is fixed, so that the page does not depend on a terminal.
        names = ["-h", "--help"]
        context = click.Context(
            command, info_name=name, parent=above, terminal_width=90, help_option_names=names
        )
        parts.append(f"## `{context.command_path}`\n\n{fence(command.get_help(context), 'text')}")
        if isinstance(command, click.Group):
            for below in sorted(command.list_commands(context)):
                if each := command.get_command(context, below):
                    add(each, below, context)

    add(cli.main, "ringbolt", None)
    return "\n\n".join(parts)


# --- the MCP server ---------------------------------------------------------------------------------


def mcp_tools() -> str:
    """The core tools with the arguments that a model is shown, and the names of the rest."""
    from ringbolt.surfaces.mcp import tools

    core, full = tools.listed("core"), tools.listed("full")
    lines = ["| Tool | Arguments | What it does |", "| --- | --- | --- |"]
    for name, operation in core.items():
        shown = tools.tool(operation, "core")
        arguments = ", ".join(f"`{argument}`" for argument in shown["inputSchema"]["properties"])
        lines.append(f"| `{name}` | {arguments} | {shown['description']} |")
    rest = ", ".join(f"`{name}`" for name in full if name not in core)
    return "\n".join([*lines, "", f"With `--tools full` also: {rest}."])


def install_links() -> str:
    """Links that add the MCP server to an editor."""
    return "\n".join(f"- [Add Ringbolt to {name}]({link})" for name, link in packages.links().items())


SESSION = """
register "Deploy the shop" --step Build --step Push --step Run --request "Deploy v1.2.3. Keep the database."
update "The image is built" --step Build --step-status done
exclude "Pushing to docker.io" --because "the account has no rights there"
decide "Push to ghcr.io" --because "the deploy key works there"
set version v1.2.3
ask "What is next?"
ask "Why ghcr.io?"
plan done Push
plan
recall docker --limit 1
state --line
plan done Run
finish "The shop is live."
list --status all
"""


def cli_session() -> str:
    """What a session prints, each command in a process of its own, with a fixed task id and date."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for words in SESSION.strip().splitlines():
            run = subprocess.run(
                [sys.executable, "-m", "ringbolt", *shlex.split(words)],
                cwd=folder, env=_clean_environ(RINGBOLT_STORE=f"{folder}/tasks.db"),
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=60,
            )  # fmt: skip
            lines += [f"$ ringbolt {words}", run.stdout.rstrip()]
    text = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\dZ", "2026-03-01T12:00Z", "\n".join(lines))
    task = re.search(r" \((\w{10})\)", text)
    return fence(text.replace(task[1], "7k3m9xq2wd") if task else text, "console")


def served() -> str:
    """What `make run ARGS=--demo` prints, with fixed places and ids."""
    with tempfile.TemporaryDirectory() as folder:
        # Without a PATH it finds no host, whichever this machine has.
        environ = _clean_environ(XDG_DATA_HOME=folder, PYTHONUNBUFFERED="1", PATH=folder)
        server = subprocess.Popen(
            [sys.executable, "-m", "ringbolt", "serve", "--demo", "--port", "0", "--as-user"],
            cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with server:
            lines: list[str] = []
            for line in server.stdout or ():
                lines.append(line)
                if "/mcp with the header" in line:
                    break
            server.terminate()
    text = "".join(lines).replace(folder, "~/.local/share")
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:7420", text)
    text = re.sub(r"\S+ -m ringbolt install", ".venv/bin/ringbolt install", text)
    text = re.sub(r"#/sign-in/\S+", "#/sign-in/oUkV…", text)
    return fence(text.rstrip(), "text")


def _clean_environ(**more: str) -> dict[str, str]:
    """The environment without the user's Ringbolt settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RINGBOLT_")}
    return {**kept, "RINGBOLT_CONFIG": os.devnull, **more}


# --- rewriting --------------------------------------------------------------------------------------


def http_routes() -> str:
    from ringbolt.surfaces.http.routes import RESOURCES

    rows = [
        [code(f"GET {one.path}"), f"[`{one.operation}`](operations.md#{one.operation})"] for one in RESOURCES
    ]
    return table(["Route", "Asks"], rows)


def http_operations() -> str:
    from ringbolt.operations import OPERATIONS

    rows = [
        [code(f"POST /api/{name}"), operation.scope, operation.summary]
        for name, operation in sorted(OPERATIONS.items())
        if operation.http
    ]
    return table(["Route", "Scope", "What it does"], rows)


def powers() -> str:
    from ringbolt.model.capabilities import POWERS
    from ringbolt.system.gate import POWER_OF

    kinds = {power: [kind for kind, needed in POWER_OF.items() if needed == power] for power in POWERS}
    closed = {
        "files": "`wait_folders`",
        "displays": "`wait_displays`",
        "commands": "`wait_commands` (off unless set)",
        "egress": "`wait_urls`, `callbacks`",
    }
    rows = [
        [code(power), meaning, ", ".join(map(code, kinds[power])), closed[power]]
        for power, meaning in POWERS.items()
    ]
    return table(["Power", "Lets a caller", "Targets of waits", "Settings"], rows)


def capabilities() -> str:
    from ringbolt.model.capabilities import ACCESS, POWERS
    from ringbolt.operations import OPERATIONS

    rows: list[list[str]] = []
    for access in ACCESS:
        for name, operation in sorted(OPERATIONS.items()):
            if operation.scope != access:
                continue
            needed = {power for each in operation.powers.values() for power in each}
            by = [
                f"{', '.join(power for power in POWERS if power in each)} ({code(argument)})"
                for argument, each in operation.powers.items()
            ]
            doors = ["HTTP"] * operation.http + ["MCP"] * (operation.tools != "none")
            more = (
                f"; write with {', '.join(map(code, operation.writes_with))}" if operation.writes_with else ""
            )
            rows.append(
                [
                    code(name),
                    f"{access}{more}",
                    "every workspace" if operation.whole_store else "its workspaces",
                    "; ".join(by) if needed else "-",
                    ", ".join(doors) or "-",
                ]
            )
    return table(["Operation", "Access", "Reaches", "Powers, by argument", "Doors"], rows)


def http_codes() -> str:
    from ringbolt.surfaces.http.guard import CODES

    return table(
        ["Code", "Status", "Meaning"], [[code(name), str(row[0]), row[1]] for name, row in CODES.items()]
    )


PARTS: dict[str, Callable[[], str]] = {
    "task-states": task_states,
    "item-states": lambda: diagram(rules.ITEM_TRANSITIONS),
    "action-states": lambda: diagram(rules.ACTION_TRANSITIONS),
    "entry-states": lambda: diagram(rules.ENTRY_TRANSITIONS),
    "effect-states": lambda: diagram(rules.EFFECT_TRANSITIONS),
    "phases": phases,
    "vocabulary": vocabulary_tables,
    "operations": operations,
    "errors": error_codes,
    "settings": settings,
    "values": values,
    "words": words,
    "sql-tables": sql_tables,
    "sql-views": sql_views,
    "compaction": recorded_packet,
    "view-resume": lambda: golden("resume.txt", "text"),
    "view-state": lambda: golden("state.yaml", "yaml"),
    "view-line": lambda: golden("line.txt", "text"),
    "view-sizes": view_sizes,
    "command-line": command_line,
    "cli-session": cli_session,
    "served": served,
    "http-routes": http_routes,
    "http-operations": http_operations,
    "http-codes": http_codes,
    "powers": powers,
    "capabilities": capabilities,
    "demo": demo,
    "mcp-tools": mcp_tools,
    "install-links": install_links,
}


def pages() -> list[Path]:
    """The pages that may have generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rendered() -> dict[Path, tuple[str, str]]:
    """Every page as it is and as it should be. Raises if a part is unknown, or is on no page."""
    made: dict[str, str] = {}
    found: dict[Path, tuple[str, str]] = {}

    def replace(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in made:
            made[name] = PARTS[name]()
        return f"{match[1]}\n{made[name]}\n\n{match[3]}"

    for page in pages():
        old = page.read_text(encoding="utf-8")
        found[page] = (old, PART.sub(replace, old))
    if missing := sorted(PARTS.keys() - made.keys()):
        raise SystemExit(f"no page has a place for: {', '.join(missing)}")
    listed = ROOT / "src/ringbolt/surfaces/mcp/core_tools.json"
    made_files = {listed: core_tools(), **{ROOT / name: text for name, text in packages.files().items()}}
    for path, new in made_files.items():
        found[path] = (path.read_text(encoding="utf-8") if path.exists() else "", new)
    return found


def core_tools() -> str:
    """The core tools as the MCP server lists them, so that it need not load their rooms to do so."""
    from ringbolt.surfaces.mcp.tools import described

    return json.dumps(described("core"), indent=1, ensure_ascii=False) + "\n"


def differences() -> str:
    """A diff between the pages as they are and as they should be; empty if they are equal."""
    lines: list[str] = []
    for page, (old, new) in rendered().items():
        name = str(page.relative_to(ROOT))
        lines += difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, f"{name} (generated)")
    return "".join(lines)


def main(arguments: list[str]) -> int:
    """Rewrite the generated parts, or with `--check` only compare them."""
    if arguments == ["--check"]:
        found = differences()
        print(found, end="")
        return 1 if found else 0
    if arguments:
        print("usage: python tools/docs.py [--check]", file=sys.stderr)
        return 2
    for page, (old, new) in rendered().items():
        if new != old:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
