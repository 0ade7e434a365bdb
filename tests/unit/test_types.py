"""Records are frozen values, and errors carry a code and a hint."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from pathlib import Path

import pytest

import ringbolt
from ringbolt.model import errors, results, types
from ringbolt.model.errors import CODES, Conflict, RingboltError, InvalidInput, NotFound, StoreError
from ringbolt.model.types import Event, Item, Origin, Record, Task, TaskCard, Written

SOURCE = Path(ringbolt.__file__).parent
KINDS = (InvalidInput, NotFound, Conflict, StoreError)
RECORDS = [
    kind
    for kind in {**vars(types), **vars(results)}.values()
    if isinstance(kind, type) and issubclass(kind, Record) and kind is not Record
]


def a_value(kind: type[Record], **fields):
    """A record of a kind, with a text for each field that has no default."""
    needed = {name: f"the {name}" for name in kind.__fields__ if name not in kind.__defaults__}
    return kind(**{**needed, **fields})


def an_event(**fields) -> Event:
    return a_value(Event, seq=1, origin=Origin(agent="a"), data={"x": [1]}, sets={}, **fields)


# --- records ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_is_frozen(kind):
    value = a_value(kind)
    name = kind.__fields__[0]
    before = getattr(value, name)
    with pytest.raises(AttributeError, match="frozen"):
        setattr(value, name, "other")
    with pytest.raises(AttributeError, match="frozen"):
        value.no_such_field = 1
    with pytest.raises(AttributeError, match="frozen"):
        delattr(value, name)
    assert getattr(value, name) == before


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_compares_by_its_fields(kind):
    value, same = a_value(kind), a_value(kind)
    assert value == same
    assert hash(value) == hash(same)
    for name in kind.__fields__:
        assert value != value.replace(**{name: "changed"}), name


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_survives_pickle_and_copy(kind):
    value = a_value(kind)
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert again == value
        assert again is not value
        with pytest.raises(AttributeError):
            again.anything = 1


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_shows_its_fields_and_becomes_json(kind):
    value = a_value(kind)
    assert repr(value).startswith(f"{kind.__name__}({kind.__fields__[0]}=")
    assert list(value.to_dict()) == list(kind.__fields__)
    assert json.loads(json.dumps(value.to_dict())) == value.to_dict()


def test_records_of_two_kinds_are_never_equal():
    assert Origin() != Written.__new__(Written)
    assert Origin() != {"principal": "", "agent": "", "channel": "agent", "session": ""}


def test_equal_records_have_equal_hashes_whatever_the_order_of_a_mapping():
    one = an_event(text="x").replace(data={"a": 1, "b": 2})
    two = an_event(text="x").replace(data={"b": 2, "a": 1})
    assert one == two
    assert hash(one) == hash(two)
    assert len({one, two}) == 1


def test_a_field_that_is_missing_or_unknown_is_an_error_that_names_it():
    with pytest.raises(TypeError, match="'seq'"):
        Event(task_id="a")
    with pytest.raises(TypeError, match="'colour'"):
        Origin(colour="red")
    with pytest.raises(TypeError):
        Origin("positional")


def test_defaults_are_filled_in_and_the_class_keeps_its_own():
    origin = Origin(agent="me")
    assert (origin.principal, origin.agent, origin.channel, origin.session) == ("", "me", "agent", "")
    assert Origin().agent == ""


def test_a_record_has_the_fields_of_its_parent_first():
    assert Task.__fields__[: len(TaskCard.__fields__)] == TaskCard.__fields__
    assert "goal" not in TaskCard.__fields__


def test_replace_gives_a_new_value_and_checks_its_names():
    origin = Origin(agent="me")
    assert origin.replace(session="s") == Origin(agent="me", session="s")
    assert origin == Origin(agent="me")
    with pytest.raises(TypeError, match="colour"):
        origin.replace(colour="red")


def test_to_dict_goes_all_the_way_down():
    item = a_value(Item, ordinal=0, detail={"deep": ({"a": (1, 2)},)}, depends_on=("s1",))
    plan = types.PlanVersion(version=1, seq=1, at="now", items=(item,))
    shown = plan.to_dict()
    assert shown["items"][0]["depends_on"] == ["s1"]
    assert shown["items"][0]["detail"] == {"deep": [{"a": [1, 2]}]}


def test_no_record_has_a_field_that_hides_a_method():
    for kind in RECORDS:
        assert not {"replace", "to_dict"} & set(kind.__fields__)


# --- errors -----------------------------------------------------------------------------------------


def raised_errors() -> list[tuple[str, str, str, ast.Call]]:
    """(place, class, code, call) of every error of ours that the source makes."""
    found = []
    names = {kind.__name__ for kind in KINDS} | {"RingboltError"}
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id in names and node.args and isinstance(node.args[0], ast.Constant):
                place = f"{path.relative_to(SOURCE)}:{node.lineno}"
                found.append((place, node.func.id, node.args[0].value, node))
    return found


def test_every_documented_code_is_used_and_every_used_one_is_documented():
    used = {code for _, _, code, _ in raised_errors()}
    assert used - CODES.keys() == set()
    assert CODES.keys() - used == set()


def test_a_code_always_means_the_same_kind_of_error():
    kinds: dict[str, set[str]] = {}
    for _, kind, code, _ in raised_errors():
        kinds.setdefault(code, set()).add(kind)
    assert {code: kind for code, kind in kinds.items() if len(kind) > 1} == {}


def test_every_error_in_the_source_says_what_to_do_next():
    silent = [
        place
        for place, _, _, call in raised_errors()
        if len(call.args) < 3 or (isinstance(call.args[2], ast.Constant) and not call.args[2].value)
    ]
    assert silent == []


def test_every_code_is_explained_in_a_sentence():
    for code, meaning in CODES.items():
        assert code.replace("_", "").islower()
        assert meaning.endswith(".")


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_has_a_code_a_message_a_hint_and_facts(kind):
    error = kind("too_large", "It is too large.", "Make it smaller.", limit=5)
    assert isinstance(error, RingboltError)
    assert str(error) == "It is too large. Make it smaller."
    assert error.to_dict() == {
        "code": "too_large",
        "message": "It is too large.",
        "hint": "Make it smaller.",
        "details": {"limit": 5},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_crosses_to_another_process(kind):
    error = kind("stale_version", "Old.", "Read again.", current=7)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind
    assert again.to_dict() == error.to_dict()
    assert str(copy.copy(error)) == str(error)


def test_an_undocumented_code_cannot_be_raised():
    with pytest.raises(ValueError, match="no_such_code"):
        RingboltError("no_such_code", "x")


def test_the_four_kinds_are_the_leaves_of_one_tree():
    leaves = {
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, RingboltError) and kind is not RingboltError
    }
    assert leaves == set(KINDS)
    assert all(kind.__bases__ == (RingboltError,) for kind in KINDS)


def test_the_package_offers_its_public_names_and_no_others():
    for name in ringbolt.__all__:
        assert getattr(ringbolt, name) is not None
    assert ringbolt.Conflict is Conflict
    with pytest.raises(AttributeError, match="no_such_name"):
        ringbolt.no_such_name  # noqa: B018
