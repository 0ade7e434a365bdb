"""The recovery drill: what comes back of a task after a compaction is measured against its record."""

from __future__ import annotations

import pytest

from ringbolt.hosts.drill import drill, run, total
from ringbolt.hosts.drill.kinds import statements
from ringbolt.hosts.drill.narrated_truth import read_truth
from ringbolt.hosts.drill.past import MOST_CUTS
from ringbolt.hosts.drill.row_match import RowText, has_exactly
from ringbolt.hosts.transcripts.importing import TranscriptClock, capture_transcripts
from ringbolt.llm import client
from ringbolt.model.errors import InvalidInput
from ringbolt.packet.resume import resume_packet
from ringbolt.surfaces.demo import REQUEST, fill
from tests.hosts.hosting import QuickHost
from tests.hosts.recordings import hook_reports, transcript
from tests.model_server import says, serving
from tests.support import newest, sqlite_only

S38 = [
    "request, each sentence",
    "phase and progress",
    "last 3 decisions, reasons",
    "variables",
    "exclusions",
    "unknown side effects",
    "step history",
]
# Rows for which the story has something.
MEASURED = [*S38, "current step", "next step", "files modified", "names used next"]
SUMMARY = "The user said: deploy coursefolio v1.2.3 to the production server, do not touch the database."


@pytest.fixture
def story(memory):
    """The deployment story up to a compaction, and how it went on."""
    task = fill(memory)
    agent = memory.acting_as(agent="deployer", session="monday")
    file = "/w/deploy/compose.yaml"
    edit = {"file_path": file, "new_string": "DB_HOST: db1"}
    agent.task_log_action(task, "Edit compose.yaml", type="edit", files=[file], input=edit)
    for title, choice, reasoning in [
        ("Port", "8443", "443 is taken by the old proxy"),
        ("Rollout", "blue-green", "users must not notice a restart"),
        ("Health check", "/healthz", "/ redirects to the login page"),
    ]:
        agent.task_decide(task, title=title, choice=choice, reasoning=reasoning)
    agent.task_set(task, "server", "app-17.internal")
    agent.task_exclude(
        task, what="docker compose v1", why="the server has only v2", symptom="command not found"
    )
    agent.task_snapshot(task, SUMMARY, label="after compaction", summarized=True)
    agent.task_log_action(task, "ssh app-17.internal", type="cli", input={"command": "cat compose.yaml"})
    agent.task_update(task, "The container runs", step="run", step_status="completed")
    agent.task_decide(task, title="Later", choice="prune old images", reasoning="the disk is nearly full")
    return task


def by_name(report):
    return {row.name: row for row in report.rows}


def scores(report):
    return [row.replace(lost=(), kept=()) for row in report.rows]


def test_with_structured_writes_every_row_comes_back_whole(memory, story):
    before = newest(memory)
    report = drill(memory, story)
    assert newest(memory) == before
    assert report.ok
    assert report.because == "compaction"
    rows = by_name(report)
    assert [row.name for row in report.rows if row.count] == MEASURED
    for row in report.rows:
        assert row.usual == row.asked == row.count, row
    assert all(rows[name].small == rows[name].count for name in S38)
    assert [rows[name].wanted for name in S38] == [100, 100, 100, 95, 90, 100, 70]
    assert (rows["variables"].count, rows["exclusions"].count, rows["step history"].count) == (2, 2, 3)
    # The host kept the request and forgot the rest.
    assert (rows["request, each sentence"].host, rows["request, each sentence"].host_count) == (2, 2)
    assert (rows["last 3 decisions, reasons"].host, rows["last 3 decisions, reasons"].host_count) == (0, 3)


def test_nothing_that_happened_after_the_cut_helps(memory, story):
    given = []

    def build(task, budget):
        given.append(task)
        return resume_packet(task, budget).text

    report = drill(memory, story, build=build)
    (state, _) = given
    assert state.seq < report.last
    assert state.current_title == "Pull the image and run the container"
    assert "Later" not in {entry.data.get("title") for entry in state.decisions}
    assert "compose.yaml" in {name.name for name in state.names}
    early = drill(memory, story, at=2)
    assert (early.cut, early.because) == (2, "asked")
    assert by_name(early)["last 3 decisions, reasons"].count == 0
    assert by_name(early)["request, each sentence"].host_count == 0


def test_a_packet_without_the_decisions_is_caught(memory, story):
    report = drill(
        memory, story, build=lambda task, budget: resume_packet(task.replace(decisions=()), budget).text
    )
    row = by_name(report)["last 3 decisions, reasons"]
    assert not report.ok
    assert (row.usual, row.count) == (0, 3)
    assert by_name(report)["request, each sentence"].usual == 2
    silent = drill(memory, story, build=lambda task, budget: "")
    assert [row.usual for row in silent.rows] == [0] * len(silent.rows)


def test_each_compaction_is_drilled_and_the_scores_are_kept_without_being_work(memory, story, clock):
    agent = memory.acting_as(agent="deployer", session="monday")
    agent.task_snapshot(story, "[STATE] …", label="before compaction")
    agent.task_snapshot(story, SUMMARY, label="after compaction", summarized=True)
    clock.forward(3600)
    before, seen = memory.task_get(story), memory.task_resume(story).text
    first, second = run(memory, story)
    assert [one.because for one in (first, second)] == ["compaction"] * 2
    assert (second.cut, second.last) == (before.seq - 1, before.seq)
    assert by_name(second)["request, each sentence"].host_count == 2
    kept = memory.drill_results(story)
    assert [(one.cut, scores(one), one.ok) for one in kept.results] == [
        (one.cut, scores(one), one.ok) for one in (second, first)
    ]
    # They are not work: nothing looks newer, and what a fresh context gets is the same.
    after = memory.task_get(story)
    assert (after.seq, after.updated_at) == (before.seq + 2, before.updated_at)
    assert memory.task_resume(story).text.split("\n", 1)[1] == seen.split("\n", 1)[1]
    assert (
        memory.task_recall("drill scored compaction rows").hits
        == memory.task_recall("drill scored compaction rows", at=before.seq).hits
    )
    assert run(memory, story) == (first, second)
    assert memory.task_get(story).seq == after.seq
    assert memory.verify().ok


def test_a_score_that_changed_is_another_result_and_workspaces_are_kept_apart(memory, story, clock):
    (found,) = run(memory, story)
    clock.forward(60)
    worse = found.replace(rows=tuple(row.replace(usual=0) for row in found.rows), ok=False)
    assert memory._keep_drill(worse)
    assert not memory._keep_drill(worse)
    results = memory.drill_results(story).results
    assert [one.ok for one in results] == [False, True]
    assert results[0].at > results[1].at
    assert memory.drill_results(workspace=None).results == results
    assert memory.acting_as(workspace="/elsewhere").drill_results().results == ()
    limited = memory.drill_results(story, limit=1)
    assert (len(limited.results), limited.left_out) == (1, 1)


@sqlite_only
def test_of_many_compactions_the_last_are_drilled(memory):
    task = memory.task_register("Long").task_id
    for number in range(MOST_CUTS + 2):
        memory.task_update(task, f"part {number}")
        memory.task_snapshot(task, "…", label="after compaction", summarized=True)
    assert [one.cut for one in run(memory, task)] == [2 * number + 2 for number in range(2, MOST_CUTS + 2)]


@sqlite_only
def test_without_a_compaction_the_cut_is_after_60_percent(memory):
    task = fill(memory)
    report = drill(memory, task)
    assert (report.cut, report.because) == (report.last * 60 // 100, "60 %")
    assert report.ok


@sqlite_only
def test_many_drills_add_up(memory, story):
    one = drill(memory, story)
    both = total([one, drill(memory, memory.task_register("Empty").task_id)])
    assert by_name(both)["request, each sentence"].count == 3
    assert by_name(both)["variables"].usual == by_name(one)["variables"].usual
    assert both.ok


def test_a_truth_is_judged_by_its_words_and_a_name_letter_by_letter():
    assert RowText(f"… {REQUEST.upper()} …").holds(REQUEST)
    assert not RowText("Deploy something to production").holds(REQUEST)
    assert RowText("x a b y").holds("a b")  # nothing but small words: as it is
    assert not RowText("b a").holds("a b")
    assert has_exactly("login.py", "in src/login.py:")
    assert not has_exactly("login.py", "login.pyc")


def test_words_count_only_where_they_stand_together():
    truth = "Batches of 2000 rows, because replicas lagged"
    assert RowText(f"one\n{truth}\ntwo").holds(truth)
    assert RowText("Batches of 2000 rows,\nbecause replicas lagged").holds(truth)
    assert not RowText("Batches of 2000 rows\n\nsomething else\nthe replicas lagged behind").holds(truth)
    words = " ".join(f"filler{number}" for number in range(60))
    assert not RowText(f"batches 2000 rows {words} because replicas lagged").holds(truth)
    assert RowText("port = 8443").names("port", "8443")
    assert not RowText("port\nsomething\n8443").names("port", "8443")


def test_a_request_is_scored_sentence_by_sentence():
    text = (
        "Ship the fix. Leave the ledger alone.\n\nRules:\n- staging first\n- never at night; ask Marta\n\nOK"
    )
    assert statements(text) == [
        "Ship the fix.",
        "Leave the ledger alone.",
        "staging first",
        "never at night; ask Marta",
    ]
    assert statements("OK") == ["OK"]


def test_anything_missed_fails_the_drill_and_is_named(memory, story):
    """Each row that must come back can fail, whatever its required share is."""
    agent = memory.acting_as(agent="deployer", session="monday")
    for row, changes in (
        ("variables", {"values": (), "variables": {}}),
        ("exclusions", {"exclusions": ()}),
        ("step history", {"steps": ()}),
        ("request, each sentence", {"request": None, "goal": None, "requests": ()}),
    ):

        def build(task, budget, changes=changes):
            return resume_packet(task.replace(**changes), budget).text

        report = drill(agent, story, build=build)
        assert not report.ok, row
        assert row in report.missed
        lost = [loss for loss in by_name(report)[row].lost if not loss.usual]
        assert len(lost) == by_name(report)[row].count - by_name(report)[row].usual > 0
        assert all(loss.text for loss in lost)


def test_one_sentence_cut_from_the_packet_fails_the_drill(memory, story):
    def build(task, budget):
        return resume_packet(task, budget).text.replace("Do not touch the database", "…")

    report = drill(memory, story, build=build)
    assert report.missed == ("request, each sentence",)
    row = by_name(report)["request, each sentence"]
    assert (row.count, row.usual) == (2, 1)
    (lost,) = [loss for loss in row.lost if not loss.usual]
    assert "database" in lost.text
    assert lost.host is True  # the host's summary has it
    assert lost.seq == 1


def test_what_the_hosts_summary_lost_is_named_too(memory, story):
    row = by_name(drill(memory, story))["last 3 decisions, reasons"]
    assert [(loss.usual, loss.host) for loss in row.lost] == [(True, False)] * 3
    assert {"8443", "blue-green", "/healthz"} == {loss.text.split(":")[0] for loss in row.lost}


def test_what_was_said_is_scored_against_a_persons_truth(memory, story, tmp_path):
    assert all(row.count == 0 for row in drill(memory, story).rows if row.name.startswith("said:"))
    file = tmp_path / "said.txt"
    file.write_text(
        "# by hand\n\ndecision: blue-green, users must not notice a restart\n"
        "decision: Kubernetes was ruled out by the customer in May\nBlocker: Olga is on holiday\n"
    )
    (report,) = run(memory, story, truth=str(file))
    rows = by_name(report)
    assert (rows["said: decision"].usual, rows["said: decision"].count) == (1, 2)
    assert [loss.text for loss in rows["said: decision"].lost if not loss.usual] == [
        "Kubernetes was ruled out by the customer in May"
    ]
    assert report.missed == ("said: decision", "said: blocker")
    assert report.truth == "a file"
    # Stored without texts, and without what no event has.
    (kept,) = memory.drill_results(story).results
    assert (kept.ok, kept.missed, kept.truth) == (False, report.missed, "a file")
    assert all(loss.text is None and loss.seq for row in kept.rows for loss in row.lost)
    for line in ("decisions: plural", "decision:", "no colon"):
        file.write_text(f"decision: one\n{line}\n")
        with pytest.raises(InvalidInput, match="Line 2"):
            read_truth(str(file))
    with pytest.raises(InvalidInput):
        read_truth(str(tmp_path / "nowhere"))


def test_a_model_is_asked_only_where_one_is_set(memory, story):
    with pytest.raises(InvalidInput, match="No model is set"):
        run(memory, story, model=True)


def test_a_models_truth_must_quote_what_was_said(opened, store_url, monkeypatch):
    monkeypatch.setattr(client, "_servers", {})
    entries = [
        {"type": kind, "summary": summary, "quote": quote, "cites": [seq]}
        for kind, summary, quote, seq in (
            ("decision", "We stay with Redis because it is already there", "We stay with Redis", 2),
            ("exclusion", "Memcached was dropped after the load test", "Memcached was dropped", 2),
            ("discovery", "The cache holds sessions for 20 minutes", "The cache holds sessions", 3),
        )
    ]
    plain = opened(store_url)
    task = plain.task_register("Cache", request="Choose a cache for sessions.").task_id
    plain.task_update(task, "Fine. We stay with Redis, because it is already there.")
    plain.task_update(task, "The cache holds sessions for 20 minutes, by the way.")
    with serving(says({"summary": "", "entries": entries})) as server:
        memory = opened(store_url, model_local_url=server.url, model_local_name="small")
        (report,) = run(memory, task, at=3, model=True)
    rows = by_name(report)
    assert (rows["said: decision"].count, rows["said: fact"].count) == (1, 1)
    assert rows["said: dead end"].count == 0  # nobody said it
    assert report.truth == "a model"
    with serving(says({"summary": "", "entries": []})) as server:
        memory = opened(store_url, model_local_url=server.url, model_local_name="small")
        with pytest.raises(InvalidInput, match="quoted nothing"):
            run(memory, task, at=3, model=True)


@pytest.mark.parametrize("host", ["claude-code", "codex"])
def test_the_summary_of_a_recorded_host_is_found_and_scored(tmp_path, monkeypatch, host):
    """Claude Code reports its summary after our packet was made; Codex has it only in its transcript."""
    reports = hook_reports(host)
    session = reports[0].told["session_id"]
    place = QuickHost(tmp_path, monkeypatch, session=session, name=host)
    for report in reports:
        path = tmp_path / "transcript.jsonl"
        path.write_bytes(transcript(host).read_bytes()[: report.transcript_bytes])
        told = {**report.told, "cwd": str(place.work)}
        told["transcript_path"] = str(path)
        place.tell(report.event, **{name: value for name, value in told.items() if name != "hook_event_name"})
    with place.memory() as memory:
        found = run(memory, keep=False)
    assert [one.because for one in found] == ["compaction"]
    row = by_name(found[0])["request, each sentence"]
    assert row.count == row.host_count == 3
    assert row.host < 3
    assert all(loss.host is False for loss in row.lost)


def test_the_summary_of_an_imported_session_is_found_and_scored(tmp_path, memory):
    clock = TranscriptClock()
    with type(memory).open(tmp_path / "i.db", workspace=None, clock=clock) as own:
        (task,) = capture_transcripts(own, clock, [str(transcript("claude-code"))]).tasks
        (found,) = run(own, task, keep=False)
    assert by_name(found)["request, each sentence"].host_count == 3
