"""Targets that `make` rebuilds, and files that `make clean` removes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from iotide.collectors.tracer.preload_environment import LIBRARY_LAYERS
from iotide.collectors.wrappers.sources import library_of
from iotide.events.compiled import HELPERS
from support.places import ROOT
from support.tracing.programs import need

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
"""Without the variables that a `make` around the tests passes to its children."""


def is_up_to_date(venv: Path, *assumed_new: str) -> bool:
    told = [part for name in assumed_new for part in ("-W", name)]
    command = [need("make"), "--question", *told, f"VENV={venv}", str(venv / ".installed")]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "pattern",
    [
        "collectors/preload/*.[ch]",
        "collectors/preload/hooks/*.[ch]",
        "collectors/preload/signatures/*.sig",
        "collectors/wrappers/*.py",
        "collectors/native/*.h",
        "events/compiled.py",
        "pyproject.toml",
        "setup.py",
    ],
)
def test_touched_source_has_libraries_built_again(tmp_path: Path, pattern: str) -> None:
    (tmp_path / ".installed").touch()
    assert is_up_to_date(tmp_path)
    sources = sorted(ROOT.glob(pattern))
    assert sources
    assert [path.name for path in sources if is_up_to_date(tmp_path, str(path.relative_to(ROOT)))] == []


@pytest.mark.parametrize("name", HELPERS)
def test_touched_source_of_a_helper_has_it_built_again(tmp_path: Path, name: str) -> None:
    (tmp_path / ".installed").touch()
    sources = [path for path in (ROOT / HELPERS[name]).parent.iterdir() if path.suffix in {".c", ".h"}]
    assert sources
    assert [path.name for path in sources if is_up_to_date(tmp_path, str(path.relative_to(ROOT)))] == []


def test_clean_removes_all_that_was_built(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    libraries = [library_of(name).relative_to(ROOT) for name in ("preload", *LIBRARY_LAYERS, "layers")]
    built = [
        tmp_path / path
        for path in (*libraries, *map(Path, HELPERS.values()), "build/x", "dist/x", "iotide.egg-info/x", ".venv/x")
    ]
    for path in built:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    subprocess.run([need("make"), "clean"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, check=True)
    assert [path for path in built if path.exists()] == []
