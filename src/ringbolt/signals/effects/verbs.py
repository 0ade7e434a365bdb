"""Programs that no table knows, judged by their subcommand: `zarf package deploy`, `opam publish`.

Only verbs count that hardly ever act on the same machine; `create`, `delete` or `start` do not say where they
act. A file or folder of such a name is not a subcommand, so programs that take files are left out.
"""

from __future__ import annotations

from ...model.lazy_regex import lazy_regex
from ..calls.command_form import IDLE, LOCAL_PROGRAMS
from .arguments import Arguments, Found

_MOST_WORDS = 3  # of the subcommand: `zarf package deploy`
_KINDS: dict[str, tuple[str, str]] = {
    verb: (kind, check)
    for verbs, kind, check in (
        ("push", "push", "what the other side has now"),
        ("publish upload", "publish", "what the registry shows"),
        ("deploy redeploy undeploy rollback promote", "deploy", "the version that runs there now"),
        ("trigger dispatch", "workflow", "the list of runs"),
        ("send pub notify", "message", "what was received"),
        ("transition", "issue", "the state of the item"),
    )
    for verb in verbs.split()
}
_READS = frozenset(
    "list ls show status describe view get help lint check validate plan diff local test watch logs"
    " stash".split()
)
_SUBCOMMAND = lazy_regex(r"[A-Za-z][\w:-]*")
_PARTS = lazy_regex(r"[-:_]")


def verb_effect(program: str, arguments: Arguments) -> Found | None:
    """What an unknown program does outside, by the words of its subcommand."""
    if program in LOCAL_PROGRAMS or program in IDLE:
        return None
    words: list[str] = []
    for word in arguments.plain[:_MOST_WORDS]:
        if not _SUBCOMMAND.fullmatch(word):
            break
        words.append(word.lower())
    for place, word in enumerate(words):
        parts = _PARTS.split(word)
        if _READS.intersection(parts):
            return None
        if verb := next((part for part in parts if part in _KINDS), ""):
            kind, check = _KINDS[verb]
            target = "".join(arguments.plain[place + 1 : place + 2])
            return None if target in _READS else (kind, check, target)
    # `telegram-send "done"`, `mosquitto_pub -t topic`
    name = _PARTS.split(program)
    if len(name) > 1 and name[-1] in ("send", "pub", "notify") and (arguments.plain or arguments.options):
        kind, check = _KINDS[name[-1]]
        return kind, check, ""
    return None
