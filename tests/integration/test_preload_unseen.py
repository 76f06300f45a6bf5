"""Programs that the tracer does not get into are said to be unseen, whoever starts them: real ones of each kind."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from iotide.events.models import RunSummary, UnseenProgram
from support.building import built
from support.commands import iotide
from support.programs import need
from support.tracing import Tracing

STATIC = "is statically linked"


@pytest.fixture(scope="session")
def static(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "nothing.c", "-static", name="static")


def unseen(tracing: Tracing, *command: str | Path, **environment: str) -> list[tuple[str, str, int]]:
    """Runs a command; returns program, reason and number of what was not seen of it."""
    done = tracing.run(command, env=tracing.environment(**environment))
    assert done.returncode == 0, done.stderr
    assert tracing.source.counters["programs_unseen"] == sum(row.times for row in tracing.source.unseen)
    return [(row.program, row.reason, row.times) for row in tracing.source.unseen]


@pytest.mark.parametrize("starter", ["execve", "vfork", "posix_spawn", "search", "list", "script"])
def test_static_program_is_named_however_it_is_started(
    static: Path, tracing: Tracing, tmp_path: Path, starter: str
) -> None:
    script = tmp_path / "script"
    script.write_text(f"#! {static} -x\n")
    script.chmod(0o755)
    python, name = shutil.which("python3") or "", static.name
    command: dict[str, list[str | Path]] = {
        "execve": ["bash", "-c", f"{static} && true"],
        "vfork": [python, "-ISc", f"import subprocess; subprocess.run(['{static}'], check=True)"],
        "posix_spawn": [python, "-ISc", f"import os; os.posix_spawn('{static}', ['x'], os.environ); os.wait()"],
        "search": ["env", name],
        "list": ["perl", "-e", f"exec '{static}', 'x'"],
        "script": ["sh", "-c", f"{script}; true"],
    }
    path = f"{static.parent}:{os.environ['PATH']}"
    assert unseen(tracing, *command[starter], PATH=path) == [
        (str(script if starter == "script" else static), STATIC, 1)
    ]


def test_go_programs_are_named(tracing: Tracing, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[1]")
    commands = f"{need('shfmt')} -version; {need('gron')} {tmp_path}/a.json; {need('gron')} {tmp_path}/a.json"
    found = unseen(tracing, "sh", "-c", commands)
    assert [(Path(program).name, count) for program, _, count in found] == [("gron", 2), ("shfmt", 1)]
    assert all("Go program" in reason for _, reason, _ in found)


def test_program_of_another_machine_is_named(tracing: Tracing, tmp_path: Path) -> None:
    (tmp_path / "end.s").write_text(".globl _start\n_start: mov $1, %eax\nxor %ebx, %ebx\nint $0x80\n")
    program = tmp_path / "end"
    subprocess.run([need("gcc"), "-m32", "-nostdlib", "-static", "-o", program, tmp_path / "end.s"], check=True)
    if subprocess.run([program], check=False).returncode:
        pytest.skip("the kernel runs no 32-bit programs")
    ((named, reason, _),) = unseen(tracing, "sh", "-c", f"{program}; true")
    assert (named, reason) == (str(program), "is no 64-bit program of this machine, and the tracer is")


def test_program_that_gains_privileges_is_named(tracing: Tracing, tmp_path: Path) -> None:
    program = Path(shutil.copy(need("true"), tmp_path / "true"))
    try:
        os.chown(program, os.getuid() + 1, os.getgid())
    except PermissionError:
        pytest.skip("only root gives files away")
    program.chmod(0o4755)
    ((named, reason, _),) = unseen(tracing, "sh", "-c", f"{program}; true")
    assert (named, "privileges" in reason) == (str(program), True)


def test_program_without_our_environment_is_named(tracing: Tracing) -> None:
    ((named, reason, _),) = unseen(tracing, "env", "-i", need("true"))
    assert (named, "LD_PRELOAD" in reason) == (need("true"), True)


def test_program_that_uses_io_uring_is_named(tracing: Tracing, tmp_path: Path) -> None:
    job = [
        "--name=job",
        f"--filename={tmp_path}/data",
        "--size=64k",
        "--rw=write",
        "--thread",
        f"--output={tmp_path}/log",
    ]
    done = tracing.run([need("fio"), *job, "--ioengine=io_uring"])
    if done.returncode:
        pytest.skip("the kernel allows no io_uring")
    (found,) = tracing.source.unseen
    assert (found.program.split()[0], found.times) == (need("fio"), 1)
    assert "io_uring" in found.reason


def test_what_is_seen_or_not_there_is_not_named(tracing: Tracing) -> None:
    script = "true; ls /; ./nothing-like-it; env -i ./nothing-like-it; python3 -ISc ''; env true; true"
    assert unseen(tracing, "sh", "-c", script) == []


def test_run_says_what_it_did_not_see(static: Path, tmp_path: Path) -> None:
    done = iotide("run", "--quiet", "-o", "report", "--", "sh", "-c", f"{static}; {static}; true", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, f"iotide: not seen: {static} (2 times), which {STATIC}\n")
    summary = RunSummary.model_validate_json((tmp_path / "report/summary.json").read_text())
    assert summary.unseen == [UnseenProgram(program=str(static), reason=STATIC, times=2)]
    assert f"<code>{static}</code> (2 times)" in (tmp_path / "report/report.html").read_text()
