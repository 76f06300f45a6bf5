"""Identification of a call's file, and calls excluded by the switches, for any spelling of a path."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from iotide.events import Kind, Layer
from support.tracing.compiled_programs import built
from support.tracing.programs import need
from support.tracing.tracing import Tracing


@pytest.fixture(scope="session")
def paths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "paths.c", "-Wno-unused-result")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "program"
    made.mkdir()
    return made


@pytest.mark.parametrize("name", ["replace", "relink"])
def test_another_file_with_the_inode_of_a_removed_one_has_its_own_path(
    paths: Path, tracing: Tracing, folder: Path, name: str
) -> None:
    tracing.run([paths, name, folder])
    moved = tracing.bytes_by_path(Kind.WRITE)
    assert {path: size for path, size in moved.items() if size} == {
        f"{folder}/step{step}/out.dat": 4 for step in range(8)
    }


def test_file_that_moves_is_known_by_where_it_was_opened(paths: Path, tracing: Tracing, folder: Path) -> None:
    tracing.run([paths, "move", folder])
    assert dict(tracing.bytes_by_path(Kind.WRITE)) == {f"{folder}/one/out.dat": 8, f"{folder}/two/out.dat": 8}


def test_spelling_of_a_path_hides_nothing_from_the_switches(paths: Path, tracing: Tracing, folder: Path) -> None:
    tracing.run([paths, "spell", folder], env=tracing.environment(IOTIDE_SKIP=f"{folder}/left"))
    assert [(row.call, row.path) for row in tracing.rows() if Path(row.path).is_relative_to(folder)] == [
        ("chdir", f"{folder}"),
        ("mkdir", f"{folder}/kept"),
        ("chdir", f"{folder}/kept"),
        ("stat", f"{folder}/kept/seen"),
        ("stat", f"{folder}/leftover"),
    ]
    assert "/" in {row.path for row in tracing.rows("stat")}
    assert tracing.source.counters["events_left_out"] == 10


def test_only_files_below_a_prefix_are_recorded_for_any_spelling(paths: Path, tracing: Tracing, folder: Path) -> None:
    tracing.run([paths, "spell", folder], env=tracing.environment(IOTIDE_ONLY=f"{folder}/left"))
    seen = {row.path.removeprefix(f"{folder}/") for row in tracing.rows()}
    assert seen == {"left", "left/a", "left/b", "left/c", "left/none"}


FORKING = """
import os, sys, h5py
with h5py.File(sys.argv[1], "w") as file:
    file["x"] = range(1000)
    file.flush()
    if os.fork() == 0:
        os.write(1, str(file["x"][10:20].sum()).encode())
        os._exit(0)
    os.wait()
    file["x"][0] = 7
"""


def test_excluded_file_of_a_process_is_excluded_in_a_forked_child(tracing: Tracing, folder: Path) -> None:
    pytest.importorskip("h5py")
    left = folder / "left.h5"
    done = tracing.run([sys.executable, "-c", FORKING, left], env=tracing.environment(IOTIDE_SKIP=str(folder)))
    assert (done.returncode, done.stdout) == (0, "145")
    about = {"H5Fcreate", "H5Fopen", "H5Fclose", "H5Dcreate2", "H5Dopen2", "H5Oopen", "H5Dwrite", "H5Dread", "H5Dclose"}
    assert [row.call for row in tracing.rows(layer=Layer.HDF5) if row.call in about] == []


def test_files_without_a_creation_time_have_their_own_paths(tracing: Tracing, folder: Path) -> None:
    script = """
import os
for turn in range(5):
    for name in "de":
        os.makedirs(name, exist_ok=True)
        os.chdir(name)
        with open("x", "xb") as file:
            file.write(name.encode())
        os.unlink("x")
        os.chdir("..")
"""
    mounted = folder / "mounted"
    mounted.mkdir()
    commands = 'mount -t ramfs none "$1" && cd "$1" && exec "$2" -ISc "$3"'
    unshare = [need("unshare"), "--mount", "--map-root-user", "sh", "-c", commands, "sh"]
    done = tracing.run([*unshare, mounted, sys.executable, script])
    if "mount:" in done.stderr or "unshare:" in done.stderr:
        pytest.skip("no file systems can be mounted here")
    written = [row.path for row in tracing.rows("write") if row.path.startswith(str(mounted))]
    assert (done.returncode, written) == (0, [f"{mounted}/d/x", f"{mounted}/e/x"] * 5)
