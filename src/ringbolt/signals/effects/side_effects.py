"""Side effects: which tool calls change something outside the working copy, and how to check each afterwards.

An agent that lost its context cannot see a push, a deployment, a migration or a mail in the files, so they
are recorded. Local commits, edits of files, dry runs and reads are not side effects. `launchers.invocations`
parses command lines, `effect_table` lists the programs, and `effect_outcomes` says how a call ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...model.lazy_regex import lazy_regex
from ...model.types import Value, is_dict
from ...model.validate import blake2b
from ..calls.launchers import Invocation, invocations
from ..calls.sql_statements import SqlWrite, sql_write
from ..calls.tools import first_text, is_shell
from ..text_layout import one_line
from .relations import Acts, acts_on
from .table import ALIASES, CLOUD_LOCAL, CLOUD_VERBS, TABLE, VALUE_OPTIONS
from .tool_effects import tool_effect

MOST_EFFECTS = 8  # of one call
MOST_WHAT = 140
_MOST_ARGUMENT = 60
_COMMANDS = ("command", "cmd", "script", "code")

# A command line with none of these has no side effect that we know. The capture hook looks for them before it
# writes a call down, so they must cover every program of the table (a test compares them): parts of a
# text, and whole words for what is short or common.
HINT_PARTS: tuple[str, ...] = tuple(
    "publish deploy release migrat upload push kubectl helm docker podman terraform tofu terragrunt pulumi"
    " ansible curl wget rsync gcloud gsutil psql mysql mariadb sqlite mongo redis-cli valkey-cli systemctl"
    " vercel netlify heroku wrangler firebase serverless prisma alembic liquibase sequelize typeorm artisan"
    " db: ecto. dbmate sqlx diesel manage.py twine compose skopeo buildah nerdctl argocd skaffold eksctl"
    " packer puppet railway supabase amplify kamal dokku doctl hcloud fastlane supervisorctl launchctl"
    " certbot consul etcdctl rabbitmq kafka stripe twilio phinx sqitch hasura aerich s3cmd azcopy rclone"
    " sendmail send-email msmtp s-nail reboot"
    " shutdown requests. httpx axios smtplib sendmail( send_message( promote rollback provision teardown"
    " crontab lerna changeset semantic- deprecate dist-tag gh-pages huggingface grpcurl drizzle mikro-orm"
    " doctrine: destroy clickhouse duckdb sqlcmd sqlplus snowsql usql cqlsh influx cypher cockroach"
    " mysqladmin pg_restore pgloader dropdb"
    " createdb dropuser createuser fetch( method: method= flask dotnet ef database restart pull-request mailx"
    " nuget flyway yank trunk setup.py".split()
)
HINT_WORDS: frozenset[str] = frozenset(
    "gh glab hub tea gt jira linear ssh scp sftp aws az http https xh xhs curlie fly flyctl sls"
    " rails rake goose knex dbt crane oras flux nomad cdk cdktf sam salt render eb copilot cf cap"
    " eas expo modal pm2 service rc-service vault yoyo tern mc bq ipfs svn jj sl repo arc p4 hg"
    " swaks mutt mail ntfy np nx ko k oc surge hf dvc atlas oci ibmcloud aliyun trino ship anaconda".split()
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


class Arguments:
    """The arguments of a program: plain words, and options with their values."""

    def __init__(self, words: Sequence[str], with_value: frozenset[str]) -> None:
        self.words = tuple(words)
        self.with_value = with_value
        self.plain: list[str] = []
        self.options: dict[str, str] = {}
        place = 0
        while place < len(words):
            word = words[place]
            place += 1
            if word == "--":
                self.plain += words[place:]
                break
            if len(word) < 2 or not word.startswith("-"):
                self.plain.append(word)
                continue
            name, equals, value = word.partition("=")
            if not equals and name in with_value and place < len(words):
                value = words[place]
                place += 1
            elif not equals and len(word) > 2 and word[1] != "-" and word[:2] in with_value:
                name, value = word[:2], word[2:]  # -nprod
            self.options.setdefault(name, value)

    def has(self, *names: str) -> bool:
        """Whether one of these options is present."""
        return any(name in self.options for name in names)

    def letters(self) -> str:
        """The letters of all short options together: `rsync -avn` has a, v and n."""
        return "".join(name[1:] for name in self.options if name[:1] == "-" and name[1:2] not in ("", "-"))

    def value(self, *names: str) -> str:
        """The value of the first of these options that has one."""
        return next((self.options[name] for name in names if self.options.get(name)), "")


_DRY = frozenset(
    "--dry-run --dryrun --dry_run --dry --noop --no-op --simulate --what-if --whatif --just-print"
    " --recon --help --syntax-check --list-tasks --list-hosts --list-tags --version --plan -dry-run"
    " --snapshot --show-plan --print-only --no-execute --validate-only --check-only --preview-only"
    " --no-push --dryRun --DryRun".split()
)
_REALLY = ("none", "false")  # --dry-run=none
_SAFE_LOCAL = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]", "host.docker.internal")  # noqa: S104 - compared


def _effect(call: Invocation) -> SideEffect | None:
    """The effect of one program, if it has one."""
    program, words = _named(call)
    base = ALIASES.get(program, program)
    options = frozenset(VALUE_OPTIONS.get(base, "").split())
    arguments = Arguments(words, options)
    if _is_dry(base, arguments):
        return None
    special = _SPECIAL.get(base)
    found = special(call, program, arguments) if special else None
    if found is None:
        found = _from_table(program, base, arguments)
    if found is None:
        found = _script(call, program, arguments)
    if found is None and call.where and not _only_reads(program, arguments):
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


Found = tuple[str, str, str]  # the kind (empty: no effect), the check, the target
# Kinds whose failure may leave part of the work done.
_IN_STEPS = frozenset("infrastructure migration deploy container remote".split())


def _named(call: Invocation) -> tuple[str, tuple[str, ...]]:
    """The program by its usual name, and its arguments: `python -m twine upload` is `twine upload`."""
    program, words = call.program.lower(), call.arguments
    if call.path.startswith("@"):  # a scoped package of npx
        program = {"@changesets/cli": "changeset"}.get(call.path.rpartition("@")[0] or call.path, program)
        program = "changeset" if call.path.startswith("@changesets/cli") else program
    elif call.launched and "@" in program[1:]:
        program = program[: program.index("@", 1)]  # npx wrangler@3
    if program.startswith(("python", "pypy")) or program == "py":
        place = 0
        while place < len(words) and words[place].startswith("-") and words[place] not in ("-m", "-c", "-"):
            place += 2 if words[place] in ("-W", "-X") else 1
        if words[place : place + 1] == ("-m",) and place + 1 < len(words):
            return words[place + 1].lower(), words[place + 2 :]
        if place < len(words) and words[place].endswith((".py", ".pyz")):
            name = words[place].rpartition("/")[2]
            if name in ("manage.py", "setup.py"):
                return name, words[place + 1 :]
    elif program in ("manage.py", "setup.py") or call.path.endswith("/manage.py"):
        return program, words
    elif program == "php" and words and words[0].rpartition("/")[2] in ("artisan", "console"):
        return words[0].rpartition("/")[2], words[1:]
    elif program in ("kubectl.exe",):
        return "kubectl", words
    elif program == "cargo" and words[:1] in (("sqlx",), ("diesel",)):
        return words[0], words[1:]
    elif program == "docker" and words[:1] == ("buildx",):
        return program, words[1:]
    return program, words


def _is_dry(base: str, arguments: Arguments) -> bool:
    for word in arguments.words:
        name, _, value = word.partition("=")
        if name in _DRY and value.lower() not in _REALLY:
            return True
    if arguments.plain[:1] == ["help"]:
        return True
    if base in _INTERPRETERS and "--check" in arguments.words:
        return True
    if base == "ansible" and arguments.has("--check", "-C"):
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
    rows = TABLE.get(base)
    if rows is None:
        return None
    text = " ".join(arguments.plain)
    for verbs, kind, checks in rows:
        pattern = _verbs(verbs)
        if (match := pattern.match(text)) is None:
            continue
        if not kind:
            return "", "", ""
        after = text[match.end() :].split() if verbs else arguments.plain
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
        if name.isdigit():
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


# --- programs that need more than a table -----------------------------------------------------------


def _git(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    plain = arguments.plain
    if plain[:1] == ["send-email"]:
        return "mail", "the sent folder", ""
    if plain[:2] in (["lfs", "push"], ["subtree", "push"], ["svn", "dcommit"], ["p4", "submit"]):
        return "push", "git fetch && git status -sb", ""
    if plain[:1] == ["review"]:
        return "pull_request", "the list of changes on the server", ""
    if plain[:1] != ["push"] or "n" in arguments.letters().replace("no", ""):
        return None
    inside = arguments.words[arguments.words.index("push") + 1 :]
    options = Arguments(inside, frozenset(VALUE_OPTIONS["git"].split()))
    remote = options.plain[0] if options.plain else options.value("--repo") or "origin"
    refs = [ref.lstrip("+").rpartition(":")[2] or ref.lstrip("+:") for ref in options.plain[1:]]
    refs = [ref.removeprefix("refs/heads/") for ref in refs]
    if options.has("--tags", "--mirror") and not refs:
        return "push", f"git ls-remote --tags {remote}", remote
    if options.has("--all", "--branches") and not refs:
        return "push", f"git ls-remote --heads {remote}", remote
    if refs and refs != ["HEAD"]:
        return "push", f"git ls-remote {remote} {' '.join(refs[:3])}", f"{remote} {' '.join(refs[:3])}"
    return "push", f"git ls-remote {remote} $(git branch --show-current)", remote


_GRAPHQL_READ = lazy_regex(r"(?i)\bmutation\b")
_ASKS = lazy_regex(
    r"(?i)/_(?:search|count|msearch|analyze|cat|explain|validate)\b|/(?:chat/)?completions\b|/embeddings\b"
    r"|/v1/messages\b|:generateContent|/api/(?:generate|chat|show)\b|/graphql/?$|/search/?(?:\?|$)"
    r"|/query/?(?:\?|$)"
)


def _api(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """`gh api`: fields make it a POST, and GraphQL changes something only with a mutation."""
    if arguments.plain[:1] != ["api"]:
        return None
    method = arguments.value("-X", "--method").upper()
    given = arguments.has("-f", "-F", "--field", "--raw-field", "--input")
    path = arguments.plain[1] if len(arguments.plain) > 1 else ""
    if path.strip("/") == "graphql":
        text = " ".join(arguments.words)
        if not _GRAPHQL_READ.search(text + call.stdin):
            return "", "", ""
        return "http", "the same object with a GraphQL query", "graphql"
    method = method or ("POST" if given else "GET")
    if method not in _WRITES:
        return "", "", ""
    return "http", f"{program} api {path}", f"{method} {path}"


_WRITES = ("POST", "PUT", "PATCH", "DELETE", "MKCOL", "MOVE", "COPY", "PURGE", "PROPPATCH")
_CURL_VALUES = frozenset(
    "-X --request -d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form"
    " --form-string -T --upload-file -H --header -u --user -o --output -A --user-agent -b --cookie"
    " -c --cookie-jar -e --referer -m --max-time --connect-timeout -w --write-out -x --proxy"
    " --cacert --cert --key --retry --retry-delay --resolve --url -K --config -r --range --interface"
    " -E --limit-rate --url-query --unix-socket -Y -y -z --oauth2-bearer --aws-sigv4 --max-redirs"
    " --retry-max-time -P --ftp-port -Q --quote -t -C -D --dump-header --method --post-data"
    " --post-file --body-data --body-file -O --output-document --password --timeout --tries"
    " --import-path -import-path -proto --proto -plaintext-host --auth -a --session --verify"
    " --download --mail-from --mail-rcpt --hostname --cert-type --ciphers --stderr --trace"
    " --trace-ascii".split()
)
_DATA = ("-d", "--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "-F",
     "--form",
         "--form-string")  # fmt: skip
_URL = lazy_regex(r"(?i)^(?:https?://|ftps?://|smtps?://)?[\w.\[\]${}:@-]+(?:[:/].*)?$")


def _curl(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    arguments = Arguments(call.arguments, _CURL_VALUES)
    url = arguments.value("--url") or next(iter(arguments.plain), "")
    method = arguments.value("-X", "--request", "--method").upper()
    if not method:
        for name, value in (("-T", "PUT"), ("--upload-file", "PUT"), ("-I", "HEAD"), ("--head", "HEAD")):
            method = method or (value if arguments.has(name) else "")
    if not method and arguments.has(*_DATA, "--post-data", "--post-file", "--body-data", "--body-file"):
        method = "POST"
    if arguments.has("-G", "--get"):
        method = "GET"
    if url.lower().startswith("smtp"):
        return "mail", "the recipient's inbox", url
    if program == "grpcurl":
        return "http", "a call that reads the same object", " ".join(arguments.plain[:2])
    body = " ".join(arguments.options.get(name, "") for name in _DATA) + call.stdin
    return _request(method or "GET", url, body)


def _request(method: str, url: str, body: str) -> Found:
    """A request to a web server: one that only asks, or one that changes something."""
    if method not in _WRITES:
        return "", "", ""
    if method == "POST" and _ASKS.search(url.partition("?")[0]) and not _GRAPHQL_READ.search(body):
        return "", "", ""
    host = url.partition("://")[2] or url
    local = host.startswith(_SAFE_LOCAL)
    kind = "local_http" if local else "message" if "hooks.slack.com" in url or "/webhooks/" in url else "http"
    return kind, f"curl -X GET {url.partition('?')[0]}", f"{method} {url.partition('?')[0]}"


_HTTPIE_ITEM = lazy_regex(r"^[\w.\[\]-]{1,80}(?::=@?|=@?|@)(?!=)")


def _httpie(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    plain = list(Arguments(call.arguments, _CURL_VALUES - {"-d", "-b", "-c", "-F", "-m"}).plain)
    method = ""
    if plain and plain[0].isalpha() and plain[0].isupper():
        method = plain.pop(0)
    url, items = (plain[0], plain[1:]) if plain else ("", [])
    if not method:
        method = "POST" if any(_HTTPIE_ITEM.match(item) for item in items) or call.stdin else "GET"
    if url.startswith(":"):
        url = f"localhost{url}"
    return _request(method, url, " ".join(items) + call.stdin)


_SQL_OPTIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    # program: options with statements, options with a file of statements
    "psql": (("-c", "--command"), ("-f", "--file")),
    "mysql": (("-e", "--execute"), ()),
    "sqlite3": (("-cmd",), ("-init",)),
    "sqlcmd": (("-Q", "-q"), ("-i",)),
    "clickhouse-client": (("-q", "--query"), ("--queries-file",)),
    "clickhouse": (("-q", "--query"), ("--queries-file",)),
    "duckdb": (("-c", "-s"), ("-f",)),
    "cqlsh": (("-e", "--execute"), ("-f", "--file")),
    "snowsql": (("-q", "--query"), ("-f", "--filename")),
    "bq": ((), ()),
    "usql": (("-c", "--command"), ("-f", "--file")),
    "sqlplus": ((), ()),
    "cockroach": (("-e", "--execute"), ("-f", "--file")),
    "trino": (("--execute",), ("-f", "--file")),
    "influx": (("-execute",), ()),
    "cypher-shell": ((), ("-f", "--file")),
}
_MYSQL_VALUES = frozenset(
    "-h -P -u -D -S -e --host --port --user --database --execute --socket --defaults-file -h -p -U"
    " -d -v -f -c -o -F -R -T --username --dbname --file --command --set -Q -q -i --query"
    " --queries-file -s -cmd -init -execute --filename --url --separator -separator -P".split()
)
_DUMP_IN = ("pg_restore", "mysqlimport", "mongorestore", "mongoimport", "dropdb", "createdb", "dropuser",
            "createuser", "pgloader", "mysqladmin")  # fmt: skip


def _database(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    base = ALIASES.get(program, program)
    values = _MYSQL_VALUES - {"-p"} if base == "mysql" else _MYSQL_VALUES
    arguments = Arguments(call.arguments, values)
    statements, files = _SQL_OPTIONS[base]
    texts = [call.stdin] if call.stdin else []
    words = list(call.arguments)
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in statements:
            texts.append(value if equals else words[place + 1] if place + 1 < len(words) else "")
        elif any(word.startswith(option) and len(option) == 2 and word != option for option in statements):
            texts.append(word[2:])
    if base in ("sqlite3", "bq", "duckdb", "cypher-shell", "usql"):
        texts += [word for word in arguments.plain if " " in word or word.startswith(".")]
    script = call.stdin_file or arguments.value(*files) if files else call.stdin_file
    for text in texts:
        if (found := sql_write(text, base)) is not None:
            return "database", _sql_check(call, base, arguments, found), found.target
    if script and not _reads_by_name(script):
        return "database", f"a SELECT on what {script.rpartition('/')[2]} changes", script
    return "", "", ""


def _sql_check(call: Invocation, base: str, arguments: Arguments, write: SqlWrite) -> str:
    """A query for what a statement changes, with the connection of the original."""
    connection = [
        f"{name} {arguments.options[name]}"
        for name in ("-h", "-U", "-d", "-p", "-u", "-D")
        if arguments.options.get(name) and not (base == "mysql" and name == "-p")
    ]
    plain = [word for word in arguments.plain if " " not in word][:1]
    option = {"psql": "-c", "mysql": "-e", "sqlite3": "", "duckdb": "-c"}.get(base)
    if option is None:
        return write.check
    return " ".join(part for part in (base, *connection, *plain, option, f'"{write.check}"') if part)


_READ_NAME = lazy_regex(r"(?i)(?:^|[_./-])(?:select|query|queries|report|check|verify|explain|read|inspect)")


def _reads_by_name(path: str) -> bool:
    return bool(_READ_NAME.search(path.rpartition("/")[2]))


def _restore(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    writes = {"create", "drop", "flush-privileges", "password", "shutdown", "kill"}
    if program == "mysqladmin" and not writes & set(arguments.plain):
        return "", "", ""
    if program == "pg_restore" and not arguments.has("-d", "--dbname"):
        return "", "", ""  # prints the script
    return "database", "a SELECT on what it restored", arguments.plain[-1] if arguments.plain else ""


_REDIS_WRITES = frozenset(
    "set setex setnx mset del unlink hset hmset hdel hincrby expire expireat persist incr incrby"
    " decr decrby append lpush rpush lpop rpop lrem lset ltrim sadd srem spop zadd zrem zincrby xadd"
    " xdel xtrim flushall flushdb rename getset getdel move copy restore publish config eval evalsha"
    " pexpire bitop setbit geoadd pfadd json.set json.del xgroup xack script swapdb shutdown save"
    " bgsave replicaof slaveof failover cluster".split()
)


def _redis(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    words = arguments.plain
    lines = [words] if words else [line.split() for line in call.stdin.splitlines()]
    for line in lines:
        if not line or line[0].lower() not in _REDIS_WRITES:
            continue
        verb, key = line[0].lower(), line[1] if len(line) > 1 else ""
        if verb in ("config", "script", "cluster") and key.lower() in (
            "get",
            "list",
            "info",
            "exists",
            "nodes",
        ):
            continue
        check = (
            "redis-cli dbsize" if verb.startswith("flush") else f"redis-cli type {key} && redis-cli get {key}"
        )
        return "database", check, key
    return "", "", ""


_MONGO_WRITES = lazy_regex(
    r"\.(insert(?:One|Many)?|update(?:One|Many)?|replaceOne|delete(?:One|Many)|remove|drop(?:Database"
    r"|Index\w*)?"
    r"|create(?:Index|Collection|User|View)\w*|bulkWrite|findOneAnd(?:Update|Delete|Replace)"
    r"|findAndModify|save"
    r"|renameCollection|grantRolesToUser|dropUser|runCommand)\s*\("
)
_MONGO_TARGET = lazy_regex(r"\bdb(?:\.getCollection\(['\"]([\w.-]+)['\"]\)|\.([\w.-]+?))\.\w+\s*\(")


def _mongo(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    words = list(call.arguments)
    texts = [words[place + 1] for place, word in enumerate(words[:-1]) if word in ("--eval", "-eval")]
    texts += [word.partition("=")[2] for word in words if word.startswith("--eval=")]
    texts.append(call.stdin)
    for text in texts:
        if _MONGO_WRITES.search(text):
            found = _MONGO_TARGET.search(text)
            name = (found[1] or found[2]) if found else "COLLECTION"
            return "database", f"db.{name}.find()", name
    scripts = [word for word in arguments.plain if word.endswith(".js")]
    if (scripts or call.stdin_file) and not _reads_by_name((scripts or [call.stdin_file])[0]):
        return "database", f"a find() on what {(scripts or [call.stdin_file])[0]} changes", ""
    return "", "", ""


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


def _cloud(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    plain = arguments.plain
    text = f"{program} {' '.join(plain)}"
    if text.startswith(CLOUD_LOCAL) or not plain:
        return "", "", ""
    if program == "aws" and plain[:1] == ["s3"]:
        return _storage("aws s3", plain[1:])
    if program == "gcloud" and plain[:1] == ["storage"]:
        return _storage("gcloud storage", plain[1:])
    if program == "gcloud" and plain[:2] == ["compute", "ssh"]:
        return None
    # The verb is the operation of aws, and one of the words of gcloud and az, which come before its objects.
    for place, word in enumerate(plain[: 2 if program == "aws" else 6]):
        if program == "aws" and place == 0:
            continue
        verb = word.partition("-")[0] if "-" in word else word
        if word in CLOUD_VERBS or (verb in CLOUD_VERBS and not word.endswith("-status")):
            return "cloud", _cloud_check(program, plain, place, arguments), " ".join(plain[: place + 1])
        if program != "aws" and word in ("list", "describe", "show", "get", "logs", "read", "tail", "wait"):
            break
    return "", "", ""


def _cloud_check(program: str, plain: Sequence[str], place: int, arguments: Arguments) -> str:
    noun = plain[place].partition("-")[2]
    before = " ".join(plain[:place])
    if program == "aws":
        pairs = zip(arguments.words, arguments.words[1:], strict=False)
        ends = ("-name", "-id", "-arn", "-identifier", "-ids")
        names = [
            f"{name} {value}"
            for name, value in pairs
            if name.startswith("--") and (name.endswith(ends) or name in _AWS_NAMES) and value[:1] != "-"
        ]
        named = f" {' '.join(names[:2])}" if names else ""
        if before == "lambda":
            return f"aws lambda get-function{named}"
        if before == "cloudformation":
            return f"aws cloudformation describe-stacks{named}"
        if before == "s3api":
            return "aws s3api list-objects-v2" + named
        return f"aws {before} describe-{noun or 'resources'}{'' if noun.endswith('s') else 's'}{named}"
    show = "describe" if program == "gcloud" else "show"
    rest = " ".join(word for word in plain[place + 1 : place + 2])
    if program == "gcloud" and before in ("run", "app"):
        before = f"{before} {'services' if before == 'run' else 'versions'}"
        show = show if rest else "list"
    names = _with(arguments, "-g", "-n", "--name", "--region")
    return f"{program} {before} {show}{f' {rest}' if rest else ''}{names}"


_AWS_NAMES = ("--cluster", "--service", "--bucket", "--key", "--topic", "--queue-url", "--table-name")


def _with(arguments: Arguments, *names: str) -> str:
    return "".join(f" {name} {arguments.options[name]}" for name in names if arguments.options.get(name))


def _storage(program: str, plain: Sequence[str]) -> Found:
    """`aws s3` and the like: a copy is an effect only if it goes there."""
    verb, places = (plain[0], plain[1:]) if plain else ("", ())
    if verb in ("cp", "sync", "rsync"):
        target = places[-1] if len(places) > 1 else ""
        if "://" not in target:
            return "", "", ""
        return "upload", f"{program} ls {target}", target
    if verb in ("rm", "mb", "rb", "mv", "website", "buckets", "objects"):
        if verb == "mv" and not any("://" in place for place in places):
            return "", "", ""
        return "upload", f"{program} ls {places[-1] if places else ''}".strip(), places[-1] if places else ""
    return "", "", ""


def _gsutil(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    plain = arguments.plain
    if plain[:1] and plain[0] in ("cp", "rsync", "mv"):
        return _storage("gsutil", plain)
    return None


def _copy(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """rsync, scp and sftp: an effect if the target is on another machine."""
    if program == "sftp":
        if any(line.split()[:1] and line.split()[0] in ("put", "mput", "rm", "rename", "mkdir", "rmdir")
               for line in call.stdin.splitlines()):  # fmt: skip
            return "upload", "sftp ls", ""
        return "", "", ""
    if program == "rsync" and ("n" in arguments.letters() or arguments.has("--list-only")):
        return "", "", ""
    target = arguments.plain[-1] if len(arguments.plain) > 1 else ""
    host, colon, path = target.partition(":")
    if target.startswith("rsync://"):
        return "upload", f"rsync --list-only {target}", target
    if not colon or "/" in host or (len(host) == 1 and path.startswith("\\")):
        return "", "", ""
    return "upload", f"ssh {host} ls -la {path or '~'}", target


_TRIGGERS = frozenset(
    "deploy deployment publish release migrate migrations migration rollback ship promote provision"
    " teardown undeploy redeploy upload".split()
)
_HARMLESS = frozenset(
    "dry dryrun check checks plan notes note status lint validate diff generate gen create make new"
    " list show info log logs help build docs doc test tests verify preview-only template templates"
    " config configure init prepare add types schema version versions bump local format fmt"
    " changelog watch wait".split()
)
_WORD_BREAK = lazy_regex(r"[^A-Za-z0-9]+|(?<=[a-z])(?=[A-Z])")
_RUNNERS = frozenset(
    "make gmake just task npm pnpm yarn bun deno mise rake nx turbo composer invoke inv nox tox"
    " doit poe hatch pdm mage ant sbt lein gulp grunt moon wireit cake fab earthly dagger".split()
)
_INTERPRETERS = frozenset(
    "bash sh zsh dash python python3 node bun deno ruby perl php tsx ts-node go source . pwsh"
    " powershell".split()
)
_SCRIPT_ENDS = (
    ".sh",
    ".bash",
    ".py",
    ".js",
    ".ts",
    ".mjs",
    ".cjs",
    ".rb",
    ".pl",
    ".php",
    ".ps1",
    ".zsh",
    ".mts",
)


def _script(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """A target or script whose name says that it deploys, publishes or migrates; inline code too."""
    name = _script_name(call, program, arguments)
    if not name:
        return _inline(call, program)
    words = [word.lower() for word in _WORD_BREAK.split(name) if word]
    trigger = next((word for word in words if word in _TRIGGERS), "")
    if (
        not trigger
        or (set(words) - {trigger}) & _HARMLESS - {"docs", "doc", "test"}
        or words[0] in ("test", "tests")
    ):
        return None
    if trigger.startswith("migrat"):
        return "migration", "the schema's version in the database", name
    if trigger in ("publish", "release", "upload"):
        return "publish", "what the registry or the list of releases shows", name
    return "deploy", "the version that runs there now", name


def _script_name(call: Invocation, program: str, arguments: Arguments) -> str:
    words = [word for word in arguments.words if not word.startswith("-") and "=" not in word]
    if program in _RUNNERS:
        if words[:1] in (["run"], ["run-script"], ["task"], ["exec"]):
            words = words[1:]
        elif program in ("npm", "pnpm", "bun", "deno") and words[:1] != ["run"]:
            return words[0] if words and words[0].endswith(_SCRIPT_ENDS) else ""
        value_options = frozenset(
            VALUE_OPTIONS.get("make" if program in ("make", "gmake") else "npm", "").split()
        )
        plain = [word for word in Arguments(arguments.words, value_options).plain if "=" not in word]
        plain = plain[1:] if plain[:1] and plain[0] in ("run", "run-script", "task", "exec") else plain
        named = [word for word in plain if _TRIGGERS & {part.lower() for part in _WORD_BREAK.split(word)}]
        if program in ("make", "gmake", "rake", "just", "task"):
            return named[0] if named else ""
        return named[0] if named and named[0] == plain[0] else ""
    if program in _INTERPRETERS:
        if program in ("bash", "sh", "zsh") and any(word in ("-n", "--version") for word in arguments.words):
            return ""
        if words[:1] == ["run"]:
            words = words[1:]
        return _stem(words[0]) if words and (words[0].endswith(_SCRIPT_ENDS) or "/" in words[0]) else ""
    if call.path.endswith(_SCRIPT_ENDS) or "/" in call.path:
        if call.path.startswith(("/usr/bin/", "/bin/", "/usr/local/bin/", "/opt/homebrew/bin/")):
            return ""
        return _stem(call.path)
    return ""


def _stem(path: str) -> str:
    name = path.rpartition("/")[2]
    for end in _SCRIPT_ENDS:
        name = name.removesuffix(end)
    return name


_CODE_POSTS = lazy_regex(
    r"(?i)\b(?:requests|httpx|session|client|axios|http|got|aiohttp)\s*\.\s*(post|put|patch|delete)\s*\("
    r"|\bmethod\s*[:=]\s*[\"'](POST|PUT|PATCH|DELETE)[\"']"
)
_CODE_MAILS = lazy_regex(r"\bsmtplib\b|\.sendmail\(|\.send_message\(")
_CODE_URL = lazy_regex(r"[\"'`](https?://[^\"'`\s]{3,200})")


def _inline(call: Invocation, program: str) -> Found | None:
    """Code on the command line that posts or mails."""
    if program.rstrip("0123456789.") not in ("python", "node", "ruby", "bun", "deno", "php", "perl"):
        return None
    words = call.arguments
    code = next(
        (words[place + 1] for place, word in enumerate(words[:-1]) if word in ("-c", "-e", "-r", "--eval")),
        "",
    )
    code = (code or call.stdin)[:20_000]
    if not code:
        return None
    if _CODE_MAILS.search(code):
        return "mail", "the sent folder", ""
    found = _CODE_POSTS.search(code)
    if found is None:
        return None
    url = _CODE_URL.search(code)
    return _request((found[1] or found[2]).upper(), url[1] if url else "", code)


_READERS = frozenset(
    "ls cat head tail grep egrep fgrep rg find df du ps top htop free uptime whoami hostname id echo printf"
    " pwd env"
    " printenv which whereis test [ stat wc sort uniq journalctl cd export set source sleep true false"
    " uname date nproc lsof ss netstat ping dig nslookup host jq awk tree md5sum sha256sum sha1sum"
    " diff less more cut tr xxd od file readlink realpath dirname basename type command ip ifconfig"
    " mount lsblk vmstat iostat sar dmesg last w who groups getent curl wget tmux screen node python"
    " python3 ruby java go php sqlite3 psql mysql redis-cli mongosh nginx zcat zgrep strings column"
    " yq history tee exit pgrep sysctl lscpu cal seq xargs openssl".split()
)
_READ_VERBS = frozenset(
    "status log logs show list ls get describe ps inspect diff info version stats top events"
    " history images config branch remote rev-parse fetch is-active is-enabled cat list-units port"
    " search current".split()
)


def _only_reads(program: str, arguments: Arguments) -> bool:
    """Whether a command on another machine surely changes nothing there."""
    if program == "sed":
        return "i" not in arguments.letters()
    if program in _READERS or program.startswith("#"):
        return True
    verb = next((word for word in arguments.plain if word != "compose"), "")
    return verb in _READ_VERBS or (not arguments.plain and arguments.has("-v", "--version", "-V"))


def _crontab(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    if arguments.has("-l") or (not arguments.plain and not arguments.has("-r", "-e")):
        return "", "", ""
    return "service", "crontab -l", "crontab"


def _mail(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """A mail program with a recipient; without one it reads."""
    arguments = Arguments(
        call.arguments, frozenset("-s -a -c -b -r -S -A -i -t --to --from --server".split())
    )
    to = next((word for word in arguments.plain if "@" in word), "") or arguments.value("--to", "-t")
    if not to and not (arguments.has("-t") and call.stdin) and program not in ("sendmail", "msmtp", "swaks"):
        return "", "", ""
    return "mail", "mailq, or the sent folder", to


_OWN_PACKAGE = "$(node -p 'require(\"./package.json\").name')"


def _npm(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """`npm publish` names its package only in the output, unless a folder or a version is given."""
    plain = arguments.plain
    if "publish" not in plain[:3] or plain[:1] == ["run"]:
        return None
    if arguments.has("--dry-run"):
        return "", "", ""
    package = arguments.value("-w", "--workspace", "--filter", "-F")
    return "publish", f"npm view {package or _OWN_PACKAGE} version", package


_SPECIAL: Mapping[str, Callable[[Invocation, str, Arguments], Found | None]] = {
    "git": _git,
    "gh": _api,
    "glab": _api,
    "curl": _curl,
    "curlie": _curl,
    "wget": _curl,
    "grpcurl": _curl,
    "http": _httpie,
    "https": _httpie,
    "xh": _httpie,
    "xhs": _httpie,
    **dict.fromkeys(_SQL_OPTIONS, _database),
    **dict.fromkeys(_DUMP_IN, _restore),
    "redis-cli": _redis,
    "mongosh": _mongo,
    "docker": _container,
    "docker-compose": _container,
    "aws": _cloud,
    "gcloud": _cloud,
    "az": _cloud,
    "oci": _cloud,
    "ibmcloud": _cloud,
    "aliyun": _cloud,
    "gsutil": _gsutil,
    "rsync": _copy,
    "scp": _copy,
    "sftp": _copy,
    "crontab": _crontab,
    "npm": _npm,
    **dict.fromkeys(("sendmail", "msmtp", "swaks", "mutt", "mailx", "mail", "s-nail"), _mail),
}


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
