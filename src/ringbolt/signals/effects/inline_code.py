"""Code on a command line (`python -c`, a heredoc, `rails runner`) that posts, mails or writes data."""

from __future__ import annotations

from ...model.lazy_regex import lazy_regex
from ..calls.launchers import Invocation
from .arguments import Found
from .programs import web_request

_MOST_CODE = 20_000
_LANGUAGES = frozenset("python node ruby bun deno php perl tsx pypy".split())
_CODE_OPTIONS = ("-c", "-e", "-r", "--eval", "--execute", "-p", "--print")
# Programs that run code with the models of an application, by their first word.
_OF_APPLICATIONS = {"rails": "runner", "manage.py": "shell", "artisan": "tinker", "flask": "shell"}

_POSTS = lazy_regex(
    r"(?i)\b(?:requests|httpx|session|client|axios|http|got|aiohttp)\s*\.\s*(post|put|patch|delete)\s*\("
    r"|\bmethod['\"]?\s*[:=]\s*[\"'](POST|PUT|PATCH|DELETE)[\"']|\bNet::HTTP\.(post|put|patch|delete)\w*"
)
_MAILS = lazy_regex(r"\bsmtplib\b|\.sendmail\(|\.send_message\(")
_URL = lazy_regex(r"[\"'`](https?://[^\"'`\s]{3,200})")
# Client libraries of services, and their methods that change something there.
_SDK = lazy_regex(
    r"\b(?:boto3|botocore|google\.cloud|azure\.|@aws-sdk|@google-cloud|stripe|twilio|slack_sdk|slack_bolt|Octokit"
    r"|octokit|PyGithub|github3?|kubernetes|paramiko|pymongo|redis|kafka|pika|notion_client|openstack)\b"
)
_SDK_WRITES = lazy_regex(
    r"\.\s*(?:put|post|patch|create|update|delete|remove|send|publish|upload|insert|terminate|invoke|start|stop"
    r"|copy|merge|close|add|edit|exec|chat_post|flush)(?:_[a-z_]+|[A-Z]\w+|_?(?:one|many|Message))?\s*\("
)
# Calls of an object-relational mapper that write.
_MODEL_WRITES = lazy_regex(
    r"\.\s*(?:delete|destroy|update|create|save|insert|upsert|touch|truncate|bulk_create|bulk_update|forceDelete)"
    r"(?:_all|_or_create|_by|All|Many|OrCreate)?!?(?=[\s(;'\"]|$)"
)


def inline_effect(call: Invocation, program: str) -> Found | None:
    """What code that stands on the command line does outside; None if it does nothing or there is none."""
    code = _code(call, program)
    if not code:
        return None
    if program in _OF_APPLICATIONS:
        return ("database", "a query for what it changes", "") if _MODEL_WRITES.search(code) else None
    if _MAILS.search(code):
        return "mail", "the sent folder", ""
    if found := _POSTS.search(code):
        url = _URL.search(code)
        return web_request((found[1] or found[2] or found[3]).upper(), url[1] if url else "", code)
    if (library := _SDK.search(code)) and _SDK_WRITES.search(code, library.end()):
        return "service", f"a call of {library[0].rstrip('.')} that reads the same", ""
    return None


def has_code(call: Invocation, program: str) -> bool:
    """Whether a program runs code from its command line or its input, and no script."""
    return bool(_code(call, program))


def _code(call: Invocation, program: str) -> str:
    words = call.arguments
    if program in _OF_APPLICATIONS:
        if _OF_APPLICATIONS[program] not in words[:1]:
            return ""
        return (" ".join(words[1:]) or call.stdin)[:_MOST_CODE]
    if program.rstrip("0123456789.") not in _LANGUAGES:
        return ""
    for place, word in enumerate(words[:-1]):
        if word in _CODE_OPTIONS:
            return words[place + 1][:_MOST_CODE]
        if not word.startswith("-"):
            return ""  # a script
    return call.stdin[:_MOST_CODE] if not words or words[-1].startswith("-") else ""
