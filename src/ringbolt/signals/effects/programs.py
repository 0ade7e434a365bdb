"""Programs that need more than a row of the table: git, web clients, databases, containers, clouds, mail."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...model.lazy_regex import lazy_regex
from ..calls.launchers import Invocation
from ..calls.sql_statements import SqlWrite, sql_write
from .arguments import Arguments, Found
from .table import ALIASES, CLOUD_LOCAL, CLOUD_VERBS, VALUE_OPTIONS

_SAFE_LOCAL = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]", "host.docker.internal")  # noqa: S104 - compared


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
    return web_request(method or "GET", url, body)


def web_request(method: str, url: str, body: str) -> Found:
    """A request to a web server: one that only asks, or one that changes something."""
    if method not in _WRITES:
        return "", "", ""
    if method == "POST" and _ASKS.search(url.partition("?")[0]) and not _GRAPHQL_READ.search(body):
        return "", "", ""
    host = url.partition("://")[2] or url
    local = host.startswith(_SAFE_LOCAL)
    kind = "local_http" if local else "message" if "hooks.slack.com" in url or "/webhooks/" in url else "http"
    return kind, f"curl -X GET {url.partition('?')[0]}", f"{method} {url.partition('?')[0]}"


def _powershell_request(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    """`Invoke-RestMethod -Method Post -Uri …`; PowerShell does not mind the case of its options."""
    words = [word.lower() if word.startswith("-") else word for word in call.arguments]
    given = Arguments(words, frozenset(("-method", "-uri", "-body", "-headers", "-contenttype", "-infile")))
    url = given.value("-uri") or next(iter(given.plain), "")
    return web_request(given.value("-method").upper() or "GET", url, given.value("-body"))


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
    return web_request(method, url, " ".join(items) + call.stdin)


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


_REDIS_SHOWS = ("get", "list", "info", "exists", "nodes")


def _redis(call: Invocation, program: str, arguments: Arguments) -> Found | None:
    words = arguments.plain
    lines = [words] if words else [line.split() for line in call.stdin.splitlines()]
    for line in lines:
        if not line or line[0].lower() not in _REDIS_WRITES:
            continue
        verb, key = line[0].lower(), line[1] if len(line) > 1 else ""
        if verb in ("config", "script", "cluster") and key.lower() in _REDIS_SHOWS:
            continue
        check = (
            "redis-cli dbsize" if verb.startswith("flush") else f"redis-cli type {key} && redis-cli get {key}"
        )
        return "database", check, key
    return "", "", ""


_MONGO_WRITES = lazy_regex(
    r"\.(insert(?:One|Many)?|update(?:One|Many)?|replaceOne|delete(?:One|Many)|remove|drop(?:Database"
    r"|Index\w*)?|create(?:Index|Collection|User|View)\w*|bulkWrite|findOneAnd(?:Update|Delete|Replace)"
    r"|findAndModify|save|renameCollection|grantRolesToUser|dropUser|runCommand)\s*\("
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


_CLOUDS = tuple("aws gcloud az oci ibmcloud aliyun linode-cli vultr-cli scw openstack civo upctl exo".split())


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
    # The verb is the operation of aws, and one of the words of gcloud and az, which come before its objects:
    # `gcloud run services describe` reads, whatever `run` does elsewhere.
    if program != "aws" and _CLOUD_READS.intersection(plain[:5]):
        return "", "", ""
    for place, word in enumerate(plain[: 2 if program == "aws" else 6]):
        if program == "aws" and place == 0:
            continue
        verb = word.partition("-")[0] if "-" in word else word
        if word in CLOUD_VERBS or (verb in CLOUD_VERBS and not word.endswith("-status")):
            return "cloud", _cloud_check(program, plain, place, arguments), " ".join(plain[: place + 1])
    return "", "", ""


_CLOUD_READS = frozenset("list describe show get logs read tail wait get-value list-instances".split())


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


SPECIAL: Mapping[str, Callable[[Invocation, str, Arguments], Found | None]] = {
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
    **dict.fromkeys(_CLOUDS, _cloud),
    **dict.fromkeys(("invoke-restmethod", "invoke-webrequest", "irm", "iwr"), _powershell_request),
    "gsutil": _gsutil,
    "rsync": _copy,
    "scp": _copy,
    "sftp": _copy,
    "crontab": _crontab,
    "npm": _npm,
    **dict.fromkeys(("sendmail", "msmtp", "swaks", "mutt", "mailx", "mail", "s-nail"), _mail),
}
