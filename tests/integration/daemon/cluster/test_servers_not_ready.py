"""Real processes: aggregators wait for NATS servers that are not ready, and continue when servers return."""

from __future__ import annotations

import signal
import urllib.error
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.servers.clusters import CONFIG, quoted, stop_member, unserved_partitions
from support.servers.nats_servers import NatsServers
from support.servers.served_process import Served
from support.system.waiting import wait_for

NOT_READY = "NATS servers are not ready"


def one_of_three(folder: Path, stack: ExitStack) -> NatsServers:
    """Start three servers and kill two: the third one cannot elect a leader."""
    servers = NatsServers(folder, 3)
    stack.callback(servers.close)
    servers.start()
    servers.kill(0)
    servers.kill(1)
    return servers


def ready(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/readyz", timeout=30) as answer:
            return bool(answer.status == 200)
    except (urllib.error.HTTPError, TimeoutError):
        return False


@pytest.mark.slow
def test_a_member_waits_for_servers_at_its_start_and_goes_on_after_they_were_away(tmp_path: Path) -> None:
    with ExitStack() as stack:
        servers = one_of_three(tmp_path / "nats", stack)
        config = tmp_path / "serve.toml"
        config.write_text(CONFIG.format(servers=quoted(servers.urls), replicas=3, monitors="", partitions=1))
        member = Served(tmp_path, "--config", str(config))
        stack.callback(stop_member, member)
        member.begin()
        member.wait_for_line(NOT_READY)
        servers.start(0, 1)
        member.wait_until_ready()
        wait_for(lambda: not unserved_partitions(member.url), what="the partition")
        for number in range(3):
            servers.kill(number)
        wait_for(lambda: not ready(member.url), what="loss of readiness")
        servers.start()
        wait_for(lambda: ready(member.url) and not unserved_partitions(member.url), what="return of readiness")
        assert member.end(signal.SIGTERM) == 0
        away = [line for line in member.lines if "members cannot be read" in line]
        assert len(away) <= 2, away  # one line per outage, and none per attempt


@pytest.mark.slow
def test_an_aggregator_that_waits_for_servers_ends_when_it_is_asked_to(tmp_path: Path) -> None:
    with ExitStack() as stack:
        servers = one_of_three(tmp_path / "nats", stack)
        waiting = Served(tmp_path, "--journal", ",".join(servers.urls))
        stack.callback(stop_member, waiting)
        waiting.begin()
        waiting.wait_for_line(NOT_READY)
        assert waiting.end(signal.SIGTERM) == 0
