"""The LangGraph store: every operation, in and out of a graph, across processes."""

from __future__ import annotations

import asyncio

import pytest
from langgraph.graph import START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from typing_extensions import TypedDict

from ringbolt.adapters.langgraph import RingboltStore

pytestmark = pytest.mark.adapters


def test_items_are_kept_replaced_and_deleted_across_processes(memory, another):
    store = RingboltStore(memory)
    assert store.get(("users", "1"), "food") is None
    store.put(("users", "1"), "food", {"likes": "Pizza ü"})
    first = RingboltStore(another).get(("users", "1"), "food")
    assert (first.value, first.key, first.namespace) == ({"likes": "Pizza ü"}, "food", ("users", "1"))
    store.put(("users", "1"), "food", {"likes": "Soup"})
    second = store.get(("users", "1"), "food")
    assert (second.value, second.created_at) == ({"likes": "Soup"}, first.created_at)
    assert second.updated_at >= first.updated_at
    store.delete(("users", "1"), "food")
    assert RingboltStore(another).get(("users", "1"), "food") is None
    assert RingboltStore(memory, "other").search(()) == []


def test_search_filters_ranks_and_pages(memory):
    store = RingboltStore(memory)
    for number in range(5):
        store.put(("docs",), f"d{number}", {"n": number, "text": f"chapter {number}", "by": {"name": "Ada"}})
    store.put(("docsother",), "x", {"n": 3})
    store.put(("docs", "deep"), "y", {"n": 9, "text": "the red fox"})

    def keys(*arguments, **options):
        return [item.key for item in store.search(*arguments, **options)]

    assert keys(("docs",)) == ["y", "d4", "d3", "d2", "d1", "d0"]  # newest first
    assert keys(("docs",), limit=2, offset=1) == ["d4", "d3"]
    assert keys(("docs",), filter={"n": 3}) == ["d3"]
    assert keys(("docs",), filter={"n": {"$gte": 2, "$lt": 4}}) == ["d3", "d2"]
    assert keys(("docs",), filter={"n": {"$ne": 9}, "by.name": "Ada"}) == ["d4", "d3", "d2", "d1", "d0"]
    found = store.search(("docs",), query="red fox", limit=2)
    assert [(item.key, item.score) for item in found] == [("y", 1.0), ("d4", None)]
    with pytest.raises(ValueError, match=r"\$near"):
        store.search(("docs",), filter={"n": {"$near": 2}})


def test_namespaces_are_listed_by_prefix_suffix_and_depth(memory):
    store = RingboltStore(memory)
    for namespace in (("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z",)):
        store.put(namespace, "k", {})
    assert store.list_namespaces(prefix=("a", "*")) == [("a", "b", "c"), ("a", "b", "d"), ("a", "x")]
    assert store.list_namespaces(suffix=("x",)) == [("a", "x")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z",)]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d")]
    with pytest.raises(InvalidNamespaceError):
        store.put(("with.dot",), "k", {})


def test_a_batch_reads_first_and_the_last_write_of_a_key_wins(memory):
    store = RingboltStore(memory)
    store.put(("a",), "old", {"n": 0})
    results = store.batch(
        [
            PutOp(("a",), "k", {"n": 1}),
            GetOp(("a",), "k"),
            PutOp(("a",), "k", {"n": 2}),
            PutOp(("a",), "old", None),
            SearchOp(("a",)),
            ListNamespacesOp(),
        ]
    )
    assert results[:4] == [None, None, None, None]
    assert [item.key for item in results[4]] == ["old"]
    assert results[5] == [("a",)]
    assert [(item.key, item.value) for item in store.search(("a",))] == [("k", {"n": 2})]


def test_a_node_reads_what_an_earlier_run_wrote(memory):
    class State(TypedDict):
        text: str

    async def remember(state: State, runtime: Runtime) -> State:
        before = await runtime.store.aget(("user",), "last")
        await runtime.store.aput(("user",), "last", {"text": state["text"]})
        return {"text": before.value["text"] if before else "nothing"}

    graph = StateGraph(State).add_node("remember", remember).add_edge(START, "remember")
    compiled = graph.compile(store=RingboltStore(memory))
    assert asyncio.run(compiled.ainvoke({"text": "first"})) == {"text": "nothing"}
    assert asyncio.run(compiled.ainvoke({"text": "second"})) == {"text": "first"}
