"""Rules for request sizes.

They detect small requests, also on shared files, and chunks that do not match the access.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ....events import Kind, Layer
from ....events.counted_text import counted
from ...common.sorting import is_among, sorted_distinct
from ...common.state import Ints
from ...common.texts import duration_text, size_text
from ..call_statistics import LIBRARIES, Calls, Flags, Floats
from .claims import Claim, FindingText, Group
from .rules_order import AccessOrders

_MIN_REQUESTS: Final = 100  # minimum number of requests for a finding
_BUFFERED: Final = 4
"""Minimum C library calls per system call for the buffer to be effective."""
_BUFFERED_BYTES: Final = 1_024
"""Maximum mean size of C library calls that a default buffer combines, bytes. The buffer has 4 KiB. For calls
without known system calls."""
_DEFAULT_BUFFER: Final = 4_096  # size of the C library's default buffer, bytes
_EACH: Final = 0.5  # minimum ratio of calls and requests, either way, for calls that are made for each request
_LARGE: Final = 2_048
"""Request size from which the bytes cost more than the call, bytes. The bytes come from memory."""
_READ_CALL_NS, _WRITE_CALL_NS = 1_000.0, 4_000.0
"""Overhead of a system call besides its bytes, ns.

Measured with 80 MiB to a new file on ext4: writes of 2 to 64 KiB took 4.0 to 5.7 us each more than writes of 1 MiB.
"""


def small_requests(calls: Calls, chunked: Flags, places: AccessOrders) -> Iterator[Claim]:
    """Report small requests, combined per class of files. Files with few requests are combined per folder.

    Requests of one process that are not contiguous in their file cannot be merged and are excluded.
    """
    statistics = calls.statistics
    moves = (calls.reads | calls.writes) & (calls.calls > 0) & ~chunked[calls.file]
    moves &= ~_buffered(calls)[0]
    rows = np.flatnonzero(moves)
    if not len(rows):
        return
    place = _place(calls, rows)
    _, group = np.unique(place, return_inverse=True)
    count = np.bincount(group, calls.calls[rows])
    size = np.bincount(group, calls.bytes[rows])
    found = (count >= _MIN_REQUESTS) & (size < statistics.settings.small_bytes * count)
    rows, place = rows[found[group]], place[found[group]]
    for more, where in (_flushes(calls, rows, place), _beside(calls, rows, place)):
        rows, place = np.concatenate([rows, more]), np.concatenate([place, where])
    library = np.isin(calls.layer[rows], LIBRARIES)
    # At least 1 ns: a finding describes the requests of all threads, also of those that were fast.
    gain = np.maximum(calls.ns[rows] - calls.ideal_ns[rows], 1.0)
    copied = ~library & (calls.bytes[rows] >= _LARGE * calls.calls[rows])
    copied &= ~calls.waits[rows]
    each_ns = np.where(calls.writes[rows], _WRITE_CALL_NS, _READ_CALL_NS)
    gain = np.where(copied, np.minimum(gain, each_ns * calls.calls[rows]), gain)
    ranked = np.array([thread.rank >= 0 for thread in statistics.threads])[calls.thread[rows]]
    shared = ranked & (calls.users[calls.file[rows]] >= 2) & ~calls.together[rows]
    apart = np.where(shared, 0.0, places.jumps[rows] / np.maximum(places.calls[rows], 1))
    gain = np.maximum(gain * (1.0 - apart), np.where(apart < 1.0, 1.0, 0.0))
    for together, cause in ((True, "small_shared"), (False, "small_requests")):
        for of_library in (True, False):
            mine = (shared == together) & (library == of_library)
            if mine.any():
                words = _shared_words if together else (_library_words if of_library else _words)
                yield Claim(cause, rows[mine], gain[mine], place[mine], words, ends_calls=True, alike=True)  # type: ignore[arg-type]


def requests_of(calls: Calls, way: Flags) -> float:
    """Return the number of requests to the file system in one direction. C library calls count by their system calls.

    Args:
        calls: all calls.
        way: cells of the direction, bool[rows].
    """
    copied, made = _buffered(calls)
    buffered = way & copied
    kind = 1 if bool(calls.writes[way].any()) else 0
    known, flushed = made[kind], _flushed(calls)
    asked, moved = (calls.by_file(column, buffered) for column in (calls.calls, calls.bytes))
    # flushes alone do not show how often the buffer was full in between
    default = np.minimum(asked, np.maximum(flushed, np.ceil(moved / _DEFAULT_BUFFER)))
    requests = np.where(known > 0, known + flushed, default)[asked > 0]
    return float(calls.calls[way & ~copied].sum()) + float(requests.sum())


def _flushed(calls: Calls) -> Floats:
    """Return the number of flushes of the C library by file."""
    return calls.by_file(calls.calls, (calls.layer == int(Layer.STDIO)) & (calls.kind == int(Kind.SYNC)))


def _buffered(calls: Calls) -> tuple[Flags, tuple[Floats, Floats]]:
    """Return which cells are C library calls that only copy to or from its buffer.

    System calls of the C library are traced ones below it, those that the preload library found by the stream's buffer,
    and flushes. Durations do not count: they depend on the machine.

    Returns:
        The cells, and the number of known system calls of the C library by file, for reads and for writes. Those of
        flushes are not included.
    """
    keys, sums = calls.statistics.keys, calls.statistics.cells.sums
    size = len(calls.statistics.files)
    stdio = calls.layer == int(Layer.STDIO)
    below = keys.deep & ((keys.layer == int(Layer.POSIX)) | (keys.layer == int(Layer.KERNEL)))
    found = np.zeros(len(calls.rows), np.bool_)
    made = []
    for ways, kind in ((calls.reads, Kind.READ), (calls.writes, Kind.WRITE)):
        traced = np.bincount(
            keys.file[below], np.where(keys.kind[below] == int(kind), sums[below, 0], 0), minlength=size
        )
        through = calls.by_file(calls.calls, stdio & ways & calls.through)
        below_calls = np.maximum(traced, through).astype(np.float64)
        count = _flushed(calls) + below_calls
        asked, moved = (calls.by_file(column, stdio & ways) for column in (calls.calls, calls.bytes))
        combined = np.where(count > 0, asked >= _BUFFERED * count, moved <= _BUFFERED_BYTES * asked)
        found |= stdio & ways & combined[calls.file]
        made.append(below_calls)
    return found, (made[0], made[1])


def _flushes(calls: Calls, rows: Ints, place: Ints) -> tuple[Ints, Ints]:
    """Return the C library flushes of the same thread and file as small writes.

    Args:
        calls: all calls.
        rows: cells of small requests.
        place: place of each row.

    Returns:
        The cells, and the place of each.
    """
    of_stdio = (calls.layer[rows] == int(Layer.STDIO)) & calls.writes[rows]
    flushes = (calls.layer == int(Layer.STDIO)) & (calls.kind == int(Kind.SYNC))
    more, of = _of_requests(calls, rows[of_stdio], flushes)
    return more, place[of_stdio][of]


def _beside(calls: Calls, rows: Ints, place: Ints) -> tuple[Ints, Ints]:
    """Return the calls of a format library that a program makes for each request, such as ``H5Dset_extent``.

    Args:
        calls: all calls.
        rows: cells of small requests.
        place: place of each row.

    Returns:
        The cells, and the place of each.
    """
    of_library = np.isin(calls.layer[rows], LIBRARIES)
    more, of = _of_requests(calls, rows[of_library], np.isin(calls.layer, LIBRARIES) & (calls.kind == int(Kind.OTHER)))
    ratio = calls.calls[more] / np.maximum(calls.calls[rows[of_library]][of], 1)
    each = (ratio >= _EACH) & (ratio <= 1.0 / _EACH)
    return more[each], place[of_library][of[each]]


def _of_requests(calls: Calls, requests: Ints, wanted: Flags) -> tuple[Ints, Ints]:
    """Return the wanted cells of the threads and files of requests, and the first request of each as its index."""
    pairs = calls.thread * len(calls.statistics.files) + calls.file
    known, first = np.unique(pairs[requests], return_index=True)
    more = np.flatnonzero(wanted)
    more = more[is_among(pairs[more], known)]
    return more, first[np.searchsorted(known, pairs[more])]


def _place(calls: Calls, rows: Ints) -> Ints:
    """Assign numbers to the places of requests.

    A place is a direction and a class of file, or a folder for files with few requests.
    """
    statistics = calls.statistics
    classes, folders = statistics.class_of[calls.file[rows]], statistics.folder_of[calls.file[rows]]
    count = np.bincount(classes, calls.calls[rows], minlength=len(statistics.class_names))
    place = np.where(count[classes] < _MIN_REQUESTS, len(statistics.class_names) + folders, classes)
    return place * 2 + calls.writes[rows]


def _requests_text(group: Group) -> str:
    calls, rows = group.calls, group.rows
    way = "write" if calls.writes[rows].any() else "read"
    made = int(calls.calls[rows[calls.reads[rows] | calls.writes[rows]]].sum())
    each = size_text(group.size / max(made, 1))
    return f"{counted(made, way + 's')} of {each} on average {'to' if way == 'write' else 'from'} {group.where}"


def _words(group: Group) -> FindingText:
    ns = int(group.calls.ns[group.rows].sum()) / max(group.calls_made, 1)
    if group.calls.writes[group.rows].any():
        change = (
            "Buffer the output and write 1 MiB or more at once: setvbuf() in C, open(..., buffering=1<<20) in Python, "
            "or collect records in an array."
        )
    else:
        change = (
            "Read 1 MiB or more at once and take records out of memory: setvbuf() or one large read() in C, "
            "open(..., buffering=1<<20) or numpy.fromfile in Python."
        )
    return FindingText(
        title=_requests_text(group),
        why=f"Each request takes {duration_text(ns / 1e9)}: a system call costs 0.5 to 5 us besides its bytes, and on "
        "a network a round trip.",
        change=change,
    )


def _library_words(group: Group) -> FindingText:
    ns = int(group.calls.ns[group.rows].sum()) / max(group.calls_made, 1)
    return FindingText(
        title=_requests_text(group),
        why=f"Each call of the library takes {duration_text(ns / 1e9)} for selections and types, whatever it moves.",
        change="Read or write whole blocks with one call: many rows of a dataset at once, from an array in memory.",
    )


def _shared_words(group: Group) -> FindingText:
    threads = len(sorted_distinct(group.calls.thread[group.rows]))
    return FindingText(
        title=f"{_requests_text(group)}, by {threads:,} ranks, none of them collective",
        why="Small requests of many ranks to one file make its servers lock and seek for each of them.",
        change="Have each rank move large blocks of its own, in one file or in a file a rank; where pieces must lie in "
        "turns, collective calls gather them (MPI_File_write_at_all, H5FD_MPIO_COLLECTIVE), which pays off on parallel "
        "file systems.",
    )
