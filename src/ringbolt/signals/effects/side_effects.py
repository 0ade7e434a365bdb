"""Side effects: which tool calls change something outside the working copy, and how to check each afterwards.

An agent that lost its context cannot see a push, a deployment, a migration or a mail in the files, so they
are recorded. Local commits, edits of files, dry runs and reads are not side effects. `launchers.invocations`
parses command lines, `table` lists the programs; `programs`, `scripts` and `inline_code` know what a table
cannot say, `verbs` judges programs that nobody listed. `outcomes` says how a call ended.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ...model.lazy_regex import lazy_regex
from ...model.types import Value, is_dict
from ...model.validate import blake2b
from ..calls.command_form import IDLE, is_dry, only_reads, part_of
from ..calls.launchers import Invocation, invocations, without_python
from ..calls.tools import first_text, is_shell
from ..text_layout import one_line
from .arguments import Arguments, Found
from .inline_code import has_code, inline_effect
from .programs import SPECIAL
from .relations import Acts, acts_on
from .scripts import INTERPRETERS, script_effect
from .table import ALIASES, TABLE, VALUE_OPTIONS
from .tool_effects import tool_effect
from .verbs import verb_effect

MOST_EFFECTS = 8  # of one call
MOST_WHAT = 140
_MOST_ARGUMENT = 60
_COMMANDS = ("command", "cmd", "script", "code")

# A command line with none of these has no side effect that we know. The capture hook looks for them before it
# writes a call down, so they must cover every program of the table (a test compares them): parts of a
# text, and whole words for what is short or common.
HINT_PARTS: tuple[str, ...] = tuple(
    "publish deploy release migrat upload push kubectl helm docker podman terraform tofu terragrunt"
    " pulumi ansible curl wget rsync gcloud gsutil psql mysql mariadb sqlite mongo redis-cli"
    " valkey-cli systemctl vercel netlify heroku wrangler firebase serverless prisma alembic"
    " liquibase sequelize typeorm artisan db: ecto. dbmate sqlx diesel manage.py twine compose"
    " skopeo buildah nerdctl argocd skaffold eksctl packer puppet railway supabase amplify kamal"
    " dokku doctl hcloud fastlane supervisorctl launchctl certbot consul etcdctl rabbitmq kafka"
    " stripe twilio phinx sqitch hasura aerich s3cmd azcopy rclone sendmail send-email msmtp s-nail"
    " reboot shutdown requests. httpx axios smtplib sendmail( send_message( promote rollback"
    " provision teardown crontab lerna changeset semantic- deprecate dist-tag gh-pages huggingface"
    " grpcurl drizzle mikro-orm doctrine: destroy clickhouse duckdb sqlcmd sqlplus snowsql usql"
    " cqlsh influx cypher cockroach mysqladmin pg_restore pgloader dropdb createdb dropuser"
    " createuser fetch( method: method= flask dotnet ef database restart pull-request mailx nuget"
    " flyway yank trunk setup.py boto3 aws-sdk google.cloud slack_sdk octokit -send _pub net::http"
    " invoke-rest invoke-web celery sentry-cli =prod .prod".split()
)
HINT_WORDS: frozenset[str] = frozenset(
    "gh glab hub tea gt jira linear ssh scp sftp aws az http https xh xhs curlie fly flyctl sls"
    " rails rake goose knex dbt crane oras flux nomad cdk cdktf sam salt render eb copilot cf cap"
    " eas expo modal pm2 service rc-service vault yoyo tern mc bq ipfs svn jj sl repo arc p4 hg"
    " swaks mutt mail ntfy np nx ko k oc surge hf dvc atlas oci ibmcloud aliyun trino ship anaconda"
    " prod prd production trigger dispatch pub send notify transition runner tinker"
    " linode-cli vultr-cli scw openstack civo upctl exo irm iwr".split()
)
_EDGES = str.maketrans(dict.fromkeys("()`'\"&;|\n\t$", " "))


class SideEffect(Value, frozen=True, kw_only=True):
    """Something that a call does outside: its kind, what it does in a line, and a command to check it with.

    `signature` is equal for two calls that do the same. `after` is the operator before it in its command
    line, `background` says that nobody waits for it. `target` is what it acts on, where that is known.
    """

    kind: str
    what: str
    check: str
    signature: str
    target: str = ""
    after: str = ""
    background: bool = False
    acts: Acts | None = None  # what a later call may take back or replace
    in_steps: bool = False  # it does several things, so a failure may leave some of them done


def side_effects(tool: str, given: Any) -> list[SideEffect]:
    """What a tool call does outside, in order; nothing for a call that only reads or works on local files."""
    fields: Mapping[str, Any] = given if is_dict(given) else {}
    command = fields.get("command") or fields.get("cmd")
    if not isinstance(command, str):
        command = first_text(fields, _COMMANDS) if is_shell(tool) else ""
    if command and (is_shell(tool) or "command" in fields):
        found = command_effects(command)
        if fields.get("run_in_background") is True:
            found = [one.replace(background=True) for one in found]
        return found
    one = tool_effect(tool, fields)
    if one is None:
        return []
    kind, what, check, target = one
    text = json.dumps({"tool": tool, "input": fields}, sort_keys=True, default=str)
    return [SideEffect(kind=kind, what=_short(what), check=check, signature=_digest(text), target=target)]


def may_have_effects(command: str) -> bool:
    """Whether a command line has a word of a program that could act outside; cheap, and too often True."""
    lowered = command.lower()
    if any(part in lowered for part in HINT_PARTS):
        return True
    words = lowered.translate(_EDGES).split()
    return any(word.rpartition("/")[2] in HINT_WORDS for word in words)


def command_effects(command: str) -> list[SideEffect]:
    """What a command line does outside, in order."""
    if not may_have_effects(command):
        return []
    found: list[SideEffect] = []
    seen: set[tuple[str, str]] = set()
    for call in invocations(command):
        effect = _effect(call)
        if effect is not None and (effect.signature, call.folder) not in seen:
            seen.add((effect.signature, call.folder))
            found.append(effect)
            if len(found) >= MOST_EFFECTS:
                break
    return found


# --- one program ------------------------------------------------------------------------------------


def _effect(call: Invocation) -> SideEffect | None:
    """The effect of one program, if it has one."""
    program, words = _named(call)
    base = ALIASES.get(program, program)
    options = frozenset(VALUE_OPTIONS.get(base, "").split())
    arguments = Arguments(words, options)
    if _is_dry(program, base, arguments):
        return None
    special = _SPECIAL.get(base)
    found = special(call, program, arguments) if special else None
    if found is None:
        found = _from_table(program, base, arguments)
    if found is None and has_code(call, program):
        found = inline_effect(call, program)
    elif found is None:
        found = script_effect(call, program, arguments)
        if found is None and base not in TABLE and base not in _SPECIAL:
            found = verb_effect(program, arguments)
    if found is None and call.where and not _only_reads(call, program, arguments):
        found = "remote", f"ssh {call.where}", ""
    if found is None or not found[0]:
        return None
    kind, check, target = found
    line = _line(program, words)
    where = f"{call.where}: " if call.where else ""
    what = f"{where}{_titles(kind, program, arguments, target, call) or line}"
    if call.where and check and not check.startswith("ssh "):
        check = f"on {call.where}: {check}"
    signed = f"{call.where} {program} {' '.join(_signed(words))}\0{call.stdin[:2000]}\0{call.stdin_file}"
    return SideEffect(
        kind=kind,
        what=_short(what),
        check=one_line(check, 300),
        signature=f"{program} {_digest(signed)}",
        target=target,
        after=call.after,
        background=call.background,
        in_steps=kind in _IN_STEPS,
        acts=_acts(base, kind, arguments, call),
    )


def _acts(base: str, kind: str, arguments: Arguments, call: Invocation) -> Acts | None:
    """What a call acts on, so that a later one on the same object is recognised."""
    if base == "docker-compose":
        base, arguments = "docker", Arguments(("compose", *arguments.words), arguments.with_value)
    elif base == "docker" and "compose" not in arguments.plain[:1]:
        # For most commands -f is not a file.
        arguments = Arguments(arguments.words, arguments.with_value - {"-f", "-p", "-l"})

    def option(names: Sequence[str]) -> str:
        if base == "git":  # `push --delete` has no value
            return "yes" if arguments.has(*names) else ""
        return arguments.value(*names)

    found = acts_on(base, kind, arguments.plain, option, call.folder)
    return found and found._replace(place=f"{call.where} {found.place}".strip(), folder=call.folder)


# Kinds whose failure may leave part of the work done.
_IN_STEPS = frozenset("infrastructure migration deploy container remote".split())


def _named(call: Invocation) -> tuple[str, tuple[str, ...]]:
    """The program by its usual name, and its arguments: `python -m twine upload` is `twine upload`."""
    program, words = without_python(call)
    if call.path.startswith("@changesets/cli"):  # a scoped package of npx
        return "changeset", words
    if not call.path.startswith("@") and call.launched and "@" in program[1:]:
        program = program[: program.index("@", 1)]  # npx wrangler@3
    if program == "php" and words and words[0].rpartition("/")[2] in ("artisan", "console"):
        return words[0].rpartition("/")[2], words[1:]
    if program == "cargo" and words[:1] in (("sqlx",), ("diesel",)):
        return words[0], words[1:]
    if program == "docker" and words[:1] == ("buildx",):
        return program, words[1:]
    return program, words


def _is_dry(program: str, base: str, arguments: Arguments) -> bool:
    if arguments.plain[:1] == ["help"] or any(map(is_dry, arguments.words)):
        return True
    if program in INTERPRETERS and "--check" in arguments.words:
        return True
    if base == "ansible" and arguments.has("--check", "-C"):
        return True
    if base.startswith("kafka-") and arguments.has("--list", "--describe"):
        return True
    if base == "make" and "n" in arguments.letters():
        return True
    if base in ("alembic", "manage.py", "prisma", "drizzle-kit") and arguments.has(
        "--sql", "--check", "--create-only"
    ):
        return True
    if base == "sls" and arguments.has("--noDeploy", "-n", "--package"):
        return arguments.has("--noDeploy", "-n")
    return arguments.has("-h") and base in ("gh", "npm", "helm", "kubectl", "terraform", "cargo", "gcloud")


def _from_table(program: str, base: str, arguments: Arguments) -> Found | None:
    found = _first_row(program, base, arguments, arguments.plain)
    if found is None and base in TABLE and (plain := arguments.plain) and arguments.words[0] != plain[0]:
        # An option before the verb may have a value that the table does not know: `helmfile -e prod sync`.
        before = arguments.words[arguments.words.index(plain[0]) - 1]
        if before.startswith("-") and "=" not in before:
            found = _first_row(program, base, arguments, plain[1:])
    return found


def _first_row(program: str, base: str, arguments: Arguments, plain: Sequence[str]) -> Found | None:
    """What the first row of the table says that fits the plain words of a program."""
    text = " ".join(plain)
    for verbs, kind, checks in TABLE.get(base, ()):
        if (match := _verbs(verbs).match(text)) is None:
            continue
        if not kind:
            return "", "", ""
        after = text[match.end() :].split() if verbs else plain
        check = _check(checks, arguments, after, text)
        if program != base and check.startswith(f"{base} "):
            check = program + check[len(base) :]
        return kind, check, after[0] if after else ""
    return None


_PATTERNS: dict[str, Any] = {}


def _verbs(verbs: str) -> Any:
    if verbs not in _PATTERNS:
        _PATTERNS[verbs] = lazy_regex(rf"(?:{verbs})(?=\s|$)" if verbs else "")
    return _PATTERNS[verbs]


_FIELD = lazy_regex(r"\{([^{}]{1,60})\}")
_OPTIONAL = lazy_regex(r"\[([^\[\]]{1,80})\]")


def _check(checks: Sequence[str], arguments: Arguments, after: Sequence[str], text: str) -> str:
    """The first check whose fields all have values."""

    def field(name: str) -> str:
        if name.isdecimal():
            number = int(name)
            if number == 0:
                return text.split()[0] if text else ""
            return after[number - 1] if number <= len(after) else ""
        return arguments.value(*name.split("|"))

    def filled(template: str) -> str | None:
        values = [field(found[1]) for found in _FIELD.finditer(template)]
        if not all(values):
            return None
        return _FIELD.sub(lambda found: _shown(field(found[1])), template)

    for check in checks:
        whole = _OPTIONAL.sub(lambda found: filled(found[1]) or "", check)
        if (text_of := filled(whole)) is not None:
            return text_of
    return _OPTIONAL.sub("", checks[-1]) if checks else ""


def _shown(value: str) -> str:
    return one_line(value, 80)


def _container(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """`docker run`: a foreground container that is removed afterwards changes nothing by itself."""
    plain = arguments.plain
    if plain[:1] == ["build"] or plain[:2] == ["compose", "build"]:
        if arguments.has("--push") or "type=registry" in " ".join(arguments.words):
            image = arguments.value("-t", "--tag")
            return "image", f"docker manifest inspect {image or 'IMAGE'}", image
        return "", "", ""
    verb = plain[1:2] if plain[:1] == ["compose"] else plain[:1]
    detached = arguments.has("-d", "--detach") or "d" in _short_letters(arguments)
    if verb != ["run"] or detached or not arguments.has("--rm"):
        return None
    # What runs inside may act outside: `docker run --rm hashicorp/terraform apply`.
    words = arguments.words[arguments.words.index("run") + 1 :]
    inside = Arguments(words, frozenset(VALUE_OPTIONS["docker"].split()) | {"-p", "-i"} - {"-i"}).plain
    for begin in (0, 1):
        line = list(inside[begin:])
        if not line:
            continue
        image = line[0].rpartition("/")[2].partition(":")[0] if begin == 0 else line[0]
        effects = command_effects(" ".join([image, *line[1:]]))
        if effects:
            return effects[0].kind, effects[0].check, effects[0].target
    return "", "", ""


def _short_letters(arguments: Arguments) -> str:
    """Letters of combined short flags such as `-itd`; `-e`, `-v` and others have values of their own."""
    return "".join(
        name[1:]
        for name in arguments.options
        if len(name) <= 4 and set(name[1:]) <= set("ditP") and name[0] == "-"
    )


# Programs that are judged by other rules where they have an effect, and others that only show something.
_OTHERWISE_READS = frozenset(
    "curl wget pg_dump pg_dumpall mysqldump mongodump node python python3 ruby java go php sqlite3"
    " psql mysql redis-cli mongosh nginx openssl tmux screen xargs htop vmstat iostat sar last w"
    " who mount ip ifconfig cal command zgrep".split()
)
# Verbs by which a program of any name only shows something: `pm2 list`.
_READ_VERBS = frozenset(
    "status log logs show list ls get describe ps inspect diff info version stats top events history images"
    " config branch remote rev-parse fetch is-active is-enabled cat list-units port search current".split()
)


def _only_reads(call: Invocation, program: str, arguments: Arguments) -> bool:
    """Whether a command on another machine surely changes nothing there."""
    if program in IDLE or program in _OTHERWISE_READS or program.startswith("#"):
        return True
    if only_reads(part_of(call)):
        return True
    verb = next((word for word in arguments.plain if word != "compose"), "")
    return verb in _READ_VERBS or (not arguments.plain and arguments.has("-v", "--version", "-V"))


_SPECIAL = {**SPECIAL, "docker": _container, "docker-compose": _container}


# --- words ------------------------------------------------------------------------------------------

_QUIET = frozenset(
    "-q --quiet -v --verbose -y --yes --no-color --color=always --progress -s -S -sS -fsSL"
    " -auto-approve --no-pager --auto-approve --no-interactive --non-interactive --debug --no-input"
    " --noinput".split()
)


def _signed(words: Sequence[str]) -> list[str]:
    """The words that decide what a call does."""
    return [word for word in words if word not in _QUIET]


def _titles(kind: str, program: str, arguments: Arguments, target: str, call: Invocation) -> str:
    """How a call is best described where its words are not; empty to show the words."""
    if kind in ("http", "local_http", "message") and target:
        return f"{target}" + (f" ({program} api)" if program in ("gh", "glab") else "")
    if kind == "database" and call.stdin_file:
        return f"{_line(program, call.arguments)} < {call.stdin_file}"
    if kind == "database" and call.stdin and not any(" " in word for word in call.arguments):
        return f"{_line(program, call.arguments)}: {one_line(call.stdin, 80)}"
    return ""


_SECRET_OPTIONS = frozenset("--password --token --otp -p --pass --auth --api-key --secret".split())
# Long texts that say little about what a call does.
_BODY_OPTIONS = frozenset("--body -b --notes --description -d --body-file -F --data --data-raw".split())


def _line(program: str, words: Sequence[str]) -> str:
    """A command in a line: long arguments are cut, options for the output are left out."""
    shown: list[str] = [program]
    hides = False
    for word in words:
        if hides or word in _QUIET:
            hides = False
            continue
        if word in _SECRET_OPTIONS and program not in ("docker", "psql", "cargo", "npm"):
            hides = True
            continue
        if word in _BODY_OPTIONS and program in ("gh", "glab", "hub"):
            hides = True
            continue
        text = one_line(word, _MOST_ARGUMENT)
        shown.append(f'"{text}"' if " " in text else text)
    return " ".join(shown)


def _short(text: str) -> str:
    return one_line(text, MOST_WHAT)


def _digest(text: str) -> str:
    return blake2b(" ".join(text.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()
