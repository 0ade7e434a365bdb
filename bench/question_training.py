"""Fit the weights of the model of questions: `python bench/question_training.py`.

Writes `src/ringbolt/ask/question_weights.json` from `labels/question_phrasings.txt` and the tuned part of
`labels/questions.txt`; the held-out part is not read. A softmax regression on binary features, pulled towards
zero. Prints the accuracy in cross-validation, by intent and language.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import questions as benchmark

from ringbolt.ask.question_model import INTENTS, features
from ringbolt.ask.question_times import read_span
from ringbolt.ask.question_words import read_marks
from ringbolt.ask.questions import _step  # pyright: ignore[reportPrivateUsage]

HERE = Path(__file__).parent
PHRASINGS = HERE / "labels" / "question_phrasings.txt"
TARGET = HERE.parent / "src" / "ringbolt" / "ask" / "question_weights.json"
PENALTY, FOLDS, STEPS = 0.35, 5, 160
SEEN = 5  # times that a feature must occur
# Intents of the questions whose answers are the same.
SAME = {"outcome": "did", "effects": "did", "none": "none"}


def read_phrasings(path: Path) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    intent = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            intent = line.strip("[]")
        elif line.strip() and not line.startswith("#"):
            rows.append((intent, line.strip()))
    return rows


def seen(question: str) -> set[str]:
    span, rest = read_span(question)
    marks = read_marks(rest, question)
    return features(marks, time=span is not None, step=_step(rest) is not None)


def fit(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Softmax regression by gradient descent with momentum (the problem is convex and small)."""
    weights = ahead = np.zeros((rows.shape[1], wanted.shape[1]), np.float32)
    pace = 4.0 / np.linalg.norm(rows, 2) ** 2 * 2
    for step in range(STEPS):
        raw = rows @ ahead
        chance = np.exp(raw - raw.max(axis=1, keepdims=True))
        chance /= chance.sum(axis=1, keepdims=True)
        new = ahead - pace * (rows.T @ (chance - wanted) + PENALTY * ahead)
        weights, ahead = new, new + step / (step + 3) * (new - weights)
    return weights


def main() -> int:
    parser = argparse.ArgumentParser(description="Fit the weights of the model of questions.")
    parser.add_argument("--dry-run", action="store_true", help="print the figures and write nothing")
    parser.add_argument("--wrong", action="store_true", help="print the phrasings that are misread")
    options = parser.parse_args()
    cases = read_phrasings(PHRASINGS)
    polar = ("yes", "no", "unknown")
    for case in benchmark.cases(benchmark.LABELS):
        intent = SAME.get(case.intent, case.intent)
        plain = "+" not in case.intent and intent in INTENTS
        if case.intent in ("outcome", "effects") and not any(word in case.evidence.split() for word in polar):
            plain = False  # these are labelled by what they are about, not by how they ask
        if case.part == "tune" and plain:
            cases.append((intent, case.question))
    found = [seen(question) for _, question in cases]
    counts = Counter(name for names in found for name in names)
    names = sorted(name for name, count in counts.items() if count >= SEEN)
    places = {name: at for at, name in enumerate(names)}
    rows = np.zeros((len(cases), len(names)), np.float32)
    for at, has in enumerate(found):
        for name in has:
            if name in places:
                rows[at, places[name]] = 1.0
    wanted = np.array([[float(name == intent) for name in INTENTS] for intent, _ in cases], np.float32)
    order = list(range(len(cases)))
    random.Random(1).shuffle(order)
    guess = np.zeros(len(cases), int)
    for fold in range(FOLDS):
        out = np.array(order[fold::FOLDS])
        rest = np.array([at for at in range(len(cases)) if at not in set(out.tolist())])
        guess[out] = (rows[out] @ fit(rows[rest], wanted[rest])).argmax(axis=1)
    right: dict[str, list[bool]] = defaultdict(list)
    for at, (intent, question) in enumerate(cases):
        ok = INTENTS[guess[at]] == intent
        right[intent].append(ok)
        right[f"language {read_marks(question).language}"].append(ok)
        if options.wrong and not ok:
            print(f"  {intent:10} {INTENTS[guess[at]]:10} {question}  {read_marks(question).marks}")
    for name, oks in sorted(right.items()):
        print(f"{name:14} {len(oks):4} {sum(oks) / len(oks):.2f}")
    share = np.mean([ok for name, oks in right.items() if name in INTENTS for ok in oks])
    print(f"{len(cases)} phrasings, {len(names)} features, accuracy {share:.3f}")
    if not options.dry_run:
        weights = fit(rows, wanted)
        table = {
            name: {
                intent: round(float(one), 2)
                for intent, one in zip(INTENTS, weights[at], strict=True)
                if abs(one) >= 0.06
            }
            for name, at in places.items()
        }
        lines = ",\n".join(
            f"{json.dumps(name)}:{json.dumps(row, separators=(',', ':'))}"
            for name, row in table.items()
            if row
        )
        TARGET.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
