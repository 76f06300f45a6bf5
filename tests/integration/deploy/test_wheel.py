"""The wheel: one for every Python, including the compiled parts, for machines without a compiler."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from support.places import ROOT
from support.tracing.programs import need

_HELPERS = ("grouping", "archive", "records", "strace", "traces")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("gcc")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    left_out = shutil.ignore_patterns(
        ".venv", ".git", "build", "dist", "*.so", "*.egg-info", "__pycache__", "results.json"
    )
    shutil.copytree(ROOT, source, ignore=left_out, symlinks=True)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        str(folder),
        ".",
    ]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(build, cwd=source, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    (path,) = folder.glob("*.whl")
    return path


def test_it_is_for_every_python_and_has_the_compiled_parts(wheel: Path) -> None:
    assert re.fullmatch(r"iotide-[^-]+-py3-none-linux_\w+\.whl", wheel.name)
    names = zipfile.ZipFile(wheel).namelist()
    libraries = {Path(name).name for name in names if name.endswith(".so")}
    assert {f"libiotide_{name}.so" for name in (*_HELPERS, "preload", "layers")} <= libraries
    left_over = [name for name in names if name.endswith((".c", "setup.py")) or "/tests/" in name]
    assert left_over == ["iotide/deploy/slurm/spank_iotide.c"]  # which is built where Slurm's headers are installed
    assert {"iotide/deploy/slurm/prolog.sh", "iotide/deploy/prometheus/rules.yml", "iotide/docs/runbooks.md"} <= set(
        names
    )


def test_installed_wheel_traces_a_program_without_a_compiler(wheel: Path, tmp_path: Path) -> None:
    site, report = tmp_path / "site", tmp_path / "report"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    # Its dependencies are those of these tests; `site` comes first, so the package itself is the wheel's.
    path = os.pathsep.join([str(site), sysconfig.get_path("purelib")])
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": path, "HOME": str(tmp_path), "CC": "/nonexistent"}
    program = f"open({str(tmp_path / 'out')!r}, 'wb').write(bytes(1_000_000))"
    run = [sys.executable, "-m", "iotide", "run", "-q", "--json", "run.json", "-o", str(report), "--"]
    done = subprocess.run(
        [*run, sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "run.json").read_text())["job"]["bytes_written"] == 1_000_000
    loaded = [sys.executable, "-c", "import iotide; print(iotide.__file__)"]
    where = subprocess.run(loaded, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True).stdout
    assert where.startswith(str(site))
