"""Fit the weights of the recogniser of new requests: `python bench/request_training.py --fresh FOLDER`.

Writes `src/ringbolt/requests/request_weights.py` from the prompts labelled in `tune` and `fresh` (see
`request_boundaries.py`, and `request_sessions.py` for FOLDER); `held_out` is not read. Two logistic
regressions, one for each look, by coordinate descent on standardised features. Each weight may only have the
sign that its feature was made for, and is pulled towards zero: a hundred boundaries are few, and without both
a feature that is 1 three times gets whatever weight its neighbours leave to it. The second look learns from
each prompt three times, with one, two and three turns after it.

The threshold comes from cross-validation: the lowest one at which nine of ten verdicts "new" were right (at
the first look, which is taken with less knowledge, 19 of 20). A
person or repository is judged by models that have not seen it at all, since by session alone the threshold
comes out too low for strangers. Only the two largest, without which too little is left to learn from, are
held out a quarter of their sessions at a time. The figures printed are those of the cross-validation, with
those for strangers alone (every person held out) beside them.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import random
import sys
from collections import Counter
from pathlib import Path

from request_boundaries import HERE, Case, read_cases

from ringbolt.requests.request_boundary import features
from ringbolt.requests.turns import AFTER

TARGET = HERE.parent / "src" / "ringbolt" / "requests" / "request_weights.py"
PENALTIES = {"FIRST_LOOK": 60.0, "SECOND_LOOK": 450.0}
PRECISIONS = {"FIRST_LOOK": 0.95, "SECOND_LOOK": 0.9}
DOUBTFUL = 0.85  # of the new requests, how many have a score above the doubt
LARGE, PARTS, SHUFFLES = 2, 4, (3, 4, 5)
RARE = 0.05  # the least spread of a feature: a rare one must not get a large weight cheaply
STEPS, ENOUGH = 300, 1e-4
# Too few prompts of `tune` have them, and what they mean is beyond doubt.
SET_BY_HAND = {"hands over a plan": 4.0, "declares a new request": 4.0}
SPEAKS_AGAINST = frozenset(
    {
        "the agent had asked something", "the agent was at work", "opens like an answer",
        "opens like a follow-up", "refers back", "points before it names anything",
        "has a few words only", "is short", "was sent before", "known names",
        "words of the request", "words of the last message", "words of the instructions", "quotes the agent",
        "the agent stayed with its files", "the agent used no files", "opens with something known",
        "the reply takes up the prompt", "the agent edited at once", "asks for tests",
        "the prompt is about the last turn", "the turn is about the last turn",
        "the turn is about a recent turn",
        "the next turns are about the last ones", "the next turns are on known files",
        "the next turns edit what was edited",
    }
)  # fmt: skip
HEADER = '''"""Weights for recognising new requests, written by `bench/request_training.py`: do not edit."""

from __future__ import annotations

from ..model.types import Value


class Weights(Value, frozen=True, kw_only=True):
    """A linear model: what each feature adds to the score, and the score without any.

    Above 0 a prompt is new; down to `-doubt` it may be.
    """

    bias: float
    doubt: float
    features: dict[str, float]

'''

Rows = list[list[float]]
Table = tuple[Rows, list[float], list[int]]  # rows, what is wanted of each, signs of the columns


def fit(rows: Rows, wanted: list[float], signs: list[int], penalty: float) -> tuple[list[float], float]:
    """Weights and bias of a logistic regression with given signs."""
    size, width = len(rows), len(signs)
    columns = [[row[at] for row in rows] for at in range(width)]
    means = [sum(column) / size for column in columns]
    spreads = [
        max(RARE, math.sqrt(sum((one - mean) ** 2 for one in column) / size))
        for column, mean in zip(columns, means, strict=True)
    ]
    columns = [
        [(one - mean) / spread for one in column]
        for column, mean, spread in zip(columns, means, spreads, strict=True)
    ]
    weights, bias, scores = [0.0] * width, 0.0, [0.0] * size
    for _ in range(STEPS):
        moved = 0.0
        for at in range(-1, width):
            errors = [1 / (1 + math.exp(-score)) - one for score, one in zip(scores, wanted, strict=True)]
            if at < 0:
                step = -sum(errors) / (0.25 * size)
                bias += step
                scores = [score + step for score in scores]
                continue
            column, old = columns[at], weights[at]
            slope = sum(map(float.__mul__, errors, column)) + penalty * old
            new = old - slope / (0.25 * size + penalty)
            weights[at] = max(0.0, new) if signs[at] > 0 else min(0.0, new)
            if step := weights[at] - old:
                moved = max(moved, abs(step))
                scores = [score + step * one for score, one in zip(scores, column, strict=True)]
        if moved < ENOUGH:
            break
    scaled = [weight / spread for weight, spread in zip(weights, spreads, strict=True)]
    return scaled, bias - sum(weight * mean for weight, mean in zip(scaled, means, strict=True))


def cross_validated(
    cases: list[Case], table: Table, penalty: float, shuffles: tuple[int, ...] = SHUFFLES
) -> list[float]:
    """The score of each case by models that have not seen its person, or for the largest, its sessions.

    Without shuffles, every person is held out whole.
    """
    rows, wanted, signs = table
    total = [0.0] * len(rows)
    counts = Counter(case.stream for case in cases)
    large = {stream for stream, _ in counts.most_common(LARGE if shuffles else 0)}
    for seed in shuffles or (0,):
        sessions = sorted({case.session for case in cases})
        random.Random(seed).shuffle(sessions)
        parts = {session: at % PARTS for at, session in enumerate(sessions)}
        fold = [(case.stream, parts[case.session] if case.stream in large else 0) for case in cases]
        for held in sorted(set(fold)):
            seen = [at for at, one in enumerate(fold) if one != held]
            weights, bias = fit([rows[at] for at in seen], [wanted[at] for at in seen], signs, penalty)
            for at, one in enumerate(fold):
                if one == held:
                    total[at] += bias + sum(map(float.__mul__, weights, rows[at]))
    return [one / len(shuffles or (0,)) for one in total]


def best_threshold(scores: list[float], wanted: list[float], least: float) -> tuple[float, float, float]:
    """The lowest threshold that is precise enough, with its precision and recall."""
    ranked = sorted(zip(scores, wanted, strict=True), reverse=True)
    hits, best = 0.0, (ranked[0][0], 0.0, 0.0)
    for at, (score, one) in enumerate(ranked, 1):
        hits += one
        if one and hits / at >= least:
            following = ranked[at][0] if at < len(ranked) else score - 1
            best = (score + following) / 2, hits / at, hits / sum(wanted)
    return best


def labelled(options: argparse.Namespace) -> list[Case]:
    """The prompts to learn from, without the doubtful ones and the plans that were handed over."""
    return [
        case
        for folder, split in ((options.data, "tune"), (options.fresh, "fresh"))
        for case in read_cases(folder, split)
        if isinstance(case, Case) and not case.is_doubtful and case.kind != "plan"
    ]


def known_after(case: Case, turns: int) -> Case:
    """A case of which only so many turns after the prompt are known."""
    return dataclasses.replace(case, later=case.later.replace(after=case.later.after[:turns]))


def trained(look: str, times: list[list[Case]]) -> str:
    """The text of the weights of a look that is taken several times, with one more turn known each time.

    A prompt is new if it is at any of these times, so the threshold is one for its highest score.
    """
    cases = [case for known in times for case in known]
    found = [features(case.moment if look == "FIRST_LOOK" else case.later) for case in cases]
    names = [name for name in found[0] if name not in SET_BY_HAND]
    signs = [-1 if name in SPEAKS_AGAINST else 1 for name in names]
    table: Table = (
        [[one[name] for name in names] for one in found],
        [float(case.is_new) for case in cases],
        signs,
    )
    wanted = table[1][: len(times[0])]

    def highest(shuffles: tuple[int, ...]) -> list[float]:
        scores = cross_validated(cases, table, PENALTIES[look], shuffles)
        return [max(scores[at :: len(wanted)]) for at in range(len(wanted))]

    scores, strangers = highest(SHUFFLES), highest(())
    threshold, precision, recall = best_threshold(scores, wanted, PRECISIONS[look])
    new = sorted(score for score, one in zip(scores, wanted, strict=True) if one)
    doubt = max(0.0, threshold - new[int((1 - DOUBTFUL) * len(new))])
    print(f"{look}: precision {precision:.3f}, recall {recall:.3f} in cross-validation; {doubt=:.2f}")
    above = [one for score, one in zip(strangers, wanted, strict=True) if score > threshold]
    print(f"  strangers: precision {sum(above) / len(above):.3f}, recall {sum(above) / len(new):.3f}")
    weights, bias = fit(*table, PENALTIES[look])
    rounded = {name: round(one, 2) for name, one in zip(names, weights, strict=True)} | SET_BY_HAND
    lines = [
        f'        "{name}": {one},\n'
        for name, one in sorted(rounded.items(), key=lambda pair: -pair[1])
        if one
    ]
    numbers = f"    bias={bias - threshold:.2f},\n    doubt={doubt:.2f},\n"
    return f"\n{look} = Weights(\n{numbers}    features={{\n{''.join(lines)}    }},\n)\n"


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the weights of the recogniser of new requests.")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--fresh", type=Path, required=True, help="folder that request_sessions.py wrote")
    parser.add_argument("--dry-run", action="store_true", help="print the figures and write nothing")
    options = parser.parse_args()
    cases = labelled(options)
    times = [[known_after(case, turns) for case in cases] for turns in range(1, AFTER + 1)]
    text = HEADER + trained("FIRST_LOOK", times[:1]) + trained("SECOND_LOOK", times)
    if not options.dry_run:
        TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
