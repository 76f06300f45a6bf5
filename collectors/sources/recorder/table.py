"""Table of a rank's signatures as columns, so that many calls are converted by indexing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Interner, Kind, Layer, make_batch
from ...source import UnsupportedData
from .._nesting import bytes_with_nested
from .calls import UNMEASURED, CallParameters, interpreted_parameters, is_io
from .files import Signature

USER_FUNCTION = 255
_COLUMNS = ("call", "layer", "kind", "tid", "file", "depth", "offset", "requested", "signature")


class Table:
    """Columns with one value for each signature.

    Args:
        signatures: signatures by number; None for unused numbers.
        functions: names by number.
        rank: rank of all calls.
        used: the numbers that calls have.
    """

    def __init__(
        self, signatures: Sequence[Signature | None], functions: Sequence[str], rank: int, used: Sequence[int]
    ) -> None:
        self.interner = Interner()
        self._rank = rank
        self._functions = functions
        self._threads: dict[int, int] = {}
        self._texts: dict[str, int] = {}
        self._lost: dict[int, str] = {}
        self._columns = {name: np.zeros(len(signatures), np.int64) for name in _COLUMNS}
        self._unmeasured = np.zeros(len(signatures), np.bool_)
        self._is_call = np.zeros(len(signatures), np.bool_)
        meanings = [self._parameters(signatures[number]) for number in used]
        files = self._files_by_handle(meanings)
        for number, meaning in zip(used, meanings, strict=True):
            signature = signatures[number]
            if signature is None or meaning is None:
                self._lost[number] = self._reason(signature)
            else:
                self._is_call[number] = True
                self._fill(number, signature, meaning, files)

    def batch(
        self, terminals: npt.NDArray[np.int32], start: npt.NDArray[np.int64], duration: npt.NDArray[np.int64]
    ) -> tuple[EventBatch, npt.NDArray[np.bool_]]:
        """Return the events of calls, and the mask of those that are I/O. The others are left out of the batch."""
        kept = self._is_call[terminals]
        rows = terminals[kept]
        columns: dict[str, npt.ArrayLike] = {name: column[rows] for name, column in self._columns.items()}
        moved: dict[str, npt.ArrayLike] = {"rank": self._rank}
        moved["bytes"] = bytes_with_nested(
            self._columns["depth"][rows], self._columns["kind"][rows], self._columns["requested"][rows],
            self._unmeasured[rows],
        )  # fmt: skip
        return make_batch(len(rows), {**columns, **moved, "start": start[kept], "duration": duration[kept]}), kept

    def report_omissions(self, counts: npt.NDArray[np.int64], unsupported: UnsupportedData) -> None:
        """Report data of calls that cannot be represented; ``counts``: number of uses of each signature."""
        for number, reason in self._lost.items():
            unsupported.add(reason, int(counts[number]))
        moving = self._is_call & (self._columns["requested"] > 0)
        unsupported.add(
            "results of calls, which Recorder does not keep: bytes are those asked for", int(counts[moving].sum())
        )
        omissions = (
            "sizes of calls of HDF5, or of MPI types that are not the standard's: bytes are those of calls within them"
        )
        unsupported.add(omissions, int(counts[self._unmeasured].sum()))

    def _parameters(self, signature: Signature | None) -> CallParameters | None:
        if signature is None or signature.function >= len(self._functions):
            return None
        function = self._functions[signature.function]
        return interpreted_parameters(function, signature.arguments) if is_io(function) else None

    def _reason(self, signature: Signature | None) -> str:
        if signature is not None and signature.function == USER_FUNCTION:
            return "functions of the program's own"
        if signature is None or signature.function >= len(self._functions):
            return "calls of functions that the trace does not name"
        return "calls of MPI that are no I/O"

    def _files_by_handle(self, meanings: Sequence[CallParameters | None]) -> dict[str, int]:
        """Return the file of each MPI handle. Returns 0 for a handle that was used for several files."""
        files: dict[str, int] = {}
        for each in meanings:
            if each is not None and each.layer == Layer.MPIIO and each.kind == Kind.CREATE and each.handle:
                number = self.interner.file(each.path)
                files[each.handle] = number if files.get(each.handle, number) == number else 0
        return files

    def _fill(self, number: int, signature: Signature, says: CallParameters, files: dict[str, int]) -> None:
        function = self._functions[signature.function]
        self._unmeasured[number] = says.bytes == UNMEASURED
        values = (
            self.interner.string(function),
            int(says.layer),
            int(says.kind),
            self._threads.setdefault(signature.thread, len(self._threads)) if signature.thread else 0,
            self.interner.file(says.path) if says.path else files.get(says.handle, 0),
            signature.level,
            says.offset,
            max(says.bytes, 0),
            self._text(f"{function}({', '.join(says.rest)})") if says.rest else 0,
        )
        for name, value in zip(_COLUMNS, values, strict=True):
            self._columns[name][number] = value

    def _text(self, text: str) -> int:
        number = self._texts.get(text)
        if number is None:
            number = self._texts[text] = self.interner.new_signature(text)
        return number
