"""Every call of glibc that the preload library wraps, made by programs that print the expected events."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from iotide.collectors.wrappers.signature import read
from support.places import ROOT
from support.system.commands import plain_environment
from support.tracing.stepped_programs import Step, Transcript, build, differences, read_transcript
from support.tracing.tracing import Row, Tracing

SIGNATURES = ROOT / "collectors" / "preload" / "signatures"
NOT_CALLED = {
    "posix": {
        "sync": "writes back what everybody on this machine has written",
    },
    "stdio": {
        f"__isoc23_{name}": "glibc has it from 2.38 on"
        for name in ("fscanf", "vfscanf", "scanf", "vscanf", "fwscanf", "vfwscanf", "wscanf", "vwscanf")
    },
}
LIBRARIES = ["posix", "stdio"]
ALL = "data,handle,seek,sync,meta,char"


@pytest.fixture(scope="session", params=LIBRARIES)
def library(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def program(library: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(f"{library}_calls.c", tmp_path_factory.mktemp("programs"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def traced(tracing: Tracing, program: Path, folder: Path, calls: str | None = ALL) -> tuple[Transcript, list[Row]]:
    environment = tracing.environment(**({"IOTIDE_CALLS": calls} if calls else {}))
    done = tracing.run([program, f"iotide-{folder.parent.name}"], cwd=folder, env=environment)
    assert (done.returncode, done.stderr) == (7, "")
    (stream,) = (stream for stream, info in tracing.info.items() if info.command.startswith(str(program)))
    return read_transcript(done.stdout), sorted(tracing.rows(stream=stream), key=lambda row: row.end)


def test_each_call_is_seen_with_its_parameters(tracing: Tracing, program: Path, folder: Path) -> None:
    transcript, rows = traced(tracing, program, folder)
    found = differences(transcript.steps, rows, folder)
    assert not found, "\n".join(found[:20])
    assert not any(count for reason, count in tracing.source.counters.items() if "dropped" in reason)


def test_each_call_gives_what_it_gives_untraced(tracing: Tracing, program: Path, folder: Path, tmp_path: Path) -> None:
    transcript, _ = traced(tracing, program, folder)
    elsewhere = tmp_path / "untraced"
    elsewhere.mkdir()
    command = [program, f"iotide-{folder.parent.name}"]
    done = subprocess.run(
        command,
        cwd=elsewhere,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (7, "")
    assert transcript.calls == read_transcript(done.stdout).calls


def test_every_wrapped_function_is_called(tracing: Tracing, library: str, program: Path, folder: Path) -> None:
    transcript, _ = traced(tracing, program, folder)
    called = {symbol for symbol, _, _ in transcript.calls}
    wrapped = set(read(SIGNATURES / f"{library}.sig").symbols())
    assert wrapped - called == set(NOT_CALLED[library])


def test_handles_follow_their_descriptors(tracing: Tracing, program: Path, folder: Path) -> None:
    _, rows = traced(tracing, program, folder)
    behind: dict[int, int] = {}
    for row in rows:
        made = re.search(r"\) = (\d+)$", row.signature)
        about = re.search(r"\((?:fd|stream)=(\d+)", row.signature)
        if row.kind.name in ("CREATE", "DUPLICATE") and made and not row.errno:
            behind[int(made[1])] = row.handle
        elif about and int(about[1]) in behind:
            assert row.handle == behind[int(about[1])], row
            if row.kind.name == "DESTROY":
                del behind[int(about[1])]
        elif row.call in ("close_range", "closefrom"):
            first = int(row.signature.split("first=")[1].split(",")[0].rstrip(")"))
            behind = {fd: handle for fd, handle in behind.items() if fd < first}


@pytest.mark.parametrize("calls", [None, "char", "data,seek"])
def test_calls_of_classes_that_are_off_are_not_seen(
    tracing: Tracing, library: str, program: Path, folder: Path, calls: str | None
) -> None:
    on = (calls or "data,handle,seek,sync,meta").split(",")
    file = read(SIGNATURES / f"{library}.sig")
    group_of = {symbol: call.group for call in file.statements for symbol in call.symbols}
    transcript, rows = traced(tracing, program, folder, calls)
    # A direct system call has the kind of the function under whose name it is shown.
    shown = {
        step: step.symbol if step.symbol != "syscall" else step.signature.partition("(")[0] for step in transcript.steps
    }
    kept = tuple(step for step in transcript.steps if group_of[shown[step]] in on and not is_by_buffer(step))
    found = differences(kept, [row for row in rows if not is_by_buffer(row)], folder)
    assert not found, "\n".join(found[:20])


def is_by_buffer(of: Step | Row) -> bool:
    """Whether characters that were moved one at a time are recorded together."""
    return "characters=" in of.signature


@pytest.mark.parametrize("calls", [None, "data,seek", "data", "seek", "char"])
def test_single_characters_are_recorded_by_buffer(
    tracing: Tracing, tmp_path: Path, folder: Path, calls: str | None
) -> None:
    program = build("stdio_calls.c", tmp_path)
    group_of = {symbol: call.group for call in read(SIGNATURES / "stdio.sig").statements for symbol in call.symbols}
    transcript, rows = traced(tracing, program, folder, calls)
    expected = Counter[tuple[str, str]]()
    for step in transcript.steps:
        if group_of[step.symbol] == "char" or is_by_buffer(step):
            expected[step.path, step.kind] += step.bytes
        if step.symbol.startswith("unget"):
            expected[step.path, "READ"] -= len(chr(int(step.signature.split("=")[1].split(",")[0])).encode())
    found = Counter[tuple[str, str]]()
    for row in filter(is_by_buffer, rows):
        found[str(Path(row.path).relative_to(folder)), row.kind.name] += row.bytes
    assert found == (+expected if calls is None or "data" in calls else Counter())
