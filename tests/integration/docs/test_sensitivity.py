"""The benchmark that varies tuned constants: it measures each unchanged, halved and doubled."""

from __future__ import annotations

import os
import subprocess
import sys

from support.places import ROOT
from support.system.waiting import DEADLINE_S

SCRIPT = ROOT / "benchmarks/accuracy/sensitivity.py"
NUMBER = "segmentation.min_volume_share"


def test_a_sensitive_constant_has_a_marked_row() -> None:
    chosen = {"IOTIDE_JOBS": "1", "IOTIDE_MOMENTS": "2", "IOTIDE_NUMBERS": NUMBER}
    done = subprocess.run(
        [sys.executable, SCRIPT],
        env=os.environ | chosen,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=True,
    )
    (row,) = [line for line in done.stdout.splitlines() if line.startswith(f"| {NUMBER} | 0.2 |")]
    assert "+" in row
    (largest,) = [line for line in done.stdout.splitlines() if line.startswith(f"{NUMBER}: largest change")]
    assert float(largest.split()[3]) > 0
