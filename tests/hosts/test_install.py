"""`ringbolt install`: into the settings of each host and out again, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from ringbolt.hosts.host_table import EVENTS, HOSTS
from ringbolt.hosts.install import jsonc, plugins
from ringbolt.hosts.install.installer import Installer
from ringbolt.hosts.install.plugins import OwnFile
from ringbolt.hosts.install.templates import template
from ringbolt.hosts.install.toml_settings import TomlHooks, TomlTable
from ringbolt.model.errors import RingboltError
from ringbolt.surfaces.mcp.tools import listed
from tests.surfaces.command_line import data, run

CASES = [(name, scope) for name, host in HOSTS.items() for scope in host.scopes]
RICH = """// mine
{
\t"$schema": "https://example.org/x.json", /* keep */
\t"model": "m", // trailing
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "matcher": "", "hooks": [{ "type": "command", "command": "say done" }] }, // other
\t\t],
\t\t"stop": [], "PreToolUse": [ ],
\t\t// "SessionStart": []
\t},
\t"mcpServers": {"other": {"command": "x"}},
\t"servers": {},
\t"mcp": {
\t}
\t, "unknown": {"deep": [1, 2, {"a": null}]}
\t// the end
}
"""
STARTS = {
    "no file": None,
    "nothing": "",
    "empty object": "{}",
    "empty object with a line": "{\n}\n",
    "rich": RICH,
    "rich with CRLF and BOM": "\ufeff" + RICH.replace("\n", "\r\n"),
    "minified": '{"hooks":{"Stop":[{"hooks":[]}],"stop":[]},"mcpServers":{},"a":[1]}',
    "deep": '{"a": ' + '{"b": [' * 300 + "]}" * 300 + "}\n",
}  # fmt: skip
TOML_STARTS = {
    "no file": None,
    "nothing": "",
    "a table": '# mine\nmodel = "x"\n[mcp_servers.other]\ncommand = "y"\n',
    "no line end": "a = 1",
    "rich with CRLF and BOM": '\ufeffa = """\r\n[x]\r\n"""\r\n\r\n[features]\r\nhooks = true # yes\r\n\r\n',
}


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A user's folder, a project, and a program to be called."""
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home, project, tmp_path / "bin dir"):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for name in (
        "XDG_CONFIG_HOME",
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "OPENCLAW_STATE_DIR",
        "COPILOT_HOME",
        "KIMI_CODE_HOME",
        "CLINE_DIR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(project)
    for name, module in (("ringbolt-hook", "ringbolt.hosts.capture_hook"), ("ringbolt", "ringbolt")):
        program = tmp_path / "bin dir" / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        program.chmod(0o755)
    return tmp_path


def installer(at, host: str, scope: str | None = None) -> Installer:
    return Installer(host, scope=scope, program=str(at / "bin dir" / "ringbolt-hook"))


def tree(at) -> dict[str, bytes | None]:
    """Everything below the user's folder and the project, but the copies that were kept."""
    found: dict[str, bytes | None] = {}
    for root in (at / "home", at / "project"):
        for path in sorted(root.rglob("*")):
            if not path.name.endswith(".ringbolt-backup"):
                found[str(path)] = path.read_bytes() if path.is_file() else None
    return found


def write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.write(text)


# By default each place to install to is tried with a third of the starts, and each start in a third of the
# places; the other pairs belong to the long tests.
PAIRS = [
    pytest.param(host, scope, start, marks=[pytest.mark.reliability] if (place + number) % 3 else [])
    for place, (host, scope) in enumerate(CASES)
    for number, start in enumerate(STARTS)
]


@pytest.mark.parametrize(("host", "scope", "start"), PAIRS)
def test_install_check_install_again_and_remove_leaves_every_byte(at, host, scope, start):
    subject = installer(at, host, scope)
    for target in subject.files:
        if isinstance(target, OwnFile):
            continue
        text = (
            TOML_STARTS.get(start, TOML_STARTS["a table"])
            if isinstance(target, (TomlTable, TomlHooks))
            else STARTS[start]
        )
        if text is not None:
            write(target.path, text)
    before = tree(at)
    assert subject.check().state == "not installed"
    report = subject.install()
    assert report.state == subject.check().state == "installed"
    assert set(report.changed) == {target.path for target in subject.files}
    copies = [Path(path).read_bytes() for path in report.backups]
    changed = [before[path] for path in report.changed if before.get(path) is not None]
    assert copies == changed
    after = tree(at)
    assert after != before
    again = subject.install()
    assert (again.changed, again.backups) == ((), ())
    assert tree(at) == after
    assert subject.remove().state == "not installed"
    assert tree(at) == before
    assert subject.remove().changed == ()


TOML_LAYOUTS = (
    "", "a = 1", "a = 1\r\n[b]\r\nc = 2\r\n", "a = 1\r\nb = 2\n[c]\nd = 1\r\n", "[a]\nb=1\n\n\n\n",
    "[a]\nb=1\n# the end, without a line end", '[mcp_servers.other]\ncommand="y"\n\n[tui]\nx = 1 # c\n',
    "[mcp_servers.a]\ncommand='x'\n[tui]\nx=1\n[mcp_servers.b]\ncommand='y'\n",
    'a = """\r\n[x]\r\n"""\r\n\r\n[features]\r\nhooks = true # yes\r\n\r\n',
)  # fmt: skip


def test_a_toml_table_comes_out_byte_for_byte_whatever_the_layout():
    table = TomlTable(path="config.toml", table=("mcp_servers", "ringbolt"), command="/opt/ringbolt")
    hooks = TomlHooks(path="config.toml", hooks=({"event": "Stop", "command": "'a b' x", "timeout": 5},))
    for before in TOML_LAYOUTS:
        after, _ = hooks.installed(before)
        assert tomllib.loads(after)["hooks"] == list(hooks.hooks)
        assert hooks.removed(after, None) == before
        after, _ = table.installed(before)
        assert tomllib.loads(after)["mcp_servers"]["ringbolt"]["command"] == "/opt/ringbolt"
        assert ("\r" not in before) or after.count("\r\n") > before.count("\r\n")
        assert table.removed(after, None) == before


def test_claude_code_gets_its_events_with_absolute_paths_and_seconds(at):
    installer(at, "claude-code").install()
    settings = json.loads((at / "home/.claude/settings.json").read_text())
    assert list(settings["hooks"]) == list(HOSTS["claude-code"].events)
    assert set(EVENTS) < set(settings["hooks"])
    # A hook for these takes over the creation of worktrees, and the host fails without its answer.
    assert not {"WorktreeCreate", "WorktreeRemove"} & set(settings["hooks"])
    for event, [group] in settings["hooks"].items():
        [hook] = group["hooks"]
        assert hook["command"] == f"'{at}/bin dir/ringbolt-hook' claude-code {event}"
        assert hook["type"] == "command"
        assert 1 <= hook["timeout"] <= 10
    server = json.loads((at / "home/.claude.json").read_text())["mcpServers"]["ringbolt"]
    assert server == {"type": "stdio", "command": f"{at}/bin dir/ringbolt", "args": ["mcp"]}


def test_each_host_gets_the_shape_that_it_reads(at):
    for host in HOSTS:
        installer(at, host, "project" if "project" in HOSTS[host].scopes else "user").install()
    project = at / "project"

    def loaded(name: str) -> dict:
        return json.loads((project / name).read_text())

    ringbolt = f"{at}/bin dir/ringbolt"
    assert loaded(".mcp.json")["mcpServers"]["ringbolt"]["command"] == ringbolt
    assert tomllib.loads((project / ".codex/config.toml").read_text())["mcp_servers"]["ringbolt"] == {
        "command": ringbolt,
        "args": ["mcp"],
    }
    assert "PostCompact" in loaded(".codex/hooks.json")["hooks"]
    cursor = loaded(".cursor/hooks.json")
    assert cursor["version"] == 1
    assert cursor["hooks"]["preCompact"][0]["command"].endswith("ringbolt-hook' cursor preCompact")
    gemini = loaded(".gemini/settings.json")
    assert gemini["hooks"]["PreCompress"][0]["hooks"][0]["timeout"] == 10_000  # milliseconds
    assert gemini["mcpServers"]["ringbolt"]["args"] == ["mcp"]
    assert loaded(".github/hooks/ringbolt.json")["hooks"]["PreCompact"][0]["type"] == "command"
    assert loaded(".vscode/mcp.json")["servers"]["ringbolt"]["command"] == ringbolt
    assert loaded("opencode.json")["mcp"]["ringbolt"]["command"] == [ringbolt, "mcp"]
    assert loaded(".qwen/settings.json")["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 5000
    assert loaded(".factory/mcp.json")["mcpServers"]["ringbolt"]["type"] == "stdio"
    assert loaded(".factory/settings.json")["hooks"]["PreCompact"][0]["hooks"][0]["type"] == "command"
    assert loaded(".agents/plugins/ringbolt/plugin.json")["name"] == "ringbolt"
    assert loaded(".agents/plugins/ringbolt/hooks/hooks.json")["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 5
    assert loaded(".kiro/settings/mcp.json")["mcpServers"]["ringbolt"]["command"] == ringbolt
    assert loaded(".amp/settings.json")["amp.mcpServers"]["ringbolt"]["command"] == ringbolt
    home = at / "home"
    kimi = tomllib.loads((home / ".kimi-code/config.toml").read_text())["hooks"]
    assert [hook["event"] for hook in kimi] == list(HOSTS["kimi-code"].events)
    assert kimi[0].keys() == {"event", "command", "timeout"}, "a further field makes the whole file invalid"
    copilot = json.loads((home / ".copilot/hooks/ringbolt.json").read_text())
    assert (copilot["version"], copilot["hooks"]["Stop"][0]["type"]) == (1, "command")
    assert json.loads((home / ".copilot/mcp-config.json").read_text())["mcpServers"]["ringbolt"]["tools"] == [
        "*"
    ]
    extension = at / "home/.openclaw/extensions/ringbolt"
    assert json.loads((extension / "openclaw.plugin.json").read_text())["id"] == "ringbolt"
    assert json.loads((extension / "package.json").read_text())["openclaw"]["extensions"] == ["./index.js"]


def test_removal_keeps_later_additions_of_the_user(at):
    subject = installer(at, "cursor", "project")
    subject.install()
    path = subject.files[0].path
    text = Path(path).read_text()
    write(path, text.replace('"stop": [', '"stop": [\n      {"command": "theirs"}, // mine\n'))
    assert subject.check().state == "installed"
    subject.remove()
    left = Path(path).read_text()
    root = jsonc.parse(left)
    assert root is not None
    assert jsonc.value_of(left, root) == {"version": 1, "hooks": {"stop": [{"command": "theirs"}]}}
    assert "// mine" in left


def test_check_distinguishes_partly_and_outdated(at):
    subject = installer(at, "claude-code", "project")
    subject.install()
    settings, servers = (target.path for target in subject.files)
    os.unlink(servers)
    assert subject.check().state == "partly"
    subject.install()
    text = Path(settings).read_text()
    write(settings, text.replace(str(at / "bin dir"), "/gone"))
    assert subject.check().state == "outdated"
    subject.install()
    assert Path(settings).read_text() == text
    subject.remove()
    assert tree(at) == {}


def test_a_server_that_was_added_by_hand_is_left_alone(at):
    path = str(at / "project/.mcp.json")
    write(path, '{"mcpServers": {"ringbolt": {"command": "ringbolt", "args": ["mcp", "--tools", "full"]}}}')
    before = tree(at)[path]
    subject = installer(at, "claude-code", "project")
    assert subject.install().state == "installed"
    subject.remove()
    assert tree(at)[path] == before


BAD = {
    "cut off": '{"hooks": {',
    "no object": "[]",
    "hooks of another kind": '{"hooks": []}',
    "event of another kind": '{"hooks": {"SessionStart": {}}}',
    "not UTF-8": b'{"a": "\xff"}',
    "foreign hook": '{"hooks": {"Stop": [{"name": "ringbolt", "command": "rm"}]}}',
}


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_file_is_refused_and_nothing_is_written(at, bad):
    content = BAD[bad]
    path = at / "project/.claude/settings.json"
    path.parent.mkdir()
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = tree(at)
    subject = installer(at, "claude-code", "project")
    for action in (subject.install, subject.remove, subject.check):
        with pytest.raises(RingboltError) as caught:
            action()
        assert caught.value.hint
    assert tree(at) == before


@pytest.mark.parametrize(
    ("host", "name", "content"),
    [
        ("claude-code", ".mcp.json", '{"mcpServers": {"ringbolt": {"command": "/bin/evil"}}}'),
        ("codex", ".codex/config.toml", '[mcp_servers.ringbolt]\ncommand = "other"\n'),
        ("codex", ".codex/config.toml", "mcp_servers = {a = {command = 'x'}}\n"),
        ("codex", ".codex/config.toml", "a = \n"),
        ("opencode", ".opencode/plugins/ringbolt.js", "export const Mine = 1;\n"),
        ("vscode", ".github/hooks/ringbolt.json", '{"hooks": {"Stop": [{"name": "ringbolt"}]}}'),
    ],
)
def test_foreign_entries_with_our_name_are_refused(at, host, name, content):
    write(str(at / "project" / name), content)
    before = tree(at)
    with pytest.raises(RingboltError):
        installer(at, host, "project").install()
    assert tree(at) == before


def test_a_folder_or_file_in_the_way_is_refused(at):
    (at / "project/.mcp.json").mkdir()
    with pytest.raises(RingboltError, match="it is a folder"):
        installer(at, "claude-code", "project").install()
    (at / "project/.cursor").write_text("")
    with pytest.raises(RingboltError):
        installer(at, "cursor", "project").install()
    assert not (at / "project/.claude").exists()


def test_a_write_protected_file_is_refused_before_anything_is_written(at):
    path = at / "project/.mcp.json"
    path.write_text("{}")
    path.chmod(0o444)
    before = tree(at)
    with pytest.raises(RingboltError, match="write-protected") as caught:
        installer(at, "claude-code", "project").install()
    assert caught.value.code == "store_readonly"
    assert tree(at) == before


def test_links_and_modes_stay(at):
    real = at / "dotfiles.json"
    real.write_text('{"a": 1}')
    real.chmod(0o664)
    link = at / "home/.claude/settings.json"
    link.parent.mkdir()
    link.symlink_to(real)
    subject = installer(at, "claude-code")
    subject.install()
    assert link.is_symlink()
    assert "ringbolt-hook" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o664
    assert (at / "home/.claude.json").stat().st_mode & 0o777 == 0o600
    subject.remove()
    assert link.is_symlink()
    assert real.read_text() == '{"a": 1}'


def test_copies_are_never_overwritten(at):
    path = at / "project/.mcp.json"
    path.write_text('{"first": 1}')
    subject = installer(at, "claude-code", "project")
    copies = [*subject.install().backups, *subject.remove().backups, *subject.install().backups]
    assert len(set(copies)) == 3  # of .mcp.json alone: settings.json was ours
    assert Path(copies[0]).read_text() == '{"first": 1}'


def test_a_plugin_that_was_changed_by_hand_is_copied_before_it_is_replaced(at):
    subject = installer(at, "opencode", "project")
    subject.install()
    path = Path(subject.files[0].path)
    ours = path.read_text()
    path.write_text(ours + "// mine\n")
    assert subject.check().state == "outdated"
    [copy] = subject.install().backups
    assert Path(copy).read_text() == ours + "// mine\n"
    assert path.read_text() == ours


def test_two_installs_at_once_give_one_installation(at):
    words = [sys.executable, "-m", "ringbolt", "install", "claude-code", "--project", "--program"]
    words.append(str(at / "bin dir" / "ringbolt-hook"))
    running = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait(60) for process in running] == [0] * 4
    settings = json.loads((at / "project/.claude/settings.json").read_text())
    assert all(len(groups) == 1 for groups in settings["hooks"].values())
    installer(at, "claude-code", "project").remove()
    assert tree(at) == {}


def test_the_project_is_the_worktree_that_holds_the_folder(at, monkeypatch):
    (at / "project/.git").mkdir()
    (at / "project/src").mkdir()
    monkeypatch.chdir(at / "project/src")
    assert installer(at, "claude-code", "project").files[1].path == str(at / "project/.mcp.json")


# --- the command ------------------------------------------------------------------------------------


def test_the_command_shows_a_diff_installs_checks_and_removes(at):
    (at / "project/.mcp.json").write_text('{\n  "a": 1\n}')
    words = ("install", "claude-code", "--project", "--program", str(at / "bin dir/ringbolt-hook"))
    before = tree(at)
    assert run(*words, "--check").exit_code == 3
    told = run(*words, "--dry-run")
    assert told.exit_code == 0
    assert '+  "mcpServers": {' in told.stdout
    assert "--- /dev/null" in told.stdout
    assert tree(at) == before
    assert data(*words)["state"] == "installed"
    assert run(*words, "--check").exit_code == 0
    os.unlink(at / "project/.mcp.json")
    assert run(*words, "--check").exit_code == 4
    assert "+++ /dev/null" in run(*words, "--remove", "--dry-run").stdout
    assert data(*words, "--remove")["state"] == "not installed"
    assert tree(at) == {}


def test_an_installation_is_tried_as_the_host_will_run_it(at):
    words = ("install", "claude-code", "--project", "--program", str(at / "bin dir/ringbolt-hook"))
    told = run(*words)
    assert told.exit_code == 0
    assert "works: the hook records events." in told.stdout
    assert "works: the MCP server answers with 8 tools: task_resume, " in told.stdout
    assert not (at / "data" / "ringbolt" / "ringbolt.db").exists(), "the user's store is left alone"


def test_a_broken_installation_says_what_to_do(at):
    for name in ("ringbolt-hook", "ringbolt"):
        (at / "bin dir" / name).write_text("#!/bin/sh\necho 'no module named ringbolt' >&2\nexit 1\n")
    told = run("install", "claude-code", "--project", "--program", str(at / "bin dir/ringbolt-hook"))
    assert told.exit_code == 1
    assert "The MCP server does not answer: no module named ringbolt. Install Ringbolt again" in told.stderr
    assert "The hook recorded nothing: no module named ringbolt." in told.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("nowhere",), 2),
        (("claude-code", "--remove", "--check"), 2),
        (("cursor", "--plugin", "x"), 2),
        (("codex", "--plugin", "x", "--project"), 2),
        (("vscode", "--user"), 5),
        (("claude-code", "--program", "/nowhere/ringbolt-hook"), 5),
    ],
)
def test_a_wrong_call_says_so_and_writes_nothing(at, words, code):
    program = () if "--program" in words else ("--program", str(at / "bin dir/ringbolt-hook"))
    assert run("install", *words, *program).exit_code == code
    assert tree(at) == {}


def test_other_hosts_get_lines_to_copy(at):
    words = ("install", "generic", "--program", str(at / "bin dir/ringbolt-hook"))
    told = data(*words)
    assert json.loads(told["mcp"])["mcpServers"]["ringbolt"]["command"] == f"{at}/bin dir/ringbolt"
    assert told["agents"] in run(*words).stdout + "\n"


# --- plugins ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", plugins.PLUGIN_HOSTS)
def test_a_plugin_is_whole_and_names_no_place_of_this_machine(at, host):
    folder = at / "plugin"
    words = ("install", host, "--plugin", str(folder))
    assert run(*words).exit_code == 0
    assert run(*words).exit_code == 0  # again over an earlier one
    files = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
    assert set(files) == set(plugins.plugin_folder(host))
    manifest, market = plugins.PLUGIN_HOSTS[host]
    (offered,) = json.loads(files[market].read_text())["plugins"]
    source = offered["source"] if host == "claude-code" else offered["source"]["path"]
    plugin = json.loads((folder / source / manifest / "plugin.json").read_text())
    assert plugin["name"] == offered["name"] == "ringbolt"
    hooks = json.loads((folder / source / "hooks/hooks.json").read_text())["hooks"]
    assert list(hooks) == list(HOSTS[host].events)
    for path in files.values():
        text = path.read_text()
        assert str(Path.home()) not in text
        assert sys.prefix not in text
    skill = (folder / source / "skills/ringbolt/SKILL.md").read_text()
    assert skill.startswith("---\nname: ringbolt\ndescription: ")
    assert len(skill) < 2_000
    (at / "full").mkdir()
    (at / "full/x").touch()
    assert run("install", host, "--plugin", str(at / "full")).exit_code == 4


@pytest.mark.parametrize("host", plugins.PLUGIN_HOSTS)
def test_a_plugin_without_our_programs_does_nothing_and_with_them_calls_them(at, host):
    files = plugins.plugin_files(host)
    hooks = json.loads(files["hooks/hooks.json"])["hooks"]
    server = json.loads(files[".mcp.json"])["mcpServers"]["ringbolt"]
    line = hooks["PreToolUse"][0]["hooks"][0]["command"]

    def shell(*words: str) -> subprocess.CompletedProcess:
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(at / "user")}
        return subprocess.run(words, input="{}", env=environ, capture_output=True, text=True, check=False)

    done = shell("sh", "-c", line)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = shell(server["command"], *server["args"])
    assert done.returncode == 1
    assert "uv tool install ringbolt" in done.stderr
    for name in ("ringbolt", "ringbolt-hook"):
        program = at / "user/.local/bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(f'#!/bin/sh\necho {name} "$@"; cat\n')
        program.chmod(0o755)
    assert shell("sh", "-c", line).stdout == f"ringbolt-hook {host} PreToolUse\n{{}}"
    assert shell(server["command"], *server["args"]).stdout == "ringbolt mcp\n{}"


def test_habits_name_only_tools_that_are_there():
    import re

    for text in (template("skill.md"), plugins.agents_snippet()):
        assert set(re.findall(r"`(task_\w+)`", text)) <= set(listed("core"))


def test_the_javascript_plugins_call_the_hook_and_pass_its_answer_on(at):
    """In the real engine, with a program in the place of the hook that answers with what it was told."""
    hook = at / "bin dir" / "ringbolt-hook"
    hook.write_text(
        "#!/bin/sh\n"
        f'cat >> "{at}/told"; echo >> "{at}/told"\n'
        'if [ "$2" = PreCompact ]; then echo "a note for $1"; exit; fi\n'
        'echo "{\\"hookSpecificOutput\\":{\\"additionalContext\\":\\"$1 $2\\"}}"\n'
    )
    subjects = [installer(at, "opencode", "project"), installer(at, "openclaw")]
    for subject in subjects:
        subject.install()
    script = at / "play.mjs"
    script.write_text(_PLAY)
    done = subprocess.run(
        ["node", script, *(subject.files[0].path for subject in subjects)],
        cwd=at,
        capture_output=True, text=True, timeout=60, check=False, env={**os.environ, "NODE_NO_WARNINGS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    opencode, compacting, openclaw, heartbeat = json.loads(done.stdout)
    assert heartbeat == {"prependContext": "openclaw Heartbeat"}
    assert opencode == ["opencode SessionStart", "opencode UserPromptSubmit"] * 2  # in each request
    assert compacting == ["a note for opencode\n"]
    assert openclaw == {"prependContext": "openclaw SessionStart\n\nopenclaw UserPromptSubmit"}
    told = [json.loads(line) for line in (at / "told").read_text().splitlines()]
    assert not [event for event in told if "HEARTBEAT" in str(event.get("prompt"))]
    assert told[1] == {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s",
        "cwd": str(at),
        "prompt": "Do it",
    }
    broken, failed = (event for event in told if event["hook_event_name"] == "PostToolUseFailure")
    assert failed == failed | {"tool_name": "exec", "tool_input": {"c": 1}, "error": "no", "tool_use_id": "t"}
    assert broken == broken | {
        "tool_name": "edit",
        "tool_input": {"a": 1},
        "error": "bad",
        "tool_use_id": "p",
    }
    said = {event["hook_event_name"]: event for event in told if event["session_id"] == "s"}
    assert said["PostCompact"]["compact_summary"] == "In short"
    assert said["Stop"]["last_assistant_message"] == "It is done"


_PLAY = """
import { pathToFileURL } from "node:url";
const [opencode, openclaw] = await Promise.all(
  process.argv.slice(2).map((path) => import(pathToFileURL(path))));
const cwd = import.meta.dirname;
const hooks = await opencode.Ringbolt({ directory: cwd });
const system = { system: [] }, context = { context: [] };
await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "Do it" }] });
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, system);
await hooks["experimental.chat.system.transform"]({ sessionID: "s" }, system);
await hooks["experimental.session.compacting"]({ sessionID: "s" }, context);
const happens = (type, properties) => hooks.event({ event: { type, properties } });
const part = (more) => happens("message.part.updated", { part: { sessionID: "s", ...more } });
await happens("message.updated", { info: { id: "m1", role: "assistant", sessionID: "s" } });
await happens("message.updated", { info: { id: "m2", role: "assistant", summary: true, sessionID: "s" } });
await part({ type: "text", messageID: "m0", text: "What a user says" });
await part({ type: "text", messageID: "m1", text: "It is done" });
await part({ type: "text", messageID: "m2", text: "In short" });
const state = { status: "error", input: { a: 1 }, error: "bad" };
await part({ type: "tool", tool: "edit", callID: "p", state });
await happens("session.compacted", { sessionID: "s" });
await happens("session.idle", { sessionID: "s" });
const on = {};
openclaw.default.register({ on: (name, handler) => { on[name] = handler; } });
const ctx = { sessionId: "c", workspaceDir: cwd };
await on.session_start({}, ctx);
const built = await on.before_prompt_build({ prompt: "Go on" }, ctx);
await on.after_tool_call({ toolName: "exec", params: { c: 1 }, toolCallId: "t", error: "no" }, ctx);
const waking = { ...ctx, trigger: "heartbeat" };
const woken = await on.before_prompt_build({ prompt: "Read HEARTBEAT.md" }, waking);
console.log(JSON.stringify([system.system, context.context, built, woken]));
"""
