// The differences between two states of a task, as lines to read: { what, before, after }.
import { clean, shown } from "./format.js";

const PLAIN = [
  ["name", "name"],
  ["status", "status"],
  ["phase", "phase"],
  ["reason", "reason"],
  ["goal", "goal"],
  ["next_step", "next"],
  ["attention", "attention"],
  ["current_title", "current step"],
  ["session", "session"],
  ["archived", "archived"],
  ["answer", "answer"],
];
const LISTS = [
  ["decisions", "decision", (entry) => entry.data.choice || entry.summary],
  ["exclusions", "ruled out", (entry) => entry.summary],
  ["questions", "question", (entry) => entry.summary],
  ["instructions", "instruction", (entry) => entry.summary],
  ["errors", "error", (entry) => entry.summary],
  ["notes", "note", (entry) => entry.summary],
  ["effects", "open side effect", (entry) => entry.what],
  ["claims", "claim", (claim) => `${claim.holder} ${claim.step || "the task"}`],
  ["files", "file", (file) => `${file.change} ${file.path}`],
];

function keyed(list, describe) {
  return new Map(list.map((entry) => [entry.seq ?? describe(entry), entry]));
}

export function differences(before, after) {
  const found = [];
  const add = (what, was, is) => found.push({ what, before: was, after: is });
  for (const [field, word] of PLAIN) if ((before[field] ?? "") !== (after[field] ?? "")) add(word, before[field], after[field]);
  if (before.blockers.join("\n") !== after.blockers.join("\n")) add("blockers", before.blockers.join("; "), after.blockers.join("; "));
  const steps = new Map(before.steps.map((item) => [item.id, item]));
  for (const item of after.steps) {
    const was = steps.get(item.id);
    const word = `step ${item.ordinal + 1}`;
    if (!was) add(word, null, item.title);
    else {
      if (was.title !== item.title) add(`${word} title`, was.title, item.title);
      if (was.status !== item.status) add(`${word} “${item.title}”`, was.status, item.status);
      else if (was.evidence !== item.evidence) add(`${word} “${item.title}”`, was.evidence, item.evidence);
      if (!was.dropped_in && item.dropped_in) add(`${word} “${item.title}”`, "in the plan", "dropped");
      if ((was.note || "") !== (item.note || "")) add(`${word} note`, was.note, item.note);
    }
  }
  for (const [field, word, describe] of LISTS) {
    const old = keyed(before[field], describe);
    const now = keyed(after[field], describe);
    for (const [key, entry] of now) if (!old.has(key)) add(word, null, describe(entry));
    for (const [key, entry] of old) if (!now.has(key)) add(word, describe(entry), null);
  }
  for (const name of new Set([...Object.keys(before.variables), ...Object.keys(after.variables)])) {
    const [was, is] = [before.variables[name], after.variables[name]];
    if (JSON.stringify(was) !== JSON.stringify(is)) add(`value ${clean(name)}`, was === undefined ? null : shown(was), is === undefined ? null : shown(is));
  }
  return found;
}
