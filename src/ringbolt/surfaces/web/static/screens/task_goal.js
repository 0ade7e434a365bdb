// A goal: its criteria and their evidence, its tasks, its budget, and what blocks it.
import { html, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { count, span } from "../format.js";
import { Channel, ConfirmDialog, Empty, ErrorMessage, Loading, Mark, Progress, Section, Status, TaskLink, Text, notify } from "../parts.js";

const MARKS = { open: "pending", met: "completed", failed: "failed", waived: "skipped" };
const STATUSES = ["met", "failed", "waived", "open"];

// The target of a link: a task by its id, or plain text, which a goal may be.
export function LinkedTask({ target }) {
  return /^[0-9a-z]{10}$/.test(target) ? html`<${TaskLink} id=${target}>${target}<//>` : html`<span>${target}</span>`;
}

function Criterion({ id, criterion, decide }) {
  return html`<li class="entry criterion">
    <p><${Mark} status=${MARKS[criterion.status]} /> <${Text} text=${criterion.text} /> <span class="entry-status">${criterion.status}</span></p>
    <p class="quiet">${criterion.check === "manual" ? "a person decides" : html`checked with ${criterion.check} <code>${criterion.target}</code>`}</p>
    ${criterion.evidence && html`<p>${criterion.evidence}</p>`}
    <p class="source quiet"><${EventLink} id=${id} seq=${criterion.seq} /> ${criterion.evidence_seq && html` → <${EventLink} id=${id} seq=${criterion.evidence_seq} />`} ${criterion.by && html`<${Channel} channel=${criterion.by} />`}</p>
    ${decide && html`<button type="button" onClick=${() => decide(criterion)}>Set status …</button>`}
  </li>`;
}

function Budget({ budget }) {
  const amount = (name, value) => (name === "seconds" ? span(value) : count(value));
  return html`<dl class="figures">${Object.entries(budget.limits).map(
    ([name, limit]) => html`<div key=${name} class=${budget.exhausted.includes(name) ? "bad" : ""}><dt>${name}</dt><dd>${amount(name, budget.used[name] || 0)} of ${amount(name, limit)}</dd></div>`,
  )}</dl>`;
}

export function Goal({ task, may, reload }) {
  const { data, error, reload: again } = useData(() => call("goal_status", { goal_id: task.id }), [task.id, task.seq]);
  const [deciding, setDeciding] = useState(null);
  const [resetting, setResetting] = useState(false);
  const [checking, setChecking] = useState({});
  if (!data) return error ? html`<${ErrorMessage} error=${error} retry=${again} />` : html`<${Loading} what="Loading the goal" />`;
  const [goal] = data;
  const done = () => (again(), reload());
  const check = async () => {
    setChecking({ busy: true });
    try {
      await call("goal_check", { goal_id: task.id });
      setChecking({});
      notify("Every criterion that can be checked was checked.");
      done();
    } catch (problem) {
      setChecking({ error: problem });
    }
  };
  const open = may.write && ["active", "waiting", "paused"].includes(goal.status);
  return html`<div class="stack">
    <${ErrorMessage} error=${error || checking.error} />
    <${Section} title="Criteria" count=${`${goal.met}/${goal.criteria.length}`}
      aside=${open && html`<button type="button" class="link" disabled=${checking.busy} onClick=${check}>${checking.busy ? "checking …" : "check now"}</button>`}>
      ${goal.criteria.length
        ? html`<ul class="entries">${goal.criteria.map((one) => html`<${Criterion} key=${one.seq} id=${task.id} criterion=${one} decide=${open && setDeciding} />`)}</ul>`
        : html`<${Empty}>This goal has no criteria yet.<//>`}
      ${goal.blocked && open && html`<p class="row-of-buttons"><button type="button" onClick=${() => setResetting(true)}>Unblock …</button></p>`}
    <//>
    <${Section} title="Tasks of this goal" count=${`${goal.tasks_done}/${goal.tasks_total}`}>
      ${!goal.tasks.length && html`<${Empty}>No tasks are linked to this goal.<//>`}
      <ul class="lines">${goal.tasks.map((one) => html`<li key=${one.id}><${Status} small status=${one.status} /> <${TaskLink} id=${one.id}>${one.name}<//> <${Progress} done=${one.done} total=${one.total} label=${"steps of " + one.name} /></li>`)}</ul>
      ${goal.repeated.length > 0 &&
      html`<h3>What blocked them <span class="quiet">(the same blocker ${goal.blocker_limit} times stops the goal)</span></h3>
        <ul class="lines">${goal.repeated.map((one) => html`<li key=${one.task_id + one.seq}>${one.times === 1 ? "once" : `${one.times} times`}: <${Text} text=${one.text} most=${300} /> <${EventLink} id=${one.task_id} seq=${one.seq} /></li>`)}</ul>`}
    <//>
    ${Object.keys(goal.budget.limits).length > 0 && html`<${Section} title="Budget"><${Budget} budget=${goal.budget} /><//>`}
    ${deciding &&
    html`<${ConfirmDialog} title="Set the status of this criterion" yes="Record" close=${() => setDeciding(null)} done=${done}
      fields=${[
        { name: "status", label: "Status", kind: "choice", value: "met", options: STATUSES },
        { name: "reason", label: "How you know (optional)" },
      ]}
      act=${({ status, reason }) => call("goal_decide", { goal_id: task.id, criterion: deciding.seq, status, reason: reason || null })}>
      <blockquote><${Text} text=${deciding.text} /></blockquote>
    <//>`}
    ${resetting &&
    html`<${ConfirmDialog} title="Unblock this goal?" yes="Unblock" close=${() => setResetting(false)} done=${done}
      fields=${[{ name: "reset", label: "Why it can continue", required: true }]}
      act=${({ reset }) => call("goal_update", { goal_id: task.id, reset })}>
      <p>The count of what blocked its tasks starts again from zero.</p>
    <//>`}
  </div>`;
}
