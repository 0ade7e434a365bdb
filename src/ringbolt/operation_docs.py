"""What each argument of an operation means, in a line: for help, schemas and the reference."""

from __future__ import annotations

import re

_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def read(text: str) -> dict[str, str]:
    """Read `name: meaning` lines."""
    pairs = (line.partition(": ") for line in text.strip().splitlines() if line.strip())
    return {name.strip(): words.strip() for name, _, words in pairs}


# A name alone holds for every operation; `operation.name` comes first.
PARAMETERS = read("""
task_id: The task: its id, an unambiguous beginning of it, or nothing for the [current task](../explanation/scope.md#the-current-task).
key: Idempotency key, at most 200 bytes. The same call with the same key is written once and answered the same each time.
token: The fencing token of a claim. Without one, the tokens that this memory object got from `task_claim` are checked.
expect: The version that the caller last saw. If it has changed since, the call fails with `stale_version`.
item: A step: its id, its number from 1, or its title or the unambiguous beginning of it.
tags: Labels, at most 200 of at most 100 bytes.
relevance_to: Ids of steps, or other names, that the entry matters for. They are stored as given.
supersedes: The seq of one or several entries that this one replaces.
limit: The most to answer.
location: Path of the SQLite file, `sqlite:///path`, or `postgresql://…`. Empty: as said above.
create: False: a store that is not there is an error (`store_not_found`) and is not made.
catch_up: Take in events that hooks have left in the journal, now and before every read and write.
open.workspace: Where tasks belong. `""`: the worktree of the current folder. A folder: its worktree. `None`: none.
acting_as.workspace: The same as in `open`; `""` leaves it as it is.
session: The agent's session.
open.session: The agent's session; else `RINGBOLT_SESSION`, else none.
open.agent: Name of the agent; else `RINGBOLT_AGENT`.
open.principal: On whose behalf; else `RINGBOLT_PRINCIPAL`, else `USER`, else the user's number.
agent: Name of the agent.
principal: On whose behalf.
channel: Channel of trust: user, agent, tool, web, import or system.
settings: Settings that were read already, instead of reading them; the location and the overrides come on top.
clock: Gives seconds since 1970.
random: Gives that many random bytes.
overrides: Any [setting](settings.md) by its name.
correlation: An id that is written on every event, to find what belongs together.
name: The task's name, at most 500 bytes.
task_register.plan: Titles; steps as objects; stages with steps; a mapping of ids to steps; or a text with one step a line.
task_plan_replace.plan: The new plan, in any form that `task_register` reads.
request: The request as the user wrote it. Kept for ever, never shortened.
goal: What is to be reached; else the request, else the name.
context: Any JSON value that belongs to the task.
task_decide.context: The circumstances of the decision.
task_register.workspace: `""`: the memory's workspace. `None`: none.
parent: The task that this one is a part of.
task_list.parent: Only the sub-tasks of this task.
acceptance: Acceptance criteria: a list of JSON values.
approval_mode: auto, manual or confirm. Stored; nothing acts on it yet.
callback_url: Who is told by a POST when the task, or a wait of it, ends.
metadata: A JSON object.
task_update.metadata: Merged into the task's; a name with null is removed.
phase: The task's [phase](../explanation/states.md#phases).
task_register.phase: The first phase; else planned with a plan and received without one.
related_goal: Id of a goal, as a link of kind `goal`. Any text.
kind: `task` or `goal`.
task_list.kind: `task`, `goal`, or `None` for both.
task_link.kind: parent, goal, supersedes, blocks or related.
message: What happened, in words.
status: A [status](../explanation/states.md#tasks), ours or a word of another project.
task_finish.status: One of the ended statuses.
task_list.status: open, ended, all, or one or several statuses.
task_item_update.status: A [status of a step](../explanation/states.md#steps).
task_log_action.status: started, completed, failed or skipped; the words of an execution log are understood.
reason: Why.
task_update.reason: Why the task has its status: approval, input, auth, rejected, blocked, or your own words.
step: The step that the message is about: id, number from 1, or title.
step_status: The step's new status.
next: What is to be done next, in words.
blockers: What stands in the way, at most 50.
attention: A note to a person that something needs looking at.
archived: Put the task away, or take it out again.
task_list.archived: Show archived tasks too.
at: A whole number is a seq. A text is an ISO-8601 time. A float is seconds since 1970.
task_list.workspace: `""`: the memory's own. `None`, or `*` where there is no None: everywhere.
task_list.session: Only tasks of this session.
tag: Only tasks with this tag.
text: Only tasks whose name has this text in it.
cursor: The cursor of the page before.
answer: The final answer.
task_finish.error: A text, or an object with message, stage and step.
target: A task; for the kind `goal` any text.
remove: Take the tie away again.
after: Of one task, only events after this seq; of all, only those after this position of the store.
task_plan_sync.items: The whole list: texts, or objects with `title`, `status` and perhaps the list's own `id`.
task_plan_append.items: Steps, in any form that `task_register` reads.
task_plan_append.after: The step after which they go; else at the end.
note: A note.
task_item_update.note: A note; an empty one clears it.
ordinal: A step by its place from 0, instead of `item`.
title: The step's new title.
task_decide.title: A few words for the decision; else the choice.
active_issue: What holds the step up; an empty text clears it.
depends_on: The steps that this one waits for.
replaced_by: The step that took this one's place.
summary: What was done or found, in a sentence.
task_log_action.type: cli, gui, wait, vision, reasoning, tool, edit, system or other.
task_log_append.type: What kind of log it is: output, note, or your own word.
task_history.type: An entry type, or `snapshot`.
task_remember.type: One of the [entry types](values.md#words), but not `variable`: that is `task_set`.
tool: Name of the tool.
input: What went in: any JSON value.
output: What came out: any JSON value.
error: What went wrong: any JSON value.
duration_ms: How long it took. An action that is ended later gets it from the clock.
stage: Stage of the plan.
sub_task_id: The caller's own id for a sub-task.
files: Paths, or objects with path and change (created, modified, deleted); at most 1,000.
receipt: Whether it is a check that shows, by its success, that the step is really done.
action: Seq of an action.
task_log_action.action: Seq of a started action, to end it.
content: The text itself.
before: Only events before this seq.
types: Only events of these [types](events.md).
choice: What was chosen.
options: What there was to choose from.
reasoning: Why this one.
risks: What may go wrong with it.
if_wrong: What to do if it turns out wrong.
what: What is tried, or about to be done.
why: The root cause.
symptom: What could be seen.
signature: What the same attempt can be recognised by.
until: When it may be tried again: an ISO-8601 time or seconds since 1970.
task_set.name: The variable's name, at most 200 bytes.
value: Any JSON value.
task_history.name: A variable's name, or another entry's key.
detail: More than the summary says.
data: More fields, as a JSON object.
resolves: The seq of one or several entries that are settled now.
invalidates: The seq of one or several entries that were wrong.
label: What the snapshot is of: `initial`, `before stage 2`, …
summarized: Whether the content is a summary already.
verify: How to find out whether it was done.
intent: Seq of the intent.
outcome: did, did_not or unknown.
holder: Who claims; else agent and session, else the principal.
lease_seconds: How long the claim lives; else the setting.
reclaim: A reason to take a claim that is still alive.
seq: The event to undo; else the last one that can be undone and was not.
path: The file to write.
import_events.path: An export.
restore.path: A backup.
query: What to look for: any words, "quoted phrases", beginnings of words with a `*`.
task_recall.task_id: Only this task; nothing means every task of the workspace.
task_recall.item: Only what belongs to this step (of the named or the current task).
task_recall.types: Only these: an entry type, message, action, log, snapshot, answer, request, plan, effect or fact.
task_recall.tags: Only what has all these tags.
since: Only what was written at this time or later.
task_recall.until: Only what was written at this time or before.
task_recall.at: As it was after an event of the task (a whole number), or at a time.
task_recall.workspace: `""`: the memory's own. `None`, or `*` where there is no None: everywhere.
task_recall.limit: The most to answer, at most 100.
titles: Only titles, without the words around the match: the cheapest look.
vectors: Make all vectors now, too; else each search makes some.
anchors: Files of the workspace that the entry is about, cited by their content.
task_around.seq: The event.
task_around.before: How many before it.
task_around.after: How many after it.
task_event.seq: The event.
command: The command that was run.
exit_code: Its exit code; 0 means that it succeeded.
task_resume.budget: The most tokens, from 300 to 8,000.
task_state.budget: The most tokens, from 300 to 1,500.
task_handoff.budget: The most tokens of the part for reading, from 300 to 8,000.
max_bytes: The most bytes of the whole file.
task_handoff.path: Also write it to this file.
capsule: The text of a capsule.
task_receive.path: The file of a capsule, instead of its text.
force: Write also what seems to be right, and replace what was edited by hand.
folder: The folder to write below; it is made if it is not there.
export_states.folder: The folder to write to; it is made if it is not there.
import_bank.folder: The folder of a task, or one with several of them.
import_states.folder: A states folder.
memory_store.text: The fact in words. With a key and a value: what can be said beyond them.
memory_store.entity: What the fact is about, at most 200 bytes. In the category `project`: a task, by its label or id; else the current task.
memory_store.key: Name of what is known: title, status, next, branch, … or your own, at most 200 bytes. This is no idempotency key.
memory_store.value: Any JSON value. For title, next and related_goal a text, for status a status word, for a time a time.
category: project, preference, fact, decision, entity or other.
memory_recall.category: Only facts of this category.
memory_store.why: Why it is so, or how it is known.
importance: From 0 to 1.
memory_store.supersedes: The ids of facts (`task#seq`) that this one replaces.
scope: `workspace`, or `global` for a fact that holds everywhere.
memory_store.at: When it was so; else now. What is newer stays.
idempotency_key: The same call with the same key is written once.
memory_recall.query: Words. A fact fits if it has one of them, whole; the most words come first, then the newest.
memory_recall.id: Id of a fact: `task#seq`.
memory_recall.entity: Only facts about this.
memory_recall.key: Only facts with this key.
memory_recall.tag: Only facts with this tag.
history: Find facts that were replaced, too.
render: Write the file anew first, if that is possible.
completed: Give the completed rows, too.
user_text: What the user wrote; tasks that have to do with it come first.
active_tasks_block.session: The session that is asking; else the memory's own.
budget: Most tokens of all blocks together; else the setting `injection_budget`.
heartbeat: Add the block that counts what is untidy.
active_tasks_add.label: A short name for the task, unique among the open ones of the workspace; at most 200 bytes.
active_tasks_complete.label: The label or id of a task.
description: The task in a few words, at most 500 bytes.
branch: The branch that the work is on.
subagent: The session that works on it.
active_task_checkpoint.entity: The label or id of a task.
active_task_checkpoint.title: The task in a few words.
owner: Who looks after it.
related_session: The session that works on it.
active_task_checkpoint.related_goal: Id of its goal; an empty text takes it away.
resume_at: When to go on: an ISO-8601 time or seconds since 1970.
state: A JSON object, kept as the variable `state`.
task_update.query: A question about the task, answered in `answer` when the rest is written. It is not stored.
question: The question, in any words; nothing, or an empty one: where the task stands.
detail: summary, items, actions, full or focused.
refresh: False: the kept summary is shown as it is, however old.
learned_patterns.query: A task, a step or a command in a few words; without it, what was seen most often.
learned_patterns.type: success, failure or retry.
drill_results.task_id: The task; without it those of the workspace.
drill_results.workspace: The workspace; None for all of them.
drill_results.limit: The most results to show.
upkeep_run.rules: `automatic` (lease, resume, pause, stuck, archive), `all` (also reconcile, duplicate, failed), or some of these.
upkeep_run.workspace: Only the tasks of this workspace. `None`: of all.
dry_run: Say what would be done, and change nothing.
older_than: How long nothing was done on a task that is tidied, like `7d`; else the setting `stale_threshold`.
trust_clock: The clock is right, however it was set: believe it at once.
tasks_reconcile.workspace: `""`: this memory's workspace. `None`: all of them.
tasks_hygiene.workspace: `""`: this memory's workspace. `None`: all of them.
grace: How long after the end of its session a task is left alone; else the setting `session_grace`.
jobs_status.limit: The most jobs that were given up to show.
jobs_retry.id: The job's id, from jobs_status.
task_note.text: What to remember, in a sentence; for an exclusion what was tried.
task_note.kind: decision, exclusion, variable, error, discovery, artifact, instruction, question or context.
task_note.why: The reason; for an exclusion why it failed; else more detail.
task_note.name: A variable's name, or a few words for a decision.
task_note.options: What there was to choose from, for a decision.
task_note.step: The step that it belongs to: id, number from 1, or title.
replaces: The seq of an entry that this one replaces.
steps: Titles of the steps, in order.
append: Add the steps to the plan instead of replacing it.
task_plan.after: The step after which they are added.
task_plan.reason: Why the plan changes.
target: `file:PATH`, `log:PATH`, `process:PID`, `port:HOST:PORT`, `http://…`, `time:5m` or a moment, `task:ID`, `task:ID/STEP`, `manual:`, `command:["…"]`, `terminal:PANE`, `screen:`, `window:TITLE`, `any(…, …)`, `all(…, …)`, `not(…)`.
smart_wait.until: What must become true, in plain words: exists, gone, changed, stable, contains X, exits, open, closed, status 200, completed, …; each kind of target has a usual one. What no rule reads a model judges, where one is set.
smart_wait.timeout: Seconds to wait at most.
poll_interval: Seconds between two looks; while nothing changes it grows, up to eight times, but not for files, logs and processes.
smart_wait.message: What is written when the wait begins.
block: Wait here until it is over; else a worker does, and the answer comes at once.
smart_wait.callback_url: Who is told by a POST when the wait is over; else that of the task.
command: The words of a command that a worker runs when the wait is over; only if the operator allows commands.
wait_id: Id of a wait: `task#seq`, or `#seq` for the current task.
wait_update.until: What must become true instead.
wait_update.timeout: Seconds to wait at most, counted from the start.
wait_update.message: The decision that a `manual:` wait waits for; else a remark.
wait_cancel.reason: Why nobody waits any more.
goal_create.name: The goal in a few words, at most 500 bytes.
goal_promote.name: The goal in a few words; else the task's name.
criteria: What must hold: texts, which a person decides, or objects {text, check, target} with the check file, command, http or manual.
goal_create.description: What is to be reached, at length.
goal_create.budget: The most that may be used: attempts in vain, tokens, seconds, cost.
goal_promote.budget: The most that may be used: attempts in vain, tokens, seconds, cost.
goal_update.budget: The limits from now on: attempts in vain, tokens, seconds, cost.
blocker_limit: How often the same blocker may come before the goal stands still.
goal_id: Id of a goal, or the beginning of it.
goal_status.goal_id: Id of a goal, or the beginning of it; else every open goal of the workspace.
finish: Complete the goal if all its criteria are met or waived.
criterion: Number of the criterion, from goal_status.
goal_decide.status: met, failed, waived or open.
goal_decide.reason: What says so: the evidence of the criterion.
spent: Tokens or cost to add to what was used, for example {"tokens": 1200}.
reset: Why a goal that stands still may go on.
goal_finish.answer: What has come of it.
despite: Why it counts as reached although criteria are not met.
older_than: Only tasks that were not changed for so long: 90d, 1d12h, or a number of minutes.
purge.status: ended, or one or several statuses of tasks that are over.
purge.archived: Only tasks that are archived; false: also those that are not.
goal_create.workspace: Where it belongs; else the workspace of this memory.
purge.workspace: The workspace whose tasks go; else that of this memory; `None` for all.
purge.kind: `task` or `goal`; else both.
purge.task_id: One task, instead of an age.
purge.limit: The most tasks to remove in one call.
confirm: The token of the same call made without it, which says what would go. It is good for ten minutes, and only while that has not changed.
source: KIND:NAME with the kinds session, agent, host, principal, channel, correlation, task, event (`TASK#SEQ`), import (a tag), file (a path), url and text.
""")  # noqa: E501


def meaning(operation: str, name: str, links: bool = False) -> str:
    """What an argument means; with or without the links that only a page of the reference can follow."""
    words = PARAMETERS.get(f"{operation}.{name}") or PARAMETERS.get(name, "")
    return words if links else _LINK.sub(r"\1", words)
