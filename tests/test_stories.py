"""The judge of bench/story.py can fail, and its stories go through the hooks of both hosts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench"
TINY = """# Nobody's
host: {host}
folder: shop
title: Tiny

>>> start
>>> user
Round the totals. Never touch the tax tables.
>>> says
We stay with Decimal, because floats lose cents.
>>> bash! pytest -q
1 failed
>>> bash pytest -q tests
3 passed
{edit}
>>> git add -A && git commit -q -m "Round once" && git log --oneline -1
>>> denied rm -r archive
The auditors need it.
>>> bash? git push origin main
>>> dies
>>> start resume
>>> user
Go on.
>>> compacts

=== expected
[request 3] round the totals :: round & totals
[constraint 3] tax tables :: tax tables & never
[decision 2] nobody said that :: kubernetes

=== false
[settled] it fails :: 1 failed :: passed

=== useful
pytest

=== said
constraint: Never touch the tax tables
"""
EDIT = """>>> {verb} totals.py
round(a) + round(b)
----
round(a + b)"""


@pytest.fixture
def story(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    import story

    yield story
    for name in ("story", "story_sessions"):
        sys.modules.pop(name, None)


@pytest.fixture
def stories(story):
    paths = sorted(story.STORIES.rglob("*.story"))
    return [story.read_story(path) for path in paths]


def test_every_story_is_long_and_has_a_sheet(stories):
    assert len(stories) >= 4
    assert {one.held_out for one in stories} == {True, False}
    assert {one.head["host"] for one in stories} == {"claude-code", "codex"}
    assert sum(len(one.acts) >= 50 for one in stories) >= 4
    for one in stories:
        assert len(one.acts) >= 30, one.name
        assert len(one.items) >= 20, one.name
        assert len({item.category for item in one.items}) >= 8, one.name
        assert len(one.falsehoods) >= 5, one.name
        narration = "\n".join(act.body for act in one.acts)
        for line in one.said.splitlines():
            assert line.partition(": ")[2] in narration, (one.name, line)


def oracle(one):
    """A row for each item, with its words and nothing else."""
    return [" ".join(words(term) for term in item.pattern.terms) for item in one.items]


def words(term):
    first = term.pattern.split("|")[0]
    for noise in (r"(?<!\w)", r"(?!\w)", "\\s+", "\\"):
        first = first.replace(noise, " " if noise == "\\s+" else "")
    return first


def test_the_judge_gives_all_to_an_oracle_and_nothing_to_silence(story, stories):
    for one in stories:
        best = story.judge(one, "\n\n".join(oracle(one)))
        assert best.present == set(range(len(one.items))), one.name
        assert best.share(one.items) == 1
        nothing = story.judge(one, "<ringbolt-1a2b3c4d>\nDecisions\n</ringbolt-1a2b3c4d>")
        assert nothing.present == set()
        assert nothing.share(one.items) == 0


def test_the_judge_is_not_taken_in_by_words_that_do_not_stand_together(story, stories):
    for one in stories:
        every = [word for row in oracle(one) for word in row.split()]
        shuffled = sorted(every, key=lambda word: word[::-1])
        listed = story.judge(one, ", ".join(shuffled))
        spread = story.judge(one, "\n\n".join(shuffled))
        single = sum(len(item.pattern.terms) == 1 for item in one.items)
        assert len(listed.present) <= single, one.name
        assert len(spread.present) <= single + 1, one.name


def test_every_line_gets_a_mark_and_noise_is_counted(story, stories):
    one = next(found for found in stories if found.name == "stale_quote")
    text = (
        "Decisions\n"
        '#1a "a sequence number it is: let requests finish, do not abort, the endpoint reserves stock"\n'
        '#2a "requests are numbered; a sequence number, so nothing is aborted"\n'
        '[x] s1 "Reproduce the jump locally"\n'
        '#3t "Lockfile is up to date, resolution step is skipped"\n'
        '#4t "window is not defined"\n'
        "Errors, settled\n"
        '#4t "window is not defined"\n'
    )
    found = story.judge(one, text)
    assert [line.mark for line in found.lines] == list("#+=~.!#.")
    assert len(found.false) == 1
    assert 0 < found.noise < found.tokens
    names = story.judge(one, "foo.ts, bar.ts, baz.ts, quux.ts, CouponField.tsx, quote-client.ts")
    (line,) = names.lines
    assert 0 < line.wasted < line.tokens


@pytest.mark.parametrize(("host", "verb"), [("claude-code", "edit"), ("codex", "patch")])
def test_a_story_goes_through_the_hooks(story, tmp_path, host, verb):
    path = tmp_path / "tiny.story"
    path.write_text(TINY.format(host=host, edit=EDIT.format(verb=verb)), encoding="utf-8")
    result = story.play(story.read_story(path))
    assert result.events >= 15
    assert set(result.packets) == set(story.BUDGETS)
    for one in result.judgements.values():
        assert one.present == {0, 1}
        assert one.tokens <= 2000
    rows = {row.name: row for row in result.drilled.rows}
    assert (rows["said: constraint"].usual, rows["said: constraint"].count) == (1, 1)
    assert "Missing at 2,000 tokens" in story._page([result])


def test_a_line_that_the_judge_does_not_understand_is_refused(story, tmp_path):
    path = tmp_path / "bad.story"
    for line in ("[wish 3] x :: y", "[decision] x :: y", "decision 3 x"):
        path.write_text(f"host: codex\n\n>>> start\n\n=== expected\n{line}\n", encoding="utf-8")
        with pytest.raises(ValueError, match="not an item"):
            story.read_story(path)
