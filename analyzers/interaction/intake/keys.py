"""How threads and pairs of them are numbered in the tables of an interaction graph."""

from __future__ import annotations

from typing import Final

import numpy as np

from ...common.state import Ints, Rows

SPACE: Final = 2**32
"""Keys of threads are ``space * SPACE`` and the thread's number, which is below it."""
BY_RANK: Final = 2**31
"""Numbers from here on stand for ranks whose threads are not told."""
BY_STREAM: Final = 2**31 + 2**30
"""And from here on for streams that have no rank either."""
GUEST: Final = 2**31 + 2**30 + 2**29
"""Processes of guests have numbers from here on."""

_LINK_BITS: Final = 20
_KIND_BITS: Final = 3


def threads_of(tids: Ints, pids: Ints, ranks: Ints, stream: Ints | int) -> Ints:
    """Returns the number that each thread goes by: its own, else its process's, else one for its rank or stream."""
    threads: Ints = np.where(tids == 0, pids, tids)
    nobody = threads == 0
    if nobody.any():
        known = np.where(ranks >= 0, BY_RANK + (ranks & (BY_RANK // 2 - 1)), BY_STREAM + stream % 2**29)
        threads = np.where(nobody, known, threads)
    return threads


def link_keys(source: Ints | Rows, target: Ints | Rows, kind: Ints | int) -> Ints:
    """Returns a key for each pair of rows and kind of link between them."""
    return (((source.astype(np.int64) << _LINK_BITS) | target) << _KIND_BITS) | kind


def link_ends(keys: Ints) -> tuple[Ints, Ints, Ints]:
    """Returns source, target and kind that the keys of links stand for."""
    pairs = keys >> _KIND_BITS
    return pairs >> _LINK_BITS, pairs & (2**_LINK_BITS - 1), keys & (2**_KIND_BITS - 1)
