"""Side effects that take back or replace an earlier one: what a call acts on, and in which direction.

Two calls are related if they act on the same object of the same group: `helm upgrade api` and `helm rollback
api` on the release api. An object is known by the call's words, or by what its output names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from ...model.lazy_regex import lazy_regex

Role = Literal["sets", "makes", "undoes"]


class Acts(NamedTuple):
    """What a call acts on; one that `sets` replaces an earlier one, one that `makes` stands beside it."""

    group: str
    object: str  # empty if only the output names it
    role: Role
    place: str = ""  # the namespace, project or folder that the object is in
    folder: str = ""  # where the command line says that the call runs


class _Form(NamedTuple):
    verbs: str
    group: str
    role: Role
    object: str = "{1}"
    place: str = ""


_NAMESPACE = "{-n|--namespace}"
_PROJECT = "{-p|--project-name}{-f|--file}{folder}"
_TABLE: Mapping[str, tuple[_Form, ...]] = {
    "helm": (
        _Form("install|upgrade", "release", "sets", place=_NAMESPACE),
        _Form("rollback|uninstall|delete|un", "release", "undoes", place=_NAMESPACE),
    ),
    "kubectl": (
        _Form("rollout undo", "workload", "undoes", "{resource}", _NAMESPACE),
        _Form("delete", "workload", "undoes", "{resource}", _NAMESPACE),
        _Form("set image|apply|create|replace|patch|edit|run", "workload", "sets", "{resource}", _NAMESPACE),
        _Form("scale", "replicas", "sets", "{resource}", _NAMESPACE),
        _Form("cordon|drain", "node", "sets"),
        _Form("uncordon", "node", "undoes"),
    ),
    "docker": (
        _Form("(?:container )?(?:run|create)", "container", "makes", "{--name}"),
        _Form("(?:container )?(?:start|restart|unpause)", "container", "sets"),
        _Form("(?:container )?(?:rm|stop|kill|pause)", "container", "undoes"),
        _Form("compose (?:up|start|create|restart)", "compose", "sets", "up {1}", _PROJECT),
        _Form("compose (?:down|stop|rm|kill)", "compose", "undoes", "up {1}", _PROJECT),
        _Form("service (?:create|update)", "service", "sets", "{last}"),
        _Form("service (?:rollback|rm)", "service", "undoes", "{last}"),
        _Form("stack (?:deploy|up)", "stack", "sets", "{last}"),
        _Form("stack (?:rm|down)", "stack", "undoes", "{last}"),
        _Form("volume create|network create", "volume", "makes", "{last}"),
        _Form("volume rm|network rm", "volume", "undoes", "{last}"),
    ),
    "gh": (
        _Form("pr create", "pull", "makes", "", "{-R|--repo}"),
        _Form("pr reopen", "pull", "sets", "{number}", "{-R|--repo}"),
        _Form("pr close", "pull", "undoes", "{number}", "{-R|--repo}"),
        _Form("issue create", "issue", "makes", "", "{-R|--repo}"),
        _Form("issue reopen", "issue", "sets", "{number}", "{-R|--repo}"),
        _Form("issue (?:close|delete)", "issue", "undoes", "{number}", "{-R|--repo}"),
        _Form("release create", "release", "makes", place="{-R|--repo}"),
        _Form("release delete", "release", "undoes", place="{-R|--repo}"),
        _Form("repo create", "repository", "makes"),
        _Form("repo (?:delete|archive)", "repository", "undoes"),
        _Form("(?:secret|variable) set", "setting", "sets", place="{-R|--repo}"),
        _Form("(?:secret|variable) (?:delete|remove)", "setting", "undoes", place="{-R|--repo}"),
    ),
    "npm": (_Form("publish", "package", "makes", ""), _Form("unpublish", "package", "undoes")),
    "terraform": (
        _Form("apply", "state", "sets", "state {-target}", "{-chdir}{folder}"),
        _Form("destroy", "state", "undoes", "state {-target}", "{-chdir}{folder}"),
    ),
    "systemctl": (
        _Form("start|restart|reload", "unit", "sets"),
        _Form("stop", "unit", "undoes"),
    ),
}
_GITLAB = tuple(one._replace(verbs=one.verbs.replace("pr ", "mr ")) for one in _TABLE["gh"])
_FORMS = {**_TABLE, "glab": _GITLAB}
_VERB = {one.verbs: lazy_regex(rf"(?:{one.verbs})(?=\s|$)") for forms in _FORMS.values() for one in forms}
# Programs without a form: a word that takes back what a word of the others did.
_KINDS = ("deploy", "migration", "infrastructure")
_BACK = lazy_regex(
    r"(?:.*[:\s.-])?(?:rollback|downgrade|down|revert|undo|destroy|remove|rm|delete|undeploy|teardown)"
    r"(?=[\s:]|$)"
)
_FORTH = lazy_regex(
    r"(?:.*[:\s.-])?(?:deploy|up|upgrade|migrate|apply|publish|push|run|latest|update|sync|release)"
    r"(?=[\s:]|$)"
)
_PLACES = (
    "-a|--app", "-s|--stage", "-e|--env|--environment", "-c|--config", "-d|--database", "--project",
    "-n", "-x",
)  # fmt: skip

_VERSION = lazy_regex(r"v?\d[\w.+-]*$|[+-]\d+$|head$|base$|zero$|latest$")

Option = Callable[[Sequence[str]], str]


def acts_on(base: str, kind: str, plain: Sequence[str], option: Option, folder: str) -> Acts | None:
    """What a call of a program acts on; None if it has no counterpart that we know.

    `plain` are the words without options, `option` gives the value of the first of several options.
    """
    if base == "git":
        return _push(plain, option)
    text = " ".join(plain)
    for form in _FORMS.get(base, ()):
        if found := _VERB[form.verbs].match(text):
            after = text[found.end() :].split()
            name = _filled(form.object, after, option, folder)
            return Acts(form.group, name, form.role, _filled(form.place, after, option, folder))
    if base in _FORMS or kind not in _KINDS:
        return None
    back = _BACK.match(text)
    found = back or _FORTH.match(text)
    if found is None:
        return None
    rest = [word for word in text[found.end() :].split() if not _VERSION.match(word)]
    name = rest[0] if rest and (kind != "migration" or base == "manage.py") else "it"
    places = " ".join(filter(None, (option(names.split("|")) for names in _PLACES)))
    settings = " ".join(word for word in rest if "=" in word)
    return Acts(base, name, "undoes" if back else "sets", f"{places} {settings} {folder}".strip())


def relation(earlier: tuple[Acts, str], later: tuple[Acts, str]) -> Literal["undone", "superseded"] | None:
    """How the later of two calls that were done changes the earlier; each with the note of its outcome."""
    before, after = earlier[0], later[0]
    if before.group != after.group or before.place != after.place:
        return None
    if before.folder and after.folder and before.folder != after.folder:
        return None
    if not objects(*earlier) & objects(*later):
        return None
    if after.role == "undoes":
        return "superseded" if before.role == "undoes" else "undone"
    if after.role == "makes" and before.role == "makes":
        return None
    return "superseded"


_NAMED: Mapping[str, tuple[str, ...]] = {
    "ref": (r"(?:^|; )(\S+) [0-9a-f]{7,40}\.{2,3}[0-9a-f]", r"\bnew (?:branch|tag|reference) (\S+)",
            r"\bdeleted (\S+)"),
    "workload": (
        r"([\w.-]+/[\w.-]+|\w+ \"[\w.-]+\") (?:configured|created|image updated|patched|rolled back|deleted)",
    ),
    "pull": (r"/(?:pull|merge_requests)/(\d+)", r"[#!](\d+)"),
    "issue": (r"/issues/(\d+)", r"#(\d+)"),
    "container": (r"\bcontainer ([0-9a-f]{12})",),
    "package": (r"(@?[\w./-]+@\d[\w.+-]*)",),
}  # fmt: skip
_NAMES = {group: tuple(lazy_regex(pattern) for pattern in patterns) for group, patterns in _NAMED.items()}


def objects(acts: Acts, note: str) -> set[str]:
    """The objects of a call: those of its words, and those that its output named."""
    found = {_short(acts.group, name) for name in acts.object.split(" & ") if name.strip()}
    for pattern in _NAMES.get(acts.group, ()):
        found |= {_short(acts.group, name.rstrip(";,")) for name in pattern.findall(note)}
    return found


_SHORT_KINDS = {
    "deploy": "deployment", "deployments": "deployment", "svc": "service", "services": "service",
    "sts": "statefulset", "ds": "daemonset", "cm": "configmap", "po": "pod", "pods": "pod", "ing": "ingress",
    "ns": "namespace", "job": "job", "jobs": "job", "cj": "cronjob",
}  # fmt: skip


def _short(group: str, name: str) -> str:
    name = name.strip()
    if group == "workload":
        kind, _, rest = name.replace('"', "").replace(" ", "/", 1).partition("/")
        kind = kind.partition(".")[0].lower()
        return f"{_SHORT_KINDS.get(kind, kind)}/{rest}" if rest else name
    if group == "container":
        return name[:12] if len(name) >= 12 and not name.strip("0123456789abcdef") else name
    return name


_FIELD = lazy_regex(r"\{([^{}]{1,40})\}")
_NUMBER = lazy_regex(r"(?:.*/|[#!])?(\d+)$")


def _filled(template: str, after: Sequence[str], option: Option, folder: str) -> str:
    def value(name: str) -> str:
        if name == "folder":
            return folder
        if name == "last":
            return after[-1] if after else ""
        if name == "number":
            found = _NUMBER.match(after[0]) if after else None
            return found[1] if found else ""
        if name == "resource":
            if file := option(("-f", "--filename", "-k", "--kustomize")):
                return f"file {file}"
            return " ".join(after[:1] if after and "/" in after[0] else after[:2])
        if name.isdecimal():
            return after[int(name) - 1] if int(name) <= len(after) else ""
        return option(name.split("|"))

    return _FIELD.sub(lambda found: value(found[1]), template).strip()


def _push(plain: Sequence[str], option: Option) -> Acts | None:
    """A push to some refs, or their deletion."""
    if plain[:1] != ["push"]:
        return None
    words = list(plain[1:])
    deletes = option(("--delete", "-d")) or any(word.startswith(":") for word in words[1:])
    remote = words[0] if words else "origin"
    refs = [word.lstrip("+").rpartition(":")[2] for word in words[1:]]
    refs = [ref.removeprefix("refs/heads/").removeprefix("refs/tags/") for ref in refs if ref != "HEAD"]
    return Acts("ref", " & ".join(refs), "undoes" if deletes else "sets", remote)
