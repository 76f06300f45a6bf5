"""``iotide simulate`` on mixes, traces, archives and a running aggregator, as a user runs it."""

from __future__ import annotations

import asyncio
import json
import subprocess
from pathlib import Path

import pytest
from iotide.clients.job_fetch import fetch_for_all_jobs
from iotide.results.contention import Contention
from iotide.results.schedule import Simulation
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S

CLASSES = ("--class", "4x10", "--class", "4x100", "--spread", "0.3", "--duration", "1000")


def simulated(*arguments: str | Path, cwd: Path) -> Simulation:
    done = iotide("simulate", "--json", *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return Simulation.model_validate_json(done.stdout)


def trace(path: Path, period: float, megabytes: int, start: float = 1.7e9) -> Path:
    """Write a trace in which each period ends with a second of writing."""
    rows = [
        {
            "call": "write",
            "path": "/scratch/out",
            "pid": 1,
            "start": start + period * turn + 0.1 * part,
            "dur": 0.1,
            "size": megabytes * 100_000,
        }
        for turn in range(12)
        for part in range(10)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_mix_is_simulated_under_all_policies_and_is_determined_by_the_seed(tmp_path: Path) -> None:
    first, again, other = (simulated(*CLASSES, "--seed", seed, cwd=tmp_path) for seed in ("1", "1", "2"))
    assert first == again != other
    assert len(first.policies) == 5
    by_name = {result.policy: result for result in first.policies}
    assert all(len(result.jobs) == 8 for result in first.policies)
    slowdowns = {name: result.io_slowdown or 0.0 for name, result in by_name.items()}
    assert slowdowns["volume-first"] < slowdowns["fair-share"]
    assert slowdowns["set-10"] < slowdowns["fair-share"]


def test_traces_contend_when_the_bandwidth_is_that_of_one(tmp_path: Path) -> None:
    traces = [trace(tmp_path / "a.jsonl", 5.0, 50), trace(tmp_path / "b.jsonl", 5.0, 50)]
    result = simulated(*traces, "--policy", "fair-share", "--policy", "fcfs", "--start", "together", cwd=tmp_path)
    assert [policy.policy for policy in result.policies] == ["fair-share", "fcfs"]
    assert result.bandwidth == pytest.approx(50e6, rel=0.05)
    fair, first = ([job.io_slowdown for job in policy.jobs] for policy in result.policies)
    assert fair == pytest.approx([2, 2], rel=0.05)
    assert min(one for one in first if one is not None) == pytest.approx(1, rel=0.05)
    assert all(job.predicted and job.bytes_moved == pytest.approx(600e6, rel=0.01) for job in result.policies[0].jobs)


def test_traces_of_different_times_do_not_meet_and_that_is_told(tmp_path: Path) -> None:
    traces = [trace(tmp_path / "a.jsonl", 5.0, 50), trace(tmp_path / "b.jsonl", 5.0, 50, start=1.7e9 + 1000)]
    result = simulated(*traces, cwd=tmp_path)
    assert any("same time" in note for note in result.notes)
    assert any("a lower --bandwidth makes them wait" in note for note in result.notes)
    assert [policy.io_slowdown for policy in result.policies] == pytest.approx([1] * 5)


def test_folder_of_runs_stands_for_their_archives(tmp_path: Path) -> None:
    for job in ("a", "b"):
        words = ("dd", "if=/dev/zero", f"of={tmp_path}/{job}.data", "bs=1M", "count=4")
        done = iotide("run", "--output", f"{tmp_path}/monday/{job}", "--", *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    (tmp_path / "monday" / "broken.iotide").write_bytes(b"IOTIDE")
    result = simulated(tmp_path / "monday", "--policy", "set-10", "--start", "together", cwd=tmp_path)
    assert [round(job.bytes_moved) for job in result.policies[0].jobs] == [4 << 20] * 2
    (note,) = (note for note in result.notes if "broken.iotide" in note)
    assert note.endswith("left out")


def test_a_description_table_and_picture(tmp_path: Path) -> None:
    (tmp_path / "mix.toml").write_text("duration_s = 500\n[[class]]\ncount = 5\nperiod_s = 20\nuneven = true\n")
    done = iotide("simulate", "--mix", "mix.toml", "--plot", "p.svg", "--plot-to", "100", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5 jobs sharing 1.0 GB/s" in done.stdout
    assert "volume-first instead of fair share" in done.stdout
    assert (tmp_path / "p.svg").read_text().count("<svg ") == 11  # the whole picture, and two panels per policy


def test_predictions_can_be_wrong_late_and_missing(tmp_path: Path) -> None:
    result = simulated(*CLASSES, "--wrong", "0.5", "--late", "2", "--missing", "0.5", cwd=tmp_path)
    assert (result.errors.wrong, result.errors.late, result.errors.missing) == (0.5, 2, 0.5)
    told = {job.predicted for job in result.policies[0].jobs}
    assert told == {True, False}
    without = simulated(
        *CLASSES, "--missing", "1", "--policy", "lowest-yield", "--policy", "volume-first", cwd=tmp_path
    )
    lowest, ours = without.policies
    assert not any(job.predicted for job in ours.jobs + lowest.jobs)
    assert ours.io_slowdown < lowest.io_slowdown  # it uses the jobs' own phases


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "no jobs: name traces"),
        (("--class", "1x10", "--mix", "mix.toml"), "name jobs in one way"),
        ((".",), "the folder has no archive"),
        (("--class", "20y10"), "COUNTxPERIOD"),
        (("--class", "1x10", "--policy", "set-11"), "expected one of fair-share"),
        (("--class", "1x10", "--bandwidth", "fast"), "bytes/s above 0"),
        (("--class", "1x10", "--plot", "x.pdf"), "ends in .svg"),
        (("--class", "1x10", "--start", "together"), "--start is for traced"),
        (("--class", "1x10", "--duration", "1e15"), "lower the duration"),
        (("--class", "5x10", "--limit", "1M", "--load", "2"), "lower the load or raise its limit"),
        (("--mix", "none.toml"), "cannot be read"),
        (("none.iotide",), "cannot be read"),
        (("http://127.0.0.1:1",), "no answer (Connection refused)"),
    ],
)
def test_bad_usage_is_told(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    done: subprocess.CompletedProcess[str] = iotide("simulate", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


async def test_running_jobs_of_an_aggregator_are_simulated_as_predicted(tmp_path: Path) -> None:
    source = Fed()
    async with serving() as server, feeding(server, source):
        source.open("s", "job", host="n1")
        source.periodic("s")

        def known() -> bool:
            job = server.aggregator.jobs.get("job")
            return job is not None and job.prediction is not None and job.prediction.next_phase is not None

        await until(known)
        address = server.http_url or ""
        for source_name in (address, f"{address}/jobs/job"):
            done = await asyncio.to_thread(
                iotide, "simulate", "--json", "--policy", "set-10", "--duration", "60", source_name, cwd=tmp_path
            )
            assert done.returncode == 0, done.stderr
            result = Simulation.model_validate_json(done.stdout)
            assert [job.job for job in result.policies[0].jobs] == ["job"]
            assert result.policies[0].io_slowdown == pytest.approx(1)
            assert result.policies[0].jobs[0].phases >= 10


async def test_bandwidth_of_running_jobs_is_the_known_capacity_of_their_file_system(tmp_path: Path) -> None:
    source = Fed()
    settings = {
        "analyzers": {"filesystems": {"names": {"/scratch": "scratch"}}},
        "contention": {"capacity": {"scratch": 3e9}, "interval_s": 0.1, "share": 1.0},
    }
    async with serving(**settings) as server, feeding(server, source):
        source.open("s", "job", host="n1")
        source.periodic("s")
        address = server.http_url or ""

        async with asyncio.timeout(DEADLINE_S):
            while not (await asyncio.to_thread(fetch_for_all_jobs, address, "contention", Contention)).next_phases:
                await asyncio.sleep(0.05)
        for options, bandwidth in (((), 3e9), (("--bandwidth", "1e9"), 1e9)):
            arguments = ("simulate", "--json", "--policy", "set-10", "--duration", "60", *options, address)
            done = await asyncio.to_thread(iotide, *arguments, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            result = Simulation.model_validate_json(done.stdout)
            assert result.bandwidth == bandwidth
            assert any("configured capacity of scratch" in note for note in result.notes) == (not options)
