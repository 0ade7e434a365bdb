// What a person can do with a task. Whatever matters is asked for once more before it is done.
import { html, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { Ask, say } from "./parts.js";

const ENDED = new Set(["completed", "failed", "cancelled", "abandoned", "superseded"]);

// A plan from its titles: what stays is the step that it was, with its stage and with what it waits for.
function edited(task, titles) {
  const left = task.items.filter((item) => !item.dropped_in);
  // Of several steps with one title each line is the next one.
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

// Each: when it is there, what is asked, and what is done with the answers.
const ACTIONS = [
  {
    name: "pause",
    word: "Pause",
    when: (task) => task.status === "active" || task.status === "waiting",
    title: "Pause this task?",
    about: "The agent is told with its next packet. Nothing is lost, and it can be resumed.",
    fields: () => [{ name: "message", label: "Why (optional)" }],
    act: (task, { message }) => call("task_update", { task_id: task.id, status: "paused", message: message || null }),
    said: "The task is paused.",
  },
  {
    name: "resume",
    word: "Resume",
    when: (task) => task.status === "paused" || ENDED.has(task.status),
    title: "Resume this task?",
    about: "It becomes active again.",
    fields: () => [{ name: "message", label: "A word to go on with (optional)" }],
    act: (task, { message }) => call("task_update", { task_id: task.id, status: "active", message: message || null }),
    said: "The task is active again.",
  },
  {
    name: "instruct",
    word: "Add an instruction",
    when: (task) => !ENDED.has(task.status),
    title: "Instruction for the agent",
    about: "It arrives in the next packet as an instruction of the user, and stays until it is replaced.",
    fields: () => [{ name: "text", label: "Instruction", kind: "long", required: true }],
    act: (task, { text }) => call("task_remember", { task_id: task.id, summary: text, type: "user_instruction" }),
    yes: "Add it",
    said: "The instruction is in the next packet.",
    user: true,
  },
  {
    name: "plan",
    word: "Edit the plan",
    when: (task) => !ENDED.has(task.status) && task.kind !== "goal",
    title: "Edit the plan",
    about: "One step a line. A step whose title stays keeps its status; one that is left out stays visible as dropped.",
    fields: (task) => [
      {
        name: "plan",
        label: "Steps",
        kind: "long",
        rows: 12,
        required: true,
        value: task.items.filter((item) => !item.dropped_in).map((item) => item.title).join("\n"),
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
    said: "The plan was replaced; the earlier one stays readable.",
  },
  {
    name: "finish",
    word: "Finish",
    when: (task) => !ENDED.has(task.status),
    title: "Finish this task?",
    about: "It ends as completed, with this answer.",
    fields: (task) => [
      { name: "answer", label: "Answer", kind: "long", required: true },
      ...(task.kind === "goal" ? [{ name: "despite", label: "Why, if criteria are open (optional)" }] : []),
    ],
    act: (task, { answer, despite }) =>
      task.kind === "goal" ? call("goal_finish", { goal_id: task.id, answer, despite: despite || null }) : call("task_finish", { task_id: task.id, answer }),
    said: "The task is finished.",
  },
  {
    name: "cancel",
    word: "Cancel",
    danger: true,
    when: (task) => !ENDED.has(task.status),
    title: "Cancel this task?",
    about: "It ends as cancelled. Its history stays, and it can be resumed.",
    fields: () => [{ name: "message", label: "Why", required: true }],
    act: (task, { message }) => call("task_finish", { task_id: task.id, status: "cancelled", message }),
    yes: "Cancel the task",
    said: "The task is cancelled.",
  },
  {
    name: "undo",
    word: "Undo the last change",
    when: (task) => task.seq > 1,
    title: "Undo the last change?",
    about: "The last event that can be taken back is. Nothing is erased, and the undoing can be undone.",
    fields: () => [{ name: "reason", label: "Why (optional)" }],
    act: (task, { reason }) => call("task_undo", { task_id: task.id, reason: reason || null }),
    said: "The last change was taken back.",
  },
];

// `seen` is the task as it was when it was asked: what has changed since is not overwritten.
function Asking({ action, seen, close, done }) {
  return html`<${Ask} title=${action.title} yes=${action.yes || action.word} danger=${action.danger} fields=${action.fields(seen)}
    close=${close} act=${(given) => action.act(seen, given)} done=${() => (say(action.said), done())}>
    <p>${action.about}</p>
  <//>`;
}

export function Actions({ task, may, done }) {
  const [asking, setAsking] = useState(null);
  const offered = may.write ? ACTIONS.filter((action) => action.when(task) && (!action.user || may.user)) : [];
  return html`<div class="actions" role="group" aria-label="Actions">
    ${offered.map((action) => html`<button key=${action.name} type="button" class=${action.danger ? "danger" : ""} onClick=${() => setAsking({ action, seen: task })}>${action.word}</button>`)}
    <a class="button" href=${`/api/tasks/${encodeURIComponent(task.id)}/handoff.md`} download=${`${task.id}.handoff.md`}>Download hand-off</a>
    ${asking && html`<${Asking} key=${asking.action.name} ...${asking} close=${() => setAsking(null)} done=${done} />`}
  </div>`;
}
