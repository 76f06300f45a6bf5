"""The period in a report: bandwidth with phases, convergence of the prediction, further periods, candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ....results.prediction import Prediction
from ...text.headline import NO_PERIOD_NOTE, Headline, further_period_text, further_periods, weight_text
from ...text.prediction_text import prediction_line
from ...text.units import byte_text, clock_text, duration_text, not_counted_text, rate_text
from ..job_data import JobData
from ..markup import Lines, bullets, heading, paragraph, picture, sentence, table


def periodicity(
    subject: JobData, headline: Headline, history: Sequence[Prediction], pictures: Mapping[str, str]
) -> Lines:
    """Yield the bandwidth, the expected next phase, and the development of the confidence."""
    yield heading(f"Bandwidth{', and the period found in it' if headline.found else ''}")
    yield picture(pictures.get("signal"), _nothing(subject))
    yield from _next_phase(subject.prediction)
    if drawn := pictures.get("history"):
        yield heading("How the prediction settled" if headline.found else "What was predicted meanwhile")
        yield picture(drawn, "")
    yield from _further(subject.prediction)
    yield from _frequencies(subject.prediction, headline)


def predictions(history: Sequence[Prediction]) -> Lines:
    """Yield all stored predictions in a folded section."""
    if not history:
        return
    yield f"<details><summary>All {len(history):,} predictions that were kept</summary>"
    yield f"<pre>{escape(''.join(prediction_line(row) + chr(10) for row in history))}</pre></details>"


def _nothing(subject: JobData) -> str:
    """Return why there is no signal to draw."""
    if not subject.job.events:
        return "no call was seen"
    left = not_counted_text(subject.job.not_counted)
    return "no byte that counts was read or written" + (f" ({left})" if left else "")


def _next_phase(prediction: Prediction | None) -> Lines:
    if prediction is None or prediction.period_s is None or (phase := prediction.next_phase) is None:
        return
    start = phase.start_s
    yield paragraph(
        f"The next phase is expected at {clock_text(start.value)} ({clock_text(start.low)} to "
        f"{clock_text(start.high)}, {phase.confidence:.0%} sure): {byte_text(phase.volume_bytes.value)} in "
        f"{duration_text(phase.duration_s.value)}."
    )


def _further(prediction: Prediction | None) -> Lines:
    if prediction is not None and (further := further_periods(prediction)):
        yield heading("Further periods")
        yield from bullets(escape(further_period_text(row, prediction.window.start_s)) for row in further)


def _frequencies(prediction: Prediction | None, headline: Headline) -> Lines:
    if prediction is None or not prediction.dominant:
        return
    yield "<details><summary>Strongest frequencies of the spectrum</summary>"
    heads = ("Frequency", "Period", "Amplitude", "Z-score", "Weight")
    rows = (
        (
            f"{row.frequency_hz:.4g} Hz",
            duration_text(row.period_s),
            rate_text(row.amplitude),
            f"{row.z_score:.1f}",
            weight_text(prediction, row),
        )
        for row in prediction.dominant
    )
    yield from table(heads, rows)
    if not headline.found:
        yield paragraph(f"{sentence(NO_PERIOD_NOTE)}.", soft=True)
    yield "</details>"
