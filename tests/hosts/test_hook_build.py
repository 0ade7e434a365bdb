"""The build of the capture hook: what is in it, that it does as the package does, and how it is installed."""

from __future__ import annotations

import json
import marshal
import os
import random
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ringbolt.hosts import hook_build
from ringbolt.hosts.capture.events import cleaned
from ringbolt.hosts.hook_build import HookProgram, is_hook_command
from ringbolt.hosts.hook_parts import cleaning, hook_settings, journal_files
from ringbolt.hosts.host_schemas import read_event
from ringbolt.hosts.host_table import HOSTS
from ringbolt.hosts.install.installer import Installer
from ringbolt.journal import folders, names
from ringbolt.model import redaction
from ringbolt.model.redaction import Redactor
from tests.hosts.capture_process import Capturing, built_hook
from tests.model.invented_secrets import SECRETS

RECORDED = Path(__file__).parent / "recorded"
# Modules that cost more than all that the hook does.
HEAVY = set("re json os typing enum functools collections site signal hashlib tempfile".split())


@pytest.fixture(scope="module")
def built():
    """The names of the build, as they are when it runs."""
    content = hook_build.compiled()
    assert content[:4] == hook_build.MAGIC_NUMBER
    names: dict = {"__name__": "built"}
    exec(marshal.loads(content[16:]), names)
    return names


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        return built_hook(tmp_path_factory.mktemp("build"), monkeypatch)


# --- the same as the package ------------------------------------------------------------------------


class Made:
    """Values as a hostile or a busy host may send them."""

    NAMES = "command content stdout text password api_key token_count Authorization x cookie url".split()
    WORDS = (
        "the token is", "password:", "https://ada:", "@host/x", " -u bob:", "Bearer ", "basic auth", "é",
        "\0", "\ud800", "日本", "\n", "=", '"', "\\\"", "--api-key ", "private key", "Exit code: 1\n",
        "…", "0",
    )  # fmt: skip

    def __init__(self, seed: int, between: str = "") -> None:
        self.between = between
        self.random = random.Random(seed)
        self.secrets = [form.format(secret) for secret, form in SECRETS.values()]

    def text(self) -> str:
        chosen = self.random.random()
        if chosen < 0.02:
            return self.random.choice(self.WORDS) * self.random.choice((3_000, 17_000, 70_000))
        parts = self.WORDS if chosen < 0.5 else (*self.WORDS, *self.secrets)
        return self.between.join(self.random.choice(parts) for _ in range(self.random.randrange(9)))

    def value(self, depth: int = 0):
        kind = self.random.randrange(3 if depth > 3 else 6)
        if kind == 0:
            return self.random.choice((None, True, 1.5, -3, 10**20))
        if kind < 3:
            return self.text()
        if kind == 3:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {
            self.random.choice(self.NAMES): self.value(depth + 1) for _ in range(self.random.randrange(5))
        }


@pytest.mark.parametrize("count", [300, pytest.param(3000, marks=pytest.mark.reliability)])
def test_the_build_cleans_as_the_package_does(built, count):
    facts = hook_build.facts_of_host("claude-code")
    embedded = built["redaction_module"]()
    theirs = embedded["Redactor"]()
    ours = Redactor()
    made = Made(1)
    for _ in range(count):
        told = {"prompt": made.text(), "tool_response": made.value(), made.text(): made.value()}
        expected = cleaning.cleaned(told, facts, ours, redaction.storable)
        assert built["cleaned"](told, facts, theirs, embedded["storable"]) == expected
        assert json.loads(built["encode"](expected)) == expected


def events_to_clean(count):
    """Events of hosts: those that were recorded, and made ones with two results of tools each."""
    for host in HOSTS:
        for path in sorted((RECORDED / host).glob("*.json")):
            if path.stem in HOSTS[host].events:
                yield host, path.stem, json.loads(path.read_text())
    # Apart from each other: pieces that run together may look like another secret once one is redacted.
    made = Made(2, between="\n\n")
    hosts = sorted(name for name, row in HOSTS.items() if row.events)
    for number in range(count):
        host = hosts[number % len(hosts)]
        event = next(name for name, ours in HOSTS[host].events.items() if ours == "PostToolUse")
        fields = {
            "session_id": "s",
            "tool_name": made.random.choice(("Bash", "Edit", "x")),
            "error": made.text(),
        }
        text = made.text()
        output = (text, {"stdout": text, "stderr": ""}, {"content": [{"type": "text", "text": text}]})[
            number % 3
        ]
        yield (
            host,
            event,
            {**fields, "tool_input": made.value(), "tool_response": output, "prompt": made.text()},
        )


@pytest.mark.parametrize("count", [150, pytest.param(1500, marks=pytest.mark.reliability)])
def test_the_package_reads_the_hooks_copy_like_the_event_itself(count):
    """Cleaned by the hook, then put into our words: as if it had never been in the journal."""
    redactor = Redactor()
    for host, event, told in events_to_clean(count):
        kept = cleaning.cleaned(told, hook_build.facts_of_host(host), redactor, redaction.storable)
        direct = cleaned(read_event(host, event, told), redactor)
        assert cleaned(read_event(host, event, json.loads(json.dumps(kept))), redactor) == direct


def test_clipping_twice_is_clipping_once():
    for length in (15_999, 16_000, 16_001, 16_040, 90_000, 20_000_000):
        once = cleaning.clipped("ab\n" * (length // 3))
        assert cleaning.clipped(once) == once
        assert len(once) < 16_060


def test_the_build_has_every_pattern_ready(built):
    assert set(built["marshal"].loads(built["BUILT"]["patterns"])) == set(redaction.pattern_sources())
    embedded = built["redaction_module"]()
    for secret, form in SECRETS.values():
        assert secret not in embedded["Redactor"]().text(form.format(secret))
    assert set(embedded["_compiled"]) <= set(redaction.pattern_sources())


def test_patterns_of_another_release_of_python_are_compiled_by_it(built, monkeypatch):
    monkeypatch.setitem(built["BUILT"], "sre", marshal.dumps(1))
    found = built["ReadyPatterns"].compile(
        next(source for source in redaction.pattern_sources() if "ACCA" in source)
    )
    assert found.search("AKIA" + "Q3EGRZ7JXKPL2MNB")
    assert built["ReadyPatterns"].compile("unknown (to) the build")


def test_the_patterns_of_packets_are_ready_and_find_the_same(built):
    ready = marshal.loads(built["BUILT"]["packet patterns"])
    compile_ready = built["ReadyPatterns"].add_packet_patterns()
    texts = [Made(seed, between=" ").text()[:300] for seed in range(40)]
    for source, flags in hook_build.packet_patterns():
        assert (source if not flags else (source, flags)) in ready
        ours, theirs = re.compile(source, flags), compile_ready(source, flags)
        assert (theirs.flags, theirs.groupindex) == (ours.flags, ours.groupindex)
        for text in texts:
            assert [m.span() for m in theirs.finditer(text)] == [m.span() for m in ours.finditer(text)]


def test_json_is_read_and_written_as_the_package_does(built):
    made = Made(3)
    for _ in range(2000):
        value = {"a": made.value(), made.text(): made.value()}
        text = json.dumps(
            value, ensure_ascii=made.random.random() < 0.5, indent=made.random.choice((None, 1))
        )
        data = text.encode("utf-8", "replace")
        assert built["parse"](data) == json.loads(data.decode())
        cut = data[: made.random.randrange(len(data))]
        assert built["parse"](cut) is None
        assert built["encode"](value) == json.dumps(value)


def test_simple_settings_are_read_as_toml_reads_them():
    texts = [
        'a = "x"\n# no\n\n b=12 \n', 'a = "x"\r\nb = "y z"\r\n', "a = 1\na = 2", "a = 'x'", 'a = "x" # why',
        "[t]\na = 1", 'a = "x\\ty"', "a = 1_000", "a = 012", 'a.b = "x"', 'a = ""', "a", '"a" = 1',
        'a = "x"y"', "é = 1", "a = ٣", "a = 0", 'a = "x\x01"', 'a = "x\ty"', 'a = "x\x0by"',
    ]  # fmt: skip
    for text in texts:
        found = hook_settings.simple_toml(text)
        try:
            expected = tomllib.loads(text)
        except ValueError:
            expected = None
        assert found is None or found == expected, text
    assert hook_settings.simple_toml(texts[0]) == {"a": "x", "b": 12}


def test_paths_are_as_the_package_has_them(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    for name in ("link", "link/s.db", "real/s.db", "link/../s.db"):
        assert hook_settings.resolved(str(tmp_path / name)) == os.path.realpath(tmp_path / name)
    for path in (
        "/a/b",
        "/",
        "/a/",
        "/a//b",
        "/a/./b",
        "/a/../b",
        "/a/..",
        "a",
        "../a",
        "/a/.b",
        "/a/...",
        "//a/b",
        "/a/.",
    ):
        assert hook_settings.resolved(path) == os.path.realpath(path)
    for home, data in (("/home/a", ""), ("/home/a/", "/d/"), ("/", "/d"), ("/home/a", "relative")):
        monkeypatch.setenv("HOME", home)
        monkeypatch.setenv("XDG_DATA_HOME", data)
        for place in (
            "/x/s.db",
            "s.db",
            "sqlite:///x/s.db",
            "postgresql://a:b@h/d?x=1",
            "postgresql://h/d?tenant=t",
            "postgresql://h/d?tenant=&sslmode=require",
            "postgresql:///d?host=/run/a&port=5433",
            "postgresql:///?dbname=d&host=/run/b",
        ):
            for tenant in ("", "acme", "default"):
                assert hook_settings.journal_folders(place, tenant) == folders.journal_folders(place, tenant)


def test_sessions_have_the_digests_that_the_drain_gives_them():
    for session in ("s-1", "", "é"):
        assert journal_files.session_digest(session) == names.session_digest(session)
    assert journal_files.boot_id() == names.boot()


# --- the process ------------------------------------------------------------------------------------


def test_the_build_loads_nothing_heavy_even_where_it_finds_secrets(build, tmp_path):
    hook = Capturing(tmp_path, build)
    many = "\n".join(form.format(secret) for secret, form in SECRETS.values())
    told = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": many}, "tool_response": many}
    hook.words[1:1] = ["-X", "importtime"]
    for event in ("PostToolUse", "PreToolUse", "UserPromptSubmit"):
        words = [*hook.words, "claude-code", event]
        given = json.dumps({**told, "session_id": event})
        done = subprocess.run(words, input=given, env=hook.environment, capture_output=True,
                              text=True, check=True)  # fmt: skip
        loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        assert "_json" in loaded
        assert loaded & HEAVY == set()
    assert len(hook.events()) == 3  # the call may act outside, so its beginning is kept too


def damaged(build: Path, folder: Path) -> dict[str, list[str]]:
    """Builds that cannot be run, as words of a command."""
    content = build.read_bytes()
    contents = {
        "another magic number": b"\x01\x02" + content[2:],
        "the beginning of it": content[: len(content) // 2],
        "nothing": b"",
        "rubbish": b"\xff" * 1000,
    }
    start = [getattr(sys, "_base_executable", sys.executable), "-I", "-S"]
    found = {
        "no file": [*start, str(folder / "ringbolt-hook-gone.pyc")],
        "no Python": ["/no/python", "-I", str(build)],
    }
    for number, (name, data) in enumerate(contents.items()):
        path = folder / f"ringbolt-hook-{number}.pyc"
        path.write_bytes(data)
        found[name] = [*start, str(path)]
    return found


def test_where_the_build_cannot_run_the_program_gets_the_whole_event(build, tmp_path):
    program = tmp_path / "a 'folder'" / "ringbolt-hook"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/called\nexec cat >> {tmp_path}/called\n')
    program.chmod(0o755)
    data = json.dumps({"prompt": "x" * 100_000}).encode()
    for name, words in damaged(build, tmp_path).items():
        command = HookProgram(path=str(program), fast=tuple(words)).command("claude-code", "Stop")
        done = subprocess.run(["/bin/sh", "-c", command], input=data, capture_output=True, check=False)
        assert done.returncode == 0, name
        assert (tmp_path / "called").read_bytes() == b"claude-code Stop\n" + data, name
        (tmp_path / "called").unlink()
    good = HookProgram(path=str(program), fast=tuple(Capturing(tmp_path, build).words))
    hook = Capturing(tmp_path, build)
    done = subprocess.run(
        ["/bin/sh", "-c", good.command("claude-code", "UserPromptSubmit")],
        input=data,
        env=hook.environment,
        check=True,
    )
    assert not (tmp_path / "called").exists()
    assert len(hook.events()) == 1


def test_our_command_lines_are_known_again():
    plain = HookProgram(path="/a b/ringbolt-hook")
    fast = HookProgram(
        path="/a b/ringbolt-hook", fast=("/usr/bin/python3", "-I", "-S", "/d e/ringbolt-hook-1.pyc")
    )
    for program in (plain, fast):
        assert is_hook_command(program.command("codex", "Stop"), "codex", "Stop")
        assert not is_hook_command(program.command("codex", "Stop"), "codex", "SessionEnd")
        assert not is_hook_command(program.command("codex", "Stop"), "cursor", "Stop")
    ours = "ringbolt-hook codex Stop"
    others = ["", None, "say", f"true || {ours} x", "'", f"{ours} || true", f"other.pyc codex Stop || {ours}",
              f"a || b || {ours}"]  # fmt: skip
    for other in others:
        assert not is_hook_command(other, "codex", "Stop")


# --- installing -------------------------------------------------------------------------------------


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A user of its own; the program is the one beside this Python."""
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def builds(at) -> list[str]:
    folder = at / "data/ringbolt/hooks"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def test_the_settings_run_the_build_and_it_captures(at):
    subject = Installer("claude-code", scope="user")
    assert subject.install(dry_run=True).diff
    assert builds(at) == []
    assert subject.install().state == "installed"
    assert builds(at) == [hook_build.build_name()]
    settings = json.loads((at / "home/.claude/settings.json").read_text())
    command = settings["hooks"]["PostToolUse"][0]["hooks"][0]["command"]
    assert " -I -S " in command
    store = at / "s.db"
    environment = {"PATH": os.environ["PATH"], "HOME": str(at / "home"), "RINGBOLT_STORE": str(store)}
    told = json.dumps({"session_id": "s", "tool_name": "Bash"})
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=told, text=True, env=environment, capture_output=True, check=True
    )
    assert (done.stdout, done.stderr) == ("", "")
    assert len(list(Path(f"{store}.journal/new").iterdir())) == 1


def test_a_build_that_is_gone_or_old_is_mended_by_installing_again(at):
    subject = Installer("claude-code", scope="user")
    subject.install()
    [name] = builds(at)
    folder = at / "data/ringbolt/hooks"
    (folder / name).unlink()
    assert subject.check().state == "outdated"
    assert subject.install().state == "installed"
    assert builds(at) == [name]
    settings = at / "home/.claude/settings.json"
    old = "ringbolt-hook-0.0.1-cafe-0123456789ab.pyc"
    settings.write_text(settings.read_text().replace(name, old))
    (folder / name).rename(folder / old)
    assert subject.check().state == "outdated"
    assert subject.install().state == "installed"
    assert builds(at) == [name]
    assert old not in settings.read_text()


def test_the_build_goes_with_the_last_host_that_uses_it(at):
    hosts = [Installer(host, scope="user") for host in ("claude-code", "codex", "opencode", "openclaw")]
    for host in hosts:
        host.install()
    for host in hosts[:-1]:
        assert host.remove().state == "not installed"
        assert builds(at) == [hook_build.build_name()]
    hosts[-1].remove()
    assert not (at / "data/ringbolt/hooks").exists()


def test_another_program_is_called_without_a_build(at):
    program = at / "ringbolt-hook"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    subject = Installer("claude-code", scope="user", program=str(program))
    subject.install()
    assert builds(at) == []
    assert f'"{program} claude-code Stop"' in (at / "home/.claude/settings.json").read_text()
