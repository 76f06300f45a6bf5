"""Sites of collective calls: function and class of files."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....events import Layer
from ...common.state import Ints, State
from ..calls import Calls
from .tables import MAX_SITES

_CLASS_BITS: Final = 24  # bits of the file class in a key
NO_SITE: Final = -1  # calls other than MPI-IO collectives


class Sites(State):
    """Numbers pairs of an MPI-IO collective and a class of files from 1. 0 stands for pairs beyond the bound.

    Attributes:
        calls, classes: call and class of each site.
    """

    def __init__(self) -> None:
        self.calls = [0]
        self.classes = [0]
        self._numbers: dict[int, int] = {}

    def of(self, calls: Calls, file_class: Ints) -> Ints:
        """Return the site of each call, int64[n]; ``NO_SITE`` for calls other than MPI-IO collectives."""
        site = np.full(len(calls), NO_SITE, np.int64)
        rows = np.flatnonzero(calls.collective & (calls.layer == Layer.MPIIO))
        if len(rows):
            found, inverse = np.unique((calls.call[rows] << _CLASS_BITS) + file_class[rows], return_inverse=True)
            site[rows] = np.array([self._number(key) for key in found.tolist()], np.int64)[inverse]
        return site

    def merge(self, other: Sites, calls: Ints, classes: Ints) -> Ints:
        """Add another object's sites, with its calls and classes mapped to numbers here.

        Returns the number here of each.
        """
        pairs = zip(other.calls[1:], other.classes[1:], strict=True)
        numbers = [self._number((int(calls[call]) << _CLASS_BITS) + int(classes[kind])) for call, kind in pairs]
        return np.array([0, *numbers], np.int64)

    def _number(self, key: int) -> int:
        number = self._numbers.get(key)
        if number is None:
            if len(self.calls) > MAX_SITES:
                return 0
            number = self._numbers[key] = len(self.calls)
            self.calls.append(key >> _CLASS_BITS)
            self.classes.append(key & ((1 << _CLASS_BITS) - 1))
        return number
