"""A user's library: from a signature file to calls with parents, without C code. The example is zlib."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from iotide.collectors.settings import TracerSettings
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.events import Kind, Layer
from support.places import PROGRAMS, ROOT
from support.system.commands import iotide, plain_environment
from support.tracing.programs import need, need_header
from support.tracing.tracing import Row, Tracing

EXAMPLE = ROOT / "docs" / "examples" / "zlib.sig"
PROGRAM = PROGRAMS / "compressed.c"
BLOCK = 100_000


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    done = iotide("preload", "build", EXAMPLE, "-o", folder, cwd=folder)
    assert done.returncode == 0, done.stderr
    made = folder / "libiotide_zlib.so"
    assert done.stdout == f"{made}: 31 functions of zlib, layer OTHER\n"
    assert f"iotide run --library {made}" in done.stderr
    assert [path.name for path in folder.iterdir()] == ["libiotide_zlib.so"]
    return made


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need_header("zlib.h")
    made = tmp_path_factory.mktemp("program") / "compressed"
    subprocess.run([need("gcc"), "-Wall", "-Wextra", "-Werror", "-o", made, PROGRAM, "-lz"], check=True)
    return made


def untraced(program: Path, folder: Path) -> str:
    return subprocess.run(
        [program, folder / "data.gz"], env=plain_environment(), capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture(scope="module")
def rows(library: Path, program: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    folder = tmp_path_factory.mktemp("traced")
    with Tracing(folder) as tracing:
        settings = TracerSettings(libraries=(library,))
        env = traced_environment(plain_environment(), tracing.socket, "job", settings)
        done = tracing.run([program, folder / "data.gz"], env=env)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == untraced(program, folder)
        return [row for row in tracing.rows() if row.layer != Layer.STDIO]


def below(rows: list[Row], call: Row) -> list[Row]:
    return [row for row in rows if row is not call and call.start <= row.start and row.end <= call.end]


def test_calls_of_the_library_are_seen_with_their_parameters(rows: list[Row]) -> None:
    seen = [(row.call, row.kind, row.requested, row.bytes, row.depth) for row in rows if row.layer == Layer.OTHER]

    assert seen == [
        ("gzopen", Kind.CREATE, 0, 0, 0),
        ("gzwrite", Kind.WRITE, BLOCK, BLOCK, 0),
        ("gzputs", Kind.WRITE, 7, 7, 0),
        ("gzvprintf", Kind.WRITE, 9, 9, 0),
        ("gzclose", Kind.DESTROY, 0, 0, 0),
        ("gzdopen", Kind.CREATE, 0, 0, 0),
        ("gzread", Kind.READ, 50_000, 50_000, 0),
        ("gzseek", Kind.SEEK, 0, 0, 0),
        ("gzgets", Kind.READ, 40, 7, 0),
        ("gzclose", Kind.DESTROY, 0, 0, 0),
        ("gzopen", Kind.CREATE, 0, 0, 0),
    ]
    (seek,) = (row for row in rows if row.call == "gzseek")
    assert seek.offset == BLOCK
    assert seek.signature == f"gzseek(file=#{seek.handle}, offset=100000, whence=SEEK_SET)"


def test_nested_system_calls_have_the_library_s_handle_as_parent(rows: list[Row]) -> None:
    opened, on_descriptor, _ = (row for row in rows if row.call in ("gzopen", "gzdopen"))
    written, _ = (row for row in rows if row.call == "gzclose")

    (low_open,) = below(rows, opened)
    assert (low_open.call, low_open.parent, low_open.depth) == ("open", opened.handle, 1)
    write, close = below(rows, written)
    assert [row.call for row in (write, close)] == ["write", "close"]
    assert {(row.handle, row.parent, row.depth) for row in (write, close)} == {(low_open.handle, opened.handle, 1)}
    assert 0 < write.bytes < BLOCK
    (read,) = (row for row in rows if row.call == "gzread")
    assert {row.parent for row in below(rows, read)} == {on_descriptor.handle}
    assert sum(row.bytes for row in below(rows, read)) == write.bytes


def test_stream_on_a_descriptor_is_the_descriptor_s_child(rows: list[Row]) -> None:
    (made,) = (row for row in rows if row.call == "gzdopen")
    (descriptor,) = (row for row in rows if row.call == "open" and row.depth == 0)

    assert (made.parent, made.path) == (descriptor.handle, descriptor.path)


def test_failed_open_names_the_file_and_its_errno(rows: list[Row]) -> None:
    failed, low = rows[-2:]

    assert (failed.call, failed.path, failed.errno) == ("gzopen", "/nonexistent/file.gz", 2)
    assert (low.parent, low.errno) == (failed.handle, 2)


def test_run_takes_the_library(library: Path, program: Path, tmp_path: Path) -> None:
    command = ["run", "--quiet", "--no-report", "--library", library, "--", program, tmp_path / "data.gz"]
    done = iotide(*command, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (0, untraced(program, tmp_path))


# ---- the commands ----


def test_check_lists_the_content_of_a_file_and_probable_omissions(tmp_path: Path) -> None:
    file = tmp_path / "some.sig"
    file.write_text(
        "library some\nlayer OTHER\nanchor f\nWRITE int f(int a)\nCREATE int g(void)\nDESTROY int h(void)\n"
    )

    done = iotide("preload", "check", "--json", file, cwd=tmp_path)

    document = json.loads(done.stdout)
    assert (document["functions"], document["classes"]) == (3, {"data": 1, "handle": 2})
    assert [note["line"] for note in document["notes"]] == [4, 5, 6]
    assert "how many bytes" in iotide("preload", "check", file, cwd=tmp_path).stdout


@pytest.mark.parametrize("command", ["check", "build"])
def test_wrong_file_is_refused_with_its_line(command: str, tmp_path: Path) -> None:
    (tmp_path / "bad.sig").write_text("library bad\nlayer OTHER\nanchor f\nOTHER int f(int a: nose)\n")

    done = iotide("preload", command, "bad.sig", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("iotide: bad.sig:4: expected a role for 'a'")
    absent = iotide("preload", command, "absent.sig", cwd=tmp_path)
    assert (absent.returncode, absent.stderr) == (
        2,
        "iotide: absent.sig:1: cannot be read: No such file or directory\n",
    )


def test_build_without_a_compiler_is_reported(tmp_path: Path) -> None:
    done = iotide("preload", "build", EXAMPLE, cwd=tmp_path, env=plain_environment(CC="absent-compiler"))

    assert (done.returncode, done.stdout) == (1, "")
    assert "absent-compiler" in done.stderr


def test_build_leaves_the_c_where_it_is_asked_to(tmp_path: Path) -> None:
    done = iotide("preload", "build", EXAMPLE, "--c", "made", cwd=tmp_path)

    assert done.returncode == 0
    assert sorted(path.name for path in (tmp_path / "made").iterdir()) == ["sites_zlib.h", "wrappers_zlib.c"]


def test_list_and_coverage_count_every_layer(tmp_path: Path) -> None:
    libraries = json.loads(iotide("preload", "list", "--json", cwd=tmp_path).stdout)["libraries"]
    coverage = json.loads(iotide("preload", "coverage", "--json", cwd=tmp_path).stdout)

    assert {row["layer"] for row in libraries} == {row["layer"] for row in coverage["layers"]}
    assert all(sum(row["classes"].values()) == row["functions"] for row in libraries)
    by_layer = {row["layer"]: row for row in coverage["layers"]}
    for layer in ("POSIX", "STDIO", "MPIIO", "HDF5", "NETCDF", "PNETCDF"):
        assert by_layer[layer]["iotide"] >= max(by_layer[layer]["Recorder"], by_layer[layer]["Darshan"])
    assert set(coverage["sources"]) == {"Recorder", "Darshan"}
    assert "PNETCDF" in iotide("preload", "coverage", cwd=tmp_path).stdout
    assert "libiotide_preload.so" in iotide("preload", "list", cwd=tmp_path).stdout
