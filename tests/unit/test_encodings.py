"""Texts of files and programs are UTF-8 in every locale: Python's default is the locale's, such as ISO-8859-1."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from support.places import ROOT

PACKAGES = ("analyzers", "api", "archive", "cli", "clients", "collectors", "daemon", "events", "results", "scheduling")
MODES = ("r", "w", "a", "x", "r+", "w+", "a+")
PROGRAMS = ("run", "Popen", "check_output")


def without_encoding(text: str) -> Iterator[int]:
    """Yield the lines that open a file of text without its encoding, or read a program's output that may be other."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        given = {word.arg for word in node.keywords}
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in PROGRAMS and given & {"text", "universal_newlines", "encoding"}:
            if not {"encoding", "errors"} <= given:  # a byte that is no text raises no OSError
                yield node.lineno
            continue
        if given & {"encoding", None}:
            continue
        if isinstance(node.func, ast.Attribute) and called in ("write_text", "read_text"):
            yield node.lineno
        if called == "open" and _mode_of(node) in MODES:
            yield node.lineno
        if called in ("NamedTemporaryFile", "TemporaryFile", "fdopen") and any(
            isinstance(each, ast.Constant) and each.value in MODES
            for each in (*node.args, *(word.value for word in node.keywords))
        ):
            yield node.lineno


def _mode_of(node: ast.Call) -> str:
    """Return the mode of a file; "" for what opens no file by a mode, such as ``os.open``, or something else."""
    is_method = isinstance(node.func, ast.Attribute)
    if is_method and not node.args and not node.keywords:
        return ""
    given = next((word.value for word in node.keywords if word.arg == "mode"), None)
    given = given or next(iter(node.args[0 if is_method else 1 :][:1]), None)
    if given is None:
        return "" if is_method and node.args else "r"
    return str(given.value) if isinstance(given, ast.Constant) else ""


@pytest.mark.parametrize("package", PACKAGES)
def test_files_of_text_have_an_encoding(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in without_encoding(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_calls_without_an_encoding_are_found() -> None:
    text = "p.read_text()\np.write_text(t)\nopen(p)\np.open('w')\nopen(p, 'a')\np.open(errors='replace')\n"
    text += "run(c, text=True)\nrun(c, stdout=PIPE, encoding='utf-8')\nNamedTemporaryFile('w')\nfdopen(d, 'w')\n"
    assert list(without_encoding(text)) == list(range(1, 11))
    safe = (
        "p.read_text(encoding='utf-8')\nopen(p, 'rb')\np.open('wb')\nos.open(p, 0)\ngate.open()\nread_text(p)\nf(**k)\n"
        "run(c, stdout=PIPE)\nrun(c, capture_output=True, encoding='utf-8', errors='replace')\nTemporaryFile()\n"
    )
    assert list(without_encoding(safe)) == []
