"""Facts: those of a project reach its tasks and come back from them; others have a home of their own."""

from __future__ import annotations

import threading

import pytest

from ringbolt import AsyncTaskMemory
from tests.support import contents, newest, open_memory, refused


def values(memory, entity, **options) -> dict:
    return {fact.key: fact.value for fact in memory.memory_recall(entity=entity, limit=1000, **options).facts}


def task_of(memory, entity):
    return memory.task_get(memory.memory_recall(entity=entity).facts[0].task_id)


KEYS = {
    "title": "Deploy the API", "status": "in_progress", "next": "Run the tests",
    "related_session": "worker-7",
    "task_updated": "2026-02-28", "started": "2026-02-01T10:00:00Z", "branch": "feat/x",
    "stash_commit": "a1b2c3",
    "handoff": "See notes.md", "related_goal": "Release 2.0", "owner": "Ada", "state": {"step": 3, "of": [1,
    2]},
    "anything": ["else", None, 1.5, True],
}  # fmt: skip


# --- reaching tasks ---------------------------------------------------------------------------------


def test_a_fact_about_something_new_registers_a_task_with_that_label(memory):
    written = memory.memory_store(entity="deploy: api]", key="title", value="Deploy the API")
    task = memory.task_get(written.task_id)
    assert (task.name, task.status, task.workspace) == ("Deploy the API", "active", "/w")
    assert memory.memory_store(entity="deploy: api]", key="next", value="x").task_id == task.id
    assert len(memory.task_list().tasks) == 1


def test_every_fact_is_read_back_as_it_was_written(memory):
    for key, value in KEYS.items():
        memory.memory_store(entity="api", key=key, value=value)
    assert values(memory, "api") == KEYS
    assert not any(fact.derived for fact in memory.memory_recall(entity="api").facts)


def test_facts_change_the_task_itself(memory):
    for key, value in KEYS.items():
        memory.memory_store(entity="api", key=key, value=value)
    task = task_of(memory, "api")
    assert (task.name, task.status, task.next_step) == ("Deploy the API", "active", "Run the tests")
    assert [(link.kind, link.target) for link in task.links] == [("goal", "Release 2.0")]
    assert task.variables == {
        key: KEYS[key]
        for key in ("related_session", "branch", "stash_commit", "handoff", "owner", "state", "anything")
    }


def test_what_a_task_says_of_itself_is_a_fact_too(memory):
    task = memory.task_register("Deploy", ["Build"]).task_id
    memory.task_update(task, next="Ask Ada", status="waiting")
    memory.task_set(task, "branch", "feat/y")
    assert values(memory, task) == {
        "title": "Deploy",
        "status": "waiting",
        "next": "Ask Ada",
        "branch": "feat/y",
    }
    assert {fact.key for fact in memory.memory_recall(entity=task).facts if fact.derived} == {
        "title",
        "status",
        "next",
    }
    memory.memory_store(entity=task, key="title", value="Deploy it")
    assert memory.task_get(task).name == "Deploy it"


def test_a_task_that_went_on_is_not_told_by_an_old_fact(memory):
    memory.memory_store(entity="api", key="status", value="in_progress")
    memory.memory_store(entity="api", key="title", value="Old")
    task = task_of(memory, "api").id
    memory.task_update(task, name="New")
    memory.task_finish(task)
    found = values(memory, "api")
    assert (found["status"], found["title"]) == ("completed", "New")
    past = memory.memory_recall(entity="api", key="status", history=True).facts
    assert [(fact.value, fact.status, fact.derived) for fact in past] == [
        ("completed", "active", True),
        ("in_progress", "superseded", False),
    ]


def test_without_an_entity_the_current_task_is_meant(memory, task):
    memory.memory_store(key="branch", value="b")
    memory.memory_store("It needs Node 20")
    assert memory.task_get(task).variables == {"branch": "b"}
    assert [note.summary for note in memory.task_get(task).notes] == ["It needs Node 20"]
    assert "It needs Node 20" in [fact.text for fact in memory.memory_recall(entity=task).facts]


@pytest.mark.parametrize(
    ("word", "status"),
    [
        ("open", "active"), ("in_progress", "active"), ("In progress", "active"), ("blocked", "waiting"),
        ("waiting", "waiting"), ("Stalled", "paused"), ("failed", "failed"), ("error", "failed"), ("done",
        "completed"),
        ("completed", "completed"), ("closed", "completed"), ("cancelled", "cancelled"), ("abandoned",
        "abandoned"),
        ("superseded", "superseded"),
    ],
)  # fmt: skip
def test_the_words_for_a_status_are_understood_and_kept(memory, word, status):
    memory.memory_store(entity="api", key="status", value=word)
    assert task_of(memory, "api").status == status
    assert values(memory, "api")["status"] == word


def test_an_unknown_status_is_refused_with_those_that_are_known(memory):
    with refused(memory, "unknown_word") as caught:
        memory.memory_store(entity="api", key="status", value="finito")
    assert "completed" in caught.value.details["allowed"]
    assert memory.task_list().tasks == ()


def test_the_goal_of_a_task_is_replaced_and_taken_away(memory):
    for goal in ("G1", "G2"):
        memory.memory_store(entity="api", key="related_goal", value=goal)
        assert [link.target for link in task_of(memory, "api").links] == [goal]
    memory.memory_store(entity="api", key="goal_id", value="")
    assert task_of(memory, "api").links == ()


# --- history ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", ["title", "next", "branch", "custom"])
def test_earlier_facts_stay_in_the_history(memory, key):
    for value in ("one", "two", "three"):
        memory.memory_store(entity="api", key=key, value=value, why=f"because of {value}")
    found = memory.memory_recall(entity="api", key=key, history=True).facts
    assert [(fact.value, fact.status, fact.why) for fact in found if not fact.derived] == [
        ("three", "active", "because of three"),
        ("two", "superseded", "because of two"),
        ("one", "superseded", "because of one"),
    ]


def test_an_older_fact_goes_into_the_history_only(memory):
    memory.memory_store(entity="api", key="next", value="new", at="2026-03-01")
    written = memory.memory_store(entity="api", key="next", value="old", at="2026-02-01")
    assert "older" in written.warnings[0]
    assert values(memory, "api")["next"] == "new"
    assert task_of(memory, "api").next_step == "new"
    found = memory.memory_recall(entity="api", key="next", history=True).facts
    assert [(fact.value, fact.status) for fact in found] == [("old", "superseded"), ("new", "active")]


def test_in_a_tie_what_is_done_stays_done(memory, clock):
    memory.memory_store(entity="api", key="status", value="done")
    # The clock stands still: both are of the same moment.
    assert memory.memory_store(entity="api", key="status", value="in_progress").warnings
    assert task_of(memory, "api").status == "completed"
    clock.forward(60)
    assert memory.memory_store(
        entity="api", key="status", value="in_progress", at="2026-03-01T11:00:00Z"
    ).warnings
    assert task_of(memory, "api").status == "completed"
    assert not memory.memory_store(entity="api", key="status", value="in_progress").warnings
    assert task_of(memory, "api").status == "active"


def test_a_fact_can_be_undone(memory):
    memory.memory_store(entity="api", key="title", value="One")
    memory.memory_store(entity="api", key="branch", value="b1")
    task = memory.memory_store(entity="api", key="title", value="Two").task_id
    memory.task_undo(task)
    assert values(memory, "api")["title"] == "One"
    assert memory.task_get(task).name == "One"
    assert memory.verify().ok


def test_facts_survive_an_export_and_an_import(memory, opened, new_store_url, tmp_path):
    for key, value in KEYS.items():
        memory.memory_store(entity="api", key=key, value=value, tags=["t"])
    memory.memory_store("Likes it dark", entity="user", key="theme", value="dark", category="preference")
    memory.export_events(tmp_path / "events")
    other = opened(new_store_url())
    other.import_events(tmp_path / "events")
    assert other.memory_recall(limit=1000) == memory.memory_recall(limit=1000)
    assert contents(other) == contents(memory)
    assert other.verify().ok
    # And the label still leads to the same task.
    assert other.memory_store(entity="api", key="next", value="x").task_id == task_of(memory, "api").id


# --- other categories -------------------------------------------------------------------------------


@pytest.mark.parametrize("category", ["preference", "fact", "decision", "entity", "other"])
def test_a_fact_about_no_task_is_in_no_list_of_tasks(memory, category):
    memory.memory_store(
        "Likes it dark", entity="user", key="theme", value="dark", category=category, importance=0.7
    )
    assert memory.task_list(status="all", archived=True).tasks == ()
    assert memory.active_tasks(completed=True).active == ()
    with refused(memory, "no_current_task"):
        memory.task_get()
    (fact,) = memory.memory_recall(entity="user").facts
    assert (fact.category, fact.key, fact.value, fact.text) == (category, "theme", "dark", "Likes it dark")
    assert (fact.importance, fact.derived, fact.channel) == (0.7, False, "agent")


def test_facts_about_no_task_are_replaced_by_entity_and_key(memory):
    for who, theme in (("ada", "dark"), ("bob", "light"), ("ada", "light")):
        memory.memory_store(entity=who, key="theme", value=theme, category="preference")
    assert values(memory, "ada") == {"theme": "light"}
    assert values(memory, "bob") == {"theme": "light"}
    assert len(memory.memory_recall(entity="ada", history=True).facts) == 2


def test_facts_belong_to_their_workspace_unless_they_are_global(memory):
    memory.memory_store("here", category="fact")
    memory.memory_store("everywhere", category="fact", scope="global")
    memory.memory_store(entity="api", key="next", value="x")
    other = memory.acting_as(workspace="/elsewhere")
    assert [fact.text for fact in other.memory_recall().facts] == ["everywhere"]
    assert other.memory_recall(entity="api").facts == ()
    assert {fact.text for fact in memory.memory_recall(category="fact").facts} == {"here", "everywhere"}
    with refused(memory, "invalid_argument"):
        memory.memory_store("x", entity="api", scope="global")
    own = memory.memory_recall(category="fact", query="here").facts[0].id
    with refused(memory, "record_not_found"):
        other.memory_recall(id=own)


def test_a_fact_replaces_others_by_their_ids(memory):
    first = memory.memory_store("The port is 80", category="fact")
    name = f"{first.task_id}#{first.seq}"
    memory.memory_store("The port is 81", category="fact", supersedes=name)
    assert [fact.text for fact in memory.memory_recall(category="fact").facts] == ["The port is 81"]
    assert memory.memory_recall(id=name).facts[0].status == "superseded"
    with refused(memory, "record_not_found"):
        memory.memory_store(entity="api", key="next", value="x", supersedes=name)


# --- recall -----------------------------------------------------------------------------------------


def test_facts_are_found_by_what_they_are(memory):
    memory.memory_store(entity="api", key="branch", value="feat/x", tags=["git", "now"])
    memory.memory_store(entity="docs", key="branch", value="feat/y")
    memory.memory_store("Prefers short answers", category="preference", tags=["now"])
    assert [fact.entity for fact in memory.memory_recall(key="branch").facts] == ["docs", "api"]
    assert [fact.category for fact in memory.memory_recall(tag="now").facts] == ["project", "preference"]
    assert [fact.text for fact in memory.memory_recall(category="preference").facts] == [
        "Prefers short answers"
    ]
    assert memory.memory_recall(tag="no").facts == ()
    assert memory.memory_recall(entity="nobody").facts == ()


def test_words_find_whole_words_and_the_most_of_them_first(memory):
    memory.memory_store("The database is PostgreSQL", category="fact")
    memory.memory_store("The database password is in the vault", category="fact")
    memory.memory_store("Databases are nice", category="fact")
    found = memory.memory_recall("where is the DATABASE password?").facts
    assert [fact.text for fact in found] == [
        "The database password is in the vault",
        "The database is PostgreSQL",
    ]
    assert memory.memory_recall("data").facts == ()


def test_what_is_over_the_limit_is_counted(memory):
    for number in range(5):
        memory.memory_store(f"fact {number}", category="fact")
    found = memory.memory_recall("fact", limit=2)
    assert ([fact.text for fact in found.facts], found.left_out) == (["fact 4", "fact 3"], 3)


# --- writing once, and by whom ----------------------------------------------------------------------


def test_the_same_call_with_a_key_is_written_once(memory, clock):
    for options in ({"entity": "api", "key": "next", "value": "x"}, {"text": "a", "category": "fact"}):
        first = memory.memory_store(**options, idempotency_key=f"k{options}"[:100])
        clock.forward(60)
        place = newest(memory)
        assert memory.memory_store(**options, idempotency_key=f"k{options}"[:100]) == first
        assert newest(memory) == place
        with refused(memory, "key_reused"):
            memory.memory_store(**{**options, "why": "other"}, idempotency_key=f"k{options}"[:100])


def test_a_label_is_given_once_however_many_ask_at_once(memory, store_url):
    def store(number: int) -> None:
        with open_memory(store_url) as own:
            own.memory_store(entity="api", key=f"k{number}", value=number)

    threads = [threading.Thread(target=store, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(memory.task_list().tasks) == 1
    assert {f"k{number}" for number in range(8)} <= set(values(memory, "api"))


def test_a_fact_keeps_the_channel_it_came_through(memory):
    memory.acting_as(channel="web").memory_store(entity="api", key="next", value="x")
    (fact,) = memory.memory_recall(key="next").facts
    assert fact.channel == "web"


def test_who_lost_the_claim_cannot_store_facts_about_the_task(memory, task, clock):
    one, two = memory.acting_as(agent="one"), memory.acting_as(agent="two")
    one.task_claim(task)
    clock.forward(10_000)
    two.task_claim(task)
    with refused(memory, "stale_token"):
        one.memory_store(entity=task, key="next", value="x")
    two.memory_store(entity=task, key="next", value="y")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({}, "invalid_argument"), ({"key": "a"}, "invalid_argument"), ({"value": 1}, "invalid_argument"),
        ({"text": " "}, "invalid_argument"), ({"text": "a", "category": "no"}, "unknown_word"),
        ({"text": "a", "scope": "no"}, "unknown_word"), ({"text": "a", "importance": 2}, "invalid_argument"),
        ({"entity": "e", "key": "title", "value": 5}, "invalid_argument"),
        ({"entity": "e", "key": "task_updated", "value": "soon"}, "invalid_time"),
        ({"entity": "e", "key": "a", "value": {1, 2}}, "invalid_json"), ({"text": "a", "at": "soon"},
        "invalid_time"),
        ({"text": "a", "supersedes": "x"}, "invalid_argument"), ({"entity": "x" * 300, "text": "a"},
        "too_large"),
        ({"text": "a\0b", "category": "fact"}, "invalid_text"), ({"text": "\ud800", "category": "fact"},
        "invalid_text"),
    ],
)  # fmt: skip
def test_a_fact_that_is_none_is_refused_and_registers_nothing(memory, arguments, code):
    with refused(memory, code):
        memory.memory_store(**arguments)


async def _stored(url):
    async with await AsyncTaskMemory.open(url, workspace="/w", synchronous="off") as memory:
        await memory.memory_store(entity="api", key="next", value="x")
        return (await memory.memory_recall(key="next")).facts[0].value


def test_facts_can_be_awaited(store_url):
    import asyncio

    assert asyncio.run(_stored(store_url)) == "x"
