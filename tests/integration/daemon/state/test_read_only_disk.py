"""An aggregator whose disk becomes read-only while it runs: it reports this and sends no acks, and nothing is lost once
the disk is repaired.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from iotide.clients.job_fetch import fetch_for_all_jobs
from iotide.results.status import AggregatorStatus
from support.places import DATA
from support.servers.restarted_job import job_at
from support.servers.served_process import Served
from support.system.commands import IOTIDE
from support.system.line_process import LineProcess
from support.system.small_file_systems import mounted_disk
from support.system.waiting import DEADLINE_S, wait_for

SAMPLE = DATA / "tmio-8ranks.jsonl"


@pytest.mark.slow
def test_nothing_is_lost_when_the_disk_becomes_read_only(tmp_path: Path) -> None:
    with mounted_disk(tmp_path) as disk:
        server = Served(tmp_path)
        server.state = disk.folder / "state"
        server.start()
        try:
            disk.fail()
            collect = ["collect", "--replay", "--connect", server.endpoint, "--job", "j", str(SAMPLE)]
            with LineProcess([*IOTIDE, *collect], output="stderr") as collector:
                reported = server.wait_for_line("the journal cannot be written")
                assert "Input/output error" in reported or "Read-only file system" in reported
                shown = wait_for(lambda: job_at(server.url), what="the job, which is still shown")
                assert shown.events
                status = fetch_for_all_jobs(server.url, "status", AggregatorStatus)
                assert not status.healthy
                assert "journal" in {each.part for each in status.troubles}
                assert collector.process.poll() is None  # it waits for acks
                server.kill()
                disk.repair()
                server.start()
                assert collector.process.wait(DEADLINE_S) == 0
            found = wait_for(lambda: job_at(server.url), what="the job of the next aggregator")
            assert found.events >= shown.events
            assert (found.losses, found.complete) == ({}, True)
            assert fetch_for_all_jobs(server.url, "status", AggregatorStatus).healthy
        finally:
            server.kill()
