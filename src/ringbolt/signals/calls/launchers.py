"""What a command line really runs: without `sudo`, `timeout 60`, `npx` and `uv run`, and inside `bash -c`.

Commands that run elsewhere (`ssh host …`, `docker exec web …`, `kubectl exec pod -- …`) are unwrapped too,
and `Invocation.where` says where they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from ...model.types import Value
from .shell_lines import SimpleCommand, shell_commands

_DEEPEST = 6
_MOST = 100

# Launchers, with their own options that take a value. What follows is the command.
_PREFIXES: dict[str, str] = {
    "sudo": "-u -g -h -p -C -D -r -t -U --user --group --host --prompt --chdir",
    "doas": "-u -C",
    "env": "-u --unset -C --chdir -S",
    "time": "-f --format -o --output",
    "nice": "-n --adjustment",
    "ionice": "-c -n -p --class --classdata",
    "nohup": "",
    "setsid": "",
    "stdbuf": "-i -o -e",
    "caffeinate": "-t -w",
    "unbuffer": "",
    "chronic": "",
    "command": "",
    "builtin": "",
    "exec": "-a",
    "xargs": "-n -I -P -L -d -s -E -a --max-args --max-procs --replace --delimiter --arg-file",
    "npx": "-p --package -w --workspace",
    "bunx": "-p --package",
    "pnpx": "",
    "uvx": "--from --with --python -p",
    "rtk": "",
    "dotenv": "-e -f -c -v",
    "dotenvx": "",
    "tsx": "",
    "winpty": "",
    "gtimeout": "-s -k --signal --kill-after",
    "timeout": "-s -k --signal --kill-after",
    "flock": "-w -E --timeout --conflict-exit-code",
    "watch": "-n --interval",
    "proxychains4": "-f",
    "direnv": "",
    "taskset": "-p --pid",
    "systemd-run": "-u --unit -p --property -E --setenv",
    "xvfb-run": "-e -f -n -p -s -w --error-file --auth-file --server-num --server-args",
}  # fmt: skip
# Launchers whose second word, or words, are part of them.
_WITH_VERB: dict[str, tuple[str, ...]] = {
    "uv": ("run", "tool run"),
    "poetry": ("run",),
    "pipx": ("run",),
    "devbox": ("run",),
    "teller": ("run",),
    "saml2aws": ("exec",),
    "pdm": ("run",),
    "pipenv": ("run",),
    "hatch": ("run",),
    "rye": ("run",),
    "pixi": ("run",),
    "conda": ("run",),
    "mamba": ("run",),
    "bundle": ("exec",),
    "pnpm": ("exec", "dlx"),
    "yarn": ("exec", "dlx"),
    "npm": ("exec", "x"),
    "bun": ("x",),
    "doppler": ("run",),
    "op": ("run",),
    "infisical": ("run",),
    "chamber": ("exec",),
    "aws-vault": ("exec",),
    "direnv": ("exec",),
    "mise": ("exec", "x"),
    "asdf": ("exec",),
    "rbenv": ("exec",),
    "nix": ("run",),
    "minikube": ("kubectl",),
    "microk8s": ("kubectl",),
    "rtk": ("proxy",),
}
# Their options with a value.
_VERB_OPTIONS = frozenset(
    "--with --group --extra --package --python -p --project --directory --env-file --from -n --name"
    " -e --config --profile -c --filter -F -C --cwd --with-requirements --env --isolated-env".split()
)
_SHELLS = frozenset("sh bash zsh dash ksh fish ash".split())
# ssh's options with a value.
_SSH_OPTIONS = frozenset(
    "-i -p -o -l -F -J -L -R -D -b -c -E -e -I -m -O -Q -S -W -w -B --zone --project --tunnel".split()
)
_EXEC_OPTIONS = frozenset(
    "-u --user -w --workdir -e --env --env-file --index -n --namespace -c --container --context -f"
    " --file -p --project-name --kubeconfig --cluster --detach-keys".split()
)
_RUN_OPTIONS = _EXEC_OPTIONS | frozenset(
    "-v --volume --mount --publish --name --entrypoint --network --net --platform --add-host --label -l"
    " --memory -m --cpus --gpus --shm-size --ulimit --hostname -h --dns --cap-add --security-opt --device"
    " --pull --restart --user --tmpfs --group-add --runtime --log-driver --cgroupns --ipc --pid".split()
)


class Invocation(Value, frozen=True, kw_only=True):
    """A program that a command line runs, with its arguments, and where: `where` is empty on this machine.

    `launched` are the launchers before it (`uv run`, `npx`), `env` the variables that are set for it. The
    other fields are as in `SimpleCommand`.
    """

    program: str
    arguments: tuple[str, ...]
    path: str  # the program as it was written
    launched: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    where: str = ""
    after: str = ""
    stdin: str = ""
    stdin_file: str = ""
    folder: str = ""
    background: bool = False
    piped: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The program and its arguments."""
        return (self.program, *self.arguments)


def invocations(line: str) -> list[Invocation]:
    """The programs that a command line runs, in order, also those inside `bash -c`, `ssh` and the like."""
    found: list[Invocation] = []
    for one in _unwrapped(shell_commands(line), "", 0):
        found.append(one)
        if len(found) >= _MOST:
            break
    return found


_SCRIPTS_BY_NAME = ("manage.py", "setup.py")  # whose first argument says what they do


def without_python(call: Invocation) -> tuple[str, tuple[str, ...]]:
    """The program in lower case and its arguments: pytest of `python -m pytest`, manage.py of
    `python manage.py test`."""
    program, words = call.program.lower(), call.arguments
    if program.startswith(("python", "pypy")) or program == "py":
        place = 0
        while place < len(words) and words[place].startswith("-") and words[place] not in ("-m", "-c", "-"):
            place += 2 if words[place] in ("-W", "-X") else 1
        if words[place : place + 1] == ("-m",) and place + 1 < len(words):
            return words[place + 1].lower(), words[place + 2 :]
        if place < len(words) and (name := words[place].rpartition("/")[2]) in _SCRIPTS_BY_NAME:
            return name, words[place + 1 :]
    return program, words


def _unwrapped(commands: Iterable[SimpleCommand], where: str, depth: int) -> Iterator[Invocation]:
    for command in commands:
        yield from _invocation(command, list(command.words), (), where, depth)


def _invocation(
    command: SimpleCommand, words: list[str], launched: tuple[str, ...], where: str, depth: int
) -> Iterator[Invocation]:
    env = list(command.env)
    while words:
        name = words[0].rpartition("/")[2].lower().removesuffix(".exe")
        if "=" in words[0] and words[0].partition("=")[0].isidentifier():
            key, _, value = words.pop(0).partition("=")
            env.append((key, value))
            continue
        rest = _after_launcher(name, words)
        if rest is None:
            break
        taken = words[: len(words) - len(rest)]
        if name not in ("command", "builtin", "exec", "time"):
            launched = (*launched, " ".join(taken))
        words = rest
    if not words:
        return
    name = words[0].rpartition("/")[2]
    inner = _inner(name, words, command) if depth < _DEEPEST else None
    if inner is not None:
        lines, place = inner
        for found in _unwrapped(shell_commands(lines), place or where, depth + 1):
            # What joins the whole to its neighbours also joins the first command inside it.
            after = found.after or command.after
            yield found.replace(
                launched=(*launched, *found.launched),
                env=(*env, *found.env),
                after=after,
                background=command.background or found.background,
                piped=command.piped or found.piped,
                folder=found.folder or command.folder,
                stdin_file=found.stdin_file or command.stdin_file,
            )
        return
    yield Invocation(
        program=name.removesuffix(".exe"),
        arguments=tuple(words[1:]),
        path=words[0],
        launched=launched,
        env=tuple(env),
        where=where,
        after=command.after,
        stdin=command.stdin,
        stdin_file=command.stdin_file,
        folder=command.folder,
        background=command.background,
        piped=command.piped,
    )


def _after_launcher(name: str, words: list[str]) -> list[str] | None:
    """What a launcher launches; None if the first word is not one."""
    for verb in _WITH_VERB.get(name, ()):
        size = len(verb.split())
        if words[1 : 1 + size] == verb.split():
            rest = _skip_options(words[1 + size :], _VERB_OPTIONS)
            if name in ("aws-vault", "chamber") and rest[:1] and "--" not in words[:3]:
                rest = _skip_options(rest[1:], frozenset())
            elif name == "direnv":
                rest = rest[1:]
            return rest or None
    if _ELSEWHERE.get(name) is _of_container:
        # `docker compose run web …` begins a container for this command alone, on the files of this folder.
        composed, rest = _of_compose(words)
        options = rest[1 : rest.index("--")] if "--" in rest else rest[1:]
        if not composed or rest[:1] != ["run"] or {"-d", "--detach"} & set(options):
            return None
        return _skip_options(rest[1:], _RUN_OPTIONS)[1:] or None
    options = _PREFIXES.get(name)
    if options is None:
        return None
    rest = _skip_options(words[1:], frozenset(options.split()))
    if name in ("timeout", "gtimeout", "flock") and rest:
        rest = rest[1:]  # the time, or the lock
        if name == "flock" and rest[:1] == ["-c"]:
            rest = ["sh", *rest]
    return rest or None


def _skip_options(words: list[str], with_value: frozenset[str]) -> list[str]:
    place = 0
    while place < len(words):
        word = words[place]
        if word == "--":
            return words[place + 1 :]
        if not word.startswith("-") or word == "-":
            break
        place += 2 if word in with_value else 1
    return words[place:]


def _inner(name: str, words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    """The command line inside a command, and where it runs; None for a plain program."""
    if name in _SHELLS:
        return _of_shell(words, command)
    if name in ("pwsh", "powershell"):
        return _of_powershell(words)
    if name == "eval":
        return " ".join(words[1:]), ""
    reader = _ELSEWHERE.get(name)
    return reader(words, command) if reader else None


def _of_shell(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    for place, word in enumerate(words[1:], 1):
        if word.startswith("-") and not word.startswith("--") and "c" in word:
            return (words[place + 1], "") if place + 1 < len(words) else None
        if not word.startswith(("-", "+")):
            return None  # a script
    return (command.stdin, "") if command.stdin else None


def _of_powershell(words: list[str]) -> tuple[str, str] | None:
    for word, line in pairwise(words):
        if word.lower() in ("-c", "-command"):
            return line, ""
    return None


def _of_ssh(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    rest = _skip_options(words[1:], _SSH_OPTIONS)
    if not rest or {"-N", "-L", "-D", "-R"} & set(words):
        return None
    host, rest = rest[0], _skip_options(rest[1:], _SSH_OPTIONS)
    if not rest and not command.stdin:
        return None
    return (" ".join(rest) if rest else command.stdin), host.rpartition("@")[2]


def _of_container(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    """`docker exec web …` and `docker compose exec web …`."""
    _, rest = _of_compose(words)
    return _elsewhere(_skip_options(rest[1:], _EXEC_OPTIONS), command) if rest[:1] == ["exec"] else None


def _of_compose(words: list[str]) -> tuple[bool, list[str]]:
    """Whether a command of docker is one of compose, and what follows with its verb first."""
    rest = words[1:]
    composed = words[0].rpartition("/")[2] == "docker-compose"
    if not composed:
        rest = _skip_options(rest, _EXEC_OPTIONS)
    if rest[:1] == ["compose"]:
        rest, composed = rest[1:], True
    return composed, _skip_options(rest, _EXEC_OPTIONS)


def _of_pod(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    """`kubectl exec pod -- …`."""
    rest = _skip_options(words[1:], _EXEC_OPTIONS)
    if rest[:1] != ["exec"]:
        return None
    rest = _skip_options(rest[1:], _EXEC_OPTIONS)
    if "--" in rest:
        return _elsewhere([rest[0], *rest[rest.index("--") + 1 :]], command)
    return _elsewhere(rest, command)


def _elsewhere(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    if len(words) < 2:
        return None
    line = " ".join(_quoted(word) for word in words[1:])
    if command.stdin:
        line = f"{line} <<'RINGBOLT_STDIN'\n{command.stdin}\nRINGBOLT_STDIN"
    return line, words[0]


def _of_heroku(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    """`heroku run …` and `fly ssh console -C …`."""
    name = words[0].rpartition("/")[2]
    if name == "heroku" and words[1:2] in (["run"], ["run:detached"]):
        rest = _skip_options(words[2:], frozenset(("-a", "--app", "-r", "-s", "--size")))
        return _elsewhere(["heroku", *rest], command)
    if name in ("fly", "flyctl") and words[1:3] == ["ssh", "console"]:
        for place, word in enumerate(words[:-1]):
            if word in ("-C", "--command"):
                return words[place + 1], "fly"
    return None


def _of_nix_shell(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    for place, word in enumerate(words[:-1]):
        if word in ("--run", "--command"):
            return words[place + 1], ""
    return None


def _of_nix(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    """`nix develop -c …`."""
    for place, word in enumerate(words[:-1]):
        if word in ("-c", "--command") and words[1] in ("develop", "shell"):
            return " ".join(map(_quoted, words[place + 1 :])), ""
    return None


def _of_machine(words: list[str], command: SimpleCommand) -> tuple[str, str] | None:
    """`vagrant ssh -c "…"` and `devcontainer exec …`."""
    if words[1:2] == ["ssh"]:
        return next(
            ((line, "vagrant") for word, line in pairwise(words) if word in ("-c", "--command")), None
        )
    if words[1:2] == ["exec"]:
        rest = _skip_options(words[2:], frozenset("--workspace-folder --config --id-label".split()))
        return _elsewhere(["devcontainer", *rest], command)
    return None


def _quoted(word: str) -> str:
    if word and all(letter.isalnum() or letter in "-_./:=@%+," for letter in word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


_ELSEWHERE: dict[str, Callable[[list[str], SimpleCommand], tuple[str, str] | None]] = {
    "ssh": _of_ssh,
    "docker": _of_container,
    "podman": _of_container,
    "nerdctl": _of_container,
    "docker-compose": _of_container,
    "kubectl": _of_pod,
    "oc": _of_pod,
    "heroku": _of_heroku,
    "fly": _of_heroku,
    "flyctl": _of_heroku,
    "nix-shell": _of_nix_shell,
    "nix": _of_nix,
    "vagrant": _of_machine,
    "devcontainer": _of_machine,
}
