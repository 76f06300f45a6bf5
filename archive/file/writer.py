"""Write an archive incrementally: blocks are appended and never changed."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final, Self

import msgspec
import numpy as np
from msgspec import Struct, field

from ...events.batch import EventBatch
from ...events.definitions import Definitions, DefinitionTable
from ...events.stream import StreamInfo
from ..blocks import MAX_PIECE, BlockKind, encode_block, head
from ..codec.encoding import Part, PartKind, repeated_text_part, section_part, text_part
from ..codec.stream import Section, StreamCompressor
from ..codec.times import Times, encode_times, pack_stamps
from ..codec.uncompressed_calls import PartCache, UncompressedCalls
from ..merge.merging import Merger

_encoder = msgspec.msgpack.Encoder()
_NAMES_A_PART: Final = 1 << 12
_LONG: Final = MAX_PIECE // 4
"""Size of encoded definitions above which they are halved, bytes. That of one file has at most 100,000."""
_MAX_TOGETHER: Final = 4096
"""Number of a stream's calls up to which an equal stream is looked for."""
_MAX_LANES: Final = 8
"""Number of streams of one rank that are identified by rank. Further ones are identified by their order."""
_MAX_RANK: Final = 2**31 - 1


class _Open(Struct):
    name: str
    info: StreamInfo
    compressor: StreamCompressor
    is_introduced: bool = False
    """Whether ``info`` has been written."""
    member: tuple[int, int] | None = None
    """Lane and rank in it, determined when first needed because ranks are often known late."""
    few: UncompressedCalls = field(default_factory=UncompressedCalls)
    """Calls that the compressor has not received yet."""
    table: DefinitionTable = field(default_factory=DefinitionTable)
    names: Definitions = field(default_factory=Definitions)
    """Definitions not written yet."""
    parts: Counter[PartKind] = field(default_factory=Counter)
    taken: int = 0
    """Number of events received."""
    closed: int = 0
    """Number of these events in closed sections."""
    losses: dict[str, int] = field(default_factory=dict)
    """Losses written last."""


class ArchiveWriter:
    """Converts the streams of a job to the bytes of an archive.

    It owns no file: each method returns the bytes to append. Data that streams of different ranks share is written
    once, and the rest as patterns over ranks, for all streams together. So most of the data is returned by ``flush``,
    ``checkpoint`` and ``end``.

    Args:
        times: False: omit the times of calls, which take most of the space.
        tick_ns: resolution of times, ns; 1: exact.

    Attributes:
        taken: number of events received.
        handed_out: number of events in the returned bytes.
        discarded: number of events of streams that were discarded before they were in a closed section.
    """

    def __init__(self, times: bool = True, tick_ns: int = 1) -> None:
        self.taken, self.handed_out, self.discarded = 0, 0, 0
        self._unmerged = 0
        """Events of closed sections that wait to be merged."""
        self._streams: dict[str, _Open] = {}
        self._tick_ns = tick_ns
        self._keeps_times = times
        self._of_rank: Counter[int] = Counter()
        self._counted = 0
        self._blocks = 0
        self._merger = Merger(self._write)
        self._alike = PartCache()
        self._ready: list[bytes] = []
        """Blocks that remain valid if later ones fail, because others may already refer to them."""

    def begin(self, job: dict[str, Any]) -> bytes:
        """Return the head of the file; ``job``: facts about the job, plain data."""
        about = job if self._keeps_times else {**job, "times": False}
        if self._keeps_times and self._tick_ns > 1:
            about = {**about, "tick_ns": self._tick_ns}
        self._write(BlockKind.JOB, _encoder.encode(about))
        return head() + self._take_ready()

    def opened(self, stream: str, info: StreamInfo) -> bytes:
        """Add a stream, or update the StreamInfo of an open one."""
        known = self._streams.get(stream)
        if known is None:
            self._streams[stream] = _Open(stream, info, StreamCompressor(tick_ns=self._tick_ns))
        elif known.info != info:
            known.info, known.is_introduced = info, False
        return self._take_ready()

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> bytes:
        """Add events of an open stream."""
        known = self._streams[stream]
        known.taken += len(batch)
        self.taken += len(batch)
        # Streams that are introduced again repeat their definitions.
        files = [each for each in definitions.files if each[0] >= known.table.file_count]
        handles = [each for each in definitions.handles if each[0] not in known.table.handles]
        known.table.apply(definitions)
        known.names.files.extend(files)
        known.names.handles.extend(handles)
        if known.compressor.is_open or not known.few.put(batch, known.table):
            self._compress(known, known.few.take(known.table))
            self._compress(known, batch)
        return self._take_ready()

    def checkpoint(self) -> bytes:
        """Close the open sections, so that all events received are in the returned bytes."""
        return b"".join(map(self.checkpoint_of, self.open_streams())) + self.flush()

    def open_streams(self) -> list[str]:
        """Return the streams that have not ended."""
        return list(self._streams)

    def held_bytes(self, stream: str) -> int:
        """Return the approximate memory of a stream's calls that are in no closed section."""
        known = self._streams.get(stream)
        return known.few.nbytes + known.compressor.nbytes if known is not None else 0

    def checkpoint_of(self, stream: str, losses: Mapping[str, int] | None = None) -> bytes:
        """Close the open section of a stream. Does nothing for one that has ended or is unknown.

        Its content is in the bytes of the next ``flush``.

        Args:
            stream: the stream.
            losses: its losses so far, by reason. A file without the stream's end then has them, too.
        """
        known = self._streams.get(stream)
        if known is not None:
            self._close_section(known)
            if losses and losses != known.losses:
                known.losses = dict(losses)
                self._part(known, PartKind.LOSSES, repeated_text_part(known.losses))
        return self._take_ready()

    def flush(self) -> bytes:
        """Return the waiting closed sections, merged over the streams. The order within a stream is kept."""
        self._flush()
        return self._take_ready()

    def closed(self, stream: str, losses: dict[str, int] | None = None) -> bytes:
        """End a stream; ``losses``: by reason, None for those of its last checkpoint."""
        known = self._streams[stream]
        self._close_section(known)
        self._part(known, PartKind.CLOSED, repeated_text_part(known.losses if losses is None else losses))
        del self._streams[stream]
        return self._take_ready()

    def whole(self, stream: str, info: StreamInfo, batch: EventBatch, definitions: Definitions) -> bytes:
        """Add a new stream with all of its events, and end it."""
        known = self._streams[stream] = _Open(stream, info, StreamCompressor(tick_ns=self._tick_ns))
        known.taken = len(batch)
        self.taken += len(batch)
        known.table.apply(definitions)
        known.names = definitions
        if 0 < len(batch) <= _MAX_TOGETHER:
            self._section_of_few(known, batch, self._alike.key_of_whole(batch, definitions, known.table))
        else:
            self._compress(known, batch)
        return self.closed(stream, {})

    def discard(self, stream: str) -> None:
        """Remove a stream, open or not, with its data that is in no closed section."""
        if (known := self._streams.pop(stream, None)) is not None:
            self.discarded += known.taken - known.closed

    def end(self) -> bytes:
        """End the archive, and with it the streams that are still open."""
        written = b"".join([self.closed(stream) for stream in list(self._streams)]) + self.flush()
        self._write(BlockKind.END, struct.pack("<Q", self._blocks))
        return written + self._take_ready()

    def state(self) -> dict[str, Any]:
        """Return the state that ``resumed`` needs to continue after the returned bytes. Call it after ``checkpoint``.

        Its values are numbers, texts, containers, and the infos and tables of the open streams, which belong to the
        writer.
        """

        def parts(each: _Open) -> dict[int, int]:
            return {int(kind): count for kind, count in each.parts.items() if kind is not PartKind.LOSSES}

        return {
            "streams": [
                (each.name, each.info, each.is_introduced, each.member, each.table, parts(each), each.taken)
                for each in self._streams.values()
            ],
            "taken": self.taken,
            "handed_out": self.handed_out,
            "discarded": self.discarded,
            "times": self._keeps_times,
            "tick_ns": self._tick_ns,
            "of_rank": dict(self._of_rank),
            "counted": self._counted,
            "blocks": self._blocks,
            "pieces": self._merger.pieces,
            # Separate from the other parts, because earlier versions would not accept their kind.
            "losses": {
                each.name: (each.parts[PartKind.LOSSES], each.losses) for each in self._streams.values() if each.losses
            },
        }

    @classmethod
    def resumed(cls, state: Mapping[str, Any]) -> Self:
        """Return a writer that continues where another one stopped."""
        writer = cls(state["times"], state["tick_ns"])
        writer.taken, writer.handed_out, writer.discarded = state["taken"], state["handed_out"], state["discarded"]
        writer._of_rank.update(state["of_rank"])
        writer._counted, writer._blocks = state["counted"], state["blocks"]
        writer._merger = Merger(writer._write, state["pieces"])
        for name, info, is_introduced, member, table, parts, taken in state["streams"]:
            known = _Open(name, info, StreamCompressor(tick_ns=writer._tick_ns), is_introduced, member, table=table)
            known.parts.update({PartKind(kind): count for kind, count in parts.items()})
            known.parts[PartKind.LOSSES], known.losses = state.get("losses", {}).get(name, (0, {}))
            known.taken = known.closed = taken
            writer._streams[name] = known
        return writer

    def adopt(self, state: Mapping[str, Any]) -> None:
        """Add the open streams of another writer, with their definitions, for a new archive."""
        for name, info, _, _, table, _, _ in state["streams"]:
            known = self._streams[name] = _Open(name, info, StreamCompressor(tick_ns=self._tick_ns), table=table)
            known.names.files.extend((number, table.file(number)) for number in range(1, table.file_count))
            known.names.handles.extend(table.handles.items())

    def _compress(self, known: _Open, batch: EventBatch | None) -> None:
        for section in known.compressor.update(batch, known.table) if batch is not None else ():
            self._section(known, section)

    def _close_section(self, known: _Open) -> None:
        if (few := known.few.take(known.table)) is not None:
            self._section_of_few(known, few, self._alike.key_of(few, known.table))
            return
        section = known.compressor.finish()
        if section is not None:
            self._section(known, section)
        else:
            self._introduce(known)

    def _section_of_few(self, known: _Open, calls: EventBatch, key: bytes | None) -> None:
        part = self._alike.find(key, calls) if key is not None else None
        if part is None:
            self._compress(known, calls)
            if (section := known.compressor.finish()) is None:
                return
            part = self._section(known, section)
            if key is not None and section.calls == len(calls):
                self._alike.remember(key, part)
            return
        self._introduce(known)
        if self._keeps_times:
            start, duration = (np.asarray(each, np.int64) for each in (calls.start, calls.duration))
            stamps = pack_stamps(start, duration, self._tick_ns)
            self._times(known, Times(int(start.min()), int((start + duration).max()), [stamps]))
        self._part(known, PartKind.SECTION, part, len(calls))

    def _section(self, known: _Open, section: Section) -> Part:
        self._introduce(known)
        if self._keeps_times:
            self._times(known, Times(section.first_ns, section.last_ns, section.stamps))
        part = section_part(section)
        self._part(known, PartKind.SECTION, part, section.calls)
        return part

    def _times(self, known: _Open, times: Times) -> None:
        ordinal = known.parts[PartKind.SECTION]
        self._write(BlockKind.TIMES, encode_times(*self._member(known), ordinal, times))

    def _introduce(self, known: _Open) -> None:
        """Write the StreamInfo, files and handles of a stream if they are new."""
        if not known.is_introduced:
            known.is_introduced = True
            self._part(known, PartKind.STREAM, text_part((known.name, known.info)))
        names, known.names = known.names, Definitions()
        for at in range(0, max(len(names.files), len(names.handles)), _NAMES_A_PART):
            part = slice(at, at + _NAMES_A_PART)
            for text in _name_parts(Definitions([], names.files[part], names.handles[part])):
                self._part(known, PartKind.NAMES, text)

    def _part(self, known: _Open, kind: PartKind, part: Part, events: int = 0) -> None:
        self._merger.add(kind, known.parts[kind], *self._member(known), part)
        known.parts[kind] += 1
        known.closed += events
        self._unmerged += events
        if self._merger.is_due:
            self._flush()

    def _flush(self) -> None:
        self._merger.flush()
        self.handed_out += self._unmerged
        self._unmerged = 0

    def _member(self, known: _Open) -> tuple[int, int]:
        if known.member is None:
            rank = known.info.rank
            if 0 <= rank <= _MAX_RANK and self._of_rank[rank] < _MAX_LANES:
                self._of_rank[rank] += 1
                known.member = self._of_rank[rank], rank
            else:
                known.member = 0, self._counted
                self._counted += 1
        return known.member

    def _write(self, kind: BlockKind, payload: bytes) -> None:
        self._ready.append(encode_block(kind, payload))
        self._blocks += 1

    def _take_ready(self) -> bytes:
        ready, self._ready = self._ready, []
        return b"".join(ready)


def _name_parts(names: Definitions) -> list[Part]:
    part = repeated_text_part(names)
    count = max(len(names.files), len(names.handles))
    if len(part.pieces[0]) <= _LONG or count == 1:
        return [part]
    halves = (slice(0, count // 2), slice(count // 2, count))
    return [each for half in halves for each in _name_parts(Definitions([], names.files[half], names.handles[half]))]
