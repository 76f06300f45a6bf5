"""One result per job: lines, status area, report, page and JSON of a session are consistent."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from iotide.clients.detection.text import print_detection
from iotide.clients.report.report import write_report
from iotide.clients.terminal.area_view import AreaView
from iotide.clients.text.headline import make_headline
from iotide.clients.text.prediction_text import prediction_line
from iotide.clients.text.units import duration_text
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, EventBatch, FileInfo, Kind, StreamInfo, concatenate, make_batch
from iotide.events.losses import BYTES, EVENTS
from iotide.results.jobs.run import RunSummary
from iotide.results.traces.analysis import DetectionReport

ZERO_S = 1_700_000_000.0
FILES = Definitions([(1, "write")], [(1, FileInfo("/scratch/out")), (2, FileInfo("/usr/lib/python3.11/os.py"))])


def phases(first_s: float, count: int, period_s: float, volume: int = 1_000_000, file: int = 1) -> EventBatch:
    start = np.rint((ZERO_S + first_s + period_s * np.arange(count)) * 1e9).astype(np.int64)
    kind = Kind.WRITE if file == 1 else Kind.READ
    return make_batch(count, {"start": start, "duration": 5 * 10**7, "bytes": volume, "kind": kind, "file": file})


def at_random(count: int, until_s: float) -> EventBatch:
    random = np.random.default_rng(5)
    moments = np.sort(random.uniform(0, until_s, count))
    parts = [phases(moment, 1, 1.0, int(random.lognormal(12, 2))) for moment in moments.tolist()]
    return concatenate(parts)


@dataclass(frozen=True, slots=True)
class Session:
    """Events of a job, its duration, and its losses."""

    events: Callable[[], EventBatch]
    lasts_s: float
    lost: int = 0


SESSIONS = {
    "nothing": Session(lambda: phases(0, 0, 1.0), 5),
    "one event": Session(lambda: phases(0, 1, 1.0), 5),
    "imports alone": Session(lambda: phases(0, 30, 0.05, file=2), 5),
    "no period": Session(lambda: at_random(11, 40), 40),
    "one periodicity": Session(lambda: phases(0, 20, 2.0), 40),
    "a guess": Session(lambda: phases(0, 2, 3.0), 6),
    "incomplete": Session(lambda: phases(0, 20, 2.0), 40, lost=10**9),
    "two periods": Session(lambda: concatenate([phases(0, 10, 4.0, 10**8), phases(1.5, 80, 0.5, 10**5)]), 40),
    "changed": Session(lambda: concatenate([phases(0, 12, 2.0), phases(24, 24, 0.7)]), 41),
    "ended": Session(lambda: phases(0, 24, 0.583), 120),
    "ended in a burst": Session(lambda: concatenate([phases(0, 12, 0.26, 10**5), phases(11.5, 8, 0.05, 10**8)]), 13),
    "ended in disorder": Session(lambda: concatenate([phases(0, 24, 0.583), phases(20, 1, 1.0, 10**10)]), 60),
}


@dataclass(frozen=True, slots=True)
class Told:
    """Result of a session, and all texts about it."""

    summary: RunSummary
    line: str
    area: str
    page: str
    detection: str
    job: JobSession


def followed(session: Session, folder: Path) -> Told:
    job = JobSession("job", AggregatorSettings(), ZERO_S)
    job.open_stream("s", StreamInfo(job="job", source="test"), ZERO_S)
    events, fresh = session.events(), FILES
    end_s = events.end / 1e9 if len(events) else np.zeros(0)
    for second in range(1, int(session.lasts_s) + 1):
        now_s = ZERO_S + second
        batch = events.select((end_s <= now_s) & (end_s > now_s - 1))
        job.update("s", batch, fresh, now_s)
        fresh = Definitions()
        job.predict(now_s)
    if session.lost:
        job.add_losses({EVENTS + "test": 10**6, BYTES + "test": session.lost}, now_s)
    prediction = job.predict(now_s, whole=True)
    summary = RunSummary(
        command=["job"],
        started_at_s=ZERO_S,
        ended_at_s=now_s,
        exit_status=0,
        job=detail_of(job, now_s),
        prediction=prediction,
        predictions=job.predictions,
        report=None,
    )
    page = write_report(folder / "report", summary, list(job.history), job.signal())
    view = AreaView.__new__(AreaView)  # the lines of the status area, without a terminal
    view._prediction = prediction
    detection = io.StringIO()
    if prediction is not None:
        row = summary.job
        report = DetectionReport(
            files=["job"], source="test", events=row.events, bytes_read=row.bytes_read, bytes_written=row.bytes_written,
            start_s=ZERO_S, end_s=now_s, prediction=prediction, problems=[], problems_total=0,
            not_counted=row.not_counted,
        )  # fmt: skip
        print_detection(report, detection)
    text = re.sub(
        r"\s+", " ", html.unescape(re.sub(r"<(style|svg).*?</\1>|<[^>]*>", " ", page.read_text(), flags=re.DOTALL))
    )
    line = prediction_line(prediction) if prediction is not None else ""
    return Told(summary, line, view._periodicity().plain, text, detection.getvalue(), job)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Told]:
    return {name: followed(each, tmp_path_factory.mktemp("session")) for name, each in SESSIONS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", SESSIONS)
def test_texts_and_pages_agree_with_the_prediction(told: dict[str, Told], name: str) -> None:
    each = told[name]
    prediction, headline = each.summary.prediction, make_headline(each.summary.prediction)
    front = each.page.split("Written")[0]
    assert f"Period {headline.period}" in front
    assert f"Confidence {headline.confidence}" in front
    if prediction is None:
        assert "no period" in front
        return
    period = prediction.period_s
    assert headline.found == (period is not None)
    texts = [each.line, each.area, *([each.detection] if not prediction.incomplete else [])]
    if period is None:
        assert prediction.confidence == 0
        assert all("confidence" not in text for text in texts), texts
        assert all(headline.period in text for text in texts), texts
    else:
        assert all(f"confidence {prediction.confidence:.0%}" in text for text in texts[:2])
        assert all(duration_text(period.value) in text for text in texts[:2])
        assert ("perhaps" in each.line) == ("perhaps" in each.area) == (not prediction.periodic)
        assert (
            ("not clearly periodic" in front) == ("not clearly periodic" in each.detection) == (not prediction.periodic)
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", SESSIONS)
def test_a_period_that_was_sure_meanwhile_is_not_denied_at_the_end(told: dict[str, Told], name: str) -> None:
    each = told[name]
    prediction = each.summary.prediction
    sure = [row for row in each.job.history if row.period_s is not None and row.confidence >= 0.95]
    if prediction is None or prediction.incomplete or not sure:
        return
    periods = [] if prediction.period_s is None else [prediction.period_s.value]
    periods += [row.period_s.value for row in prediction.others]
    last = sure[-1].period_s
    assert last is not None
    assert any(value == pytest.approx(last.value, rel=0.15) for value in periods)
    if prediction.period_s is None:
        for text in (each.line, each.area, each.page.split("Written")[0]):
            assert "before, from" in text


@pytest.mark.parametrize("name", SESSIONS)
def test_no_picture_is_empty_and_missing_parts_are_reported(told: dict[str, Told], name: str) -> None:
    each = told[name]
    moved = each.summary.job.bytes_read + each.summary.job.bytes_written
    assert ("no call was seen" in each.page) == (not each.summary.job.events)
    assert ("no byte that counts" in each.page) == (each.summary.job.events > 0 and not moved)
    found = any(row.period_s is not None for row in each.job.history)
    if each.job.predictions and not found:
        assert "no period" in each.page
        assert "What was predicted meanwhile" not in each.page
        assert "How the prediction settled" not in each.page


@pytest.mark.parametrize("name", SESSIONS)
def test_no_line_of_the_spectrum_contradicts_the_answer(told: dict[str, Told], name: str) -> None:
    each = told[name]
    prediction = each.summary.prediction
    if prediction is None or not prediction.dominant:
        return
    denied = "none of these lines is a period" in each.page.lower()
    assert denied == ("none of these lines is a period" in each.detection.lower()) == (prediction.period_s is None)
    assert "Z-score Weight" in each.page


def test_phases_before_a_long_pause_and_a_large_burst_are_told(told: dict[str, Told]) -> None:
    each = told["ended in a burst"].summary.prediction
    assert each is not None
    assert [row.period_s.value for row in each.others] == [pytest.approx(0.26, rel=0.02)]
