"""Fit the chances of names: `python bench/name_training.py`.

Writes `src/ringbolt/extract/name_weights.py`. The recorded sessions of ../shared/data go through the code of
the hooks, as in `adapter.py`. Every `EVERY` events a mark is set: what is known of each name at the mark are
its features (`names.features`), and whether one of the next `AHEAD` events (about 30 calls) uses it, or opens
the file, is the answer. For a file, being opened counts in full, being mentioned half, and the file that is
opened first `FIRST` times. Two logistic regressions, pulled towards zero.

Sessions are split by their names: one half is fitted on, the other only measured. Printed are the share of
what was needed among the first 5, 10 and 20 names, and how often the file opened first is among the first 5
and 10.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import adapter
import numpy as np

from ringbolt.extract.names import Names, features
from ringbolt.ledger.values import read_event
from ringbolt.model.types import Event

HERE = Path(__file__).resolve().parent
DATA = HERE.parent.parent / "shared" / "data"
TARGET = HERE.parent / "src" / "ringbolt" / "extract" / "name_weights.py"
BEGIN, EVERY, AHEAD = 60, 15, 45
CANDIDATES = 300  # names at a mark: those seen last
FIRST = 4.0
PENALTY, STEPS = 3.0, 400
HEAD = '''"""Weights of the two models of `names`. Written by `bench/name_training.py`; do not edit.

Log-odds that a name is used, or a file opened, in the next 30 calls.
"""
'''


class Case(NamedTuple):
    """A name at a mark: its features, whether it was used, opened, and opened first, afterwards."""

    mark: tuple[str, int]
    is_file: bool
    found: dict[str, float]
    used: bool
    opened: bool
    first: bool


def half(session: str) -> str:
    """Which half a session is in; decided by its name alone."""
    return "tune" if int(sha1(f"packet{session}".encode()).hexdigest(), 16) % 2 else "check"


def told(data: Path, session: str) -> list[Event]:
    """The events that a session leaves in the ledger, without what the agent recorded on purpose."""
    with gzip.open(data / "traces" / f"{session}.jsonl.gz", "rt", encoding="utf-8") as lines:
        trace = [json.loads(line) for line in lines][1:]
    withheld = {"compact", "thinking", "plan", "decision", "state"}
    with tempfile.TemporaryDirectory() as folder:
        memory = adapter.Memory(Path(folder))
        memory.feed([event for event in trace if event["k"] not in withheld], "inferred")
        store, found = memory.memory.store, list[Event]()
        for task in memory.memory.task_list(limit=100).tasks:
            begin = 0
            while page := store.read(lambda tx, task=task.id, begin=begin: tx.events(task, begin, 500)):
                found += map(read_event, page)
                begin = page[-1]["seq"]
            break  # the first is the task of the session
        memory.memory.close()
    return found


def cases(session: str, events: list[Event]) -> list[Case]:
    """Each name at each mark."""
    names, found = Names(), list[Case]()
    seen = [names.names_of(event) for event in events]
    for place, event in enumerate(events):
        names.observe(event)
        if place < BEGIN or place % EVERY or place + AHEAD >= len(events):
            continue
        following = [
            one
            for one, after in zip(seen[place + 1 :], events[place + 1 :], strict=True)
            if after.origin.channel != "user"
        ][:AHEAD]
        used = {name for one in following for _, name in one.used}
        opened = [name for one in following for sort, name in sorted(one.opened) if sort == "path"]
        known = sorted(names.known.items(), key=lambda pair: -pair[1].last)[:CANDIDATES]
        found += [
            Case(
                (session, place),
                one.kind == "path",
                features(name, one, event.seq),
                name in used,
                name in opened,
                bool(opened) and opened[0] == name,
            )
            for name, one in known
        ]
    return found


def fit(rows: np.ndarray, wanted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weights of a logistic regression; the first column is the bias, not pulled."""
    pull = np.full(rows.shape[1], PENALTY)
    pull[0] = 1e-3
    inverse = np.linalg.inv(0.25 * (rows * weights[:, None]).T @ rows + np.diag(pull))
    now = ahead = np.zeros(rows.shape[1])
    for step in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ ahead, -30, 30)))
        new = ahead - inverse @ (rows.T @ (weights * (chance - wanted)) + pull * ahead)
        moved = np.abs(new - now).max()
        now, ahead = new, new + step / (step + 3) * (new - now)
        if moved < 1e-4:
            break
    return now


def fitted(some: list[Case]) -> dict[str, float]:
    parts = ["bias", *sorted({part for one in some for part in one.found} - {"bias", "path", "ident"})]
    rows = np.array([[one.found.get(part, 0.0) for part in parts] for one in some])
    wanted = np.array(
        [1.0 if one.opened else 0.5 if one.used and one.is_file else float(one.used) for one in some]
    )
    weights = np.array([FIRST if one.first else 1.0 for one in some])
    return {part: round(float(one), 2) for part, one in zip(parts, fit(rows, wanted, weights), strict=True)}


def measured(some: list[Case], weights: dict[str, float]) -> str:
    marks: dict[tuple[str, int], list[tuple[float, Case]]] = {}
    for one in some:
        score = sum(weights.get(part, 0.0) * value for part, value in one.found.items())
        marks.setdefault(one.mark, []).append((score, one))
    shares: dict[str, list[float]] = {}
    for scored in marks.values():
        order = [one for _, one in sorted(scored, key=lambda pair: -pair[0])]
        needed = sum(one.used or one.opened for one in order)
        for most in (5, 10, 20):
            if needed:
                got = sum(one.used or one.opened for one in order[:most])
                shares.setdefault(f"needed in {most}", []).append(got / min(most, needed))
            if most < 20 and any(one.first for one in order):
                shares.setdefault(f"next file in {most}", []).append(any(one.first for one in order[:most]))
    return (
        "  ".join(f"{name} {sum(got) / len(got):.3f}" for name, got in shares.items())
        + f"  ({len(marks)} marks)"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the chances of names.")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--dry-run", action="store_true", help="print the figures and write nothing")
    options = parser.parse_args()
    found: dict[str, list[Case]] = {"tune": [], "check": []}
    for path in sorted((options.data / "traces").glob("*.jsonl.gz")):
        session = path.name.removesuffix(".jsonl.gz")
        found[half(session)] += cases(session, told(options.data, session))
    text = HEAD
    for name, is_file in (("FILES", True), ("OTHERS", False)):
        some = {part: [one for one in all_ if one.is_file == is_file] for part, all_ in found.items()}
        weights = fitted(some["tune"])
        print(f"{name}: {len(some['tune']):,} cases to fit")
        for part, these in some.items():
            print(f"  {part}: {measured(these, weights)}")
        lines = "".join(f'    "{part}": {weight},\n' for part, weight in weights.items())
        text += f"\n{name} = {{\n{lines}}}\n"
    if not options.dry_run:
        TARGET.write_text(text, encoding="utf-8")
        print(f"written to {TARGET}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
