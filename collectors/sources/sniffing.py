"""Recognise formats by first bytes, and folders by their content; does not import the readers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from ...archive.blocks import MAGIC as _ARCHIVE

_DARSHAN, _DARSHAN_PLACE = 6567223, 8
_CSV_HEADER: Final = re.compile(rb'\s*[\w":,-]*case:concept:name')
_XES: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<[?!][^\0]*?)?<(?:\w+:)?log[\s>]")
_CHROME_OBJECT: Final = re.compile(rb"\s*\{\s*\"")
_CHROME_EVENTS: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_CHROME_ARRAY: Final = re.compile(rb"\s*\[\s*\{")
_CHROME_PHASE: Final = re.compile(rb'"ph"\s*:\s*"[A-Za-z]"')
_DFTRACER: Final = re.compile(
    rb'\{"id":"?\d+"?,"name":"[^"]*","cat":"[^"]*",(?:"type":\d+,)?"pid":|\{"name":"[^"]*","cat":"dftracer",'
)
"""The keys of a call, in the order of all versions, or of the text before the first call."""
_CALL_LINE: Final = re.compile(rb'^\s*\{.*"call"\s*:', re.MULTILINE)
_TMIO_TEXT: Final = re.compile(
    rb'^\s*[{\[][^\0]*?"(?:(?:read|write)_(?:sync|async(?:_[tb])?)|io_time|bandwidth|b(?:_\w+)?)"\s*:\s*[{\[]'
)
_MSGPACK_FIRST: Final = re.compile(rb"[\x80-\x9f\xdc-\xdf]")  # a map or an array


def is_archive(head: bytes) -> bool:
    """Recognises an iotide archive by its first bytes."""
    return head.startswith(_ARCHIVE)


def is_spool(head: bytes) -> bool:
    """Recognises a file of unread calls by its first bytes."""
    return head.startswith(b"IOTIDESP")


def is_hdf5(head: bytes) -> bool:
    """Recognises an HDF5 file by its first bytes."""
    return head.startswith(b"\x89HDF\r\n\x1a\n")


def is_parquet(head: bytes) -> bool:
    """Recognises a Parquet file by its first bytes."""
    return head.startswith(b"PAR1")


def is_darshan(head: bytes) -> bool:
    """Recognises a Darshan log by its first bytes, in either byte order."""
    place = head[_DARSHAN_PLACE : _DARSHAN_PLACE + 8]
    return len(place) == 8 and _DARSHAN in (int.from_bytes(place, "little"), int.from_bytes(place, "big"))


def is_otf2(head: bytes) -> bool:
    """Recognises an OTF2 anchor file by its first bytes."""
    return head[1:].startswith(b"BOTF2")


def is_otf2_folder(folder: Path) -> bool:
    """Recognises an OTF2 trace by its anchor file."""
    return any(folder.glob("*.otf2"))


def is_recorder_folder(folder: Path) -> bool:
    """Recognises a Recorder trace by its metadata file."""
    return (folder / "recorder.mt").is_file()


def is_csv_log(head: bytes) -> bool:
    """Recognises an event log in CSV by its column names."""
    return bool(_CSV_HEADER.match(head))


def is_xes_log(head: bytes) -> bool:
    """Recognises an event log in XES by its first element."""
    return bool(_XES.match(head))


def is_chrome(head: bytes) -> bool:
    """Recognises trace-event JSON by its first bytes. It is an object with the array of events, or the array alone."""
    if _CHROME_OBJECT.match(head):
        return bool(_CHROME_EVENTS.search(head))
    return bool(_CHROME_ARRAY.match(head) and _CHROME_PHASE.search(head))


def is_dftracer(head: bytes) -> bool:
    """Recognises a dftracer trace by its first line, with or without the preceding bracket."""
    return bool(_DFTRACER.match(head.lstrip(b"[ \t\r\n")))


def is_json_lines(head: bytes) -> bool:
    """Recognises JSON lines with one call each."""
    return bool(_CALL_LINE.search(head))


def is_tmio(head: bytes) -> bool:
    """Recognises TMIO's output, as text or as MessagePack."""
    return bool(_TMIO_TEXT.match(head) or _MSGPACK_FIRST.match(head))
