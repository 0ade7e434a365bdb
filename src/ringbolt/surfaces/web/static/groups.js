// How a task stands, in the words of the ledger (`life`, see ledger/task_life.py), and where the overview lists it.
import { base, seconds } from "./format.js";

// The states in the order in which they matter to a person; `you` needs somebody to act.
export const STATES = [
  ["attention", "needs you", true],
  ["stuck", "stuck", true],
  ["yours", "waiting for you", true],
  ["active", "active"],
  ["waiting", "waiting"],
  ["paused", "resting"],
  ["finished", "done"],
];
const RANK = new Map(STATES.map(([name], index) => [name, index]));
const NEEDS_PERSON = new Set(STATES.filter(([, , you]) => you).map(([name]) => name));
const OPEN = new Set(["active", "waiting", "paused"]);
const BY_LIFE = { "waiting for you": "yours", "held up": "waiting", resting: "paused", stuck: "stuck" };
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

// What a person is asked, in the words of the task; empty if nothing.
export function concern(task) {
  if (!OPEN.has(task.status)) return "";
  if (task.attention) return task.attention;
  if (task.questions) return task.asks ? `Asks: ${task.asks}` : "has a question";
  if (task.decisions) return `Wants your decision: ${(task.decides || "").replace(/^.*?manual:| decided$/g, "") || "see the task"}`;
  if (FOR_PEOPLE.has(task.reason)) return `Waiting for ${task.reason}`;
  if (task.blockers.length) return `Blocked: ${task.blockers[0]}`;
  return "";
}

export function stateOf(task, now, limits, parts = new Map()) {
  if (!OPEN.has(task.status)) return "finished";
  if (concern(task)) return "attention";
  if (task.kind === "goal") return task.status; // work happens in its tasks, not in the goal itself
  if (BY_LIFE[task.life]) return BY_LIFE[task.life];
  const claimed = task.claimed_until && seconds(task.claimed_until) > now; // heartbeats are not events
  const idle = claimed ? 0 : now - Math.max(seconds(task.updated_at), parts.get(task.id) || 0);
  // A session that has gone silent since its task was read; without a session nobody can say so.
  if (task.life === "at work" && limits.stuck_seconds != null && idle > limits.stuck_seconds) return "stuck";
  // Called active, but nobody is known to work on it and nothing has happened for long.
  if (task.status === "active" && idle > limits.stale_seconds) return "paused";
  return task.status;
}

// The word for a state: the ledger's own, unless the page knows better.
export function stateWord(task, state) {
  if (state === "finished") return task.life || task.status;
  if (state === "waiting" || state === "paused") return task.life && task.life !== "active" && task.life !== "at work" ? task.life : STATES[RANK.get(state)][1];
  if (state === "active") return task.life || task.status; // "at work" only if a session is known
  return STATES[RANK.get(state)][1];
}

export const needsPerson = (state) => NEEDS_PERSON.has(state);
export const rank = (state) => RANK.get(state);

// The sections of the overview: what needs a person, then one for each repository, then what is done.
export function sections(tasks) {
  const found = new Map();
  const add = (key, title, entry) => {
    if (!found.has(key)) found.set(key, { key, title, entries: [] });
    found.get(key).entries.push(entry);
  };
  const open = tasks.filter(({ state }) => state !== "finished");
  for (const entry of open) if (needsPerson(entry.state)) add("you", "Needs you", entry);
  const places = [...new Set(open.map(({ task }) => task.repository).filter(Boolean))];
  for (const entry of open) if (!needsPerson(entry.state)) add("in " + entry.task.repository, folderName(entry.task.repository, places) || "No folder", entry);
  for (const entry of tasks) if (entry.state === "finished") add("done", "Done", entry);
  for (const { key, entries } of found.values()) if (key !== "done") entries.sort((a, b) => rank(a.state) - rank(b.state));
  return [...found.values()];
}

// A folder's own name, with the folder around it if another one has the same name.
export function folderName(path, all) {
  const name = base(path);
  if (!all.some((other) => other !== path && base(other) === name)) return name;
  return path.replace(/\/+$/, "").split("/").slice(-2).join("/");
}
