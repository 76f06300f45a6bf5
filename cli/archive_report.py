"""What an archive holds, as numbers and as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from ..clients.units import byte_text
from ..events import DefinitionTable, Layer
from ..events.archive.reader import ArchiveReader
from ..events.definitions import FileInfo

_MOST_ROWS: Final = 40


def report_of(reader: ArchiveReader, size: int) -> dict[str, Any]:
    """Sums up an archive: plain data for ``--json``.

    Raises:
        InputError: a section is broken.
    """
    streams = []
    for number, stream in reader.streams.items():
        sections = list(reader.sections(number))
        streams.append(
            {
                "name": stream.name,
                "command": stream.info.command,
                "host": stream.info.host,
                "rank": stream.info.rank,
                "calls": sum(section.calls for section in sections),
                "sections": len(sections),
                "signatures": sum(len(section.terminals) for section in sections),
                "grammar_symbols": sum(len(section.rules.values) for section in sections),
                "literals": sum(len(each) for section in sections for each in section.literals),
                "first_s": min((section.first_ns for section in sections), default=0) / 1e9,
                "last_s": max((section.last_ns for section in sections), default=0) / 1e9,
                "files": len(stream.files),
                "closed": stream.closed,
                "losses": stream.losses,
            }
        )
    stamps = sum(
        len(starts) + len(durations)
        for number in reader.streams
        for section in reader.sections(number)
        for _, starts, durations in section.stamps
    )
    return {
        "version": 1,
        "archive": reader.where,
        "job": reader.job,
        "bytes": size,
        "bytes_of_times": stamps,
        "bytes_by_block": reader.bytes,
        "calls": sum(stream["calls"] for stream in streams),
        "complete": reader.complete,
        "problems": [str(problem) for problem in reader.problems],
        "streams": streams,
    }


def print_report(report: dict[str, Any]) -> None:
    """Prints a report for a person."""
    console = Console(highlight=False)
    calls, size = report["calls"], report["bytes"]
    end = "" if report["complete"] else ", without its end"
    console.print(f"{report['archive']}: {calls} calls of {len(report['streams'])} streams in {byte_text(size)}{end}")
    if calls:
        rest = (size - report["bytes_of_times"]) / calls
        times = report["bytes_of_times"] / calls
        console.print(f"{size / calls:.2f} bytes a call: {times:.2f} for its times, {rest:.4f} for all else")
    hidden = max(len(report["streams"]) - _MOST_ROWS, 0)
    table = Table("stream", "rank", "calls", "signatures", "grammar", "literals", "files", box=None, pad_edge=False)
    shown = sorted(report["streams"], key=lambda stream: -stream["calls"]) if hidden else report["streams"]
    for stream in shown[:_MOST_ROWS]:
        table.add_row(
            stream["command"][:40] or stream["name"][:40],
            str(stream["rank"]) if stream["rank"] >= 0 else "",
            *(str(stream[key]) for key in ("calls", "signatures", "grammar_symbols", "literals", "files")),
        )
    console.print(table)
    if hidden:
        console.print(f"and {hidden} streams of fewer calls; --json has all")


def calls_as_rows(reader: ArchiveReader, stream: int) -> Iterator[dict[str, Any]]:
    """Yields a stream's calls as JSON lines have them, with their signatures.

    Raises:
        InputError: a section is broken.
    """
    archived = reader.streams[stream]
    table = DefinitionTable()
    nothing = FileInfo("")
    base = {"job": archived.info.job, "host": archived.info.host}
    for each in reader.calls(stream):
        table.apply(each.definitions)
        columns = {name: values.tolist() for name, values in each.batch.columns().items()}
        for at in range(len(each.batch)):
            row: dict[str, Any] = {
                "call": table.string(columns["call"][at]),
                "path": archived.files.get(columns["file"][at], nothing).path,
                **base,
                "layer": Layer(columns["layer"][at]).name,
                "start_ns": columns["start"][at],
                "dur_ns": columns["duration"][at],
                "size": columns["bytes"][at],
            }
            for name in ("offset", "rank", "pid", "tid", "handle", "parent", "depth", "errno", "requested", "flags"):
                row[name] = columns[name][at]
            row["signature"] = table.signature(columns["signature"][at])
            yield row
