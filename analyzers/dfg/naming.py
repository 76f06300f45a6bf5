"""Applies a mapping to batches. It needs two table look-ups per event, and one name per distinct (call, file) pair."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, is_constant
from ..common.sorting import sorted_distinct
from .spec.mapping import Mapping, Names, joined

MAX_ACTIVITIES: Final = 65_536
MAX_CELLS: Final = 1 << 22
BEYOND: Final = "(beyond the bound)"
"""Activity of events beyond the bound on activities."""
RESERVED: Final = frozenset(("(start)", "(end)", "(other)"))
"""Names with a special meaning in a graph. An activity with such a name gets a prime appended."""
UNMAPPED: Final = -1  # activity of events dropped by the mapping
_UNSEEN: Final = -2  # pair without a name so far


class Mapper:
    """Numbers the activities of one job's events from 0, in order of first occurrence.

    Memory is bounded by ``most_activities`` and by the numbers of calls and files in the job's names.

    Args:
        mapping: definition of an activity.
        most_activities: maximum number of activities; further ones are counted in ``overflowed`` and named BEYOND.
    """

    def __init__(self, mapping: Mapping, most_activities: int = MAX_ACTIVITIES) -> None:
        self.mapping = mapping
        self.names: list[str] = []
        self.overflowed = 0
        self._most = most_activities
        self._numbers: dict[str, int] = {}
        self._calls = _Classes(16)
        self._files = _Classes(16)
        self._cells = np.full((16, 16), _UNSEEN, np.int32)
        self._roles = _Roles() if mapping.depends_on_role else None

    def apply(
        self, batch: EventBatch, names: Names, cases: npt.NDArray[np.int64] | None = None
    ) -> tuple[npt.NDArray[np.int32], list[str]]:
        """Map events to activities.

        Args:
            batch: events in the numbering of ``names``.
            names: names of calls and files; the same object at each call.
            cases: case of each event, int64[n]; needed by the part ``role`` only.

        Returns:
            The activity number of each event, int32[n], -1 for dropped events; and the new names, which follow the
            known ones.
        """
        known = len(self.names)
        if not len(batch):
            return np.zeros(0, np.int32), []
        if self._roles is None and len(batch) > 1 and all(map(is_constant, self._columns(batch))):
            one, fresh = self.apply(batch.select(slice(0, 1)), names)
            return np.broadcast_to(one[0], (len(batch),)), fresh
        if self._roles is not None and cases is not None:
            self._roles.observe(batch.file, cases)
        calls = self._calls.of(self._call_keys(batch), lambda key: self._of_call(key, names))
        files = self._files.of(self._file_keys(batch), lambda key: self._of_file(key, names))
        self._fit()
        width = len(self._cells[0])
        pairs = calls.astype(np.int64)
        pairs *= width
        pairs += files
        activity = self._cells.take(pairs)
        if activity.min() == _UNSEEN:
            for pair in sorted_distinct(pairs[activity == _UNSEEN]).tolist():
                self._name(*divmod(pair, width))
            activity = self._cells.take(pairs)
        return activity, self.names[known:]

    def observe(self, batch: EventBatch, cases: npt.NDArray[np.int64]) -> None:
        """Record which files are shared without naming activities, for traces that are read in advance."""
        if self._roles is not None:
            self._roles.observe(batch.file, cases)

    def activities_with(self, files: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return, per activity, whether one of the given files has its name.

        Args:
            files: mask over the file numbers.
        """
        found = np.zeros(len(self.names), np.bool_)
        keys = 2 * np.flatnonzero(files)
        classes = self._files.known(np.concatenate([keys, keys + 1]))
        activities = sorted_distinct(self._cells[:, classes])
        found[activities[activities >= 0]] = True
        return found

    def _columns(self, batch: EventBatch) -> Iterator[npt.NDArray[Any]]:
        """Yield the columns that determine names, except for cases."""
        yield from (batch.call, batch.file)
        if self.mapping.depends_on_layer:
            yield batch.layer
        if self.mapping.depends_on_kind:
            yield batch.kind

    def _call_keys(self, batch: EventBatch) -> npt.NDArray[np.int64]:
        keys = batch.call.astype(np.int64)
        if self.mapping.depends_on_layer or self.mapping.depends_on_kind:
            layer = batch.layer if self.mapping.depends_on_layer else np.zeros(1, np.int64)
            kind = batch.kind if self.mapping.depends_on_kind else np.zeros(1, np.int64)
            return keys * 256 + layer.astype(np.int64) * 16 + kind
        return keys * 256

    def _file_keys(self, batch: EventBatch) -> npt.NDArray[np.int64]:
        keys = 2 * batch.file.astype(np.int64)
        return keys if self._roles is None else keys + self._roles.shared(batch.file)

    def _of_call(self, key: int, names: Names) -> Any:
        number, rest = divmod(key, 256)
        call = names.calls[number] if number < len(names.calls) else ""
        if self.mapping.rules is not None:
            return call, self.mapping.rules.of_call(call)
        return self.mapping.of_call(call, *divmod(rest, 16))

    def _of_file(self, key: int, names: Names) -> Any:
        number, shared = divmod(key, 2)
        path = names.files[number].path if number < len(names.files) else ""
        if self.mapping.rules is not None:
            return self.mapping.rules.of_path(path)
        return self.mapping.of_path(path, bool(shared))

    def _name(self, call: int, file: int) -> None:
        of_call, of_file = self._calls.meanings[call], self._files.meanings[file]
        if of_call is None or of_file is None:
            name = BEYOND
        elif self.mapping.rules is not None:
            call_name, fits = of_call
            name = self.mapping.rules.name(call_name, fits, of_file)
        else:
            name = joined(of_call, of_file)
        if name in RESERVED:
            name = f"{name}'"
        self._cells[call, file] = self._number(name) if name else UNMAPPED

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            if len(self.names) >= self._most - 1 and name != BEYOND:
                self.overflowed += 1
                return self._number(BEYOND)
            self._numbers[name] = number = len(self.names)
            self.names.append(name)
        return number

    def _fit(self) -> None:
        """Grow the table of pairs to the number of classes. Both dimensions stop at the bound."""
        rows, columns = self._cells.shape
        while rows < len(self._calls.meanings):
            rows *= 2
        while columns < len(self._files.meanings):
            columns *= 2
        if (rows, columns) != self._cells.shape:
            cells = np.full((rows, columns), _UNSEEN, np.int32)
            cells[: len(self._cells), : len(self._cells[0])] = self._cells
            self._cells = cells
        self._calls.room = max(MAX_CELLS // columns, len(self._calls.meanings))
        self._files.room = max(MAX_CELLS // rows, len(self._files.meanings))


class _Classes:
    """Numbers the distinct meanings of keys; keys with the same meaning share a class. Class 0 is beyond the bound."""

    def __init__(self, capacity: int) -> None:
        self.meanings: list[Any] = [None]
        self.room = MAX_CELLS // 16
        self._numbers: dict[Any, int] = {}
        self._of_key = np.full(capacity, _UNSEEN, np.int32)

    def of(self, keys: npt.NDArray[np.int64], meaning: Any) -> npt.NDArray[np.int32]:
        """Return the class of each key, int32[n]."""
        highest = int(keys.max())
        if highest >= len(self._of_key):
            grown = np.full(max(highest + 1, 2 * len(self._of_key)), _UNSEEN, np.int32)
            grown[: len(self._of_key)] = self._of_key
            self._of_key = grown
        classes = self._of_key.take(keys)
        if classes.min() == _UNSEEN:
            for key in sorted_distinct(keys[classes == _UNSEEN]).tolist():
                self._of_key[key] = self._class(meaning(key))
            classes = self._of_key.take(keys)
        return classes

    def known(self, keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the distinct classes of the known keys."""
        classes = self._of_key[keys[keys < len(self._of_key)]]
        return sorted_distinct(classes[classes != _UNSEEN])

    def _class(self, meaning: Any) -> int:
        number = self._numbers.get(meaning)
        if number is None:
            if len(self.meanings) >= self.room:
                return 0
            self._numbers[meaning] = number = len(self.meanings)
            self.meanings.append(meaning)
        return number


class _Roles:
    """Tracks which files more than one case has used."""

    def __init__(self) -> None:
        self._first = np.full(64, np.iinfo(np.int64).min)
        self._shared = np.zeros(64, np.bool_)

    def observe(self, files: npt.NDArray[Any], cases: npt.NDArray[np.int64]) -> None:
        if not len(files):
            return
        highest = int(files.max())
        if highest >= len(self._first):
            size = max(highest + 1, 2 * len(self._first))
            first, shared = np.full(size, np.iinfo(np.int64).min), np.zeros(size, np.bool_)
            first[: len(self._first)], shared[: len(self._shared)] = self._first, self._shared
            self._first, self._shared = first, shared
        new = self._first[files] == np.iinfo(np.int64).min
        self._first[files[new]] = cases[new]
        self._shared[files[self._first[files] != cases]] = True

    def shared(self, files: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        known = files < len(self._shared)
        return np.where(known, self._shared[np.where(known, files, 0)], False).astype(np.int64)
