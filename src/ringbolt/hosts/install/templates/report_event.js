import { spawn } from "node:child_process";

// The command line for a shell; the event is its argument.
const COMMAND = "{{command}}";
const MILLISECONDS = 5000;

/**
 * Report an event to Ringbolt. Resolves to the text for the model, or to "" whatever goes wrong: a hook must
 * never hold up its host.
 */
function report(event, fields) {
  return new Promise((resolve) => {
    let child;
    const answer = [];
    const stop = (text) => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(() => {
      child?.kill("SIGKILL");
      stop("");
    }, MILLISECONDS);
    try {
      child = spawn("/bin/sh", ["-c", COMMAND, "ringbolt-hook", event], {
        stdio: ["pipe", "pipe", "ignore"],
        cwd: fields.cwd || undefined,
      });
    } catch {
      return stop("");
    }
    child.on("error", () => stop(""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (part) => answer.push(part));
    child.on("close", () => {
      try {
        const text = Buffer.concat(answer).toString("utf8");
        stop(event === "PreCompact" ? text : JSON.parse(text).hookSpecificOutput.additionalContext || "");
      } catch {
        stop("");
      }
    });
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...fields }));
  });
}
