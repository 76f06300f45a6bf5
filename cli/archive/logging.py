"""An archive as an event log in HDF5: a case a stream, some calls at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...analyzers.dfg.sizes import sizes_of
from ...clients.eventlog.log import LogCase
from ...clients.traces.order import calls_in_order
from ...events import COLUMNS, EventBatch, UnavailableError, make_batch
from ...events.archive.archived import ArchivedStream
from ...events.archive.reader import ArchiveReader
from ...events.schema import UNKNOWN_RANK
from ..naming import safe_name, unique_name

_PIECE: Final = 65_536
_NOT_IN_IT: Final = {
    "layer": "layers",
    "kind": "kinds of calls",
    "handle": "handles",
    "parent": "handles of enclosing calls",
    "depth": "depths of enclosed calls",
    "offset": "offsets",
    "requested": "bytes asked for",
    "errno": "errors of failed calls",
    "flags": "flags (blocking, collective ...)",
    "signature": "parameters (signatures)",
}
"""Column that a log has none of -> what it is called."""


def write_log(reader: ArchiveReader, path: Path, lost: Counter[str], show: Callable[[int], None]) -> int:
    """Writes all calls of an archive, each stream's in order of time; returns how many. Memory: half a million calls.

    Args:
        reader: the archive.
        path: the file.
        lost: takes what could not be carried over, and of how many calls.
        show: told how many calls are written.

    Raises:
        UnavailableError: h5py is missing.
        InputError: a section is broken.
        OSError: the file cannot be written.
    """
    try:
        from ...clients.eventlog.hdf5_log import CaseWriter, hdf5_log, text_column
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
            columns, call_type = _scan(reader, number)
            width = max((len(_encoded(file.path)) for file in stream.files.values()), default=1)
            nothing = _piece(name, stream, make_batch(0, {}), [], [])
            case = CaseWriter(out, nothing, columns, call_type, np.dtype(f"S{max(width, 1)}"))
            for batch, table in calls_in_order(reader, number):
                _count_lost(batch, lost)
                for begin in range(0, len(batch), _PIECE):
                    part = batch.select(slice(begin, begin + _PIECE))
                    called, call = np.unique(part.call, return_inverse=True)
                    touched, file = np.unique(part.file, return_inverse=True)
                    paths = [stream.files[each].path if each in stream.files else "" for each in touched.tolist()]
                    names = text_column([table.string(each) for each in called.tolist()])
                    case.append(_piece(name, stream, part, call, file), names, text_column(paths))
                    calls += len(part)
                    show(calls)
            case.finish()
    return calls


def _scan(reader: ArchiveReader, number: int) -> tuple[list[str], np.dtype[Any]]:
    """Returns the columns of numbers that a stream's case has, and how wide the names of its calls are."""
    columns, width = ["pid", "start", "dur", "size"], 1
    threads: set[tuple[int, int, int]] = set()
    for section in reader.sections(number):
        width = max([width, *(len(_encoded(name)) for name in section.names)])
        threads.update(section.threads)
    rank = reader.streams[number].info.rank
    columns += ["tid"] if any(pid != tid for pid, tid, _ in threads) else []
    columns += ["rank"] if any(each not in (rank, UNKNOWN_RANK) for _, _, each in threads) else []
    return columns, np.dtype(f"S{width}")


def _piece(name: str, stream: ArchivedStream, batch: EventBatch, call: Any, file: Any) -> LogCase:
    info = stream.info
    return LogCase(
        name=name,
        command=info.command,
        host=info.host,
        rank=info.rank,
        clock=info.clock_offset_ns is not None,
        pid=batch.pid,
        tid=batch.tid,
        ranks=np.where(batch.rank < 0, info.rank, batch.rank),
        call=np.asarray(call),
        start=batch.start,
        duration=batch.duration,
        file=np.asarray(file),
        size=sizes_of(batch),
        activity=np.zeros(len(batch), np.int32),
    )


def _count_lost(batch: EventBatch, lost: Counter[str]) -> None:
    for name, words in _NOT_IN_IT.items():
        if had := int(np.count_nonzero(getattr(batch, name) != COLUMNS[name][1])):
            lost[words] += had


def _encoded(text: str) -> bytes:
    return text.encode(errors="backslashreplace")
