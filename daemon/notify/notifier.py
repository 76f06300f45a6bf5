"""Sending of alerts to their receivers: a task per receiver, and a thread per message."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Final, Literal

from ...events.counted_text import counted
from ...results.alerts import Alert
from .http_post import PostResult, post
from .messages import for_alertmanager, for_webhook
from .notify_settings import NotifySettings, shown_url
from .outbox import DROPPED, Outbox

_API: Final = "/api/v2/alerts"
_MAX_WAIT_S: Final = 3600.0
Form = Literal["alertmanager", "webhook"]
_log = logging.getLogger(__name__)


class Receiver:
    """A receiver with its pending alerts.

    Attributes:
        name: address without secrets.
        digest: digest of the whole address.
        outcomes: messages by result.
        outbox: pending alerts.
    """

    def __init__(self, url: str, form: Form, settings: NotifySettings) -> None:
        self.form = form
        self.url = f"{url.rstrip('/')}{_API}" if form == "alertmanager" and not url.endswith(_API) else url
        self.name = shown_url(url)
        self.digest = hashlib.blake2b(f"{form} {self.url}".encode(), digest_size=8).hexdigest()
        self.outcomes: Counter[str] = Counter()
        self.outbox = Outbox(settings.max_waiting, settings.repeat_s if form == "alertmanager" else None)
        self.has_pending = asyncio.Event()
        self._last_reason = ""

    def log_outcome(self, answer: PostResult, count: int, pause_s: float = 0.0) -> None:
        """Count a result, and log a changed one."""
        self.outcomes[answer.outcome] += 1
        if answer.response_text and answer.response_text != self._last_reason:
            then = f"retried in {pause_s:.0f} s" if answer.outcome == "failed" else "dropped"
            alerts = counted(count, "alerts")
            _log.warning("%s could not be sent to %s: %s; %s", alerts, self.name, answer.response_text, then)
        elif self._last_reason and not answer.response_text:
            _log.warning("%s accepts alerts again", self.name)
        self._last_reason = answer.response_text


class Notifier:
    """Sends alerts to all receivers.

    Args:
        settings: the receivers.
        raised: returns the currently raised alerts.
        clock: Unix time.
        origin: returns the address of the aggregator, or "".
        counters: counts dropped alerts.

    Attributes:
        receivers: in the order of the settings.
        on_answered: called when a receiver has accepted or refused pending alerts.
    """

    def __init__(
        self,
        settings: NotifySettings,
        raised: Callable[[], Iterable[Alert]],
        clock: Callable[[], float],
        origin: Callable[[], str],
        counters: Counter[str],
    ) -> None:
        self._settings, self._get_raised, self._clock, self._origin = settings, raised, clock, origin
        self._counters = counters
        self.on_answered: Callable[[], None] = _do_nothing
        self.receivers = [
            *(Receiver(url, "alertmanager", settings) for url in settings.alertmanagers),
            *(Receiver(url, "webhook", settings) for url in settings.webhooks),
        ]
        seen: Counter[str] = Counter()
        for receiver in self.receivers:  # addresses that only differ in hidden parts
            seen[receiver.name] += 1
            receiver.name += f" ({seen[receiver.name]})" if seen[receiver.name] > 1 else ""

    def alert(self, alert: Alert) -> None:
        """Add an alert that was raised or resolved."""
        for receiver in self.receivers:
            receiver.outbox.put(alert)
            receiver.has_pending.set()
        self._count_dropped()

    def waiting(self) -> dict[str, list[Alert]]:
        """Return the pending alerts of receivers, by their digests."""
        return {receiver.digest: receiver.outbox.waiting for receiver in self.receivers if len(receiver.outbox)}

    def resume(self, waiting: Mapping[str, Iterable[Alert]]) -> None:
        """Take over pending alerts of the previous aggregator."""
        for receiver in self.receivers:
            for alert in waiting.get(receiver.digest, ()):
                receiver.outbox.put(alert)

    def clear(self) -> None:
        """Remove the waiting alerts: another aggregator sends them."""
        for receiver in self.receivers:
            receiver.outbox.clear()

    def send_to_new(self, known: Collection[str]) -> None:
        """Send the raised alerts to receivers whose digests are not in ``known``."""
        for receiver in self.receivers:
            if receiver.digest not in known:
                for alert in self._get_raised():
                    receiver.outbox.put(alert)
                receiver.has_pending.set()

    async def run(self) -> None:
        """Send until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for receiver in self.receivers:
                tasks.create_task(self._serve(receiver))

    async def _serve(self, receiver: Receiver) -> None:
        while True:
            receiver.has_pending.clear()
            alerts = receiver.outbox.due_alerts(time.monotonic(), self._get_raised)
            self._count_dropped()
            if alerts:
                await self._send(receiver, alerts)
                continue
            wait_s = min(receiver.outbox.due_in(time.monotonic()), _MAX_WAIT_S)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(receiver.has_pending.wait(), wait_s)

    async def _send(self, receiver: Receiver, alerts: Sequence[Alert]) -> None:
        settings, now_s = self._settings, self._clock()
        origin = settings.external_url.rstrip("/") or self._origin()

        def work() -> PostResult:
            if receiver.form == "alertmanager":
                body, token = for_alertmanager(alerts, settings, origin, now_s), settings.alertmanager_token_file
            else:
                body, token = for_webhook(alerts, settings, origin), settings.webhook_token_file
            return post(receiver.url, body, settings.timeout_s, token, settings.ca_file)

        answer = await _in_daemon_thread(work)
        if answer.outcome == "failed":
            receiver.log_outcome(answer, len(alerts), receiver.outbox.on_failed(time.monotonic()))
        else:
            receiver.log_outcome(answer, len(alerts))
            receiver.outbox.remove(alerts)
            self.on_answered()

    def _count_dropped(self) -> None:
        self._counters[DROPPED] = sum(receiver.outbox.dropped for receiver in self.receivers)


def _do_nothing() -> None:
    """Do nothing."""


async def _in_daemon_thread(work: Callable[[], PostResult]) -> PostResult:
    """Wait for a blocking call in a daemon thread. The end of the process does not wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[PostResult] = loop.create_future()

    def finish(answer: PostResult) -> None:
        if not done.done():
            done.set_result(answer)

    def run() -> None:
        try:
            answer = work()
        except Exception as error:
            answer = PostResult("refused", f"there is no message of it: {error!r}")
        with contextlib.suppress(RuntimeError):  # the loop was closed in between
            loop.call_soon_threadsafe(finish, answer)

    threading.Thread(target=run, name="iotide-notify", daemon=True).start()
    return await done
