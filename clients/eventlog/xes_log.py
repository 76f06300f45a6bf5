"""Event logs as XES (IEEE 1849), the format of process mining."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from .log import EventLog, LogCase, iso_times, pieces

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
    text = text.encode(errors="backslashreplace").decode()
    return _ESCAPED.sub(lambda found: "\\\\" if found[0] == "\\" else f"\\u{ord(found[0]):04x}", text)


def _quoted(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
