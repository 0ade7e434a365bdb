"""Prohibitions: what a user says must not be done, and whether a call would do it.

"Do not touch db/migrations/", "never use docker.io", "no force pushes", "don't run migrations on prod":
each has an action (edit, use, push, migrate, …) and objects (paths, names, words). A call goes against it
if it does the action and every object occurs in it. "Only touch src/api" forbids the opposite: to change what
is elsewhere. A later sentence of the user that asks for the same lifts it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from ..model.lazy_regex import lazy_regex
from ..model.types import Value
from .calls.call_actions import ACTIONS, git
from .calls.command_form import CommandForm, Part, changed_paths, command_form, only_reads
from .text_layout import clauses, layout, one_line
from .words import stem

MOST_RULES = 12  # of one text
MOST_TEXT = 8000
_MOST_PHRASE = 200

# --- what people say -----------------------------------------------------------------------------------

# The words by which people name these actions, as stems. `edit` and `use` depend on the objects alone.
_VERBS = {
    stem(word): action
    for action, words in {
        "edit": "touch edit modify change alter rewrite refactor rename update write overwrite reformat"
        " format modification edits changes fiddle mess adjust patch extend move copy replace",
        "use": "use using run call execute try invoke start launch pull do go switch rely depend work",
        "push": "push pushes pushing",
        "commit": "commit commits committing",
        "amend": "amend amending",
        "merge": "merge merging merges",
        "rebase": "rebase rebasing",
        "tag": "tag tagging tags",
        "install": "install installing dependency dependencies package packages library libraries deps",
        "migrate": "migrate migration migrations migrating",
        "deploy": "deploy deployment deployments deploying ship rollout",
        "publish": "publish publishing release releases releasing",
        "delete": "delete remove drop erase wipe destroy purge deleting removing",
        "test": "tests suite",
        "restart": "restart reboot stop kill shutdown",
        "send": "send email message notify post mail",
        "upgrade": "upgrade bump upgrading bumping",
        "pull_request": "pr prs pull-request",
        "add": "add introduce bring create pin include new open raise make",
    }.items()
    for word in words.split()
}
# Nouns in the place of an object that say which action is meant: "don't run migrations", "no force pushes".
_NOUN_ACTIONS = frozenset("pull_request push commit install migrate deploy publish test merge rebase".split())
# Actions that a prohibition may name without an object.
_ALONE = (_NOUN_ACTIONS - {"test"}) | {"upgrade", "force", "amend"}

# --- sentences --------------------------------------------------------------------------------------

_NEGATION = (
    r"do\s+not|do\s?n['’]?t|never|must\s+not|mustn['’]t|should\s+not|shouldn['’]t|may\s+not"
    r"|avoid|refrain\s+from|no|stop|without"
)
_FORBIDS = lazy_regex(
    rf"(?i)(?:(?<=^)|(?<=[,;:(\-–—]\s)|(?<=[,;:(])|(?<=\sand\s)|(?<=\sbut\s))\s*(?:(?:please|and|but|so"
    rf"|also|just|then|ok|okay|hey|again|remember|note|"
    rf"important|you|we|agents?|nobody|or|make\s+sure(?:\s+that)?"
    rf"|ensure(?:\s+that)?)[,:]?\s+){{0,4}}(?P<no>{_NEGATION})\s+(?P<rest>[^.;!?\n]{{2,{_MOST_PHRASE}}}"
    r"(?:\.(?=\S)[^.;!?\n]{1,100}){0,6})"
)
_AGAIN = lazy_regex(
    rf"(?i)(?:,\s*|\s+(?=and|or|but|also|nor))(?:(?:and|or|but|also|nor|please)\s+){{0,3}}(?:{_NEGATION})\s+"
)
_WANTS = lazy_regex(
    r"(?i)\bi\s+(?:do\s?n['’]?t|do\s+not|never)\s+want\s+(?:you\s+to\s+|any\s+)(?P<rest>[^.;!?\n]{2,200})"
)
_LEAVES = lazy_regex(
    r"(?i)\b(?:leave|keep)\s+(?P<rest>[^.;!?\n]{2,120}?(?:\.\w[^.;!?\n]{0,60}?)?)\s+"
    r"(?:alone|as\s+(?:it\s+)?(?:is|they\s+are|are)|untouched|unchanged|intact)\b"
)
_HANDS_OFF = lazy_regex(
    r"(?i)\b(?:hands\s+off(?:\s+of)?|stay\s+(?:away\s+from|out\s+of)|keep\s+(?:away\s+from"
    r"|out\s+of))\s+(?P<rest>[^;!?\n]{2,120})"
)
_OFF_LIMITS = lazy_regex(
    r"(?i)(?:^|[,;:]\s*)(?:please\s+)?(?P<rest>[^,;!?\n]{2,100}?)\s+(?:is|are)\s+(?:off[\s-]?limits"
    r"|forbidden|taboo|banned|not\s+allowed)\b"
)
_PASSIVE = lazy_regex(
    r"(?i)(?:^|[,;:]\s*)(?P<rest>[^,;!?\n]{2,100}?)\s+(?:must|should|may|can)(?:\s+not|n['’]t|not)\s+be\s+"
    r"(?P<verb>touched|edited|modified|changed|deleted|removed|used|run|pushed|deployed|altered"
    r"|overwritten|updated|renamed)\b"
)
# "Only touch src/api", "change nothing but a.py", "keep your changes inside src/", "nothing outside src/".
_EDITS = r"(?:touch|edit|modif(?:y|ies)|chang(?:e|es|ing)|alter|work\s+(?:on|in)|write\s+(?:to|in))"
_ONLY = tuple(
    lazy_regex(rf"(?i){pattern}(?P<rest>[^;!?\n]{{2,{_MOST_PHRASE}}})")
    for pattern in (
        rf"\bonly\s+(?:ever\s+)?{_EDITS}\s+",
        rf"\b{_EDITS}\s+(?:only|nothing\s+(?:but|except|other\s+than))\s+",
        (
            rf"\b(?:do\s+not|don['’]?t|never|must\s+not)\s+{_EDITS}\s+(?:any\s?thing|any\s+files?|files?|code)"
            r"\s+(?:else\s+)?(?:outside(?:\s+of)?|except(?:\s+for)?|other\s+than|apart\s+from|but)\s+"
        ),
        (
            r"\b(?:restrict|limit|confine|keep)\s+(?:your(?:self)?|the|all|any)?\s*(?:changes?|edits?|work)?\s*"
            r"(?:to|within|inside|in)\s+(?!mind\b|sync\b|place\b)"
        ),
        r"(?:^|[,;:]\s*)(?:touch\s+)?nothing\s+(?:outside(?:\s+of)?|except|but)\s+",
    )
)
# Nouns for what is to be avoided but cannot be used: "avoid duplication", "avoid regressions".
_ABSTRACT = lazy_regex(r"(?i)\w+(?:tion|sion|ing|ness|ment|ity|ance|ence|ism|s)$")
_ENDS = lazy_regex(
    r"(?i)\s*(?:,\s+(?:and|or)\s+(?!\S*[/.]\S)|,\s+(?:it|its|it's|i|they|that|this|the|as|since|because"
    r"|which|so|we|you|take|use|only|instead|there|just|rather)\b"
    r"|,?\s+(?:because|since|so that|otherwise|instead|but|as (?:it|they|this|that|we|i)|i(?:['’]ll"
    r"|['’]d| will| want| do| am)|we(?:['’]ll| will))\b"
    r"|\s+[–—-]{1,2}\s|:\s|\s\().*"
)
# Sentences that forbid nothing, or only under a condition that we cannot check.
_HARMLESS = lazy_regex(
    r"(?i)^(?:forget|hesitate|worry|mind|need|have\s+to|know|think|see|understand|care|bother|like"
    r"|remember|longer|problem|idea|one"
    r"|matter|doubt|more|less|such|other|way|only|just\s|let|be|assume|ask|stop|hold|wait|it|that|this"
    r"|way|thanks|questions?|issues?|errors?)\b"
)
_CONDITION = lazy_regex(
    r"(?i)\b(?:unless|if|when|whenever|while|except|other\s+than|apart\s+from|more\s+than|too\s+(?:much"
    r"|many)|only|without(?!\s+(?:asking|my|permission|approval|telling|confirm\w*)))\b"
)
_POSTPONES = lazy_regex(
    r"(?i)\s*,?\s*\b(?:until|till|before|yet|for\s+now|right\s+now|at\s+the\s+moment|without\s+(?:asking"
    r"|my|permission|approval|telling|confirm\w*))\b.*"
)
_ADVERB = lazy_regex(r"(?i)^(?:ever|even|directly|just|simply|(?:try|attempt) to|go and)\s+")
_JOINS = ("or", "and", "nor")
_TAILS = ("on", "in", "to", "against", "from", "with", "under", "inside", "into", "at")
_QUOTED = lazy_regex(r"`([^`\n]{1,120})`|\"([^\"\n]{1,120})\"|“([^”\n]{1,120})”|'([^'\n]{2,120})'")
_TOKEN = lazy_regex(r"--?[\w][\w-]*|[@\w./~]*[@\w][\w.@/*:+~-]*[\w/*]|\w")
_FILLER = frozenset(
    "a an the any anything all every each some new existing other our your my their this that these those"
    " there here it its them of to in on at for with by from into onto under below inside within over and"
    " or nor not no as is are be been do does please ever again anymore also just even more still directly"
    " manually yourself myself me you we us i file files folder folders directory directories dir dirs code"
    " module modules part parts section sections everything stuff thing things line lines whole same one"
    " ones way ways via using up out off about back against against environment machine server branch"
    " branches project repo repository here's want commands command tool tools changes change edits edit"
    " first now".split()
)
_SYNONYMS: dict[str, tuple[str, ...]] = {
    "production": ("prod",), "prod": ("prod",), "live": ("prod", "live"),
    "database": ("database", "db", "postgres", "mysql"),
    "db": ("db", "database"), "staging": ("stag",), "stage": ("stag",), "master": ("master", "main"),
    "kubernetes": ("kube", "k8s"), "k8s": ("kube", "k8s"), "postgres": ("postgres", "psql", "pg_"),
    "force": ("force", "-f"),
    "golang": ("go",), "typescript": (".ts",), "python": ("python",), "javascript": (".js",),
}  # fmt: skip
_PATHLIKE = lazy_regex(
    r"[\w@.~*-]*/[\w@./*~-]*|[\w.*-]+\.(?!io$|com$|org$|net$|dev$|example$)[A-Za-z]\w{0,9}$|\.\w[\w.-]+$"
    r"|(?:Makefile|Dockerfile|Jenkinsfile|LICENSE)$"
)


_STANDING = lazy_regex(
    r"(?i)\b(?:never|ever|always|any\s?more|from now on|in this (?:repo|project)|we (?:don['’]t|do not))\b"
)


class Prohibition(Value, frozen=True, kw_only=True):
    """What must not be done: an action, and objects that must all occur in a call that does it."""

    action: str
    paths: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # in lower case, plain words in the singular
    said: str = ""
    program: str = ""  # only a call of this program
    only: bool = False  # to change what is at none of `paths`

    def outlasts_task(self) -> bool:
        """Whether it holds after its task: "don't commit" does not, "never commit" does."""
        about = bool(self.paths or self.words) and not self.only
        return about or _STANDING.search(self.said) is not None

    def hints(self) -> Iterator[tuple[Literal["command", "path", "any"], tuple[str, ...]]]:
        """Substrings for a cheap first look: a call that goes against it has all of one of these sets."""
        if self.only:
            yield "path", ("",)
            return
        paths = tuple(path.strip("/*").rpartition("*")[2].strip("/").lower() for path in self.paths)
        words = tuple(_shortest(word) for word in self.words)
        if self.action in ACTIONS:
            for hint in ACTIONS[self.action][1]:
                yield "command", (hint, *paths, *words)
        elif self.action == "edit":
            for path in paths or ("",):
                for kind in ("command", "path"):
                    yield kind, (*((path,) if path else ()), *words)
        else:
            yield "any", (*paths, *words)


def _shortest(word: str) -> str:
    options = _SYNONYMS.get(word, (word,))
    return options[0] if len(options) == 1 else ""


def prohibitions(text: str) -> list[Prohibition]:
    """What a text of the user forbids."""
    found: list[Prohibition] = []
    for line in layout(text[:MOST_TEXT]):
        if line.kind in ("code", "row") or not line.text:
            continue
        for clause in clauses(line.text):
            found += _of_clause(clause)
            if len(found) >= MOST_RULES:
                return found[:MOST_RULES]
    return found


def exclusion_rule(what: str) -> Prohibition | None:
    """What an exclusion rules out by its words, such as `using multiprocessing in render.py`."""
    text = one_line(what, _MOST_PHRASE)
    found = prohibitions(text) or list(_of_phrase(text, text))
    if not found:
        tokens = [token.rstrip(".,:") for token in _TOKEN.findall(_QUOTED.sub(" ", text))]
        quoted = [next(part for part in match if part) for match in _QUOTED.findall(text)]
        found = list(_objects("use", [token for token in tokens if token], quoted, text))
    one = found[0] if len(found) == 1 else None
    return one if one and len(one.words) + len(one.paths) > (one.action == "use") else None


def may_forbid(text: str) -> bool:
    """Whether a text can hold a prohibition; False is certain, True is not."""
    plain = text.lower()
    return any(hint in plain for hint in HINTS)


HINTS = (
    "n't", "n’t", " not ", "dont ", "never", "avoid", "no ", "without", "refrain", "stop ", "leave ", "keep ",
    "hands off", "away from", "out of", "limits", "forbidden", "banned", "taboo", "read-only",
    "readonly", "read only",
    "frozen", "nothing ", "prohibited", "only ", "restrict", "limit ", "confine", "except",
)  # fmt: skip


# Other ways to say "do not", and what they are read as.
_SAME_AS_NOT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (lazy_regex(f"(?i){pattern}"), meant)
    for pattern, meant in (
        (
            (
                r"\b(?:under no circumstances|in no case|on no account|by no means)"
                r"(?:,?\s+(?:should|must|may|do)\s+(?:you|we|i))?\s+"
            ),
            ", do not ",
        ),
        (
            (
                r"\b(?:you|we|agents?)(?:['’]re|\s+are)\s+not\s+(?:allowed|permitted|supposed"
                r"|authori[sz]ed)\s+to\s+"
            ),
            ", do not ",
        ),
        (r"\b(?:it(?:['’]s| is)\s+)?(?:forbidden|prohibited|not\s+allowed)\s+to\s+", ", do not "),
        (
            (
                r"\b(?:careful|make\s+sure|take\s+care|try|remember|ask(?:ed)?\s+you|told\s+you|want\s+you"
                r"|please)\s+not\s+to\s+"
            ),
            ", do not ",
        ),
        (
            (
                r"\bi(?:['’]d|\s+would)\s+(?:rather|prefer)\s+(?:that\s+|if\s+)?you\s+"
                r"(?:didn['’]t|did\s+not|don['’]t|not(?:\s+to)?)\s+"
            ),
            ", do not ",
        ),
        (
            (
                r"(?:^|(?<=[,;:]\s)|\bmake\s+)no\s+(?:changes|edits|modifications|touching|editing|changing)\s+"
                r"(?:(?:to|in|of|under|inside)\s+)?"
            ),
            ", do not change ",
        ),
        (
            (
                r"\b(?:do\s+not|don['’]t)\s+(?:make|do)\s+(?:any\s+)?(?:changes|edits|modifications)\s+(?:to"
                r"|in|under)\s+"
            ),
            "do not change ",
        ),
        (
            (
                r"\b(?:do\s+not|don['’]t)\s+(?:create|add|put)\s+(?:any\s+)?(?:new\s+)?(?:files?"
                r"|anything)\s+(?:to|in|under|into)\s+"
            ),
            "do not change ",
        ),
        (r"(?:^|(?<=[,;:]\s))treat\s+(\S+)\s+as\s+(?:read[- ]?only|frozen)\b", r", do not change \1"),
        (
            (
                r"(?:^|(?<=[,;:]\s))(?:the\s+)?(\S*[/.]\S*)(?:\s+(?:folder|directory|file))?\s+(?:is|are"
                r"|stays?)\s+(?:read[- ]?only|frozen)\b"
            ),
            r", do not change \1",
        ),
        (
            (
                r"(?:^|(?<=[,;:]\s))nothing\s+(?:in|under|inside|below)\s+(\S+)\s+(?:may|must|should|can"
                r"|is\s+to)\s+(?:be\s+)?chang(?:e|ed)\b"
            ),
            r", do not change \1",
        ),
        (r"\b(?:do\s+not|don['’]t|never),?\s+under\s+any\s+circumstances,?\s+", "do not "),
    )
)


def _of_clause(clause: str) -> Iterator[Prohibition]:
    said = one_line(clause, 160)
    if only := _only(clause, said):
        yield only
        return
    for pattern, meant in _SAME_AS_NOT:
        clause = pattern.sub(meant, clause)
    for match in _FORBIDS.finditer(clause):
        if match["no"].lower() == "without" or clause.rstrip().endswith("?"):
            continue
        for phrase in _AGAIN.split(match["rest"]):
            no = match["no"].lower()
            yield from _of_phrase(phrase, said, bare=no == "no", avoids=no.startswith(("avoid", "refrain")))
    for match in _WANTS.finditer(clause):
        yield from _of_phrase(match["rest"], said)
    for pattern in (_LEAVES, _HANDS_OFF, _OFF_LIMITS):
        for match in pattern.finditer(clause):
            yield from _of_phrase(f"{'use' if pattern is _OFF_LIMITS else 'touch'} {match['rest']}", said)
    for match in _PASSIVE.finditer(clause):
        yield from _of_phrase(f"{match['verb']} {match['rest']}", said)


def _only(clause: str, said: str) -> Prohibition | None:
    """The paths that alone may be changed; None where a clause names none, or other things beside them."""
    for pattern in _ONLY:
        if (match := pattern.search(clause)) is None or clause.rstrip().endswith("?"):
            continue
        phrase = _ENDS.sub("", match["rest"]).strip()
        quoted = [next(part for part in found if part) for found in _QUOTED.findall(phrase)]
        tokens = [token.rstrip(".,:") for token in _TOKEN.findall(_QUOTED.sub(" ", phrase))]
        named = [*quoted, *(token for token in tokens if token.lower() not in _FILLER)]
        if named and all(_PATHLIKE.match(one) and " " not in one for one in named):
            return Prohibition(action="edit", paths=tuple(named), said=said, only=True)
    return None


def _of_phrase(phrase: str, said: str, bare: bool = False, avoids: bool = False) -> Iterator[Prohibition]:
    phrase = _ENDS.sub("", phrase).strip()
    phrase = _POSTPONES.sub("", phrase).strip()
    if not phrase or _HARMLESS.match(phrase) or _CONDITION.search(phrase):
        return
    phrase = _ADVERB.sub("", phrase)
    quoted = [next(part for part in found if part) for found in _QUOTED.findall(phrase)]
    tokens = [token.rstrip(".,:") for token in _TOKEN.findall(_QUOTED.sub(" ", phrase))]
    tokens = [token for token in tokens if token]
    if not tokens and not quoted:
        return
    action = _VERBS.get(stem(tokens[0].lower()), "") if tokens else "use"
    if bare:  # "no errors" describes; "no pushes", "no new dependencies" forbid
        for one in _objects("use", tokens, [], said):
            if one.action in _ALONE and not one.paths and len(tokens) < 5 and not one.words:
                yield one
        return
    if tokens and "force" in tokens[0].lower() and "push" in phrase[:20].lower():
        action = "force"
    for objects in _alternatives(tokens[1:] if action else tokens):
        for one in _objects(action or "use", objects, quoted, said):
            # Without a verb that we know, the first word may be a program: "don't terraform apply".
            if action or (avoids and _can_be_used(objects, quoted)):
                yield one
            elif len(one.words) > 1:
                yield one.replace(program=tokens[0].lower())


def _can_be_used(tokens: list[str], quoted: list[str]) -> bool:
    """Whether "avoid X" names something that a call could use: a name, or a single plain noun."""
    named = [token for token in tokens if token.lower() not in _FILLER]
    if quoted or any(_is_name(token) for token in named):
        return True
    return len(named) == 1 and not _ABSTRACT.fullmatch(named[0])


def _alternatives(tokens: list[str]) -> list[list[str]]:
    """The objects of "a or b on c": `a on c`, `b on c`."""
    groups: list[list[str]] = [[]]
    for token in tokens:
        if token.lower() in _JOINS:
            groups.append([])
        else:
            groups[-1].append(token)
    groups = [group for group in groups if group]
    if len(groups) < 2:
        return groups or [[]]
    place = next((i for i, token in enumerate(groups[-1]) if token.lower() in _TAILS), len(groups[-1]))
    tail = groups[-1][place:] if place else []
    return [*(group + tail for group in groups[:-1]), groups[-1]]


def _objects(action: str, tokens: list[str], quoted: list[str], said: str) -> Iterator[Prohibition]:
    paths: list[str] = []
    words: list[str] = []
    for one in quoted:
        if _PATHLIKE.match(one) and " " not in one:
            paths.append(one)
        else:
            words += [part.lower() for part in one.split() if part.lower() not in _FILLER]
    for token in tokens:
        low = token.lower()
        if low in _FILLER:
            continue
        noun = _VERBS.get(stem(low))
        if token.startswith("-"):
            words.append(low)
        elif _PATHLIKE.match(token):
            paths.append(token)
        elif action in ("use", "add") and noun in _NOUN_ACTIONS:
            action = noun
        elif (action == "push" and low == "force") or (
            low in ("force-push", "force-pushes", "force-pushing")
        ):
            action = "force"
        elif noun == "push" and "force" in words:
            action = "force"
            words.remove("force")
        elif (
            noun == action
            or (action == "upgrade" and noun == "install")
            or (noun == "push" and action == "force")
            or (low.endswith("ly") and low not in ("apply", "reply", "supply"))
        ):
            continue
        else:
            words.append(low if _is_name(token) else _singular(low))
    if action == "use":
        words += [path.lower() for path in paths if "/" not in path]
        paths = [path for path in paths if "/" in path]
    if action == "push" and "force" in words:
        action, words = "force", [word for word in words if word != "force"]
    if action == "add":
        return
    if action not in _ALONE and not paths and not words:
        return
    if len(words) > 5:
        return  # a description, not a name
    if action in ("edit", "delete", "use") and len(paths) > 1:
        for path in paths:  # "do not touch a.py and b.py": either
            yield Prohibition(action=action, paths=(path,), words=tuple(dict.fromkeys(words)), said=said)
        return
    yield Prohibition(action=action, paths=tuple(paths), words=tuple(dict.fromkeys(words)), said=said)


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _is_name(token: str) -> bool:
    return not token.isalpha() or not token.islower()


# --- calls ------------------------------------------------------------------------------------------


class Call(Value, frozen=True, kw_only=True):
    """A tool call in the form in which prohibitions look at it."""

    command: str = ""
    form: CommandForm = CommandForm()
    path: str = ""  # the file that it edits
    content: str = ""  # what it writes there
    changed: tuple[str, ...] = ()


def tool_call(tool: str, values: list[str]) -> Call:
    """A call of a tool of an MCP server: the words of its name are those of a command."""
    words = [word for word in re.split(r"[^a-z0-9]+", tool.lower()) if word and word != "mcp"]
    part = Part(program=tool.lower(), words=(*words, *(value for value in values if len(value) <= 200)))
    return Call(command=tool, form=CommandForm(parts=(part,)))


def read_call(command: str, path: str, content: str, root: str = "") -> Call:
    """A call by its command or by the file that it changes; a tool that only reads has neither."""
    if not command:
        name = path[len(root) + 1 :] if root and path.startswith(f"{root}/") else path
        return Call(path=name, content=content[:20_000], changed=(name,) if name else ())
    form = command_form(command, root)
    changed = changed_paths(command, root)
    return Call(command=command, form=form, changed=tuple(changed))


def goes_against(rule: Prohibition, call: Call) -> bool:
    """Whether a call does what a prohibition forbids."""
    if rule.action in ACTIONS:
        does = ACTIONS[rule.action][0]
        if rule.action == "commit" and rule.paths:
            does = git("commit", "add")  # a commit does not say what is in it
        parts = [part for part in call.form.parts if not only_reads(part) and does(part)]
        return any(
            _mentions(rule, " ".join(_texts(part)), list(call.changed) or _texts(part)) for part in parts
        )
    if rule.only:
        return any(
            not any(_under(one, path) for one in rule.paths) for path in call.changed if _is_inside(path)
        )
    if rule.action == "edit" and any(_is_at(rule, path, call.content) for path in call.changed):
        return True
    if rule.action == "edit" and (rule.paths or not _SYSTEMS.intersection(rule.words)):
        return False
    if call.command:
        if call.form.reads:
            return False
        return any(
            _mentions(rule, " ".join(_texts(part)), _texts(part))
            for part in call.form.parts
            if not only_reads(part) and rule.program in ("", part.program)
        )
    if not call.path or rule.program:
        return False
    # What a file must not use: only names that cannot mean something else.
    names = [word for word in rule.words if not word.isalpha()]
    rest = [word for word in rule.words if word.isalpha()]
    at_path = all(_under(path, call.path) for path in rule.paths)
    if not (names or rule.paths) or not at_path:
        return False
    return all(_has(call.content.lower(), word) for word in names + rest)


# What is changed by commands, not in files: "leave the staging database alone".
_SYSTEMS = frozenset(
    "database db cluster bucket queue production prod staging live instance registry".split()
)
# Folders of scratch files, which no prohibition is about.
_SCRATCH = ("/tmp/", "/var/", "/dev/", "/private/", "~/.", "$")  # noqa: S108


def _is_inside(path: str) -> bool:
    """Whether a path belongs to the work."""
    return not path.startswith(_SCRATCH) and "/.claude/" not in path


def _texts(part: Part) -> list[str]:
    values = (f"{name}={value}" for name, value in part.env)
    return [
        part.program,
        *part.words,
        *part.options,
        *values,
        part.where,
        part.folder,
        part.stdin,
        part.launch,
    ]


def _mentions(rule: Prohibition, text: str, paths: list[str]) -> bool:
    text = text.lower()
    if not all(_has(text, word) for word in rule.words):
        return False
    return all(any(_under(path, one) for one in paths) for path in rule.paths)


def _has(text: str, word: str) -> bool:
    """Whether a text has a word or a longer form of it: `prod` in `shop-production`, not `go` in `cargo`."""
    for option in _SYNONYMS.get(word, (word,)):
        place = text.find(option)
        while place >= 0:
            before = text[place - 1] if place else " "
            after = text[place + len(option) : place + len(option) + 1]
            if not (before.isalnum() and option[0].isalnum()) and (len(option) > 2 or not after.isalnum()):
                return True
            place = text.find(option, place + 1)
    return False


def _is_at(rule: Prohibition, path: str, content: str) -> bool:
    """Whether a rule means this change of a file: "the version in package.json" is not all of the file."""
    if not all(_under(one, path) for one in rule.paths):
        return False
    parts = [stem(part) for part in re.split(r"[\W_]+", path.lower()) if part]
    whole = f"{path} {content}".lower() if rule.paths else path.lower()
    if rule.paths:
        return all(stem(word) in parts or _has(whole, word) for word in rule.words)
    return all(stem(word) in parts if word.isalpha() else word in whole for word in rule.words)


def _under(rule: str, path: str) -> bool:
    """Whether a path is that of a rule or below it, whichever folders come before."""
    wanted = [part for part in rule.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".")]
    if not wanted:
        return False
    if wanted[-1] in ("*", "**"):
        wanted = wanted[:-1]
    size = len(wanted)
    for start in range(max(0, len(parts) - size) + 1):
        if all(
            _fits(one, other) for one, other in zip(wanted, parts[start : start + size], strict=False)
        ) and (len(parts) - start >= size):
            return True
    return False


def _fits(pattern: str, name: str) -> bool:
    if "*" not in pattern:
        return pattern.lower() == name.lower()
    return re.fullmatch(".*".join(map(re.escape, pattern.lower().split("*"))), name.lower()) is not None


# --- lifting ----------------------------------------------------------------------------------------

_DENIES = lazy_regex(rf"(?i)\b(?:{_NEGATION}|not)\b")
_ALLOWS = lazy_regex(
    r"(?i)\b(?:you (?:can|may)|go ahead|feel free|it(?:'s| is) (?:ok|fine|okay)|ok to|okay to|allowed|now)\b"
)


def lifts(rule: Prohibition, text: str) -> bool:
    """Whether a later text of the user asks for what a prohibition forbids, or allows it."""
    for line in layout(text[:MOST_TEXT]):
        for clause in clauses(line.text) if line.kind != "code" else ():
            if rule.only:  # any other wish for a change widens it
                if _asks_elsewhere(rule, clause):
                    return True
                continue
            if _DENIES.search(clause):
                continue
            low = clause.lower()
            stems = {stem(word) for word in re.findall(r"[a-z]+", low)}
            objects = all(path.strip("/*").lower() in low for path in rule.paths) and all(
                stem(word) in stems if word.isalpha() else word in low for word in rule.words
            )
            acts = any(_VERBS.get(one) == rule.action for one in stems) or (
                rule.action == "force" and "forc" in stems
            )
            if objects and (
                acts or ((rule.paths or rule.words) and rule.action in ("edit", "use", "delete"))
            ):
                return True
    return False


def _asks_elsewhere(rule: Prohibition, clause: str) -> bool:
    """Whether a clause asks for a change and does not name the only paths that may be changed."""
    low = clause.lower()
    stems = {stem(word) for word in re.findall(r"[a-z]+", low)}
    elsewhere = any(_PATHLIKE.match(token.rstrip(".,:")) for token in _TOKEN.findall(clause))
    asks = _ALLOWS.search(clause) or elsewhere or any(_VERBS.get(one) in _WIDENS for one in stems)
    named = any(path.strip("/*").lower() in low for path in rule.paths)
    return bool(asks) and not named and not _DENIES.search(clause)


_WIDENS = ("edit", "add", "delete", "test", "upgrade", "install")


def names_again(words: set[str], text: str) -> bool:
    """Whether a text of the user names one of some words without a negation."""
    for line in layout(text[:MOST_TEXT]):
        for clause in clauses(line.text) if line.kind != "code" else ():
            if not _DENIES.search(clause):
                tokens = {token.strip(".,:").lower() for token in _TOKEN.findall(clause)}
                if words & tokens:
                    return True
    return False
