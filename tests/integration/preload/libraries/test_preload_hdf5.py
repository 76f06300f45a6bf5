"""Programs that use HDF5, traced from the library down to the kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from iotide.collectors.wrappers.headers import extract, known
from iotide.collectors.wrappers.sources import PRELOAD
from iotide.events import Flag, Kind, Layer
from support.system.commands import plain_environment
from support.tracing.compiled_programs import built
from support.tracing.programs import need, need_header
from support.tracing.tracing import Row, Tracing

HEADERS = Path("/usr/include/hdf5/serial")
ROW = 6 * 4
"""Bytes of a row of the datasets that tests/programs/hdf5_calls.c writes."""


@pytest.fixture(scope="session")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_header("hdf5/serial/hdf5.h")
    return built(tmp_path_factory, "hdf5_calls.c", f"-I{HEADERS}", "-lhdf5_serial_hl", "-lhdf5_serial")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tide.h5"


def one(tracing: Tracing, call: str) -> Row:
    (row,) = tracing.rows(call)
    return row


def below(tracing: Tracing, upper: Row) -> list[Row]:
    """Return the nested calls of a call, without the call itself."""
    return [
        row
        for row in tracing.rows(stream=upper.stream)
        if row.tid == upper.tid and upper.start <= row.start and row.end <= upper.end and row.depth > upper.depth
    ]


NAMES = ["selections", "attributes", "chunks", "lite", "packets", "references", "threads", "failures", "forks"]


@pytest.mark.parametrize("name", NAMES)
def test_program_does_not_notice(calls: Path, tracing: Tracing, file: Path, name: str) -> None:
    bare = subprocess.run([calls, name, file], env=plain_environment(), capture_output=True, text=True, check=True)
    plain = contents(file)
    file.unlink()
    done = tracing.run([calls, name, file])
    assert (done.returncode, timeless(done.stdout), timeless(done.stderr)) == (
        0,
        timeless(bare.stdout),
        timeless(bare.stderr),
    )
    assert contents(file) == plain


def contents(file: Path) -> str:
    """Return the content of a file without the creation times of its objects."""
    command = [need("h5dump"), "--properties", file]
    return subprocess.run(command, env=plain_environment(), capture_output=True, text=True, check=True).stdout


def timeless(text: str) -> list[str]:
    return [line.partition("time = ")[0] for line in text.splitlines()]


def test_chain_from_dataset_to_descriptor_is_one_tree(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "selections", file])
    created, group, dataset = one(tracing, "H5Fcreate"), one(tracing, "H5Gcreate2"), one(tracing, "H5Dcreate2")
    assert [row.parent for row in (created, group, dataset)] == [0, created.handle, group.handle]
    assert {row.path for row in (created, group, dataset)} == {str(file)}
    opened = tracing.rows("open", path=file)[-1]
    assert (opened.depth, opened.parent) == (1, created.handle)
    flushed = one(tracing, "H5Fflush")
    written = [row for row in below(tracing, flushed) if row.kind is Kind.WRITE]
    assert {(row.handle, row.parent, row.depth, row.layer) for row in written} == {
        (opened.handle, created.handle, 1, Layer.POSIX)
    }
    assert sum(row.bytes for row in tracing.rows(layer=Layer.POSIX, path=file) if row.kind is Kind.WRITE) >= 4 * ROW
    closed = [one(tracing, name).handle for name in ("H5Dclose", "H5Gclose", "H5Fclose")]
    assert closed == [dataset.handle, group.handle, created.handle]
    assert {row.depth for row in tracing.rows(layer=Layer.HDF5)} == {0}


def test_transfers_say_bytes_place_and_type(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "selections", file])
    dataset = one(tracing, "H5Dcreate2").handle
    writes, reads = tracing.rows("H5Dwrite"), tracing.rows("H5Dread")
    assert {row.handle for row in (*writes, *reads)} == {dataset}
    assert [(row.offset, row.bytes, row.requested) for row in writes] == [
        (0, 2 * ROW, 2 * ROW),
        (2 * ROW, 2 * ROW, 2 * ROW),
    ]
    assert writes[0].signature == f"H5Dwrite(dset_id=#{dataset}, mem_type_id=int32, dxpl_id=0x0, elements=12)"
    whole, points, none = reads
    assert (whole.offset, whole.bytes) == (0, 24 * 8)
    assert "mem_type_id=float64" in whole.signature
    assert (points.offset, points.bytes) == ((1 * 6 + 2) * 2, 3 * 2)
    assert (none.offset, none.bytes, none.flags & Flag.FAILED) == (-1, 0, 0)
    assert "type_id=int32" in one(tracing, "H5Dcreate2").signature
    assert "dims=[4, 6]" in one(tracing, "H5Dcreate2").signature


def test_attributes_have_handles_and_bytes_of_their_own(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "attributes", file])
    made = one(tracing, "H5Acreate2")
    rows = [one(tracing, name) for name in ("H5Awrite", "H5Aread", "H5Aclose")]
    assert [(row.handle, row.path, row.bytes) for row in rows] == [(made.handle, str(file), size) for size in (8, 8, 0)]
    gone = one(tracing, "H5Adelete")
    assert (gone.kind, gone.handle) == (Kind.DELETE, one(tracing, "H5Fcreate").handle)


def test_chunks_moved_as_they_are_count_their_stored_bytes(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "chunks", file])
    written, read = one(tracing, "H5Dwrite_chunk"), one(tracing, "H5Dread_chunk")
    assert [(row.bytes, row.requested) for row in (written, read)] == [(2 * ROW, 2 * ROW)] * 2
    assert "offset=[2, 0]" in written.signature
    (stored,) = [row for row in below(tracing, written) if row.kind is Kind.WRITE]
    assert (stored.bytes, stored.parent) == (2 * ROW, written.handle)


def test_high_level_calls_count_what_they_move_below(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "lite", file])
    made = one(tracing, "H5LTmake_dataset_int")
    inner = {row.call: row for row in below(tracing, made) if row.layer is Layer.HDF5}
    assert (made.bytes, made.depth) == (4 * ROW, 0)
    assert "dims=[4, 6]" in made.signature
    assert (inner["H5Dwrite"].bytes, inner["H5Dwrite"].depth) == (4 * ROW, 1)
    assert inner["H5Dcreate2"].parent == made.handle == one(tracing, "H5Fcreate").handle
    assert {row.depth for row in below(tracing, made) if row.layer is Layer.POSIX} == {2}
    assert one(tracing, "H5LTset_attribute_string").bytes == len("metre") + 1
    assert one(tracing, "H5LTread_dataset_int").bytes == 4 * ROW
    outer = [row for row in tracing.rows(layer=Layer.HDF5) if row.depth == 0]
    assert sum(row.bytes for row in outer if row.kind is Kind.READ) == 4 * ROW


def test_packet_table_is_the_parent_of_its_dataset(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "packets", file])
    table = one(tracing, "H5PTcreate_fl").handle
    assert one(tracing, "H5Dcreate2").parent == table
    assert (one(tracing, "H5PTappend").bytes, one(tracing, "H5PTread_packets").bytes) == (6 * 4, 3 * 4)
    assert one(tracing, "H5Dread").offset == 2 * 4
    assert one(tracing, "H5PTclose").handle == table


def test_handle_lives_as_long_as_something_holds_it(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "references", file])
    held, left = tracing.rows("H5Dcreate2")
    assert one(tracing, "H5Dwrite").handle == held.handle
    released, kept = tracing.rows("H5Idec_ref")
    assert (released.handle, released.kind) == (held.handle, Kind.DESTROY)
    assert (kept.handle, kept.kind) == (one(tracing, "H5Fcreate").handle, Kind.OTHER)
    committed = one(tracing, "H5Tcommit2")
    assert (committed.kind, one(tracing, "H5Tclose").handle) == (Kind.CREATE, committed.handle)
    assert left.handle not in {row.handle for row in tracing.rows() if row.kind is Kind.DESTROY}


def test_handle_made_by_one_thread_is_known_to_another(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "threads", file])
    made, written, closed = (one(tracing, name) for name in ("H5Dcreate2", "H5Dwrite", "H5Dclose"))
    assert made.tid != written.tid == closed.tid
    assert made.handle == written.handle == closed.handle
    assert [row.parent for row in below(tracing, closed) if row.kind is Kind.WRITE] == [made.handle]


def test_failed_calls_are_recorded_as_failed(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "failures", file])
    failed = [row for row in tracing.rows(layer=Layer.HDF5) if row.flags & Flag.FAILED]
    assert [row.call for row in failed] == [
        "H5Dopen2", "H5Dwrite", "H5Dwrite", "H5Dread", "H5Dclose", "H5Aread", "H5Dwrite_chunk", "H5Fopen",
    ]  # fmt: skip
    assert {row.bytes for row in failed} == {0}
    assert (failed[-1].path, failed[-1].errno) == ("/nonexistent/file.h5", 2)
    assert one(tracing, "H5Fclose").handle == one(tracing, "H5Fcreate").handle


def test_child_goes_on_with_the_handles_of_its_parent(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "forks", file])
    made = one(tracing, "H5Dcreate2")
    first, second = sorted(tracing.rows("H5Dwrite"), key=lambda row: row.offset)
    assert first.pid != second.pid == made.pid
    assert first.handle == second.handle == made.handle
    assert first.path == second.path == made.path == str(file)


def test_unclosed_objects_are_evicted(calls: Path, tmp_path: Path, file: Path) -> None:
    with Tracing(tmp_path, ring_records=1 << 18) as tracing:
        tracing.run([calls, "many", file])
        opened = tracing.rows("H5Dopen2")
        written = one(tracing, "H5Dwrite")
        assert len(opened) == 70001
        assert (written.handle, written.path) == (opened[-1].handle, str(file))
        assert one(tracing, "H5Fclose").handle == one(tracing, "H5Fcreate").handle


def test_calls_on_the_librarys_own_memory_are_recorded_when_asked_for(
    calls: Path, tracing: Tracing, file: Path
) -> None:
    tracing.run([calls, "selections", file], env=tracing.environment(IOTIDE_CALLS="data,handle,memory"))
    counted = tracing.calls()
    assert counted["H5Screate_simple"] == 4
    assert counted["H5Fflush"] == 0
    (selected,) = {row.signature for row in tracing.rows("H5Sselect_hyperslab") if "start=[2, 0]" in row.signature}
    assert "op=H5S_SELECT_SET, start=[2, 0], stride=[], count=[2, 6], block=[]" in selected


def test_names_are_known_when_only_data_calls_are_recorded(calls: Path, tracing: Tracing, file: Path) -> None:
    tracing.run([calls, "references", file], env=tracing.environment(IOTIDE_CALLS="data"))
    assert set(tracing.calls()) & {"H5Fcreate", "H5Dcreate2", "H5Dclose", "H5Idec_ref"} == set()
    written = one(tracing, "H5Dwrite")
    assert (written.path, written.handle != 0, written.depth) == (str(file), True, 0)
    assert {row.depth for row in tracing.rows("pwrite64", path=file)} == {0}


H5PY = """
import sys, h5py, numpy
with h5py.File(sys.argv[1], "w") as file:
    group = file.create_group("g")
    data = group.create_dataset("x", (4, 1024), dtype="f8", chunks=(1, 1024))
    for row in range(4):
        data[row] = numpy.full(1024, float(row))
    data.attrs["unit"] = "m"
with h5py.File(sys.argv[1], "r") as file:
    print(file["g/x"][1:3].sum(), file["g/x"].attrs["unit"])
"""


def test_h5py_is_traced_in_the_library_of_its_wheel(tracing: Tracing, tmp_path: Path, file: Path) -> None:
    pytest.importorskip("h5py")
    done = tracing.run([sys.executable, "-c", H5PY, file])
    assert (done.returncode, done.stdout) == (0, "3072.0 m\n")
    plain = tmp_path / "plain.h5"
    subprocess.run([sys.executable, "-c", H5PY, plain], env=plain_environment(), check=True, capture_output=True)
    assert file.read_bytes() == plain.read_bytes()
    made, dataset = one(tracing, "H5Fcreate"), one(tracing, "H5Dcreate2")
    assert [(row.offset, row.bytes, row.handle) for row in tracing.rows("H5Dwrite")] == [
        (row * 8192, 8192, dataset.handle) for row in range(4)
    ]
    read = one(tracing, "H5Dread")
    assert (read.offset, read.bytes) == (8192, 2 * 8192)
    stored = [row for row in below(tracing, read) if row.kind is Kind.READ]
    assert sum(row.bytes for row in stored) >= 2 * 8192
    assert {(row.parent, row.depth, row.path) for row in stored} == {(read.handle, 1, str(file))}
    closed = {row.handle for row in tracing.rows("H5Idec_ref") if row.kind is Kind.DESTROY}
    assert {made.handle, dataset.handle, read.handle} <= closed


def test_calls_of_newer_releases_are_traced(
    tmp_path_factory: pytest.TempPathFactory, tracing: Tracing, file: Path
) -> None:
    wheel = Path(pytest.importorskip("h5py").__file__).parent.parent / "h5py.libs"
    libraries = sorted(wheel.glob("libhdf5-*.so*"))
    if not libraries:
        pytest.skip("h5py contains no library: it was built here")
    flags = [str(libraries[0]), f"-Wl,-rpath,{wheel}", f"-Wl,-rpath-link,{wheel}"]
    done = tracing.run([built(tmp_path_factory, "hdf5_newer.c", *flags), file])
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 0 0 1 6\n", "")
    created, (first, second) = one(tracing, "H5Fcreate_async"), tracing.rows("H5Dcreate2")
    assert [row.parent for row in (first, second)] == [created.handle] * 2
    written, read = one(tracing, "H5Dwrite_multi"), one(tracing, "H5Dread_async")
    assert (written.handle, written.path, written.bytes) == (first.handle, str(file), 2 * 60)
    assert (read.handle, read.bytes, read.offset, read.flags & Flag.BLOCKING) == (second.handle, 60, 0, 0)
    assert one(tracing, "H5Oopen_by_token").handle == one(tracing, "H5Oclose").handle
    assert one(tracing, "H5Fclose_async").handle == created.handle


def test_tools_of_hdf5_see_and_make_the_same_files(calls: Path, tracing: Tracing, tmp_path: Path, file: Path) -> None:
    subprocess.run([calls, "lite", file], env=plain_environment(), check=True, capture_output=True)
    bare = subprocess.run([need("h5dump"), file], capture_output=True, text=True, check=True)
    dumped = tracing.run([need("h5dump"), file])
    assert (dumped.returncode, dumped.stdout, dumped.stderr) == (0, bare.stdout, bare.stderr)
    assert sum(row.bytes for row in tracing.rows("H5Dread")) == 4 * ROW
    packed = tmp_path / "packed.h5"
    done = tracing.run([need("h5repack"), "-f", "GZIP=1", file, packed])
    assert (done.returncode, done.stderr) == (0, "")
    written = [row for row in tracing.rows("H5Dwrite") if row.path == str(packed)]
    assert sum(row.bytes for row in written) == 4 * ROW
    assert tracing.bytes_by_path(Kind.WRITE)[str(packed)] > 4 * ROW


def copies(factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    """Return the program, and two extensions, each linked with a copy of the library."""
    source = "hdf5_copies.c"
    extensions = []
    for name in ("one", "two"):
        library = built(factory, source, "-shared", "-fPIC", f'-DPROVIDER="{name}"', name=f"libh5{name}.so")
        linked = [f"-L{library.parent}", f"-lh5{name}", f"-Wl,-rpath,{library.parent}"]
        flags = ["-shared", "-fPIC", "-DCONSUMER", *linked]
        extensions.append(built(factory, source, *flags, name=f"{name}_extension.so"))
    return built(factory, source, "-ldl", name="hdf5_copies"), extensions


def test_two_copies_of_the_library_keep_their_calls_and_handles_apart(
    tmp_path_factory: pytest.TempPathFactory, tracing: Tracing, tmp_path: Path
) -> None:
    program, extensions = copies(tmp_path_factory)
    paths = [tmp_path / "first.h5", tmp_path / "second.h5"]
    done = tracing.run([program, *extensions, *paths])
    assert (done.returncode, done.stdout.split("\n")) == (
        0,
        ["one creates", "two creates", "one closes", "two closes", ""],
    )
    made, closed = tracing.rows("H5Fcreate"), tracing.rows("H5Fclose")
    assert [row.path for row in made] == [row.path for row in closed] == list(map(str, paths))
    assert [row.handle for row in made] == [row.handle for row in closed]
    assert [row.parent for row in tracing.rows("close") if row.path in map(str, paths)] == [row.handle for row in made]


@pytest.mark.parametrize("classes", ["data,handle", "data,handle,memory"])
def test_extension_where_another_lay_gets_answers_of_its_own_copy(
    tmp_path_factory: pytest.TempPathFactory, tracing: Tracing, classes: str
) -> None:
    program, extensions = copies(tmp_path_factory)
    done = tracing.run([program, *extensions], env=tracing.environment(IOTIDE_CALLS=classes))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split("\n") == [*["one answers"] * 3, *["two answers"] * 3, "same place", ""]
    assert len(tracing.rows("H5Iis_valid")) == (6 if "memory" in classes else 0)


def test_every_function_of_the_headers_is_described() -> None:
    need_header("hdf5/serial/hdf5.h")
    found = extract([HEADERS / "hdf5.h", HEADERS / "hdf5_hl.h"], include=[HEADERS], prefixes=["H5"])
    described = known((PRELOAD / "signatures" / "hdf5.sig").read_text())
    missing = {one.name for one in found.prototypes} - described
    assert {name for name in missing if not name.startswith("H5FD_")} == {"H5Epush2"}
    assert len(described) > 950
