"""Load for kernel tracers until the input ends.

``chat PAUSE`` is two processes, ask and answer, that exchange a byte repeatedly with pauses of some seconds. ``noise
NAME`` is a process that computes and sleeps without communication. ``wait`` ends when ask and answer have slept some
hundred times more, and more often than any noise: a busy machine may delay them for seconds.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import sys
import time
from pathlib import Path

TALKERS = ("ask", "answer")
ENOUGH = 300


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


def sleeps() -> dict[tuple[str, str], int]:
    """Count the sleeps of each process, by name and process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):  # it has ended
            text = path.read_text()
            name = re.findall(r"^Name:\t(.*)$", text, re.MULTILINE)[0]
            if name in TALKERS or name.startswith("noise-"):
                slept = re.findall(r"^voluntary_ctxt_switches:\t(\d+)$", text, re.MULTILINE)[0]
                found[name, path.parent.name] = int(slept)
    return found


def wait() -> None:
    before = sleeps()
    while True:
        time.sleep(0.05)
        more = [(name in TALKERS, slept - before.get((name, pid), slept)) for (name, pid), slept in sleeps().items()]
        if min(slept for talks, slept in more if talks) > max([ENOUGH, *(slept for talks, slept in more if not talks)]):
            return


if __name__ == "__main__":
    if sys.argv[1] == "chat":
        chat(float(sys.argv[2]))
    elif sys.argv[1] == "noise":
        noise(sys.argv[2])
    else:
        wait()
