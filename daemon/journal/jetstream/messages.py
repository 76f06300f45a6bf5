"""Content of the stream's messages. It is records as in journal files, after a header of a few bytes.

Records that arrive together share a message, up to its maximum size. A larger record is split into several messages.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from enum import IntFlag
from typing import Final, NamedTuple

from ....events.network.wire import Frame
from ..contract import Gap, Position, Replayed
from ..segment_writer import Pending
from ..segments import encode, records_in

VERSION: Final = 1
_MAGIC: Final = b"iotidelg"
_HEAD: Final = struct.Struct("<8sHHQ")
"""Magic, version, flags, epoch of the writer."""
HEAD_BYTES: Final = _HEAD.size


class Flag(IntFlag):
    """Kind of a message."""

    CONTINUES = 1
    """It begins within a record that the previous message started."""
    IS_SPLIT = 2
    """It ends within a record that the next message continues."""
    CLAIM = 4
    """It has no records: it names a new writer. Later messages of an earlier writer are refused."""


class Message(NamedTuple):
    """A message to append."""

    payload: bytes
    last: int
    """Number of the last record that is complete with it."""


class Head(NamedTuple):
    """Header of a message."""

    flags: Flag
    epoch: int


def claim(epoch: int, owner: str) -> bytes:
    """Return the first message of a writer."""
    return _HEAD.pack(_MAGIC, VERSION, Flag.CLAIM, epoch) + owner.encode()


def head_of(payload: bytes) -> Head | None:
    """Return the header of a message; None if it has none."""
    if len(payload) < HEAD_BYTES:
        return None
    magic, version, flags, epoch = _HEAD.unpack_from(payload)
    return Head(Flag(flags), epoch) if (magic, version) == (_MAGIC, VERSION) else None


def pack(records: Iterable[Pending], epoch: int, limit: int) -> Iterator[Message]:
    """Yield the messages of records, none larger than ``limit`` bytes."""
    room = limit - HEAD_BYTES
    waiting: list[Frame] = []
    size = last = 0
    for record in records:
        pieces = encode(record.number, record.kind, record.sender, record.moment, record.frames)
        length = sum(len(piece) for piece in pieces)
        if waiting and size + length > room:
            yield _message(epoch, Flag(0), waiting, last)
            waiting, size = [], 0
        if length > room:
            yield from _cut(epoch, b"".join(pieces), room, record.number)
        else:
            waiting += pieces
            size += length
        last = record.number
    if waiting:
        yield _message(epoch, Flag(0), waiting, last)


def _cut(epoch: int, record: bytes, room: int, number: int) -> Iterator[Message]:
    for at in range(0, len(record), room):
        is_last = at + room >= len(record)
        flags = (Flag.CONTINUES if at else Flag(0)) | (Flag(0) if is_last else Flag.IS_SPLIT)
        yield _message(epoch, flags, [record[at : at + room]], number if is_last else number - 1)


def _message(epoch: int, flags: Flag, pieces: list[Frame], last: int) -> Message:
    return Message(b"".join((_HEAD.pack(_MAGIC, VERSION, flags, epoch), *pieces)), last)


class Unpacker:
    """Converts messages to records, in the order of the stream.

    Args:
        after: position of the last record known from elsewhere.

    Attributes:
        last: number of the last record that was read, or is known to be missing.
    """

    def __init__(self, after: Position) -> None:
        self.last = after.record
        self._cut: list[bytes] = []

    def unpack(self, payload: bytes, where: str) -> Iterator[Replayed]:
        """Yield the records of the next message. ``where`` is its place in reports of unreadable data."""
        head = head_of(payload)
        if head is None or head.flags & Flag.CLAIM:
            self._cut = []  # its writer was fenced within a record, which was never acknowledged
            return
        if not head.flags & Flag.CONTINUES:
            self._cut = []
        self._cut.append(payload[HEAD_BYTES:])
        if head.flags & Flag.IS_SPLIT:
            return
        content = b"".join(self._cut)
        self._cut = []
        for each in records_in(content, 0, head.epoch, self.last + 1, where):
            self.last = each.first + each.missing - 1 if isinstance(each, Gap) else each.position.record
            yield each
