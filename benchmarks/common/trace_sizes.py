"""Size of the same calls in other formats: computed from the format, or as written by its tool."""

from __future__ import annotations

import gzip
import re
import shutil
import struct
import subprocess
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from iotide.archive.codec.grammar import Grammar, Rules
from iotide.archive.file.reader import ArchiveReader
from iotide.benchmarks.common.tracers import LIMIT_S, bare_environment, peers
from iotide.clients.traces.json_lines import json_lines
from iotide.events import DefinitionTable, EventBatch, Kind, Layer, concatenate

TICK_NS: Final = 100
"""Resolution of Recorder's times since 2.5, ns; ours is 1 ns."""
_SEGMENT: Final = np.dtype([("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")])
_FILE: Final = struct.Struct("<Qqq64sqq")
"""Record id, rank, whether shared, host, counts of writes and reads."""
_NUMBER: Final = re.compile(rb"\d+")


class Size(NamedTuple):
    """Size of a trace.

    Attributes:
        total: bytes.
        times: of them, those for the times of calls; 0 if they cannot be separated.
        calls: number of calls in it.
    """

    total: int
    times: int
    calls: int

    @property
    def per_call(self) -> float:
        return self.total / self.calls


def streams_of(reader: ArchiveReader) -> Iterator[tuple[EventBatch, DefinitionTable]]:
    """Yield the calls of each non-empty stream, with their names."""
    for number in reader.streams:
        table, batches = DefinitionTable(), []
        for part in reader.calls(number):
            table.apply(part.definitions)
            batches.append(part.batch)
        if batches:
            yield concatenate(batches), table


def as_json_lines(reader: ArchiveReader) -> Size:
    """Return the size of the output of ``iotide archive dump`` through gzip."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    total = calls = 0
    for number in reader.streams:
        for lines in json_lines(reader, number):
            total += len(packer.compress("".join(lines).encode(errors="backslashreplace")))
            calls += len(lines)
    return Size(total + len(packer.flush()), 0, calls)


def as_recorder(reader: ArchiveReader, tick_ns: int = TICK_NS) -> Size:
    """Compute the size of Recorder's files, from [Recorder] and the structures in Recorder's published source.

    A table of signatures (16 bytes and the key: thread, function, depth, parameters as text; the offset as (a, b) where
    it continues as i * a + b), a grammar per process (Sequitur with run lengths, two int32 per symbol, two per rule),
    both stored once over the ranks; two uint32 per call for start and end since the previous start, in ticks, deflated.
    Patterns over ranks are counted as free: signatures that differ between ranks only in numbers count once.
    """
    tables: dict[bytes, int] = {}
    grammars: set[bytes] = set()
    times = calls = index = 0
    for batch, names in streams_of(reader):
        of_stream: Counter[bytes] = Counter()
        numbers: dict[bytes, int] = {}
        terminals = np.empty(len(batch), np.int32)
        for at, key in enumerate(_keys(batch, names)):
            terminals[at] = numbers.setdefault(key, len(numbers))
        for key in numbers:
            of_stream[_NUMBER.sub(b"#", key)] += 16 + len(key)
        for key, size in of_stream.items():
            tables[key] = max(tables.get(key, 0), size)
        grammar = Grammar()
        grammar.feed(terminals)
        grammars.add(_words(grammar.finish()))
        times += len(zlib.compress(_ticks(batch, tick_ns).tobytes()))
        index += 4
        calls += len(batch)
    return Size(sum(tables.values()) + sum(map(len, grammars)) + index + times, times, calls)


def as_dxt(reader: ArchiveReader) -> Size:
    """Compute the size in Darshan's DXT: reads and writes of POSIX and MPI-IO, 32 bytes each, and no other calls.

    A record of 104 bytes per file and rank, then its segments; all deflated. The structures are those of the log reader
    in Darshan's Python package; see ``dxt_of_a_log``.
    """
    out, calls = [], 0
    for batch, _ in streams_of(reader):
        first_ns = int(batch.start.min())
        for layer in (Layer.POSIX, Layer.MPIIO):
            kept = np.flatnonzero((batch.layer == layer) & np.isin(batch.kind, (Kind.READ, Kind.WRITE)))
            for file in np.unique(batch.file[kept]).tolist():
                of_file = kept[batch.file[kept] == file]
                rows = np.zeros(len(of_file), _SEGMENT)
                rows["offset"], rows["length"] = batch.offset[of_file], batch.bytes[of_file]
                rows["start"] = (batch.start[of_file] - first_ns) * 1e-9
                rows["end"] = rows["start"] + batch.duration[of_file] * 1e-9
                writes = batch.kind[of_file] == Kind.WRITE
                out.append(_record(file, rows[writes], rows[~writes]))
                calls += len(rows)
    return Size(len(zlib.compress(b"".join(out))), 0, calls)


def dxt_of_a_log() -> tuple[float, float] | None:
    """Return bytes per segment of a real log with DXT, as computed here and as in the log; None without the package."""
    try:
        import darshan
    except ImportError:
        return None
    path = Path(darshan.__file__).parent / "examples" / "example_logs" / "dxt.darshan"
    log = darshan.DarshanReport(str(path), read_all=False)
    log.mod_read_all_dxt_records("DXT_POSIX", dtype="numpy")
    out, segments = [], 0
    for record in log.records["DXT_POSIX"]:
        parts = [_segments(record[name]) for name in ("write_segments", "read_segments")]
        out.append(_record(record["id"], *parts))
        segments += sum(map(len, parts))
    return len(zlib.compress(b"".join(out))) / segments, log.modules["DXT_POSIX"]["len"] / segments


def as_dftracer(command: Sequence[str | Path], folder: Path) -> Size | None:
    """Run a command under dftracer; return the size of its trace with its calls, or None if it is not installed."""
    tracer = next((each for each in peers(folder / "traced") if each.name == "dftracer"), None)
    if tracer is None or tracer.output is None:
        return None
    shutil.rmtree(tracer.output, ignore_errors=True)
    tracer.output.mkdir(parents=True)
    environment = {**bare_environment(), **tracer.environment}
    subprocess.run(
        command, check=True, env=environment, cwd=folder, timeout=LIMIT_S, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    calls = 0
    for path in tracer.output.rglob("*.pfw*"):
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as lines:
            calls += sum(b'"dur"' in line for line in lines)
    return Size(tracer.written(), 0, calls) if calls else None


def _keys(batch: EventBatch, names: DefinitionTable) -> Iterator[bytes]:
    threads: dict[int, int] = {}
    last: dict[tuple[int, int, int, int], tuple[int, int]] = {}
    columns = (batch.tid, batch.call, batch.depth, batch.signature, batch.offset)
    for tid, call, depth, signature, offset in zip(*(each.tolist() for each in columns), strict=True):
        thread = threads.setdefault(tid, len(threads))
        like = thread, call, depth, signature
        before, step = last.get(like, (0, 0))
        follows = like in last and offset - before == step
        last[like] = offset, offset - before
        place = b"(%d)" % step if follows else b"%d" % offset
        yield b"%d %d %d %s %s" % (thread, call, depth, names.signature(signature).encode(), place)


def _words(rules: Rules) -> bytes:
    symbols = np.stack([rules.values, rules.counts.astype(np.int32)])
    return (
        struct.pack("<i", len(rules.lengths))
        + bytes(4 * len(rules.lengths))
        + rules.lengths.tobytes()
        + symbols.tobytes()
    )


def _ticks(batch: EventBatch, tick_ns: int) -> npt.NDArray[np.uint32]:
    start, end = batch.start // tick_ns, (batch.start + batch.duration) // tick_ns
    before = np.concatenate([start[:1], start[:-1]])
    return np.stack([start - before, end - before], axis=1).astype(np.uint32)


def _record(file: int, writes: npt.NDArray[np.void], reads: npt.NDArray[np.void]) -> bytes:
    return _FILE.pack(file, 0, 0, b"node", len(writes), len(reads)) + writes.tobytes() + reads.tobytes()


def _segments(found: list[dict[str, float]]) -> npt.NDArray[np.void]:
    return np.array(
        [(each["offset"], each["length"], each["start_time"], each["end_time"]) for each in found], _SEGMENT
    )
