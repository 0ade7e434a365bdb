"""Other projects' words for a status: to ours and back."""

from __future__ import annotations

import pytest

from ringbolt.model import foreign_statuses, rules
from ringbolt.model.errors import InvalidInput
from tests.support import LONG, complaint

EVERY_WORD = [
    (source, word, status, phase, reason)
    for source, words in foreign_statuses.TASK_WORDS.items()
    for word, status, phase, reason in words
]
# What the five source documents name, typed in again from them.
BANK = """RECEIVED PLANNING EXECUTING_PLAN SYNTHESIZING_ANSWER COMPLETED_SUCCESS FAILED_PLANNING
    FAILED_EXECUTION FAILED_SYNTHESIS FAILED_REPLANNING_NO_RECOVERY_PLAN FAILED_RECOVERY_EXECUTION
    PLANNING_COMPLETED EXECUTING_REPLAN""".split()
A2A = "submitted working input-required auth-required completed canceled failed rejected unknown".split()


def test_every_word_of_a_source_becomes_ours_and_the_same_word_again():
    for source, word, status, phase, reason in EVERY_WORD:
        assert foreign_statuses.read_task_status(word, source) == (status, phase, reason)
        assert foreign_statuses.write_task_status(source, status, phase, reason) == word


def test_the_sources_words_are_all_there():
    names = {source: {row[0] for row in words} for source, words in foreign_statuses.TASK_WORDS.items()}
    assert names["bank"] == set(BANK)
    assert names["a2a"] == set(A2A)
    assert names["active-tasks"] >= {"In progress", "Waiting", "Stalled", "Failed", "Done"}


def test_our_own_side_of_each_row_is_a_known_status_and_phase():
    for _, word, status, phase, _ in EVERY_WORD:
        assert status in rules.TASK_STATUSES, word
        assert phase is None or phase in rules.PHASES, word


def test_every_state_of_a_task_has_a_word_in_every_source():
    for source in foreign_statuses.TASK_WORDS:
        words = {row[0] for row in foreign_statuses.TASK_WORDS[source]}
        for status in rules.TASK_STATUSES:
            for phase in (None, *rules.PHASES):
                for reason in (None, "approval", "input", "auth", "rejected", "blocked", "anything"):
                    assert foreign_statuses.write_task_status(source, status, phase, reason) in words


def test_no_source_calls_an_open_task_ended_or_an_ended_one_open():
    for source in foreign_statuses.TASK_WORDS:
        for status in rules.TASK_STATUSES:
            for phase in rules.PHASES:
                word = foreign_statuses.write_task_status(source, status, phase)
                back = foreign_statuses.read_task_status(word, source)[0]
                assert (back in rules.OPEN) == (status in rules.OPEN), (status, phase, word)


def test_the_phase_says_how_a_task_of_the_bank_failed():
    for phase, word in [
        ("planning", "FAILED_PLANNING"),
        ("executing", "FAILED_EXECUTION"),
        ("synthesizing", "FAILED_SYNTHESIS"),
        ("replanning", "FAILED_REPLANNING_NO_RECOVERY_PLAN"),
        ("recovering", "FAILED_RECOVERY_EXECUTION"),
        ("debugging", "FAILED_EXECUTION"),
    ]:
        assert foreign_statuses.write_task_status("bank", "failed", phase) == word


def test_a_synonym_is_understood():
    for word, meant in foreign_statuses.SYNONYMS.items():
        assert foreign_statuses.read_task_status(word) == meant
        assert meant[0] in rules.TASK_STATUSES


def test_spelling_and_case_of_a_word_do_not_matter():
    for word, status in [
        ("Done", "completed"),
        ("complete", "completed"),
        ("finished", "completed"),
        ("In Progress", "active"),
        ("in-progress", "active"),
        (" IN_PROGRESS ", "active"),
        ("blocked", "waiting"),
        ("stalled", "paused"),
        ("canceled", "cancelled"),
        ("reopened", "active"),
    ]:
        assert foreign_statuses.read_task_status(word)[0] == status


def test_our_own_word_means_itself_and_says_nothing_about_the_phase():
    for status in rules.TASK_STATUSES:
        assert foreign_statuses.read_task_status(status) == (status, None, None)


def test_a_word_without_its_source_still_means_the_same_status():
    for _, word, status, _, _ in EVERY_WORD:
        assert foreign_statuses.read_task_status(word)[0] == status


def test_an_unknown_word_is_refused_and_the_error_lists_the_known_ones():
    for read, allowed in [
        (foreign_statuses.read_task_status, rules.TASK_STATUSES),
        (foreign_statuses.read_item_status, rules.ITEM_STATUSES),
        (foreign_statuses.read_phase, rules.PHASES),
    ]:
        for word in ["bogus", "", "complet", "done;drop", LONG, "\ud800"]:
            with pytest.raises(InvalidInput) as caught:
                read(word)
            error = caught.value
            assert error.code == "unknown_word"
            assert error.details["allowed"] == list(allowed)
            assert all(known in error.hint for known in allowed)
            assert len(error.message) < 200
            assert complaint(error) is None


def test_our_own_word_for_a_step_means_itself():
    for status in rules.ITEM_STATUSES:
        assert foreign_statuses.read_item_status(status) == status


def test_a_synonym_for_a_step_is_understood():
    for word, status in foreign_statuses.ITEM_SYNONYMS.items():
        assert foreign_statuses.read_item_status(word) == status
        assert foreign_statuses.read_item_status(word.upper().replace("_", " ")) == status
        assert status in rules.ITEM_STATUSES


def test_every_step_status_has_a_word_in_loom_that_reads_back():
    for status in rules.ITEM_STATUSES:
        word = foreign_statuses.write_item_status(status)
        assert word in ("pending", "in_progress", "completed", "failed", "skipped")
        back = foreign_statuses.read_item_status(word)
        assert back == ("skipped" if status == "cancelled" else status)


def test_the_words_of_loom_for_a_step_at_work_are_active_for_us():
    for word in ("in_progress", "running", "blocked"):
        assert foreign_statuses.read_item_status(word) == "active"


def test_every_phase_is_read_in_any_case():
    for phase in rules.PHASES:
        assert foreign_statuses.read_phase(phase.upper()) == phase
