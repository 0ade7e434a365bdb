"""What a program is run for (test, build, lint, run, migrate, install …), and whether it worked."""

from __future__ import annotations

from typing import NamedTuple

from ...model.lazy_regex import lazy_regex
from ..effects.side_effects import command_effects, may_have_effects
from ..text_layout import bounded, without_colours
from .failures import counts_failures
from .launchers import Invocation, invocations, without_python
from .runners import RUNNERS, runner_targets
from .shell_lines import is_whole

KINDS = ("test", "check", "build", "lint", "typecheck", "format", "run", "migrate", "install")
# Kinds whose exit code says something about the code, the strongest first.
PROVES = ("test", "check", "build", "typecheck", "lint")
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
_SCRIPT_ENDS = (".sh", ".py")
_WORDS = lazy_regex(r"[^A-Za-z0-9]+")
_PROGRAMS = tuple(
    (kind, lazy_regex(rf"(?:{pattern})(?=\s|$)"))
    for kind, pattern in (
        ("format", (r"ruff format(?! --check)|black|prettier(?:.* (?:-w|--write))|gofmt|goimports|rustfmt"
         r"|cargo fmt|biome format|shfmt|isort|clang-format|mix format|dotnet format")),
        ("test", (r"pytest|py\.test|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|pest|ctest|unittest"
         r"|nosetests|bats|go test|gotestsum|cargo (?:test|nextest)|(?:dotnet|swift|bazel|mix|deno"
         r"|bun|flutter|dart|rails|bin/rails) test|playwright test|cypress run|manage\.py test"
         r"|node --test|npm (?:test|t)|yarn test|pnpm test|rake(?: spec)?$|zig test|busted")),
        ("lint", (r"ruff check|ruff format --check|eslint|flake8|pylint|golangci-lint|cargo clippy|go vet"
         r"|shellcheck|stylelint|biome (?:check|lint|ci)|rubocop|hadolint|pre-commit run|oxlint"
         r"|staticcheck|black --check|prettier|actionlint|yamllint|markdownlint\S*|ansible-lint"
         r"|tflint|buf lint|deno lint|bandit")),
        ("typecheck", (r"mypy|pyright|basedpyright|pytype|tsc|vue-tsc|pyre|flow check|cargo check"
                      r"|go build -o /dev/null")),
        ("build", (r"go (?:build|install)|cargo build|vite build|next build|webpack|rollup|esbuild|tsup"
         r"|parcel build|docker build|docker buildx build|docker compose build|cmake --build"
         r"|ninja|(?:dotnet|swift|bazel) build|build|hatch build|poetry build|uv build|hugo"
         r"|mkdocs build|mix compile|make$|bun build|zig build|buf generate|wasm-pack build"
         r"|electron-builder|javac|gcc|g\+\+|clang|rustc|stack build|cabal build")),
        ("install", (r"(?:npm|pnpm|yarn|bun) (?:ci|install|i|add)|yarn$|pip3? install|uv (?:sync"
         r"|pip install|add)|poetry (?:install|add)|pdm (?:install|sync|add)|bundle install"
         r"|bundle$|go (?:mod (?:download|tidy)|get)|cargo (?:fetch|add)"
         r"|(?:sudo )?apt(?:-get)? install|brew install|mise install|composer install"
         r"|gem install|conda install|mix deps\.get|dotnet restore|pipenv install"
         r"|playwright install")),
        ("run", (r"uvicorn|gunicorn|hypercorn|flask run|(?:bin/)?rails (?:s|server)|manage\.py runserver"
         r"|go run|cargo run|vite(?: dev| preview)?$|next (?:dev|start)|nodemon|streamlit run"
         r"|docker compose up|docker-compose up|air|php artisan serve|dotnet (?:run|watch)"
         r"|mix phx\.server|fastapi (?:dev|run)|celery|hugo server|npm start|yarn start"
         r"|http\.server|tsx|ts-node|storybook")),
    )
)  # fmt: skip
_NOT_RUN = lazy_regex(
    r"(?im)command not found|no such file or directory|not recognized as|no module named"
    r"|modulenotfounderror|cannot find module|missing script|no rule to make target|unknown (?:command|task"
    r"|target)|task .{0,40} not found|permission denied|connection refused|econnrefused|could not connect"
    r"|is the server running|no such service|not installed|is not set|missing required|environment variable"
    r"|no such container|cannot connect to the docker daemon|port .{0,30}in use|eaddrinuse"
    r"|unsupported engine|requires python|no configuration file|usage:|unrecognized arguments"
    r"|no tests (?:ran|found|collected)|can't open file|not found: "
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


def is_check(command: str) -> bool:
    """Whether the exit code of a command line is that of a test, a build or a check in it.

    A commit proves nothing. In `pytest | tail` and `pytest; echo done` the code is that of another command,
    and in `pytest || true` it says nothing. What a script of the project does is not known by its name.
    """
    return is_whole(command) and any(
        run.owns_exit and run.kind in PROVES and not run.call.path.endswith(_SCRIPT_ENDS)
        for run in runs(command)
    )


def run_kind(call: Invocation) -> str:
    """What a program is run for; empty if for nothing in particular."""
    program, words = without_python(call)
    if {"--help", "--version"} & set(words):
        return ""
    line = " ".join([program, *words])
    for kind, pattern in _PROGRAMS:
        if pattern.match(line):
            return kind
    if program in RUNNERS and (targets := runner_targets(program, words)):
        return _kind_of_name(targets[0])
    if may_have_effects(line) and any(one.kind == "migration" for one in command_effects(line)):
        return "migrate"
    name = call.path.rpartition("/")[2]
    if "/" in call.path and name.endswith(_SCRIPT_ENDS) and not call.path.startswith("/usr"):
        return _kind_of_name(name.rpartition(".")[0])
    return ""


def _kind_of_name(name: str) -> str:
    """What a target or script is run for, by the words of its name."""
    parts = (part.lower() for part in _WORDS.split(name))
    return next((_TARGETS[part] for part in parts if part in _TARGETS), "")


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
