#!/bin/sh
# Sets up .venv/adapters for `make test-adapters`: the agent frameworks at the versions in tools/adapters.txt, and
# below them the packages of .venv (pytest, Ringbolt itself). They are heavy, so they never go into .venv.
#
# From the environment: UV (path of uv; empty: use pip), RINGBOLT_TEST_ADAPTERS (another folder).
set -eu

cd "$(dirname "$0")/.."
folder=${RINGBOLT_TEST_ADAPTERS:-.venv/adapters}
uv=${UV:-}
wanted=tools/adapters.txt
if cmp -s "$wanted" "$folder/ready"; then exit; fi

echo "Fetching the agent frameworks into $folder (about 720 MB)"
rm -rf "$folder"
.venv/bin/python -m venv "$folder"
# The list is complete: --no-deps keeps an index from adding to it.
if [ -n "$uv" ]; then
    "$uv" pip install --quiet --python "$folder/bin/python" --no-deps -r "$wanted"
else
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$folder/bin/python" -m pip install -q --no-input --no-deps -r "$wanted"
fi
# Only now, so that nothing counts as installed because .venv has it. What is in both comes from here.
.venv/bin/python - "$folder" <<'PYTHON'
import sys, sysconfig
from pathlib import Path

own = sysconfig.get_path("purelib")
(inner,) = Path(sys.argv[1]).glob("lib/python*/site-packages")
(inner / "ringbolt-development.pth").write_text(f"import site; site.addsitedir({own!r})\n")
PYTHON
cp "$wanted" "$folder/ready"
