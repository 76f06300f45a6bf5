"""Real programs collide: a real Alertmanager gets alerts from the aggregator, and from Prometheus with our rules."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import iotide
from support.servers.http_receivers import HttpReceiver, http_receiver
from support.servers.prometheus import listening
from support.servers.running_aggregator import serving, until
from support.system.commands import IOTIDE, plain_environment
from support.system.commands import iotide as run_iotide
from support.system.waiting import wait_for
from support.tracing.programs import need

RULES = Path(iotide.__file__).parent / "deploy/prometheus/rules.yml"
CAPACITY = 1e7
ALONE_CALLS = 36
"""Start delay of the second program, s: six phases of the first one without overlap."""
PROGRAM = """
import os, sys, time
stop, start = sys.argv[1], float(sys.argv[2])
data = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT, 0o600)
while not os.path.exists(stop):
    for step in range(6):
        os.pwrite(data, bytes(1000000), step * 1000000)
        time.sleep(0.1)
    time.sleep((start - time.time()) % 1.5)
"""
"""Writes 6 MB in 0.6 s of every 1.5 s, so that the demand of two such programs is twice the bandwidth.

The pauses are long enough for this pace on a busy machine, too.
"""
ROUTES = """
route: {{receiver: hook, group_by: ["..."], group_wait: 0s, group_interval: 100ms, repeat_interval: 1h}}
receivers:
  - name: hook
    webhook_configs: [{{url: "{hook}", send_resolved: true}}]
"""
SCRAPES = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}}
rule_files: ["{rules}"]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ["{alertmanager}"]}}]}}]}}
scrape_configs:
  - job_name: iotide
    static_configs: [{{targets: ["{target}"]}}]
"""


@contextlib.contextmanager
def tracing(folder: Path, endpoint: str) -> Iterator[tuple[Callable[[str], None], Path]]:
    """Run a collector; yield a function that starts a program with a job name, and a file whose creation ends all
    programs.
    """
    socket, stop, files = folder / "tracer.sock", folder / "stop", folder / "files"
    files.mkdir()
    running: list[subprocess.Popen[bytes]] = []
    try:
        command = [*IOTIDE, "collect", "--socket", str(socket), "--connect", endpoint]
        running.append(subprocess.Popen(command, env=plain_environment()))
        wait_for(socket.exists, what="the collector")
        printed = run_iotide("collect", "--socket", socket, "--print-environment", cwd=folder).stdout
        traced = dict(line.split("=", 1) for line in printed.split())
        begun = str(time.time())

        def start(job: str) -> None:
            words = [sys.executable, "-c", PROGRAM, str(stop), begun, str(files / job)]
            running.append(subprocess.Popen(words, env=plain_environment(SLURM_JOB_ID=job, **traced)))

        yield start, stop
    finally:
        for each in running:
            each.terminate()
        for each in running:
            each.wait()


def told(heard: HttpReceiver, status: str, **labels: str) -> list[dict[str, Any]]:
    """Return the alerts that Alertmanager has sent to its own receiver."""
    return [
        each
        for _, _, body in heard.requests
        for each in json.loads(body)["alerts"]
        if each["status"] == status and labels.items() <= each["labels"].items()
    ]


async def test_alertmanager_hears_of_a_collision_while_it_lasts_and_of_its_end(tmp_path: Path) -> None:
    alertmanager, prometheus = need("prometheus-alertmanager"), need("prometheus")
    options = {
        "analyzers": {"filesystems": {"names": {str(tmp_path / "files"): "scratch"}}},
        "contention": {
            "interval_s": 0.2,
            "capacity": {"scratch": CAPACITY},
            "alerts": {"quiet_s": 3.0, "probability": 0.5, "min_delay_s": 0.05},
        },
    }
    collision = {"alertname": "IotideCollisionAhead", "file_system": "scratch"}
    ours, theirs = collision | {"cluster": "ada"}, collision | {"job": "iotide"}
    with http_receiver() as hook:
        (tmp_path / "am.yml").write_text(ROUTES.format(hook=hook.url))
        async with listening(
            alertmanager,
            f"--config.file={tmp_path}/am.yml",
            f"--storage.path={tmp_path}/am",
            "--web.listen-address=127.0.0.1:0",
            "--cluster.listen-address=",
        ) as address:
            options |= {"notify": {"alertmanagers": [f"http://{address}"], "labels": {"cluster": "ada"}}}
            async with serving(**options) as server:
                target = (server.http_url or "").removeprefix("http://")
                scraping = tmp_path / "prometheus.yml"
                scraping.write_text(SCRAPES.format(rules=RULES, alertmanager=address, target=target))
                jobs = server.aggregator.jobs
                with tracing(tmp_path, server.ingest_endpoint) as (start, stop):
                    start("one")
                    await until(lambda: "one" in jobs and jobs["one"].totals.events > ALONE_CALLS)
                    start("two")
                    await until(lambda: told(hook, "firing", **ours))
                    (shown, *_) = told(hook, "firing", **ours)
                    assert sorted(shown["annotations"]["victims"].split(", ")) == ["one", "two"]
                    assert shown["annotations"]["runbook_url"] == f"{server.http_url}/runbooks#iotidecollisionahead"
                    assert shown["generatorURL"] == f"{server.http_url}/api/v1/contention"
                    async with listening(
                        prometheus,
                        f"--config.file={scraping}",
                        f"--storage.tsdb.path={tmp_path}/data",
                        "--web.listen-address=127.0.0.1:0",
                    ):
                        await until(lambda: told(hook, "firing", **theirs))
                        stop.touch()
                        await until(lambda: told(hook, "resolved", **ours) and told(hook, "resolved", **theirs))
