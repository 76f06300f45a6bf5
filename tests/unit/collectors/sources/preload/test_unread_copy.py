"""The copy of recorded data: complete whatever was read meanwhile, readable alone in spite of any damage."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import Chunk, Closed, Opened, Origin, SourceItem
from iotide.collectors.sources.preload.relay import RelayedSource
from iotide.collectors.sources.preload.spool import spool, unread_copy
from iotide.collectors.sources.preload.spool.spool import DEFINITIONS, FRAME, SpoolWriter
from iotide.collectors.sources.preload.spool.spool_reader import SpoolReader
from iotide.collectors.sources.preload.spool.unread_copy import ANNOUNCED, HEAD, UnreadCopy, path_of_copy
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import InputError
from iotide.events.losses import NOT_SAVED
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion
from support.tracing.spools import RecordingReceiver, open_spool

CALLS = 3 * 16_000


def relayed(folder: Path) -> RelayedSource:
    return RelayedSource(folder / "gate", Origin("job", "node"), SpoolSettings(), copy_stem=folder / "unread")


def record(folder: Path, source: RelayedSource, made: MadeRegion) -> Path:
    """Let calls wait in a source without a reader; return the copy once it contains them."""
    made.hand_over(folder / "gate")
    for _ in range(3):
        made.put(CALLS // 3)
        wait_for(lambda: bool((made.slots["tail"] == made.slots["head"]).all()), what="room in the ring")
    wait_for(lambda: source.listen() or source.waiting_calls >= CALLS, what="events of all calls")

    def copied() -> Path | None:
        source.listen()
        path = source.unread_copy
        return path if path is not None and calls_in(path) >= CALLS else None

    return wait_for(copied, what="a copy of all calls")


def items_of(path: Path) -> list[SourceItem]:
    return list(read_all(open_file(path, Origin("given"))))


def calls_in(path: Path) -> int:
    try:
        return sum(len(item.batch) for item in items_of(path) if isinstance(item, Chunk))
    except InputError:  # its header is being written
        return 0


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A copy of 1,000 calls, and of a process that has ended."""
    folder = tmp_path_factory.mktemp("spool")
    with MadeRegion(lines=16_384) as made, MadeRegion(64) as ended, closing(relayed(folder)) as source:
        ended.set(token=78)
        ended.put(3)
        ended.hand_over_from_ended_process(folder / "gate")
        made.put(1000)
        made.hand_over(folder / "gate")
        wait_for(lambda: source.listen() or source.waiting_calls >= 1003, what="events of all calls")
        wait_for(
            lambda: source.listen() or (source.unread_copy and calls_in(source.unread_copy) >= 1003), what="a copy"
        )
        assert source.unread_copy is not None
        return source.unread_copy.read_bytes()


@pytest.mark.slow
def test_unread_calls_are_in_a_private_file_that_is_readable_alone(tmp_path: Path) -> None:
    with MadeRegion(lines=16_384) as made, closing(relayed(tmp_path)) as source:
        path = record(tmp_path, source, made)
        assert path.stat().st_mode & 0o777 == 0o600
        copied = items_of(path)
        source.finish()
        read: list[Any] = []
        wait_for(lambda: read.extend(source.poll()) or source.finished, what="the end")
        wait_for(lambda: source.is_copy_read, what="end of the copy")
    assert isinstance(copied[0], Opened)
    assert copied[0].info.job == "job"
    assert isinstance(copied[-1], Closed)
    chunks = [[item.batch for item in items if isinstance(item, Chunk)] for items in (copied, read)]
    starts = [[start for batch in batches for start in batch.start.tolist()] for batches in chunks]
    assert len(starts[0]) == CALLS
    assert starts[0] == starts[1]


@pytest.mark.slow
def test_copy_goes_when_it_is_to_and_stays_when_its_maker_ends(tmp_path: Path) -> None:
    for goes in (True, False):
        folder = tmp_path / str(goes)
        folder.mkdir()
        with MadeRegion(lines=16_384) as made, closing(relayed(folder)) as source:
            path = record(folder, source, made)
            if goes:
                source.remove_copy()
                source.mark_archived()
        assert path.exists() is not goes


MIB = 1 << 20
SMALL = 1 << 16
ORIGIN = Origin("job", "node")


def losses_in(path: Path) -> Counter[str]:
    return sum((item.losses for item in items_of(path) if isinstance(item, Closed)), Counter())


def test_calls_without_the_beginning_of_their_process_are_counted_and_others_are_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Definitions beyond a quarter of the memory are not kept."""
    monkeypatch.setattr(spool, "_MEMORY_SEGMENT", SMALL)
    bounds = SpoolSettings(memory_bytes=8 * MIB)
    source = RelayedSource(tmp_path / "gate", Origin("job", "node"), bounds, copy_stem=tmp_path / "unread")
    with MadeRegion(lines=4096, log_bytes=4 * MIB) as old, MadeRegion(lines=4096) as new, closing(source):
        source.remove_copy()
        for number in range(3 * MIB // 1024):
            old.define(number + 10, b"/" + bytes([97 + number % 26]) * 1000)
        old.put(5)
        old.hand_over_from_another_process(tmp_path / "gate")
        source.mark_archived(0)
        events = [0]

        def read(calls: int) -> bool:
            events[0] += sum(len(each.batch) for each in source.poll() if isinstance(each, Chunk))
            return events[0] >= calls

        wait_for(lambda: read(5), what="the first calls")
        old.define(9, b"/file")
        source.mark_archived(source.read_segments)
        new.set(token=78)
        new.put(200)
        new.hand_over_from_another_process(tmp_path / "gate")
        old.put(1000)
        wait_for(lambda: read(1205), what="later calls")
    (path,) = tmp_path.glob("*.spool")
    assert calls_in(path) == 200
    assert losses_in(path) == Counter({NOT_SAVED: 1000})


@contextmanager
def copied_spool(
    folder: Path, most_bytes: int = 1 << 30, first_s: float = 0.0
) -> Iterator[tuple[SpoolWriter, SpoolReader, UnreadCopy]]:
    """Writer and reader of a spool whose data is copied to ``folder / "unread"``."""
    copy = UnreadCopy(folder / "unread", ORIGIN, most_bytes, first_s=first_s, every_s=0.001)
    with open_spool(SpoolSettings(memory_bytes=8 * MIB), copy) as (writer, reader):
        copy.start()
        try:
            yield writer, reader, copy
        finally:
            copy.end()
            copy.join()


def definitions_in(copy: bytes) -> list[bytes]:
    """The definitions in a copy, which must end with a whole frame."""
    found, at = [], HEAD.size + HEAD.unpack_from(copy)[-1]
    while at < len(copy):
        kind, payload, _ = FRAME.unpack_from(copy, at)
        assert kind in (DEFINITIONS, ANNOUNCED)
        at += FRAME.size
        if kind == DEFINITIONS:
            found.append(copy[at : at + payload])
        at += (payload + 7) & ~7
    assert at == len(copy)
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, SMALL), st.booleans()), max_size=60), st.booleans())
def test_copy_has_all_that_was_written_though_it_was_read_meanwhile(
    written: list[tuple[int, bool]], reader_ends: bool
) -> None:
    sizes = pytest.MonkeyPatch()
    sizes.setattr(spool, "_MEMORY_SEGMENT", SMALL)
    sizes.setattr(spool, "_MAX_SPARE_SEGMENTS", 1)
    try:
        with tempfile.TemporaryDirectory() as name, copied_spool(Path(name)) as (writer, reader, copy):
            read = RecordingReceiver()
            for number, (size, is_read) in enumerate(written):
                writer.definitions(1, bytes([number]) * size)
                writer.exchange()
                if is_read:
                    reader.read(read, 64 * MIB)
            if reader_ends:
                reader._channel.close()
            elif written:
                wait_for(lambda: copy.attempt is not None, what="a file")
            writer.exchange()
            writer.end()
            assert copy.has_ended
            files = list(Path(name).iterdir())
            assert len(files) == bool(written)
            copied = [each for path in files for each in definitions_in(path.read_bytes())]
            assert copied == [bytes([number]) * size for number, (size, _) in enumerate(written)]
    finally:
        sizes.undo()


def test_nothing_is_copied_after_the_end_was_requested(tmp_path: Path) -> None:
    with copied_spool(tmp_path) as (writer, reader, copy):
        writer.definitions(1, b"early")
        writer.exchange()
        wait_for(lambda: copy.copied, what="a copy")
        reader.request_end_of_copy()
        wait_for(lambda: writer.exchange() or reader.listen() or reader.copied_bytes, what="its end")
        writer.definitions(1, b"late")
        writer.end()
        writer.exchange()
        reader.listen()
        assert reader.copied_bytes == copy.copied
        assert reader.copy_attempt == 0
    assert definitions_in(path_of_copy(tmp_path / "unread", 0).read_bytes()) == [b"early"]


def test_spool_that_ends_before_the_first_copy_leaves_no_file(tmp_path: Path) -> None:
    with copied_spool(tmp_path, first_s=3600.0) as (writer, reader, _):
        writer.definitions(1, b"some")
        writer.end()
        writer.exchange()
        reader.listen()
        assert (reader.ended, reader.copy_attempt, reader.copied_bytes) == (True, None, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("problem", ["folder", "names"])
def test_copy_that_cannot_be_written_leaves_no_file_and_stops_nothing(tmp_path: Path, problem: str) -> None:
    folder = tmp_path / "none" if problem == "folder" else tmp_path
    for attempt in range(unread_copy._MAX_ALIKE if problem == "names" else 0):
        path_of_copy(tmp_path / "unread", attempt).touch()
    before = list(tmp_path.iterdir())
    with copied_spool(folder) as (writer, reader, copy):
        writer.definitions(1, b"some")
        writer.exchange()
        wait_for(lambda: copy.has_ended, what="the end of the copy")
        writer.definitions(1, b"more")
        writer.end()
        writer.exchange()
        read = RecordingReceiver()
        reader.read(read, MIB)
        assert [said[-1] for said in read.said] == [b"some", b"more"]
        assert (reader.copy_attempt, reader.copied_bytes) == (None, 0)
    assert list(tmp_path.iterdir()) == before


def test_copy_is_no_longer_than_its_bound_and_ends_with_a_whole_frame(tmp_path: Path) -> None:
    with copied_spool(tmp_path, most_bytes=10_000) as (writer, _, copy):
        for number in range(100):
            writer.definitions(1, bytes([number]) * 5000)
            writer.exchange()
            wait_for(lambda: copy.has_ended or copy.copied >= 5000, what="a copy")
        wait_for(lambda: copy.has_ended, what="the end of the copy")
        assert 5000 <= copy.copied <= 10_000
    assert definitions_in(path_of_copy(tmp_path / "unread", 0).read_bytes()) == [bytes(5000)]


def test_copy_on_a_slow_disk_bounds_the_memory_of_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unread_copy, "_MAX_RETURNED", 3 * MIB)
    copy = UnreadCopy(tmp_path / "unread", ORIGIN, 1 << 30, first_s=3600.0)
    copy.start()
    with tempfile.TemporaryFile() as segment:
        for number in range(4):
            copy.written(number, segment.fileno(), MIB, 1)
            assert not copy.returned(number)
    copy.join()
    assert copy.has_ended
    assert copy.returned(0)


@pytest.mark.slow
@given(data=st.data())
def test_damaged_copy_is_read_as_far_as_it_goes(content: bytes, data: st.DataObject) -> None:
    damaged = bytearray(content[: data.draw(st.integers(0, len(content)) | st.just(len(content)))])
    for _ in range(data.draw(st.integers(0, 4))):
        if damaged:
            place = data.draw(st.integers(0, min(len(damaged), 600) - 1) | st.integers(0, len(damaged) - 1))
            damaged[place : place + 4] = data.draw(st.binary(min_size=1, max_size=8))
    with tempfile.NamedTemporaryFile(suffix=".spool") as file:
        file.write(damaged)
        file.flush()
        source = open_file(file.name, Origin("given"), format="spool")
        list(read_all(source))
    assert source.finished


def test_copy_whose_definitions_take_no_room_is_read_to_its_end(content: bytes, tmp_path: Path) -> None:
    path, at = tmp_path / "damaged.spool", HEAD.size + HEAD.unpack_from(content)[-1]
    while (kind := FRAME.unpack_from(content, at)[0]) != DEFINITIONS:
        at += (FRAME.size + FRAME.unpack_from(content, at)[1] + 7) & ~7
    begin = at + FRAME.size
    assert kind == DEFINITIONS
    path.write_bytes(content[:begin] + bytes(64) + content[begin + 64 :])
    source = open_file(path, Origin("given"))
    list(read_all(source))
    assert source.problems.total == 1


def test_segment_that_comes_while_the_copy_ends_is_not_kept_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = UnreadCopy(tmp_path / "unread", Origin("job"), 1000)
    with tempfile.TemporaryFile() as file:
        before = sorted(Path("/proc/self/fd").iterdir())
        monkeypatch.setattr(copy._is_over, "is_set", copy._close)  # None: not over, and its thread ends just then
        copy.written(1, file.fileno(), 10, 1)
        assert sorted(Path("/proc/self/fd").iterdir()) == before
    assert copy.returned(1)
