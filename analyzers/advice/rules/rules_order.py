"""Rules for request positions in a file: order, repeated bytes, and stripe boundaries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ....events.counted_text import counted
from ...common.state import Ints
from ...common.texts import duration_text, size_text
from ..call_statistics import LIBRARIES, LOWEST, Calls, Flags, Floats
from ..call_sums import split
from .claims import Claim, FindingText, Group

_MIN_CALLS: Final = 50  # minimum number of ordered calls for a finding
_JUMPS: Final = 0.5  # minimum share of calls that do not start at the previous end, or at a stripe
_BACKWARDS: Final = 0.2  # minimum share of calls that start before the previous end
_WAITED_NS: Final = 15_000
"""Minimum mean duration of a request that waits for storage, ns. Faster requests were served from memory."""
_COLD_RATE: Final = 5e8
"""Sequential read bandwidth from storage without caching, bytes/s."""
_DENSE: Final = 8.0
"""Maximum bytes read sequentially per wanted byte; larger gaps are skipped."""
_AGAIN: Final = 0.5  # minimum share of repeated bytes
_STRIPE_GAIN: Final = 0.3  # assumed share of the time saved by alignment


class AccessOrders:
    """Access order of each row of ``Calls``; zeros if unknown."""

    def __init__(self, calls: Calls) -> None:
        statistics = calls.statistics
        keys = split(statistics.places.key)
        known = _number(keys.thread, keys.file, keys.kind, keys.layer)
        order = np.argsort(known)
        mine = _number(calls.thread, calls.file, calls.kind, calls.layer)
        at = np.searchsorted(known[order], mine)
        at = np.where(at < len(known), at, 0)
        row = order[at] if len(known) else np.zeros(len(mine), np.int64)
        found = (known[row] == mine) if len(known) else np.zeros(len(mine), np.bool_)
        found &= np.isin(calls.layer, LOWEST) & (calls.file > 0) & (calls.thread > 0)

        def column(values: Ints) -> Floats:
            return np.where(found, values[row] if len(known) else 0, 0).astype(np.float64)

        sums = statistics.places.sums
        self.calls, self.ns, self.bytes, self.jumps, self.backwards, self.jump_ns, self.misaligned_calls = (
            column(sums[:, each]) for each in range(7)
        )
        self.low, self.high = column(statistics.places.least), column(statistics.places.most)
        self.extent = np.where(found, self.high - self.low, 0.0)


def _number(thread: Ints, file: Ints, kind: Ints, layer: Ints) -> Ints:
    number: Ints = ((thread << 24 | file) << 4 | kind) << 3 | layer
    return number


def random_reads(calls: Calls, places: AccessOrders) -> Iterator[Claim]:
    """Report reads at random positions that wait for storage."""
    known = np.maximum(places.calls, 1)
    rows = np.flatnonzero(
        calls.reads
        & (places.calls >= _MIN_CALLS)
        & (places.jumps >= _JUMPS * known)
        & (places.backwards >= _BACKWARDS * known)
        & (places.ns >= _WAITED_NS * places.calls)
    )
    if not len(rows):
        return
    share = places.jump_ns[rows] / np.maximum(places.ns[rows], 1)
    passed = np.clip(places.extent[rows], calls.bytes[rows], _DENSE * calls.bytes[rows])
    gain = np.maximum(calls.ns[rows] * share - passed / _COLD_RATE * 1e9, 0.0)

    def words(group: Group) -> FindingText:
        some = group.rows
        jumps = places.jumps[some].sum() / max(places.calls[some].sum(), 1)
        each = int(calls.ns[some].sum()) / max(group.calls_made, 1) / 1e9
        return FindingText(
            title=f"{counted(group.calls_made, 'reads')} of {size_text(group.size / max(group.calls_made, 1))} from "
            f"{group.where}, {jumps:.0%} of them not where the one before ended",
            why=f"Nothing is read ahead for requests in random order: each waits {duration_text(each)} for "
            f"the storage.",
            change="Read in the order of the file: sort the offsets, or read whole blocks once and pick from memory.",
        )

    yield Claim("random", rows, gain, calls.statistics.place_of[calls.file[rows]], words)


def repeated_bytes(calls: Calls, places: AccessOrders) -> Iterator[Claim]:
    """Report bytes that are read or written repeatedly."""
    statistics = calls.statistics
    size = len(statistics.files)
    written = calls.by_file(calls.calls, calls.writes)
    opens = _opens(calls)
    for way, cause in ((calls.reads, "read_again"), (calls.writes, "rewritten")):
        extent = places.extent if cause == "read_again" else places.extent * np.maximum(opens, 1)
        share = np.clip(1.0 - extent / np.maximum(places.bytes, 1), 0.0, 1.0)
        found = way & (places.calls > 1) & (share >= _AGAIN)
        if cause == "read_again":
            found &= written[calls.file] == 0
        if not found.any():
            continue
        fraction: dict[int, float] = {}
        for thread, file, part in zip(calls.thread[found], calls.file[found], share[found], strict=True):
            fraction[int(thread) * size + int(file)] = float(part)
        rows = np.flatnonzero(found)
        gain = calls.ns[rows] * share[rows]
        if cause == "read_again":  # including the opens that belong to them
            pairs = calls.thread * size + calls.file
            beside = np.flatnonzero(~found & ~calls.writes & np.isin(pairs, np.array(list(fraction), np.int64)))
            of = np.array([fraction[int(each)] for each in pairs[beside]], np.float64)
            rows, gain = np.concatenate([rows, beside]), np.concatenate([gain, calls.ns[beside] * of])
        words = _read_again if cause == "read_again" else _rewritten
        yield Claim(cause, rows, gain, statistics.place_of[calls.file[rows]], words, ends_calls=True)  # type: ignore[arg-type]


def _opens(calls: Calls) -> Floats:
    """Return how often each row's thread opened its file."""
    size = len(calls.statistics.files)
    pairs = calls.thread * size + calls.file
    found, which = np.unique(pairs, return_inverse=True)
    times = np.bincount(which, np.where(calls.opens, calls.calls, 0).astype(np.float64), minlength=len(found))
    return times[which].astype(np.float64)


def _read_again(group: Group) -> FindingText:
    calls, rows = group.calls, group.rows
    places = AccessOrders(calls)
    reads = rows[calls.reads[rows]]
    times = places.bytes[reads].sum() / max(places.extent[reads].sum(), 1)
    return FindingText(
        title=f"{group.where} is read {times:,.0f} times over: {size_text(group.size)} of "
        f"{size_text(places.extent[reads].sum())} in {counted(int(calls.calls[reads].sum()), 'reads')}",
        why="Bytes that the program has had before are read, and often opened, again; nobody in the job wrote them.",
        change="Read the file once and keep it in memory, or keep what was computed from it.",
    )


def _rewritten(group: Group) -> FindingText:
    places = AccessOrders(group.calls)
    extent = places.extent[group.rows].sum()
    times = places.bytes[group.rows].sum() / max(extent, 1)
    return FindingText(
        title=f"the same {size_text(extent)} of {group.where} are written {times:,.0f} times over in "
        f"{counted(group.calls_made, 'writes')} while the file stays open",
        why="Only the last version of these bytes stays; the others cost time and, on parallel file systems, traffic.",
        change="Keep what changes in memory and write it when it is complete; write a header once, at the end.",
    )


def read_back(calls: Calls, chunked: Flags, places: AccessOrders) -> Iterator[Claim]:
    """Report reads of data that the same thread has written.

    Reads of bytes that were in the file before do not count. Their share follows from the ranges that the thread wrote
    and read. Where these are unknown, at most as many bytes count as were written.
    """
    size = len(calls.statistics.files)
    pairs = calls.thread * size + calls.file
    _, which = np.unique(pairs, return_inverse=True)
    count = int(which.max(initial=-1)) + 1
    wrote = np.bincount(which, np.where(calls.writes, calls.bytes, 0), minlength=count)
    read = np.bincount(which, np.where(calls.reads, calls.bytes, 0), minlength=count)
    begun = np.full(count, 2**62, np.int64)
    np.minimum.at(begun, which[calls.writes], calls.first[calls.writes])
    asked = np.full(count, 2**62, np.int64)
    np.minimum.at(asked, which[calls.reads], calls.first[calls.reads])
    share = np.minimum(wrote / np.maximum(read, 1), 1.0)
    (low_w, high_w), (low_r, high_r) = (_ranges(places, which, way, count) for way in (calls.writes, calls.reads))
    known = (high_w > low_w) & (high_r > low_r)
    both = np.clip(np.minimum(high_w, high_r) - np.maximum(low_w, low_r), 0.0, None)
    part_w, part_r = (both / np.maximum(span, 1.0) for span in (high_w - low_w, high_r - low_r))
    different = np.minimum(read, high_r - low_r) * part_r  # bytes there that were read, each counted once
    share = np.where(known, part_r * np.minimum(wrote * part_w / np.maximum(different, 1.0), 1.0), share)
    found = (wrote > 0) & (read * share >= _AGAIN * wrote) & (asked >= begun)
    rows = np.flatnonzero(calls.reads & found[which] & (calls.file > 0) & (calls.thread > 0))
    rows = rows[~chunked[calls.file[rows]]]
    if len(rows):
        yield Claim(
            "read_back",
            rows,
            calls.ns[rows] * share[which[rows]],
            calls.statistics.place_of[calls.file[rows]],
            lambda group: _read_back(group, share[which[group.rows]]),
            ends_calls=True,
        )


def _ranges(places: AccessOrders, which: Ints, way: Flags, count: int) -> tuple[Floats, Floats]:
    """Return the first byte, and the end of the last, of each pair's calls; zeros if unknown."""
    known = way & (places.calls > 0)
    low, high = np.full(count, np.inf), np.zeros(count)
    np.minimum.at(low, which[known], places.low[known])
    np.maximum.at(high, which[known], places.high[known])
    return np.where(np.isinf(low), 0.0, low), high


def _read_back(group: Group, share: Floats) -> FindingText:
    own = float((group.calls.bytes[group.rows] * share).sum())
    return FindingText(
        title=f"{size_text(own)} are read from {group.where} by the process that wrote them, in "
        f"{counted(group.calls_made, 'reads')}",
        why="The data was in the program's memory; reading it back makes the file system move it again.",
        change="Keep what is needed again in memory, or hand it on there; put scratch files on a local file system "
        "($TMPDIR, /dev/shm).",
    )


def misaligned_requests(calls: Calls, places: AccessOrders) -> Iterator[Claim]:
    """Report requests of several threads to a striped file that cross stripe boundaries, or share stripes.

    MPI-IO aligns collective requests itself, and offsets of format libraries are those in a dataset.
    """
    files = calls.statistics.files
    striped = np.array([info.stripes > 1 and info.stripe_bytes > 0 for info in files])
    rows = np.flatnonzero(
        (calls.reads | calls.writes)
        & striped[calls.file]
        & ~calls.together
        & ~np.isin(calls.layer, LIBRARIES)
        & (calls.users[calls.file] >= 2)
        & (places.misaligned_calls >= _JUMPS * np.maximum(places.calls, 1))
        & (calls.bytes >= calls.statistics.settings.small_bytes * calls.calls)
    )
    if not len(rows):
        return

    def words(group: Group) -> FindingText:
        some = group.rows
        info = files[int(calls.file[some][0])]
        return FindingText(
            title=f"{int(places.misaligned_calls[some].sum()):,} of {int(places.calls[some].sum()):,} requests "
            f"to {group.where} do not begin at a stripe of {size_text(info.stripe_bytes)}",
            why="A request across a border locks objects on two servers, and ranks wait for one another's locks.",
            change="Let each rank's blocks begin at multiples of the stripe size (H5Pset_alignment, striping_unit), "
            "or set the stripe size to that of the blocks (lfs setstripe -S).",
        )

    place = calls.statistics.place_of[calls.file[rows]]
    yield Claim("misaligned", rows, calls.ns[rows] * _STRIPE_GAIN, place, words)
