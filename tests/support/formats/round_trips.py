"""Conversion of calls from an archive to a format and back, compared with the table in docs/convert.md."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Final

from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.cli.archive.source_items import write_items
from iotide.cli.archive.targets import TARGETS
from iotide.collectors.source import Origin, SourceItem
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import COLUMNS, FileInfo
from support.formats.parsing import Stream, collect
from support.places import ROOT

FORMATS: Final = ("jsonl", "hdf5", "parquet", "otf2", "chrome")
OF_CALLS: Final = (*COLUMNS, "file type", "mount")
OF_STREAMS: Final = (
    "job", "host", "user", "command", "step", "rank of the process", "pid of the process", "parent_pid", "ranks",
    "clock",
)  # fmt: skip
DOCUMENT: Final = ROOT / "docs" / "convert.md"


@cache
def documented_table() -> dict[str, dict[str, str]]:
    """Return the table: format -> information -> ``yes``, ``no`` or the part that is preserved."""
    text = DOCUMENT.read_text(encoding="utf-8").partition("## What comes back")[2].partition("\n## ")[0]
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line[:1] == "|"
    ]
    names = rows[0][1:]
    return {name: {row[0]: row[1 + at] for row in rows[2:]} for at, name in enumerate(names)}


def archive_of(items: Iterable[SourceItem]) -> ArchiveReader:
    """Return items as an archive."""
    return ArchiveReader(io.BytesIO(archive_bytes(items)), "test")


def archive_bytes(items: Iterable[SourceItem]) -> bytes:
    """Return the bytes of an archive with the given items."""
    out, writer = io.BytesIO(), ArchiveWriter()
    out.write(writer.begin({"job": "job"}))
    write_items(writer, items, out)
    out.write(writer.end())
    return out.getvalue()


def converted_trace(reader: ArchiveReader, form: str, folder: Path) -> tuple[Path, Counter[str]]:
    """Convert an archive to a format as ``convert`` does; return the path and the list of what was not converted."""
    path, lost = folder / f"calls{TARGETS[form].endings[0]}", Counter[str]()
    if TARGETS[form].folder:
        path.mkdir()
    TARGETS[form].writer()(reader, path, lost, lambda calls: None)
    return path, lost


def read_again(path: Path) -> list[Stream]:
    """Read a trace; fail on any error in it."""
    source = open_file(path, Origin(job="other"))
    streams = list(collect(read_all(source)).values())
    assert source.problems.total == 0, source.problems.first[:3]
    return streams


def facts_of(streams: list[Stream], what: set[str]) -> list[dict[str, Any]]:
    """Return the compared columns of each call, with strings in place of numbers, in a canonical order."""
    rows = [_facts(stream, row, what) for stream in streams for row in stream.rows()]
    return sorted(rows, key=repr)


def _facts(stream: Stream, row: dict[str, Any], what: set[str]) -> dict[str, Any]:
    info, table = stream.info, stream.definitions
    found = {name: row[name] for name in COLUMNS}
    found["signature"] = table.signature(row["signature"])
    file: FileInfo = _files(stream).get(row["file"], FileInfo(""))
    found["file type"] = file.type if row["file"] else 0
    found["mount"] = (file.mount_point, file.filesystem, file.shared) if row["file"] else None
    found |= {name: getattr(info, name) for name in ("job", "host", "user", "command", "step", "parent_pid", "ranks")}
    found["rank of the process"], found["pid of the process"] = info.rank, info.pid
    found["clock"] = info.clock_offset_ns is not None
    return {name: value for name, value in found.items() if name in what}


def _files(stream: Stream) -> dict[str, FileInfo]:
    table = stream.definitions
    return {info.path: info for info in map(table.file, range(table.file_count))}
