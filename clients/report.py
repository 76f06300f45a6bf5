"""The report that a run leaves behind: one HTML page with its pictures inside, and the same as JSON."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from ..events.losses import loss_lines
from ..events.models import Prediction, RunSummary, SignalSeries
from .headline import NO_LINE, further_rhythms, headline_of, other_text, weight_text
from .lines import prediction_line
from .report_charts import history_chart, signal_chart
from .templating import page_template
from .units import clock_text, mapped_text, not_counted_text

REPORT_NAME = "report.html"


def write_report(folder: Path, summary: RunSummary, history: Sequence[Prediction], signal: SignalSeries) -> Path:
    """Writes ``report.html``, ``summary.json``, ``predictions.jsonl`` and ``signal.json`` into a private folder.

    Returns:
        The page's path.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(folder / "summary.json", summary.model_dump_json(indent=2) + "\n")
    _write(folder / "predictions.jsonl", "".join(row.model_dump_json() + "\n" for row in history))
    _write(folder / "signal.json", signal.model_dump_json() + "\n")
    pictures = {}
    if any(signal.read) or any(signal.written):
        pictures["signal"] = signal_chart(signal, summary.prediction)
    if any(row.period_s is not None for row in history):
        pictures["history"] = history_chart(history)
    page = folder / REPORT_NAME
    _write(page, render_page(summary, history, pictures))
    return page


def _write(path: Path, text: str) -> None:
    """Writes a file wholly or not at all: one that was cut off for want of room would look like a report."""
    written = path.with_name(f".{path.name}.part")
    try:
        written.write_text(text)
        written.replace(path)
    except OSError:
        written.unlink(missing_ok=True)
        raise


def render_page(summary: RunSummary, history: Sequence[Prediction], pictures: dict[str, str]) -> str:
    """Renders the page; ``pictures`` maps a name to SVG that we drew (inserted as it is), all else is escaped."""
    template = page_template(
        "report.html",
        clock=clock_text,
        line=prediction_line,
        other=other_text,
        not_counted=not_counted_text,
        mapped=mapped_text,
        losses=loss_lines,
        weight=lambda row: weight_text(summary.prediction, row),
    )
    return template.render(
        summary=summary,
        job=summary.job,
        prediction=summary.prediction,
        command=shlex.join(summary.command),
        history=history,
        pictures=pictures,
        told=headline_of(summary.prediction),
        further=further_rhythms(summary.prediction),
        no_line=NO_LINE,
        nothing=_nothing(summary),
    )


def _nothing(summary: RunSummary) -> str:
    """Says why there is no signal to draw."""
    if not summary.job.events:
        return "no call was seen"
    left = not_counted_text(summary.job.not_counted)
    return "no byte that counts was read or written" + (f" ({left})" if left else "")
