// Every event of a task, in order. Only visible lines are in the DOM, and only their pages are loaded.
import { Component, html } from "../vendor/preact.js";
import { call, get, onReconnect } from "../api.js";
import { EventLink } from "../cite.js";
import { clean, clock, count, day, eventName, local, moment, shown } from "../format.js";
import { Channel, ConfirmDialog, Empty, ErrorMessage, Loading, Recorded, Text, notify } from "../parts.js";
import { hrefTo, setQuery } from "../router.js";
import { Virtual } from "../virtual.js";

const PAGE = 200;
const ROW = 34;
const RAW = new Set(["input", "output"]); // what a tool got and gave
const SETTLE_MS = 40; // during a fast scroll, pages that only pass by are not loaded
const CHANNELS = [["user", "the user"], ["agent", "an agent"], ["tool", "a tool"], ["web", "the web"], ["import", "an import"], ["system", "Ringbolt itself"]];
const FILTERS = ["types", "channel", "step", "text"];
const USUAL = new Set(["active", "completed"]); // statuses that need no word in a line

// The lines of a timeline by position, loaded a page at a time.
class Lines {
  constructor(id, changed) {
    this.id = id;
    this.changed = changed;
    this.known = new Map(); // seq → line
    this.asked = new Set(); // pages already requested
    this.seqs = null; // with a filter: the matching event numbers
    this.last = 0;
  }

  get length() {
    return this.seqs ? this.seqs.length : this.last;
  }

  seqAt(index) {
    return this.seqs ? this.seqs[index] : index + 1;
  }

  placeOf(seq) {
    if (!this.seqs) return seq - 1;
    const index = this.seqs.findIndex((one) => one >= seq);
    return index < 0 ? this.seqs.length - 1 : index;
  }

  async want(first, last) {
    const pages = [];
    for (let page = Math.floor(first / PAGE); page <= Math.floor(Math.max(first, last - 1) / PAGE); page++) {
      if (this.asked.has(page) || page * PAGE >= this.length) continue;
      this.asked.add(page);
      pages.push(page);
    }
    await Promise.all(pages.map((page) => this.read(page)));
  }

  async read(page) {
    const seqs = this.seqs?.slice(page * PAGE, (page + 1) * PAGE);
    try {
      const found = await get(`/api/tasks/${encodeURIComponent(this.id)}/moments`, seqs ? { seqs: seqs.join(","), limit: PAGE } : { after: page * PAGE, limit: PAGE });
      for (const line of found.moments) this.known.set(line.seq, line);
      this.changed();
    } catch (error) {
      this.asked.delete(page);
      this.changed(error);
    }
  }
}

function Line({ line, seq, chosen, choose, workspace }) {
  if (!line) return html`<li class="moment unread"><span class="seq">#${seq}</span><span class="quiet">…</span></li>`;
  return html`<li class=${`moment type-${line.type.split(".")[0]}${chosen ? " chosen" : ""}`}>
    <button type="button" aria-pressed=${chosen} onClick=${() => choose(seq)}>
      <span class="seq">#${line.seq}</span>
      <time datetime=${line.at} title=${moment(line.at)}><span class="day">${day(line.at)}</span> ${clock(line.at)}</time>
      <span class="type">${eventName(line.type)}</span>
      <span class="text">${local(line.text || "", workspace).replace(/\*\*|`/g, "")}</span>
      <span class="from">${line.status && !USUAL.has(line.status) ? html`<span class=${"entry-status is-" + line.status}>${line.status}</span>` : null}${line.agent || line.channel}</span>
    </button>
  </li>`;
}

// One event in full: what happened and what it changed.
class EventPanel extends Component {
  state = { event: null, error: null, undoing: false };

  componentDidMount() {
    this.read();
  }

  componentDidUpdate(before) {
    if (before.seq !== this.props.seq) this.read();
  }

  async read() {
    const { id, seq } = this.props;
    try {
      const event = await call("task_event", { task_id: id, seq });
      if (seq === this.props.seq) this.setState({ event, error: null });
    } catch (error) {
      this.setState({ error });
    }
  }

  render({ id, seq, may, close, reload, workspace }, { event, error, undoing }) {
    const about = event && Object.entries(event.data).filter(([, value]) => value != null && value !== "");
    return html`<aside class="panel event" aria-label=${"Event " + seq}>
      <header><h2>Event #${seq}</h2><button type="button" class="quiet-button" onClick=${close} aria-label="Close event">✕</button></header>
      <${ErrorMessage} error=${error} />
      ${!event && !error && html`<${Loading} />`}
      ${event &&
      html`<p class="quiet"><span title=${event.type}>${eventName(event.type)}</span> · ${moment(event.at)} · ${event.origin.agent || event.origin.principal} <${Channel} channel=${event.origin.channel} />
          ${event.step && html` · step ${event.step}`} ${event.ref && html` · about <${EventLink} id=${id} seq=${event.ref} />`}</p>
        ${event.text && html`<${Recorded} key=${seq} text=${local(event.text, workspace)} />`}
        ${about.length > 0 && html`<dl class="pairs">${about.map(([name, value]) => html`<div key=${name}><dt>${clean(name)}</dt><dd class=${RAW.has(name) ? "mono" : ""}><${Text} text=${local(shown(value), workspace)} most=${2000} /></dd></div>`)}</dl>`}
        <details><summary>What it changed</summary><pre>${JSON.stringify(event.sets, null, 1)}</pre></details>
        <p class="quiet"><code title="hash of this event and the one before it">${event.hash}</code></p>
        <p class="row-of-buttons"><a class="button" href=${hrefTo(["task", id], { tab: "time", at: seq })}>View the task at this point</a>
          ${may.write && html`<button type="button" onClick=${() => this.setState({ undoing: true })}>Undo this event …</button>`}</p>`}
      ${undoing &&
      html`<${ConfirmDialog} title=${`Undo event #${seq}?`} yes="Undo" danger close=${() => this.setState({ undoing: false })}
        fields=${[{ name: "reason", label: "Why (optional)" }]}
        act=${(answers) => call("task_undo", { task_id: id, seq, reason: answers.reason || null })}
        done=${() => (notify(`Event #${seq} was undone.`), reload())}>
        <p>Everything it changed goes back to its earlier value. Nothing is erased, and the undo can itself be undone.</p>
      <//>`}
    </aside>`;
  }
}

// The kinds of events by their names for people; several types may share one.
function kinds(types) {
  const found = new Map();
  for (const [type, number] of Object.entries(types)) {
    const name = eventName(type);
    const kind = found.get(name) || { name, own: [], number: 0 };
    found.set(name, { name, own: [...kind.own, type], number: kind.number + number });
  }
  return [...found.values()].sort((a, b) => b.number - a.number);
}

function Filters({ query, types, steps }) {
  const chosen = (query.get("types") || "").split(",").filter(Boolean);
  const toggle = (own) => {
    const others = chosen.filter((type) => !own.includes(type));
    setQuery({ types: (own.every((type) => chosen.includes(type)) ? others : [...others, ...own]).join(",") });
  };
  return html`<form class="filters" role="search" aria-label="Filter events" onSubmit=${(event) => event.preventDefault()}>
    <input type="search" aria-label="Text in events" placeholder="Text in events" key=${query.get("text")} defaultValue=${query.get("text") || ""}
      onChange=${(event) => setQuery({ text: event.target.value })} />
    <select aria-label="Channel" onChange=${(event) => setQuery({ channel: event.target.value })}>
      <option value="">From: anyone</option>
      ${CHANNELS.map(([name, words]) => html`<option key=${name} value=${name} selected=${query.get("channel") === name}>From: ${words}</option>`)}
    </select>
    <select aria-label="Step" onChange=${(event) => setQuery({ step: event.target.value })}>
      <option value="">Step: any</option>
      ${steps.map((item) => html`<option key=${item.id} value=${item.id} selected=${query.get("step") === item.id}>${item.ordinal + 1}. ${item.title.slice(0, 60)}</option>`)}
    </select>
    ${FILTERS.some((name) => query.get(name)) && html`<button type="button" class="link" onClick=${() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>Clear</button>`}
    <div class="chips types" role="group" aria-label="Event types">
      ${kinds(types).map(
        ({ name, own, number }) => html`<button key=${name} type="button" class="chip" aria-pressed=${own.every((type) => chosen.includes(type))} onClick=${() => toggle(own)}>${name} <span class="count">${count(number)}</span></button>`,
      )}
    </div>
  </form>`;
}

export class Timeline extends Component {
  constructor(props) {
    super(props);
    this.state = { error: null, types: {}, ready: false, turn: 0 };
    this.range = [0, 60];
  }

  filters() {
    return Object.fromEntries(FILTERS.map((name) => [name, this.props.route.query.get(name) || ""]));
  }

  componentDidMount() {
    this.begin();
    this.unsubscribe = onReconnect(() => this.state.error && this.retry());
  }

  componentWillUnmount() {
    this.gone = true;
    this.unsubscribe();
    clearTimeout(this.timer);
  }

  // After an error: load what is visible, or start over if nothing was loaded yet.
  async retry() {
    if (!this.lines) return this.begin();
    await this.lines.want(...this.range);
    return this.grow();
  }

  componentDidUpdate(before) {
    const filters = JSON.stringify(this.filters());
    if (filters !== this.filtered) return void this.begin();
    if (before.last !== this.props.last) this.grow();
    const seq = this.props.route.query.get("seq");
    if (seq && seq !== before.route.query.get("seq")) this.reveal(Number(seq));
  }

  // Load the list of events from scratch.
  async begin() {
    const filters = this.filters();
    this.filtered = JSON.stringify(filters);
    const { task } = this.props;
    const lines = new Lines(task.id, (error) => !this.gone && this.setState(({ turn }) => ({ turn: turn + 1, error: error || null })));
    const path = `/api/tasks/${encodeURIComponent(task.id)}/timeline`;
    try {
      const [fitting, all] = await Promise.all([get(path, filters), Object.values(filters).some(Boolean) ? get(path) : null]);
      if (this.gone || this.filtered !== JSON.stringify(filters)) return;
      lines.seqs = fitting.seqs || null;
      lines.last = fitting.last;
      this.lines = lines;
      this.setState({ ready: true, error: null, types: (all || fitting).types }, () => {
        const seq = Number(this.props.route.query.get("seq"));
        if (seq) this.reveal(seq);
        else this.list?.show(lines.length, 1);
      });
    } catch (error) {
      if (!this.gone) this.setState({ error });
    }
  }

  // New events: append them, and keep the end in view if it was.
  async grow() {
    const { lines } = this;
    if (!lines || this.props.last <= lines.last) return;
    const following = this.list?.atEnd();
    const before = lines.length;
    lines.last = this.props.last;
    if (lines.seqs) {
      const fitting = await get(`/api/tasks/${encodeURIComponent(lines.id)}/timeline`, this.filters()).catch(() => null);
      if (!fitting?.seqs || this.gone || lines !== this.lines) return;
      lines.seqs = fitting.seqs;
    }
    for (let page = Math.floor(before / PAGE); page <= Math.floor(lines.length / PAGE); page++) lines.asked.delete(page);
    await lines.want(...this.range);
    await lines.want(before, lines.length);
    if (!this.gone) this.setState(({ turn }) => ({ turn: turn + 1 }), () => following && this.list?.show(lines.length, 1));
  }

  reveal(seq) {
    const place = this.lines?.placeOf(seq);
    if (place != null && place >= 0) this.list?.show(place);
  }

  // Rows became visible: load the first ones at once, later ones when scrolling settles.
  seen = (first, last) => {
    this.range = [first, last];
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lines?.want(...this.range), this.lines?.known.size ? SETTLE_MS : 0);
  };

  choose = (seq) => setQuery({ seq: String(seq) === this.props.route.query.get("seq") ? "" : seq });

  render({ task, route, may, reload }, { error, types, ready }) {
    const chosen = Number(route.query.get("seq")) || 0;
    const lines = this.lines;
    return html`<div class=${chosen ? "timeline with-event" : "timeline"}>
      <${Filters} query=${route.query} types=${types} steps=${task.steps} />
      <${ErrorMessage} error=${error} retry=${() => this.retry()} />
      ${!ready && !error && html`<${Loading} what="Loading the timeline" />`}
      ${ready && lines.length === 0 && html`<${Empty}>No events match these filters.<//>`}
      ${ready &&
      lines.length > 0 &&
      html`<div class="timeline-body">
        <div class="timeline-list">
          <p class="quiet small" aria-live="polite">${lines.seqs ? `${count(lines.length)} of ${count(lines.last)} events` : `${count(lines.last)} events`}</p>
          <${Virtual} ref=${(list) => (this.list = list)} count=${lines.length} height=${ROW} label="Events" className="panel moments" onRange=${this.seen}
            row=${(index) => {
              const seq = lines.seqAt(index);
              return html`<${Line} key=${seq} seq=${seq} line=${lines.known.get(seq)} chosen=${seq === chosen} choose=${this.choose} workspace=${task.workspace} />`;
            }} />
        </div>
        ${chosen > 0 && html`<${EventPanel} id=${task.id} seq=${chosen} workspace=${task.workspace} may=${may} reload=${reload} close=${() => this.choose(chosen)} />`}
      </div>`}
    </div>`;
  }
}
