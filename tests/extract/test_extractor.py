"""The rule-based extractor: what each rule finds, and above all what it must leave alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.extract.extractor import Extractor
from ringbolt.extract.known_entries import LATEST
from ringbolt.extract.message_reader import SURE, read_message
from ringbolt.extract.values import is_secret
from ringbolt.model.rules import ENTRY_TYPES
from ringbolt.model.types import Event, Origin
from ringbolt.signals.calls.commands import commits
from ringbolt.signals.calls.failures import error_line, fingerprint


def extract(events):
    """Everything found in some events, each thing once, including what is open at the end."""
    extractor = Extractor()
    found = {}
    for event in events:
        for one in extractor.observe(event):
            place = (one.type, one.key)
            if place in found and one.type not in LATEST:
                one = found[place]
            elif place in found:
                del found[place]  # the latest comes where it was said
            found[place] = one
    for one in extractor.open():
        found.setdefault((one.type, one.key), one)
    return list(found.values())


class Session:
    """Events as the ledger has them, numbered from 1."""

    def __init__(self):
        self.events = []

    def add(self, type, text=None, data=None, channel="agent", agent="", status=None, ref=None):
        seq = len(self.events) + 1
        name, target = ("+records", seq) if ref is None else ("records", ref)
        sets = {name: {str(target): {"status": status}}} if status else {}
        origin = Origin(channel=channel, agent=agent)
        self.events.append(
            Event(
                task_id="t",
                seq=seq,
                type=type,
                at="",
                origin=origin,
                text=text,
                data=data or {},
                sets=sets,
                ref=ref,
            )
        )
        return seq

    def says(self, text, **more):
        return self.add("message", text, **more)

    def user(self, text):
        return self.add("message", text, channel="user")

    def runs(self, command, output="", ok=True, tool="Bash", **more):
        data = {"tool": tool, "input": {"command": command}, "output": output}
        return self.add("action", command, data, status="completed" if ok else "failed", **more)

    def uses(self, tool, given, output="", ok=True, **more):
        data = {"tool": tool, "input": given, "output": output}
        return self.add("action", tool, data, status="completed" if ok else "failed", **more)

    def found(self, *types):
        return [one for one in extract(self.events) if not types or one.type in types]


@pytest.fixture
def session():
    return Session()


# --- decisions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "choice", "reason"),
    [
        (
            "I'll use Postgres instead of MySQL because the team knows it.",
            "use Postgres instead of MySQL",
            "the team knows it",
        ),
        (
            "I decided to keep the old parser since rewriting it is risky.",
            "keep the old parser",
            "rewriting it is risky",
        ),
        (
            "We chose Redis over Memcached because it persists.",
            "chose Redis over Memcached",
            "it persists",
        ),
        ("Decision: ship without the importer.", "ship without the importer", ""),
        ("**Decision:** one queue per tenant — fairness", "one queue per tenant", "fairness"),
        ("## Decisions Made\n- **Flat files** — no server to run", "Flat files", "no server to run"),
        (
            "## Key decisions\n- Retries capped at five: more would hide outages",
            "Retries capped at five",
            "more would",
        ),
        ("### Decisions\n1. **Hourly rotation**: small files", "Hourly rotation", "small files"),
        (
            "key-decisions:\n  - Cursor paging, not offsets, because rows move",
            "Cursor paging, not offsets",
            "rows move",
        ),
        (
            "Decisions:\n- [api] Use gRPC because streaming is needed",
            "Use gRPC",
            "streaming is needed",
        ),
        (
            "| Decision | Rationale |\n|---|---|\n| Monorepo | one review for a change |",
            "Monorepo",
            "one review for a change",
        ),
        (
            "## Design decisions\n### Keep sessions in memory\nThey are small.",
            "Keep sessions in memory",
            "They are small.",
        ),
        ("Chose tar over zip: it keeps modes.", "Chose tar over zip", "it keeps modes"),
        ("Using pnpm instead of npm since CI has it.", "Using pnpm instead of npm", "CI has it"),
        (
            "Since rows move, I'll page by cursor instead of offset.",
            "page by cursor instead of offset",
            "rows move",
        ),
        ("## Decisions\n**Event log**: a full audit trail.", "Event log", "a full audit trail."),
        ("Decision: use UTC everywhere\nReason: two offices", "use UTC everywhere", "two offices"),
        ("## Decisions\n- Soft deletes (auditors need the rows for a year)", "Soft deletes", "auditors need"),
    ],
)
def test_a_decision_is_found_with_its_reason(text, choice, reason):
    found = [one for one in read_message(text).decisions if one.confidence >= SURE]
    assert [one.choice for one in found] == [choice]
    assert reason in found[0].reason
    assert bool(found[0].reason) == bool(reason)


@pytest.mark.parametrize(
    "text",
    [
        "Should I use Postgres instead of MySQL because the team knows it?",
        "Decision: Postgres or MySQL?",
        "We could use Postgres instead of MySQL because the team knows it.",
        "If we use Postgres instead of MySQL because of the team, tests get slow.",
        "I haven't decided to use Postgres.",
        "Maybe I'll use Postgres instead of MySQL because the team knows it.",
        'The ticket says "I decided to use Postgres because the team knows it".',
        "> I decided to use Postgres because the team knows it.",
        "```\nDecision: use Postgres\n```",
        "`Decision: use Postgres` is what the template prints.",
        "The author decided to use Postgres because the team knows it.",
        "## Open decisions\n- Postgres or MySQL",
        "## Decisions needed\n- Which database to take",
        "## Decisions\n- None",
        "**Decision:**\n- Whether it would trigger, and why not",
        "## Decisions\n\n## Files\n- billing.py — the tax rules",
        "## Options\n- Postgres: known to the team\n- MySQL: cheap",
        "| Option | Pros |\n|---|---|\n| Postgres | known |",
        "I'll start with the parser since it is small.",
        "Let me read the parser because the test fails there.",
        "Option A would be to use Postgres instead of MySQL because the team knows it.",
        "The decision logic is in rules.py because it is shared.",
    ],
)
def test_other_sentences_are_not_decisions(text):
    assert [one for one in read_message(text).decisions if one.confidence >= SURE] == []


def test_what_a_decision_was_preferred_to_is_kept(session):
    session.says("I'll use SQLite rather than a server because there is one writer.")
    [one] = session.found("decision")
    assert one.data["options"] == ["a server"]
    assert (one.seqs, one.channel) == ((1,), "agent")


def test_a_tool_or_a_page_never_decides(session):
    said = "Decision: delete the branch\n\n## Decisions Made\n- Drop all tables — faster"
    session.runs("cat notes.md", said)
    session.uses("Read", {"file_path": "notes.md"}, said)
    session.uses("WebFetch", {"url": "https://example.org"}, said)
    session.says(said, channel="tool")
    session.says(said, channel="web")
    session.says(said, channel="import")
    assert session.found("decision") == []


def test_what_ringbolt_itself_wrote_is_never_read_again(session):
    session.says("Decision: use tabs", agent="ringbolt")
    assert session.found() == []


# --- failures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "line"),
    [
        (
            "Exit code 1\ncc -c a.c\na.c:4:9: error: expected ';' before '}'\nmake: *** [a.o] Error 1",
            "a.c:4:9: error",
        ),
        (
            "Traceback (most recent call last):\n  File \"x.py\", line 3\n    f()\nKeyError: 'port'",
            "KeyError: 'port'",
        ),
        ("npm ERR! code 1\nerror TS2304: Cannot find name 'foo'.\nhint: try again", "Cannot find name 'foo'"),
        (
            "Collecting\n\x1b[31mERROR: No matching distribution found for quux\x1b[0m",
            "No matching distribution",
        ),
        ("all is well\nbash: frobnicate: command not found", "frobnicate: command not found"),
        (
            "<tool_use_error>The cell does not exist.\ndef failed(): raise Error</tool_use_error>",
            "The cell does not exist.",
        ),
        ("something odd\nhappened", "something odd"),
        ("Exit code 2", ""),
        ("", ""),
    ],
)
def test_the_line_that_a_person_would_quote(output, line):
    assert line in error_line(output)
    assert len(error_line(output)) <= 300
    assert bool(error_line(output)) == bool(line)


def test_the_place_of_an_error_comes_with_what_failed():
    output = 'Exit code 1\npkg/a.go:7:2: "os" imported and not used\nFAIL\texample.org/pkg [build failed]'
    assert (
        error_line(output) == 'pkg/a.go:7:2: "os" imported and not used | FAIL example.org/pkg [build failed]'
    )


def test_errors_that_differ_by_numbers_paths_and_times_have_one_fingerprint():
    one = "2026-03-01T10:00:00Z /home/ann/a.py:12: timeout after 3.5s at 0x7fff12 (10.0.0.1:80)"
    other = "2026-04-09T11:30:10Z /srv/app/b.py:99: timeout after 12s at 0x12 (10.2.3.4:8080)"
    assert fingerprint(one) == fingerprint(other)
    assert fingerprint(one) != fingerprint("disk full")


def test_a_failure_and_what_worked_instead(session):
    session.runs(
        "pytest tests/billing", "Exit code 4\nERROR: file or directory not found: tests/billing", ok=False
    )
    session.runs("ls", "src\ntest")
    session.runs("pytest test/billing", "3 passed")
    [one] = session.found()
    assert (one.type, one.seqs, one.channel) == ("exclusion", (1, 3), "tool")
    assert one.data["what"] == "pytest tests/billing"
    assert "not found: tests/billing" in one.data["why"]
    assert one.data["worked"] == "pytest test/billing"


def test_the_same_attempt_that_works_later_was_an_error_that_an_edit_fixed(session):
    session.runs("make test", "billing.py:7:1: undefined name 'tax'", ok=False)
    session.uses("Edit", {"file_path": "/app/billing.py", "new_string": "tax = 1"})
    session.runs("make test", "ok")
    [one] = session.found("error", "exclusion")
    assert (one.type, one.data["fixed_by"], one.data["resolved"]) == ("error", "edited billing.py", True)


def test_a_failure_stays_open_until_something_works(session):
    session.runs("terraform apply", "Error: quota exceeded in eu-west-1", ok=False)
    [one] = session.found()
    assert (one.type, "resolved" in one.data) == ("error", False)


def test_an_unrelated_success_settles_nothing(session):
    session.runs("terraform apply", "Error: quota exceeded in eu-west-1", ok=False)
    for number in range(12):
        session.runs(f"wc -l file{number}", "3")
    [one] = session.found()
    assert (one.type, "worked" in one.data) == ("error", False)


def test_the_same_failure_again_and_again_is_one(session):
    for _ in range(5):
        session.runs("curl http://db:5432", "curl: (7) Failed to connect: connection refused", ok=False)
    [one] = session.found()
    assert one.seqs == (1, 5)


@pytest.mark.parametrize(
    "output", [{"exit_code": 2, "stderr": "ld: symbol not found"}, "Exit code 2\nld: symbol not found"]
)
def test_an_exit_code_tells_a_failure(session, output):
    session.add(
        "action", "link", {"tool": "Bash", "input": {"command": "make"}, "output": output}, status="completed"
    )
    assert [one.data["symptom"] for one in session.found("error")] == ["ld: symbol not found"]


def test_a_failure_behind_a_pipe_is_seen_but_a_text_about_errors_is_not(session):
    session.runs("go test ./... | tail -5", "--- FAIL: TestTax (0.1s)\nFAIL")
    session.runs("cat build.log", "--- FAIL: TestTax (0.1s)\nFAIL")
    session.uses("Read", {"file_path": "errors.md"}, "error: this is what users see")
    assert [one.seqs for one in session.found("error", "exclusion")] == [(1,)]


def test_an_action_that_is_ended_later_is_read_when_it_ends(session):
    begun = session.add("action", "x", {"tool": "Bash", "input": {"command": "make"}}, status="started")
    session.add(
        "action.ended", None, {"error": "make: *** no rule to make target 'x'"}, status="failed", ref=begun
    )
    [one] = session.found()
    assert (one.data["what"], one.seqs) == ("make", (2,))


REJECTED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def test_a_rejection_has_the_words_of_the_user_but_the_trust_of_a_tool(session):
    words = f"{REJECTED} To tell you how to proceed, the user said:\nnot on a Friday"
    session.runs("kubectl apply -f prod.yaml", words, ok=False)
    [one] = session.found()
    assert (one.type, one.data["why"], one.channel) == ("exclusion", "not on a Friday", "tool")
    assert one.data["what"] == "kubectl apply -f prod.yaml"


def test_the_reason_of_a_rejection_may_follow(session):
    session.runs("git push", f"{REJECTED} STOP what you are doing.", ok=False)
    session.user("[Request interrupted by user for tool use]")
    session.user("wait for the review")
    [one] = session.found()
    assert (one.data["why"], one.seqs) == ("wait for the review", (1, 3))


def test_a_command_that_was_rejected_commits_nothing(session):
    session.runs('git commit -m "Add tax"', REJECTED, ok=False)
    assert session.found("artifact") == []


# --- artifacts --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "output", "made"),
    [
        ('git commit -m "Add tax rules"', "", [(None, "Add tax rules")]),
        ("git commit -am 'Fix rounding'", "", [(None, "Fix rounding")]),
        ("git -C app commit --message='Move files'", "", [(None, "Move files")]),
        (
            "git commit -m \"$(cat <<'EOF'\nSplit the parser\n\nLong text.\nEOF\n)\"",
            "",
            [(None, "Split the parser")],
        ),
        ("git commit -F - <<EOF\nRename the table\nEOF", "", [(None, "Rename the table")]),
        (
            "git commit --amend --no-edit",
            "[main 1a2b3c4] Add tax rules\n 1 file changed",
            [("1a2b3c4", "Add tax rules")],
        ),
        ('git commit -m "x y"', "[topic (root-commit) 1a2b3c4d] x y", [("1a2b3c4d", "x y")]),
        ('git add . && git commit -m "One" && git commit -m "Two"', "", [(None, "One"), (None, "Two")]),
        ('git commit -m "Add tax"', "nothing to commit, working tree clean", []),
        ("git log --oneline", "[main 1a2b3c4] Add tax rules", []),
        ('echo "how to git commit" && ls -m "files"', "", []),
        ("git commit", "", []),
        ('git commit -m "$MESSAGE"', "", []),
    ],
)
def test_commits_are_read_from_commands_and_outputs(command, output, made):
    assert commits(command, output) == made


def test_pull_requests_tickets_documents_and_addresses(session):
    session.runs('gh pr create --title "Tax rules" --body x', "https://github.com/acme/app/pull/7")
    session.uses("mcp__tracker__create_issue", {"title": "Rounding"}, '{"identifier": "TAX-12"}')
    session.uses("Write", {"file_path": "/app/docs/report.md", "content": "# Report"})
    session.uses("Write", {"file_path": "/tmp/notes.md", "content": "x"})
    session.says("It is deployed to https://tax.example.org.")
    session.says("It runs; available at http://localhost:8000 for now.")
    assert [(one.data["kind"], one.data["name"]) for one in session.found("artifact")] == [
        ("pull request", "Tax rules"),
        ("ticket", "TAX-12 Rounding"),
        ("document", "/app/docs/report.md"),
        ("address", "https://tax.example.org"),
    ]


def test_a_commit_before_a_failure_counts(session):
    session.runs(
        'git commit -m "Add tax" && git push', "[main 1a2b3c4] Add tax\nerror: failed to push", ok=False
    )
    assert [one.data["commit"] for one in session.found("artifact")] == ["1a2b3c4"]


# --- values -----------------------------------------------------------------------------------------


def values(session):
    return {one.key: one.data["value"] for one in session.found("variable")}


def test_values_are_taken_from_lines_that_state_them(session):
    session.says("# Phase 3 Plan 2: Ledger import\n\n- **Status:** Executing\n- Version: 1.4.2\n- Port: 8081")
    session.says("I bumped `libfoo` from 1.2.0 to 1.3.1, and `FEATURE_TAX=on`:\n\nFEATURE_TAX=on")
    session.runs("git checkout -b fix/tax", "Switched to a new branch 'fix/tax'")
    session.runs("./deploy", '{"run_id": "r-17", "token": "abc", "note": "x"}')
    assert values(session) == {
        "phase": "3",
        "plan": "2",
        "status": "Executing",
        "version": "1.4.2",
        "port": "8081",
        "libfoo version": "1.3.1",
        "FEATURE_TAX": "on",
        "branch": "fix/tax",
        "run id": "r-17",
    }


def test_the_latest_value_stands_also_when_an_old_one_returns(session):
    for value in ("Executing", "Blocked", "Executing"):
        session.says(f"Status: {value}")
    assert values(session) == {"status": "Executing"}
    assert session.found("variable")[0].seqs == (3,)


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=abcdef0123456789",
        "DB_PASSWORD=hunter2",
        "url: https://ann:hunter2@db.example.org/app",
        "SERVICE_ID=ghp_0123456789abcdefghijABCDEFGHIJ",
        "GITHUB_TOKEN=x",
        "Status: what should it be?",
        f"The status: as long as nobody looks, it is fine{' and fine' * 20}.",
        "## Phases\n### Phase 1: Import\n### Phase 2: Export",
        "Version: unknown",
        "> Version: 1.2.3",
        "```\nversion: 1.2.3\n```",
    ],
)
def test_secrets_questions_and_prose_are_not_values(session, text):
    session.says(text)
    assert values(session) == {}


def test_a_file_that_is_read_sets_no_state(session):
    session.says("Phase 4 begins.\n\nStatus: Executing")
    session.uses("Read", {"file_path": "old.md"}, "# Phase 1 Plan 1\n\nStatus: Planned\nVersion: 0.1.0")
    assert values(session)["status"] == "Executing"
    assert "version" not in values(session)


def test_secrets_in_commands_are_redacted(session):
    session.runs(
        "curl -H 'Authorization: Bearer tq8Zk1vR5mWx2LhPz9Ny' https://x.example.org",
        "HTTP 500 error",
        ok=False,
    )
    assert "tq8Zk1vR5mWx2LhPz9Ny" not in json.dumps([one.to_dict() for one in session.found()])
    assert is_secret("token", "x")


# --- statements -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The root cause is a stale lock file.", ["The root cause is a stale lock file."]),
        ("Found the issue! The cache key lacks the tenant.", ["The cache key lacks the tenant."]),
        ("It turns out that the clock is local.", ["It turns out that the clock is local."]),
        ("## Root cause\nTwo workers share a lease.", ["Two workers share a lease."]),
        ("The problem was a missing index on orders.", ["The problem was a missing index on orders."]),
        ("The problem might be a missing index.", []),
        ("What is the root cause? Is the problem is here?", []),
        ("I see the issue. Let me check the cache.", []),
        ("```\nThe root cause is x\n```", []),
    ],
)
def test_discoveries(text, found):
    assert [one.text for one in read_message(text).discoveries if one.confidence >= SURE] == found


@pytest.mark.parametrize(
    ("text", "blockers"),
    [
        ("I'm blocked: the staging key has expired.", ["I'm blocked: the staging key has expired."]),
        ("Waiting for your approval of the schema.", ["Waiting for your approval of the schema."]),
        ("## Blockers\n- No access to the vault\n- None", ["No access to the vault"]),
        ("I cannot proceed without the dump.", ["I cannot proceed without the dump."]),
        ("This is no longer blocked.", []),
        ("A thread that is blocked on a lock would be caught.", []),
        ("Are we blocked by the vault?", []),
    ],
)
def test_blockers(text, blockers):
    assert [one.text for one in read_message(text).blockers if one.confidence >= SURE] == blockers


def test_next_steps_are_a_list_or_an_announcement(session):
    session.says(
        "Done with the model.\n\n## Next steps\n- [x] Write the model\n- Wire the route\n- Write tests"
    )
    session.says("Next, I'll write the migration.")
    [one] = session.found("context")
    assert (one.key, one.data["items"]) == ("next_steps", ["write the migration."])
    assert read_message(session.events[0].text).steps == ["Wire the route", "Write tests"]


def test_a_question_is_open_until_the_user_answers_or_the_work_goes_on(session):
    session.says("Both fit. Which region holds the data?")
    assert [one.summary for one in session.found("question")] == ["Which region holds the data?"]
    session.user("Frankfurt")
    assert session.found("question") == []
    session.says("Which port is free?")
    session.runs("ss -ltn", "")
    assert session.found("question") == []


def test_an_offer_is_not_a_question(session):
    session.says("All done. Want me to push it?")
    assert session.found("question") == []


# --- plans ------------------------------------------------------------------------------------------


# --- all of it --------------------------------------------------------------------------------------


def test_reading_in_batches_finds_the_same(session):
    session.runs("pytest tests/billing", "ERROR: file or directory not found: tests/billing", ok=False)
    begun = session.add("action", "x", {"tool": "Bash", "input": {"command": "make all"}}, status="started")
    session.says("Status: Executing. Which port is free?")
    session.runs("pytest test/billing", "3 passed")
    session.add("action.ended", None, {"output": "make: *** no rule"}, status="failed", ref=begun)
    session.says("Status: Executing")
    whole, state, pieces = Extractor(), {}, []
    for event in session.events:
        piece = Extractor(json.loads(json.dumps(state)))
        pieces += piece.observe(event)
        state = piece.state()
    assert pieces == [one for event in session.events for one in whole.observe(event)]
    assert [one.to_dict() for one in Extractor(state).open()] == [one.to_dict() for one in whole.open()]


WORDS = st.sampled_from(
    "Decision: because instead of **x** | - [ ] [x] ## Decisions\n 1. Exit code 1\n error: fatal: ``` > \" ' "
    "` :// https://a.b/pull/1 git commit -m <<EOF\n Phase 3 plan 2 Status: = KEY_A=b the root cause is ? ! "
    "\x1b[31m \0 é 🙂 next steps:\n ---\n Traceback".split(" ")
)
TEXTS = st.one_of(
    st.text(max_size=200), st.lists(WORDS, max_size=60).map(" ".join), st.lists(WORDS).map("\n".join)
)
NAMES = st.sampled_from("command file_path output stderr exit_code content plan title".split())
JSON = st.recursive(
    st.one_of(st.none(), st.integers(), TEXTS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=6,
)


@given(st.lists(st.tuples(st.booleans(), TEXTS, JSON, JSON, st.booleans()), max_size=8))
def test_any_events_give_findings_of_bounded_size(steps):
    session = Session()
    for is_action, text, given_, output, ok in steps:
        if is_action:
            session.uses("Bash", given_, output, ok)
        else:
            session.says(text)
    extractor = Extractor()
    for event in session.events:
        for one in extractor.observe(event):
            assert one.type in ENTRY_TYPES
            assert 0 < len(one.summary) <= 300
            assert one.channel in ("agent", "tool", "web", "import")
            assert one.seqs
            assert len(json.dumps(one.to_dict())) < 12_000
    json.dumps(extractor.state())


HOSTILE = [
    *'a \n"`*|#[(\t/0é',
    *(
        "**",
        "| a ",
        "- ",
        "1. ",
        "(a",
        "- [ ] ",
        "/a",
        "a.",
        ". A",
        "a: ",
        "because ",
        "I'll use a instead of ",
    ),
    *(
        "error: ",
        "git commit ",
        "git -c a ",
        '-m "',
        "<<EOF\n",
        "https://a",
        "a1",
        "A_",
        "A=",
        "phase 1 ",
        "> ",
    ),
    *("the root cause of a ", "Error", "x.Error", "a/b\\", "\x1b[", "~~~", "waiting for ", "instead of a"),
]


def test_hostile_text_gives_findings_of_bounded_size():
    for piece in HOSTILE:
        text = piece * (20_000 // len(piece))
        session = Session()
        session.says(text)
        session.runs(f"make {text}", text, ok=False)
        session.runs(text, text)
        assert all(len(json.dumps(one.to_dict())) < 12_000 for one in extract(session.events)), repr(piece)
        assert len(fingerprint(text)) <= 200


def test_a_long_session_leaves_a_small_state():
    extractor = Extractor()
    session = Session()
    for number in range(600):
        session.add(
            "action",
            "x",
            {"tool": "Bash", "input": {"command": f"make t{number} " + "x" * 5000}},
            status="started",
        )
        session.runs(f"./run{number} " + "y" * 5000, f"error: no such thing as thing{number}", ok=False)
        session.says(f"Decision: take option {number} because of {number} reasons")
    for event in session.events:
        extractor.observe(event)
    assert len(json.dumps(extractor.state())) < 400_000


def test_the_events_of_a_store_are_understood(memory):
    task = memory.task_register("Tax", request="Fix the tax").task_id
    call = {"tool": "Bash", "type": "cli"}
    begun = memory.task_log_action(
        task, "tests", input={"command": "pytest tests/tax"}, status="started", **call
    )
    memory.task_log_action(task, action=begun.seq, status="failed", error="ERROR: not found: tests/tax")
    done = memory.task_log_action(task, "tests", input={"command": "pytest test/tax"}, output="ok", **call)
    said = memory.task_update(task, "Decision: round at the end because sums must agree.")
    memory.task_decide(task, choice="what is recorded already is not found again")
    found = {one.type: one for one in extract(memory.task_thread(task).events)}
    assert found.keys() == {"exclusion", "decision"}
    assert found["exclusion"].data["worked"] == "pytest test/tax"
    assert found["exclusion"].seqs == (begun.seq + 1, done.seq)
    assert found["decision"].seqs == (said.seq,)
