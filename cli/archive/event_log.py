"""An archive as an HDF5 event log: one case per stream, written in pieces."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...archive.file.reader import ArchivedStream, ArchiveReader
from ...clients.eventlog.log import LogCase
from ...clients.traces.call_order import calls_in_order
from ...events import DefinitionTable, EventBatch, UnavailableError, make_batch
from ...events.summaries import sizes_of
from ..common.job_names import safe_name, unique_name

_PIECE: Final = 65_536
_MORE: Final = (
    "layer", "kind", "handle", "parent", "offset", "requested", "bytes", "errno", "flags", "signature", "file_type",
)  # fmt: skip


def write_log(reader: ArchiveReader, path: Path, lost: Counter[str], show: Callable[[int], None]) -> int:
    """Write all calls of an archive, each stream in order of time; return their number.

    Memory: a quarter of a million calls.

    Args:
        reader: the archive.
        path: the file.
        lost: counter of calls by data that could not be converted.
        show: callback with the number of written calls.

    Raises:
        UnavailableError: h5py is missing.
        InputError: a section is broken.
        OSError: the file cannot be written.
    """
    try:
        from ...clients.eventlog.hdf5_log import CaseWriter, hdf5_log, storable, text_column
    except ImportError as error:
        raise UnavailableError(f"event logs in HDF5 need {error.name}: pip install 'iotide[hdf5]'") from None

    taken: set[str] = set()
    calls = 0
    with hdf5_log(path) as out:
        for number, stream in reader.streams.items():
            info = stream.info
            named = info.command and info.host and info.rank >= 0
            label = f"{info.command}_{info.host}_{info.rank}" if named else stream.name
            name = unique_name(safe_name(label), taken)
            columns, call_type = _scan_signatures(reader, number)
            width = max((len(storable(file.path)) for file in stream.files.values()), default=1)
            nothing = _write_piece(name, stream, make_batch(0, {}), [], [], np.zeros(0, np.int64))
            signatures = _Signatures()
            case = CaseWriter(out, nothing, columns, call_type, np.dtype(f"S{max(width, 1)}"))
            for batch, table in calls_in_order(reader, number):
                for begin in range(0, len(batch), _PIECE):
                    part = batch.select(slice(begin, begin + _PIECE))
                    called, call = np.unique(part.call, return_inverse=True)
                    touched, file = np.unique(part.file, return_inverse=True)
                    paths = [stream.files[each].path if each in stream.files else "" for each in touched.tolist()]
                    names = text_column([table.string(each) for each in called.tolist()])
                    fresh, signature = signatures.of(part, table)
                    case.define(fresh)
                    case.append(_write_piece(name, stream, part, call, file, signature), names, text_column(paths))
                    calls += len(part)
                    show(calls)
                    del part, call, file, signature
                del batch  # before the next batch is read
            case.finish()
    return calls


def _scan_signatures(reader: ArchiveReader, number: int) -> tuple[list[str], np.dtype[Any]]:
    """Return the numeric columns of a stream's case, and the width of its call names."""
    from ...clients.eventlog.hdf5_log import storable

    columns, width = ["pid", "start", "dur", "size", "depth", *_MORE], 1
    threads: set[tuple[int, int, int]] = set()
    for section in reader.sections(number):
        width = max([width, *(len(storable(name)) for name in section.names)])
        threads.update(section.threads)
    rank = reader.streams[number].info.rank
    columns += ["tid"] if any(pid != tid for pid, tid, _ in threads) else []
    columns += ["rank"] if any(each != rank for _, _, each in threads) else []
    return columns, np.dtype(f"S{width}")


class _Signatures:
    """Numbers of a case's signatures, from 1."""

    def __init__(self) -> None:
        self._known = {"": 0}

    def of(self, batch: EventBatch, table: DefinitionTable) -> tuple[list[str], npt.NDArray[np.int64]]:
        """Return the new signatures, and the number of each call's signature."""
        before = len(self._known)
        found, places = np.unique(batch.signature, return_inverse=True)
        numbers = [self._known.setdefault(table.signature(each), len(self._known)) for each in found.tolist()]
        return list(self._known)[before:], np.array(numbers, np.int64)[places.reshape(-1)]


def _write_piece(
    name: str, stream: ArchivedStream, batch: EventBatch, call: Any, file: Any, signature: npt.NDArray[np.int64]
) -> LogCase:
    info = stream.info
    more = {column: getattr(batch, column) for column in _MORE if column not in ("signature", "file_type")}
    types = {number: each.type for number, each in stream.files.items()}
    touched, places = np.unique(batch.file, return_inverse=True)
    kinds = np.array([int(types.get(each, 0)) for each in touched.tolist()], np.int64)
    return LogCase(
        name=name,
        command=info.command,
        host=info.host,
        rank=info.rank,
        clock=info.clock_offset_ns is not None,
        pid=batch.pid,
        tid=batch.tid,
        ranks=batch.rank,
        call=np.asarray(call),
        start=batch.start,
        duration=batch.duration,
        file=np.asarray(file),
        size=sizes_of(batch),
        activity=np.zeros(len(batch), np.int32),
        depth=batch.depth,
        more=more | {"signature": signature, "file_type": kinds[places.reshape(-1)]},
        facts={"job": info.job, "user": info.user, "step": info.step, "process": info.pid},
    )
