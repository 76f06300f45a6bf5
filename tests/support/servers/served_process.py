"""``iotide serve`` as a separate process that is ended, killed and restarted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.servers.restarted_job import job_at
from support.system.commands import IOTIDE, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S


class Served:
    """``iotide serve``, which can be killed and restarted on the same endpoint; queries concern the job ``j``."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self._options = options
        self.endpoint = f"ipc://{folder}/in"
        self.state = folder / "state"
        self._folder, self._environment = folder, plain_environment(**environment)
        self._process: LineProcess | None = None
        self.url = ""

    def start(self) -> None:
        self.begin()
        self.wait_until_ready()

    def begin(self) -> None:
        """Start it, without waiting."""
        options = ["--ingest", self.endpoint, "--publish", "none", "--http", "127.0.0.1:0", "--state", str(self.state)]
        given = [f"{name}={value}" for name, value in self._environment.items()]
        self._process = LineProcess(["env", *given, *IOTIDE, "serve", *options, *self._options], output="stderr")

    def wait_until_ready(self) -> None:
        """Wait until it has the jobs."""
        self.url = re.findall(r"http (\S+),", self.wait_for_line("ingest"))[0]

    def wait_for_line(self, word: str) -> str:
        """Return the next line of output that contains a word."""
        assert self._process is not None
        return self._process.wait_for_line(lambda line: word in line)

    @property
    def lines(self) -> list[str]:
        """Lines of output that were read so far."""
        assert self._process is not None
        return self._process.lines

    def output(self) -> list[str]:
        """Return the lines of output so far. Reading them also keeps the process from blocking on a full pipe."""
        assert self._process is not None
        self._process.next_line(lambda _: False)
        return self._process.lines

    def has_the_jobs(self) -> bool:
        """Return whether it has reported its jobs; ``url`` is set then."""
        assert self._process is not None
        line = self._process.next_line(lambda line: "ingest" in line)
        if line is not None:
            self.url = re.findall(r"http (\S+),", line)[0]
        return line is not None

    def wait(self) -> int:
        """Return the exit status of a process that ends by itself."""
        assert self._process is not None
        return self._process.process.wait(DEADLINE_S)

    @property
    def status(self) -> int | None:
        """Exit status; None while it runs."""
        assert self._process is not None
        return self._process.process.poll()

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.process.pid

    def kill(self) -> None:
        assert self._process is not None
        self._process.__exit__()

    def end(self, number: int) -> int:
        """Send a signal; return the exit status."""
        assert self._process is not None
        status = self._process.end(number)
        self._process.all_lines()
        self.kill()
        return status

    def written(self) -> int:
        found = job_at(self.url)
        return found.bytes_written if found is not None else 0

    def losses(self) -> dict[str, int] | None:
        found = job_at(self.url)
        return None if found is None else dict(found.losses)

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
