// Keys of the whole page: / for the text field, j and k for the rows of a list, ? for this list. They do nothing while
// somebody is typing or a dialog is open.
import { html, useEffect, useRef } from "./vendor/preact.js";

export const KEYS = [
  ["/", "go to the text field of the screen"],
  ["j", "next row of the list"],
  ["k", "previous row of the list"],
  ["Enter", "open the marked row"],
  ["g o", "overview"],
  ["g s", "search"],
  ["?", "show these keys"],
  ["Esc", "close"],
];
let rowKey = null;
let showHelp = () => {};
let before = "";

// Let a screen's list handle j, k and Enter; returns a function that stops it.
export function onRowKey(handler) {
  rowKey = handler;
  return () => {
    if (rowKey === handler) rowKey = null;
  };
}

export function onHelp(handler) {
  showHelp = handler;
}

const ACTS = {
  "/": () => {
    const field = document.querySelector('main input[type="search"], main .ask-box input');
    field?.focus();
    return Boolean(field);
  },
  "?": () => (showHelp(), true),
  j: () => (rowKey?.("j"), Boolean(rowKey)),
  k: () => (rowKey?.("k"), Boolean(rowKey)),
  "g o": () => ((location.hash = "#/"), true),
  "g s": () => ((location.hash = "#/search"), true),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, dialog")) return;
  if (event.key === "Enter") {
    if (!event.target.closest("a, button, summary")) rowKey?.("Enter");
    return;
  }
  const act = ACTS[`${before} ${event.key}`] || ACTS[event.key];
  before = event.key;
  if (act?.()) event.preventDefault();
});

export function KeysDialog({ close }) {
  const dialog = useRef();
  useEffect(() => dialog.current.showModal(), []);
  return html`<dialog ref=${dialog} class="ask" aria-labelledby="keys-title" onClose=${close}>
    <h2 id="keys-title">Keys</h2>
    <dl class="keys">${KEYS.map(([key, about]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${about}</dd></div>`)}</dl>
    <footer><button type="button" onClick=${() => dialog.current.close()}>Close</button></footer>
  </dialog>`;
}
