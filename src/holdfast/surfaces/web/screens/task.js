import { html } from "../vendor/preact.js";

export default function Screen() {
  return html`<h1>task</h1>`;
}
