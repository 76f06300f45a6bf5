"""The page of a run's report. Made without a template, whose library would take longer than short commands."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Final

from ...events.losses import loss_lines
from ...results.models import Prediction, RunSummary, UnseenProgram
from ..headline import NO_LINE, Headline, further_rhythms, headline_of, other_text, weight_text
from ..lines import prediction_line
from ..units import byte_text, clock_text, duration_text, mapped_text, not_counted_text, rate_text

_MOST_UNSEEN: Final = 20
_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>iotide: %s</title>
<style>
  :root { color-scheme: light; --ink: #1b2733; --soft: #5c6b7a; --line: #dde4ea; --tide: #0b6e99; }
  body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); }
  body { max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
  h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
  code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
  .soft { color: var(--soft); }
  .facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem; margin: 1.5rem 0; }
  .fact { border-top: 3px solid var(--tide); padding-top: .4rem; }
  .fact b { display: block; font-size: 1.4rem; font-weight: 600; }
  .picture svg { width: 100%%; height: auto; }
  table { border-collapse: collapse; width: 100%%; font-size: .9rem; }
  th, td { text-align: right; padding: .25rem .6rem; border-bottom: 1px solid var(--line); }
  th, td { font-variant-numeric: tabular-nums; }
  th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
  details pre { overflow-x: auto; font-size: .8rem; }
</style>
</head>
<body>
"""
_TAIL: Final = """<p class="soft">The same as data: <a href="summary.json">summary.json</a>, \
<a href="predictions.jsonl">predictions.jsonl</a>,
<a href="signal.json">signal.json</a>.</p>
</body>
</html>
"""


def render_page(summary: RunSummary, history: Sequence[Prediction], pictures: Mapping[str, str]) -> str:
    """Renders the page; ``pictures`` maps a name to SVG that we drew (inserted as it is), all else is escaped."""
    told = headline_of(summary.prediction)
    parts = (
        [_HEAD % escape(summary.job.job)],
        _title(summary),
        _facts(summary, told),
        _left_out(summary),
        _lost(summary),
        _unseen(summary.unseen),
        _pictures(summary, told, history, pictures),
        _further(summary.prediction),
        _frequencies(summary.prediction, told),
        _files(summary),
        _calls(summary),
        _predictions(history),
        [_TAIL],
    )
    return "\n".join(line for part in parts for line in part)


def _title(summary: RunSummary) -> Iterator[str]:
    yield f"<h1>{escape(summary.job.job)}</h1>"
    yield f'<p class="soft"><code>{escape(shlex.join(summary.command))}</code><br>'
    yield f"{clock_text(summary.started_at_s)} to {clock_text(summary.ended_at_s)},"
    yield f"{duration_text(summary.ended_at_s - summary.started_at_s)}; exit status {summary.exit_status}</p>"


def _facts(summary: RunSummary, told: Headline) -> Iterator[str]:
    job, prediction = summary.job, summary.prediction
    yield '<div class="facts">'
    yield _fact("Period", told.period, "; ".join(told.notes))
    yield _fact("Confidence", told.confidence, f"{summary.predictions} predictions")
    yield _fact("Written", byte_text(job.bytes_written))
    yield _fact("Read", byte_text(job.bytes_read))
    yield _fact("I/O calls", f"{job.events:,}", f"{job.events_dropped:,} dropped")
    if prediction is not None and (scores := prediction.scores) is not None:
        share = f"I/O {scores.time_ratio * 100:.0f} % of the time at {rate_text(scores.bandwidth)}"
        yield _fact("Bytes per phase", byte_text(scores.bytes_per_phase), share)
    yield "</div>"


def _fact(what: str, value: str, note: str = "") -> str:
    soft = f' <span class="soft">{escape(note)}</span>' if note else ""
    return f'  <div class="fact">{what} <b>{escape(value)}</b>{soft}</div>'


def _left_out(summary: RunSummary) -> Iterator[str]:
    if left := not_counted_text(summary.job.not_counted):
        yield f'<p class="soft">{escape(_sentence(left))}.\n  What counts is the program\'s data.</p>'
    if stores := mapped_text(summary.job.not_counted):
        yield f'<p class="soft">{escape(_sentence(stores))}.</p>'


def _lost(summary: RunSummary) -> Iterator[str]:
    if summary.job.losses:
        yield "<p>Lost on the way, and missing here:</p>"
        yield from _list(escape(line) for line in loss_lines(summary.job.losses))


def _unseen(rows: Sequence[UnseenProgram]) -> Iterator[str]:
    if not rows:
        return
    lines = []
    for row in rows[:_MOST_UNSEEN]:
        often = f" ({row.times:,} times)" if row.times > 1 else ""
        lines.append(f"{_code(row.program or 'another program')}{often},\n    which {escape(row.reason)}")
    if (more := len(rows) - _MOST_UNSEEN) > 0:
        lines.append(f"{more:,} further programs")
    yield "<p>Not seen, and missing here:</p>"
    yield from _list(lines)


def _pictures(
    summary: RunSummary, told: Headline, history: Sequence[Prediction], pictures: Mapping[str, str]
) -> Iterator[str]:
    yield f"<h2>Bandwidth{', and the rhythm found in it' if told.found else ''}</h2>"
    yield _picture(pictures.get("signal"), _nothing(summary))
    yield f"<h2>{'How the prediction settled' if told.found else 'What was predicted meanwhile'}</h2>"
    nothing = "no period was found at any time" if history else "no prediction was made"
    yield _picture(pictures.get("history"), nothing)


def _picture(picture: str | None, nothing: str) -> str:
    if picture is None:
        return f"<p>No picture: {escape(nothing)}.</p>"
    return f'<div class="picture">{picture}</div>'


def _nothing(summary: RunSummary) -> str:
    """Says why there is no signal to draw."""
    if not summary.job.events:
        return "no call was seen"
    left = not_counted_text(summary.job.not_counted)
    return "no byte that counts was read or written" + (f" ({left})" if left else "")


def _further(prediction: Prediction | None) -> Iterator[str]:
    if prediction is not None and (further := further_rhythms(prediction)):
        yield "<h2>Further rhythms</h2>"
        yield from _list(escape(other_text(row, prediction.window.start_s)) for row in further)


def _frequencies(prediction: Prediction | None, told: Headline) -> Iterator[str]:
    if prediction is None or not prediction.dominant:
        return
    yield "<h2>Strongest frequencies</h2>"
    heads = ("Frequency", "Period", "Amplitude", "Z-score", "Weight")
    yield from _table(
        heads,
        (
            (
                f"{row.frequency_hz:.4g} Hz",
                duration_text(row.period_s),
                rate_text(row.amplitude),
                f"{row.z_score:.1f}",
                weight_text(prediction, row),
            )
            for row in prediction.dominant
        ),
        escape,
    )
    if not told.found:
        yield f'<p class="soft">{escape(_sentence(NO_LINE))}.</p>'


def _files(summary: RunSummary) -> Iterator[str]:
    yield "<h2>Largest files</h2>"
    heads = ("File", "Calls", "Read", "Written", "Time")
    yield from _table(
        heads,
        (
            (
                row.path,
                f"{row.calls:,}",
                byte_text(row.bytes_read),
                byte_text(row.bytes_written),
                duration_text(row.seconds),
            )
            for row in summary.job.files
        ),
        _code,
    )


def _calls(summary: RunSummary) -> Iterator[str]:
    yield "<h2>Calls</h2>"
    heads = ("Call", "Layer", "Calls", "Failed", "Moved", "Time")
    yield from _table(
        heads,
        (
            (
                row.call,
                row.layer,
                f"{row.calls:,}",
                f"{row.failed:,}",
                byte_text(row.bytes),
                duration_text(row.seconds),
            )
            for row in summary.job.calls
        ),
        _code,
    )


def _predictions(history: Sequence[Prediction]) -> Iterator[str]:
    yield f"<details><summary>All {len(history)} predictions that were kept</summary>"
    yield f"<pre>{escape(''.join(prediction_line(row) + chr(10) for row in history))}</pre></details>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], first: Callable[[str], str]) -> Iterator[str]:
    """Yields a table; ``first`` escapes what stands in its first column."""
    yield "<table>"
    yield f"  <tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>"
    empty = True
    for lead, *others in rows:
        empty = False
        yield f"  <tr><td>{first(lead)}</td>{''.join(f'<td>{escape(text)}</td>' for text in others)}</tr>"
    if empty:
        yield f'  <tr><td colspan="{len(heads)}" class="soft">none</td></tr>'
    yield "</table>"


def _list(lines: Iterable[str]) -> Iterator[str]:
    """Yields a list of lines that are escaped already."""
    yield "<ul>"
    for line in lines:
        yield f"  <li>{line}</li>"
    yield "</ul>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
