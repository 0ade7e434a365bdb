// All tasks at a glance, live; what needs a person comes first.
import { Component, html, useCallback, useContext, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { get, useData } from "../api.js";
import { useLive } from "../live.js";
import { count, plural } from "../format.js";
import { STATES, concern, folderName, needsPerson, partsActivity, sections, stateOf, stateWord } from "../groups.js";
import { onRowKey } from "../keys.js";
import { Ago, Empty, ErrorMessage, Loading, Mark, Now, Progress, TaskLink, notify } from "../parts.js";
import { Plot, lastDay } from "../plots.js";
import { setQuery } from "../router.js";
import { Virtual } from "../virtual.js";

const FILTERS = ["text", "repository", "agent", "tag", "state"];
const PHONE = matchMedia("(max-width: 720px)");

const HEADING = 40; // as in the style sheet
const CLAIMS_MS = 120_000; // claims are renewed without an event

const rowHeight = () => parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10);

// The height of a row, which is another one on a phone.
function useRowHeight() {
  const [height, setHeight] = useState(rowHeight);
  useEffect(() => {
    const changed = () => setHeight(rowHeight());
    PHONE.addEventListener("change", changed);
    return () => PHONE.removeEventListener("change", changed);
  }, []);
  return height;
}

// One task. Re-rendered only when the task, its state or the clock tick changes.
class Row extends Component {
  shouldComponentUpdate(next) {
    return ["task", "state", "minute", "place", "chosen"].some((name) => next[name] !== this.props[name]);
  }

  render({ task, state, place, chosen }) {
    const worry = concern(task);
    const word = stateWord(task, state);
    const open = state !== "finished";
    const now = (open && task.next_step) || task.doing || task.current_title || task.next_title;
    return html`<li class=${`task-row in-${state}${chosen ? " chosen" : ""}`} data-id=${task.id}>
      <${Mark} status=${state === "stuck" || state === "attention" ? state : task.status} word=${word} />
      <span class="main">
        <span class="title">${task.kind === "goal" && html`<span class="kind">goal</span> `}<${TaskLink} id=${task.id} query=${needsPerson(state) ? { on: "you" } : {}} className="name">${task.name}<//> <span class=${"state of-" + state}>${word}</span></span>
        <span class="doing">${worry ? html`<span class="worry">${worry}</span>` : html`${open && task.current_title && html`<span class="step-now">${task.current_title}${now && now !== task.current_title ? " · " : ""}</span>`}${now !== task.current_title && now}`}</span>
      </span>
      <${Progress} done=${task.done} total=${task.total} label=${(task.kind === "goal" ? "criteria of " : "steps of ") + task.name} none="" />
      <span class="by">
        <span class="agent" title="agent">${task.agent}</span>
        <span class="place" title=${[task.workspace, task.branch && "branch " + task.branch].filter(Boolean).join(", ")}>${[place, task.branch].filter(Boolean).join(" · ")}</span>
      </span>
      <span class="when"><${Ago} at=${task.updated_at} /></span>
    </li>`;
  }
}

function Heading({ title, number }) {
  return html`<li class="group-row"><h2>${title} <span class="count">${number}</span></h2></li>`;
}

function Activity({ found, fresh }) {
  const bars = lastDay(found, fresh);
  const all = bars.reduce((sum, bar) => sum + bar.value, 0);
  return html`<${Plot} className="activity" bars=${bars} label=${`Events in the last 24 hours: ${all}`} caption=${`${plural(all, "event")} in 24 hours`} from="24 h ago" to="now" />`;
}

function Choice({ name, label, query, options }) {
  const value = query.get(name) || "";
  return html`<select name=${name} aria-label=${label} value=${value} onChange=${(event) => setQuery({ [name]: event.target.value })}>
    <option value="">${label}</option>
    ${(value && !options.includes(value) ? [value, ...options] : options).map(
      (option) => html`<option key=${option} value=${option}>${name === "repository" ? folderName(option, options) : option}</option>`,
    )}
  </select>`;
}

const unique = (values) => [...new Set(values.filter(Boolean))].sort();

function fits(task, query) {
  const text = (query.get("text") || "").toLowerCase();
  return (
    (!text || [task.name, task.id, task.current_title, task.next_step, task.branch].some((part) => part?.toLowerCase().includes(text))) &&
    (!query.get("repository") || task.repository === query.get("repository")) &&
    (!query.get("agent") || task.agent === query.get("agent")) &&
    (!query.get("tag") || task.tags.includes(query.get("tag")))
  );
}

// The order of the rows: the latest activity first, as it was when a task was first seen, so that rows do not jump
// about under the reader while events come in.
function useOrder(tasks) {
  const seen = useRef(new Map());
  return useMemo(() => {
    for (const task of tasks?.values() || []) if (!seen.current.has(task.id)) seen.current.set(task.id, task.updated_at);
    return tasks ? [...tasks.values()].sort((a, b) => (seen.current.get(a.id) < seen.current.get(b.id) ? 1 : -1)) : [];
  }, [tasks]);
}

const FIRST_STEPS = [
  ["Connect a host", "Its sessions become tasks automatically, and survive a compaction.", "ringbolt install claude-code"],
  ["Import your history", "Sessions that Claude Code or Codex have already recorded.", "ringbolt capture ~/.claude/projects"],
  ["See it work", "A deployment whose process is really killed, and another process finishes it.", "ringbolt demo"],
];

function Welcome() {
  const copy = (line) => navigator.clipboard.writeText(line).then(() => notify("Copied. Paste it into a terminal."), () => notify("The browser did not allow copying."));
  return html`<section class="welcome" aria-label="First steps">
    <h2>No tasks yet</h2>
    <p class="quiet">A task appears here as soon as an agent starts one.</p>
    <ol>${FIRST_STEPS.map(
      ([title, about, line]) => html`<li key=${line} class="panel"><h3>${title}</h3><p class="quiet">${about}</p>
        <p class="command"><code>${line}</code> <button type="button" onClick=${() => copy(line)}>Copy</button></p></li>`,
    )}</ol>
  </section>`;
}

// Tasks by id, kept up to date by the stream: a task with a new event is loaded again.
function useTasks() {
  const { data, error, reload } = useData(() => get("/api/overview"), []);
  const [news, setNews] = useState(null);
  useEffect(() => setNews(data ? new Map(data.tasks.map((task) => [task.id, task])) : null), [data]);
  useLive(async (events) => {
    const ids = [...new Set(events.map((event) => event.task_id))];
    if (ids.length > 50) return reload(); // reloading all of them is as fast
    const found = await get("/api/overview", { ids: ids.join(",") }).catch(() => null);
    if (!found) return reload();
    setNews((before) => {
      if (!before) return before;
      const next = new Map(before);
      for (const task of found.tasks) {
        if (task.archived) next.delete(task.id);
        else next.set(task.id, task);
      }
      return next;
    });
  });
  const claimed = data?.tasks.some((task) => task.claimed_until);
  useEffect(() => {
    const timer = claimed ? setInterval(reload, CLAIMS_MS) : 0;
    return () => clearInterval(timer);
  }, [claimed, reload]);
  return { tasks: news, limits: data, error, reload };
}

function useActivity() {
  const { data, reload } = useData(() => get("/api/activity"), []);
  const [fresh, setFresh] = useState(0);
  useLive((events) => setFresh((before) => before + events.length));
  useEffect(() => setFresh(0), [data]);
  useEffect(() => {
    const timer = setInterval(reload, 300_000);
    return () => clearInterval(timer);
  }, [reload]);
  return { activity: data, fresh };
}

export function Overview({ route }) {
  const now = useContext(Now);
  const { tasks, limits, error, reload } = useTasks();
  const { activity, fresh } = useActivity();
  const height = useRowHeight();
  const { query } = route;
  const minute = Math.floor(now / 5);
  const all = useOrder(tasks);
  const list = useRef();

  const shown = useMemo(() => {
    if (!limits) return [];
    const parts = partsActivity(tasks || new Map(), now);
    return all.filter((task) => fits(task, query)).map((task) => ({ task, state: stateOf(task, now, limits, parts) }));
  }, [all, query, minute, limits]);
  const only = query.get("state") || "";
  const rows = useMemo(() => {
    const found = [];
    for (const { key, title, entries } of sections(only ? shown.filter((entry) => entry.state === only) : shown)) {
      found.push({ title, number: entries.length, key });
      for (const entry of entries) found.push({ ...entry, key: entry.task.id, apart: key === "you" || key === "done" });
    }
    return found;
  }, [shown, only]);
  const tops = useMemo(() => {
    const found = [0];
    for (const row of rows) found.push(found.at(-1) + (row.task ? height : HEADING));
    return found;
  }, [rows, height]);
  const [chosen, move] = useRowKeys(rows, list);
  useEffect(() => onRowKey(move), [move]);

  if (error && !tasks) return html`<${ErrorMessage} error=${error} retry=${reload} />`;
  if (!tasks) return html`<${Loading} what="Loading tasks" />`;
  const filtered = FILTERS.some((name) => query.get(name));
  const places = unique(all.map((task) => task.repository));
  const number = (state) => shown.filter((entry) => entry.state === state).length;
  const choices = [
    ["repository", "All repositories", places],
    ["agent", "All agents", unique(all.map((task) => task.agent))],
    ["tag", "All tags", unique(all.flatMap((task) => task.tags))],
  ].filter(([name, , options]) => options.length > 1 || query.get(name));
  if (!all.length) return html`<h1 class="hidden">Overview</h1><${Welcome} />`;
  return html`<div class="overview">
    <h1 class="hidden">Overview</h1>
    <div class="glance">
      <div class="chips" role="group" aria-label="States">
        ${STATES.filter(([name]) => number(name) || only === name).map(
          ([name, word]) =>
            html`<button key=${name} type="button" class=${`chip in-${name}`} aria-pressed=${only === name}
              onClick=${() => setQuery({ state: only === name ? "" : name })}>
              <strong>${count(number(name))}</strong> ${word}
            </button>`,
        )}
      </div>
      ${activity ? html`<${Activity} found=${activity} fresh=${fresh} />` : html`<div class="activity" />`}
    </div>
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <input type="search" name="text" placeholder="Filter tasks" aria-label="Filter tasks by text" value=${query.get("text") || ""}
        onInput=${(event) => setQuery({ text: event.target.value })} />
      ${choices.map(([name, label, options]) => html`<${Choice} key=${name} name=${name} label=${label} query=${query} options=${options} />`)}
      ${filtered && html`<button type="button" class="link" onClick=${() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>Clear</button>`}
    </form>
    <${ErrorMessage} error=${error} retry=${reload} />
    ${
      rows.length
        ? html`<${Virtual} ref=${list} window count=${rows.length} tops=${tops} label="Tasks" className="tasks"
            row=${(index) => {
              const row = rows[index];
              return row.task
                ? html`<${Row} key=${row.key} task=${row.task} state=${row.state} minute=${minute} chosen=${chosen === row.key} place=${row.apart ? folderName(row.task.repository, places) : ""} />`
                : html`<${Heading} key=${row.key} title=${row.title} number=${row.number} />`;
            }} />`
        : html`<${Empty}>No tasks match these filters.<//>`
    }
  </div>`;
}

// j and k move a mark from row to row, Enter opens it.
function useRowKeys(rows, list) {
  const [chosen, setChosen] = useState("");
  const move = useCallback(
    (key) => {
      const places = rows.map((row, index) => (row.task ? index : -1)).filter((index) => index >= 0);
      const at = places.findIndex((index) => rows[index].key === chosen);
      if (key === "Enter") return void (at >= 0 && document.querySelector(`.task-row[data-id="${chosen}"] .name`)?.click());
      const next = places[Math.max(0, Math.min(places.length - 1, at + (key === "j" ? 1 : at < 0 ? 1 : -1)))];
      if (next === undefined) return;
      setChosen(rows[next].key);
      list.current?.reveal(next);
    },
    [rows, chosen],
  );
  return [chosen, move];
}
