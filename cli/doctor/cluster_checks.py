"""Checks of ``iotide doctor --cluster``: a traced program on this node, followed to its metrics."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar

from ...clients.job_fetch import TOKEN_FILE, fetch, fetch_text
from ...collectors.tracer.preload_environment import TRACER_VARIABLE, traced_environment
from ...events import InputError, IotideError
from ...events.counted_text import counted
from ...events.losses import MISPLACED
from ...events.network.job_addresses import job_path
from ...results.jobs.job import JobDetail, JobList
from ...results.prediction import Prediction
from ..common.socket_folder import GATE, socket_folder
from .aggregator_checks import status_findings
from .checks import BrokenError, Finding
from .connection_check import connect
from .layer_checks import trace_posix
from .prometheus_check import scraped
from .slurm_checks import slurm_scripts

T = TypeVar("T")
_PHASES: Final = 16
_PHASE_BYTES: Final = 1_000_000
_PROGRAM: Final = f"""
import sys, time
with open(sys.argv[1], "wb", buffering=0) as out:
    for _ in range({_PHASES}):
        for _ in range(10):
            out.write(bytes({_PHASE_BYTES // 10}))
        time.sleep(0.5)
"""
_UP_S: Final = 60.0
_SEEN_S: Final = 45.0
_PERIOD_S: Final = 20.0
_END_S: Final = 60.0
_POLL_S: Final = 0.1
_NOT_TRIED: Final = "not tried, as what comes before it does not work"
_CLOCK_OFF_S: Final = 1.0
"""Clock offset that is reported, s: NTP keeps clocks of a cluster within milliseconds."""
_TOKEN: Final = (
    f"let {TOKEN_FILE} name a file with a token that `iotide keys token ... --may read --may metrics` printed"
)
_REMEDIES: Final = {
    "aggregator": "start `iotide serve` there, or name its address by --aggregator",
    "connection": "see docs/operations.md",
    "tracer": "see docs/preload.md, 'When nothing is traced'",
    "collector": "see its message; IOTIDE_KEY and IOTIDE_SERVER_KEY name its keys",
    "tracing": "see the log of the aggregator at --connect, and whether --aggregator is the same one",
    "prediction": "see `iotide_predictions_late_total` and the log of the aggregator",
    "everything acknowledged": "see the log of the aggregator, and `iotide_predictions_late_total`: it is too slow",
    "clock": "let NTP set the clock of this node (chronyd, systemd-timesyncd)",
    "metrics": "raise max_job_series of the aggregator, or use a token with the permission metrics",
    "Prometheus": "see its /targets, and deploy/prometheus/scrape.yml",
    "Slurm": "`iotide slurm scripts` writes them and prints the lines for slurm.conf; then `scontrol reconfigure`",
}


def cluster_findings(http: str, ingest: str, prometheus: str | None) -> list[Finding]:
    """Follow a program from this node to Prometheus.

    Args:
        http: address of the aggregator's HTTP.
        ingest: endpoint for collectors.
        prometheus: its address; None to skip it.
    """
    job = f"iotide-doctor-{socket.gethostname()}-{os.getpid()}"
    found: list[Finding] = []

    def check(name: str, probe: Callable[[], str], *, necessary: bool = True) -> None:
        if necessary and not all(each.works for each in found if each.necessary):
            found.append(Finding(name, False, necessary, _NOT_TRIED))
            return
        try:
            found.append(Finding(name, True, necessary, probe()))
        except (OSError, IotideError, subprocess.SubprocessError, RuntimeError, ValueError) as error:
            remedy = error.remedy if isinstance(error, BrokenError) else _REMEDIES[name]
            found.append(Finding(name, False, necessary, str(error) or type(error).__name__, remedy))

    with contextlib.ExitStack() as stack:
        probe = _Probe(stack, http.rstrip("/"), ingest, job)
        check("aggregator", probe.aggregator)
        check("connection", lambda: connect(ingest))
        check("tracer", _tracer)
        check("collector", probe.collector)
        check("tracing", probe.tracing)
        check("prediction", probe.prediction)
        check("everything acknowledged", probe.acknowledged)
        check("metrics", probe.metrics)
        if all(each.works for each in found):
            check("clock", probe.clock, necessary=False)
    if prometheus is not None:
        check("Prometheus", lambda: scraped(prometheus.rstrip("/"), http, job))
    if shutil.which("scontrol"):
        check("Slurm", lambda: slurm_scripts(ingest), necessary=False)
    return found


class _Probe:
    """A collector and a traced program, for the checks."""

    def __init__(self, stack: contextlib.ExitStack, http: str, ingest: str, job: str) -> None:
        self._stack, self._http, self._ingest, self._job = stack, http, ingest, job
        self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="iotide-doctor-")))
        self._gate = stack.enter_context(socket_folder()) / GATE
        self._collector: subprocess.Popen[bytes] | None = None
        self._missing = ""

    @property
    def _address(self) -> str:
        return f"{self._http}/jobs/{job_path(self._job)}"

    def aggregator(self) -> str:
        try:
            fetch_text(f"{self._http}/readyz")
            jobs = JobList.model_validate_json(fetch_text(f"{self._http}/api/v1/jobs")).jobs
        except InputError as error:
            if any(f"status {status}" in str(error) for status in (401, 403)):
                raise BrokenError(str(error), _TOKEN) from None
            raise
        return f"{counted(len(jobs), 'jobs')} at {self._http}, ready"

    def collector(self) -> str:
        command = [sys.executable, "-m", "iotide", "collect", "--socket", str(self._gate)]
        command += ["--connect", self._ingest, "--job", self._job]
        output = self._stack.enter_context((self._folder / "said").open("wb"))
        self._collector = self._stack.enter_context(_running(command, stderr=output))
        collector = self._collector
        if not _wait(lambda: self._gate.exists() or collector.poll() is not None, _UP_S):
            raise RuntimeError(f"its socket was not there after {_UP_S:g} s: {self._printed()}")
        if collector.poll() is not None:
            raise RuntimeError(f"it ended at once: {self._printed()}")
        return f"listens, ships to {self._ingest}"

    def tracing(self) -> str:
        environment = traced_environment(os.environ, self._gate, self._job)
        command = [sys.executable, "-c", _PROGRAM, str(self._folder / "out")]
        self._stack.enter_context(_running(command, env=environment))
        begun_s = time.monotonic()
        if (detail := _wait(self._detail, _SEEN_S)) is None:
            raise self._because(
                f"the job of a traced program is not at {self._http}: {self._missing}; {self._printed()}"
            )
        return f"job {self._job} seen after {time.monotonic() - begun_s:.1f} s, on {', '.join(detail.hosts)}"

    def prediction(self) -> str:
        """Return the prediction for the program; if the machine stalls there may be no period."""
        received: list[Prediction] = []

        def periodic() -> bool:
            with contextlib.suppress(InputError):
                received[:] = [fetch(self._address, "prediction", Prediction)]
            return bool(received) and received[0].period_s is not None

        _wait(periodic, _PERIOD_S)
        if not received:
            raise self._because("the job exists, but has no prediction")
        if (period := received[0].period_s) is None:
            return "predicted, without a period: this machine is busy"
        return f"a period of {period.value:.2f} s, {received[0].confidence:.0%} sure"

    def acknowledged(self) -> str:
        wanted = _PHASES * _PHASE_BYTES

        def written() -> JobDetail | None:
            detail = self._detail()
            return detail if detail is not None and detail.bytes_written >= wanted else None

        collector = self._collector
        if collector is None:
            raise RuntimeError(_NOT_TRIED)
        if _wait(written, _SEEN_S) is None:
            raise self._because(f"of {wanted:,} bytes not all arrived")
        collector.terminate()
        if status := collector.wait(_END_S):
            raise self._because(f"the collector ended with status {status}: {self._printed()}")
        detail = self._detail()
        if detail is None:
            raise self._because("the job is gone")
        if MISPLACED in detail.losses:
            raise BrokenError(clock_problem(detail.clocks_off_s) or f"losses: {detail.losses}", _REMEDIES["clock"])
        if not detail.complete:
            raise self._because(f"losses: {detail.losses}")
        return f"{detail.events:,} calls, none lost"

    def clock(self) -> str:
        detail = self._detail()
        if problem := clock_problem({} if detail is None else detail.clocks_off_s):
            raise RuntimeError(problem)
        return "this node and the aggregator agree"

    def metrics(self) -> str:
        text = fetch_text(f"{self._http}/metrics")
        if f'job_id="{self._job}"' not in text:
            raise RuntimeError(f"{self._http}/metrics has no series of the job")
        return f"{text.count(chr(10)):,} lines, with the job"

    def _detail(self) -> JobDetail | None:
        try:
            detail = fetch(self._address, "", JobDetail)
        except InputError as error:
            self._missing = error.problem
            return None
        self._missing = "it has no writes yet"
        return detail if detail.bytes_written else None

    def _because(self, problem: str) -> RuntimeError:
        """Return the error of a failed check. It has the first trouble that the aggregator itself reports."""
        for each in status_findings(self._http):
            if each.necessary and not each.works:
                return BrokenError(f"{problem}; the aggregator reports ({each.name}): {each.detail}", each.remedy)
        return RuntimeError(problem)

    def _printed(self) -> str:
        text = (self._folder / "said").read_text(errors="replace", encoding="utf-8").strip()
        return " ".join(text.split())[:300] or "the collector says nothing"


def _tracer() -> str:
    try:
        return trace_posix()
    except RuntimeError as error:
        if chosen := os.environ.get(TRACER_VARIABLE):
            raise BrokenError(f"{error}; {TRACER_VARIABLE} names {chosen}", f"unset {TRACER_VARIABLE}") from None
        raise


def clock_problem(offsets_s: Mapping[str, float]) -> str:
    """Return the largest clock offset of a job's hosts in words. It is "" if it is small.

    >>> clock_problem({"n1": -7200.5, "n2": 0.2})
    "n1 is 7,200.5 s behind the aggregator's clock"
    """
    host, off_s = max(offsets_s.items(), key=lambda each: abs(each[1]), default=("", 0.0))
    if abs(off_s) < _CLOCK_OFF_S:
        return ""
    return f"{host} is {abs(off_s):,.1f} s {'ahead of' if off_s > 0 else 'behind'} the aggregator's clock"


def _wait(condition: Callable[[], T | None], deadline_s: float) -> T | None:
    """Return the first true answer of a condition. Return None if there is none within the time."""
    limit_s = time.monotonic() + deadline_s
    while time.monotonic() < limit_s:
        if found := condition():
            return found
        time.sleep(_POLL_S)
    return None


@contextlib.contextmanager
def _running(command: list[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()
