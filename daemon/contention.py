"""Periodic detection of contention between jobs, within a bounded share of a core."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..analyzers.contention.settings import ContentionSettings
from .background_tasks import wait_for_first
from .jobs.job_summary import summary_of
from .jobs.losses.failures import AnalysisFailedError
from .listeners import Listeners

if TYPE_CHECKING:
    from ..analyzers.contention.alerts import Alerts
    from ..analyzers.contention.loads import JobView
    from ..analyzers.interaction.settings import InteractionSettings
    from ..analyzers.interaction.tables import Tables
    from ..results.alerts import Alert, AlertList
    from ..results.contention import Contention
    from ..results.interaction import Ranking
    from ..results.jobs.file_systems import JobFileSystems
    from ..results.jobs.job import JobSummary
    from ..results.prediction import Prediction
    from .aggregator import Aggregator
    from .jobs.session import JobSession
    from .notify.notifier import Notifier
    from .notify.notify_settings import NotifySettings
    from .state.alert_file import AlertFile, StoredAlerts

ANALYSES: Final = "contention_looks"
FAILURES: Final = "contention_failures"
_RETRY_S: Final = 10.0
"""Time between attempts to write alerts to a failing disk, s."""
LEFT_OUT: Final = "contention_results_left_out"
ALERTS: Final = "contention_alerts:"
"""Prefix of state and kind of an alert."""
RESOLVED: Final = 100
_MIN_SPAN_S: Final = 5.0  # least span of an examined job
_SLICE_S: Final = 0.005
RANK_SHARE: Final = 0.01  # of a core, for ranking jobs by shared files
MAX_RANKED: Final = 32
_CONFIRMING: Final = 0.4  # time to the next detection while a collision needs another one, in intervals
_ALERT_EXPIRY_S: Final = 240.0  # Alertmanager resolves an alert after four missed repetitions, one minute each
_log = logging.getLogger(__name__)


class ContentionWatch:
    """Computes a ``Contention`` of all jobs every interval, in a thread. Results of jobs are copied in slices before.

    Args:
        aggregator: aggregator of the jobs.
        settings: interval and thresholds.

    Attributes:
        latest: the latest result; None before the first one.
        seconds: CPU time of all detections.
        on_alerts: listeners of raised and resolved alerts.
        notifier: sends alerts over HTTP; None without receivers.
    """

    def __init__(self, aggregator: Aggregator, settings: ContentionSettings) -> None:
        self.latest: Contention | None = None
        self.seconds = 0.0
        self._aggregator = aggregator
        self._settings = settings
        self._analysis_lock = asyncio.Lock()
        self._alerts: Alerts | None = None
        self._resolved: deque[Alert] = deque(maxlen=RESOLVED)
        self.on_alerts: Listeners[Alert] = Listeners(aggregator.counters)
        self.notifier: Notifier | None = None
        self._file: AlertFile | None = None
        self._ranking: Ranking | None = None
        self._rank_at_s = 0.0
        self._to_write = asyncio.Event()
        self._renotified = asyncio.Event()
        self._is_sending = False

    def notify(self, settings: NotifySettings, origin: Callable[[], str]) -> None:
        """Set the receivers of alerts; they replace the previous ones. Alerts are sent while ``send`` runs.

        Args:
            settings: the receivers. Pending alerts for a kept receiver stay pending; a new one gets the raised alerts.
            origin: returns the address of the aggregator.
        """
        from .notify.notifier import Notifier

        before = self.notifier
        self.notifier = Notifier(
            settings, lambda: self.raised, self._aggregator.clock, origin, self._aggregator.counters
        )
        self.notifier.on_answered = self._to_write.set
        if before is None:
            self.on_alerts.add("notify", self.notifier.alert)
        else:
            self.on_alerts.replace("notify", self.notifier.alert)
            self.notifier.resume(before.waiting())
        if self._is_sending:
            self.notifier.send_to_new(set() if before is None else {each.digest for each in before.receivers})
        self._renotified.set()

    def project_of(self, culprit: str) -> str:
        """Return the project of a job that is not in this process, as far as findings have it; "" without one."""
        return ""

    async def send(self) -> None:
        """Send alerts to the current receivers over HTTP, until cancelled."""
        self._is_sending = True
        while True:
            self._renotified.clear()
            tasks = [asyncio.create_task(self._renotified.wait())]
            if self.notifier is not None and self.notifier.receivers:
                tasks.append(asyncio.create_task(self.notifier.run()))  # type: ignore[arg-type]
            await wait_for_first(tasks)

    def restore_alerts(self, folder: Path) -> None:
        """Continue the alerts stored in a folder, and store alerts there while ``write`` runs.

        If the aggregator was stopped for so long that receivers consider its alerts resolved, they are resolved.
        """
        from .state.alert_file import AlertFile

        self._file = AlertFile(folder, self._aggregator.counters)
        self._resume(*self._file.read(self._aggregator.clock()))

    def _resume(self, kept: StoredAlerts, age_s: float) -> None:
        from ..analyzers.contention.alerts import Alerts

        now_s = self._aggregator.clock()
        if self.notifier is not None:
            self.notifier.resume(kept.waiting)
        self._resolved.extend(kept.resolved)
        if age_s <= max(self._settings.alerts.quiet_s, _ALERT_EXPIRY_S):
            self._alerts = Alerts(self._settings.alerts)
            self._alerts.resume(kept.raised, now_s)
            return
        for alert in kept.raised:
            self._notify(alert.model_copy(update={"state": "resolved", "changed_at_s": now_s}))

    async def write(self) -> None:
        """Store the alerts in the folder until cancelled."""
        while self._file is not None:
            await self._to_write.wait()
            self._to_write.clear()
            if not await asyncio.to_thread(self._file.write, self._stored_alerts()):
                await asyncio.sleep(_RETRY_S)
                self._to_write.set()

    def finish(self) -> None:
        """Store the alerts now."""
        if self._file is not None:
            self._file.write(self._stored_alerts())

    def _stored_alerts(self) -> StoredAlerts:
        from .state.alert_file import StoredAlerts

        waiting = {} if self.notifier is None else self.notifier.waiting()
        return StoredAlerts(raised=self.raised, resolved=list(self._resolved), waiting=waiting)

    @property
    def interval_s(self) -> float:
        """Time until the next detection, s. It is shorter while a measured collision needs another observation."""
        is_confirming = self._alerts is not None and self._alerts.is_confirming
        return self._settings.interval_s * (_CONFIRMING if is_confirming else 1.0)

    async def run(self) -> None:
        """Detect contention until cancelled."""
        while True:
            before = self.seconds
            await asyncio.sleep(self.interval_s)
            if self._needs_analysis():
                try:
                    await self.analyze()
                except Exception:
                    self._aggregator.counters[FAILURES] += 1
                    _log.exception("contention between jobs cannot be analyzed")
            await asyncio.sleep((self.seconds - before) * (1 / self._settings.share - 1))

    async def current(self) -> Contention:
        """Return the latest result, or compute the first one."""
        return self.latest or await self.analyze()

    async def analyze(self) -> Contention:
        """Detect contention now."""
        async with self._analysis_lock:
            begun = time.thread_time()
            now_s = self._aggregator.clock()
            copied = await self._copy_results(now_s)
            self.seconds += time.thread_time() - begun
            shared = await self._shared_files() if len(copied) > 1 and time.monotonic() >= self._rank_at_s else None

            def read() -> tuple[list[JobView], list[SharedUse] | None]:
                return [view_of(each) for each in copied], shared

            found = await asyncio.to_thread(self._analyze_results, read, now_s)
            for alert in self.observe(found):
                self._notify(alert)
            self.latest = found.model_copy(update={"alerts": self.raised})
            if self.raised:
                self._to_write.set()
            return self.latest

    def _analyze_results(
        self, read: Callable[[], tuple[list[JobView], list[SharedUse] | None]], now_s: float
    ) -> Contention:
        """Analyze the results that ``read`` returns, and rank jobs if it returns their files. Runs in a thread."""
        from ..analyzers.contention.report import contention_of  # which few commands need

        start = time.thread_time()
        try:
            views, shared = read()
            if shared is not None:
                begun = time.thread_time()
                self._ranking = _ranked(shared, self._aggregator.settings.rank)
                self._rank_at_s = time.monotonic() + (time.thread_time() - begun) / RANK_SHARE
            return contention_of(views, self._settings, now_s, self._ranking)
        finally:
            self.seconds += time.thread_time() - start

    def observe(self, found: Contention) -> list[Alert]:
        """Add a result, and return the alerts that it raises or resolves."""
        from ..analyzers.contention.alerts import Alerts

        self._aggregator.counters[ANALYSES] += 1
        self._alerts = self._alerts or Alerts(self._settings.alerts)
        return self._alerts.update(found)

    def _notify(self, alert: Alert) -> None:
        self._aggregator.counters[f"{ALERTS}{alert.state}:{alert.kind}"] += 1
        _log.warning("alert %s: %s", alert.state, alert.summary)
        if alert.state == "resolved":
            self._resolved.append(alert)
        self.on_alerts.notify(alert.key, partial(_identity, alert))
        self._to_write.set()

    @property
    def is_analyzing(self) -> bool:
        """Whether this aggregator analyzes contention; in a cluster, one partition's process does."""
        return True

    @property
    def raised(self) -> list[Alert]:
        """Return the raised alerts, oldest first."""
        return self._alerts.raised if self._alerts else []

    def alerts(self) -> AlertList:
        """Return the raised alerts, and the latest resolved ones."""
        from ..results.alerts import AlertList

        return AlertList(raised=self.raised, resolved=list(self._resolved))

    def _needs_analysis(self) -> bool:
        return self.latest is not None or bool(self.raised) or any(map(_has_phases, self._aggregator.jobs.awake))

    async def _shared_files(self) -> list[SharedUse]:
        from .jobs.interference import shared_files

        latest = sorted(filter(_has_phases, self._aggregator.jobs.awake), key=lambda session: -session.heard_at_s)
        shared: list[SharedUse] = []
        for session in latest[:MAX_RANKED]:
            shared += shared_files([session])
            await asyncio.sleep(0)
        return shared

    async def _copy_results(self, now_s: float) -> list[CopiedResults]:
        sessions = sorted(self._aggregator.jobs.awake, key=lambda session: -session.heard_at_s)
        copied: list[CopiedResults] = []
        paused_s = time.monotonic()
        for session in sessions:
            if len(copied) > self._settings.max_jobs:
                break
            if (one := copy_results(session, now_s)) is not None:
                copied.append(one)
            if time.monotonic() - paused_s > _SLICE_S:
                await asyncio.sleep(0)
                paused_s = time.monotonic()
        return copied


def _ranked(shared: list[SharedUse], settings: InteractionSettings) -> Ranking:
    from ..analyzers.pipeline.job_interactions import rank_jobs

    return rank_jobs(shared, settings)


def _identity(alert: Alert) -> Alert:
    return alert


SharedUse = tuple[str, "Tables", Sequence[str]]
"""Use of files by one job."""
CopiedResults = tuple["JobSummary", Callable[[], "JobFileSystems"], "Prediction | None"]
"""Results of a job; phases as a function that computes them."""


def _has_phases(session: JobSession) -> bool:
    return session.span_s >= _MIN_SPAN_S and not session.own_clock


def copy_results(session: JobSession, now_s: float) -> CopiedResults | None:
    """Copy the results of a job; None if it has none that count."""
    if not _has_phases(session):
        return None
    try:
        analyzer = session.analyzers.reporting_analyzer("filesystems")
        if analyzer is None:
            return None
        with session.failures.guard_query("filesystems"):
            use = analyzer.deferred_result()
    except AnalysisFailedError:
        return None
    return summary_of(session, now_s), use, session.prediction  # type: ignore[return-value]


def view_of(copied: CopiedResults) -> JobView:
    """Return the results as input of the detection; callable in any thread."""
    from ..analyzers.contention.loads import JobView

    summary, use, prediction = copied
    return JobView(summary, use(), prediction)
