"""Writes the parts of the documentation that follow from the code.

    python tools/docs.py            rewrite every generated part of README.md and docs/
    python tools/docs.py --check    change nothing; exit 1 with a diff if a part is out of date

A part stands between `<!-- generated: name -->` and `<!-- end -->`; its name is a key of `PARTS`.
What the code does not say itself (the meaning of a parameter, a field or a column) is in the tables of
words in this file, and tests/docs checks that none is missing.
"""

from __future__ import annotations

import ast
import difflib
import inspect
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

from ringbolt import TaskMemory, operation_docs
from ringbolt.ask.operations import Asking
from ringbolt.core.actions import Actions
from ringbolt.core.claims import Claims
from ringbolt.core.drill_results import Drilling
from ringbolt.core.entries import Entries
from ringbolt.core.handoff import Handoff
from ringbolt.core.notes import Notes
from ringbolt.core.plans import Plans
from ringbolt.core.queue import Queue
from ringbolt.core.tasks import Tasks
from ringbolt.core.todo_sync import Syncing
from ringbolt.core.transfer import Transfer
from ringbolt.core.undo import Undo
from ringbolt.core.verify import Verify
from ringbolt.extract.distillation import Distilling
from ringbolt.extract.extraction import Extracting
from ringbolt.extract.patterns import Patterns
from ringbolt.extract.progress_updates import Progressing
from ringbolt.extract.running_summary import Summarizing
from ringbolt.files.active_operations import ActiveTasks
from ringbolt.files.facts import Facts
from ringbolt.files.folder_operations import Folders
from ringbolt.files.mirror_operations import Mirrors
from ringbolt.goals.operations import Goals
from ringbolt.model import errors, foreign_statuses, results, rules, types
from ringbolt.model import settings as all_settings
from ringbolt.opening import Opening
from ringbolt.packet.operations import Views
from ringbolt.recall.operations import Recalling
from ringbolt.retention.operations import Retention
from ringbolt.surfaces.cli import main as cli
from ringbolt.upkeep.operations import Upkeep
from ringbolt.waits.operations import Waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
PART = re.compile(r"(<!-- generated: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


meanings = operation_docs.read


# --- what the code does not say itself --------------------------------------------------------------

PHASES = meanings("""
received: registered, and nothing more
planning: a plan is being made
planned: there is a plan, and work has not begun
executing: the steps are being worked on
replanning: the plan turned out wrong and a new one is being made
recovering: a new plan, made after a failure, is being worked on
debugging: the cause of a failure is being looked for
reviewing: the work is being looked over
synthesizing: the final answer is being put together
""")

GROUPS: Mapping[type, tuple[str, str]] = {
    Opening: ("Opening and closing", "A memory is a store and the one who acts on it."),
    Tasks: ("Tasks", "Whole tasks: begin, report, read, list, end, tie together."),
    Plans: ("Plans", "The steps of a task. What is dropped stays as a tombstone."),
    Syncing: ("Lists from elsewhere", "A host's to-do list as the plan."),
    Notes: ("Few names", "Notes of every kind and the plan, for those who want few tools."),
    Actions: ("Actions and history", "What was done, and the ways down to it."),
    Entries: ("Entries and side effects", "What is worth remembering."),
    Views: ("Views", "What a model or a person reads, within a budget of tokens."),
    Handoff: ("Handing over", "A task in one file, and back."),
    Recalling: ("Recall", "Finding anything that was ever written down."),
    Asking: ("Asking", "[Questions](../how-to/ask.md) about a task, answered from what is recorded."),
    Claims: ("Claims", "Who works on what."),
    Undo: ("Undo", "Taking back."),
    Verify: ("Verify", "Checking the ledger."),
    Transfer: ("Moving ledgers", "Events in and out, backup and restore."),
    Mirrors: ("Mirrors", "[Files](../how-to/mirrors.md) that follow the store."),
    Folders: ("Folders", "A task as the files of other projects, and their files as tasks."),
    Facts: (
        "Facts",
        "What is known, of tasks and of anything else; see [Active tasks](../how-to/active-tasks.md).",
    ),
    Progressing: ("Progress", "How a plan stands, as far as it [can be told](../explanation/progress.md)."),
    Summarizing: ("Summaries", "A task [in a few sentences](../how-to/summary.md)."),
    ActiveTasks: ("Active tasks", "The list of active tasks, its file, and what a prompt is told of it."),
    Distilling: (
        "Distilling",
        "What follows from events; see [how a task is distilled](../explanation/distillation.md).",
    ),
    Extracting: (
        "Extraction",
        "What events say and nobody has recorded; see [the worker](../how-to/worker.md).",
    ),
    Patterns: ("Learned patterns", "What tasks have taught."),
    Goals: ("Goals", "What is to be [reached](../how-to/goals.md), by criteria that can be checked."),
    Retention: ("Retention", "Taking away [for good](../how-to/retention.md)."),
    Waiting: ("Waits", "[Waiting](../how-to/waits.md) until something is so, across restarts."),
    Drilling: ("Drills", "What [recovery drills](../how-to/drill.md) have found."),
    Upkeep: ("Upkeep", "[Looking after](../how-to/upkeep.md) tasks that nobody looks after."),
    Queue: ("Jobs", "What waits for [a worker](../how-to/worker.md), and what was given up."),
}

FIELDS = meanings("""
task_id: the task's id
seq: number of the event in its task, from 1
at: when, in UTC
type: its type
item: id of the step it belongs to
origin: who wrote it
status: its status
tags: labels
Origin.principal: on whose behalf
Origin.agent: name of the agent
Origin.channel: channel of trust
Origin.session: session of the agent
Event.type: one of the [event types](events.md)
Event.text: the words: a message, a summary, a reason
Event.data: what happened, as far as it is not words
Event.sets: what it changed in the state, table by table
Event.ref: seq of the event that this one is about
Event.correlation: the caller's id for what belongs together
Event.hash: hash over the event before and all of this one, in hex
Event.forgotten: whether its content was [removed on purpose](../explanation/forgetting.md)
id: its id
Item.id: stable name of the step
Item.ordinal: place for display, from 0
Item.title: the step in words
stage: stage of the plan
Item.basis: whether the status was said (`explicit`) or concluded (`inferred`; planned)
Item.evidence: whether completion was `reported`, or `verified` by a receipt
Item.cause: seq of the event that gave it its status
Item.note: a note
Item.active_issue: what holds it up
Item.depends_on: ids of the steps it waits for
Item.ready: pending, and all that it waits for is over
Item.detail: tool, input, narrative and every other field of the plan's step
Item.plan_version: the plan that brought it in
Item.dropped_in: the plan that dropped it; then it is a tombstone
Item.replaced_by: id of the step that took its place
Item.started_at: when it first became active
Item.completed_at: when it was completed, failed, skipped or cancelled
Item.duration_seconds: from start to end
Item.version: seq of the last event that changed it
Item.sources: which event each of its texts comes from
Source.seq: the event that set it
Source.channel: the channel of trust that it came through
Effect.channel: the channel of trust that it came through
FileTouch.channel: the channel of trust that it came through; only in snapshots
Task.sources: which event each of its texts comes from: name, request, goal, next_step, …
Moment.text: its words, the first 1,000 characters
Moment.channel: the channel of trust that it came through
Moment.status: of an action or entry, its status
Wait.target: what is watched
Wait.until: what must become true of it
WaitResult.wait_id: `task#seq`
WaitResult.seq: number of the event that began it
WaitResult.state: watching, resolved, timeout, cancelled or error
WaitResult.target: what is watched, with whole paths and ids
WaitResult.until: what must become true of it; a group has that in its target
WaitResult.timeout: seconds to wait at most
WaitResult.started_at: when it began
WaitResult.ended_at: when it ended
WaitResult.result: how it ended
WaitResult.said: what the last look found
WaitResult.judged_by: rule, or model where words are judged by one
WaitResult.due: it was time to look, and nobody has: no worker runs
Wait.channel: the channel of trust that it came through
Snapshot.values: the variables as entries
Snapshot.recent: the last 40 events, newest first
Snapshot.waits: what the task waits for
Snapshot.criteria: of a goal, what it is reached by
Snapshot.goals: the goals that the task is tied to
Criterion.seq: its number: that of the event that set it
Criterion.text: what must hold
Criterion.status: open, met, failed or waived
Criterion.check: file, command, http, or manual: a person decides
Criterion.target: the path, the words of the command as JSON, or the URL
Criterion.channel: the channel of trust that it came through
Criterion.evidence: what the last look or decision said
Criterion.evidence_seq: the event that said so
Criterion.by: the channel that the evidence came through
Criterion.at: when that was
GoalTask.id: the task's id
GoalTask.name: its name
GoalTask.reason: why it waits, if it says so
GoalTask.done: how many of its steps are completed
GoalTask.total: how many steps count
GoalTask.blockers: what blocks it
GoalTask.seq: number of its last event
GoalTask.updated_at: when it was last changed
GoalBudget.limits: the most of each that may be used, by name: attempts, tokens, seconds, cost
GoalBudget.used: what was used of each
GoalBudget.exhausted: the names of the limits that are reached
GoalStatus.goal_id: the goal's id
GoalStatus.name: the goal in a few words
GoalStatus.reason: why it waits: blocked, budget, or what was said
GoalStatus.description: what is to be reached, at length
GoalStatus.seq: number of its last event
GoalStatus.ready: all its criteria are met or waived, and there are some
GoalStatus.met: how many of them are
GoalStatus.criteria: what it is reached by
GoalStatus.tasks_done: how many of its tasks are completed
GoalStatus.tasks_total: how many tasks are tied to it, those that were superseded left out
GoalStatus.steps_done: how many steps of those tasks are completed
GoalStatus.steps_total: how many steps of those tasks count
GoalStatus.tasks: the tasks, the last changed first, at most 1,000
GoalStatus.budget: what it may use and has used
GoalStatus.blocked: why it stands still until it is reset
GoalStatus.blocker_limit: how often the same blocker may come
GoalStatus.repeated: the blockers of its tasks since the last reset
Repeated.text: its words when it came last
Repeated.task_id: the task that met it last
Repeated.seq: the event that said so
Repeated.times: how often it came
RelatedGoal.id: the goal's id, or the text that stands for it
RelatedGoal.name: its name
RelatedGoal.status: its status
RelatedGoal.reason: why it waits
RelatedGoal.met: how many of its criteria are met or waived
RelatedGoal.total: how many criteria it has
RelatedGoal.channel: the channel that its name came through
Removal.operation: forget or purge
Removal.done: whether it was done; else it is what would be
Removal.token: what confirms it
Removal.expires_at: until when
Removal.tasks: how many tasks it is about
Removal.events: how many events go, or lose their content
Removal.carried: how many events of others repeat them, and go too
Removal.spooled: how many events of hosts that wait to be written go
Removal.task_ids: the tasks, at most 100
Removal.scrubbed: whether the store's files were written anew without it
Removal.elsewhere: files that may still hold it, and are yours to remove
Removal.warnings: what went wrong after it was gone from the store
ImportReport.purged: events of tasks that were purged here: they are not brought back
Snapshot.resolved: the last errors that were settled, with their `resolution`
Snapshot.settled: the last side effects of which it is known whether they happened
Snapshot.names: the names that the work uses, the most useful first
Snapshot.summary: the running summary
Name.name: the name
Name.kind: file, path, identifier, version, ticket, commit, url, …
Name.seq: the last event that has it
Name.channel: the channel of trust of that event
Name.weight: how likely it is to be needed again
Summary.text: what it says
Summary.seq: the last event that it covers
Summary.at: when it was made
Summary.source: `ledger`, or the name of the model that wrote it
Summary.channel: the lowest trust of what it was made of
Summary.since: a line for each event after it, the newest ones
Summary.left_out: how many more there are
ItemProgress.id: the step
ItemProgress.title: what it is
ItemProgress.status: its status
ItemProgress.basis: whether the status was set on purpose or inferred
ItemProgress.confidence: how likely it is over, from 0 to 1; `None` where the plan is too long to be followed
ItemProgress.suggestion: a status that is likely and was not written
ItemProgress.cause: the event that the suggestion, or else the status, follows from
ProgressReport.seq: the task's last event
ProgressReport.current: the step that is likely worked on
ProgressReport.items: the steps of the plan
Distilled.seq: the last event that the names cover
Distilled.entries: seqs of the entries that were found now
Answer.seq: the last event of the task when it was asked
Answer.question: the question
Answer.text: the answer, with `#seq` citations
Answer.source: `ledger`, `recall`, or the name of the model that worded it
Answer.about: what the question was understood to ask for
Answer.cites: the events that it cites
Anchor.path: the file, as it was cited
Anchor.state: fresh: as it was cited; stale: changed or gone; unverifiable: not to be read here
Hit.task_name: name of the task
Hit.type: one of the [event types](events.md)
Hit.status: of an entry, an action or a retracted message, its status
Hit.replaced_by: seq of the event that ended or replaced it
Hit.title: the first words
Hit.snippet: the words around the match
Hit.score: how well it fits, to be compared within one answer
Hit.why: which words it has, or which event it is near to
Hit.alike: how many more say the same
Hit.anchors: the files that it cites, and whether they still are as cited
Recall.query: what was looked for
Recall.hits: what was found, best first
Recall.cursor: for the next page; None: that was all
Recall.semantic: whether vectors were used too
Recall.warnings: what could not be done, like texts or servers that vectors are missing of
Packet.text: the text to inject
Packet.tokens: how many tokens it has, by the count that was used
Packet.budget: how many it might have had
Packet.left_out: how many of each part are not shown
PlanVersion.version: number of the plan, from 1
PlanVersion.seq: the event that made it
PlanVersion.reason: why it was made
PlanVersion.items: the steps as they were then, tombstones included
Entry.summary: the entry in a sentence
Entry.detail: more than the summary says
Entry.key: a variable's name, an exclusion's signature, a snapshot's label
Entry.relevance_to: steps or names that it matters for
Entry.data: further fields: those of a decision or an exclusion, a variable's `value`
Entry.replaced_by: seq of the event that ended it
Action.summary: what was done
Action.tool: name of the tool
Action.input: what went in
Action.output: what came out
Action.error: what went wrong
Action.sub_task_id: the caller's own id for a sub-task
Action.ended_at: when it ended
Action.duration_ms: how long it took
Action.logs: its logs, oldest first, at most 1,000
Effect.what: what was to be done
Effect.verify: how to find out whether it was
Effect.outcome: the note that came with the outcome
Effect.outcome_seq: seq of the outcome
Effect.outcome_channel: through which channel the outcome was told
FileTouch.path: the file
FileTouch.change: what the task did to it
Claim.item: id of the step; empty: the whole task
Claim.holder: who holds it
Claim.token: fencing token; grows with each claim on the task
Claim.expires_at: end of the lease
Claim.reason: why it changed hands
Link.kind: kind of tie
Link.target: id of the other task, or a goal
ErrorSummary.message: what went wrong
ErrorSummary.step: the step it went wrong in
Timestamps.created_at: the task was registered
Timestamps.plan_generated_at: it first had a plan
Timestamps.execution_started_at: work first began
Timestamps.synthesis_started_at: the answer was first worked on
Timestamps.completed_at: it ended; None again when it is reopened
Timestamps.last_updated_at: its last event (uses of a model do not count)
TaskCard.name: the task in a few words
TaskCard.phase: its phase
TaskCard.reason: why it has its status
TaskCard.attention: a note to a person that something needs looking at
TaskCard.kind: a task, or a goal
done: completed steps
total: steps that are neither skipped nor cancelled
TaskCard.verified: of these, steps that a receipt proves
TaskCard.unknown: side effects that were begun and whose outcome nobody knows
TaskCard.current: id of the step that became active last
TaskCard.current_title: its title
TaskCard.next: id of the next step: the first pending one that waits for nothing
TaskCard.next_title: its title
TaskCard.next_step: what is to be done next, in the agent's words
TaskCard.blockers: what stands in the way
TaskCard.workspace: the workspace it belongs to
TaskCard.session: the session that turned to it last
TaskCard.parent: id of the task it is a part of
TaskCard.archived: put away
TaskCard.created_at: when it was registered
TaskCard.updated_at: when its last event was written (uses of a model do not count)
TaskCard.seq: its last event
TaskCard.version: seq of the last event that changed one of these on purpose; the value for `expect`
Task.goal: what is to be reached
Task.request: the request as the user wrote it
Task.context: what came with the registration
Task.repository: common git folder of the workspace
Task.acceptance: acceptance criteria
Task.approval_mode: auto, manual or confirm
Task.callback_url: who is told when the task ends
Task.metadata: a JSON object
Task.timestamps: the six moments
Task.plan_version: number of the present plan; 0: none
Task.last_replanned_at: when the plan was last replaced
Task.items: all steps in order, tombstones included
Task.decisions: active decisions, oldest first, the newest 50
Task.exclusions: active exclusions, oldest first, the newest 50
Task.errors: active errors, oldest first, the newest 20
Task.questions: active questions, oldest first, the newest 20
Task.instructions: active user instructions, oldest first, the newest 20
Task.notes: active discoveries, artifacts, context and tool results, the newest 20 of each
Task.variables: name and present value, the newest 200
Task.effects: side effects that are intended or unknown, oldest first, the newest 50
Task.files: files that the task touched, the last first, at most 200
Task.links: ties to other tasks and goals
Task.claims: claims that were not released; one may have expired
Task.answer: the final answer
Task.error: why it failed
Task.conflict_of: the task that this one is the other side of, after an import
Task.messages: how many messages it has
Task.actions: how many actions it has
Task.left_out: entry type, and how many active ones are not shown; counted up to 1,000
Written.seq: the event that was written
Written.phase: the task's phase
Written.status: the task's status
Written.current: id of the step that became active last
Written.next: id of the next step
Written.items: ids of the steps that a plan brought
Written.token: fencing token of a claim
Written.expires_at: end of a claim's lease
Written.warnings: what was written all the same, but looks odd
Written.answer: the answer to the `query` of the call
TaskPage.tasks: the tasks
cursor: give it back for the next page; None: this was the last
Thread.events: the events, oldest first
Thread.cursor: give it as `before` for the page before; None: there is none
Drill.task: the task
Drill.items: the steps, when no step was named
Drill.item: the step that was named, or that the action belongs to
Drill.actions: the step's actions with their logs, oldest first
Drill.action: the action that was named
Drill.entries: the step's active entries
Drill.left_out: how many older actions are not shown
Problem.kind: one of the [kinds of problem](../how-to/verify.md)
Problem.task_id: the task, if it is about one
Problem.seq: the event, if it is about one
Problem.detail: what is wrong, in words
VerifyReport.ok: no problem was found
VerifyReport.tasks: tasks that were looked at
VerifyReport.events: events that were folded again
VerifyReport.problems: what was found
Divergence.task_id: the task that both sides continued
Divergence.seq: the first event in which they differ
Divergence.kept_as: id of the task that has the other side's history
ImportReport.events: events in the file
ImportReport.added: events that were new
ImportReport.known: events that were there already
ImportReport.tasks: ids of the tasks that got new events
ImportReport.conflicts: tasks that had gone two ways
MirrorStatus.kind: what it is a mirror of: one of the kinds of the setting `mirrors`
MirrorStatus.path: the file, or the folder of several
MirrorStatus.task_id: the task that it shows, if it is of one
MirrorStatus.workspace: the workspace that it shows, if it is of one
MirrorStatus.seq_shown: the event that it shows: of a task its seq, of a workspace its position in the store
MirrorStatus.seq_now: the event that it should show
MirrorStatus.stale: it does not show what it should
MirrorStatus.reasons: why: missing, behind, edited by hand, foreign file in the way, failed: with the error
MirrorStatus.refreshed_at: when it was last written
MirrorStatus.failed_at: when it last could not be written, even if it could later
CopyReport.ok: every task of the source is in the target with the same last hash, and both verify
CopyReport.tasks: tasks in the source
CopyReport.events: events in the source
CopyReport.copied: events that were copied this time
CopyReport.behind: ids of tasks that went on in the source meanwhile
CopyReport.diverged: ids of tasks that the target continued on its own; they were left as they are
CopyReport.others: tasks of the target that the source does not have
CopyReport.source: what `verify` says of the source
CopyReport.target: what `verify` says of the target
FolderExport.path: where the files are
FolderExport.seq: the event up to which they show the task
FolderExport.files: the files of the task, relative to that path
FolderExport.written: how many had to be written
FolderExport.removed: how many of an earlier export were removed
warnings: what someone should look at
FolderImport.tasks: ids of the tasks that the files are about
FolderImport.added: events that were written
FolderImport.known: events that were there already
FolderImport.active: the task that a states folder calls the active one
FolderImport.conflicts: tasks that had gone two ways
Fact.id: its citation, `task#seq`
Fact.seq: the event that stored it, or set what it tells
Fact.category: project, preference, fact, decision, entity or other
Fact.entity: what it is about; of a task the label, else the id
Fact.key: name of what is known
Fact.value: the value
Fact.text: the fact in words
Fact.why: why it is so
Fact.importance: from 0 to 1
Fact.at: since when, as far as that is known
Fact.derived: not stored as a fact: the task says so itself
channel: channel of trust that it came through
FactPage.facts: the facts
FactPage.left_out: how many more there are
ActiveRow.label: short name of the task; else its id
ActiveRow.title: the task in a few words
ActiveRow.status: In progress, Waiting, Stalled, Failed, Done, or what a person wrote
ActiveRow.next: what is to be done next
ActiveRow.evidence: how many of its steps are verified, and how many only reported, while it is open
ActiveRow.unknown: a side effect that was begun without a word of its outcome, and how to find out
ActiveRow.branch: the branch that the work is on
ActiveRow.stash_commit: stash or commit that holds the work
ActiveRow.subagent: the session that works on it
ActiveRow.related_goal: its goal
ActiveRow.handoff: where a hand-off is
ActiveRow.started: when it began; None: unknown
ActiveRow.updated: when it was last updated; None: unknown, which counts as stale
ActiveRow.stale: no update for longer than the threshold
ActiveRow.completed: nothing is left to do
ActiveRow.session: the session that turned to the task last
ActiveRow.task_id: the task; None in a file
ActiveRow.seq: its last event
ActiveRow.channel: the least trusted channel of its texts; None: unknown
Projection.mode: readable, or full: no row is filtered out
Projection.exclude_generic_title: leave out rows titled only “Project task”
Projection.title_min_chars: leave out rows with a shorter title
Projection.dedupe_by: none, label or normalizedTitle
Projection.max_rows: most rows of each section; 0: all
Projection.sectioned: three sections, or one flat list
Diagnostics.fetched: rows that were read
Diagnostics.grouped: rows after duplicates were collapsed
Diagnostics.collapsed: duplicates
Diagnostics.stale: stale rows
Diagnostics.rendered: rows that were shown
Diagnostics.injected: rows that went into the prompt
Diagnostics.elapsed_ms: how long it took
ProjectionState.path: the file
ProjectionState.stale: the file does not show what the store has
ProjectionState.stale_reasons: why not
ProjectionState.store_position: place of the newest change of the workspace
ProjectionState.file_position: place that the file shows
ProjectionState.file_modified_at: when the file was written
RenderReport.requested: whether rendering was asked for
RenderReport.applied: whether the file was written
RenderReport.path: the file
RenderReport.reason: why nothing was written
RenderReport.error: the error that stood in the way
diagnostics: counts of what became of the rows
ActiveTaskList.generated_at: when the list was made
ActiveTaskList.source: `store` or `file`
ActiveTaskList.ledger: facts or markdown
ActiveTaskList.stale_threshold_minutes: after how long without an update a row is stale
ActiveTaskList.active: the rows: live ones first, then stale ones, then completed ones if they were asked for
ActiveTaskList.active_count: live rows
ActiveTaskList.stale_count: stale rows
ActiveTaskList.completed_count: completed rows
ActiveTaskList.projection: the state of the file
ActiveTaskList.render: what rendering did
ActiveTaskList.warnings: what looks odd
ActiveBlock.text: the blocks; empty if there is nothing to say
Written.patterns: of a registration: what similar steps have taught; data, never instructions
Pattern.type: success, failure, or retry: it failed and then worked
Pattern.key: what it is found by: words of a title, or a command with the beginning of its error
Pattern.text: the step or command that it was last seen with
Pattern.detail: the error, or the commands that worked
Pattern.fix: what worked in the end, if it was something else
Pattern.frequency: how often it was seen
Pattern.last_seen: when it was last seen
Pattern.channel: how far its texts are trusted
Pattern.task_id: the task where it was last seen
Pattern.seq: the event there
Extraction.seq: the last event that was looked at
Extraction.events: how many events were looked at
Extraction.entries: the entries that were written
Extraction.known: how many things were found that are known already, or known better
Extraction.settled: how many errors were found to be fixed
Extraction.refused: how many things were found that cannot be stored
Extraction.patterns: how many patterns were seen
Job.kind: what is to be done
Job.task_id: the task; empty: none
Job.key: what it is about, like a step
Job.data: what else it needs
Job.status: waiting, leased or dead
Job.attempts: how often it was tried since it was last asked for
Job.due_at: when it may be tried, empty for at once; while leased, when the lease ends
Job.token: one more with each lease
Job.holder: the worker that has it
Job.error: why the last attempt failed
Job.created_at: when it was asked for
DrillRow.name: what must come back
DrillRow.wanted: the percentage that is wanted; none: it is only measured
DrillRow.count: how many there were
DrillRow.small: how many came back in a packet of 500 tokens
DrillRow.usual: how many came back in a packet of 1,500 tokens
DrillRow.asked: how many came back by asking
DrillRow.host: how many are in the host's own summary
DrillRow.host_count: how many there were where such a summary is stored
DrillResult.task_id: the task; none: the sum of many
DrillResult.name: the name of the task
DrillResult.cut: the last event that the fresh context knows of
DrillResult.last: the last event of the task's work
DrillResult.because: asked, compaction, or 60 %
DrillResult.rows: one for each kind of thing
DrillResult.ok: whether all came back that must come back whole, in 1,500 tokens
DrillResult.seq: number of the event that keeps it; none: it is not kept
DrillResult.at: when it was made
DrillResults.results: the newest first
DrillResults.left_out: how many more there are
JobsStatus.waiting: jobs that wait
JobsStatus.leased: jobs that a worker has
JobsStatus.dead: jobs that were given up
JobsStatus.kinds: the same for each kind
JobsStatus.oldest: since when the oldest waiting one waits
JobsStatus.given_up: the jobs that were given up, the oldest first
JobsStatus.due: of those that wait, jobs whose time has come
JobsStatus.due_since: since when the first of these is due
JobsStatus.workers: who does the jobs, the one heard of last first
JobsStatus.totals: what became of jobs so far, by kind: done, failed, dead, lost
WorkerSeen.holder: machine, process and number
WorkerSeen.kinds: the kinds of jobs that it does
WorkerSeen.alive: whether it was heard of within the last minute and has not ended
WorkerSeen.started_at: when it began
WorkerSeen.seen_at: when it was heard of last; it tells every 20 s
WorkerSeen.ended_at: when it ended in good order
UpkeepChange.rule: lease, resume, reconcile, duplicate, failed, pause, stuck or archive
UpkeepChange.name: the task's name
UpkeepChange.before: its status before; of a claim: held
UpkeepChange.after: its status now, or archived; of a claim: released
UpkeepChange.reason: why
UpkeepChange.seq: the event that says so; nothing was written without one
UpkeepReport.dry_run: whether nothing was to be changed
UpkeepReport.at: when it ended
UpkeepReport.workspace: the workspace that it was about; nothing: all of them
UpkeepReport.rules: the rules that were gone through
UpkeepReport.counts: changes of each rule
UpkeepReport.changes: the first 1,000 of them
UpkeepReport.left_out: changes that are not listed
UpkeepReport.skipped: tasks that changed while they were looked at, and were left alone
UpkeepReport.clock_sure: whether the clock [is believed](../explanation/upkeep.md#time)
UpkeepReport.as_of: up to when time counts; nothing: nothing is old yet
UpkeepReport.clock_jumped: seconds by which the clock was found to be set since the last run
UpkeepReport.failures: rules that could not be gone through, with the error
UpkeepReport.warnings: what should be known
WorkerReport.done: jobs that were done
WorkerReport.failed: jobs that failed and will be tried again
WorkerReport.dead: jobs that were given up
WorkerReport.lost: jobs that another worker had taken over
""")

TABLES = meanings("""
events: The ledger. Only ever appended to.
origins: Who wrote: principal, agent, channel, session. Stored once each.
heads: One row for each task: what changes often.
extras: One row for each task: what is long or rarely changes.
steps: The steps of plans, dropped ones included.
records: The part of an action, entry, effect or snapshot that can change.
labels: Tags, and the names that entries matter for.
files: Files that a task touched.
links: Ties between tasks, and to goals.
claims: Leases with their fencing tokens, released ones included.
keys: Idempotency: what a keyed call answered the first time.
learned_patterns: Patterns over many tasks: what worked, failed, and worked in the end.
words: The full-text index: the words of each event, by its id. It holds no text that could be read.
words_mark: How far the full-text index is; later events are searched without it.
vector_models: Models that vectors were made with, and which events have theirs.
vectors: Vectors of texts, for finding by meaning. All can be made anew from the events.
distilled: What was distilled from a task's events, and up to which one. All can be made anew from the events.
jobs: What waits to be done, like extractions; one that is done is gone. The kind `worker` is who does them.
spending: What models have cost, by day, task and model.
schema_migrations: Which migrations the store has had.
tasks: Tasks with their goal, plan and request.
plan_items: The steps of plans.
actions: What was done, with input and output.
action_logs: Logs of actions.
task_messages: A task's history as messages with roles.
wait_jobs: Waits as they are now, and how they ended.
memory_entries: Decisions, errors, discoveries, exclusions, variables and the rest.
execution_log: Actions that are over, in the words of an execution log.
""")

# Used where the schema's own comment says nothing.
COLUMNS = meanings("""
words.body: the words; they can be searched for (`words MATCH 'registry'`), not read
words_mark.up_to: the last event in the index
vector_models.model: a number, made by chance
vector_models.name: with its version: vectors of different models are never compared
vector_models.dimensions: how many numbers a vector has
vector_models.done_from: from this event …
vector_models.done_to: … to this one none waits for its vectors
vectors.number: in the order of writing
vectors.model: the model
vectors.id: id of the event
vectors.chunk: number of the piece of its text, from 0
vectors.vector: float16 numbers; on PostgreSQL with pgvector a halfvec
distilled.task_id: the task
distilled.at: when that was
jobs.id: its id
jobs.kind: what is to be done
jobs.attempts: how often it was tried
jobs.holder: who works on it
jobs.error: why the last attempt failed
jobs.created_at: when it was asked for
spending.day: the day, in UTC
spending.task_id: the task; empty: none
spending.model: the model
spending.calls: calls
spending.tokens_in: tokens that it read
spending.tokens_out: tokens that it wrote
spending.cost: in the currency of the settings' prices
name_seq: the event that gave the name
next_seq: the event that set `next_step`
blockers_seq: the event that set the blockers
attention_seq: the event that set `attention`
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
events.text: the words: a message, a summary, a reason
events.origin_id: who wrote it
events.correlation_id: the caller's id for what belongs together
origins.id: from the content, the same in every store
principal: on whose behalf
agent: name of the agent
session: session of the agent
heads.last_seq: its newest event
heads.last_hash: hash of its newest event
kind: what kind it is
name: the task in a few words
status: its status
phase: its phase
reason: why it has its status
attention: a note to a person
next_step: what is to be done next, in words
done: completed steps
total: steps that are neither skipped nor cancelled
current_item: the step that became active last
next_item: the next step
heads.plan_version: number of the present plan; 0: none
plan_seq: the event that made the present plan
workspace_path: the workspace it belongs to
repository: common git folder of the workspace
session_id: the session that turned to it last
parent_id: the task it is a part of
finish_seq: the event that ended it
messages: how many messages it has
actions: how many actions it has
created_at: when it was written
updated_at: when its last event was written
plan_generated_at: it first had a plan
replanned_at: the plan was last replaced
execution_started_at: work first began
synthesis_started_at: the answer was first worked on
heads.completed_at: it ended
archived_at: it was put away
goal: what is to be reached
approval_mode: auto, manual or confirm
callback_url: who is told when the task ends
ordinal: place for display, from 0
title: the step in words
stage: stage of the plan
cause_seq: the event that gave it its status
note: a note
active_issue: what holds it up
depends_on: JSON list of step ids
steps.detail: JSON object: the rest of the plan's step
steps.plan_version: the plan that brought it in
replaced_by: the step that took its place
started_at: it first became active
completed_at: it was over
duration_seconds: from start to end
version: seq of the last event that changed the row
records.type: action, effect, snapshot, an entry type, or message for an undone message
ended_at: when it ended
labels.kind: tag, item; `label`: the task's own label; `facts`: the workspace whose facts these are
labels.value: the tag or name
files.path: the file
files.at: when it was last touched
links.target: the other task, or a goal
links.status: active or removed
holder: who holds it
token: fencing token; grows with each claim on the task
claims.reason: why it changed hands
keys.key: the key
operation: the operation that was called
arguments: digest of its arguments
result: what it answered, as JSON
pattern_type: its type
pattern_key: its key
learned_patterns.data: JSON: the newest example
frequency: how often it was seen
last_seen: when it was last seen
learned_patterns.id: its id
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
evidence: reported or verified
dropped_in: the plan that dropped it
wait_jobs.id: `task#seq`
target_type: what is waited for
target_id: which one
criteria: until when
timeout_seconds: the most to wait
poll_interval: how often it is looked at
result_message: how it ended
resolved_at: when it ended
""")

# --- Markdown ---------------------------------------------------------------------------------------


def table(heading: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def code(text: str) -> str:
    """Text as code in a table cell, or nothing for no text."""
    return f"`{text}`".replace("|", "\\|") if text else ""


def fence(text: str, language: str = "") -> str:
    """A fenced block."""
    return f"```{language}\n{text}\n```"


def paragraphs(function: object) -> str:
    """A docstring as Markdown."""
    text = inspect.getdoc(function) or ""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


# --- states and vocabulary --------------------------------------------------------------------------


def diagram(transitions: Mapping[str, Sequence[str]], starts: Iterable[str] | None = None) -> str:
    """The transitions (those from some statuses) as a Mermaid diagram and as a table."""
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
                ["`active`, with an issue", code(foreign_statuses.write_item_status("active", "an issue"))],
            ],
        ),
    ]
    return "\n\n".join(parts)


# --- operations -------------------------------------------------------------------------------------

_SHOWN_DEFAULTS = {time.time: "time.time", os.urandom: "os.urandom"}


def public_operations() -> Iterator[tuple[type, str, Any]]:
    """Every public method of TaskMemory with the class that defines it, in the order of the source."""
    for group in GROUPS:
        for name, member in vars(group).items():
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


def parameter_meaning(operation: str, name: str) -> str:
    return operation_docs.meaning(operation, name, links=True)


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
            [code(part.name), code(part.annotation), code(_default(part)), parameter_meaning(name, part.name)]
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
    rows: list[list[str]] = []
    for name, (default, least, most, meaning) in all_settings.SETTINGS.items():
        bounds = f"{_shown(least)} to {_shown(most)}" if least is not None else "any text"
        if name in all_settings.WORDS:
            bounds = " or ".join(code(word) for word in all_settings.WORDS[name])
        if name in all_settings.LISTS:
            bounds = (
                f"{code('none')}, or some of {', '.join(code(word) for word in all_settings.LISTS[name])}"
            )
        rows.append([code(name), _shown(default), bounds, code(f"RINGBOLT_{name.upper()}"), meaning])
    return table(["Setting", "Default", "Bounds", "Environment variable", "Meaning"], rows)


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
    """The default of a field, as code; nothing where there is none."""
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
    """The names of types.py that stand for a few words."""
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
    task = text.splitlines()[1].split()[0]
    return fence(text.replace(task, "7k3m9xq2wd"), "console")


def served() -> str:
    """What `make run ARGS=--demo` prints, with fixed places and ids."""
    with tempfile.TemporaryDirectory() as folder:
        environ = _clean_environ(XDG_DATA_HOME=folder, PYTHONUNBUFFERED="1")
        server = subprocess.Popen(
            [sys.executable, "-m", "ringbolt", "serve", "--demo", "--port", "0"],
            cwd=folder, env=environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        with server:
            lines: list[str] = []
            for line in server.stdout or ():
                lines.append(line)
                if "any other" in line:
                    break
            server.terminate()
    text = "".join(lines).replace(folder, "~/.local/share")
    text = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:7420", text)
    text = re.sub(r"-- .* mcp$", "-- ringbolt mcp", text, flags=re.MULTILINE)
    task = re.search(r"task (\w+)", text)
    return fence(text.replace(task[1], "7k3m9xq2wd").rstrip() if task else text, "text")


def _clean_environ(**more: str) -> dict[str, str]:
    """The environment without anyone's settings."""
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
    "demo": demo,
    "mcp-tools": mcp_tools,
}


def pages() -> list[Path]:
    """The pages that may have generated parts."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def rendered() -> dict[Path, tuple[str, str]]:
    """Every page as it is, and as it should be. Raises if a part is unknown or stands nowhere."""
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
    return found


def differences() -> str:
    """A diff from the pages as they are to the pages as they should be; empty if they are equal."""
    lines: list[str] = []
    for page, (old, new) in rendered().items():
        name = str(page.relative_to(ROOT))
        lines += difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, f"{name} (generated)")
    return "".join(lines)


def main(arguments: list[str]) -> int:
    """Rewrite, or check."""
    if arguments == ["--check"]:
        found = differences()
        print(found, end="")
        return 1 if found else 0
    if arguments:
        print("usage: python tools/docs.py [--check]", file=sys.stderr)
        return 2
    for page, (old, new) in rendered().items():
        if new != old:
            page.write_text(new, encoding="utf-8")
            print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
