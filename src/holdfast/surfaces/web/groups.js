// Which group a task is shown in: what needs a person first.
import { seconds } from "./format.js";

export const GROUPS = [
  ["attention", "Needs attention"],
  ["stuck", "Stuck"],
  ["active", "Active"],
  ["waiting", "Waiting"],
  ["paused", "Paused"],
  ["stale", "Stale"],
  ["finished", "Recently finished"],
];
const OPEN = new Set(["active", "waiting", "paused"]);
const FOR_PEOPLE = new Set(["approval", "input", "auth"]);

// Why a person should look at a task; empty if nobody need to.
export function concern(task) {
  if (!OPEN.has(task.status)) return "";
  if (task.attention) return task.attention;
  if (FOR_PEOPLE.has(task.reason)) return `waits for ${task.reason}`;
  if (task.questions) return task.questions === 1 ? "has a question" : `has ${task.questions} questions`;
  if (task.blockers.length) return `blocked: ${task.blockers[0]}`;
  return "";
}

export function groupOf(task, now, limits) {
  if (!OPEN.has(task.status)) return "finished";
  if (concern(task)) return "attention";
  const idle = now - seconds(task.updated_at);
  if (idle > limits.stale_seconds) return "stale";
  if (task.status === "active" && !task.waits && limits.stuck_seconds != null && idle > limits.stuck_seconds) return "stuck";
  return task.status;
}
