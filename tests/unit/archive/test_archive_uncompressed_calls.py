"""Sections of few calls: encoded together if processes do the same, with the same bytes as encoded separately."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.archive.codec import uncompressed_calls
from iotide.archive.codec.uncompressed_calls import PartCache
from iotide.archive.file.writer import ArchiveWriter
from iotide.archive.merge import merging
from iotide.events import Definitions, EventBatch, StreamInfo, make_batch

NAMES = ["open", "write", "f7 00c0ffee"]
TEXTS = ["write(fd=3, count=64)", "write(fd=4, count=4096)", "open(mode=0644) = 3"]
KNOWN = Definitions(list(enumerate(NAMES, 1)), [], [], list(enumerate(TEXTS, 1)))
LATER = Definitions([(len(NAMES) + 1, "later")], [], [], [(len(TEXTS) + 1, "later(7)")])


def calls(length: int, pid: Any, tid: Any, **columns: Any) -> EventBatch:
    step = np.arange(length)
    return make_batch(
        length,
        {
            "start": 1_700_000_000_000_000_000 + 1000 * step,
            "duration": 300,
            "call": 1 + step % len(NAMES),
            "signature": 1 + step % len(TEXTS),
            "requested": 64,
            "bytes": 64,
            **columns,
            "pid": pid,
            "tid": tid,
        },
    )


Actions = list[tuple[str, EventBatch | None, Definitions]]
"""Streams that are opened (None) and given calls."""


@st.composite
def shapes(draw: st.DrawFn) -> tuple[int, dict[str, Any]]:
    """Draw a length and columns that processes have in common."""
    length = draw(st.integers(0, 12))
    columns: dict[str, Any] = {}
    for name in draw(st.sets(st.sampled_from(["call", "signature", "file", "handle", "bytes", "kind", "depth"]))):
        columns[name] = [draw(st.integers(0, 4)) for _ in range(length)]
    return length, columns


@st.composite
def batches(draw: st.DrawFn, alike: list[tuple[int, dict[str, Any]]]) -> EventBatch:
    """Draw calls of one of these shapes, with their process and times."""
    length, columns = draw(st.sampled_from(alike))
    pid, tid = draw(st.sampled_from([7, 7, 1234567, 0, -1])), draw(st.sampled_from([7, 9, -2]))
    own = {"rank": draw(st.sampled_from([-1, 0, 3])), "start": draw(st.integers(-1, 2**40))}
    threads: Any = [draw(st.sampled_from([tid, 10])) for _ in range(length)] if draw(st.booleans()) else tid
    return calls(length, pid, threads, **columns, **own)


@st.composite
def actions(draw: st.DrawFn) -> Actions:
    """Draw streams, some of which define later what they used before."""
    alike = draw(st.lists(shapes(), min_size=1, max_size=2))
    made: Actions = []
    for stream in range(draw(st.integers(1, 8))):
        made.append((f"s{stream}", None, KNOWN))
        later = draw(st.integers(0, 4))
        given = [draw(batches(alike)) for _ in range(draw(st.integers(0, 2)))]
        made += [(f"s{stream}", each, LATER if at == later else Definitions()) for at, each in enumerate(given)]
    return made


def written(actions: Actions, checkpoint: int | None = None) -> bytes:
    writer = ArchiveWriter()
    data = [writer.begin({"job": "j"})]
    for number, (stream, batch, definitions) in enumerate(actions):
        if batch is None:
            data.append(writer.opened(stream, StreamInfo(job="j", source="test", pid=number)))
            batch = calls(0, 0, 0)
        data.append(writer.batch(stream, batch, definitions))
        if number == checkpoint:
            data.append(writer.checkpoint())
    return b"".join([*data, writer.end()])


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(actions(), st.integers(0, 20))
def test_few_calls_are_archived_byte_for_byte_as_compressed_ones(made: Actions, checkpoint: int) -> None:
    quickly = written(made, checkpoint)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uncompressed_calls, "MAX_UNCOMPRESSED_CALLS", 0)
        assert written(made, checkpoint) == quickly


def test_processes_that_do_the_same_are_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def remember(self: PartCache, key: bytes, part: Any) -> None:
        made.append(key)
        kept(self, key, part)

    kept = PartCache.remember
    monkeypatch.setattr(PartCache, "remember", remember)
    actions = [each for pid in range(50) for each in ((f"s{pid}", None, KNOWN), (f"s{pid}", calls(9, pid, pid), KNOWN))]
    data = written(actions)
    assert len(made) == 1
    monkeypatch.setattr(uncompressed_calls, "MAX_UNCOMPRESSED_CALLS", 0)
    assert written(actions) == data


def test_remembered_parts_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncompressed_calls, "_MAX_BYTES", 2000)
    actions: Actions = []
    for pid in range(50):
        actions += [(f"s{pid}", None, KNOWN), (f"s{pid}", calls(9, pid, pid, bytes=pid), KNOWN)]
    bounded = written(actions)
    monkeypatch.setattr(uncompressed_calls, "MAX_UNCOMPRESSED_CALLS", 0)
    assert written(actions) == bounded


def test_columns_that_keys_keep_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uncompressed_calls, "_MAX_KEY_BYTES", 100_000)
    cache, writer = PartCache(), ArchiveWriter()
    writer._alike = cache
    writer.begin({})
    for number, length in enumerate([1000, 10, 1000, 10, 100, 1000, 5000]):
        batch = calls(length, number, number).select(slice(0, length))  # views keep more memory than their own
        writer.whole(f"s{number}", StreamInfo(job="job", source="preload"), batch, KNOWN)
        kept = [column for columns, _, _ in cache._keys.values() for column in columns if column.strides != (0,)]
        assert sum(column.nbytes for column in kept) <= 100_000
    assert cache._keys


def test_whole_streams_are_archived_byte_for_byte_as_others() -> None:
    shared = calls(5, 7, 7)
    others = {"signature": 1 + np.arange(5) % 2, "call": 1}
    one = Definitions([(1, "write"), (2, "read"), (3, "close")], [], [], [(1, "write()"), (2, "read()")])
    two = Definitions(one.strings, [], [], [(1, "write(1)"), (2, "read()")])
    streams = [
        *((shared.replace(pid=pid, tid=pid, start=shared.start + pid), one) for pid in (8, 9, -1, 10)),
        *((shared.replace(pid=pid, tid=7), two) for pid in (8, 9)),
        *((shared.replace(pid=8, tid=np.arange(5)), one) for _ in range(2)),
        *((calls(5, pid, pid, **others), one) for pid in (3, 4)),
        *((calls(length, 3, 3), one) for length in (0, 5000, 5000)),
    ]
    together, apart = ArchiveWriter(), ArchiveWriter()
    archives = [together.begin({}), apart.begin({})]
    for number, (batch, names) in enumerate(streams):
        name, info = f"s{number}", StreamInfo(job="job", source="preload")
        archives[0] += together.whole(name, info, batch, names)
        for part in (apart.opened(name, info), apart.batch(name, batch, names), apart.closed(name, {})):
            archives[1] += part
        assert (together.taken, together.handed_out) == (apart.taken, apart.handed_out)
    assert archives[0] + together.end() == archives[1] + apart.end()


LENGTHS = st.sampled_from([1, 127, 128, 129, 1000, 4096, 4097]) | st.integers(129, 4096)
"""Numbers of calls around those at which a stream is compressed otherwise."""


@st.composite
def whole_streams(draw: st.DrawFn) -> list[tuple[EventBatch, Definitions]]:
    """Draw streams that have ended. Most have columns, texts or both in common with others."""
    alike = [calls(draw(LENGTHS), 7, 7, file=draw(st.integers(0, 1))) for _ in range(draw(st.integers(1, 3)))]
    names = [KNOWN, Definitions(KNOWN.strings, [], [], [(number, f"{text};") for number, text in KNOWN.signatures])]
    streams = []
    for _ in range(draw(st.integers(1, 12))):
        batch, pid = draw(st.sampled_from(alike)), draw(st.sampled_from([7, 8, 1234567, -1]))
        own: dict[str, Any] = {"pid": pid, "rank": draw(st.sampled_from([-1, 0, 3]))}
        own["tid"] = np.arange(len(batch)) % 3 if draw(st.booleans()) else pid
        if draw(st.booleans()):
            own["call"] = batch.call.copy()  # equal, and not the same
        streams.append(
            (batch.replace(start=batch.start + draw(st.integers(0, 2**40)), **own), draw(st.sampled_from(names)))
        )
    return streams


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(whole_streams(), st.integers(1, 3))
def test_any_whole_streams_are_archived_byte_for_byte_as_others(
    streams: list[tuple[EventBatch, Definitions]], remembered: int
) -> None:
    together, apart = ArchiveWriter(), ArchiveWriter()
    archives = [together.begin({}), apart.begin({})]
    with pytest.MonkeyPatch.context() as patch:
        for number, (batch, names) in enumerate(streams):
            name, info = f"s{number}", StreamInfo(job="job", source="preload", rank=int(batch.rank[0]))
            patch.setattr(merging, "_MAX_REPEATED", 256)
            archives[0] += together.whole(name, info, batch, names)
            patch.setattr(merging, "_MAX_REPEATED", remembered)
            for part in (apart.opened(name, info), apart.batch(name, batch, names), apart.closed(name, {})):
                archives[1] += part
    assert archives[0] + together.end() == archives[1] + apart.end()
