"""Contents of an archive, as numbers and as table rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from ...archive.blocks import VERSION
from ...archive.codec.encoding import PartKind
from ...archive.file.reader import ArchivedStream, ArchiveReader
from ...clients.text.units import byte_text
from ...events import InputError
from ...events.counted_text import counted
from ...events.losses import is_loss, loss_lines

_MAX_ROWS: Final = 40


def report_of(reader: ArchiveReader, size: int) -> tuple[dict[str, Any], list[InputError]]:
    """Summarise an archive: plain data for ``--json``, and its unreadable parts."""
    broken: list[InputError] = []
    streams = [_stream_facts(reader, number, stream, broken) for number, stream in reader.streams.items()]
    broken += reader.problems
    report = {
        "version": VERSION,
        "archive": reader.where,
        "job": reader.job,
        "bytes": size,
        "bytes_of_times": reader.bytes.get("times", 0),
        "has_times": reader.has_times,
        "bytes_by_block": reader.bytes,
        "calls": sum(stream["calls"] for stream in streams),
        "complete": reader.complete,
        "problems": [str(problem) for problem in broken],
        "merged": _merged_parts(reader),
        "streams": streams,
    }
    return report, broken


def _stream_facts(
    reader: ArchiveReader, number: int, stream: ArchivedStream, broken: list[InputError]
) -> dict[str, Any]:
    about: Counter[str] = Counter()
    first_ns, last_ns = [], []
    try:
        for section in reader.sections(number):
            about["calls"] += section.calls
            about["sections"] += 1
            about["signatures"] += len(section.terminals)
            about["grammar_symbols"] += len(section.rules.values)
            about["literals"] += sum(map(len, section.literals))
            first_ns.append(section.first_ns)
            last_ns.append(section.last_ns)
    except InputError as error:
        broken.append(error)
    return {
        "name": stream.name,
        "command": stream.info.command,
        "host": stream.info.host,
        "rank": stream.info.rank,
        **{key: about[key] for key in ("calls", "sections", "signatures", "grammar_symbols", "literals")},
        "first_s": min(first_ns, default=0) / 1e9,
        "last_s": max(last_ns, default=0) / 1e9,
        "files": len(stream.files),
        "closed": stream.closed,
        "losses": stream.losses,
    }


def _merged_parts(reader: ArchiveReader) -> dict[str, dict[str, int]]:
    """Return a row for each kind of parts. It has their number, number of groups, and encoding of their numbers."""
    about: dict[str, Counter[str]] = {}
    grammars = set()
    for block in reader.merged.blocks:
        parts = reader.merged.unpacked(block)
        kind = PartKind(block.key.kind)
        counted = about.setdefault(kind.name.lower(), Counter())
        counted["parts"] += block.count
        counted["groups"] += 1
        counted["numbers"] += block.key.width * block.count
        counted["lines"] += parts.lines
        counted["kept"] += parts.columns_kept * block.count
        if kind is PartKind.SECTION:
            grammars.add(block.key.pieces[-1:])
            counted["grammars"] = len(grammars)
    return {kind: dict(counted) for kind, counted in about.items()}


def missing_lines(of_streams: Iterable[Mapping[str, int]]) -> Iterator[str]:
    """Yield what was lost while the streams were recorded, and what was left out as chosen."""
    losses: Counter[str] = Counter()
    for each in of_streams:
        losses.update(each)
    chosen = Counter({reason: count for reason, count in losses.items() if not is_loss(reason)})
    for line in loss_lines(losses - chosen):
        yield f"missing: {line}"
    for reason, count in chosen.most_common():
        yield f"left out: {reason} {count:,}"


def print_report(report: dict[str, Any]) -> None:
    """Print a report as text."""
    console = Console(highlight=False)
    calls, size = report["calls"], report["bytes"]
    end = "" if report["complete"] else ", without its end"
    console.print(
        f"{report['archive']}: {counted(calls, 'calls')} of {counted(len(report['streams']), 'streams')} "
        f"in {byte_text(size)}{end}",
        soft_wrap=True,
    )
    if calls:
        rest = size - report["bytes_of_times"]
        times = "times were left out"
        if report["has_times"]:
            times = f"{report['bytes_of_times'] / calls:.2f} for its times"
        console.print(f"{size / calls:.2f} bytes a call: {times}, {rest / calls:.4f} for all else, {byte_text(rest)}")
    for line in missing_lines(stream["losses"] for stream in report["streams"]):
        console.print(line, soft_wrap=True)
    section = report["merged"].get("section")
    if section:
        console.print(
            f"{section['parts']} sections in {section['groups']} groups alike, {section['grammars']} grammars; "
            f"{section['numbers']} numbers of theirs are {section['lines']} lines a * rank + b and {section['kept']} "
            "that follow no pattern"
        )
    hidden = max(len(report["streams"]) - _MAX_ROWS, 0)
    table = Table("stream", "rank", "calls", "signatures", "grammar", "literals", "files", box=None, pad_edge=False)
    shown = sorted(report["streams"], key=lambda stream: -stream["calls"]) if hidden else report["streams"]
    for stream in shown[:_MAX_ROWS]:
        table.add_row(
            stream["command"][:40] or stream["name"][:40],
            str(stream["rank"]) if stream["rank"] >= 0 else "",
            *(str(stream[key]) for key in ("calls", "signatures", "grammar_symbols", "literals", "files")),
        )
    console.print(table)
    if hidden:
        console.print(f"and {hidden} streams of fewer calls; --json has all")
