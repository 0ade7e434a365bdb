"""Task runners (`make`, `npm run`, `just` …), and which targets or scripts of a project they run."""

from __future__ import annotations

from collections.abc import Sequence

RUNNERS = frozenset(
    "make gmake just task npm pnpm yarn bun deno mise rake nx turbo composer poe invoke inv nox tox hatch pdm"
    " mage gradle gradlew mvn mvnw ant sbt lein moon cmake rails doit gulp grunt wireit cake fab earthly"
    " dagger".split()
)
# Runners that also run a script named directly (`yarn deploy`), apart from commands of their own.
_SHORT = frozenset("yarn pnpm bun deno nx turbo composer".split())
_OWN_COMMANDS = {"pnpm": frozenset(("deploy",))}  # which copies a package to a folder
_PACKAGE_RUNNERS = _SHORT | frozenset("npm mise hatch pdm".split())
_SEVERAL = frozenset("make gmake rake just task".split())
_RUN = ("run", "run-script", "task", "exec")
# Options with a value, of make and of all others.
_OF_MAKE = frozenset("-C -f -j -I -o -W --directory --file --makefile --jobs".split())
_OF_OTHERS = frozenset(
    "-w --workspace --prefix --tag --access --otp --registry -C --dir --filter -F --cwd --userconfig -p -P"
    " --project".split()
)


def runner_targets(program: str, words: Sequence[str]) -> list[str]:
    """The targets that a task runner runs: several of `make` and its like, the first of any other."""
    plain = _plain(words, _OF_MAKE if program in ("make", "gmake") else _OF_OTHERS)
    if program in _SEVERAL:
        return plain
    if program not in _PACKAGE_RUNNERS:
        return plain[:1]
    if plain[:1] == ["workspace"]:  # yarn workspace NAME …
        plain = plain[2:]
    if plain[:1] and plain[0] in _RUN:
        return plain[1:2]
    if program not in _SHORT:
        return []
    own = _OWN_COMMANDS.get(program, frozenset())
    return [word for word in plain[:1] if word not in own and _is_name(word)]


def _is_name(word: str) -> bool:
    """Whether a word names a script of the project: not a file or code, which `bun` and `deno` run too."""
    plain = all(letter.isalnum() or letter in "-_:.@" for letter in word)
    return plain and word.rpartition(".")[2] not in ("ts", "js", "mjs", "tsx")


def _plain(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    """Words that are neither options nor their values nor settings such as `ENV=prod`."""
    found: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word == "--" and found:
            break
        elif word.startswith("-"):
            skip = word in with_value
        elif "=" not in word:
            found.append(word)
    return found
