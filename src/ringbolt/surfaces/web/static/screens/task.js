// One task: its current state and everything remembered about it. Each tab is a module of its own.
import { html, useEffect, useState } from "../vendor/preact.js";
import { call, get, useData } from "../api.js";
import { Actions } from "../actions.js";
import { base, count } from "../format.js";
import { useLive } from "../live.js";
import { Ago, ErrorBoundary, ErrorMessage, Loading, Progress, Status, TaskLink, Text } from "../parts.js";
import { hrefTo } from "../router.js";
import { Approvals } from "./task_approvals.js";
import { AskBox } from "./task_ask.js";
import { Plan } from "./task_plan.js";
import { LinkedTask } from "./task_goal.js";
import { Timeline } from "./task_timeline.js";
import { Memory } from "./task_memory.js";
import { Work } from "./task_work.js";
import { Thread } from "./task_thread.js";
import { PacketTab } from "./task_packet.js";
import { TimeTravel } from "./task_time.js";

const TABS = [
  ["plan", "Plan", Plan],
  ["timeline", "Timeline", Timeline],
  ["memory", "Memory", Memory],
  ["work", "Work", Work],
  ["thread", "Thread", Thread],
  ["packet", "Resume packet", PacketTab],
  ["time", "Time travel", TimeTravel],
];

function Facts({ task }) {
  const goals = task.links.filter((link) => link.kind === "goal");
  const facts = [
    ["Agent", task.agent],
    ["Workspace", task.workspace && html`<span title=${task.workspace}>${base(task.workspace)}</span>`],
    ["Session", task.session],
    ["Phase", task.phase],
    ["Reason", task.reason],
    ["Events", count(task.seq)],
    ["Started", html`<${Ago} at=${task.created_at} />`],
    ["Last activity", html`<${Ago} at=${task.updated_at} />`],
    ["Parent", task.parent && html`<${TaskLink} id=${task.parent}>${task.parent}<//>`],
    ["Goal", goals.length > 0 && goals.map((link, index) => html`${index ? ", " : ""}<${LinkedTask} target=${link.target} />`)],
    ["Tags", task.tags.join(", ")],
  ].filter(([, value]) => value);
  return html`<dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

function Tabs({ id, tab, task }) {
  return html`<nav class="tabs" aria-label="Parts of the task">
    ${TABS.map(
      ([name, title]) =>
        html`<a key=${name} href=${hrefTo(["task", id], { tab: name })} aria-current=${tab === name ? "page" : undefined}>
          ${title}${name === "timeline" && html` <span class="count">${count(task.seq)}</span>`}
        </a>`,
    )}
  </nav>`;
}

// The task, plus its agent and progress, which only the overview knows.
async function readTask(id) {
  const task = await call("task_get", { task_id: id });
  const { tasks } = await get("/api/overview", { ids: task.id });
  const { agent, done, total } = tasks[0] || task;
  return { ...task, agent, done, total };
}

export function TaskScreen({ route, may }) {
  const id = route.parts[1] || "";
  const { data: task, error, reload } = useData(() => readTask(id), [id]);
  const [last, setLast] = useState(0); // the newest event that the stream delivered
  useLive((events) => {
    const mine = events.filter((event) => event.task_id === task?.id);
    if (!mine.length) return undefined;
    setLast(mine.at(-1).seq);
    return reload();
  }, 120);
  useEffect(() => {
    if (task) document.title = `${task.name.slice(0, 80)} · Ringbolt`;
  }, [task?.name]);

  if (!task) return error ? html`<${ErrorMessage} error=${error} retry=${reload} />` : html`<${Loading} what="Loading the task" />`;
  const tab = TABS.some(([name]) => name === route.query.get("tab")) ? route.query.get("tab") : "plan";
  const [, title, Part] = TABS.find(([name]) => name === tab);
  return html`<article class="task">
    <header class="task-head">
      <p class="crumb"><a href="#/">Overview</a> / <code>${task.id}</code></p>
      <h1>${task.name}</h1>
      <div class="task-line">
        <${Status} status=${task.status} word=${task.life} />
        ${task.kind === "goal" && html`<span class="kind">goal</span>`}
        <${Progress} done=${task.done} total=${task.total} none=${task.kind === "goal" ? "no criteria" : "no plan"} />
        ${task.current_title && html`<span class="current">→ ${task.current_title}</span>`}
      </div>
      <${Facts} task=${task} />
      ${task.attention && html`<p class="note bad"><strong>Needs attention:</strong> <${Text} text=${task.attention} /></p>`}
      <${Approvals} task=${task} may=${may} done=${reload} />
      ${task.blockers.length > 0 && html`<p class="note bad"><strong>Blocked:</strong> <${Text} text=${task.blockers.join(" · ")} /></p>`}
      ${task.answer && html`<p class="note good"><strong>Answer:</strong> <${Text} text=${task.answer} /></p>`}
      ${task.error && html`<p class="note bad"><strong>Failed:</strong> <${Text} text=${task.error.message} /></p>`}
      <${Actions} task=${task} may=${may} done=${reload} />
    </header>
    <${ErrorMessage} error=${error} retry=${reload} />
    <${AskBox} task=${task} />
    <${Tabs} id=${task.id} tab=${tab} task=${task} />
    <${ErrorBoundary} of=${tab}>
      <div class="tab" aria-label=${title}><${Part} key=${tab} task=${task} route=${route} may=${may} reload=${reload} last=${Math.max(last, task.seq)} /></div>
    <//>
  </article>`;
}
