"""The declaration of an operation: everything a surface needs to know about a method of TaskMemory.

The decorator says where an operation can be called; the method's docstring says what it does, and its
`Args:` section what each parameter means. Parameters that mean the same everywhere are documented once, in
`SHARED_PARAMETERS`. The command line, MCP tools, HTTP routes, OpenAPI and the reference come from these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, TypeVar, cast

from .capabilities import Access, Power, access_refused
from .errors import InvalidInput, shown
from .lazy_regex import lazy_regex
from .redaction import Redactor, without_private
from .rules import ID_LENGTH, normal_id
from .trust import Overruled
from .types import Value, is_dict, is_list

M = TypeVar("M", bound=Callable[..., Any])

# What a parameter of this name means, unless the docstring of an operation says otherwise.
SHARED_PARAMETERS = {
    "task_id": "Task id or a unique prefix; default: the current task.",
    "goal_id": "Goal id or a unique prefix.",
    "wait_id": "Id of a wait: `task#seq`, or `#seq` for the current task.",
    "step": "Step: its id, its number from 1, or its title or a unique prefix of the title.",
    "workspace": '`""`: the workspace of this memory. `None` (`*` where null means "not given"): everywhere.',
    "repository": "Cover every worktree of this workspace's git repository.",
    "tags": "Labels, at most 200 of up to 100 bytes each.",
    "relevance_to": "Ids of steps, or other names, that the entry matters for. Stored unchanged.",
    "supersedes": "Seq of the entry or entries that this one replaces.",
    "anchors": "Workspace files that the entry is about. Recall reports later whether they have changed.",
    "blocker_limit": "How often the same blocker may occur before the goal is stopped.",
    "limit": "Maximum number of results.",
    "dry_run": "Report what would be done, and change nothing.",
    "expect": "The version you last saw. If it has changed since, the call fails with `stale_version`.",
    "token": "Fencing token of a claim. Default: the tokens that this memory object got from `task_claim`.",
    "key": "Idempotency key, at most 200 bytes. Repeating the call with the same key writes nothing and"
    " returns the first answer.",
}


# Other words for a parameter, which calls may use as well.
SYNONYMS = {"item": "step", "items": "steps", "kind": "type"}


class Operation(Value, frozen=True, kw_only=True):
    """An operation: its name is that of the method.

    `tools` names the set of MCP tools that includes it: core, full, or none. `core` lists the arguments of a
    core tool: few, because models always see them. `http` is false for operations that take a path on the
    server. `repeatable`: a second call changes nothing more. `writes_with` lists arguments that make a read
    operation write. `powers` lists the powers that the value of an argument may need. `whole_store`: it reads
    or changes the store as a whole, so a caller that is bound to workspaces cannot use it.
    `texts` names what the call is about, such as the choice of a decision: positional
    arguments that are as many as these are these, and not the task. `needed`: every call must pass them.
    """

    method: Callable[..., Any]
    scope: Access
    tools: Literal["core", "full", "none"]
    core: tuple[str, ...]
    http: bool
    repeatable: bool
    destructive: bool
    writes_with: tuple[str, ...]
    powers: Mapping[str, tuple[Power, ...]]
    whole_store: bool
    texts: tuple[str, ...]
    needed: tuple[str, ...]
    example: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The method's name."""
        return self.method.__name__

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of its parameters."""
        return _parameters(self.method)[1:]

    @property
    def description(self) -> str:
        """What it does: the docstring without its parameters."""
        return split_docstring(self.method)[0]

    @property
    def summary(self) -> str:
        """What it does, in the first paragraph or its first sentence."""
        first = self.description.split("\n\n", 1)[0].replace("\n", " ")
        return first if len(first) <= 120 else first_sentence(first).partition(": ")[0].rstrip(".") + "."

    @property
    def parameter_docs(self) -> dict[str, str]:
        """What each parameter means."""
        return split_docstring(self.method)[1]


def operation(
    *,
    scope: Access,
    tools: Literal["core", "full", "none"] = "full",
    core: tuple[str, ...] = (),
    http: bool = True,
    repeatable: bool | None = None,
    destructive: bool = False,
    writes_with: tuple[str, ...] = (),
    powers: Mapping[str, tuple[Power, ...]] | None = None,
    whole_store: bool = False,
    texts: tuple[str, ...] = (),
    needed: tuple[str, ...] = (),
    example: Mapping[str, Any] | None = None,
) -> Callable[[M], M]:
    """Declare a method as an operation; see Operation. Reads are repeatable unless they say otherwise."""

    def declare(method: M) -> M:
        declared = Operation(
            method=method,
            scope=scope,
            tools="core" if core else tools,
            core=core,
            http=http,
            repeatable=scope == "read" if repeatable is None else repeatable,
            destructive=destructive,
            writes_with=writes_with,
            powers=powers or {},
            whole_store=whole_store,
            texts=texts,
            needed=needed,
            example=example or {},
        )
        _document_shared_parameters(method)
        # What the rule of trust forbids becomes a proposal; a call that is wrong in itself does not.
        inner: Any = _checked(method, _proposing(method) if scope != "read" else method, scope)
        made: Any = _accepting(method, inner, texts, bool(needed))
        made = _observed(made, declared)
        setattr(made, _DECLARED, declared)
        return made

    return declare


# What sees every call of a memory whose setting `otel` is on: the operation, the memory and the call to make.
# `telemetry` adds the only one, when it is wanted.
observers: list[Callable[[Operation, Any, Callable[[], Any]], Any]] = []


def _observed(inner: Callable[..., Any], operation: Operation) -> Any:
    @wraps(inner)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if observers and self.settings.otel == "on":
            return observers[0](operation, self, lambda: inner(self, *args, **kwargs))
        return inner(self, *args, **kwargs)

    return call


def _accepting(
    method: Callable[..., Any], inner: Callable[..., Any], texts: tuple[str, ...], needed: bool
) -> Callable[..., Any]:
    """A method that also takes its main texts without a task, and synonyms of its parameters.

    `inner` is what it calls: the method itself, or what is made of it.
    """
    own = _parameters(method)
    synonyms = {word: name for word, name in SYNONYMS.items() if name in own and word not in own}
    if not synonyms and not texts:
        return inner

    @wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        for word, name in synonyms.items():
            if word in kwargs:
                kwargs[name] = kwargs.pop(word)
        are_texts = texts and len(args) == len(texts) and not kwargs.keys() & {*texts}
        if are_texts and not _names_a_task(args[0], whole=needed):
            return inner(self, **dict(zip(texts, args, strict=True)), **kwargs)
        return inner(self, *args, **kwargs)

    return call


def _names_a_task(value: Any, whole: bool) -> bool:
    """Whether a positional argument is a task id, ours or the caller's own.

    Where the text may be left out, every single word is one: a prefix, or an id of the caller's.
    """
    if not isinstance(value, str):
        return value is None
    if not whole:
        return _SINGLE_WORD.fullmatch(value) is not None
    plain = normal_id(value)
    return (plain is not None and len(plain) == ID_LENGTH) or _UUID.fullmatch(value) is not None


def _proposing(method: Callable[..., Any]) -> Callable[..., Any]:
    """An operation that records a proposal where the rule of trust forbids the call as a whole.

    An operation that returns no `Written` still fails, so that its caller does not take it for done.
    """
    code = method.__code__
    names = code.co_varnames[: code.co_argcount]
    returns_written = method.__annotations__.get("return") == "Written"

    @wraps(method)
    def call(self: Any, *args: Any, **arguments: Any) -> Any:
        try:
            return method(self, *args, **arguments)
        except Overruled as over:
            if over.proposed:
                raise
            named = {**dict(zip(names[1:], args, strict=False)), **arguments}
            proposal = self._proposed(method.__name__, named, over)
            if not returns_written:
                raise over.recorded_as(proposal.seq) from None
            return proposal

    return call


_DECLARED = "ringbolt_operation"
_SINGLE_WORD = lazy_regex(r"[\w.:-]+")
_UUID = lazy_regex(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def _parameters(method: Any) -> tuple[str, ...]:
    names: tuple[str, ...] = method.__code__.co_varnames
    return names[: method.__code__.co_argcount + method.__code__.co_kwonlyargcount]


def _checked(method: M, call: Callable[..., Any], scope: Access) -> M:
    """How to call a method, with the checks that hold for every caller, also in Python.

    - An operation of scope `admin` needs a caller with that access.
    - A boolean parameter must be true or false. Any Python value counts as one of them, so a wrong value
      would silently choose a behaviour: `dry_run=[]` would write. Other types are validated where they are
      used.
    - What an operation that writes is given loses its private parts first: also words, names and ids that it
      derives from them would be stored.
    """
    hints = method.__annotations__
    switches = {name: hint for name, hint in hints.items() if hint in ("bool", "bool | None")}
    if switches.keys() - (method.__kwdefaults__ or {}).keys():
        raise TypeError(f"{method.__name__}: a boolean parameter must be keyword-only and have a default")
    if not switches and scope == "read":
        return cast("M", call)

    @wraps(method)
    def checked(self: Any, *arguments: Any, **named: Any) -> Any:
        if scope == "admin" and not self.grant.includes(scope):
            raise access_refused(self.grant, method.__name__, scope)
        for name in named.keys() & switches.keys():
            value = named[name]
            if not isinstance(value, bool) and (value is not None or switches[name] == "bool"):
                message = f"{name} must be true or false, not {shown(value)}."
                raise InvalidInput("invalid_argument", message, "Pass a boolean.")
        if scope != "read":
            arguments = tuple(map(_public, arguments))
            named = {name: _public(value) for name, value in named.items()}
        return call(self, *arguments, **named)

    return cast("M", checked)


_KEEPING_SECRETS = Redactor(keep=True)


def _public(value: Any) -> Any:
    """An argument without its private parts."""
    if isinstance(value, str):
        return without_private(value)
    if isinstance(value, tuple):
        return tuple(map(_public, cast("tuple[Any, ...]", value)))
    try:
        return _KEEPING_SECRETS.whole(value) if is_dict(value) or is_list(value) else value
    except RecursionError:  # nested too deeply to be stored: the operation itself refuses it
        return value


def _document_shared_parameters(method: Any) -> None:
    """Add the shared parameters that a docstring leaves out to its `Args:`, so that help() shows them too."""
    doc: str = method.__doc__ or ""
    parameters = _parameters(method)
    missing = [name for name in parameters if name in SHARED_PARAMETERS and f"    {name}: " not in doc]
    if missing:
        indent = doc[doc.rfind("\n") + 1 :] if doc.endswith(" ") else ""
        section = "" if "Args:\n" in doc else f"\n\n{indent}Args:"
        lines = "".join(f"\n{indent}    {name}: {SHARED_PARAMETERS[name]}" for name in missing)
        method.__doc__ = f"{doc.rstrip()}{section}{lines}\n{indent}"


def declared(method: object) -> Operation | None:
    """The declaration of a method; None if it is not an operation."""
    return getattr(method, _DECLARED, None)


def split_docstring(method: object) -> tuple[str, dict[str, str]]:
    """A docstring's text, and its `Args:` by name, each on one line."""
    from inspect import cleandoc  # slow to load, and only surfaces need descriptions

    text, _, section = cleandoc(method.__doc__ or "").partition("\n\nArgs:\n")
    parameters: dict[str, str] = {}
    for line in section.splitlines():
        if line.startswith("        "):  # a continuation
            parameters[next(reversed(parameters))] += " " + line.strip()
        elif line.strip():
            name, _, meaning = line.strip().partition(": ")
            parameters[name] = meaning
    return text, parameters


def first_sentence(text: str) -> str:
    """The first sentence of a text."""
    return re.split(r"(?<=[.…])\s(?=[A-Z])", text, maxsplit=1)[0]
