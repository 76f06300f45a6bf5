"""The page "Follow one call": real calls pass through the listed functions, in that order, and through no others."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import CodeType

import numpy as np
import pytest
from click.testing import CliRunner
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.cli.dfg.command import command as dfg
from iotide.collectors.settings import CollectorSettings, TracerSettings
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.collectors.tracer.preload_environment import traced_environment
from iotide.collectors.transport.agent import Agent
from iotide.collectors.wrappers.emit import emit_wrappers
from iotide.collectors.wrappers.signature import read
from iotide.events import Interner, Kind, StreamInfo, make_batch
from support.places import ROOT
from support.servers.running_aggregator import serving, until
from support.system.commands import Program, plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.call_paths import CallPath, Function, HandOver
from support.tracing.compiled_programs import built
from support.tracing.programs import need

PAGE = (ROOT / "docs/follow-one-call.md").read_text()
_STEP = re.compile(r"^\d+\. `([\w/.]+)` (\*\*)?`([\w.]+)`(?:\*\*)?: .+\.$", re.MULTILINE)
_SIZE = 123_635
_START_NS = 1_700_000_004_000_123_000
_WITHOUT_ARGUMENTS = ("Agent._send",)
"""Hand-overs that neither get nor return the call: it waits in their object."""


@dataclass(frozen=True)
class Step:
    """A step of the page; a hand-over is printed bold."""

    function: Function
    hands_over: bool

    @property
    def is_python(self) -> bool:
        return self.function.file.endswith(".py")


def steps(title: str) -> list[Step]:
    (section,) = re.findall(rf"^## {title}\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    numbered = re.findall(r"^\d+\. .*", section, re.MULTILINE)
    assert len(numbered) > 10
    assert not [line for line in numbered if not _STEP.fullmatch(line)]
    return [Step(Function(file, name), bool(bold)) for file, bold, name in _STEP.findall(section)]


def hand_overs(listed: list[Step], last_shown: str) -> list[HandOver]:
    """Return the hand-overs in Python. Those after ``last_shown`` have the call in a sum, or encoded."""
    found = [step.function for step in listed if step.is_python and step.hands_over]
    last = [each.name for each in found].index(last_shown)
    shown = [place <= last and function.name not in _WITHOUT_ARGUMENTS for place, function in enumerate(found)]
    return [HandOver(function, shows=each) for function, each in zip(found, shown, strict=True)]


def definition(function: Function) -> str:
    """Return the text of a function or structure in C, or of the wrapper generated for a signature."""
    path = ROOT / function.file
    text = emit_wrappers(read(path)) if path.suffix == ".sig" else path.read_text()
    found = re.search(rf"^(?=\w)[^\n;#]*\b{function.name}(?:\([^;]*?\))?\s\{{\n.*?^\}}", text, re.MULTILINE | re.DOTALL)
    assert found, function
    return found[0]


def compiled_functions() -> dict[str, str]:
    """Return the functions that compiled helpers export, with their files."""
    files = [path for path in ROOT.glob("*/**/native/*.c") if ".venv" not in path.parts and "build" not in path.parts]
    exported = re.compile(r"^(?!static)\w[\w *]*?\b(\w+)\([^;]*?\)\s\{$", re.MULTILINE | re.DOTALL)
    return {name: str(path.relative_to(ROOT)) for path in files for name in exported.findall(path.read_text())}


def assert_leads_on(listed: list[Step], codes: dict[Function, CodeType]) -> None:
    """Check that each C function is called by the step before it, and that no hand-over to C is missing."""
    exported = compiled_functions()
    for before, step, following in zip([None, *listed], listed, [*listed[1:], None], strict=False):
        code = codes.get(step.function)
        if code is None and before is not None:
            calls = codes[before.function].co_names if before.is_python else definition(before.function)
            assert step.function.name in calls, (before.function, step.function)
        if code is None:
            assert definition(step.function)
        elif step.hands_over and (called := set(code.co_names) & exported.keys()):
            assert following is not None
            assert following.function in {Function(exported[name], name) for name in called}


def assert_passes_through(path: CallPath, listed: list[Step]) -> None:
    assert path.awaited is None
    assert list(path.functions) == [step.function for step in listed if step.is_python]
    assert_leads_on(listed, path.functions)


async def pass_pwrite(path: CallPath, program: Path, folder: Path) -> None:
    """Run the program, then a collector and an aggregator in this process until all hand-overs have come."""
    socket = folder / "tracer"
    async with serving() as server:
        source = PreloadSource(socket, Origin(job="followed", host="node"))
        environment = traced_environment(plain_environment(), socket, "followed", TracerSettings())
        with Program(
            [program, folder / "out"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as running:
            assert running.stdout.readline() == b"written\n"
            with path:
                agent = Agent([source], CollectorSettings(endpoint=server.ingest_endpoint))
                collecting = asyncio.create_task(agent.run())
                try:
                    await until(lambda: path.awaited is None)
                finally:
                    collecting.cancel()
                    await asyncio.wait([collecting])
                    agent.close()
            running.communicate(timeout=DEADLINE_S)


def test_pwrite_to_its_prediction(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    program = built(tmp_path_factory, "phases.c", f"-DFOLLOWED={_SIZE}")
    listed = steps("A `pwrite` and its prediction")
    path = CallPath(hand_overs(listed, "spread"), _SIZE)
    try:
        asyncio.run(pass_pwrite(path, program, tmp_path))
    except TimeoutError:
        pytest.fail(f"{path.awaited} never has the call")
    assert_passes_through(path, listed)


def test_line_of_strace_to_an_edge(tmp_path: Path) -> None:
    """The followed line is not among the first, whose edges are new."""
    need("gcc")  # without it no helper is compiled, and the path is another one
    lines = [
        f"100 {1_700_000_000 + at // 1000}.{at % 1000:03}{123 if at == 4000 else 0:03} "
        f'pwrite64(3</scratch/out.{at % 5}>, "x"..., 4096, 0) = 4096 <0.000010>\n'
        for at in range(5000)
    ]
    (tmp_path / "trace.st").write_text("".join(lines))
    listed = steps("A line of strace and its edge")
    with CallPath(hand_overs(listed, "follow"), _START_NS, b"1700000004.000123") as path:
        done = CliRunner().invoke(dfg, [str(tmp_path / "trace.st")])
    assert done.exit_code == 0, done.output
    assert_passes_through(path, listed)


def test_call_into_an_archive_and_out() -> None:
    need("gcc")
    interner, offset = Interner(), np.arange(1000) * 4096
    offset[500] = _SIZE
    columns = {
        "start": 1_700_000_000_000_000_000 + np.arange(1000) * 1000,
        "duration": 10,
        "call": interner.string("pwrite64"),
        "kind": int(Kind.WRITE),
        "file": interner.file("/scratch/out"),
        "offset": offset,
        "bytes": 4096,
    }
    batch, definitions = make_batch(1000, columns), interner.take_fresh()
    listed = steps("A call into an archive and out")
    with CallPath(hand_overs(listed, "Splitter._code"), _SIZE) as path:
        writer = ArchiveWriter()
        written = writer.begin({"job": "followed"}) + writer.opened("s", StreamInfo(job="followed", source="test"))
        written += writer.batch("s", batch, definitions) + writer.closed("s", {}) + writer.end()
        reader = ArchiveReader(io.BytesIO(written), "archive")
        (calls,) = reader.calls(1)
    assert calls.batch.offset[500] == _SIZE
    assert_passes_through(path, listed)
