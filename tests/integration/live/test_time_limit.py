"""A job with a known end: from the option or the batch system over the wire to the report."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest
from iotide.results.jobs.job import JobSummary
from iotide.results.jobs.run import RunSummary
from iotide.results.prediction import Prediction, TimeLimit
from support.servers.running_aggregator import PERIOD_S, Fed, asking, feeding, serving, until
from support.system.commands import iotide, plain_environment

WRITER = """
import os, time
for number in range(4):
    with open("checkpoint", "wb", buffering=0) as out:
        out.write(bytes(1 << 20))
    time.sleep(0.4)
"""


@pytest.mark.parametrize("said", ["option", "batch system", "both"])
def test_run_tells_what_its_end_costs(tmp_path: Path, said: str) -> None:
    ends = round(time.time()) + 3600
    options = ["--ends-at", str(ends)] if said != "batch system" else []
    variable = {"option": None, "batch system": str(ends), "both": str(ends + 60)}[said]
    environment = plain_environment(**({} if variable is None else {"SLURM_JOB_END_TIME": variable}))
    command = ["run", "-q", "-o", "out", "--interval", "0.1", *options, "--", sys.executable, "-c", WRITER]
    done = iotide(*command, cwd=tmp_path, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    summary = RunSummary.model_validate_json((tmp_path / "out" / "summary.json").read_text())
    assert summary.job.ends_at_s == ends
    lines = (tmp_path / "out" / "predictions.jsonl").read_text().splitlines()
    *live, whole = [Prediction.model_validate(json.loads(line)) for line in lines]
    assert whole.time_limit is None
    for prediction in live:
        assert prediction.time_limit is not None
        assert prediction.time_limit.ends_at_s == ends


def test_value_of_the_batch_system_that_is_no_time_is_told_and_does_no_harm(tmp_path: Path) -> None:
    environment = plain_environment(SLURM_JOB_END_TIME="tomorrow")
    done = iotide("run", "-q", "--no-report", "--", "true", cwd=tmp_path, env=environment)
    assert done.returncode == 0
    assert done.stderr == "iotide: SLURM_JOB_END_TIME is 'tomorrow', which is not a time: the job's end is not known\n"


async def test_aggregator_tells_the_end_of_a_job_in_all_its_answers() -> None:
    source, ends = Fed(), time.time() + 6.5 * PERIOD_S
    source.open("s", "ending")
    source.open("t", "another")
    async with (
        serving() as server,
        asking(server) as client,
        feeding(server, source, ends_at_s=ends, ends_job="ending"),
    ):
        source.periodic("s")
        source.periodic("t")
        jobs = server.aggregator.jobs
        await until(lambda: len(jobs) == 2 and all(job.prediction is not None for job in jobs.values()))
        told = Prediction.model_validate((await client.get("/api/v1/jobs/ending/prediction")).json()).time_limit
        assert told is not None
        assert told.ends_at_s == ends
        same = TimeLimit.model_validate((await client.get("/api/v1/jobs/ending/limit")).json())
        assert same.ends_at_s == ends
        summary = JobSummary.model_validate((await client.get("/api/v1/jobs")).json()["jobs"][0])
        assert {summary.job: summary.ends_at_s} in ({"ending": ends}, {"another": None})
        metrics = (await client.get("/metrics")).text
        assert 'iotide_job_end_timestamp_seconds{job_id="ending"}' in metrics
        assert 'iotide_job_end_timestamp_seconds{job_id="another"}' not in metrics
        absent = await client.get("/api/v1/jobs/another/limit")
        assert (absent.status_code, absent.json()["expected"]) == (404, "ends_at_s in the query, Unix time")
        asked = await client.get("/api/v1/jobs/another/limit", params={"ends_at_s": ends + PERIOD_S})
        assert TimeLimit.model_validate(asked.json()).ends_at_s == ends + PERIOD_S
        assert (await client.get("/api/v1/jobs/another/limit", params={"ends_at_s": -1})).status_code == 422
        assert (await client.get("/api/v1/jobs/none/limit")).status_code == 404


def test_replay_of_finished_files_has_no_end(tmp_path: Path) -> None:
    done = iotide("collect", "--replay", "--ends-at", "+60", "trace.jsonl", cwd=tmp_path)
    assert done.returncode == 2
    assert "--ends-at is for running jobs" in done.stderr
