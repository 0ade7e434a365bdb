# ruff: noqa: E501 - tables
"""How likely a whole report finishes a step: its clauses choose the step, the message decides.

A clause that says "finished" and fits a title may still be taken back by what stands beside it ("14 wait for
a manager", "needs 24 hours"), fit another step better, or name a step that is not due yet. The weights are
fitted by `bench/report_training.py` on chances from clause weights that have not seen the plan, so that the
result is a probability that holds for new plans.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from .title_words import PlanWords, Said, likeness, place_of

# Words that tell how far something is, in any language: all of it, part of it, more to come.
_CUES: dict[str, str] = {
    word: cue
    for cue, words in {
        "all": "all every each both everyone everybody everything entire whole none nothing nobody last remaining rest"
        " alle jeder jede jedes beide alles niemand letzte letzten tous toutes tout chaque deux derniers dernier todos"
        " todas todo ambos cada últimos último ultimi ultimo tutti tutte tutto entrambi ogni allemaal beide laatste",
        "but": "but though however although only aber jedoch doch nur mais pourtant pero aunque sólo mas ma però solo maar",
        "still": "still yet left missing noch encore aún todavía ainda ancora nog restent faltan mancano",
        "try": "trying try looking waiting wait checking let's want wants versuche suche warte ik ich je",
        "next": "next then tomorrow later soon morgen später demain mañana amanhã domani straks",
    }.items()
    for word in words.split()
}

# What a clause of the message has, whichever step it is about.
_TRAITS = ("guessed", "goes_on", "deferred", "also", "numbered", "located", "now", "results", "copula")


def decision_features(
    plan: PlanWords,
    said: Sequence[Said],
    step: int,
    current: int | None,
    over: Sequence[bool],
    outcome: str,
    chances: Mapping[int, float],
) -> dict[str, float]:
    """What speaks for and against "this message finishes this step".

    `outcome` is what the clauses do to the step, `chances` how likely a clause finishes each step; `current`
    and `over` are the plan before the message.
    """
    place = place_of(step, current, over)
    chance = chances.get(step, 0.0)
    likes = [likeness(plan, one, step) for one in said]
    covered = max((one.covered for one in likes), default=0.0)
    action = max((one.acts for one in likes), default=0.0)
    found: dict[str, float] = {
        "always": 1.0,
        f"place: {place}": 1.0,
        f"clauses: {outcome}": 1.0,
        "chance": chance,
        "chance, log": max(-4.0, math.log((chance + 0.01) / (1.01 - chance))),
        "chance of another": max((one for other, one in chances.items() if other != step), default=0.0),
        "things": covered,
        "action": action,
        "both": covered * action,
        "clauses, log": math.log1p(len(said)),
        "words, log": math.log1p(sum(len(one.clause.text.split()) for one in said)),
    }
    if outcome == "completed":
        found[f"completed, {place}"] = 1.0
    if not covered and not action:
        found["nothing shared"] = 1.0
    if any(one.other_action for one in likes):
        found["another action"] = 1.0
    # A clause that fits another step says little about this one, but what it begins is likely to come after it.
    elsewhere = {
        number
        for number, one in enumerate(said)
        if not likes[number].shares and _fits_another(plan, one, step)
    }
    acts = [one.clause.act for number, one in enumerate(said) if number not in elsewhere] or ["elsewhere"]
    for number in elsewhere:
        found[f"of another step: {said[number].clause.act}"] = 1.0
    for act in set(acts):
        found[f"a clause: {act}"] = 1.0
    if len(said) > 1:
        found[f"from {acts[0]} to {said[-1].clause.act}"] = 1.0
    found[f"first: {acts[0]}"] = 1.0
    found[f"last: {acts[-1]}"] = 1.0
    for cue in {_CUES[word] for one in said for word in one.clause.text.lower().split() if word in _CUES}:
        found[f"says {cue}"] = 1.0
    shares = "shared" if covered or action else "nothing"
    found[f"{place}, {shares}: {acts[-1]}"] = 1.0
    found[f"{place}, {shares}"] = 1.0
    if True not in over:
        found["nothing done yet"] = 1.0
    for name in _TRAITS:
        if any(getattr(one.clause, name) for one in said):
            found[f"is {name}"] = 1.0
    if plan.asks_for_value(step):
        found["asks for a value"] = 1.0
        if any(one.clause.results for one in said):
            found["gives a value"] = 1.0
    return found


def _fits_another(plan: PlanWords, said: Said, step: int) -> bool:
    return any(other != step for other in plan.sharing(said.every))


def probability(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    """How likely the message finishes the step."""
    score = sum(weights.get(name, 0.0) * value for name, value in features.items())
    return 1.0 / (1.0 + math.exp(-score))
