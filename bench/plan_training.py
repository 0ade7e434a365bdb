"""Fit the weights that tell plans from other lists: `python bench/plan_training.py`.

Writes `src/ringbolt/progress/plan_weights.py` from the lists labelled in `labels/plans.json`, by a logistic
regression whose weights may only have the sign that their feature was made for. A list has the number of its
event and its place among the lists of that event ("46.0"); every list of a labelled session that is not named
there is no plan. `perhaps` is left out of the fit and of the figures: proposals that nobody has agreed to,
lists of checks, parts of a step. Labelled by one reader, from the lists, their headings and what followed.

Only sessions of `tune` are fitted (half of the sessions of one repository, see `is_tuned`); the figures of
`held_out` are those of the other half, of a second repository and of another host.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

from request_training import best_threshold, fit

from ringbolt.progress.plan_lists import PlanList, Source, features, plan_lists

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "ringbolt" / "extract" / "plan_weights.py"
DATA = HERE.parents[1] / "shared" / "data"
TUNED = "entireio/cli"
SPEAKS_AGAINST = frozenset(
    {
        "begins in the past", "is ticked", "is a question", "is long", "is short", "is only a name",
        "begins with code", "the heading speaks of something else", "under another heading",
        "the lead reports", "the lead asks", "the text reports", "the text asks at its end",
        "about checking", "form: bullets", "begins with an ing", "offers a choice",
        "explains", "denies", "names a section",
    }
)  # fmt: skip
HEADER = '''"""Weights for recognising plans in prose, written by `bench/plan_training.py`: do not edit."""

from __future__ import annotations

'''


def is_tuned(session: str, repo: str) -> bool:
    """Whether a session may be read for tuning."""
    return repo == TUNED and crc32(session.encode()) % 2 == 0


def sessions(data: Path) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Session, repository and events of every trace."""
    for path in sorted((data / "traces").glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            first, *events = map(json.loads, lines)
        yield path.name.removesuffix(".jsonl.gz"), first["repo"], events


def text_of(event: dict[str, Any]) -> tuple[str, Source] | None:
    """The text of an event that may hold a plan."""
    if event["k"] in ("user", "assistant"):
        return event["text"], "user" if event["k"] == "user" else "agent"
    if event["k"] == "call" and str(event["input"].get("file_path", "")).endswith(".md"):
        text = event["input"].get("content") or event["input"].get("new_string") or ""
        return str(text), "file"
    return None


Case = tuple[str, dict[str, float], float, PlanList]


def read_cases(data: Path) -> dict[str, list[Case]]:
    """The labelled lists of each split: where it stands, its features, whether it is a plan."""
    labels = {row["session"]: row for row in json.loads((HERE / "labels" / "plans.json").read_text("utf-8"))}
    found: dict[str, list[Case]] = {}
    for session, repo, events in sessions(data):
        row = labels.get(session)
        if row is None:
            continue
        if (row["split"] == "tune") != is_tuned(session, repo):
            raise SystemExit(f"{session} is in the wrong split")
        plans, perhaps = set(row.get("plans", ())), set(row.get("perhaps", ()))
        for event in events:
            if (source := text_of(event)) is None:
                continue
            for place, one in enumerate(plan_lists(*source)):
                name = f"{event['i']}.{place}"
                if name in perhaps:
                    continue
                case = f"{session} {name}", features(one, *source), float(name in plans), one
                found.setdefault(row["split"], []).append(case)
                plans.discard(name)
        if plans:
            raise SystemExit(f"{session} has no lists {sorted(plans)}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--dry-run", action="store_true", help="print the figures and write nothing")
    parser.add_argument("--show", action="store_true", help="print the lists that are judged wrong")
    options = parser.parse_args()
    cases = read_cases(options.data)
    names = sorted({name for found in cases.values() for _, one, _, _ in found for name in one})
    tuned = cases["tune"]
    rows = [[one.get(name, 0.0) for name in names] for _, one, _, _ in tuned]
    wanted = [is_plan for _, _, is_plan, _ in tuned]
    weights, bias = fit(rows, wanted, [-1 if name in SPEAKS_AGAINST else 1 for name in names])
    table = {name: round(one, 2) for name, one in zip(names, weights, strict=True)}
    scores = [bias + sum(map(float.__mul__, weights, row)) for row in rows]
    threshold, _, _ = best_threshold(scores, wanted)
    for split, found in cases.items():
        verdicts = [
            (sum(table[name] * value for name, value in one.items()) + bias - threshold > 0, bool(is_plan))
            for _, one, is_plan, _ in found
        ]
        hits = verdicts.count((True, True))
        print(
            f"{split}: {len(found)} lists, {sum(right for _, right in verdicts)} plans;"
            f" precision {hits / max(1, sum(said for said, _ in verdicts)):.2f},"
            f" recall {hits / max(1, sum(right for _, right in verdicts)):.2f}"
        )
        for (said, right), (where, _, _, one) in zip(verdicts, found, strict=True):
            if options.show and said != right:
                verdict = "missed" if right else "wrong"
                print(
                    f"  {verdict} {where} {one.form} {one.heading[:40]!r} {one.lead[-50:]!r} {one.titles[:2]}"
                )
    ranked = sorted(table.items(), key=lambda pair: -pair[1])
    lines = "".join(f'    "{name}": {weight},\n' for name, weight in ranked if weight)
    print(lines)
    if not options.dry_run:
        text = f"{HEADER}BIAS = {bias - threshold:.2f}\nWEIGHTS: dict[str, float] = {{\n{lines}}}\n"
        TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
