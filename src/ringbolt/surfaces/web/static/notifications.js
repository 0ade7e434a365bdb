// Browser notifications, only if a person turned them on: when a task begins to need somebody, and when it ends.
import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { get } from "./api.js";
import { concern, needsPerson, stateOf, stateWord } from "./groups.js";
import { live, useLive } from "./live.js";
import { notify } from "./parts.js";

const STORED = "ringbolt.notify";
const MOST_AT_ONCE = 50;

const allowed = () => "Notification" in window && Notification.permission === "granted" && localStorage.getItem(STORED) === "on";

function announce(task, state) {
  const shown = new Notification(task.name, { body: concern(task) || stateWord(task, state), tag: task.id });
  shown.onclick = () => {
    focus();
    location.hash = `#/task/${encodeURIComponent(task.id)}${needsPerson(state) ? "?on=you" : ""}`;
  };
}

// Watches the states of all tasks and announces changes that matter to a person.
function Watcher() {
  const states = useRef(null);
  const read = async (ids) => {
    const found = await get("/api/overview", { ids }).catch(() => null);
    return (found?.tasks || []).map((task) => [task, stateOf(task, found.now, found)]);
  };
  useEffect(() => {
    live.awake = true;
    read("").then((found) => (states.current = new Map(found.map(([task, state]) => [task.id, state]))));
    return () => void (live.awake = false);
  }, []);
  useLive(async (events) => {
    if (!states.current) return;
    const ids = [...new Set(events.map((event) => event.task_id))].slice(0, MOST_AT_ONCE);
    for (const [task, state] of await read(ids.join(","))) {
      const before = states.current.get(task.id);
      states.current.set(task.id, state);
      if (before !== state && (needsPerson(state) || (state === "finished" && before))) announce(task, state);
    }
  }, 400);
  return null;
}

export function NotifyButton() {
  const [on, setOn] = useState(allowed);
  if (!("Notification" in window)) return null;
  const change = async () => {
    if (on) {
      localStorage.removeItem(STORED);
      return setOn(false);
    }
    if ((await Notification.requestPermission()) !== "granted") return notify("The browser does not allow notifications for this page.");
    localStorage.setItem(STORED, "on");
    notify("You are notified when a task needs you or ends, as long as this page is open.");
    return setOn(true);
  };
  return html`<button type="button" class="quiet-button notify" aria-pressed=${on} title="Notify me when a task needs me or ends" onClick=${change}>${on ? "Notifying" : "Notify me"}</button>${on && html`<${Watcher} />`}`;
}
