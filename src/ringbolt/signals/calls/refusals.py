"""Whether a user's prompt says that a call of the turn before was refused."""

from __future__ import annotations

from ...model.lazy_regex import lazy_regex
from ..prohibitions import goes_against, prohibitions, read_call

_MOST_PROMPT = 2000
# The user says what they did with the host's question; the rest of the clause says about what.
_REFUSED = lazy_regex(
    r"(?i)(?:\bI(?:['’]ve| have| had)?(?: just| already)?(?: \w+ly)? (?:rejected|declined|denied|refused"
    r"|vetoed|said no to|turned down|(?:did not|didn['’]t|do not|don['’]t|won['’]t|will not|cannot"
    r"|can['’]t) (?:approve|allow|permit|authori[sz]e|accept|confirm))|^\W*(?:rejected|declined|denied"
    r"|refused|not (?:approved|allowed|permitted)))\b([^.,;:!?\n]{0,100})"
)
_THE_CALL = lazy_regex(
    r"(?i)^\s*(?:$|because\b|for now|(?:it|that|this)(?:$| (?:call|command|one|request|because))"
    r"|(?:the|your|that|this) (?:\w+ )?(?:call|command|request|tool|action)\b)"
)
_WORDS = lazy_regex(r"[a-z]{4,}")
# An opening by which people answer the host's question with no.
_SAYS_NO = lazy_regex(
    r"(?i)^\W*(?:(?:no|nope|nah)(?=\s*(?:[,.!;:–—-]|$)|\s+(?:do|don['’]?t|not|never|please|thanks|way|leave"
    r"|use|wait|stop|keep)\b)|(?:please )?(?:don['’]?t|do not)\b(?!\s+(?:forget|worry|hesitate|mind|bother))"
    r"|not (?:yet|now|like (?:this|that)|that|this|there)\b|never do\b)"
)


def refuses_call(prompt: str, what: str, *, ended_turn: bool) -> bool:
    """Whether a prompt says that the call before it, `what`, was refused.

    `ended_turn` says that nothing came between them, no last word of the agent and no interruption: then a
    plain "no" answers the host's question about the call. Otherwise it must speak of the call.
    """
    text = prompt[:_MOST_PROMPT]
    if ended_turn and _SAYS_NO.match(text):
        return True
    names = set(_WORDS.findall(what.lower()))
    for found in _REFUSED.finditer(text):
        if _THE_CALL.match(found[1]) or any(
            _is_like(word, names) for word in _WORDS.findall(found[1].lower())
        ):
            return True
    call = read_call(what, "", "")
    return any(goes_against(rule, call) for rule in prohibitions(text))


def _is_like(word: str, names: set[str]) -> bool:
    """Whether a word is one of these names, or a form of one: `migration` and `migrate`."""
    return any(word[:6] == name[:6] for name in names)
