"""Sessions for `request_boundaries.py --fresh`: `python bench/request_sessions.py CLONE… --to FOLDER`.

Reads agents' sessions from clones of public repositories that keep them on the branch
`entire/checkpoints/v1`, and writes each as `traces/SESSION.jsonl.gz`, in the form of the recorded sessions.
The labels in `labels/requests_fresh.json` name sessions and event numbers only; no text is in this project.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
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


READERS = {"Claude Code": claude_events, "OpenCode": opencode_events}


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
        for session, (blob, agent) in newest_transcripts(clone).items():
            if session not in missing:
                continue
            missing.remove(session)
            lines = [json.dumps({"k": "meta0", "session": session})]
            for number, (at, event) in enumerate(READERS[agent](_git(clone, "cat-file", "blob", blob))):
                moment = datetime.fromtimestamp(at, UTC).isoformat()
                lines.append(json.dumps({"i": number, "ts": moment, **event}))
            with gzip.open(traces / f"{session}.jsonl.gz", "wt", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    for session in sorted(missing):
        print(f"not found: {session}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
