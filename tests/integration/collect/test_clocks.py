"""A collector on a node whose clock is hours off, and is set while it runs."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import subprocess
import time
from pathlib import Path

import httpx
import pytest
from support.servers.running_aggregator import serving, until
from support.system.commands import IOTIDE, Program, plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import built

HOURS_S = -7200
HOST = socket.gethostname()
LONG_S = 600.0
"""Tolerance, s: a round trip is no more accurate while this machine stalls."""


async def test_calls_of_a_node_that_is_behind_are_when_they_were(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    shim = built(tmp_path_factory, "set_clock.c", "-shared", "-fPIC")
    off, calls = tmp_path / "off", tmp_path / "calls.jsonl"
    off.write_bytes(struct.pack("<q", HOURS_S * 10**9))
    calls.touch()

    def call(off_s: int) -> float:
        """Write a line with a timestamp of a clock with the given offset; return the true time."""
        now_s = time.time()
        line = {"call": "write", "path": "/scratch/out", "start": now_s + off_s, "dur": 0.001, "size": 1000}
        with calls.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return now_s

    async with serving(ingest=f"ipc://{tmp_path}/in", http="127.0.0.1:0", contention={"enabled": False}) as server:
        command = [*IOTIDE, "collect", "--connect", server.ingest_endpoint, "--job", "job", "--format", "jsonl", calls]
        environment = plain_environment(LD_PRELOAD=str(shim), CLOCK_OFF_FILE=str(off))
        jobs = server.aggregator.jobs
        with Program(command, env=environment, stderr=subprocess.PIPE, text=True) as collector:
            first_s = call(HOURS_S)
            await until(lambda: "job" in jobs and jobs["job"].analyzers.events == 1)
            session = jobs["job"]
            assert session.first_ns == pytest.approx(first_s * 1e9, abs=LONG_S * 1e9)
            assert session.clocks_off[HOST] == pytest.approx(HOURS_S * 1e9, abs=LONG_S * 1e9)
            async with httpx.AsyncClient(base_url=server.http_url or "") as client:
                detail = (await client.get("/api/v1/jobs/job")).json()
                assert detail["clocks_off_s"][HOST] == pytest.approx(HOURS_S, abs=LONG_S)
                metrics = (await client.get("/metrics")).text
            (row,) = [line for line in metrics.splitlines() if line.startswith("iotide_job_clock_offset_seconds{")]
            assert float(row.split()[-1]) == pytest.approx(HOURS_S, abs=LONG_S)
            off.write_bytes(struct.pack("<q", 0))  # as the node's administrator corrects it
            second_s = call(0)
            await until(lambda: jobs["job"].analyzers.events == 2)
            assert session.last_ns == pytest.approx(second_s * 1e9, abs=LONG_S * 1e9)
            assert (session.bytes_written, dict(session.losses.total)) == (2000, {})
            collector.terminate()
            assert await asyncio.to_thread(collector.wait, DEADLINE_S) == 0
