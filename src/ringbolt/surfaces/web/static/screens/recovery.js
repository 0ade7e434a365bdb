// Recovery drills: what of a task would survive the loss of its context, next to what the host's own summary keeps.
import { html, useState } from "../vendor/preact.js";
import { call, get, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { count, day, eventName, plural, short } from "../format.js";
import { Ago, Empty, ErrorMessage, Loading, Section, TaskLink } from "../parts.js";
import { Line } from "../plots.js";
import { setQuery } from "../router.js";

const WHY = { asked: "as requested", compaction: "at a compaction", "60 %": "after 60 % of its events" };
// Kinds of content whose name in a drill needs more words here.
const KINDS = {
  "request, each sentence": "The request, sentence by sentence",
  "instructions since": "Later instructions",
  "last 3 decisions, reasons": "The last decisions, with their reasons",
  variables: "Values",
  exclusions: "What was ruled out",
  "unknown side effects": "Side effects with an unknown outcome",
  "step history": "Steps that ended",
  "files modified": "Changed files",
  "names used next": "Names that were needed next",
};
const FIRST = 4; // things of a kind that came back, until a reader asks for all

const share = (part, whole) => (whole ? Math.round((100 * part) / whole) : null);
const sum = (rows, field) => rows.reduce((all, row) => all + (row[field] || 0), 0);
const kindName = (name) => KINDS[name] || name[0].toUpperCase() + name.slice(1);

// What one way of recovering brought back of everything recorded: [number, of].
function came(drill, field) {
  return [sum(drill.rows, field), sum(drill.rows, field === "host" ? "host_count" : "count")];
}

function InWords({ number, of }) {
  return html`<strong>${number === of ? `all ${count(of)}` : `${count(number)} of ${count(of)}`}</strong>`;
}

function Back({ back }) {
  if (back == null) return html`<td class="quiet">—</td>`;
  return html`<td class=${back ? "came" : "low"}>${back ? "✓ came back" : "✕ lost"}</td>`;
}

// One kind of content: how much came back in each way, and under it each thing, what was lost first.
function Kind({ drill, row, hosts, texts }) {
  const [all, setAll] = useState(false);
  const things = [...row.lost, ...(all ? row.kept : row.kept.slice(0, FIRST))];
  const cell = (number, of) => (of ? html`<td>${number === of ? `all ${of}` : `${number} of ${of}`}</td>` : html`<td class="quiet">—</td>`);
  return html`<tbody>
    <tr class="kind-row"><th scope="rowgroup">${kindName(row.name)}</th>${cell(row.usual, row.count)}${cell(row.asked, row.count)}${hosts && cell(row.host, row.host_count)}</tr>
    ${things.map(
      (thing, index) => html`<tr key=${index}><td class="thing">${thing.text || texts.get(thing.seq) || "an event"}${thing.seq > 0 && drill.task_id && html` <${EventLink} id=${drill.task_id} seq=${thing.seq} />`}</td>
        <${Back} back=${thing.usual} /><${Back} back=${thing.asked} />${hosts && html`<${Back} back=${thing.host} />`}</tr>`,
    )}
    ${row.kept.length > FIRST && html`<tr><td colspan=${hosts ? 4 : 3}><button type="button" class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? "show fewer" : `show ${row.kept.length - FIRST} more that came back`}</button></td></tr>`}
  </tbody>`;
}

function Table({ drill, texts }) {
  const hosts = sum(drill.rows, "host_count") > 0;
  const rows = drill.rows.filter((row) => row.count);
  const none = drill.rows.filter((row) => !row.count && !row.name.startsWith("said:"));
  return html`<div class="scroll" tabindex="0" role="region" aria-label="What came back">
    <table class="recovered">
      <caption class="hidden">What came back and what was lost</caption>
      <thead><tr><th scope="col">What was recorded</th><th scope="col">In the packet</th><th scope="col">By asking</th>${hosts && html`<th scope="col">In the host's summary</th>`}</tr></thead>
      ${rows.map((row) => html`<${Kind} key=${row.name} drill=${drill} row=${row} hosts=${hosts} texts=${texts} />`)}
    </table>
    ${none.length > 0 && html`<p class="quiet">Nothing was recorded of: ${none.map((row) => kindName(row.name).toLowerCase()).join(", ")}.</p>`}
    ${!hosts && html`<p class="quiet">The host's own summary of this point is not known, so there is nothing to compare with.</p>`}
  </div>`;
}

// A stored result names events, not their texts; those are read when somebody looks.
function useTexts(drill, open) {
  const wanted = drill.rows.flatMap((row) => row.lost).filter((loss) => !loss.text && loss.seq).map((loss) => loss.seq);
  const { data } = useData(async () => {
    if (!open || !wanted.length) return [];
    const path = `/api/tasks/${encodeURIComponent(drill.task_id)}/moments`;
    return (await get(path, { seqs: [...new Set(wanted)].join(","), limit: 500 })).moments;
  }, [drill.task_id, drill.seq, open]);
  return new Map((data || []).map((one) => [one.seq, short(one.text || eventName(one.type), 200)]));
}

function Result({ drill, open: begun }) {
  const [open, setOpen] = useState(Boolean(begun));
  const texts = useTexts(drill, open);
  const [[number, of], [hosts, ofHosts], [small]] = [came(drill, "usual"), came(drill, "host"), came(drill, "small")];
  const whole = number === of;
  return html`<details class="panel drill" open=${open} onToggle=${(event) => setOpen(event.target.open)}>
    <summary>
      <span class=${whole ? "verdict good" : "verdict"}>${whole ? "✓ whole" : `${plural(of - number, "thing")} lost`}</span>
      ${drill.task_id && html`<strong>${drill.name}</strong>`}
      <span class="quiet">cut after #${count(drill.cut)} of ${count(drill.last)}, ${WHY[drill.because] || drill.because}${drill.at ? html` · <${Ago} at=${drill.at} />` : ""}</span>
    </summary>
    <p class="kept">Ringbolt's packet brought back <${InWords} number=${number} of=${of} />${ofHosts > 0 && html`; the host's own summary <${InWords} number=${hosts} of=${ofHosts} />`}. <span class="quiet">A packet of 500 tokens would bring back ${count(small)}.</span>
      ${drill.task_id && html` <${TaskLink} id=${drill.task_id}>Open the task<//>${drill.seq > 0 && html` <${EventLink} id=${drill.task_id} seq=${drill.seq} />`}`}</p>
    ${drill.missed?.length > 0 && html`<p class="note bad">Too little came back of: ${drill.missed.map((name) => kindName(name).toLowerCase()).join(", ")}.</p>`}
    ${open && html`<${Table} drill=${drill} texts=${texts} />`}
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
    <p class="quiet">Simulates the loss of the context at the task's last compaction, in a throwaway copy, and lists what comes back.</p>
    <form class="filters" onSubmit=${run}>
      <select name="task" aria-label="Task" required>${tasks.map((task) => html`<option key=${task.id} value=${task.id} selected=${task.id === chosen}>${short(task.name, 90)}</option>`)}</select>
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
  const points = [...results].reverse().map((drill, index) => ({ x: index, y: share(...came(drill, "usual")) || 0 }));
  const every = { rows: results.flatMap((drill) => drill.rows) };
  const [[ours, of], [hosts, ofHosts]] = [came(every, "usual"), came(every, "host")];
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
