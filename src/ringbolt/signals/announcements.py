"""What an agent says that it does now or will do next, as the titles of steps."""

from __future__ import annotations

from typing import Literal

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from . import phrases
from .plan_words import GENERIC_STEMS, TALK_STEMS, imperative, is_verb
from .step_numbers import NOUNS
from .text_layout import layout, plain, sentences
from .words import PROSE_WORD, stem

When = Literal["now", "next"]

MOST_SENTENCES = 8  # at each end of a message
MOST_CHARACTERS = 3000
FEWEST_STEPS = 3  # of a sequence
BRIEF = 200  # a message that is only an announcement

# Words that only lead up to an announcement: "Good. Now let me …", "OK, then I'll …".
_LEADS = (
    r"(?:(?:actually|wait|hmm|well|good|great|perfect|ok(?:ay)?|right|alright|yes|excellent|also|and|so|but|first|finally"
    r"|lastly|then|next|now)\b[,.!:;\s–—-]*)*"
)
_INTENT = (
    r"(?:let me|let['’]?s|I['’]ll|I will|I['’]m (?:now |also )?(?:going to|about to)"
    r"|I am (?:now )?(?:going to|about to)|I (?:now |still |also )?(?:need|want|have) to|we['’]ll"
    r"|we (?:now )?need to|time to|on to|moving on to|moving to|turning to|proceeding (?:to|with)"
    r"|starting (?:with|on)|continuing with|I can now|I should(?: now)?)"
)
_ANNOUNCED = lazy_regex(
    rf"(?i)\W*{_LEADS}{_INTENT}\s+(?:(?:now|also|first|then|next|just|quickly|start by|begin by"
    rf"|go ahead and|continue to"
    r"|proceed to|move on to|start|begin|continue|proceed with)\s+)*(?P<what>\S.*)"
)
_PROGRESSIVE = lazy_regex(
    rf"(?i)\W*{_LEADS}(?:I['’]m|I am)\s+(?:now |also |just |next |then )*(?P<what>[a-z]+ing\b.*)"
)
_NOW = lazy_regex(
    r"(?i)\W*(?:(?:good|great|ok(?:ay)?|perfect)[,.!:\s–—-]+)?(?:now|next|then|finally|first"
    r"|lastly)\b[,:\s–—-]+(?P<what>\S.*)"
)
_LABELLED = lazy_regex(
    rf"(?i)\W*(?:now\s+)?(?:{NOUNS}|fix|bug|opt\w*|change)\s*#?\d{{1,3}}[a-z]?\b\W+(?P<what>\S.*)"
)
_NAMED = lazy_regex(rf"(?i)\W*(?:now\s+)?(?:{NOUNS})\s*#?\d{{1,3}}[a-z]?\b\W+(?P<what>\S.*)")
_LABEL = lazy_regex(rf"(?i)(?:the\s+)?(?:{NOUNS}|opt\w*)\s*#?\d{{1,3}}[a-z]?\W*")
_LATER = lazy_regex(
    r"(?i)\W*(?:next(?:,| up,?)?\s+(?:I['’]ll|I will|we['’]ll|I need to|step is(?: to)?|up is"
    r"|is to)|(?:the )?next step is(?: to)?"
    r"|(?:and )?(?:then|after that|afterwards|once (?:that|this)[^,]{0,40},) (?:I['’]ll|I will|we['’]ll"
    r"|I['’]m going to)|I['’]ll (?:then|next|later))\s+(?P<what>\S.*)"
)
# Where the sentence goes on to say why or how, and the title ends.
_ENDS = lazy_regex(
    r"\s+(?:so that|so (?:the|it|we|I|a|both|they)|because|since|in order to|which (?:is|will|means)"
    r"|to (?:make sure|see if|be safe|confirm that"
    r"|understand)|before|while|rather than|instead of)\s|(?<=\w)[.!]\s|:\s*$|;\s|\s[–—]\s|\s-\s"
)
_POSTPONED = lazy_regex(
    r"(?i)\b(?:if you|would you|do you|unless|whether|shall I|should I|don['’]t|won['’]t|not)\b"
)
_THEN = lazy_regex(r"(?i),?\s+(?:and )?then\s+(?:I['’]ll |I will |we['’]ll |let me )?")
_FILLERS = lazy_regex(r"(?i)\s+(?:(?:now|next|first|too|as well)$|now(?=\s))")
# "First …, then …": where a clause ends that something follows, its marker, and all before its verb.
_ORDER = (
    r"(?:first(?:ly|\s+of\s+all)?|second(?:ly)?|third(?:ly)?|then|next|after that|afterwards|finally"
    r"|lastly)\b"
)
_FOLLOWS = lazy_regex(
    r"(?i)(?:[,;]|(?<!\s))(?:\s+and)?\s+(?=(?:then|after that|afterwards|finally|lastly)\b)"
)
_MOST_SENTENCE = 4000
_ORDERED = lazy_regex(rf"(?i){_ORDER}")
_MARKER = lazy_regex(rf"(?i)\W*(?:(?:and|please|so)\s+)*({_ORDER})")
_STARTS = lazy_regex(
    rf"(?i)\W*(?:(?:and|please|so)\s+)*(?:{_ORDER}[,:\s]*)?(?:please\s+)?"
    rf"(?:(?:{_INTENT}|you (?:should|can)|we (?:should|can))\s+)?(?:(?:then|first)\s+)?"
)
# What is meant stands in another sentence.
_UNNAMED = frozenset("it them this that these those both".split())
_OWN_LIST = lazy_regex(
    r"(?i)\b(?:task list|to-?do|todos?|tasks? and start|task status|the tasks|plan file|final plan)\b"
)


class Announcement(Value, frozen=True, kw_only=True):
    """Something that the agent says it does now or will do next, as a title."""

    when: When
    title: str
    labelled: bool = False  # "Step 3: …", which is a step of a plan in any case


def announcements(text: str) -> list[Announcement]:
    """What a message announces, in order. Sentences that only announce a look around are among them."""
    if len(text) > 2 * MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}\n\n{text[-MOST_CHARACTERS:]}"
    parts: list[str] = []
    begun: list[str] = []
    listed = 0
    for line in layout(text):
        if line.kind == "heading" and (label := _NAMED.match(line.text)):
            begun.append(label["what"])
        elif line.kind in ("prose", "lead"):
            parts += sentences(line.text)
        listed += line.kind in ("item", "row")
    if listed > 12:
        return []  # a report or an explanation, whose sentences announce nothing
    # Several such headings outline a plan or a report.
    found = _titled("now", begun[0], labelled=True) if len(begun) == 1 else []
    if len(parts) > 2 * MOST_SENTENCES:
        parts = parts[:MOST_SENTENCES] + parts[-MOST_SENTENCES:]
    if (
        len(text) <= BRIEF
        and len(parts) == 1
        and _begins_with_verb(parts[0])
        and not phrases.DONE.search(text)
    ):
        return _titled(
            "now", parts[0], _NAMED.match(parts[0]) is not None
        )  # "Update the label from X to Y." before a call
    return found + [one for part in parts for one in _read(part)]


def sequence(text: str) -> list[str]:
    """The steps of "First …, then …, finally …", in one sentence or several; empty if there are few."""
    best: list[str] = []
    run: list[str] = []
    if not _FOLLOWS.search(text[:MOST_CHARACTERS]) and not _ORDERED.search(text[:MOST_CHARACTERS]):
        return []
    for line in layout(text[:MOST_CHARACTERS]):
        if line.kind not in ("prose", "lead"):
            continue
        for sentence in sentences(line.text):
            if phrases.is_question(sentence):
                run = []
                continue
            for part in _FOLLOWS.split(sentence):
                marker, clause = _MARKER.match(part), _STARTS.sub("", part, 1)
                titles = _titled("now", clause, alone=False) if _begins_with_verb(clause) else []
                if not titles or not (marker or run):
                    run = []
                elif marker and marker[1].lower().startswith("first"):
                    run = [titles[0].title]
                elif run:
                    run.append(titles[0].title)
                best = max(best, run, key=len)
    return list(best) if len(best) >= FEWEST_STEPS else []


def _read(sentence: str) -> list[Announcement]:
    sentence = sentence[:_MOST_SENTENCE]
    if phrases.is_question(sentence) or phrases.BEGINS_QUESTION.match(sentence):
        return []
    if later := _LATER.match(sentence):
        return _titled("next", later["what"])
    found = _ANNOUNCED.match(sentence)
    if found is None and (found := _PROGRESSIVE.match(sentence)) and not _begins_with_verb(found["what"]):
        return []
    if found is None:
        found = _LABELLED.match(sentence) or _NOW.match(sentence)
        if found is None or not _begins_with_verb(found["what"]):
            return []
    first, *rest = _THEN.split(found["what"], 1)
    labelled = _NAMED.match(sentence) is not None or _LABEL.match(first.lstrip("*_` ")) is not None
    return _titled("now", first, labelled) + (
        _titled("next", rest[0]) if rest and _begins_with_verb(rest[0]) else []
    )


def _begins_with_verb(text: str) -> bool:
    words = PROSE_WORD.findall(_unlabelled(text)[:60])
    return bool(words) and is_verb(words[0])


def _unlabelled(text: str) -> str:
    text = text.lstrip("*_` ")
    return text[label.end() :] if (label := _LABEL.match(text)) else text


def _titled(when: When, what: str, labelled: bool = False, alone: bool = True) -> list[Announcement]:
    """The title of what is announced; none if it is talk, or where it stands `alone`, names nothing."""
    what = plain(what, 600)
    if _POSTPONED.search(what[:80]):
        return []
    end = _ENDS.search(what, 12)
    title = _unlabelled(what[: end.start()] if end else what).strip(" .:;,!*_–—-")
    words = PROSE_WORD.findall(title)
    stems = [stem(word.lower()) for word in words]
    if len(words) < 2 or stems[0] in TALK_STEMS or all(one in GENERIC_STEMS for one in stems[1:]):
        return []
    if (alone and words[1].lower() in _UNNAMED) or _OWN_LIST.search(title):
        return []
    title = imperative(_FILLERS.sub("", title))
    return [Announcement(when=when, title=f"{title[0].upper()}{title[1:]}", labelled=labelled)]
