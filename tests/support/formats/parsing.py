"""Feed parsers, and convert their output to a form that is easy to compare."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from iotide.collectors.source import Chunk, Closed, Input, Lost, Opened, Origin, ParserFactory, SourceItem
from iotide.events import DefinitionTable, EventBatch, StreamInfo, concatenate


@dataclass
class Stream:
    """One complete stream."""

    info: StreamInfo
    definitions: DefinitionTable = field(default_factory=DefinitionTable)
    batches: list[EventBatch] = field(default_factory=list)
    closed: bool = False

    @property
    def events(self) -> EventBatch:
        return concatenate(self.batches)

    def rows(self) -> list[dict[str, Any]]:
        """Return the events as dicts, with names instead of numbers."""
        columns = {name: column.tolist() for name, column in self.events.columns().items()}
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        for row in rows:
            row["call"] = self.definitions.string(row["call"])
            row["file"] = self.definitions.file(row["file"]).path
        return rows


def collect(items: Iterable[SourceItem]) -> dict[str, Stream]:
    """Check the order of items and group them by stream."""
    streams: dict[str, Stream] = {}
    for item in items:
        if isinstance(item, Opened):
            assert item.stream not in streams
            streams[item.stream] = Stream(item.info)
            continue
        if isinstance(item, Lost):
            assert not item.stream or not streams[item.stream].closed
            continue
        stream = streams[item.stream]
        assert not stream.closed
        if isinstance(item, Closed):
            stream.closed = True
        elif isinstance(item, Chunk):
            stream.definitions.apply(item.definitions)
            stream.batches.append(item.batch)
    return streams


def parse(
    factory: ParserFactory, pieces: bytes | Sequence[bytes], name: str = "trace", modified_ns: int | None = None
) -> tuple[dict[str, Stream], Input]:
    """Feed a new parser all pieces and finish it; fail unless every stream is closed then."""
    about = Input(name=name, origin=Origin(job="job", host="node1", user="ann"), modified_ns=modified_ns)
    parser = factory(about)
    items: list[SourceItem] = []
    for piece in [pieces] if isinstance(pieces, bytes) else pieces:
        items += parser.feed(piece)
    streams = collect(items + parser.finish())
    about.report_left_out()
    assert all(stream.closed for stream in streams.values())
    return streams, about


def only_stream(streams: dict[str, Stream]) -> Stream:
    """Return the only stream."""
    assert len(streams) == 1
    return next(iter(streams.values()))


def split_at(data: bytes, places: Iterable[int]) -> list[bytes]:
    """Split bytes at the given positions, each taken modulo the length."""
    edges = sorted({place % (len(data) + 1) for place in places} | {0, len(data)})
    return [data[begin:end] for begin, end in itertools.pairwise(edges)]
