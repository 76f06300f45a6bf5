"""What stands in a message of the stream: records as in the files of a journal, behind a head of a few bytes.

Records that come together share a message, up to its largest size. One that is larger is cut into messages of its own.
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
    """What a message is."""

    GOES_ON = 1
    """It begins within a record, of which the message before it has the part before."""
    IS_CUT = 2
    """It ends within a record, which the next one goes on with."""
    CLAIM = 4
    """It holds no records: a writer begins, named in it; what an earlier one still sends is refused from here on."""


class Message(NamedTuple):
    """A message to append."""

    payload: bytes
    last: int
    """Number of the last record that is whole with it."""


class Head(NamedTuple):
    """What a message begins with."""

    flags: Flag
    epoch: int


def claim(epoch: int, owner: str) -> bytes:
    """Returns the message with which a writer begins."""
    return _HEAD.pack(_MAGIC, VERSION, Flag.CLAIM, epoch) + owner.encode()


def head_of(payload: bytes) -> Head | None:
    """Returns what a message begins with; None where it is none of these."""
    if len(payload) < HEAD_BYTES:
        return None
    magic, version, flags, epoch = _HEAD.unpack_from(payload)
    return Head(Flag(flags), epoch) if (magic, version) == (_MAGIC, VERSION) else None


def pack(records: Iterable[Pending], epoch: int, limit: int) -> Iterator[Message]:
    """Returns the messages of some records, none larger than ``limit`` bytes."""
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
        flags = (Flag.GOES_ON if at else Flag(0)) | (Flag(0) if is_last else Flag.IS_CUT)
        yield _message(epoch, flags, [record[at : at + room]], number if is_last else number - 1)


def _message(epoch: int, flags: Flag, pieces: list[Frame], last: int) -> Message:
    return Message(b"".join((_HEAD.pack(_MAGIC, VERSION, flags, epoch), *pieces)), last)


class Unpacking:
    """Makes records of messages, in the order of the stream.

    Args:
        after: position of the last record that is known from elsewhere.

    Attributes:
        last: number of the last record that was read, or is known to be missing.
    """

    def __init__(self, after: Position) -> None:
        self.last = after.record
        self._cut: list[bytes] = []

    def take(self, payload: bytes, where: str) -> Iterator[Replayed]:
        """Returns what stands in the next message; ``where`` is said of what cannot be read."""
        head = head_of(payload)
        if head is None or head.flags & Flag.CLAIM:
            self._cut = []  # its writer was fenced within a record, which nobody was told of
            return
        if not head.flags & Flag.GOES_ON:
            self._cut = []
        self._cut.append(payload[HEAD_BYTES:])
        if head.flags & Flag.IS_CUT:
            return
        content = b"".join(self._cut)
        self._cut = []
        for each in records_in(content, 0, head.epoch, self.last + 1, where):
            self.last = each.first + each.missing - 1 if isinstance(each, Gap) else each.position.record
            yield each
