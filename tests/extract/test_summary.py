"""The running summary: what it says, within which budget, at what cost, and with whose trust."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from ringbolt.ledger.values import read_snapshot
from ringbolt.packet import encode, tokens
from ringbolt.store.tx import Tx
from tests.packet.payloads import broken_out, hostile
from tests.support import refused, rows, sqlite_only

PLAN = ["Build the image", "Push the image to the registry", "Run the container", "Check the logs"]


@pytest.fixture
def task(memory):
    return memory.task_register("Deploy", PLAN).task_id


def sentences(text):
    """The sentences of a summary: what is quoted ends none."""
    return re.findall(r'[^".]*(?:"(?:\\.|[^"\\])*"[^".]*|\.(?=\S)[^".]*)*\.(?: |$)', text)


def events_read(monkeypatch):
    """A counter of the events that are read as a stretch of a task's history."""
    counts = [0]
    plain = Tx.events

    def counted(self, *arguments):
        found = plain(self, *arguments)
        counts[0] += len(found)
        return found

    monkeypatch.setattr(Tx, "events", counted)
    return counts


# --- what it says


def test_it_says_what_is_done_what_is_begun_what_blocks_and_the_details(memory, task):
    memory.task_update(task, "built", step="s1", step_status="completed")
    memory.task_update(task, "Moving on to step 2.", blockers=["the registry is down"])
    memory.task_remember(task, "connection refused", type="error")
    memory.task_set(task, "port", 8080)
    memory.task_decide(task, "Use ghcr.io", reasoning="the key works there")
    memory.task_exclude(task, "docker.io", why="denied twice")
    memory.task_update(task, "image v1.2.3 is made from src/app/main.py, see https://example.org/x")
    summary = memory.task_summary(task)
    assert summary.text == (
        'The task is "Deploy"; 1 of 4 steps is done, last "Build the image", and "Push the image to the'
        ' registry" is in progress (inferred).'
        ' It was decided "Use ghcr.io" because "the key works there" (#7);'
        ' "docker.io" was ruled out because "denied twice" (#8).'
        ' Worth keeping: port = "8080" (#6), main.py (#9), version v1.2.3 (#9), https://example.org/x (#9).'
        ' In the way: "the registry is down"; 1 open error: "connection refused" (#5).'
        ' Next: step 3 "Run the container".'
    )
    assert 3 <= len(sentences(summary.text)) <= 5
    assert (summary.seq, summary.source, summary.channel) == (9, "ledger", "agent")


def test_what_was_undone_superseded_or_fixed_is_gone(memory, task):
    old = memory.task_decide(task, "Use docker.io", title="Registry").seq
    error = memory.task_remember(task, "connection refused", type="error").seq
    wrong = memory.task_exclude(task, "podman").seq
    found = memory.task_remember(task, "The port is 80").seq
    memory.task_decide(task, "Use ghcr.io", title="Registry")
    memory.task_remember(task, "it works again", type="context", resolves=error)
    memory.task_remember(task, invalidates=wrong)
    memory.task_undo(task, found)
    text = memory.task_summary(task).text
    for gone in ("docker.io", "connection refused", "podman", "The port is 80"):
        assert gone not in text, (gone, old)
    assert '"Registry: Use ghcr.io"' in text
    assert "Nothing is known to be in the way." in text


def test_a_series_of_look_alikes_is_shown_once_and_nothing_twice(memory, task):
    memory.task_set(task, "image", "v1.2.3")
    for number in range(30):
        memory.task_update(
            task, f"ran https://ci.example.org/runs/{4000 + number} on v1.2.3, wrote out/part-{number}.csv"
        )
    text = memory.task_summary(task).text
    assert text.count("https://ci.example.org") <= 2  # as a detail, and in the last report
    assert text.count("v1.2.3") <= 2
    assert len(re.findall(r"part-\d+", text)) <= 2


@pytest.mark.parametrize("finished", [True, False])
def test_a_task_without_a_plan_has_one_too(memory, finished):
    task = memory.task_register("Look").task_id
    memory.task_update(task, "looking")
    if finished:
        memory.task_finish(task, "found it")
    text = memory.task_summary(task).text
    assert ('The task "Look" is completed: "found it".' in text) is finished
    assert ('The task is "Look"; it has no plan.' in text) is not finished
    assert 3 <= len(sentences(text)) <= 5


EMPTY = ["", "Work continues.", "The task is going on. All is well so far, and there is more to come soon."]


@pytest.mark.parametrize("empty", EMPTY)
def test_an_empty_sentence_of_a_model_replaces_nothing_and_is_no_base_for_the_next(memory, task, empty):
    memory.task_update(task, "built", step=1, step_status="completed")
    bases = []

    def write(now, base, new):
        bases.append(base)
        return empty, "a model"

    memory._summarize(task, write)
    assert memory.task_summary(task).source == "ledger"
    memory._summarize(task, write)
    assert all('"Build the image"' in base for base in bases)


# --- when it is made anew, and what comes with it


def test_it_is_rewritten_after_enough_messages_and_shown_with_newer_events(memory, task):
    assert memory.task_summary(task).seq == 1
    for number in range(4):
        memory.task_update(task, f"note {number}")
    summary = memory.task_summary(task)
    assert summary.seq == 1
    assert summary.since == tuple(f'#{number + 2}a "note {number}"' for number in range(4))
    memory.task_update(task, "a fifth")
    assert (memory.task_summary(task).seq, memory.task_summary(task).since) == (6, ())
    memory.task_update(task, step="s1", step_status="completed")
    assert memory.task_summary(task).since == ("#7a s1 completed",)


def test_a_write_does_not_wait_for_the_summary(memory, task, store_url):
    for number in range(40):
        memory.task_update(task, f"note {number}")
    summary = memory.task_summary(task, refresh=False)
    assert (summary.seq, summary.since) == (41, ())
    assert rows(store_url, "SELECT kind FROM distilled WHERE kind = 'summary'") == []
    memory.task_summary(task)
    for number in range(40):
        memory.task_update(task, f"more {number}")
    summary = memory.task_summary(task, refresh=False)
    assert (summary.seq, len(summary.since), summary.left_out) == (41, 30, 10)
    assert summary.since[-1] == '#81a "more 39"'


def test_the_resume_snapshot_has_it(memory, task):
    text = memory.task_summary(task).text
    assert memory.store.read(lambda tx: read_snapshot(tx, task)).summary.text == text


def test_a_thousand_messages_stay_within_the_budget_and_each_update_costs_the_same(memory, task, monkeypatch):
    read = events_read(monkeypatch)
    costs = []
    for number in range(1000):
        memory.task_update(task, f"edited src/module_{number}.py for PROJ-{number}, version 1.{number}.0")
        if number % 100 == 99:
            before = read[0]
            summary = memory.task_summary(task)
            costs.append(read[0] - before)
            assert tokens.estimate(summary.text) <= 500
            assert 3 <= len(sentences(summary.text)) <= 5
            assert summary.seq == number + 2
    assert costs == [101, *[100] * 9]


def test_nothing_makes_it_longer_than_its_budget(memory):
    task = memory.task_register("T" * 400, ["𝕏" * 900 + str(number) for number in range(60)]).task_id
    for number in range(0, 60, 2):
        memory.task_item_update(task, number + 1, status="completed")
    for number in range(1, 30, 2):
        memory.task_item_update(task, number + 1, status="failed", note="☃" * 3000)
    memory.task_update(task, "🏳️‍🌈" * 3000, blockers=["⛔" * 600] * 9, next="€" * 600)
    for number in range(20):
        memory.task_set(task, f"{number}" + "ключ" * 12, "значение" * 400)
        memory.task_remember(task, "错误" * 3000, type="error")
    count = tokens.counter(memory.settings.tokens == "exact")
    assert 0 < count(memory.task_summary(task).text) <= 500


# --- whom it speaks for


@pytest.mark.parametrize(
    ("said_by", "channel"), [("user", "agent"), ("agent", "agent"), ("tool", "tool"), ("web", "web")]
)
def test_its_trust_is_the_lowest_of_what_it_was_made_of(memory, task, said_by, channel):
    memory.acting_as(channel=said_by).task_update(task, "look at v9.9.9")
    assert memory.task_summary(task).channel == channel


@sqlite_only
@pytest.mark.parametrize("count", [60, pytest.param(150, marks=pytest.mark.reliability)])
def test_hostile_text_stays_quoted(memory, count):
    tool = memory.acting_as(channel="tool")
    for payload in hostile(count):
        title = payload.replace("\0", "")[:900].strip() or "x"
        task = tool.task_register("t", [title]).task_id
        tool.task_update(task, payload, step=1, step_status="active", blockers=[title])
        tool.task_log_action(task, title, item=1, output=payload, status="failed")
        for detail in ("summary", "items", "actions", "full", "focused"):
            summary = memory.task_summary(task, detail=detail)
            outside = re.sub(r'"(?:\\\\|\\"|[^"])*?"(?=[\s.,:;]|$)', "", summary.text)
            assert re.fullmatch(r"[\w\s.,:;()#\[\]>!=/…-]*", outside, re.ASCII), (payload, outside)
            assert broken_out(encode.fence("summary", "7", summary.text), "summary-7") == [], payload
            assert summary.channel == "tool"


# --- at once

SAID = (
    "The image of the deployment is to be built next. Nothing is in the way of that, and four steps are left."
)

_SUM_UP = """
import sys
from ringbolt.core.tasks import Tasks
from ringbolt.extract.running_summary import Summarizing
from tests.processes import open_rooms
memory = open_rooms(sys.argv[1], Tasks, Summarizing)
sys.stdin.readline()
for number in range(20):
    memory.task_update(sys.argv[2], f"note {number}")
    memory.task_summary(sys.argv[2])
"""


def test_two_processes_at_once_keep_the_newest(memory, task, store_url):
    processes = [
        subprocess.Popen([sys.executable, "-c", _SUM_UP, store_url, task], stdin=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.close()
    for process in processes:
        assert process.wait(timeout=60) == 0
    kept = rows(store_url, "SELECT seq FROM distilled WHERE kind = 'summary'")
    assert 36 <= kept[0]["seq"] <= 41
    assert memory.verify().ok


def test_an_older_summary_never_replaces_a_newer_one(memory, task):
    memory.task_summary(task)

    def late(task_now, previous, new):
        for number in range(5):
            memory.task_update(task, f"note {number}")
        assert memory.task_summary(task).seq == 6
        return "late", "a model"

    memory._summarize(task, late)
    assert memory.task_summary(task).text != "late"


def test_the_writer_gets_the_new_events_outside_any_transaction(memory, task):
    memory.task_summary(task)
    memory.task_update(task, "hello")
    given = []

    def write(now, previous, new):
        given.append((now.seq, previous, [event.text for event in new]))
        memory.task_update(task, "meanwhile")
        return SAID, "a model"

    memory._summarize(task, write)
    summary = memory.task_summary(task)
    assert (summary.text, summary.source, summary.seq) == (SAID, "a model", 2)
    assert given[0][2] == ["hello"]
    assert summary.channel == "agent"
    memory.acting_as(channel="web").task_log_action(task, "read a page", output="obey")
    memory._summarize(task, write)
    assert memory.task_summary(task).channel == "web"
    memory._summarize(task, write)  # the base is the ledger, not what the last one was made of
    assert memory.task_summary(task).channel == "agent"
    memory._summarize(task, lambda *_: None)
    assert memory.task_summary(task).source == "ledger"


def test_one_that_was_killed_before_it_wrote_changes_nothing(memory, task, store_url):
    class Killed(BaseException):
        pass

    def die(*_):
        raise Killed

    for number in range(6):
        memory.task_update(task, f"note {number}")
    with pytest.raises(Killed):
        memory._summarize(task, die)
    assert rows(store_url, "SELECT kind FROM distilled WHERE kind = 'summary'") == []
    assert memory.task_summary(task).seq == 7


# --- other details


def test_each_level_shows_more_detail(memory, task):
    memory.task_item_update(task, "s2", status="active", note="slow")
    given = {"command": "docker push"}
    action = memory.task_log_action(task, "push", tool="Bash", input=given, output="ok", item=2)
    memory.task_log_append(task, action=action.seq, content="layer 1")
    memory.task_log_action(task, "other", item=1)
    levels = ("items", "actions", "full", "focused")
    shown = {detail: memory.task_summary(task, detail=detail).text for detail in levels}
    assert '2. [>] s2 "Push the image to the registry": active; note "slow"\n' in shown["items"]
    assert "push" not in shown["items"].replace("Push", "")
    assert '   #3 other Bash completed: "push"\n' in shown["actions"]
    assert "layer 1" not in shown["actions"]
    assert all(word in shown["full"] for word in ("docker push", 'output "ok"', "layer 1", '"other"'))
    assert "layer 1" in shown["focused"]
    assert '"other"' not in shown["focused"]


def test_an_unknown_level_is_refused(memory, task):
    with refused(memory, "unknown_word", naming="focused"):
        memory.task_summary(task, detail="everything")
