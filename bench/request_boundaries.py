"""How well new requests are recognised: `python bench/request_boundaries.py`.

Every prompt after the first of a stream has a label in `bench/labels/requests.json`, by session and number
of its event; no text is stored there. A stream is the sessions of one person in one repository in the order
of their start, read as if they were one long session: somebody who never leaves a session types the same
prompts there. Nothing of a session's end is known to the recogniser, neither the time between two sessions
nor that there are two.

How the labels were made: one reader, before the recogniser existed, saw of each prompt the text (its first
330 and last 100 characters), what the agent said last, the files it had edited, its list of steps, and all
earlier prompts.

- **new**: the previous request was answered, finished or dropped, and this one asks for another piece of
  work, one that would need another title: another defect, feature, component or question, or a return to
  something older.
- **continues**: a correction, an answer, an approval, a refinement of what was just built, a question about
  it, its tests, docs, review, commit, push or pull request, a failure of it, the next item of a list that
  is being worked through, a finding of a reviewer about this very work, or the same prompt sent again.
- **machine**: nobody typed it: interruptions, output of hooks and of shell commands, a bare greeting.
- **perhaps_new**, **perhaps_continues**: another reader might decide otherwise (a request beside one that
  is still under way, a small wish for the same page). They are printed, and neither counted nor used for
  tuning.

The first prompt of a later session is new unless it visibly takes up the session before. Those that hand
over a written plan ("Implement the following plan:") are easy and would flatter the figures: they have
their own row.

The split is by session. `tune` is all sessions of one person (cli-a) and every second one of a second
person (cli-b), of another repository (context-evaluator) and of another host (agentv, Codex), in the order
of their start; `held_out` is the rest of these and three more people (cli-c, -d, -e). `fresh` are sessions of
eight other public repositories and as many people (Claude Code, OpenCode, Cursor and Copilot; see
`request_sessions.py` and `labels/requests_fresh.json`), labelled by the same rules by other readers;
`fresh_held_out` is every second session of one of them (cozy-checkout), set aside before anything was tuned.
The trees come from `bench/request_training.py`, which reads `tune` and `fresh`.

How far the labels can be trusted: 100 prompts of `tune` (30 new, 60 that continue, 10 doubtful ones,
shuffled) were labelled a second time without the first labels (`labels/requests_second.json`, `--agreement`).
Of the 90 that the first reader was sure about, 86 agree (kappa .90): 26 of the 30 new ones, and all 60
others. So a reader who saw the request, the last two instructions, the last message and the prompt has
precision 1.00 and recall .87: the labels are not the limit. (The text shown as the request gave some labels
away, about a dozen; a fully blind reader may agree less.) What that reader used, and words do not show, is
whether a prompt can be understood without what came before.

The *first look* judges when the prompt comes, the *second look* when the agent's turn on it has ended, the
*third look* also when two more turns have; a prompt counts as new if any of the looks so far said so. That is
how hooks use it.

Precision and recall of *all* at the third look (without plans; with plans in brackets), for the trees in
the tree:

- cross-validated over `tune` and `fresh` (ten people held out whole, three by quarters of their sessions;
  prompts that the rules decide left out): .903 and .454. With every person held out whole: .640 and .424.
- held out, 25 boundaries: .750 and .360 (46: .909 and .652).
- fresh held out, 54 boundaries: .925 and .685. No plans are handed over there.
- both held-out parts together, 79 boundaries: .885 and .582 (100: .918 and .670). The linear model that was
  here before had .771 and .342 (.857 and .480), counted in the same way. The goals are .90 and .70.
- 40 conversations written by somebody else, who also labelled them: words only, no calls and no files, 73
  boundaries among 236 prompts, read once: .929 and .356; first look alone 1.000 and .219.

The held-out figures flatter: tables like this one were read for some two dozen settings while the kind of
model, its features and its size were chosen, and the setting that was kept is the best of those that could
be written down small. The conversations alone decided nothing. No single verdict was looked at, but one rule
("I still have a problem" is no follow-up) comes from a prompt there, and the reader of the labels has seen
the prompts.

*Within* a session the figures are much lower: 3 of 14 with 3 alarms and 3 of 13 with 3 alarms, and no model
that was tried (linear, forests, boosted trees) ranks these prompts much better than another. What the misses
have in common, by eye, in `tune` and `fresh`: a question about another part of the same subject ("when is
the session shown as green?"), an item of a list that the agent had offered ("5 seems like a low-hanging
fruit"), a reviewer's finding about other code. A packet that has such a prompt as the user's last word
instead of the request loses little. The alarms are failures of the present work that bring other files and
words with them, and reviews of it. Even a prompt that points at nothing, asks for work with a subject of its
own, and shares fewer than three words in ten with what came before begins a request in 10 of 19 cases only.

What was tried and did not help: weights for people, so that a talkative one counts less; vetoes for a
linear model (precision .85, recall .22); the git branch, which can only be seen to change where a session
begins here, which gives the boundary away. The later looks have a milder form of that flaw: an agent in a
fresh session explores and introduces its work because it knows nothing yet, so the row *first* flatters them.

Rows: *within* are prompts inside a session, *first* those that begin a later one, *all* both of them,
*plan* the plans handed over. False alarms are given per hundred prompts that continue, since precision
depends on how many boundaries there are. *Unsure* are verdicts that a model should be asked about, if there
is one.

`--own-history` lets the recogniser live with its own verdicts; otherwise each verdict is given the right
history. `--fresh FOLDER` measures the fresh sessions instead, as `request_sessions.py` writes them. With
`--gate` the exit code is 1 if precision or recall of *all* in `held_out` or `fresh_held_out` is below the
goal at the third look.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ringbolt.hosts.capture.prompts import is_assent
from ringbolt.hosts.capture.tool_calls import summary_of
from ringbolt.hosts.transcripts.events import is_host_text
from ringbolt.requests.request_boundary import Boundary, Moment, judge
from ringbolt.requests.turns import AFTER, BEFORE, Turn

HERE = Path(__file__).resolve().parent
LABELS = HERE / "labels" / "requests.json"
FRESH_LABELS = HERE / "labels" / "requests_fresh.json"
SECOND_LABELS = HERE / "labels" / "requests_second.json"
SPLITS = ("tune", "held_out")
FRESH_SPLITS = ("fresh", "fresh_held_out")
LOOKS = ("first", "second", "third")
KINDS = ("new", "continues", "machine", "perhaps_new", "perhaps_continues")
GOALS = {"precision": 0.90, "recall": 0.70}
PLAN = "Implement the following plan"
MOST_FILES = 40
MOST_RECENT = 60

_PATH = re.compile(r"[\w-]+(?:/[\w.-]+)*\.(?:go|tsx?|jsx?|py|md|mdx|sh|css|json|toml|ya?ml)\b")

Event = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A labelled prompt, and what was known when it came."""

    stream: str
    session: str
    event: int
    label: str
    kind: str  # within, first or plan
    moment: Moment  # when the prompt came
    later: Moment  # when it was seen what the agent did with it

    @property
    def is_new(self) -> bool:
        return self.label.endswith("new")

    @property
    def is_doubtful(self) -> bool:
        return self.label.startswith("perhaps")

    @property
    def rows(self) -> list[str]:
        """The rows of the table that count it."""
        if self.kind == "plan":
            return ["plan", "all and plans"]
        return ["all, doubtful too", *([] if self.is_doubtful else [self.kind, "all", "all and plans"])]


@dataclass
class Stream:
    """What is known in a session at the next prompt."""

    request: str = ""
    instructions: list[str] = field(default_factory=list)
    message: str = ""
    stopped: bool = False
    interrupted: bool = False
    steps: tuple[int, int] = (0, 0)
    files: list[str] = field(default_factory=list)
    recent: list[str] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    at: float | None = None

    def moment(self, prompt: str, at: float | None) -> Moment:
        idle = None if at is None or self.at is None else max(0.0, at - self.at)
        return Moment(
            request=self.request,
            instructions=tuple(self.instructions),
            message=self.message,
            stopped=self.stopped,
            interrupted=self.interrupted,
            steps_done=self.steps[0],
            steps_total=self.steps[1],
            files=tuple(self.files),
            recent=tuple(self.recent),
            actions=tuple(self.actions),
            prompt=prompt,
            idle_seconds=idle,
        )

    def prompted(self, prompt: str, is_new: bool) -> None:
        if is_new:
            self.request, self.instructions, self.files, self.steps = prompt, [], [], (0, 0)
            self.recent = []
        else:
            self.instructions.append(prompt)
        self.message, self.stopped, self.interrupted, self.actions = "", False, False, []

    def take(self, event: Event) -> None:
        kind = event["k"]
        if kind == "assistant":
            self.message, self.stopped = event["text"], True
            self.recent = [*self.recent, event["text"]][-MOST_RECENT:]
        elif kind == "call":
            self.stopped = False
            action = summary_of(event["tool"], _mapping(event["input"]))
            self.recent = [*self.recent, action][-MOST_RECENT:]
            self.actions.append(action)
            for path in _paths(event["input"]):
                self.files = [*[one for one in self.files if one != path], path][-MOST_FILES:]
        elif kind == "plan":
            done = sum(item["status"] == "completed" for item in event["items"])
            self.steps = done, len(event["items"])


def read_session(data: Path, session: str) -> list[Event]:
    with gzip.open(data / "traces" / f"{session}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines][1:]


def read_cases(
    data: Path, split: str, judged: Callable[[Case], bool] | None = None
) -> Iterator[Case | tuple[str, int, str]]:
    """The labelled prompts of a split in order; a machine-made one is (session, event, text).

    The history before each prompt follows the labels, or `judged` if it is given.
    """
    labelled = FRESH_LABELS if split in FRESH_SPLITS else LABELS
    for person, sessions in json.loads(labelled.read_text(encoding="utf-8")).items():
        stream = Stream()
        for labels in sessions:
            name = labels["session"]
            known = {event: label for label in KINDS for event in labels.get(label, ())}
            wanted = labels.get("split", "fresh") == split
            begun, stream.at = False, None
            events = read_session(data, name)
            machine = set(labels.get("machine", ()))
            turns = _turns(events, machine)
            for event in events:
                if event["k"] != "user":
                    stream.take(event)
                    stream.at = _seconds(event) if event["k"] != "meta" else stream.at
                    continue
                text, label = event["text"], known.get(event["i"])
                if label == "machine":
                    stream.interrupted = stream.interrupted or text.startswith("[Request interrupted")
                    if wanted:
                        yield name, event["i"], text
                    continue
                moment = stream.moment(text, _seconds(event) if begun else None)
                case = Case(
                    stream=person,
                    session=name,
                    event=event["i"],
                    label=label or "new",
                    kind="within" if begun else "plan" if text.startswith(PLAN) else "first",
                    moment=moment,
                    later=moment.replace(before=tuple(stream.turns), after=tuple(turns[event["i"]])),
                )
                is_new = case.is_new
                if label is not None and stream.request:
                    is_new = judged(case) if judged else is_new
                    if wanted:
                        yield case
                stream.prompted(text, is_new)
                stream.turns = [*stream.turns, turns[event["i"]][0]][-BEFORE:]
                begun = True


def _turns(events: list[Event], machine: set[int]) -> dict[int, list[Turn]]:
    """By the number of a prompt, its turn and those that follow it in the session."""
    said: dict[int, list[str]] = {}
    actions: dict[int, list[str]] = {}
    prompts: list[tuple[int, str]] = []
    for event in events:
        if event["k"] == "user" and event["i"] not in machine:
            prompts.append((event["i"], event["text"]))
        elif prompts and event["k"] == "assistant":
            said.setdefault(prompts[-1][0], []).append(event["text"])
        elif prompts and event["k"] == "call":
            action = summary_of(event["tool"], _mapping(event["input"]))
            actions.setdefault(prompts[-1][0], []).append(action)
    turns = [
        Turn(prompt=text, said=tuple(said.get(at, ())), actions=tuple(actions.get(at, ())))
        for at, text in prompts
    ]
    return {at: turns[place : place + AFTER] for place, (at, _) in enumerate(prompts)}


def _paths(given: Any) -> list[str]:
    """The files that a call names, by their paths or in a command."""
    return _PATH.findall(json.dumps(given))


def _mapping(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {}


def _seconds(event: Event) -> float:
    return datetime.fromisoformat(event["ts"]).timestamp()


@dataclass
class Score:
    """How many verdicts were right and wrong."""

    hits: int = 0
    misses: int = 0
    alarms: int = 0
    rests: int = 0

    def add(self, wanted: bool, got: bool) -> None:
        name = ("hits" if got else "misses") if wanted else ("alarms" if got else "rests")
        setattr(self, name, getattr(self, name) + 1)

    @property
    def precision(self) -> float | None:
        return self.hits / (self.hits + self.alarms) if self.hits + self.alarms else None

    @property
    def recall(self) -> float | None:
        return self.hits / (self.hits + self.misses) if self.hits + self.misses else None

    def row(self, name: str) -> str:
        rate = 100 * self.alarms / (self.alarms + self.rests) if self.alarms + self.rests else None
        counts = f"{self.hits + self.misses:4}  {self.alarms + self.rests:9}"
        figures = [" –" if one is None else f"{one:.3f}" for one in (self.precision, self.recall, rate)]
        return f"  {name:25} {counts}  {figures[0]:>9}  {figures[1]:>6}  {figures[2]:>10}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Precision and recall of the recogniser of new requests.")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared" / "data")
    parser.add_argument(
        "--fresh", type=Path, help="folder that request_sessions.py wrote: measure these only"
    )
    parser.add_argument("--own-history", action="store_true", help="the history follows the verdicts")
    parser.add_argument(
        "--wrong", action="store_true", help="list the wrong verdicts: session, event, score, why"
    )
    parser.add_argument("--agreement", action="store_true", help="compare the two readers and stop there")
    parser.add_argument("--gate", action="store_true", help="exit with 1 if a goal is missed")
    parser.add_argument("--json", type=Path, help="write the figures to a file")
    options = parser.parse_args()
    if options.agreement:
        print(f"{'the second reader':27}  new  continues  precision  recall  alarms/100")
        print(agreement().row("where the first was sure"))
        return 0
    figures: dict[str, float | None] = {}
    if options.fresh:
        options.data = options.fresh
    for split in FRESH_SPLITS if options.fresh else SPLITS:
        for look in LOOKS:
            found = measure(options, split, look)
            figures |= {f"{split}/{look}/{name}": value for name, value in found.items()}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    tested = (FRESH_SPLITS if options.fresh else SPLITS)[1]
    goals = {f"{tested}/third/{name}": goal for name, goal in GOALS.items()}
    missed = [name for name, goal in goals.items() if (figures[name] or 0.0) < goal]
    for name in missed:
        print(f"missed: {name} is {figures[name] or 0.0:.3f}, the goal {goals[name]}")
    return 1 if options.gate and missed else 0


def agreement() -> Score:
    """How the second reader judged the prompts that the first one was sure about."""
    rows = [row for person in json.loads(LABELS.read_text(encoding="utf-8")).values() for row in person]
    first = {
        (row["session"], event): label for row in rows for label in KINDS for event in row.get(label, ())
    }
    score = Score()
    for session, labels in json.loads(SECOND_LABELS.read_text(encoding="utf-8")).items():
        for label, events in labels.items():
            for event in events:
                if not (known := first[session, event]).startswith("perhaps"):
                    score.add(known == "new", label.endswith("new"))
    return score


def measure(options: argparse.Namespace, split: str, look: str) -> dict[str, float | None]:
    """Print the table of a split; its figures by name."""
    scores = {
        name: Score() for name in ("within", "first", "all", "plan", "all and plans", "all, doubtful too")
    }
    wrong: list[str] = []
    machine: list[bool] = []
    unsure: list[tuple[bool, bool]] = []
    seconds: list[float] = []

    def judged(case: Case) -> Boundary:
        first = judge(case.moment)
        if look == "first" or first.is_new:
            return first
        after, verdict = case.later.after, first
        for turns in range(1, 1 + (AFTER if look == "third" else 1)):
            verdict = judge(case.later.replace(after=after[:turns]))
            if verdict.is_new:
                break
        return verdict

    own_history = (lambda case: judged(case).is_new) if options.own_history else None
    for case in read_cases(options.data, split, own_history):
        if not isinstance(case, Case):
            machine.append(is_host_text(case[2]) or is_assent(case[2]))
            continue
        began = time.process_time()
        given = judged(case)
        seconds.append(time.process_time() - began)
        for name in case.rows:
            scores[name].add(case.is_new, given.is_new)
            if name == "all":
                unsure.append((case.is_new, given.is_unsure))
        if given.is_new != case.is_new:
            what = f"{'false alarm' if given.is_new else 'missed'}{' (doubtful)' if case.is_doubtful else ''}"
            place = f"{case.kind} {case.session[:8]}#{case.event}"
            wrong.append(f"    {what}, {place}, {given.score:+.2f}: {'; '.join(given.reasons)}")
    print(f"{f'{split}, {look} look':27}  new  continues  precision  recall  alarms/100")
    for name, score in scores.items():
        print(score.row(name))
    asked = sum(one for _, one in unsure)
    print(
        f"  unsure about {asked} of {len(unsure)}, {sum(new and one for new, one in unsure)} of these are new"
    )
    middle = sorted(seconds)[len(seconds) // 2]
    print(f"  machine-made prompts that the reader drops: {sum(machine)} of {len(machine)}")
    print(f"  {1000 * middle:.2f} ms a verdict")
    if options.wrong:
        print("\n".join(wrong))
    kinds = {"": "all", "within/": "within", "plans/": "all and plans", "doubtful/": "all, doubtful too"}
    return {
        f"{prefix}{figure}": getattr(scores[name], figure)
        for prefix, name in kinds.items()
        for figure in ("precision", "recall")
    }


if __name__ == "__main__":
    sys.exit(main())
