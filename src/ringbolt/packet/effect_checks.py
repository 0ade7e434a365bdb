"""How to find out whether a side effect happened: the recorded check, or an obvious one."""

from __future__ import annotations

from ..model.lazy_regex import lazy_regex
from ..model.types import Effect

# Words of an intent, and the obvious check for it. The first match counts.
_NATURAL = [
    (lazy_regex(rf"(?i)\b(?:{words})"), check)
    for words, check in (
        (r"e-?mail|mail|send|sent|notif|messag|post(?:ing|ed)?\b|tweet|comment", "the outbox or the thread"),
        (r"pay|charg|refund|invoic|transfer|purchas|place an? order", "the account's list of transactions"),
        (r"commit", "git log"),
        (r"(?:git )?push(?! notif)", "git ls-remote, or the registry it goes to"),
        (r"tag\b|merg|pull request|\bpr\b", "the list of tags or pull requests"),
        (r"publish|upload|releas", "what the registry or server lists now"),
        (r"migrat|alter table|schema", "the schema's version in the database"),
        (r"deploy|roll ?out|roll ?back|helm|kubectl|terraform", "the version that runs there now"),
        (r"container|docker|compose", "docker ps -a"),
        (r"start|restart|launch|run\b|stop|kill", "the list of processes, or the service's status"),
        (r"delet|remov|drop|rm\b|truncat|purg|wip", "whether it is still there"),
        (r"creat|insert|add\b|writ|mak|regist|book", "whether it is there already"),
    )
]
OTHERWISE = "a look at what it changes"


def natural_check(what: str) -> str:
    """The obvious way to find out whether something was done, if no check was recorded."""
    for words, check in _NATURAL:
        if words.search(what):
            return check
    return OTHERWISE


def check_of(effect: Effect) -> tuple[str, bool]:
    """How to find out whether it was done, and whether this is recorded text, which must be quoted."""
    return (effect.verify, True) if effect.verify else (natural_check(effect.what), False)
