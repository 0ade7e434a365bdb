"""Reading hostile text: each reader of texts on the worst of many repetitive strings.

    python bench/adversarial.py [--gate] [--only NAME …]

For each function the string that took longest, in milliseconds of processor time for 100 kB (the best of two
runs). Nothing that reads recorded text may take much longer for one text than for another, or a tool's output
could stall a hook. With --gate the exit code is 1 if a function takes more than 50 ms.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ringbolt.ask.questions import understand
from ringbolt.extract.artifacts import deployed_addresses, made_by_command
from ringbolt.extract.attempts import attempt
from ringbolt.extract.decisions import decisions
from ringbolt.extract.message_reader import read_message
from ringbolt.extract.names import find_names
from ringbolt.extract.values import printed_values, stated_values
from ringbolt.llm.complexity import is_complex
from ringbolt.llm.json_reply import first_object
from ringbolt.packet import encode, tokens
from ringbolt.progress.plan_progress import Observation, Progress
from ringbolt.recall import snippets
from ringbolt.signals import commands, failures, phrases, terms
from ringbolt.signals.step_numbers import step_numbers
from ringbolt.signals.text_layout import clauses, layout, sentences

SIZE = 100_000
MOST_MS = 50.0
PLAN = ["Add the Invoice model to billing.py", "Write tests for the tax calculator", "Commit and push"]
PIECES = [
    *'a \n"`*|#[(\t/0A.?_-1\\\'<&~=+:;,{éß数ж中한้', "\0", "\x1b", "\x9b0", "\u200b", "\u200d", "\u0301",
    "\ue000", "\U0001f600", "\U0010ffff", "**", "| a ", "- ", "1. ", "(a", "- [ ] ", "- [x] a\n", "/a", "a/",
    "a.", ".a", ". A", "a: ", "aB", "0a", "a1", "A_", "A=", "a ", '" ', "> ", "~~~", "\x1b[", "\x1b]",
    "\x00\x1b[2J", "because ", "I'll use a instead of ", "error: ", "Error", "x.Error", "git commit ",
    "git -c a ", '-m "', "<<EOF\n", "https://a", "phase 1 ", "step 1, ", "not yet ", "what ", "last ",
    "user not ", "the root cause of a ", "waiting for ", "instead of a", "a/b\\", "1 of 2 ", "done and ",
    '{"a":', "<think>", "2026-01-", "v1.2.",
]  # fmt: skip


def progress(text: str) -> None:
    belief = Progress(PLAN)
    belief.observe(Observation(at=1, kind="agent", text=text))
    given = {"file_path": text, "old_string": text, "new_string": text}
    belief.observe(Observation(at=2, kind="action", tool="Edit", input=given, ok=True))
    run = {"command": text}
    belief.observe(Observation(at=3, kind="action", tool="Bash", input=run, ok=True, text=text))


def reply_object(text: str) -> None:
    with suppress(ValueError):
        first_object(text)


FUNCTIONS: dict[str, Callable[[str], Any]] = {
    "attempt": lambda text: attempt(1, "Bash", {"command": text}, None),
    "clauses": clauses,
    "command_head": commands.command_head,
    "commits": lambda text: commands.commits(text, text),
    "decisions": lambda text: decisions(layout(text)),
    "deployed_addresses": deployed_addresses,
    "encode.margined": encode.margined,
    "encode.markdown": encode.markdown,
    "encode.quoted": encode.quoted,
    "encode.terminal": encode.terminal,
    "error_line": failures.error_line,
    "find_names": find_names,
    "fingerprint": failures.fingerprint,
    "from_first_error": failures.from_first_error,
    "has_phrase": lambda text: terms.has_phrase(text, ["a a"]),
    "hides_failure": lambda text: failures.hides_failure("make", text),
    "is_check": commands.is_check,
    "is_complex": is_complex,
    "made_by_command": lambda text: made_by_command(text, text),
    "may_tell_progress": phrases.may_tell_progress,
    "plan progress": progress,
    "printed_values": printed_values,
    "read_query": terms.read_query,
    "rejection": failures.rejection,
    "reply object": reply_object,
    "sentences": sentences,
    "snippet": lambda text: snippets.snippet(text, {"a", "数"}),
    "stated_values": lambda text: stated_values(list(layout(text))),
    "message": read_message,
    "step_numbers": step_numbers,
    "terms_of": terms.terms_of,
    "tokens.estimate": tokens.estimate,
    "understand": understand,
}


def milliseconds(function: Callable[[str], Any], text: str) -> float:
    best = float("inf")
    for _ in range(2):
        began = time.process_time()
        function(text)
        best = min(best, time.process_time() - began)
    return 1000 * best


def main() -> int:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    arguments.add_argument("--gate", action="store_true", help=f"fail above {MOST_MS:g} ms")
    arguments.add_argument("--only", nargs="+", choices=FUNCTIONS, metavar="NAME", default=[*FUNCTIONS])
    chosen = arguments.parse_args()
    slow = 0
    print(f"{'function':20}  {'ms per 100 kB':>13}  worst string")
    for name in chosen.only:
        times = {
            piece: milliseconds(FUNCTIONS[name], piece * (SIZE // len(piece.encode()))) for piece in PIECES
        }
        worst = max(times, key=times.__getitem__)
        slow += times[worst] > MOST_MS
        print(f"{name:20}  {times[worst]:13.1f}  {worst!a}")
    print(f"\nGATE  {slow} of {len(chosen.only)} above {MOST_MS:g} ms" if slow else "\nGATE  all met")
    return int(chosen.gate and slow > 0)


if __name__ == "__main__":
    sys.exit(main())
