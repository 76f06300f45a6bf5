"""Names that benchmarks import exist; benchmarks run rarely, so a renamed one would go unnoticed."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest
from support.places import ROOT

FOLDER = ROOT / "benchmarks"
SCRIPTS = sorted(FOLDER.rglob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_names_that_a_benchmark_imports_are_there(script: Path) -> None:
    absent = []
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("iotide", "support"):
            of_benchmarks = FOLDER.parent.joinpath(*(node.module or "").split(".")[1:]).with_suffix(".py")
            if of_benchmarks.is_relative_to(FOLDER):  # not imported: its peers may not be installed
                known = names_of(ast.parse(of_benchmarks.read_text()))
                absent += [f"{node.module}.{name.name}" for name in node.names if name.name not in known]
                continue
            module = importlib.import_module(node.module or "")
            for name in node.names:
                if not hasattr(module, name.name):
                    try:  # it may be a module itself
                        importlib.import_module(f"{node.module}.{name.name}")
                    except ImportError:
                        absent.append(f"{node.module}.{name.name}")
    assert not absent


def test_benchmarks_are_told_apart_by_their_names_alone() -> None:
    names = [script.stem for script in SCRIPTS]
    assert sorted(set(names)) == sorted(names)


def names_of(tree: ast.Module) -> set[str]:
    """Top-level names of a module."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
    return found
