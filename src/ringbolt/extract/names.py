"""The names that the work uses, ranked by how likely it needs them again. No model, no I/O.

After a compaction an agent reaches for files, identifiers, commits and tickets that it has seen. `Names`
finds them in messages, inputs and outputs, and ranks them by kind, by how often and how recently they
occurred, and by whether they were used (said or typed) or only seen in an output. The weights are rough
log-odds; halving or doubling any of them changes little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..model.types import Event, Name, is_dict
from ..model.validate import dumps
from ..signals.tools import PATH_FIELDS, first_text

KIND = "names"
OCCURS, LATELY, RECENTLY, USED = 0.6, 1.2, 0.8, 1.0
LATELY_EVENTS, RECENTLY_EVENTS = 6, 60  # ages at which these two have halved
SORTS = {"path": 1.7, "const": 1.5, "commit": 0.7, "ticket": 0.7, "version": 0.3, "url": 0.3}
SNAKE, LOWER = -0.6, -0.3  # mostly local variables: lower-case names with `_`, or starting in lower case
LONG = 0.5  # long names take the room of others: so much less for each e-fold of length

# The heat of a name says how much the work is about it just now: each event adds to it, and it halves in
# COOLING events. A file that a tool opens or changes counts in full, what is said or typed half as much.
COOLING = 10
OPENED, TYPED, ASKED, IN_ERROR, IN_OUTPUT = 1.0, 0.5, 1.0, 0.3, 0.1

SHOWN = 100
# With more than MOST names, the least likely ones are dropped until KEPT are left.
MOST, KEPT = 1200, 800
TEXT = 64_000  # characters of one text that are read
LONGEST = 80  # characters of a name

_EXTENSIONS = frozenset(
    "go py js ts tsx jsx mjs cjs md mdx rst json jsonl yaml yml toml sh bash zsh txt rs c h cc cpp hpp java"
    " kt rb php html css scss sql lock mod sum cfg ini conf env xml proto csv log tmpl tf swift ex exs hs"
    " lua pl vue svelte ipynb gradle properties service patch diff dockerfile gitignore".split()
)
# Extensions that are files by themselves only with a name before them: `*.go` is none, `.env` is one.
_BARE = _EXTENSIONS - {"env", "gitignore"}
# Fields of an event whose values are words of ours.
_OUR_WORDS = ("outcome", "kind", "status", "type", "label", "basis")
# One pass cuts out pieces that could be names. Only the end of a piece is then classified, so that no text
# can make this slow.
_PIECE = lazy_regex(r"https?://[^\s<>\"'`)\]}|\\]+|[\w@~+.#/-]+")
PIECE = 160  # characters
_FIND = lazy_regex(
    r"(?P<path>(?:[\w@~+.-]+/)*[\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,11}(?![\w/]))"
    r"|(?P<version>\bv?\d+\.\d+\.\d+(?:[-+][\w.]+)?\b)"
    r"|(?P<ticket>\b[A-Z]{2,8}-\d{1,6}\b|(?<![\w&/])#\d{2,6}\b)"
    r"|(?P<commit>(?<![\w-])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b(?!-[0-9a-f]{4}))"
    r"|(?P<ident>\b_?[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b|\b[A-Za-z]+[a-z0-9]*[A-Z][A-Za-z0-9]*\b)"
)


def find_names(text: str) -> set[tuple[str, str]]:
    """The names in a text, each with its kind."""
    found: set[tuple[str, str]] = set()
    for piece in _PIECE.findall(text[:TEXT]):
        if piece.startswith("http") and "://" in piece:
            if len(piece) <= PIECE:
                found.add(("url", piece.rstrip(".,;:!?")))
            continue
        for match in _FIND.finditer(piece[-PIECE:]):
            sort, name = match.lastgroup or "", match[0]
            if sort == "path":
                found.update(_of_path(name))
            elif sort == "commit":
                found.add((sort, name[:7] if len(name) == 40 else name[:8]))
            elif len(name) <= LONGEST and (sort != "ident" or _is_camel(name)):
                found.add(("const" if sort == "ident" and name.isupper() else sort, name))
    return found


def _of_path(path: str) -> Iterable[tuple[str, str]]:
    """The file name of a path. Words joined by dots are not a path, but may be a name with its package."""
    name = path.rsplit("/", 1)[-1].rstrip(".")
    if not name or len(name) > LONGEST or ".." in name or name[1:].lower() in _BARE:
        return
    if "/" in path or name.rsplit(".", 1)[-1] in _EXTENSIONS:
        yield "path", name
    else:
        for part in name.split("."):
            if _is_camel(part):
                yield ("const" if part.isupper() else "ident"), part


def _is_camel(name: str) -> bool:
    """Whether a word is an identifier: with an underscore inside, or in camelCase."""
    if "_" in name.strip("_"):
        return True
    return len(name) > 2 and not name.islower() and not name.rstrip("s").isupper() and not name[1:].islower()


class Names:
    """The names of a task so far. An event costs the same however many came before."""

    def __init__(self, state: Mapping[str, Any] | None = None, workspace: str = "") -> None:
        # By name: kind, number of events with it, the last of them, events that use it, channel of the last,
        # heat after the last.
        self._known: dict[str, list[Any]] = dict((state or {}).get("known", {}))
        self._at: int = (state or {}).get("at", 0)

    def observe(self, event: Event) -> None:
        """Read an event. Snapshots that we took ourselves before a compaction only repeat what is known."""
        if event.type == "snapshot" and not event.data.get("summarized"):
            return
        used: set[tuple[str, str]] = set()
        seen: set[tuple[str, str]] = set()
        opened: set[tuple[str, str]] = set()
        data = event.data
        if event.text:
            used |= find_names(event.text)
        for field, value in data.items():
            if field in ("output", "error"):
                seen |= find_names(value if isinstance(value, str) else dumps(value))
            elif field == "input" and is_dict(value):
                opened |= find_names(first_text(value, PATH_FIELDS))
                for inner in value.values():
                    used |= find_names(inner if isinstance(inner, str) else dumps(inner))
            elif isinstance(value, str) and field not in _OUR_WORDS:
                used |= find_names(value)
        for step in _titles(event):
            used |= find_names(step)
        self._at = event.seq
        typed = ASKED if event.origin.channel == "user" else TYPED
        shown = IN_ERROR if "error" in data else IN_OUTPUT
        for sort, name in used | seen:
            row = self._known.setdefault(name, [sort, 0, 0, 0, "", 0.0])
            gained = OPENED if (sort, name) in opened else typed if (sort, name) in used else shown
            row[5] = round(self._heat(row) + gained, 3)
            row[1] += 1
            row[2] = event.seq
            row[3] += (sort, name) in used
            row[4] = event.origin.channel
        if len(self._known) > MOST:
            best = sorted(self._known, key=self.weight, reverse=True)[:KEPT]
            self._known = {name: self._known[name] for name in best}

    def _heat(self, row: list[Any]) -> float:
        return row[5] * 0.5 ** ((self._at - row[2]) / COOLING)

    def weight(self, name: str) -> float:
        """How likely a name is needed again, in log-odds up to a constant."""
        sort, events, last, used = self._known[name][:4]
        age = self._at - last
        found = OCCURS * math.log1p(events) + USED * math.log1p(used) + SORTS.get(sort, 0.0)
        found += LATELY / (1 + age / LATELY_EVENTS) + RECENTLY / (1 + age / RECENTLY_EVENTS)
        if sort == "ident":
            found += SNAKE if "_" in name else LOWER if name[0].islower() else 0.0
        return found - LONG * math.log(len(name) + 2)

    def best(self, most: int = SHOWN) -> list[Name]:
        """The names most likely needed again, the likeliest first."""
        weights = {name: self.weight(name) for name in self._known}
        order = sorted(weights, key=lambda name: (-weights[name], name))[:most]
        return [
            Name(
                name=name,
                kind=self._known[name][0],
                seq=self._known[name][2],
                channel=self._known[name][4],
                weight=round(weights[name], 2),
                heat=round(self._heat(self._known[name]), 3),
            )
            for name in order
        ]

    def shown(self) -> list[dict[str, Any]]:
        """The names that views choose from."""
        return [name.to_dict() for name in self.best()]

    def state(self) -> dict[str, Any]:
        """All that must be kept to continue later."""
        return {"known": self._known, "at": self._at}


def _titles(event: Event) -> Iterable[str]:
    """The titles of the steps that an event adds or renames."""
    for table in ("+steps", "steps"):
        for row in event.sets.get(table, {}).values():
            if row.get("title"):
                yield row["title"]
