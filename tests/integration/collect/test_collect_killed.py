"""Real processes: ``iotide collect`` is killed while a program writes; the next one reads the rings' content."""

from __future__ import annotations

import re
import signal
import subprocess
import urllib.request
from functools import partial
from pathlib import Path

import pytest
from iotide.events.losses import LEFT_RUNNING
from iotide.results.jobs.ledger import JobLedger
from support.servers.restarted_job import job_at
from support.servers.served_process import served
from support.system.commands import IOTIDE, Program, iotide, plain_environment
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.writers import collecting, writer


def archived(folder: Path) -> tuple[int, list[dict[str, int]]]:
    """Return the bytes of the writes in the one archive of a folder, and the reported losses of its streams."""
    from iotide.archive.file.reader import ArchiveReader

    (path,) = folder.glob("*.iotide")
    with path.open("rb") as file:
        reader = ArchiveReader(file, path.name)
        assert reader.complete
        batches = [each.batch for number in reader.streams for each in reader.calls(number)]
        written = sum(int(batch.bytes[batch.bytes == 1000].sum()) for batch in batches)
        return written, [dict(stream.losses) for stream in reader.streams.values() if stream.losses]


def killed(collector: subprocess.Popen[bytes]) -> None:
    collector.send_signal(signal.SIGKILL)
    collector.wait(DEADLINE_S)


@pytest.mark.slow
def test_content_of_rings_is_read_by_the_next_collector(tmp_path: Path) -> None:
    archives = tmp_path / "archives"
    with served(tmp_path, IOTIDE_SERVE_ARCHIVE__FOLDER=str(archives)) as server:
        with collecting(tmp_path, server.endpoint) as (tracer, first), writer(tmp_path, tracer) as program:
            program.write(700)
            wait_for(lambda: server.written() == 700_000, what="the first part")
            killed(first)
            program.write(3000)
            with collecting(tmp_path, server.endpoint) as (_, following):
                wait_for(lambda: server.written() == 3_700_000, what="the writes without a collector")
                killed(following)
            with collecting(tmp_path, server.endpoint) as (_, last):
                program.end()
                assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
                assert last.wait(DEADLINE_S) == 0
        found = wait_for(partial(job_at, server.url), what="the job")
        assert found.bytes_written == 1000 * sum(program.counts)
        assert found.losses == {}
        assert found.streams == 0
        with urllib.request.urlopen(f"{server.url}/api/v1/jobs/j/ledger", timeout=DEADLINE_S) as answer:
            ledger = JobLedger.model_validate_json(answer.read())
        assert ledger.balanced
        assert ledger.total.made == ledger.total.received == ledger.total.journalled == ledger.analysed == found.events
        assert ledger.total.on_the_way == ledger.cut_off == 0
        assert (ledger.archived or 0) + (ledger.waiting_for_archive or 0) == found.events
        assert server.end(signal.SIGTERM) == 0
    assert archived(archives) == (found.bytes_written, [])


@pytest.mark.slow
def test_program_that_outlives_its_collector_is_a_loss_until_the_next_collector_reads_it(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        with collecting(tmp_path, server.endpoint) as (tracer, first), writer(tmp_path, tracer) as program:
            program.write(700)
            first.send_signal(signal.SIGTERM)
            assert first.wait(DEADLINE_S) == 0
            program.write(3000)
            wait_for(lambda: server.losses() == {LEFT_RUNNING: 1}, what="the loss")
            with collecting(tmp_path, server.endpoint) as (_, following):
                while server.losses() == {LEFT_RUNNING: 1}:
                    program.write(1)
                program.end()
                assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
                assert following.wait(DEADLINE_S) == 0
        found = wait_for(partial(job_at, server.url), what="the job")
        assert LEFT_RUNNING not in found.losses
        commands = 20 * len(program.counts)  # at most, with the answers
        assert 0 <= found.bytes_written + found.bytes_dropped - 1000 * sum(program.counts) <= commands


@pytest.mark.slow
def test_unsent_events_of_a_collector_are_counted(tmp_path: Path) -> None:
    with (
        served(tmp_path) as server,
        collecting(tmp_path, server.endpoint) as (tracer, first),
        writer(tmp_path, tracer) as program,
    ):
        program.write_line("60000")
        wait_for(lambda: server.written() > 0, what="some writes")
        killed(first)
        with collecting(tmp_path, server.endpoint) as (_, second):
            program.wait_for_line(lambda line: line == "written")
            program.end()
            assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
            assert second.wait(DEADLINE_S) == 0
        found = wait_for(partial(job_at, server.url), what="the job")
        lost = sum(count for reason, count in found.losses.items() if reason.startswith("events_dropped:"))
        arrived = found.bytes_written // 1000
        assert 60_000 <= arrived + lost <= 60_100
        assert found.streams == 0


@pytest.mark.slow
@pytest.mark.parametrize("calls", [60_000, 7])
def test_collector_that_is_killed_loses_nothing_where_it_keeps_what_it_read(tmp_path: Path, calls: int) -> None:
    keeps = ("--state", str(tmp_path / "kept"))
    with served(tmp_path) as server:
        with collecting(tmp_path, server.endpoint, *keeps) as (tracer, first), writer(tmp_path, tracer) as program:
            program.write(1)
            wait_for(lambda: server.written() == 1000, what="the first call")
            program.write_line(str(calls))
            wait_for(lambda: server.written() > 1000, what="some writes")
            killed(first)
            with collecting(tmp_path, server.endpoint, *keeps) as (_, second):
                program.wait_for_line(lambda line: line == "written")
                killed(second)
            with collecting(tmp_path, server.endpoint, *keeps) as (_, last):
                program.end()
                assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
                assert last.wait(DEADLINE_S) == 0
        found = wait_for(partial(job_at, server.url), what="the job")
        assert (found.losses, found.streams, found.bytes_written) == ({}, 0, 1000 * (1 + calls))
        assert found.losses == {}
        assert found.streams == 0
    assert not list((tmp_path / "kept").iterdir())


@pytest.mark.slow
def test_events_that_wait_for_an_absent_aggregator_outlive_the_collector(tmp_path: Path) -> None:
    keeps = ("--state", str(tmp_path / "kept"))
    with served(tmp_path) as server:
        with collecting(tmp_path, server.endpoint, *keeps) as (tracer, first), writer(tmp_path, tracer) as program:
            program.write(100)
            wait_for(lambda: server.written() == 100_000, what="the first part")
            server.kill()
            program.write(40_000)
            wait_for(lambda: (tmp_path / "kept" / "unacknowledged.db-wal").stat().st_size > 500_000, what="a spool")
            killed(first)
            with collecting(tmp_path, server.endpoint, *keeps) as (_, second):
                program.write(300)
                program.end()
                assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
                assert second.wait(DEADLINE_S) == 1  # no acks arrived
        server.start()
        with collecting(tmp_path, server.endpoint, *keeps) as (_, last):
            wait_for(lambda: server.written() == 40_400_000, what="all writes")
            assert iotide("collect", "--stop", tracer, cwd=tmp_path).returncode == 0
            assert last.wait(DEADLINE_S) == 0
        found = wait_for(partial(job_at, server.url), what="the job")
        assert found.losses == {}
        assert found.streams == 0


@pytest.mark.slow
def test_file_that_a_killed_collector_followed_is_counted_once(tmp_path: Path) -> None:
    line = '{"call": "write", "path": "/out", "start": 1790000000.5, "dur": 0.1, "size": 10}\n'
    trace = tmp_path / "trace.jsonl"
    with served(tmp_path) as server:
        command = [*IOTIDE, "collect", "--connect", server.endpoint, "--job", "j", "--state", tmp_path / "kept", trace]
        trace.write_text(line * 5000)
        for number in range(1, 4):
            with Program([str(each) for each in command], env=plain_environment()) as collector:
                wait_for(lambda number=number: server.events() == 5000 * number, what="all lines so far")  # type: ignore[misc]
                killed(collector)
            with trace.open("a") as file:
                file.write(line * 5000)
        with Program([str(each) for each in command], env=plain_environment()) as collector:
            wait_for(lambda: server.events() == 20_000, what="all lines")
            collector.send_signal(signal.SIGTERM)
            assert collector.wait(DEADLINE_S) == 0
        found = wait_for(partial(job_at, server.url), what="the job")
        assert (found.losses, found.streams, found.bytes_written) == ({}, 0, 200_000)


def test_collector_reports_loss_and_return_of_the_aggregator_and_missing_events(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"call": "write", "path": "/out", "start": 1790000000.5, "dur": 0.1, "size": 10}\n' * 7)
    command = ["env", *(f"{name}={value}" for name, value in plain_environment().items()), *IOTIDE, "collect"]
    with served(tmp_path) as server:
        with LineProcess([*command, "--connect", server.endpoint, "--job", "j", trace], output="stderr") as collector:
            wait_for(lambda: server.events() == 7, what="the first calls")
            server.kill()
            collector.wait_for_line(lambda line: f"aggregator at {server.endpoint} has not responded" in line)
            server.start()
            collector.wait_for_line(lambda line: f"aggregator at {server.endpoint} responds again" in line)
            server.kill()
            with trace.open("a") as file:
                file.write(trace.read_text())
            collector.process.send_signal(signal.SIGTERM)
            # 14 if neither aggregator acknowledged the first ones in time
            collector.wait_for_line(
                lambda line: re.search("iotide: (7|14) calls were not acknowledged", line) is not None
            )
            assert collector.process.wait(DEADLINE_S) == 1
        server.start()
