// Every call of the server. An error has the server's code, its words, and what to do next.
import { parsed } from "./format.js";
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

const PAGE = { "X-Ringbolt-Page": "1" };
let signedOut = () => {};

// What to do when the server no longer knows this browser.
export function onSignedOut(tell) {
  signedOut = tell;
}

async function answered(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, {
      code: "no_answer",
      message: "The server does not answer.",
      hint: "Look whether ringbolt serve still runs. This page goes on by itself when it is back.",
    });
  }
  const told = await response.text().then(parsed).catch(() => null);
  if (response.ok && told) return told.data;
  const error = told?.error || { code: `http_${response.status}`, message: response.statusText || "No answer." };
  if (response.status === 401 && options.expected !== 401) signedOut();
  throw new ApiError(response.status, error);
}

export function get(path, query = {}, options = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const said = new URLSearchParams(kept).toString();
  return answered(path + (said ? "?" + said : ""), { headers: PAGE, ...options });
}

// An operation by its name: call("task_get", { task_id: id }).
export function call(operation, given = {}, options = {}) {
  return answered("/api/" + operation, {
    method: "POST",
    headers: { ...PAGE, "Content-Type": "application/json" },
    body: JSON.stringify(given),
    ...options,
  });
}

export const session = {
  read: () => answered("/api/session", { headers: PAGE, expected: 401 }),
  open: (token) => call("session", { token }, { expected: 401 }),
  close: () => answered("/api/session", { method: "DELETE", headers: PAGE }),
};

const waiting = new Set();

// Be called each time that the server is back, until the function that this gives is called.
export function whenBack(again) {
  waiting.add(again);
  return () => waiting.delete(again);
}

// The server is back: whatever could not be read meanwhile is read now.
export function backAgain() {
  for (const again of [...waiting]) again();
}

// What a screen reads: asked again when `keys` change, and by reload(). Old data stays until the new is there, and
// what failed is tried again when the server is back.
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
    return state.error ? whenBack(reload) : undefined;
  }, [state.error, reload]);
  return { ...state, reload };
}
