"""``iotide serve`` as a process of its own that is ended, killed and started again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .commands import IOTIDE, plain_environment
from .restarts import job_at
from .talking import Talking


class Served:
    """``iotide serve``, which can be killed and started again on the same endpoint; it is asked for the job ``j``."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.endpoint = f"ipc://{folder}/in"
        self.state = folder / "state"
        self._folder, self._environment = folder, plain_environment(**environment)
        self._talking: Talking | None = None
        self.url = ""

    def start(self) -> None:
        options = ["--ingest", self.endpoint, "--publish", "none", "--http", "127.0.0.1:0", "--state", str(self.state)]
        command = ["env", *(f"{name}={value}" for name, value in self._environment.items()), *IOTIDE, "serve", *options]
        self._talking = Talking(command, listen_to="stderr")
        self.url = re.findall(r"http (\S+),", self._talking.hear(lambda line: "ingest" in line))[0]

    @property
    def pid(self) -> int:
        assert self._talking is not None
        return self._talking.process.pid

    def kill(self) -> None:
        assert self._talking is not None
        self._talking.__exit__()

    def end(self, number: int) -> int:
        """Sends a signal; returns the exit status."""
        assert self._talking is not None
        status = self._talking.end(number)
        self.kill()
        return status

    def written(self) -> int:
        found = job_at(self.url)
        return found.bytes_written if found is not None else 0

    def events(self) -> int:
        found = job_at(self.url)
        return found.events if found is not None else 0


@contextmanager
def served(folder: Path, **environment: str) -> Iterator[Served]:
    server = Served(folder, **environment)
    server.start()
    try:
        yield server
    finally:
        server.kill()
