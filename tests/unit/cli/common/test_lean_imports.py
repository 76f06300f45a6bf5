"""Fast commands avoid unused imports; the programs that they start get everything."""

from __future__ import annotations

import gc
import os
import subprocess
import sys

import pytest
from iotide.cli.common.lean_imports import lean_imports

THREADS = "import os; print(len(os.listdir('/proc/self/task')))"


def test_environment_and_collection_of_garbage_are_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    monkeypatch.delenv("PYDANTIC_DISABLE_PLUGINS", raising=False)
    before = dict(os.environ)
    with lean_imports():
        assert os.environ["OPENBLAS_NUM_THREADS"] == "3"
        assert "PYDANTIC_DISABLE_PLUGINS" in os.environ
        assert not gc.isenabled()
    assert dict(os.environ) == before
    assert gc.isenabled()


def test_environment_is_as_before_when_an_import_fails() -> None:
    before = dict(os.environ)
    with pytest.raises(ImportError), lean_imports():
        raise ImportError
    assert dict(os.environ) == before
    assert gc.isenabled()


def test_numpy_starts_no_threads() -> None:
    code = f"from iotide.cli.common.lean_imports import lean_imports\nwith lean_imports():\n    import numpy\n{THREADS}"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "1\n"


def test_imported_objects_are_never_scanned_for_garbage() -> None:
    """The collection at exit scans everything that is not frozen, whatever the program has done."""
    code = (
        "import gc\n"
        "from iotide.cli.common.lean_imports import lean_imports\n"
        "with lean_imports():\n    import numpy\n"
        "print(any(each is vars(numpy) for each in gc.get_objects()), gc.isenabled())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


@pytest.mark.slow
def test_models_are_made_without_what_is_installed_being_looked_through() -> None:
    """Pydantic searches plugins when it builds its first model, which is after the block that defers building."""
    code = (
        "import sys\n"
        "from iotide.cli.common.lean_imports import lean_imports\n"
        "with lean_imports():\n    import asyncio\n    from iotide.analyzers.settings import DetectSettings\n"
        "DetectSettings()\n"
        "print([name for name in ('importlib.metadata', 'email', 'zipfile', 'ssl') if name in sys.modules])\n"
        "import importlib.metadata, ssl\n"
        "metadata = importlib.metadata\n"
        "print(metadata.version('pydantic') > '2', len(metadata.entry_points()) > 0, ssl.SSLContext)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYDANTIC_DISABLE_PLUGINS"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout == "[]\nTrue True <class 'ssl.SSLContext'>\n"


def test_installed_packages_can_be_queried_within_the_block() -> None:
    code = (
        "from iotide.cli.common.lean_imports import lean_imports\n"
        "with lean_imports():\n    from importlib.metadata import entry_points, version\n"
        "print(version('pydantic') > '2', len(entry_points()) > 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"
