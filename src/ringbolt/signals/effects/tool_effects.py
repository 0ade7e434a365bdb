"""Tools that are not a shell and act outside, mostly of MCP servers: known by the words of their names.

`mcp__github__create_pull_request` has the server `github`, the verb `create` and the object `pull request`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...model.lazy_regex import lazy_regex
from ..calls.sql_statements import sql_write
from ..text_layout import one_line
from ..words import HUMP

_NAMES = lazy_regex(r"[a-z0-9]+")  # "context7"
_ANY_SERVER = frozenset("server mcp service api client".split())
_READS = frozenset(
    "get list search read fetch find query describe view show count check status lookup browse"
    " retrieve download inspect preview validate analyze analyse explain resolve suggest diff"
    " compare export summarize poll watch wait test lint plan whoami snapshot screenshot render open"
    " ask think calculate estimate verify evaluate".split()
)
_WRITES = frozenset(
    "create update delete remove send post publish push merge close reopen comment add assign"
    " unassign invite upload deploy apply insert upsert write set put patch submit approve reply"
    " react schedule cancel book pay charge refund transfer trigger dispatch rerun retry start stop"
    " restart scale move archive unarchive rename edit transition append modify draft forward"
    " subscribe unsubscribe register revoke grant enable disable rollback promote import resolve"
    " execute run mark pin lock unlock label rotate purge flush truncate drop fork tweet share save"
    " star mention notify broadcast complete reopen dismiss request launch provision destroy"
    " terminate reboot attach detach".split()
)
# Verbs that read unless the input says otherwise, or that may do either.
_EITHER = frozenset("execute run query call invoke exec".split())
# Servers that work on this machine: files, notes, browsers, thinking.
_LOCAL_SERVERS = frozenset(
    "filesystem files fs memory thinking sequential context7 serena ide acp playwright puppeteer"
    " browser chrome devtools git ringbolt taskmaster task todo tasks knowledge docs deepwiki fetch"
    " time everything obsidian basic repomix ast desktop commander vscode jetbrains intellij xcode"
    " figma shell terminal bash python jupyter code sandbox repl selenium stagehand".split()
)
# Objects that are on this machine, whatever the server is called.
_LOCAL_OBJECTS = frozenset(
    "file files directory folder folders entity entities relation relations observation"
    " observations node nodes memory memories todo todos plan plans thought thinking cell notebook"
    " symbol line lines text buffer worktree cwd cache page tab browser viewport screenshot dialog"
    " mouse keyboard element form".split()
)
# Objects that a tool without a server must name, or a service in its name.
_OUTSIDE = frozenset(
    "email mail gmail outlook message messages slack discord telegram whatsapp sms teams channel dm"
    " issue issues ticket tickets jira linear github gitlab bitbucket pull pr prs merge release"
    " releases comment comments review calendar event events meeting invite payment payments invoice"
    " order orders refund charge stripe customer deployment deployments deploy vercel netlify sql"
    " database row rows record records table sheet spreadsheet notion confluence airtable sentry"
    " webhook tweet post repository repo branch workflow pipeline bucket object lambda instance"
    " server cluster kubernetes zendesk hubspot salesforce trello asana calendly contact"
    " notification push twilio".split()
)
# The kind of an effect by a word of the tool's name, or else of its server's.
_KINDS = {
    kind: frozenset(words.split())
    for kind, words in {
        "pull_request": "pull pr merge mr review",
        "release": "release releases tag",
        "mail": "email mail gmail outlook draft inbox",
        "calendar": "calendar event events meeting invite calendly",
        "message": "slack discord telegram whatsapp sms teams message messages channel dm chat notification"
        " tweet twilio reaction",
        "payment": "payment payments invoice refund charge stripe order orders subscription",
        "database": "sql database row rows record records table collection documents supabase postgres mysql"
        " mongodb redis bigquery snowflake neon airtable sheet migration query index",
        "deploy": "deploy deployment deployments vercel netlify rollout kubernetes cluster lambda instance"
        " service server container pod workflow pipeline function",
        "issue": "issue issues ticket tickets jira linear comment comments project label sentry zendesk"
        " trello asana card",
        "push": "push branch commit repository repo",
    }.items()
}
_CODE_HOSTS = frozenset("github gitlab bitbucket gitea forgejo".split())
_SQL_FIELDS = ("sql", "query", "statement", "command", "q", "queries", "statements")
# Fields of an input that say which object it is about.
_NAMING = tuple(
    "title subject name summary channel channel_id to recipient email repo repository branch"
    " pull_number issue_number number id key tag tag_name table table_name url path environment"
    " project team".split()
)
# A tool without any of these in its name does nothing outside.
TOOL_VERBS: tuple[str, ...] = (*sorted(_WRITES), "query", "sql")
_METHODS = ("POST", "PUT", "PATCH", "DELETE")

Found = tuple[str, str, str, str]  # kind, what, check, target


def tool_effect(tool: str, given: Mapping[str, Any]) -> Found | None:
    """What a tool that is not a shell does outside; None if it does nothing there."""
    server, name = _server_and_name(tool)
    words = [word.lower() for word in HUMP.findall(name)]
    if not words or "ringbolt" in tool.lower():
        return None
    method, url = given.get("method"), given.get("url")
    if isinstance(method, str) and isinstance(url, str):
        return _request(method.upper(), url.partition("?")[0], url)
    server_words = {word.lower() for word in HUMP.findall(server)} - _ANY_SERVER
    server_words |= set(_NAMES.findall(server.lower()))
    every = [*words, *server_words]
    if _is_sql(set(words), server_words, given):
        text = next((value for field in _SQL_FIELDS if isinstance(value := given.get(field), str)), "")
        written = sql_write(text)
        if written is None:
            return None
        return "database", f"{name}: {one_line(text, 100)}", written.check, written.target
    verb = next((word for word in words if word in _READS or word in _WRITES), "")
    if verb not in _WRITES or (verb == "post" and _READS.intersection(words)):
        return None  # "API-post-search" names the method of its request
    if verb in _EITHER and not set(every) & {"workflow", "pipeline", "deploy", "deployment", "job", "build"}:
        return None
    objects = [word for word in words if word != verb]
    is_remote = bool(server) and not server_words & _LOCAL_SERVERS
    if server and not is_remote and not ("push" in words or set(words) & {"email", "slack", "github"}):
        return None
    if is_remote and set(objects) & _LOCAL_OBJECTS and not server_words & _OUTSIDE - {"page"} and not (
        set(objects) & _OUTSIDE
    ):  # fmt: skip
        return None
    if not server and not set(every) & _OUTSIDE:
        return None
    if not server and (set(words) & _LOCAL_OBJECTS or len(words) < 2):
        return None
    kind = _kind(words)
    if not kind and server_words & _CODE_HOSTS and set(objects) & {"file", "files"}:
        kind = "push"  # a file on a branch there is a commit
    kind = kind or _kind(server_words) or "service"
    named = _named(given)
    label = f"{server} {name}" if server else name
    noun = " ".join(objects) or "object"
    check = f"look up the {noun} with the {server} tools" if server else f"look up the {noun}"
    return kind, f"{label}{f': {named}' if named else ''}", check, named


def _kind(words: Iterable[str]) -> str:
    return next((kind for kind, hints in _KINDS.items() if not hints.isdisjoint(words)), "")


def _server_and_name(tool: str) -> tuple[str, str]:
    """The MCP server and the tool's own name, of `mcp__github__create_issue` or `github.create_issue`."""
    plain = tool.removeprefix("mcp__").removeprefix("mcp_")
    for mark in ("__", ".", "/", ":"):
        if mark in plain:
            server, _, name = plain.rpartition(mark)
            return server.strip("_"), name
    if tool.startswith("mcp_") and "_" in plain:
        server, _, name = plain.partition("_")
        return server, name
    return "", plain


def _request(method: str, address: str, url: str) -> Found | None:
    """A tool that makes web requests, with a method and an address in its input."""
    return ("http", f"{method} {address}", f"GET {address}", url) if method in _METHODS else None


_DATABASES = frozenset(
    "sql postgres postgresql mysql sqlite supabase bigquery snowflake neon clickhouse duckdb"
    " database db redshift mssql planetscale turso".split()
)
_SQL_NOUNS = frozenset("sql query statement queries transaction".split())
_SQL_VERBS = frozenset("execute run query exec write apply".split())


def _is_sql(words: set[str], server: set[str], given: Mapping[str, Any]) -> bool:
    """Whether a tool runs the SQL statements of its input."""
    if not any(isinstance(given.get(field), str) for field in _SQL_FIELDS):
        return False
    of_database = words & _DATABASES or (words & _SQL_NOUNS and server & _DATABASES)
    return bool(of_database and words & (_SQL_VERBS | _SQL_NOUNS))


def _named(given: Mapping[str, Any]) -> str:
    """What the input says the call is about."""
    parts = [
        one_line(str(given[field]), 60)
        for field in _NAMING
        if isinstance(given.get(field), (str, int)) and str(given[field]).strip()
    ]
    return ", ".join(parts[:2])
