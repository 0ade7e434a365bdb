"""Long stories through the real hook process: what a packet hands over, what it says falsely, what is noise.

    python bench/story.py                          # the stories that may be used for tuning
    python bench/story.py --held-out               # those kept back: look at their figures only, at the end
    python bench/story.py stale_quote --show       # the packets, judged line by line
    python bench/story.py --missed                 # what the packets lack
    python bench/story.py --held-out --docs        # writes docs/explanation/stories.md
    python bench/story.py --gate                   # exit with 1 if a goal is missed

A story (bench/stories/*.story) is a session of 100 to 200 events as the host would report them: prompts,
narration, tool calls with their outputs, refusals, an interruption, a helper, a crash. It is played to
`ringbolt-hook` as `ringbolt install` sets it up, with a transcript in the host's format and a real git
repository. Then the context is compacted: SessionStart(compact) gives the packet as the host would get it
(2,000 tokens), and the same state is shown at 500 and 1,500.

Below each story stands by hand what a good hand-over must contain (`expected`), what would be false or stale
(`false`), what else is worth its tokens (`useful`), and sentences of the narration, word for word, which
`ringbolt drill --truth` gets (`said`). Rules:

- An item is present if one row has all of its words. A row is a line of at most 300 characters with its
  heading, or two lines that follow each other and are not longer together; of a longer line any stretch of
  that length.
- A weight of 3 means that the work goes wrong without it, 2 that time is lost, 1 that it is nice to have.
- A false statement is a line with its words, unless the line or its heading has a word that excuses it.
- Every line is judged: it carries an item (+), only repeats what a line above carries (=), is useful
  otherwise (~: a step of the plan, or words of the `useful` list), is noise (.), is false (!), or belongs to
  the frame: headings, fence, legend (#). In a list of names each name is judged by itself, and a list carries
  only items that are names. `noise` is the share of the tokens in lines marked . or ! and in names that
  nobody needs.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from story_sessions import SESSIONS, Act

from ringbolt import TaskMemory
from ringbolt.hosts import drill
from ringbolt.model.results import DrillResult
from ringbolt.packet.tokens import counter

HERE = Path(__file__).resolve().parent
STORIES = HERE / "stories"
HELD_OUT = STORIES / "held_out"
PAGE = HERE.parent / "docs" / "explanation" / "stories.md"
BUDGETS = (500, 1500, 2000)
ROW = 300
# Least weighted share of the items that each packet must have, most noise, and no false statement at all.
GOALS = {500: 0.45, 1500: 0.75, 2000: 0.80}
MOST_NOISE = 0.30
_KINDS = {"bash!": "bash_failed", "bash?": "bash_began"}
_CATEGORIES = (
    "request constraint instruction decision dead-end fact value effect blocker next progress worktree"
    " evidence file"
).split()


# --- stories ----------------------------------------------------------------------------------------


class Pattern:
    """Words that must all be in a text: `a & b|c` is a, and b or c; each a word or the beginning of one."""

    def __init__(self, text: str) -> None:
        self.terms = [
            re.compile("|".join(_term(part) for part in term.split("|")), re.IGNORECASE)
            for term in text.split(" & ")
        ]

    def matches(self, text: str) -> bool:
        return all(term.search(text) for term in self.terms)

    def any_term(self, text: str) -> bool:
        return any(term.search(text) for term in self.terms)


def _term(words: str) -> str:
    words = words.strip()
    end = r"(?!\w)" if len(words) <= 3 else ""  # a short word is not the beginning of another one
    begin = "" if words.startswith("n't") else r"(?<!\w)"
    return begin + r"\s+".join(map(re.escape, words.split())) + end


class Item(NamedTuple):
    """Something that a hand-over must contain."""

    category: str
    weight: int
    text: str
    pattern: Pattern

    def is_name(self) -> bool:
        """Whether naming it is enough, so that it may stand in a list."""
        return len(self.pattern.terms) == 1 and self.category in ("value", "file", "worktree")


class Falsehood(NamedTuple):
    """Something that would be false or stale, unless the line or its heading has an excuse."""

    kind: str
    text: str
    pattern: Pattern
    excuse: Pattern


@dataclass
class Story:
    """A story, and what a hand-over of it is measured against."""

    name: str
    held_out: bool
    head: dict[str, str]
    acts: list[Act]
    items: list[Item] = field(default_factory=list)
    falsehoods: list[Falsehood] = field(default_factory=list)
    useful: list[Pattern] = field(default_factory=list)
    noise: list[Pattern] = field(default_factory=list)
    said: str = ""


def read_story(path: Path) -> Story:
    """Read a story; raises ValueError for a line that it does not understand."""
    text = path.read_text(encoding="utf-8")
    script, *sections = re.split(r"^=== (.+)\n", text, flags=re.MULTILINE)
    opening, *acts = re.split(r"^>>> ", script, flags=re.MULTILINE)
    head = dict(
        line.split(": ", 1) for line in opening.splitlines() if line.strip() and not line.startswith("#")
    )
    story = Story(path.stem, path.parent == HELD_OUT, head, [_act(act) for act in acts])
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        lines = [line for line in body.splitlines() if line.strip()]
        if title == "expected":
            story.items += [_item(line) for line in lines]
        elif title == "false":
            story.falsehoods += [_falsehood(line) for line in lines]
        elif title in ("useful", "noise"):
            getattr(story, title).extend(map(Pattern, lines))
        elif title == "said":
            story.said = body
        else:
            raise ValueError(f"{path}: unknown section {title!r}")
    return story


def _act(text: str) -> Act:
    first, _, body = text.partition("\n")
    kind, _, line = first.partition(" ")
    return Act(_KINDS.get(kind, kind).replace("-", "_"), line, body.rstrip("\n"))


def _item(line: str) -> Item:
    found = re.fullmatch(r"\[([a-z ]+) ([123])\] (.+?) :: (.+)", line)
    if found is None or found[1].replace(" ", "-") not in _CATEGORIES:
        raise ValueError(f"not an item: {line}")
    return Item(found[1].replace(" ", "-"), int(found[2]), found[3], Pattern(found[4]))


def _falsehood(line: str) -> Falsehood:
    found = re.fullmatch(r"\[([a-z ]+)\] (.+?) :: (.+?) :: (.+)", line)
    if found is None:
        raise ValueError(f"not a falsehood: {line}")
    return Falsehood(found[1], found[2], Pattern(found[3]), Pattern(f"{found[4]}|{_EXCUSES}"))


# --- judging ----------------------------------------------------------------------------------------

# The fence, its legend, the task's own line and empty lines of a quotation.
_FRAME = re.compile(
    r"^\s*(?:</?[\w-]+[^>]*>|\|?|(?:Task record|Recorded state)\b.*|Task \w{10}\b.*|Last change .*)\s*$"
)
# A line that says what the following ones are: no sentence, no quotation, no event, no list.
_HEADING = re.compile(r"^(?:[A-Z](?!.*: )(?!(?:.*,){3})[^\"`|#.]{0,70}(?: #\w+)?:?|#+ .+)\s*$")
_STEP = re.compile(r"^\s*(?:[-*] )?\[[ x>!~-]\] |^Status |\b\d+ of \d+ steps\b")
_EXCUSES = (
    "settled|fixed|resolved|solved|instead|worked later|passed later|no longer|superseded|overruled"
    "|reverted|undone|taken back|abandoned"
)


class Line(NamedTuple):
    """A line of a text, the heading it stands under, and its verdict."""

    text: str
    heading: str
    is_list: bool
    mark: str = ""
    tokens: int = 0
    wasted: int = 0  # tokens of names in a list that nobody needs
    because: tuple[str, ...] = ()


class Judgement(NamedTuple):
    """What a text contains of a story."""

    lines: list[Line]
    present: set[int]  # numbers of items
    false: list[str]
    tokens: int
    noise: int
    repeated: int

    def share(self, items: list[Item], least: int = 1) -> float:
        """The weighted share of the items that is present; `least`: only items of that weight and above."""
        weights = {n: item.weight for n, item in enumerate(items) if item.weight >= least}
        return sum(weights[n] for n in self.present if n in weights) / sum(weights.values())


def judge(story: Story, text: str) -> Judgement:
    """Judge every line of a text."""
    count = counter(exact_wanted=True)
    lines = list(_lines(text))
    carried = _carried(story, lines)
    present: set[int] = set()
    judged: list[Line] = []
    false: list[str] = []
    for number, line in enumerate(lines):
        here = carried.get(number, set())
        wrong = [one for one in story.falsehoods if _is_false(one, line)]
        why: list[str] = []
        wasted = 0
        if wrong:
            mark, why = "!", [one.text for one in wrong]
            false += [f"{one.text} [{one.kind}]: {line.text.strip()[:160]}" for one in wrong]
        elif here:
            mark = "+" if here - present else "="
            why = [f"{story.items[n].category}: {story.items[n].text}" for n in sorted(here - present)]
        elif _STEP.search(line.text):
            mark = "~"
        elif _FRAME.match(line.text) or _HEADING.match(line.text):
            mark = "#"
        elif _is_useful(story, line.text):
            mark = "~"
        else:
            mark = "."
        if line.is_list and mark in "+=~":
            wasted = _wasted(story, line.text, count)
        tokens = count(line.text + "\n")
        judged.append(line._replace(mark=mark, tokens=tokens, wasted=wasted, because=tuple(why)))
        present |= here
    return Judgement(
        judged,
        present,
        false,
        tokens=sum(line.tokens for line in judged),
        noise=sum(line.tokens if line.mark in ".!" else line.wasted for line in judged),
        repeated=sum(line.tokens - line.wasted for line in judged if line.mark == "="),
    )


def _carried(story: Story, lines: list[Line]) -> dict[int, set[int]]:
    """The items that each line carries, by itself, under its heading, or else with the line that follows."""
    found: dict[int, set[int]] = {}
    present: set[int] = set()
    for number, line in enumerate(lines):
        rows = list(_rows(line))
        for n, item in enumerate(story.items):
            if (not line.is_list or item.is_name()) and any(map(item.pattern.matches, rows)):
                found.setdefault(number, set()).add(n)
                present.add(n)
    for number, (line, following) in enumerate(pairwise(lines)):
        both = f"{line.text}\n{following.text}"
        if len(both) <= ROW and not line.is_list and not following.is_list:
            for n, item in enumerate(story.items):
                if n not in present and item.pattern.matches(both):
                    found.setdefault(number, set()).add(n)
                    found.setdefault(number + 1, set()).add(n)
    return found


def _lines(text: str) -> Iterator[Line]:
    heading = ""
    for line in text.splitlines():
        if _HEADING.match(line):
            heading = line.strip()
        elif not line.strip():
            heading = ""
        yield Line(line, heading, _is_list(line))


def _rows(line: Line) -> Iterator[str]:
    """The rows of one line."""
    text = line.text
    if len(text) <= ROW:
        yield f"{line.heading}\n{text}" if line.heading != text.strip() else text
        return
    for begin in range(0, len(text) - ROW * 3 // 4, ROW // 4):
        yield text[begin : begin + ROW]


def _parts(text: str) -> list[str]:
    return re.split(r"(?<=[,;·|])\s+", text)


def _is_list(text: str) -> bool:
    """Whether a line is a list of names: many short parts, hardly a sentence."""
    parts = _parts(text)
    return len(parts) >= 5 and sum(" " not in part.strip() for part in parts) > 0.7 * len(parts)


def _is_false(one: Falsehood, line: Line) -> bool:
    """A list of names states nothing, and the log of what was said last does not say that it stands."""
    if line.is_list or not one.pattern.matches(line.text):
        return False
    if line.heading.startswith("Last") and one.kind != "false":
        return False
    heading = line.heading.replace("not settled", "open")
    return not one.excuse.matches(f"{heading}\n{line.text}")


def _is_useful(story: Story, text: str) -> bool:
    if any(one.matches(text) for one in story.noise):
        return False
    return any(one.matches(text) for one in story.useful)


def _wasted(story: Story, text: str, count: Callable[[str], int]) -> int:
    """Tokens of the names in a list that nobody needs."""
    known = [*story.useful, *(item.pattern for item in story.items)]
    return sum(count(part) for part in _parts(text) if not any(one.any_term(part) for one in known))


# --- playing ----------------------------------------------------------------------------------------


class Result(NamedTuple):
    """The packets of a story by budget, and their judgements."""

    story: Story
    events: int
    packets: dict[int, str]
    judgements: dict[int, Judgement]
    drilled: DrillResult


def play(story: Story) -> Result:
    """Play a story to the hooks and judge the packets."""
    with tempfile.TemporaryDirectory(prefix="ringbolt-story-") as folder:
        place = Path(folder).resolve()
        session = SESSIONS[story.head["host"]](
            place, story.head["folder"], story.acts, story.head.get("files", "").split()
        )
        session.play()
        if not session.packet:
            raise RuntimeError(f"{story.name}: the hook gave no packet after the compaction")
        with TaskMemory.open(
            str(session.store), workspace=str(session.work), session=session.session, create=False
        ) as memory:
            packets = {budget: memory.task_resume(budget=budget).text for budget in BUDGETS[:-1]}
            truth = place / "said.txt"
            truth.write_text(story.said, encoding="utf-8")
            (drilled,) = drill.run(memory, keep=False, truth=str(truth))
        packets[BUDGETS[-1]] = session.packet
        packets = {budget: text.replace(str(place), "~") for budget, text in packets.items()}
    judgements = {budget: judge(story, text) for budget, text in packets.items()}
    return Result(story, session.events, packets, judgements, drilled)


# --- printing ---------------------------------------------------------------------------------------


def figures(result: Result) -> dict[str, float]:
    """The figures of a story."""
    found: dict[str, float] = {"events": result.events}
    for budget, one in result.judgements.items():
        found[f"weighted@{budget}"] = one.share(result.story.items)
        found[f"critical@{budget}"] = one.share(result.story.items, 3)
        found[f"items@{budget}"] = len(one.present) / len(result.story.items)
        found[f"noise@{budget}"] = one.noise / one.tokens
        found[f"repeated@{budget}"] = one.repeated / one.tokens
        found[f"false@{budget}"] = len(one.false)
        found[f"tokens@{budget}"] = one.tokens
    for row in result.drilled.rows:
        if row.count:
            found[f"drill/{row.name}@1500"] = row.usual / row.count
    return found


def _summary_rows(results: Iterable[Result]) -> Iterator[str]:
    yield "| story | budget | items | weighted | critical | noise | repeated | false | tokens |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for result in results:
        for budget, one in result.judgements.items():
            items = result.story.items
            shares = (
                one.share(items),
                one.share(items, 3),
                one.noise / one.tokens,
                one.repeated / one.tokens,
            )
            cells = [result.story.name, budget, f"{len(one.present)} of {len(items)}"]
            cells += [*(f"{share:.2f}" for share in shares), len(one.false), one.tokens]
            yield f"| {' | '.join(map(str, cells))} |"


def _category_rows(results: list[Result]) -> Iterator[str]:
    """Shares by kind over all stories."""
    yield f"| kind | items | {' | '.join(f'@{budget}' for budget in BUDGETS)} |"
    yield f"| --- | --- |{' --- |' * len(BUDGETS)}"
    for category in _CATEGORIES:
        counts = [0] * len(BUDGETS)
        total = 0
        for result in results:
            numbers = {n for n, item in enumerate(result.story.items) if item.category == category}
            total += len(numbers)
            for place, budget in enumerate(BUDGETS):
                counts[place] += len(numbers & result.judgements[budget].present)
        if total:
            yield f"| {category} | {total} | {' | '.join(map(str, counts))} |"


def _drill_rows(results: list[Result]) -> Iterator[str]:
    """What the drill recovers of the requests, the instructions and what was said, over all stories."""
    yield "| drill | required | N | @500 | @1,500 | asking |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for row in drill.total([result.drilled for result in results]).rows:
        if row.count:
            wanted = "" if row.wanted is None else f"{row.wanted} %"
            yield f"| {row.name} | {wanted} | {row.count} | {row.small} | {row.usual} | {row.asked} |"


def _missed_rows(result: Result) -> Iterator[str]:
    """What the packets lack, the heaviest first."""
    for n, item in sorted(enumerate(result.story.items), key=lambda pair: -pair[1].weight):
        missing = [str(budget) for budget, one in result.judgements.items() if n not in one.present]
        if missing:
            yield f"- {item.category} {item.weight}: {item.text} (missing at {', '.join(missing)})"
    for budget, one in result.judgements.items():
        yield from (f"- FALSE at {budget}: {text}" for text in one.false)


def _marked(one: Judgement) -> Iterator[str]:
    """The lines of a text, each with its mark and the reason."""
    for line in one.lines:
        waste = f" [{line.wasted} wasted]" if line.wasted else ""
        why = f"   « {'; '.join(line.because)}" if line.because else ""
        yield f"{line.mark} {line.text}{waste}{why}".rstrip()


_INTRODUCTION = """# Stories, line by line

Generated by `python bench/story.py --held-out --docs`. Each story is a long session, invented and written by
hand, that is played through the real hooks; then the context is compacted. This page shows the packets at
500, 1,500 and 2,000 tokens, with a verdict for every line. `bench/stories` has the stories, each with a
hand-written list of what a good hand-over must contain. Ids and folders differ from run to run, so one item
more or less may fit.

| Mark | Meaning |
| --- | --- |
| `+` | contains a required item (named after «) |
| `=` | only repeats an item of an earlier line |
| `~` | useful, but not required |
| `.` | noise |
| `!` | false or stale |
| `#` | frame: headings, fence, legend |

Items have weights: 3 (*critical*) if the work goes wrong without them, 2 if time is lost without them, 1 if
they are nice to have. *weighted* is the share of items by weight. *noise* is the share of tokens in lines
marked `.` or `!`, and in listed names that nobody needs.
"""


def _page(results: list[Result]) -> str:
    """The page of the documentation."""
    parts = [
        _INTRODUCTION,
        *_summary_rows(results),
        "\nRecovered items by kind:\n",
        *_category_rows(results),
        "\nScores of [a drill](drill.md), with sentences of the narration as the ground truth:\n",
        *_drill_rows(results),
    ]
    for result in results:
        kept = " (held out: the rules were not tuned on it)" if result.story.held_out else ""
        host = {"claude-code": "Claude Code", "codex": "Codex"}[result.story.head["host"]]
        parts.append(f"\n## {result.story.head['title']}\n")
        parts.append(f"`{result.story.name}`{kept}, {result.events} events of {host}.\n")
        lost = [
            f"- {item.category} ({item.weight}): {item.text}"
            for n, item in enumerate(result.story.items)
            if n not in result.judgements[BUDGETS[-1]].present
        ]
        parts.append("\n".join([f"Missing at {BUDGETS[-1]:,} tokens:\n", *(lost or ["- nothing"])]))
        for budget, one in result.judgements.items():
            text = _same_each_time("\n".join(_marked(one))).replace("```", "'''")
            parts.append(f"\n### {result.story.head['title']}: {budget:,} tokens\n\n```text\n{text}\n```")
    return "\n".join(parts) + "\n"


def _same_each_time(text: str) -> str:
    """A text without what differs from run to run: the fence, the id of the task, times."""
    text = re.sub(r"ringbolt-[0-9a-f]{8}", "ringbolt-1a2b3c4d", text)
    text = re.sub(r"\bTask [0-9a-z]{10}\b", "Task 7k3mfq2x9d", text)
    return re.sub(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d(?::[\d.]+)?Z", "2026-11-17T10:00Z", text)


def _misses_a_goal(result: Result) -> bool:
    return any(
        one.share(result.story.items) < GOALS[budget] or one.false or one.noise > MOST_NOISE * one.tokens
        for budget, one in result.judgements.items()
    )


def main() -> int:
    """Play stories and print their figures."""
    parser = argparse.ArgumentParser(description="Play long stories to the hooks and judge the packets.")
    parser.add_argument("names", nargs="*", help="only these stories")
    parser.add_argument("--held-out", action="store_true", help="also the stories that are kept back")
    parser.add_argument("--show", action="store_true", help="print the packets with a mark for every line")
    parser.add_argument("--missed", action="store_true", help="print what the packets lack")
    parser.add_argument(
        "--docs", action="store_true", help=f"write {PAGE.name}; with --held-out for all stories"
    )
    parser.add_argument("--gate", action="store_true", help="exit with 1 if a goal is missed")
    parser.add_argument("--json", metavar="FILE", help="write the figures to a file")
    options = parser.parse_args()
    paths = sorted(STORIES.glob("*.story"))
    if options.held_out:
        paths += sorted(HELD_OUT.glob("*.story"))
    results = [play(read_story(path)) for path in paths if not options.names or path.stem in options.names]
    if not results:
        parser.error("no such story")
    for result in results:
        if options.show:
            for budget, one in result.judgements.items():
                print(f"\n===== {result.story.name} @{budget}: {one.tokens} tokens, {one.noise} of noise")
                print("\n".join(_marked(one)))
        if options.missed or options.show:
            print(f"\n{result.story.name}, {result.events} events, misses:")
            print("\n".join(_missed_rows(result)))
    print()
    print("\n".join(_summary_rows(results)))
    print()
    print("\n".join(_category_rows(results)))
    print()
    print("\n".join(_drill_rows(results)))
    if options.json:
        Path(options.json).write_text(
            json.dumps({result.story.name: figures(result) for result in results}, indent=1), encoding="utf-8"
        )
    if options.docs:
        PAGE.write_text(_page(results), encoding="utf-8")
    return 1 if options.gate and any(map(_misses_a_goal, results)) else 0


if __name__ == "__main__":
    sys.exit(main())
