"""Contention in a cluster. Each partition publishes its jobs' results, and one process analyzes all of them."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from nats.errors import Error as NatsError

from ....analyzers.contention.loads import JobView
from ....analyzers.contention.report import contention_of
from ....events import ConfigError, ProtocolError
from ....results.alerts import Alert
from ....results.contention import Contention
from ...background_tasks import cancel_all, wait_for_first
from ...contention import FAILURES, LEFT_OUT, MAX_RANKED, RANK_SHARE, RESOLVED, ContentionWatch, view_of
from ...jobs.encoding.shared_files import SharedFiles, encode_shared
from ...journal.jetstream.lease_holder import LeaseHolder
from ...journal.jetstream.link import NatsLink
from ...journal.jetstream.readiness import error_text, retry_until_ready
from ...state.alert_file import StoredAlerts
from ..partitions import Partition
from .exchange import Exchange, ReplacedError
from .results import ClusterFindings, is_repeated, messages_of, pack_job, projects_of_culprits, results_of

if TYPE_CHECKING:
    from ...aggregator import Aggregator
    from ...journal.jetstream.stream_journal import StreamJournal
    from ...settings import AggregatorSettings

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_FILES_SHARE: Final = 8
"""The files of one job may take ``cluster.results_bytes`` divided by this."""


class ClusterContention(ContentionWatch):
    """Contention analysis of a cluster, in the process of one partition.

    The process that has the lease analyzes the results of all partitions; the other ones only publish results.

    Args:
        aggregator: aggregator of the partition's jobs.
        settings: settings of the aggregator.
        partition: partition that this process serves.
        journal: returns the partition's journal; None until the process has opened it.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        settings: AggregatorSettings,
        partition: Partition,
        journal: Callable[[], StreamJournal | None],
    ) -> None:
        super().__init__(aggregator, settings.contention)
        self._journal, self._results_bytes = settings.journal, settings.cluster.results_bytes
        self._partition, self._get_journal = partition, journal
        self._exchange: Exchange | None = None
        self._lease: LeaseHolder | None = None
        self._lease_acquired, self._lease_lost = asyncio.Event(), asyncio.Event()
        self._latest_findings: ClusterFindings | None = None
        self._sequence = 0
        self._observed: dict[int, float] = {}
        self._observed_at_s = 0.0
        self._has_changes = False
        self._files: dict[str, bytes] = {}
        self._files_at_s = 0.0
        self._is_empty = False
        self._is_away = False

    # ---- queries ----

    @property
    def is_analyzing(self) -> bool:
        """Whether this process has the lease."""
        return self._lease_acquired.is_set()

    @property
    def raised(self) -> list[Alert]:
        """Return the raised alerts of the cluster, oldest first."""
        if self.is_analyzing and self._alerts is not None:
            return self._alerts.raised
        return [] if self._latest_findings is None else self._latest_findings.kept.raised

    async def current(self) -> Contention:
        """Return the latest findings of the cluster's analyzer; empty ones before its first analysis."""
        return self.latest or contention_of((), self._settings, self._aggregator.clock())

    def project_of(self, culprit: str) -> str:
        """Return the project of a culprit of any partition, vouched for by its nodes; "" without one."""
        return "" if self._latest_findings is None else self._latest_findings.projects.get(culprit, "")

    # ---- tasks of the server ----

    async def run(self) -> None:
        """Publish results, and analyze those of all partitions while this process has the lease."""
        await self._open()
        candidate = asyncio.create_task(self._compete_for_lease())
        try:
            while True:
                before = self.seconds
                await asyncio.sleep(self.interval_s)
                if candidate.done():
                    candidate.result()
                await self._run_once()
                await asyncio.sleep((self.seconds - before) * (1 / self._settings.share - 1))
        finally:
            await cancel_all([candidate])
            self._clear_lease()
            await asyncio.to_thread(self.finish)  # a lease that is renewed and not used would stop the analysis

    async def send(self) -> None:
        """Send alerts over HTTP while this process has the lease."""
        while True:
            await self._lease_acquired.wait()
            await wait_for_first([asyncio.create_task(super().send()), asyncio.create_task(self._lease_lost.wait())])

    def restore_alerts(self, folder: object) -> None:
        """Read the last findings, before the first request. The NATS servers have the alerts."""
        with contextlib.suppress(NatsError, TimeoutError):
            found, _ = self._link.call(self._open_exchange.latest_findings())
            if found is not None:
                self._apply_findings(found, is_last=True)

    async def write(self) -> None:
        """Store at the servers which alerts the receivers have accepted, until cancelled."""
        while True:
            await self._to_write.wait()
            self._to_write.clear()
            if self.is_analyzing and self._latest_findings is not None:
                async with self._analysis_lock:
                    last = self._latest_findings
                    await self._publish(last.contention, last.projects, self._stored_alerts())

    def finish(self) -> None:
        """Return the lease, so that another process continues at once."""
        holding, self._lease = self._lease, None
        if holding is not None:
            holding.release()

    # ---- analysis ----

    async def analyze(self) -> Contention:
        """Analyze the results of all partitions now."""
        async with self._analysis_lock:
            now_s = self._aggregator.clock()
            slots = await self._on_link(self._open_exchange.read())
            most_shared = MAX_RANKED if time.monotonic() >= self._rank_at_s else 0
            projects: dict[str, str] = {}
            made_at_s: dict[int, float] = {}

            def read() -> tuple[list[JobView], list[SharedFiles] | None]:
                results = results_of(slots, now_s, self._settings.max_jobs + 1, most_shared)
                self._aggregator.counters[FAILURES] += results.unread
                projects.update(results.projects)
                made_at_s.update(results.made_at_s)
                return results.views, results.shared if len(results.shared) > 1 else None

            found = await asyncio.to_thread(self._analyze_results, read, now_s)
            if not self.is_analyzing or (self.latest is None and not found.jobs):
                return found
            if self._is_early(now_s) and is_repeated(made_at_s, self._observed):
                return self.latest or found
            self._observed, self._observed_at_s = made_at_s, now_s
            changed = self.observe(found)
            found = found.model_copy(update={"alerts": self.raised})
            culprits = projects_of_culprits(found, projects)
            if await self._publish(found, culprits, self._stored_alerts(changed)):
                for alert in changed:  # after the servers have stored it, so that no successor raises it again
                    self._notify(alert)
            return self.latest or found

    def _is_early(self, now_s: float) -> bool:
        """Whether this analysis only confirms a collision: the same results would confirm themselves."""
        return self.interval_s < self._settings.interval_s and now_s - self._observed_at_s < self._settings.interval_s

    async def _open(self) -> None:
        loop, exchange = asyncio.get_running_loop(), self._open_exchange

        def received(found: ClusterFindings) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._apply_findings, found)

        await self._on_link(retry_until_ready(lambda: exchange.open(received)))

    async def _compete_for_lease(self) -> None:
        """Wait for the lease and continue from its last holder's findings. Repeat when it is lost."""
        loop = asyncio.get_running_loop()
        while True:
            self._lease_lost.clear()

            def lost() -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(self._clear_lease)

            self._lease = await self._on_link(self._open_exchange.acquire_lease(lost))
            self._lease.check()
            while not self._lease_lost.is_set():
                try:
                    await self._resume_findings()
                    break
                except (NatsError, TimeoutError) as error:
                    _log.warning("alerts of the cluster cannot be read: %s; retrying", error_text(error))
                    await asyncio.sleep(1.0)
            if not self._lease_lost.is_set():
                self._lease_acquired.set()
                _log.warning("partition %d analyzes contention for the cluster", self._partition.number)
            await self._lease_lost.wait()

    def _clear_lease(self) -> None:
        self._lease_acquired.clear()
        self._lease_lost.set()
        self._forget()

    def _forget(self) -> None:
        self._alerts = None
        self._resolved.clear()
        if self.notifier is not None:
            self.notifier.clear()

    async def _resume_findings(self) -> None:
        """Continue from the findings published last."""
        found, self._sequence = await self._on_link(self._open_exchange.latest_findings())
        self._forget()
        if found is not None:
            self._apply_findings(found, is_last=True)
            self._resume(found.kept, max(self._aggregator.clock() - found.contention.made_at_s, 0.0))

    async def _run_once(self) -> None:
        try:
            await self._publish_results()
            if self.is_analyzing:
                await self.analyze()
            elif not self._has_changes:
                found, _ = await self._on_link(self._open_exchange.latest_findings())
                if found is not None:
                    self._apply_findings(found, is_last=True)
            self._has_changes = False
            if self._is_away:
                _log.warning("contention of the cluster: the NATS servers answer again")
            self._is_away = False
        except (NatsError, TimeoutError) as error:
            if not self._is_away:
                _log.warning(
                    "contention of the cluster: the NATS servers do not answer: %s; retrying", error_text(error)
                )
            self._is_away = True
        except Exception:
            self._aggregator.counters[FAILURES] += 1
            _log.exception("contention between jobs cannot be analyzed")

    async def _publish_results(self) -> None:
        """Publish the results of this partition's jobs."""
        begun, now_s = time.thread_time(), self._aggregator.clock()
        copied = await self._copy_results(now_s)
        projects = dict(self._aggregator.jobs.projects)
        if not copied and self._is_empty:
            return
        shared = await self._shared_files() if time.monotonic() >= self._files_at_s else None
        limit, most = self._open_exchange.limit, self._results_bytes
        self.seconds += time.thread_time() - begun

        def work() -> tuple[list[bytes], int]:
            start = time.thread_time()
            try:
                if shared is not None:
                    self._files = {each[0]: encode_shared(each) for each in shared}
                    self._files_at_s = time.monotonic() + (time.thread_time() - start) / RANK_SHARE
                files = {job: known for job, known in self._files.items() if len(known) <= most // _FILES_SHARE}
                views = [view_of(each) for each in copied[: self._settings.max_jobs]]
                names = [view.summary.job for view in views]
                jobs = [
                    pack_job(view, files.get(job, b""), projects.get(job, ""))
                    for job, view in zip(names, views, strict=True)
                ]
                return messages_of(jobs, now_s, limit, most)
            finally:
                self.seconds += time.thread_time() - start

        messages, left_out = await asyncio.to_thread(work)
        self._aggregator.counters[LEFT_OUT] += left_out
        await self._on_link(self._open_exchange.put(messages))
        self._is_empty = not copied

    async def _publish(self, found: Contention, projects: dict[str, str], kept: StoredAlerts) -> bool:
        """Publish findings; return False if the lease was lost, or if another process has published."""
        published = ClusterFindings(after=self._sequence, contention=found, kept=kept, projects=projects)
        publishing = asyncio.create_task(self._on_link(self._open_exchange.publish_findings(published)))
        losing = asyncio.create_task(self._lease_lost.wait())
        try:
            await asyncio.wait([publishing, losing], return_when=asyncio.FIRST_COMPLETED)
            if not publishing.done():
                return False
            self._sequence = publishing.result()
        except ReplacedError:
            await self._resume_findings()
            return False
        except ProtocolError as error:  # the other processes keep the last findings; alerts are still sent
            self._aggregator.counters[FAILURES] += 1
            _log.error("contention cannot be published: %s", error)
            return True
        finally:
            publishing.cancel()
            losing.cancel()
        self._latest_findings, self.latest = published, found
        return True

    def _stored_alerts(self, changed: Sequence[Alert] = ()) -> StoredAlerts:
        """Return the alerts for a successor, as they are after ``changed`` has been sent."""
        kept = super()._stored_alerts()
        resolved = [*kept.resolved, *(alert for alert in changed if alert.state == "resolved")][-RESOLVED:]
        waiting = dict(kept.waiting)
        for receiver in self.notifier.receivers if self.notifier is not None and changed else ():
            new = {alert.key: alert for alert in [*waiting.get(receiver.digest, []), *changed]}
            waiting[receiver.digest] = list(new.values())
        return kept.model_copy(update={"resolved": resolved, "waiting": waiting})

    def _apply_findings(self, found: ClusterFindings, *, is_last: bool = False) -> None:
        self._has_changes = True
        if not is_last and self._latest_findings is not None and found.after <= self._latest_findings.after:
            return  # our own, or older findings
        self._latest_findings, self.latest = found, found.contention
        if not self.is_analyzing:
            self._resolved = deque(found.kept.resolved, maxlen=RESOLVED)

    @property
    def _link(self) -> NatsLink:
        journal = self._get_journal()
        if journal is None:
            raise ConfigError("the journal of the partition is not open")
        return journal.link

    @property
    def _open_exchange(self) -> Exchange:
        if self._exchange is None:
            lease_s = max(self._journal.lease_s, self._settings.interval_s)
            place = self._partition.cluster, self._partition.number
            self._exchange = Exchange(self._link, self._journal, *place, lease_s)
        return self._exchange

    async def _on_link(self, work: Coroutine[Any, Any, _T]) -> _T:
        return await asyncio.wrap_future(self._link.begin(work))
