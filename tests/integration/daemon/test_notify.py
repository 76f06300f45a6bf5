"""Alerts of a running aggregator reach their receivers over HTTP."""

from __future__ import annotations

import json
import threading

import httpx
from support.servers.http_receivers import http_receiver
from support.servers.running_aggregator import Fed, feeding, serving, until

NAMED = {"filesystems": {"names": {"/scratch": "scratch"}}}
LOOKS = {
    "interval_s": 0.1,
    "capacity": {"scratch": 1e7},
    "min_probability": 0.01,
    "alerts": {"looks": 1, "probability": 0.01, "min_delay_s": 0.0},
}


async def test_receivers_are_told_also_when_one_of_them_is_down_at_first() -> None:
    source = Fed()
    with http_receiver(status=503, body=b"not yet") as alertmanager, http_receiver() as hook:
        notify = {
            "alertmanagers": [alertmanager.url],
            "webhooks": [f"{hook.url}/hook?key=secret"],
            "labels": {"c": "ada"},
        }
        async with (
            serving(analyzers=NAMED, contention=LOOKS, notify=notify) as server,
            httpx.AsyncClient(base_url=server.http_url or "") as client,
            feeding(server, source),
        ):
            for job in ("one", "two"):
                source.open(job, job, host="n1")
                source.periodic(job)
            await until(lambda: alertmanager.requests and hook.requests)
            alertmanager.status = 200
            await until(lambda: len(alertmanager.requests) > 1)
            path, _, body = alertmanager.requests[-1]
            assert path == "/api/v2/alerts"
            (told,) = json.loads(body)
            assert told["labels"] == {
                "alertname": "IotideCollisionAhead", "severity": "info", "kind": "collision",
                "file_system": "scratch", "c": "ada",
            }  # fmt: skip
            assert told["annotations"]["victims"] == "one, two"
            assert told["generatorURL"] == f"{server.http_url}/api/v1/contention"
            path, _, body = hook.requests[0]
            assert path == "/hook?key=secret"
            assert json.loads(body)["alerts"][0]["labels"] == told["labels"]

            def counted(receiver: str, outcome: str) -> bool:
                return f'iotide_notifications_total{{outcome="{outcome}",receiver="{receiver}"}} 1.0' in metrics

            async def delivered() -> str:
                return (await client.get("/metrics")).text

            metrics = await delivered()
            while not counted(alertmanager.url, "sent"):
                metrics = await delivered()
            assert f'outcome="failed",receiver="{alertmanager.url}"' in metrics
            assert counted(f"{hook.url}/hook", "sent")
            assert f'iotide_notifications_waiting{{receiver="{alertmanager.url}"}} 0.0' in metrics
            assert "secret" not in metrics


async def test_aggregator_ends_at_once_while_a_receiver_is_silent() -> None:
    source = Fed()
    with http_receiver(silent=True) as silent:
        async with (
            serving(analyzers=NAMED, contention=LOOKS, notify={"webhooks": [silent.url], "timeout_s": 300}) as server,
            feeding(server, source),
        ):
            for job in ("one", "two"):
                source.open(job, job, host="n1")
                source.periodic(job)
            await until(lambda: silent.requests)
        # it has ended, and the message is not answered yet
        assert any(thread.name == "iotide-notify" for thread in threading.enumerate())
