"""How to run things here: the commands that worked for test, build, lint, run, migrate, and what they needed.

A fold over the commands of a task. Of the forms that were used for one purpose, the one that worked after
another had failed comes first, then the one that was used most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.lazy_regex import lazy_regex
from ..model.types import Event, is_dict
from ..signals.calls.failures import error_line, exit_code, output_text
from ..signals.calls.launchers import Invocation, invocations
from ..signals.calls.run_kinds import KINDS, Run, could_not_run, is_narrow, passed, runs
from ..signals.calls.tools import first_text, is_shell
from ..signals.text_layout import one_line
from .work_tree import command_line

KIND = "run_commands"
MOST_FORMS, MOST_VARIANTS = 60, 5
SHOWN, SHOWN_OF_KIND = 12, 2
_MUST_WORK = ("run", "migrate", "install")
_AFTER_FAILURE = 6  # uses that a command counts as if it worked after another form had failed
_STARTS_SERVICE = lazy_regex(
    r"(?:docker compose|docker-compose) (?:up|start)|docker (?:run|start)|systemctl start|service \S+"
    r" start|brew services start|supabase start|pg_ctl .*start|redis-server|minikube start"
)
_NO_SERVICE = lazy_regex(
    r"(?i)connection refused|econnrefused|could not connect|is the server running|no such host"
)


class RunCommandsFold:
    """Collects the commands of a task; `state()` is all that must be kept."""

    def __init__(self, state: Mapping[str, Any] | None = None, root: str = "") -> None:
        state = state or {}
        self._root = root.rstrip("/")
        self._forms: dict[str, dict[str, Any]] = {
            name: dict(one) for name, one in state.get("forms", {}).items()
        }
        # The last form of each kind that could not run, and why.
        self._failed: dict[str, list[str]] = dict(state.get("failed", {}))
        self._service: str = state.get("service", "")
        self._without: str = state.get("without", "")  # the kind that failed for want of a service

    def state(self) -> dict[str, Any]:
        """All that must be kept, as JSON of bounded size."""
        return {
            "forms": self._forms, "failed": self._failed, "service": self._service, "without": self._without,
        }  # fmt: skip

    def observe(self, event: Event) -> None:
        """Take in an event."""
        if event.type not in ("action", "action.ended"):
            return
        given, tool = event.data.get("input"), str(event.data.get("tool") or event.data.get("type") or "")
        fields: Mapping[str, Any] = given if is_dict(given) else {}
        command = first_text(fields, ("command", "cmd"))
        if not command or not (is_shell(tool) or "command" in fields or tool == "cli"):
            return
        error, output = output_text(event.data.get("error")), output_text(event.data.get("output"))
        failed = event.data.get("error") is not None or bool(exit_code(event.data.get("output")))
        found = runs(command)
        for run in found:
            self._take(run, command, error or output, failed, event)
        if not failed and self._without and _STARTS_SERVICE.search(command):
            self._service = one_line(next((line for line in map(command_line, invocations(command))
                                           if _STARTS_SERVICE.search(line)), command), 100)  # fmt: skip

    def _take(self, run: Run, command: str, output: str, failed: bool, event: Event) -> None:
        ok = passed(run, output, failed=failed)
        if ok is None:
            return
        line = command_line(run.call)
        # A test that fails has run all the same; a program that never succeeded does not show how to run it.
        never = run.kind in _MUST_WORK and self._name(run) not in self._forms
        if not ok and (could_not_run(output) or never):
            self._failed[run.kind] = [line, error_line(output)[:120], self._name(run)]
            if _NO_SERVICE.search(output):
                self._without, self._service = run.kind, ""
            form = self._forms.get(self._name(run))
            if form is not None:
                form["broken"] = form.get("broken", 0) + 1
            return
        name = self._name(run)
        form = self._forms.pop(name, None) or {
            "kind": run.kind, "uses": 0, "variants": {}, "needs": "", "instead": "", "after_failure": False,
        }  # fmt: skip
        form["uses"] += 1
        form["seq"], form["at"], form["broken"] = event.seq, event.at, 0
        variants: dict[str, int] = form["variants"]
        variants[line] = variants.pop(line, 0) + 1
        while len(variants) > MOST_VARIANTS:
            del variants[min(variants, key=lambda one: variants[one])]
        form["needs"] = self._needs(run, command) or form["needs"]
        tried = self._failed.pop(run.kind, None)
        if tried and tried[2] != name:
            form["instead"], form["why"], form["after_failure"] = tried[0], tried[1], True
        if self._without == run.kind and self._service:
            form["needs"] = "; ".join(part for part in (form["needs"], f"first {self._service}") if part)[
                :200
            ]
            self._without = self._service = ""
        self._forms[name] = form
        while len(self._forms) > MOST_FORMS:
            del self._forms[next(iter(self._forms))]

    def _name(self, run: Run) -> str:
        """What counts as the same form: kind, launchers and program, without files and selectors."""
        call = run.call
        words = [word for word in call.arguments if not word.startswith("-")]
        verbs: list[str] = []
        for word in words[:2]:
            if not word.replace(":", "").replace("-", "").replace("_", "").isalnum() or word[0].isdecimal():
                break
            verbs.append(word)
        if call.program.startswith("python") and "-m" in call.arguments:
            verbs = ["-m", *verbs[:1]]
        return " ".join([run.kind, call.where, *call.launched, call.path, *verbs])

    def _needs(self, run: Run, command: str) -> str:
        """What a command needed besides its own words: a folder, variables, a virtual environment, a user."""
        call, found = run.call, list[str]()
        folder = call.folder
        if folder and folder.rstrip("/") != self._root and folder not in (".", "./"):
            short = folder.removeprefix(f"{self._root}/") if self._root else folder
            found.append(f"in {short}")
        if call.where:
            found.append(f"on {call.where}")
        for other in invocations(command):
            if other is call or other == call:
                break
            found += _prepared(other)
        return "; ".join(dict.fromkeys(found))[:200]

    def shown(self) -> list[dict[str, Any]]:
        """The fields of each `RunCommand`."""
        found: list[dict[str, Any]] = []
        for kind in KINDS:
            forms = [
                form for form in self._forms.values() if form["kind"] == kind and form.get("broken", 0) < 2
            ]
            forms.sort(key=_score, reverse=True)
            for form in forms[:SHOWN_OF_KIND]:
                variants: dict[str, int] = form["variants"]
                # A variant for everything is better than one for a single test, and a short one than a long.
                best = max(variants, key=lambda line: (not is_narrow(line), variants[line], -len(line)))
                found.append(
                    {
                        "kind": kind, "command": best, "needs": form["needs"] or None,
                        "instead_of": form["instead"] or None, "uses": form["uses"], "seq": form["seq"],
                        "at": form["at"],
                    }
                )  # fmt: skip
        return found[:SHOWN]


def _score(form: Mapping[str, Any]) -> tuple[bool, float, int]:
    general = any(not is_narrow(line) for line in form["variants"])
    return general, form["uses"] + (_AFTER_FAILURE if form["after_failure"] else 0), form["seq"]


def _prepared(call: Invocation) -> list[str]:
    """What a command before another prepares for it."""
    if call.program == "export":
        return [f"export {one_line(' '.join(call.arguments), 80)}"]
    if call.program in ("source", ".") and call.arguments:
        return [f"source {call.arguments[0]}"]
    if call.program in ("nvm", "mise", "pyenv", "conda", "asdf") and call.arguments[:1] in (
        ("use",), ("activate",), ("shell",),
    ):  # fmt: skip
        return [one_line(" ".join(call.words), 80)]
    return []
