"""Event logs as XES (IEEE 1849), the form of process mining."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from .eventlog import EventLog
from .eventlog_columns import pieces, stamps

_HEAD: Final = """<?xml version="1.0" encoding="UTF-8"?>
<log xes.version="1849-2016" xes.features="" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <extension name="Time" prefix="time" uri="http://www.xes-standard.org/time.xesext"/>
  <classifier name="Activity" keys="concept:name"/>
"""
_NOT_XML: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_xes(target: Path, log: EventLog) -> None:
    """Writes the events that have an activity; durations are nanoseconds. Characters that XML lacks become "?".

    Raises:
        OSError: the file cannot be written.
    """
    calls, files, activities = ([_quoted(text) for text in table] for table in (log.calls, log.files, log.activities))
    with target.open("w", encoding="utf-8") as out:
        out.write(_HEAD)
        current = None
        for case, rows in pieces(log):
            if case is not current:
                out.write("  </trace>\n" if current is not None else "")
                out.write(f'  <trace>\n    <string key="concept:name" value={_quoted(case.name)}/>\n')
                out.write(f'    <string key="cid" value={_quoted(case.command)}/>\n')
                out.write(f'    <string key="host" value={_quoted(case.host)}/>\n')
                current = case
            columns = (case.activity, case.call, case.file, case.pid, case.ranks, case.duration, case.size)
            numbers = zip(stamps(case.start[rows]), *(column[rows].tolist() for column in columns), strict=True)
            out.writelines(
                f'    <event><string key="concept:name" value={activities[activity]}/>'
                f'<date key="time:timestamp" value="{stamp[:26]}{stamp[29:]}"/>'
                f'<string key="call" value={calls[call]}/><string key="fp" value={files[file]}/>'
                f'<int key="pid" value="{pid}"/><int key="rid" value="{rank}"/><int key="dur" value="{duration}"/>'
                f'<int key="size" value="{size}"/></event>\n'
                for stamp, activity, call, file, pid, rank, duration, size in numbers
            )
        out.write("  </trace>\n" if current is not None else "")
        out.write("</log>\n")


def _quoted(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
