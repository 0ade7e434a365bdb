// What waits for the user's approval, with the buttons that give or refuse it.
import { html, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { Ago, ConfirmDialog, Text, notify } from "../parts.js";

const MODES = {
  confirm: "Side effects wait for your approval.",
  manual: "Steps and side effects wait for your approval.",
};
const WORDS = { step: "Step", effect: "Side effect" };

function Answer({ task, asked, approve, close, done }) {
  const act = async ({ note }) => {
    await call("task_approve", { task_id: task.id, what: `#${asked.seq}`, approve, note: note || null });
    notify(approve ? "Approved. The agent may continue." : "Rejected. The agent reads it in its next packet.");
  };
  const fields = [{ name: "note", label: "Note for the agent (optional)" }];
  return html`<${ConfirmDialog} title=${approve ? "Approve this?" : "Reject this?"} yes=${approve ? "Approve" : "Reject"} danger=${!approve} fields=${fields} close=${close} act=${act} done=${done}>
    <p><${Text} text=${asked.what} /></p>
  <//>`;
}

export function Approvals({ task, may, done }) {
  const [asking, setAsking] = useState(null);
  const waiting = task.approvals.filter((one) => one.status === "pending");
  if (!waiting.length && !MODES[task.approval_mode]) return null;
  return html`<section class="approvals" aria-label="Waits for your approval">
    ${MODES[task.approval_mode] && html`<p class="note">${MODES[task.approval_mode]}</p>`}
    ${waiting.map(
      (one) => html`<p key=${one.seq} class="note bad">
        <strong>${WORDS[one.asks]}:</strong> <${Text} text=${one.what} /> <small><${Ago} at=${one.at} /></small>
        ${may.write && may.user && html` <button type="button" onClick=${() => setAsking({ asked: one, approve: true })}>Approve</button> <button type="button" class="danger" onClick=${() => setAsking({ asked: one, approve: false })}>Reject</button>`}
      </p>`,
    )}
    ${asking && html`<${Answer} task=${task} ...${asking} close=${() => setAsking(null)} done=${done} />`}
  </section>`;
}
