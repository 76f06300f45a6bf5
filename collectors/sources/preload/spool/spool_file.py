"""Read the file that a killed ``iotide run`` leaves. It has data taken from rings that was not read yet."""

from __future__ import annotations

import struct
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec
import numpy as np
import numpy.typing as npt

from .....events import InputError, StreamInfo
from .....events.losses import NOT_SAVED
from ....node.file_metadata import NodeFileMetadata
from ....source import Closed, Input, Opened, Origin, SourceItem
from ..._unpacked import unpacked
from ..records.definition_log import end_of_entries
from ..records.ring_layout import LAYOUT
from ..rings.ended_process import check_entries
from ..streams import Streams
from .spool import DEFINITIONS, ENDED_PROCESSES, FRAME, LINES, PACKED, PAIR
from .spool_reader import deliver_frame
from .unread_copy import ANNOUNCED, HEAD, MAGIC, VERSION

_MAX_ORIGIN: Final = 1 << 16
_MAX_PAYLOAD: Final = 1 << 28
_MAX_LINES: Final = 1 << 22
"""Maximum number of lines in a frame, which comes from one poll."""
_MAX_MISSING: Final = 1 << 40
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
            yield from _items(file, about, streams, origin)
        finally:
            streams.close()
            files.close()


def _items(file: BinaryIO, about: Input, streams: Streams, origin: Origin) -> Iterator[list[SourceItem]]:
    missing = 0  # lines that should follow
    for at, kind, token, payload in _frames(file):
        try:
            _check(kind, payload)
            if kind == ANNOUNCED:
                missing = int.from_bytes(payload, "little")
            lines = deliver_frame(streams, kind, token, payload)
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
            missing = 0  # later frames may depend on this one, and were saved
            break
        missing -= min(missing, lines if kind == ENDED_PROCESSES or streams.has(token) else 0)
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
    if missing := min(missing, _MAX_MISSING):
        remedy = "raise --spool-memory, or make room in the folder of its report"
        about.unsupported.add(f"calls that were not saved when iotide run was killed ({remedy})", missing)
        _add_missing(items, missing, about, origin)
    yield items


def _frames(file: BinaryIO) -> Iterator[tuple[int, int, int, npt.NDArray[np.uint8]]]:
    """Yield position, kind, token and payload of each whole frame. The last one may not be: the copy was cut off."""
    while True:
        at = file.tell()
        head = file.read(FRAME.size)
        if len(head) < FRAME.size:
            return
        kind, payload, token = FRAME.unpack(head)
        size = (payload + 7) & ~7
        data = file.read(size) if payload <= _MAX_PAYLOAD else b""
        if len(data) < size:
            return
        yield at, kind, token, np.frombuffer(data, np.uint8)[:payload]


def _add_missing(items: list[SourceItem], missing: int, about: Input, origin: Origin) -> None:
    """Add missing calls to the losses of a stream that was cut off; without one, to those of an own stream."""
    losses = Counter({NOT_SAVED: missing})
    if items and isinstance(items[-1], Closed):
        items[-1] = Closed(items[-1].stream, items[-1].losses + losses)
        return
    stream = about.stream("preload", "not saved")
    info = StreamInfo(job=origin.job, source="preload", host=origin.host, user=origin.user, origin=about.name)
    items += [Opened(stream, info), Closed(stream, losses)]


def _check(kind: int, payload: npt.NDArray[np.uint8]) -> None:
    """Validate frames that a drain would have validated before writing; raises ValueError."""
    size = len(payload)
    if kind == DEFINITIONS and end_of_entries(payload.tobytes(), size) != size:
        raise ValueError("a definition breaks the layout")
    if kind == ENDED_PROCESSES:
        check_entries(payload.tobytes())
    if kind not in (LINES, PACKED) or size < PAIR.size:
        return
    _, count = PAIR.unpack_from(payload.data)
    if count > _MAX_LINES or count * _MIN_PACKED > size:
        raise ValueError(f"{count} lines in {size} bytes")


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
