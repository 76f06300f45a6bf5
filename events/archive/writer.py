"""Writes an archive as events come in: blocks to append, and nothing that was written is changed."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import msgspec

from ..batch import EventBatch
from ..definitions import MAX_TEXT, Definitions, DefinitionTable
from ..stream import StreamInfo
from .blocks import MOST_NAMES, BlockKind, encode_block, head
from .encoding import encode_own, encode_shape
from .stream import Section, StreamCompressor

_encoder = msgspec.msgpack.Encoder()
_NAMES_A_BLOCK: Final = MOST_NAMES // (4 * 4 * MAX_TEXT)
"""Files and handles, whose texts have four bytes a character at most."""
_MOST_SHAPES: Final = 65_536
"""Whose bytes are compared with those of later sections."""


@dataclass(slots=True)
class _Open:
    number: int
    compressor: StreamCompressor = field(default_factory=StreamCompressor)
    table: DefinitionTable = field(default_factory=DefinitionTable)
    names: Definitions = field(default_factory=Definitions)
    """Not written yet."""


class ArchiveWriter:
    """Turns the streams of a job into the bytes of an archive.

    Owns no file: each method returns the bytes to append. Sections of processes that do the same share what is equal in
    them, whenever they come.
    """

    def __init__(self) -> None:
        self._streams: dict[str, _Open] = {}
        self._met = 0
        self._shapes: dict[bytes, int] = {}
        self._shape_count = 0
        self._blocks = 0

    def begin(self, job: dict[str, Any]) -> bytes:
        """Returns the head of the file; ``job``: what to say of the job, plain data."""
        return head() + self._block(BlockKind.JOB, 0, _encoder.encode(job))

    def opened(self, stream: str, info: StreamInfo) -> bytes:
        """Takes in a stream, or what an open one says of itself now."""
        known = self._streams.get(stream)
        if known is None:
            self._met += 1
            known = self._streams[stream] = _Open(self._met)
        return self._block(BlockKind.STREAM, known.number, _encoder.encode((stream, info)))

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> bytes:
        """Takes in events of an open stream."""
        known = self._streams[stream]
        known.table.apply(definitions)
        known.names.files.extend(definitions.files)
        known.names.handles.extend(definitions.handles)
        return b"".join(self._section(known, section) for section in known.compressor.update(batch, known.table))

    def checkpoint(self) -> bytes:
        """Closes the open sections, so that all that came in is in the bytes handed out."""
        return b"".join(map(self.checkpoint_of, self.open_streams()))

    def open_streams(self) -> list[str]:
        """Returns the streams that have not ended."""
        return list(self._streams)

    def checkpoint_of(self, stream: str) -> bytes:
        """Closes the open section of a stream; of one that has ended or is not known that is nothing."""
        known = self._streams.get(stream)
        return self._flush(known) if known is not None else b""

    def closed(self, stream: str, losses: dict[str, int] | None = None) -> bytes:
        """Takes in that a stream has ended."""
        known = self._streams.pop(stream)
        return self._flush(known) + self._block(BlockKind.CLOSED, known.number, _encoder.encode(losses or {}))

    def discard(self, stream: str) -> None:
        """Forgets a stream, whether it is open or not, and what of it is in no bytes yet."""
        self._streams.pop(stream, None)

    def end(self) -> bytes:
        """Ends the archive, and with it the streams that are still open."""
        rest = b"".join(self.closed(stream) for stream in list(self._streams))
        return rest + self._block(BlockKind.END, 0, struct.pack("<Q", self._blocks))

    def _flush(self, known: _Open) -> bytes:
        section = known.compressor.finish()
        return self._section(known, section) if section is not None else self._names(known)

    def _section(self, known: _Open, section: Section) -> bytes:
        shape = encode_shape(section)
        key = blake2b(shape, digest_size=20).digest()
        number = self._shapes.get(key)
        before = b""
        if number is None:
            number, self._shape_count = self._shape_count, self._shape_count + 1
            before = self._block(BlockKind.SHAPE, 0, struct.pack("<I", number) + shape)
            if len(self._shapes) < _MOST_SHAPES:
                self._shapes[key] = number
        own = struct.pack("<I", number) + encode_own(section)
        return self._names(known) + before + self._block(BlockKind.SECTION, known.number, own)

    def _names(self, known: _Open) -> bytes:
        if not known.names:
            return b""
        names, known.names = known.names, Definitions()
        written = b""
        for at in range(0, max(len(names.files), len(names.handles)), _NAMES_A_BLOCK):
            part = slice(at, at + _NAMES_A_BLOCK)
            text = _encoder.encode(Definitions([], names.files[part], names.handles[part]))
            written += self._block(BlockKind.NAMES, known.number, struct.pack("<I", len(text)) + zlib.compress(text))
        return written

    def _block(self, kind: BlockKind, stream: int, payload: bytes) -> bytes:
        self._blocks += 1
        return encode_block(kind, stream, payload)
