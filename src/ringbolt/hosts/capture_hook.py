"""The capture hook: the process that a host starts for every event.

It reads the event from standard input, removes secrets and bulk, writes one file into the journal and
exits, always with code 0. Only a few events need an answer from the store; for those it imports the package
and calls `store_hook.answer`.

The time of this process is almost all start-up, so it is written to start fast:

- `hook_build.py` joins this module with those of `hook_parts/` and compiles them into one file, together with
  the rules for secrets and their patterns. The host's settings run that file with the base interpreter and
  `-I -S`: no `site`, no virtual environment.
- It uses the C modules `posix`, `_json` and `_blake2` in place of `os`, `json` and `hashlib`. Importing
  `json` means importing `re`, and that takes as long as starting Python does.
- Parts are loaded when an event first needs them.

This is also the module behind `ringbolt-hook` and `ringbolt hook`. It then runs a build that is there, or
imports what a build embeds. At the top, it and the modules of `hook_parts/` import nothing of the package but
each other, and no name is defined in two of them.
"""

from __future__ import annotations

import gc
import marshal
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from .hook_parts.calls import READ_TOOLS, call_heads, has_failed, may_act_outside, may_forbid
from .hook_parts.card_check import card_has
from .hook_parts.cleaning import HARMLESS, SURELY_FITS, cleaned, encodable, may_hold_secret
from .hook_parts.embedded_parts import (
    BUILT,
    ReadyPatterns,
    embedded,
    host_facts,
    redaction_module,
    rules_digest,
)
from .hook_parts.hook_settings import HookSettings, journal_folders, user_folder
from .hook_parts.host_state import host_process, tokens_in_use, was_compacted
from .hook_parts.journal_files import (
    blake2b,
    boot_id,
    head_digest,
    replace_small,
    session_digest,
    write_event,
)
from .hook_parts.plain_json import encode, is_dict, parse
from .hook_parts.system_calls import (
    Late,
    complain,
    exists,
    listed,
    read_input,
    read_part,
    read_small,
    set_alarm,
    system,
    unlink,
    variable,
    write_all,
)

# Seconds that a host may take to hand its event over, and that we may take to write it.
_PATIENCE = 5.0
# An event that is not JSON is kept up to here, enough to see what it was.
_MOST_RAW = 20_000
_MOST_EVENT = 8 << 20
_TOOL_RESULTS = ("PostToolUse", "PostToolUseFailure")
_OPENS_STORE = ("SessionStart", "PreCompact", "Stop", "SessionEnd", "Heartbeat")
# The tool that shows the user a plan; of no other tool is the beginning kept.
_SHOWS_PLAN = "ExitPlanMode"
_COMPACTS = ("PreCompact", "SessionStart")
_DELIVERS = ("UserPromptSubmit", "PostToolUse")
# The windows of models in tokens, the share at which a compaction is near, the bytes of a transcript that
# surely belong to a smaller context, and those at its end that have the usage of the last request.
_WINDOWS, _NEARLY, _SMALL_TRANSCRIPT, _USAGE = (200_000, 1_000_000), 0.8, 200_000, 96 << 10
# Events that say which process the host is: an MCP server below the same one belongs to the same session.
_NAMES_HOST = ("SessionStart", "UserPromptSubmit")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Handle one event and end the process, always with exit code 0."""
    gc.disable()  # the process is gone before there is anything to collect
    words = sys.argv[1:] if arguments is None else arguments
    if not BUILT:
        run_build(words)
    try:
        try:
            answer = handle(words[0] if words else "", words[1] if len(words) > 1 else "")
            if answer:
                write_all(1, answer.encode("utf-8", "replace") + b"\n")
        except Late:
            complain("the time was up")
        except BaseException as error:  # noqa: BLE001 - no error may stop the host
            complain(f"{type(error).__name__}: {error}")
        set_alarm(None)
        if not BUILT and [word.lower() for word in words[1:]] == ["sessionstart"]:
            keep_build()
    finally:  # also if the alarm rings once more
        # Without taking the interpreter apart, which takes longer than our own work.
        system._exit(0)  # pyright: ignore[reportPrivateUsage]


def handle(host: str, event: str) -> str:
    """Take one event from standard input; returns the text for standard output."""
    monotonic = time.monotonic_ns()
    facts = host_facts(host)
    if event not in facts.get("events", ()):
        complain(f"unknown event {event!r} of host {host!r}")
        return ""
    set_alarm(_PATIENCE)
    data = read_input()
    if not data.strip():
        complain("there was no event on standard input")
        return ""
    return CapturedEvent(host, event, facts, data, monotonic).run()


def run_build(words: list[str]) -> None:
    """Run a build of this version instead of this module, if there is one; the process then ends there.

    Importing the package takes several times as long as the rest. Plugins name `ringbolt-hook` alone, as
    they know no path of this machine.
    """
    try:
        from _frozen_importlib_external import MAGIC_NUMBER

        from ringbolt._version import __version__

        folder = f"{user_folder('XDG_DATA_HOME', '.local/share')}/hooks"
        begin = f"ringbolt-hook-{__version__}-{MAGIC_NUMBER[:2].hex()}-"
        name = next((name for name in listed(folder) if name.startswith(begin)), None)
        if name is None or system.stat(f"{folder}/{name}").st_mtime < source_time():
            return
        code = marshal.loads(read_small(f"{folder}/{name}")[16:])  # noqa: S302 - the installer's own file
        sys.argv[1:] = words
        exec(code, {"__name__": "__main__"})  # noqa: S102 - the same source, compiled
    except Exception:  # noqa: BLE001 - a build that is damaged: standard input has not been read
        return


def source_time() -> float:
    """When the sources of the hook were last changed: while they are worked on, no older build is run."""
    parts = f"{__file__.removesuffix('capture_hook.py')}hook_parts"
    files = [__file__, *(f"{parts}/{name}" for name in listed(parts) if name.endswith(".py"))]
    return max(system.stat(file).st_mtime for file in files)


def keep_build() -> None:
    """Make a build for the next event: once, and when the host waits longest."""
    try:
        from ringbolt.hosts.hook_build import build_folder, build_name, write_build

        write_build(f"{build_folder()}/{build_name()}")
    except Exception as error:  # noqa: BLE001 - the module works without
        complain(f"no build of the hook ({type(error).__name__}: {error})")


class CapturedEvent:
    """One event on its way from a host into the journal."""

    def __init__(self, host: str, event: str, facts: dict[str, Any], data: bytes, monotonic: int) -> None:
        self._host, self._event, self._facts, self._monotonic = host, event, facts, monotonic
        self._name: str = facts["events"][event]  # our name of it
        self._began = time.monotonic()
        self._settings = HookSettings()
        self.folders = journal_folders(self._settings.location(), self._settings.tenant())
        redaction = redaction_module() if may_hold_secret(data) else HARMLESS
        self._redactor = redaction["Redactor"](keep=self._settings.is_on("keep_secrets"))
        payload = parse(data)
        self.raw = ""
        self.payload: dict[str, Any] | None = None
        if payload is None:
            text = redaction["storable"](data[: 4 * _MOST_RAW].decode("utf-8", "replace")[:_MOST_RAW])
            self.raw = self._redactor.text(text)
        else:
            fits = len(data) <= SURELY_FITS
            self.payload = cleaned(payload, facts, self._redactor, redaction["storable"], fits=fits)
        self._session = session_digest(str(self._field("session") or ""))

    def run(self) -> str:
        """Journal the event, or only look it up; returns the text for standard output."""
        if self._facts["only_looks"] and self._only_looked():
            return ""
        if self._name == "PreToolUse":
            # Until the user answers, a plan waits for approval; until a result comes, an effect is open.
            if self._field("tool") == _SHOWS_PLAN or may_act_outside(*self._call()):
                self._journal()
            return self._ask_store(None) if self._has_advice() else ""
        if self._name == "SessionStart":
            self._export_session()
        path = self._journal()
        if path is None or self._name in _OPENS_STORE:
            return self._ask_store(path)
        if self._name in _DELIVERS and self._has_news():
            return self._ask_store(path)
        if self._name == "PostToolUse" and self._is_nearly_full():
            return self._ask_store(path)
        if self._name == "UserPromptSubmit" and self._settings.is_on("hook_turn_block"):
            return self._ask_store(path)
        return ""

    def _field(self, ours: str) -> Any:
        """A field of the event by our name; hosts have it in different places."""
        payload = self.payload or {}
        return next((payload[place] for place in self._facts[ours] if payload.get(place) is not None), None)

    # --- the journal

    def _journal(self) -> str | None:
        """Write the event into the journal; returns its path, None if no folder takes it."""
        random = system.urandom(10).hex()
        name = (
            f"{boot_id()}-{self._monotonic:016x}-{system.getpid()}-{random[:4]}"
            f"-{self._session}-{self._outcome()}.json"
        )
        content = self._content(random[4:])
        problem = ""
        for folder in self.folders:
            try:
                return write_event(folder, name, content)
            except OSError as error:
                problem = f"{type(error).__name__}: {error}"
        complain(f"the event could not be kept in the journal ({problem})")
        return None

    def _outcome(self) -> str:
        """The end of the file's name: the outcome and the call, so that no file has to be read for them."""
        if self._name == "UserPromptSubmit":
            return "p" if may_forbid(self._field("prompt")) else "e"
        if self._name not in _TOOL_RESULTS:
            return "e"
        failed = self._name == "PostToolUseFailure" or has_failed(self._field("output"))
        return ("f" if failed else "c") + "".join(head_digest(head) for head in call_heads(*self._call())[:4])

    def _content(self, name: str) -> bytes:
        record: dict[str, Any] = {
            "v": 1,
            "id": name,
            "at": round(time.time(), 3),
            "host": self._host,
            "event": self._event,
            "env": {
                "project": variable(self._facts["project"]) if self._facts["project"] else "",
                "principal": variable("RINGBOLT_PRINCIPAL") or variable("USER"),
                "process": host_process() if self._name in _NAMES_HOST else "",
            },
        }
        if not self._redactor.keeps:
            record["redacted_by"] = rules_digest()
        record["env"] = {key: encodable(value) for key, value in record["env"].items() if value}
        if (size := self._transcript_size()) is not None:
            record["transcript_bytes"] = size
        if self.payload is None:
            return encode({**record, "raw": self.raw}).encode()
        content = encode({**record, "payload": self.payload})
        if len(content) <= _MOST_EVENT:
            return content.encode()
        # Many fields that are all as large as one may be.
        return encode({**record, "raw": encode(self.payload)[:_MOST_RAW]}).encode()

    def _transcript_size(self) -> int | None:
        transcript = self._field("transcript")
        if not isinstance(transcript, str) or not transcript:
            return None
        try:
            return system.stat(transcript).st_size
        except (OSError, ValueError):
            return 0  # all of it is still to come

    def _export_session(self) -> None:
        """Tell commands that the agent will run which session they belong to, where the host allows it."""
        file, session = variable("CLAUDE_ENV_FILE"), str(self._field("session") or "")
        if file and session.isascii() and session.replace("-", "").replace("_", "").isalnum():
            try:
                handle = system.open(file, system.O_WRONLY | system.O_APPEND | system.O_CREAT, 0o600)
            except OSError:
                return  # the process tree says it too
            try:
                write_all(handle, f"export RINGBOLT_HOST_SESSION={session}\n".encode())
            finally:
                system.close(handle)

    # --- what must be answered

    def _call(self) -> tuple[str, dict[str, Any]]:
        """The tool and its input, with our names."""
        tool_input = self._field("input")
        names: dict[str, str] = self._facts["inputs"]
        fields = (
            {names.get(name, name): value for name, value in tool_input.items()}
            if is_dict(tool_input)
            else {}
        )
        tool = str(self._field("tool") or "")
        return self._facts["tools"].get(tool, tool), fields

    def _has_advice(self) -> bool:
        """Whether the store may have a warning about the call: a quick look that says yes too often."""
        if "PreToolUse" not in self._facts["injects"] or self.payload is None:
            return False
        tool, tool_input = self._call()
        if not tool or tool.lower() in READ_TOOLS:
            return False
        heads = call_heads(tool, tool_input)
        return any(
            self._waiting_says(folder, tool, tool_input, heads)
            or any(
                card_has(f"{folder}/cards", session, tool, tool_input, heads) for session in self._sessions()
            )
            for folder in self.folders
        )

    def _waiting_says(self, folder: str, tool: str, tool_input: Mapping[str, Any], heads: list[str]) -> bool:
        """Whether a waiting event may be a reason: a prompt, or an error or effect of the same program."""
        mark = f"-{self._session}-"
        digests = [head_digest(head) for head in heads]
        for name in listed(f"{folder}/new"):
            if mark not in name:
                continue
            outcome = name.rpartition("-")[2]
            if outcome[0] == "p":
                return True
            same = outcome[0] in "fc" and any(digest in outcome for digest in digests)
            if same and (outcome[0] == "f" or may_act_outside(tool, tool_input)):
                return True
        return False

    def _sessions(self) -> Iterable[str]:
        """The digests of the sessions whose cards count: a helper of the agent also has its own."""
        yield self._session
        if agent := str(self._field("agent_id") or ""):
            whole = f"{self._field('session') or ''}/{agent}"
            if len(whole) > 150:  # as events.session_of shortens it
                whole = whole[:100] + blake2b(whole.encode("utf-8", "replace"), digest_size=12).hexdigest()
            yield session_digest(whole)

    def _has_news(self) -> bool:
        """Whether something waits for the session: its packet, or a notice of a lost task."""
        states = (b"pending", b"compacted", b"offered")
        return any(
            read_small(f"{folder}/sessions/{self._session}").startswith(states)
            or exists(f"{folder}/sessions/{self._session}.taken")
            for folder in self.folders
        )

    def _is_nearly_full(self) -> bool:
        """Whether the context has just passed 80 % of what the model takes; True once for each compaction.

        That is the time to distil, while nothing waits for it.
        """
        size = self._transcript_size() or 0
        if size < _SMALL_TRANSCRIPT:
            return False
        used = tokens_in_use(read_part(str(self._field("transcript")), max(0, size - _USAGE), _USAGE))
        full = next((window for window in reversed(_WINDOWS) if used >= window * _NEARLY), 0)
        if not full:
            return False
        marks = [f"{folder}/sessions/{self._session}.full" for folder in self.folders]
        word = f"due {full}".encode()
        if any(read_small(mark).endswith(word[4:]) for mark in marks):
            return False
        return any(replace_small(mark, word) for mark in marks)

    def _only_looked(self) -> bool:
        """Handle a host that reports a compaction before every request, whether it compacts or not.

        The mark `looked N` keeps how long the transcript was; the next event sees from what was added whether
        the host did compact. True if there is nothing more to do for this event.
        """
        marks = [f"{folder}/sessions/{self._session}" for folder in self.folders]
        looked = next((mark for mark in marks if read_small(mark).startswith(b"looked")), None)
        if looked is not None:
            since = read_small(looked)[6:].strip()
            if was_compacted(str(self._field("transcript") or ""), int(since) if since.isdigit() else 0):
                replace_small(looked, b"compacted")
            else:
                unlink(looked)
        looks = self._name == "PreCompact" and (self.payload or {}).get("trigger") != "manual"
        if looks and not any(read_small(mark) for mark in marks):
            word = f"looked {self._transcript_size() or 0}".encode()
            any(replace_small(mark, word) for mark in marks)
        return looks

    def _ask_store(self, path: str | None) -> str:
        """Let the package answer: it drains the journal and reads the store."""
        limit = self._settings.milliseconds(
            "hook_compact_ms" if self._name in _COMPACTS else "hook_deadline_ms"
        )
        deadline = self._began + limit / 1000
        set_alarm(deadline - time.monotonic())
        if BUILT:
            built: dict[str, Any] = embedded("package")
            sys.path.extend(built["paths"])
            sys.executable = built["python"]
        from ringbolt.model.quick_start import load_msgspec

        load_msgspec()
        if BUILT:
            from ringbolt.model import lazy_regex

            lazy_regex.compile_pattern = ReadyPatterns.add_packet_patterns()
        from ringbolt.hosts.answers.store_hook import answer  # the slow path: it loads the store's engine

        try:
            return answer(self._host, self._event, path, self.payload or {}, deadline)
        finally:
            set_alarm(None)


if __name__ == "__main__":
    main()
