"""Five hundred texts that try to break out, through every view: none does, by a strict reading of each."""

from __future__ import annotations

import json
import re

import pytest
import yaml

from ringbolt.files.active_tasks import read_stamp
from ringbolt.files.tasks_file import parse
from ringbolt.packet.capsule import read_capsule
from ringbolt.packet.encode import clean
from tests.packet.payloads import UNSEEN, broken_out, hostile
from tests.support import Clock, open_memory

PAYLOADS = [text for text in hostile(600) if text.strip()][:500]
EACH = 50
# The first ones have every kind of attack in them; the others mix these.
PARTS = [
    pytest.param(start, marks=[pytest.mark.reliability] if start >= 150 else [])
    for start in range(0, len(PAYLOADS), EACH)
]


@pytest.fixture(scope="module", params=PARTS)
def attacked(request, tmp_path_factory, signing_key):
    """A memory, a task full of some payloads in every field, and the payloads; written by a tool."""
    folder = tmp_path_factory.mktemp("hostile")
    texts = PAYLOADS[request.param : request.param + EACH]
    short = [text.strip()[:24].strip() for text in texts]
    (folder / "w").mkdir()
    own = {"workspace": str(folder / "w"), "signing_key": signing_key}
    with open_memory(str(folder / "store.db"), Clock(), **own) as memory:
        actor = memory.acting_as(channel="tool")
        plan = [{"title": text, "stage": text[:50]} for text in short[:12]]
        task = actor.task_register(short[0], plan, request=texts[1], goal=texts[2], tags=short[:5]).task_id
        for text, name in zip(texts, short, strict=True):
            actor.task_decide(task, title=name, choice=text, reasoning=text, options=[text], risks=text)
            actor.task_exclude(task, what=text, why=text, symptom=text)
            actor.task_set(task, name, text)
            for kind in ("error", "question", "discovery", "artifact", "context"):
                actor.task_remember(task, text, type=kind, detail=text, tags=[name])
            actor.task_log_action(task, text, tool=name, output=text, error=text, files=[name])
            actor.task_snapshot(task, text, label=name)
            actor.task_item_update(task, 1, note=text, active_issue=text)
            actor.active_tasks_add(name, text.strip()[:400], branch=name, subagent=name, next=text[:1000])
        actor.task_intent(task, what=texts[3], verify=texts[4])
        changed = {"next": texts[5], "blockers": short[6:9], "attention": short[9], "reason": short[10]}
        actor.task_update(task, texts[11], **changed)
        yield memory, task, folder


def fenced(text: str) -> list[str]:
    return broken_out(text, re.match(r"<(ringbolt-\w{8})>\n", text)[1])


@pytest.mark.parametrize("budget", [300, 1500, 8000])
def test_the_resume_packet(attacked, budget):
    memory, task, _ = attacked
    packet = memory.task_resume(task, budget=budget)
    assert fenced(packet.text) == []
    assert packet.tokens <= budget


def test_the_yaml_state_and_the_line(attacked):
    memory, task, _ = attacked
    text = memory.task_state(task)
    found = yaml.load(text, Loader=yaml.CSafeLoader)
    assert found["task"]["id"] == task
    assert not UNSEEN.search(text)
    line = memory.task_line(task)
    assert line.count("|") == 3
    assert "\n" not in line
    assert not UNSEEN.search(line)
    assert not re.search(r"<[\w/!?|<%$]|```", line)


def test_the_capsule(attacked):
    memory, task, _ = attacked
    text = memory.task_handoff(task, max_bytes=1 << 24)
    block = text[text.index("<ringbolt-") : text.index("```json")]
    assert fenced(block.rstrip("\n") + "\n") == []
    assert text.count("```") == 2
    content = read_capsule(text)
    assert content["task"]["request"] == memory.task_get(task).request


def test_active_tasks_as_a_file_and_in_a_prompt(attacked):
    memory, _, folder = attacked
    memory.active_tasks_render()
    text = (folder / "w" / "ACTIVE-TASKS.md").read_text(encoding="utf-8")
    assert read_stamp(text) is not None
    assert not UNSEEN.search(text)
    listed = memory.active_tasks().active
    assert {row.label for row in parse(text.encode()).rows} == {clean(row.label) for row in listed}
    block = memory.active_tasks_block("anything", budget=4000, heartbeat=True).text
    tags = re.findall(r"<(/?)([\w-]+)>", block)
    opened = [name for slash, name in tags if not slash]
    assert opened == [name for slash, name in tags if slash]
    assert set(opened) <= {"active-tasks", "stale-tasks", "task-hygiene"}
    assert len(set(opened)) == len(opened)
    assert not re.search(r"(?m)^\s*(#{1,6} |---|===|> |(Human|Assistant|System):)|```|~~~", block)
    assert not UNSEEN.search(block)


def test_the_bank_folder_and_the_states_folder(attacked, tmp_path):
    memory, task, _ = attacked
    memory.export_bank(tmp_path / "bank", task)
    memory.export_states(tmp_path / "states", task)
    names = [path.relative_to(tmp_path) for path in tmp_path.rglob("*")]
    assert all(re.fullmatch(r"[\w./-]+", str(name)) for name in names)
    for path in tmp_path.rglob("*.json"):
        assert json.loads(path.read_text(encoding="utf-8")) is not None
    for line in (tmp_path / "bank" / task / "execution.log.jsonl").read_text(encoding="utf-8").splitlines():
        json.loads(line)
    with (
        open_memory(str(tmp_path / "one.db"), Clock()) as one,
        open_memory(str(tmp_path / "two.db"), Clock()) as two,
    ):
        one.import_bank(tmp_path / "bank")
        assert tuple(one.events(task)) == tuple(memory.events(task))
        (received,) = two.import_states(tmp_path / "states").tasks
        ours, theirs = memory.task_get(task), two.task_get(received)
        assert [entry.data["choice"] for entry in theirs.decisions] == [
            entry.data["choice"] for entry in ours.decisions
        ]
        assert theirs.variables == ours.variables
