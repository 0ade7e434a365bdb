"""The phrases by which a user's prompt turns to something else, or goes on with what is under way.

Also how an agent replies to either, and by which actions it rounds off a piece of work.
Each list exists once, here, like the phrases of agents in `phrases`. All are English.
"""

from __future__ import annotations

import re

from ..model.lazy_regex import lazy_regex

# --- something else ---------------------------------------------------------------------------------

# The user says so: what follows is another matter.
CHANGES_TOPIC = lazy_regex(
    r"\bunrelated\b|\bseparately\b|\bcompletely different\b|\bsomething (?:else|different|new)\b"
    r"|\b(?:different|new|another|other) (?:question|topic|task|request|thing|issue|problem|bug|matter"
    r"|idea)\b|\b(?:on another note|switch(?:ing)? gears|by the way|btw|next (?:task|problem|issue|topic"
    r"|thing|one|up))\b|\bone (?:more|other|last) (?:issue|problem|bug|question)\b|\b(?:move"
    r"|moving) (?:on )?to\b(?! (?:the )?(?:next|step|task|item|phase|part|point|#?\d))|\bforget (?:that|it"
    r"|about)\b|\bnever ?mind\b|\bnow a question\b|\b(?:noticed|realized|realised|came across|stumbled)\b",
    re.I,
)
# The same beyond doubt, as the opening of a prompt.
DECLARES_REQUEST = lazy_regex(
    r"\W*(?:(?:ok(?:ay)?|alright|great|perfect|good|thanks|cool|now|and|also|so)\b[\s,.!]*){0,3}(?:(?:for "
    r"|to )?something (?:completely|totally|entirely|quite|very) (?:different|else|new)\b|(?:an? |the "
    r"|your |my )?(?:new|another|different|other|separate) (?:task|topic|request|question|job"
    r"|project)\b\s*(?:[:.,–—-]|for you|first)|(?:completely |totally )?unrelated(?:ly)?\b|next (?:task"
    r"|topic|job)\s*[:–—]|separately\s*[,:]|on (?:another|a different) (?:note|topic)\b"
    r"|switch(?:ing)? (?:gears|topics?)\b|change of (?:topic|plan)s?\b|forget (?:that|it|about (?:that|it"
    r"|this))\b|let['’]s (?:move on to|switch to|turn to)\b(?! (?:the )?(?:next|step|task|item|phase|part"
    r"|point|#?\d)))",
    re.I,
)
OPENS_QUESTION = lazy_regex(r"\W*(?:q|question|different question|quick question)\b\s*[:,]?", re.I)
# Somebody hands over work that was planned elsewhere.
HANDS_OVER_PLAN = lazy_regex(
    r"\W*(?:please )?(?:implement|execute|carry out|follow|work through) (?:the|this) (?:following "
    r"|attached )?plan\b",
    re.I,
)

# --- the same ---------------------------------------------------------------------------------------

# Leave to go on, as a clause of its own: whatever else such a prompt says, it belongs to the work that is on.
RESUMES = lazy_regex(
    r"(?:^|[.!?;,:\n–—-])\s*(?:(?:ok(?:ay)?|alright|please|now|so|just|and|then|you (?:can|may)|let['’]s"
    r"|go ahead and)\b[\s,]*){0,3}"
    r"(?:carry on|keep (?:going|at it|on)|go on|resume|pick (?:it |this )?up (?:again|where)|continue"
    r"|proceed)\b(?=\s*(?:[.!?;,:\n–—-]|$|(?:where|please|as|now|then)\b|from (?:where|there)\b"
    r"|with (?:it|this|that|the (?:rest|work|plan|task))\b))",
    re.I,
)
# Leave, or the number of an offer, as the opening. Nothing new was ever asked for in this way, unless a later
# sentence begins with "now" or "next".
CONSENTS = lazy_regex(
    r"\W*(?:(?:yes|yep|yeah|yup|ye|y|sure)\b|\d+[.):]\s|(?:(?:ok(?:ay)?|great|perfect|good|awesome|(?:looks"
    r"|sounds) good)[\s,.!]*)?(?:please )?(?:go ahead|do (?:it|that)|implement (?:it|that))\b)"
    r"(?!(?s:.*)[.!\n]\s*(?:now|next)\b)",
    re.I,
)
# The trouble of before is there again, as the opening.
PERSISTS = lazy_regex(
    r"\W*(?:(?:ok(?:ay)?|hm+|but|nope?)[\s,.]+)?(?:(?:it|it['’]s|i|i['’]m|we|we['’]re|that|that['’]s|is|am|are"
    r"|unfortunately|getting|seeing)\s+){0,3}(?:still(?! have\b)|same|again|another (?:error|failure)"
    r"|new error|not working|doesn['’]t work|didn['’]t (?:work|help))\b",
    re.I,
)
# An answer, or leave to go on.
OPENS_ANSWER = lazy_regex(
    r"\W*(?:yes|yep|yeah|yup|ye|no|nope|nah|sure|right|correct|agreed|exactly|fine|lgtm|go ahead|do it"
    r"|go for|please do|sounds good|looks good|both|neither|all (?:of|three|four|five)|the (?:first|second"
    r"|third|last)|option|\d+\b|[a-d]\b[.,)]?(?= |$)|i (?:prefer|agree|think|would|like|don['’]t|do|mean"
    r"|meant)|i['’]d|let['’]s do|let['’]s go|let['’]s keep|fix (?:it|them)|do (?:that|the|all|both)|skip"
    r"|keep|leave|continue|proceed|go on)\b",
    re.I,
)
# Leave to do what was refused before.
ALLOWS = lazy_regex(
    r"\W*(?:(?:ok(?:ay)?|yes|yeah|yep|now|alright|sure|fine|please|sorry|actually)\b\W*){0,4}"
    r"(?:you (?:may|can)\b(?! not)|go ahead\b|do (?:it|that|so)\b"
    r"|(?:it|that)['’]?s (?:fine|ok(?:ay)?|allowed)\b"
    r"|(?:i )?(?:allow|approve|permit)(?:ed)?\b|(?:re)?try (?:it |that )?again\b|retry\b|$)",
    re.I,
)
OPENS_FOLLOW_UP = lazy_regex(
    r"\W*(?:and|but|so|or|then|hmm+|hm|mmm|ehh?|umm?|erm|oh|ah|also|still|wait|actually|instead|rather|not"
    r"|maybe|perhaps|except|however|yet|again|because|since|why|how about|what about|what if|one more thing"
    r"|same|would(?:n['’]t)?|should(?:n['’]t)?|did(?:n['’]t)?|does(?:n['’]t)?|is(?:n['’]t)?|are(?:n['’]t)?"
    r"|was(?:n['’]t)?|are we|do we|did we|have we|has)\b",
    re.I,
)
# Words that only mean something after what was said before.
REFERS_BACK = lazy_regex(
    r"\b(?:(?<!tell me )(?<!help me )again|too|as well|still|the changes? (?:you|we)|feedback|instead|also"
    r"|anymore|back|earlier|above|previous|remaining|rest|same|just did|(?:you|we|I)(?:['’]ve)? (?:just|did"
    r"|made|changed|added|said|mentioned|proposed|created|wrote|meant|have now)|your (?:change|changes|fix"
    r"|review|plan|suggestion|proposal|observations|commit|reply|response|option))\b",
    re.I,
)
POINTS = lazy_regex(r"\b(?:it|its|it['’]s|this|that|that['’]s|these|those|them|they|there|one|ones)\b", re.I)
OPENS_WITH_KNOWN = lazy_regex(r"\W*(?:the|that|this|it|these|those|they|there)\b", re.I)

ASKS_FOR_TESTS = lazy_regex(r"\b(?:add|write|have|need|create|extend|update)\b[^.?\n]{0,40}\btests?\b", re.I)

# --- form -------------------------------------------------------------------------------------------

ASKS_FOR_WORK = lazy_regex(
    r"\W*(?:(?:ok(?:ay)?|so|hey|hi|hello|alright|now|next|please|also|and|then)\b[\s,.!]*)*(?:(?:can|could"
    r"|would|will) you|please|help|let['’]s|we (?:should|need|want|must)|i (?:want|need)|i['’]d like|add"
    r"|build|change|check|clean|convert|create|debug|delete|design|document|draft|explain|find|fix|generate"
    r"|implement|improve|install|integrate|investigate|look|make|migrate|move|optimi[sz]e|port|publish|pull"
    r"|read|refactor|release|remove|replace|research|review|rewrite|run|set ?up|show|spawn|split"
    r"|summari[sz]e|support|switch|test|try|update|upgrade|use|write|ask|brainstorm|analy[sz]e|compare|list"
    r"|tell)\b",
    re.I,
)
WISHES = lazy_regex(
    r"\W*(?:(?:ok(?:ay)?|now|great|perfect|hi|hey)[\s,.!]*)*i(?:['’]d like| would like| want| need)\b", re.I
)
ASKS_WHETHER = lazy_regex(
    r"\W*(?:(?:ok(?:ay)?|now|great|perfect|hi|hey)[\s,.!]*)*(?:can|could) (?:you|we|i)\b", re.I
)
# The user has tried the result.
REPORTS_TRY = lazy_regex(
    r"\b(?:i(?:['’]m| am| have|['’]ve)?|we(?:['’]re)?) (?:just |now |also |still )*(?:tried|ran|run|get|got"
    r"|getting|see|seeing|saw|tested|testing|try)\b|\bwhen (?:i|trying|testing|running)\b"
    r"|\bgetting (?:this|an?|the)\b",
    re.I,
)
FEEDBACK = lazy_regex(
    r"\b(?:feedback|comments?|review(?:er|ed)?|coderabbit|findings?|bugbot|copilot)\b", re.I
)
# The prompt sets a scene of its own before it asks for anything.
INTRODUCES = lazy_regex(
    r"\W*(?:right now|currently|at the moment|today|in \S+ (?:we|there|is|are)|looking at"
    r"|i (?:just )?(?:tried|got|noticed|saw|see|found|ran|think (?:we have|there))|i['’](?:ve|m) (?:noticed"
    r"|seen|found|run|working|trying)|we (?:have|got|are|currently|need)|there(?: is| are|['’]s)|while"
    r"|when i|can you (?:tell|help|do) me|can you look|can you check:|the \S+ (?:function|method|command"
    r"|page|test|script|class|file))\b",
    re.I,
)
SLASH_COMMAND = lazy_regex(r"(?:^|\s)/[a-z][\w:-]+(?=\s|$)", re.I)
# An issue, a run, a page: what work can be about without saying so in words.
LINK = lazy_regex(r"https?://[^\s)>\"']{6,200}|\b[A-Z]{2,10}-\d{1,6}\b|(?<![\w/])#\d{1,6}\b")
# A line of a log, a test run, a stack trace, a diff, a shell or a terminal drawing.
PASTED_LINE = lazy_regex(
    r"\s*(?:[+-] {2,}\S|[+-]\t|@@|diff --|=== |--- |\s*at \S+ ?\(|File \"|Traceback|\S+@\S+[:$]"
    r"|[❯➜$%>⏺⎿│╭╰✓✗|] ?|\[\w[\w:.-]*\]\s|\d{4}-\d\d-\d\d[T ]|\w{3} +\d+ \d\d:\d\d|(?:ok|FAIL|PASS|ERROR"
    r"|WARN|INFO|DEBUG)\b|\{\"|[\w./-]+:\d+:\d*:?\s)"
)
DESCRIBES_TROUBLE = lazy_regex(
    r"\b(?:bug|error|errors|fails?|failing|failed|broken|crash\w*|wrong|doesn['’]t work|not working|issue"
    r"|problem|warning|conflicts?|hangs?|slow|missing|weird|strange)\b",
    re.I,
)

# --- the agent --------------------------------------------------------------------------------------

# A reply that announces work, and one that takes up what the user has just said.
PROMISES = lazy_regex(r"\W*I(?:['’]ll| will)\b", re.I)
TAKES_UP = lazy_regex(
    r"\W*(?:(?:good|great|excellent|fair) (?:point|catch|idea|question|call)|you['’]re (?:absolutely )?right"
    r"|right|ah|yes|no|correct|done|got it|makes sense|agreed|exactly|understood)\b",
    re.I,
)
# A reply that sets out on something, and one that has found the cause of a trouble.
SETS_OUT = lazy_regex(
    r"\W*(?:i['’]ll\b|i will\b|sure\b|let me (?:start|explore|first|look|search|find)\b)", re.I
)
SEES_CAUSE = lazy_regex(
    r"\W*(?:i (?:can )?see\b|the (?:issue|error|problem)\b|looking at\b|you['’]re right|ah\b|good\b|perfect\b"
    r"|great\b|yes\b|let me (?:check|fix)\b)",
    re.I,
)
# Actions, as "Tool: description or command".
COMMITS = lazy_regex(
    r"\bgit (?:-\S+ \S+ )?(?:commit|push|merge)\b|\bgh (?:pr|issue|release) (?:create|merge|close)\b"
    r"|\w+: (?:(?:stage|add|amend|create|make|open)\b[^:]{0,30}\b)?(?:commit|push|merge|pr|pull request)\b",
    re.I,
)
EDITS = lazy_regex(r"(?:Edit|Write|MultiEdit|NotebookEdit|apply_patch)\b")

# Stems that say little about which work is meant, since any prompt to a coding agent may have them.
EVERYDAY_STEMS = frozenset(
    "test commit fil chang check cod work look see get go want need like think know mak tak try show tell"
    " giv start stop keep put thing way one two first last next right also still just only mor som other"
    " sam good bett better issu problem bug fix error fail pas lint build push pull merg branch pr review"
    " comment line command cas point part whol whole mayb help question messag prompt result output log doc"
    " updat add remov creat implement us run writ read mov renam ok okay yes pleas can could would should"
    " don doesn didn isn ve ll re now again back ther wher wonder actual really current instead befor aft"
    " after when whil becaus bit lot list name nam valu function method variabl typ class repo project"
    " feature option plan".split()
)
