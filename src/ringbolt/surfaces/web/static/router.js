// Where one is: the part of the address after `#`. What a screen shows is all in it, so it can be kept and sent on.
import { useEffect, useState } from "./vendor/preact.js";

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function here() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

// The address of a place: to(["task", id], { tab: "plan" }). Empty values are left out.
export function to(parts, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const said = new URLSearchParams(kept).toString();
  return "#/" + parts.map(encodeURIComponent).join("/") + (said ? "?" + said : "");
}

export function go(parts, query) {
  location.hash = to(parts, query);
}

// Change a part of the query, in the place of the present address: filters do not fill the history.
export function refine(changes) {
  const { parts, query } = here();
  history.replaceState(null, "", to(parts, { ...Object.fromEntries(query), ...changes }));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute() {
  const [route, setRoute] = useState(here);
  useEffect(() => {
    const moved = () => setRoute(here());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return route;
}
