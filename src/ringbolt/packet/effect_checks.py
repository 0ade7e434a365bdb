"""Side effects whose outcome is unknown: how one finds out, as it was recorded, or as one naturally would."""

from __future__ import annotations

import re

from ..model.types import Effect

# What an intent says, and how one would look whether it was done. The first that fits.
_NATURAL = (
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
OTHERWISE = "a look at whatever it changes"


def natural_check(what: str) -> str:
    """How one would find out whether something was done, if nobody has said it."""
    for words, check in _NATURAL:
        if re.search(rf"\b(?:{words})", what, re.IGNORECASE):  # compiled when it is first asked for
            return check
    return OTHERWISE


def check_of(effect: Effect) -> tuple[str, bool]:
    """How to find out whether it was done, and whether these are recorded words, which are to be quoted."""
    return (effect.verify, True) if effect.verify else (natural_check(effect.what), False)
