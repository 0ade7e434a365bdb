"""A report that is undone: gone or marked wherever it would be read as true."""

from __future__ import annotations


def test_an_undone_report_is_in_no_packet_or_summary_and_is_marked_in_search(memory, task):
    report = memory.task_update(task, "Mixed the dough", step="Build", step_status="completed").seq
    assert "Mixed the dough" in memory.task_resume(task).text
    undo = memory.task_undo(task, report).seq
    assert "Mixed the dough" not in memory.task_resume(task).text
    assert "Mixed the dough" not in memory.task_summary(task).text
    (hit,) = [hit for hit in memory.task_recall("dough", task_id=task).hits if hit.seq == report]
    assert hit.status == "invalidated"
    # The undo can be undone, and then the report counts again.
    memory.task_undo(task, undo)
    assert "Mixed the dough" in memory.task_resume(task).text
    (hit,) = [hit for hit in memory.task_recall("dough", task_id=task).hits if hit.seq == report]
    assert hit.status in (None, "active")
    memory.task_undo(task, report)  # a second time: its record exists now
    assert "Mixed the dough" not in memory.task_resume(task).text
    assert memory.verify().ok


def test_an_undone_message_without_a_change_is_gone_too(memory, task):
    said = memory.task_update(task, "The oven is cold").seq
    memory.task_undo(task, said)
    assert "The oven is cold" not in memory.task_resume(task).text
