#!/bin/sh
# Installs Debian's redis-server, if it is missing, for the tests of the sinks; without the rights for that, it says
# what to install. The tests start servers of their own; the service of the package is left off.
set -eu

if command -v redis-server >/dev/null; then exit 0; fi

if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "redis: installing Debian's redis-server for the tests of the sinks" >&2
    export DEBIAN_FRONTEND=noninteractive
    # Started by the package, it would listen on a port of this machine.
    export RUNLEVEL=1
    if ! apt-get install -y -qq --no-install-recommends redis-server >&2; then
        apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends redis-server >&2 || true
    fi
    if command -v redis-server >/dev/null; then exit 0; fi
fi
echo "redis: the tests of the sinks need redis-server (Debian, Ubuntu: sudo apt-get install redis-server)" >&2
exit 1
