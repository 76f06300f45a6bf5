"""Rule for chunks of format libraries that do not match the access."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from ....events import Kind, Layer
from ...common.sorting import sorted_distinct
from ...common.state import Ints
from ...common.texts import size_text
from ..call_statistics import LIBRARIES, Calls, Flags, Floats
from ..datasets import Datasets, datasets_of
from .claims import Claim, FindingText, Group, Part

_FEWEST: Final = 100  # minimum number of requests below for a finding
_LIBRARY_CALL_NS: Final = 20_000.0
"""Overhead of a read or write of a format library besides its bytes, ns."""
_MORE_CALLS: Final = 4  # minimum requests below per library call
_MORE_BYTES: Final = 1.5  # minimum bytes below per requested byte
_LEAST_BYTES: Final = 2**20  # bytes below from which more bytes than requested are a finding
_UNKNOWN: Final = 0.5  # share of the requests below whose dataset may be unknown


class _Requests(NamedTuple):
    """Affected requests by file; each column has shape (files,)."""

    times: Floats
    """Reads and writes of the library."""
    asked: Floats
    """Their bytes."""
    requests: Floats
    """Requests below."""
    moved: Floats
    """Their bytes."""
    ns_share: Floats
    """Share of the library's time on the file."""
    of_datasets: Flags
    """Whether they are those of some of the file's datasets."""


def chunks(calls: Calls) -> tuple[list[Claim], Flags]:
    """Report format libraries that issue many more requests, or bytes, than they are asked for.

    Returns:
        The claims, and whether each file is affected, bool[files].
    """
    statistics = calls.statistics
    small_bytes = statistics.settings.small_bytes
    chunked = np.zeros(len(statistics.files), np.bool_)
    library = np.isin(calls.layer, LIBRARIES)
    in_hdf5 = np.zeros(len(statistics.files), np.bool_)
    in_hdf5[statistics.keys.file[statistics.keys.layer == int(Layer.HDF5)]] = True
    moves = library & (calls.reads | calls.writes)
    if not moves.any():
        return [], chunked
    every = _by_file(calls, moves)
    found = _by_dataset(calls, every)
    many = (found.requests >= _FEWEST) & (found.requests >= _MORE_CALLS * found.times)
    many &= found.moved < small_bytes * found.requests
    more = (found.moved >= _MORE_BYTES * found.asked) & (found.moved > _LEAST_BYTES) & (found.asked > 0)
    chunked = many | more
    chunked[0] = False
    ends = library & ((calls.kind == int(Kind.DESTROY)) | (calls.kind == int(Kind.SYNC)))
    rows = np.flatnonzero((moves | ends) & chunked[calls.file])
    if not len(rows):
        return [], chunked
    file = calls.file[rows]
    ns = calls.ns[rows] * found.ns_share[file]
    ideal = calls.ideal_ns[rows] * found.asked[file] / np.maximum(every.asked[file], 1.0)
    made = calls.calls[rows] * found.times[file] / np.maximum(every.times[file], 1.0)
    of_calls = np.maximum(ns - ideal - np.minimum(made * _LIBRARY_CALL_NS, 0.5 * ns), 0.0)
    of_bytes = ns * np.clip(1.0 - found.asked[file] / np.maximum(found.moved[file], 1.0), 0.0, 1.0)
    gain = np.where(many[file], np.maximum(of_calls, np.where(more[file], of_bytes, 0.0)), of_bytes)

    def words(group: Group) -> FindingText:
        files = sorted_distinct(group.calls.file[group.rows])
        times, asked, count, moved = (float(column[files].sum()) for column in found[:4])
        whole = int(every.times[files].sum())
        which = f"{int(times):,} of {whole:,}" if int(times) < whole else f"{whole:,}"
        if found.of_datasets[files].all():
            about = "The other calls go to datasets (variables) without this." if int(times) < whole else ""
        else:
            about = (
                "The numbers are those of all datasets (variables) of a file together: one of them may cause most "
                "requests."
            )
        part = Part(int(times), int(asked), float(found.ns_share[files].max()))
        title = (
            f"{which} {_way_text(group, whole)} {group.where}, of {size_text(asked)}, "
            f"{'becomes' if whole == 1 else 'become'} {int(count):,} requests of "
            f"{size_text(moved / max(count, 1.0))} and {size_text(moved)} below"
        )
        if not in_hdf5[files].any():
            return FindingText(
                title=title,
                why="No calls of HDF5 were traced, so the file has NetCDF's classic format, which has no chunks: the "
                "library moves it in blocks of its buffer, a few pages each. It moves data again if variables or "
                "attributes are added after the data, and where it fills new variables first.",
                change="Define all variables before the first data, switch the filling off (nc_set_fill), "
                "give the library a larger buffer (bufrsizehintp of nc__open and nc__create), or write NetCDF-4.",
                part=part,
                short="define NetCDF variables first and give the library a larger buffer",
            )
        return FindingText(
            title=title,
            why="Chunks do not have the shape of the access: each call touches many small chunks, or reads whole "
            f"chunks for a part of them. {about}".rstrip(),
            change="Make chunks of the shape that is read and written at once, 1 MiB or so each (chunks=... in h5py, "
            "H5Pset_chunk), or give the cache room for all that a call touches (rdcc_nbytes, H5Pset_chunk_cache).",
            part=part,
        )

    return [Claim("chunks", rows, gain, statistics.class_of[file], words)], chunked


def _way_text(group: Group, count: int) -> str:
    """Return what the calls of a group do: read, write or both."""
    reads, writes = (bool(ways[group.rows].any()) for ways in (group.calls.reads, group.calls.writes))
    if reads and writes:
        return "reads and writes in"
    return f"{'read' if reads else 'write'}{'' if count == 1 else 's'} {'from' if reads else 'to'}"


def _floats(file: Ints, values: Ints, files: int) -> Floats:
    return np.bincount(file, values, minlength=files).astype(np.float64)


def _by_file(calls: Calls, moves: Flags) -> _Requests:
    """Return all requests of each file."""
    keys, sums = calls.statistics.keys, calls.statistics.cells.sums
    size = len(calls.statistics.files)
    below = keys.deep & ((keys.kind == int(Kind.READ)) | (keys.kind == int(Kind.WRITE)))
    below &= (keys.layer == int(Layer.POSIX)) | (keys.layer == int(Layer.KERNEL))
    return _Requests(
        times=calls.by_file(calls.calls, moves),
        asked=calls.by_file(calls.bytes, moves),
        requests=_floats(keys.file[below], sums[below, 0], size),
        moved=_floats(keys.file[below], sums[below, 2], size),
        ns_share=np.ones(size),
        of_datasets=np.zeros(size, np.bool_),
    )


def _by_dataset(calls: Calls, every: _Requests) -> _Requests:
    """Return the requests of datasets with many or large requests below.

    Files most of whose requests below belong to no known dataset keep all of their requests.
    """
    size = len(every.times)
    known, rest = datasets_of(calls.statistics.datasets)

    def sums(of: Datasets, column: str, chosen: Flags | None = None) -> Floats:
        at = slice(None) if chosen is None else chosen
        return _floats(of.file[at], getattr(of, column)[at], size)

    below, unknown = sums(known, "below_calls"), sums(rest, "below_calls")
    handles = np.bincount(known.file, minlength=size)
    usable = (handles > 1) & (below > 0) & (unknown <= _UNKNOWN * (below + unknown))
    many = known.below_calls >= _MORE_CALLS * known.calls
    many &= known.below_bytes < calls.statistics.settings.small_bytes * known.below_calls
    more = (known.below_bytes >= _MORE_BYTES * known.bytes) & (known.bytes > 0)
    bad = (known.below_calls > 0) & (many | more)
    ns, whole_ns = sums(known, "ns", bad), sums(known, "ns")
    return _Requests(
        times=np.where(usable, sums(known, "calls", bad), every.times),
        asked=np.where(usable, sums(known, "bytes", bad), every.asked),
        requests=np.where(usable, sums(known, "below_calls", bad), every.requests),
        moved=np.where(usable, sums(known, "below_bytes", bad), every.moved),
        ns_share=np.where(usable, ns / np.maximum(whole_ns, 1.0), 1.0),
        of_datasets=usable,
    )
