"""The programs of [FTIO] under ``iotide run``: our period, ftio-hpc's, and the one of the programs' own logs.

IOR and HACC-IO are small programs that do the same I/O (``programs/``) in a fifth of the published times. LAMMPS is the
real program, at the speed of two cores. It computes all the time, so its period varies on a busy machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from iotide.analyzers.signal.selection import counted
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import Answer, Requests, analyse
from iotide.cli.traces.trace_reading import read_traces
from iotide.results.jobs.job import SignalSeries
from iotide.results.jobs.run import RunSummary
from iotide.results.prediction import Prediction
from iotide.results.traces.analysis import DetectionReport

HERE = Path(__file__).parents[1] / "programs"
IOTIDE = [sys.executable, "-m", "iotide"]
PEER = "ftio-hpc"
LAMMPS = ["lmp", "-in", str(HERE / "flow.lammps"), "-var", "size", "400", "-log", "none"]
"""20 steps of 320,000 particles take half a second or more on two cores."""
LAMMPS_HZ = 40.0
STEADY, ATTEMPTS = 0.1, 3
"""Maximum spread of the distances (standard deviation over mean) before a run is repeated.

The published run had its nodes for itself. The run with the least spread is used, whatever its results are.
"""
SURE = 0.5
"""Online, periods with less confidence are guesses and are not counted; the peer has no confidence."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Seen:
    """One run: starts of its phases by its own log, and the results of each program."""

    name: str
    frequency_hz: float
    starts_s: Floats
    """Start of each phase, on any clock."""
    final: Prediction | None
    online: Sequence[Prediction]
    requests: Requests
    """Input of the peer."""

    @property
    def period_s(self) -> float:
        """The mean time between starts, the ground truth in [FTIO]."""
        return float(np.diff(self.starts_s).mean())

    @property
    def spread(self) -> float:
        """Standard deviation over mean of the times between starts, without the longest."""
        return float(np.sort(np.diff(self.starts_s))[:-1].std()) / self.usual_period_s

    @property
    def usual_period_s(self) -> float:
        """The mean without the longest: [FTIO] leaves out HACC-IO's slow first phase."""
        return float(np.sort(np.diff(self.starts_s))[:-1].mean())


def environment() -> dict[str, str]:
    """Environment for Open MPI, which refuses root and more ranks than cores by default."""
    versions = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMPI_MCA_btl": "self,vader,tcp",
        "OMPI_MCA_btl_tcp_if_include": "lo",
        "OMPI_MCA_oob_tcp_if_include": "lo",
    }
    return {
        name: value for name, value in os.environ.items() if not name.startswith(("IOTIDE_", "LD_PRELOAD"))
    } | versions


def run(command: Sequence[str | Path], folder: Path) -> str:
    """Return the output of a command; raise an error with its messages if it fails."""
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=environment(), capture_output=True, text=True, check=False, timeout=200
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def live(
    command: Sequence[str | Path], folder: Path, options: Sequence[str]
) -> tuple[str, Prediction | None, list[Prediction]]:
    """Return the output of a command under ``iotide run``, the last prediction and the earlier ones."""
    out = run([*IOTIDE, "run", "--quiet", "--json", "run.json", "-o", "report", *options, "--", *command], folder)
    summary = RunSummary.model_validate_json((folder / "run.json").read_text())
    lines = (folder / "report/predictions.jsonl").read_text().splitlines()
    return out, summary.prediction, [Prediction.model_validate_json(line) for line in lines[:-1]]


def program(name: str, frequency_hz: float, ranks: int, arguments: Sequence[str], folder: Path) -> Seen:
    """Build one of our programs and run it; it prints its phases and requests at the end."""
    run(["mpicc", "-O2", "-o", name, HERE / f"{name}.c"], folder)
    command = ["mpirun", "-n", str(ranks), f"./{name}", "-o", "data", *arguments]
    own_log, final, online = live(command, folder, ["-f", str(frequency_hz)])
    starts = np.array(re.findall(r"^phase (\d+) \d+$", own_log, re.MULTILINE), np.int64)
    lines = re.findall(r"^request \d+ (\d+) (\d+) (\d+) [rw]$", own_log, re.MULTILINE)
    start, end, size = np.array(sorted(lines), np.int64).T
    return Seen(
        name.replace("_", "-"), frequency_hz, (starts - starts[0]) / 1e9, final, online, as_requests(start, end, size)
    )


def as_requests(start: npt.NDArray[np.int64], end: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> Requests:
    """Seconds since the first start, and bytes/s."""
    zero = start.min()
    return (start - zero) / 1e9, (end - zero) / 1e9, size / ((end - start) / 1e9)


def ior(folder: Path) -> Seen:
    """Eight iterations of half a period each, as in the published run: 76.05 s contain seven periods and a phase."""
    return program("ior_like", 50.0, 4, ["-i", "8", "-d", "1.0", "-D", "1.0"], folder)


def hacc(folder: Path) -> Seen:
    """Ten iterations, the first much slower, which made the published spectrum ambiguous."""
    return program("hacc_like", 50.0, 4, ["-i", "10", "-d", "1.5", "-n", "1000000", "-F", "40000"], folder)


def lammps_live(folder: Path) -> Seen:
    """LAMMPS under ``iotide run``; the peer gets the bins of our signal, each as one request."""
    own_log, final, online = live(["mpirun", "-n", "2", *LAMMPS], folder, ["-f", str(LAMMPS_HZ), "--mode", "write"])
    signal = SignalSeries.model_validate_json((folder / "report/signal.json").read_text())
    return Seen("LAMMPS live", LAMMPS_HZ, dumps(own_log), final, online, bins_as_requests(signal))


def lammps_traced(folder: Path) -> Seen:
    """LAMMPS under strace; both programs read its output."""
    strace = 'exec strace -f -tt -T -y -e trace=write,writev,pwrite64 -o lmp_node_$OMPI_COMM_WORLD_RANK.st "$@"'
    own_log = run(["mpirun", "-n", "2", "sh", "-c", strace, "strace", *LAMMPS], folder)
    traces = sorted(folder.glob("*.st"))
    out = run([*IOTIDE, "detect", "--json", "-f", str(LAMMPS_HZ), "--mode", "write", *traces], folder)
    read = read_traces(traces, format_name="strace", job="lmp", progress=lambda _path, _bytes: None).batches()
    kept = [batch.select(counted(batch, types, "write")) for batch, types in read]
    start = np.concatenate([batch.start for batch in kept])
    end = np.concatenate([batch.end for batch in kept])
    size = np.concatenate([batch.bytes for batch in kept])
    final = DetectionReport.model_validate_json(out).prediction
    return Seen("LAMMPS strace", LAMMPS_HZ, dumps(own_log), final, [], as_requests(start, end, size))


def dumps(own_log: str) -> Floats:
    """Return the start of each dump; the dump at step 0, before the run's clock starts, is left out."""
    found = re.findall(r"^dump of step ([1-9]\d*) begins after ([\d.]+) s$", own_log, re.MULTILINE)
    return np.array([at for _, at in found], np.float64)


def bins_as_requests(signal: SignalSeries) -> Requests:
    written = np.array(signal.written)
    filled = np.flatnonzero(written)
    start = (filled - filled[0]) * signal.bin_s
    return start, start + signal.bin_s, written[filled]


def phase_ends(requests: Requests, period_s: float) -> Floats:
    """Return the ends of requests that no request follows for a quarter of a period, without the last."""
    start, end, _ = requests
    latest = np.maximum.accumulate(end[np.argsort(start)])[:-1]
    return latest[np.sort(start)[1:] - latest > period_s / 4]


def ask_peer(seen: Seen) -> tuple[Answer, list[Answer]] | None:
    """Run the peer on the whole run, and at the end of each phase on the requests so far, as [FTIO] does.

    Online, the peer's window is the whole run so far, because the caller would have to cut it to three periods.
    """
    start, end, bandwidth = seen.requests
    until = [end <= at for at in phase_ends(seen.requests, seen.period_s)]
    prefixes = [(start[kept], end[kept], bandwidth[kept]) for kept in until]
    # The first prediction is made after three phases.
    answers = analyse([seen.requests, *prefixes[2:]], seen.frequency_hz)
    return None if answers is None else (answers[0], answers[1:])


def figures_of(seen: Seen) -> list[Figure]:
    """Print one run in full; its figures are errors of the period, "but the longest" by the usual one."""
    peer = ask_peer(seen)
    estimate = seen.final.period_s if seen.final else None
    final = estimate.value if estimate else None
    online = [each.period_s.value for each in seen.online if each.period_s and each.confidence >= SURE]
    print(
        f"{seen.name}: {len(seen.starts_s)} phases {seen.period_s:.4f} s apart, {seen.usual_period_s:.4f} s "
        f"without the longest (each {' '.join(f'{each:.2f}' for each in np.diff(seen.starts_s))})"
    )
    between = f" ({estimate.low:.4f} to {estimate.high:.4f})" if estimate else ""
    confidence = seen.final.confidence if seen.final else 0.0
    print(f"  iotide: {text(final)}{between}, confidence {confidence:.2f}; {online_text(online)}")
    theirs: list[float | None] | None = None
    asked: list[float] | None = None
    if peer is not None:
        theirs = [peer[0].period_s]
        asked = [each.period_s for each in peer[1] if each.period_s]
        print(f"  {PEER}: {text(theirs[0])}; {online_text(asked)}, asked {len(peer[1])} times")
    mean, usual = seen.period_s, seen.usual_period_s
    figures = [
        figure(f"{seen.name}, final", mean, [final], theirs),
        figure(f"{seen.name}, final, but the longest", usual, [final], theirs),
    ]
    if seen.online:
        averaged = None if asked is None else average(asked)
        figures.append(figure(f"{seen.name}, mean online", mean, average(online), averaged))
        figures.append(figure(f"{seen.name}, each online, but the longest", usual, online, asked))
    return figures


def figure(name: str, truth_s: float, ours: Sequence[float | None], theirs: Sequence[float | None] | None) -> Figure:
    """Compare the mean errors of several methods in %; a missing period is an error of 100 %."""
    beside = None if theirs is None else error(theirs, truth_s)
    return Figure(name, error(ours, truth_s), "%", "", PEER, beside, better="lower")


def error(periods_s: Sequence[float | None], truth_s: float) -> float:
    each = [100.0 if period_s is None else 100 * abs(period_s - truth_s) / truth_s for period_s in periods_s]
    return float(np.mean(each)) if each else 100.0


def average(periods_s: Sequence[float]) -> list[float]:
    return [float(np.mean(periods_s))] if periods_s else []


def text(period_s: float | None) -> str:
    return "no period" if period_s is None else f"{period_s:.4f} s"


def online_text(periods: Sequence[float]) -> str:
    if not periods:
        return "no period online"
    return f"online {np.mean(periods):.4f} s on average of {len(periods)} ({min(periods):.3f} to {max(periods):.3f})"


def measure() -> list[Figure]:
    figures = []
    for programs, runs in (
        (("mpicc", "mpirun"), (ior, hacc)),
        (("lmp", "mpirun"), (lammps_live,)),
        (("lmp", "mpirun", "strace"), (lammps_traced,)),
    ):
        if absent := [name for name in programs if shutil.which(name) is None]:
            print(f"{', '.join(absent)} not installed (install with make system-deps)", file=sys.stderr)
            continue
        for each in runs:
            seen = steadiest(each)
            keep(seen)
            figures += figures_of(seen)
    return figures


def steadiest(program: Callable[[Path], Seen]) -> Seen:
    runs: list[Seen] = []
    while len(runs) < ATTEMPTS and not any(seen.spread <= STEADY for seen in runs):
        with tempfile.TemporaryDirectory() as folder:
            runs.append(program(Path(folder)))
    if len(runs) > 1:
        print(f"{runs[0].name}: the steadiest of runs with spreads {', '.join(f'{seen.spread:.2f}' for seen in runs)}")
    return min(runs, key=lambda seen: seen.spread)


def keep(seen: Seen) -> None:
    """Store the run's output for later inspection if SEED_FIGURES_KEEP names a folder."""
    if folder := os.environ.get("SEED_FIGURES_KEEP"):
        start, end, bandwidth = seen.requests
        path = Path(folder) / f"{seen.name.replace(' ', '-')}.npz"
        np.savez(path, start=start, end=end, bandwidth=bandwidth, phases=seen.starts_s, frequency=seen.frequency_hz)
        (path.with_suffix(".jsonl")).write_text("".join(each.model_dump_json() + "\n" for each in seen.online))


if __name__ == "__main__":
    report(measure())
