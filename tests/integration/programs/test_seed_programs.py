"""MPI programs with the I/O of IOR and HACC-IO: their own logs contain the start and the bytes of each phase."""

from __future__ import annotations

import re
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from iotide.results.jobs.run import RunSummary
from support.jobs.own_log import assert_period, even_run, phase_distances
from support.places import ROOT
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S
from support.tracing.mpi import dropped
from support.tracing.programs import need

PROGRAMS = ROOT / "benchmarks/programs"


@dataclass(frozen=True)
class Told:
    """Output of a program."""

    starts_s: list[float]
    written: dict[int, int]
    """Bytes by rank."""
    read: dict[int, int]


def told_by(out: str) -> Told:
    starts = [int(start) / 1e9 for start in re.findall(r"^phase (\d+) \d+$", out, re.MULTILINE)]
    moved: dict[str, dict[int, int]] = {"r": {}, "w": {}}
    for rank, size, way in re.findall(r"^request (\d+) \d+ \d+ (\d+) ([rw])$", out, re.MULTILINE):
        moved[way][int(rank)] = moved[way].get(int(rank), 0) + int(size)
    return Told(starts, moved["w"], moved["r"])


def run(folder: Path, name: str, *arguments: str, frequency_hz: float = 10) -> tuple[Told, RunSummary]:
    command = [need("mpicc"), "-O2", "-Wall", "-Wextra", "-Werror", "-o", name, str(PROGRAMS / f"{name}.c")]
    subprocess.run(command, cwd=folder, check=True, timeout=DEADLINE_S)
    program = [need("mpirun"), "-n", "2", f"./{name}", "-o", "data", *arguments]
    options = ["--json", "run.json", "--no-report", "-f", str(frequency_hz)]
    done = iotide("run", *options, "--", *program, cwd=folder)
    assert done.returncode == 0, done.stderr
    summary = RunSummary.model_validate_json((folder / "run.json").read_text())
    assert summary.job.ranks == 2
    assert dropped(summary.job.losses) == {}
    return told_by(done.stdout), summary


def test_period_of_an_ior_run_is_that_of_its_own_log(tmp_path: Path) -> None:
    arguments = ["-i", "8", "-s", "1", "-b", "1048576", "-t", "262144", "-d", "0.6", "-D", "0.2"]

    def once(folder: Path) -> tuple[Told, RunSummary, Path]:
        return *run(folder, "ior_like", *arguments, frequency_hz=20), folder

    (told, summary, folder), starts = even_run(once, lambda done: done[0].starts_s, tmp_path, near=0.03)
    assert summary.prediction is not None
    assert summary.prediction.period_s is not None
    assert len(starts) == 8
    assert_period(summary.prediction.period_s.value, starts, near=0.03)
    truth = phase_distances(starts)
    if max(truth) < 1.1 * min(truth):
        assert summary.prediction.period_s.value == pytest.approx(statistics.mean(truth), rel=0.03)
        assert summary.prediction.confidence > 0.5
    (data,) = [row for row in summary.job.files if row.path == str(folder / "data")]
    assert data.bytes_written == sum(told.written.values())
    assert set(told.written) == {0, 1}


def test_ior_through_mpi_io_is_seen_to_the_byte_both_ways(tmp_path: Path) -> None:
    told, summary = run(tmp_path, "ior_like", "-a", "mpiio", "-i", "3", "-b", "524288", "-t", "131072", "-d", "0", "-r")
    assert told.written == told.read == {0: 3 * 2 * 524288, 1: 3 * 2 * 524288}
    (data,) = [row for row in summary.job.files if row.path == str(tmp_path / "data")]
    assert (data.bytes_written, data.bytes_read) == (2 * 3 * 2 * 524288, 2 * 3 * 2 * 524288)


def test_each_rank_of_a_hacc_run_has_its_own_file_seen_to_the_byte(tmp_path: Path) -> None:
    told, summary = run(tmp_path, "hacc_like", "-i", "3", "-n", "10000", "-d", "0", "-F", "50000")
    assert told.written == told.read == {0: 3 * 380_000, 1: 3 * 380_000}
    for rank in range(2):
        (data,) = [row for row in summary.job.files if row.path == str(tmp_path / f"data.{rank}")]
        assert (data.bytes_written, data.bytes_read) == (told.written[rank], told.read[rank])
