// Sign-in. The token is sent to the server once, which answers with a session for this tab.
import { html, useState } from "../vendor/preact.js";
import { session } from "../api.js";
import { ErrorMessage } from "../parts.js";

export function SignIn({ done, failed }) {
  const [error, setError] = useState(failed);
  const [busy, setBusy] = useState(false);
  const send = async (event) => {
    event.preventDefault();
    const token = new FormData(event.target).get("token");
    setBusy(true);
    setError(null);
    try {
      await session.open({ token });
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
        <p class="hint">From <code>tokens.json</code>; <code>ringbolt serve</code> prints its path when it starts.
          With the <code>user</code> token you act as yourself; the <code>read</code> token only lets you look.</p>
      </div>
      <${ErrorMessage} error=${error} />
      <button type="submit" class="primary" disabled=${busy}>${busy ? "Signing in …" : "Sign in"}</button>
    </form>
  </main>`;
}
