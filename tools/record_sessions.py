"""Record the sessions that tests replay, with the host programs that `make test-hosts` fetches.

Run it with `.venv/bin/python tools/record_sessions.py`. It runs the real Claude Code and Codex against the
scripted model of tests/live, and writes two files to tests/hosts/recorded/<host>/: the transcript
(session.jsonl), and the input of each hook with the size of the transcript at that time
(session-hooks.jsonl). Paths of this machine are replaced, and the host's own texts (its prompts and
reminders) are truncated.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ringbolt.hosts.transcripts.events import is_host_text  # noqa: E402 - after the path is set
from tests.live.model_servers import Call, Turn, calls, model_server, says  # noqa: E402
from tests.live.programs import SECONDS, ClaudeCode, Codex, Program, kill  # noqa: E402

RECORDED = ROOT / "tests" / "hosts" / "recorded"
HOME, WORK = "/home/user", "/home/user/shop"  # what stands for the folders of this machine
REQUEST = "The import of orders stops at line 900.\nFind out why and fix it. Leave the tax tables alone."
NEXT = "Now make the importer log each line that it skips."
LAST = "Write a note about it for the changelog."
REFUSED = "rm -r archive"
WHY_REFUSED = "Keep the archive, the auditors need it."
QUESTION = {
    "question": "What should happen to a broken line?",
    "header": "Broken lines",
    "multiSelect": False,
    "options": [
        {"label": "Skip it", "description": "the rest of the file is still imported"},
        {"label": "Stop", "description": "nothing is imported until it is corrected"},
    ],
}
SUMMARY = "The importer stopped at broken lines. It skips them now, as the user wants; logging is next."
IMPORTER = "def read(lines):\n    return [line.split(',')[1] for line in lines]\n"
CHECK = "python3 -c \"import importer; print(importer.read(['a,1', 'broken']))\""


def main() -> None:
    """Record both hosts, and check that the recordings contain nothing about this machine."""
    with tempfile.TemporaryDirectory() as folder:
        for record in (record_claude_code, record_codex):
            with model_server() as server:
                record(Path(folder).resolve(), server)
    for path in RECORDED.glob("*/session*.jsonl"):
        text = path.read_text(encoding="utf-8")
        for word in (socket.gethostname(), str(ROOT), str(Path.home()), tempfile.gettempdir(), "127.0.0.1"):
            if word in text:
                raise SystemExit(f"{path} contains {word!r}")
        print(f"{path.relative_to(ROOT)}: {len(text.splitlines())} lines, {len(text):,} characters")


Lines = Iterable[dict[str, Any]]
Clean = Callable[[Lines], Iterator[dict[str, Any] | None]]


# --- Claude Code ------------------------------------------------------------------------------------


def record_claude_code(folder: Path, server: Any) -> None:
    """Three prompts with a question, a refused call and failures, and a compaction before the last."""
    claude = ClaudeCode(_made(folder / "claude"), server)
    told = _recording_hooks(claude, "--project")
    (claude.work / ".mcp.json").unlink()  # only the hooks are wanted here
    _prepare(claude.work)
    server.script.summary = SUMMARY
    server.script.turns = [*_first_claude_turns(claude.work), *_second_claude_turns(claude.work)]
    _converse(claude, [REQUEST, NEXT])
    claude.run("--continue", "--model", "claude-sonnet-4-5", "/compact")
    server.script.turns = [
        Turn(
            text="I write the note.", calls=(_write(claude.work / "NOTES.md", "Broken lines are logged.\n"),)
        ),
        calls("Bash", command="cat NOTES.md", description="Read the note"),
        says("The note is in NOTES.md."),
    ]
    claude.run("--continue", "--model", "claude-sonnet-4-5", LAST)
    transcripts = sorted((claude.home / ".claude" / "projects").glob("*/*.jsonl"))
    if len(transcripts) != 1:
        raise SystemExit(f"one transcript expected: {transcripts}")
    _save(claude, told, transcripts[0], _clean_claude)


def _first_claude_turns(work: Path) -> list[Turn]:
    importer = str(work / "importer.py")
    return [
        calls("ToolSearch", query="select:TaskCreate,TaskUpdate,AskUserQuestion"),
        Turn(
            text="I make a list first.",
            calls=tuple(
                Call("TaskCreate", {"subject": subject, "description": subject})
                for subject in ("Reproduce the failure", "Fix the importer", "Test it")
            ),
        ),
        calls("TaskUpdate", taskId="1", status="in_progress"),
        calls("Bash", command="ls", description="List the files"),
        calls("Read", file_path=importer),
        Turn(
            text="I reproduce it.", calls=(Call("Bash", {"command": CHECK, "description": "Reproduce it"}),)
        ),
        calls("Bash", command="cat missing-orders.csv", description="Look at the orders"),
        Turn(
            text="A line without a comma has no second field. That is the reason.",
            calls=(Call("TaskUpdate", {"taskId": "1", "status": "completed"}),),
        ),
        calls("TaskUpdate", taskId="2", status="in_progress"),
        Turn(text="I would free some space first.", calls=(Call("Bash", {"command": REFUSED}),)),
        calls("AskUserQuestion", questions=[QUESTION]),
        calls(
            "Edit",
            file_path=importer,
            old_string="for line in lines]",
            new_string="for line in lines if ',' in line]",
        ),
        calls("Edit", file_path=importer, old_string="never there", new_string="nowhere"),
        Turn(text="Now the test.", calls=(Call("Bash", {"command": CHECK, "description": "Try it again"}),)),
        calls("TaskUpdate", taskId="2", status="completed"),
        calls("TaskUpdate", taskId="3", status="in_progress"),
        says("The importer skips broken lines now. A lasting test is still missing."),
    ]


def _second_claude_turns(work: Path) -> list[Turn]:
    test = "import importer\n\nassert importer.read(['a,1', 'broken']) == ['1']\nprint('1 passed')\n"
    return [
        Turn(text="First the test.", calls=(_write(work / "test_importer.py", test),)),
        calls("Bash", command="python3 test_importer.py", description="Run the tests"),
        calls("TaskUpdate", taskId="3", status="completed"),
        calls("Bash", command="python3 -m no_such_linter importer.py", description="Lint"),
        calls("Grep", pattern="split", path=str(work)),
        *(calls("Bash", command=f"echo checked part {number}") for number in range(1, 7)),
        says("Each skipped line is logged now."),
    ]


def _write(path: Path, content: str) -> Call:
    return Call("Write", {"file_path": str(path), "content": content})


def _converse(claude: ClaudeCode, prompts: list[str]) -> None:
    """Talk to Claude Code over its streams, and answer its questions as a user would."""
    arguments = ["--input-format", "stream-json", "--verbose", "--permission-prompt-tool", "stdio"]
    command = claude.command(*arguments, "--model", "claude-sonnet-4-5")
    for old, new in (("json", "stream-json"), ("bypassPermissions", "default")):
        command[command.index(old)] = new
    process = subprocess.Popen(
        command, env=claude.environment(), cwd=claude.work, text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        _send(process, {"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}})
        for prompt in prompts:
            _send(process, {"type": "user", "message": {"role": "user", "content": prompt}})
            for line in process.stdout or ():
                message = json.loads(line)
                if message.get("type") == "control_request":
                    _send(process, _decide(message))
                if message.get("type") == "result":
                    break
        process.communicate(timeout=SECONDS)
    finally:
        kill(process)


def _send(process: subprocess.Popen[str], message: dict[str, Any]) -> None:
    if process.stdin is not None:
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()


def _decide(message: dict[str, Any]) -> dict[str, Any]:
    """What the user says to a tool call: yes to all but one, and an answer to the question."""
    request = message["request"]
    given = request.get("input") or {}
    answer: dict[str, Any] = {"behavior": "allow", "updatedInput": given}
    if request.get("tool_name") == "AskUserQuestion":
        answer["updatedInput"] = {**given, "answers": {QUESTION["question"]: "Skip it"}}
    elif given.get("command") == REFUSED:
        answer = {"behavior": "deny", "message": WHY_REFUSED}
    response = {"subtype": "success", "request_id": message["request_id"], "response": answer}
    return {"type": "control_response", "response": response}


_CLAUDE_FIELDS = (
    "type", "subtype", "uuid", "parentUuid", "isSidechain", "agentId", "isMeta", "isCompactSummary",
    "sessionId", "timestamp", "cwd", "version", "toolUseResult",
)  # fmt: skip


def _clean_claude(lines: Lines) -> Iterator[dict[str, Any] | None]:
    """Each line of a transcript with the fields that matter, without the host's own prompts."""
    seen: set[str] = set()
    for line in lines:
        kept = {name: line[name] for name in _CLAUDE_FIELDS if name in line}
        if line["type"] not in ("user", "assistant"):
            kind = f"{line['type']} {(line.get('attachment') or {}).get('type')}"
            if kind in seen:  # one of each is enough
                yield None
            else:
                seen.add(kind)
                yield {
                    name: kept[name] for name in ("type", "subtype", "sessionId", "timestamp") if name in kept
                }
            continue
        content = line["message"]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        for block in blocks:
            if block["type"] == "text" and (line.get("isMeta") or is_host_text(block["text"])):
                block["text"] = _host_text(block["text"])
        message = {"role": line["message"]["role"], "content": blocks}
        yield {**kept, "message": message}


# --- Codex ------------------------------------------------------------------------------------------


def record_codex(folder: Path, server: Any) -> None:
    """Two prompts, with a plan, failures, a patch, and a compaction in the middle of the first."""
    codex = Codex(_made(folder / "codex"), server)
    settings = codex.home / ".codex" / "config.toml"
    before = settings.read_text()
    told = _recording_hooks(codex, "--user")
    settings.write_text(before)  # only the hooks are wanted here
    _prepare(codex.work)
    server.script.summary = SUMMARY
    plans = ("-c", "tools.update_plan.enabled=true")
    steps = ("Reproduce the failure", "Fix the importer", "Test it")
    fix = (
        "*** Begin Patch\n*** Update File: importer.py\n@@\n def read(lines):\n"
        "-    return [line.split(',')[1] for line in lines]\n"
        "+    return [line.split(',')[1] for line in lines if ',' in line]\n"
        "*** Add File: test_importer.py\n+import importer\n+\n"
        "+assert importer.read(['a,1', 'broken']) == ['1']\n+print('1 passed')\n*** End Patch\n"
    )
    server.script.turns = [
        Turn(text="I make a plan first.", calls=(_plan(steps, 0),)),
        calls("exec_command", cmd="ls"),
        calls("exec_command", cmd="cat importer.py"),
        calls("exec_command", cmd=CHECK),
        calls("exec_command", cmd="cat missing-orders.csv"),
        Turn(text="A line without a comma has no second field.", calls=(_plan(steps, 1),)),
        calls("apply_patch", _free=fix),
        calls(
            "apply_patch", _free="*** Begin Patch\n*** Update File: nowhere.py\n@@\n-a\n+b\n*** End Patch\n"
        ),
        Turn(calls=(Call("exec_command", {"cmd": "python3 test_importer.py"}),), tokens=9000),
        Turn(calls=(_plan(steps, 3),)),
        says("The importer skips broken lines now."),
    ]
    codex.run(*plans, "-c", "model_auto_compact_token_limit=5000", REQUEST)
    server.script.turns = [
        *(calls("exec_command", cmd=f"echo checked part {number}") for number in range(1, 7)),
        calls("exec_command", cmd="python3 -m no_such_linter importer.py"),
        says("Each skipped line is logged now."),
    ]
    codex.run(*plans, "resume", "--last", NEXT)
    (transcript,) = (codex.home / ".codex" / "sessions").glob("*/*/*/rollout-*.jsonl")
    _save(codex, told, transcript, _clean_codex)


def _plan(steps: tuple[str, ...], done: int) -> Call:
    statuses = [
        "completed" if at < done else "in_progress" if at == done else "pending" for at in range(len(steps))
    ]
    plan = [{"step": step, "status": status} for step, status in zip(steps, statuses, strict=True)]
    return Call("update_plan", {"plan": plan})


_CODEX_LEFT_OUT = (
    "base_instructions", "instructions", "git", "replacement_history", "user_instructions", "dynamic_tools",
)  # fmt: skip


def _clean_codex(lines: Lines) -> Iterator[dict[str, Any] | None]:
    """Each line of a rollout without the host's own prompts."""
    seen: set[str] = set()
    for line in lines:
        payload = {name: value for name, value in line["payload"].items() if name not in _CODEX_LEFT_OUT}
        is_item = payload.get("type") in ("item_completed", "user_message", "agent_message")
        if line["type"] not in ("session_meta", "response_item", "compacted") and not is_item:
            if line["type"] in seen:  # one of each is enough
                yield None
                continue
            seen.add(line["type"])
            payload = {name: payload[name] for name in ("type", "cwd") if name in payload}
        for block in payload.get("content") or [] if payload.get("type") == "message" else []:
            if payload.get("role") == "developer" or is_host_text(block.get("text") or ""):
                block["text"] = _host_text(block["text"])
        yield {**line, "payload": payload}


# --- both -------------------------------------------------------------------------------------------


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _prepare(work: Path) -> None:
    (work / "importer.py").write_text(IMPORTER)
    _made(work / "archive")


def _recording_hooks(program: Program, scope: str) -> Path:
    """Install a program in place of our hook that stores its input; returns the path of its output."""
    told, folder = program.home / "told.jsonl", _made(program.home / "bin")
    hook = folder / "ringbolt-hook"
    hook.write_text(
        f"#!{sys.executable}\n"
        "import json, os, sys\n"
        "told = json.load(sys.stdin)\n"
        'path = told.get("transcript_path") or ""\n'
        "size = os.path.getsize(path) if os.path.exists(path) else 0\n"
        'line = json.dumps({"event": sys.argv[2], "transcript_bytes": size, "told": told}) + "\\n"\n'
        f"os.write(os.open({str(told)!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND), line.encode())\n"
    )
    hook.chmod(0o755)
    program.install(scope, "--program", str(hook))
    return told


def _save(program: Program, told: Path, transcript: Path, clean: Clean) -> None:
    """Write a recording, without the names of folders and the host's own texts."""
    folders = {
        str(transcript.parent): f"{HOME}/transcripts", str(program.work): WORK, str(program.home): HOME,
        str(program.work).replace("/", "-"): "shop",
    }  # fmt: skip
    folder = RECORDED / program.host
    raw = transcript.read_bytes().splitlines(keepends=True)
    kept = clean(map(json.loads, raw))
    sizes, before, now, texts = {0: 0}, 0, 0, list[str]()
    for old, new in zip(raw, kept, strict=True):
        texts.append("" if new is None else _line(new, folders))
        before, now = before + len(old), now + len(texts[-1].encode())
        sizes[before] = now  # how long our file is where the host's was so long
    (folder / "session.jsonl").write_text("".join(texts), encoding="utf-8")
    events = map(json.loads, told.read_text(encoding="utf-8").splitlines())
    hooks = [_line({**one, "transcript_bytes": sizes[one["transcript_bytes"]]}, folders) for one in events]
    (folder / "session-hooks.jsonl").write_text("".join(hooks), encoding="utf-8")


def _line(value: dict[str, Any], folders: dict[str, str]) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    for own, other in folders.items():
        text = text.replace(own, other)
    return re.sub(r"http://127\.0\.0\.1:\d+", "http://model.example", text) + "\n"


def _host_text(text: str) -> str:
    """Only the beginning of a host's text, by which it is recognised."""
    return text if len(text) <= 60 else f"{text[:40].splitlines()[0]} …"


if __name__ == "__main__":
    main()
