// Small SVG charts. Colours come from the style sheet.
import { html } from "./vendor/preact.js";
import { plural } from "./format.js";

// Bars of equal width, each with a `value` and a `label` for its tooltip.
export function Bars({ bars, label, height = 48, className = "" }) {
  const most = Math.max(1, ...bars.map((bar) => bar.value));
  const width = bars.length * 4;
  return html`<svg class=${"plot bars " + className} viewBox=${`0 0 ${width} ${height}`} preserveAspectRatio="none"
    role="img" aria-label=${label}>
    <line class="base" x1="0" x2=${width} y1=${height - 0.5} y2=${height - 0.5} />
    ${bars.map((bar, index) => {
      const size = bar.value ? Math.max(1.5, (bar.value / most) * (height - 2)) : 0;
      return html`<rect key=${index} x=${index * 4} y=${height - size} width="3" height=${size} class=${bar.kind || ""}>
        <title>${bar.label}</title>
      </rect>`;
    })}
  </svg>`;
}

// Events of the last 24 hours in ten-minute bars; `tens` maps a timestamp prefix to a count.
export function lastDay({ tens, now }, fresh = 0) {
  const bars = [];
  for (let step = 143; step >= 0; step--) {
    const at = new Date((now - step * 600) * 1000).toISOString();
    const value = (tens[at.slice(0, 15)] || 0) + (step === 0 ? fresh : 0);
    bars.push({ value, label: `${at.slice(11, 15)}0 UTC: ${plural(value, "event")}` });
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
