// Written by ringbolt install {{host}}. The next installation overwrites changes made here.
{{report_event.js}}
export default {
  id: "ringbolt",
  name: "Ringbolt",
  description: "Task memory that survives compaction",
  register(api) {
    const waiting = new Map(); // per session: the text to add to its next prompt
    const base = (ctx) => ({ session_id: ctx?.sessionId ?? ctx?.sessionKey ?? "", cwd: ctx?.workspaceDir });
    const add = (ctx, text) => {
      const session = base(ctx).session_id;
      if (text) waiting.set(session, [waiting.get(session), text].filter(Boolean).join("\n\n"));
    };
    const on = (name, handler) => api.on(name, handler, { timeoutMs: MILLISECONDS + 1000 });

    on("session_start", async (event, ctx) => {
      const source = event?.resumedFrom ? "resume" : "startup";
      add(ctx, await report("SessionStart", { ...base(ctx), source }));
    });
    on("before_prompt_build", async (event, ctx) => {
      if (ctx?.trigger === "heartbeat") {
        // The prompt of a heartbeat is not from the user, so it is not recorded.
        const due = await report("Heartbeat", base(ctx));
        return due ? { prependContext: due } : undefined;
      }
      add(ctx, await report("UserPromptSubmit", { ...base(ctx), prompt: event?.prompt ?? "" }));
      const text = waiting.get(base(ctx).session_id);
      waiting.delete(base(ctx).session_id);
      return text ? { prependContext: text } : undefined;
    });
    on("before_tool_call", async (event, ctx) => {
      const call = { tool_name: event.toolName, tool_input: event.params, tool_use_id: event.toolCallId };
      add(ctx, await report("PreToolUse", { ...base(ctx), ...call }));
    });
    on("after_tool_call", async (event, ctx) => {
      const call = { tool_name: event.toolName, tool_input: event.params, tool_use_id: event.toolCallId };
      const failed = Boolean(event.error);
      const result = failed ? { error: String(event.error) } : { tool_response: event.result };
      await report(failed ? "PostToolUseFailure" : "PostToolUse", { ...base(ctx), ...call, ...result });
    });
    on("before_compaction", async (event, ctx) => {
      await report("PreCompact", { ...base(ctx), trigger: "auto" });
    });
    on("after_compaction", async (event, ctx) => {
      await report("PostCompact", base(ctx));
      add(ctx, await report("SessionStart", { ...base(ctx), source: "compact" }));
    });
    on("agent_end", async (event, ctx) => {
      await report("Stop", { ...base(ctx), stop_hook_active: false });
    });
    on("session_end", async (event, ctx) => {
      await report("SessionEnd", base(ctx));
    });
  },
};
