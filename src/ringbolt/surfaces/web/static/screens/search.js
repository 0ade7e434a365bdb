// Search across all tasks, in three steps: the hits, the events around a hit, and one event in full.
import { html, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { clean, shown } from "../format.js";
import { Ago, Channel, Empty, ErrorMessage, Loading, TaskLink, Text } from "../parts.js";
import { setQuery } from "../router.js";

const TYPES = ["message", "decision", "exclusion", "error", "variable", "user_instruction", "discovery", "artifact", "question", "action", "plan", "effect", "fact", "snapshot"];
const PAGE = 20;

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
        <span class="kind">${event.type}</span> ${(event.text || shown(event.data)).slice(0, 140)}
      </button>
      <${EventLink} id=${id} seq=${event.seq} />
      ${open === event.seq && html`<${FullEvent} id=${id} seq=${event.seq} />`}
    </li>`,
  )}</ol>`;
}

function Hit({ hit }) {
  const [open, setOpen] = useState(false);
  return html`<li class="panel hit">
    <p class="source quiet"><${TaskLink} id=${hit.task_id}>${hit.task_name}<//> · <span class="kind">${hit.type}</span> <${EventLink} id=${hit.task_id} seq=${hit.seq} /> · <${Ago} at=${hit.at} /> · ${hit.origin.agent || hit.origin.principal} <${Channel} channel=${hit.origin.channel} />
      ${hit.status && hit.status !== "active" && html` <span class="entry-status">${hit.status}</span>`}</p>
    <h2>${hit.title}</h2>
    ${hit.snippet && hit.snippet !== hit.title && html`<p class="recorded">${hit.snippet}</p>`}
    ${hit.anchors.length > 0 && html`<p class="quiet">cites ${hit.anchors.map((anchor) => `${anchor.path} (${anchor.state})`).join(", ")}</p>`}
    <p class="row-of-buttons"><button type="button" aria-expanded=${open} onClick=${() => setOpen(!open)}>${open ? "Close" : "Context"}</button>
      <span class="quiet small">${hit.why}${hit.alike ? ` · ${hit.alike} more like this` : ""}</span></p>
    ${open && html`<${Around} id=${hit.task_id} seq=${hit.seq} />`}
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
  return html`<div>
    ${data.warnings.map((warning) => html`<p key=${warning} class="quiet">${warning}</p>`)}
    <p class="quiet" role="status">${hits.length ? `${hits.length}${next ? " or more" : ""} found${data.semantic ? ", by words and by meaning" : ""}` : ""}</p>
    ${!hits.length && html`<${Empty}>Nothing found. Try fewer or different words.<//>`}
    <ol class="hits">${hits.map((hit) => html`<${Hit} key=${hit.task_id + "#" + hit.seq} hit=${hit} />`)}</ol>
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
      <select aria-label="Kind" onChange=${(event) => setQuery({ type: event.target.value })}>
        <option value="">Everything</option>
        ${TYPES.map((one) => html`<option key=${one} value=${one} selected=${one === type}>${one.replace("_", " ")}</option>`)}
      </select>
      <button type="submit" class="primary">Search</button>
    </form>
    ${query || type ? html`<${Found} key=${query + "\n" + type} query=${query} type=${type} />` : html`<${Empty}>Search everything said, done, decided and ruled out in any task.<//>`}
  </div>`;
}
