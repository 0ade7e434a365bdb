"""Tests that other systems leave out, with the reason: conftest.py skips them, and the table of
`tools/test_platforms.py` counts them.

A system is `macos` or `windows`; `simulated` adds what only a simulation on Linux cannot do.
"""

from __future__ import annotations

import os
import sys

POSTGRES = "no PostgreSQL server of that system is at hand"
_MODES = "permissions are access lists there, which tests/system/test_os_calls.py tries"
_LINKS = "making a symbolic link needs a privilege there"
_PIPES = "there are no named pipes in folders there"
_LIMITS = "the test limits the size of files with `resource`, which is not there"
_BUILDS = "hosts run `ringbolt-hook` itself there, not a build"
_SWEEP = "what is left over is swept a minute later there, which test_os_calls.py tries"
_LEFT_OUT: dict[str, dict[str, str]] = {
    "macos": {
        "the test counts open files in /proc": "test_opening_and_closing_leaves_no_file_open"
        " test_a_store_that_cannot_be_opened_leaves_no_file_open_and_no_file_behind",
        "the hook's names of events have no boot there": "test_a_name_says_of_which_boot_and_session_it_is"
        " test_sessions_have_the_digests_that_the_drain_gives_them",
    },
    "windows": {
        _MODES: "test_a_store_belongs_to_its_owner_alone test_files_are_for_the_owner_alone"
        " test_a_file_that_others_could_read_is_not_written_into_by_an_export"
        " test_the_rights_of_a_folder_that_was_there_are_left_alone"
        " test_a_file_is_written_whole_with_its_mode"
        " test_the_mode_of_the_file_is_kept test_doctor_names_what_is_wrong_and_how_to_mend_it",
        _LINKS: "test_a_link_in_the_journal_is_not_followed test_a_link_into_nothing_and_a_pipe_are_no_files"
        " test_a_store_has_a_folder_beside_it_and_one_with_the_users_data"
        " test_paths_are_as_the_package_has_them"
        " test_a_link_within_the_root_is_followed_and_one_that_leads_out_is_not"
        " test_a_root_that_is_itself_a_link_is_a_root test_links_that_lead_out_and_pipes_are_never_read"
        " test_a_folder_that_is_swapped_for_a_link_while_we_open_is_not_followed",
        _PIPES: "test_neither_pipes_nor_devices_nor_folders_are_read"
        " test_what_is_no_readable_file_never_blocks_a_look test_sweeping_leaves_strangers_alone",
        _LIMITS: "test_after_a_disk_error_the_outcome_is_unknown_and_a_keyed_retry_settles_it"
        " test_a_store_that_cannot_be_written_is_still_read",
        _BUILDS: "test_the_settings_run_the_build_and_it_captures"
        " test_a_build_that_is_gone_or_old_is_mended_by_installing_again"
        " test_the_build_goes_with_the_last_host_that_uses_it"
        " test_where_the_build_cannot_run_the_program_gets_the_whole_event"
        " test_another_program_is_called_without_a_build"
        " test_the_build_loads_nothing_heavy_even_where_it_finds_secrets",
        _SWEEP: "test_what_a_killed_writer_left_is_swept_and_what_is_being_written_is_not"
        " test_a_left_over_of_our_own_number_is_swept_and_never_written_to"
        " test_left_over_files_of_processes_that_are_gone_are_swept"
        " test_an_export_that_is_killed_leaves_no_torn_file_and_the_next_one_heals",
        "thousands of files take minutes under Wine": "test_no_reader_pays_for_thousands_of_events",
    },
    "simulated macos": {
        "Linux has no `sysctl kern.bootsessionuuid`": "test_a_clock_that_jumps_ends_no_wait_and_loses_none",
    },
    "simulated windows": {},
}


def systems() -> list[str]:
    """The rows of the table that hold here; none on Linux."""
    if simulated := os.environ.get("RINGBOLT_SIMULATE"):
        return [simulated, f"simulated {simulated}"]
    return {"darwin": ["macos"], "win32": ["windows"]}.get(sys.platform, [])


def reason(test: str) -> str | None:
    """Why this system leaves out a test, by the test's name with its parameters."""
    here = systems()
    if here and "postgres" in test.partition("[")[2]:
        return POSTGRES
    for system in here:
        for why, names in _LEFT_OUT[system].items():
            if test.partition("[")[0] in names.split() or test in names.split():
                return why
    return None
