"""Grow the trees of the recogniser of new requests: `python bench/request_training.py --fresh FOLDER`.

Needs scikit-learn, which nothing else does: install it and ringbolt into an environment of their own.
Writes `src/ringbolt/requests/request_trees.py` from the prompts labelled in `tune` and `fresh` (see
`request_boundaries.py`, and `request_sessions.py` for FOLDER); `held_out` and `fresh_held_out` are not read.
Prompts that the rules decide are left out. Each look has gradient-boosted trees of eight leaves. The second
look learns from each prompt three times, with one, two and three turns after it.

The threshold comes from cross-validation: the lowest one at which nine of ten verdicts "new" were right (at
the first look, which is taken with less knowledge, 19 of 20). A person or repository is judged by trees that
have not seen it at all, since by session alone the threshold comes out too low for strangers. Only the
largest, without which too little is left to learn from, are held out a quarter of their sessions at a time.
The figures printed are those of the cross-validation, with those for strangers alone (every person held out)
beside them.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from request_boundaries import HERE, Case, read_cases
from sklearn.ensemble import GradientBoostingClassifier

from ringbolt.requests.request_boundary import BEYOND_DOUBT, features, judge
from ringbolt.requests.turns import AFTER

TARGET = HERE.parent / "src" / "ringbolt" / "requests" / "request_trees.py"
LOOKS = {"FIRST_LOOK": 0.95, "SECOND_LOOK": 0.9}  # the least precision of each
TREES, LEAVES, RATE, SAMPLES = 100, 8, 0.06, 0.8
LEAST_LEAF = 7  # prompts in a leaf, for each turn that is known
DOUBTFUL = 0.85  # of the new requests, how many have a score above the doubt
LARGE, PARTS, SHUFFLES = 3, 4, (3, 4)
HEADER = '''"""Trees for recognising new requests, written by `bench/request_training.py`: do not edit."""

# ruff: noqa: E501

from __future__ import annotations

from .trees import Trees
'''

Rows = list[list[float]]


def grow(rows: Rows, wanted: list[float], turns: int) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(
        n_estimators=TREES,
        max_depth=None,
        max_leaf_nodes=LEAVES,
        learning_rate=RATE,
        subsample=SAMPLES,
        max_features=0.5,
        min_samples_leaf=LEAST_LEAF * turns,
        random_state=1,
    ).fit(rows, wanted)


def cross_validated(
    cases: list[Case], rows: Rows, wanted: list[float], turns: int, shuffles: tuple[int, ...] = SHUFFLES
) -> list[float]:
    """The score of each case by trees that have not seen its person, or for the largest, its sessions.

    Without shuffles, every person is held out whole.
    """
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
            left = [at for at, one in enumerate(fold) if one == held]
            model = grow([rows[at] for at in seen], [wanted[at] for at in seen], turns)
            for at, score in zip(left, model.decision_function([rows[at] for at in left]), strict=True):
                total[at] += score
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
    """The prompts to learn from, without the doubtful ones and those that the rules decide."""
    return [
        case
        for folder, split in ((options.data, "tune"), (options.fresh, "fresh"))
        for case in read_cases(folder, split)
        if isinstance(case, Case) and not case.is_doubtful and abs(judge(case.moment).score) < BEYOND_DOUBT
    ]


def known_after(case: Case, turns: int) -> Case:
    """A case of which only so many turns after the prompt are known."""
    return dataclasses.replace(case, later=case.later.replace(after=case.later.after[:turns]))


def trained(look: str, times: list[list[Case]]) -> str:
    """The text of the trees of a look that is taken several times, with one more turn known each time.

    A prompt is new if it is at any of these times, so the threshold is one for its highest score.
    """
    cases = [case for known in times for case in known]
    found = [features(case.moment if look == "FIRST_LOOK" else case.later) for case in cases]
    names = list(found[0])
    rows = [[round(one[name], 4) for name in names] for one in found]
    labels = [float(case.is_new) for case in cases]
    wanted = labels[: len(times[0])]

    def highest(shuffles: tuple[int, ...]) -> list[float]:
        scores = cross_validated(cases, rows, labels, len(times), shuffles)
        return [max(scores[at :: len(wanted)]) for at in range(len(wanted))]

    scores, strangers = highest(SHUFFLES), highest(())
    threshold, precision, recall = best_threshold(scores, wanted, LOOKS[look])
    new = sorted(score for score, one in zip(scores, wanted, strict=True) if one)
    doubt = max(0.0, threshold - new[int((1 - DOUBTFUL) * len(new))])
    print(f"{look}: precision {precision:.3f}, recall {recall:.3f} in cross-validation; {doubt=:.2f}")
    above = [one for score, one in zip(strangers, wanted, strict=True) if score > threshold]
    print(f"  strangers: precision {sum(above) / max(1, len(above)):.3f}, recall {sum(above) / len(new):.3f}")
    model = grow(rows, labels, len(times))
    trees = [one[0].tree_ for one in model.estimators_]
    lines = [in_text(tree, 0) for tree in trees]
    used = sorted({int(part) for line in lines for part in numbers_of(line)})
    place = {at: str(number) for number, at in enumerate(used)}
    lines = [renumbered(line, place) for line in lines]
    bias = model.init_.class_prior_[1]
    bias = math.log(bias / (1 - bias)) - threshold
    listed = "".join(f'        "{names[at]}",\n' for at in used)
    text = "\n".join(lines)
    return (
        f"\n{look} = Trees(\n    bias={bias:.3f},\n    doubt={doubt:.2f},\n    names=(\n{listed}    ),\n"
        f'    text="""\\\n{text}\n""",\n)\n'
    )


def in_text(tree: Any, node: int) -> str:
    """A tree from a node on: a leaf is its value, a fork "feature<limit" with the two trees after it."""
    if tree.children_left[node] < 0:
        return f"{RATE * tree.value[node][0][0]:.3f}"
    fork = f"{tree.feature[node]}<{tree.threshold[node]:.4f}"
    left, right = (in_text(tree, int(side[node])) for side in (tree.children_left, tree.children_right))
    return f"{fork} {left} {right}"


def numbers_of(line: str) -> list[str]:
    """The numbers of the features in a tree."""
    return [part.partition("<")[0] for part in line.split() if "<" in part]


def renumbered(line: str, place: dict[int, str]) -> str:
    parts = (part.partition("<") for part in line.split())
    return " ".join(f"{place[int(first)]}<{limit}" if sign else first for first, sign, limit in parts)


def main() -> int:
    parser = argparse.ArgumentParser(description="Grow the trees of the recogniser of new requests.")
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
