"""Layers of a parallel HDF5 program traced here: its numbers are consistent, and equal the program's own."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from iotide.clients.layers.page import COLOURS
from iotide.results.layers import Layers, LayersReport, LayerStats
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import PROGRAMS
from support.tracing.programs import need, need_file

_KEYS = """<script>
for (const key of ["+", "ArrowRight"])
  document.querySelector(".lanes").dispatchEvent(new KeyboardEvent("keydown", {key}));
document.querySelector("button.fold").click();
</script>"""
RANKS = 4
STEPS = 3
ROW = (1 << 16) * 8
ALONE = 8
WRITTEN = RANKS * STEPS * (ROW + ALONE)
READ = RANKS * STEPS * ROW
PYTHON = Path("/usr/bin/python3")
H5PY = Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
"""Debian's h5py with parallel HDF5; wheels have the serial one."""


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_file(H5PY)
    folder = tmp_path_factory.mktemp("layers")
    launcher = [need("mpirun.openmpi"), "--oversubscribe", "-n", str(RANKS), str(need_file(PYTHON))]
    done = iotide(
        "run", "--quiet", "--job", "steps", "--", *launcher, PROGRAMS / "hdf5_steps.py", "steps.h5", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    (archive,) = (folder / "iotide-steps").glob("*.iotide")
    return archive


@pytest.fixture(scope="module")
def report(traced: Path) -> Layers:
    """Return the report on the program's output file, and on all calls nested in its calls."""
    done = iotide("layers", "--json", traced, "--filter", "rank=0-", cwd=traced.parent)
    assert done.returncode == 0, done.stderr
    return LayersReport.model_validate_json(done.stdout).layers


def of(report: Layers, name: str) -> LayerStats:
    (row,) = [row for row in report.layers if row.layer == name]
    return row


def test_exclusive_times_sum_to_the_time_in_calls_of_the_program(report: Layers) -> None:
    assert [row.layer for row in report.layers if row.layer in ("HDF5", "MPIIO", "POSIX")] == ["HDF5", "MPIIO", "POSIX"]
    assert sum(row.exclusive_seconds for row in report.layers) == pytest.approx(report.threads_seconds, abs=1e-9)
    assert report.threads_seconds == pytest.approx(sum(row.program_seconds for row in report.layers), abs=1e-9)
    below = {"HDF5": 0.0, "MPIIO": 0.0}
    for step in report.steps:
        if step.caller in below:
            below[step.caller] += step.seconds
    for name, seconds in below.items():
        row = of(report, name)
        assert row.exclusive_seconds == pytest.approx(row.seconds - seconds, abs=1e-9)
    assert of(report, "MPIIO").program_seconds == 0
    assert (report.losses, report.waiting, report.nesting, report.handles_known) == ({}, 0, "recorded", True)


def test_bytes_are_those_of_the_program_and_what_differs_below_is_explained(report: Layers, traced: Path) -> None:
    hdf5 = of(report, "HDF5")
    assert (hdf5.bytes_written, hdf5.bytes_read) == (WRITTEN, READ)
    accounts = {(row.layer, row.way): row for row in report.accounts}
    for way, size in (("write", WRITTEN), ("read", READ)):
        above, middle = accounts["HDF5", way], accounts["MPIIO", way]
        assert (above.bytes, above.below_bytes) == (size, size)
        assert middle.bytes == above.below_bytes + above.other_bytes  # the rest is HDF5's own metadata
        assert middle.below_bytes == middle.bytes
        assert 0 < above.other_bytes < 100_000
    (file,) = [row for row in report.files if row.path.endswith("/steps.h5")]
    on_disk = [row for row in file.accesses if row.layer == "POSIX"]
    assert sum(row.bytes_written for row in on_disk) == accounts["MPIIO", "write"].bytes
    assert sum(row.bytes_read for row in on_disk) == accounts["MPIIO", "read"].bytes
    assert (traced.parent.parent / "steps.h5").stat().st_size <= accounts["MPIIO", "write"].bytes


def test_collective_reports_the_ranks_that_move_data_and_the_waits_of_the_others(report: Layers) -> None:
    (write,) = [row for row in report.collectives if row.call == "MPI_File_write_at_all"]
    assert (write.processes, write.calls, write.bytes) == (RANKS, RANKS * STEPS, RANKS * STEPS * ROW)
    assert write.moved_bytes == write.bytes
    assert 1 <= write.movers <= RANKS
    assert write.seconds == pytest.approx(sum(row.seconds for row in write.ranks))
    still = [row for row in write.ranks if not row.moved_bytes]
    assert write.waiting_seconds == pytest.approx(sum(row.seconds - row.moving_seconds for row in still))
    told = [row.text for row in report.findings if row.rule == "movers"]
    if write.movers == 1 and write.waiting_seconds > 0.5 * write.seconds:
        assert any(text.startswith("MPI_File_write_at_all on") and "1 of 4 processes move all" in text for text in told)
    (account,) = [row for row in report.accounts if (row.layer, row.way) == ("MPIIO", "write")]
    fates = [row for row in report.fates if (row.layer, row.way) == ("MPIIO", "write")]
    assert sum(row.below_bytes for row in fates) == account.below_bytes
    assert sum(row.calls for row in fates) == account.calls


def test_tree_leads_from_the_file_of_hdf5_to_the_descriptor(report: Layers) -> None:
    nodes = {row.node: row for row in report.handles}
    (created,) = [row for row in report.handles if row.call == "H5Fcreate"]
    below = [row for row in report.handles if row.parent == created.node]
    assert {row.call for row in below} >= {"MPI_File_open", "H5Dcreate2"}
    (opened,) = [row for row in below if row.call == "MPI_File_open"]
    (descriptor,) = [row for row in report.handles if row.parent == opened.node and row.file.endswith("/steps.h5")
                     and row.opens]  # fmt: skip
    assert (created.processes, opened.processes, descriptor.processes, opened.opens) == (RANKS,) * 4
    assert descriptor.layer == "POSIX"
    assert descriptor.bytes_written > WRITTEN
    assert {mark.operation for mark in report.marks if mark.node == descriptor.node} >= {"open", "write", "close"}
    assert all(row.parent == 0 or row.parent in nodes for row in report.handles)


def test_files_that_mpi_io_touches_on_its_own_are_told(report: Layers) -> None:
    (own,) = [row for row in report.own_files if (row.layer, row.below) == ("MPIIO", "POSIX")]
    assert own.files > 1
    assert not any(path.endswith("steps.h5") for path in own.examples)


def test_tables_tell_the_same(traced: Path) -> None:
    shown = iotide("layers", traced, "--filter", "path=*/steps.h5", cwd=traced.parent)
    assert shown.returncode == 0, shown.stderr
    assert "which call was made in which is recorded" in shown.stdout
    assert re.search(r"MPI-IO MPI_File_open \S*/steps.h5", shown.stdout)
    assert "100.0%" in shown.stdout


def test_data_folders_can_be_given(traced: Path) -> None:
    def groups(*arguments: str) -> set[str]:
        done = iotide("layers", "--json", traced, "--filter", "path=/usr/lib/python3*", *arguments, cwd=traced.parent)
        assert done.returncode == 0, done.stderr
        return {row.group for row in LayersReport.model_validate_json(done.stdout).layers.files}

    assert (groups(), groups("--data", "/usr/lib/")) == ({"system"}, {"data"})


def test_unsupported_request_is_reported(traced: Path) -> None:
    folder = traced.parent
    for arguments, message in (
        (["--filter", "call=none", traced], "--filter matches none of the"),
        (["-o", "x.png", traced], "expected a name that ends in .html or .json"),
    ):
        done = iotide("layers", *arguments, cwd=folder)
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        assert message in " ".join(done.stderr.split())


def test_page_shows_tree_and_timeline_in_a_browser(traced: Path) -> None:
    browser = need("chromium")
    made = iotide("layers", "-o", "page.html", traced, "--filter", "path=*/steps.h5", cwd=traced.parent)
    assert made.returncode == 0, made.stderr
    page = traced.parent / "page.html"
    page.write_text(page.read_text().replace("</body>", f"{_KEYS}</body>"))
    shown = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={traced.parent / 'browser'}",
         "--virtual-time-budget=2000", "--dump-dom", (traced.parent / "page.html").as_uri()],
        capture_output=True, text=True, check=True, timeout=DEADLINE_S,
    )  # fmt: skip
    assert len(re.findall(r'<tr class="[^"]*" data-node=', shown.stdout)) >= 4
    for colour in (COLOURS["read"], COLOURS["write"], COLOURS["open"], COLOURS["close"]):
        assert f'fill="{colour}"' in shown.stdout
    assert re.search(r"MPI_File_write_at_all <code>", shown.stdout)
    (seen,) = set(re.findall(r'<svg viewBox="([^"]*)"', shown.stdout))
    assert [float(each) for each in seen.split()] == pytest.approx([720, 0, 3200, 20])  # zoomed and moved with keys
    assert re.search(r'<tr class="n\d+[^"]*" data-node="n\d+" hidden', shown.stdout)  # the lower layers are collapsed


def test_the_same_written_as_otf2_gives_the_same_report(traced: Path, report: Layers) -> None:
    pytest.importorskip("otf2")
    folder = traced.parent
    made = iotide("archive", "convert", "--to", "otf2", traced, "-o", folder / "otf2", cwd=folder)
    assert made.returncode == 0, made.stderr
    done = iotide("layers", "--json", folder / "otf2", "--filter", "rank=0-", cwd=folder)
    assert done.returncode == 0, done.stderr
    other = LayersReport.model_validate_json(done.stdout).layers
    named_otherwise = {"job", "mounts", "files", "files_left_out"}  # endpoints of sockets have no names in OTF2
    assert other.model_dump(exclude=named_otherwise) == report.model_dump(exclude=named_otherwise)
    data, others = ([row for row in each.files if row.group == "data"] for each in (report, other))
    assert data == others
