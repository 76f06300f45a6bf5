"""Lines of calls from their halves, all at once: by the compiled helper, or pair by pair where that was not built."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from .line import UNFINISHED
from .native_library import native
from .scan import Lines

Places: TypeAlias = npt.NDArray[np.int64]

STAMP: Final = b"0.0 "
"""Before what is joined, so that it can be taken apart as lines are."""


def join(data: bytes, lines: Lines, first: Places, second: Places) -> tuple[bytes, npt.NDArray[np.bool_]]:
    """Joins halves of calls.

    Args:
        data: what the extents in ``lines`` are of.
        lines: those that the halves stand in.
        first: places of first halves.
        second: places of the second half of each. One without a name fits any first half.

    Returns:
        A line of each pair, and which pairs fit together; the others have no line.
    """
    library = native()
    if library is None:
        return join_fallback(data, lines, first, second)
    texts, rests = lines["text"][first].astype(np.int64), lines["arguments"][second].astype(np.int64)
    room = int((texts[:, 1] - texts[:, 0] + rests[:, 1] - rests[:, 0]).sum()) + (len(STAMP) + 1) * len(first)
    text, made = np.empty(room, np.uint8), np.empty(len(first), np.bool_)
    size = library.strace_join(
        data, lines.ctypes.data, first.ctypes.data, second.ctypes.data, len(first), text.ctypes.data, made.ctypes.data
    )
    return text[:size].tobytes(), made


def join_fallback(data: bytes, lines: Lines, first: Places, second: Places) -> tuple[bytes, npt.NDArray[np.bool_]]:
    """Does the same, and says what the helper has to do."""
    joined: list[bytes] = []
    made = np.zeros(len(first), np.bool_)
    for pair, (before, after) in enumerate(zip(lines[first], lines[second], strict=True)):
        (begin, end), (name, name_end) = before["text"].tolist(), after["call"].tolist()
        if name == name_end or data.startswith(data[name:name_end] + b"(", begin, end):
            joined += STAMP, data[begin : end - len(UNFINISHED)], data[slice(*after["arguments"].tolist())], b"\n"
            made[pair] = True
    return b"".join(joined), made
