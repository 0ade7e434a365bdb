"""Fit the weights of the reader of speech: `python bench/speech_training.py`.

Writes `src/ringbolt/signals/speech_weights.json` from the sentences of `tune` (see `speech.py`); `test` is
not read. One logistic regression for each function on binary features, pulled towards zero, by Newton's
method on weights that start at zero. The thresholds come from cross-validation by session and theme: *sure*
is the lowest score above which so many were right (`PRECISION`) and so many had at least a kindred function,
with which the entry would not be false (`KINDRED`: an order of the user read as a decision), *possible* the
same with `LOW`. Slope and offset turn a score into a probability (Platt), from the same scores.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

import numpy as np
import speech as reader

from ringbolt.signals.speech import FUNCTIONS, Model

TARGET = reader.HERE.parent / "src" / "ringbolt" / "signals" / "speech_weights.json"
PENALTY = 3.0
LEAST = 2  # sentences of `tune` that a feature must be in
PRECISION, KINDRED, LOW = 0.76, 0.85, 0.45
CAUSE = 0.68  # a fact that is no cause does no harm
FOLDS, SHUFFLES = 10, (1,)
STEPS = 100


def fit(rows: np.ndarray, wanted: np.ndarray, penalty: float = PENALTY) -> np.ndarray:
    """The weights of logistic regressions, one for each column of `wanted`; the first row is the bias, not
    pulled.

    Newton's method with the curvature at the start, which is the largest, so that it is inverted only once;
    Nesterov's momentum makes up for the smaller steps.
    """
    width = rows.shape[1]
    pull = np.full(width, penalty)
    pull[0] = 1e-3
    inverse = np.linalg.inv(0.25 * rows.T @ rows + np.diag(pull))
    weights = ahead = np.zeros((width, wanted.shape[1]))
    for step in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ ahead, -30, 30)))
        new = ahead - inverse @ (rows.T @ (chance - wanted) + pull[:, None] * ahead)
        moved = np.abs(new - weights).max()
        weights, ahead = new, new + step / (step + 3) * (new - weights)
        if moved < 1e-3:
            break
    return weights


def cross_validated(rows: np.ndarray, wanted: np.ndarray, groups: list[str]) -> np.ndarray:
    """The scores of each sentence by models that have not seen its session or theme."""
    total = np.zeros(wanted.shape)
    names = sorted(set(groups))
    for seed in SHUFFLES:
        order = names[:]
        random.Random(seed).shuffle(order)
        fold = {name: at % FOLDS for at, name in enumerate(order)}
        folds = np.array([fold[name] for name in groups])
        for held in range(FOLDS):
            out = folds == held
            total[out] += rows[out] @ fit(rows[~out], wanted[~out])
    return total / len(SHUFFLES)


def threshold(
    scores: np.ndarray, right: np.ndarray, kindred: np.ndarray, strict: float, lenient: float
) -> float:
    """The lowest score at which the sentences above it are right often enough."""
    order = np.argsort(-scores)
    count = np.arange(1, len(order) + 1)
    exact, near = np.cumsum(right[order]), np.cumsum(kindred[order])
    enough = [
        at
        for at in range(len(order))
        if right[order[at]] and exact[at] >= max(3, strict * count[at]) and near[at] >= lenient * count[at]
    ]
    if not enough:
        return float(scores.max()) + 1
    at = enough[-1]
    following = scores[order[at + 1]] if at + 1 < len(order) else scores[order[at]] - 1
    return float(scores[order[at]] + following) / 2


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the weights of the reader of speech.")
    parser.add_argument("--data", type=Path, default=reader.DATA)
    parser.add_argument("--dry-run", action="store_true", help="print the figures and write nothing")
    parser.add_argument("--wrong", metavar="FUNCTION", help="print the sentences of `tune` that are misread")
    options = parser.parse_args()
    cases = [
        one for one in (*reader.session_cases(options.data), *reader.phrase_cases()) if one.part == "tune"
    ]
    counts: dict[str, int] = {}
    for one in cases:
        for name in one.found:
            counts[name] = counts.get(name, 0) + 1
    names = ["bias", *sorted(name for name, count in counts.items() if count >= LEAST and name != "bias")]
    places = {name: at for at, name in enumerate(names)}
    rows = np.zeros((len(cases), len(names)))
    for at, one in enumerate(cases):
        for name in one.found:
            if name in places:
                rows[at, places[name]] = 1.0
    groups = [one.group for one in cases]
    wanted = np.array([[float(function in one.functions) for function in FUNCTIONS] for one in cases])
    scores = cross_validated(rows, wanted, groups)
    weights = fit(rows, wanted)
    sure, possible, slopes, offsets = [], [], [], []
    print(f"{len(cases)} sentences, {len(names)} features; in cross-validation:")
    for place, function in enumerate(FUNCTIONS):
        has, score = wanted[:, place], scores[:, place]
        kin = np.array([float(bool(reader.KINDRED[function] & set(one.functions))) for one in cases])
        least = (CAUSE, CAUSE) if function == "cause" else (PRECISION, KINDRED)
        limits = [threshold(score, has, kin, *least), threshold(score, has, kin, LOW, LOW)]
        sure.append(round(limits[0], 2))
        possible.append(round(min(limits), 2))
        platt = fit(np.stack([np.ones(len(score)), score], axis=1), has[:, None], 0.0)[:, 0]
        offsets.append(round(float(platt[0]), 3))
        slopes.append(round(float(platt[1]), 3))
        says = [score >= limit for limit in limits]
        right, near = (float(one[says[0]].mean()) if says[0].any() else 0.0 for one in (has, kin))
        found = [one[limit].sum() / has.sum() for one, limit in ((has, says[0]), (has, says[1]))]
        print(
            f"  {function:12} n {int(has.sum()):4}  sure: precision {right:.2f} (kindred {near:.2f})"
            f" recall {found[0]:.2f}  possible: recall {found[1]:.2f}"
        )
        if function == options.wrong:
            for at in np.argsort(-score):
                mark = "sure" if says[0][at] else "poss" if says[1][at] else ""
                if bool(mark) != bool(has[at]) or (has[at] and mark != "sure"):
                    wants = "+" if has[at] else "-"
                    who = "u" if cases[at].user else "a"
                    print(f"{wants} {mark:4} {score[at]:5.1f} {who} {cases[at].text[:170]}")
    table = {name: [round(float(one), 2) for one in weights[at]] for name, at in places.items()}
    table = {name: row for name, row in table.items() if any(abs(one) >= 0.02 for one in row)}
    made = Model(weights=table, sure=sure, possible=possible, slope=slopes, offset=offsets)
    if not options.dry_run:
        write(made)
    return 0


def write(made: Model) -> None:
    """One line for each feature, so that a change can be read."""
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(made.weights.items())
    )
    rest = "".join(
        f',\n "{name}": {json.dumps(getattr(made, name))}' for name in ("sure", "possible", "slope", "offset")
    )
    TARGET.write_text(f' {{\n "weights": {{\n{lines}\n }}{rest}\n}}\n'.lstrip(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
