"""Answers from a snapshot: whatever is recorded, they keep their bounds and tell done from open."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringbolt.ask.answer_rows import Commit, Context
from ringbolt.ask.answer_table import answer, facts
from ringbolt.ask.question_lexicon import LANGUAGES
from ringbolt.ask.question_model import INTENTS
from ringbolt.ask.questions import Intent
from ringbolt.ask.reply import LIST, Reply, Row, compose, length, quote
from ringbolt.ask.topic_match import Subject
from ringbolt.model.types import Entry, Name, Origin, Snapshot, Source, Step, Timestamps
from ringbolt.packet.encode import one_line
from ringbolt.signals.calls.commands import commits
from ringbolt.signals.calls.failures import from_first_error
from ringbolt.signals.step_numbers import number_ranges

AT = "2026-03-01T12:00:00.000Z"
STATUSES = ["pending", "active", "completed", "failed", "skipped", "cancelled"]


def snapshot(**fields) -> Snapshot:
    given = {
        "id": "0000000000", "name": "Deploy", "status": "active", "phase": "executing", "created_at": AT,
        "updated_at": AT, "seq": 50, "version": 1, "metadata": {}, "variables": {}, "left_out": {},
        "timestamps": Timestamps(created_at=AT, last_updated_at=AT),
        "sources": {"name": Source(seq=1, channel="agent")},
    }  # fmt: skip
    return Snapshot(**{**given, **fields})


def entry(seq: int, kind: str, text: str, channel: str = "agent", **data) -> Entry:
    return Entry(
        seq=seq, type=kind, at=AT, status="active", summary=text, data=data, origin=Origin(channel=channel)
    )


texts = st.text(min_size=1, max_size=300)
items = st.lists(st.tuples(texts, st.sampled_from(STATUSES), st.booleans()), max_size=30).map(
    lambda rows: tuple(
        Step(
            id=f"s{number}", ordinal=number, title=f"{title} marker{number:03}", status=status, detail={},
            basis="inferred" if inferred else "explicit", cause=number + 2,
        )
        for number, (title, status, inferred) in enumerate(rows)
    )
)  # fmt: skip
entries = st.lists(st.tuples(texts, texts, st.sampled_from(["user", "agent", "tool", "web"])), max_size=20)


@st.composite
def context(draw) -> Context:
    steps = draw(items)
    made = {
        kind: tuple(
            entry(number + 2, kind, first, channel, choice=first, reasoning=second, why=second, value=second)
            for number, (first, second, channel) in enumerate(draw(entries))
        )
        for kind in (
            "decision",
            "exclusion",
            "error",
            "question",
            "user_instruction",
            "discovery",
            "variable",
        )
    }
    task = snapshot(
        steps=steps,
        decisions=made["decision"],
        exclusions=made["exclusion"],
        errors=made["error"],
        questions=made["question"],
        instructions=made["user_instruction"],
        notes=made["discovery"],
        values=tuple(one.replace(key=one.summary[:20]) for one in made["variable"]),
        blockers=tuple(draw(st.lists(texts, max_size=5))),
        request=draw(st.none() | texts),
        next_step=draw(st.none() | texts),
        next=next((step.id for step in steps if step.status == "pending"), None),
    )
    commits = tuple(Commit(subject=one.summary, seq=one.seq, channel="agent") for one in made["discovery"])
    subject = Subject(draw(st.sampled_from([(), ("marker001",), ("x",)])))
    return Context(task=task, now=AT, subject=subject, commits=commits, since=draw(st.integers(0, 50)))


@given(
    context(),
    st.sampled_from(INTENTS),
    st.sampled_from(LANGUAGES),
    st.booleans(),
    st.frozensets(
        st.sampled_from(["why", "old", "risk", "drop", "many", "may", "last", "percent", "wait", "user"])
    ),
    st.none() | st.integers(1, 9),
)
def test_every_answer_stays_within_its_limit_and_cites_existing_events(
    known, about, language, polar, marks, most
):
    intent = Intent(
        about=about, subject=tuple(known.subject.words), language=language, polar=polar, marks=tuple(marks),
        most=most, step=most,
    )  # fmt: skip
    reply = answer(intent, known)
    if reply is not None:
        assert reply.text
        assert len(reply.text.encode()) <= LIST
        assert one_line(reply.text) == reply.text
        assert all(1 <= seq <= 50 for seq in reply.cites)
    lines = facts(intent, known, reply or Reply(text="?"))
    assert [one_line(line) for line in lines] == list(lines)


@given(context(), st.sampled_from([(), ("verify",), ("report",)]))
def test_an_answer_about_completed_steps_names_no_other(known, marks):
    known = known.replace(subject=Subject(()))
    text = answer(Intent(about="completed", marks=marks), known).text
    over = {item.id for item in known.task.steps if item.status == "completed"}
    named = {f"s{int(number)}" for number in re.findall(r"marker(\d{3})", text)}
    assert named <= over


@given(context())
def test_an_answer_about_open_steps_names_no_completed_one(known):
    known = known.replace(subject=Subject(()))
    named = re.findall(r"marker(\d{3})", answer(Intent(about="open"), known).text)
    assert all(known.task.steps[int(number)].status in ("pending", "active", "failed") for number in named)


@given(context())
def test_inferred_entries_are_marked(known):
    known = known.replace(subject=Subject(()))
    text = answer(Intent(about="completed"), known).text
    for item in known.task.steps:
        marker = item.title[-9:]
        if item.basis == "inferred" and marker in text:
            assert re.search(rf'{marker}" \(inferred\)', text)


@given(st.lists(st.tuples(texts, st.integers(1, 9))), st.integers(200, 3000), st.integers(40, 200))
def test_rows_are_fitted_into_any_room(rows, room, least):
    made = [Row(lambda most, text=text: quote(text, most), seq) for text, seq in rows]
    reply = compose(made, room, glue="; ", least=least)
    assert len(reply.text.encode()) <= room
    assert set(reply.cites) <= {seq for _, seq in rows}
    assert bool(reply.cites) == bool(rows)


def test_needs_lists_values_and_names_in_use():
    names = tuple(
        Name(name=f"file{n}.go", kind="file", seq=3, channel="tool", chance=1.0) for n in range(400)
    )
    task = snapshot(names=names, values=(entry(4, "variable", "x", value=5).replace(key="port"),))
    text = answer(Intent(about="needs"), Context(task=task, now=AT, subject=Subject(()))).text
    assert text.startswith("port = 5 #4, file0.go, file1.go, ")
    assert re.search(r", and \d+ more$", text)


def test_first_rows_are_kept_and_the_others_counted():
    rows = [
        Row(lambda most, number=number: quote(f"row {number} " * 40, most), number) for number in range(1, 30)
    ]
    reply = compose(rows, 500, glue="; ")
    assert reply.cites == (1, 2, 3)
    assert reply.text.endswith("; and 26 more")


@pytest.mark.parametrize(
    ("command", "subject"),
    [
        ('git commit -m "Fix it"', "Fix it"),
        ("cd x && git add . && git commit -qam 'Fix it' && git push", "Fix it"),
        ('git commit -m "Say \\"hello\\""', 'Say "hello"'),
        ("git commit -m \"$(cat <<'EOF'\nFix it\n\nmore\nEOF\n)\"", "Fix it"),
        ('git commit --message="Fix it\n\nmore"', "Fix it"),
        ("git commit --amend --no-edit", None),
        ("git status", None),
    ],
)
def test_the_subject_of_a_commit_is_read_from_its_command(command, subject):
    assert [found for _, found in commits(command, "")] == ([subject] if subject else [])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ok\nrunning\nError: no such file\nat x", "Error: no such file at x"),
        ("one line", "one line"),
        ("nothing\nto see", "nothing to see"),
    ],
)
def test_an_output_is_quoted_from_its_first_error_on(text, told):
    assert from_first_error(text) == told


def test_step_ranges_and_durations_are_short():
    assert number_ranges([1, 2, 3, 5, 7, 8]) == "1-3, 5, 7-8"
    assert [length(seconds) for seconds in (0.25, 59, 3600, 90_061)] == ["250 ms", "59 s", "1 h", "1 d 1 h"]


def test_a_recorded_phase_precedes_an_inferred_one():
    recorded = entry(5, "variable", "phase = beta").replace(key="phase", data={"value": "beta"})
    guessed = entry(9, "variable", "phase = 7").replace(key="phase", data={"value": "7", "inferred": True})
    asked = Intent(about="status", marks=("phase",))
    both = answer(asked, Context(task=snapshot(values=(recorded, guessed)), now=AT, subject=Subject(())))
    assert both == Reply(text='Phase: "beta" #5.', cites=(5,))
    alone = answer(asked, Context(task=snapshot(values=(guessed,)), now=AT, subject=Subject(())))
    assert alone == Reply(text='Phase executing. In its words: "7" #9 (inferred).', cites=(9,))
