"""Checks of ``iotide doctor`` for the layers of the tracer. Each runs a program that uses the layer."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from ...collectors.source import Chunk, Origin
from ...collectors.sources.preload.source import PreloadSource
from ...collectors.tracer.preload_environment import ALL_LAYERS, LIBRARY_LAYERS, problem_of, traced_environment
from ...events import EventBatch, Layer
from ..common.socket_folder import GATE, socket_folder

PROBE_BYTES: Final = 12_345
_EVENTS_TIMEOUT_S: Final = 5.0
_LIMIT_S: Final = 60.0
_POSIX: Final = """
import sys
path, size = sys.argv[1], int(sys.argv[2])
with open(path, "wb", buffering=0) as file:
    written = file.write(bytes(size))
if written != size:
    sys.exit(f"not tried: only {written} of {size} bytes of {path} could be written: free some space, or set TMPDIR")
"""
_HDF5: Final = "import sys, h5py; h5py.File(sys.argv[1], 'w').create_dataset('probe', data=[1, 2, 3])"
_CDL: Final = "netcdf probe { dimensions: x = 3; variables: int v(x); data: v = 1, 2, 3; }\n"
# The wrappers precede the library in the program's scope, as in a program that is linked with it.
_MPI: Final = """
import ctypes, ctypes.util, sys
for name in ("libmpi.so.40", "libmpich.so.12", "libmpi.so.12"):
    try:
        library = ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
        break
    except OSError:
        pass
else:
    sys.exit("not tried: no MPI library is installed")
program, path = ctypes.CDLL(None), sys.argv[2].encode()
if hasattr(library, "ompi_mpi_comm_self"):
    comm, info = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(library, name)))
                  for name in ("ompi_mpi_comm_self", "ompi_mpi_info_null"))
else:
    comm, info = ctypes.c_int(0x44000001), ctypes.c_int(0x1C000000)
if sys.argv[1] == "pnetcdf":
    name = ctypes.util.find_library("pnetcdf")
    if name is None:
        sys.exit("not tried: libpnetcdf is not installed")
    ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
library.MPI_Init(None, None)
if sys.argv[1] == "pnetcdf":
    file = ctypes.c_int()
    failed = program.ncmpi_create(comm, path, 0, info, ctypes.byref(file)) or program.ncmpi_close(file)
else:
    file = ctypes.c_void_p()
    failed = program.MPI_File_open(comm, path, 1 | 4, info, ctypes.byref(file))
    failed = failed or program.MPI_File_close(ctypes.byref(file))
library.MPI_Finalize()
sys.exit(failed and f"the library answered {failed}")
"""


def layers_built() -> str:
    """Return the layers with libraries; raise RuntimeError with the names of missing or stale ones."""
    if problems := [f"{layer}: {problem}" for layer in (*LIBRARY_LAYERS, ALL_LAYERS) if (problem := problem_of(layer))]:
        raise RuntimeError("; ".join(problems))
    return f"posix, stdio, {', '.join(LIBRARY_LAYERS)}"


def trace_posix() -> str:
    """Trace a child that writes ``PROBE_BYTES`` in one call. Raise RuntimeError if that is not observed."""
    with tempfile.TemporaryDirectory(prefix="iotide-doctor-") as name:
        command = [sys.executable, "-c", _POSIX, f"{name}/probe", str(PROBE_BYTES)]
        seen, found = _trace(command, lambda batch: bool((batch.bytes == PROBE_BYTES).any()))
    if not found:
        raise RuntimeError(f"a child wrote {PROBE_BYTES} bytes and the tracer reported {seen} calls without that one")
    return f"{seen} calls of a child process seen"


def trace_hdf5() -> str:
    """Trace h5py."""
    if importlib.util.find_spec("h5py") is None:
        raise RuntimeError("not tried: h5py is not installed")
    return _trace_layer(Layer.HDF5, lambda folder: [sys.executable, "-c", _HDF5, f"{folder}/probe.h5"])


def trace_netcdf() -> str:
    """Trace NetCDF's file generator."""
    return _trace_layer(Layer.NETCDF, _generator)


def trace_pnetcdf() -> str:
    """Trace the PnetCDF library that the dynamic linker finds, in a program with one rank."""
    return _trace_layer(Layer.PNETCDF, lambda folder: [sys.executable, "-c", _MPI, "pnetcdf", f"{folder}/probe.nc"])


def trace_mpiio() -> str:
    """Trace the MPI library that the dynamic linker finds, in a program with one rank."""
    return _trace_layer(Layer.MPIIO, lambda folder: [sys.executable, "-c", _MPI, "mpi", f"{folder}/probe"])


def _generator(folder: Path) -> list[str]:
    program = shutil.which("ncgen")
    if program is None:
        raise RuntimeError("not tried: ncgen is not on PATH")
    (folder / "probe.cdl").write_text(_CDL, encoding="utf-8")
    return [program, "-o", f"{folder}/probe.nc", f"{folder}/probe.cdl"]


def _trace_layer(layer: Layer, command_in: Callable[[Path], list[str]]) -> str:
    name = layer.name.lower()
    if problem := problem_of(name):
        raise RuntimeError(f"libiotide_{name}.so: {problem}")
    with tempfile.TemporaryDirectory(prefix="iotide-doctor-") as folder:
        command = command_in(Path(folder))
        _, found = _trace(command, lambda batch: bool((batch.layer == layer).any()))
    if not found:
        raise RuntimeError(f"{Path(command[0]).name} ran, but none of its calls of this layer was recorded")
    return "calls of a child process seen"


def _trace(command: list[str], wanted: Callable[[EventBatch], bool]) -> tuple[int, bool]:
    """Run a program. Return the number of observed calls, and whether the wanted one was among them."""
    with socket_folder() as folder, contextlib.closing(PreloadSource(folder / GATE, Origin(job="doctor"))) as source:
        done = subprocess.run(
            command,
            env=traced_environment(os.environ, folder / GATE, "doctor"),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        )
        if done.returncode:
            error_lines = done.stderr.strip().splitlines()
            raise RuntimeError(error_lines[-1] if error_lines else f"{command[0]} ended with {done.returncode}")
        seen = 0
        for batch in _batches(source):
            seen += len(batch)
            if wanted(batch):
                return seen, True
        return seen, False


def _batches(source: PreloadSource) -> Iterator[EventBatch]:
    limit = time.monotonic() + _EVENTS_TIMEOUT_S
    while time.monotonic() < limit:
        yield from [item.batch for item in source.poll() if isinstance(item, Chunk)]
        time.sleep(0.01)
