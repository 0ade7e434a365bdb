// Which group of the overview a task belongs to; what needs a person comes first.
import { seconds } from "./format.js";

export const GROUPS = [
  ["attention", "Needs attention"],
  ["stuck", "Stuck"],
  ["yours", "Waiting for you"],
  ["active", "At work"],
  ["waiting", "Waiting"],
  ["paused", "Resting"],
  ["stale", "Stale"],
  ["finished", "Done"],
];
const OPEN = new Set(["active", "waiting", "paused"]);
// Where a task's session says more than its status (`life`, see ledger/task_life.py): the group it is in.
const BY_LIFE = { "waiting for you": "yours", "held up": "waiting", resting: "paused", stuck: "stuck" };
// The words that a group's heading says already.
const SAID = {
  yours: ["waiting for you"],
  active: ["at work", "active"],
  waiting: ["waiting"],
  paused: ["resting"],
  stuck: ["stuck", "active", "at work"],
  finished: ["done"],
};
const FOR_PEOPLE = new Set(["approval", "input", "auth"]);

// When the sub-tasks of each task were last active, by task id: a task with busy sub-tasks is not idle.
export function partsActivity(tasks, now) {
  const found = new Map();
  for (const task of tasks.values()) {
    const at = task.status === "waiting" ? now : seconds(task.updated_at);
    const seen = new Set([task.id]);
    for (let above = task.parent; above && !seen.has(above); above = tasks.get(above)?.parent) {
      seen.add(above);
      found.set(above, Math.max(found.get(above) || 0, at));
    }
  }
  return found;
}

// Why a person should look at a task; empty if there is no reason.
export function concern(task) {
  if (!OPEN.has(task.status)) return "";
  if (task.attention) return task.attention;
  if (FOR_PEOPLE.has(task.reason)) return `waiting for ${task.reason}`;
  if (task.questions) return task.questions === 1 ? "has a question" : `has ${task.questions} questions`;
  if (task.decisions) return task.decisions === 1 ? "waiting for a decision" : `waiting for ${task.decisions} decisions`;
  if (task.blockers.length) return `blocked: ${task.blockers[0]}`;
  return "";
}

// How a task stands: the word that lists and packets use too.
export function standing(task) {
  return task.life || task.status;
}

// The same word, where the heading of the task's group does not say it.
export function lifeWord(task, group) {
  const word = standing(task);
  return (SAID[group] || ["active", "at work"]).includes(word) ? "" : word;
}

export function groupOf(task, now, limits, parts = new Map()) {
  if (!OPEN.has(task.status)) return "finished";
  if (concern(task)) return "attention";
  if (task.kind === "goal") return task.status; // work happens in its tasks, not in the goal itself
  const claimed = task.claimed_until && seconds(task.claimed_until) > now; // heartbeats are not events
  const idle = claimed ? 0 : now - Math.max(seconds(task.updated_at), parts.get(task.id) || 0);
  if (idle > limits.stale_seconds) return "stale";
  if (BY_LIFE[task.life]) return BY_LIFE[task.life];
  // A session that has gone silent since its task was read; without a session nobody can say so.
  if (task.life === "at work" && limits.stuck_seconds != null && idle > limits.stuck_seconds) return "stuck";
  return task.status;
}
