"""Striping of files: layouts as stored by Lustre, read without blocking."""

from __future__ import annotations

import errno
import struct
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.node.file_metadata import NodeFileMetadata
from iotide.collectors.node.striping import LayoutReader, Striping, parse_layout
from iotide.collectors.source import Chunk, Origin
from iotide.collectors.sources.preload.source import PreloadSource
from iotide.events import FileInfo, FileType
from support.system.waiting import wait_for
from support.tracing.regions import MadeRegion

V1, V3, COMPOSITE = 0x0BD10BD0, 0x0BD30BD0, 0x0BD60BD0


def plain(stripes: int, size: int, pool: str | None = None, magic: int | None = None) -> bytes:
    objects = b"o" * 24 * min(stripes, 100)
    kind = magic or (V1 if pool is None else V3)
    name = b"" if pool is None else pool.encode().ljust(16, b"\0")
    return struct.pack("<II16sIHH", kind, 1, b"i" * 16, size, stripes, 0) + name + objects


def composite(*components: tuple[int, int, int, bytes]) -> bytes:
    """Components of (flags, start, end, layout)."""
    offset = 32 + 48 * len(components)
    entries, layouts = b"", b""
    for number, (flags, start, end, layout) in enumerate(components, 1):
        entries += struct.pack("<IIQQIIIQI", number, flags, start, end, offset + len(layouts), len(layout), 0, 0, 0)
        layouts += layout
    total = offset + len(layouts)
    return struct.pack("<IIIHHHBB4xQ", COMPOSITE, total, 1, 0, len(components), 0, 0, 0, 0) + entries + layouts


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (plain(4, 1 << 20), Striping(4, 1 << 20)),
        (plain(16, 4 << 20, "flash"), Striping(16, 4 << 20, "flash")),
        (plain(2, 65536, "sixteen-bytes-ab"), Striping(2, 65536, "sixteen-bytes-ab")),
        (plain(2, 65536, "named", 0x0BD50BD0), Striping(2, 65536, "named")),
        (plain(0xFFFF, 1 << 20), Striping(0, 1 << 20)),
        (b"", None),
        (plain(4, 1)[:20], None),
        (plain(4, 1, "pool")[:40], None),
        (plain(4, 1, magic=0x12345678), None),
    ],
)
def test_layout_of_one_piece(value: bytes, expected: Striping | None) -> None:
    assert parse_layout(value) == expected


def test_layout_of_several_pieces_is_that_of_the_last_that_exists() -> None:
    small, middle, large = plain(1, 1 << 20), plain(4, 1 << 20, "disk"), plain(32, 4 << 20, "disk")
    end = 2**64 - 1
    pieces = ((0x10, 0, 1 << 20, small), (0x10, 1 << 20, 1 << 30, middle), (0, 1 << 30, end, large))
    assert parse_layout(composite(*pieces)) == Striping(4, 1 << 20, "disk")
    assert parse_layout(composite(*((0, *rest) for _, *rest in pieces))) == Striping(1, 1 << 20)  # type: ignore[arg-type]
    assert parse_layout(composite((0x11, 0, end, large), (0x10, 0, end, middle))) == Striping(4, 1 << 20, "disk")
    assert parse_layout(composite()) is None
    assert parse_layout(composite(*pieces)[:100]) is None


@pytest.mark.slow
@settings(max_examples=300)
@given(st.data())
def test_damaged_layout_is_read_or_not_and_nothing_else(data: st.DataObject) -> None:
    value = bytearray(composite((0x10, 0, 9, plain(4, 4096, "p")), (0, 9, 99, plain(8, 8192))))
    for _ in range(data.draw(st.integers(1, 4))):
        value[data.draw(st.integers(4, len(value) - 1))] = data.draw(st.integers(0, 255))
    parse_layout(bytes(value)[: data.draw(st.integers(0, len(value)))])
    parse_layout(data.draw(st.binary(max_size=100)))


class Lustre:
    """A node with a striped ``/lustre``, whose metadata server responds on command."""

    def __init__(self, folder: Path) -> None:
        self.lets = threading.Event()
        self.asked: list[str] = []
        (folder / "proc/self/ns").mkdir(parents=True)
        (folder / "proc/self/ns/mnt").touch()
        (folder / "proc/self/mountinfo").write_text(
            "1 1 0:1 / / rw - ext4 none rw\n2 1 0:2 / /lustre rw - lustre mgs@tcp:/fs rw\n"
        )
        self.files = NodeFileMetadata(proc=folder / "proc", layouts=LayoutReader(self.attribute))

    def attribute(self, path: str, name: str) -> bytes:
        assert name == "lustre.lov"
        self.asked.append(path)
        assert self.lets.wait(20)
        if path.endswith("missing"):
            raise OSError(errno.ENODATA, "no layout")
        return plain(8, 1 << 20, "flash")


def defined(source: PreloadSource, made: MadeRegion, events: int) -> dict[str, FileInfo]:
    """Poll until the given number of events has arrived, and return the defined files."""
    files: dict[str, FileInfo] = {}

    def came() -> bool:
        for item in source.poll():
            if isinstance(item, Chunk):
                files.update((info.path, info) for _, info in item.definitions.files)
        return source.counters["events"] >= events

    wait_for(came, what="events")
    return files


def test_striping_is_in_the_file_s_definition(tmp_path: Path) -> None:
    lustre = Lustre(tmp_path)
    lustre.lets.set()
    source = PreloadSource(tmp_path / "gate", Origin("job"), files=lustre.files)
    with MadeRegion() as made:
        made.hand_over(tmp_path / "gate")
        for number, name in enumerate((b"/lustre/a", b"/lustre/missing", b"/home/b"), 1):
            made.define(number, name)
            made.put(1, file=number)
        files = defined(source, made, 3)
    source.close()
    lustre_a = FileInfo("/lustre/a", FileType.REGULAR, "/lustre", "lustre", True, 8, 1 << 20, "flash", "mgs@tcp:/fs")
    assert files["/lustre/a"] == lustre_a
    assert files["/lustre/missing"].stripes == 0
    assert lustre.asked == ["/lustre/a", "/lustre/missing"]


def test_metadata_server_that_does_not_answer_holds_no_events(tmp_path: Path) -> None:
    lustre = Lustre(tmp_path)
    source = PreloadSource(tmp_path / "gate", Origin("job"), files=lustre.files)
    with MadeRegion(log_bytes=1 << 16) as made:
        made.hand_over(tmp_path / "gate")
        for number in range(1, 600):  # more than the queue's bound
            made.define(number, b"/lustre/%d" % number)
        made.put(5, file=1)
        files = defined(source, made, 5)
        lustre.lets.set()
        made.define(600, b"/lustre/later")
        made.put(1, file=600)
        files |= defined(source, made, 6)
    source.close()
    assert files["/lustre/1"].stripes == 0
    assert files["/lustre/1"].filesystem == "lustre"
    assert "/lustre/later" in files
