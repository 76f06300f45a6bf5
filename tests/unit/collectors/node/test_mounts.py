"""The mount of a path: stacked mounts, other namespaces, other roots, processes that have ended."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.node import file_metadata
from iotide.collectors.node.file_metadata import NodeFileMetadata
from iotide.collectors.node.file_systems import (
    ROOT_MOUNT,
    FileSystems,
    Mount,
    MountTable,
    parse_mountinfo,
    root_mount,
    type_of_folder,
)
from iotide.events import FileInfo, FileType

POINTS = st.lists(st.sampled_from("ab"), max_size=3).map(lambda parts: "/" + "/".join(parts))
LINE = "{} {} 0:1 {} {} rw,relatime shared:1 master:2 - {} {} rw,size=4k\n"


def line(number: int, parent: int, point: str, kind: str, root: str = "/") -> str:
    return LINE.format(number, parent, root, point, kind, "none")


def covers(point: str, path: str) -> bool:
    return point == "/" or path == point or path.startswith(point + "/")


def last_that_covers(points: list[str], path: str) -> int:
    """The naive reference: later mounts hide earlier ones."""
    return max(number for number, point in enumerate(points) if covers(point, path))


@given(st.lists(POINTS, max_size=8), POINTS, st.integers())
def test_mount_of_a_path_is_the_last_one_made_above_it(later: list[str], path: str, seed: int) -> None:
    points = ["/", *later]
    mounts = [Mount(0, 99, "/", "/", "fs0")]
    for number, point in enumerate(later, 1):
        mounts.append(Mount(number, last_that_covers(points[:number], point), "/", point, f"fs{number}"))
    random.Random(seed).shuffle(mounts)
    table = MountTable(mounts)
    for each in (path, path.rstrip("/") + "/file", "/other"):
        found = table.find(each)
        assert found is not None
        assert found.number == last_that_covers(points, each)


def test_names_in_mountinfo_are_unescaped_and_lines_that_are_none_left_out() -> None:
    text = (
        b"1 1 0:1 / / rw - ext4 /dev/vda rw\n"
        b"2 1 0:2 /sub\\011dir /with\\040space\\134x rw - nfs4 server:/a\\040b rw\n"
        b"3 1 0:3 / relative rw - ext4 none rw\n"
        b"x 1 0:3 / /bad rw - ext4 none rw\n"
        b"4 1 0:3 / /short rw\n"
        b"5 1 0:3 / /cut rw -\n"
        b"\xff\xfe\n\n"
    )
    assert parse_mountinfo(text) == [
        Mount(1, 1, "/", "/", "ext4", "/dev/vda"),
        Mount(2, 1, "/sub\tdir", "/with space\\x", "nfs4", "server:/a b"),
    ]


@given(st.binary(max_size=200))
def test_any_bytes_give_mounts_or_none(text: bytes) -> None:
    MountTable(parse_mountinfo(text)).find("/a/b")


def test_mounts_that_stand_on_each_other_in_a_circle_end() -> None:
    table = MountTable([Mount(1, 2, "/", "/", "a"), Mount(2, 1, "/", "/", "b"), Mount(3, 9, "/", "/", "c")])
    assert table.find("/x") is not None


def test_path_beside_a_mount_point_of_the_same_beginning_is_not_on_it() -> None:
    table = MountTable(parse_mountinfo((line(1, 1, "/", "ext4") + line(2, 1, "/scratch", "lustre")).encode()))
    kinds = [table.find(path) for path in ("/scratch", "/scratch/x", "/scratch2", "/scratch2/x")]
    assert [mount.filesystem if mount else "" for mount in kinds] == ["lustre", "lustre", "ext4", "ext4"]


class FakeProc:
    """A folder like /proc: namespaces are inodes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now_s = 0.0
        self.node: NodeFileMetadata | None = None

    def process(self, name: str, namespace: str, mounts: str, root: str = "/") -> None:
        here = self.folder / "proc" / name
        (here / "ns").mkdir(parents=True)
        inode = self.folder / f"ns-{namespace}"
        inode.touch()
        os.link(inode, here / "ns" / "mnt")
        (here / "root").symlink_to(root)
        (here / "mountinfo").write_text(mounts)

    def inode(self, namespace: str) -> int:
        return (self.folder / f"ns-{namespace}").stat().st_ino

    def end(self, name: str) -> None:
        (self.folder / "proc" / name).rename(self.folder / f"gone-{name}")

    def files(self) -> NodeFileMetadata:
        self.node = NodeFileMetadata(proc=self.folder / "proc", clock=lambda: self.now_s)
        return self.node


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeProc]:
    proc = FakeProc(tmp_path)
    proc.process("self", "own", line(1, 1, "/", "ext4") + line(2, 1, "/home", "nfs4") + line(3, 1, "/jail", "xfs"))
    yield proc
    if proc.node is not None:
        proc.node.close()


def facts(info: FileInfo) -> tuple[str, str, bool | None]:
    return info.mount_point, info.filesystem, info.shared


def test_file_has_its_mount_its_file_system_and_its_scope(fake: FakeProc) -> None:
    fake.process("7", "own", "")
    files = fake.files().of_process(7)
    assert files("/home/me/x", FileType.REGULAR) == FileInfo(
        "/home/me/x", FileType.REGULAR, "/home", "nfs4", True, source="none"
    )
    assert facts(files("/nowhere/x", FileType.REGULAR)) == ("/", "ext4", False)
    assert files("pipe:[7]", FileType.PIPE) == FileInfo("pipe:[7]", FileType.PIPE)


def test_mount_point_in_a_folder_that_is_known_is_told_from_its_neighbours(fake: FakeProc) -> None:
    fake.process("7", "own", "")
    files = fake.files().of_process(7)
    for path in ("/a", "/home", "/b", "/home/x", "/home", "/"):
        expected = ("/home", "nfs4", True) if path.startswith("/home") else ("/", "ext4", False)
        assert facts(files(path, FileType.REGULAR)) == expected
    assert files("/memfd:a", FileType.REGULAR) == FileInfo("/memfd:a", FileType.REGULAR)


def test_process_of_another_namespace_has_its_own_mounts(fake: FakeProc, tmp_path: Path) -> None:
    fake.process("7", "container", line(9, 8, "/", "overlay") + line(10, 9, "/home", "fuse.mine"))
    files = fake.files().of_process(7)
    assert facts(files("/home/x", FileType.REGULAR)) == ("/home", "fuse.mine", None)
    folder = str(tmp_path)  # a folder here, but any type in its own namespace
    assert files(folder, FileType.REGULAR) == FileInfo(folder, FileType.REGULAR, "/", "overlay", False, source="none")


def test_process_that_has_gone_is_known_by_the_namespace_that_it_named(fake: FakeProc) -> None:
    fake.process("7", "container", line(9, 8, "/", "overlay"))
    node = fake.files()
    inode = fake.inode("container")
    assert facts(node.of_process(7, inode)("/x", FileType.REGULAR))[1] == "overlay"
    fake.end("7")
    assert facts(node.of_process(7, inode)("/x", FileType.REGULAR))[1] == "overlay"
    assert facts(node.of_process(7, 0)("/x", FileType.REGULAR))[1] == "ext4"
    assert facts(node.of_process(7, fake.inode("own"))("/x", FileType.REGULAR))[1] == "ext4"
    assert facts(node.of_process(7, 12345)("/x", FileType.REGULAR)) == ("", "", None)


def test_process_that_has_gone_is_known_by_the_mount_of_its_root(
    fake: FakeProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other, unknown = (ROOT_MOUNT | number for number in (5, 6, 7))
    ids = {"/": own, f"{fake.folder}/proc/self/root/": own, f"{fake.folder}/proc/7/root/": other}
    monkeypatch.setattr(file_metadata, "root_mount", lambda folder: ids.get(folder, 0))
    fake.process("7", "container", line(9, 8, "/", "overlay"))
    node = fake.files()
    assert facts(node.of_process(8, other)("/x", FileType.REGULAR)) == ("", "", None)
    node.of_process(7, own)("/x", FileType.REGULAR)  # a false claim
    fake.end("7")
    assert facts(node.of_process(7, other)("/x", FileType.REGULAR))[1] == "overlay"
    assert facts(node.of_process(7, own)("/x", FileType.REGULAR))[1] == "ext4"
    assert facts(node.of_process(7, unknown)("/x", FileType.REGULAR)) == ("", "", None)


def test_ids_of_the_mounts_of_roots_are_forgotten_with_the_mounts(
    fake: FakeProc, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_metadata, "_MAX_VIEWS", 2)
    monkeypatch.setattr(file_metadata, "root_mount", lambda folder: ROOT_MOUNT | abs(hash(folder)) % 2**32)
    node = fake.files()
    for number in range(5):
        fake.process(f"{number + 10}", f"container-{number}", line(9, 8, "/", f"fs{number}"))
        node.of_process(number + 10)("/x", FileType.REGULAR)
    assert len(node._roots) <= 1 + 2
    assert (node.key_of(0, ROOT_MOUNT | abs(hash("/")) % 2**32) or "own") == (fake.inode("own"), "/")


def test_root_folder_has_an_id_and_others_have_none(tmp_path: Path) -> None:
    release = [int(number) for number in os.uname().release.split("-")[0].split(".")[:2]]
    if release < [6, 8]:
        pytest.skip("needs Linux 6.8")
    seen = parse_mountinfo(Path("/proc/self/mountinfo").read_bytes())
    has_root = any(mount.point == "/" for mount in seen)  # not after chroot into a folder
    assert bool(root_mount("/") & ROOT_MOUNT) == has_root
    assert root_mount("/") == root_mount("/proc/self/root/") != root_mount("/proc")
    assert root_mount(str(tmp_path / "nothing")) == 0
    (tmp_path / "folder").mkdir()
    assert root_mount(str(tmp_path / "folder")) == 0


def test_process_that_goes_while_it_is_followed_keeps_its_mounts(fake: FakeProc) -> None:
    fake.process("7", "container", line(9, 8, "/", "overlay"))
    files = fake.files().of_process(7)
    files("/x", FileType.REGULAR)
    fake.end("7")
    fake.now_s += 5
    assert facts(files("/x", FileType.REGULAR))[1] == "overlay"


def test_claim_of_another_namespace_is_not_believed(fake: FakeProc) -> None:
    fake.process("7", "liar", line(9, 8, "/", "lustre"))
    fake.process("8", "own", "")
    node = fake.files()
    node.of_process(7, fake.inode("own"))("/x", FileType.REGULAR)
    assert facts(node.of_process(8)("/x", FileType.REGULAR))[1] == "ext4"


def test_mounts_are_looked_at_again_after_a_second(fake: FakeProc) -> None:
    files = fake.files().of_process(os.getpid())
    assert facts(files("/late/x", FileType.REGULAR))[1] == "ext4"
    (fake.folder / "proc/self/mountinfo").write_text(line(1, 1, "/", "ext4") + line(5, 1, "/late", "beegfs"))
    files.refresh()
    assert facts(files("/late/y", FileType.REGULAR))[1] == "ext4"
    fake.now_s += 1.5
    files.refresh()
    assert facts(files("/late/z", FileType.REGULAR)) == ("/late", "beegfs", True)


def test_process_in_a_chroot_is_on_the_mount_of_its_root(fake: FakeProc) -> None:
    fake.process("7", "own", line(6, 3, "/proc", "proc"), root="/jail/inner")
    files = fake.files().of_process(7)
    assert facts(files("/data", FileType.REGULAR)) == ("/", "xfs", False)
    assert files("/proc/7/maps", FileType.REGULAR).type is FileType.PSEUDO


def test_namespaces_remembered_are_bounded(fake: FakeProc) -> None:
    node = fake.files()
    before = len(list(Path("/proc/self/fd").iterdir()))
    for number in range(100):
        fake.process(str(number), f"n{number}", line(1, 1, "/", f"fs{number}"))
        assert facts(node.of_process(number)("/x", FileType.REGULAR))[1] == f"fs{number}"
    assert len(list(Path("/proc/self/fd").iterdir())) - before <= 64
    first = node.of_process(0)
    assert facts(first("/x", FileType.REGULAR))[1] == "fs0"


def test_closed_lookup_opens_nothing() -> None:
    node = NodeFileMetadata()
    files = node.of_process(os.getpid())
    node.close()
    before = sorted(Path("/proc/self/fd").iterdir())
    assert facts(files("/etc/x", FileType.REGULAR))[:2] == ("", "")
    assert sorted(Path("/proc/self/fd").iterdir()) == before


def test_type_is_told_from_the_file_where_that_cannot_wait(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/null")
    node = NodeFileMetadata()
    files = node.of_process(os.getpid())
    names = {"": FileType.DIRECTORY, "file": FileType.REGULAR, "fifo": FileType.PIPE, "link": FileType.DEVICE}
    for name, expected in names.items():
        path = str(tmp_path / name) if name else str(tmp_path)
        info = files(path, FileType.REGULAR)
        if not node.systems.answers_at_once(info.filesystem):
            pytest.skip(f"{tmp_path} lies on {info.filesystem}")
        assert info.type is expected
    assert files("/proc/self/maps", FileType.REGULAR).type is FileType.PSEUDO
    assert files(str(tmp_path / "none\0"), FileType.REGULAR).type is FileType.REGULAR
    node.close()


def test_root_folder_that_is_no_mount_point_has_the_kernels_mount(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process("self", "own", line(2, 77, "/proc", "proc") + line(3, 77, "/home", "nfs4"))
    files = proc.files().of_process(7)
    real = NodeFileMetadata()
    expected = real.of_process(os.getpid())("/", FileType.DIRECTORY).filesystem
    real.close()
    if type_of_folder("/") == "":
        pytest.skip(f"a file system on which statfs is not called: {expected}")
    assert type_of_folder("/") == expected
    assert facts(files("/etc/x", FileType.REGULAR))[:2] == ("/", expected)
    assert facts(files("/home/x", FileType.REGULAR)) == ("/home", "nfs4", True)
    assert files("/proc/x", FileType.REGULAR).type is FileType.PSEUDO
    assert proc.node is not None
    proc.node.close()


def test_table_of_types_can_be_extended() -> None:
    systems = FileSystems(shared=["fuse.mine", "xfs"], local=["fuse.sshfs"])
    assert [systems.shared(kind) for kind in ("fuse.mine", "xfs", "fuse.sshfs", "ext4", "what")] == [
        True, True, False, False, None,
    ]  # fmt: skip
    assert [systems.answers_at_once(kind) for kind in ("xfs", "ext4", "fuse.sshfs", "nfs")] == [
        False, True, False, False,
    ]  # fmt: skip


def test_type_of_a_file_of_the_machine_is_looked_at_once_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proc = FakeProc(tmp_path)
    proc.process("self", "own", line(1, 1, "/", "ext4"))
    files = proc.files().of_process(7)
    stable, own = tmp_path / "usr" / "it", tmp_path / "it"
    stable.parent.mkdir()
    monkeypatch.setattr(file_metadata, "_STABLE", (f"{stable.parent}/",))
    found = []
    for time_s in (5.0, 5.5, 6.1):
        proc.now_s = time_s
        if time_s == 5.5:
            for path in (stable, own):
                path.mkdir()
        found.append([files(str(path), FileType.REGULAR).type for path in (stable, own)])
    regular, directory = FileType.REGULAR, FileType.DIRECTORY
    assert found == [[regular, regular], [regular, directory], [directory, directory]]
    assert proc.node is not None
    proc.node.close()


def test_file_of_the_machine_is_on_the_mounts_of_now(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process("self", "own", line(1, 1, "/", "ext4"))
    files = proc.files().of_process(7)
    files.refresh()
    proc.now_s = 0.9
    assert files("/usr/it", FileType.REGULAR).mount_point == "/"
    (proc.folder / "proc" / "self" / "mountinfo").write_text(line(1, 1, "/", "ext4") + line(2, 1, "/usr", "xfs"))
    proc.now_s = 1.1
    files.refresh()
    assert files("/usr/it", FileType.REGULAR).mount_point == "/usr"
    assert proc.node is not None
    proc.node.close()


def test_file_of_the_machine_is_known_to_others_by_its_name_for_a_second(fake: FakeProc) -> None:
    fake.process("7", "own", "")
    node = fake.files()
    files, others = node.of_process(7), node.of_process(7)
    files.refresh()
    others.refresh()
    for name in ("/usr/it", "/home/me/it"):
        files.keep(name.encode(), files(name, FileType.REGULAR))
    assert dict(others.named()) == {b"/usr/it": files("/usr/it", FileType.REGULAR)}
    fake.now_s += 1.1
    assert not others.named()


def test_file_is_not_known_by_its_name_once_the_mounts_are_others(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path)
    proc.process("self", "own", line(1, 1, "/", "ext4"))
    files = proc.files().of_process(7)
    files.refresh()
    proc.now_s = 0.9
    files.keep(b"/usr/it", files("/usr/it", FileType.REGULAR))
    (proc.folder / "proc" / "self" / "mountinfo").write_text(line(1, 1, "/", "ext4") + line(2, 1, "/usr", "xfs"))
    proc.now_s = 1.1
    files.refresh()
    assert not files.named()
    assert proc.node is not None
    proc.node.close()


def test_files_known_by_name_are_bounded(fake: FakeProc, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.process("7", "own", "")
    monkeypatch.setattr(file_metadata, "_MAX_KNOWN", 3)
    files = fake.files().of_process(7)
    files.refresh()
    for number in range(10):
        files.keep(b"/usr/%d" % number, files("/usr/it", FileType.REGULAR))
        assert len(files.named()) <= 3
