"""The form of a command: what stays the same when it is written in another way.

`cd shop && PYTHONPATH=src uv run python3.12 -m pytest "tests/test_a.py" -q 2>&1 | tail -5` and `pytest
tests/test_a.py` have the same form. What was left out (variables, launchers, the folder, the program's
path) is kept beside it: `same_try` decides by the error of the first try whether it makes a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...model.lazy_regex import lazy_regex
from ...model.types import Value
from .launchers import Invocation, invocations
from .sql_statements import sql_write

MOST_COMMAND = 8000  # characters of a command that are read
_MOST_PARTS = 12
_MOST_WORDS = 60

_VERSION = lazy_regex(r"(?<=[a-z])[-.]?\d+(?:\.\d+)*$")
_PACKAGE_VERSION = lazy_regex(r"(?<=.)@[\w.^~*-]+$")
_REDIRECTED = lazy_regex(r"(?<![<>&=-])>{1,2}\|?\s*([^\s&|;()<>]+)")
_QUOTED_TEXT = lazy_regex(r"'[^'\n]*'|\"(?:[^\"\\\n]|\\.)*\"")

# Options that change what is printed, and not what is done: of every program, and of some.
_PRINTING = frozenset(
    "--verbose --quiet --silent --color --colour --no-color --no-colour --progress --no-progress --colors"
    " --no-colors --no-pager --no-header --no-summary --pretty -v -vv -vvv -q -qq".split()
)
_PRINTING_OF: dict[str, frozenset[str]] = {
    "pytest": frozenset("-s -x -l -ra -ra -rf -rs --tb --durations --no-cov --maxfail --showlocals".split()),
    "go": frozenset("-v -count -json".split()),
    "make": frozenset("-s -k -b --no-print-directory".split()),
    "jest": frozenset("--ci --watchall --silent --verbose --runinband -i".split()),
    "vitest": frozenset("--reporter --run".split()),
    "curl": frozenset(
        "-s -ss -S -sS -f -sf -fs -sSf -fsS -fsSL -sL -i -L -k -g --fail --location --show-error".split()
    ),
    "npm": frozenset("-s --if-present".split()),
    "tsc": frozenset("--pretty".split()),
}
# Programs whose `-v` or `-q` is not about printing.
_MEANS_SOMETHING = frozenset("docker podman nerdctl mount grep rg date".split())
_SAME_OPTION = {
    "--request": "-X",
    "--data": "-d",
    "--data-raw": "-d",
    "--data-binary": "-d",
    "--json": "-d",
    "--header": "-H",
    "--message": "-m",
    "--namespace": "-n",
    "--force": "-f",
    "--recursive": "-r",
    "--yes": "-y",
    "--title": "-t",
    "--body": "-b",
    "--command": "-c",
}
_ORDERED = frozenset("cp mv ln diff rsync scp install".split())  # `a b` and `b a` differ
_RUNS_SCRIPT = frozenset(
    "python node ruby perl php bash sh zsh dash deno bun ts-node tsx Rscript lua".split()
)
# Launchers that do not help where a program was not found or not allowed.
_NEUTRAL = frozenset(
    "env time timeout gtimeout nice ionice nohup setsid stdbuf unbuffer chronic watch xargs".split()
)
_RUNNERS = frozenset("npm yarn pnpm bun".split())  # `npm run test` is `npm test`

# Commands that neither do nor show anything worth comparing.
IDLE = frozenset(
    "cd pushd popd echo printf true false : set export unset source . sleep wait date pwd test [ [[ read"
    " declare local alias ulimit trap shopt exit return break continue umask clear".split()
)
_READS = frozenset(
    "ls cat head tail less more grep egrep fgrep rg ag awk jq yq wc diff cmp file stat du df ps env"
    " printenv which whereis type tree sort uniq cut tr column nl fold basename dirname realpath readlink"
    " find fd bat hexdump xxd od strings sha256sum md5sum sha1sum uname whoami id hostname uptime free top"
    " lsof netstat ss ping dig nslookup host man help tldr history seq yes tee comm paste rev tac shuf zcat"
    " pgrep mailq nproc locale getent groups sysctl lscpu lsblk dmesg journalctl test expr bc".split()
)
# Subcommands that only read; of some programs, two words.
_READING_VERBS: dict[str, frozenset[str]] = {
    "git": frozenset(
        "status log diff show blame rev-parse ls-files ls-remote grep describe shortlog reflog cat-file"
        " rev-list merge-base name-rev whatchanged help version for-each-ref check-ignore ls-tree var"
        " count-objects".split()
    ),
    "gh": frozenset("view list diff checks status search".split()),
    "docker": frozenset("ps logs images inspect version info stats top port history search events".split()),
    "kubectl": frozenset(
        "get describe logs explain top version config api-resources cluster-info diff".split()
    ),
    "helm": frozenset("list ls status get history show template lint search version diff".split()),
    "terraform": frozenset("plan show validate output version providers graph fmt".split()),
    "npm": frozenset(
        "ls list view info outdated audit why root prefix explain show v search ping whoami".split()
    ),
    "yarn": frozenset("list info why outdated audit".split()),
    "pnpm": frozenset("list ls why outdated audit".split()),
    "pip": frozenset("list show freeze check index search".split()),
    "uv": frozenset("tree version".split()),
    "cargo": frozenset("tree metadata search version".split()),
    "go": frozenset("list env version doc vet".split()),
    "systemctl": frozenset("status is-active is-enabled list-units show cat".split()),
    "alembic": frozenset("history current heads show branches check".split()),
    "aws": frozenset("describe list get ls".split()),
    "gcloud": frozenset("describe list info".split()),
    "az": frozenset("show list".split()),
    "brew": frozenset("list info search outdated".split()),
    "apt": frozenset("list show search policy".split()),
}
SQL_CLIENTS = frozenset("psql mysql sqlite sqlite3 mariadb duckdb".split())
_CHECKS = frozenset(
    "pytest py.test unittest mypy pyright tox nox jest vitest mocha rspec phpunit ctest shellcheck yamllint"
    " actionlint golangci-lint flake8 pylint hadolint tsc".split()
)
_CHECK_WORDS = lazy_regex(
    r"(?:unit-?|e2e-?)?(?:test|tests|lint|check|typecheck|type-check|vet|clippy)(?:[:_-][\w:-]+)?$"
)
_FIXES = lazy_regex(r"fix|write|format|update|watch")
_CHECKING = frozenset(
    "npm yarn pnpm bun make go cargo mvn gradle gradlew dotnet swift just task ruff eslint biome".split()
)
_CHANGING_OPTIONS = frozenset(
    "--fix --write --unsafe-fixes -w --update-snapshot -u --bless --fix-dry-run".split()
)
# Options by which any program only says what it would do, without their dashes: `terraform apply -help`.
_DRY = frozenset(
    "dry-run dryrun dry_run dry noop no-op simulate what-if whatif just-print recon help syntax-check"
    " list-tasks list-hosts list-tags version plan snapshot show-plan print-only no-execute validate-only"
    " check-only preview-only no-push".split()
)
_MEANS_SHOW = frozenset("--help --version".split())


def is_dry(option: str) -> bool:
    """Whether an option makes any program only say what it would do; `--dry-run=none` does not."""
    name, _, value = option.partition("=")
    return option.startswith("-") and name.lstrip("-").lower() in _DRY and value not in ("none", "false")


class Part(Value, frozen=True, kw_only=True):
    """One program of a command: its name, words and options in a comparable form, and how it was started.

    `launch` is how the program was called (its path and launchers), `env` the variables set for it, `where`
    the machine or container it runs in.
    """

    program: str
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    stdin: str = ""
    launch: str = ""
    env: tuple[tuple[str, str], ...] = ()
    folder: str = ""
    where: str = ""
    after: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What two parts have in common that do the same."""
        words = self.words if self.program in _ORDERED else tuple(sorted(self.words))
        return self.program, words, self.options, self.stdin, self.where

    @property
    def verb(self) -> str:
        """The first word after the program."""
        return self.words[0] if self.words else ""

    def is_dry(self) -> bool:
        """Whether it only says what it would do."""
        dry = ("--check", "-h", "-n") if self.program in ("make", "rsync") else ("--check", "-h")
        return any(option in dry or is_dry(option) for option in self.options)


class CommandForm(Value, frozen=True, kw_only=True):
    """The parts of a command that do something; those that only read, if there are no others."""

    parts: tuple[Part, ...] = ()
    reads: bool = False  # it only reads
    waits: bool = False  # it lets time pass
    text: str = ""  # as it was written, with single spaces

    @property
    def key(self) -> tuple[object, ...]:
        """What two commands have in common that do the same."""
        return tuple(part.key for part in self.parts)


def command_form(command: str, root: str = "") -> CommandForm:
    """The form of a command line; paths below `root` become relative."""
    every: list[Part] = []
    waits = False
    for one in invocations(command[:MOST_COMMAND]):
        waits = waits or one.program in ("sleep", "wait")
        if one.program not in IDLE and len(every) < _MOST_PARTS:
            every.append(part_of(one, root))
    active = [part for part in every if not only_reads(part)]
    text = " ".join(command[:MOST_COMMAND].split())
    return CommandForm(parts=tuple(active or every), reads=not active, waits=waits, text=text)


def part_of(one: Invocation, root: str = "") -> Part:
    """A program that a command line runs, in a comparable form."""
    words = list(one.arguments)[:_MOST_WORDS]
    launch = [*(name for name in one.launched if name.split()[0] not in _NEUTRAL), one.path]
    folder = "" if one.folder == "." else one.folder
    program = _program(one.program)
    while program in _RUNS_SCRIPT and words:
        skipped = _interpreter_options(words)
        if skipped < 0:
            break
        if words[skipped : skipped + 1] == ["-m"] and len(words) > skipped + 1:
            launch.append(f"{program} -m")
            program, words = words[skipped + 1].lower(), words[skipped + 2 :]
        elif "." in words[skipped][1:] or "/" in words[skipped]:
            launch.append(program)
            program, words = _program(words[skipped].rpartition("/")[2]), words[skipped + 1 :]
        else:
            break
    if program in ("git", "make") and "-C" in words[:-1]:
        place = words.index("-C")
        folder = words[place + 1]
        del words[place : place + 2]
    if program in _RUNNERS and words[:1] == ["run"]:
        words = words[1:]
    found, options = _sorted_arguments(program, words, root)
    return Part(
        program=program,
        words=tuple(found),
        options=tuple(sorted(set(options))),
        stdin=" ".join(one.stdin.split()) if one.stdin else "",
        launch=" ".join(launch),
        env=one.env,
        folder=_plain_path(folder, root) if folder else "",
        where=one.where,
        after=one.after,
    )


def _interpreter_options(words: list[str]) -> int:
    """How many of an interpreter's own options come first; -1 if it runs no script or module."""
    place = 0
    while place < len(words) and words[place].startswith("-") and words[place] != "-m":
        if words[place] in ("-c", "-e", "-", "-p", "--eval", "--print", "-r"):
            return -1
        place += 2 if words[place] in ("-W", "-X", "-I", "--import", "--loader", "--require") else 1
    return place if place < len(words) else -1


def _program(name: str) -> str:
    name = name.rpartition("/")[2].rpartition("\\")[2].lower()
    for ending in (".exe", ".cmd", ".bat"):
        name = name.removesuffix(ending)
    return _VERSION.sub("", _PACKAGE_VERSION.sub("", name)) or name


def _sorted_arguments(program: str, words: list[str], root: str) -> tuple[list[str], list[str]]:
    """The words and the options of a program, without options that only change what is printed."""
    found: list[str] = []
    options: list[str] = []
    own = _PRINTING_OF.get(program, frozenset())
    printing = own if program in _MEANS_SOMETHING else own | _PRINTING
    for word in words:
        if word == "--":
            continue
        if not word.startswith("-") or word == "-" or " " in word:
            found.append(_plain_path(" ".join(word.split()), root))
            continue
        option, equals, value = word.partition("=")
        if option in printing or option.lower() in printing:
            continue
        if program == "make" and option.startswith("-j"):
            continue
        options.append(_SAME_OPTION.get(option, option))
        if equals:
            found.append(_plain_path(value, root))
    return found, options


def _plain_path(word: str, root: str) -> str:
    if root and word.startswith(f"{root.rstrip('/')}/"):
        word = word[len(root.rstrip("/")) + 1 :]
    while word.startswith("./") and len(word) > 2 and word[2] not in "./":
        word = word[2:]
    return word.rstrip("/") if len(word) > 1 and "://" not in word else word


# --- what a part does -------------------------------------------------------------------------------


def only_reads(part: Part) -> bool:
    """Whether a program changes nothing: neither here nor elsewhere."""
    if any(option in _MEANS_SHOW for option in part.options) or part.words == ("version",):
        return True
    program, words = part.program, part.words
    if program in ("sed", "perl"):
        return not any(option.startswith("-i") or option in ("--in-place", "-pi") for option in part.options)
    if program in ("find", "fd"):
        return not {"-delete", "-exec", "-execdir", "-ok", "-x", "--exec"} & set(part.options)
    if program == "tee":
        return part.after == "|"
    if program in _READS:
        return True
    if program in ("curl", "wget", "http", "https", "xh"):
        return not sends(part)
    if program == "git":
        return _git_reads(part)
    if program == "gh":
        if words[:1] == ("api",):
            return not (
                {"-X", "-f", "-F", "--method", "--field", "--raw-field", "--input"} & set(part.options)
            )
        return part.verb in ("search", "status") or (len(words) > 1 and words[1] in _READING_VERBS["gh"])
    if program in SQL_CLIENTS:
        text = " ".join((*words, part.stdin)).lower()
        asks = any(word in text for word in ("select ", "show ", "explain ", "\\d"))
        return asks and not written_by_sql(part)
    verbs = _READING_VERBS.get(program, frozenset())
    if program in ("aws", "gcloud", "az"):
        return any(word.partition("-")[0] in verbs or word in verbs for word in words[1:4])
    if program == "docker" and part.verb in ("compose", "container", "image", "volume", "network"):
        return len(words) > 1 and words[1] in (verbs | {"ls", "config"})
    return bool(words) and any(
        word in verbs for word in words[:2] if words[0] == word or program == "kubectl"
    )


def written_by_sql(part: Part) -> str:
    """What the first statement that a database client runs and that writes does: `delete`, `drop` …"""
    found = (sql_write(text) for text in (*part.words, part.stdin) if " " in text)
    return next((one.statement for one in found if one), "")


_GIT_LISTS = frozenset("--list -l --show-current -a --all -r --contains --merged --get -vv".split())


def _git_reads(part: Part) -> bool:
    words, verb = part.words, part.verb
    if verb in _READING_VERBS["git"]:
        return True
    if verb in ("branch", "tag", "remote", "stash", "config", "worktree", "submodule", "notes"):
        shows = words[1:2] and words[1] in ("list", "show", "status", "get-url", "show-ref")
        return bool((len(words) == 1 and verb != "stash") or _GIT_LISTS & set(part.options) or shows)
    return verb == ""


def sends(part: Part) -> bool:
    """Whether an HTTP client sends something: any method but GET and HEAD, or a body."""
    options, words = set(part.options), part.words
    if part.program == "wget":
        return bool({"--post-data", "--post-file", "--method", "--body-data"} & options)
    method = [word for word in words if word in ("POST", "PUT", "PATCH", "DELETE")]
    attached = any(option[:2] == "-X" and option[2:] not in ("", "GET", "HEAD") for option in options)
    return (
        bool(method)
        or attached
        or bool({"-d", "-F", "--form", "-T", "--upload-file", "--data-urlencode"} & options)
    )


def only_checks(part: Part) -> bool:
    """Whether a program tests or lints, and leaves the sources as they are."""
    if _CHANGING_OPTIONS & set(part.options):
        return False
    if part.program in _CHECKS:
        return part.program != "tsc" or "--noEmit" in part.options
    named = [word for word in part.words[:2] if _CHECK_WORDS.match(word)]
    return part.program in _CHECKING and bool(named) and not any(_FIXES.search(word) for word in named)


def changes_nothing(command: str) -> bool:
    """Whether nothing is different after a command: it only reads, tests or lints."""
    form = command_form(command)
    if form.waits or written_files(command):
        return False
    return form.reads or all(only_checks(part) or only_reads(part) for part in form.parts)


_NULL = ("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty")


def written_files(command: str) -> list[str]:
    """The files that redirections of a command line write."""
    if ">" not in command:
        return []
    plain = _QUOTED_TEXT.sub(
        lambda found: "_" if " " in found[0] or ">" in found[0] else found[0], command[:MOST_COMMAND]
    )
    targets = (found[1].strip("'\"") for found in _REDIRECTED.finditer(plain))
    return [name for name in targets if name not in _NULL and not name.isdecimal()]


_WRITERS = frozenset(
    "rm rmdir mv cp touch tee truncate ln install rsync shred unlink mkdir dd chmod chown patch".split()
)

# Programs that work on files of this machine: a word behind them names a file, whatever it says.
LOCAL_PROGRAMS = (
    _READS
    | _WRITERS
    | _CHECKS
    | frozenset(
        "sed perl awk vim vi nano emacs code tar zip unzip gzip gunzip 7z black prettier ruff eslint biome"
        " gofmt rustfmt isort open xdg-open rg git-lfs tmux entr chgrp docker-credential gcc g++ clang javac"
        " tsc esbuild webpack vite rollup sass sops gpg openssl ffmpeg convert pandoc".split()
    )
)


def changed_paths(command: str, root: str = "") -> list[str]:
    """The paths that a command line surely changes: by redirections, `rm`, `mv`, `sed -i` and the like."""
    found = [_plain_path(name, root) for name in written_files(command)]
    for part in command_form(command, root).parts:
        if only_reads(part):
            continue
        operands: Iterable[str] = ()
        if part.program in _WRITERS:
            operands = part.words
        elif part.program in ("sed", "perl") or (
            part.program == "git" and part.verb in ("rm", "mv", "checkout", "restore")
        ):
            operands = part.words[1:]
        elif part.program in ("black", "prettier", "gofmt", "isort", "ruff", "eslint") and not part.is_dry():
            operands = part.words
        found += [_in_folder(part.folder, word) for word in operands]
    return found


def _in_folder(folder: str, path: str) -> str:
    return f"{folder}/{path}" if folder and not path.startswith(("/", "~", "$")) else path


# --- whether two commands are the same try ------------------------------------------------------------

_LAUNCH = lazy_regex(
    r"(?i)command not found|: not found\b|no module named|modulenotfound|importerror|is not recognized"
    r"|cannot find module|not installed|permission denied|eacces|eperm|operation not permitted|must be root"
    r"|not set\b|unset\b|environment variable|env var|unbound variable|missing required|is required"
    r"|no such option|usage:|unrecogni[sz]ed|unknown (?:sub-?command|command|option|flag|argument|switch)"
    r"|unexpected argument|(?:invalid|illegal) (?:option|flag)|unauthori[sz]ed|authentication|credentials"
    r"|not logged in|no version is set|unsupported engine"
)
_PLACE = lazy_regex(
    r"(?i)no such file|not a git repository|no rule to make|missing script|enoent|could not find"
    r"|cannot find|not found|does not exist|no targets|no tests? (?:ran|found)|no input files"
    r"|no package\.json|not in a|outside"
)
# The shell could not read it: what was left out may be the reason.
_UNREADABLE = lazy_regex(
    r"(?i)parse error|syntax error near|unexpected (?:eof|token)|unmatched|unterminated|bad substitution"
    r"|no matches found"
)
_PASSES = lazy_regex(
    r"(?i)timed? ?out|connection (?:refused|reset|closed|aborted)|could not resolve|temporary failure"
    r"|network is unreachable|unable to access|\b(?:429|50[0234])\b|bad gateway|service unavailable"
    r"|too many requests|rate limit|try again|eai_again|etimedout|econnreset|econnrefused|failed to connect"
    r"|index\.lock|lock file|another (?:process|instance|git process)|temporarily|ebusy|deadlock"
    r"|address already in use|eaddrinuse|interrupted|\bkilled\b|not ready|still (?:running|pending"
    r"|starting)|in progress|is locked|database is locked"
)


def passes_by_itself(error: str) -> bool:
    """Whether an error may be gone at the next try with nothing changed: a network, a lock, a service."""
    return _PASSES.search(error[:2000]) is not None


def same_try(earlier: CommandForm, later: CommandForm, error: str) -> bool:
    """Whether a command is the same try as an earlier one that ended with an error.

    Another launcher, variable or folder makes it a different try only if the error is about such things: a
    program that was not found may be found by `uv run`, while a failed assertion does not care.
    """
    if not earlier.parts or earlier.key != later.key:
        return False
    if _UNREADABLE.search(error[:2000]) and earlier.text != later.text:
        return False
    launch, place = _LAUNCH.search(error[:2000]), _PLACE.search(error[:2000])
    for one, other in zip(earlier.parts, later.parts, strict=True):
        if one.folder and other.folder and not _same_folder(one.folder, other.folder):
            return False
        if (launch or place) and (one.launch, dict(one.env)) != (other.launch, dict(other.env)):
            return False
        if place and one.folder != other.folder:
            return False
        changed = dict(other.env)
        if any(changed.get(name, value) != value for name, value in one.env):
            return False
    return True


def _same_folder(one: str, other: str) -> bool:
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def includes(later: Part, earlier: Part) -> bool:
    """Whether a program is another one with nothing left out, and perhaps more words and options."""
    if later.program != earlier.program:
        return False
    return set(earlier.words) <= set(later.words) and set(earlier.options) <= set(later.options)


def telling_words(form: CommandForm) -> Iterator[tuple[str, ...]]:
    """For each part of a command, a few words that every way of writing it contains."""
    for part in form.parts:
        name = part.program if part.program.isascii() else ""
        words = sorted({word for word in part.words if 1 < len(word) <= 80}, key=len, reverse=True)[:3]
        yield tuple(word.lower() for word in (name, *words) if word)
