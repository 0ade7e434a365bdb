"""Filling a budget: what must be there first, then what is worth most for its cost."""

from __future__ import annotations

from ringbolt.packet.budget import Part, Row, Worth, fill


def count(text: str) -> int:
    return len(text)


def row(text: str, *wanted: float) -> Row:
    return Row(
        *((one, lambda text=text, place=place: text * (place + 1)) for place, one in enumerate(wanted))
    )


def part(*rows: Row, heading: str = "") -> Part:
    return Part("part", (lambda shown, total: heading) if heading else None, rows)


def test_of_two_rows_of_the_same_worth_the_shorter_one_is_taken():
    assert fill([part(row("a" * 30, Worth(40)), row("b" * 10, Worth(40)))], 20, count) == "b" * 10 + "\n"


def test_a_row_that_is_worth_more_for_its_cost_is_taken_and_the_order_of_the_parts_stays():
    parts = [part(row("a" * 10, Worth(10))), part(row("b" * 10, Worth(30))), part(row("c" * 10, Worth(20)))]
    assert fill(parts, 24, count) == "b" * 10 + "\n" + "c" * 10 + "\n"


def test_what_must_be_there_comes_before_anything_with_a_worth():
    parts = [part(row("a" * 10, Worth(1000))), part(row("must be there", 4.0))]
    assert fill(parts, 15, count) == "must be there\n"


def test_the_first_row_of_a_part_pays_for_the_heading_and_the_others_do_not():
    lonely = part(row("a" * 10, Worth(20)), heading="A heading that is long")
    assert fill([lonely, part(row("b" * 12, Worth(20)))], 14, count) == "b" * 12 + "\n"
    several = part(*(row(letter * 10, Worth(20)) for letter in "cde"), heading="Head")
    assert fill([several], 40, count) == "Head\n" + "".join(letter * 10 + "\n" for letter in "cde")


def test_longer_forms_take_what_is_left():
    one, other = "a" * 9, "b" * 9
    parts = [part(row(one, Worth(20), 8), row(other, Worth(20), 9))]
    assert fill(parts, 30, count) == f"{one * 2}\n{other}\n"
    parts = [part(row(one, Worth(20), 8), row(other, Worth(20), 9))]
    assert fill(parts, 40, count) == f"{one * 2}\n{other * 2}\n"


def test_a_row_that_only_repeats_is_neither_shown_nor_counted_as_left_out():
    told = Row((1, lambda: "| Never touch the table fines, finance audits it."))
    again = [
        Row((Worth(40), lambda: '#9a "Never touch the table fines"'), tells="never touch the table fines"),
        Row((Worth(30), lambda: '#10a "Use a row in job_runs"'), tells="use a row in job_runs"),
    ]
    parts = [Part("task", None, [told]), Part("decision", lambda shown, total: f"{shown} of {total}", again)]
    text = fill(parts, 200, len)
    assert text == f'{told.text}\n1 of 1\n#10a "Use a row in job_runs"\n'
    assert parts[1].left_out() == 0
