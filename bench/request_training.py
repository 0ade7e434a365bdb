"""Fit the weights of the recogniser of new requests: `python bench/request_training.py`.

Writes `src/ringbolt/requests/request_weights.py` from the prompts labelled in `tune` (see
`request_boundaries.py`); `held_out` is not read. Two logistic regressions, one for each look, by coordinate
descent on standardised features. Each weight may only have the sign that its feature was made for, and is
pulled towards zero: fifty boundaries are few, and without both a feature that is 1 three times gets
whatever weight its neighbours leave to it.

The threshold comes from cross-validation: the lowest one at which nine of ten verdicts "new" were right. A
stream is judged by models that have not seen that person or repository at all, since by session alone the
threshold comes out too low for strangers. Only the largest stream, without which too little is left to learn
from, is held out session by session, in three shuffles. The figures printed are those of the
cross-validation.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from pathlib import Path

from request_boundaries import HERE, Case, read_cases

from ringbolt.requests.request_boundary import features

TARGET = HERE.parent / "src" / "ringbolt" / "extract" / "request_weights.py"
PENALTY = 20.0
PRECISION = 0.9
DOUBTFUL = 0.85  # of the new requests, how many have a score above the doubt
FOLDS, SHUFFLES = 8, (3, 4, 5)
RARE = 0.2  # the least spread of a feature: a rare one must not get a large weight cheaply
STEPS, ENOUGH = 300, 1e-4
# Too few prompts of `tune` have them, and what they mean is beyond doubt.
SET_BY_HAND = {"hands over a plan": 4.0, "declares a new request": 4.0}
SPEAKS_AGAINST = frozenset(
    {
        "the agent had asked something", "the agent was at work", "steps were open", "opens like an answer",
        "opens like a follow-up", "refers back", "points before it names anything", "rounds off the work",
        "asks why", "has a few words only", "is short", "is mostly pasted", "was sent before", "known names",
        "words of the request", "words of the last message", "words of the instructions", "quotes the agent",
        "the agent stayed with its files", "the agent used no files", "opens with something known",
        "the reply takes up the prompt", "the agent edited at once", "asks for tests",
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


def fit(rows: Rows, wanted: list[float], signs: list[int]) -> tuple[list[float], float]:
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
            slope = sum(map(float.__mul__, errors, column)) + PENALTY * old
            new = old - slope / (0.25 * size + PENALTY)
            weights[at] = max(0.0, new) if signs[at] > 0 else min(0.0, new)
            if step := weights[at] - old:
                moved = max(moved, abs(step))
                scores = [score + step * one for score, one in zip(scores, column, strict=True)]
        if moved < ENOUGH:
            break
    scaled = [weight / spread for weight, spread in zip(weights, spreads, strict=True)]
    return scaled, bias - sum(weight * mean for weight, mean in zip(scaled, means, strict=True))


def cross_validated(cases: list[Case], rows: Rows, wanted: list[float], signs: list[int]) -> list[float]:
    """The score of each case by models that have not seen its stream, or in the largest one, its session."""
    total = [0.0] * len(rows)
    largest, _ = Counter(case.stream for case in cases).most_common(1)[0]
    for seed in SHUFFLES:
        sessions = sorted({case.session for case in cases})
        random.Random(seed).shuffle(sessions)
        fold: dict[str, int | str] = {session: at % FOLDS for at, session in enumerate(sessions)}
        fold |= {case.session: case.stream for case in cases if case.stream != largest}
        for held in sorted(set(fold.values()), key=str):
            seen = [at for at, case in enumerate(cases) if fold[case.session] != held]
            weights, bias = fit([rows[at] for at in seen], [wanted[at] for at in seen], signs)
            for at, case in enumerate(cases):
                if fold[case.session] == held:
                    total[at] += bias + sum(map(float.__mul__, weights, rows[at]))
    return [one / len(SHUFFLES) for one in total]


def best_threshold(scores: list[float], wanted: list[float]) -> tuple[float, float, float]:
    """The lowest threshold that is precise enough, with its precision and recall."""
    ranked = sorted(zip(scores, wanted, strict=True), reverse=True)
    hits, best = 0.0, (ranked[0][0], 0.0, 0.0)
    for at, (score, one) in enumerate(ranked, 1):
        hits += one
        if one and hits / at >= PRECISION:
            following = ranked[at][0] if at < len(ranked) else score - 1
            best = (score + following) / 2, hits / at, hits / sum(wanted)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the weights of the recogniser of new requests.")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument("--dry-run", action="store_true", help="print the figures and write nothing")
    options = parser.parse_args()
    cases = [
        case
        for case in read_cases(options.data, "tune")
        if isinstance(case, Case) and not case.label.startswith("perhaps") and case.kind != "plan"
    ]
    wanted = [float(case.is_new) for case in cases]
    text = HEADER
    for look in ("FIRST_LOOK", "SECOND_LOOK"):
        found = [features(case.moment if look == "FIRST_LOOK" else case.later) for case in cases]
        names = [name for name in found[0] if name not in SET_BY_HAND]
        rows = [[one[name] for name in names] for one in found]
        signs = [-1 if name in SPEAKS_AGAINST else 1 for name in names]
        scores = cross_validated(cases, rows, wanted, signs)
        threshold, precision, recall = best_threshold(scores, wanted)
        new = sorted(score for score, one in zip(scores, wanted, strict=True) if one)
        doubt = max(0.0, threshold - new[int((1 - DOUBTFUL) * len(new))])
        print(f"{look}: precision {precision:.3f}, recall {recall:.3f} in cross-validation; {doubt=:.2f}")
        weights, bias = fit(rows, wanted, signs)
        table = {name: round(one, 2) for name, one in zip(names, weights, strict=True)} | SET_BY_HAND
        lines = [
            f'        "{name}": {one},\n'
            for name, one in sorted(table.items(), key=lambda pair: -pair[1])
            if one
        ]
        numbers = f"    bias={bias - threshold:.2f},\n    doubt={doubt:.2f},\n"
        text += f"\n{look} = Weights(\n{numbers}    features={{\n{''.join(lines)}    }},\n)\n"
    if not options.dry_run:
        TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
