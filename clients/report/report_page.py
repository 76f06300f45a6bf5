"""The page of a report; its sections follow the order of a reader's questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Final

from ...results.findings import Findings
from ...results.jobs.ledger import JobLedger
from ...results.prediction import Prediction
from .job_data import JobData
from .markup import Lines
from .sections import inside_job as inside
from .sections.advice_section import advice_part
from .sections.completeness import completeness_part, ledger_part
from .sections.overview import calls_of, facts, headline, overview_part, short, title
from .sections.periodicity import periodicity, predicted_phases_part, predictions

_HEAD: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>iotide: %s</title>
<style>
%s</style>
</head>
<body>
<main>
"""
_DATA: Final = """<p class="soft">The same as data: <a href="summary.json">summary.json</a>, \
<a href="predictions.jsonl">predictions.jsonl</a>,
<a href="signal.json">signal.json</a>.</p>
"""
_TAIL: Final = """</main>
</body>
</html>
"""


def render_page(
    subject: JobData, history: Sequence[Prediction], pictures: Mapping[str, str], findings: Findings
) -> str:
    """Render the page; ``pictures`` maps a name to SVG (inserted unescaped), everything else is escaped."""
    parts = [_HEAD % (escape(subject.job.title), style()), *body(subject, history, pictures, findings)]
    parts += [_DATA] if subject.is_run else []
    return "\n".join([*parts, _TAIL])


def body(
    subject: JobData,
    history: Sequence[Prediction],
    pictures: Mapping[str, str],
    findings: Findings,
    ledger: JobLedger | None = None,
) -> Lines:
    """Yield the content of the page, one section per question. With the ledger for a running job."""
    answer = headline(subject)
    yield from title(subject)
    yield from short(subject, findings.advice)
    yield from facts(subject, answer, findings)
    yield from overview_part(subject, findings)
    layer_findings = [] if findings.layers is None else findings.layers.findings
    yield from advice_part(subject, findings.advice, layer_findings)
    yield from periodicity(subject, answer, history, pictures)
    yield from predicted_phases_part(history, findings.file_systems)
    yield from completeness_part(subject, calls_of(subject, findings))
    yield from ledger_part(ledger)
    for section in inside.SECTIONS:
        yield from section(subject, findings)
    yield from predictions(history)


@cache
def style() -> str:
    """Return the style sheet of reports."""
    return Path(__file__).with_name("report.css").read_text(encoding="utf-8")
