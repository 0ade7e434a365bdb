// Recovery drills: how much of a task would survive the loss of its context, next to what the host's summary keeps.
import { html, useState } from "../vendor/preact.js";
import { call, get, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { count, day, moment, plural } from "../format.js";
import { Empty, ErrorMessage, Loading, Section, TaskLink } from "../parts.js";
import { Line } from "../plots.js";
import { setQuery } from "../router.js";

const WHY = { asked: "as requested", compaction: "at a compaction", "60 %": "after 60 % of its events" };
const WAYS = [
  ["small", "500-token packet"],
  ["usual", "1,500-token packet"],
  ["asked", "Questions"],
];

const share = (part, whole) => (whole ? Math.round((100 * part) / whole) : null);
const sum = (rows, field) => rows.reduce((all, row) => all + (row[field] || 0), 0);

// The share of recorded entries that one way of recovering brings back, in percent.
function kept(drill, field) {
  return field === "host" ? share(sum(drill.rows, "host"), sum(drill.rows, "host_count")) : share(sum(drill.rows, field), sum(drill.rows, "count"));
}

function Cell({ part, whole, wanted }) {
  const value = share(part, whole);
  if (value == null) return html`<td class="quiet">—</td>`;
  const low = wanted != null && value < wanted;
  return html`<td class=${low ? "low" : ""}><span class="meter" aria-hidden="true"><span style=${{ width: value + "%" }} /></span>${value} %</td>`;
}

// Who lost something: our packet, or only the host's summary.
function Losses({ drill }) {
  const lost = drill.rows.flatMap((row) => (row.lost || []).map((loss) => ({ ...loss, what: row.name })));
  const groups = [
    ["Lost from the 1,500-token packet", lost.filter((loss) => !loss.usual)],
    ["Lost from the host's summary only", lost.filter((loss) => loss.usual)],
  ];
  const note = (loss) => {
    const has = [loss.asked && "asking", loss.host && "the host's summary"].filter(Boolean);
    const both = !loss.usual && loss.host === false ? "; the host's summary lost it too" : "";
    return loss.usual ? "" : ` (${has.length ? has.join(" and ") + " found it" : "nothing found it"}${both})`;
  };
  return groups.map(
    ([title, losses]) =>
      losses.length > 0 &&
      html`<h3>${title}</h3>
        <ul class="lost">${losses.map(
          (loss, index) => html`<li key=${index}><span class="quiet">${loss.what}</span> ${loss.text || ""}
            ${loss.seq > 0 && drill.task_id && html` <${EventLink} id=${drill.task_id} seq=${loss.seq} />`}<span class="quiet">${note(loss)}</span></li>`,
        )}</ul>`,
  );
}

function Table({ drill }) {
  const missed = new Set(drill.missed || []);
  const hosts = sum(drill.rows, "host_count") > 0;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="What was recovered">
    <table>
      <caption class="hidden">What was recovered</caption>
      <thead><tr><th scope="col">What</th><th scope="col">Recorded</th>${WAYS.map(([, word]) => html`<th key=${word} scope="col">${word}</th>`)}<th scope="col">Host's own summary</th></tr></thead>
      <tbody>${drill.rows.map(
        (row) => html`<tr key=${row.name}><th scope="row">${row.name}${missed.has(row.name) ? html` <span class="verdict bad">missed</span>` : ""}</th>
          <td>${count(row.count)}</td>
          ${row.count
            ? html`${WAYS.map(([field]) => html`<${Cell} key=${field} part=${row[field]} whole=${row.count} wanted=${field === "usual" ? row.wanted : null} />`)}
                <${Cell} part=${row.host} whole=${row.host_count} />`
            : html`<td class="quiet" colspan=${WAYS.length + 1}>nothing to measure</td>`}</tr>`,
      )}</tbody>
    </table>
    ${!hosts && html`<p class="quiet">No host summary is stored for this point, so there is nothing to compare with.</p>`}
  </div>`;
}

function Result({ drill, open }) {
  const [ours, hosts] = [kept(drill, "usual"), kept(drill, "host")];
  return html`<details class="panel drill" open=${open}>
    <summary>
      <span class=${drill.ok ? "verdict good" : "verdict bad"}>${drill.ok ? "✓ passed" : "✕ failed"}</span>
      ${drill.task_id && html`<strong>${drill.name}</strong>`}
      <span class="quiet">cut after #${count(drill.cut)} of ${count(drill.last)}, ${WHY[drill.because] || drill.because}${drill.at ? " · " + moment(drill.at) : ""}</span>
      <span class="kept">Ringbolt kept <strong>${ours ?? "—"} %</strong>${hosts != null && html`, the host's summary <strong>${hosts} %</strong>`}</span>
    </summary>
    ${drill.task_id && html`<p class="quiet"><${TaskLink} id=${drill.task_id}>${drill.name}<//>${drill.seq > 0 && html` <${EventLink} id=${drill.task_id} seq=${drill.seq} />`}</p>`}
    <${Table} drill=${drill} />
    <${Losses} drill=${drill} />
  </details>`;
}

function Try({ tasks, chosen, done }) {
  const [state, setState] = useState({});
  const run = async (event) => {
    event.preventDefault();
    const id = new FormData(event.target).get("task");
    setState({ busy: true });
    setQuery({ task: id });
    try {
      setState({ drill: await get(`/api/tasks/${encodeURIComponent(id)}/drill`) });
      done();
    } catch (error) {
      setState({ error });
    }
  };
  return html`<${Section} title="Try it now">
    <p class="quiet">Simulates losing the context at the task's last compaction, in a throwaway copy, and scores what is recovered.</p>
    <form class="filters" onSubmit=${run}>
      <select name="task" aria-label="Task" required>${tasks.map((task) => html`<option key=${task.id} value=${task.id} selected=${task.id === chosen}>${task.name.slice(0, 90)}</option>`)}</select>
      <button type="submit" class="primary" disabled=${state.busy || !tasks.length}>${state.busy ? "Running …" : "Run drill"}</button>
    </form>
    <${ErrorMessage} error=${state.error} />
    ${state.drill && html`<${Result} drill=${state.drill} open />`}
  <//>`;
}

// Stored results; an older server has no such operation and therefore none.
async function stored() {
  try {
    return await call("drill_results", { workspace: "*", limit: 500 });
  } catch (error) {
    if (error.code === "no_route") return { results: [], left_out: 0 };
    throw error;
  }
}

export function Recovery({ route }) {
  const { data, error, reload } = useData(stored, []);
  const { data: tasks, error: failed } = useData(() => call("task_list", { status: "all", workspace: "*", limit: 200 }), []);
  if (error || failed) return html`<${ErrorMessage} error=${error || failed} retry=${reload} />`;
  if (!data || !tasks) return html`<${Loading} what="Loading drills" />`;
  const chosen = route.query.get("task") || "";
  const results = data.results.filter((drill) => !chosen || drill.task_id === chosen);
  const points = [...results].reverse().map((drill, index) => ({ x: index, y: kept(drill, "usual") || 0 }));
  const [ours, hosts] = [sum(results.flatMap((drill) => drill.rows), "usual"), sum(results.flatMap((drill) => drill.rows), "host")];
  const [of, ofHosts] = [sum(results.flatMap((drill) => drill.rows), "count"), sum(results.flatMap((drill) => drill.rows), "host_count")];
  return html`<div class="recovery stack">
    <h1>Recovery</h1>
    <${Try} tasks=${tasks.tasks} chosen=${chosen} done=${reload} />
    <${Section} title=${chosen ? "This task over time" : "Over time"} count=${results.length}
      aside=${chosen && html`<a href="#/recovery">All tasks</a>`}>
      ${results.length
        ? html`<p>Ringbolt kept <strong>${share(ours, of)} %</strong> of what was recorded${ofHosts ? html`; the hosts' own summaries kept <strong>${share(hosts, ofHosts)} %</strong>` : ""}.</p>
            <${Line} points=${points} most=${100} label="Share recovered, drill by drill" />
            ${points.length > 1 && html`<p class="quiet">from 0 to 100 %, drill by drill, ${day(results.at(-1).at)} – ${day(results[0].at)}</p>`}`
        : html`<${Empty}>No drills are stored yet. <code>ringbolt drill --all</code> drills every task and stores the scores.<//>`}
    <//>
    ${results.map((drill) => html`<${Result} key=${drill.task_id + "#" + drill.seq} drill=${drill} />`)}
    ${data.left_out > 0 && html`<p class="quiet">${plural(data.left_out, "older drill is", "older drills are")} not shown.</p>`}
  </div>`;
}
