"""`ringbolt config` and `ringbolt doctor`: where settings come from, what is wrong, how to fix it."""

from __future__ import annotations

import inspect
import json
import os
import re
import time

import pytest

from ringbolt.journal.event_files import Journal
from ringbolt.model.validate import stamp
from ringbolt.store import jobs, workers
from ringbolt.surfaces import doctor
from tests.journal.writing import write_event
from tests.support import foreign_database, lock_held, open_memory
from tests.surfaces.command_line import data, run


def test_config_says_where_each_setting_came_from(place, tmp_path, monkeypatch):
    file = tmp_path / "given.toml"
    file.write_text(
        '# "tokens = x"\nmirror_folder = """\n/a\ntokens = "estimate"\n"""\ntokens = "estimate"\n'
    )
    monkeypatch.setenv("RINGBOLT_CONFIG", str(file))
    monkeypatch.setenv("RINGBOLT_LEASE_SECONDS", "60")
    rows = data("config", "--store", "postgresql://me:s3@cret@host/db?password=hidden&x=1")
    assert rows["tokens"]["source"] == f"{file}, line 6"
    assert rows["lease_seconds"] == rows["lease_seconds"] | {
        "value": 60.0,
        "source": "RINGBOLT_LEASE_SECONDS",
    }
    assert rows["pool_size"] == rows["pool_size"] | {
        "source": "default",
        "allowed": "a number from 1 to 1,000",
    }
    assert rows["store"]["source"] == "argument"
    assert "cret" not in rows["store"]["value"]
    assert "hidden" not in rows["store"]["value"]
    assert rows["embedder"]["allowed"] == "one of none, static, endpoint"
    told = run("config").stdout
    assert all(name in told for name in rows)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('tokens = "exact"\nlease_seconds = 0\n', ("line 2", "from 1 to 604,800")),
        ('\n\nembedder = "magic"\n', ("line 3", "one of none, static, endpoint")),
        ("pol_size = 3\n", ("line 1", "Did you mean pool_size?")),
        ("[pool_size]\nx = 1\n", ("line 1", "from 1 to 1,000")),
        ("tokens = \n", ("line 1",)),
    ],
)
def test_a_bad_setting_names_the_file_the_line_and_what_is_allowed(place, tmp_path, monkeypatch, text, said):
    file = tmp_path / "given.toml"
    file.write_text(text)
    monkeypatch.setenv("RINGBOLT_CONFIG", str(file))
    for words in (("list",), ("config",), ("doctor",)):
        told = run(*words)
        assert told.exit_code in (1, 5)
        assert all(part in told.output for part in (str(file), *said))


def findings(*words: str) -> dict[str, dict]:
    done = run("doctor", "--json", *words)
    report = json.loads(done.stdout)["data"]
    assert done.exit_code == (0 if report["ok"] else 1)
    assert report["ok"] == all(finding["state"] != "problem" for finding in report["findings"])
    assert all(finding["fix"] for finding in report["findings"] if finding["state"] != "ok")
    return {finding["what"]: finding for finding in report["findings"]}


def test_doctor_finds_nothing_wrong_with_a_new_store(task):
    found = findings()
    assert {finding["state"] for name, finding in found.items() if name not in ("tokens", "servers")} == {
        "ok"
    }
    assert "1 tasks, 1 events" in found["store"]["message"]


def test_doctor_names_what_is_wrong_and_how_to_mend_it(task, place, tmp_path, monkeypatch):
    store = os.environ["RINGBOLT_STORE"]
    os.chmod(store, 0o644)
    monkeypatch.setenv("RINGBOLT_MODEL_LOCAL_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RINGBOLT_MODEL_REMOTE_URL", "nowhere")
    monkeypatch.setenv("RINGBOLT_MODEL_DAY_TOKENS", "0")
    monkeypatch.setenv("RINGBOLT_MIRRORS", "state")
    monkeypatch.setenv("RINGBOLT_MIRROR_FOLDER", str(tmp_path / "mirrors"))
    monkeypatch.setattr("ringbolt.surfaces.doctor.LOCK_PATIENCE", 0.1)
    (tmp_path / "mirrors").write_text("a file where a folder should be")
    with lock_held(store):
        found = findings()
    assert found["modes"]["fix"].startswith(f"chmod 600 {store}")
    assert found["locks"]["state"] == "warning"
    assert "cannot be reached" in found["local model"]["message"]
    assert found["remote model"]["state"] == "problem"
    assert found["spending"]["state"] == "warning"
    assert found["mirrors"]["state"] in ("warning", "problem")


def test_doctor_says_who_does_the_jobs_and_warns_when_nobody_does(task, monkeypatch):
    def heard(alive: bool, ended: bool = False, due: float = 0.0) -> dict:
        """What doctor finds of a worker that was heard of a moment or two minutes ago."""
        now = time.time() - (0 if alive else 120)
        with open_memory(os.environ["RINGBOLT_STORE"], clock=time.time) as memory:

            def work(tx):
                workers.beat(tx, "vm:7:1", ["wait"], now, ended=ended)
                if due:
                    jobs.add(tx, "wait", task, "1", {}, stamp(time.time() - due), stamp(time.time() - due))

            memory.store.write(work)
        return findings()["worker"]

    assert findings()["worker"]["message"] == "none has run yet"
    assert re.match("1 running, vm:7:1 seen just now", heard(alive=True)["message"])
    gone = heard(alive=False)
    assert (gone["state"], "vm:7:1 was lost" in gone["message"]) == ("ok", True)
    late = heard(alive=False, ended=True, due=300)
    assert (late["state"], "none running; vm:7:1 stopped" in late["message"]) == ("warning", True)
    assert re.search("due for 5 min$", late["message"])
    assert "`ringbolt worker`" in late["fix"]
    assert "another `ringbolt worker`" in heard(alive=True)["fix"]
    assert ", 1 of them due," in findings()["queue"]["message"]


def test_doctor_tells_what_is_no_store_and_what_is_damaged(task, tmp_path):
    foreign = foreign_database(tmp_path / "foreign.db")
    assert "[not_a_store]" in findings("--store", str(foreign))["store"]["message"]
    missing = findings("--store", str(tmp_path / "missing.db"))
    assert missing["store"]["state"] == "warning"
    store = os.environ["RINGBOLT_STORE"]
    run("backup", copy := str(tmp_path / "copy.db"))
    with open(copy, "r+b") as file:
        size = file.seek(0, 2)
        for page in range(2, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 100)
    damaged = findings("--store", copy)
    assert any(finding["state"] == "problem" for finding in damaged.values())
    assert findings("--store", store)["integrity"]["state"] == "ok"


def test_doctor_looks_at_the_journal_and_at_the_hosts(task, tmp_path, monkeypatch):
    store = os.environ["RINGBOLT_STORE"]
    journal = Journal.of(store)
    for name in ("one.json", "two.json"):
        write_event(journal, name, {"host": "codex"})
    journal.reject_content("three.json", {}, "it is rubbish")
    found = findings()
    assert found["journal"]["state"] == "warning"
    assert "2 hook events wait, 1 were rejected: 1 × it is rubbish" in found["journal"]["message"]
    assert found["hosts"]["message"] == "installed: none"
    # It is told just as well when the store itself cannot be opened.
    os.rename(store, f"{store}.away")
    foreign_database(store)
    assert findings()["journal"]["state"] == "warning"
    program = tmp_path / "bin" / "ringbolt-hook"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    run("install", "codex", "--user")
    assert findings()["hosts"] == findings()["hosts"] | {"state": "ok", "message": "installed: codex (user)"}
    run("install", "claude-code", "--user", "--program", str(program))
    found = findings()["hosts"]
    assert found["state"] == "warning"
    assert "claude-code (user) outdated" in found["message"]
    assert "ringbolt install claude-code --user" in found["fix"]


def test_no_advice_destroys_anything():
    for advice in re.findall(r"\"([^\"]*)\"", inspect.getsource(doctor)):
        assert not re.search(r"\brm\b|delete|drop|restore|--yes|unlink|truncate", advice), advice
