"""Read Darshan's logs. They have reads and writes traced by DXT, and summaries of calls that were only counted."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path, PurePath
from signal import SIGXCPU, Signals
from typing import IO, Any, Final

import msgspec
import numpy as np

from ....events import Definitions, InputError, Interner, StreamInfo, UnavailableError, make_batch
from ....events.definitions import FileInfo
from ....events.network.wire import MAX_BATCH_EVENTS
from ....events.schema import FileType, file_type_of
from ...node.file_systems import FileSystems
from ...source import Chunk, Closed, Input, Opened, SourceItem
from .counters import Summary, moving_calls, rows_of, summaries
from .dxt import SEGMENTS_AT_ONCE, WIDEST
from .events import CALLS, LAYERS, ROW, SEGMENT, THREADED_SEGMENT, TRACED, Rows, in_order, rows_of_segments

EXPECTED: Final = "a log that a program ended with, of Darshan 3.1 or later"
_MAX_TEXT: Final = 64 << 20
_TIMEOUT_S: Final = 60
_LEAST_CPU_S: Final = 60
_CPU_S_PER_MIB: Final = 30
_MOST_CPU_S: Final = 1800
"""Bounds of the library's CPU time for a log, s: it does not come to the end of some damaged ones."""


def cpu_bound_s(size: int) -> int:
    """Return the CPU time that the library gets for a log of that many bytes, s."""
    return min(_LEAST_CPU_S + _CPU_S_PER_MIB * size // (1 << 20), _MOST_CPU_S)


def _hard_bound_s() -> int:
    """Return the CPU time that a subprocess may take at most, s. The hard limit itself would kill it without a word."""
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    return _MOST_CPU_S if hard == resource.RLIM_INFINITY else max(hard - 1, 1)


def messages(path: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield messages and their raw bytes. After a part in which the library aborts, the next ones are read.

    Raises:
        InputError: the library could not read all of the log; the messages that it could read were yielded.
    """
    problems: list[str] = []
    first: int | None = 0
    bound_s, hard_s = cpu_bound_s(path.stat().st_size), _hard_bound_s()
    cpu_s = min(bound_s, hard_s)
    why = "too much for a log of this size" if bound_s <= hard_s else "the limit of this process (ulimit -Ht)"
    while first is not None:
        first, was_too_slow = yield from _messages_from(path, first, cpu_s, problems)
        if was_too_slow:
            problems.append(f"Darshan's library took over {cpu_s} s of CPU time, {why}")
            cpu_s = max(cpu_s // 2, 1)  # bounds the sum over all parts
    if problems:
        raise InputError(str(path), None, "; ".join(dict.fromkeys(problems)), EXPECTED)


def _messages_from(
    path: Path, first: int, cpu_s: int, problems: list[str]
) -> Generator[tuple[dict[str, Any], bytes], None, tuple[int | None, bool]]:
    """Yield the messages of the parts from ``first`` on, and add to ``problems``. They take at most ``cpu_s``.

    Returns:
        The part after one in which the library aborted, None at the end; and whether its CPU time was over.

    Raises:
        InputError: the library did not finish.
    """
    part: int | None = None
    # -P: do not import modules from the working directory
    module = f"{__package__}.library_subprocess"
    command = [sys.executable, "-P", "-m", module, str(path.absolute()), str(first), str(cpu_s)]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as child,
    ):
        try:
            for message, raw in _read(child.stdout) if child.stdout is not None else ():
                if message["what"] == "part":
                    part = message["number"]
                else:
                    yield message, raw
            status = child.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise InputError(str(path), None, "Darshan's library did not finish", EXPECTED) from None
        finally:
            child.kill()
        was_too_slow = status == -SIGXCPU
        if status and not was_too_slow:
            errors.seek(0)
            problems.append(_reason(status, errors.read(65_536)))
    return part + 1 if status < 0 and part is not None else None, was_too_slow


def _read(pipe: IO[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
    while len(head := pipe.read(4)) == 4:
        size = int.from_bytes(head, "little")
        text = pipe.read(size) if size <= _MAX_TEXT else b""
        if len(text) < size:
            return
        message: dict[str, Any] = json.loads(text)
        wanted = min(message.get("bytes", 0), SEGMENTS_AT_ONCE * WIDEST)
        raw = pipe.read(wanted)
        if len(raw) < wanted:
            return
        yield message, raw


def _reason(status: int, errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
    last_line = next((line for line in reversed(lines) if not line.startswith("[")), "")[:200]
    if status < 0:
        return f"Darshan's library gave it up ({Signals(-status).name}{': ' if last_line else ''}{last_line})"
    return last_line or f"Darshan's library gave it up (exit status {status})"


MAX_BUFFERED_ROWS: Final = 1 << 22
"""Maximum number of rows that are sorted together, some 150 MB."""
MAX_STREAMS: Final = 100_000
MAX_FILES: Final = 1_000_000
MAX_SHARES: Final = 1 << 20
"""Maximum number of rows from records that are divided among the job's ranks."""
_LONGEST_JOB_NS: Final = 10**17
_SYSTEMS: Final = FileSystems()
_STANDARD: Final = ("<STDIN>", "<STDOUT>", "<STDERR>")


def read_darshan(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Yield the events of a log, one stream per rank.

    Raises:
        UnavailableError: PyDarshan is missing.
        InputError: the log cannot be read to its end.
    """
    if find_spec("darshan") is None:
        wanted = "pip install 'iotide[darshan]', with Python 3.11 or 3.12: its package has no library for later ones"
        raise UnavailableError(f"logs of Darshan need its library: {wanted}")
    about.counters["bytes_read"] += path.stat().st_size
    log = _Log(about)
    try:
        for message, raw in messages(path):
            log.take(message, raw)
            if log.buffered >= MAX_BUFFERED_ROWS:
                yield from log.emit_events()
    except InputError:
        log.report_omissions()
        yield from log.emit_events()
        raise
    log.report_omissions()
    yield from log.emit_events()
    if not about.counters["events"]:
        raise InputError(str(path), None, "the log has no reads or writes", f"{EXPECTED}, with DXT or counters of I/O")
    yield log.close()


class _Log:
    """The content of a log that was read so far."""

    def __init__(self, about: Input) -> None:
        self.buffered = 0
        self._about = about
        self._begin_ns = 0
        self._modules: Mapping[str, Any] = {}
        self._info = StreamInfo(job=about.origin.job, source="darshan", origin=about.name)
        self._mounts: list[tuple[str, str]] = []
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._paths: list[str] = []
        self._hosts: dict[int, str] = {}
        self._rows: list[Rows] = []
        self._through_mpi: set[int] = set()
        self._streams: dict[int, _Stream] = {}
        self._segments: dict[str, int] = {}
        self._segmented: set[tuple[str, int]] = set()
        self._counted: dict[str, int] = {}
        self._whole_s = (0.0, 0.0)
        self._shares = MAX_SHARES
        self._signatures: dict[str, int] = {"": 0}
        self._threads: dict[tuple[int, int], int] = {}
        self._counts: dict[int, int] = {}

    def take(self, message: dict[str, Any], raw: bytes) -> None:
        """Process one message of the child."""
        what = message["what"]
        if what == "job":
            self._take_job(message)
        elif what == "mounts":
            self._mounts = sorted(
                ((str(at), str(kind)) for at, kind in message["mounts"]), key=lambda row: -len(row[0])
            )
        elif what == "names":
            self._names.update((number, name) for number, name in message["names"][: MAX_FILES - len(self._names)])
        elif what == "segments":
            self._take_segments(message, raw)
        elif what == "counters":
            self._take_counters(message)

    def report_omissions(self) -> None:
        """Report which data of the log could not be represented."""
        unsupported = self._about.unsupported
        segments = sum(self._segments.values())
        unsupported.add("names of functions: of reads and writes DXT tells only the direction", segments)
        for module, count in self._counted.items():
            if module in self._segments:
                lost = count - self._segments[module]
                unsupported.add(f"reads and writes of {module} that DXT did not trace", lost)
        for module, facts in self._modules.items():
            if facts.get("partial_flag"):
                unsupported.add(f"parts of {module} that Darshan had no memory for: its log says that it is partial")
        others = sorted(set(self._modules) - set(LAYERS) - set(TRACED))
        unsupported.add(f"modules with counts only ({', '.join(others)[:200]})", len(others))

    def emit_events(self) -> Iterator[list[SourceItem]]:
        """Yield the events of the buffered rows, in order for each rank."""
        if not self._rows:
            return
        rows = in_order(np.concatenate(self._rows), self._through_mpi)
        signatures = list(self._signatures)
        self._rows, self.buffered = [], 0
        edges = np.flatnonzero(np.diff(rows["rank"])) + 1
        for mine in np.split(rows, edges):
            items: list[SourceItem] = []
            stream = self._stream(int(mine["rank"][0]), items)
            if stream is None:
                self._about.left_out(len(mine), "ranks", MAX_STREAMS)
                continue
            parts = (mine[begin : begin + MAX_BATCH_EVENTS] for begin in range(0, len(mine), MAX_BATCH_EVENTS))
            items += [stream.chunk(part, self._file, signatures) for part in parts]
            self._about.counters["events"] += len(mine)
            yield items

    def close(self) -> list[SourceItem]:
        """Close all streams."""
        return [Closed(stream.name) for stream in self._streams.values()]

    def _take_job(self, job: dict[str, Any]) -> None:
        self._begin_ns = min(max(job["start_time_sec"], 0), 2**32) * 10**9 + min(max(job["start_time_nsec"], 0), 10**9)
        end_ns = min(max(job["end_time_sec"], 0), 2**32) * 10**9 + min(max(job["end_time_nsec"], 0), 10**9)
        self._whole_s = (0.0, min(max(end_ns - self._begin_ns, 0), _LONGEST_JOB_NS) / 1e9)
        self._modules = job["modules"]
        words = str(job["exe"]).split()
        self._info = msgspec.structs.replace(
            self._info,
            job=str(job["jobid"]) if job["jobid"] else self._info.job,
            user=self._about.origin.user or str(job["uid"]),
            command=PurePath(words[0]).name if words else "",
            ranks=max(int(job["nprocs"]), 0),
        )

    def _take_segments(self, message: dict[str, Any], raw: bytes) -> None:
        module, rank = TRACED[message["module"]], int(message["rank"])
        if not 0 <= rank < 2**31:
            self._about.malformed(None, f"a record of {message['module']} is of rank {rank}", "ranks from 0 on")
            return
        self._hosts.setdefault(rank, message["host"])
        file = self._number(message["file"])
        if module == "MPI-IO":
            self._through_mpi.add(file)
        layout = THREADED_SEGMENT if message["width"] == THREADED_SEGMENT.itemsize else SEGMENT
        segments = np.frombuffer(raw, layout)
        rows, good = rows_of_segments(segments, message["writes"], LAYERS[module], file, rank, self._begin_ns)
        if layout is THREADED_SEGMENT:
            rows["tid"] = self._threads_of(segments["thread"][good], rank)
        if len(rows) < len(segments):
            problem = (
                f"{len(segments) - len(rows)} segments of {message['module']} of rank {rank} have times or lengths"
            )
            self._about.malformed(
                None, f"{problem} that cannot be", "a start, an end not before it, a length from 0 on"
            )
        self._segments[module] = self._segments.get(module, 0) + len(segments)
        if len(segments):
            self._segmented.add((module, file))
        self._buffer(rows)

    def _take_counters(self, message: dict[str, Any]) -> None:
        """Create summaries of counters; reads and writes only for files that DXT did not trace."""
        module, values, file = message["module"], message["values"], self._number(message["file"])
        layer = LAYERS[module]
        if module == "MPI-IO":
            self._through_mpi.add(file)
        traced = (module, file) in self._segmented
        if traced:
            self._counted[module] = self._counted.get(module, 0) + moving_calls(layer, values)
        if any(float(values.get(f"F_{what}_TIME", 0)) < 0 for what in ("READ", "WRITE", "META")):
            self._about.unsupported.add("times of calls that are below 0 in the log")
        ranks = self._ranks_of(int(message["rank"]))
        for each in summaries(layer, values, self._whole_s, moved=not traced):
            rows = rows_of(each, layer, file, ranks, self._begin_ns)
            rows["signature"] = self._signature(each)
            omission = f"times of single calls of {module}, of which the log has only sums for each file"
            self._about.unsupported.add(omission, each.calls)
            self._buffer(rows)

    def _ranks_of(self, rank: int) -> range:
        """Return the ranks of a record. A shared record belongs to all ranks while there is room to divide it."""
        if 0 <= rank < 2**31:
            return range(rank, rank + 1)
        if not 0 < self._info.ranks <= min(self._shares, MAX_STREAMS):
            self._about.unsupported.add("records shared by all ranks that were too many to divide: they have no rank")
            return range(-1, 0)
        self._shares -= self._info.ranks
        omission = "records shared by all ranks: what each rank did is not in the log, and divided evenly"
        self._about.unsupported.add(omission)
        return range(self._info.ranks)

    def _signature(self, summary: Summary) -> int:
        if len(self._signatures) > MAX_FILES:
            return 0
        return self._signatures.setdefault(summary.signature, len(self._signatures))

    def _threads_of(self, threads: Rows, rank: int) -> Rows:
        """Numbers the threads of a rank from 1, in the order of first appearance."""
        distinct, places = np.unique(threads, return_inverse=True)
        if len(self._threads) + len(distinct) > MAX_FILES:
            return np.zeros(len(threads), np.int32)
        for thread in distinct[np.argsort(np.unique(threads, return_index=True)[1])].tolist():
            if (rank, thread) not in self._threads:
                self._counts[rank] = self._threads[rank, thread] = self._counts.get(rank, 0) + 1
        return np.array([self._threads[rank, thread] for thread in distinct.tolist()], np.int32)[places.reshape(-1)]

    def _buffer(self, rows: Rows) -> None:
        self._rows.append(rows)
        self.buffered += len(rows)

    def _number(self, identity: str) -> int:
        number = self._numbers.get(identity)
        if number is None and len(self._paths) < MAX_FILES:
            number = self._numbers[identity] = len(self._paths)
            self._paths.append(self._names.get(identity) or f"file {identity}")
        return len(self._paths) if number is None else number

    def _file(self, number: int) -> tuple[str, FileInfo]:
        path = self._paths[number] if number < len(self._paths) else "further files"
        kind = FileType.PIPE if path in _STANDARD else file_type_of(path)
        mount, system = next((row for row in self._mounts if _under(path, row[0])), ("", ""))
        return path, FileInfo(path[:4096], kind, mount, system, _SYSTEMS.shared(system))

    def _stream(self, rank: int, items: list[SourceItem]) -> _Stream | None:
        stream = self._streams.get(rank)
        if stream is None and len(self._streams) < MAX_STREAMS:
            name = self._about.stream("darshan", f"rank{rank}" if rank >= 0 else "all")
            stream = self._streams[rank] = _Stream(name)
            host = self._hosts.get(rank, "") or self._about.origin.host
            items.append(Opened(name, msgspec.structs.replace(self._info, rank=rank, host=host)))
        return stream


class _Stream:
    """Numbers assigned in the stream of one rank."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._interner = Interner()
        self._signatures: dict[int, int] = {0: 0}

    def chunk(self, rows: Rows, file_of: Any, signatures: Sequence[str]) -> Chunk:
        """Return a batch of rows."""
        columns = {name: rows[name] for name in ROW.names or ()}
        columns["call"] = _mapped(rows["call"], lambda call: self._interner.string(CALLS[call]))
        columns["file"] = _mapped(rows["file"], lambda file: self._interner.file(*file_of(file)))
        columns["signature"] = _mapped(rows["signature"], lambda number: self._signature(number, signatures))
        batch = make_batch(len(rows), columns)
        fresh: Definitions = self._interner.take_fresh()
        return Chunk(self.name, batch, fresh)

    def _signature(self, number: int, signatures: Sequence[str]) -> int:
        if number not in self._signatures:
            self._signatures[number] = self._interner.new_signature(signatures[number])
        return self._signatures[number]


def _mapped(numbers: Rows, to: Callable[[int], int]) -> Rows:
    distinct, places = np.unique(numbers, return_inverse=True)
    return np.array([to(number) for number in distinct.tolist()], np.uint32)[places.reshape(-1)]


def _under(path: str, mount: str) -> bool:
    return path == mount or path.startswith(mount if mount.endswith("/") else mount + "/")
