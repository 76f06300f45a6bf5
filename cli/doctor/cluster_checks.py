"""Checks of ``iotide doctor --cluster``: a traced program on this node, followed to its metrics."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

from ...clients.job_fetch import fetch, text_at
from ...collectors.tracer.preload_environment import traced_environment
from ...events import InputError, IotideError
from ...results.jobs.job import JobDetail, JobList
from ...results.prediction import Prediction
from .checks import Finding
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
_SCRAPED_S: Final = 90.0
_END_S: Final = 60.0
_LOOK_S: Final = 0.1
_NOT_TRIED: Final = "not tried, as what comes before it does not work"
_NAMES: Final = ("aggregator", "collector", "tracing", "prediction", "everything acknowledged", "metrics")
_REMEDIES: Final = {
    "aggregator": "start `iotide serve` there, or name its address by --aggregator, and a token by IOTIDE_TOKEN_FILE",
    "collector": "see what it says; keys are named by IOTIDE_KEY and IOTIDE_SERVER_KEY",
    "tracing": "--connect names the `ingest` of the aggregator: its address, its log, and the packet filter between; "
    "`iotide doctor` says whether programs are traced here",
    "prediction": "`iotide_predictions_late_total` and the log of the aggregator",
    "everything acknowledged": "the aggregator was away or is too slow: its log, iotide_predictions_late_total",
    "metrics": "max_job_series of the aggregator, or a token that may see metrics",
    "Prometheus": "its address; its target, which is the aggregator's (deploy/prometheus/scrape.yml): see /targets",
    "Slurm": "`iotide slurm scripts` writes them and says what slurm.conf needs; then `scontrol reconfigure`",
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
        if necessary and not all(each.works for each in found):
            found.append(Finding(name, False, necessary, _NOT_TRIED))
            return
        try:
            found.append(Finding(name, True, necessary, probe()))
        except (OSError, IotideError, RuntimeError, ValueError) as error:
            found.append(Finding(name, False, necessary, str(error) or type(error).__name__, _REMEDIES[name]))

    with contextlib.ExitStack() as stack:
        probe = _Probe(stack, http.rstrip("/"), ingest, job)
        probes = (probe.aggregator, probe.collector, probe.tracing, probe.prediction, probe.acknowledged, probe.metrics)
        for name, each in zip(_NAMES, probes, strict=True):
            check(name, each)
    if prometheus is not None:
        check("Prometheus", lambda: _scraped(prometheus.rstrip("/"), job))
    if shutil.which("scontrol"):
        check("Slurm", lambda: slurm_scripts(ingest), necessary=False)
    return found


class _Probe:
    """A collector and a traced program, for the checks."""

    def __init__(self, stack: contextlib.ExitStack, http: str, ingest: str, job: str) -> None:
        self._stack, self._http, self._ingest, self._job = stack, http, ingest, job
        self._folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="iotide-doctor-")))
        self._collector: subprocess.Popen[bytes] | None = None

    @property
    def _address(self) -> str:
        return f"{self._http}/jobs/{urllib.parse.quote(self._job)}"

    def aggregator(self) -> str:
        text_at(f"{self._http}/readyz")
        jobs = JobList.model_validate_json(text_at(f"{self._http}/api/v1/jobs")).jobs
        return f"{len(jobs)} jobs at {self._http}, ready"

    def collector(self) -> str:
        gate = self._folder / "t"
        command = [sys.executable, "-m", "iotide", "collect", "--socket", str(gate)]
        command += ["--connect", self._ingest, "--job", self._job]
        said = self._stack.enter_context((self._folder / "said").open("wb"))
        self._collector = self._stack.enter_context(_running(command, stderr=said))
        collector = self._collector
        _wait(lambda: gate.exists() or collector.poll() is not None, _UP_S, "its socket was not there")
        if collector.poll() is not None:
            raise RuntimeError(f"it ended at once: {self._said()}")
        return f"listens, ships to {self._ingest}"

    def tracing(self) -> str:
        environment = traced_environment(os.environ, self._folder / "t", self._job)
        command = [sys.executable, "-c", _PROGRAM, str(self._folder / "out")]
        self._stack.enter_context(_running(command, env=environment))
        begun_s = time.monotonic()
        detail = _wait(self._detail, _SEEN_S, f"a program that writes is not seen: {self._said()}")
        return f"job {self._job} seen after {time.monotonic() - begun_s:.1f} s, on {', '.join(detail.hosts)}"

    def prediction(self) -> str:
        """Return the prediction for the program; if the machine stalls there may be no period."""
        said: list[Prediction] = []

        def periodic() -> bool:
            with contextlib.suppress(InputError):
                said[:] = [fetch(self._address, "prediction", Prediction)]
            return bool(said) and said[0].period_s is not None

        with contextlib.suppress(RuntimeError):
            _wait(periodic, _PERIOD_S, "")
        if not said:
            raise RuntimeError("the job exists, but has no prediction")
        if (period := said[0].period_s) is None:
            return "predicted, without a period: this machine is busy"
        return f"a period of {period.value:.2f} s, {said[0].confidence:.0%} sure"

    def acknowledged(self) -> str:
        wanted = _PHASES * _PHASE_BYTES

        def written() -> JobDetail | None:
            detail = self._detail()
            return detail if detail is not None and detail.bytes_written >= wanted else None

        _wait(written, _SEEN_S, f"of {wanted:,} bytes not all arrived")
        collector = self._collector
        if collector is None:
            raise RuntimeError(_NOT_TRIED)
        collector.terminate()
        if status := collector.wait(_END_S):
            raise RuntimeError(f"the collector ended with status {status}: {self._said()}")
        detail = self._detail()
        if detail is None or not detail.complete:
            raise RuntimeError(f"losses: {detail.losses if detail is not None else 'all'}")
        return f"{detail.events:,} calls, none lost"

    def metrics(self) -> str:
        text = text_at(f"{self._http}/metrics")
        if f'job_id="{self._job}"' not in text:
            raise RuntimeError(f"{self._http}/metrics has no series of the job")
        return f"{text.count(chr(10)):,} lines, with the job"

    def _detail(self) -> JobDetail | None:
        with contextlib.suppress(InputError):
            detail = fetch(self._address, "", JobDetail)
            return detail if detail.bytes_written else None
        return None

    def _said(self) -> str:
        text = (self._folder / "said").read_text(errors="replace").strip()
        return " ".join(text.split())[:300] or "the collector says nothing"


def _scraped(prometheus: str, job: str) -> str:
    query = urllib.parse.urlencode({"query": f'iotide_job_events_total{{job_id="{job}"}}'})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    begun_s = time.monotonic()

    def has_it() -> bool:
        try:
            with opener.open(f"{prometheus}/api/v1/query?{query}", timeout=_UP_S) as answer:
                return bool(json.loads(answer.read())["data"]["result"])
        except (OSError, LookupError, TypeError, ValueError) as error:
            raise RuntimeError(f"{prometheus} does not answer as Prometheus does: {error}") from None

    _wait(has_it, _SCRAPED_S, f"it has no series of the job after {_SCRAPED_S:g} s")
    return f"has the job's series, after {time.monotonic() - begun_s:.1f} s"


def _wait(condition: Callable[[], T | None], deadline_s: float, problem: str) -> T:
    limit_s = time.monotonic() + deadline_s
    while time.monotonic() < limit_s:
        if found := condition():
            return found
        time.sleep(_LOOK_S)
    raise RuntimeError(problem)


@contextlib.contextmanager
def _running(command: list[str], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    try:
        yield process
    finally:
        process.kill()
        process.wait()
