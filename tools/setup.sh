#!/bin/sh
# Creates .venv and installs the project into it: `sh tools/setup.sh run` for running it,
# `sh tools/setup.sh dev` with the development tools too. The Makefile calls this when the
# stamp .venv/.run-ready or .venv/.dev-ready is missing or out of date, and adds the names of
# the files the stamp depends on.
#
# From the environment: PYTHON (default python3), UV (path of uv; empty: use venv and pip).
set -eu

profile=${1:-}
case $profile in
    run) locked=constraints-run.txt ;;
    dev) locked=constraints.txt ;;
    *) echo "usage: sh tools/setup.sh run|dev [file ...]" >&2; exit 2 ;;
esac
shift

cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
uv=${UV:-}
venv=.venv
here=$(pwd -P)

fail() {
    printf 'setup: %s\n' "$@" >&2
    exit 1
}

# Two makes at once take turns. The lock is on a file that always exists.
if command -v flock >/dev/null 2>&1; then
    exec 9<pyproject.toml
    flock 9
fi

# Usable: created here, by a set-up that was not interrupted, with a Python that is still right.
sound() {
    [ "$(cat "$venv/.home" 2>/dev/null)" = "$here" ] || return 1
    [ ! -e "$venv/.installing" ] || return 1
    "$venv/bin/python" -c '
import os, sys, sysconfig
sys.exit(sys.version_info < (3, 11) or not os.path.isdir(sysconfig.get_path("purelib")))
' >/dev/null 2>&1 || return 1
    [ -n "$uv" ] || "$venv/bin/python" -m pip --version >/dev/null 2>&1
}

create() {
    command -v "$python" >/dev/null 2>&1 || fail \
        "there is no '$python' here; Ringbolt needs Python 3.11 or newer." \
        "On Debian: apt install python3 python3-venv"
    version=$("$python" -c 'import platform; print(platform.python_version())') ||
        fail "'$python' does not run."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail \
        "'$python' is Python $version; Ringbolt needs 3.11 or newer." \
        "Name a newer one: make PYTHON=python3.12 ..."
    rm -rf "$venv"
    if [ -n "$uv" ]; then
        echo "Creating $venv with Python $version and uv"
        "$uv" venv --quiet --no-project \
            --python "$("$python" -c 'import sys; print(sys.executable)')" "$venv"
    else
        "$python" -c 'import ensurepip, venv' >/dev/null 2>&1 || fail \
            "'$python' cannot make virtual environments: its venv module is missing." \
            "On Debian: apt install python3-venv"
        echo "Creating $venv with Python $version"
        "$python" -m venv "$venv"
    fi
    printf '%s\n' "$here" >"$venv/.home"
}

# Another make may have done the work while this one waited for the lock.
ready() {
    [ $# -gt 0 ] && [ -e "$venv/.$profile-ready" ] || return 1
    for input in "$@"; do
        [ "$venv/.$profile-ready" -nt "$input" ] || return 1
    done
}

if sound; then
    if ready "$@"; then exit 0; fi
else
    create
fi

if [ "$profile" = dev ]; then
    echo "Installing Ringbolt and the development tools into $venv"
else
    echo "Installing Ringbolt into $venv"
fi
: >"$venv/.installing"
# First what others made, only files whose hashes are in the list; then the project itself, with the build backend
# from that list and nothing else from anywhere.
if [ -n "$uv" ]; then
    # At a terminal uv shows its progress by itself.
    quiet=--quiet; if [ -t 2 ]; then quiet=; fi
    # shellcheck disable=SC2086 # empty or one word
    "$uv" pip install $quiet --python "$venv/bin/python" --require-hashes -r "$locked"
    "$uv" pip install --quiet --python "$venv/bin/python" --no-deps --no-build-isolation -e .
else
    export PIP_DISABLE_PIP_VERSION_CHECK=1
    if [ -t 1 ]; then
        # A line that counts packages; pip's own output is shown if it fails.
        { "$venv/bin/python" -m pip install --no-input --require-hashes -r "$locked" 2>&1 || echo "setup: failed"; } |
            awk -v total="$(grep -c '==' "$locked")" '
                { text = text $0 "\n" }
                /^Collecting/ { printf "\r  package %d of %d", ++count, total; fflush() }
                /^Installing/ { printf "\r  installing %d packages  ", total; fflush() }
                /^setup: failed/ { failed = 1 }
                END { print ""; if (failed) { printf "%s", text; exit 1 } }'
    else
        "$venv/bin/python" -m pip install -qq --no-input --require-hashes -r "$locked"
    fi
    "$venv/bin/python" -m pip install -qq --no-input --no-deps --no-build-isolation -e .
fi
rm "$venv/.installing"
touch "$venv/.run-ready"
if [ "$profile" = dev ]; then touch "$venv/.dev-ready"; fi
