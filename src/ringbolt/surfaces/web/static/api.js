// All requests to the server. An ApiError carries the server's code, message and hint.
import { parseJson } from "./format.js";
import { useCallback, useEffect, useRef, useState } from "./vendor/preact.js";

export class ApiError extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint || "";
    this.details = error.details || {};
  }
}

// The session is in this tab only, and goes to our own server only, in a header. A cookie would go to every port of
// the host. A new tab signs in again; a reload does not.
const STORED = "ringbolt.session";
let secret = sessionStorage.getItem(STORED) || "";
let signedOut = () => {};

function keep(session) {
  secret = session;
  if (session) sessionStorage.setItem(STORED, session);
  else sessionStorage.removeItem(STORED);
}

// The headers of every request of the page.
export function pageHeaders(more = {}) {
  return { "X-Ringbolt-Page": "1", ...(secret ? { Authorization: `Bearer ${secret}` } : {}), ...more };
}

// Register what to do when the session has expired or was ended.
export function onSignedOut(handler) {
  signedOut = handler;
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "omit", ...options, headers: pageHeaders(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {
      code: "no_answer",
      message: "The server is not responding.",
      hint: "Check that ringbolt serve is still running. This page reconnects by itself.",
    });
  }
  const body = await response.text().then(parseJson).catch(() => null);
  if (response.ok && body) return body.data;
  const error = body?.error || { code: `http_${response.status}`, message: response.statusText || "No response." };
  if (response.status === 401) keep("");
  if (response.status === 401 && options.expected !== 401) signedOut();
  throw new ApiError(response.status, error);
}

export function get(path, query = {}, options = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const search = new URLSearchParams(kept).toString();
  return request(path + (search ? "?" + search : ""), options);
}

// Call an operation by name: call("task_get", { task_id: id }).
export function call(operation, args = {}, options = {}) {
  return request("/api/" + operation, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(args),
    ...options,
  });
}

export const session = {
  read: () => {
    if (secret) return request("/api/session", { expected: 401 });
    return Promise.reject(new ApiError(401, { code: "no_token", message: "Not signed in." }));
  },
  // Sign in with { token } or with { code }, the one-time code of a sign-in link.
  open: async (proof) => keep((await call("session", proof, { expected: 401 })).session),
  close: () => request("/api/session", { method: "DELETE" }).finally(() => keep("")),
};

// Save what a path returns as a file: a link could not send the session.
export async function download(path, name) {
  const response = await fetch(path, { credentials: "omit", headers: pageHeaders() });
  if (!response.ok) throw new ApiError(response.status, (await response.json()).error);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

const reconnectHandlers = new Set();

// Call `handler` whenever the server is reachable again. Returns a function that unsubscribes.
export function onReconnect(handler) {
  reconnectHandlers.add(handler);
  return () => reconnectHandlers.delete(handler);
}

export function reconnected() {
  for (const handler of [...reconnectHandlers]) handler();
}

// Data for a screen: loaded again when `keys` change and on reload(). Old data stays until the new has arrived, and
// failed reads are retried when the server is back.
export function useData(read, keys) {
  const [state, setState] = useState({ data: null, error: null, loading: true });
  const turn = useRef(0);
  const reload = useCallback(async () => {
    const mine = ++turn.current;
    setState((before) => ({ ...before, loading: true }));
    try {
      const data = await read();
      if (mine === turn.current) setState({ data, error: null, loading: false });
    } catch (error) {
      if (mine === turn.current) setState((before) => ({ data: before.data, error, loading: false }));
    }
  }, keys);
  useEffect(() => {
    reload();
    return () => void turn.current++;
  }, [reload]);
  useEffect(() => {
    return state.error ? onReconnect(reload) : undefined;
  }, [state.error, reload]);
  return { ...state, reload };
}
