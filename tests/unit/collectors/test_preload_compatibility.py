"""Programs that the tracer can be loaded into are determined before they start."""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

import pytest
from iotide.collectors.tracer.preload_compatibility import obstacle_to_tracing

INTERPRETER, NOTE = 3, 4
GLIBC = (INTERPRETER, b"/lib64/ld-linux-x86-64.so.2\0")


def program(
    folder: Path, *segments: tuple[int, bytes], bits: int = 64, mode: int = 0o755, name: str = "program"
) -> str:
    """Make a file with the ELF header and the segments of a program."""
    table = 64 + 56 * len(segments)
    headers, contents = b"", b""
    for kind, content in segments:
        headers += struct.pack("<IIQQQQQQ", kind, 4, table + len(contents), 0, 0, len(content), len(content), 1)
        contents += content
    identity = b"\x7fELF" + bytes([bits // 32, 1, 1]) + bytes(9)
    elf = identity + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(segments), 0, 0, 0)
    path = folder / name
    path.write_bytes(elf + headers + contents)
    path.chmod(mode)
    return str(path)


def reason(command: str) -> str | None:
    obstacle = obstacle_to_tracing(command, os.environ)
    return obstacle and obstacle.reason


def test_ordinary_programs_are_traced(tmp_path: Path) -> None:
    assert reason("sh") is None
    assert reason(sys.executable) is None
    assert reason(program(tmp_path, GLIBC)) is None


def test_static_program_is_told(tmp_path: Path) -> None:
    assert "statically linked" in (reason(program(tmp_path)) or "")


@pytest.mark.parametrize("segments", [[], [GLIBC]])
def test_go_program_is_told_also_when_it_is_dynamic(tmp_path: Path, segments: list[tuple[int, bytes]]) -> None:
    note = (NOTE, struct.pack("<III", 4, 4, 4) + b"Go\0\0" + b"abcd")
    assert "Go program" in (reason(program(tmp_path, *segments, note)) or "")


@pytest.mark.parametrize("kind", ["32-bit", "musl"])
def test_program_that_our_library_would_disturb_runs_without_it(tmp_path: Path, kind: str) -> None:
    made = (
        program(tmp_path, GLIBC, bits=32)
        if kind == "32-bit"
        else program(tmp_path, (INTERPRETER, b"/lib/ld-musl-x86_64.so.1\0"))
    )
    obstacle = obstacle_to_tracing(made, os.environ)
    assert obstacle is not None
    assert obstacle.breaks


@pytest.mark.parametrize("bit", [0o4000, 0o2000])
def test_program_that_becomes_another_user_is_told(tmp_path: Path, bit: int) -> None:
    made = program(tmp_path, GLIBC)
    try:
        os.chown(made, os.getuid() + 1, os.getgid() + 1)
    except PermissionError:
        pytest.skip("only root can change the owner of files")
    Path(made).chmod(0o755 | bit)
    if os.statvfs(made).f_flag & os.ST_NOSUID:
        pytest.skip("the folder's file system ignores set-user-ID")
    assert "privileges" in (reason(made) or "")


@pytest.mark.parametrize("line", ["#!{}", "#! {} -u", "#!/usr/bin/env {}", "#!/usr/bin/env -S A=b {} -x"])
def test_script_is_as_its_interpreter(tmp_path: Path, line: str) -> None:
    interpreter = program(tmp_path, name="interpreter")
    script = tmp_path / "script"
    script.write_text(line.format(interpreter) + "\necho\n")
    script.chmod(0o755)
    obstacle = obstacle_to_tracing(str(script), os.environ)
    assert obstacle is not None
    assert obstacle.program == interpreter


def test_interpreter_is_looked_up_on_the_programs_path(tmp_path: Path) -> None:
    program(tmp_path, name="interpreter")
    script = tmp_path / "script"
    script.write_text("#!/usr/bin/env interpreter\n")
    script.chmod(0o755)
    assert obstacle_to_tracing("script", {"PATH": str(tmp_path)}) is not None
    assert obstacle_to_tracing(str(script), {"PATH": "/nowhere"}) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"#!",
        b"#!\n",
        b"#!/usr/bin/env 'open",
        b"#!/usr/bin/env",
        b"text",
        b"\x7fELF",
        b"\x7fELF\x02\x01" + b"\xff" * 58,
    ],
)
def test_file_that_is_no_program_is_left_to_the_kernel(tmp_path: Path, content: bytes) -> None:
    odd = tmp_path / "odd"
    odd.write_bytes(content)
    odd.chmod(0o755)
    assert reason(str(odd)) in (None, "is statically linked")


def test_script_that_interprets_itself_ends(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(f"#!{script}\n")
    script.chmod(0o755)
    assert reason(str(script)) is None


def test_absent_program_is_left_to_the_kernel() -> None:
    assert reason("/nowhere/at/all") is None
