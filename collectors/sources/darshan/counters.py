"""Convert Darshan's counters of a file into summaries of calls within a time span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from ....events import Flag, Kind, Layer
from .events import CALLS, LATEST_S, ROW, Rows

_CLASSES: Final = (
    ("0_100", 0, 100), ("100_1K", 100, 1 << 10), ("1K_10K", 1 << 10, 10 << 10), ("10K_100K", 10 << 10, 100 << 10),
    ("100K_1M", 100 << 10, 1 << 20), ("1M_4M", 1 << 20, 4 << 20), ("4M_10M", 4 << 20, 10 << 20),
    ("10M_100M", 10 << 20, 100 << 20), ("100M_1G", 100 << 20, 1 << 30), ("1G_PLUS", 1 << 30, 1 << 40),
)  # fmt: skip
"""Classes of request sizes: end of the counter's name, minimum and maximum bytes."""
_WAYS: Final = ("INDEP", "COLL", "SPLIT", "NB")
_MOVING: Final = {
    Layer.POSIX: ("{}S",),
    Layer.STDIO: ("{}S",),
    Layer.MPIIO: tuple(f"{way}_{{}}S" for way in _WAYS),
}
_OTHERS: Final[dict[Layer, tuple[tuple[str, Kind, tuple[str, ...]], ...]]] = {
    Layer.POSIX: (
        ("open", Kind.CREATE, ("OPENS",)),
        ("fileno", Kind.OTHER, ("FILENOS",)),
        ("dup", Kind.DUPLICATE, ("DUPS",)),
        ("lseek", Kind.SEEK, ("SEEKS",)),
        ("stat", Kind.OTHER, ("STATS",)),
        ("mmap", Kind.OTHER, ("MMAPS",)),
        ("rename", Kind.OTHER, ("RENAME_SOURCES",)),
    ),
    Layer.MPIIO: (
        ("MPI_File_open", Kind.CREATE, ("INDEP_OPENS", "COLL_OPENS")),
        ("MPI_File_set_view", Kind.CHANGE_FLAGS, ("VIEWS",)),
    ),
    Layer.STDIO: (
        ("fopen", Kind.CREATE, ("OPENS",)),
        ("fdopen", Kind.CREATE, ("FDOPENS",)),
        ("fseek", Kind.SEEK, ("SEEKS",)),
    ),
}
"""Calls whose time is in F_META_TIME, including those that Darshan does not count (close)."""
_SYNCS: Final = {
    Layer.POSIX: ("fsync", ("FSYNCS", "FDSYNCS")),
    Layer.MPIIO: ("MPI_File_sync", ("SYNCS",)),
    Layer.STDIO: ("fflush", ("FLUSHES",)),
}
"""Calls whose time is in F_WRITE_TIME."""
_UNCOUNTED: Final = {Layer.POSIX: "close", Layer.MPIIO: "MPI_File_close", Layer.STDIO: "fclose"}
_SATURATION: Final = 2**62
_SIGNED: Final = (
    ("sequential", "SEQ_{}S"), ("consecutive", "CONSEC_{}S"), ("independent", "INDEP_{}S"), ("collective", "COLL_{}S"),
    ("split", "SPLIT_{}S"), ("nonblocking", "NB_{}S"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Summary:
    """Calls of one name on one file, with the time span that contains them."""

    call: str
    kind: Kind
    calls: int
    bytes: int
    busy_ns: int
    start_ns: int
    end_ns: int
    signature: str = ""


def moving_calls(layer: Layer, values: Mapping[str, Any]) -> int:
    """Return the number of calls that read or wrote."""
    return sum(_calls(layer, values, direction) for direction in ("READ", "WRITE"))


def summaries(layer: Layer, values: Mapping[str, Any], whole_s: tuple[float, float], *, moved: bool) -> list[Summary]:
    """Create summaries from the counters of one file.

    Args:
        layer: POSIX, MPIIO or STDIO.
        values: counters by name, without the module's prefix.
        whole_s: span of the job, for calls without stamps in the log.
        moved: include reads and writes.

    Returns:
        At most one summary per call name and class of sizes. Negative times, which some versions wrote, count as 0.
    """
    made: list[Summary] = []
    if moved:
        made += _moving(layer, values, "READ", _busy(values, "READ"))
    sync, counters = _SYNCS[layer]
    syncs, writes = _sum(values, counters), _calls(layer, values, "WRITE")
    write_ns = _busy(values, "WRITE")
    # Darshan adds the time of syncs to that of writes: it is theirs if there are no writes, otherwise it cannot be
    # divided
    if moved:
        made += _moving(layer, values, "WRITE", write_ns if writes or not syncs else 0)
    used = _span(values, ("OPEN", "READ", "WRITE", "CLOSE")) or whole_s
    if syncs:
        own_ns = write_ns if moved and not writes else 0
        made.append(_summary(sync, Kind.SYNC, syncs, 0, own_ns, _span(values, ("WRITE",)) or used))
    made += _metadata(layer, values, used)
    return made


def rows_of(summary: Summary, layer: Layer, file: int, ranks: range, begin_ns: int) -> Rows:
    """Create a row for each rank that has a share of a summary.

    Args:
        summary: the calls of all these ranks.
        layer: layer of the calls.
        file: number of the file.
        ranks: ranks that made the calls; calls are divided evenly, and bytes and time in proportion.
        begin_ns: start of the job.
    """
    edges = np.arange(len(ranks) + 1, dtype=object)  # Python integers, which do not overflow
    done = edges * summary.calls // len(ranks) if summary.calls else edges
    total = summary.calls or len(ranks)
    calls = np.diff(done).astype(np.int64) if summary.calls else np.zeros(len(ranks), np.int64)
    moved, busy = (np.diff(done * whole // total).astype(np.int64) for whole in (summary.bytes, summary.busy_ns))
    mine = np.flatnonzero((calls > 0) | (moved > 0) | (busy > 0))
    rows = np.zeros(len(mine), ROW)
    rows["start"], rows["duration"] = begin_ns + summary.start_ns, summary.end_ns - summary.start_ns
    rows["offset"], rows["requested"], rows["bytes"] = busy[mine], calls[mine], moved[mine]
    rows["file"], rows["rank"], rows["layer"], rows["kind"] = file, mine + ranks.start, layer, summary.kind
    rows["call"] = CALLS.index(summary.call)
    rows["flags"] = int(Flag.AGGREGATE | Flag.SPREAD)
    return rows


def _moving(layer: Layer, values: Mapping[str, Any], direction: str, busy_ns: int) -> list[Summary]:
    """Create the summaries of one direction. There is one per class of sizes if these are known and consistent."""
    calls = _calls(layer, values, direction)
    size = _number(values, "BYTES_READ" if direction == "READ" else "BYTES_WRITTEN")
    if not calls and not size and not busy_ns:
        return []
    span = _span(values, (direction,)) or (0.0, 0.0)
    kind = Kind.READ if direction == "READ" else Kind.WRITE
    call = {
        Layer.POSIX: "read", Layer.MPIIO: "MPI_File_read", Layer.STDIO: "fread",
    }[layer] if kind == Kind.READ else {
        Layer.POSIX: "write", Layer.MPIIO: "MPI_File_write", Layer.STDIO: "fwrite",
    }[layer]  # fmt: skip
    signature = _signature(call, values, direction)
    made, done, past, spent = list[Summary](), 0, 0, 0
    for count, part in _classes(layer, values, direction, calls, size):
        done, past = done + count, past + part
        until = busy_ns * done // calls if calls else busy_ns
        made.append(_summary(call, kind, count, part, until - spent, span, signature))
        spent = until
    return made


def _classes(
    layer: Layer, values: Mapping[str, Any], direction: str, calls: int, size: int
) -> Iterator[tuple[int, int]]:
    """Yield calls and bytes of each class. The mean size has the same relative position within every class."""
    infix = "_AGG" if layer == Layer.MPIIO else ""
    counts = [_number(values, f"SIZE_{direction}{infix}_{name}") for name, _, _ in _CLASSES]
    least = sum(count * low for count, (_, low, _) in zip(counts, _CLASSES, strict=True))
    room = sum(count * (high - low) for count, (_, low, high) in zip(counts, _CLASSES, strict=True))
    if sum(counts) != calls or not least <= size <= least + room or not room:
        yield calls, size
        return
    over, past, given = size - least, 0, 0
    for count, (_, low, high) in zip(counts, _CLASSES, strict=True):
        if count:
            past += count * (high - low)
            until = over * past // room
            yield count, count * low + until - given
            given = until


def _metadata(layer: Layer, values: Mapping[str, Any], used: tuple[float, float]) -> list[Summary]:
    """Create the summaries of calls that move no data. F_META_TIME is divided among them by their number."""
    busy_ns = _busy(values, "META")
    found = [(call, kind, count) for call, kind, names in _OTHERS[layer] if (count := _sum(values, names))]
    if not found:
        return [_summary(_UNCOUNTED[layer], Kind.DESTROY, 0, 0, busy_ns, used)] if busy_ns else []
    made, total, done, spent = list[Summary](), sum(count for *_, count in found), 0, 0
    for call, kind, count in found:
        done += count
        until = busy_ns * done // total
        span = _span(values, ("OPEN",)) if kind == Kind.CREATE else None
        made.append(_summary(call, kind, count, 0, until - spent, span or used))
        spent = until
    return made


def _summary(
    call: str, kind: Kind, calls: int, size: int, busy_ns: int, span: tuple[float, float], signature: str = ""
) -> Summary:
    start, end = (round(each * 1e9) for each in span)
    return Summary(call, kind, calls, size, busy_ns, start, end, signature)


def _signature(call: str, values: Mapping[str, Any], direction: str) -> str:
    """Return facts about the calls that have no column: ``read(calls=24, sequential=20, slowest_rank=3)``."""
    known = [(word, values.get(name.format(direction), 0)) for word, name in _SIGNED]
    words = [f"{word}={count}" for word, count in known if count > 0]
    for which in ("fastest", "slowest"):
        name = f"{which.upper()}_RANK"
        rank, took = values.get(name, -1), values.get(f"F_{name}_TIME", 0.0)
        if rank >= 0 and 0 < took < LATEST_S:
            words += [f"{which}_rank={rank}", f"{which}_rank_s={took:.6g}"]
    return f"{call}({', '.join(words)})" if words else ""


def _span(values: Mapping[str, Any], of: tuple[str, ...]) -> tuple[float, float] | None:
    """Return the first and the last of some stamps, s; None if none is valid."""
    starts = [float(values.get(f"F_{what}_START_TIMESTAMP", 0.0)) for what in of]
    ends = [float(values.get(f"F_{what}_END_TIMESTAMP", 0.0)) for what in of]
    starts, ends = ([stamp for stamp in stamps if 0 < stamp <= LATEST_S] for stamps in (starts, ends))
    if not starts and not ends:
        return None
    begin = min(starts or ends)
    return begin, max([*ends, begin])


def _busy(values: Mapping[str, Any], what: str) -> int:
    seconds = float(values.get(f"F_{what}_TIME", 0.0))
    return round(seconds * 1e9) if 0 < seconds <= LATEST_S else 0


def _calls(layer: Layer, values: Mapping[str, Any], direction: str) -> int:
    return _sum(values, tuple(name.format(direction) for name in _MOVING[layer]))


def _sum(values: Mapping[str, Any], names: tuple[str, ...]) -> int:
    return sum(_number(values, name) for name in names)


def _number(values: Mapping[str, Any], name: str) -> int:
    """Return a counter. Returns 0 if Darshan did not record it (-1) or it is out of range."""
    value = int(values.get(name, 0))
    return value if 0 < value < _SATURATION else 0
