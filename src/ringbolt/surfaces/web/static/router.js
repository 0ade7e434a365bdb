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

// Replace the address, so that the one before is not in the browser history.
export function goTo(parts, query = {}) {
  history.replaceState(null, "", hrefTo(parts, query));
  dispatchEvent(new HashChangeEvent("hashchange"));
}

// Change part of the query in place, so that filters do not fill the browser history.
export function setQuery(changes) {
  const { parts, query } = currentRoute();
  goTo(parts, { ...Object.fromEntries(query), ...changes });
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
