"""The demonstration of ``make demo``.

A program of Python's standard library is traced live, and its period is predicted.

The program is ``timeit``. Each of its repetitions computes (PBKDF2) and then has SQLite back up its database to a file,
page by page: a checkpoint. timeit prints the duration of each repetition by its own clock; the prediction is compared
with it.
"""

from __future__ import annotations

import math
import re
import statistics
import subprocess
import sys
import tempfile
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from ..clients.text.units import duration_text
from ..results.jobs.run import RunSummary
from ..results.prediction import Prediction

REPETITIONS: Final = 16
ROUNDS: Final = 5_000_000
_DELAYED: Final = 1.3
TOLERANCE: Final = 0.05

_SETUP: Final = """
import hashlib, sqlite3
live = sqlite3.connect(':memory:')
live.execute('create table state (cell blob)')
live.executemany('insert into state values (?)', [(bytes(65536),)] * 256)
live.commit()
"""
_STEP: Final = """
hashlib.pbkdf2_hmac('sha256', b'state', b'step', {rounds})
checkpoint = sqlite3.connect({path!r})
live.backup(checkpoint)
checkpoint.close()
"""


class OwnClock(NamedTuple):
    """timeit's own times of its last repetitions. It has mean seconds, and the number delayed by the machine."""

    usual_mean_s: float
    """Mean without the delayed ones."""
    all_s: float
    delayed: int
    repetitions: int

    def error_of(self, period_s: float) -> float:
        """Return the relative error of a period; the few delayed intervals may count or not."""
        nearest = min(max(period_s, self.usual_mean_s), self.all_s)
        return abs(period_s - nearest) / nearest

    def text(self) -> str:
        """Return the times as text."""
        held_up = f" ({self.all_s:.3f} s with {self.delayed} that the machine held up)" if self.delayed else ""
        return (
            f"{self.usual_mean_s:.3f} s by timeit's own clock in the {self.repetitions} repetitions looked at{held_up}"
        )


def main() -> int:
    """Run the demonstration; return 0 if the period was right."""
    report, number = Path("iotide-demo"), 1
    while report.exists():  # the run also chooses a free folder; an earlier one contains an earlier summary
        number += 1
        report = Path(f"iotide-demo-{number}")
    with tempfile.TemporaryDirectory(prefix="iotide-demo-") as folder:
        step = _STEP.format(rounds=ROUNDS, path=str(Path(folder) / "checkpoint.db"))
        program = [
            *(sys.executable, "-m", "timeit", "-v", "-n", "1", "-r", str(REPETITIONS), "-u", "sec"),
            *("-s", _SETUP, step),
        ]
        _print(f"tracing Python's timeit: {REPETITIONS} times a computation and an SQLite backup of 17 MB")
        done = subprocess.run(
            [sys.executable, "-m", "iotide", "run", "--job", "demo", "--output", str(report), "--", *program],
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    print(done.stdout, end="", flush=True)  # noqa: T201  (the traced program's own output)
    if done.returncode:
        _print(f"the traced run ended with status {done.returncode}")
        return 1
    summary = RunSummary.model_validate_json((report / "summary.json").read_text(encoding="utf-8"))
    return _compare(summary, done.stdout)


def looked_at_s(found: Prediction) -> float:
    """Return the time from which the period follows, s, up to the end.

    If a busy machine slowed the program down for good, the period is that of the time since then.
    """
    ends = [other.end_s for other in found.others if other.relation == "earlier"]
    return found.window.end_s - max([found.window.start_s, *ends])


def own_clock(output: str, window_s: float) -> OwnClock:
    """Parse timeit's ``raw times`` line.

    A repetition a third longer than the median was delayed by the machine; the others have the period.

    Args:
        output: output of timeit.
        window_s: time that the prediction looked at, up to the end. On a busy machine, repetitions before it may have
            other durations.
    """
    line = next(row for row in output.splitlines() if row.startswith("raw times:"))
    times = [float(number) for number in re.findall(r"([\d.e+-]+) sec", line)]
    ends = accumulate(reversed(times))
    looked_at = [each for each, end in zip(reversed(times), ends, strict=True) if end - each / 2 <= window_s] or times[
        -1:
    ]
    usual = [each for each in looked_at if each <= _DELAYED * statistics.median(looked_at)]
    return OwnClock(statistics.mean(usual), statistics.mean(looked_at), len(looked_at) - len(usual), len(looked_at))


def _compare(summary: RunSummary, output: str) -> int:
    found = summary.prediction
    if found is None or found.period_s is None:
        _print(f"no period was found; it is {own_clock(output, math.inf).text()}")
        return 1
    truth = own_clock(output, looked_at_s(found))
    predicted_s = found.period_s.value
    error = truth.error_of(predicted_s)
    verdict = "right" if error <= TOLERANCE else "WRONG"
    distance = f"{error:.1%} apart" if error else "between the two" if truth.delayed else "equal"
    _print(f"period {predicted_s:.3f} s predicted, {truth.text()}: {distance}, {verdict} (at most {TOLERANCE:.0%})")
    _print(f"{summary.job.events:,} calls seen, {summary.job.events_dropped:,} dropped")
    _print(f"run took {duration_text(summary.ended_at_s - summary.started_at_s)}; report: {summary.report}")
    return 0 if error <= TOLERANCE else 1


def _print(text: str) -> None:
    print(f"demo: {text}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main())
