"""Files that another program must convert: the error names the format and the command."""

from __future__ import annotations

import bz2
import io
import lzma
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from iotide.collectors.source import Origin
from iotide.collectors.sources.registry import open_file
from iotide.events import InputError

LINE = b'7 1795229276.1 write(3</x>, "", 9) = 9 <0.1>\n'
UNSTAMPED = b'4711 openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3</etc/x> <0.000012>\n4711 close(3</etc/x>) = 0 <0.000002>\n'
NUMBERED = b'[pid  4711<sh>] [ 257] [00007f3c] openat(AT_FDCWD, "/etc/x", O_RDONLY) = 3</etc/x>\n'
SUMMARY = b"% time     seconds  usecs/call     calls    errors syscall\n------ ----------- ----------- --------- ----\n"
AGAIN = r"strace -f -ttt -T -y -o FILE COMMAND$"


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.st", LINE)
    return made.getvalue()


def _tar(mode: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        member = tarfile.TarInfo("a.st")
        member.size = len(LINE)
        archive.addfile(member, io.BytesIO(LINE))
    return made.getvalue()


CASES = {
    "xz": (lzma.compress(LINE), "a.st.xz", r"is packed by xz; .*: xz -dc \S*a.st.xz > \S*a.st$"),
    "bzip2": (bz2.compress(LINE), "a.st.bz2", r"is packed by bzip2; .*: bzip2 -dc \S*a.st.bz2 > \S*a.st$"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04", "a.zst", r"is packed by zstd; .*: zstd -dc \S*a.zst > \S*a$"),
    "lz4": (b"\x04\x22\x4d\x18\x64", "a", r"is packed by lz4; .*: lz4 -dc \S*a > \S*a.unpacked$"),
    "zip": (_zip(), "my trace.zip", r"is a zip archive; .*: unzip '\S*my trace.zip'$"),
    "tar": (_tar("w"), "a.tar", r"is a tar archive; .*: tar -xf \S*a.tar$"),
    "packed tar": (_tar("w:gz"), "a.tgz", r"is a tar archive; .*: tar -xf \S*a.tgz$"),
    "darshan-parser": (b"# darshan log version: 3.41\n# compression\n", "a.txt", r"darshan-parser.*NAME.darshan"),
    "perf": (b"PERFILE2\0\0", "perf.data", r"recording of perf .*: perf script -i \S*perf.data > kernel.txt$"),
    "no stamps": (UNSTAMPED, "a.st", rf"without time stamps; .*{AGAIN}"),
    "no stamps of one process": (b"strace: x\n" + UNSTAMPED.replace(b"4711 ", b""), "a.txt", AGAIN),
    "no stamps, with numbers and pointers": (NUMBERED, "a.txt", rf"without time stamps; .*{AGAIN}"),
    "summary": (SUMMARY, "a.txt", rf"a summary of strace \(-c\).*{AGAIN}"),
    "summary after output": (b"hello\n" + SUMMARY, "a.txt", rf"a summary of strace \(-c\).*{AGAIN}"),
}


@pytest.mark.parametrize("case", CASES)
def test_file_to_convert_is_refused_with_the_command(case: str, tmp_path: Path) -> None:
    content, name, expected = CASES[case]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=expected):
        open_file(path, Origin(job="job"))


@pytest.mark.parametrize("case", ["xz", "zstd", "zip"])
def test_named_format_does_not_have_packed_bytes_parsed(case: str, tmp_path: Path) -> None:
    path = tmp_path / CASES[case][1]
    path.write_bytes(CASES[case][0])
    with pytest.raises(InputError, match=CASES[case][2]):
        open_file(path, Origin(job="job"), format="strace")


@pytest.mark.skipif(shutil.which("xz") is None, reason="xz is not installed")
def test_command_makes_a_file_that_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a b.st.xz"
    path.write_bytes(lzma.compress(LINE))
    with pytest.raises(InputError) as refused:
        open_file(path, Origin(job="job"))
    subprocess.run(refused.value.expected.partition(": ")[2], shell=True, check=True)
    source = open_file(tmp_path / "a b.st", Origin(job="job"))
    source.poll()
    assert source.counters["events"] == 1


def test_folder_of_a_kernel_trace_or_of_files_is_rejected_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"its files \(\S*/\*\)"):
        open_file(tmp_path, Origin(job="job"))
    (tmp_path / "metadata").write_bytes(b"/* CTF 1.8 */\n")
    with pytest.raises(InputError, match=rf"babeltrace2 {tmp_path} > kernel.txt"):
        open_file(tmp_path, Origin(job="job"))
