"""Words of plans: verbs that a step begins with, and words of a heading that say what a list under it is."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.lazy_regex import lazy_regex
from .words import stem

# Verbs that name work to be done; a step of a plan mostly begins with one. Nouns of the same form are rare at
# the start of a line.
_VERBS = (
    "adapt add adjust align allow analyze announce append apply archive arrange ask assemble assert assess"
    " assign attach audit automate backfill backup bake benchmark bind bisect block book bring build bump"
    " cache calculate call capture carry change check choose clean clear clone close collapse collect"
    " combine commit compare compile complete compose compute condense configure confirm connect"
    " consolidate contact convert copy correct cover create cut debug declare decide decouple deduplicate"
    " default define delegate delete deliver deploy deprecate derive describe design detect determine"
    " develop diagnose disable dispatch display document download draft drop dry dump edit email embed emit"
    " enable encrypt enforce ensure evaluate examine execute expand explore export expose extend extract"
    " fetch file fill filter finalize find finish fix flag flip flush format forward freeze gate gather"
    " generate get give grant group guard handle harden hide hook host identify implement import improve"
    " include increase index ingest inject inline insert inspect install integrate introduce investigate"
    " invite invoke isolate join keep label land launch lay lift limit link lint list load localize locate"
    " lock log look lower maintain make map mark measure merge migrate mirror mock modify monitor mount"
    " move name negotiate normalize notify obtain offer open optimize order organize outline override pack"
    " paint parallelize parse pass patch persist pick pin place plan plug point polish populate port post"
    " prepare present preserve prevent print prioritize probe produce profile promote propagate propose"
    " prove provide provision prune publish pull purge push put quantify query queue raise read rebase"
    " rebuild recalculate record recover redesign redirect reduce refactor refine refresh register"
    " regenerate reject relax release reload remediate remove rename render reorder reorganize replace"
    " replay report repro reproduce request require rerun research reset resolve respond restart restore"
    " restrict restructure retire retry return reuse revert review revise rework rewrite roll rotate route"
    " run sand sanitize save scaffold scan schedule scope score scrape screen script search secure seed"
    " select send separate serialize serve set settle setup shift ship show shrink simplify sketch skip"
    " smoke snapshot sort source specify split squash stabilize stage standardize start stop store stream"
    " strip stub study submit summarize supply support surface survey swap switch sync synthesize tag take"
    " teach tear test throttle tidy tighten toggle trace track train transform translate trigger trim"
    " triage try tune turn type unify uninstall unpack update upgrade upload use validate verify version"
    " view visit walk warn watch weigh widen wire wrap write"
)
VERBS = frozenset(_VERBS.split())
VERB_STEMS = frozenset(map(stem, VERBS))


def is_verb(word: str) -> bool:
    """Whether a word is a verb of a plan as a step begins with it: "add", "adding", not "tests"."""
    low = word.lower()
    return low in VERBS or (low.endswith("ing") and stem(low) in VERB_STEMS)


# The verb of a stem; of several the shortest. Where a form tells more ("filing", "filling"), it counts first.
_BASE = {stem(verb): verb for verb in sorted(VERBS, key=lambda verb: (-len(verb), verb))}


def _regular_forms(verb: str) -> Iterator[str]:
    root = verb.removesuffix("e")
    yield from (f"{root}ing", f"{root}ed")
    if verb[-1] not in "aeiouwxy" and verb[-2] in "aeiou" and verb[-3:-2] not in "aeiou":
        yield from (f"{verb}{verb[-1]}ing", f"{verb}{verb[-1]}ed")
    if verb[-1] == "y":
        yield f"{verb[:-1]}ied"


_BASE_OF_FORM = {form: verb for verb in sorted(VERBS, reverse=True) for form in _regular_forms(verb)}

_PAST = {
    "wrote": "write", "made": "make", "built": "build", "ran": "run", "found": "find", "took": "take",
    "sent": "send", "brought": "bring", "drew": "draw", "chose": "choose", "began": "begin",
    "rewrote": "rewrite", "rebuilt": "rebuild", "split": "split", "set": "set", "cut": "cut", "put": "put",
    "laid": "lay", "bought": "buy", "taught": "teach", "wound": "wind", "hid": "hide", "reran": "rerun",
}  # fmt: skip


def imperative(title: str) -> str:
    """A title that begins with an "-ing" or "-ed" as an order: "Running the tests" is "Run the tests"."""
    first, space, rest = title.partition(" ")
    low = first.lower()
    if low in VERBS or not (low.endswith(("ing", "ed")) or low in _PAST):
        return title
    verb = _PAST.get(low) or _BASE_OF_FORM.get(low) or _BASE.get(stem(low))
    return f"{verb.capitalize()}{space}{rest}" if verb else title


def is_past(word: str) -> bool:
    """Whether a word is the past of a verb of plans: "added", "wrote"."""
    low = word.lower()
    return low in _PAST or (low.endswith("ed") and stem(low) in _BASE)


# Verbs that announce talk or a look around, which is not a step of its own.
TALK_STEMS = frozenset(
    stem(verb)
    for verb in (
        "know think explain summarize see be note say tell ask wait clarify answer start begin continue"
        " proceed go keep work do help take give get try first also now just step focus mention share recap"
        " describe walk think reconsider reply respond stop pause use"
    ).split()
)

# What is left of a title without these says nothing by itself: "Fix that", "Make the changes".
GENERIC_STEMS = frozenset(
    stem(word)
    for word in (
        "the a an it this that these those them both all changes change issue issues problem fix one ones"
        " now everything something things thing work code file files same way here there way remaining rest"
        " other pieces items item next simpler necessary needed each of in to for and with on by from its"
        " now"
    ).split()
)

# Words of a heading, a lead or a title, by what they say of the list below.
PLAN_CUES = frozenset(
    stem(word)
    for word in (
        "plan steps step tasks task todo todos implementation implement phases phase stages approach order"
        " roadmap milestones checklist remaining work changes modifications actions next sequence proposal"
        " proposed fix fixes fixing refactor migration workstreams deliverables agenda schedule breakdown"
    ).split()
)
# A line that calls what follows a plan, in the languages of `signals/reports`: "My plan:", "Vorgehen:".
CALLS_A_PLAN = lazy_regex(
    r"(?i)(?:\b(?:(?:plan|steps|roadmap|phases|stages|tasks|to-?dos?|checklist|vorgehen(?:sweise)?|schritten?"
    r"|ablauf|reihenfolge|aufgaben|arbeitsplan|étapes|démarche|tâches|pasos|tareas|plano|passos|etapas|tarefas"
    r"|piano|passi|passaggi|stappen(?:plan)?|aanpak)(?: is| ist| est| es| è)?)"
    r"|计划|步骤|方案|計画|手順|ステップ)[^\w\n]*[:：][^\w\n]*$"
)
OTHER_CUES = frozenset(
    stem(word)
    for word in (
        "context background problem problems option options alternative alternatives finding findings"
        " result results summary done completed changed made fixed created question questions benefit"
        " benefits pros cons why example examples note notes risk risks scope assumption assumptions"
        " requirements current existing currently root cause causes issue issues bug bugs overview"
        " architecture structure behaviour behavior scenario scenarios reference references limitations"
        " goals goal non-goals considerations decisions decision tradeoffs trade-offs observations key what"
        " how when where rules criteria outputs usage features evidence symptoms expected actual output"
        " feedback review comments rationale analysis insight insights impact edge"
    ).split()
)
