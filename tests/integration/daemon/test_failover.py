"""Real processes: aggregators with a shared journal at NATS servers take over from one another, without losses."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from iotide.archive.file.reader import ArchiveReader
from iotide.events import Kind
from support.places import DATA
from support.servers.nats_servers import NatsServers, nats_servers
from support.servers.served_process import Served
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for

WRITER = """
import sys
out = open("out", "wb", buffering=0)
for line in sys.stdin:
    for _ in range(int(line)):
        out.write(bytes(1000))
    print("written", flush=True)
"""
LOST = "the lease was taken over by"
CONFIG = """
state = "{state}"
[journal]
servers = [{servers}]
replicas = {replicas}
monitors = [{monitors}]
lease_s = 2.0
snapshot_s = {snapshot_s}
[archive]
folder = "{archives}"
"""


def quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


class Together:
    """Aggregators with separate folders, and a collector that is configured with all of them.

    One that stalls for the lease time loses the jobs to another one. So the tests ask which one has them. One that lost
    them is started again, as by a service manager.
    """

    def __init__(self, folder: Path, servers: NatsServers, names: str, snapshot_s: float = 60.0) -> None:
        self.folder = folder
        config = folder / "serve.toml"
        config.write_text(
            CONFIG.format(
                state=folder / "state",
                servers=quoted(servers.urls),
                monitors=quoted(servers.monitors),
                replicas=3 if servers.count > 1 else 1,
                archives=folder / "archives",
                snapshot_s=snapshot_s,
            )
        )
        self.aggregators = []
        for name in names:
            (folder / name).mkdir()
            self.aggregators.append(Served(folder / name, "--config", str(config)))
        self._running: list[Served] = []
        self._active: Served | None = None

    def begin(self, aggregator: Served) -> None:
        """Start one, without waiting."""
        aggregator.begin()
        self._running.append(aggregator)

    def leave(self, aggregator: Served) -> None:
        """Count one as gone: the test stops, kills or ends it."""
        self._running.remove(aggregator)
        self._active = None

    def kill_active(self) -> Served:
        """Kill the one that has the jobs, and return it."""
        active = self.wait_for_active()
        self.leave(active)
        active.kill()
        return active

    def end_active(self) -> None:
        """End the one that has the jobs in order."""
        while True:
            active = self.wait_for_active()
            self.leave(active)
            if active.end(signal.SIGTERM) == 0:
                return
            assert any(LOST in line for line in active.lines), active.lines
            self.begin(active)

    def active(self) -> Served | None:
        """Return the one that has reported that it has the jobs."""
        for each in self._running:
            if each.has_the_jobs():
                self._active = each
        for each in [each for each in self._running if each.status is not None]:
            assert any(LOST in line for line in each.output()), each.lines
            self._active = None if self._active is each else self._active
            each.kill()
            each.begin()
        return self._active

    def wait_for_active(self) -> Served:
        return wait_for(self.active, what="an aggregator with the jobs")

    def written(self) -> int:
        """Return the bytes that the job wrote."""
        active = self.active()
        return 0 if active is None else active.written()

    @contextmanager
    def collector(self) -> Iterator[tuple[Path, subprocess.Popen[bytes]]]:
        tracer = self.folder / "t"
        connect = [word for each in self.aggregators for word in ("--connect", each.endpoint)]
        command = [*IOTIDE, "collect", "--socket", str(tracer), *connect, "--job", "j"]
        with Program(command, env=plain_environment()) as collector:
            wait_for(lambda: tracer.exists() or collector.poll() is not None, what="the tracer's socket")
            yield tracer, collector

    def close(self) -> None:
        for each in self.aggregators:
            with contextlib.suppress(AssertionError):
                each.kill()


@contextmanager
def together(folder: Path, servers: NatsServers, names: str, **options: float) -> Iterator[Together]:
    found = Together(folder, servers, names, **options)
    try:
        yield found
    finally:
        found.close()


@contextmanager
def writer(folder: Path, tracer: Path) -> Iterator[LineProcess]:
    said = iotide("collect", "--socket", tracer, "--job", "j", "--print-environment", cwd=folder).stdout.split()
    with LineProcess(["env", "-C", str(folder), *said, sys.executable, "-c", WRITER]) as program:
        yield program


def end(program: LineProcess, tracer: Path, collector: subprocess.Popen[bytes]) -> None:
    """End the program, then the collector once all is acknowledged."""
    program.process.stdin.close()
    program.process.wait(DEADLINE_S)
    assert iotide("collect", "--stop", tracer, cwd=tracer.parent).returncode == 0
    assert collector.wait(timeout=DEADLINE_S) == 0


def stored_bytes(folder: Path) -> int:
    """Return the bytes of the writer's calls in the one archive of a folder; its text output goes to a pipe."""
    (path,) = folder.glob("*.iotide")
    with path.open("rb") as file:
        reader = ArchiveReader(file, path.name)
        assert reader.complete
        sizes = [
            int(size)
            for number in reader.streams
            for each in reader.calls(number)
            for size in each.batch.bytes[each.batch.kind == Kind.WRITE]
        ]
        assert not reader.problems
    return sum(size for size in sizes if size == 1000)


@pytest.mark.slow
@pytest.mark.parametrize("snapshot_s", [60.0, 0.3], ids=["journal", "snapshots"])
def test_jobs_go_on_at_another_aggregator_and_without_one_of_three_servers(tmp_path: Path, snapshot_s: float) -> None:
    with (
        nats_servers(tmp_path / "nats", 3) as servers,
        together(tmp_path, servers, "ab", snapshot_s=snapshot_s) as both,
    ):
        first, second = both.aggregators
        both.begin(first)
        both.wait_for_active()
        both.begin(second)
        assert f":{first.pid} has the jobs of journal main" in second.wait_for_line("stands by")
        with both.collector() as (tracer, collector), writer(tmp_path, tracer) as program:
            program.write_line("700")
            wait_for(lambda: both.written() == 700_000, what="all bytes")
            program.write_line("3000")
            killed = both.kill_active()
            both.wait_for_active()
            program.write_line("11")
            wait_for(lambda: both.written() == 3_711_000, what="all bytes at the other one")
            both.begin(killed)
            killed.wait_for_line("stands by")
            servers.kill(0)
            program.write_line("2000")
            wait_for(lambda: both.written() == 5_711_000, what="all bytes with two servers")
            both.end_active()  # hands over at once
            last = both.wait_for_active()
            program.write_line("100")
            wait_for(lambda: both.written() == 5_811_000, what="all bytes at the last one")
            end(program, tracer, collector)
        assert last.losses() == {}
        both.end_active()
        assert stored_bytes(tmp_path / "archives") == 5_811_000


@pytest.mark.slow
def test_aggregator_that_resumes_after_a_takeover_writes_nothing_and_ends(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats") as servers, together(tmp_path, servers, "ab") as both:
        first, second = both.aggregators
        both.begin(first)
        both.wait_for_active()
        both.begin(second)
        second.wait_for_line("stands by")
        with both.collector() as (tracer, collector), writer(tmp_path, tracer) as program:
            program.write_line("700")
            wait_for(lambda: both.written() == 700_000, what="all bytes")
            program.write_line("3000")
            stopped = both.wait_for_active()
            both.leave(stopped)
            os.kill(stopped.pid, signal.SIGSTOP)
            last = both.wait_for_active()
            program.write_line("11")
            wait_for(lambda: both.written() == 3_711_000, what="all bytes at the other one")
            os.kill(stopped.pid, signal.SIGCONT)
            assert stopped.wait() == 1
            program.write_line("5")
            wait_for(lambda: both.written() == 3_716_000, what="all bytes")
            end(program, tracer, collector)
        assert last.losses() == {}
        both.end_active()
        assert stored_bytes(tmp_path / "archives") == 3_716_000


def test_aggregator_that_waits_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats") as servers, together(tmp_path, servers, "ab") as both:
        first, second = both.aggregators
        first.start()
        second.begin()
        second.wait_for_line("stands by")
        assert second.end(signal.SIGTERM) == 0


def test_journal_of_an_aggregator_that_was_alone_is_not_passed_over(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats") as servers, together(tmp_path, servers, "a") as one:
        (first,) = one.aggregators
        alone = Served(tmp_path / "a")
        alone.start()
        sample = DATA / "tmio-8ranks.jsonl"
        replayed = "collect", "--replay", "--connect", alone.endpoint, "--job", "j", sample
        assert iotide(*replayed, cwd=tmp_path).returncode == 0
        alone.kill()
        first.begin()
        assert "an aggregator without journal.servers was killed" in first.wait_for_line("state")
        assert first.wait() == 2
        first.kill()
        alone.start()
        events = alone.events()
        assert alone.end(signal.SIGTERM) == 0
        first.start()  # the earlier jobs continue
        assert first.events() == events


def test_doctor_reports_the_servers_data_and_the_owner_of_the_jobs(tmp_path: Path) -> None:
    with nats_servers(tmp_path / "nats") as servers, together(tmp_path, servers, "a") as one:
        (first,) = one.aggregators
        config = tmp_path / "serve.toml"
        asked = "doctor", "--journal", config, "--json"
        before = iotide(*asked, cwd=tmp_path)
        assert before.returncode == 0
        assert "nothing yet; the first aggregator makes it" in before.stdout
        first.start()
        found = iotide(*asked, cwd=tmp_path)
        assert found.returncode == 0
        assert f":{first.pid}" in found.stdout
        config.write_text(config.read_text().replace("replicas = 1", "replicas = 3"))
        wrong = iotide(*asked, cwd=tmp_path)
        assert wrong.returncode == 1
        assert "has 1 replicas; journal.replicas = 3 needs more" in wrong.stdout
