// Routing by the part of the address after `#`. It holds everything a screen shows, so any view can be bookmarked.
import { useEffect, useState } from "./vendor/preact.js";

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function currentRoute() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
}

// A link: hrefTo(["task", id], { tab: "plan" }). Empty values are left out.
export function hrefTo(parts, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== "" && value != null);
  const search = new URLSearchParams(kept).toString();
  return "#/" + parts.map(encodeURIComponent).join("/") + (search ? "?" + search : "");
}

// Change part of the query in place, so that filters do not fill the browser history.
export function setQuery(changes) {
  const { parts, query } = currentRoute();
  history.replaceState(null, "", hrefTo(parts, { ...Object.fromEntries(query), ...changes }));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

export function useRoute() {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const moved = () => setRoute(currentRoute());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return route;
}
