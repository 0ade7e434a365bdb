"""The names that the work uses, ranked by how likely it needs them again. No model, no I/O.

After a compaction an agent reaches for files, identifiers, commits and tickets that it has seen. `Names`
finds them in messages, inputs and outputs. How likely one is needed again follows from how often and how
recently it occurred, and was used (said, typed, opened) rather than only seen in an output: two logistic
regressions, one for files and one for other names, fitted by `bench/name_training.py` (ADR 0020).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple

from ..model.lazy_regex import lazy_regex
from ..model.types import Event, Name, is_dict
from ..model.validate import dumps
from ..signals.calls.tools import PATH_FIELDS, first_text
from .name_weights import FILES, OTHERS

KIND = "names"
LATELY_EVENTS, RECENTLY_EVENTS = 6, 60  # ages at which these two have halved

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
# Extensions that are files by themselves only with a name before them: `.env` is a file, `*.go` is not.
_BARE = _EXTENSIONS - {"env", "gitignore"}
# Fields of an event whose values are words of ours.
_OUR_WORDS = ("outcome", "kind", "status", "type", "label", "basis")
# One pass cuts out pieces that could be names. Only the end of a piece is then classified, so that no text
# can make this slow.
_PIECE = lazy_regex(r"https?://[^\s<>\"'`)\]}|\\]+|[\w@~+.#/-]+")
PIECE = 160  # characters
_FIND = lazy_regex(
    r"(?P<path>(?:[\w@~+.-]+/)*[\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,11}(?![\w/]))"
    r"|(?P<version>(?<![\w.])v?\d+\.\d+\.\d+(?:[-+][\w.]+)?\b(?!\.\d))"
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


class Known(Struct):
    """What is known of one name; "used" means said, typed or opened, and not only seen in an output."""

    kind: str
    events: int = 0  # that it occurred in
    last: int = 0  # of them
    channel: str = ""  # of the last
    used: int = 0  # events that used it
    last_used: int | None = None
    opened: int = 0  # events that opened it
    heat: float = 0.0
    folder: str = ""

    def heat_at(self, at: int) -> float:
        """The heat at an event."""
        return self.heat * 0.5 ** ((at - self.last) / COOLING)


def features(name: str, one: Known, at: int) -> dict[str, float]:
    """What the chance of a name is made of, at the event `at`."""
    age = at - one.last
    idle = 1e6 if one.last_used is None else at - one.last_used
    found = {
        "bias": 1.0,
        "events": math.log1p(one.events),
        "used": math.log1p(one.used),
        "opened": math.log1p(one.opened),
        "lately": 1 / (1 + age / LATELY_EVENTS),
        "recently": 1 / (1 + age / RECENTLY_EVENTS),
        "used lately": 1 / (1 + idle / LATELY_EVENTS),
        "used recently": 1 / (1 + idle / RECENTLY_EVENTS),
        "heat": math.log1p(one.heat_at(at)),
        "length": math.log(len(name) + 2),
        one.kind: 1.0,
    }
    if one.kind == "ident":  # mostly local variables
        found["snake"], found["lower"] = float("_" in name), float("_" not in name and name[0].islower())
    return found


class Found(NamedTuple):
    """The names in an event, each with its kind, and the paths that it opened."""

    used: set[tuple[str, str]]
    seen: set[tuple[str, str]]
    opened: set[tuple[str, str]]
    paths: list[str]


class Names:
    """The names of a task so far. An event costs the same however many came before."""

    def __init__(self, state: Mapping[str, Any] | None = None, workspace: str = "") -> None:
        known: Mapping[str, list[Any]] = (state or {}).get("known", {})
        self._known = {name: Known(*row) for name, row in known.items()}
        self._at: int = (state or {}).get("at", 0)

    @property
    def known(self) -> Mapping[str, Known]:
        """What is known of each name."""
        return self._known

    @staticmethod
    def names_of(event: Event) -> Found:
        """The names in an event: used, only seen in an output, opened. Snapshots that we took ourselves
        before a compaction only repeat what is known."""
        found = Found(set(), set(), set(), [])
        data = event.data
        if event.type == "snapshot" and not data.get("summarized"):
            return found
        if event.text:
            found.used.update(find_names(event.text))
        for field, value in data.items():
            if field in ("output", "error"):
                found.seen.update(find_names(value if isinstance(value, str) else dumps(value)))
            elif field == "input" and is_dict(value):
                path = first_text(value, PATH_FIELDS)[:4000]
                found.paths.append(path)
                found.opened.update(find_names(path))
                for inner in value.values():
                    found.used.update(find_names(inner if isinstance(inner, str) else dumps(inner)))
            elif isinstance(value, str) and field not in _OUR_WORDS:
                found.used.update(find_names(value))
        for step in _titles(event):
            found.used.update(find_names(step))
        return found

    def observe(self, event: Event) -> None:
        """Read an event."""
        found = self.names_of(event)
        self._at = event.seq
        typed = ASKED if event.origin.channel == "user" else TYPED
        shown = IN_ERROR if "error" in event.data else IN_OUTPUT
        for pair in found.used | found.seen:
            sort, name = pair
            one = self._known.get(name)
            if one is None:
                one = self._known[name] = Known(sort)
            gained = OPENED if pair in found.opened else typed if pair in found.used else shown
            one.heat = round(one.heat_at(event.seq) + gained, 3)
            one.events += 1
            one.last, one.channel = event.seq, event.origin.channel
            if pair in found.used:
                one.used, one.last_used = one.used + 1, event.seq
            one.opened += pair in found.opened
        for path in found.paths:
            folder, _, name = path.replace("\\", "/").rpartition("/")
            if folder and name in self._known:
                self._known[name].folder = folder.rpartition("/")[2]
        if len(self._known) > MOST:
            best = sorted(self._known, key=self.chance, reverse=True)[:KEPT]
            self._known = {name: self._known[name] for name in best}

    def chance(self, name: str) -> float:
        """How likely a name is needed in the next 30 calls or so."""
        one = self._known[name]
        weights = FILES if one.kind == "path" else OTHERS
        score = sum(weights.get(part, 0.0) * value for part, value in features(name, one, self._at).items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))

    def best(self, most: int = SHOWN) -> list[Name]:
        """The names most likely needed again, the likeliest first."""
        chances = {name: self.chance(name) for name in self._known}
        order = sorted(chances, key=lambda name: (-chances[name], name))[:most]
        return [
            Name(
                name=name,
                kind=one.kind,
                seq=one.last,
                channel=one.channel,  # type: ignore[arg-type]
                chance=round(chances[name], 3),
                folder=one.folder,
            )
            for name in order
            for one in (self._known[name],)
        ]

    def shown(self) -> list[dict[str, Any]]:
        """The names that views choose from."""
        return [name.to_dict() for name in self.best()]

    def state(self) -> dict[str, Any]:
        """All that must be kept to continue later."""
        known = {name: list(astuple(one)) for name, one in self._known.items()}
        return {"known": known, "at": self._at}


def _titles(event: Event) -> Iterable[str]:
    """The titles of the steps that an event adds or renames."""
    for table in ("+steps", "steps"):
        for row in event.sets.get(table, {}).values():
            if row.get("title"):
                yield row["title"]
