"""The answer of ``iotide detect``, for people."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..events.analysis import DetectionReport
from ..events.models import Estimate, Prediction
from .units import byte_text, duration_text, rate_text


def print_detection(report: DetectionReport, stream: TextIO) -> None:
    """Prints what was read, the period, what supports it, and the strongest frequencies."""
    console = Console(file=stream, highlight=False)
    names = report.files[0] if len(report.files) == 1 else f"{report.files[0]} and {len(report.files) - 1} more"
    console.print(
        f"[bold]{escape(names)}[/bold]  {report.source}, {report.events:,} events, "
        f"{byte_text(report.bytes_read)} read, {byte_text(report.bytes_written)} written",
        soft_wrap=True,
    )
    _print_rhythm(report.prediction, console)
    if report.prediction.dominant:
        console.print(_frequencies(report.prediction))
    if report.problems_total:
        console.print(f"{report.problems_total} malformed pieces of input were left out (see standard error)")


def _print_rhythm(prediction: Prediction, console: Console) -> None:
    facts = Table.grid(padding=(0, 2))
    window = prediction.window
    facts.add_row(
        "window",
        f"{duration_text(window.end_s - window.start_s)}, {window.samples} samples at "
        f"{prediction.sampling_frequency_hz:g} Hz, mode {prediction.mode}, method {prediction.method}",
    )
    if prediction.period_s is None:
        facts.add_row("[bold]period[/bold]", "[bold]none found[/bold]")
    else:
        facts.add_row("[bold]period[/bold]", f"[bold]{_with_interval(prediction.period_s)}[/bold]")
        facts.add_row("confidence", f"{prediction.confidence:.1%}")
    if scores := prediction.scores:
        facts.add_row(
            "periodicity",
            f"{scores.periodicity:.2f}  (sigma_vol {scores.sigma_vol:.3f}, sigma_time {scores.sigma_time:.3f})",
        )
        facts.add_row(
            "I/O",
            f"{scores.time_ratio:.0%} of the time at {rate_text(scores.bandwidth)}, "
            f"{byte_text(scores.bytes_per_phase)} a phase",
        )
    if phase := prediction.next_phase:
        facts.add_row(
            "next phase",
            f"{duration_text(phase.start_s.value - window.end_s)} after the end, "
            f"{byte_text(phase.volume_bytes.value)} in {duration_text(phase.duration_s.value)}",
        )
    console.print(facts)


def _frequencies(prediction: Prediction) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), title="strongest frequencies", title_justify="left")
    for heading in ("frequency", "period", "amplitude", "Z-score", "confidence"):
        table.add_column(heading, justify="right")
    for row in prediction.dominant:
        table.add_row(
            f"{row.frequency_hz:.5g} Hz",
            duration_text(row.period_s),
            rate_text(row.amplitude),
            f"{row.z_score:.2f}",
            f"{row.confidence:.1%}",
        )
    return table


def _with_interval(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return f"{estimate.value:.5g} s"
    return f"{estimate.value:.5g} s  ({estimate.low:.4g} to {estimate.high:.4g})"
