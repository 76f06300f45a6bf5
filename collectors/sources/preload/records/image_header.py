"""The header of a process image's first region, as far as it describes the process."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final, NamedTuple

from .ring_layout import HEADER, field_at

_PROCESS: Final = struct.Struct("<QiiiIq")
"""mount_namespace, ppid, rank, ranks, wakes, clock_offset_ns."""
_BEFORE: Final = struct.Struct("<QQ")
"""before_token, taken_before."""
_INT: Final = struct.Struct("<i")
_PROCESS_AT, _BEFORE_AT, _PID_AT, _EXTENT_AT = (
    field_at(HEADER, name) for name in ("mount_namespace", "before_token", "pid", "extent")
)
_TEXTS: Final = tuple(
    slice(field_at(HEADER, name), field_at(HEADER, name) + HEADER[name].itemsize) for name in ("job", "command", "step")
)


class ImageHeader(NamedTuple):
    """Description of a process image by itself. Fields that an older iotide's header lacks are 0 or empty."""

    extent: int
    pid: int
    mount_namespace: int
    parent_pid: int
    rank: int
    ranks: int
    clock_offset_ns: int
    before_token: int
    taken_before: int
    job: str
    command: str
    step: str

    @classmethod
    def of(cls, header: bytes) -> ImageHeader:
        """Return the description in a header."""
        if len(header) < HEADER.itemsize:
            header = header.ljust(HEADER.itemsize, b"\0")
        mount_namespace, parent_pid, rank, ranks, _, clock_offset_ns = _PROCESS.unpack_from(header, _PROCESS_AT)
        before_token, taken_before = _BEFORE.unpack_from(header, _BEFORE_AT)
        job, command, step = (_text(header[place]) for place in _TEXTS)
        (pid,), (extent,) = _INT.unpack_from(header, _PID_AT), _INT.unpack_from(header, _EXTENT_AT)
        return cls(
            extent, pid, mount_namespace, parent_pid, rank, ranks, clock_offset_ns, before_token, taken_before, job,
            command.strip(), step,
        )  # fmt: skip


@lru_cache(maxsize=1024)
def _text(field: bytes) -> str:
    """Return a text of a header; processes of a job share most of them."""
    return field.rstrip(b"\0").decode(errors="replace")
