"""The copy of unread data: complete, updated until a reader exists, readable alone in spite of any damage."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import Chunk, Closed, Opened, Origin, SourceItem
from iotide.collectors.sources.preload.relay import RelayedSource
from iotide.collectors.sources.preload.spool.spool import DEFINITIONS, FRAME
from iotide.collectors.sources.preload.spool.unread_copy import HEAD, UnreadCopy, UnreadSegments
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import InputError
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion

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
    """A copy of 1,000 calls."""
    folder = tmp_path_factory.mktemp("spool")
    with MadeRegion(lines=16_384) as made, closing(relayed(folder)) as source:
        made.put(1000)
        made.hand_over(folder / "gate")
        wait_for(lambda: source.listen() or source.waiting_calls >= 1000, what="events of all calls")
        wait_for(
            lambda: source.listen() or (source.unread_copy and calls_in(source.unread_copy) >= 1000), what="a copy"
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
        assert path.exists() is not goes


def test_copy_that_finds_no_room_leaves_no_file(tmp_path: Path) -> None:
    segments = UnreadSegments()
    copy = UnreadCopy(tmp_path / "none" / "unread", Origin("job"), segments, 1 << 20, first_s=0.0, every_s=0.01)
    with (tmp_path / "segment").open("wb+") as segment:
        segment.write(bytes(100))
        segment.flush()
        segments.set_segments([(segment.fileno(), 100)])
        copy.start()
        copy.join()
    assert copy.path is None


def test_copy_is_no_longer_than_its_bound(tmp_path: Path) -> None:
    segments = UnreadSegments()
    copy = UnreadCopy(tmp_path / "unread", Origin("job"), segments, 150, first_s=0.0, every_s=0.01)
    with (tmp_path / "segment").open("wb+") as segment:
        segment.write(bytes(200))
        segment.flush()
        segments.set_segments([(segment.fileno(), 100), (segment.fileno(), 100)])
        copy.start()
        copy.join()
    assert copy.copied == 100
    assert copy.path is not None


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
