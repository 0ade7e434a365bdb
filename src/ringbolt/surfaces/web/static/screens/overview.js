// All tasks at a glance, live; what needs a person comes first.
import { Component, html, useContext, useEffect, useMemo, useState } from "../vendor/preact.js";
import { get, useData } from "../api.js";
import { useLive } from "../live.js";
import { base, count, plural } from "../format.js";
import { GROUPS, concern, groupOf, lifeWord, partsActivity, standing } from "../groups.js";
import { Ago, Empty, ErrorMessage, Loading, Mark, Now, Progress, TaskLink } from "../parts.js";
import { Bars, lastDay } from "../plots.js";
import { setQuery } from "../router.js";
import { Virtual } from "../virtual.js";

const FILTERS = ["text", "status", "workspace", "agent", "tag", "group"];
const PHONE = matchMedia("(max-width: 720px)");

const HEADING = 40; // as in the style sheet
const CLAIMS_MS = 120_000; // claims are renewed without an event

function useRowHeight() {
  const [phone, setPhone] = useState(PHONE.matches);
  useEffect(() => {
    const changed = () => setPhone(PHONE.matches);
    PHONE.addEventListener("change", changed);
    return () => PHONE.removeEventListener("change", changed);
  }, []);
  return phone ? 92 : 58;
}

// One task. Re-rendered only when the task, its group or the clock tick changes.
class Row extends Component {
  shouldComponentUpdate(next) {
    return next.task !== this.props.task || next.group !== this.props.group || next.minute !== this.props.minute;
  }

  render({ task, group }) {
    const worry = concern(task);
    const word = lifeWord(task, group);
    const doing = task.current_title || task.next_step || task.next_title;
    return html`<li class=${`task-row in-${group}`}>
      <${Mark} status=${group === "stuck" || group === "attention" ? group : task.status} word=${standing(task)} />
      <span class="main">
        <span class="title">${task.kind === "goal" && html`<span class="kind">goal</span> `}<${TaskLink} id=${task.id} className="name">${task.name}<//>${word && html` <span class="kind">${word}</span>`}</span>
        <span class="doing">${worry ? html`<span class="worry">${worry}</span>` : doing ? html`<span class="arrow" aria-hidden="true">→</span> ${doing}` : html`<span class="quiet">${task.phase}</span>`}</span>
      </span>
      <${Progress} done=${task.done} total=${task.total} label=${(task.kind === "goal" ? "criteria of " : "steps of ") + task.name} none=${task.kind === "goal" ? "no criteria" : "no plan"} />
      <span class="by">
        <span class="agent" title="agent">${task.agent || "—"}</span>
        <span class="place" title=${task.workspace || "no workspace"}>${base(task.workspace)}</span>
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
  return html`<figure class="activity">
    <${Bars} bars=${bars} label=${`Events in the last 24 hours: ${all}`} />
    <figcaption>${plural(all, "event")} in the last 24 hours</figcaption>
  </figure>`;
}

function Choice({ name, label, query, options }) {
  const value = query.get(name) || "";
  return html`<select name=${name} aria-label=${label} value=${value} onChange=${(event) => setQuery({ [name]: event.target.value })}>
    <option value="">${label}: all</option>
    ${(value && !options.includes(value) ? [value, ...options] : options).map(
      (option) => html`<option key=${option} value=${option}>${name === "workspace" ? folder(option, options) : option}</option>`,
    )}
  </select>`;
}

// A folder's own name, or the whole path if another folder has the same name.
function folder(path, all) {
  return all.some((other) => other !== path && base(other) === base(path)) ? path : base(path);
}

const unique = (values) => [...new Set(values.filter(Boolean))].sort();

function fits(task, query) {
  const text = (query.get("text") || "").toLowerCase();
  return (
    (!text || [task.name, task.id, task.current_title, task.next_step].some((part) => part?.toLowerCase().includes(text))) &&
    (!query.get("status") || standing(task) === query.get("status")) &&
    (!query.get("workspace") || task.workspace === query.get("workspace")) &&
    (!query.get("agent") || task.agent === query.get("agent")) &&
    (!query.get("tag") || task.tags.includes(query.get("tag")))
  );
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

  const all = useMemo(() => (tasks ? [...tasks.values()].sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1)) : []), [tasks]);
  const shown = useMemo(() => {
    const groups = new Map(GROUPS.map(([name]) => [name, []]));
    const parts = partsActivity(tasks || new Map(), now);
    for (const task of all) if (fits(task, query)) groups.get(groupOf(task, now, limits, parts)).push(task);
    return groups;
  }, [all, query, minute, limits]);
  const only = query.get("group") || "";
  const rows = useMemo(() => {
    const found = [];
    for (const [name, title] of GROUPS) {
      const members = shown.get(name);
      if (!members.length || (only && only !== name)) continue;
      found.push({ title, number: members.length, key: name });
      for (const task of members) found.push({ task, group: name, key: task.id });
    }
    return found;
  }, [shown, only]);

  const tops = useMemo(() => {
    const found = [0];
    for (const row of rows) found.push(found.at(-1) + (row.task ? height : HEADING));
    return found;
  }, [rows, height]);

  if (error && !tasks) return html`<${ErrorMessage} error=${error} retry=${reload} />`;
  if (!tasks) return html`<${Loading} what="Loading tasks" />`;
  const filtered = FILTERS.some((name) => query.get(name));
  return html`<div class="overview">
    <h1 class="hidden">Overview</h1>
    <div class="glance">
      <div class="chips" role="group" aria-label="Groups">
        ${GROUPS.map(
          ([name, title]) =>
            html`<button key=${name} type="button" class=${`chip in-${name}`} aria-pressed=${only === name}
              onClick=${() => setQuery({ group: only === name ? "" : name })}>
              <strong>${count(shown.get(name).length)}</strong> ${title.toLowerCase()}
            </button>`,
        )}
      </div>
      ${activity && html`<${Activity} found=${activity} fresh=${fresh} />`}
    </div>
    <form class="filters" role="search" onSubmit=${(event) => event.preventDefault()}>
      <input type="search" name="text" placeholder="Filter tasks" aria-label="Filter tasks by text" value=${query.get("text") || ""}
        onInput=${(event) => setQuery({ text: event.target.value })} />
      <${Choice} name="status" label="Status" query=${query} options=${unique(all.map(standing))} />
      <${Choice} name="workspace" label="Workspace" query=${query} options=${unique(all.map((task) => task.workspace))} />
      <${Choice} name="agent" label="Agent" query=${query} options=${unique(all.map((task) => task.agent))} />
      <${Choice} name="tag" label="Tag" query=${query} options=${unique(all.flatMap((task) => task.tags))} />
      ${filtered && html`<button type="button" class="link" onClick=${() => setQuery(Object.fromEntries(FILTERS.map((name) => [name, ""])))}>Clear</button>`}
    </form>
    <${ErrorMessage} error=${error} retry=${reload} />
    ${
      rows.length
        ? html`<${Virtual} window count=${rows.length} tops=${tops} label="Tasks" className="tasks"
            row=${(index) => {
              const row = rows[index];
              return row.task
                ? html`<${Row} key=${row.key} task=${row.task} group=${row.group} minute=${minute} />`
                : html`<${Heading} key=${row.key} title=${row.title} number=${row.number} />`;
            }} />`
        : html`<${Empty}>${filtered ? "No tasks match these filters." : "No tasks yet. A task appears here as soon as an agent starts one."}<//>`
    }
  </div>`;
}
