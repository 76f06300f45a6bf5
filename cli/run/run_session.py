"""Observation of the command of ``iotide run``. An aggregator in this process is fed by the collecting process."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...clients.terminal.live_view import LiveView, open_view
from ...clients.text.advice_text import first_line, io_time_line, moved_line
from ...clients.text.headline import further_period_text, further_periods
from ...clients.text.job_sentence import job_sentence
from ...clients.text.prediction_text import prediction_line
from ...clients.text.units import byte_text, duration_text, mapped_text, not_counted_text
from ...collectors.sources.preload.relay import RelayedSource
from ...daemon.jobs.job_summary import detail_of
from ...daemon.jobs.losses.failures import AnalysisFailedError
from ...daemon.jobs.session import JobSession
from ...daemon.server import Server
from ...events.counted_text import counted
from ...events.files import readable, write_text
from ...events.losses import EVENTS, UNSEEN_NODES, loss_lines
from ...events.network.job_addresses import job_path
from ...results.jobs.job import JobDetail, SignalSeries
from ...results.jobs.run import RunSummary, UnseenProgram
from .background_loop import loop_in_thread
from .burst_deferral import BurstDeferral
from .launch import shell_status
from .low_priority import LowPriority
from .messages import print_message
from .run_feed import MAX_DEFERRAL_S, Feed
from .run_plan import RunPlan
from .run_settings import aggregator_settings, settings_of
from .unread_calls import keep_or_remove, release_when_archived

if TYPE_CHECKING:
    from ...clients.pages.live_pages import LivePages
    from ...results.advice import Advice
    from .nodes.collectors import NodeCollectors

_REPORT_AFTER_S: Final = 1.0
_REPORT_EVERY_S: Final = 5.0
_VIEW_S: Final = 0.2
_VIEW_IDLE_S: Final = 1.0
_VIEW_WINDOW_S: Final = 120.0
_RATE_S: Final = 1.0
_UNSEEN_SHOWN: Final = 10


@contextlib.contextmanager
def open_session(plan: RunPlan, source: RelayedSource) -> Iterator[Session]:
    """Yield the session that observes a command; ``source`` already collects.

    Raises:
        ConfigError: an endpoint cannot be used.
    """
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        entry = None if plan.entry is None else plan.entry.access
        server = Server(aggregator_settings(plan), _pages(plan), embedded=True, entry=entry)
        loop.run_until_complete(server.start())
        _print_ports(plan, server)
        session = Session(plan, source, server, loop)
        try:
            yield session
        finally:
            session.close()
            loop.run_until_complete(server.stop())


class Session:
    """Feeds the collected data to an aggregator, displays it, and summarises it.

    Args:
        plan: arguments of the run.
        source: source of the collected data.
        server: started server.
        loop: event loop that only runs here.
    """

    def __init__(self, plan: RunPlan, source: RelayedSource, server: Server, loop: asyncio.AbstractEventLoop) -> None:
        self._plan = plan
        self._source = source
        self._server = server
        self._loop = loop
        holding_back = BurstDeferral(plan.spool, MAX_DEFERRAL_S)
        self._feed = Feed(
            source, server.sink, server.stats, socket.gethostname(), holding_back, plan.ends_at_s, plan.batch
        )
        self._feed.on_items = server.pause.wake
        self.nodes: NodeCollectors | None = None
        """Collectors of other nodes, which ``finish`` ends."""
        self._view: LiveView | None = None
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def endpoint(self) -> str:
        """Endpoint for collectors of other nodes; "" if there is none."""
        return self._server.ingest_endpoint

    @contextlib.contextmanager
    def process_in_thread(self, low_priority: LowPriority) -> Iterator[None]:
        """Process data in a low-priority thread for the duration of the block. The command runs in the block."""
        self._view = open_view(sys.stderr, quiet=self._plan.quiet)
        self._server.aggregator.on_prediction(self._view.show_prediction, "terminal")
        work = (_update_view(self._view, self._server, self._plan.job), self._feed.run(), self._server.run())
        self._tasks = [self._loop.create_task(each) for each in work]
        if self._server.archives is not None:
            letting_go = release_when_archived(self._source, self._server.archives, self._plan.job)
            self._tasks.append(self._loop.create_task(letting_go))
        with loop_in_thread(self._loop, self._feed.pressure, low_priority):
            try:
                yield
            finally:
                self._view.end()

    def finish(self, lasted: tuple[float, float], returncode: int) -> None:
        """Read the remaining data, then print and write the results; failures are reported."""
        try:
            showing, feeding, *_ = self._tasks
            self._loop.run_until_complete(_stop(showing))
            if self.nodes is not None:
                self._loop.run_until_complete(_end(self.nodes, self._feed, self._plan.job))
            self._loop.run_until_complete(_catch_up(self._plan, self._source, self._feed, feeding))
            if self._view is not None:
                self._view.close()
            self._summarize(lasted, returncode)
        except Exception as error:
            print_message(f"the run could not be summarized: {error!r:.500}")

    def close(self) -> None:
        """End everything that is still running."""
        for task in self._tasks:
            self._loop.run_until_complete(_stop(task))
        if self._view is not None:
            self._view.close()

    def _summarize(self, lasted: tuple[float, float], returncode: int) -> None:
        session = _end_job(self._plan, self._server, lasted[0])
        archive = self._server.archives.finish(self._plan.job) if self._server.archives is not None else None
        keep_or_remove(self._source, self._server.archives, archive, print_message)
        unseen = [*self._source.untraced, *([] if self.nodes is None else self.nodes.unseen)]
        _finish(self._plan, session, lasted, returncode, archive, unseen)
        _print_untraced(unseen)
        if self._source.counters["processes_refused"]:
            for problem in dict.fromkeys(each.problem for each in self._source.problems.first[:_UNSEEN_SHOWN]):
                print_message(f"refused: {problem}")


async def _end(nodes: NodeCollectors, feed: Feed, job: str) -> None:
    """Receive the remaining data of collectors on other nodes. Also receive the number of incomplete nodes."""
    if missing := await asyncio.to_thread(nodes.end):
        feed.add_losses(job, {UNSEEN_NODES: missing})


async def _catch_up(plan: RunPlan, source: RelayedSource, feed: Feed, feeding: asyncio.Task[None]) -> None:
    """Read the command's backlog, and report progress if it takes long. A keyboard interrupt ends it."""
    source.finish()
    feed.stop_buffering()
    loop = asyncio.get_running_loop()
    # Not add_signal_handler: its removal sets Python's default for a moment, in which Ctrl-C would cost the report.
    before = signal.signal(signal.SIGINT, lambda *_: loop.call_soon_threadsafe(feed.cancel))
    try:
        wait_s = _REPORT_AFTER_S
        while not (await asyncio.wait([feeding], timeout=wait_s))[0]:
            if not plan.quiet:
                to_go = f", about {counted(waiting, 'calls')} to go" if (waiting := source.waiting_calls) else ""
                print_message(f"reading on{to_go} (Ctrl-C leaves the rest out)")
            wait_s = _REPORT_EVERY_S
    finally:
        signal.signal(signal.SIGINT, before)
    if (error := feeding.exception()) is not None:
        print_message(f"reading stopped: {error!r}")
    if left := source.waiting_calls:
        feed.add_losses(plan.job, {f"{EVENTS}left_unread": left})


def _end_job(plan: RunPlan, server: Server, started: float) -> JobSession:
    """End the job, with a prediction from the whole run. A command without observed calls gets an empty job."""
    server.aggregator.end_job(plan.job)
    if (session := server.aggregator.jobs.get(plan.job)) is None:
        session = JobSession(plan.job, settings_of(plan), started)
        server.aggregator.move_losses_to(session)
    return session


def _finish(
    plan: RunPlan,
    session: JobSession,
    lasted: tuple[float, float],
    returncode: int,
    archive: Path | None,
    unseen: list[UnseenProgram],
) -> None:
    started, ended = lasted
    detail = detail_of(session, ended)
    report = plan.output.resolve() / "report.html" if plan.output is not None else None
    summary = RunSummary(
        command=[readable(word) for word in plan.command],
        started_at_s=started,
        ended_at_s=ended,
        exit_status=shell_status(returncode),
        job=detail,
        prediction=session.prediction,
        predictions=session.predictions,
        report=None if report is None else readable(report),
        archive=None if archive is None else readable(archive),
        unseen=[*_untraced_command(plan), *unseen],
    )
    if plan.json_file is not None:
        with _report_failure(f"cannot write {plan.json_file}"):
            write_text(plan.json_file, summary.model_dump_json(indent=2) + "\n")
    written, advice = False, None
    if plan.output is not None:
        with _report_failure(f"cannot write the report to {plan.output}"):
            # imported when it is written: its templates take time to import
            from ...clients.report.report import write_report
            from ...daemon.jobs.job_findings import findings_of

            findings = findings_of(session, ranking=False, run_s=ended - started)()
            advice = findings.advice
            write_report(plan.output, summary, list(session.history), _signal(session), findings)
            written = True
    if not plan.quiet:
        _print_summary(summary, report if written else None, advice or _advice_of(session, ended - started), archive)
    _print_losses(detail.losses)
    if mapped := mapped_text(detail.not_counted):
        print_message(mapped)


def _advice_of(session: JobSession, run_s: float) -> Advice | None:
    """Return the advice; None if that analysis failed, which the summary reports, or without calls."""
    if not session.analyzers.events:
        return None
    from ...daemon.jobs.job_findings import frozen_advice

    try:
        make = frozen_advice(session, run_s)
        return None if make is None else make()
    except AnalysisFailedError:
        return None


def _print_summary(summary: RunSummary, report: Path | None, advice: Advice | None, archive: Path | None) -> None:
    """Print the summary of a run. It has I/O time by member, moved data, period, advice, and missing data."""
    job = summary.job
    took = duration_text(summary.ended_at_s - summary.started_at_s)
    print_message(
        f"{took}, {counted(job.events, 'calls')}"
        f", {byte_text(job.bytes_read)} read, {byte_text(job.bytes_written)} written"
        + (f", {counted(job.events_dropped, 'calls')} dropped" if job.events_dropped else "")
    )
    if left := not_counted_text(job.not_counted):
        print_message(f"{left} (--count files or everything counts it)")
    for failure in job.failures:
        print_message(f"the analysis {failure.analysis} failed, and its results are missing: {failure.reason}")
    _print_results(summary, advice)
    if not (job.losses or summary.unseen):  # losses are reported below, one per line
        complete = "" if job.not_counted.any_mapped else "complete: "
        print_message(f"{complete}no call was lost, no program was left untraced")
    if report is not None:
        print_message(f"report: {report}")
    if archive is not None and job.events:
        _print_archive(archive, job)


def _print_results(summary: RunSummary, advice: Advice | None) -> None:
    """Print I/O time, moved data and periods of a run, and the advice."""
    job = summary.job
    partial = bool(job.losses or summary.unseen or job.not_counted.any_mapped)
    if advice is not None:
        print_message(io_time_line(advice))
        print_message(moved_line(advice, partial=partial))
    if (prediction := summary.prediction) is not None:
        print_message(
            f"whole run: {prediction_line(prediction.model_copy(update={'next_phase': None}), with_job=False)}"
        )
        for other in further_periods(prediction):
            print_message(f"whole run: {further_period_text(other, prediction.window.start_s)}")
    if advice is not None:
        print_message(first_line(advice, partial=partial))
        if short := job_sentence(advice, summary.prediction, partial=partial):
            print_message(f"in short: {short}")


def _print_archive(archive: Path, job: JobDetail) -> None:
    """Print how many calls of a job its archive has, and its size."""
    size = archive.stat().st_size
    missing = sum(count for reason, count in job.losses.items() if reason.startswith("events_not_archived:"))
    archived = max(job.events - missing, 0)
    calls = f"{archived:,} of {job.events:,} calls" if missing else "every call"
    per_call = f", {size / archived:.1f} bytes a call" if archived else ""
    print_message(f"{calls}: {archive} ({byte_text(size)}{per_call})")


def _print_ports(plan: RunPlan, server: Server) -> None:
    """Print the ports that the system chose. They are printed also if quiet, as they are not known otherwise."""
    if plan.web and server.http_url:
        print_message(f"live page: {server.http_url}/jobs/{job_path(plan.job)}")
    asked = ((plan.listen if not plan.web else None, server.http_url), (plan.publish, server.publish_endpoint))
    if chosen := [is_at for wanted, is_at in asked if is_at and wanted and wanted.endswith((":0", ":*"))]:
        print_message(f"listening at {', '.join(chosen)}")


def _untraced_command(plan: RunPlan) -> list[UnseenProgram]:
    """Return the command if it cannot be traced, as reported at its start."""
    if plan.obstacle is None:
        return []
    return [UnseenProgram(program=readable(plan.obstacle.program), reason=plan.obstacle.reason, times=1)]


def _print_losses(losses: Mapping[str, int]) -> None:
    """Print the losses, also if quiet, as the results are then incomplete."""
    for line in loss_lines(losses):
        print_message(f"lost: {line}")


def _print_untraced(unseen: Sequence[UnseenProgram]) -> None:
    """Print the untraced programs, also if quiet.

    The message on the command itself at its start is printed then, too.
    """
    for row in unseen[:_UNSEEN_SHOWN]:
        often = "" if row.times == 1 else f" ({row.times:,} times)"
        print_message(f"not seen: {row.program or 'another program'}{often}, which {row.reason}")
    if len(unseen) > _UNSEEN_SHOWN:
        print_message(f"not seen: {len(unseen) - _UNSEEN_SHOWN:,} further programs")


def _pages(plan: RunPlan) -> LivePages | None:
    if plan.listen is None:
        return None
    from ...clients.pages.live_pages import LivePages  # it draws, and takes time to import

    return LivePages()


async def _update_view(view: LiveView, server: Server, job: str) -> None:
    shown = -1
    while view.is_animated:
        session, now = server.aggregator.jobs.get(job), time.time()
        seen = 0 if session is None else session.analyzers.events
        if session is None:
            view.tick(now, 0, 0.0, [])
        else:
            recent = _signal(session, _VIEW_WINDOW_S, until_s=now)
            bandwidth = [read + written for read, written in zip(recent.read, recent.written, strict=True)]
            latest = bandwidth[-max(round(_RATE_S / recent.bin_s), 1) :]
            rate = sum(latest) / max(len(latest), 1)
            view.tick(now, session.bytes_read + session.bytes_written, rate, bandwidth)
        await asyncio.sleep(_VIEW_S if seen != shown else _VIEW_IDLE_S)
        shown = seen


def _signal(session: JobSession, last_s: float | None = None, until_s: float = 0.0) -> SignalSeries:
    """Return the bandwidth over time; empty if that analysis failed."""
    try:
        return session.signal(last_s, until_s)
    except AnalysisFailedError:
        return SignalSeries(job=session.job, start_s=session.first_ns or 0, bin_s=1.0, read=[], written=[])


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        print_message(f"{error!r}")


@contextlib.contextmanager
def _report_failure(what: str) -> Iterator[None]:
    """Report a failure and continue: it must not change the command's exit status."""
    try:
        yield
    except OSError as error:
        print_message(f"{what}: {error.strerror or error}")
