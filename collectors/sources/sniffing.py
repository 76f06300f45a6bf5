"""Recognise formats by first bytes, folders by their content, and files to be converted first; imports no reader."""

from __future__ import annotations

import re
import shlex
from pathlib import Path, PurePath
from typing import Final, NamedTuple

from ...archive.blocks import MAGIC as _ARCHIVE
from ...events.files import readable

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
_STRACE: Final = "a trace with times: strace -f -ttt -T -y -o FILE COMMAND"
_SUFFIXES: Final = (".xz", ".bz2", ".zst", ".lz4", ".7z", ".Z")
_HEAD_LINES: Final = 50
"""Number of lines searched for text of strace, as for its formats."""


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


class Refusal(NamedTuple):
    """Reason why a file is not read.

    Attributes:
        problem: kind of the file.
        expected: what to use instead, with the command that creates it.
    """

    problem: str
    expected: str


class _Kind(NamedTuple):
    pattern: re.Pattern[bytes]
    problem: str
    expected: str
    """Placeholders: FILE is the file's name, FOLDER its folder, OUTPUT the name without a compression suffix."""


_UNPACKED: Final = "the unpacked file"
_PERF: Final = "text of it: perf script -i FILE > kernel.txt"
_BINARY: Final = (
    _Kind(re.compile(rb"\xfd7zXZ\0"), "is packed by xz", f"{_UNPACKED}: xz -dc FILE > OUTPUT"),
    _Kind(
        re.compile(rb"BZh[1-9](?:1AY&SY|\x17\x72\x45\x38)"),
        "is packed by bzip2",
        f"{_UNPACKED}: bzip2 -dc FILE > OUTPUT",
    ),
    _Kind(re.compile(rb"[\x28\x22-\x27]\xb5\x2f\xfd"), "is packed by zstd", f"{_UNPACKED}: zstd -dc FILE > OUTPUT"),
    _Kind(re.compile(rb"\x04\x22\x4d\x18|\x02\x21\x4c\x18"), "is packed by lz4", f"{_UNPACKED}: lz4 -dc FILE > OUTPUT"),
    _Kind(re.compile(rb"\x1f\x9d"), "is packed by compress", f"{_UNPACKED}: gzip -dc FILE > OUTPUT"),
    _Kind(re.compile(rb"7z\xbc\xaf\x27\x1c"), "is a 7z archive", "the files in it: 7z x FILE"),
    _Kind(re.compile(rb"PK(?:\x03\x04|\x05\x06|\x07\x08)"), "is a zip archive", "the files in it: unzip FILE"),
    _Kind(re.compile(rb"(?s).{257}ustar"), "is a tar archive", "the files in it: tar -xf FILE"),
    _Kind(re.compile(rb"PERFILE2|2ELIFREP"), "a recording of perf is not read as it is", _PERF),
    _Kind(
        re.compile(rb"\x17\x08Dtracing"),
        "a recording of trace-cmd is not read as it is",
        "text of it: trace-cmd report -i FILE > kernel.txt",
    ),
    _Kind(
        re.compile(rb"\xc1\x1f\xfc\xc1|\xc1\xfc\x1f\xc1|\x75\xd1\x1d\x57|\x57\x1d\xd1\x75|/\* CTF "),
        "a file of a CTF trace is not read as it is",
        "text of its folder, if LTTng wrote it: babeltrace2 FOLDER > kernel.txt",
    ),
)
"""Recognised by first bytes that no supported format has. Refused even if the user named a format."""
_TEXT: Final = (
    _Kind(
        re.compile(rb'\{\s*"linux-perf-json-version"'),
        "perf's JSON does not say which events its samples are of",
        "text of the recording: perf script -i perf.data > kernel.txt",
    ),
    _Kind(
        re.compile(rb"\s*# darshan log version:"),
        "is text of darshan-parser or darshan-dxt-parser",
        "the log itself, NAME.darshan, which is read without conversion",
    ),
)
_UNSTAMPED: Final = _Kind(
    re.compile(
        rb"^(?:\[pid +\d+(?:<[^>\n]*>)?\] +|\d+(?:<[^>\n]*>)? +)?"
        rb"(?:\[ *[\da-f?]{1,16}\] +){0,2}"  # number of the call (-n), instruction pointer (-i)
        rb"[a-z_][a-z0-9_]{1,40}\([^\n]*\) += (?:-?\d|0x[0-9a-f]|\?)",
        re.MULTILINE,
    ),
    "is output of strace without time stamps",
    _STRACE,
)
_SUMMARY: Final = _Kind(
    re.compile(rb"^% time +seconds +usecs/call +calls +errors +syscall$", re.MULTILINE),
    "is a summary of strace (-c), which has sums and no calls",
    _STRACE,
)


def binary_refusal(head: bytes, name: str) -> Refusal | None:
    """Return why a binary file must be converted, by its first bytes. Returns None for other files."""
    return _first(_BINARY, head, name)


def text_refusal(head: bytes, name: str) -> Refusal | None:
    """Return why an unrecognised text must be converted or recorded again; None for other files."""
    if refused := _first(_TEXT, head, name):
        return refused
    lines = b"\n".join(head.split(b"\n", _HEAD_LINES)[:_HEAD_LINES])
    for kind in (_SUMMARY, _UNSTAMPED):
        if kind.pattern.search(lines):
            return _command_for(kind, name)
    return None


def _first(kinds: tuple[_Kind, ...], head: bytes, name: str) -> Refusal | None:
    return next((_command_for(kind, name) for kind in kinds if kind.pattern.match(head)), None)


def _command_for(kind: _Kind, name: str) -> Refusal:
    path = PurePath(readable(name))
    output = path.with_suffix("") if path.suffix in _SUFFIXES else path.with_name(f"{path.name}.unpacked")
    command = kind.expected.replace("OUTPUT", shlex.quote(str(output)))
    if kind.expected is not _STRACE:
        command = command.replace("FILE", shlex.quote(str(path))).replace("FOLDER", shlex.quote(str(path.parent)))
    return Refusal(kind.problem, command)
