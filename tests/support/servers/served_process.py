"""``iotide serve`` as a process of its own that is ended, killed and started again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from support.servers.restarted_job import job_at
from support.system.commands import IOTIDE, plain_environment
from support.system.conversations import Talking
from support.system.waiting import DEADLINE_S


class Served:
    """``iotide serve``, which can be killed and started again on the same endpoint; it is asked for the job ``j``."""

    def __init__(self, folder: Path, *options: str, **environment: str) -> None:
        self._options = options
        self.endpoint = f"ipc://{folder}/in"
        self.state = folder / "state"
        self._folder, self._environment = folder, plain_environment(**environment)
        self._talking: Talking | None = None
        self.url = ""

    def start(self) -> None:
        self.begin()
        self.serves()

    def begin(self) -> None:
        """Starts it, without waiting for anything."""
        options = ["--ingest", self.endpoint, "--publish", "none", "--http", "127.0.0.1:0", "--state", str(self.state)]
        given = [f"{name}={value}" for name, value in self._environment.items()]
        self._talking = Talking(["env", *given, *IOTIDE, "serve", *options, *self._options], listen_to="stderr")

    def serves(self) -> None:
        """Waits until it has the jobs."""
        self.url = re.findall(r"http (\S+),", self.says("ingest"))[0]

    def says(self, word: str) -> str:
        """Returns the next line that it says with a word in it."""
        assert self._talking is not None
        return self._talking.hear(lambda line: word in line)

    @property
    def heard(self) -> list[str]:
        """The lines that it has said, as far as they were read."""
        assert self._talking is not None
        return self._talking.heard

    def has_the_jobs(self) -> bool:
        """Tells whether it has said so by now; ``url`` is known then."""
        assert self._talking is not None
        line = self._talking.heard_now(lambda line: "ingest" in line)
        if line is not None:
            self.url = re.findall(r"http (\S+),", line)[0]
        return line is not None

    def wait(self) -> int:
        """Returns the exit status of one that ends by itself."""
        assert self._talking is not None
        return self._talking.process.wait(DEADLINE_S)

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
        self._talking.hear_all()
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
