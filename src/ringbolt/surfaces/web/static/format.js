// Formatting of times, sizes, counts and JSON.
const UNITS = [
  [60, "s"],
  [60, "min"],
  [24, "h"],
  [30, "d"],
  [12, "mo"],
  [Infinity, "y"],
];

export function seconds(text) {
  return text ? Date.parse(text) / 1000 : null;
}

// 90 → "1 min", 4000 → "1 h"
export function span(length) {
  if (length == null || Number.isNaN(length)) return "";
  let value = length < 0.05 ? 0 : length;
  for (const [size, unit] of UNITS) {
    if (value < size) return `${value < 10 && unit === "s" && value % 1 ? value.toFixed(1) : Math.floor(value)} ${unit}`;
    value /= size;
  }
  return "";
}

export function ago(text, now) {
  const at = seconds(text);
  if (at == null) return "unknown";
  const length = now - at;
  return length < 5 ? "now" : `${span(Math.floor(length))} ago`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const SHORT = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });

export function moment(text) {
  const at = Date.parse(text);
  return Number.isNaN(at) ? String(text ?? "") : CLOCK.format(at);
}

export function clock(text) {
  const at = Date.parse(text);
  return Number.isNaN(at) ? "" : SHORT.format(at);
}

export function day(text) {
  const at = Date.parse(text);
  return Number.isNaN(at) ? "" : DAY.format(at);
}

export function bytes(count) {
  let value = count;
  for (const unit of ["B", "kB", "MB", "GB"]) {
    if (value < 1000 || unit === "GB") return `${value < 10 && unit !== "B" ? value.toFixed(1) : Math.round(value)} ${unit}`;
    value /= 1000;
  }
  return "";
}

export function count(number) {
  return Number(number ?? 0).toLocaleString("en");
}

export function plural(number, one, many = one + "s") {
  return `${count(number)} ${number === 1 ? one : many}`;
}

// The last part of a path: the folder's own name.
export function base(path) {
  return path ? path.replace(/\/+$/, "").split("/").pop() || path : "";
}

// Invisible characters that change how others are displayed: controls, directions, zero width, tags.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

// Text in which those are made visible: ⟨U+202E⟩.
export function clean(text) {
  return text.replace(HIDDEN, (letter) => (letter === "\r" ? "" : `⟨U+${letter.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));
}

// A text on one line, cut off after a word.
export function short(text, letters) {
  const line = clean(text).replace(/\s+/g, " ").trim();
  if (line.length <= letters) return line;
  const space = line.lastIndexOf(" ", letters - 1);
  return line.slice(0, space > letters / 2 ? space : letters - 1) + "…";
}

// The server escapes them as \\u…. Most responses have none and skip the slow path.
const ESCAPED = /\\u(?:00[0189]|007f|00ad|061c|180e|20[0-6]|feff|fff[9ab]|db40)/i;

// Parse JSON and clean every string value. Keys stay as they are, because they are sent back to the server.
export function parseJson(json) {
  if (!ESCAPED.test(json)) return JSON.parse(json);
  return JSON.parse(json, (_, value) => (typeof value === "string" ? clean(value) : value));
}

// Any JSON value as text.
export function shown(value) {
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

// Names of event kinds for people; the server sends them with the session (model/event_names.py).
let eventNames = {};

export function setEventNames(names) {
  eventNames = names || {};
}

export function eventName(type) {
  return eventNames[type] || String(type).replaceAll("_", " ");
}

// A path, or a text with paths, as seen from the root of the task's folder.
export function local(text, workspace) {
  const root = workspace?.replace(/\/+$/, "");
  return root ? String(text ?? "").replaceAll(root + "/", "") : String(text ?? "");
}
