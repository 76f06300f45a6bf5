"""The wheel for nodes: collectors work without the analysis, and other commands report missing packages."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64decode
from pathlib import Path
from runpy import run_path

import pytest
from iotide.cli.main import NOT_ON_NODES
from iotide.clients.job_fetch import fetch
from iotide.results.jobs.job import JobDetail
from support.places import ROOT
from support.servers.served_process import served
from support.system.commands import IOTIDE, plain_environment
from support.system.waiting import DEADLINE_S, wait_for

SCRIPT = run_path(str(ROOT / "deploy/packages/collect_wheel.py"))
METADATA = """Metadata-Version: 2.4
Name: iotide
Version: 0.1.0
Requires-Python: >=3.11
Requires-Dist: click>=8.1
Requires-Dist: fastapi>=0.115
Requires-Dist: msgpack>=1.0
Requires-Dist: msgspec>=0.19
Requires-Dist: numpy>=1.26
Requires-Dist: pydantic>=2.7
Requires-Dist: pyzmq>=26
Requires-Dist: scipy>=1.11
Provides-Extra: plot
Requires-Dist: numpy>=9; extra == "plot"

# iotide

Requires-Dist: not a field
"""
BLOCKING = f"""
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {NOT_ON_NODES!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Refusing())
"""


def wheel(folder: Path) -> Path:
    path = folder / "iotide-0.1.0-py3-none-manylinux_2_34_x86_64.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("iotide/__init__.py", "")
        packed.writestr("iotide-0.1.0.dist-info/METADATA", METADATA)
        packed.writestr("iotide-0.1.0.dist-info/entry_points.txt", "[console_scripts]\niotide = iotide.cli.main:main\n")
        packed.writestr("iotide-0.1.0.dist-info/RECORD", "")
    return path


def test_it_has_the_same_files_and_needs_less(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    made, again = (SCRIPT["convert"](wheel(tmp_path), tmp_path / name) for name in ("one", "two"))
    assert made.name == "iotide_collect-0.1.0-py3-none-manylinux_2_34_x86_64.whl"
    assert made.read_bytes() == again.read_bytes()
    with zipfile.ZipFile(made) as packed:
        text = packed.read("iotide_collect-0.1.0.dist-info/METADATA").decode()
        records = packed.read("iotide_collect-0.1.0.dist-info/RECORD").decode().splitlines()
        for record in records[:-1]:
            name, check, size = record.split(",")
            content = packed.read(name)
            assert len(content) == int(size)
            assert urlsafe_b64decode(check.removeprefix("sha256=") + "=") == hashlib.sha256(content).digest()
        assert {record.split(",")[0] for record in records} == set(packed.namelist())
    head, _, rest = text.partition("\n\n")
    needed = re.findall(r"^Requires-Dist: ([a-z]+)", head, re.MULTILINE)
    assert sorted(needed) == sorted(SCRIPT["NEEDED"])
    assert "Name: iotide-collect\n" in head
    assert "extra" not in head.lower()
    assert "Requires-Dist: not a field" in rest


@pytest.fixture
def node(tmp_path: Path) -> dict[str, str]:
    """Return the environment of programs with only the requirements of the wheel for nodes."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site/sitecustomize.py").write_text(BLOCKING)
    return plain_environment() | {"PYTHONPATH": str(tmp_path / "site")}


def test_collector_of_a_node_traces_and_ships(node: dict[str, str], tmp_path: Path) -> None:
    gate = tmp_path / "t"
    with served(tmp_path) as server:
        collect = [*IOTIDE, "collect", "--socket", str(gate)]
        made = subprocess.run([*collect, "--print-environment"], env=node, capture_output=True, text=True, check=True)
        with subprocess.Popen([*collect, "--connect", server.endpoint, "--job", "j"], env=node) as collector:
            try:
                wait_for(gate.exists, what="its socket")
                traced = dict(os.environ) | dict(line.split("=", 1) for line in made.stdout.splitlines())
                program = [sys.executable, "-c", f"open({str(tmp_path / 'out')!r}, 'wb').write(bytes(1000))"]
                subprocess.run(program, env=traced, check=True)
                subprocess.run([*IOTIDE, "collect", "--stop", str(gate)], env=node, check=True)
                assert collector.wait() == 0
            finally:
                collector.kill()
        assert fetch(f"{server.url}/jobs/j", "", JobDetail).bytes_written == 1000


@pytest.mark.parametrize("words", [["doctor"], ["keys", "--help"], ["slurm", "scripts", "--help"]], ids=" ".join)
def test_commands_of_nodes_do_without_the_rest(node: dict[str, str], words: list[str]) -> None:
    done = subprocess.run([*IOTIDE, *words], env=node, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [["detect", "t.jsonl"], ["serve", "--http", "127.0.0.1:0", "--ingest", "ipc://in", "--publish", "none"]],
    ids=["detect", "serve"],
)
def test_commands_that_need_the_full_package_report_it(node: dict[str, str], tmp_path: Path, words: list[str]) -> None:
    line = '{"call": "write", "path": "/scratch/out", "start": %d, "dur": 0.25, "size": 4096}\n'
    (tmp_path / "t.jsonl").write_text("".join(line % start for start in range(100)))
    done = subprocess.run(
        [*IOTIDE, *words], cwd=tmp_path, env=node, capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "this command needs the whole iotide" in done.stderr
    assert "Traceback" not in done.stderr
