"""Interference with a job: bytes of other jobs on its file systems during its I/O."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from iotide.analyzers.interaction.interference import Load, interference_with
from iotide.results.interaction import Culprits, Ranking

NOBODY = Ranking(
    by="job", start="equal", actors=[], files=[], edges=[], components=[], pruned=[], alone=0, events=0
)  # fmt: skip


def load(job: str, *moved: float, start_s: float = 0.0, bin_s: float = 1.0, **facts: Any) -> Load:
    return Load(job, start_s, bin_s, np.array(moved, np.float64), **facts)


def told(own: Load, others: Sequence[Load], end_s: float = 4.0, ranking: Ranking = NOBODY, **more: int) -> Culprits:
    return interference_with(own, others, 0.0, end_s, ranking, **more)


def test_only_what_is_moved_while_the_job_does_io_counts() -> None:
    own = load("sim", 100, 0, 0, 100)
    found = told(
        own, [load("backup", 300, 900, 900, 300), load("between", 0, 5000, 0, 0), load("late", 200, start_s=3.0)]
    )
    assert [(one.job, one.bytes, one.together_s) for one in found.culprits] == [
        ("backup", 600, pytest.approx(2)),
        ("late", 200, pytest.approx(1)),
    ]
    assert [one.share for one in found.culprits] == [0.6, 0.2]
    assert (found.share, found.active_s) == (0.2, pytest.approx(2))


def test_bins_of_any_length_give_the_same() -> None:
    own = load("sim", 100, 0, 0, 100)
    for bin_s, moved in ((0.5, [300.0] * 8), (2.0, [1200.0] * 2), (4.0, [2400.0])):
        (found,) = told(own, [load("x", *moved, bin_s=bin_s)]).culprits
        assert found.bytes == pytest.approx(1200, abs=1)


def test_io_on_other_file_systems_disturbs_no_job() -> None:
    own = load("sim", 100, mounts={"/scratch": 100})
    others = [
        load("half", 100, mounts={"/scratch": 300, "/home": 100}),
        load("elsewhere", 100, mounts={"/home": 100}),
        load("unknown", 100),
    ]
    found = told(own, others, 1.0)
    assert [(one.job, one.bytes, one.file_systems) for one in found.culprits] == [
        ("unknown", 100, []),
        ("half", 75, ["/scratch"]),
    ]


def test_node_local_disks_meet_on_a_common_host_only() -> None:
    here = {"mounts": {"/tmp": 5}, "local": frozenset({"/tmp"})}
    own = load("sim", 100, hosts=frozenset({"n1", "n2"}), **here)
    others = [load("there", 9, hosts=frozenset({"n3"}), **here), load("here", 9, hosts=frozenset({"n2"}), **here)]
    assert [one.job for one in told(own, others, 1.0).culprits] == ["here"]


def test_only_the_largest_are_told_and_the_shares_stay_of_all() -> None:
    found = told(load("sim", 10), [load(str(number), number) for number in range(1, 6)], 1.0, top=2)
    assert {one.job: one.share for one in found.culprits} == {"5": pytest.approx(0.2), "4": pytest.approx(0.16)}


def test_a_job_that_did_nothing_has_no_culprits() -> None:
    found = told(load("sim", 0, 0), [load("x", 5, 5)])
    assert (found.culprits, found.share, found.active_s) == ([], 0.0, 0.0)
