"""The collector's side of cells: children are read once, after their earlier images, and cells are given back."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iotide.collectors.sources.preload.records import ring_layout as layout
from iotide.collectors.sources.preload.rings import cell_reader
from iotide.collectors.sources.preload.rings.drain import Drain
from iotide.collectors.sources.preload.rings.ended_process import ended_processes_in, read_cell
from iotide.collectors.sources.preload.rings.process_image import ProcessImage
from iotide.collectors.sources.preload.rings.region import Region
from iotide.collectors.sources.preload.rings.watching import GONE
from iotide.collectors.wrappers.sources import PRELOAD
from support.system.waiting import wait_for
from support.tracing.regions import MadeCell, MadeRegion
from support.tracing.spools import RecordingReceiver

TOKEN = 1000


class Told(RecordingReceiver):
    """A receiver that stores its input without counters of 0."""

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        if counts := {name: count for name, count in counts.items() if count}:
            super().counters(token, rank, ranks, counts)

    def starts(self, token: int) -> list[int]:
        """Start times of a process's records, in order."""
        lines = b"".join(each[3] for each in self.said if each[:2] == ("lines", token))
        return np.frombuffer(lines, layout.RECORD)["start"].tolist()

    def order(self) -> list[tuple[str, int]]:
        return [(each[0], each[1]) for each in self.said if each[0] in {"begun", "ended"}]


class Host:
    """A drain that reads a process with cells, which is this one."""

    def __init__(self, folder: Path) -> None:
        self.gate, self.now_s, self.told = folder / "gate", 100.0, Told()
        self.made = MadeRegion(cells=8)
        self.made.set(pid=os.getpid())
        self.drain = Drain(self.gate, clock=lambda: self.now_s)
        self.drain.await_ends(wanted=True)
        self.made.hand_over(self.gate)
        wait_for(lambda: self.drain.poll(self.told) and bool(self.told.said), what="the host")

    @property
    def is_open(self) -> bool:
        return bool(np.frombuffer(self.made.memory, layout.CELLS, 1, layout.CELLS_AT)["open"][0])

    def poll(self, passed_s: float = 0.0) -> None:
        self.now_s += passed_s
        self.drain.poll(self.told)

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *_: object) -> None:
        self.drain.close(self.told)
        self.made.__exit__()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with Host(tmp_path) as made:
        yield made


def ended_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


@contextmanager
def running() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        yield process


def is_free(cell: MadeCell) -> bool:
    beside = np.delete(cell.content, np.s_[layout.CELL_RING_AT : layout.CELL_LOG_AT])
    return not int(cell.claim["pid"][0]) and not int(cell.claim["stage"][0]) and not beside.any()


def test_layout_is_that_of_the_tracer() -> None:
    text = (PRELOAD / "ring.h").read_text()
    numbers = dict(re.findall(r"#define IOTIDE_(CELL\w*) (\d+)$", text, re.MULTILINE))
    mirrored = {
        "CELLS": layout.MAX_CELLS, "CELL_LINES": layout.CELL_LINES, "CELL_LOG_BYTES": layout.CELL_LOG_BYTES,
        "CELL_SLOT_AT": layout.CELL_SLOT_AT, "CELL_BYTES": layout.CELL_BYTES, "CELLS_AT": layout.CELLS_AT,
    }  # fmt: skip
    assert {name: int(number) for name, number in numbers.items()} == mirrored


@given(
    records=st.lists(st.tuples(st.integers(1, 3), st.lists(st.integers(0, 2**64 - 1), max_size=9)), max_size=6),
    files=st.lists(st.binary(min_size=1, max_size=40), max_size=5),
    counters=st.dictionaries(
        st.sampled_from(["lost_before", "left_out", "missed_before", "unrecorded_streams", "unrecorded_bytes"]),
        st.integers(0, 2**63),
    ),
)
def test_result_of_an_ended_process_is_that_of_its_region(
    records: list[tuple[int, list[int]]], files: list[bytes], counters: dict[str, int]
) -> None:
    with MadeRegion(cells=2) as made, MadeCell(made, 1, 77, TOKEN) as cell:
        cell.set(**counters)
        for number, file in enumerate(files, 1):
            cell.define(number, file)
        for count, words in records:
            cell.put(count, words=words)
        data = read_cell(memoryview(cell.content), 77)
        assert data is not None
        (ended,) = ended_processes_in(data)
        at_once, told, region = Told(), Told(), Region.in_cell(memoryview(cell.content))
        ended.pass_on(at_once)
        del ended
        process = ProcessImage(77, region, GONE)
        told.image_started(TOKEN, 77, at_once.said[0][3], follows=False)
        process.drain(TOKEN, told, 0.0, 65_536)
        process.learn(TOKEN, told, 0.0, ended=True)
        process.report_counters(TOKEN, told, 0.0)
        told.ended(TOKEN)
        region.close()
        del process, region
        assert at_once.said == told.said


def test_cell_of_a_process_that_has_ended_is_read_at_once_and_given_back(host: Host) -> None:
    assert host.is_open
    with MadeCell(host.made, 3, ended_pid(), TOKEN) as cell:
        cell.put(5)
        host.poll()
        assert host.told.starts(TOKEN) == list(range(5))
        assert host.told.order()[1:] == [("begun", TOKEN), ("ended", TOKEN)]
        assert is_free(cell)
        host.poll()
        assert host.told.order()[3:] == []


def test_process_that_ended_while_it_began_has_its_cell_given_back(host: Host) -> None:
    with MadeCell(host.made, 3, ended_pid(), TOKEN, 0) as cell:
        host.poll()
        assert host.told.order()[1:] == []
        assert is_free(cell)


def test_process_that_begins_and_ends_while_cells_are_read_loses_nothing(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    with MadeCell(host.made, 3, ended_pid(), TOKEN, 0) as cell:

        def watch(pid: int, begun_ns: int) -> int:
            cell.put(2)
            cell.claim["stage"] = 2
            return GONE

        monkeypatch.setattr(cell_reader, "watch_begun", watch)
        host.poll()
        assert host.told.starts(TOKEN) == [0, 1]
        assert is_free(cell)


def test_cell_of_a_running_process_is_read_after_a_while_and_again(host: Host) -> None:
    with running() as process, MadeCell(host.made, 0, process.pid, TOKEN) as cell:
        cell.put(2)
        host.poll()
        assert host.told.starts(TOKEN) == []
        assert not host.drain.sleep()
        host.poll(0.03)
        assert host.told.starts(TOKEN) == [0, 1]
        cell.put(3)
        host.poll()
        assert host.told.starts(TOKEN) == list(range(5))
        process.communicate()
        wait_for(lambda: host.poll() is None and ("ended", TOKEN) in host.told.order(), what="its end")
        assert is_free(cell)


def test_pid_that_was_reused_before_its_process_began_does_not_keep_a_cell(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as process, MadeCell(host.made, 0, process.pid, TOKEN, 0) as cell:
        host.poll()
        assert not is_free(cell)  # it may still begin
        cell.claim["pid"] = ended_pid()
        host.poll()
        assert is_free(cell)
    with running() as process, MadeCell(host.made, 0, process.pid, TOKEN, 0) as cell:
        monkeypatch.setattr(cell_reader, "monotonic_ns", lambda: 0)  # seen before this process was started
        host.poll()
        assert is_free(cell)


def test_pid_that_was_reused_does_not_keep_a_cell(host: Host) -> None:
    with running() as process, MadeCell(host.made, 0, process.pid, TOKEN) as cell:
        cell.set(collector_seen_ns=1)
        cell.put(2)
        host.poll()
        assert host.told.order()[1:] == [("begun", TOKEN), ("ended", TOKEN)]


def test_running_parent_is_read_before_its_child_that_has_ended(host: Host) -> None:
    with (
        running() as process,
        MadeCell(host.made, 5, process.pid, TOKEN, 1),
        MadeCell(host.made, 2, ended_pid(), TOKEN + 1, 2, parent=process.pid),
    ):
        host.poll()
        assert host.told.order()[1:] == [("begun", TOKEN), ("begun", TOKEN + 1), ("ended", TOKEN + 1)]
        process.communicate()


@pytest.mark.parametrize("has_ended", [False, True])
def test_cell_is_read_before_the_next_program_of_its_process(
    host: Host, monkeypatch: pytest.MonkeyPatch, has_ended: bool
) -> None:
    with MadeRegion(64) as program, MadeCell(host.made, 2, 0, TOKEN) as cell:
        cell.claim["pid"] = 0
        cell.put(3)
        program.set(token=80)
        program.put(2)
        if has_ended:
            pid = program.hand_over_from_ended_process(host.gate)
        else:
            program.hand_over_from_another_process(host.gate)
            pid = program._senders[0].pid
            host.drain.await_ends(wanted=False)
        with monkeypatch.context() as patch:  # the process begins in the cell after the collector has looked there
            patch.setattr(cell_reader.CellReader, "read", lambda *_: False)
            cell.claim["pid"] = pid
            host.poll()
        assert host.told.order()[1:4] == [("begun", TOKEN), ("ended", TOKEN), ("begun", 80)]
        assert host.told.starts(TOKEN) == [0, 1, 2]
        host.poll(1.0)
        assert host.told.starts(80) == [0, 1]
        assert host.told.starts(TOKEN) == [0, 1, 2]
        assert is_free(cell)


def test_cell_is_read_before_the_next_program_of_its_process_that_waits(host: Host) -> None:
    with MadeRegion(64) as program, MadeCell(host.made, 2, 0, TOKEN) as cell:
        cell.claim["pid"] = 0
        cell.put(3)
        program.set(token=80)
        program.put(2)
        program.hand_over_from_another_process(host.gate)
        cell.claim["pid"] = program._senders[0].pid
        host.poll()  # the program has arrived, and is read when it has ended, or later
        program.end_senders()
        host.poll()
        host.poll(1.0)
        assert host.told.order()[1:4] == [("begun", TOKEN), ("ended", TOKEN), ("begun", 80)]
        assert (host.told.starts(TOKEN), host.told.starts(80)) == ([0, 1, 2], [0, 1])
        assert is_free(cell)


@pytest.mark.parametrize("awaits_ends", [False, True])
def test_process_that_has_left_its_cell_is_read_in_order(host: Host, awaits_ends: bool) -> None:
    host.drain.await_ends(wanted=awaits_ends)
    with MadeRegion(2) as extent, MadeCell(host.made, 4, 0, TOKEN) as cell:
        extent.set(extent=1, token=TOKEN)
        cell.put(4)
        extent.put(3, start=10)
        extent.hand_over_from_another_process(host.gate)
        cell.claim["stage"] |= layout.CELL_LEFT
        cell.claim["pid"] = extent._senders[0].pid
        host.poll()
        host.poll(0.03)
        extent.define(9, b"/later")
        extent.put(1, start=20)
        host.poll()
        extent.end_senders()
        wait_for(lambda: host.poll() is None and ("ended", TOKEN) in host.told.order(), what="its end")
        assert host.told.starts(TOKEN) == [0, 1, 2, 3, 10, 10, 10, 20]
        assert any(each[0] == "definitions" and b"/later" in each[2] for each in host.told.said)
        assert host.told.order()[1:] == [("begun", TOKEN), ("ended", TOKEN)]
        assert is_free(cell)
        assert not [each for each in host.told.said if each[0] == "refused"]


def test_process_that_ended_before_its_extent_is_accepted_waits_for_it(host: Host) -> None:
    with MadeRegion(2) as extent, MadeCell(host.made, 4, ended_pid(), TOKEN) as cell:
        cell.claim["stage"] |= layout.CELL_LEFT
        cell.put(4)
        host.poll()
        host.poll(0.5)
        extent.set(extent=1, token=TOKEN)
        extent.put(3, start=10)
        extent.hand_over_from_ended_process(host.gate)
        host.poll()
        host.poll(0.01)
        host.poll(1.0)
        assert host.told.starts(TOKEN) == [0, 1, 2, 3, 10, 10, 10]
        assert host.told.order()[1:] == [("begun", TOKEN), ("ended", TOKEN)]


def test_process_that_was_killed_while_it_left_its_cell_ends(host: Host) -> None:
    with MadeCell(host.made, 4, ended_pid(), TOKEN) as cell:
        cell.claim["stage"] |= layout.CELL_LEFT
        cell.put(4)
        host.poll()
        host.poll(1.5)
        assert host.told.starts(TOKEN) == [0, 1, 2, 3]
        assert host.told.order()[1:] == [("begun", TOKEN), ("ended", TOKEN)]
        assert is_free(cell)


def test_cells_close_when_their_process_is_not_read_any_more(host: Host) -> None:
    with MadeCell(host.made, 1, 0, TOKEN) as late:
        late.claim["pid"] = 0
        late.put(2)
        host.drain.stop_reading(77)
        host.poll()
        assert not host.is_open
        late.claim["pid"] = ended_pid()  # it had checked before
        host.poll(5.0)
        assert host.told.starts(TOKEN) == [0, 1]


def test_end_of_the_collector_reads_what_is_in_cells(host: Host) -> None:
    with running() as process, MadeCell(host.made, 0, process.pid, TOKEN) as cell:
        cell.put(2)
        host.drain.close(host.told)
        process.communicate()
        assert host.told.starts(TOKEN) == [0, 1]
        assert not host.is_open


def test_cells_of_another_pid_namespace_stay_closed(host: Host) -> None:
    with MadeRegion(cells=8) as other:
        other.set(pid=os.getpid() + 1, token=78)
        other.hand_over(host.gate)
        wait_for(lambda: host.poll(0.01) is None and ("begun", 78) in host.told.order(), what="the other process")
        assert not np.frombuffer(other.memory, layout.CELLS, 1, layout.CELLS_AT)["open"][0]


HOSTILE = st.tuples(
    st.sampled_from([layout.CELLS_AT - 64, layout.CELLS_AT, layout.CELLS_AT + 24, 0]) | st.integers(0, 2**15),
    st.integers(0, 200),
    st.sampled_from([b"\xff" * 8, bytes(8), b"\x10" + bytes(7), b"\x01" * 8]) | st.binary(min_size=8, max_size=8),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(HOSTILE, max_size=6), st.lists(HOSTILE, max_size=6), st.booleans())
def test_whatever_is_in_cells_other_processes_lose_nothing(
    tmp_path: Path, in_cell: list[tuple[int, int, bytes]], in_table: list[tuple[int, int, bytes]], runs: bool
) -> None:
    pid = os.getppid() if runs else 2**22
    with Host(tmp_path) as host, MadeRegion(2) as neighbour, MadeCell(host.made, 1, pid, TOKEN) as cell:
        neighbour.set(token=79)
        neighbour.put(3)
        cell.put(3)
        for base, at, word in in_cell:
            at = (base + at) % (layout.CELL_BYTES - 8)
            cell.content[at : at + 8] = np.frombuffer(word, "u1")
        for _, at, word in in_table:
            begin = layout.CELLS_AT + layout.CELLS.itemsize + at % 8 * layout.CELL.itemsize
            host.made.memory[begin : begin + 8] = word
        host.poll()
        host.poll(0.05)
        host.drain.await_ends(wanted=False)
        neighbour.hand_over(host.gate)
        wait_for(lambda: host.poll(0.05) is None and bool(host.told.starts(79)), what="the neighbour")
        assert host.told.starts(79) == [0, 1, 2]
