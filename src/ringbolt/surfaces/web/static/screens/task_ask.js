// Ask the memory a question; the answer cites events and links to them.
import { html, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { Cited, EventLink } from "../cite.js";
import { local } from "../format.js";
import { ErrorMessage } from "../parts.js";

const USUAL = ["Where was I?", "What is next?", "What failed?", "Why did we decide that?"];

const SOURCES = { ledger: "from the record", recall: "found by searching" };
const FIRST = 6;

// Answers quote what was recorded as a model reads it: quotation marks and entities become those of a text for people.
const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&" };
const plain = (text) =>
  text.replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity]).replace(/"((?:[^"\\]|\\.)*)"/g, (_, quoted) => `“${quoted.replace(/\\(["\\])/g, "$1")}”`);

// What an answer says: a sentence, then its rows. The text of a list repeats its rows, so only what leads to them is
// shown. Marks of how it is known come last, in words.
export function parts(answer, workspace) {
  const clean = (text) => local(plain(text).replace(/<\/?[a-z]+(?:[_-][a-z]+)+>/g, "").replace(/(?:\s*\(inferred\))+(?=.*\(inferred\))/g, ""), workspace).trim();
  if (answer.items.length < 2) return { lead: clean(answer.text), rows: [] };
  const start = answer.text.indexOf(answer.items[0].slice(0, 24)); // both as they were sent
  const lead = start > 0 ? answer.text.slice(0, start).trim() : "";
  return { lead: clean(lead), rows: answer.items.map(clean) };
}

function Row({ task, text, last }) {
  const inferred = text.includes("(inferred)");
  const seq = /#(\d{1,9})\b(?!.*#\d)/.exec(text);
  const own = seq && Number(seq[1]) <= last;
  const said = (own ? text.replace(seq[0], "") : text).replace(/\((?:inferred|tool|agent)\)/g, "").replace(/\s+/g, " ").replace(/\s+([;,.])/g, "$1").trim();
  return html`<li><span><${Cited} id=${task.id} text=${said} last=${last} />${inferred && html` <span class="proof">inferred</span>`}</span>${own && html`<${EventLink} id=${task.id} seq=${Number(seq[1])} />`}</li>`;
}

function Answer({ task, answer }) {
  const [all, setAll] = useState(false);
  const { lead, rows } = parts(answer, task.workspace);
  const shown = all ? rows : rows.slice(0, FIRST);
  return html`<div class="answer">
    ${(lead || !rows.length) && html`<p><${Cited} id=${task.id} text=${lead} last=${answer.seq} /></p>`}
    ${rows.length > 0 && html`<ul role="list">${shown.map((text, index) => html`<${Row} key=${index} task=${task} text=${text} last=${answer.seq} />`)}</ul>`}
    ${rows.length > FIRST && html`<button type="button" class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? "show fewer" : `show ${rows.length - FIRST} more`}</button>`}
    <p class="quiet small">${SOURCES[answer.source] || `by ${answer.source}`}, as of <${EventLink} id=${task.id} seq=${answer.seq} /></p>
  </div>`;
}

export function AskBox({ task }) {
  const [state, setState] = useState({});
  const ask = async (question) => {
    setState({ busy: true, question });
    try {
      setState({ question, answer: await call("task_ask", { task_id: task.id, question }) });
    } catch (error) {
      setState({ question, error });
    }
  };
  const send = (event) => {
    event.preventDefault();
    ask(new FormData(event.target).get("question"));
  };
  return html`<section class="ask-box" aria-label="Ask">
    <form onSubmit=${send}>
      <input name="question" aria-label="Ask about this task" placeholder="Ask about this task" autocomplete="off" />
      <button type="submit" disabled=${state.busy}>${state.busy ? "Asking …" : "Ask"}</button>
      <span class="usual">${USUAL.map((question) => html`<button key=${question} type="button" class="link" onClick=${() => ask(question)}>${question}</button>`)}</span>
    </form>
    <div aria-live="polite">
      ${state.answer && html`<${Answer} task=${task} answer=${state.answer} />`}
      <${ErrorMessage} error=${state.error} />
    </div>
  </section>`;
}
