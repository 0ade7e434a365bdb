// The conversation of a task in full, newest last; older messages load on demand.
import { html, useEffect, useState } from "../vendor/preact.js";
import { call, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { moment } from "../format.js";
import { Channel, Empty, ErrorMessage, Loading, Recorded } from "../parts.js";

const SAID = ["task.registered", "message", "task.updated", "step.updated", "task.finished", "user_instruction", "question"];
const PAGE = 50;

export function Thread({ task, last }) {
  const read = (before) => call("task_thread", { task_id: task.id, types: SAID, limit: PAGE, before });
  const { data, error } = useData(() => read(null), [task.id, last]);
  const [older, setOlder] = useState([]);
  const [cursor, setCursor] = useState(undefined);
  const [failed, setFailed] = useState(null);
  useEffect(() => void (cursor === undefined && data && setCursor(data.cursor)), [data]);
  const more = async () => {
    try {
      const page = await read(cursor);
      setOlder((before) => [...page.events, ...before]);
      setCursor(page.cursor);
    } catch (problem) {
      setFailed(problem);
    }
  };
  if (!data) return error ? html`<${ErrorMessage} error=${error} />` : html`<${Loading} />`;
  const known = new Map([...older, ...data.events].map((event) => [event.seq, event]));
  const events = [...known.values()].filter((event) => event.text).sort((a, b) => a.seq - b.seq);
  return html`<section class="panel thread" aria-label="Thread">
    <${ErrorMessage} error=${failed} />
    ${cursor ? html`<button type="button" onClick=${more}>Show older</button>` : null}
    ${!events.length && html`<${Empty}>No messages yet.<//>`}
    <ol class="messages">${events.map(
      (event) => html`<li key=${event.seq} class=${"message from-" + event.origin.channel}>
        <p class="source quiet"><strong>${event.origin.agent || event.origin.principal || event.origin.channel}</strong> <${Channel} channel=${event.origin.channel} /> ${moment(event.at)} <${EventLink} id=${task.id} seq=${event.seq} /></p>
        <${Recorded} text=${event.text} most=${3000} />
      </li>`,
    )}</ol>
  </section>`;
}
