"""Plans written as text: numbered lists, checkboxes, tables and headings that say what is to be done."""

from __future__ import annotations

import re

from ..types import is_dict
from .lines import cells, layout, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from ..types import Event
    from .lines import Line

    Status = Literal["pending", "active", "completed", "cancelled"]
    Plan = list[tuple[str, Status]]

MOST_PLANS, MOST_ITEMS = 8, 60
MOST_TITLE = 160

_NUMBERED = re.compile(
    r"\W*(task|step|phase|part|stage|milestone|fix|change)?\s*#?(\d{1,3})\s*[:.)—–-]+\s*(?=\S)", re.I
)
_ABOUT = re.compile(
    r"\b(?:plan|steps|to-?do(?: list)?|tasks|task list|roadmap|checklist|approach|implementation"
    r"|proposed (?:\w+ )?(?:changes|refactor|fix|solution)"
    r"|suggested (?:fix|changes|approach|implementation)|changes (?:needed|required|to make)"
    r"|required changes|work items|here's the list"
    r"|(?:I'll|I will|I'm going to|we'll|we need to|I need to|let me|going to)(?: \w+){0,6}|action items"
    r"|remaining(?: \w+)?|next steps?"
    r"|changes|order of work|what needs to (?:happen|change))\W*$",
    re.I,
)
_NOT_ABOUT = re.compile(
    r"\b(?:test plan|review|summary|verification|verify|changed|changes made|modified|completed"
    r"|what (?:was|I) (?:did|done|changed)|options?"
    r"|alternatives?|questions?|pros|cons|benefits?|why|problems?|issues?|bugs?|results?|findings?|notes?"
    r"|context|background|decisions?"
    r"|requirements?|current|existing|before|how it works|flow|scenario|example|usage|reproduce|recap"
    r"|risks?|out of scope|files)\b",
    re.I,
)
_COLUMN = re.compile(r"\W*(?:task|step|todo|to-do|work item)s?\W*$", re.I)
_STATUS_COLUMN = re.compile(r"\W*(?:status|state|done)\W*$", re.I)
_DONE = re.compile(
    r"✅|☑|✓|✔|\[x\]|(?:\(|— |- |: )(?:done|completed?|finished)\)?\W*$|^(?:done|completed?|finished)\b", re.I
)
_ACTIVE = re.compile(r"🔄|🚧|▶|\bin progress\b|\((?:current|wip)\)", re.I)
_STRUCK = re.compile(r"^\W*~~.+~~\W*$|\b(?:cancelled|dropped|skipped)\)?\W*$", re.I)
_MARKS = re.compile(
    r"[✅☑✓✔⏳🔄🚧▶❌⬜☐]\ufe0f?|~~|^\[[ xX~/-]\]\s*"
    r"|\s*\((?:done|completed|in progress|current|wip|pending)\)",
    re.I,
)
_BOLD_LEAD = re.compile(r"\*\*([^*]{6,160}?)\*\*:?\s*(?:[—–:-]{1,2}\s+|$)")
_TAIL = re.compile(r"\s*(?:: |:$| (?:--|—|–) |\. [A-Z]).*$")
_INLINE = re.compile(r"\(?\b(\d{1,2})[.)]\s+")
_PAST = re.compile(r"\W*[A-Za-z]{2,20}ed\b(?! (?:to|by|in)\b)")
_VERB = re.compile(
    r"\W*(?:(?:first|then|also|finally),? )?(?:add|update|create|implement|remove|fix|run|write|make"
    r"|change|ensure"
    r"|handle|set|refactor|move|rename|delete|extract|replace|test|verify|build|deploy|commit|push|review"
    r"|check"
    r"|document|migrate|convert|introduce|integrate|wire|extend|modify|clean|improve|investigate|read"
    r"|find|design"
    r"|define|configure|install|use|call|pass|return|parse|store|keep|split|merge|drop|switch|simplify"
    r"|generate"
    r"|register|expose|support|allow|enable|disable|adjust|rework|redesign|consolidate|lint|format"
    r"|prepare|draft"
    r"|send|ask|confirm|start|stop|filter|populate|apply|publish|release|measure|compare|benchmark|debug"
    r"|research"
    r"|analy[sz]e|explore|identify|collect|gather|load|import|export|backfill|rotate|provision|validate|bump"
    r"|upgrade|pin|tag|cut|copy|restore|back up|squash|rebase|re-?run|re-?write|re-?build|reset|persist"
    r"|cache)"
    r"(?![\w-])",
    re.I,
)


def plans(text: str) -> list[Plan]:
    """The plans in a text, each a list of (title, status); a list of anything else is none."""
    found: list[Plan] = []
    lines = list(layout(text))
    for plan in (*_of_headings(lines), *_of_lists(lines), *_of_tables(lines), *_of_sentences(lines)):
        ahead = sum(not _PAST.match(title) for title, _ in plan)
        if len(plan) >= 2 and 2 * ahead > len(plan) and plan not in found and len(found) < MOST_PLANS:
            found.append(plan)
    return found


def plans_of(event: Event) -> list[Plan]:
    """The plans that an event has: in a message, in the request, or in a file of plans that was written."""
    data = event.data
    if event.type == "action":
        given = data.get("input")
        if not is_dict(given):
            return []
        path = str(given.get("file_path") or given.get("path") or "")[-300:].lower()
        for name in ("plan", "content", "file_text", "new_string"):
            if isinstance(value := given.get(name), str) and (name == "plan" or _is_plan_file(path)):
                return plans(value)
        return []
    return plans(event.text) if event.text else []


def _is_plan_file(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return name.endswith((".md", ".txt", ".rst")) and (
        "plan" in name or "todo" in name or folder.endswith("plans")
    )


def _status(text: str, box: str | None = None) -> Status:
    if box in ("x", "X"):
        return "completed"
    if _STRUCK.search(text):
        return "cancelled"
    if _ACTIVE.search(text) or box in ("~", "/", "-"):
        return "active"
    return "completed" if _DONE.search(text) else "pending"


def _title(text: str) -> str:
    """What an item says in short: its bold lead, or its first clause."""
    text = _MARKS.sub("", text).strip()
    if (bold := _BOLD_LEAD.match(text)) and len(bold[1].split()) > 1:
        text = bold[1]
    if len(text) > 60:
        short = _TAIL.sub("", text)
        text = short if len(short) >= 20 else text
    return plain(text, MOST_TITLE).rstrip(" :.;,-—–")


def _is_about(text: str) -> bool:
    text = text.strip("*_#: ")
    return bool(_ABOUT.search(text)) and not _NOT_ABOUT.search(text)


# --- headings ---------------------------------------------------------------------------------------


def _of_headings(lines: list[Line]) -> list[Plan]:
    """Headings that are numbered: `### Task 1: …`, or `### 1. …` in a text about a plan."""
    planned = any(_is_about(line.text) for line in lines if line.kind == "heading")
    runs: dict[tuple[int, str], Plan] = {}
    for line in lines:
        if line.kind != "heading":
            continue
        found = _NUMBERED.match(line.text)
        if not found or (not found[1] and not planned):
            continue
        kind = (found[1] or "").lower()
        if kind not in ("task", "step") and not planned:
            continue
        run = runs.setdefault((line.depth, kind), [])
        title = _title(line.text[found.end() :])
        if title and len(run) < MOST_ITEMS:
            run.append((title, _status(line.text)))
    # The steps of each task of a plan are not its items.
    if any(kind == "task" for _, kind in runs):
        runs = {key: run for key, run in runs.items() if key[1] == "task"}
    return [run for run in runs.values() if len(run) >= 2]


# --- lists ------------------------------------------------------------------------------------------


def _of_lists(lines: list[Line]) -> list[Plan]:
    found: list[Plan] = []
    run: list[Line] = []
    about = False
    for line in [*lines, None]:
        if line and line.kind in ("blank", "code"):
            continue
        if line and line.kind == "item":
            if run and line.depth > run[0].depth:
                continue  # details of an item
            if run and _starts_over(run[-1], line):
                found += _kept(run, about)
                run = []
            run.append(line)
            continue
        if line and line.kind == "prose" and run and run[-1].number is not None:
            continue  # a numbered list may go on after a paragraph
        found += _kept(run, about)
        run = []
        if line and line.kind in ("heading", "lead", "prose"):
            text = line.text if line.kind != "prose" else line.text[-80:]
            about = _is_about(text) or (line.kind == "lead" and about and not _NOT_ABOUT.search(text))
    return found


def _starts_over(last: Line, line: Line) -> bool:
    if (last.number is None) != (line.number is None) or (last.box is None) != (line.box is None):
        return True
    return (
        last.number is not None
        and line.number is not None
        and line.number not in (last.number, last.number + 1)
    )


def _kept(run: list[Line], about: bool) -> list[Plan]:
    """The list as a plan, if it is one: with boxes, or about what is to be done and full of verbs."""
    boxes = sum(line.box is not None for line in run)
    if len(run) < 2 or not (boxes == len(run) or about):
        return []
    plan: Plan = []
    for line in run[:MOST_ITEMS]:
        if title := _title(line.text):
            plan.append((title, _status(line.text, line.box)))
    return [plan] if boxes or (len(plan) >= 3 and _commands(plan)) else []


def _commands(plan: Plan) -> bool:
    """Whether most titles say what to do."""
    return 3 * sum(bool(_VERB.match(title)) for title, _ in plan) >= 2 * len(plan)


# --- tables and sentences ---------------------------------------------------------------------------


def _of_tables(lines: list[Line]) -> list[Plan]:
    found: list[Plan] = []
    header: list[str] | None = None
    plan: Plan = []
    for line in lines:
        if line.kind != "row":
            header, plan = None, []
            continue
        columns = cells(line.text)
        if header is None:
            header = columns
            if _first(header, _COLUMN) is not None:
                found.append(plan)
            continue
        column = _first(header, _COLUMN)
        if column is None or column >= len(columns) or not columns[column].strip(":- "):
            continue
        if columns[column].isdigit():  # the tasks have numbers, and stand beside them
            column = min(column + 1, len(columns) - 1)
        status = _first(header, _STATUS_COLUMN)
        stated = columns[status] if status is not None and status < len(columns) else columns[column]
        if len(plan) < MOST_ITEMS and (title := _title(columns[column])):
            plan.append((title, _status(stated)))
    return [plan for plan in found if _commands(plan)]


def _first(header: list[str], wanted: re.Pattern[str]) -> int | None:
    return next((number for number, name in enumerate(header) if wanted.match(name)), None)


def _of_sentences(lines: list[Line]) -> list[Plan]:
    """`I'll: 1. … 2. … 3. …` within one line."""
    found: list[Plan] = []
    for line in lines:
        if line.kind != "prose" or "2" not in line.text:
            continue
        marks = list(_INLINE.finditer(line.text))[:MOST_ITEMS]
        if len(marks) < 2 or [int(mark[1]) for mark in marks] != list(range(1, len(marks) + 1)):
            continue
        if not _is_about(line.text[: marks[0].start()]):
            continue
        ends = [*(mark.start() for mark in marks[1:]), len(line.text)]
        parts = [line.text[mark.end() : end].strip(" ,;.") for mark, end in zip(marks, ends, strict=True)]
        found.append(
            [(title, _status(part)) for part in parts if (title := _title(part.removesuffix(" and")))]
        )
    return found
