// What is remembered: decisions and their reasons, what failed, values and their history, questions, errors, notes.
import { html, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { clean, eventName, local, moment, shown } from "../format.js";
import { Ago, Channel, ConfirmDialog, Empty, ErrorMessage, Loading, Section, Text } from "../parts.js";

function optionText(option) {
  return typeof option === "string" ? option : option?.name || option?.title || option?.option || shown(option);
}

// Whether a text says more than another one; a reason taken from the choice itself does not.
function adds(text, other) {
  const plain = (one) => String(one ?? "").replace(/\s+/g, " ").trim().toLowerCase();
  return Boolean(plain(text)) && !plain(other).includes(plain(text));
}

function Source({ id, entry }) {
  return html`<p class="source quiet"><${EventLink} id=${id} seq=${entry.seq} /> <${Ago} at=${entry.at} /> · ${entry.origin.agent === "ringbolt" ? "inferred from the" : entry.origin.agent || entry.origin.principal} <${Channel} channel=${entry.origin.channel} />
    ${entry.status !== "active" && html` <span class="entry-status">${entry.status}</span>`}</p>`;
}

function Decision({ id, entry }) {
  const { choice, title, options = [], reasoning, risks, if_wrong: ifWrong, context } = entry.data;
  return html`<li class=${"entry decision is-" + entry.status}>
    <h3>${adds(title, choice || "") ? html`<span class="quiet">${title}:</span> ` : ""}${choice || entry.summary}</h3>
    ${options.length > 0 &&
    html`<ul class="options">${options.map((option, index) => html`<li key=${index} class=${optionText(option) === choice ? "taken" : ""}>${optionText(option) === choice ? "● " : "○ "}${optionText(option)}</li>`)}</ul>`}
    ${adds(reasoning || entry.detail, choice || entry.summary) && html`<p><strong>Because</strong> <${Text} text=${reasoning || entry.detail} /></p>`}
    ${context && html`<p class="quiet"><${Text} text=${context} /></p>`}
    ${risks && risks.length > 0 && html`<p><strong>Risks</strong> <${Text} text=${[].concat(risks).join("; ")} /></p>`}
    ${ifWrong && html`<p><strong>If wrong</strong> <${Text} text=${ifWrong} /></p>`}
    <${Source} id=${id} entry=${entry} />
  </li>`;
}

function Exclusion({ id, entry, workspace }) {
  return html`<li class=${"entry exclusion is-" + entry.status}>
    <h3>${local(entry.data.what || entry.summary, workspace)}</h3>
    ${adds(entry.data.why, entry.data.what) && html`<p><strong>${entry.data.rejected ? "You said" : "Why"}</strong> <${Text} text=${entry.data.why} /></p>`}
    ${adds(entry.data.symptom, entry.data.why) && html`<p><strong>Symptom</strong> <code><${Text} text=${entry.data.symptom} /></code></p>`}
    ${entry.data.until && html`<p class="quiet">can be retried after ${moment(entry.data.until)}</p>`}
    <${Source} id=${id} entry=${entry} />
  </li>`;
}

function Note({ id, entry, aside, workspace }) {
  return html`<li class="entry">
    <p><span class="kind">${eventName(entry.type)}</span> <${Text} text=${local(entry.summary, workspace)} /></p>
    ${adds(entry.detail, entry.summary) && html`<p class="quiet"><${Text} text=${local(entry.detail, workspace)} /></p>`}
    <${Source} id=${id} entry=${entry} />${aside}
  </li>`;
}

function History({ id, name }) {
  const { data, error } = useData(() => call("task_history", { task_id: id, type: "variable", name }), [id, name]);
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  return html`<ol class="lines">${data.map((entry) => html`<li key=${entry.seq}><code><${Text} text=${shown(entry.data.value)} most=${300} /></code> <span class="quiet"><${Ago} at=${entry.at} /></span> <${EventLink} id=${id} seq=${entry.seq} /></li>`)}</ol>`;
}

function Variable({ id, name, value }) {
  const [open, setOpen] = useState(false);
  return html`<div class="variable"><dt><button type="button" class="link" aria-expanded=${open} onClick=${() => setOpen(!open)}>${clean(name)}</button></dt>
    <dd><code><${Text} text=${shown(value)} most=${400} /></code>${open && html`<${History} id=${id} name=${name} />`}</dd></div>`;
}

// Entries of a type that were superseded, resolved or undone.
function Inactive({ id, type, Shown, seq }) {
  const { data, error } = useData(() => call("task_history", { task_id: id, type, limit: 200 }), [id, type, seq]);
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  const former = data.filter((entry) => entry.status !== "active").reverse();
  return former.length ? html`<ul class="entries">${former.map((entry) => html`<${Shown} key=${entry.seq} id=${id} entry=${entry} />`)}</ul>` : html`<p class="quiet">None.</p>`;
}

function Group({ title, task, entries, Shown, type, none }) {
  const [former, setFormer] = useState(false);
  const hidden = task.left_out[type] || 0;
  return html`<${Section} title=${title} count=${entries.length + hidden}
    aside=${html`<button type="button" class="link" aria-expanded=${former} onClick=${() => setFormer(!former)}>${former ? "hide earlier" : "show earlier"}</button>`}>
    ${entries.length ? html`<ul class="entries">${[...entries].reverse().map((entry) => html`<${Shown} key=${entry.seq} id=${task.id} entry=${entry} workspace=${task.workspace} />`)}</ul>` : html`<${Empty}>${none}<//>`}
    ${hidden > 0 && html`<p class="quiet">${hidden} older entries are not shown here; search finds them.</p>`}
    ${former && html`<h3>No longer in force</h3><${Inactive} id=${task.id} type=${type} Shown=${Shown} seq=${task.seq} />`}
  <//>`;
}

export function Memory({ task, may, reload }) {
  const [answering, setAnswering] = useState(null);
  const variables = Object.entries(task.variables);
  const others = [...task.errors, ...task.notes].sort((a, b) => b.seq - a.seq);
  return html`<div class="columns even">
    <div class="stack">
      <${Group} title="Decisions" task=${task} entries=${task.decisions} Shown=${Decision} type="decision" none="No decisions recorded." />
      <${Section} title="Questions" count=${task.questions.length}>
        ${task.questions.length
          ? html`<ul class="entries">${task.questions.map(
              (entry) => html`<${Note} key=${entry.seq} id=${task.id} entry=${entry}
                aside=${may.write && html`<button type="button" onClick=${() => setAnswering(entry)}>Answer …</button>`} />`,
            )}</ul>`
          : html`<${Empty}>No open questions.<//>`}
      <//>
    </div>
    <div class="stack">
      <${Group} title="What did not work" task=${task} entries=${task.exclusions} Shown=${Exclusion} type="exclusion" none="Nothing ruled out." />
      <${Section} title="Values" count=${variables.length}>
        ${variables.length ? html`<dl class="pairs">${variables.map(([name, value]) => html`<${Variable} key=${name} id=${task.id} name=${name} value=${value} />`)}</dl>` : html`<${Empty}>No values set.<//>`}
      <//>
      <${Section} title="Errors and notes" count=${others.length}>
        ${others.length ? html`<ul class="entries">${others.map((entry) => html`<${Note} key=${entry.seq} id=${task.id} entry=${entry} workspace=${task.workspace} />`)}</ul>` : html`<${Empty}>None.<//>`}
      <//>
    </div>
    ${answering &&
    html`<${ConfirmDialog} title="Answer the question" yes="Send answer" close=${() => setAnswering(null)} done=${reload}
      fields=${[{ name: "answer", label: "Your answer", kind: "long", required: true, hint: may.user ? "The agent gets it with its next packet, as your instruction." : "You are signed in as an agent, so this is recorded as an agent's statement." }]}
      act=${({ answer }) => call("task_remember", { task_id: task.id, summary: answer, type: "user_instruction", data: { answers: answering.seq }, resolves: answering.seq })}>
      <blockquote><${Text} text=${answering.summary} /></blockquote>
    <//>`}
  </div>`;
}
