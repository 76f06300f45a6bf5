"""Classification of paths by their folder equals classification path by path."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from iotide.collectors.sources.preload.records.names import normalised, spelled
from iotide.events import FileType, file_type_of

PARTS = st.sampled_from(
    ["", ".", "..", "a", ".b", "dev", "shm", "proc", "sys", "memfd:x", "pipe:[7]", "anon_inode:", "\xe9", " "]
)


@given(st.lists(PARTS, max_size=6).map("/".join).map(str.encode) | st.binary(max_size=300))
@example(b"/dev/shm/a")
@example(b"/dev/shm")
@example(b"/a/.hidden")
@example(b"//a")
@example(b"/a/..")
@example(b"/a/.")
@example(b"/a/")
@example(b"/proc/self")
def test_a_path_is_spelled_and_typed_as_a_whole(text: bytes) -> None:
    path = text.decode(errors="backslashreplace")
    folder = path.endswith(("/", "/.", "/.."))
    expected = normalised(path), FileType.DIRECTORY if folder else file_type_of(normalised(path))
    assert spelled(text) == expected
