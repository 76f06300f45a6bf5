"""Event logs for process mining: CSV and XES, and the choice of a format by the suffix of the file's name."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Callable, Sequence
from pathlib import Path, PurePath
from typing import Final
from xml.sax.saxutils import quoteattr

from ...events import UnavailableError
from .log import COLUMNS, EventLog, LogCase, iso_times, lookup_texts, pieces

ENDINGS: Final = (".h5", ".hdf5", ".csv", ".parquet", ".xes")
_ESCAPES: Final = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})
FORMAT: Final = "iotide event log"

_HEAD: Final = f"""<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
  <classifier name="Activity" keys="concept:name"/>
  <string key="format" value="{FORMAT}"/>
"""
_NOT_XML: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ESCAPED: Final = re.compile(r"[\\\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def write(target: Path, name: str, log: EventLog) -> None:
    """Write a log.

    Args:
        target: the file.
        name: final file name, whose suffix selects the format.
        log: the events.

    Raises:
        ValueError: the name has no known ending.
        UnavailableError: the library that the form needs is missing.
        OSError: the file cannot be written.
    """
    check_log(name)(target, log)


def check_log(name: str) -> Callable[[Path, EventLog], None]:
    """Return the writer for the format of a file name.

    Raises:
        ValueError: it ends in none of ``ENDINGS``.
        UnavailableError: the library that the form needs is missing.
    """
    ending = PurePath(name).suffix.lower()
    try:
        if ending in (".h5", ".hdf5"):
            from .hdf5_log import write_hdf5

            return write_hdf5
        if ending == ".parquet":
            from .parquet_log import write_parquet

            return write_parquet
    except ImportError as error:
        extra = "parquet" if ending == ".parquet" else "hdf5"
        raise UnavailableError(f"{name} needs {error.name}: pip install 'iotide[{extra}]'") from None
    if ending == ".csv":
        return write_csv
    if ending == ".xes":
        return write_xes
    raise ValueError(f"{name}: the name must end in one of {', '.join(ENDINGS)}")


def write_csv(target: Path, log: EventLog) -> None:
    """Write the events with an activity, one line each. Line breaks within a path become ``\\n``.

    Raises:
        OSError: the file cannot be written.
    """
    calls, files, activities = (_lines(table) for table in (log.calls, log.files, log.activities))
    with target.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(COLUMNS)
        for case, rows in pieces(log):
            same = itertools.repeat
            name, command, host = _lines([case.name, case.command, case.host])
            writer.writerows(
                zip(
                    same(name),
                    lookup_texts(case.activity[rows], activities),
                    iso_times(case.start[rows]),
                    same(command),
                    same(host),
                    case.ranks[rows].tolist(),
                    case.pid[rows].tolist(),
                    case.tid[rows].tolist(),
                    lookup_texts(case.call[rows], calls),
                    case.start[rows].tolist(),
                    case.duration[rows].tolist(),
                    lookup_texts(case.file[rows], files),
                    case.size[rows].tolist(),
                    same("unix" if case.clock else "unknown"),
                    case.depth[rows].tolist(),
                    strict=False,
                )
            )


def _lines(table: Sequence[str]) -> list[str]:
    return [_encodable(text).translate(_ESCAPES) for text in table]


def _encodable(text: str) -> str:
    """Replace bytes that are no UTF-8, which Python has as lone surrogates, by their escapes."""
    return text.encode(errors="backslashreplace").decode()


def write_xes(target: Path, log: EventLog) -> None:
    """Write the events with an activity; ``start`` and ``dur`` are nanoseconds.

    In calls and files, characters that XML lacks become ``\\u0001``, and each backslash is doubled. In the names of
    activities and cases, which are for other tools, they become "?".

    Raises:
        OSError: the file cannot be written.
    """
    calls, files = ([_quoted(_escape(text)) for text in table] for table in (log.calls, log.files))
    activities = [_quoted(text) for text in log.activities]
    with target.open("w", encoding="utf-8") as out:
        out.write(_HEAD)
        current = None
        for case, rows in pieces(log):
            if case is not current:
                out.write(("  </trace>\n" if current is not None else "") + _trace(case))
                current = case
            columns = (case.activity, case.call, case.file, case.pid, case.tid, case.ranks, case.start, case.duration,
                       case.size, case.depth)  # fmt: skip
            numbers = zip(iso_times(case.start[rows]), *(column[rows].tolist() for column in columns), strict=True)
            out.writelines(
                f'    <event><string key="concept:name" value={activities[activity]}/>'
                f'<date key="time:timestamp" value="{stamp[:26]}{stamp[29:]}"/>'
                f'<string key="call" value={calls[call]}/><string key="fp" value={files[file]}/>'
                f'<int key="pid" value="{pid}"/><int key="tid" value="{tid}"/><int key="rid" value="{rank}"/>'
                f'<int key="start" value="{start}"/><int key="dur" value="{duration}"/>'
                f'<int key="size" value="{size}"/><int key="depth" value="{depth}"/></event>\n'
                for stamp, activity, call, file, pid, tid, rank, start, duration, size, depth in numbers
            )
        out.write("  </trace>\n" if current is not None else "")
        out.write("</log>\n")


def _trace(case: LogCase) -> str:
    texts = {
        "concept:name": case.name,
        "cid": case.command,
        "host": case.host,
        "clock": "unix" if case.clock else "unknown",
    }
    lines = [f'    <string key="{key}" value={_quoted(text)}/>\n' for key, text in texts.items()]
    return "".join(["  <trace>\n", *lines, f'    <int key="rid" value="{case.rank}"/>\n'])


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", _encodable(text))


def _quoted(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
