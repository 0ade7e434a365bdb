"""Plays a story to the real hook process, as Claude Code or Codex would.

The hooks are those that `ringbolt install` writes into the host's settings, run through `sh -c`. The
transcript has the lines of the host's own format, written before or after a hook as the host does
(tests/hosts/recorded has real ones). Files that the story edits are edited, and its git commands run, so what
hooks see of the folder is true as well.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ringbolt.hosts.install.installer import Installer

# The machine may be busy, and a story is about what comes back, not about how fast.
_PATIENT = {"RINGBOLT_HOOK_DEADLINE_MS": "20000", "RINGBOLT_HOOK_COMPACT_MS": "30000"}
_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file"
    " edit, the new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)
_INTERRUPTED = "[Request interrupted by user for tool use]"
_MARKS = {"x": "completed", ">": "in_progress", "-": "pending"}


class Act(NamedTuple):
    """One thing that happens in a story: its kind, the rest of its first line, and the lines below."""

    kind: str
    line: str
    body: str


class Session:
    """One session of a host in one folder. Subclasses know the host's transcript and its names of tools."""

    host = ""

    def __init__(self, folder: Path, name: str, acts: list[Act], files: list[str]) -> None:
        self.work = folder / name
        self.store = folder / "data" / "store.db"
        self.session = str(uuid.uuid5(uuid.NAMESPACE_URL, f"ringbolt-story/{name}"))
        self.events = 0  # hooks that were called
        self.packet = ""
        self._acts, self._files = acts, files
        self._calls = 0
        self._agent: dict[str, str] = {}
        self._last_message = ""
        own = {"HOME": str(folder / "home"), "XDG_DATA_HOME": str(folder / "xdg")}
        kept = {name: value for name, value in os.environ.items() if not name.startswith("RINGBOLT_")}
        self._environment = {**kept, **own, **_PATIENT, "RINGBOLT_STORE": str(self.store)}
        for path in (self.work, folder / "home", self.store.parent, folder / "transcripts"):
            path.mkdir(parents=True, exist_ok=True)
        self.transcript = folder / "transcripts" / self._transcript_name()
        before = {variable: os.environ.get(variable) for variable in own}
        os.environ.update(own)  # the installer puts its build below the user's data folder
        try:
            Installer(self.host, scope="user", environ=own).install()
        finally:
            for variable, value in before.items():
                os.environ.pop(variable) if value is None else os.environ.__setitem__(variable, value)
        self._commands = self._installed(folder / "home")

    def play(self) -> None:
        """Play the whole story."""
        self._make_repository()
        for number, act in enumerate(self._acts):
            try:
                getattr(self, f"_on_{act.kind}")(act)
            except Exception as error:
                raise RuntimeError(f"{self.work.name}, act {number + 1}: {act.kind} {act.line}") from error

    # --- what a host does

    def _hook(self, event: str, **fields: Any) -> str:
        """Call the hook for an event; returns the context that it adds."""
        data = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.work),
            "hook_event_name": event,
            **self._common(),
            **fields,
        }
        if event not in self._commands:
            return ""
        self.events += 1
        done = subprocess.run(
            ["/bin/sh", "-c", self._commands[event]],
            input=json.dumps(data).encode(),
            capture_output=True,
            env=self._environment,
            cwd=self.work,
            check=True,
        )
        if done.stderr:
            raise RuntimeError(f"the hook of {event} wrote {done.stderr.decode()[:500]!r}")
        if not done.stdout.strip():
            return ""
        if event == "PreCompact":  # plain text for the host's summary
            return done.stdout.decode()
        return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]

    def _write(self, *lines: Mapping[str, Any], to: Path | None = None) -> None:
        """Append lines to a transcript."""
        with (to or self.transcript).open("a", encoding="utf-8") as file:
            for line in lines:
                file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n")

    def _next_call(self) -> str:
        self._calls += 1
        return f"toolu_{self.work.name}_{self._calls:03}"

    def _make_repository(self) -> None:
        """A repository with the files that the story reads or edits before it writes them."""
        first: dict[str, str] = dict.fromkeys(self._files, "\n")
        for act in self._acts:
            if act.kind in ("read", "edit", "patch", "write"):
                old = act.body.partition("\n----\n")[0] if act.kind in ("edit", "patch") else act.body
                first.setdefault(act.line, "" if act.kind == "write" else f"{old}\n")
        for path, text in first.items():
            if text:
                self._put(path, text)
        self._put("README.md", f"# {self.work.name}\n")
        self._git("git init -q -b main && git add -A && git commit -q -m 'First commit'")

    def _put(self, path: str, text: str) -> str:
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return str(file)

    def _change(self, path: str, old: str, new: str) -> str:
        """Replace text in a file. A story shows only parts of files: what is not there is added."""
        file = self.work / path
        text = file.read_text(encoding="utf-8")
        self._put(path, text.replace(old, new, 1) if old in text else f"{text}{new}\n")
        return text

    def _git(self, command: str) -> str:
        stamp = "2026-11-17T10:00:00Z"
        identity = {
            f"GIT_{who}_{what}": value
            for who in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "dev"), ("EMAIL", "dev@example.org"), ("DATE", stamp))
        }
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.work,
            env={**self._environment, **identity, "GIT_CONFIG_NOSYSTEM": "1"},
            capture_output=True,
            text=True,
            check=True,
        )
        return (done.stdout + done.stderr).rstrip("\n")

    # --- acts that are the same for every host

    def _on_start(self, act: Act) -> None:
        self._hook("SessionStart", source=act.line or "startup")

    def _on_git(self, act: Act) -> None:
        command = f"git {act.line}"
        self._call("Bash", {"command": command}, self._git(command))

    def _on_bash(self, act: Act) -> None:
        self._call("Bash", {"command": act.line}, act.body)

    def _on_dies(self, act: Act) -> None:
        """The host is killed: no hook says so."""

    def _on_compacts(self, act: Act) -> None:
        self._hook("PreCompact", trigger="auto")
        self.packet = self._hook("SessionStart", source="compact")

    # --- what a host differs in

    def _common(self) -> dict[str, Any]:
        return {}

    def _transcript_name(self) -> str:
        raise NotImplementedError

    def _installed(self, home: Path) -> dict[str, str]:
        raise NotImplementedError

    def _call(self, tool: str, given: Mapping[str, Any], output: Any, *, failed: bool = False) -> None:
        raise NotImplementedError


def _todo_rows(body: str) -> list[tuple[str, str]]:
    """The steps of a list, each with its status."""
    return [(line[2:], _MARKS[line[0]]) for line in body.splitlines()]


def _installed_commands(path: Path) -> dict[str, str]:
    groups = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    return {event: rows[0]["hooks"][0]["command"] for event, rows in groups.items()}


def _now() -> str:
    seconds = time.time()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds * 1000) % 1000:03}Z"


class ClaudeSession(Session):
    """A session of Claude Code."""

    host = "claude-code"

    def _common(self) -> dict[str, Any]:
        return {"permission_mode": "default", **self._agent}

    def _transcript_name(self) -> str:
        return f"{self.session}.jsonl"

    def _installed(self, home: Path) -> dict[str, str]:
        return _installed_commands(home / ".claude/settings.json")

    def _line(self, kind: str, content: Any, **more: Any) -> None:
        line: dict[str, Any] = {
            "type": kind,
            "uuid": str(uuid.uuid4()),
            "parentUuid": None,
            "isSidechain": bool(self._agent),
            "sessionId": self.session,
            "timestamp": _now(),
            "cwd": str(self.work),
            "version": "2.1.325",
            **more,
            "message": {"role": kind, "content": content},
        }
        if self._agent:
            self._write({**line, "agentId": self._agent["agent_id"]}, to=self._helper_transcript())
        else:
            self._write(line)

    def _helper_transcript(self) -> Path:
        folder = self.transcript.with_suffix("") / "subagents"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"agent-{self._agent['agent_id']}.jsonl"

    def _tool_use(self, call: str, tool: str, given: Mapping[str, Any]) -> None:
        block = {"type": "tool_use", "id": call, "name": tool, "input": given}
        self._line("assistant", [block])
        self._hook("PreToolUse", tool_name=tool, tool_input=given, tool_use_id=call)

    def _tool_result(self, call: str, text: str, result: Any, *, failed: bool = False) -> None:
        block = {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": failed}
        self._line("user", [block], toolUseResult=result)

    def _call(
        self,
        tool: str,
        given: Mapping[str, Any],
        output: Any,
        *,
        failed: bool = False,
        interrupted: bool = False,
    ) -> None:
        call = self._next_call()
        self._tool_use(call, tool, given)
        fields: dict[str, Any] = {"tool_name": tool, "tool_input": given, "tool_use_id": call}
        if failed:
            self._hook("PostToolUseFailure", **fields, error=output, is_interrupt=interrupted)
            self._tool_result(call, output, f"Error: {output}", failed=True)
            return
        response = output
        if tool == "Bash":
            response = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        self._hook("PostToolUse", **fields, tool_response=response, duration_ms=40)
        self._tool_result(call, output if isinstance(output, str) else json.dumps(output), response)

    def _on_user(self, act: Act) -> None:
        self._hook("UserPromptSubmit", prompt=act.body)
        self._line("user", [{"type": "text", "text": act.body}])

    def _on_says(self, act: Act) -> None:
        self._line("assistant", [{"type": "text", "text": act.body}])
        self._last_message = act.body

    def _on_stops(self, act: Act) -> None:
        self._on_says(act)
        self._hook("Stop", stop_hook_active=False, last_assistant_message=act.body, background_tasks=[])

    def _on_bash_failed(self, act: Act) -> None:
        self._call("Bash", {"command": act.line}, act.body, failed=True)

    def _on_bash_began(self, act: Act) -> None:
        self._tool_use(self._next_call(), "Bash", {"command": act.line})

    def _on_interrupted(self, act: Act) -> None:
        self._call("Bash", {"command": act.line}, _INTERRUPTED, failed=True, interrupted=True)
        self._line("user", [{"type": "text", "text": _INTERRUPTED}])

    def _on_denied(self, act: Act) -> None:
        call = self._next_call()
        self._tool_use(call, "Bash", {"command": act.line})
        self._tool_result(
            call, _REFUSED + act.body, f"Error: {_REFUSED.splitlines()[0]}", failed=True
        )  # no hook reports it

    def _on_read(self, act: Act) -> None:
        path = str(self.work / act.line)
        lines = act.body.count("\n") + 1
        file = {"filePath": path, "content": act.body, "numLines": lines, "startLine": 1, "totalLines": lines}
        self._call("Read", {"file_path": path}, {"type": "text", "file": file})

    def _on_write(self, act: Act) -> None:
        path = self._put(act.line, act.body + "\n")
        given = {"file_path": path, "content": act.body + "\n"}
        result = {"type": "create", "filePath": path, "content": act.body + "\n", "structuredPatch": []}
        self._call("Write", given, {**result, "originalFile": None})

    def _on_edit(self, act: Act) -> None:
        old, _, new = act.body.partition("\n----\n")
        before = self._change(act.line, old, new)
        path = str(self.work / act.line)
        given = {"file_path": path, "old_string": old, "new_string": new, "replace_all": False}
        result = {"filePath": path, "oldString": old, "newString": new, "originalFile": before}
        self._call("Edit", given, {**result, "structuredPatch": [], "userModified": False})

    def _on_call(self, act: Act) -> None:
        tool, _, given = act.line.partition(" ")
        self._call(tool, json.loads(given), [{"type": "text", "text": act.body}])

    def _on_todo(self, act: Act) -> None:
        rows = [
            {"content": text, "status": status, "activeForm": text} for text, status in _todo_rows(act.body)
        ]
        self._call("TodoWrite", {"todos": rows}, {"oldTodos": [], "newTodos": rows})

    def _on_ask(self, act: Act) -> None:
        options: list[dict[str, str]] = []
        chosen = ""
        for line in act.body.splitlines():
            label, _, description = line.removeprefix("* ").partition(": ")
            options.append({"label": label, "description": description})
            chosen = label if line.startswith("* ") else chosen
        question = {"question": act.line, "header": "Question", "options": options, "multiSelect": False}
        call = self._next_call()
        self._tool_use(call, "AskUserQuestion", {"questions": [question]})
        result = {"questions": [question], "answers": {act.line: chosen}}
        fields = {"tool_name": "AskUserQuestion", "tool_use_id": call}
        self._hook("PostToolUse", **fields, tool_input=result, tool_response=result)
        self._tool_result(call, f"User has answered your questions: {act.line}={chosen}", result)

    # --- helpers

    def _on_helper(self, act: Act) -> None:
        kind, _, description = act.line.partition(": ")
        self._helper_call = self._next_call()
        given = {"description": description, "prompt": act.body, "subagent_type": kind}
        self._tool_use(self._helper_call, "Agent", given)
        self._helper_given = given
        self._agent = {"agent_id": uuid.uuid5(uuid.NAMESPACE_URL, description).hex[:17], "agent_type": kind}
        self._hook("SubagentStart")
        self._line("user", act.body)

    _on_helper_bash = Session._on_bash

    def _on_helper_read(self, act: Act) -> None:
        self._on_read(act)

    def _on_helper_goes_on(self, act: Act) -> None:
        """The helper works in the background from here on."""
        agent, self._agent = self._agent, {}
        result = {"status": "async_launched", "agentId": agent["agent_id"], "description": act.line}
        fields = {"tool_name": "Agent", "tool_input": self._helper_given, "tool_use_id": self._helper_call}
        self._hook("PostToolUse", **fields, tool_response=result)
        self._tool_result(self._helper_call, "Async agent launched successfully.", result)

    def _on_helper_ends(self, act: Act) -> None:
        self._line("assistant", [{"type": "text", "text": act.body}])
        self._hook(
            "SubagentStop",
            stop_hook_active=False,
            agent_transcript_path=str(self._helper_transcript()),
            last_assistant_message=act.body,
        )
        agent, self._agent = self._agent, {}
        result = {
            "status": "completed",
            "agentId": agent["agent_id"],
            "content": [{"type": "text", "text": act.body}],
        }
        call = self._helper_call
        self._hook(
            "PostToolUse",
            tool_name="Agent",
            tool_input=self._helper_given,
            tool_use_id=call,
            tool_response=result,
        )
        self._tool_result(call, act.body, result)


class CodexSession(Session):
    """A session of Codex: one tool for commands, patches, a plan, and no hook for failures."""

    host = "codex"

    def __init__(self, folder: Path, name: str, acts: list[Act], files: list[str]) -> None:
        super().__init__(folder, name, acts, files)
        self._ordinal = 0
        meta = {"id": self.session, "timestamp": _now(), "cwd": str(self.work), "cli_version": "0.166.0"}
        self._item("session_meta", {"session_id": self.session, **meta, "source": "cli"})

    def _common(self) -> dict[str, Any]:
        return {"model": "gpt-5.5", "permission_mode": "default", "turn_id": f"turn-{self._ordinal}"}

    def _transcript_name(self) -> str:
        return f"rollout-2026-11-17T09-00-00-{self.session}.jsonl"

    def _installed(self, home: Path) -> dict[str, str]:
        return _installed_commands(home / ".codex/hooks.json")

    def _item(self, kind: str, payload: Mapping[str, Any]) -> None:
        self._write({"timestamp": _now(), "ordinal": self._ordinal, "type": kind, "payload": payload})
        self._ordinal += 1

    def _message(self, role: str, text: str) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text}]
        self._item(
            "response_item",
            {"type": "message", "id": f"msg_{self._ordinal}", "role": role, "content": content},
        )

    def _call(self, tool: str, given: Mapping[str, Any], output: Any, *, failed: bool = False) -> None:
        call = self._begin(tool, given)
        if tool == "Bash":
            command = {
                "type": "CommandExecution",
                "id": call,
                "command": ["/bin/bash", "-lc", given["command"]],
                "status": "failed" if failed else "completed",
                "aggregated_output": f"{output}\n",
                "exit_code": int(failed),
            }
            self._item("event_msg", {"type": "item_completed", "item": command})
            shown = f"Wall time: 0.1 seconds\nProcess exited with code {int(failed)}\nOutput:\n{output}\n"
        else:
            shown = output
        self._hook(
            "PostToolUse", tool_name=tool, tool_input=given, tool_response=f"{output}\n", tool_use_id=call
        )
        self._end(tool, call, shown)

    def _begin(self, tool: str, given: Mapping[str, Any]) -> str:
        call = self._next_call()
        if tool == "apply_patch":
            item = {"type": "custom_tool_call", "name": tool, "input": given["command"], "call_id": call}
        else:
            name, arguments = (
                ("exec_command", {"cmd": given["command"]}) if tool == "Bash" else (tool, dict(given))
            )
            item = {
                "type": "function_call",
                "name": name,
                "arguments": json.dumps(arguments),
                "call_id": call,
            }
        self._item("response_item", item)
        self._hook("PreToolUse", tool_name=tool, tool_input=given, tool_use_id=call)
        return call

    def _end(self, tool: str, call: str, output: str) -> None:
        kind = "custom_tool_call_output" if tool == "apply_patch" else "function_call_output"
        self._item("response_item", {"type": kind, "call_id": call, "output": output})

    def _on_user(self, act: Act) -> None:
        self._hook("UserPromptSubmit", prompt=act.body)
        self._message("user", act.body)

    def _on_says(self, act: Act) -> None:
        self._message("assistant", act.body)

    def _on_stops(self, act: Act) -> None:
        self._message("assistant", act.body)
        self._hook("Stop", stop_hook_active=False, last_assistant_message=act.body)

    def _on_bash_failed(self, act: Act) -> None:
        self._call("Bash", {"command": act.line}, act.body, failed=True)

    def _on_bash_began(self, act: Act) -> None:
        self._begin("Bash", {"command": act.line})

    def _on_denied(self, act: Act) -> None:
        """Codex asks before it runs a command; who says no ends the turn and writes what to do instead."""
        call = self._begin("Bash", {"command": act.line})
        self._end("Bash", call, "exec_command failed: rejected by user")
        self._on_user(Act("user", "", act.body))

    def _on_plan(self, act: Act) -> None:
        plan = [{"step": text, "status": status} for text, status in _todo_rows(act.body)]
        self._call("update_plan", {"plan": plan}, "Plan updated")

    def _on_patch(self, act: Act) -> None:
        old, _, new = act.body.partition("\n----\n")
        self._change(act.line, old, new)
        lines = [f"-{line}" for line in old.splitlines()] + [f"+{line}" for line in new.splitlines()]
        self._patch("Update", act.line, ["@@", *lines])

    def _on_write(self, act: Act) -> None:
        self._put(act.line, act.body + "\n")
        self._patch("Add", act.line, [f"+{line}" for line in act.body.splitlines()])

    def _patch(self, what: str, path: str, lines: list[str]) -> None:
        text = "\n".join(["*** Begin Patch", f"*** {what} File: {path}", *lines, "*** End Patch", ""])
        letter = "M" if what == "Update" else "A"
        self._call(
            "apply_patch", {"command": text}, f"Success. Updated the following files:\n{letter} {path}"
        )

    def _on_call(self, act: Act) -> None:
        tool, _, given = act.line.partition(" ")
        self._call(tool, json.loads(given), act.body)


SESSIONS: dict[str, type[Session]] = {one.host: one for one in (ClaudeSession, CodexSession)}
