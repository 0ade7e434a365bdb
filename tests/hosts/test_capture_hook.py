"""The capture hook in real processes: every event, hostile input, places that cannot be written, answers."""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ringbolt.hosts import capture_hook, hook_build
from ringbolt.hosts.hook_parts.calls import call_heads
from ringbolt.hosts.hook_parts.journal_files import head_digest, session_digest
from ringbolt.hosts.host_table import HOSTS
from tests.hosts.capture_process import NAME, Capturing, asking_package, built_hook
from tests.model.invented_secrets import SECRETS

RECORDED = Path(__file__).parent / "recorded"
WRITES_NOTHING = {"PreToolUse"}


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        return built_hook(tmp_path_factory.mktemp("build"), monkeypatch)


@pytest.fixture(params=["build", "module"])
def either(request, build, tmp_path):
    """The hook as a build, and as a module of the package: that one has the real store behind it."""
    return Capturing(tmp_path, build if request.param == "build" else None)


@pytest.fixture
def hook(build, tmp_path):
    return Capturing(tmp_path, build)


# --- events -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_every_event_of_a_host_becomes_one_file(hook, host):
    for event, ours in HOSTS[host].events.items():
        recorded = RECORDED / host / f"{event}.json"
        told = json.loads(recorded.read_text()) if recorded.exists() else {"session_id": "s"}
        hook.run(event, json.dumps(told).encode(), host)
        assert hook.complaint == ""
        found = hook.take()
        looks = HOSTS[host].only_looks and ours == "PreCompact" and told.get("trigger") != "manual"
        if ours in WRITES_NOTHING or looks:
            assert found == []
            continue
        [(name, content)] = found
        assert set(content) <= {*"v id at host event env redacted_by transcript_bytes payload".split()}
        assert (content["v"], content["host"], content["event"]) == (1, host, event)
        assert len(content["id"]) == 16
        assert set(content["payload"]) == set(told)
        session = next(
            (str(told[n]) for n in ("conversation_id", "session_id", "sessionId") if n in told), ""
        )
        assert name.split("-")[4] == session_digest(session)
        assert NAME.fullmatch(name)[1][0] in (
            "cf" if ours.startswith("PostToolUse") else "ep" if ours == "UserPromptSubmit" else "e"
        )


def test_a_file_has_the_event_with_its_time_its_project_and_its_transcript(either):
    (either.folder / "t.jsonl").write_text("x" * 321)
    either.environment |= {"CLAUDE_PROJECT_DIR": "/project", "USER": "ada"}
    either.bash("make  test\n", "fine", transcript_path=str(either.folder / "t.jsonl"))
    [(name, content)] = either.events()
    assert content["env"] == {"project": "/project", "principal": "ada"}
    assert content["transcript_bytes"] == 321
    assert content["payload"]["tool_response"] == {"stdout": "fine", "stderr": ""}
    assert name.endswith(f"-c{head_digest('make test')}.json")
    assert {path.name for path in either.journal.iterdir()} >= {"tmp", "new", "cards", "sessions", "rejected"}
    assert either.journal.stat().st_mode & 0o777 == 0o700


def test_names_say_what_failed(hook):
    hook.bash("make it", event="PostToolUseFailure", error="no")
    hook.tell(
        "PostToolUse", tool_name="x", tool_input={"command": "make it"}, tool_response={"is_error": True}
    )
    hook.tell("PostToolUse", tool_name="x", tool_input={"command": "make it"}, tool_response={"error": ""})
    hook.tell("PostToolUse", tool_name="x", tool_input={"command": "ls"}, tool_response="Exit code: 1\n")
    outcomes = [NAME.fullmatch(name)[1] for name, _ in hook.events()]
    digest = head_digest("make it")
    assert outcomes == [f"f{digest}", f"f{digest}", f"c{digest}", "f"]  # nobody warns of `ls`
    hook.take()
    hook.tell("UserPromptSubmit", prompt="Do not touch it.")
    hook.tell("UserPromptSubmit", prompt="Build it.")
    assert [NAME.fullmatch(name)[1] for name, _ in hook.events()] == ["p", "e"]


def test_files_sort_in_the_order_of_the_calls(hook):
    for number in range(12):
        hook.tell("Stop", number=number)
    assert [content["payload"]["number"] for _, content in hook.events()] == list(range(12))


def test_bulk_goes_and_what_people_say_stays_whole(either):
    response = {
        "originalFile": "x" * 100,
        "oldTodos": [1],
        "structuredPatch": [{"lines": [" a"]}],
        "stdout": "y" * 50_000,
    }
    either.tell("PostToolUse", tool_name="Edit", tool_input={"newString": "kept"}, tool_response=response)
    either.tell("UserPromptSubmit", prompt="p" * 90_000)
    either.tell("SubagentStop", last_assistant_message="m" * 600_000)
    (_, edit), (_, prompt), (_, stop) = either.events()
    assert set(edit["payload"]["tool_response"]) == {"structuredPatch", "stdout"}
    assert edit["payload"]["tool_input"] == {"newString": "kept"}
    assert "34,000 characters left out" in edit["payload"]["tool_response"]["stdout"]
    assert len(prompt["payload"]["prompt"]) == 90_000
    assert len(stop["payload"]["last_assistant_message"]) == 500_000


# --- input ------------------------------------------------------------------------------------------

_DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
NOT_JSON = {
    "a word": b"rubbish",
    "a list": b"[1, 2]",
    "half of it": b'{"session_id": "s", "prompt": "x',
    "two of them": b'{"a": 1} {"b": 2}',
    "a number of 5,000 digits": b'{"a": ' + b"1" * 5000 + b"}",
    "very deep": _DEEP,
    "NUL": b"\0" * 1000,
    "not UTF-8": b"\xff\xfe{\x80}",
    "control characters": b'{"a": "\x01"}',
    "too long": b'{"a": "' + b"x" * (40 << 20) + b'"}',
}
ODD = {
    "NaN": (b'{"a": NaN, "b": -Infinity, "c": 1e999}', {"a": None, "b": None, "c": None}),
    "a name twice": (b'{"a": 1, "a": 2}', {"a": 2}),
    "half a character": (b'{"a": "\\ud800x", "\\udfff": 1}', {"a": "?x", "?": 1}),
    "a whole one in two halves": (b'{"a": "\\ud83d\\ude00"}', {"a": "\U0001f600"}),
    "NUL in a text": (b'{"a": "x\\u0000y"}', {"a": "x\ufffdy"}),
    "bytes that are no UTF-8 in a text": (b'{"a": "x\xffy"}', {"a": "x\ufffdy"}),
    "a byte order mark": (b'\xef\xbb\xbf {"a": 1}\r\n', {"a": 1}),
    "deep, but it can be read": (b'{"a":' * 500 + b"1" + b"}" * 500, None),
    "a tool that is a number": (b'{"tool_name": 1, "tool_input": 2, "session_id": {"x": []}}', None),
    "thousands of fields": (json.dumps({f"f{n}": "0" * 9000 for n in range(1200)}).encode(), None),
    "very many rows": (
        json.dumps({"rows": [{"a": f"row {n}"} for n in range(150_000)]}).encode(),
        {"rows": {"left_out": "more than 800,000 characters"}},
    ),
}


def test_input_that_is_not_a_json_object_is_kept_as_text(either):
    for name, data in NOT_JSON.items():
        assert either.run("PostToolUse", data) == "", name
        found = either.take()
        assert len(found) == 1, (name, either.complaint)
        content = found[0][1]
        assert "payload" not in content, name
        assert 1 <= len(content["raw"]) <= 20_000, name


def test_odd_json_is_read_as_python_reads_it_and_can_be_stored(either):
    for name, (data, expected) in ODD.items():
        assert either.run("PostToolUse", data) == "", name
        [(_, content)] = either.take()
        if expected is not None:
            assert content["payload"] == expected, name
        json.dumps(content, allow_nan=False)
        assert len(json.dumps(content)) < 9 << 20


def test_of_an_event_that_is_too_large_the_beginning_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("RINGBOLT_STORE", str(tmp_path / "s.db"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(capture_hook, "_MOST_EVENT", 1000)
    data = json.dumps({"prompt": "x" * 30_000}).encode()
    facts = capture_hook.host_facts("claude-code")
    assert capture_hook.CapturedEvent("claude-code", "UserPromptSubmit", facts, data, 1).run() == ""
    [path] = (tmp_path / "s.db.journal/new").iterdir()
    content = json.loads(path.read_bytes())
    assert "payload" not in content
    assert content["raw"].startswith('{"prompt": "xxx')
    assert len(content["raw"]) == 20_000


def test_no_input_writes_nothing(either):
    for data in (b"", b" \n"):
        assert either.run("PostToolUse", data) == ""
        assert "no event" in either.complaint
    assert either.events() == []


def test_an_unknown_host_or_event_is_named_and_nothing_is_written(either):
    for host, event in (("nobody", "Stop"), ("claude-code", "Nothing\n"), ("", "")):
        either.run(event, b"{}", host)
        assert either.complaint.startswith("ringbolt-hook: unknown event ")
    done = subprocess.run(either.words, input=b"{}", env=either.environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert not either.journal.exists()


def test_secrets_never_reach_the_disk(either):
    texts = [(secret, form.format(secret)) for secret, form in SECRETS.values()]
    many = "\n".join(text for _, text in texts)
    either.bash(many, many)
    either.tell("UserPromptSubmit", prompt=many)
    either.run("PostCompact", many.encode())
    for number, (_, text) in enumerate(texts):
        if number % 10 == 0:
            either.bash(text, text)
    kept = b"".join(
        path.read_bytes() for path in either.folder.rglob("*") if path.is_file() and path.suffix != ".py"
    )
    for secret, _ in texts:
        assert json.dumps(secret)[1:-1].encode() not in kept
    assert kept.count(b"[redacted") > len(texts)


def test_a_redacted_secret_leaves_only_its_kind(either):
    either.bash("echo", "password=hunter2horse")
    told = {content["payload"]["tool_response"]["stdout"] for _, content in either.events()}
    assert told == {"password=[redacted password]"}


def test_an_operator_may_keep_secrets(either):
    either.environment["RINGBOLT_KEEP_SECRETS"] = "on"
    either.bash("echo", "password=hunter2horse")
    told = {content["payload"]["tool_response"]["stdout"] for _, content in either.events()}
    assert told == {"password=hunter2horse"}


# --- places -----------------------------------------------------------------------------------------


def test_where_the_journal_cannot_be_beside_the_store_it_is_in_the_data_folder(either):
    either.store.parent.mkdir()
    either.journal.write_text("in the way")
    either.tell("SubagentStop")
    [_] = either.events()
    assert either.complaint == ""
    assert len(list((either.folders()[1] / "new").iterdir())) == 1


def test_a_journal_without_its_folders_is_made_again(either):
    either.tell("SubagentStop")
    (either.journal / "tmp").rmdir()
    either.tell("SubagentStop")
    assert len(either.take()) == 2
    (either.journal / "new").rmdir()
    either.tell("SubagentStop")
    assert len(either.events()) == 1
    assert not either.folders()[1].exists()


def test_where_nothing_can_be_written_the_store_is_asked_and_the_host_goes_on(hook):
    for folder in hook.folders():
        folder.parent.mkdir(parents=True)
        folder.write_text("in the way")
    host, event, file, told, in_time, _ = hook.asked("PostToolUse", prompt="x")
    assert (host, event, file, told["prompt"], in_time) == ("claude-code", "PostToolUse", None, "x", True)
    assert "could not be kept in the journal" in hook.complaint


def test_a_full_disk_leaves_nothing_half_written(hook):
    def no_room():
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))

    hook.tell("Stop", message="there is room")
    hook.run("Stop", json.dumps({"message": "x" * 5000}).encode(), preexec_fn=no_room)
    assert "could not be kept in the journal" in hook.complaint
    assert len(hook.events()) == 1


def test_without_a_home_the_data_folder_is_asked_of_the_system(hook):
    del hook.environment["HOME"]
    hook.tell("Stop")
    assert len(hook.events()) == 1
    hook.environment |= {"HOME": ""}
    hook.tell("Stop")
    assert len(hook.events()) == 2


SETTINGS = {
    "plain": 'store = "{}"  ',
    "with other settings": '# mine\n\nbudget = 4000\nstore = "{}"\n',
    "rich": "store = '{}'\n[table]\nx = \"store\"\n",
    "not TOML": 'store = "{}"\n]]]\n',
}


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_settings_file_says_where_the_store_is(either, kind):
    del either.environment["RINGBOLT_STORE"]
    config = either.folder / "home/.config/ringbolt/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(SETTINGS[kind].format(either.store))
    either.tell("SubagentStop")
    readable = kind != "not TOML"
    assert len(either.events()) == int(readable)
    assert (either.complaint == "") == readable
    own = either.folder / "own.toml"
    own.write_text("budget = 12\n")
    either.environment["RINGBOLT_CONFIG"] = str(own)
    either.tell("SubagentStop")
    default = either.folder / "home/.local/share/ringbolt/ringbolt.db.journal/new"
    assert len(list(default.iterdir())) == (1 if readable else 2)


def test_a_store_on_a_server_has_its_journal_in_the_data_folder(hook):
    journals = hook.folder / "home/.local/share/ringbolt/journals"
    for address in ("postgresql://ada:pw@db/shop?x=1", "postgresql://bob@db/shop"):
        hook.environment["RINGBOLT_STORE"] = address
        hook.tell("Stop")
    assert len(list(journals.iterdir())) == 1  # whoever asks
    hook.environment["RINGBOLT_TENANT"] = "acme"
    hook.tell("Stop")
    hook.environment["RINGBOLT_STORE"] = "postgresql://db/shop?tenant=acme"
    hook.tell("Stop")
    assert sorted(len(list((folder / "new").iterdir())) for folder in journals.iterdir()) == [2, 2]


# --- answers ----------------------------------------------------------------------------------------


def test_the_store_is_asked_at_the_start_the_end_and_before_a_compaction(hook):
    for event in HOSTS["claude-code"].events:
        asked = hook.asked(event, tool_name="Bash", tool_input={"command": "make test"})
        expected = event in ("SessionStart", "PreCompact", "Stop", "SessionEnd")
        assert bool(asked) == expected, event
        if expected:
            assert asked[:2] == ["claude-code", event]
            assert json.loads(Path(asked[2]).read_bytes())["payload"] == asked[3]
            assert asked[4:] == [True, "/the/python"]


def test_before_a_call_the_store_is_asked_only_if_names_or_the_card_have_it(hook):
    call = {"tool_name": "Bash", "tool_input": {"command": "make   test"}}
    assert hook.asked("PreToolUse", **call) == []
    hook.bash("make test", event="PostToolUseFailure")
    assert hook.asked("PreToolUse", **call)[2] is None
    assert hook.asked("PreToolUse", **call, session_id="s-2") == []
    hook.take()
    hook.bash("make test", "it works")
    assert hook.asked("PreToolUse", **call) == []
    cards = hook.journal / "cards"
    (cards / "r1").write_text(json.dumps({"hints": [["c", "make", "test"]]}))
    (cards / "r2").write_text(json.dumps({"hints": [["c", "deploy"]], "done": ["make test"]}))
    hits = [
        {"heads": ["pytest", "make test"]},
        {"hints": [["p", "make"], ["c", "test"]]},
        {"hints": [["a", "bash", "make"]]},
        {"shared": "r1"},
        {"stale": True},
    ]
    misses = [
        {
            "heads": ["make", "make tests"],
            "hints": [["c", "make", "tests"], ["p", "make"], ["c"], [], 7, [8, 9]],
        },
        [],
        {"heads": 1, "hints": "c make", "shared": 3},
        {"heads": "make test"},
        {"shared": "r2"},  # a test that is repeated does nothing outside
        {"shared": "../r1"},
        {"shared": "r3"},
    ]
    for card in (*hits, *misses):
        (cards / session_digest("s-1")).write_text(json.dumps(card))
        assert bool(hook.asked("PreToolUse", **call)) == (card in hits), card
    (cards / session_digest("s-1")).write_bytes(b"\xff half a card")
    assert hook.asked("PreToolUse", **call) == []
    (cards / session_digest("s-1/a-7")).write_text(json.dumps(hits[0]))
    assert hook.asked("PreToolUse", **call, agent_id="a-7")
    assert hook.asked("PreToolUse", **call, agent_id="a-8") == []


def test_a_call_with_a_secret_is_recognised_by_its_redacted_form(hook):
    command = "deploy --password hunter2horse"
    hook.bash(command, event="PostToolUseFailure")
    [(name, content)] = hook.events()
    kept = content["payload"]["tool_input"]["command"]
    assert "hunter2horse" not in kept
    assert name.endswith(f"-f{head_digest(call_heads('Bash', {'command': kept})[0])}.json")
    assert hook.asked("PreToolUse", tool_name="Bash", tool_input={"command": command})


def test_a_packet_that_waits_is_asked_for(hook):
    hook.tell("PostToolUse")
    for mark, expected in (("pending", True), ("compacted", True), ("delivered", False), ("", False)):
        (hook.journal / "sessions" / session_digest("s-1")).write_text(mark)
        for event in ("UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStop"):
            asked = bool(hook.asked(event))
            assert asked == (expected and event in ("UserPromptSubmit", "PostToolUse")), (mark, event)
        assert hook.asked("UserPromptSubmit", session_id="s-2") == []


def test_a_host_that_only_looks_whether_to_compact_leaves_a_mark(hook):
    transcript = hook.folder / "t.jsonl"
    transcript.write_text('{"x": 1}\n')
    mark = hook.journal / "sessions" / session_digest("s-1")

    def tell(event, **fields):
        return hook.tell(event, "gemini-cli", transcript_path=str(transcript), **fields)

    assert tell("PreCompress", trigger="auto") == ""
    assert mark.read_text() == "looked 9"
    assert hook.events() == []
    assert tell("AfterTool") == ""  # it did not
    assert not mark.exists()
    tell("PreCompress", trigger="auto")
    with transcript.open("a") as file:
        file.write('{"$set":{"messages":[]}}\n')
    assert tell("AfterTool") != ""
    assert mark.read_text() == "compacted"
    assert tell("PreCompress", trigger="manual") != ""


def test_a_store_that_hangs_is_given_up_in_time(tmp_path, monkeypatch):
    hook = Capturing(tmp_path, built_hook(tmp_path, monkeypatch))
    hook.environment["RINGBOLT_HOOK_DEADLINE_MS"] = "200"
    module = tmp_path / "stand-in/ringbolt/hosts/answers/store_hook.py"
    module.write_text("import time\ndef answer(*words):\n    time.sleep(50)\n")
    assert hook.tell("Stop") == ""
    assert hook.complaint == "ringbolt-hook: the time was up\n"
    module.write_text("def answer(*words):\n    raise OSError('no\\nstore')  # another size\n")
    hook.environment["RINGBOLT_HOOK_DEADLINE_MS"] = "20000"
    assert hook.tell("Stop") == ""
    assert hook.complaint == "ringbolt-hook: OSError: no?store\n"
    module.unlink()
    assert hook.tell("Stop") == ""
    assert "ModuleNotFoundError" in hook.complaint
    assert len(hook.events()) == 3


# --- faults -----------------------------------------------------------------------------------------

# Each round is a process that is killed at another call of the system.
_KILLED = """
import json, os, signal, sys
from ringbolt.hosts import capture_hook as hook, hook_build
from ringbolt.model import redaction
real, data = hook.system, sys.argv[1]

class Counted:
    left = 0
    def __getattr__(self, name):
        found = getattr(real, name)
        if not callable(found):
            return found
        def call(*words):
            Counted.left -= 1
            if Counted.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return found(*words)
        return call

for name, module in list(sys.modules.items()):
    if name.startswith("ringbolt.hosts.") and getattr(module, "system", None) is real:
        module.system = Counted()
for left in range(1, 1000):
    child = os.fork()
    if not child:
        Counted.left = left
        os.dup2(os.open(data, os.O_RDONLY), 0)
        hook.main(["claude-code", "PostToolUse"])
    status = os.waitpid(child, 0)[1]
    print(left, os.WIFSIGNALED(status), flush=True)
    if not os.WIFSIGNALED(status):
        break
"""


def test_killed_at_any_step_it_leaves_a_whole_event_or_none(tmp_path):
    hook = Capturing(tmp_path, None)
    data = tmp_path / "event.json"
    told = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "make test"},
            "tool_response": {"stdout": "password=hunter2horse"}}  # fmt: skip
    data.write_text(json.dumps(told))
    done = subprocess.run(
        [sys.executable, "-c", _KILLED, str(data)],
        env=hook.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    rounds = done.stdout.splitlines()
    assert rounds[-1].endswith("False")
    assert len(rounds) > 20
    new = list((hook.journal / "new").iterdir())
    for path in new:
        assert json.loads(path.read_bytes())["payload"]["session_id"] == "s"
    # Killed before the rename there is no event; after it, there is.
    assert 1 <= len(new) < len(rounds) / 2


def test_hooks_at_once_lose_nothing(hook):
    told = [{"session_id": "s", "number": n, "prompt": "password=hunter2horse"} for n in range(24)]
    running = []
    for one in told:
        process = subprocess.Popen([*hook.words, "claude-code", "UserPromptSubmit"], env=hook.environment,
                                   stdin=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
        process.stdin.write(json.dumps(one).encode())
        process.stdin.close()
        running.append(process)
    for process in running:
        assert process.wait(60) == 0
        assert process.stderr.read() == b""
        process.stderr.close()
    found = [content["payload"] for _, content in hook.events()]
    assert sorted(one["number"] for one in found) == list(range(24))
    assert len({one["prompt"] for one in found}) == 1


def test_a_host_that_closes_its_streams_does_not_hurt(hook):
    hook.environment |= {"RINGBOLT_STORE": str(hook.store)}
    command = f"exec {' '.join(hook.words)} claude-code Stop >&- 2>&-"
    done = subprocess.run(["/bin/sh", "-c", command], input=b"{}", env=hook.environment, check=False)
    assert done.returncode == 0
    assert len(hook.events()) == 1


def test_as_a_module_it_makes_a_build_at_the_start_of_a_session_and_runs_it_then(tmp_path):
    hook = Capturing(tmp_path, None)
    folder = tmp_path / "home/.local/share/ringbolt/hooks"
    hook.tell("UserPromptSubmit")
    assert not folder.exists()
    hook.tell("SessionStart")
    hook.take()
    [path] = folder.iterdir()
    assert path.name == hook_build.build_name()
    hook.words[1:1] = ["-X", "importtime"]

    def loaded() -> set[str]:
        told = json.dumps({"prompt": "x"}).encode()
        words = [*hook.words, "claude-code", "UserPromptSubmit"]
        done = subprocess.run(words, input=told, env=hook.environment, capture_output=True, check=True)
        return {line.rpartition("|")[2].strip() for line in done.stderr.decode().splitlines()}

    assert "msgspec" not in loaded()
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], whole[:16] + marshal.dumps(1)):
        path.write_bytes(content)
        assert "msgspec" in loaded()
    path.write_bytes(whole)
    os.utime(path, (1, 1))
    assert "msgspec" in loaded()
    assert len(hook.events()) == 5


def test_as_a_module_it_asks_the_package(tmp_path):
    package = asking_package(tmp_path)
    script = (
        "import sys; from ringbolt.hosts import capture_hook, hook_build;"
        "from ringbolt.model import redaction;"
        f"import importlib.util; p = {str(package / 'ringbolt/hosts/answers/store_hook.py')!r};"
        "s = importlib.util.spec_from_file_location('ringbolt.hosts.answers.store_hook', p);"
        "m = sys.modules['ringbolt.hosts.answers.store_hook'] = importlib.util.module_from_spec(s);"
        "s.loader.exec_module(m); capture_hook.main(sys.argv[1:])"
    )
    hook = Capturing(tmp_path, None)
    hook.words = [sys.executable, "-c", script]
    asked = hook.asked("SessionStart")
    assert asked[:2] == ["claude-code", "SessionStart"]
    assert asked[5] == sys.executable
    assert os.path.isfile(asked[2])
