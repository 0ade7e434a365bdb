"""Fit the weights that match the clauses of a report to the steps of a plan.

    .venv/bin/python bench/report_training.py [--check]

Writes `src/ringbolt/progress/report_weights.py` from `labels/reports*.txt`, except `reports_unseen.txt`.
Each clause chooses one of the plan's steps or none of them; a conditional logit gives each choice its
chance. There are two such models over the same features: `FINISHES` for clauses that may finish a step,
`ABOUT` for all others. The third, `DECIDES`, is a logistic regression: does the whole message finish the
step? It is fitted on readings of each plan with clause weights of the other plans, since those of its
own would make the clauses look surer than they are. The plan stands as the labels say before each
message. `--check` tells each fifth of the plans to a store with the weights of the others; what counts
is `bench/reports.py` on a set that was not fitted.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy
from reports import STATUSES, Count, Plan, Report, measure, read_plans, wanted_current

from ringbolt.progress import report_matching
from ringbolt.progress.report_matching import Reading, choices
from ringbolt.progress.title_words import PlanWords, Said, likeness
from ringbolt.signals.reports.acts import Clause
from ringbolt.signals.reports.clauses import read_clauses

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "src" / "ringbolt" / "progress" / "report_weights.py"
SETS = ("", "_fresh", "_trades", "_more", "_last", "_final", "_indirect", "_november")
FOLDS = 5
LEAST = 40  # plans in which a feature of `DECIDES` must occur
PENALTY, ROUNDS, RATE = 1.0, 1500, 0.05
HEADER = '''"""Weights for matching reports to steps, written by `bench/report_training.py`: do not edit."""

from __future__ import annotations

'''

# What a report of another plan counts for. Few reports of the sets are about something that is not in their
# plan; these stand for those that agents send as well.
ALIEN = 0.06
# What a report counts for that is read as if the one before it had moved nothing.
LATE = 0.1
LATE_DECISION = 0.3
# How the plan stands before a message: how many steps it is behind, and whether the work has moved on from
# them.
STATES = ((0, False), (1, False), (3, False), (1, True), (2, True))
# A choice: the features of each option, the number of the right one, the plan, and what it counts for.
Case = tuple[list[dict[str, float]], int, str, float]


def cases(plan: Plan, late: int = 0, leans: bool = False) -> tuple[list[Case], list[Case]]:
    """The choices of a plan for the two models. `late` steps that ended last count as open; `leans`: the work
    has moved on from them all the same."""
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
        at = at if leans else min(missed, default=at)
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


Weights = dict[str, dict[str, float]]
# Whether a message finishes a step: the features, the answer, and what it counts for.
Decision = tuple[dict[str, float], bool, float, str]


def decisions(plan: Plan, late: int, leans: bool = False) -> list[Decision]:
    """The decisions of a plan, read with the weights that are in use; `late` and `leans` as for `cases`."""
    words = PlanWords(plan.steps)
    numbers = {step + 1: step for step in range(len(plan.steps))}
    over = [False] * len(plan.steps)
    ended: list[int] = []
    found: list[Decision] = []
    for place, report in enumerate(plan.reports):
        current = wanted_current(plan, place)
        state = list(over)
        missed = [step for step in ended if state[step]][-late:] if late else []
        for step in missed:
            state[step] = False
        at = None if current is None else current - 1
        at = at if leans else min(missed, default=at)
        reading = Reading(words, numbers, state, at)
        for clause in read_clauses(report.text, words.titles, words.language):
            reading.take(clause)
        if missed or not late:
            done = {step - 1 for word, step in report.effects if word == "done"}
            count = LATE_DECISION if late else 1.0
            found += [(one, step in done, count, plan.name) for step, one in reading.candidates()]
        for word, step in report.effects:
            over[step - 1] = STATUSES.get(word, "open") != "open"
            if over[step - 1]:
                ended.append(step - 1)
    return found


def fit_decisions(rows: list[Decision]) -> dict[str, float]:
    """The weights of a logistic regression, by Newton's method."""
    plans: dict[str, set[str]] = {}
    for features, _, _, plan in rows:
        for name in features:
            plans.setdefault(name, set()).add(plan)
    names = sorted(name for name, where in plans.items() if len(where) >= LEAST)
    table = numpy.array([[row[0].get(name, 0.0) for name in names] for row in rows])
    right = numpy.array([float(row[1]) for row in rows])
    counts = numpy.array([row[2] for row in rows])
    weights = numpy.zeros(len(names))
    for _ in range(12):
        chances = 1.0 / (1.0 + numpy.exp(-(table @ weights)))
        slope = table.T @ (counts * (chances - right)) + PENALTY * weights
        bend = (table.T * (counts * chances * (1.0 - chances))) @ table + PENALTY * numpy.eye(len(names))
        weights -= numpy.linalg.solve(bend, slope)
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def use(weights: Weights) -> None:
    """Read with these weights from now on."""
    for name, one in weights.items():
        setattr(report_matching, name, one)


def clause_weights(plans: list[Plan]) -> Weights:
    both = [*(cases(plan, *state) for state in STATES for plan in plans), alien(plans)]
    return {
        "FINISHES": fit([case for finishes, _ in both for case in finishes]),
        "ABOUT": fit([case for _, about in both for case in about]),
    }


def check(folds: list[list[Plan]], weights: list[Weights], rows: list[list[Decision]]) -> None:
    """Tell each fifth of the plans to a store with the weights of the others, at several thresholds."""
    others = [
        fit_decisions([row for n, some in enumerate(rows) if n != fold for row in some])
        for fold in range(FOLDS)
    ]
    for sure in (0.6, 0.7, 0.8):
        report_matching.SURE = report_matching.SURER = sure
        for half in ("indirect", "november", ""):
            whole = Count()
            for fold, plans in enumerate(folds):
                use({**weights[fold], "DECIDES": others[fold]})
                chosen = [plan for plan in plans if half in ("", plan.half)]
                count = measure(chosen, False)["all"]
                for name in whole.__dataclass_fields__:
                    setattr(whole, name, getattr(whole, name) + getattr(count, name))
            print(f"{sure:.2f} {half or 'all':10}", *(f"{cell:>8}" for cell in whole.row()))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    plans = [plan for name in SETS for plan in read_plans(HERE / "labels" / f"reports{name}.txt")]
    folds = [plans[fold::FOLDS] for fold in range(FOLDS)]
    weights: list[Weights] = []
    rows: list[list[Decision]] = []
    for fold, left_out in enumerate(folds):
        weights.append(clause_weights([plan for n, some in enumerate(folds) if n != fold for plan in some]))
        use(weights[-1])
        rows.append([row for state in STATES for plan in left_out for row in decisions(plan, *state)])
    if args.check:
        check(folds, weights, rows)
        return 0
    fitted = {**clause_weights(plans), "DECIDES": fit_decisions([row for some in rows for row in some])}
    text = HEADER
    for name, one in fitted.items():
        lines = "".join(
            f'    "{key}": {value},\n'
            for key, value in sorted(one.items(), key=lambda pair: -pair[1])
            if value
        )
        text += f"{name}: dict[str, float] = {{\n{lines}}}\n"
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
