"""Benchmarks find what they measure: a name that a refactoring moved is missed when they are run, which is rare."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.parametrize("script", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_names_that_a_benchmark_imports_are_there(script: Path) -> None:
    absent = []
    for node in ast.walk(ast.parse(script.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("iotide", "support"):
            module = importlib.import_module(node.module or "")
            for name in node.names:
                if not hasattr(module, name.name):
                    try:  # it may be a module itself
                        importlib.import_module(f"{node.module}.{name.name}")
                    except ImportError:
                        absent.append(f"{node.module}.{name.name}")
        elif isinstance(node, ast.ImportFrom) and (FOLDER / f"{node.module}.py").exists():
            tree = ast.parse((FOLDER / f"{node.module}.py").read_text())
            absent += [f"{node.module}.{name.name}" for name in node.names if name.name not in names_of(tree)]
    assert not absent


def names_of(tree: ast.Module) -> set[str]:
    """Names that a module has at its top level."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name for alias in node.names)
    return found
