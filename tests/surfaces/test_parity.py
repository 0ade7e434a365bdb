"""One table of operations, four faces: the same calls give the same JSON, and the same errors."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from anyio.from_thread import start_blocking_portal

from ringbolt import RingboltError
from ringbolt.operations import call
from ringbolt.surfaces.mcp.handlers import ERROR_META
from tests.support import open_memory
from tests.surfaces.command_line import run
from tests.surfaces.http_support import serving
from tests.surfaces.mcp_servers import connected

STORIES: dict[str, list[tuple[str, dict]]] = {
    "a deployment": [
        ("task_register", {"name": "Deploy", "request": "Deploy it.", "plan": ["Build", "Push", "Run"]}),
        ("task_update", {"message": "Built.", "step": "1", "step_status": "done"}),
        ("task_note", {"kind": "decision", "text": "ghcr.io", "why": "the key works there"}),
        ("task_note", {"kind": "exclusion", "text": "docker.io", "why": "no rights"}),
        ("task_note", {"kind": "variable", "name": "version", "value": "v1.2.3"}),
        ("task_plan", {"steps": '["Check"]', "append": "true"}),
        (
            "task_log_action",
            {"summary": "docker push", "type": "cli", "output": {"code": 0}, "files": ["a.py"]},
        ),
        ("task_step_update", {"step": "Push", "status": "completed"}),
        ("task_get", {}),
        ("task_list", {"status": "all", "workspace": "*"}),
        ("task_resume", {"budget": "800"}),
        ("task_state", {}),
        ("task_ask", {"question": "What is next?"}),
        ("task_recall", {"query": "registry key ghcr"}),
        ("task_thread", {"limit": 3}),
        ("task_drill_down", {"item": 1}),
        ("task_summary", {}),
        ("task_update", {"query": "why ghcr.io?"}),
        ("task_finish", {"answer": "It runs."}),
        ("verify", {}),
    ],
    "errors": [
        ("task_get", {"task_id": "nothing"}),
        ("task_update", {"message": "x"}),
        ("task_register", {}),
        ("task_register", {"name": "A", "plan": ["One"]}),
        ("task_register", {"name": "B"}),
        ("task_update", {"message": "x"}),
        ("task_list", {"stauts": "all"}),
        ("task_list", {"status": "somehow"}),
        ("task_resume", {"budget": 3}),
        ("task_event", {"seq": 99}),
    ],
    "a goal": [
        ("goal_create", {"name": "Live", "criteria": '["the owner is content"]', "budget": {"attempts": 3}}),
        ("goal_status", {"goal_id": "nothing"}),
        ("goal_create", {"name": "Live", "criteria": [{"check": "sorcery"}]}),
        ("goal_finish", {"goal_id": "nothing"}),
    ],
    "facts": [
        ("memory_store", {"entity": "shop", "key": "next", "value": "look at the logs"}),
        ("memory_recall", {"query": "logs"}),
        ("active_tasks_add", {"label": "shop", "description": "Deploy the shop"}),
        ("active_tasks", {}),
        ("active_tasks_complete", {"label": "shop"}),
    ],
}


@contextmanager
def in_python(memory, folder) -> Iterator:
    def speak(name, arguments):
        try:
            return call(memory, name, arguments)
        except RingboltError as error:
            return {"error": error.to_dict()}

    yield speak


@contextmanager
def over_http(memory, folder) -> Iterator:
    with serving(memory, folder / "tokens") as client:

        def speak(name, arguments):
            answer = client("POST", f"/api/{name}", arguments)
            return answer.data if answer.status == 200 else {"error": answer.error}

        yield speak


@contextmanager
def over_mcp(memory, folder) -> Iterator:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connected(memory, tools="full")) as client,
    ):

        def speak(name, arguments):
            result = portal.call(client.call_tool, name, arguments)
            if result.is_error:
                return {"error": result.meta[ERROR_META]}
            found = result.structured_content
            return found["result"] if set(found) == {"result"} else found

        yield speak


@contextmanager
def on_the_command_line(memory, folder) -> Iterator:
    def speak(name, arguments):
        done = run(
            "op", name, "--json-args", json.dumps(arguments), "--json", "--store", memory.store.url,
            "--workspace", "/w",
        )  # fmt: skip
        answer = json.loads(done.stdout)
        return answer["data"] if "data" in answer else {"error": answer["error"]}

    yield speak


FACES = {"python": in_python, "http": over_http, "mcp": over_mcp, "cli": on_the_command_line}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z?")
_TASK = re.compile(r"\b[0-9a-hjkmnp-tv-z]{10}\b")
# What depends on the moment, on who calls, on the machine, or on the letters of an id.
_OWN = frozenset(
    "hash principal agent session elapsed_ms workspace repository duration_seconds tokens".split()
)


def plain(value, ids: dict[str, str]):
    """A result without what differs from run to run: ids by their order, no times, no callers."""
    if isinstance(value, dict):
        return {key: plain(inner, ids) for key, inner in value.items() if key not in _OWN}
    if isinstance(value, list):
        return [plain(inner, ids) for inner in value]
    if isinstance(value, str):
        text = _TIME.sub("<time>", re.sub(r"ringbolt-[0-9a-f]{8}", "ringbolt-…", value))
        return _TASK.sub(lambda found: ids.setdefault(found[0], f"<task {len(ids) + 1}>"), text)
    return value


@pytest.mark.parametrize("story", STORIES)
def test_every_face_says_the_same(tmp_path, story):
    told = {}
    for name, face in FACES.items():
        folder = tmp_path / name
        folder.mkdir()
        with open_memory(folder / "store.db", session="") as memory, face(memory, folder) as speak:
            ids: dict[str, str] = {}
            told[name] = [plain(speak(*step), ids) for step in STORIES[story]]
    for name in FACES:
        for step, ours, theirs in zip(STORIES[story], told["python"], told[name], strict=True):
            assert theirs == ours, (name, step)
