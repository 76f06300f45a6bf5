"""Calls as an OTF2 trace for Vampir, otf2-print and the Score-P tools. Source: [Layers]."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from ...archive.file.reader import ArchiveReader
from ...events import StreamInfo
from ...events.schema import UNKNOWN_RANK
from ..traces.order import calls_in_order
from .archive import Otf2Archive
from .definitions import Location, LocationGroup, TraceDefinitions
from .stream import StreamWriter

NAME: Final = "traces"
"""Base name of the anchor file, traces.otf2, as most tools expect."""


def write_otf2(
    reader: ArchiveReader, folder: Path, lost: Counter[str], show: Callable[[int], None] = lambda calls: None
) -> int:
    """Write all calls of an archive as an OTF2 trace; return their number.

    A call is a region of its thread's location that contains the I/O record of its operation. Data without a place in
    the record is stored in attributes. Memory: about a quarter of a million calls, one number per file, 48 bytes per
    handle.

    Args:
        reader: the archive.
        folder: an empty folder, for traces.otf2, traces.def and the folder traces.
        lost: counter of calls by what could not be converted.
        show: callback with the number of written calls.

    Raises:
        UnavailableError: the otf2 package is missing.
        InputError: a section is broken.
        OSError: a file cannot be written.
    """
    first_ns, last_ns = _span(reader)
    shift_ns = min(first_ns, 0)
    calls = 0
    with Otf2Archive(folder, NAME) as archive:
        archive.describe(_texts(reader.job))
        definitions = TraceDefinitions(
            archive.library, archive.handle, (each.info.host for each in reader.streams.values())
        )
        for number, stream in reader.streams.items():
            writer = StreamWriter(archive, definitions, stream, shift_ns, lost)
            for batch, table in calls_in_order(reader, number):
                for part in writer.write(batch, table):
                    calls += part
                    show(calls)
            writer.close()
        if not definitions.locations:  # readers refuse a trace without locations
            definitions.groups.append(LocationGroup("no calls", StreamInfo(job="", source="archive"), UNKNOWN_RANK, 0))
            definitions.locations.append(Location("no calls", 0))
            archive.close_location(0, archive.open_location(0))
        unix = all(each.info.clock_offset_ns is not None for each in reader.streams.values())
        definitions.finish(first_ns - shift_ns, last_ns - first_ns, first_ns if unix and first_ns >= 0 else None)
    return calls


def _span(reader: ArchiveReader) -> tuple[int, int]:
    """Return the first start and the last end."""
    first, last = [], []
    for number in reader.streams:
        for section in reader.sections(number):
            first.append(section.first_ns)
            last.append(section.last_ns)
    return min(first, default=0), max(last, default=0)


def _texts(job: dict[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in job.items()}
