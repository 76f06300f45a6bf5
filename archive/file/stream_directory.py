"""The streams of an archive with their facts, created on demand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import msgspec

from ...events.definitions import Definitions, FileInfo, HandleInfo
from ...events.errors import InputError
from ...events.stream import StreamInfo
from ..codec.encoding import PartKind, text_of
from .merged_index import MergedIndex

_stream_decoder = msgspec.json.Decoder(tuple[str, StreamInfo])
_names_decoder = msgspec.json.Decoder(Definitions)
_losses_decoder = msgspec.json.Decoder(dict[str, int])
_MAX_NUMBER: Final = 1_000_000
"""Maximum number of files, as a stream may define."""
_MAX_PROBLEMS: Final = 1000
_UNUSABLE: Final = (InputError, msgspec.MsgspecError, RecursionError, ValueError)


@dataclass(slots=True)
class ArchivedStream:
    """One stream of an archive."""

    name: str
    info: StreamInfo
    member: tuple[int, int]
    """Lane and rank, which identify the stream in the archive."""
    files: dict[int, FileInfo] = field(default_factory=dict)
    handles: dict[int, HandleInfo] = field(default_factory=dict)
    losses: dict[str, int] = field(default_factory=dict)
    """Losses by reason: all of a closed stream, otherwise those up to the last checkpoint."""
    closed: bool = False
    """False: the archive ends before the stream does."""


class ArchivedStreams(Mapping[int, ArchivedStream]):
    """The streams by number, from 1; unusable parts are added to ``problems``."""

    def __init__(self, parts: MergedIndex, problems: list[InputError]) -> None:
        self._parts = parts
        self._problems = problems
        self._lanes, self._ranks = parts.members()
        self._reported: set[tuple[int, int, int]] = set()
        self._last: tuple[int, ArchivedStream] | None = None

    def __len__(self) -> int:
        return len(self._ranks)

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self) + 1))

    def __getitem__(self, number: int) -> ArchivedStream:
        if self._last is None or self._last[0] != number:
            if not 1 <= number <= len(self):
                raise KeyError(number)
            self._last = number, self._read_stream(number)
        return self._last[1]

    def _read_stream(self, number: int) -> ArchivedStream:
        member = int(self._lanes[number - 1]), int(self._ranks[number - 1])
        stream = ArchivedStream(f"stream {number}", StreamInfo(job="", source="archive"), member)
        for kind in (PartKind.STREAM, PartKind.NAMES, PartKind.LOSSES, PartKind.CLOSED):
            for block in self._parts.of(kind, *member):
                try:
                    self._take(stream, kind, text_of(self._parts.part(block, member[1])))
                except _UNUSABLE as error:
                    self._report(number, kind, block.at, error)
        return stream

    def _take(self, stream: ArchivedStream, kind: PartKind, text: bytes) -> None:
        if kind is PartKind.STREAM:
            stream.name, stream.info = _stream_decoder.decode(text)
        elif kind is PartKind.NAMES:
            names = _names_decoder.decode(text)
            if any(not 0 < file <= _MAX_NUMBER for file, _ in names.files):
                raise ValueError("the number of a file is out of range")
            stream.files.update(names.files)
            stream.handles.update(names.handles)
        elif kind is PartKind.LOSSES:
            stream.losses = _losses_decoder.decode(text)
        else:
            stream.losses, stream.closed = _losses_decoder.decode(text), True

    def _report(self, number: int, kind: PartKind, at: int, error: Exception) -> None:
        known = number, int(kind), at
        if known not in self._reported and len(self._problems) < _MAX_PROBLEMS:
            self._reported.add(known)
            what = error.problem if isinstance(error, InputError) else str(error)
            problem = f"what stream {number} says ({kind.name.lower()}) cannot be used: {what}"
            self._problems.append(InputError(self._parts.where, None, problem, "what this version writes"))
