"""The journal's files: synced data is restored, torn data is cut, changed data is reported."""

from __future__ import annotations

import contextlib
import os
import resource
import struct
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from iotide.daemon.jobs.lifecycle.recorded_steps import Kind
from iotide.daemon.journal.contract import Gap, JournalError, Moment, Position, Record
from iotide.daemon.journal.segment_journal import SegmentJournal
from iotide.daemon.journal.segment_writer import MARK_NAME
from iotide.daemon.journal.segments import HEADER_BYTES
from support.servers.restarted_job import copy_folder
from support.system.waiting import wait_for

NEVER = Position(0, 0)
MOMENT = Moment(1.5, 2.5, 3.5)
MARK = b"\xf1\x9eJr"


def opened(folder: Path, *, segment_bytes: int = 1 << 20, quota_bytes: int = 1 << 30) -> SegmentJournal:
    journal = SegmentJournal(folder, segment_bytes, quota_bytes)
    journal.begin(NEVER, lambda: None)
    return journal


def filled(folder: Path, count: int = 5, **options: int) -> list[Path]:
    """Return the files of a journal with records 1 to ``count``."""
    journal = opened(folder, **options)
    for number in range(1, count + 1):
        journal.append([b"frame", bytes([number]) * 50], b"peer", MOMENT)
        journal.sync(wait=True)
    journal.close()
    return sorted(folder.glob("*.journal"))


def replayed(folder: Path, after: Position = NEVER) -> list[Record | Gap]:
    return list(SegmentJournal(folder, 1 << 20, 1 << 30).replay(after))


def numbers(found: list[Record | Gap]) -> list[int]:
    return [each.position.record for each in found if isinstance(each, Record)]


@pytest.mark.parametrize("damage", ["cut", "changed", "all_cut", "removed", "header"])
def test_records_that_were_synced_and_are_missing_at_the_end_are_told(tmp_path: Path, damage: str) -> None:
    (file,) = filled(tmp_path)
    size = file.stat().st_size
    if damage == "cut":
        os.truncate(file, size - 10)
    elif damage == "changed":
        file.write_bytes(file.read_bytes()[:-10] + bytes(10))
    elif damage == "all_cut":
        os.truncate(file, HEADER_BYTES)
    elif damage == "header":
        file.write_bytes(bytes(HEADER_BYTES) + file.read_bytes()[HEADER_BYTES:])
    else:
        file.unlink()
    lost = 1 if damage in ("cut", "changed") else 5
    found = replayed(tmp_path)
    assert numbers(found) == list(range(1, 6 - lost))
    gap = found[-1]
    assert isinstance(gap, Gap)
    assert (gap.first, gap.missing) == (6 - lost, lost)
    journal = SegmentJournal(tmp_path, 1 << 20, 1 << 30)
    journal.begin(NEVER, lambda: None)
    assert journal.append([b"more"], b"peer", MOMENT).record == 6
    journal.close()


def test_journal_that_was_emptied_in_order_misses_nothing(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.append([b"frame"], b"peer", MOMENT)
    journal.sync(wait=True)
    journal.close()
    journal.remove()
    assert not list(tmp_path.iterdir())
    assert replayed(tmp_path) == []


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    first = journal.append([memoryview(b"head"), bytearray(b"column"), b""], b"\0\1", MOMENT)
    journal.append([], b"", Moment(-1.0, 0.0, 1e300), Kind.TICK)
    assert journal.synced < first
    assert journal.sync(wait=True) == journal.last == Position(1, 2)
    journal.close()
    found = replayed(tmp_path)
    assert found == [
        Record(Position(1, 1), Kind.MESSAGE, b"\0\1", MOMENT, [b"head", b"column", b""]),
        Record(Position(1, 2), Kind.TICK, b"", Moment(-1.0, 0.0, 1e300), []),
    ]
    assert replayed(tmp_path, first) == found[1:]
    assert replayed(tmp_path, Position(1, 2)) == []


def test_each_writer_has_a_later_epoch_and_numbers_go_on(tmp_path: Path) -> None:
    filled(tmp_path, 2)
    second = SegmentJournal(tmp_path, 1 << 20, 1 << 30)
    assert second.begin(NEVER, lambda: None) == Position(2, 2)
    assert second.append([b"x"], b"", MOMENT) == Position(2, 3)
    second.close()
    assert numbers(replayed(tmp_path)) == [1, 2, 3]
    third = SegmentJournal(tmp_path, 1 << 20, 1 << 30)
    assert third.begin(Position(7, 90), lambda: None) == Position(8, 90)
    third.close()


def test_earlier_writer_may_begin_no_file_beside_a_later_one(tmp_path: Path) -> None:
    first = opened(tmp_path, segment_bytes=200)
    second = SegmentJournal(tmp_path, 200, 1 << 30)
    second.begin(NEVER, lambda: None)
    for _ in range(10):
        first.append([b"x" * 100], b"", MOMENT)
        first.sync(wait=True)
    assert "later aggregator" in first.problem
    first.close()
    second.close()


def test_files_are_of_bounded_size_and_private_and_go_once_nothing_in_them_is_wanted(tmp_path: Path) -> None:
    files = filled(tmp_path, 40, segment_bytes=1000)
    assert len(files) > 3
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert numbers(replayed(tmp_path)) == list(range(1, 41))
    journal = opened(tmp_path)
    journal.trim(Position(1, 20))
    journal.append([b"x"], b"", MOMENT)
    journal.sync(wait=True)
    journal.close()
    kept = numbers(replayed(tmp_path))
    assert kept[-1] == 41
    assert 10 < kept[0] <= 21
    assert kept == list(range(kept[0], 42))


@pytest.mark.parametrize("cut", [1, 30, 100])
def test_torn_end_is_cut_and_said(tmp_path: Path, cut: int, caplog: pytest.LogCaptureFixture) -> None:
    (file,) = filled(tmp_path)
    os.truncate(file, file.stat().st_size - cut)
    (tmp_path / MARK_NAME).unlink()  # as if the last had not been synced
    assert numbers(replayed(tmp_path)) == [1, 2, 3, 4]
    assert f"{file}: the last" in caplog.text
    journal = opened(tmp_path)
    assert journal.append([b"again"], b"", MOMENT) == Position(2, 5)
    journal.close()
    found = replayed(tmp_path)
    assert numbers(found) == [1, 2, 3, 4, 5]
    assert not [each for each in found if isinstance(each, Gap)]


def test_end_of_zeros_is_cut(tmp_path: Path) -> None:
    (file,) = filled(tmp_path)
    with file.open("ab") as grown:
        grown.write(bytes(4096))
    assert numbers(replayed(tmp_path)) == [1, 2, 3, 4, 5]


def test_changed_byte_costs_its_record_and_is_told_with_its_place(tmp_path: Path) -> None:
    (file,) = filled(tmp_path)
    content = bytearray(file.read_bytes())
    record = (len(content) - HEADER_BYTES) // 5
    for at in range(HEADER_BYTES + record, HEADER_BYTES + 3 * record):
        changed = content.copy()
        changed[at] ^= 0x20
        file.write_bytes(changed)
        hit = 2 + (at - HEADER_BYTES - record) // record
        found = replayed(tmp_path)
        assert numbers(found) == [number for number in range(1, 6) if number != hit], at
        (gap,) = [each for each in found if isinstance(each, Gap)]
        assert gap == Gap(hit, 1, f"{file}, byte {HEADER_BYTES + (hit - 1) * record}")


def test_missing_file_is_a_gap(tmp_path: Path) -> None:
    files = filled(tmp_path, 40, segment_bytes=1000)
    files[1].unlink()
    found = replayed(tmp_path)
    (gap,) = [each for each in found if isinstance(each, Gap)]
    assert sorted([*numbers(found), *range(gap.first, gap.first + gap.missing)]) == list(range(1, 41))


@pytest.mark.parametrize("damage", ["foreign", "flipped", "version"])
def test_file_that_is_none_of_ours_is_set_aside(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    (file,) = filled(tmp_path)
    content = bytearray(file.read_bytes())
    content[{"foreign": 0, "flipped": 22, "version": 16}[damage]] ^= 1
    file.write_bytes(content)
    assert numbers(replayed(tmp_path)) == []
    assert file.with_suffix(".unreadable").exists()
    assert "renamed to" in caplog.text


def test_file_that_was_only_begun_is_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    filled(tmp_path)
    (tmp_path / "00000002-0000000000000006.journal").write_bytes(b"iotide")
    assert numbers(replayed(tmp_path)) == [1, 2, 3, 4, 5]
    assert not caplog.text


def test_quota_ends_the_journal_which_goes_on_once_there_is_room(tmp_path: Path) -> None:
    journal = opened(tmp_path, segment_bytes=1000, quota_bytes=3000)
    for _ in range(60):
        journal.append([b"x" * 100], b"", MOMENT)
        journal.sync(wait=True)
    assert journal.problem == "journal.quota_bytes = 3000 is reached"
    before, lost_until = journal.synced, journal.last
    assert before.record < lost_until.record == 60
    journal.restart(lambda: None)
    journal.trim(lost_until)
    journal.append([b"y"], b"", MOMENT)
    assert journal.sync(wait=True).record == 62  # a number is left out, so that replay reports a gap
    copy_folder(tmp_path, killed := tmp_path.with_name("killed"))  # a kill before a snapshot contains the missing data
    assert numbers(replayed(killed))[-1] == before.record
    assert [each.first for each in replayed(killed) if isinstance(each, Gap)] == [1]  # the removed records
    journal.accept()
    journal.append([b"z"], b"", MOMENT)
    assert journal.sync(wait=True).record == 63
    journal.close()
    assert numbers(replayed(tmp_path, Position(1, 61))) == [62, 63]
    assert [each for each in replayed(tmp_path, Position(1, 60)) if isinstance(each, Gap)]
    assert journal.total_bytes < 1000


def test_disk_that_takes_nothing_ends_the_journal_with_its_reason(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    journal = opened(tmp_path)
    journal.append([b"before"], b"", MOMENT)
    journal.sync(wait=True)
    with small_files(4096, (soft, hard)):
        for _ in range(10):
            journal.append([b"x" * 1000], b"", MOMENT)
            journal.sync(wait=True)
    assert journal.problem == "File too large"
    journal.close()
    assert numbers(replayed(tmp_path))[:2] == [1, 2]


@pytest.mark.parametrize("field", ["kind", "bytes of the sender", "frames", "length of a frame"])
def test_record_that_says_what_none_does_is_damaged_though_its_check_sum_is_right(tmp_path: Path, field: str) -> None:
    (file,) = filled(tmp_path)
    content = bytearray(file.read_bytes())
    second = content.index(MARK, content.index(MARK) + 1)
    third = content.index(MARK, second + 1)
    at = {"kind": 20, "bytes of the sender": 45, "frames": 47, "length of a frame": 49}[field]
    content[second + at] ^= 0x7F
    struct.pack_into("<I", content, second + 4, zlib.crc32(content[second + 8 : third]))
    file.write_bytes(content)
    found = replayed(tmp_path)
    assert numbers(found) == [1, 3, 4, 5]
    assert [each.missing for each in found if isinstance(each, Gap)] == [1]


@contextlib.contextmanager
def small_files(limit: int, before: tuple[int, int]) -> Iterator[None]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_nothing_is_appended_before_an_epoch_has_begun(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="epoch"):
        SegmentJournal(tmp_path, 1 << 20, 1 << 30).append([], b"", MOMENT)


def test_unsynced_data_is_synced_with_the_next_waiter(tmp_path: Path) -> None:
    journal = opened(tmp_path)
    journal.append([b"x"], b"", MOMENT)
    journal.flush()
    wait_for(lambda: not journal.pending_bytes, what="the write")
    assert journal.sync(wait=True) == Position(1, 1)
    journal.close()


class Journalling(RuleBasedStateMachine):
    """Random order of appends, syncs, removals, kills, torn and changed files; a model computes the expected
    content.
    """

    @initialize(segment_bytes=st.integers(100, 2000))
    def begin(self, segment_bytes: int) -> None:
        self.stack = contextlib.ExitStack()
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.segment_bytes = segment_bytes
        self.model: dict[int, list[bytes]] = {}
        self.sure = 0
        self.trimmed = 0
        self.hurt: set[int] = set()
        self.sizes: dict[Path, int] = {}
        self.start()

    def start(self) -> None:
        self.journal = SegmentJournal(self.folder, self.segment_bytes, 1 << 30)
        self.check(list(self.journal.replay(Position(0, self.trimmed))))
        before = self.journal.begin(Position(0, self.trimmed), lambda: None)
        self.model = {number: frames for number, frames in self.model.items() if number <= before.record}
        self.sure = before.record
        self.mark = self.read_mark()

    def read_mark(self) -> bytes:
        path = self.folder / MARK_NAME
        return path.read_bytes() if path.exists() else b""

    def check(self, found: list[Record | Gap]) -> None:
        for each in found:
            if isinstance(each, Record):
                assert self.model[each.position.record] == each.frames
            else:
                assert self.hurt & set(range(each.first, each.first + each.missing))
        assert numbers(found) == sorted(numbers(found))
        assert set(range(self.trimmed + 1, self.sure + 1)) - self.hurt <= set(numbers(found))
        gaps = [range(each.first, each.first + each.missing) for each in found if isinstance(each, Gap)]
        told = {number for gap in gaps for number in gap}
        assert set(range(self.trimmed + 1, self.sure + 1)) <= set(numbers(found)) | told

    @rule(frames=st.lists(st.binary(max_size=300), max_size=3), count=st.integers(1, 5))
    def append(self, frames: list[bytes], count: int) -> None:
        for _ in range(count):
            position = self.journal.append(frames, b"p", MOMENT)
            self.model[position.record] = frames

    @rule()
    def flush(self) -> None:
        self.journal.flush()

    @rule()
    def sync(self) -> None:
        self.sure = self.journal.sync(wait=True).record
        self.mark = self.read_mark()
        last = max(self.folder.glob("*.journal"))
        self.sizes = {last: last.stat().st_size}

    @precondition(lambda self: self.sure > self.trimmed)
    @rule(share=st.floats(0, 1))
    def trim(self, share: float) -> None:
        self.trimmed += int((self.sure - self.trimmed) * share)
        self.journal.trim(Position(1, self.trimmed))

    @rule(torn=st.floats(0, 1))
    def be_killed(self, torn: float) -> None:
        """Synced data stays; of unsynced data, some bytes."""
        self.journal.close()
        (self.folder / MARK_NAME).write_bytes(self.mark)
        files = sorted(self.folder.glob("*.journal"))
        kept = max(self.sizes.get(files[-1], 0), HEADER_BYTES)
        os.truncate(files[-1], kept + int((files[-1].stat().st_size - kept) * torn))
        self.start()

    @rule(where=st.floats(0, 0.999), bit=st.integers(0, 7))
    def be_changed(self, where: float, bit: int) -> None:
        """Change one byte of the records in one file, which loses at most one record."""
        self.journal.close()
        self.sizes = {}
        intact = set(numbers(replayed(self.folder)))
        for file in sorted(self.folder.glob("*.journal"))[:1]:
            content = bytearray(file.read_bytes())
            if len(content) > HEADER_BYTES:
                content[HEADER_BYTES + int((len(content) - HEADER_BYTES) * where)] ^= 1 << bit
                file.write_bytes(content)
        left = set(numbers(replayed(self.folder)))
        assert left <= intact | self.hurt  # a bit that is changed twice is unchanged
        assert len(intact - left) <= 1
        self.hurt = (self.hurt | intact) - left
        self.sure = max(left | {self.trimmed})
        self.start()

    @invariant()
    def there_is_no_problem(self) -> None:
        if hasattr(self, "journal"):
            assert self.journal.problem == ""

    def teardown(self) -> None:
        if hasattr(self, "journal"):
            self.journal.close()
            self.stack.close()


TestJournalling = Journalling.TestCase
TestJournalling.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
