"""Parse the messages that TMIO, GekkoFS and other tracers send to ftio-hpc's predictor over ZeroMQ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import msgpack  # type: ignore[import-untyped]
import msgspec
import numpy as np
from msgspec.structs import replace

from ....events import Kind, Layer
from ....events.network.malformed import MALFORMED
from ...source import Input
from .intervals import Floats, Intervals, excluded_sections, floats_of, intervals_of, is_record

EXPECTED: Final = (
    "MessagePack: a map such as {ranks, b: [bytes/s, ...], ts: [s, ...], te: [s, ...]}, "
    "TMIO's records, or the fields of GekkoFS"
)

_GEKKO_FIELDS: Final = (
    "flush_t",
    "hostname",
    "pid",
    "io_type",
    "start_t_micro",
    "end_t_micro",
    "req_size",
    "total_iops",
    "total_bytes",
)
"""Fields of a GekkoFS client, in this order if the names are left out."""

_GEKKO_ARRAYS: Final = ("start_t_micro", "end_t_micro", "req_size")
_JOB_FIELDS: Final = ("job", "job_id", "jobid")
_HOST_FIELDS: Final = ("hostname", "host")
_LONGEST_NAME: Final = 128
_MAX_VALUES: Final = 10_000
_MICRO: Final = 1e-6
_CELL: Final = np.dtype([("code", "u1"), ("value", ">f8")])
_FLOAT_64: Final = 0xCB
_ARRAY_HEADS: Final = {0xDC: 3, 0xDD: 5}
"""First byte of an array of more than 15 values -> number of bytes before the values."""
_LONG_BYTES: Final = 512
"""Size from which reading the bytes directly is faster than creating Python numbers."""


@dataclass(frozen=True, slots=True)
class Message:
    """Content of one message."""

    job: str
    """The job that the sender names, otherwise ""."""
    host: str
    """The host that the sender names, otherwise ""."""
    sections: list[tuple[Intervals, Layer]]
    rules: list[str]
    """For each section that was left out, the rule for it."""


class _Plain(msgspec.Struct):
    """The most frequent form of a message, a map; its arrays are still bytes."""

    b: msgspec.Raw
    ts: msgspec.Raw
    te: msgspec.Raw
    ranks: Any = 0
    job: Any = ""
    job_id: Any = ""
    jobid: Any = ""
    hostname: Any = ""
    host: Any = ""


_plain_decoder = msgspec.msgpack.Decoder(_Plain)


def read_message(data: bytes, about: Input, number: int) -> Message:
    """Parse one message. Never raises: errors are counted and reported, and the rest is returned.

    Args:
        data: one frame.
        about: receiver of problems.
        number: number of the message, for reports.
    """
    return _plain(data) or _read_any(data, numbered(about, number))


def _read_any(data: bytes, about: Input) -> Message:
    values = list(_values(data, about))
    message = Message(*_sender(values), [], [])
    if (fields := _gekko_fields(values)) is not None:
        message.sections.append((_of_gekko(fields), Layer.POSIX))
        return message
    for at, value in enumerate(values, 1):
        if len(values) > 1 and (fields := _gekko_fields([value])) is not None:
            message.sections.append((_of_gekko(fields), Layer.POSIX))
        elif is_record(value):
            layer = Layer.MPIIO if _is_tmio(value) else Layer.OTHER
            message.sections.extend((section, layer) for section in intervals_of(value, Kind.WRITE))
            message.rules.extend(excluded_sections(value))
        else:
            about.malformed(at, "the message has no bandwidth", EXPECTED)
            break  # otherwise every value of unrelated bytes would be reported
    for intervals, _ in message.sections:
        if intervals.ragged:
            about.malformed(None, f"{intervals.section}: {intervals.ragged}", "arrays of equal length")
    return message


def _plain(data: bytes) -> Message | None:
    """Parse a map of b, ts and te with arrays of equal length; None for anything else."""
    try:
        found = _plain_decoder.decode(data)
        rates, starts, ends = (_floats(memoryview(raw)) for raw in (found.b, found.ts, found.te))
    except MALFORMED:
        return None
    if rates is None or starts is None or ends is None or not len(rates) == len(starts) == len(ends):
        return None
    ranks = found.ranks if isinstance(found.ranks, int) and 0 <= found.ranks < 2**31 else 0
    job = _name(found.job) or _name(found.job_id) or _name(found.jobid)
    intervals = Intervals("write_sync", Kind.WRITE, starts, ends, rates, ranks)
    return Message(job, _name(found.hostname) or _name(found.host), [(intervals, Layer.OTHER)], [])


def _floats(raw: memoryview) -> Floats | None:
    """Parse a MessagePack array of numbers, with a fast path for long arrays of doubles."""
    head = _ARRAY_HEADS.get(raw[0]) if len(raw) >= _LONG_BYTES else None
    if head is not None and len(raw) == head + _CELL.itemsize * int.from_bytes(raw[1:head], "big"):
        cells = np.frombuffer(raw, _CELL, offset=head)
        if (cells["code"] == _FLOAT_64).all():
            return cells["value"].astype(np.float64)
    values = msgspec.msgpack.decode(raw)
    return floats_of(values) if isinstance(values, list) else None


def _values(data: bytes, about: Input) -> Iterator[Any]:
    """Yield the MessagePack values of a message: one, or several consecutive ones."""
    try:
        yield msgspec.msgpack.decode(data)
        return
    except MALFORMED:
        pass
    # msgpack skips values without building objects, so a false length costs no memory; msgspec then decodes.
    cutter = msgpack.Unpacker(max_buffer_size=max(1, len(data)))
    cutter.feed(data)
    begin, number = 0, 1
    try:
        while begin < len(data):
            if number > _MAX_VALUES:
                raise ValueError(f"a message has at most {_MAX_VALUES} values")
            cutter.skip()
            yield msgspec.msgpack.decode(data[begin : cutter.tell()])
            begin, number = cutter.tell(), number + 1
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        about.counters["bytes_dropped:malformed"] += len(data) - begin
        about.malformed(number, f"this is no MessagePack ({str(error) or type(error).__name__})", EXPECTED)
    else:
        if not data:
            about.malformed(None, "the message is empty", EXPECTED)


def _sender(values: list[Any]) -> tuple[str, str]:
    maps = [value for value in values if isinstance(value, dict)]
    job = next((name for value in maps for field in _JOB_FIELDS if (name := _name(value.get(field)))), "")
    host = next((name for value in maps for field in _HOST_FIELDS if (name := _name(value.get(field)))), "")
    if not host and not maps and (fields := _gekko_fields(values)) is not None:
        host = _name(fields.get("hostname"))
    return job, host


def _name(value: Any) -> str:
    if value == "" or isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return "".join(letter if letter.isprintable() else "?" for letter in str(value)[:_LONGEST_NAME])


def _is_tmio(value: Any) -> bool:
    """Distinguishes TMIO's own records from the short forms, which any tracer may send."""
    return isinstance(value, list) or any(isinstance(part, dict) for part in value.values())


def _gekko_fields(values: list[Any]) -> dict[str, Any] | None:
    """Find GekkoFS's fields. They are in one map, in one map each, or unnamed values in order."""
    fields: dict[str, Any] = {}
    if values and all(isinstance(value, dict) for value in values):
        if len(values) == 1 or all(len(value) == 1 for value in values):
            for value in values:
                fields.update(value)
    else:
        bare = values[0] if len(values) == 1 and isinstance(values[0], list) else values
        if len(_GEKKO_ARRAYS) < len(bare) <= len(_GEKKO_FIELDS):
            fields = dict(zip(_GEKKO_FIELDS, bare, strict=False))
            if fields["io_type"] not in ("r", "w", "read", "write"):
                return None
    return fields if all(isinstance(fields.get(name), list) for name in _GEKKO_ARRAYS) else None


def _of_gekko(fields: dict[str, Any]) -> Intervals:
    """Convert requests with sizes in bytes and times in microseconds to intervals."""
    starts, ends, sizes = (floats_of(fields[name]) for name in _GEKKO_ARRAYS)
    count = min(len(starts), len(ends), len(sizes))
    start, end = starts[:count] * _MICRO, ends[:count] * _MICRO
    end = np.where(end == start, start + _MICRO, end)  # shorter than the clock's resolution
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        rate = sizes[:count] / (end - start)
    even = len(starts) == len(ends) == len(sizes)
    ragged = "" if even else f"{', '.join(_GEKKO_ARRAYS)} have {len(starts)}, {len(ends)}, {len(sizes)} values"
    reads = str(fields.get("io_type", "w"))[:1] == "r"
    return Intervals("read" if reads else "write", Kind.READ if reads else Kind.WRITE, start, end, rate, 0, ragged)


def numbered(about: Input, number: int) -> Input:
    """Return the same receiver of problems, with the message's number in its name."""
    return replace(about, name=f"{about.name}, message {number}")
