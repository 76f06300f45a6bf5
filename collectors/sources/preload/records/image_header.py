"""The header of a process image's first region: what it tells of the process and of its losses."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final, NamedTuple

from .....events.losses import DETAILS, LAST_CHARACTERS, LAST_CHARACTERS_BYTES
from .ring_layout import BOUNDS, HEADER, field_at

_PROCESS: Final = struct.Struct("<QiiiIq")
"""mounts, ppid, rank, ranks, wakes, clock_offset_ns."""
_BEFORE: Final = struct.Struct("<QQ")
"""before_token, taken_before."""
_INT: Final = struct.Struct("<i")
_PROCESS_AT, _BEFORE_AT, _PID_AT, _EXTENT_AT = (
    field_at(HEADER, name) for name in ("mounts", "before_token", "pid", "extent")
)
_TEXTS: Final = tuple(
    slice(field_at(HEADER, name), field_at(HEADER, name) + HEADER[name].itemsize) for name in ("job", "command", "step")
)

_EVENTS: Final = struct.Struct("<5Q")
"""lost_before, dropped_no_slot, dropped_reentrant, definitions_dropped, left_out."""
_BYTES: Final = struct.Struct("<3Q")
"""lost_before_bytes, dropped_no_slot_bytes, dropped_reentrant_bytes."""
_COUNT: Final = struct.Struct("<Q")
"""children_unheard or missed_before."""
_UNRECORDED: Final = struct.Struct("<2q")
"""unrecorded_streams, unrecorded_bytes."""
_BOUNDS: Final = struct.Struct(f"<{len(BOUNDS)}Q")
_EVENTS_AT, _BYTES_AT, _UNHEARD_AT, _BOUNDS_AT, _MISSED_AT, _UNRECORDED_AT = (
    field_at(HEADER, name)
    for name in (
        *("lost_before", "lost_before_bytes", "children_unheard", "bounds_met", "missed_before"),
        "unrecorded_streams",
    )
)
_BOUND_COUNTERS: Final = tuple(DETAILS + name for name in BOUNDS)


class ImageHeader(NamedTuple):
    """Description of a process image by itself. Fields that an older iotide's header lacks are 0 or empty."""

    extent: int
    pid: int
    mounts: int
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
        mounts, parent_pid, rank, ranks, _, clock_offset_ns = _PROCESS.unpack_from(header, _PROCESS_AT)
        before_token, taken_before = _BEFORE.unpack_from(header, _BEFORE_AT)
        job, command, step = (_text(header[place]) for place in _TEXTS)
        (pid,), (extent,) = _INT.unpack_from(header, _PID_AT), _INT.unpack_from(header, _EXTENT_AT)
        return cls(
            extent, pid, mounts, parent_pid, rank, ranks, clock_offset_ns, before_token, taken_before, job,
            command.strip(), step,
        )  # fmt: skip


@lru_cache(maxsize=1024)
def _text(field: bytes) -> str:
    """Return a text of a header; processes of a job share most of them."""
    return field.rstrip(b"\0").decode(errors="replace")


def counts_of(
    header: bytes | memoryview, full: int, sampled: int, bytes_sampled: int, bytes_full: int
) -> dict[str, int]:
    """Return what a process could not or must not record, by reason, cumulative.

    Args:
        header: header of its first region.
        full: calls that found their ring full.
        sampled: calls left out by sampling.
        bytes_sampled: bytes of these calls.
        bytes_full: bytes of the calls in ``full``.
    """
    before, no_slot, reentrant, definitions, left_out = _EVENTS.unpack_from(header, _EVENTS_AT)
    bytes_before, bytes_no_slot, bytes_reentrant = _BYTES.unpack_from(header, _BYTES_AT)
    (unheard,) = _COUNT.unpack_from(header, _UNHEARD_AT)
    (missed,) = _COUNT.unpack_from(header, _MISSED_AT)
    met = _BOUNDS.unpack_from(header, _BOUNDS_AT)
    return {
        "events_dropped:ring_full": full,
        "events_dropped:no_slot": no_slot,
        "events_dropped:reentrant": reentrant,
        "events_dropped:collector_gone": before,
        "events_dropped:collector_late": missed,
        "bytes_dropped:ring_full": bytes_full,
        "bytes_dropped:no_slot": bytes_no_slot,
        "bytes_dropped:reentrant": bytes_reentrant,
        "bytes_dropped:collector_gone": bytes_before,
        "processes_unheard": unheard,
        "events_left_out": left_out,
        "events_sampled_out": sampled,
        "bytes_sampled_out": bytes_sampled,
        "definitions_dropped": definitions,
        # overflows of the tracer's tables; tables that never overflowed are left out
        **({name: count for name, count in zip(_BOUND_COUNTERS, met, strict=True) if count} if any(met) else {}),
    }


def unrecorded_in(header: bytes | memoryview) -> dict[str, int]:
    """Return what a process image that has ended had not recorded yet: nothing unless it was killed."""
    streams, most = _UNRECORDED.unpack_from(header, _UNRECORDED_AT)
    return {LAST_CHARACTERS: streams, LAST_CHARACTERS_BYTES: most} if streams > 0 and most > 0 else {}
