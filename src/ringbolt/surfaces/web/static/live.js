// Live events: one stream of all tasks for the whole page. Each event is delivered once and in order, even across a
// restart of the server, because the stream resumes from the position of the last event.
import { useEffect, useRef, useState } from "./vendor/preact.js";
import { get, pageHeaders, reconnected, session } from "./api.js";
import { parseJson } from "./format.js";

const RETRY_MS = [250, 500, 1000, 2000];
const MOST_MISSED = 2000;
const HIDDEN_MS = 30_000; // a hidden page gives up its connection: a browser allows few per host

// Server-sent events over fetch: the browser's own EventSource cannot send the session in a header.
class EventStream {
  constructor(path) {
    this.path = path;
    this.ending = new AbortController();
    this.onopen = this.onmessage = this.onend = () => {};
  }

  async read() {
    try {
      const headers = pageHeaders({ Accept: "text/event-stream" });
      const response = await fetch(this.path, { credentials: "omit", headers, signal: this.ending.signal });
      if (response.ok) {
        this.onopen();
        await this.deliver(response.body.pipeThrough(new TextDecoderStream()).getReader());
      } else {
        await response.body?.cancel();
      }
    } catch {
      // The connection broke, or close() was called.
    }
    if (!this.ending.signal.aborted) this.onend();
  }

  async deliver(reader) {
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || this.ending.signal.aborted) return;
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const field = (name) => block.split("\n").find((line) => line.startsWith(name))?.slice(name.length);
        const data = field("data: ");
        if (data !== undefined) this.onmessage(field("id: "), data);
      }
    }
  }

  close() {
    this.ending.abort();
  }
}

class Live {
  constructor() {
    this.state = "connecting"; // connecting, live, resting
    this.position = 0;
    this.eventListeners = new Set();
    this.stateListeners = new Set();
    this.source = null;
    this.failures = 0;
    this.reset = () => {};
    this.awake = false; // stay connected while the page is hidden
  }

  // Start after a position. `reset` is called when the page must reload everything.
  start(position, reset) {
    this.stop();
    this.position = position;
    this.reset = reset;
    this.connect();
    document.addEventListener("visibilitychange", this.onVisibilityChange);
  }

  stop() {
    document.removeEventListener("visibilitychange", this.onVisibilityChange);
    clearTimeout(this.timer);
    clearTimeout(this.hiding);
    this.source?.close();
    this.source = null;
  }

  on(listener) {
    this.eventListeners.add(listener);
    return () => this.eventListeners.delete(listener);
  }

  setState(state) {
    if (state === this.state) return;
    this.state = state;
    for (const listener of this.stateListeners) listener(state);
  }

  connect() {
    this.source?.close();
    const source = new EventStream(`/api/events?brief=1&after=${this.position}`);
    this.source = source;
    source.onopen = () => {
      this.failures = 0;
      this.setState("live");
      reconnected();
    };
    source.onmessage = (id, data) => {
      const position = Number(id);
      if (position <= this.position) return;
      this.position = position;
      const event = parseJson(data);
      for (const listener of this.eventListeners) listener(event);
    };
    source.onend = () => {
      if (source !== this.source) return;
      this.setState("connecting");
      this.retryLater();
    };
    source.read();
  }

  // Ask first why the stream has ended: signed out, an older store, or a server that is not there.
  retryLater() {
    const wait = RETRY_MS[Math.min(this.failures++, RETRY_MS.length - 1)];
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      try {
        await get("/api/events", { brief: 1, after: this.position, limit: 1 });
        this.connect();
      } catch (error) {
        if (error.status === 401) return;
        if (error.code === "stale_version") this.reset(); // the store was restored to an earlier state
        else this.retryLater();
      }
    }, wait);
  }

  // The page is visible again: catch up on missed events, or reload everything if there are too many.
  async wake() {
    try {
      const { position } = await session.read();
      if (position - this.position > MOST_MISSED) this.reset();
      else this.connect();
    } catch {
      this.retryLater();
    }
  }

  onVisibilityChange = () => {
    clearTimeout(this.hiding);
    if (document.hidden && !this.awake) {
      this.hiding = setTimeout(() => {
        clearTimeout(this.timer);
        this.source?.close();
        this.source = null;
        this.setState("resting");
      }, HIDDEN_MS);
    } else if (!document.hidden && this.state === "resting") {
      this.setState("connecting");
      this.wake();
    }
  };
}

export const live = new Live();

export function useLiveState() {
  const [state, setState] = useState(live.state);
  useEffect(() => {
    live.stateListeners.add(setState);
    setState(live.state);
    return () => live.stateListeners.delete(setState);
  }, []);
  return state;
}

// Pass live events to a handler while the component is mounted, in batches: it gets everything that arrived within
// `batchMs`, and the next batch only after it has finished with the last.
export function useLive(handler, batchMs = 60) {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    let pending = [];
    let timer = null;
    let mounted = true;
    const deliver = async () => {
      const events = pending;
      pending = [];
      await latest.current(events);
      timer = pending.length && mounted ? setTimeout(deliver, batchMs) : null;
    };
    const unsubscribe = live.on((event) => {
      pending.push(event);
      timer ??= setTimeout(deliver, batchMs);
    });
    return () => {
      mounted = false;
      unsubscribe();
      clearTimeout(timer);
    };
  }, []);
}
