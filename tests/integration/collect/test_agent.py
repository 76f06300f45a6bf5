"""The collector's agent with faulty sources."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from iotide.collectors.source import Problems, SourceItem
from iotide.collectors.sources.preload.records.ring_layout import HEADER_BYTES, HELLO, LAYOUT, MAGIC
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import IOTIDE, Program, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.regions import connected

HANGING_LIBRARY = """
import os, signal
def File(*_):
    with open({started!r}, "w") as file:
        print(os.getpid(), file=file)
    while True:
        signal.pause()
"""

HANGING_FILE_SYSTEM = """
import os, pathlib
opened = pathlib.Path.open
def opens(self, *args, **named):
    if self.name == "hangs.jsonl":
        pathlib.Path({started!r}).touch()
        os.read(os.pipe()[0], 1)
    return opened(self, *args, **named)
pathlib.Path.open = opens
"""


class Broken:
    """A source that raises."""

    def __init__(self) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter(events=3)
        self.finished = False
        self.closed = False

    def poll(self) -> list[SourceItem]:
        raise RuntimeError("out of order")

    def close(self) -> None:
        self.closed = True


async def test_source_that_raises_is_closed_and_the_others_go_on() -> None:
    broken, good = Broken(), Fed()
    async with serving(http=None) as server, feeding(server, broken, good) as agent:  # type: ignore[arg-type]
        good.open("s", "job")
        good.periodic("s")
        await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].totals.events == 120)
        assert broken.closed
        assert agent.counters()["sources_failed"] == 1
        assert agent.counters()["events"] == 3
        assert "out of order" in str(agent.problems.first[0])


async def test_drain_closes_streams_and_waits_for_the_last_acknowledgement() -> None:
    source = Fed()
    async with serving(http=None, linger_s=0.0) as server, feeding(server, source) as agent:
        source.open("s", "job")
        source.periodic("s")
        assert await agent.drain(DEADLINE_S)
        assert source.closed
        assert agent.finished
        assert server.aggregator.jobs["job"].totals.events == 120
        assert not server.aggregator.jobs["job"].streams


async def test_drops_reach_the_aggregators_counters() -> None:
    source = Fed()
    async with serving(http=None) as server, feeding(server, source):
        source.counters["events_dropped:ring_full"] = 42
        await until(lambda: server.aggregator.collector_counters()["events_dropped:ring_full"] == 42)


async def test_event_log_whose_library_hangs_delays_no_other_input(tmp_path: Path) -> None:
    started, log, other = tmp_path / "started", tmp_path / "log.h5", tmp_path / "other.jsonl"
    (tmp_path / "h5py.py").write_text(HANGING_LIBRARY.format(started=str(started)))
    log.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(1000))
    other.write_text('{"call": "write", "path": "/x", "start": 1, "dur": 1, "size": 5}\n')
    async with serving(ingest=f"ipc://{tmp_path}/in", http=None) as server:
        command = [*IOTIDE, "collect", "--replay", "--connect", server.ingest_endpoint, "--job", "job"]
        environment = plain_environment(PYTHONPATH=str(tmp_path))
        with Program([*command, str(log), str(other)], env=environment, stderr=subprocess.PIPE, text=True) as process:
            await until(lambda: started.exists() and started.read_text().endswith("\n"))
            await until(lambda: "job" in server.aggregator.jobs and server.aggregator.jobs["job"].bytes_written == 5)
            os.kill(int(started.read_text()), signal.SIGKILL)  # it still hangs
            _, said = await asyncio.to_thread(process.communicate, timeout=DEADLINE_S)
    assert process.returncode == 1
    assert "log.h5: its reader broke (SIGKILL)" in said


def test_collector_prints_problems_while_it_runs(tmp_path: Path) -> None:
    """It may run for months: a problem that is printed at its end, or never after a kill, is not known to anybody."""
    lines, gate = tmp_path / "lines.jsonl", tmp_path / "t"
    lines.write_text('{"call": "write"\n')
    command = [*IOTIDE, "collect", "--socket", str(gate), "--connect", f"ipc://{tmp_path}/in", str(lines)]
    with LineProcess(command, output="stderr") as collector:
        assert "lines.jsonl:1: " in collector.wait_for_line(lambda line: "expected" in line)
        wait_for(gate.exists, what="the collector's socket")
        for _ in range(2):
            with connected(gate) as peer:
                socket.send_fds(peer, [HELLO.pack(MAGIC, LAYOUT + 1, 0, HEADER_BYTES, 7)], [peer.fileno()])
        collector.wait_for_line(lambda line: "is traced by another version of iotide: layout" in line)
        with lines.open("a") as file:
            file.write("no json\n")
        assert "lines.jsonl:2: " in collector.wait_for_line(lambda line: "lines.jsonl" in line)
        assert len([line for line in collector.lines if "layout" in line]) == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_replay_of_a_file_whose_file_system_hangs_ends_by_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    started, hangs = tmp_path / "started", tmp_path / "hangs.jsonl"
    (tmp_path / "sitecustomize.py").write_text(HANGING_FILE_SYSTEM.format(started=str(started)))
    hangs.touch()
    command = [*IOTIDE, "collect", "--replay", "--connect", f"ipc://{tmp_path}/in", "--job", "job", str(hangs)]
    environment = plain_environment(PYTHONPATH=str(tmp_path))
    with Program(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        wait_for(started.exists, what="the opening")
        process.send_signal(number)
        _, said = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 2
    assert "hangs.jsonl: it could not be opened before the end" in said
