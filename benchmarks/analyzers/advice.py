"""Accuracy of advice: programs with a slow and a mended form, and the time that the change saved.

Both forms run traced, in turns, and advice is computed for both. The actual saving is the difference between the
durations of their work, which the programs print. An estimate is right within a factor of two of it, in the median of
the turns. A finding for the mended form is a false alarm.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from iotide.benchmarks.common.figures import Figure, report

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.jobs.program_pairs import HELD_OUT, LAST, LATER, PAIRS, Pair

TURNS = int(os.environ.get("IOTIDE_REPEATS", "3"))
FACTOR = 2.0


def measure() -> list[Figure]:
    """Return the accuracy of advice on four sets of pairs.

    They are those used to write the rules, those written after the rules, those written after the estimate of the time
    between calls, and those written after its change for interpreters and libraries.
    """
    return [
        *_measured(PAIRS, ""),
        *_measured(HELD_OUT, ", programs written after the rules"),
        *_measured(LATER, ", programs written after the estimate"),
        *_measured(LAST, ", programs written after its change"),
    ]


def _measured(pairs: Sequence[Pair], of: str) -> list[Figure]:
    """Return the ratio of the estimated to the measured gain of each pair, and the number of right estimates."""
    figures = []
    first = right = quiet = timed = 0
    with tempfile.TemporaryDirectory() as made:
        for pair in pairs:
            causes, alarms, estimates_s, gains_s = _turns(pair, Path(made))
            first += causes[0] == pair.cause
            quiet += not any(alarms)
            if not pair.costs_time:
                continue
            timed += 1
            ratio = statistics.median(
                estimate_s / gain_s for estimate_s, gain_s in zip(estimates_s, gains_s, strict=True)
            )
            right += 1 / FACTOR <= ratio <= FACTOR
            name = f"{pair.name}: told {statistics.median(estimates_s):.3f} s, saved {statistics.median(gains_s):.3f} s"
            figures.append(Figure(name, ratio, "of the measured gain", "0.5 to 2"))
    return [
        Figure(f"the cause is the first finding{of}", first, f"of {len(pairs)}", f"{len(pairs)}"),
        Figure(f"no finding on the mended form{of}", quiet, f"of {len(pairs)}", f"{len(pairs)}"),
        Figure(f"estimates within a factor of two{of}", right, f"of {timed}", f"{timed}"),
        *figures,
    ]


def _turns(pair: Pair, made: Path) -> tuple[list[str], list[list[str]], list[float], list[float]]:
    """Return first causes, findings on the mended form, estimated and measured gains, of each turn."""
    causes, alarms, estimates_s, gains_s = [], [], [], []
    for turn in range(TURNS):
        folder = made / f"{pair.name}-{turn}"
        folder.mkdir()
        slow, slow_s = pair.judged("slow", folder, made)
        mended, mended_s = pair.judged("mended", folder, made)
        found = slow["findings"]
        causes.append(found[0]["cause"] if found else "")
        alarms.append([each["cause"] for each in mended["findings"]])
        estimates_s.append(found[0]["gain_s"] if found else 0.0)
        gains_s.append(slow_s - mended_s)
    return causes, alarms, estimates_s, gains_s


if __name__ == "__main__":
    report(measure())
