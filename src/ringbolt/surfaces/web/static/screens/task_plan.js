// The plan as a tree: stages, steps, dependencies, durations, and whether "done" is verified or only reported.
import { html, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { clean, eventName, moment, seconds, shown, span } from "../format.js";
import { ConfirmDialog, Empty, ErrorMessage, Loading, Mark, Section, Since, Text } from "../parts.js";
import { Goal } from "./task_goal.js";

const STEP_STATUSES = ["pending", "active", "completed", "failed", "skipped", "cancelled"];

export function Evidence({ item }) {
  if (item.evidence === "verified") return html`<span class="proof verified" title="confirmed by a check that ran after the last edit">✓✓ verified</span>`;
  if (item.evidence === "contradicted") return html`<span class="proof contradicted" title="the agent said so, but its last check failed">✗ last check failed</span>`;
  if (item.evidence === "reported") return html`<span class="proof reported" title="the agent said so; no check has confirmed it">✓ reported</span>`;
  return null;
}

function took(item) {
  if (item.duration_seconds != null) return span(item.duration_seconds);
  if (item.status === "active" && item.started_at) return html`for <${Since} at=${item.started_at} />`;
  return "";
}

// Actions and entries of a step, loaded when it is opened.
function StepLog({ task, item }) {
  const { data, error, loading } = useData(() => call("task_drill_down", { task_id: task.id, step: item.id }), [task.id, item.id, task.seq]);
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!data) return loading && html`<${Loading} />`;
  if (!data.actions.length && !data.entries.length) return html`<p class="quiet">Nothing is logged for this step.</p>`;
  return html`<ul class="lines">
    ${data.actions.map(
      (action) => html`<li key=${action.seq}><${Mark} status=${action.status} /> <span class="kind">${action.type}</span> <${Text} text=${action.summary} most=${300} />
        ${action.duration_ms != null && html`<span class="quiet">${span(action.duration_ms / 1000)}</span>`} <${EventLink} id=${task.id} seq=${action.seq} /></li>`,
    )}
    ${data.entries.map((entry) => html`<li key=${entry.seq}><span class="kind">${eventName(entry.type)}</span> <${Text} text=${entry.summary} most=${300} /> <${EventLink} id=${task.id} seq=${entry.seq} /></li>`)}
    ${data.left_out > 0 && html`<li class="quiet">${data.left_out} older entries are not shown.</li>`}
  </ul>`;
}

function Step({ task, item, titles, may, change }) {
  const [open, setOpen] = useState(false);
  const detail = Object.entries(item.detail).filter(([, value]) => value != null && value !== "");
  return html`<li class=${`step is-${item.status}${item.dropped_in ? " tombstone" : ""}`} id=${"step-" + item.id}>
    <div class="step-line">
      <${Mark} status=${item.status} />
      <span class="number">${item.ordinal + 1}</span>
      <button type="button" class="link title" aria-expanded=${open} onClick=${() => setOpen(!open)}>${item.title}</button>
      <span class="marks">
        ${item.basis === "inferred" && html`<span class="proof" title="inferred from messages and tool calls">inferred</span>`}
        <${Evidence} item=${item} />
        ${item.ready && item.id === task.next && html`<span class="proof ready">next</span>`}
        ${item.dropped_in && html`<span class="proof" title="dropped steps stay visible so that they are not added again">dropped in plan ${item.dropped_in}</span>`}
        ${item.replaced_by && html`<span class="proof">replaced by ${titles.get(item.replaced_by) || item.replaced_by}</span>`}
      </span>
      <span class="took">${took(item)}</span>
    </div>
    ${item.depends_on.length > 0 &&
    html`<p class="after">after ${item.depends_on.map((other, index) => html`${index ? ", " : ""}<span class="dependency">${titles.get(other) || other}</span>`)}</p>`}
    ${item.active_issue && html`<p class="after bad">blocked: <${Text} text=${item.active_issue} /></p>`}
    ${item.note && html`<p class="after"><${Text} text=${item.note} /></p>`}
    ${open &&
    html`<div class="inside">
      <p class="quiet">${[item.id, item.started_at && "started " + moment(item.started_at), item.completed_at && "ended " + moment(item.completed_at)].filter(Boolean).join(" · ")}
        ${item.cause && html` · <${EventLink} id=${task.id} seq=${item.cause} />`}</p>
      ${detail.length > 0 && html`<dl class="pairs">${detail.map(([name, value]) => html`<div key=${name}><dt>${clean(name)}</dt><dd><${Text} text=${shown(value)} /></dd></div>`)}</dl>`}
      ${!task.plan_inferred && html`<${StepLog} task=${task} item=${item} />`}
      ${may.write && !item.dropped_in && !task.plan_inferred && html`<button type="button" onClick=${() => change(item)}>Change this step</button>`}
    </div>`}
  </li>`;
}

// Steps grouped by stage, in order.
function stages(items) {
  const found = [];
  for (const item of items) {
    if (!found.length || found.at(-1).stage !== item.stage) found.push({ stage: item.stage, items: [] });
    found.at(-1).items.push(item);
  }
  return found;
}

function Earlier({ task }) {
  const { data, error } = useData(() => call("task_plans", { task_id: task.id }), [task.id, task.plan_version]);
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  return data
    .slice(0, -1)
    .reverse()
    .map(
      (plan) => html`<details key=${plan.version} class="earlier">
        <summary>Plan ${plan.version}, ${moment(plan.at)}</summary>
        <p><${EventLink} id=${task.id} seq=${plan.seq} /> ${plan.reason && html`<${Text} text=${plan.reason} />`}</p>
        <ol>${plan.steps.filter((item) => !item.dropped_in).map((item) => html`<li key=${item.id}>${item.title}</li>`)}</ol>
      </details>`,
    );
}

export function Plan({ task, may, reload }) {
  const [changing, setChanging] = useState(null);
  const [deciding, setDeciding] = useState(null);
  const titles = new Map(task.steps.map((item) => [item.id, item.title]));
  const living = task.steps.filter((item) => !item.dropped_in);
  const dropped = task.steps.filter((item) => item.dropped_in);
  const steps = (items) => html`<ul class="steps" role="list">${items.map((item) => html`<${Step} key=${item.id} task=${task} item=${item} titles=${titles} may=${may} change=${setChanging} />`)}</ul>`;
  const total = seconds(task.timestamps.completed_at || task.updated_at) - seconds(task.created_at);
  const goal = task.kind === "goal" && !task.steps.length ? html`<${Goal} task=${task} may=${may} reload=${reload} />` : null;
  return html`<div class="stack">
    ${goal ||
    html`<${Section} title="Plan" count=${living.length} aside=${html`<span class="quiet">${span(total)} total${task.plan_inferred ? " · inferred from what was said" : task.plan_version > 1 ? ` · plan ${task.plan_version}` : ""}</span>`}>
      ${living.length ? stages(living).map(({ stage, items }, index) => html`<div key=${index}>${stage && html`<h3 class="stage">${stage}</h3>`}${steps(items)}</div>`) : html`<${Empty}>${dropped.length ? "Every step of the plan was dropped." : "This task has no plan yet."}<//>`}
      ${dropped.length > 0 && html`<details class="tombstones" open=${!living.length}><summary>${dropped.length} dropped ${dropped.length === 1 ? "step" : "steps"}</summary>${steps(dropped)}</details>`}
      ${task.plan_version > 1 && html`<details class="earlier-plans"><summary>Earlier plans</summary><${Earlier} task=${task} /></details>`}
    <//>`}
    <div class="stack">
      ${task.acceptance.length > 0 && html`<${Section} title="Done when"><ul class="bullets">${task.acceptance.map((one, index) => html`<li key=${index}>${shown(one)}</li>`)}</ul><//>`}
      ${task.instructions.length > 0 &&
      html`<${Section} title="User instructions" count=${task.instructions.length}>
        <ul class="lines">${task.instructions.map((entry) => html`<li key=${entry.seq}><${Text} text=${entry.summary} /> <${EventLink} id=${task.id} seq=${entry.seq} /></li>`)}</ul>
      <//>`}
      ${task.reported.length > 0 &&
      html`<${Section} title="The user, as others report" count=${task.reported.length}>
        <ul class="lines">${task.reported.map((entry) => html`<li key=${entry.seq}><${Text} text=${entry.summary} /> <span class="quiet">by ${entry.origin.channel}</span> <${EventLink} id=${task.id} seq=${entry.seq} /></li>`)}</ul>
      <//>`}
      ${task.proposals.length > 0 &&
      html`<${Section} title="Proposals that wait for you" count=${task.proposals.length}>
        <ul class="lines">${task.proposals.map(
          (one) => html`<li key=${one.seq}><${Text} text=${one.text} /> <span class="quiet">by ${one.channel}</span> <${EventLink} id=${task.id} seq=${one.seq} />
            ${may.user && html`<button type="button" onClick=${() => setDeciding({ one, accept: true })}>Accept …</button> <button type="button" onClick=${() => setDeciding({ one, accept: false })}>Reject …</button>`}</li>`,
        )}</ul>
      <//>`}
    </div>
    ${deciding &&
    html`<${ConfirmDialog} title=${deciding.accept ? "Accept the proposal" : "Reject the proposal"} yes=${deciding.accept ? "Accept" : "Reject"} close=${() => setDeciding(null)} done=${reload}
      fields=${[{ name: "reason", label: "Remark", value: "" }]}
      act=${({ reason }) => call(deciding.accept ? "task_accept" : "task_reject", { task_id: task.id, proposal: deciding.one.seq, reason: reason || null })}>
      <blockquote><${Text} text=${deciding.one.text} /></blockquote>
    <//>`}
    ${changing &&
    html`<${ConfirmDialog} title=${"Step " + (changing.ordinal + 1)} yes="Save" close=${() => setChanging(null)} done=${reload}
      fields=${[
        { name: "status", label: "Status", kind: "choice", value: changing.status, options: STEP_STATUSES },
        { name: "title", label: "Title", value: changing.title, required: true },
        { name: "note", label: "Note", kind: "long", value: changing.note || "" },
      ]}
      act=${(answers) =>
        call("task_step_update", {
          task_id: task.id,
          step: changing.id,
          expect: changing.version,
          status: answers.status !== changing.status ? answers.status : null,
          title: answers.title !== changing.title ? answers.title : null,
          note: answers.note !== (changing.note || "") ? answers.note : null,
        })} />`}
  </div>`;
}
