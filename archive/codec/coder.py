"""Encode calls of one stream as terminals: changing fields are coded by their growth."""

from __future__ import annotations

import weakref
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..native_library import native
from .coder_fallback import CoderFallback

_FALLBACK_BYTES: Final = 500
"""Approximate memory of a terminal in the fallback, bytes."""


class Terminals(Struct, frozen=True, eq=False):
    """Table of n call signatures.

    Attributes:
        groups: group (constant part) of each signature, uint32[n].
        literals: bit f is set if field f is a literal, uint32[n].
        growths: growth of each field, int64[n, fields]; 0 for literals.
    """

    groups: npt.NDArray[np.uint32]
    literals: npt.NDArray[np.uint32]
    growths: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.groups)


class Coder:
    """Encodes calls as terminals, or decodes them; one direction per instance.

    A call is a group and a row of integers, the fields. Field 0 is the handle. Fields before ``first_of_handle`` are
    coded by their growth since the last call of the group. The others are coded since the last call of the group on
    the same handle.

    A growth seen once is a literal, stored in a list of its field. When seen again it gets its own terminals (at most
    256 per field and group). If several fields grow, the same applies to combinations of growths. Source: [Recorder]
    (offset patterns i * a + b of a signature and handle; file names with counters, which it leaves open, are treated
    the same by the file's number).
    """

    MAX_FIELDS = 16

    def __init__(self, fields: int, first_of_handle: int) -> None:
        if not 1 <= first_of_handle <= fields <= self.MAX_FIELDS:
            raise ValueError(f"1 to {self.MAX_FIELDS} fields, those of the handle last, not {fields}")
        self._fields = fields
        self._native = native()
        self._fallback = CoderFallback(fields, first_of_handle) if self._native is None else None
        self._written = 0
        if self._native is not None:
            self._coder = self._native.coder_new(fields, first_of_handle)
            if not self._coder:
                raise MemoryError
            weakref.finalize(self, self._native.coder_free, self._coder)

    def feed(self, groups: npt.NDArray[np.uint32], fields: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Encode calls.

        Args:
            groups: uint32[n].
            fields: int64[n, fields].

        Returns:
            Terminals, int32[m]; m < n if the table of terminals is full and a new section is needed.
        """
        if self._fallback is not None:
            return np.array(self._fallback.feed(groups.tolist(), fields.tolist()), np.int32)
        assert self._native is not None  # noqa: S101  (one of the two is there)
        groups = np.ascontiguousarray(groups, np.uint32)
        fields = np.ascontiguousarray(fields, np.int64)
        if fields.shape != (len(groups), self._fields):
            raise ValueError(f"fields have shape {fields.shape}, not {(len(groups), self._fields)}")
        terminals = np.empty(len(groups), np.int32)
        done = self._native.coder_feed(
            self._coder, groups.ctypes.data, fields.ctypes.data, len(groups), terminals.ctypes.data
        )
        self._check()
        return terminals[:done]

    def handle(self) -> int:
        """Return the address of the compiled coder, for ``Splitter.code``; it must exist."""
        self._check()
        return int(self._coder)

    def new_terminals(self) -> Terminals:
        """Return the terminals created since the last call."""
        first, self._written = self._written, self.count
        if self._fallback is not None:
            rows = self._fallback.terminals[first:]
            growths = np.array([row[2] for row in rows], np.int64).reshape(len(rows), self._fields)
            return Terminals(
                np.array([row[0] for row in rows], np.uint32), np.array([row[1] for row in rows], np.uint32), growths
            )
        assert self._native is not None  # noqa: S101
        count = self._written - first
        made = Terminals(
            np.empty(count, np.uint32), np.empty(count, np.uint32), np.empty((count, self._fields), np.int64)
        )
        self._native.coder_write(
            self._coder, first, made.groups.ctypes.data, made.literals.ctypes.data, made.growths.ctypes.data
        )
        return made

    def take_literals(self) -> list[npt.NDArray[np.int64]]:
        """Return each field's literals since the last call, in order."""
        if self._fallback is not None:
            taken = [np.array(values, np.int64) for values in self._fallback.literals]
            for each in self._fallback.literals:
                each.clear()
            return taken
        assert self._native is not None  # noqa: S101
        lists: list[npt.NDArray[np.int64]] = []
        for field in range(self._fields):
            values = np.empty(self._native.coder_literals(self._coder, field), np.int64)
            if len(values):
                self._native.coder_take_literals(self._coder, field, values.ctypes.data)
            lists.append(values)
        return lists

    @property
    def count(self) -> int:
        """Number of terminals."""
        if self._fallback is not None:
            return len(self._fallback.terminals)
        assert self._native is not None  # noqa: S101
        return int(self._native.coder_terminals(self._coder))

    @property
    def literal_count(self) -> int:
        """Number of literals waiting to be taken, over all fields."""
        if self._fallback is not None:
            return sum(map(len, self._fallback.literals))
        assert self._native is not None  # noqa: S101
        return int(self._native.coder_all_literals(self._coder))

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        if self._fallback is not None:
            return _FALLBACK_BYTES * (len(self._fallback.terminals) + self.literal_count)
        assert self._native is not None  # noqa: S101
        return int(self._native.coder_bytes(self._coder))

    def define(self, terminals: Terminals) -> None:
        """For decoding: adds terminals as they were written."""
        if self._fallback is not None:
            for group, literals, growth in zip(
                terminals.groups.tolist(), terminals.literals.tolist(), terminals.growths.tolist(), strict=True
            ):
                self._fallback.define((group, literals, tuple(growth)))
            return
        assert self._native is not None  # noqa: S101
        groups = np.ascontiguousarray(terminals.groups, np.uint32)
        bits = np.ascontiguousarray(terminals.literals, np.uint32)
        growths = np.ascontiguousarray(terminals.growths, np.int64)
        self._native.coder_define(self._coder, len(groups), groups.ctypes.data, bits.ctypes.data, growths.ctypes.data)
        self._check()

    def add_literals(self, field: int, values: npt.NDArray[np.int64]) -> None:
        """For decoding: adds literals of a field."""
        if self._fallback is not None:
            self._fallback.literals[field].extend(values.tolist())
            return
        assert self._native is not None  # noqa: S101
        given = np.ascontiguousarray(values, np.int64)
        self._native.coder_give_literals(self._coder, field, given.ctypes.data, len(given))
        self._check()

    def decode(self, terminals: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """Decode terminals to groups, uint32[m], and fields, int64[m, fields].

        m < n: a terminal is undefined, or a literal of it is missing.
        """
        if self._fallback is not None:
            found, rows = self._fallback.decode(terminals.tolist())
            return np.array(found, np.uint32), np.array(rows, np.int64).reshape(len(rows), self._fields)
        assert self._native is not None  # noqa: S101
        given = np.ascontiguousarray(terminals, np.int32)
        groups = np.empty(len(given), np.uint32)
        fields = np.empty((len(given), self._fields), np.int64)
        done = self._native.coder_decode(
            self._coder, given.ctypes.data, len(given), groups.ctypes.data, fields.ctypes.data
        )
        self._check()
        return groups[:done], fields[:done]

    def _check(self) -> None:
        if self._native is not None and self._native.coder_failed(self._coder):
            raise MemoryError
