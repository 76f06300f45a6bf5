"""Read the file that a killed ``iotide run`` leaves. It has data taken from rings that was not read yet."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import numpy as np

from .....events import InputError
from ....node.file_metadata import NodeFileMetadata
from ....source import Closed, Input, Origin, SourceItem
from ..._unpacked import unpacked
from ..records.definition_log import end_of_entries
from ..records.ring_layout import LAYOUT
from ..rings.ended_process import check_entries
from ..streams import Streams
from .spool import DEFINITIONS, ENDED_PROCESSES, FRAME, LINES, PACKED, PAIR
from .spool_reader import deliver_frame
from .unread_copy import HEAD, MAGIC, VERSION

_MAX_ORIGIN: Final = 1 << 16
_MAX_PAYLOAD: Final = 1 << 28
_MAX_LINES: Final = 1 << 22
"""Maximum number of lines in a frame, which comes from one poll."""
_MIN_PACKED: Final = 3
"""Minimum size of a packed line, bytes."""
_AT_ONCE: Final = 65_536
"""Number of lines after which their events are emitted."""
_WAIT_S: Final = 0.002


def read_spool(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Read a file of frames up to the last whole one. Streams that have not ended there count as cut off.

    Raises:
        InputError: the file is not such a file, or has another version.
    """
    with unpacked(path, about) as file:
        origin = _head(file, about)
        files = NodeFileMetadata()
        streams = Streams(origin.host, origin, files, about.counters, about.problems, live=False)
        try:
            yield from _items(file, about, streams)
        finally:
            streams.close()
            files.close()


def _items(file: BinaryIO, about: Input, streams: Streams) -> Iterator[list[SourceItem]]:
    while True:
        at = file.tell()
        head = file.read(FRAME.size)
        if len(head) < FRAME.size:
            break
        kind, payload, token = FRAME.unpack(head)
        size = (payload + 7) & ~7
        data = file.read(size) if payload <= _MAX_PAYLOAD else b""
        if len(data) < size:  # the copy was incomplete when the process was killed
            break
        try:
            _check(kind, payload, data)
            deliver_frame(streams, kind, token, np.frombuffer(data, np.uint8)[:payload])
        except (
            ValueError,
            TypeError,
            EOFError,
            ArithmeticError,
            LookupError,
            struct.error,
            msgspec.MsgspecError,
        ) as error:
            about.malformed(None, f"the frame at byte {at}: {error}", "frames as spool.py describes them")
            break  # later frames may depend on this one
        about.counters["bytes_read"] = file.tell()
        if streams.waiting_lines >= _AT_ONCE:
            yield streams.items()
    while streams.is_waiting:
        yield streams.items()
        time.sleep(_WAIT_S if streams.is_waiting else 0.0)  # wait for file metadata
    streams.cut_off()
    items = streams.items()
    about.unsupported.add(
        "streams whose end a killed iotide run did not see", sum(type(each) is Closed for each in items)
    )
    yield items


def _check(kind: int, payload: int, data: bytes) -> None:
    """Validate frames that a drain would have validated before writing; raises ValueError."""
    if kind == DEFINITIONS and end_of_entries(data[:payload], payload) != payload:
        raise ValueError("a definition breaks the layout")
    if kind == ENDED_PROCESSES:
        check_entries(data[:payload])
    if kind not in (LINES, PACKED) or payload < PAIR.size:
        return
    _, count = PAIR.unpack_from(data)
    if count > _MAX_LINES or count * _MIN_PACKED > payload:
        raise ValueError(f"{count} lines in {payload} bytes")


def _head(file: BinaryIO, about: Input) -> Origin:
    expected = "the calls that a killed iotide run had not read"
    head = file.read(HEAD.size)
    if len(head) < HEAD.size:
        raise InputError(about.name, None, "is cut short", expected)
    magic, version, layout, size = HEAD.unpack(head)
    if magic != MAGIC:
        raise InputError(about.name, None, "does not begin as one", expected)
    if not 1 <= version <= VERSION or layout != LAYOUT:
        raise InputError(about.name, None, f"is of version {version}.{layout}", f"version {VERSION}.{LAYOUT}")
    try:
        return msgspec.msgpack.decode(file.read(min(size, _MAX_ORIGIN)), type=Origin)
    except (ValueError, msgspec.MsgspecError) as error:
        raise InputError(about.name, None, f"does not say whose it is: {error}", expected) from None
