// Written by ringbolt install {{host}}. The next installation overwrites changes made here.
{{report_event.js}}
export const Ringbolt = async ({ directory }) => {
  // Per session: its texts, keyed by the event that they answer. OpenCode rebuilds the system prompt for each
  // request, so a text is added to every prompt until another one for the same event replaces it.
  const sessions = new Map();
  // Per message: its author. Per session: the last text of each author.
  const authors = new Map();
  const said = new Map();
  const sessionOf = (event) => event.properties?.sessionID ?? event.properties?.info?.id;
  const base = (session) => ({ session_id: session, cwd: directory });

  const keep = (session, kind, text) => {
    if (!sessions.has(session)) sessions.set(session, {});
    sessions.get(session)[kind] = text;
  };
  // Per session: a promise of its text. OpenCode does not await events, so the next request may come first.
  const waiting = new Map();
  const start = (session, source, before) => {
    keep(session, "start", "");
    const done = (async () => {
      await before?.();
      keep(session, "start", await report("SessionStart", { ...base(session), source }));
    })();
    waiting.set(session, done);
    return done;
  };

  const listen = async (session, part) => {
    const author = authors.get(part.messageID);
    if (part.type === "text" && author) said.set(session, { ...said.get(session), [author]: part.text });
    if (part.type === "tool" && part.state?.status === "error") {
      const call = { tool_name: part.tool, tool_input: part.state.input ?? {}, tool_use_id: part.callID };
      await report("PostToolUseFailure", { ...base(session), ...call, error: String(part.state.error ?? "") });
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
        await start(session, "compact", () => report("PostCompact", { ...base(session), compact_summary }));
      }
      if (event.type === "session.idle") {
        const last_assistant_message = said.get(session)?.agent;
        said.delete(session);
        authors.clear();
        await report("Stop", { ...base(session), last_assistant_message });
      }
      if (event.type === "session.deleted") {
        for (const known of [sessions, said, waiting]) known.delete(session);
        await report("SessionEnd", base(session));
      }
    },
    "chat.message": async (input, output) => {
      if (!sessions.has(input.sessionID)) await start(input.sessionID, "resume");
      const prompt = output.parts.filter((part) => part.type === "text" && !part.synthetic);
      const text = prompt.map((part) => part.text).join("\n");
      const fields = { ...base(input.sessionID), prompt: text };
      keep(input.sessionID, "tool", "");
      if (text) keep(input.sessionID, "prompt", await report("UserPromptSubmit", fields));
    },
    "experimental.chat.system.transform": async (input, output) => {
      await waiting.get(input.sessionID);
      const { start, prompt, tool } = sessions.get(input.sessionID) ?? {};
      output.system.push(...[start, prompt, tool].filter(Boolean));
    },
    "experimental.session.compacting": async (input, output) => {
      const text = await report("PreCompact", { ...base(input.sessionID), trigger: "auto" });
      if (text) output.context.push(text);
    },
    "tool.execute.before": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID };
      keep(input.sessionID, "tool", await report("PreToolUse", { ...base(input.sessionID), ...call }));
    },
    "tool.execute.after": async (input, output) => {
      const call = { tool_name: input.tool, tool_input: input.args ?? {}, tool_use_id: input.callID };
      // Tools of MCP servers return `content`.
      const printed = output.output ?? output.content;
      const tool_response = { title: output.title, output: printed, metadata: output.metadata };
      await report("PostToolUse", { ...base(input.sessionID), ...call, tool_response });
    },
  };
};
