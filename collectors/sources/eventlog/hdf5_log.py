"""Event logs in HDF5 as defined by [DFG].

One group per case has the columns pid, call, start, dur, fp and size.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from ....events import InputError, UnavailableError
from ....events.files import system_text
from ...source import Closed, Input, Opened, Problems, SourceItem, UnsupportedData
from .._subprocess_reader import read_in_subprocess
from .buffered_file import DocumentParser
from .cases import LATEST_NS, MORE, NUMBERS, CaseInfo, CaseStreams

_FILE: Final = b"\x89HDF\r\n\x1a\n"
_HEAP: Final = re.compile(rb"GCOL\x01")
_LENGTH_SIZE_AT: Final = {0: 14, 1: 14, 2: 10, 3: 10}
"""Version of the superblock -> offset of the size of lengths."""
_READABLE_SIZES: Final = (2, 4, 8)
_ALIGNMENT: Final = 8

Ints = npt.NDArray[np.int64]
EXPECTED: Final = "an HDF5 file with a group for each case and in it columns call, start and dur (and pid, fp, size)"
_PIECE_BYTES: Final = 1 << 25
_PIECE_ROWS: Final = 65_536
_MAX_ROWS: Final = 10**9
_WIDEST: Final = 1 << 20


def disable_damaged_heaps(document: memoryview) -> int:
    """Overwrite the signatures of heaps whose objects do not fill them exactly; the library then refuses them.

    Args:
        document: the file; changed in place.

    Returns:
        Number of disabled heaps.
    """
    width = _length_size(document)
    if width not in _READABLE_SIZES:
        return 0
    header = _aligned(8 + width)  # of a heap, and also of an object
    starts = np.array([found.start() for found in _HEAP.finditer(document)], np.int64)
    starts = starts[starts + header <= len(document)]
    data = np.frombuffer(document, np.uint8)
    sizes = _lengths(data, starts + 8, width)
    damaged = (sizes < header) | (sizes > len(data) - starts)
    at, end = starts + header, starts + sizes
    active = np.flatnonzero(~damaged)
    while len(active := active[at[active] + header <= end[active]]):  # one object of every heap at a time
        here = at[active]
        left, length = end[active] - here, _lengths(data, here + 8, width)
        is_free = (data[here] == 0) & (data[here + 1] == 0)
        taken = np.where(is_free, length, header + _aligned(np.minimum(length, left)))
        wrong = (length > left) | (taken > left) | (taken == 0)
        damaged[active[wrong]] = True
        active = active[~wrong]
        at[active] += taken[~wrong]
    data[starts[damaged]] = 0
    return int(np.count_nonzero(damaged))


def _length_size(document: memoryview) -> int:
    """Return the size of lengths in the file, bytes; 0 if it is no HDF5 file."""
    at = 0
    while at + 16 <= len(document):  # the superblock is at the beginning, at 512 or at twice the last place
        if document[at : at + len(_FILE)].tobytes() == _FILE:
            return int(document[at + _LENGTH_SIZE_AT.get(document[at + len(_FILE)], 14)])
        at = 2 * at or 512
    return 0


def _lengths(data: npt.NDArray[np.uint8], at: Ints, width: int) -> Ints:
    """Return the little-endian numbers at positions; those beyond int64 become its largest number."""
    numbers = data[at[:, None] + np.arange(width)].view(f"<u{width}").ravel()
    bounded: Ints = np.minimum(numbers, np.uint64(2**63 - 1)).astype(np.int64)
    return bounded


def _aligned(size: Any) -> Any:
    return (size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT


def parse_hdf5(about: Input) -> DocumentParser:
    """Return the parser; each group becomes a stream. Times are ns if an attribute ``units`` says so, otherwise s.

    The HDF5 library may crash on a damaged document or never return. So it runs in a subprocess.

    Raises:
        UnavailableError: h5py is missing.
    """
    if importlib.util.find_spec("h5py") is None:
        raise UnavailableError("event logs in HDF5 need h5py: pip install 'iotide[hdf5]'")
    return DocumentParser(about, "hdf5", _read_in_subprocess, EXPECTED)


def parse_hdf5_here(about: Input) -> DocumentParser:
    """Return the parser that reads in this process."""
    return DocumentParser(about, "hdf5", _read, EXPECTED)


def read_hdf5_input(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Read standard input in this process. Memory: the document, and 65,536 rows."""
    parser = parse_hdf5_here(about)
    parser.feed(sys.stdin.buffer.read())
    return parser.pieces()


def _read_in_subprocess(document: BytesIO, about: Input, streams: CaseStreams) -> Iterator[list[SourceItem]]:
    # The subprocess reports the counts of this document, and ``about`` has those of earlier ones, too.
    own = replace(about, problems=Problems(about.problems.kept), counters=Counter(), unsupported=UnsupportedData())
    still_open: dict[str, None] = {}
    with TemporaryFile() as file:  # without a name: a process that is killed leaves nothing
        file.write(document.getbuffer())
        file.seek(0)
        try:
            for items in read_in_subprocess(
                __name__, read_hdf5_input.__name__, Path(system_text(about.name)), own, EXPECTED, file
            ):
                for item in items:
                    if isinstance(item, Opened):
                        still_open[item.stream] = None
                    elif isinstance(item, Closed):
                        still_open.pop(item.stream, None)
                yield items
        except InputError as error:
            own.malformed(None, error.problem, EXPECTED)
            yield [Closed(stream) for stream in still_open]
    about.counters.update(own.counters)
    about.unsupported.merge(own.unsupported)
    about.problems.first.extend(own.problems.first[: about.problems.kept - len(about.problems.first)])
    about.problems.total += own.problems.total


def _read(document: BytesIO, about: Input, streams: CaseStreams) -> Iterator[list[SourceItem]]:
    import h5py

    if heaps := disable_damaged_heaps(document.getbuffer()):
        about.malformed(None, f"{heaps} global heaps of the file, which have texts, are damaged", EXPECTED)
    first = 1
    with h5py.File(document, "r") as log:
        for name in log:
            group = log.get(name)
            columns = _columns(group)
            if columns is None:
                about.malformed(None, f"{name[:100]!r} is no case", EXPECTED)
                continue
            try:
                for items, rows in _case(group, name, columns, streams, first):
                    first += rows
                    yield items
            except (OSError, ValueError, RuntimeError, TypeError, OverflowError) as error:
                text = " ".join(str(error).split())[:200]
                about.malformed(None, f"case {name[:100]!r} cannot be read ({text})", EXPECTED)


def _columns(group: Any) -> dict[str, Any] | None:
    """Return the columns of a group, or None if it has none. Each is a dataset or a field of its only table."""
    import h5py

    if not isinstance(group, h5py.Group):
        return None
    datasets = {name: item for name in group if isinstance(item := group.get(name), h5py.Dataset)}
    if len(datasets) == 1 and (table := next(iter(datasets.values()))).dtype.names:
        datasets = {name: table.fields(name) for name in table.dtype.names}
        lengths = {len(table)} if table.ndim == 1 else set()
    else:
        lengths = {len(item) if item.ndim == 1 else -1 for item in datasets.values()}
    usable = {"call", "start", "dur"} <= datasets.keys() and len(lengths) == 1 and 0 <= next(iter(lengths)) <= _MAX_ROWS
    return datasets if usable else None


def _case(
    group: Any, name: str, columns: dict[str, Any], streams: CaseStreams, first: int
) -> Iterator[tuple[list[SourceItem], int]]:
    info = _info(group, name)
    signatures = _signatures(group) if "signature" in columns else []
    length = len(columns["start"])
    width = sum(min(max(column.dtype.itemsize, 1), _WIDEST) for column in columns.values() if hasattr(column, "dtype"))
    step = max(1, min(_PIECE_ROWS, _PIECE_BYTES // max(width, 1)))
    for begin in range(0, max(length, 1), step):
        rows = slice(begin, min(begin + step, length))
        numbers = {
            key: _times(columns[key], rows) if key in ("start", "dur") else np.asarray(columns[key][rows], np.int64)
            for key in (*NUMBERS, *MORE)
            if key in columns
        }
        calls = _texts(columns["call"][rows])
        files = _texts(columns["fp"][rows]) if "fp" in columns else [""] * len(calls)
        places = np.arange(first + begin, first + begin + len(calls))
        yield streams.take(info, numbers, calls, files, places, signatures), len(calls)


def _signatures(group: Any) -> list[str]:
    import h5py

    texts = group.get("texts")
    made = texts.get("signature") if isinstance(texts, h5py.Group) else None
    if not isinstance(made, h5py.Dataset) or made.ndim != 1 or len(made) > _MAX_ROWS:
        return []
    return _texts(made[:])


def _info(group: Any, name: str) -> CaseInfo:
    guessed = CaseInfo.of_name(name)
    attributes = group.attrs
    rank = attributes.get("rid", guessed.rank)
    pid = attributes.get("process", 0)
    return CaseInfo(
        name,
        _text(attributes.get("cid", guessed.command)),
        _text(attributes.get("host", guessed.host)),
        int(rank) if isinstance(rank, int | np.integer) and -1 <= rank < 2**31 else -1,
        _text(attributes.get("clock", "unix")) == "unix",
        _text(attributes.get("job", "")),
        _text(attributes.get("user", "")),
        _text(attributes.get("step", "")),
        int(pid) if isinstance(pid, int | np.integer) and 0 <= pid < 2**31 else 0,
    )


def _times(column: Any, rows: slice) -> npt.NDArray[np.int64]:
    values = np.asarray(column[rows])
    attributes = getattr(column, "attrs", {})
    if _text(attributes.get("units", "")) == "ns" or values.dtype.kind in "iu":
        return values.astype(np.int64)
    if values.dtype.kind != "f":
        raise ValueError(f"times of type {values.dtype}")
    wrong = ~((values >= 0) & (values < LATEST_NS / 1e9))
    return np.where(wrong, -1, np.rint(np.where(wrong, 0, values) * 1e9)).astype(np.int64)


def _texts(values: Any) -> list[str]:
    return [_text(value) for value in np.asarray(values).tolist()]


def _text(value: Any) -> str:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
