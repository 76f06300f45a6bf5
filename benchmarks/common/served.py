"""``iotide serve`` as a separate process, and a peer that sends it batches as a collector does."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
import zmq
from iotide.events.network.wire import Ack, Frame, Heartbeat, Reject, decode_header, encode

_WINDOW = 128
"""Maximum number of unacknowledged messages; the aggregator's credit may be lower."""
_HEARTBEAT_S = 1.0
_SLOWEST_S = 600.0


class Served:
    """An aggregator that can be killed and restarted; options and ``IOTIDE_SERVE_*`` configure it.

    Attributes:
        url: of its HTTP API, once it has started.
        pid: of its process.
    """

    def __init__(self, folder: Path, *options: str, **settings: str) -> None:
        self._options = options
        self.endpoint = f"ipc://{folder}/in"
        self.state = folder / "state"
        self.log = folder / "log"
        self._environment = os.environ | {f"IOTIDE_SERVE_{name.upper()}": value for name, value in settings.items()}
        self.url = ""
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Start it; return the time until ``/readyz`` succeeds, s."""
        begun = time.monotonic()
        command = [sys.executable, "-m", "iotide", "serve", "--ingest", self.endpoint, "--publish", "none"]
        command += ["--http", "127.0.0.1:0", "--state", str(self.state), *self._options]
        with self.log.open("ab") as log:
            at = log.tell()
            self._process = subprocess.Popen(command, stderr=log, env=self._environment)
        while not (found := re.search(r"http (\S+),", self.log.read_text()[at:])):
            assert self._process.poll() is None, self.log.read_text()[at:]
            assert time.monotonic() - begun < _SLOWEST_S
            time.sleep(0.01)
        self.url = found[1]
        while not self.answers("/readyz"):
            time.sleep(0.01)
        return time.monotonic() - begun

    def kill(self, number: int = signal.SIGKILL) -> float:
        """End it with a signal; return the time until it has ended, s."""
        assert self._process is not None
        begun = time.monotonic()
        self._process.send_signal(number)
        self._process.wait()
        return time.monotonic() - begun

    def answers(self, path: str) -> bool:
        """Return whether a path is answered with 200."""
        with contextlib.suppress(urllib.error.HTTPError):
            self.get(path)
            return True
        return False

    def get(self, path: str) -> bytes:
        """Return the response of a path."""
        with urllib.request.urlopen(self.url + path, timeout=_SLOWEST_S) as answer:
            return bytes(answer.read())

    def metric(self, name: str) -> float:
        """Return the sum of a metric over its labels."""
        rows = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", self.get("/metrics").decode(), re.MULTILINE)
        return sum(map(float, rows))

    def memory(self, field: str = "VmRSS") -> float:
        """Return its current memory in bytes, or its peak (``VmHWM``)."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return 1024 * float(re.findall(rf"{field}:\s+(\d+)", status)[0])

    def waited_s(self) -> float:
        """Return the time for which its loop was ready and waited for a core."""
        return waited_for_core_s(self.pid)

    def cpu_s(self) -> float:
        """Return its CPU time."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Peer:
    """Send messages, with a limit on unacknowledged ones; sends no HELLO itself.

    Args:
        endpoint: endpoint for collectors.
        name: name of the collector.

    Attributes:
        acknowledged: number of acks.
        rejected: the first few rejections.

    Raises:
        RuntimeError: a message was lost on its way. It is not sent again, so that a measurement would not end.
    """

    def __init__(self, endpoint: str, name: str = "bench") -> None:
        self._name = name
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._socket = self._context.socket(zmq.DEALER)
        self._socket.linger = 0
        self._socket.sndhwm = self._socket.rcvhwm = 100_000
        self._socket.connect(endpoint)
        self._beaten_s = 0.0
        self.sent = self.acknowledged = 0
        self.rejected: list[Reject] = []
        self._credit = _WINDOW

    def send(self, message: Iterable[Frame | zmq.Frame], *, answered: bool = True) -> None:
        """Send a message once there is room for it. Frames of ZeroMQ are not copied, so that they can be sent again."""
        self.sent += answered
        while self.sent - self.acknowledged > min(_WINDOW, self._credit):
            self._take(1000)
        frames = list(message)
        self._socket.send_multipart(frames, copy=not isinstance(frames[0], zmq.Frame))
        # Each request for answers costs as much as a message.
        if self.sent - self.acknowledged > min(_WINDOW, self._credit) // 2:
            self._take(0)

    def settle(self) -> None:
        """Wait until all is acknowledged."""
        begun = time.monotonic()
        while self.acknowledged < self.sent:
            self._take(1000)
            assert time.monotonic() - begun < _SLOWEST_S, (
                f"{self.sent - self.acknowledged} messages were not acknowledged"
            )

    def rest(self) -> None:
        """Send only heartbeats for a second."""
        self._take(1000)

    def close(self) -> None:
        self._socket.close()
        self._context.term()

    def _take(self, wait_ms: int) -> None:
        if (now_s := time.monotonic()) > self._beaten_s + _HEARTBEAT_S:
            self._beaten_s = now_s
            self._socket.send_multipart(encode(Heartbeat(collector=self._name)))
        while self._socket.poll(wait_ms):
            wait_ms = 0
            answer = decode_header(self._socket.recv_multipart()[0])
            if isinstance(answer, Ack):
                self.acknowledged += 1
                self._credit = answer.credit
            elif isinstance(answer, Reject) and answer.code == "gap":
                raise RuntimeError(f"a message of stream {answer.stream} was lost: {answer.reason}")
            elif isinstance(answer, Reject):
                self.acknowledged += 1
                self.rejected = [*self.rejected, answer][:5]


@contextlib.contextmanager
def served(folder: Path, *options: str, **settings: str) -> Iterator[Served]:
    """Run an aggregator during the block."""
    server = Served(folder, *options, **settings)
    server.start()
    try:
        yield server
    finally:
        server.kill()


def waited_for_core_s(pid: int) -> float:
    """Return the time for which the main thread of a process was ready and waited for a core; 0 if unknown."""
    try:
        return int(Path(f"/proc/{pid}/task/{pid}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError):
        return 0.0


def decoded(body: bytes) -> dict[str, object]:
    """Return a JSON document."""
    return dict(msgspec.json.decode(body))
