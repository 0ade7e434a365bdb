// The traces of the work: files and artifacts, side effects, waits, sub-tasks, claims.
import { html, useState } from "../vendor/preact.js";
import { call, get, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { eventName, local, moment, seconds, shown, span } from "../format.js";
import { LinkedTask } from "./task_goal.js";
import { Ago, Channel, ConfirmDialog, ErrorMessage, Loading, Mark, Progress, Section, Since, Status, TaskLink, Text } from "../parts.js";

const OUTCOMES = ["did", "did_not", "unknown"];
const EFFECT_WORDS = { intended: "outcome not recorded", did: "done", undone: "undone", superseded: "superseded", did_not: "not done", unknown: "unknown: verify" };
const EFFECT_MARKS = { intended: "waiting", did: "completed", undone: "skipped", superseded: "skipped", did_not: "skipped", unknown: "failed" };
const WAIT_MARKS = { watching: "waiting", resolved: "completed", timeout: "failed", cancelled: "cancelled", error: "failed" };

// Instead of a section without anything in it.
function None({ children }) {
  return html`<p class="none-of quiet">${children}</p>`;
}

function useRecords(task, kind) {
  return useData(() => get(`/api/tasks/${encodeURIComponent(task.id)}/records`, { kind }), [task.id, kind, task.seq]);
}

function Effects({ task, may, reload }) {
  const { data, error } = useRecords(task, "effect");
  const [settling, setSettling] = useState(null);
  if (data && !data.length) return html`<${None}>No side effects.<//>`;
  return html`<${Section} title="Side effects" count=${data?.length}>
    <${ErrorMessage} error=${error} />
    ${data?.length > 0 &&
    html`<ul class="entries">${data.map(
      (effect) => html`<li key=${effect.seq} class="entry">
        <p><${Mark} status=${EFFECT_MARKS[effect.status] || "pending"} /> <${Text} text=${effect.text} /> <span class="entry-status">${EFFECT_WORDS[effect.status] || effect.status}</span></p>
        ${effect.data.verify && html`<p class="quiet">verify with <code>${effect.data.verify}</code></p>`}
        ${effect.end_text && html`<p class="quiet">outcome: <${Text} text=${effect.end_text} /></p>`}
        <p class="source quiet"><${EventLink} id=${task.id} seq=${effect.seq} /> <${Ago} at=${effect.at} /> <${Channel} channel=${effect.channel} />
          ${effect.ref && html` → <${EventLink} id=${task.id} seq=${effect.ref} />`}</p>
        ${may.write && (effect.status === "intended" || effect.status === "unknown") && html`<button type="button" onClick=${() => setSettling(effect)}>Record outcome …</button>`}
      </li>`,
    )}</ul>`}
    ${settling &&
    html`<${ConfirmDialog} title="How did it end?" yes="Record" close=${() => setSettling(null)} done=${reload}
      fields=${[
        { name: "outcome", label: "Outcome", kind: "choice", value: "did", options: OUTCOMES },
        { name: "note", label: "How you know (optional)" },
      ]}
      act=${({ outcome, note }) => call("task_outcome", { task_id: task.id, intent: settling.seq, outcome, note: note || null })}>
      <blockquote><${Text} text=${settling.text} /></blockquote>
    <//>`}
  <//>`;
}

// The checks of a wait, from its start to its end.
function Checks({ task, wait }) {
  const { data, error } = useData(
    () => call("task_thread", { task_id: task.id, types: ["wait.started", "wait.updated", "wait.changed", "wait.ended"], limit: 500 }),
    [task.id, task.seq],
  );
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  const own = data.events.filter((event) => event.seq === wait.seq || event.ref === wait.seq);
  return html`<ol class="lines">${own.map(
    (event) => html`<li key=${event.seq}><span class="quiet">${moment(event.at)}</span> <span class="kind">${eventName(event.type)}</span> <${Text} text=${event.text || shown(event.data)} most=${300} /> <${EventLink} id=${task.id} seq=${event.seq} /></li>`,
  )}</ol>`;
}

function WaitLine({ task, wait, may, decide, cancel }) {
  const [open, setOpen] = useState(false);
  const { target, until, timeout, last_check: lastCheck, due, judged_by: judge } = wait.wait;
  const manual = target.includes("manual:");
  return html`<li class="entry">
    <p><${Mark} status=${WAIT_MARKS[wait.status] || "pending"} /> <strong>${wait.status}</strong> <${Text} text=${target} />
      ${until && html` <span class="quiet">until ${until}</span>`}
      ${judge === "model" && html` <span class="proof" title="a model decides whether the condition is met">judged by a model</span>`}
      ${due && !manual && html` <span class="proof unsure" title="a check is overdue; is a worker running?">not being checked</span>`}</p>
    ${lastCheck && !wait.end_text && html`<p class="quiet">last check: <${Text} text=${lastCheck} most=${300} /></p>`}
    ${wait.end_text && html`<p><${Text} text=${wait.end_text} /></p>`}
    <p class="source quiet"><${EventLink} id=${task.id} seq=${wait.seq} /> <${Ago} at=${wait.at} />
      ${wait.ended_at ? html` · took ${span(seconds(wait.ended_at) - seconds(wait.at))}` : html` · for <${Since} at=${wait.at} />, at most ${span(timeout)}`} <${Channel} channel=${wait.channel} /></p>
    <p class="row-of-buttons">
      <button type="button" class="link" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "hide checks" : "show checks"}</button>
      ${may.write && wait.status === "watching" && manual && html`<button type="button" onClick=${() => decide(wait)}>Decide …</button>`}
      ${may.write && wait.status === "watching" && html`<button type="button" onClick=${() => cancel(wait)}>Stop waiting …</button>`}
    </p>
    ${open && html`<${Checks} task=${task} wait=${wait} />`}
  </li>`;
}

function Waits({ task, may, reload }) {
  const { data, error } = useRecords(task, "wait");
  const [deciding, setDeciding] = useState(null);
  const [cancelling, setCancelling] = useState(null);
  if (data && !data.length) return html`<${None}>No waits.<//>`;
  return html`<${Section} title="Waits" count=${data?.length}>
    <${ErrorMessage} error=${error} />
    ${data?.length > 0 && html`<ul class="entries">${data.map((wait) => html`<${WaitLine} key=${wait.seq} task=${task} wait=${wait} may=${may} decide=${setDeciding} cancel=${setCancelling} />`)}</ul>`}
    ${deciding &&
    html`<${ConfirmDialog} title="Decide this wait" yes="Decide" close=${() => setDeciding(null)} done=${reload}
      fields=${[{ name: "message", label: "Your decision", kind: "long", value: "approved", required: true }]}
      act=${({ message }) => call("wait_update", { wait_id: `${task.id}#${deciding.seq}`, message })}>
      <blockquote><${Text} text=${deciding.wait.target} /></blockquote>
    <//>`}
    ${cancelling &&
    html`<${ConfirmDialog} title="Stop waiting?" yes="Stop waiting" danger close=${() => setCancelling(null)} done=${reload}
      fields=${[{ name: "reason", label: "Why (optional)" }]}
      act=${({ reason }) => call("wait_cancel", { wait_id: `${task.id}#${cancelling.seq}`, reason: reason || null })}>
      <blockquote><${Text} text=${cancelling.wait.target} /></blockquote>
    <//>`}
  <//>`;
}

function Files({ task }) {
  const artifacts = task.notes.filter((entry) => entry.type === "artifact");
  if (!task.files.length && !artifacts.length) return html`<${None}>No files touched.<//>`;
  return html`<${Section} title="Files and artifacts" count=${task.files.length + artifacts.length}>
    <ul class="lines">
      ${task.files.map((file) => html`<li key=${file.path}><span class=${"change is-" + file.change}>${file.change}</span> <code title=${file.path}>${local(file.path, task.workspace)}</code> <span class="quiet"><${Ago} at=${file.at} /></span> <${EventLink} id=${task.id} seq=${file.seq} /></li>`)}
      ${artifacts.map((entry) => html`<li key=${"a" + entry.seq}><span class="change">artifact</span> <${Text} text=${entry.summary} most=${300} /> <${EventLink} id=${task.id} seq=${entry.seq} /></li>`)}
    </ul>
    ${task.left_out.file > 0 && html`<p class="quiet">${task.left_out.file} more files are not shown.</p>`}
  <//>`;
}

function SubTasks({ task }) {
  const { data, error } = useData(() => call("task_list", { parent: task.id, status: "all", workspace: "*", archived: true, limit: 200 }), [task.id, task.seq]);
  const links = task.links.filter((link) => link.kind !== "parent");
  if (data && !data.tasks.length && !links.length) return html`<${None}>No sub-tasks.<//>`;
  return html`<${Section} title="Sub-tasks" count=${data?.tasks.length}>
    <${ErrorMessage} error=${error} />
    ${data?.tasks.length > 0 &&
    html`<ul class="lines">${data.tasks.map((sub) => html`<li key=${sub.id}><${Status} small status=${sub.status} word=${sub.life} /> <${TaskLink} id=${sub.id}>${sub.name}<//> <${Progress} done=${sub.done} total=${sub.total} /></li>`)}</ul>`}
    ${links.length > 0 && html`<h3>Links</h3><ul class="lines">${links.map((link) => html`<li key=${link.kind + link.target}><span class="kind">${link.kind}</span> <${LinkedTask} target=${link.target} /></li>`)}</ul>`}
  <//>`;
}

function Claims({ task, may, reload }) {
  const [releasing, setReleasing] = useState(null);
  if (!task.claims.length) return html`<${None}>Nobody has claimed this task.<//>`;
  return html`<${Section} title="Claims" count=${task.claims.length}>
    <ul class="entries">${task.claims.map(
      (claim) => html`<li key=${claim.step} class="entry">
        <p><strong>${claim.holder}</strong> has ${claim.step ? html`step <code>${claim.step}</code>` : "the whole task"}</p>
        <p class="source quiet">until ${moment(claim.expires_at)}${claim.reason ? " · " + claim.reason : ""}</p>
        ${may.write && html`<button type="button" onClick=${() => setReleasing(claim)}>Release …</button>`}
      </li>`,
    )}</ul>
    ${releasing &&
    html`<${ConfirmDialog} title="Release this claim?" yes="Release" danger close=${() => setReleasing(null)} done=${reload}
      fields=${[{ name: "reason", label: "Why", required: true }]}
      act=${({ reason }) => call("task_release", { task_id: task.id, step: releasing.step || null, token: releasing.token, reason })}>
      <p>Another agent can then claim it. If ${releasing.holder} writes with its old token, it gets stale_token.</p>
    <//>`}
  <//>`;
}

export function Work({ task, may, reload }) {
  return html`<div class="columns even">
    <div class="stack">
      <${Effects} task=${task} may=${may} reload=${reload} />
      <${Files} task=${task} />
    </div>
    <div class="stack">
      <${Waits} task=${task} may=${may} reload=${reload} />
      <${SubTasks} task=${task} />
      <${Claims} task=${task} may=${may} reload=${reload} />
    </div>
  </div>`;
}
