"""The queue between the process that empties rings and the reader: in order, bounded, lossless."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import Chunk, Closed, Opened, Origin
from iotide.collectors.sources.preload import sleep_times
from iotide.collectors.sources.preload.records.lines import Lines
from iotide.collectors.sources.preload.relay import RelayedSource
from iotide.collectors.sources.preload.rings.ended_process import read_ended
from iotide.collectors.sources.preload.spool.spool import SEGMENT_READ, SpoolWriter
from iotide.collectors.sources.preload.spool.spool_reader import SpoolReader
from iotide.events.network.descriptors import raise_limit
from support.system.small_file_systems import small_room
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion
from support.tracing.spools import RecordingReceiver, close_segments, open_spool

MIB = 1 << 20


def lines(count: int, seed: int = 0) -> Lines:
    """Lines that cannot be compressed."""
    return np.random.default_rng(seed).integers(0, 2**64, (count, 8), np.uint64)


def alike(count: int) -> Lines:
    """Lines of a loop of calls."""
    made = np.full((count, 8), 7, np.uint64)
    made[:, :2] = np.arange(count * 2).reshape(-1, 2)
    return made


def ended_entries() -> list[bytes]:
    """Entries of processes that have ended, of different sizes."""
    entries = []
    for count in (0, 1, 200):
        with MadeRegion(64) as made:
            made.set(left_out=count)
            made.put(count)
            entries.append(read_ended(made.descriptor, count, 77) or b"")
    return entries


TOKEN = st.integers(0, 2**64 - 1)
SAID = st.one_of(
    st.tuples(st.just("begun"), TOKEN, st.integers(0, 2**31 - 1), st.binary(max_size=60), st.booleans()),
    st.tuples(
        st.just("counters"), TOKEN, st.integers(-1, 9), st.integers(0, 9),
        st.dictionaries(st.text(max_size=5), st.integers(0, 2**63), max_size=3),
    ),
    st.tuples(st.just("definitions"), TOKEN, st.binary(max_size=100)),
    st.tuples(st.just("settled"), TOKEN),
    st.tuples(st.just("malformed"), TOKEN, st.text(st.characters(codec="utf-8"), max_size=20)),
    st.tuples(st.just("ended"), TOKEN),
    st.tuples(
        st.just("ended_processes"), st.lists(st.sampled_from(ended_entries()), min_size=1, max_size=40).map(b"".join)
    ),
    st.tuples(st.just("refused"), st.text(max_size=5), st.text(max_size=20), st.none() | st.text(max_size=5)),
    st.tuples(st.just("lines"), TOKEN, st.integers(-(2**31), 2**31 - 1), st.integers(0, 40_000).map(lines)),
    st.tuples(st.just("lines"), TOKEN, st.integers(-(2**31), 2**31 - 1), st.integers(0, 40_000).map(alike)),
)  # fmt: skip


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(SAID, max_size=30), st.data())
def test_items_are_returned_unchanged_and_in_order(said: list[tuple[Any, ...]], data: st.DataObject) -> None:
    with open_spool(SpoolSettings(memory_bytes=8 * MIB)) as (writer, reader):
        wanted, read = RecordingReceiver(), RecordingReceiver()
        for what, *rest in said:
            for receiver in (wanted, writer):
                if what == "begun":
                    receiver.image_started(*rest[:3], follows=rest[3])  # type: ignore[attr-defined]
                else:
                    getattr(receiver, what)(*rest)
            if data.draw(st.booleans()):
                writer.exchange()
                reader.read(read, data.draw(st.sampled_from([1, 4096, 64 * MIB])))
        writer.end()
        while not reader.ended or reader.waiting_bytes:
            writer.exchange()
            reader.read(read, 64 * MIB)
        assert read.said == wanted.said
        assert not reader.broken


def test_all_is_read_though_the_writer_ended_with_an_answer_unread() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    wanted, read = RecordingReceiver(), RecordingReceiver()
    with ours, closing(SpoolReader(ours)) as reader:
        ours.setblocking(False)
        with theirs:
            theirs.setblocking(False)
            writer = SpoolWriter(theirs, SpoolSettings())
            for receiver in (wanted, writer):
                receiver.lines(1, 2, lines(1000))
                receiver.ended(1)
            writer.end()
            writer.exchange()
            ours.send(
                SEGMENT_READ.pack(0)
            )  # arrives too late; the system then reports a reset connection to the reader
            close_segments(writer)
        while not reader.ended or reader.waiting_bytes:
            reader.read(read, 64 * MIB)
        assert read.said == wanted.said
        assert not reader.broken


def test_spool_counts_lines_that_wait_and_hands_on_a_part_of_them_at_once() -> None:
    with open_spool(SpoolSettings()) as (writer, reader):
        for _ in range(100):
            writer.lines(1, 2, alike(8192))
            writer.lines(1, 2, lines(3))
        writer.exchange()
        reader.listen()
        assert reader.waiting_lines == 100 * 8195
        assert reader.waiting_bytes < 100 * 8192 * 16
        read = RecordingReceiver()
        reader.read(read, 4 * MIB)
        left = reader.waiting_lines
        assert 100 * 8195 - 3 * 65_536 < left < 100 * 8195
        reader.read(read, 1 << 30)
        assert reader.waiting_lines == 0


class Keeping(RecordingReceiver):
    """Stores lines unchanged."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Lines] = []

    def accept_lines(self, token: int, tid: int, lines: Lines) -> None:
        self.kept.append(lines)


def numbered(number: int) -> Lines:
    made = lines(8192, number)
    made[0, 0] = number
    return made


def test_lines_that_are_in_use_are_not_written_over(tmp_path: Path) -> None:
    bounds, before = SpoolSettings(memory_bytes=16 * MIB, disk_bytes=64 * MIB, folder=tmp_path), _segments()
    with open_spool(bounds) as (writer, reader):
        receiver, first = Keeping(), 0
        for turn in range(30):
            while writer.free_lines >= 8192 and first < (turn + 1) * 40_000:
                writer.lines(1, 1, numbered(first))
                first += 8192
            writer.exchange()
            reader.read(receiver, 64 * MIB)
            if turn % 5 == 4:  # released segments are written anew
                receiver.kept = receiver.kept[-3:]
            firsts = [int(each[0, 0]) for each in receiver.kept]
            assert all((each == numbered(begin)).all() for begin, each in zip(firsts, receiver.kept, strict=True))
            assert firsts == list(range(firsts[0], first, 8192))
        receiver.kept.clear()
        reader.read(receiver, 1)
        writer.exchange()
        assert _segments() - before <= 8


def test_few_lines_keep_no_segment_in_use() -> None:
    before = _segments()
    with open_spool(SpoolSettings(memory_bytes=16 * MIB)) as (writer, reader):
        receiver = Keeping()
        for _ in range(100):
            writer.lines(1, 1, lines(8192))
            writer.lines(1, 1, lines(5))
            writer.exchange()
            reader.read(receiver, 64 * MIB)
            receiver.kept = [each for each in receiver.kept if len(each) == 5]
        assert len(receiver.kept) == 100
        assert _segments() - before <= 8


def test_past_memory_files_take_it_and_past_these_there_is_no_room_until_it_is_read(tmp_path: Path) -> None:
    bounds = SpoolSettings(memory_bytes=8 * MIB, disk_bytes=64 * MIB, folder=tmp_path)
    with open_spool(bounds) as (writer, reader):
        some, wanted = lines(8192), 0
        while writer.free_lines >= len(some):
            writer.lines(1, wanted, some)
            wanted += 1
        assert 60 * MIB < wanted * some.nbytes <= 72 * MIB
        on_disk = sum(str(tmp_path) in name for name in _open_files())
        assert on_disk == 1
        assert not list(tmp_path.iterdir())
        read = RecordingReceiver()
        writer.exchange()
        while reader.read(read, 64 * MIB):
            writer.exchange()
        assert [tid for _, _, tid, _ in read.said] == list(range(wanted))
        assert writer.free_lines > len(some)


def test_file_system_without_room_is_left_alone_and_nothing_is_lost(tmp_path: Path) -> None:
    bounds = SpoolSettings(memory_bytes=8 * MIB, disk_bytes=64 * MIB, folder=tmp_path / "gone")
    with open_spool(bounds) as (writer, reader):
        for tid in range(20):
            writer.lines(1, tid, lines(8192))
        assert writer.free_lines == 0
        read = RecordingReceiver()
        writer.exchange()
        reader.read(read, 64 * MIB)
        assert [tid for _, _, tid, _ in read.said] == list(range(20))


def test_full_file_system_does_not_make_memory_grow_past_its_bound(tmp_path: Path) -> None:
    with small_room(tmp_path / "small", 2 * MIB) as room:
        bounds = SpoolSettings(memory_bytes=8 * MIB, disk_bytes=1024 * MIB, folder=room)
        with open_spool(bounds) as (writer, reader):
            some, written = lines(8192), 0
            while writer.free_lines >= len(some) and written < 64 * MIB:
                writer.lines(1, 1, some)
                written += some.nbytes
            assert 4 * MIB < written <= 8 * MIB
            writer.exchange()
            while reader.read(RecordingReceiver(), 64 * MIB):
                writer.exchange()
            assert writer.free_lines > len(some)


def test_reader_of_a_writer_that_is_gone_gets_all_that_was_told_and_hears_of_it() -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    theirs.setblocking(False)
    reader, read = SpoolReader(ours), RecordingReceiver()
    writer = SpoolWriter(theirs, SpoolSettings())
    writer.lines(1, 5, lines(3))
    writer.exchange()
    theirs.close()
    reader.read(read, MIB)
    assert (reader.broken, reader.ended, len(read.said)) == (True, True, 1)
    close_segments(writer)
    reader.close()
    ours.close()


@pytest.fixture
def relayed(tmp_path: Path) -> Iterator[RelayedSource]:
    with closing(RelayedSource(tmp_path / "gate", Origin("job"), SpoolSettings())) as source:
        yield source


@pytest.mark.slow
def test_other_process_takes_records_without_a_reader(relayed: RelayedSource, tmp_path: Path, made: MadeRegion) -> None:
    made.hand_over(tmp_path / "gate")
    for _ in range(20):  # the ring has 256 lines
        made.put(200)
        wait_for(lambda: bool((made.slots["tail"] == made.slots["head"]).all()), what="room in the ring")
    relayed.finish()
    items = []
    wait_for(lambda: items.extend(relayed.poll()) or relayed.finished, what="the end")
    assert isinstance(items[0], Opened)
    assert isinstance(items[-1], Closed)
    assert sum(len(item.batch) for item in items if isinstance(item, Chunk)) == 4000


def test_all_that_was_taken_is_read_before_streams_are_cut_off(relayed: RelayedSource, tmp_path: Path) -> None:
    with MadeRegion(lines=16_384) as made:
        made.hand_over(tmp_path / "gate")
        for _ in range(8):
            made.put(16_000)
            wait_for(lambda: bool((made.slots["tail"] == made.slots["head"]).all()), what="room in the ring")
        wait_for(lambda: relayed.listen() or relayed.waiting_calls >= 8 * 16_000, what="events of all calls")
        os.kill(relayed._pid, signal.SIGKILL)
        wait_for(lambda: relayed.listen() or relayed._reader.broken, what="end of the other process")
        items: list[Any] = []
        wait_for(lambda: items.extend(relayed.poll()) or relayed.finished, what="the end")
    assert sum(len(item.batch) for item in items if isinstance(item, Chunk)) == 8 * 16_000
    assert isinstance(items[-1], Closed)
    assert items[-1].losses["streams_cut_off"] == 1
    assert [row.reason for row in relayed.untraced] == [
        "may have been started after the process that empties the rings had failed"
    ]


def test_other_process_that_is_asked_for_the_end_takes_no_further_nap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sleep_times, "_LOOKS_A_SHARE", 1e12)
    monkeypatch.setattr(sleep_times, "_LONGEST_S", 3600.0)
    with closing(RelayedSource(tmp_path / "gate", Origin("job"), SpoolSettings())) as source:
        source.finish()
        wait_for(lambda: source.poll() or source.finished, what="the end")


def test_other_process_comes_before_others_where_the_system_lets_it(relayed: RelayedSource) -> None:
    own = os.getpriority(os.PRIO_PROCESS, 0)
    relayed.finish()
    wait_for(lambda: relayed.poll() or relayed.finished, what="the end")  # so it has begun
    niceness = int(Path(f"/proc/{relayed._pid}/stat").read_text().rpartition(")")[2].split()[16])
    code = f"import os; os.setpriority(os.PRIO_PROCESS, 0, {max(own - 5, -20)})"
    may = subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode == 0
    assert niceness == (max(own - 5, -20) if may else own)


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(), reason="the kernel shares cores between processes only (autogroup off)"
)
def test_session_of_the_other_process_comes_before_others_where_the_system_lets_it(relayed: RelayedSource) -> None:
    code = "import os; os.setsid(); open('/proc/self/autogroup', 'w').write('-10')"
    may = subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode == 0
    ours, wanted = _autogroup("self"), "-10" if may else "0"  # ours is empty if no session was started since boot
    wait_for(lambda: _autogroup(relayed._pid)[:1] not in ([], ours[:1]), what="a new session")
    wait_for(lambda: _autogroup(relayed._pid)[-1:] == [wanted], what="its precedence")


def _autogroup(process: int | str) -> list[str]:
    return Path(f"/proc/{process}/autogroup").read_text().split()


def test_other_process_ends_with_us_and_unlinks_its_socket(tmp_path: Path) -> None:
    source = RelayedSource(tmp_path / "gate", Origin("job"), SpoolSettings())
    source.close()
    assert not (tmp_path / "gate").exists()


def test_other_process_ends_with_us_where_a_thousand_files_are_open(tmp_path: Path) -> None:
    raise_limit()
    with ExitStack() as stack:
        for _ in range(1100):
            stack.callback(os.close, os.open(os.devnull, os.O_RDONLY))
        with closing(RelayedSource(tmp_path / "gate", Origin("job"), SpoolSettings())) as source:
            source.finish()
            wait_for(lambda: source.poll() or source.finished, what="the end")
    assert not (tmp_path / "gate").exists()


def _segments() -> int:
    """Memory descriptors of this process: of writers and readers, and those left by earlier tests."""
    return sum("iotide-spool" in name for name in _open_files())


def _open_files() -> Iterator[str]:
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            yield str(descriptor.readlink())
