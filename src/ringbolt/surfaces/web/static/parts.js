// Components shared by the screens. Text from agents and tools is only ever rendered as text nodes, never as markup.
import { Component, createContext, html, useContext, useEffect, useRef, useState } from "./vendor/preact.js";
import { ago, moment, seconds, span } from "./format.js";
import { Markdown } from "./markdown.js";
import { hrefTo } from "./router.js";

export const STATUS_WORDS = {
  active: "active",
  waiting: "waiting",
  paused: "paused",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  abandoned: "abandoned",
  superseded: "superseded",
};
const MARKS = {
  active: "▶",
  waiting: "◷",
  paused: "‖",
  completed: "✓",
  failed: "✕",
  cancelled: "⊘",
  abandoned: "⊘",
  superseded: "↷",
  pending: "○",
  skipped: "↷",
  stuck: "!",
  stale: "…",
  attention: "!",
};

// The status whose symbol stands for a word that says how a task stands (ledger/task_life.py).
const LIVES = {
  "at work": "active",
  "waiting for you": "waiting",
  "held up": "waiting",
  resting: "paused",
  stuck: "stuck",
  done: "completed",
  "done (inferred)": "completed",
};

// A status as a symbol and a word, never as a colour alone.
export function Status({ status, word = "", small = false }) {
  const shown = LIVES[word] || status;
  return html`<span class=${`status is-${shown}${small ? " small" : ""}`}>
    <span class="mark" aria-hidden="true">${MARKS[shown] || "·"}</span>${word || status}
  </span>`;
}

export function Mark({ status, word = "" }) {
  const shown = status === "attention" ? status : LIVES[word] || status;
  return html`<span class=${`mark is-${shown}`} role="img" aria-label=${word || status}>${MARKS[shown] || "·"}</span>`;
}

export function Progress({ done, total, label, none = "no plan" }) {
  if (!total) return html`<span class="progress none quiet">${none}</span>`;
  const part = Math.round((done / total) * 100);
  return html`<span class="progress">
    <span class="bar" role="progressbar" aria-valuemin="0" aria-valuemax=${total} aria-valuenow=${done}
      aria-label=${label || "steps done"}><span class=${done >= total ? "fill whole" : "fill"} style=${{ width: part + "%" }} /></span>
    <span class="of">${done}/${total}</span>
  </span>`;
}

// The current time: one clock for the whole page, so that no two places disagree.
export const Now = createContext(Date.now() / 1000);

export function Ago({ at }) {
  const now = useContext(Now);
  return html`<time datetime=${at} title=${moment(at)}>${ago(at, now)}</time>`;
}

// The time since a moment.
export function Since({ at }) {
  const now = useContext(Now);
  return html`<time datetime=${at} title=${moment(at)}>${span(Math.floor(now - seconds(at)))}</time>`;
}

export function TaskLink({ id, query, children, className }) {
  return html`<a class=${className} href=${hrefTo(["task", id], query)}>${children}</a>`;
}

// An error: message, code, and what to do next.
export function ErrorMessage({ error, retry }) {
  if (!error) return null;
  return html`<div class="trouble" role="alert">
    <p><strong>${error.message}</strong> ${error.code && html`<code>${error.code}</code>`}</p>
    ${error.hint && html`<p>${error.hint}</p>`}
    ${retry && html`<button type="button" onClick=${retry}>Try again</button>`}
  </div>`;
}

export function Loading({ what = "Loading" }) {
  return html`<p class="quiet loading" aria-live="polite">${what} …</p>`;
}

export function Empty({ children }) {
  return html`<p class="empty">${children}</p>`;
}

export function Section({ title, count, children, id, aside }) {
  return html`<section class="panel" id=${id} aria-label=${title}>
    <header><h2>${title}${count != null && html` <span class="count">${count}</span>`}</h2>${aside}</header>
    ${children}
  </section>`;
}

// Text that may be long: its beginning, with a button to expand it.
export function Text({ text, most = 600, className = "" }) {
  const [whole, setWhole] = useState(false);
  const full = String(text ?? "");
  const cut = !whole && full.length > most;
  return html`<span class=${"recorded " + className}>${cut ? full.slice(0, most) + " …" : full}${
    full.length > most && html` <button type="button" class="link" onClick=${() => setWhole(!whole)}>${whole ? "show less" : "show all"}</button>`
  }</span>`;
}

// Lists, headings, tables and blocks of code: where the text as it was written looks different.
const FORMATTED = /^\s*(?:#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s|```|~~~|\|)/m;

// A recorded text as Markdown for reading, or exactly as it was written.
export function Recorded({ text, most = 4000 }) {
  const [raw, setRaw] = useState(false);
  const [whole, setWhole] = useState(false);
  const full = String(text ?? "");
  const shown = whole || full.length <= most ? full : full.slice(0, most) + " …";
  return html`<div class="reading">
    ${raw ? html`<p class="recorded verbatim">${shown}</p>` : html`<${Markdown} text=${shown} />`}
    <p class="row-of-buttons small">${full.length > most && html`<button type="button" class="link" onClick=${() => setWhole(!whole)}>${whole ? "show less" : "show all"}</button>`}
      ${FORMATTED.test(full) && html`<button type="button" class="link" aria-pressed=${raw} onClick=${() => setRaw(!raw)}>${raw ? "formatted" : "as written"}</button>`}</p>
  </div>`;
}

export function Channel({ channel }) {
  return html`<span class=${`channel from-${channel}`} title="Who it came from">${channel}</span>`;
}

// A dialog that confirms an action. `fields`: [{ name, label, kind, value, required, options, hint }].
export class ConfirmDialog extends Component {
  state = { busy: false, error: null };

  componentDidMount() {
    this.dialog.showModal();
  }

  send = async (event) => {
    event.preventDefault();
    const answers = Object.fromEntries(new FormData(event.target));
    this.setState({ busy: true, error: null });
    try {
      await this.props.act(answers);
      this.dialog.close();
      this.props.done?.();
    } catch (error) {
      this.setState({ busy: false, error });
    }
  };

  render({ title, children, fields = [], yes = "OK", danger, close }, { busy, error }) {
    return html`<dialog ref=${(dialog) => (this.dialog = dialog)} class="ask" aria-labelledby="ask-title" onClose=${close}>
      <form method="dialog" onSubmit=${this.send}>
        <h2 id="ask-title">${title}</h2>
        ${children}
        ${fields.map((field) => html`<${Field} key=${field.name} ...${field} />`)}
        <${ErrorMessage} error=${error} />
        <footer>
          <button type="button" onClick=${() => this.dialog.close()}>Back</button>
          <button type="submit" class=${danger ? "danger" : "primary"} disabled=${busy}>${busy ? "Working …" : yes}</button>
        </footer>
      </form>
    </dialog>`;
  }
}

// A field of a form; the options of a choice are values, or pairs of a value and its words.
// Inputs are uncontrolled: a `value` prop would reset what is being typed on every render.
export function Field({ name, label, kind = "text", value = "", required, options, hint, rows = 3 }) {
  const common = { name, id: "field-" + name, required, "aria-describedby": hint ? "hint-" + name : undefined };
  return html`<div class="field">
    <label for=${"field-" + name}>${label}</label>
    ${
      kind === "long"
        ? html`<textarea ...${common} rows=${rows} defaultValue=${value} />`
        : kind === "choice"
          ? html`<select ...${common}>${options.map((option) => {
              const [own, words] = [].concat(option, option); // a value, or a value and its words
              return html`<option key=${own} value=${own} selected=${own === value}>${words}</option>`;
            })}</select>`
          : html`<input ...${common} type=${kind} defaultValue=${value} autocomplete="off" />`
    }
    ${hint && html`<p class="hint" id=${"hint-" + name}>${hint}</p>`}
  </div>`;
}

// Short notices at the edge of the page, announced to screen readers too.
const listeners = new Set();

export function notify(text) {
  for (const listen of listeners) listen(text);
}

export function Notices() {
  const [text, setText] = useState("");
  const timer = useRef();
  useEffect(() => {
    const listen = (next) => {
      setText(next);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setText(""), 5000);
    };
    listeners.add(listen);
    return () => listeners.delete(listen);
  }, []);
  return html`<div class=${text ? "notice shown" : "notice"} role="status" aria-live="polite">${text}</div>`;
}

// An error boundary: a part that fails shows its error and leaves the rest of the page alone.
export class ErrorBoundary extends Component {
  state = { error: null };

  componentDidCatch(error) {
    this.setState({ error });
  }

  componentDidUpdate(before) {
    if (before.of !== this.props.of && this.state.error) this.setState({ error: null });
  }

  render({ children }, { error }) {
    return error
      ? html`<${ErrorMessage} error=${{ message: "This part of the page failed: " + error.message, hint: "Reload the page." }} />`
      : children;
  }
}
