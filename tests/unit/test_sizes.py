"""Modules stay short and folders small; larger ones must be split by subject."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from support.places import ROOT

PARTS = ("analyzers", "api", "archive", "benchmarks", "cli", "clients", "collectors", "daemon", "events", "results")
FOLDERS = [ROOT / part for part in (*PARTS, "scheduling", "tests")]
MOST_LINES = 400
MOST_LINES_OF_TESTS = 600
MOST_MODULES = 15
LONGER = {
    "archive/native/grammar.c": "one algorithm with its tables",
    "archive/native/coder.c": "one algorithm with its tables",
    "collectors/preload/hooks/mpiio_fortran.c": "one shim a function",
}
WIDER = {
    "tests/programs": "each file is a program of its own",
    "tests/programs/pairs": "each file is a program of its own",
}


def modules() -> list[Path]:
    """All Python and C files except tests' programs, which have no limit."""
    found = [path for folder in FOLDERS for kind in ("py", "c", "h") for path in folder.rglob(f"*.{kind}")]
    return sorted(path.relative_to(ROOT) for path in found)


def most_lines(path: Path) -> int:
    return MOST_LINES_OF_TESTS if path.name.startswith("test_") else MOST_LINES


def too_long(sizes: dict[Path, int]) -> list[Path]:
    return [path for path, lines in sizes.items() if lines > most_lines(path) and str(path) not in LONGER]


def too_wide(paths: list[Path]) -> dict[str, int]:
    """Folders with too many modules: a C file and its header count as one, and ``__init__.py`` is the folder itself."""
    names = defaultdict(set)
    for path in paths:
        if path.name != "__init__.py":
            names[str(path.parent)].add(path.stem)
    return {folder: len(inside) for folder, inside in names.items() if len(inside) > MOST_MODULES}


def test_modules_are_short() -> None:
    sizes = {
        path: (ROOT / path).read_bytes().count(b"\n") for path in modules() if path.parts[:2] != ("tests", "programs")
    }
    assert len(sizes) > 1000
    assert not too_long(sizes)


def test_folders_are_small() -> None:
    assert not {folder: count for folder, count in too_wide(modules()).items() if folder not in WIDER}


def test_exceptions_of_size_are_needed() -> None:
    """Unneeded exceptions must be removed."""
    assert set(WIDER) <= set(too_wide(modules()))
    assert all((ROOT / name).read_bytes().count(b"\n") > MOST_LINES for name in LONGER)


@pytest.mark.parametrize(("name", "lines"), [("cli/a.py", 401), ("tests/unit/test_a.py", 601), ("archive/a.c", 401)])
def test_a_long_module_is_found(name: str, lines: int) -> None:
    assert too_long({Path(name): lines}) == [Path(name)]
    assert not too_long({Path(name): lines - 1})


def test_a_crowded_folder_is_found() -> None:
    paths = [Path(f"cli/module{number}.py") for number in range(MOST_MODULES)]
    assert not too_wide([*paths, Path("cli/__init__.py"), Path("cli/module0.h")])
    assert too_wide([*paths, Path("cli/one_more.c")]) == {"cli": MOST_MODULES + 1}
