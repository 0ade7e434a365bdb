"""How well the reader of speech knows what a sentence does: `python bench/speech.py`.

Two sets of labelled sentences, each split before anything was tuned:

- `bench/labels/speech.json`: sentences of recorded sessions (`../shared/data/traces`), by session, number of
  the event and number of the sentence in it (`ringbolt.signals.speech.split`), with a digest of the sentence,
  by which a changed splitter is noticed. No text is stored. The sample is stratified: narration between two
  calls, closing messages, plans, prompts of users, and sentences with a word of the lexicon that often goes
  with a decision, a cause or a rare function, beside a random sample of the others;
  `targeted` ones were picked one by one because they have a word of a rare function (tried, must, waiting,
  default, …). Sentences on which the reader could not make up his mind were left out. The split is by
  session: `test` has all sessions of one repository (agentv, the only ones of Codex), half of those of a
  second one and 16 of the 59 of the third. `beads` are sentences of an issue tracker, by issue and field.
- `bench/labels/phrases.txt`: phrases written for this project, by theme. The themes of `test` were written
  before the rules and features that read them.

How the sentences were labelled: one reader, who saw the sentences of a message in order (of a long one eight
of them) and judged what each does for somebody who takes over the work:

- **decision**: one way is taken, or something is left out or put off on purpose. Not: a plain order or
  announcement of work, a proposal, an option, somebody else's choice.
- **dead_end**: something was tried, or considered, and does not work here.
- **value**: a limit, default, port, address or name that must be used later.
- **constraint**: what must or must not be done, or only after something else.
- **question**: to the user. **blocker**: only somebody else can remove it.
- **next**: work that is announced; looking, reading and running checks is not.
- **cause**: why something is as it is, or a fact that surprises. Not a guess.
- **done**: work or a check that is complete. **rejection**: the user takes back or corrects what the agent
  did.

A sentence may have several functions, the main one first; a second one counts as right if it is read, and is
not missed if it is not. The figures: of the sentences for which the reader is sure of a function,
the share that has it (precision), and of those that have it, the share of which the reader is sure (recall).
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ringbolt.extract.slots import split_choice, split_dead_end, stated_values
from ringbolt.signals.speech import model as speech_model
from ringbolt.signals.speech import sentences as speech
from ringbolt.signals.speech.sentences import FUNCTIONS, Sentence, Tokens

HERE = Path(__file__).parent
LABELS, PHRASES = HERE / "labels" / "speech.json", HERE / "labels" / "phrases.txt"
DATA = HERE.parents[1] / "shared" / "data"
_SPAN = re.compile(r"</?[crownv]>")
_MARKED = re.compile(r"<([crownv])>(.+?)</\1>")
_SLOTS = {"c": "choice", "r": "reason", "o": "instead of", "w": "what failed", "n": "name", "v": "value"}


# Functions so near to each other that reading one for the other makes no false entry.
KINDRED: dict[str, set[str]] = {
    "decision": {"decision", "constraint", "rejection", "value", "dead_end"},
    "constraint": {"constraint", "decision", "rejection", "value"},
    "rejection": {"rejection", "decision", "constraint"},
    "value": {"value", "decision", "constraint"},
    "dead_end": {"dead_end", "cause", "blocker"},
    "blocker": {"blocker", "dead_end"},
    "cause": {"cause", "dead_end", "blocker"},
    "question": {"question", "blocker"},
    "next": {"next"},
    "done": {"done"},
}


class Case(NamedTuple):
    """A labelled sentence, and where it comes from."""

    sentence: Sentence
    tokens: Tokens
    functions: tuple[str, ...]
    part: str
    source: str  # "session" or "phrase"
    group: str  # the session, issue or theme
    user: bool
    failed: bool  # the call before it failed
    marked: str  # the phrase with its spans


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


def session_cases(data: Path) -> Iterator[Case]:
    """The labelled sentences of sessions and issues. Raises ValueError if one is not what was labelled."""
    for session, about in json.loads(LABELS.read_text(encoding="utf-8")).items():
        for event, text, user, failed in issues(data) if session == "beads" else events(data, session):
            wanted = about["events"].get(event)
            if not wanted:
                continue
            found = speech.split(text)
            for number, label in wanted.items():
                sentence = found[int(number)]
                if digest(sentence.text) != label[0]:
                    raise ValueError(f"{session} {event} {number} is another sentence now")
                # Issues are alike; by the last letter of their names they make groups like sessions.
                group = f"beads {event.split()[0][-1]}" if session == "beads" else session
                yield case(sentence, user, failed, label[1], about["part"], "session", group)


def events(data: Path, session: str) -> Iterator[tuple[str, str, bool, bool]]:
    """Of each event of a recorded session: its number, its text, whether the user speaks, and whether the
    call before it failed."""
    failed = False
    with gzip.open(data / "traces" / f"{session}.jsonl.gz", "rt", encoding="utf-8") as file:
        for event in [json.loads(line) for line in file][1:]:
            yield str(event["i"]), event.get("text") or event.get("plan") or "", event["k"] == "user", failed
            if event["k"] == "result":
                failed = bool(event["error"])


def issues(data: Path) -> Iterator[tuple[str, str, bool, bool]]:
    """The same of the texts of issues; the number is the name of the issue and of the field."""
    with (data / "beads" / "issues.jsonl").open(encoding="utf-8") as file:
        for issue in map(json.loads, file):
            for field in ("close_reason", "description", "notes"):
                if issue.get(field):
                    yield f"{issue['id']} {field}", issue[field], False, False


def phrase_cases() -> Iterator[Case]:
    """The phrases, each read as a message of its own; of several sentences the first counts."""
    part = theme = ""
    for line in PHRASES.read_text(encoding="utf-8").splitlines():
        if line.startswith("== "):
            _, part, theme = line.split(" ", 2)
        elif "\t" in line:
            functions, who, marked = line.split("\t")
            sentence = speech.split(_SPAN.sub("", marked))[0]
            yield case(sentence, who == "u", False, functions, part, "phrase", theme, marked)


def case(
    sentence: Sentence,
    user: bool,
    failed: bool,
    functions: str,
    part: str,
    source: str,
    group: str,
    marked: str = "",
) -> Case:
    names = tuple(name for name in re.split("[ ,]", functions) if name and name != "none")
    return Case(sentence, Tokens(sentence.text), names, part, source, group, user, failed, marked)


def figures(cases: Iterable[Case], level: str = "sure") -> dict[str, list[int]]:
    """Of each function: how many have it as their main one, how many are read as such, how many of these
    rightly, of how many of these it is the main one, and how many have a kindred function."""
    found = {name: [0, 0, 0, 0, 0] for name in FUNCTIONS}
    limits = getattr(speech_model.model(), level)
    for one in cases:
        for place, score in enumerate(speech_model.scores(one.sentence, one.tokens, one.user, one.failed)):
            name = FUNCTIONS[place]
            main, says = name in one.functions[:1], score >= limits[place]
            found[name][0] += main
            found[name][1] += says
            found[name][2] += says and name in one.functions
            found[name][3] += says and main
            found[name][4] += says and bool(KINDRED[name] & set(one.functions))
    return found


def table_of(title: str, found: dict[str, list[int]]) -> str:
    lines = [f"{title:28} {'n':>4} {'read':>5} {'precision':>10} {'kindred':>8} {'recall':>7}"]
    for name, (has, says, right, main, kin) in found.items():
        precision = f"{right / says:.2f}" if says else "-"
        kindred = f"{kin / says:.2f}" if says else "-"
        recall = f"{main / has:.2f}" if has else "-"
        lines.append(f"  {name:26} {has:4} {says:5} {precision:>10} {kindred:>8} {recall:>7}")
    return "\n".join(lines)


def slot_figures(cases: Iterable[Case]) -> dict[str, list[int]]:
    """Of each kind of span that phrases mark: how many there are, and how many of them the slot of that kind
    holds, that is, four in five of their words."""
    found = {name: [0, 0] for name in _SLOTS.values()}
    for one in cases:
        got = slots(one)
        for kind, text in _MARKED.findall(one.marked):
            wanted = _words(text)
            if wanted and kind in got:
                found[_SLOTS[kind]][0] += 1
                found[_SLOTS[kind]][1] += len(wanted & _words(got[kind])) >= 0.8 * len(wanted)
    return found


def slots(one: Case) -> dict[str, str]:
    """The parts of a phrase by the letters of their spans."""
    text, main = _SPAN.sub("", one.marked), one.functions[:1]
    if main == ("decision",):
        parts = split_choice(one.sentence.text)
        # A reason may be the next sentence.
        return {
            "c": parts.choice,
            "r": f"{parts.reason} {text[len(one.sentence.text) :]}",
            "o": parts.instead,
        }
    if main == ("dead_end",):
        what, why = split_dead_end(one.sentence.text)
        return {"w": what, "r": f"{why} {text[len(one.sentence.text) :]}"}
    if main == ("value",):
        pairs = stated_values(one.sentence.text)
        return {"n": " ".join(name for name, _ in pairs), "v": " ".join(value for _, value in pairs)}
    return {}


def _words(text: str) -> set[str]:
    found = (word.strip(".:-/") for word in re.findall(r"[\w.#:/%-]+", text.lower()))
    return {word for word in found if word and word not in _SMALL}


_SMALL = frozenset("the a an of to in on it is are with for and i we".split())


def milliseconds_a_message(data: Path) -> float:
    """The time that a message of an agent takes, in the mean over one session."""
    name = next(iter(json.loads(LABELS.read_text(encoding="utf-8"))))
    with gzip.open(data / "traces" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        texts = [one["text"] for one in map(json.loads, file) if one["k"] == "assistant"]
    speech_model.model()
    begin = time.process_time()
    for text in texts:
        for sentence in speech.split(text):
            speech_model.scores(sentence, Tokens(sentence.text), False)
    return 1000 * (time.process_time() - begin) / len(texts)


def main() -> int:
    parser = argparse.ArgumentParser(description="Precision and recall of the reader of speech.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--wrong", action="store_true", help="print the sentences of `tune` that are misread")
    options = parser.parse_args()
    cases: list[Any] = [*session_cases(options.data), *phrase_cases()]
    for source in ("session", "phrase"):
        for part in ("tune", "test"):
            some = [one for one in cases if one.source == source and one.part == part]
            for level in ("sure", "likely"):
                print(table_of(f"{source}s, {part}, {level} ({len(some)})", figures(some, level=level)))
    for part in ("tune", "test"):
        found = slot_figures(one for one in cases if one.part == part and one.marked)
        line = ", ".join(f"{name} {right} of {count}" for name, (count, right) in found.items())
        print(f"slots, {part}: {line}")
    if options.wrong:
        print_wrong([one for one in cases if one.part == "tune"])
    print(f"{milliseconds_a_message(options.data):.2f} ms a message")
    return 0


def print_wrong(cases: Iterable[Case]) -> None:
    limits = speech_model.model().sure
    for one in cases:
        scores = speech_model.scores(one.sentence, one.tokens, one.user, one.failed)
        read = {FUNCTIONS[at] for at, score in enumerate(scores) if score >= limits[at]}
        if read != set(one.functions):
            wants, says = ",".join(one.functions), ",".join(sorted(read))
            print(f"{wants or 'none':20} {says or 'none':20} {one.sentence.text[:150]}")


if __name__ == "__main__":
    sys.exit(main())
