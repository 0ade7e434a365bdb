"""The capture hook: the process that a host starts for every event.

It reads the event from standard input, removes secrets and bulk, writes one file into the journal and
exits, always with code 0. Only a few events need an answer from the store; for those it imports the package
and calls `store_hook.answer`.

The time of this process is almost all start-up, so this file is written to start fast:

- `hook_build.py` compiles it into one file, together with `model/redaction.py`, `model/secret_rules.py`
  and their patterns.
  The host's settings run that file with the base interpreter and `-I -S`: no `site`, no virtual environment.
- It uses the C modules `posix`, `_json` and `_blake2` in place of `os`, `json` and `hashlib`. Importing
  `json` means importing `re`, and that takes as long as starting Python does.
- Parts are loaded when an event first needs them.

The same file is the module behind `ringbolt-hook` and `ringbolt hook`. It then runs a build that is there,
or imports what a build embeds. It must stay a single file without package imports at the top.
"""

from __future__ import annotations

import gc
import marshal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeGuard

if sys.platform == "win32":
    import nt as system
else:
    import posix as system

try:
    from _blake2 import blake2b
except ImportError:  # a Python built without it
    from hashlib import blake2b

# The C module below `signal`, which imports `enum`.
_signal: Any = __import__("_signal")

# What the build embeds, as marshalled bytes by name; empty when this runs as a module of the package.
BUILT: dict[str, bytes] = {}

MOST_INPUT = 32 << 20
_BLOCK = 1 << 16
# Where Windows counts its boots, the seconds that an interrupted process has to end, what stops its alarm.
BOOT_KEY = r"SYSTEM\CurrentControlSet\Control\Session Manager\Memory Management\PrefetchParameters"
_GRACE = 1.0
_watch: list[Any] = []
# Seconds that a host may take to hand its event over, and that we may take to write it.
_PATIENCE = 5.0
# An event that is not JSON is kept up to here, enough to see what it was.
_MOST_RAW = 20_000
_MOST_EVENT = 8 << 20
# No host sends as many.
_MOST_FIELDS = 200
# What people and agents write is kept whole, up to a size that no one types.
MOST_TEXT = 500_000
MOST_VALUE = 400_000
# JSON written from an input of this size cannot be longer than MOST_VALUE: one byte becomes six at most.
_SURELY_FITS = MOST_VALUE // 6
# Of a longer text the beginning and the end are kept; the end says how it went.
OUTPUT_CHARACTERS = 16_000
# Fields of a tool's response that repeat its input, or hold whole files.
BULKY = ("originalFile", "oldString", "newString", "oldTodos")
COMMANDS = ("command", "cmd", "script", "code", "sql", "query", "pattern", "url")
_COMMAND_LINES = ("command", "cmd", "script")
_FILES = ("file_path", "path", "notebook_path", "filename")
_MOST_LINE = 4000
_MOST_CONTENT = 40_000
_MOST_HEADS = 12
# Tools that change nothing: no warning is about them.
_READ_TOOLS = frozenset(
    "read grep glob ls notebookread webfetch websearch toolsearch bashoutput taskoutput todowrite view"
    " list_dir"
    " read_file read_many_files list_directory search_file_content update_plan".split()
)
# What a command line is split at, besides lines; quotes go, so that the command inside `bash -c` counts too.
_SEPARATORS = ("&&", "||", "|", ";", "$(", "(", ")", "`", "&")
# Words before a program that say nothing about it; those in _PAIRS only with one of the words after them.
_BEFORE_PROGRAM = frozenset(
    "sudo doas env time timeout gtimeout nice ionice nohup setsid stdbuf exec command builtin xargs"
    " watch bash sh zsh dash"
    " python node ruby npx bunx uvx pnpx tsx dotenv do then else if while until ! { } run -m".split()
)
_PAIRS = frozenset(
    "uv poetry pdm hatch pipenv rye pixi conda bundle pnpm yarn npm bun mise asdf rbenv direnv".split()
)
_RUNNERS = ("npm", "yarn", "pnpm", "bun")  # `npm run test` is `npm test`
_PAIRED = frozenset("run exec dlx x tool".split())
_WITH_VALUE = frozenset("-C -n -u --namespace --context --directory --prefix".split())
_IDLE = frozenset(
    "cd pushd popd echo printf true false set export unset source . sleep wait date pwd test [ [[ ls cat"
    " head tail less"
    " grep egrep rg awk jq wc diff stat du df ps which tree sort uniq cut tr for case tee pgrep".split()
)
# Words of which a prompt has one if it may forbid something.
_FORBIDDING = (
    "n't", "n’t", " not ", "not ", "dont ", "never", "avoid", "no ", "without", "refrain", "stop ", "leave ",
    "keep ",
    "hands off", "away from", "out of", "limits", "forbidden", "banned",
    "read-only", "readonly", "read only", "frozen", "nothing ", "prohibited", "taboo",
    "only ", "restrict", "limit ", "confine", "except",
)  # fmt: skip
_TOOL_RESULTS = ("PostToolUse", "PostToolUseFailure")
_OPENS_STORE = ("SessionStart", "PreCompact", "Stop", "SessionEnd")
# The tool that shows the user a plan; of no other tool is the beginning kept.
_SHOWS_PLAN = "ExitPlanMode"
_COMPACTS = ("PreCompact", "SessionStart")
_DELIVERS = ("UserPromptSubmit", "PostToolUse")
# The windows of models in tokens, the share at which a compaction is near, the bytes of a transcript that
# surely belong to a smaller context, and those at its end that have the usage of the last request.
_WINDOWS, _NEARLY, _SMALL_TRANSCRIPT, _USAGE = (200_000, 1_000_000), 0.8, 200_000, 96 << 10
_MOST_TRANSCRIPT = 512 << 10
# Events that say which process the host is: an MCP server below the same one belongs to the same session.
_NAMES_HOST = ("SessionStart", "UserPromptSubmit")
_SHELLS = (b"sh", b"bash", b"dash", b"zsh", b"fish", b"ksh", b"busybox")

_READ = system.O_RDONLY | getattr(system, "O_CLOEXEC", 0) | getattr(system, "O_BINARY", 0)
_CREATE = (
    system.O_WRONLY
    | system.O_CREAT
    | system.O_EXCL
    | getattr(system, "O_CLOEXEC", 0)
    | getattr(system, "O_NOFOLLOW", 0)
    | getattr(system, "O_BINARY", 0)
)


class Late(BaseException):
    """The time is up. Not an Exception, so that nothing that handles errors catches it."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Handle one event and end the process, always with exit code 0."""
    gc.disable()  # the process is gone before there is anything to collect
    words = sys.argv[1:] if arguments is None else arguments
    if not BUILT:
        run_build(words)
    try:
        answer = handle(words[0] if words else "", words[1] if len(words) > 1 else "")
        if answer:
            _write_all(1, answer.encode("utf-8", "replace") + b"\n")
    except Late:
        complain("the time was up")
    except BaseException as error:  # noqa: BLE001 - no error may stop the host
        complain(f"{type(error).__name__}: {error}")
    if not BUILT and [word.lower() for word in words[1:]] == ["sessionstart"]:
        keep_build()
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
        # A build that is older than this file: its source is being worked on.
        if name is None or system.stat(f"{folder}/{name}").st_mtime < system.stat(__file__).st_mtime:
            return
        code = marshal.loads(read_small(f"{folder}/{name}")[16:])  # noqa: S302 - the installer's own file
        sys.argv[1:] = words
        exec(code, {"__name__": "__main__"})  # noqa: S102 - the same source, compiled
    except Exception:  # noqa: BLE001 - a build that is damaged: standard input has not been read
        return


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
        told = parse(data)
        self.raw = ""
        self.told: dict[str, Any] | None = None
        if told is None:
            text = redaction["storable"](data[: 4 * _MOST_RAW].decode("utf-8", "replace")[:_MOST_RAW])
            self.raw = self._redactor.text(text)
        else:
            fits = len(data) <= _SURELY_FITS
            self.told = cleaned(told, facts, self._redactor, redaction["storable"], fits=fits)
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
            self._tell_commands()
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
        told = self.told or {}
        return next((told[place] for place in self._facts[ours] if told.get(place) is not None), None)

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
        record["env"] = {key: encodable(value) for key, value in record["env"].items() if value}
        if (size := self._transcript_size()) is not None:
            record["transcript_bytes"] = size
        if self.told is None:
            return encode({**record, "raw": self.raw}).encode()
        content = encode({**record, "told": self.told})
        if len(content) <= _MOST_EVENT:
            return content.encode()
        # Many fields that are all as large as one may be.
        return encode({**record, "raw": encode(self.told)[:_MOST_RAW]}).encode()

    def _transcript_size(self) -> int | None:
        transcript = self._field("transcript")
        if not isinstance(transcript, str) or not transcript:
            return None
        try:
            return system.stat(transcript).st_size
        except (OSError, ValueError):
            return 0  # all of it is still to come

    def _tell_commands(self) -> None:
        """Tell commands that the agent will run which session they belong to, where the host allows it."""
        file, session = variable("CLAUDE_ENV_FILE"), str(self._field("session") or "")
        if file and session.isascii() and session.replace("-", "").replace("_", "").isalnum():
            try:
                handle = system.open(file, system.O_WRONLY | system.O_APPEND | system.O_CREAT, 0o600)
            except OSError:
                return  # the process tree says it too
            try:
                _write_all(handle, f"export RINGBOLT_HOST_SESSION={session}\n".encode())
            finally:
                system.close(handle)

    # --- what must be answered

    def _call(self) -> tuple[str, dict[str, Any]]:
        """The tool and its input, with our names."""
        given = self._field("input")
        names: dict[str, str] = self._facts["inputs"]
        fields = {names.get(name, name): value for name, value in given.items()} if is_dict(given) else {}
        tool = str(self._field("tool") or "")
        return self._facts["tools"].get(tool, tool), fields

    def _has_advice(self) -> bool:
        """Whether the store may have a warning about the call to be made; True is not certain."""
        if "PreToolUse" not in self._facts["injects"] or self.told is None:
            return False
        tool, given = self._call()
        if not tool or tool.lower() in _READ_TOOLS:
            return False
        heads = call_heads(tool, given)
        return any(
            self._waiting_says(folder, tool, given, heads)
            or any(card_has(f"{folder}/cards", session, tool, given, heads) for session in self._sessions())
            for folder in self.folders
        )

    def _waiting_says(self, folder: str, tool: str, given: Mapping[str, Any], heads: list[str]) -> bool:
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
            if same and (outcome[0] == "f" or may_act_outside(tool, given)):
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
        """Whether the session has to be told something: its packet after a compaction, or a lost task."""
        return any(
            read_small(f"{folder}/sessions/{self._session}").startswith((b"pending", b"compacted"))
            or exists(f"{folder}/sessions/{self._session}.taken")
            for folder in self.folders
        )

    def _is_nearly_full(self) -> bool:
        """Whether the context has just passed 80 % of what the model takes: the time to distil, while nobody
        waits for it. True once for each compaction."""
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
        looks = self._name == "PreCompact" and (self.told or {}).get("trigger") != "manual"
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
        from ringbolt.hosts.store_hook import answer  # the slow path: it loads the store's engine

        try:
            return answer(self._host, self._event, path, self.told or {}, deadline)
        finally:
            set_alarm(None)


# --- cleaning ---------------------------------------------------------------------------------------


def cleaned(
    told: Mapping[str, Any],
    facts: Mapping[str, Any],
    redactor: Any,
    storable: Callable[[str], str],
    *,
    fits: bool = False,
) -> dict[str, Any]:
    """A host's event without secrets and bulk, in the host's own shape; `fits` if it is known to be small."""
    found: dict[str, Any] = {}
    for name, value in list(told.items())[:_MOST_FIELDS]:
        if name in facts["whole"] and isinstance(value, str):
            kept: Any = redactor.text(storable(value[:MOST_TEXT]))
        else:
            if name in facts["output"] and is_dict(value):
                value = {key: one for key, one in value.items() if key not in BULKY}
            if not fits and is_oversized(value):
                value = short_texts(value, f"more than {2 * MOST_VALUE:,} characters")
            kept = redactor.value(value, clipped, name=name)
            if not fits:
                kept = fitting(kept)
        found[storable(name)[:500]] = kept
    return found


def clipped(text: str) -> str:
    """A long text without its middle; a clipped text stays as it is."""
    head, tail = OUTPUT_CHARACTERS // 4, OUTPUT_CHARACTERS * 3 // 4
    if len(text) <= OUTPUT_CHARACTERS or (len(text) < head + tail + 60 and text.startswith("\n… ", head)):
        return text
    return f"{text[:head]}\n… {len(text) - head - tail:,} characters left out …\n{text[-tail:]}"


def fitting(value: Any) -> Any:
    """A value of a bounded size: of one that is too large, its short texts."""
    if isinstance(value, str) or value is None or (size := len(encode(value))) <= MOST_VALUE:
        return value
    return short_texts(value, f"{size:,} characters")


def short_texts(value: Any, left_out: str) -> dict[str, Any]:
    """What is kept of a value that is too large."""
    fields: Mapping[str, Any] = value if is_dict(value) else {}
    short = {name: one for name, one in fields.items() if isinstance(one, str) and len(one) <= 2000}
    return {**dict(list(short.items())[:50]), "left_out": left_out}


def is_oversized(value: Any) -> bool:
    """Whether a value is surely too large once it is cleaned: a million rows need not be cleaned first."""
    size, left = 0, [value]
    while left and size <= 2 * MOST_VALUE:
        one = left.pop()
        if isinstance(one, str):
            size += min(len(one), OUTPUT_CHARACTERS)
        elif is_dict(one):
            left.extend(one.values())
        elif is_list(one):
            left.extend(one)
        size += 2
    return size > 2 * MOST_VALUE


def is_dict(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, (list, tuple))


def embedded(name: str) -> Any:
    """A part that the build embedded."""
    return marshal.loads(BUILT[name])  # noqa: S302 - from the file that runs


def encodable(text: str) -> str:
    """A variable of the environment as JSON can hold it: its bytes may be anything."""
    return text.encode("utf-8", "replace").decode("utf-8", "replace")[:4000]


def redaction_module() -> Mapping[str, Any]:
    """The names of model/redaction.py, from the build or imported."""
    if not BUILT:
        from ringbolt.model import redaction  # only as a module: the build has it embedded

        return vars(redaction)
    # These stand for the imports that the build left out.
    names: dict[str, Any] = {
        "__name__": "redaction",
        "re": ReadyPatterns,
        "log2": _log2,
        "rules": SecretRules(),
        "is_dict": is_dict,
        "is_list": is_list,
    }
    exec(embedded("redaction"), names)  # noqa: S102 - our own module, compiled by the build
    return names


def may_hold_secret(data: bytes) -> bool:
    """Whether an event may hold a secret: a quick look, so that most events need not load the rules."""
    # Of a large event most is dropped before it is searched; searching all of it here would take seconds.
    if not BUILT or len(data) > _BLOCK or b"\\u" in data or not data.isascii():
        return True
    hints, exact = embedded("hints")
    lowered = data.lower()
    return any(hint in lowered for hint in hints) or any(hint in data for hint in exact)


class Harmless:
    """Stands for the Redactor of an event without anything that could be a secret; its texts are ASCII."""

    def __init__(self, *, keep: bool) -> None:
        self.keeps = keep

    def text(self, text: str) -> str:
        return text

    def value(self, value: Any, clip: Callable[[str], str], depth: int = 0, name: str = "") -> Any:
        if isinstance(value, str):
            return clip(_bounded(_without_nul(value)))
        if depth > 40:
            return None if is_dict(value) or is_list(value) else value
        if is_dict(value):
            return {
                _without_nul(str(key))[:500]: self.value(inner, clip, depth + 1)
                for key, inner in value.items()
            }
        return [self.value(inner, clip, depth + 1) for inner in value] if is_list(value) else value


def _without_nul(text: str) -> str:
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text


def _bounded(text: str) -> str:
    kept = 60_000
    if len(text) <= 2 * kept:
        return text
    return f"{text[:kept]}\n… {len(text) - 2 * kept:,} characters left out …\n{text[-kept:]}"


# The same names as those of redaction_module.
HARMLESS: dict[str, Any] = {"Redactor": Harmless, "storable": _without_nul}


class SecretRules:
    """Stands for the module `secret_rules`."""

    def __init__(self) -> None:
        exec(embedded("secret_rules"), vars(self))  # noqa: S102 - our own module, compiled by the build


class ReadyPatterns:
    """Stands for `re`: patterns that the build compiled, made without importing the compiler."""

    # Each is marshalled by itself: an event needs few of them.
    _known: dict[str, bytes] | None = None

    @classmethod
    def compile(cls, source: str) -> Any:
        """The pattern of a source, as `re.compile` gives it."""
        if cls._known is None:
            cls._known = embedded("patterns")
        ready = (cls._known or {}).get(source)
        engine: Any = __import__("_sre")  # the C module below `re`
        if ready is None or embedded("sre") != engine.MAGIC:
            import re  # compiled by another release of Python, or unknown to the build

            return re.compile(source)
        return engine.compile(source, *marshal.loads(ready))  # noqa: S302 - from the file that runs


def _log2(number: float) -> float:
    from math import log2  # a shared library that few events need

    return log2(number)


# --- the same call ----------------------------------------------------------------------------------


def call_heads(tool: str, given: Mapping[str, Any]) -> list[str]:
    """The programs of a call with their first words (`pytest`, `npm test`): calls that do the same share one.

    Another tool than a shell has its own name. Plain, because it runs before every call; `command_form` is
    exact.
    """
    command = command_line(given)
    if not command:
        return [] if _first(given, _FILES) else [tool.lower()]
    found: list[str] = []
    for line in separated(command):
        for head in _heads(line.split()):
            if head not in found:
                found.append(head)
        if len(found) >= _MOST_HEADS:
            break
    return found


def separated(command: str) -> list[str]:
    """The lines of a command, cut where one program ends and another begins, without quotes."""
    text = command[:_MOST_LINE].replace("\\\n", " ")
    for quote in ("'", '"'):
        text = text.replace(quote, "")
    for mark in _SEPARATORS:
        text = text.replace(mark, "\n")
    return text.split("\n")


def _heads(words: list[str]) -> list[str]:
    """The program of a simple command, with each of its first plain words."""
    place = 0
    while place < len(words):
        word = words[place]
        name = word.rpartition("/")[2].lower()
        name = name.rstrip("0123456789.") or name
        following = words[place + 1] if place + 1 < len(words) else ""
        if name in _PAIRS and following in _PAIRED:
            if name in _RUNNERS and following == "run":
                break
            place += 2
            continue
        if not (word[0] in "-0123456789<>" or name in _BEFORE_PROGRAM or _is_assignment(word)):
            break
        place += 2 if word in _WITH_VALUE else 1
    else:
        return []
    name = words[place].rpartition("/")[2].lower()
    name = name.rpartition("@")[0] or name
    name = name.rstrip("0123456789.") or name
    if name in _IDLE:
        return []
    after: list[str] = []
    skips = False
    for word in words[place + 1 : place + 12]:
        if skips or word[0] in "-<>" or word.lower() == "run":
            skips = word in _WITH_VALUE and not skips
        elif word.isalpha():
            after.append(f"{name} {word.lower()}")
    # A program without a verb has arguments that say less than its name.
    return after[:3] or [name]


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def command_line(given: Mapping[str, Any]) -> str:
    """The command line of a call; empty if it has none."""
    return _first(given, _COMMAND_LINES) or _command_words(given)


def _command_words(given: Mapping[str, Any]) -> str:
    """A command that a host reports as a list of words."""
    words = given.get("command")
    return " ".join(word for word in words if isinstance(word, str)) if is_list(words) else ""


def _first(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")


def may_act_outside(tool: str, given: Mapping[str, Any]) -> bool:
    """Whether a call may have a side effect; a drainer reads it properly (`signals/effects`)."""
    parts, words, verbs = effect_hints()
    if command := command_line(given):
        text = command.lower()
        if any(part in text for part in parts):
            return True
        for edge in "()`'\"&;|$/":
            text = text.replace(edge, " ")
        return not words.isdisjoint(text.split())
    tool = tool.lower()
    if "method" in given and "url" in given:
        return True
    return ("_" in tool or "." in tool) and any(verb in tool for verb in verbs)


def may_forbid(prompt: Any) -> bool:
    """Whether a prompt may forbid something; True is not certain."""
    text = prompt.lower() if isinstance(prompt, str) else ""
    return any(word in text for word in _FORBIDDING)


def head_digest(head: str) -> str:
    """The digest of a program in the names of event files."""
    return blake2b(head.encode("utf-8", "replace"), digest_size=4).hexdigest()


def session_digest(session: str) -> str:
    """The digest of a session in the names of event files, cards and marks."""
    return blake2b(session.encode("utf-8", "replace"), digest_size=4).hexdigest()


def has_failed(response: Any) -> bool:
    """Whether a tool's response itself says that the tool failed."""
    if isinstance(response, str):
        return _exit_code(response.partition("\n")[0], "Exit code: ") not in ("", "0")
    if not is_dict(response):
        return False
    if (
        response.get("is_error") is True
        or response.get("isError") is True
        or response.get("success") is False
    ):
        return True
    if isinstance(text := response.get("llmContent"), str):
        # Gemini CLI's own lines about a command come after the output.
        lines = unwrapped(text).rsplit("\n", 4)[1:]
        if any(_exit_code(line, "Exit Code: ") not in ("", "0") for line in lines):
            return True
    metadata = response.get("metadata")
    if is_dict(metadata) and isinstance(code := metadata.get("exit"), int):
        return code != 0
    return bool(response.get("error"))


def unwrapped(text: str) -> str:
    """A result of Gemini CLI without the frame that it puts around it."""
    begin, end = "<untrusted_context>\n", "\n</untrusted_context>"
    if not (text.startswith(begin) and text.endswith(end)):
        return text
    head, _, last = text[len(begin) : -len(end)].rpartition("\n")
    kept = head if last.startswith("Process Group PGID: ") else f"{head}\n{last}" if head else last
    return kept.removeprefix("Output: ")


def _exit_code(line: str, begin: str) -> str:
    code = line[len(begin) :].strip() if line.startswith(begin) else ""
    return code if code.lstrip("-").isdigit() else ""


def card_has(cards: str, session: str, tool: str, given: Mapping[str, Any], heads: list[str]) -> bool:
    """Whether a call may be meant by a session's card, or by the card of its repository."""
    card = parse(read_small(f"{cards}/{session}"))
    if card is None:
        return False
    if card.get("stale") is True or card_means(card, tool, given, heads):
        return True
    shared = card.get("shared")
    if not isinstance(shared, str) or not shared.isalnum():
        return False
    common = parse(read_small(f"{cards}/{shared}"))
    return common is not None and card_means(common, tool, given, heads)


def card_means(card: Mapping[str, Any], tool: str, given: Mapping[str, Any], heads: list[str]) -> bool:
    """Whether a card has a program of a call, or words that are all in it."""
    known, hints = card.get("heads"), card.get("hints")
    if is_list(known) and any(head in known for head in heads):
        return True
    done = card.get("done")
    if is_list(done) and any(head in done for head in heads) and may_act_outside(tool, given):
        return True
    if not is_list(hints) or not hints:
        return False
    texts = call_texts(tool, given)
    for hint in hints:
        if not is_list(hint) or len(hint) < 2 or not all(isinstance(word, str) for word in hint):
            continue
        text = texts.get(hint[0])
        if text and all(word in text for word in hint[1:]):
            return True
    return False


def call_texts(tool: str, given: Mapping[str, Any]) -> dict[str, str]:
    """What hints are looked for in: the command (`c`), the file to be changed (`p`), everything (`a`)."""
    command = "\n".join(separated(command_line(given))).replace("\\", "").lower()
    path = _first(given, _FILES).lower()
    values = [value[:_MOST_CONTENT] for value in given.values() if isinstance(value, str)]
    every = " ".join([tool, *values])[:_MOST_CONTENT].lower()
    if "__" in tool:  # a tool of an MCP server
        command = every
    if "patch" in tool.lower():
        command, path = "", every
    return {"c": command, "p": path, "a": f"{command} {every}"}


# --- JSON -------------------------------------------------------------------------------------------


class _Scanning:
    """The context that `_json.make_scanner` needs, as `json.loads` sets it, except for numbers.

    NaN, Infinity and 1e999 become null, as no store can hold them.
    """

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_int = int

    @staticmethod
    def parse_float(text: str) -> float | None:
        number = float(text)
        return number if -1.8e308 < number < 1.8e308 else None

    @staticmethod
    def parse_constant(name: str) -> None:
        return None


def parse(data: bytes) -> dict[str, Any] | None:
    """The JSON object of an input; None if it is anything else."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff").strip(" \t\n\r")
    if not text.startswith("{"):
        return None
    try:
        scan = _scanner()
        value, end = scan(text, 0)
    except (ValueError, RecursionError, StopIteration):
        return None
    except SystemError:  # the C scanner has no error of its own to raise while `json` is not imported
        return None
    return value if end == len(text) and is_dict(value) else None


def _scanner() -> Callable[[str, int], tuple[Any, int]]:
    try:
        if hasattr(sys, "gettotalrefcount"):  # a debug build of Python ends the process for that SystemError
            raise ImportError
        from _json import make_scanner

        context: Any = _Scanning
        return make_scanner(context)
    except (ImportError, TypeError, AttributeError):
        from json import JSONDecoder

        names = ("parse_float", "parse_constant")
        decoder: Any = JSONDecoder(**{name: getattr(_Scanning, name) for name in names})
        return decoder.scan_once


def encode(value: Any) -> str:
    """A value as JSON, in ASCII."""
    try:
        from _json import encode_basestring_ascii, make_encoder

        encoder = make_encoder(None, str, encode_basestring_ascii, None, ": ", ", ", False, False, True)
    except (ImportError, TypeError):
        from json import dumps

        return dumps(value)
    return "".join(encoder(value, 0))


# --- settings and places ----------------------------------------------------------------------------


def variable(name: str) -> str:
    """A variable of the environment; empty if it is not set."""
    return _variable(name) or ""


def _variable(name: str) -> str | None:
    if (loaded := sys.modules.get("os")) is not None:
        return loaded.environ.get(name)  # the environment as it is now, not as it was at the start
    if sys.platform == "win32":
        return system.environ.get(name)
    # posix.environ holds bytes; os.environ would decode all of them, and means loading `os`.
    value = system.environ.get(name.encode())
    return None if value is None else value.decode(sys.getfilesystemencoding(), "surrogateescape")


class HookSettings:
    """The few settings that this process needs: from the environment, else from the settings file."""

    _LIMITS = {"hook_deadline_ms": 300, "hook_compact_ms": 2000}  # noqa: RUF012 - never changed

    def __init__(self) -> None:
        self._file: dict[str, Any] | None = None

    def location(self) -> str:
        """The store's path or URL."""
        return self._text("store") or f"{user_folder('XDG_DATA_HOME', '.local/share')}/ringbolt.db"

    def tenant(self) -> str:
        """The tenant of a store on PostgreSQL."""
        return self._text("tenant")

    def milliseconds(self, name: str) -> int:
        """A time limit; the default if the setting is invalid, which the package reports."""
        value = variable(f"RINGBOLT_{name.upper()}") or self._from_file(name)
        try:
            number = int(value)
        except (TypeError, ValueError):
            return self._LIMITS[name]
        return number if 10 <= number <= 60_000 else self._LIMITS[name]

    def is_on(self, name: str) -> bool:
        """Whether a switch is on; they are off by default."""
        return self._text(name) == "on"

    def _text(self, name: str) -> str:
        value = variable(f"RINGBOLT_{name.upper()}") or self._from_file(name)
        return value if isinstance(value, str) else ""

    def _from_file(self, name: str) -> Any:
        if self._file is None:
            self._file = self._read_file()
        return self._file.get(name)

    def _read_file(self) -> dict[str, Any]:
        path = variable("RINGBOLT_CONFIG") or f"{user_folder('XDG_CONFIG_HOME', '.config')}/config.toml"
        data = read_small(path, 1 << 20)
        if not any(name in data for name in (b"store", b"tenant", b"hook_", b"keep_secrets")):
            return {}
        text = data.decode("utf-8", "replace")
        values = simple_toml(text)
        if values is None:
            from tomllib import loads  # loads `re`: only for files that need a real parser

            try:
                values = loads(text)
            except (ValueError, RecursionError):
                complain(f"the settings file {path} is not valid TOML")
                values = {}
        return values


def simple_toml(text: str) -> dict[str, Any] | None:
    """The values of a settings file that has only lines like `name = "text"` and `name = 12`; else None."""
    values: dict[str, Any] = {}
    for line in text.splitlines():
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        name, equals, value = (part.strip() for part in line.partition("="))
        inner = value[1:-1]
        plain = len(value) > 1 and value[0] == value[-1] == '"' and inner.isprintable()
        plain = plain and '"' not in inner and "\\" not in inner
        number = value.isascii() and value.isdecimal() and (value[0] != "0" or value == "0")
        if not equals or not (name.isascii() and name.isidentifier()) or name in values:
            return None
        if not (plain or number):
            return None
        values[name] = inner if plain else int(value)
    return values


def user_folder(name: str, below: str) -> str:
    """Our folder below a folder of the user: the one that a variable names, or its usual place."""
    base = variable(name)
    if not base and sys.platform == "win32":  # as in system/user_folders.py
        base = variable("APPDATA" if "CONFIG" in name else "LOCALAPPDATA")
    if not base:
        home = _home()
        base = f"{home}{'' if home.endswith('/') else '/'}{below}"
    return f"{base}{'' if base.endswith('/') else '/'}ringbolt"


def _home() -> str:
    if sys.platform != "win32" and (home := _variable("HOME")) is not None:
        return home.rstrip("/") or "/"
    from os.path import expanduser  # asks the system who we are

    return expanduser("~")


def journal_folders(location: str, tenant: str = "") -> list[str]:
    """The folders that may hold the journal of a store, the best first; as journal/folders.py has it."""
    scheme, separator, rest = location.partition("://")
    beside = ""
    if not separator or scheme in ("sqlite", "file"):
        beside = name = resolved(rest if separator else location)
    else:
        # The server and the database, without the user.
        name, _, query = rest.rpartition("@")[2].partition("?")
        given = [part[7:] for part in query.split("&") if part.startswith("tenant=") and part != "tenant="]
        tenant = given[-1] if given else tenant
        if tenant not in ("", "default"):
            name = f"{name}?tenant={tenant}"
    digest = blake2b(name.encode("utf-8", "replace"), digest_size=6).hexdigest()
    away = f"{user_folder('XDG_DATA_HOME', '.local/share')}/journals/{digest}.journal"
    return [f"{beside}.journal", away] if beside else [away]


def resolved(path: str) -> str:
    """A path as `os.path.realpath` gives it; a plain one without links does not need `os` for it."""
    plain = path.startswith("/") and not path.endswith(("/", "/.", "/.."))
    if sys.platform != "win32" and plain and not ("//" in path or "/./" in path or "/../" in path):
        if not _has_links(path):
            return path
    from os.path import expanduser, realpath

    return realpath(expanduser(path))


def _has_links(path: str) -> bool:
    end = 0
    while end != len(path):
        end = path.find("/", end + 1)
        end = len(path) if end < 0 else end
        try:
            mode = system.lstat(path[:end]).st_mode
        except (OSError, ValueError):
            return False  # from here on there is nothing
        if mode & 0o170000 == 0o120000:
            return True
    return False


def host_facts(host: str) -> dict[str, Any]:
    """What this process needs to know about a host; empty if the host is unknown."""
    if not BUILT:
        from ringbolt.hosts.hook_build import facts_of_host  # only as a module: the build has them embedded

        return facts_of_host(host)
    return embedded(f"host {host}") if f"host {host}" in BUILT else {}


def effect_hints() -> tuple[tuple[str, ...], frozenset[str], tuple[str, ...]]:
    """What a call with a side effect has in it: parts and words of its command, or of its tool's name."""
    if not BUILT:
        from ringbolt.hosts.hook_build import effect_hints  # only as a module: the build has them embedded

        return effect_hints()
    return embedded("effects")


# --- files ------------------------------------------------------------------------------------------


def write_event(folder: str, name: str, content: bytes) -> str:
    """Write an event file so that it is in new/ as a whole or not at all; returns its path."""
    part, path = write_part(folder, name, content), f"{folder}/new/{name}"
    try:
        try:
            _rename(part, path)
        except FileNotFoundError:  # new/ was removed
            make_journal(folder)
            _rename(part, path)
    except BaseException:
        unlink(part)
        raise
    return path


def write_part(folder: str, name: str, content: bytes) -> str:
    """Write a file into the tmp/ of a journal, safely on disk; returns its path."""
    part = f"{folder}/tmp/{name}"  # noqa: S108 - the journal's own
    for path in (folder, f"{folder}/tmp", f"{folder}/new"):  # noqa: S108 - the journal's own
        if is_link(path):  # somebody else's folder
            raise OSError(f"{path} is a symbolic link")
    try:
        file = system.open(part, _CREATE, 0o600)
    except FileNotFoundError:
        make_journal(folder)
        file = system.open(part, _CREATE, 0o600)
    try:
        try:
            _write_all(file, content)
            _sync(file)
        finally:
            system.close(file)
    except BaseException:
        unlink(part)
        raise
    return part


def _rename(part: str, path: str) -> None:
    """Rename a file; on Windows again for a moment, because a virus scanner may have the new file open."""
    for pause in (0.002, 0.01, 0.05, 0.2):
        try:
            return system.replace(part, path)
        except PermissionError:
            if sys.platform != "win32":
                raise
            time.sleep(pause)
    return system.replace(part, path)


def is_link(path: str) -> bool:
    try:
        return system.lstat(path).st_mode & 0o170000 == 0o120000
    except OSError:
        return False


def _sync(file: int) -> None:
    """Write a file through to the disk; on macOS fsync alone leaves it in the drive's cache."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(file, 51)  # F_FULLFSYNC
            return
        except OSError:  # a network share, for example
            pass
    system.fsync(file)


def make_journal(folder: str) -> None:
    """Make the folders of a journal, for the owner alone."""
    if sys.platform == "win32":
        folder = folder.replace("\\", "/")
    missing = [folder]
    while "/" in (above := missing[-1].rpartition("/")[0]) and not exists(above):
        missing.append(above)
    for path in reversed(missing):
        make_folder(path)
    # tmp/ comes last: a writer needs it first, so if it exists, all the others do.
    for name in ("new", "rejected", "cards", "sessions", "tmp"):
        make_folder(f"{folder}/{name}")


def make_folder(path: str) -> None:
    try:
        system.mkdir(path, 0o700)
    except FileExistsError:  # another hook made it in this moment
        return


def exists(path: str) -> bool:
    try:
        system.stat(path)
    except OSError:
        return False
    return True


def unlink(path: str) -> None:
    try:
        system.unlink(path)
    except OSError:
        return


def listed(folder: str) -> list[str]:
    """The names in a folder; none if it cannot be read."""
    try:
        return system.listdir(folder)
    except OSError:
        return []


def read_small(path: str, most: int = 1 << 20) -> bytes:
    """The content of a file, up to a limit; nothing if it cannot be read."""
    return read_part(path, 0, most)


def read_part(path: str, begin: int, most: int) -> bytes:
    try:
        file = system.open(path, _READ)
    except (OSError, ValueError):
        return b""
    try:
        if begin:
            system.lseek(file, begin, 0)
        content = b""
        while len(content) < most and (block := system.read(file, min(most - len(content), _BLOCK))):
            content += block
        return content
    except OSError:
        return b""
    finally:
        system.close(file)


def replace_small(path: str, content: bytes) -> bool:
    """Replace a small file as a whole; False if that fails."""
    part = f"{path}.{system.getpid()}.part"
    try:
        file = system.open(part, _CREATE, 0o600)
    except FileNotFoundError:
        try:
            make_journal(path.rpartition("/")[0].rpartition("/")[0])
            file = system.open(part, _CREATE, 0o600)
        except OSError:
            return False
    except OSError:
        return False
    try:
        try:
            _write_all(file, content)
        finally:
            system.close(file)
        system.replace(part, path)
    except OSError:
        unlink(part)
        return False
    return True


def tokens_in_use(lines: bytes) -> int:
    """The tokens of the last request by the usage that Claude Code writes to its transcript; 0 if unknown."""
    place = lines.rfind(b'"usage":{')
    if place < 0:
        return 0
    usage = lines[place : place + 600]
    used = 0
    for name in (b'"input_tokens":', b'"cache_creation_input_tokens":', b'"cache_read_input_tokens":'):
        begin = usage.find(name) + len(name)
        end = begin
        while usage[end : end + 1].isdigit():
            end += 1
        used += int(usage[begin:end] or 0) if begin >= len(name) else 0
    return used


def was_compacted(transcript: str, since: int) -> bool:
    """Whether Gemini CLI replaced its history after its transcript was `since` bytes long."""
    added = read_part(transcript, since, _MOST_TRANSCRIPT)
    begin = b'{"$set":{"messages":['
    return added.startswith(begin) or b"\n" + begin in added


def boot_id() -> str:
    """Eight digits for this start of the machine: monotonic time counts from there."""
    if sys.platform == "win32":
        try:
            import winreg

            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, BOOT_KEY) as key:
                return f"{winreg.QueryValueEx(key, 'BootId')[0]:08x}"
        except (ImportError, OSError, ValueError, TypeError):
            return "00000000"
    found = read_small("/proc/sys/kernel/random/boot_id", 64)[:8].decode("ascii", "replace")
    return found if len(found) == 8 and found.isalnum() else "00000000"


def host_process() -> str:
    """The host's process, as `system/processes.py` names it: the first above us that is not a shell."""
    pid = str(system.getppid())
    for _ in range(8):
        name, found, rest = read_small(f"/proc/{pid}/stat", 4096).partition(b"(")[2].rpartition(b")")
        fields = rest.decode("ascii", "replace").split()
        if not found or len(fields) < 20 or pid in ("0", "1"):
            return ""
        if name not in _SHELLS:
            return f"{pid}:{fields[19]}"
        pid = fields[1]
    return ""


# --- streams and time -------------------------------------------------------------------------------


def read_input() -> bytes:
    """Standard input up to a limit; the rest is read too, so that the host can finish, and dropped."""
    blocks: list[bytes] = []
    size = 0
    while block := system.read(0, _BLOCK):
        if size < MOST_INPUT:
            blocks.append(block)
        size += len(block)
    return b"".join(blocks)


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[system.write(file, data) :]


def complain(text: str) -> None:
    """Write one line for the host's log; the model does not see it."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[:500])
    try:
        system.write(2, f"ringbolt-hook: {plain}\n".encode("utf-8", "replace"))
    except OSError:
        return


def set_alarm(seconds: float | None, kind: type[Late] = Late) -> None:
    """Raise `kind` in so many seconds, wherever the process is then; None stops the alarm.

    Windows has no such timer: there a thread interrupts the main one, which notices it between two steps of
    Python. If it does not, because it waits for input or a lock, the process ends; what it wrote is whole.
    """

    def ring(number: int, frame: object) -> None:
        raise kind

    if hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, ring)
        _signal.setitimer(_signal.ITIMER_REAL, 0 if seconds is None else max(seconds, 0.001))
        return
    import _thread

    if _watch:
        _watch.pop().release()  # ends the thread of the last alarm
    _signal.signal(_signal.SIGINT, ring if seconds is not None else _signal.default_int_handler)
    if seconds is not None:
        stopped = _thread.allocate_lock()
        stopped.acquire()
        _watch.append(stopped)
        _thread.start_new_thread(_interrupt, (stopped, max(seconds, 0.001)))


def _interrupt(stopped: Any, seconds: float) -> None:
    import _thread

    if stopped.acquire(timeout=seconds):
        return
    _thread.interrupt_main()
    if not stopped.acquire(timeout=_GRACE):
        complain("the time was up")
        system._exit(0)  # pyright: ignore[reportPrivateUsage]


if __name__ == "__main__":
    main()
