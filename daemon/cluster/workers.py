"""The processes of a member's partitions: their settings, and how they are started, supervised, restarted and ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import secrets
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel

from ..cluster_settings import ClusterSettings
from ..settings import AggregatorSettings

_log = logging.getLogger(__name__)


def journal_of(name: str, number: int) -> str:
    """Return the name of a partition's journal."""
    return f"{name}-p{number}"


def folder_of(base: Path, number: int) -> Path:
    """Return the folder of a partition in another folder."""
    return base / f"partition-{number}"


def worker_settings(settings: AggregatorSettings, state: Path, number: int) -> AggregatorSettings:
    """Return the settings of a partition's process. They are those of the cluster, with its own state folder."""
    archive = settings.archive
    if archive.folder is not None:
        archive = archive.model_copy(update={"folder": folder_of(archive.folder, number)})
    access = settings.access.model_copy(update={"certificate": None, "certificate_key": None})  # it listens on loopback
    # All its clients come through members, which bound their peers.
    limits = settings.http_limits.model_copy(update={"connections_per_peer": settings.http_limits.connections})
    return settings.model_copy(
        update={
            "http_limits": limits,
            "ingest": f"tcp://{worker_host(settings.ingest)}:*",
            "http": "127.0.0.1:0",
            "publish": "tcp://127.0.0.1:*",
            "state": state,
            "archive": archive,
            "access": access,
            "cluster": ClusterSettings(results_bytes=settings.cluster.results_bytes),
            "journal": settings.journal.model_copy(update={"name": journal_of(settings.journal.name, number)}),
        }
    )


def worker_host(endpoint: str) -> str:
    """Return the address at which a machine's processes listen for all gateways. It is that of its own gateway."""
    if not endpoint.startswith("tcp://"):
        return "127.0.0.1"
    return endpoint.removeprefix("tcp://").rpartition(":")[0]


_FIRST_PAUSE_S: Final = 0.5
_MAX_PAUSE_S: Final = 30.0
_STEADY_S: Final = 60.0
"""Run time after which an ended process is restarted at once, s."""
_STATUS_ENDPOINTS: Final = re.compile(r"ingest (\S+), http (\S+), publish ([^\s,]+)(?:, epoch ([0-9]+))?")
_MAX_NOTIFICATION_BYTES: Final = 65_536
OnCrash: TypeAlias = Callable[[int, int], None]


class Endpoints(BaseModel):
    """Endpoints of a process that serves its partition."""

    ingest: str
    http: str
    publish: str
    started: str
    """Unique id of the process."""
    epoch: int = 0
    """Epoch of its journal."""


class Worker:
    """The process of one partition. It reports its state by the protocol of ``sd_notify(3)``.

    Args:
        number: number of the partition.
        command: command of the process.
        environment: its environment.
        watchdog_s: silence after which it is killed, s.
        counters: counters ``worker_restarts`` and ``worker_hangs``.
        on_crash: called with number and pid when a process that served has ended without an order.

    Attributes:
        endpoints: its endpoints while it serves, otherwise None.
        is_standby: whether it stands by for the partition.
    """

    def __init__(
        self,
        number: int,
        command: Sequence[str],
        environment: Mapping[str, str],
        watchdog_s: float,
        counters: Counter[str],
        on_crash: OnCrash,
    ) -> None:
        self.number = number
        self._on_crash = on_crash
        self.endpoints: Endpoints | None = None
        self.is_standby = False
        self._command, self._watchdog_s, self._counters = command, watchdog_s, counters
        self._address = f"\0iotide-{os.getpid()}-{secrets.token_hex(8)}"
        self._notify_socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._notify_socket.bind(self._address)
        self._environment = {
            **environment,
            "NOTIFY_SOCKET": f"@{self._address[1:]}",
            "WATCHDOG_USEC": str(int(watchdog_s * 1e6)),
        }
        self._environment.pop("WATCHDOG_PID", None)
        self._process: asyncio.subprocess.Process | None = None
        self._last_notified_s = 0.0
        self._ends = asyncio.Event()
        asyncio.get_running_loop().add_reader(self._notify_socket, self._read_notifications)
        self._task = asyncio.create_task(self._supervise())

    @property
    def pid(self) -> int | None:
        """Pid of the current process."""
        return None if self._process is None else self._process.pid

    @property
    def is_over(self) -> bool:
        """Whether it was requested to end, and has ended."""
        return self._task.done()

    def end(self) -> None:
        """Ask it to write its state and to release the partition."""
        if not self._ends.is_set():
            self._ends.set()
            self._send(signal.SIGTERM)

    def kill(self) -> None:
        """Kill it at once."""
        self._ends.set()
        self._send(signal.SIGKILL)

    def check(self) -> None:
        """Kill a process that hangs: another one can continue from its data."""
        if self.endpoints is not None and time.monotonic() - self._last_notified_s > self._watchdog_s:
            _log.error(
                "partition %d: its process has not responded for %g s and is killed", self.number, self._watchdog_s
            )
            self._counters["worker_hangs"] += 1
            self._last_notified_s = time.monotonic()
            self._send(signal.SIGKILL)

    def drop(self) -> None:
        """Kill the process, which is then started again."""
        self.endpoints = None
        self._send(signal.SIGKILL)

    async def ended(self) -> None:
        """Wait until it has ended."""
        await asyncio.wait([self._task])

    def _send(self, number: int) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _supervise(self) -> None:
        pause_s = _FIRST_PAUSE_S
        try:
            while not self._ends.is_set():
                began_s = time.monotonic()
                try:
                    status = await self._run_process()
                except OSError as error:
                    _log.error("partition %d: its process cannot be started: %s", self.number, error.strerror)
                    status = -1
                if self._ends.is_set():
                    return
                self._counters["worker_restarts"] += 1
                pause_s = _FIRST_PAUSE_S if time.monotonic() - began_s > _STEADY_S else pause_s
                _log.error(
                    "partition %d: its process ended with status %d; restart in %g s", self.number, status, pause_s
                )
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._ends.wait(), pause_s)
                pause_s = min(2 * pause_s, _MAX_PAUSE_S)
        finally:
            asyncio.get_running_loop().remove_reader(self._notify_socket)
            self._notify_socket.close()

    async def _run_process(self) -> int:
        self._last_notified_s = time.monotonic()
        self._process = await asyncio.create_subprocess_exec(
            *self._command, env=self._environment, stdin=asyncio.subprocess.DEVNULL, start_new_session=True
        )
        try:
            if self._ends.is_set():  # requested before the process existed
                self._send(signal.SIGTERM)
            status = await self._process.wait()
            if self.endpoints is not None:
                self._on_crash(self.number, self._process.pid)
            return status
        finally:
            self.endpoints, self.is_standby, self._process = None, False, None

    def _read_notifications(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._handle_notification(
                    self._notify_socket.recv(_MAX_NOTIFICATION_BYTES).decode(errors="replace").split("\n")
                )

    def _handle_notification(self, words: Iterable[str]) -> None:
        self._last_notified_s = time.monotonic()
        for word in words:
            name, _, value = word.partition("=")
            if name == "STOPPING":
                self.endpoints, self.is_standby = None, False
            elif name == "STATUS" and not self._ends.is_set():
                found = _STATUS_ENDPOINTS.match(value)
                self.is_standby = found is None
                if found is not None:
                    ingest, http, publish, epoch = found.groups()
                    started = secrets.token_hex(8)
                    self.endpoints = Endpoints(
                        ingest=ingest, http=http, publish=publish, started=started, epoch=int(epoch or 0)
                    )


class Workers:
    """The processes of a member, by partition.

    Args:
        make: returns command and environment of a partition's process.
        watchdog_s: as for ``Worker``.
        counters: as for ``Worker``.
        on_crash: as for ``Worker``.
    """

    def __init__(
        self,
        make: Callable[[int], tuple[Sequence[str], Mapping[str, str]]],
        watchdog_s: float,
        counters: Counter[str],
        on_crash: OnCrash = lambda number, pid: None,
    ) -> None:
        self._make, self._watchdog_s, self._counters, self._on_crash = make, watchdog_s, counters, on_crash
        self._running: dict[int, Worker] = {}

    @property
    def serving(self) -> dict[int, Endpoints]:
        """Endpoints of the serving processes."""
        return {number: each.endpoints for number, each in sorted(self._running.items()) if each.endpoints is not None}

    @property
    def waiting(self) -> frozenset[int]:
        """Partitions that can be taken over at once."""
        return frozenset(number for number, each in self._running.items() if each.is_standby)

    @property
    def pids(self) -> dict[int, int | None]:
        """Pids by partition."""
        return {number: each.pid for number, each in self._running.items()}

    def run(self, wanted: Iterable[int], ends: Iterable[int]) -> None:
        """Start wanted processes that are not running, and end others."""
        for number, each in list(self._running.items()):
            each.check()
            if each.is_over:
                del self._running[number]
        for number in wanted:
            if number not in self._running:
                command, environment = self._make(number)
                self._running[number] = Worker(
                    number, command, environment, self._watchdog_s, self._counters, self._on_crash
                )
        for number in ends:
            if number in self._running:
                self._running[number].end()

    def kill_replaced(self, number: int) -> None:
        """Kill a process whose partition another one has. It hangs; otherwise it would have ended."""
        if number in self._running and self._running[number].endpoints is not None:
            _log.error("partition %d: another member has it; the process here is killed", number)
            self._counters["worker_hangs"] += 1
            self._running[number].drop()

    async def stop(self, within_s: float) -> None:
        """End all processes in order; kill those that take too long."""
        for each in self._running.values():
            each.end()
        waits = [asyncio.create_task(each.ended()) for each in self._running.values()]
        if waits:
            _, late = await asyncio.wait(waits, timeout=within_s)
            if late:
                for each in self._running.values():
                    each.kill()
                await asyncio.wait(late)
        self._running = {}
