"""Sessions for `request_boundaries.py --fresh`: `python bench/request_sessions.py CLONE… --to FOLDER`.

Reads agents' sessions from clones of public repositories that keep them on the branch
`entire/checkpoints/v1`, or as text of SpecStory in `.specstory/history`, and writes each as
`traces/SESSION.jsonl.gz`, in the form of the recorded sessions.
The labels in `labels/requests_fresh.json` name sessions and event numbers only; no text is in this project.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from request_boundaries import FRESH_LABELS

from ringbolt.hosts.transcripts import events as transcript
from ringbolt.hosts.transcripts.claude import ClaudeParser
from ringbolt.hosts.transcripts.reader import TranscriptReader

BRANCH = "entire/checkpoints/v1"
STATUSES = {"done": "completed"}
OPENCODE_TOOLS = {
    "bash": "Bash", "edit": "Edit", "write": "Write", "read": "Read", "grep": "Grep", "glob": "Glob",
}  # fmt: skip

Event = tuple[float, dict[str, Any]]

# SpecStory writes a session as Markdown: who speaks, the words, and each call as a line or a folded block.
HISTORY = ".specstory/history"
SPEAKER = re.compile(r"^_\*\*(User|Assistant|Agent)([^*\n]*)\*\*_\s*$", re.M)
CLOCK = re.compile(r"\((\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?)Z?\)")
THINKING = re.compile(r"<think>.*?</think>", re.S)
FOLDED = re.compile(r"<details>.*?</details>(?:</tool-use>)?", re.S)
NO_WORDS = re.compile(r"^Tool use: .*$|^---\s*$|^Read file: .*$|</?tool-use[^>]*>", re.M)
CALL = re.compile(
    r"(?P<kind>Edit file|Read file|Listed|Searched|Grep search)[: ]\s*(?P<what>[^<\n]{1,200})"
    r"|Tool use: \*\*(?P<tool>[\w.-]+)\*\*(?P<rest>(?:(?!Tool use:).){0,600})",
    re.S,
)
FIELD = re.compile(
    r"^- (\w+): `([^`\n]*)`|^\s*\"?(command|file_path|target_file|path|filePath)\"?: ?[\"`]([^\"`\n]*)", re.M
)
SHELL = re.compile(r"```(?:bash|sh)?\n(.*?)```", re.S)
KINDS = {"Edit file": "Edit", "Read file": "Read", "Listed": "LS", "Searched": "Grep", "Grep search": "Grep"}
TOOLS = {
    "replace": "Edit", "edit": "Edit", "write": "Edit", "create": "Write", "patch": "Edit", "insert": "Edit",
    "delete": "Edit", "terminal": "Bash", "cmd": "Bash", "read": "Read", "grep": "Grep", "search": "Grep",
    "list": "LS", "glob": "Glob", "find": "Grep",
}  # fmt: skip


def newest_transcripts(clone: Path) -> dict[str, tuple[str, str]]:
    """The largest transcript of each session: (blob, agent). A checkpoint holds the session up to then."""
    found: dict[str, tuple[int, str, str]] = {}
    for line in _git(clone, "ls-tree", "-r", "-l", BRANCH).decode().splitlines():
        _, _, blob, size, path = line.split(None, 4)
        if not path.endswith("/full.jsonl") or not size.isdigit():
            continue
        about = json.loads(_git(clone, "show", f"{BRANCH}:{path.rsplit('/', 1)[0]}/metadata.json") or b"{}")
        session = about.get("session_id", "")
        found[session] = max(found.get(session, (0, "", "")), (int(size), blob, about.get("agent", "")))
    return {session: (blob, agent) for session, (_, blob, agent) in found.items()}


def claude_events(text: bytes) -> Iterator[Event]:
    for event in TranscriptReader(io.BytesIO(text), ClaudeParser("bench"), partial=True).events():
        at = event.at or 0.0
        if event.agent:
            continue
        if isinstance(event, transcript.Prompt):
            yield at, {"k": "user", "text": event.text}
        elif isinstance(event, transcript.Message):
            yield at, {"k": "assistant", "text": event.text}
        elif isinstance(event, transcript.ToolCall):
            yield at, {"k": "call", "tool": event.tool, "input": event.input, "failed": event.failed}
        elif isinstance(event, transcript.TodoList):
            items = [
                {"text": item.get("text"), "status": STATUSES.get(item["status"], item["status"])}
                for item in event.items
            ]
            yield at, {"k": "plan", "items": items}
        elif isinstance(event, transcript.Compaction):
            yield at, {"k": "meta", "text": "compact"}
        elif isinstance(event, transcript.Notice):
            yield at, {"k": "meta", "text": event.text[:300]}
        elif isinstance(event, transcript.PlanReview):
            yield at, {"k": "decision", "src": "ExitPlanMode", "plan": event.plan, "approved": event.approved}


def opencode_events(text: bytes) -> Iterator[Event]:
    for message in json.loads(text).get("messages", ()):
        about = message.get("info", {})
        at = (about.get("time", {}).get("created") or 0) / 1000
        kind = "user" if about.get("role") == "user" else "assistant"
        for part in message.get("parts", ()):
            if part.get("type") == "text" and not part.get("synthetic") and not part.get("ignored"):
                yield at, {"k": kind, "text": part.get("text", "")}
            elif part.get("type") == "tool":
                state = part.get("state", {})
                given = state.get("input", {})
                if part.get("tool") == "todowrite":
                    items = [
                        {"text": one.get("content"), "status": one.get("status")}
                        for one in given.get("todos", ())
                    ]
                    yield at, {"k": "plan", "items": items}
                given = {"file_path" if name == "filePath" else name: value for name, value in given.items()}
                tool = OPENCODE_TOOLS.get(part.get("tool"), part.get("tool"))
                yield (
                    at,
                    {"k": "call", "tool": tool, "input": given, "failed": state.get("status") == "error"},
                )


def written_down(text: str) -> Iterator[Event]:
    """The events of a session that SpecStory wrote down. Only prompts have times, in some versions."""
    head, *parts = SPEAKER.split(text)
    at = _clock(head, 0.0)
    for who, about, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        at = _clock(about, at)
        if who == "User":
            if words := re.sub(r"\n---\s*\Z", "", body.strip()).strip():
                yield at, {"k": "user", "text": words}
            continue
        said = THINKING.sub("\n", body)
        for tool, given in _calls(said):
            yield at, {"k": "call", "tool": tool, "input": given}
        if words := re.sub(r"\n{3,}", "\n\n", NO_WORDS.sub("", FOLDED.sub("\n", said))).strip():
            yield at, {"k": "assistant", "text": words[-6000:]}


def _clock(text: str, otherwise: float) -> float:
    found = CLOCK.search(text)
    return datetime.fromisoformat(found[1]).replace(tzinfo=UTC).timestamp() if found else otherwise


def _calls(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    for found in CALL.finditer(text):
        if kind := found["kind"]:
            what = found["what"].strip()
            if what != "undefined":
                yield KINDS[kind], {"file_path" if "file" in kind else "pattern": what}
            continue
        name = found["tool"].lower()
        tool = next((tool for part, tool in TOOLS.items() if part in name), found["tool"])
        fields = {one or other: first or second for one, first, other, second in FIELD.findall(found["rest"])}
        shell = SHELL.search(found["rest"])
        if tool == "Bash":
            if command := fields.get("command") or (shell[1].strip() if shell else ""):
                yield tool, {"command": command[:400]}
        elif "todo" not in name:
            names = ("filePath", "file_path", "target_file", "path")
            if path := next((fields[one] for one in names if fields.get(one)), ""):
                yield tool, {"file_path": path}


READERS = {"Claude Code": claude_events, "OpenCode": opencode_events}


def sessions_of(clone: Path, wanted: set[str]) -> Iterator[tuple[str, Iterator[Event]]]:
    """The wanted sessions of a clone."""
    for session, (blob, agent) in newest_transcripts(clone).items():
        if session in wanted:
            yield session, READERS[agent](_git(clone, "cat-file", "blob", blob))
    for path in _git(clone, "ls-tree", "-r", "--name-only", "-z", "HEAD", HISTORY).decode().split("\0"):
        if (session := Path(path).stem) in wanted:
            text = _git(clone, "show", f"HEAD:{path}").decode("utf-8", errors="replace")
            yield session, written_down(text)


def _git(clone: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", "-C", str(clone), *arguments], capture_output=True, check=False).stdout


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the sessions of checkpoint branches as traces.")
    parser.add_argument("clones", type=Path, nargs="+")
    parser.add_argument("--to", type=Path, required=True)
    options = parser.parse_args()
    labels = json.loads(FRESH_LABELS.read_text(encoding="utf-8"))
    missing = {row["session"] for rows in labels.values() for row in rows}
    traces = options.to / "traces"
    traces.mkdir(parents=True, exist_ok=True)
    for clone in options.clones:
        for session, events in sessions_of(clone, missing):
            missing.remove(session)
            lines = [json.dumps({"k": "meta0", "session": session})]
            for number, (at, event) in enumerate(events):
                moment = datetime.fromtimestamp(at, UTC).isoformat()
                lines.append(json.dumps({"i": number, "ts": moment, **event}))
            with gzip.open(traces / f"{session}.jsonl.gz", "wt", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    for session in sorted(missing):
        print(f"not found: {session}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
