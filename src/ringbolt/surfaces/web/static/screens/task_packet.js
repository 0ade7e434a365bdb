// The resume packet, byte for byte as a model gets it after a compaction.
import { html, useEffect, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { count } from "../format.js";
import { Loading, Trouble, say } from "../parts.js";
import { refine, to } from "../router.js";

const [LEAST, MOST, USUAL] = [300, 8000, 1500];

export function PacketTab({ task, route, last }) {
  const asked = Math.min(MOST, Math.max(LEAST, Number(route.query.get("budget")) || USUAL));
  const [budget, setBudget] = useState(asked);
  useEffect(() => {
    const timer = setTimeout(() => budget !== asked && refine({ budget }), 120);
    return () => clearTimeout(timer);
  }, [budget]);
  const { data, error, loading, reload } = useData(() => call("task_resume", { task_id: task.id, budget: asked }), [task.id, asked]);
  useEffect(() => void (data && data.seq < last && reload()), [last]);
  const packet = data;
  const copy = () => navigator.clipboard.writeText(packet.text).then(() => say("The packet was copied."), () => say("The browser refused to copy."));
  return html`<section class="panel packet" aria-label="Resume packet">
    <div class="slider">
      <label for="budget">Budget <output>${count(budget)}</output> tokens</label>
      <input id="budget" type="range" min=${LEAST} max=${MOST} step="100" value=${budget} onInput=${(event) => setBudget(Number(event.target.value))} />
    </div>
    <${Trouble} error=${error} retry=${reload} />
    ${!packet && loading && html`<${Loading} what="Making the packet" />`}
    ${packet &&
    html`<p class="packet-line"><strong class="tokens">${count(packet.tokens)} tokens</strong> of ${count(packet.budget)}, as of #${packet.seq}
        <button type="button" onClick=${copy}>Copy</button> <a href=${to(["recovery"], { task: task.id })}>What would come back after a compaction?</a></p>
      ${Object.keys(packet.left_out).length > 0 && html`<p class="quiet">Left out for want of room: ${Object.entries(packet.left_out).map(([part, number]) => `${number} ${part}`).join(", ")}.</p>`}
      <pre class="packet-text" tabindex="0" aria-label="Text of the packet">${packet.text}</pre>`}
  </section>`;
}
