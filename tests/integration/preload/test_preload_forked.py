"""Initial state of forked children: their offsets, their space, and few private pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from iotide.collectors.settings import TracerSettings
from iotide.collectors.sources.preload.records.lines import Lines
from iotide.collectors.sources.preload.records.ring_layout import HEADER
from iotide.collectors.sources.preload.rings.drain import Drain
from iotide.collectors.sources.preload.rings.ended_process import ended_processes_in
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.collectors.wrappers.sources import CORE_NAME, library_of
from iotide.events import Kind
from support.system.commands import plain_environment
from support.system.mounting import need_mounts
from support.system.waiting import wait_for
from support.tracing.programs import need
from support.tracing.tracing import Tracing

PAGE_BYTES = 4096


class Headers:
    """A receiver that stores the headers of processes by their pids."""

    def __init__(self) -> None:
        self.free_lines = 1 << 40
        self.by_pid: dict[int, bytes] = {}

    def image_started(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        self.by_pid[pid] = header

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None: ...

    def lines(self, token: int, tid: int, lines: Lines) -> None: ...

    def definitions(self, token: int, entries: bytes) -> None: ...

    def settled(self, token: int) -> None: ...

    def malformed(self, token: int, problem: str) -> None: ...

    def ended(self, token: int) -> None: ...

    def ended_processes(self, data: bytes) -> None:
        for ended in ended_processes_in(data):
            ended.pass_on(self)

    def refused(self, counter: str, problem: str) -> None: ...

    def still_running(self, token: int) -> None: ...

    def unreachable(self, job: str, command: str, failure: str) -> None: ...


def test_children_report_their_own_mounts_if_they_differ_from_the_parents(tmp_path: Path) -> None:
    script = """
import ctypes, os
def told():
    os.write(1, b"%d %d\\n" % (os.getpid(), os.stat("/proc/self/ns/mnt").st_ino))
told()
for moves in (0, 1):
    if not (child := os.fork()):
        if moves and ctypes.CDLL(None).unshare(0x20000):
            os._exit(1)
        told()
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise SystemExit(1)
"""
    command = [*need_mounts(), sys.executable, "-c", script]
    receiver, gate = Headers(), tmp_path / "gate"
    drain = Drain(gate)
    try:
        environment = traced_environment(plain_environment(), gate, "job", TracerSettings())
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        expected = {int(pid): int(inode) for pid, inode in map(str.split, done.stdout.splitlines())}
        wait_for(lambda: not drain.poll(receiver) and expected.keys() <= receiver.by_pid.keys(), what="all processes")
    finally:
        drain.close(receiver)
    seen = {pid: int(np.frombuffer(receiver.by_pid[pid], HEADER, 1)["mounts"][0]) for pid in expected}
    assert len(expected) == 3
    assert (
        len({*expected.values()}) == len({*seen.values()}) == len({(expected[pid], seen[pid]) for pid in expected}) == 2
    )


def test_child_without_room_for_its_parents_memory_and_its_own_is_traced(tracing: Tracing, tmp_path: Path) -> None:
    script = """
import os, resource, sys
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + (32 << 20)
if not (child := os.fork()):
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    descriptor = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, b"hello")
    os._exit(0)
raise SystemExit(os.waitpid(child, 0)[1])
"""
    done = tracing.run([sys.executable, "-c", script, tmp_path / "file"])
    assert (done.returncode, done.stderr) == (0, "")
    assert tracing.bytes_by_path(Kind.WRITE)[str(tmp_path / "file")] == 5


def test_first_write_of_a_child_touches_one_page() -> None:
    listed = subprocess.run(
        [need("readelf"), "--wide", "--sections", library_of(CORE_NAME)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C"},
    ).stdout
    ((address, size),) = re.findall(r"iotide_fork_written\s+PROGBITS\s+(\S+)\s+\S+\s+(\S+)", listed)
    assert int(size, 16) > 0
    assert int(address, 16) // PAGE_BYTES == (int(address, 16) + int(size, 16) - 1) // PAGE_BYTES
