"""Check that an archive returns its input: every column of every call, and every name, file and handle."""

from __future__ import annotations

import io
import random
from collections.abc import Mapping, Sequence

import numpy as np
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.events import Definitions, DefinitionTable, EventBatch, StreamInfo, concatenate, empty_batch
from iotide.events.schema import COLUMNS

Chunks = Sequence[tuple[EventBatch, Definitions]]


def archive_of(info: Mapping[str, StreamInfo], chunks: Mapping[str, Chunks], seed: int = 0) -> bytes:
    """Archive streams with interleaved input of random lengths, with checkpoints of some and of all streams."""
    chance = random.Random(seed)
    writer = ArchiveWriter()
    data = [writer.begin({"job": "job"})]
    left = {stream: list(each) for stream, each in chunks.items()}
    data += [writer.opened(stream, info[stream]) for stream in left]
    while left:
        stream = chance.choice(list(left))
        for batch, names in left[stream][:3]:
            data.append(writer.batch(stream, batch, names))
        del left[stream][:3]
        if chance.random() < 0.1:
            data.append(writer.checkpoint_of(stream) if chance.random() < 0.5 else writer.checkpoint())
        if not left[stream]:
            data.append(writer.closed(stream))
            del left[stream]
    return b"".join([*data, writer.end()])


def assert_lossless(info: Mapping[str, StreamInfo], chunks: Mapping[str, Chunks], seed: int = 0) -> int:
    """Archive streams, read them again and compare all; return the number of calls."""
    reader = ArchiveReader(io.BytesIO(archive_of(info, chunks, seed)), "archive")
    assert (reader.complete, reader.problems) == (True, [])
    found = {stream.name: number for number, stream in reader.streams.items()}
    assert set(found) == set(chunks)
    return sum(_assert_same(reader, found[stream], info[stream], each) for stream, each in chunks.items())


def _assert_same(reader: ArchiveReader, number: int, info: StreamInfo, chunks: Chunks) -> int:
    stream, given, table, kept = reader.streams[number], DefinitionTable(), DefinitionTable(), []
    for _, names in chunks:
        given.apply(names)
    for part in reader.calls(number):
        table.apply(part.definitions)
        kept.append(part.batch)
    batch, back = concatenate([empty_batch(), *(batch for batch, _ in chunks)]), concatenate([empty_batch(), *kept])
    assert len(back) == len(batch)
    for name in COLUMNS:
        ours, theirs = getattr(back, name), getattr(batch, name)
        if name in ("call", "signature"):
            texts, others = (getattr(each, "string" if name == "call" else name) for each in (table, given))
            pairs = np.unique(np.stack([ours, theirs]), axis=1).T.tolist() if len(batch) else []
            assert [texts(mine) for mine, _ in pairs] == [others(other) for _, other in pairs], name
        else:
            assert np.array_equal(ours, theirs), name
    assert reader.problems == []
    assert stream.info == info
    assert stream.handles == given.handles
    assert stream.files == {each: given.file(each) for each in range(1, given.file_count)}
    return len(batch)
