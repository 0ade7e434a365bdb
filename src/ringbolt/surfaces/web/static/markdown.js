// Markdown for reading, as virtual nodes: no markup of the text ever becomes HTML, a link or an image. What is not
// understood stays as it was written.
import { html } from "./vendor/preact.js";

const INLINE = /(`[^`\n]+`|\*\*[^*\n]+\*\*)/;

export function Inline({ text }) {
  return String(text ?? "").split(INLINE).map((part, index) => {
    if (!(index % 2)) return part;
    return part[0] === "`" ? html`<code key=${index}>${part.slice(1, -1)}</code>` : html`<strong key=${index}>${part.slice(2, -2)}</strong>`;
  });
}

const cells = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
const isRule = (line) => /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/.test(line) && line.includes("|");

// Blocks in order. Each reader takes lines from the front of `lines` and gives a node, or null if it is not its kind.
const READERS = [
  function code(lines) {
    const fence = /^\s*(```+|~~~+)/.exec(lines[0]);
    if (!fence) return null;
    const end = lines.findIndex((line, index) => index && line.trim().startsWith(fence[1]));
    const own = lines.splice(0, end < 0 ? lines.length : end + 1);
    return html`<pre class="code">${own.slice(1, end < 0 ? undefined : -1).join("\n")}</pre>`;
  },
  function heading(lines) {
    const found = /^#{1,6}\s+(.*\S)\s*$/.exec(lines[0]);
    if (!found) return null;
    lines.shift();
    return html`<p class="md-heading"><${Inline} text=${found[1]} /></p>`;
  },
  function table(lines) {
    if (lines.length < 2 || !lines[0].includes("|") || !isRule(lines[1])) return null;
    const head = cells(lines.shift());
    lines.shift();
    const rows = [];
    while (lines.length && lines[0].includes("|")) rows.push(cells(lines.shift()));
    return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
      <thead><tr>${head.map((cell, index) => html`<th key=${index} scope="col"><${Inline} text=${cell} /></th>`)}</tr></thead>
      <tbody>${rows.map((row, at) => html`<tr key=${at}>${row.map((cell, index) => html`<td key=${index}><${Inline} text=${cell} /></td>`)}</tr>`)}</tbody>
    </table></div>`;
  },
  function list(lines) {
    const bullet = /^(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$/;
    if (!bullet.test(lines[0])) return null;
    const items = [];
    while (lines.length && (bullet.test(lines[0]) || (/^\s{2,}\S/.test(lines[0]) && items.length))) {
      const found = bullet.exec(lines[0]);
      const line = lines.shift();
      if (found) items.push({ deep: Math.min(4, Math.floor(found[1].length / 2)), mark: /\d/.test(found[2]) ? found[2] : "•", text: found[3] });
      else items.at(-1).text += "\n" + line.trim();
    }
    return html`<ul class="md-list" role="list">${items.map((item, index) => html`<li key=${index} class=${"deep-" + item.deep}><span class="md-mark" aria-hidden="true">${item.mark} </span><span><${Inline} text=${item.text} /></span></li>`)}</ul>`;
  },
  function paragraph(lines) {
    const own = [lines.shift()];
    while (lines.length && lines[0].trim() && !/^\s*(```|~~~|#{1,6}\s|[-*+]\s|\d{1,3}[.)]\s)/.test(lines[0])) own.push(lines.shift());
    return html`<p><${Inline} text=${own.join("\n")} /></p>`;
  },
];

export function Markdown({ text }) {
  const lines = String(text ?? "").split("\n");
  const blocks = [];
  while (lines.length) {
    if (!lines[0].trim()) lines.shift();
    else for (const read of READERS) {
      const block = read(lines);
      if (block) {
        blocks.push(block);
        break;
      }
    }
  }
  return html`<div class="md recorded">${blocks}</div>`;
}
