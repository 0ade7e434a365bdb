// The story of a task, with the plan beside it.
import { html, useState } from "../vendor/preact.js";
import { get, useData } from "../api.js";
import { EventLink } from "../cite.js";
import { count, plural } from "../format.js";
import { Inline, Markdown } from "../markdown.js";
import { Ago, Empty, ErrorMessage, Loading, TaskLink } from "../parts.js";
import { AskBox } from "./task_ask.js";
import { LinkedTask } from "./task_goal.js";
import { Plan } from "./task_plan.js";

const FIRST = 5;
const [LONG, LINES] = [420, 6]; // letters and lines of a request that is shown whole
const NOTE_KINDS = { bad: "contradicted", good: "verified" };

// A request is as long as its writer liked: its beginning, with a button for the rest.
function Request({ text }) {
  const [all, setAll] = useState(false);
  const long = text.length > LONG || text.split("\n").length > LINES;
  return html`<div class=${long && !all ? "request cut" : "request"}><${Markdown} text=${text} /></div>
    ${long && html`<button type="button" class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? "show less" : "show all"}</button>`}`;
}

function StoryLine({ id, line, whole }) {
  const note = line.note && html` <span class=${"proof " + (NOTE_KINDS[line.tone] || "")}>${line.note}</span>`;
  return html`<li class="story-line">
    ${whole ? html`<div class="line-text"><${Request} text=${line.text} />${note}</div>` : html`<p class="line-text"><${Inline} text=${line.text} />${note}</p>`}
    ${line.why && html`<p class="why"><${Inline} text=${line.why} /></p>`}
    <span class="source quiet"><${EventLink} id=${id} seq=${line.seq} />${line.at && html` <${Ago} at=${line.at} />`}</span>
  </li>`;
}

function Part({ id, part }) {
  const [all, setAll] = useState(false);
  const lines = all ? part.lines : part.lines.slice(0, FIRST);
  const more = part.lines.length - FIRST;
  return html`<section class=${"story-part is-" + part.name} aria-label=${part.title}>
    <h2>${part.title} <span class="count">${part.lines.length > 1 ? count(part.lines.length + part.left_out) : ""}</span></h2>
    <ul role="list">${lines.map((line, index) => html`<${StoryLine} key=${line.seq + "/" + index} id=${id} line=${line} whole=${part.name === "asked"} />`)}</ul>
    ${more > 0 && html`<button type="button" class="link" aria-expanded=${all} onClick=${() => setAll(!all)}>${all ? "show fewer" : `show ${count(more)} more`}</button>`}
    ${all && part.left_out > 0 && html`<p class="quiet">${plural(part.left_out, "older one is", "older ones are")} in the timeline.</p>`}
  </section>`;
}

function Facts({ task }) {
  const goals = task.links.filter((link) => link.kind === "goal");
  const facts = [
    ["Id", html`<code>${task.id}</code>`],
    ["Folder", task.workspace],
    ["Session", task.session],
    ["Events", count(task.seq)],
    ["Started", html`<${Ago} at=${task.created_at} />`],
    ["Parent", task.parent && html`<${TaskLink} id=${task.parent}>${task.parent}<//>`],
    ["Goal", goals.length > 0 && goals.map((link, index) => html`${index ? ", " : ""}<${LinkedTask} target=${link.target} />`)],
    ["Tags", task.tags.join(", ")],
  ].filter(([, value]) => value);
  return html`<section class="panel" aria-label="Details"><header><h2>Details</h2></header>
    <dl class="pairs facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl></section>`;
}

export function Story({ task, may, reload }) {
  const { data, error, reload: again } = useData(() => get(`/api/tasks/${encodeURIComponent(task.id)}/story`), [task.id, task.seq]);
  return html`<div class="columns story-columns">
    <div class="panel story">
      <${ErrorMessage} error=${error} retry=${again} />
      ${!data && !error && html`<${Loading} what="Reading the story" />`}
      ${data && !data.length && html`<${Empty}>Nothing has happened yet.<//>`}
      ${data?.map((part) => html`<${Part} key=${part.name} id=${task.id} part=${part} />`)}
    </div>
    <div class="stack">
      <${AskBox} task=${task} />
      <${Plan} task=${task} may=${may} reload=${reload} />
      <${Facts} task=${task} />
    </div>
  </div>`;
}
