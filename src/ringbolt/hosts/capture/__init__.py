"""Capture: events of hosts become entries in the ledger of the session's task.

`events` chooses what each event means and calls `session_capture.Capture`, which writes it; `session_rows`
keeps the sessions themselves. The drain calls both for every event of the journal.
"""
