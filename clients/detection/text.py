"""Text output of ``iotide detect``."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final, TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...events.counted_text import counted
from ...results.base import Estimate
from ...results.prediction import ModeName, Prediction
from ...results.traces.analysis import (
    Analysis,
    AutocorrelationAnswer,
    DetectionReport,
    Grouping,
    Reconstruction,
    Validity,
    WaveletView,
)
from ..text.headline import (
    NO_PERIOD_NOTE,
    course_texts,
    further_period_text,
    interval_text,
    make_headline,
    members_text,
    other_periods,
    stamps_text,
    weight_text,
)
from ..text.prediction_text import io_share_text
from ..text.tables import file_list, number_table, plain_name, print_table
from ..text.units import byte_text, duration_text, mapped_text, not_counted_text, rate_text

_MAX_STRETCHES: Final = 4
_MIN_ERROR: Final = 5e-7
_DUE: Final = 0.01  # periods
_NUMBERS_WIDTH: Final = 57
_MIN_NAME: Final = 20
_FILE_WIDTH: Final = 110  # columns without a terminal
_NOTHING: Final[dict[ModeName, str]] = {
    "read": "nothing that counts was read",
    "write": "nothing that counts was written",
    "both": "nothing that counts was read or written",
}
_SHADES: Final = " .:-=+*#%@"
_ROWS, _COLUMNS = 16, 64
_LABEL: Final = 12


def print_detection(report: DetectionReport, stream: TextIO) -> None:
    """Print a summary of the input, the period, its evidence, and the requested analyses.

    Times count from the trace's start, like those of ``--from`` and ``--to``.
    """
    console = Console(file=stream, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _FILE_WIDTH)
    console.print(
        f"[bold]{file_list(report.files)}[/bold]  {report.source}, {counted(report.events, 'events')}, "
        f"{byte_text(report.bytes_read)} read, {byte_text(report.bytes_written)} written",
        soft_wrap=True,
    )
    if left := not_counted_text(report.not_counted):
        console.print(f"{left} (--count files or everything counts it)", soft_wrap=True)
    if mapped := mapped_text(report.not_counted):
        console.print(mapped, soft_wrap=True)
    analysis = report.analysis
    by_way = {"read": report.bytes_read, "write": report.bytes_written}
    moved = by_way.get(report.prediction.mode, sum(by_way.values()))
    console.print(_fact_table(report.prediction, analysis, report.start_s, moved), soft_wrap=True)
    if report.prediction.dominant:
        print_table(console, _frequencies(report.prediction))
        if not make_headline(report.prediction).found:
            console.print(NO_PERIOD_NOTE, soft_wrap=True)
    _print_analyses(console, report)
    if report.problems_total:
        console.print(f"left out: {counted(report.problems_total, 'malformed pieces of input')} (see standard error)")


def _print_analyses(console: Console, report: DetectionReport) -> None:
    """Print the requested analyses beside that of the period."""
    analysis = report.analysis
    if analysis.modes:
        print_table(console, _mode_table(analysis.modes))
    if analysis.reconstruction:
        print_table(console, _wave_table(analysis.reconstruction))
    if analysis.grouping:
        print_table(console, _groups(analysis.grouping, console.width))
        if analysis.grouping.left_out:
            console.print(f"{analysis.grouping.left_out} more with {byte_text(analysis.grouping.bytes_left_out)}")
    if analysis.wavelet:
        period = report.prediction.period_s
        console.print()
        for line in power_map(analysis.wavelet, report.start_s, None if period is None else period.value):
            console.print(line, markup=False, soft_wrap=True)


def validity_text(validity: Validity, start_s: float) -> str:
    """Return when a period was present, in seconds since ``start_s``: "12.0-88.3 s"."""
    if not validity.stretches:
        return "nowhere clearly"
    shown = validity.stretches[:_MAX_STRETCHES]
    digits = _digits(validity.stretches[-1].end_s - validity.stretches[0].start_s)
    spans = ", ".join(_span_text(max(row.start_s - start_s, 0.0), row.end_s - start_s, digits) for row in shown)
    more = len(validity.stretches) - len(shown)
    rest = f" and {more} more" if more else ""
    return f"{spans} s{rest}  ({validity.share:.0%} of the window)"


def _digits(length_s: float) -> int:
    """Return the number of decimals that resolve a hundredth of a length."""
    return min(max(2 - math.floor(math.log10(length_s)), 1), 9) if length_s > 0 else 1


def _span_text(first_s: float, last_s: float, digits: int) -> str:
    return f"{round(first_s, digits) + 0.0:.{digits}f}-{last_s:.{digits}f}"


def _fact_table(prediction: Prediction, analysis: Analysis, start_s: float, moved: int) -> Table:
    facts = Table.grid(padding=(0, 2))
    window = prediction.window
    # bins may begin up to one bin before the first event
    span = _span_text(
        max(window.start_s - start_s, 0.0), window.end_s - start_s, _digits(window.end_s - window.start_s)
    )
    facts.add_row(
        "window",
        f"{span} s, {window.samples} samples at "
        f"{prediction.sampling_frequency_hz:.4g} Hz, mode {prediction.mode}, method {prediction.method}",
    )
    if prediction.abstraction_error >= _MIN_ERROR:
        facts.add_row("", f"sampling misses {prediction.abstraction_error:.2%} of the volume (abstraction error)")
    for row in (*_period_rows(prediction, moved), *_further_period_rows(prediction, analysis, start_s)):
        facts.add_row(*row)
    for row in (*_score_rows(prediction), *_next_phase_rows(prediction)):
        facts.add_row(*row)
    if analysis.autocorrelation:
        facts.add_row("autocorrelation", _autocorrelation_text(analysis.autocorrelation))
    return facts


def _period_rows(prediction: Prediction, moved: int) -> Iterator[tuple[str, str]]:
    if prediction.period_s is None:
        yield "[bold]period[/bold]", f"[bold]{make_headline(prediction).period}[/bold]"
        if not moved:
            yield "", f"{_NOTHING[prediction.mode]}, so there is no signal to look at"
        return
    yield "[bold]period[/bold]", f"[bold]{_estimate_text(prediction.period_s)}[/bold]"
    if not prediction.periodic:
        yield "", "not clearly periodic: the mean time between phases, which are irregular or too few"
    yield "confidence", f"{prediction.confidence:.1%}"
    for text in course_texts(prediction):
        yield "", text
    if prediction.who is not None:
        yield "whose", f"{escape(members_text(prediction.who))}, {prediction.who.share:.0%} of the bytes"


def _further_period_rows(prediction: Prediction, analysis: Analysis, start_s: float) -> Iterator[tuple[str, str]]:
    if prediction.stamp_s:
        yield "", stamps_text(prediction)
    for number, other in enumerate(other_periods(prediction)):
        yield "" if number else "also", escape(further_period_text(other, start_s))
    if analysis.validity:
        yield "valid", validity_text(analysis.validity, start_s)


def _score_rows(prediction: Prediction) -> Iterator[tuple[str, str]]:
    scores = prediction.scores
    if scores is None:
        return
    sigmas = f"sigma_vol {scores.sigma_vol:.3f}, sigma_time {scores.sigma_time:.3f}"
    yield "periodicity", f"{scores.periodicity:.2f}  ({sigmas})"
    yield "I/O", f"{io_share_text(prediction)}, {byte_text(scores.bytes_per_phase)} per phase"
    yield "bursts", f"{duration_text(scores.burst_width_s)} wide, duty cycle {scores.duty_cycle:.0%}"


def _next_phase_rows(prediction: Prediction) -> Iterator[tuple[str, str]]:
    phase = prediction.next_phase
    if phase is None:
        return
    when = _after_end(phase.start_s.value - prediction.window.end_s, prediction.period_s)
    size = f"{byte_text(phase.volume_bytes.value)} in {duration_text(phase.duration_s.value)}"
    yield "next phase", f"{when}, {size}, {phase.confidence:.0%} sure to a fifth of a period"
    if prediction.shifts is not None and (shift := prediction.shifts.next_start_s) is not None:
        when = _after_end(shift.value - prediction.window.end_s, prediction.period_s)
        yield "next shift", f"{when}{interval_text(_since(shift, prediction.window.end_s))}"


def _after_end(seconds: float, period: Estimate | None) -> str:
    if period is not None and abs(seconds) < _DUE * period.value:
        return "due at the end"
    return f"{duration_text(seconds)} after the end"


def _since(estimate: Estimate, start_s: float) -> Estimate:
    low, value, high = (max(at - start_s, 0.0) for at in (estimate.low, estimate.value, estimate.high))
    return Estimate(value=value, low=low, high=high)


def _autocorrelation_text(answer: AutocorrelationAnswer) -> str:
    if answer.period_s is None:
        return f"no period from {len(answer.peaks_s)} peaks"
    left_out = f", {len(answer.outliers_s)} outlying" if answer.outliers_s else ""
    merged = "; merged above" if answer.merged else ""
    peaks = f"{len(answer.peaks_s)} peaks{left_out}{merged}"
    return f"{answer.period_s:.5g} s, confidence {answer.confidence:.1%}, from {peaks}"


def _frequencies(prediction: Prediction) -> Table:
    table = number_table("lines of the spectrum", "frequency", "period", "amplitude", "Z-score", "weight")
    for row in prediction.dominant:
        table.add_row(
            f"{row.frequency_hz:.5g} Hz",
            duration_text(row.period_s),
            rate_text(row.amplitude),
            f"{row.z_score:.2f}",
            weight_text(prediction, row),
        )
    return table


def _mode_table(modes: Sequence[Prediction]) -> Table:
    table = number_table("by mode", "mode", "period", "confidence", "periodicity", "a phase", "bursts")
    for row in modes:
        table.add_row(row.mode, *_summary(row))
    return table


def _wave_table(model: Reconstruction) -> Table:
    title = (
        f"signal = {rate_text(model.mean)} + strongest waves, amplitude cos(2 pi frequency t + phase);\n"
        f"t from the window's start; {model.relative_residual:.1%} of the standard deviation is left"
    )
    table = number_table(title, "frequency", "period", "amplitude", "phase", "share of variance")
    for wave in model.waves:
        table.add_row(
            f"{wave.frequency_hz:.5g} Hz",
            duration_text(wave.period_s),
            rate_text(wave.amplitude),
            f"{wave.phase_rad:+.3f} rad",
            f"{wave.share:.1%}",
        )
    return table


def _groups(grouping: Grouping, width: int) -> Table:
    table = number_table(f"by {grouping.by}", "read", "written", "period", "confidence", "a phase", grouping.by)
    table.columns[-1].justify = "left"
    room = max(width - _NUMBERS_WIDTH, _MIN_NAME)
    for row in grouping.groups:
        cells = ["too few", "", ""]
        if row.prediction is not None:
            period, confidence, _, volume, _ = _summary(row.prediction)
            cells = [period, confidence, volume]
        # the end of a path is more informative than its beginning
        name = row.name if len(row.name) <= room else f"...{row.name[3 - room :]}"
        table.add_row(byte_text(row.bytes_read), byte_text(row.bytes_written), *cells, plain_name(name))
    return table


def _summary(prediction: Prediction) -> tuple[str, str, str, str, str]:
    """Return period, confidence, periodicity, volume and width of a phase."""
    if prediction.period_s is None:
        return make_headline(prediction).period, "", "", "", ""
    scores = prediction.scores
    return (
        f"{prediction.period_s.value:.5g} s",
        f"{prediction.confidence:.1%}",
        "" if scores is None else f"{scores.periodicity:.2f}",
        "" if scores is None else byte_text(scores.bytes_per_phase),
        "" if scores is None else duration_text(scores.burst_width_s),
    )


def _estimate_text(estimate: Estimate) -> str:
    if estimate.low == estimate.high:
        return f"{estimate.value:.5g} s"
    # enough digits that the ends of the interval differ
    digits = max(4, 1 + math.ceil(math.log10(estimate.high / (estimate.high - estimate.low))))
    return f"{estimate.value:.5g} s  ({estimate.low:.{digits}g} to {estimate.high:.{digits}g})"


def power_map(view: WaveletView, start_s: float, period_s: float | None) -> Iterator[str]:
    """Draw the map with one line per period, long periods first. It is darker where the amplitude is higher.

    The reported period is marked. Cells affected by the window's edges are blank.

    Args:
        view: the power.
        start_s: zero of the displayed times.
        period_s: the reported period.
    """
    yield "power over time and period (what the edges of the window touch is left out)"
    rows, columns = min(_ROWS, len(view.periods_s)), min(_COLUMNS, len(view.times_s))
    cells = [[_cell(view, rows, row, columns, column) for column in range(columns)] for row in range(rows)]
    highest = max((power for line in cells for power in line if power is not None), default=0.0)
    marked = None if period_s is None else _row_of(view, rows, period_s)
    for row in reversed(range(rows)):
        drawn = "".join(_shade(power, highest) for power in cells[row])
        label = duration_text(math.sqrt(view.periods_s[_edge(view, rows, row)] * _longest_period(view, rows, row)))
        yield f"{label:>{_LABEL}} |{drawn}|{'  <- period' if row == marked else ''}"
    first, last = f"{view.times_s[0] - start_s:.1f} s", f"{view.times_s[-1] - start_s:.1f} s"
    yield f"{'':{_LABEL}}  {first}{last:>{max(columns - len(first), 0)}}"


def _edge(view: WaveletView, rows: int, row: int) -> int:
    return row * len(view.periods_s) // rows


def _longest_period(view: WaveletView, rows: int, row: int) -> float:
    return view.periods_s[_edge(view, rows, row + 1) - 1]


def _row_of(view: WaveletView, rows: int, period_s: float) -> int | None:
    if not view.periods_s[0] <= period_s <= view.periods_s[-1]:
        return None
    return max(row for row in range(rows) if view.periods_s[_edge(view, rows, row)] <= period_s)


def _cell(view: WaveletView, rows: int, row: int, columns: int, column: int) -> float | None:
    """Return the highest time-averaged power of a cell's periods. Return None outside of the cone of influence."""
    periods = range(_edge(view, rows, row), _edge(view, rows, row + 1))
    first, stop = column * len(view.times_s) // columns, (column + 1) * len(view.times_s) // columns
    if view.periods_s[periods.start] > max(view.cone_s[first:stop]):
        return None
    return max(sum(view.power[period][first:stop]) / (stop - first) for period in periods)


def _shade(power: float | None, highest: float) -> str:
    if power is None or highest <= 0:
        return " "
    return _SHADES[min(int(math.sqrt(power / highest) * len(_SHADES)), len(_SHADES) - 1)]
