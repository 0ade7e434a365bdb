"""Parse questions about a task without a model: the subject, the topic, and the time.

A question is normalised (case, contractions, common typos), and the first rule whose patterns all match gives
its subject. Its topic is the rest, without common question words. Only part of a long question is read, and
no pattern nests repeats, so that any text takes well under a millisecond.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from ..packet.encode import one_line

CHARACTERS = 300  # of a question that are read


class Intent(Value, frozen=True, kw_only=True):
    """The subject of a question (`about`), its topic, and limits on the answer.

    `step` is the number of a step, `most` how many results are wanted, `when` the time or event at which the
    answer begins: `#42`, `2026-03-01`, `14:30`, `2 hours`, `yesterday`, `compaction`, `commit`, `request`.
    """

    about: str
    topic: str = ""
    step: int | None = None
    most: int | None = None
    when: str | None = None


def understand(question: str) -> Intent:
    """Parse a question; its subject is `anything` if no rule fits."""
    asked = _relevant_part(question)
    plain = _spell_checked(asked.lower())
    topic = _topic(asked)
    step = int(named[1]) if (named := _STEP.search(plain)) else None
    when = _when(plain)
    has_topic = bool(topic) or step is not None
    for about, patterns in _rules():
        fits_topic = has_topic if about in _WITH_TOPIC else not (has_topic and about.endswith("-"))
        if fits_topic and all((pattern.search(plain) is not None) == wanted for wanted, pattern in patterns):
            break
    else:
        about = "anything" if has_topic else "where"
    about = about.rstrip("-")
    if about == "decisions" and topic and re.search(r"\bwhy\b|\breason|\brationale", plain):
        about = "why"
    return Intent(about=about, topic=topic, step=step, most=_most(plain), when=when)


# --- the words of a question ------------------------------------------------------------------------

_CONTRACTIONS = (
    (lazy_regex(r"(?i)\b(what|where|who|when|how|why|it|that|there|here|he|she)'?s\b"), r"\1 is"),
    (lazy_regex(r"(?i)\b(i|we|you|they)'ve\b"), r"\1 have"),
    (lazy_regex(r"(?i)\b(we|you|they|what|which)'?re\b(?<!were)"), r"\1 are"),
    (lazy_regex(r"(?i)\bi'?m\b"), "i am"),
    (
        lazy_regex(r"(?i)\b(did|do|does|have|has|had|was|were|is|are|should|could|would|must)n'?t\b"),
        r"\1 not",
    ),
    (lazy_regex(r"(?i)\b(?:can't|cant|cannot)\b"), "can not"),
    (lazy_regex(r"(?i)\b(?:won't|wont)\b"), "will not"),
    (lazy_regex(r"(?i)\bto-?dos?\b"), "todo"),
    (lazy_regex(r"(?i)\b(?:plz|pls|please|kindly|btw|hey|hi|hello|ok|okay|um)\b,?"), " "),
)
# Common typos, by the intended word.
_MEANT = """
what: wat waht whta hwat wht | which: wich whcih wihch whihc | the: teh hte th | that: taht thta
and: adn nad | of: fo | is: si sis ist | are: aer r | were: wre | did: dod ddi idd | how: hwo ohw hw
where: wehre whre | why: wy hwy | next: nxt nex enxt | current: curent currnet crrent curr
done: dne doen doone | finished: finshed finsihed fnished
completed: complted completd competed comleted copmleted | decision: desicion decison descision
decisions: desicions decisons descisions | blocked: blcoked bloked | blockers: blokers
remaining: reamining remainig | step: stpe setp stp | steps: stpes setps | failed: faild falied
error: eror errro | errors: erros erors | files: fiels flies filse | commits: comits commmits
committed: commited | original: orginal origial orignal | request: requets reqeust requst
rejected: rejcted | status: statsu stauts staus | value: valeu vlaue vale | variables: varibles variabels
recently: recenlty recntly | already: alredy allready aleady | yesterday: yeserday yesteday
changed: chnaged chaged | modified: modifed | happened: happend hapened | since: sicne | wait: wiat
waiting: waitng | you: u | do not: dont | did not: didnt | has not: hasnt | have not: havent
is not: isnt | are not: arent | does not: doesnt | was not: wasnt | should not: shouldnt | i have: ive
we have: weve
"""
_SLIPS = {
    slip: meant
    for meant, _, slips in (part.strip().partition(": ") for part in re.split(r"[|\n]", _MEANT.strip()))
    for slip in slips.split()
}
_WORD = lazy_regex(r"[\w#][\w#./:@+-]*")


def _relevant_part(question: str) -> str:
    """The part of a question to read: the last question in a long text, otherwise its start."""
    text = one_line(question[:20_000]).replace("\u2019", "'")
    if len(text) <= CHARACTERS:
        return _expanded(text)
    end = text.rfind("?")
    if end < 0:
        return _expanded(text[:CHARACTERS])
    begin = max(text.rfind(mark, max(0, end - CHARACTERS), end) for mark in (". ", "! ", "? ", ": ", "; "))
    return _expanded(text[max(begin + 2 if begin >= 0 else 0, end - CHARACTERS) : end + 1])


def _expanded(text: str) -> str:
    for pattern, instead in _CONTRACTIONS:
        text = pattern.sub(instead, text)
    return text


def _spell_checked(text: str) -> str:
    words: list[str] = [word.rstrip(".:-/") for word in _WORD.findall(text)]
    return " ".join(_SLIPS.get(word, word) for word in words)


# Common words of questions about tasks; the remaining words are the topic.
_FRAME = frozenset(
    """
    anyone anybody somebody someone a an the of to in on at for and or is are was were be been being am
    do does did done doing has have had having what when where who whom whose which why how with by from
    as it its this that these those s t i you he she they we us his her their our your my mine me him
    them can could would should will shall may might must about into than then there here not no nor any
    anything some something all everything nothing every each other else so far yet still just now
    currently current right moment already ever again once too also only really actually exactly please
    tell show give list name remind say said let know quick quickly brief briefly summary overview thing
    things stuff work works working worked task tasks step steps item items todo project job plan
    planned plans user users agent last latest recent recently lately newest previous previously earlier
    before after since until first original originally initial initially start started starting begin
    beginning began end ended most more next remaining left open pending outstanding completed complete
    completing finished finish finishing need needs needed needing value values variable variables set
    called decision decisions decide decided deciding choose chose chosen choosing pick picked picking
    choice choices select selected use used using go going went gone over instead rather reason reasons
    reasoning rationale behind cause caused made make making take took taken taking long time times fail
    failed fails failing failure failures error errors try tried trying attempt attempted attempts
    reject rejected rejects request requested requests ask asked asking asks want wanted wants happen
    happened happening file files change changed changes changing modify modified edit edited edits
    commit commits block blocked blocking blocker blockers blocks stuck wait waiting waits question
    questions answer status state phase stage progress get got getting come came one two three four five
    six seven eight nine ten couple few many much number yesterday today ago hour hours minute minutes
    day days week weeks if whether because but up out off down yes via per under while during find found
    see seen look looking think thought mean means meant
    """.split()
)


def _topic(asked: str) -> str:
    """The topic of a question: its words as written, without common question words."""
    kept: list[str] = []
    words: list[str] = _WORD.findall(asked)
    for word in words:
        plain = word.strip(".:-/#@+")
        low = plain.lower()
        if not plain or low in _FRAME or _SLIPS.get(low, low).split()[0] in _FRAME:
            continue
        if low.isdigit() and kept == [] and len(low) < 4:
            continue  # as in `step 3`, `last 5`
        if not word.startswith("#"):
            kept.append(plain)
    return " ".join(kept)


_STEP = lazy_regex(r"\b(?:step|item|task|todo)s? (?:number |no |nr )?#?(\d{1,4})\b")
_COUNTED = "one|two couple|three few|four|five|six|seven|eight|nine|ten"
_COUNTS = {word: number for number, words in enumerate(_COUNTED.split("|"), 1) for word in words.split()}
_SOME = lazy_regex(
    r"\b(?:last|latest|recent|newest|past|top) (?:(\d{1,3})|(" + "|".join(_COUNTS) + r"))\b"
    r"|\b(?:(\d{1,3})|(" + "|".join(_COUNTS) + r")) (?:last|latest|most recent|newest)\b"
)
_LAST_ONE = lazy_regex(
    r"\b(?:last|latest|newest|most recent) (?:decision|commit|error|failure|question|instruction|request)\b"
)


def _most(plain: str) -> int | None:
    if found := _SOME.search(plain):
        digits, word = found[1] or found[3], found[2] or found[4]
        return max(1, int(digits)) if digits else _COUNTS[word]
    return 1 if _LAST_ONE.search(plain) else None


_AGO = lazy_regex(
    r"\b(?:(\d{1,4})|(an?|one|" + "|".join(_COUNTS) + r"|half an)) (minute|min|hour|hr|h|day|week)s?\b"
    r"|\b(?:last|past) (?:(\d{1,4})|(" + "|".join(_COUNTS) + r") )? ?(minute|min|hour|hr|h|day|week)s?\b"
)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DATE = lazy_regex(r"\b\d{4}-\d\d-\d\d(?:[t ]\d\d:\d\d(?::\d\d)?z?)?\b")
_CLOCK = lazy_regex(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b")
_EVENT = lazy_regex(r"#(\d{1,12})\b")
_ANCHORS = (
    ("compaction", lazy_regex(r"\bcompact\w*\b|\bcontext (?:was |got )?(?:lost|reset|cut|cleared)")),
    ("commit", lazy_regex(r"\b(?:since|after) (?:the |my |our )?(?:last |latest )?commit\b")),
    ("request", lazy_regex(
        r"\b(?:since|after) (?:the |my )?(?:user|last (?:message|request|instruction|prompt))\b"
    )),
    ("yesterday", lazy_regex(r"\byesterday\b|\blast night\b")),
    ("today", lazy_regex(r"\btoday\b|\bthis morning\b")),
    ("start", lazy_regex(r"\bsince (?:the (?:start|beginning)|(?:it|i|we) (?:began|started))")),
)  # fmt: skip


def _when(plain: str) -> str | None:
    """The time or event that a question names."""
    if found := _EVENT.search(plain):
        return f"#{found[1]}"
    if found := _DATE.search(plain):
        return found[0]
    for name, pattern in _ANCHORS:
        if pattern.search(plain):
            return name
    if found := _AGO.search(plain):
        count, word = found[1] or found[4], found[2] or found[5]
        unit = (found[3] or found[6])[0]
        amount = float(count) if count else 0.5 if word == "half an" else float(_COUNTS.get(word or "", 1))
        return f"{amount:g} {_UNITS[unit]}"
    return found[0] if (found := _CLOCK.search(plain)) else None


# --- subjects ---------------------------------------------------------------------------------------

_CHANGING = r"(?:chang|modif|edit|touch|creat|writ|wrote|delet|remov|add|updat|alter)\w*"
_ASKING = r"(?:ask|want|request|say|said|tell|told|instruct|demand|prompt)\w*"
_POLAR = r"^(?:and |but |then )?(?:did|have|has|had|was|were|is|are|am|do|does)\b"
_ANY = r"\b(?:any|anything|something|everything|all|some)\b"
_OVER = (
    r"\b(?:done|complet\w+|finish\w*|accomplish\w*|achiev\w*|implemented|delivered|ticked off|checked off)\b"
)
_NOT_OVER = (
    r"\b(?:not|never) (?:yet |been |fully |quite |i |we |you ){0,3}"
    r"(?:done|complete\w*|finish\w*|implemented|start\w*|begun)\b"
    r"|\b(?:unfinished|incomplete|undone|unstarted|outstanding|remain\w*|pending|left|open|missing|todo)\b"
    r"|\b(?:to be done|yet to|still to|to do still|have to do|has to be|must be done)\b"
    r"|\b(?:need\w* to be done|still need\w*|what else)\b"
)
_WITH_TOPIC = ("did", "value", "why")  # these need a topic
# The first line whose patterns all match (`!`: must not match) gives the subject. `-`: only without a topic.
_TABLE = f"""
last_request  ! \\b(?:error|commit) message && \\b(?:most recent|latest|last|newest|recent)\\b[^?]{{0,30}}\\b(?:request|instruction|prompt|user message|{_ASKING})\\b
last_request  \\b{_ASKING}\\b[^?]{{0,40}}\\b(?:most recently|recently|lately|last|just now|latest|right now)\\b
request       \\b(?:original|initial|first|opening|verbatim|very first)\\w*\\b[^?]{{0,30}}\\b(?:request|task|message|instruction|question|brief|order|goal|{_ASKING})\\b
request       \\b{_ASKING}\\b[^?]{{0,40}}\\b(?:at the (?:very )?(?:start|beginning)|at first|originally|initially|in the beginning|first|to begin with)\\b
request       \\bwhat (?:was|were|am|are|is) (?:i|we|you) (?:asked|told|supposed|meant|hired) (?:to|for)\\b && ! \\bnow\\b
request       \\bwhat (?:is|was) (?:the|my|our) (?:request|task|assignment|ask|prompt|brief|job|mission)(?: again)?$|\\bwhy am i (?:doing this|here)$
request       \\bwhat (?:exactly |precisely )?(?:did|does|do) (?:the |my )?(?:user|human|customer|client|owner|boss|they|he|she) (?:actually |really )?{_ASKING}(?: for| of (?:me|us))?(?: to do| me to do| us to do| from (?:me|us))?$
rejected      \\breject\\w*|\\bdeclin\\w*|\\brefus\\w*|\\bdenied\\b|\\bdisapprov\\w*|\\bturned? (?:\\w+ )?down\\b|\\bveto\\w*|\\bsa(?:y|ys|id) no\\b|\\bobject\\w* to\\b
rejected      \\b(?:user|they|he|she)\\b[^?]{{0,20}}\\b(?:not (?:want|like|allow|accept|approve)|dislike\\w*|forbid\\w*|forbade|forbidden)
rejected      \\bnot (?:the )?user (?:want|like|allow|accept|approve)
rejected      \\bnot (?:allowed|permitted|approved)\\b|\\bforbidden\\b
instructions  \\b(?:instructions?|constraints?|requirements?|ground rules|rules|preferences|guidelines|wishes)\\b
instructions  \\b(?:user|they)\\b[^?]{{0,20}}\\b{_ASKING}\\b && ! {_POLAR} && ! \\bwhy\\b
did           {_POLAR} && \\b(?:already|before|try|tried|attempted)\\b && ! {_ANY} && ! \\bwhat\\b
why           \\bwhy\\b && ! \\b(?:fail|block|stuck|wait|error|broke|crash)\\w*
why           \\breasons?\\b|\\bmade (?:us|me|you|them)\\b|\\bhow come\\b|\\bmotivation\\b
decisions     \\bdecisions?\\b|\\bdecid\\w*|\\bchoices?\\b|\\bcho(?:se|sen|ose|osing)\\b|\\bpicked\\b|\\bagreed?\\b|\\btrade ?-?offs?\\b|\\brationale\\b|\\breason(?:s|ing)? (?:for|behind)\\b|\\bsettle[d]? on\\b
effects       \\bside.?effects?\\b|\\bunknown outcomes?\\b|\\boutcomes?\\b[^?]{{0,30}}\\b(?:unknown|unclear|unsure|not (?:known|recorded))|\\b(?:is|are|remains?|still|anything|something|left) (?:\\w+ )?unknown\\b|\\bneeds? (?:to be )?(?:verif\\w+|check\\w+)\\b|\\bmust (?:i|we) (?:verify|check)\\b|\\bmust be (?:verified|checked)\\b|\\b(?:might|may) have (?:happened|run|gone|been)\\b|\\bhalf.?done\\b|\\bin flight\\b|\\bmust not (?:be )?(?:repeat|run|do)\\w*
commits       \\bcommit\\w*\\b && ! \\bneed\\w* && ! \\b(?:since|after) && ! \\bfail && ! \\b(?:hash|sha|id)\\b
since         \\bsince\\b && ! {_POLAR}
since         \\b(?:what|anything|everything|which|summari[sz]e|list|show)\\b[^?]{{0,40}}\\b(?:after #\\d|yesterday|today|last night|this morning|ago\\b|(?:last|past) (?:\\w+ )?(?:minute|hour|day|week)s?\\b)
since         \\bwhat (?:has |have |all )?(?:happened|changed|is new|did i miss)\\b && ! \\bfiles?\\b
duration      \\bhow long\\b && ! \\bago\\b
duration      \\bhow (?:much time|many (?:minutes|hours|seconds|days))\\b|\\bduration\\b|\\btime (?:spent|taken|needed)\\b|\\b(?:took|longest|slowest)\\b
when          ^(?:and )?when\\b|\\b(?:at )?what time\\b|\\bhow long ago\\b|\\bwhich day\\b
needs         \\b(?:need\\w*|relevant|matter\\w*|important|require\\w*|in use|use\\w*|useful)\\b && \\b(?:variables|files|names|identifiers|versions|tickets|values|ids|details|facts|paths)\\b && ! {_POLAR}
needs         \\b(?:what|which|list|show|all|the|my|any)\\b[^?]{{0,20}}\\b(?:variables|values|identifiers|key details|key facts)\\b
failed        \\bfail\\w*|\\berrors?\\b|\\bwent wrong\\b|\\bgo(?:es|ne|ing)? wrong\\b|\\bbroke\\w*\\b|\\bcrash\\w*|\\bdead ends?\\b|\\bruled out\\b|\\bexclu\\w+\\b|\\bmistakes?\\b|\\bpitfalls?\\b
failed        \\b(?:problems?|issues?)\\b[^?]{{0,20}}\\b(?:hit|had|met|meet|encounter\\w*|r[au]n into)\\b
failed        \\bnot (?:to )?(?:try|repeat|retry|do again|attempt|use again|work|worked|working)\\b|\\bshould (?:i|we) (?:not|avoid)\\b|\\bavoid\\b|\\bwhat not\\b|\\bshould not (?:i|we) (?:do|try|use|repeat)\\b|\\bbeen tried\\b|\\btried\\b|\\battempt\\w*\\b
who           ^(?:and )?who\\b|\\bwhose\\b|\\bassignee\\b|\\b(?:some|any)(?:one|body) (?:else )?work|\\bwho (?:is|works|has|holds|owns|claimed)\\b|\\bclaim(?:s|ed)?\\b
questions     \\b(?:open|unanswered|outstanding|pending|unresolved|unclear|remaining|any|which|what) (?:\\w+ )?questions?\\b|\\bquestions?\\b[^?]{{0,20}}\\b(?:open|unanswered|left|remain\\w*|outstanding|pending)\\b|\\bunclear\\b|\\bclarif\\w+\\b|\\b(?:ask|clear up) (?:with )?the user\\b|\\bunknowns\\b
waiting       \\bwait\\w*\\b|\\bawait\\w*\\b
blocking      \\bblock\\w*\\b|\\bstuck\\b|\\bhold(?:s|ing)? (?:\\w+ ){{0,2}}(?:up|back)\\b|\\bin (?:the|my|our) way\\b|\\bprevent\\w*|\\bimpediments?\\b|\\bobstacles?\\b|\\bhinder\\w*|\\bstall\\w*|\\bkeep(?:s|ing) (?:us|me|it) from\\b|\\bstopp(?:ing|ed) (?:us|me|it|the)\\b
blocking      \\b(?:problems?|issues?|concerns?)\\b && ! \\b(?:solv|fix|resolv)\\w*
reported      \\b(?:unverified|unproven|unconfirmed)\\b|\\bnot (?:yet |been |really ){{0,2}}(?:verified|proven|confirmed)\\b|\\b(?:only|merely|just) reported\\b|\\breported (?:only|done)\\b
verified      \\bverified\\b|\\bproven\\b|\\bevidence\\b|\\bconfirmed\\b
files         \\b(?:files?|modules?|scripts?|paths?)\\b[^?]{{0,40}}\\b{_CHANGING} && ! {_POLAR}
files         {_POLAR} && {_ANY} && \\bfiles?\\b
files         \\b{_CHANGING}\\b[^?]{{0,40}}\\bfiles?\\b && ! {_POLAR}
files         \\bwhat (?:all )?(?:did|have|has) (?:i|we|you|been|the agent) (?:been )?(?:edit|modif|touch|chang)\\w*(?: so far)?$|\\b(?:workspace|code) changes\\b|\\bwhich files\\b|\\bwhat files\\b|\\blist (?:of )?(?:the |all )?files\\b
did           {_POLAR} && ! {_ANY} && ! {_NOT_OVER} && ! \\bnext\\b && ! \\bwhat\\b && ! \\bwe done$ && ! \\bwe at\\b
result        \\bfinal (?:answer|result|outcome)\\b|\\bhow did (?:it|this|the task) (?:end|go|turn out)\\b|\\bconclusion\\b|\\bwhat (?:is|was) the (?:outcome|result)\\b|\\bend result\\b
next          \\bnext\\b|\\bnow what\\b|\\bwhat now\\b|\\bwhat then\\b|\\bafterwards\\b|\\bafter (?:this|that|the current)\\b|\\bupcoming\\b
where         \\bwhere (?:was|am|were|are) (?:i|we|things)\\b|\\bwhere (?:did|do) (?:i|we|things|it) (?:leave|stop|get|stand|end)\\b|\\bwhere (?:does )?(?:it|the work|this|the task|the project)\\b[^?]{{0,10}}\\b(?:stand|is)\\b|\\bleft off\\b|\\bcatch (?:me|us) up\\b|\\b(?:get|bring|fill) (?:me|us) (?:up|in)\\b|\\bbrief me\\b|\\brecap\\b|\\bremind me$|\\bpick(?:ing)? up\\b|\\bwhat (?:is|was) going on\\b|\\bwhat is happening\\b|\\bsituation\\b|\\bwhat was (?:i|we) (?:doing|up to)\\b|\\bresume\\b|\\bcompacted\\b|\\b(?:lost|losing) (?:my|the|all) context\\b|\\bshould (?:i|we) know\\b
summary       \\bsummar\\w+\\b|\\boverview\\b|\\btl ?dr\\b|\\bso far\\b && ! {_OVER}
phase         \\bphases?\\b|\\bmilestones?\\b|\\b(?:which|what) stage\\b
status        \\bstatus\\b|\\bstate of\\b|\\b(?:the|current|task) state$|\\bhow (?:is|are) (?:it|things|we|the \\w+) (?:going|doing|coming)\\b|\\bare we done\\b
goal          \\bgoals?\\b|\\bobjectives?\\b|\\bpurpose\\b|\\bwhat (?:is|are) (?:this|the) (?:task|project|work)(?: all)? about\\b|\\btrying to (?:achieve|do|build|reach)\\b|\\bacceptance\\b|\\bdefinition of done\\b|\\bsuccess criteria\\b|\\bwhat (?:are we|am i) (?:building|making)\\b
completed     \\bhow (?:far|much|many)\\b && ! {_NOT_OVER}
open          {_NOT_OVER}
completed     {_OVER}
completed     \\b(?:got|gotten) (?:\\w+ )?(?:done|so far)\\b|\\bwhat (?:did|have) (?:i|we|you) (?:do|done|managed|get done)(?: so far| until now| up to now)?$|(?<!in )\\bprogress\\b
plan          \\bplans?\\b|\\b(?:list|show|all|which|what are the) (?:me |of )?(?:the |all )?(?:steps|items)\\b
current-      \\bcurrent\\w*\\b
current       \\bcurrent\\w* (?:\\w+ )?(?:step|item|task|work|todo|job)\\b|\\bright now\\b|\\bat the moment\\b|\\bin progress\\b|\\bunder ?way\\b|\\bworking on\\b|\\bactive\\b|\\bongoing\\b|\\b(?:which|what) step\\b|\\bam i doing\\b|\\bare we doing\\b|\\bin the middle of\\b|\\bwas i doing\\b|\\bbusy with\\b
next          \\bwhat (?:should|do|must|shall|can|to|am|are) ?(?:i|we|you)? ?(?:supposed to |have to |need to )?(?:do|tackle|start|work|begin)\\b|\\b(?:go on|proceed|continue|carry on)\\b|\\bdo now\\b
last          \\b(?:last|latest|most recent) (?:thing|action|command|message|event|activity|change|update|step|tool call)\\b|\\b(?:did|do|done|doing|ran|run) last\\b|\\bjust (?:do|did|done|run|ran|finish)\\b
notes         \\blearn\\w*\\b|\\bdiscover\\w*\\b|\\bfound out\\b|\\bfindings?\\b|\\bfind out\\b|\\bnotes?\\b|\\binsights?\\b|\\bartifacts?\\b
questions     \\bquestions?\\b
value         \\bvalue of\\b|\\bset to\\b|\\bequal\\w*\\b|^(?:and )?(?:what|which|whats) \\b && ! \\b(?:happen|did)\\w*
"""  # noqa: E501


@cache
def _rules() -> list[tuple[str, list[tuple[bool, re.Pattern[str]]]]]:
    """The table as (about, [(must match, pattern)])."""
    rules: list[tuple[str, list[tuple[bool, re.Pattern[str]]]]] = []
    for line in _TABLE.strip().splitlines():
        about, rest = line.split(None, 1)
        parts = [part.strip() for part in rest.split(" && ")]
        rules.append(
            (about, [(not part.startswith("! "), lazy_regex(part.removeprefix("! "))) for part in parts])
        )
    return rules
