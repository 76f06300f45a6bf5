"""A job in one sentence: bytes, period and calls, next phase, and the first recommendation."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from iotide.clients.text.advice_text import first_line, io_time_line, moved_line
from iotide.clients.text.job_sentence import _CHANGE, job_sentence
from iotide.results.advice import Advice, AdviceFinding, Cause, Destination, Spent
from iotide.results.base import Estimate
from iotide.results.prediction import NextPhase, Prediction, Scores, Who, Window

T0 = 1_700_000_000.0


def finding(cause: Cause = "small_requests", gain_s: float = 15.0) -> AdviceFinding:
    return AdviceFinding(
        cause=cause, title="too many of them", why="it costs", change="Take fewer.", seconds=20.0, share=0.1,
        gain_s=gain_s, gain_share=gain_s / 3000,
    )  # fmt: skip


def advice(*findings: AdviceFinding, **changed: Any) -> Advice:
    given = {
        "events": 9, "first_s": T0, "last_s": T0 + 3000, "run_s": 3000.0, "lanes": 1, "slowest": "rank 0",
        "spent": Spent(), "io_s": 30.0, "io_share": 0.01, "system_s": 0.0, "waiting_s": 0.0, "bytes_read": 10,
        "bytes_written": 310 * 10**9, "destinations": [], "manner": "through 4 KiB writes", "findings": list(findings),
        "floor_share": 0.02,
    }  # fmt: skip
    return Advice.model_validate(given | changed)


def prediction(confidence: float = 0.95, period_s: float = 27.0) -> Prediction:
    def exactly(value: float) -> Estimate:
        return Estimate(value=value, low=value, high=value)

    scores = Scores.model_construct(bytes_per_phase=3.1e9)
    phase = NextPhase.model_construct(start_s=exactly(T0 + 3010), volume_bytes=exactly(3.1e9), confidence=0.9)
    window = Window.model_construct(start_s=T0, end_s=T0 + 3000)
    return Prediction.model_construct(
        job="j", made_at_s=T0, mode="both", period_s=exactly(period_s), confidence=confidence,
        periodic=confidence > 0.5, scores=scores, next_phase=phase, window=window, others=[], who=None,
    )  # fmt: skip


def test_a_periodic_job_is_told_with_what_an_hour_of_it_saves() -> None:
    told = job_sentence(advice(finding()), prediction())
    assert told == "writes 3.1 GB every 27 s through 4 KiB writes; move 1 MiB or more at once and save 18 s an hour"


def test_the_next_phase_is_told_of_a_job_that_still_runs() -> None:
    assert "; next at " in job_sentence(advice(finding()), prediction(), T0 + 3000)
    assert "; next now; " in job_sentence(advice(finding()), prediction(), T0 + 3020)


@pytest.mark.parametrize("unsure", [None, prediction(confidence=0.3)])
def test_a_job_without_a_period_is_told_by_its_sums(unsure: Prediction | None) -> None:
    told = job_sentence(advice(finding(gain_s=600.0)), unsure)
    start = "writes 310.0 GB and reads 10 B in 50 min 00 s through 4 KiB writes"
    assert told == f"{start}; move 1 MiB or more at once and save 10 min 00 s of 50 min 00 s"


def test_period_of_some_members_names_them_and_excludes_other_requests() -> None:
    who = Who(kind="commands", members=["/usr/bin/ruby -e loop"], share=0.4)
    told = job_sentence(advice(finding("many_files")), prediction().model_copy(update={"who": who}))
    assert told == (
        "writes 3.1 GB every 27 s (command ruby -e loop); put the records into one file and save 15 s of 50 min 00 s"
    )


def test_period_of_writes_has_no_size_of_reads() -> None:
    mostly_reads = advice(bytes_read=10**12, manner="through 9.5 KiB reads")
    writes = prediction().model_copy(update={"mode": "write"})
    assert job_sentence(mostly_reads, writes) == "writes 3.1 GB every 27 s; nothing to change"


def test_few_periods_give_no_statement_for_an_hour() -> None:
    assert "an hour" not in job_sentence(advice(finding()), prediction(period_s=1500.0))


def test_a_job_that_is_well_has_nothing_to_change_and_one_that_moves_nothing_no_sentence() -> None:
    assert job_sentence(advice(), prediction()).endswith("through 4 KiB writes; nothing to change")
    told = job_sentence(advice(), prediction(), partial=True)
    assert told.endswith("; nothing to change in what was recorded")
    assert first_line(advice(), partial=True).startswith("nothing to change in what was recorded: no cause")
    assert moved_line(advice(destinations=[]), partial=True) == "no data moved by recorded calls"
    assert job_sentence(advice(bytes_read=0, bytes_written=0), None) == ""


def test_data_at_risk_saves_no_time() -> None:
    risky = advice(finding("conflict", 0.0))
    assert job_sentence(risky, None).endswith("; give each process bytes of its own")
    assert first_line(risky) == "data at risk: too many of them. Take fewer."


def test_places_with_hardly_a_byte_are_not_named() -> None:
    def place(name: str, size: int) -> Destination:
        return Destination(place=name, type="", bytes_read=0, bytes_written=size, seconds=1.0, rate=float(size))

    told = moved_line(
        advice(destinations=[place("/scratch", 10**9), place("/home", 10**8), place("", 4)], bytes_written=11 * 10**8)
    )
    assert told == "1.0 GB written to /scratch at 1.0 GB/s; 100.0 MB written to /home at 100.0 MB/s"


def test_each_cause_has_its_words() -> None:
    assert set(_CHANGE) == set(get_args(Cause))


def test_bytes_of_files_that_are_not_those_asked_for_are_explained() -> None:
    place = Destination(
        place="/scratch", type="lustre", bytes_read=0, bytes_written=5 * 10**8, seconds=1.0, rate=5 * 10**8
    )
    told = moved_line(advice(destinations=[place], bytes_read=0, bytes_written=10**9))
    assert told.endswith(", for 1.0 GB in the program's calls: a library below converts, compresses or caches")
    assert moved_line(advice(destinations=[place], bytes_read=0, bytes_written=52 * 10**7)).endswith(" at 500.0 MB/s")


@pytest.mark.parametrize(
    ("read", "written", "told"),
    [(0, 9, "writes"), (9, 0, "reads"), (5, 5, "reads and writes"), (1, 99, "writes"), (99, 1, "reads")],
)
def test_both_ways_are_named_if_both_move_much(read: int, written: int, told: str) -> None:
    both = prediction().model_copy(update={"mode": "both"})
    assert job_sentence(advice(bytes_read=read, bytes_written=written), both).startswith(f"{told} 3.1 GB every 27 s")


def test_calls_that_overlap_have_no_share_of_the_run() -> None:
    told = io_time_line(advice(slowest="", io_s=9000.0, spent=Spent(write_s=9000.0), io_share=1.0))
    assert told == "I/O takes 2 h 30 min in calls that overlap, in a run of 50 min 00 s: 2 h 30 min writing"
