"""Operations: complete, described, and lenient where models make mistakes."""

from __future__ import annotations

import contextlib
import inspect
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt import TaskMemory
from ringbolt.model.errors import InvalidInput
from ringbolt.model.operation import split_docstring
from ringbolt.operations import (
    NOT_OPERATIONS,
    OPERATIONS,
    call,
    input_schema,
    output_schema,
    parameters,
    read_arguments,
)
from tests.core.calls import ELSEWHERE, ON_A_TASK, READS, WRITES
from tests.support import open_memory, refused


def test_every_method_is_an_operation_with_a_scope_and_nothing_else_is():
    public = {name for name, _ in inspect.getmembers(TaskMemory, callable) if not name.startswith("_")}
    assert public == {*OPERATIONS, *NOT_OPERATIONS}
    assert {operation.scope for operation in OPERATIONS.values()} == {"read", "write", "admin"}


def test_what_reads_writes_nothing_and_what_writes_is_said_to(tmp_path):
    """The scopes of the table against what the calls really do to the store."""
    with open_memory(tmp_path / "store.db") as memory:
        task = memory.task_register("x", ["one", "two", "three"]).task_id
        memory.task_update(task, "hello")
        before = memory.store.read(lambda tx: tx.chain_ends())
        for name, arguments in {**READS, **ON_A_TASK, **ELSEWHERE}.items():
            if OPERATIONS[name].scope == "read" and name != "verify":
                given = {**arguments, **({"task_id": task} if name in ON_A_TASK else {})}
                call(memory, name, {**given, "seq": 1} if "seq" in arguments else given)
                assert memory.store.read(lambda tx: tx.chain_ends()) == before, name
    assert all(OPERATIONS[name].scope == "write" for name in WRITES)


def test_every_operation_and_every_argument_is_described():
    for name, operation in OPERATIONS.items():
        known = {one.name: one.description for one in parameters(name)}
        assert operation.description.startswith(operation.summary[:30]), name
        assert known == operation.parameter_docs, name
        assert all(one.endswith((".", "…")) for one in known.values()), name
        assert "Args:" not in operation.description, name
        assert set(operation.core) <= known.keys(), name
        assert bool(operation.core) == (operation.tools == "core"), name
        assert input_schema(name)["type"] == "object"
        assert output_schema(name), name
        read_arguments(name, operation.example)


def test_a_docstring_is_split_into_text_and_arguments():
    def method(self, a, b):
        """Do it.

        And more.

        Args:
            a: The first: with a colon,
                on two lines.
            b: The second.
        """

    text, arguments = split_docstring(method)
    assert text == "Do it.\n\nAnd more."
    assert arguments == {"a": "The first: with a colon, on two lines.", "b": "The second."}
    assert split_docstring(lambda: None) == ("", {})


FORGIVEN = [
    ("task_resume", {"budget": "800"}, {"budget": 800}),
    ("task_resume", {"budget": 800.0}, {"budget": 800}),
    ("task_plan", {"steps": '["a", "b"]', "append": "true"}, {"steps": ["a", "b"], "append": True}),
    ("task_plan", {"steps": "just one"}, {"steps": ["just one"]}),
    ("task_update", {"message": "12", "step": "3"}, {"message": "12", "step": "3"}),
    ("task_update", {"message": None, "blockers": "no key"}, {"blockers": ["no key"]}),
    ("task_update", {"metadata": '{"a": 1}'}, {"metadata": {"a": 1}}),
    ("task_list", {"workspace": "*"}, {"workspace": None}),
    ("task_set", {"name": "x", "value": "12"}, {"name": "x", "value": "12"}),
    ("task_decide", {"choice": "a", "supersedes": "7"}, {"choice": "a", "supersedes": 7}),
]


@pytest.mark.parametrize(("name", "given", "wanted"), FORGIVEN)
def test_arguments_are_read_as_they_were_meant(name, given, wanted):
    assert read_arguments(name, given) == wanted


@pytest.mark.parametrize(
    ("name", "given", "naming"),
    [
        ("task_resume", {"bugdet": 3}, "Did you mean budget?"),
        ("task_register", {}, "task_register needs name"),
        ("task_plan", {"steps": "[1,"}, "not valid JSON"),
        ("task_line", {"nonsense": 1}, "Its arguments are: task_id"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_way_out(name, given, naming):
    with refused(None, "invalid_argument", naming=naming):
        read_arguments(name, given)


def test_an_operation_that_does_not_exist_is_refused(tmp_path):
    with open_memory(tmp_path / "s.db") as memory, refused(memory, "invalid_argument", naming="task_resume?"):
        call(memory, "task_resum", {})


@given(st.dictionaries(st.sampled_from(["message", "step", "blockers", "metadata", "archived"]), st.text()))
def test_any_text_for_an_argument_is_read_or_refused(given):
    with contextlib.suppress(InvalidInput):
        read_arguments("task_update", given)


def test_no_two_groups_of_operations_have_a_method_of_the_same_name():
    """One would silently take the place of the other, in both."""
    homes = defaultdict(list)
    for group in TaskMemory.__mro__:
        for name in vars(group):
            if group is not object and not name.startswith("__"):
                homes[name].append(group.__name__)
    assert {name: groups for name, groups in homes.items() if len(groups) > 1} == {}
