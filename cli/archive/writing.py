"""From what a source gives to the bytes of an archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO

from ...archive.file.writer import ArchiveWriter
from ...collectors.source import Changed, Chunk, Closed, Opened, SourceItem


def write_items(writer: ArchiveWriter, items: Iterable[SourceItem], out: IO[bytes]) -> int:
    """Appends a source's streams to an archive; returns how many calls there were."""
    calls = 0
    for item in items:
        if isinstance(item, Opened | Changed):
            out.write(writer.opened(item.stream, item.info))
        elif isinstance(item, Chunk):
            calls += len(item.batch)
            out.write(writer.batch(item.stream, item.batch, item.definitions))
        elif isinstance(item, Closed):
            out.write(writer.closed(item.stream))
    return calls


def shown(
    items: Iterable[SourceItem], path: Path, counters: Mapping[str, int], progress: Callable[[Path, int], None]
) -> Iterator[SourceItem]:
    """Hands on what a source gives, and says how far it has come in its file."""
    for item in items:
        progress(path, counters["bytes_read"])
        yield item
