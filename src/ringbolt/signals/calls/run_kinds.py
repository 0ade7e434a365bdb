"""What a program is run for (test, build, lint, run, migrate, install …), and whether it worked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...model.lazy_regex import lazy_regex
from ..effects.side_effects import command_effects, may_have_effects
from ..text_layout import bounded, without_colours
from .failures import counts_failures
from .launchers import Invocation, invocations

KINDS = ("test", "check", "build", "lint", "typecheck", "format", "run", "migrate", "install")
# Kinds whose exit code says something about the code, the strongest first.
PROVES = ("test", "check", "build", "typecheck", "lint")
_RUNNERS = frozenset(
    "make gmake just task npm pnpm yarn bun deno mise rake nx turbo composer poe invoke inv nox tox"
    " hatch pdm mage"
    " gradle gradlew mvn mvnw ant sbt lein moon cmake rails".split()
)
_TARGETS: dict[str, str] = {
    **dict.fromkeys("test tests spec specs e2e unit integration testing pytest jest vitest".split(), "test"),
    **dict.fromkeys("check checks ci verify all validate precommit".split(), "check"),
    **dict.fromkeys("build compile bundle package dist assemble".split(), "build"),
    **dict.fromkeys("lint lints vet clippy eslint".split(), "lint"),
    **dict.fromkeys("typecheck types tsc mypy pyright".split(), "typecheck"),
    **dict.fromkeys("fmt format prettier".split(), "format"),
    **dict.fromkeys("dev start serve server run watch up".split(), "run"),
    **dict.fromkeys("migrate migration migrations".split(), "migrate"),
    **dict.fromkeys("install setup bootstrap deps sync ci-install".split(), "install"),
}
_WORDS = lazy_regex(r"[^A-Za-z0-9]+")
_PROGRAMS = tuple(
    (kind, lazy_regex(rf"(?:{pattern})(?=\s|$)"))
    for kind, pattern in (
        ("format", (r"ruff format(?! --check)|black|prettier(?:.* (?:-w|--write))|gofmt|goimports|rustfmt"
                   r"|cargo fmt"
         r"|biome format|shfmt|isort|clang-format|mix format|dotnet format")),
        ("test", (r"pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|pest|ctest|unittest"
                 r"|nosetests|bats"
         r"|go test|gotestsum|cargo (?:test|nextest)|(?:dotnet|swift|bazel|mix|deno|bun|flutter|dart"
         r"|rails|bin/rails)"
         r" test|playwright test|cypress run|manage\.py test|node --test|npm (?:test|t)|yarn test|pnpm test"
         r"|rake(?: spec)?$|zig test|busted")),
        ("lint", (r"ruff check|ruff format --check|eslint|flake8|pylint|golangci-lint|cargo clippy|go vet"
                 r"|shellcheck"
         r"|stylelint|biome (?:check|lint|ci)|rubocop|hadolint|pre-commit run|oxlint|staticcheck|black"
         r" --check"
         r"|prettier|actionlint|yamllint|markdownlint\S*|ansible-lint|tflint|buf lint|deno lint|bandit")),
        ("typecheck", (r"mypy|pyright|basedpyright|pytype|tsc|vue-tsc|pyre|flow check|cargo check|go"
                      r" build -o /dev/null")),
        ("build", (r"go (?:build|install)|cargo build|vite build|next build|webpack|rollup|esbuild|tsup"
                  r"|parcel build"
         r"|docker build|docker buildx build|docker compose build|cmake --build|ninja|(?:dotnet|swift"
         r"|bazel) build"
         r"|build|hatch build|poetry build|uv build|hugo|mkdocs build|mix compile|make$|bun build|zig"
         r" build|buf"
         r" generate|wasm-pack build|electron-builder|javac|gcc|g\+\+|clang|rustc|stack build|cabal build")),
        ("install", (r"(?:npm|pnpm|yarn|bun) (?:ci|install|i|add)|yarn$|pip3? install|uv (?:sync|pip"
                    r" install|add)"
         r"|poetry (?:install|add)|pdm (?:install|sync|add)|bundle install|bundle$|go (?:mod (?:download"
         r"|tidy)|get)"
         r"|cargo (?:fetch|add)|(?:sudo )?apt(?:-get)? install|brew install|mise install|composer"
         r" install|gem install"
         r"|conda install|mix deps\.get|dotnet restore|pipenv install|playwright install")),
        ("run", (r"uvicorn|gunicorn|hypercorn|flask run|(?:bin/)?rails (?:s|server)|manage\.py runserver"
                r"|go run|cargo run"
         r"|vite(?: dev| preview)?$|next (?:dev|start)|nodemon|streamlit run|docker compose up"
         r"|docker-compose up|air|php"
         r" artisan serve|dotnet (?:run|watch)|mix phx\.server|fastapi (?:dev|run)|celery|hugo server"
         r"|npm start"
         r"|yarn start|http\.server|tsx|ts-node|storybook")),
    )
)  # fmt: skip
_NOT_RUN = lazy_regex(
    r"(?im)command not found|no such file or directory|not recognized as|no module named"
    r"|modulenotfounderror|cannot find"
    r" module|missing script|no rule to make target|unknown (?:command|task|target)|task .{0,40} not"
    r" found|permission"
    r" denied|connection refused|econnrefused|could not connect|is the server running|no such service"
    r"|not installed|is"
    r" not set|missing required|environment variable|no such container|cannot connect to the docker"
    r" daemon|port .{0,30}in"
    r" use|eaddrinuse|unsupported engine|requires python|no configuration file|usage:|unrecognized"
    r" arguments|no tests"
    r" (?:ran|found|collected)|can't open file|not found: "
)


class Run(NamedTuple):
    """One thing that a command line runs, and whether the exit code of the whole line is its own."""

    kind: str
    call: Invocation
    owns_exit: bool


def runs(command: str) -> list[Run]:
    """What a command line tests, builds, checks or starts."""
    calls = invocations(command)
    found: list[Run] = []
    for place, call in enumerate(calls):
        kind = run_kind(call)
        if kind:
            later = calls[place + 1 :]
            own = not call.piped and not call.background and all(one.after == "&&" for one in later)
            found.append(Run(kind, call, own))
    return found


def run_kind(call: Invocation) -> str:
    """What a program is run for; empty if for nothing in particular."""
    program, words = call.program, list(call.arguments)
    if program.startswith("python") and words[:1] == ["-m"] and len(words) > 1:
        program, words = words[1], words[2:]
    elif program.startswith("python") and words and words[0].endswith("manage.py"):
        program, words = "manage.py", words[1:]
    if {"--help", "--version"} & set(words):
        return ""
    line = " ".join([program, *words])
    for kind, pattern in _PROGRAMS:
        if pattern.match(line):
            return kind
    if program in _RUNNERS and (target := runner_target(program, words)):
        parts = [part.lower() for part in _WORDS.split(target) if part]
        return next((_TARGETS[part] for part in parts if part in _TARGETS), "")
    if may_have_effects(line) and any(one.kind == "migration" for one in command_effects(line)):
        return "migrate"
    name = call.path.rpartition("/")[2]
    if "/" in call.path and name.endswith((".sh", ".py")) and not call.path.startswith("/usr"):
        parts = [part.lower() for part in _WORDS.split(name.rpartition(".")[0]) if part]
        return next((_TARGETS[part] for part in parts if part in _TARGETS), "")
    return ""


def runner_target(program: str, words: Sequence[str]) -> str:
    """The target or script that a task runner runs."""
    plain = [word for word in words if not word.startswith("-") and "=" not in word]
    if program in ("npm", "pnpm", "yarn", "bun", "deno", "mise", "composer", "hatch", "pdm", "nx", "turbo"):
        if plain[:1] and plain[0] in ("run", "run-script", "task", "workspace"):
            return plain[1] if len(plain) > 1 else ""
        return plain[0] if plain and program in ("yarn", "pnpm", "nx", "turbo") else ""
    if program in ("make", "gmake") and words[:1] == ["-C"]:
        plain = plain[1:]
    return plain[0] if plain else ""


_SELECTS = lazy_regex(
    r"\s(?:-run|--run|-k|-t|-m|--grep|--filter|--testNamePattern)[ =]\S|::"
    r"|\s\S*(?:test|spec)\S*\.\w{1,4}(?=\s|$)"
)


def is_narrow(line: str) -> bool:
    """Whether a command runs only some tests, by their names or files."""
    return bool(_SELECTS.search(line.replace("python -m ", "")))


def could_not_run(output: str) -> bool:
    """Whether a command could not do its work at all, as against having found problems."""
    return bool(_NOT_RUN.search(bounded(output, 20_000, 5_000)))


def passed(run: Run, output: str, *, failed: bool) -> bool | None:
    """Whether a check passed; None if its line does not tell. `failed` is the exit of the whole line."""
    text = without_colours(bounded(output, 40_000, 10_000))
    if run.owns_exit:
        return not failed if not failed or run.call.after != "&&" else _by_output(text, False)
    return _by_output(text, None if failed else True)


def _by_output(text: str, otherwise: bool | None) -> bool | None:
    return False if counts_failures(text) or could_not_run(text) else otherwise


def covers_check(passed_command: str, failed_command: str) -> bool:
    """Whether a check that passed says that one that failed would pass: the same, or all of its kind."""
    if passed_command.split() == failed_command.split():
        return True
    kinds = {run.kind for run in runs(failed_command)} & set(PROVES)
    return (
        bool(kinds) and not is_narrow(passed_command) and kinds <= {run.kind for run in runs(passed_command)}
    )
