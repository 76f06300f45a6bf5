"""Parse the output of ``strace -f -ttt -T -y`` and of its other stamp formats."""

from __future__ import annotations

import errno
import os.path
import re
from functools import lru_cache
from pathlib import PurePath
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, Flag, Interner, Kind, StreamInfo, make_batch
from ...files.lines import MAX_LINE_BYTES, Block, LineBuffer
from ...source import Chunk, Closed, Input, Opened, SourceItem
from .arguments import Arguments, CallTable, arguments_of
from .line import LineKind, Lines, StampReader, Times, scan
from .texts import Extents, Texts
from .unfinished_calls import CallAssembler, SecondHalfFinder

_ESCAPE = re.compile(rb"\\(?:x([0-9a-f]{2})|([0-7]{1,3})|(.))")
_CHARACTERS = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}
_PIECE_BYTES = 1 << 20
_BY_RINGS = "calls that hand reads and writes to the kernel (io_uring_enter, io_submit), which the trace does not have"
_TRANSFERRED = "reads by calls that move data between files (copy_file_range, sendfile ...), which count as writes"
_NAMELESS = (
    "paths of reads and writes, which the trace does not have (record with strace -y): those of pipes, devices and "
    "system files count, too"
)
_CUT_RESULT = re.compile(rb"= -?[0-9][^<]*\n\Z")
"""End of a last line that lacks its duration. Its result may lack digits: 88 of 8893 bytes."""
_LOADED_BY_LINKER: Final = b"MAP_DENYWRITE"
"""Flag that has no effect. The dynamic linker sets it for code, whose pages are no data of the program."""
_KNOWN_MODE: Final = 1 << 30
"""Added to the flags of a mapping, so that they are not 0."""
_MOVES = (int(Kind.READ), int(Kind.WRITE))
_NUMBER_OF = {name.encode(): getattr(errno, name) for name in dir(errno) if name.startswith("E")}
MAX_THREADS: Final = 1 << 18
"""Maximum number of threads whose process is stored. Each further thread counts as its own process."""
MAX_PID: Final = 2**22
"""Maximum pid of Linux."""
_THREAD: Final = b"CLONE_THREAD"


def _path_text(annotation: bytes) -> str:
    """Convert an annotation to a path: removes escapes, device numbers and ``(deleted)``."""
    if annotation.endswith(b">"):
        annotation = annotation[: annotation.rfind(b"<")]
    return _unescape(annotation).removesuffix(" (deleted)")


_folder_text = lru_cache(4096)(_path_text)


def _absolute(folder: bytes, name: bytes) -> str:
    """Return the path of an annotation and a name in that folder, or of one of the two. It is absolute if possible."""
    if not name:
        return _path_text(folder)
    text = _unescape(name)
    if text[0] == "/" or not folder:
        return text
    whole = f"{_folder_text(folder)}/{text}"
    return os.path.normpath(whole) if "/." in whole or "//" in whole or whole[-1] == "/" else whole


def _flags_of_mode(mode: bytes, _: bytes) -> int:
    """Return what the protection and the flags of a mapping allow, with ``_KNOWN_MODE``."""
    protection, flags = (set(text.split(b"|")) for text in mode.split(b", "))
    allowed = _KNOWN_MODE
    if b"PROT_WRITE" in protection and flags & {b"MAP_SHARED", b"MAP_SHARED_VALIDATE"}:
        allowed |= Flag.STORES
    if b"PROT_READ" in protection and _LOADED_BY_LINKER not in flags:
        allowed |= Flag.LOADS
    return allowed


def _unescape(text: bytes) -> str:
    if b"\\" in text:
        text = _ESCAPE.sub(_character, text)
    return text.decode(errors="backslashreplace")


def _character(escape: re.Match[bytes]) -> bytes:
    if escape[1]:
        return bytes([int(escape[1], 16)])
    if escape[2]:
        return bytes([int(escape[2], 8) & 0xFF])
    return _CHARACTERS.get(escape[3], escape[3])


class StraceParser:
    """Parses one file into one stream; calls that are not I/O are left out.

    Every line is counted as exactly one of: an event, ignored by rule (``lines_ignored:...``), or a problem
    (``lines_malformed``). The first half of a call counts as ignored (``unfinished``), its second half as the event.
    """

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._lines = LineBuffer()
        self._second_halves, self._assembler = SecondHalfFinder(about), CallAssembler(about)
        self._stamps: StampReader | None = None
        self._stream = ""
        self._last_start = 0
        self._has_durations = False
        self._command, self._host, self._rank = name_parts(about.name)
        self._interner = Interner()
        self._calls = CallTable(self._interner)
        self._process_tree = ProcessTree()
        self._codes = Texts(lambda name, _: self._calls.add(name))
        self._files = Texts(lambda folder, name: self._interner.file(_absolute(folder, name)))
        self._modes = Texts(_flags_of_mode)
        self._errors = Texts(lambda name, _: _NUMBER_OF.get(name, 0))

    def feed(self, data: bytes) -> list[SourceItem]:
        """Parse the next bytes, split anywhere, and return the calls of complete lines."""
        items: list[SourceItem] = []
        for begin in range(0, len(data), _PIECE_BYTES):
            items += self._parse(self._lines.feed(data[begin : begin + _PIECE_BYTES]))
        return items

    def finish(self) -> list[SourceItem]:
        """Parse an unterminated last line and close the stream."""
        rest = self._lines.finish()
        if self._has_durations and _CUT_RESULT.search(rest.data):
            self.counters["lines"] += 1
            self._about.malformed(rest.first_line, "the file ends within this line", "a line that ends in <0.000012>")
            rest = Block(b"", rest.first_line, 0)
        items = self._parse(rest)
        self._assembler.finish()
        if self._stream:
            items.append(Closed(self._stream))
            self._stream = ""
        return items

    def _parse(self, block: Block) -> list[SourceItem]:
        for line in self._lines.take_discarded_lines():
            self.counters["lines"] += 1
            self._about.malformed(line, "the line is too long", f"a call in at most {MAX_LINE_BYTES} bytes")
        if not block.data:
            return []
        lines = scan(block.data)
        self.counters["lines"] += len(lines)
        has_stamp = lines["what"] != LineKind.UNSTAMPED
        self._second_halves.find(block.data, block.first_line, lines)
        items: list[SourceItem] = []
        if self._stamps is None:
            if not has_stamp.any():
                return items
            begin, end = lines[has_stamp]["stamp_text"][0].tolist()
            self._stamps = StampReader(block.data[begin:end], self._about.modified_ns)
            items.append(self._open(self._stamps))
        starts = self._starts(self._stamps, lines, has_stamp)
        data, calls, starts = self._assembler.completed(block.data, block.first_line, lines, starts)
        if len(calls) and len(batch := self._batch(data, calls, starts)):
            self.counters["events"] += len(batch)
            items.append(Chunk(self._stream, batch, self._interner.take_fresh()))
        return items

    def _starts(self, stamps: StampReader, lines: Lines, has_stamp: npt.NDArray[np.bool_]) -> Times:
        """Return the time of each line, ns. A line without a stamp has that of the previous line."""
        if has_stamp.all():
            starts = stamps.read(lines["stamp"])
        else:
            read = np.append(self._last_start, stamps.read(lines["stamp"][has_stamp]))
            starts = read[np.cumsum(has_stamp)]
        self._last_start = int(starts[-1])
        return starts

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
            stamp_ns=stamps.resolution_ns,
        )
        return Opened(self._stream, info)

    def _batch(self, data: bytes, calls: Lines, starts: Times) -> EventBatch:
        codes = self._codes.of(data, _single(calls["call"]))
        found = arguments_of(data, calls, self._calls.path_in[codes], self._calls.numbers[codes])
        files = self._files.of(data, found["path"])
        for what, chosen in ((_BY_RINGS, self._calls.is_ring), (_TRANSFERRED, self._calls.is_transfer)):
            self._about.unsupported.add(what, int(np.count_nonzero(chosen[codes])))
        keep = self._calls.is_io[codes] | (files > 0)
        forks = self._calls.is_fork[codes]
        if forks.any():
            keep[forks] = self._process_tree.add_forks(data, calls[forks])
        if not keep.all():
            self.counters["lines_ignored:not_io"] += len(keep) - int(np.count_nonzero(keep))
            calls, starts, codes, found, files = calls[keep], starts[keep], codes[keep], found[keep], files[keep]
            forks = forks[keep]
        result, kind, tid = calls["result"], self._calls.kind[codes], calls["pid"].copy()
        failed = result < 0
        self._about.unsupported.add(_NAMELESS, int(np.count_nonzero(np.isin(kind, _MOVES) & (files == 0) & ~failed)))
        self._has_durations = self._has_durations or bool((calls["duration"] >= 0).any())
        columns: dict[str, npt.ArrayLike] = {
            "start": starts,
            "duration": np.maximum(calls["duration"], 0),
            "call": self._calls.strings(codes),
            "layer": self._calls.layer[codes],
            "kind": kind,
            "rank": self._rank,
            "pid": self._process_tree.processes(tid),
            "tid": tid,
            "file": files,
            "offset": np.where((kind == Kind.SEEK) & ~failed, result, found["offset"]),
            "requested": np.where((files == 0) & (found["mapping"][:, 1] > 0), 0, found["requested"]),
            "bytes": np.where(((kind == Kind.READ) | (kind == Kind.WRITE)) & ~failed, result, 0),
        }
        if forks.any():  # not I/O: rows of layer KERNEL have no duration
            columns["handle"] = np.where(forks, result, 0)
            columns["duration"] = np.where(forks, 0, columns["duration"])
        flags = self._mapping_flags(data, found, files)
        if failed.any():
            flags = np.where(failed, int(Flag.FAILED), 0) | flags
            errors = np.zeros(len(calls), np.uint16)
            errors[failed] = self._errors.of(data, _single(calls["error"][failed]))
            columns["errno"] = errors
        columns["flags"] = flags
        return make_batch(len(calls), columns)

    def _mapping_flags(
        self, data: bytes, found: Arguments, files: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.int64] | int:
        """Return which mappings can store to and load from their file. Those without a file are memory."""
        maps = (found["mapping"][:, 1] > 0) & (files > 0)
        if not maps.any():
            return 0
        flags = np.zeros(len(files), np.int64)
        flags[maps] = self._modes.of(data, _single(found["mapping"][maps])) & int(Flag.MAPS)
        return flags


def _single(extents: Extents) -> Extents:
    """Return one-part texts in the two-part form of ``Texts``, with an empty second part."""
    pairs = np.zeros((len(extents), 2, 2), np.uint32)
    pairs[:, 0] = extents
    return pairs


def name_parts(name: str) -> tuple[str, str, int]:
    """Parse command, host and rank from a name ``command_host_rank.st``. "", "" and -1 for other names."""
    file = PurePath(name)
    parts = file.stem.rsplit("_", 2)
    if file.suffix != ".st" or len(parts) != 3:
        return "", "", -1
    rank = parts[2]
    return parts[0], parts[1], int(rank) if rank.isascii() and rank.isdigit() and len(rank) < 10 else -1


class ProcessTree:
    """Maps threads to processes, because strace states only the thread id."""

    def __init__(self) -> None:
        self._process_of: dict[int, int] = {}

    def add_forks(self, data: bytes, calls: Lines) -> npt.NDArray[np.bool_]:
        """Process calls that created processes or threads, in their order.

        Args:
            data: data to which the extents in ``calls`` refer.
            calls: lines of clone, fork and similar calls, with their return values.

        Returns:
            Mask of the calls that created a process (not a thread) with a known parent.
        """
        processes = (calls["pid"] > 0) & (calls["result"] > 0) & (calls["result"] <= MAX_PID)
        for at, (parent, child, (begin, end)) in enumerate(
            zip(*(calls[name].tolist() for name in ("pid", "result", "arguments")), strict=True)
        ):
            if not processes[at]:
                continue
            if data.find(_THREAD, begin, end) < 0:
                self._process_of.pop(child, None)
                continue
            processes[at] = False
            if child in self._process_of or len(self._process_of) < MAX_THREADS:
                self._process_of[child] = self._process_of.get(parent, parent)
        return processes

    def processes(self, threads: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Return the process of each thread, the thread itself if unknown."""
        if not self._process_of:
            return threads
        found, which = np.unique(threads, return_inverse=True)
        own = np.array([self._process_of.get(thread, thread) for thread in found.tolist()], np.uint32)
        processes: npt.NDArray[np.uint32] = own[which]
        return processes
