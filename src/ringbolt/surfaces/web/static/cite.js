// Text that cites events as #12: each citation links to the event in the timeline.
import { html } from "./vendor/preact.js";
import { hrefTo } from "./router.js";

export function EventLink({ id, seq, children }) {
  return html`<a class="cite" href=${hrefTo(["task", id], { tab: "timeline", seq })}>${children || "#" + seq}</a>`;
}

export function Cited({ id, text, last = Infinity }) {
  const parts = String(text ?? "").split(/(#\d{1,9})\b/);
  return html`<span class="recorded">${parts.map((part, index) => {
    const seq = index % 2 ? Number(part.slice(1)) : 0;
    return seq >= 1 && seq <= last ? html`<${EventLink} key=${index} id=${id} seq=${seq} />` : part;
  })}</span>`;
}
