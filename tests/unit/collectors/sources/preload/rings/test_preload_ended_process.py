"""Short processes that have ended are read without mapping their regions, with the same result, in C and in Python."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.sources.preload.records.ring_layout import ENTRY, HEADER, LINE_BYTES
from iotide.collectors.sources.preload.rings import ended_process, handover_socket
from iotide.collectors.sources.preload.rings.drain import Drain
from iotide.collectors.sources.preload.rings.ended_process import (
    MAX_LINES,
    check_entries,
    ended_processes_in,
    groups_in,
    identities_in,
    lines_in,
    native,
    read_ended,
)
from iotide.collectors.sources.preload.rings.process_image import ProcessImage
from iotide.collectors.sources.preload.rings.region import Region
from iotide.collectors.sources.preload.rings.watching import GONE
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion, connected
from support.tracing.spools import RecordingReceiver

SLOTS = 64
_TWO_IMAGES = """
import socket, sys
for hello, descriptor in zip(sys.argv[2::2], sys.argv[3::2]):
    gate = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gate.connect(sys.argv[1])
    socket.send_fds(gate, [bytes.fromhex(hello)], [int(descriptor)])
    print("sent", flush=True)
    sys.stdin.readline()
"""


class Told(RecordingReceiver):
    """A receiver that stores its input, counters only if they are not 0."""

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        if counts := {name: count for name, count in counts.items() if count}:
            super().counters(token, rank, ranks, counts)


@pytest.fixture(params=["compiled", "fallback"])
def helper(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Accept processes by the compiled helper, and by its fallback."""
    if request.param == "fallback":
        monkeypatch.setattr(ended_process, "native", lambda: None)
    elif native() is None:
        pytest.skip("the helper was not built")


def read(made: MadeRegion, pid: int, token: int) -> bytes | None:
    """Read a region by the fallback, and hold the compiled helper to its result."""
    found = read_ended(made.descriptor, pid, token)
    if (library := native()) is not None:
        to = np.zeros(1 << 16, np.uint8)
        size = library.ended_read(made.descriptor, pid, token, to.ctypes.data)
        assert to[:size].tobytes() == (found or b"")
    return found


@contextmanager
def listening(gate: Path, told: Told, *, awaits_ends: bool = False) -> Iterator[Drain]:
    drain = Drain(gate)
    drain.await_ends(wanted=awaits_ends)
    try:
        yield drain
    finally:
        drain.close(told)


def mapped_result(made: MadeRegion, pid: int) -> list[tuple[Any, ...]]:
    """Return what a drain reports of a process that has ended, from its mapped region."""
    told, region = Told(), Region(made.descriptor)
    process = ProcessImage(pid, region, GONE)
    token = region.token
    told.image_started(token, pid, region.header(), follows=False)
    process.drain(token, told, 0.0, 65_536)
    process.learn(token, told, 0.0, ended=True)
    process.report_counters(token, told, 0.0)
    told.ended(token)
    region.close()
    return told.said


@given(
    records=st.lists(st.tuples(st.integers(1, 9), st.lists(st.integers(0, 2**64 - 1), max_size=20)), max_size=8),
    files=st.lists(st.binary(min_size=1, max_size=40), max_size=5),
    counters=st.dictionaries(
        st.sampled_from(
            [
                "lost_before",
                "dropped_reentrant_bytes",
                "left_out",
                "missed_before",
                "unrecorded_streams",
                "unrecorded_bytes",
            ]
        ),
        st.integers(0, 2**63),
    ),
    of_slot=st.dictionaries(
        st.sampled_from(["dropped_bytes", "sampled_out", "sampled_out_bytes"]), st.integers(0, 2**40)
    ),
    bounds=st.dictionaries(st.integers(0, 14), st.integers(1, 9), max_size=3),
    rank=st.integers(-5, 9),
)
def test_result_is_that_of_a_mapped_region(
    records: list[tuple[int, list[int]]],
    files: list[bytes],
    counters: dict[str, int],
    of_slot: dict[str, int],
    bounds: dict[int, int],
    rank: int,
) -> None:
    with MadeRegion(SLOTS) as made:
        made.set(rank=rank, ranks=rank, **counters)
        for bound, count in bounds.items():
            made.header["bounds_met"][0, bound] = count
        made.slots["tid"][0] = 99
        for name, count in of_slot.items():
            made.slots[name][0] = count
        for number, file in enumerate(files, 1):
            made.define(number, file)
        for count, words in records:
            made.put(count, words=words)
        entry, told = read(made, 12, 77), Told()
        assert entry is not None
        check_entries(entry + entry)
        assert [each[1:] for each in identities_in(entry + entry)] == [(12, 77)] * 2
        told.ended_processes(entry)
        assert told.said == mapped_result(made, 12)
        assert lines_in(entry + entry) == 2 * int(made.slots["head"][0])


def _second_thread(made: MadeRegion) -> None:
    made.put(1, slot=1)


def _many_lines(made: MadeRegion) -> None:
    made.put(MAX_LINES + 1)


def _words_without_a_record(made: MadeRegion) -> None:
    made.put(1)
    made.rings[0, -1] = 0xFF << 56


def _dropped_calls(made: MadeRegion) -> None:
    made.slots["dropped_full"][0] = 1


def _unfinished_definition(made: MadeRegion) -> None:
    made.define(1, b"/file", committed=False)


CHANGES: list[Callable[[MadeRegion], None]] = [
    _second_thread,
    _many_lines,
    _words_without_a_record,
    _dropped_calls,
    _unfinished_definition,
    lambda made: made.set(extent=1),
    lambda made: made.set(layout=1),
    lambda made: made.set(log_tail=16),
    lambda made: made.set(before_token=5),
    lambda made: made.set(rings_offset=2**64 - 64),
    lambda made: made.set(log_offset=2**63),
    lambda made: made.set(slot_count=2),
]


@pytest.mark.parametrize("change", CHANGES)
def test_unusual_regions_are_left_to_the_drain(change: Callable[[MadeRegion], None]) -> None:
    with MadeRegion(SLOTS, 512) as made:
        assert read(made, 12, 77) is not None
        assert read(made, 12, 78) is None
        change(made)
        assert read(made, 12, 77) is None


@given(place=st.integers(0, HEADER.itemsize // 8 - 1), word=st.integers(0, 2**64 - 1))
def test_no_value_in_a_header_breaks_the_reader(place: int, word: int) -> None:
    with MadeRegion(SLOTS) as made:
        made.put(3)
        made.memory[8 * place : 8 * place + 8] = word.to_bytes(8, "little")
        read(made, 12, 77)


@given(
    log=st.lists(
        st.tuples(st.sampled_from([0, 8, 16, 32, 48, 512, 2**32 - 16]), st.integers(0, 5), st.integers(0, 64)),
        max_size=6,
    ),
    mark=st.sampled_from([0, 0xFE, 0xFF]),
    head=st.integers(0, 600),
)
def test_helper_refuses_the_logs_and_lines_that_the_fallback_refuses(
    log: list[tuple[int, int, int]], mark: int, head: int
) -> None:
    with MadeRegion(SLOTS, 512, 512, calls=False) as made:
        at = 0
        for size, kind, length in log:
            if at + ENTRY.size <= 512:
                ENTRY.pack_into(made.memory, made.log_offset + at, size, kind, length, 1, 0)
                at += max(16, min(size, 64))
        made.set(log_head=min(at, 512))
        made.slots["head"][0] = head
        made.rings[0, -1] = mark << 56
        read(made, 12, 77)


@given(st.data())
def test_damaged_entries_of_a_file_are_refused_or_read(data: st.DataObject) -> None:
    with MadeRegion(SLOTS) as made:
        made.put(2)
        entry = bytearray(read_ended(made.descriptor, 12, 77) or b"")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.one_of(st.integers(0, 31), st.integers(0, len(entry) - 1)))
        entry[at] = data.draw(st.integers(0, 255))
    part = bytes(entry[: data.draw(st.sampled_from([len(entry), len(entry) - 16, 40, 8]))])
    try:
        check_entries(part)
    except ValueError:
        return
    assert sum(len(each.lines) for each in ended_processes_in(part)) == lines_in(part)


@pytest.mark.usefixtures("helper")
def test_ended_process_is_read_without_a_mapping(tmp_path: Path) -> None:
    told = Told()
    with MadeRegion(SLOTS) as made, listening(tmp_path / "gate", told) as drain:
        made.put(3)
        made.define(1, b"/file")
        made.hand_over_from_ended_process(tmp_path / "gate")
        drain.poll(told)
        assert not drain.in_use
        assert [each[0] for each in told.said] == ["begun", "lines", "definitions", "settled", "ended"]
        assert int(made.slots["tail"][0]) == 0  # a drain that maps the region releases its lines


@pytest.mark.usefixtures("helper")
@pytest.mark.parametrize("awaits_ends", [False, True])
@pytest.mark.parametrize("lines", [1, MAX_LINES + 1])  # of the second image: usual, unusual
def test_earlier_image_of_an_ended_process_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, awaits_ends: bool, lines: int
) -> None:
    """A program that replaces itself hands over two regions."""
    told, gate = Told(), tmp_path / "gate"
    monkeypatch.setattr(handover_socket, "_UNREAD_S", 1000.0)
    with (
        MadeRegion(SLOTS) as first,
        MadeRegion(SLOTS, 512) as second,
        listening(gate, told, awaits_ends=awaits_ends) as drain,
    ):
        second.set(token=78)
        numbers = [first.descriptor, second.descriptor]
        words = [word for made in (first, second) for word in (made.hello().hex(), str(made.descriptor))]
        command = [sys.executable, "-c", _TWO_IMAGES, str(gate), *words]
        with subprocess.Popen(
            command, pass_fds=numbers, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as sender:
            assert sender.stdout is not None
            sender.stdout.readline()
            wait_for(lambda: drain.poll(told) or drain.in_use, what="the first image")
            first.put(2)
            second.put(lines)
            sender.communicate("\n\n")
        drain.poll(told)
        drain.await_ends(wanted=False)
        wait_for(lambda: (drain.poll(told), told.said[-1:])[1] == [("ended", 78)], what="the end")
    for what in ("begun", "lines", "ended"):
        assert [each[1] for each in told.said if each[0] == what] == [77, 78]


@pytest.mark.usefixtures("helper")
@pytest.mark.parametrize("is_full", [False, True])
def test_running_image_follows_an_earlier_one_that_is_not_read_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_full: bool
) -> None:
    """Otherwise the earlier image would replace the one that runs, which would not be read any more."""
    told, gate = Told(), tmp_path / "gate"
    monkeypatch.setattr(handover_socket, "_UNREAD_S", 1000.0)
    if is_full:
        monkeypatch.setattr(handover_socket, "_MAX_UNREAD", 1)
    with (
        MadeRegion(SLOTS) as first,
        MadeRegion(SLOTS) as second,
        listening(gate, told, awaits_ends=True) as drain,
    ):
        second.set(token=78)
        first.hand_over(gate)
        drain.poll(told)
        with connected(gate) as peer:
            if not is_full:
                drain.poll(told)  # accepts it before it has sent anything
            socket.send_fds(peer, [second.hello()], [second.descriptor])
        drain.poll(told)
        drain.await_ends(wanted=False)
        drain.poll(told)
        assert [each[:2] for each in told.said if each[0] in ("begun", "ended")] == [
            ("begun", 77), ("begun", 78), ("ended", 77)
        ]  # fmt: skip
        assert drain.running() == [78]


def test_entries_of_known_processes_are_passed_on_alone() -> None:
    entries = []
    with MadeRegion(SLOTS) as made:
        for number in range(6):
            made.set(token=100 + number)
            entries.append(read_ended(made.descriptor, number, 100 + number) or b"")
    assert list(groups_in(b"".join(entries), {0, 3}, {104})) == [
        (entries[0], 0, 100),
        (entries[1] + entries[2], 0, 0),
        (entries[3], 3, 103),
        (entries[4], 4, 104),
        (entries[5], 0, 0),
    ]


@pytest.mark.usefixtures("helper")
def test_many_ended_processes_and_one_that_is_refused_are_taken_in_one_poll(tmp_path: Path) -> None:
    told, gate = Told(), tmp_path / "gate"
    with listening(gate, told) as drain:
        for number in range(20):
            with MadeRegion(SLOTS, sealed=number != 9) as made:
                made.set(token=100 + number)
                made.put(1 + number)
                made.hand_over_from_ended_process(gate)
        with connected(gate):  # a process that has connected and not sent anything yet
            drain.poll(told)
            assert drain.in_use
            begun = [each[1] for each in told.said if each[0] == "begun"]
            assert begun == [100 + number for number in range(20) if number != 9]
            assert [len(each[3]) // LINE_BYTES for each in told.said if each[0] == "lines"] == [
                1 + number for number in range(20) if number != 9
            ]
            assert [each[0] for each in told.said].count("refused") == 1
        wait_for(lambda: drain.poll(told) or not drain.in_use, what="the end of the connection")


@pytest.mark.usefixtures("helper")
def test_process_is_read_at_once_if_it_ends_soon_and_else_while_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, gate = Told(), tmp_path / "gate"
    monkeypatch.setattr(handover_socket, "_UNREAD_S", 1000.0)
    with MadeRegion(SLOTS) as made, MadeRegion(SLOTS) as other, listening(gate, told, awaits_ends=True) as drain:
        other.set(token=78)
        for each in (made, other):
            each.put(2)
            each.hand_over_from_another_process(gate)
        drain.poll(told)
        assert (told.said, drain.in_use, drain.sleep()) == ([], True, False)  # the next poll must not be far away
        made.end_senders()
        drain.await_ends(wanted=False)
        drain.poll(told)
        assert [each[:2] for each in told.said] == [
            *((what, 77) for what in ("begun", "lines", "definitions", "settled", "ended")),
            *((what, 78) for what in ("begun", "lines", "definitions", "settled")),
        ]
        assert int(made.slots["tail"][0]) == 0
        assert int(other.slots["tail"][0]) == 2
        other.end_senders()
        wait_for(lambda: drain.poll(told) or not drain.in_use, what="the end")


@pytest.mark.usefixtures("helper")
def test_region_that_can_be_truncated_is_refused_also_of_an_ended_process(tmp_path: Path) -> None:
    told = Told()
    with MadeRegion(SLOTS, sealed=False) as made, listening(tmp_path / "gate", told) as drain:
        made.hand_over_from_ended_process(tmp_path / "gate")
        drain.poll(told)
    assert [each[:2] for each in told.said] == [("refused", "processes_refused")]
