"""Scripts and targets of a project that act outside, known by their names and arguments, and inline code."""

from __future__ import annotations

from ...model.lazy_regex import lazy_regex
from ..calls.launchers import Invocation
from .arguments import Arguments, Found
from .programs import web_request
from .table import VALUE_OPTIONS

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
_RUNNERS = frozenset(
    "make gmake just task npm pnpm yarn bun deno mise rake nx turbo composer invoke inv nox tox"
    " doit poe hatch pdm mage ant sbt lein gulp grunt moon wireit cake fab earthly dagger".split()
)
INTERPRETERS = frozenset(
    "bash sh zsh dash python python3 node bun deno ruby perl php tsx ts-node go source . pwsh"
    " powershell".split()
)
_SCRIPT_ENDS = (
    ".sh",
    ".bash",
    ".py",
    ".js",
    ".ts",
    ".mjs",
    ".cjs",
    ".rb",
    ".pl",
    ".php",
    ".ps1",
    ".zsh",
    ".mts",
)


def script_effect(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """A target or script whose name says that it deploys, publishes or migrates; inline code too."""
    name = _script_name(call, program, arguments)
    if not name:
        return _inline(call, program)
    words = [word.lower() for word in _WORD_BREAK.split(name) if word]
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
    is_script = program in INTERPRETERS or "/" in program or program not in _RUNNERS
    reads = any(word.lower() in _READING for word in _WORD_BREAK.split(name))
    if not is_script or reads:
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
    words = [word for word in arguments.words if not word.startswith("-") and "=" not in word]
    if program in _RUNNERS:
        if words[:1] in (["run"], ["run-script"], ["task"], ["exec"]):
            words = words[1:]
        elif program in ("npm", "pnpm", "bun", "deno") and words[:1] != ["run"]:
            return words[0] if words and words[0].endswith(_SCRIPT_ENDS) else ""
        value_options = frozenset(
            VALUE_OPTIONS.get("make" if program in ("make", "gmake") else "npm", "").split()
        )
        plain = [word for word in Arguments(arguments.words, value_options).plain if "=" not in word]
        plain = plain[1:] if plain[:1] and plain[0] in ("run", "run-script", "task", "exec") else plain
        named = [word for word in plain if _TRIGGERS & {part.lower() for part in _WORD_BREAK.split(word)}]
        if program in ("make", "gmake", "rake", "just", "task"):
            return named[0] if named else ""
        return named[0] if named and named[0] == plain[0] else ""
    if program in INTERPRETERS:
        if program in ("bash", "sh", "zsh") and any(word in ("-n", "--version") for word in arguments.words):
            return ""
        if words[:1] == ["run"]:
            words = words[1:]
        return _stem(words[0]) if words and (words[0].endswith(_SCRIPT_ENDS) or "/" in words[0]) else ""
    if call.path.endswith(_SCRIPT_ENDS) or "/" in call.path:
        if call.path.startswith(("/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/")):
            return ""
        return _stem(call.path)
    return ""


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    for end in _SCRIPT_ENDS:
        name = name.removesuffix(end)
    return name


_CODE_POSTS = lazy_regex(
    r"(?i)\b(?:requests|httpx|session|client|axios|http|got|aiohttp)\s*\.\s*(post|put|patch|delete)\s*\("
    r"|\bmethod\s*[:=]\s*[\"'](POST|PUT|PATCH|DELETE)[\"']"
)
_CODE_MAILS = lazy_regex(r"\bsmtplib\b|\.sendmail\(|\.send_message\(")
_CODE_URL = lazy_regex(r"[\"'`](https?://[^\"'`\s]{3,200})")


def _inline(call: Invocation, program: str) -> Found | None:
    """Code on the command line that posts or mails."""
    if program.rstrip("0123456789.") not in ("python", "node", "ruby", "bun", "deno", "php", "perl"):
        return None
    words = call.arguments
    code = next(
        (words[place + 1] for place, word in enumerate(words[:-1]) if word in ("-c", "-e", "-r", "--eval")),
        "",
    )
    code = (code or call.stdin)[:20_000]
    if not code:
        return None
    if _CODE_MAILS.search(code):
        return "mail", "the sent folder", ""
    found = _CODE_POSTS.search(code)
    if found is None:
        return None
    url = _CODE_URL.search(code)
    return web_request((found[1] or found[2]).upper(), url[1] if url else "", code)
