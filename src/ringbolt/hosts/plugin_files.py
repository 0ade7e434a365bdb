"""Plugins for hosts that call no programs: small files that pass what happens on to `ringbolt-hook`.

They translate the host's own words into the events and fields of Claude Code, which the hook understands, and
put what it answers (`hookSpecificOutput.additionalContext`) where the host has a place for it.
"""

from __future__ import annotations

import json

from .._version import __version__
from .hook_build import HookProgram

MARK = "Written by ringbolt install"

# A hook must never hold its host up: whatever goes wrong, the answer is nothing.
_CALL = """\
import { spawn } from "node:child_process";

// For a shell, with the event as its argument.
const COMMAND = %(command)s;
const MILLISECONDS = 5000;

/** Tell Ringbolt what happened; resolves to the text for the model, or to "" whatever goes wrong. */
function tell(event, fields) {
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
"""

_OPENCODE = """\
export const Ringbolt = async ({ directory }) => {
  // Session: its texts by where they came from. The system prompt is built anew for each request, so a text
  // goes into every one until the next of its kind takes its place.
  const sessions = new Map();
  // Message: whose it is. Session: what was said last in it, by whom.
  const authors = new Map();
  const said = new Map();
  const sessionOf = (event) => event.properties?.sessionID ?? event.properties?.info?.id;
  const base = (session) => ({ session_id: session, cwd: directory });

  const keep = (session, kind, text) => {
    if (!sessions.has(session)) sessions.set(session, {});
    sessions.get(session)[kind] = text;
  };
  // Session: until its text is there. No one waits for an event, and the next request may come first.
  const waiting = new Map();
  const start = (session, source, before) => {
    keep(session, "start", "");
    const done = (async () => {
      await before?.();
      keep(session, "start", await tell("SessionStart", { ...base(session), source }));
    })();
    waiting.set(session, done);
    return done;
  };

  const listen = async (session, part) => {
    const author = authors.get(part.messageID);
    if (part.type === "text" && author) said.set(session, { ...said.get(session), [author]: part.text });
    if (part.type === "tool" && part.state?.status === "error") {
      const call = { tool_name: part.tool, tool_input: part.state.input ?? {}, tool_use_id: part.callID };
      await tell("PostToolUseFailure", { ...base(session), ...call, error: String(part.state.error ?? "") });
    }
  };

  return {
    event: async ({ event }) => {
      if (event.type === "message.part.updated") {
        const { part } = event.properties;
        return listen(part.sessionID, part);
      }
      if (event.type === "message.updated") {
        const { info } = event.properties;
        if (info.role === "assistant") authors.set(info.id, info.summary ? "summary" : "agent");
        return;
      }
      const session = sessionOf(event);
      if (!session) return;
      if (event.type === "session.created") await start(session, "startup");
      if (event.type === "session.compacted") {
        const compact_summary = said.get(session)?.summary;
        await start(session, "compact", () => tell("PostCompact", { ...base(session), compact_summary }));
      }
      if (event.type === "session.idle") {
        const last_assistant_message = said.get(session)?.agent;
        said.delete(session);
        authors.clear();
        await tell("Stop", { ...base(session), last_assistant_message });
      }
      if (event.type === "session.deleted") {
        for (const known of [sessions, said, waiting]) known.delete(session);
        await tell("SessionEnd", base(session));
      }
    },
    "chat.message": async (input, output) => {
      if (!sessions.has(input.sessionID)) await start(input.sessionID, "resume");
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const text = prompt.map((part) => part.text).join("\\n");
      const fields = { ...base(input.sessionID), prompt: text };
      keep(input.sessionID, "tool", "");
      if (text) keep(input.sessionID, "prompt", await tell("UserPromptSubmit", fields));
    },
    "experimental.chat.system.transform": async (input, output) => {
      await waiting.get(input.sessionID);
      const { start, prompt, tool } = sessions.get(input.sessionID) ?? {};
      output.system.push(...[start, prompt, tool].filter(Boolean));
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await tell("PreCompact", { ...base(input.sessionID), trigger: "auto" });
      if (text) output.context.push(text);
    },
    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID };
      keep(input.sessionID, "tool", await tell("PreToolUse", { ...base(input.sessionID), ...call }));
    },
    "tool.execute.after": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: input.args ?? {}, tool_use_id: input.callID };
      // The tools of MCP servers give content.
      const printed = output.output ?? output.content;
      const tool_response = { title: output.title, output: printed, metadata: output.metadata };
      await tell("PostToolUse", { ...base(input.sessionID), ...call, tool_response });
    },
  };
};
"""

_OPENCLAW = """\
export default {
  id: "ringbolt",
  name: "Ringbolt",
  description: "Task memory that survives compaction",
  register(api) {
    const waiting = new Map(); // session: the text that its next prompt gets
    const base = (ctx) => ({ session_id: ctx?.sessionId ?? ctx?.sessionKey ?? "", cwd: ctx?.workspaceDir });
    const add = (ctx, text) => {
      const session = base(ctx).session_id;
      if (text) waiting.set(session, [waiting.get(session), text].filter(Boolean).join("\\n\\n"));
    };
    const on = (name, handler) => api.on(name, handler, { timeoutMs: MILLISECONDS + 1000 });

    on("session_start", async (event, ctx) => {
      const source = event?.resumedFrom ? "resume" : "startup";
      add(ctx, await tell("SessionStart", { ...base(ctx), source }));
    });
    on("before_prompt_build", async (event, ctx) => {
      add(ctx, await tell("UserPromptSubmit", { ...base(ctx), prompt: event?.prompt ?? "" }));
      const text = waiting.get(base(ctx).session_id);
      waiting.delete(base(ctx).session_id);
      return text ? { prependContext: text } : undefined;
    });
    on("before_tool_call", async (event, ctx) => {
      const call = { tool_name: event.toolName, tool_input: event.params, tool_use_id: event.toolCallId };
      add(ctx, await tell("PreToolUse", { ...base(ctx), ...call }));
    });
    on("after_tool_call", async (event, ctx) => {
      const call = { tool_name: event.toolName, tool_input: event.params, tool_use_id: event.toolCallId };
      const failed = Boolean(event.error);
      const result = failed ? { error: String(event.error) } : { tool_response: event.result };
      await tell(failed ? "PostToolUseFailure" : "PostToolUse", { ...base(ctx), ...call, ...result });
    });
    on("before_compaction", async (event, ctx) => {
      await tell("PreCompact", { ...base(ctx), trigger: "auto" });
    });
    on("after_compaction", async (event, ctx) => {
      await tell("PostCompact", base(ctx));
      add(ctx, await tell("SessionStart", { ...base(ctx), source: "compact" }));
    });
    on("agent_end", async (event, ctx) => {
      await tell("Stop", { ...base(ctx), stop_hook_active: false });
    });
    on("session_end", async (event, ctx) => {
      await tell("SessionEnd", base(ctx));
    });
  },
};
"""


def _program(host: str, hook: HookProgram, body: str) -> str:
    call = _CALL % {"command": json.dumps(hook.shell_line(host, '"$1"'))}
    return f"// {MARK} {host}; what is changed here is lost with the next one.\n{call}\n{body}"


def opencode(hook: HookProgram) -> str:
    """The plugin of OpenCode."""
    return _program("opencode", hook, _OPENCODE)


def openclaw(hook: HookProgram) -> dict[str, tuple[str, str]]:
    """The files of the plugin of OpenClaw, each with what shows that it is ours."""
    package = {
        "name": "ringbolt-openclaw",
        "version": __version__,
        "description": f"{MARK} openclaw",
        "private": True,
        "type": "module",
        "openclaw": {"extensions": ["./index.js"]},
    }
    manifest = {
        "id": "ringbolt",
        "name": "Ringbolt",
        "description": f"Task memory that survives compaction. {MARK} openclaw",
        "activation": {"onStartup": True, "onCapabilities": ["hook"]},
        "capabilities": ["hook"],
        "configSchema": {"type": "object", "additionalProperties": False},
    }
    return {
        "index.js": (_program("openclaw", hook, _OPENCLAW), MARK),
        "openclaw.plugin.json": (json.dumps(manifest, indent=2) + "\n", MARK),
        "package.json": (json.dumps(package, indent=2) + "\n", MARK),
    }
