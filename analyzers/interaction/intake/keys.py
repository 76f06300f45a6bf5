"""Numbering of threads and pairs of threads in the tables of an interaction graph."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...common.state import Ints, Rows

SPACE: Final = 2**32
"""Factor of the space in thread keys: ``space * SPACE`` plus the thread number, which is below it."""
BY_RANK: Final = 2**31
"""First number for ranks whose threads are unknown."""
BY_STREAM: Final = 2**31 + 2**30
"""First number for streams without thread and rank."""
GUEST: Final = 2**31 + 2**30 + 2**29
"""First number for processes of guests."""

_LINK_BITS: Final = 20  # bits of a row in the key of a link
_KIND_BITS: Final = 3  # bits of the kind in the key of a link


def threads_of(tids: Ints, pids: Ints, ranks: Ints, stream: Ints | int) -> Ints:
    """Return the number of each thread. It is its own number, otherwise that of its process, rank or stream."""
    threads: Ints = np.where(tids == 0, pids, tids)
    nobody = threads == 0
    if nobody.any():
        known = np.where(ranks >= 0, BY_RANK + (ranks & (BY_RANK // 2 - 1)), BY_STREAM + stream % 2**29)
        threads = np.where(nobody, known, threads)
    return threads


def link_keys(source: Ints | Rows, target: Ints | Rows, kind: Ints | int) -> Ints:
    """Return a key for each pair of rows and kind of link."""
    return (((source.astype(np.int64) << _LINK_BITS) | target) << _KIND_BITS) | kind


def link_ends(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Return source, target and kind from the keys of links."""
    pairs = keys >> _KIND_BITS
    return pairs >> _LINK_BITS, pairs & (2**_LINK_BITS - 1), keys & (2**_KIND_BITS - 1)
