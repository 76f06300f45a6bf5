"""Read a Darshan log with Darshan's library in a subprocess. The library aborts on corrupt logs.

Run as a module with the log's path, the number of the first part to read, and the CPU time that it may take, s. It
writes messages to standard output: four bytes of length (little-endian), a JSON object, and the number of raw bytes
that its ``bytes`` gives, if any. A message precedes each part, so that the parent can read those after one in which the
library aborts.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Final

import numpy as np

from .dxt import MAX_SEGMENTS, SEGMENTS_AT_ONCE, Record, records_of
from .events import SEGMENT

MAX_MEMORY: Final = 8 << 30
FAILED: Final = 3
_TRACED: Final = ("DXT_MPIIO", "DXT_POSIX")  # MPI-IO comes first, because it made some of the POSIX calls
_KNOWN: Final = {"DXT_MPIIO": 2, "DXT_POSIX": 1}  # module versions that all versions of the library read
_COUNTED: Final = {
    "MPI-IO": "struct darshan_mpiio_file *",
    "POSIX": "struct darshan_posix_file *",
    "STDIO": "struct darshan_stdio_file *",
}
_NAMES_AT_ONCE: Final = 1000


def main() -> None:
    """Write the log's content. On an error, print it on standard error and exit with FAILED."""
    for kind, most in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, int(sys.argv[3])),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the library prints to standard output, too
    from darshan.backend import cffi_backend as library

    log = library.log_open(sys.argv[1])
    if log["handle"] == library.ffi.NULL:
        _fail("it is no log of Darshan")
    problems = [cut] if (cut := _cut_short(library.log_get_modules(log))) else []
    try:
        for number, part in enumerate(_parts(library, library.log_get_modules(log))):
            if number < int(sys.argv[2]):
                continue
            _send_message(out, {"what": "part", "number": number})
            out.flush()
            try:  # after an error, a log that is open gives no further record
                part(library.log_open(sys.argv[1]), out)
            except (ValueError, LookupError, TypeError, MemoryError, RuntimeError) as error:
                problems.append(str(error) or type(error).__name__)
        out.flush()
    except BrokenPipeError:  # the parent has stopped reading
        os._exit(0)
    if problems:
        _fail("; ".join(problems))
    os._exit(0)  # closing a partly read log may also abort


def _cut_short(modules: dict[str, Any]) -> str:
    """Return that the file is shorter than the modules that its header lists; "" if it is not."""
    size, wanted = Path(sys.argv[1]).stat().st_size, sum(facts["len"] for facts in modules.values())
    return f"the log is cut short: it has {size:,} bytes, its modules alone {wanted:,}" if size < wanted else ""


def _parts(library: Any, modules: dict[str, Any]) -> Sequence[Callable[[dict[str, Any], IO[bytes]], None]]:
    """Return one writer per part of the log. A damaged part then does not affect the others."""
    parts = [partial(_write_job, library), partial(_write_names, library)]
    parts += [partial(_write_segments, library, name) for name in _TRACED if name in modules]
    parts += [partial(_write_counters, library, name) for name in _COUNTED if name in modules]
    return parts


def _write_job(library: Any, log: dict[str, Any], out: IO[bytes]) -> None:
    modules = library.log_get_modules(log)
    _send_message(out, {"what": "job", **library.log_get_job(log), "exe": library.log_get_exe(log), "modules": modules})
    _send_message(out, {"what": "mounts", "mounts": library.log_get_mounts(log)})


def _write_names(library: Any, log: dict[str, Any], out: IO[bytes]) -> None:
    names = [[str(number), name] for number, name in library.log_get_name_records(log).items()]
    if not names and library.log_get_modules(log):
        raise ValueError("the names of files are damaged")
    for begin in range(0, len(names), _NAMES_AT_ONCE):
        _send_message(out, {"what": "names", "names": names[begin : begin + _NAMES_AT_ONCE]})


def _write_segments(library: Any, module: str, log: dict[str, Any], out: IO[bytes]) -> None:
    known = library.log_get_modules(log)[module]["ver"] <= _KNOWN[module]
    found = _library_segments(library, log, module) if known else records_of(Path(sys.argv[1]), module)
    for record in found:
        about = {"what": "segments", "module": module, "width": record.width}
        about |= {"file": str(record.file), "rank": record.rank, "host": record.host}
        for writes, segments in pieces_of(record):
            _send_message(out, {**about, "writes": writes, "bytes": len(segments)}, segments)


def pieces_of(record: Record) -> Iterator[tuple[int, bytes]]:
    """Yield a record's segments in pieces of at most ``SEGMENTS_AT_ONCE``, each with its number of writes.

    A small log may have millions of segments, as compression hides equal ones.
    """
    count = len(record.segments) // record.width
    for begin in range(0, max(count, 1), SEGMENTS_AT_ONCE):
        end = min(begin + SEGMENTS_AT_ONCE, count)
        writes = min(max(record.writes - begin, 0), end - begin)
        yield writes, record.segments[begin * record.width : end * record.width]


def _library_segments(library: Any, log: dict[str, Any], module: str) -> Iterator[Record]:
    ffi = library.ffi
    header, width = ffi.sizeof("struct dxt_file_record"), ffi.sizeof("segment_info")
    for place in _records(library, log, module):
        record = ffi.cast("struct dxt_file_record *", place)
        writes, reads = record.write_count, record.read_count
        if not (writes >= 0 and reads >= 0 and writes + reads <= MAX_SEGMENTS):
            raise ValueError(f"a record of {module} has {writes} writes and {reads} reads")
        host = ffi.string(record.hostname, 64).decode(errors="replace")
        raw = bytes(ffi.buffer(ffi.cast("char *", place) + header, (writes + reads) * width))
        if width != SEGMENT.itemsize:  # libraries that know threads leave the thread undefined if the log has none
            raw = np.frombuffer(raw, np.uint8).reshape(-1, width)[:, : SEGMENT.itemsize].tobytes()
        yield Record(record.base_rec.id, record.base_rec.rank, host, writes, SEGMENT.itemsize, raw)


def _write_counters(library: Any, module: str, log: dict[str, Any], out: IO[bytes]) -> None:
    integers, floats = library.counter_names(module), library.fcounter_names(module)
    for place in _records(library, log, module):
        record = library.ffi.cast(_COUNTED[module], place)
        values = dict(zip(integers, library.ffi.unpack(record.counters, len(integers)), strict=True))
        values |= zip(floats, library.ffi.unpack(record.fcounters, len(floats)), strict=True)
        about = {"what": "counters", "module": module, "file": str(record.base_rec.id), "rank": record.base_rec.rank}
        _send_message(out, {**about, "values": {name.split("_", 1)[1]: value for name, value in values.items()}})


def _records(library: Any, log: dict[str, Any], module: str) -> Iterator[Any]:
    """Yield the address of each record; after the last one, the library would start again."""
    number = library.log_get_modules(log)[module]["idx"]
    while True:
        place = library.ffi.new("void **")
        status = library.libdutil.darshan_log_get_record(log["handle"], number, place)
        if status < 0:
            raise ValueError(f"the records of {module} are damaged")
        if status == 0:
            return
        yield place[0]
        library.libdutil.darshan_free(place[0])


def _send_message(out: IO[bytes], message: dict[str, Any], raw: bytes = b"") -> None:
    text = json.dumps(message).encode()
    out.write(len(text).to_bytes(4, "little") + text + raw)


def _fail(problem: str) -> None:
    sys.stderr.write(f"\n{problem}\n")
    sys.stderr.flush()
    os._exit(FAILED)


if __name__ == "__main__":
    main()
