"""Syncing with another server over HTTP."""

from __future__ import annotations

import pytest

from ringbolt.model.errors import RingboltError
from tests.surfaces.http_support import serving

from .machines import histories, interleave, machine, settle, texts


@pytest.fixture
def server(tmp_path, monkeypatch):
    with machine(tmp_path, "server") as memory, serving(memory, tmp_path / "tokens.json") as client:
        monkeypatch.setenv("RINGBOLT_SYNC_TOKEN", client.tokens["write"])
        client.memory = memory
        client.url = f"http://127.0.0.1:{client.port}"
        yield client


def test_machines_and_server_have_equal_histories_after_partitions(tmp_path, server):
    with machine(tmp_path, "one") as one, machine(tmp_path, "two") as two:
        written = interleave((one, two), server.url, 70, 3)
        settle((one, two), server.url)
        assert histories(one) == histories(two) == histories(server.memory)
        names = {task.name for task in one.task_list(workspace=None, limit=1000).tasks}
        assert written <= texts(server.memory) | names
        assert server.memory.verify().ok


def test_long_histories_come_in_several_requests(tmp_path, server):
    with machine(tmp_path, "one") as one, machine(tmp_path, "two") as two:
        task = one.task_register("Long").task_id
        for number in range(1200):
            one.task_note(task, f"Note {number}")
        assert one.sync(server.url).sent == 1201
        assert two.sync(server.url, dry_run=True).received == 500
        assert two.sync(server.url).received == 1201
        report = two.sync(server.url)
        assert (report.sent, report.received, report.known) == (0, 0, 0)


def test_a_server_with_another_key_makes_it_an_import(tmp_path, server):
    with machine(tmp_path, "one", signing_key=str(tmp_path / "key")) as one:
        task = one.task_register("Deploy").task_id
        one.sync(server.url)
        server.memory.task_note(task, "From the server")
        one.task_note(task, "From one")
        server.memory.task_register("Other")
        settle((one,), server.url)
        one.task_note(task, "More from one")
        settle((one,), server.url)
        assert one.task_get(task).name == "Deploy"
        assert texts(one) == texts(server.memory)
        assert len(histories(one)) == len(histories(server.memory)) == 3  # two of them are the conflict


def test_a_token_that_may_not_write_is_refused(tmp_path, server, monkeypatch):
    with machine(tmp_path, "one") as one:
        one.task_register("Deploy")
        monkeypatch.setenv("RINGBOLT_SYNC_TOKEN", server.tokens["read"])
        with pytest.raises(RingboltError) as refusal:
            one.sync(server.url)
        assert refusal.value.code == "sync_failed"
        assert server.tokens["read"] not in str(refusal.value)
        monkeypatch.delenv("RINGBOLT_SYNC_TOKEN")
        with pytest.raises(RingboltError) as refusal:
            one.sync(server.url)
        assert refusal.value.code == "sync_remote"


def test_a_forged_part_is_refused_and_nothing_is_written(tmp_path, server):
    with machine(tmp_path, "one") as one:
        task = one.task_register("Deploy").task_id
        (part,) = one.sync_pull([{"task": task, "have": []}]).parts
        part["events"][0]["text"] = "Forged"
        answer = server("POST", "/api/sync_push", {"parts": [part]})
        assert answer.status == 400
        assert answer.error["code"] == "import_invalid"
        assert not histories(server.memory)
