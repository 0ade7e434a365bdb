// What needs a person, at the top of a task: each thing with the box or the buttons that settle it.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call, get, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { Markdown } from "../markdown.js";
import { Ago, ErrorMessage, notify } from "../parts.js";
import { Approvals } from "./task_approvals.js";

// One thing to settle: what is asked, and a form whose buttons are [word, act, kind].
function Need({ id, title, text, seq, at, hint, label, ways, may, done, required = true }) {
  const [state, setState] = useState({});
  const send = async (event) => {
    event.preventDefault();
    const [, act, said] = ways[Number(event.submitter?.value || 0)];
    const written = new FormData(event.target).get("text").trim();
    if (required && !written && !said) return;
    setState({ busy: true });
    try {
      await act(written || said);
      notify("Recorded. The agent gets it with its next packet.");
      setState({});
      done();
    } catch (error) {
      setState({ error });
    }
  };
  return html`<section class="need" aria-label=${title}>
    <h2>${title} <span class="quiet small">${at && html`<${Ago} at=${at} /> `}${seq && html`<${EventLink} id=${id} seq=${seq} />`}</span></h2>
    <${Markdown} text=${text} />
    ${may.write &&
    html`<form onSubmit=${send}>
      <textarea name="text" rows="2" aria-label=${label} placeholder=${label} />
      <p class="row-of-buttons">${ways.map(([word, , , kind], index) => html`<button key=${word} type="submit" name="way" value=${index} class=${kind || (index ? "" : "primary")} disabled=${state.busy}>${word}</button>`)} ${hint && html`<span class="quiet small">${hint}</span>`}</p>
    </form>`}
    <${ErrorMessage} error=${state.error} />
  </section>`;
}

// The waits of a task that only a person can end.
function useManualWaits(task) {
  const open = task.status === "waiting" || task.waits > 0;
  const { data } = useData(async () => (open ? get(`/api/tasks/${encodeURIComponent(task.id)}/records`, { kind: "wait" }) : []), [task.id, task.seq, open]);
  return (data || []).filter((wait) => wait.status === "watching" && wait.wait.target.includes("manual:"));
}

export function Needs({ task, may, done, focus }) {
  const waits = useManualWaits(task);
  const box = useRef();
  const count = task.questions.length + waits.length;
  useEffect(() => {
    if (focus) box.current?.querySelector("textarea, button")?.focus();
  }, [focus, count > 0]);
  const answer = (entry) => (text) =>
    call("task_remember", { task_id: task.id, summary: text, type: "user_instruction", data: { answers: entry.seq }, resolves: entry.seq });
  const decide = (wait) => (message) => call("wait_update", { wait_id: `${task.id}#${wait.seq}`, message });
  const hint = may.user ? "" : "You are signed in as an agent, so this is recorded as an agent's statement.";
  return html`<div class="needs" ref=${box}>
    ${task.attention && html`<p class="note bad"><strong>Needs you:</strong> ${task.attention}</p>`}
    ${task.questions.map((entry) => html`<${Need} key=${"q" + entry.seq} id=${task.id} title="The agent asks" text=${entry.summary} seq=${entry.seq} at=${entry.at} label="Your answer" hint=${hint} may=${may} done=${done} ways=${[["Answer", answer(entry)]]} />`)}
    ${waits.map((wait) => html`<${Need} key=${"w" + wait.seq} id=${task.id} title="The agent waits for your decision" text=${wait.wait.target.replace(/^.*?manual:/, "")} seq=${wait.seq} at=${wait.at} label="Your decision, in words (optional)" hint=${hint} may=${may} done=${done} required=${false}
      ways=${[["Approve", decide(wait), "approved"], ["Decline", decide(wait), "declined", "danger"]]} />`)}
    <${Approvals} task=${task} may=${may} done=${done} />
    ${task.blockers.length > 0 && html`<p class="note bad"><strong>Blocked:</strong> ${task.blockers.join(" · ")}</p>`}
    ${task.error && html`<p class="note bad"><strong>Failed:</strong> ${task.error.message}</p>`}
  </div>`;
}
