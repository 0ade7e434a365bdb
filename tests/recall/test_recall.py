"""Recall: what was written is found, by what it says, best first, and in three steps."""

from __future__ import annotations

import os

import pytest

from ringbolt.recall.search import TYPES
from ringbolt.store import sqlite
from tests.support import is_postgres, refused, rows, run_python, sqlite_only


def seqs(memory, query=None, **filters):
    """The numbers of the events that a search finds, best first."""
    return [hit.seq for hit in memory.task_recall(query, **filters).hits]


def only(memory, query, **filters):
    """The one hit of a search that has the words itself."""
    hits = [hit for hit in memory.task_recall(query, **filters).hits if hit.why.startswith("has ")]
    assert len(hits) == 1, hits
    return hits[0]


def chat(memory, task, count, text="nothing of note"):
    """So many messages that no two are alike."""
    for number in range(count):
        memory.task_update(task, f"{text} {'abcdefghij'[number % 10] * (number // 10 + 1)}")


# --- everything is found at once --------------------------------------------------------------------

SAID = {
    "message": lambda m, t, w: m.task_update(t, w),
    "next step": lambda m, t, w: m.task_update(t, next=w),
    "blocker": lambda m, t, w: m.task_update(t, blockers=[w]),
    "reason": lambda m, t, w: m.task_update(t, status="waiting", reason=w),
    "attention": lambda m, t, w: m.task_update(t, attention=w),
    "new goal": lambda m, t, w: m.task_update(t, goal=w),
    "metadata": lambda m, t, w: m.task_update(t, metadata={"note": w}),
    "action": lambda m, t, w: m.task_log_action(t, w),
    "tool": lambda m, t, w: m.task_log_action(t, "s", tool=w),
    "input": lambda m, t, w: m.task_log_action(t, "s", input={"command": [w]}),
    "output": lambda m, t, w: m.task_log_action(t, "s", output={"lines": ["ok", w]}),
    "error": lambda m, t, w: m.task_log_action(t, "s", status="failed", error=w),
    "end of an action": lambda m, t, w: m.task_log_action(t, action=2, status="completed", output=w),
    "log": lambda m, t, w: m.task_log_append(t, action=2, content=w),
    "receipt": lambda m, t, w: m.task_receipt(t, command="make", exit_code=0, output=w, item="s1"),
    "choice": lambda m, t, w: m.task_decide(t, choice=w),
    "title": lambda m, t, w: m.task_decide(t, choice="c", title=w),
    "option": lambda m, t, w: m.task_decide(t, choice="c", options=["o", w]),
    "reasoning": lambda m, t, w: m.task_decide(t, choice="c", reasoning=w),
    "risk": lambda m, t, w: m.task_decide(t, choice="c", risks=[w]),
    "if wrong": lambda m, t, w: m.task_decide(t, choice="c", if_wrong=w),
    "context of a decision": lambda m, t, w: m.task_decide(t, choice="c", context=w),
    "exclusion": lambda m, t, w: m.task_exclude(t, what=w),
    "why": lambda m, t, w: m.task_exclude(t, what="x", why=w),
    "symptom": lambda m, t, w: m.task_exclude(t, what="x", symptom=w),
    "variable": lambda m, t, w: m.task_set(t, "name", w),
    "name of a variable": lambda m, t, w: m.task_set(t, w, 1),
    "nested value": lambda m, t, w: m.task_set(t, "name", {"a": [w]}),
    "snapshot": lambda m, t, w: m.task_snapshot(t, f"A long context with {w} in it."),
    "label of a snapshot": lambda m, t, w: m.task_snapshot(t, "c", label=w),
    "intent": lambda m, t, w: m.task_intent(t, what=w),
    "verify": lambda m, t, w: m.task_intent(t, what="x", verify=w),
    "outcome": lambda m, t, w: m.task_outcome(t, intent=3, outcome="did", note=w),
    "answer": lambda m, t, w: m.task_finish(t, w),
    "failure": lambda m, t, w: m.task_finish(t, status="failed", error={"message": w}),
    "replan": lambda m, t, w: m.task_plan_replace(t, ["Build"], reason=w),
    "title of a new step": lambda m, t, w: m.task_plan_append(t, [w]),
    "input of a new step": lambda m, t, w: m.task_plan_append(t, [{"title": "x", "sub_task_input": w}]),
    "note of a step": lambda m, t, w: m.task_item_update(t, "s1", note=w),
    "issue of a step": lambda m, t, w: m.task_item_update(t, "s1", active_issue=w),
    "reason of an undoing": lambda m, t, w: m.task_undo(t, reason=w),
    "reason of a claim": lambda m, t, w: m.acting_as(agent="b").task_claim(t, item="s2", reclaim=w),
    **{
        f"{kind} {part}": lambda m, t, w, k=kind, p=part: m.task_remember(
            t, **{"summary": "s", "type": k, p: {"own": {"deep": w}} if p == "data" else w}
        )
        for kind in TYPES
        if kind
        in ("error", "tool_result", "user_instruction", "discovery", "artifact", "context", "question")
        for part in ("summary", "detail", "data")
    },
}


@pytest.mark.parametrize("waiting", [True, False], ids=["waiting", "indexed"])
def test_each_thing_is_found_the_moment_its_write_returns(memory, waiting):
    for number, (name, write) in enumerate(SAID.items()):
        word = f"quux{chr(97 + number // 26)}{chr(97 + number % 26)}k"  # which has no stem but itself
        task = memory.task_register("Deploy", ["Build", "Push", "Run"]).task_id
        memory.task_log_action(task, "an action", status="started")
        memory.task_intent(task, what="an intent")
        if name == "reason of a claim":
            memory.acting_as(agent="a").task_claim(task, item="s2")
        written = write(memory, task, word)
        if not waiting:
            memory.store.index()
        hit = only(memory, word)
        assert (hit.task_id, hit.seq) == (task, written.seq), name
        assert hit.why == f"has {word}"
        assert word in hit.snippet, name
        assert hit.score > 0


def test_what_a_task_is_registered_with_is_found(memory):
    said = {
        "name": "quuxname", "plan": ["quuxtitle"], "request": "quuxrequest", "goal": "quuxgoal",
        "context": {"c": "quuxcontext"}, "acceptance": ["quuxacceptance"], "metadata": {"m": "quuxmeta"},
    }  # fmt: skip
    task = memory.task_register(**said).task_id
    for word in "name title request goal context acceptance meta".split():
        hit = only(memory, f"quux{word}")
        assert (hit.task_id, hit.seq, hit.type) == (task, 1, "task.registered"), word


def test_facts_are_found_by_entity_key_value_text_and_reason(memory):
    fact = memory.memory_store(
        "quuxtext", entity="quuxentity", key="quuxkey", value="quuxvalue", why="quuxwhy"
    )
    for word in "text entity key value why".split():
        assert fact.seq in seqs(memory, f"quux{word}"), word
    assert memory.task_recall("quuxvalue").hits[0].type in ("fact", "variable")


def test_a_write_is_found_at_any_place_of_a_batch(memory, task):
    for number in range(2 * sqlite.INDEX_BATCH + 3):
        seq = memory.task_update(task, f"quux{number:03}").seq
        assert seqs(memory, f"quux{number:03}")[0] == seq
        assert seqs(memory, "quux000")[0] == 2


def test_a_write_of_another_process_is_found_at_once(memory, store_url, task):
    chat(memory, task, 5)
    code = (
        "import sys\n"
        "from ringbolt.core.tasks import Tasks\n"
        "from ringbolt.recall.operations import Recalling\n"
        "from tests.processes import open_rooms\n"
        "m = open_rooms(sys.argv[1], Tasks, Recalling)\n"
    )
    run_python(code + "m.task_update(sys.argv[2], 'quuxother'); m.close()", store_url, task)
    assert seqs(memory, "quuxother")[0] == 7
    memory.task_update(task, "quuxown")
    found = run_python(code + "print(m.task_recall('quuxown').hits[0].seq); m.close()", store_url, task)
    assert found.stdout == "8\n"


def test_every_write_of_many_connections_is_found(memory, opened, store_url, task):
    others = [opened(store_url) for _ in range(3)]
    for number in range(90):
        others[number % 3].task_update(task, f"quux{number:03}")
        assert seqs(others[(number + 1) % 3], f"quux{number:03}")[0] == number + 2


def test_a_long_text_is_found_by_its_last_words(memory, task):
    memory.task_log_action(task, "s", output="line of output\n" * 3000 + "quuxlast")
    assert "quuxlast" in only(memory, "quuxlast").snippet


def test_texts_longer_than_the_index_allows_are_still_written(memory, task):
    letters = "".join(chr(0x20000 + number) for number in range(60_000))
    chunks = " ".join(f"{letters[at : at + 40]}_{letters[at + 40 : at + 80]}" for at in range(0, 60_000, 80))
    memory.task_log_action(task, "quuxhuge", output=chunks)
    memory.task_update(task, "x" * 1_000_000)
    memory.task_update(task, " ".join(f"w{number}" for number in range(150_000)))
    memory.store.index()
    assert seqs(memory, "quuxhuge")[0] == 2
    assert seqs(memory, "w7")[0] == 4


# --- words ------------------------------------------------------------------------------------------

WORDS = [
    ("Released v1.2.3 to staging", ["v1.2.3", "V1.2.3", "staging v1.2.3", '"v1.2.3"']),
    ("Edited src/app/main.py", ["src/app/main.py", "main.py", "app/main", "src", "main"]),
    ("Type ENUM was added", ["ENUM", "enum", "types"]),
    ("parseConfigFile() is slow", ["parseConfigFile", "config", "parse file", "parseconfigfile"]),
    ("max_retry_count = 5", ["max_retry_count", "retry", "count retries"]),
    ("HTTPServerError raised", ["HTTPServerError", "server error", "http"]),
    ("C:\\Users\\me\\build.log", ["build.log", "C:\\Users\\me\\build.log", "users"]),
    ("mail to ops@example.org", ["ops@example.org", "example.org"]),
    ("commit 9f8e7d6c broke it", ["9f8e7d6c", "9f8e*"]),
    ("ticket PROJ-1234 is open", ["PROJ-1234", "proj 1234"]),
    ("configured the configuration", ["conf*", "configur*", "configuring", "configuration*"]),
    ("数据库迁移失败了", ["数据库", "迁移", "失败", "数据库迁移"]),
    ("データベースの移行が完了しました", ["データベース", "移行", "完了"]),
    ("데이터베이스를 옮겼다", ["데이터", "옮겼다"]),
    ("ฐานข้อมูลล้มเหลว", ["ข้อมูล"]),
    ("The café's naïve résumé", ["cafe", "café", "naive", "resume", "RÉSUMÉ", "café*"]),
    ("Groß und Öl", ["groß", "GROß", "ol"]),
    ("миграция базы данных", ["миграция", "БАЗЫ"]),
    ("the workers were migrating tables", ["migration worker", "migrate", "migrated the table"]),
    ("it said: connection reset by peer", ['"connection reset by peer"', '"CONNECTION  reset"', "“by peer”"]),
    ("exit code 137 (OOM)", ["137", "oom", "exit 137"]),
    ("10.0.0.17:5432 refused", ["10.0.0.17:5432", "10.0.0.17", "5432"]),
    ("\x1b[31mred\x1b[0m alarm", ["alarm"]),
]  # fmt: skip


@pytest.mark.parametrize("waiting", [True, False], ids=["waiting", "indexed"])
def test_identifiers_parts_phrases_prefixes_accents_and_words_without_spaces_are_found(memory, task, waiting):
    task = memory.task_register("Words").task_id  # without a plan, which these messages could move
    chat(memory, task, 5)
    wanted = {text: memory.task_update(task, text).seq for text, _ in WORDS}
    chat(memory, task, 5, "and then some more")
    if not waiting:
        memory.store.index()
    for text, queries in WORDS:
        for query in queries:
            hits = memory.task_recall(query).hits
            assert hits, (text, query)
            assert hits[0].seq == wanted[text], (text, query, hits[0].title)
            assert hits[0].why.startswith("has "), (query, hits[0].why)


def test_a_phrase_must_be_there_as_it_is(memory, task):
    memory.task_update(task, "the peer did reset the connection")
    right = memory.task_update(task, "Connection   reset\nby peer").seq
    memory.task_update(task, "by the peer")
    assert seqs(memory, '"connection reset by peer"') == [right]
    assert seqs(memory, '"connection reset by nobody"') == []


def test_an_old_phrase_is_found_among_many_texts_with_the_same_words(memory, task):
    right = memory.task_update(task, "quota was raised by hand").seq
    for number in range(400):
        memory.task_update(task, f"by hand nobody raised what was no quota {number} {'x' * (number % 50)}")
    assert seqs(memory, '"quota was raised"') == [right]


def test_a_prefix_is_not_found_inside_a_word(memory, task):
    right = memory.task_update(task, "preferences").seq
    memory.task_update(task, "spree of references, in the pre of press")
    assert seqs(memory, "prefer*") == [right]


def test_a_question_finds_what_answers_it(memory, task):
    chat(memory, task, 30)
    right = memory.task_decide(task, choice="PostgreSQL 16", reasoning="The team already runs it.").seq
    chat(memory, task, 30, "unrelated talk")
    assert seqs(memory, "Why did we choose PostgreSQL?")[0] == right


def test_private_letters_cannot_forge_a_filter(memory, task):
    from ringbolt.signals.terms import scope_term

    forged = scope_term("t", task)
    memory.acting_as(workspace="/other").task_register("Other", request=f"words {forged} quux")
    assert memory.task_recall(forged).hits == ()
    assert seqs(memory, "quux", task_id=task) == []


def test_a_query_without_words_finds_nothing(memory, task):
    for query in ("?!", "*", '""', "-", "((", "\ue000", "…"):
        assert memory.task_recall(query).hits == (), query


# --- order ------------------------------------------------------------------------------------------


def test_recency_and_importance_cannot_bury_an_exact_match(memory, task):
    right = memory.task_update(task, "The cache of the resolver was poisoned by the canary").seq
    chat(memory, task, 20)
    for number in range(300):
        memory.task_decide(task, choice=f"Use cache number {number}", reasoning="a cache is fast")
    memory.task_remember(task, "Always keep the cache warm", type="user_instruction")
    assert seqs(memory, "resolver cache poisoned by the canary")[0] == right
    assert seqs(memory, "canary")[0] == right


def test_words_count_more_than_their_neighbourhood(memory, task):
    chat(memory, task, 3)
    right = memory.task_update(task, "rotated the signing key").seq
    chat(memory, task, 3)
    found = memory.task_recall("signing key", near=True).hits
    assert found[0].seq == right
    assert {hit.why for hit in found[1:]} == {f"near #{right}"}
    assert all(hit.score < found[0].score for hit in found[1:])


def test_a_query_for_an_identifier_returns_only_texts_with_its_words(memory, task):
    chat(memory, task, 3)
    right = memory.task_update(task, "bumped to v2.7.1").seq
    chat(memory, task, 3)
    assert seqs(memory, "v2.7.1") == [right]


@pytest.mark.parametrize("old", ["quux the first way", "first"])
def test_superseded_entries_are_marked_and_rank_below_their_replacement(memory, task, old):
    first = memory.task_decide(task, choice="quux the first way").seq
    second = memory.task_decide(task, choice="quux the second way", supersedes=first).seq
    third = memory.task_decide(task, choice="a third way", supersedes=second).seq
    chat(memory, task, 10)
    found = {hit.seq: hit for hit in memory.task_recall(old, types="decision").hits}
    order = list(found)
    assert order.index(third) < order.index(first)
    assert (found[first].status, found[first].replaced_by) == ("superseded", second)
    assert (found[third].status, found[third].replaced_by) == ("active", None)
    if second in found:
        assert order.index(third) < order.index(second) < order.index(first)


def test_a_distant_replacement_comes_with_the_outdated_hit(memory, task):
    old = memory.task_decide(task, choice="store sessions in quux").seq
    chat(memory, task, 30)
    new = memory.task_decide(task, choice="keep them in memory", supersedes=old).seq
    chat(memory, task, 30)
    found = memory.task_recall("quux").hits
    assert found[0].seq == new
    assert found[0].why == f"replaced #{old}"
    assert old in [hit.seq for hit in found]
    assert seqs(memory, "quux", at=old + 3)[0] == old


def test_an_earlier_value_of_a_variable_ranks_below_the_current_one(memory, task):
    values = [memory.task_set(task, "image", f"quux:{number}").seq for number in range(12)]
    found = memory.task_recall("quux:3").hits
    order = [hit.seq for hit in found]
    assert order.index(values[-1]) < order.index(values[3])
    assert next(hit for hit in found if hit.seq == values[3]).replaced_by == values[4]


def test_invalidated_entries_are_marked_and_come_last(memory, task):
    wrong = memory.task_remember(task, "the quux port is 5432").seq
    right = memory.task_remember(task, "a quux port", invalidates=wrong).seq
    other = memory.task_remember(task, "about a quux port").seq
    found = memory.task_recall("quux port 5432").hits
    assert [hit.seq for hit in found][-1] == wrong
    assert {hit.seq for hit in found} >= {right, other}
    assert found[-1].status == "invalidated"


def test_an_undone_message_is_marked(memory, task):
    seq = memory.task_update(task, "quux was deployed").seq
    memory.task_undo(task, seq)
    hit = only(memory, "quux")
    assert (hit.seq, hit.status) == (seq, "invalidated")


def test_texts_that_say_the_same_are_one_hit_with_a_count(memory, task):
    for number in range(40):
        memory.task_update(task, "Uploaded  quux" if number % 2 else "uploaded quux")
    other = memory.task_update(task, "The quux upload is complete").seq
    alike = {hit.seq: hit.alike for hit in memory.task_recall("quux").hits if hit.why.startswith("has")}
    assert alike.pop(other) == 0
    assert list(alike.values()) == [39]


def test_logs_and_calls_that_differ_in_numbers_are_one_hit(memory, task):
    for number in range(20):
        memory.task_log_append(task, action=memory.task_log_action(task, f"quux {number}").seq, content="x")
    assert [hit.alike for hit in memory.task_recall("quux", types="action").hits] == [19]


def test_entries_and_messages_that_differ_in_numbers_are_different(memory, task):
    ports = [memory.task_remember(task, f"quux listens on {port}").seq for port in (8080, 9090)]
    releases = [memory.task_update(task, f"quux {version} is out").seq for version in ("v1.2.3", "v1.2.4")]
    assert {*ports, *releases} <= set(seqs(memory, "quux"))


LETTERS = [a + b for a in "abcdefghijklmnop" for b in "abcdefghijklmnop"]


def test_the_logs_of_one_action_cannot_fill_the_answer(memory, task):
    wanted = [memory.task_update(task, f"quux went {way}").seq for way in ("up", "down", "away")]
    wanted.append(memory.task_decide(task, choice="keep quux").seq)
    action = memory.task_log_action(task, "a long run", status="started").seq
    for letters in LETTERS[:200]:
        memory.task_log_append(task, action=action, content=f"quux {letters} line")
    found = seqs(memory, "quux")
    assert set(wanted) <= set(found)
    assert len([seq for seq in found if seq > action]) >= 3


def test_the_calls_of_one_tool_cannot_fill_the_answer(memory, task):
    wanted = [memory.task_remember(task, f"quux is {way}").seq for way in ("red", "blue", "green", "old")]
    for letters in LETTERS[:200]:
        memory.task_log_action(task, f"quux {letters}", tool="grep")
    assert set(wanted) <= set(seqs(memory, "quux"))


def test_chatty_sources_fill_a_page_that_has_nothing_else(memory, task):
    action = memory.task_log_action(task, "a long run", status="started").seq
    for letters in LETTERS[:20]:
        memory.task_log_append(task, action=action, content=f"quux {letters} line")
    assert len(seqs(memory, "quux", types="log")) == 10


# --- pages ------------------------------------------------------------------------------------------


def test_pages_fit_together_without_overlap_or_loss(memory, task):
    action = memory.task_log_action(task, "a long run", status="started").seq
    old = None
    for number, letters in enumerate(LETTERS):
        match number % 4:
            case 0:
                memory.task_update(task, f"quux message {letters}")
            case 1:
                memory.task_log_append(task, action=action, content=f"quux log {letters}")
            case 2:
                old = memory.task_decide(task, choice=f"quux choice {letters}", supersedes=old).seq
            case _:
                memory.task_log_action(task, f"quux call {letters}", tool="grep")
    for limit in (7, 100) if is_postgres(memory.store.url) else (4, 7, 10, 100):
        pages_fit_together(memory, limit)


def pages_fit_together(memory, limit):
    found, cursor = [], None
    while True:
        page = memory.task_recall("quux", limit=limit, cursor=cursor)
        found += page.hits
        assert len(page.hits) <= limit
        if page.cursor is None:
            break
        assert len(page.hits) == limit
        cursor = page.cursor
    own = [hit.seq for hit in found if hit.why.startswith("has")]
    assert len({hit.seq for hit in found}) == len(found)
    assert len(own) == len(LETTERS)
    assert [hit.seq for hit in found[:100]] == seqs(memory, "quux", limit=100)


def test_pages_of_the_newest_fit_together(memory, task):
    chat(memory, task, 25)
    found, cursor = [], 0
    while cursor is not None:
        page = memory.task_recall(task_id=task, limit=4, cursor=cursor)
        found += [hit.seq for hit in page.hits]
        cursor = page.cursor
    assert found == list(range(26, 0, -1))


# --- what a hit says --------------------------------------------------------------------------------


def test_a_hit_says_where_who_when_what_and_why(memory, clock, task):
    clock.forward(60)
    web = memory.acting_as(channel="web", agent="crawler", session="T")
    seq = web.task_remember(task, "The quux API needs a token", detail="x " * 500, item="s2").seq
    hit = only(memory, "quux token")
    assert (hit.task_id, hit.task_name, hit.seq, hit.type) == (task, "Deploy", seq, "discovery")
    assert hit.at == "2026-03-01T12:01:00.000Z"
    assert (hit.origin.channel, hit.origin.agent, hit.origin.session) == ("web", "crawler", "T")
    assert (hit.step, hit.status) == ("s2", "active")
    assert hit.title == "The quux API needs a token"
    assert hit.why == "has quux, token"


@pytest.mark.parametrize("channel", ["user", "agent", "tool", "web", "import", "system"])
def test_the_channel_of_trust_stays_with_what_is_found(memory, task, channel):
    memory.acting_as(channel=channel).task_update(task, "quux")
    assert only(memory, "quux").origin.channel == channel


def test_a_snippet_shows_the_words_in_a_long_text(memory, task):
    memory.task_log_action(task, "Ran it", output="line\n" * 2000 + "then the quux broke\n" + "more\n" * 2000)
    hit = only(memory, "quux")
    assert "then the quux broke" in hit.snippet
    assert len(hit.snippet) < 300
    assert "\n" not in hit.snippet
    assert hit.title == "Ran it"


def test_titles_only_are_cheap(memory, task):
    memory.task_update(task, "quux " * 1000)
    hit = memory.task_recall("quux", titles=True).hits[0]
    assert hit.snippet is None
    assert len(hit.title) <= 100


def test_three_steps_from_a_title_to_the_whole(memory, task):
    chat(memory, task, 10)
    seq = memory.task_log_action(task, "Ran quux", output={"lines": ["one", "two"]}).seq
    chat(memory, task, 10)
    hit = memory.task_recall("quux", titles=True).hits[0]
    around = memory.task_around(hit.task_id, hit.seq, before=2, after=1)
    assert [event.seq for event in around.events] == [seq - 2, seq - 1, seq, seq + 1]
    assert around.cursor == seq - 2
    event = memory.task_event(hit.task_id, hit.seq)
    assert event.data["output"] == {"lines": ["one", "two"]}
    assert memory.task_around(task, 1).cursor is None
    assert [event.seq for event in memory.task_around(task, 1, before=100, after=0).events] == [1]


# --- what matters for a step ------------------------------------------------------------------------


def test_query_relevant_is_own_step_relevance_and_what_always_matters(memory):
    task = memory.task_register("T", [f"Step {number}" for number in range(1, 12)]).task_id
    own = memory.task_remember(task, "own", item="s1").seq
    named = memory.task_remember(task, "named", item="s3", relevance_to=["s1"]).seq
    memory.task_remember(task, "for ten", item="s3", relevance_to=["s10"])
    memory.task_remember(task, "of ten", item="s10")
    memory.task_remember(task, "tagged", tags=["s1"])
    memory.task_remember(task, "s1 is in the text")
    always = [
        memory.task_decide(task, choice="c", item="s10").seq,
        memory.task_remember(task, "e", type="error").seq,
        memory.acting_as(channel="user").task_remember(task, "i", type="user_instruction").seq,
    ]
    memory.task_update(task, "a message", step="s1")
    found = memory.query_relevant(task, "s1")
    assert [entry.seq for entry in found] == [named, own, *always[::-1]]
    assert found[0].relevance_to == ("s1",)
    memory.task_remember(task, invalidates=own)
    assert own not in [entry.seq for entry in memory.query_relevant(task, "s1")]


def test_query_relevant_gives_the_newest_twenty(memory, task):
    for number in range(30):
        memory.task_decide(task, choice=f"c{number}")
    assert [entry.summary for entry in memory.query_relevant(task, "s1")] == [
        f"c{n}" for n in range(29, 9, -1)
    ]
    assert len(memory.query_relevant(task, "s1", limit=25)) == 25


def test_the_newest_decisions_of_others_do_not_crowd_out_a_steps_own_entries(memory, task):
    own = memory.task_remember(task, "the key is in the safe", step="s2").seq
    for number in range(30):
        memory.task_decide(task, f"choice {number}", step="s1")
    found = memory.query_relevant(task, "s2")
    assert (found[0].seq, len(found), found[1].summary) == (own, 20, "choice 29")


def test_tags_are_found_whatever_their_case(memory, task):
    seq = memory.task_remember(task, "the registry is slow", tags=["Net", "Slow"]).seq
    for tags in ("net", ["NET"], ["net", "sLOW"]):
        assert [hit.seq for hit in memory.task_recall(tags=tags).hits] == [seq]
    assert memory.task_recall(tags=["nets"]).hits == ()


def test_neighbours_are_hits_only_on_request(memory, task):
    memory.task_update(task, "The zebra crossing is painted.")
    memory.task_update(task, "It looks fine.")
    assert [hit.why for hit in memory.task_recall("zebra").hits] == ["has zebra"]
    assert any(hit.why.startswith("near #") for hit in memory.task_recall("zebra", near=True).hits)


@pytest.mark.parametrize(
    ("asked", "recorded"),
    [
        ("kuberntes", "the kubernetes cluster is up"),
        ("regsitry", "pushed to the registry"),
        ("docker file", "edited the dockerfile"),
        ("rollback", "the roll back went well"),
        ("deploiment", "the deployment went well"),
    ],
)
def test_a_misspelt_word_or_a_compound_is_found_as_it_was_recorded(memory, task, asked, recorded):
    seq = memory.task_update(task, recorded).seq
    found = memory.task_recall(asked)
    assert found.hits[0].seq == seq
    assert found.query == asked
    assert "searched:" in found.warnings[0]


def test_a_word_that_is_like_nothing_finds_nothing(memory, task):
    memory.task_update(task, "pushed to the registry")
    for asked in ("elephant", "zz", "office"):
        assert "searched:" not in " ".join(memory.task_recall(asked).warnings)


def test_query_relevant_takes_the_active_step_unless_one_is_named(memory, task):
    with refused(memory, "invalid_argument"):
        memory.query_relevant(task)
    memory.task_update(task, step="s2", step_status="active")
    memory.task_remember(task, "for two", relevance_to=["s2"])
    assert [entry.summary for entry in memory.query_relevant(task)] == ["for two"]
    with refused(memory, "step_not_found"):
        memory.query_relevant(task, "s99")


# --- anchors ----------------------------------------------------------------------------------------


@pytest.fixture
def place(tmp_path):
    """A workspace with a file in it."""
    folder = tmp_path / "repo"
    folder.joinpath("src").mkdir(parents=True)
    folder.joinpath("src/app.py").write_text("print(1)\n")
    return folder


def state(memory, query="quux"):
    return [(anchor.path, anchor.state) for anchor in only(memory, query).anchors]


def test_anchors_are_fresh_until_the_file_changes_or_goes(memory, place):
    here = memory.acting_as(workspace=str(place))
    task = here.task_register("T").task_id
    here.task_remember(task, "quux is printed", anchors=["src/app.py", str(place / "src/app.py")])
    here.task_decide(task, choice="other", anchors=["src/app.py"])
    here.task_exclude(task, what="another", anchors=["src/app.py"])
    both = [("src/app.py", "fresh"), (str(place / "src/app.py"), "fresh")]
    assert state(here) == both
    assert here.task_recall("quux", titles=True).hits[0].anchors == ()
    assert only(here, "app.py", types="discovery").anchors[0].state == "fresh"
    place.joinpath("src/app.py").write_text("print(2)\n")
    assert [found for _, found in state(here)] == ["stale", "stale"]
    place.joinpath("src/app.py").unlink()
    assert [found for _, found in state(here)] == ["stale", "stale"]
    place.joinpath("src/app.py").write_text("print(1)\n")
    assert state(here) == both
    os.rename(place, f"{place}.moved")
    assert [found for _, found in state(here)] == ["unverifiable", "unverifiable"]


def test_unreadable_files_are_unverifiable(memory, place, tmp_path):
    here = memory.acting_as(workspace=str(place))
    task = here.task_register("T").task_id
    here.task_remember(task, "quux", anchors=["src/app.py"])
    file = place / "src/app.py"
    outside = tmp_path / "secret"
    outside.write_text("print(1)\n")
    file.unlink()
    file.symlink_to(outside)
    assert state(here) == [("src/app.py", "unverifiable")]
    file.unlink()
    os.mkfifo(file)
    assert state(here) == [("src/app.py", "unverifiable")]
    file.unlink()
    file.mkdir()
    assert state(here) == [("src/app.py", "unverifiable")]
    file.rmdir()
    with open(file, "wb") as sparse:
        sparse.truncate(1 << 34)
    assert state(here) == [("src/app.py", "unverifiable")]


def test_only_files_of_the_workspace_can_be_cited(memory, place, tmp_path):
    here = memory.acting_as(workspace=str(place))
    task = here.task_register("T").task_id
    tmp_path.joinpath("outside").write_text("x")
    place.joinpath("link").symlink_to(tmp_path / "outside")
    os.mkfifo(place / "pipe")
    with open(place / "huge", "wb") as sparse:
        sparse.truncate(1 << 34)
    for path in ("../outside", str(tmp_path / "outside"), "link", "pipe", "huge", "none", "src", "."):
        with refused(here, "invalid_argument"):
            here.task_remember(task, "quux", anchors=[path])
    with refused(memory, "invalid_argument"):  # /w is not here
        memory.task_remember(task, "quux", anchors=["src/app.py"])


# --- asking badly -----------------------------------------------------------------------------------

BAD = {
    "invalid_argument": [
        {"query": 5}, {"query": b"x"}, {"limit": 0}, {"limit": 101}, {"limit": "x"}, {"limit": True},
        {"limit": 1.5}, {"cursor": -1}, {"cursor": 10_001}, {"cursor": "x"}, {"types": ["message", 5]},
        {"types": 5}, {"types": {"a": 1}}, {"tags": 5}, {"tags": [None]}, {"at": 0}, {"at": 99},
        {"workspace": 5},
    ],
    "invalid_text": [{"workspace": "\ud800"}, {"tags": ["a\0b"]}],
    "invalid_time": [
        {"since": "tomorrow"}, {"until": "x"}, {"since": []}, {"at": "x"}, {"at": True}, {"at": []},
    ],
    "unknown_word": [{"types": "nothing"}, {"types": ["message", "claim.taken"]}],
}  # fmt: skip


def test_bad_arguments_are_refused(memory, task):
    for code, some in BAD.items():
        for arguments in some:
            with refused(memory, code):
                memory.task_recall(**{"query": "quux", "task_id": task, **arguments})


def test_missing_tasks_steps_and_events_are_refused(memory, task):
    with refused(memory, "task_not_found"):
        memory.task_recall("x", task_id="zzzzzzzz")
    with refused(memory, "step_not_found"):
        memory.task_recall("x", task_id=task, item="s9")
    for call in (memory.task_event, memory.task_around):
        with refused(memory, "record_not_found"):
            call(task, 99)
        for seq in (None, 0, "x", True):
            with refused(memory, "invalid_argument"):
                call(task, seq)
    with refused(memory, "invalid_argument"):
        memory.task_recall(workspace=None)


@sqlite_only
def test_the_index_holds_no_text(memory, store_url, task):
    memory.task_update(task, "quux")
    memory.store.index()
    assert rows(store_url, "SELECT body FROM words WHERE words MATCH 'quux'") == [{"body": None}]


def test_a_cited_event_is_given_in_full_before_other_hits(memory):
    task = memory.task_register("x").task_id
    long = "The log says: " + "word " * 900 + "END"
    seq = memory.task_remember(task, "See the log", type="discovery", detail=long).seq
    memory.task_update(task, f"Ticket #{seq} is about the same")
    for query in (f"#{seq}", f"#{seq}a"):
        first, *others = memory.task_recall(query).hits
        assert (first.seq, first.why) == (seq, f"event #{seq}")
        assert first.snippet.endswith("END")
        assert seq not in [hit.seq for hit in others]
    assert not [hit for hit in memory.task_recall("#99999").hits if hit.why.startswith("event")]
