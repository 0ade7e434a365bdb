// What a person can do with a task. Every action is confirmed in a dialog first.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { call, download, useData } from "./api.js";
import { short } from "./format.js";
import { ConfirmDialog, ErrorMessage, notify } from "./parts.js";

const ENDED = new Set(["completed", "failed", "cancelled", "abandoned", "superseded"]);

// A plan made from edited titles: a title that stays keeps its step, with its stage and dependencies.
function edited(task, titles) {
  const left = task.steps.filter((item) => !item.dropped_in);
  // Several steps may share a title; they are matched in order.
  const found = titles.map((title) => {
    const at = left.findIndex((item) => item.title === title);
    return at < 0 ? null : left.splice(at, 1)[0];
  });
  const kept = found.map((item) => item?.id);
  return titles.map((title, index) => {
    const item = found[index];
    if (!item) return { title };
    const step = { ...item.detail, id: item.id, title, depends_on: item.depends_on.filter((other) => kept.includes(other)) };
    return item.stage ? { ...step, stage: item.stage } : step;
  });
}

const LETTERS = 90; // of an instruction or a name in a list of choices

// The instructions of the user with which another request may begin.
function beginnings(task) {
  return task.instructions.filter((entry) => entry.seq > 1 && (entry.origin.channel === "user" || entry.tags.includes("request")));
}

// The open tasks of the same workspace that can be merged into a task.
async function mergeable(task) {
  const { tasks } = await call("task_list", { workspace: task.workspace || "*", limit: 200 });
  return tasks.filter((other) => other.id !== task.id && other.kind === "task" && other.workspace === task.workspace);
}

// For each action: when it is offered, what the dialog asks, and what it calls.
const ACTIONS = [
  {
    name: "instruct",
    first: true,
    word: "Instruct",
    when: (task) => !ENDED.has(task.status),
    title: "Instruction for the agent",
    about: "It arrives in the next packet as a user instruction and stays in force until it is replaced.",
    fields: () => [{ name: "text", label: "Instruction", kind: "long", required: true }],
    act: (task, { text }) => call("task_remember", { task_id: task.id, summary: text, type: "user_instruction" }),
    yes: "Add instruction",
    notice: "The instruction will be in the next packet.",
    user: true,
  },
  {
    name: "pause",
    first: true,
    word: "Pause",
    when: (task) => task.status === "active" || task.status === "waiting",
    title: "Pause this task?",
    about: "The agent reads it in its next packet. Nothing is lost, and the task can be resumed.",
    fields: () => [{ name: "message", label: "Why (optional)" }],
    act: (task, { message }) => call("task_update", { task_id: task.id, status: "paused", message: message || null }),
    notice: "The task is paused.",
  },
  {
    name: "resume",
    first: true,
    word: "Resume",
    when: (task) => task.status === "paused" || ENDED.has(task.status),
    title: "Resume this task?",
    about: "The task becomes active again.",
    fields: () => [{ name: "message", label: "Message for the agent (optional)" }],
    act: (task, { message }) => call("task_update", { task_id: task.id, status: "active", message: message || null }),
    notice: "The task is active again.",
  },
  {
    name: "plan",
    word: "Edit the plan",
    when: (task) => !ENDED.has(task.status) && task.kind !== "goal",
    title: "Edit the plan",
    about: "One step per line. A step keeps its status if its title is unchanged; removed steps stay visible as dropped.",
    fields: (task) => [
      {
        name: "plan",
        label: "Steps",
        kind: "long",
        rows: 12,
        required: true,
        value: task.steps.filter((item) => !item.dropped_in).map((item) => item.title).join("\n"),
      },
      { name: "reason", label: "Why the plan changes", required: true },
    ],
    act: (task, { plan, reason }) =>
      call("task_plan_replace", {
        task_id: task.id,
        plan: edited(task, plan.split("\n").map((line) => line.trim()).filter(Boolean)),
        reason,
        expect: task.version,
      }),
    yes: "Replace the plan",
    notice: "The plan was replaced. The earlier plan can still be read.",
  },
  {
    name: "split",
    word: "Split",
    when: (task) => !ENDED.has(task.status) && task.kind !== "goal" && beginnings(task).length > 0,
    title: "Split this task?",
    about: "An instruction, and what was recorded since, becomes a task of its own. “Undo the last change” joins them again.",
    fields: (task) => [
      {
        name: "at",
        label: "The new task begins with",
        kind: "choice",
        options: beginnings(task).reverse().map((entry) => [entry.seq, `#${entry.seq} ${short(entry.summary, LETTERS)}`]),
      },
      { name: "name", label: "Name of the new task (optional)" },
    ],
    act: (task, { at, name }) => call("task_split", { task_id: task.id, at: Number(at), name: name.trim() || null }),
    yes: "Split the task",
    notice: (written) => `The new task is ${written.task_id}.`,
  },
  {
    name: "merge",
    word: "Merge",
    when: (task) => !ENDED.has(task.status) && task.kind !== "goal",
    title: "Merge another task into this one?",
    about: "The other task ends as superseded; its request, open steps and memory become part of this one. “Undo the last change” separates them again.",
    fields: async (task) => [
      {
        name: "other",
        label: "The task to merge",
        kind: "choice",
        required: true,
        options: (await mergeable(task)).map((other) => [other.id, `${short(other.name, LETTERS)} (${other.id})`]),
        hint: "The other open tasks of this workspace.",
      },
    ],
    act: (task, { other }) => call("task_merge", { task_id: task.id, other }),
    yes: "Merge the tasks",
    notice: "The other task is now part of this one.",
  },
  {
    name: "finish",
    word: "Finish",
    when: (task) => !ENDED.has(task.status),
    title: "Finish this task?",
    about: "The task ends as completed, with this answer.",
    fields: (task) => [
      { name: "answer", label: "Answer", kind: "long", required: true },
      ...(task.kind === "goal" ? [{ name: "despite", label: "Why, if criteria are still open (optional)" }] : []),
    ],
    act: (task, { answer, despite }) =>
      task.kind === "goal" ? call("goal_finish", { goal_id: task.id, answer, despite: despite || null }) : call("task_finish", { task_id: task.id, answer }),
    notice: "The task is finished.",
  },
  {
    name: "cancel",
    word: "Cancel",
    danger: true,
    when: (task) => !ENDED.has(task.status),
    title: "Cancel this task?",
    about: "The task ends as cancelled. Its history is kept, and it can be resumed.",
    fields: () => [{ name: "message", label: "Why", required: true }],
    act: (task, { message }) => call("task_finish", { task_id: task.id, status: "cancelled", message }),
    yes: "Cancel the task",
    notice: "The task is cancelled.",
  },
  {
    name: "undo",
    word: "Undo the last change",
    when: (task) => task.seq > 1,
    title: "Undo the last change?",
    about: "This reverts the last event that can be undone. Nothing is erased, and the undo can itself be undone.",
    fields: () => [{ name: "reason", label: "Why (optional)" }],
    act: (task, { reason }) => call("task_undo", { task_id: task.id, reason: reason || null }),
    notice: "The last change was undone.",
  },
];

// `seen` is the task as it was when the dialog opened, so that later changes are not overwritten.
function ActionDialog({ action, seen, close, done }) {
  const { data: fields, error } = useData(async () => action.fields(seen), [action, seen]);
  if (error) return html`<${ErrorMessage} error=${error} />`;
  if (!fields) return null;
  const act = async (answers) => {
    const written = await action.act(seen, answers);
    notify(typeof action.notice === "function" ? action.notice(written) : action.notice);
  };
  return html`<${ConfirmDialog} title=${action.title} yes=${action.yes || action.word} danger=${action.danger} fields=${fields} close=${close} act=${act} done=${done}>
    <p>${action.about}</p>
  <//>`;
}

// The rest of the actions, out of the way until somebody opens the menu.
function Menu({ label, children }) {
  const menu = useRef();
  const shut = () => menu.current && (menu.current.open = false);
  useEffect(() => {
    const outside = (event) => !menu.current?.contains(event.target) && shut();
    const escape = (event) => event.key === "Escape" && menu.current?.open && (shut(), menu.current.firstChild.focus());
    addEventListener("click", outside);
    addEventListener("keydown", escape);
    return () => (removeEventListener("click", outside), removeEventListener("keydown", escape));
  }, []);
  return html`<details class="menu" ref=${menu}><summary class="button">${label}</summary><div class="menu-list" onClick=${shut}>${children}</div></details>`;
}

export function Actions({ task, may, done }) {
  const [asking, setAsking] = useState(null);
  const path = `/api/tasks/${encodeURIComponent(task.id)}/handoff.md`;
  const save = (event) => {
    event.preventDefault();
    download(path, `${task.id}.handoff.md`).catch((error) => notify(error.message));
  };
  const offered = may.write ? ACTIONS.filter((action) => action.when(task) && (!action.user || may.user)) : [];
  const button = (action) => html`<button key=${action.name} type="button" class=${action.danger ? "danger" : ""} onClick=${() => setAsking({ action, seen: task })}>${action.word}</button>`;
  return html`<div class="actions" role="group" aria-label="Actions">
    ${offered.filter((action) => action.first).map(button)}
    <${Menu} label="More">
      ${offered.filter((action) => !action.first && !action.danger).map(button)}
      <a class="button" href=${path} onClick=${save}>Download hand-off</a>
      ${offered.filter((action) => action.danger).map(button)}
    <//>
    ${asking && html`<${ActionDialog} key=${asking.action.name} ...${asking} close=${() => setAsking(null)} done=${done} />`}
  </div>`;
}
