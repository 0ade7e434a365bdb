"""How a side effect ended, from the output of its call, and the identifiers that it printed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple

from ...model.lazy_regex import lazy_regex
from ..calls.failures import rejection
from ..text_layout import bounded, one_line, without_colours
from .side_effects import SideEffect

Status = Literal["did", "did_not", "unknown"]

MOST_NOTE = 300
_MOST_FOUND = 5
_MOST_OUTPUT = 40_000


class Outcome(NamedTuple):
    """How an effect ended, and what is known about it: identifiers, or the reason."""

    status: Status
    note: str


# --- identifiers ------------------------------------------------------------------------------------

_ANY = ""
# Kinds (empty for all), a pattern, and how a match is shown.
_IDENTIFIERS: tuple[tuple[str, re.Pattern[str], str], ...] = tuple(
    (kinds, lazy_regex(pattern, re.M), shown)
    for kinds, pattern, shown in (
        ("push", r"^ *(?:[+*-] )?([0-9a-f]{7,40}\.{2,3}[0-9a-f]{7,40})\s+(\S+) -> (\S+)", "{2} -> {3} {1}"),
        ("pull_request", r"(?i)(?:pull|merge) request (?:[\w./-]*[#!])(\d+)", "#{1}"),
        ("push", r"^ *[*+-] \[(new branch|new tag|deleted|new reference)\]\s+(?:\S+ +-> )?(\S+)", "{1} {2}"),
        ("push", r"^ *= \[up to date\]|Everything up-to-date", "everything was up to date"),
        (_ANY, r"https?://[\w.-]+/[\w./-]+?/(?:-/)?(pull|merge_requests|issues|pull-requests)/(\d+)", "{0}"),
        (_ANY, r"https?://[\w.-]+/[\w./-]+?/releases/(?:tag/)?[\w.+-]+", "{0}"),
        ("pull_request",
             r"(?i)\b(?:merged|closed|reopened|squashed and merged|approved)\b[^\n]{0,40}#(\d+)", "#{1}"),
        ("publish release", r"^\+ (@?[\w./-]+@\d[\w.+-]*)", "{1}"),
        ("publish release", (r"(?i)\b(?:published|uploaded|uploading|registered gem:"
                            r"|publishing)\s+(@?[\w./-]{2,80})"
         r"[ @]\(?v?(\d[\w.+-]*)"), "{1} {2}"),
        ("publish", (r"(https://(?:pypi\.org/project|www\.npmjs\.com/package|crates\.io/crates"
         r"|rubygems\.org/gems)/\S+)"), "{0}"),
        ("image", r"\b([\w.-]+): digest: (sha256:[0-9a-f]{12})", "{1} {2}"),
        ("image", r"\bsha256:[0-9a-f]{12}", "{0}"),
        ("container", r"^([0-9a-f]{12})[0-9a-f]{52}$", "container {1}"),
        ("container", r"^ *(?:✔ )?Container (\S+)\s+(Started|Created|Running|Removed|Stopped|Healthy)",
             "{1} {2}"),
        ("deploy", (r"^((?:[\w.-]+/)[\w.-]+|\w+ \"[\w.-]+\") (configured|created|unchanged|deleted|scaled"
         r"|restarted|patched|rolled back|image updated)"), "{1} {2}"),
        ("deploy", r"^(STATUS|REVISION): (\S+)", "{1} {2}"),
        ("infrastructure", r"(?:Apply|Destroy) complete! Resources: [^\n]{3,80}", "{0}"),
        ("infrastructure", r"^ *([+~-]) (\d+) (created|updated|deleted)|^Resources:\s*$", "{2} {3}"),
        ("infrastructure", r"^\S+ +: ok=\d+ +changed=\d+[^\n]{0,60}", "{0}"),
        ("migration", r"Running (upgrade|downgrade) (\S* ?-> ?\S+)", "{1} {2}"),
        ("migration", r"Applying ([\w.]+)\.{3} OK", "applied {1}"),
        ("migration", r"^==\s*(\d{8,}) (\w+): migrated", "{1} {2}"),
        ("migration", r"(?i)successfully (?:applied|validated) (\d+) migrations?[^\n]{0,60}", "{0}"),
        ("migration", (r"(?i)\b(?:Batch \d+ (?:run|ran): \d+ migrations|No (?:pending )?migrations? to apply"
         r"|already up to date|goose: (?:successfully migrated|no migrations)[^\n]{0,60})"), "{0}"),
        ("migration", r"^ *(?:OK +|└─ )(\d{8,}\w*)", "{1}"),
        ("database", (r"^(INSERT 0 \d+|UPDATE \d+|DELETE \d+|MERGE \d+|COPY \d+|(?:CREATE|DROP|ALTER"
                     r"|TRUNCATE) [A-Z]+)$"),
         "{1}"),
        ("database", r"Query OK, \d+ rows? affected", "{0}"),
        ("database", (r"\b(?:inserted|modified|deleted|upserted|matched)(?:Count"
                     r"|Id)s?['\"]?: ?['\"]?[\w()\"']{1,40}"),
         "{0}"),
        ("deploy", (r"(?im)^.{0,40}?\b(?:production|preview|website url|unique deploy url|hosting url"
         r"|service url|url|deployed to|live at|visit|endpoint"
         r"|aliased)\b\s*[:=]?\s*(https?://\S+)"), "{1}"),
        ("deploy", r"(?i)\breleased (v\d+)\b|\b(v\d+) (?:deployed|released)", "{0}"),
        ("cloud", r"\barn:aws[\w-]*:[\w:/.-]{8,120}", "{0}"),
        ("cloud", r"(?i)\"(\w*(?:Id|Arn|Name|Url|Status))\"\s*:\s*\"([^\"\n]{2,100})\"", "{1} {2}"),
        ("cloud", r"(?i)\b(?:created|updated|deleted|deployed|service url:?) \[?(https?://[^\s\]]+)", "{1}"),
        ("cloud", r"(?i)revision \[([\w.-]+)\]", "revision {1}"),
        ("upload", r"^upload: \S+ to (s3://\S+)", "{1}"),
        ("upload", r"(?i)total size is [\d.,]+\w*|sent [\d.,]+\w* bytes", "{0}"),
        ("http local_http message", r"^(?:< )?HTTP/[\d.]+ (\d{3})[^\n]{0,30}", "HTTP {1}"),
        (_ANY, r"\"(html_url|permalink|web_url|htmlLink)\"\s*:\s*\"(https?://[^\"]+)\"", "{2}"),
        (_ANY, (r"\"(number|iid|key|identifier|ts|id|_id|messageId|message_id|uuid|sha|tag_name|version"
         r"|status)\"\s*:\s*\"?([\w.:@/-]{1,80})\"?"), "{1} {2}"),
        (_ANY, (r"(?i)\b((?:deploy(?:ment)?|build|release|job|run|request|message|order|transaction"
         r"|revision|version|change ?set|operation|pipeline|invocation|execution|task|refund|charge"
         r"|ticket|batch|queue)[ _-]?(?:id|number|no\.?|#)?)\s*(?:[:=#]"
         r"|\bis\b)\s*[\"']?#?([\w.:/-]*\d[\w.:/-]*)"), "{1} {2}"),
        ("mail message", r"(?i)\b(?:queued as|message[- ]id:?)\s*<?([\w.@-]{4,120})", "{1}"),
    )
)  # fmt: skip


def identifiers(kind: str, output: str) -> list[str]:
    """The names that a call's output gives to what it made: numbers, addresses, versions, digests, counts."""
    text = without_colours(bounded(output, _MOST_OUTPUT, 10_000))
    found: dict[str, None] = {}
    for kinds, pattern, shown in _IDENTIFIERS:
        if kinds and kind not in kinds.split():
            continue
        for match in pattern.finditer(text):
            line = _filled(shown, match)
            if not any(line in other or other in line for other in found):
                found[one_line(line, 120)] = None
            if len(found) >= _MOST_FOUND:
                return list(found)
    return list(found)


def _filled(shown: str, match: re.Match[str]) -> str:
    text = shown.replace("{0}", match[0])
    for number in range(1, (match.re.groups or 0) + 1):
        text = text.replace(f"{{{number}}}", match[number] or "")
    name, arrow, rest = text.partition(" -> ")
    if arrow and rest.startswith(f"{name} "):
        text = rest  # a branch with the same name on both sides
    return text.strip().rstrip(".,;")


# --- how it ended -----------------------------------------------------------------------------------

# The call may have done its work before it broke off.
_BROKE_OFF = lazy_regex(
    r"(?i)\btimed? ?out\b|\btimeout\b|deadline exceeded|connection (?:was )?(?:reset|lost|closed|aborted"
    r"|dropped)|broken pipe|unexpected eof|\beof occurred|remote end (?:hung up|closed)"
    r"|hung up unexpectedly|socket hang up|gateway time-?out|bad gateway|service unavailable"
    r"|(?:HTTP(?:/[\d.]+)?|status|code|error)\W{1,3}50[234]\b|\bkilled\b|signal: killed|sigkill|sigterm"
    r"|sigint|exit (?:code|status):? (?:124|130|137|143)\b|context cancell?ed|interrupted|ECONNRESET"
    r"|ETIMEDOUT|network (?:error|is down)|lost connection|server closed the connection|command was aborted"
    r"|request failed after"
)
# The call did not get as far as doing anything.
_NEVER_BEGAN = lazy_regex(
    r"(?i)command not found|not recognized as|no such file or directory|could not resolve (?:host|hostname)"
    r"|name or service not known|getaddrinfo|ENOTFOUND|connection refused|ECONNREFUSED|no route to host"
    r"|permission denied|access ?denied|unauthori[sz]ed|unauthenticated|not authori[sz]ed|forbidden"
    r"|authentication (?:failed|required)|not logged (?:in|into)|login required|invalid (?:credentials"
    r"|token|api key)|bad credentials|expired ?token|unable to locate credentials"
    r"|could not read (?:username|password)|host key verification|unknown (?:flag|option|command|shorthand)"
    r"|unrecognized (?:arguments|option)|invalid (?:option|argument|choice|input)|usage:|syntax error"
    r"|missing required|required flag|is required|must (?:provide|specify|be)|not a git repository"
    r"|does not appear to be a git|no such (?:remote|service|container|option|command|host|database|table"
    r"|column)|repository not found|does not exist|couldn't find|could not find|not found|failed to parse"
    r"|error parsing|validation (?:failed|error)|already exists|nothing to (?:commit|push|publish|migrate)"
    r"|no changes|! \[(?:remote )?rejected\]|failed to push|non-fast-forward|pre-push hook"
    r"|cannot publish over|EPUBLISHCONFLICT|\bE4\d\d\b|\b4(?:0[0-9]|1[0-9]|2[0-9])\b (?:\w+ )?(?:error|bad"
    r"|forbidden|unauthorized|not found|conflict|unprocessable)|HTTP[/ ](?:[\d.]+ )?4\d\d"
    r"|status(?: code)?:? 4\d\d|cannot connect to the docker daemon|error loading config"
    r"|no configuration files|no module named|modulenotfound|cannot find module|state lock"
    r"|acquiring the state lock|inputvalidationerror|<tool_use_error>|unsupported"
)
# The other side says that it did nothing, or took all of it back; words like "timeout" do not count then.
_DECLINED = lazy_regex(
    r"(?im)cancell?ing (?:the )?statement due to|statement timeout|lock (?:wait )?timeout"
    r"|could not obtain lock|deadlock (?:detected|found)|could not serialize|serialization failure"
    r"|database (?:table )?is locked|current transaction is aborted|violates [\w -]{0,40}constraint"
    r"|constraint failed|duplicate (?:key|entry)|read-only (?:transaction|mode|file ?system|replica)"
    r"|another (?:operation|deployment|deploy|update|job|migration|process|instance"
    r"|run)\b[^\n]{0,60}\b(?:in progress|running|under ?way|holds)|(?:operation|deployment|update"
    r"|migration) (?:is )?already (?:in progress|running)|is locked by|(?:deployments?|deploys?) (?:is"
    r"|are) (?:locked|frozen|paused)|error from server \((?:notfound|forbidden|conflict|alreadyexists"
    r"|invalid|badrequest|unauthorized|methodnotallowed|notacceptable|unsupportedmediatype)\)"
    r"|admission webhook|error validating|the object has been modified|(?:unknown|unrecognized|unexpected"
    r"|invalid) (?:flag|option|command|argument|shorthand|subcommand)|not mergeable|merge conflict"
    r"|protected branch|hook declined|! \[(?:remote )?rejected\]"
    r"|(?:required )?status checks? [^\n]{0,40}(?:expected|failing|pending|failed)|too many requests"
    r"|rate limit|quota exceeded|ENEEDAUTH|must be logged in|no basic auth credentials|(?:denied"
    r"|unauthorized): |\bdenied by\b|apply cancell?ed|can't locate revision|multiple head revisions"
    r"|(?:HTTP(?:/[\d.]+)?|status(?: code)?|error)[ :=]{1,3}4(?:0[0-79]|1\d|2\d)\b|dry.run only"
)
# Everything was taken back.
_ROLLED_BACK = lazy_regex(
    r"(?m)^ROLLBACK;?$|(?i:\b(?:has|have|was|were|been|is|are|successfully|automatically) rolled back\b"
    r"|\b(?:UPDATE_|CREATE_)?ROLLBACK_COMPLETE\b|\btransaction (?:is )?(?:aborted|cancell?ed)\b"
    r"|\b(?:changes|transaction|statements?) rolled back\b)"
)
_ROLLBACK_FAILED = lazy_regex(r"(?i)rollback[_ ]failed|failed to roll ?back|(?:could not|cannot) roll ?back")
_REFUSED = lazy_regex(
    r"(?i)permission to use|requires approval|was blocked|hook (?:denied|blocked)|not allowed|denied by"
    r"|user (?:declined|denied|rejected)"
)
# A command line that ended well may still print that its call failed.
_HIDDEN_FAILURE = lazy_regex(
    r"(?im)^(?:remote: )?(?:error|fatal|npm err!|npm error|err!|❌|x|✘|✖)[: ]|! \[(?:remote )?rejected\]"
    r"|^error\b|^failed\b|\bfailed to (?:push|publish|deploy|create|apply|upload)\b"
    r"|^(?:< )?HTTP/[\d.]+ [45]\d\d|\"(?:error|errors)\"\s*:\s*(?:\"[^\"]|\{|\[\{)|^curl: \(\d+\)"
    r"|^ERROR[: ]|\bHTTP [45]\d\d\b|^psql: error|GraphQL: "
)
_IN_BACKGROUND = lazy_regex(
    r"(?i)^\s*command running in background|running in the background|process running with session id"
    r"|moved to the background|backgrounded"
)
_PROGRESS = lazy_regex(
    r"(?i)\b(?:creation|modifications?|destruction) complete\b|\.{3} ok\b|: migrated|\bcreated$"
    r"|\bconfigured$|changed=[1-9]|\bstarted$|\bcreated \(|^INSERT 0|^(?:UPDATE|DELETE|MERGE|COPY) \d"
    r"|\bapplied\b|^(?:CREATE|ALTER|DROP|TRUNCATE) [A-Z ]{3,30}$|^Query OK",
    re.M,
)


def outcome(
    effect: SideEffect, output: str, *, failed: bool, interrupted: bool = False, alone: bool = True
) -> Outcome:
    """How a side effect ended, by the output of its call.

    `failed` is the host's verdict on the whole call. `interrupted` means that the user broke it off, and
    `alone` that the command line has no other program, so that its exit code is that of the effect.
    """
    text = without_colours(bounded(output, _MOST_OUTPUT, 10_000))
    if failed and rejection(text) is not None:
        return Outcome("did_not", "the user did not allow it")
    found = identifiers(effect.kind, text)
    note = "; ".join(found)
    if interrupted:
        return Outcome("unknown", _note("the call was interrupted", note))
    if failed:
        return _failed(effect, text, note, alone)
    if effect.background or _IN_BACKGROUND.search(text[:300]):
        return Outcome("unknown", "it was started in the background")
    if effect.after == "||" and not found:
        return Outcome("unknown", "it runs only if the command before it fails")
    if hidden := _HIDDEN_FAILURE.search(text):
        if effect.kind == "push" and found and "up to date" not in note:
            return Outcome("did", _note(note))
        if not _is_success(effect, found):
            status = _failed(effect, text, note, alone).status
            return Outcome(status, _note(_line_at(text, hidden.start())))
    return Outcome("did", _note(note))


def _without_errors(text: str) -> str:
    """The lines that report no error; an error that ends with a colon goes on in the next line."""
    kept: list[str] = []
    goes_on = False
    for line in text.splitlines():
        is_error = any(pattern.search(line) for pattern in (_HIDDEN_FAILURE, _DECLINED, _NEVER_BEGAN))
        if not is_error and not goes_on:
            kept.append(line)
        goes_on = is_error and line.rstrip().endswith(":")
    return "\n".join(kept)


def _failed(effect: SideEffect, text: str, note: str, alone: bool) -> Outcome:
    """How an effect ended whose call failed: certainly not done, or perhaps."""
    reason = _reason(text)
    if _is_success(effect, identifiers(effect.kind, _without_errors(text))):
        return Outcome("did", _note(note, "a later part of the command failed"))
    if _ROLLED_BACK.search(text) and not _ROLLBACK_FAILED.search(text):
        return Outcome("did_not", _note(reason))
    if (effect.in_steps or effect.kind == "database") and _PROGRESS.search(text):
        return Outcome("unknown", _note(reason, "part of it may be done", note))
    if _REFUSED.search(text[:400]):
        return Outcome("did_not", _note(reason or "it was not allowed"))
    if _DECLINED.search(text):
        return Outcome("did_not", _note(reason))
    if _BROKE_OFF.search(text) and not (_NEVER_BEGAN.search(text) and effect.kind == "push"):
        return Outcome("unknown", _note(reason, note))
    if _NEVER_BEGAN.search(text) or not effect.in_steps or (effect.after == "&&" and not alone):
        return Outcome("did_not", _note(reason))
    return Outcome("unknown", _note(reason))


def _is_success(effect: SideEffect, found: Iterable[str]) -> bool:
    """Whether identifiers show that an effect took place, whatever else the output says."""
    told = list(found)
    if effect.kind == "push":
        return any(".." in one or one.startswith(("new ", "deleted")) for one in told)
    if effect.kind in ("pull_request", "issue", "release"):
        return any(one.startswith(("http", "#")) and "already exists" not in one for one in told)
    if effect.kind == "publish":
        return any("@" in one or one[:4] == "http" for one in told)
    if effect.kind == "image":
        return any("sha256:" in one for one in told)
    if effect.kind == "infrastructure":
        return any("complete!" in one for one in told)
    return False


_TELLS = lazy_regex(
    r"(?i)\b(?:error|fatal|failed|denied|refused|rejected|timed? ?out|timeout|exceeded|not found|cannot"
    r"|unable|invalid|reset|closed|lost|already exists|unauthorized|forbidden|killed|aborted|conflict"
    r"|unknown|usage)\b|\b[45]\d\d\b"
)


def _reason(text: str) -> str:
    """The line that says why a call failed."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not _EXIT.match(line)]
    telling = next((line for line in lines if _TELLS.search(line)), "")
    return telling or (lines[-1] if lines else "")


_EXIT = lazy_regex(r"(?i)(?:error: )?exit (?:code|status):? -?\d+$")


def _line_at(text: str, place: int) -> str:
    begin, end = text.rfind("\n", 0, place + 1) + 1, text.find("\n", place + 1)
    return text[begin : end if end >= 0 else None].strip()


def _note(*parts: str) -> str:
    return one_line("; ".join(part for part in parts if part), MOST_NOTE)
