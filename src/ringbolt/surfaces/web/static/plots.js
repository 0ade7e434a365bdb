// Small SVG charts. Colours come from the style sheet.
import { html, useState } from "./vendor/preact.js";
import { count, plural } from "./format.js";

// Bars with axes: the largest value at the left, the ends of the range below, and the bar under the pointer in words.
export function Plot({ bars, label, caption, from, to, className = "" }) {
  const [over, setOver] = useState(-1);
  const most = Math.max(0, ...bars.map((bar) => bar.value));
  const point = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    setOver(Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - box.left) / box.width) * bars.length))));
  };
  return html`<figure class=${"axes " + className}>
    <span class="axis-y" aria-hidden="true"><span>${count(most)}</span><span>0</span></span>
    <div class="axis-plot" onPointerMove=${point} onPointerLeave=${() => setOver(-1)}><${Bars} bars=${bars} label=${label} over=${over} /></div>
    <figcaption><span aria-hidden="true">${from}</span><strong>${over >= 0 ? bars[over].label : caption}</strong><span aria-hidden="true">${to}</span></figcaption>
  </figure>`;
}

// Bars of equal width, each with a `value` and a `label` for its tooltip.
export function Bars({ bars, label, over = -1, height = 48, className = "" }) {
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const width = bars.length * 4;
  return html`<svg class=${"plot bars " + className} viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none"
    role="img" aria-label=${label}>
    <line class="base" x1="0" x2=${width} y1=${height - 0.5} y2=${height - 0.5} />
    ${bars.map((bar, index) => {
      const size = bar.value ? Math.max(1.5, (bar.value / most) * (height - 2)) : 0;
      return html`<rect key=${index} x=${index * 4} y=${height - size} width="3" height=${size} class=${`${bar.kind || ""}${index === over ? " over" : ""}`}><title>${bar.label}</title></rect>`;
    })}
  </svg>`;
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const clockShort = (at) => CLOCK.format(at);

// Events of the last 24 hours in ten-minute bars; `tens` maps a timestamp prefix to a count.
export function lastDay({ tens, now }, fresh = 0) {
  const bars = [];
  for (let step = 143; step >= 0; step--) {
    const at = new Date((now - step * 600) * 1000).toISOString();
    const value = (tens[at.slice(0, 15)] || 0) + (step === 0 ? fresh : 0);
    const from = new Date((Math.floor(now / 600) - step) * 600_000);
    bars.push({ value, label: `${clockShort(from)}: ${plural(value, "event")}` });
  }
  return bars;
}

// A line through points with `x` and `y`, from 0 to `most`. The caller describes the axes in text.
export function Line({ points, label, most = Math.max(1e-9, ...points.map((point) => point.y)), height = 80, width = 320, className = "" }) {
  if (points.length < 2) return html`<p class="quiet">Not enough data to plot yet.</p>`;
  const xs = points.map((point) => point.x);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const path = points
    .map((point) => `${(((point.x - left) / (right - left || 1)) * width).toFixed(1)},${(height - 2 - (point.y / most) * (height - 6)).toFixed(1)}`)
    .join(" ");
  return html`<svg class=${"plot line " + className} viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label=${label}>
    <line class="base" x1="0" x2=${width} y1=${height - 0.5} y2=${height - 0.5} />
    <polyline points=${path} />
  </svg>`;
}
