"""Archives: every call of a job, as ``events/archive`` keeps them."""

from __future__ import annotations

from tempfile import SpooledTemporaryFile
from typing import IO, Final

from ...events import Definitions, InputError, empty_batch
from ...events.archive.blocks import MAGIC
from ...events.archive.reader import ArchivedStream, ArchiveReader
from ...events.definitions import FileInfo
from ..parser import Input
from ..source import Chunk, Closed, Opened, SourceItem

_IN_MEMORY: Final = 1 << 24
_EXPECTED: Final = "an archive that iotide wrote"


class ArchiveParser:
    """Hands out an archive's streams when its file has ended; what is damaged is told, and the rest is read."""

    def __init__(self, about: Input) -> None:
        self.problems, self.counters = about.problems, about.counters
        self._about = about
        self._file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115  (finish closes it)

    def feed(self, data: bytes) -> list[SourceItem]:
        """Holds the bytes, on disk when they are many."""
        self._file.write(data)
        return []

    def finish(self) -> list[SourceItem]:
        """Reads the archive."""
        items: list[SourceItem] = []
        with self._file as file:
            file.seek(0)
            try:
                reader = ArchiveReader(file, self._about.name)  # type: ignore[arg-type]  # a file, but not by type
            except InputError as error:
                self._about.malformed(None, error.problem, _EXPECTED)
                return items
            for number, stream in reader.streams.items():
                items += self._stream(reader, number, stream)
            for problem in reader.problems:
                self._about.malformed(None, problem.problem, problem.expected)
        return items

    def _stream(self, reader: ArchiveReader, number: int, stream: ArchivedStream) -> list[SourceItem]:
        name = self._about.stream("archive", stream.name)
        items: list[SourceItem] = [Opened(name, stream.info)]
        files = [(place, stream.files.get(place, FileInfo(""))) for place in range(1, max(stream.files, default=0) + 1)]
        if files or stream.handles:
            items.append(Chunk(name, empty_batch(), Definitions([], files, list(stream.handles.items()))))
        try:
            for each in reader.calls(number):
                self.counters["events"] += len(each.batch)
                items.append(Chunk(name, each.batch, each.definitions))
        except InputError as error:
            self._about.malformed(None, error.problem, error.expected)
        for reason, count in stream.losses.items():
            self.counters[reason] += count
        return [*items, Closed(name)]


def is_archive(head: bytes) -> bool:
    """Tells an archive from its first bytes."""
    return head.startswith(MAGIC)
