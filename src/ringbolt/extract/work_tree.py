"""The working tree of a task, from what hooks see: branch, last commit, dirty files, untested edits.

A fold over the events of a task: commands of git and their outputs, edits, test runs, and the `git status`
that hooks run at the start of a session and before a compaction.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Mapping
from typing import Any

from ..model import rules
from ..model.lazy_regex import lazy_regex
from ..model.types import Event, is_dict
from ..signals.calls.commands import commits
from ..signals.calls.failures import exit_code, output_text
from ..signals.calls.launchers import Invocation, invocations
from ..signals.calls.run_kinds import PROVES, is_narrow, passed, runs
from ..signals.calls.tools import first_text, is_shell
from ..signals.text_layout import one_line

KIND = "work_tree"
MOST_DIRTY, MOST_EDITED = 200, 50
SHOWN_DIRTY, SHOWN_EDITED = 30, 20
_MOST_OUTPUT = 40_000
_EVERYTHING = "*"
# Tools that may make a file.
_MAY_CREATE = frozenset("Write create_file write_file create_new_file write".split())
# Files that no check is about.
_TEXTS = (".md", ".txt", ".rst", ".adoc")

_ON_BRANCH = lazy_regex(r"(?m)^On branch (\S+)$")
_DETACHED = lazy_regex(r"(?m)^HEAD (?:detached (?:at|from)|is now at) ([0-9a-f]{7,40})(?: (.+))?$")
_SWITCHED = lazy_regex(
    r"(?:Switched to (?:a new |and reset )?branch|Already on|Reset branch) '([^'\n]{1,200})'"
)
_HEADER = lazy_regex(r"(?m)^## (?:No commits yet on )?([^\s.]+(?:\.[^\s.]+)*?)(?:\.\.\.|\s|$)")
_LONG = lazy_regex(
    r"(?m)^\t(?:modified|new file|deleted|renamed|typechange|both modified):\s+(?:.* -> )?(.+)$"
)
_UNTRACKED = lazy_regex(r"(?m)^\t(?!modified:|new file:|deleted:|renamed:|typechange:|both )(\S.*)$")
_SHORT = lazy_regex(r"(?m)^([ MADRCUT?]{2}) (?:.* -> )?(\S.*)$")
_V2 = lazy_regex(r"(?m)^(?:1 \S+ (?:\S+ ){6}|2 \S+ (?:\S+ ){7}|u \S+ (?:\S+ ){8}|\? )([^\t\n]+)")
_V2_HEAD = lazy_regex(r"(?m)^# branch\.(oid|head) (\S+)")
_ONELINE = lazy_regex(r"^([0-9a-f]{7,40}) (?:\([^)\n]*\) )?(\S.*)$")
_LOG = lazy_regex(r"\A\s*commit ([0-9a-f]{40})\b[^\n]*\n(?:\S[^\n]*\n)*\n    (\S[^\n]*)")
_UPDATED = lazy_regex(r"(?m)^Updating [0-9a-f]{7,40}\.\.([0-9a-f]{7,40})$")
_RESTORED = lazy_regex(r"(?m)^Updated \d+ paths? from the index$")
_NAME = lazy_regex(r"^[\w./@+-]{1,200}$")


class WorkTreeFold:
    """Follows a working tree event by event; `state()` is all that must be kept."""

    def __init__(self, state: Mapping[str, Any] | None = None, root: str = "") -> None:
        state = state or {}
        self._root = root.rstrip("/")
        self._branch: str = state.get("branch", "")
        self._commit: str = state.get("commit", "")
        self._dirty: dict[str, None] = dict.fromkeys(state.get("dirty", ()))
        self._known: bool = state.get("known", False)  # whether a status has listed the dirty files
        self._staged: dict[str, None] = dict.fromkeys(state.get("staged", ()))
        self._edited: dict[str, None] = dict.fromkeys(state.get("edited", ()))
        # Files that may be new, which git does not restore; files with commits; edits that were taken back.
        self._new: dict[str, None] = dict.fromkeys(state.get("new", ()))
        self._committed_files: dict[str, None] = dict.fromkeys(state.get("committed", ()))
        self._taken_back: dict[str, int] = dict(state.get("taken_back", {}))
        self._stashed: list[str] = list(state.get("stashed", ()))
        self._event = 0
        self._check: str = state.get("check", "")
        self._check_ok: bool | None = state.get("check_ok")
        self._best: int = state.get("best", len(PROVES))  # the strongest kind of check so far
        self._at, self._seq = state.get("at", ""), state.get("seq", 0)

    def state(self) -> dict[str, Any]:
        """All that must be kept, as JSON of bounded size."""
        return {
            "branch": self._branch, "commit": self._commit, "dirty": list(self._dirty)[-MOST_DIRTY:],
            "new": list(self._new)[-MOST_DIRTY:],
            "committed": list(self._committed_files)[-MOST_DIRTY:],
            "taken_back": dict(list(self._taken_back.items())[-MOST_DIRTY:]),
            "stashed": self._stashed[-MOST_DIRTY:],
            "known": self._known, "staged": list(self._staged)[-MOST_DIRTY:],
            "edited": list(self._edited)[-MOST_EDITED:], "check": self._check, "check_ok": self._check_ok,
            "best": self._best, "at": self._at, "seq": self._seq,
        }  # fmt: skip

    def shown(self) -> dict[str, Any] | None:
        """The fields of `WorkTree`; None if nothing is known."""
        if not (self._branch or self._commit or self._dirty or self._check or self._edited):
            return None
        return {
            "branch": self._branch or None,
            "commit": self._commit or None,
            "dirty": list(self._dirty)[-SHOWN_DIRTY:],
            "dirty_count": len(self._dirty),
            "edited_since_check": list(self._edited)[-SHOWN_EDITED:] if self._check else [],
            "taken_back": dict(list(self._taken_back.items())[-SHOWN_DIRTY:]),
            "last_check": self._check or None,
            "last_check_ok": self._check_ok,
            "at": self._at,
            "seq": self._seq,
        }

    def observe(self, event: Event) -> None:
        """Take in an event."""
        before, self._event = self.shown(), event.seq
        if event.type == "snapshot" and event.data.get("label") == rules.TREE_STATUS:
            self._read_porcelain(event.text or "")
        elif event.type in ("action", "action.ended"):
            self._take_action(event)
        if self.shown() != before:
            self._at, self._seq = event.at, event.seq

    def _take_action(self, event: Event) -> None:
        given, tool = event.data.get("input"), str(event.data.get("tool") or event.data.get("type") or "")
        fields: Mapping[str, Any] = given if is_dict(given) else {}
        patch = first_text(fields, ("input", "patch", "command", "cmd"))
        for row in event.sets.get("files") or ():
            if is_dict(row) and isinstance(row.get("path"), str):
                is_new = row.get("change") == "created" or tool in _MAY_CREATE or "*** Add File" in patch
                self._edit(row["path"], is_new)
        command = first_text(fields, ("command", "cmd"))
        if not command or not (is_shell(tool) or "command" in fields or tool == "cli"):
            return
        output = output_text(event.data.get("error")) or output_text(event.data.get("output"))
        failed = event.data.get("error") is not None or bool(exit_code(event.data.get("output")))
        output = output[:_MOST_OUTPUT]
        if "git" in command:
            self._take_git(command, output, failed)
        self._take_checks(command, output, failed)

    # --- edits and checks

    def _edit(self, path: str, is_new: bool) -> None:
        path = self._short(path)
        if is_new and path not in self._dirty:
            self._new[path] = None
        self._taken_back.pop(path, None)
        self._dirty.pop(path, None)
        self._dirty[path] = None
        if not path.lower().endswith(_TEXTS):
            self._edited.pop(path, None)
            self._edited[path] = None

    def _short(self, path: str) -> str:
        path = path.strip().strip('"')
        if self._root and path.startswith(f"{self._root}/"):
            return path[len(self._root) + 1 :]
        return path.removeprefix("./")

    def _take_checks(self, command: str, output: str, failed: bool) -> None:
        for run in runs(command):
            if run.kind not in PROVES:
                continue
            rank = PROVES.index(run.kind)
            if rank > self._best:
                continue  # a linter says nothing where there are tests
            ok = passed(run, output, failed=failed)
            if ok is None:
                continue
            self._best = rank
            self._check, self._check_ok = command_line(run.call), ok
            if ok and not is_narrow(self._check):
                self._edited.clear()
            elif ok:
                for path in [path for path in self._edited if _is_about(path, run.call)]:
                    del self._edited[path]

    # --- git

    def _take_git(self, command: str, output: str, failed: bool) -> None:
        for call in invocations(command):
            if call.program == "git" and not call.where and self._is_here(call):
                words = list(call.arguments)
                while words[:1] in (["-c"], ["-C"]) or (words and words[0].startswith("-")):
                    words = words[2:] if words[0] in ("-c", "-C") else words[1:]
                if words:
                    self._git(words[0], words[1:], command, output, failed)

    def _is_here(self, call: Invocation) -> bool:
        """Whether a command works on the task's own tree."""
        folder = call.folder
        if "-C" in call.arguments[:-1]:
            folder = call.arguments[call.arguments.index("-C") + 1]
        if not folder:
            return True
        if not self._root or not folder.startswith("/"):
            return not folder.startswith("..")
        return os.path.normpath(folder).startswith(self._root)

    def _git(self, verb: str, words: list[str], command: str, output: str, failed: bool) -> None:
        if verb == "status":
            self._read_status(words, output)
        elif verb == "commit" and not failed:
            self._committed(words, command, output)
        elif verb in ("checkout", "switch"):
            self._switched(words, output, failed)
        elif verb == "add" and not failed:
            names = [word for word in words if not word.startswith("-")]
            whole = {"-A", "--all", "-u", "--update"} & set(words) or "." in names
            self._staged.update(
                dict.fromkeys([_EVERYTHING] if whole else [self._short(name) for name in names])
            )
        elif verb == "restore" and "--staged" not in words and not failed:
            other = any(word.startswith(("-s", "--source", "-p", "--patch")) for word in words)
            self._restored(words, takes_back=not other)
        elif verb == "reset" and "--hard" in words and not failed:
            # To another commit, committed edits may be lost as well: that is not known.
            self._take_back([path for path in self._dirty if path not in self._new])
            self._dirty.clear()
            self._read_head(output)
        elif (
            verb == "stash"
            and words[:1] not in (["list"], ["show"], ["pop"], ["apply"], ["drop"], ["branch"])
            and not failed
        ):
            if "No local changes" not in output:
                self._stashed = [path for path in self._dirty if path not in self._new]
                self._take_back(self._stashed)
                self._dirty.clear()
        elif verb == "stash" and words[:1] in (["pop"], ["apply"], ["branch"]):
            for path in self._stashed:
                self._taken_back.pop(path, None)
                self._dirty[path] = None
            self._stashed = []
        elif verb == "log" and not failed:
            self._read_log(words, output)
        elif verb in ("branch", "rev-parse") and not failed:
            self._read_branch(verb, words, output)
        elif verb in ("pull", "merge", "rebase", "cherry-pick", "revert") and not failed:
            found = _UPDATED.search(output)
            self._commit = found[1] if found else ""
            self._read_head(output)

    def _take_back(self, paths: Iterable[str]) -> None:
        """The edits of these files since the last commit are gone."""
        for path in paths:
            if path in self._dirty and path not in self._committed_files:
                self._taken_back[path] = self._event

    def _read_head(self, output: str) -> None:
        if found := _DETACHED.search(output):
            self._commit = one_line(" ".join(part for part in (found[1][:10], found[2]) if part), 100)

    def _committed(self, words: list[str], command: str, output: str) -> None:
        made = [(number, subject) for number, subject in commits(command, output) if number]
        if not made and "nothing to commit" in output:
            return
        for number, subject in made[-1:]:
            self._commit = one_line(f"{number} {subject}", 100)
        if found := _committed_branch(output):
            self._branch = found
        flags = "".join(word[1:] for word in words if word[:1] == "-" and word[1:2] != "-")
        before = dict(self._dirty)
        if _EVERYTHING in self._staged or "a" in flags or "--all" in words:
            self._dirty.clear()
        else:
            for name in self._staged:
                self._dirty.pop(name, None)
                for path in [path for path in self._dirty if path.startswith(f"{name}/")]:
                    del self._dirty[path]
        for path in before.keys() - self._dirty.keys():
            self._committed_files[path] = None
            self._new.pop(path, None)
        self._staged.clear()

    def _switched(self, words: list[str], output: str, failed: bool) -> None:
        if "--" in words:
            # From another commit, a file is changed all the same.
            is_head = words[: words.index("--")] in ([], ["HEAD"])
            self._restored(words[words.index("--") + 1 :], takes_back=is_head and not failed)
            return
        if _RESTORED.search(output):
            self._restored(words[1:] if words[:1] == ["HEAD"] else words, takes_back=not failed)
        elif found := _SWITCHED.search(output):
            self._branch, self._commit = found[1], self._commit if "-b" in words or "-c" in words else ""
        elif (
            not failed
            and (place := next((words.index(flag) for flag in ("-b", "-B", "-c", "-C") if flag in words), -1))
            >= 0
        ):
            self._branch = words[place + 1] if place + 1 < len(words) else self._branch
        elif not failed and (found := _DETACHED.search(output)):
            self._branch = f"detached at {found[1][:10]}"

    def _restored(self, words: list[str], *, takes_back: bool) -> None:
        for name in words:
            if takes_back and not name.startswith("-"):
                folder = "" if name == "." else f"{self._short(name).rstrip('/')}/"
                inside = (path for path in self._dirty if path.startswith(folder) and path not in self._new)
                self._take_back([self._short(name), *inside])
            if name == ".":
                self._dirty.clear()
                self._edited.clear()
            elif not name.startswith("-"):
                self._dirty.pop(self._short(name), None)
                self._edited.pop(self._short(name), None)

    def _read_status(self, words: list[str], output: str) -> None:
        if found := _ON_BRANCH.search(output):
            self._branch = found[1]
        if found := _HEADER.search(output):
            self._branch = found[1]
        if "# branch.head" in output:
            self._read_porcelain(output)
            return
        if any(word for word in words if not word.startswith("-")):
            return  # of some paths only
        if "working tree clean" in output:
            self._set_dirty([])
        elif found_long := [*_LONG.findall(output), *_listed(output)]:
            self._set_dirty(found_long)
        elif any(word.startswith(("-s", "--short", "--porcelain")) for word in words):
            lines = [path for _, path in _SHORT.findall(output)]
            if lines or not output.strip() or output.startswith("##"):
                self._set_dirty(lines)

    def _set_dirty(self, paths: list[str]) -> None:
        before = self._dirty
        self._dirty = dict.fromkeys(self._short(path) for path in paths[:MOST_DIRTY])
        # Somebody committed what is not dirty any more, and we have not seen it.
        self._committed_files.update(dict.fromkeys(before.keys() - self._dirty.keys()))
        self._known = True
        for path in self._dirty:
            self._taken_back.pop(path, None)

    def _read_porcelain(self, text: str) -> None:
        heads = dict(_V2_HEAD.findall(text))
        if heads.get("head"):
            self._branch = "" if heads["head"] == "(detached)" else heads["head"]
        oid = heads.get("oid", "")
        if oid and oid != "(initial)" and not oid.startswith(self._commit.split(" ")[0] or "-"):
            self._commit = oid[:10]
        self._set_dirty(_V2.findall(text))

    def _read_log(self, words: list[str], output: str) -> None:
        plain = [word for word in words if not word.startswith("-")]
        if any(not word.isdecimal() and word != "HEAD" for word in plain):
            return  # of another branch, or of some files
        if {"--all", "--reverse", "--merges", "-g", "--graph"} & set(words) or any(
            word.startswith(("--author", "--grep", "--since", "--until", "-S", "-G", "--skip", "--follow"))
            for word in words
        ):
            return
        first = next((line for line in output.splitlines() if line.strip()), "")
        if (found := _ONELINE.match(first)) or (found := _LOG.match(output)):
            self._commit = one_line(f"{found[1][:10]} {found[2]}", 100)

    def _read_branch(self, verb: str, words: list[str], output: str) -> None:
        line = output.strip()
        if ("--show-current" in words or "--abbrev-ref" in words) and _NAME.match(line) and line != "HEAD":
            self._branch = line
        elif verb == "branch" and not words:
            for one in output.splitlines():
                if one.startswith("* ") and _NAME.match(one[2:].strip()):
                    self._branch = one[2:].strip()


_COMMITTED = lazy_regex(r"(?m)^\[([\w./@+-]{1,200})(?: \(root-commit\))? [0-9a-f]{7,40}\] ")


def _committed_branch(output: str) -> str:
    """The branch that a commit says it was made on."""
    found = _COMMITTED.search(output)
    return found[1] if found and found[1] != "detached" else ""


def _is_about(path: str, call: Invocation) -> bool:
    """Whether a check of some tests is about a file: it names the file, its test or its folder."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0].removeprefix("test_").removesuffix("_test")
    words = " ".join(call.arguments)
    return bool(stem and stem in words) or bool(folder and folder in words)


def _listed(output: str) -> list[str]:
    """The untracked files of a long status."""
    _, found, rest = output.partition("Untracked files:")
    return _UNTRACKED.findall(rest) if found else []


def command_line(call: Invocation) -> str:
    """A command as it was run, with its variables and launchers."""
    env = [f"{name}={value}" for name, value in call.env]
    words = [*env, *call.launched, call.path, *call.arguments]
    return one_line(
        " ".join(f'"{word}"' if " " in word and word not in call.launched else word for word in words), 200
    )
