from __future__ import annotations

from collections import Counter
from pathlib import Path

from iotide.archive.file.writer import ArchiveWriter
from iotide.collectors.source import Chunk, Closed, Lost, Opened, Origin, SourceItem
from iotide.collectors.sources.file import InputLosses
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, StreamInfo, make_batch
from iotide.events.network.wire import decode, encode_batch

CALL = '{"call": "write", "path": "/data/out", "start": %d, "dur": 0.1, "size": 10%s}\n'


def losses(path: Path) -> dict[str, Counter[str]]:
    source = open_file(path, Origin(job="mine"))
    items: list[SourceItem] = []
    while not source.finished:
        items += source.poll()
    told: dict[str, Counter[str]] = {}
    for item in items:
        if isinstance(item, Lost):
            assert not item.stream
            told.setdefault(item.job, Counter()).update(item.losses)
    return told


def test_lines_that_cannot_be_read_are_told_once_in_the_job(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(CALL % (at, "") + ("no call\n" if at % 3 == 0 else "") for at in range(9)))
    assert losses(path) == {"mine": Counter({"lines_malformed": 3})}


def test_each_job_of_an_input_may_lack_what_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text(CALL % (1, ', "job": "a"') + CALL % (2, ', "job": "b"') + "no call\n")
    assert losses(path) == {"a": Counter({"lines_malformed": 1}), "b": Counter({"lines_malformed": 1})}


def test_input_that_is_read_whole_has_lost_nothing(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(CALL % (at, "") for at in range(9)))
    assert losses(path) == {}


def test_bytes_of_an_unknown_format_are_not_taken_for_those_of_calls(tmp_path: Path) -> None:
    path = tmp_path / "calls.unknown"
    path.write_bytes(b"\x01\x02 nothing known\n" * 10)
    source = open_file(path, Origin(job="mine"), follow=True)
    source.stop()
    items = [item for _ in range(3) for item in source.poll()]
    assert source.counters["bytes_dropped:unknown_format"] == 170
    (lost,) = [item for item in items if isinstance(item, Lost)]
    assert lost == Lost(Counter({"input_bytes_dropped:unknown_format": 170}), job="mine")


def test_losses_that_an_archive_has_of_its_streams_are_told_once(tmp_path: Path) -> None:
    writer, missing = ArchiveWriter(), {"events_dropped:ring_full": 5, "bytes_dropped:ring_full": 500}
    path = tmp_path / "job.iotide"
    begin = writer.begin({"job": "j"}) + writer.opened("s", StreamInfo(job="j", source="test"))
    calls = writer.batch("s", make_batch(2, {"start": [1, 2]}), Definitions())
    path.write_bytes(begin + calls + writer.closed("s", missing) + writer.end())
    items = list(read_all(open_file(path, Origin(job="mine"))))
    assert [item.losses for item in items if isinstance(item, Closed)] == [Counter(missing)]
    assert not [item for item in items if isinstance(item, Lost)]


def test_losses_of_a_stream_and_others_of_its_input_are_told_apart() -> None:
    counters: Counter[str] = Counter({"events_dropped:ring_full": 3})
    inputs = InputLosses(counters, "mine")
    of_stream = [Opened("s", StreamInfo(job="j", source="test")), Lost(Counter({"events_dropped:ring_full": 3}), "s")]
    assert inputs.after(of_stream) == of_stream
    counters.update({"events_dropped:ring_full": 2, "lines_malformed": 1})
    closed = Closed("s", Counter({"events_dropped:ring_full": 5}))
    assert inputs.after([closed]) == [closed, Lost(Counter({"lines_malformed": 1}), job="j")]
    counters["events_dropped:ring_full"] += 4
    assert inputs.after([]) == [Lost(Counter({"events_dropped:ring_full": 4}), job="j")]


def test_calls_that_no_wire_carries_are_left_out_and_told_and_cost_no_others() -> None:
    sound = make_batch(4, {"start": [1, 2, 3, 4], "duration": 1, "bytes": [10, 20, 30, 40]})
    for wrong in ({"bytes": [10, -1, 2**62 + 1, 40]}, {"start": [1, -2, 2**63 - 1, 4]}, {"kind": [0, 200, 255, 0]}):
        counters: Counter[str] = Counter()
        given = [Opened("s", StreamInfo(job="j", source="test")), Chunk("s", sound.replace(**wrong), Definitions())]
        _, chunk, told = InputLosses(counters, "mine").after(given)
        assert isinstance(chunk, Chunk)
        assert isinstance(told, Lost)
        assert chunk.batch.start.tolist() == [1, 4]
        assert decode([bytes(frame) for frame in encode_batch("s", 1, chunk.batch, Definitions())])[1] is not None
        assert (told.job, told.losses) == ("j", Counter({"events_dropped:malformed": 2}))
