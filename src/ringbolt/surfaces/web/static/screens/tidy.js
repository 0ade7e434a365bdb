// Tidying up: shows a preview first and applies it only when a person confirms.
import { html, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { ConfirmDialog, Empty, ErrorMessage, Section, TaskLink, notify } from "../parts.js";
import { plural } from "../format.js";

// Each can be previewed (`dry_run`), and every change can be undone.
const WAYS = [
  ["tasks_hygiene", "Duplicates and abandoned failures"],
  ["tasks_reconcile", "Tasks whose session is gone"],
];

function Changes({ report }) {
  if (!report.changes.length) return html`<${Empty}>Nothing to change.<//>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Changes"><table><caption class="hidden">Changes</caption>
    <thead><tr><th scope="col">Task</th><th scope="col">Now</th><th scope="col">After</th><th scope="col">Why</th></tr></thead>
    <tbody>${report.changes.map((change, index) => html`<tr key=${index}><th scope="row"><${TaskLink} id=${change.task_id}>${change.name}<//></th><td>${change.before}</td><td>${change.after}</td><td>${change.reason}</td></tr>`)}</tbody>
  </table></div>
  ${report.left_out > 0 && html`<p class="quiet">and ${report.left_out} more.</p>`}`;
}

export function Tidy({ may }) {
  const [state, setState] = useState({});
  const [asking, setAsking] = useState(false);
  const look = async (operation) => {
    setState({ operation, busy: true });
    try {
      setState({ operation, report: await call(operation, { workspace: "*", dry_run: true }) });
    } catch (error) {
      setState({ operation, error });
    }
  };
  if (!may.write) return null;
  const { operation, report } = state;
  return html`<${Section} title="Tidy up">
    <p class="row-of-buttons">${WAYS.map(([name, word]) => html`<button key=${name} type="button" aria-pressed=${operation === name} disabled=${state.busy} onClick=${() => look(name)}>${word}</button>`)}</p>
    <${ErrorMessage} error=${state.error} />
    <div aria-live="polite">${report && html`<${Changes} report=${report} />`}</div>
    ${report?.changes.length > 0 && html`<p class="row-of-buttons"><button type="button" class="danger" onClick=${() => setAsking(true)}>Apply …</button></p>`}
    ${asking &&
    html`<${ConfirmDialog} title=${`Change ${plural(report.changes.length + report.left_out, "task")}?`} yes="Apply" danger close=${() => setAsking(false)}
      act=${async () => setState({ operation, report: await call(operation, { workspace: "*", dry_run: false }) })}
      done=${() => notify("Tidied up. Each change can be undone in its task.")}>
      <p>Each task gets an event that says why. Nothing is deleted or marked completed, and each change can be undone.</p>
    <//>`}
  <//>`;
}
