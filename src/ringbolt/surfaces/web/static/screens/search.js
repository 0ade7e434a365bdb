// Search across all tasks, in three steps: the hits, the events around a hit, and one event in full.
import { html, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { clean, eventName, short, shown } from "../format.js";
import { Ago, Channel, Empty, ErrorMessage, Loading, TaskLink, Text } from "../parts.js";
import { setQuery } from "../router.js";

// What to search in, in the words of a reader: a kind of event, and what it holds.
const KINDS = [
  ["user_instruction", "What you asked or told an agent"],
  ["message", "What agents reported"],
  ["decision", "Decisions and their reasons"],
  ["exclusion", "What was ruled out or refused"],
  ["error", "Errors"],
  ["action", "Commands, edits and their output"],
  ["effect", "Side effects: pushes, deployments, messages"],
  ["question", "Questions to you"],
  ["discovery", "Findings"],
  ["variable", "Values"],
  ["artifact", "Files and artifacts"],
  ["plan", "Plans"],
  ["fact", "Facts about a project"],
  ["snapshot", "Snapshots and hosts' summaries"],
];
const PAGE = 20;
const BEFORE = 20; // characters before the first word that was searched for: on a phone few fit

// The third step: one event in full.
function FullEvent({ id, seq }) {
  const { data: event, error } = useData(() => call("task_event", { task_id: id, seq }), [id, seq]);
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!event) return html`<${Loading} />`;
  const about = Object.entries(event.data).filter(([, value]) => value != null && value !== "");
  return html`<div class="whole-event">
    ${event.text && html`<p class="whole"><${Text} text=${event.text} most=${4000} /></p>`}
    ${about.length > 0 && html`<dl class="pairs">${about.map(([name, value]) => html`<div key=${name}><dt>${clean(name)}</dt><dd><${Text} text=${shown(value)} most=${1500} /></dd></div>`)}</dl>`}
  </div>`;
}

// The second step: a few events before and after the hit.
function Around({ id, seq }) {
  const { data, error } = useData(() => call("task_around", { task_id: id, seq }), [id, seq]);
  const [open, setOpen] = useState(seq);
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!data) return html`<${Loading} />`;
  return html`<ol class="around">${data.events.map(
    (event) => html`<li key=${event.seq} class=${event.seq === seq ? "this" : ""}>
      <button type="button" class="link" aria-expanded=${open === event.seq} onClick=${() => setOpen(open === event.seq ? 0 : event.seq)}>
        <span class="kind">${eventName(event.type)}</span> ${short(event.text || shown(event.data), 140)}
      </button> <${EventLink} id=${id} seq=${event.seq} />
      ${open === event.seq && html`<${FullEvent} id=${id} seq=${event.seq} />`}
    </li>`,
  )}</ol>`;
}

// The words of a query as the search compares them: without quotes, and the beginning of a word is enough.
function searched(query) {
  const words = query.replaceAll('"', " ").split(/\s+/).map((word) => word.replace(/\*+$/, "")).filter((word) => word.length > 1);
  const escaped = words.map((word) => (word.length > 5 ? word.slice(0, -1) : word).replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return escaped.length ? new RegExp(`((?:${escaped.join("|")})[\\p{L}\\p{N}]*)`, "giu") : null;
}

function Marked({ text, words }) {
  return (words ? text.split(words) : [text]).map((part, index) => (index % 2 ? html`<mark key=${index}>${part}</mark>` : part));
}

// The stretch of a hit's text to show in one line: around the first word that was searched for.
function line(hit, words) {
  const text = (hit.snippet && !hit.title.startsWith(hit.snippet) ? hit.snippet : hit.title).replace(/\*\*|`/g, "").replace(/\s+/g, " ");
  const at = words ? text.search(words) : -1;
  return at > BEFORE ? "… " + text.slice(text.indexOf(" ", at - BEFORE) + 1) : text;
}

function Hit({ hit, words }) {
  const [open, setOpen] = useState(false);
  return html`<li class=${open ? "hit open" : "hit"}>
    <button type="button" class="hit-line" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <span class="kind">${eventName(hit.type)}</span>
      <span class="hit-text"><${Marked} text=${line(hit, words)} words=${words} /></span>
      <span class="hit-task">${hit.task_name}</span>
      <span class="when"><${Ago} at=${hit.at} /></span>
    </button>
    ${open &&
    html`<p class="source quiet"><${TaskLink} id=${hit.task_id}>${hit.task_name}<//> <${EventLink} id=${hit.task_id} seq=${hit.seq} /> · ${hit.origin.agent || hit.origin.principal} <${Channel} channel=${hit.origin.channel} />
        ${hit.status && hit.status !== "active" && html` <span class="entry-status">${hit.status}</span>`} · ${hit.why}${hit.alike ? ` · ${hit.alike} more like this` : ""}
        ${hit.anchors.length > 0 && ` · cites ${hit.anchors.map((anchor) => `${anchor.path} (${anchor.state})`).join(", ")}`}</p>
      <${Around} id=${hit.task_id} seq=${hit.seq} />`}
  </li>`;
}

function Found({ query, type }) {
  const read = (cursor) => call("task_recall", { query: query || null, types: type || null, workspace: "*", limit: PAGE, cursor });
  const { data, error, reload } = useData(() => read(null), [query, type]);
  const [more, setMore] = useState({ hits: [], cursor: undefined });
  const next = more.cursor === undefined ? data?.cursor : more.cursor;
  const [failed, setFailed] = useState(null);
  const on = async () => {
    try {
      const page = await read(next);
      setMore({ hits: [...more.hits, ...page.hits], cursor: page.cursor });
    } catch (problem) {
      setFailed(problem);
    }
  };
  if (error) return html`<${ErrorMessage} error=${error} retry=${reload} />`;
  if (!data) return html`<${Loading} what="Searching" />`;
  const hits = [...data.hits, ...more.hits];
  const words = searched(query);
  return html`<div>
    ${data.warnings.map((warning) => html`<p key=${warning} class="quiet">${warning}</p>`)}
    <p class="quiet" role="status">${hits.length ? `The best ${hits.length}${next ? ", and there are more" : ""}${data.semantic ? "; searched by words and by meaning" : ""}` : ""}</p>
    ${!hits.length && html`<${Empty}>Nothing found. Try fewer or different words.<//>`}
    <ol class="hits panel">${hits.map((hit) => html`<${Hit} key=${hit.task_id + "#" + hit.seq} hit=${hit} words=${words} />`)}</ol>
    <${ErrorMessage} error=${failed} />
    ${next && html`<button type="button" onClick=${on}>Show more</button>`}
  </div>`;
}

export function Search({ route }) {
  const query = route.query.get("q") || "";
  const type = route.query.get("type") || "";
  const send = (event) => {
    event.preventDefault();
    setQuery({ q: new FormData(event.target).get("q") });
  };
  return html`<div class="search">
    <h1>Search</h1>
    <form class="filters" role="search" onSubmit=${send}>
      <input type="search" name="q" aria-label="Search everything" placeholder='Words, "a phrase", prefix*' defaultValue=${query} key=${query} />
      <select aria-label="Search in" onChange=${(event) => setQuery({ type: event.target.value })}>
        <option value="">In everything</option>
        ${KINDS.map(([one, words]) => html`<option key=${one} value=${one} selected=${one === type}>${words}</option>`)}
      </select>
      <button type="submit" class="primary">Search</button>
    </form>
    ${query || type ? html`<${Found} key=${query + "\n" + type} query=${query} type=${type} />` : html`<div class="empty"><p>Search everything said, done, decided and ruled out in any task.</p>
      <ul class="tips"><li><code>registry key</code> either word, the best match first</li><li><code>"exit code 1"</code> exactly this</li><li><code>deploy*</code> words that begin like this</li></ul></div>`}
  </div>`;
}
