"""Recall: filters act before anything is chosen, workspaces stay apart, the past can be searched, and the
index is only derived."""

from __future__ import annotations

import json
import random
from itertools import combinations

import pytest

from ringbolt.recall.search import TYPES
from tests.core.calls import WRITES
from tests.files.forged import changed, exported_lines, places, rehashed
from tests.support import is_postgres, path_of, postgres_client, postgres_only, rows, sqlite_only


def seqs(memory, query=None, **filters):
    return [hit.seq for hit in memory.task_recall(query, **filters).hits]


def own(memory, query, **filters):
    """The numbers of the hits that have the words themselves."""
    hits = memory.task_recall(query, limit=100, **filters).hits
    return {hit.seq for hit in hits if hit.why.startswith("has")}


def write_many(memory, steps):
    """Make many calls in one commit, as fast as the engine goes."""
    from bench.speed import build

    build(memory, steps)


# --- filters ----------------------------------------------------------------------------------------


@pytest.fixture
def mixed(memory, clock):
    """Two tasks in which every kind of filter can tell texts apart; returns what each text passes."""
    known = []
    for name in ("one", "two"):
        task = memory.task_register(name, ["A", "B"], request="quux").task_id
        for number in range(24):
            clock.forward(60)
            kind = ("discovery", "error", "decision")[number % 3]
            item = (None, "s1", "s2")[number // 3 % 3]
            tags = [("red", "blue")[number % 2], *(["big"] if number % 4 == 0 else [])]
            if kind == "decision":
                seq = memory.task_decide(task, choice=f"quux {name} {number}x", item=item, tags=tags).seq
            else:
                seq = memory.task_remember(
                    task, f"quux {name} {number}x", type=kind, item=item, tags=tags
                ).seq
            known.append(
                {"task": task, "seq": seq, "type": kind, "item": item, "tags": tags, "at": clock.now}
            )
            memory.task_update(task, "words between")
    return known


def test_every_filter_alone_and_combined(memory, mixed):
    begin, end = mixed[5]["at"], mixed[40]["at"]
    filters = {
        "task_id": (mixed[0]["task"], lambda one: one["task"] == mixed[0]["task"]),
        "types": (["decision", "error"], lambda one: one["type"] in ("decision", "error")),
        "tags": (["red", "big"], lambda one: {"red", "big"} <= set(one["tags"])),
        "since": (float(begin), lambda one: one["at"] >= begin),
        "until": (float(end), lambda one: one["at"] <= end),
    }
    for size in range(1, len(filters) + 1):
        for names in combinations(filters, size):
            given = {name: filters[name][0] for name in names}
            passing = {
                (one["task"], one["seq"]) for one in mixed if all(filters[name][1](one) for name in names)
            }
            for query in ("quux", None):
                hits = memory.task_recall(query, limit=100, **given).hits
                found = {(hit.task_id, hit.seq) for hit in hits if query is None or hit.why.startswith("has")}
                entries = {pair for pair in found if any((o["task"], o["seq"]) == pair for o in mixed)}
                assert entries == passing, (names, query)
                for hit in hits:  # also what is only near passes the filters
                    if "types" in given:
                        assert hit.type in given["types"]
                    if "task_id" in given:
                        assert hit.task_id == given["task_id"]
                    if "since" in given:
                        assert hit.at >= "2026-03-01T12:06:00.000Z"
    task = mixed[0]["task"]
    own_items = {one["seq"] for one in mixed if one["task"] == task and one["item"] == "s1"}
    assert own(memory, "quux", task_id=task, item="s1") == own_items
    assert own(memory, "quux", task_id=task, item=1) == own_items
    assert set(seqs(memory, task_id=task, item="s1", limit=100)) == own_items


def test_near_texts_pass_the_filters_themselves(memory, task):
    memory.task_update(task, "plain talk")
    error = memory.task_remember(task, "nothing alike", type="error", tags=["t"]).seq
    memory.task_update(task, "the quux gave way", step="s1")
    memory.task_decide(task, choice="another thing", item="s2")
    assert error in seqs(memory, "quux", near=True)
    assert seqs(memory, "quux", near=True, types="message") == [4, 2]
    assert seqs(memory, "quux", near=True, tags="t") == []
    assert seqs(memory, "quux", near=True, types="error") == []
    memory.task_remember(task, "quux again", type="error")
    assert seqs(memory, "quux", near=True, types="error")[-1] == error
    assert set(seqs(memory, "quux", near=True, task_id=task, item="s1")) == {4}


def test_silent_events_are_never_hits(memory, task):
    memory.task_update(task, "quux one")
    memory.acting_as(session="T").task_focus(task)
    memory.task_claim(task, item="s2")
    memory.task_release(task, item="s2")
    entry = memory.task_remember(task, "quux two").seq
    memory.task_remember(task, invalidates=entry)
    assert {hit.type for hit in memory.task_recall("quux", near=True).hits} == {
        "task.registered",
        "message",
        "discovery",
    }
    assert {hit.type for hit in memory.task_recall(task_id=task).hits} == {
        "task.registered",
        "message",
        "discovery",
    }


def test_every_type_that_can_be_asked_for_finds_its_events(memory, prepared):
    last = ("task_plan_sync", "task_plan_replace", "task_finish")
    # The first of them archives the task, which can then be neither split nor merged.
    left_out = ("task_undo", "task_release", "task_split", "task_merge")
    for call in (*(call for call in WRITES if call not in (*last, *left_out)), *last):
        getattr(memory, call)(prepared, **WRITES[call][0])
    kinds = ("error", "tool_result", "user_instruction", "discovery", "artifact", "context", "question")
    for kind in kinds:
        memory.task_remember(prepared, "x", type=kind)
    memory.memory_store("x", entity="nobody", key="k", value=1, category="fact")
    for word, meant in TYPES.items():
        found = {hit.type for hit in memory.task_recall(types=word, limit=100).hits}
        assert found, word
        assert found <= set(meant), word


MANY = {"sqlite": 5200, "postgresql": 1300}  # more than are ever looked at for one term


def test_an_old_match_is_found_behind_thousands_that_do_not_pass(memory, clock):
    """No top-k is taken before the filter: else nothing of it would be left."""

    def needle(inside, **more) -> tuple[str, int]:
        task = inside.task_register("Mine", ["A", "B"]).task_id
        return task, inside.task_remember(task, "the quux needle", **more).seq

    def found(query, **filters) -> set[tuple[str, int]]:
        hits = memory.task_recall(query, limit=100, **filters).hits
        return {(hit.task_id, hit.seq) for hit in hits if hit.why.startswith("has")}

    wanted = needle(memory, type="error", tags=["rare"], item="s2")
    elsewhere = needle(memory.acting_as(workspace="/elsewhere"), type="error")
    clock.forward(7200)
    in_another = needle(memory, type="discovery")
    mine = wanted[0]
    write_many(
        memory,
        (
            lambda inside, n=number: inside.task_remember(
                mine, f"quux needle {n}x", item="s1", tags=["often"]
            )
            for number in range(MANY[memory.store.url.partition(":")[0]])
        ),
    )
    for match, filters in (
        (wanted, {"types": "error"}),
        (wanted, {"tags": "rare"}),
        (wanted, {"task_id": mine, "item": "s2"}),
        (wanted, {"until": "2026-03-01T13:00:00Z"}),
        (in_another, {"task_id": in_another[0]}),
        (elsewhere, {"workspace": "/elsewhere"}),
    ):
        assert match in found("quux", **filters), filters
        assert found("quux needle", **filters) == {match}, filters
    assert found("quux", at=wanted[1], task_id=mine) == {wanted}
    assert found("quux", at="2026-03-01T13:00:00Z") == {wanted}


# --- scope ------------------------------------------------------------------------------------------


def test_nothing_leaks_between_workspaces_unless_asked(memory):
    other = memory.acting_as(workspace="/other")
    nowhere = memory.acting_as(workspace=None)
    ids = [each.task_register("T", request="quux").task_id for each in (memory, other, nowhere)]
    mine, theirs, nobodys = ids
    assert {hit.task_id for hit in memory.task_recall("quux").hits} == {mine}
    assert {hit.task_id for hit in other.task_recall("quux").hits} == {theirs}
    assert {hit.task_id for hit in memory.task_recall("quux", workspace="/other").hits} == {theirs}
    assert {hit.task_id for hit in memory.task_recall("quux", workspace=None).hits} == set(ids)
    assert {hit.task_id for hit in memory.task_recall("quux", task_id=theirs).hits} == {theirs}
    assert {hit.task_id for hit in memory.task_recall(types="request").hits} == {mine}
    assert {hit.task_id for hit in nowhere.task_recall("quux").hits} == set(ids)
    for filters in (
        {"types": "request"},
        {"since": "2026-01-01"},
        {"until": "2027-01-01"},
        {"at": "2027-01-01"},
    ):
        assert {hit.task_id for hit in memory.task_recall("quux", **filters).hits} == {mine}
    assert nobodys in ids


def test_neighbours_are_never_of_another_task_or_workspace(memory):
    other = memory.acting_as(workspace="/other")
    mine, theirs = memory.task_register("Mine").task_id, other.task_register("Theirs").task_id
    for number in range(10):
        memory.task_update(mine, "quux" if number == 5 else f"mine {number}")
        other.task_update(theirs, f"theirs {number}")
    assert {hit.task_id for hit in memory.task_recall("quux", workspace=None).hits} == {mine}


def test_sessions_of_a_workspace_find_each_others_tasks(memory):
    """A session may read what another has done here; task_list does the same."""
    task = memory.acting_as(session="A").task_register("T", request="quux").task_id
    assert [hit.task_id for hit in memory.acting_as(session="B").task_recall("quux").hits] == [task]


@postgres_only
def test_tenants_find_nothing_of_each_other(opened, new_store_url):
    first, second = opened(new_store_url()), opened(new_store_url())
    task = first.task_register("T", request="quux").task_id
    for number in range(50):
        first.task_update(task, f"quux {number}x")
    second.task_register("U", request="nothing")
    for filters in ({}, {"workspace": None}, {"types": "message"}, {"since": "2020-01-01"}):
        assert second.task_recall("quux", **filters).hits == ()
    second.reindex()
    assert len(first.task_recall("quux").hits) == 10
    first.reindex()
    assert len(first.task_recall("quux").hits) == 10


# --- the past ---------------------------------------------------------------------------------------


def test_the_past_by_event_and_by_time(memory, clock, task):
    old = memory.task_decide(task, choice="quux one").seq
    gone = memory.task_remember(task, "quux two").seq
    said = memory.task_update(task, "quux three").seq
    clock.forward(3600)
    new = memory.task_decide(task, choice="quux four", supersedes=old).seq
    memory.task_remember(task, invalidates=gone)
    memory.task_undo(task, said)
    late = memory.task_update(task, "quux five").seq
    now = {hit.seq: hit for hit in memory.task_recall("quux").hits}
    assert set(now) >= {old, gone, said, new, late}
    assert [now[seq].status for seq in (old, gone, said)] == ["superseded", "invalidated", "invalidated"]
    for at in (said, "2026-03-01T12:30:00Z", 1_772_368_200.0):
        then = {hit.seq: hit for hit in memory.task_recall("quux", near=True, task_id=task, at=at).hits}
        assert set(then) == {1, old, gone, said}
        assert [then[seq].status for seq in (old, gone, said)] == ["active", "active", None]
        assert {hit.replaced_by for hit in then.values()} == {None}
    between = {hit.seq: hit for hit in memory.task_recall("quux", near=True, task_id=task, at=new).hits}
    assert (between[old].status, between[old].replaced_by) == ("superseded", new)
    assert between[gone].status == "active"
    assert {hit.seq for hit in memory.task_recall("quux", near=True, at="2026-03-01T12:30:00Z").hits} == {
        1,
        old,
        gone,
        said,
    }
    assert memory.task_recall("quux", at="2020-01-01").hits == ()
    assert seqs(memory, task_id=task, at=gone) == [gone, old, 1]


def test_a_time_filter_shows_the_present_status(memory, clock, task):
    """`until` is about when something was written; `at` is about how things stood."""
    old = memory.task_decide(task, choice="quux one").seq
    clock.forward(3600)
    new = memory.task_decide(task, choice="quux two", supersedes=old).seq
    (hit,) = [hit for hit in memory.task_recall("quux", until="2026-03-01T12:30:00Z").hits if hit.seq == old]
    assert (hit.status, hit.replaced_by) == ("superseded", new)
    (hit,) = [hit for hit in memory.task_recall("quux", at="2026-03-01T12:30:00Z").hits if hit.seq == old]
    assert (hit.status, hit.replaced_by) == ("active", None)


def test_a_search_in_the_past_shows_the_status_of_that_time(memory, task):
    entry = memory.task_remember(task, "quux", type="question").seq
    resolved = memory.task_remember(task, "settled", resolves=entry).seq
    undone = memory.task_undo(task, resolved).seq
    last = memory.task_remember(task, invalidates=entry).seq
    states = []
    for at in (entry, resolved, undone, last):
        (hit,) = [hit for hit in memory.task_recall("quux", task_id=task, at=at).hits if hit.seq == entry]
        states.append(hit.status)
    assert states == ["active", "resolved", "active", "invalidated"]


# --- forged imports ---------------------------------------------------------------------------------


@pytest.fixture
def exported(opened, tmp_path):
    """The lines of an export in which every operation has left its events."""
    return exported_lines(opened(tmp_path / "source.db"), tmp_path / "events")


def test_imported_events_can_be_searched(opened, new_store_url, exported, tmp_path):
    """Odd data that an import lets in is searchable or skipped: no raw error, on every engine."""
    from contextlib import suppress

    from ringbolt import RingboltError

    odd = [None, True, 5, 1.5, "quux", [], [["quux"]], {"a": {"b": "quux"}}]
    ways = [way for way in places(exported) if way and way[0] != 0 and {"data", "sets"} & set(way)]
    chosen = random.Random(7).sample(ways, 60)
    taken = 0
    for number, way in enumerate(chosen):
        lines = changed(exported, way, odd[number % len(odd)])
        with suppress(KeyError, TypeError, AttributeError):
            lines = rehashed(lines)
        path = tmp_path / "forged"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        memory = opened(new_store_url())
        try:
            memory.import_events(path)
        except RingboltError:
            continue
        taken += 1
        for query, filters in (("quux", {}), ("s", {"types": "message"}), (None, {"types": "plan"})):
            memory.task_recall(query, workspace=None, **filters)
        memory.reindex()
        memory.task_recall("quux", workspace=None, tags="t")
    assert taken > 5


# --- the index is only derived ----------------------------------------------------------------------

QUERIES = [
    ("quux", {}), ("red apples on the table", {}), ("v1.2.3", {}), ('"on the table"', {}), ("app*", {}),
    ("error", {"types": "error"}), ("quux", {"tags": "t"}), ("数据", {}), ("main.py", {"workspace": None}),
    (None, {"types": "decision"}), ("apples", {"since": "2026-03-01T12:30:00Z"}),
    ("apples", {"until": "2026-03-01T12:30:00Z"}), ("which table?", {}), ("why was it chosen?", {}),
]  # fmt: skip
PIECES = (
    "quux apples on the table|released v1.2.3 today|edited src/app/main.py|数据库迁移|timeout in parseConfig"
    "|red and green|why was it chosen?|because it is fast|connection refused by 10.0.0.1|error 137 again"
).split("|")


def fill(memory, clock, count=400):
    """A corpus that is the same wherever it is written."""
    dice = random.Random(3)
    ids = [
        memory.acting_as(workspace=where).task_register(f"Task {where}", ["A", "B"]).task_id
        for where in ("/w", "/w", "/v")
    ]
    old: dict = {}
    for number in range(count):
        clock.forward(dice.choice([1, 30, 4000 if number % 50 == 0 else 60]))
        task, text = dice.choice(ids), f"{dice.choice(PIECES)} and {dice.choice(PIECES)} {number}x"
        match dice.randrange(6):
            case 0:
                memory.task_log_action(task, text[:40], tool=dice.choice(["bash", "grep"]), output=text)
            case 1:
                old[task] = memory.task_decide(
                    task, choice=text, reasoning=dice.choice(PIECES), supersedes=old.pop(task, None)
                ).seq
            case 2:
                memory.task_remember(task, text, type="error", tags=["t"] if number % 2 else None)
            case _:
                memory.acting_as(agent=dice.choice("ab")).task_update(task, text)
    return ids


def answers(memory):
    """What each query finds, with all that is said of it but the ids, which differ."""
    names: dict = {}
    found = []
    for query, filters in QUERIES:
        hits = memory.task_recall(query, limit=50, **filters).hits
        for hit in hits:
            names.setdefault(hit.task_id, len(names))
        found.append([{**hit.to_dict(), "task_id": names[hit.task_id]} for hit in hits])
    return found


def keys(hits):
    return {(hit["task_id"], hit["seq"]) for hit in hits}


def test_both_engines_find_the_same_in_the_same_order(opened, tmp_path, postgres_url, clock):
    from uuid import uuid4

    from tests.support import Clock

    clocks = Clock(), Clock()
    memories = [
        opened(f"sqlite://{tmp_path}/a.db", clock=clocks[0], random=_Numbers()),
        opened(f"{postgres_url}&tenant={uuid4().hex}", clock=clocks[1], random=_Numbers()),
    ]
    for memory, own_clock in zip(memories, clocks, strict=True):
        fill(memory, own_clock)
    first, second = (answers(memory) for memory in memories)
    assert all(first)
    assert first == second
    for memory in memories:
        memory.reindex()
    assert answers(memories[0]) == answers(memories[1]) == first


class _Numbers:
    """Random bytes that are the same each time: tasks get the same ids."""

    def __init__(self):
        self._dice = random.Random(5)

    def __call__(self, size):
        return self._dice.randbytes(size)


def test_a_rebuilt_index_gives_the_same_results(memory, store_url, clock):
    fill(memory, clock)
    before = answers(memory)
    if is_postgres(store_url):
        with postgres_client(store_url) as client:
            client.execute("DELETE FROM words w USING events e WHERE e.id = w.id")
    else:
        drop(store_url, "INSERT INTO words (words) VALUES ('delete-all')")
    assert answers(memory) != before
    memory.reindex()
    assert answers(memory) == before
    memory.reindex()
    assert answers(memory) == before


def drop(url, *statements):
    import apsw

    connection = apsw.Connection(path_of(url))
    for sql in statements:
        connection.execute(sql)
    connection.close()


@sqlite_only
@pytest.mark.parametrize("lost", [True, False], ids=["rows-gone", "rows-there"])
@pytest.mark.parametrize("mark", [0, 100, 350])
def test_an_index_that_is_behind_heals(memory, store_url, clock, mark, lost):
    fill(memory, clock)
    memory.store.index()
    before = answers(memory)
    statements = [f"UPDATE words_mark SET up_to = {mark}"]
    if lost:
        statements.append(f"DELETE FROM words WHERE rowid > {mark}")
    drop(store_url, *statements)
    if lost:
        assert answers(memory) == before
    else:  # what is counted twice weighs a little less, so the end of an answer may differ
        for hits, healed in zip(before, answers(memory), strict=True):
            assert keys(hits[:5]) <= keys(healed)
    memory.task_update(memory.task_list().tasks[0].id, "something new")
    memory.store.index()
    ((last,),) = [row.values() for row in rows(store_url, "SELECT max(id) AS last FROM events")]
    assert rows(store_url, "SELECT count(*) AS n FROM words") == [{"n": 404}]
    assert rows(store_url, "SELECT up_to FROM words_mark") == [{"up_to": last}]


@postgres_only
def test_unindexed_events_are_found(memory, store_url, clock):
    fill(memory, clock, 300)
    before = answers(memory)
    with postgres_client(store_url) as client:
        client.execute("DELETE FROM words w USING events e WHERE e.id = w.id AND e.seq > 30")
        client.execute("INSERT INTO words_missing (id) SELECT id FROM events WHERE seq > 30")
    assert answers(memory) == before
    with postgres_client(store_url) as client:
        client.execute("DELETE FROM words w USING events e WHERE e.id = w.id AND e.seq > 90")
        client.execute(
            "INSERT INTO words_missing (id) SELECT id FROM events WHERE seq > 90 ON CONFLICT DO NOTHING"
        )
    assert answers(memory) == before


def test_unindexed_texts_are_ranked_like_indexed_ones(memory, clock):
    """Batches make no difference: answers are the same with and without the texts that wait."""
    fill(memory, clock, 430)
    before = answers(memory)
    memory.store.index()
    assert answers(memory) == before
