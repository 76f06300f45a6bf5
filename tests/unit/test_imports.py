"""Packages import one another in one direction only, and light modules stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import iotide
import pytest
from iotide.cli.main import COMMANDS

ROOT = Path(iotide.__file__).parent
MAY_IMPORT = {
    "events": set(),
    "results": set(),
    "scheduling": {"events"},
    "archive": {"events"},
    "collectors": {"archive", "events", "results", "scheduling"},
    "analyzers": {"events", "results"},
    "daemon": {"analyzers", "archive", "events", "results"},
    "clients": {"archive", "events", "results", "scheduling"},
    "cli": {"analyzers", "archive", "clients", "collectors", "daemon", "events", "results", "scheduling"},
    "api": {"analyzers", "cli", "clients", "events", "results"},
}
SHOWN = {"detection", "dfg", "layers", "rank"}
IMPURE = {"asyncio", "os", "pathlib", "random", "socket", "subprocess", "threading", "time", "zmq"}


def imported_modules(path: Path) -> set[str]:
    """Return the dotted names that a file imports, relative ones resolved against the package root."""
    here = path.relative_to(ROOT).with_suffix("").parts
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                base = ("iotide", *here)[: len(here) + 1 - node.level]
                names.update(".".join((*base, *((node.module or alias.name).split(".")))) for alias in node.names)
            else:
                names.add(node.module or "")
    return names


def files_of(part: str) -> list[Path]:
    return sorted((ROOT / part).rglob("*.py"))


def test_descriptors_are_waited_for_whatever_their_numbers_are() -> None:
    """select() has no place for those from 1,024 on, which collectors of many processes have."""
    users = [path for part in MAY_IMPORT for path in files_of(part) if "select.select(" in path.read_text()]
    assert users == []


@pytest.mark.slow
@pytest.mark.parametrize("part", MAY_IMPORT)
def test_part_imports_only_what_the_architecture_allows(part: str) -> None:
    assert files_of(part)
    for path in files_of(part):
        for name in imported_modules(path):
            top, *rest = name.split(".")
            if top == "iotide" and rest and rest[0] in MAY_IMPORT:
                assert rest[0] == part or rest[0] in MAY_IMPORT[part], f"{path} imports {name}"


def test_subjects_that_clients_show_do_not_lean_on_one_another() -> None:
    for path in files_of("clients"):
        subject = path.relative_to(ROOT).parts[1]
        if subject in SHOWN:
            others = {name.split(".")[2] for name in imported_modules(path) if name.startswith("iotide.clients.")}
            assert not others & (SHOWN - {subject}), path


@pytest.mark.slow
@pytest.mark.parametrize("part", MAY_IMPORT)
def test_modules_and_folders_of_each_folder_import_one_another_one_way(part: str) -> None:
    """Imports in functions and for types count, too."""
    for folder in sorted({path.parent for path in files_of(part)}):
        prefix = ".".join(("iotide", *folder.relative_to(ROOT).parts, ""))
        used: dict[str, set[str]] = {}
        for path in folder.rglob("*.py"):
            unit = path.relative_to(folder).with_suffix("").parts[0]
            names = [name.removeprefix(prefix) for name in imported_modules(path) if name.startswith(prefix)]
            used.setdefault(unit, set()).update({name.split(".")[0] for name in names} - {unit})
        TopologicalSorter(used).prepare()  # raises CycleError with a circle's modules and folders


@pytest.mark.slow
def test_analyzers_are_pure() -> None:
    for path in files_of("analyzers"):
        tops = {name.split(".")[0] for name in imported_modules(path)}
        assert not tops & IMPURE, f"{path} imports {tops & IMPURE}"


def test_commands_on_finished_traces_do_without_the_daemon() -> None:
    """The other commands run a daemon, inspect its requirements, manage its principals, or check settings."""
    running = {
        "serve_cluster.py",
        "entry.py",
        "journal_checks.py",
        "keys.py",
        "run_feed.py",
        "run_session.py",
        "run_settings.py",
        "run_start.py",
        "serve.py",
        "serve_loop.py",
        "settings.py",
    }
    for path in files_of("cli"):
        uses = {name for name in imported_modules(path) if name.startswith("iotide.daemon")}
        assert not uses or path.name in running, f"{path} imports {uses}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("iotide.collectors.transport.agent", ["scipy", "fastapi", "rich", "iotide.daemon", "iotide.analyzers"]),
        ("iotide.clients.subscriber", ["scipy", "fastapi", "iotide.daemon", "iotide.collectors"]),
        (
            "iotide.collectors.sources.registry",
            ["iotide.archive.file.reader", "iotide.collectors.sources.strace.parser", "xml.parsers.expat"],
        ),
        ("iotide.cli.main", ["numpy", "fastapi", "zmq", "matplotlib"]),
        (
            "iotide.clients.report.report",
            [
                "jinja2",
                "urllib.request",
                "http.client",
                "iotide.clients.report.charts.signal_charts",
                "iotide.results.layers",
                "iotide.results.interaction",
                "iotide.results.dfg",
            ],
        ),
        (
            "iotide.daemon.jobs.job_findings",
            ["iotide.results.layers", "iotide.analyzers.layers.report.report", "iotide.analyzers.advice.update"],
        ),
        ("iotide.cli.slurm.prolog_epilog", ["numpy", "zmq", "iotide.collectors.tracer"]),
        ("iotide.cli.run.run_start", ["scipy", "zmq", "asyncio", "jinja2", "rich", "iotide.daemon.server"]),
        (
            "iotide.cli.run.run_session",
            [
                "scipy",
                "zmq",
                "jinja2",
                "rich",
                "matplotlib",
                "iotide.results.traces.analysis",
                "iotide.results.layers",
                "iotide.archive.file.writer",
                "iotide.daemon.pacing_plans",
                "iotide.analyzers.layers.report.report",
                "iotide.analyzers.dfg.graph",
                "iotide.analyzers.groups.update",
                "iotide.analyzers.layers.update",
                "iotide.analyzers.interaction.update",
                "tomllib",
            ],
        ),
    ],
)
def test_importing_a_light_part_loads_nothing_heavy(module: str, unwanted: list[str]) -> None:
    code = f"import sys, {module}; print([name for name in {unwanted!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)], ids=lambda words: "-".join(words) or "iotide")
def test_help_loads_nothing_heavy(command: list[str]) -> None:
    unwanted = ["numpy", "scipy", "pydantic", "asyncio", "ssl", "zmq", "rich", "importlib.metadata"]
    code = (
        "import atexit, sys\nfrom iotide.cli.main import main\n"
        f"atexit.register(lambda: print([name for name in {unwanted!r} if name in sys.modules]))\nmain()"
    )
    words = [sys.executable, "-c", code, *command, "--help"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_wrappers_are_written_before_the_package_is_installed() -> None:
    program = "import sys; sys.path.insert(0, 'collectors'); from wrappers import build"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
