"""Reports in Chinese and Japanese, whose words are not separated: phrases are found anywhere in a clause."""

from __future__ import annotations

import re

from ...model.lazy_regex import lazy_regex
from .act_tables import ActTable, table
from .acts import Clause
from .tokens import TITLE, split_phrases

_UNSPACED_CLAUSE = lazy_regex(r"[。！!；;，,、\n]|(?<=[？?])")
_COUNTED = lazy_regex(
    r"第?\s*(\d+|[一二三四五六七八九十]+)\s*(?:步|项|番目|個目|つ目)|(?:步骤|ステップ|手順|タスク|任务|項目|工程)\s*(\d+|[一二三四五六七八九十]+)"
)
_DIGITS = "[0-9〇一二三四五六七八九十百千]+"
_PART_OF = lazy_regex(rf"{_DIGITS}\D{{0,6}}?(?:中的?|里的?|のうち|中)\s*{_DIGITS}|{_DIGITS}[/／]{_DIGITS}")
_UNSPACED_ORDER = (
    "harmless", "reopened", "skipped", "unfinished", "partly", "failed", "begun", "done", "state", "guessed",
    "deferred",
    "condition", "negation", "planned",
)  # fmt: skip


def unspaced_clauses(text: str, language: str) -> list[Clause]:
    one = table(language)
    found: list[Clause] = []
    said = [phrase for phrase in split_phrases(one.says) if phrase in text]
    foreign = bool(said) and any(who in text[: text.find(said[0]) + 1] for who in split_phrases(one.others))
    foreign = foreign or (language == "ja" and bool(said))
    for part in _UNSPACED_CLAUSE.split(text):
        if not part or not part.strip():
            continue
        clause = _unspaced_clause(part.strip(), one)
        if part.rstrip().endswith(("？", "?", "吗", "呢", "か")):
            clause.act = "asked"
        elif foreign:
            clause.act = "reported"
        if clause.act == "none" and found:
            found[-1].details += clause.words  # an addition: "机票订好了，CA1502"
            continue
        clause.tail = bool(found)
        found.append(clause)
    return found


def _unspaced_clause(part: str, one: ActTable) -> Clause:
    rest = part
    marks: set[str] = set()
    for mark in _UNSPACED_ORDER:
        for phrase in sorted(split_phrases(getattr(one, mark)), key=len, reverse=True):
            if phrase in rest:
                marks.add(mark)
                rest = rest.replace(phrase, " ")
    if _PART_OF.search(part):
        marks.add("partly")
    clause = Clause("none", one.language, text=part)
    clause.titles = [int(place) for place in re.findall(rf"{TITLE}(\d+)", part)]
    rest = re.sub(rf"{TITLE}\d+", " ", rest)
    for found in _COUNTED.finditer(part):
        number = found[1] or found[2]
        names = split_phrases(one.numbers)
        clause.numbers.append(
            int(number) if number.isdecimal() else names.index(number) + 1 if number in names else 0
        )
    clause.words = [part]
    clause.guessed = "guessed" in marks
    clause.plain_done = "done" in marks
    clause.results = any(map(str.isdecimal, part))
    whole = any(phrase in part for phrase in split_phrases(one.all))
    left = [letter for letter in rest if letter.isalnum() and letter not in one.common]
    clause.whole = (
        whole
        and not [letter for letter in left if letter not in "".join(split_phrases(one.all))]
        and not clause.numbers
    )
    finished = bool(marks & {"done", "state"})
    if "skipped" in marks:
        clause.act = "skipped"
    elif "reopened" in marks:
        clause.act = "reopened"
    elif marks & {"unfinished", "negation"}:
        clause.act = "denied"
    elif (
        "condition" in marks
        or ("deferred" in marks and not finished)
        or ("planned" in marks and not finished)
    ):
        clause.act = "planned"
    elif "partly" in marks:
        clause.act = "partly"
    elif "failed" in marks and not any(word in part for word in split_phrases(one.repairs)):
        clause.act = "failed"
    elif "begun" in marks and "done" not in marks:
        clause.act = "begun"
    elif finished or "failed" in marks:
        clause.act = "finished" if finished else "none"
    return clause
