"""The experiments of [DFG] on real traces: required properties of their graphs."""

from __future__ import annotations

import importlib.util
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import ModuleType

import pytest
from iotide.clients.dfg.colours import GREEN, GREEN_LINE, RED, RED_LINE
from iotide.results.dfg import Comparison, Graph
from support.places import ROOT
from support.tracing.programs import need

SCRIPT = ROOT / "benchmarks/analyzers/dfg_experiments.py"
RANKS, SEGMENTS, TRANSFERS = 4, 2, 3


@pytest.fixture(scope="module")
def experiments() -> ModuleType:
    """The script that records them and draws the pictures of the documentation."""
    specification = importlib.util.spec_from_file_location("dfg_experiments", SCRIPT)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[specification.name] = module
    specification.loader.exec_module(module)
    return module


def edges(graph: Graph) -> dict[tuple[str, str], int]:
    return {(row.source, row.target): row.count for row in graph.edges}


def sides(comparison: Comparison) -> dict[str, str]:
    return {row.name: row.side for row in comparison.nodes}


def test_ls_and_ls_l_and_what_sets_them_apart(experiments: ModuleType, tmp_path: Path) -> None:
    need("strace")
    traces = experiments.record_ls(tmp_path)
    names = sorted(path.name for path in tmp_path.glob("*.st"))
    short, long, both = (
        traces.dfg(*chosen, *names).graph for chosen in (["--filter", "command=ls"], ["--filter", "command=ls-l"], [])
    )
    assert (short.cases, long.cases, both.cases) == (3, 3, 6)
    assert both.events == short.events + long.events
    for one in (short, long):
        rows = experiments.named(one)
        # every process begins with its libraries and ends with its output
        assert rows["read:/usr/lib"].starts == rows["read:/usr/lib"].cases == 3
        assert rows["write:/dev/pts"].ends == 3
        for (source, target), count in edges(one).items():
            assert edges(both)[source, target] >= count
    assert sum(row.load for row in both.activities) == pytest.approx(1)

    picture = tmp_path / "partition.svg"
    need("dot")
    found = traces.dfg("--compare", "command=ls", "command=ls-l", "-o", str(picture), *names).comparison
    assert found is not None
    side = sides(found)
    assert side["read:/usr/lib"] == side["write:/dev/pts"] == "both"
    assert side["read:/etc/passwd"] == side["read:/etc/group"] == "red"
    assert "green" not in side.values()
    assert 0 < found.distance < 1
    red = [row for row in found.edges if row.side == "red"]
    green = [row for row in found.edges if row.side == "green"]
    assert len(red) > len(green) == 1  # only ls prints right after the common calls
    assert green[0].target == "write:/dev/pts"
    svg = ET.fromstring(picture.read_bytes())
    assert {RED.fill} <= {element.get("fill") for element in svg.iter()}
    assert {GREEN_LINE, RED_LINE} <= {element.get("stroke") for element in svg.iter()}
    assert GREEN.fill in picture.read_text()  # in the legend


def test_files_of_a_process_and_shared_ones_and_mpi_io(experiments: ModuleType, tmp_path: Path) -> None:
    for program in ("strace", "mpicc", "mpirun"):
        need(program)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    sizes = {"segments": SEGMENTS, "block": TRANSFERS * 65_536, "transfer": 65_536}
    traces = experiments.record_mpi(tmp_path, scratch, repeats=1, **sizes)
    calls = RANKS * SEGMENTS * TRANSFERS
    view = ["--map", "call+site:1", "--filter", "path=$SCRATCH/*"]

    def of(*names: str) -> list[str]:
        return sorted(path.name for name in names for path in tmp_path.glob(f"{name}_*.st"))

    graph = traces.dfg(*view, *of("ssf", "fpp")).graph
    rows = experiments.named(graph)
    for folder in ("ssf", "fpp"):
        opened, write, read = (rows[f"{call}:$SCRATCH/{folder}"] for call in ("openat", "write", "read"))
        assert (write.events, read.events) == (calls, calls)
        assert write.bytes == read.bytes == calls * 65_536
        assert opened.events == 2 * RANKS
        assert opened.starts == read.ends == RANKS
        assert opened.rate is None
        assert 1 <= write.max_concurrency <= RANKS
        assert edges(graph)[opened.name, write.name] == RANKS
        assert edges(graph)[write.name, write.name] == calls - RANKS
        assert edges(graph)[write.name, opened.name] == RANKS
    assert not any(("ssf" in source) != ("ssf" in target) for source, target in edges(graph))

    found = traces.dfg("--compare", "command=mpiio", "command=posix", *view, *of("mpiio", "posix"))
    assert found.comparison is not None
    side = {name.removesuffix(":$SCRATCH/ssf"): which for name, which in sides(found.comparison).items()}
    assert side == {
        "openat": "both",
        "pread64": "green",
        "pwrite64": "green",
        "read": "red",
        "write": "red",
        "lseek": "red",
    }
    rows = experiments.named(found.graph)
    assert rows["pwrite64:$SCRATCH/ssf"].events == rows["write:$SCRATCH/ssf"].events == calls
    assert rows["pwrite64:$SCRATCH/ssf"].bytes == rows["write:$SCRATCH/ssf"].bytes
    assert rows["lseek:$SCRATCH/ssf"].events == 2 * calls
    assert edges(found.graph)["lseek:$SCRATCH/ssf", "write:$SCRATCH/ssf"] == calls
