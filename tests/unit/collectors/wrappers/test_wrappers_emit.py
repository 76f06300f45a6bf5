"""The C code generated from signature files."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from iotide.collectors.wrappers.build import COMPILE_FLAGS, BuildError, compile_library, find_compiler, generate
from iotide.collectors.wrappers.emit import emit_sites, emit_wrappers
from iotide.collectors.wrappers.model import SignatureError
from iotide.collectors.wrappers.signature import parse
from iotide.collectors.wrappers.sources import PRELOAD
from support.tracing.odd_signatures import SIGNATURES
from support.tracing.programs import need

LIBC = """library some
layer POSIX
anchor libc
fails result == -1
include <dirent.h>
include <fcntl.h>
include <stdio.h>
include <sys/uio.h>
include <unistd.h>
"""
EVERY_SHAPE = """
CREATE int openat(int directory: dirfd, const char *path: path, int flags: flags, mode_t mode: mode) -> fd
    custom
CREATE int creat|creat64(const char *path: path, mode_t mode: mode) -> fd
DESTROY int close(int fd: fd)
DUPLICATE int dup(int fd: fd) -> fd
DUPLICATE int dup2(int fd: fd, int to: int) -> fd
WRITE ssize_t pwrite64|pwrite(int fd: fd, const void *from, size_t count: size, off_t at: offset) -> bytes
WRITE ssize_t writev(int fd: fd, const struct iovec *parts, int count: int) -> bytes
    requested = failed ? 0 : (int64_t)parts[0].iov_len
SEEK off_t lseek(int fd: fd, off_t by: int, int whence: enum{SEEK_SET/SEEK_CUR/SEEK_END})
    offset = result
OTHER int renameat(int from: dirfd, const char *path: path, int to: dirfd, const char *target: path)
DELETE int unlink(const char *path: path)
OTHER char *getcwd(char *to: text, size_t size: uint) -> id
CREATE FILE *fopen(const char *path: path, const char *mode: text) -> stream
CREATE FILE *fdopen(int fd: fd, const char *mode: text) -> stream
CREATE FILE *tmpfile(void) -> stream
DESTROY int fclose(FILE *stream: stream)
READ size_t fread(void *to, size_t size: uint, size_t count: uint, FILE *stream: stream)
    requested = size * count
    bytes = size * result
    before = int was = ferror(stream)
    failed = ferror(stream) != was
    flags = nonblocking
CREATE DIR *opendir(const char *path: path) -> handle
CREATE DIR *fdopendir(int fd: fd) -> handle
READ struct dirent *readdir(DIR *directory: handle)
DESTROY int closedir(DIR *directory: handle)
SYNC void sync(void)
OTHER long sysconf(int name: int) -> id
    class = char
    error = result == -1 && caller ? 5 : 6
"""
GROUPED = """library shared
layer MPIIO
anchor S_open
fails result != 0
error result
type S_File = void *
group s_group(value)
datatype s_name(value)
"""
GROUPED_CALLS = """
CREATE int S_open(const char *path: path, S_File *fh: new_handle)
DESTROY int S_close(S_File *fh: handle)
WRITE int S_write(S_File fh: handle, const void *data, int count: count, int datatype: datatype, int value: datatype)
    requested = count
    bytes = requested
OTHER int S_copy(S_File from: handle, S_File to: handle, S_File *made: new_handle)
    extra more: handle = from
    handle = 3
OTHER int S_file(S_File from: handle)
    file = 5
    value from = 9
CREATE S_File S_make(S_File from: handle) -> handle
    file = 8
"""


def compiled(to: Path, text: str, *flags: str, head: str = "") -> str:
    """Compile the wrappers of a text as the build does, to assembly."""
    file = parse(text, "some.sig")
    (to / f"sites_{file.library}.h").write_text(emit_sites(file))
    source = to / "wrappers.c"
    source.write_text(emit_wrappers(file, "hooks.h" if head else ""))
    (to / "hooks.h").write_text(head)
    command = [need("gcc"), *COMPILE_FLAGS, f"-I{PRELOAD}", f"-I{to}", "-fPIC", "-S", "-o", "-", *flags, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.slow
def test_wrappers_of_libc_compile_in_every_shape(tmp_path: Path) -> None:
    compiled(tmp_path, LIBC + EVERY_SHAPE)


@pytest.mark.slow
def test_wrappers_with_group_wide_handles_and_named_datatypes_compile(tmp_path: Path) -> None:
    hooks = """
static inline uint64_t s_group(void *file) { return (uint64_t)file; }
static inline const char *s_name(int type) { return type ? "A" : "B"; }
"""
    compiled(tmp_path, GROUPED + GROUPED_CALLS, head=hooks)


@pytest.mark.slow
def test_wrapper_of_pwrite_touches_no_words_and_calls_little(tmp_path: Path) -> None:
    text = compiled(tmp_path, LIBC + EVERY_SHAPE)
    body = text[text.index("\npwrite64:") : text.index(".size\tpwrite64")]

    likely = body.split(".text.unlikely")[0]
    called = [line.split()[-1].split("@")[0] for line in likely.splitlines() if "\tcall\t" in line]
    assert set(called) <= {
        *("iotide_read_clock", "iotide_descriptor_target", "iotide_write_record", "__errno_location", "*%rax", "*%rcx"),
        *("*%rdx", "iotide_find_real", "iotide_start_tracing", "iotide_filter_site", "iotide_define_call"),
        *("iotide_unwind", "iotide_pace_call", "iotide_finish_paced_call"),
    }
    assert called.count("iotide_write_record") == 1


def test_clock_is_read_before_anything_is_looked_up_for_the_record() -> None:
    file = parse(LIBC + EVERY_SHAPE, "some.sig")
    wrapper = re.search(r"int creat\([^;]*?\{.*?\n}", emit_wrappers(file), re.DOTALL)
    assert wrapper is not None
    called, stopped, looked_up = (
        wrapper[0].index(text) for text in ("int result", "iotide_end_span(", "iotide_register_open(")
    )
    assert called < stopped < looked_up


def test_same_file_gives_the_same_c_in_any_folder(tmp_path: Path) -> None:
    texts = []
    for name in ["a", "b"]:
        copy = tmp_path / name / "deeper"
        shutil.copytree(SIGNATURES.parent, copy)
        made = generate(copy / "nasty.sig", tmp_path / name / "c")
        texts.append([path.read_bytes() for path in sorted((tmp_path / name / "c").iterdir())])
        assert [path.name for path in made.sources] == ["wrappers_nasty.c", "nasty.c"]

    assert texts[0] == texts[1]
    assert str(tmp_path).encode() not in b"".join(texts[0])


def test_file_that_would_not_change_is_not_written_again(tmp_path: Path) -> None:
    generate(SIGNATURES, tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}

    generate(SIGNATURES, tmp_path)

    assert {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == before


def test_libraries_of_the_layer_other_keep_their_handles_apart() -> None:
    first, second = (
        emit_sites(parse(f"library {name}\nlayer OTHER\nanchor a\nCREATE int a(void) -> handle")) for name in ("x", "y")
    )

    spaces = [re.search(r"iotide_copy_space\(&\w+, (\d+)u, caller\)", text) for text in (first, second)]
    numbers = [int(found.group(1)) for found in spaces if found]
    assert len(set(numbers)) == 2
    assert min(numbers) >= 64


def test_compilers_complaint_names_the_line_of_the_signature_file(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.sig"
    wrong.write_text(
        "library wrong\nlayer OTHER\nanchor f\n\nOTHER int f(int a)\nOTHER int g(int a)\n    failed = b > 1\n"
    )

    with pytest.raises(BuildError, match=r"wrong\.sig:6: error: .*b.* undeclared"):
        compile_library(wrong, tmp_path)
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".so", ".part")]


def test_calls_of_libc_make_no_library_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "some.sig").write_text(LIBC + EVERY_SHAPE)

    with pytest.raises(BuildError, match="part of the core"):
        compile_library(tmp_path / "some.sig", tmp_path)


def test_missing_compiler_is_told_with_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    with pytest.raises(BuildError, match=r"no C compiler found .* install one"):
        find_compiler()
    monkeypatch.setenv("CC", "absent-cc -m64")
    with pytest.raises(BuildError, match="absent-cc"):
        find_compiler()


def script(path: Path, *lines: str) -> Path:
    """Write a compiler that is called with ``-o FILE``."""
    path.write_text("\n".join(["#!/bin/sh", *lines]))
    path.chmod(0o755)
    return path


def test_interrupted_build_leaves_no_file(tmp_path: Path) -> None:
    compiler = script(tmp_path / "cc", ': >"$2"', "kill -INT $PPID", "exec sleep 60")
    asked = f"import sys; sys.path.insert(0, {str(PRELOAD.parent)!r}); from wrappers import build;"
    asked += f"from pathlib import Path; build.compile_library(Path({str(SIGNATURES)!r}), Path('made'))"

    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", asked], cwd=tmp_path, env={"CC": str(compiler), "PATH": os.defpath},
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert "KeyboardInterrupt" in done.stderr
    assert [path.name for path in (tmp_path / "made").iterdir()] == ["wrappers"]


def test_files_of_killed_builds_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CC", str(script(tmp_path / "cc", 'echo made >"$2"')))
    to = tmp_path / "made"
    to.mkdir()
    abandoned, others, library = to / "libiotide_nasty.1.part", to / "libiotide_nasty.2.part", to / "libiotide_nasty.so"
    of_the_user = to / "libiotide_nasty.download.part"
    for path in (abandoned, others, of_the_user):  # the second one may be in use on another node
        path.touch()
    for path in (abandoned, of_the_user):
        os.utime(path, (0, 0))

    assert compile_library(SIGNATURES, to) == library
    assert library.read_text() == "made\n"
    assert not abandoned.exists()
    assert others.exists()
    assert of_the_user.exists()


def test_package_works_by_itself_with_the_standard_library_alone(tmp_path: Path) -> None:
    asked = f"import sys; sys.path.insert(0, {str(PRELOAD.parent)!r}); from wrappers import build;"
    made = f"build.generate(Path({str(SIGNATURES)!r}), Path({str(tmp_path)!r}))"
    asked += f"from pathlib import Path; print(len({made}.sources))"

    done = subprocess.run([sys.executable, "-I", "-S", "-c", asked], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")


def test_building_again_in_place_says_which_libraries_there_are() -> None:
    command = [sys.executable, "-m", "iotide.collectors.wrappers", "absent"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "expected one of preload, " in done.stderr


def test_wrong_signature_file_stops_the_build_before_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "bad.sig").write_text("library bad\nlayer OTHER\nanchor f\nOTHER int f(int)\n")

    with pytest.raises(SignatureError, match=r"bad\.sig:4: "):
        compile_library(tmp_path / "bad.sig", tmp_path)


def test_calls_that_are_off_unless_asked_for_have_a_gate_each() -> None:
    file = parse(
        "library some\nlayer OTHER\nanchor some_open\n"
        "OTHER int some_size(int handle: handle)\n    class = memory\n"
        "READ int some_read(int handle: handle, void *to, int size: size) -> bytes\n"
        "OTHER void some_reset(void)\n    class = char\n",
        "some.sig",
    )
    text = emit_wrappers(file)
    assert "static struct iotide_gate gates_[4];" in text
    assert re.findall(r"EXPORT GATE \w+ (\w+)\(", text) == ["some_size", "some_reset"]
    assert re.findall(r"iotide_is_bypassed\(&gates_\[(\d)\], caller\)", text) == ["1", "3"]
    assert re.findall(r"\.gate = (\d),", text) == ["1", "2", "3"]
