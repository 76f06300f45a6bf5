"""Libraries that do not match their sources: rebuilt if there is a compiler, otherwise reported and not used."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from iotide.collectors.tracer.preload_environment import LIBRARY_LAYERS
from iotide.collectors.wrappers.sources import PRELOAD, built_from, library_of
from iotide.events.compiled import HELPERS
from support.system.commands import plain_environment
from support.tracing.programs import need

PARTS = ("analyzers", "archive", "clients", "cli", "collectors", "daemon", "events", "results")
SOME_LAYERS = ("--layers", "posix,stdio,mpiio")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the package, as a folder from which its modules are imported."""
    need("gcc")
    package = tmp_path / "checkout" / "iotide"
    for part in PARTS:
        shutil.copytree(PRELOAD.parents[1] / part, package / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PRELOAD.parents[1] / "__init__.py", package)
    return package


def run(checkout: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from iotide.cli.main import main; main()", *arguments],
        cwd=checkout.parent,
        env=plain_environment(PYTHONPATH=str(checkout.parent), **environment),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def traced(checkout: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["run", *SOME_LAYERS, "--no-report", "--json", "said.json", "--", "cp", "iotide/__init__.py", "copy"]
    return run(checkout, *command, **environment)


def touch(checkout: Path, name: str) -> None:
    with (checkout / "collectors" / "preload" / name).open("a") as file:
        file.write("\n")


@pytest.mark.slow
def test_checkout_in_a_folder_with_a_space_traces(tmp_path: Path, checkout: Path) -> None:
    """LD_PRELOAD separates its paths at spaces, so it gets a link."""
    moved = tmp_path / "my programs" / "iotide"
    moved.parent.mkdir()
    checkout.rename(moved)
    for _ in range(2):
        done = traced(moved, XDG_CACHE_HOME=str(tmp_path / "cache"))
        assert done.returncode == 0, done.stderr
        assert "no program was left untraced" in done.stderr
        assert "ld.so" not in done.stderr
        assert json.loads((moved.parent / "said.json").read_text())["job"]["events"] > 0


@pytest.mark.slow
def test_stale_library_is_rebuilt_and_this_is_reported_once(checkout: Path) -> None:
    touch(checkout, "recording/session.c")
    touch(checkout, "hooks/mpiio_library.c")
    done = traced(checkout)
    assert done.returncode == 0, done.stderr
    for name in ("preload", "mpiio"):
        library = library_of(name, checkout / "collectors" / "preload")
        assert f"{library}: it was built from other sources; rebuilding it" in done.stderr
        assert built_from(library) != built_from(library_of(name))
    assert "hdf5" not in done.stderr
    assert "no program was left untraced" in done.stderr
    assert json.loads((checkout.parent / "said.json").read_text())["job"]["events"] > 0

    again = run(checkout, "collect", "--socket", "gate", "--print-environment", *SOME_LAYERS)
    assert (again.returncode, again.stderr) == (0, "")


@pytest.mark.slow
def test_stale_library_without_a_compiler_is_told_and_not_preloaded(checkout: Path) -> None:
    touch(checkout, "recording/session.c")
    done = traced(checkout, CC="absent-cc")
    assert done.returncode == 0
    assert "cannot be built: the C compiler that CC names is not there: absent-cc" in done.stderr
    assert "no tracer library (it was built from other sources)" in done.stderr
    assert "the command runs untraced" in done.stderr
    assert "complete" not in done.stderr
    (unseen,) = json.loads((checkout.parent / "said.json").read_text())["unseen"]
    assert (unseen["program"], unseen["times"]) == ("cp", 1)
    assert unseen["reason"].startswith("was not traced: no tracer library")
    assert (checkout.parent / "copy").is_file()

    environment = run(checkout, "collect", "--socket", "gate", "--print-environment", *SOME_LAYERS, CC="absent-cc")
    assert environment.returncode != 0
    assert environment.stdout == ""
    assert "it was built from other sources" in environment.stderr


@pytest.mark.slow
def test_missing_parts_of_an_installation_without_a_compiler_are_reported(checkout: Path) -> None:
    """As a wheel that was made without a compiler: neither sources nor libraries."""
    for path in (*checkout.rglob("*.so"), *checkout.rglob("*.c")):
        path.unlink()
    done = traced(checkout)
    assert done.returncode == 0
    assert f"not built: {', '.join(HELPERS)}; Python does their work" in done.stderr
    assert "the command runs untraced" in done.stderr
    assert "install a C compiler, then iotide again" in done.stderr

    doctor = json.loads(run(checkout, "doctor", "--json").stdout)
    findings = {row["name"]: row for row in doctor["checks"]}
    for name in ("tracer library", "layer libraries", "compiled helpers"):
        assert not findings[name]["works"]
        assert "not built" in findings[name]["detail"]
        assert "install a C compiler" in findings[name]["remedy"]
    assert all(layer in findings["layer libraries"]["detail"] for layer in LIBRARY_LAYERS)
