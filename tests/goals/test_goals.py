"""Goals: criteria and their checks, promotion, progress, budgets, and the breaker for repeated blockers."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.support import refused


@pytest.fixture
def goal(memory, tmp_path):
    """A goal with a criterion of each kind that needs nobody's permission."""
    return memory.goal_create(
        "The shop is live",
        [
            "the owner is content",
            {"text": "it is built", "check": "file", "target": str(tmp_path / "app.whl")},
        ],
        description="Customers can buy.",
    ).task_id


def linked(memory, goal, name="Deploy", **more):
    return memory.task_register(name, related_goal=goal, **more).task_id


def status(memory, goal):
    (found,) = memory.goal_status(goal)
    return found


def test_a_goal_is_never_the_current_task_and_is_in_the_same_ledger(memory, task, goal):
    assert memory.task_get().id == task
    assert [card.id for card in memory.task_list(kind="goal").tasks] == [goal]
    assert goal not in [card.id for card in memory.task_list().tasks]
    assert memory.task_recall("customers").hits[0].task_id == goal
    assert memory.verify().ok
    assert [one.goal_id for one in memory.goal_status()] == [goal]


def test_progress_comes_from_the_tasks_and_the_criteria_each_with_its_evidence(memory, goal, tmp_path):
    done = linked(memory, goal, plan=["Build", "Push"])
    other = linked(memory, goal[:6], "Tell the users")  # the beginning of an id will do
    memory.task_update(done, "built", step=1, step_status="completed")
    memory.task_finish(done, "It runs.")
    (tmp_path / "app.whl").write_text("wheel")
    checked = memory.goal_check(goal)
    assert checked == status(memory, goal)
    assert (checked.met, checked.ready, len(checked.criteria)) == (1, False, 2)
    manual, built = checked.criteria
    assert (manual.status, manual.check, manual.evidence) == ("open", "manual", None)
    assert (built.status, built.evidence, built.by) == ("met", "it exists", "tool")
    assert memory.task_event(goal, built.evidence_seq).text == "it exists"
    assert (checked.tasks_done, checked.tasks_total, checked.steps_done, checked.steps_total) == (1, 2, 1, 2)
    assert {one.id for one in checked.tasks} == {done, other}
    before = memory.task_get(goal).seq
    memory.goal_check(goal)
    assert memory.task_get(goal).seq == before  # nothing new was seen
    (tmp_path / "app.whl").unlink()
    assert memory.goal_check(goal).criteria[1].status == "failed"
    memory.task_undo(goal)
    assert status(memory, goal).criteria[1].status == "met"
    assert memory.task_get(goal, at=1).kind == "goal"
    memory.task_link(other, target=goal, kind="goal", remove=True)
    assert status(memory, goal).tasks_total == 1


def test_a_goal_is_finished_by_its_criteria_or_with_a_reason(memory, goal, tmp_path):
    with refused(memory, "illegal_transition", naming="2 of 2 criteria"):
        memory.goal_finish(goal)
    with refused(memory, "illegal_transition"):
        memory.task_finish(goal, "done")
    with refused(memory, "illegal_transition"):
        memory.task_update(goal, status="done")
    (tmp_path / "app.whl").write_text("wheel")
    first, _ = memory.goal_check(goal, finish=True).criteria
    assert memory.task_get(goal).status == "active"
    person = memory.acting_as(channel="user")
    for word in ("met", "waived"):
        assert "only the user" in memory.goal_decide(goal, first.seq, word).warnings[0]
        assert status(memory, goal).criteria[0].status == "open"
    assert [one.operation for one in memory.task_proposals(goal)] == ["goal_decide"] * 2
    person.goal_decide(goal, first.seq, "met", reason="I have seen it")
    assert status(memory, goal).criteria[0].evidence == "I have seen it"
    assert memory.goal_check(goal, finish=True).status == "completed"
    with refused(memory, "illegal_transition"):
        memory.goal_check(goal)
    hopeless = memory.goal_create("Moon", ["a rocket"]).task_id
    person.goal_finish(hopeless, despite="the user has lost interest")
    event = memory.task_thread(hopeless).events[-1]
    assert (event.data["despite"], event.data["missing"]) == ("the user has lost interest", [2])


def test_commands_are_checked_only_where_the_operator_allows_them(memory, opened, store_url):
    words = [{"check": "command", "target": ["test", "-d", "/"]}, {"check": "command", "target": ["false"]}]
    goal = memory.goal_create("Up", words).task_id
    first, second = memory.goal_check(goal).criteria
    assert (first.status, second.status) == ("open", "open")
    assert "not allowed" in first.evidence
    allowed = opened(store_url, wait_commands="on")
    first, second = allowed.goal_check(goal).criteria
    assert (first.status, first.evidence) == ("met", "exit code 0")
    assert (second.status, second.evidence) == ("failed", "exit code 1")


class _Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/up" else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


def test_an_address_is_asked_by_the_rules_for_outgoing_requests(memory, opened, store_url):
    server = HTTPServer(("127.0.0.1", 0), _Shop)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        base = f"http://127.0.0.1:{server.server_port}"
        wanted = [{"check": "http_ok", "target": f"{base}/{path}"} for path in ("up", "down")]
        goal = memory.goal_create("Up", wanted).task_id
        up, _ = memory.goal_check(goal).criteria
        assert up.status == "open"  # an address of this machine, and nobody has allowed those
        up, down = opened(store_url, wait_private="on").goal_check(goal).criteria
        assert (up.status, up.evidence, down.status, down.evidence) == (
            "met", "status 200", "failed", "status 503",
        )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()


def test_a_check_that_was_brought_in_is_not_carried_out_until_a_person_says_so(
    memory, opened, new_store_url, tmp_path
):
    goal = memory.goal_create(
        "Up", [{"check": "command", "target": ["touch", str(tmp_path / "ran")]}]
    ).task_id
    memory.export_events(tmp_path / "out.jsonl")
    there = opened(new_store_url(), wait_commands="on")
    there.import_events(tmp_path / "out.jsonl")
    (one,) = there.goal_check(goal).criteria
    assert (one.status, (tmp_path / "ran").exists()) == ("open", False)
    assert "was imported" in one.evidence
    there.goal_decide(goal, one.seq, "open")  # an agent's word is not enough
    there.goal_check(goal)
    assert not (tmp_path / "ran").exists()
    there.acting_as(channel="user").goal_decide(goal, one.seq, "open", reason="I trust it")
    assert there.goal_check(goal).criteria[0].status == "met"
    assert (tmp_path / "ran").exists()


def test_a_task_is_promoted_with_what_it_is_for_and_stays(memory):
    task = memory.task_register(
        "Fix the shop", ["Look"], request="Make the shop work again!", goal="Orders arrive",
        acceptance=["no errors for a day", "the owner is content"],
    ).task_id  # fmt: skip
    goal = memory.goal_promote(task, criteria=["tests pass"], key="k").task_id
    assert memory.goal_promote(task, criteria=["tests pass"], key="k").task_id == goal
    with refused(memory, "key_reused"):
        memory.goal_promote(task, criteria=["other"], key="k")
    found = memory.task_get(goal)
    assert (found.kind, found.name, found.request) == ("goal", "Fix the shop", "Make the shop work again!")
    assert found.goal == "Orders arrive"
    assert [one.text for one in status(memory, goal).criteria] == [
        "no errors for a day", "the owner is content", "tests pass",
    ]  # fmt: skip
    promoted = next(event for event in memory.task_thread(goal).events if event.type == "goal.promoted")
    assert promoted.data["promoted_from"] == task
    stays = memory.task_get(task)
    assert (stays.status, [(link.kind, link.target) for link in stays.links]) == ("active", [("goal", goal)])
    with refused(memory, "illegal_transition"):
        memory.goal_promote(goal)


def test_the_packet_says_which_goal_a_task_is_for_and_how_that_stands(memory, goal):
    task = linked(memory, goal)
    text = memory.task_resume(task).text
    assert f'Related goal {goal} "The shop is live": active, 0 of 2 criteria met' in text
    plain = linked(memory, "Q3 targets", "Report")
    assert 'Related goal: "Q3 targets"' in memory.task_resume(plain).text
    own = memory.task_resume(goal).text
    assert f"Goal {goal}" in own
    assert "open: " in own
    rows = {row.label: row.related_goal for row in memory.active_tasks().active}
    assert goal in rows.values()


def test_the_same_blocker_again_and_again_stops_the_goal_until_it_is_reset(memory, goal):
    said = ["No route to host 10.0.0.1", "no route to host 10.0.0.2 (try 3)", "No route to host: 10.9.9.9"]
    tasks = [linked(memory, goal, f"Deploy {number}") for number in range(4)]
    memory.task_update(tasks[0], "hm", blockers=[said[0]])
    memory.task_update(tasks[0], "still", blockers=[said[0], "something else entirely"])  # not again
    memory.task_update(tasks[1], "hm", blockers=[said[1]])
    assert status(memory, goal).status == "active"
    memory.task_finish(tasks[2], error=said[2])  # what ends a task is a blocker, too
    stopped = status(memory, goal)
    assert (stopped.status, stopped.reason) == ("waiting", "blocked")
    assert "3 times" in stopped.blocked
    assert (stopped.repeated[0].text, stopped.repeated[0].times) == (said[2], 3)
    assert "stopped until it is reset" in memory.task_resume(tasks[3]).text
    (card,) = memory.task_list(kind="goal").tasks
    assert (card.reason, "3 times" in card.attention) == ("blocked", True)
    with refused(memory, "illegal_transition", naming="is stopped"):
        memory.task_update(goal, status="active")
    memory.goal_update(goal, reset="the network was mended")
    assert (status(memory, goal).status, status(memory, goal).repeated) == ("active", ())
    memory.task_update(tasks[3], "hm", blockers=[said[0]])
    assert status(memory, goal).status == "active"  # counted anew
    with refused(memory, "illegal_transition", naming="was not stopped"):
        memory.goal_update(goal, reset="once more")
    assert memory.verify().ok


@pytest.mark.parametrize(
    ("budget", "use"),
    [
        ({"attempts": 1}, lambda memory, goal, clock: memory.task_finish(linked(memory, goal), error="no")),
        ({"tokens": 100}, lambda memory, goal, clock: memory.goal_update(goal, spent={"tokens": 100})),
        ({"cost": 0.5}, lambda memory, goal, clock: memory.goal_update(goal, spent={"cost": 0.7})),
        ({"seconds": 60}, lambda memory, goal, clock: (clock.forward(61), memory.goal_check(goal))),
    ],
)
def test_a_goal_stops_when_its_budget_is_used_up(memory, clock, budget, use):
    goal = memory.goal_create("Live", ["ok"], budget=budget).task_id
    assert status(memory, goal).budget.exhausted == ()
    use(memory, goal, clock)
    stopped = status(memory, goal)
    assert (stopped.status, stopped.reason) == ("waiting", "budget")
    assert stopped.budget.exhausted == tuple(budget)
    assert next(iter(budget)) in stopped.blocked
    memory.goal_update(goal, reset="one more try")
    assert status(memory, goal).reason == "budget"  # nothing was added to it
    memory.goal_update(goal, reset="more money", budget=dict.fromkeys(budget, 10_000))
    assert status(memory, goal).status == "active"


def test_the_same_call_with_the_same_key_is_written_once(memory):
    goal = memory.goal_create("Live", ["a"], key="k").task_id
    calls = [
        lambda: memory.goal_create("Live", ["a"], key="k"),
        lambda: memory.goal_decide(goal, 2, "failed", reason="no", key="d"),
        lambda: memory.goal_update(goal, spent={"tokens": 5}, criteria=["b"], key="u"),
        lambda: memory.goal_finish(goal, despite="enough", key="f"),
    ]
    for call in calls:
        first, seq = call(), memory.task_get(goal).seq
        assert (call(), memory.task_get(goal).seq) == (first, seq)
    assert status(memory, goal).budget.used["tokens"] == 5
    with refused(memory, "key_reused"):
        memory.goal_create("Live", ["other"], key="k")
    with refused(memory, "key_reused"):
        memory.goal_update(goal, spent={"tokens": 6}, key="u")


BAD = [
    (["x"] * 201, "too_large"), ([""], "invalid_argument"), ([5], "invalid_argument"),
    (5, "invalid_argument"),
    ([{"check": "pr_merged", "target": "1"}], "invalid_argument"),
    ([{"check": "http", "target": "file:///etc/passwd"}], "invalid_argument"),
    ([{"check": "http", "target": "http://a:b@example.com/"}], "invalid_argument"),
    ([{"check": "command", "target": "rm -rf /"}], "invalid_argument"),
    ([{"check": "command", "target": []}], "invalid_argument"),
    ([{"check": "file"}], "invalid_argument"), ([{"check": "file", "target": "a\0b"}], "invalid_json"),
    ([{"text": "x", "sudo": True}], "invalid_argument"),
]  # fmt: skip


def test_invalid_criteria_are_refused_and_nothing_is_written(memory):
    for criteria, code in BAD:
        with refused(memory, code):
            memory.goal_create("x", criteria)


def test_invalid_budgets_are_refused(memory):
    for budget in [{"attempts": 0}, {"tokens": -1}, {"beers": 3}, {"cost": "much"}, {"tokens": 1.5}]:
        with refused(memory, "invalid_argument"):
            memory.goal_create("x", budget=budget)


def test_a_task_is_not_a_goal(memory, task, goal):
    for call in (
        lambda: memory.goal_status(task), lambda: memory.goal_check(task), lambda: memory.goal_finish(task),
        lambda: memory.goal_decide(task, 1, "met"), lambda: memory.goal_update(task, spent={"tokens": 1}),
    ):  # fmt: skip
        with refused(memory, "task_not_found"):
            call()
    with refused(memory, "record_not_found"):
        memory.goal_decide(goal, 99, "failed")
    with refused(memory, "unknown_word"):
        memory.goal_decide(goal, 2, "done")
    with refused(memory, "invalid_argument"):
        memory.goal_update(goal)
