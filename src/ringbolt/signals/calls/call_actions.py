"""What a part of a command line does: push, install, migrate, deploy, delete …, as prohibitions name it."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...model.lazy_regex import lazy_regex
from .command_form import SQL_CLIENTS, Part, sends, written_by_sql

Does = Callable[[Part], bool]


def _words_of(part: Part) -> set[str]:
    return {word.lower() for word in part.words}


def git(*verbs: str) -> Does:
    return lambda part: part.program == "git" and part.verb in verbs and not part.is_dry()


_is_push = git("push")


def _is_merge(part: Part) -> bool:
    return git("merge")(part) or (part.program == "gh" and part.words[:2] == ("pr", "merge"))


def _is_forced(part: Part) -> bool:
    forced = any(option == "-f" or option.startswith("--force") for option in part.options)
    return _is_push(part) and (forced or any(word.startswith("+") for word in part.words[1:]))


_INSTALLERS: dict[str, tuple[str, ...]] = {
    "pip": ("install",), "npm": ("install", "i", "add"), "yarn": ("add",), "pnpm": ("add", "install", "i"),
    "bun": ("add", "install"), "poetry": ("add",), "uv": ("add", "install"), "pdm": ("add",),
    "cargo": ("add", "install"),
    "go": ("get", "install"), "gem": ("install",), "apt": ("install",), "apt-get": ("install",),
    "brew": ("install",),
    "composer": ("require",), "bundle": ("add",), "conda": ("install",), "apk": ("add",), "dnf": ("install",),
    "yum": ("install",), "dotnet": ("add",),
}  # fmt: skip


def _is_install(part: Part) -> bool:
    """Whether something new is installed; what the project asks for already is not new."""
    if not any(word in _INSTALLERS.get(part.program, ()) for word in part.words[:2]):
        return False
    if {"-r", "-e", "--requirement", "--editable"} & set(part.options):
        return False
    place = next(i for i, word in enumerate(part.words) if word in _INSTALLERS[part.program])
    return any(word not in (".", "") and not word.startswith("./") for word in part.words[place + 1 :])


_SHOWS = frozenset(
    "history status current show list heads check plan diff log info make generate revision".split()
)


def _is_migration(part: Part) -> bool:
    words = _words_of(part)
    if words & _SHOWS or part.is_dry():
        return False
    if part.program in ("alembic", "goose", "dbmate", "liquibase", "flyway", "sqitch"):
        return bool(words & {"upgrade", "downgrade", "up", "down", "migrate", "update", "deploy", "clean"})
    named = (part.program, *words)
    return any(
        re.match(r"(?:db[:_-])?migrat(?:e|ions?)(?:$|[:_.-])", word) or "migrate:" in word for word in named
    ) and ("makemigrations" not in words)


_DEPLOYERS = frozenset("helm kubectl terraform tofu pulumi ansible-playbook argocd cdk".split())
_DEPLOYS = frozenset("apply upgrade install rollout up sync deploy replace scale set".split())


def _is_deploy(part: Part) -> bool:
    words = _words_of(part)
    if part.is_dry():
        return False
    if part.program in _DEPLOYERS:
        return part.program == "ansible-playbook" or bool(words & _DEPLOYS)
    return any("deploy" in word and "/" not in word for word in (part.program, *words)) or (
        part.program == "vercel" and "--prod" in part.options
    )


def _is_publish(part: Part) -> bool:
    words = part.words
    if part.is_dry():
        return False
    return (
        "publish" in words[:2]
        or (part.program == "twine" and part.verb == "upload")
        or (part.program in ("docker", "podman", "gem") and "push" in words[:2])
        or (part.program == "gh" and words[:2] == ("release", "create"))
        or part.program in ("goreleaser", "semantic-release")
    )


def _is_delete(part: Part) -> bool:
    return (
        part.program in ("rm", "rmdir", "unlink", "shred")
        or "--delete" in part.options
        or bool({"delete", "destroy", "rm", "prune", "drop", "dropdb"} & {part.program, *_words_of(part)})
        or (part.program == "git" and part.verb == "branch" and bool({"-d", "-D"} & set(part.options)))
        or (part.program in SQL_CLIENTS and written_by_sql(part) in ("drop", "delete", "truncate"))
    )


_TEST_WORD = lazy_regex(
    r"(?:(?:unit|e2e|integration|smoke)[-_:])?(?:pytest|jest|vitest|rspec|phpunit|mocha|tests?)(?:[:_-]|$)"
)


def _is_test(part: Part) -> bool:
    return any(_TEST_WORD.match(word) for word in (part.program, *part.words[:2]))


def _is_restart(part: Part) -> bool:
    return bool({"restart", "reboot", "stop", "kill", "shutdown", "down"} & {part.program, *_words_of(part)})


def _is_upgrade(part: Part) -> bool:
    words = _words_of(part)
    if part.program in _INSTALLERS:
        return bool(words & {"update", "upgrade", "up"}) or bool(
            {"-U", "-u", "--upgrade"} & set(part.options)
        )
    return part.program in ("ncu", "npm-check-updates", "bump-my-version", "bumpversion")


def _is_pull_request(part: Part) -> bool:
    words = part.words
    if part.program in ("gh", "glab", "hub"):
        return words[:2] in (("pr", "create"), ("mr", "create")) or words[:1] == ("pull-request",)
    return "__" in part.program and {"create", "pull", "request"} <= set(words)


def _is_message(part: Part) -> bool:
    if "__" in part.program:
        return bool(
            {"send", "post", "message", "mail", "email", "reply", "comment", "notify"} & _words_of(part)
        )
    return part.program in ("mail", "sendmail", "mutt") or sends(part)


# For each action: the test for it, and substrings; every command that does it contains one of them.
ACTIONS: dict[str, tuple[Does, tuple[str, ...]]] = {
    "push": (_is_push, ("push",)),
    "force": (_is_forced, ("push",)),
    "commit": (git("commit"), ("commit", " add ")),
    "amend": (lambda part: git("commit")(part) and "--amend" in part.options, ("amend",)),
    "merge": (_is_merge, ("merge",)),
    "rebase": (git("rebase"), ("rebase",)),
    "tag": (git("tag"), ("tag",)),
    "install": (_is_install, ("install", " add ", " i ", " get ", "require ")),
    "migrate": (_is_migration, tuple("migrat alembic goose dbmate liquibase flyway".split())),
    "deploy": (
        _is_deploy,
        (*"deploy apply upgrade rollout install --prod ansible".split(), " up", " scale", " sync", " set "),
    ),
    "publish": (_is_publish, ("publish", "upload", "push", "release")),
    "delete": (_is_delete, ("rm ", *"delete destroy prune drop unlink branch shred rmdir".split())),
    "test": (_is_test, ("test", "jest", "rspec", "mocha", "phpunit")),
    "upgrade": (_is_upgrade, ("upgrade", "update", "-u", "bump")),
    "pull_request": (_is_pull_request, ("create", "open", "pr ")),
    "restart": (_is_restart, tuple("restart reboot stop kill shutdown down".split())),
    "send": (_is_message, tuple("mail curl http wget mutt send post message reply comment notify".split())),
}
