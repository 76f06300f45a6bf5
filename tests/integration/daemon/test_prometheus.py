"""A real Prometheus server scrapes a running job."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from support.places import ROOT
from support.servers.prometheus import listening
from support.servers.running_aggregator import PERIOD_S, Fed, feeding, serving
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

RULES = ROOT / "deploy/prometheus/rules.yml"
DASHBOARDS = sorted((ROOT / "deploy/grafana").glob("*.json"))
CONFIG = """
global: {{scrape_interval: 200ms, scrape_timeout: 200ms}}
scrape_configs:
  - job_name: iotide
    static_configs: [{{targets: ["{target}"]}}]
"""


async def query(client: httpx.AsyncClient, expression: str) -> list[dict[str, Any]]:
    try:
        answer = await client.get("/api/v1/query", params={"query": expression})
    except httpx.TransportError:
        return []
    return list(answer.json()["data"]["result"]) if answer.status_code == 200 else []


async def eventually(client: httpx.AsyncClient, expression: str, *, present: bool) -> list[dict[str, Any]]:
    async with asyncio.timeout(DEADLINE_S):
        while bool(result := await query(client, expression)) is not present:
            await asyncio.sleep(0.05)
    return result


async def test_prometheus_keeps_the_period_and_sees_the_job_vanish(tmp_path: Path) -> None:
    prometheus = need("prometheus")
    source = Fed()
    async with serving(linger_s=0.0, retain_s=0.0) as server, feeding(server, source):
        config = tmp_path / "prometheus.yml"
        config.write_text(CONFIG.format(target=(server.http_url or "").removeprefix("http://")))
        words = (f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/data", "--web.listen-address=127.0.0.1:0")
        async with (
            listening(prometheus, *words) as address,
            httpx.AsyncClient(base_url=f"http://{address}", timeout=DEADLINE_S) as client,
        ):
            source.open("s", "4711")
            source.periodic("s")
            (period,) = await eventually(client, 'iotide_job_period_seconds{job_id="4711"}', present=True)
            assert float(period["value"][1]) == pytest.approx(PERIOD_S, rel=0.02)
            (start,) = await eventually(
                client, 'iotide_job_next_phase_start_timestamp_seconds{job_id="4711"}', present=True
            )
            assert float(start["value"][1]) > 1.7e9
            source.end("s")
            await eventually(client, 'iotide_job_period_seconds{job_id="4711"}', present=False)


async def test_prometheus_answers_all_that_dashboards_and_rules_ask_for(tmp_path: Path) -> None:
    prometheus = need("prometheus")
    source = Fed()
    panels = [panel for path in DASHBOARDS for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]]
    assert len(panels) > 30
    async with serving() as server, feeding(server, source):
        config = tmp_path / "prometheus.yml"
        scraped = CONFIG.format(target=(server.http_url or "").removeprefix("http://"))
        config.write_text(f"{scraped}rule_files: [{RULES}]\n")
        words = (f"--config.file={config}", f"--storage.tsdb.path={tmp_path}/data", "--web.listen-address=127.0.0.1:0")
        async with (
            listening(prometheus, *words) as address,
            httpx.AsyncClient(base_url=f"http://{address}", timeout=DEADLINE_S) as client,
        ):
            source.open("s", "4711")
            source.periodic("s")
            await eventually(client, 'iotide_job_period_seconds{job_id="4711"}', present=True)
            await eventually(client, "rate(iotide_job_written_bytes_total[1m])", present=True)
            shown = set()
            for panel in panels:
                for target in panel["targets"]:
                    asked = target["expr"].replace("$__rate_interval", "1m").replace("$job", "4711")
                    asked = asked.replace("$file_system", ".*")
                    answer = await client.get("/api/v1/query", params={"query": asked})
                    assert answer.status_code == 200, f"{panel['title']}: {answer.text}"
                    if answer.json()["data"]["result"]:
                        shown.add(panel["title"])
            groups = (await client.get("/api/v1/rules")).json()["data"]["groups"]
            rules = [rule for group in groups for rule in group["rules"]]
            assert len(rules) == RULES.read_text(encoding="utf-8").count("expr: ")
            for rule in rules:  # their first evaluation may come later than this
                answer = await client.get("/api/v1/query", params={"query": rule["query"]})
                assert answer.status_code == 200, f"{rule['name']}: {answer.text}"
    expected = {
        "Period",
        "Next phase in",
        "Bytes moved",
        "Calls",
        "Jobs",
        "Bandwidth of the ten largest jobs",
        "Ingest",
    }
    assert expected <= shown
