"""The phrases by which an agent says how its work stands: each list exists once, here.

Done, not done, uncertain, intended, asked. Readers in other rooms search these patterns, or build
their own from the lists in capitals, which are alternatives without a group around them. All are English.
"""

from __future__ import annotations

import re

from ..model.lazy_regex import lazy_regex
from .step_numbers import NOUNS, NUMBER

# --- done -------------------------------------------------------------------------------------------

TICKS = r"✅|✓|✔|☑|\[x\]"
TICKED = lazy_regex(TICKS, re.I)
DONE = lazy_regex(
    rf"(?i){TICKS}|100 ?%|\b(?:done|completed?|finished|concluded|accomplished|achieved|committed|implemented"
    r"|deployed|merged|shipped|succee(?:ds|ded)|pass(?:es|ed|ing)?|all green|fixed|solved|resolved|verified"
    r"|executed|performed|carried out|wrapped up|in place|is over|are over|behind (?:us|you|me)|compiles"
    r"|builds (?:cleanly|successfully)|(?:is|are|was|were) (?:now )?(?:added|updated|removed))\b"
)
ALL_DONE = lazy_regex(
    r"(?i)\W*(?:all done|everything(?:['’]s| is) (?:now )?(?:done|complete|finished|in place)"
    r"|all (?:of )?(?:the |my |our |\d+ )?(?:tasks|steps|items|todos)"
    r"(?: (?:are|is|have been|now))* (?:done|complete|finished))"
)
# How a thing stands. "Now" and "next" announce something, but not in such a sentence: "step 2 is now done".
IS_DONE = lazy_regex(
    rf"(?i)\b(?:{NOUNS})s?\s*{NUMBER}\s+(?:done|completed?|finished)\b"
    r"|\b(?:is|are|was|were|been)\s+(?:(?:now|all|already|both)\s+)?"
    r"(?:done|completed?|finished|in place|passing)\b"
)
# An agent that turns to its own to-do list has just finished something.
KEEPS_LIST = lazy_regex(
    r"(?i)\b(?:updat|mark|tick|check)\w*\b[^.]{0,40}\b(?:tasks?|todos?|to-do|list|status(?:es)?|plan"
    r"|completed?|done)\b|\bmov(?:e|ing) on\b|\bmov(?:e|ing) to\b"
)

# --- not done, uncertain ----------------------------------------------------------------------------
UNFINISHED = r"not|never|yet|still|incomplete|half|partly|remain\w*"
GUESSES = r"might|may|maybe|perhaps|possibly|probably|could be|I think|seems"
CONDITIONS = r"before|once|when|until|unless|if|after|should|would|will|must|to be"
NOT_DONE = lazy_regex(rf"(?i)n['’]t\b|\b(?:{UNFINISHED})\b")
DENIES_DONE = lazy_regex(
    rf"(?i)n['’]t\b|\b(?:{UNFINISHED}|{CONDITIONS}|{GUESSES}|no|missing|fail\w*|almost|nearly|part\w*|need\w*"
    r"|without)\b"
)
POSTPONES = lazy_regex(
    r"(?i)n['’]t\b|\b(?:not|never|before|later|afterwards|eventually|instead of|after that)\b"
)

# --- intended ---------------------------------------------------------------------------------------
INTENDS = r"let me|let['’]s|I['’]ll|I will|I['’]m going to"
ANNOUNCES = lazy_regex(
    rf"(?i)\b(?:{INTENDS}|now|next|start(?:ing)?|mov(?:e|ing) (?:on )?to|proceed|continu(?:e|ing)"
    r"|dispatch(?:ing)?|on to|time to|first)\b"
)
MOVES_ON = lazy_regex(r"(?i)\W*mov(?:e|ing)(?: on)? to\b")

# --- asked ------------------------------------------------------------------------------------------
# How a question begins that may end without its mark.
BEGINS_QUESTION = lazy_regex(r"(?i)\W*(?:should|shall|do you|would you|can you|could you|may i)\b")
_OFFERS = lazy_regex(
    r"(?i)\W*(?:want me to|would you like|shall I|should I|do you want|ready to|anything else|does (?:that"
    r"|this)|sound good|ok(?:ay)?)\b"
)


def is_question(sentence: str) -> bool:
    """Whether a sentence ends with a question mark, also inside quotation marks or emphasis."""
    return sentence.rstrip("\"'*_) ").endswith("?")


def is_offer(question: str) -> bool:
    """Whether a question only offers to go on."""
    return _OFFERS.match(question) is not None


# --- any of it --------------------------------------------------------------------------------------

# Every sentence that `progress.plan_progress` acts on has one of these (a test holds that). They are looked
# for in each message that is stored, and are cheaper than the patterns above, which need not be compiled.
_PROGRESS_HINTS = (
    "done", "complet", "finish", "conclud", "accomplish", "achiev", "commit", "implement", "deploy", "merged",
    "shipped", "succee", "pass", "green", "fixed", "solved", "verified", "execut", "perform", "carried out",
    "wrapped up", "in place", " over", "behind", "compiles", "builds", "added", "updat", "removed", "100",
    "now", "next", "let me", "let's", "let’s", "i'll", "i’ll", "i will", "going to", "start", "mov",
    "proceed", "continu", "dispatch", "on to", "time to", "first", "mark", "tick", "check", "✅", "✓", "✔",
    "☑", "[x]",
)  # fmt: skip


def may_tell_progress(message: str) -> bool:
    """Whether a message can say that something is done or begins; False is certain, True is not."""
    plain = message.lower()
    return any(hint in plain for hint in _PROGRESS_HINTS)
