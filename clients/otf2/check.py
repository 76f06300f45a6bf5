"""Check of a written OTF2 trace. OTF2 does not report when the end of a file did not fit on disk."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

_END: Final = b"\x02\x01"
"""Last bytes of each file of definitions or events. They are OTF2's end marks of a file and of a chunk."""


def check_written(library: Any, anchor: Path, events: Sequence[int]) -> None:
    """Check that a trace has all definitions and events.

    Args:
        library: OTF2's lower module.
        anchor: the trace's .otf2 file.
        events: number of events of each location, by its number.

    Raises:
        OSError: the trace is incomplete.
    """
    for file in [anchor.with_suffix(".def"), *anchor.with_suffix("").iterdir()]:
        # Checked first: a reader may find missing parts in memory that its writer has left.
        if not _has_end_record(file):
            raise OSError(errno.EIO, f"the end of {file.name} is missing in what was written")
    try:
        reader = library.Reader_Open(str(anchor))
    except library.Error:
        raise OSError(errno.EIO, "what was written cannot be read again") from None
    try:
        _read(library, reader, events)
    except library.Error as error:
        raise OSError(errno.EIO, f"what was written cannot be read again: {error}") from None
    finally:
        library.Reader_Close(reader)


def _has_end_record(file: Path) -> bool:
    with file.open("rb") as opened:
        opened.seek(max(file.stat().st_size - len(_END), 0))
        return opened.read() == _END


def _read(library: Any, reader: Any, events: Sequence[int]) -> None:
    library.Reader_SetSerialCollectiveCallbacks(reader)
    announced = library.Reader_GetNumberOfGlobalDefinitions(reader)
    definitions = library.Reader_GetGlobalDefReader(reader)
    if library.Reader_ReadAllGlobalDefinitions(reader, definitions) != announced:
        raise OSError(errno.EIO, "definitions are missing in what was written")
    library.Reader_CloseGlobalDefReader(reader, definitions)
    for number in range(len(events)):
        library.Reader_SelectLocation(reader, number)
    library.Reader_OpenEvtFiles(reader)
    for number, expected in enumerate(events):
        location = library.Reader_GetEvtReader(reader, number)
        if library.Reader_ReadAllLocalEvents(reader, location) != expected:
            raise OSError(errno.EIO, "events are missing in what was written")
        library.Reader_CloseEvtReader(reader, location)
    library.Reader_CloseEvtFiles(reader)
