"""``iotide detect``: finds the I/O period in finished traces."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from .options import detection_options

_HELP = """Find the I/O period in finished traces.

FILEs are taken together as one job. Their format is told from their content, or given with --format: JSON lines (one
call a line), TMIO (JSON, JSON lines, MessagePack) or strace (`strace -f -tt -T -y`). A malformed piece is named with
file, line and what was expected, and the rest is kept.

\b
Examples:
  iotide detect trace.jsonl
  iotide detect --json run1/*.st | jq .prediction.period_s.value
  iotide detect --method reference --sampling point --mode write 8.jsonl    # FTIO's own answer

Exit status: 0 analysed (also when there is no rhythm), 2 nothing could be read.
"""


@click.command("detect", help=_HELP)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", "format_name", metavar="NAME", help="Format of all FILEs: jsonl, tmio or strace.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@detection_options
def command(
    files: tuple[Path, ...],
    format_name: str | None,
    as_json: bool,
    detection: dict[str, Any],
) -> None:
    """Reads, analyses, prints."""
    from ..analyzers.predictor import detect
    from ..analyzers.settings import DetectSettings
    from ..clients.detection_text import print_detection
    from ..events import InputError
    from ..events.analysis import DetectionReport, InputProblem
    from .progress import reading_progress
    from .trace_reading import read_traces

    settings = DetectSettings(**detection)
    job = files[0].stem if len(files) == 1 else f"{files[0].stem} and {len(files) - 1} more"
    with reading_progress(files) as progress:
        trace = read_traces(files, format_name=format_name, job=job, progress=progress)
    for problem in trace.problems.first:
        click.echo(f"iotide: {problem}", err=True)
    if trace.problems.total > len(trace.problems.first):
        click.echo(f"iotide: {trace.problems.total - len(trace.problems.first)} further problems", err=True)
    if not trace.events:
        raise InputError(str(files[0]), None, "no event was read", "at least one I/O call")
    report = DetectionReport(
        files=[str(path) for path in files],
        source=", ".join(sorted(set(trace.formats))),
        events=trace.events,
        bytes_read=trace.bytes_of("read"),
        bytes_written=trace.bytes_of("write"),
        prediction=detect(trace.batches(), settings, job),
        problems=[
            InputProblem(where=row.where, line=row.line, problem=row.problem, expected=row.expected)
            for row in trace.problems.first
        ],
        problems_total=trace.problems.total,
    )
    if as_json:
        click.echo(report.model_dump_json(indent=2))
    else:
        print_detection(report, sys.stdout)
