"""Work for kernel tracers until the input ends.

``chat PAUSE`` is two processes, ask and answer, that pass a byte to and fro with pauses of some seconds; ``noise NAME``
is one that computes and sleeps and has nothing to do with them.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from pathlib import Path


def talker(name: str, read: int, write: int, pause_s: float) -> int:
    if pid := os.fork():
        return pid
    Path("/proc/self/comm").write_text(name)
    while byte := os.read(read, 1):
        time.sleep(pause_s)
        os.write(write, byte)
    os._exit(0)


def chat(pause_s: float) -> None:
    (to_answer, from_ask), (to_ask, from_answer) = os.pipe(), os.pipe()
    talkers = [talker("ask", to_ask, from_ask, pause_s), talker("answer", to_answer, from_answer, pause_s)]
    os.write(from_ask, b"x")
    print("ready", flush=True)
    sys.stdin.read()
    for pid in talkers:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def noise(name: str) -> None:
    Path("/proc/self/comm").write_text(name)
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0.001)[0]:
        sum(range(5_000))


if __name__ == "__main__":
    if sys.argv[1] == "chat":
        chat(float(sys.argv[2]))
    else:
        noise(sys.argv[2])
