"""``iotide detect``: the I/O period of finished traces."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ..common.arguments.grouped_help import SectionCommand, SectionOption
from ..common.arguments.options import is_given, trace_detection_options, trace_files
from ..common.arguments.parameter_types import FiniteRange, Moment, moment_of
from .charts import add_replay, check_picture, write_picture

if TYPE_CHECKING:
    from ...analyzers.settings import DetectSettings
    from ...results.prediction import Who
    from ...results.traces.analysis import DetectionReport, Grouping, GroupKind
    from ..traces.trace_reading import Trace

_HELP = """Find the I/O period in finished traces, and predict the next phase.

All FILEs belong to one job. Their format is detected from the content, or given with --format: JSON lines (one call
per line), TMIO (JSON, JSON lines, MessagePack), strace (`strace -f -ttt -T -y`), logs of Darshan, traces of dftracer,
Recorder (a folder), OTF2 and Chrome, archives, event logs; optionally compressed by gzip. A malformed piece is
reported with file, line and expected content, and the rest is used. Contents of a trace that events cannot represent
are also reported.

\b
Examples:
  iotide detect trace.jsonl
  iotide detect *.pfw.gz                                # dftracer: a file for each process
  iotide detect --json run1/*.st | jq .prediction.period_s.value
  iotide detect --mode all --by file --top 5 trace.jsonl
  iotide detect --from 120 --to 600 --strongest 5 --wavelet --json trace.jsonl | jq .analysis
  iotide detect --replay --plot trace.html trace.jsonl
  iotide detect --method reference --sampling point --mode write 8.jsonl    # FTIO's own answer
  iotide detect --method reference --outlier dbscan --autocorrelation 8.jsonl

Exit status: 0 analysed (also without a period), 1 the work failed, 2 bad usage or nothing could be read. Unreadable
parts of the input are listed and skipped; this is not a failure.
"""
_MOMENT_HELP: Final = "seconds from its first event, Unix seconds, or a date such as 2024-11-07T12:00:00"
_input_option = partial(click.option, cls=SectionOption, section="Input")
_analysis_option = partial(click.option, cls=SectionOption, section="Further analyses")
_output_option = partial(click.option, cls=SectionOption, section="Output")
_TOP: Final = 10
_UNKNOWN: Final[dict[str, str]] = {
    "rank": "the trace does not say which rank a request belongs to",
    "host": "the trace does not say on which node it was made",
    "file": "the trace does not say which files were used",
    "job": "the trace does not name its job",
}


@click.command("detect", cls=SectionCommand, help=_HELP)
@trace_files(type=click.Path(path_type=Path))
@_input_option(
    "--format",
    "format_name",
    metavar="NAME",
    help="Format of all FILEs, such as jsonl, strace, otf2, chrome, parquet or archive; docs/sources.md lists them.",
)
@_input_option(
    "--from", "since", metavar="TIME", callback=moment_of, help=f"Leave out what comes before: {_MOMENT_HELP}."
)
@_input_option("--to", "until", metavar="TIME", callback=moment_of, help="Ignore later events; same forms as --from.")
@trace_detection_options
@_analysis_option(
    "--autocorrelation",
    is_flag=True,
    help="Also find a period by autocorrelation; with --method reference both results are merged as by FTIO.",
)
@_analysis_option(
    "--strongest",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Reconstruct the signal from its N strongest frequencies, and report the residual.",
)
@_analysis_option(
    "--wavelet", is_flag=True, help="Compute wavelet power over time and period (with --json, for charts)."
)
@_analysis_option(
    "--by",
    type=click.Choice(("rank", "host", "file", "job")),
    help="Also report a result for each of the largest ranks, nodes, files or jobs.",
)
@_analysis_option(
    "--top", type=click.IntRange(1, 1000), metavar="N", help=f"How many of them, by bytes.  [default: {_TOP}]"
)
@_analysis_option(
    "--replay", is_flag=True, help="Predict as if the trace were live, and compare with the actual phases."
)
@_analysis_option(
    "--every",
    "every_s",
    type=FiniteRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time between the predictions of the replay.  [default: one per phase]",
)
@_output_option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw signal, spectrum, wavelet and replay: an interactive page (.html) or a chart (.png, .svg).",
)
@_output_option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    files: tuple[Path, ...],
    format_name: str | None,
    since: Moment | None,
    until: Moment | None,
    autocorrelation: bool,
    strongest: int | None,
    wavelet: bool,
    by: GroupKind | None,
    top: int | None,
    replay: bool,
    every_s: float | None,
    plot: Path | None,
    as_json: bool,
    detection: dict[str, Any],
) -> None:
    """Run the command."""
    if top is not None and by is None:
        raise click.UsageError("--top needs --by: it says how many ranks, nodes, files or jobs are listed")
    if every_s is not None and not replay and plot is None:
        raise click.UsageError("--every needs --replay or --plot: it says how often a replay predicts")
    if plot is not None:
        check_picture(plot, files)
    all_modes = detection["mode"] == "all"
    if all_modes:
        detection["mode"] = "both"
    from ...analyzers.offline.detection import AnalysisOptions
    from ...analyzers.settings import DetectSettings
    from ..traces.trace_reading import read_and_report
    from .from_traces import report_of

    settings = DetectSettings(**detection)
    trace = read_and_report(files, format_name, settings.rule, signal_only=True)
    if by != "job":
        _report_merged_jobs(trace)
    span_ns = trace.span_ns
    trace = _window(trace, since, until)
    if settings.method == "reference" and is_given("frequency") and settings.sampling_frequency_hz is None:
        settings = _as_reference_samples(trace, settings)
    wanted = AnalysisOptions(autocorrelation, strongest or 0, wavelet, all_modes)
    report, own, beside = report_of(files, trace, settings, wanted, span_ns)
    if by is not None:
        grouping = _grouped(trace, settings, by, top or _TOP)
        report = report.model_copy(update={"analysis": report.analysis.model_copy(update={"grouping": grouping})})
    if replay:
        report = add_replay(report, trace.batches() if own is None else own, settings, every_s)
    if plot is not None:
        write_picture(plot, report, trace.batches(), settings, every_s, own, beside)
    _print(report, as_json, None if own is None else report.prediction.who)


def _report_merged_jobs(trace: Trace) -> None:
    """Say on standard error that the signal is that of several jobs."""
    jobs = {stream.info.job for stream in trace.streams.values()}
    if len(jobs) > 1:
        click.echo(f"iotide: {len(jobs)} jobs are analysed as one; --by job also reports each alone", err=True)


def _print(report: DetectionReport, as_json: bool, replayed: Who | None) -> None:
    from ...clients.detection.replay_text import print_replay
    from ...clients.detection.text import print_detection

    if as_json:
        click.echo(report.model_dump_json(indent=None if report.analysis.wavelet else 2))
    else:
        print_detection(report, sys.stdout)
        if report.analysis.replay is not None:
            print_replay(report.analysis.replay, sys.stdout, replayed)


def _window(trace: Trace, since: Moment | None, until: Moment | None) -> Trace:
    """Return the requested window of the trace."""
    if since is None and until is None:
        return trace
    first, last = trace.span_ns
    from_ns = first if since is None else since.to_ns(first, trace.wall_clock, "--from")
    to_ns = last if until is None else until.to_ns(first, trace.wall_clock, "--to")
    if since is not None and until is not None and to_ns <= from_ns:
        raise click.UsageError(f"--to {until.text} is not after --from {since.text}")
    cut = trace.within(from_ns, to_ns)
    if not cut.events:
        raise click.UsageError(
            f"no event lies in the window of --from and --to; the trace lasts {(last - first) / 1e9:.6g} s"
            + (f" and starts at Unix time {first / 1e9:.3f}" if trace.wall_clock else "")
        )
    return cut


def _as_reference_samples(trace: Trace, settings: DetectSettings) -> DetectSettings:
    """Set the sampling frequency by the reference's rule."""
    import numpy as np

    from ...analyzers.periodicity.estimators.ftio_reference import automatic_frequency, samples_within
    from ...analyzers.signal.selection import counted_columns
    from ..traces.ordered_columns import OrderedColumns

    columns = (counted_columns(batch, types, settings.mode) for batch, types in trace.batches())
    changes = OrderedColumns(({"at": np.unique(np.concatenate(column[:2]))} for column in columns), "at")
    frequency = automatic_frequency((piece["at"] for piece in changes), samples_within(settings.trace_bins))
    if frequency is None:
        return settings
    return settings.model_copy(update={"sampling_frequency_hz": min(frequency, 1e6)})


def _grouped(trace: Trace, settings: DetectSettings, by: GroupKind, top: int) -> Grouping:
    from ...analyzers.offline.per_group_results import analyse_groups
    from ..common.console.progress import step_progress
    from ..traces.ordered_columns import OrderedColumns

    keys, names = trace.keys(by)
    if not any(names):
        raise click.UsageError(f"--by {by}: {_UNKNOWN[by]}")
    shown = [name or f"({by} not known)" for name in names]
    with step_progress(f"analysing by {by}") as progress:
        return analyse_groups(trace.batches(), keys, shown, settings, by, top, progress, OrderedColumns)
