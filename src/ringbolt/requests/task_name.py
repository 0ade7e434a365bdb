"""The name of a task, from the prompt that asks for it: its verb phrase in at most 60 characters."""

from __future__ import annotations

import re

from ..model.lazy_regex import lazy_regex
from ..signals.prompt_phrases import ASKS_FOR_WORK, HANDS_OVER_PLAN, PASTED_LINE, POINTS
from ..signals.text_layout import layout, sentences
from ..signals.words import weighted_words

MOST_CHARACTERS = 60
PROMPT_CHARACTERS = 4000
SENTENCE_CHARACTERS = 500
CANDIDATES = 6
LINES = 20  # of a prompt that holds nothing but code
LEAST_NAME = 18  # characters that a name has at least, where the text has more
MOST_PATH = 28  # a longer path is named by its file

# What a prompt may begin with before it comes to the point.
_LEAD_INS = lazy_regex(
    r"(?:[\s,.!:;–—-]{0,4}(?:(?:hi|hello|hey|morning|good morning|thanks|thank you|ok|okay|alright|right"
    r"|great|cool|perfect|so|well|hmm+|hm|also|and|but|then|now|next|first|actually|anyway"
    r"|help)(?=[\s,.!:;–—-])(?! me\b)|please|pls|kindly|just(?= \w)|maybe|q:|i(?:['’]m| am) wondering (?:if"
    r"|whether)|i(?:['’]d| would) (?:like|love) (?:you )?to|i (?:want|need)(?: you)? to|we (?:should"
    r"|need to|want to|must)|you (?:should|need to|must)|(?:can|could|would|will) (?:you|we)(?: please"
    r"| maybe| also| now| first| just)*|let['’]?s|let us|do me a favou?r(?: and)?|do me"
    r"|help (?:me|us)(?: (?:to|with))?"
    r"|tell me(?: again)?,?|do you think (?:you can|we (?:can|should|could))|your task is to|the task is to"
    r"|go ahead and|try to|(?:for )?something (?:\w+ )?(?:different|else|new)(?=\s?[:,.–—-])"
    r"|(?:an? )?(?:new|another|different|unrelated) (?:task|topic|request)(?=\s?[:,.–—-]))(?=[\s,:.!]"
    r"|$))+[\s,:.!]*",
    re.I,
)
_LABEL = lazy_regex(
    r"\A\s*(?:brain ?storm(?:ing)?|task|todo|to-do|feature(?: request)?|bug|request|goal|aim|objective"
    r"|question|quick question|q|note|idea|plan|prompt|story|issue|ticket|fyi|update|title|summary|context"
    r"|subject|re|new task|next task|job)\s*[:：]\s*",
    re.I,
)
_ASKS = lazy_regex(r"\b(?:can|could|would|will)\b", re.I)
_QUESTION_WORD = lazy_regex(r"(?:what|why|how|when|where|which|who|is|are|does|do|did)\b", re.I)
_PLAN_TITLE = lazy_regex(r"\s*(?:implementation )?plan\s*[:：–—-]\s*|\s*plan (?:to|for)\s+", re.I)
_PLAN_END = lazy_regex(r"[\s:–—-]+(?:implementation )?plan\s*$", re.I)
# Where a sentence that sets a scene comes to its request.
_REQUEST_INSIDE = lazy_regex(r"(?<=[\w)\"'`]),?\s+(?=(?:can|could|would) (?:you|we)\s(?!have\b))")
_IMPERATIVE = lazy_regex(
    r"\W*(?:branch|bring|close|deploy|disable|enable|extract|include|merge|rebase|rename|respond|simplify"
    r"|validate|verify|wire)\b",
    re.I,
)
_ROLE = lazy_regex(r"\W*(?:you are|you['’]re|act as|as an? (?:expert|experienced|senior))\b", re.I)
_COMMAND = lazy_regex(r"/([A-Za-z][\w:-]{1,60})(?:\s+|$)")
_COMMAND_SIGNS = lazy_regex(r"[-_:]+")
_TAG = lazy_regex(r"</?[a-z][\w-]{0,40}>")
_IMAGE = lazy_regex(r"!?\[(?:image|screenshot)[^\]]{0,40}\]", re.I)
_LINK = lazy_regex(r"!?\[([^\]\n]{1,200})\]\([^)\s]{1,500}\)")
_TICKET = lazy_regex(
    r"https?://[^\s/]{1,100}/[\w.-]{1,80}/([\w.-]{1,80})/(?:issues|pull|pulls|-/issues)/(\d{1,9})\S*"
)
_URL = lazy_regex(r"\(?https?://(?:www\.)?([^\s/]{1,100})\S*")
_MENTION = lazy_regex(r"(?<!\S)@(?=[\w./-]*[\w/])")
_PATH = lazy_regex(r"(?<![\w/.~-])(?:~|\.{1,2}|[A-Za-z]:)?[/\\]?(?:[\w.@+-]{1,80}[/\\]){1,20}[\w.@+-]{1,100}")
_QUOTES = lazy_regex(r"\*\*|__(?=\S)(?=[^_]*__)|`+|^[#>*•–-]+\s+")
_SPACE = lazy_regex(r"\s+")
# Where a name may end before its text does, the better places first, and how much must stand before.
_CLAUSE_ENDS = (
    (18, lazy_regex(r"[.!?](?=\s)|\s+[–—-]+\s|;\s|\s+[-=]>\s|\s+<-\s")),
    (
        30,
        lazy_regex(
            r":\s|\s\(|,\s+(?:but|and|so|then|because|since|which|when|while|if|or)\b|\s(?:because"
            r"|so that|since)\s"
        ),
    ),
    (40, lazy_regex(r",\s|\s(?:and|but|which|when|while|if|where|in order to)\s")),
)
_WEAK_END = lazy_regex(
    r"(?:[\s,;:(&+/–—-]+|(?<=\s)(?:a|an|the|of|in|on|at|to|for|from|with|by|and|or|but|that|which|is|are|be"
    r"|as|our|my|your|its|this|these|those|if|when|we|you|i|it|can|should|into|about|where|what|how|not|so"
    r"|then))+$",
    re.I,
)


def task_name(prompt: str) -> str:
    """What a prompt asks for, as the name of a task; "" if it has no words.

    A plan that is handed over is named by its own title, a bare command is written in words. Labels
    ("brainstorm:"), courtesies, markup and pasted output are left out, long paths and addresses shortened.
    Names in code stay as they are, and only a word that is longer than a name is cut.
    """
    text = _TAG.sub(" ", prompt[:PROMPT_CHARACTERS]).strip()
    command = _COMMAND.match(text)
    if command:
        rest = text[command.end() :].strip()
        name = _named(rest) if len(rest.split()) > 2 else ""
        return name or _shortened(f"{_COMMAND_SIGNS.sub(_in_words, command[1])} {rest.split(chr(10), 1)[0]}")
    return _named(text)


def _in_words(sign: re.Match[str]) -> str:
    return ": " if ":" in sign[0] else " "


def _named(text: str) -> str:
    plan = HANDS_OVER_PLAN.match(text)
    if plan and (title := _title_of_plan(text[plan.end() :])):
        return title
    candidates = _sentences(text)
    if not candidates:
        lines = (line for line in text.splitlines()[:LINES] if not line.lstrip().startswith("```"))
        return next((name for line in lines if (name := _finished(line))), "")
    ranked = sorted(enumerate(candidates), key=lambda pair: _fitness(pair[1]) - 0.4 * pair[0], reverse=True)
    return next((name for _, one in ranked if (name := _finished(one))), "")


def _title_of_plan(text: str) -> str:
    """The first heading of a plan, or its first line."""
    lines = [line for line in layout(text.lstrip(" :.\n")) if line.text]
    heading = next((line for line in lines if line.kind == "heading"), lines[0] if lines else None)
    if heading is None:
        return ""
    title = _PLAN_TITLE.sub("", heading.text, count=1)
    return _shortened(_PLAN_END.sub("", title) or title)


def _sentences(text: str) -> list[str]:
    """The first sentences that the user wrote: no code, no pasted lines."""
    found: list[str] = []
    for line in layout(text):
        if line.text and not PASTED_LINE.match(line.text):
            for sentence in sentences(_LABEL.sub("", line.text, count=1)):
                sentence = sentence[:SENTENCE_CHARACTERS]
                scene = _REQUEST_INSIDE.search(sentence, LEAST_NAME)
                found += [sentence[: scene.start()], sentence[scene.end() :]] if scene else [sentence]
        if len(found) >= CANDIDATES:
            break
    return [one for one in found[:CANDIDATES] if _LEAD_INS.sub("", one, count=1).strip(" .:!?")]


def _fitness(sentence: str) -> float:
    """How well a sentence names the work: one that asks for it, with words of its own, is best."""
    sentence = sentence[: 4 * SENTENCE_CHARACTERS]
    content = min(4.0, sum(weighted_words(sentence).values()))
    asks = (ASKS_FOR_WORK.match(sentence) or _IMPERATIVE.match(sentence)) is not None
    pointer = POINTS.search(sentence)
    points = pointer is not None and sum(weighted_words(sentence[: pointer.start()]).values()) < 1.0
    return content / 2 + asks * (0.2 if points else 1.0) - 3.0 * (_ROLE.match(sentence) is not None) - points


def _finished(sentence: str) -> str:
    """A sentence without what stands before its point, short enough for a name."""
    text = _LABEL.sub("", sentence[:SENTENCE_CHARACTERS], count=1)
    lead_in = _LEAD_INS.match(text)
    stripped = text[lead_in.end() :] if lead_in else text
    if len(stripped.split()) < 2:
        return _shortened(text)
    # "Can you fix it?" asks for work, "can you tell me why it fails?" is a question.
    is_order = lead_in is not None and _ASKS.search(lead_in[0]) and not _QUESTION_WORD.match(stripped)
    return _shortened(stripped.rstrip(" ?") if is_order else stripped)


# --- wording ----------------------------------------------------------------------------------------


def _shortened(text: str) -> str:
    """A text as one line without markup, cut where a clause or a word ends, beginning with a capital."""
    text = _LINK.sub(r"\1", _IMAGE.sub(" ", text[:SENTENCE_CHARACTERS]))
    text = _TICKET.sub(r"\1#\2", text)
    text = _URL.sub(" ", text) if len(_URL.sub("", text).split()) > 1 else _URL.sub(r"\1", text)
    is_code = text.lstrip().startswith("`")
    text = _PATH.sub(lambda found: _short_path(found[0]), _MENTION.sub("", _QUOTES.sub("", text)))
    text = _SPACE.sub(" ", text).strip(" \t.,:;–—-")
    name = _cut(text if " " in text else text.rpartition("/")[2] or text)
    return name if is_code else _capitalised(name)


def _short_path(path: str) -> str:
    """The file of a long or absolute path; a short one in the repository stays."""
    is_far = path[0] in "/~\\" or path[1:2] == ":"
    return re.split(r"[/\\]", path)[-1] if is_far or len(path) > MOST_PATH else path


def _cut(text: str) -> str:
    if len(text) <= MOST_CHARACTERS:
        return text
    for least, ends in _CLAUSE_ENDS:
        if found := ends.search(text, least, MOST_CHARACTERS + 1):
            kept = _balanced(text[: found.start()].rstrip(" ,;:–—-"))
            if len(kept) >= LEAST_NAME:
                return f"{kept}?" if found[0] == "?" else kept
    kept = text[: MOST_CHARACTERS - 1]
    if text[len(kept)] != " ":
        kept = kept.rpartition(" ")[0]
    kept = _WEAK_END.sub("", kept) or kept
    # A single long word is cut, since nothing would be left without it.
    return f"{_balanced(kept)}…" if kept else f"{text[: MOST_CHARACTERS - 1]}…"


def _balanced(text: str) -> str:
    """A text without a bracket or quotation mark that the cut has left open."""
    for opening, closing in (("(", ")"), ("[", "]"), ("“", "”")):
        if text.count(opening) > text.count(closing):
            text = text[: text.rindex(opening)].rstrip(" ,;:")
    if text.count('"') % 2:
        at = text.rindex('"')
        text = (text[:at] if at > LEAST_NAME else text[:at] + text[at + 1 :]).rstrip(" ,;:")
    return text


def _capitalised(text: str) -> str:
    """A text with a capital first letter, unless it begins with a name from code."""
    word = text.split(" ", 1)[0].rstrip(",.:;?!")
    is_plain = word.replace("'", "").replace("’", "").replace("-", "").isalpha() and word.islower()
    return text[:1].upper() + text[1:] if is_plain else text
