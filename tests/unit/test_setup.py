"""The build replaces a library in one step: a program that starts meanwhile loads the whole old one or the new one."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.places import ROOT
from support.tracing.programs import need

NEEDED = ("collectors", "events", "analyzers/common/native", "archive/native")
BUILD = """
import json, os, runpy, sys
import setuptools

run_setup, given = setuptools.setup, {}
setuptools.setup = lambda **arguments: given.update(arguments)
runpy.run_path("setup.py")
library = os.path.abspath("part/libiotide_example.so")
changes = []

def note(event, arguments):
    if event not in ("open", "os.rename", "os.remove", "os.truncate"):
        return
    names = [os.path.abspath(each) for each in arguments[:2] if isinstance(each, (str, os.PathLike))]
    if library not in names:
        return
    if event == "os.rename":
        changes.append([event, os.path.getsize(names[0])])
    elif event != "open" or arguments[2] & (os.O_WRONLY | os.O_RDWR):
        changes.append([event, 0])

sys.addaudithook(note)
extension = setuptools.Extension("iotide.part.iotide_example", ["example.c"])
run_setup(
    name="example",
    package_dir={"iotide": "."},
    packages=["iotide", "iotide.part"],
    ext_modules=[extension],
    cmdclass={"build_ext": given["cmdclass"]["build_ext"]},
    script_args=["-q", "build_ext", "--inplace"],
)
print(json.dumps(changes))
"""


def build(folder: Path, code: str) -> list[tuple[str, int]]:
    """Build the library; return the changes of its file, and the size of what replaced it."""
    (folder / "example.c").write_text(code)
    shutil.rmtree(folder / "build", ignore_errors=True)
    words = [sys.executable, "-c", BUILD]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    return [(event, size) for event, size in json.loads(done.stdout.splitlines()[-1])]


@pytest.mark.slow
def test_a_built_library_is_replaced_in_one_step(tmp_path: Path) -> None:
    need("gcc")
    for name in NEEDED:
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    shutil.copy(ROOT / "setup.py", tmp_path)
    (tmp_path / "part").mkdir()
    library = tmp_path / "part" / "libiotide_example.so"
    for code in ("int before;", "int after[1000] = {1};"):
        changes = build(tmp_path, code)
        assert changes == [("os.rename", library.stat().st_size)]
        assert [path.name for path in library.parent.iterdir()] == [library.name]
