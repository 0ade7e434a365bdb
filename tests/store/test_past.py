"""Past states are read from earlier rows, which are derived from the events like the state itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from ringbolt import TaskMemory
from ringbolt.store.past_rows import HEAD_EVERY
from tests.core.test_time_travel import a_long_life
from tests.store.full_fold import check_pasts
from tests.support import refused

SECRET = "hunter2-in-the-cellar"


def damaged(memory: TaskMemory, sql: str) -> None:
    memory.store.write(lambda tx: tx.database.run(sql, {}))


def contents(memory: TaskMemory) -> str:
    return str(memory.store.read(lambda tx: tx.column("SELECT content FROM past_rows")))


def test_every_past_state_is_the_fold_of_the_events_until_then(memory, task, clock):
    a_long_life(memory, task, clock)
    user = memory.acting_as(channel="user")
    split = user.task_remember(task, "Translate the manual", type="user_instruction").seq
    user.task_update(task, status="active", archived=False)
    new = user.task_split(task, at=split).task_id
    user.task_merge(task, other=new)
    user.task_undo(task)
    assert check_pasts(memory) > 30


def test_an_imported_task_and_its_conflicting_copy_have_their_past(
    memory, task, clock, tmp_path, new_store_url
):
    a_long_life(memory, task, clock)
    export = tmp_path / "export.jsonl"
    memory.export_events(export)
    with TaskMemory.open(new_store_url(), session="s", agent="a") as other:
        other.import_events(export)
        other.task_update(task, "there", metadata={"there": 1})
        memory.task_update(task, "here", metadata={"here": 1})
        other.export_events(export)
        assert check_pasts(other)
    (conflict,) = memory.import_events(export).conflicts
    assert memory.task_get(conflict.kept_as, at=5).id == conflict.kept_as
    assert check_pasts(memory)


def test_forgotten_words_are_in_no_earlier_row(memory, task):
    user = memory.acting_as(channel="user", session="said")
    user.task_update(task, next=SECRET, goal=SECRET, metadata={"told": SECRET}, blockers=[SECRET])
    user.task_step_update(task, 1, note=SECRET)
    user.task_log_action(task, "edit", files=[f"src/{SECRET}.py"])
    user.task_log_action(task, "edit", files=[{"path": f"src/{SECRET}.py", "change": "deleted"}])
    user.task_update(task, next="other", goal="other", metadata={"told": None}, blockers=[])
    user.task_step_update(task, 1, note="other")
    assert SECRET in contents(memory)
    offer = user.forget("session:said")
    user.forget("session:said", confirm=offer.token)
    assert SECRET not in contents(memory)
    assert SECRET not in str(
        [memory.task_get(task, at=seq) for seq in range(1, memory.task_get(task).seq + 1)]
    )
    assert memory.verify().ok
    assert check_pasts(memory)


def test_a_purged_task_leaves_no_earlier_row(memory, task):
    memory.task_update(task, step=1, step_status="active")
    memory.task_finish(task, "done")
    user = memory.acting_as(channel="user")
    user.purge(task_id=task, confirm=user.purge(task_id=task).token)
    assert memory.store.read(lambda tx: tx.column("SELECT task_id FROM past_rows")) == []


DAMAGE = (
    """UPDATE past_rows SET content = '{"status": "failed"}' WHERE table_name = 'steps' AND since > 0""",
    "UPDATE past_rows SET since = since + 1",
    "DELETE FROM past_rows",
    "UPDATE past_rows SET row_key = 'elsewhere' WHERE table_name = 'heads'",
    "UPDATE past_rows SET content = 'no json' WHERE content IS NOT NULL",
)


def test_a_wrong_earlier_row_is_found_and_rebuilt_by_verify(memory, task, clock):
    seen = a_long_life(memory, task, clock)
    for damage in DAMAGE:
        damaged(memory, damage)
        if "no json" in damage:
            with refused(None, "store_corrupt"):
                memory.task_get(task, at=5)
        (problem,) = memory.verify().problems
        assert (problem.kind, problem.task_id) == ("past", task)
        assert "rebuilt" in problem.detail
        assert memory.verify().ok
        assert all(memory.task_get(task, at=seq) == state for seq, state in seen.items())


def test_the_past_can_only_be_read(memory, task):
    from ringbolt.store.past import past

    def work(tx):
        then = past(tx, tx.head(task), 1)
        with pytest.raises(RuntimeError, match="only be read"):
            then.renew_claim(task, "", "2030")

    memory.store.write(work)


def test_an_import_cannot_set_earlier_rows_or_records_of_later_events(memory, task, tmp_path):
    export = tmp_path / "export.jsonl"
    memory.task_decide(task, choice="ghcr.io")
    memory.export_events(export)
    text = export.read_text()
    for old, new in (('"+records":{"2":', '"+records":{"9":'), ('"+records":', '"past_rows":')):
        assert old in text
        export.write_text(text.replace(old, new))
        with refused(memory, "import_invalid"):
            memory.import_events(export)


def test_a_long_past_without_changes_counts_from_the_last_kept_row(memory, task):
    for number in range(HEAD_EVERY + 20):
        memory.task_update(task, f"message {number}")
    for seq in (2, HEAD_EVERY - 1, HEAD_EVERY, HEAD_EVERY + 1, HEAD_EVERY + 21):
        assert memory.task_get(task, at=seq).messages == seq - 1
    kept = memory.store.read(lambda tx: tx.column("SELECT until FROM past_rows WHERE table_name = 'heads'"))
    assert kept == [HEAD_EVERY]
    assert memory.verify().ok


WRITER = """
import sys
from ringbolt import TaskMemory
memory = TaskMemory.open(sys.argv[1], session="w", agent="w")
task = memory.task_register("Deploy", plan=["a", "b", "c"]).task_id
print(task, flush=True)
number = 0
while True:
    number += 1
    memory.task_update(task, f"{number}", step=number % 3 + 1, step_status="active", next=f"{number}")
    print(number, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="kill -9")
@pytest.mark.parametrize("lines", [3, 9, 20])
def test_a_writer_that_is_killed_leaves_whole_earlier_rows(tmp_path, lines):
    path = tmp_path / "store.db"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    for _ in range(lines):
        writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with TaskMemory.open(path) as memory:
        assert memory.verify().ok
        assert check_pasts(memory) >= lines - 1
