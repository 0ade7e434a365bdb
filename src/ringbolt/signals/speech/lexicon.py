"""The lexicon of functions of speech: which words choose, abandon, fail, require, limit, block, ask, and so
on.

Each class has many members, so that a reader learns the class and not the word. Verbs are listed in their
base form, with `_` between the words of a phrase, and found in every form ("go_with" is also "went with");
markers are found as they are written. Contractions are split first: "won't" is "will not". Nearly all
are English; a few are German, French or Spanish.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

# --- verbs, in any form -----------------------------------------------------------------------------

VERBS: dict[str, str] = {
    # Taking one of several ways.
    "choose": "choose pick opt opt_for opt_to select decide decide_on decide_to settle_on settle_for"
    " elect_to adopt go_with go_for land_on resolve_to commit_to favour favor take_the plump_for single_out"
    " switch_to switch_over_to move_to change_to convert_to fall_back_to fall_back_on end_up_with stick_with"
    " stick_to stay_with stay_on go_ahead_with agree_on agree_to book",
    "keep": "keep leave retain preserve stay maintain reuse hold_on_to leave_alone leave_as carry_on_with"
    " stand_by",
    "prefer": "prefer would_rather like_better",
    # Deciding that something is left out or put off.
    "exclude": "drop skip omit exclude avoid defer postpone leave_out ignore rule_out refrain_from delay"
    " decide_against opt_against forget bypass disable defer_to",
    "use": "use employ apply rely_on base_on pin treat store put wrap route inline poll model merge split",
    # Giving something up after it was tried.
    "abandon": "abandon give_up give_up_on revert roll_back undo back_out discard scrap withdraw ditch"
    " take_out throw_away throw_out start_over move_on_from reverse pull_out go_back_to put_back restore",
    "fail": "fail break crash stutter deadlock hang time_out hurt worsen bounce choke conflict diverge"
    " fall_through fall_apart backfire panic stall fight_with get_worse run_out",
    "try": "try try_out attempt experiment_with have_a_go test_out play_with look_for ask",
    "help": "help work work_out solve fix improve matter make_a_difference show_anything bring_anything",
    "cause": "cause come_from stem_from result_from originate_from trigger lead_to explain happen_because"
    " come_down_to boil_down_to trace_back_to",
    "find": "find discover notice realise realize see learn figure_out identify pin_down locate turn_out"
    " spot reveal show uncover confirm",
    "require": "need require demand insist expect ensure guarantee want",
    "forbid": "forbid prohibit ban disallow prevent",
    "block": "block stall hold_up wait_for wait_on await depend_on wait owe expire deny reject lock_out"
    " stand_by_for",
    "grant": "grant approve confirm sign renew provide unlock authorise authorize permit transfer reply",
    # Work that changes something, work that only looks, and going on to something.
    "work": "implement add update write create fix replace rename refactor wire remove port migrate build"
    " rewrite modify extend install configure deploy move extract convert delete generate prepare design"
    " register store handle draft adjust resolve clean set_up set change edit apply commit push stage"
    " release publish tag merge rebase bump document tidy correct rotate correct enter send book translate"
    " complete introduce support pass render insert hook_up integrate address drop hide make increase"
    " decrease raise lower wrap append unstage dispatch spawn restructure reorganise reorganize compile"
    " calibrate measure",
    "look": "look look_at look_into look_for check read see verify run inspect examine investigate search"
    " find explore review understand test analyse analyze trace debug open list view try study rerun re-run"
    " monitor watch compare confirm validate make_sure double-check grep",
    "proceed": "start begin continue proceed move_on move_on_to turn_to go_on carry_on get_to kick_off",
    "finish": "finish complete finalise finalize conclude succeed pass accomplish achieve wrap_up ship land"
    " verify work",
    "set": "set listen_on run_on default_to sit_at live_in start_in cap limit fix_at open_at call name tag",
    "ask": "clarify wonder",
    "say": "say state claim note mention recommend suggest document explain tell quote write announce",
    "think": "think believe guess assume suppose suspect feel imagine doubt",
}  # fmt: skip

_IRREGULAR: dict[str, tuple[str, str]] = {  # past, participle
    "choose": ("chose", "chosen"), "go": ("went", "gone"), "stick": ("stuck", "stuck"),
    "keep": ("kept", "kept"), "leave": ("left", "left"), "hold": ("held", "held"),
    "give": ("gave", "given"), "undo": ("undid", "undone"), "take": ("took", "taken"),
    "throw": ("threw", "thrown"), "break": ("broke", "broken"), "fall": ("fell", "fallen"),
    "hurt": ("hurt", "hurt"), "come": ("came", "come"), "find": ("found", "found"), "see": ("saw", "seen"),
    "get": ("got", "got"), "run": ("ran", "run"), "read": ("read", "read"), "write": ("wrote", "written"),
    "build": ("built", "built"), "rewrite": ("rewrote", "rewritten"), "send": ("sent", "sent"),
    "set": ("set", "set"), "put": ("put", "put"), "make": ("made", "made"), "have": ("had", "had"),
    "bring": ("brought", "brought"), "show": ("showed", "shown"), "begin": ("began", "begun"),
    "say": ("said", "said"), "tell": ("told", "told"), "think": ("thought", "thought"),
    "feel": ("felt", "felt"), "understand": ("understood", "understood"), "stand": ("stood", "stood"),
    "lead": ("led", "led"), "fight": ("fought", "fought"), "forget": ("forgot", "forgotten"),
    "sit": ("sat", "sat"), "cut": ("cut", "cut"), "forbid": ("forbade", "forbidden"),
    "split": ("split", "split"), "like": ("liked", "liked"), "would": ("would", "would"),
    "hang": ("hung", "hung"), "end": ("ended", "ended"), "learn": ("learnt", "learned"),
    "rerun": ("reran", "rerun"), "hide": ("hid", "hidden"), "agree": ("agreed", "agreed"),
    "start": ("started", "started"), "open": ("opened", "opened"),
}  # fmt: skip
_DOUBLED = frozenset(
    "opt stop drop skip omit ship pin plan run set put get cut commit prefer tag hit wrap defer ban grep"
    " split refer chat begin".split()
)

# --- markers, as they are written -------------------------------------------------------------------

MARKERS: dict[str, str] = {
    "decides": "decision|the decision is|final decision|design choice|the choice fell on|choice|conclusion"
    "|the plan is|my pick|it is .|wins|wins here|wins out|won out|is the winner|that is final|is final|final"
    "|agreed|we agreed|for good|from now on|so that is what|that is what i|then .|done that way|on balance"
    "|in the end|after weighing|all things considered|for now|it stays|stays|are not going to"
    "|is not going to|am not going to|going with|sticking with|sticking to|the approach|approach is"
    "|the fix is|the fix should|the fix belongs|the right thing|deferred|as-is|as is|can stay|can remain"
    "|should just be|should stay|leave it|leave those"
    "|wir nehmen|ich nehme|wir bleiben|wir bleiben bei|entschieden|entscheidung|verwende ich|ich verwende",
    "instead": "instead of|rather than|in favour of|in favor of|as opposed to|over|in place of|instead"
    "|statt|anstatt|lieber",
    "better": "better|best|simpler|simplest|cleaner|cleanest|safer|safest|cheaper|easier|enough|preferable"
    "|sensible|reasonable|makes sense|more idiomatic|right",
    "way": "a different approach|another approach|different approach|another way|other way|the other one"
    "|the other|the first|the second|the third|option a|option b|option c|option 1|option 2|option 3|version"
    "|approach|plan b",
    "because": "because|because of|since|as it|as the|as they|as this|as we|as it is|due to|so that|given"
    "|given that|otherwise|in order to|to avoid|to keep|to prevent|to save|so nothing|for its"
    "|thanks to|owing to|on account of|weil|denn|porque|parce que",
    "so": "so i|so we|so the|so this|so it|therefore|hence|thus|consequently|as a result|which means|so",
    "only": "only|just|solely|nothing but|nothing else|exclusively|merely",
    "no effect": "no effect|no difference|no luck|no improvement|no avail|in vain|brought nothing"
    "|without success|made it worse|made no difference|just made it|no speed-up|nothing changed|did not help"
    "|does not help|did not work|does not work|will not work|would not work|did not fix|does not fix"
    "|does not solve|did not solve|did not work out|not help|no use|no good|got worse|still fails"
    "|still failing|same error|either .|had no effect|made things worse|did not change anything"
    "|did not prevent|did not show|gave no|brought no|to no avail"
    "|nichts gebracht|nicht geholfen|funktioniert nicht|gescheitert|verworfen|schlagen fehl",
    "dead end": "dead end|dead-end|waste of time|leads nowhere|led nowhere|not an option|no option|no-go"
    "|no go|is out|are out|ruled out|hopeless|useless|unusable|unworkable|not viable|not feasible|infeasible"
    "|not pursuing|this way is closed|a non-starter|impractical|too slow|too risky|too expensive"
    "|fell through|it is gone|for nothing|off the table|does not scale|not worth|is not possible"
    "|not be possible|not possible|is impossible|impossible|no way to|there is no way|took it out|moved on"
    "|not supported|unsupported|neither can|approach does not|approach failed|reverted|rolled back|undone"
    "|back to the previous|went back to",
    "cannot": "can not|cannot|could not|unable to|not able to|unable|are not able|is not able|can no longer",
    "reveals": "root cause|the cause is|the cause was|real cause|actual cause|culprit|the reason is"
    "|the problem is|the issue is|the issue was|the problem was|the bug is|the bug was|real problem"
    "|real issue|actual issue|is a bug|actual problem|underlying problem|underlying issue|turns out"
    "|turned out|as it turned out|it turns out|real bug|that explains|which explains|key insight|key finding"
    "|what actually happened|what happened|is caused by|was caused by|caused by|reason for|reason :"
    "|comes from|came from|stems from|is due to|was due to|are due to|now i see|happens because"
    "|this is because|that is because|this is why|that is why|the error is|identified",
    # Words that name a cause and hardly anything else.
    "names cause": "root cause|the cause|real cause|actual cause|culprit|turns out|turned out|it turns out"
    "|underlying problem|underlying issue|is caused by|was caused by|caused by|reason is|that explains"
    "|happens because|this is because|die ursache|liegt daran",
    "cause": "the cause|the reason|reason|found it|i see|aha|found the|the bug|a bug|the issue|the problem"
    "|happens|is that|this means|which means|the failure|the error|mismatch|the crash|limitation|after all"
    "|issue|problem|explains|why",
    "surprise": "surprisingly|unexpectedly|interesting|interestingly|strangely|oddly|apparently|actually"
    "|in fact|strange|weird|already|never|unrelated|pre-existing|existing issue",
    "defect": "missing|wrong|incorrect|broken|stale|duplicate|duplicated|duplicates|typo|empty|null"
    "|undefined|invalid|mislabelled|ambiguous|corrupt|unused|redundant|off|exhausted|expired|twice"
    "|incomplete|inconsistent|misleading|overflows|leaks|lost|overwrite|overwrites|fails|failed|failing"
    "|failure|failures|error|errors|bug|bugs|crashes|not include|not included|not set|not selected"
    "|not called|not being|not populated|not match|not matched",
    "must": "must|has to|have to|needs to|need to|shall|should|ought to|required|mandatory|necessary"
    "|is supposed to|are supposed to",
    "must not": "must not|may not|shall not|should not|do not|never|not allowed|no more than|forbidden"
    "|is not to|are not to|not be used|under no circumstances|no new|avoid"
    "|darf nicht|darf sich nicht|nicht anfassen|nichts löschen|nichts ändern|bitte nichts|nichts in",
    "must only": "only after|only if|only when|only once|only use|may only|can only|must only|at most"
    "|at least|no more than|not before|not until|before i|before anything|before the|once the|until the"
    "|without my|without a|without the|only allowed|count only|only be",
    "always": "always|every|all|nothing|nobody|everywhere|ever|anywhere|any|each|no|nothing gets|make sure"
    "|be sure|in all cases|at all times",
    "quantity": "limit|maximum|max|minimum|min|timeout|default|defaults|by default|threshold|port|size|rate"
    "|budget|deadline|retention|seed|width|height|depth|count|number|quota|capacity|interval|frequency|speed"
    "|delay|ttl|retries|replicas|memory|buffer|page size|batch size|learning rate|warmup|temperature|voltage"
    "|price|percent|word limit|font size|exchange rate|vat rate|cut-off|per minute|per second|per user"
    "|per day",
    "named": "host|hostname|address|url|endpoint|id|identifier|version|tag|branch|bucket|region|cluster"
    "|namespace|ticket|colour|color|label|bundle id|folder|directory|path|file name|filename"
    "|reference number|room|account|env var|variable|database|table|queue|topic|model|image|user|group|key"
    "|name|layout|vlan|exit code|room number|is called|is named|starts in|lives in|primary colour",
    "unit": "seconds|second|s|sec|ms|minutes|min|minute|hours|hour|days|day|weeks|months|kb|mb|gb|kib|mib|hz"
    "|khz|mhz|v|mv|ma|percent|rows|columns|words|pages|requests|connections|retries|times|steps|samples"
    "|sessions|px|pt|euros|dollars|%|characters|bytes|items|lines|people|participants|guests",
    "blocked": "blocked|blocked by|blocked on|blocking|stuck|on hold|held up|stalled|waiting for|waiting on"
    "|still waiting|can not go on|can not go further|can not continue|can not proceed|can not finish"
    "|can not complete|can not move forward|cannot continue|cannot proceed|cannot go on|cannot finish"
    "|can not test|unable to proceed|unable to continue|has to wait|have to wait|must wait|need you to"
    "|i need the|we need the|i need an|we need an|need your|need access|no access|access denied|is denied"
    "|permission|permissions|not authorised|not authorized|as long as|standing by|still owes|no reply"
    "|pending approval|needs approval|has not arrived|is offline|is down|is closed|only ops|only it can"
    "|only they can|an admin|nobody has|missing|credentials|before i can|until someone|until you|until the"
    "|until then|until|your answer|your response|nothing can be|cannot be|can not be|no runs possible"
    "|i have no|i do not have"
    "|ich warte|warte noch|warte auf|blockiert|ohne zugang|geht es nicht weiter",
    # What one waits for without being blocked.
    "machine": "to finish|to complete|to come up|to run|the build|the tests|the test suite|the suite|ci"
    "|the output|the pipeline|the server to|the process|the command|still running|in progress|the agents"
    "|the subagent|the worker|user input|the page|the route",
    "question": "should i|shall i|do you|would you|could you|can you|may i|which|what should|who is|how many"
    "|how should|where should|is it ok|is it okay|is it fine|want me to|let me know|your preference"
    "|your call|thoughts|which approach|what is your|are you|would it be|is there"
    "|soll ich|welche",
    "first": "first|firstly|first of all|to begin with|step 1|step one",
    "next": "next|next up|next step|next steps|my next step|then|after that|afterwards|afterward|now|later"
    "|remaining|what remains|still to do|left to do|left to|to do|up next|on to|follow-up|comes"
    "|needs an entry|finally|lastly|moving to|moving on|time to|als nächstes|jetzt baue",
    "will": "i will|we will|i am going to|we are going to|i will now|let me|let us|i am now|let me now"
    "|i need to|we need to|i should|need to",
    "progressive": "i am|we are|i am also|i am now|we are now",
    "done": "done|all done|finished|complete|completed|ready|in place|passes|passed|passing|all pass"
    "|all tests pass|tests pass|clean|lint clean|green|all green|all clean|works|working|succeeded"
    "|successful|successfully|fixed|implemented|added|updated|removed|created|committed|committed as|pushed"
    "|merged|resolved|verified|deployed|no errors|no issues|no changes|end to end|has been|have been|is now"
    "|are now|now uses|now include|now includes|went out|is gone|are gone|0 fail|match|matches"
    "|fertig|laufen durch|grün",
    "reject": "no|nope|nah|wrong|not what|not that|not like|not right|not correct|incorrect|that is not"
    "|stop|i said|i told you|never asked|misunderstood|put it back|bring it back|go back"
    "|change it back|back to|as before|undo|revert|revert that|cancel|again|redo|too formal"
    "|too long|too much|i do not want|do not do|do not want|leave alone|liked the old|was fine"
    "|why did you|you forgot|you missed|remove this again|i thought|i meant|meant|instead|nein"
    "|rückgängig|das ist falsch",
    "agree": "ok|okay|yes|yeah|yep|fine|sure|sounds good|great|good|perfect|thanks|thank you|nice|agreed"
    "|looks good|exactly|absolutely|right|cool",
    "hedge": "might|may|maybe|perhaps|possibly|probably|could|would|likely|seems|seem|appears|not sure"
    "|unclear|open|still open|i wonder|wonder|assume|guess|suppose|potentially|presumably|it depends"
    "|depends on|considering|consider|should be possible|undecided|not decided|have not decided|not yet"
    "|can decide|decide later",
    "if": "if|unless|whether|in case|assuming|provided|suppose|what if|were to|would have",
    "or": "option|options|alternative|alternatives|alternatively|either|or|possibilities|possibility|ways"
    "|ways to|candidates|choices|versus|vs|one could|could also|you could|we could|users may|can choose"
    "|there are|there is|here are|offers",
    "others": "the docs|documentation|according to|the paper|the author|the vendor|the library|the team|they"
    "|he|she|the article|the readme|the wiki|the note|the manager|the court|the ministry|the maintainer"
    "|the text|the rules|the runbook|the provider|the designer|the user|users|students|the company|companies"
    "|people|the form",
    "past": "previously|originally|formerly|earlier|last year|last week|used to|in the past|back then"
    "|at the time|historically|years ago|ago",
    "but": "but|however|though|although|yet|still|nevertheless|except|unfortunately|sadly|alas",
    "not": "not|no|never|none|neither|nor|nothing|without|nobody",
    "i": "i|we|my|our",
    "you": "you|your",
    "it": "it|this|that|these|those",
}  # fmt: skip

# --- nouns by which headings and labels announce what stands under them ------------------------------

HEADINGS: dict[str, str] = {
    "decision": "decision decisions choice choices decided chosen resolved rationale",
    "next": "next remaining todo todos upcoming outstanding follow-up follow-ups followups left steps tasks"
    " plan",
    "blocker": "blocker blockers blocked blocking impediments concerns",
    "cause": "cause causes finding findings discovery discoveries insight insights analysis problem context"
    " issue issues background why",
    "constraint": "constraint constraints requirement requirements rules must limitations guardrails"
    " restrictions",
    "done": "done completed accomplished accomplishments summary changes changed implemented fixed results"
    " added verification tests",
    "question": "question questions clarifications unclear open",
    "dead_end": "rejected abandoned excluded failed attempts tried alternatives discarded",
    "value": "values settings parameters configuration config defaults limits variables environment",
    "option": "option options alternatives proposal suggested considered pros cons trade-offs tradeoffs"
    " approaches",
}

CONTRACTIONS: dict[str, tuple[str, ...]] = {
    "'ll": ("will",), "'m": ("am",), "'re": ("are",), "'ve": ("have",), "'d": ("would",), "n't": ("not",),
    "'s": ("is",),
}  # fmt: skip
_WHOLE: dict[str, tuple[str, ...]] = {
    "won't": ("will", "not"), "can't": ("can", "not"), "shan't": ("shall", "not"), "let's": ("let", "us"),
    "cannot": ("can", "not"), "gonna": ("going", "to"), "dont": ("do", "not"), "lets": ("let", "us"),
    "doesnt": ("does", "not"), "didnt": ("did", "not"), "cant": ("can", "not"), "wont": ("will", "not"),
}  # fmt: skip


def words_of(token: str) -> tuple[str, ...]:
    """The words of a lower-case token: "we'll" is "we will"."""
    if token in _WHOLE:
        return _WHOLE[token]
    if "'" in token:
        for end, words in CONTRACTIONS.items():
            if token.endswith(end) and len(token) > len(end):
                return (token[: -len(end)], *words)
    return (token,)


def forms(verb: str) -> Iterator[tuple[str, str]]:
    """Each form of a verb with its tense: base, s, past or ing."""
    yield verb, "base"
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        yield f"{verb}es", "s"
    elif verb.endswith("y") and verb[-2] not in "aeou":
        yield f"{verb[:-1]}ies", "s"
    else:
        yield f"{verb}s", "s"
    stem = f"{verb}{verb[-1]}" if verb in _DOUBLED else verb
    if verb.endswith("e") and not verb.endswith(("ee", "oe")):
        yield f"{verb[:-1]}ing", "ing"
    else:
        yield f"{stem}ing", "ing"
    if verb in _IRREGULAR:
        for past in set(_IRREGULAR[verb]):
            yield past, "past"
    elif verb.endswith("e"):
        yield f"{verb}d", "past"
    elif verb.endswith("y") and verb[-2] not in "aeou":
        yield f"{verb[:-1]}ied", "past"
    else:
        yield f"{stem}ed", "past"


Phrase = tuple[tuple[str, ...], str, str]  # the words after the first, the class, the tense or ""


@cache
def index() -> dict[str, tuple[Phrase, ...]]:
    """Every phrase of the lexicon by its first word."""
    found: dict[str, list[Phrase]] = {}
    for name, verbs in VERBS.items():
        for verb in dict.fromkeys(verbs.split()):
            first, *rest = verb.split("_")
            for form, tense in forms(first):
                found.setdefault(form, []).append((tuple(rest), name, tense))
    for name, phrases in MARKERS.items():
        for phrase in dict.fromkeys(phrases.split("|")):
            first, *rest = phrase.split(" ")
            found.setdefault(first, []).append((tuple(rest), f"~{name}", ""))
    return {word: tuple(dict.fromkeys(phrases)) for word, phrases in found.items()}


@cache
def headings() -> dict[str, tuple[str, ...]]:
    """The classes of headings by their nouns."""
    found: dict[str, list[str]] = {}
    for name, nouns in HEADINGS.items():
        for noun in nouns.split():
            found.setdefault(noun, []).append(name)
    return {noun: tuple(names) for noun, names in found.items()}
