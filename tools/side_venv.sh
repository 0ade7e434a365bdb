#!/bin/sh
# Creates an environment beside the one for development, for tools that only some targets need:
# `sh tools/side_venv.sh docs` installs exactly what constraints-docs.txt lists into .venv/docs.
#
# From the environment: UV (path of uv; empty: use venv and pip).
set -eu

name=$1
cd "$(dirname "$0")/.."
locked=constraints-$name.txt
folder=.venv/$name
uv=${UV:-}

if cmp -s "$locked" "$folder/.ready"; then exit 0; fi
echo "Installing what $locked lists into $folder"
rm -rf "$folder"
if [ -n "$uv" ]; then
    "$uv" venv --quiet --no-project --python .venv/bin/python "$folder"
    "$uv" pip install --quiet --python "$folder/bin/python" --require-hashes -r "$locked"
else
    .venv/bin/python -m venv "$folder"
    PIP_DISABLE_PIP_VERSION_CHECK=1 "$folder/bin/python" -m pip install -qq --no-input --require-hashes -r "$locked"
fi
cat "$locked" >"$folder/.ready"
