"""Alerts survive a restart: active ones stay active, and those resolved meanwhile are sent as resolved."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import httpx
import pytest
from iotide.daemon.state.alert_file import NAME, AlertFile, StoredAlerts
from iotide.results.alerts import AlertList
from support.servers.http_receivers import HttpReceiver, http_receiver
from support.servers.restarted_job import copy_folder
from support.servers.running_aggregator import Fed, feeding, serving, until

NAMED = {"filesystems": {"names": {"/scratch": "scratch"}}}


def contention(quiet_s: float = 3600.0) -> dict[str, Any]:
    alerts = {"looks": 1, "probability": 0.01, "min_delay_s": 0.0, "quiet_s": quiet_s}
    return {"interval_s": 0.1, "capacity": {"scratch": 1e7}, "min_probability": 0.01, "alerts": alerts}


def heard(receiver: HttpReceiver) -> list[dict[str, Any]]:
    return [alert for _, _, body in receiver.requests for alert in json.loads(body)]


def kept(folder: Path) -> StoredAlerts:
    return AlertFile(folder).read(0.0)[0]


async def collided(folder: Path, receiver: HttpReceiver) -> None:
    """Let an aggregator raise an alert, and leave its folder as after a kill at that time."""
    source = Fed()
    notify = {"alertmanagers": [receiver.url]}
    async with (
        serving(analyzers=NAMED, contention=contention(), notify=notify, state=folder / "one") as server,
        feeding(server, source),
    ):
        for job in ("one", "two"):
            source.open(job, job, host="n1")
            source.periodic(job)
        await until(lambda: receiver.requests and kept(folder / "one").raised)
        copy_folder(folder / "one", folder / "two")


async def test_raised_alert_stays_raised_and_is_resolved_once_there_is_nothing_of_it(tmp_path: Path) -> None:
    with http_receiver() as receiver:
        await collided(tmp_path, receiver)
        (before,) = kept(tmp_path / "two").raised
        receiver.requests.clear()
        notify = {"alertmanagers": [receiver.url]}
        # the data of the jobs is lost
        for name in ("jobs.state", "journal"):
            if (tmp_path / "two" / name).exists():
                (tmp_path / "two" / name).rename(tmp_path / name)
        options = {"contention": contention(quiet_s=1.0), "notify": notify, "state": tmp_path / "two"}
        async with serving(**options) as server, httpx.AsyncClient(base_url=server.http_url or "") as client:
            listed = AlertList.model_validate_json((await client.get("/api/v1/alerts")).content)
            assert [(alert.key, alert.since_s) for alert in listed.raised] == [(before.key, before.since_s)]
            metrics = (await client.get("/metrics")).text
            assert 'iotide_contention_alert_active{file_system="scratch",job_id="",kind="collision"} 1.0' in metrics
            await until(lambda: len({alert["endsAt"] for alert in heard(receiver)}) > 1)
            first, *_, last = heard(receiver)
            assert first["startsAt"] == last["startsAt"]
            assert first["labels"] == last["labels"]
            assert server.aggregator.counters["contention_alerts:raised:collision"] == 0
            assert server.aggregator.counters["contention_alerts:resolved:collision"] == 1
            await until(lambda: not kept(tmp_path / "two").raised)
            await until(lambda: not kept(tmp_path / "two").waiting)  # the response arrives after the receiver's record
    assert not kept(tmp_path / "two").waiting


async def test_undelivered_alerts_are_sent_by_the_next_aggregator(tmp_path: Path) -> None:
    source = Fed()
    with http_receiver(status=503) as receiver:
        notify = {"webhooks": [receiver.url]}
        async with (
            serving(analyzers=NAMED, contention=contention(), notify=notify, state=tmp_path) as server,
            feeding(server, source),
        ):
            for job in ("one", "two"):
                source.open(job, job, host="n1")
                source.periodic(job)
            await until(lambda: receiver.requests and kept(tmp_path).raised)
        assert [len(alerts) for alerts in kept(tmp_path).waiting.values()] == [1]
        receiver.requests.clear()
        receiver.status = 200
        async with serving(contention=contention(), notify=notify, state=tmp_path):
            await until(lambda: receiver.requests)
            told = json.loads(receiver.requests[0][2])
            assert [alert["status"] for alert in told["alerts"]] == ["firing"]
            await until(lambda: not kept(tmp_path).waiting)


async def test_alert_of_an_aggregator_that_was_away_for_long_is_resolved(tmp_path: Path) -> None:
    with http_receiver() as receiver:
        await collided(tmp_path, receiver)
        receiver.requests.clear()
        file = tmp_path / "two" / NAME
        options = {"contention": contention(quiet_s=1.0), "notify": {"alertmanagers": [receiver.url]}}
        os.utime(file, (1, 1))
        async with serving(state=tmp_path / "two", **options) as server:
            await until(lambda: heard(receiver))
            assert server.aggregator.counters["contention_alerts:resolved:collision"] == 1


@pytest.mark.parametrize("content", [b"", b"{", b'{"raised": [{"kind": "none"}]}', b"\xff\x00"])
async def test_file_that_cannot_be_read_is_set_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    async with serving(contention=contention(), state=tmp_path) as server:
        assert server.aggregator.counters["task_failures:alerts"] == 0
    assert (tmp_path / "alerts.unreadable").read_bytes() == content


def test_file_is_private_and_written_anew_only_where_it_changes(tmp_path: Path) -> None:
    file = AlertFile(tmp_path)
    file.write(StoredAlerts())
    first = (tmp_path / NAME).stat()
    assert first.st_mode & 0o777 == 0o600
    file.write(StoredAlerts())
    assert (tmp_path / NAME).stat().st_ino == first.st_ino
    file.write(StoredAlerts(waiting={"x": []}))
    assert kept(tmp_path).waiting == {"x": []}
