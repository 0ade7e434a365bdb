"""Record a compaction in Claude Code as a picture: `python tools/recording.py`.

It runs the real Claude Code program, which `sh tools/hosts.sh claude` fetches, with Ringbolt installed in it
as a user installs it. Tool calls, hooks, the compaction and the packet are real. The model is the scripted
one of tests/live: what it says, which tools it calls and the summary it writes are in this file. A real model
writes a longer summary; the picture says that this one is scripted.

The result is what the model was sent in its first request after the compaction. docs/images/compaction.txt
has the packet in full; compaction-light.svg and compaction-dark.svg show it below the summary, animated with
CSS, and still for readers who prefer reduced motion. The run fails if the packet lacks what the picture is
about.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.live.model_servers import Call, Turn, calls, model_server, says  # noqa: E402 - after the path is set
from tests.live.programs import ClaudeCode  # noqa: E402

IMAGES = ROOT / "docs" / "images"
REQUEST = "Release v1.2.3 of the shop. Do not touch the tax tables."
LATER = "Tell me before you announce it."
GO_ON = "Go on."
SUMMARY = "The user is releasing a version of the shop. The code was changed, tested and pushed."
COMMITTED = "git add -A && git commit -q -m 'Show prices with two decimals' && git tag v1.2.3"
REFUSED = "git push github v1.2.3"
PUSHED = "git push gitlab v1.2.3"
MUST_COME_BACK = (f"| {REQUEST}", LATER, REFUSED, PUSHED)


def main() -> None:
    """Run the session, check what came back, and write the pictures."""
    with tempfile.TemporaryDirectory() as folder, model_server() as server:
        packet = record(Path(folder).resolve(), server)
    missing = [text for text in MUST_COME_BACK if text not in packet]
    if missing:
        raise SystemExit(f"The packet lacks {missing}:\n{packet}")
    (IMAGES / "compaction.txt").write_text(packet + "\n", encoding="utf-8")
    for theme in THEMES:
        path = IMAGES / f"compaction-{theme}.svg"
        path.write_text(picture(packet, theme), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


# --- the session --------------------------------------------------------------------------------------


def record(folder: Path, server: Any) -> str:
    """Work, compact, go on; returns the packet in the first request after the compaction."""
    claude = ClaudeCode(folder, server)
    claude.install()
    _prepare(claude.work)
    script = server.script
    script.summary = SUMMARY
    script.turns = [*_work(claude.work), says("I will ask you first.")]
    with claude.conversation() as session:
        for prompt in (REQUEST, LATER, "/compact"):
            session.say(prompt)
        before = len(script.asked)
        _check_outputs(script.asked[-1].text)
        script.turns = [says("The release is pushed. May I announce it?")]
        session.say(GO_ON)
        session.end()
    text = script.asked[before].text
    if SUMMARY not in text:
        raise SystemExit("The model was not given the summary: the session was not compacted.")
    found = re.search(r"<(ringbolt-\w+)>\n(.*?)\n</\1>", text, re.DOTALL)
    if found is None:
        raise SystemExit("The model was not given a packet.")
    return found[2].replace(str(folder), "~")


def _check_outputs(text: str) -> None:
    """Fail unless the commands really did what the picture says."""
    missing = [output for output in ("1 passed", "denied: the deploy key", "[new tag]") if output not in text]
    if missing:
        raise SystemExit(f"The session lacks the output {missing}.")


def _prepare(work: Path) -> None:
    """A project with two remotes: one refuses the push, the other takes it."""

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", work, *words], check=True, capture_output=True)

    git("config", "user.name", "Mia")
    git("config", "user.email", "mia@example.org")
    (work / ".gitignore").write_text("__pycache__/\n", encoding="utf-8")
    (work / "prices.py").write_text("def total(cents):\n    return cents / 100\n", encoding="utf-8")
    git("add", ".")
    git("commit", "-q", "-m", "Begin")
    for name in ("github", "gitlab"):
        remote = work.parent / f"{name}.git"
        subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
        git("remote", "add", name, str(remote))
    refuse = work.parent / "github.git" / "hooks" / "pre-receive"
    refuse.write_text(
        "#!/bin/sh\necho 'denied: the deploy key may not push tags'\nexit 1\n", encoding="utf-8"
    )
    refuse.chmod(0o755)


def _work(work: Path) -> list[Turn]:
    test = "from prices import total\n\nassert total(1050) == '10.50'\nprint('1 passed')\n"
    return [
        Turn(text="First the prices.", calls=(Call("Read", {"file_path": str(work / "prices.py")}),)),
        calls(
            "Edit", file_path=str(work / "prices.py"),
            old_string="cents / 100", new_string="f'{cents / 100:.2f}'",
        ),
        calls("Write", file_path=str(work / "test_prices.py"), content=test),
        calls("Bash", command="python3 test_prices.py", description="Run the tests"),
        calls("Bash", command=COMMITTED, description="Commit and tag"),
        calls("Bash", command=REFUSED, description="Push the tag"),
        Turn(
            text="GitHub refuses the deploy key. I decided to push to GitLab, because the key works there.",
            calls=(Call("Bash", {"command": PUSHED, "description": "Push the tag"}),),
        ),
        says("v1.2.3 is pushed to GitLab. The announcement is left."),
    ]  # fmt: skip


# --- the picture --------------------------------------------------------------------------------------

WIDTH, MARGIN, LINE, SIZE = 880, 24, 19, 13
COLUMNS = 104  # characters of SIZE that fit between the margins
THEMES = {
    "light": {
        "ground": "#ffffff", "rule": "#d0d7de", "ink": "#1f2328", "quiet": "#59636e", "heading": "#0b6b64",
        "bad": "#b3261e", "good": "#17733a",
    },
    "dark": {
        "ground": "#0d1117", "rule": "#3d444d", "ink": "#e6edf3", "quiet": "#9198a1", "heading": "#5fcfc4",
        "bad": "#f2938b", "good": "#6fcf8f",
    },
}  # fmt: skip
SECONDS_A_LINE = 0.35


def picture(packet: str, theme: str) -> str:
    """The recording as an SVG: what was said and done, then what the model reads after the compaction."""
    lines = _lines(packet)
    height = 2 * MARGIN + LINE * len(lines)
    colours = THEMES[theme]
    rules = "".join(f".{name}{{fill:{colour}}}" for name, colour in colours.items())
    body: list[str] = []
    for number, (kind, text) in enumerate(lines):
        if not text:
            continue
        body.append(
            f'<text x="{MARGIN}" y="{MARGIN + LINE * (number + 1) - 5}" class="{kind}" '
            f'style="animation-delay:{number * SECONDS_A_LINE:.2f}s">{escape(text)}</text>'
        )
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"
 role="img" aria-label="A session of Claude Code is compacted; Ringbolt gives the model its task back">
<style>
text{{font:{SIZE}px ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",Menlo,Consolas,monospace;
white-space:pre;animation:appear .2s ease-out backwards}}
@keyframes appear{{from{{opacity:0}}}}
@media (prefers-reduced-motion:reduce){{text{{animation:none}}}}
{rules}.heading{{font-weight:600}}
</style>
<rect x=".5" y=".5" width="{WIDTH - 1}" height="{height - 1}" rx="8"
 fill="{colours["ground"]}" stroke="{colours["rule"]}"/>
{chr(10).join(body)}
</svg>
"""


def _lines(packet: str) -> list[tuple[str, str]]:
    """Each line of the picture with its kind."""
    _, *shown = packet.splitlines()  # the first line of a packet explains its form
    lines = [
        ("heading", "Claude Code, before the compaction"),
        ("ink", f"> {REQUEST}"),
        (
            "quiet",
            "  Edit prices.py   Write test_prices.py   Bash python3 test_prices.py: 1 passed   git commit",
        ),
        ("bad", f"  Bash {REFUSED}: denied"),
        ("good", f"  Bash {PUSHED}: done"),
        ("ink", f"> {LATER}"),
        ("", ""),
        ("heading", "/compact leaves a summary (here a scripted model's, shorter than a real one)"),
        ("quiet", SUMMARY),
        ("", ""),
        ("heading", "What Ringbolt adds, before the model writes its next word"),
    ]
    for line in shown[: shown.index("Last")]:
        kind = "quiet" if line[0].isupper() and not line.startswith("Task ") else "ink"  # headings are quiet
        lines += [(kind, part) for part in textwrap.wrap(line, COLUMNS, subsequent_indent="    ")]
    return [*lines, ("quiet", "…  the last messages follow; compaction.txt has the whole packet")]


if __name__ == "__main__":
    main()
