#!/bin/sh
# Prints the path of a Chrome or Chromium for the tests of the web page. If there is none, it installs Debian's
# package; without the rights for that, it says what to install.
#
# From the environment: RINGBOLT_TEST_BROWSER (the program to use).
set -eu

find_browser() {
    if [ -n "${RINGBOLT_TEST_BROWSER:-}" ]; then
        command -v "$RINGBOLT_TEST_BROWSER"
        return
    fi
    for name in chromium chromium-browser google-chrome google-chrome-stable chrome; do
        if command -v "$name"; then return; fi
    done
    return 1
}

if find_browser; then exit 0; fi

if [ -n "${RINGBOLT_TEST_BROWSER:-}" ]; then
    echo "browser: RINGBOLT_TEST_BROWSER names $RINGBOLT_TEST_BROWSER, which is no program here" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "browser: installing Debian's chromium for the tests of the web page" >&2
    export DEBIAN_FRONTEND=noninteractive
    if ! apt-get install -y -qq --no-install-recommends chromium >&2; then
        apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends chromium >&2 || true
    fi
    if find_browser; then exit 0; fi
fi
cat >&2 <<'WORDS'
browser: the tests of the web page need Chrome or Chromium, and there is none.
  Debian, Ubuntu:  sudo apt-get install chromium
  Fedora:          sudo dnf install chromium
  Or set RINGBOLT_TEST_BROWSER to the program.
WORDS
exit 1
