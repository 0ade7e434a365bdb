// What happens, as it happens. One stream of all tasks for the whole page; each event is told once, in order,
// also over a restart of the server: the position of the last one is what the stream goes on from.
import { useEffect, useRef, useState } from "./vendor/preact.js";
import { backAgain, get, session } from "./api.js";
import { parsed } from "./format.js";

const RETRY_MS = [250, 500, 1000, 2000];
const MOST_MISSED = 2000;
const HIDDEN_MS = 30_000; // a page that nobody sees gives its connection back: a browser has few

class Live {
  constructor() {
    this.state = "connecting"; // connecting, live, resting
    this.position = 0;
    this.heard = new Set();
    this.watching = new Set();
    this.source = null;
    this.failures = 0;
    this.reset = () => {};
  }

  // Begin after a position. `reset` is called when the page must read everything anew.
  start(position, reset) {
    this.stop();
    this.position = position;
    this.reset = reset;
    this.connect();
    document.addEventListener("visibilitychange", this.seen);
  }

  stop() {
    document.removeEventListener("visibilitychange", this.seen);
    clearTimeout(this.timer);
    clearTimeout(this.hiding);
    this.source?.close();
    this.source = null;
  }

  on(hear) {
    this.heard.add(hear);
    return () => this.heard.delete(hear);
  }

  tell(state) {
    if (state === this.state) return;
    this.state = state;
    for (const watch of this.watching) watch(state);
  }

  connect() {
    this.source?.close();
    const source = new EventSource(`/api/events?brief=1&after=${this.position}`);
    this.source = source;
    source.onopen = () => {
      this.failures = 0;
      this.tell("live");
      backAgain();
    };
    source.onmessage = (message) => {
      const position = Number(message.lastEventId);
      if (position <= this.position) return;
      this.position = position;
      const event = parsed(message.data);
      for (const hear of this.heard) hear(event);
    };
    source.onerror = () => {
      this.tell("connecting");
      source.close();
      if (source === this.source) this.again();
    };
  }

  // Come back by ourselves: a browser gives up at the first answer that is no stream.
  again() {
    const wait = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        await get("/api/events", { brief: 1, after: this.position, limit: 1 });
        this.connect();
      } catch (error) {
        if (error.status === 401) return;
        if (error.code === "stale_version") this.reset(); // the store was put back to an earlier time
        else this.again();
      }
    }, wait);
  }

  // Someone looks again: what happened meanwhile is told, unless it is so much that reading anew is quicker.
  async wake() {
    try {
      const { position } = await session.read();
      if (position - this.position > MOST_MISSED) this.reset();
      else this.connect();
    } catch {
      this.again();
    }
  }

  seen = () => {
    clearTimeout(this.hiding);
    if (document.hidden) {
      this.hiding = setTimeout(() => {
        clearTimeout(this.timer);
        this.source?.close();
        this.source = null;
        this.tell("resting");
      }, HIDDEN_MS);
    } else if (this.state === "resting") {
      this.tell("connecting");
      this.wake();
    }
  };
}

export const live = new Live();

export function useLiveState() {
  const [state, setState] = useState(live.state);
  useEffect(() => {
    live.watching.add(setState);
    setState(live.state);
    return () => live.watching.delete(setState);
  }, []);
  return state;
}

// Hear events for as long as a screen is there, several at a time: those of `gather` milliseconds, and when it has
// dealt with them those that have come meanwhile.
export function useLive(hear, gather = 60) {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    let waiting = [];
    let timer = null;
    let there = true;
    const tell = async () => {
      const events = waiting;
      waiting = [];
      await latest.current(events);
      timer = waiting.length && there ? setTimeout(tell, gather) : null;
    };
    const off = live.on((event) => {
      waiting.push(event);
      timer ??= setTimeout(tell, gather);
    });
    return () => {
      there = false;
      off();
      clearTimeout(timer);
    };
  }, []);
}
