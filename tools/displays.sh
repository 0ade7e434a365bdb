#!/bin/sh
# Installs Debian's xvfb and tmux, if they are missing, for the tests of waits for screens and terminals. Without
# the rights for that, those tests are skipped and say what to install.
set -eu

missing=
command -v Xvfb >/dev/null || missing="$missing xvfb"
command -v tmux >/dev/null || missing="$missing tmux"
if [ -z "$missing" ]; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "displays: installing Debian's$missing for the tests of waits" >&2
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086 # one word for each package
    apt-get install -y -qq --no-install-recommends $missing >&2 ||
        { apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends $missing >&2; } ||
        echo "displays: that failed; the tests that need them are left out" >&2
else
    echo "displays: not installed:$missing; the tests that need them are left out" >&2
fi
