"""Event logs as HDF5 in the layout of [DFG].

There is one group per case, with the columns pid, call, start, dur, fp, size.

Further event columns are added where a case has values other than "unknown".
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np
import numpy.typing as npt

from .log import EventLog, LogCase

FORMAT: Final = "iotide event log"
VERSION: Final = 1
_PIECE: Final = 65_536
_PIECE_BYTES: Final = 1 << 25
_CACHE_BYTES: Final = 1 << 20
"""Chunk cache of each column. HDF5 2 uses eight times as much by default, and a case has twenty columns."""
_NANOSECONDS: Final = ("start", "dur")


def write_hdf5(target: Path, log: EventLog) -> None:
    """Write a log with all its events, independent of the mapping. Times are int64 nanoseconds.

    Raises:
        OSError: the file cannot be written.
    """
    calls, files = text_column(log.calls), text_column(log.files)
    with hdf5_log(target) as out:
        for case in log.cases:
            columns = ["pid", "start", "dur", "size"]
            columns += ["tid"] if (case.tid != case.pid).any() else []
            columns += ["rank"] if (case.ranks != case.rank).any() else []
            columns += ["depth"] if case.depth.any() else []
            made = CaseWriter(out, case, columns, calls.dtype, files.dtype)
            made.append(case, calls, files)
            made.finish()


@contextmanager
def hdf5_log(target: Path) -> Iterator[h5py.File]:
    """Create a new file for cases.

    Raises:
        OSError: it cannot be made or written on.
    """
    with target.open("w+b", buffering=0) as file:
        guarded_file = _DeferredErrorFile(file)
        try:
            with h5py.File(guarded_file, "w", libver="v110", rdcc_nbytes=_CACHE_BYTES) as out:
                out.attrs["format"], out.attrs["version"] = FORMAT, VERSION
                yield out
        finally:
            guarded_file.check()


class _DeferredErrorFile(io.RawIOBase):
    """A file for HDF5 that hides write errors from it. It raises them on close, because a full disk can crash HDF5."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file = file
        self._error: OSError | None = None

    def check(self) -> None:
        """Raise the first error."""
        if self._error is not None:
            raise self._error

    def readinto(self, into: Any) -> int:
        return self._file.readinto(into) or 0

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        try:
            done = 0
            while done < len(view) and self._error is None:
                done += self._file.write(view[done:]) or 0
        except OSError as error:
            self._error = error
        return len(view)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def truncate(self, size: int | None = None) -> int:
        try:
            return self._file.truncate(size)
        except OSError as error:
            self._error = self._error or error
            return size or 0


class CaseWriter:
    """Writer of one case, piece by piece.

    Args:
        out: file of ``hdf5_log``.
        case: its name, command, host, rank and clock are written.
        columns: names of its numeric columns, of pid, tid, rank, start, dur, size, depth and ``LogCase.more``.
        calls: dtype of call names, bytes of fixed width.
        files: dtype of paths, bytes of fixed width.
    """

    def __init__(
        self, out: h5py.File, case: LogCase, columns: Sequence[str], calls: np.dtype[Any], files: np.dtype[Any]
    ) -> None:
        group = out.create_group(case.name)
        group.attrs["cid"], group.attrs["host"] = storable(case.command).decode(), storable(case.host).decode()
        group.attrs["rid"] = case.rank
        group.attrs["clock"] = "unix" if case.clock else "unknown"
        for name, fact in case.facts.items():
            group.attrs[name] = storable(fact).decode() if isinstance(fact, str) else fact
        self._group, self._length = group, 0
        self._types = {name: np.dtype(np.int64) for name in columns} | {"call": calls, "fp": files}
        self._datasets: dict[str, h5py.Dataset] = {}

    def append(self, piece: LogCase, calls: npt.NDArray[np.bytes_], files: npt.NDArray[np.bytes_]) -> None:
        """Append events; ``calls`` and ``files`` are the texts of their numbers."""
        numbers = {
            "pid": piece.pid, "tid": piece.tid, "rank": piece.ranks, "start": piece.start, "dur": piece.duration,
            "size": piece.size, "depth": piece.depth, **piece.more,
        }  # fmt: skip
        begin, self._length = self._length, self._length + len(piece.start)
        for name in self._types:
            made = self._dataset(name, len(piece.start))
            made.resize((self._length,))
            step = max(1, min(_PIECE, _PIECE_BYTES // self._types[name].itemsize))
            for at in range(0, len(piece.start), step):
                part = slice(at, min(at + step, len(piece.start)))
                if name == "call":
                    values: npt.NDArray[Any] = calls[piece.call[part]]
                elif name == "fp":
                    values = files[piece.file[part]]
                else:
                    values = numbers[name][part].astype(np.int64)
                made[begin + part.start : begin + part.stop] = values

    def define(self, signatures: Sequence[str]) -> None:
        """Add texts of calls with parameters; the column ``signature`` numbers them from 1."""
        if not signatures:
            return
        texts = self._group.require_group("texts")
        if "signature" not in texts:
            kind = h5py.string_dtype("utf-8")
            texts.create_dataset("signature", (0,), kind, maxshape=(None,), chunks=(1024,), compression=1)
        made = texts["signature"]
        begin = len(made)
        made.resize((begin + len(signatures),))
        made[begin:] = [storable(text).decode() for text in signatures]

    def finish(self) -> None:
        """Complete the case: missing columns of a case without events, and units."""
        for name in self._types:
            self._dataset(name, 0)
        for name in _NANOSECONDS:
            self._group[name].attrs["units"] = "ns"

    def _dataset(self, name: str, events: int) -> h5py.Dataset:
        if name not in self._datasets:
            kind = self._types[name]
            self._datasets[name] = self._group.create_dataset(
                name, (0,), kind, maxshape=(None,), chunks=(max(1, min(events, _PIECE)),), compression=1,
                shuffle=kind.kind == "i",
            )  # fmt: skip
        return self._datasets[name]


def text_column(texts: Sequence[str]) -> npt.NDArray[np.bytes_]:
    """Return texts as UTF-8 of fixed width; compression removes the padding."""
    return np.array([storable(text) for text in texts] or [b""], np.bytes_)


def storable(text: str) -> bytes:
    """Return a text as UTF-8. HDF5's texts have no NUL, which is written ``\\0``."""
    return text.replace("\0", "\\0").encode(errors="backslashreplace")
