"""Real programs of known rhythm under ``iotide run``: live predictions against the phases that the programs report.

Periods are 0.3 to 2 s, and each program runs for 15 to 40 s. On a busy machine programs are late, so the truth is what
happened: starts of phases by the programs' own clocks. Each live prediction from the fourth phase on is compared with
the first phase that starts after it. Predictions that are made during a phase are left out. IOTIDE_PROGRAMS: only
programs whose names contain this text. IOTIDE_KEEP: folder for the predictions and phases.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from iotide.benchmarks.accuracy.seed_figures import HERE, IOTIDE, run
from iotide.benchmarks.common.figures import Figure, report
from iotide.results.base import Estimate
from iotide.results.jobs.run import RunSummary
from iotide.results.prediction import NextPhase, Prediction

ONLY: Final = os.environ.get("IOTIDE_PROGRAMS", "")
KEEP: Final = os.environ.get("IOTIDE_KEEP", "")
INTERVAL_S: Final = 0.1
FEWEST_PHASES: Final = 4
NEAR: Final = 0.2  # maximum error of a correct start, in periods
SAME: Final = 0.05  # maximum error of a correct period
RESOLVED_S: Final = 0.01  # the finest bin of the signal
MELT: Final = Path(__file__).parents[2] / "tests" / "programs" / "melt.lammps"
LAMMPS: Final = """
variable cells equal 6
include {melt}
{output}
run 800 every 20 "shell date +phase:%s%N >> own.txt" "shell sleep 0.45"
"""
DUMP: Final = "dump d all atom 20 dump.melt"
RESTART: Final = f"{DUMP}\nrestart 20 one.restart two.restart"

Floats = npt.NDArray[np.float64]


class Phases(NamedTuple):
    """Phases of one program by its own clock, Unix s."""

    start_s: Floats
    end_s: Floats

    @property
    def period_s(self) -> float:
        """Usual distance of the starts, so that a pause does not count."""
        return float(np.median(np.diff(self.start_s)))


class Run(NamedTuple):
    """One run: truth of each program of the job, live predictions, and the one at the end."""

    programs: list[Phases]
    live: list[Prediction]
    final: Prediction | None


def checkpoints(*arguments: str, prefix: str = "data") -> list[str]:
    return [sys.executable, str(HERE / "checkpoints.py"), prefix, *arguments]


def own_phases(output: str) -> list[Phases]:
    """Return the phases that a program prints as ``phase START END``."""
    found = np.array(re.findall(r"^phase (\d+) (\d+)$", output, re.MULTILINE), np.float64) / 1e9
    return [Phases(found[:, 0], found[:, 1])]


def traced(folder: Path, command: Sequence[str], read: Callable[[str], list[Phases]]) -> Run:
    """Run a command under ``iotide run``."""
    options = ["--quiet", "--interval", str(INTERVAL_S), "--json", "run.json", "-o", "report", "--no-archive"]
    output = run([*IOTIDE, "run", *options, "--", *command], folder)
    summary = RunSummary.model_validate_json((folder / "run.json").read_text())
    lines = (folder / "report/predictions.jsonl").read_text().splitlines()
    return Run(read(output), [Prediction.model_validate_json(line) for line in lines[:-1]], summary.prediction)


def python_program(writer: str, rhythm: str, period_s: float, count: int) -> Callable[[Path], Run]:
    return lambda folder: traced(folder, checkpoints(writer, rhythm, str(period_s), str(count)), own_phases)


def two_programs(folder: Path) -> Run:
    """Two programs in one job, with periods without a simple ratio."""
    one = " ".join(checkpoints("numpy", "even", "0.7", "36", prefix="one"))
    other = " ".join(checkpoints("hdf5", "jitter", "1.13", "22", prefix="other"))
    script = f"{one} > one.txt & {other} > other.txt & wait"

    def read(_output: str) -> list[Phases]:
        return [own_phases((folder / name).read_text())[0] for name in ("one.txt", "other.txt")]

    return traced(folder, ["sh", "-c", script], read)


def fio(folder: Path) -> Run:
    """fio pauses after every 16 blocks; its log has the end of each block."""
    options = [
        *("--name=fio", "--filename=data", "--rw=write", "--bs=128k", "--size=60m", "--ioengine=psync"),
        *("--thinktime=800000", "--thinktime_blocks=16", "--write_lat_log=own", "--log_unix_epoch=1"),
    ]

    def read(_output: str) -> list[Phases]:
        rows = np.loadtxt(folder / "own_clat.1.log", delimiter=",", usecols=(0, 1))
        end = rows[:, 0] / 1e3
        start = end - rows[:, 1] / 1e9
        first = np.flatnonzero(np.append(True, np.diff(end) > 0.4))
        return [Phases(start[first], np.append(end[first[1:] - 1], end[-1]))]

    return traced(folder, ["fio", *options], read)


def lammps(output: str) -> Callable[[Path], Run]:
    """LAMMPS stores the time after each output, and then sleeps."""

    def made(folder: Path) -> Run:
        (folder / "in.melt").write_text(LAMMPS.format(melt=MELT, output=output))
        return traced(folder, ["lmp", "-in", "in.melt", "-log", "none"], lambda _output: read(folder / "own.txt"))

    def read(log: Path) -> list[Phases]:
        end = np.array(re.findall(r"^phase:(\d+)$", log.read_text(), re.MULTILINE), np.float64) / 1e9
        return [Phases(end - RESOLVED_S, end)]

    return made


def mpi(folder: Path) -> Run:
    """Two ranks of an IOR-like program that writes one shared file."""
    run(["mpicc", "-O2", "-o", "ior", HERE / "ior_like.c"], folder)
    command = ["mpirun", "-n", "2", "./ior", "-o", "data", "-i", "24", "-d", "0.7", "-D", "0.25"]
    return traced(folder, command, own_phases)


PROGRAMS: Final[dict[str, tuple[Callable[[Path], Run], tuple[str, ...]]]] = {
    "np.save, even": (python_program("numpy", "even", 0.6, 40), ()),
    "h5py, distances vary by 10 %": (python_program("hdf5", "jitter", 0.5, 50), ()),
    "np.save, one pause": (python_program("numpy", "pause", 0.5, 44), ()),
    "h5py, grows by 3 %": (python_program("hdf5", "drift", 0.4, 36), ()),
    "np.save, one in eight missing": (python_program("numpy", "missing", 0.5, 40), ()),
    "np.save, one in eight late": (python_program("numpy", "late", 0.7, 36), ()),
    "fio --thinktime": (fio, ("fio",)),
    "LAMMPS, dump": (lammps(DUMP), ("lmp",)),
    "LAMMPS, dump and restart": (lammps(RESTART), ("lmp",)),
    "mpirun -n 2": (mpi, ("mpicc", "mpirun")),
    "two programs": (two_programs, ()),
}


class Compared(NamedTuple):
    """One prediction beside what happened, times in periods."""

    period_off: float
    error: float
    held: bool
    confidence: float


def compared(prediction: Prediction, phases: Phases, found: tuple[Estimate, NextPhase | None]) -> Compared | None:
    """Compare one prediction with the program's phases; None if it is too early, or made during a phase."""
    now_s = prediction.made_at_s
    begun = int(np.searchsorted(phases.start_s, now_s))
    if begun < FEWEST_PHASES or begun >= len(phases.start_s) or now_s < phases.end_s[begun - 1] + 2 * RESOLVED_S:
        return None
    period, upcoming = found
    recent = float(np.median(np.diff(phases.start_s[max(begun - 8, 0) : begun])))
    off = abs(period.value / recent - 1)
    if upcoming is None:
        return Compared(off, float("nan"), False, 0.0)
    truth, start = float(phases.start_s[begun]), upcoming.start_s
    held = start.low - RESOLVED_S <= truth <= start.high + RESOLVED_S
    return Compared(off, abs(start.value - truth) / phases.period_s, held, upcoming.confidence)


def of_program(prediction: Prediction, phases: Phases) -> tuple[Estimate, NextPhase | None] | None:
    """Return the period and next phase of a prediction that belong to a program, which is the nearest period."""
    main = prediction.period_s if prediction.drift is None else prediction.drift.period_s
    told = [] if main is None else [(main, prediction.next_phase)]
    told += [(each.period_s, each.next_phase) for each in prediction.others if each.relation == "beside"]
    return min(told, key=lambda each: abs(np.log(each[0].value / phases.period_s)), default=None)


def figures_of(name: str, done: Run) -> list[Figure]:
    figures = []
    for number, phases in enumerate(done.programs):
        title = name if len(done.programs) == 1 else f"{name}, {phases.period_s:.2f} s"
        moments = [
            compared(each, phases, found) if (found := of_program(each, phases)) is not None else None
            for each in done.live
        ]
        known = [each for each in moments if each is not None]
        later = [each for each in done.live if _counts(each, phases)]
        error = np.array([each.error for each in known if not np.isnan(each.error)])
        middle = float(np.median(error)) if len(error) else float("nan")
        figures += [
            Figure(f"{title}: predicted", 100 * len(error) / max(len(later), 1), "%"),
            Figure(f"{title}: period right", _percent([each.period_off <= SAME for each in known]), "%"),
            Figure(f"{title}: next start right", _percent((error <= NEAR).tolist()), "%"),
            Figure(f"{title}: mean confidence", _percent([each.confidence for each in known]), "%"),
            Figure(f"{title}: 90 % interval coverage", _percent([each.held for each in known]), "%", "86 to 94 %"),
            Figure(f"{title}: median error of the next start", 100 * middle, "% of P", "", better="lower"),
        ]
        if number == 0:
            final = None if done.final is None else of_program(done.final, phases)
            mean = float(np.diff(phases.start_s).mean())
            usual = float("nan") if final is None else 100 * abs(final[0].value / phases.period_s - 1)
            whole = float("nan") if final is None else 100 * abs(final[0].value / mean - 1)
            figures.append(Figure(f"{title}: final period, beside the usual distance", usual, "% off", better="lower"))
            figures.append(Figure(f"{title}: final period, beside the mean distance", whole, "% off", better="lower"))
    return figures


def _counts(prediction: Prediction, phases: Phases) -> bool:
    return compared(prediction, phases, (Estimate(value=1, low=1, high=1), None)) is not None


def _percent(values: Sequence[float]) -> float:
    return 100 * float(np.mean(values)) if len(values) else float("nan")


def kept(name: str, done: Run) -> None:
    """Store phases and predictions of a run, if IOTIDE_KEEP names a folder."""
    if KEEP:
        path = Path(KEEP) / re.sub(r"\W+", "-", name)
        phases = [{"start_s": each.start_s.tolist(), "end_s": each.end_s.tolist()} for each in done.programs]
        path.with_suffix(".phases.json").write_text(json.dumps(phases))
        path.with_suffix(".jsonl").write_text("".join(each.model_dump_json() + "\n" for each in done.live))


def measure() -> list[Figure]:
    figures: list[Figure] = []
    for name, (made, needed) in PROGRAMS.items():
        if ONLY not in name:
            continue
        if absent := [each for each in needed if shutil.which(each) is None]:
            print(f"{name}: {', '.join(absent)} not installed (install with make system-deps)", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            done = made(Path(folder))
        kept(name, done)
        figures += figures_of(name, done)
    return figures


if __name__ == "__main__":
    report(measure())
