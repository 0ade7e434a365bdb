// Signing in with a token: it goes to the server once, which answers with a cookie that no script can read.
import { html, useState } from "../vendor/preact.js";
import { session } from "../api.js";
import { Trouble } from "../parts.js";

export function SignIn({ done }) {
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const send = async (event) => {
    event.preventDefault();
    const token = new FormData(event.target).get("token");
    setBusy(true);
    setError(null);
    try {
      await session.open(token);
      await done();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return html`<main class="alone">
    <form class="panel sign-in" onSubmit=${send}>
      <h1><img src=${new URL("../favicon.svg", import.meta.url).href} alt="" width="28" height="28" /> Ringbolt</h1>
      <p>See what your agents are doing, and what they remember.</p>
      <div class="field">
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autocomplete="current-password" spellcheck="false" />
        <p class="hint">From the file <code>tokens.json</code> that <code>ringbolt serve</code> named when it started.
          With <code>user</code> you act as yourself; with <code>read</code> you can only look.</p>
      </div>
      <${Trouble} error=${error} />
      <button type="submit" class="primary" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
    </form>
  </main>`;
}
