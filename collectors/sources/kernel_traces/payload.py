"""What stands behind the name of a kernel event, by tracer: the fields that are wanted, many lines at once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ....events.kernel import KernelEvent
from .rows import Step


@dataclass(frozen=True, slots=True)
class Found:
    """Fields of some lines.

    Attributes:
        texts: a list of texts for each group, all as long as ``rows``.
        rows: which of the lines have them.
    """

    texts: Mapping[str, Sequence[bytes]]
    rows: npt.NDArray[np.intp]


class Payload:
    """How one event is written, in one or several ways.

    Args:
        code: what the event is.
        patterns: regular expressions for the whole of what follows the event's name, none where no field is wanted.
            Groups are columns of ``Rows``, ``name``, ``path`` or ``state``; the first one never matches an empty text.
        constants: columns of Rows that are the same for all.
    """

    def __init__(self, code: KernelEvent | Step, *patterns: str, **constants: int) -> None:
        self.code = code
        self.constants = constants
        self._patterns = [re.compile(rb"^(?:%s|.*)\n" % text.encode(), re.MULTILINE) for text in patterns]

    @property
    def wants_fields(self) -> bool:
        """Whether the text behind the name is looked at."""
        return bool(self._patterns)

    def find(self, payloads: Sequence[bytes]) -> tuple[list[Found], npt.NDArray[np.intp]]:
        """Returns the fields of those lines that have them, and the rows of those that are malformed."""
        rows = np.arange(len(payloads))
        parts = []
        left = payloads
        for pattern in self._patterns:
            if not len(left):
                break
            names = sorted(pattern.groupindex, key=pattern.groupindex.__getitem__)
            found = pattern.findall(b"\n".join(left) + b"\n")
            if len(names) == 1:
                found = [(text,) for text in found]
            columns = list(zip(*found, strict=True))
            fits = np.fromiter(map(bool, columns[0]), np.bool_, len(found))
            if fits.all():
                parts.append(Found(dict(zip(names, columns, strict=True)), rows))
                return parts, rows[:0]
            chosen = np.flatnonzero(fits).tolist()
            texts = {name: [column[at] for at in chosen] for name, column in zip(names, columns, strict=True)}
            if chosen:
                parts.append(Found(texts, rows[fits]))
            rows = rows[~fits]
            left = [left[at] for at in np.flatnonzero(~fits).tolist()]
        return parts, rows
