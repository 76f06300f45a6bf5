"""The tutorial as a notebook runs from its first cell to its last, with the outputs that it shows."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from support.places import ROOT
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S

NOTEBOOK = ROOT / "docs/tutorial.ipynb"
_RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(notebook, timeout=int(sys.argv[2])).execute()
nbformat.write(notebook, "done.ipynb")
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The notebook's cells with their outputs."""
    for needed in ("nbclient", "ipykernel", "pandas"):
        pytest.importorskip(needed)
    folder = tmp_path_factory.mktemp("notebook")
    environment = plain_environment(IPYTHONDIR=str(folder / "ipython"), JUPYTER_PLATFORM_DIRS="1")
    done = subprocess.run(
        [sys.executable, "-c", _RUN, NOTEBOOK, str(int(DEADLINE_S))],
        cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=4 * DEADLINE_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return list(json.loads((folder / "done.ipynb").read_text())["cells"])


def shown(cells: list[dict[str, Any]], code: str) -> str:
    """Return the output of the first cell whose code contains a text."""
    (cell, *_) = [cell for cell in cells if cell["cell_type"] == "code" and code in "".join(cell["source"])]
    return json.dumps(cell["outputs"])


@pytest.mark.slow
def test_every_cell_runs_and_shows_what_it_is_about(cells: list[dict[str, Any]]) -> None:
    assert "360,000 writes of 64 B" in shown(cells, "first.advice()")
    assert "a phase each" in shown(cells, "first.detect()")
    assert "360000" in shown(cells, "first.to_pandas()")
    assert "image/png" in shown(cells, "bandwidth.plot")
    assert "expected to save" in shown(cells, "mended")
    for page in ("first.layers()", "first.graph("):
        assert "<iframe" in shown(cells, page)


def test_it_is_kept_without_outputs() -> None:
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
