"""Writer of an OTF2 archive: its files, the writers of its locations, and a check of what was written."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from ...events.otf2_library import LibraryPath, load
from .definitions import EventFunctions

_END: Final = b"\x02\x01"
"""Last bytes of each file of definitions or events. They are OTF2's end marks of a file and of a chunk."""
_EVENT_CHUNK: Final = 256 * 1024
"""Buffer of a location, bytes: the minimum that OTF2 allows."""
_DEFINITION_CHUNK: Final = 4 * 1024 * 1024
_MIN_BYTES: Final = 2 * _DEFINITION_CHUNK


class Otf2Archive:
    """Context manager of an archive: open inside, complete after it.

    Args:
        folder: existing folder with enough space.
        name: name of the archive in the folder.

    Raises:
        UnavailableError: the otf2 package is missing.
        OSError: OTF2 cannot write; also raised inside the context.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.library: Any = load()
        self._folder, self._name = folder, name
        self._counts: dict[int, int] = {}

    def __enter__(self) -> Otf2Archive:
        library = self.library
        self.events = EventFunctions(library)
        with self._reraise_as_os_error():
            self.handle = library.Archive_Open(
                LibraryPath(self._folder), self._name, library.FILEMODE_WRITE, _EVENT_CHUNK, _DEFINITION_CHUNK,
                library.SUBSTRATE_POSIX, library.COMPRESSION_NONE,
            )  # fmt: skip
            self._flush = library.FlushCallbacks(pre_flush=lambda *_: library.FLUSH, post_flush=None)
            library.Archive_SetFlushCallbacks(self.handle, self._flush, None)
            library.Archive_SetSerialCollectiveCallbacks(self.handle)
            library.Archive_OpenDefFiles(self.handle)
            library.Archive_OpenEvtFiles(self.handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        library = self.library
        try:
            if error is None:
                with self._reraise_as_os_error():
                    library.Archive_CloseEvtFiles(self.handle)
                    library.Archive_CloseDefFiles(self.handle)
                    library.Archive_Close(self.handle)
                    self._check()
            else:
                with contextlib.suppress(library.Error):
                    library.Archive_Close(self.handle)
        finally:
            self.events.close()
        if isinstance(error, library.Error | OSError):
            raise self._as_os_error(error) from None

    def describe(self, job: dict[str, str]) -> None:
        """Write creator and description of the trace."""
        with self._reraise_as_os_error():
            self.library.Archive_SetCreator(self.handle, "iotide")
            self.library.Archive_SetDescription(self.handle, job.get("job", ""))

    def open_location(self, number: int) -> Any:
        """Return the writer of a location's events."""
        library = self.library
        library.Archive_CloseDefWriter(self.handle, library.Archive_GetDefWriter(self.handle, number))
        return ctypes.cast(library.Archive_GetEvtWriter(self.handle, number), ctypes.c_void_p)

    def close_location(self, number: int, writer: Any) -> int:
        """Write the buffered events of a location; return its number of events."""
        typed = ctypes.cast(writer, ctypes.POINTER(self.library.EvtWriter))
        count: int = self.library.EvtWriter_GetNumberOfEvents(typed, ctypes.c_uint64())
        self.library.Archive_CloseEvtWriter(self.handle, typed)
        self._counts[number] = count
        return count

    def _check(self) -> None:
        counts = [self._counts.get(number, 0) for number in range(max(self._counts, default=-1) + 1)]
        check_written(self.library, self._folder / f"{self._name}.otf2", counts)

    @contextlib.contextmanager
    def _reraise_as_os_error(self) -> Any:
        try:
            yield
        except (OSError, self.library.Error) as error:
            raise self._as_os_error(error) from None

    def _as_os_error(self, error: BaseException) -> OSError:
        """Return an OSError; OTF2 reports the failed step, but seldom the reason."""
        if shutil.disk_usage(self._folder).free < _MIN_BYTES:
            return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if isinstance(error, OSError) and error.errno:
            return error
        return OSError(errno.EIO, f"OTF2: {error.strerror if isinstance(error, OSError) else error}")


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
        reader = library.Reader_Open(LibraryPath(anchor))
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
