"""Fit the weights that match the clauses of a report to the steps of a plan.

    .venv/bin/python bench/report_training.py [--check]

Writes `src/ringbolt/progress/report_weights.py` from the halves of `labels/reports*.txt` that are in `TUNED`.
Each clause chooses one of the plan's steps or none of them; a conditional logit gives each choice its chance.
There are two models over the same features: `FINISHES` for clauses that may finish a step, `ABOUT` for all
others. The plan stands as the labels say before each message. `--check` prints how well each fifth of the
plans is predicted by the others; what counts is `bench/reports.py` on a set that was not fitted.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy
from reports import STATUSES, Plan, Report, read_plans, wanted_current

from ringbolt.progress.report_matching import choices
from ringbolt.progress.title_words import PlanWords, Said, likeness
from ringbolt.signals.reports.acts import Clause
from ringbolt.signals.reports.clauses import read_clauses

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "ringbolt" / "progress" / "report_weights.py"
SETS = ("reports.txt", "reports_fresh.txt", "reports_trades.txt", "reports_more.txt")
TUNED = ("tune", "held", "fresh", "trades-tune", "trades-held", "more")
PENALTY, ROUNDS, RATE = 1.0, 1500, 0.05
HEADER = '''"""Weights for matching reports to steps, written by `bench/report_training.py`: do not edit."""

from __future__ import annotations

'''

# What a report of another plan counts for. Few reports of the sets are about something that is not in their
# plan; these stand for those that agents send as well.
ALIEN = 0.06
# What a report counts for that is read as if the one before it had moved nothing.
LATE = 0.1
# A choice: the features of each option, the number of the right one, the plan, and what it counts for.
Case = tuple[list[dict[str, float]], int, str, float]


def cases(plan: Plan, late: int = 0) -> tuple[list[Case], list[Case]]:
    """The choices of a plan for the two models. `late` steps that ended last count as open."""
    words = PlanWords(plan.steps)
    finishes: list[Case] = []
    about: list[Case] = []
    over = [False] * len(plan.steps)
    ended: list[int] = []
    for place, report in enumerate(plan.reports):
        current = wanted_current(plan, place)
        state, at = list(over), None if current is None else current - 1
        missed = [step for step in ended if state[step]][-late:] if late else []
        for step in missed:
            state[step] = False
        at = min(missed, default=at)
        clauses = [one for one in read_clauses(report.text, plan.steps, words.language) if not names(one)]
        targets = assigned(words, clauses, report)
        settled = False
        for number, clause in enumerate(clauses):
            said, target = Said(clause), targets.get(number)
            finish = clause.act in ("finished", "none")
            placed = target is not None or (
                clause.act in ("begun", "partly", "failed") and not report.effects
            )
            if not (said.every if finish else placed) or (late and not missed):
                continue
            steps, options = choices(words, said, at, state, finish, number == 0, settled)
            if target is None or target in steps:
                right = 0 if target is None else steps.index(target) + 1
                (finishes if finish else about).append((options, right, plan.name, LATE if late else 1.0))
            if target is not None and finish:
                settled = state[target] = True
                at = state.index(False) if False in state else None
        for word, step in report.effects:
            over[step - 1] = STATUSES.get(word, "open") != "open"
            if over[step - 1]:
                ended.append(step - 1)
    return finishes, about


def alien(plans: list[Plan]) -> tuple[list[Case], list[Case]]:
    """Reports of one plan sent to another of the same language: they are about none of its steps."""
    finishes: list[Case] = []
    about: list[Case] = []
    for number, plan in enumerate(plans):
        words = PlanWords(plan.steps)
        others = [one for one in plans if one.language == plan.language and one.trade != plan.trade]
        for at in range(len(plan.steps)):
            if not others:
                break
            other = others[(7 * number + 3 * at) % len(others)]
            report = other.reports[(5 * at + number) % len(other.reports)]
            over = [step < at for step in range(len(plan.steps))]
            for place, clause in enumerate(read_clauses(report.text, plan.steps, words.language)):
                said = Said(clause)
                if names(clause) or not said.every:
                    continue
                finish = clause.act in ("finished", "none")
                _, options = choices(words, said, at, over, finish, place == 0, False)
                (finishes if finish else about).append((options, 0, plan.name, ALIEN))
    return finishes, about


def names(clause: Clause) -> bool:
    return bool(clause.titles or clause.numbers or clause.whole or clause.last)


def assigned(words: PlanWords, clauses: list[Clause], report: Report) -> dict[int, int]:
    """Which clause each effect of a report belongs to: of those with a fitting act, the most similar one."""
    found: dict[int, int] = {}
    for word, step in report.effects:
        acts = (
            ("finished", "none")
            if word == "done"
            else ("begun", "partly", "failed", "denied", "reopened", "skipped")
        )
        fitting = [
            (share(words, clause, step - 1) + 0.1 * (clause.act == "finished") - 0.01 * number, number)
            for number, clause in enumerate(clauses)
            if clause.act in acts and number not in found
        ]
        if fitting:
            found[max(fitting)[1]] = step - 1
    return found


def share(words: PlanWords, clause: Clause, step: int) -> float:
    like = likeness(words, Said(clause), step)
    return like.covered + like.acts


def fit(rows: list[Case]) -> dict[str, float]:
    """The weights of a conditional logit."""
    names = sorted({name for options, *_ in rows for option in options for name in option})
    places = {name: place for place, name in enumerate(names)}
    width = max(len(options) for options, *_ in rows)
    table = numpy.zeros((len(rows), width, len(names)))
    missing = numpy.ones((len(rows), width), dtype=bool)
    right = numpy.array([row[1] for row in rows])
    for row, (options, *_) in enumerate(rows):
        for column, option in enumerate(options):
            missing[row, column] = False
            for name, value in option.items():
                table[row, column, places[name]] = value
    weights = numpy.zeros(len(names))
    first, second = numpy.zeros(len(names)), numpy.zeros(len(names))
    counts = numpy.array([row[3] for row in rows])
    wanted = counts @ table[numpy.arange(len(rows)), right]
    for turn in range(1, ROUNDS + 1):
        chances = chances_of(table @ weights, missing) * counts[:, None]
        slope = numpy.einsum("ro,rof->f", chances, table) - wanted + PENALTY * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights -= RATE * (first / (1 - 0.9**turn)) / (numpy.sqrt(second / (1 - 0.999**turn)) + 1e-8)
    return {name: round(float(weights[place]), 2) for name, place in places.items()}


def chances_of(scores: numpy.ndarray, missing: numpy.ndarray) -> numpy.ndarray:
    scores = numpy.where(missing, -1e9, scores)
    scores = numpy.exp(scores - scores.max(1, keepdims=True))
    return scores / scores.sum(1, keepdims=True)


def predicted(weights: dict[str, float], options: list[dict[str, float]]) -> list[float]:
    scores = [sum(weights.get(name, 0.0) * value for name, value in option.items()) for option in options]
    top = max(scores)
    parts = [math.exp(score - top) for score in scores]
    return [part / sum(parts) for part in parts]


def check(name: str, rows: list[Case]) -> None:
    """What a fifth of the plans looks like to weights from the others, at several thresholds."""
    plans = sorted({row[2] for row in rows})
    found: list[
        tuple[float, bool, bool]
    ] = []  # chance of the best step, whether it is right, whether one is due
    for fold in range(5):
        out = set(plans[fold::5])
        weights = fit([row for row in rows if row[2] not in out])
        for options, target, plan, count in rows:
            if plan in out and count == 1.0:
                chances = predicted(weights, options)
                best = max(range(1, len(chances)), key=chances.__getitem__, default=0)
                found.append((chances[best] if best else 0.0, best == target and best > 0, target > 0))
    due = sum(one[2] for one in found)
    print(f"{name}: {len(found)} clauses, {due} with a step")
    for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        chosen = [one for one in found if one[0] >= least]
        right = sum(one[1] for one in chosen)
        print(f"  from {least:.1f}: {right / due:.3f} of those, {len(chosen) - right} wrong")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    plans = [plan for name in SETS for plan in read_plans(HERE / "labels" / name) if plan.half in TUNED]
    both = [*(cases(plan, late) for late in (0, 1, 3) for plan in plans), alien(plans)]
    models = {
        "FINISHES": [case for finishes, _ in both for case in finishes],
        "ABOUT": [case for _, about in both for case in about],
    }
    if args.check:
        for name, rows in models.items():
            check(name, rows)
        return 0
    text = HEADER
    for name, rows in models.items():
        weights = sorted(fit(rows).items(), key=lambda pair: -pair[1])
        lines = "".join(f'    "{key}": {value},\n' for key, value in weights if value)
        text += f"{name}: dict[str, float] = {{\n{lines}}}\n"
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
