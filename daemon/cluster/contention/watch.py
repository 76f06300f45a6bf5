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
from ....analyzers.contention.settings import ContentionSettings
from ....events import ConfigError, ProtocolError
from ....results.alerts import Alert
from ....results.contention import Contention
from ...background_tasks import until_one_ends
from ...contention import FAILURES, LEFT_OUT, MOST_RANKED, RANK_SHARE, RESOLVED, ContentionWatch, view_of
from ...journal.jetstream.lease_holder import Holding
from ...journal.jetstream.link import NatsLink
from ...journal.jetstream.readiness import reason_of, when_ready
from ...journal.settings import JournalSettings
from ...state.alert_file import KeptAlerts
from ..partitions import Partition
from .exchange import Exchange, ReplacedError
from .results import Found, messages_of, packed, results_of
from .shared_files import SharedFiles, encode_shared

if TYPE_CHECKING:
    from ...aggregator import Aggregator
    from ...journal.jetstream.stream_journal import StreamJournal

_log = logging.getLogger(__name__)
_T = TypeVar("_T")
_FILES_SHARE: Final = 8
"""The files of one job may take ``cluster.results_bytes`` divided by this."""


class ClusterContention(ContentionWatch):
    """Contention analysis of a cluster, in the process of one partition.

    The process that has the lease analyzes the results of all partitions; the other ones only publish results.

    Args:
        aggregator: aggregator of the partition's jobs.
        settings: interval and thresholds.
        partition: partition that this process serves.
        journal: returns the partition's journal; None until the process has opened it.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        settings: ContentionSettings,
        partition: Partition,
        journal: Callable[[], StreamJournal | None],
    ) -> None:
        super().__init__(aggregator, settings)
        self._partition, self._journal_of = partition, journal
        self._exchange: Exchange | None = None
        self._holding: Holding | None = None
        self._held, self._lost = asyncio.Event(), asyncio.Event()
        self._seen: Found | None = None
        self._sequence = 0
        self._has_news = False
        self._files: dict[str, bytes] = {}
        self._files_at_s = 0.0
        self._is_empty = False
        self._is_away = False

    # ---- queries ----

    @property
    def is_analyzing(self) -> bool:
        """Whether this process has the lease."""
        return self._held.is_set()

    @property
    def raised(self) -> list[Alert]:
        """Return the raised alerts of the cluster, oldest first."""
        if self.is_analyzing and self._alerts is not None:
            return self._alerts.raised
        return [] if self._seen is None else self._seen.kept.raised

    async def current(self) -> Contention:
        """Return the latest findings of the cluster's analyzer; empty ones before its first analysis."""
        return self.latest or contention_of((), self._settings, self._aggregator.clock())

    # ---- tasks of the server ----

    async def run(self) -> None:
        """Publish results, and analyze those of all partitions while this process has the lease."""
        await self._open()
        candidate = asyncio.create_task(self._stand())
        try:
            while True:
                before = self.seconds
                await asyncio.sleep(self._settings.interval_s)
                if candidate.done():
                    candidate.result()
                await self._turn()
                await asyncio.sleep((self.seconds - before) * (1 / self._settings.share - 1))
        finally:
            candidate.cancel()
            await asyncio.wait([candidate])
            self._lose()
            await asyncio.to_thread(self.finish)  # a lease that is renewed and not used would stop the analysis

    async def send(self) -> None:
        """Send alerts over HTTP while this process has the lease."""
        while True:
            await self._held.wait()
            await until_one_ends([asyncio.create_task(super().send()), asyncio.create_task(self._lost.wait())])

    def keep(self, folder: object) -> None:
        """Read what was found last, before users ask. The NATS servers keep the alerts, not the folder."""
        with contextlib.suppress(NatsError, TimeoutError):
            found, _ = self._link.call(self._ready.last_found())
            if found is not None:
                self._received(found, is_last=True)

    async def write(self) -> None:
        """Store at the servers which alerts the receivers have accepted, until cancelled."""
        while True:
            await self._to_write.wait()
            self._to_write.clear()
            if self.is_analyzing and self.latest is not None:
                async with self._looking:
                    await self._publish(self.latest, self._kept())

    def finish(self) -> None:
        """Return the lease, so that another process continues at once."""
        holding, self._holding = self._holding, None
        if holding is not None:
            holding.release()

    # ---- analysis ----

    async def look(self) -> Contention:
        """Analyze the results of all partitions now."""
        async with self._looking:
            now_s = self._aggregator.clock()
            slots = await self._asked(self._ready.read())
            most_shared = MOST_RANKED if time.monotonic() >= self._rank_at_s else 0

            def read() -> tuple[list[JobView], list[SharedFiles] | None]:
                results = results_of(slots, now_s, self._settings.max_jobs + 1, most_shared)
                self._aggregator.counters[FAILURES] += results.unread
                return results.views, results.shared if len(results.shared) > 1 else None

            found = await asyncio.to_thread(self._analyzed, read, now_s)
            if not self.is_analyzing or (self.latest is None and not found.jobs):
                return found
            changed = self._followed(found)
            found = found.model_copy(update={"alerts": self.raised})
            if await self._publish(found, self._kept(changed)):
                for alert in changed:  # after the servers have stored it, so that no successor raises it again
                    self._tell(alert)
            return self.latest or found

    async def _open(self) -> None:
        loop, exchange = asyncio.get_running_loop(), self._ready

        def received(found: Found) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._received, found)

        await self._asked(when_ready(lambda: exchange.open(received)))

    async def _stand(self) -> None:
        """Wait for the lease and continue from its last holder's findings. Repeat when it is lost."""
        loop = asyncio.get_running_loop()
        while True:
            self._lost.clear()

            def lost() -> None:
                with contextlib.suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(self._lose)

            self._holding = await self._asked(self._ready.hold(lost))
            self._holding.check()
            while not self._lost.is_set():
                try:
                    await self._adopt()
                    break
                except (NatsError, TimeoutError) as error:
                    _log.warning("alerts of the cluster cannot be read: %s; retrying", reason_of(error))
                    await asyncio.sleep(1.0)
            if not self._lost.is_set():
                self._held.set()
                _log.warning("partition %d analyzes contention for the cluster", self._partition.number)
            await self._lost.wait()

    def _lose(self) -> None:
        self._held.clear()
        self._lost.set()
        self._forget()

    def _forget(self) -> None:
        self._alerts = None
        self._resolved.clear()
        if self.notifier is not None:
            self.notifier.forget()

    async def _adopt(self) -> None:
        """Continue from the findings published last."""
        found, self._sequence = await self._asked(self._ready.last_found())
        self._forget()
        if found is not None:
            self._received(found, is_last=True)
            self._resume(found.kept, max(self._aggregator.clock() - found.contention.made_at_s, 0.0))

    async def _turn(self) -> None:
        try:
            await self._share()
            if self.is_analyzing:
                await self.look()
            elif not self._has_news:
                found, _ = await self._asked(self._ready.last_found())
                if found is not None:
                    self._received(found, is_last=True)
            self._has_news = False
            if self._is_away:
                _log.warning("contention of the cluster: the NATS servers answer again")
            self._is_away = False
        except (NatsError, TimeoutError) as error:
            if not self._is_away:
                _log.warning(
                    "contention of the cluster: the NATS servers do not answer: %s; retrying", reason_of(error)
                )
            self._is_away = True
        except Exception:
            self._aggregator.counters[FAILURES] += 1
            _log.exception("contention between jobs cannot be analyzed")

    async def _share(self) -> None:
        """Publish the results of this partition's jobs."""
        begun, now_s = time.thread_time(), self._aggregator.clock()
        copied = await self._copied(now_s)
        if not copied and self._is_empty:
            return
        shared = await self._shared() if time.monotonic() >= self._files_at_s else None
        limit, most = self._ready.limit, self._aggregator.settings.cluster.results_bytes
        self.seconds += time.thread_time() - begun

        def work() -> tuple[list[bytes], int]:
            start = time.thread_time()
            try:
                if shared is not None:
                    self._files = {each[0]: encode_shared(each) for each in shared}
                    self._files_at_s = time.monotonic() + (time.thread_time() - start) / RANK_SHARE
                files = {job: known for job, known in self._files.items() if len(known) <= most // _FILES_SHARE}
                views = [view_of(each) for each in copied[: self._settings.max_jobs]]
                jobs = [packed(view, files.get(view.summary.job, b"")) for view in views]
                return messages_of(jobs, now_s, limit, most)
            finally:
                self.seconds += time.thread_time() - start

        messages, left_out = await asyncio.to_thread(work)
        self._aggregator.counters[LEFT_OUT] += left_out
        await self._asked(self._ready.put(messages))
        self._is_empty = not copied

    async def _publish(self, found: Contention, kept: KeptAlerts) -> bool:
        """Publish findings; return False if the lease was lost, or if another process has published."""
        published = Found(after=self._sequence, contention=found, kept=kept)
        publishing = asyncio.create_task(self._asked(self._ready.put_found(published)))
        losing = asyncio.create_task(self._lost.wait())
        try:
            await asyncio.wait([publishing, losing], return_when=asyncio.FIRST_COMPLETED)
            if not publishing.done():
                return False
            self._sequence = publishing.result()
        except ReplacedError:
            await self._adopt()
            return False
        except ProtocolError as error:  # the other processes keep the last findings; alerts are still sent
            self._aggregator.counters[FAILURES] += 1
            _log.error("contention cannot be published: %s", error)
            return True
        finally:
            publishing.cancel()
            losing.cancel()
        self._seen, self.latest = published, found
        return True

    def _kept(self, changed: Sequence[Alert] = ()) -> KeptAlerts:
        """Return the alerts for a successor, as they are after ``changed`` has been sent."""
        kept = super()._kept()
        resolved = [*kept.resolved, *(alert for alert in changed if alert.state == "resolved")][-RESOLVED:]
        waiting = dict(kept.waiting)
        for receiver in self.notifier.receivers if self.notifier is not None and changed else ():
            new = {alert.key: alert for alert in [*waiting.get(receiver.digest, []), *changed]}
            waiting[receiver.digest] = list(new.values())
        return kept.model_copy(update={"resolved": resolved, "waiting": waiting})

    def _received(self, found: Found, *, is_last: bool = False) -> None:
        self._has_news = True
        if not is_last and self._seen is not None and found.after <= self._seen.after:
            return  # our own, or older findings
        self._seen, self.latest = found, found.contention
        if not self.is_analyzing:
            self._resolved = deque(found.kept.resolved, maxlen=RESOLVED)

    @property
    def _link(self) -> NatsLink:
        journal = self._journal_of()
        if journal is None:
            raise ConfigError("the journal of the partition is not open")
        return journal.link

    @property
    def _journal(self) -> JournalSettings:
        return self._aggregator.settings.journal

    @property
    def _ready(self) -> Exchange:
        if self._exchange is None:
            lease_s = max(self._journal.lease_s, self._settings.interval_s)
            place = self._partition.cluster, self._partition.number
            self._exchange = Exchange(self._link, self._journal, *place, lease_s)
        return self._exchange

    async def _asked(self, work: Coroutine[Any, Any, _T]) -> _T:
        return await asyncio.wrap_future(self._link.begin(work))
