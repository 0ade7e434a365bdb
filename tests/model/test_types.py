"""Values are frozen values, and errors carry a code and a hint."""

from __future__ import annotations

import ast
import copy
import json
import pickle
from functools import cache
from pathlib import Path

import msgspec
import pytest

import ringbolt
from ringbolt.model import errors, results, types
from ringbolt.model.errors import (
    CODES,
    Conflict,
    InvalidInput,
    NotAllowed,
    NotFound,
    RingboltError,
    StoreError,
)
from ringbolt.model.types import Event, Origin, Step, Value

SOURCE = Path(ringbolt.__file__).parent
KINDS = (InvalidInput, NotFound, Conflict, NotAllowed, StoreError)
VALUES = [
    kind
    for kind in {**vars(types), **vars(results)}.values()
    if isinstance(kind, type) and issubclass(kind, Value) and kind is not Value
]


def a_value(kind: type[Value], **fields):
    """A value of a kind, with a text for each field that has no default."""
    needed = {field.name: f"the {field.name}" for field in msgspec.structs.fields(kind) if field.required}
    return kind(**{**needed, **fields})


# --- values -----------------------------------------------------------------------------------------


def test_every_value_is_frozen_compared_by_its_fields_and_plain_json():
    for kind in VALUES:
        value, same = a_value(kind), a_value(kind)
        first = kind.__struct_fields__[0]
        with pytest.raises(AttributeError):
            setattr(value, first, "other")
        assert value == same
        assert value != value.replace(**{first: "changed"}), kind
        assert pickle.loads(pickle.dumps(value)) == copy.deepcopy(value) == value
        assert repr(value).startswith(f"{kind.__name__}(")
        assert json.loads(json.dumps(value.to_dict())) == value.to_dict()
        assert not {"replace", "to_dict"} & set(kind.__struct_fields__)


def test_values_of_two_kinds_are_never_equal():
    assert Origin() != {"principal": "", "agent": "", "channel": "agent", "session": ""}


def test_a_field_that_is_missing_or_unknown_is_an_error_that_names_it():
    with pytest.raises(TypeError, match="'seq'"):
        Event(task_id="a")
    with pytest.raises(TypeError, match="'colour'"):
        Origin(colour="red")
    with pytest.raises(TypeError):
        Origin("positional")


def test_replace_gives_a_new_value_and_checks_its_names():
    origin = Origin(agent="me")
    assert origin.replace(session="s") == Origin(agent="me", session="s")
    assert origin == Origin(agent="me")
    with pytest.raises(TypeError, match="colour"):
        origin.replace(colour="red")


def test_to_dict_goes_all_the_way_down():
    item = a_value(Step, ordinal=0, detail={"deep": ({"a": (1, 2)},)}, depends_on=("s1",))
    plan = types.PlanVersion(version=1, seq=1, at="now", steps=(item,))
    shown = plan.to_dict()
    assert shown["steps"][0]["depends_on"] == ["s1"]
    assert shown["steps"][0]["detail"] == {"deep": [{"a": [1, 2]}]}


# --- errors -----------------------------------------------------------------------------------------


@cache
def raised_errors() -> list[tuple[str, str, str, ast.Call]]:
    """(place, class, code, call) of every error of ours that the source makes."""
    found = []
    names = {kind.__name__ for kind in KINDS} | {"RingboltError"}
    for path in sorted(SOURCE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if any(f"{name}(" in source for name in names) else ():
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


def test_an_error_has_a_code_a_message_a_hint_and_facts():
    for kind in KINDS:
        error = kind("too_large", "It is too large.", "Make it smaller.", limit=5)
        assert isinstance(error, RingboltError)
        assert str(error) == "It is too large. Make it smaller."
        assert error.to_dict() == {
            "code": "too_large",
            "message": "It is too large.",
            "hint": "Make it smaller.",
            "details": {"limit": 5},
        }


def test_an_error_crosses_to_another_process():
    for kind in KINDS:
        error = kind("stale_version", "Old.", "Read again.", current=7)
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is kind
        assert again.to_dict() == error.to_dict()
        assert str(copy.copy(error)) == str(error)


def test_an_undocumented_code_cannot_be_raised():
    with pytest.raises(ValueError, match="no_such_code"):
        RingboltError("no_such_code", "x")


def test_the_kinds_are_the_leaves_of_one_tree():
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
