"""Traces of other tools through the commands: results, archives, and reported losses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file, read_all
from support.formats.darshan_package import LOGS, needs_darshan
from support.formats.parsing import collect
from support.formats.recorder_format import Call, write_trace
from support.places import DATA
from support.system.commands import iotide

DARSHAN = LOGS / "ior_hdf5_example.darshan"
PERIOD_S = 12


def checkpointing(folder: Path) -> Path:
    """A Recorder trace of four ranks that write a file every twelve seconds."""
    ranks = []
    for rank in range(4):
        calls = []
        for step in range(20):
            begin = step * PERIOD_S * 10**6 + rank * 1000
            calls += [
                Call(begin + at * 20_000, begin + at * 20_000 + 15_000,
                     "pwrite", ("/scratch/out", "%p", "1048576", str(((step * 4 + rank) * 50 + at) << 20)))
                for at in range(50)
            ]  # fmt: skip
        ranks.append(calls)
    return write_trace(folder / "recorder", ranks, "2.5.0+")


def test_period_of_a_recorder_trace_is_found(tmp_path: Path) -> None:
    done = iotide("detect", "--json", checkpointing(tmp_path), cwd=tmp_path)
    report = json.loads(done.stdout)
    assert (done.returncode, report["source"], report["events"]) == (0, "recorder", 4000)
    assert report["prediction"]["period_s"]["value"] == pytest.approx(PERIOD_S, rel=0.01)
    assert "not imported: 3 starts of ranks" in done.stderr
    assert {row["what"].split(":")[0]: row["count"] for row in report["not_carried"]} == {
        "starts of ranks": 3,
        "results of calls, which Recorder does not keep": 4000,
    }


@needs_darshan
def test_graph_reports_missing_facts_of_the_log(tmp_path: Path) -> None:
    done = iotide("dfg", "--json", "--map", "call", DARSHAN, cwd=tmp_path)
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert {row["name"] for row in report["graph"]["activities"]} >= {
        "MPI_File_write",
        "write",
        "MPI_File_read",
        "read",
    }
    assert {"what": "modules with counts only (H5D, H5F, LUSTRE)", "count": 3} in report["not_carried"]


@pytest.mark.parametrize("trace", ["recorder", "dftracer"])
def test_archive_of_a_trace_has_all_its_calls(trace: str, tmp_path: Path) -> None:
    path = checkpointing(tmp_path) if trace == "recorder" else DATA / "dftracer-calls.pfw.gz"
    made = iotide("archive", "create", "-o", "job.iotide", path, cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert ("not imported" in made.stderr) == (trace != "dftracer")
    ours = collect(read_all(open_file(path, Origin(job="job"))))
    kept = collect(read_all(open_file(tmp_path / "job.iotide", Origin(job="job"))))
    assert sorted(stream.info.rank for stream in kept.values()) == sorted(stream.info.rank for stream in ours.values())
    rows = [sorted(str(row) for stream in each.values() for row in _texts(stream.rows())) for each in (ours, kept)]
    assert rows[0] == rows[1]


def _texts(rows: list[dict[str, object]]) -> list[list[tuple[str, object]]]:
    return [[(name, value) for name, value in row.items() if name != "signature"] for row in rows]
