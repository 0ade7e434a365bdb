"""Scripts and targets of a project that act outside, known by their names and arguments."""

from __future__ import annotations

from ...model.lazy_regex import lazy_regex
from ..calls.launchers import Invocation
from ..calls.runners import RUNNERS, runner_targets
from .arguments import Arguments, Found

_TRIGGERS = frozenset(
    "deploy deployment publish release migrate migrations migration rollback ship promote provision"
    " teardown undeploy redeploy upload".split()
)
_HARMLESS = frozenset(
    "dry dryrun check checks plan notes note status lint validate diff generate gen create make new"
    " list show info log logs help build docs doc test tests verify preview-only template templates"
    " config configure init prepare add types schema version versions bump local format fmt"
    " changelog watch wait".split()
)
_WORD_BREAK = lazy_regex(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
INTERPRETERS = frozenset(
    "bash sh zsh dash python python3 node bun deno ruby perl php tsx ts-node go source . pwsh"
    " powershell".split()
)
_SCRIPT_ENDS = tuple(".sh .bash .zsh .py .js .ts .mjs .cjs .mts .rb .pl .php .ps1".split())


def script_effect(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """A target or script whose name says that it deploys, publishes or migrates."""
    name = _script_name(call, program, arguments)
    if not name:
        return None
    words = _words(name)
    trigger = next((word for word in words if word in _TRIGGERS), "")
    if (
        (set(words) - {trigger}) & _HARMLESS - ({"docs", "doc", "test"} if trigger else set[str]())
        or not words
        or words[0] in ("test", "tests")
    ):
        return None
    if not trigger:
        return _on_live_system(program, name, arguments)
    if trigger.startswith("migrat"):
        return "migration", "the schema's version in the database", name
    if trigger in ("publish", "release", "upload"):
        return "publish", "what the registry or the list of releases shows", name
    return "deploy", "the version that runs there now", name


_LIVE = lazy_regex(r"(?i)(?<!\w)(?:prod|prd|production)(?!\w)")
_FILE = lazy_regex(
    r"(?i)(?:^|/)\.env[\w.]*$|\.(?:json|ya?ml|toml|ini|conf|env|js|ts|py|rb|sh|sql|txt|md|csv)$"
)
# Options that name the target of a build.
_BUILDS = frozenset("--mode --env --node-env --configuration -c --target --profile".split())
_READING = frozenset("report query count find search fetch download dump read export compare inspect".split())


def _on_live_system(program: str, name: str, arguments: Arguments) -> Found | None:
    """A script that is pointed at production: `python tools/repair.py --db prod`. What it does is unknown,
    so it counts unless its name says that it only reads."""
    is_script = program in INTERPRETERS or "/" in program or program not in RUNNERS
    if not is_script or _READING.intersection(_words(name)):
        return None
    before = ""
    for word in arguments.words[1 if program in INTERPRETERS else 0 :]:
        option, _, value = word.partition("=")
        named = value if value else word
        if _LIVE.search(named) and not _FILE.search(named) and (option if value else before) not in _BUILDS:
            return "remote", f"what {name} changes there", named
        before = word
    return None


def _script_name(call: Invocation, program: str, arguments: Arguments) -> str:
    if program in RUNNERS:
        named = [
            one for one in runner_targets(program, arguments.words) if _TRIGGERS.intersection(_words(one))
        ]
        if named or program not in INTERPRETERS:
            return named[0] if named else ""
    words = [word for word in arguments.words if not word.startswith("-") and "=" not in word]
    if program in INTERPRETERS:
        if program in ("bash", "sh", "zsh") and any(word in ("-n", "--version") for word in arguments.words):
            return ""
        if words[:1] == ["run"]:
            words = words[1:]
        return _stem(words[0]) if words and (words[0].endswith(_SCRIPT_ENDS) or "/" in words[0]) else ""
    if call.path.startswith(_SYSTEM_FOLDERS):
        return ""
    return _stem(call.path) if call.path.endswith(_SCRIPT_ENDS) or "/" in call.path else ""


_SYSTEM_FOLDERS = ("/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/")


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD_BREAK.split(name) if word]


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    for end in _SCRIPT_ENDS:
        name = name.removesuffix(end)
    return name
