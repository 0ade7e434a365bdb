"""Whether a question is complex enough for the remote model.

A simple question asks for something recorded: a state, a value, a list, a time, a reason. A complex one needs
judgement: weighing, explaining at length, advice, cause and effect over several events, or several things at
once. When in doubt a question is simple, because that costs nothing.
"""

from __future__ import annotations

from ..model.lazy_regex import lazy_regex

# Words that ask for judgement, not for a record.
_THOUGHT = lazy_regex(
    r"(?i)\b(?:analy[sz]e|assess|evaluate|critique|compare|contrast|weigh|judge|diagnose|review|reconsider"
    r"|rethink|investigate|elaborate|interpret|infer|predict|estimate|prioriti[sz]e|recommend\w*|suggest\w*"
    r"|advise|advice|propose|trade-?offs?|pros and cons|root causes?|implications?|consequences?|lessons?"
    r"|patterns?|in common|relat(?:e|ed|es|ion|ionship)|conflicts?|contradict\w*|consistent|inconsistent"
    r"|risk(?:y|ier|iest)|likel(?:y|iest|ihood)|better|best|worth|safe(?:st)?|realistic|strategy"
    r"|alternatives?|instead of|explain|walk me through|make sense|what went wrong|hypothes[ie]s)\b"
)
# Asking what should or would be.
_ADVICE = lazy_regex(
    r"(?i)\b(?:should|shall|ought)\s+(?:i|we|it|they|the|this|that|you|s?he)\b|\bwhat if\b|\bsuppose\b"
    r"|\bwould\s+(?:happen|it|we|that|this|you|i|they|the)\b|\bcould\s+(?:we|it|this|that)\b"
    r"|\bis there (?:a|any) way\b"
    r"|\bhow (?:can|could|should|would|might)\b|\bwhat (?:can|could|might) (?:we|i|have|be|happen)\b"
)
# Asking how things are connected.
_CAUSE = lazy_regex(
    r"(?i)\bwhy (?:does|do|is|are|was|were|has|have|had|would|could|can|can['’]t|doesn['’]t|isn['’]t"
    r"|wasn['’]t|didn['’]t|don['’]t|keep|keeps)\b(?!.{0,20}\b(?:blocked|waiting|paused|excluded|rejected"
    r"|chosen|skipped|cancelled|stuck)\b)|\bhow (?:does|do|did)\b.{0,60}\b(?:affect|influence|depend|lead"
    r"|interact|work|differ|fit|cause|change)\w*|\bwhat (?:caused|causes|led to|explains)\b|\bbecause of\b"
    r"|\bin (?:the )?light of\b"
)
# Asking for records in words that sound like more.
_RECORDED = lazy_regex(
    r"(?i)\bwhat (?:did|have|had) (?:i|we|you|they) (?:decide|choose|chosen|compare|consider|propose|suggest"
    r"|recommend)|\bwhich (?:alternatives?|options?|risks?|trade-?offs?)\b|\bwhat should (?:i|we) (?:not "
    r"|never )?(?:do|try|avoid)(?: (?:next|now|again|first))?\W*$|\bwhat (?:(?:is|are) the "
    r"|was the )?(?:root cause|risks?|alternatives?|trade-?offs?)\b(?!.*\bbetween\b)|\b(?:did|have|has) (?:i"
    r"|we|you|anyone|it) (?:already )?(?:review|compare|evaluate|analy[sz]e|investigate)"
)
_NAMES = lazy_regex(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|\b\S{0,100}[/_]\S{0,100}")
_JOINS = lazy_regex(r"(?i)[?;]|\band (?:what|why|how|which|who|where|when|should|is|are|do|does|did)\b")
# A longer question is a story with a question in it.
LONG = 45
CHARACTERS = 2000


def is_complex(question: str) -> bool:
    """Whether a question needs more than a lookup."""
    text = _NAMES.sub(" ", question[:CHARACTERS])
    if len(text.split()) > LONG:
        return True
    parts = [part for part in _JOINS.split(text) if len(part.split()) > 2]
    if len(parts) > 2:
        return True
    return any(_wants_thought(part) for part in parts or [text])


def _wants_thought(text: str) -> bool:
    if _RECORDED.search(text):
        return False
    return bool(_THOUGHT.search(text) or _ADVICE.search(text) or _CAUSE.search(text))
