"""Split batches into groups (the constant part of calls) and fields (integers)."""

from __future__ import annotations

import weakref
from ctypes import byref, c_bool
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events.batch import EventBatch
from ...events.definitions import DefinitionTable
from ...events.schema import COLUMNS as SCHEMA
from ..integers.number_templates import Templates, distinct_in_order, grown
from ..native_library import native
from .coder import Coder
from .columns import FIELDS, INTEGERS, STATIC
from .splitter_fallback import SplitterFallback

COLUMNS: Final = (
    *("call", "layer", "kind", "depth", "errno", "flags", "signature", "pid", "tid", "rank"),
    *("handle", "parent", "file", "offset", "requested", "bytes"),
)
"""Columns of a batch in the order of the helper."""
_DTYPES: Final = tuple((name, SCHEMA[name][0]) for name in COLUMNS)
_RAW: Final = 10
"""Number of columns of a group before pid, tid and rank become a thread."""
_TEXT_BYTES: Final = 200
"""Approximate memory of a name, a template, or a group of the fallback, bytes."""

Groups = npt.NDArray[np.uint32]
Fields = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]


class Splitter:
    """Splits the calls of one section. It uses the compiled helper, or its fallback if that was not built.

    Calls, templates and threads are numbered per section, in order of first appearance, so that equal processes have
    equal groups.

    Attributes:
        calls: names of calls by number; 0 is the call without a name.
        templates: signatures without their integers, by number.
    """

    def __init__(self) -> None:
        self.calls = [""]
        self.templates = Templates(INTEGERS)
        self._call_numbers = {"": 0}
        self._call_of = np.full(8, -1, np.int32)
        self._call_of[0] = 0
        self._native = native()
        self._fallback = SplitterFallback() if self._native is None else None
        if self._native is not None:
            self._splitter = self._native.splitter_new()
            if not self._splitter:
                raise MemoryError
            weakref.finalize(self, self._native.splitter_free, self._splitter)

    def __len__(self) -> int:
        """Return the number of groups."""
        if self._fallback is not None:
            return len(self._fallback)
        assert self._native is not None  # noqa: S101  (one of the two is there)
        return int(self._native.splitter_groups(self._splitter))

    def split(self, batch: EventBatch, low: int, high: int, table: DefinitionTable) -> tuple[Groups, Fields]:
        """Return the groups and fields of the rows low to high - 1. Groups are uint32[n], fields int64[n, 12].

        Args:
            batch: calls in the stream's numbers; undefined numbers count as unknown.
            low: first row.
            high: end of the rows, exclusive.
            table: definitions of the stream.
        """
        length = high - low
        groups = np.empty(length, np.uint32)
        fields = np.empty((length, len(FIELDS)), np.int64)
        is_fresh = len(self.calls) == 1  # a new section has nothing numbered, so the first attempt is skipped
        done = 0 if is_fresh else self._feed(batch, low, high, table, groups, fields)
        while done < length:
            self._learn(batch, low + done, high, table)
            done += self._feed(batch, low + done, high, table, groups[done:], fields[done:])
        return groups, fields

    def code(self, batch: EventBatch, low: int, high: int, table: DefinitionTable, coder: Coder) -> Codes:
        """Split rows and pass them to a coder; return its result, see ``split`` and ``Coder.feed``."""
        if self._native is None:
            return coder.feed(*self.split(batch, low, high, table))
        terminals = np.empty(high - low, np.int32)
        done, is_known, is_full = 0, len(self.calls) > 1, False
        while done < high - low and not is_full:
            if not is_known:
                self._learn(batch, low + done, high, table)
            taken, is_full = self._code(batch, low + done, high, table, coder, terminals[done:])
            done, is_known = done + taken, False
        return terminals[:done]

    def groups(self) -> tuple[npt.NDArray[np.int64], list[tuple[int, int, int]]]:
        """Return the columns ``STATIC`` of all groups, int64[n, 8].

        It also returns (pid, tid, rank) by number of the thread.
        """
        raw = np.empty((len(self), _RAW), np.int64)
        if self._fallback is not None:
            raw[:] = np.array(self._fallback.groups, np.int64).reshape(raw.shape)
        else:
            assert self._native is not None  # noqa: S101
            self._native.splitter_write(self._splitter, raw.ctypes.data)
        numbers: dict[tuple[int, int, int], int] = {}
        rows = raw[:, : len(STATIC)]
        rows[:, -1] = [numbers.setdefault((pid, tid, rank), len(numbers)) for pid, tid, rank in raw[:, 7:].tolist()]
        return np.ascontiguousarray(rows), list(numbers)

    @property
    def nbytes(self) -> int:
        """Approximate memory use."""
        learnt = (
            self._call_of.nbytes + self.templates.nbytes + _TEXT_BYTES * (len(self.calls) + len(self.templates.texts))
        )
        if self._fallback is not None:
            return learnt + _TEXT_BYTES * len(self._fallback)
        assert self._native is not None  # noqa: S101
        return learnt + int(self._native.splitter_bytes(self._splitter))

    def _feed(
        self, batch: EventBatch, low: int, high: int, table: DefinitionTable, groups: Groups, fields: Fields
    ) -> int:
        columns = [_as(getattr(batch, name), dtype) for name, dtype in _DTYPES]
        if self._fallback is not None:
            made, rows = self._fallback.feed(
                [column[low:high].tolist() for column in columns],
                [*self._call_of.tolist(), *[-1] * table.string_count][: table.string_count],
                [*self.templates.numbers.tolist(), *[-1] * table.signature_count][: table.signature_count],
                self.templates.integers.tolist(),
            )
            groups[: len(made)], fields[: len(made)] = made, np.array(rows, np.int64).reshape(len(made), len(FIELDS))
            return len(made)
        assert self._native is not None  # noqa: S101
        native_input, failed = self._native_input(columns, low, table), c_bool()
        done = self._native.splitter_feed(
            self._splitter, native_input.ctypes.data, high - low, groups.ctypes.data, fields.ctypes.data, byref(failed)
        )
        if failed:
            raise MemoryError
        return int(done)

    def _code(
        self, batch: EventBatch, low: int, high: int, table: DefinitionTable, coder: Coder, terminals: Codes
    ) -> tuple[int, bool]:
        assert self._native is not None  # noqa: S101
        columns = [_as(getattr(batch, name), dtype) for name, dtype in _DTYPES]
        native_input, failed, is_full = self._native_input(columns, low, table), c_bool(), c_bool()
        done = self._native.splitter_code(
            self._splitter, coder.handle(), native_input.ctypes.data, high - low, terminals.ctypes.data, byref(is_full),
            byref(failed),
        )  # fmt: skip
        coder.handle()  # raises if the coder has failed
        if failed:
            raise MemoryError
        return int(done), bool(is_full)

    def _native_input(self, columns: list[npt.NDArray[Any]], low: int, table: DefinitionTable) -> npt.NDArray[np.int64]:
        strides = [column.strides[0] for column in columns]
        templates = self.templates
        return np.array(
            [
                *(column.ctypes.data + low * stride for column, stride in zip(columns, strides, strict=True)),
                *strides,
                *(self._call_of.ctypes.data, templates.numbers.ctypes.data, templates.integers.ctypes.data),
                *(len(self._call_of), len(templates.numbers), table.string_count, table.signature_count),
            ],
            np.int64,
        )

    def _learn(self, batch: EventBatch, low: int, high: int, table: DefinitionTable) -> None:
        """Assign numbers to the next new call or signature, and to further new ones."""
        self._learn_calls(batch.call[low:high], table)
        self.templates.learn(_defined(batch.signature[low:high], table.signature_count), table.signature)

    def _learn_calls(self, call: npt.NDArray[Any], table: DefinitionTable) -> None:
        numbers = distinct_in_order(_defined(call, table.string_count))
        self._call_of = grown(self._call_of, int(numbers.max()) + 1)
        for number in numbers[self._call_of[numbers] < 0].tolist():
            name = table.string(number)
            self._call_of[number] = place = self._call_numbers.setdefault(name, len(self.calls))
            if place == len(self.calls):
                self.calls.append(name)


def _as(column: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    return column if column.dtype == dtype else column.astype(dtype)


def _defined(numbers: npt.NDArray[Any], count: int) -> npt.NDArray[np.int64]:
    """Return numbers with 0 for undefined ones. Tables are as long as the highest defined number."""
    wide = numbers.astype(np.int64)
    return np.where(wide < count, wide, 0)
