"""Layers of OTF2 traces: written by the otf2 package in a tracer's format, and exported from our traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from iotide.results.layers import Layers, LayersReport
from support.system.commands import iotide

otf2 = pytest.importorskip("otf2")
RANKS = 2
STEP = 1000
DUMP = "/scratch/dump_329.nc"


def report_of(*files: str | Path, cwd: Path) -> Layers:
    done = iotide("layers", "--json", *files, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return LayersReport.model_validate_json(done.stdout).layers


class Rank:
    """One rank's definitions and events; times are microseconds."""

    def __init__(self, writer: Any, node: Any, paradigms: dict[str, Any], file: Any, rank: int) -> None:
        from otf2.enums import IoHandleFlag

        definitions = writer.definitions
        group = definitions.location_group(f"MPI Rank {rank}", system_tree_parent=node)
        self._definitions = definitions
        self.events = writer.event_writer_from_location(definitions.location("Master thread", group=group))
        none = IoHandleFlag.NONE
        self.netcdf = definitions.io_handle("", file, paradigms["NetCDF"], none, None, None)
        self.mpi = definitions.io_handle("", file, paradigms["MPI-IO"], none, None, self.netcdf)
        self.posix = definitions.io_handle("", file, paradigms["POSIX"], none, None, self.mpi)
        maps = definitions.io_regular_file(f"/proc/{4386 + rank}/maps", scope=node)
        self.maps = definitions.io_handle("", maps, paradigms["ISOC"], none, None, self.mpi)

    @contextmanager
    def call(self, name: str, begin: int, end: int, handle: Any, write: int = -1, read: int = -1) -> Iterator[None]:
        """Enter and leave a region; with a number of bytes it is an operation on a handle."""
        from otf2.enums import IoOperationFlag, IoOperationMode, RegionRole

        region = self._definitions.region(name, region_role=RegionRole.FUNCTION)
        self.events.enter(begin, region)
        size = max(write, read)
        if size >= 0:
            mode = IoOperationMode.WRITE if write >= 0 else IoOperationMode.READ
            flag = IoOperationFlag.COLLECTIVE if name.endswith("_all") else IoOperationFlag.NONE
            self.events.io_operation_begin(begin, handle, mode, flag, size, begin)
        yield
        if size >= 0:
            self.events.io_operation_complete(end, handle, size, begin)
        self.events.leave(end, region)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Layers:
    """Make the pattern of the cloud model study: each rank reads its map, one writes for all."""
    from otf2.enums import IoParadigmClass, IoParadigmFlag

    folder = tmp_path_factory.mktemp("otf2")
    with otf2.writer.open(str(folder / "trace"), timer_resolution=10**6) as writer:
        definitions = writer.definitions
        root = definitions.system_tree_node("cluster")
        node = definitions.system_tree_node("nid1", "node", parent=root)
        paradigms = {
            name: definitions.io_paradigm(name, name, IoParadigmClass.SERIAL, IoParadigmFlag.NONE)
            for name in ("NetCDF", "MPI-IO", "POSIX", "ISOC")
        }
        file = definitions.io_regular_file(DUMP, scope=root)
        for number in range(RANKS):
            rank = Rank(writer, node, paradigms, file, number)
            with (
                rank.call("nc_put_vara_double", 0, 60 * STEP, rank.netcdf, write=5000),
                rank.call("MPI_File_write_at_all", 5 * STEP, 55 * STEP, rank.mpi, write=5000),
            ):
                with rank.call("fgets", 6 * STEP, 8 * STEP, rank.maps, read=100):
                    pass
                for part in range(4 if number == 0 else 0):
                    begin = (10 + 10 * part) * STEP
                    with rank.call("write", begin, begin + 5 * STEP, rank.posix, write=2500):
                        pass
    return report_of("trace", cwd=folder)


def test_own_times_sum_and_accesses_grow_on_their_way_down(report: Layers) -> None:
    rows = {row.layer: row for row in report.layers}
    assert list(rows) == ["NETCDF", "MPIIO", "STDIO", "POSIX"]
    own = {name: round(row.exclusive_seconds * 1000) for name, row in rows.items()}
    assert own == {"NETCDF": 20, "MPIIO": 76, "STDIO": 4, "POSIX": 20}
    assert sum(own.values()) == round(report.threads_seconds * 1000) == 2 * 60
    (file,) = [row for row in report.files if row.path == DUMP]
    assert {access.layer: access.writes for access in file.accesses} == {"NETCDF": 2, "MPIIO": 2, "POSIX": 4}
    assert (report.nesting, report.handles_known) == ("recorded", True)


def test_one_rank_writes_for_all_and_the_other_waits(report: Layers) -> None:
    (call,) = report.collectives
    assert (call.call, call.processes, call.movers, call.bytes) == ("MPI_File_write_at_all", RANKS, 1, 10_000)
    assert [(row.process, row.bytes) for row in call.ranks] == [("rank 0", 5000), ("rank 1", 5000)]
    assert [row.moved_bytes for row in call.ranks] == [10_000, 0]
    assert call.waiting_seconds == pytest.approx(0.048)
    assert {row.fate: row.below_bytes for row in report.fates if row.layer == "MPIIO"} == {
        "split": 10_000,
        "absorbed": 0,
    }


def test_maps_are_files_of_mpi_io_of_its_own(report: Layers) -> None:
    (own,) = report.own_files
    assert (own.layer, own.below, own.files, own.examples) == ("MPIIO", "STDIO", 2, ["/proc/#/maps"])


def test_tree_of_handles_is_that_of_the_definitions(report: Layers) -> None:
    assert [(row.depth, row.layer, row.file) for row in report.handles] == [
        (0, "NETCDF", DUMP),
        (1, "MPIIO", DUMP),
        (2, "POSIX", DUMP),
        (2, "STDIO", "/proc/#/maps"),
    ]
