// Ask the memory a question; the answer cites events and links to them.
import { html, useState } from "../vendor/preact.js";
import { call } from "../api.js";
import { Cited } from "../cite.js";
import { ErrorMessage } from "../parts.js";

const USUAL = ["Where was I?", "What is next?", "What failed?", "Why did we decide that?"];

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
      <input name="question" aria-label="Ask about this task" placeholder="Ask: Where was I? Why this choice? What failed?" autocomplete="off" />
      <button type="submit" disabled=${state.busy}>${state.busy ? "Asking …" : "Ask"}</button>
      <span class="usual">${USUAL.map((question) => html`<button key=${question} type="button" class="link" onClick=${() => ask(question)}>${question}</button>`)}</span>
    </form>
    <div aria-live="polite">
      ${state.answer && html`<p class="answer"><${Cited} id=${task.id} text=${state.answer.text} last=${state.answer.seq} /> <span class="quiet">— ${state.answer.source}, as of #${state.answer.seq}</span></p>`}
      <${ErrorMessage} error=${state.error} />
    </div>
  </section>`;
}
