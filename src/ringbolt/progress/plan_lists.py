"""Lists in a text that may be plans of work: numbered lists, checklists, headings, tables of changes.

`plan_lists` finds the lists of a text and scores each by a linear model over its features: is this a plan of
work to be done, or options, findings, a report, files, rules? The weights are in `plan_weights`, written by
`bench/plan_training.py`; `bench/prose_plans.py` measures it. Pure, linear in the text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..signals import phrases
from ..signals.plan_words import CALLS_A_PLAN, OTHER_CUES, PLAN_CUES, VERB_STEMS, imperative, is_past
from ..signals.step_numbers import NOUNS
from ..signals.text_layout import Line, cells, layout, plain, sentences
from ..signals.words import PROSE_WORD, stem
from .plan_weights import BIAS, WEIGHTS

Source = Literal["user", "agent", "file", "approved"]
Form = Literal["headings", "numbers", "boxes", "bullets", "rows"]

MOST_TITLE = 90
MOST_ITEMS, FEWEST_ITEMS = 40, 2
MOST_REPORTED = 20
MOST_FILES = 12  # of an item
TASKS = 1.2  # the score of a list that is called a plan, and of a table with a column of tasks
READ_CHARACTERS = 24_000

# A line that may be part of a list: an item, a heading, a row of a table.
_LISTED = lazy_regex(r"(?m)^[ \t]*(?:[-*+•–#|]|\d{1,3}[.)])")
# "Next steps: 1) wait for the review, 2) merge": the number of an item within a line.
_INLINE = lazy_regex(r"(?<![\w.,/-])\(?(\d{1,2})[.)][ \t]+(?=\S)")
_ITEM_END = lazy_regex(r"(?i)[ ,;.]*(?:\b(?:and|then|und|et|y|e|en)[ ]*)?$")
_LABEL = lazy_regex(
    rf"(?i)(?<!\W)\W*+(?:(?:{NOUNS}|fix|bug|opt\w{{0,12}}|change|pr|commit|day"
    rf"|week)\s*#?)?\d{{1,3}}[a-z]?\s*(?:[:.)–—-]+\s*|$)"
)
_NAMED_LABEL = lazy_regex(rf"(?i)\W*(?:{NOUNS})\s*#?\d{{1,3}}\b")
_NUMBERED = lazy_regex(
    r"(?i)\W*(?:phase|step|stage|milestone|task|schritt|étape|paso|etapa|passo|fase|stap)\s*#?(\d{1,3})\b"
)
_BARE_NUMBER = lazy_regex(r"\W*\d{1,3}(?:\.\d{1,2}){0,2}[.):]?\s+")
_PATH = lazy_regex(r"(?<![\w.@~-])[\w.@~-]*+(?:/[\w.@-]+)+/?|(?<![\w-])[\w-]++\.[a-z]{1,5}\b")
_FILE = lazy_regex(r"(?<![\w.@+-])[\w@+-][\w.@+-]{0,80}\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w/])")
_CODE = lazy_regex(r"`[^`]*`")
_STATUS_TAIL = lazy_regex(
    r"(?i)\s*(?:[-–—:]\s*|\()\**(?:missing|needs? doing|to ?do|pending|in progress|not (?:yet )?(?:done"
    r"|started)|done|completed?|new(?: file)?|optional|~?\d+ ?(?:min(?:ute)?s?|h(?:ours?)?|days?))\**\)?\s*$"
)
_TICK = lazy_regex(rf"(?<!\s)\s*+(?:{phrases.TICKS}|⬜|🔲|☐|⏳|🚧|❌)\s*+")
# Words that cannot end a title, since they lead up to something.
_DANGLING = lazy_regex(
    r"(?i)(?:\s+(?:to|the|a|an|of|in|on|at|with|and|or|that|which|where|when|by|for|from|into|as|its?"
    r"|their|each|all|is|are|so|if|but|than|via|per|also|includes?|using|have|be))+$"
)
_DOCUMENT = lazy_regex(r"(?i)\bimplement (?:the|this) (?:following )?plan\b|^\W{0,4}(?:\w+\W+){0,6}?plan\b")
_INTENDS = lazy_regex(
    rf"(?i)\b(?:{phrases.INTENDS}|need(?:s)? to|have to|we['’]ll|going to|should|plan(?:ning)? to|want to"
    rf"|must"
    r"|here['’]?s (?:the|my|a) plan|remaining|left to do|to do|steps?)\b"
)
_REPORTS = lazy_regex(
    r"(?i)\b(?:I(?:['’]ve| have)(?! (?:read|looked|checked|reviewed|seen|understood|found|gone))|were|was"
    r"|has been|have been|now (?:has|have|uses)|done|completed?|changes made"
    r"|here['’]?s (?:a |the )?(?:summary|what)|summary|fixed|added|updated|created)\b"
)
_ASKS_FOR = lazy_regex(
    r"(?i)\b(?:needed|required|actionable|outstanding|to (?:fix|modify|change|do|update|address|add|implement"
    r"|create|tackle|reply|make)|needs? (?:to|fixing|updat\w+|chang\w+)|would need|(?:fix"
    r"|changes?) (?:would|should|will)"
    r"|let me (?:fix|make|address|apply|consolidate|refactor|implement|update|add|change)"
    r"|suggested|proposed|recommended|key changes)\b"
)
_OFFERS = lazy_regex(
    r"(?i)\b(?:options?|either|alternatives?|alternatively|should (?:we|I)|would you|prefer|want me to"
    r"|possible|approaches|could|ideas)\b"
)
_EXPLAINS = lazy_regex(
    r"(?i)\b(?:because|when|flows?|works|happens|means|scenarios?|sequence|timeline|trace|reasons?|why"
    r"|this way|shows?|verif(?:y|ies)|covers?|conditions|contains|includes|supports|either|whether)\b\W*$"
    r"|\b(?:because|here['’]s how|the (?:flow|scenario|problem|sequence|issue))\b"
)
_DENIES = lazy_regex(
    r"(?i)\b(?:no|not|nothing|never|unchanged|without|out of scope|won['’]t|already|skip(?:ped)?)\b"
)
_PLACE = lazy_regex(r"\W*[\w./@-]*[\w-]\.[a-z]{1,5}(?::[\d,-]+)?\W*(?:\([^)]*\))?\s*[-–—:]+\s*")
_TASKS = frozenset(map(stem, "task tasks todo todos step steps action actions".split()))
_VERIFIES = lazy_regex(
    r"(?i)\W*(?:\d+[.)]\s*)?(?:verif\w+|validation|test(?:ing)?(?: plan| steps)?|acceptance"
    r"|how to (?:test|verify)|checks?|manual test\w*)\b.{0,30}$"
)


class ListItem(Value, frozen=True, kw_only=True):
    """One item of a list: its text as written, the first line below it, whether it is ticked, and the files
    that it and the lines below it name."""

    text: str
    body: str = ""
    done: bool = False
    files: tuple[str, ...] = ()


class PlanList(Value, frozen=True, kw_only=True):
    """A list of a text with the heading and the line above it, and how likely it is a plan (above 0: yes)."""

    form: Form
    heading: str
    lead: str
    items: tuple[ListItem, ...]
    column: str = ""  # of a table: the title of the column that the items are from
    score: float = 0.0

    @property
    def titles(self) -> tuple[str, ...]:
        """The items as titles of steps."""
        return tuple(step_title(item.text, item.body) for item in self.items)


def plan_lists(text: str, source: Source) -> list[PlanList]:
    """The lists of a text with their scores, in the order of the text."""
    text = _unfolded(text[:READ_CHARACTERS])
    if len(_LISTED.findall(text)) < FEWEST_ITEMS:  # most messages
        return []
    found = [one for one in _lists(text) if FEWEST_ITEMS <= len(one.items) <= MOST_ITEMS]
    return [
        one.replace(
            score=max(_score(features(one, text, source)), _score_of_column(one), _score_of_name(one))
        )
        for one in found
    ]


def _unfolded(text: str) -> str:
    """A text in which the numbered items within a line stand in lines of their own."""
    return "\n".join(map(_unfolded_line, text.split("\n"))) if "2)" in text or "2. " in text else text


def _unfolded_line(line: str) -> str:
    marks = list(_INLINE.finditer(line))
    first = next((at for at, mark in enumerate(marks) if mark[1] == "1"), len(marks))
    run = marks[first:]
    run = run[: next((at for at, mark in enumerate(run) if int(mark[1]) != at + 1), len(run))]
    if len(run) < FEWEST_ITEMS:
        return line
    ends = [mark.start() for mark in run[1:]] + [len(line)]
    items = [line[mark.end() : end] for mark, end in zip(run, ends, strict=True)]
    items[-1] = sentences(items[-1])[0] if items[-1] else ""
    numbered = [f"{number}. {_ITEM_END.sub('', item)}" for number, item in enumerate(items, 1)]
    return "\n".join([line[: run[0].start()].rstrip(), *numbered, ""])


def reported_work(text: str) -> list[str]:
    """What a message reports as done, item by item, as titles of steps; empty if it reports no work."""
    if len(_LISTED.findall(text)) < FEWEST_ITEMS or not _REPORTS.search(text[:600]):
        return []
    # Lists of one form stand beside each other; those of another form are their headings, or details.
    found: dict[Form, dict[str, None]] = {}
    for one in _lists(text[:READ_CHARACTERS]):
        if len(one.items) > MOST_REPORTED:
            continue
        titles = [_done_title(item) for item in one.items]
        done = [title for title in titles if title]
        if len(done) * 2 > len(titles):
            found.setdefault(one.form, {}).update(dict.fromkeys(done))
    done = max(map(list, found.values()), key=len, default=list[str]())
    return done[:MOST_REPORTED] if len(done) >= FEWEST_ITEMS else []


def _done_title(item: ListItem) -> str:
    """A line of a report as a title: "`a.py` — Added the parser" is "Add the parser (a.py)"."""
    text = _unadorned(unlabelled(item.text))
    place = _PLACE.match(text)
    rest = text[place.end() :] if place else text
    words = PROSE_WORD.findall(rest)
    if not words or not is_past(words[0]):
        return ""
    title = shortened(imperative(rest.lstrip("*_` ")))
    name = plain(place[0]).strip(" -–—:").rpartition("/")[2] if place else ""
    return (
        f"{title} ({name})" if name and name not in title and len(title) + len(name) < MOST_TITLE else title
    )


def _score_of_column(one: PlanList) -> float:
    """The score of a table whose items stand in a column that is called "Task" or the like; 0 for others.

    Whoever writes such a table lists work to be done, whatever stands around it.
    """
    words = {stem(word.lower()) for word in PROSE_WORD.findall(one.column)}
    firsts = [next(iter(PROSE_WORD.findall(unlabelled(item.text))), "") for item in one.items]
    verbs = sum(stem(first.lower()) in VERB_STEMS and not is_past(first) for first in firsts)
    done = sum(item.done for item in one.items)
    return TASKS if words & _TASKS and 2 * verbs >= len(firsts) and 2 * done < len(firsts) else 0.0


def _score_of_name(one: PlanList) -> float:
    """The score of a list that is called a plan: by the line above it ("My plan:", "Vorgehen:"), or by its
    items ("Phase 1: …", "Phase 2: …"); 0 for others."""
    numbers = [int(named[1]) for item in one.items if (named := _NUMBERED.match(item.text))]
    if not CALLS_A_PLAN.search(one.lead) and numbers != [*range(1, len(one.items) + 1)]:
        return 0.0
    if any(pattern.search(one.lead) for pattern in (_OFFERS, _REPORTS, _DENIES)):
        return 0.0
    past = sum(
        is_past(next(iter(PROSE_WORD.findall(unlabelled(item.text))), "")) or item.done for item in one.items
    )
    return TASKS if 2 * past < len(one.items) else 0.0


def _score(found: Mapping[str, float]) -> float:
    return BIAS + sum(weight * found.get(name, 0.0) for name, weight in WEIGHTS.items())


# --- titles -----------------------------------------------------------------------------------------


def step_title(text: str, body: str = "") -> str:
    """A line as the title of a step: no markup, no bare number, whole words; a bare name gets its body."""
    title = _unadorned(text)
    if body and _says_little(title):
        more = _unadorned(body)
        title = f"{title.rstrip(' :')}: {more}" if title else more
    return shortened(title)


def _unadorned(text: str) -> str:
    text = _TICK.sub(" ", text)
    if not _NAMED_LABEL.match(text) and (number := _BARE_NUMBER.match(text)):
        text = text[number.end() :]
    line = _STATUS_TAIL.sub("", plain(text, 1000)).strip(" :;,-–—")
    return f"{line[0].upper()}{line[1:]}" if line[:1].islower() and not _PATH.match(line) else line


def _says_little(title: str) -> bool:
    """Whether a title is only a name: a path, an identifier, a label with a number."""
    rest = _PATH.sub(" ", _LABEL.sub(" ", title, 1))
    return len([word for word in PROSE_WORD.findall(rest) if len(word) > 2]) < 2


def shortened(title: str, most: int = MOST_TITLE) -> str:
    """At most so many characters of a title: whole words, cut after a clause where there is one."""
    if len(title) > most:
        kept = title[: most + 1]
        ends = (kept.rfind(end) for end in (". ", "; ", " — ", " – ", " - ", ": ", " (", ", "))
        clause = next((at for at in ends if at >= most * 2 // 3), -1)
        title = kept[:clause] if clause > 0 else kept[: max(kept.rfind(" "), most // 2)]
    return _DANGLING.sub("", title.rstrip(" ,;:-–—(")).rstrip(" ,;:-–—(")


# --- lists ------------------------------------------------------------------------------------------


class _Open:
    """A list that is being read."""

    def __init__(self, form: Form, heading: str, lead: str, depth: int) -> None:
        self.form: Form = form
        self.heading, self.lead, self.depth = heading, lead, depth
        self.items: list[ListItem] = []
        self.column = ""

    def add(self, text: str, done: bool = False) -> None:
        self.items.append(ListItem(text=text, done=done, files=_files_in(text)))

    def explain(self, body: str) -> None:
        """The first line under an item says more about it."""
        if self.items and not self.items[-1].body:
            self.items[-1] = self.items[-1].replace(body=body[:400])

    def name_files(self, files: tuple[str, ...]) -> None:
        """A line under an item names files."""
        if self.items and files:
            last = self.items[-1]
            known = tuple(dict.fromkeys((*last.files, *files)))[:MOST_FILES]
            self.items[-1] = last.replace(files=known)

    def closed(self) -> PlanList:
        items = tuple(self.items)
        return PlanList(form=self.form, heading=self.heading, lead=self.lead, items=items, column=self.column)


def _lists(text: str) -> list[PlanList]:
    """Every list of a text: its items at each depth, its tables, and the headings of each level."""
    found: list[PlanList] = []
    headings: dict[int, _Open] = {}  # by level
    names: dict[int, str] = {}
    lists: dict[int, _Open] = {}  # by depth
    table: _Open | None = None
    columns: list[str] = []
    heading = lead = ""

    def close_lists(depth: int = -1) -> None:
        found.extend(lists.pop(deep).closed() for deep in [deep for deep in lists if deep > depth])

    def close_headings(level: int) -> None:
        found.extend(headings.pop(deep).closed() for deep in [deep for deep in headings if deep > level])

    for line in layout(text):
        if line.kind not in ("heading", "code") and (files := _files_in(line.text)):
            above = [one for depth, one in lists.items() if depth < line.depth or line.kind != "item"]
            for one in (*headings.values(), *above):
                one.name_files(files)
        if line.kind != "row" and table is not None:
            found.append(table.closed())
            table = None
        if line.kind == "heading":
            close_lists()
            close_headings(line.depth)
            names = {level: name for level, name in names.items() if level < line.depth}
            above = names[max(names)] if names else ""
            names[line.depth] = heading = line.text
            own = headings.get(line.depth)
            if own is None:
                own = headings[line.depth] = _Open("headings", above, lead, line.depth)
            own.add(line.text, bool(phrases.TICKED.search(line.text)))
            lead = ""
        elif line.kind == "item":
            close_lists(line.depth)
            own = lists.get(line.depth)
            if own is not None and _form(line) != own.form and line.number in (1, None):
                found.append(lists.pop(line.depth).closed())
                own = None
            if own is None:
                outer = [deep for deep in lists if deep < line.depth]
                above = lists[max(outer)].items[-1].text if outer else ""
                own = lists[line.depth] = _Open(_form(line), heading, above or lead, line.depth)
                if outer:
                    lists[max(outer)].explain(line.text)
                elif headings:
                    headings[max(headings)].explain(line.text)
            own.add(line.text, line.box == "x" or bool(phrases.TICKED.search(line.text)))
        elif line.kind == "row":
            parts = cells(line.text)
            if table is None:
                table, columns = _Open("rows", heading, lead, 0), [part.lower() for part in parts]
            elif any(part.strip("-: ") for part in parts):
                best = _telling_cell(parts)
                table.column = table.column or (columns[best] if best < len(columns) else "")
                table.add(_row_text(best, parts), bool(phrases.TICKED.search(line.text)))
        elif line.kind in ("lead", "prose"):
            if not line.depth:
                close_lists()
            if headings and not lists and not line.text.lower().startswith(("**file", "file")):
                headings[max(headings)].explain(line.text)
            lead = line.text
    if table is not None:
        found.append(table.closed())
    close_lists()
    close_headings(0)
    return found


def _files_in(text: str) -> tuple[str, ...]:
    """The names of the files that a line names, without their folders."""
    return tuple(dict.fromkeys(found[0] for found in _FILE.finditer(text))) if "." in text else ()


def _form(line: Line) -> Form:
    return "boxes" if line.box is not None else "numbers" if line.number is not None else "bullets"


def _telling_cell(parts: Sequence[str]) -> int:
    """The place of the cell that says most."""
    return max(
        range(len(parts)), key=lambda at: len(PROSE_WORD.findall(_CODE.sub(" ", parts[at]))), default=0
    )


def _row_text(best: int, parts: Sequence[str]) -> str:
    """A row of a table as one line: the file first, then the cell that says most."""
    if best >= len(parts):
        return ""
    named = next((plain(part) for part in parts if _PATH.search(part) and part is not parts[best]), "")
    name = named.rstrip("/").rpartition("/")[2] if named else ""
    return f"{name}: {parts[best]}" if name and name not in parts[best] else parts[best]


# --- features ---------------------------------------------------------------------------------------


def features(one: PlanList, text: str, source: Source) -> dict[str, float]:
    """What speaks for or against a list being a plan of work to be done."""
    texts = [item.text for item in one.items]
    bare = [unlabelled(item) for item in texts]
    lead = sentences(one.lead)[-1] if one.lead else ""
    above = f"{one.heading} {lead}"
    intends = bool(_INTENDS.search(lead))
    count = len(texts)
    firsts = [next(iter(PROSE_WORD.findall(_PLACE.sub("", item, 1))), "") for item in bare]

    def share(hits: Iterable[bool]) -> float:
        return sum(hits) / count

    verbs = share(stem(first.lower()) in VERB_STEMS for first in firsts)
    words = [len(item.split()) for item in bare]
    cues = _cues(above)
    near = _cues(one.heading)
    head = text[:300]
    return {
        # A plan that was approved is as good as one that the user wrote.
        f"source: {'user' if source == 'approved' else source}": 1.0,
        f"form: {one.form}": 1.0,
        "items, logarithm": math.log(count),
        "begins with a verb": verbs,
        "begins with a verb, in a plan": verbs * (cues[0] or bool(_ASKS_FOR.search(above))),
        "names a section": share(_is_section(item) for item in bare),
        "asks for changes": float(bool(_ASKS_FOR.search(above))),
        "denies": float(bool(_DENIES.search(one.heading or one.lead))),
        "offers a choice": float(bool(_OFFERS.search(above))),
        "explains": float(bool(_EXPLAINS.search(lead))),
        "begins in the past": share(first.lower().endswith("ed") for first in firsts),
        "begins with an ing": share(first.lower().endswith("ing") for first in firsts),
        "has a label": share(bool(_NAMED_LABEL.match(item)) for item in texts),
        "has a number": share(bool(_BARE_NUMBER.match(item)) for item in texts),
        "is ticked": share(item.done for item in one.items),
        "is a question": share(phrases.is_question(item) for item in texts),
        "is only a name": share(_says_little(item) for item in bare),
        "names a file": share(bool(_PATH.search(item)) for item in texts),
        "is long": share(one > 25 for one in words),
        "is short": share(one < 3 for one in words),
        "begins with code": share(item.lstrip("* ").startswith("`") for item in bare),
        "the heading speaks of a plan": float(cues[0]),
        "the heading speaks of something else": float(cues[1]),
        "under a heading of a plan": float(near[0]),
        "under another heading": float(near[1]),
        "the lead intends": float(intends),
        "begins with a verb, intended": verbs * intends,
        "the lead reports": float(bool(_REPORTS.search(lead))),
        "the lead asks": float(phrases.is_question(lead)),
        "the text is a plan": float(bool(_DOCUMENT.search(head))),
        "the text reports": float(bool(_REPORTS.search(head[:160]))),
        "the text asks at its end": float(phrases.is_question(text[-300:].rstrip())),
        "about checking": float(bool(_VERIFIES.match(one.heading))),
    }


def unlabelled(text: str) -> str:
    """A line without the label in front: "Phase 2: …", "3. …"."""
    text = _TICK.sub(" ", text).lstrip("* ")
    return text[label.end() :] if (label := _LABEL.match(text)) else text


def _is_section(text: str) -> bool:
    """Whether a line is the name of a section of a document: "Context", "Files to Modify"."""
    words = [stem(word.lower()) for word in PROSE_WORD.findall(text) if len(word) > 2]
    return len(words) <= 4 and any(word in OTHER_CUES or word in PLAN_CUES for word in words)


def _cues(text: str) -> tuple[bool, bool]:
    words = {stem(word.lower()) for word in PROSE_WORD.findall(text)}
    return not words.isdisjoint(PLAN_CUES), not words.isdisjoint(OTHER_CUES)
