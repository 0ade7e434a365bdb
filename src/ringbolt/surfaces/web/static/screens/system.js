// The state of Ringbolt itself: health, queue, mirrors, model costs, store size, and response times.
import { html, useEffect, useState } from "../vendor/preact.js";
import { ApiError, call, get, pageHeaders, useData } from "../api.js";
import { bytes, count, plural, span } from "../format.js";
import { useLive } from "../live.js";
import { Inline } from "../markdown.js";
import { latencies, samples } from "../metrics.js";
import { Ago, ConfirmDialog, Empty, ErrorMessage, Loading, Section, notify } from "../parts.js";
import { Plot, lastDay } from "../plots.js";
import { Tidy } from "./tidy.js";

const WORST = ["problem", "warning", "ok"];

function verdict(findings) {
  const bad = findings.filter((finding) => finding.state !== "ok");
  return bad.length ? html`<strong>${plural(bad.length, "thing needs", "things need")} you:</strong> ${bad.length === 1 ? "it says" : "each says"} what to do.` : "Everything is in order.";
}

// Checks whose name needs more words here.
const CHECKS = { modes: "file access", log: "log file", queue: "background jobs", tokens: "token counts", servers: "packages", embedder: "search by meaning" };
const STATES = { ok: "completed", warning: "waiting", problem: "failed" };

async function readMetrics() {
  const response = await fetch("/metrics", { credentials: "omit", headers: pageHeaders() });
  if (!response.ok) throw new ApiError(response.status, { code: `http_${response.status}`, message: "The metrics could not be read." });
  return samples(await response.text());
}

function Health() {
  const { data, error, loading, reload } = useData(() => get("/api/doctor"), []);
  return html`<${Section} title="Health" aside=${html`<button type="button" class="link" disabled=${loading} onClick=${reload}>${loading ? "checking …" : "check again"}</button>`}>
    <${ErrorMessage} error=${error} retry=${reload} />
    ${!data && !error && html`<${Loading} what="Running checks" />`}
    ${data &&
    html`<p>${verdict(data)}</p><ul class="findings">${[...data].sort((a, b) => WORST.indexOf(a.state) - WORST.indexOf(b.state)).map(
      (finding) => html`<li key=${finding.what} class=${"finding is-" + STATES[finding.state]}>
        <span class=${"mark is-" + STATES[finding.state]} role="img" aria-label=${finding.state}>${finding.state === "ok" ? "✓" : "!"}</span>
        <strong>${CHECKS[finding.what] || finding.what}</strong> <span class="message">${finding.message}</span>${finding.fix && html`<p class=${finding.state === "ok" ? "fix quiet" : "fix"}>→ <${Inline} text=${finding.fix} /></p>`}
      </li>`,
    )}</ul>`}
  <//>`;
}

function Store({ system, activity }) {
  const days = [];
  for (let step = 29; step >= 0; step--) {
    const name = new Date((activity.now - step * 86400) * 1000).toISOString().slice(0, 10);
    days.push({ value: activity.days[name] || 0, label: `${name}: ${plural(activity.days[name] || 0, "event")}` });
  }
  const month = days.reduce((all, one) => all + one.value, 0);
  const size = system.store.bytes + (system.store.log_bytes || 0);
  const perEvent = system.events ? system.store.bytes / system.events : 0; // the write-ahead log does not grow with the events
  return html`<${Section} title="Store">
    <dl class="figures">
      <div><dt>Size</dt><dd>${bytes(size)}</dd></div>
      <div><dt>Tasks</dt><dd>${count(system.tasks)}</dd></div>
      <div><dt>Events</dt><dd>${count(system.events)}</dd></div>
      <div><dt>Engine</dt><dd>${system.store.engine}</dd></div>
    </dl>
    <${Plot} bars=${days} label=${`Events in the last 30 days: ${month}`} caption=${`${plural(month, "event")} a month, about ${bytes(month * perEvent)}`} from="30 days ago" to="today" />
  <//>`;
}

function Queue({ system, may, reload }) {
  const { jobs } = system;
  const [retrying, setRetrying] = useState(null);
  return html`<${Section} title="Work in the background" count=${jobs.waiting + jobs.leased}>
    <dl class="figures">
      <div><dt>Waiting</dt><dd>${count(jobs.waiting)}</dd></div>
      <div><dt>Running</dt><dd>${count(jobs.leased)}</dd></div>
      <div class=${jobs.dead ? "bad" : ""}><dt>Failed permanently</dt><dd>${count(jobs.dead)}</dd></div>
    </dl>
    ${Object.entries(jobs.kinds).length > 0 && html`<ul class="lines">${Object.entries(jobs.kinds).map(([kind, states]) => html`<li key=${kind}><span class="kind">${kind}</span> ${Object.entries(states).map(([state, number]) => `${number} ${state}`).join(", ")}</li>`)}</ul>`}
    ${jobs.oldest && html`<p class="quiet">the oldest was queued <${Ago} at=${jobs.oldest} /></p>`}
    <h3>Workers</h3>
    ${!jobs.workers.length && html`<p class="quiet">No worker has run yet.</p>`}
    <ul class="lines workers">${jobs.workers.map(
      (worker) => html`<li key=${worker.holder}><span class=${worker.alive ? "proof verified" : "proof"}>${worker.alive ? "running" : worker.ended_at ? "stopped" : "lost"}</span> <code>${worker.holder}</code> <span class="quiet">last seen <${Ago} at=${worker.seen_at} />${worker.kinds.length > 0 && ` · ${worker.kinds.join(", ")}`}</span></li>`,
    )}</ul>
    ${jobs.failing.map((job) => html`<p key=${job.id} class="quiet"><span class="kind">${job.kind}</span> ${job.task_id || job.key} failed, and will be tried again: <code>${job.error}</code></p>`)}
    ${jobs.given_up.map(
      (job) => html`<div key=${job.id} class="entry"><p><span class="kind">${job.kind}</span> ${job.task_id} <code>${job.error}</code></p>
        ${may.write && html`<button type="button" onClick=${() => setRetrying(job)}>Retry …</button>`}</div>`,
    )}
    ${retrying &&
    html`<${ConfirmDialog} title="Retry this job?" yes="Retry" close=${() => setRetrying(null)}
      act=${() => call("jobs_retry", { id: retrying.id })} done=${() => (notify("The job is queued again."), reload())} />`}
  <//>`;
}

function Mirrors({ mirrors }) {
  return html`<${Section} title="Files kept up to date" count=${mirrors.length}>
    ${!mirrors.length && html`<${Empty}>None are set up.<//>`}
    <ul class="lines">${mirrors.map((mirror) => html`<li key=${mirror.kind + mirror.path}><span class=${mirror.stale ? "proof unsure" : "proof verified"}>${mirror.stale ? "stale" : "up to date"}</span> <span class="kind">${mirror.kind}</span> <code>${mirror.path}</code> <span class="quiet">${mirror.reasons.join(", ")}</span></li>`)}</ul>
  <//>`;
}

function Models({ system }) {
  const days = system.spending;
  const all = (field) => days.reduce((sum, row) => sum + row[field], 0);
  const byDay = new Map();
  for (const row of days) byDay.set(row.day, (byDay.get(row.day) || 0) + row.tokens_in + row.tokens_out);
  return html`<${Section} title="Models">
    ${!system.models.length && html`<${Empty}>No model has been used: answers and summaries come from the ledger alone.<//>`}
    ${system.models.length > 0 &&
    html`<dl class="figures"><div><dt>Tokens in 30 days</dt><dd>${count(all("tokens_in") + all("tokens_out"))}</dd></div><div><dt>Cost in 30 days</dt><dd>${all("cost").toFixed(4)}</dd></div></dl>
      ${byDay.size > 0 && html`<${Plot} bars=${[...byDay].map(([name, value]) => ({ value, label: `${name}: ${count(value)} tokens` }))} label="Tokens by day" caption="tokens by day" from=${[...byDay.keys()][0]} to=${[...byDay.keys()].at(-1)} />`}
      <ul class="lines">${system.models.map((model) => html`<li key=${model.model}><strong>${model.model}</strong> ${plural(model.calls, "call")}, ${count(model.tokens_in)} tokens in, ${count(model.tokens_out)} out, cost ${model.cost.toFixed(4)}</li>`)}</ul>`}
  <//>`;
}

function Speed({ metrics, rate, activity }) {
  const routes = latencies(metrics).filter((route) => route.route !== "/api/events" && route.count).sort((a, b) => b.count - a.count);
  const bounds = routes[0]?.buckets.map((bucket) => bucket.le) || [];
  let before = 0;
  const bars = bounds.map((le, index) => {
    const total = routes.reduce((sum, route) => sum + route.buckets[index].value, 0);
    const value = total - before;
    before = total;
    return { value, label: `${le === Infinity ? "slower" : "up to " + le * 1000 + " ms"}: ${plural(value, "request")}`, kind: le > 0.25 ? "bad" : le > 0.05 ? "warn" : "" };
  });
  const value = (name) => metrics.find((one) => one.name === name)?.value ?? 0;
  const word = (seconds) => (seconds === Infinity ? "> 10 s" : `≤ ${seconds * 1000} ms`);
  return html`<${Section} title="Speed">
    <dl class="figures">
      <div><dt>Events per minute</dt><dd>${count(rate)}</dd></div>
      <div><dt>Requests</dt><dd>${count(routes.reduce((sum, route) => sum + route.count, 0))}</dd></div>
      <div><dt>Open pages</dt><dd>${count(value("ringbolt_http_streams"))}</dd></div>
    </dl>
    ${activity && html`<${Plot} bars=${lastDay(activity)} label="Events in the last 24 hours" caption="events in ten minutes" from="24 h ago" to="now" />`}
    <${Plot} bars=${bars} label="Requests by duration" caption="requests since the start, by duration" from="1 ms" to="over 10 s" />
    <div class="scroll" tabindex="0" role="region" aria-label="Latency by route"><table><caption class="hidden">Latency by route</caption>
      <thead><tr><th scope="col">Route</th><th scope="col">Requests</th><th scope="col">Half within</th><th scope="col">95 % within</th></tr></thead>
      <tbody>${routes.slice(0, 12).map((route) => html`<tr key=${route.route}><th scope="row"><code>${route.route}</code></th><td>${count(route.count)}</td><td>${word(route.p50)}</td><td>${word(route.p95)}</td></tr>`)}</tbody></table></div>
  <//>`;
}

// How many events the stream delivered in the last minute.
function useRate() {
  const [times, setTimes] = useState([]);
  useLive((events) => setTimes((before) => [...before, ...events.map(() => Date.now())].slice(-10_000)), 500);
  useEffect(() => {
    const timer = setInterval(() => setTimes((before) => before.filter((at) => at > Date.now() - 60_000)), 2000);
    return () => clearInterval(timer);
  }, []);
  return times.length;
}

export function System({ may }) {
  const system = useData(() => get("/api/system"), []);
  const activity = useData(() => get("/api/activity"), []);
  const metrics = useData(readMetrics, []);
  const rate = useRate();
  useEffect(() => {
    const timer = setInterval(() => (system.reload(), metrics.reload()), 10_000);
    return () => clearInterval(timer);
  }, [system.reload, metrics.reload]);
  const error = system.error || activity.error || metrics.error;
  return html`<div class="system stack">
    <h1>System</h1>
    <${ErrorMessage} error=${error} retry=${() => (system.reload(), activity.reload(), metrics.reload())} />
    <div class="columns even">
      <div class="stack"><${Health} /><${Tidy} may=${may} />${system.data && html`<${Mirrors} mirrors=${system.data.mirrors} />`}</div>
      <div class="stack">
        ${system.data && activity.data ? html`<${Store} system=${system.data} activity=${activity.data} />` : html`<${Loading} />`}
        ${system.data && html`<${Queue} system=${system.data} may=${may} reload=${system.reload} /><${Models} system=${system.data} />`}
        ${metrics.data && html`<${Speed} metrics=${metrics.data} rate=${rate} activity=${activity.data} />`}
      </div>
    </div>
    ${system.data && html`<p class="quiet">Ringbolt ${system.data.version}, up ${span(system.data.up_seconds)}</p>`}
  </div>`;
}
