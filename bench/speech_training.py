"""Fit the weights of the reader of speech: `python bench/speech_training.py`.

Writes `src/ringbolt/signals/speech/weights.json` from the sentences of `tune` (see `speech.py`); `test` is
not read. One logistic regression for each function on binary features, pulled towards zero.

- The vocabulary are the words that occur in at least `SPREAD` sessions and themes, so that no name of one
  project gets a weight; pairs of words must occur in `PAIRED` of them.
- After a first fit, features whose weights are all small are left out, and the rest is fitted again (in
  cross-validation without the sentences that are held out).
- The limits come from cross-validation by session and theme: *sure* is the lowest score above which
  `PRECISION` of the sentences were right and `KINDRED` of them had at least a kindred function, with which
  the entry would not be false (an order of the user read as a decision), or less for `RARE` functions;
  *likely* is the same with `LOW`.
  Slope and offset turn a score into a probability (Platt), from the same scores.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
import speech as reader

from ringbolt.signals.speech.features import features
from ringbolt.signals.speech.sentences import FUNCTIONS

TARGET = reader.HERE.parent / "src" / "ringbolt" / "signals" / "speech" / "weights.json"
PENALTY = 4.0
LEAST = 3  # sentences of `tune` that a feature must be in
SPREAD, PAIRED = 6, 3
SMALL = 0.06  # a weight that is left out
DULL = 0.16  # a feature with no larger weight is left out
# Precision at which a reading is sure or likely, and the share that must have a kindred function.
PRECISION, KINDRED, LOW = 0.76, 0.83, 0.5
# Of these the sessions have too few for strict limits; their sentences are plain when they do occur.
# False dead ends, blockers and causes take room from what is true.
RARE = dict.fromkeys(("value", "constraint", "rejection"), (0.66, 0.76))
RARE |= dict.fromkeys(("dead_end", "blocker", "cause"), (0.75, 0.79))
RARE["decision"] = (0.8, 0.85)  # the packet shows many; written phrases have too many of them
REAL = 3.0  # how often a sentence of a session counts for the limits; phrases have too many of rare functions
FOLDS = 8
STEPS = 150

Cases = Sequence[reader.Case]


def fit(rows: np.ndarray, wanted: np.ndarray, penalty: float = PENALTY) -> np.ndarray:
    """The weights of logistic regressions, one for each column of `wanted`; the first row is the bias, not
    pulled. Gradient descent with a step of its own for each feature, and Nesterov's momentum."""
    often = rows.sum(0)
    curvature = 0.0875 * often * float(np.median(rows.sum(1)))
    pull = np.full(rows.shape[1], penalty, np.float32)
    pull[0] = 1e-3
    step = (1 / (curvature + pull))[:, None].astype(np.float32)
    weights = ahead = np.zeros((rows.shape[1], wanted.shape[1]), np.float32)
    for turn in range(STEPS):
        chance = 1 / (1 + np.exp(-np.clip(rows @ ahead, -30, 30)))
        new = ahead - step * (rows.T @ (chance - wanted) + pull[:, None] * ahead)
        moved = float(np.abs(new - weights).max())
        weights, ahead = new, new + turn / (turn + 3) * (new - weights)
        if moved < 2e-3:
            break
    return weights


def vocabulary(cases: Cases) -> frozenset[str]:
    spread: defaultdict[str, set[str]] = defaultdict(set)
    for one in cases:
        for word in one.tokens.words:
            spread[word].add(one.group)
    return frozenset(word for word, groups in spread.items() if len(groups) >= SPREAD and word[0].isalpha())


def table_of(cases: Cases, words: frozenset[str]) -> tuple[list[str], np.ndarray]:
    """The names of the features, the bias first, and one row of zeros and ones for each sentence."""
    found = [features(one.sentence, one.tokens, one.user, one.failed, words) for one in cases]
    count: Counter[str] = Counter()
    spread: defaultdict[str, set[str]] = defaultdict(set)
    for one, names in zip(cases, found, strict=True):
        count.update(names)
        for name in names:
            spread[name].add(one.group)
    kept = (
        name
        for name, times in count.items()
        if times >= LEAST and (" " not in name or len(spread[name]) >= PAIRED)
    )
    names = ["bias", *sorted(name for name in kept if name != "bias")]
    places = {name: place for place, name in enumerate(names)}
    rows = np.zeros((len(cases), len(names)), np.float32)
    for at, some in enumerate(found):
        for name in some:
            if name in places:
                rows[at, places[name]] = 1
    return names, rows


def cross_validated(rows: np.ndarray, wanted: np.ndarray, groups: Sequence[str]) -> np.ndarray:
    """The scores of each sentence by a model that has not seen its session or theme."""
    scores = np.zeros(wanted.shape, np.float32)
    order = sorted(set(groups))
    random.Random(1).shuffle(order)
    fold = {name: at % FOLDS for at, name in enumerate(order)}
    folds = np.array([fold[name] for name in groups])
    for held in range(FOLDS):
        out = folds == held
        telling = telling_features(rows[~out], wanted[~out])
        scores[out] = rows[out][:, telling] @ fit(rows[~out][:, telling], wanted[~out])
    return scores


def telling_features(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Which features have a weight that matters."""
    telling = np.abs(fit(rows, wanted)).max(1) >= DULL
    telling[0] = True
    return telling


def threshold(
    scores: np.ndarray,
    right: np.ndarray,
    kindred: np.ndarray,
    often: np.ndarray,
    strict: float,
    lenient: float,
) -> float:
    """The lowest score at which the sentences above it are right often enough; `often` weighs them."""
    order = np.argsort(-scores)
    count = np.cumsum(often[order])
    exact, near = np.cumsum((right * often)[order]), np.cumsum((kindred * often)[order])
    good = (right[order] > 0) & (exact >= np.maximum(3, strict * count)) & (near >= lenient * count)
    if not good.any():
        return float(scores.max()) + 1
    at = int(np.flatnonzero(good)[-1])
    following = scores[order[at + 1]] if at + 1 < len(order) else scores[order[at]] - 1
    return float(scores[order[at]] + following) / 2


class Limits:
    """The limits and the probability of one function, from cross-validated scores."""

    def __init__(self, cases: Cases, function: str, scores: np.ndarray, has: np.ndarray) -> None:
        kin = np.array([float(bool(reader.KINDRED[function] & set(one.functions))) for one in cases])
        often = np.array([REAL if one.source == "session" else 1.0 for one in cases])
        least = RARE.get(function, (PRECISION, KINDRED))
        self.sure = round(threshold(scores, has, kin, often, *least), 2)
        self.likely = round(min(self.sure, threshold(scores, has, kin, often, LOW, LOW)), 2)
        columns = np.stack([np.ones(len(scores)), scores], axis=1).astype(np.float64)
        self.offset, self.slope = (round(float(one), 3) for one in platt(columns, has))
        self.line = f"  {function:11}"
        for source in ("session", "phrase"):
            some = np.array([one.source == source for one in cases])
            self.line += f" | {source}s n {int(has[some].sum()):3}"
            for name, limit in (("sure", self.sure), ("likely", self.likely)):
                says = some & (scores >= limit)
                right = f"{has[says].mean():.2f}" if says.any() else "-"
                self.line += f" {name} {right}/{has[says].sum() / max(1, has[some].sum()):.2f}"


def platt(columns: np.ndarray, has: np.ndarray) -> np.ndarray:
    """Offset and slope by Newton's method."""
    weights = np.zeros(2)
    for _ in range(30):
        chance = 1 / (1 + np.exp(-np.clip(columns @ weights, -30, 30)))
        bend = (columns * (chance * (1 - chance))[:, None]).T @ columns + 1e-6 * np.eye(2)
        weights = weights - np.linalg.solve(bend, columns.T @ (chance - has))
    return weights


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the weights of the reader of speech.")
    parser.add_argument("--data", type=reader.Path, default=reader.DATA)
    parser.add_argument("--dry-run", action="store_true", help="print the figures and write nothing")
    parser.add_argument("--wrong", metavar="FUNCTION", help="print the sentences of `tune` that are misread")
    options = parser.parse_args()
    cases = [
        one for one in (*reader.session_cases(options.data), *reader.phrase_cases()) if one.part == "tune"
    ]
    wanted = np.array([[float(name in one.functions) for name in FUNCTIONS] for one in cases], np.float32)
    words = vocabulary(cases)
    names, rows = table_of(cases, words)
    scores = cross_validated(rows, wanted, [one.group for one in cases])
    telling = telling_features(rows, wanted)
    names, rows = [name for name, keep in zip(names, telling, strict=True) if keep], rows[:, telling]
    print(f"{len(cases)} sentences, {len(words)} words, {len(names)} features; in cross-validation:")
    limits = [Limits(cases, name, scores[:, at], wanted[:, at]) for at, name in enumerate(FUNCTIONS)]
    for one in limits:
        print(one.line)
    if options.wrong:
        print_wrong(cases, options.wrong, scores, limits)
    if not options.dry_run:
        write(words, names, fit(rows, wanted), limits)
    return 0


def print_wrong(cases: Cases, function: str, scores: np.ndarray, limits: Sequence[Limits]) -> None:
    place = FUNCTIONS.index(function)  # type: ignore[arg-type]
    for at in np.argsort(-scores[:, place]):
        one, score = cases[at], scores[at, place]
        mark = "sure" if score >= limits[place].sure else "maybe" if score >= limits[place].likely else ""
        has = function in one.functions
        if bool(mark) != has or (has and mark != "sure"):
            who = "u" if one.user else "a"
            print(f"{'+' if has else '-'} {mark:5} {score:5.1f} {who} {one.sentence.text[:170]}")


def write(words: frozenset[str], names: Sequence[str], weights: np.ndarray, limits: Sequence[Limits]) -> None:
    """One line for each feature, so that a change can be read; a row has the weights that count."""
    used = {
        part
        for name in names
        for part in name.removeprefix("u:").removeprefix("p:").removeprefix("w:").split()
    }
    lines: list[str] = []
    for name, row in zip(names, weights, strict=True):
        kept = [f"{at},{weight:.2g}" for at, weight in enumerate(row.tolist()) if abs(weight) >= SMALL]
        if kept:
            lines.append(f"{json.dumps(name, ensure_ascii=False)}:[{','.join(kept)}]")
    head = json.dumps(" ".join(sorted(words & used)), ensure_ascii=False)
    rest = "".join(
        f',\n"{name}":{json.dumps([getattr(one, name) for one in limits])}'
        for name in ("sure", "likely", "slope", "offset")
    )
    body = ",\n".join(lines)
    TARGET.write_text(f'{{"words":{head},\n"weights":{{\n{body}\n}}{rest}\n}}\n', encoding="utf-8")
    print(f"{len(lines)} rows, {TARGET.stat().st_size // 1000} kB")


if __name__ == "__main__":
    sys.exit(main())
