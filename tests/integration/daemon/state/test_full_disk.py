"""An aggregator whose disk fills up while it runs: it continues, reports it, and sends acks once there is space
again.
"""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import pytest
from iotide.clients.job_fetch import fetch_for_all_jobs
from iotide.results.status import AggregatorStatus
from support.places import DATA
from support.servers.restarted_job import job_at
from support.servers.served_process import Served
from support.system.commands import IOTIDE
from support.system.line_process import LineProcess
from support.system.small_file_systems import fill, small_room
from support.system.waiting import DEADLINE_S, wait_for

SAMPLE = DATA / "tmio-8ranks.jsonl"


def metric(server: Served, name: str) -> float:
    text = urllib.request.urlopen(f"{server.url}/metrics", timeout=DEADLINE_S).read().decode()
    return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.MULTILINE))


@pytest.mark.slow
def test_collector_is_acknowledged_once_there_is_room_and_nothing_is_lost(tmp_path: Path) -> None:
    with small_room(tmp_path / "small", 8 << 20) as room:
        server = Served(tmp_path)
        server.state = room / "state"
        server.start()
        try:
            ballast = fill(room)
            collect = ["collect", "--replay", "--connect", server.endpoint, "--job", "j", str(SAMPLE)]
            with LineProcess([*IOTIDE, *collect], output="stderr") as collector:
                wait_for(lambda: metric(server, "iotide_journal_deferred_answers"), what="waiting acks")
                assert "No space left on device" in server.wait_for_line("the journal cannot be written")
                shown = wait_for(lambda: job_at(server.url), what="the job, which is still shown")
                assert shown.events
                assert metric(server, "iotide_journal_failing") == 1
                status = fetch_for_all_jobs(server.url, "status", AggregatorStatus)
                assert not status.healthy
                assert status.journal is not None
                assert status.journal.failing
                assert "No space left on device" in {each.part: each.problem for each in status.troubles}["journal"]
                assert collector.process.poll() is None  # it waits for acks
                ballast.unlink()
                server.wait_for_line("the journal is written again")
                assert collector.process.wait(DEADLINE_S) == 0
            assert metric(server, "iotide_journal_failing") == 0
            assert fetch_for_all_jobs(server.url, "status", AggregatorStatus).healthy
            found = job_at(server.url)
            assert found is not None
            server.kill()
            server.start()
            again = wait_for(lambda: job_at(server.url), what="the job of the next aggregator")
            assert (again.events, again.losses) == (found.events, found.losses)
            assert not again.losses
        finally:
            server.kill()
