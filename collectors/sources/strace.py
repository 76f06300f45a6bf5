"""Output of ``strace -f -tt -T -y``, one file a traced command, and of its other ways to stamp lines."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Sequence
from pathlib import PurePath

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Interner, Kind, StreamInfo, make_batch
from ..lines import Block, LineBuffer
from ..numbering import Numbering
from ..parser import Input
from ..source import Chunk, Closed, Opened, SourceItem
from ._strace_calls import CallTable, Numbers, PathIn
from ._strace_halves import EXPECTED, CallAssembler, Rows, Times, reason_to_ignore, rest_of_call
from ._strace_line import (
    LINES,
    Line,
    absolute,
    first_annotation,
    last_annotation,
    path_argument,
    path_text,
    returned_path,
)
from ._strace_time import StampReader, parse_stamps

MAX_LINE_BYTES = 1 << 20
_PIECE_BYTES = 1 << 18  # what a piece's lines are taken apart into then fits the cache: 10 % faster than 1 MiB


class StraceParser:
    """Parses one file into one stream; calls that are no I/O are left out.

    Every line is an event, left out by rule (``lines_ignored:...``) or a problem (``lines_malformed``), and counted
    as one of them. The first half of a call counts as ignored (``unfinished``), its second half as the event.
    """

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer(MAX_LINE_BYTES)
        self._assembler = CallAssembler(about)
        self._stamps: StampReader | None = None
        self._stream = ""
        self._last_row: tuple[bytes, ...] = ()
        self._command, self._host, self._rank = name_parts(about.name)
        self._interner = Interner()
        self._calls = CallTable(self._interner)
        self._codes = Numbering[bytes](self._calls.add)
        self._files = Numbering[bytes](lambda path: self._interner.file(path_text(path)))
        self._arguments = Numbering[tuple[bytes, bytes | None]](lambda path: self._interner.file(absolute(*path)))
        self._pids = Numbering[bytes](lambda pid: int(pid or b"0"))

    def feed(self, data: bytes) -> list[SourceItem]:
        """Takes the next bytes, split anywhere, and returns the calls whose lines are complete."""
        items: list[SourceItem] = []
        for begin in range(0, len(data), _PIECE_BYTES):
            items += self._parse(self._lines.feed(data[begin : begin + _PIECE_BYTES]))
        return items

    def finish(self) -> list[SourceItem]:
        """Parses a last line without its end and closes the stream."""
        items = self._parse(self._lines.finish())
        self._assembler.finish()
        if self._stream:
            items.append(Closed(self._stream))
            self._stream = ""
        return items

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_cut():
            self.counters["lines"] += 1
            self._about.malformed(line, "the line is too long", f"a call in at most {MAX_LINE_BYTES} bytes")
        rows: Rows = LINES.findall(block.data)
        self.counters["lines"] += len(rows)
        numbers: Sequence[int] = range(block.first_line, block.first_line + len(rows))
        last = rows[-1:]
        stamps = [row[1] for row in rows]
        if b"" in stamps:
            numbers, rows = self._stamped(numbers, rows)
            stamps = [row[1] for row in rows]
        self._last_row = last[0] if last else self._last_row
        if not rows:
            return []
        items: list[SourceItem] = []
        if self._stamps is None:
            self._stamps = StampReader(rows[0][1], self._about.modified_ns)
            items.append(self._open(self._stamps))
        starts = self._stamps.read(stamps)
        rows, starts = self._assembler.completed(numbers, rows, starts)
        if rows and len(batch := self._batch(rows, starts)):
            self.counters["events"] += len(batch)
            items.append(Chunk(self._stream, batch, self._interner.take_fresh()))
        return items

    def _open(self, stamps: StampReader) -> Opened:
        self._stream = self._about.stream("strace")
        info = StreamInfo(
            job=self._about.origin.job,
            source="strace",
            host=self._host or self._about.origin.host,
            user=self._about.origin.user,
            command=self._command,
            rank=self._rank,
            origin=self._about.name,
            clock_offset_ns=stamps.clock_offset_ns,
        )
        return Opened(self._stream, info)

    def _stamped(self, numbers: Sequence[int], rows: Rows) -> tuple[list[int], Rows]:
        kept_numbers, kept_rows = [], []
        for number, row, before in zip(numbers, rows, [self._last_row, *rows], strict=False):
            line = Line(*row)
            if not line.stamp and before and (rest := rest_of_call(line, Line(*before))):
                kept_numbers.append(number)
                kept_rows.append(tuple(rest))
            elif line.stamp:
                kept_numbers.append(number)
                kept_rows.append(row)
            elif not line.unstamped.strip():
                self.counters["lines_ignored:blank"] += 1
            elif reason := reason_to_ignore(line.unstamped):
                self.counters[f"lines_ignored:{reason}"] += 1
            else:
                self._about.malformed(number, "the line has no time stamp", EXPECTED)
        return kept_numbers, kept_rows

    def _batch(self, rows: Rows, starts: Times) -> EventBatch:
        pids, _, calls, annotations, arguments, results, returned, errors, durations, tails, _, _ = zip(
            *rows, strict=True
        )
        codes = self._codes.of(calls)
        files = self._files_of(codes, annotations, arguments, returned, tails)
        keep = self._calls.is_io[codes] | (files > 0)
        if not keep.all():
            self.counters["lines_ignored:not_io"] += len(keep) - int(np.count_nonzero(keep))
        result = _whole_numbers(results)
        failed = result < 0
        kind = self._calls.kind[codes]
        pid = self._pids.of(pids)
        requested, offset = self._last_numbers(codes, arguments)
        offset = np.where((kind == Kind.SEEK) & ~failed, result, offset)
        moved = ((kind == Kind.READ) | (kind == Kind.WRITE)) & ~failed
        columns: dict[str, npt.NDArray[np.generic]] = {
            "start": starts,
            "duration": parse_stamps([duration or b"0.000000" for duration in durations]),
            "layer": self._calls.layer[codes],
            "kind": kind,
            "pid": pid,
            "tid": pid,
            "file": files,
            "offset": offset,
            "requested": requested,
            "bytes": np.where(moved, result, 0),
        }
        if failed.any():
            columns["errno"] = _errors(failed, errors)
            columns["flags"] = np.where(failed, int(Flag.FAILED), 0)
        kept = {name: column[keep] for name, column in columns.items()}
        kept["call"] = self._calls.strings(codes[keep])
        return make_batch(int(np.count_nonzero(keep)), {**kept, "rank": self._rank})

    def _files_of(
        self,
        codes: npt.NDArray[np.uint32],
        annotations: Sequence[bytes],
        arguments: Sequence[bytes],
        returned: Sequence[bytes],
        tails: Sequence[bytes],
    ) -> npt.NDArray[np.uint32]:
        ways = self._calls.path_in[codes]
        files = self._files.of(annotations)
        descriptor = ways == int(PathIn.DESCRIPTOR)
        for at in np.flatnonzero(descriptor & (files == 0)).tolist():  # sockets and devices have more in their brackets
            files[at] = self._interner.file(first_annotation(arguments[at]))
        last = ways == int(PathIn.LAST_DESCRIPTOR)
        for at in np.flatnonzero(last).tolist():
            files[at] = self._interner.file(last_annotation(arguments[at]) or path_text(annotations[at]))
        given = []
        opened = np.flatnonzero(ways == int(PathIn.RESULT)).tolist()
        files[opened] = self._files.of([returned[at] for at in opened])
        for at in opened:
            if not returned[at]:
                path = returned_path(tails[at]) if tails[at] else ""
                if path:
                    files[at] = self._interner.file(path)
                else:
                    given.append(at)
        given += np.flatnonzero(ways == int(PathIn.ARGUMENT)).tolist()
        paths = [path_argument(annotations[at], arguments[at]) for at in given]
        files[given] = self._arguments.of(paths)
        return files

    def _last_numbers(self, codes: npt.NDArray[np.uint32], arguments: Sequence[bytes]) -> tuple[Times, Times]:
        """Returns the bytes asked for and the offset given, 0 and -1 where the call has none."""
        requested, offset = np.zeros(len(codes), np.int64), np.full(len(codes), -1, np.int64)
        ways = self._calls.numbers[codes]
        for way, columns in _COLUMNS_OF.items():
            rows = np.flatnonzero(ways == int(way))
            texts = [arguments[at] for at in rows.tolist()]
            for name in reversed(columns):
                parts = [text.rpartition(b", ") for text in texts]
                (requested if name == "requested" else offset)[rows] = _numbers([part[2] for part in parts])
                texts = [part[0] for part in parts]
        return requested, offset


_NUMBER_OF = {name.encode(): getattr(errno, name) for name in dir(errno) if name.startswith("E")}
_COLUMNS_OF = {
    Numbers.COUNT: ("requested",),
    Numbers.OFFSET: ("offset",),
    Numbers.COUNT_AND_OFFSET: ("requested", "offset"),
}


def _numbers(texts: list[bytes]) -> Times:
    """Returns the number that each text is, -1 where it is none of sane size."""
    try:
        return np.fromiter(map(int, texts), np.int64, len(texts))
    except (ValueError, OverflowError):
        return np.array([int(text) if text.isdigit() and len(text) < 19 else -1 for text in texts], np.int64)


def name_parts(name: str) -> tuple[str, str, int]:
    """Takes command, host and rank from a name ``command_host_rank.st``; "", "" and -1 where it has another form."""
    file = PurePath(name)
    parts = file.stem.rsplit("_", 2)
    if file.suffix != ".st" or len(parts) != 3:
        return "", "", -1
    rank = parts[2]
    return parts[0], parts[1], int(rank) if rank.isascii() and rank.isdigit() and len(rank) < 10 else -1


def _whole_numbers(results: Sequence[bytes]) -> Times:
    if max(map(len, results)) < 19:
        with contextlib.suppress(ValueError):
            return np.fromiter(map(int, results), np.int64, len(results))
    # addresses, from mmap and the like, and registers, from rt_sigreturn, count nothing
    return np.array([0 if text.startswith(b"0x") or len(text) > 18 else int(text) for text in results], np.int64)


def _errors(failed: npt.NDArray[np.bool_], errors: Sequence[bytes]) -> npt.NDArray[np.uint16]:
    numbers = np.zeros(len(errors), np.uint16)
    rows = np.flatnonzero(failed).tolist()
    numbers[rows] = [_NUMBER_OF.get(errors[at].partition(b" ")[0], 0) for at in rows]
    return numbers
