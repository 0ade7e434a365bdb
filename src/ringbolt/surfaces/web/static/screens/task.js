// One task: its current state and everything remembered about it. Each tab is a module of its own.
import { html, useEffect, useRef, useState } from "../vendor/preact.js";
import { call, get, useData } from "../api.js";
import { Actions } from "../actions.js";
import { base } from "../format.js";
import { useLive } from "../live.js";
import { Markdown } from "../markdown.js";
import { Ago, ErrorBoundary, ErrorMessage, Loading, Progress, Status } from "../parts.js";
import { hrefTo } from "../router.js";
import { Needs } from "./task_needs.js";
import { Story } from "./task_story.js";
import { Timeline } from "./task_timeline.js";
import { Memory } from "./task_memory.js";
import { Work } from "./task_work.js";
import { Thread } from "./task_thread.js";
import { PacketTab } from "./task_packet.js";
import { TimeTravel } from "./task_time.js";

const TABS = [
  ["story", "Story", Story],
  ["timeline", "Timeline", Timeline],
  ["memory", "Memory", Memory],
  ["work", "Work", Work],
  ["thread", "Thread", Thread],
  ["packet", "Resume packet", PacketTab],
  ["time", "Time travel", TimeTravel],
];

function Tabs({ id, tab }) {
  const bar = useRef();
  // On a phone the tabs scroll: the one that is shown must be visible.
  useEffect(() => {
    const chosen = bar.current.querySelector("[aria-current]");
    bar.current.scrollLeft = chosen.offsetLeft - bar.current.offsetLeft - (bar.current.clientWidth - chosen.offsetWidth) / 2;
  }, [tab]);
  return html`<nav class="tabs" ref=${bar} aria-label="Parts of the task">
    ${TABS.map(([name, title]) => html`<a key=${name} href=${hrefTo(["task", id], { tab: name })} aria-current=${tab === name ? "page" : undefined}>${title}</a>`)}
  </nav>`;
}

// The task, plus its agent and progress, which only the overview knows.
async function readTask(id) {
  const task = await call("task_get", { task_id: id });
  const { tasks } = await get("/api/overview", { ids: task.id });
  const { agent, done, total, branch, repository, waits } = tasks[0] || task;
  return { ...task, agent, done, total, branch, place: repository, waits };
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
  const tab = TABS.some(([name]) => name === route.query.get("tab")) ? route.query.get("tab") : "story";
  const [, title, Part] = TABS.find(([name]) => name === tab);
  return html`<article class="task">
    <header class="task-head">
      <div class="task-title"><a class="back" href="#/" aria-label="Back to the overview">‹</a><h1 title=${task.name}>${task.name}</h1></div>
      <${Actions} task=${task} may=${may} done=${reload} />
      <p class="task-line">
        <${Status} status=${task.status} word=${task.life} />
        ${task.kind === "goal" && html`<span class="kind">goal</span>`}
        <${Progress} done=${task.done} total=${task.total} none="" />
        <span class="quiet task-by">${[task.agent, base(task.place || task.workspace), task.branch].filter(Boolean).join(" · ")} · <${Ago} at=${task.updated_at} /></span>
      </p>
    </header>
    <${Needs} task=${task} may=${may} done=${reload} focus=${route.query.get("on") === "you"} />
    ${task.answer && html`<div class="note good"><strong>Answer:</strong> <${Markdown} text=${task.answer} /></div>`}
    <${ErrorMessage} error=${error} retry=${reload} />
    <${Tabs} id=${task.id} tab=${tab} />
    <${ErrorBoundary} of=${tab}>
      <div class="tab" aria-label=${title}><${Part} key=${tab} task=${task} route=${route} may=${may} reload=${reload} last=${Math.max(last, task.seq)} /></div>
    <//>
  </article>`;
}
