"""``iotide archive convert`` on real programs: other tools read its output, and errors are clear."""

from __future__ import annotations

import json
import os
import resource
import stat
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import h5py
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from iotide.archive.file.reader import ArchiveReader
from iotide.cli.main import group
from support.formats import otf2_reading, trace_event_format
from support.formats.otf2_reading import Region
from support.system.commands import IOTIDE, plain_environment
from support.system.commands import iotide as run_iotide
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import PROGRAMS
from support.tracing.programs import need, need_file

PYTHON = Path("/usr/bin/python3")
H5PY = Path("/usr/lib/python3/dist-packages/h5py/_debian_h5py_mpi")
HDF5 = """
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    rows = file.create_dataset("rows", (64, 1024), dtype="f8", chunks=(8, 1024))
    for row in range(64):
        rows[row] = numpy.full(1024, float(row))
"""


def iotide(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a sub-command in this process, which saves the start of an interpreter."""
    words = [str(argument) for argument in arguments]
    done = CliRunner().invoke(group, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def traced(folder: Path, *command: str | Path) -> Path:
    """Run a program under iotide; return its archive."""
    done = run_iotide("run", "--quiet", "--", *command, cwd=folder)
    assert done.returncode == 0, done.stderr
    (archive,) = folder.glob("*/*.iotide")
    return archive


@pytest.fixture(scope="module")
def parallel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of two ranks that write one file through HDF5 and MPI-IO."""
    need_file(H5PY)
    folder = tmp_path_factory.mktemp("parallel")
    launcher = need("mpirun.openmpi")
    program = PROGRAMS / "hdf5_parallel.py"
    return traced(folder, launcher, "--oversubscribe", "-n", "2", need_file(PYTHON), program, folder / "rows.h5")


@pytest.fixture(scope="module")
def serial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a program that writes with h5py."""
    folder = tmp_path_factory.mktemp("serial")
    return traced(folder, sys.executable, "-c", HDF5, folder / "rows.h5")


@pytest.fixture(scope="module")
def strace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("strace") / "ls.st"
    command = [need("strace"), "-f", "-tt", "-T", "-y", "-o", str(path), "ls", "-l", "/usr/lib"]
    subprocess.run(command, check=True, capture_output=True)
    return path


@cache
def dumped(archive: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in iotide("archive", "dump", archive).stdout.splitlines()]


def calls_of(archive: Path) -> Counter[str]:
    return Counter(row["call"] for row in dumped(archive))


def otf2_of(archive: Path, folder: Path) -> tuple[Path, dict[str, Any]]:
    done = iotide("archive", "convert", "--json", "-o", folder / "job.otf2", archive)
    assert done.returncode == 0, done.stderr
    return folder / "job.otf2", json.loads(done.stdout)


def regions_of(trace: Path) -> list[Region]:
    with otf2_reading.opened(trace) as opened:
        return otf2_reading.regions(opened)


def test_readers_of_otf2_see_the_layers_of_parallel_hdf5(parallel: Path, tmp_path: Path) -> None:
    trace, report = otf2_of(parallel, tmp_path)
    events = otf2_reading.printed(trace)
    assert events.count("IO_OPERATION_BEGIN") == events.count("IO_OPERATION_COMPLETE") > 100
    definitions = otf2_reading.printed(trace, "-G")
    assert "INVALID" not in definitions + events
    with otf2_reading.opened(trace) as opened:
        found = otf2_reading.regions(opened)
        written = [call for call in found if call.name == "pwrite64" and _path(call).endswith("/rows.h5")]
        shared = next(
            handle for handle in opened.definitions.io_handles
            if handle.io_paradigm.identification == "MPI-IO" and handle.file.name.endswith("/rows.h5")
        )  # fmt: skip
        assert len(shared.comm.group.members) == 2
        ranks = {member.group.name.split(" ")[1] for member in shared.comm.group.members}
        assert ranks == {"0", "1"}
    assert Counter(call.name for call in found) == calls_of(parallel)
    assert report["calls"] == len(found)
    collective = [call for call in written if call.above and call.above.name == "MPI_File_write_at_all"]
    assert len(collective) == 2
    for call in collective:
        chain = [call.records[0].handle, *otf2_reading.parents(call.records[0].handle)]
        assert [handle.io_paradigm.identification for handle in chain] == ["POSIX", "MPI-IO", "HDF5"]
        assert call.above is not None
        assert call.above.above is not None
        assert call.above.above.name == "H5Dwrite"
        assert call.above.records[0].operation_flags.value == 2
        assert {record.handle.comm is not None for record in call.above.records} == {True}


def _path(call: Region) -> str:
    return str(call.records[0].handle.file.name) if call.records else ""


def test_a_program_with_h5py_keeps_all_its_calls_and_their_parents(serial: Path, tmp_path: Path) -> None:
    trace, report = otf2_of(serial, tmp_path)
    assert stat.S_IMODE(trace.stat().st_mode) == 0o700
    found = regions_of(trace)
    assert Counter(call.name for call in found) == calls_of(serial)
    below = [call for call in found if call.name in ("pwrite64", "write") and _path(call).endswith("/rows.h5")]
    assert below
    for call in below:
        assert [each.io_paradigm.identification for each in otf2_reading.parents(call.records[0].handle)] == ["HDF5"]
    begun = sum(record.bytes_request for call in found if call.name == "H5Dwrite" for record in call.records[:1])
    assert begun == 64 * 1024 * 8
    assert otf2_reading.printed(trace)
    assert {each["what"].partition(" (")[0] for each in report["not_carried"]} <= {
        "access modes of handles", "distances of seeks",
        "counts of calls that were dropped while tracing, by stream",
    }  # fmt: skip


def test_traces_without_handles_and_threads_convert_too(strace: Path, tmp_path: Path) -> None:
    trace, report = otf2_of(strace, tmp_path)
    found = regions_of(trace)
    assert len(found) == report["calls"] > 50
    assert {"openat", "read", "close"} <= {call.name for call in found}
    assert report["not_carried"]
    assert otf2_reading.printed(trace)


def test_duckdb_and_pyarrow_read_the_same_rows(parallel: Path, tmp_path: Path) -> None:
    table = tmp_path / "calls.parquet"
    assert iotide("archive", "convert", "-o", table, parallel).returncode == 0
    ours = dumped(parallel)
    names = ("call", "path", "start", "duration", "bytes", "offset", "rank", "handle", "parent", "signature", "host")
    renamed = {"start": "start_ns", "duration": "dur_ns", "bytes": "size"}
    expected = [tuple(row[renamed.get(name, name)] for name in names) for row in ours]
    arrow = pq.read_table(table, columns=list(names)).to_pylist()
    assert [tuple(row[name] for name in names) for row in arrow] == expected
    quoted = ", ".join(f'"{name}"' for name in names)
    with duckdb.connect() as database:
        rows = database.execute(f"SELECT {quoted} FROM read_parquet(?)", [str(table)]).fetchall()
        moved = database.execute(
            "SELECT rank, sum(bytes) FROM read_parquet(?) WHERE call = 'H5Dwrite' GROUP BY rank ORDER BY rank",
            [str(table)],
        ).fetchall()
    assert rows == expected
    assert moved == [(0, 1028 * 8), (1, 1028 * 8)]


def test_the_chrome_trace_of_a_real_program_keeps_the_rules_of_the_format(parallel: Path, tmp_path: Path) -> None:
    document = tmp_path / "job.json"
    assert iotide("archive", "convert", "-o", document, parallel).returncode == 0
    events = trace_event_format.read(document.read_text())
    assert Counter(event["name"] for event in events) == calls_of(parallel)
    again = tmp_path / "again.iotide"
    assert iotide("archive", "create", "-o", again, document).returncode == 0
    assert calls_of(again) == calls_of(parallel)


def test_an_event_log_has_a_case_a_process_in_order_of_time(parallel: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.h5"
    done = iotide("archive", "convert", "-o", log, parallel)
    assert "not in log.h5, as its format has no place for it" in done.stderr
    with h5py.File(log) as opened:
        for group in opened.values():
            start = group["start"][:]
            assert (start[1:] >= start[:-1]).all()
            assert {"pid", "call", "start", "dur", "fp", "size"} <= set(group)
        assert {int(group.attrs["rid"]) for group in opened.values()} == {-1, 0, 1}
        counted = Counter(name.decode() for group in opened.values() for name in group["call"][:])
    assert counted == calls_of(parallel)
    graph = iotide("dfg", "--json", log)
    assert graph.returncode == 0, graph.stderr


@pytest.mark.parametrize("ending", ["json", "otf2"])
def test_an_existing_name_is_kept_unless_forced(serial: Path, tmp_path: Path, ending: str) -> None:
    output = tmp_path / f"x.{ending}"
    output.write_text("mine")
    refused = iotide("archive", "convert", "-o", output, serial)
    assert (refused.returncode, "exists already: --force replaces it" in refused.stderr) == (2, True)
    assert output.read_text() == "mine"
    forced = iotide("archive", "convert", "--force", "-o", output, serial)
    if ending == "otf2":
        assert (forced.returncode, "is no OTF2 trace" in forced.stderr) == (2, True)
        output.unlink()
        assert iotide("archive", "convert", "-o", output, serial).returncode == 0
        assert iotide("archive", "convert", "--force", "-o", output, serial).returncode == 0
    else:
        assert forced.returncode == 0, forced.stderr
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.parametrize("ending", ["otf2", "json", "parquet", "jsonl", "h5"])
def test_texts_of_any_characters_are_converted(tmp_path: Path, ending: str) -> None:
    odd = "a\0b\n\u2028<b>]]>\U0001f600"
    texts = dict.fromkeys(("job", "host", "user", "command", "step", "signature"), odd)
    call = {"call": "write", "path": f"/s/{odd}", "start": 1.5, "dur": 0.5, "size": 4096, **texts}
    (tmp_path / "trace.jsonl").write_text(json.dumps(call) + "\n")
    output = tmp_path / f"output.{ending}"
    assert iotide("archive", "convert", "-o", output, tmp_path / "trace.jsonl").returncode == 0
    done = iotide("detect", "--json", output)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "chrome", "-o", "x.parquet"], "--to chrome conflicts with the ending of x.parquet (parquet)"),
        (["-o", "x.trace"], "does not determine a format: give --to"),
        (["--to", "otf3", "-o", "x"], "'otf3' is not one of"),
        (["-o", "nowhere/x.json"], "there is no folder"),
        (["--format", "sqlite", "-o", "x.json"], "no file format is called 'sqlite'"),
    ],
)
def test_bad_usage_is_named(
    serial: Path, tmp_path: Path, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = iotide("archive", "convert", *arguments, serial)
    assert (done.returncode, said in " ".join(done.stderr.split())) == (2, True), done.stderr
    assert not list(tmp_path.iterdir())


def test_input_that_is_no_trace_or_absent_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes").write_text("to do")
    for name, said in (("notes", "not recognised"), ("absent", "No such file")):
        done = iotide("archive", "convert", "-o", "x.json", name)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


@pytest.mark.parametrize(("ending", "module"), [("otf2", "_otf2"), ("h5", "h5py"), ("parquet", "pyarrow")])
def test_a_missing_library_is_named_with_what_brings_it(serial: Path, tmp_path: Path, ending: str, module: str) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / f"{module}.py").write_text(f"raise ImportError('no {module}', name='{module}')")
    environment = plain_environment(PYTHONPATH=os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", "")]))
    done = run_iotide("archive", "convert", "-o", f"x.{ending}", serial, cwd=tmp_path, env=environment)
    assert (done.returncode, "pip install 'iotide[" in done.stderr) == (2, True), done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["hidden"]


@pytest.mark.parametrize("ending", ["jsonl", "h5", "parquet", "otf2"])
def test_a_file_that_cannot_grow_is_an_error_that_leaves_nothing(serial: Path, tmp_path: Path, ending: str) -> None:
    done = subprocess.run(
        [*IOTIDE, "archive", "convert", "-o", f"x.{ending}", str(serial)],
        # Python before 3.14 would leave truncated module caches behind at the limit.
        cwd=tmp_path, env=plain_environment(PYTHONDONTWRITEBYTECODE="1"), capture_output=True, text=True,
        timeout=DEADLINE_S, check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)),
    )  # fmt: skip
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert f"cannot write x.{ending}: " in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_damaged_archive_is_not_converted_in_silence(serial: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.iotide"
    data = bytearray(serial.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    done = iotide("archive", "convert", "--json", "-o", tmp_path / "x.otf2", damaged)
    if done.returncode == 0:
        assert json.loads(done.stdout)["problems_total"] > 0
    assert "damaged.iotide" in done.stderr


def test_archive_has_the_time_facts_of_the_trace(serial: Path, tmp_path: Path) -> None:
    trace, _ = otf2_of(serial, tmp_path)
    with serial.open("rb") as file:
        reader = ArchiveReader(file, "archive")
        spans = [
            (section.first_ns, section.last_ns) for number in reader.streams for section in reader.sections(number)
        ]
    with otf2_reading.opened(trace) as opened:
        clock = opened.definitions.clock_properties
        assert clock.global_offset == clock.realtime_timestamp == min(first for first, _ in spans)
        assert clock.global_offset + clock.trace_length == max(last for _, last in spans)


def test_otf2_read_again_has_the_same_calls(parallel: Path, tmp_path: Path) -> None:
    trace, _ = otf2_of(parallel, tmp_path)
    again = tmp_path / "again.iotide"
    made = iotide("archive", "create", "-o", again, trace)
    assert (made.returncode, "not imported" in made.stderr) == (0, False), made.stderr
    names = (
        "start_ns", "dur_ns", "pid", "tid", "rank", "call", "signature", "path", "layer", "size", "offset", "requested",
        "errno", "flags",
    )  # fmt: skip

    def facts(archive: Path) -> list[tuple[Any, ...]]:
        return sorted((*(row[name] for name in names), row["parent"] != 0) for row in dumped(archive))

    assert facts(again) == facts(parallel)
