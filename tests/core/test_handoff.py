"""Handing a task over: one bounded file out, the same task in."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import HealthCheck, given, settings

from ringbolt.packet.capsule import read_capsule
from tests.packet.golden import golden
from tests.packet.payloads import broken_out, hostile
from tests.packet.tasks import cook, deployment, long_plan, recipes
from tests.support import Clock, examples, open_memory, refused

OPENING = "```json ringbolt-capsule\n"
SAME = (
    "name status phase reason next_step blockers goal request context acceptance approval_mode tags"
    " plan_version answer error done total current current_title next next_title"
).split()


def told(entries) -> list[tuple]:
    return [
        (entry.type, entry.summary, entry.detail, entry.step, entry.key, entry.tags, entry.relevance_to,
         {name: value for name, value in entry.data.items() if name != "received"})
        for entry in entries
    ]  # fmt: skip


def plan(task) -> list[tuple]:
    return [
        (item.id, item.title, item.status, item.note, item.active_issue, item.depends_on, dict(item.detail),
         item.evidence, item.dropped_in, item.replaced_by, item.started_at, item.completed_at)
        for item in task.steps
    ]  # fmt: skip


def same(one, other) -> None:
    assert {name: getattr(one, name) for name in SAME} == {name: getattr(other, name) for name in SAME}
    assert plan(one) == plan(other)
    for name in ("decisions", "exclusions", "errors", "questions"):
        assert told(getattr(one, name)) == told(getattr(other, name))
    assert told(one.instructions + one.reported) == told(other.instructions + other.reported)
    assert sorted(told(one.notes), key=repr) == sorted(told(other.notes), key=repr)
    assert one.variables == other.variables
    assert effects(one) == effects(other)
    assert files(one) == files(other)


def effects(task) -> list[tuple]:
    return [(effect.what, effect.verify, effect.status) for effect in task.effects]


def files(task) -> set[tuple]:
    return {(file.path, file.change) for file in task.files}


def test_a_capsule_that_a_reader_can_judge(memory):
    task = deployment(memory)
    text = memory.task_handoff(task)
    assert text == golden("capsule.md", text, tag="ringbolt-[0-9a-f]{8}", task=task)


def test_a_task_goes_over_to_another_store_and_is_the_same_there(memory, opened, new_store_url, tmp_path):
    task = deployment(memory)
    path = tmp_path / "hand-off.md"
    assert memory.task_handoff(task, path=path) == path.read_text(encoding="utf-8")
    other = opened(new_store_url(), agent="successor", session="T", workspace="/elsewhere")
    received = other.task_receive(path=path)
    same(memory.task_get(task), other.task_get(received.task_id))
    assert other.task_get().id == received.task_id
    assert other.task_get().workspace == "/elsewhere"
    assert other.verify().ok


def test_what_was_handed_over_is_imported_and_says_whose_it_was(memory, opened, new_store_url):
    task = deployment(memory)
    other = opened(new_store_url())
    received = other.task_get(other.task_receive(memory.task_handoff(task)).task_id)
    (instruction,) = received.reported
    assert received.instructions == ()
    assert instruction.origin.channel == "import"
    assert instruction.data["received"] == {
        "task": task,
        "seq": 4,
        "at": "2026-03-01T12:00:00.000Z",
        "by": "user",
    }
    assert received.metadata["received_from"]["id"] == task
    text = other.task_resume(received.id).text
    assert re.search(r'#\d+i "Use the blue cluster only."', text)
    assert not re.search(r"#\d+[uat] ", text.split("\n", 2)[2])


def test_the_same_capsule_is_taken_in_once(memory, opened, new_store_url):
    text = memory.task_handoff(deployment(memory))
    other = opened(new_store_url())
    first = other.task_receive(text)
    assert other.task_receive(text) == first
    assert len(other.task_list().tasks) == 1
    (warning,) = memory.task_receive(text).warnings
    assert "is also in this store; task_focus takes it over" in warning


@pytest.mark.parametrize("end", ["completed", "failed", "cancelled"])
def test_a_task_that_is_over_stays_over(memory, opened, new_store_url, task, end):
    memory.task_finish(task, "the answer", status=end, error="why" if end == "failed" else None)
    other = opened(new_store_url())
    same(memory.task_get(task), other.task_get(other.task_receive(memory.task_handoff(task)).task_id))


def test_a_capsule_is_bounded_and_keeps_the_request_and_the_newest(memory, opened, new_store_url):
    task = long_plan(memory, 200)
    for number in range(300):
        memory.task_remember(task, f"note {number} " + "words " * 200, type="discovery")
    whole = memory.task_handoff(task)
    text = memory.task_handoff(task, max_bytes=50_000)
    assert len(text.encode()) <= 50_000 < len(whole.encode())
    content = read_capsule(text)
    assert content["task"]["request"] == memory.task_get(task).request
    assert len(content["steps"]) == 200
    assert content["decisions"][-1]["summary"] == "Keep the key of table 100"
    assert content["left_out"]["notes"] > 0
    other = opened(new_store_url())
    assert other.task_get(other.task_receive(text).task_id).done == 100


def test_a_request_that_does_not_fit_is_refused_and_not_cut(memory):
    task = memory.task_register("x", request="r" * 10_000).task_id
    with refused(memory, "too_large", naming="export_events"):
        memory.task_handoff(task, max_bytes=5_000)


@settings(max_examples=examples(12), suppress_health_check=list(HealthCheck))
@given(recipes())
def test_any_task_comes_through(tmp_path_factory, recipe):
    folder = tmp_path_factory.mktemp("handoff")
    with (
        open_memory(str(folder / "one.db"), Clock()) as memory,
        open_memory(str(folder / "two.db"), Clock()) as other,
    ):
        task = cook(memory, recipe)
        text = memory.task_handoff(task)
        block = text[text.index("<ringbolt-") : text.index("```json")]
        assert broken_out(block.rstrip("\n") + "\n", re.match(r"<(ringbolt-\w+)>", block)[1]) == []
        assert text.count("```") == 2
        same(memory.task_get(task), other.task_get(other.task_receive(text).task_id))
        assert other.verify().ok


def test_hostile_texts_close_no_block(memory, opened, new_store_url):
    task = memory.task_register("</script> ``` # x", request="```\n</ringbolt>\n").task_id
    for text in hostile(200):
        if text.strip():
            memory.task_decide(task, choice=text, reasoning=text)
    text = memory.task_handoff(task)
    assert text.count("```") == 2
    other = opened(new_store_url())
    same(memory.task_get(task), other.task_get(other.task_receive(text).task_id))


def _changed(text: str, change) -> str:
    head, opening, rest = text.partition(OPENING)
    body, closing, tail = rest.partition("\n```")
    content = json.loads(body)
    change(content)
    return head + opening + json.dumps(content) + closing + tail


BREAKS = {
    "no name": lambda c: c["task"].pop("name"),
    "a status that is none": lambda c: c["task"].update(status="fine"),
    "a phase that is none": lambda c: c["task"].update(phase="x"),
    "steps with one id": lambda c: c["steps"].append(dict(c["steps"][0])),
    "a step id that is none": lambda c: c["steps"][0].update(id="../x"),
    "a step without a title": lambda c: c["steps"][0].update(title=" "),
    "steps in a circle": lambda c: c["steps"][0].update(depends_on=["check"]),
    "a step status that is none": lambda c: c["steps"][0].update(status="x"),
    "a plan version that is none": lambda c: c["task"].update(plan_version="1"),
    "a time that is none": lambda c: c["steps"][0].update(completed_at="yesterday"),
    "an entry that is a text": lambda c: c["decisions"].append("x"),
    "an entry without a summary": lambda c: c["decisions"][0].pop("summary"),
    "an entry of no type": lambda c: c["notes"][0].update(type="snapshot"),
    "data that is a list": lambda c: c["decisions"][0].update(data=[1]),
    "a variable without a name": lambda c: c["values"][0].pop("key"),
    "an effect that is done": lambda c: c["effects"][0].update(status="did"),
    "a file change that is none": lambda c: c["files"][0].update(change="x"),
    "an error that is a text": lambda c: c.update(error="x"),
    "metadata that is a list": lambda c: c["task"].update(metadata=[1]),
    "acceptance that is a text": lambda c: c["task"].update(acceptance="x"),
    "another version": lambda c: c.update(version=2),
    "a NUL": lambda c: c["task"].update(request="a\0b"),
}


@pytest.mark.parametrize("change", BREAKS)
def test_a_capsule_that_was_changed_is_refused_whole(memory, change):
    text = memory.task_handoff(deployment(memory))
    with refused(memory, "import_invalid"):
        memory.task_receive(_changed(text, BREAKS[change]))


@pytest.mark.parametrize(
    "text", ["", "x", "```json ringbolt-capsule\n[1]\n```", "```json ringbolt-capsule\n{\n```"]
)
def test_text_that_is_not_a_capsule_is_refused(memory, text):
    with refused(memory, "import_invalid"):
        memory.task_receive(text)


def test_a_file_that_is_not_a_capsule_is_never_overwritten(memory, task, tmp_path):
    mine = tmp_path / "notes.md"
    mine.write_text("my own notes")
    with refused(memory, "invalid_argument", naming="not a capsule"):
        memory.task_handoff(task, path=mine)
    assert mine.read_text() == "my own notes"
    earlier = tmp_path / "hand-off.md"
    memory.task_handoff(task, path=earlier)
    memory.task_update(task, "more")
    assert memory.task_handoff(task, path=earlier) == earlier.read_text(encoding="utf-8")


def test_a_capsule_comes_as_a_text_or_from_a_file(memory, tmp_path):
    with refused(memory, "invalid_argument"):
        memory.task_receive()
    with refused(memory, "invalid_argument"):
        memory.task_receive("x", path="y")
    with refused(memory, "store_unavailable"):
        memory.task_receive(path=tmp_path / "nothing.md")
