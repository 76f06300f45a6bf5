"""Writing of a source's items to an archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from ...archive.file.writer import ArchiveWriter
from ...collectors.source import Changed, Chunk, Closed, Opened, SourceItem


def write_items(writer: ArchiveWriter, items: Iterable[SourceItem], out: IO[bytes]) -> int:
    """Append a source's streams to an archive; return the number of calls."""
    calls = 0
    for item in items:
        if isinstance(item, Opened | Changed):
            out.write(writer.opened(item.stream, item.info))
        elif isinstance(item, Chunk):
            calls += len(item.batch)
            out.write(writer.batch(item.stream, item.batch, item.definitions))
        elif isinstance(item, Closed):
            out.write(writer.closed(item.stream, item.losses))
    return calls


def with_progress(
    items: Iterable[SourceItem], path: Path, counters: Mapping[str, int], progress: Callable[[Path, int], None]
) -> Iterator[SourceItem]:
    """Yield the items of a source, and report the progress in its file."""
    for item in items:
        progress(path, counters["bytes_read"])
        yield item
