// Time travel: the task as it was after any event, what that event changed, and what has changed since.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { get } from "../api.js";
import { EventLink } from "../cite.js";
import { differences } from "../diff.js";
import { clean, count, eventName, local, moment, plural, shown } from "../format.js";
import { Empty, ErrorMessage, Loading, Mark, Progress, Section, Status, Text } from "../parts.js";
import { setQuery } from "../router.js";

const SETTLE_MS = 120;
const MOST_KEPT = 100;
const AROUND = 5;

// Loads the states before and after an event. Replaying a long history takes the server a while, so there is one
// request at a time; of the events asked for meanwhile only the last is loaded next.
class StateLoader {
  constructor(id, onLoaded) {
    this.id = id;
    this.onLoaded = onLoaded;
    this.known = new Map(); // seq → the task after that event
    this.events = new Map();
    this.busy = false;
    this.wanted = 0;
  }

  async show(at) {
    this.wanted = at;
    if (this.busy) return;
    this.busy = true;
    while (this.wanted) {
      const seq = this.wanted;
      this.wanted = 0;
      try {
        // Load the neighbours too: people often step back and forth.
        if (!this.has(seq)) this.keep(await get(`/api/tasks/${encodeURIComponent(this.id)}/past`, { seq, around: AROUND }));
        this.onLoaded({ at: seq, event: this.events.get(seq), before: this.known.get(seq - 1), now: this.known.get(seq) });
      } catch (error) {
        this.onLoaded({ at: seq, error });
      }
    }
    this.busy = false;
  }

  has(seq) {
    return this.known.has(seq) && (seq === 1 || this.known.has(seq - 1));
  }

  keep(found) {
    if (this.known.size > MOST_KEPT) {
      this.known.clear();
      this.events.clear();
    }
    for (const [seq, state] of Object.entries(found.states)) this.known.set(Number(seq), state);
    for (const [seq, event] of Object.entries(found.events)) this.events.set(Number(seq), event);
  }
}

function useStates(task, at) {
  const [state, setState] = useState({});
  const past = useRef(null);
  useEffect(() => {
    let mounted = true;
    past.current = new StateLoader(task.id, (found) => mounted && setState(found));
    return () => (mounted = false);
  }, [task.id]);
  useEffect(() => {
    const timer = setTimeout(() => past.current.show(at), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [task.id, at]);
  return state;
}

function Changes({ title, changes, none }) {
  return html`<${Section} title=${title} count=${changes.length}>
    ${!changes.length && html`<${Empty}>${none}<//>`}
    <ul class="lines changes">${changes.slice(0, 200).map(
      (change, index) => html`<li key=${index}><span class="what">${change.what}</span>
        ${change.before != null && change.before !== "" && html`<del><${Text} text=${shown(change.before)} most=${200} /></del>`}
        ${change.after != null && change.after !== "" && html`<ins><${Text} text=${shown(change.after)} most=${200} /></ins>`}</li>`,
    )}</ul>
    ${changes.length > 200 && html`<p class="quiet">and ${changes.length - 200} more.</p>`}
  <//>`;
}

export function TimeTravel({ task, route, last }) {
  const asked = Math.min(last, Math.max(1, Number(route.query.get("at")) || last));
  const [at, setAt] = useState(asked);
  useEffect(() => setAt(asked), [route.query.get("at")]);
  const move = (seq) => {
    const next = Math.min(last, Math.max(1, seq));
    setAt(next);
    setQuery({ at: next });
  };
  const state = useStates(task, at);
  const then = state.now;
  return html`<div class="time">
    <section class="panel slider-panel" aria-label="Time">
      <div class="slider">
        <label for="at">After event <output>#${count(at)}</output> of ${count(last)}${state.event ? ` · ${moment(state.event.at)}` : ""}</label>
        <input id="at" type="range" min="1" max=${last} value=${at} onInput=${(event) => setAt(Number(event.target.value))} onChange=${(event) => move(Number(event.target.value))} />
      </div>
      <p class="row-of-buttons">
        <button type="button" onClick=${() => move(1)}>First</button>
        <button type="button" onClick=${() => move(at - 1)} disabled=${at <= 1}>◀ Previous</button>
        <button type="button" onClick=${() => move(at + 1)} disabled=${at >= last}>Next ▶</button>
        <button type="button" onClick=${() => move(last)}>Now</button>
      </p>
      ${state.event && html`<p><span class="kind">${eventName(state.event.type)}</span> <${Text} text=${local(state.event.text, task.workspace)} most=${400} /> <${EventLink} id=${task.id} seq=${state.event.seq} /></p>`}
    </section>
    <${ErrorMessage} error=${state.error} />
    ${state.at !== at && !state.error && html`<${Loading} what=${`Loading #${count(at)}`} />`}
    ${then &&
    html`<div class="columns even">
      <div class="stack">
        <${Section} title="As it was" aside=${html`<${Status} status=${then.status} />`}>
          <p><${Progress} done=${then.done} total=${then.total} /></p>
          <ul class="steps compact">${then.steps.filter((item) => !item.dropped_in).map((item) => html`<li key=${item.id} class="step-line"><${Mark} status=${item.status} /> <span class="number">${item.ordinal + 1}</span> ${item.title}</li>`)}</ul>
          ${then.next_step && html`<p class="after">next: <${Text} text=${then.next_step} /></p>`}
          ${Object.keys(then.variables).length > 0 && html`<dl class="pairs">${Object.entries(then.variables).map(([name, value]) => html`<div key=${name}><dt>${clean(name)}</dt><dd><code><${Text} text=${shown(value)} most=${200} /></code></dd></div>`)}</dl>`}
          <p class="quiet">${plural(then.decisions.length, "decision")}, ${then.exclusions.length} ruled out, ${plural(then.questions.length, "open question")}, ${plural(then.files.length, "file")}</p>
        <//>
      </div>
      <div class="stack">
        <${Changes} title="What this event changed" changes=${state.before ? differences(state.before, then) : []} none=${state.before ? "It did not change the task's state." : "The task started here."} />
        ${state.at < last && html`<${Changes} title="What has changed since" changes=${differences(then, task)} none="Nothing has changed." />`}
      </div>
    </div>`}
  </div>`;
}
