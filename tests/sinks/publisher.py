"""Workers to kill: for each line `STORE DOMAIN APP` a process that publishes once. Its id is printed."""

from __future__ import annotations

import os
import sys
import time

import lark_oapi  # noqa: F401 - once for all of them: it takes seconds

from ringbolt.worker.pool import Pool
from ringbolt.worker.publishing import publishing
from tests.support import open_memory


def publish(store: str, domain: str, app: str) -> None:
    print(os.getpid(), flush=True)
    lark = {"lark_domain": domain, "lark_app_id": app, "lark_folder": "fld1"}
    with open_memory(store, clock=time.time, publish="lark", **lark) as memory:
        Pool(memory, handlers={"publish": publishing()}).run_once()


if __name__ == "__main__":
    while line := sys.stdin.readline():
        if not (child := os.fork()):
            publish(*line.split())
            os._exit(0)
        print(os.waitpid(child, 0)[1], flush=True)
