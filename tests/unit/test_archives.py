"""The archives that an aggregator keeps of its jobs."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from iotide.daemon.archives import Archives, ArchiveSettings
from iotide.events import ConfigError, Definitions, EventBatch, ProtocolError, StreamInfo, make_batch
from iotide.events.archive.reader import ArchiveReader
from support.sinks import RememberingSink


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
    """Ticks until nothing is left to save."""
    while archives.tick():
        pass
    archives.settle()


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
    archives.settle()
    (path,) = files(folder)
    assert path.name == "job-20231114T221320.iotide"
    assert (path.stat().st_mode & 0o777, folder.stat().st_mode & 0o777) == (0o600, 0o700)
    assert calls_of(path) == 100
    assert len(sink.starts["s"]) == 100


def test_what_the_next_sink_refuses_is_not_archived(tmp_path: Path) -> None:
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
    assert calls_of(files(tmp_path)[0]) == 100  # as after a crash: nobody has closed it
    archives.close()


def test_checkpoint_of_many_streams_is_spread_over_ticks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.daemon.archives._SLICE_S", 0.0)  # so long that one stream takes it all
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=60)
    for number in range(30):
        archives.opened(str(number), info())
        archives.batch(str(number), *writes(10))
    clock.now += 61
    left, calls = [], []
    for _ in range(30):
        left.append(archives.tick())
        archives.settle()
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


def fill_disk(archives: Archives, job: str) -> None:
    """Has the job's file be one that takes no more."""
    file = archives._jobs[job].file
    archives.settle()
    file._file.close()
    file._file = Path("/dev/full").open("wb", buffering=0)  # noqa: SIM115  (given up, which closes it)


def test_disk_that_takes_no_more_costs_the_archive_alone(tmp_path: Path) -> None:
    archives = made(tmp_path, Clock())
    archives.opened("s", info())
    fill_disk(archives, "job")
    archives.end_job("job")
    saved(archives)
    archives.opened("t", info("other"))
    archives.batch("t", *writes(3))
    archives.batch("s", *writes(3))
    assert archives.counters["archives_failed"] == 1
    assert archives.counters["events_not_archived:failed"] == 3
    archives.close()


def test_disk_that_cannot_save_costs_the_archive_alone(tmp_path: Path) -> None:
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=60)
    archives.opened("s", info())
    archives.settle()
    file = archives._jobs["job"].file
    file._file.close()
    reading, writing = os.pipe()  # takes what is written, and cannot be saved
    try:
        file._file = os.fdopen(writing, "wb", buffering=0)
        clock.now += 61
        saved(archives)
        archives.batch("s", *writes(3))
        archives.close()
    finally:
        os.close(reading)
    assert archives.counters["archives_failed"] == 1
    assert archives.counters["events_not_archived:failed"] == 3
    assert file.append(b"more") == 0


def test_stream_of_an_archive_that_was_given_up_does_not_meet_the_next_one(tmp_path: Path) -> None:
    sink = RememberingSink()
    archives = made(tmp_path, Clock(), sink)
    archives.opened("s", info())
    fill_disk(archives, "job")
    archives.end_job("job")
    saved(archives)
    archives.opened("t", info())
    archives.batch("s", *writes(3))
    archives.batch("t", *writes(4))
    archives.changed("s", info())
    archives.closed("s", {})
    archives.close()
    assert archives.counters["archives_failed"] == 1
    assert archives.counters["events_not_archived:failed"] == 3
    assert sorted(map(calls_of, files(tmp_path))) == [0, 4]
    assert len(sink.starts["s"]) == 3


def test_disk_that_does_not_keep_up_costs_events_and_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink, disk = RememberingSink(), threading.Event()
    archives = made(tmp_path, Clock(), sink)
    archives.opened("s", info())
    monkeypatch.setattr("iotide.daemon.archives._MOST_WAITING", 1000)
    archives._disk.do(disk.wait, size=1001)
    try:
        archives.batch("s", *writes(3))
        archives.batch("s", writes(4)[0], Definitions([(2, "fsync")]))
    finally:
        disk.set()
    archives.settle()
    archives.batch("s", make_batch(5, {"call": 2}), Definitions([(3, "close")]))
    archives.close()
    assert archives.counters["events_not_archived:disk"] == 7
    assert archives.counters["archive_streams_failed"] == 0
    assert calls_of(files(tmp_path)[0]) == 5
    assert len(sink.starts["s"]) == 12


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
    assert archives._held_bytes <= 2_000_000
    assert len(archives._held) >= 50  # the small ones were left alone
    archives.close()
    assert archives._held_bytes == 0
    assert calls_of(files(tmp_path)[0]) == 50 * 100 + 12 * 10_000


def test_checkpoint_that_is_not_done_when_the_next_is_due_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("iotide.daemon.archives._SLICE_S", 0.0)
    clock = Clock()
    archives = made(tmp_path, clock, checkpoint_s=60)
    for number in range(3):
        archives.opened(str(number), info())
    for _ in range(2):
        clock.now += 61
        assert archives.tick()
    assert archives.counters["archive_checkpoints_late"] == 1
    archives.close()


def test_what_the_archive_alone_cannot_take_costs_its_stream_alone(tmp_path: Path) -> None:
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
    assert archives.counters["events_not_archived:failed"] == 4
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
    assert archives.counters["archives_failed"] == 1


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
