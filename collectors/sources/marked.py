"""Files and folders that a mark of their own tells; what reads them is imported by who does."""

from __future__ import annotations

from pathlib import Path

from ...events.archive.blocks import MAGIC as _ARCHIVE

_DARSHAN, _DARSHAN_PLACE = 6567223, 8


def is_archive(head: bytes) -> bool:
    """Tells an archive of ours from its first bytes."""
    return head.startswith(_ARCHIVE)


def is_hdf5(head: bytes) -> bool:
    """Tells a file of HDF5 from its first bytes."""
    return head.startswith(b"\x89HDF\r\n\x1a\n")


def is_parquet(head: bytes) -> bool:
    """Tells a Parquet file from its first bytes."""
    return head.startswith(b"PAR1")


def is_darshan(head: bytes) -> bool:
    """Tells a log of Darshan from its first bytes, in either order of bytes."""
    place = head[_DARSHAN_PLACE : _DARSHAN_PLACE + 8]
    return len(place) == 8 and _DARSHAN in (int.from_bytes(place, "little"), int.from_bytes(place, "big"))


def is_otf2(head: bytes) -> bool:
    """Tells an anchor file of OTF2 from its first bytes."""
    return head[1:].startswith(b"BOTF2")


def is_otf2_folder(folder: Path) -> bool:
    """Tells a trace of OTF2 from its anchor file."""
    return any(folder.glob("*.otf2"))


def is_recorder_folder(folder: Path) -> bool:
    """Tells a trace of Recorder from the file that says what is in it."""
    return (folder / "recorder.mt").is_file()
