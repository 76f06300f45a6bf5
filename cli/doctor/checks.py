"""Checks of ``iotide doctor``: each performs the checked operation itself."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import socket
import subprocess
from collections.abc import Callable
from typing import Final

import msgspec

from ...collectors.tracer.preload_environment import remedy, tracer_path
from ...events import IotideError
from ...events.compiled import HELPERS, REBUILD, path_of, problem_of
from . import layer_checks

_LAYER_REMEDY: Final = "a program that uses it is traced in the other layers; see docs/preload.md"


class Finding(msgspec.Struct, frozen=True):
    """Result of one check."""

    name: str
    works: bool
    necessary: bool
    detail: str
    remedy: str = ""


class BrokenError(RuntimeError):
    """A failed check with a remedy for its cause.

    Attributes:
        remedy: what mends it.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.remedy = remedy


def run_checks() -> list[Finding]:
    """Run all checks, in the order in which problems should be fixed."""
    return [
        _check("Python", True, "install Python 3.11 or newer", _python),
        _check("kernel", True, "Linux 5.3 or newer is needed", _kernel),
        _check("loopback sockets", True, "allow binding 127.0.0.1", _loopback),
        _check("shared memory", True, "allow memfd_create", _memfd),
        _check("tracer library", True, remedy(), lambda: str(tracer_path())),
        _check("live tracing", True, "see docs/preload.md, 'When nothing is traced'", layer_checks.trace_posix),
        _check("layer libraries", False, remedy(), layer_checks.layers_built),
        _check("compiled helpers", False, REBUILD, _helpers),
        _check("MPI-IO layer", False, _LAYER_REMEDY, layer_checks.trace_mpiio),
        _check("HDF5 layer", False, _LAYER_REMEDY, layer_checks.trace_hdf5),
        _check("NetCDF layer", False, _LAYER_REMEDY, layer_checks.trace_netcdf),
        _check("PnetCDF layer", False, _LAYER_REMEDY, layer_checks.trace_pnetcdf),
        _check("pictures", False, extra("plot"), lambda: _module("matplotlib")),
        _check("pages to zoom", False, extra("plot"), lambda: _module("bokeh")),
        _check(
            "strace", False, "install strace to record traces without the preload library", lambda: _program("strace")
        ),
        _check("mpirun", False, "install Open MPI or MPICH to trace MPI programs", lambda: _program("mpirun")),
        _check("dot", False, "install graphviz to draw graphs as SVG and PNG", lambda: _program("dot")),
        _check("HDF5 files", False, extra("hdf5"), lambda: _module("h5py")),
        _check("OTF2 traces", False, extra("otf2"), lambda: _module("otf2")),
        _check("Parquet files", False, extra("parquet"), lambda: _module("pyarrow")),
        _check("clustering", False, extra("cluster"), lambda: _module("sklearn")),
        _check("Prometheus", False, "install prometheus to keep the metrics", lambda: _program("prometheus")),
    ]


def extra(name: str) -> str:
    """Return how to install an optional group of Python packages; the Debian package has no pip."""
    if importlib.util.find_spec("pip") is None:
        return f"it has no pip: install iotide's wheel with [{name}] in an environment of its own"
    return f"pip install 'iotide[{name}]'"


def _check(name: str, necessary: bool, remedy: str, probe: Callable[[], str]) -> Finding:
    try:
        return Finding(name, True, necessary, probe())
    except BrokenError as error:
        return Finding(name, False, necessary, str(error), error.remedy)
    except (OSError, IotideError, subprocess.SubprocessError, RuntimeError) as error:
        return Finding(name, False, necessary, str(error) or type(error).__name__, remedy)


def _python() -> str:
    return platform.python_version()


def _kernel() -> str:
    release = platform.release()
    major, minor = (int("".join(filter(str.isdigit, part)) or 0) for part in release.split(".")[:2])
    if (major, minor) < (5, 3):
        raise RuntimeError(release)
    try:
        os.close(os.pidfd_open(os.getpid()))
    except PermissionError:
        raise BrokenError(
            f"{release}, but pidfd_open is not permitted", "allow it in the seccomp profile of the container"
        ) from None
    return release


def _loopback() -> str:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def _memfd() -> str:
    memory = os.memfd_create("iotide-doctor", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        os.ftruncate(memory, 1 << 20)
    finally:
        os.close(memory)
    return "memfd with seals"


def _helpers() -> str:
    """Raise if a helper is missing or was built from other sources. Python then replaces it, many times slower."""
    problem_by_helper = {name: problem_of(str(path_of(name))) for name in HELPERS}
    if problems := [f"{name}: {problem}" for name, problem in problem_by_helper.items() if problem]:
        raise RuntimeError("; ".join(problems))
    return ", ".join(problem_by_helper)


def _module(name: str) -> str:
    if importlib.util.find_spec(name) is None:
        raise RuntimeError(f"{name} is not installed")
    return name


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not on PATH")
    return found
