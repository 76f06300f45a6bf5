"""An aggregator's archives of its jobs."""

from __future__ import annotations

import errno
import math
import os
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from iotide.archive.codec.stream import StreamCompressor
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.daemon.archiving.archive_io_thread import ArchiveFile, WaitingBytes
from iotide.daemon.archiving.archives import Archives, ArchiveSettings
from iotide.events import ConfigError, Definitions, EventBatch, ProtocolError, StreamInfo, make_batch
from support.servers.sinks import RememberingSink


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def made(folder: Path, clock: Clock, sink: RememberingSink | None = None, **settings: float) -> Archives:
    chosen = ArchiveSettings.model_validate({"folder": folder, **settings})
    return Archives(sink or RememberingSink(), chosen, lambda info: info.job, None, clock, clock)


def info(job: str = "job") -> StreamInfo:
    return StreamInfo(job=job, source="preload", rank=0)


def writes(count: int, seed: int = 0) -> tuple[EventBatch, Definitions]:
    offsets = np.random.default_rng(seed).integers(0, 2**40, count)
    batch = make_batch(count, {"start": 1000 * np.arange(count), "call": 1, "offset": offsets})
    return batch, Definitions([(1, "pwrite64")])


def saved(archives: Archives) -> None:
    """Tick until nothing is left to save."""
    while archives.tick():
        pass
    archives.wait_for_io()


def calls_of(path: Path) -> int:
    with path.open("rb") as file:
        reader = ArchiveReader(file, path.name)
        assert not reader.problems
        return sum(len(each.batch) for number in reader.streams for each in reader.calls(number))


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.iotide"))


def test_job_is_archived_and_handed_on(tmp_path: Path) -> None:
    sink, folder = RememberingSink(), tmp_path / "archives"
    archives = made(folder, Clock(), sink)
    archives.opened("s", info())
    archives.batch("s", *writes(100))
    archives.closed("s", {})
    archives.end_job("job")
    archives.wait_for_io()
    (path,) = files(folder)
    assert path.name == "job-20231114T221320.iotide"
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert calls_of(path) == 100
    assert len(sink.starts["s"]) == 100


def test_batch_rejected_by_the_next_sink_is_not_archived(tmp_path: Path) -> None:
    class Refusing(RememberingSink):
        def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
            raise ProtocolError("no")

    archives = made(tmp_path, Clock(), Refusing())
    archives.opened("s", info())
    with pytest.raises(ProtocolError):
        archives.batch("s", *writes(10))
    archives.close()
    assert calls_of(files(tmp_path)[0]) == 0


def test_checkpoint_saves_what_came_in(tmp_path: Path) -> None:
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=60)
    archives.opened("s", info())
    archives.batch("s", *writes(100))
    saved(archives)
    assert calls_of(files(tmp_path)[0]) == 0
    clock.now += 61
    saved(archives)
    assert calls_of(files(tmp_path)[0]) == 100  # as after a crash: it was not closed
    archives.close()


def test_checkpoint_saves_the_losses_so_far(tmp_path: Path) -> None:
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=60)
    archives.opened("s", info())
    archives.batch("s", *writes(100))
    for lost in (7, 9):  # the second time without further calls
        archives.stream_losses("s", {"events_dropped:ring_full": lost})
        clock.now += 61
        saved(archives)
        with files(tmp_path)[0].open("rb") as file:  # as after a crash: it was not closed
            (stream,) = ArchiveReader(file, "test").streams.values()
        assert (stream.losses, stream.closed) == ({"events_dropped:ring_full": lost}, False)
    archives.close()


def test_checkpoint_of_many_streams_is_spread_over_ticks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.daemon.archiving.archives._SLICE_S", 0.0)  # one stream uses the whole time slice
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=60)
    for number in range(30):
        archives.opened(str(number), info())
        archives.batch(str(number), *writes(10))
    clock.now += 61
    left, calls = [], []
    for _ in range(30):
        left.append(archives.tick())
        archives.wait_for_io()
        calls.append(calls_of(files(tmp_path)[0]))
    archives.close()
    assert left == 29 * [True] + [False]
    assert calls == 29 * [0] + [300]  # merged, when the last is closed


def test_jobs_have_files_of_their_own_and_one_of_the_same_name_begins_another(tmp_path: Path) -> None:
    archives = made(tmp_path, Clock())
    for turn, job in enumerate(("a", "b", "a")):
        archives.opened(f"stream {turn}", info(job))
        archives.batch(f"stream {turn}", *writes(5))
        archives.closed(f"stream {turn}", {})
        archives.end_job(job)
    archives.close()
    assert [path.name.split("-")[0] for path in files(tmp_path)] == ["a", "a", "b"]
    assert [calls_of(path) for path in files(tmp_path)] == [5, 5, 5]


def test_stream_that_outlives_its_job_is_archived_on(tmp_path: Path) -> None:
    archives = made(tmp_path, Clock())
    archives.opened("s", info())
    archives.batch("s", *writes(5))
    archives.end_job("job")
    saved(archives)
    assert calls_of(files(tmp_path)[0]) == 5
    archives.batch("s", *writes(4))
    archives.closed("s", {})
    archives.end_job("job")
    archives.close()
    assert calls_of(files(tmp_path)[0]) == 9


def test_job_names_cannot_leave_the_folder(tmp_path: Path) -> None:
    archives = made(tmp_path / "in", Clock())
    for job in ("../../etc/passwd", "..", "a/b", "x" * 500):
        archives.opened(job, info(job))
    archives.close()
    assert len(files(tmp_path / "in")) == 4
    assert list(tmp_path.iterdir()) == [tmp_path / "in"]


def test_archive_that_is_full_takes_no_more_and_counts_it(tmp_path: Path) -> None:
    clock = Clock()
    archives = made(tmp_path, clock, job_bytes=1000, checkpoint_s=1)
    archives.opened("s", info())
    archives.batch("s", *writes(1000))
    clock.now += 2
    saved(archives)
    archives.opened("t", info())
    archives.batch("t", *writes(7))
    archives.close()
    assert archives.counters["events_not_archived:job_bytes"] == 7
    assert calls_of(files(tmp_path)[0]) == 1000


class Full:
    """Every disk is full inside the block: writes accept a part of their data, and then nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int = 0) -> None:
        self.room = room
        self.is_full = False
        monkeypatch.setattr(os, "write", partial(self._write, os.write))

    def __enter__(self) -> Full:
        self.is_full = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_full = False

    def _write(self, write: Callable[[int, memoryview], int], descriptor: int, data: memoryview) -> int:
        if not self.is_full:
            return write(descriptor, data)
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = write(descriptor, data[: self.room])
        self.room -= written
        return written


class Missing(Counter[tuple[str, str]]):
    """Reported missing events, by job and reason."""

    def __call__(self, job: str, reason: str, events: int) -> None:
        self[job, reason] += events


def told(folder: Path, clock: Clock, **settings: float) -> tuple[Archives, Missing]:
    missing = Missing()
    chosen = ArchiveSettings.model_validate({"folder": folder, **settings})
    archives = Archives(RememberingSink(), chosen, lambda info: info.job, None, clock, clock, missing)
    return archives, missing


def test_disk_without_room_is_told_at_once_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    archives, missing = told(tmp_path, clock)
    with Full(monkeypatch):
        archives.opened("s", info())
        archives.batch("s", *writes(100))
        clock.now += 2
        saved(archives)
        assert archives.counters["archives_waiting"] == 1
        assert archives.counters["archive_writes_failed"] >= 1
        assert [record.levelname for record in caplog.records] == ["ERROR"]
        assert "No space left" in caplog.text
        assert not files(tmp_path)  # none of 0 bytes
    archives.batch("s", *writes(11))
    clock.now += 60
    saved(archives)
    assert archives.counters["archives_waiting"] == 0
    archives.closed("s", {})
    archives.end_job("job")
    archives.close()
    assert calls_of(files(tmp_path)[0]) == 111
    assert not missing


@pytest.mark.parametrize("room", [0, 1, 100, 1000, 2000, 4000, 10**6])
def test_every_event_is_stored_or_counted_wherever_the_room_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    clock = Clock()
    archives, missing = told(tmp_path, clock)
    with Full(monkeypatch, room):
        for stream in ("s", "t"):
            archives.opened(stream, info())
        for turn in range(10):
            for stream in ("s", "t"):
                archives.batch(stream, *writes(70, turn))
            clock.now += 5
            saved(archives)
        archives.closed("s", {})
        archives.close()
    stored = sum(map(calls_of, files(tmp_path)))
    assert stored + missing["job", "no_room"] == 1400
    assert archives.counters["events_not_archived:no_room"] == missing["job", "no_room"]
    assert archives.counters["archives_waiting"] == 0
    assert archives._waiting == WaitingBytes()
    assert all(path.stat().st_size for path in files(tmp_path))


def test_queue_for_space_is_bounded_and_omissions_are_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iotide.daemon.archiving.archives._MAX_STUCK_BYTES", 20_000)
    clock = Clock()
    archives, missing = told(tmp_path, clock)
    archives.opened("s", info())
    with Full(monkeypatch):
        for turn in range(50):
            archives.batch("s", writes(1000, turn)[0], Definitions([(1, "pwrite64")] if not turn else []))
            clock.now += 60
            saved(archives)
        assert archives._waiting.stuck < 40_000
    clock.now += 60
    saved(archives)
    archives.batch("s", writes(10)[0], Definitions([]))
    archives.closed("s", {})
    archives.close()
    (path,) = files(tmp_path)
    left_out = missing["job", "no_room"]
    assert 0 < left_out < 50_000
    assert calls_of(path) + left_out == 50_010
    with path.open("rb") as file:
        (stream,) = ArchiveReader(file, path.name).streams.values()
    assert stream.losses == {"events_not_archived:no_room": left_out}


def test_jobs_without_room_do_not_keep_others_from_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.daemon.archiving.archives._MAX_STUCK_BYTES", 100)
    clock = Clock()
    archives, missing = told(tmp_path, clock)
    archives.opened("s", info("stuck"))
    with Full(monkeypatch):
        for turn in range(5):
            archives.batch("s", *writes(100, turn))
            clock.now += 60
            saved(archives)
    archives.opened("t", info("other"))
    archives.batch("t", *writes(3))
    archives.close()
    assert missing["stuck", "no_room"] > 0
    assert missing["other", "no_room"] == 0
    assert sum(map(calls_of, files(tmp_path))) + missing.total() == 503


def test_disk_that_cannot_save_costs_the_archive_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    clock = Clock()
    archives, missing = told(tmp_path, clock, checkpoint_s=1)
    archives.opened("s", info())
    archives.batch("s", *writes(4))
    monkeypatch.setattr(os, "fsync", fails)
    clock.now += 2
    saved(archives)
    archives.batch("s", *writes(3))
    archives.close()
    assert archives.counters["archives_failed"] == 1
    assert missing == {("job", "failed"): 7}


def broken(*_: object) -> NoReturn:
    raise RuntimeError("broken")


@pytest.mark.parametrize("name", ["begin", "flush", "end", "opened", "closed", "update", "checkpoint_of", "_part"])
def test_writer_that_breaks_costs_its_own_archive_alone_and_that_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    clock = Clock()
    archives, missing = told(tmp_path, clock)
    sink = archives._next
    assert isinstance(sink, RememberingSink)
    archives.opened("t", info("other"))
    archives.batch("t", *writes(9))
    with monkeypatch.context() as patch:
        patch.setattr(StreamCompressor if name == "update" else ArchiveWriter, name, broken)
        archives.opened("s", info())
        archives.batch("s", *writes(5))
        archives.changed("s", info())
        clock.now += 61
        archives._jobs["other"].due_at_s = math.inf
        saved(archives)
        archives.batch("s", *writes(6))
        archives.closed("s", {})
        archives.end_job("job")
        saved(archives)
    archives.opened("u", info("third"))
    archives.batch("u", *writes(7))
    archives.close()
    calls = {path.name.split("-")[0]: calls_of(path) for path in files(tmp_path)}
    assert calls.pop("other") == 9
    assert calls.pop("third") == 7
    assert calls.pop("job", 0) + missing["job", "failed"] == 11
    assert missing["job", "failed"] == archives.counters["events_not_archived:failed"] > 0 or name == "end"
    assert archives.counters["archives_failed"] + archives.counters["archive_streams_failed"] >= 1
    assert len(sink.starts["s"]) == 11


def test_stream_of_an_archive_that_was_given_up_does_not_meet_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archives, missing = told(tmp_path, Clock())
    archives.opened("s", info())
    archives._jobs["job"].give_up("failed")
    archives.opened("t", info())
    archives.batch("s", *writes(3))
    archives.batch("t", *writes(4))
    archives.changed("s", info())
    archives.closed("s", {})
    archives.close()
    assert archives.counters["archives_failed"] == 1
    assert missing == {("job", "failed"): 3}
    assert sorted(map(calls_of, files(tmp_path))) == [0, 4]


@pytest.mark.slow
def test_first_checkpoint_comes_soon_and_the_next_ones_ever_later(tmp_path: Path) -> None:
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=8)
    archives.opened("s", info())
    at, counts = [], [0]
    for tick in range(120):
        archives.batch("s", *writes(1, tick))
        saved(archives)
        clock.now += 0.25
        (path,) = files(tmp_path)
        if (calls := calls_of(path)) != counts[-1]:
            at.append(tick / 4)
            counts.append(calls)
    archives.close()
    assert at[0] <= 1.5
    gaps = np.diff(at)
    assert gaps.max() <= 8.5
    assert list(gaps[:4]) == sorted(gaps[:4])


def test_job_without_news_is_not_saved_again(tmp_path: Path) -> None:
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=1)
    archives.opened("s", info())
    archives.batch("s", *writes(5))
    clock.now += 2
    saved(archives)
    size = files(tmp_path)[0].stat().st_size
    for _ in range(5):
        clock.now += 2
        saved(archives)
    assert files(tmp_path)[0].stat().st_size == size
    archives.close()


def test_slow_disk_loses_events_and_blocks_no_one_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink, disk = RememberingSink(), threading.Event()
    archives = made(tmp_path, Clock(), sink)
    archives.opened("s", info())
    monkeypatch.setattr("iotide.daemon.archiving.archives._MAX_WAITING_BYTES", 10)
    archives.wait_for_io()
    archives._disk.submit(disk.wait)
    archives.changed("s", info())
    archives._jobs["job"].save_stream("s")
    archives._jobs["job"].flush(save=True)
    try:
        archives.batch("s", *writes(3))
        archives.batch("s", writes(4)[0], Definitions([(2, "fsync")]))
    finally:
        disk.set()
    archives.wait_for_io()
    archives.batch("s", make_batch(5, {"call": 2}), Definitions([(3, "close")]))
    archives.close()
    assert archives.counters["events_not_archived:disk"] == 7
    assert archives.counters["archive_streams_failed"] == 0
    assert calls_of(files(tmp_path)[0]) == 5
    assert len(sink.starts["s"]) == 12


@pytest.mark.slow
def test_streams_that_take_most_memory_are_saved_before_time(tmp_path: Path) -> None:
    archives = made(tmp_path, Clock(), memory_bytes=2_000_000)
    for number in range(50):
        archives.opened(str(number), info())
        archives.batch(str(number), *writes(100))
    assert archives.counters["archive_sections_early"] == 0
    archives.opened("large", info())
    for _ in range(12):
        archives.batch("large", *writes(10_000))
    assert archives.counters["archive_sections_early"] > 0
    assert archives._total_open_bytes <= 2_000_000
    assert len(archives._open_bytes) >= 50  # the small ones were not touched
    archives.close()
    assert archives._total_open_bytes == 0
    assert calls_of(files(tmp_path)[0]) == 50 * 100 + 12 * 10_000


def test_checkpoint_that_is_not_done_when_the_next_is_due_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iotide.daemon.archiving.archives._SLICE_S", 0.0)
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=60)
    for number in range(3):
        archives.opened(str(number), info())
    clock.now += 61
    assert archives.tick()
    archives.batch("0", *writes(1))
    clock.now += 61
    assert archives.tick()
    assert archives.counters["archive_checkpoints_late"] == 1
    archives.close()


def test_batch_rejected_by_the_archive_affects_its_stream_only(tmp_path: Path) -> None:
    class WithoutSignatures(RememberingSink):
        def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
            super().batch(stream, batch, Definitions(definitions.strings, definitions.files))

    sink = WithoutSignatures()
    archives = made(tmp_path, Clock(), sink)
    for stream in ("s", "t"):
        archives.opened(stream, info())
        archives.batch(stream, *writes(5))
    archives.batch("s", writes(2)[0], Definitions([], [], [], [(9, "a number was skipped")]))
    archives.batch("s", *writes(2))
    archives.batch("t", *writes(6))
    archives.close()
    assert archives.counters["archive_streams_failed"] == 1
    assert archives.counters["events_not_archived:failed"] == 9
    assert calls_of(files(tmp_path)[0]) == 11
    assert len(sink.starts["s"]) == 9


def test_numbers_that_were_never_defined_take_no_memory(tmp_path: Path) -> None:
    archives = made(tmp_path, Clock())
    archives.opened("s", info())
    batch = make_batch(3, {"call": [1, 2**32 - 1, 1], "signature": [2**32 - 1, 0, 1]})
    archives.batch("s", batch, Definitions([(1, "write")]))
    archives.close()
    assert archives.counters["archive_streams_failed"] == 0
    assert calls_of(files(tmp_path)[0]) == 3


def test_old_archives_and_those_beyond_the_quota_go(tmp_path: Path) -> None:
    clock = Clock()
    for age, name in ((10, "young"), (50, "middle"), (100, "old"), (1000, "ancient")):
        path = tmp_path / f"{name}.iotide"
        path.write_bytes(bytes(1000))
        os.utime(path, (clock.now - age, clock.now - age))
    (tmp_path / "not ours.txt").write_bytes(bytes(5000))
    archives = made(tmp_path, clock, quota_bytes=2500, retain_s=500)
    archives.prepare()
    saved(archives)
    assert [path.stem for path in files(tmp_path)] == ["middle", "young"]
    assert archives.counters["archives_removed"] == 2
    assert (tmp_path / "not ours.txt").exists()


def test_folder_that_cannot_be_made_is_an_error_of_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="no archives"):
        made(tmp_path / "file" / "in", Clock()).prepare()


def test_folder_that_cannot_be_made_costs_running_jobs_their_archives_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    sink = RememberingSink()
    archives = made(tmp_path / "file" / "in", Clock(), sink)
    archives.opened("s", info())
    archives.batch("s", *writes(3))
    assert len(sink.starts["s"]) == 3
    archives.close()
    assert archives.counters["archives_failed"] == 1
    assert archives.counters["events_not_archived:no_room"] == 3


def test_archive_says_what_of_a_stream_was_lost_before_it_and_by_it(tmp_path: Path) -> None:
    archives = made(tmp_path, Clock(), RememberingSink(), job_bytes=1)
    archives.opened("s", info())
    archives.batch("s", *writes(3))
    archives.closed("s", {"events_dropped:ring_full": 7})
    archives.close()
    (path,) = files(tmp_path)
    with path.open("rb") as file:
        (stream,) = ArchiveReader(file, path.name).streams.values()
    assert stream.losses == {"events_dropped:ring_full": 7, "events_not_archived:job_bytes": 3}


@pytest.mark.parametrize("begun", ["in the file", "nothing known of it"])
def test_file_of_a_stalled_daemon_is_continued_as_a_copy(tmp_path: Path, begun: str) -> None:
    """Later writes of that aggregator, when it resumes, are in no archive."""
    path = tmp_path / "job-20231114T221320.iotide"
    sleeping = ArchiveFile(tmp_path, "job", 1_700_000_000.0, set())
    assert sleeping.append([b"head", b"lost"], save=True).pieces == 2
    awake = ArchiveFile(tmp_path, "job", 1_700_000_000.0, set(), lambda _: True, moves=True)
    if begun == "in the file":
        awake.resume(path, 4)
    assert awake.append([b"more"], save=True).error is None
    assert sleeping.append([b"late"], save=True).error is None
    assert awake.append([b"end"], save=True).error is None
    sleeping.close()
    awake.close()
    assert path.read_bytes() == (b"head" if begun == "in the file" else b"") + b"moreend"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_archives_that_are_left_to_another_daemon_are_not_written_any_more(tmp_path: Path) -> None:
    archives = made(tmp_path, Clock())
    archives.mark = lambda: lambda: False  # the journal accepts nothing more
    archives.opened("s", info())
    archives.detach()
    archives.close()
    assert not list(tmp_path.iterdir())
