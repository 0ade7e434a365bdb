"""How well questions are answered: `python bench/questions.py [--part tune] [--show wrong]`.

Asks the questions of `labels/questions.txt` (or `--labels`) about the ledgers of `question_ledgers.py`. An
answer is

- *right* if it has all the evidence of its label and little else, or says that nothing is recorded where that
  is so;
- *half* right if it has a part of the evidence, drowns it in a list, or only names it as the nearest thing;
- *missed* if it says that nothing is recorded although it is;
- *misleading* if it states something else as the answer.

Totals by part, ledger, intent and language are always printed, single answers only with --show.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import question_ledgers as ledgers

from ringbolt.model.types import Answer

LABELS = Path(__file__).parent / "labels" / "questions.txt"
VERDICTS = ("right", "half", "missed", "misleading")
# What a verdict begins with in any of the languages.
POLARITY = {
    "yes": r"yes|probabl|ja\b|wahrscheinlich|oui|sí|sim\b|sì|是|はい|可以|waarschijnlijk|可能|おそらく",
    "no": r"no\b|nein|non\b|não|nee\b|不|否|没有|いいえ|not yet|it was dropped",
    "unknown": r"unknown|unbekannt|inconnu|desconocid|desconhecid|sconosciut|onbekend|不清楚|未知|不明",
}
_TOKEN = re.compile(r'[!]?"[^"]*"|\S+')
_CITED = re.compile(r"#(\d+)")


class Case(NamedTuple):
    ledger: str
    part: str
    intent: str
    language: str
    evidence: str
    question: str


def cases(path: Path) -> Iterator[Case]:
    """The questions of a file of labels."""
    ledger = part = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            ledger, part = line.strip("[]").split()
        elif line.strip() and not line.startswith("#"):
            kind, evidence, question = (piece.strip() for piece in line.split(";", 2))
            intent, _, language = kind.partition("/")
            yield Case(ledger, part, intent, language or "en", evidence, question)


def says_nothing(answer: Answer) -> bool:
    """Whether an answer says that nothing recorded answers the question."""
    return not answer.recorded


def judged(case: Case, answer: Answer, handles: dict[str, set[int]]) -> str:
    """The verdict on an answer."""
    nothing = says_nothing(answer)
    if case.evidence == "-":
        return "right" if nothing else "misleading"
    cited = set(answer.cites) | {int(seq) for seq in _CITED.findall(answer.text)}
    met: list[bool] = []
    evidence = 0
    spoiled = False
    for token in _TOKEN.findall(case.evidence):
        if token.startswith("^"):
            spoiled |= any(handles[name] & cited for name in token.replace("^", "").split("|"))
        elif token.startswith('!"'):
            spoiled |= token[2:-1].lower() in answer.text.lower()
        elif token.startswith('"'):
            met.append(any(word.lower() in answer.text.lower() for word in token[1:-1].split("|")))
        else:
            fits = []
            for name in token.split("|"):
                if name in POLARITY:
                    fits.append(re.match(POLARITY[name], answer.text.strip(), re.I) is not None)
                else:
                    evidence += 1
                    fits.append(bool(handles[name] & cited))
            met.append(any(fits))
    if nothing:
        return "half" if any(met) else "missed"
    if all(met) and not spoiled:
        return "half" if len(cited) > 3 + 2 * max(1, evidence) and case.intent != "history" else "right"
    wanted = next(
        (token.split("|") for token in case.evidence.split() if token.split("|")[0] in POLARITY), []
    )
    said = [name for name, words in POLARITY.items() if re.match(words, answer.text.strip(), re.I)]
    if wanted and said and not set(said) & set(wanted):
        return "misleading"  # yes instead of no, or the other way round
    return "half" if any(met) else "misleading"


def handles_of(ledger: ledgers.Ledger, events: Sequence[dict[str, Any]]) -> dict[str, set[int]]:
    """For each event of a recorded session, the events of the ledger that have its text."""
    stored: list[tuple[int, str, str]] = []
    derived: list[tuple[int, set[int]]] = []  # entries that were inferred from other events
    before: int | None = None
    while True:
        page = ledger.memory.task_thread(ledger.task, limit=200, before=before)
        stored += [(event.seq, event.type, _plain(f"{event.text} {event.data}")) for event in page.events]
        derived += [(event.seq, set(event.data.get("from") or ())) for event in page.events]
        if not page.events or min(event.seq for event in page.events) <= 1:
            break
        before = min(event.seq for event in page.events)
    found: dict[str, set[int]] = {}
    for number, event in enumerate(events):
        texts = [event.get("text")] if event.get("text") else _strings(event.get("input") or event)
        keys = [_plain(text)[:60] for text in texts if text and len(_plain(text)) > 12]
        keys = keys or [_plain(text) for text in texts if text]
        if event.get("k") == "call" and "commit -m" in str(event.get("input")):
            lines = [_plain(line)[:60] for text in texts for line in text.splitlines()]
            keys += [line for line in lines if len(line) > 25]
        seqs = {seq for seq, _, text in stored if any(key in text for key in keys)}
        if event.get("k") == "plan":
            seqs |= {seq for seq, kind, _ in stored if kind.startswith(("plan.", "step."))}
        found[f"e{number}"] = seqs | {seq for seq, source in derived if source & seqs}
    return found


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _strings(inner)]
    return [text for inner in value for text in _strings(inner)] if isinstance(value, list) else []


def _plain(text: str) -> str:
    return " ".join(re.sub(r"\\[nt]|</?tool_use_error>", " ", text).split()).lower()


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure how well questions are answered.")
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--part", choices=("tune", "held", "fresh"))
    parser.add_argument("--ledger")
    parser.add_argument("--show", choices=(*VERDICTS, "wrong", "all"))
    parser.add_argument("--gate", action="store_true", help="fail if right < .90 or misleading > .02")
    options = parser.parse_args()
    wanted = [
        case for case in cases(options.labels)
        if options.part in (None, case.part) and options.ledger in (None, case.ledger)
    ]  # fmt: skip
    rows: list[tuple[Case, Answer, str]] = []
    spent: list[float] = []
    for name in dict.fromkeys(case.ledger for case in wanted):
        with tempfile.TemporaryDirectory() as folder:
            if name in ledgers.STORIES:
                zone, tell = ledgers.STORIES[name]
                ledger = ledgers.Ledger(Path(folder), zone)
                tell(ledger)
                handles = ledger.handles
            else:
                ledger, events = ledgers.session(Path(folder), name)
                handles = handles_of(ledger, events)
            for case in wanted:
                if case.ledger == name:
                    began = time.process_time()
                    answer = ledger.memory.task_ask(ledger.task, case.question)
                    spent.append(time.process_time() - began)
                    rows.append((case, answer, judged(case, answer, handles)))
            ledger.memory.close()
    if options.show:
        for case, answer, verdict in rows:
            if options.show in (verdict, "all") or (options.show == "wrong" and verdict != "right"):
                print(f"{verdict:10} [{case.ledger}] {case.intent}/{case.language} {case.question}"
                      f"  <{case.evidence}>\n    {answer.about}: {answer.text[:300]}")  # fmt: skip
    report(rows)
    spent.sort()
    print(f"\nmilliseconds of processor time: median {1e3 * spent[len(spent) // 2]:.1f}, 95th percentile"
          f" {1e3 * spent[len(spent) * 95 // 100]:.1f}")  # fmt: skip
    total = Counter(verdict for _, _, verdict in rows)
    good = total["right"] >= 0.9 * len(rows) and total["misleading"] <= 0.02 * len(rows)
    return int(options.gate and not good)


def report(rows: Sequence[tuple[Case, Answer, str]]) -> None:
    """The tables: all, by part, by intent and language."""
    print(
        f"{'':24} {'n':>4}  " + "  ".join(f"{verdict:>10}" for verdict in VERDICTS) + "   nothing: prec  rec"
    )
    groups: dict[str, list[tuple[Case, Answer, str]]] = defaultdict(list)
    for row in rows:
        case = row[0]
        groups[f"1part {case.part}"].append(row)
        groups[f"2ledger {case.ledger}"].append(row)
        groups[f"3intent {case.intent.split('+')[0]}"].append(row)
        groups[f"4language {case.language}"].append(row)
    for name in sorted(groups):
        group = groups[name]
        count = Counter(verdict for _, _, verdict in group)
        said = [case for case, answer, _ in group if says_nothing(answer)]
        true = [case for case, _, _ in group if case.evidence == "-"]
        both = sum(case.evidence == "-" for case in said)
        precision = f"{both / len(said):.2f}" if said else "  - "
        recall = f"{both / len(true):.2f}" if true else "  - "
        shares = "  ".join(f"{count[verdict] / len(group):10.3f}" for verdict in VERDICTS)
        print(f"{name[1:]:24} {len(group):4}  {shares}            {precision} {recall}")


if __name__ == "__main__":
    sys.exit(main())
