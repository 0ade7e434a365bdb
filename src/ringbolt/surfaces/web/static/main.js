// The app shell: session, navigation bar, and the screen for the current route.
import { html, render, useCallback, useEffect, useState } from "./vendor/preact.js";
import { onSignedOut, session } from "./api.js";
import { setEventNames } from "./format.js";
import { KeysDialog, onHelp } from "./keys.js";
import { live, useLiveState } from "./live.js";
import { NotifyButton } from "./notifications.js";
import { ErrorBoundary, ErrorMessage, Loading, Notices, Now } from "./parts.js";
import { goTo, hrefTo, useRoute } from "./router.js";
import { Overview } from "./screens/overview.js";
import { Recovery } from "./screens/recovery.js";
import { Search } from "./screens/search.js";
import { SignIn } from "./screens/sign_in.js";
import { System } from "./screens/system.js";
import { TaskScreen } from "./screens/task.js";

// Every screen is loaded up front, so none is missing when the server restarts or is upgraded under an open page.
const SCREENS = {
  task: { Screen: TaskScreen },
  search: { title: "Search", Screen: Search },
  recovery: { title: "Recovery", Screen: Recovery },
  system: { title: "System", Screen: System },
};
const LIVE_WORDS = { live: "live", connecting: "connecting …", resting: "resting" };

// Provides the current time; only components that read it re-render when it ticks.
function Clock({ children }) {
  const [now, setNow] = useState(() => Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 5000);
    return () => clearInterval(timer);
  }, []);
  return html`<${Now.Provider} value=${now}>${children}<//>`;
}

function Theme() {
  const root = document.documentElement;
  const dark = () => root.dataset.theme === "dark" || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  const [isDark, setDark] = useState(dark);
  useEffect(() => {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const changed = () => setDark(dark());
    system.addEventListener("change", changed);
    return () => system.removeEventListener("change", changed);
  }, []);
  const change = () => {
    root.dataset.theme = isDark ? "light" : "dark";
    localStorage.setItem("ringbolt.theme", root.dataset.theme);
    setDark(!isDark);
  };
  return html`<button type="button" class="quiet-button" onClick=${change} aria-label=${isDark ? "Use light colours" : "Use dark colours"}>
    ${isDark ? "☀" : "☾"}
  </button>`;
}

function Bar({ screen, who, leave }) {
  const state = useLiveState();
  return html`<header class="bar">
    <a class="brand" href="#/"><img src=${new URL("./favicon.svg", import.meta.url).href} alt="" width="22" height="22" />Ringbolt</a>
    <nav aria-label="Screens">
      <a href="#/" aria-current=${screen === "" ? "page" : undefined}>Overview</a>
      ${Object.entries(SCREENS).map(
        ([name, { title }]) =>
          title && html`<a key=${name} href=${hrefTo([name])} aria-current=${screen === name ? "page" : undefined}>${title}</a>`,
      )}
    </nav>
    <span class=${"live is-" + state} role="status"><span class="dot" aria-hidden="true" />${LIVE_WORDS[state]}</span>
    <span class="who" title="Token you signed in with">${who.kind}</span>
    <${NotifyButton} />
    <${Theme} />
    <button type="button" class="quiet-button leave" onClick=${leave}>Sign out</button>
  </header>`;
}

function App() {
  const route = useRoute();
  const screen = route.parts[0] || "";
  const [who, setWho] = useState(undefined); // undefined: not known yet; null: signed out
  const [failed, setFailed] = useState(null);
  const [refused, setRefused] = useState(null); // why the code of a sign-in link did not work
  const [epoch, setEpoch] = useState(0);
  const [keys, setKeys] = useState(false);
  useEffect(() => onHelp(() => setKeys(true)), []);

  const begin = useCallback(async () => {
    try {
      const found = await session.read();
      setFailed(null);
      setEventNames(found.event_names);
      setWho(found);
      live.start(found.position, begin);
      setEpoch((before) => before + 1);
    } catch (error) {
      live.stop();
      if (error.status === 401) setWho(null);
      else setFailed(error);
    }
  }, []);
  useEffect(() => {
    onSignedOut(() => {
      live.stop();
      setWho(null);
    });
    if (screen !== "sign-in") begin();
    return () => live.stop();
  }, []);
  // A sign-in link: its code leaves the address, and with it the history, before it is used.
  const signIn = async (code) => {
    goTo([]);
    await session.open({ code }).then(() => setRefused(null), setRefused);
    await begin();
  };
  useEffect(() => {
    if (screen === "sign-in") signIn(route.parts[1] || "");
  }, [screen]);

  const leave = async () => {
    await session.close().catch(() => {});
    live.stop();
    setWho(null);
  };
  useEffect(() => {
    if (screen !== "task") document.title = (SCREENS[screen]?.title || "Overview") + " · Ringbolt";
    document.getElementById("screen")?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [screen, route.parts[1]]);

  if (failed) return html`<main class="alone"><${ErrorMessage} error=${failed} retry=${begin} /></main>`;
  if (who === undefined) return html`<main class="alone"><${Loading} what="Signing in" /></main>`;
  if (who === null) return html`<${SignIn} key=${refused} done=${begin} failed=${refused} />`;
  const may = { write: who.scopes.includes("write"), user: who.kind === "user" };
  const props = { key: screen + "/" + (route.parts[1] || "") + "/" + epoch, route, may };
  return html`<${Clock}>
    <a class="skip" href="#screen" onClick=${(event) => (event.preventDefault(), document.getElementById("screen").focus())}>Skip to content</a>
    <${Bar} screen=${screen} who=${who} leave=${leave} />
    <main id="screen" tabindex="-1">
      <${ErrorBoundary} of=${props.key}>
        <${SCREENS[screen]?.Screen || Overview} ...${props} />
      <//>
    </main>
    <${Notices} />
    ${keys && html`<${KeysDialog} close=${() => setKeys(false)} />`}
  <//>`;
}

const place = document.getElementById("app");
place.textContent = "";
render(html`<${App} />`, place);
