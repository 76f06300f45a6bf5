"""Separate records and their words in the lines of a ring."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from .ring_layout import LINE_BYTES, LINE_WORDS, MARK_WORDS, MAX_WORDS, RECORD, WORDS_PER_LINE

Lines: TypeAlias = npt.NDArray[np.uint64]
"""Lines of a ring, shape (n, 8)."""


class Records(Struct, frozen=True):
    """Records with their words.

    Attributes:
        rows: records, dtype RECORD; ``rows["words"]`` is the number of words of each.
        words: all words, uint64; those of a record are contiguous.
        at: index of each record's first word in ``words``, int64.
        line: index of each record among the input lines, int64; None if each line is a record.
    """

    rows: npt.NDArray[Any]
    words: npt.NDArray[np.uint64]
    at: npt.NDArray[np.int64]
    line: npt.NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.rows)

    def of_lines(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Select each record's value from values per line."""
        return values if self.line is None else values[self.line]


def marks(lines: Lines) -> npt.NDArray[np.uint8]:
    """Return the last byte of each line."""
    return lines.view(np.uint8).reshape(-1, LINE_BYTES)[:, -1]


def split(lines: Lines) -> tuple[Records, int]:
    """Separates records and words.

    Returns:
        The records that are followed by as many lines of words as they declare, and the number of the other records.
    """
    is_words = marks(lines) == MARK_WORDS
    rows = lines.view(RECORD).reshape(-1)
    if not is_words.any() and not rows["words"].any():
        return Records(rows, np.zeros(0, np.uint64), np.zeros(len(rows), np.int64), None), 0
    line = np.flatnonzero(~is_words)
    following = np.diff(line, append=len(lines)) - 1
    rows = lines[line].view(RECORD).reshape(-1)
    count = rows["words"].astype(np.int64)
    good = (following == -(-count // WORDS_PER_LINE)) & (count <= MAX_WORDS)
    words = lines[is_words][:, : LINE_WORDS - 1].reshape(-1)
    at = (line - np.arange(len(line))) * WORDS_PER_LINE
    if len(line):
        at -= line[0] * WORDS_PER_LINE  # skip words before the first record
        words = words[line[0] * WORDS_PER_LINE :]
    if good.all():
        return Records(rows, words, at, line), 0
    return Records(rows[good], words, at[good], line[good]), len(good) - int(np.count_nonzero(good))
