"""Commands whose exit code proves something: tests, builds, checks and commits. Pure."""

from __future__ import annotations

import re

from ..model.lazy_regex import lazy_regex

_GOALS = r"(?:test|build|check|lint|compile|verify|typecheck|type-check|package|ci|all)[\w:-]*"
_PROOFS = lazy_regex(
    r"(?:pytest|py\.test|tox|nox|jest|vitest|mocha|rspec|phpunit|ctest|tsc|mypy|pyright|ninja|"
    r"ruff (?:check|format --check)|eslint|python3? -m (?:pytest|unittest|mypy|build|tox|nox)|"
    r"go (?:test|build|vet)|cargo (?:test|build|check|clippy|nextest)|(?:dotnet|swift|bazel) (?:test|build)|"
    r"mix (?:test|compile)|docker build|cmake --build|playwright test|git commit|"
    r"(?:make|mvn|rake|just|task|mise run|(?:\./)?gradlew?|(?:npm|pnpm|yarn|bun|deno)(?: run)?) "
    rf"{_GOALS}|make$)(?:\s|$)"
)
# What may stand before a command and leaves its exit code as it is.
_BEFORE = lazy_regex(
    r"(?:\w+=\S*|time|env|sudo|nice|command|npx|bunx|(?:uv|poetry|pdm|hatch|pipenv|rye) run|bundle exec|"
    r"pnpm exec|timeout (?:-\S+ )?\S+)\s+|[\w.-]*/(?:[\w.-]+/)*(?=[\w.-]+(?:\s|$))"
)
_ELSEWHERE = lazy_regex(r"^git -C \S+ ")
_HEREDOC = lazy_regex(r"\$\(cat <<-?\s*['\"]?(\w+)['\"]?\n.*?\n\s*\1\s*\)", re.S)
_QUOTED = lazy_regex(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"", re.S)
_REDIRECTED = lazy_regex(r"\d*>&\d|&>>?|\d*>>?")
MOST_COMMAND = 4000


def is_proof(command: str) -> bool:
    """Whether the exit code of a command line is that of a test, a build, a check or a commit in it.

    In `pytest | tail` and `pytest; echo done` it is another's, in `pytest || true` it says nothing.
    """
    if len(command) > MOST_COMMAND:
        return False
    plain = _QUOTED.sub("_", _HEREDOC.sub("_", command)).replace("\\\n", " ")
    plain = _REDIRECTED.sub(" ", plain)
    if any(mark in plain for mark in "'\"`") or "<<" in plain:
        return False  # it was not understood
    lists = [part.strip() for part in plain.replace("\n", ";").split(";") if part.strip()]
    if not lists or "|" in lists[-1] or "&" in lists[-1].replace("&&", ""):
        return False
    return any(_proves(part.strip()) for part in lists[-1].split("&&"))


def _proves(command: str) -> bool:
    command = _ELSEWHERE.sub("git ", command)
    while before := _BEFORE.match(command):
        command = command[before.end() :]
    return _PROOFS.match(command) is not None
