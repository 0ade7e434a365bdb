"""The declarations of commands: options, arguments, and the operation that each calls.

Nothing here needs click, so that frequent commands can run without it; see short_path.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from ...ledger.base import Base
from .console import WrongUsage, answer, call, common_values, json_of, text_of

# --- options that every command has -----------------------------------------------------------------


class CommonOption(NamedTuple):
    """An option that goes to `console.common_values`. Without a metavar it is a flag."""

    flag: str
    metavar: str
    help: str

    @property
    def name(self) -> str:
        """Its name in `common_values`."""
        return self.flag[2:].replace("-", "_")

    def keep(self, value: Any) -> None:
        """Keep a value, if there is one: the rightmost one on the line wins."""
        if value:
            common_values()[self.name] = value


TASK = CommonOption("--task", "TASK", "Task: its id, the beginning of its id, or words of its name.")
EVERYWHERE = CommonOption("--everywhere", "", "In every workspace.")
COMMON = (
    CommonOption("--store", "STORE", "Path or URL of the store, instead of the configured one."),
    CommonOption("--workspace", "FOLDER", "The workspace, instead of that of the current folder."),
    CommonOption("--session", "NAME", "The session, instead of RINGBOLT_SESSION."),
    CommonOption("--agent", "NAME", "The agent's name, instead of RINGBOLT_AGENT."),
    CommonOption("--as-user", "", "Record this as the user's words, even without a terminal."),
    CommonOption("--keep-secrets", "", "Do not redact secrets during this command. Only the user can."),
    CommonOption("--json", "", "Print JSON."),
)


# --- parameters of operations -----------------------------------------------------------------------

# The metavar of options, by their flags; other options have TEXT or NUMBER.
_METAVARS = {
    f"--{flag}": metavar
    for metavar, flags in {
        "CONDITION": "until", "DETAIL": "detail", "DURATION": "grace older-than", "ID": "parent",
        "KEY": "key", "KIND": "kind", "NAME": "tool holder", "PHASE": "phase", "QUESTION": "query",
        "REASON": "reclaim", "SECONDS": "lease timeout every", "SEQ": "replaces action",
        "STATUS": "status step-status", "STEP": "step after", "TAG": "tag", "TIME": "since",
        "TOKEN": "token confirm", "TOKENS": "budget", "TYPE": "type", "URL": "callback-url",
        "VERSION": "expect",
    }.items()
    for flag in flags.split()
}  # fmt: skip


class Parameter:
    """An option or positional argument that passes its value to a parameter of an operation.

    `of` names the parameter, or `parameter.field` of an object; by default it is the option's name. `stdin`:
    a value of `-` is read from standard input. `json`: the value is JSON. `sets`: a flag that passes this
    value. `convert` is applied to the parsed value. Other arguments go to click.
    """

    def __init__(
        self,
        *flags: str,
        of: str = "",
        stdin: bool = False,
        json: bool = False,
        sets: object = None,
        convert: Callable[[Any], Any] | None = None,
        **more: Any,
    ) -> None:
        own = flags[-1].split("/")[0].lstrip("-").replace("-", "_")
        self.name = of or own
        self.key = f"p_{own}"  # unlike `next` or `type`, it cannot be a name of Python or click
        self.flags = flags
        self._stdin, self._json, self._sets = stdin, json, sets
        self._convert, self._more = convert, more

    @property
    def positional(self) -> bool:
        """Whether it has no flag."""
        return not self.flags[0].startswith("-")

    def attributes(self, hint: Any) -> dict[str, Any]:
        """The attributes of its click parameter; the operation declares the type."""
        more: dict[str, Any]
        if self.positional:
            return {"metavar": self._metavar(), **_kind(hint, "nargs"), **self._more}
        if self._sets is not None:
            more = {"is_flag": True}
        elif "/" in self.flags[0]:
            more = {"default": None}
        elif self._json:
            more = {"metavar": "JSON"}
        else:
            more = _kind(hint, "multiple")
            if not more.get("is_flag"):
                default = "NUMBER" if "type" in more else "TEXT"
                more["metavar"] = _METAVARS.get(self.flags[0], default)
        return {**more, **self._more}

    def help(self, meaning: str, repeated: bool) -> str:
        """Its help; by default the meaning of the parameter, from the operation's docstring."""
        text = self._more.get("help") or meaning + (" - reads standard input." if self._stdin else "")
        return f"{text} Can be repeated." if repeated else text

    def _metavar(self) -> str:
        word = self.flags[0].upper()
        return word if self._more.get("required", True) else f"[{word}]"

    def value(self, parsed: Any) -> Any:
        """The value for the operation; None if the option was not used."""
        if self._sets is not None:
            return self._sets if parsed else None
        if self._json:
            return json_of(self.flags[0], parsed)
        if self._stdin:
            return text_of(parsed)
        if parsed is None or parsed == () or (parsed is False and "/" not in self.flags[0]):
            return None
        return self._convert(parsed) if self._convert else parsed


def _kind(hint: Any, several: str) -> dict[str, Any]:
    """The click attributes of a type: a flag, several values, or a number."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if bool in kinds:
        return {"is_flag": True}
    if any(issubclass(get_origin(kind) or object, Sequence) for kind in kinds):
        return {several: -1 if several == "nargs" else True}
    if str in kinds or Any in kinds:
        return {}
    return {"type": int} if int in kinds else {"type": float} if float in kinds else {}


option = Parameter  # such as option("--step")
argument = Parameter  # such as argument("message")

STEP = "--step"
# For commands without a main text of their own; --task names the task everywhere.
NAMED_TASK = argument("task", of="task_id", required=False)
TOKEN = option("--token", help="Fencing token of a claim.")
KEY = option("--key")
TAGS = option("--tag", of="tags")
BECAUSE = option("--because", "--reason", of="reason")
# Parameters of operations whose option is not simply named like them.
_USUAL = {each.name: each for each in (TOKEN, TAGS, BECAUSE)}
# What "*" leaves out: --task, --workspace and --everywhere say it.
_COMMON_PARAMETERS = ("task_id", "workspace", "return")


class OperationCommand:
    """A command that calls an operation of a room of TaskMemory.

    A parameter may be a text with flags, such as `"--status --reason"`: options whose type and help come from
    the operation. `"*"` adds all other parameters of the operation in this way. `task` adds --task, for
    operations that have a `task_id`; `everywhere` adds --everywhere. `create` creates the store if needed.
    `defaults` are arguments that options may override; `prepare` may change all of them. `before` is called
    with the memory and the arguments before the operation. `progress` is the title of a progress bar. `show`
    prints the result for people, `end` returns its exit code.
    """

    def __init__(
        self,
        name: str,
        room: type[Base],
        operation: str,
        *parameters: Parameter | str,
        show: Callable[[Any], None],
        examples: Sequence[str],
        help: str | None = None,
        task: bool = True,
        everywhere: bool = False,
        create: bool = False,
        defaults: Mapping[str, Any] | None = None,
        prepare: Callable[[dict[str, Any]], None] | None = None,
        end: Callable[[Any], int] = lambda _: 0,
        before: Callable[[Base, Mapping[str, Any]], None] | None = None,
        progress: str = "",
    ) -> None:
        self.name, self.examples = name, examples
        self.help, self.task, self.everywhere = help, task, everywhere
        self.method: Callable[..., Any] = getattr(room, operation)
        self._room, self._operation, self._create = room, operation, create
        self._show, self._defaults, self._prepare, self._end = show, defaults or {}, prepare, end
        self._before, self._progress, self._declared = before, progress, parameters

    @cached_property
    def parameters(self) -> list[Parameter]:
        """The options and arguments of the command."""
        fixed = [
            option(word) if isinstance(word, str) else word
            for each in self._declared
            for word in (each.split() if isinstance(each, str) else [each])
            if word != "*"
        ]
        if "*" not in self._declared:
            return fixed
        known = {*_COMMON_PARAMETERS, *self._defaults, *(each.name.partition(".")[0] for each in fixed)}
        others = [name for name in self._hints if name not in known]
        rest = [_USUAL.get(name) or option(f"--{name.replace('_', '-')}") for name in others]
        return [*fixed, *rest]

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.method)

    def attributes(self) -> list[tuple[Parameter, dict[str, Any]]]:
        """Each parameter with the attributes of its click parameter."""
        return [(each, each.attributes(self._hints.get(each.name, str))) for each in self.parameters]

    def common_options(self) -> list[CommonOption]:
        """The options that every command has."""
        own = [option for option, has in ((EVERYWHERE, self.everywhere), (TASK, self.task)) if has]
        return [*own, *COMMON]

    def run(self, parsed: Mapping[str, Any]) -> int:
        """Call the operation with the parsed values, print the result, and return the exit code."""
        arguments: dict[str, Any] = {}
        for parameter in self.parameters:
            if (value := parameter.value(parsed[parameter.key])) is not None:
                _put(arguments, parameter, value)
        named = common_values().get("task") if self.task else None
        if named and arguments.setdefault("task_id", named) != named:
            raise WrongUsage("The task is named twice.")
        arguments = {**self._defaults, **arguments}
        if self._prepare is not None:
            self._prepare(arguments)
        data = call(
            self._room,
            self._operation,
            arguments,
            create=self._create,
            before=self._before,
            progress=self._progress,
        )
        answer(data, self._show)
        return self._end(data)


def _put(arguments: dict[str, Any], parameter: Parameter, value: Any) -> None:
    """Add a value to the arguments of an operation. Lists for the same parameter are joined."""
    name, _, field = parameter.name.partition(".")
    if field:
        arguments.setdefault(name, {})[field] = value
    elif name not in arguments:
        arguments[name] = value
    elif isinstance(arguments[name], list) and isinstance(value, list):
        arguments[name] += value
    else:
        raise WrongUsage(f"{parameter.flags[0]} cannot be combined with another option for {name}.")
