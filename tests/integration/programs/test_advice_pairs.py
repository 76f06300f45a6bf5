"""Programs with a slow and a mended form: the cause is the first finding in the slow form, and absent in the mended
one.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from iotide.analyzers.advice.settings import AdviceSettings
from support.jobs.program_pairs import HELD_OUT, LAST, LATER, PAIRS, Pair
from support.tracing.programs import need_header

pytestmark = pytest.mark.slow
ALL = PAIRS + HELD_OUT + LATER + LAST


@pytest.mark.parametrize("pair", ALL, ids=[pair.name for pair in ALL])
def test_cause_is_found_first_and_is_gone_when_it_is_mended(pair: Pair, tmp_path: Path) -> None:
    if pair.name == "single_rows":
        need_header("hdf5/serial/hdf5.h")
    slow, _ = pair.judged("slow", tmp_path, tmp_path)
    mended, _ = pair.judged("mended", tmp_path, tmp_path)
    causes = [finding["cause"] for finding in slow["findings"]]
    flushing_s = slow["spent"]["sync_s"]
    if pair.cause == "fsync" and flushing_s < 2 * max(AdviceSettings().floor_s, slow["floor_share"] * slow["run_s"]):
        pytest.skip(f"a flush is too fast on this file system for a finding: {flushing_s:.3f} s in all")
    assert causes[:1] == [pair.cause], slow
    first = slow["findings"][0]
    assert first["change"]
    assert (first["gain_s"] > 0) is pair.costs_time
    assert pair.cause not in [finding["cause"] for finding in mended["findings"]]


def test_there_are_programs_for_what_can_be_tried_on_one_machine() -> None:
    assert len(ALL) >= 15
    assert len({pair.name for pair in ALL}) == len(ALL)
