"""Tool calls at a glance: the programs that a call runs, whether it may act outside, whether it failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .embedded_parts import effect_hints
from .plain_json import is_dict, is_list

# The field with the result of a tool of Copilot CLI; the last line of a command's has its exit code.
COPILOT_TEXT = "text_result_for_llm"
_COMMAND_LINES = ("command", "cmd", "script")
FILE_FIELDS = ("file_path", "path", "notebook_path", "filename")
_MOST_LINE = 4000
_MOST_HEADS = 12
# Tools that change nothing: no warning is about them.
READ_TOOLS = frozenset(
    "read grep glob ls notebookread webfetch websearch toolsearch bashoutput taskoutput todowrite view"
    " list_dir"
    " read_file read_many_files list_directory search_file_content update_plan".split()
)
# What a command line is split at, besides lines; quotes go, so that the command inside `bash -c` counts too.
_SEPARATORS = ("&&", "||", "|", ";", "$(", "(", ")", "`", "&")
# Words before a program that say nothing about it; those in _PAIRS only with one of the words after them.
_BEFORE_PROGRAM = frozenset(
    "sudo doas env time timeout gtimeout nice ionice nohup setsid stdbuf exec command builtin xargs"
    " watch bash sh zsh dash"
    " python node ruby npx bunx uvx pnpx tsx dotenv do then else if while until ! { } run -m".split()
)
_PAIRS = frozenset(
    "uv poetry pdm hatch pipenv rye pixi conda bundle pnpm yarn npm bun mise asdf rbenv direnv".split()
)
_RUNNERS = ("npm", "yarn", "pnpm", "bun")  # `npm run test` is `npm test`
_PAIRED = frozenset("run exec dlx x tool".split())
_WITH_VALUE = frozenset("-C -n -u --namespace --context --directory --prefix".split())
_IDLE = frozenset(
    "cd pushd popd echo printf true false set export unset source . sleep wait date pwd test [ [[ ls cat"
    " head tail less"
    " grep egrep rg awk jq wc diff stat du df ps which tree sort uniq cut tr for case tee pgrep".split()
)
# Words of which a prompt has one if it may forbid something.
_FORBIDDING = (
    "n't", "n’t", " not ", "not ", "dont ", "never", "avoid", "no ", "without", "refrain", "stop ", "leave ",
    "keep ",
    "hands off", "away from", "out of", "limits", "forbidden", "banned",
    "read-only", "readonly", "read only", "frozen", "nothing ", "prohibited", "taboo",
    "only ", "restrict", "limit ", "confine", "except",
)  # fmt: skip


def call_heads(tool: str, tool_input: Mapping[str, Any]) -> list[str]:
    """The programs of a call with their first words (`pytest`, `npm test`): calls that do the same share one.

    Another tool than a shell has its own name. Plain, because it runs before every call; `command_form` is
    exact.
    """
    command = command_line(tool_input)
    if not command:
        return [] if first_text(tool_input, FILE_FIELDS) else [tool.lower()]
    found: list[str] = []
    for line in separated(command):
        for head in _heads(line.split()):
            if head not in found:
                found.append(head)
        if len(found) >= _MOST_HEADS:
            break
    return found


def separated(command: str) -> list[str]:
    """The lines of a command, cut where one program ends and another begins, without quotes."""
    text = command[:_MOST_LINE].replace("\\\n", " ")
    for quote in ("'", '"'):
        text = text.replace(quote, "")
    for mark in _SEPARATORS:
        text = text.replace(mark, "\n")
    return text.split("\n")


def _heads(words: list[str]) -> list[str]:
    """The program of a simple command, with each of its first plain words."""
    place = 0
    while place < len(words):
        word = words[place]
        name = word.rpartition("/")[2].lower()
        name = name.rstrip("0123456789.") or name
        following = words[place + 1] if place + 1 < len(words) else ""
        if name in _PAIRS and following in _PAIRED:
            if name in _RUNNERS and following == "run":
                break
            place += 2
            continue
        if not (word[0] in "-0123456789<>" or name in _BEFORE_PROGRAM or _is_assignment(word)):
            break
        place += 2 if word in _WITH_VALUE else 1
    else:
        return []
    name = words[place].rpartition("/")[2].lower()
    name = name.rpartition("@")[0] or name
    name = name.rstrip("0123456789.") or name
    if name in _IDLE:
        return []
    after: list[str] = []
    skips = False
    for word in words[place + 1 : place + 12]:
        if skips or word[0] in "-<>" or word.lower() == "run":
            skips = word in _WITH_VALUE and not skips
        elif word.isalpha():
            after.append(f"{name} {word.lower()}")
    # A program without a verb has arguments that say less than its name.
    return after[:3] or [name]


def _is_assignment(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name.isidentifier()


def command_line(tool_input: Mapping[str, Any]) -> str:
    """The command line of a call; empty if it has none."""
    return first_text(tool_input, _COMMAND_LINES) or _command_words(tool_input)


def _command_words(tool_input: Mapping[str, Any]) -> str:
    """A command that a host reports as a list of words."""
    words = tool_input.get("command")
    return " ".join(word for word in words if isinstance(word, str)) if is_list(words) else ""


def first_text(fields: Mapping[str, Any], names: Iterable[str]) -> str:
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")


def may_act_outside(tool: str, tool_input: Mapping[str, Any]) -> bool:
    """Whether a call may have a side effect; a drainer reads it properly (`signals/effects`)."""
    parts, words, verbs = effect_hints()
    if command := command_line(tool_input):
        text = command.lower()
        if any(part in text for part in parts):
            return True
        for edge in "()`'\"&;|$/":
            text = text.replace(edge, " ")
        return not words.isdisjoint(text.split())
    tool = tool.lower()
    if "method" in tool_input and "url" in tool_input:
        return True
    return ("_" in tool or "." in tool) and any(verb in tool for verb in verbs)


def may_forbid(prompt: Any) -> bool:
    """Whether a prompt may forbid something: a quick look that says yes too often."""
    text = prompt.lower() if isinstance(prompt, str) else ""
    return any(word in text for word in _FORBIDDING)


def has_failed(response: Any) -> bool:
    """Whether a tool's response itself says that the tool failed."""
    if isinstance(response, str):
        first, last = response.partition("\n")[0], response.rpartition("\n")[2].rstrip("]>")
        codes = _exit_code(first, "Exit code: "), _exit_code(last, "[Process exited with code ")
        return not {"", "0"}.issuperset(codes)
    if not is_dict(response):
        return False
    if (
        response.get("is_error") is True
        or response.get("isError") is True
        or response.get("success") is False
    ):
        return True
    if isinstance(text := response.get("llmContent"), str):
        # Gemini CLI's own lines about a command come after the output.
        lines = unwrapped(text).rsplit("\n", 4)[1:]
        if any(_exit_code(line, "Exit Code: ") not in ("", "0") for line in lines):
            return True
    if isinstance(text := response.get(COPILOT_TEXT), str):
        code = text.rpartition(" completed with exit code ")[2].rstrip(">")
        return response.get("result_type") == "failure" or (code != "0" and code.isdecimal())
    metadata = response.get("metadata")
    if is_dict(metadata) and isinstance(code := metadata.get("exit"), int):
        return code != 0
    return bool(response.get("error"))


def unwrapped(text: str) -> str:
    """A result of Gemini CLI without the frame that it puts around it."""
    begin, end = "<untrusted_context>\n", "\n</untrusted_context>"
    if not (text.startswith(begin) and text.endswith(end)):
        return text
    head, _, last = text[len(begin) : -len(end)].rpartition("\n")
    kept = head if last.startswith("Process Group PGID: ") else f"{head}\n{last}" if head else last
    return kept.removeprefix("Output: ")


def _exit_code(line: str, begin: str) -> str:
    code = line[len(begin) :].strip() if line.startswith(begin) else ""
    return code if code.lstrip("-").isdecimal() else ""
