import { html } from "../vendor/preact.js";

export default function Screen() {
  return html`<h1>recovery</h1>`;
}
