"""Untraced programs by job: what counts as a loss, and what takes it back."""

from __future__ import annotations

from pathlib import Path

from iotide.collectors.sources.preload.records.definition_log import Entry
from iotide.collectors.sources.preload.untraced import UntracedPrograms
from iotide.collectors.tracer.preload_compatibility import STATIC


def entry(number: int, text: str) -> Entry:
    return Entry(0, 1, number, text.encode())


def test_programs_count_once_in_their_job_and_are_named_once() -> None:
    untraced = UntracedPrograms()
    for _ in range(2):
        untraced.learn(entry(1, "/x/a"), job="one")
    untraced.learn_file(b"anon_inode:[io_uring]", "fio", "two")
    assert list(untraced.fresh_losses()) == [
        ("one", 2, [("/x/a", STATIC)]),
        ("two", 1, [("fio", "hands I/O to the kernel by io_uring, past all that the tracer sees")]),
    ]
    assert list(untraced.fresh_losses()) == []
    untraced.learn(entry(1, "/x/a"), job="one")
    assert list(untraced.fresh_losses()) == [("one", 1, [])]
    assert [(each.program, each.times) for each in untraced] == [("/x/a", 3), ("fio", 1)]


def test_cancelled_reports_emulators_and_what_others_record_are_no_loss(tmp_path: Path) -> None:
    untraced = UntracedPrograms()
    report = untraced.learn(entry(1, "/x/a"), job="j")
    assert untraced.learn(entry(10, ""), report, "j") is None
    untraced.learn(entry(11, "/x/b"), job="j")  # by the collector of a nested run
    emulator = tmp_path / "emulator"
    emulator.touch()
    untraced.learn(entry(1, str(emulator)), job="j")
    untraced.learn(entry(12, str(emulator)), job="j")
    untraced.learn_still_running("x")
    untraced.learn_unreachable("x", "y")
    assert list(untraced.fresh_losses()) == []


def test_number_of_jobs_is_bounded() -> None:
    untraced = UntracedPrograms()
    for job in range(3000):
        untraced.learn(entry(1, f"/x/{job}"), job=f"job{job}")
        assert sum(count for _, count, _ in untraced.fresh_losses()) == 1
    assert len(untraced._of_jobs) <= 1000
    assert len(untraced._named) <= 1000
