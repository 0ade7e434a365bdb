// The resume packet, byte for byte as a model receives it after a compaction.
import { html, useEffect, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { count } from "../format.js";
import { ErrorMessage, Loading, notify } from "../parts.js";
import { hrefTo, setQuery } from "../router.js";

const [LEAST, MOST, USUAL] = [300, 8000, 1500];

export function PacketTab({ task, route, last }) {
  const asked = Math.min(MOST, Math.max(LEAST, Number(route.query.get("budget")) || USUAL));
  const [budget, setBudget] = useState(asked);
  useEffect(() => {
    const timer = setTimeout(() => budget !== asked && setQuery({ budget }), 120);
    return () => clearTimeout(timer);
  }, [budget]);
  const { data, error, loading, reload } = useData(() => call("task_resume", { task_id: task.id, budget: asked }), [task.id, asked]);
  useEffect(() => void (data && data.seq < last && reload()), [last]);
  const packet = data;
  const copy = () => navigator.clipboard.writeText(packet.text).then(() => notify("Packet copied."), () => notify("The browser did not allow copying."));
  return html`<section class="panel packet" aria-label="Resume packet">
    <div class="slider">
      <label for="budget">Budget <output>${count(budget)}</output> tokens</label>
      <input id="budget" type="range" min=${LEAST} max=${MOST} step="100" value=${budget} onInput=${(event) => setBudget(Number(event.target.value))} />
    </div>
    <${ErrorMessage} error=${error} retry=${reload} />
    ${!packet && loading && html`<${Loading} what="Building the packet" />`}
    ${packet &&
    html`<p class="packet-line"><strong class="tokens">${count(packet.tokens)} tokens</strong> of ${count(packet.budget)}, as of #${packet.seq}
        <button type="button" onClick=${copy}>Copy</button> <a href=${hrefTo(["recovery"], { task: task.id })}>What would survive a compaction?</a></p>
      ${Object.keys(packet.left_out).length > 0 && html`<p class="quiet">Left out to fit the budget: ${Object.entries(packet.left_out).map(([part, number]) => `${number} ${part}`).join(", ")}.</p>`}
      <pre class="packet-text" tabindex="0" aria-label="Packet text">${packet.text}</pre>`}
  </section>`;
}
