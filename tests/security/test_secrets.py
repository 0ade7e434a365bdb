"""Secrets are found by structure and by name, and no entrance of the store lets one in."""

from __future__ import annotations

import random

import pytest

from ringbolt import RingboltError, operations
from ringbolt.extract.names import find_names
from ringbolt.extract.values import printed_values, stated_values
from ringbolt.model.redaction import MARK, Redactor
from ringbolt.signals.text_layout import layout
from tests.core.calls import WRITES
from tests.security import secret_files, secret_mechanisms, secret_mixed
from tests.security.secret_shapes import INNOCENT, SECRETS, made, shapes
from tests.support import open_memory
from tests.surfaces.command_line import environ, process

REDACTOR = Redactor()
SEEDS = range(8)
# Built here, so that no scanner takes this file for a leak.
TOKEN = "gh" + "p_" + "k3Jq9ZtXv7Lw2RbN8sYc4MdF6hPa1GeU5oQi"
PASSWORD = "Tr0ub4dor" + "-and-3"


def leaked(held_out, lines=SECRETS):
    """The shapes whose secret is still in the redacted text, each with its share of the tries."""
    found = {}
    for shape in shapes(lines, held_out=held_out):
        for seed in SEEDS:
            text, secrets = made(shape, random.Random(f"{seed}{shape}"))
            if any(secret in REDACTOR.text(text) for secret in secrets):
                found[shape] = found.get(shape, 0) + 1 / len(SEEDS)
    return found


def touched(held_out, lines=INNOCENT):
    """The innocent shapes of which something was redacted."""
    found = {}
    for shape in shapes(lines, held_out=held_out):
        for seed in SEEDS:
            text, _ = made(shape, random.Random(f"{seed}{shape}"))
            if REDACTOR.text(text) != text:
                found[shape] = found.get(shape, 0) + 1 / len(SEEDS)
    return found


@pytest.mark.parametrize("held_out", [False, True])
def test_at_least_97_percent_of_secrets_are_redacted(held_out):
    count = len(list(shapes(SECRETS, held_out=held_out)))
    assert count >= 75
    assert sum(leaked(held_out).values()) <= 0.03 * count, leaked(held_out)


@pytest.mark.parametrize("held_out", [False, True])
def test_at_most_1_percent_of_innocent_texts_are_touched(held_out):
    count = len(list(shapes(INNOCENT, held_out=held_out)))
    assert count >= 75
    assert sum(touched(held_out).values()) <= 0.01 * count, touched(held_out)


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("later", ["", "LATER_"])
def test_the_same_holds_for_files_and_output_of_tools(held_out, later):
    for name, wrong, most in (("SECRETS", leaked, 0.06), ("INNOCENT", touched, 0.01)):
        lines = getattr(secret_files, later + name)
        count = len(list(shapes(lines, held_out=held_out)))
        assert count >= 15
        assert sum(wrong(held_out, lines).values()) <= most * count, wrong(held_out, lines)


def test_the_same_holds_for_prompts_settings_output_and_code():
    for name in ("FIRST", "SECOND", "HARD", "LAST", "UNREAD"):
        for kind, wrong, most in (("SECRETS", leaked, 0.03), ("INNOCENT", touched, 0.01)):
            lines = getattr(secret_mixed, f"{name}_{kind}")
            found = {**wrong(False, lines), **wrong(True, lines)}
            assert sum(found.values()) <= most * len(lines.strip().splitlines()), found


def test_the_same_holds_for_what_was_missed_before():
    for lines, wrong, most in (
        (secret_mechanisms.SECRETS, leaked, 0.03),
        (secret_mechanisms.INNOCENT, touched, 0.01),
    ):
        found = {**wrong(False, lines), **wrong(True, lines)}
        assert sum(found.values()) <= most * len(lines.strip().splitlines()), found


def test_redacting_twice_changes_nothing_more():
    mixed = (secret_mixed.FIRST_SECRETS, secret_mixed.SECOND_SECRETS, secret_mixed.HARD_SECRETS)
    for shape in "\n".join((SECRETS.strip(), *map(str.strip, mixed))).splitlines():
        text, _ = made(shape, random.Random(shape))
        once = REDACTOR.text(text)
        assert REDACTOR.text(once) == once


def test_a_text_with_very_many_possible_secrets_keeps_none():
    text = "\n".join(f"password{number}=hunter{number}xyz" for number in range(5000))
    assert "hunter" not in REDACTOR.text(text)


def test_a_header_with_very_many_cookies_keeps_none():
    cookies = "; ".join(f"c{number}=v{number}x" for number in range(200))
    assert "v150x" not in REDACTOR.text(f"Cookie: {cookies}")
    assert "theme=dark" in REDACTOR.text("Cookie: theme=dark; lang=en")


def test_a_marker_is_shown_neither_as_a_name_nor_as_a_value():
    text = REDACTOR.text(f"export API_TOKEN={TOKEN}\nDB_PASSWORD={PASSWORD}\nversion: 1.2.3")
    assert text.count(MARK) == 2
    values = [*printed_values(text), *stated_values(list(layout(text)))]
    assert {name for name, *_ in values} == {"version"}
    assert not any("redact" in name.lower() or kind == "commit" for kind, name in find_names(text))


# --- entrances --------------------------------------------------------------------------------------


def stored(folder) -> bytes:
    """All that is on disk, the write-ahead log included."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def with_secret(value, secret):
    """Arguments with the secret in every text that a caller may choose freely."""
    if isinstance(value, str):
        return f"{value} {secret}" if " " in value or len(value) == 1 else value
    if isinstance(value, dict):
        return {name: with_secret(inner, secret) for name, inner in value.items()}
    if isinstance(value, list):
        return [with_secret(inner, secret) for inner in value]
    return value


def written_by_every_operation(folder, **settings):
    """How many operations wrote, each called with a token in its texts."""
    done = 0
    with open_memory(folder / "store.db", **settings) as memory:
        for name, (arguments, _) in WRITES.items():
            if name not in operations.OPERATIONS or "path" in arguments or "target" in arguments:
                continue
            task = memory.task_register(f"Task for {name}", ["One", "Two"], request=f"Use {TOKEN}.").task_id
            memory.task_note(task, f"Seen: {TOKEN}")
            given = with_secret(arguments, TOKEN)
            own = {parameter.name for parameter in operations.parameters(name)}
            given |= {"task_id": task} if "task_id" in own else {}
            try:
                operations.call(memory, name, given)
                done += 1
            except RingboltError:
                continue  # an argument that takes no free text
    return done


def test_no_operation_lets_a_token_in(tmp_path):
    assert written_by_every_operation(tmp_path) >= 15
    assert TOKEN.encode() not in stored(tmp_path)


def test_the_same_calls_store_the_token_if_the_operator_keeps_secrets(tmp_path):
    """The positive control: the token does reach the disk when nothing redacts it."""
    written_by_every_operation(tmp_path, keep_secrets="on")
    assert TOKEN.encode() in stored(tmp_path)


def test_a_variable_with_the_name_of_a_secret_is_not_kept(tmp_path):
    with open_memory(tmp_path / "store.db") as memory:
        task = memory.task_register("A task").task_id
        memory.task_set(task, "db_password", PASSWORD)
        memory.task_set(task, "port", "8080")
        found = {entry.key: entry.data["value"] for entry in memory.task_history(task)}
        assert found == {"db_password": "[redacted password]", "port": "8080"}
    assert PASSWORD.encode() not in stored(tmp_path)


def test_a_long_request_is_kept_whole_but_for_its_secret(tmp_path):
    request = "word " * 100_000 + f"password={PASSWORD}" + " end" * 10
    with open_memory(tmp_path / "store.db") as memory:
        task = memory.task_register("A task", request=request).task_id
        kept = next(event.text for event in memory.events() if event.task_id == task and event.text)
    assert kept == request.replace(PASSWORD, "[redacted password]")


def test_the_store_verifies_after_redaction(tmp_path):
    with open_memory(tmp_path / "store.db") as memory:
        task = memory.task_register("A task", request=f"Use {TOKEN}.", key="k").task_id
        first = memory.task_update(task, f"password={PASSWORD}", key="u")
        assert memory.task_update(task, f"password={PASSWORD}", key="u").seq == first.seq
        assert memory.verify().ok


def test_an_export_of_another_store_is_redacted_as_it_comes_in(tmp_path):
    """Its author may have kept secrets; a second import of the same file adds nothing."""
    secret = f"ghp_{'Zk9' * 12}"
    exported = tmp_path / "events"
    keep = {"keep_secrets": "on", "signing_key": str(tmp_path / "theirs")}
    with open_memory(tmp_path / "theirs.db", **keep) as theirs:
        task = theirs.task_register("Deploy", request=f"Use the token {secret}.").task_id
        theirs.task_set(task, "api_token", secret)
        theirs.export_events(exported)
    assert secret in exported.read_text()
    with open_memory(tmp_path / "ours.db", signing_key=str(tmp_path / "ours")) as ours:
        for _ in range(2):
            ours.import_events(exported)
        everything = "".join(f"{event.text} {event.data}" for event in ours.events())
        assert secret not in everything
        assert "[redacted" in everything
        assert ours.verify().ok


def test_only_the_user_keeps_secrets_with_an_option_of_any_command(tmp_path):
    given = environ(RINGBOLT_STORE=str(tmp_path / "s.db"), RINGBOLT_WORKSPACE=str(tmp_path))

    def notes(*words):
        made = process("note", f"The token is {TOKEN}.", *words, env=given, cwd=tmp_path)
        return made.returncode, made.stderr

    assert process("register", "A task", env=given, cwd=tmp_path).returncode == 0
    code, error = notes("--keep-secrets")  # an agent
    assert code == 6
    assert "keep-secrets" in error
    assert notes("--as-user")[0] == 0
    assert TOKEN.encode() not in stored(tmp_path)
    assert notes("--as-user", "--keep-secrets")[0] == 0
    assert TOKEN.encode() in stored(tmp_path)


def test_an_import_keeps_secrets_if_the_user_says_so(tmp_path):
    """Through click and not the short path: both read the common options."""
    source = tmp_path / "theirs.jsonl"
    keep = {"keep_secrets": "on", "signing_key": str(tmp_path / "key")}
    with open_memory(tmp_path / "theirs" / "s.db", **keep) as theirs:
        theirs.task_register("Deploy", request=f"Use the token {TOKEN}.")
        theirs.export_events(source)
    for options, kept in (((), False), (("--keep-secrets",), True)):
        target = environ(RINGBOLT_STORE=str(tmp_path / f"ours{kept}" / "s.db"))
        done = process("import", str(source), "--as-user", *options, env=target, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (TOKEN.encode() in stored(tmp_path / f"ours{kept}")) == kept
