"""Make Python on Linux look like Python on another system, before anything else is imported.

RINGBOLT_SIMULATE names the system. What that system lacks is removed; what it has besides is added as far as
our code looks at it. The file system, signals and processes remain those of Linux.
"""

from __future__ import annotations

import builtins
import os
import sys
from types import ModuleType

_MACOS_LACKS = (
    "posix_fallocate posix_fadvise fdatasync sched_getaffinity memfd_create getrandom pidfd_open".split()
)


def _hide_proc() -> None:
    """There is no /proc: whoever opens or lists a path below it is told so."""

    def hidden(call):
        def wrapped(path, *args, **more):
            if isinstance(path, str | bytes | os.PathLike) and os.fsdecode(path).startswith("/proc"):
                raise FileNotFoundError(2, "No such file or directory", os.fsdecode(path))
            return call(path, *args, **more)

        return wrapped

    builtins.open = hidden(builtins.open)
    for name in ("open", "readlink", "listdir", "scandir", "stat", "lstat", "access"):
        setattr(os, name, hidden(getattr(os, name)))


def _macos() -> None:
    import fcntl

    for name in _MACOS_LACKS:
        if hasattr(os, name):
            delattr(os, name)
    fcntl.F_FULLFSYNC = 51  # Linux refuses it, as network shares on macOS do
    _hide_proc()
    proxies = ModuleType("_scproxy")  # the system's settings, which urllib asks for
    proxies._get_proxies = proxies._get_proxy_settings = dict
    sys.modules["_scproxy"] = proxies
    # The standard library was built for this system: what it decides by the name is decided before.
    import sysconfig

    sysconfig.get_config_vars()
    sys.platform = "darwin"


if os.environ.get("RINGBOLT_SIMULATE") == "darwin":
    _macos()
