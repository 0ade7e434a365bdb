"""Arguments: a clean value, or an error that says how to mend it."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime

import pytest

from ringbolt.config import Settings
from ringbolt.model import validate
from ringbolt.model.errors import InvalidInput
from tests.support import DEEP, HUGE, LONG, complaint, nested

SETTINGS = Settings()


def refusal(check, *args) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check(*args)
    assert complaint(caught.value) is None
    return caught.value


# --- texts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "",
        " padded \n",
        "plain",
        "zero\u200bwidth\ufeff",
        "\u202eright to left",
        "\x1b[2J\x1b]8;;http://x\x07",
        "tag \U000e0041",
        "e\u0301 é",
        "😀" * 10,
        "\x01\x7f\x85\u2028",
    ],
)
def test_a_text_is_kept_as_it_is(value):
    assert validate.text("It", value, 1000) == value


@pytest.mark.parametrize(("value", "place"), [("\ud800", 0), ("ab\udfff", 2), ("é\udc80x", 1)])
def test_a_lone_surrogate_is_refused_with_its_place(value, place):
    error = refusal(validate.text, "message", value, 1000)
    assert error.code == "invalid_text"
    assert f"message has a lone surrogate at character {place}" in error.message


@pytest.mark.parametrize(("value", "place"), [("\0", 0), ("abc\0", 3), ("é\0", 1)])
def test_a_nul_is_refused_with_its_place(value, place):
    error = refusal(validate.text, "message", value, 1000)
    assert error.code == "invalid_text"
    assert f"message has a NUL at character {place}" in error.message


@pytest.mark.parametrize("value", ["x" * 11, "é" * 6, "😀" * 3])
def test_a_text_over_its_limit_in_bytes_is_refused_and_the_limit_is_named(value):
    error = refusal(validate.text, "message", value, 10)
    assert error.code == "too_large"
    assert error.details == {"limit": 10, "size": len(value.encode())}
    assert "10" in error.message


@pytest.mark.parametrize("value", ["x" * 10, "é" * 5])
def test_a_text_of_exactly_the_limit_passes(value):
    assert validate.text("It", value, 10) == value


@pytest.mark.parametrize("value", [None, 5, b"bytes", ["a"], object()])
def test_what_is_no_text_is_refused(value):
    error = refusal(validate.text, "message", value, 10)
    assert error.code == "invalid_argument"
    assert "message must be a text" in error.message


def test_a_line_is_stripped_and_must_say_something():
    assert validate.line("name", "  a name \n") == "a name"
    for nothing in ("", " ", "\n\t", "\u2003"):
        assert refusal(validate.line, "name", nothing).code == "invalid_argument"
    assert refusal(validate.line, "name", "x" * 501).code == "too_large"


def test_an_optional_text_may_be_none():
    assert validate.optional("note", None, 5) is None
    assert validate.optional("note", "", 5) == ""
    assert refusal(validate.optional, "note", 5, 5).code == "invalid_argument"


# --- words and numbers ------------------------------------------------------------------------------


def test_a_word_is_one_of_a_few_in_any_case():
    assert validate.word("kind", " TASK ", ("task", "goal")) == "task"


@pytest.mark.parametrize("value", ["tasks", "", None, 5, ["task"], LONG, "\ud800", DEEP])
def test_another_word_is_refused_and_the_choices_are_listed(value):
    error = refusal(validate.word, "kind", value, ("task", "goal"))
    assert error.code == "unknown_word"
    assert error.details["allowed"] == ["task", "goal"]
    assert "task, goal" in error.hint
    assert len(error.message) < 200


@pytest.mark.parametrize("value", [0, 5, 10, 2.5])
def test_a_number_within_its_bounds_passes(value):
    assert validate.number("limit", value, 0, 10) == value


@pytest.mark.parametrize("value", [-1, 11, 10.001, True, None, "5", math.nan, math.inf, -math.inf, [5], HUGE])
def test_a_number_out_of_its_bounds_is_refused_and_the_bounds_are_named(value):
    error = refusal(validate.number, "limit", value, 0, 10)
    assert error.code == "invalid_argument"
    assert "limit must be a number from 0 to 10" in error.message


@pytest.mark.parametrize("value", [True, 2.0, "2", None, 0, 11, 2**63, HUGE])
def test_a_whole_number_is_no_float_no_truth_and_within_its_bounds(value):
    assert validate.whole("limit", 10, 1, 10) == 10
    assert refusal(validate.whole, "limit", value, 1, 10).code == "invalid_argument"


# --- lists of words ---------------------------------------------------------------------------------


def test_words_keep_their_order_and_lose_repeats_and_spaces():
    assert validate.words("tags", ["b", " a ", "b", "a"]) == ["b", "a"]
    assert validate.words("tags", "one") == ["one"]
    assert validate.words("tags", ("x", "y")) == ["x", "y"]
    assert validate.words("tags", None) == []
    assert validate.words("tags", []) == []


@pytest.mark.parametrize("value", [5, {"a": 1}, [5], [None], [""], ["a", " "], [["a"]], iter(["a"])])
def test_what_is_no_list_of_words_is_refused(value):
    assert refusal(validate.words, "tags", value).code == "invalid_argument"


def test_too_many_or_too_long_words_are_refused():
    assert refusal(validate.words, "tags", ["x" * 101]).code == "too_large"
    assert validate.words("tags", [str(n) for n in range(200)]) == [str(n) for n in range(200)]
    error = refusal(validate.words, "tags", [str(n) for n in range(201)])
    assert error.code == "too_large"
    assert error.details["limit"] == 200


# --- JSON -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [None, True, 0, -0.0, 2**63, -(2**63), 10**30, 1e300, "", "é\u200b\x1b", [], {}, {"a": [1, {"b": None}]}],
)
def test_plain_json_is_kept_exactly(value):
    encoded = validate.json_value("data", value, SETTINGS)
    assert json.loads(encoded) == value
    assert type(json.loads(encoded)) is type(value)


def test_json_is_compact_and_a_tuple_is_a_list():
    assert validate.json_value("data", {"a": (1, 2), "b": "é"}, SETTINGS) == '{"a":[1,2],"b":"é"}'


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -math.inf,
        {"x": [math.nan]},
        {1: "number"},
        {None: 1},
        {True: 1},
        {("a",): 1},
        b"bytes",
        object(),
        {"set": {1, 2}},
        HUGE,
        "a\0b",
        {"a\0": 1},
        {"deep": [{"x": "\0"}]},
        DEEP,
        nested(65),
        {"when": datetime(2026, 1, 1, tzinfo=UTC)},
    ],
)
def test_what_is_not_plain_json_is_refused(value):
    error = refusal(validate.json_value, "data", value, SETTINGS)
    assert error.code == "invalid_json"
    assert error.message.startswith("data is not plain JSON")
    assert "64" in error.hint


def test_a_value_that_holds_itself_is_refused():
    circle: list = []
    circle.append(circle)
    assert refusal(validate.json_value, "data", circle, SETTINGS).code == "invalid_json"


@pytest.mark.parametrize("value", ["\ud800", ["\udfff"], {"a": {"\ud800": 1}}])
def test_lone_surrogates_in_json_are_refused(value):
    assert refusal(validate.json_value, "data", value, SETTINGS).code == "invalid_text"


def test_depth_and_size_have_limits_that_are_settings():
    small = Settings(max_json_depth=4, max_json_bytes=1024)
    assert validate.json_value("data", nested(3), small) == "[[[[]]]]"
    error = refusal(validate.json_value, "data", nested(4), small)
    assert error.code == "invalid_json"
    assert "4 levels" in error.hint
    assert refusal(validate.json_value, "data", "x" * 1023, small).code == "too_large"
    assert validate.json_value("data", "x" * 1022, small) == f'"{"x" * 1022}"'
    assert validate.json_value("data", nested(63), SETTINGS)


# --- times ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epoch", [0, 0.001, 1, 951_782_400, 1_709_164_799.999, 4_102_444_799, 2**33 + 0.5])
def test_a_stamp_is_utc_of_fixed_width_and_reads_back(epoch):
    shown = validate.stamp(epoch)
    assert len(shown) == 24
    expected = datetime.fromtimestamp(epoch, UTC)
    assert shown == expected.strftime("%Y-%m-%dT%H:%M:%S.") + f"{round(epoch * 1000) % 1000:03d}Z"
    assert validate.seconds_of(shown) == pytest.approx(epoch, abs=0.0005)


def test_stamps_are_right_whatever_was_stamped_before():
    assert validate.stamp(1.0) == "1970-01-01T00:00:01.000Z"
    assert validate.stamp(2.9996) == "1970-01-01T00:00:03.000Z"
    assert validate.stamp(1.5) == "1970-01-01T00:00:01.500Z"


def test_every_day_of_four_centuries_reads_back():
    for day in range(0, 146_097, 13):
        assert validate.seconds_of(validate.stamp(day * 86_400)) == day * 86_400


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2026-03-01T14:30:00Z", "2026-03-01T14:30:00.000Z"),
        ("2026-03-01T14:30:00+02:00", "2026-03-01T12:30:00.000Z"),
        ("2026-03-01 14:30:00.123456", "2026-03-01T14:30:00.123Z"),
        ("2026-03-01", "2026-03-01T00:00:00.000Z"),
        ("2026-03-29T02:30:00", "2026-03-29T02:30:00.000Z"),  # a gap elsewhere is none in UTC
        (0, "1970-01-01T00:00:00.000Z"),
        (1_772_366_400.25, "2026-03-01T12:00:00.250Z"),
        ("2096-02-29", "2096-02-29T00:00:00.000Z"),
    ],
)
def test_a_time_is_iso_or_seconds_and_utc_without_a_zone(given, meant):
    assert validate.moment("until", given) == meant


@pytest.mark.parametrize(
    "given",
    ["", "soon", "2026-13-01", "2026-02-30", "25:00", None, True, [], "1e3", b"2026-03-01", LONG, "\ud800"],
)  # fmt: skip
def test_what_is_no_time_is_refused(given):
    error = refusal(validate.moment, "until", given)
    assert error.code == "invalid_time"
    assert "ISO-8601" in error.hint


@pytest.mark.parametrize(
    "given",
    [-1, -0.001, math.nan, math.inf, 4_102_444_800, 1_772_366_400_000, HUGE, "1969-12-31T23:59:59Z",
     "9999-12-31", "0001-01-01", "1970-01-01T00:00:00+01:00"],
)  # fmt: skip
def test_a_time_out_of_range_is_refused(given):
    assert refusal(validate.moment, "until", given).code == "invalid_time"


def test_milliseconds_taken_for_seconds_are_recognised():
    assert "milliseconds" in refusal(validate.moment, "until", 1_772_366_400_000).hint
