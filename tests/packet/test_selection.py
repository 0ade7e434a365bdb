"""A request in little room: whole sentences, chosen by what they are worth, in their order."""

from __future__ import annotations

import pytest

from ringbolt.packet.selection import select

REQUEST = """Move the invoices to the new ledger.

## Background
The old ledger was written in 2014, and over the years a great many people have added columns to it.
Most of them nobody uses any more, as you will see when you look at the schema in all its detail.

- Convert every table
- Keep the old numbers
2026-01-02T10:11:12Z ERROR ledger=old table=invoices rows=12 code=7

Never write to the production database. It would be nice to know how long the conversion takes in the end.
"""


def test_a_text_that_fits_stays_as_it_is():
    assert select("Do it. Now.", 100) == "Do it. Now."


def test_what_limits_the_work_is_kept_before_anything_else_and_the_order_stays():
    chosen = select(REQUEST, 180)
    lines = chosen.split("\n")
    assert lines[0].startswith("Move the invoices to the new ledger.")
    assert "Never write to the production database." in chosen
    assert "- Keep the old numbers" in chosen
    assert chosen.index("Move") < chosen.index("Keep the old") < chosen.index("Never")
    assert "2014" not in chosen
    assert "rows=12" not in chosen
    assert " …" in chosen


def test_what_was_pasted_comes_last():
    chosen = select(REQUEST, 330)
    assert "Convert every table" in chosen
    assert "how long the conversion takes" in chosen
    assert "rows=12" not in chosen


@pytest.mark.parametrize("most", [40, 80, 160, 300, 500, 1000, 1499])
def test_it_never_takes_more_room_than_it_is_given(most):
    for text in (
        REQUEST * 5,
        "x" * 3000,
        "word " * 900,
        "```\n" + "code = 1\n" * 300 + "```",
        "Nein. " * 400,
    ):
        assert len(select(text, most)) <= most


def test_with_much_room_a_long_text_is_shown_from_its_beginning():
    text = "One sentence of many. " * 200
    chosen = select(text, 1500)
    assert chosen.endswith("…")
    assert text.startswith(chosen[:-1])
    assert len(chosen) > 1480
