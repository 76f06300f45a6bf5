"""I/O before main and after it, in unloaded libraries, inside allocators, and beside other tools' wrappers."""

from __future__ import annotations

import ctypes.util
import subprocess
import sys
import time
from pathlib import Path

import pytest
from iotide.events import Kind
from support.tracing.compiled_programs import built
from support.tracing.own_accounts import run_both
from support.tracing.programs import need
from support.tracing.tracing import Tracing

PYTHON_WORK = """
import os, subprocess, sys, threading
def work(number):
    with open(f"{sys.argv[1]}.{number}", "wb", buffering=0) as out:
        for _ in range(50):
            out.write(bytes(1000))
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
subprocess.run(["cp", f"{sys.argv[1]}.0", f"{sys.argv[1]}.copy"], check=True)
print(sum(os.stat(f"{sys.argv[1]}.{number}").st_size for number in range(8)))
"""


@pytest.fixture(scope="module")
def early_late(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "early_late.cpp")


def library(factory: pytest.TempPathFactory, source: str, name: str) -> Path:
    return built(factory, source, "-shared", "-fPIC", f'-DNAME="{name}"', name=f"{name}.so")


def written_with_suffix(tracing: Tracing, file: Path) -> dict[str, int]:
    written = tracing.bytes_by_path(Kind.WRITE)
    return {path.removeprefix(str(file)): size for path, size in written.items() if path.startswith(str(file))}


def test_calls_before_main_and_after_it_are_seen(early_late: Path, tracing: Tracing, tmp_path: Path) -> None:
    file = tmp_path / "out"
    done = run_both(tracing, [early_late], file, {"IOTIDE_TEST_FILE": str(file)})
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    assert written_with_suffix(tracing, file) == {
        ".object": 20, ".constructor": 10, ".destructor": 10, ".atexit": 10, ".thread": 100, ".thread-end": 100,
        ".stream": 5, "": 10,
    }  # fmt: skip


def test_library_that_is_loaded_before_the_tracer_begins_is_seen(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, early_late: Path
) -> None:
    file = tmp_path / "out"
    neighbour = library(tmp_path_factory, "loaded.c", "neighbour")
    extra = {"IOTIDE_TEST_FILE": str(file), "LD_PRELOAD": str(neighbour)}
    run_both(tracing, [early_late], file, extra)
    written = written_with_suffix(tracing, file)
    assert {name: written.get(name) for name in (".neighbour.loading", ".neighbour.unloading", ".object")} == {
        ".neighbour.loading": 10, ".neighbour.unloading": 10, ".object": 20,
    }  # fmt: skip


def test_libraries_that_come_and_go_are_seen(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path / "out"
    loader = built(tmp_path_factory, "loader.c")
    loaded = library(tmp_path_factory, "loaded.c", "loaded")
    done = run_both(tracing, [loader, loaded, "50"], file, {"IOTIDE_TEST_FILE": str(file)})
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    assert written_with_suffix(tracing, file) == dict.fromkeys(
        [".loaded.loading", ".loaded.used", ".loaded.unloading"], 500
    )


@pytest.mark.parametrize("checks", ["address", "leak", "thread", "undefined"])
def test_program_that_a_sanitizer_checks_does_the_same(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, checks: str
) -> None:
    """AddressSanitizer ends programs in which a library is loaded before its own."""
    file = tmp_path / "out"
    checked = built(tmp_path_factory, "early_late.cpp", f"-fsanitize={checks}", name=f"early_late_{checks}")
    done = run_both(tracing, [checked], file, {"IOTIDE_TEST_FILE": str(file)})
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    assert written_with_suffix(tracing, file)[".thread"] == 100


def test_sanitizer_that_is_preloaded_for_a_library_does_no_harm(
    tracing: Tracing, early_late: Path, tmp_path: Path
) -> None:
    """For example a Python module that was built with it."""
    runtime = subprocess.run([need("gcc"), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
    extra = {
        "LD_PRELOAD": runtime.stdout.strip(),
        "ASAN_OPTIONS": "detect_leaks=0",
        "IOTIDE_TEST_FILE": str(tmp_path / "out"),
    }
    done = run_both(tracing, [early_late], tmp_path / "out", extra)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")


@pytest.mark.parametrize("before", [True, False])
def test_other_tools_wrappers_are_still_called(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, early_late: Path, before: bool
) -> None:
    file = tmp_path / "out"
    other = str(library(tmp_path_factory, "interposer.c", "interposer"))
    extra = {"IOTIDE_TEST_FILE": str(file)}
    plain = tracing.run([early_late], env={**tracing.environment(**extra), "LD_PRELOAD": other})
    ours = tracing.environment(**extra)["LD_PRELOAD"]
    chain = f"{other}:{ours}" if before else f"{ours}:{other}"
    done = tracing.run([early_late], env={**tracing.environment(**extra), "LD_PRELOAD": chain})
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert "opens 27" in done.stderr or "opens 26" in done.stderr
    assert written_with_suffix(tracing, file)[".thread"] == 100


@pytest.mark.parametrize("before", [True, False])
def test_stamps_are_right_where_another_library_tells_another_time(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, early_late: Path, before: bool
) -> None:
    shifted = str(library(tmp_path_factory, "shifted_clock.c", "shifted_clock"))
    extra = {"IOTIDE_TEST_FILE": str(tmp_path / "out")}
    ours = tracing.environment(**extra)["LD_PRELOAD"]
    chain = f"{shifted}:{ours}" if before else f"{ours}:{shifted}"
    begun_ns = time.time_ns()
    tracing.run([early_late], env={**tracing.environment(**extra), "LD_PRELOAD": chain})
    ended_ns = time.time_ns()
    assert written_with_suffix(tracing, tmp_path / "out")[".thread"] == 100
    for batch in tracing.events().values():
        assert begun_ns <= batch.start.min()
        assert batch.start.max() <= ended_ns


@pytest.mark.parametrize("before", [True, False])
def test_library_whose_functions_read_the_environment_is_not_called_before_there_is_one(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, early_late: Path, before: bool
) -> None:
    """libfaketime shared another clock in each process then, and removed that of its parent."""
    other = str(library(tmp_path_factory, "reading_environment.c", "reading_environment"))
    extra = {"IOTIDE_TEST_FILE": str(tmp_path / "out")}
    ours = tracing.environment(**extra)["LD_PRELOAD"]
    chain = f"{other}:{ours}" if before else f"{ours}:{other}"
    done = tracing.run([early_late], env={**tracing.environment(**extra), "LD_PRELOAD": chain})
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    assert written_with_suffix(tracing, tmp_path / "out")[".thread"] == 100


@pytest.mark.parametrize("before", [True, False])
def test_allocator_that_does_io_in_malloc_does_no_harm(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, before: bool
) -> None:
    allocator = str(library(tmp_path_factory, "allocator.c", "allocator"))
    ours = tracing.environment()["LD_PRELOAD"]
    chain = f"{allocator}:{ours}" if before else f"{ours}:{allocator}"
    file = tmp_path / "out"
    done = tracing.run([sys.executable, "-c", PYTHON_WORK, file], env={**tracing.environment(), "LD_PRELOAD": chain})
    assert (done.returncode, done.stdout, done.stderr) == (0, "400000\n", "")
    written = written_with_suffix(tracing, file)
    assert written == {**{f".{number}": 50_000 for number in range(8)}, ".copy": 50_000}
    read = tracing.bytes_by_path(Kind.READ)
    assert any(path.startswith("/proc/") and path.endswith("/stat") for path in read)


@pytest.mark.parametrize("before", [True, False])
def test_jemalloc_does_no_harm(tracing: Tracing, tmp_path: Path, before: bool) -> None:
    found = ctypes.util.find_library("jemalloc")
    if found is None:
        need("jemalloc-config")
    ours = tracing.environment()["LD_PRELOAD"]
    chain = f"{found}:{ours}" if before else f"{ours}:{found}"
    file = tmp_path / "out"
    done = tracing.run([sys.executable, "-c", PYTHON_WORK, file], env={**tracing.environment(), "LD_PRELOAD": chain})
    assert (done.returncode, done.stdout, done.stderr) == (0, "400000\n", "")
    assert written_with_suffix(tracing, file)[".copy"] == 50_000
